/* solvers/ipm_soc_cone.h - the algebra of one cone that an interior-point method needs.
 *
 * Impulses and velocities of a block in coordinates in which both cones are the standard one,
 *     x = (mu gamma_n, gamma_t),   z = (s_n / mu, s_t),   |x_t| <= x_n,   |z_t| <= z_n,   x'z = gamma's,
 * or, without friction, x = gamma_n and z = s_n: a ray. With x o y = (x'y, x_n y_t + y_n x_t) the points of
 * the central path have x o z = nu e, e = (1, 0, 0). Nesterov and Todd's scaling of a pair (x, z) inside is
 * the symmetric W with W x = W^-1 z = l:
 *     W = b (2 v v' - J),   J = diag(1, -1, -1),   v'Jv = 1,
 * where with det x = x_n^2 - |x_t|^2, b = (det z / det x)^(1/4) and v comes from the scaling point
 *     w = (z/sqrt(det z) + J x/sqrt(det x)) / (2 c),   v = (w + e) / sqrt(2 (w_n + 1)).
 * Nesterov & Todd 1998; formulae as in Vandenberghe 2010, the CVXOPT quadratic solvers. */
#ifndef TALUS_SOLVERS_IPM_SOC_CONE_H
#define TALUS_SOLVERS_IPM_SOC_CONE_H

#include "sets/cone.h"

#include <math.h>
#include <stdbool.h>

/* NOTHING: the block's impulse is zero, no velocity depends on it. */
typedef enum TalusSocKind { TALUS_SOC_NOTHING, TALUS_SOC_RAY, TALUS_SOC_CONE } TalusSocKind;

typedef struct TalusSocBlock {
    TalusSocKind kind;
    double mu;
    double scale;     /* d of the natural residual */
    double b, v[3];   /* W; of a ray, b alone */
    double lambda[3]; /* l = W x */
} TalusSocBlock;

/* Vectors have `rows` entries per block: a ray uses the first alone, and the others are zero. */
static inline int talus_soc_rows(const TalusSocBlock *k)
{
    return k->kind == TALUS_SOC_CONE ? 3 : k->kind == TALUS_SOC_RAY ? 1 : 0;
}

static inline double talus_soc_dot(const double x[3], const double y[3])
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static inline double talus_soc_det(const double x[3])
{
    double t = sqrt(x[1] * x[1] + x[2] * x[2]);
    return (x[0] - t) * (x[0] + t);
}

static inline bool talus_soc_inside(const TalusSocBlock *k, const double *x)
{
    if (k->kind == TALUS_SOC_NOTHING)
        return true;
    return x[0] > 0.0 && (k->kind == TALUS_SOC_RAY || talus_soc_det(x) > 0.0);
}

/* 2 v (v'x) - J x */
static inline void talus_soc_reflect(const double v[3], const double x[3], double out[3])
{
    double twice = 2.0 * talus_soc_dot(v, x);
    double y[3] = {twice * v[0] - x[0], twice * v[1] + x[1], twice * v[2] + x[2]};
    out[0] = y[0], out[1] = y[1], out[2] = y[2];
}

/* out = W x and out = W^-1 x, in place as well. */
static inline void talus_soc_scale(const TalusSocBlock *k, const double *x, double *out)
{
    if (k->kind == TALUS_SOC_RAY) {
        out[0] = k->b * x[0];
    } else if (k->kind == TALUS_SOC_CONE) {
        talus_soc_reflect(k->v, x, out);
        out[0] *= k->b, out[1] *= k->b, out[2] *= k->b;
    }
}

static inline void talus_soc_unscale(const TalusSocBlock *k, const double *x, double *out)
{
    if (k->kind == TALUS_SOC_RAY) {
        out[0] = x[0] / k->b;
    } else if (k->kind == TALUS_SOC_CONE) {
        const double jv[3] = {k->v[0], -k->v[1], -k->v[2]};
        talus_soc_reflect(jv, x, out);
        out[0] /= k->b, out[1] /= k->b, out[2] /= k->b;
    }
}

/* W and l of a pair inside; false where rounding leaves none. */
static inline bool talus_soc_pair(TalusSocBlock *k, const double *x, const double *z)
{
    if (k->kind == TALUS_SOC_NOTHING)
        return true;
    if (k->kind == TALUS_SOC_RAY) {
        k->b = sqrt(z[0] / x[0]);
    } else {
        double dx = sqrt(talus_soc_det(x)), dz = sqrt(talus_soc_det(z));
        double c = sqrt(0.5 + 0.5 * talus_soc_dot(x, z) / (dx * dz)), size = sqrt(dx * dz);
        double px[3] = {x[0] / dx, x[1] / dx, x[2] / dx}, pz[3] = {z[0] / dz, z[1] / dz, z[2] / dz};
        double w = (px[0] + pz[0]) / (2.0 * c), root = sqrt(2.0 * (w + 1.0));
        k->b = sqrt(dz / dx);
        k->v[0] = (w + 1.0) / root;
        k->lambda[0] = size * c;
        for (int r = 1; r < 3; r++) {
            k->v[r] = (pz[r] - px[r]) / (2.0 * c) / root;
            k->lambda[r] =
                size * ((c + px[0]) * pz[r] + (c + pz[0]) * px[r]) / (px[0] + pz[0] + 2.0 * c);
        }
        return isfinite(k->b) && k->b > 0.0 && talus_soc_inside(k, k->lambda);
    }
    k->lambda[0] = k->b * x[0];
    return isfinite(k->b) && k->b > 0.0;
}

static inline void talus_soc_product(const TalusSocBlock *k, const double *x, const double *y,
                                     double *out)
{
    if (k->kind == TALUS_SOC_RAY) {
        out[0] = x[0] * y[0];
    } else if (k->kind == TALUS_SOC_CONE) {
        double n = talus_soc_dot(x, y);
        double t1 = x[0] * y[1] + y[0] * x[1], t2 = x[0] * y[2] + y[0] * x[2];
        out[0] = n, out[1] = t1, out[2] = t2;
    }
}

/* out with l o out = r, in place as well. */
static inline void talus_soc_divide(const TalusSocBlock *k, const double *r, double *out)
{
    const double *l = k->lambda;
    if (k->kind == TALUS_SOC_RAY) {
        out[0] = r[0] / l[0];
    } else if (k->kind == TALUS_SOC_CONE) {
        double n = (l[0] * r[0] - l[1] * r[1] - l[2] * r[2]) / talus_soc_det(l);
        double t1 = (r[1] - n * l[1]) / l[0], t2 = (r[2] - n * l[2]) / l[0];
        out[0] = n, out[1] = t1, out[2] = t2;
    }
}

/* The largest a with l + a d in the cone. */
static inline double talus_soc_step(const TalusSocBlock *k, const double *d)
{
    if (k->kind == TALUS_SOC_RAY)
        return d[0] < 0.0 ? -k->lambda[0] / d[0] : INFINITY;
    if (k->kind == TALUS_SOC_CONE) {
        const double back[3] = {-d[0], -d[1], -d[2]};
        return talus_cone_step(1.0, k->lambda, back);
    }
    return INFINITY;
}

/* Impulses of x, and z of velocities, of a block of `rows` rows. */
static inline void talus_soc_impulse(const TalusSocBlock *k, int rows, const double *x,
                                     double *gamma)
{
    for (int r = 0; r < rows; r++)
        gamma[r] = r < talus_soc_rows(k) ? x[r] : 0.0;
    if (k->kind == TALUS_SOC_CONE)
        gamma[0] = x[0] / k->mu;
}

static inline void talus_soc_velocity(const TalusSocBlock *k, int rows, const double *u, double *z)
{
    for (int r = 0; r < rows; r++)
        z[r] = r < talus_soc_rows(k) ? u[r] : 0.0;
    if (k->kind == TALUS_SOC_CONE)
        z[0] = u[0] / k->mu;
}

#endif
