/* gpcg, gpminres, gpminres-p on heaps: degenerate and infeasible ones, against Jacobi, out of memory. */
#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

static const char *const all[] = {"gpcg",
                                  "gpminres",
                                  "gpminres-p",
                                  "gpcg:metric=none,line=whole",
                                  "gpminres:metric=none,line=whole",
                                  "gpminres:binding=off",
                                  "gpminres-p:metric=none,raise=1"};

enum { ALL = sizeof all / sizeof *all };

static TalusSolveInfo run(const char *spec, TalusProblem *problem, double tolerance, int iterations)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

/* Every contact twice, with offsets that differ by little: every face with such a pair has a direction
 * without curvature, and a small gradient along it. */
TEST(doubled_contacts_are_solved)
{
    TestProblem p = make_heap(&(HeapOptions){72, 4, 4, 4, 0.0, 0.0, 0.0}), twice = p;
    int m = p.def.contact_count;
    TalusContactDef *contacts = calloc(2 * (size_t)m, sizeof *contacts);
    for (int i = 0; i < m; i++) {
        contacts[2 * i] = contacts[2 * i + 1] = p.def.contacts[i];
        contacts[2 * i + 1].bias += 1e-7 * (1 + i % 7);
    }
    twice.def.contacts = contacts;
    twice.def.contact_count = 2 * m;
    TalusProblem *problem = NULL;
    TalusResidual start;
    CHECK_OK(talus_problem_create(&twice.def, NULL, &problem));
    talus_problem_residual(problem, talus_problem_gamma(problem), &start);
    TalusSolveInfo info = run("gpminres", problem, 1e-10 * start.rms, 8000);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    memset(talus_problem_gamma(problem), 0, 2 * (size_t)m * sizeof(double));
    info = run("gpminres-p", problem, 1e-10 * start.rms, 1000);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    talus_problem_destroy(problem);
    free(contacts);
    free_test_problem(&p);
}

/* Without friction beside a heap, where the wedge's impulses must be seen to grow. */
TEST(wedge_beside_a_smooth_heap_is_found)
{
    TestProblem heap = make_heap(&(HeapOptions){18, 4, 4, 3, 0.0, 0.0, 0.0});
    TestProblem wedge = make_wedge(0.0, 1);
    TestProblem both = make_union(&heap.def, &wedge.def);
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&both.def, NULL, &problem));
    for (int s = 0; s < ALL; s++) {
        memset(talus_problem_gamma(problem), 0,
               (size_t)talus_problem_size(problem) * sizeof(double));
        if (!CHECK(run(all[s], problem, 1e-6, 6000).outcome == TALUS_OUTCOME_INFEASIBLE))
            printf("    with %s\n", all[s]);
    }
    talus_problem_destroy(problem);
    free_test_problem(&heap);
    free_test_problem(&wedge);
    free_test_problem(&both);
}

typedef struct Race {
    TalusProblem *problem;
    double target;
    int reached;
} Race;

static bool race(void *user, const TalusObservation *o)
{
    Race *r = user;
    double f;
    CHECK_OK(talus_problem_objective(r->problem, o->gamma, &f));
    if (f > r->target)
        return true;
    r->reached = o->iteration;
    return false;
}

/* heyn-2012 Table I in small: what Jacobi reaches in thousands of iterations is reached in a
 * twentieth of them. */
TEST(jacobis_objective_in_a_twentieth_of_its_iterations)
{
    enum { JACOBI = 4000 };
    TestProblem p = make_heap(&(HeapOptions){72, 4, 4, 8, 0.0, 0.0, 0.0});
    Race r = {0};
    CHECK_OK(talus_problem_create(&p.def, NULL, &r.problem));
    run("jacobi", r.problem, 0.0, JACOBI);
    CHECK_OK(talus_problem_objective(r.problem, talus_problem_gamma(r.problem), &r.target));
    for (int s = 0; s < 3; s++) {
        TalusSolver *solver = NULL;
        TalusSolveInfo info;
        TalusSolveOptions options = talus_solve_options_default();
        options.tolerance = 0.0;
        options.max_iterations = JACOBI / 20;
        options.observer = race;
        options.observer_user = &r;
        r.reached = -1;
        memset(talus_problem_gamma(r.problem), 0,
               (size_t)talus_problem_size(r.problem) * sizeof(double));
        CHECK_OK(talus_solver_create(all[s], &solver));
        CHECK_OK(talus_solver_solve(solver, r.problem, &options, &info));
        CHECK(r.reached > 0);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(r.problem);
    free_test_problem(&p);
}

TEST(failed_allocation_is_reported)
{
    TestProblem p = make_heap(&(HeapOptions){73, 2, 2, 2, 0.0, 0.0, 0.0});
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    size_t before = talus_memory_now();
    for (int s = 0; s < 3; s++) {
        TalusStatus status = TALUS_ERR_MEMORY;
        for (long n = 1; n < 500 && status != TALUS_OK; n++) {
            TalusSolver *solver = NULL;
            TalusSolveInfo info;
            TalusSolveOptions options = talus_solve_options_default();
            options.max_iterations = 20;
            CHECK_OK(talus_solver_create(all[s], &solver));
            talus_fail_allocation_in(n);
            status = talus_solver_solve(solver, problem, &options, &info);
            talus_fail_allocation_in(0);
            CHECK(status == TALUS_OK || status == TALUS_ERR_MEMORY);
            talus_solver_destroy(solver);
            CHECK(talus_memory_now() == before);
        }
        CHECK(status == TALUS_OK);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(friction_is_refused)
{
    TestProblem p = make_heap(&(HeapOptions){74, 2, 2, 2, 0.3, 0.0, 0.0});
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    TalusSolver *solver = NULL;
    CHECK_OK(talus_solver_create("gpminres", &solver));
    CHECK_INT(talus_solver_supports(solver, problem), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), "solver gpminres: takes problems without friction, this one has it");
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

int main(void)
{
    RUN(doubled_contacts_are_solved);
    RUN(wedge_beside_a_smooth_heap_is_found);
    RUN(jacobis_objective_in_a_twentieth_of_its_iterations);
    RUN(failed_allocation_is_reported);
    RUN(friction_is_refused);
    return talus_test_result();
}
