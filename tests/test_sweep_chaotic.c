/* gs:order=chaotic on the host: with one thread the order forward, with more the same solution. */
#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include <talus/solver.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 4096 };

/* Solves the problem with this number of threads; gamma[size] gets the impulses. */
static void solve_by(const TestProblem *p, const char *spec, int threads, int iterations,
                     double tolerance, double *gamma)
{
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    TalusProblem *problem;
    TalusSolver *solver;
    TalusPool *pool;
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    REQUIRE_OK(talus_pool_create(threads, &pool));
    REQUIRE_OK(talus_problem_create(&p->def, pool, &problem));
    REQUIRE_OK(talus_solver_create(spec, &solver));
    CHECK(talus_problem_size(problem) <= MAX_SIZE);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    if (tolerance > 0.0)
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    memcpy(gamma, talus_problem_gamma(problem),
           (size_t)talus_problem_size(problem) * sizeof *gamma);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    talus_pool_destroy(pool);
}

TEST(one_thread_goes_forward)
{
    static double a[MAX_SIZE], b[MAX_SIZE];
    TestProblem p = make_heap(&(HeapOptions){5, 4, 4, 4, 0.4, 0.02, 0.5});
    solve_by(&p, "gs:order=chaotic,omega=0.8", 1, 40, 0.0, a);
    solve_by(&p, "gs:order=forward,omega=0.8", 1, 40, 0.0, b);
    CHECK(memcmp(a, b, (size_t)p.def.contact_count * 3 * sizeof *a) == 0);
    free_test_problem(&p);
}

/* Largest difference of the contact velocities by two solvers, m/s. */
static double compare_velocities(const TestProblem *p, const char *spec, int threads)
{
    static double a[MAX_SIZE], b[MAX_SIZE];
    double most = 0.0;
    solve_by(p, spec, threads, 100000, 1e-11, a);
    solve_by(p, "apgd", 1, 100000, 1e-11, b);
    VerifyPoint x = verify_def_point(&p->def, a), y = verify_def_point(&p->def, b);
    for (int i = 0; i < x.blocks * x.rows; i++)
        most = fmax(most, fabs(x.u[i] - y.u[i]));
    verify_point_free(&x);
    verify_point_free(&y);
    return most;
}

TEST(several_threads_find_the_solution)
{
    TestProblem problems[] = {make_heap(&(HeapOptions){6, 6, 6, 4, 0.0, 0.02, 0.0}),
                              make_heap(&(HeapOptions){7, 6, 6, 4, 0.3, 0.05, 0.0}),
                              make_heap(&(HeapOptions){8, 5, 5, 4, 0.3, 0.05, 0.5})};
    for (int i = 0; i < 3; i++) {
        CHECK(compare_velocities(&problems[i], "gs:order=chaotic,omega=0.8", 4) < 1e-8);
        free_test_problem(&problems[i]);
    }
}

int main(void)
{
    RUN(one_thread_goes_forward);
    RUN(several_threads_find_the_solution);
    return talus_test_result();
}
