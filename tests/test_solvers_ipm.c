/* ipm-chol and ipm-aug: the three linear systems against the operator, one contact by hand, heaps and
 * matrices, agreement with first-order methods, OOQP's rule, infeasible problems, faults, real problems. */
#include "support/problems.h"
#include "support/qp_gap.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "solvers/ipm/ipm_qp.h"
#include "solvers/tao/tao.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const TalusFrictionModel triangle = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3};
static const TalusFrictionModel hexagon = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 6};
static const TalusFrictionModel square = {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0};
static const TalusFrictionModel none = {TALUS_SECTION_NONE, TALUS_LAW_CCP, 0};

static const char *const both[] = {"ipm-chol", "ipm-aug"};

static TalusProblem *open_problem(const TestProblem *p, TalusFrictionModel model)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

static TalusSolveInfo solve(TalusProblem *problem, const char *spec, double tolerance,
                            int iterations)
{
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    memset(talus_problem_gamma(problem), 0, bytes);
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

static TalusMetrics measure(TalusProblem *problem)
{
    TalusMetrics m = {0};
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    return m;
}

static TestProblem heap(int i)
{
    return make_heap(&(HeapOptions){.seed = 31,
                                    .nx = 3,
                                    .ny = 3,
                                    .nz = 3,
                                    .mu = 0.5,
                                    .compliance = i & 1 ? 0.02 : 0.0,
                                    .general = i & 2 ? 0.4 : 0.0});
}

/* ---- systems ---- */

/* |r - (P + T) x| where x is what the form makes of r, by size. */
static double system_error(TalusProblem *problem, const TalusQp *qp, TalusIpmSystem *system)
{
    TalusRng rng = talus_rng_from_seed(7);
    size_t n = (size_t)qp->multipliers, size = (size_t)talus_problem_size(problem);
    double *x = calloc(4 * n + 3 * size, sizeof *x), *r = x + n, *t = r + n, *px = t + n;
    double *gamma = px + n, *u = gamma + size, *q = u + size, worst = 0.0, largest = 0.0;
    for (size_t k = 0; k < n; k++) {
        x[k] = r[k] = 2.0 * talus_rng_uniform(&rng) - 1.0;
        int power = (int)talus_rng_below(&rng, 13);
        t[k] = qp->scale[k] * ldexp(1.0, 2 * power - 12); /* 2^-12 to 2^12 */
    }
    CHECK_OK(talus_ipm_system_factor(system, t));
    CHECK_OK(talus_ipm_system_solve(system, x));
    talus_qp_impulses(qp, x, gamma);
    talus_problem_gradient(problem, gamma, u);
    talus_problem_offset(problem, q);
    for (size_t k = 0; k < size; k++)
        u[k] -= q[k];
    talus_qp_slacks(qp, u, px);
    for (size_t k = 0; k < n; k++) {
        worst = fmax(worst, fabs(r[k] - px[k] - t[k] * x[k]));
        largest = fmax(largest, fabs(px[k]));
    }
    free(x);
    return worst / fmax(largest, 1.0);
}

static void check_form(TalusProblem *problem, const TalusIpmForm *form, TalusDirectKind kind)
{
    TalusQp qp = {0};
    TalusIpmSystem system = {0};
    if (talus_direct_missing(kind))
        return;
    REQUIRE_OK(talus_qp_fill(&qp, problem));
    for (int again = 0; again < 2;
         again++) { /* the second time all is kept, and nothing of it shows */
        REQUIRE_OK(talus_ipm_system_prepare(&system, form, kind, &qp, problem));
        CHECK(system_error(problem, &qp, &system) < 1e-11);
    }
    CHECK_INT(talus_direct_facts(system.direct).analyses, 1);
    CHECK(talus_ipm_system_cost_ratio(&system) > 0.0);
    talus_ipm_system_clear(&system);
    talus_qp_clear(&qp);
}

TEST(systems_are_the_operators)
{
    const TalusFrictionModel models[] = {triangle, hexagon, square, none};
    for (int k = 0; k < 16; k++) {
        TestProblem p = heap(k / 4), matrix = make_dense_copy(&p.def);
        TalusProblem *bodies = open_problem(&p, models[k % 4]);
        TalusProblem *explicit = open_problem(&matrix, models[k % 4]);
        for (int kind = 0; kind < TALUS_DIRECT_KINDS; kind++) {
            if (kind != TALUS_DIRECT_MUMPS)
                check_form(bodies, &talus_ipm_normal, (TalusDirectKind)kind);
            if (kind != TALUS_DIRECT_CHOLMOD)
                check_form(bodies, &talus_ipm_augmented, (TalusDirectKind)kind);
            check_form(explicit, &talus_ipm_normal, (TalusDirectKind)kind);
        }
        talus_problem_destroy(bodies);
        talus_problem_destroy(explicit);
        free_test_problem(&p);
        free_test_problem(&matrix);
    }
}

/* A column of spheres whose bodies are numbered otherwise: as many contacts and bodies, other pairs. */
static TestProblem renumbered_column(const int *number)
{
    TestProblem column = make_column(5, 1.0, 0.5), p = copy_test_problem(&column.def, "column");
    TalusContactDef *contact = (TalusContactDef *)p.def.contacts;
    for (int i = 0; i < p.def.contact_count; i++) {
        contact[i].a = contact[i].a < 0 ? -1 : number[contact[i].a];
        contact[i].b = contact[i].b < 0 ? -1 : number[contact[i].b];
    }
    free_test_problem(&column);
    return p;
}

/* The analysis that is kept is of pairs, not of counts. */
TEST(other_pairs_are_analysed_anew)
{
    static const int number[3][5] = {{0, 1, 2, 3, 4}, {0, 2, 4, 1, 3}, {0, 1, 2, 3, 4}};
    const TalusIpmForm *const forms[] = {&talus_ipm_normal, &talus_ipm_augmented};
    for (int f = 0; f < 2; f++) {
        TalusIpmSystem system = {0};
        for (int k = 0; k < 3; k++) {
            TestProblem p = renumbered_column(number[k]);
            TalusProblem *problem = open_problem(&p, triangle);
            TalusQp qp = {0};
            REQUIRE_OK(talus_qp_fill(&qp, problem));
            REQUIRE_OK(talus_ipm_system_prepare(&system, forms[f], TALUS_DIRECT_LDL, &qp, problem));
            CHECK(system_error(problem, &qp, &system) < 1e-11);
            CHECK_INT(talus_direct_facts(system.direct).analyses, k + 1);
            talus_qp_clear(&qp);
            talus_problem_destroy(problem);
            free_test_problem(&p);
        }
        talus_ipm_system_clear(&system);
    }
}

/* ---- solutions ---- */

/* N = 2: f = |gamma|^2 + q'gamma. */
static void check_one(const double q[3], const double expected[3])
{
    const int32_t start[] = {0, 1, 2, 3}, column[] = {0, 1, 2};
    const double values[] = {2.0, 2.0, 2.0}, mu = 0.5;
    TestProblem p = {.def = {.block_count = 1,
                             .rows = 3,
                             .row_start = start,
                             .column = column,
                             .values = values,
                             .offset = q,
                             .mu = &mu}};
    TalusProblem *problem = open_problem(&p, square);
    for (int i = 0; i < 2; i++) {
        TalusSolveInfo info = solve(problem, both[i], 1e-13, 50);
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(talus_problem_gamma(problem)[k], expected[k], 1e-11);
    }
    talus_problem_destroy(problem);
}

TEST(one_contact_by_hand)
{
    check_one((double[3]){-2.0, 0.3, 0.4}, (double[3]){1.0, -0.15, -0.2}); /* sticks */
    check_one((double[3]){-2.0, 3.0, 0.0}, (double[3]){1.4, -0.7, 0.0});   /* slides on a facet */
    check_one((double[3]){-2.0, 4.0, 4.0}, (double[3]){2.0, -1.0, -1.0});  /* and on an edge */
    check_one((double[3]){5.0, 3.0, 4.0}, (double[3]){0.0, 0.0, 0.0});     /* open */
    check_one((double[3]){-2.0, 1.0, 0.0},
              (double[3]){1.0, -0.5, 0.0}); /* degenerate: just sticks */
}

/* The optimum: its gap closes, and velocities are admissible. Both stop at the same impulses. */
static void check_solved(TestProblem p, TalusFrictionModel model)
{
    TalusProblem *problem = open_problem(&p, model);
    for (int i = 0; i < 2; i++) {
        TalusSolveInfo info = solve(problem, both[i], 1e-12, 60);
        TalusMetrics m = measure(problem);
        bool ok = CHECK_STR(talus_outcome_name(info.outcome), "converged");
        ok &= CHECK(info.iterations <= 20); /* 25 without the second-order term */
        ok &= CHECK_INT(info.factorisations, info.iterations - 1); /* and a look at what is given */
        ok &= CHECK(m.duality_gap <= 1e-10 * fabs(m.objective));
        ok &= CHECK(m.primal_infeasibility <= 1e-11);
        if (!ok)
            printf("    with %s on %s, %s\n", both[i], p.name, talus_section_name(model.section));
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(solves_heaps_and_matrices)
{
    const TalusFrictionModel models[] = {triangle, hexagon, square, none};
    for (int k = 0; k < 4; k++) {
        check_solved(heap(k), models[k]);
        check_solved(heap(3 - k), models[k]);
        check_solved(make_explicit(11, 30, 3), models[k]); /* every seventh block has mu = 0 */
    }
}

/* Rank-deficient, far from one mass, and both; six decades of masses are what the watch takes for a wedge. */
TEST(does_not_mind_rank_or_mass_ratios)
{
    check_solved(make_column(30, 1e4, 0.5), triangle);
    check_solved(make_bowl(12, 0.6, 0.0), triangle);
    TestProblem p = make_bowl(12, 0.6, 0.0), matrix = make_dense_copy(&p.def);
    free_test_problem(&p);
    check_solved(matrix, square);
}

/* Objectives are the same for all methods: to 1e-7 of them, whatever the section. */
static void compare_objectives(TalusProblem *problem, const char *name)
{
    static const char *const specs[] = {"ipm-chol", "ipm-aug",  "ipm-chol:linear=ldl,correctors=0",
                                        "apgd",     "lbfgs-fb", "tao-blmvm",
                                        "tao-bqpip"};
    enum { OURS = 5, SPECS = sizeof specs / sizeof *specs };
    double tolerance = 1e-9 * measure(problem).natural_at_zero, objective[SPECS];
    for (int i = 0; i < (talus_tao_missing() ? OURS : SPECS); i++) {
        solve(problem, specs[i], tolerance, i < 3 ? 60 : 30000);
        objective[i] = measure(problem).objective;
        if (!CHECK_NEAR(objective[i], objective[0], 1e-7 * fabs(objective[0])))
            printf("    with %s on %s\n", specs[i], name);
    }
}

TEST(objectives_agree)
{
    const TalusFrictionModel models[] = {triangle, hexagon, square, none};
    for (int k = 0; k < 4; k++) {
        TestProblem p = heap(k);
        TalusProblem *problem = open_problem(&p, models[k]);
        compare_objectives(problem, p.name);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* OOQP's rule ends the solve by itself: with a tolerance that is out of reach, well before the budget. */
TEST(ends_by_the_rule_of_ooqp)
{
    static const char *const specs[] = {"ipm-chol:stop=ooqp", "ipm-aug:stop=ooqp"};
    TestProblem p = make_heap(&(HeapOptions){.seed = 3, .nx = 5, .ny = 5, .nz = 5, .mu = 0.3});
    TalusProblem *problem = open_problem(&p, triangle);
    TalusQp qp = {0};
    REQUIRE_OK(talus_qp_fill(&qp, problem));
    double *lambda = calloc((size_t)qp.multipliers, sizeof *lambda);
    double *v = calloc(3 * (size_t)qp.bodies.groups, sizeof *v);
    for (int i = 0; i < 2; i++) {
        QpGap gap;
        TalusSolveInfo info = solve(problem, specs[i], 0.0, 200);
        CHECK_STR(talus_outcome_name(info.outcome), "budget");
        CHECK(info.iterations >= 5 && info.iterations <= 40);
        talus_qp_multipliers(&qp, talus_problem_gamma(problem), lambda);
        qp_velocity(&qp, lambda, v);
        gap = qp_gap(&qp, v, lambda);
        CHECK(fabs(gap.gap) <= 1.1e-8 * qp.multipliers);
        CHECK(gap.infeasibility <= 1.1e-8 * gap.datum);
        CHECK_STR(talus_outcome_name(solve(problem, specs[i], 1e-3, 200).outcome), "converged");
    }
    free(lambda), free(v);
    talus_qp_clear(&qp);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Fewer factorisations for more solutions with each. */
TEST(centrality_correctors_save_iterations)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 3, .nx = 5, .ny = 5, .nz = 6, .mu = 0.3});
    TalusProblem *problem = open_problem(&p, triangle);
    int without = solve(problem, "ipm-chol:correctors=0", 1e-10, 60).iterations;
    int with = solve(problem, "ipm-chol:correctors=3", 1e-10, 60).iterations;
    if (!CHECK(with < without))
        printf("    %d against %d\n", with, without);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Started near a solution of almost the same problem, and the same result. */
TEST(starts_warm)
{
    TestProblem p = heap(0);
    TalusProblem *problem = open_problem(&p, triangle);
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    solve(problem, "ipm-chol", 1e-4, 100);
    double start = measure(problem).natural.rms;
    options.tolerance = 1e-12;
    options.max_iterations = 60;
    REQUIRE_OK(talus_solver_create("ipm-chol:warm=on", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    CHECK_NEAR(info.start_residual, start, 1e-9 * start);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* A budget that ends among early iterates leaves impulses that were better. */
TEST(what_is_given_is_not_lost)
{
    TestProblem p = heap(0);
    TalusProblem *problem = open_problem(&p, triangle);
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    solve(problem, "ipm-chol", 1e-6, 100);
    double start = measure(problem).natural.rms;
    options.tolerance = 1e-12;
    options.max_iterations = 4;
    REQUIRE_OK(talus_solver_create("ipm-chol", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_STR(talus_outcome_name(info.outcome), "budget");
    CHECK_NEAR(info.residual.rms, start, 1e-9 * start);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* By shifts, with one analysis for all stretches. */
TEST(reaches_coulombs_law)
{
    const TalusFrictionModel exact = {TALUS_SECTION_POLYGON, TALUS_LAW_COULOMB, 6};
    TestProblem p = make_heap(&(HeapOptions){.seed = 9, .nx = 3, .ny = 3, .nz = 2, .mu = 0.2});
    TalusProblem *problem = open_problem(&p, exact);
    TalusSolveInfo info = solve(problem, "ipm-chol", 1e-8, 2000);
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    CHECK(info.updates > 1);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- what cannot be solved, and faults ---- */

TEST(proves_infeasibility)
{
    for (int k = 0; k < 4; k++) {
        TestProblem wedge = make_wedge(k & 1 ? 0.4 : 0.0, 4), bed = heap(0);
        TestProblem p = k & 2 ? make_union(&bed.def, &wedge.def) : make_wedge(k & 1 ? 0.4 : 0.0, 4);
        TestProblem matrix = make_dense_copy(&p.def);
        for (int i = 0; i < 4; i++) {
            TalusProblem *problem = open_problem(i & 2 ? &matrix : &p, triangle);
            TalusSolveInfo info = solve(problem, both[i & 1], 1e-10, 200);
            if (!CHECK_STR(talus_outcome_name(info.outcome), "infeasible"))
                printf("    with %s, case %d %d, after %d\n", both[i & 1], k, i, info.iterations);
            talus_problem_destroy(problem);
        }
        free_test_problem(&matrix);
        free_test_problem(&p);
        free_test_problem(&bed);
        free_test_problem(&wedge);
    }
}

/* Out of reach: the best is returned, nothing is NaN, and the time is not spent on steps in vain. */
TEST(ends_at_rounding)
{
    TestProblem p = heap(2);
    TalusProblem *problem = open_problem(&p, triangle);
    for (int i = 0; i < 2; i++) {
        TalusSolveInfo info = solve(problem, both[i], 1e-300, 500);
        TalusMetrics m = measure(problem);
        CHECK_STR(talus_outcome_name(info.outcome), "budget");
        CHECK_INT(info.iterations, 500);
        CHECK(info.factorisations < 60);
        CHECK(m.natural_relative < 1e-13);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Impulses given where none are needed, and a matrix that is not semidefinite: an outcome, and no error. */
TEST(offsets_of_zero_and_indefinite_matrices)
{
    const int32_t start[] = {0, 1, 2, 3}, column[] = {0, 1, 2};
    const double good[] = {2.0, 2.0, 2.0}, bad[] = {2.0, -9.0, -9.0}, mu = 0.5;
    const double zero[3] = {0.0}, q[] = {-2.0, 0.3, 0.4};
    for (int k = 0; k < 4; k++) {
        TalusSolver *solver = NULL;
        TalusSolveInfo info;
        TalusSolveOptions options = talus_solve_options_default();
        TestProblem p = {.def = {.block_count = 1,
                                 .rows = 3,
                                 .row_start = start,
                                 .column = column,
                                 .values = k & 2 ? bad : good,
                                 .offset = k & 2 ? q : zero,
                                 .mu = &mu}};
        TalusProblem *problem = open_problem(&p, square);
        double *gamma = talus_problem_gamma(problem);
        gamma[0] = 1.0;
        REQUIRE_OK(talus_solver_create(both[k & 1], &solver));
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        if (k & 2) {
            CHECK(isfinite(info.residual.rms) && isfinite(gamma[0]));
        } else {
            CHECK_STR(talus_outcome_name(info.outcome), "converged");
            CHECK(gamma[0] == 0.0);
        }
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
    }
}

/* The clock is looked at between factorisations, and products of one solve are not those of the next. */
TEST(ends_by_the_clock)
{
    TestProblem p = heap(0);
    TalusProblem *problem = open_problem(&p, triangle);
    TalusSolveOptions options = talus_solve_options_default();
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    options.tolerance = 1e-300;
    for (int i = 0; i < 2; i++) {
        TalusSolver *solver = NULL;
        TalusSolveInfo info, again;
        REQUIRE_OK(talus_solver_create(both[i], &solver));
        options.max_seconds = 1e-9;
        options.max_iterations = 1 << 30;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK_STR(talus_outcome_name(info.outcome), "budget");
        CHECK(info.iterations <= 2 && info.factorisations <= 1);
        options.max_seconds = 0.0;
        options.max_iterations = 100;
        memset(talus_problem_gamma(problem), 0, bytes);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        memset(talus_problem_gamma(problem), 0, bytes);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &again));
        CHECK_INT(info.products, again.products);
        CHECK_INT(info.factorisations, again.factorisations);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* What is kept from one solve must not show in the next. */
TEST(takes_one_problem_after_another)
{
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = 1e-10;
    for (int i = 0; i < 2; i++) {
        TalusSolver *solver = NULL;
        REQUIRE_OK(talus_solver_create(both[i], &solver));
        for (int k = 0; k < 8; k++) {
            TestProblem heap = make_heap(&(HeapOptions){
                .seed = 20, .nx = 2 + k / 2 % 2, .ny = 2, .nz = 2, .mu = k % 3 ? 0.3 : 0.0});
            TestProblem p =
                k == 3 || k > 5 ? make_dense_copy(&heap.def) : copy_test_problem(&heap.def, "");
            TalusProblem *problem = open_problem(&p, k % 2 ? square : triangle);
            TalusProblem *other = open_problem(&p, k % 2 ? square : triangle);
            TalusSolveInfo info;
            size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
            CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
            CHECK_STR(talus_outcome_name(info.outcome), "converged");
            CHECK_INT(solve(other, both[i], 1e-10, 100).iterations, info.iterations);
            CHECK(memcmp(talus_problem_gamma(problem), talus_problem_gamma(other), bytes) == 0);
            talus_problem_destroy(problem);
            talus_problem_destroy(other);
            free_test_problem(&p);
            free_test_problem(&heap);
        }
        talus_solver_destroy(solver);
    }
}

TEST(survives_failed_allocations)
{
    for (int i = 0; i < 4; i++) {
        TestProblem heap = make_heap(
            &(HeapOptions){.seed = 8, .nx = 2, .ny = 2, .nz = 1, .mu = 0.4, .compliance = 0.1});
        TestProblem p = i & 2 ? make_dense_copy(&heap.def) : copy_test_problem(&heap.def, "");
        TalusProblem *problem = open_problem(&p, triangle);
        TalusSolveOptions options = talus_solve_options_default();
        TalusSolveInfo info;
        TalusStatus status = TALUS_ERR_MEMORY;
        int n = 1;
        for (; status != TALUS_OK && n < 300; n++) {
            TalusSolver *solver = NULL;
            size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
            memset(talus_problem_gamma(problem), 0, bytes);
            REQUIRE_OK(talus_solver_create(both[i & 1], &solver));
            talus_fail_allocation_in(n);
            status = talus_solver_solve(solver, problem, &options, &info);
            talus_fail_allocation_in(0);
            if (status != TALUS_OK) { /* the same solver goes on once there is memory */
                CHECK_INT(status, TALUS_ERR_MEMORY);
                CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
                CHECK_STR(talus_outcome_name(info.outcome), "converged");
            }
            talus_solver_destroy(solver);
        }
        CHECK(n > 20 && n < 300);
        talus_problem_destroy(problem);
        free_test_problem(&p);
        free_test_problem(&heap);
    }
}

/* ---- the real problems ---- */

/* To 1e-10 in at most 40 iterations. */
static void check_real(const char *folder, const char *name)
{
    char path[1024];
    TalusFclib *f = NULL;
    TalusProblem *problem = NULL;
    snprintf(path, sizeof path, "%s/problems/problems/%s.hdf5", folder, name);
    REQUIRE_OK(talus_fclib_read(path, &f));
    REQUIRE_OK(talus_fclib_problem(f, &triangle, NULL, &problem));
    double start = measure(problem).natural_at_zero;
    for (int i = 0; i < 2; i++) {
        TalusSolveInfo info = solve(problem, both[i], 1e-10 * start, 40);
        if (!CHECK_STR(talus_outcome_name(info.outcome), "converged"))
            printf("    with %s on %s\n", both[i], name);
    }
    compare_objectives(problem, name);
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
}

TEST(real_problems)
{
    static const char *const names[] = {"Capsules-i101-404", "Confeti-ex03",
                                        "GFC3D_TwoRods1",    "LMGC_100_PR_PerioBox-i00361-60-03000",
                                        "NESpheres_30_1",    "OneObject-i100000-499",
                                        "Rover4609",         "Spheres-i099-356-679"};
    char path[1024];
    const char *folder = getenv("TALUS_SHARED");
    snprintf(path, sizeof path, "%s/problems/problems/%s.hdf5", folder ? folder : "", names[0]);
    if (!talus_fclib_available())
        SKIP("this build has no HDF5");
    if (access(path, R_OK) != 0)
        SKIP("no shared problems beside the source tree");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_real(folder, names[i]);
}

int main(void)
{
    RUN(systems_are_the_operators);
    RUN(other_pairs_are_analysed_anew);
    RUN(one_contact_by_hand);
    RUN(solves_heaps_and_matrices);
    RUN(does_not_mind_rank_or_mass_ratios);
    RUN(objectives_agree);
    RUN(ends_by_the_rule_of_ooqp);
    RUN(centrality_correctors_save_iterations);
    RUN(starts_warm);
    RUN(what_is_given_is_not_lost);
    RUN(reaches_coulombs_law);
    RUN(proves_infeasibility);
    RUN(ends_at_rounding);
    RUN(offsets_of_zero_and_indefinite_matrices);
    RUN(ends_by_the_clock);
    RUN(takes_one_problem_after_another);
    RUN(survives_failed_allocations);
    RUN(real_problems);
    return talus_test_result();
}
