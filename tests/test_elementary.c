/* Exponential and logarithm against those of libm. */
#include "base/elementary.h"

#include "support/test.h"

#include <math.h>

/* Largest relative error of a function over `count` arguments from lo on, `step` apart. */
static double worst(double (*f)(double), double (*exact)(double), double lo, double step, int count)
{
    double error = 0.0;
    for (int i = 0; i < count; i++) {
        double x = lo + i * step, y = exact(x);
        error = fmax(error, fabs(f(x) - y) / fmax(fabs(y), 1e-300));
    }
    return error;
}

TEST(exponential)
{
    CHECK(worst(talus_exp, exp, -707.9, 0.0137, 103000) < 1e-15);
    CHECK(worst(talus_exp, exp, -1e-3, 1e-7, 20000) < 1e-15);
    CHECK(talus_exp(0.0) == 1.0 && talus_exp(-800.0) == 0.0 && isinf(talus_exp(800.0)));
    CHECK(isnan(talus_exp(NAN)) && talus_exp(-INFINITY) == 0.0 && isinf(talus_exp(INFINITY)));
}

TEST(logarithm)
{
    CHECK(worst(talus_ln, log, 1e-5, 1.37e-5, 100000) < 1e-15);
    CHECK(worst(talus_ln, log, 1.0 + 1e-9, 1e-6, 100000) < 1e-15);
    CHECK(worst(talus_ln, log, 1e100, 1e97, 1000) < 1e-15);
    CHECK(talus_ln(1.0) == 0.0);
    CHECK_NEAR(talus_ln(1e-310), log(1e-310), 1e-12); /* a denormal number */
}

TEST(one_undoes_the_other)
{
    double error = 0.0;
    for (int i = 1; i < 10000; i++)
        error = fmax(error, fabs(talus_exp(talus_ln(0.01 * i)) / (0.01 * i) - 1.0));
    CHECK(error < 3e-15);
}

int main(void)
{
    RUN(exponential);
    RUN(logarithm);
    RUN(one_undoes_the_other);
    return talus_test_result();
}
