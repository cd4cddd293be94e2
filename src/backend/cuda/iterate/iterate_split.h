/* backend/cuda/iterate/iterate_split.h - kernels before and after the iterations of iterate.h: rounding of the
 * operator's data to single precision; splitting of a solver's impulses into base and increment, and their sum. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_SPLIT_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_SPLIT_H

#include "backend/cuda/iterate/iterate.h"
#include "backend/cuda/iterate/iterate_parts.h"

/* ---- the operator ---- */

/* Totals 0 and 1: largest mu and largest -mu; minus the second equals the first if all mu are equal. */
static __global__ void find_mu_range(CuTallies tallies, double *totals, int blocks,
                                     const double *mu)
{
    sum_items<0, 2>(tallies, totals, 0, blocks, -HUGE_VAL, [&](int64_t i, double(&range)[2]) {
        range[0] = mu[i];
        range[1] = -mu[i];
    });
}

/* Rounds normal and E of each contact to single precision. */
static __global__ void round_contacts(CuView<double> c, float4 *normal)
{
    int64_t i = item_index();
    if (i >= c.blocks)
        return;
    double frame[4];
    load_packs<4>(c.frame[i], frame);
    normal[i] = make_float4((float)frame[0], (float)frame[1], (float)frame[2],
                            c.compliance ? (float)c.compliance[i] : 0.0f);
}

/* Rounds 1/m and k of each body to single precision. */
static __global__ void round_bodies(CuView<double> c, float2 *mass)
{
    int64_t b = item_index();
    if (b < c.bodies)
        mass[b] = make_float2((float)c.body[b][3], (float)c.body[b][7]);
}

/* ---- impulses as base and increment ---- */

/* s = (s_n, s_t, s_t) of block i; 1 without a metric. */
template <int ROWS>
static __device__ inline void load_scales(const TalusMetricBlock *metric, int64_t i,
                                          double (&s)[ROWS])
{
    double2 of = metric ? *(const double2 *)metric[i] : make_double2(1.0, 1.0);
    for (int k = 0; k < ROWS; k++)
        s[k] = k ? of.y : of.x;
}

/* Store and load a block's increment: one float, or four floats for three rows. */
template <int ROWS>
static __device__ inline void store_increment(float *increment, int64_t i, const float *v)
{
    if constexpr (ROWS == 1)
        increment[i] = v[0];
    else
        ((float4 *)increment)[i] = make_float4(v[0], v[1], v[2], 0.0f);
}

template <int ROWS>
static __device__ inline float4 load_increment(const float *increment, int64_t i)
{
    if constexpr (ROWS == 1)
        return make_float4(increment[i], 0.0f, 0.0f, 0.0f);
    else
        return ((const float4 *)increment)[i];
}

/* From gamma = s x: writes base = gamma rounded to float, increment = gamma - base and increment_prev = s x_prev - base.
 * On return x is base, without the metric. metric NULL: s = 1; x_prev NULL: increment_prev is not written. The fourth
 * numbers of base and of increments are those of split_gradient. */
template <int ROWS>
static __global__ void split_impulses(int blocks, const TalusMetricBlock *metric, double *x,
                                      const double *x_prev, float4 *base, float *increment,
                                      float *increment_prev)
{
    int64_t i = item_index();
    if (i >= blocks)
        return;
    double s[ROWS];
    float high[3] = {0.0f, 0.0f, 0.0f}, rest[ROWS], rest_prev[ROWS];
    load_scales(metric, i, s);
    for (int k = 0; k < ROWS; k++) {
        double gamma = s[k] * x[i * ROWS + k];
        high[k] = (float)gamma;
        rest[k] = (float)(gamma - (double)high[k]);
        if (x_prev)
            rest_prev[k] = (float)(s[k] * x_prev[i * ROWS + k] - (double)high[k]);
        x[i * ROWS + k] = (double)high[k];
    }
    store_increment<ROWS>(increment, i, rest);
    if (x_prev)
        store_increment<ROWS>(increment_prev, i, rest_prev);
    base[i] = make_float4(high[0], high[1], high[2], 0.0f);
}

/* Writes the gradient g at base: high parts to the fourth numbers of base, with three rows also of the increments x0
 * (tangent 1) and x1 (tangent 2), and low parts to `low`. */
template <int ROWS>
static __global__ void split_gradient(int blocks, const double *g, float4 *base, float *x0,
                                      float *x1, char4 *low)
{
    int64_t i = item_index();
    if (i >= blocks)
        return;
    float *const high[3] = {&base[i].w, x0 + 4 * i + 3, x1 + 4 * i + 3};
    signed char rest[3] = {0, 0, 0};
    for (int k = 0; k < ROWS; k++) {
        *high[k] = (float)g[i * ROWS + k];
        rest[k] = low_part(g[i * ROWS + k], (float)g[i * ROWS + k]);
    }
    low[i] = make_char4(rest[0], rest[1], rest[2], 0);
}

/* x[ROWS] = (high + increment) / s of one block. */
template <int ROWS>
static __device__ inline void join_block(float4 high, float4 increment, const double (&s)[ROWS],
                                         double *x)
{
    x[0] = ((double)high.x + (double)increment.x) / s[0];
    if constexpr (ROWS == 3) {
        x[1] = ((double)high.y + (double)increment.y) / s[1];
        x[2] = ((double)high.z + (double)increment.z) / s[2];
    }
}

/* x = (base + increment) / s, x_prev = (base + increment_prev) / s; metric NULL: s = 1; x_prev NULL: not written. */
template <int ROWS>
static __global__ void join_impulses(int blocks, const TalusMetricBlock *metric, const float4 *base,
                                     const float *increment, double *x, const float *increment_prev,
                                     double *x_prev)
{
    int64_t i = item_index();
    if (i >= blocks)
        return;
    double s[ROWS];
    load_scales(metric, i, s);
    join_block<ROWS>(base[i], load_increment<ROWS>(increment, i), s, x + i * ROWS);
    if (x_prev)
        join_block<ROWS>(base[i], load_increment<ROWS>(increment_prev, i), s, x_prev + i * ROWS);
}

#endif
