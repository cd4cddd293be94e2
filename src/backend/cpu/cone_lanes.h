/* backend/cpu/cone_lanes.h - operations on circular cones, two blocks at a time in the lanes of a vector register. */
#ifndef TALUS_BACKEND_CPU_CONE_LANES_H
#define TALUS_BACKEND_CPU_CONE_LANES_H

#include "backend/cpu/cpu.h"
#include "base/lane.h"

/* Returns |a|^2 of two vectors, one per lane. */
KERNEL Lane lane_norm2(const Lane a[3])
{
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
}

/* Projects x of two blocks, in place, onto their cones, as talus_project_cone with kappa = mu; inv = 1 / (1 + mu^2).
 * mu / |t| is computed as (mu / |t|^2) |t|, so that the division does not wait for the root. Where |t|^2 <= TINY2
 * (lane.h) the quotient could overflow, and mu is divided by 1. */
KERNEL void lanes_project(Lane mu, Lane inv, Lane x[3])
{
    Lane t2 = x[1] * x[1] + x[2] * x[2];
    Lane t = lane_sqrt(t2);
    Lane shrink = mu / lane_select(t2 > TINY2, t2, lane(1.0));
    Mask inside = t <= mu * x[0]; /* for mu 0 true also at the apex, */
    Mask apex = mu * t <= -x[0];  /* so that apex takes precedence */
    Lane mantle = (x[0] + mu * t) * inv;
    shrink = shrink * t * mantle;
    Lane n = lane_select(inside, x[0], mantle);
    Lane s = lane_select(inside, lane(1.0), shrink);
    x[0] = (Lane)(~apex & (Mask)n);
    x[1] = (Lane)(~apex & (Mask)(s * x[1]));
    x[2] = (Lane)(~apex & (Mask)(s * x[2]));
}

KERNEL double lane_sum(Lane a)
{
    return a[0] + a[1];
}

/* Returns the larger of the two lanes; NaN if either is NaN. */
KERNEL double lane_max(Lane a)
{
    return a[1] <= a[0] || isnan(a[0]) ? a[0] : a[1];
}

/* The blocks in the two lanes: i and i + 1. If `both` is false, there is only block i: both lanes hold its values, and
 * `clear_idle_lane` keeps the second lane out of sums. */
typedef struct Pair {
    int64_t i;
    bool both;
} Pair;

/* Returns a, with 0 in the second lane if the pair has only one block. */
KERNEL Lane clear_idle_lane(const Pair *pair, Lane a)
{
    return pair->both ? a : (Lane){a[0], 0.0};
}

/* Load and store three entries per block, load1 one entry per block, of the blocks of a pair; p is the whole vector. */
KERNEL void load3(const double *p, const Pair *pair, Lane r[3])
{
    if (pair->both)
        lane_load3(p + 3 * pair->i, r);
    else
        for (int k = 0; k < 3; k++)
            r[k] = lane(p[3 * pair->i + k]);
}

KERNEL void store3(double *p, const Pair *pair, const Lane r[3])
{
    if (pair->both)
        lane_store3(p + 3 * pair->i, r);
    else
        for (int k = 0; k < 3; k++)
            p[3 * pair->i + k] = r[k][0];
}

KERNEL Lane load1(const double *p, const Pair *pair)
{
    return pair->both ? lane_load(p + pair->i) : lane(p[pair->i]);
}

/* Returns the squared natural residual |d (gamma - P(gamma - g_gamma / d))|^2 of gamma = s x; g = s g_gamma. */
KERNEL Lane cone_residual2(const TalusOperator *op, const Pair *pair, Lane mu, const Lane s[2],
                           const Lane x[3], const Lane g[3])
{
    Lane d2[2], gamma[3], r[3];
    lane_gather(op->diagonal[pair->i], op->diagonal[pair->i + pair->both], 1, d2);
    Lane d = (d2[0] + 2.0 * d2[1]) * (1.0 / 3.0), widen = 1.0 + mu * mu;
    /* 1 / (s_n d), 1 / (s_t d) and 1 / (1 + mu^2) from one division */
    Lane all = 1.0 / (s[0] * s[1] * d * widen);
    Lane inv[2] = {all * widen * s[1], all * widen * s[0]};
    for (int k = 0; k < 3; k++) {
        gamma[k] = s[k > 0] * x[k];
        r[k] = gamma[k] - g[k] * inv[k > 0];
    }
    lanes_project(mu, all * (s[0] * s[1] * d), r);
    for (int k = 0; k < 3; k++)
        r[k] = d * (gamma[k] - r[k]);
    return lane_norm2(r);
}

#endif
