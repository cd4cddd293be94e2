/* sets/one_contact.h - the problem of one contact, for host and device.
 *
 * Given the contact's diagonal block A of N + E and its velocity b without its own impulse, find gamma such that
 * u = A gamma + b satisfies
 *     gamma_n >= 0,  u_n >= 0,  gamma_n u_n = 0                                   (preclik-2009 Eq. 3)
 * and the tangential impulse has the largest dissipation within its bound, a radius or half side of mu gamma_n
 * (coulomb) or `friction_bound` (fixed). For the relaxation (ccp), gamma in the cone minimises 1/2 gamma'A gamma +
 * b'gamma. A is positive semidefinite up to rounding with a positive normal entry; it may be singular and, for blocks
 * from files, slightly unsymmetric.
 *
 * Solvers, one header each: one_disc.h (normal, then the disc), one_square.h (component by component; all cases),
 * one_coulomb.h and one_cone.h (exact), one_newton.h (Alart and Curnier's function). one_solve.h selects. */
#ifndef TALUS_SETS_ONE_CONTACT_H
#define TALUS_SETS_ONE_CONTACT_H

#include "sets/cone.h"

#include <stdbool.h>
#include <talus/set.h>

/* Functions that the device does not inline: one kernel calls all of them, and inlined it takes minutes to compile. */
#ifdef __CUDACC__
#define TALUS_ONE_FUNCTION static __host__ __device__ __noinline__
#else
#define TALUS_ONE_FUNCTION static inline
#endif

/* How the problem of one contact is solved within a sweep. */
typedef enum TalusOneSolver {
    TALUS_ONE_PROJECT, /* one projected gradient step (gs) */
    TALUS_ONE_ROWS,    /* component by component, bounds from the new normal impulse (pgs) */
    TALUS_ONE_DISC,    /* the normal impulse, then the disc of the tangential one (gs-disc) */
    TALUS_ONE_CASES,   /* all cases of bounds (bgs-enum) */
    TALUS_ONE_NEWTON,  /* generalised Newton, exact where that fails (nscd) */
    TALUS_ONE_EXACT    /* one scalar equation (bgs) */
} TalusOneSolver;

/* The problem of one contact, except for b. */
typedef struct TalusOneContact {
    double a[3][3];        /* A, by rows; 1/kg */
    double mu;             /* 0 without friction, under every law */
    double friction_bound; /* fixed: mu times the estimate of the normal impulse */
    TalusFrictionLaw law;
    TalusSection section; /* disc or square */
} TalusOneContact;

/* True if the contact's tangential impulse can only be 0. */
TALUS_INLINE bool talus_one_is_frictionless(const TalusOneContact *one)
{
    return one->law == TALUS_LAW_FIXED ? one->friction_bound == 0.0 : one->mu == 0.0;
}

/* True if A = diag(nn, tt, tt), as for two spheres or a sphere and a fixed body. */
TALUS_INLINE bool talus_one_is_isotropic(const TalusOneContact *one)
{
    const double(*a)[3] = one->a;
    return a[0][1] == 0.0 && a[0][2] == 0.0 && a[1][2] == 0.0 && a[1][0] == 0.0 && a[2][0] == 0.0 &&
           a[2][1] == 0.0 && a[1][1] == a[2][2] && a[1][1] > 0.0;
}

TALUS_INLINE double talus_one_dot(const double x[3], const double y[3])
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/* u = A gamma + b. */
TALUS_INLINE void talus_one_velocity(const TalusOneContact *one, const double b[3],
                                     const double gamma[3], double u[3])
{
    for (int k = 0; k < 3; k++)
        u[k] = talus_one_dot(one->a[k], gamma) + b[k];
}

/* Returns the bound of the tangential impulse (radius of the disc or half side of the square) at the normal impulse
 * n. */
TALUS_INLINE double talus_one_bound(const TalusOneContact *one, double n)
{
    return one->law == TALUS_LAW_FIXED ? one->friction_bound : one->mu * n;
}

/* Returns t limited to [-bound, bound]. */
TALUS_INLINE double talus_one_clamp(double t, double bound)
{
    return t > bound ? bound : t < -bound ? -bound : t;
}

/* Projects t onto the disc |t| <= bound, in place. */
TALUS_INLINE void talus_one_project_disc(double bound, double t[2])
{
    double size2 = t[0] * t[0] + t[1] * t[1];
    if (size2 > bound * bound) {
        double shrink = bound / sqrt(size2);
        t[0] *= shrink;
        t[1] *= shrink;
    }
}

/* Restricts gamma, in place, to its set: first makes the normal impulse >= 0, then limits the tangential impulse to
 * the bound of that normal impulse. */
TALUS_INLINE void talus_one_restrict(const TalusOneContact *one, double gamma[3])
{
    gamma[0] = talus_project_nonneg(gamma[0]);
    double bound = talus_one_bound(one, gamma[0]);
    if (one->section == TALUS_SECTION_SQUARE) {
        gamma[1] = talus_one_clamp(gamma[1], bound);
        gamma[2] = talus_one_clamp(gamma[2], bound);
    } else {
        talus_one_project_disc(bound, &gamma[1]);
    }
}

/* Squares of numbers below about 1e-154 underflow. As all laws are homogeneous, velocities below TALUS_ONE_SMALL are
 * multiplied by TALUS_ONE_LIFT, and so is a bound; the solution is then divided by TALUS_ONE_LIFT. */
static const double TALUS_ONE_SMALL = 0x1p-400, TALUS_ONE_LIFT = 0x1p600;

#endif
