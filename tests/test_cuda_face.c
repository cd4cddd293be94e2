/* mprgp without the host (proportion_run of the cuda backends): the CPU's iterates, counts and
 * solutions, the same bits every time and however the run is cut. */

#include "support/problems.h"
#include "support/test.h"

#include "problem/problem.h"
#include "support/cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* ---- problems and solves ---- */

enum { CASES = 9 };

static TestProblem make_test(int which)
{
    switch (which) {
    case 0: return make_heap(&(HeapOptions){1, 4, 4, 3, 0.0, 0.0, 0.0});
    case 1: return make_heap(&(HeapOptions){2, 5, 4, 4, 0.0, 0.02, 0.0});
    case 2: return make_heap(&(HeapOptions){3, 4, 3, 3, 0.0, 0.0, 0.5});
    case 3: return make_heap(&(HeapOptions){4, 3, 3, 2, 0.0, 0.02, 1.0});
    case 4: return make_bowl(100, 0.0, 0.0); /* the ball has a block of threads to itself */
    case 5: return make_heap(&(HeapOptions){5, 3, 3, 2, 0.4, 0.0, 0.0});
    case 6: return make_heap(&(HeapOptions){6, 3, 3, 2, 0.3, 0.01, 0.5});
    case 7: return make_bowl(70, 0.3, 0.0);
    default: return make_explicit(8, 30, 1);
    }
}

static const char *const specs[] = {"mprgp",
                                    "mprgp:metric=none",
                                    "mprgp:metric=none,step=1,expansion=gradient",
                                    "mprgp:expansion=half-step",
                                    "mprgp:metric=none,expansion=projcg",
                                    "mprgp:metric=trace,gamma=0.2",
                                    "mprgp:gamma=5,step=1"};
enum { SPECS = sizeof specs / sizeof *specs };

typedef struct Result {
    TalusSolveInfo info;
    double *gamma;
    int n;
} Result;

/* The solver `spec` from zero impulses. */
static Result solve_with(const TestProblem *test, const char *backend, const char *spec,
                         const TalusSolveOptions *options)
{
    Result r = {0};
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    CHECK_OK(talus_problem_create(&test->def, NULL, &problem));
    CHECK_OK(talus_problem_set_backend(problem, backend));
    CHECK_OK(talus_solver_create(spec, &solver));
    r.n = talus_problem_size(problem);
    r.gamma = calloc((size_t)r.n, sizeof *r.gamma);
    memset(talus_problem_gamma(problem), 0, (size_t)r.n * sizeof *r.gamma);
    CHECK_OK(talus_solver_solve(solver, problem, options, &r.info));
    memcpy(r.gamma, talus_problem_gamma(problem), (size_t)r.n * sizeof *r.gamma);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    return r;
}

static TalusSolveOptions budget(double tolerance, int iterations)
{
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    return options;
}

static bool near(const Result *a, const Result *b, double tolerance)
{
    double worst = 0.0, size = 0.0;
    for (int k = 0; k < a->n; k++) {
        worst = fmax(worst, fabs(a->gamma[k] - b->gamma[k]));
        size = fmax(size, fabs(b->gamma[k]));
    }
    return CHECK_NEAR(worst, 0.0, tolerance * size);
}

static bool same_bits(const Result *a, const Result *b)
{
    bool ok = CHECK_INT(a->info.iterations, b->info.iterations);
    ok &= CHECK_INT(a->info.products, b->info.products);
    ok &= CHECK(a->info.start_residual == b->info.start_residual);
    return CHECK(memcmp(a->gamma, b->gamma, (size_t)a->n * sizeof *a->gamma) == 0) && ok;
}

/* ---- the CPU's iterates ---- */

static bool follows(const TestProblem *test, const char *spec, int iterations)
{
    TalusSolveOptions options = budget(0.0, iterations);
    Result a = solve_with(test, "cpu", spec, &options),
           b = solve_with(test, "cuda", spec, &options);
    bool ok = CHECK_INT(b.info.iterations, a.info.iterations);
    ok &= CHECK_INT(b.info.products, a.info.products);
    ok &= CHECK_NEAR(b.info.start_residual, a.info.start_residual, 1e-13 * a.info.start_residual);
    ok &= CHECK_NEAR(b.info.residual.rms, a.info.residual.rms, 1e-8 * a.info.start_residual);
    ok &= near(&b, &a, 1e-9);
    free(a.gamma);
    free(b.gamma);
    return ok;
}

TEST(iterates_are_the_cpus)
{
    NEEDS_CUDA();
    static const int counts[] = {1, 2, 3, 7, 24};
    for (int i = 0; i < CASES * SPECS; i++) {
        TestProblem test = make_test(i / SPECS);
        for (int k = 0; k < (int)(sizeof counts / sizeof *counts); k++)
            if (!follows(&test, specs[i % SPECS], counts[k]))
                printf("case %d, %s, %d iterations\n", i / SPECS, specs[i % SPECS], counts[k]);
        free_test_problem(&test);
    }
}

/* ---- solutions ---- */

/* Contact velocities by the CPU. */
static void velocities(const TestProblem *test, const Result *r, double *u)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&test->def, NULL, &problem));
    talus_backend_cpu.op.product(talus_problem_operator(problem), r->gamma, false, true, u);
    talus_problem_destroy(problem);
}

static double largest_difference(const double *a, const double *b, int n)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++)
        worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

/* Long enough that gradients are formed afresh, on the way and before an expansion. */
TEST(solutions_are_the_cpus)
{
    NEEDS_CUDA();
    for (int i = 0; i < 2 * CASES; i++) {
        TestProblem test = make_test(i % CASES);
        const char *spec = i < CASES ? "mprgp" : "mprgp:expansion=half-step";
        TalusSolveOptions options = budget(1e-12, 4000);
        Result a = solve_with(&test, "cpu", spec, &options);
        Result b = solve_with(&test, "cuda", spec, &options);
        double *u[2] = {calloc((size_t)a.n, sizeof(double)), calloc((size_t)a.n, sizeof(double))};
        velocities(&test, &a, u[0]);
        velocities(&test, &b, u[1]);
        bool ok = CHECK_INT(b.info.outcome, a.info.outcome);
        ok &= CHECK(b.info.outcome == TALUS_OUTCOME_CONVERGED || test.def.mu);
        if (b.info.outcome == TALUS_OUTCOME_CONVERGED)
            ok &= CHECK_NEAR(largest_difference(u[0], u[1], a.n), 0.0, 1e-9);
        if (!ok)
            printf("%s, case %d: %d and %d iterations, rms %g and %g\n", spec, i % CASES,
                   a.info.iterations, b.info.iterations, a.info.residual.rms, b.info.residual.rms);
        free(u[0]);
        free(u[1]);
        free(a.gamma);
        free(b.gamma);
        free_test_problem(&test);
    }
}

/* The paper's rule ends where it ends on the CPU, give or take what rounding does. */
TEST(the_papers_stop)
{
    NEEDS_CUDA();
    for (int i = 0; i < CASES; i++) {
        TestProblem test = make_test(i);
        TalusSolveOptions options = budget(0.0, 3000);
        const char *spec = "mprgp:metric=none,stop=1e-4";
        Result a = solve_with(&test, "cpu", spec, &options);
        Result b = solve_with(&test, "cuda", spec, &options);
        bool ok = CHECK(b.info.iterations < options.max_iterations);
        ok &= CHECK_NEAR(b.info.iterations, a.info.iterations, 3 + 0.05 * a.info.iterations);
        ok &= CHECK_NEAR(b.info.residual.rms, a.info.residual.rms, 0.5 * a.info.residual.rms);
        if (!ok)
            printf("case %d: %d and %d iterations\n", i, a.info.iterations, b.info.iterations);
        free(a.gamma);
        free(b.gamma);
        free_test_problem(&test);
    }
}

/* ---- runs ---- */

static bool go_on(void *user, int iterations, int products, double residual)
{
    (void)products;
    (void)residual;
    *(int *)user = iterations;
    return true;
}

/* With a monitor every iteration is a run of its own. */
TEST(bits_do_not_depend_on_the_run)
{
    NEEDS_CUDA();
    for (int i = 0; i < CASES; i++) {
        TestProblem test = make_test(i);
        TalusSolveOptions options = budget(0.0, 140), watched = options;
        int seen = 0;
        watched.monitor = go_on;
        watched.monitor_user = &seen;
        Result r[3] = {solve_with(&test, "cuda", "mprgp:gamma=0.5", &options),
                       solve_with(&test, "cuda", "mprgp:gamma=0.5", &options),
                       solve_with(&test, "cuda", "mprgp:gamma=0.5", &watched)};
        bool ok = same_bits(&r[1], &r[0]);
        ok &= same_bits(&r[2], &r[0]);
        ok &= CHECK_INT(seen, 140);
        if (!ok)
            printf("case %d\n", i);
        for (int k = 0; k < 3; k++)
            free(r[k].gamma);
        free_test_problem(&test);
    }
}

/* ---- the operation itself ---- */

enum { METRIC = 6, VECTORS };

/* A run from zero impulses. */
typedef struct Direct {
    TalusProblem *problem;
    TalusOperator op;
    double *vector[VECTORS];
    TalusProportioning state;
    TalusRun run;
    int n;
    double *x;
} Direct;

static Direct begin(const TestProblem *test, TalusExpansion expansion, int iterations)
{
    Direct d = {.run = {.iterations = iterations, .check = 1}};
    CHECK_OK(talus_problem_create(&test->def, NULL, &d.problem));
    d.n = talus_problem_size(d.problem);
    d.x = calloc((size_t)d.n, sizeof *d.x);
    CHECK_OK(cuda_mirror(talus_problem_operator(d.problem), &d.op));
    CHECK_OK(cuda->op.reserve_scratch(&d.op));
    for (int k = 0; k < VECTORS; k++) {
        size_t n = k == METRIC ? 4 * (size_t)d.op.blocks : (size_t)d.n, room = 0;
        CHECK_OK(cuda->vector.reserve(cuda_op(), &d.vector[k], &room, n, "test"));
        cuda->vector.zero(cuda_op(), d.vector[k], n);
    }
    cuda->op.fill_metric(&d.op, TALUS_METRIC_ANISOTROPIC, (TalusMetricBlock *)d.vector[METRIC]);
    d.state = (TalusProportioning){.metric = (const TalusMetricBlock *)d.vector[METRIC],
                                   .x = d.vector[0],
                                   .g = d.vector[1],
                                   .p = d.vector[2],
                                   .np = d.vector[3],
                                   .phi = d.vector[4],
                                   .w = d.vector[5],
                                   .gamma = 1.0,
                                   .step = 1.5,
                                   .expansion = expansion,
                                   .enough = -1.0,
                                   .norm = 4.0};
    cuda->op.gradient(&d.op, d.state.metric, d.state.x, true, d.state.g);
    return d;
}

/* The error of the gradient that the run carries along, beside the largest entry of q. */
static double gradient_error(Direct *d)
{
    double *g = calloc((size_t)d->n, sizeof *g), *at = calloc((size_t)d->n, sizeof *at), size = 0.0;
    cuda->vector.get(cuda_op(), g, d->state.g, (size_t)d->n);
    cuda->op.gradient(&d->op, d->state.metric, d->state.x, true, d->state.phi);
    cuda->vector.get(cuda_op(), at, d->state.phi, (size_t)d->n);
    double worst = largest_difference(g, at, d->n);
    cuda->vector.zero(cuda_op(), d->state.p, (size_t)d->n);
    cuda->op.gradient(&d->op, d->state.metric, d->state.p, true, d->state.phi);
    cuda->vector.get(cuda_op(), at, d->state.phi, (size_t)d->n);
    for (int k = 0; k < d->n; k++)
        size = fmax(size, fabs(at[k]));
    free(g);
    free(at);
    return worst / size;
}

static void run_and_get(Direct *d)
{
    CHECK_OK(cuda->run.proportion(&d->op, &d->state, &d->run));
    CHECK_INT(d->run.done, d->run.iterations);
    cuda->vector.get(cuda_op(), d->x, d->state.x, (size_t)d->n);
}

static void end(Direct *d)
{
    for (int k = 0; k < VECTORS; k++)
        cuda->vector.release(d->vector[k]);
    CHECK_OK(cuda->check(cuda_context()));
    cuda->op.mirror_clear(&d->op);
    talus_problem_destroy(d->problem);
    free(d->x);
}

/* A gradient formed afresh at any moment, on the face and on its boundary, costs a product and changes
 * nothing. Few iterations: where blocks meet the boundary together, as in the symmetric bowl, rounding
 * decides what comes after. */
TEST(fresh_gradients_change_nothing)
{
    NEEDS_CUDA();
    static const TalusExpansion expansions[] = {TALUS_EXPAND_HALF_STEP, TALUS_EXPAND_SPECTRAL};
    int fresh[2] = {0, 0};
    for (int i = 0; i < 2 * (CASES - 1); i++) {
        TestProblem test = make_test(i / 2);
        Direct plain = begin(&test, expansions[i % 2], 16);
        run_and_get(&plain);
        CHECK(gradient_error(&plain) < 1e-12);
        for (int updates = 84; updates < 100; updates++) {
            Direct d = begin(&test, expansions[i % 2], 16);
            d.state.unchecked = updates;
            run_and_get(&d);
            int more = d.state.products - plain.state.products;
            bool ok = CHECK(more == 0 || more == 1) && CHECK(gradient_error(&d) < 1e-12);
            ok &= CHECK_NEAR(largest_difference(d.x, plain.x, d.n), 0.0, 1e-9);
            if (!ok)
                printf("case %d, expansion %d after %d updates\n", i / 2, i % 2, updates);
            fresh[i % 2] += more;
            end(&d);
        }
        end(&plain);
        free_test_problem(&test);
    }
    CHECK(fresh[0] > CASES && fresh[1] > CASES);
}

/* Once a projected step of conjugate gradients has raised the objective, expansions are by half steps, in later runs
 * too. */
TEST(half_steps_follow_a_rise)
{
    NEEDS_CUDA();
    for (int i = 0; i < CASES - 1; i++) {
        TestProblem test = make_test(i);
        Direct half = begin(&test, TALUS_EXPAND_HALF_STEP, 16);
        Direct risen = begin(&test, TALUS_EXPAND_PROJCG, 16);
        risen.state.rose = true;
        run_and_get(&half);
        run_and_get(&risen);
        CHECK(risen.state.rose);
        CHECK_INT(risen.state.products, half.state.products);
        CHECK(largest_difference(risen.x, half.x, half.n) == 0.0);
        end(&half);
        end(&risen);
        free_test_problem(&test);
    }
}

/* x'N x over x'x, in the metric. */
static double curvature(Direct *d)
{
    cuda->op.gradient(&d->op, d->state.metric, d->state.x, false, d->state.np);
    return cuda->vector.dot(&d->op, d->state.x, d->state.np) /
           cuda->vector.dot(&d->op, d->state.x, d->state.x);
}

/* A step shows what the norm of the operator is at least: one along beta without friction, a projection
 * with it. */
TEST(norms_are_raised)
{
    NEEDS_CUDA();
    for (int i = 0; i < CASES - 1; i++) {
        TestProblem test = make_test(i);
        Direct d = begin(&test, TALUS_EXPAND_SPECTRAL, 2);
        d.state.norm = 1e-3;
        run_and_get(&d);
        double shown = curvature(&d);
        if (!CHECK_NEAR(d.state.norm, 1.02 * shown, 1e-9 * shown))
            printf("case %d\n", i);
        end(&d);
        free_test_problem(&test);
    }
}

/* A tolerance ends the run, in either norm; a problem without a solution is noticed. */
TEST(runs_end)
{
    NEEDS_CUDA();
    TestProblem heap = make_test(0), wedge = make_wedge(0.0, 4);
    TalusSolveOptions options = budget(1e-6, 4000);
    Result rms = solve_with(&heap, "cuda", "mprgp", &options);
    CHECK_INT(rms.info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK(rms.info.residual.rms <= 1e-6 && rms.info.iterations < 1000);
    options.norm = TALUS_NORM_MAX;
    Result max = solve_with(&heap, "cuda", "mprgp", &options);
    CHECK_INT(max.info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK(max.info.residual.max <= 1e-6 && max.info.iterations < 1000);
    Result none = solve_with(&wedge, "cuda", "mprgp", &options);
    CHECK_INT(none.info.outcome, TALUS_OUTCOME_INFEASIBLE);
    free(rms.gamma);
    free(max.gamma);
    free(none.gamma);
    free_test_problem(&heap);
    free_test_problem(&wedge);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(iterates_are_the_cpus);
    RUN(solutions_are_the_cpus);
    RUN(the_papers_stop);
    RUN(bits_do_not_depend_on_the_run);
    RUN(fresh_gradients_change_nothing);
    RUN(half_steps_follow_a_rise);
    RUN(norms_are_raised);
    RUN(runs_end);
    return cuda_test_result();
}
