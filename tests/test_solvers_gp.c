/* gpcg, gpminres, gpminres-p on heaps: degenerate and infeasible ones, against Jacobi, out of memory. */
#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"

#include <math.h>
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

/* A heap with every contact twice, the second with `bias` times 1 to 7 more: every face with such a pair has a direction
 * without curvature, and a small gradient along it. */
typedef struct Doubled {
    TestProblem heap;
    TalusContactDef *contacts;
    TalusProblem *problem;
} Doubled;

static Doubled make_doubled(double bias)
{
    Doubled d = {.heap = make_heap(&(HeapOptions){72, 4, 4, 4, 0.0, 0.0, 0.0})};
    TalusProblemDef def = d.heap.def;
    d.contacts = calloc(2 * (size_t)def.contact_count, sizeof *d.contacts);
    for (int i = 0; i < def.contact_count; i++) {
        d.contacts[2 * i] = d.contacts[2 * i + 1] = def.contacts[i];
        d.contacts[2 * i + 1].bias += bias * (1 + i % 7);
    }
    def.contacts = d.contacts;
    def.contact_count *= 2;
    CHECK_OK(talus_problem_create(&def, NULL, &d.problem));
    return d;
}

static void free_doubled(Doubled *d)
{
    talus_problem_destroy(d->problem);
    free(d->contacts);
    free_test_problem(&d->heap);
}

static void clear_impulses(TalusProblem *problem)
{
    memset(talus_problem_gamma(problem), 0, (size_t)talus_problem_size(problem) * sizeof(double));
}

TEST(doubled_contacts_are_solved)
{
    Doubled d = make_doubled(1e-7);
    TalusResidual start;
    talus_problem_residual(d.problem, talus_problem_gamma(d.problem), &start);
    TalusSolveInfo info = run("gpminres", d.problem, 1e-10 * start.rms, 8000);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    clear_impulses(d.problem);
    info = run("gpminres-p", d.problem, 1e-10 * start.rms, 1000);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    free_doubled(&d);
}

/* Parameters of heyn-2012's GPMINRES: iterations are Krylov steps. */
#define PAPER "line=whole,metric=none,projections=100000,null_exit=off,count=krylov"

/* Returns the objective after `iterations` from zero impulses. */
static double find_objective(const char *spec, TalusProblem *problem, int iterations)
{
    double f = 0.0;
    clear_impulses(problem);
    CHECK_INT(run(spec, problem, 0.0, iterations).iterations, iterations);
    CHECK_OK(talus_problem_objective(problem, talus_problem_gamma(problem), &f));
    return f;
}

/* heyn-2012's LU keeps pivots that are rounding errors: in faces with a null space it loses what positive factors and
 * plain MINRES find, in regular ones it is as good. */
TEST(lu_loses_its_accuracy_in_faces_with_a_null_space)
{
    Doubled d = make_doubled(1e-3);
    double best = find_objective("gpminres", d.problem, 5000);
    CHECK(find_objective("gpminres-p:factor=lu," PAPER, d.problem, 100) > best + 1e-3 * fabs(best));
    CHECK_NEAR(find_objective("gpminres-p:" PAPER, d.problem, 100), best, 1e-12 * fabs(best));
    CHECK_NEAR(find_objective("gpminres:" PAPER, d.problem, 1000), best, 1e-4 * fabs(best));
    free_doubled(&d);

    TestProblem p = make_heap(&(HeapOptions){72, 4, 4, 4, 0.0, 0.0, 0.0});
    TalusProblem *regular = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &regular));
    best = find_objective("gpminres", regular, 1000);
    CHECK_NEAR(find_objective("gpminres-p:factor=lu," PAPER, regular, 20), best,
               1e-12 * fabs(best));
    talus_problem_destroy(regular);
    free_test_problem(&p);
}

/* Leaving a face at its null space relies on projection steps that run along it, which those of line=whole do not. */
TEST(the_whole_line_is_faster_without_the_exit_at_null_spaces)
{
    Doubled d = make_doubled(1e-3);
    double best = find_objective("gpminres", d.problem, 5000), least = 1e-7 * fabs(best);
    CHECK_NEAR(find_objective("gpminres:" PAPER, d.problem, 900), best, 1e-12 * fabs(best));
    CHECK(find_objective("gpminres:" PAPER ",null_exit=on", d.problem, 900) > best + least);
    free_doubled(&d);
}

/* With count=krylov projection steps do not count, but rounds without Krylov steps do, or a solve would not end at a
 * solution: find_objective checks that the budget is used up. */
TEST(counting_krylov_steps_ends_at_a_solution)
{
    TestProblem p = make_column(1, 1.0, 0.0);
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    double f = find_objective("gpminres:count=krylov", problem, 50);
    CHECK_NEAR(f, find_objective("gpminres", problem, 50), 1e-12 * fabs(f));
    talus_problem_destroy(problem);
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
        clear_impulses(problem);
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
        clear_impulses(r.problem);
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
    RUN(lu_loses_its_accuracy_in_faces_with_a_null_space);
    RUN(the_whole_line_is_faster_without_the_exit_at_null_spaces);
    RUN(counting_krylov_steps_ends_at_a_solution);
    RUN(wedge_beside_a_smooth_heap_is_found);
    RUN(jacobis_objective_in_a_twentieth_of_its_iterations);
    RUN(failed_allocation_is_reported);
    RUN(friction_is_refused);
    return talus_test_result();
}
