/* Solvers against the independent verifier (apps/verify): what they report, what they promise,
 * and that they all find the same velocities. */

#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include "backend/cpu/colour.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* Under a sanitizer everything takes ten times as long: fewer iterations there. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
    __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
enum { THREADS_ALONE = 1 }; /* the other tests start none */
#else
enum { THREADS_ALONE = 0 };
#endif

typedef struct Spec {
    const char *text;
    bool splitting; /* converges slowly or stalls on rigid beds (findings.md, section 1) */
} Spec;

static const Spec specs[] = {
    {"apgd", false},
    {"apgd:metric=trace", false},
    {"apgd:restart=off,check=1", true},
    {"lbfgs-fb", false},
    {"lbfgs-fb:memory=1,check=1,step=1,rise=0", true},
    {"lbfgs-fb:metric=trace,memory=20,patience=40", false},
    {"auto", false},
    {"gs", true},
    {"gs:order=forward", true},
    {"gs:order=symmetric", true},
    {"gs:order=random,seed=7", true},
    {"gs:order=coloured,omega=1.5", true},
    {"gs:order=forward,metric=trace", true},
    {"gs:order=symmetric,metric=trace", true},
    {"gs:order=random,metric=trace", true},
    {"gs:order=coloured,metric=trace", true},
    {"gs:order=forward,omega=0.8,rho=0.9", true},
    {"bgs", true},
    {"bgs:order=symmetric,omega=1.3,rho=0.9", true},
    {"bgs-enum", true},
    {"gs-disc", true},
    {"nscd", true},
    {"pgs", true},
    {"gpcg", false},
    {"gpcg:metric=none,line=whole,eta2=0.5", false},
    {"gpminres", false},
    {"gpminres:metric=none,line=whole,binding=off", true},
    {"gpminres-p", false},
    {"jacobi", true},
    {"jacobi:omega=0.35,lambda=0.9", true},
    {"cpg", false},
    {"cpg:variant=two,metric=none", false},
    {"kucera", true},
    {"kucera:metric=none,gamma=2,step=1.9", true},
    {"mprgp", true},
    {"mprgp:metric=none,step=1,half_step=off", true},
    {"pgd", true},
    {"ssn", false},
    {"ssn:metric=none,regularise=1e-7", false},
    {"prox", false},
    {"prox:rho=2,shrink=0.3,inner=0.2", false},
    {"admm", false},
    {"admm:anderson=0,change=2", true},
    {"anderson", false},
    {"anderson:map=gradient,metric=trace", false},
    {"spg", false},
    {"spg:precondition=off", false},
};

enum { SPECS = sizeof specs / sizeof *specs };

/* A sanitizer has seen the code of the trace metric when it has seen the other. */
static bool left_out(const Spec *spec)
{
    return SLOW && strstr(spec->text, "trace");
}

/* ---- helpers ---- */

static TalusProblem *create(const TalusProblemDef *def, TalusPool *pool)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(def, pool, &problem));
    return problem;
}

static TalusSolver *solver_of(const char *spec)
{
    TalusSolver *solver = NULL;
    CHECK_OK(talus_solver_create(spec, &solver));
    return solver;
}

static TalusSolveOptions budget(double tolerance, int iterations)
{
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    return options;
}

/* The first spec from `s` on that takes the problem: some are for problems without friction only. */
static int from(int s, const TalusProblem *problem)
{
    for (; s < SPECS; s++) {
        TalusSolver *solver = solver_of(specs[s].text);
        bool ok = talus_solver_supports(solver, problem) == TALUS_OK;
        talus_solver_destroy(solver);
        if (ok)
            break;
    }
    return s;
}

#define FOR_SPECS(s, problem) for (int s = from(0, problem); s < SPECS; s = from(s + 1, problem))

static void set_gamma(TalusProblem *problem, const double *gamma)
{
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    if (gamma)
        memcpy(talus_problem_gamma(problem), gamma, bytes);
    else
        memset(talus_problem_gamma(problem), 0, bytes);
}

/* From zero impulses with a new solver. */
static TalusSolveInfo solve_cold(const char *spec, TalusProblem *problem, double tolerance,
                                 int iterations)
{
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolver *solver = solver_of(spec);
    TalusSolveOptions options = budget(tolerance, iterations);
    set_gamma(problem, NULL);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

static double start_residual(TalusProblem *problem)
{
    TalusResidual residual;
    set_gamma(problem, NULL);
    talus_problem_residual(problem, talus_problem_gamma(problem), &residual);
    return residual.rms;
}

static double largest_difference(const double *a, const double *b, int n)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++)
        worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

/* Names the case when a check fails; a test's macros show only the line. */
static void blame(bool ok, const char *problem, const char *spec)
{
    if (!ok)
        printf("    with %s on %s\n", spec, problem);
}

/* The reported residual is the true one, the outcome follows from it, the impulses are admissible. */
static bool check_report(const TalusProblemDef *def, const double *gamma,
                         const TalusSolveInfo *info, double tolerance)
{
    TalusResidual truth = verify_residual(def, gamma);
    double rounding = 1e-13 * verify_scale(def, gamma);
    bool ok = CHECK_NEAR(info->residual.rms, truth.rms, 1e-9 * truth.rms + rounding);
    ok &= CHECK_NEAR(info->residual.max, truth.max, 1e-9 * truth.max + 10.0 * rounding);
    ok &= CHECK(verify_outside(def, gamma) <= 1e-14 + rounding);
    if (info->outcome == TALUS_OUTCOME_CONVERGED)
        ok &= CHECK(truth.rms <= tolerance * (1.0 + 1e-9) + rounding);
    else
        ok &= CHECK(info->outcome == TALUS_OUTCOME_BUDGET);
    return ok;
}

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

/* Contact and body velocities of the problem's gamma, one after the other. */
static double *velocities_of(const TalusProblemDef *def, TalusProblem *problem, int *count)
{
    int n = verify_size(def), bodies = 6 * def->body_count;
    double *v = calloc((size_t)(n + bodies), sizeof *v), *gamma = talus_problem_gamma(problem);
    verify_velocity(def, gamma, v);
    verify_body_velocity(def, gamma, v + n);
    *count = n + bodies;
    return v;
}

/* Spins are held to the scale of velocities too: bodies are smaller than 1 m, so that is stricter. */
static bool same_velocities(const TestProblem *p, TalusProblem *problem, const double *expected)
{
    int n;
    double *v = velocities_of(&p->def, problem, &n);
    double scale = verify_scale(&p->def, talus_problem_gamma(problem));
    bool ok = CHECK_NEAR(largest_difference(v, expected, n), 0.0, 1e-8 * scale);
    free(v);
    return ok;
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
        {"newton", "solver: no solver 'newton'; `talus list solvers` names them all"},
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
        {"apgd:check=0", "apgd: check=0: expected a whole number from 1 to 1000"},
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
        for (int b = 0; b < 5; b++)
            for (int zero = 0; zero < 2; zero++) { /* tolerance 0 runs the whole budget */
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
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 1e-6, 10);
        CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        CHECK_INT(info.iterations, 0);
        CHECK(info.residual.rms == 0.0 && info.residual.max == 0.0);
    }
    CHECK_OK(talus_problem_body_velocity(problem, talus_problem_gamma(problem), out));
    CHECK(memcmp(out, v, sizeof v) == 0);
    talus_problem_destroy(problem);
}

/* ---- problems without a solution ---- */

static void expect_infeasible(TestProblem *p)
{
    TalusProblem *problem = create(&p->def, NULL);
    FOR_SPECS (s, problem) {
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 1e-6, 8200);
        blame(CHECK(info.outcome == TALUS_OUTCOME_INFEASIBLE), p->name, specs[s].text);
        TalusResidual truth = verify_residual(&p->def, talus_problem_gamma(problem));
        CHECK_NEAR(info.residual.rms, truth.rms,
                   1e-13 * verify_scale(&p->def, talus_problem_gamma(problem)) + 1e-9 * truth.rms);
    }
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(wedged_bodies_are_infeasible)
{
    TestProblem wedges[] = {make_wedge(0.3, 1), make_wedge(0.0, 1), make_wedge(0.0, 3),
                            make_wedge(0.4, 4)};
    for (int i = 0; i < 4; i++)
        expect_infeasible(&wedges[i]);
    TestProblem dense = make_wedge(0.3, 3), copy = make_dense_copy(&dense.def);
    copy.name = "explicit wedge";
    free_test_problem(&dense);
    expect_infeasible(&copy);
}

/* The certificate must be found among the impulses of a heap that settles at the same time. */
static void find_wedge_beside_heap(double mu)
{
    TestProblem heap = make_heap(&(HeapOptions){18, 4, 4, 3, mu, 0.0, 0.0});
    TestProblem wedge = make_wedge(mu, 1);
    TestProblem both = make_union(&heap.def, &wedge.def);
    both.name = "wedge beside a heap";
    free_test_problem(&heap);
    free_test_problem(&wedge);
    expect_infeasible(&both);
}

TEST(wedge_beside_a_heap_is_found)
{
    find_wedge_beside_heap(0.3);
    find_wedge_beside_heap(0.0);
}

/* Compliance in every contact gives: the wedge has a solution. */
static void solve_compliant_wedge(double mu)
{
    TestProblem p = make_wedge(mu, 1);
    for (int i = 0; i < p.def.contact_count; i++)
        ((TalusContactDef *)p.def.contacts)[i].compliance = 0.01;
    TalusProblem *problem = create(&p.def, NULL);
    FOR_SPECS (s, problem) {
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 1e-9, 20000);
        blame(CHECK(info.outcome == TALUS_OUTCOME_CONVERGED), p.name, specs[s].text);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(compliant_wedge_is_solved)
{
    solve_compliant_wedge(0.3);
    solve_compliant_wedge(0.0);
}

/* prox: a factorisation in every iteration, on one thread. */
static bool factorises(const Spec *spec)
{
    return strncmp(spec->text, "prox", 4) == 0;
}

/* Long runs on problems that converge slowly: whoever gives up too early is seen here. */
static void expect_feasible(TestProblem *p, int iterations)
{
    TalusProblem *problem = create(&p->def, NULL);
    FOR_SPECS (s, problem) {
        int fewer = factorises(&specs[s]) ? iterations / 8 : iterations;
        TalusSolveInfo info = solve_cold(specs[s].text, problem, 0.0, fewer);
        blame(CHECK(info.outcome == TALUS_OUTCOME_BUDGET), p->name, specs[s].text);
    }
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(slow_convergence_is_not_infeasible)
{
    const int many = SLOW ? 1100 : 4200; /* past a snapshot at a power of two */
    TestProblem p = make_column(20, 1000.0, 0.3);
    expect_feasible(&p, many);
    p = make_column(20, 1000.0, 0.0);
    expect_feasible(&p, many);
    p = make_column(5, 1e5, 0.3);
    expect_feasible(&p, many);
    p = make_column(50, 1.0, 0.3);
    expect_feasible(&p, many / 2);
    const int some = SLOW ? 300 : 600;
    p = make_heap(&(HeapOptions){16, 5, 5, 5, 0.8, 0.0, 0.0});
    expect_feasible(&p, some);
    p = make_heap(&(HeapOptions){17, 3, 3, 6, 0.3, 0.0, 0.5});
    expect_feasible(&p, some);
    p = make_bowl(200, 0.3, 0.0);
    expect_feasible(&p, some);
}

/* The look for a certificate needs operator products. It must not disturb an iteration that keeps its
 * velocities or wrenches in the operator's scratch: the matrix written out has no such thing. */
TEST(looking_for_a_certificate_changes_nothing)
{
    TestProblem p = make_column(12, 300.0, 0.3), dense = make_dense_copy(&p.def);
    TalusProblem *free_form = create(&p.def, NULL), *written = create(&dense.def, NULL);
    const char *const exact[] = {"apgd:metric=trace,restart=off", "gs:order=forward", "jacobi"};
    for (int s = 0; s < 3; s++)
        for (int iterations = 100; iterations <= 700; iterations += 200) {
            double *a = talus_problem_gamma(free_form), *b = talus_problem_gamma(written);
            solve_cold(exact[s], free_form, 0.0, iterations);
            solve_cold(exact[s], written, 0.0, iterations);
            double scale = verify_scale(&p.def, a);
            blame(CHECK_NEAR(largest_difference(a, b, verify_size(&p.def)), 0.0, 1e-9 * scale),
                  p.name, exact[s]);
        }
    talus_problem_destroy(free_form);
    talus_problem_destroy(written);
    free_test_problem(&p);
    free_test_problem(&dense);
}

/* ---- broken numbers ---- */

static void expect_divergence(TestProblem *p)
{
    TalusProblem *problem = create(&p->def, NULL);
    int n = talus_problem_size(problem);
    FOR_SPECS (s, problem) {
        TalusSolver *solver = solver_of(specs[s].text);
        TalusSolveOptions options = budget(1e-6, 50);
        TalusSolveInfo info;
        double *gamma = talus_problem_gamma(problem), left = 0.0;
        for (int k = 0; k < n; k++)
            gamma[k] = k % talus_problem_rows(problem) ? 0.0 : 0.25;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        bool ok = CHECK(info.outcome == TALUS_OUTCOME_DIVERGED);
        for (int k = 0; k < n; k++)
            left += fabs(gamma[k]);
        ok &= CHECK(left == 0.0);
        TestProblem good = make_explicit(21, 9, talus_problem_rows(problem));
        TalusProblem *next = create(&good.def, NULL); /* the solver has not kept the NaN */
        options = budget(1e-9, 20000);
        CHECK_OK(talus_solver_solve(solver, next, &options, &info));
        ok &= CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        blame(ok, p->name, specs[s].text);
        talus_problem_destroy(next);
        free_test_problem(&good);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(nan_is_divergence_and_leaves_no_impulses)
{
    for (int i = 0; i < 8; i++) {
        bool explicit = i % 4 == 3;
        HeapOptions options = {22, 3, 3, 2, i < 4 ? 0.3 : 0.0, 0.0, i % 4 == 1 ? 0.5 : 0.0};
        TestProblem p = explicit ? make_explicit(23, 12, i < 4 ? 3 : 1) : make_heap(&options);
        double *values = (double *)(explicit ? p.def.offset : p.def.free_velocity);
        values[i % 4 == 2 ? 1 : 6] = i % 2 ? NAN : INFINITY;
        p.name = explicit ? "explicit with NaN" : "heap with NaN";
        expect_divergence(&p);
    }
}

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

static void same_for_any_threads(TestProblem *p)
{
    const int threads[] = {1, 3, 8};
    size_t bytes = (size_t)verify_size(&p->def) * sizeof(double);
    double *expected = malloc(bytes);
    TalusProblem *any = create(&p->def, NULL);
    FOR_SPECS (s, any)
        for (int t = 0; t < 3 && !left_out(&specs[s]) && !factorises(&specs[s]); t++) {
            TalusPool *pool = NULL;
            CHECK_OK(talus_pool_create(threads[t], &pool));
            TalusProblem *problem = create(&p->def, pool);
            TalusSolveInfo info = solve_cold(specs[s].text, problem, 0.0, SLOW ? 3 : 8);
            bool ok = CHECK(info.outcome == TALUS_OUTCOME_BUDGET);
            if (t == 0)
                memcpy(expected, talus_problem_gamma(problem), bytes);
            else
                ok &= CHECK(memcmp(talus_problem_gamma(problem), expected, bytes) == 0);
            blame(ok, p->name, specs[s].text);
            talus_problem_destroy(problem);
            talus_pool_destroy(pool);
        }
    talus_problem_destroy(any);
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

/* ---- one body with very many contacts ---- */

static void check_colours(TalusProblem *problem, int heavy)
{
    TalusColouring colouring = {0};
    CHECK_OK(talus_colour_contacts(talus_problem_operator(problem), &colouring));
    CHECK(colouring.colours <= 8);
    CHECK_INT(colouring.count[CLASS_HEAVY][2], heavy);
    CHECK_INT(colouring.count[CLASS_OVERFLOW][2], 0);
    talus_colouring_clear(&colouring);
}

/* Coloured sweeps treat the heavy body's contacts side by side; that must neither change the answer
 * nor cost many more sweeps. */
static void same_as_forward(TestProblem *p, int heavy)
{
    TalusProblem *problem = create(&p->def, NULL);
    double tolerance = 1e-10 * start_residual(problem);
    int n;
    check_colours(problem, heavy);
    TalusSolveInfo forward = solve_cold("gs:order=forward", problem, tolerance, 20000);
    double *expected = velocities_of(&p->def, problem, &n);
    TalusSolveInfo coloured = solve_cold("gs:order=coloured", problem, tolerance, 20000);
    CHECK(forward.outcome == TALUS_OUTCOME_CONVERGED);
    CHECK(coloured.outcome == TALUS_OUTCOME_CONVERGED);
    CHECK(coloured.iterations <= 10 * forward.iterations);
    check_report(&p->def, talus_problem_gamma(problem), &coloured, tolerance);
    same_velocities(p, problem, expected);
    free(expected);
    talus_problem_destroy(problem);
    free_test_problem(p);
}

TEST(heavy_body_needs_few_colours)
{
    TestProblem p = make_bowl(1200, 0.3, 0.0);
    same_as_forward(&p, 1200);
    p = make_bowl(1200, 0.0, 0.0);
    same_as_forward(&p, 1200);
    p = make_bowl(300, 0.3, 0.0);
    ((double *)p.def.radius)[0] = 0.0; /* no sphere any more: contacts of the general form */
    same_as_forward(&p, 300);
}

int main(void)
{
    RUN(threads_do_not_show);
    if (THREADS_ALONE)
        return talus_test_result();
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
    RUN(wedged_bodies_are_infeasible);
    RUN(wedge_beside_a_heap_is_found);
    RUN(compliant_wedge_is_solved);
    RUN(slow_convergence_is_not_infeasible);
    RUN(looking_for_a_certificate_changes_nothing);
    RUN(nan_is_divergence_and_leaves_no_impulses);
    RUN(saved_state_continues_bitwise);
    RUN(heavy_body_needs_few_colours);
    return talus_test_result();
}
