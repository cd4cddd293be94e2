/* backend/cuda/ops/residual.cu - natural residual of all blocks, and the Jacobi step, which measures it on the way.
 * Formulas: cpu/operator.c. */
#include "backend/cuda/ops/operator.h"

#include <math.h>

/* Kernel argument of a Jacobi step, or of a measurement alone. */
struct Relax {
    const double *gamma;
    double *relaxed; /* gamma, which the step changes in place; NULL: measure only */
    double omega, lambda;
};

/* Measures the natural residual of gamma (totals: sum of squares, maximum of squares); takes the Jacobi step if
 * pass.relaxed is not NULL. */
template <int ROWS, bool VARIED>
static __global__ void measure_and_relax(CuTallies tallies, double *totals, CuView<double> c,
                                         CuSets sets, CuMotion motion, Relax pass)
{
    sum_items<1, 1>(tallies, totals, 0, c.blocks, 0.0, [&](int64_t i, double(&sums)[2]) {
        double gamma[ROWS], g[ROWS], d = block_mean_diagonal<ROWS>(c, (int)i);
        load_block(pass.gamma, i, gamma);
        block_velocity(c, motion, (int)i, g);
        if (c.compliance)
            g[0] += c.compliance[i] * gamma[0];
        auto set = impulse_set<ROWS, VARIED>(sets, i);
        double r2 = exact_natural_residual2(set, d, gamma, g);
        sums[0] += r2;
        sums[1] = larger(sums[1], r2);
        if (pass.relaxed) {
            double step[ROWS], eta = pass.omega / d;
            for (int k = 0; k < ROWS; k++)
                step[k] = gamma[k] - eta * g[k];
            project_block(set, step);
            for (int k = 0; k < ROWS; k++)
                gamma[k] += pass.lambda * (step[k] - gamma[k]);
            store_block(pass.relaxed, i, gamma);
        }
    });
}

/* Computes the gradient at pass.gamma, launches measure_and_relax and returns its sums. */
static TalusResidualSums launch_relax(const TalusOperator *op, Relax pass)
{
    double totals[2] = {0.0, 0.0};
    CuMotion motion = cu_compute_motion(op, pass.gamma, nullptr, true);
    LAUNCH_SETS(launch_sums, op, measure_and_relax, op->blocks, cu_context_of(op)->totals,
                cu_view(op), cu_sets(op, nullptr), motion, pass);
    cu_totals_get(cu_context_of(op), 2, totals);
    return TalusResidualSums{totals[0], sqrt(totals[1])};
}

void cu_op_residual(const TalusOperator *op, const double *gamma, TalusResidualSums *sums,
                    TalusTermSums *terms)
{
    *sums = launch_relax(op, Relax{gamma, nullptr, 0.0, 0.0});
    if (terms)
        *terms = cu_gradient_terms(op, gamma);
}

void cu_step_jacobi(const TalusOperator *op, double omega, double lambda, double *gamma,
                    double *sum2, double *max)
{
    TalusResidualSums sums = launch_relax(op, Relax{gamma, gamma, omega, lambda});
    *sum2 = sums.residual2;
    *max = sums.residual_max;
}
