/* backend/face.h - step lengths of conjugate gradients on a face, the part of the set on which the active blocks do not
 * change; for host and device. N stands for the solver's operator, S (N + E) S in a metric. */
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

#endif
