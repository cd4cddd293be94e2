/* backend/cpu/operator.c - the operations of TalusOperatorOps except op.scale, and Jacobi's step. */
#include "backend/cpu/cpu.h"
#include "backend/cpu/general.h"
#include "backend/part.h"
#include "linalg/eliminate.h"

#include "base/memory.h"
#include "base/status.h"

#include <string.h>

TalusStatus talus_cpu_op_reserve_scratch(const TalusOperator *op)
{
    TalusHostScratch *s = op->scratch;
    size_t records = (size_t)op->blocks + (size_t)op->general;
    if (op->pair) {
        TALUS_TRY(TALUS_GROW(s->record, records + 1, 0, "contact wrenches"));
        TALUS_TRY(TALUS_GROW(s->velocity, (size_t)op->bodies + 1, 0, "body velocities"));
    } else {
        size_t n = (size_t)op->blocks * (size_t)op->rows;
        TALUS_TRY(TALUS_GROW(s->product, n, 0, "operator product"));
        TALUS_TRY(TALUS_GROW(s->unscaled, n, 0, "impulses"));
        s->full_blocks = talus_cpu_has_full_blocks(op);
    }
    TALUS_TRY(talus_cpu_group_blocks(op));
    TALUS_TRY(talus_cpu_list_border(op));
    size_t groups = (size_t)talus_cpu_group_count(op) + 1;
    TALUS_TRY(TALUS_GROW(s->vector_partial, TALUS_VECTORS * groups, 0, "dot products"));
    return TALUS_GROW(s->partial, PARTIALS * groups, 0, "partial sums");
}

/* ---- product ---- */

/* Arguments of the loops over blocks of a product; each operation sets the members that its loop reads. */
typedef struct Product {
    const TalusOperator *op;
    const double *gamma;
    double *out;
    const double (*velocity)[8];
    bool compliant, offset;
    const TalusMetricBlock *metric; /* of op.gradient: the result is multiplied by S */
    const double *x;                /* with a metric: gamma = S x */
} Product;

/* Writes the wrenches of gamma of blocks [begin, end) to the scratch. */
static void wrench_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Product *p = context;
    (void)chunk;
    talus_cpu_write_wrenches(p->op, p->gamma + begin * p->op->rows, (int)begin, (int)end,
                             p->op->scratch->record);
}

/* Writes the wrenches of gamma to the scratch, then begins the bodies' velocities by talus_cpu_gather_wrenches. */
static void gather_impulses(const TalusOperator *op, const double *gamma, bool free_motion,
                            bool terms, double (*velocity)[8])
{
    Product p = {.op = op, .gamma = gamma};
    if (talus_cpu_gather_impulses(op, gamma, free_motion, terms, velocity))
        return;
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, wrench_chunk, &p);
    talus_cpu_gather_wrenches(op, (const double(*)[6])op->scratch->record, free_motion, terms,
                              velocity);
}

void talus_cpu_op_body_velocities(const TalusOperator *op, const double *gamma, bool free_motion,
                                  double (*velocity)[8])
{
    gather_impulses(op, gamma, free_motion, false, velocity);
    talus_halo_finish_exchange(op->halo);
}

void talus_cpu_update_velocities(const TalusOperator *op, const double *gamma, bool terms)
{
    gather_impulses(op, gamma, true, terms, op->scratch->velocity);
    op->scratch->velocity_of = gamma;
}

/* Writes the velocities of the scratch: v_f, changed so that eliminated joints are satisfied. */
static void write_free_velocities(const TalusOperator *op)
{
    op->scratch->velocity_of = NULL;
    memcpy(op->scratch->velocity, op->body, (size_t)op->bodies * sizeof *op->body);
    talus_elimination_apply(op->elimination, true, op->scratch->velocity);
}

/* out = N gamma, plus E gamma if p->compliant, plus q if p->offset, for blocks [begin, end), `out` starting at block
 * `begin`. For contacts N gamma is computed as D' p->velocity, velocities that contain v_f if p->offset. p->gamma
 * NULL: E gamma is left out. */
static void write_gradient(const Product *p, int64_t begin, int64_t end, double *out)
{
    const TalusOperator *op = p->op;
    const int rows = op->rows;
    if (op->pair)
        talus_cpu_contact_velocity(op, p->velocity, (int)begin, (int)end, out);
    else if (p->gamma)
        talus_cpu_sparse_product(op, p->gamma, (int)begin, (int)end, out);
    else
        memset(out, 0, (size_t)((end - begin) * rows) * sizeof *out);
    for (int64_t i = begin; i < end; i++, out += rows) {
        if (p->compliant && op->compliance && p->gamma)
            out[0] += op->compliance[i] * p->gamma[i * rows];
        if (p->offset && op->pair)
            out[0] += op->bias[i];
        if (p->offset && op->pair && op->slip && rows > 1) {
            out[1] += op->slip[i][0];
            out[2] += op->slip[i][1];
        }
        if (p->offset && !op->pair)
            for (int k = 0; k < rows; k++)
                out[k] += op->offset[i * rows + k];
    }
}

/* write_gradient for blocks [begin, end) of p->out. */
static void product_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Product *p = context;
    (void)chunk;
    write_gradient(p, begin, end, p->out + begin * p->op->rows);
}

void talus_cpu_op_product(const TalusOperator *op, const double *gamma, bool compliant, bool offset,
                          double *out)
{
    Product p = {.op = op, .gamma = gamma, .out = out, .compliant = compliant, .offset = offset};
    if (op->pair && !gamma && !op->elimination) {
        p.velocity = (const double(*)[8])op->body; /* v_f */
    } else if (op->pair && !gamma) {
        write_free_velocities(op);
        p.velocity = (const double(*)[8])op->scratch->velocity;
    } else if (op->pair) {
        gather_impulses(op, gamma, offset, false, op->scratch->velocity);
        p.velocity = (const double(*)[8])op->scratch->velocity;
    }
    talus_cpu_for_each_block_when_ready(op, product_chunk, &p);
}

/* ---- gradient in a metric ---- */

/* talus_cpu_unscale_impulses for blocks [begin, end). */
static void unscale_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Product *p = context;
    const TalusOperator *op = p->op;
    const int rows = op->rows;
    double local[TALUS_ROWS * BLOCK_GRAIN];
    double *gamma = op->pair ? local : op->scratch->unscaled + begin * rows;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < rows; k++)
            gamma[(i - begin) * rows + k] = p->metric[i][k > 0] * p->x[i * rows + k];
    if (op->pair)
        talus_cpu_write_wrenches(op, gamma, (int)begin, (int)end, op->scratch->record);
}

void talus_cpu_unscale_impulses(const TalusOperator *op, const TalusMetricBlock *metric,
                                const double *x)
{
    Product p = {.op = op, .metric = metric, .x = x};
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, unscale_chunk, &p);
}

/* p->out = S ((N + E) gamma), plus S q if p->offset, for blocks [begin, end). */
static void scaled_gradient_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Product *p = context;
    const TalusOperator *op = p->op;
    const int rows = op->rows;
    double *out = p->out + begin * rows;
    (void)chunk;
    write_gradient(p, begin, end, out);
    for (int64_t i = begin; i < end; i++, out += rows) {
        const double *s = p->metric[i];
        if (op->pair && op->compliance)
            out[0] += op->compliance[i] * s[0] * p->x[i * rows];
        for (int k = 0; k < rows; k++)
            out[k] *= s[k > 0];
    }
}

void talus_cpu_op_gradient(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                           bool offset, double *out)
{
    if (!metric) {
        talus_cpu_op_product(op, x, true, offset, out);
        return;
    }
    Product p = {.op = op, .out = out, .offset = offset, .metric = metric, .x = x};
    talus_cpu_unscale_impulses(op, metric, x);
    if (op->pair) {
        talus_cpu_gather_wrenches(op, (const double(*)[6])op->scratch->record, offset, false,
                                  op->scratch->velocity);
        p.velocity = (const double(*)[8])op->scratch->velocity;
    } else {
        p.gamma = op->scratch->unscaled;
    }
    talus_cpu_for_each_block_when_ready(op, scaled_gradient_chunk, &p);
}

/* ---- residual and Jacobi step ---- */

/* Arguments of measure_blocks: what it measures and, for Jacobi's step, what it changes. */
typedef struct BlockPass {
    Product product; /* computes a chunk's gradient; its `out` is not used */
    double *relaxed; /* impulses that Jacobi's step changes; NULL: measure only */
    double omega, lambda;
    bool terms; /* also sum the sizes of the terms of gradients (backend/terms.h) */
} BlockPass;

/* step = P(gamma - eta g) for block i. */
KERNEL void projected_step(const TalusOperator *op, Known known, int64_t i, const double *gamma,
                           const double *g, double eta, double step[TALUS_ROWS])
{
    for (int k = 0; k < known.rows; k++)
        step[k] = gamma[k] - eta * g[k];
    if (known.mixed_sets)
        talus_general_project(op, NULL, i, step);
    else if (known.rows == 1)
        step[0] = talus_project_nonneg(step[0]);
    else
        talus_project_cone(op->mu[i], op->mu[i], &step[0], &step[1], &step[2]);
}

/* Returns the squared natural residual of block i. Where the projection changes nothing, d (gamma - step) equals g,
 * and g is used: the computed difference would lose a small g beside huge impulses, and an infeasible problem would
 * look solved. */
KERNEL double block_residual2(const TalusOperator *op, Known known, int64_t i, const double *gamma,
                              const double *g, double d)
{
    double step[TALUS_ROWS], r2 = 0.0;
    bool inside = true;
    projected_step(op, known, i, gamma, g, 1.0 / d, step);
    for (int k = 0; k < known.rows; k++)
        inside = inside && step[k] == gamma[k] - 1.0 / d * g[k];
    for (int k = 0; k < known.rows; k++) {
        double r = inside ? g[k] : d * (gamma[k] - step[k]);
        r2 += r * r;
    }
    return r2;
}

/* Places of the sums over blocks, then of the maxima. */
enum { RESIDUAL2, TERMS2, RESIDUAL_MAX2, TERMS_MAX2, RESIDUAL_SUMS };

/* Adds the squared residuals of blocks [begin, end) to sums[RESIDUAL2] and raises sums[RESIDUAL_MAX2] to their
 * maximum; if pass->relaxed, also takes Jacobi's step. `gradient` starts at block `begin`. */
KERNEL void measure_range(const BlockPass *pass, Known known, int64_t begin, int64_t end,
                          const double *gradient, double sums[RESIDUAL_SUMS])
{
    const TalusOperator *op = pass->product.op;
    const int rows = known.rows;
    for (int64_t i = begin; i < end; i++) {
        const double *gamma = pass->product.gamma + i * rows, *g = gradient + (i - begin) * rows;
        double d = talus_block_scale(op, (int)i), r2 = block_residual2(op, known, i, gamma, g, d);
        sums[RESIDUAL2] += r2;
        update_max(&sums[RESIDUAL_MAX2], r2);
        if (pass->relaxed) {
            double step[TALUS_ROWS], *out = pass->relaxed + i * rows;
            projected_step(op, known, i, gamma, g, pass->omega / d, step);
            for (int k = 0; k < rows; k++)
                out[k] += pass->lambda * (step[k] - out[k]);
        }
    }
}

/* Measures the blocks [begin, end) of one group and, if pass->relaxed, takes Jacobi's step; stores the sums of the
 * group. */
static void measure_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BlockPass *pass = context;
    const TalusOperator *op = pass->product.op;
    double gradient[TALUS_ROWS * BLOCK_GRAIN], sums[RESIDUAL_SUMS] = {0.0};
    write_gradient(&pass->product, begin, end, gradient);
    if (op->mixed_sets)
        measure_range(pass, (Known){op->rows, true}, begin, end, gradient, sums);
    else if (op->rows == 3)
        measure_range(pass, (Known){3, false}, begin, end, gradient, sums);
    else
        measure_range(pass, (Known){1, false}, begin, end, gradient, sums);
    if (pass->terms)
        talus_cpu_add_terms(op, pass->product.gamma, begin, end, &sums[TERMS2], &sums[TERMS_MAX2]);
    talus_cpu_store_sums(op, chunk, RESIDUAL_SUMS, sums);
}

/* Measures all blocks and, if pass->relaxed, takes Jacobi's step; writes the totals over groups. */
static void measure_blocks(BlockPass *pass, double total[RESIDUAL_SUMS])
{
    const TalusOperator *op = pass->product.op;
    if (op->pair) {
        talus_cpu_update_velocities(op, pass->product.gamma, pass->terms);
        pass->product.velocity = (const double(*)[8])op->scratch->velocity;
    } else if (pass->relaxed) { /* rows read gamma of all blocks, so the old values must stay */
        memcpy(op->scratch->unscaled, pass->relaxed,
               (size_t)op->blocks * (size_t)op->rows * sizeof *pass->relaxed);
        pass->product.gamma = op->scratch->unscaled;
    }
    talus_cpu_for_each_group_when_ready(op, measure_chunk, pass);
    talus_cpu_combine_sums(op, 2, 2, total);
}

void talus_cpu_op_residual(const TalusOperator *op, const double *gamma, TalusResidualSums *sums,
                           TalusTermSums *terms)
{
    BlockPass pass = {.product = {.op = op, .gamma = gamma, .compliant = true, .offset = true},
                      .terms = terms != NULL};
    double total[RESIDUAL_SUMS];
    measure_blocks(&pass, total);
    *sums = (TalusResidualSums){total[RESIDUAL2], sqrt(total[RESIDUAL_MAX2])};
    if (terms)
        *terms = (TalusTermSums){total[TERMS2], sqrt(total[TERMS_MAX2])};
}

void talus_cpu_step_jacobi(const TalusOperator *op, double omega, double lambda, double *gamma,
                           double *sum2, double *max)
{
    BlockPass pass = {.product = {.op = op, .gamma = gamma, .compliant = true, .offset = true},
                      .relaxed = gamma,
                      .omega = omega,
                      .lambda = lambda};
    double total[RESIDUAL_SUMS];
    measure_blocks(&pass, total);
    *sum2 = total[RESIDUAL2];
    *max = sqrt(total[RESIDUAL_MAX2]);
}

/* ---- metric ---- */

/* Arguments of talus_cpu_op_fill_metric. */
typedef struct MetricPass {
    const TalusOperator *op;
    TalusMetricBlock *out;
    TalusMetric kind;
} MetricPass;

/* Writes the metric of blocks [begin, end). */
static void metric_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const MetricPass *pass = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double *m = pass->out[i];
        talus_cpu_metric_scales(pass->op, pass->kind, i, m);
        m[2] = pass->op->rows > 1 ? pass->op->mu[i] * (m[0] / m[1]) : 0.0;
        m[3] = 1.0 / (1.0 + m[2] * m[2]);
    }
}

void talus_cpu_op_fill_metric(const TalusOperator *op, TalusMetric kind, TalusMetricBlock *out)
{
    MetricPass pass = {op, out, kind};
    talus_parallel(op->pool, op->blocks, VECTOR_GRAIN, metric_chunk, &pass);
}

/* Arguments of talus_cpu_op_measure_sizes. */
typedef struct SizesPass {
    const TalusOperator *op;
    const TalusMetricBlock *metric;
    const double *x;
} SizesPass;

/* Stores the sums of TalusSizes over the blocks [begin, end) of one group. */
static void sizes_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    const SizesPass *pass = context;
    const TalusOperator *op = pass->op;
    const int rows = op->rows;
    double sums[3] = {0.0, 0.0, 0.0};
    for (int64_t i = begin; i < end; i++) {
        double d = talus_block_scale(op, (int)i), gamma[TALUS_ROWS], inside[TALUS_ROWS];
        for (int k = 0; k < rows; k++) {
            double x = pass->x[i * rows + k];
            gamma[k] = inside[k] = pass->metric ? pass->metric[i][k > 0] * x : x;
        }
        if (op->mixed_sets)
            talus_general_project_unbounded(op, i, inside);
        else if (rows == 1)
            inside[0] = talus_project_nonneg(inside[0]);
        else
            talus_project_cone(op->mu[i], op->mu[i], &inside[0], &inside[1], &inside[2]);
        for (int k = 0; k < rows; k++) {
            double value = d * gamma[k], off = d * (gamma[k] - inside[k]);
            sums[0] += value * value;
            sums[1] += off * off;
            sums[2] += gamma[k] * gamma[k] / d;
        }
    }
    talus_cpu_store_sums(op, group, 3, sums);
}

void talus_cpu_op_measure_sizes(const TalusOperator *op, const TalusMetricBlock *metric,
                                const double *x, TalusSizes *out)
{
    SizesPass pass = {op, metric, x};
    double total[3];
    talus_cpu_for_each_group(op, sizes_group, &pass);
    talus_cpu_combine_sums(op, 3, 0, total);
    *out = (TalusSizes){.size = total[0], .outside = total[1], .over = total[2]};
}
