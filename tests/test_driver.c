/* What the driver makes of a solver's result. */

#include "problem/problem.h"
#include "solvers/driver/session.h"
#include "support/problems.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <talus/solver.h>

/* Two contacts that nearly undo each other: gamma would be 1e4, and Jacobi with omega = 2 swings
 * between the two with growing strides, bounded only by gamma >= 0. */
TEST(a_residual_that_grows_is_divergence)
{
    const int32_t start[3] = {0, 2, 4}, column[4] = {0, 1, 0, 1};
    const double values[4] = {1.0, -0.9999, -0.9999, 1.0}, q[2] = {-1.0, -0.9};
    const TalusProblemDef def = {.block_count = 2,
                                 .rows = 1,
                                 .row_start = start,
                                 .column = column,
                                 .values = values,
                                 .offset = q};
    TalusProblem *problem = NULL;
    TalusSolver *jacobi = NULL, *apgd = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    options.max_iterations = 20000;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    REQUIRE_OK(talus_solver_create("jacobi:omega=2", &jacobi));
    REQUIRE_OK(talus_solver_create("apgd", &apgd));
    REQUIRE_OK(talus_solver_solve(jacobi, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_DIVERGED);
    CHECK(talus_problem_gamma(problem)[0] == 0.0 && talus_problem_gamma(problem)[1] == 0.0);
    CHECK_NEAR(info.residual.max, 1.0, 1e-12);
    REQUIRE_OK(talus_solver_solve(apgd, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    /* 1.9 / (2e-4) each, give or take 0.1 / (2 * 1.9999) */
    CHECK_NEAR(talus_problem_gamma(problem)[0], 9500.0 + 0.05 / 1.9999, 0.1);
    talus_solver_destroy(jacobi);
    talus_solver_destroy(apgd);
    talus_problem_destroy(problem);
}

/* A fixed number of iterations goes on where nothing but rounding is left. What is carried to the next
 * solve must not come from that. */
TEST(iterations_beyond_the_solution_do_no_harm)
{
    for (int i = 0; i < 3; i++) {
        TestProblem p = make_heap(&(HeapOptions){(uint64_t)i + 1, 4, 3, 3, 0.2 * i, 0.0, 0.0});
        TalusProblem *problem = NULL;
        TalusSolver *fresh = NULL, *used = NULL;
        TalusSolveOptions options = talus_solve_options_default();
        TalusSolveInfo once, again;
        REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
        REQUIRE_OK(talus_solver_create("apgd", &fresh));
        REQUIRE_OK(talus_solver_create("apgd", &used));
        options.tolerance = 0.0;
        options.max_iterations = 4000;
        REQUIRE_OK(talus_solver_solve(used, problem, &options, &again));
        double *gamma = talus_problem_gamma(problem);
        options.tolerance = 1e-6 * again.start_residual;
        memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
        REQUIRE_OK(talus_solver_solve(fresh, problem, &options, &once));
        memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
        REQUIRE_OK(talus_solver_solve(used, problem, &options, &again));
        CHECK_INT(once.outcome, TALUS_OUTCOME_CONVERGED);
        if (!CHECK(again.iterations <= 2 * once.iterations))
            printf("case %d: %d iterations, then %d\n", i, once.iterations, again.iterations);
        talus_solver_destroy(fresh);
        talus_solver_destroy(used);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* A ball between two walls: impulses that grow alike on both sides, seen first in the metric of one solver, then in that
 * of another. The proof is their difference as impulses. */
TEST(a_proof_outlasts_a_handover)
{
    TestProblem p = make_wedge(0.3, 1);
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
    REQUIRE_OK(talus_solver_create("apgd", &solver));
    REQUIRE_OK(talus_problem_upload(problem));
    talus_solver_set_backend(solver, problem->backend);
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {.iterations = 64};
    TalusSolve solve = {.problem = problem,
                        .backend = problem->backend,
                        .options = &options,
                        .info = &info,
                        .op = problem->solver_op,
                        .gamma = problem->solver_gamma,
                        .solver = solver,
                        .infeasibility = &solver->infeasibility};
    const TalusMetricBlock metric[2] = {{0.01, 0.01, 0.3, 1.0 / 1.09},
                                        {0.01, 0.01, 0.3, 1.0 / 1.09}};
    const double first[6] = {100.0, 0.0, 0.0, 100.0, 0.0, 0.0}; /* 1 each, in that metric */
    const double second[6] = {2.0, 0.0, 0.0, 2.0, 0.0, 0.0};
    options.max_iterations = 1000;
    talus_infeasibility_reset(solve.infeasibility);
    CHECK(talus_solve_observe(&solve, first, metric, 0.1));
    info.iterations = 128;
    CHECK(!talus_solve_observe(&solve, second, NULL, 0.1));
    CHECK_STR(talus_outcome_name(info.outcome), "infeasible");
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

int main(void)
{
    RUN(iterations_beyond_the_solution_do_no_harm);
    RUN(a_residual_that_grows_is_divergence);
    RUN(a_proof_outlasts_a_handover);
    return talus_test_result();
}
