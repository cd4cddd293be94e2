/* solvers/ipm/ipm_soc_cone.h - the algebra of one circular cone for an interior-point method.
 *
 * A block's impulse gamma and velocity s are used in coordinates in which both cones are the standard one,
 *     x = (mu gamma_n, gamma_t),   z = (s_n / mu, s_t),   |x_t| <= x_n,   |z_t| <= z_n,   x'z = gamma's,
 * or, without friction, x = gamma_n and z = s_n: a ray. With x o y = (x'y, x_n y_t + y_n x_t) the points of the central
 * path have x o z = nu e, e = (1, 0, 0). Nesterov and Todd's scaling of a pair (x, z) inside is the symmetric W with W
 * x = W^-1 z = l. Let det x = x_n^2 - |x_t|^2, p = x / sqrt(det x), r = z / sqrt(det z), c = sqrt((1 + p'r) / 2). W
 * follows from the scaling point w = (r + J p) / (2 c), J = diag(1, -1, -1): with a = w_t / |w_t| the axes of W and its
 * lengths along them are
 *     (1, a) / sqrt 2: b f,   (1, -a) / sqrt 2: b / f,   (0, a_perp): b,
 *     f = w_n + |w_t|,   b = (det z / det x)^(1/4).
 * Axes and lengths are stored separately, so that they are accurate even for f = 1e8: a matrix W would lose the short
 * axes to rounding. Nesterov & Todd 1998; formulae for w and l as in Vandenberghe 2010, the CVXOPT quadratic
 * solvers. */
#ifndef TALUS_SOLVERS_IPM_IPM_SOC_CONE_H
#define TALUS_SOLVERS_IPM_IPM_SOC_CONE_H

#include "sets/cone.h"

#include <math.h>
#include <stdbool.h>

/* CONE: a contact with friction; RAY: a contact without friction; NOTHING: a contact whose bodies cannot move (scale
 * 0), with impulse 0. */
typedef enum TalusSocKind { TALUS_SOC_NOTHING, TALUS_SOC_RAY, TALUS_SOC_CONE } TalusSocKind;

typedef struct TalusSocBlock {
    TalusSocKind kind;
    double mu;        /* friction coefficient; 0 in problems of one row */
    double scale;     /* d_i, mean diagonal entry of N + E, in the natural residual; 1/kg */
    double axis[2];   /* a; a ray does not use axis and length[1, 2] */
    double length[3]; /* lengths of W's axes */
    double lambda[3]; /* l = W x */
} TalusSocBlock;

/* Returns the number of entries of a block that are used: vectors have three entries per block (one in problems of one
 * row), of which a ray uses only the first and NOTHING none. */
static inline int talus_soc_rows(const TalusSocBlock *k)
{
    return k->kind == TALUS_SOC_CONE ? 3 : k->kind == TALUS_SOC_RAY ? 1 : 0;
}

static inline double talus_soc_dot(const double x[3], const double y[3])
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/* Returns det x = x_n^2 - |x_t|^2. */
static inline double talus_soc_det(const double x[3])
{
    double t = sqrt(x[1] * x[1] + x[2] * x[2]);
    return (x[0] - t) * (x[0] + t);
}

/* True if x is strictly inside the cone of the block. */
static inline bool talus_soc_is_inside(const TalusSocBlock *k, const double *x)
{
    if (k->kind == TALUS_SOC_NOTHING)
        return true;
    return x[0] > 0.0 && (k->kind == TALUS_SOC_RAY || talus_soc_det(x) > 0.0);
}

/* Writes the components of x along W's axes; talus_soc_from_axes is the inverse. Both may work in place and leave
 * unused entries of `out` (talus_soc_rows) as they are, like all functions below except the last two. */
static inline void talus_soc_to_axes(const TalusSocBlock *k, const double *x, double *out)
{
    if (k->kind == TALUS_SOC_CONE) {
        const double half = 0.70710678118654752440, n = half * x[0];
        double along = half * (k->axis[0] * x[1] + k->axis[1] * x[2]);
        double across = k->axis[0] * x[2] - k->axis[1] * x[1];
        out[0] = n + along, out[1] = n - along, out[2] = across;
    } else if (k->kind == TALUS_SOC_RAY) {
        out[0] = x[0];
    }
}

/* Writes the vector whose components along W's axes are y. */
static inline void talus_soc_from_axes(const TalusSocBlock *k, const double *y, double *out)
{
    if (k->kind == TALUS_SOC_CONE) {
        const double half = 0.70710678118654752440;
        double n = half * (y[0] + y[1]), along = half * (y[0] - y[1]), across = y[2];
        out[0] = n;
        out[1] = along * k->axis[0] - across * k->axis[1];
        out[2] = along * k->axis[1] + across * k->axis[0];
    } else if (k->kind == TALUS_SOC_RAY) {
        out[0] = y[0];
    }
}

/* out = W^-1 x; may work in place. */
static inline void talus_soc_apply_inverse_scaling(const TalusSocBlock *k, const double *x,
                                                   double *out)
{
    double y[3];
    talus_soc_to_axes(k, x, y);
    for (int r = 0; r < talus_soc_rows(k); r++)
        y[r] /= k->length[r];
    talus_soc_from_axes(k, y, out);
}

/* out = W x; may work in place. */
static inline void talus_soc_apply_scaling(const TalusSocBlock *k, const double *x, double *out)
{
    double y[3];
    talus_soc_to_axes(k, x, y);
    for (int r = 0; r < talus_soc_rows(k); r++)
        y[r] *= k->length[r];
    talus_soc_from_axes(k, y, out);
}

/* Computes W and l of a pair (x, z) strictly inside; only for kind CONE. */
static inline void talus_soc_set_cone_scaling(TalusSocBlock *k, const double *x, const double *z)
{
    double dx = sqrt(talus_soc_det(x)), dz = sqrt(talus_soc_det(z));
    double c = sqrt(0.5 + 0.5 * talus_soc_dot(x, z) / (dx * dz)), size = sqrt(dx * dz);
    double p[3] = {x[0] / dx, x[1] / dx, x[2] / dx}, q[3] = {z[0] / dz, z[1] / dz, z[2] / dz};
    double w[2] = {(q[1] - p[1]) / (2.0 * c), (q[2] - p[2]) / (2.0 * c)};
    double t = sqrt(w[0] * w[0] + w[1] * w[1]), b = sqrt(dz / dx);
    double f = (p[0] + q[0]) / (2.0 * c) + t;
    k->axis[0] = t > 0.0 ? w[0] / t : 1.0;
    k->axis[1] = t > 0.0 ? w[1] / t : 0.0;
    k->length[0] = b * f;
    k->length[1] = b / f;
    k->length[2] = b;
    k->lambda[0] = size * c;
    for (int r = 1; r < 3; r++)
        k->lambda[r] = size * ((c + p[0]) * q[r] + (c + q[0]) * p[r]) / (p[0] + q[0] + 2.0 * c);
}

/* Computes W and l of a pair (x, z) strictly inside and stores them in k. Returns false if rounding makes W not finite
 * or leaves l outside. */
static inline bool talus_soc_set_scaling(TalusSocBlock *k, const double *x, const double *z)
{
    if (k->kind == TALUS_SOC_CONE) {
        talus_soc_set_cone_scaling(k, x, z);
    } else if (k->kind == TALUS_SOC_RAY) {
        k->length[0] = sqrt(z[0] / x[0]);
        k->lambda[0] = k->length[0] * x[0];
    } else {
        return true;
    }
    return isfinite(k->length[0]) && k->length[0] > 0.0 && talus_soc_is_inside(k, k->lambda);
}

/* out = x o y; may work in place. */
static inline void talus_soc_jordan_product(const TalusSocBlock *k, const double *x,
                                            const double *y, double *out)
{
    if (k->kind == TALUS_SOC_RAY) {
        out[0] = x[0] * y[0];
    } else if (k->kind == TALUS_SOC_CONE) {
        double n = talus_soc_dot(x, y);
        double t1 = x[0] * y[1] + y[0] * x[1], t2 = x[0] * y[2] + y[0] * x[2];
        out[0] = n, out[1] = t1, out[2] = t2;
    }
}

/* Solves l o out = r; may work in place. */
static inline void talus_soc_divide_by_lambda(const TalusSocBlock *k, const double *r, double *out)
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

/* Returns the largest a with l + a d in the cone; may be infinite. */
static inline double talus_soc_longest_step(const TalusSocBlock *k, const double *d)
{
    if (k->kind == TALUS_SOC_RAY)
        return d[0] < 0.0 ? -k->lambda[0] / d[0] : INFINITY;
    if (k->kind == TALUS_SOC_CONE) {
        const double back[3] = {-d[0], -d[1], -d[2]};
        return talus_cone_feasible_step(1.0, k->lambda, back);
    }
    return INFINITY;
}

/* Converts x of a block to its impulse gamma; unused rows become 0. */
static inline void talus_soc_to_impulse(const TalusSocBlock *k, int rows, const double *x,
                                        double *gamma)
{
    for (int r = 0; r < rows; r++)
        gamma[r] = r < talus_soc_rows(k) ? x[r] : 0.0;
    if (k->kind == TALUS_SOC_CONE)
        gamma[0] = x[0] / k->mu;
}

/* Converts the velocity u of a block to z; unused rows become 0. */
static inline void talus_soc_from_velocity(const TalusSocBlock *k, int rows, const double *u,
                                           double *z)
{
    for (int r = 0; r < rows; r++)
        z[r] = r < talus_soc_rows(k) ? u[r] : 0.0;
    if (k->kind == TALUS_SOC_CONE)
        z[0] = u[0] / k->mu;
}

#endif
