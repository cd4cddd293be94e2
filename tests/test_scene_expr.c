/* Expressions: values, refusals with their place, and the cube root. */
#include "io/text/expr.h"

#include "base/rng.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

static const char *const names[] = {"radius", "bodies", "h"};
static const double values[] = {0.1, 27.0, 0.01};
static const TalusExprScope scope = {names, values, 3, 0};

static double value_of(const char *text)
{
    TalusExprError error = {0};
    double value;
    return talus_expr_eval(text, &scope, &value, &error) ? value : (double)NAN;
}

TEST(arithmetic)
{
    CHECK(value_of("1 + 2*3") == 7.0);
    CHECK(value_of("(1 + 2)*3") == 9.0);
    CHECK(value_of("2*radius*cbrt(bodies)") == 2.0 * 0.1 * 3.0);
    CHECK(value_of("10 - 4 - 3") == 3.0);
    CHECK(value_of("16/4/2") == 2.0);
    CHECK(value_of("-2^2") == -4.0);
    CHECK(value_of("2^3^2") == 512.0);
    CHECK(value_of("2^-2") == 0.25);
    CHECK(value_of("--3") == 3.0);
    CHECK(value_of("2*-3") == -6.0);
    CHECK(value_of("  1.5e2 ") == 150.0);
    CHECK(value_of("pi") == 3.14159265358979323846);
}

TEST(functions)
{
    CHECK(value_of("sqrt(16)") == 4.0);
    CHECK(value_of("min(3, 1, 2)") == 1.0);
    CHECK(value_of("max(3, 1, bodies)") == 27.0);
    CHECK(value_of("ceil(1.2) + floor(1.8)") == 3.0);
    CHECK(value_of("round(2.5) + round(-0.4)") == 3.0);
    CHECK(value_of("abs(-3)") == 3.0);
}

TEST(refusals)
{
    static const struct {
        const char *text;
        int offset;
        const char *message;
    } cases[] = {
        {"", 0, "the expression ends, expected a number, a name or '('"},
        {"1 +", 3, "the expression ends, expected a number, a name or '('"},
        {"1 + .5", 4, "found '.' in the expression, expected a number, a name or '('"},
        {"1 2", 2, "found '2' in the expression, expected an operator or the end"},
        {"(1", 2, "the expression ends, expected ')'"},
        {"1)", 1, "found ')' in the expression, expected an operator or the end"},
        {"raduis", 0, "no parameter 'raduis'; did you mean 'radius'?"},
        {"2*unheard_of", 2, "no parameter 'unheard_of' is known here"},
        {"sin(1)", 0, "no function 'sin'; did you mean 'min'?"},
        {"max(1)", 5, "found ')' in the expression, expected ',' and a second argument"},
        {"sqrt(1, 2)", 6, "found ',' in the expression, expected ')'"},
        {"1/0", 1, "division by zero"},
        {"1/(h - h)", 1, "division by zero"},
        {"sqrt(-1)", 0, "the square root of -1 is not real"},
        {"2^0.5", 1, "the exponent 0.5 is not a whole number up to 1000"},
        {"10^200*10^200", 0, "the value of the expression is not finite"},
        {"1\xC3\xA9", 1, "found byte 0xc3 in the expression, expected an operator or the end"},
        {"1 + a23456789b123456789c123456789d123456789e123456789f123456789g1234", 4,
         "the name 'a23456789b123456789c...' is longer than 63 characters"},
        {"1e5x", 3, "found 'x' in the expression, expected an operator or the end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TalusExprError error = {0};
        double value;
        CHECK(!talus_expr_eval(cases[i].text, &scope, &value, &error));
        CHECK_STR(error.message, cases[i].message);
        CHECK_INT(error.offset, cases[i].offset);
    }
}

TEST(depth_is_bounded)
{
    char text[10001];
    memset(text, '(', 10000);
    text[10000] = '\0';
    CHECK(isnan(value_of(text)));
    memset(text, '-', 10000);
    CHECK(isnan(value_of(text)));
}

TEST(cube_roots)
{
    for (int n = -1000; n <= 1000; n++)
        CHECK(talus_cbrt((double)n * n * n) == n);
    TalusRng rng = talus_rng_from_seed(3);
    for (int i = 0; i < 10000; i++) {
        double x = ldexp(talus_rng_uniform(&rng) + 0.5, (int)talus_rng_below(&rng, 2000) - 1000);
        CHECK_NEAR(talus_cbrt(x) / cbrt(x), 1.0, 1e-15);
    }
    CHECK(talus_cbrt(0.0) == 0.0);
}

TEST(names_of_parameters)
{
    CHECK(talus_expr_is_name("half_width2"));
    CHECK(talus_expr_is_name("a23456789b123456789c123456789d123456789e123456789f123456789g123"));
    CHECK(!talus_expr_is_name("a23456789b123456789c123456789d123456789e123456789f123456789g1234"));
    CHECK(!talus_expr_is_name("2x") && !talus_expr_is_name("") && !talus_expr_is_name("a-b"));
}

int main(void)
{
    RUN(arithmetic);
    RUN(functions);
    RUN(refusals);
    RUN(depth_is_bounded);
    RUN(cube_roots);
    RUN(names_of_parameters);
    return talus_test_result();
}
