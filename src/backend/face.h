/* backend/face.h - step lengths of conjugate gradients on a face, the part of the set on which the active blocks do not
 * change, and of spectral steps; for host and device. N stands for the solver's operator, S (N + E) S in a metric. */
#ifndef TALUS_BACKEND_FACE_H
#define TALUS_BACKEND_FACE_H

#include <talus/math.h>

#include <math.h>

/* Number of updates g += a N p after which g is recomputed from x, against accumulated rounding. */
enum { TALUS_FACE_REFRESH = 100 };

/* Factor on the length of a step that ends on the boundary of the set. It makes the block that reaches the boundary end
 * slightly outside: a rounding error inside, the block would count as free and move along its gradient. The projection
 * after the step removes the excess. */
#define TALUS_FACE_OVERSHOOT (1.0 + 1e-13)

/* Raises *norm, the estimated norm of N, to 1.02 times dnd / dd = d'N d / d'd, the curvature along a direction d, if
 * the curvature is above *norm: an estimate by power iteration may be too small. */
TALUS_INLINE void talus_face_raise_norm(double *norm, double dnd, double dd)
{
    const double margin = 1.02;
    if (dnd > *norm * dd && dnd < HUGE_VAL && dd > 0.0)
        *norm = margin * (dnd / dd);
}

/* Returns the a >= 0 that minimises the objective at x + a sign p (sign 1 or -1), from curved = p'N p, pg = p'g and pp
 * = p'p; 0 if the objective does not decrease in that direction. Writes p'N p to *pnp. If the curvature p'N p / p'p is
 * not above `flat` times *norm, writes 0 to *pnp and computes the step with the curvature `flat` times *norm. May
 * raise *norm. */
TALUS_INLINE double talus_face_step_length(double *norm, double *pnp, double curved, double pg,
                                           double pp, double sign)
{
    const double flat = 1e-8;
    talus_face_raise_norm(norm, curved, pp);
    double least = flat * *norm * pp;
    *pnp = curved > least ? curved : 0.0;
    return -sign * pg > 0.0 ? -sign * pg / (*pnp > 0.0 ? *pnp : least) : 0.0;
}

/* Spectral steps, x - a d with d = x - P(x - l g): projected gradients of the length l of Barzilai and Borwein. a = 1
 * makes them fast, and the objective may rise in some: it stays at or below the largest of the last
 * TALUS_SPECTRAL_MEMORY, the rule of Grippo, Lampariello and Lucidi without a sufficient decrease. */
enum { TALUS_SPECTRAL_MEMORY = 10 };

/* A series of spectral steps. */
typedef struct TalusSpectral {
    double length; /* l of the next step; 0: there is no series */
    int count;     /* points so far */
    /* Of the last points, less that at the start of the series; point k at k % TALUS_SPECTRAL_MEMORY. */
    double objective[TALUS_SPECTRAL_MEMORY];
} TalusSpectral;

/* Sets the length for the next step from the curvature dnd / dd = d'N d / d'd along the last one; dnd = 0: flat. */
TALUS_INLINE void talus_spectral_set_length(TalusSpectral *s, double norm, double dnd, double dd)
{
    s->length = dnd > 0.0 ? dd / dnd : 1.0 / norm;
}

/* Begins a series at a point, after a step along a direction d. */
TALUS_INLINE void talus_spectral_begin(TalusSpectral *s, double norm, double dnd, double dd)
{
    talus_spectral_set_length(s, norm, dnd, dd);
    s->objective[0] = 0.0;
    s->count = 1;
}

/* Returns the step a of x - a d, at most 1, given the step `best` > 0 that minimises the objective and d'N d: 1 if the
 * objective is then not above the largest of the last points, else `best`. Records the objective after it. */
TALUS_INLINE double talus_spectral_choose_step(TalusSpectral *s, double best, double dnd)
{
    const double now = s->objective[(s->count - 1) % TALUS_SPECTRAL_MEMORY];
    double most = now, a = 1.0;
    for (int k = 0; k < s->count && k < TALUS_SPECTRAL_MEMORY; k++)
        most = talus_max(most, s->objective[k]);
    /* the objective changes by a (a / 2 - best) d'N d */
    if (!(now + (0.5 - best) * dnd <= most))
        a = best; /* below 1/2, as the objective would rise */
    s->objective[s->count % TALUS_SPECTRAL_MEMORY] = now + a * (0.5 * a - best) * dnd;
    s->count++;
    return a;
}

/* Returns the decrease of the objective in a step s from x to x - s, from s'N s and the product of s with the gradient
 * after the step. */
TALUS_INLINE double talus_face_decrease(double sns, double sg)
{
    return 0.5 * sns + sg;
}

#endif
