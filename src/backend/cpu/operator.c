/* backend/cpu/operator.c - whole-problem operations: product, residual, Jacobi step; the table. */
#include "backend/cpu/cpu.h"

#include "base/memory.h"
#include "base/status.h"
#include "sets/cone.h"

#include <string.h>

static TalusStatus vector_reserve(double **vector, size_t *capacity, size_t n, const char *what)
{
    return TALUS_RESERVE(*vector, *capacity, n, 0, what);
}

static void vector_release(double *vector)
{
    talus_release(vector);
}

static TalusStatus scratch(const TalusOperator *op)
{
    TalusCpuScratch *s = op->scratch;
    size_t records = (size_t)op->blocks + (size_t)op->general;
    size_t chunks = (size_t)talus_chunks((int64_t)op->blocks * op->rows, VECTOR_GRAIN) +
                    (size_t)talus_chunks(op->blocks, BLOCK_GRAIN) + 1;
    if (op->pair) {
        TALUS_TRY(TALUS_RESERVE(s->record, s->record_room, records + 1, 0, "contact wrenches"));
        TALUS_TRY(TALUS_RESERVE(s->velocity, s->velocity_room, (size_t)op->bodies + 1, 0,
                                "body velocities"));
    } else {
        size_t n = (size_t)op->blocks * (size_t)op->rows;
        TALUS_TRY(TALUS_RESERVE(s->product, s->product_room, n, 0, "operator product"));
        TALUS_TRY(TALUS_RESERVE(s->unscaled, s->unscaled_room, n, 0, "impulses"));
    }
    return TALUS_RESERVE(s->partial, s->partial_room, PARTIALS * chunks, 0, "partial sums");
}

/* ---- product ---- */

typedef struct Product {
    const TalusOperator *op;
    const double *gamma;
    double *out;
    const double (*velocity)[8];
    bool compliant, offset;
} Product;

static void wrench_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Product *p = context;
    (void)chunk;
    talus_cpu_wrench(p->op, p->gamma + begin * p->op->rows, (int)begin, (int)end,
                     p->op->scratch->record);
}

static void bodies(const TalusOperator *op, const double *gamma, bool free_motion,
                   double (*velocity)[8])
{
    Product p = {.op = op, .gamma = gamma};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, wrench_chunk, &p);
    talus_cpu_gather(op, (const double(*)[6])op->scratch->record, free_motion, velocity);
}

void talus_cpu_sparse_product(const TalusOperator *op, const double *x, int begin, int end,
                              double *out)
{
    for (int row = begin * op->rows; row < end * op->rows; row++) {
        double sum = 0.0;
        for (int32_t k = op->row_start[row]; k < op->row_start[row + 1]; k++)
            sum += op->values[k] * x[op->column[k]];
        *out++ = sum;
    }
}

static void product_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Product *p = context;
    const TalusOperator *op = p->op;
    const int rows = op->rows;
    double *out = p->out + begin * rows;
    (void)chunk;
    if (op->pair)
        talus_cpu_contact_velocity(op, p->velocity, (int)begin, (int)end, out);
    else if (p->gamma)
        talus_cpu_sparse_product(op, p->gamma, (int)begin, (int)end, out);
    else
        memset(out, 0, (size_t)((end - begin) * rows) * sizeof *out);
    for (int64_t i = begin; i < end; i++) {
        if (p->compliant && op->compliance && p->gamma)
            p->out[i * rows] += op->compliance[i] * p->gamma[i * rows];
        if (p->offset && op->pair)
            p->out[i * rows] += op->bias[i];
        if (p->offset && !op->pair)
            for (int k = 0; k < rows; k++)
                p->out[i * rows + k] += op->offset[i * rows + k];
    }
}

static void product(const TalusOperator *op, const double *gamma, bool compliant, bool offset,
                    double *out)
{
    Product p = {op, gamma, out, NULL, compliant, offset};
    if (op->pair && !gamma) {
        p.velocity = (const double(*)[8])op->body; /* v_f itself */
    } else if (op->pair) {
        bodies(op, gamma, offset, op->scratch->velocity);
        p.velocity = (const double(*)[8])op->scratch->velocity;
    }
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, product_chunk, &p);
}

/* ---- residual and Jacobi step ---- */

typedef struct BlockPass {
    const TalusOperator *op;
    const double *gamma, *g;
    double *out;
    double omega, lambda;
} BlockPass;

/* step = P(gamma - omega g / d) for one block. */
static inline void block_step(const TalusOperator *op, int64_t i, const double *gamma,
                              const double *g, double omega, double step[3])
{
    double eta = omega / talus_block_scale(op, (int)i);
    step[0] = gamma[0] - eta * g[0];
    if (op->rows == 1) {
        step[0] = talus_project_nonneg(step[0]);
        return;
    }
    step[1] = gamma[1] - eta * g[1];
    step[2] = gamma[2] - eta * g[2];
    talus_project_cone(op->mu[i], op->mu[i], &step[0], &step[1], &step[2]);
}

static void residual_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BlockPass *pass = context;
    const TalusOperator *op = pass->op;
    const int rows = op->rows;
    double sum2 = 0.0, max = 0.0, objective = 0.0;
    for (int64_t i = begin; i < end; i++) {
        const double *gamma = pass->gamma + i * rows, *g = pass->g + i * rows;
        double step[3], d = talus_block_scale(op, (int)i), r2 = 0.0;
        block_step(op, i, gamma, g, 1.0, step);
        for (int k = 0; k < rows; k++) {
            double r = d * (gamma[k] - step[k]);
            double q = op->pair ? 0.0 : op->offset[i * rows + k];
            r2 += r * r;
            objective += 0.5 * gamma[k] * (g[k] + q);
        }
        sum2 += r2;
        max = r2 > max ? r2 : max;
        if (!(r2 <= max)) /* NaN must not hide behind a maximum */
            max = r2;
    }
    double *partial = op->scratch->partial + PARTIALS * chunk;
    partial[0] = sum2;
    partial[1] = max;
    partial[2] = objective;
}

static void residual(const TalusOperator *op, const double *gamma, const double *g, double *sum2,
                     double *max, double *objective)
{
    BlockPass pass = {.op = op, .gamma = gamma, .g = g};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, residual_chunk, &pass);
    *sum2 = *max = *objective = 0.0;
    for (int64_t c = 0; c < talus_chunks(op->blocks, BLOCK_GRAIN); c++) {
        const double *partial = op->scratch->partial + PARTIALS * c;
        *sum2 += partial[0];
        *max = partial[1] <= *max ? *max : partial[1];
        *objective += partial[2];
    }
    *max = sqrt(*max);
}

static void relax_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BlockPass *pass = context;
    const int rows = pass->op->rows;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double *gamma = pass->out + i * rows, step[3];
        block_step(pass->op, i, gamma, pass->g + i * rows, pass->omega, step);
        for (int k = 0; k < rows; k++)
            gamma[k] += pass->lambda * (step[k] - gamma[k]);
    }
}

static void relax(const TalusOperator *op, const double *g, double omega, double lambda,
                  double *gamma)
{
    BlockPass pass = {.op = op, .g = g, .out = gamma, .omega = omega, .lambda = lambda};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, relax_chunk, &pass);
}

const TalusBackend talus_backend_cpu = {
    .name = "cpu",
    .summary = "threads and vector units of this machine, double precision, bitwise reproducible",
    .reserve = vector_reserve,
    .release = vector_release,
    .dot = talus_cpu_dot,
    .axpby = talus_cpu_axpby,
    .scratch = scratch,
    .bodies = bodies,
    .product = product,
    .residual = residual,
    .relax = relax,
    .accelerate = talus_cpu_accelerate,
    .scale = talus_cpu_scale,
    .sweep_begin = talus_cpu_sweep_begin,
    .sweep_run = talus_cpu_sweep_run,
    .sweep_end = talus_cpu_sweep_end,
    .sweep_destroy = talus_cpu_sweep_destroy,
};
