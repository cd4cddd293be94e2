/* The general way of the CPU backend, block by block, is its fast way where both can go; its sweeps are
 * those of the formula; and threads do not show in it. */

#include "backend/block.h"
#include "base/rng.h"
#include "support/models.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TalusBackend *const cpu = &talus_backend_cpu;

static const HeapOptions small = {54, 3, 3, 2, 0.5, 0.02, 0.2};

/* ---- all results of all operations, one after the other ---- */

typedef struct Results {
    double *value;
    size_t count, room;
} Results;

static void keep(Results *r, const double *x, int n)
{
    if (r->count + (size_t)n > r->room) {
        r->room = 2 * (r->count + (size_t)n);
        r->value = realloc(r->value, r->room * sizeof *r->value);
    }
    memcpy(r->value + r->count, x, (size_t)n * sizeof *x);
    r->count += (size_t)n;
}

#define KEEP(r, sums) keep((r), (const double *)&(sums), (int)(sizeof(sums) / sizeof(double)))

static void run_blocks(const ModelCase *c, Results *r)
{
    const TalusMetricBlock *m = (const TalusMetricBlock *)c->metric;
    double *x = model_vector(c->n, 1, -0.4), *g = model_vector(c->n, 2, -0.5), step[2];
    double *v[4];
    TalusForwardSums forward;
    TalusFace face;
    TalusSizes sizes;
    int count[2];
    for (int k = 0; k < 4; k++)
        v[k] = model_vector(c->n, 3, -0.5);
    cpu->block.project(c->op, m, x);
    keep(r, x, c->n);
    cpu->block.forward_backward(c->op, m, x, g, 0.2, v[0], v[1], &forward);
    KEEP(r, forward);
    cpu->block.split_gradient(c->op, m, x, g, 0.2, v[1], v[2], v[3], &face);
    const double faces[] = {face.free2,     face.reduced_g,    face.chopped_g, face.chopped2,
                            face.residual2, face.residual_max, face.active};
    KEEP(r, faces);
    for (int k = 0; k < 4; k++)
        keep(r, v[k], c->n);
    cpu->block.project_tangent(c->op, m, x, g, v[1]);
    cpu->block.clear_active(c->op, m, x, g);
    step[0] = cpu->block.feasible_step(c->op, m, x, g);
    cpu->block.compare_active(c->op, m, x, v[0], &count[0], &count[1]);
    step[1] = count[0] + 1e5 * count[1];
    KEEP(r, step);
    keep(r, g, c->n);
    keep(r, v[1], c->n);
    cpu->op.measure_sizes(c->op, m, v[0], &sizes);
    KEEP(r, sizes);
    free(x);
    free(g);
    for (int k = 0; k < 4; k++)
        free(v[k]);
}

static void run_steps(const ModelCase *c, Results *r)
{
    TalusAccelerated a = {.x = model_vector(c->n, 4, -0.4),
                          .x_prev = model_vector(c->n, 5, -0.4),
                          .g_prev = model_vector(c->n, 6, -0.4),
                          .metric = (const TalusMetricBlock *)c->metric,
                          .beta = 0.5,
                          .step = 0.1,
                          .want_residual = true};
    double *gamma = model_vector(c->n, 7, -0.3), residual[2];
    TalusStepSums sums;
    for (int k = 0; k < 3; k++) {
        cpu->step.accelerate(c->op, &a, &sums);
        KEEP(r, sums);
    }
    keep(r, a.x, c->n);
    TalusOgm ogm = {a.metric, a.x, a.g_prev, gamma, a.x_prev, 0.2, 0.3, 0.4, true};
    cpu->step.ogm(c->op, &ogm, &residual[0], &residual[1]);
    KEEP(r, residual);
    keep(r, gamma, c->n);
    keep(r, a.x_prev, c->n);
    for (int k = 0; k < 3; k++)
        cpu->step.jacobi(c->op, 0.3, 0.9, gamma, &residual[0], &residual[1]);
    KEEP(r, residual);
    keep(r, gamma, c->n);
    TalusResidualSums measured;
    cpu->op.residual(c->op, gamma, &measured, NULL);
    KEEP(r, measured);
    free(a.x);
    free(a.x_prev);
    free(a.g_prev);
    free(gamma);
}

static void run_quasi(const ModelCase *c, Results *r)
{
    double *v[11], weight[3] = {-0.7, 0.2, -0.1};
    for (int k = 0; k < 11; k++)
        v[k] = model_vector(c->n, 30 + (uint64_t)k, -0.4);
    TalusQuasi q = {.metric = (const TalusMetricBlock *)c->metric,
                    .step = 0.3,
                    .unit = 1.0,
                    .x = v[0],
                    .g = v[1],
                    .r = v[2],
                    .d = v[3],
                    .x_next = v[4],
                    .g_next = v[5],
                    .r_next = v[6],
                    .smooth_x = v[7],
                    .smooth_g = v[8],
                    .smooth_r = v[9],
                    .pair = {v[10]}};
    TalusQuasiSums sums;
    TalusSmoothSums smooth;
    cpu->step.quasi_direction(c->op, &q, weight);
    cpu->step.quasi_step(c->op, &q, &sums);
    keep(r, &sums.r2, 9);
    q.halve = true;
    cpu->step.quasi_step(c->op, &q, &sums);
    keep(r, &sums.r2, 9);
    cpu->step.quasi_smooth(c->op, &q, 0.3, &smooth);
    KEEP(r, smooth);
    for (int k = 3; k < 10; k++)
        keep(r, v[k], c->n);
    for (int k = 0; k < 11; k++)
        free(v[k]);
}

static void run_sweeps(const ModelCase *c, Results *r)
{
    for (int order = TALUS_ORDER_FORWARD; order <= TALUS_ORDER_COLOURED; order++) {
        TalusSweepOptions options = {.order = (TalusOrder)order,
                                     .metric =
                                         order % 2 ? TALUS_METRIC_TRACE : TALUS_METRIC_ANISOTROPIC,
                                     .omega = 1.1,
                                     .rho = 0.95,
                                     .seed = 77};
        double *gamma = model_vector(c->n, 8, -0.3), change;
        TalusResidualSums residual;
        TalusSweep *sweep = NULL;
        CHECK_OK(cpu->sweep.prepare(c->op, &options, gamma, &sweep));
        change = cpu->sweep.run(sweep, 2);
        cpu->sweep.get_impulses(sweep, gamma);
        cpu->op.residual(c->op, gamma, &residual, NULL); /* uses the scratch */
        KEEP(r, residual);
        change += cpu->sweep.run(sweep, 1);
        cpu->sweep.get_impulses(sweep, gamma);
        KEEP(r, change);
        keep(r, gamma, c->n);
        cpu->sweep.destroy(sweep);
        free(gamma);
    }
}

static void run_laws(const ModelCase *c, Results *r)
{
    double *gamma = model_vector(c->n, 9, -0.3), *q = model_vector(c->n, 9, 0.0);
    TalusLawSums sums;
    cpu->law.measure_and_shift(c->op, gamma, 0.5, &sums, NULL);
    KEEP(r, sums);
    cpu->law.move_estimates(c->op, (const TalusMetricBlock *)c->metric, gamma, 0.5);
    cpu->law.measure_and_shift(c->op, gamma, 0.0, &sums, NULL);
    KEEP(r, sums);
    cpu->op.product(c->op, gamma, true, true, q);
    keep(r, q, c->n);
    cpu->law.clear_shifts(c->op);
    free(gamma);
    free(q);
}

static Results run_everything(const ModelCase *c)
{
    Results r = {0};
    run_blocks(c, &r);
    run_steps(c, &r);
    run_quasi(c, &r);
    run_sweeps(c, &r);
    run_laws(c, &r);
    return r;
}

/* ---- the same by both ways ---- */

TEST(general_way_is_the_fast_way)
{
    for (int form = 0; form < 4; form++) {
        ModelOptions o = {.heap = small,
                          .rows = 3,
                          .law = form / 2 ? TALUS_LAW_COULOMB : TALUS_LAW_CCP,
                          .matrix = form % 2,
                          .scaled = true};
        ModelCase c = make_model_case(&o, NULL);
        CHECK(!c.op->mixed_sets);
        Results fast = run_everything(&c);
        c.op->mixed_sets = true;
        Results general = run_everything(&c);
        CHECK_INT((long long)fast.count, (long long)general.count);
        double worst = 0.0;
        for (size_t k = 0; k < fast.count; k++) {
            double off = fabs(fast.value[k] - general.value[k]) / (1.0 + fabs(fast.value[k]));
            worst = isnan(off) ? NAN : fmax(worst, off);
        }
        CHECK_NEAR(worst, 0.0, 1e-12);
        free(fast.value);
        free(general.value);
        free_model_case(&c);
    }
}

/* ---- threads ---- */

TEST(threads_do_not_show)
{
    const int threads[] = {1, 2, 5};
    for (int form = 0; form < 2; form++) {
        Results all[3];
        for (int t = 0; t < 3; t++) {
            TalusPool *pool = NULL;
            CHECK_OK(talus_pool_create(threads[t], &pool));
            ModelCase c = make_model_case(&(ModelOptions){.heap = {55, 7, 7, 5, 0.4, 0.02, 0.3},
                                                          .rows = form ? 6 : 3,
                                                          .section = -1,
                                                          .law = -1,
                                                          .scaled = true},
                                          pool);
            CHECK(c.blocks > 512 && c.op->mixed_sets); /* more than one chunk of blocks */
            all[t] = run_everything(&c);
            free_model_case(&c);
            talus_pool_destroy(pool);
        }
        for (int t = 1; t < 3; t++)
            CHECK(all[t].count == all[0].count &&
                  memcmp(all[t].value, all[0].value, all[0].count * sizeof(double)) == 0);
        for (int t = 0; t < 3; t++)
            free(all[t].value);
    }
}

/* ---- sweeps ---- */

/* One sweep in order with the matrix: gamma_i = gamma_i + rho (P(gamma_i - omega B^-1 g_i) - gamma_i), the
 * projection being that in the metric B. */
static void sweep_by_hand(const ModelCase *c, const TalusSparse *a, const double *q,
                          const TalusSweepOptions *o, double *gamma)
{
    int spheres = c->op->pair ? c->op->sphere_sphere + c->op->sphere_fixed : 0;
    for (int i = 0; i < c->blocks; i++) {
        double coupling = i < spheres ? 1.0 : c->op->coupling[i - spheres], next[6], s[2];
        ModelBlock b = model_block(c, i);
        for (int k = 0; k < 2; k++)
            s[k] = 1.0 / sqrt(coupling * (o->metric == TALUS_METRIC_TRACE
                                              ? talus_problem_diagonal(c->problem, i)
                                              : c->op->diagonal[i][k]));
        for (int k = 0; k < c->rows; k++) {
            int row = i * c->rows + k;
            double g = q[row];
            for (int32_t e = a->start[row]; e < a->start[row + 1]; e++)
                g += a->value[e] * gamma[a->column[e]];
            next[k] = gamma[row] / s[k > 0] - o->omega * s[k > 0] * g;
        }
        model_project(&b, c->rows, s, next);
        for (int k = 0; k < c->rows; k++)
            gamma[i * c->rows + k] += o->rho * (s[k > 0] * next[k] - gamma[i * c->rows + k]);
    }
}

static void check_sweep(const ModelCase *c, TalusMetric metric)
{
    TalusSweepOptions options = {
        .order = TALUS_ORDER_FORWARD, .metric = metric, .omega = 1.2, .rho = 0.9};
    double *gamma = model_vector(c->n, 10, -0.3), *expected = model_vector(c->n, 10, -0.3);
    double *q = model_vector(c->n, 10, 0.0), worst = 0.0;
    TalusSweep *sweep = NULL;
    TalusSparse a;
    REQUIRE_OK(talus_problem_assemble(c->problem, &a));
    cpu->op.product(c->op, NULL, false, true, q);
    REQUIRE_OK(cpu->sweep.prepare(c->op, &options, gamma, &sweep));
    for (int k = 0; k < 3; k++) {
        cpu->sweep.run(sweep, 1);
        sweep_by_hand(c, &a, q, &options, expected);
    }
    cpu->sweep.get_impulses(sweep, gamma);
    for (int k = 0; k < c->n; k++)
        worst = isnan(gamma[k]) ? NAN : fmax(worst, fabs(gamma[k] - expected[k]));
    CHECK_NEAR(worst, 0.0, 1e-12);
    cpu->sweep.destroy(sweep);
    talus_sparse_clear(&a);
    free(gamma);
    free(expected);
    free(q);
}

/* 1/2 gamma'(N + E) gamma + q'gamma. */
static double objective(const TalusOperator *op, const double *gamma)
{
    int n = op->rows * op->blocks;
    double *g = model_vector(n, 11, 0.0), *q = model_vector(n, 11, 0.0), sum = 0.0;
    cpu->op.product(op, gamma, true, true, g);
    cpu->op.product(op, NULL, false, true, q);
    for (int k = 0; k < n; k++)
        sum += 0.5 * gamma[k] * (g[k] + q[k]);
    free(g);
    free(q);
    return sum;
}

/* Every coloured sweep from no impulses lowers the objective, and in the end the residual is `reduced`. */
static void check_descent(const TalusOperator *op, double reduced)
{
    TalusSweepOptions options = {.order = TALUS_ORDER_COLOURED, .omega = 1.0, .rho = 1.0};
    double *gamma = calloc((size_t)op->rows * (size_t)op->blocks, sizeof *gamma);
    double before = 0.0;
    TalusResidualSums first, last;
    TalusSweep *sweep = NULL;
    cpu->op.residual(op, gamma, &first, NULL);
    REQUIRE_OK(cpu->sweep.prepare(op, &options, gamma, &sweep));
    for (int k = 0; k < 200; k++) {
        cpu->sweep.run(sweep, 1);
        cpu->sweep.get_impulses(sweep, gamma);
        double now = objective(op, gamma);
        CHECK(now <= before + 1e-14 * fabs(before));
        before = now;
    }
    cpu->op.residual(op, gamma, &last, NULL);
    CHECK(last.residual2 <= reduced * reduced * first.residual2);
    cpu->sweep.destroy(sweep);
    free(gamma);
}

TEST(sweeps_project_in_their_metric)
{
    for (int kind = 0; kind < MODEL_SECTIONS * MODEL_LAWS; kind++)
        for (int form = 0; form < 3; form++) {
            ModelOptions o = {.heap = small,
                              .rows = form == 1 ? 6 : 3,
                              .section = kind % MODEL_SECTIONS,
                              .law = kind / MODEL_SECTIONS,
                              .matrix = form == 2};
            ModelCase c = make_model_case(&o, NULL);
            check_sweep(&c, TALUS_METRIC_TRACE);
            check_sweep(&c, TALUS_METRIC_ANISOTROPIC);
            check_descent(c.op, 0.3);
            free_model_case(&c);
        }
}

/* A body with so many contacts that they cannot all have colours: it is no thread's alone. */
TEST(sweeps_over_a_heavy_body)
{
    TestProblem p = make_bowl(300, 0.4, 0.0);
    TalusContactDef *contacts = (TalusContactDef *)p.def.contacts;
    TalusSweepOptions options = {.order = TALUS_ORDER_COLOURED, .omega = 1.0, .rho = 1.0};
    double *gamma[2] = {NULL, NULL};
    int n = 3 * p.def.contact_count;
    for (int i = 0; i < p.def.contact_count; i++)
        contacts[i].model = model_at(1, TALUS_LAW_CCP);
    for (int t = 0; t < 2; t++) {
        TalusPool *pool = NULL;
        TalusProblem *problem = NULL;
        TalusSweep *sweep = NULL;
        CHECK_OK(talus_pool_create(t ? 4 : 1, &pool));
        REQUIRE_OK(talus_problem_create(&p.def, pool, &problem));
        const TalusOperator *op = talus_problem_operator(problem);
        gamma[t] = calloc((size_t)n, sizeof(double));
        if (t == 0)
            check_descent(op, 0.5);
        CHECK_OK(cpu->sweep.prepare(op, &options, gamma[t], &sweep));
        cpu->sweep.run(sweep, 50);
        cpu->sweep.get_impulses(sweep, gamma[t]);
        cpu->sweep.destroy(sweep);
        talus_problem_destroy(problem);
        talus_pool_destroy(pool);
    }
    CHECK(memcmp(gamma[0], gamma[1], (size_t)n * sizeof(double)) == 0);
    free(gamma[0]);
    free(gamma[1]);
    free_test_problem(&p);
}

/* ---- the bound of a block ---- */

/* Of random positive semidefinite blocks: c diag - B is positive semidefinite, and the mean c is below Gershgorin's. */
TEST(coupling_bounds_blocks_of_three_rows)
{
    TalusRng rng = talus_rng_from_seed(3);
    double sum = 0.0, gershgorin = 0.0;
    for (int n = 0; n < 200; n++) {
        double f[3][3], b[9] = {0.0};
        for (int k = 0; k < 9; k++)
            f[k / 3][k % 3] = 2.0 * talus_rng_uniform(&rng) - 1.0;
        for (int k = 0; k < 9; k++)
            for (int m = 0; m < 3; m++)
                b[k] += f[k / 3][m] * f[k % 3][m];
        double tt = 0.5 * (b[4] + b[8]), d[3] = {b[0], tt, tt}, largest = 0.0;
        double c = talus_block_coupling_of_three(b, b[0], tt);
        for (int m = 0; m < 2000; m++) {
            double above = 0.0, below = 0.0, x[3];
            for (int k = 0; k < 3; k++)
                x[k] = (2.0 * talus_rng_uniform(&rng) - 1.0) / sqrt(d[k]);
            for (int k = 0; k < 9; k++)
                above += x[k / 3] * b[k] * x[k % 3];
            for (int k = 0; k < 3; k++)
                below += d[k] * x[k] * x[k];
            largest = fmax(largest, above / below);
        }
        CHECK(largest <= c * (1.0 + 1e-12));
        sum += c;
        gershgorin += talus_block_coupling(b, 3, 3, b[0], tt);
    }
    CHECK(sum < 0.99 * gershgorin);
    const double round[9] = {2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 3.0};
    CHECK(talus_block_coupling_of_three(round, 2.0, 3.0) == 1.0);
}

int main(void)
{
    RUN(coupling_bounds_blocks_of_three_rows);
    RUN(general_way_is_the_fast_way);
    RUN(threads_do_not_show);
    RUN(sweeps_project_in_their_metric);
    RUN(sweeps_over_a_heavy_body);
    return talus_test_result();
}
