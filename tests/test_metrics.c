/* The laboratory's metrics: against the independent verifier, by hand, and seen by an observer. */

#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

static bool near(double a, double b, double scale)
{
    return fabs(a - b) <= 1e-10 * scale;
}

/* Every figure of one gamma; `scale` is in m/s, `impulse` in N s. */
static void compare(TalusProblem *problem, const TalusProblemDef *def, const double *gamma)
{
    TalusMetrics a, b;
    VerifyPoint point = verify_def_point(def, gamma);
    if (talus_problem_estimate(problem))
        verify_set_estimate(&point, talus_problem_estimate(problem));
    double scale = verify_scale(def, gamma), impulse = 0.0, n = verify_size(def);
    verify_measure(&point, &b);
    REQUIRE_OK(talus_problem_measure(problem, gamma, &a));
    for (int k = 0; k < verify_size(def); k++)
        impulse = fmax(impulse, fabs(gamma[k]));
    double energy = n * (scale + 1e-300) * (impulse + 1e-300);
    CHECK(near(a.objective, b.objective, energy));
    CHECK(near(a.natural.rms, b.natural.rms, scale));
    CHECK(near(a.natural.max, b.natural.max, scale));
    CHECK(near(a.natural_at_zero, b.natural_at_zero, b.natural_at_zero));
    CHECK(near(a.natural_relative, b.natural_relative, b.natural_relative));
    CHECK(near(a.rounding.rms, b.rounding.rms, b.rounding.rms));
    CHECK(near(a.rounding.max, b.rounding.max, b.rounding.max));
    CHECK(near(a.siconos_rounding, b.siconos_rounding, b.siconos_rounding));
    CHECK(near(a.projected_gradient, b.projected_gradient, n * scale));
    CHECK(near(a.tau_g, b.tau_g, b.tau_g));
    CHECK(near(a.complementarity_mean, b.complementarity_mean, energy));
    CHECK(near(a.complementarity_std, b.complementarity_std, energy));
    CHECK(near(a.complementarity_max, b.complementarity_max, energy));
    CHECK(near(a.primal_infeasibility, b.primal_infeasibility, n * scale));
    CHECK(near(a.cone_violation, b.cone_violation, impulse));
    CHECK(near(a.duality_gap, b.duality_gap, energy));
    CHECK(near(a.duality_gap_scaled, b.duality_gap_scaled, b.duality_gap_scaled + 1e-3 * energy));
    CHECK(near(a.siconos, b.siconos, 1.0));
    CHECK(near(a.siconos_over_q, b.siconos_over_q, b.siconos_over_q + n));
    CHECK(near(a.dilation, b.dilation, n * scale));
    CHECK(near(a.bound_mismatch, b.bound_mismatch, n * scale));
    CHECK_INT(a.open, b.open);
    CHECK_INT(a.sliding, b.sliding);
    CHECK_INT(a.sticking, b.sticking);
    CHECK_INT(a.open + a.sliding + a.sticking, verify_blocks(def));
    verify_free(&point);
}

/* Random impulses, a third of them zero; half of the blocks are left outside their sets. Random bounds, a
 * quarter of them zero. */
static void scatter(const TalusProblemDef *def, uint64_t seed, double *gamma, double *estimate)
{
    TalusRng rng = talus_rng_from_seed(seed);
    int rows = verify_rows(def);
    VerifyPoint zero = verify_zero_point(def);
    for (int i = 0; i < zero.blocks; i++) {
        double size = talus_rng_uniform(&rng) < 0.33 ? 0.0 : 1.0;
        VerifySet set = zero.set[i];
        set.estimate = talus_rng_uniform(&rng) < 0.25 ? 0.0 : talus_rng_uniform(&rng);
        if (estimate)
            estimate[i] = set.estimate;
        for (int k = 0; k < rows; k++)
            gamma[i * rows + k] = size * (2.0 * talus_rng_uniform(&rng) - 1.0);
        if (talus_rng_uniform(&rng) < 0.5)
            verify_set_project(&set, gamma + i * rows);
    }
    verify_free(&zero);
}

static void compare_at_random(TestProblem p)
{
    TalusProblem *problem = NULL;
    double *gamma = test_memory(&p, (size_t)verify_size(&p.def), sizeof *gamma);
    if (CHECK_OK(talus_problem_create(&p.def, NULL, &problem))) {
        compare(problem, &p.def, gamma);
        for (uint64_t seed = 1; seed <= 3; seed++) {
            scatter(&p.def, seed, gamma, talus_problem_estimate(problem));
            compare(problem, &p.def, gamma);
        }
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(metrics_agree_with_the_verifier)
{
    HeapOptions heap = {.seed = 3, .nx = 4, .ny = 4, .nz = 4, .mu = 0.4, .general = 0.3};
    compare_at_random(make_heap(&heap));
    heap.compliance = 0.01;
    compare_at_random(make_heap(&heap));
    heap.mu = 0.0;
    compare_at_random(make_heap(&heap));
    compare_at_random(make_explicit(5, 40, 3));
    compare_at_random(make_explicit(6, 40, 1));
}

/* Every section under every law, in turn over the blocks, with contacts without friction among them; with
 * `turning` some of them resist spinning or rolling. */
static void mix_models(TestProblem *p, TalusFrictionModel *models, bool turning)
{
    const char *const sections[] = {"disc",      "square",    "polygon:3",
                                    "polygon:8", "polygon:5", "none"};
    for (int i = 0; i < verify_blocks(&p->def); i++) {
        CHECK_OK(talus_section_parse(sections[i % 6], &models[i]));
        models[i].law = (TalusFrictionLaw)(i / 6 % TALUS_LAWS);
        TalusContactDef *c = p->def.contacts ? (TalusContactDef *)&p->def.contacts[i] : NULL;
        if (!c)
            continue;
        c->model = models[i];
        c->mu = i % 7 == 0 ? 0.0 : c->mu;
        c->spinning = turning && i % 2 == 0 ? 0.1 : 0.0;
        c->rolling = turning && i % 5 < 2 ? 0.2 : 0.0;
        c->length = c->spinning + c->rolling > 0.0 ? 0.02 + 0.001 * i : 0.0;
    }
    if (!p->def.contacts)
        p->def.model = models;
}

TEST(metrics_of_every_law_agree_with_the_verifier)
{
    for (int turning = 0; turning < 2; turning++) {
        HeapOptions heap = {.seed = 4, .nx = 3, .ny = 3, .nz = 3, .mu = 0.4, .general = 0.3};
        heap.compliance = 0.01;
        TestProblem p = make_heap(&heap);
        mix_models(&p, test_memory(&p, (size_t)verify_blocks(&p.def), sizeof(TalusFrictionModel)),
                   turning);
        CHECK_INT(verify_rows(&p.def), turning ? 6 : 3);
        compare_at_random(p);
    }
    TestProblem p = make_explicit(5, 60, 3);
    mix_models(&p, test_memory(&p, 60, sizeof(TalusFrictionModel)), false);
    compare_at_random(p);
    p = make_explicit(7, 30, 3);
    TalusFrictionModel *none = test_memory(&p, 30, sizeof *none);
    for (int i = 0; i < 30; i++)
        none[i].section = TALUS_SECTION_NONE;
    p.def.model = none;
    CHECK_INT(verify_rows(&p.def), 1);
    compare_at_random(p);
}

TEST(metrics_vanish_at_a_known_optimum)
{
    TestProblem known[KNOWN_PROBLEMS];
    make_known(known);
    for (int i = 0; i < KNOWN_PROBLEMS; i++) {
        TestProblem *p = &known[i];
        TalusProblem *problem = NULL;
        TalusMetrics m;
        double scale = verify_scale(&p->def, p->gamma), n = verify_size(&p->def);
        if (CHECK_OK(talus_problem_create(&p->def, NULL, &problem)) &&
            CHECK_OK(talus_problem_measure(problem, p->gamma, &m))) {
            double impulse = n * scale / talus_problem_diagonal(problem, 0);
            CHECK(m.natural.max <= 1e-10 * scale);
            CHECK(m.projected_gradient <= 1e-9 * n * scale);
            CHECK(m.primal_infeasibility <= 1e-10 * n * scale);
            CHECK(m.cone_violation <= 1e-10 * impulse);
            CHECK(m.complementarity_max <= 1e-9 * scale * impulse);
            CHECK(m.duality_gap <= 1e-9 * n * scale * impulse);
        }
        talus_problem_destroy(problem);
        free_test_problem(p);
    }
}

/* One explicit contact: N = diag(2, 1, 1), q = (-4, 3, 0), mu = 0.5, gamma = (1, 0, 0):
 * u = (-2, 3, 0), d = 4/3, everything by hand. */
TEST(metrics_by_hand)
{
    const int32_t start[4] = {0, 1, 2, 3}, column[3] = {0, 1, 2};
    const double values[3] = {2.0, 1.0, 1.0}, q[3] = {-4.0, 3.0, 0.0}, mu[1] = {0.5};
    const TalusProblemDef def = {.block_count = 1,
                                 .rows = 3,
                                 .row_start = start,
                                 .column = column,
                                 .values = values,
                                 .offset = q,
                                 .mu = mu};
    const double gamma[3] = {1.0, 0.0, 0.0}, d = 4.0 / 3.0;
    TalusProblem *problem = NULL;
    TalusMetrics m;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    REQUIRE_OK(talus_problem_measure(problem, gamma, &m));
    CHECK_NEAR(m.objective, 0.5 * 2.0 - 4.0, 1e-14);
    /* gamma - u/d = (2.5, -2.25, 0): onto the mantle, along (1, -0.5)/1.25 times (2.5 + 1.125) */
    CHECK_NEAR(m.natural.rms, d * hypot(1.0 - 2.9, 1.45), 1e-13);
    CHECK_NEAR(m.natural.max, m.natural.rms, 1e-15);
    CHECK_NEAR(m.tau_g, 0.75, 1e-15);
    CHECK_NEAR(m.projected_gradient, m.natural.rms, 1e-13);
    /* at zero: -q/d = (3, -2.25, 0), along (1, -0.5)/1.25 times 4.125 */
    CHECK_NEAR(m.natural_at_zero, d * hypot(3.3, 1.65), 1e-13);
    CHECK_NEAR(m.complementarity_max, 2.0, 1e-14);
    CHECK_NEAR(m.complementarity_std, 0.0, 1e-7);
    CHECK_NEAR(m.duality_gap, 2.0, 1e-14);
    CHECK_NEAR(m.duality_gap_scaled, 0.5, 1e-14);
    /* -u = (2, -3, 0): (2 + 1.5)/1.25 along (1, -0.5) */
    CHECK_NEAR(m.primal_infeasibility, hypot(2.8, 1.4), 1e-13);
    CHECK_NEAR(m.cone_violation, 0.0, 0.0);
    /* u^ = (-0.5, 3, 0): gamma - u^ = (1.5, -3, 0), to (3/1.25)(1, -0.5) */
    CHECK_NEAR(m.siconos_over_q, hypot(1.0 - 2.4, 1.2) / 5.0, 1e-14);
    CHECK_NEAR(m.siconos, hypot(1.0 - 2.4, 1.2) / 5.0, 1e-14);
    CHECK_INT(m.sticking, 1);
    talus_problem_destroy(problem);
}

/* The same contact under the other laws: with bounds from an estimate of 2, and exactly. */
TEST(metrics_of_laws_by_hand)
{
    const int32_t start[4] = {0, 1, 2, 3}, column[3] = {0, 1, 2};
    const double values[3] = {2.0, 1.0, 1.0}, q[3] = {-4.0, 3.0, 0.0}, mu[1] = {0.5};
    const double gamma[3] = {1.0, -0.5, 0.0}, d = 4.0 / 3.0; /* u = (-2, 2.5, 0) */
    TalusFrictionModel model = {.law = TALUS_LAW_FIXED};
    const TalusProblemDef def = {.block_count = 1,
                                 .rows = 3,
                                 .row_start = start,
                                 .column = column,
                                 .values = values,
                                 .offset = q,
                                 .mu = mu,
                                 .model = &model};
    TalusProblem *problem = NULL;
    TalusMetrics m;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    *talus_problem_estimate(problem) = 2.0;
    REQUIRE_OK(talus_problem_measure(problem, gamma, &m));
    /* gamma - u/d = (2.5, -2.375, 0): to (2.5, -1, 0) */
    CHECK_NEAR(m.natural.rms, d * hypot(1.5, 0.5), 1e-13);
    CHECK_NEAR(m.natural_at_zero, d * hypot(3.0, 1.0), 1e-13);
    CHECK_NEAR(m.complementarity_max, fabs(-2.0 - 1.25 + 0.5 * 2.0 * 2.5), 1e-13);
    CHECK_NEAR(m.duality_gap, m.complementarity_max, 1e-15);
    CHECK_NEAR(m.primal_infeasibility, 2.0, 1e-14);
    CHECK_NEAR(m.bound_mismatch, d * 0.5, 1e-14);
    CHECK_NEAR(m.dilation, 0.0, 0.0);
    CHECK_INT(m.sticking, 1);
    model.law = TALUS_LAW_COULOMB;
    REQUIRE_OK(talus_problem_set_friction(problem, model));
    REQUIRE_OK(talus_problem_measure(problem, gamma, &m));
    /* u^ = (-0.75, 2.5, 0): gamma - u^/d = (1.5625, -2.375), along (1, -0.5)/1.25 times 2.75 */
    CHECK_NEAR(m.dilation, 1.25, 1e-14);
    CHECK_NEAR(m.natural.rms, d * hypot(1.0 - 2.2, 0.6), 1e-13);
    CHECK_NEAR(m.complementarity_max, 0.75 + 1.25, 1e-13);
    CHECK_NEAR(m.bound_mismatch, 0.0, 0.0);
    CHECK_INT(m.sliding, 1);
    talus_problem_destroy(problem);
}

/* Where zero impulses solve the problem, they are as good as they can be, and all others are not. */
TEST(nothing_to_do_is_done)
{
    const int32_t start[2] = {0, 1}, column[1] = {0};
    const double value = 2.0, q = 1.0;
    const TalusProblemDef def = {.block_count = 1,
                                 .rows = 1,
                                 .row_start = start,
                                 .column = column,
                                 .values = &value,
                                 .offset = &q};
    TalusProblem *problem = NULL;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    const double impulses[3] = {0.0, 1e-9, NAN};
    for (int i = 0; i < 3; i++) {
        TalusMetrics m, truth;
        VerifyPoint point = verify_def_point(&def, &impulses[i]);
        verify_measure(&point, &truth);
        CHECK_OK(talus_problem_measure(problem, &impulses[i], &m));
        CHECK(m.natural_at_zero == 0.0 && truth.natural_at_zero == 0.0);
        if (i == 0)
            CHECK(m.natural_relative == 0.0 && truth.natural_relative == 0.0);
        if (i == 1)
            CHECK(isinf(m.natural_relative) && isinf(truth.natural_relative));
        if (i == 2)
            CHECK(isnan(m.natural_relative) && isnan(truth.natural_relative));
        verify_free(&point);
    }
    talus_problem_destroy(problem);
}

typedef struct Seen {
    TalusProblem *problem;
    int count, last, stop_at;
    double seconds, first_objective, last_objective;
    TalusResidual residual;
} Seen;

static bool see(void *user, const TalusObservation *o)
{
    Seen *seen = user;
    TalusMetrics m;
    /* the result may be an earlier iterate, seen once more */
    CHECK(o->iteration >= seen->last && o->seconds >= seen->seconds);
    CHECK_OK(talus_problem_measure(seen->problem, o->gamma, &m));
    if (seen->count++ == 0)
        seen->first_objective = m.objective;
    seen->last = o->iteration;
    seen->seconds = o->seconds;
    seen->last_objective = m.objective;
    seen->residual = m.natural;
    return seen->stop_at < 0 || o->iteration < seen->stop_at;
}

/* Sweeps sum the bodies' velocities afresh after each look: rounding apart they do the same. */
static bool sweeps(const char *solver)
{
    const char *const names[] = {"gs", "pgs", "gs-disc", "bgs", "bgs-enum", "nscd", "gs-coulomb"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(solver, names[i]) == 0)
            return true;
    return false;
}

static bool same_result(const char *solver, const double *a, const double *b, int n)
{
    double difference = 0.0, size = 0.0;
    for (int k = 0; k < n; k++) {
        difference = fmax(difference, fabs(a[k] - b[k]));
        size = fmax(size, fabs(a[k]));
    }
    return difference <= (sweeps(solver) ? 1e-11 * size : 0.0);
}

/* What a watched solve returns is what an unwatched one does, bit by bit, and its last look is at
 * the result. */
static void watch(const char *name, double mu, int iterations)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 9, .nx = 4, .ny = 4, .nz = 3, .mu = mu});
    TalusProblem *plain = NULL, *watched = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info, seen_info;
    Seen seen = {.last = -1, .stop_at = -1};
    options.tolerance = 0.0;
    options.max_iterations = iterations;
    CHECK_OK(talus_problem_create(&p.def, NULL, &plain));
    CHECK_OK(talus_problem_create(&p.def, NULL, &watched));
    CHECK_OK(talus_solver_create(name, &solver));
    if (talus_solver_supports(solver, plain) == TALUS_OK) {
        CHECK_OK(talus_solver_solve(solver, plain, &options, &info));
        talus_solver_destroy(solver); /* a fresh one: solvers carry norms over */
        CHECK_OK(talus_solver_create(name, &solver));
        options.observer = see;
        options.observer_user = &seen;
        seen.problem = watched;
        CHECK_OK(talus_solver_solve(solver, watched, &options, &seen_info));
        bool ok = CHECK(same_result(info.solver, talus_problem_gamma(plain),
                                    talus_problem_gamma(watched), talus_problem_size(plain)));
        ok &= CHECK_INT(seen_info.products, info.products);
        ok &= CHECK_INT(seen.last, seen_info.iterations);
        ok &= CHECK(seen.seconds <= seen_info.seconds);
        ok &= CHECK_NEAR(seen.residual.rms, seen_info.residual.rms,
                         1e-9 * seen_info.residual.rms + 1e-14 * info.start_residual);
        ok &= CHECK(seen.count >= 3 && seen.first_objective == 0.0);
        ok &= CHECK(seen.last_objective < 0.0);
        ok &= CHECK(seen_info.memory_bytes > 0 || strcmp(info.solver, "jacobi") == 0);
        if (!ok)
            printf("    with %s, mu = %g, %d iterations\n", name, mu, iterations);
    }
    talus_solver_destroy(solver);
    talus_problem_destroy(plain);
    talus_problem_destroy(watched);
    free_test_problem(&p);
}

TEST(an_observer_changes_nothing)
{
    for (int s = 0; s < talus_solver_count(); s++)
        for (int i = 0; i < 4; i++) /* every iterate is shown up to 50, some of them later */
            if (!talus_solver_row(s).missing)
                watch(talus_solver_row(s).name, i % 2 ? 0.4 : 0.0, i < 2 ? 40 : 150);
}

static void stop_at(const char *name, int iteration)
{
    HeapOptions heap = {.seed = 9, .nx = 4, .ny = 4, .nz = 3, .mu = 0.3};
    TestProblem p = make_heap(&heap);
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    Seen seen = {.last = -1, .stop_at = iteration};
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = 0.0;
    options.observer = see;
    options.observer_user = &seen;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &seen.problem));
    REQUIRE_OK(talus_solver_create(name, &solver));
    REQUIRE_OK(talus_solver_solve(solver, seen.problem, &options, &info));
    CHECK_INT(info.iterations, iteration);
    CHECK_INT(info.outcome, TALUS_OUTCOME_BUDGET);
    CHECK_INT(seen.last, iteration);
    if (iteration == 0) {
        CHECK_INT(seen.count, 1);
        CHECK_INT(info.products, 0);
        CHECK(info.residual.rms > 0.0 && talus_problem_gamma(seen.problem)[0] == 0.0);
    }
    talus_solver_destroy(solver);
    talus_problem_destroy(seen.problem);
    free_test_problem(&p);
}

/* In mid-solve, and at the start, before any work is done. */
TEST(an_observer_can_stop)
{
    stop_at("jacobi", 20);
    stop_at("jacobi", 0);
    stop_at("prox", 0);
    stop_at("auto", 0);
}

int main(void)
{
    RUN(metrics_agree_with_the_verifier);
    RUN(metrics_of_every_law_agree_with_the_verifier);
    RUN(metrics_vanish_at_a_known_optimum);
    RUN(metrics_by_hand);
    RUN(metrics_of_laws_by_hand);
    RUN(nothing_to_do_is_done);
    RUN(an_observer_changes_nothing);
    RUN(an_observer_can_stop);
    return talus_test_result();
}
