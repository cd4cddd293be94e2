/* Newton's methods: how fast they end, what the hybrid and the augmented Lagrangian save, and what they do where
 * there is no solution. */

#include "support/problems.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

static const TalusFrictionModel none = {TALUS_SECTION_NONE, TALUS_LAW_CCP, 0};
static const TalusFrictionModel box = {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0};
static const TalusFrictionModel pyramid = {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0};

enum { MOST = 400 };

/* Residuals of all iterations. */
typedef struct Course {
    TalusSolveInfo info;
    int count, products; /* products: as last reported */
    double residual[MOST];
} Course;

static bool note(void *user, int iteration, int products, double residual)
{
    Course *c = user;
    (void)iteration;
    c->products = products;
    if (c->count < MOST)
        c->residual[c->count++] = residual;
    return true;
}

/* From zero impulses to `relative` of their residual. */
static Course course_of(TalusProblem *problem, const char *spec, double relative, int iterations)
{
    Course c = {.info = {.outcome = TALUS_OUTCOME_DIVERGED}};
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusResidual start;
    memset(talus_problem_gamma(problem), 0, (size_t)talus_problem_size(problem) * sizeof(double));
    talus_problem_residual(problem, talus_problem_gamma(problem), &start);
    options.tolerance = relative * start.rms;
    options.max_iterations = iterations;
    options.monitor = note;
    options.monitor_user = &c;
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &c.info));
    talus_solver_destroy(solver);
    for (int k = 0; k < c.count; k++)
        c.residual[k] /= start.rms;
    return c;
}

static TalusProblem *problem_of(const TestProblem *p, const TalusFrictionModel *model)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    if (model)
        CHECK_OK(talus_problem_set_friction(problem, *model));
    return problem;
}

static void show(const char *spec, const Course *c)
{
    printf("    %s:", spec);
    for (int k = c->count > 5 ? c->count - 5 : 0; k < c->count; k++)
        printf(" %.1e", c->residual[k]);
    printf(", then %.1e\n", c->info.residual.rms);
}

/* ---- the last steps ---- */

/* Once the active set is right the problem is linear: rounding errors are all that one step leaves. */
TEST(on_bounds_the_last_step_is_exact)
{
    static const char *const specs[] = {"ssn:regularise=1e-12", "ssn:regularise=1e-12,map=normal"};
    TestProblem p = make_heap(&(HeapOptions){3, 6, 6, 5, 0.5, 0.0, 0.0});
    for (int s = 0; s < 2; s++)
        for (int m = 0; m < 2; m++) {
            TalusProblem *problem = problem_of(&p, m ? &box : &none);
            Course c = course_of(problem, specs[s], 1e-10, 200);
            CHECK_INT(c.info.outcome, TALUS_OUTCOME_CONVERGED);
            CHECK(c.count > 2 && c.residual[c.count - 1] > 1e-5);
            show(specs[s], &c);
            talus_problem_destroy(problem);
        }
    free_test_problem(&p);
}

/* The projection onto a cone is curved: r' <= C r^2. */
TEST(on_cones_the_last_steps_are_quadratic)
{
    TestProblem p = make_heap(&(HeapOptions){3, 6, 6, 5, 0.5, 0.0, 0.0});
    TalusProblem *problem = problem_of(&p, NULL);
    Course c = course_of(problem, "prox:rho=1e-6", 1e-9, 200);
    CHECK_INT(c.info.outcome, TALUS_OUTCOME_CONVERGED);
    int near = 0;
    for (int k = 0; k + 1 < c.count; k++)
        if (c.residual[k] < 1e-2) {
            near++;
            CHECK(c.residual[k + 1] <= 50.0 * c.residual[k] * c.residual[k]);
        }
    CHECK(near >= 1 && c.residual[c.count - 1] > 1e-8 && c.residual[c.count - 2] > 1e-4);
    show("prox", &c);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- the hybrid ---- */

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

TEST(sweeps_save_factorisations)
{
    static const char *const hybrids[] = {"gs-ssn", "gs-ssn:map=normal"};
    TestProblem p = make_heap(&(HeapOptions){3, 6, 6, 5, 0.5, 0.0, 0.0});
    for (int m = 0; m < 2; m++) {
        TalusProblem *problem = problem_of(&p, m ? &box : &none);
        int n = talus_problem_size(problem);
        Course newton = course_of(problem, "ssn", 1e-9, 200);
        double *expected = velocity_of(problem);
        CHECK_INT(newton.info.outcome, TALUS_OUTCOME_CONVERGED);
        for (int h = 0; h < 2; h++) {
            Course hybrid = course_of(problem, hybrids[h], 1e-9, 1000);
            double *u = velocity_of(problem);
            CHECK_INT(hybrid.info.outcome, TALUS_OUTCOME_CONVERGED);
            CHECK(hybrid.info.factorisations > 0);
            CHECK(hybrid.info.factorisations < newton.info.factorisations);
            CHECK_NEAR(distance(u, expected, n), 0.0, 1e-7);
            free(u);
        }
        free(expected);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* From near a solution: Newton with the Jacobian of the moving bounds ends at once; with frozen ones, whose
 * movement its steps do not know, it does not. From zero impulses both can be caught. */
TEST(newton_knows_moving_bounds)
{
    static const char *const specs[] = {
        "ssn:bounds=moving,regularise=1e-9", "ssn:bounds=moving,map=normal,regularise=1e-9",
        "ssn:bounds=moving,metric=none,regularise=1e-9", "ssn:bounds=frozen,regularise=1e-9"};
    TestProblem p = make_heap(&(HeapOptions){5, 4, 4, 3, 0.3, 0.0, 0.0});
    TalusProblem *problem = problem_of(&p, &pyramid);
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    double *solution = malloc(bytes), *gamma = talus_problem_gamma(problem);
    Course c = course_of(problem, "gs-ssn:map=normal", 1e-9, 1000);
    CHECK_INT(c.info.outcome, TALUS_OUTCOME_CONVERGED);
    c = course_of(problem, "gs-ssn", 1e-11, 1000);
    CHECK_INT(c.info.outcome, TALUS_OUTCOME_CONVERGED);
    memcpy(solution, gamma, bytes);
    for (int s = 0; s < 4; s++) {
        TalusSolver *solver = NULL;
        TalusSolveOptions options = talus_solve_options_default();
        TalusSolveInfo info;
        options.tolerance = 1e-10;
        options.max_iterations = 6;
        memcpy(gamma, solution, bytes);
        for (int i = 0; i < talus_problem_size(problem); i++)
            gamma[i] *= 1.0 + 1e-3 * (i / 3 % 7); /* what is at a bound stays there */
        CHECK_OK(talus_solver_create(specs[s], &solver));
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        if (!CHECK_INT(info.outcome, s < 3 ? TALUS_OUTCOME_CONVERGED : TALUS_OUTCOME_BUDGET))
            printf("    with %s, residual %g after %d\n", specs[s], info.residual.rms,
                   info.iterations);
        talus_solver_destroy(solver);
    }
    free(solution);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- the augmented Lagrangian ---- */

/* With bodies and compliance, as a matrix, hyperstatic. */
TEST(newton_al_solves_frictionless_problems)
{
    TestProblem p[] = {make_heap(&(HeapOptions){4, 5, 5, 4, 0.0, 0.1, 0.4}),
                       make_explicit(11, 80, 1), make_bowl(24, 0.0, 0.0),
                       make_column(12, 1e3, 0.0)};
    static const char *const specs[] = {"newton-al", "newton-al:linear=ldl", "newton-al:rho=10"};
    for (int i = 0; i < 4; i++) {
        TalusProblem *problem = problem_of(&p[i], NULL);
        int n = talus_problem_size(problem);
        Course c = course_of(problem, "prox", 1e-11, 200);
        double *expected = velocity_of(problem);
        for (int s = 0; s < 3; s++) {
            c = course_of(problem, specs[s], 1e-10, 200);
            double *u = velocity_of(problem);
            bool ok = CHECK_INT(c.info.outcome, TALUS_OUTCOME_CONVERGED);
            ok = CHECK(c.info.factorisations > 0 && c.info.factorisations <= 30) && ok;
            ok = CHECK_NEAR(distance(u, expected, n), 0.0, 1e-8) && ok;
            if (!ok)
                show(specs[s], &c);
            free(u);
        }
        free(expected);
        talus_problem_destroy(problem);
        free_test_problem(&p[i]);
    }
}

/* Nothing is computed after the last iteration, not even where it ends a round. */
TEST(newton_al_ends_without_another_round)
{
    TestProblem p = make_heap(&(HeapOptions){4, 4, 4, 3, 0.0, 0.0, 0.0});
    TalusProblem *problem = problem_of(&p, NULL);
    for (int iterations = 1; iterations <= 12; iterations++) {
        Course c = course_of(problem, "newton-al", 0.0, iterations);
        CHECK_INT(c.info.iterations, iterations);
        CHECK_INT(c.info.products, c.products);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- no solution ---- */

TEST(wedges_end_in_an_honest_outcome)
{
    static const char *const specs[] = {"ssn",    "ssn:map=normal",    "ssn:bounds=moving",
                                        "gs-ssn", "gs-ssn:map=normal", "newton-al"};
    const TalusFrictionModel *const models[] = {NULL, &box, &pyramid};
    for (int m = 0; m < 3; m++) {
        TestProblem p = make_wedge(m ? 0.3 : 0.0, 4);
        TalusProblem *problem = problem_of(&p, models[m]);
        for (int s = 0; s < (m ? 5 : 6); s++) {
            Course c = course_of(problem, specs[s], 1e-9, 300);
            bool ok = CHECK(c.info.outcome != TALUS_OUTCOME_CONVERGED);
            for (int k = 0; k < talus_problem_size(problem); k++)
                ok = ok && CHECK(isfinite(talus_problem_gamma(problem)[k]));
            if (!ok)
                show(specs[s], &c);
            if (!m)
                CHECK_INT(c.info.outcome, TALUS_OUTCOME_INFEASIBLE);
        }
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

int main(void)
{
    RUN(on_bounds_the_last_step_is_exact);
    RUN(on_cones_the_last_steps_are_quadratic);
    RUN(sweeps_save_factorisations);
    RUN(newton_knows_moving_bounds);
    RUN(newton_al_solves_frictionless_problems);
    RUN(newton_al_ends_without_another_round);
    RUN(wedges_end_in_an_honest_outcome);
    return talus_test_result();
}
