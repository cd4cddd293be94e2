/* sets/one_slide.h - refinement of one sliding contact on the disc to full precision, for host and device. */
#ifndef TALUS_SETS_ONE_SLIDE_H
#define TALUS_SETS_ONE_SLIDE_H

#include "sets/one_disc.h"
#include "sets/one_square.h"

/* Writes to r the residuals, as velocities, of the three equations of a sliding contact: r[0] of u_n = 0 (under ccp
 * u_n = mu |u_t|); r[1] of |t| = mu n, multiplied by `weight` in 1/kg; r[2] of u_t parallel to t. Writes u_t't / |t|^2
 * to *along. Returns the largest |r_k|. */
TALUS_INLINE double talus_slide_residual(const TalusOneContact *one, const double b[3],
                                         const double gamma[3], double weight, double r[3],
                                         double *along)
{
    double size = sqrt(gamma[1] * gamma[1] + gamma[2] * gamma[2]), u[3];
    double opens = one->law == TALUS_LAW_CCP ? one->mu : 0.0;
    talus_one_velocity(one, b, gamma, u);
    *along = (gamma[1] * u[1] + gamma[2] * u[2]) / (size * size);
    r[0] = -(u[0] + opens * *along * size) / (1.0 + opens);
    r[1] = (one->mu * gamma[0] - size) * weight;
    r[2] = (gamma[2] * u[1] - gamma[1] * u[2]) / size;
    return fmax(fmax(fabs(r[0]), fabs(r[1])), fabs(r[2]));
}

/* Improves gamma of a sliding contact by one Newton step on the equations of talus_slide_residual, which recovers
 * digits that are lost where n is a small difference of large numbers. Returns false, gamma unchanged, if no digits
 * are lost or the step does not decrease the residual. */
TALUS_ONE_FUNCTION bool talus_slide_polish(const TalusOneContact *one, const double b[3],
                                           double gamma[3])
{
    double size = sqrt(gamma[1] * gamma[1] + gamma[2] * gamma[2]), m[3][3], r[3], d[3], along;
    double e[2] = {gamma[1] / size, gamma[2] / size}, unit = one->a[0][0] + one->a[1][1];
    double weight = one->mu > 1.0 ? unit / one->mu : unit;
    double opens = one->law == TALUS_LAW_CCP ? one->mu : 0.0;
    double rest = talus_slide_residual(one, b, gamma, weight, r, &along);
    if (rest <= 2e-15 * (fabs(b[0]) + fabs(b[1]) + fabs(b[2])))
        return false;
    for (int k = 0; k < 3; k++) {
        double forward = e[0] * one->a[1][k] + e[1] * one->a[2][k];
        m[0][k] = (one->a[0][k] + opens * forward) / (1.0 + opens);
        m[2][k] = e[0] * one->a[2][k] - e[1] * one->a[1][k];
    }
    m[1][0] = -one->mu * weight;
    m[1][1] = e[0] * weight;
    m[1][2] = e[1] * weight;
    m[2][1] += e[1] * along; /* e rotates with t */
    m[2][2] -= e[0] * along;
    talus_solve3(m, r, d);
    for (int k = 0; k < 3; k++)
        d[k] += gamma[k];
    if (!(d[0] > 0.0 && talus_slide_residual(one, b, d, weight, r, &along) < rest))
        return false;
    for (int k = 0; k < 3; k++)
        gamma[k] = d[k];
    return true;
}

/* Makes |t| = mu n to the last digit by changing n or |t|, whichever changes the contact velocity less. */
TALUS_INLINE void talus_slide_snap_to_rim(const TalusOneContact *one, double gamma[3])
{
    double size = sqrt(gamma[1] * gamma[1] + gamma[2] * gamma[2]), mu = one->mu;
    if (one->a[0][0] * gamma[0] < (one->a[1][1] + one->a[2][2]) * size) {
        gamma[0] = size / mu;
    } else {
        gamma[1] *= mu * gamma[0] / size;
        gamma[2] *= mu * gamma[0] / size;
    }
}

#endif
