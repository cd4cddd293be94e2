/* backend/cpu/law.c - the operations of TalusLawOps: residuals of friction laws beyond ccp, and the shifts and
 * estimates by which a convex problem represents these laws.
 *
 * With u = N gamma + q, Coulomb's law in the form of De Saxce and Feng (1998) is complementarity between gamma in K
 * and u + sigma e_n in K*, where sigma is the support function at -u_t of the impulses that a unit normal impulse
 * allows. With a constant shift s in place of sigma this is a convex problem with the offset q_n + s; a solution with
 * s = sigma obeys Coulomb's law. So does a solution with bounds from an estimate of the normal impulse (Tresca) if the
 * estimate equals the normal impulse. */
#include "backend/cpu/general.h"

/* Context of the loops over blocks; each operation sets the members that its loop reads. */
typedef struct Pass {
    const TalusOperator *op;
    const double *gamma; /* impulses; for estimates x in the metric, gamma = s x */
    const TalusMetricBlock *metric;
    double share; /* fraction of the way that shifts or estimates move */
    bool terms;   /* also sum the sizes of the terms of gradients (backend/terms.h) */
} Pass;

/* Places of the sums over blocks, then of the maxima. */
enum { RESIDUAL2, SHIFT2, ESTIMATE2, TERMS2, RESIDUAL_MAX2, TERMS_MAX2, LAW_SUMS };

/* ---- one block ---- */

/* True if block i is under Coulomb's law. */
static bool is_coulomb(const TalusOperator *op, int64_t i)
{
    return op->model && op->model[i].law == TALUS_LAW_COULOMB;
}

/* True if block i is a prism at present: under `fixed`, or under `coulomb` with op->prisms. */
static bool is_prism(const TalusOperator *op, int64_t i)
{
    return op->model && talus_model_is_prism(&op->model[i], op->prisms);
}

/* Returns the address of the number that contains the block's shift: its bias or, of an explicit operator, its normal
 * entry of q. */
static double *normal_offset(const TalusOperator *op, int64_t i)
{
    return op->pair ? &op->bias[i] : &op->offset[i * op->rows];
}

/* Returns the squared natural residual of gamma with gradient g. Where the projection changes nothing, the residual is
 * g itself, for the reason given at block_residual2 in operator.c. */
KERNEL double natural_residual2(int rows, const TalusSet *set, double d, const double *gamma,
                                const double *g)
{
    double step[TALUS_ROWS] = {0.0}, target[TALUS_ROWS], r2 = 0.0;
    bool inside = true;
    for (int k = 0; k < rows; k++)
        step[k] = target[k] = gamma[k] - 1.0 / d * g[k];
    talus_block_project(rows, set, step);
    for (int k = 0; k < rows; k++)
        inside = inside && step[k] == target[k];
    for (int k = 0; k < rows; k++) {
        double r = inside ? g[k] : d * (gamma[k] - step[k]);
        r2 += r * r;
    }
    return r2;
}

/* Adds block i to the sums and, under Coulomb's law, moves its shift by pass->share. u is the velocity without shift
 * on entry, the gradient with shift on return. The set is that of the block's law: a prism only under `fixed`,
 * whatever op->prisms is. known.mixed_sets is a constant after inlining; false: all sets are discs, and the code for
 * other sections is not compiled. */
KERNEL void measure_and_shift_block(const Pass *pass, Known known, int64_t i, double *u,
                                    double *sums)
{
    const TalusOperator *op = pass->op;
    const int rows = known.rows;
    const double *gamma = pass->gamma + i * rows;
    TalusSet set = talus_set_of_block(op, i, false, NULL);
    double d = talus_block_scale(op, (int)i);
    if (!known.mixed_sets) {
        set.section = TALUS_SECTION_DISC;
        set.prism = false;
    }
    if (is_coulomb(op, i)) {
        double sigma = talus_block_shift(rows, &set, u), *offset = normal_offset(op, i);
        double shift = *offset - op->unshifted[i], off = sigma - shift;
        sums[SHIFT2] += off * off;
        u[0] += sigma;
        if (pass->share > 0.0)
            *offset = op->unshifted[i] + ((1.0 - pass->share) * shift + pass->share * sigma);
    }
    if (is_prism(op, i)) {
        double off = d * (gamma[0] - op->estimate[i]);
        sums[ESTIMATE2] += off * off;
    }
    if (op->compliance)
        u[0] += op->compliance[i] * gamma[0];
    double r2 = natural_residual2(rows, &set, d, gamma, u);
    sums[RESIDUAL2] += r2;
    update_max(&sums[RESIDUAL_MAX2], r2);
}

/* ---- all blocks ---- */

/* u = N gamma + q without shifts, for blocks [begin, end). */
static void write_unshifted_velocity(const Pass *pass, int64_t begin, int64_t end, double *u)
{
    const TalusOperator *op = pass->op;
    const int rows = op->rows;
    if (op->pair)
        talus_cpu_contact_velocity(op, (const double(*)[8])op->scratch->velocity, (int)begin,
                                   (int)end, u);
    else
        talus_cpu_sparse_product(op, pass->gamma, (int)begin, (int)end, u);
    for (int64_t i = begin; i < end; i++, u += rows) {
        u[0] += op->unshifted ? op->unshifted[i] : *normal_offset(op, i);
        for (int k = 1; !op->pair && k < rows; k++)
            u[k] += op->offset[i * rows + k];
        for (int k = 1; op->slip && k < 3 && k < rows; k++)
            u[k] += op->slip[i][k - 1];
    }
}

/* measure_and_shift_block for the blocks [begin, end) of one group; stores the sums of the group. */
static void measure_and_shift_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusOperator *op = pass->op;
    double u[TALUS_ROWS * BLOCK_GRAIN], sums[LAW_SUMS] = {0.0};
    const bool discs = op->rows == 3 && !op->mixed_sets;
    write_unshifted_velocity(pass, begin, end, u);
    for (int64_t i = begin; discs && i < end; i++)
        measure_and_shift_block(pass, (Known){3, false}, i, u + (i - begin) * 3, sums);
    for (int64_t i = begin; !discs && i < end; i++)
        measure_and_shift_block(pass, (Known){op->rows, true}, i, u + (i - begin) * op->rows, sums);
    if (pass->terms)
        talus_cpu_add_terms(op, pass->gamma, begin, end, &sums[TERMS2], &sums[TERMS_MAX2]);
    talus_cpu_store_sums(op, chunk, LAW_SUMS, sums);
}

void talus_cpu_law_measure_and_shift(const TalusOperator *op, const double *gamma, double share,
                                     TalusLawSums *sums, TalusTermSums *terms)
{
    Pass pass = {.op = op, .gamma = gamma, .share = share, .terms = terms != NULL};
    double total[LAW_SUMS];
    if (op->pair)
        talus_cpu_update_velocities(op, gamma, pass.terms);
    talus_cpu_for_each_group_when_ready(op, measure_and_shift_chunk, &pass);
    talus_cpu_combine_sums(op, RESIDUAL_MAX2, 2, total);
    *sums = (TalusLawSums){.residual2 = total[RESIDUAL2],
                           .residual_max = sqrt(total[RESIDUAL_MAX2]),
                           .shift2 = total[SHIFT2],
                           .estimate2 = total[ESTIMATE2]};
    if (terms)
        *terms = (TalusTermSums){total[TERMS2], sqrt(total[TERMS_MAX2])};
}

/* Sets the normal offsets of blocks [begin, end) under Coulomb's law to those without shifts. */
static void clear_shifts_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const TalusOperator *op = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        if (is_coulomb(op, i))
            *normal_offset(op, i) = op->unshifted[i];
}

void talus_cpu_law_clear_shifts(const TalusOperator *op)
{
    if (op->unshifted)
        talus_parallel(op->pool, op->blocks, VECTOR_GRAIN, clear_shifts_chunk, (void *)op);
}

/* Moves the estimate of every prism by pass->share of the way to its normal impulse; a negative impulse counts as 0. */
static void move_estimates_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Pass *pass = context;
    const TalusOperator *op = pass->op;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        if (!is_prism(op, i))
            continue;
        double x = pass->gamma[i * op->rows], s = pass->metric ? pass->metric[i][0] : 1.0;
        double normal = talus_project_nonneg(s * x);
        op->estimate[i] = (1.0 - pass->share) * op->estimate[i] + pass->share * normal;
    }
}

void talus_cpu_law_move_estimates(const TalusOperator *op, const TalusMetricBlock *metric,
                                  const double *x, double share)
{
    Pass pass = {.op = op, .gamma = x, .metric = metric, .share = share};
    if (op->estimate)
        talus_parallel(op->pool, op->blocks, VECTOR_GRAIN, move_estimates_chunk, &pass);
}
