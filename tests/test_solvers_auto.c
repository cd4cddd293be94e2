/* "auto": which method each kind of problem is given to, when it changes hands, and who goes on where a direct
 * method fails. */

#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include "base/memory.h"
#include "solvers/auto.h"

#include <stdio.h>
#include <string.h>

static TalusProblem *problem_of(const TestProblem *p, TalusSection section, TalusFrictionLaw law)
{
    TalusProblem *problem = NULL;
    TalusFrictionModel model = {.section = section, .law = law};
    model.sides = section == TALUS_SECTION_POLYGON ? 5 : 0;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    if (problem && talus_problem_rows(problem) == 3)
        CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

/* For a share of the residual of zero impulses, which the problem is left with. */
static TalusSolveOptions options_of(TalusProblem *problem, double share)
{
    TalusSolveOptions options = talus_solve_options_default();
    double *gamma = talus_problem_gamma(problem);
    TalusResidual start;
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    talus_problem_residual(problem, gamma, &start);
    options.tolerance = share * start.rms;
    options.max_iterations = 100000;
    return options;
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

/* ---- the rule ---- */

/* Who solves it to a share, and to how many digits the answer is true. */
static void check_choice(const TestProblem *p, TalusSection section, TalusFrictionLaw law,
                         double share, const char *expected)
{
    TalusProblem *problem = problem_of(p, section, law);
    TalusSolveOptions options = options_of(problem, share);
    TalusSolveInfo info = solve(problem, "auto", &options);
    TalusResidual truth;
    talus_problem_residual(problem, talus_problem_gamma(problem), &truth);
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK(truth.rms <= options.tolerance);
    if (!CHECK_STR(info.solver, expected))
        printf("         law %s, section %s, to %g\n", talus_law_name(law),
               talus_section_name(section), share);
    talus_problem_destroy(problem);
}

TEST(many_digits_of_a_small_problem_are_had_directly)
{
    TestProblem heap = make_heap(&(HeapOptions){11, 4, 4, 3, 0.3, 0.0, 0.0});
    TestProblem smooth = make_heap(&(HeapOptions){11, 4, 4, 3, 0.0, 0.0, 0.0});
    TestProblem matrix = make_dense_copy(&heap.def);
    const TalusSection disc = TALUS_SECTION_DISC, square = TALUS_SECTION_SQUARE;
    check_choice(&smooth, disc, TALUS_LAW_CCP, 1e-9, "ipm-soc");
    check_choice(&heap, disc, TALUS_LAW_CCP, 1e-9, "ipm-soc");
    check_choice(&matrix, disc, TALUS_LAW_CCP, 1e-9, "ipm-soc");
    check_choice(&heap, square, TALUS_LAW_CCP, 1e-9, "ipm-chol");
    check_choice(&heap, TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 1e-9, "ipm-chol");
    check_choice(&heap, square, TALUS_LAW_FIXED, 1e-9, "lbfgs-fb");
    check_choice(&heap, disc, TALUS_LAW_COULOMB, 1e-9, "apgd");
    check_choice(&heap, square, TALUS_LAW_COULOMB, 1e-9, "apgd");
    check_choice(&matrix, disc, TALUS_LAW_COULOMB, 1e-4, "prox");
    check_choice(&smooth, disc, TALUS_LAW_CCP, 1e-4, "lbfgs-fb");
    check_choice(&heap, disc, TALUS_LAW_CCP, 1e-4, "lbfgs-fb");
    check_choice(&heap, square, TALUS_LAW_CCP, 1e-4, "lbfgs-fb");
    free_test_problem(&heap);
    free_test_problem(&smooth);
    free_test_problem(&matrix);
}

static bool same_plan(TalusAutoPlan a, TalusAutoPlan b)
{
    return a.first == b.first && a.direct == b.direct && a.iterations == b.iterations &&
           a.most == b.most;
}

TEST(steps_of_worlds_begin_with_first_order_methods_and_other_backends_keep_them)
{
    const TalusAutoPlan lbfgs = {.first = TALUS_AUTO_TIGHT, .direct = -1};
    TestProblem heap = make_heap(&(HeapOptions){11, 4, 4, 3, 0.3, 0.0, 0.0});
    TalusProblem *problem = problem_of(&heap, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-9);
    CHECK_INT(talus_auto_plan(problem, &options).direct, TALUS_AUTO_CONES);
    CHECK_INT(talus_auto_plan(problem, &options).iterations, 0);
    const int after = (int)(500 + 1.5 * talus_problem_blocks(problem));
    options.reference_speed = 1e3 * options.tolerance;
    TalusAutoPlan between = {TALUS_AUTO_BETWEEN, TALUS_AUTO_CONES, after, 200};
    CHECK(same_plan(talus_auto_plan(problem, &options), between));
    options.reference_speed = 5.0 * options.tolerance;
    TalusAutoPlan loose = {TALUS_AUTO_LOOSE, TALUS_AUTO_CONES, after, 200};
    CHECK(same_plan(talus_auto_plan(problem, &options), loose));
    options.reference_speed = 1e5 * options.tolerance;
    CHECK_INT(talus_auto_plan(problem, &options).direct, TALUS_AUTO_CONES);
    CHECK(talus_auto_plan(problem, &options).iterations >= 500);
    TalusBackend away = *problem->backend;
    const TalusBackend *here = problem->backend;
    away.capabilities = 0;
    problem->backend = &away;
    CHECK(same_plan(talus_auto_plan(problem, &options), lbfgs));
    problem->backend = here;
    options.tolerance = 0.0;
    options.reference_speed = 0.0;
    CHECK(same_plan(talus_auto_plan(problem, &options), lbfgs));
    talus_problem_destroy(problem);
    free_test_problem(&heap);
}

/* ---- changing hands ---- */

/* A heavy body on a column of light ones: twice the iterations of first order before it changes hands. */
static TestProblem make_hard(void)
{
    return make_column(100, 1e4, 0.3);
}

TEST(hard_problems_change_hands)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-6);
    TalusAutoPlan plan = talus_auto_plan(problem, &options);
    CHECK(plan.iterations > 500);
    CHECK(solve(problem, "lbfgs-fb", &options).iterations > plan.iterations + 200);
    TalusSolveInfo info = solve(problem, "auto", &options);
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_STR(info.solver, "ipm-soc");
    CHECK(info.iterations > plan.iterations && info.iterations < plan.iterations + 100);
    CHECK(info.factorisations > 0 && info.products > plan.iterations);
    /* the residual that is told first is that of zero impulses */
    CHECK_NEAR(info.start_residual, options.tolerance / 1e-6, 1e-3 * info.start_residual);
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

typedef struct Seen {
    int last, times, stop_at;
    bool falls;
    const double *gamma;
} Seen;

static bool observe(void *user, const TalusObservation *now)
{
    Seen *seen = user;
    seen->falls |= seen->times > 0 && now->iteration <= seen->last;
    seen->last = now->iteration;
    seen->gamma = now->gamma;
    seen->times++;
    return seen->stop_at == 0 || now->iteration < seen->stop_at;
}

/* One count of iterations through all hands; who says stop is not asked again by the next. */
TEST(observers_see_one_solve)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-6);
    TalusSolveInfo alone = solve(problem, "auto", &options);
    Seen seen = {0};
    options.observer = observe;
    options.observer_user = &seen;
    TalusSolveInfo info = solve(problem, "auto", &options);
    CHECK(!seen.falls);
    CHECK_INT(seen.last, info.iterations);
    CHECK_INT(info.iterations, alone.iterations);
    CHECK(info.residual.rms == alone.residual.rms);
    seen = (Seen){.stop_at = talus_auto_plan(problem, &options).iterations};
    info = solve(problem, "auto", &options);
    CHECK_STR(info.solver, "lbfgs-fb");
    CHECK_INT(info.outcome, TALUS_OUTCOME_BUDGET);
    CHECK_INT(info.iterations, seen.stop_at);
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

/* ---- a direct method that fails ---- */

/* Whichever allocation fails, somebody solves the problem; lbfgs-fb where it was one of ipm-soc's. */
TEST(memory_that_does_not_come_leaves_it_to_first_order)
{
    TestProblem heap = make_heap(&(HeapOptions){9, 3, 2, 2, 0.4, 0.0, 0.3});
    TalusProblem *problem = problem_of(&heap, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-9);
    int fell_back = 0;
    for (long n = 1; n <= 100; n++) {
        TalusSolver *solver = NULL;
        TalusSolveInfo info;
        double *gamma = talus_problem_gamma(problem);
        memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
        REQUIRE_OK(talus_solver_create("auto", &solver));
        talus_fail_allocation_in(n);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        talus_fail_allocation_in(0);
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        fell_back += strcmp(info.solver, "lbfgs-fb") == 0;
        talus_solver_destroy(solver);
    }
    CHECK(fell_back > 10 && fell_back < 100);
    talus_problem_destroy(problem);
    free_test_problem(&heap);
}

/* A direct method that does not arrive in its half of the budget leaves the other half, and no impulses that
 * are worse than those it was given. */
TEST(want_of_progress_leaves_it_to_first_order)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-9);
    for (int most = 1; most <= 9; most += 4) {
        options.max_iterations = most;
        TalusSolveInfo info = solve(problem, "auto", &options);
        CHECK_INT(info.outcome, TALUS_OUTCOME_BUDGET);
        CHECK_INT(info.iterations, most);
        CHECK_STR(info.solver, most > 1 ? "lbfgs-fb" : "ipm-soc");
        CHECK(info.residual.rms <= 1e9 * options.tolerance);
    }
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

/* Heavy bodies among light ones in a small step of a world: an eighth of the budget to first order, interior points under
 * Coulomb's law, too, and admm for prisms. */
TEST(uneven_masses_are_not_left_to_first_order)
{
    static const TalusFrictionLaw laws[] = {TALUS_LAW_CCP, TALUS_LAW_COULOMB, TALUS_LAW_FIXED};
    static const int even[] = {TALUS_AUTO_CONES, TALUS_AUTO_COULOMB, TALUS_AUTO_TIGHT};
    TestProblem heap = make_heap(&(HeapOptions){11, 4, 4, 2, 0.3, 0.0, 0.0});
    for (int k = 0; k < 3; k++)
        for (int heavy = 0; heavy < 2; heavy++) {
            double *inverse = (double *)heap.def.inv_mass, kept = inverse[0];
            inverse[0] *= heavy ? 1e-4 : 1.0;
            TalusProblem *problem = problem_of(&heap, TALUS_SECTION_DISC, laws[k]);
            inverse[0] = kept;
            TalusSolveOptions options = options_of(problem, 1e-2);
            options.reference_speed = 100.0 * options.tolerance;
            options.max_iterations = 1000;
            TalusAutoPlan plan = talus_auto_plan(problem, &options);
            bool prisms = heavy && laws[k] == TALUS_LAW_FIXED;
            CHECK_INT(plan.first, prisms ? TALUS_AUTO_PRISMS : TALUS_AUTO_BETWEEN);
            CHECK_INT(plan.direct, prisms ? -1 : heavy ? TALUS_AUTO_CONES : even[k]);
            CHECK(prisms || (heavy ? plan.iterations == 125 : plan.iterations >= 500));
            options.reference_speed = 0.0;
            CHECK_INT(talus_auto_plan(problem, &options).direct, even[k] ? even[k] : -1);
            talus_problem_destroy(problem);
        }
    free_test_problem(&heap);
}

/* Sweeps that are far too bold in the direct method's place. Where iterations run out with it, the impulses of first
 * order, from before, are the result, and an observer sees them last; where there are more, first order goes on. */
TEST(worse_impulses_are_not_taken)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-6);
    TalusAutoPlan plan = talus_auto_plan(problem, &options);
    TalusSolver *choice[TALUS_AUTO_CHOICES] = {NULL};
    TalusSolveInfo info;
    TalusResidual truth;
    Seen seen = {0};
    options.max_iterations = plan.iterations;
    double first = solve(problem, "lbfgs-fb", &options).residual.rms;
    REQUIRE_OK(talus_solver_create("lbfgs-fb", &choice[plan.first]));
    REQUIRE_OK(talus_solver_create("gs:omega=1.99,order=random", &choice[plan.direct]));
    options_of(problem, 1e-6);
    options.max_iterations = plan.iterations + 1;
    options.observer = observe;
    options.observer_user = &seen;
    CHECK_OK(talus_auto_solve(choice, problem, &options, &info));
    talus_problem_residual(problem, talus_problem_gamma(problem), &truth);
    CHECK_STR(info.solver, "gs");
    CHECK_INT(info.iterations, options.max_iterations);
    CHECK(info.residual.rms == first && truth.rms == first);
    CHECK(seen.gamma == talus_problem_gamma(problem));
    options.max_iterations = 100000;
    CHECK_OK(talus_auto_solve(choice, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_STR(info.solver, "lbfgs-fb");
    for (int i = 0; i < TALUS_AUTO_CHOICES; i++)
        talus_solver_destroy(choice[i]);
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

int main(void)
{
    RUN(many_digits_of_a_small_problem_are_had_directly);
    RUN(steps_of_worlds_begin_with_first_order_methods_and_other_backends_keep_them);
    RUN(hard_problems_change_hands);
    RUN(observers_see_one_solve);
    RUN(memory_that_does_not_come_leaves_it_to_first_order);
    RUN(want_of_progress_leaves_it_to_first_order);
    RUN(uneven_masses_are_not_left_to_first_order);
    RUN(worse_impulses_are_not_taken);
    return talus_test_result();
}
