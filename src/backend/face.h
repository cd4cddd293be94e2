/* backend/face.h - scalars of conjugate gradients on a face (solvers/face/face.c), for host and device. */
#ifndef TALUS_BACKEND_FACE_H
#define TALUS_BACKEND_FACE_H

#include <talus/math.h>

#include <math.h>

/* Number of updates of the gradient after which it is recomputed. */
enum { TALUS_FACE_REFRESH = 100 };

/* Factor on the step to the boundary. The block that reaches the boundary must lie exactly on it: half a digit
 * inside, it would count as free and move by its gradient. The projection afterwards removes the excess. */
#define TALUS_FACE_OVERSHOOT (1.0 + 1e-13)

/* Raises the norm, which power iteration estimates from below, if direction d shows more curvature: d'N d over d'd. */
TALUS_INLINE void talus_face_raise(double *norm, double dnd, double dd)
{
    const double margin = 1.02;
    if (dnd > *norm * dd && dnd < HUGE_VAL && dd > 0.0)
        *norm = margin * (dnd / dd);
}

/* Returns the a >= 0 that minimises the objective along sign p, from curved = p'N p, pg = p'g and pp = p'p; 0 if that
 * direction does not descend. Curvature below `flat` of the norm is replaced by that bound, and *pnp becomes 0. */
TALUS_INLINE double talus_face_length(double *norm, double *pnp, double curved, double pg,
                                      double pp, double sign)
{
    const double flat = 1e-8;
    talus_face_raise(norm, curved, pp);
    double least = flat * *norm * pp;
    *pnp = curved > least ? curved : 0.0;
    return -sign * pg > 0.0 ? -sign * pg / (*pnp > 0.0 ? *pnp : least) : 0.0;
}

#endif
