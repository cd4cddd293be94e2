/* solvers/sweep/gs.c - projected Gauss-Seidel, negrut-2009 Algorithm 1.
 *
 *     gamma_i <- rho P_i(gamma_i - omega eta_i (D_i'v + b_i)) + (1 - rho) gamma_i,   and v is updated at once.
 * metric=trace,coupling=off takes the paper's eta_i = 3/trace. Contacts of bodies other than spheres have coupled rows;
 * with coupling=on their steps are divided by a bound of the largest eigenvalue of the scaled block, so that they may
 * not overshoot (backend/block.h). metric=anisotropic divides the normal and the tangential part by
 * their own diagonal entries and projects in that metric, which for spheres, with omega = rho = 1, solves the contact
 * exactly. The solve stops by the velocity change of a sweep; the driver then measures the true residual. The method is
 * good for loose tolerances; with friction it stalls on deep beds. order=chaotic is the paper's update on a GPU,
 * without order: threads do not wait for each other, and results are not repeatable. */
#include "solvers/sweep/gs.h"

static const char *const orders[] = {"forward", "symmetric", "random", "coloured", "chaotic", NULL};
const TalusParam talus_gs_params[TALUS_GS_PARAMS] = {
    TALUS_CHOICE(
        TalusGsParams, order, TALUS_ORDER_COLOURED, orders,
        "how a sweep visits the contacts; only coloured and chaotic use more than one thread; only "
        "chaotic, for small omega, is not repeatable"),
    TALUS_CHOICE(TalusGsParams, metric, TALUS_METRIC_ANISOTROPIC, talus_metric_names,
                 "what a contact's step is divided by"),
    TALUS_REAL(TalusGsParams, omega, 1.0, 1e-6, 2.0, "relaxation"),
    TALUS_REAL(TalusGsParams, rho, 1.0, 1e-6, 1.0, "averaging with the old value"),
    TALUS_FLAG(TalusGsParams, coupling, 1,
               "shorter steps of a contact whose rows are coupled; the paper has none of that"),
    TALUS_INT(TalusGsParams, seed, 1, 0, 2147483647, "of the random order"),
};

TalusStatus talus_gs_solve(TalusSolve *s)
{
    const TalusGsParams *p = s->params;
    const TalusSweepOptions options = {.order = (TalusOrder)p->order,
                                       .metric = (TalusMetric)p->metric,
                                       .coulomb = s->plan.exact,
                                       .ignore_coupling = !p->coupling,
                                       .omega = p->omega,
                                       .rho = p->rho};
    return talus_sweep_solve(s, options, p->seed);
}

bool talus_gs_is_coloured(const void *params)
{
    return ((const TalusGsParams *)params)->order == TALUS_ORDER_COLOURED;
}

const TalusSolverType talus_solver_gs = {
    .name = "gs",
    .summary = "projected Gauss-Seidel: fast to a loose tolerance",
    .reference = "negrut-2009 Algorithm 1",
    .takes = TALUS_TAKES_CONVEX,
    TALUS_GS,
};
