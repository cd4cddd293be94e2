/* apgd: when a solve ends, and what the lag of the gradient saves under Coulomb's law. */

#include "support/problems.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <talus/solver.h>

static TalusProblem *problem_of(const TestProblem *p, TalusFrictionLaw law)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    CHECK_OK(talus_problem_set_friction(
        problem, (TalusFrictionModel){.law = law, .section = TALUS_SECTION_DISC}));
    return problem;
}

/* Solves from zero impulses to `tolerance`, m/s. */
static TalusSolveInfo solve(TalusProblem *problem, const char *spec, TalusNorm norm,
                            double tolerance)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {0};
    TalusSolveOptions options = talus_solve_options_default();
    double *gamma = talus_problem_gamma(problem);
    options.tolerance = tolerance;
    options.norm = norm;
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    talus_solver_destroy(solver);
    return info;
}

/* Under ccp the iterates do not depend on when residuals are measured. With a residual in every tenth iteration alone,
 * solves would end 4.5 iterations late in the mean. */
TEST(a_solve_ends_soon_after_the_tolerance_is_reached)
{
    const TalusNorm norms[] = {TALUS_NORM_RMS, TALUS_NORM_MAX};
    TestProblem p = make_heap(&(HeapOptions){.seed = 3, .nx = 7, .ny = 7, .nz = 7, .mu = 0.4});
    TalusProblem *problem = problem_of(&p, TALUS_LAW_CCP);
    for (int k = 0; k < 2; k++) {
        int late = 0, count = 0;
        for (double tolerance = 1e-4; tolerance > 1e-6; tolerance *= 0.8, count++) {
            int first = solve(problem, "apgd:check=1", norms[k], tolerance).iterations;
            int found = solve(problem, "apgd:check=10", norms[k], tolerance).iterations;
            CHECK(found >= first && found <= first + 9);
            late += found - first;
        }
        printf("%d iterations late in %d solves\n", late, count);
        CHECK(late < 2 * count);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Returns the iterations of all solves of several heaps and tolerances under Coulomb's law. */
static int count_iterations(const char *spec)
{
    int sum = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        TestProblem p = make_heap(
            &(HeapOptions){.seed = seed, .nx = 7, .ny = 7, .nz = 8, .mu = 0.5, .compliance = 0.02});
        TalusProblem *problem = problem_of(&p, TALUS_LAW_COULOMB);
        for (double tolerance = 1e-3; tolerance > 1e-6; tolerance *= 0.1)
            sum += solve(problem, spec, TALUS_NORM_RMS, tolerance).iterations;
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
    return sum;
}

TEST(a_lagging_gradient_saves_iterations)
{
    int with = count_iterations("apgd"), without = count_iterations("apgd:lag=0");
    printf("iterations with lag %d, without %d\n", with, without);
    CHECK(with < 0.9 * without);
}

int main(void)
{
    RUN(a_solve_ends_soon_after_the_tolerance_is_reached);
    RUN(a_lagging_gradient_saves_iterations);
    return talus_test_result();
}
