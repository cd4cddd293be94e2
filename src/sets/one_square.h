/* sets/one_square.h - one contact with separate bounds on its tangential impulses, for host and device.
 *
 * The bounds are +-mu gamma_n (coulomb) or +-friction_bound (fixed). Both methods below are in preclik-2009, section
 * 3.1. */
#ifndef TALUS_SETS_ONE_SQUARE_H
#define TALUS_SETS_ONE_SQUARE_H

#include "sets/one_contact.h"

/* Returns one tangential impulse t within +-bound whose velocity diagonal t + rest is 0, or >= 0 at the lower bound, or
 * <= 0 at the upper one. If the diagonal entry is 0, the velocity is `rest`; if that is 0 too, `old` is kept. */
TALUS_INLINE double talus_one_solve_tangent(double diagonal, double rest, double bound, double old)
{
    if (diagonal > 0.0)
        return talus_one_clamp(-rest / diagonal, bound);
    return rest > 0.0 ? -bound : rest < 0.0 ? bound : talus_one_clamp(old, bound);
}

/* Replaces gamma by the contact's step in pgs: the normal impulse, then each tangential impulse, each for the present
 * values of the others. */
TALUS_ONE_FUNCTION void talus_one_solve_by_rows(const TalusOneContact *one, const double b[3],
                                                double gamma[3])
{
    const double(*a)[3] = one->a;
    gamma[0] = talus_project_nonneg(-(b[0] + a[0][1] * gamma[1] + a[0][2] * gamma[2]) / a[0][0]);
    double bound = talus_one_bound(one, gamma[0]);
    gamma[1] = talus_one_solve_tangent(a[1][1], b[1] + a[1][0] * gamma[0] + a[1][2] * gamma[2],
                                       bound, gamma[1]);
    gamma[2] = talus_one_solve_tangent(a[2][2], b[2] + a[2][0] * gamma[0] + a[2][1] * gamma[1],
                                       bound, gamma[2]);
}

TALUS_INLINE void talus_swap(double *x, double *y)
{
    double kept = *x;
    *x = *y;
    *y = kept;
}

/* Divides each row of m, with its entry of r, by the largest magnitude in the row, then each column of m by the largest
 * magnitude in the column. Writes the divisors of the columns to `unit`, 1 for a zero column. */
TALUS_ONE_FUNCTION void talus_equilibrate3(double m[3][3], double r[3], double unit[3])
{
    for (int i = 0; i < 3; i++) {
        double largest = fmax(fmax(fabs(m[i][0]), fabs(m[i][1])), fabs(m[i][2]));
        for (int j = 0; j < 3 && largest > 0.0; j++)
            m[i][j] /= largest;
        r[i] = largest > 0.0 ? r[i] / largest : 0.0;
    }
    for (int j = 0; j < 3; j++) {
        double largest = fmax(fmax(fabs(m[0][j]), fabs(m[1][j])), fabs(m[2][j]));
        unit[j] = largest > 0.0 ? largest : 1.0;
        for (int i = 0; i < 3; i++)
            m[i][j] /= unit[j];
    }
}

/* Solves m x = r by elimination with full pivoting; overwrites m and r. For a singular m the unknowns of all pivots
 * that are only rounding are 0; the result then solves m x = r if any x does, which the caller checks. */
TALUS_ONE_FUNCTION void talus_solve3(double m[3][3], double r[3], double x[3])
{
    int column[3] = {0, 1, 2}, rank = 0;
    double unit[3], y[3] = {0.0, 0.0, 0.0};
    talus_equilibrate3(m, r, unit);
    for (; rank < 3; rank++) {
        int pi = rank, pj = rank;
        for (int i = rank; i < 3; i++)
            for (int j = rank; j < 3; j++)
                if (fabs(m[i][j]) > fabs(m[pi][pj])) {
                    pi = i;
                    pj = j;
                }
        if (!(fabs(m[pi][pj]) > 1e-13))
            break;
        for (int k = 0; k < 3; k++)
            talus_swap(&m[pi][k], &m[rank][k]);
        for (int k = 0; k < 3; k++)
            talus_swap(&m[k][pj], &m[k][rank]);
        talus_swap(&r[pi], &r[rank]);
        int place = column[pj];
        column[pj] = column[rank];
        column[rank] = place;
        for (int i = rank + 1; i < 3; i++) {
            double factor = m[i][rank] / m[rank][rank];
            for (int j = rank + 1; j < 3; j++)
                m[i][j] -= factor * m[rank][j];
            r[i] -= factor * r[rank];
        }
    }
    for (int i = rank - 1; i >= 0; i--) {
        double sum = r[i];
        for (int j = i + 1; j < rank; j++)
            sum -= m[i][j] * y[j];
        y[i] = sum / m[i][i];
    }
    for (int i = 0; i < 3; i++)
        x[column[i]] = y[i] / unit[column[i]];
}

/* A case of the contact law: the normal impulse is free (u_n = 0) or 0, each tangential impulse is free (its velocity
 * is 0) or at a bound. */
typedef struct TalusCase {
    bool bears;  /* the normal impulse is free; else 0 */
    int side[2]; /* of each tangential impulse: 0 free, -1 at the lower bound, 1 at the upper one */
} TalusCase;

/* Writes the gamma that solves the equations of a case; gamma may be outside the bounds. Under Coulomb's law a
 * tangential impulse at a bound is +-mu n, so its column of A, times +-mu, is added to that of n. */
TALUS_INLINE void talus_case_solve(const TalusOneContact *one, const double b[3], TalusCase c,
                                   double gamma[3])
{
    double m[3][3], r[3], with_n[3] = {1.0, 0.0, 0.0}, given[3] = {0.0, 0.0, 0.0};
    bool moves = one->law == TALUS_LAW_COULOMB;
    for (int k = 1; k < 3; k++) {
        with_n[k] = moves ? c.side[k - 1] * one->mu : 0.0;
        given[k] = moves ? 0.0 : c.side[k - 1] * one->friction_bound;
    }
    for (int k = 0; k < 3; k++) {
        bool row = k ? c.side[k - 1] == 0 : c.bears;
        m[k][0] = row && c.bears ? talus_one_dot(one->a[k], with_n) : k == 0;
        for (int j = 1; j < 3; j++)
            m[k][j] = row && c.side[j - 1] == 0 ? one->a[k][j] : k == j;
        r[k] = row ? -b[k] - talus_one_dot(one->a[k], given) : 0.0;
    }
    talus_solve3(m, r, gamma);
    for (int k = 1; k < 3; k++)
        if (c.side[k - 1])
            gamma[k] = c.side[k - 1] * talus_one_bound(one, gamma[0]);
}

/* Writes the gamma of a case, restricted to the bounds. Returns how far this gamma violates the contact law: a
 * velocity, divided by the largest sum of the magnitudes of the terms of a component of u. */
TALUS_ONE_FUNCTION double talus_try_case(const TalusOneContact *one, const double b[3], TalusCase c,
                                         double gamma[3])
{
    double unit = one->a[0][0] + one->a[1][1] + one->a[2][2], u[3], size = 0.0, moved = 0.0;
    talus_case_solve(one, b, c, gamma);
    double kept[3] = {gamma[0], gamma[1], gamma[2]};
    talus_one_restrict(one, gamma);
    talus_one_velocity(one, b, gamma, u);
    double worst = c.bears ? fabs(u[0]) : fmax(-u[0], 0.0);
    for (int k = 0; k < 3; k++) {
        double terms = fabs(b[k]);
        for (int j = 0; j < 3; j++)
            terms += fabs(one->a[k][j] * gamma[j]);
        size = fmax(size, terms);
        moved = fmax(moved, fabs(kept[k] - gamma[k]));
        if (k > 0)
            worst = fmax(worst, c.side[k - 1] == 0 ? fabs(u[k]) : fmax(c.side[k - 1] * u[k], 0.0));
    }
    worst = fmax(worst, unit * moved);
    return size > 0.0 ? worst / size : 0.0;
}

/* Replaces gamma by the solution of bgs-enum, which tries all cases in a fixed order: open, sticking, one tangential
 * impulse at a bound, both. It takes the first case that holds up to rounding; if none holds, the one with the
 * smallest violation. With a normal impulse of 0 there are nine cases, which under Coulomb's law are one, since all
 * bounds are 0; with a free normal impulse there are nine. If mu (|A_n1| + |A_n2|) >= A_nn, Coulomb's law may have
 * several solutions: then all cases are tried, and of those that hold the one nearest to the previous impulse is
 * taken. */
TALUS_ONE_FUNCTION void talus_one_solve_by_cases(const TalusOneContact *one, const double b[3],
                                                 double gamma[3])
{
    static const signed char sides[9][2] = {{0, 0}, {1, 0},  {-1, 0}, {0, 1},  {0, -1},
                                            {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    bool moves = one->law == TALUS_LAW_COULOMB;
    bool single = !moves || one->mu * (fabs(one->a[0][1]) + fabs(one->a[0][2])) < one->a[0][0];
    double old[3] = {gamma[0], gamma[1], gamma[2]}, least = INFINITY, nearest = INFINITY;
    for (int bears = 0; bears < 2; bears++)
        for (int k = 0; k < (bears || !moves ? 9 : 1); k++) {
            TalusCase c = {bears != 0, {sides[k][0], sides[k][1]}};
            double trial[3] = {0.0, 0.0, 0.0}, broken = b[0] >= 0.0 ? 0.0 : INFINITY, away = 0.0;
            if (bears || !moves)
                broken = talus_try_case(one, b, c, trial);
            bool holds = broken <= 1e-13;
            for (int j = 0; j < 3; j++)
                away += one->a[j][j] * (trial[j] - old[j]) * (trial[j] - old[j]);
            if (holds ? !(away >= nearest) : nearest == INFINITY && !(broken >= least)) {
                for (int j = 0; j < 3; j++)
                    gamma[j] = trial[j];
                least = broken;
                nearest = holds ? away : INFINITY;
            }
            if (holds && single)
                return;
        }
}

#endif
