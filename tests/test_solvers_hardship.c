/* What may befall a direct method or multigrid from outside: another problem with the same solver, starting points
 * that are no impulses, an observer that has seen enough or solves something else, memory that fails at every
 * single point, and friction that is named but absent. */
#include "solver_specs.h"

#include "base/memory.h"

#include <talus/world.h>

typedef struct Case {
    const char *spec;
    TalusFrictionModel model;
    bool outer; /* the law is reached by a loop around the method */
} Case;

static const Case cases[] = {
    {"ipm-soc", {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0}, false},
    {"ipm-soc:linear=ldl,form=contacts", {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0}, false},
    {"ipm-soc:polish=off", {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0}, true},
    {"prox", {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0}, false},
    {"lemke", {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3}, false},
    {"lemke", {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}, false},
    {"newton-pang", {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3}, false},
    {"newton-path", {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}, false},
    {"amg", {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0}, false},
    {"amg:transfer=velocity,cluster=4,warm=2", {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}, true},
    {"tao-blmvm", {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3}, false},
    {"tao-tron", {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}, true},
    {"tao-gpcg", {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0}, false},
    {"tao-bqpip", {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 4}, false},
};
enum { CASES = sizeof cases / sizeof *cases, ITERATIONS = 300 };

#define FOR_CASES(c)                                    \
    for (const Case *c = cases; c < cases + CASES; c++) \
        if (!is_missing(c->spec))

static TalusProblem *open_problem(const TestProblem *test, TalusFrictionModel model)
{
    TalusProblem *problem = create(&test->def, NULL);
    if (problem && talus_problem_rows(problem) > 1)
        CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

static bool all_finite(const TalusProblem *problem, const double *x)
{
    for (int k = 0; k < talus_problem_size(problem); k++)
        if (!isfinite(x[k]))
            return false;
    return true;
}

/* ---- one problem after another ---- */

enum { PROBLEMS = 7 };

static void make_problems(TestProblem out[PROBLEMS])
{
    out[0] = make_heap(&(HeapOptions){51, 3, 2, 2, 0.4, 0.0, 0.3});
    out[1] = make_heap(&(HeapOptions){52, 2, 2, 1, 0.2, 0.01, 0.0});
    out[2] = make_heap(&(HeapOptions){53, 3, 3, 2, 0.0, 0.0, 0.2}); /* one row */
    out[3] = make_dense_copy(&out[0].def);
    out[4] = make_heap(&(HeapOptions){54, 1, 1, 1, 0.5, 0.0, 0.0});
    out[5] = make_heap(&(HeapOptions){55, 2, 2, 2, 0.5, 0.0, 0.0});
    out[5].def.contact_count = 0;
    out[6] = make_heap(&(HeapOptions){56, 4, 3, 2, 0.5, 0.0, 0.3});
    out[0].name = "heap", out[1].name = "small", out[2].name = "smooth", out[3].name = "matrix";
    out[4].name = "one body", out[5].name = "nothing", out[6].name = "large";
}

static TalusSolveInfo solve_with(TalusSolver *solver, TalusProblem *problem, double tolerance)
{
    TalusSolveOptions options = budget(tolerance, ITERATIONS);
    TalusSolveInfo info = {.iterations = -1};
    set_gamma(problem, NULL);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    return info;
}

static void check_again(TalusSolver *used, const Case *c, const TestProblem *test)
{
    TalusProblem *problem = open_problem(test, c->model);
    TalusSolver *fresh = solver_of(c->spec);
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    double *expected = malloc(bytes + 1);
    double tolerance = 1e-6 * start_residual(problem);
    TalusSolveInfo first = solve_with(fresh, problem, tolerance);
    memcpy(expected, talus_problem_gamma(problem), bytes);
    TalusSolveInfo second = solve_with(used, problem, tolerance);
    bool ok = CHECK(first.outcome == TALUS_OUTCOME_CONVERGED || c->outer);
    ok &= CHECK(second.outcome == first.outcome);
    ok &= CHECK_INT(second.iterations, first.iterations);
    ok &= CHECK_INT(second.products, first.products);
    ok &= CHECK(memcmp(expected, talus_problem_gamma(problem), bytes) == 0);
    blame(ok, test->name, c->spec);
    free(expected);
    talus_solver_destroy(fresh);
    talus_problem_destroy(problem);
}

TEST(one_problem_after_another)
{
    static const int order[] = {0, 1, 2, 3, 4, 5, 6, 1, 0};
    TestProblem problems[PROBLEMS];
    make_problems(problems);
    FOR_CASES(c)
    {
        TalusSolver *used = solver_of(c->spec);
        for (size_t k = 0; k < sizeof order / sizeof *order; k++)
            check_again(used, c, &problems[order[k]]);
        talus_solver_destroy(used);
    }
    for (int k = 0; k < PROBLEMS; k++)
        free_test_problem(&problems[k]);
}

/* ---- starting points ---- */

/* Impulses that the law forbids do not come back, however loose the tolerance; others do no harm. */
TEST(any_start_will_do)
{
    const double starts[] = {-1.0, 1e300, NAN, INFINITY};
    TestProblem test = make_heap(&(HeapOptions){57, 2, 2, 2, 0.4, 0.0, 0.3});
    FOR_CASES(c)
    {
        TalusProblem *problem = open_problem(&test, c->model);
        double zero = start_residual(problem), *gamma = talus_problem_gamma(problem);
        for (int k = c->outer; k < 4; k++) { /* loops may end before the method is asked */
            TalusSolver *solver = solver_of(c->spec);
            TalusSolveOptions options = budget((k == 0 ? 1e6 : 1e-8) * zero, ITERATIONS);
            TalusSolveInfo info;
            TalusMetrics m;
            for (int i = 0; i < talus_problem_size(problem); i++)
                gamma[i] = starts[k];
            CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
            CHECK_OK(talus_problem_measure(problem, gamma, &m));
            bool ok = CHECK(all_finite(problem, gamma)) && CHECK(isfinite(info.residual.rms));
            ok &= CHECK(m.cone_violation <= 1e-12);
            ok &= k > 0 || CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
            blame(ok, k == 0 ? "outside" : k == 1 ? "huge" : k == 2 ? "NaN" : "infinite", c->spec);
            talus_solver_destroy(solver);
        }
        talus_problem_destroy(problem);
    }
    free_test_problem(&test);
}

/* ---- an observer ---- */

typedef struct Guest {
    int stop_at, seen;
    const Case *own;
    TestProblem *test; /* solved while the other solve waits; NULL: nothing is */
} Guest;

static bool look(void *user, const TalusObservation *o)
{
    Guest *guest = user;
    guest->seen++;
    if (guest->test) {
        TalusProblem *problem = open_problem(guest->test, guest->own->model);
        solve_cold(guest->own->spec, problem, 1e-6 * start_residual(problem), 20);
        talus_problem_destroy(problem);
    }
    return o->iteration < guest->stop_at;
}

static TalusSolveInfo solve_seen(const Case *c, TalusProblem *problem, Guest *guest)
{
    TalusSolver *solver = solver_of(c->spec);
    TalusSolveOptions options = budget(0.0, 12);
    TalusSolveInfo info = {.iterations = -1};
    set_gamma(problem, NULL);
    options.observer = guest ? look : NULL;
    options.observer_user = guest;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

/* It may stop a solve at any iteration, and solve something else meanwhile, with a method of the same kind. */
TEST(an_observer_does_as_it_likes)
{
    TestProblem test = make_heap(&(HeapOptions){58, 3, 2, 2, 0.4, 0.0, 0.3});
    TestProblem other = make_heap(&(HeapOptions){59, 2, 1, 2, 0.3, 0.0, 0.0});
    FOR_CASES(c)
    {
        TalusProblem *problem = open_problem(&test, c->model);
        size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
        double *expected = malloc(bytes);
        Guest busy = {.stop_at = 1000, .own = c, .test = &other};
        TalusSolveInfo plain = solve_seen(c, problem, NULL);
        memcpy(expected, talus_problem_gamma(problem), bytes);
        TalusSolveInfo info = solve_seen(c, problem, &busy);
        bool ok = CHECK(busy.seen > 1 && info.iterations == plain.iterations);
        ok &= CHECK(memcmp(expected, talus_problem_gamma(problem), bytes) == 0);
        for (int stop = 1; stop < 8 && stop < plain.iterations; stop++) {
            Guest guest = {.stop_at = stop};
            info = solve_seen(c, problem, &guest);
            ok &= CHECK(info.outcome == TALUS_OUTCOME_BUDGET);
            ok &= CHECK_INT(info.iterations, stop);
            ok &= CHECK(isfinite(info.residual.rms));
        }
        blame(ok, "heap", c->spec);
        free(expected);
        talus_problem_destroy(problem);
    }
    free_test_problem(&test);
    free_test_problem(&other);
}

/* ---- memory ---- */

/* Every allocation of a first solve fails once; then the same solver finds what it would have found. */
static void fail_everywhere(const Case *c, TalusProblem *problem, double tolerance)
{
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    double *expected = malloc(bytes);
    TalusSolveOptions options = budget(tolerance, ITERATIONS);
    TalusSolveInfo info;
    solve_cold(c->spec, problem, tolerance, ITERATIONS);
    memcpy(expected, talus_problem_gamma(problem), bytes);
    uint64_t made = 1;
    int refused = 0;
    bool ok = true;
    for (uint64_t n = 1; n <= made && ok; n += SLOW ? 3 : 1) {
        TalusSolver *solver = solver_of(c->spec);
        set_gamma(problem, NULL);
        uint64_t before = talus_allocation_count();
        talus_fail_allocation_in((long)n);
        TalusStatus status = talus_solver_solve(solver, problem, &options, &info);
        talus_fail_allocation_in(0);
        made = status == TALUS_OK ? talus_allocation_count() - before : n + 3;
        ok &= CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
        refused += status == TALUS_ERR_MEMORY;
        ok &= CHECK(all_finite(problem, talus_problem_gamma(problem)));
        set_gamma(problem, NULL);
        ok &= CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        ok &= CHECK(memcmp(expected, talus_problem_gamma(problem), bytes) == 0);
        talus_solver_destroy(solver);
    }
    ok &= CHECK(refused > 3);
    blame(ok, "heap", c->spec);
    free(expected);
}

TEST(any_allocation_may_fail)
{
    TestProblem test = make_heap(&(HeapOptions){60, 2, 2, 1, 0.4, 0.0, 0.3});
    FOR_CASES(c)
    {
        TalusProblem *problem = open_problem(&test, c->model);
        size_t before = talus_memory_now();
        fail_everywhere(c, problem, 1e-6 * start_residual(problem));
        CHECK(talus_memory_now() <= before + 4096); /* bounds of the problem may stay */
        talus_problem_destroy(problem);
    }
    free_test_problem(&test);
}

/* ---- friction in name alone ---- */

/* Three rows and mu = 0, as matrices may have it: whoever takes cones of some section takes it, whatever section is named. */
TEST(absent_friction_has_no_section)
{
    const char *const takers[] = {"ipm-soc", "lemke",    "prox",      "apgd",    "ipm-chol",
                                  "ipm-aug", "tao-gpcg", "tao-bqpip", "tao-tron"};
    TestProblem heap = make_heap(&(HeapOptions){61, 2, 2, 2, 0.4, 0.0, 0.3});
    TestProblem matrix = make_dense_copy(&heap.def);
    memset((double *)matrix.def.mu, 0, (size_t)matrix.def.block_count * sizeof(double));
    for (int k = 0; k < CASES; k++) {
        TalusProblem *problem = open_problem(&matrix, cases[k].model);
        CHECK_INT(talus_problem_rows(problem), 3);
        for (size_t t = 0; t < sizeof takers / sizeof *takers; t++) {
            if (is_missing(takers[t]))
                continue;
            TalusSolveInfo info =
                solve_cold(takers[t], problem, 1e-8 * start_residual(problem), 3000);
            blame(CHECK(info.outcome == TALUS_OUTCOME_CONVERGED), "smooth heap", takers[t]);
        }
        TalusSolver *amg = solver_of("amg");
        CHECK_INT(talus_solver_supports(amg, problem), TALUS_ERR_UNSUPPORTED);
        CHECK_STR(talus_error(), "solver amg: takes nonneg, fixed x square; this problem has three "
                                 "rows per contact, though friction at none");
        talus_solver_destroy(amg);
        talus_problem_destroy(problem);
    }
    free_test_problem(&matrix);
    free_test_problem(&heap);
}

int main(void)
{
    RUN(one_problem_after_another);
    RUN(any_start_will_do);
    RUN(an_observer_does_as_it_likes);
    RUN(any_allocation_may_fail);
    RUN(absent_friction_has_no_section);
    return talus_test_result();
}
