/* Solvers on the cuda backend: every one that runs there finds what it finds on the CPU, the others say
 * why they do not; observers, lent problems, infeasible and diverging ones, solvers that change places. */

#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "problem/problem.h"
#include "support/cuda.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* What the table has, with parameters that lead elsewhere. `slow`: where it would take thousands of
 * iterations, it is held to what it reports alone. */
typedef struct Spec {
    const char *text;
    bool slow;
} Spec;

static const Spec specs[] = {
    {"apgd", false},
    {"apgd:metric=trace,check=1", false},
    {"lbfgs-fb", false},
    {"lbfgs-fb:metric=trace,memory=20,patience=40", false},
    {"auto", false},
    {"gs", true},
    {"jacobi", true},
    {"jacobi:omega=0.35,lambda=0.9", true},
    {"admm", false},
    {"anderson", false},
    {"anderson:map=gradient", false},
    {"cpg", false},
    {"cpg:variant=two,metric=none", false},
    {"gpcg", false},
    {"gpcg:metric=none,line=whole", false},
    {"gpminres", false},
    {"gpminres-p", false},
    {"kucera", true},
    {"mprgp", true},
    {"mprgp:metric=none,step=1", true},
    {"pgd", true},
    {"spg", false},
    {"spg:precondition=off", false},
    {"ssn", false},
    {"gs-ssn", false},
    {"newton-al", false},
    {"prox", false},
    {"continuation", false},
    {"ipm-chol", false},
    {"ipm-aug", false},
    {"ipm-soc", false},
    {"ipm-hsd", false},
    {"lemke", false},
    {"newton-pang", false},
    {"newton-path", false},
    {"gs-coulomb", true},
    {"bgs", true},
    {"bgs-enum", true},
    {"gs-disc", true},
    {"nscd", true},
    {"pgs", true},
    {"amg", true},
    {"tao-blmvm", true},
    {"tao-tron", false},
    {"tao-gpcg", false},
    {"tao-bqpip", false},
};

enum { SPECS = sizeof specs / sizeof *specs, PROBLEMS = 7 };

static TestProblem make_test(int which)
{
    switch (which) {
    case 0: return make_heap(&(HeapOptions){21, 3, 2, 2, 0.3, 0.0, 0.0});
    case 1: return make_heap(&(HeapOptions){22, 3, 2, 2, 0.5, 0.5, 0.0});
    case 2: return make_heap(&(HeapOptions){23, 2, 2, 1, 0.4, 0.5, 0.6});
    case 3: return make_heap(&(HeapOptions){24, 3, 3, 2, 0.0, 0.02, 0.5});
    case 4: return make_explicit(25, 17, 3);
    case 5: return make_explicit(26, 61, 1);
    default: return make_bowl(70, 0.3, 0.0); /* the ball has a block of threads to itself */
    }
}

/* ---- helpers ---- */

static TalusProblem *create(const TalusProblemDef *def, const char *backend)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(def, NULL, &problem));
    CHECK_OK(talus_problem_set_backend(problem, backend));
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

static void clear_gamma(TalusProblem *problem)
{
    memset(talus_problem_gamma(problem), 0, (size_t)talus_problem_size(problem) * sizeof(double));
}

static double start_residual(TalusProblem *problem)
{
    TalusResidual residual;
    clear_gamma(problem);
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

/* Contact and body velocities of the problem's gamma, one after the other, by the verifier. */
static double *velocities_of(const TalusProblemDef *def, TalusProblem *problem, int *count)
{
    int n = verify_size(def), bodies = 6 * def->body_count;
    double *v = calloc((size_t)(n + bodies), sizeof *v), *gamma = talus_problem_gamma(problem);
    verify_velocity(def, gamma, v);
    if (bodies)
        verify_body_velocity(def, gamma, v + n);
    *count = n + bodies;
    return v;
}

/* ---- the same answer ---- */

/* The reported residual is that of the impulses which came back. */
static bool check_report(const TalusProblemDef *def, TalusProblem *problem,
                         const TalusSolveInfo *info)
{
    const double *gamma = talus_problem_gamma(problem);
    TalusResidual truth = verify_residual(def, gamma), host;
    double rounding = 1e-13 * verify_scale(def, gamma);
    talus_problem_residual(problem, gamma, &host);
    bool ok = CHECK_NEAR(info->residual.rms, truth.rms, 1e-9 * truth.rms + rounding);
    ok &= CHECK_NEAR(info->residual.max, truth.max, 1e-9 * truth.max + 10.0 * rounding);
    ok &= CHECK_NEAR(info->residual.rms, host.rms, 1e-9 * truth.rms + rounding);
    return ok;
}

static bool solve_both(const TestProblem *p, TalusProblem *problem[2], TalusSolver *solver,
                       bool patient)
{
    bool ok = true;
    double *velocity[2], tolerance = 1e-12 * start_residual(problem[0]);
    int n = 0;
    for (int i = 0; i < 2; i++) {
        TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
        TalusSolveOptions options = budget(tolerance, patient ? 20000 : 200);
        clear_gamma(problem[i]);
        ok &= CHECK_OK(talus_solver_solve(solver, problem[i], &options, &info));
        ok &= CHECK(info.outcome == TALUS_OUTCOME_CONVERGED ||
                    (!patient && info.outcome == TALUS_OUTCOME_BUDGET));
        ok &= check_report(&p->def, problem[i], &info);
        velocity[i] = velocities_of(&p->def, problem[i], &n);
    }
    double scale = verify_scale(&p->def, talus_problem_gamma(problem[0]));
    if (patient)
        ok &= CHECK_NEAR(largest_difference(velocity[0], velocity[1], n), 0.0, 1e-9 * scale);
    free(velocity[0]);
    free(velocity[1]);
    return ok;
}

/* Of a solver that this build lacks a package for. */
static bool is_missing(const char *spec)
{
    for (int i = 0; i < talus_solver_count(); i++)
        if (strcmp(talus_solver_row(i).name, spec) == 0)
            return talus_solver_row(i).missing != NULL;
    return false;
}

/* One that does not run there says so, and names the backend that has it. */
static bool refuses(TalusSolver *solver, TalusProblem *problem)
{
    TalusSolveInfo info;
    TalusSolveOptions options = budget(1e-9, 10);
    if (talus_solver_supports(solver, problem) == TALUS_OK)
        return false;
    CHECK(strstr(talus_error(), "backend cpu alone") && strstr(talus_error(), "is on cuda"));
    CHECK(talus_solver_solve(solver, problem, &options, &info) == TALUS_ERR_UNSUPPORTED);
    return true;
}

static void solve_problem(const TestProblem *p, bool stiff)
{
    TalusProblem *problem[2] = {create(&p->def, "cpu"), create(&p->def, "cuda")};
    for (int s = 0; s < SPECS; s++) {
        if (is_missing(specs[s].text))
            continue;
        TalusSolver *solver = solver_of(specs[s].text);
        if (talus_solver_supports(solver, problem[0]) == TALUS_OK && !refuses(solver, problem[1]) &&
            !solve_both(p, problem, solver, !(specs[s].slow && stiff)))
            printf("    with %s on %s\n", specs[s].text, p->name);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem[0]);
    talus_problem_destroy(problem[1]);
}

TEST(all_solvers_agree_with_the_cpu)
{
    NEEDS_CUDA();
    for (int i = 0; i < PROBLEMS; i++) {
        TestProblem p = make_test(i);
        solve_problem(&p, i < 2 || i == PROBLEMS - 1);
        free_test_problem(&p);
    }
}

/* Every row of the table has been tried above. */
TEST(no_solver_is_left_out)
{
    NEEDS_CUDA();
    for (int i = 0; i < talus_solver_count(); i++) {
        const char *name = talus_solver_row(i).name;
        bool found = false;
        for (int s = 0; s < SPECS; s++)
            found = found || (strncmp(specs[s].text, name, strlen(name)) == 0 &&
                              strchr(":", specs[s].text[strlen(name)]));
        if (!CHECK(found))
            printf("    %s\n", name);
    }
}

TEST(what_needs_the_host_refuses)
{
    NEEDS_CUDA();
    TestProblem p = make_heap(&(HeapOptions){31, 2, 2, 2, 0.0, 0.0, 0.0});
    TalusProblem *problem = create(&p.def, "cuda");
    static const char *const hosts[] = {"gpminres-p", "admm:x_step=direct", "ssn"};
    for (int i = 0; i < 3; i++) {
        TalusSolver *solver = solver_of(hosts[i]);
        CHECK(refuses(solver, problem));
        CHECK_OK(talus_problem_set_backend(problem, "cpu"));
        CHECK_OK(talus_solver_supports(solver, problem));
        CHECK_OK(talus_problem_set_backend(problem, "cuda"));
        talus_solver_destroy(solver);
    }
    CHECK(talus_problem_set_backend(problem, "abacus") == TALUS_ERR_UNSUPPORTED);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- from solve to solve ---- */

/* One solver, one problem, here and there and back: memory of one backend is never taken for the other's. */
TEST(a_solver_changes_places)
{
    NEEDS_CUDA();
    static const char *const places[] = {"cpu", "cuda", "cuda", "cpu", "cuda"};
    TestProblem p = make_heap(&(HeapOptions){32, 3, 2, 2, 0.4, 0.02, 0.3});
    TalusProblem *problem = create(&p.def, "cpu");
    TalusSolver *solver = solver_of("lbfgs-fb");
    double tolerance = 1e-10 * start_residual(problem);
    for (int i = 0; i < 5; i++) {
        TalusSolveInfo info;
        TalusSolveOptions options = budget(tolerance, 5000);
        clear_gamma(problem);
        CHECK_OK(talus_problem_set_backend(problem, places[i]));
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        check_report(&p.def, problem, &info);
        options.max_iterations = 3; /* the solution comes back as a start */
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    }
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* A problem in the backend's own memory: solved there, with no impulses here. */
TEST(a_lent_problem_is_solved_in_place)
{
    NEEDS_CUDA();
    TestProblem p = make_heap(&(HeapOptions){33, 3, 3, 2, 0.3, 0.0, 0.0});
    TalusProblem *owner = create(&p.def, "cpu"), *problem = NULL;
    TalusOperator op = {0};
    double *gamma = NULL, tolerance = 1e-10 * start_residual(owner);
    size_t room = 0, n = (size_t)talus_problem_size(owner);
    CHECK_OK(talus_problem_create_empty(NULL, &problem));
    CHECK_OK(cuda_mirror(talus_problem_operator(owner), &op));
    CHECK_OK(cuda->vector.reserve(cuda_op(), &gamma, &room, n, "impulses"));
    cuda->vector.zero(cuda_op(), gamma, n);
    talus_problem_lend(problem, cuda, &op, gamma);
    CHECK_INT(talus_problem_size(problem), (int)n);
    CHECK_INT(talus_problem_bodies(problem), talus_problem_bodies(owner));
    TalusSolver *solver = solver_of("apgd");
    TalusSolveInfo info;
    TalusSolveOptions options = budget(tolerance, 5000);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    cuda->vector.get(cuda_op(), talus_problem_gamma(owner), gamma, n);
    check_report(&p.def, owner, &info);
    talus_solver_destroy(solver);
    cuda->vector.release(gamma);
    cuda->op.mirror_clear(&op);
    talus_problem_destroy(problem);
    talus_problem_destroy(owner);
    free_test_problem(&p);
}

/* Without runs of its own a backend takes the same methods step by step. */
TEST(runs_are_optional)
{
    NEEDS_CUDA();
    static const char *const methods[] = {"apgd", "jacobi:omega=0.35", "mprgp"};
    TalusBackend plain = *cuda;
    plain.capabilities = 0;
    plain.run = (TalusRunOps){0};
    for (int k = 0; k < 3; k++) {
        TestProblem p = make_heap(&(HeapOptions){33, 3, 3, 2, 0.3, 0.1, 0.0});
        TalusProblem *problem = create(&p.def, "cpu");
        TalusSolver *solver = solver_of(methods[k]);
        TalusSolveInfo info;
        TalusSolveOptions options = budget(1e-6 * start_residual(problem), 20000);
        problem->backend = &plain;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        check_report(&p.def, problem, &info);
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* ---- observers ---- */

typedef struct Seen {
    TalusProblem *problem;
    int shown, monitored;
    double first, last; /* residuals, by the host */
} Seen;

static bool see(void *user, const TalusObservation *observation)
{
    Seen *seen = user;
    TalusResidual residual;
    talus_problem_residual(seen->problem, observation->gamma, &residual);
    if (seen->shown++ == 0)
        seen->first = residual.rms;
    seen->last = residual.rms;
    return true;
}

static bool monitor(void *user, int iteration, int products, double residual)
{
    Seen *seen = user;
    (void)products;
    CHECK(iteration > 0 && residual > 0.0);
    seen->monitored++;
    return true;
}

/* An observer sees impulses on the host, in a metric or not, and changes nothing. */
TEST(iterates_are_shown_on_the_host)
{
    NEEDS_CUDA();
    static const char *const methods[] = {"apgd:check=1", "jacobi", "spg", "gs"};
    TestProblem p = make_heap(&(HeapOptions){34, 3, 2, 2, 0.3, 0.02, 0.0});
    TalusProblem *problem = create(&p.def, "cuda");
    int n = talus_problem_size(problem);
    double *alone = calloc((size_t)n, sizeof *alone);
    for (int i = 0; i < 4; i++) {
        TalusSolveOptions options = budget(0.0, 40);
        TalusSolveInfo info;
        Seen seen = {.problem = problem};
        for (int watched = 0; watched < 2; watched++) {
            TalusSolver *solver = solver_of(methods[i]);
            options.observer = watched ? see : NULL;
            options.observer_user = &seen;
            options.monitor = watched ? monitor : NULL;
            options.monitor_user = &seen;
            clear_gamma(problem);
            CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
            if (!watched)
                memcpy(alone, talus_problem_gamma(problem), (size_t)n * sizeof *alone);
            talus_solver_destroy(solver);
        }
        double scale = verify_scale(&p.def, alone);
        CHECK(largest_difference(alone, talus_problem_gamma(problem), n) <= 1e-9 * scale);
        CHECK(seen.shown > 5 && seen.monitored > 5);
        CHECK_NEAR(seen.last, info.residual.rms, 1e-12 * scale);
        CHECK(seen.last < seen.first);
        if (info.iterations != 40)
            printf("    %s\n", methods[i]);
    }
    free(alone);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- without an answer ---- */

TEST(infeasible_and_diverging_problems_are_noticed)
{
    NEEDS_CUDA();
    TestProblem wedge = make_wedge(0.3, 4);
    TalusProblem *problem = create(&wedge.def, "cuda");
    TalusSolveInfo info;
    TalusSolveOptions options = budget(1e-6, 5000);
    TalusSolver *solver = solver_of("apgd");
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_INFEASIBLE);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&wedge);

    /* as in test_driver.c: two contacts that nearly undo each other */
    const int32_t start[3] = {0, 2, 4}, column[4] = {0, 1, 0, 1};
    const double values[4] = {1.0, -0.9999, -0.9999, 1.0}, q[2] = {-1.0, -0.9};
    const TalusProblemDef def = {.block_count = 2,
                                 .rows = 1,
                                 .row_start = start,
                                 .column = column,
                                 .values = values,
                                 .offset = q};
    problem = create(&def, "cuda");
    solver = solver_of("jacobi:omega=2");
    options = budget(1e-6, 20000);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_DIVERGED);
    CHECK(talus_problem_gamma(problem)[0] == 0.0 && talus_problem_gamma(problem)[1] == 0.0);
    CHECK_NEAR(info.residual.max, 1.0, 1e-12);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
}

/* No contacts, so nothing to do, wherever it is. */
TEST(an_empty_problem_is_solved)
{
    NEEDS_CUDA();
    TestProblem p = make_heap(&(HeapOptions){36, 2, 2, 1, 0.3, 0.0, 0.0});
    p.def.contact_count = 0;
    TalusProblem *problem = create(&p.def, "cuda");
    TalusSolver *solver = solver_of("apgd");
    TalusSolveInfo info;
    TalusSolveOptions options = budget(1e-9, 10);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(all_solvers_agree_with_the_cpu);
    RUN(no_solver_is_left_out);
    RUN(what_needs_the_host_refuses);
    RUN(a_solver_changes_places);
    RUN(a_lent_problem_is_solved_in_place);
    RUN(runs_are_optional);
    RUN(iterates_are_shown_on_the_host);
    RUN(infeasible_and_diverging_problems_are_noticed);
    RUN(an_empty_problem_is_solved);
    return cuda_test_result();
}
