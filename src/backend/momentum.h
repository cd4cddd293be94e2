/* backend/momentum.h - momentum and step length of the accelerated method, updated after a step; for host and device.
 *
 * Nesterov's weights: theta' = (1 + sqrt(1 + 4 theta^2)) / 2, beta = (theta - 1) / theta'. `max_theta` bounds theta
 * and so beta, at about 1 - 1.5 / max_theta. A step of length 1 / L is too long if two gradients differ by more than L
 * times the distance of their points; L is then raised to `margin` times the observed ratio. The test skips points
 * whose distance is of the order of rounding: the rounding error of a product is about `unit` L |x|. Momentum is
 * dropped (theta 1, beta 0) if the step was too long or, with m->restart, if the momentum increases the objective. */
#ifndef TALUS_BACKEND_MOMENTUM_H
#define TALUS_BACKEND_MOMENTUM_H

#include "backend/backend.h"

#include <float.h>

/* Updates *m (L, theta) from the sums of a step and writes *beta, the momentum factor of the next step. `seen`: dx2,
 * dg2 and x2 of *sums are valid, so that the step length is tested. `unit`: relative rounding error of the arithmetic
 * that computed the sums. */
TALUS_INLINE void talus_momentum_update(TalusMomentum *m, const TalusStepSums *sums, bool seen,
                                        double unit, double *beta)
{
    const double apart = 128.0 * unit; /* rounding is then below 1 % of the difference */
    bool too_long =
        seen && sums->dg2 > m->norm * m->norm * sums->dx2 && sums->dx2 > apart * apart * sums->x2;
    if (too_long)
        m->norm = m->margin * sqrt(sums->dg2 / sums->dx2);
    if (too_long || (m->restart && sums->restart > 0.0)) {
        m->theta = 1.0;
        *beta = 0.0;
        return;
    }
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * m->theta * m->theta));
    *beta = (m->theta - 1.0) / next;
    m->theta = m->max_theta > 0.0 && next > m->max_theta ? m->max_theta : next;
}

#endif
