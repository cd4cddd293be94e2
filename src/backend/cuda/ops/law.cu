/* backend/cuda/ops/law.cu - friction laws beyond the convex relaxation: their residuals, and the shifts and bounds by
 * which a convex problem represents them. Formulas: cpu/law.c.
 *
 * cu_law_measure_and_shift takes one product and one pass over the contacts. With friction that pass reads about 90 B
 * per contact beside the product's own (impulse, diagonal, mu, model, two offsets) and writes 8 if shifts move. */
#include "backend/cuda/ops/operator.h"

#include <math.h>

/* Sums as in TalusLawSums; RESIDUAL_MAX is a maximum, of squares. */
enum { RESIDUAL2, SHIFT2, ESTIMATE2, RESIDUAL_MAX, LAW_SUMS };

/* Kernel argument of the operations on laws. */
struct Law {
    CuView<double> view;
    CuMotion motion; /* N gamma, plus D' v_f if there are bodies; without bias and q */
    CuSets sets;
    const double *gamma; /* impulses; for estimates x in the metric of the sets */
    double *offset;      /* bias or q, with shifts; the normal entry of block i is at i * apart */
    int apart;
    const double *unshifted; /* [blocks]: those entries without shifts; NULL: no shifts */
    double share;            /* fraction of the way that shifts or estimates move; 0: none */
};

/* Returns the argument for an operator, without `motion`. */
static Law law_inputs(const TalusOperator *op, const TalusMetricBlock *metric, const double *gamma,
                      double share)
{
    Law pass = {};
    pass.view = cu_view(op);
    pass.sets = cu_sets(op, metric);
    pass.gamma = gamma;
    pass.offset = op->pair ? op->bias : op->offset;
    pass.apart = op->pair ? 1 : op->rows;
    pass.unshifted = op->unshifted;
    pass.share = share;
    return pass;
}

static __device__ inline bool is_coulomb(const CuSets &sets, int64_t i)
{
    return sets.model && sets.model[i].law == TALUS_LAW_COULOMB;
}

static __device__ inline bool is_prism(const CuSets &sets, int64_t i)
{
    return sets.model && talus_model_is_prism(&sets.model[i], sets.prisms);
}

/* ---- measuring and shifting ---- */

/* u = N gamma + q at block i, q without shifts. */
template <int ROWS>
static __device__ inline void unshifted_velocity(const Law &pass, int64_t i, double (&u)[ROWS])
{
    block_velocity(pass.view, pass.motion, (int)i, u);
    u[0] += pass.unshifted ? pass.unshifted[i] : pass.offset[i * pass.apart];
    if (!pass.view.pair)
        for (int k = 1; k < ROWS; k++)
            u[k] += pass.offset[i * ROWS + k];
}

/* Adds sigma, De Saxce's shift at u, to u_n and (sigma - shift)^2 to the sums, `shift` the one in the offset; moves
 * that shift by pass.share of the way to sigma. */
template <int ROWS>
static __device__ inline void move_shift(const Law &pass, int64_t i, const TalusSet &set,
                                         double (&u)[ROWS], double (&sums)[LAW_SUMS])
{
    double sigma = talus_block_shift(ROWS, &set, u), *offset = &pass.offset[i * pass.apart];
    double base = pass.unshifted[i], shift = *offset - base, off = sigma - shift;
    sums[SHIFT2] += off * off;
    u[0] += sigma;
    if (pass.share > 0.0)
        *offset = base + ((1.0 - pass.share) * shift + pass.share * sigma);
}

/* Adds block i to the sums and moves its shift if it is a Coulomb block (move_shift). The residual is of the law's own
 * set: a prism only under `fixed`, whatever `prisms` is. */
template <int ROWS>
static __device__ inline void measure_block(const Law &pass, int64_t i, double (&sums)[LAW_SUMS])
{
    double gamma[ROWS], u[ROWS], d = block_mean_diagonal<ROWS>(pass.view, (int)i);
    TalusSet set = model_set(pass.sets, i, false, nullptr);
    load_block(pass.gamma, i, gamma);
    unshifted_velocity(pass, i, u);
    if (is_coulomb(pass.sets, i))
        move_shift(pass, i, set, u, sums);
    if (is_prism(pass.sets, i)) {
        double off = d * (gamma[0] - pass.sets.estimate[i]);
        sums[ESTIMATE2] += off * off;
    }
    if (pass.view.compliance)
        u[0] += pass.view.compliance[i] * gamma[0];
    double r2 = exact_natural_residual2(set, d, gamma, u);
    sums[RESIDUAL2] += r2;
    sums[RESIDUAL_MAX] = larger(sums[RESIDUAL_MAX], r2);
}

template <int ROWS>
static __global__ void measure_blocks(CuTallies tallies, double *totals, Law pass)
{
    sum_items<LAW_SUMS - 1, 1>(
        tallies, totals, 0, pass.view.blocks, 0.0,
        [&](int64_t i, double(&sums)[LAW_SUMS]) { measure_block<ROWS>(pass, i, sums); });
}

void cu_law_measure_and_shift(const TalusOperator *op, const double *gamma, double share,
                              TalusLawSums *sums, TalusTermSums *terms)
{
    double total[LAW_SUMS] = {0.0};
    Law pass = law_inputs(op, nullptr, gamma, share);
    /* with v_f but without bias or q, which contain shifts */
    pass.motion = cu_compute_motion(op, gamma, nullptr, op->pair != nullptr);
    pass.motion.offset = false;
    LAUNCH_ROWS(launch_sums, op, measure_blocks, op->blocks, cu_context_of(op)->totals, pass);
    cu_totals_get(cu_context_of(op), LAW_SUMS, total);
    *sums =
        TalusLawSums{total[RESIDUAL2], sqrt(total[RESIDUAL_MAX]), total[SHIFT2], total[ESTIMATE2]};
    if (terms)
        *terms = cu_gradient_terms(op, gamma);
}

/* Removes the shift from the normal offset of every Coulomb block. */
static __global__ void reset_shifts(Law pass)
{
    int64_t i = item_index();
    if (i < pass.view.blocks && is_coulomb(pass.sets, i))
        pass.offset[i * pass.apart] = pass.unshifted[i];
}

void cu_law_clear_shifts(const TalusOperator *op)
{
    if (!op->unshifted)
        return;
    launch(cu_context_of(op), reset_shifts, blocks_for(op->blocks), THREADS,
           law_inputs(op, nullptr, nullptr, 0.0));
}

/* ---- bounds ---- */

/* Moves the estimate of every prism by pass.share of the way to its normal impulse; a negative impulse counts as 0. */
static __global__ void move_estimates(Law pass, int rows, double *estimate)
{
    int64_t i = item_index();
    if (i >= pass.view.blocks || !is_prism(pass.sets, i))
        return;
    double normal = talus_project_nonneg(metric_scales(pass.sets, i).x * pass.gamma[i * rows]);
    estimate[i] = (1.0 - pass.share) * estimate[i] + pass.share * normal;
}

void cu_law_move_estimates(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                           double share)
{
    if (!op->estimate)
        return;
    launch(cu_context_of(op), move_estimates, blocks_for(op->blocks), THREADS,
           law_inputs(op, metric, x, share), op->rows, op->estimate);
}
