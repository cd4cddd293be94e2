/* Projections onto the admissible sets: the properties that define them, on random points and on
 * the corners where floating point goes wrong. */

#include "support/test.h"

#include "base/rng.h"
#include "sets/cone.h"

#include <math.h>
#include <string.h>
#include <talus/set.h>

/* Squares of numbers below this are lost or rounded coarsely; nothing physical is that small. */
static const double TINY = 1e-150;

enum { RANDOM_POINTS = 100000 };

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double distance(const double *a, const double *b)
{
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(dot(d, d));
}

static void project(double mu, const double *z, double *p)
{
    memcpy(p, z, 3 * sizeof *p);
    talus_set_project(TALUS_SET_CONE, mu, p);
}

static bool in_cone(double mu, const double *x)
{
    return x[0] >= 0.0 && hypot(x[1], x[2]) <= mu * x[0] * (1.0 + 1e-15 * 8.0) + TINY;
}

/* The dual cone, n >= mu |t|, with room for the rounding of a vector of length `size`. */
static bool in_dual(double mu, const double *x, double size)
{
    return x[0] + 1e-15 * 8.0 * (1.0 + mu) * size + TINY >= mu * hypot(x[1], x[2]);
}

/* P z is in K, P P z = P z, z - P z is orthogonal to P z and lies in the polar cone (Moreau). */
static bool check_point(double mu, const double *z)
{
    double p[3], again[3], rest[3];
    double size = sqrt(dot(z, z)), slack = 1e-15 * 8.0 * size + TINY;
    project(mu, z, p);
    project(mu, p, again);
    for (int k = 0; k < 3; k++)
        rest[k] = p[k] - z[k];
    bool ok = CHECK(in_cone(mu, p));
    ok &= CHECK_NEAR(distance(p, again), 0.0, 1e-15 * 4.0 * size + TINY);
    ok &= CHECK_NEAR(dot(rest, p), 0.0, slack * size + TINY * TINY);
    ok &= CHECK(in_dual(mu, rest, size));
    return ok;
}

/* |P x - P y| <= |x - y|, and no point of K is nearer to x than P x: (x - P x)'(P y - P x) <= 0. */
static bool check_pair(double mu, const double *x, const double *y)
{
    double px[3], py[3], rest[3], along[3];
    project(mu, x, px);
    project(mu, y, py);
    double size = sqrt(dot(x, x)) + sqrt(dot(y, y)), slack = 1e-15 * 16.0 * size + TINY;
    for (int k = 0; k < 3; k++) {
        rest[k] = x[k] - px[k];
        along[k] = py[k] - px[k];
    }
    bool ok = CHECK(distance(px, py) <= distance(x, y) + slack);
    ok &= CHECK(dot(rest, along) <= slack * (1.0 + mu) * size + TINY * TINY);
    return ok;
}

static double friction_of(TalusRng *rng)
{
    const double special[] = {0.0, 1e-6, 0.3, 1.0, 1e6};
    uint64_t pick = talus_rng_below(rng, 8);
    return pick < 5 ? special[pick] : 2.0 * talus_rng_uniform(rng);
}

static void random_point(TalusRng *rng, double *z)
{
    for (int k = 0; k < 3; k++)
        z[k] = (2.0 * talus_rng_uniform(rng) - 1.0) * pow(10.0, 6.0 * talus_rng_uniform(rng) - 3.0);
}

TEST(cone_projection_has_its_properties)
{
    TalusRng rng = talus_rng(1);
    bool ok = true;
    for (int i = 0; i < RANDOM_POINTS && ok; i++) {
        double mu = friction_of(&rng), x[3], y[3];
        random_point(&rng, x);
        random_point(&rng, y);
        ok = check_point(mu, x) && check_pair(mu, x, y);
    }
}

TEST(cone_projection_survives_the_corners)
{
    const double values[] = {0.0,     -0.0, 5e-324, -5e-324, 1e-310, -1e-310, 1e-160,
                             -1e-160, 1e-5, -1e-5,  1.0,     -1.0,   1e100,   -1e100};
    const double frictions[] = {0.0, 5e-324, 1e-200, 1e-6, 0.3, 1.0, 1e6};
    enum { VALUES = sizeof values / sizeof *values };
    bool ok = true;
    for (int m = 0; m < 7; m++)
        for (int i = 0; i < VALUES * VALUES * VALUES && ok; i++) {
            double z[3] = {values[i % VALUES], values[i / VALUES % VALUES],
                           values[i / VALUES / VALUES]};
            double p[3];
            project(frictions[m], z, p);
            ok = CHECK(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]));
            ok &= CHECK(p[0] >= 0.0);
            ok &= check_point(frictions[m], z);
        }
}

/* Without friction a contact pushes and never pulls, also where the tangent is exactly zero. */
TEST(no_friction_leaves_the_half_line)
{
    double z[][3] = {{-1.0, 0.0, 0.0}, {-1.0, 0.5, 0.0}, {2.0, 0.5, -3.0}, {0.0, 1.0, 0.0}};
    const double expected[] = {0.0, 0.0, 2.0, 0.0};
    for (int i = 0; i < 4; i++) {
        talus_set_project(TALUS_SET_CONE, 0.0, z[i]);
        CHECK_NEAR(z[i][0], expected[i], 0.0);
        CHECK(z[i][1] == 0.0 && z[i][2] == 0.0);
    }
}

TEST(nan_is_not_swallowed)
{
    double n[] = {NAN}, z[][3] = {{NAN, 0.0, 0.0}, {NAN, 1.0, 0.0}, {1.0, NAN, 0.0}};
    talus_set_project(TALUS_SET_NONNEG, 0.0, n);
    CHECK(isnan(n[0]));
    for (int i = 0; i < 3; i++) {
        talus_set_project(TALUS_SET_CONE, 0.3, z[i]);
        CHECK(isnan(z[i][0] + z[i][1] + z[i][2]));
    }
}

/* Smallest b_n (n - z_n)^2 + b_t (t - |z_t|)^2 over 0 <= t <= mu n by search: for a given n the best t
 * is known, and what is left is convex in n. */
static double nearest_by_search(double mu, double bn, double bt, double zn, double zt)
{
    double low = 0.0, high = fabs(zn) + zt * (1.0 + bt / bn) + 1.0, best = 0.0;
    for (int i = 0; i < 200; i++) {
        double third[2] = {low + (high - low) / 3.0, high - (high - low) / 3.0}, f[2];
        for (int k = 0; k < 2; k++) {
            double t = fmin(mu * third[k], zt);
            f[k] = bn * pow(third[k] - zn, 2) + bt * pow(t - zt, 2);
        }
        if (f[0] < f[1])
            high = third[1];
        else
            low = third[0];
        best = fmin(f[0], f[1]);
    }
    return best;
}

TEST(metric_projection_is_the_nearest_point_in_its_metric)
{
    TalusRng rng = talus_rng(2);
    bool ok = true;
    for (int i = 0; i < 5000 && ok; i++) {
        double mu = 1.5 * talus_rng_uniform(&rng), z[3], p[3];
        double bn = 0.2 + talus_rng_uniform(&rng), bt = 0.2 + 4.0 * talus_rng_uniform(&rng);
        for (int k = 0; k < 3; k++)
            p[k] = z[k] = 2.0 * talus_rng_uniform(&rng) - 1.0;
        talus_project_cone(mu, mu * bt / bn, &p[0], &p[1], &p[2]);
        double t[2] = {p[1] - z[1], p[2] - z[2]};
        double reached = bn * pow(p[0] - z[0], 2) + bt * (t[0] * t[0] + t[1] * t[1]);
        ok = CHECK(in_cone(mu, p));
        ok &= CHECK_NEAR(reached, nearest_by_search(mu, bn, bt, z[0], hypot(z[1], z[2])), 1e-12);
    }
}

TEST(half_line_projection)
{
    const double in[] = {-1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1e300};
    const double out[] = {0.0, 0.0, 0.0, 0.0, 5e-324, 1.0, 1e300};
    for (int i = 0; i < 7; i++) {
        double x = in[i];
        talus_set_project(TALUS_SET_NONNEG, 0.5, &x);
        CHECK(x == out[i] && !signbit(x));
    }
}

TEST(sets_have_names)
{
    CHECK_STR(talus_set_name(TALUS_SET_NONNEG), "nonneg");
    CHECK_STR(talus_set_name(TALUS_SET_CONE), "cone");
    CHECK_INT(talus_set_rows(TALUS_SET_NONNEG), 1);
    CHECK_INT(talus_set_rows(TALUS_SET_CONE), 3);
    for (int i = 0; i < TALUS_SET_KINDS; i++)
        CHECK(*talus_set_summary((TalusSetKind)i));
}

int main(void)
{
    RUN(cone_projection_has_its_properties);
    RUN(cone_projection_survives_the_corners);
    RUN(no_friction_leaves_the_half_line);
    RUN(nan_is_not_swallowed);
    RUN(metric_projection_is_the_nearest_point_in_its_metric);
    RUN(half_line_projection);
    RUN(sets_have_names);
    return talus_test_result();
}
