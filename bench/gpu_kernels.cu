/* bench/gpu_kernels.cu - what an iteration of apgd, under both laws, and of jacobi costs on the GPU, kernel by kernel.
 *
 *     talus_bench_gpu_kernels [BODIES ...]        5,000, 25,000, 1,000,000 and 10,000,000 by default
 *
 * The problem is a lattice of spheres on a floor, normals jittered, made on the device: three contacts to
 * a body, neighbours in space near each other in memory, as the engine orders them. A whole iteration is
 * the difference of two runs of different length, the median of several; the price of a run is what is
 * left. Kernels by themselves are launched back to back. Bytes count every array once per pass over it,
 * so a figure above the memory's speed means that the cache has helped. Small problems are also timed in one
 * kernel, as solvers take them. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/iterate/iterate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHORT = 40, LONG = 140, REPEATS = 3, LAUNCHES = 40, CHECK = 5, DIRECTIONS = 3 };

static const double PEAK = 4.3e12; /* bytes per second of a copy on an H200 */

/* ---- the problem ---- */

struct Lattice {
    int nx, ny, nz;
};

/* Body b has a neighbour above it along `axis`; `grid_stride` away. */
static __device__ inline bool neighbour(Lattice l, int b, int axis, int *stride)
{
    int x = b % l.nx, y = b / l.nx % l.ny, z = b / (l.nx * l.ny);
    *stride = axis == 0 ? 1 : axis == 1 ? l.nx : l.nx * l.ny;
    return axis == 0 ? x + 1 < l.nx : axis == 1 ? y + 1 < l.ny : z + 1 < l.nz;
}

static __device__ inline bool neighbour_below(Lattice l, int b, int axis, int *stride)
{
    int x = b % l.nx, y = b / l.nx % l.ny, z = b / (l.nx * l.ny);
    *stride = axis == 0 ? 1 : axis == 1 ? l.nx : l.nx * l.ny;
    return axis == 0 ? x > 0 : axis == 1 ? y > 0 : z > 0;
}

static __global__ void count_contacts(Lattice l, int bodies, uint32_t *contacts, uint32_t *touches)
{
    int64_t b = item_index();
    int stride, upward = 0, downward = 0;
    if (b > bodies)
        return;
    for (int axis = 0; axis < DIRECTIONS && b < bodies; axis++) {
        upward += neighbour(l, (int)b, axis, &stride);
        downward += neighbour_below(l, (int)b, axis, &stride);
    }
    bool floor = b < l.nx * l.ny;
    contacts[b] = (uint32_t)upward;
    touches[b] = b < bodies ? (uint32_t)(upward + downward + floor) : 0;
}

static __device__ inline double noise(uint32_t n)
{
    n = (n ^ 61u ^ (n >> 16)) * 9u;
    n = (n ^ (n >> 4)) * 0x27d4eb2du;
    return (double)(n ^ (n >> 15)) / 4294967296.0 - 0.5;
}

static __device__ inline void set_contact(const TalusOperator &op, int i, int a, int b, int axis)
{
    double n[3] = {0.3 * noise(3u * (uint32_t)i), 0.3 * noise(3u * (uint32_t)i + 1u),
                   0.3 * noise(3u * (uint32_t)i + 2u)};
    n[axis] += b < 0 ? -1.0 : 1.0;
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    op.pair[i][0] = a;
    op.pair[i][1] = b;
    for (int k = 0; k < 3; k++)
        op.frame[i][k] = n[k] / length;
    op.frame[i][3] = 1.0 / (1.0 + fabs(op.frame[i][0]));
    op.bias[i] = 1e-3 * noise((uint32_t)i + 77u);
    op.mu[i] = 0.3;
    op.diagonal[i][0] = b < 0 ? 1.0 : 2.0;
    op.diagonal[i][1] = 3.5 * op.diagonal[i][0];
}

/* `first`: number of a body's first contact upward. */
static __global__ void fill(Lattice l, TalusOperator op, const uint32_t *first)
{
    int64_t b = item_index();
    if (b >= op.bodies)
        return;
    int stride, i = (int)first[b];
    int32_t *touch = op.incidence + op.incidence_start[b];
    double body[8] = {0.0, 0.0, -0.01, 1.0, 0.0, 0.0, 0.0, 2.5};
    for (int k = 0; k < 8; k++)
        op.body[b][k] = body[k];
    for (int axis = DIRECTIONS - 1; axis >= 0; axis--) {
        if (!neighbour_below(l, (int)b, axis, &stride))
            continue;
        int a = (int)b - stride, number = (int)first[a], unused;
        for (int k = 0; k < axis; k++)
            number += neighbour(l, a, k, &unused);
        *touch++ = 2 * number + 1;
    }
    for (int axis = 0; axis < DIRECTIONS; axis++)
        if (neighbour(l, (int)b, axis, &stride)) {
            set_contact(op, i, (int)b, (int)b + stride, axis);
            *touch++ = 2 * i++;
        }
    if (b < l.nx * l.ny) {
        set_contact(op, op.sphere_sphere + (int)b, (int)b, -1, 2);
        *touch = 2 * (op.sphere_sphere + (int)b);
    }
}

struct Bed {
    TalusOperator op;
    CuArray<int32_t> pair, touch;
    CuArray<uint32_t> first, incidence_start;
    CuArray<double> frame, body, bias, mu, diagonal;
    CuArray<double> x, x_prev, g_prev, metric;
};

static CuContext *cu;

static void must(TalusStatus status)
{
    if (status == TALUS_OK)
        return;
    fprintf(stderr, "%s\n", talus_error());
    exit(1);
}

static Bed make_bed(int bodies)
{
    Bed bed = {};
    int side = (int)cbrt((double)bodies), layers = bodies / (side * side);
    Lattice l = {side, side, layers};
    TalusOperator *op = &bed.op;
    op->context = cu;
    op->rows = 3;
    op->bodies = side * side * layers;
    op->sphere_sphere =
        (side - 1) * side * layers + side * (side - 1) * layers + side * side * (layers - 1);
    op->sphere_fixed = side * side;
    op->blocks = op->sphere_sphere + op->sphere_fixed;
    must(bed.pair.reserve(2 * (int64_t)op->blocks, "bed"));
    must(bed.touch.reserve(2 * (int64_t)op->blocks, "bed"));
    must(bed.first.reserve(op->bodies + 1, "bed"));
    must(bed.incidence_start.reserve(op->bodies + 1, "bed"));
    must(bed.frame.reserve(4 * (int64_t)op->blocks, "bed"));
    must(bed.body.reserve(8 * (int64_t)op->bodies, "bed"));
    must(bed.bias.reserve(op->blocks, "bed"));
    must(bed.mu.reserve(op->blocks, "bed"));
    must(bed.diagonal.reserve(2 * (int64_t)op->blocks, "bed"));
    for (CuArray<double> *vector : {&bed.x, &bed.x_prev, &bed.g_prev})
        must(vector->reserve(3 * (int64_t)op->blocks, "bed"));
    must(bed.metric.reserve(4 * (int64_t)op->blocks, "bed"));
    op->pair = (int32_t(*)[2])bed.pair.at;
    op->incidence = bed.touch.at;
    op->incidence_start = (int32_t *)bed.incidence_start.at;
    op->frame = (double(*)[4])bed.frame.at;
    op->body = (double(*)[8])bed.body.at;
    op->bias = bed.bias.at;
    op->mu = bed.mu.at;
    op->diagonal = (double(*)[2])bed.diagonal.at;
    launch(cu, count_contacts, blocks_for(op->bodies + 1), THREADS, l, op->bodies, bed.first.at,
           bed.incidence_start.at);
    must(cu_scan(cu, bed.first.at, bed.first.at, op->bodies + 1));
    must(cu_scan(cu, bed.incidence_start.at, bed.incidence_start.at, op->bodies + 1));
    launch(cu, fill, blocks_for(op->bodies), THREADS, l, *op, bed.first.at);
    must(cu_op_reserve_scratch(op));
    cu_op_fill_metric(op, TALUS_METRIC_ANISOTROPIC, (TalusMetricBlock *)bed.metric.at);
    must(cu_check(cu));
    return bed;
}

static void clear_bed(Bed *bed)
{
    cu_scratch_clear(&bed->op);
    bed->pair.clear();
    bed->touch.clear();
    bed->first.clear();
    bed->incidence_start.clear();
    for (CuArray<double> *array : {&bed->frame, &bed->body, &bed->bias, &bed->mu, &bed->diagonal,
                                   &bed->x, &bed->x_prev, &bed->g_prev, &bed->metric})
        array->clear();
}

/* ---- times ---- */

static cudaEvent_t from, to;

static void start_clock(void)
{
    cu_wait(cu);
    cu_note_error(cu, cudaEventRecord(from, cu->stream), "event");
}

static double stop_clock(void)
{
    float ms = 0.0f;
    cu_note_error(cu, cudaEventRecord(to, cu->stream), "event");
    cu_note_error(cu, cudaEventSynchronize(to), "event");
    cu_note_error(cu, cudaEventElapsedTime(&ms, from, to), "event");
    return 1e-3 * (double)ms;
}

/* A method: apgd under the relaxed law, apgd under Coulomb's law, or jacobi. */
struct Method {
    const char *name;
    bool momentum, exact;
};

static const Method METHODS[] = {
    {"apgd", true, false}, {"apgd, coulomb", true, true}, {"jacobi", false, false}};

static double time_run(Bed *bed, bool mixed, const Method *method, bool stepwise, int iterations)
{
    size_t bytes = 3 * (size_t)bed->op.blocks * sizeof(double);
    TalusRun run = {};
    run.iterations = iterations;
    run.check = CHECK;
    run.stepwise = stepwise;
    cu_zero(cu, bed->x.at, bytes);
    cu_zero(cu, bed->x_prev.at, bytes);
    TalusAccelerated a = {};
    a.x = bed->x.at;
    a.x_prev = bed->x_prev.at;
    a.g_prev = bed->g_prev.at;
    a.metric = (const TalusMetricBlock *)bed->metric.at;
    a.kind = TALUS_METRIC_ANISOTROPIC;
    a.exact = method->exact;
    TalusMomentum m = {};
    m.norm = 4.0;
    m.margin = 1.02;
    m.theta = 1.0;
    m.restart = true;
    m.max_theta = method->exact ? 20.0 : 0.0;
    start_clock();
    if (method->momentum)
        must(mixed ? cu_accelerate_run_mixed(&bed->op, &a, &m, &run)
                   : cu_accelerate_run(&bed->op, &a, &m, &run));
    else
        must(mixed ? cu_jacobi_run_mixed(&bed->op, 0.3, 1.0, bed->x.at, &run)
                   : cu_jacobi_run(&bed->op, 0.3, 1.0, bed->x.at, &run));
    double time = stop_clock();
    if (run.done != iterations || !isfinite(run.residual2)) {
        fprintf(stderr, "%d iterations of %d, residual^2 %g\n", run.done, iterations,
                run.residual2);
        exit(1);
    }
    return time;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of an iteration; *price: those of a run without iterations. */
static double time_iteration(Bed *bed, bool mixed, const Method *method, bool stepwise,
                             double *price)
{
    double brief[REPEATS], whole[REPEATS];
    time_run(bed, mixed, method, stepwise, LONG);
    for (int k = 0; k < REPEATS; k++) {
        brief[k] = time_run(bed, mixed, method, stepwise, SHORT);
        whole[k] = time_run(bed, mixed, method, stepwise, LONG);
    }
    qsort(brief, REPEATS, sizeof *brief, ascending);
    qsort(whole, REPEATS, sizeof *whole, ascending);
    double one = (whole[REPEATS / 2] - brief[REPEATS / 2]) / (LONG - SHORT);
    *price = brief[REPEATS / 2] - SHORT * one;
    return one;
}

/* The kernels' arguments and state are those of the last run. */
static double time_kernel(const IterateKernels *k, int which)
{
    start_clock();
    for (int i = 0; i < LAUNCHES; i++) {
        int parity = i & 1;
        if (which == 0)
            launch_block(cu, k->bodies, BODY_BLOCKS, BODY_THREADS, parity, (int)SEEN_STEP);
        else
            launch_block(cu, which == 1 ? k->step : k->check, CONTACT_BLOCKS, CONTACT_THREADS,
                         parity);
    }
    return stop_clock() / LAUNCHES;
}

/* ---- tables ---- */

static void print_line(const Bed *bed, const char *name, double seconds, double bytes)
{
    double contacts = bed->op.blocks, speed = bytes * contacts / seconds;
    printf("    %-22s %10.2f us  %8.4f ns/contact  %6.0f B/contact  %6.0f GB/s  %4.0f %%\n", name,
           1e6 * seconds, 1e9 * seconds / contacts, bytes, 1e-9 * speed, 100.0 * speed / PEAK);
}

static void bench_method(Bed *bed, bool mixed, const Method *method)
{
    static const char *const names[] = {"bodies", "contacts", "contacts, measuring"};
    double bytes[3], price; /* bytes: of each kernel, per contact */
    IterateKernels k = mixed ? iterate_kernels_mixed(3, false, method->momentum, method->exact)
                             : iterate_kernels_double(3, false, method->momentum, method->exact);
    for (int which = 0; which < 3; which++)
        bytes[which] =
            iterate_bytes(&bed->op, mixed, method->momentum, which == 0) / bed->op.blocks;
    double whole = time_iteration(bed, mixed, method, false, &price);
    printf("  %s, %s: %.1f us for a run without iterations,", method->name,
           mixed ? "mixed" : "double", 1e6 * price);
    double one = time_iteration(bed, mixed, method, true, &price);
    printf(" stepwise %.1f us\n", 1e6 * price);
    if (bed->op.blocks <= RESIDENT_BLOCKS * k.resident_threads * RESIDENT_PER_THREAD)
        printf("    %-22s %10.2f us\n", "in one kernel", 1e6 * whole);
    print_line(bed, "iteration", one, bytes[0] + ((CHECK - 1) * bytes[1] + bytes[2]) / CHECK);
    for (int which = 0; which < 3; which++)
        print_line(bed, names[which], time_kernel(&k, which), bytes[which]);
    must(cu_check(cu));
}

static void bench(int bodies)
{
    Bed bed = make_bed(bodies);
    printf("%d bodies, %d contacts\n", bed.op.bodies, bed.op.blocks);
    for (int mixed = 1; mixed >= 0; mixed--)
        for (const Method &method : METHODS)
            bench_method(&bed, mixed != 0, &method);
    clear_bed(&bed);
}

int main(int argc, char **argv)
{
    char device[256];
    must(cu_context_create(&cu));
    cu_describe(device, sizeof device);
    cu_note_error(cu, cudaEventCreate(&from), "event");
    cu_note_error(cu, cudaEventCreate(&to), "event");
    printf("%s\n", device);
    static const int usual[] = {5000, 25000, 1000000, 10000000};
    for (int k = 0; k < (argc > 1 ? argc - 1 : 4); k++) {
        int bodies = argc > 1 ? atoi(argv[k + 1]) : usual[k];
        if (bodies < 8) {
            fprintf(stderr, "usage: %s [BODIES ...], each at least 8\n", argv[0]);
            return 2;
        }
        bench(bodies);
    }
    cu_context_destroy(cu);
    return 0;
}
