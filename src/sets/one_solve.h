/* sets/one_solve.h - the problem of one contact by any of its solvers, for host and device. */
#ifndef TALUS_SETS_ONE_SOLVE_H
#define TALUS_SETS_ONE_SOLVE_H

#include "sets/one_cone.h"
#include "sets/one_newton.h"

/* True if the solver takes contacts under this law on this section; false for TALUS_ONE_PROJECT, which is no solver of
 * talus_one_solve. */
TALUS_INLINE bool talus_one_takes(TalusOneSolver solver, TalusFrictionLaw law, TalusSection section)
{
    bool disc = section == TALUS_SECTION_DISC, square = section == TALUS_SECTION_SQUARE;
    switch (solver) {
    case TALUS_ONE_ROWS:
    case TALUS_ONE_CASES: return square && law != TALUS_LAW_CCP;
    case TALUS_ONE_DISC: return disc && law != TALUS_LAW_CCP;
    case TALUS_ONE_NEWTON: return disc && law == TALUS_LAW_COULOMB;
    case TALUS_ONE_EXACT: return disc && law != TALUS_LAW_FIXED;
    default: return false;
    }
}

/* Writes the solution for A = diag(nn, tt, tt), the case of spheres: only the bound couples the components, and every
 * solver gives the same result. */
TALUS_INLINE void talus_one_solve_isotropic(const TalusOneContact *one, const double b[3],
                                            double gamma[3])
{
    double nn = one->a[0][0], tt = one->a[1][1];
    for (int k = 0; k < 3; k++)
        gamma[k] = -b[k] / (k ? tt : nn);
    if (one->law == TALUS_LAW_CCP)
        talus_project_cone(one->mu, one->mu * (tt / nn), &gamma[0], &gamma[1], &gamma[2]);
    else
        talus_one_restrict(one, gamma);
}

/* Replaces gamma by the solution for any A, by the given solver. */
TALUS_ONE_FUNCTION void talus_one_solve_coupled(TalusOneSolver solver, const TalusOneContact *one,
                                                const double b[3], double gamma[3])
{
    switch (solver) {
    case TALUS_ONE_ROWS: talus_one_solve_by_rows(one, b, gamma); break;
    case TALUS_ONE_DISC: talus_one_solve_by_disc(one, b, gamma); break;
    case TALUS_ONE_CASES: talus_one_solve_by_cases(one, b, gamma); break;
    case TALUS_ONE_NEWTON: talus_one_solve_newton(one, b, gamma); break;
    default:
        if (one->law == TALUS_LAW_CCP)
            talus_one_solve_ccp(one, b, gamma);
        else
            talus_one_solve_coulomb(one, b, gamma);
    }
}

/* Solves the problem of one contact. gamma: in, the previous impulse; out, the solution. TALUS_ONE_ROWS,
 * TALUS_ONE_DISC and TALUS_ONE_NEWTON start from the previous impulse; solvers that find several solutions take the
 * one nearest to it. If all entries of b are below TALUS_ONE_SMALL, the problem is solved for b times TALUS_ONE_LIFT
 * with a previous impulse of 0, except by TALUS_ONE_ROWS and TALUS_ONE_DISC. The solver must take the law and section
 * (talus_one_takes). */
TALUS_INLINE void talus_one_solve(TalusOneSolver solver, const TalusOneContact *one,
                                  const double b[3], double gamma[3])
{
    bool splits = solver == TALUS_ONE_ROWS || solver == TALUS_ONE_DISC;
    bool small = fabs(b[0]) < TALUS_ONE_SMALL && fabs(b[1]) < TALUS_ONE_SMALL &&
                 fabs(b[2]) < TALUS_ONE_SMALL;
    double sum = b[0] + b[1] + b[2];
    if (sum != sum) { /* a NaN must propagate */
        gamma[0] = gamma[1] = gamma[2] = sum;
    } else if (talus_one_is_frictionless(one)) {
        gamma[0] = talus_project_nonneg(-b[0] / one->a[0][0]);
        gamma[1] = gamma[2] = 0.0;
    } else if (small && !splits) {
        TalusOneContact lifted = *one;
        double c[3] = {TALUS_ONE_LIFT * b[0], TALUS_ONE_LIFT * b[1], TALUS_ONE_LIFT * b[2]};
        lifted.friction_bound *= TALUS_ONE_LIFT;
        gamma[0] = gamma[1] = gamma[2] = 0.0;
        talus_one_solve_coupled(solver, &lifted, c, gamma);
        for (int k = 0; k < 3; k++)
            gamma[k] /= TALUS_ONE_LIFT;
    } else if (!small && talus_one_is_isotropic(one)) {
        talus_one_solve_isotropic(one, b, gamma);
    } else {
        talus_one_solve_coupled(solver, one, b, gamma);
    }
}

#endif
