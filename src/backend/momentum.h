/* backend/momentum.h - momentum and step length of the accelerated method, updated after a step; for host and device.
 *
 * Nesterov's weights: theta' = (1 + sqrt(1 + 4 theta^2)) / 2, beta = (theta - 1) / theta'. `max_theta` bounds theta
 * and so beta, at about 1 - 1.5 / max_theta.
 *
 * A step starts from y = x + beta (x - x_prev) and follows the gradient at x + ahead (x - x_prev), ahead = (1 - lag)
 * beta. With lag 0 this is Nesterov's method, with lag 1 Polyak's heavy ball; the triple momentum method of Van Scoy,
 * Freeman and Lynch (2018) tends to lag 1/2 for large condition numbers. On a quadratic without bounds the steps are
 * stable if step L < 2 (1 + beta) / (1 + 2 ahead); at beta 1 this is 4 / (3 - 2 lag). A step is 3 / (3 - 2 lag beta) / L
 * long: 1 / L without momentum or lag, which solves contacts that do not influence each other, and three quarters of the
 * bound at beta 1. Errors of small curvature, which take most of the iterations, fall faster by longer steps.
 *
 * L is too small if two gradients differ by more than L times the distance of their points; L is then raised to
 * `margin` times the observed ratio. The
 * test skips points whose distance is of the order of rounding: the rounding error of a product is about `unit` L |x|.
 * Momentum is dropped (theta 1, beta 0) if L was too small or, with `restart`, if the momentum points uphill. */
#ifndef TALUS_BACKEND_MOMENTUM_H
#define TALUS_BACKEND_MOMENTUM_H

#include "backend/backend.h"

#include <float.h>

/* Returns the factor of g - g_prev in the gradient of a step whose momentum factor is `beta`. */
TALUS_INLINE double talus_momentum_ahead(double beta, double lag)
{
    return (1.0 - lag) * beta;
}

/* Returns the length of a step with the momentum factor `beta`. Steps are stable for any beta in [0, 1]. */
TALUS_INLINE double talus_momentum_step(const TalusMomentum *m, double beta)
{
    return 1.0 / ((1.0 - 2.0 / 3.0 * m->lag * beta) * m->norm);
}

/* Updates *m (L, theta) from the sums of a step and writes *beta, the momentum factor of the next step. `seen`: dx2,
 * dg2 and x2 of *sums are valid, so that L is tested. `unit`: relative rounding error of the arithmetic that computed
 * the sums. */
TALUS_INLINE void talus_momentum_update(TalusMomentum *m, const TalusStepSums *sums, bool seen,
                                        double unit, double *beta)
{
    const double apart = 128.0 * unit; /* beyond it rounding is below 1 % of the difference */
    bool too_small =
        seen && sums->dg2 > m->norm * m->norm * sums->dx2 && sums->dx2 > apart * apart * sums->x2;
    if (too_small)
        m->norm = m->margin * sqrt(sums->dg2 / sums->dx2);
    if (too_small || (m->restart && sums->restart > 0.0)) {
        m->theta = 1.0;
        *beta = 0.0;
        return;
    }
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * m->theta * m->theta));
    *beta = (m->theta - 1.0) / next;
    m->theta = m->max_theta > 0.0 && next > m->max_theta ? m->max_theta : next;
}

#endif
