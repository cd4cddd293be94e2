/* bench/kernels.c - what each operation of the CPU backend costs on one contact problem.
 *
 *     talus extract settle-box --set bodies=16000 --at 3 -o bed.prb
 *     talus_bench_kernels bed.prb [ROUNDS]
 *
 * A machine that others use drifts by more than the differences of interest. So every kernel is timed
 * right after an operator product, in turn with all others, ROUNDS times over; the ratio to that
 * product is what to look at, and the minima are the machine left alone. One thread.
 *
 * Bytes count every array once per pass over it: contacts stream through, body records are taken to
 * stay cached within a pass. Flops count additions, multiplications, divisions and roots as one each.
 * The limit is the larger of bytes at the speed of a triad over vectors of this problem's length, and
 * flops at the speed of independent multiplications and additions: the build never contracts them
 * (docs/explanation/architecture.md, Determinism). */
#include "backend/cpu/cpu.h"
#include "base/lane.h"
#include "base/timer.h"
#include "problem/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <talus/io.h>

enum { REPEAT = 2, DEFAULT_ROUNDS = 200 };

typedef struct Bench {
    TalusProblem *problem;
    const TalusOperator *op;
    const double *start; /* the impulses of the file */
    double *x, *x_prev, *g_prev, *out;
    TalusMetricBlock *metric;
    TalusAccelerated state;
    TalusSweep *sweep, *sweep_in_double;
    int n;
} Bench;

static volatile double sink;

/* ---- kernels ---- */

static void run_product(Bench *b)
{
    talus_backend_cpu.op.product(b->op, b->start, false, false, b->out);
}

static void run_gradient(Bench *b)
{
    talus_backend_cpu.op.product(b->op, b->start, true, true, b->out);
}

static void run_wrench(Bench *b)
{
    talus_cpu_write_wrenches(b->op, b->start, 0, b->op->blocks, b->op->scratch->record);
}

static void run_gather(Bench *b)
{
    talus_cpu_gather_wrenches(b->op, (const double(*)[6])b->op->scratch->record, true, false,
                              b->op->scratch->velocity);
}

static void run_velocity(Bench *b)
{
    talus_cpu_contact_velocity(b->op, (const double(*)[8])b->op->scratch->velocity, 0,
                               b->op->blocks, b->out);
}

static void run_residual(Bench *b)
{
    TalusResidualSums sums;
    talus_backend_cpu.op.residual(b->op, b->start, &sums, NULL);
    sink = sums.residual2;
}

static void run_relax(Bench *b)
{
    double sum2, max;
    talus_backend_cpu.step.jacobi(b->op, 0.3, 0.9, b->x, &sum2, &max);
    sink = sum2;
}

static void run_step(Bench *b, bool residual)
{
    TalusStepSums sums;
    b->state.want_residual = residual;
    talus_backend_cpu.step.accelerate(b->op, &b->state, &sums);
    sink = sums.dx2;
}

static void run_accelerate(Bench *b)
{
    run_step(b, false);
}

static void run_accelerate_residual(Bench *b)
{
    run_step(b, true);
}

static void run_dot(Bench *b)
{
    sink = talus_backend_cpu.vector.dot(b->op, b->start, b->out);
}

static void run_axpby(Bench *b)
{
    talus_backend_cpu.vector.axpby(b->op, 0.5, b->start, 0.5, b->out);
}

static void run_sweep(Bench *b)
{
    sink = talus_backend_cpu.sweep.run(b->sweep, 1);
}

static void run_sweep_in_double(Bench *b)
{
    sink = talus_backend_cpu.sweep.run(b->sweep_in_double, 1);
}

/* What a solve by sweeps does beside the sweeps: colours and plan; impulses; the residual of the law. */
static TalusStatus prepare_sweep(Bench *b, bool single, TalusSweep **sweep)
{
    TalusSweepOptions options = {.order = TALUS_ORDER_COLOURED,
                                 .metric = TALUS_METRIC_ANISOTROPIC,
                                 .coulomb = b->op->kinds & TALUS_KINDS_OF(TALUS_LAW_COULOMB),
                                 .omega = 1.0,
                                 .single = single,
                                 .rho = 1.0,
                                 .seed = 1};
    return talus_backend_cpu.sweep.prepare(b->op, &options, b->start, sweep);
}

static void run_prepare(Bench *b)
{
    prepare_sweep(b, true, &b->sweep);
}

static void run_get_impulses(Bench *b)
{
    talus_backend_cpu.sweep.get_impulses(b->sweep, b->out);
}

static void run_law(Bench *b)
{
    TalusLawSums sums;
    TalusTermSums terms;
    talus_backend_cpu.law.measure_and_shift(b->op, b->start, 0.0, &sums, &terms);
    sink = sums.residual2;
}

/* ---- bytes and flops ---- */

/* Per contact, and per body; the latter count for the share of bodies a contact has. */
typedef struct Cost {
    double bytes, flops, body_bytes, body_flops;
} Cost;

typedef struct Kernel {
    const char *name;
    void (*run)(Bench *);
    bool bodies_only; /* a part of the matrix-free product */
    Cost cone, nonneg;
} Kernel;

/* Matrix-free, two spheres; read plus written, array by array:
 *     wrench    frame 32, gamma 24 or 8; record 48
 *     gather    touch 8, record 48; per body: start 4, record 64, velocity 64
 *     velocity  pair 8, frame 32; out 24 or 8; per body: velocity 64
 *     gradient  bias 8 more
 *     step      as gather, velocity and wrench with the frame read once and no vectors; x, x_prev,
 *               g_prev 24 or 8 each, metric 32; two of the vectors are written too */
static const Kernel kernels[] = {
    {"product", run_product, false, {224, 71, 196, 12}, {192, 22, 196, 12}},
    {"  wrench", run_wrench, true, {104, 26, 0, 0}, {88, 3, 0, 0}},
    {"  gather", run_gather, true, {56, 12, 132, 12}, {56, 12, 132, 12}},
    {"  velocity", run_velocity, true, {64, 33, 64, 0}, {48, 7, 64, 0}},
    {"gradient", run_gradient, false, {232, 72, 196, 12}, {200, 23, 196, 12}},
    {"residual", run_residual, false, {256, 108, 196, 12}, {208, 30, 196, 12}},
    {"relax", run_relax, false, {280, 140, 196, 12}, {216, 38, 196, 12}},
    {"accelerate", run_accelerate, false, {304, 141, 196, 12}, {224, 43, 196, 12}},
    {"  with residual", run_accelerate_residual, false, {328, 188, 196, 12}, {240, 51, 196, 12}},
    {"dot", run_dot, false, {48, 6, 0, 0}, {16, 2, 0, 0}},
    {"axpby", run_axpby, false, {72, 9, 0, 0}, {24, 3, 0, 0}},
    {"sweep, single", run_sweep, false, {88, 120, 64, 0}, {88, 120, 64, 0}},
    {"sweep, double", run_sweep_in_double, false, {152, 120, 128, 0}, {152, 120, 128, 0}},
    {"  prepare", run_prepare, false, {424, 110, 292, 12}, {424, 110, 292, 12}},
    {"  impulses", run_get_impulses, false, {80, 20, 0, 0}, {64, 15, 0, 0}},
    {"law's residual", run_law, false, {288, 120, 196, 12}, {240, 42, 196, 12}},
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

/* An explicit product instead of the matrix-free one: values, columns, rows, and its two vectors. Of
 * full blocks one column in nine is read. */
static void add_matrix(const TalusOperator *op, const Kernel *k, double *bytes, double *flops)
{
    const Kernel *product = &kernels[0];
    const Cost *whole = op->rows == 3 ? &k->cone : &k->nonneg;
    const Cost *part = op->rows == 3 ? &product->cone : &product->nonneg;
    double entries = (double)op->row_start[op->rows * op->blocks] / op->blocks;
    double column = op->scratch->full_blocks ? 4.0 / 9.0 : 4.0;
    *bytes = whole->bytes - part->bytes + (8.0 + column) * entries + 20.0 * op->rows;
    *flops = whole->flops - part->flops + 2.0 * entries;
}

static void cost_of(const TalusOperator *op, const Kernel *k, double *bytes, double *flops)
{
    const Cost *c = op->rows == 3 ? &k->cone : &k->nonneg;
    double bodies = (double)op->bodies / op->blocks;
    bool vectors = k->run == run_dot || k->run == run_axpby;
    *bytes = c->bytes + bodies * c->body_bytes;
    *flops = c->flops + bodies * c->body_flops;
    if (!op->pair && !vectors)
        add_matrix(op, k, bytes, flops);
}

/* ---- the machine ---- */

/* Bytes per second of out = a x + y, each of n entries. */
static double triad_speed(Bench *b)
{
    double best = INFINITY;
    for (int round = 0; round < 50; round++) {
        double t = talus_now();
        for (int k = 0; k < b->n; k++)
            b->out[k] = 3.0 * b->x[k] + b->x_prev[k];
        t = talus_now() - t;
        sink = b->out[round % b->n];
        best = t < best ? t : best;
    }
    return 24.0 * b->n / best;
}

/* Operations per second on Lanes, multiplications and additions in turn. */
static double flop_speed(void)
{
    enum { CHAINS = 16, STEPS = 100000 };
    Lane a[CHAINS];
    double best = INFINITY, sum = 0.0;
    for (int round = 0; round < 20; round++) {
        for (int c = 0; c < CHAINS; c++)
            a[c] = lane(1.0 + c);
        double t = talus_now();
        for (int k = 0; k < STEPS; k++)
            for (int c = 0; c < CHAINS; c++)
                a[c] = a[c] * 0.999 + 0.001;
        t = talus_now() - t;
        best = t < best ? t : best;
        for (int c = 0; c < CHAINS; c++)
            sum += a[c][0] + a[c][1];
    }
    sink = sum;
    return 2.0 * LANES * CHAINS * STEPS / best;
}

/* ---- rounds ---- */

/* Sweeps in single precision end after some: every round begins with new ones. */
static TalusStatus prepare_sweeps(Bench *b)
{
    TalusStatus status = prepare_sweep(b, true, &b->sweep);
    return status == TALUS_OK ? prepare_sweep(b, false, &b->sweep_in_double) : status;
}

static void restart(Bench *b)
{
    size_t bytes = (size_t)b->n * sizeof(double);
    b->state = (TalusAccelerated){.x = b->x,
                                  .x_prev = b->x_prev,
                                  .g_prev = b->g_prev,
                                  .metric = (const TalusMetricBlock *)b->metric,
                                  .beta = 0.5,
                                  .step = 0.05};
    memcpy(b->x, b->start, bytes);
    memcpy(b->x_prev, b->start, bytes);
    memset(b->g_prev, 0, bytes);
    prepare_sweeps(b); /* has succeeded before, with the same memory */
}

/* The first call fetches what the kernel before has pushed out of the caches and is not timed. */
static double seconds_of(Bench *b, const Kernel *k)
{
    k->run(b);
    double t = talus_now();
    for (int i = 0; i < REPEAT; i++)
        k->run(b);
    return (talus_now() - t) / REPEAT;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

typedef struct Times {
    double *kernel, *ratio; /* by round */
    double product;         /* the least beside this kernel */
} Times;

static void measure(Bench *b, Times *times, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < KERNELS; k++) {
            if (kernels[k].bodies_only && !b->op->pair)
                continue;
            restart(b);
            double product = seconds_of(b, &kernels[0]), t = seconds_of(b, &kernels[k]);
            times[k].kernel[round] = t;
            times[k].ratio[round] = t / product;
            times[k].product = round && times[k].product < product ? times[k].product : product;
        }
}

static void print_row(const Bench *b, int index, Times *t, int rounds, double triad, double peak)
{
    double bytes, flops, middle = median(t->kernel, rounds), best = t->kernel[0];
    cost_of(b->op, &kernels[index], &bytes, &flops);
    double per = best / b->op->blocks, limit = fmax(bytes / triad, flops / peak);
    printf("%-16s %7.2f %7.2f   %6.3f %6.3f   %6.0f %6.0f   %6.1f %6.1f   %4.0f %%\n",
           kernels[index].name, 1e9 * per, 1e9 * middle / b->op->blocks, best / t->product,
           median(t->ratio, rounds), bytes, flops, 1e-9 * bytes / per, 1e-9 * flops / per,
           100.0 * limit / per);
}

static void report(Bench *b, Times *times, int rounds)
{
    double triad = triad_speed(b), peak = flop_speed();
    printf("%d contacts of %d rows, %d bodies, %s; triad of 3 x %.1f MB %.1f GB/s, "
           "mul and add %.1f GFLOP/s\n\n",
           b->op->blocks, b->op->rows, b->op->bodies, b->op->pair ? "matrix-free" : "explicit",
           8e-6 * b->n, 1e-9 * triad, 1e-9 * peak);
    printf("%-16s %15s   %13s   %13s   %13s   %6s\n", "", "ns per contact", "of a product",
           "per contact", "speed", "of the");
    printf("%-16s %7s %7s   %6s %6s   %6s %6s   %6s %6s   %6s\n", "", "min", "median", "min",
           "median", "B", "flop", "GB/s", "GF/s", "limit");
    for (int k = 0; k < KERNELS; k++)
        if (!kernels[k].bodies_only || b->op->pair)
            print_row(b, k, &times[k], rounds, triad, peak);
}

/* ---- set-up ---- */

static void *room(size_t count, size_t size)
{
    void *p = aligned_alloc(64, (count * size + 64) / 64 * 64);
    if (!p) {
        fputs("talus_bench_kernels: out of memory\n", stderr);
        exit(1);
    }
    return memset(p, 0, count * size);
}

static void fill_metric(Bench *b)
{
    for (int i = 0; i < b->op->blocks; i++) {
        double *m = b->metric[i];
        m[0] = 1.0 / sqrt(b->op->diagonal[i][0]);
        m[1] = b->op->rows == 3 ? 1.0 / sqrt(b->op->diagonal[i][1]) : 1.0;
        m[2] = b->op->rows == 3 ? b->op->mu[i] * (m[0] / m[1]) : 0.0;
        m[3] = 1.0 / (1.0 + m[2] * m[2]);
    }
}

static TalusStatus prepare(Bench *b, const char *path)
{
    TalusStatus status = talus_problem_read(path, NULL, &b->problem);
    if (status != TALUS_OK)
        return status;
    b->op = talus_problem_operator(b->problem);
    b->start = talus_problem_gamma(b->problem);
    b->n = talus_problem_size(b->problem);
    double **const vectors[] = {&b->x, &b->x_prev, &b->g_prev, &b->out};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        *vectors[k] = room((size_t)b->n, sizeof(double));
    b->metric = room((size_t)b->op->blocks, sizeof *b->metric);
    fill_metric(b);
    return prepare_sweeps(b);
}

static void destroy(Bench *b)
{
    talus_backend_cpu.sweep.destroy(b->sweep);
    talus_backend_cpu.sweep.destroy(b->sweep_in_double);
    talus_problem_destroy(b->problem);
    free(b->x);
    free(b->x_prev);
    free(b->g_prev);
    free(b->out);
    free(b->metric);
}

int main(int argc, char **argv)
{
    int rounds = argc > 2 ? atoi(argv[2]) : DEFAULT_ROUNDS;
    Bench bench = {0};
    Times times[KERNELS] = {{0}};
    if (argc < 2 || argc > 3 || rounds < 1) {
        fputs("usage: talus_bench_kernels PROBLEM [ROUNDS]\n", stderr);
        return 2;
    }
    if (prepare(&bench, argv[1]) != TALUS_OK || bench.op->blocks == 0) {
        fprintf(stderr, "talus_bench_kernels: %s: %s\n", argv[1],
                bench.op ? "no contacts to measure" : talus_error());
        return 1;
    }
    for (int k = 0; k < KERNELS; k++) {
        times[k].kernel = room((size_t)rounds, sizeof(double));
        times[k].ratio = room((size_t)rounds, sizeof(double));
    }
    measure(&bench, times, rounds);
    report(&bench, times, rounds);
    for (int k = 0; k < KERNELS; k++) {
        free(times[k].kernel);
        free(times[k].ratio);
    }
    destroy(&bench);
    return 0;
}
