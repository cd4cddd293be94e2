/* The contract of a backend (backend/backend.h): the same problem in two forms gives the same
 * numbers, and both are the verifier's. */

#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "base/rng.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

static const TalusBackend *const cpu = &talus_backend_cpu;

/* ---- helpers ---- */

static TalusProblem *create(const TalusProblemDef *def)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(def, NULL, &problem));
    return problem;
}

static double *vector(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

/* Impulses of which some are inside, some on and some outside their cones. */
static double *random_vector(int n, uint64_t seed)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double *x = vector(n);
    for (int k = 0; k < n; k++)
        x[k] = talus_rng_uniform(&rng) - 0.3;
    return x;
}

static bool near(const double *a, const double *b, int n, double tolerance)
{
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < n; k++) {
        worst = fmax(worst, fabs(a[k] - b[k]));
        size = fmax(size, fabs(b[k]));
    }
    return CHECK_NEAR(worst, 0.0, tolerance * (size + 1e-3));
}

static bool near_one(double a, double b)
{
    return CHECK_NEAR(a, b, 1e-12 * (fabs(b) + 1e-3));
}

/* A problem in two forms. */
typedef struct Twins {
    const char *name;
    TalusProblem *problem[2];
    const TalusOperator *op[2];
    int n;
} Twins;

static Twins make_twins(const char *name, const TalusProblemDef *a, const TalusProblemDef *b)
{
    Twins t = {.name = name, .problem = {create(a), create(b)}, .n = verify_size(a)};
    for (int k = 0; k < 2; k++)
        t.op[k] = talus_problem_operator(t.problem[k]);
    CHECK_INT(talus_problem_size(t.problem[0]), t.n);
    CHECK_INT(talus_problem_size(t.problem[1]), t.n);
    return t;
}

static void destroy_twins(Twins *t)
{
    talus_problem_destroy(t->problem[0]);
    talus_problem_destroy(t->problem[1]);
}

/* ---- operations on both forms ---- */

/* Written-out compliance is part of N, so without it the forms differ unless E is 0. */
static bool same_products(const Twins *t, bool rigid)
{
    double *x = random_vector(t->n, 1), *y[2] = {vector(t->n), vector(t->n)};
    bool ok = true;
    for (int flags = 0; flags < 4; flags++) {
        bool compliant = flags & 1, offset = flags & 2;
        for (int k = 0; k < 2; k++)
            cpu->op.product(t->op[k], x, compliant, offset, y[k]);
        if (compliant || rigid)
            ok &= near(y[0], y[1], t->n, 1e-12);
    }
    for (int k = 0; k < 2; k++)
        cpu->op.product(t->op[k], NULL, true, true, y[k]);
    ok &= near(y[0], y[1], t->n, 1e-12);
    free(x);
    free(y[0]);
    free(y[1]);
    return ok;
}

static bool same_residuals(const Twins *t)
{
    double *x = random_vector(t->n, 2);
    TalusResidualSums sums[2];
    for (int k = 0; k < 2; k++)
        cpu->op.residual(t->op[k], x, &sums[k], NULL);
    bool ok = near_one(sums[0].residual2, sums[1].residual2) &&
              near_one(sums[0].residual_max, sums[1].residual_max);
    free(x);
    return ok;
}

static bool same_relaxations(const Twins *t)
{
    double *x[2] = {random_vector(t->n, 3), random_vector(t->n, 3)}, sum2[2], max[2];
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++)
            cpu->step.jacobi(t->op[k], 0.4, 0.9, x[k], &sum2[k], &max[k]);
        ok &= near_one(sum2[0], sum2[1]) && near_one(max[0], max[1]);
        ok &= near(x[0], x[1], t->n, 1e-12);
    }
    free(x[0]);
    free(x[1]);
    return ok;
}

static TalusMetricBlock *metric_of(const TalusOperator *op)
{
    TalusMetricBlock *m = calloc((size_t)op->blocks + 1, sizeof *m);
    for (int i = 0; i < op->blocks; i++) {
        m[i][0] = 1.0 / sqrt(op->diagonal[i][0]);
        m[i][1] = 1.0 / sqrt(op->diagonal[i][1]);
        m[i][2] = op->rows == 3 ? op->mu[i] * m[i][0] / m[i][1] : 0.0;
        m[i][3] = 1.0 / (1.0 + m[i][2] * m[i][2]);
    }
    return m;
}

static TalusAccelerated start_accelerated(const TalusOperator *op, int n)
{
    TalusAccelerated a = {.x = random_vector(n, 4),
                          .x_prev = random_vector(n, 5),
                          .g_prev = vector(n),
                          .metric = (const TalusMetricBlock *)metric_of(op),
                          .step = 0.2,
                          .want_residual = true};
    return a;
}

static void end_accelerated(TalusAccelerated *a)
{
    free(a->x);
    free(a->x_prev);
    free(a->g_prev);
    free((void *)a->metric);
}

static bool same_sums(const TalusStepSums *a, const TalusStepSums *b)
{
    bool ok = near_one(a->restart, b->restart) && near_one(a->dx2, b->dx2);
    ok &= near_one(a->dg2, b->dg2) && near_one(a->x2, b->x2);
    ok &= near_one(a->residual2, b->residual2);
    return ok && near_one(a->residual_max, b->residual_max);
}

static bool same_accelerations(const Twins *t)
{
    TalusAccelerated a[2];
    TalusStepSums sums[2];
    bool ok = true;
    for (int k = 0; k < 2; k++)
        a[k] = start_accelerated(t->op[k], t->n);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 2; k++) {
            a[k].beta = i ? 0.3 * i : 0.0;
            a[k].lag = i % 2 ? 0.6 : 0.0;
            cpu->step.accelerate(t->op[k], &a[k], &sums[k]);
        }
        ok &= same_sums(&sums[0], &sums[1]) && near(a[0].x, a[1].x, t->n, 1e-12);
        ok &= near(a[0].x_prev, a[1].x_prev, t->n, 1e-12);
        ok &= near(a[0].g_prev, a[1].g_prev, t->n, 1e-12);
    }
    end_accelerated(&a[0]);
    end_accelerated(&a[1]);
    return ok;
}

/* The residual that comes with a step is that of the x that went in. */
static bool step_measures_its_start(const Twins *t)
{
    TalusAccelerated a = start_accelerated(t->op[0], t->n);
    double *gamma = vector(t->n);
    TalusResidualSums at;
    TalusStepSums sums;
    memcpy(gamma, a.x, (size_t)t->n * sizeof *gamma);
    cpu->op.scale(t->op[0], a.metric, false, gamma);
    cpu->op.residual(t->op[0], gamma, &at, NULL);
    cpu->step.accelerate(t->op[0], &a, &sums);
    bool ok =
        near_one(sums.residual2, at.residual2) && near_one(sums.residual_max, at.residual_max);
    end_accelerated(&a);
    free(gamma);
    return ok;
}

/* With momentum and lag, x_next = P(y - step (g + ahead (g - g_prev))), by operations one by one. */
static bool step_follows_its_formula(const Twins *t)
{
    TalusAccelerated a = start_accelerated(t->op[0], t->n);
    double *g = vector(t->n), *expected = vector(t->n);
    TalusStepSums sums;
    a.beta = 0.8;
    a.lag = 0.6;
    cpu->op.gradient(t->op[0], a.metric, a.x, true, g);
    cpu->op.gradient(t->op[0], a.metric, a.x_prev, true, a.g_prev);
    for (int k = 0; k < t->n; k++)
        expected[k] = a.x[k] + 0.8 * (a.x[k] - a.x_prev[k]) -
                      a.step * (g[k] + 0.4 * 0.8 * (g[k] - a.g_prev[k]));
    cpu->block.project(t->op[0], a.metric, expected);
    cpu->step.accelerate(t->op[0], &a, &sums);
    bool ok = near(a.x, expected, t->n, 1e-12) && near(a.g_prev, g, t->n, 1e-12);
    end_accelerated(&a);
    free(g);
    free(expected);
    return ok;
}

static bool same_sweeps(const Twins *t, TalusOrder order, TalusMetric metric)
{
    TalusSweepOptions options = {
        .order = order, .metric = metric, .omega = 1.2, .rho = 0.95, .seed = 77};
    TalusSweep *sweep[2] = {NULL, NULL};
    double *x[2] = {random_vector(t->n, 6), random_vector(t->n, 6)}, change[2];
    bool ok = true;
    for (int k = 0; k < 2; k++)
        ok &= CHECK_OK(cpu->sweep.prepare(t->op[k], &options, x[k], &sweep[k]));
    for (int i = 0; i < 4 && ok; i++) {
        for (int k = 0; k < 2; k++)
            change[k] = cpu->sweep.run(sweep[k], 1);
        ok &= near_one(change[0], change[1]);
        if (i == 1) /* reading in between, with the scratch used by others, changes nothing */
            for (int k = 0; k < 2; k++) {
                TalusResidualSums sums;
                cpu->sweep.get_impulses(sweep[k], x[k]);
                cpu->op.residual(t->op[k], x[k], &sums, NULL);
            }
    }
    for (int k = 0; k < 2; k++) {
        cpu->sweep.get_impulses(sweep[k], x[k]);
        cpu->sweep.destroy(sweep[k]);
    }
    ok &= near(x[0], x[1], t->n, 1e-11);
    free(x[0]);
    free(x[1]);
    return ok;
}

static void check_twins(Twins *t, bool rigid, bool same_colours)
{
    bool ok = same_products(t, rigid) && same_residuals(t) && same_relaxations(t);
    ok &= same_accelerations(t) && step_measures_its_start(t) && step_follows_its_formula(t);
    for (int metric = 0; metric < 2; metric++) {
        ok &= same_sweeps(t, TALUS_ORDER_FORWARD, (TalusMetric)metric);
        ok &= same_sweeps(t, TALUS_ORDER_SYMMETRIC, (TalusMetric)metric);
        ok &= same_sweeps(t, TALUS_ORDER_RANDOM, (TalusMetric)metric);
        if (same_colours)
            ok &= same_sweeps(t, TALUS_ORDER_COLOURED, (TalusMetric)metric);
    }
    if (!ok)
        printf("    on %s\n", t->name);
    destroy_twins(t);
}

/* ---- the tests ---- */

TEST(matrix_free_is_the_matrix)
{
    static const HeapOptions heaps[] = {
        {1, 3, 3, 3, 0.4, 0.0, 0.0},  {2, 3, 3, 3, 0.0, 0.0, 0.0},  {3, 3, 3, 2, 0.4, 0.02, 0.0},
        {4, 3, 2, 3, 0.4, 0.03, 0.5}, {5, 3, 3, 2, 0.0, 0.02, 0.6}, {6, 2, 2, 2, 0.4, 0.0, 1.0},
        {7, 1, 1, 1, 0.4, 0.0, 0.0},  {8, 1, 1, 1, 0.0, 0.02, 1.0},
    };
    for (size_t i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        TestProblem p = make_heap(&heaps[i]), dense = make_dense_copy(&p.def);
        Twins t = make_twins("heap and its matrix", &p.def, &dense.def);
        check_twins(&t, heaps[i].compliance == 0.0, false);
        free_test_problem(&p);
        free_test_problem(&dense);
    }
}

/* Without radii the same spheres are bodies like any other, with stored arms. */
static void check_compact(TestProblem *p, int contacts)
{
    TalusProblemDef compact = p->def, general = p->def;
    compact.contact_count = general.contact_count = contacts;
    general.radius = NULL;
    Twins t = make_twins("compact and general form", &compact, &general);
    CHECK_INT(t.op[0]->general, 0);
    CHECK_INT(t.op[1]->general, contacts);
    check_twins(&t, true, true);
}

TEST(compact_spheres_are_general_bodies)
{
    for (int rough = 0; rough < 2; rough++) {
        TestProblem p = make_heap(&(HeapOptions){9, 9, 9, 6, rough ? 0.4 : 0.0, 0.0, 0.0});
        /* around chunk borders, and with the border between the runs inside a chunk */
        const int counts[] = {0, 1, 2, 3, 511, 512, 513, 1023, 1024, 1025, p.def.contact_count};
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
            check_compact(&p, counts[i]);
        free_test_problem(&p);
    }
}

static bool matches_verifier(const TalusProblemDef *def)
{
    TalusProblem *problem = create(def);
    int n = verify_size(def), bodies = 6 * def->body_count;
    double *x = random_vector(n, 7), *a = vector(n + bodies), *b = vector(n + bodies), objective;
    bool ok = CHECK_INT(talus_problem_size(problem), n);
    talus_problem_apply(problem, x, a);
    verify_product(def, x, b);
    ok &= near(a, b, n, 1e-13);
    talus_problem_velocity(problem, x, a);
    verify_velocity(def, x, b);
    ok &= near(a, b, n, 1e-13);
    talus_problem_gradient(problem, x, a);
    verify_gradient(def, x, b);
    ok &= near(a, b, n, 1e-13);
    talus_problem_offset(problem, a);
    verify_velocity(def, NULL, b);
    ok &= near(a, b, n, 1e-13);
    ok &= CHECK_OK(talus_problem_body_velocity(problem, x, a));
    verify_body_velocity(def, x, b);
    ok &= near(a, b, bodies, 1e-13);
    TalusResidual residual, truth = verify_residual(def, x);
    talus_problem_residual(problem, x, &residual);
    ok &= near_one(residual.rms, truth.rms) && near_one(residual.max, truth.max);
    ok &= CHECK_OK(talus_problem_objective(problem, x, &objective));
    ok &= near_one(objective, verify_objective(def, x));
    VerifyPoint zero = verify_zero_point(def);
    for (int i = 0; i < zero.blocks; i++)
        ok &= near_one(talus_problem_diagonal(problem, i), verify_diagonal(&zero, i));
    verify_point_free(&zero);
    free(x);
    free(a);
    free(b);
    talus_problem_destroy(problem);
    return ok;
}

TEST(operators_match_the_verifier)
{
    for (int rough = 0; rough < 2; rough++)
        for (int general = 0; general < 3; general++) {
            double mu = rough ? 0.5 : 0.0;
            TestProblem p = make_heap(&(HeapOptions){10, 9, 9, 7, mu, 0.01, 0.5 * general});
            const int counts[] = {0, 1, 2, 511, 512, 513, p.def.contact_count};
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                TalusProblemDef part = p.def;
                part.contact_count = counts[i];
                matches_verifier(&part);
            }
            free_test_problem(&p);
        }
}

TEST(vector_operations_are_plain_sums)
{
    for (int rows = 1; rows <= 3; rows += 2) {
        TestProblem p = make_heap(&(HeapOptions){11, 12, 12, 12, rows == 3 ? 0.3 : 0.0, 0, 0});
        TalusProblem *problem = create(&p.def);
        const TalusOperator *op = talus_problem_operator(problem);
        int n = verify_size(&p.def);
        double *x = random_vector(n, 8), *y = random_vector(n, 9), *z = vector(n), sum = 0.0;
        for (int k = 0; k < n; k++) {
            sum += x[k] * y[k];
            z[k] = 2.0 * x[k] - 0.5 * y[k];
        }
        CHECK_NEAR(cpu->vector.dot(op, x, y), sum, 1e-12 * n);
        cpu->vector.axpby(op, 2.0, x, -0.5, y);
        CHECK(memcmp(y, z, (size_t)n * sizeof *y) == 0);
        TalusMetricBlock *metric = metric_of(op);
        cpu->op.scale(op, (const TalusMetricBlock *)metric, true, y);
        for (int k = 0; k < n; k++)
            z[k] /= metric[k / rows][k % rows > 0];
        CHECK(memcmp(y, z, (size_t)n * sizeof *y) == 0);
        cpu->op.scale(op, (const TalusMetricBlock *)metric, false, y);
        for (int k = 0; k < n; k++)
            z[k] *= metric[k / rows][k % rows > 0];
        CHECK(memcmp(y, z, (size_t)n * sizeof *y) == 0);
        free(metric);
        free(x);
        free(y);
        free(z);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* ---- corners of the vectorised projections ---- */

static void run_one(const char *spec, TalusProblem *problem, int iterations)
{
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    options.tolerance = 0.0;
    options.max_iterations = iterations;
    REQUIRE_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK(info.outcome == TALUS_OUTCOME_BUDGET);
    talus_solver_destroy(solver);
}

static const char *const every_kernel[] = {"apgd", "gs:order=coloured,omega=0.5",
                                           "gs:order=forward,omega=0.5", "jacobi"};

/* A column that flies apart, one of whose contacts has no friction: tangents are exactly zero there,
 * and a projection that only compares |t| with mu n would let the contact pull. */
TEST(contacts_without_friction_do_not_pull)
{
    TestProblem p = make_column(3, 1.0, 0.3);
    double *v = (double *)p.def.free_velocity;
    for (int k = 0; k < 18; k++)
        v[k] = k % 6 == 2 ? 1.0 + k : 0.0; /* upwards, the upper ones faster */
    ((TalusContactDef *)p.def.contacts)[1].mu = 0.0;
    for (int flat = 0; flat < 2; flat++) {
        for (int i = 0; flat && i < p.def.contact_count; i++)
            ((TalusContactDef *)p.def.contacts)[i].mu = 0.0;
        TalusProblem *problem = create(&p.def);
        for (int s = 0; s < 4; s++) {
            double *gamma = talus_problem_gamma(problem), worst = 0.0;
            int n = talus_problem_size(problem);
            memset(gamma, 0, (size_t)n * sizeof *gamma);
            run_one(every_kernel[s], problem, 10);
            for (int k = 0; k < n; k++)
                worst = fmax(worst, fabs(gamma[k]));
            if (!CHECK(worst == 0.0))
                printf("    with %s\n", every_kernel[s]);
        }
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* Tangents so small that the inverse of their square overflows. */
TEST(vanishing_tangents_stay_finite)
{
    TestProblem p = make_column(3, 1.0, 0.3);
    memset((double *)p.def.free_velocity, 0, 18 * sizeof(double));
    for (double size = 1e-130; size > 0.0; size *= 1e-3) {
        TalusProblem *problem = create(&p.def);
        for (int s = 0; s < 4; s++) {
            double *gamma = talus_problem_gamma(problem);
            for (int k = 0; k < 9; k++)
                gamma[k] = k % 3 ? size : 0.0;
            run_one(every_kernel[s], problem, 3);
            double worst = 0.0;
            for (int k = 0; k < 9; k++)
                worst = isfinite(gamma[k]) ? fmax(worst, fabs(gamma[k])) : INFINITY;
            if (!CHECK(worst <= 10.0 * size + 1e-139))
                printf("    with %s at %g\n", every_kernel[s], size);
        }
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

TEST(backends_are_listed)
{
    CHECK(talus_backend_count() >= 1);
    CHECK_STR(talus_backend_row(0).name, "cpu");
    CHECK(talus_backend_row(0).available);
    CHECK(talus_backend_find("cpu") == cpu);
    CHECK(!talus_backend_find("abacus"));
    CHECK_STR(talus_error(),
              "backend abacus: there is no such one; `talus list backends` names them all");
    CHECK_STR(talus_backend_row(1).name, "cuda");
    if (!talus_backend_row(1).available) {
        CHECK(!talus_backend_find("cuda"));
        CHECK_STR(talus_error(), "backend cuda: not in this build; configure with cmake --preset "
                                 "cuda, which needs nvcc");
    }
}

int main(void)
{
    RUN(matrix_free_is_the_matrix);
    RUN(compact_spheres_are_general_bodies);
    RUN(operators_match_the_verifier);
    RUN(vector_operations_are_plain_sums);
    RUN(contacts_without_friction_do_not_pull);
    RUN(vanishing_tangents_stay_finite);
    RUN(backends_are_listed);
    return talus_test_result();
}
