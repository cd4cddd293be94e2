/* backend/cuda/sweep/sweep_block.h - the step of one block in a sweep over mixed sets (TalusOperator.mixed_sets), or in
 * which each block's own problem is solved (sets/one_contact.h). Formulas: cpu/sweep_sparse.c and cpu/sweep_block.c. */
#ifndef TALUS_BACKEND_CUDA_SWEEP_SWEEP_BLOCK_H
#define TALUS_BACKEND_CUDA_SWEEP_SWEEP_BLOCK_H

#include "backend/cuda/sweep/sweep.h"

extern "C" {
#include "sets/one_joint.h"
#include "sets/one_solve.h"
}

/* Kernel arguments of such a sweep; impulses are in contact frames. */
struct SweepBlocks {
    CuSets sets;
    const double *coupling; /* as in TalusOperator */
    const double (*own)[9]; /* blocks of N + E on the diagonal (cu_sweep_fill_own_blocks) */
    TalusOneSolver local; /* solver of a block's own problem; TALUS_ONE_PROJECT: projected steps */
    double *gamma;        /* [rows * blocks] */
    double omega, rho;    /* as in TalusSweepOptions */
    bool trace;           /* the metric is TALUS_METRIC_TRACE */
    bool coulomb, ignore_coupling; /* as in TalusSweepOptions */
};

/* Returns the arguments for a sweep. */
static inline SweepBlocks cu_sweep_blocks(const TalusSweep *s)
{
    return SweepBlocks{cu_sets(s->op, nullptr),
                       s->op->coupling,
                       (const double(*)[9])s->own.at,
                       s->options.local,
                       s->gamma,
                       s->options.omega,
                       s->options.rho,
                       s->options.metric == TALUS_METRIC_TRACE,
                       s->options.coulomb,
                       s->options.ignore_coupling};
}

/* Moves gamma of block i by rho of the way to next[ROWS]; writes the change. Returns the squared velocity change, (d
 * |change|)^2, d the mean diagonal entry. */
template <int ROWS>
static __device__ inline double move_gamma(const SweepBlocks &b, int64_t i, const double *next,
                                           double (&change)[ROWS])
{
    double d = mean_diagonal<ROWS>(b.sets.diagonal[i]), sum = 0.0, *gamma = b.gamma + i * ROWS;
    for (int k = 0; k < ROWS; k++) {
        change[k] = b.rho * (next[k] - gamma[k]);
        gamma[k] = b.rho == 1.0 ? next[k] : gamma[k] + change[k];
        sum += change[k] * change[k];
    }
    return d * d * sum;
}

/* True if block i is a joint's. Its rows are strongly coupled: joint_step solves for them together, not by a projected
 * step. */
static __device__ inline bool is_joint(const SweepBlocks &b, int64_t i)
{
    return b.sets.model && b.sets.model[i].section == TALUS_SECTION_JOINT;
}

/* Moves a joint's block i with gradient g by rho of the way to where talus_one_step_joint puts it: omega times the step
 * to the minimum over its rows, or row by row where that leaves the bounds. Writes the change; returns the squared
 * velocity change. */
template <int ROWS>
static __device__ inline double joint_step(const SweepBlocks &b, int64_t i, const double (&g)[ROWS],
                                           double (&change)[ROWS])
{
    TalusSet set = model_set(b.sets, i, b.sets.prisms, nullptr);
    double a[3][3], next[ROWS] = {0.0};
    for (int k = 0; k < 9; k++)
        a[k / 3][k % 3] = b.own[i][k];
    for (int k = 0; k < 3; k++)
        next[k] = b.gamma[i * ROWS + k];
    talus_one_step_joint(&set, a, g, b.omega, next);
    return move_gamma(b, i, next, change);
}

/* Moves block i by rho of the way to P(gamma - omega B^-1 g). g is the gradient; B = coupling diag(nn, tt, ..), with
 * b.trace the mean entry in all rows; P projects in the metric B: the Euclidean projection of x = gamma / s with s^2 =
 * omega / B; under b.coulomb it restricts blocks of Coulomb's law. A joint is solved instead (joint_step). Writes the
 * change; returns the squared velocity change. */
template <int ROWS>
static __device__ inline double projected_step(const SweepBlocks &b, int64_t i, double coupling,
                                               const double (&g)[ROWS], double (&change)[ROWS])
{
    const double *nt = b.sets.diagonal[i];
    double d = mean_diagonal<ROWS>(nt), next[ROWS];
    if (is_joint(b, i))
        return joint_step(b, i, g, change);
    if (b.ignore_coupling)
        coupling = 1.0;
    double inv[2] = {b.omega / (coupling * (b.trace ? d : nt[0])),
                     b.omega / (coupling * (b.trace ? d : nt[1]))};
    double s[2] = {sqrt(inv[0]), sqrt(inv[1])};
    for (int k = 0; k < ROWS; k++)
        next[k] = (b.gamma[i * ROWS + k] - inv[k > 0] * g[k]) / s[k > 0];
    if (b.coulomb && b.sets.model && b.sets.model[i].law == TALUS_LAW_COULOMB) {
        TalusSet set = model_set(b.sets, i, b.sets.prisms, s);
        talus_block_restrict(ROWS, &set, next);
    } else {
        project_block(model_set(b.sets, i, b.sets.prisms, s), next);
    }
    for (int k = 0; k < ROWS; k++)
        next[k] *= s[k > 0];
    return move_gamma(b, i, next, change);
}

/* ---- a block's own problem ---- */

/* Returns the data of block i's own problem; a prism's law is `fixed`. */
template <int ROWS>
static __device__ inline TalusOneContact make_one_problem(const SweepBlocks &b, int64_t i)
{
    const TalusBlockModel *model = b.sets.model ? &b.sets.model[i] : nullptr;
    TalusOneContact one;
    for (int k = 0; k < 9; k++)
        one.a[k / 3][k % 3] = b.own[i][k];
    one.mu = ROWS == 1 ? 0.0 : b.sets.mu[i];
    one.law = model ? (TalusFrictionLaw)model->law : TALUS_LAW_CCP;
    if (talus_model_is_prism(model, b.sets.prisms))
        one.law = TALUS_LAW_FIXED;
    one.section = model ? (TalusSection)model->section : TALUS_SECTION_DISC;
    one.friction_bound = one.law == TALUS_LAW_FIXED ? one.mu * b.sets.estimate[i] : 0.0;
    return one;
}

/* Solves the problem of a contact of spheres, whose block A of N + E is diagonal. next, the old impulse on entry, moves
 * by -omega g / A_kk in each row; then it is projected onto the cone in the metric A (ccp), or its normal and then its
 * tangential part are cut to their bounds (talus_one_restrict). */
template <int ROWS>
static __device__ inline void solve_sphere_contact(const SweepBlocks &b, const TalusOneContact &one,
                                                   const double g[3], double next[3])
{
    double nn = one.a[0][0], tt = one.a[1][1];
    next[0] -= b.omega * (1.0 / nn) * g[0];
    for (int k = 1; k < ROWS; k++)
        next[k] -= b.omega * (1.0 / tt) * g[k];
    if (one.law == TALUS_LAW_CCP)
        talus_project_cone(one.mu, one.mu * (tt / nn), &next[0], &next[1], &next[2]);
    else
        talus_one_restrict(&one, next);
}

/* Solves the problem of any block with gradient g; next is the old impulse on entry. omega scales the change of the
 * impulse; unless omega is 1, the result is then cut to its bounds (talus_one_restrict). */
static __device__ inline void solve_coupled_block(const SweepBlocks &b, const TalusOneContact &one,
                                                  const double g[3], double next[3])
{
    double old[3] = {next[0], next[1], next[2]}, without[3];
    for (int k = 0; k < 3; k++)
        without[k] = g[k] - talus_one_dot(one.a[k], old);
    talus_one_solve(b.local, &one, without, next);
    if (b.omega == 1.0)
        return;
    for (int k = 0; k < 3; k++)
        next[k] = old[k] + b.omega * (next[k] - old[k]);
    talus_one_restrict(&one, next);
}

/* Moves block i, with gradient g, by rho of the way to the solution of its own problem; round: the block is a contact
 * of spheres. Writes the change; returns the squared velocity change. */
template <int ROWS>
static __device__ inline double own_problem_step(const SweepBlocks &b, int64_t i, bool round,
                                                 const double (&g)[ROWS], double (&change)[ROWS])
{
    TalusOneContact one = make_one_problem<ROWS>(b, i);
    double next[3] = {0.0, 0.0, 0.0}, u[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < ROWS; k++) {
        next[k] = b.gamma[i * ROWS + k];
        u[k] = g[k];
    }
    if (round)
        solve_sphere_contact<ROWS>(b, one, u, next);
    else
        solve_coupled_block(b, one, u, next);
    return move_gamma(b, i, next, change);
}

#endif
