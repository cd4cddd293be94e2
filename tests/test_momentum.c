/* Momentum and step length of the accelerated method (backend/momentum.h), on one component of the error of a quadratic:
 * curvature c, error e, gradient c e. */

#include "support/test.h"

#include "backend/momentum.h"

static const double lags[] = {0.0, 0.3, 0.6, 0.7};

enum { LAGS = sizeof lags / sizeof *lags };

/* Returns |e| after `steps` steps from e = 1 with constant beta, or the number of steps until |e| < 1e-3 if steps < 0. */
static double follow_error(const TalusMomentum *m, double beta, double curvature, int steps)
{
    double step = talus_momentum_step(m, beta), ahead = talus_momentum_ahead(beta, m->lag);
    double e = 1.0, e_prev = 1.0;
    int count = 0;
    for (; steps < 0 ? fabs(e) >= 1e-3 || fabs(e_prev) >= 1e-3 : count < steps; count++) {
        double de = e - e_prev;
        e_prev = e;
        e += beta * de - step * curvature * (e + ahead * de);
    }
    return steps < 0 ? count : fabs(e);
}

/* Bit for bit: hashes of runs under ccp depend on it. */
TEST(without_lag_a_step_is_one_over_the_norm)
{
    const double norms[] = {0.1, 1.0, 2.9543, 3.0457, 17.3};
    for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
        TalusMomentum m = {.norm = norms[i]};
        CHECK(talus_momentum_step(&m, 0.9) == 1.0 / norms[i]);
    }
    CHECK(talus_momentum_ahead(0.9265, 0.0) == 0.9265);
}

TEST(steps_are_stable_for_any_momentum)
{
    for (int i = 0; i < LAGS; i++)
        for (double beta = 0.0; beta < 0.96; beta += 0.05)
            for (double curvature = 0.1; curvature <= 3.01; curvature += 0.1) {
                TalusMomentum m = {.norm = 3.0, .lag = lags[i]};
                CHECK(follow_error(&m, beta, curvature, 2000) < 1e-6);
            }
}

/* Small curvatures take most of the iterations of a solve; beta is the bound of theta 15. */
TEST(lag_speeds_up_small_curvatures)
{
    for (double curvature = 3e-4; curvature < 3e-3; curvature *= 2.0)
        for (int i = 1; i < LAGS; i++) {
            TalusMomentum less = {.norm = 3.0, .lag = lags[i - 1]};
            TalusMomentum more = {.norm = 3.0, .lag = lags[i]};
            double ratio = (3.0 - 1.8 * lags[i]) / (3.0 - 1.8 * lags[i - 1]);
            CHECK_NEAR(follow_error(&more, 0.9, curvature, -1) /
                           follow_error(&less, 0.9, curvature, -1),
                       ratio, 0.1 * ratio);
        }
}

int main(void)
{
    RUN(without_lag_a_step_is_one_over_the_norm);
    RUN(steps_are_stable_for_any_momentum);
    RUN(lag_speeds_up_small_curvatures);
    return talus_test_result();
}
