/* sets/one_newton.h - one contact under Coulomb's law by a generalised Newton method, for host and device.
 *
 * As in the NSCD method (Jean 1999), on Alart and Curnier's function
 *     F_n = gamma_n - max(0, z),   F_t = gamma_t - P(y),   z = gamma_n - rho_n u_n,  y = gamma_t - rho_t u_t,
 * with P the projection onto the disc of radius mu max(0, z). A root of F solves the contact's problem. A step is
 * halved until |F / rho|, a velocity, decreases. If seven trials do not decrease it, if 20 steps do not reach a root,
 * or if the tangential diagonal of A is 0, the exact solver is used (one_coulomb.h). */
#ifndef TALUS_SETS_ONE_NEWTON_H
#define TALUS_SETS_ONE_NEWTON_H

#include "sets/one_coulomb.h"

/* Alart and Curnier's function F and its intermediate values at one gamma. */
typedef struct TalusAlart {
    double rho_n, rho_t; /* set by the caller: about 1 / A_nn and 1 / A_tt */
    /* f: F_n / rho_n and F_t / rho_t, m/s; radius: mu max(0, z); size: |y| */
    double f[3], z, y[2], radius, size;
} TalusAlart;

/* Fills *f at gamma, except for rho_n and rho_t, which the caller has set. Returns |F / rho|^2. */
TALUS_ONE_FUNCTION double talus_alart_evaluate(const TalusOneContact *one, const double b[3],
                                               const double gamma[3], TalusAlart *f)
{
    double u[3], p[2];
    talus_one_velocity(one, b, gamma, u);
    f->z = gamma[0] - f->rho_n * u[0];
    for (int k = 0; k < 2; k++)
        p[k] = f->y[k] = gamma[k + 1] - f->rho_t * u[k + 1];
    f->radius = one->mu * fmax(f->z, 0.0);
    f->size = sqrt(p[0] * p[0] + p[1] * p[1]);
    talus_one_project_disc(f->radius, p);
    f->f[0] = f->z > 0.0 ? u[0] : gamma[0] / f->rho_n;
    for (int k = 0; k < 2; k++)
        f->f[k + 1] = f->size > f->radius ? (gamma[k + 1] - p[k]) / f->rho_t : u[k + 1];
    return talus_one_dot(f->f, f->f);
}

/* m = an element of the generalised Jacobian of F / rho with respect to gamma. */
TALUS_INLINE void talus_alart_jacobian(const TalusOneContact *one, const TalusAlart *f,
                                       double m[3][3])
{
    bool open = f->z <= 0.0, slides = !open && f->size > f->radius;
    double e[2] = {0.0, 0.0}, keep = 0.0;
    if (slides) {
        e[0] = f->y[0] / f->size;
        e[1] = f->y[1] / f->size;
        keep = f->radius / f->size;
    }
    for (int j = 0; j < 3; j++) {
        double dz = (j == 0) - f->rho_n * one->a[0][j];
        double dy[2] = {(j == 1) - f->rho_t * one->a[1][j], (j == 2) - f->rho_t * one->a[2][j]};
        double along = e[0] * dy[0] + e[1] * dy[1];
        m[0][j] = open ? (j == 0) / f->rho_n : one->a[0][j];
        for (int k = 0; k < 2; k++) {
            double moved = one->mu * e[k] * dz + keep * (dy[k] - e[k] * along);
            m[k + 1][j] = open     ? (j == k + 1) / f->rho_t
                          : slides ? ((j == k + 1) - moved) / f->rho_t
                                   : one->a[k + 1][j];
        }
    }
}

/* True if F / rho is at most of the order of rounding errors: of those of u or, in the tangential rows of a sliding
 * contact, of those of its impulse. */
TALUS_INLINE bool talus_alart_solved(const TalusOneContact *one, const double b[3],
                                     const double gamma[3], const TalusAlart *f)
{
    bool slides = f->size > f->radius;
    for (int k = 0; k < 3; k++) {
        double terms = fabs(b[k]), limit = 1e-14 * f->radius / f->rho_t;
        for (int j = 0; j < 3; j++)
            terms += fabs(one->a[k][j] * gamma[j]);
        if (!(fabs(f->f[k]) <= (k && slides ? limit : 1e-15 * terms)))
            return false;
    }
    return true;
}

/* Adds d to x, halved until |F / rho|^2 is below *merit; updates *merit and *f. Returns false, x and *merit
 * unchanged and *f that of the last trial, if seven trials do not get below *merit. */
TALUS_ONE_FUNCTION bool talus_alart_search(const TalusOneContact *one, const double b[3],
                                           const double d[3], double x[3], double *merit,
                                           TalusAlart *f)
{
    for (double step = 1.0; step > 1e-2; step *= 0.5) {
        double trial[3] = {x[0] + step * d[0], x[1] + step * d[1], x[2] + step * d[2]};
        double next = talus_alart_evaluate(one, b, trial, f);
        if (next < *merit) {
            *merit = next;
            for (int j = 0; j < 3; j++)
                x[j] = trial[j];
            return true;
        }
    }
    return false;
}

/* Replaces gamma, from which Newton's method starts, by the solution; uses talus_one_solve_coulomb where Newton
 * fails. */
TALUS_ONE_FUNCTION void talus_one_solve_newton(const TalusOneContact *one, const double b[3],
                                               double gamma[3])
{
    double across = one->a[1][1] + one->a[2][2];
    TalusAlart at;
    at.rho_n = 1.0 / one->a[0][0];
    at.rho_t = 2.0 / across;
    double x[3] = {gamma[0], gamma[1], gamma[2]}, merit = talus_alart_evaluate(one, b, x, &at);
    for (int k = 0; k < 20 && across > 0.0; k++) {
        double m[3][3], d[3];
        if (talus_alart_solved(one, b, x, &at)) {
            for (int j = 0; j < 3; j++)
                gamma[j] = at.z > 0.0 ? x[j] : 0.0;
            talus_one_restrict(one, gamma);
            return;
        }
        talus_alart_jacobian(one, &at, m);
        double r[3] = {-at.f[0], -at.f[1], -at.f[2]};
        talus_solve3(m, r, d);
        if (!talus_alart_search(one, b, d, x, &merit, &at))
            break;
    }
    talus_one_solve_coulomb(one, b, gamma);
}

#endif
