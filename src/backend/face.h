/* backend/face.h - the scalars of conjugate gradients on a face (solvers/face/face.c), for host and device. */
#ifndef TALUS_BACKEND_FACE_H
#define TALUS_BACKEND_FACE_H

#include <talus/math.h>

#include <math.h>

/* Updates of the gradient after which it is formed afresh. */
enum { TALUS_FACE_REFRESH = 100 };

/* On the way to the boundary: the block that meets it must stand exactly on it, since half a digit inside
 * it would count as free, and move by its gradient. The projection afterwards takes the excess away. */
#define TALUS_FACE_OVERSHOOT (1.0 + 1e-13)

/* Power iteration estimates from below: raises the norm where a direction d shows more curvature,
 * d'N d over d'd. */
TALUS_INLINE void talus_face_raise(double *norm, double dnd, double dd)
{
    const double margin = 1.02;
    if (dnd > *norm * dd && dnd < HUGE_VAL && dd > 0.0)
        *norm = margin * (dnd / dd);
}

/* The a >= 0 of the least objective along sign p, from p'N p, p'g and p'p: 0 where it does not go
 * downhill. A curvature below `flat` of the norm is taken for just that, and *pnp for 0. */
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
