/* solvers/newton/smooth_map.c - the natural map of one block, smoothed (smooth_map.h). */
#include "solvers/newton/smooth_map.h"

#include <math.h>

/* |z_t| over |z_n| + nu, below which |P_t| / |z_t| is replaced by its limit at z_t = 0. */
static const double SMALL = 1e-7;

/* phi(a; nu), slope = d phi / d a and rate = nu d phi / d nu. */
typedef struct SmoothMax {
    double value, slope, rate;
} SmoothMax;

/* Returns phi(a; nu), which replaces max(0, a), with its derivatives. */
static SmoothMax smooth_max(double a, double nu)
{
    double root = sqrt(a * a + 4.0 * nu * nu);
    /* root is 0 if a and nu are: mu = 0 */
    double share = root > 0.0 ? 0.5 * (1.0 + a / root) : 0.0;
    double value = a > 0.0 ? 0.5 * (a + root) : root > 0.0 ? 2.0 * nu * nu / (root - a) : 0.0;
    return (SmoothMax){value, share, root > 0.0 ? 2.0 * nu * nu / root : 0.0};
}

/* Overwrites z with P(z; nu); writes the Jacobian of P by rows to `slope` and nu dP/dnu to `rate`. With k = 1/sqrt(1 +
 * mu^2), r = k (1, mu) and r' = k (mu, -1). */
static void smooth_cone(double mu, double nu, double z[3], double slope[9], double rate[3])
{
    double t = sqrt(z[1] * z[1] + z[2] * z[2]), k = 1.0 / sqrt(1.0 + mu * mu);
    double e1 = t > 0.0 ? z[1] / t : 1.0, e2 = t > 0.0 ? z[2] / t : 0.0;
    SmoothMax along = smooth_max(k * (z[0] + mu * t), nu),
              inward = smooth_max(k * (mu * z[0] - t), mu * nu);
    double tangential = k * (mu * along.value - inward.value);
    double nn = k * k * (along.slope + mu * mu * inward.slope);
    double nt = k * k * mu * (along.slope - inward.slope);
    double tt = k * k * (mu * mu * along.slope + inward.slope);
    /* |P_t| / |z_t|, or its limit where rounding would spoil the quotient of two small numbers */
    double across = t > SMALL * (fabs(z[0]) + nu) ? tangential / t : tt;
    double rate_t = k * (mu * along.rate - inward.rate);
    rate[0] = k * (along.rate + mu * inward.rate);
    rate[1] = rate_t * e1;
    rate[2] = rate_t * e2;
    slope[0] = nn;
    slope[1] = slope[3] = nt * e1;
    slope[2] = slope[6] = nt * e2;
    slope[4] = tt * e1 * e1 + across * e2 * e2;
    slope[5] = slope[7] = (tt - across) * e1 * e2;
    slope[8] = tt * e2 * e2 + across * e1 * e1;
    z[0] = k * (along.value + mu * inward.value);
    z[1] = tangential * e1;
    z[2] = tangential * e2;
}

/* talus_smooth_map of a block with one row. */
static void smooth_half_line(const TalusNaturalBlock *b, double nu, const double *x,
                             const double *u, double *f, TalusNaturalJacobian *slope, double *rate)
{
    SmoothMax p = smooth_max(x[0] - u[0] / b->scale, nu);
    f[0] = x[0] - p.value;
    rate[0] = p.rate;
    slope->by_velocity[0] = p.slope / b->scale;
    slope->by_impulse[0] = 1.0 - p.slope;
}

void talus_smooth_map(const TalusNaturalBlock *b, double width, const double *x, const double *u,
                      double *f, TalusNaturalJacobian *slope, double *rate)
{
    double z[3], a[9], nu = width / b->scale;
    if (b->rows == 1) {
        smooth_half_line(b, nu, x, u, f, slope, rate);
        return;
    }
    talus_natural_argument(b, x, u, z);
    smooth_cone(b->mu, nu, z, a, rate);
    talus_natural_chain_rule(b, u, a, slope);
    for (int k = 0; k < 3; k++)
        f[k] = x[k] - z[k];
}
