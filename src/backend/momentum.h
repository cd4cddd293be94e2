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
 * L is too small if two gradients differ by more than L times the distance of their points; the largest such ratio is
 * the norm. Steps are stable if L is above three quarters of the norm, and a larger L slows this solve and those to
 * come. So L is raised to `margin` times the observed ratio, but by no more than a tenth unless 0.8 times the ratio is
 * more. The test skips points whose distance is of the order of rounding: the rounding error of a product is about
 * `unit` L |x|.
 * Momentum is dropped (theta 1, beta 0) if L was too small or, with `restart`, if the momentum points uphill.
 *
 * Under Coulomb's law theta needs a bound, because De Saxce's shift adds an unsymmetric part to the iterated map, larger
 * for larger mu: if that part is large against the symmetric one, momentum drives the iteration into cycles. The bound
 * follows the residual: a rise of the residual lowers it, calm iterations raise it. */
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
    m->done++;
    m->calm++;
    const double apart = 128.0 * unit; /* beyond it rounding is below 1 % of the difference */
    const double raise = 1.1, stable = 0.8;
    bool too_small =
        seen && sums->dg2 > m->norm * m->norm * sums->dx2 && sums->dx2 > apart * apart * sums->x2;
    if (too_small) {
        const double ratio = sqrt(sums->dg2 / sums->dx2);
        m->norm = fmin(m->margin * ratio, fmax(raise * m->norm, stable * ratio));
        m->least2 = 0.0; /* steps that were too long may have raised the residual */
    }
    if (too_small || (m->restart && sums->restart > 0.0)) {
        m->theta = 1.0;
        *beta = 0.0;
        return;
    }
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * m->theta * m->theta));
    *beta = (m->theta - 1.0) / next;
    m->theta = m->max_theta > 0.0 && next > m->max_theta ? m->max_theta : next;
}

/* Adapts the bound on theta, if there is one, to the residual of an iterate; residual2: sum of its squares. A residual
 * beyond 1.3 times the minimum, since the bound was last lowered or L raised, lowers the bound by the factor 0.85 and
 * drops the momentum (theta and *beta). After 70 iterations without such a rise the bound is raised by the factor 1.1;
 * in a solve of more than 300 iterations after 50, by 1.2. The bound stays between 3 and 1e4 unless it starts outside. */
TALUS_INLINE void talus_momentum_adapt_bound(TalusMomentum *m, double residual2, double *beta)
{
    const double rise2 = 1.3 * 1.3, lowered = 0.85, min_theta = 3.0, max_theta = 1e4;
    if (!(m->max_theta > 0.0))
        return;
    if (m->least2 == 0.0 || residual2 < m->least2)
        m->least2 = residual2;
    const bool is_long = m->done > 300;
    if (residual2 > rise2 * m->least2) {
        m->least2 = residual2;
        m->calm = 0;
        m->max_theta = fmax(lowered * m->max_theta, fmin(min_theta, m->max_theta));
        m->theta = 1.0;
        *beta = 0.0;
    } else if (m->calm >= (is_long ? 50 : 70)) {
        m->calm = 0;
        m->max_theta = fmin((is_long ? 1.2 : 1.1) * m->max_theta, fmax(max_theta, m->max_theta));
    }
}

#endif
