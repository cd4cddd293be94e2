/* backend/cuda/ops/block.h - one block of a vector: its set, projection and natural residual.
 *
 * ROWS (1, 3 or 6) is a constant of every kernel, so that a block stays in registers. With VARIED, sets come from the
 * operator's models (backend/sets.h); else they are half lines or, with 3 rows, circular cones, given by the friction
 * alone. block_set therefore returns a TalusSet or a double, and functions of a set accept either. The formulas are
 * those of backend/cpu/blocks.c, evaluated in the same order. */
#ifndef TALUS_BACKEND_CUDA_OPS_BLOCK_H
#define TALUS_BACKEND_CUDA_OPS_BLOCK_H

#include "backend/cuda/device/reduce.h"

extern "C" {
#include "backend/sets.h"
}

/* Kernel argument: what the sets and scales of a problem's blocks are computed from. Fields but `metric` are as in
 * TalusOperator; model, moment_mu, estimate and prisms are read only where sets are VARIED. */
struct CuSets {
    int blocks;
    const double *mu;
    const double (*diagonal)[2];
    const TalusMetricBlock *metric; /* NULL: s = 1 */
    const TalusBlockModel *model;
    const double (*moment_mu)[2];
    const double *estimate;
    bool prisms;
};

/* Returns the data for an operator's sets, in a metric (NULL: s = 1). */
static inline CuSets cu_sets(const TalusOperator *op, const TalusMetricBlock *metric)
{
    return CuSets{op->blocks,   op->mu,    (const double(*)[2])op->diagonal,
                  metric,       op->model, (const double(*)[2])op->moment_mu,
                  op->estimate, op->prisms};
}

/* Launches a kernel template<int ROWS, bool VARIED> for the sets of an operator: VARIED with 6 rows, and with 3 rows if
 * op->mixed_sets. `how` is launch, launch_block or launch_sums. */
#define LAUNCH_SETS(how, op, kernel, ...)                                       \
    ((op)->rows == 1    ? how(cu_context_of(op), kernel<1, false>, __VA_ARGS__) \
     : (op)->rows == 6  ? how(cu_context_of(op), kernel<6, true>, __VA_ARGS__)  \
     : (op)->mixed_sets ? how(cu_context_of(op), kernel<3, true>, __VA_ARGS__)  \
                        : how(cu_context_of(op), kernel<3, false>, __VA_ARGS__))

/* Load and store block i of a vector. */
template <int ROWS>
static __device__ inline void load_block(const double *vector, int64_t i, double (&out)[ROWS])
{
    for (int k = 0; k < ROWS; k++)
        out[k] = vector[i * ROWS + k];
}

template <int ROWS>
static __device__ inline void store_block(double *vector, int64_t i, const double (&in)[ROWS])
{
    for (int k = 0; k < ROWS; k++)
        vector[i * ROWS + k] = in[k];
}

/* Returns (s_n, s_t) of block i; (1, 1) without a metric. */
static __device__ inline double2 metric_scales(const CuSets &sets, int64_t i)
{
    return sets.metric ? make_double2(sets.metric[i][0], sets.metric[i][1])
                       : make_double2(1.0, 1.0);
}

/* Returns the friction coefficient of block i's cone in the metric, mu s_n / s_t (mu without a metric); 0 with one
 * row. */
template <int ROWS> static __device__ inline double cone_friction(const CuSets &sets, int64_t i)
{
    if constexpr (ROWS == 1)
        return 0.0;
    else
        return sets.metric ? sets.metric[i][2] : sets.mu[i];
}

/* Returns the set of block i from its model, in a metric (NULL: s = 1); `prisms`: Coulomb blocks are prisms. */
static __device__ inline TalusSet model_set(const CuSets &sets, int64_t i, bool prisms,
                                            const double *metric)
{
    return talus_set_in_metric(sets.model ? &sets.model[i] : nullptr, prisms,
                               sets.mu ? sets.mu[i] : 0.0,
                               sets.moment_mu ? sets.moment_mu[i] : nullptr,
                               sets.estimate ? sets.estimate[i] : 0.0, metric);
}

/* Return the set of block i: a TalusSet if VARIED, else the friction coefficient of a cone. block_set is the set of x
 * in the metric, impulse_set the set of gamma. */
template <int ROWS, bool VARIED>
static __device__ inline auto block_set(const CuSets &sets, int64_t i)
{
    if constexpr (VARIED)
        return model_set(sets, i, sets.prisms, sets.metric ? sets.metric[i] : nullptr);
    else
        return cone_friction<ROWS>(sets, i);
}

template <int ROWS, bool VARIED>
static __device__ inline auto impulse_set(const CuSets &sets, int64_t i)
{
    if constexpr (VARIED)
        return model_set(sets, i, sets.prisms, nullptr);
    else
        return ROWS == 1 ? 0.0 : sets.mu[i];
}

/* Projects x onto a set: a circular cone with friction mu (with one row x >= 0), or any TalusSet. */
template <int ROWS> static __device__ inline void project_block(double mu, double (&x)[ROWS])
{
    if constexpr (ROWS == 1)
        x[0] = talus_project_nonneg(x[0]);
    else
        talus_project_cone(mu, mu, &x[0], &x[1], &x[2]);
}

template <int ROWS>
static __device__ inline void project_block(const TalusSet &set, double (&x)[ROWS])
{
    talus_block_project(ROWS, &set, x);
}

/* Projects x onto the directions in which impulses can grow without bound (a cone: itself; a joint: its rows without
 * bound); a prism is projected onto itself. */
template <int ROWS>
static __device__ inline void project_unbounded_directions(double mu, double (&x)[ROWS])
{
    project_block(mu, x);
}

template <int ROWS>
static __device__ inline void project_unbounded_directions(const TalusSet &set, double (&x)[ROWS])
{
    talus_block_project_unbounded(ROWS, &set, x);
}

/* True if x is on the boundary of its set: no normal impulse, or a tangential bound reached. mu = 0 does not count as
 * such a bound. */
template <int ROWS> static __device__ inline bool is_active(double mu, const double (&x)[ROWS])
{
    if constexpr (ROWS == 1)
        return !(x[0] > 0.0);
    else
        return talus_cone_state(mu, x[0], x[1], x[2]) != TALUS_CONE_INSIDE;
}

template <int ROWS>
static __device__ inline bool is_active(const TalusSet &set, const double (&x)[ROWS])
{
    return talus_block_is_active(ROWS, &set, x);
}

/* Sets to 0 the rows of g in which the set allows only 0, as tangential rows with mu = 0. */
template <int ROWS> static __device__ inline void zero_immovable_rows(double mu, double (&g)[ROWS])
{
    if constexpr (ROWS == 3)
        if (mu == 0.0)
            g[1] = g[2] = 0.0;
}

template <int ROWS>
static __device__ inline void zero_immovable_rows(const TalusSet &set, double (&g)[ROWS])
{
    talus_block_clear_immovable(ROWS, &set, g);
}

/* Returns the mean of a block's diagonal entries, from an entry of TalusOperator.diagonal. */
template <int ROWS, class T> static __device__ inline T mean_diagonal(const T diagonal[2])
{
    if (ROWS == 6)
        return (diagonal[0] + T(5) * diagonal[1]) * T(1.0 / 6.0);
    return ROWS == 1 ? diagonal[0] : (diagonal[0] + T(2) * diagonal[1]) * T(1.0 / 3.0);
}

/* Returns the squared natural residual |d (gamma - P(gamma - g_gamma / d))|^2 of block i for gamma = s x, where P
 * projects onto the set of gamma, g = s g_gamma is the gradient in the metric, d the block's mean diagonal entry, and s
 * = metric_scales(sets, i). */
template <bool VARIED = false, int ROWS>
static __device__ inline double natural_residual2(const CuSets &sets, int64_t i, double2 s,
                                                  const double (&x)[ROWS], const double (&g)[ROWS])
{
    double d = mean_diagonal<ROWS>(sets.diagonal[i]);
    double gamma[ROWS], step[ROWS], r2 = 0.0;
    for (int k = 0; k < ROWS; k++) {
        double scale = k ? s.y : s.x;
        gamma[k] = scale * x[k];
        step[k] = gamma[k] - g[k] / (scale * d);
    }
    project_block(impulse_set<ROWS, VARIED>(sets, i), step);
    for (int k = 0; k < ROWS; k++) {
        double r = d * (gamma[k] - step[k]);
        r2 += r * r;
    }
    return r2;
}

#endif
