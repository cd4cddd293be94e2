/* Friction models of every kind on the cuda backend: sections x laws x 3 and 6 rows, from bodies and from a
 * matrix, in a metric and without. Operation by operation against the CPU, which tests/test_backend_sets.c
 * and test_backend_law.c hold to plain formulas. */

#include "support/cuda.h"
#include "support/models.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;
static const HeapOptions small = {53, 3, 3, 2, 0.5, 0.02, 0.3};

/* ---- a problem on both backends, and vectors for it ---- */

typedef struct Case {
    ModelCase model;
    const TalusOperator *op; /* the host's */
    TalusOperator device;
    const TalusMetricBlock *metric, *device_metric; /* NULL: none */
    double *metric_there;
    size_t metric_room;
    int rows, blocks, n;
} Case;

typedef struct Both {
    double *host, *device;
    size_t room;
} Both;

static Case make_case(const ModelOptions *options)
{
    Case c = {.model = make_model_case(options, NULL)};
    c.op = c.model.op;
    c.rows = c.model.rows;
    c.blocks = c.model.blocks;
    c.n = c.model.n;
    CHECK_OK(cuda_mirror(c.op, &c.device));
    CHECK_OK(cuda->op.reserve_scratch(&c.device));
    if (c.model.metric) {
        size_t n = 4 * (size_t)c.blocks;
        CHECK_OK(cuda->vector.reserve(cuda_op(), &c.metric_there, &c.metric_room, n, "metric"));
        cuda->vector.put(cuda_op(), c.metric_there, c.model.metric[0], n);
        c.metric = (const TalusMetricBlock *)c.model.metric;
        c.device_metric = (const TalusMetricBlock *)c.metric_there;
    }
    return c;
}

static void free_case(Case *c)
{
    CHECK_OK(cuda->check(cuda_context()));
    cuda->vector.release(c->metric_there);
    cuda->op.mirror_clear(&c->device);
    free_model_case(&c->model);
}

static void settle(const Case *c, const Both *v)
{
    cuda->vector.put(cuda_op(), v->device, v->host, (size_t)c->n);
}

static Both make_both(const Case *c, uint64_t seed)
{
    Both v = {.host = model_vector(c->n, seed, -0.4)};
    CHECK_OK(cuda->vector.reserve(cuda_op(), &v.device, &v.room, (size_t)c->n, "test"));
    settle(c, &v);
    return v;
}

/* A point of the set, many of its blocks on the boundary. */
static Both make_point(const Case *c, uint64_t seed)
{
    Both v = make_both(c, seed);
    cpu->block.project(c->op, c->metric, v.host);
    settle(c, &v);
    return v;
}

static void free_all(Both *v, int count)
{
    for (int k = 0; k < count; k++) {
        cuda->vector.release(v[k].device);
        free(v[k].host);
    }
}

/* To 1e-12 of the largest number. */
static bool same(const double *host, const double *device, int n)
{
    double *got = calloc((size_t)n + 1, sizeof *got), worst = 0.0, size = 0.0;
    cuda->vector.get(cuda_op(), got, device, (size_t)n);
    for (int k = 0; k < n; k++) {
        double off = fabs(got[k] - host[k]);
        worst = isnan(off) || isnan(worst) ? NAN : fmax(worst, off);
        size = fmax(size, fabs(host[k]));
    }
    free(got);
    return CHECK_NEAR(worst, 0.0, 1e-12 * size);
}

static bool same_both(const Case *c, const Both *v)
{
    return same(v->host, v->device, c->n);
}

static bool same_sum(double got, double expected)
{
    return got == expected || CHECK_NEAR(got, expected, 1e-11 * fabs(expected));
}

/* Every section and law with 3 rows, 6 rows and as a matrix, scaled or not; and all of them in one. */
static void for_cases(void (*check)(Case *c))
{
    for (int kind = -1; kind < MODEL_SECTIONS * MODEL_LAWS; kind++)
        for (int form = 0; form < 6; form++) {
            ModelOptions o = {.heap = small,
                              .rows = form / 2 == 1 ? 6 : 3,
                              .section = kind < 0 ? -1 : kind % MODEL_SECTIONS,
                              .law = kind < 0 ? -1 : kind / MODEL_SECTIONS,
                              .matrix = form / 2 == 2,
                              .scaled = form % 2};
            Case c = make_case(&o);
            CHECK(c.device.mixed_sets == c.op->mixed_sets && c.device.kinds == c.op->kinds);
            check(&c);
            free_case(&c);
        }
}

/* ---- block by block ---- */

static void check_steps(Case *c)
{
    Both v[4] = {make_point(c, 1), make_both(c, 2), make_both(c, 3), make_both(c, 4)};
    Both *x = &v[0], *g = &v[1], *t = &v[2], *r = &v[3];
    TalusForwardSums expected, got;
    TalusSizes sizes, expected_sizes;
    cpu->block.forward_backward(c->op, c->metric, x->host, g->host, 0.3, t->host, r->host,
                                &expected);
    cuda->block.forward_backward(&c->device, c->device_metric, x->device, g->device, 0.3, t->device,
                                 r->device, &got);
    same_both(c, t);
    same_both(c, r);
    same_sum(got.r2, expected.r2);
    same_sum(got.rg, expected.rg);
    same_sum(got.residual2, expected.residual2);
    same_sum(got.residual_max, expected.residual_max);
    cpu->op.measure_sizes(c->op, c->metric, g->host, &expected_sizes);
    cuda->op.measure_sizes(&c->device, c->device_metric, g->device, &sizes);
    same_sum(sizes.size, expected_sizes.size);
    same_sum(sizes.outside, expected_sizes.outside);
    same_sum(sizes.over, expected_sizes.over);
    for (int relaxed = 1; relaxed >= 0;
         relaxed--) { /* the cone, and then what of it is in the other */
        cpu->block.project_recession(c->op, relaxed, 0.3, t->host);
        cuda->block.project_recession(&c->device, relaxed, 0.3, t->device);
        same_both(c, t);
        cpu->block.project_recession_span(c->op, relaxed, t->host, r->host);
        cuda->block.project_recession_span(&c->device, relaxed, t->device, r->device);
        same_both(c, r);
    }
    cpu->block.project(c->op, c->metric, g->host);
    cuda->block.project(&c->device, c->device_metric, g->device);
    same_both(c, g);
    free_all(v, 4);
}

TEST(projected_steps)
{
    NEEDS_CUDA();
    for_cases(check_steps);
}

static void same_face(const TalusFace *got, const TalusFace *expected)
{
    same_sum(got->free2, expected->free2);
    same_sum(got->reduced_g, expected->reduced_g);
    same_sum(got->chopped_g, expected->chopped_g);
    same_sum(got->chopped2, expected->chopped2);
    same_sum(got->residual2, expected->residual2);
    CHECK_INT(got->active, expected->active);
    CHECK_INT(got->unbound, expected->unbound);
}

static void check_faces(Case *c)
{
    Both v[6] = {make_point(c, 5), make_both(c, 6), make_both(c, 7),
                 make_both(c, 7),  make_both(c, 7), make_point(c, 8)};
    Both *x = &v[0], *g = &v[1], *part = &v[2], *y = &v[5];
    TalusFace expected, got;
    int active, changed, expected_active, expected_changed;
    cpu->block.split_gradient(c->op, c->metric, x->host, g->host, 0.3, part[0].host, part[1].host,
                              part[2].host, &expected);
    cuda->block.split_gradient(&c->device, c->device_metric, x->device, g->device, 0.3,
                               part[0].device, part[1].device, part[2].device, &got);
    for (int k = 0; k < 3; k++)
        same_both(c, &part[k]);
    same_face(&got, &expected);
    CHECK(got.active > 0 && got.active < c->blocks);
    cpu->block.compare_active(c->op, c->metric, x->host, y->host, &expected_active,
                              &expected_changed);
    cuda->block.compare_active(&c->device, c->device_metric, x->device, y->device, &active,
                               &changed);
    CHECK_INT(active, expected_active);
    CHECK_INT(changed, expected_changed);
    cpu->block.project_tangent(c->op, c->metric, x->host, g->host, part[0].host);
    cuda->block.project_tangent(&c->device, c->device_metric, x->device, g->device, part[0].device);
    same_both(c, &part[0]);
    cpu->block.clear_active(c->op, c->metric, x->host, g->host);
    cuda->block.clear_active(&c->device, c->device_metric, x->device, g->device);
    same_both(c, g);
    double step = cpu->block.feasible_step(c->op, c->metric, x->host, g->host);
    CHECK(step > 0.0 && (c->rows == 6 || isfinite(step))); /* six rows: all may be on a bound */
    same_sum(cuda->block.feasible_step(&c->device, c->device_metric, x->device, g->device), step);
    free_all(v, 6);
}

TEST(faces_and_directions)
{
    NEEDS_CUDA();
    for_cases(check_faces);
}

/* ---- with a product ---- */

static void check_bodies(Case *c, const Both *x)
{
    int n = 8 * c->op->bodies;
    double *host = model_vector(n, 9, 0.0), *device = NULL;
    size_t room = 0;
    CHECK_OK(cuda->vector.reserve(cuda_op(), &device, &room, (size_t)n, "velocities"));
    for (int offset = 0; offset < 2; offset++) {
        cpu->op.body_velocities(c->op, x->host, offset, (double(*)[8])host);
        cuda->op.body_velocities(&c->device, x->device, offset, (double(*)[8])device);
        same(host, device, n);
    }
    cuda->vector.release(device);
    free(host);
}

static void check_products(Case *c)
{
    Both v[3] = {make_both(c, 10), make_both(c, 11), make_both(c, 12)};
    Both *x = &v[0], *out = &v[1], *m = &v[2];
    double sum2, max, expected2, expected_max;
    TalusResidualSums got, expected;
    TalusTermSums got_terms, terms;
    if (c->op->pair)
        check_bodies(c, x);
    for (int flags = 0; flags < 4; flags++) {
        cpu->op.product(c->op, x->host, flags & 1, flags & 2, out->host);
        cuda->op.product(&c->device, x->device, flags & 1, flags & 2, out->device);
        same_both(c, out);
    }
    cpu->op.gradient(c->op, c->metric, x->host, true, out->host);
    cuda->op.gradient(&c->device, c->device_metric, x->device, true, out->device);
    same_both(c, out);
    cpu->op.residual(c->op, x->host, &expected, &terms);
    cuda->op.residual(&c->device, x->device, &got, &got_terms);
    same_sum(got.residual2, expected.residual2);
    same_sum(got.residual_max, expected.residual_max);
    same_sum(got_terms.terms2, terms.terms2);
    same_sum(got_terms.terms_max, terms.terms_max);
    cpu->step.jacobi(c->op, 0.4, 0.9, x->host, &expected2, &expected_max);
    cuda->step.jacobi(&c->device, 0.4, 0.9, x->device, &sum2, &max);
    same_sum(sum2, expected2);
    same_both(c, x);
    for (int kind = 0; kind < 2 && c->rows >= 4; kind++) { /* with 3 rows there is not the room */
        cpu->op.fill_metric(c->op, (TalusMetric)kind, (TalusMetricBlock *)m->host);
        cuda->op.fill_metric(&c->device, (TalusMetric)kind, (TalusMetricBlock *)m->device);
        same(m->host, m->device, 4 * c->blocks);
    }
    free_all(v, 3);
}

TEST(products_and_residuals)
{
    NEEDS_CUDA();
    for_cases(check_products);
}

static void check_accelerated(Case *c, bool exact)
{
    Both v[3] = {make_point(c, 13), make_point(c, 14), make_both(c, 15)};
    TalusAccelerated host = {.x = v[0].host,
                             .x_prev = v[1].host,
                             .g_prev = v[2].host,
                             .metric = c->metric,
                             .beta = 0.6,
                             .step = 0.2,
                             .want_residual = true,
                             .exact = exact},
                     device = host;
    device.x = v[0].device;
    device.x_prev = v[1].device;
    device.g_prev = v[2].device;
    device.metric = c->device_metric;
    for (int step = 0; step < 3; step++) {
        TalusStepSums expected, got;
        cpu->step.accelerate(c->op, &host, &expected);
        cuda->step.accelerate(&c->device, &device, &got);
        same(host.x, device.x, c->n);
        same(host.x_prev, device.x_prev, c->n);
        same_both(c, &v[2]);
        same_sum(got.dx2, expected.dx2);
        same_sum(got.dg2, expected.dg2);
        same_sum(got.residual2, expected.residual2);
        same_sum(got.residual_max, expected.residual_max);
        CHECK_NEAR(got.restart, expected.restart, 1e-11 * expected.x2);
    }
    free_all(v, 3);
}

static void check_ogm(Case *c)
{
    Both v[4] = {make_both(c, 16), make_both(c, 17), make_both(c, 18), make_both(c, 19)};
    TalusOgm host = {c->metric, v[0].host, v[1].host, v[2].host, v[3].host, 0.3, 0.5, 0.25, true};
    TalusOgm device = {
        c->device_metric, v[0].device, v[1].device, v[2].device, v[3].device, 0.3, 0.5, 0.25, true};
    double sum2, max, expected2, expected_max;
    for (int want = 0; want < 2; want++) {
        host.want_residual = device.want_residual = want;
        cpu->step.ogm(c->op, &host, &expected2, &expected_max);
        cuda->step.ogm(&c->device, &device, &sum2, &max);
        same_both(c, &v[2]);
        same_both(c, &v[3]);
    }
    same_sum(sum2, expected2);
    same_sum(max, expected_max);
    free_all(v, 4);
}

enum { QX, QG, QR, QD, QX_NEXT, QG_NEXT, QR_NEXT, QSX, QSG, QSR, QPAIR, Q_ALL };

static TalusQuasi quasi_of(const TalusMetricBlock *m, double *v[Q_ALL])
{
    return (TalusQuasi){m,      0.3,    1.0,        false,      v[QX],      v[QG],
                        v[QR],  v[QD],  v[QX_NEXT], v[QG_NEXT], v[QR_NEXT], v[QSX],
                        v[QSG], v[QSR], {v[QPAIR]}, 0};
}

static void check_quasi(Case *c)
{
    Both v[Q_ALL];
    double *here[Q_ALL], *there[Q_ALL], weight[1] = {-0.7};
    for (int k = 0; k < Q_ALL; k++) {
        v[k] = make_both(c, 20 + (uint64_t)k);
        here[k] = v[k].host;
        there[k] = v[k].device;
    }
    TalusQuasi host = quasi_of(c->metric, here), device = quasi_of(c->device_metric, there);
    TalusQuasiSums expected, got;
    TalusSmoothSums smooth, expected_smooth;
    for (int halve = 0; halve < 2; halve++) {
        host.halve = device.halve = halve;
        if (!halve) {
            cpu->step.quasi_direction(c->op, &host, weight);
            cuda->step.quasi_direction(&c->device, &device, weight);
        }
        cpu->step.quasi_step(c->op, &host, &expected);
        cuda->step.quasi_step(&c->device, &device, &got);
        for (int k = QX_NEXT; k <= QR_NEXT; k++)
            same_both(c, &v[k]);
        same_sum(got.r2, expected.r2);
        same_sum(got.dw, expected.dw);
    }
    cpu->step.quasi_smooth(c->op, &host, 0.4, &expected_smooth);
    cuda->step.quasi_smooth(&c->device, &device, 0.4, &smooth);
    same_both(c, &v[QSX]);
    same_both(c, &v[QSR]);
    same_sum(smooth.r2, expected_smooth.r2);
    same_sum(smooth.residual2, expected_smooth.residual2);
    free_all(v, Q_ALL);
}

static void check_fused(Case *c)
{
    if (!c->metric)
        return;
    bool shifts = c->op->unshifted && !c->op->prisms;
    check_accelerated(c, false);
    if (shifts)
        check_accelerated(c, true);
    check_ogm(c);
    check_quasi(c);
}

TEST(fused_steps)
{
    NEEDS_CUDA();
    for_cases(check_fused);
}

/* ---- laws ---- */

static void same_law_sums(const TalusLawSums *got, const TalusLawSums *expected)
{
    same_sum(got->residual2, expected->residual2);
    same_sum(got->residual_max, expected->residual_max);
    same_sum(got->shift2, expected->shift2);
    same_sum(got->estimate2, expected->estimate2);
}

/* The offsets as solvers see them. */
static void same_offsets(Case *c, Both *out)
{
    cpu->op.product(c->op, NULL, false, true, out->host);
    cuda->op.product(&c->device, NULL, false, true, out->device);
    same_both(c, out);
}

static void check_laws(Case *c)
{
    Both v[2] = {make_both(c, 40), make_both(c, 41)};
    Both *gamma = &v[0], *out = &v[1];
    TalusLawSums expected, got;
    for (int round = 0; round < 3; round++) {
        const double share[3] = {1.0, 0.25, 0.0};
        cpu->law.measure_and_shift(c->op, gamma->host, share[round], &expected, NULL);
        cuda->law.measure_and_shift(&c->device, gamma->device, share[round], &got, NULL);
        same_law_sums(&got, &expected);
        same_offsets(c, out);
        for (int k = 0; k < c->n; k++)
            gamma->host[k] *= -0.7;
        settle(c, gamma);
    }
    cpu->law.measure_and_shift(c->op, gamma->host, 0.0, &expected, NULL);
    cuda->law.measure_and_shift(&c->device, gamma->device, 0.0, &got, NULL);
    same_law_sums(&got, &expected);
    cpu->law.clear_shifts(c->op);
    cuda->law.clear_shifts(&c->device);
    same_offsets(c, out);
    for (int round = 0; round < 2 && c->op->estimate; round++) {
        cpu->law.move_estimates(c->op, c->metric, gamma->host, round ? 1.0 : 0.3);
        cuda->law.move_estimates(&c->device, c->device_metric, gamma->device, round ? 1.0 : 0.3);
        same(c->op->estimate, c->device.estimate, c->blocks);
    }
    free_all(v, 2);
}

TEST(laws_measure_shift_and_estimate)
{
    NEEDS_CUDA();
    for_cases(check_laws);
}

/* ---- sweeps ---- */

/* The backend itself is asked for what solvers would not ask it for. */
TEST(sweeps_check_laws_and_rows)
{
    NEEDS_CUDA();
    for (int six = 0; six < 2; six++) {
        Case c = make_case(&(ModelOptions){
            .heap = small, .rows = six ? 6 : 3, .section = 1, .law = TALUS_LAW_COULOMB});
        Both gamma = make_both(&c, 50);
        TalusSweep *sweep = NULL;
        TalusSweepOptions options = {
            .order = TALUS_ORDER_COLOURED, .local = TALUS_ONE_EXACT, .omega = 1.0, .rho = 1.0};
        CHECK(cuda->sweep.prepare(&c.device, &options, gamma.device, &sweep) ==
              TALUS_ERR_UNSUPPORTED);
        CHECK(
            strstr(talus_error(), six ? "take 1 or 3 rows" : "law coulomb on the section square"));
        cuda->sweep.destroy(sweep);
        free_all(&gamma, 1);
        free_case(&c);
    }
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(projected_steps);
    RUN(faces_and_directions);
    RUN(products_and_residuals);
    RUN(fused_steps);
    RUN(laws_measure_shift_and_estimate);
    RUN(sweeps_check_laws_and_rows);
    return cuda_test_result();
}
