/* Laws beyond ccp: outer loops and exact algorithms agree, and leave the problem as it was. */

#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* ---- one problem under one model ---- */

static const TalusFrictionModel sections[] = {
    {.section = TALUS_SECTION_DISC},
    {.section = TALUS_SECTION_SQUARE},
    {.section = TALUS_SECTION_POLYGON, .sides = 5},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static TalusFrictionModel model_of(int section, TalusFrictionLaw law)
{
    TalusFrictionModel model = sections[section];
    model.law = law;
    return model;
}

static TalusProblem *problem_of(const TestProblem *p, TalusFrictionModel model)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

static TalusSolveInfo solve(TalusProblem *problem, const char *spec,
                            const TalusSolveOptions *options)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {0};
    double *gamma = talus_problem_gamma(problem);
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, options, &info));
    talus_solver_destroy(solver);
    return info;
}

/* ---- the residual from its definition ---- */

/* The support function of the section at -u_t, for mu = 1. */
static double support(TalusFrictionModel model, const double *u)
{
    double most = 0.0;
    if (model.section == TALUS_SECTION_DISC)
        return hypot(u[1], u[2]);
    if (model.section == TALUS_SECTION_SQUARE)
        return fabs(u[1]) + fabs(u[2]);
    for (int k = 0; k < model.sides; k++) {
        double angle = 2.0 * 3.14159265358979323846 * k / model.sides;
        most = fmax(most, -(cos(angle) * u[1] + sin(angle) * u[2]));
    }
    return most;
}

/* rms over blocks of d |gamma - P(gamma - g / d)|, three rows each, without compliance. */
static double residual_by_law(TalusProblem *problem)
{
    int blocks = talus_problem_blocks(problem);
    const double *gamma = talus_problem_gamma(problem), *bound = talus_problem_estimate(problem);
    double *u = malloc((size_t)talus_problem_size(problem) * sizeof *u), sum = 0.0;
    talus_problem_velocity(problem, gamma, u);
    for (int i = 0; i < blocks; i++) {
        TalusFrictionModel model = talus_problem_friction(problem, i);
        double d = talus_problem_diagonal(problem, i), mu = talus_problem_mu(problem, i), step[3];
        if (model.law == TALUS_LAW_COULOMB)
            u[3 * i] += mu * support(model, u + 3 * i);
        for (int k = 0; k < 3; k++)
            step[k] = gamma[3 * i + k] - u[3 * i + k] / d;
        talus_set_project(model, 3, mu, NULL, bound ? bound[i] : 0.0, step);
        for (int k = 0; k < 3; k++)
            sum += d * d * (gamma[3 * i + k] - step[k]) * (gamma[3 * i + k] - step[k]);
    }
    free(u);
    return sqrt(sum / blocks);
}

/* ---- all methods agree ---- */

typedef struct Method {
    const char *spec;
    TalusOuterKind kind;
} Method;

static const Method methods[] = {
    {"apgd", TALUS_OUTER_AUTO},   {"lbfgs-fb", TALUS_OUTER_AUTO},
    {"jacobi", TALUS_OUTER_AUTO}, {"gs", TALUS_OUTER_AUTO},
    {"spg", TALUS_OUTER_AUTO},    {"anderson", TALUS_OUTER_AUTO},
    {"admm", TALUS_OUTER_AUTO},   {"kucera", TALUS_OUTER_AUTO},
    {"mprgp", TALUS_OUTER_AUTO},  {"lbfgs-fb", TALUS_OUTER_TRESCA},
    {"apgd", TALUS_OUTER_TRESCA}, {"prox", TALUS_OUTER_AUTO},
    {"bgs", TALUS_OUTER_AUTO},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* One method on one model; velocities against those of the first. */
static void check_method(TalusProblem *problem, const Method *method, TalusFrictionModel model,
                         double *reference, double *u)
{
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusResidual residual;
    REQUIRE_OK(talus_solver_create(method->spec, &solver));
    bool takes = talus_solver_supports(solver, problem) == TALUS_OK;
    talus_solver_destroy(solver);
    if (!takes || (method->kind != TALUS_OUTER_AUTO && model.law != TALUS_LAW_COULOMB))
        return;
    options.tolerance = 1e-8;
    options.max_iterations = 40000;
    options.outer.kind = method->kind;
    TalusSolveInfo info = solve(problem, method->spec, &options);
    const double *gamma = talus_problem_gamma(problem);
    talus_problem_residual(problem, gamma, &residual);
    bool first = method == methods, good = CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    good = CHECK_NEAR(residual.rms, info.residual.rms, 1e-12) && good;
    good = CHECK_NEAR(residual.rms, residual_by_law(problem), 1e-12) && good;
    talus_problem_velocity(problem, gamma, first ? reference : u);
    for (int k = 0; !first && k < talus_problem_size(problem) && good; k++)
        good = CHECK_NEAR(u[k], reference[k], 2e-6);
    if (!good)
        printf("%s, outer %d, law %d, section %d\n", method->spec, method->kind, model.law,
               model.section);
}

static void check_problem(const TestProblem *p)
{
    for (int section = 0; section < SECTIONS; section++)
        for (int law = 0; law < TALUS_LAWS; law++) {
            TalusFrictionModel model = model_of(section, (TalusFrictionLaw)law);
            TalusProblem *problem = problem_of(p, model);
            size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
            double *reference = malloc(bytes), *u = malloc(bytes);
            for (int m = 0; m < METHODS; m++)
                check_method(problem, &methods[m], model, reference, u);
            free(reference);
            free(u);
            talus_problem_destroy(problem);
        }
}

TEST(every_method_arrives_at_the_same_velocities)
{
    TestProblem heap = make_heap(&(HeapOptions){3, 3, 2, 2, 0.3, 0.0, 0.3});
    TestProblem matrix = make_explicit(6, 8, 3);
    check_problem(&heap);
    check_problem(&matrix);
    free_test_problem(&heap);
    free_test_problem(&matrix);
}

/* Friction against turning: six rows, and laws as with three. */
TEST(rolling_friction_under_every_law)
{
    TestProblem heap = make_heap(&(HeapOptions){5, 3, 2, 2, 0.3, 0.0, 0.2});
    TalusContactDef *contacts = (TalusContactDef *)heap.def.contacts;
    for (int i = 0; i < heap.def.contact_count; i += 2) {
        contacts[i].rolling = 0.1;
        contacts[i].spinning = 0.05;
        contacts[i].length = 0.3;
    }
    for (int law = 0; law < TALUS_LAWS; law++) {
        TalusProblem *problem = problem_of(&heap, model_of(law % 2, (TalusFrictionLaw)law));
        CHECK_INT(talus_problem_rows(problem), 6);
        int n = talus_problem_size(problem);
        double *u = malloc((size_t)n * sizeof *u), *v = malloc((size_t)n * sizeof *v);
        TalusSolveOptions options = talus_solve_options_default();
        options.tolerance = 1e-9;
        options.max_iterations = 40000;
        CHECK_INT(solve(problem, "apgd", &options).outcome, TALUS_OUTCOME_CONVERGED);
        talus_problem_velocity(problem, talus_problem_gamma(problem), u);
        CHECK_INT(solve(problem, "lbfgs-fb", &options).outcome, TALUS_OUTCOME_CONVERGED);
        talus_problem_velocity(problem, talus_problem_gamma(problem), v);
        for (int k = 0; k < n; k++)
            if (!CHECK_NEAR(u[k], v[k], 1e-6))
                break;
        free(u);
        free(v);
        talus_problem_destroy(problem);
    }
    free_test_problem(&heap);
}

/* ---- nothing is left behind ---- */

typedef struct Kept {
    TalusProblem *problem;
    double *offset, *now;
    bool mixed_sets;
    int shown, stop_at;
} Kept;

static Kept keep(TalusProblem *problem)
{
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    Kept k = {.problem = problem, .offset = malloc(bytes), .now = malloc(bytes)};
    k.mixed_sets = talus_problem_operator(problem)->mixed_sets;
    talus_problem_offset(problem, k.offset);
    return k;
}

static bool is_as_before(Kept *k)
{
    const TalusOperator *op = talus_problem_operator(k->problem);
    size_t n = (size_t)talus_problem_size(k->problem);
    talus_problem_offset(k->problem, k->now);
    return CHECK(memcmp(k->now, k->offset, n * sizeof(double)) == 0) && CHECK(!op->prisms) &&
           CHECK(op->mixed_sets == k->mixed_sets);
}

static void drop(Kept *k)
{
    free(k->offset);
    free(k->now);
}

/* An observer finds the problem as it was given, too. */
static bool look(void *user, const TalusObservation *seen)
{
    Kept *k = user;
    TalusMetrics metrics;
    (void)seen;
    is_as_before(k);
    CHECK_OK(talus_problem_measure(k->problem, seen->gamma, &metrics));
    return ++k->shown != k->stop_at;
}

static bool stop_soon(void *user, int iteration, int products, double residual)
{
    (void)user, (void)products, (void)residual;
    return iteration < 7;
}

TEST(solves_leave_no_shift_and_no_bound)
{
    static const Method outer[] = {{"lbfgs-fb", TALUS_OUTER_SHIFT},
                                   {"gs", TALUS_OUTER_SHIFT},
                                   {"lbfgs-fb", TALUS_OUTER_TRESCA},
                                   {"apgd", TALUS_OUTER_AUTO}};
    TestProblem made[] = {make_heap(&(HeapOptions){7, 3, 3, 2, 0.5, 0.01, 0.2}),
                          make_explicit(8, 10, 3), make_wedge(0.3, 3)};
    for (int i = 0; i < 3; i++)
        for (int m = 0; m < 4; m++) {
            TalusProblem *problem = problem_of(&made[i], model_of(0, TALUS_LAW_COULOMB));
            Kept kept = keep(problem);
            TalusSolveOptions options = talus_solve_options_default();
            options.outer.kind = outer[m].kind;
            for (int way = 0; way < 4; way++) { /* to the end; a budget; stopped twice */
                options.max_iterations = way == 1 ? 11 : 3000;
                options.observer = way == 2 ? look : NULL;
                options.observer_user = &kept;
                options.monitor = way == 3 ? stop_soon : NULL;
                kept.stop_at = kept.shown + 5;
                TalusSolveInfo info = solve(problem, outer[m].spec, &options);
                CHECK(way == 0 || info.iterations < 100);
                if (!is_as_before(&kept))
                    printf("problem %d, %s, way %d\n", i, outer[m].spec, way);
            }
            drop(&kept);
            talus_problem_destroy(problem);
        }
    for (int i = 0; i < 3; i++)
        free_test_problem(&made[i]);
}

/* To be watched changes nothing: what an observer is not to see is put back to the bit. */
static bool only_look(void *user, const TalusObservation *seen)
{
    (void)user, (void)seen;
    return true;
}

TEST(observed_solves_are_the_same)
{
    static const TalusOuterKind kinds[] = {TALUS_OUTER_SHIFT, TALUS_OUTER_TRESCA};
    TestProblem made[] = {make_heap(&(HeapOptions){7, 3, 2, 2, 0.5, 0.01, 0.2}),
                          make_explicit(8, 10, 3)};
    for (int i = 0; i < 2; i++) {
        TalusProblem *problem = problem_of(&made[i], model_of(0, TALUS_LAW_COULOMB));
        size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
        double *gamma = malloc(bytes);
        for (int k = 0; k < 2; k++) {
            TalusSolveOptions options = talus_solve_options_default();
            options.outer.kind = kinds[k];
            solve(problem, "lbfgs-fb", &options);
            memcpy(gamma, talus_problem_gamma(problem), bytes);
            options.observer = only_look;
            solve(problem, "lbfgs-fb", &options);
            CHECK(memcmp(gamma, talus_problem_gamma(problem), bytes) == 0);
        }
        free(gamma);
        talus_problem_destroy(problem);
        free_test_problem(&made[i]);
    }
}

/* Jacobi with too long a step swings ever further: no impulses are left, and no shifts. */
TEST(divergence_leaves_no_shift)
{
    const int32_t start[7] = {0, 2, 3, 4, 6, 7, 8}, column[8] = {0, 3, 1, 2, 0, 3, 4, 5};
    const double values[8] = {1.0, -0.9999, 1.0, 1.0, -0.9999, 1.0, 1.0, 1.0};
    const double q[6] = {-1.0, 0.5, 0.0, -0.9, 0.0, -0.5}, mu[2] = {0.1, 0.1};
    TalusFrictionModel models[2] = {{.law = TALUS_LAW_COULOMB}, {.law = TALUS_LAW_COULOMB}};
    const TalusProblemDef def = {.block_count = 2,
                                 .rows = 3,
                                 .row_start = start,
                                 .column = column,
                                 .values = values,
                                 .offset = q,
                                 .mu = mu,
                                 .model = models};
    TalusProblem *problem = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    options.max_iterations = 20000;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    Kept kept = keep(problem);
    TalusSolveInfo info = solve(problem, "jacobi:omega=2", &options);
    CHECK_INT(info.outcome, TALUS_OUTCOME_DIVERGED);
    CHECK(talus_problem_gamma(problem)[0] == 0.0);
    is_as_before(&kept);
    drop(&kept);
    talus_problem_destroy(problem);
}

TEST(memory_that_does_not_come_leaves_no_shift)
{
    static const Method outer[] = {{"lbfgs-fb", TALUS_OUTER_SHIFT},
                                   {"lbfgs-fb", TALUS_OUTER_TRESCA},
                                   {"admm", TALUS_OUTER_SHIFT}};
    TestProblem heap = make_heap(&(HeapOptions){9, 3, 2, 2, 0.4, 0.0, 0.3});
    for (int m = 0; m < 3; m++) {
        TalusProblem *problem = problem_of(&heap, model_of(0, TALUS_LAW_COULOMB));
        Kept kept = keep(problem);
        TalusStatus status = TALUS_ERR_MEMORY;
        long n = 0;
        while (status == TALUS_ERR_MEMORY && n < 300) {
            TalusSolver *solver = NULL;
            TalusSolveInfo info;
            TalusSolveOptions options = talus_solve_options_default();
            options.max_iterations = 150;
            options.outer = (TalusOuter){.kind = outer[m].kind, .every = 10};
            REQUIRE_OK(talus_solver_create(outer[m].spec, &solver));
            talus_fail_allocation_in(++n);
            status = talus_solver_solve(solver, problem, &options, &info);
            talus_fail_allocation_in(0);
            is_as_before(&kept);
            talus_solver_destroy(solver);
        }
        CHECK_OK(status);
        CHECK(n > 3);
        drop(&kept);
        talus_problem_destroy(problem);
    }
    free_test_problem(&heap);
}

/* ---- fixed bounds ---- */

TEST(bounds_come_from_a_presolve_and_are_refreshed)
{
    TestProblem heap = make_heap(&(HeapOptions){4, 3, 2, 2, 0.3, 0.0, 0.0});
    TalusProblem *problem = problem_of(&heap, model_of(1, TALUS_LAW_FIXED));
    TalusProblem *plain = problem_of(&heap, (TalusFrictionModel){.section = TALUS_SECTION_NONE});
    TalusSolveOptions options = talus_solve_options_default();
    TalusMetrics first, refreshed, kept;
    options.tolerance = 1e-10;
    CHECK_INT(talus_problem_rows(plain), 1);
    CHECK_INT(solve(plain, "apgd", &options).outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_INT(solve(problem, "apgd", &options).updates, 1);
    for (int i = 0; i < talus_problem_blocks(problem); i++)
        if (!CHECK_NEAR(talus_problem_estimate(problem)[i], talus_problem_gamma(plain)[i], 1e-6))
            break;
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &first));
    options.outer.refresh = 20;
    CHECK_INT(solve(problem, "apgd", &options).updates, 21);
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &refreshed));
    CHECK(refreshed.bound_mismatch < 0.1 * first.bound_mismatch);
    options.outer.refresh = -1;
    CHECK_INT(solve(problem, "lbfgs-fb", &options).updates, 0);
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &kept));
    CHECK_NEAR(kept.bound_mismatch, refreshed.bound_mismatch, 1e-6);
    talus_problem_destroy(problem);
    talus_problem_destroy(plain);
    free_test_problem(&heap);
}

/* ---- what goes with what ---- */

static void check_refusal(const char *spec, TalusProblem *problem, TalusOuterKind kind,
                          const char *message)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    options.outer.kind = kind;
    REQUIRE_OK(talus_solver_create(spec, &solver));
    CHECK_INT(talus_solver_solve(solver, problem, &options, &info), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), message);
    talus_solver_destroy(solver);
}

TEST(refusals_say_what_is_taken)
{
    TestProblem heap = make_heap(&(HeapOptions){4, 2, 2, 2, 0.3, 0.0, 0.0});
    TalusProblem *square = problem_of(&heap, model_of(1, TALUS_LAW_CCP));
    TalusProblem *disc = problem_of(&heap, model_of(0, TALUS_LAW_COULOMB));
    check_refusal("gpcg", square, TALUS_OUTER_AUTO,
                  "solver gpcg: takes problems without friction, this one has it");
    check_refusal(
        "prox", square, TALUS_OUTER_AUTO,
        "solver prox: takes nonneg, ccp x disc, coulomb x disc, joints; this problem has ccp x "
        "square");
    check_refusal("apgd", disc, TALUS_OUTER_SHIFT,
                  "solver apgd: solves Coulomb's law itself; shifts are for solvers of the "
                  "relaxation");
    check_refusal(
        "prox", disc, TALUS_OUTER_TRESCA,
        "solver prox: solves Coulomb's law itself; Tresca's loop is for solvers that take "
        "fixed bounds");
    talus_problem_destroy(square);
    talus_problem_destroy(disc);
    free_test_problem(&heap);
}

TEST(auto_takes_prox_for_matrices_and_apgd_for_bodies)
{
    TestProblem heap = make_heap(&(HeapOptions){4, 2, 2, 2, 0.3, 0.0, 0.0});
    TestProblem matrix = make_dense_copy(&heap.def);
    TalusSolveOptions options = talus_solve_options_default();
    TalusProblem *a = problem_of(&heap, model_of(0, TALUS_LAW_COULOMB));
    TalusProblem *b = problem_of(&matrix, model_of(0, TALUS_LAW_COULOMB));
    options.tolerance = 1e-10;
    CHECK_STR(solve(a, "auto", &options).solver, "apgd");
    CHECK_STR(solve(b, "auto", &options).solver, "prox");
    options.norm = TALUS_NORM_SICONOS;
    TalusMetrics metrics;
    for (int k = 0; k < 2; k++) {
        CHECK_INT(solve(b, k ? "apgd" : "auto", &options).outcome, TALUS_OUTCOME_CONVERGED);
        CHECK_OK(talus_problem_measure(b, talus_problem_gamma(b), &metrics));
        CHECK(metrics.siconos <= 1e-10);
    }
    talus_problem_destroy(a);
    talus_problem_destroy(b);
    free_test_problem(&heap);
    free_test_problem(&matrix);
}

int main(void)
{
    RUN(every_method_arrives_at_the_same_velocities);
    RUN(rolling_friction_under_every_law);
    RUN(solves_leave_no_shift_and_no_bound);
    RUN(observed_solves_are_the_same);
    RUN(divergence_leaves_no_shift);
    RUN(memory_that_does_not_come_leaves_no_shift);
    RUN(bounds_come_from_a_presolve_and_are_refreshed);
    RUN(refusals_say_what_is_taken);
    RUN(auto_takes_prox_for_matrices_and_apgd_for_bodies);
    return talus_test_result();
}
