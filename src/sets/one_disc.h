/* sets/one_disc.h - the tangential impulse on a disc of given radius, for host and device.
 *
 *     minimise 1/2 x'B x + c'x  over |x| <= r                                   (preclik-2009 Eq. 14)
 * The minimum is found by Newton's method in the polar angle, Eqs. 15 and 16, starting from the unconstrained minimum
 * shortened to the disc. The angle is represented by a unit vector e. A rotation by the small angle d is (e + d
 * e_perp) / |e + d e_perp|, correct to second order and without trigonometric functions. A stationary point r e of the
 * circle is the minimum over the disc exactly if its multiplier
 *     lambda = -e'(B r e + c) / r
 * is not negative (B is positive semidefinite). If Newton ends elsewhere or does not converge, lambda is found from
 *     |(B + lambda)^-1 c| = r, whose left side decreases. */
#ifndef TALUS_SETS_ONE_DISC_H
#define TALUS_SETS_ONE_DISC_H

#include "sets/one_contact.h"

/* x = -(B + lambda I)^-1 c by elimination from the larger diagonal entry. Unlike Cramer's rule this leaves a small
 * residual also if the matrix is nearly singular. Returns false, x unchanged, if a pivot is not positive. */
TALUS_INLINE bool talus_solve2(double b[2][2], double lambda, const double c[2], double x[2])
{
    int i = b[0][0] >= b[1][1] ? 0 : 1, j = 1 - i;
    double pivot = b[i][i] + lambda, factor = b[j][i] / pivot;
    double last = b[j][j] + lambda - factor * b[i][j];
    if (!(pivot > 0.0 && last > 0.0))
        return false;
    x[j] = -(c[j] - factor * c[i]) / last;
    x[i] = -(c[i] + b[i][j] * x[j]) / pivot;
    return true;
}

/* Returns the number to add to the diagonal of a 2 x 2 matrix B so that its eigenvalues are at least 1e-13 `size`,
 * with `size` the scale of its entries; 0 unless B is singular up to rounding. Without this regularisation the
 * component of a solution x in the null space of B would consist of rounding errors. With it that component is small
 * compared with x, and the added term small compared with B x. */
TALUS_INLINE double talus_regularisation2(double b[2][2], double size)
{
    double det = b[0][0] * b[1][1] - b[0][1] * b[1][0], half = 0.5 * (b[0][0] + b[1][1]);
    if (det > 1e-12 * size * size && half > 0.0)
        return 0.0;
    double root2 = half * half - det, root = root2 > 0.0 ? sqrt(root2) : 0.0;
    double least = half > 0.0 ? det / (half + root) : half - root;
    return fmax(1e-13 * size - least, 0.0);
}

/* Writes the x(lambda) = -(B + lambda)^-1 c that solves the secular equation |x(lambda)| = r. 1/|x(lambda)| is concave
 * and increasing, so Newton steps on 1/|x| - 1/r from the left never pass the root. */
TALUS_ONE_FUNCTION void talus_disc_minimise_by_secular(double b[2][2], const double c[2], double r,
                                                       double x[2])
{
    double trace = b[0][0] + b[1][1], lambda = talus_regularisation2(b, trace), size = 1.0;
    for (int k = 0; k < 60 && talus_solve2(b, lambda, c, x); k++) {
        double y[2], size2 = x[0] * x[0] + x[1] * x[1];
        size = sqrt(size2);
        if (size <= r || !talus_solve2(b, lambda, x, y))
            break;
        double step = size2 / -(x[0] * y[0] + x[1] * y[1]) * ((size - r) / r);
        if (!(step > 1e-16 * lambda))
            break;
        lambda += step;
    }
    x[0] *= r / size;
    x[1] *= r / size;
}

/* Finds the minimum on the circle |x| = r by Newton's method in the polar angle, from the direction of x. Returns
 * false, x undefined, unless the method ends in the minimum over the disc. */
TALUS_ONE_FUNCTION bool talus_disc_minimise_by_angle(double b[2][2], const double c[2], double r,
                                                     double x[2])
{
    double size = sqrt(x[0] * x[0] + x[1] * x[1]), e[2] = {x[0] / size, x[1] / size};
    for (int k = 0; k < 12; k++) {
        double g0 = r * (b[0][0] * e[0] + b[0][1] * e[1]) + c[0];
        double g1 = r * (b[1][0] * e[0] + b[1][1] * e[1]) + c[1];
        double slope = e[0] * g1 - e[1] * g0, pull = -(e[0] * g0 + e[1] * g1);
        double curve =
            r * (b[0][0] * e[1] * e[1] - (b[0][1] + b[1][0]) * e[0] * e[1] + b[1][1] * e[0] * e[0]);
        double turn = -slope / (curve + pull);
        if (!(curve + pull > 0.0) || !(fabs(turn) < 1.0))
            return false;
        double turned[2] = {e[0] - turn * e[1], e[1] + turn * e[0]};
        size = sqrt(1.0 + turn * turn);
        e[0] = turned[0] / size;
        e[1] = turned[1] / size;
        if (fabs(turn) <
            1e-9) { /* Newton's next rotation would be of the order of the square of this one */
            x[0] = r * e[0];
            x[1] = r * e[1];
            return pull >= 0.0;
        }
    }
    return false;
}

/* x = the minimiser of 1/2 x'B x + c'x over |x| <= r, for r > 0 and c whose square does not underflow. */
TALUS_ONE_FUNCTION void talus_disc_minimise_regular(double b[2][2], const double c[2], double r,
                                                    double x[2])
{
    double trace = b[0][0] + b[1][1];
    if (!talus_solve2(b, talus_regularisation2(b, trace), c, x)) { /* B = 0 */
        double shrink = r / sqrt(c[0] * c[0] + c[1] * c[1]);
        x[0] = -shrink * c[0];
        x[1] = -shrink * c[1];
        return;
    }
    if (x[0] * x[0] + x[1] * x[1] <= r * r)
        return;
    double kept[2] = {x[0], x[1]};
    if (b[0][1] == 0.0 && b[1][0] == 0.0 && b[0][0] == b[1][1])
        talus_one_project_disc(r, x);
    else if (!talus_disc_minimise_by_angle(b, c, r, x)) {
        x[0] = kept[0];
        x[1] = kept[1];
        talus_disc_minimise_by_secular(b, c, r, x);
    }
}

/* x = the minimiser of 1/2 x'B x + c'x over |x| <= r, Eq. 14. */
TALUS_ONE_FUNCTION void talus_disc_minimise(double b[2][2], const double c[2], double r,
                                            double x[2])
{
    double size = fmax(fabs(c[0]), fabs(c[1]));
    if (size == 0.0 || r == 0.0) {
        x[0] = x[1] = 0.0;
    } else if (size < TALUS_ONE_SMALL) {
        double lifted[2] = {TALUS_ONE_LIFT * c[0], TALUS_ONE_LIFT * c[1]};
        talus_disc_minimise_regular(b, lifted, TALUS_ONE_LIFT * r, x);
        x[0] /= TALUS_ONE_LIFT;
        x[1] /= TALUS_ONE_LIFT;
    } else {
        talus_disc_minimise_regular(b, c, r, x);
    }
}

/* Replaces gamma by the contact's step in gs-disc: first the normal impulse for the present tangential impulse, then
 * the tangential impulse within the bound of the new normal impulse. The result is exact if A does not couple normal
 * and tangents; otherwise later sweeps correct the error. */
TALUS_ONE_FUNCTION void talus_one_solve_by_disc(const TalusOneContact *one, const double b[3],
                                                double gamma[3])
{
    const double(*a)[3] = one->a;
    gamma[0] = talus_project_nonneg(-(b[0] + a[0][1] * gamma[1] + a[0][2] * gamma[2]) / a[0][0]);
    double tangential[2][2] = {{a[1][1], a[1][2]}, {a[2][1], a[2][2]}};
    double c[2] = {b[1] + a[1][0] * gamma[0], b[2] + a[2][0] * gamma[0]};
    talus_disc_minimise(tangential, c, talus_one_bound(one, gamma[0]), &gamma[1]);
}

#endif
