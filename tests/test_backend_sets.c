/* The backend contract on friction models of every kind: sections x laws x 3 and 6 rows, from bodies and
 * from a matrix, in a metric and without. Projections are those of talus_set_project on sets that the test
 * scales by hand; all else follows from them by plain formulas. */

#include "support/models.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;

static const HeapOptions small = {53, 3, 3, 2, 0.5, 0.02, 0.2};

static const TalusMetricBlock *metric_of(const ModelCase *c)
{
    return (const TalusMetricBlock *)c->metric;
}

static double *vector(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
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

/* x - step g, projected. */
static double *forward_point(const ModelCase *c, const double *x, const double *g, double step)
{
    double *t = vector(c->n);
    for (int k = 0; k < c->n; k++)
        t[k] = x[k] - step * g[k];
    model_project_all(c, t);
    return t;
}

/* Natural residual of gamma = s x with gradient g / s, as sum of squares and maximum. */
static void natural(const ModelCase *c, const double *x, const double *g, double *sum2, double *max)
{
    *sum2 = *max = 0.0;
    for (int i = 0; i < c->blocks; i++) {
        double d = talus_problem_diagonal(c->problem, i), gamma[6], step[6], r2 = 0.0;
        ModelBlock b = model_block(c, i);
        for (int k = 0; k < c->rows; k++) {
            double s = model_scale(c, i, k);
            gamma[k] = s * x[i * c->rows + k];
            step[k] = gamma[k] - g[i * c->rows + k] / s / d;
        }
        model_project(&b, c->rows, (const double[]){1.0, 1.0}, step);
        for (int k = 0; k < c->rows; k++)
            r2 += d * d * (gamma[k] - step[k]) * (gamma[k] - step[k]);
        *sum2 += r2;
        *max = fmax(*max, sqrt(r2));
    }
}

/* Every section, law and number of rows, from bodies and from a matrix, scaled or not. */
static void for_models(void (*check)(ModelCase *c))
{
    for (int kind = 0; kind < MODEL_SECTIONS * MODEL_LAWS; kind++)
        for (int form = 0; form < 6; form++) {
            ModelOptions o = {.heap = small,
                              .rows = form / 2 == 1 ? 6 : 3,
                              .section = kind % MODEL_SECTIONS,
                              .law = kind / MODEL_SECTIONS,
                              .matrix = form / 2 == 2,
                              .scaled = form % 2};
            ModelCase c = make_model_case(&o, NULL);
            bool cone = o.section == 0 && (o.law == TALUS_LAW_CCP || o.law == TALUS_LAW_COULOMB);
            CHECK(c.op->mixed_sets == (c.rows == 6 || !cone));
            CHECK(c.rows == 6 || o.matrix || c.op->sphere_sphere > 8); /* which have fast loops */
            check(&c);
            free_model_case(&c);
        }
}

/* ---- block by block ---- */

/* In the set by its own inequalities, and no other point of it is nearer: (x - p)'(z - p) <= 0. */
static void check_project(ModelCase *c)
{
    double *x = model_vector(c->n, 1, -0.4), *p = vector(c->n), *z = model_vector(c->n, 2, -0.4);
    memcpy(p, x, (size_t)c->n * sizeof *p);
    cpu->block.project(c->op, metric_of(c), p);
    model_project_all(c, z);
    for (int i = 0; i < c->blocks; i++) {
        ModelBlock b = model_block(c, i);
        double gamma[6], product = 0.0;
        for (int k = 0; k < c->rows; k++) {
            int e = i * c->rows + k;
            gamma[k] = model_scale(c, i, k) * p[e];
            product += (x[e] - p[e]) * (z[e] - p[e]);
        }
        CHECK(model_allows(&b, c->rows, gamma, 1e-15) && product <= 1e-14);
    }
    model_project_all(c, x);
    near(p, x, c->n, 1e-14);
    free(x);
    free(p);
    free(z);
}

TEST(projections)
{
    for_models(check_project);
}

/* Recession cones: the normal under laws with bounds and Coulomb's, else the cone; and their spans. */
static void check_recession_of(ModelCase *c, bool relaxed)
{
    double *x = model_vector(c->n, 1, -0.4), *y = model_vector(c->n, 2, -0.4);
    double *expected = vector(c->n), *span = vector(c->n);
    const double least = 0.5, unit[2] = {1.0, 1.0};
    for (int i = 0; i < c->blocks; i++) {
        ModelBlock b = model_law(c, i);
        double *p = expected + i * c->rows, *s = span + i * c->rows, size2 = 0.0;
        TalusFrictionLaw law = talus_problem_friction(c->problem, i).law;
        bool normal = law == TALUS_LAW_FIXED || (law == TALUS_LAW_COULOMB && !relaxed);
        memcpy(p, x + i * c->rows, (size_t)c->rows * sizeof *p);
        memcpy(s, y + i * c->rows, (size_t)c->rows * sizeof *s);
        b.prism = false;
        if (!normal)
            model_project(&b, c->rows, unit, p);
        for (int k = 0; k < c->rows; k++) {
            p[k] = !normal ? p[k] : k ? 0.0 : fmax(p[0], 0.0);
            size2 += p[k] * p[k];
            double bound = k == 0 ? 1.0 : k < 3 ? b.mu : b.moment_mu[k > 3];
            s[k] = bound == 0.0 || (normal && k) ? 0.0 : s[k];
        }
        for (int k = 0; k < c->rows && size2 <= least * least; k++)
            p[k] = s[k] = 0.0;
    }
    cpu->block.project_recession(c->op, relaxed, least, x);
    near(x, expected, c->n, 1e-14);
    cpu->block.project_recession_span(c->op, relaxed, x, y);
    near(y, span, c->n, 0.0);
    free(x);
    free(y);
    free(expected);
    free(span);
}

static void check_recession(ModelCase *c)
{
    check_recession_of(c, false);
    check_recession_of(c, true);
}

TEST(recession_cones)
{
    for_models(check_recession);
}

static void check_forward(ModelCase *c)
{
    double *x = model_vector(c->n, 3, -0.4), *g = model_vector(c->n, 4, -0.5), sum2, max;
    double *t = vector(c->n), *r = vector(c->n), *gamma = vector(c->n), r2 = 0.0, rg = 0.0;
    TalusForwardSums sums;
    TalusSizes sizes, expected = {0.0, 0.0, 0.0};
    model_project_all(c, x);
    double *p = forward_point(c, x, g, 0.3);
    cpu->block.forward_backward(c->op, metric_of(c), x, g, 0.3, t, r, &sums);
    near(t, p, c->n, 1e-14);
    for (int k = 0; k < c->n; k++) {
        r2 += (x[k] - p[k]) * (x[k] - p[k]);
        rg += (x[k] - p[k]) * g[k];
    }
    natural(c, x, g, &sum2, &max);
    near_sum(sums.r2, r2);
    near_sum(sums.rg, rg);
    near_sum(sums.residual2, sum2);
    near_sum(sums.residual_max, max);
    cpu->op.measure_sizes(c->op, metric_of(c), g, &sizes);
    for (int i = 0; i < c->blocks; i++) {
        double d = talus_problem_diagonal(c->problem, i), inside[6];
        ModelBlock b = model_block(c, i);
        for (int k = 0; k < c->rows; k++)
            inside[k] = gamma[i * c->rows + k] = model_scale(c, i, k) * g[i * c->rows + k];
        model_project(&b, c->rows, (const double[]){1.0, 1.0}, inside);
        for (int k = 0; k < c->rows; k++) {
            double value = gamma[i * c->rows + k], off = value - inside[k];
            expected.size += d * d * value * value;
            expected.outside += d * d * off * off;
            expected.over += value * value / d;
        }
    }
    near_sum(sizes.size, expected.size);
    near_sum(sizes.outside, expected.outside);
    near_sum(sizes.over, expected.over);
    free(x);
    free(g);
    free(t);
    free(r);
    free(gamma);
    free(p);
}

TEST(forward_backward_steps_and_sizes)
{
    for_models(check_forward);
}

/* Points of the set, every second one well inside or without an impulse. */
static double *inside_or_bound(const ModelCase *c, uint64_t seed)
{
    double *x = model_vector(c->n, seed, -0.2);
    for (int i = 0; i < c->blocks; i++)
        for (int k = 1; k < c->rows; k++)
            x[i * c->rows + k] *= i % 2 ? 0.01 : 1.0;
    model_project_all(c, x);
    return x;
}

/* On its boundary: it can leave the set by a step that is nearly nothing. Random points are not near it
 * without being there. Rows whose bound is 0 cannot move and do not count. */
static bool on_boundary(const ModelCase *c, int i, const double *x)
{
    ModelBlock b = model_block(c, i);
    double gamma[6] = {0.0}, size;
    for (int k = 0; k < c->rows; k++)
        gamma[k] = model_scale(c, i, k) * x[k];
    size = b.prism ? b.estimate : gamma[0];
    if (gamma[0] <= 0.0)
        return true;
    for (int k = 1; k < c->rows; k++) {
        double bound = k < 3 ? b.mu : b.moment_mu[k > 3];
        for (int sign = -1; sign <= 1; sign += 2) {
            double moved[6];
            memcpy(moved, gamma, sizeof moved);
            moved[k] += sign * 1e-9 * bound * size;
            if (!model_allows(&b, c->rows, moved, 1e-14 * size))
                return true;
        }
    }
    return false;
}

static void check_faces(ModelCase *c)
{
    double *x = inside_or_bound(c, 5), *g = model_vector(c->n, 6, -0.5);
    double *free_part = vector(c->n), *chopped = vector(c->n), *masked = vector(c->n);
    TalusFace face;
    int active = 0, counted, changed;
    double *p = forward_point(c, x, g, 0.3);
    memcpy(masked, g, (size_t)c->n * sizeof *g);
    cpu->block.clear_active(c->op, metric_of(c), x, masked);
    cpu->block.split_gradient(c->op, metric_of(c), x, g, 0.3, free_part, NULL, chopped, &face);
    for (int i = 0; i < c->blocks; i++) {
        ModelBlock b = model_block(c, i);
        bool bound = on_boundary(c, i, x + i * c->rows);
        active += bound;
        for (int k = 0; k < c->rows; k++) {
            int e = i * c->rows + k;
            double size = b.prism ? b.estimate : 1.0;
            bool stuck = k && (k < 3 ? b.mu : b.moment_mu[k > 3]) * size == 0.0;
            CHECK(free_part[e] == (bound || stuck ? 0.0 : g[e]));
            CHECK_NEAR(chopped[e], bound ? (x[e] - p[e]) / 0.3 : 0.0, 1e-13);
        }
    }
    near(masked, free_part, c->n, 0.0);
    CHECK_INT(face.active, active);
    CHECK(active > 0 && active < c->blocks);
    cpu->block.compare_active(c->op, metric_of(c), p, x, &counted, &changed);
    CHECK_INT(counted, active);
    for (int i = 0; i < c->blocks; i++)
        changed -= on_boundary(c, i, p + i * c->rows) != on_boundary(c, i, x + i * c->rows);
    CHECK_INT(changed, 0);
    free(x);
    free(g);
    free(free_part);
    free(chopped);
    free(masked);
    free(p);
}

TEST(faces)
{
    for_models(check_faces);
}

static bool all_allowed(const ModelCase *c, const double *x, const double *p, double a,
                        double slack)
{
    bool ok = true;
    for (int i = 0; i < c->blocks; i++) {
        ModelBlock b = model_block(c, i);
        double gamma[6];
        for (int k = 0; k < c->rows; k++)
            gamma[k] = model_scale(c, i, k) * (x[i * c->rows + k] - a * p[i * c->rows + k]);
        ok = ok && model_allows(&b, c->rows, gamma, slack);
    }
    return ok;
}

/* The tangent cone's projection is the derivative of the set's; a step ends at the boundary. */
static void check_directions(ModelCase *c)
{
    const double little = 1e-8;
    double *x = inside_or_bound(c, 7), *d = model_vector(c->n, 8, -0.5);
    double *out = vector(c->n), *moved = vector(c->n);
    for (int k = 0; k < c->n; k++)
        moved[k] = x[k] + little * d[k];
    model_project_all(c, moved);
    for (int k = 0; k < c->n; k++)
        moved[k] = (moved[k] - x[k]) / little;
    cpu->block.project_tangent(c->op, metric_of(c), x, d, out);
    near(out, moved, c->n, 1e-5);
    cpu->block.clear_active(c->op, metric_of(c), x, d);
    double a = cpu->block.feasible_step(c->op, metric_of(c), x, d);
    CHECK(a > 0.0 && isfinite(a));
    CHECK(all_allowed(c, x, d, a * (1.0 - 1e-9), 1e-15));
    CHECK(!all_allowed(c, x, d, a * (1.0 + 1e-6), 1e-12));
    free(x);
    free(d);
    free(out);
    free(moved);
}

TEST(directions)
{
    for_models(check_directions);
}

/* ---- with a product ---- */

/* The gradient in the metric. */
static double *gradient_of(const ModelCase *c, const double *x)
{
    double *g = vector(c->n);
    cpu->op.gradient(c->op, metric_of(c), x, true, g);
    return g;
}

static void check_residual(ModelCase *c)
{
    double *x = model_vector(c->n, 9, -0.3), *g = vector(c->n), sum2, max, expected2, expected_max;
    TalusResidualSums sums;
    if (c->metric)
        free(x);
    else {
        cpu->op.product(c->op, x, true, true, g);
        natural(c, x, g, &expected2, &expected_max);
        cpu->op.residual(c->op, x, &sums, NULL);
        near_sum(sums.residual2, expected2);
        near_sum(sums.residual_max, expected_max);
        for (int i = 0; i < c->blocks; i++)
            for (int k = 0; k < c->rows; k++)
                g[i * c->rows + k] /= talus_problem_diagonal(c->problem, i);
        double *p = forward_point(c, x, g, 0.4);
        for (int k = 0; k < c->n; k++)
            p[k] = x[k] + 0.9 * (p[k] - x[k]);
        cpu->step.jacobi(c->op, 0.4, 0.9, x, &sum2, &max);
        near(x, p, c->n, 1e-13);
        near_sum(sum2, expected2);
        free(p);
        free(x);
    }
    free(g);
}

TEST(residual_and_relaxation)
{
    for_models(check_residual);
}

static void check_accelerated(ModelCase *c)
{
    if (!c->metric)
        return;
    double *x = model_vector(c->n, 10, -0.3), *xp = model_vector(c->n, 11, -0.3), sum2, max;
    double *g = gradient_of(c, x), *gp = gradient_of(c, xp), *y = vector(c->n), *h = vector(c->n);
    TalusAccelerated a = {.x = vector(c->n),
                          .x_prev = vector(c->n),
                          .g_prev = vector(c->n),
                          .metric = metric_of(c),
                          .beta = 0.6,
                          .step = 0.2,
                          .want_residual = true};
    TalusStepSums sums;
    memcpy(a.x, x, (size_t)c->n * sizeof *x);
    memcpy(a.x_prev, xp, (size_t)c->n * sizeof *x);
    memcpy(a.g_prev, gp, (size_t)c->n * sizeof *x);
    cpu->step.accelerate(c->op, &a, &sums);
    for (int k = 0; k < c->n; k++) {
        y[k] = x[k] + 0.6 * (x[k] - xp[k]);
        h[k] = g[k] + 0.6 * (g[k] - gp[k]);
    }
    double *next = forward_point(c, y, h, 0.2), restart = 0.0;
    for (int k = 0; k < c->n; k++)
        restart += (y[k] - next[k]) * (next[k] - x[k]);
    natural(c, x, g, &sum2, &max);
    near(a.x, next, c->n, 1e-13);
    near(a.x_prev, x, c->n, 0.0);
    near(a.g_prev, g, c->n, 1e-13);
    near_sum(sums.restart, restart);
    near_sum(sums.residual2, sum2);
    near_sum(sums.residual_max, max);
    cpu->step.accelerate(c->op, &a, &sums); /* from the wrenches that the first has left */
    double *again = gradient_of(c, next);
    near(a.g_prev, again, c->n, 1e-12);
    double *const all[] = {x, xp, g, gp, y, h, next, again, a.x, a.x_prev, a.g_prev};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

TEST(accelerated_steps)
{
    for_models(check_accelerated);
}

enum { QX, QG, QR, QD, QX_NEXT, QG_NEXT, QR_NEXT, QSX, QSG, QSR, QPAIR, Q_ALL };

static void check_quasi(ModelCase *c)
{
    double *v[Q_ALL], weight[1] = {-0.7}, sum2, max, smooth = 0.0;
    if (!c->metric)
        return;
    for (int k = 0; k < Q_ALL; k++)
        v[k] = k == QX || k == QR || k == QSR ? model_vector(c->n, 20 + (uint64_t)k, -0.4)
                                              : vector(c->n);
    free(v[QG]);
    v[QG] = gradient_of(c, v[QX]);
    TalusQuasi q = {metric_of(c), 0.3,        1.0,        false,  v[QX],  v[QG],  v[QR],      v[QD],
                    v[QX_NEXT],   v[QG_NEXT], v[QR_NEXT], v[QSX], v[QSG], v[QSR], {v[QPAIR]}, 0};
    TalusQuasiSums sums;
    TalusSmoothSums smoothed;
    for (int halve = 0; halve < 2; halve++) {
        q.halve = halve;
        if (!halve)
            cpu->step.quasi_direction(c->op, &q, weight);
        cpu->step.quasi_step(c->op, &q, &sums);
        double *x = vector(c->n), r2 = 0.0;
        for (int k = 0; k < c->n; k++)
            x[k] = v[QX][k] - (halve ? 0.35 : 0.7) * v[QR][k];
        double *g = gradient_of(c, x), *p = forward_point(c, x, g, 0.3);
        smooth = 0.0;
        for (int k = 0; k < c->n; k++) {
            p[k] = x[k] - p[k];
            r2 += p[k] * p[k];
            smooth += p[k] * v[QSR][k];
        }
        near(v[QX_NEXT], x, c->n, 1e-13);
        near(v[QG_NEXT], g, c->n, 1e-12);
        near(v[QR_NEXT], p, c->n, 1e-12);
        near_sum(sums.r2, r2);
        near_sum(sums.smooth, smooth);
        free(x);
        free(g);
        free(p);
    }
    cpu->step.quasi_smooth(c->op, &q, 1.0, &smoothed);
    natural(c, v[QX], v[QG], &sum2, &max);
    near_sum(smoothed.residual2, sum2);
    near_sum(smoothed.residual_max, max);
    double *p = forward_point(c, v[QX], v[QG], 0.3);
    for (int k = 0; k < c->n; k++)
        p[k] = v[QX][k] - p[k];
    near(v[QSR], p, c->n, 1e-13);
    free(p);
    for (int k = 0; k < Q_ALL; k++)
        free(v[k]);
}

TEST(quasi_newton_steps)
{
    for_models(check_quasi);
}

static void check_ogm(ModelCase *c)
{
    double *x = model_vector(c->n, 40, -0.4), *y = model_vector(c->n, 41, -0.4);
    double *next = vector(c->n), sum2, max, got2, got_max;
    if (c->metric) {
        double *g = gradient_of(c, x), *t = forward_point(c, x, g, 0.3);
        TalusOgm o = {metric_of(c), x, g, vector(c->n), next, 0.3, 0.5, 0.25, true};
        memcpy(o.y, y, (size_t)c->n * sizeof *y);
        cpu->step.ogm(c->op, &o, &got2, &got_max);
        natural(c, x, g, &sum2, &max);
        near(o.y, t, c->n, 1e-14);
        for (int k = 0; k < c->n; k++)
            t[k] += 0.5 * (t[k] - y[k]) + 0.25 * (t[k] - x[k]);
        near(next, t, c->n, 1e-13);
        near_sum(got2, sum2);
        near_sum(got_max, max);
        free(g);
        free(t);
        free(o.y);
    }
    free(x);
    free(y);
    free(next);
}

TEST(optimised_gradient_steps)
{
    for_models(check_ogm);
}

int main(void)
{
    RUN(projections);
    RUN(recession_cones);
    RUN(forward_backward_steps_and_sizes);
    RUN(faces);
    RUN(directions);
    RUN(residual_and_relaxation);
    RUN(accelerated_steps);
    RUN(quasi_newton_steps);
    RUN(optimised_gradient_steps);
    return talus_test_result();
}
