/* solvers/newton/natural_map.c - the natural map of one block and its Jacobian (natural_map.h). */
#include "solvers/newton/natural_map.h"

#include <math.h>
#include <string.h>

/* Norm of the vector (a, b). */
static double norm_of_two(double a, double b)
{
    return sqrt(a * a + b * b);
}

void talus_natural_argument(const TalusNaturalBlock *b, const double *x, const double *u,
                            double z[3])
{
    double shift = b->exact ? b->mu * norm_of_two(u[1], u[2]) : 0.0;
    z[0] = x[0] - (u[0] + shift) / b->scale;
    z[1] = x[1] - u[1] / b->scale;
    z[2] = x[2] - u[2] / b->scale;
}

/* Bound of |impulse| in row k of a joint: mu, or 0 if bit k of b->joint is not set. */
static double joint_row_bound(const TalusNaturalBlock *b, int k)
{
    const TalusSet set = {.sides = b->joint, .mu = b->mu, .estimate = b->mu};
    return talus_joint_bound(&set, k);
}

void talus_natural_map(const TalusNaturalBlock *b, const double *x, const double *u, double *f)
{
    double z[3];
    if (b->rows == 1) {
        f[0] = x[0] - talus_project_nonneg(x[0] - u[0] / b->scale);
        return;
    }
    talus_natural_argument(b, x, u, z);
    if (!b->joint)
        talus_project_cone(b->mu, b->mu, &z[0], &z[1], &z[2]);
    for (int k = 0; b->joint && k < 3; k++)
        z[k] = talus_joint_clip(z[k], joint_row_bound(b, k));
    for (int k = 0; k < 3; k++)
        f[k] = x[k] - z[k];
}

/* Writes A, a Jacobian of the projection onto the cone, at z: the identity inside the cone, zero in the polar cone.
 * Where z projects onto the mantle of the cone, with e = z_t / |z_t|, n' the projection's normal part and g = mu n' /
 * |z_t|, A is
 *     (1, mu e)(1, mu e)' / (1 + mu^2) + g (0, e_perp)(0, e_perp)'. */
static void cone_jacobian(double mu, const double z[3], double a[9])
{
    double t = norm_of_two(z[1], z[2]);
    memset(a, 0, 9 * sizeof *a);
    if (mu > 0.0 && t <= mu * z[0]) {
        a[0] = a[4] = a[8] = 1.0;
    } else if (mu * t <= -z[0]) {
        return;
    } else {
        double c = 1.0 / (1.0 + mu * mu), e1 = t > 0.0 ? z[1] / t : 0.0,
               e2 = t > 0.0 ? z[2] / t : 0.0;
        double g = t > 0.0 ? mu * (z[0] + mu * t) * c / t : 0.0, m = mu * mu * c;
        a[0] = c;
        a[1] = a[3] = mu * c * e1;
        a[2] = a[6] = mu * c * e2;
        a[4] = m * e1 * e1 + g * e2 * e2;
        a[5] = a[7] = (m - g) * e1 * e2;
        a[8] = m * e2 * e2 + g * e1 * e1;
    }
}

/* Writes A, a Jacobian of the clipping of a joint's rows, at z. */
static void joint_jacobian(const TalusNaturalBlock *b, const double z[3], double a[9])
{
    memset(a, 0, 9 * sizeof *a);
    for (int k = 0; k < 3; k++)
        a[4 * k] = fabs(z[k]) < joint_row_bound(b, k) ? 1.0 : 0.0;
}

/* Writes the Jacobian of f of a block with one row. */
static void half_line_jacobian(const TalusNaturalBlock *b, const double *x, const double *u,
                               TalusNaturalJacobian *slope)
{
    bool bears = x[0] - u[0] / b->scale > 0.0;
    slope->by_velocity[0] = bears ? 1.0 / b->scale : 0.0;
    slope->by_impulse[0] = bears ? 0.0 : 1.0;
}

void talus_natural_chain_rule(const TalusNaturalBlock *b, const double *u, const double a[9],
                              TalusNaturalJacobian *slope)
{
    double speed = b->exact ? norm_of_two(u[1], u[2]) : 0.0;
    double s1 = speed > 0.0 ? b->mu * u[1] / speed : 0.0,
           s2 = speed > 0.0 ? b->mu * u[2] / speed : 0.0;
    for (int r = 0; r < 3; r++) {
        const double *row = a + 3 * r;
        slope->by_velocity[3 * r] = row[0] / b->scale;
        slope->by_velocity[3 * r + 1] = (row[1] + row[0] * s1) / b->scale;
        slope->by_velocity[3 * r + 2] = (row[2] + row[0] * s2) / b->scale;
        for (int c = 0; c < 3; c++)
            slope->by_impulse[3 * r + c] = (r == c ? 1.0 : 0.0) - row[c];
    }
}

void talus_natural_jacobian(const TalusNaturalBlock *b, const double *x, const double *u,
                            TalusNaturalJacobian *slope)
{
    double z[3], a[9];
    if (b->rows == 1) {
        half_line_jacobian(b, x, u, slope);
        return;
    }
    talus_natural_argument(b, x, u, z);
    if (b->joint)
        joint_jacobian(b, z, a);
    else
        cone_jacobian(b->mu, z, a);
    talus_natural_chain_rule(b, u, a, slope);
}
