/* sets/one_coulomb.h - one contact under Coulomb's law on the disc, exactly; for host and device.
 *
 * Open where b_n >= 0. Otherwise u_n = 0 gives n = n0 - r't with n0 = -b_n / A_nn > 0, r = A_nt / A_nn,
 * and what is left, with S = A_tt - A_tn r' and c = b_t + A_tn n0, is S t + c = u_t. Sticking is u_t = 0.
 * Sliding is u_t = -lambda t with lambda > 0, so that
 *     t(lambda) = -(S + lambda)^-1 c,    f(lambda) = mu n(lambda) / |t(lambda)| - 1 = 0:
 * one equation, nearly a straight line for large lambda, by Newton's method within brackets. f is positive
 * for large lambda; where sticking is not admissible, it is negative at 0, and so a root exists. It is the
 * only one for mu |r| < 1 or so; of several the iteration takes one that depends on A, b and mu alone, not on
 * the impulse before. Only a singular S can have f > 0 at both ends of the bracket without sticking: then
 * roots come in pairs or, b being incompatible with A, not at all. 64 values of lambda from small to large
 * are tried, with the minima between them; without a root the contact gets n0 and no friction. */
#ifndef TALUS_SETS_ONE_COULOMB_H
#define TALUS_SETS_ONE_COULOMB_H

#include "sets/one_slide.h"

typedef struct TalusSlide {
    double s[2][2], c[2], r[2];
    double n0, mu;
} TalusSlide;

TALUS_INLINE TalusSlide talus_slide(const TalusOne *one, const double b[3])
{
    const double(*a)[3] = one->a;
    TalusSlide slide = {.n0 = -b[0] / a[0][0], .mu = one->mu};
    for (int k = 0; k < 2; k++)
        slide.r[k] = a[0][k + 1] / a[0][0];
    for (int k = 0; k < 2; k++) {
        for (int l = 0; l < 2; l++)
            slide.s[k][l] = a[k + 1][l + 1] - a[k + 1][0] * slide.r[l];
        double moved = a[k + 1][0] * slide.n0, sum = b[k + 1] + moved;
        slide.c[k] =
            fabs(sum) <= 4e-16 * fabs(moved) ? 0.0 : sum; /* what cancels but for rounding */
    }
    return slide;
}

/* t and n at lambda; returns f, and its derivative in `slope` unless that is NULL. */
TALUS_INLINE double talus_slide_at(TalusSlide *slide, double lambda, double t[2], double *n,
                                   double *slope)
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

/* The root of f between lo, where it is negative, and hi, where it is not. */
TALUS_INLINE double talus_slide_root(TalusSlide *slide, double lo, double hi)
{
    double size = sqrt(slide->c[0] * slide->c[0] + slide->c[1] * slide->c[1]), t[2], n, slope = 0.0;
    double lambda = size / (slide->mu * slide->n0) - 0.5 * (slide->s[0][0] + slide->s[1][1]);
    if (!(lambda > lo && lambda < hi))
        lambda = lo > 0.0 ? sqrt(lo) * sqrt(hi) : 0.5 * hi;
    for (int k = 0; k < 200; k++) {
        double f = talus_slide_at(slide, lambda, t, &n, &slope);
        if (f < 0.0)
            lo = lambda;
        else
            hi = lambda;
        double next = lambda - f / slope;
        if (!(next > lo && next < hi) || k % 8 == 7)
            next = lo > 0.0 && hi > 4.0 * lo ? sqrt(lo) * sqrt(hi) : 0.5 * (lo + hi);
        if (fabs(next - lambda) <= 4e-16 * lambda || next == lo || next == hi)
            return next;
        lambda = next;
    }
    return lambda;
}

/* The least f between lo, where it falls, and hi, where it rises, unless it is negative before: returns where
 * that was. */
TALUS_INLINE double talus_slide_lowest(TalusSlide *slide, double lo, double hi)
{
    double t[2], n, slope = 0.0, lambda = lo;
    for (int k = 0; k < 60; k++) {
        lambda = 0.5 * (lo + hi);
        if (talus_slide_at(slide, lambda, t, &n, &slope) < 0.0)
            break;
        if (slope < 0.0)
            lo = lambda;
        else
            hi = lambda;
    }
    return lambda;
}

/* A root where f is not negative at lo; a minimum that is 0 but for rounding counts as one. */
TALUS_INLINE bool talus_slide_search(TalusSlide *slide, double lo, double hi, double *root)
{
    double t[2], n, falling = 0.0, slope = 0.0;
    double step = lo > 0.0 ? sqrt(sqrt(sqrt(sqrt(sqrt(sqrt(hi / lo)))))) : 0.0;
    for (double lambda = lo; step > 1.0 && lambda < hi * step; lambda *= step) {
        double f = talus_slide_at(slide, lambda, t, &n, &slope), low = lambda;
        if (falling > 0.0 && slope > 0.0 && f >= 0.0) {
            low = talus_slide_lowest(slide, falling, lambda);
            f = talus_slide_at(slide, low, t, &n, NULL);
        }
        *root = f < 0.0 ? talus_slide_root(slide, low, hi) : low;
        if (f < 1e-13)
            return true;
        falling = slope < 0.0 ? lambda : 0.0;
    }
    return false;
}

/* The sliding contact, f(lo) being known; false where there is no root. */
TALUS_INLINE bool talus_one_sliding(const TalusOne *one, const double b[3], TalusSlide *slide,
                                    double lo, double f, double gamma[3])
{
    double c = sqrt(slide->c[0] * slide->c[0] + slide->c[1] * slide->c[1]), root, t[2];
    double r = sqrt(slide->r[0] * slide->r[0] + slide->r[1] * slide->r[1]);
    double n = slide->n0,
           hi = 4.0 * (c / n * (1.0 / slide->mu + r)); /* f > 0: |t| <= |c| / lambda */
    if (f < 0.0)
        root = talus_slide_root(slide, lo, fmax(hi, 2.0 * lo));
    else if (!talus_slide_search(slide, lo, hi, &root))
        return false;
    talus_slide_at(slide, root, t, &n, NULL);
    gamma[0] = n;
    gamma[1] = t[0];
    gamma[2] = t[1];
    talus_slide_polish(one, b, gamma);
    talus_slide_touch(one, gamma);
    return true;
}

/* As talus_one_coulomb where b_n < 0 and mu > 0. With a singular A what sticks may leave a velocity; if
 * it is more than rounding, sliding is tried first. */
TALUS_INLINE void talus_one_bearing(const TalusOne *one, const double b[3], double gamma[3])
{
    TalusSlide slide = talus_slide(one, b);
    double size = one->a[1][1] + one->a[2][2], lo = talus_raise2(slide.s, size), n = slide.n0;
    double c2 = slide.c[0] * slide.c[0] + slide.c[1] * slide.c[1], t[2] = {0.0, 0.0}, f = 0.0;
    if (c2 > 0.0) /* without size nothing resists along the tangents */
        f = size > 0.0 ? talus_slide_at(&slide, lo, t, &n, NULL) : -1.0;
    double left2 = lo * lo * (t[0] * t[0] + t[1] * t[1]);
    bool sticks = f >= 0.0 && left2 <= 1e-24 * c2;
    if (!sticks && talus_one_sliding(one, b, &slide, lo, f, gamma))
        return;
    sticks = sticks || left2 <= 1e-12 * c2;
    gamma[0] = sticks ? n : slide.n0;
    gamma[1] = sticks ? t[0] : 0.0;
    gamma[2] = sticks ? t[1] : 0.0;
}

TALUS_INLINE void talus_one_coulomb(const TalusOne *one, const double b[3], double gamma[3])
{
    if (b[0] >= 0.0)
        gamma[0] = gamma[1] = gamma[2] = 0.0;
    else
        talus_one_bearing(one, b, gamma);
}

#endif
