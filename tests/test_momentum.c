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

/* L is raised to 0.8 of an observed curvature at least (talus_momentum_update). */
TEST(steps_are_stable_from_three_quarters_of_the_norm_on)
{
    for (int i = 0; i < LAGS; i++)
        for (double beta = 0.0; beta < 0.96; beta += 0.05) {
            TalusMomentum m = {.norm = 0.76, .lag = lags[i]};
            CHECK(follow_error(&m, beta, 1.0, 4000) < 1e-6);
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

/* ---- the bound on theta ---- */

static const TalusStepSums downhill = {.restart = -1.0};

/* One step with this residual; returns beta. */
static double step_with_residual(TalusMomentum *m, const TalusStepSums *sums, double residual)
{
    double beta = -1.0;
    talus_momentum_update(m, sums, true, DBL_EPSILON, &beta);
    talus_momentum_adapt_bound(m, residual * residual, &beta);
    return beta;
}

TEST(a_rise_of_the_residual_lowers_the_bound)
{
    TalusMomentum m = {.norm = 4.0, .margin = 1.02, .theta = 9.0, .max_theta = 10.0};
    CHECK(step_with_residual(&m, &downhill, 1.0) > 0.5);
    CHECK(step_with_residual(&m, &downhill, 1.2) > 0.5); /* less than a rise by 1.3 */
    CHECK(m.max_theta == 10.0 && m.theta > 9.0);
    CHECK(step_with_residual(&m, &downhill, 1.4) == 0.0);
    CHECK_NEAR(m.max_theta, 8.5, 1e-15);
    CHECK(m.theta == 1.0);
    for (int i = 0; i < 20; i++) {
        step_with_residual(&m, &downhill, 2.0);
        step_with_residual(&m, &downhill, 4.0);
    }
    CHECK(m.max_theta == 3.0);
}

TEST(calm_iterations_raise_the_bound)
{
    TalusMomentum m = {.norm = 4.0, .margin = 1.02, .theta = 1.0, .max_theta = 10.0};
    for (int i = 0; i < 69; i++)
        step_with_residual(&m, &downhill, 1.0);
    CHECK(m.max_theta == 10.0);
    step_with_residual(&m, &downhill, 1.0);
    CHECK_NEAR(m.max_theta, 11.0, 1e-14);
    for (int i = 0; i < 5000; i++)
        step_with_residual(&m, &downhill, 1.0);
    CHECK(m.max_theta == 1e4);
}

/* A residual that rose while L was too small says nothing about momentum. */
TEST(a_raised_norm_forgets_the_least_residual)
{
    TalusMomentum m = {.norm = 1.0, .margin = 1.02, .theta = 9.0, .max_theta = 10.0};
    const TalusStepSums steep = {.restart = -1.0, .dx2 = 1.0, .dg2 = 4.0, .x2 = 1.0};
    step_with_residual(&m, &downhill, 1.0);
    CHECK(step_with_residual(&m, &steep, 5.0) == 0.0); /* momentum is dropped */
    CHECK_NEAR(m.norm, 1.6, 1e-14);
    CHECK(m.max_theta == 10.0);
    step_with_residual(&m, &downhill, 6.0); /* below 1.3 times 5 */
    CHECK(m.max_theta == 10.0);
}

TEST(a_norm_is_raised_no_further_than_needed)
{
    const double ratio[] = {1.05, 1.3, 2.0}, raised[] = {1.02 * 1.05, 1.1, 1.6};
    for (int i = 0; i < 3; i++) {
        TalusMomentum m = {.norm = 5.0, .margin = 1.02, .theta = 9.0};
        TalusStepSums sums = {.restart = -1.0, .dx2 = 1.0, .x2 = 1.0};
        double beta = 0.5;
        sums.dg2 = (5.0 * ratio[i]) * (5.0 * ratio[i]);
        talus_momentum_update(&m, &sums, true, DBL_EPSILON, &beta);
        CHECK_NEAR(m.norm, 5.0 * raised[i], 1e-13);
        CHECK(beta == 0.0 && m.theta == 1.0);
    }
}

TEST(without_a_bound_there_is_none)
{
    TalusMomentum m = {.norm = 4.0, .margin = 1.02, .theta = 1.0};
    for (int i = 0; i < 500; i++)
        step_with_residual(&m, &downhill, 1.0 + i);
    CHECK(m.max_theta == 0.0 && m.theta > 200.0);
}

int main(void)
{
    RUN(without_lag_a_step_is_one_over_the_norm);
    RUN(steps_are_stable_for_any_momentum);
    RUN(steps_are_stable_from_three_quarters_of_the_norm_on);
    RUN(lag_speeds_up_small_curvatures);
    RUN(a_rise_of_the_residual_lowers_the_bound);
    RUN(calm_iterations_raise_the_bound);
    RUN(a_raised_norm_forgets_the_least_residual);
    RUN(a_norm_is_raised_no_further_than_needed);
    RUN(without_a_bound_there_is_none);
    return talus_test_result();
}
