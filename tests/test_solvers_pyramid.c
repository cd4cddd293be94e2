/* cpg, pgd and ssn on boxes, and cpg and ssn on Coulomb's law over the square (preclik-2009): against
 * other solvers and against the law itself, written out. */

#include "support/problems.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

static const TalusFrictionModel box = {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0};
static const TalusFrictionModel pyramid = {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0};

static TalusProblem *problem_of(const TestProblem *p, TalusFrictionModel model)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

/* From zero impulses. */
static TalusSolveInfo solve(TalusProblem *problem, const char *spec, double tolerance,
                            int iterations, int refresh)
{
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    size_t n = (size_t)talus_problem_size(problem);
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    options.outer.refresh = refresh;
    memset(talus_problem_gamma(problem), 0, n * sizeof(double));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

static double *velocity_of(TalusProblem *problem)
{
    double *u = calloc((size_t)talus_problem_size(problem), sizeof *u);
    talus_problem_velocity(problem, talus_problem_gamma(problem), u);
    return u;
}

static double distance(const double *a, const double *b, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* ---- boxes ---- */

static const char *const on_boxes[] = {"cpg", "cpg:variant=two", "cpg:metric=none",
                                       "ssn", "ssn:metric=none", "ssn:regularise=1e-5"};
enum { ON_BOXES = sizeof on_boxes / sizeof *on_boxes };

/* Velocities are unique, impulses are not; apgd knows nothing of faces. */
static void compare_on_box(const TestProblem *p)
{
    static const double tolerance = 1e-9;
    TalusProblem *problem = problem_of(p, box);
    int n = talus_problem_size(problem);
    TalusSolveInfo info = solve(problem, "apgd", tolerance, 20000, 0);
    double *expected = velocity_of(problem), most = 0.0;
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    for (int i = 0; i < talus_problem_blocks(problem); i++)
        most = fmax(most, talus_problem_estimate(problem)[i]);
    CHECK(most > 0.0);
    for (int s = 0; s < ON_BOXES; s++) {
        info = solve(problem, on_boxes[s], tolerance, 2000, -1);
        double *u = velocity_of(problem);
        bool ok = CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        ok = CHECK_NEAR(distance(u, expected, n), 0.0, 1e-6) && ok;
        if (!ok)
            printf("    with %s on %s, residual %g\n", on_boxes[s], p->name, info.residual.rms);
        free(u);
    }
    free(expected);
    talus_problem_destroy(problem);
}

TEST(boxes_are_solved)
{
    TestProblem heap = make_heap(&(HeapOptions){3, 4, 4, 3, 0.5, 0.0, 0.0});
    TestProblem general = make_heap(&(HeapOptions){4, 3, 3, 3, 0.8, 0.1, 0.5});
    TestProblem matrix = make_explicit(6, 40, 3);
    compare_on_box(&heap);
    compare_on_box(&general);
    compare_on_box(&matrix);
    free_test_problem(&heap);
    free_test_problem(&general);
    free_test_problem(&matrix);
}

TEST(pgd_descends_on_boxes)
{
    TestProblem p = make_explicit(6, 40, 3);
    TalusProblem *problem = problem_of(&p, box);
    TalusSolveInfo info = solve(problem, "pgd", 1e-8, 5000, 0);
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- Coulomb's law over the square ---- */

/* Eq. 3 and 9 of one contact, to `small` (velocities) and `little` (impulses). */
static bool obeys(const double *gamma, const double *u, double mu, double small, double little)
{
    double bound = mu * gamma[0];
    bool ok = gamma[0] >= -little && u[0] >= -small;
    ok = ok && (gamma[0] <= little || u[0] <= small);
    for (int k = 1; k < 3; k++) {
        ok = ok && fabs(gamma[k]) <= bound + little;
        ok = ok && (u[k] <= small || gamma[k] <= -bound + little);
        ok = ok && (u[k] >= -small || gamma[k] >= bound - little);
    }
    return ok;
}

static void check_law(TalusProblem *problem, double speed, const char *spec)
{
    const double *gamma = talus_problem_gamma(problem);
    double *u = velocity_of(problem);
    int sliding = 0;
    for (int i = 0; i < talus_problem_blocks(problem); i++) {
        double d = talus_problem_diagonal(problem, i), mu = talus_problem_mu(problem, i);
        if (!CHECK(obeys(gamma + 3 * i, u + 3 * i, mu, speed, speed / d)))
            printf("    block %d with %s: gamma %g %g %g, u %g %g %g, mu %g\n", i, spec,
                   gamma[3 * i], gamma[3 * i + 1], gamma[3 * i + 2], u[3 * i], u[3 * i + 1],
                   u[3 * i + 2], mu);
        sliding += fmax(fabs(u[3 * i + 1]), fabs(u[3 * i + 2])) > 1e-3 && gamma[3 * i] > 0.0;
    }
    CHECK(sliding > 0); /* elsewhere pyramid and box do not differ */
    free(u);
}

TEST(pyramids_obey_the_law)
{
    static const char *const solvers[] = {"cpg", "cpg:variant=two", "cpg:metric=none", "ssn"};
    TestProblem p = make_heap(&(HeapOptions){5, 4, 4, 3, 0.3, 0.0, 0.0});
    TalusProblem *problem = problem_of(&p, pyramid);
    for (int s = 0; s < 4; s++) {
        TalusSolveInfo info = solve(problem, solvers[s], 1e-8, 5000, 0);
        if (CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED))
            check_law(problem, 1e-6, solvers[s]);
        else
            printf("    with %s, residual %g\n", solvers[s], info.residual.rms);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* One block on a slope of the pyramid's: tangential impulses stay at bounds that grow with the normal
 * one, so that the solution, n = 1, t = (-mu, 0), is reached by following them. */
TEST(active_components_follow_their_bounds)
{
    TestProblem p = {.name = "one block"};
    int32_t *start = test_memory(&p, 4, sizeof *start),
            *column = test_memory(&p, 9, sizeof *column);
    double *values = test_memory(&p, 9, sizeof *values), *q = test_memory(&p, 3, sizeof *q);
    double *mu = test_memory(&p, 1, sizeof *mu);
    const double matrix[] = {2.0, 0.5, 0.0, 0.5, 2.0, 0.0, 0.0, 0.0, 2.0};
    const double offset[] = {-1.75, 3.0, 0.0};
    static const char *const solvers[] = {"cpg", "cpg:variant=two", "ssn", "ssn:metric=none"};
    for (int i = 0; i < 9; i++) {
        column[i] = i % 3;
        values[i] = matrix[i];
    }
    for (int i = 0; i <= 3; i++)
        start[i] = 3 * i;
    memcpy(q, offset, sizeof offset);
    *mu = 0.5;
    p.def = (TalusProblemDef){.block_count = 1,
                              .rows = 3,
                              .row_start = start,
                              .column = column,
                              .values = values,
                              .offset = q,
                              .mu = mu};
    TalusProblem *problem = problem_of(&p, pyramid);
    for (int s = 0; s < 4; s++) {
        TalusSolveInfo info = solve(problem, solvers[s], 1e-12, 200, 0);
        const double *gamma = talus_problem_gamma(problem);
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        CHECK_NEAR(gamma[0], 1.0, 1e-11);
        CHECK_NEAR(gamma[1], -0.5, 1e-11);
        CHECK_NEAR(gamma[2], 0.0, 1e-11);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- Newton ---- */

/* As the paper says; but for the regularisation, which costs a few more. */
TEST(newton_ends_in_one_step_from_the_right_active_set)
{
    TestProblem p = make_explicit(11, 60, 1);
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    options.tolerance = 1e-9;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    CHECK_OK(talus_solver_create("ssn:regularise=1e-12", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK(info.iterations > 3); /* from zero impulses it is not known */
    double *gamma = talus_problem_gamma(problem);
    for (int i = 0; i < talus_problem_size(problem); i++)
        gamma[i] *= 1.0 + 1e-4 * (i % 7);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_INT(info.iterations, 2); /* the step, and the look before it */
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* More contacts than degrees of freedom. */
TEST(newton_solves_singular_problems)
{
    TestProblem bowl = make_bowl(24, 0.0, 0.0);
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&bowl.def, NULL, &problem));
    TalusSolveInfo info = solve(problem, "ssn", 1e-9, 200, 0);
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    talus_problem_destroy(problem);
    free_test_problem(&bowl);
}

/* Its iterates are outside, what it leaves is not. */
TEST(newton_leaves_impulses_in_the_set)
{
    TestProblem p = make_heap(&(HeapOptions){3, 4, 4, 3, 0.5, 0.0, 0.0});
    TalusProblem *problem = problem_of(&p, box);
    TalusMetrics m;
    solve(problem, "ssn", 1e-9, 100, 0);
    solve(problem, "ssn", 1e-9, 3, -1);
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    CHECK(m.natural.rms > 1e-9);
    CHECK(m.cone_violation == 0.0);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(circular_cones_are_refused)
{
    TestProblem p = make_explicit(2, 5, 3);
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    CHECK_OK(talus_solver_create("ssn", &solver));
    CHECK_INT(talus_solver_supports(solver, problem), TALUS_ERR_UNSUPPORTED);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

int main(void)
{
    RUN(boxes_are_solved);
    RUN(pgd_descends_on_boxes);
    RUN(pyramids_obey_the_law);
    RUN(active_components_follow_their_bounds);
    RUN(newton_ends_in_one_step_from_the_right_active_set);
    RUN(newton_solves_singular_problems);
    RUN(newton_leaves_impulses_in_the_set);
    RUN(circular_cones_are_refused);
    return talus_test_result();
}
