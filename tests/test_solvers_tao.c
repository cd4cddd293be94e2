/* tao-*: the dual QP by PETSc, against a solver of our own on cones and boxes; the paper's rules; a module that
 * is absent or broken; memory that runs out; and what PETSc leaves of signals and environment. */
#include "solver_specs.h"

#include "base/memory.h"
#include "comm/comm.h"
#include "problem/qp.h"
#include "solvers/tao/tao.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const all[] = {"tao-blmvm", "tao-tron", "tao-gpcg", "tao-bqpip"};
enum { ALL = 4 };

#define NEEDS_MODULE()       \
    if (talus_tao_missing()) \
    SKIP("PETSc is not in this build")

static const TalusFrictionModel triangle = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3};
static const TalusFrictionModel hexagon = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 6};
static const TalusFrictionModel square = {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0};

static TalusProblem *heap_with(TalusFrictionModel model, TestProblem *test)
{
    *test = make_heap(&(HeapOptions){41, 4, 4, 3, 0.4, 0.0, 0.3});
    TalusProblem *problem = create(&test->def, NULL);
    CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

static double objective(TalusProblem *problem)
{
    double value;
    CHECK_OK(talus_problem_objective(problem, talus_problem_gamma(problem), &value));
    return value;
}

/* ---- the module ---- */

/* In a process of its own, for a module is looked for once. */
static bool in_child(bool (*holds)(void))
{
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(holds() ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool is_said_to_be_absent(void)
{
    TalusSolver *solver = NULL;
    setenv("TALUS_MODULES", "/nowhere", 1);
    return talus_solver_create("tao-blmvm", &solver) == TALUS_ERR_UNSUPPORTED &&
           strstr(talus_error(), "not in the folder that TALUS_MODULES names") != NULL;
}

/* A folder of its own: tests may run where the module was built. */
static char folder[] = "talus-tao-XXXXXX";

static bool is_said_to_be_broken(void)
{
    const TalusTaoModule *module;
    TalusSolver *solver = NULL;
    char path[64];
    if (!mkdtemp(folder))
        return false;
    snprintf(path, sizeof path, "%s/talus_tao.so", folder);
    FILE *file = fopen(path, "w");
    fputs("this is no library\n", file);
    fclose(file);
    setenv("TALUS_MODULES", folder, 1);
    bool ok = talus_tao_lock(&module) == TALUS_ERR_UNSUPPORTED && strstr(talus_error(), path);
    remove(path); /* what was found stays */
    ok = ok && talus_solver_create("tao-tron", &solver) == TALUS_ERR_UNSUPPORTED &&
         strstr(talus_error(), path);
    rmdir(folder);
    return ok;
}

/* MPI would end the process for want of a folder of its own. */
static bool works_without_a_place_for_files(void)
{
    const TalusTaoModule *module;
    setenv("TMPDIR", "/proc", 1);
    return talus_tao_lock(&module) == TALUS_OK;
}

static void *acquire(void *out)
{
    if (!talus_tao_missing() && talus_tao_lock((const TalusTaoModule **)out) == TALUS_OK)
        talus_tao_unlock();
    return NULL;
}

static bool is_loaded_once_by_many(void)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    const TalusTaoModule *module[THREADS] = {NULL};
    bool ok = true;
    for (int i = 0; i < THREADS; i++)
        ok &= pthread_create(&thread[i], NULL, acquire, &module[i]) == 0;
    for (int i = 0; i < THREADS; i++)
        ok &= pthread_join(thread[i], NULL) == 0 && module[i] && module[i] == module[0];
    return ok;
}

TEST(the_module_is_found_or_missed)
{
    NEEDS_MODULE();
    CHECK(in_child(is_said_to_be_absent));
    CHECK(in_child(is_said_to_be_broken));
    CHECK(in_child(works_without_a_place_for_files));
    CHECK(in_child(is_loaded_once_by_many));
}

/* ---- ranks of MPI in the same process ---- */

static TalusStatus count_ranks(TalusComm *comm, void *ranks)
{
    *(int *)ranks = talus_comm_size(comm);
    return talus_comm_agree(comm, TALUS_OK);
}

static bool starts_petsc(void)
{
    const TalusTaoModule *module;
    bool ok = CHECK_OK(talus_tao_lock(&module));
    if (ok)
        talus_tao_unlock();
    return ok;
}

static bool runs_ranks(void)
{
    int ranks = 0;
    return CHECK_OK(talus_ranks_run_mpi(count_ranks, &ranks)) && CHECK(ranks > 0);
}

static bool runs_ranks_after_petsc(void)
{
    return starts_petsc() && runs_ranks() && runs_ranks();
}

static bool runs_petsc_after_ranks(void)
{
    return runs_ranks() && starts_petsc() && runs_ranks();
}

/* Whichever starts MPI. tests/comm_mpi.sh runs this by mpirun, too, where no child may have MPI. */
TEST(petsc_and_ranks_share_mpi)
{
    NEEDS_MODULE();
    if (talus_mpi_is_launched()) {
        CHECK(runs_ranks_after_petsc());
    } else {
        CHECK(in_child(runs_ranks_after_petsc));
        CHECK(in_child(runs_petsc_after_ranks));
    }
}

TEST(petsc_leaves_signals_and_environment_alone)
{
    NEEDS_MODULE();
    const int signals[] = {SIGSEGV, SIGFPE, SIGINT, SIGTERM, SIGABRT, SIGBUS, SIGUSR1, SIGCHLD};
    struct sigaction before[8], after;
    const TalusTaoModule *module;
    for (int i = 0; i < 8; i++)
        sigaction(signals[i], NULL, &before[i]);
    REQUIRE_OK(talus_tao_lock(&module));
    talus_tao_unlock();
    CHECK(strncmp(module->package, "PETSc ", 6) == 0);
    for (int i = 0; i < 8; i++) {
        sigaction(signals[i], NULL, &after);
        CHECK(before[i].sa_handler == after.sa_handler);
    }
    CHECK(!getenv("OMPI_MCA_btl") && !getenv("OMPI_MCA_ess_singleton_isolated"));
}

/* ---- solutions ---- */

static void solve_cones(TalusFrictionModel model)
{
    TestProblem test;
    TalusProblem *problem = heap_with(model, &test);
    double tolerance = 1e-9 * start_residual(problem);
    TalusSolveInfo info = solve_cold("apgd", problem, tolerance, 20000);
    double expected = objective(problem);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    for (int s = 0; s < ALL; s++) {
        /* bqpip factorises an ever worse matrix: where its residual ends, at 1e-10 to 1e-9 of the first one, differs
         * from processor to processor */
        double reach = strcmp(all[s], "tao-bqpip") == 0 ? 3.0 * tolerance : tolerance;
        info = solve_cold(all[s], problem, reach, 5000);
        bool ok = CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        ok &= CHECK_NEAR(objective(problem), expected, 1e-9 * fabs(expected));
        ok &= CHECK(info.products > info.iterations && info.iterations > 1);
        blame(ok, talus_section_name(model.section), all[s]);
    }
    talus_problem_destroy(problem);
    free_test_problem(&test);
}

TEST(cones_are_solved)
{
    NEEDS_MODULE();
    solve_cones(triangle);
    solve_cones(hexagon); /* more edges than rows: P is singular */
    solve_cones(square);
}

/* Bounds on the impulses themselves. */
TEST(boxes_are_solved)
{
    NEEDS_MODULE();
    TestProblem test;
    TalusProblem *problem =
        heap_with((TalusFrictionModel){TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0}, &test);
    double tolerance = 1e-9 * start_residual(problem), *expected;
    int n = talus_problem_size(problem);
    CHECK(solve_cold("apgd", problem, tolerance, 20000).outcome == TALUS_OUTCOME_CONVERGED);
    REQUIRE_OK(TALUS_ALLOC(expected, 2 * (size_t)n, "velocities"));
    talus_problem_velocity(problem, talus_problem_gamma(problem), expected);
    for (int s = 0; s < ALL - 1; s++) {
        TalusSolveInfo info = solve_cold(all[s], problem, tolerance, 5000);
        talus_problem_velocity(problem, talus_problem_gamma(problem), expected + n);
        bool ok = CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        ok &= CHECK_NEAR(largest_difference(expected, expected + n, n), 0.0, 1e-6);
        blame(ok, "boxes", all[s]);
    }
    TalusSolver *bqpip = solver_of("tao-bqpip");
    CHECK(talus_solver_supports(bqpip, problem) == TALUS_ERR_UNSUPPORTED);
    talus_solver_destroy(bqpip);
    talus_release(expected);
    talus_problem_destroy(problem);
    free_test_problem(&test);
}

/* ---- the paper's rules ---- */

/* Norm of the projected gradient of the dual at the problem's impulses, in m/s. */
static double projected_gradient(TalusProblem *problem)
{
    TalusQp qp = {0};
    double *u, *lambda, *slack, sum = 0.0;
    size_t n = (size_t)talus_problem_size(problem);
    CHECK_OK(talus_qp_fill(&qp, problem));
    size_t m = (size_t)qp.multipliers;
    CHECK_OK(TALUS_ALLOC(u, n + 2 * m, "vectors"));
    lambda = u + n;
    slack = lambda + m;
    talus_problem_velocity(problem, talus_problem_gamma(problem), u);
    talus_qp_slacks(&qp, u, slack);
    talus_qp_multipliers(&qp, talus_problem_gamma(problem), lambda);
    for (size_t k = 0; k < m; k++) {
        double g = lambda[k] > 1e-12 ? slack[k] : fmin(slack[k], 0.0);
        sum += g * g;
    }
    talus_release(u);
    talus_qp_clear(&qp);
    return sqrt(sum);
}

TEST(the_papers_rules_are_of_the_gradient)
{
    NEEDS_MODULE();
    const char *const specs_of[] = {"tao-blmvm:stop=paper", "tao-tron:stop=paper"};
    const double rule[] = {1e-3, 1e-4};
    TestProblem test;
    TalusProblem *problem = heap_with(triangle, &test);
    for (int s = 0; s < 2; s++) {
        TalusSolveInfo info = solve_cold(specs_of[s], problem, 0.0, 2000);
        double norm = projected_gradient(problem);
        CHECK(info.iterations > 3 && info.iterations < 2000);
        CHECK(info.outcome == TALUS_OUTCOME_BUDGET); /* nothing is claimed */
        CHECK(norm <= 1.001 * rule[s] && norm > 0.0);
        /* and not by our tolerance, however loose */
        CHECK_INT(solve_cold(specs_of[s], problem, 1.0, 2000).iterations, info.iterations);
    }
    talus_problem_destroy(problem);
    free_test_problem(&test);
}

/* By the paper's rules, too, a problem that zero impulses solve exactly is at its end. */
TEST(what_cannot_be_improved_ends)
{
    NEEDS_MODULE();
    const char *const specs_of[] = {"tao-blmvm:stop=paper", "tao-tron:stop=paper", "tao-gpcg",
                                    "tao-bqpip"};
    TestProblem test = make_heap(&(HeapOptions){42, 1, 1, 2, 0.4, 0.0, 0.0});
    for (int i = 0; i < test.def.contact_count; i++)
        ((TalusContactDef *)test.def.contacts)[i].bias = 1e3; /* far apart */
    TalusProblem *problem = create(&test.def, NULL);
    CHECK_OK(talus_problem_set_friction(problem, triangle));
    for (int s = 0; s < ALL; s++) {
        TalusSolveInfo info = solve_cold(specs_of[s], problem, 0.0, 5000);
        blame(CHECK(info.iterations < 10 && info.residual.rms == 0.0), "open contacts",
              specs_of[s]);
    }
    talus_problem_destroy(problem);
    free_test_problem(&test);
}

/* ---- limits ---- */

static double evaluate_bowl(void *user, const double *x, double *gradient)
{
    (void)user;
    gradient[0] = x[0] - 1.0;
    gradient[1] = x[1] + 1.0;
    return 0.5 * (x[0] * x[0] + x[1] * x[1]) - x[0] + x[1];
}

static bool until_small(void *user, int number, const double *x, double norm)
{
    (void)user, (void)number, (void)x;
    return norm > 1e-9;
}

static bool always(void *user)
{
    (void)user;
    return true;
}

/* min over [0, 2]^2 of |x - (1, -1)|^2 / 2, by the module itself. */
static TalusTaoResult solve_bowl(const TalusTaoModule *module, TalusTaoMethod method, size_t limit,
                                 double x[2])
{
    int32_t start[] = {0, 1, 2}, column[] = {0, 1};
    double value[] = {1.0, 1.0}, lower[] = {0.0, 0.0}, upper[] = {2.0, 2.0};
    TalusTaoResult result;
    TalusTaoProblem problem = {.method = method,
                               .n = 2,
                               .start = start,
                               .column = column,
                               .value = value,
                               .lower = lower,
                               .upper = upper,
                               .x = x,
                               .precondition = "jacobi",
                               .memory_limit = limit,
                               .evaluate = evaluate_bowl,
                               .iterated = until_small,
                               .multiplied = always};
    module->solve(&problem, &result);
    return result;
}

TEST(memory_that_runs_out_is_told)
{
    NEEDS_MODULE();
    const TalusTaoModule *module;
    REQUIRE_OK(talus_tao_lock(&module));
    for (int method = TALUS_TAO_BLMVM; method <= TALUS_TAO_GPCG; method++) {
        double x[2] = {2.0, 2.0};
        solve_bowl(module, (TalusTaoMethod)method, 0, x); /* PETSc keeps some things */
        x[0] = 2.0;
        TalusTaoResult result = solve_bowl(module, (TalusTaoMethod)method, 0, x);
        CHECK(result.end == TALUS_TAO_ENDED && result.bytes > 0);
        CHECK_NEAR(x[0], 1.0, 1e-9);
        CHECK(x[1] == 0.0);
        /* in the midst of everything that is made, and then all is well again */
        for (size_t limit = 64; limit < result.bytes; limit += result.bytes / 7) {
            x[0] = 2.0;
            TalusTaoResult short_of = solve_bowl(module, (TalusTaoMethod)method, limit, x);
            CHECK(short_of.end == TALUS_TAO_MEMORY && short_of.text[0]);
        }
        x[0] = 2.0;
        CHECK(solve_bowl(module, (TalusTaoMethod)method, 0, x).end == TALUS_TAO_ENDED);
    }
    talus_tao_unlock();
}

TEST(time_is_kept)
{
    NEEDS_MODULE();
    TestProblem test;
    TalusProblem *problem = heap_with(triangle, &test);
    for (int s = 0; s < ALL; s++) {
        TalusSolver *solver = solver_of(all[s]);
        TalusSolveOptions options = budget(0.0, 1 << 30);
        TalusSolveInfo info;
        options.max_seconds = 1e-9;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK(info.outcome == TALUS_OUTCOME_BUDGET && info.iterations <= 2);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&test);
}

int main(void)
{
    RUN(the_module_is_found_or_missed);
    RUN(petsc_and_ranks_share_mpi);
    RUN(petsc_leaves_signals_and_environment_alone);
    RUN(cones_are_solved);
    RUN(boxes_are_solved);
    RUN(the_papers_rules_are_of_the_gradient);
    RUN(what_cannot_be_improved_ends);
    RUN(memory_that_runs_out_is_told);
    RUN(time_is_kept);
    return talus_test_result();
}
