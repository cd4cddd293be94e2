/* "auto": which solver each kind of problem is given to, when it hands over, and which goes on where a direct
 * method fails; and stages as such. */

#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include "base/memory.h"
#include "solvers/driver/auto.h"
#include "solvers/driver/solver.h"

#include <limits.h>
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

/* The stages of "auto" for a problem. */
typedef struct Plan {
    TalusStage stage[TALUS_MAX_STAGES];
    int stages;
} Plan;

static Plan plan_of(TalusProblem *problem, const TalusSolveOptions *options)
{
    Plan plan = {0};
    plan.stages = talus_solver_auto.plan(problem, options, plan.stage);
    CHECK(plan.stages >= 1 && plan.stages <= TALUS_MAX_STAGES);
    return plan;
}

/* What a plan always ends with: first order, until the budget is used up. */
static bool ends_with(const Plan *plan, int part)
{
    const TalusStage *last = &plan->stage[plan->stages - 1];
    return last->part == part && last->max_iterations == INT_MAX && !last->trial;
}

static void check_alone(const Plan *plan, int first)
{
    CHECK_INT(plan->stages, 1);
    CHECK(ends_with(plan, first));
}

static void check_handover(const Plan *plan, int first, int iterations, int direct, int limit)
{
    REQUIRE(plan->stages == 3);
    CHECK_INT(plan->stage[0].part, first);
    CHECK_INT(plan->stage[0].max_iterations, iterations);
    CHECK(!plan->stage[0].trial);
    CHECK_INT(plan->stage[1].part, direct);
    CHECK_INT(plan->stage[1].max_iterations, limit);
    CHECK(plan->stage[1].trial);
    CHECK(ends_with(plan, first));
}

TEST(steps_of_worlds_begin_with_first_order_methods_and_other_backends_keep_them)
{
    TestProblem heap = make_heap(&(HeapOptions){11, 4, 4, 3, 0.3, 0.0, 0.0});
    TalusProblem *problem = problem_of(&heap, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-9);
    Plan plan = plan_of(problem, &options);
    CHECK_INT(plan.stages, 2);
    CHECK_INT(plan.stage[0].part, TALUS_AUTO_IPM_SOC);
    CHECK(plan.stage[0].trial && ends_with(&plan, TALUS_AUTO_LBFGS_FB));
    const int after = (int)(500 + 1.5 * talus_problem_blocks(problem));
    options.reference_speed = 1e3 * options.tolerance;
    plan = plan_of(problem, &options);
    check_handover(&plan, TALUS_AUTO_APGD, after, TALUS_AUTO_IPM_SOC, 200);
    options.reference_speed = 5.0 * options.tolerance;
    plan = plan_of(problem, &options);
    check_handover(&plan, TALUS_AUTO_GS, after, TALUS_AUTO_IPM_SOC, 200);
    options.reference_speed = 1e5 * options.tolerance;
    plan = plan_of(problem, &options);
    check_handover(&plan, TALUS_AUTO_LBFGS_FB, after, TALUS_AUTO_IPM_SOC, 200);
    TalusBackend away = *problem->backend;
    const TalusBackend *here = problem->backend;
    away.capabilities = 0;
    problem->backend = &away;
    plan = plan_of(problem, &options);
    check_alone(&plan, TALUS_AUTO_LBFGS_FB);
    problem->backend = here;
    options.tolerance = 0.0;
    options.reference_speed = 0.0;
    plan = plan_of(problem, &options);
    check_alone(&plan, TALUS_AUTO_LBFGS_FB);
    talus_problem_destroy(problem);
    free_test_problem(&heap);
}

/* Continuation follows prox under Coulomb's law where no reference speed is given: not in steps of worlds. */
TEST(problems_that_may_have_several_solutions_end_with_continuation)
{
    TestProblem heap = make_heap(&(HeapOptions){11, 4, 4, 3, 0.3, 0.0, 0.0});
    TalusProblem *problem = problem_of(&heap, TALUS_SECTION_DISC, TALUS_LAW_COULOMB);
    TalusSolveOptions options = options_of(problem, 1e-9);
    Plan plan = plan_of(problem, &options);
    REQUIRE(plan.stages == 4);
    CHECK_INT(plan.stage[0].part, TALUS_AUTO_APGD);
    CHECK(plan.stage[0].until_stuck && !plan.stage[1].until_stuck);
    CHECK_INT(plan.stage[1].part, TALUS_AUTO_PROX);
    CHECK_INT(plan.stage[2].part, TALUS_AUTO_CONTINUATION);
    CHECK(plan.stage[1].trial && plan.stage[2].trial && ends_with(&plan, TALUS_AUTO_APGD));
    options.max_iterations = 1000; /* of which most are left for continuation */
    plan = plan_of(problem, &options);
    CHECK_INT(plan.stage[0].max_iterations, 250);
    options = options_of(problem, 1e-9);
    options.reference_speed = 1e3 * options.tolerance;
    plan = plan_of(problem, &options);
    check_handover(&plan, TALUS_AUTO_APGD, 500 + 10 * talus_problem_blocks(problem),
                   TALUS_AUTO_PROX, 500);
    CHECK(!plan.stage[0].until_stuck);
    talus_problem_destroy(problem);
    free_test_problem(&heap);
}

/* Options whose tolerance, a share of the starting residual, is `loose` of the reference speed. */
static TalusSolveOptions loose_options(TalusProblem *problem, double share, double loose)
{
    TalusSolveOptions options = options_of(problem, share);
    options.reference_speed = options.tolerance / loose;
    return options;
}

static int first_part(const HeapOptions *heap, TalusSection section, TalusFrictionLaw law,
                      double loose)
{
    TestProblem p = make_heap(heap);
    TalusProblem *problem = problem_of(&p, section, law);
    TalusSolveOptions options = loose_options(problem, 1e-2, loose);
    Plan plan = plan_of(problem, &options);
    talus_problem_destroy(problem);
    free_test_problem(&p);
    return plan.stage[0].part;
}

TEST(compliant_contacts_under_coulombs_law_begin_with_sweeps)
{
    const HeapOptions soft = {11, 4, 4, 3, 0.3, 0.05, 0.0}, rigid = {11, 4, 4, 3, 0.3, 0.0, 0.0};
    const HeapOptions rocks = {11, 4, 4, 3, 0.3, 0.05, 1.0};
    const TalusSection disc = TALUS_SECTION_DISC;
    const TalusFrictionLaw coulomb = TALUS_LAW_COULOMB;
    CHECK_INT(first_part(&soft, disc, coulomb, 0.0051), TALUS_AUTO_GS_COULOMB);
    CHECK_INT(first_part(&soft, disc, coulomb, 0.0049), TALUS_AUTO_APGD);
    CHECK_INT(first_part(&rigid, disc, coulomb, 0.5), TALUS_AUTO_APGD);
    CHECK_INT(first_part(&rocks, disc, coulomb, 0.101), TALUS_AUTO_GS_COULOMB);
    CHECK_INT(first_part(&rocks, disc, coulomb, 0.099), TALUS_AUTO_APGD);
    CHECK_INT(first_part(&soft, TALUS_SECTION_SQUARE, coulomb, 0.5), TALUS_AUTO_APGD);
    CHECK_INT(first_part(&soft, disc, TALUS_LAW_CCP, 0.5), TALUS_AUTO_GS);
    CHECK_INT(first_part(&soft, disc, TALUS_LAW_CCP, 0.05), TALUS_AUTO_APGD);
}

/* Sweeps count among the iterations before the direct method; on a device there are none. */
TEST(sweeps_hand_over_to_apgd)
{
    TestProblem heap = make_heap(&(HeapOptions){11, 3, 3, 10, 0.3, 1e-3, 0.0});
    TalusProblem *problem = problem_of(&heap, TALUS_SECTION_DISC, TALUS_LAW_COULOMB);
    TalusSolveOptions options = loose_options(problem, 1e-2, 0.05);
    Plan plan = plan_of(problem, &options);
    REQUIRE(plan.stages == 4);
    CHECK_INT(plan.stage[0].max_iterations, 300);
    CHECK_INT(plan.stage[1].part, TALUS_AUTO_APGD);
    CHECK_INT(plan.stage[1].max_iterations, 500 + 10 * talus_problem_blocks(problem) - 300);
    CHECK_INT(plan.stage[2].part, TALUS_AUTO_PROX);
    CHECK(plan.stage[2].trial && ends_with(&plan, TALUS_AUTO_APGD));
    TalusSolveInfo info = solve(problem, "auto", &options);
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_STR(info.solver, "gs-coulomb");
    options = loose_options(problem, 1e-11, 0.05); /* more digits than 300 sweeps find */
    info = solve(problem, "auto", &options);
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_STR(info.solver, "apgd");
    CHECK(info.iterations > 300);
    TalusBackend away = *problem->backend;
    const TalusBackend *here = problem->backend;
    away.capabilities = 0;
    problem->backend = &away;
    plan = plan_of(problem, &options);
    check_alone(&plan, TALUS_AUTO_APGD);
    options.tolerance = 0.5 * options.reference_speed;
    plan = plan_of(problem, &options);
    check_alone(&plan, TALUS_AUTO_APGD);
    problem->backend = here;
    talus_problem_destroy(problem);
    free_test_problem(&heap);
}

/* ---- high friction ---- */

/* Checks the parts of the plan for a heap; prox alone is a trial. */
static void check_parts(const HeapOptions *heap, TalusSection section, double loose,
                        const int *part, int stages)
{
    TestProblem p = make_heap(heap);
    TalusProblem *problem = problem_of(&p, section, TALUS_LAW_COULOMB);
    TalusSolveOptions options = loose_options(problem, 1e-2, loose);
    Plan plan = plan_of(problem, &options);
    CHECK_INT(plan.stages, stages);
    for (int i = 0; i < stages && i < plan.stages; i++) {
        CHECK_INT(plan.stage[i].part, part[i]);
        CHECK(plan.stage[i].trial == (part[i] == TALUS_AUTO_PROX));
    }
    CHECK(ends_with(&plan, part[stages - 1]));
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

enum { EXACT = TALUS_AUTO_GS_EXACT, DAMPED = TALUS_AUTO_GS_DAMPED, PROX = TALUS_AUTO_PROX };

/* Coefficients are 0.5 to 1.5 times that of the heap, whose largest is 1.48 times it. */
TEST(high_friction_has_stages_of_its_own)
{
    const HeapOptions soft = {11, 4, 4, 3, 3.0, 0.05, 0.0}, large = {11, 7, 7, 5, 3.0, 0.05, 0.0};
    const HeapOptions rigid = {11, 7, 7, 5, 3.0, 0.0, 0.0}, one = {11, 7, 7, 5, 0.7, 0.05, 0.0};
    const HeapOptions below = {11, 4, 4, 3, 0.6, 0.05, 0.0}, few = {11, 2, 2, 2, 3.0, 0.05, 0.0};
    const int high[] = {EXACT, DAMPED, PROX, DAMPED, PROX, DAMPED, PROX, DAMPED};
    const int gradient[] = {EXACT, TALUS_AUTO_APGD, DAMPED, PROX,  DAMPED,
                            PROX,  DAMPED,          PROX,   DAMPED};
    const int square[] = {TALUS_AUTO_APGD, DAMPED}; /* prox takes discs alone */
    check_parts(&soft, TALUS_SECTION_DISC, 0.05, high, 8);
    check_parts(&large, TALUS_SECTION_DISC, 1e-5, high, 8);
    check_parts(&rigid, TALUS_SECTION_DISC, 0.05, high, 8);
    check_parts(&large, TALUS_SECTION_SQUARE, 0.05, square, 2);
    check_parts(&one, TALUS_SECTION_DISC, 0.05, gradient, 9);
    check_parts(&one, TALUS_SECTION_DISC, 1e-5, gradient + 1, 8);
    CHECK_INT(first_part(&few, TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 1e-5), TALUS_AUTO_APGD);
    CHECK_INT(first_part(&below, TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0.05),
              TALUS_AUTO_GS_COULOMB);
    CHECK_INT(first_part(&one, TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0.05), TALUS_AUTO_APGD);
    CHECK_INT(first_part(&soft, TALUS_SECTION_DISC, TALUS_LAW_CCP, 0.05), TALUS_AUTO_APGD);
}

/* ---- handing over ---- */

/* A heavy body on a column of light ones: twice the iterations of first order before it hands over. */
static TestProblem make_hard(void)
{
    return make_column(100, 1e4, 0.3);
}

TEST(hard_problems_are_handed_over)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-6);
    const int before = plan_of(problem, &options).stage[0].max_iterations;
    CHECK(before > 500 && before < INT_MAX);
    CHECK(solve(problem, "lbfgs-fb", &options).iterations > before + 200);
    TalusSolveInfo info = solve(problem, "auto", &options);
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_STR(info.solver, "ipm-soc");
    CHECK(info.iterations > before && info.iterations < before + 100);
    CHECK(info.factorisations > 0 && info.products > before);
    /* the residual that is told first is that of zero impulses */
    CHECK_NEAR(info.start_residual, options.tolerance / 1e-6, 1e-3 * info.start_residual);
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

typedef struct Seen {
    int last, times, stop_at;
    bool falls, stop_twice; /* stop_twice: at an iteration that was reported before */
    const double *gamma;
} Seen;

static bool observe(void *user, const TalusObservation *now)
{
    Seen *seen = user;
    bool falls = seen->times > 0 && now->iteration <= seen->last;
    seen->falls |= falls;
    seen->last = now->iteration;
    seen->gamma = now->gamma;
    seen->times++;
    return !(seen->stop_twice && falls) && (seen->stop_at == 0 || now->iteration < seen->stop_at);
}

/* One count of iterations through all stages; who says stop is not asked again by the next. */
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
    seen = (Seen){.stop_at = plan_of(problem, &options).stage[0].max_iterations};
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

static bool count_starts(void *user, const TalusObservation *now)
{
    *(int *)user += now->iteration == 0;
    return true;
}

/* An observer sees the start once, also if the first stage ends without an iteration for want of memory. */
TEST(the_start_is_observed_once)
{
    TestProblem heap = make_heap(&(HeapOptions){9, 3, 2, 2, 0.4, 0.0, 0.3});
    TalusProblem *problem = problem_of(&heap, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-9);
    int starts, fell_back = 0;
    options.observer = count_starts;
    options.observer_user = &starts;
    for (long n = 1; n <= 40; n++) {
        TalusSolver *solver = NULL;
        TalusSolveInfo info;
        double *gamma = talus_problem_gamma(problem);
        memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
        REQUIRE_OK(talus_solver_create("auto", &solver));
        starts = 0;
        talus_fail_allocation_in(n);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        talus_fail_allocation_in(0);
        CHECK_INT(starts, 1);
        fell_back += strcmp(info.solver, "lbfgs-fb") == 0;
        talus_solver_destroy(solver);
    }
    CHECK(fell_back > 10);
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
 * Coulomb's law, too, and admm for prisms. Other small steps leave half of the budget to prox. */
TEST(uneven_masses_are_not_left_to_first_order)
{
    static const TalusFrictionLaw laws[] = {TALUS_LAW_CCP, TALUS_LAW_COULOMB, TALUS_LAW_FIXED};
    static const int even[] = {TALUS_AUTO_IPM_SOC, TALUS_AUTO_PROX, TALUS_AUTO_LBFGS_FB};
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
            Plan plan = plan_of(problem, &options);
            if (heavy && laws[k] == TALUS_LAW_FIXED) {
                check_alone(&plan, TALUS_AUTO_ADMM);
            } else {
                CHECK_INT(plan.stages, 3);
                CHECK(ends_with(&plan, TALUS_AUTO_APGD));
                CHECK_INT(plan.stage[1].part, heavy ? TALUS_AUTO_IPM_SOC : even[k]);
                int before = plan.stage[0].max_iterations;
                CHECK(heavy ? before == 125 : before >= 500);
                CHECK(heavy || laws[k] != TALUS_LAW_COULOMB || before == 500);
            }
            options.reference_speed = 0.0;
            plan = plan_of(problem, &options);
            if (even[k] == TALUS_AUTO_LBFGS_FB)
                check_alone(&plan, TALUS_AUTO_LBFGS_FB);
            else
                CHECK_INT(plan.stage[plan.stages - 2 - (laws[k] == TALUS_LAW_COULOMB)].part,
                          even[k]);
            talus_problem_destroy(problem);
        }
    free_test_problem(&heap);
}

/* ---- stages ---- */

enum { FIRST_ITERATIONS = 400 };

static int plan_bold(TalusProblem *problem, const TalusSolveOptions *options,
                     TalusStage stage[TALUS_MAX_STAGES])
{
    (void)problem;
    (void)options;
    stage[0] = (TalusStage){0, FIRST_ITERATIONS, false, false};
    stage[1] = (TalusStage){1, 200, true, false};
    stage[2] = (TalusStage){0, INT_MAX, false, false};
    return 3;
}

/* Sweeps that are far too bold in the direct method's place. */
static const TalusPart bold_parts[] = {
    {"lbfgs-fb", true}, {"gs:omega=1.99,order=random", true}, {NULL, false}};
static const TalusSolverType bold = {
    .name = "bold", .takes = TALUS_TAKES_CONVEX, .parts = bold_parts, .plan = plan_bold};

/* Where iterations run out with a trial, the impulses from before it are the result, and an observer sees them last; where
 * there are more, the next stage goes on. */
TEST(worse_impulses_are_not_taken)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-6);
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    TalusResidual truth;
    Seen seen = {0};
    options.max_iterations = FIRST_ITERATIONS;
    double first = solve(problem, "lbfgs-fb", &options).residual.rms;
    REQUIRE_OK(talus_solver_create_type(&bold, "", &solver));
    options_of(problem, 1e-6);
    options.max_iterations = FIRST_ITERATIONS + 1;
    options.observer = observe;
    options.observer_user = &seen;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_problem_residual(problem, talus_problem_gamma(problem), &truth);
    CHECK_STR(info.solver, "gs");
    CHECK_INT(info.iterations, options.max_iterations);
    CHECK(info.residual.rms == first && truth.rms == first);
    CHECK(seen.gamma == talus_problem_gamma(problem));
    options.max_iterations = 100000;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK_STR(info.solver, "lbfgs-fb");
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

/* An observer that says stop when it is shown the impulses from before a trial is not asked again. */
TEST(observers_stop_between_stages)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-6);
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    Seen seen = {.stop_twice = true};
    REQUIRE_OK(talus_solver_create_type(&bold, "", &solver));
    options.observer = observe;
    options.observer_user = &seen;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_STR(info.solver, "gs");
    CHECK_INT(info.outcome, TALUS_OUTCOME_BUDGET);
    CHECK_INT(info.iterations, FIRST_ITERATIONS + 200);
    CHECK_INT(seen.last, info.iterations);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

/* A solve without time is one of a single iteration, whatever was planned, and its residual is measured. */
TEST(a_solve_without_time_begins)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    for (int digits = 0; digits < 2; digits++) {
        TalusSolveOptions options = options_of(problem, digits ? 1e-9 : 1e-6);
        TalusResidual truth;
        options.max_seconds = 1e-300;
        TalusSolveInfo info = solve(problem, "auto", &options);
        talus_problem_residual(problem, talus_problem_gamma(problem), &truth);
        CHECK_STR(info.solver, digits ? "ipm-soc" : "lbfgs-fb");
        CHECK_INT(info.outcome, TALUS_OUTCOME_BUDGET);
        CHECK_INT(info.iterations, 1);
        CHECK(truth.rms > 0.0 && info.residual.rms == truth.rms);
    }
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

/* The state is that of the whole, then that of each part that keeps one: of "auto" those of its parts in their order, of
 * lbfgs-fb its own alone, since apgd begins anew whenever it takes over. */
TEST(states_are_those_of_the_parts)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-3);
    TalusSolver *chooser = NULL, *alone = NULL;
    TalusSolveInfo info;
    unsigned char bytes[256], own[256];
    options.max_iterations = 100;
    REQUIRE_OK(talus_solver_create("auto", &chooser));
    REQUIRE_OK(talus_solver_create("lbfgs-fb", &alone));
    size_t size = talus_solver_state_size(chooser), part = talus_solver_state_size(alone);
    CHECK_INT(part, talus_solver_lbfgs_fb.state_size);
    CHECK_INT(size, part + talus_solver_gs.state_size + talus_solver_apgd.state_size +
                        talus_solver_prox.state_size + talus_solver_ipm_soc.state_size +
                        talus_solver_ipm_chol.state_size + talus_solver_admm.state_size);
    REQUIRE(size <= sizeof bytes);
    CHECK_OK(talus_solver_solve(chooser, problem, &options, &info));
    CHECK_STR(info.solver, "lbfgs-fb");
    options_of(problem, 1e-3);
    CHECK_OK(talus_solver_solve(alone, problem, &options, &info));
    talus_solver_state_save(chooser, bytes);
    talus_solver_state_save(alone, own);
    CHECK(memcmp(bytes, own, part) == 0);
    CHECK_INT(talus_solver_state_load(chooser, bytes, size + 8), TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "solver auto: its saved state has 64 bytes, expected 56");
    CHECK_OK(talus_solver_state_load(chooser, bytes, size));
    talus_solver_destroy(chooser);
    talus_solver_destroy(alone);
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

/* A part that keeps no state begins as a new solver would, whatever it has solved before. */
TEST(a_handover_begins_anew)
{
    TestProblem hard = make_hard();
    TalusProblem *problem = problem_of(&hard, TALUS_SECTION_DISC, TALUS_LAW_CCP);
    TalusSolveOptions options = options_of(problem, 1e-9);
    TalusSolver *used = NULL, *fresh = NULL;
    TalusSolveInfo info, again;
    unsigned char state[256];
    options.max_iterations = 300;
    REQUIRE_OK(talus_solver_create("lbfgs-fb:patience=20", &used));
    REQUIRE_OK(talus_solver_create("lbfgs-fb:patience=20", &fresh));
    REQUIRE(talus_solver_state_size(used) <= sizeof state);
    CHECK_OK(talus_solver_solve(used, problem, &options, &info));
    talus_solver_state_save(used, state);
    CHECK_OK(talus_solver_state_load(fresh, state, talus_solver_state_size(used)));
    options_of(problem, 1e-9);
    CHECK_OK(talus_solver_solve(used, problem, &options, &info));
    options_of(problem, 1e-9);
    CHECK_OK(talus_solver_solve(fresh, problem, &options, &again));
    CHECK_STR(info.solver, "lbfgs-fb");
    CHECK_INT(info.products, again.products);
    CHECK(info.residual.rms == again.residual.rms);
    talus_solver_destroy(used);
    talus_solver_destroy(fresh);
    talus_problem_destroy(problem);
    free_test_problem(&hard);
}

int main(void)
{
    RUN(many_digits_of_a_small_problem_are_had_directly);
    RUN(steps_of_worlds_begin_with_first_order_methods_and_other_backends_keep_them);
    RUN(problems_that_may_have_several_solutions_end_with_continuation);
    RUN(compliant_contacts_under_coulombs_law_begin_with_sweeps);
    RUN(sweeps_hand_over_to_apgd);
    RUN(high_friction_has_stages_of_its_own);
    RUN(hard_problems_are_handed_over);
    RUN(observers_see_one_solve);
    RUN(memory_that_does_not_come_leaves_it_to_first_order);
    RUN(the_start_is_observed_once);
    RUN(want_of_progress_leaves_it_to_first_order);
    RUN(uneven_masses_are_not_left_to_first_order);
    RUN(worse_impulses_are_not_taken);
    RUN(observers_stop_between_stages);
    RUN(a_solve_without_time_begins);
    RUN(states_are_those_of_the_parts);
    RUN(a_handover_begins_anew);
    return talus_test_result();
}
