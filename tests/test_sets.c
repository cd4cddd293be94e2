/* The admissible sets: the properties that define projection, tangent cone, feasible step, facets and shift,
 * on a million random points and on the corners where floating point goes wrong. What is a member and what
 * a support function is here said by tables of corners and normals from libm. */

#include "support/test.h"

#include "base/rng.h"
#include "base/turn.h"
#include "sets/set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

/* Squares of numbers below this are lost or rounded coarsely; nothing physical is that small. */
static const double TINY = 1e-150;
/* Rounding of one operation, with room for the dozens of them in a polygon's frame. */
static const double ROUND = 8e-15;

enum { BATCH = 16, POINTS = 800000, MOST_SIDES = 64 };

/* ---- one set, and a second description of it ---- */

typedef struct Case {
    TalusSet set;
    int rows, corners; /* 0 corners: a disc, or nothing */
    double corner[MOST_SIDES][2], normal[MOST_SIDES][2], inner;
    char name[48];
} Case;

static Case make_case(const char *section, bool prism, int rows)
{
    TalusFrictionModel model = {0};
    Case c = {.rows = rows, .inner = 1.0};
    CHECK_OK(talus_section_parse(section, &model));
    model.law = prism ? TALUS_LAW_FIXED : TALUS_LAW_CCP;
    c.set = talus_set_from_model(model, 0.0);
    bool square = model.section == TALUS_SECTION_SQUARE;
    c.corners = square ? 4 : model.sides;
    for (int k = 0; k < c.corners; k++) {
        double at = square ? PI / 4.0 : 0.0, radius = square ? sqrt(2.0) : 1.0;
        double angle = at + 2.0 * PI * k / c.corners, out = angle + PI / c.corners;
        c.corner[k][0] = radius * cos(angle);
        c.corner[k][1] = radius * sin(angle);
        c.normal[k][0] = cos(out);
        c.normal[k][1] = sin(out);
    }
    if (model.section == TALUS_SECTION_POLYGON)
        c.inner = cos(PI / c.corners);
    snprintf(c.name, sizeof c.name, "%s %s, %d rows", section, prism ? "prism" : "cone", rows);
    return c;
}

enum { CASES = 40 };

static int make_cases(Case *cases)
{
    const char *const sections[] = {"disc",       "square",     "polygon:3",
                                    "polygon:4",  "polygon:5",  "polygon:8",
                                    "polygon:16", "polygon:64", "none"};
    int count = 0;
    for (int s = 0; s < 9; s++)
        for (int prism = 0; prism < 2; prism++)
            for (int rows = 3; rows <= 6; rows += 3)
                cases[count++] = make_case(sections[s], prism, rows);
    cases[count++] = make_case("disc", false, 1);
    return count;
}

static double dot(int rows, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < rows; k++)
        sum += a[k] * b[k];
    return sum;
}

static double norm(int rows, const double *a)
{
    return sqrt(dot(rows, a, a));
}

static double distance(int rows, const double *a, const double *b)
{
    double d[6];
    for (int k = 0; k < rows; k++)
        d[k] = a[k] - b[k];
    return norm(rows, d);
}

static double section_mu(const Case *c)
{
    return c->set.section == TALUS_SECTION_NONE ? 0.0 : c->set.mu;
}

/* How far t is outside the section of radius r. */
static double section_excess(const Case *c, double r, const double *t)
{
    if (!c->corners)
        return hypot(t[0], t[1]) - r;
    double most = -INFINITY;
    for (int k = 0; k < c->corners; k++)
        most = fmax(most, c->normal[k][0] * t[0] + c->normal[k][1] * t[1]);
    return most - r * c->inner;
}

/* Largest v . t over the section of radius 1. */
static double section_support(const Case *c, double v0, double v1)
{
    if (!c->corners)
        return hypot(v0, v1);
    double most = -INFINITY;
    for (int k = 0; k < c->corners; k++)
        most = fmax(most, c->corner[k][0] * v0 + c->corner[k][1] * v1);
    return most;
}

/* The largest amount by which x exceeds a bound; `slack` of the bounds' own size is allowed. */
static double excess(const Case *c, const double *x, double slack)
{
    double size = (c->set.prism ? fmax(c->set.estimate, 0.0) : x[0]) * (1.0 + slack);
    double worst = -x[0];
    if (c->rows >= 3)
        worst = fmax(worst, section_excess(c, section_mu(c) * size, x + 1));
    if (c->rows == 6) {
        worst = fmax(worst, fabs(x[3]) - c->set.spinning * size);
        worst = fmax(worst, hypot(x[4], x[5]) - c->set.rolling * size);
    }
    return worst;
}

/* What -y exceeds in the polar cone: the support function of the rows but the first, plus the first. */
static double polar_excess(const Case *c, const double *y)
{
    double sum = y[0];
    if (c->rows >= 3)
        sum += section_mu(c) * section_support(c, y[1], y[2]);
    if (c->rows == 6)
        sum += c->set.spinning * fabs(y[3]) + c->set.rolling * hypot(y[4], y[5]);
    return sum;
}

static double steepest(const Case *c)
{
    return 1.0 + section_mu(c) + (c->rows == 6 ? c->set.spinning + c->set.rolling : 0.0);
}

/* ---- random parameters and points ---- */

static double between(TalusRng *rng, double low, double high)
{
    return low + (high - low) * talus_rng_uniform(rng);
}

static double pick_friction(TalusRng *rng)
{
    const double special[] = {0.0, 5e-324, 1e-200, 1e-6, 0.3, 1.0, 1e6};
    uint64_t pick = talus_rng_below(rng, 14);
    return pick < 7 ? special[pick] : between(rng, 0.0, 2.0);
}

static void pick_parameters(TalusRng *rng, Case *c)
{
    const double special[] = {0.0, -1.0, 5e-324, 1e-310, 1e-5, 1e100};
    uint64_t pick = talus_rng_below(rng, 12);
    c->set.mu = pick_friction(rng);
    c->set.spinning = pick_friction(rng);
    c->set.rolling = pick_friction(rng);
    c->set.estimate = pick < 6 ? special[pick] : between(rng, 0.0, 3.0);
}

static double pick_value(TalusRng *rng)
{
    static const double values[] = {0.0,     -0.0, 5e-324, -5e-324, 1e-310, -1e-310, 1e-160,
                                    -1e-160, 1e-5, -1e-5,  1.0,     -1.0,   1e100,   -1e100};
    return values[talus_rng_below(rng, sizeof values / sizeof *values)];
}

/* A point of the section of radius r: inside (0), on its rim (1) or, where it has any, on a corner (2). */
static void place_section(TalusRng *rng, const Case *c, double r, int where, double *t)
{
    double angle = between(rng, 0.0, 2.0 * PI), share = between(rng, 0.15, 0.85);
    double at[2] = {cos(angle), sin(angle)};
    if (c->corners) {
        const double *a = c->corner[talus_rng_below(rng, (uint64_t)c->corners)];
        const double *b = c->corner[((a - c->corner[0]) / 2 + 1) % c->corners];
        double mix = where == 2 ? 0.0 : share;
        at[0] = (1.0 - mix) * a[0] + mix * b[0];
        at[1] = (1.0 - mix) * a[1] + mix * b[1];
    }
    double size = r * (where == 0 ? between(rng, 0.0, 0.8) : 1.0);
    t[0] = size * at[0];
    t[1] = size * at[1];
}

/* A member, on bounds or away from them by a good part of their size. */
static void place_member(TalusRng *rng, const Case *c, double *x)
{
    bool open = talus_rng_below(rng, 4) == 0;
    double size = c->set.prism ? fmax(c->set.estimate, 0.0) : 0.0;
    x[0] = open ? 0.0 : between(rng, 0.1, 2.0);
    size = c->set.prism ? size : x[0];
    if (c->rows >= 3)
        place_section(rng, c, section_mu(c) * size, (int)talus_rng_below(rng, 3), x + 1);
    if (c->rows == 6) {
        const double share[] = {0.5, -0.3, 1.0, -1.0};
        double angle = between(rng, 0.0, 2.0 * PI), roll = share[talus_rng_below(rng, 4)];
        x[3] = c->set.spinning * size * share[talus_rng_below(rng, 4)];
        x[4] = c->set.rolling * size * roll * cos(angle);
        x[5] = c->set.rolling * size * roll * sin(angle);
    }
}

static void random_point(TalusRng *rng, const Case *c, double *x)
{
    switch (talus_rng_below(rng, 4)) {
    case 0:
        for (int k = 0; k < c->rows; k++)
            x[k] = pick_value(rng);
        break;
    case 1: place_member(rng, c, x); break;
    default: {
        static const double decade[] = {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3};
        for (int k = 0; k < c->rows; k++)
            x[k] = between(rng, -1.0, 1.0) * decade[talus_rng_below(rng, 7)];
    }
    }
}

static void random_direction(TalusRng *rng, int rows, double *d)
{
    for (int k = 0; k < rows; k++)
        d[k] = between(rng, -1.0, 1.0);
}

static bool report(const Case *c, const double *x, bool ok)
{
    if (!ok)
        printf("    %s, mu %g, spinning %g, rolling %g, estimate %g at", c->name, c->set.mu,
               c->set.spinning, c->set.rolling, c->set.estimate);
    for (int k = 0; k < c->rows && !ok; k++)
        printf("%s %.17g", k ? "," : "", x[k]);
    printf("%s", ok ? "" : "\n");
    return ok;
}

/* ---- projections ---- */

static void project(const Case *c, const double *x, double *p)
{
    memcpy(p, x, (size_t)c->rows * sizeof *p);
    talus_block_project(c->rows, &c->set, p);
}

/* P x is a member, and P P x = P x; for a cone x - P x is orthogonal to P x and in the polar cone, which
 * makes the two Moreau's decomposition of x. */
static bool check_point(const Case *c, const double *x, const double *p)
{
    double again[6], rest[6], size = norm(c->rows, x), slack = ROUND * size + TINY;
    project(c, p, again);
    for (int k = 0; k < c->rows; k++)
        rest[k] = x[k] - p[k];
    bool ok = CHECK(excess(c, p, ROUND) <= TINY && p[0] >= 0.0);
    ok &= CHECK(distance(c->rows, p, again) <= slack);
    if (!c->set.prism) {
        ok &= CHECK(fabs(dot(c->rows, rest, p)) <= slack * size + TINY * TINY);
        ok &= CHECK(polar_excess(c, rest) <= steepest(c) * slack);
    }
    return report(c, x, ok);
}

/* |P x - P y| <= |x - y|, and no member is nearer to x than P x: (x - P x)'(m - P x) <= 0, for m = P y and
 * a member that no projection has made. */
static bool check_pair(TalusRng *rng, const Case *c, const double *x, const double *px,
                       const double *y, const double *py)
{
    double member[6], size = norm(c->rows, x) + norm(c->rows, y), slack = ROUND * size + TINY;
    bool ok = CHECK(distance(c->rows, px, py) <= distance(c->rows, x, y) + slack);
    place_member(rng, c, member);
    const double *const others[2] = {py, member};
    for (int i = 0; i < 2; i++) {
        double sum = 0.0, scale = size + norm(c->rows, others[i]);
        for (int k = 0; k < c->rows; k++)
            sum += (x[k] - px[k]) * (others[i][k] - px[k]);
        ok &= CHECK(sum <= (ROUND * scale + TINY) * scale);
    }
    return report(c, x, ok);
}

TEST(projections_have_their_properties)
{
    static Case cases[CASES];
    TalusRng rng = talus_rng_from_seed(1);
    int count = make_cases(cases), done = 0;
    for (bool ok = true; done < POINTS && ok; done += BATCH) {
        Case *c = &cases[done / BATCH % count];
        double x[BATCH][6], p[BATCH][6];
        pick_parameters(&rng, c);
        for (int i = 0; i < BATCH && ok; i++) {
            random_point(&rng, c, x[i]);
            project(c, x[i], p[i]);
            ok = check_point(c, x[i], p[i]);
            if (i > 0)
                ok &= check_pair(&rng, c, x[i], p[i], x[i - 1], p[i - 1]);
        }
    }
}

/* In the metric x = gamma / s the set has the same form: its projection is the nearest member of the set
 * itself, distances weighted by 1 / s^2. */
TEST(a_metric_changes_parameters_alone)
{
    static Case cases[CASES];
    TalusRng rng = talus_rng_from_seed(2);
    int count = make_cases(cases);
    for (int i = 0; i < 20000; i++) {
        Case *c = &cases[i % count], scaled = *c;
        double s[2] = {between(&rng, 0.2, 2.0), between(&rng, 0.2, 2.0)}, z[6], p[6], m[6];
        pick_parameters(&rng, c);
        c->set.mu = fmin(c->set.mu, 2.0);
        c->set.spinning = c->set.rolling = 0.3;
        c->set.estimate = fmin(c->set.estimate, 2.0);
        scaled.set = c->set;
        scaled.set.mu *= s[0] / s[1];
        scaled.set.spinning *= s[0] / s[1];
        scaled.set.rolling *= s[0] / s[1];
        scaled.set.estimate /= s[0];
        random_direction(&rng, c->rows, z);
        place_member(&rng, c, m);
        for (int k = 0; k < c->rows; k++)
            p[k] = z[k] / s[k > 0];
        talus_block_project(c->rows, &scaled.set, p);
        double sum = 0.0;
        for (int k = 0; k < c->rows; k++) {
            p[k] *= s[k > 0];
            sum += (z[k] - p[k]) * (m[k] - p[k]) / (s[k > 0] * s[k > 0]);
        }
        if (!report(c, z, CHECK(excess(c, p, ROUND) <= 1e-15) && CHECK(sum <= 1e-11)))
            return;
    }
}

TEST(nan_is_not_swallowed)
{
    static Case cases[CASES];
    int count = make_cases(cases);
    for (int i = 0; i < count; i++)
        for (int bad = 0; bad < cases[i].rows; bad++)
            for (double mu = 0.0; mu < 1.0; mu += 0.3) {
                double x[6] = {1.0, 0.2, -0.1, 0.0, 2.0, 0.0}, sum = 0.0;
                Case *c = &cases[i];
                c->set.mu = c->set.spinning = c->set.rolling = mu;
                c->set.estimate = 1.0;
                x[bad] = NAN;
                talus_block_project(c->rows, &c->set, x);
                for (int k = 0; k < c->rows; k++)
                    sum += x[k];
                report(c, x, CHECK(isnan(sum)));
            }
}

/* Without friction a contact pushes and never pulls, also where the tangent is exactly zero. */
TEST(no_friction_leaves_the_half_line)
{
    const double z[][3] = {{-1.0, 0.0, 0.0}, {-1.0, 0.5, 0.0}, {2.0, 0.5, -3.0}, {0.0, 1.0, 0.0}};
    const double expected[] = {0.0, 0.0, 2.0, 0.0};
    const char *const sections[] = {"disc", "square", "polygon:5", "none"};
    for (int s = 0; s < 4; s++)
        for (int prism = 0; prism < 2; prism++)
            for (int i = 0; i < 4; i++) {
                Case c = make_case(sections[s], prism, 3);
                double p[6];
                c.set.mu = s == 3 ? 0.7 : 0.0;
                c.set.estimate = 1.0;
                project(&c, z[i], p);
                CHECK_NEAR(p[0], expected[i], 0.0);
                CHECK(p[1] == 0.0 && p[2] == 0.0);
                CHECK(!talus_block_is_active(3, &c.set, z[2])); /* nothing to stand on */
            }
}

/* A bound that is met and steep hides the little that a gentle one pulls, unless the two are kept apart:
 * here n rises by half of what t is too long, and leaves the bound on the spin. */
TEST(a_steep_bound_hides_nothing)
{
    Case c = make_case("square", false, 6);
    TalusRng rng = talus_rng_from_seed(6);
    const double pull = 1e-5;
    c.set.mu = 1.0;
    c.set.spinning = 1e6;
    for (int i = 0; i < 1000; i++) {
        double n = between(&rng, 0.5, 2.0), z[6] = {n, n + pull, 0.1, 1e6 * n, 0.0, 0.0}, p[6];
        project(&c, z, p);
        if (!CHECK_NEAR(p[0], n + 0.5 * pull, 1e-15 * 1e6) || !CHECK_NEAR(p[3], z[3], 1e-9))
            return;
    }
}

TEST(half_line_projection)
{
    const double in[] = {-1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, 1e300};
    const double out[] = {0.0, 0.0, 0.0, 0.0, 5e-324, 1.0, 1e300};
    for (int i = 0; i < 7; i++) {
        double x = in[i];
        talus_set_project((TalusFrictionModel){0}, 1, 0.5, NULL, 0.0, &x);
        CHECK(x == out[i] && !signbit(x));
    }
}

/* ---- tangent cones, boundaries, steps ---- */

static void pick_moderate(TalusRng *rng, Case *c)
{
    const double special[] = {0.0, 1e-3, 1.0, 1e3};
    double *const all[] = {&c->set.mu, &c->set.spinning, &c->set.rolling};
    for (int i = 0; i < 3; i++) {
        uint64_t pick = talus_rng_below(rng, 12);
        *all[i] = pick < 4 ? special[pick] : between(rng, 0.1, 2.0);
    }
    c->set.estimate = talus_rng_below(rng, 8) ? between(rng, 0.1, 2.0) : 0.0;
}

/* T d is the limit of (P(x + a d) - x) / a; where the sets are flat, x being on bounds or far from them,
 * the two are equal. */
static bool check_tangent(const Case *c, const double *x, const double *d)
{
    double q[6], y[6], least = INFINITY;
    const double parts[] = {section_mu(c), c->set.spinning, c->set.rolling};
    for (int i = 0; i < (c->rows == 6 ? 3 : 1); i++)
        least = parts[i] > 0.0 ? fmin(least, parts[i]) : least;
    double a = 1e-7 * fmin(least, 1.0);
    memcpy(q, d, sizeof q);
    talus_block_project_tangent(c->rows, &c->set, x, q);
    for (int k = 0; k < c->rows; k++)
        y[k] = x[k] + a * d[k];
    talus_block_project(c->rows, &c->set, y);
    for (int k = 0; k < c->rows; k++)
        y[k] = (y[k] - x[k]) / a;
    double slack = 2e-5 * norm(c->rows, d) + 1e-14 * norm(c->rows, x) / a;
    return report(c, x, CHECK_NEAR(distance(c->rows, q, y), 0.0, slack));
}

/* A block is active where some direction is not feasible but for lack of friction. */
static bool check_active(const Case *c, const double *x)
{
    double size = c->set.prism ? fmax(c->set.estimate, 0.0) : x[0];
    const double slope[] = {section_mu(c), c->set.spinning, c->set.rolling};
    bool expected = !(x[0] > 0.0), free_rows = true;
    for (int i = 0; i < (c->rows == 6 ? 3 : c->rows == 3 ? 1 : 0); i++) {
        double reach = slope[i] * size, over;
        if (i == 0)
            over = section_excess(c, reach, x + 1);
        else
            over = (i == 1 ? fabs(x[3]) : hypot(x[4], x[5])) - reach;
        expected = expected || (reach > 0.0 && over >= -1e-13 * reach);
    }
    double g[6] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    talus_block_clear_immovable(c->rows, &c->set, g);
    for (int k = 1; k < c->rows; k++) {
        double reach = slope[k < 3 ? 0 : k == 3 ? 1 : 2] * (c->set.prism ? size : 1.0);
        free_rows = free_rows && g[k] == (reach > 0.0 ? 1.0 : 0.0);
    }
    return report(c, x,
                  CHECK(talus_block_is_active(c->rows, &c->set, x) == expected) &&
                      CHECK(free_rows && g[0] == 1.0));
}

static void step_by(const Case *c, const double *x, double a, const double *p, double *y)
{
    for (int k = 0; k < c->rows; k++)
        y[k] = x[k] - a * p[k];
}

/* The step ends on the boundary, and what is beyond is outside. */
static bool check_step(const Case *c, const double *x, const double *p)
{
    double a = talus_block_feasible_step(c->rows, &c->set, x, p), y[6];
    bool ok = CHECK(a >= 0.0);
    step_by(c, x, isinf(a) ? 1e3 : a, p, y);
    double slack =
        1e-12 * steepest(c) * (norm(c->rows, x) + (isinf(a) ? 1e3 : a) * norm(c->rows, p));
    ok &= CHECK(excess(c, y, 0.0) <= slack);
    if (!isinf(a)) {
        step_by(c, x, 1.001 * a + 1e-4, p, y);
        ok &= CHECK(excess(c, y, 0.0) > -slack);
    }
    if (a > 0.0 && !isinf(a)) {
        step_by(c, x, 0.999 * a, p, y);
        ok &= CHECK(excess(c, y, 0.0) <= slack);
    }
    return report(c, x, ok);
}

TEST(tangent_cones_and_steps)
{
    static Case cases[CASES];
    TalusRng rng = talus_rng_from_seed(3);
    int count = make_cases(cases);
    for (int i = 0; i < 200000; i++) {
        Case *c = &cases[i % count];
        double x[6], d[6];
        pick_moderate(&rng, c);
        place_member(&rng, c, x);
        random_direction(&rng, c->rows, d);
        if (!check_active(c, x) || !check_tangent(c, x, d) || !check_step(c, x, d))
            return;
    }
}

/* ---- shift ---- */

/* De Saxce's shift, searched for over the rim of each part. */
TEST(the_shift_is_the_sections_support)
{
    static Case cases[CASES];
    TalusRng rng = talus_rng_from_seed(5);
    int count = make_cases(cases);
    enum { RIM = 720 };
    for (int i = 0; i < 4000; i++) {
        Case *c = &cases[i % count];
        double u[6] = {0.0}, best[2] = {0.0, 0.0}, spin = 0.0;
        pick_moderate(&rng, c);
        random_direction(&rng, c->rows, u);
        for (int k = 0; k < RIM && c->rows > 1; k++) {
            double at[2] = {cos(2.0 * PI * k / RIM), sin(2.0 * PI * k / RIM)};
            double room = c->corners ? c->inner / section_excess(c, 0.0, at) : 1.0;
            best[0] = fmax(best[0], -room * dot(2, at, u + 1));
            best[1] = c->rows == 6 ? fmax(best[1], -dot(2, at, u + 4)) : 0.0;
        }
        spin = c->rows == 6 ? fabs(u[3]) : 0.0;
        double found = section_mu(c) * best[0] + c->set.spinning * spin + c->set.rolling * best[1];
        double shift = talus_block_shift(c->rows, &c->set, u);
        /* a step of the search is half a degree */
        bool ok = CHECK(shift >= found * (1.0 - 1e-13)) && CHECK(shift <= found * 1.008 + 1e-300);
        if (!report(c, u, ok))
            return;
    }
}

TEST(angles_of_polygons_are_those_of_turns)
{
    double c, s, cosine, sine;
    for (int sides = TALUS_SIDES_MIN; sides <= TALUS_SIDES_MAX; sides++) {
        talus_polygon_angle(sides, &c, &s);
        talus_cos_sin_turns(0.5 / sides, &cosine, &sine);
        CHECK(c == cosine && s == sine);
    }
    talus_polygon_angle(TALUS_SIDES_MIN - 1, &c, &s);
    CHECK(c == 0.0 && s == 0.0);
}

int main(void)
{
    RUN(projections_have_their_properties);
    RUN(a_metric_changes_parameters_alone);
    RUN(nan_is_not_swallowed);
    RUN(no_friction_leaves_the_half_line);
    RUN(angles_of_polygons_are_those_of_turns);
    RUN(half_line_projection);
    RUN(a_steep_bound_hides_nothing);
    RUN(tangent_cones_and_steps);
    RUN(the_shift_is_the_sections_support);
    return talus_test_result();
}
