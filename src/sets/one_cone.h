/* sets/one_cone.h - exact solution of one contact under ccp, the convex relaxation, on the disc; for host and device.
 *
 *     minimise 1/2 gamma'A gamma + b'gamma  over |t| <= mu n
 * For a given n the tangential impulse is that of one_disc.h with radius mu n. The objective is then convex in n, with
 * the slope
 *     F'(n) = u_n - mu s,   s = |u_t| where t is on the rim, else 0,
 * whose root is found by Newton's method within brackets. A contact with b in the dual cone stays open. For a singular
 * A the diagonal is raised by 2e-14 of itself. If the objective has no lower bound, the impulse then becomes very
 * large, and the contact gets a projected gradient step from zero instead; also if no bracket is found, as with a
 * friction coefficient above about 1e36. */
#ifndef TALUS_SETS_ONE_CONE_H
#define TALUS_SETS_ONE_CONE_H

#include "sets/one_slide.h"

/* Returns F'(n), and writes the optimal tangential impulse at n to t and F''(n) to *curve. Returns 0 if |F'| is at
 * most `noise` times the sum of the magnitudes of its terms: F' is then only rounding, and with a singular A larger n
 * would be minima, too. */
TALUS_ONE_FUNCTION double talus_cone_slope(const TalusOneContact *one, const double b[3],
                                           double noise, double n, double t[2], double *curve)
{
    const double(*a)[3] = one->a;
    double block[2][2] = {{a[1][1], a[1][2]}, {a[2][1], a[2][2]}};
    double c[2] = {b[1] + a[1][0] * n, b[2] + a[2][0] * n}, down[2] = {a[1][0], a[2][0]};
    double r = one->mu * n, x[2] = {0.0, 0.0}, y[2] = {0.0, 0.0};
    talus_disc_minimise(block, c, r, t);
    double u1 = a[1][1] * t[0] + a[1][2] * t[1] + c[0], u2 = a[2][1] * t[0] + a[2][2] * t[1] + c[1];
    double size2 = t[0] * t[0] + t[1] * t[1];
    double pull = -(t[0] * u1 + t[1] * u2);
    bool rim = size2 >= r * r * (1.0 - 1e-14) && pull > 0.0;
    double lambda = rim ? pull / size2 : 0.0;
    *curve = a[0][0];
    if (talus_solve_shifted2(block, lambda, down, x)) { /* dt/dn = x + y dlambda */
        *curve += a[0][1] * x[0] + a[0][2] * x[1];
        if (rim && talus_solve_shifted2(block, lambda, t, y)) {
            double dlambda =
                (one->mu * r - (t[0] * x[0] + t[1] * x[1])) / (t[0] * y[0] + t[1] * y[1]);
            *curve += dlambda * (a[0][1] * y[0] + a[0][2] * y[1]) -
                      one->mu * (one->mu * lambda + r * dlambda);
        }
    }
    double turned = one->mu * lambda * r;
    double slope = a[0][0] * n + a[0][1] * t[0] + a[0][2] * t[1] + b[0] - turned;
    double terms = a[0][0] * n + fabs(a[0][1] * t[0]) + fabs(a[0][2] * t[1]) + fabs(b[0]) + turned;
    return fabs(slope) <= noise * terms ? 0.0 : slope;
}

/* Writes gamma at the root of F' between lo, where F' < 0, and hi, where F' >= 0. */
TALUS_ONE_FUNCTION void talus_cone_root(const TalusOneContact *one, const double b[3], double noise,
                                        double lo, double hi, double gamma[3])
{
    double n = hi, curve;
    for (int k = 0; k < 200; k++) {
        double slope = talus_cone_slope(one, b, noise, n, &gamma[1], &curve);
        if (slope < 0.0)
            lo = n;
        else
            hi = n;
        gamma[0] = n;
        if (slope == 0.0)
            return;
        double next = n - slope / curve;
        if (!(next > lo && next < hi) || k % 8 == 7)
            next = lo > 0.0 && hi > 4.0 * lo ? sqrt(lo) * sqrt(hi) : 0.5 * (lo + hi);
        if (fabs(next - n) <= 2e-16 * n || next == lo || next == hi)
            return;
        n = next;
    }
}

/* True if the tangential impulse of gamma is on the rim |t| = mu n. The margin is 1e-6 of the radius for a contact
 * that slips, since the root may have lost digits, else 1e-13, since a contact that sticks close to the rim must not
 * be moved onto the rim. */
TALUS_INLINE bool talus_cone_is_sliding(const TalusOneContact *one, const double b[3],
                                        const double gamma[3])
{
    double size = sqrt(gamma[1] * gamma[1] + gamma[2] * gamma[2]), r = one->mu * gamma[0], u[3];
    talus_one_velocity(one, b, gamma, u);
    double pull = -(gamma[1] * u[1] + gamma[2] * u[2]);
    bool slips = pull > 1e-14 * size * (fabs(b[0]) + fabs(b[1]) + fabs(b[2]));
    return size >= r * (1.0 - (slips ? 1e-6 : 1e-13));
}

/* Writes the minimiser to gamma, for regular A and b outside the dual cone, so that the contact is closed: gamma is
 * not 0. Returns false, gamma undefined, if F' < 0 up to the largest n tried. */
TALUS_ONE_FUNCTION bool talus_cone_solve_closed(const TalusOneContact *one, const double b[3],
                                                double noise, double gamma[3])
{
    double size = fabs(b[0]) + fabs(b[1]) + fabs(b[2]), lo = 0.0, curve;
    double trace = one->a[0][0] + one->a[1][1] + one->a[2][2];
    double hi = size / ((1.0 + one->mu) * trace);
    for (int k = 0; k < 60; k++) {
        if (!(talus_cone_slope(one, b, noise, hi, &gamma[1], &curve) < 0.0)) {
            talus_cone_root(one, b, noise, lo, hi, gamma);
            if (talus_cone_is_sliding(one, b, gamma)) {
                for (int tries = 0; tries < 3 && talus_slide_polish(one, b, gamma); tries++)
                    continue;
                talus_slide_snap_to_rim(one, gamma);
            }
            return true;
        }
        lo = hi;
        hi *= 4.0;
    }
    return false;
}

/* As talus_cone_solve_closed, for singular A, with a raised diagonal. Returns false, gamma undefined, also if the raise
 * changes the velocity by more than 1e-6 of b: gamma is then very large. */
TALUS_ONE_FUNCTION bool talus_cone_solve_raised(const TalusOneContact *one, const double b[3],
                                                double across, double gamma[3])
{
    TalusOneContact raised = *one;
    double left = 0.0;
    for (int k = 0; k < 3; k++)
        raised.a[k][k] *= 1.0 + 2e-14;
    if (!talus_cone_solve_closed(&raised, b, 5e-13, gamma))
        return false;
    for (int k = 0; k < 3; k++)
        left += 2e-14 * one->a[k][k] * fabs(gamma[k]);
    return !(left > 1e-6 * (across + fabs(b[0])));
}

/* Writes the minimiser of 1/2 gamma'A gamma + b'gamma over the cone to gamma, whose old value is not read. */
TALUS_ONE_FUNCTION void talus_one_solve_ccp(const TalusOneContact *one, const double b[3],
                                            double gamma[3])
{
    const double(*a)[3] = one->a;
    double across = sqrt(b[1] * b[1] + b[2] * b[2]), trace = a[0][0] + a[1][1] + a[2][2];
    double rest[2][2] = {
        {a[1][1] - a[1][0] * a[0][1] / a[0][0], a[1][2] - a[1][0] * a[0][2] / a[0][0]},
        {a[2][1] - a[2][0] * a[0][1] / a[0][0], a[2][2] - a[2][0] * a[0][2] / a[0][0]}};
    if (one->mu * across <= b[0]) {
        gamma[0] = gamma[1] = gamma[2] = 0.0;
        return;
    }
    bool regular = !(talus_regularisation2(rest, a[1][1] + a[2][2]) > 0.0);
    bool solved = regular ? talus_cone_solve_closed(one, b, 4e-15, gamma)
                          : talus_cone_solve_raised(one, b, across, gamma);
    if (!solved) {
        for (int k = 0; k < 3; k++)
            gamma[k] = -b[k] / trace;
        talus_project_cone(one->mu, one->mu, &gamma[0], &gamma[1], &gamma[2]);
    }
}

#endif
