/* backend/cpu/single.h - what sweeps and runs in single precision share: units, and contacts of spheres four at a
 * time.
 *
 * With v0 the bodies' velocities at the start, in double precision, w = v - v0 and impulses are in single precision;
 * the contact velocity is u = D'v0 + D'w. D'v0 plus the bias is computed in double precision and rounded once. So the
 * errors are some 1e-7 of D'v0, of D'w and of impulses times the diagonal of N, whatever the bodies' speeds. */
#ifndef TALUS_BACKEND_CPU_SINGLE_H
#define TALUS_BACKEND_CPU_SINGLE_H

#include "backend/cpu/cpu.h"
#include "base/lane4.h"

/* Units of numbers in single precision: powers of two, so that squares stay far from the limits of floats and that
 * scaled problems give scaled results. */
typedef struct SingleUnits {
    double speed;                                    /* m/s */
    double inverse_mass;                             /* 1/kg */
    double impulse;                                  /* N s: speed / inverse_mass */
    double per_speed, per_inverse_mass, per_impulse; /* 1 / unit, exact */
} SingleUnits;

/* Factor of mu in single precision, so that the rounding of floats takes hardly any impulse out of its cone. */
#define SINGLE_MU (1.0 - 0x1p-20)

/* Single precision ends at an rms velocity change, or residual, of this factor times the largest speed that is rounded:
 * some ten times the rounding error 2^-24 of a float. */
#define SINGLE_SPENT 0x1p-20

/* In units of impulses: the least square of a tangential impulse that mu is divided by, as TINY2 (base/lane.h). */
#define SINGLE_TINY2 1e-30f

/* Shortens the tangential part of an impulse, in the contact's frame, to mu n if rounding took it beyond. */
static inline void talus_single_keep_in_cone(double mu, double gamma[3])
{
    double bound = mu * fabs(gamma[0]), size2 = gamma[1] * gamma[1] + gamma[2] * gamma[2];
    double shrink = size2 > bound * bound ? bound / sqrt(size2) : 1.0;
    gamma[1] *= shrink;
    gamma[2] *= shrink;
}

/* Returns the units for the operator's bodies, their velocities and the biases of contacts. `partial` is work space of 2 entries for every
 * BODY_GRAIN bodies. */
SingleUnits talus_single_units(const TalusOperator *op, const double (*velocity)[8],
                               double *partial);

/* own = bias and slip of contact i, world frame. */
static inline void talus_single_own_offset(const TalusOperator *op, int64_t i, double own[3])
{
    for (int c = 0; c < 3; c++)
        own[c] = op->bias[i] * op->frame[i][c];
    if (!op->slip)
        return;
    double world[3];
    talus_slip_to_world(op, i, world);
    for (int c = 0; c < 3; c++)
        own[c] += world[c];
}

/* u = velocity of b relative to a at contact i of spheres, from the bodies' velocities, world frame. */
static inline void talus_single_contact_velocity(const TalusOperator *op,
                                                 const double (*velocity)[8], int i, double u[3])
{
    static const double at_rest[8];
    const double *a = velocity[op->pair[i][0]];
    const double *b = i < op->sphere_sphere ? velocity[op->pair[i][1]] : at_rest;
    const double spin[3] = {a[4] + b[4], a[5] + b[5], a[6] + b[6]};
    double turn[3];
    talus_cross3(spin, op->frame[i], turn);
    for (int c = 0; c < 3; c++)
        u[c] = b[c] - a[c] - turn[c];
}

/* u = offset + D'w of four contacts of spheres, world frame. The records of a and b are combined before the
 * transposition into lanes, which halves the number of shuffles. fixed: w_b = 0, and b is not read. */
KERNEL void single_velocity(const float (*velocity)[8], const int32_t a[4], const int32_t b[4],
                            bool fixed, const Lane4 normal[3], const Lane4 offset[3], Lane4 u[3])
{
    Lane4 v[LANES4], spin[LANES4], turn[3];
    for (int k = 0; k < LANES4; k++) {
        const float *va = velocity[a[k]], *vb = velocity[b[k]];
        v[k] = fixed ? -lane4_load(va) : lane4_load(vb) - lane4_load(va);
        spin[k] = fixed ? lane4_load(va + 4) : lane4_load(va + 4) + lane4_load(vb + 4);
    }
    lane4_transpose(v);
    lane4_transpose(spin);
    lane4_cross(spin, normal, turn);
    for (int k = 0; k < 3; k++)
        u[k] = offset[k] + (v[k] - turn[k]);
}

/* p[k] = the impulse (x, y, z, 0) of lane k of dp, and t[k] likewise of normal x dp. */
KERNEL void single_wrenches(const Lane4 normal[3], const Lane4 dp[3], Lane4 p[LANES4],
                            Lane4 t[LANES4])
{
    lane4_cross(normal, dp, t);
    for (int k = 0; k < 3; k++)
        p[k] = dp[k];
    p[3] = t[3] = lane4(0.0f);
    lane4_transpose(p);
    lane4_transpose(t);
}

#endif
