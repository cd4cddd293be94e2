/* sets/one_coulomb.h - exact solution of one contact under Coulomb's law on the disc; for host and device.
 *
 * The open contact, gamma = 0, is a solution if b_n >= 0. All other solutions have u_n = 0, which gives n = n0 - r't
 * with n0 = -b_n / A_nn and r = A_nt / A_nn. With S = A_tt - A_tn r' and c = b_t + A_tn n0 the tangential equation is
 * S t + c = u_t. Sticking is u_t = 0. Sliding is u_t = -lambda t with lambda > 0, so that
 *     t(lambda) = -(S + lambda)^-1 c,    f(lambda) = mu n(lambda) / |t(lambda)| - 1 = 0,
 * one equation, nearly linear for large lambda, solved by Newton's method within brackets.
 *
 * If mu |r| < 1, a contact with b_n >= 0 can only be open. One with b_n < 0 sticks if f(0) >= 0, else it slides, as f
 * is positive for large lambda. The solution is known to be unique only for mu^2 tr A < det A / det A_tt; otherwise a
 * contact that can stick sticks, although sliding may be a solution, too.
 *
 * If mu |r| >= 1, there may be several solutions, or none if A is singular and b incompatible with it. f is then
 * evaluated at about 32 values of lambda from small to large, and at extrema between them. Of all solutions found, the
 * one nearest to the previous impulse is taken, as sweeps could otherwise alternate between solutions for ever. If
 * there is no solution, the contact gets the normal impulse max(n0, 0) and no friction, or the impulse of nearly
 * sticking (see talus_one_solve_nearest). */
#ifndef TALUS_SETS_ONE_COULOMB_H
#define TALUS_SETS_ONE_COULOMB_H

#include "sets/one_slide.h"

/* The quantities S, c, r, n0 and mu of the equations above. */
typedef struct TalusSlide {
    double s[2][2], c[2], r[2];
    double n0, mu;
} TalusSlide;

/* Returns S, c, r, n0 and mu of a contact's problem. */
TALUS_INLINE TalusSlide talus_slide_equations(const TalusOneContact *one, const double b[3])
{
    const double(*a)[3] = one->a;
    TalusSlide slide;
    slide.n0 = -b[0] / a[0][0];
    slide.mu = one->mu;
    for (int k = 0; k < 2; k++)
        slide.r[k] = a[0][k + 1] / a[0][0];
    for (int k = 0; k < 2; k++) {
        for (int l = 0; l < 2; l++)
            slide.s[k][l] = a[k + 1][l + 1] - a[k + 1][0] * slide.r[l];
        double moved = a[k + 1][0] * slide.n0, sum = b[k + 1] + moved;
        slide.c[k] = fabs(sum) <= 4e-16 * fabs(moved) ? 0.0 : sum; /* only rounding is left */
    }
    return slide;
}

/* Writes t(lambda) and n(lambda), and df/dlambda to *slope unless slope is NULL. Returns f. If S + lambda is singular,
 * t and n are 0 and f is -infinity. */
TALUS_ONE_FUNCTION double talus_slide_evaluate(TalusSlide *slide, double lambda, double t[2],
                                               double *n, double *slope)
{
    double size2, size, dt[2];
    *n = t[0] = t[1] = 0.0;
    if (!talus_solve2(slide->s, lambda, slide->c, t))
        return -INFINITY;
    size2 = t[0] * t[0] + t[1] * t[1];
    size = sqrt(size2);
    *n = slide->n0 - (slide->r[0] * t[0] + slide->r[1] * t[1]);
    if (slope && talus_solve2(slide->s, lambda, t, dt)) {
        double dn = -(slide->r[0] * dt[0] + slide->r[1] * dt[1]);
        *slope = slide->mu * (dn - *n * (t[0] * dt[0] + t[1] * dt[1]) / size2) / size;
    }
    return slide->mu * *n / size - 1.0;
}

/* Returns the root of f between lo and hi, where f has different signs: rise = 1 if f < 0 at lo, -1 if f > 0 there. */
TALUS_ONE_FUNCTION double talus_slide_root(TalusSlide *slide, double lo, double hi, double rise)
{
    double size = sqrt(slide->c[0] * slide->c[0] + slide->c[1] * slide->c[1]), t[2], n, slope = 0.0;
    double lambda = size / (slide->mu * slide->n0) - 0.5 * (slide->s[0][0] + slide->s[1][1]);
    if (!(lambda > lo && lambda < hi))
        lambda = lo > 0.0 ? sqrt(lo) * sqrt(hi) : 0.5 * hi;
    for (int k = 0; k < 200; k++) {
        double f = talus_slide_evaluate(slide, lambda, t, &n, &slope);
        if (rise * f < 0.0)
            lo = lambda;
        else
            hi = lambda;
        double next = lambda - f / slope;
        if (fabs(next - lambda) <=
            1e-9 * lambda) /* Newton's next step would be of the order of the square of this one */
            return next;
        if (!(next > lo && next < hi) || k % 8 == 7)
            next = lo > 0.0 && hi > 4.0 * lo ? sqrt(lo) * sqrt(hi) : 0.5 * (lo + hi);
        if (next == lo || next == hi)
            return next;
        lambda = next;
    }
    return lambda;
}

/* Returns the lambda of the minimum of sign * f between lo, where sign * f falls, and hi, where it rises, or the first
 * lambda found with a negative value. Writes the value there to *least. */
TALUS_ONE_FUNCTION double talus_slide_extreme(TalusSlide *slide, double lo, double hi, double sign,
                                              double *least)
{
    double t[2], n, slope = 0.0, lambda = lo;
    for (int k = 0; k < 60; k++) {
        lambda = 0.5 * (lo + hi);
        *least = sign * talus_slide_evaluate(slide, lambda, t, &n, &slope);
        if (*least < 0.0)
            break;
        if (sign * slope < 0.0)
            lo = lambda;
        else
            hi = lambda;
    }
    return lambda;
}

/* Of the solutions offered so far (talus_pick_offer): the one nearest to the previous impulse `old`. */
typedef struct TalusPick {
    const TalusOneContact *one;
    const double *b;
    double old[3], gamma[3];
    double distance; /* sum of A_kk (gamma_k - old_k)^2; infinite: no solution yet */
} TalusPick;

/* Stores gamma in pick->gamma if it is nearer to pick->old than all solutions offered before. */
TALUS_INLINE void talus_pick_offer(TalusPick *pick, const double gamma[3])
{
    double distance = 0.0;
    for (int k = 0; k < 3; k++)
        distance += pick->one->a[k][k] * (gamma[k] - pick->old[k]) * (gamma[k] - pick->old[k]);
    if (distance < pick->distance) {
        pick->distance = distance;
        for (int k = 0; k < 3; k++)
            pick->gamma[k] = gamma[k];
    }
}

/* Offers the sliding solution at the root lambda of f, refined to full precision, unless n(lambda) <= 0. */
TALUS_ONE_FUNCTION void talus_pick_offer_slide(TalusPick *pick, TalusSlide *slide, double lambda)
{
    double t[2], n;
    talus_slide_evaluate(slide, lambda, t, &n, NULL);
    double gamma[3] = {n, t[0], t[1]};
    if (!(n > 0.0))
        return;
    talus_slide_polish(pick->one, pick->b, gamma);
    talus_slide_snap_to_rim(pick->one, gamma);
    talus_pick_offer(pick, gamma);
}

/* Offers the sliding solutions at all roots of f between lo and hi. An extremum at which f is 0 up to rounding counts
 * as a root. */
TALUS_ONE_FUNCTION void talus_pick_offer_all_slides(TalusPick *pick, TalusSlide *slide, double lo,
                                                    double hi)
{
    double det = slide->s[0][0] * slide->s[1][1] - slide->s[0][1] * slide->s[1][0];
    double t[2], n, slope = 0.0, last = lo; /* f hardly changes between 0 and `from` */
    double from = fmax(lo, fmin(1e-3 * det / (slide->s[0][0] + slide->s[1][1]), 0.5 * hi));
    double step = sqrt(sqrt(sqrt(sqrt(sqrt(hi / from)))));
    double f = talus_slide_evaluate(slide, last, t, &n, &slope);
    for (double next = lo < from ? from : from * step; step > 1.0 && next < hi * step;
         next *= step) {
        double old_f = f, old_slope = slope, sign = f < 0.0 ? -1.0 : 1.0, least;
        f = talus_slide_evaluate(slide, next, t, &n, &slope);
        if ((f < 0.0) != (old_f < 0.0)) {
            talus_pick_offer_slide(pick, slide, talus_slide_root(slide, last, next, -sign));
        } else if (sign * old_slope < 0.0 && sign * slope > 0.0) {
            double extreme = talus_slide_extreme(slide, last, next, sign, &least);
            if (least < 0.0) {
                talus_pick_offer_slide(pick, slide, talus_slide_root(slide, last, extreme, -sign));
                talus_pick_offer_slide(pick, slide, talus_slide_root(slide, extreme, next, sign));
            } else if (least < 1e-13) {
                talus_pick_offer_slide(pick, slide, extreme);
            }
        }
        last = next;
    }
}

/* Returns a lambda above which f has the sign of n0, by |t| <= |c| / lambda; `size` is the trace of A_tt. */
TALUS_INLINE double talus_slide_largest_lambda(const TalusSlide *slide, double size)
{
    double c = sqrt(slide->c[0] * slide->c[0] + slide->c[1] * slide->c[1]);
    double r = sqrt(slide->r[0] * slide->r[0] + slide->r[1] * slide->r[1]);
    double end = 4.0 * (c / fabs(slide->n0) * (1.0 / slide->mu + r));
    return end <= 1e60 * size ? end : 1e8 * size; /* n0 = 0: f tends to a constant, t to 0 */
}

/* Replaces gamma, the previous impulse, by the solution nearest to it: open, sticking or sliding. With a singular A
 * the sticking impulse may leave a tangential velocity, whose square is left2. Sticking counts as a solution if left2
 * is only rounding; if left2 is small but more than rounding, the contact sticks only if there is no solution. */
TALUS_ONE_FUNCTION void talus_one_solve_nearest(const TalusOneContact *one, const double b[3],
                                                double gamma[3])
{
    TalusSlide slide = talus_slide_equations(one, b);
    TalusPick pick = {one, b, {gamma[0], gamma[1], gamma[2]}, {0.0, 0.0, 0.0}, INFINITY};
    double size = one->a[1][1] + one->a[2][2], lo = talus_regularisation2(slide.s, size),
           n = slide.n0;
    double c2 = slide.c[0] * slide.c[0] + slide.c[1] * slide.c[1], t[2] = {0.0, 0.0}, f = 0.0;
    const double open[3] = {0.0, 0.0, 0.0};
    if (b[0] >= 0.0)
        talus_pick_offer(&pick, open);
    if (c2 > 0.0)
        f = size > 0.0 ? talus_slide_evaluate(&slide, lo, t, &n, NULL) : -1.0;
    double left2 = lo * lo * (t[0] * t[0] + t[1] * t[1]);
    const double stuck[3] = {n, t[0], t[1]}, frictionless[3] = {fmax(slide.n0, 0.0), 0.0, 0.0};
    if (f >= 0.0 && n >= 0.0 && left2 <= 1e-24 * c2)
        talus_pick_offer(&pick, stuck);
    if (c2 > 0.0)
        talus_pick_offer_all_slides(&pick, &slide, lo,
                                    fmax(talus_slide_largest_lambda(&slide, size), 2.0 * lo));
    if (pick.distance == INFINITY)
        talus_pick_offer(&pick, f >= 0.0 && n >= 0.0 && left2 <= 1e-12 * c2 ? stuck : frictionless);
    for (int k = 0; k < 3; k++)
        gamma[k] = pick.gamma[k];
}

/* Replaces gamma by the solution for b_n < 0 and mu |r| < 1: the contact sticks if it can, else slides. If sticking
 * leaves a velocity, as it may with a singular A, calls talus_one_solve_nearest. */
TALUS_ONE_FUNCTION void talus_one_stick_or_slide(const TalusOneContact *one, const double b[3],
                                                 double gamma[3])
{
    TalusSlide slide = talus_slide_equations(one, b);
    double size = one->a[1][1] + one->a[2][2], lo = talus_regularisation2(slide.s, size),
           n = slide.n0;
    double c2 = slide.c[0] * slide.c[0] + slide.c[1] * slide.c[1], t[2] = {0.0, 0.0}, f = 0.0;
    if (c2 > 0.0) /* size 0: nothing resists along the tangents */
        f = size > 0.0 ? talus_slide_evaluate(&slide, lo, t, &n, NULL) : -1.0;
    bool sticks = f >= 0.0;
    if (sticks && lo * lo * (t[0] * t[0] + t[1] * t[1]) > 1e-24 * c2) {
        talus_one_solve_nearest(one, b, gamma);
        return;
    }
    if (!sticks) {
        double end = fmax(talus_slide_largest_lambda(&slide, size), 2.0 * lo);
        talus_slide_evaluate(&slide, talus_slide_root(&slide, lo, end, 1.0), t, &n, NULL);
    }
    gamma[0] = n;
    gamma[1] = t[0];
    gamma[2] = t[1];
    if (!sticks) {
        talus_slide_polish(one, b, gamma);
        talus_slide_snap_to_rim(one, gamma);
    }
}

/* Replaces gamma, the previous impulse, by the solution under Coulomb's law; of several, by the nearest. */
TALUS_ONE_FUNCTION void talus_one_solve_coulomb(const TalusOneContact *one, const double b[3],
                                                double gamma[3])
{
    const double *row = one->a[0];
    bool open = b[0] >= 0.0, was_open = gamma[0] == 0.0 && gamma[1] == 0.0 && gamma[2] == 0.0;
    double coupling2 = one->mu * one->mu * (row[1] * row[1] + row[2] * row[2]);
    bool several = coupling2 >= row[0] * row[0];
    if (open && (was_open || !several))
        gamma[0] = gamma[1] = gamma[2] = 0.0;
    else if (several)
        talus_one_solve_nearest(one, b, gamma);
    else
        talus_one_stick_or_slide(one, b, gamma);
}

#endif
