/* Solvers against the independent verifier (apps/verify): what they report, what they promise,
 * and that they all find the same velocities. */

#include "solver_specs.h"

/* ---- the same answer from all ---- */

static bool solve_known(const TestProblem *p, TalusProblem *problem, const char *spec)
{
    int n = verify_size(&p->def);
    double *g = calloc((size_t)n, sizeof *g), *gamma = talus_problem_gamma(problem);
    double tolerance = 1e-12 * start_residual(problem);
    TalusSolveInfo info = solve_cold(spec, problem, tolerance, 20000);
    bool ok = check_report(&p->def, gamma, &info, tolerance);
    ok &= CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    verify_gradient(&p->def, gamma, g);
    double scale = verify_scale(&p->def, p->gamma);
    ok &= CHECK_NEAR(largest_difference(g, p->gradient, n), 0.0, 1e-9 * scale);
    double planted = verify_objective(&p->def, p->gamma), reached = 0.0;
    ok &= CHECK_OK(talus_problem_objective(problem, gamma, &reached));
    ok &= CHECK_NEAR(reached, planted, 1e-9 * (fabs(planted) + scale));
    free(g);
    return ok;
}

TEST(known_optima_are_found)
{
    TestProblem problems[KNOWN_PROBLEMS];
    make_known(problems);
    for (int i = 0; i < KNOWN_PROBLEMS; i++) {
        TestProblem *p = &problems[i];
        TalusResidual planted = verify_residual(&p->def, p->gamma);
        CHECK(planted.max <= 1e-13 * verify_scale(&p->def, p->gamma));
        TalusProblem *problem = create(&p->def, NULL);
        FOR_SPECS (s, problem)
            blame(solve_known(p, problem, specs[s].text), p->name, specs[s].text);
        talus_problem_destroy(problem);
        free_test_problem(p);
    }
}

static bool solve_extracted(const TestProblem *p, TalusProblem *problem, const Spec *spec,
                            const double *expected)
{
    bool slowest = strncmp(spec->text, "jacobi", 6) == 0;
    bool patient = !spec->splitting || (p->splitting && !(SLOW && slowest));
    double tolerance = 1e-12 * start_residual(problem);
    TalusSolveInfo info = solve_cold(spec->text, problem, tolerance, patient ? 30000 : 600);
    bool ok = check_report(&p->def, talus_problem_gamma(problem), &info, tolerance);
    if (patient) {
        ok &= CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        ok &= same_velocities(p, problem, expected);
    }
    return ok;
}

TEST(solvers_agree_on_steps_of_worlds)
{
    TestProblem problems[EXTRACTED_PROBLEMS];
    make_extracted(problems);
    for (int i = 0; i < EXTRACTED_PROBLEMS; i++) {
        TestProblem *p = &problems[i];
        TalusProblem *problem = create(&p->def, NULL);
        int n;
        solve_cold("apgd", problem, 1e-12 * start_residual(problem), 30000);
        double *expected = velocities_of(&p->def, problem, &n);
        FOR_SPECS (s, problem)
            if (!left_out(&specs[s]))
                blame(solve_extracted(p, problem, &specs[s], expected), p->name, specs[s].text);
        free(expected);
        talus_problem_destroy(problem);
        free_test_problem(p);
    }
}

/* "auto" sweeps when asked for little, accelerates when asked for more, takes the method with the
 * fewest products when asked for much or for an unknown share, and says which. */
TEST(auto_follows_the_tolerance)
{
    TestProblem p = make_heap(&(HeapOptions){11, 4, 4, 3, 0.3, 0.0, 0.0});
    TalusProblem *problem = create(&p.def, NULL);
    TalusSolver *solver = solver_of("auto");
    const double tolerances[] = {0.01, 0.05, 0.1, 9e-5, 0.01};
    const char *expected[] = {"apgd", "apgd", "gs", "lbfgs-fb", "lbfgs-fb"};
    for (int i = 0; i < 5; i++) {
        TalusSolveOptions options = budget(tolerances[i], 1000);
        TalusSolveInfo info;
        options.reference_speed = i < 4 ? 1.0 : 0.0;
        set_gamma(problem, NULL);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK_STR(info.solver, expected[i]);
        check_report(&p.def, talus_problem_gamma(problem), &info, tolerances[i]);
    }
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

static void meet_maximum_norm(double mu)
{
    TestProblem p = make_heap(&(HeapOptions){12, 4, 4, 3, mu, 0.01, 0.3});
    TalusProblem *problem = create(&p.def, NULL);
    FOR_SPECS (s, problem) {
        TalusSolver *solver = solver_of(specs[s].text);
        TalusSolveOptions options = budget(1e-3 * start_residual(problem), 20000);
        TalusSolveInfo info;
        options.norm = TALUS_NORM_MAX;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        TalusResidual truth = verify_residual(&p.def, talus_problem_gamma(problem));
        bool ok = CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        blame(ok && CHECK(truth.max <= options.tolerance * (1.0 + 1e-9)), "heap", specs[s].text);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(maximum_norm_is_met_where_asked)
{
    meet_maximum_norm(0.3);
    meet_maximum_norm(0.0);
}

/* ---- names and parameters ---- */

TEST(wrong_specs_are_explained)
{
    static const char *const wrong[][2] = {
        {"agpd", "solver: no solver 'agpd'; did you mean 'apgd'?"},
        {"jacoby:omega=1", "solver: no solver 'jacoby'; did you mean 'jacobi'?"},
        {"pivoting", "solver: no solver 'pivoting'; `talus list solvers` names them all"},
        {"", "solver: no solver ''; `talus list solvers` names them all"},
        {"gs:omgea=1", "gs: no parameter 'omgea'; did you mean 'omega'?"},
        {"gs:xyzzy=1", "gs: no parameter 'xyzzy'; `talus list solvers` names its parameters"},
        {"gs:omega=3", "gs: omega=3: expected a number from 1e-06 to 2"},
        {"gs:omega=0", "gs: omega=0: expected a number from 1e-06 to 2"},
        {"gs:omega=nan", "gs: omega=nan: expected a number"},
        {"gs:omega=1x", "gs: omega=1x: expected a number"},
        {"gs:omega", "gs: 'omega': expected key=value"},
        {"gs:order=backward",
         "gs: order=backward: expected one of forward|symmetric|random|coloured|chaotic"},
        {"apgd:check=2.5", "apgd: check=2.5: expected a whole number"},
        {"apgd:check=-1", "apgd: check=-1: expected a whole number from 0 to 1000"},
        {"apgd:restart=maybe", "apgd: restart=maybe: expected on or off"},
        {"auto:omega=1", "auto: takes no parameters; name the solver that should have 'omega=1'"},
        {"a-name-that-is-far-too-long-for-any-solver",
         "solver: no solver 'a-name-that-is-far-too-long-for-any-solv'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        TalusSolver *solver = NULL;
        CHECK_INT(talus_solver_create(wrong[i][0], &solver), TALUS_ERR_ARGUMENT);
        CHECK(!solver);
        CHECK_STR(talus_error(), wrong[i][1]);
    }
}

static void count_line(void *user, const char *text)
{
    ++*(int *)user;
    CHECK(strncmp(text, "  ", 2) == 0 && strchr(text, '='));
}

TEST(every_solver_is_listed)
{
    for (int i = 0; i < talus_solver_count(); i++) {
        TalusSolverRow row = talus_solver_row(i);
        int lines = 0;
        if (!row.missing)
            talus_solver_destroy(solver_of(row.name));
        CHECK(*row.summary && *row.reference && *row.accepts);
        talus_solver_describe(i, count_line, &lines);
        CHECK((lines == 0) == (strcmp(row.name, "auto") == 0));
        bool tested = false;
        for (int s = 0; s < SPECS; s++)
            tested |= strcmp(specs[s].text, row.name) == 0;
        if (!CHECK(tested))
            printf("    %s is to be entered in specs\n", row.name);
    }
    CHECK_STR(talus_outcome_name(TALUS_OUTCOME_CONVERGED), "converged");
    CHECK_STR(talus_outcome_name(TALUS_OUTCOME_DIVERGED), "diverged");
}

/* ---- budgets and callbacks ---- */

static void keep_budget(double mu)
{
    TestProblem p = make_heap(&(HeapOptions){13, 4, 4, 4, mu, 0.0, 0.2});
    TalusProblem *problem = create(&p.def, NULL);
    const int budgets[] = {1, 2, 7, 64, 131};
    FOR_SPECS (s, problem)
        for (int b = 0; b < (SLOW && factorises(&specs[s]) ? 3 : 5); b++)
            for (int zero = SLOW; zero < 2; zero++) { /* tolerance 0 runs the whole budget */
                TalusSolveInfo info =
                    solve_cold(specs[s].text, problem, zero ? 0.0 : 1e-300, budgets[b]);
                bool ok = CHECK_INT(info.iterations, budgets[b]);
                ok &= CHECK(info.outcome == TALUS_OUTCOME_BUDGET);
                ok &= check_report(&p.def, talus_problem_gamma(problem), &info, 0.0);
                blame(ok, "heap", specs[s].text);
            }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(budget_is_kept_to_the_iteration)
{
    TestProblem p = make_heap(&(HeapOptions){13, 4, 4, 4, 0.3, 0.0, 0.2});
    TalusProblem *problem = create(&p.def, NULL);
    keep_budget(0.3);
    keep_budget(0.0);
    TalusSolver *solver = solver_of("apgd");
    TalusSolveOptions options = budget(1e-6, 0);
    TalusSolveInfo info;
    CHECK_INT(talus_solver_solve(solver, problem, &options, &info), TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "solver: max_iterations is 0, expected at least 1");
    options = budget(0.0, 1 << 30);
    options.max_seconds = 1e-9;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK(info.outcome == TALUS_OUTCOME_BUDGET && info.iterations < 100);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

typedef struct Seen {
    int calls, last, products, stop_at;
    bool rising, positive;
} Seen;

static bool see(void *user, int iteration, int products, double residual)
{
    Seen *seen = user;
    seen->rising &= iteration > seen->last && products >= seen->products;
    seen->positive &= residual >= 0.0; /* zero: a factorisation may hit it */
    seen->last = iteration;
    seen->products = products;
    seen->calls++;
    return iteration < seen->stop_at;
}

static void monitor_solves(double mu)
{
    TestProblem p = make_heap(&(HeapOptions){14, 3, 3, 3, mu, 0.0, 0.0});
    TalusProblem *problem = create(&p.def, NULL);
    FOR_SPECS (s, problem) {
        Seen seen = {.stop_at = 23, .rising = true, .positive = true};
        TalusSolver *solver = solver_of(specs[s].text);
        TalusSolveOptions options = budget(0.0, 1000);
        TalusSolveInfo info;
        options.monitor = see;
        options.monitor_user = &seen;
        set_gamma(problem, NULL);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        bool ok = CHECK(seen.rising) && CHECK(seen.positive) && CHECK(seen.calls > 1);
        ok &= CHECK_INT(info.iterations, seen.last);
        ok &= CHECK(info.iterations >= 23 && info.iterations < 40);
        ok &= CHECK(info.outcome == TALUS_OUTCOME_BUDGET);
        blame(ok, "heap", specs[s].text);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(monitor_sees_progress_and_can_stop_it)
{
    monitor_solves(0.3);
    monitor_solves(0.0);
}

static void recognise_solutions(double mu)
{
    TestProblem p = make_heap(&(HeapOptions){15, 3, 3, 3, mu, 0.05, 0.3});
    TalusProblem *problem = create(&p.def, NULL);
    double tolerance = 1e-8 * start_residual(problem);
    FOR_SPECS (s, problem) {
        TalusSolver *solver = solver_of(specs[s].text);
        TalusSolveOptions options = budget(tolerance, 20000);
        TalusSolveInfo first, second;
        set_gamma(problem, NULL);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &first));
        bool ok = CHECK(first.outcome == TALUS_OUTCOME_CONVERGED);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &second));
        ok &= CHECK(second.outcome == TALUS_OUTCOME_CONVERGED);
        /* random sweeps come in another order this time, and each moves the impulses anew */
        ok &= CHECK(second.iterations <= (strstr(specs[s].text, "random") ? 20 : 2));
        blame(ok, "heap", specs[s].text);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(a_solution_is_recognised)
{
    recognise_solutions(0.3);
    recognise_solutions(0.0);
}

TEST(no_contacts_are_no_work)
{
    double inv_mass = 1.0, v[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, out[6];
    TalusSym3 inertia = {1.0, 1.0, 1.0, 0.0, 0.0, 0.0};
    TalusContactDef none;
    TalusProblemDef def = {.body_count = 1,
                           .inv_mass = &inv_mass,
                           .inv_inertia = &inertia,
                           .free_velocity = v,
                           .contacts = &none};
    TalusProblem *problem = create(&def, NULL);
    for (int s = 0; s < SPECS; s++) {
        if (is_missing(specs[s].text))
            continue;
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 1e-6, 10);
        CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        CHECK_INT(info.iterations, 0);
        CHECK(info.residual.rms == 0.0 && info.residual.max == 0.0);
    }
    CHECK_OK(talus_problem_body_velocity(problem, talus_problem_gamma(problem), out));
    CHECK(memcmp(out, v, sizeof v) == 0);
    talus_problem_destroy(problem);
}

int main(void)
{
    RUN(known_optima_are_found);
    RUN(solvers_agree_on_steps_of_worlds);
    RUN(auto_follows_the_tolerance);
    RUN(maximum_norm_is_met_where_asked);
    RUN(wrong_specs_are_explained);
    RUN(every_solver_is_listed);
    RUN(budget_is_kept_to_the_iteration);
    RUN(monitor_sees_progress_and_can_stop_it);
    RUN(a_solution_is_recognised);
    RUN(no_contacts_are_no_work);
    return talus_test_result();
}
