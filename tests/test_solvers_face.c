/* kucera, mprgp, pgd and cpg at their edges: finite ends of faces, matrices without curvature, norms
 * that are wrong, and what the driver asks of every solver. */

#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* ---- small matrices with something special ---- */

typedef struct Small {
    double matrix[36], q[6];
    int n;
} Small;

/* An explicit problem of n rows without friction. */
static TestProblem make_small(const Small *m)
{
    TestProblem p = {.name = "small matrix"};
    int n = m->n;
    int32_t *start = test_memory(&p, (size_t)n + 1, sizeof *start);
    int32_t *column = test_memory(&p, (size_t)(n * n), sizeof *column);
    double *values = test_memory(&p, (size_t)(n * n), sizeof *values);
    double *q = test_memory(&p, (size_t)n, sizeof *q);
    memcpy(values, m->matrix, (size_t)(n * n) * sizeof *values);
    memcpy(q, m->q, (size_t)n * sizeof *q);
    for (int i = 0; i < n * n; i++)
        column[i] = i % n;
    for (int i = 0; i <= n; i++)
        start[i] = i * n;
    p.def = (TalusProblemDef){.block_count = n,
                              .rows = 1,
                              .row_start = start,
                              .column = column,
                              .values = values,
                              .offset = q};
    return p;
}

static TalusSolveInfo solve_small(const Small *m, const char *spec, const double *start,
                                  int iterations, double *gamma)
{
    TestProblem p = make_small(m);
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    options.tolerance = 1e-10;
    options.max_iterations = iterations;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    CHECK_OK(talus_solver_create(spec, &solver));
    memcpy(talus_problem_gamma(problem), start, (size_t)m->n * sizeof *start);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    memcpy(gamma, talus_problem_gamma(problem), (size_t)m->n * sizeof *gamma);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
    return info;
}

static const char *const all[] = {
    "kucera", "kucera:metric=none", "mprgp",          "mprgp:metric=none", "cpg", "cpg:variant=two",
    "pgd",    "cpg:metric=none",    "pgd:metric=none"};
enum { ALL = sizeof all / sizeof *all };

/* A solution far inside: nothing but conjugate gradients, which end after as many steps as there are
 * rows (and one for rounding, and one to see it). */
TEST(a_face_is_solved_in_as_many_steps_as_rows)
{
    Small m = {.n = 6};
    const double solution[] = {6.0, 5.0, 7.0, 4.0, 6.5, 5.5}, start[] = {5, 5, 5, 5, 5, 5};
    for (int i = 0; i < m.n; i++)
        for (int k = 0; k < m.n; k++) {
            double entry = 1.0 / (1 + abs(i - k)) + (i == k ? 0.2 * i : 0.0);
            m.matrix[i * m.n + k] = entry;
            m.q[i] -= solution[k] * entry;
        }
    for (int s = 0; s < ALL; s++) {
        double gamma[6];
        if (strncmp(all[s], "pgd", 3) == 0)
            continue;
        TalusSolveInfo info = solve_small(&m, all[s], start, 500, gamma);
        bool ok = CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        ok &= CHECK(info.iterations <= m.n + 2);
        for (int i = 0; i < m.n; i++)
            ok &= CHECK_NEAR(gamma[i], solution[i], 1e-9);
        if (!ok)
            printf("    with %s\n", all[s]);
    }
}

/* One contact written three times: N is singular, the impulse is shared in some way. */
TEST(singular_problems_are_solved)
{
    Small m = {.n = 3, .q = {-1.0, -1.0, -1.0}};
    for (int i = 0; i < 9; i++)
        m.matrix[i] = 2.0;
    for (int s = 0; s < ALL; s++) {
        double gamma[6], start[] = {0.0, 0.0, 0.0};
        TalusSolveInfo info = solve_small(&m, all[s], start, 500, gamma);
        CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        CHECK_NEAR(gamma[0] + gamma[1] + gamma[2], 0.5, 1e-9);
        CHECK(gamma[0] >= 0.0 && gamma[1] >= 0.0 && gamma[2] >= 0.0);
    }
}

/* Matrices from text files may be slightly indefinite: nothing to minimise along (1, -1), no NaN, and
 * no claim that is not true. */
TEST(indefinite_matrices_do_no_harm)
{
    Small m = {.n = 2, .q = {-1.0, -1.0 - 1e-9}, .matrix = {1.0, 1.0 + 1e-8, 1.0 + 1e-8, 1.0}};
    for (int s = 0; s < ALL; s++)
        for (int k = 0; k < 2; k++) {
            double gamma[6], start[] = {k, k};
            TalusSolveInfo info = solve_small(&m, all[s], start, 500, gamma);
            CHECK(info.outcome != TALUS_OUTCOME_DIVERGED);
            CHECK(isfinite(gamma[0]) && isfinite(gamma[1]));
            CHECK(gamma[0] >= 0.0 && gamma[1] >= 0.0);
            CHECK((info.outcome == TALUS_OUTCOME_CONVERGED) == (info.residual.rms <= 1e-10));
        }
}

/* Two rows that push against each other: the objective falls without end along (1, 1), where there is
 * no curvature at all. */
TEST(endless_directions_are_infeasible)
{
    Small m = {.n = 2, .q = {-1.0, -1.0}, .matrix = {1.0, -1.0, -1.0, 1.0}};
    for (int s = 0; s < ALL; s++) {
        double gamma[6], start[] = {0.25, 0.5};
        TalusSolveInfo info = solve_small(&m, all[s], start, 500, gamma);
        bool ok = CHECK(info.outcome == TALUS_OUTCOME_INFEASIBLE);
        if (!(ok && CHECK(isfinite(gamma[0]) && isfinite(gamma[1]))))
            printf("    with %s\n", all[s]);
    }
}

/* The first row is free and about to meet its bound, the second wants to leave it. kucera asks how far
 * the free part could go (phi~), and releases the second; the paper's mprgp asks for the free gradient
 * itself, and finishes the face first. |N| is 1, with a margin of 2 %. */
TEST(the_two_tests_of_proportion_differ)
{
    Small m = {.n = 2, .q = {1.0, -0.5}, .matrix = {1.0, 0.0, 0.0, 1.0}};
    double gamma[6], start[] = {0.01, 0.0};
    solve_small(&m, "kucera", start, 2, gamma);
    CHECK_NEAR(gamma[0], 0.01, 1e-15);
    CHECK_NEAR(gamma[1], 0.5 / 1.02, 1e-12);
    solve_small(&m, "mprgp", start, 2, gamma);
    CHECK(gamma[0] == 0.0 && gamma[1] == 0.0);
}

/* Steepest descent at its slowest: nothing is projected, so every product but one in a hundred is that
 * of a direction. */
TEST(gradients_are_formed_afresh)
{
    Small m = {.n = 2, .matrix = {1.0, 0.999, 0.999, 1.0}};
    for (int i = 0; i < 2; i++)
        m.q[i] = -5.0 * m.matrix[2 * i] - 6.0 * m.matrix[2 * i + 1];
    double gamma[6], start[] = {5.07, 5.93007};
    TalusSolveInfo info = solve_small(&m, "pgd:metric=none", start, 301, gamma);
    CHECK_INT(info.iterations, 301);
    CHECK_INT(info.products, 1 + 300 + 3);
}

/* A norm carried over from a problem without coupling is far too small for the next one. */
TEST(a_norm_that_is_too_small_is_raised)
{
    const char *const carrying[] = {"kucera", "kucera:step=1.99", "mprgp", "mprgp:step=1.99"};
    for (int s = 0; s < 4; s++)
        for (int rows = 1; rows <= 3; rows += 2) {
            Small identity = {.n = 2, .q = {-1.0, -1.0}, .matrix = {1.0, 0.0, 0.0, 1.0}};
            TestProblem p[2] = {make_small(&identity), make_explicit(6, 25, rows)};
            TalusSolver *solver = NULL;
            TalusSolveOptions options = talus_solve_options_default();
            TalusSolveInfo info;
            options.tolerance = 1e-9;
            CHECK_OK(talus_solver_create(carrying[s], &solver));
            for (int i = 0; i < 2; i++) {
                TalusProblem *problem = NULL;
                CHECK_OK(talus_problem_create(&p[i].def, NULL, &problem));
                CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
                CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
                talus_problem_destroy(problem);
                free_test_problem(&p[i]);
            }
            talus_solver_destroy(solver);
        }
}

/* The whole budget, most of it on a problem that is solved: what rounding leaves of directions, and in
 * a heap of directions without curvature, leads nowhere. */
static void keep_solution(TestProblem *p, const char *spec)
{
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    options.tolerance = 0.0;
    options.max_iterations = 1500;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    double scale = verify_scale(&p->def, talus_problem_gamma(problem));
    bool ok = CHECK(info.outcome == TALUS_OUTCOME_BUDGET);
    if (!(CHECK(info.residual.rms <= 1e-12 * scale) && ok))
        printf("    with %s on %s\n", spec, p->name);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
}

TEST(work_on_a_solution_keeps_it)
{
    TestProblem p = make_explicit(8, 30, 1), heap = make_heap(&(HeapOptions){7, 4, 4, 3, 0, 0, 0});
    for (int s = 0; s < ALL; s++) {
        keep_solution(&p, all[s]);
        if (strncmp(all[s], "pgd", 3) != 0) /* which is not there yet */
            keep_solution(&heap, all[s]);
    }
    free_test_problem(&p);
    free_test_problem(&heap);
}

/* Other units: N four times and q twice as large, so gamma is half as large, bit by bit. */
static void check_units(int rows, const char *spec)
{
    TestProblem p = make_explicit(12, 40, rows);
    int n = verify_size(&p.def);
    double *gamma[2];
    for (int scaled = 0; scaled < 2; scaled++) {
        TalusProblem *problem = NULL;
        TalusSolver *solver = NULL;
        TalusSolveOptions options = talus_solve_options_default();
        TalusSolveInfo info;
        for (int i = 0; scaled && i < p.def.row_start[n]; i++)
            ((double *)p.def.values)[i] *= 4.0;
        for (int i = 0; scaled && i < n; i++)
            ((double *)p.def.offset)[i] *= 2.0;
        options.tolerance = 0.0;
        options.max_iterations = 60;
        CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
        CHECK_OK(talus_solver_create(spec, &solver));
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        gamma[scaled] = malloc((size_t)n * sizeof(double));
        for (int i = 0; i < n; i++)
            gamma[scaled][i] = (scaled ? 2.0 : 1.0) * talus_problem_gamma(problem)[i];
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
    }
    if (!CHECK(memcmp(gamma[0], gamma[1], (size_t)n * sizeof(double)) == 0))
        printf("    with %s\n", spec);
    free(gamma[0]);
    free(gamma[1]);
    free_test_problem(&p);
}

TEST(units_do_not_show)
{
    for (int s = 0; s < ALL; s++) {
        check_units(1, all[s]);
        if (strncmp(all[s], "kucera", 6) == 0 || strncmp(all[s], "mprgp", 5) == 0)
            check_units(3, all[s]);
    }
}

/* ---- the driver's side ---- */

TEST(cones_are_refused_by_name)
{
    TestProblem p = make_explicit(2, 5, 3);
    static const char *const refusing[] = {"pgd", "cpg"};
    static const char *const messages[] = {
        "solver pgd: takes nonneg, fixed x square, joints; this problem has ccp x disc",
        "solver cpg: takes nonneg, fixed x square, coulomb x square, joints; this problem has ccp x disc"};
    for (int s = 0; s < 2; s++) {
        TalusProblem *problem = NULL;
        TalusSolver *solver = NULL;
        CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
        CHECK_OK(talus_solver_create(refusing[s], &solver));
        CHECK_INT(talus_solver_supports(solver, problem), TALUS_ERR_UNSUPPORTED);
        CHECK_STR(talus_error(), messages[s]);
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

TEST(a_second_solve_allocates_nothing)
{
    TestProblem p = make_heap(&(HeapOptions){9, 4, 4, 3, 0.0, 0.0, 0.2});
    for (int s = 0; s < ALL; s++) {
        TalusProblem *problem = NULL;
        TalusSolver *solver = NULL;
        TalusSolveOptions options = talus_solve_options_default();
        TalusSolveInfo info;
        options.tolerance = 0.0;
        options.max_iterations = 50;
        CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
        CHECK_OK(talus_solver_create(all[s], &solver));
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        talus_fail_allocation_in(1);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        talus_fail_allocation_in(0);
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

int main(void)
{
    RUN(a_face_is_solved_in_as_many_steps_as_rows);
    RUN(singular_problems_are_solved);
    RUN(indefinite_matrices_do_no_harm);
    RUN(endless_directions_are_infeasible);
    RUN(the_two_tests_of_proportion_differ);
    RUN(gradients_are_formed_afresh);
    RUN(a_norm_that_is_too_small_is_raised);
    RUN(work_on_a_solution_keeps_it);
    RUN(units_do_not_show);
    RUN(cones_are_refused_by_name);
    RUN(a_second_solve_allocates_nothing);
    return talus_test_result();
}
