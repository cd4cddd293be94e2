/* backend/cuda/ops/accelerate.cu - one accelerated projected gradient step, fused.
 *
 * The bodies gather the impulses of x (operator.h), then one pass over the contacts evaluates the gradient,
 * extrapolates, projects and sums (formula: step.accelerate in operations.h). Velocities are formed from x itself in
 * every step, so the scratch that the step before left does not matter.
 *
 * Per contact with friction the contact pass reads about 300 B (128 of them body records, mostly cached) and writes
 * 48. */
#include "backend/cuda/ops/operator.h"
#include "backend/momentum.h"

#include <math.h>

/* Sums of a step as in TalusStepSums; RESIDUAL_MAX is a maximum, of squares. */
enum { RESTART, DX2, DG2, X2, RESIDUAL2, RESIDUAL_MAX, STEP_SUMS };

/* Kernel argument of an accelerated step. */
struct Step {
    CuSets sets;
    CuView<double> view;
    CuMotion motion;
    const double *x;
    double *x_prev, *g_prev; /* the kernel overwrites them by x_next and g */
    double beta, ahead, step;
    bool add_residual, exact; /* want_residual and exact of TalusAccelerated */
};

/* Returns De Saxce's shift s_n sigma(-u_t) of a Coulomb block with gradient g = s u; 0 for other blocks. */
template <int ROWS>
static __device__ inline double coulomb_shift(const CuSets &sets, int64_t i,
                                              const double (&g)[ROWS])
{
    if (!sets.model || sets.model[i].law != TALUS_LAW_COULOMB)
        return 0.0;
    TalusSet set = model_set(sets, i, false, sets.metric ? sets.metric[i] : nullptr);
    return talus_block_shift(ROWS, &set, g);
}

/* Adds the natural residual of x to the sums. The gradient at x is g, with pass.exact plus `shift` on the normal
 * row. */
template <int ROWS, bool VARIED>
static __device__ inline void add_residual(const Step &pass, int64_t i, double2 s,
                                           const double (&x)[ROWS], const double (&g)[ROWS],
                                           double shift, double (&sums)[STEP_SUMS])
{
    double own[ROWS];
    for (int k = 0; k < ROWS; k++)
        own[k] = k == 0 && pass.exact ? g[0] + shift : g[k];
    double r2 = natural_residual2<VARIED>(pass.sets, i, s, x, own);
    sums[RESIDUAL2] += r2;
    sums[RESIDUAL_MAX] = larger(sums[RESIDUAL_MAX], r2);
}

/* Block i of an accelerated step: gradient at x, extrapolation, projection; adds the sums of the step. */
template <int ROWS, bool VARIED>
static __device__ inline void accelerate_block(const Step &pass, int64_t i,
                                               double (&sums)[STEP_SUMS])
{
    double x[ROWS], g[ROWS], before[ROWS], y[ROWS], next[ROWS];
    double2 s = metric_scales(pass.sets, i);
    load_block(pass.x, i, x);
    scaled_gradient(pass.view, pass.motion, (int)i, s, x, g);
    double shift = pass.exact ? coulomb_shift(pass.sets, i, g) : 0.0;
    if (pass.add_residual)
        add_residual<ROWS, VARIED>(pass, i, s, x, g, shift, sums);
    load_block(pass.x_prev, i, before);
    for (int k = 0; k < ROWS; k++) {
        double dx = x[k] - before[k];
        y[k] = x[k] + pass.beta * dx;
        sums[X2] += x[k] * x[k];
        sums[DX2] += dx * dx;
    }
    load_block(pass.g_prev, i, before);
    for (int k = 0; k < ROWS; k++) {
        double dg = g[k] - before[k];
        next[k] = g[k] + pass.ahead * dg;
        sums[DG2] += dg * dg;
    }
    if (pass.exact)
        next[0] += shift;
    for (int k = 0; k < ROWS; k++)
        next[k] = y[k] - pass.step * next[k];
    project_block(block_set<ROWS, VARIED>(pass.sets, i), next);
    for (int k = 0; k < ROWS; k++)
        sums[RESTART] += (y[k] - next[k]) * (next[k] - x[k]);
    store_block(pass.g_prev, i, g);
    store_block(pass.x_prev, i, next);
}

template <int ROWS, bool VARIED>
static __global__ void accelerate_blocks(CuTallies tallies, double *totals, Step pass)
{
    sum_items<STEP_SUMS - 1, 1>(tallies, totals, 0, pass.sets.blocks, 0.0,
                                [&](int64_t i, double(&sums)[STEP_SUMS]) {
                                    accelerate_block<ROWS, VARIED>(pass, i, sums);
                                });
}

void cu_step_accelerate(const TalusOperator *op, TalusAccelerated *state, TalusStepSums *sums)
{
    double total[STEP_SUMS];
    Step pass = {cu_sets(op, state->metric),
                 cu_view(op),
                 cu_compute_motion(op, state->x, state->metric, true),
                 state->x,
                 state->x_prev,
                 state->g_prev,
                 state->beta,
                 talus_momentum_ahead(state->beta, state->lag),
                 state->step,
                 state->want_residual,
                 state->exact};
    LAUNCH_SETS(launch_sums, op, accelerate_blocks, op->blocks, cu_context_of(op)->totals, pass);
    cu_totals_get(cu_context_of(op), STEP_SUMS, total);
    *sums = TalusStepSums{total[RESTART], total[DX2],       total[DG2],
                          total[X2],      total[RESIDUAL2], sqrt(total[RESIDUAL_MAX])};
    double *next = state->x_prev;
    state->x_prev = state->x;
    state->x = next;
    state->warm = true;
}
