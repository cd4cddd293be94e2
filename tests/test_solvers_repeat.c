/* Solvers to the last bit: from a saved state, and on any number of threads. */

#include "solver_specs.h"

/* ---- exact repetition ---- */

static void solve_once(TalusSolver *solver, TalusProblem *problem)
{
    TalusSolveOptions options = budget(0.0, 40);
    TalusSolveInfo info;
    set_gamma(problem, NULL);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
}

static void continue_saved_state(double mu)
{
    TestProblem a = make_heap(&(HeapOptions){31, 4, 3, 3, mu, 0.0, 0.2});
    TestProblem b = make_heap(&(HeapOptions){32, 3, 4, 3, 1.6 * mu, 0.0, 0.2});
    TalusProblem *first = create(&a.def, NULL), *second = create(&b.def, NULL);
    size_t bytes = (size_t)talus_problem_size(second) * sizeof(double);
    double *expected = malloc(bytes);
    FOR_SPECS (s, first) {
        TalusSolver *whole = solver_of(specs[s].text), *resumed = solver_of(specs[s].text);
        char state[256];
        size_t size = talus_solver_state_size(whole);
        REQUIRE(size <= sizeof state);
        solve_once(whole, first);
        talus_solver_state_save(whole, state);
        solve_once(whole, second);
        memcpy(expected, talus_problem_gamma(second), bytes);
        CHECK_OK(talus_solver_state_load(resumed, state, size));
        solve_once(resumed, second);
        bool ok = CHECK(memcmp(talus_problem_gamma(second), expected, bytes) == 0);
        ok &= CHECK_INT(talus_solver_state_load(resumed, state, size + 1), TALUS_ERR_FORMAT);
        blame(ok, "heap", specs[s].text);
        talus_solver_destroy(whole);
        talus_solver_destroy(resumed);
    }
    free(expected);
    talus_problem_destroy(first);
    talus_problem_destroy(second);
    free_test_problem(&a);
    free_test_problem(&b);
}

TEST(saved_state_continues_bitwise)
{
    continue_saved_state(0.3);
    continue_saved_state(0.0);
}

/* Left out with threads: parameters that change no parallel loop of a solver whose time goes into factors. */
static bool repeats_factors(const Spec *spec)
{
    return factorises(spec) || (strchr(spec->text, ':') && (strncmp(spec->text, "ssn", 3) == 0 ||
                                                            strncmp(spec->text, "admm", 4) == 0));
}

static void same_for_any_threads(TestProblem *p)
{
    const int threads[] = {1, 3, 8};
    size_t size = (size_t)verify_size(&p->def), bytes = size * sizeof(double);
    double *expected = malloc(SPECS * bytes);
    for (int t = 0; t < 3; t++) {
        TalusPool *pool = NULL;
        CHECK_OK(talus_pool_create(threads[t], &pool));
        TalusProblem *problem = create(&p->def, pool);
        FOR_SPECS (s, problem) {
            bool refused = strcmp(specs[s].text, "lemke") == 0; /* as too large by itself */
            if (left_out(&specs[s]) || repeats_factors(&specs[s]) || refused)
                continue;
            TalusSolveInfo info = solve_cold(specs[s].text, problem, 0.0, SLOW ? 3 : 8);
            double *first = expected + (size_t)s * size;
            bool ok = CHECK(info.outcome == TALUS_OUTCOME_BUDGET);
            if (t == 0)
                memcpy(first, talus_problem_gamma(problem), bytes);
            else
                ok &= CHECK(memcmp(talus_problem_gamma(problem), first, bytes) == 0);
            blame(ok, p->name, specs[s].text);
        }
        talus_problem_destroy(problem);
        talus_pool_destroy(pool);
    }
    free(expected);
    free_test_problem(p);
}

TEST(threads_do_not_show)
{
    TestProblem spheres = make_heap(&(HeapOptions){33, 13, 13, 12, 0.3, 0.01, 0.0});
    CHECK(spheres.def.contact_count > 5000);
    same_for_any_threads(&spheres);
    TestProblem mixed = make_heap(&(HeapOptions){34, 11, 11, 10, 0.3, 0.0, 0.4});
    same_for_any_threads(&mixed);
    TestProblem smooth = make_heap(&(HeapOptions){35, 11, 11, 10, 0.0, 0.0, 0.1});
    same_for_any_threads(&smooth);
    TestProblem bowl = make_bowl(1500, 0.3, 0.0);
    same_for_any_threads(&bowl);
}

int main(void)
{
    RUN(threads_do_not_show);
    RUN(saved_state_continues_bitwise);
    return talus_test_result();
}
