/* backend/cpu/terms.c - sizes of the terms of gradients (backend/terms.h), block by block: measured once per result. */
#include "backend/terms.h"
#include "backend/cpu/cpu.h"
#include "base/lane.h"

typedef struct Pass {
    const TalusOperator *op;
    const double *gamma;
} Pass;

enum { LINEAR, SPIN }; /* index of |V| and |W| in a body's entry of the scratch velocities */

/* ---- bodies ---- */

static void wrench_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusOperator *op = pass->op;
    (void)chunk;
    talus_cpu_wrench(op, pass->gamma + begin * op->rows, (int)begin, (int)end, op->scratch->record);
}

static void body_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const TalusOperator *op = ((const Pass *)context)->op;
    (void)chunk;
    for (int64_t b = begin; b < end; b++) {
        double sum[6] = {0.0};
        for (int32_t k = op->incidence_start[b]; k < op->incidence_start[b + 1]; k++)
            talus_terms_add(op->scratch->record[op->incidence[k] >> 1], sum);
        talus_terms_body(op->body[b], op->inertia ? op->inertia[b] : NULL, sum,
                         op->scratch->velocity[b]);
    }
}

/* ---- blocks ---- */

static double normal_offset(const TalusOperator *op, int64_t i)
{
    return fabs(op->unshifted ? op->unshifted[i]
                : op->pair    ? op->bias[i]
                              : op->offset[i * op->rows]);
}

/* Returns the factor of |W| of one side's body: the arm, with 6 rows plus the lever of the moment rows. */
static double arm_of(const TalusOperator *op, int i, int side)
{
    int general = i - op->sphere_sphere - op->sphere_fixed;
    const double *arm = general < 0 ? NULL : op->arm[general] + 3 * side;
    double length = talus_terms_arm(op->rows, arm, op->frame[i]);
    return op->rows == 6 ? length + op->lever[general][side] : length;
}

static double contact_terms(const TalusOperator *op, int i)
{
    double sum = normal_offset(op, i);
    for (int side = 0; side < 2; side++) {
        int body = op->pair[i][side];
        if (body < 0)
            continue;
        const double *of = op->scratch->velocity[body];
        sum += of[LINEAR] + arm_of(op, i, side) * of[SPIN];
    }
    return sum;
}

static double matrix_terms(const Pass *pass, int64_t i)
{
    const TalusOperator *op = pass->op;
    double sum2 = 0.0;
    for (int64_t row = i * op->rows; row < (i + 1) * op->rows; row++) {
        double sum = row == i * op->rows ? normal_offset(op, i) : fabs(op->offset[row]);
        for (int32_t k = op->row_start[row]; k < op->row_start[row + 1]; k++)
            sum += fabs(op->values[k] * pass->gamma[op->column[k]]);
        sum2 += sum * sum;
    }
    return sqrt(sum2);
}

/* Returns the sum of the sizes of the terms of block i's gradient, to which its rounding is relative (terms.h): at
 * least d |gamma_i|, d its mean diagonal entry; times 1 + mu where Coulomb's law adds De Saxce's shift. */
static double block_terms(const Pass *pass, int64_t i)
{
    const TalusOperator *op = pass->op;
    const TalusBlockModel *model = op->model ? &op->model[i] : NULL;
    const double *gamma = pass->gamma + i * op->rows;
    double terms = op->pair ? contact_terms(op, (int)i) : matrix_terms(pass, i), own2 = 0.0;
    if (op->compliance)
        terms += fabs(op->compliance[i] * gamma[0]);
    for (int k = 0; k < op->rows; k++)
        own2 += gamma[k] * gamma[k];
    terms = fmax(terms, talus_block_scale(op, (int)i) * sqrt(own2));
    return terms * talus_terms_amplified(model, op->rows == 1 ? 0.0 : op->mu[i]);
}

static void block_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    double *out = pass->op->scratch->partial + PARTIALS * chunk, sum2 = 0.0, max = 0.0;
    for (int64_t i = begin; i < end; i++) {
        double terms = block_terms(pass, i);
        sum2 += terms * terms;
        update_max(&max, terms);
    }
    out[0] = sum2;
    out[1] = max;
}

void talus_cpu_op_terms(const TalusOperator *op, const double *gamma, double *sum2, double *max)
{
    Pass pass = {op, gamma};
    double total[2];
    if (op->pair) {
        talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, wrench_chunk, &pass);
        talus_parallel(op->pool, op->bodies, BODY_GRAIN, body_chunk, &pass);
    }
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, block_chunk, &pass);
    talus_cpu_collect(op, 2, total);
    *sum2 = total[0];
    *max = total[1];
}
