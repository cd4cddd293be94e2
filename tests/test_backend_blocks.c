/* Operations of the backend contract that go block by block or combine vectors, against plain
 * formulas, in a metric and without, with one and three rows, and for any number of threads. */

#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "base/rng.h"
#include "problem/problem.h"
#include "sets/cone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;

/* ---- a problem of several chunks, and vectors for it ---- */

typedef struct Case {
    TestProblem test;
    TalusProblem *problem;
    const TalusOperator *op;
    TalusMetricBlock *metric; /* NULL: none */
    int rows, blocks, n;
    double *x, *g, *d; /* x in the set, with blocks at the apex, on the mantle and inside */
} Case;

static double *vector(int n)
{
    return calloc((size_t)n, sizeof(double));
}

static double *random_vector(int n, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double *x = vector(n);
    for (int k = 0; k < n; k++)
        x[k] = talus_rng_uniform(&rng) - 0.4;
    return x;
}

static double mu_of(const Case *c, int i)
{
    if (c->rows == 1)
        return 0.0;
    return c->metric ? c->metric[i][2] : c->op->mu[i];
}

static double s_of(const Case *c, int k)
{
    return c->metric ? c->metric[k / c->rows][k % c->rows > 0] : 1.0;
}

/* Random scales that have nothing to do with the diagonal. */
static TalusMetricBlock *random_metric(const TalusOperator *op)
{
    TalusRng rng = talus_rng_from_seed(77);
    TalusMetricBlock *m = calloc((size_t)op->blocks, sizeof *m);
    for (int i = 0; i < op->blocks; i++) {
        m[i][0] = 0.5 + talus_rng_uniform(&rng);
        m[i][1] = 0.5 + talus_rng_uniform(&rng);
        m[i][2] = op->rows == 3 ? op->mu[i] * m[i][0] / m[i][1] : 0.0;
        m[i][3] = 1.0 / (1.0 + m[i][2] * m[i][2]);
    }
    return m;
}

static Case make_case(int rows, bool scaled, TalusPool *pool)
{
    Case c = {.test = make_heap(&(HeapOptions){51, 9, 9, 7, rows == 3 ? 0.4 : 0.0, 0.02, 0.3})};
    TalusContactDef *contacts = (TalusContactDef *)c.test.def.contacts;
    for (int i = 0; i < c.test.def.contact_count; i += 3)
        contacts[i].mu = 0.0;
    CHECK_OK(talus_problem_create(&c.test.def, pool, &c.problem));
    c.op = talus_problem_operator(c.problem);
    c.rows = c.op->rows;
    c.blocks = c.op->blocks;
    c.n = c.rows * c.blocks;
    CHECK_INT(c.rows, rows);
    CHECK(c.blocks > 3 * 512); /* more than three chunks of blocks */
    c.metric = scaled ? random_metric(c.op) : NULL;
    c.x = random_vector(c.n, 61);
    c.g = random_vector(c.n, 62);
    c.d = random_vector(c.n, 63);
    for (int i = 0; i < c.blocks; i++)
        verify_project(rows, mu_of(&c, i), c.x + i * rows);
    return c;
}

static void free_case(Case *c)
{
    talus_problem_destroy(c->problem);
    free_test_problem(&c->test);
    free(c->metric);
    free(c->x);
    free(c->g);
    free(c->d);
}

static const TalusMetricBlock *metric_of(const Case *c)
{
    return (const TalusMetricBlock *)c->metric;
}

static bool near(const double *a, const double *b, int n, double tolerance)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++)
        worst = isnan(a[k]) ? NAN : fmax(worst, fabs(a[k] - b[k]));
    return CHECK_NEAR(worst, 0.0, tolerance);
}

static bool near_sum(double a, double b)
{
    return CHECK_NEAR(a, b, 1e-12 * (fabs(b) + 1e-3));
}

/* On its boundary: no impulse, or as much friction as the cone allows. A random point that is not
 * there is not near it either. */
static bool is_active(const Case *c, int i)
{
    const double *x = c->x + i * c->rows;
    if (x[0] <= 0.0)
        return true;
    return mu_of(c, i) > 0.0 && hypot(x[1], x[2]) >= mu_of(c, i) * x[0] * (1.0 - 1e-10);
}

static void for_cases(void (*check)(Case *c))
{
    for (int form = 0; form < 4; form++) {
        Case c = make_case(form % 2 ? 3 : 1, form / 2, NULL);
        check(&c);
        free_case(&c);
    }
}

/* ---- vectors ---- */

static void check_gradient(Case *c)
{
    double *gamma = vector(c->n), *expected = vector(c->n), *q = vector(c->n), *out = vector(c->n);
    for (int k = 0; k < c->n; k++)
        gamma[k] = s_of(c, k) * c->d[k];
    verify_gradient(&c->test.def, gamma, expected);
    verify_velocity(&c->test.def, NULL, q);
    for (int offset = 0; offset < 2; offset++) {
        cpu->op.gradient(c->op, metric_of(c), c->d, offset, out);
        for (int k = 0; k < c->n; k++)
            gamma[k] = s_of(c, k) * (expected[k] - (offset ? 0.0 : q[k]));
        near(out, gamma, c->n, 1e-11);
    }
    free(gamma);
    free(expected);
    free(q);
    free(out);
}

TEST(gradient_is_that_of_the_verifier)
{
    for_cases(check_gradient);
}

static void check_many(Case *c)
{
    double *x[TALUS_VECTORS], a[TALUS_VECTORS], sums[TALUS_VECTORS];
    double *expected = vector(c->n), *out = vector(c->n);
    for (int v = 0; v < TALUS_VECTORS; v++) {
        x[v] = random_vector(c->n, 100 + (uint64_t)v);
        a[v] = 0.5 - 0.03 * v;
    }
    for (int count = 1; count <= TALUS_VECTORS; count += 21) {
        cpu->vector.dots(c->op, count, (const double *const *)x, c->d, sums);
        cpu->vector.combine(c->op, count, (const double *const *)x, a, out);
        memset(expected, 0, (size_t)c->n * sizeof *expected);
        for (int v = 0; v < count; v++) {
            double sum = 0.0;
            for (int k = 0; k < c->n; k++) {
                sum += x[v][k] * c->d[k];
                expected[k] += a[v] * x[v][k];
            }
            near_sum(sums[v], sum);
        }
        near(out, expected, c->n, 1e-12);
    }
    cpu->vector.combine(c->op, TALUS_VECTORS, (const double *const *)x, a,
                        x[7]); /* over one of its own */
    near(x[7], expected, c->n, 1e-12);
    for (int v = 0; v < TALUS_VECTORS; v++)
        free(x[v]);
    free(expected);
    free(out);
}

TEST(many_vectors_at_once)
{
    for_cases(check_many);
}

/* ---- projections ---- */

static void check_project(Case *c)
{
    double *out = vector(c->n), *expected = vector(c->n);
    memcpy(out, c->d, (size_t)c->n * sizeof *out);
    memcpy(expected, c->d, (size_t)c->n * sizeof *out);
    cpu->block.project(c->op, metric_of(c), out);
    for (int i = 0; i < c->blocks; i++)
        verify_project(c->rows, mu_of(c, i), expected + i * c->rows);
    near(out, expected, c->n, 1e-14);
    free(out);
    free(expected);
}

TEST(projection_is_that_of_the_verifier)
{
    for_cases(check_project);
}

/* The natural residual (problem.h) of gamma = s x whose gradient is g / s. */
static void natural(const Case *c, double *sum2, double *max)
{
    VerifyPoint zero = verify_zero_point(&c->test.def);
    *sum2 = *max = 0.0;
    for (int i = 0; i < c->blocks; i++) {
        double d = verify_diagonal(&zero, i), step[3], r2 = 0.0;
        for (int k = 0; k < c->rows; k++) {
            int e = i * c->rows + k;
            step[k] = s_of(c, e) * c->x[e] - c->g[e] / s_of(c, e) / d;
        }
        verify_project(c->rows, verify_mu(&c->test.def, i), step);
        for (int k = 0; k < c->rows; k++) {
            double r = d * (s_of(c, i * c->rows + k) * c->x[i * c->rows + k] - step[k]);
            r2 += r * r;
        }
        *sum2 += r2;
        *max = fmax(*max, sqrt(r2));
    }
    verify_free(&zero);
}

/* t = P(x - step g) */
static double *forward_point(const Case *c, double step)
{
    double *t = vector(c->n);
    for (int k = 0; k < c->n; k++)
        t[k] = c->x[k] - step * c->g[k];
    for (int i = 0; i < c->blocks; i++)
        verify_project(c->rows, mu_of(c, i), t + i * c->rows);
    return t;
}

static void check_forward(Case *c)
{
    double *expected = forward_point(c, 0.3), *t = vector(c->n), *r = vector(c->n);
    double r2 = 0.0, rg = 0.0, sum2, max;
    TalusForwardSums sums, alone;
    cpu->block.forward_backward(c->op, metric_of(c), c->x, c->g, 0.3, t, r, &sums);
    near(t, expected, c->n, 1e-14);
    for (int k = 0; k < c->n; k++) {
        expected[k] = c->x[k] - expected[k];
        r2 += expected[k] * expected[k];
        rg += expected[k] * c->g[k];
    }
    near(r, expected, c->n, 1e-14);
    natural(c, &sum2, &max);
    near_sum(sums.r2, r2);
    near_sum(sums.rg, rg);
    near_sum(sums.residual2, sum2);
    near_sum(sums.residual_max, max);
    cpu->block.forward_backward(c->op, metric_of(c), c->x, c->g, 0.3, NULL, NULL, &alone);
    CHECK(memcmp(&alone, &sums, sizeof sums) == 0);
    memcpy(r, c->x, (size_t)c->n * sizeof *r);
    cpu->block.forward_backward(c->op, metric_of(c), r, c->g, 0.3, r, NULL, &alone); /* over x */
    CHECK(memcmp(r, t, (size_t)c->n * sizeof *r) == 0);
    CHECK(memcmp(&alone, &sums, sizeof sums) == 0);
    free(expected);
    free(t);
    free(r);
}

TEST(forward_backward_step)
{
    for_cases(check_forward);
}

/* ---- faces ---- */

typedef struct Parts {
    double *free_part, *reduced, *chopped;
    TalusFace face;
} Parts;

static Parts make_parts(int n)
{
    Parts p = {.free_part = vector(n), .reduced = vector(n), .chopped = vector(n)};
    return p;
}

static void free_parts(Parts *p)
{
    free(p->free_part);
    free(p->reduced);
    free(p->chopped);
}

static Parts expected_parts(const Case *c, double step)
{
    Parts p = make_parts(c->n);
    double *t = forward_point(c, step);
    for (int i = 0; i < c->blocks; i++) {
        bool active = is_active(c, i), moves = false;
        for (int k = i * c->rows; k < (i + 1) * c->rows; k++) {
            bool axis = c->rows == 3 && mu_of(c, i) == 0.0 && k > i * c->rows;
            double moved = (c->x[k] - t[k]) / step;
            p.free_part[k] = active || axis ? 0.0 : c->g[k];
            p.reduced[k] = active ? 0.0 : moved;
            p.chopped[k] = active ? moved : 0.0;
            p.face.free2 += p.free_part[k] * p.free_part[k];
            p.face.reduced_g += p.reduced[k] * c->g[k];
            p.face.chopped_g += p.chopped[k] * c->g[k];
            p.face.chopped2 += p.chopped[k] * p.chopped[k];
            moves |= fabs(moved) > 1e-13;
        }
        p.face.active += active;
        p.face.unbound += active && moves;
    }
    natural(c, &p.face.residual2, &p.face.residual_max);
    free(t);
    return p;
}

static void check_split(Case *c)
{
    Parts expected = expected_parts(c, 0.3), got = make_parts(c->n);
    TalusFace alone;
    cpu->block.split_gradient(c->op, metric_of(c), c->x, c->g, 0.3, got.free_part, got.reduced,
                              got.chopped, &got.face);
    near(got.free_part, expected.free_part, c->n, 0.0);
    near(got.reduced, expected.reduced, c->n, 1e-13);
    near(got.chopped, expected.chopped, c->n, 1e-13);
    near_sum(got.face.free2, expected.face.free2);
    near_sum(got.face.reduced_g, expected.face.reduced_g);
    near_sum(got.face.chopped_g, expected.face.chopped_g);
    near_sum(got.face.chopped2, expected.face.chopped2);
    near_sum(got.face.residual2, expected.face.residual2);
    near_sum(got.face.residual_max, expected.face.residual_max);
    CHECK_INT(got.face.active, expected.face.active);
    CHECK_INT(got.face.unbound, expected.face.unbound);
    CHECK(got.face.active > c->blocks / 8 && got.face.active < c->blocks);
    CHECK(got.face.unbound > 0 && got.face.unbound < got.face.active);
    cpu->block.split_gradient(c->op, metric_of(c), c->x, c->g, 0.3, NULL, NULL, NULL, &alone);
    CHECK(memcmp(&alone, &got.face, sizeof alone) == 0);
    memcpy(got.chopped, c->g, (size_t)c->n * sizeof(double));
    cpu->block.clear_active(c->op, metric_of(c), c->x,
                            got.chopped); /* what split calls the free gradient */
    near(got.chopped, expected.free_part, c->n, 0.0);
    free_parts(&expected);
    free_parts(&got);
}

TEST(split_and_mask_follow_the_face)
{
    for_cases(check_split);
}

/* Blocks on the mantle at their optimum, but for a little gradient round the axis: x~'g is of second
 * order in it, far below the rounding of the sum. */
TEST(split_sees_small_moves_on_the_mantle)
{
    Case c = make_case(3, false, NULL);
    TalusRng rng = talus_rng_from_seed(65);
    double turn = 1e-10;
    for (int i = 1; i < 400; i += 3) {
        double mu = mu_of(&c, i), t[2] = {talus_rng_uniform(&rng), talus_rng_uniform(&rng)};
        double size = hypot(t[0], t[1]), *x = c.x + 3 * i, *g = c.g + 3 * i;
        TalusFace face;
        memset(c.x, 0, (size_t)c.n * sizeof *c.x);
        memset(c.g, 0, (size_t)c.n * sizeof *c.g);
        x[0] = 0.7;
        g[0] = mu;
        for (int k = 0; k < 2; k++) {
            x[1 + k] = mu * x[0] * t[k] / size;
            g[1 + k] = -t[k] / size + turn * (k ? t[0] : -t[1]) / size;
        }
        cpu->block.split_gradient(c.op, NULL, c.x, c.g, 0.5, NULL, NULL, NULL, &face);
        double shrink = mu * x[0] / (mu * x[0] + 0.5), expected = shrink * shrink * turn * turn;
        CHECK(mu > 0.0 && face.active == c.blocks);
        CHECK_NEAR(face.chopped2, expected, 1e-3 * expected);
        CHECK(face.chopped_g >= face.chopped2 && face.chopped_g <= 2.0 * turn * turn);
    }
    free_case(&c);
}

/* The projection onto the tangent cone is the derivative of the projection at x. */
static void check_tangent(Case *c)
{
    const double small = 1e-8;
    double *out = vector(c->n), *moved = vector(c->n);
    for (int k = 0; k < c->n; k++)
        moved[k] = c->x[k] + small * c->d[k];
    for (int i = 0; i < c->blocks; i++)
        verify_project(c->rows, mu_of(c, i), moved + i * c->rows);
    for (int k = 0; k < c->n; k++)
        moved[k] = (moved[k] - c->x[k]) / small;
    cpu->block.project_tangent(c->op, metric_of(c), c->x, c->d, out);
    near(out, moved, c->n, 1e-5); /* of second order in `small` over the distance to the apex */
    memcpy(moved, c->d, (size_t)c->n * sizeof *moved);
    cpu->block.project_tangent(c->op, metric_of(c), c->x, moved, moved);
    CHECK(memcmp(moved, out, (size_t)c->n * sizeof *out) == 0);
    free(out);
    free(moved);
}

TEST(tangent_is_the_derivative_of_the_projection)
{
    for_cases(check_tangent);
}

/* Largest distance from the set of a block of x - a p, relative to a p. */
static double outside(const Case *c, const double *p, double a)
{
    double worst = 0.0;
    for (int i = 0; i < c->blocks; i++) {
        double y[3], z[3], off = 0.0, size = 0.0;
        for (int k = 0; k < c->rows; k++) {
            double e = a * p[i * c->rows + k];
            y[k] = z[k] = c->x[i * c->rows + k] - e;
            size += e * e;
        }
        verify_project(c->rows, mu_of(c, i), z);
        for (int k = 0; k < c->rows; k++)
            off += (y[k] - z[k]) * (y[k] - z[k]);
        worst = fmax(worst, size > 0.0 ? sqrt(off / size) : 0.0);
    }
    return worst;
}

/* Directions that vanish on the face's active blocks, or push them inwards, or out. */
static void check_feasible(Case *c)
{
    double *p = vector(c->n);
    for (int trial = 0; trial < 40; trial++) {
        double *r = random_vector(c->n, 200 + (uint64_t)trial), a;
        for (int k = 0; k < c->n; k++) /* many scales: other blocks are the first to leave */
            p[k] = k / c->rows % 40 == trial ? r[k] : 1e-3 * r[k];
        cpu->block.clear_active(c->op, metric_of(c), c->x, p);
        a = cpu->block.feasible_step(c->op, metric_of(c), c->x, p);
        CHECK(a > 0.0 && a < 1e6);
        CHECK(outside(c, p, a * (1.0 - 1e-9)) <= 1e-13);
        CHECK(outside(c, p, a * (1.0 + 1e-6)) >= 1e-9);
        free(r);
    }
    memset(p, 0, (size_t)c->n * sizeof *p);
    CHECK(cpu->block.feasible_step(c->op, metric_of(c), c->x, p) == INFINITY);
    for (int i = 0; i < c->blocks; i++)
        p[i * c->rows] = -1.0;
    CHECK(cpu->block.feasible_step(c->op, metric_of(c), c->x, p) == INFINITY);
    for (int k = 0; k < c->n; k++) /* all to their apex at once */
        p[k] = 0.25 * c->x[k];
    CHECK_NEAR(cpu->block.feasible_step(c->op, metric_of(c), c->x, p), 4.0, 1e-5);
    for (int i = 0; i < c->blocks; i++)
        p[i * c->rows] = 1.0;
    CHECK(cpu->block.feasible_step(c->op, metric_of(c), c->x, p) == 0.0);
    free(p);
}

TEST(feasible_step_ends_at_the_boundary)
{
    for_cases(check_feasible);
}

static void check_compare(Case *c)
{
    Case other = *c;
    double *y = random_vector(c->n, 64);
    int active, changed, expected_active = 0, expected_changed = 0;
    for (int i = 0; i < c->blocks; i++)
        verify_project(c->rows, mu_of(c, i), y + i * c->rows);
    other.x = y;
    for (int i = 0; i < c->blocks; i++) {
        expected_active += is_active(&other, i);
        expected_changed += is_active(c, i) != is_active(&other, i);
    }
    cpu->block.compare_active(c->op, metric_of(c), c->x, y, &active, &changed);
    CHECK_INT(active, expected_active);
    CHECK_INT(changed, expected_changed);
    CHECK(changed > 0);
    cpu->block.compare_active(c->op, metric_of(c), y, y, &active, &changed);
    CHECK_INT(changed, 0);
    free(y);
}

TEST(compare_counts_active_blocks)
{
    for_cases(check_compare);
}

/* ---- threads ---- */

typedef struct Everything {
    double *vector[8];
    double dots[3], step;
    TalusForwardSums forward;
    TalusFace face;
    int active, changed;
} Everything;

static void run_everything(const Case *c, Everything *e)
{
    const TalusMetricBlock *m = metric_of(c);
    const double *const three[] = {c->x, c->g, c->d}, weights[] = {1.5, -0.3, 0.7};
    double **v = e->vector;
    for (int i = 0; i < 8; i++)
        v[i] = vector(c->n);
    cpu->op.gradient(c->op, m, c->d, true, v[0]);
    cpu->vector.dots(c->op, 3, three, c->d, e->dots);
    cpu->vector.combine(c->op, 3, three, weights, v[1]);
    cpu->block.project(c->op, m, v[1]);
    cpu->block.forward_backward(c->op, m, c->x, c->g, 0.2, v[2], v[3], &e->forward);
    cpu->block.split_gradient(c->op, m, c->x, c->g, 0.2, v[4], v[5], v[6], &e->face);
    cpu->block.project_tangent(c->op, m, c->x, c->d, v[7]);
    e->step = cpu->block.feasible_step(c->op, m, c->x, v[4]);
    cpu->block.compare_active(c->op, m, c->x, v[2], &e->active, &e->changed);
    cpu->block.clear_active(c->op, m, v[1], v[3]);
}

static bool same(const Everything *a, const Everything *b, int n)
{
    bool ok = memcmp(a->dots, b->dots, sizeof a->dots) == 0 && a->step == b->step;
    for (int i = 0; i < 8; i++)
        ok &= memcmp(a->vector[i], b->vector[i], (size_t)n * sizeof(double)) == 0;
    ok &= memcmp(&a->forward, &b->forward, sizeof a->forward) == 0;
    ok &= memcmp(&a->face, &b->face, sizeof a->face) == 0;
    return ok && a->active == b->active && a->changed == b->changed;
}

TEST(threads_do_not_show)
{
    const int threads[] = {1, 2, 3, 8};
    for (int form = 0; form < 4; form++) {
        Everything results[4];
        int n = 0;
        memset(results, 0, sizeof results);
        for (int t = 0; t < 4; t++) {
            TalusPool *pool = NULL;
            CHECK_OK(talus_pool_create(threads[t], &pool));
            Case c = make_case(form % 2 ? 3 : 1, form / 2, pool);
            n = c.n;
            run_everything(&c, &results[t]);
            free_case(&c);
            talus_pool_destroy(pool);
        }
        for (int t = 1; t < 4; t++)
            CHECK(same(&results[t], &results[0], n));
        for (int i = 0; i < 4 * 8; i++)
            free(results[i / 8].vector[i % 8]);
    }
}

/* ---- broken and tiny numbers ---- */

/* A NaN in an early block is neither hidden by a later maximum nor dropped. */
TEST(nan_reaches_the_residual)
{
    Case c = make_case(3, false, NULL);
    TalusForwardSums forward;
    TalusFace face;
    c.g[4] = NAN;
    cpu->block.forward_backward(c.op, NULL, c.x, c.g, 0.2, NULL, NULL, &forward);
    cpu->block.split_gradient(c.op, NULL, c.x, c.g, 0.2, NULL, NULL, NULL, &face);
    CHECK(isnan(forward.residual2) && isnan(forward.residual_max));
    CHECK(isnan(face.residual2) && isnan(face.residual_max));
    free_case(&c);
}

TEST(tiny_impulses_have_a_state)
{
    const double tiny[] = {1e-160, 1e-200, 1e-310};
    for (int i = 0; i < 3; i++) {
        double x[3] = {tiny[i], 0.0, 0.0}, d[3] = {1.0, 2.0, -3.0};
        CHECK_INT(talus_cone_state(0.5, x[0], x[1], x[2]), TALUS_CONE_INSIDE);
        talus_cone_project_tangent(0.5, x, d);
        CHECK(d[0] == 1.0 && d[1] == 2.0 && d[2] == -3.0);
    }
    CHECK_INT(talus_cone_state(0.5, 0.0, 0.0, 0.0), TALUS_CONE_APEX);
    CHECK_INT(talus_cone_state(0.5, 2.0, 0.6, 0.8), TALUS_CONE_MANTLE);
    CHECK_INT(talus_cone_state(0.0, 2.0, 0.0, 0.0), TALUS_CONE_INSIDE);
}

int main(void)
{
    RUN(gradient_is_that_of_the_verifier);
    RUN(many_vectors_at_once);
    RUN(projection_is_that_of_the_verifier);
    RUN(forward_backward_step);
    RUN(split_and_mask_follow_the_face);
    RUN(split_sees_small_moves_on_the_mantle);
    RUN(tangent_is_the_derivative_of_the_projection);
    RUN(feasible_step_ends_at_the_boundary);
    RUN(compare_counts_active_blocks);
    RUN(threads_do_not_show);
    RUN(nan_reaches_the_residual);
    RUN(tiny_impulses_have_a_state);
    return talus_test_result();
}
