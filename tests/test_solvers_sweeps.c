/* Sweeps that solve each contact's own problem: pgs, gs-disc, bgs-enum, nscd, bgs; and gs-coulomb. What they promise by
 * the words of the laws, that orders, threads and forms of the problem do not matter, and what they refuse. */

#include "support/problems.h"
#include "support/test.h"

#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* ---- helpers ---- */

static const TalusFrictionModel ccp = {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0};
static const TalusFrictionModel coulomb = {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0};
static const TalusFrictionModel pyramid = {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0};
static const TalusFrictionModel box = {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0};
static const TalusFrictionModel cylinder = {TALUS_SECTION_DISC, TALUS_LAW_FIXED, 0};

static TalusProblem *create(const TalusProblemDef *def, TalusPool *pool, TalusFrictionModel model)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(def, pool, &problem));
    CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

/* A heap of spheres, or of them and other bodies, with every second contact slightly compliant: sweeps end. */
static TestProblem heap(uint64_t seed, double mu, double general)
{
    HeapOptions options = {
        .seed = seed, .nx = 3, .ny = 3, .nz = 2, .mu = mu, .compliance = 0.05, .general = general};
    return make_heap(&options);
}

static double start_residual(TalusProblem *problem)
{
    TalusResidual residual;
    double *zero = calloc((size_t)talus_problem_size(problem), sizeof *zero);
    talus_problem_residual(problem, zero, &residual);
    free(zero);
    return residual.rms;
}

/* From zero impulses to `relative` times their residual; u has room for the contact velocities. */
static TalusSolveInfo solve_by(const char *spec, TalusOuterKind outer, TalusProblem *problem,
                               double relative, double *u)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolveOptions options = talus_solve_options_default();
    double *gamma = talus_problem_gamma(problem);
    options.tolerance = relative * start_residual(problem);
    options.max_iterations = 20000;
    options.outer.refresh = -1;
    options.outer.kind = outer;
    memset(gamma, 0, (size_t)talus_problem_size(problem) * sizeof *gamma);
    CHECK_OK(talus_solver_create(spec, &solver));
    bool ok = CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    if (!CHECK(ok && info.outcome == TALUS_OUTCOME_CONVERGED))
        printf("    %s: %s after %d sweeps at %.2e\n", spec, talus_outcome_name(info.outcome),
               info.iterations, info.residual.rms / (options.tolerance / relative));
    talus_problem_velocity(problem, gamma, u);
    talus_solver_destroy(solver);
    return info;
}

static TalusSolveInfo solve(const char *spec, TalusProblem *problem, double relative, double *u)
{
    return solve_by(spec, TALUS_OUTER_AUTO, problem, relative, u);
}

static double difference(const double *a, const double *b, int n)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++)
        worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

static double largest(const double *a, int n)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++)
        worst = fmax(worst, fabs(a[k]));
    return worst;
}

/* ---- the laws ---- */

/* The largest offence of one contact against its law, in m/s: preclik-2009 Eqs. 3 and 5, or 9. */
static double offence(TalusProblem *problem, int i, const double *gamma, const double *gradient)
{
    TalusFrictionModel model = talus_problem_friction(problem, i);
    const double *x = gamma + 3 * i, *g = gradient + 3 * i;
    double d = talus_problem_diagonal(problem, i), mu = talus_problem_mu(problem, i), n = x[0];
    double bound = mu * n, worst = fmax(fmax(-d * n, -g[0]), fmin(d * n, fabs(g[0])));
    if (model.law == TALUS_LAW_FIXED)
        bound = mu * talus_problem_estimate(problem)[i];
    if (model.section == TALUS_SECTION_SQUARE) {
        for (int k = 1; k < 3; k++) {
            worst = fmax(worst, d * (fabs(x[k]) - bound));
            double room = g[k] > 0.0 ? x[k] + bound : bound - x[k];
            worst = fmax(worst, fmin(d * room, fabs(g[k])));
        }
        return worst;
    }
    double t = hypot(x[1], x[2]), slip = hypot(g[1], g[2]);
    worst = fmax(worst, d * (t - bound));
    double out[2] = {slip * x[1] + bound * g[1], slip * x[2] + bound * g[2]};
    double against = bound > 0.0 ? hypot(out[0], out[1]) / bound : 0.0;
    return fmax(worst, fmin(against, bound > 0.0 ? slip : 0.0));
}

static double worst_offence(TalusProblem *problem)
{
    int n = talus_problem_size(problem);
    double *gradient = calloc((size_t)n, sizeof *gradient), worst = 0.0;
    const double *gamma = talus_problem_gamma(problem);
    talus_problem_gradient(problem, gamma, gradient);
    for (int i = 0; i < talus_problem_blocks(problem); i++)
        worst = fmax(worst, offence(problem, i, gamma, gradient));
    free(gradient);
    return worst;
}

/* ---- agreement ---- */

/* All specs end, obey the law and find the velocities of the first. */
static void agree(const TalusProblemDef *def, TalusFrictionModel model, const double *estimate,
                  const char *const *specs)
{
    TalusProblem *problem = create(def, NULL, model);
    int n = talus_problem_size(problem);
    double *first = calloc((size_t)n, sizeof *first), *u = calloc((size_t)n, sizeof *u);
    double scale = 0.0;
    for (int s = 0; specs[s]; s++) {
        if (estimate)
            memcpy(talus_problem_estimate(problem), estimate, (size_t)(n / 3) * sizeof *estimate);
        solve(specs[s], problem, 1e-11, s ? u : first);
        scale = fmax(scale, largest(first, n));
        bool ok = CHECK_NEAR(s ? difference(first, u, n) : 0.0, 0.0, 1e-7 * scale);
        if (model.law != TALUS_LAW_CCP)
            ok &= CHECK_NEAR(worst_offence(problem), 0.0, 1e-8 * scale);
        if (!ok)
            printf("    with %s\n", specs[s]);
    }
    free(first);
    free(u);
    talus_problem_destroy(problem);
}

/* Two solvers find the same velocities; impulses of open contacts may differ in the last digits. */
static void check_same_velocities(const TalusProblemDef *def, TalusFrictionModel model,
                                  const char *one, const char *other)
{
    TalusProblem *problem = create(def, NULL, model);
    int n = talus_problem_size(problem);
    double *u = calloc((size_t)n, sizeof *u), *v = calloc((size_t)n, sizeof *v);
    solve(one, problem, 1e-11, u);
    solve(other, problem, 1e-11, v);
    CHECK_NEAR(difference(u, v, n), 0.0, 1e-7 * largest(u, n));
    free(u);
    free(v);
    talus_problem_destroy(problem);
}

TEST(solvers_of_coulombs_law_agree)
{
    static const char *const specs[] = {"bgs",
                                        "gs-disc",
                                        "nscd",
                                        "bgs:omega=1.2",
                                        "gs-coulomb",
                                        "gs-coulomb:omega=1.5",
                                        "gs-coulomb:metric=trace,order=symmetric,rho=0.9",
                                        NULL};
    for (int k = 0; k < 3; k++) {
        TestProblem p = heap(20 + (uint64_t)k, 0.2 + 0.2 * k, k ? 0.5 : 0.0);
        agree(&p.def, coulomb, NULL, specs);
        check_same_velocities(&p.def, coulomb, "prox", "gs-coulomb:omega=1.5");
        free_test_problem(&p);
    }
}

/* A sphere on the floor, block diag(a, t, t) with a = 1/m + E and t = 7/2 / m, and free velocity v at the contact: it
 * opens if v_n >= 0; else n = -v_n / a, and it sticks with -v_t / t if that is at most mu n, or slides with mu n against
 * the slip. One sweep with omega 1 finds that. */
TEST(one_contact_sticks_slides_and_opens)
{
    static const double compliances[] = {0.0, 0.3},
                        speeds[][2] = {{-0.1, 0.1}, {-0.1, 0.9}, {0.1, 0.5}};
    const double mass = 2.0, radius = 0.1, mu = 0.5, inv = 1.0 / mass;
    const double turn = 2.5 / (mass * radius * radius);
    const TalusSym3 inertia = {turn, turn, turn, 0.0, 0.0, 0.0};
    for (int k = 0; k < 6; k++) {
        const double *v = speeds[k % 3], e = compliances[k / 3];
        const double velocity[6] = {v[1], 0.0, v[0], 0.0, 0.0, 0.0};
        TalusContactDef contact = {.a = 0, .b = -1, .mu = mu, .compliance = e};
        contact.normal = talus_vec3(0.0, 0.0, -1.0);
        contact.arm_a = talus_vec3(0.0, 0.0, -radius);
        TalusProblemDef def = {.body_count = 1,
                               .inv_mass = &inv,
                               .inv_inertia = &inertia,
                               .radius = &radius,
                               .free_velocity = velocity,
                               .contact_count = 1,
                               .contacts = &contact};
        TalusProblem *problem = create(&def, NULL, coulomb);
        TalusSolver *solver = NULL;
        TalusSolveInfo info;
        TalusSolveOptions options = talus_solve_options_default();
        double n = fmax(-v[0], 0.0) / (inv + e), t = fmin(v[1] / (3.5 * inv), mu * n), after[6];
        const double *gamma = talus_problem_gamma(problem);
        options.tolerance = 1e-12;
        REQUIRE_OK(talus_solver_create("gs-coulomb", &solver));
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
        CHECK(info.iterations <= 2);
        CHECK_NEAR(gamma[0], n, 1e-14);
        CHECK_NEAR(hypot(gamma[1], gamma[2]), t, 1e-14);
        CHECK_OK(talus_problem_body_velocity(problem, gamma, after));
        CHECK_NEAR(after[0], v[1] - t * inv, 1e-14); /* friction brakes */
        CHECK_NEAR(after[2], v[0] + n * inv, 1e-14);
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
    }
}

TEST(two_solvers_of_the_pyramid_agree)
{
    static const char *const specs[] = {"bgs-enum", "pgs", "pgs:omega=0.9,rho=0.9",
                                        "gs-coulomb:omega=1.5", NULL};
    for (int k = 0; k < 3; k++) {
        TestProblem p = heap(30 + (uint64_t)k, 0.2 + 0.1 * k, k ? 0.5 : 0.0);
        agree(&p.def, pyramid, NULL, specs);
        free_test_problem(&p);
    }
}

/* Bounds that are given: convex, so any convex solver has the same velocities. */
TEST(boxes_and_cylinders_agree_with_convex_solvers)
{
    static const char *const boxes[] = {"apgd", "pgs", "bgs-enum", NULL};
    static const char *const cylinders[] = {"apgd", "gs-disc", NULL};
    static const char *const cones[] = {"apgd", "bgs", "bgs:order=symmetric,omega=1.3", NULL};
    for (int k = 0; k < 2; k++) {
        TestProblem p = heap(40 + (uint64_t)k, 0.5, k ? 0.5 : 0.0);
        double *estimate = calloc((size_t)p.def.contact_count, sizeof *estimate);
        for (int i = 0; i < p.def.contact_count; i++)
            estimate[i] = 0.002 * (1 + i % 7) / (p.def.inv_mass[0] + 1e-9);
        agree(&p.def, box, estimate, boxes);
        agree(&p.def, cylinder, estimate, cylinders);
        agree(&p.def, ccp, NULL, cones);
        free(estimate);
        free_test_problem(&p);
    }
}

/* preclik-2009, section 3.1: bounds moved within the sweep, or by a loop around solves with given ones. */
TEST(bounds_from_outside_come_to_the_same)
{
    static const struct {
        const char *spec;
        TalusFrictionModel model;
    } cases[] = {{"gs-disc", {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0}},
                 {"pgs", {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}},
                 {"bgs-enum", {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}}};
    TestProblem p = heap(45, 0.3, 0.3);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        TalusProblem *problem = create(&p.def, NULL, cases[c].model);
        int n = talus_problem_size(problem);
        double *u = calloc((size_t)n, sizeof *u), *v = calloc((size_t)n, sizeof *v);
        solve(cases[c].spec, problem, 1e-11, u);
        TalusSolveInfo info = solve_by(cases[c].spec, TALUS_OUTER_TRESCA, problem, 1e-11, v);
        CHECK(info.updates > 2);
        CHECK_NEAR(difference(u, v, n), 0.0, 1e-7 * largest(u, n));
        free(u);
        free(v);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* With op->prisms a Coulomb block has the bounds of its estimate: none here. */
TEST(moving_bounds_are_those_of_the_estimate)
{
    TestProblem p = heap(46, 0.3, 0.3);
    TalusProblem *problem = create(&p.def, NULL, coulomb);
    TalusSweepOptions options = {
        .order = TALUS_ORDER_COLOURED, .local = TALUS_ONE_DISC, .omega = 1.0, .rho = 1.0};
    TalusSweep *sweep = NULL;
    double *gamma = talus_problem_gamma(problem), normal = 0.0, tangential = 0.0;
    REQUIRE_OK(talus_problem_set_prisms(problem, true));
    for (int i = 0; i < problem->op.blocks; i++)
        problem->op.estimate[i] = 0.0;
    REQUIRE_OK(talus_backend_cpu.sweep.prepare(&problem->op, &options, gamma, &sweep));
    talus_backend_cpu.sweep.run(sweep, 3);
    talus_backend_cpu.sweep.get_impulses(sweep, gamma);
    for (int i = 0; i < problem->op.blocks; i++) {
        normal = fmax(normal, gamma[3 * i]);
        tangential = fmax(tangential, fabs(gamma[3 * i + 1]) + fabs(gamma[3 * i + 2]));
    }
    CHECK(normal > 0.0);
    CHECK(tangential == 0.0);
    talus_backend_cpu.sweep.destroy(sweep);
    CHECK_OK(talus_problem_set_prisms(problem, false));
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(an_explicit_matrix_gives_the_same_velocities)
{
    static const struct {
        const char *spec;
        TalusFrictionModel model;
    } cases[] = {{"bgs", {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0}},
                 {"gs-coulomb:omega=1.5", {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0}},
                 {"gs-coulomb", {TALUS_SECTION_POLYGON, TALUS_LAW_COULOMB, 6}},
                 {"nscd:order=forward", {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0}},
                 {"pgs", {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}},
                 {"bgs", {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0}}};
    TestProblem p = heap(50, 0.4, 0.3), dense = make_dense_copy(&p.def);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        TalusProblem *free_form = create(&p.def, NULL, cases[c].model);
        TalusProblem *matrix = create(&dense.def, NULL, cases[c].model);
        int n = talus_problem_size(free_form);
        double *u = calloc((size_t)n, sizeof *u), *v = calloc((size_t)n, sizeof *v);
        solve(cases[c].spec, free_form, 1e-11, u);
        solve(cases[c].spec, matrix, 1e-11, v);
        talus_problem_gradient(free_form, talus_problem_gamma(free_form),
                               u); /* E is in the matrix */
        CHECK_NEAR(difference(u, v, n), 0.0, 1e-7 * largest(u, n));
        free(u);
        free(v);
        talus_problem_destroy(free_form);
        talus_problem_destroy(matrix);
    }
    free_test_problem(&dense);
    free_test_problem(&p);
}

/* ---- orders and threads ---- */

static void check_orders(const char *solver)
{
    static const char *const orders[] = {"forward", "symmetric", "random,seed=7", "coloured"};
    TestProblem p = heap(60, 0.3, 0.2), dense = make_dense_copy(&p.def);
    TalusPool *pools[3] = {NULL, NULL, NULL};
    for (int t = 0; t < 3; t++)
        CHECK_OK(talus_pool_create(t + 1, &pools[t]));
    double *first = NULL, *u = NULL, *one = NULL;
    for (int o = 0; o < 4; o++)
        for (int t = 0; t < 6; t++) {
            char spec[64];
            const TalusProblemDef *def = t < 3 ? &p.def : &dense.def;
            TalusProblem *problem = create(def, pools[t % 3], coulomb);
            int n = talus_problem_size(problem);
            first = first ? first : calloc((size_t)n, sizeof *first);
            u = u ? u : calloc((size_t)n, sizeof *u);
            one = one ? one : calloc((size_t)n, sizeof *one);
            snprintf(spec, sizeof spec, "%s:order=%s", solver, orders[o]);
            solve(spec, problem, 1e-11, o + t ? u : first);
            const double *gamma = talus_problem_gamma(problem);
            if (t % 3 == 0)
                memcpy(one, gamma, (size_t)n * sizeof *one);
            CHECK(memcmp(one, gamma, (size_t)n * sizeof *one) == 0);
            if (o + t && t < 3)
                CHECK_NEAR(difference(first, u, n), 0.0, 1e-7 * largest(first, n));
            talus_problem_destroy(problem);
        }
    for (int t = 0; t < 3; t++)
        talus_pool_destroy(pools[t]);
    free(first);
    free(u);
    free(one);
    free_test_problem(&dense);
    free_test_problem(&p);
}

TEST(orders_agree_and_threads_do_not_matter)
{
    check_orders("bgs");
    check_orders("gs-coulomb");
}

/* Enough contacts for several chunks in a colour. */
TEST(many_contacts_have_the_same_bits_for_any_threads)
{
    static const char *const specs[] = {"bgs", "nscd:omega=1.2", "gs-disc:rho=0.9",
                                        "gs-coulomb:omega=1.5"};
    double *one = NULL;
    for (int c = 0; c < 8; c++) {
        HeapOptions many = {
            .seed = 61, .nx = 14, .ny = 14, .nz = 3, .mu = 0.4, .general = c < 4 ? 0.3 : 0.0};
        TestProblem p = make_heap(&many);
        for (int t = 1; t < 4; t++) {
            TalusPool *pool = NULL;
            TalusSolver *solver = NULL;
            TalusSolveInfo info;
            TalusSolveOptions options = talus_solve_options_default();
            options.tolerance = 0.0;
            options.max_iterations = 5;
            CHECK_OK(talus_pool_create(t, &pool));
            TalusProblem *problem = create(&p.def, pool, coulomb);
            size_t bytes = (size_t)talus_problem_size(problem) * sizeof *one;
            CHECK_OK(talus_solver_create(specs[c % 4], &solver));
            CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
            if (t == 1)
                one = memcpy(malloc(bytes), talus_problem_gamma(problem), bytes);
            CHECK(memcmp(one, talus_problem_gamma(problem), bytes) == 0);
            talus_solver_destroy(solver);
            talus_problem_destroy(problem);
            talus_pool_destroy(pool);
        }
        free(one);
        free_test_problem(&p);
    }
}

/* A body with more contacts than colours: its contacts go in sequence or, in gs-coulomb, share its mass. */
TEST(a_heavy_body_is_swept)
{
    static const char *const specs[] = {"bgs", "gs-disc:order=forward", "gs-coulomb", NULL};
    TestProblem p = make_bowl(60, 0.3, 0.05);
    agree(&p.def, coulomb, NULL, specs);
    free_test_problem(&p);
}

TEST(contacts_without_friction)
{
    static const char *const specs[] = {"apgd", "pgs", "gs-disc",    "bgs-enum",
                                        "nscd", "bgs", "gs-coulomb", NULL};
    TestProblem p = heap(70, 0.0, 0.3);
    TalusProblem *problem = NULL;
    REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
    int n = talus_problem_size(problem);
    double *first = calloc((size_t)n, sizeof *first), *u = calloc((size_t)n, sizeof *u);
    for (int s = 0; specs[s]; s++) {
        solve(specs[s], problem, 1e-11, s ? u : first);
        CHECK_NEAR(s ? difference(first, u, n) : 0.0, 0.0, 1e-7 * largest(first, n));
    }
    free(first);
    free(u);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- warm start, refusals ---- */

TEST(a_solution_is_kept)
{
    TestProblem p = heap(80, 0.4, 0.5);
    TalusProblem *problem = create(&p.def, NULL, coulomb);
    int n = talus_problem_size(problem);
    double *u = calloc((size_t)n, sizeof *u);
    TalusSolveInfo info = solve("nscd", problem, 1e-11, u);
    CHECK(info.iterations > 10);
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = 1e-9 * start_residual(problem);
    CHECK_OK(talus_solver_create("bgs", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.outcome, TALUS_OUTCOME_CONVERGED);
    CHECK(info.iterations <= 2);
    talus_solver_destroy(solver);
    free(u);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(other_laws_are_refused)
{
    static const struct {
        const char *spec;
        TalusFrictionModel model;
        bool takes;
    } cases[] = {{"pgs", {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0}, false},
                 {"pgs", {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0}, false},
                 {"pgs", {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0}, false},
                 {"pgs", {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0}, true},
                 {"bgs-enum", {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0}, true},
                 {"bgs-enum", {TALUS_SECTION_POLYGON, TALUS_LAW_COULOMB, 6}, false},
                 {"gs-disc", {TALUS_SECTION_DISC, TALUS_LAW_FIXED, 0}, true},
                 {"gs-disc", {TALUS_SECTION_SQUARE, TALUS_LAW_FIXED, 0}, false},
                 {"nscd", {TALUS_SECTION_DISC, TALUS_LAW_FIXED, 0}, false},
                 {"bgs", {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0}, true},
                 {"bgs", {TALUS_SECTION_DISC, TALUS_LAW_FIXED, 0}, false},
                 {"gs-coulomb", {TALUS_SECTION_POLYGON, TALUS_LAW_COULOMB, 6}, true},
                 {"gs-coulomb", {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0}, true}};
    TestProblem p = heap(90, 0.4, 0.0);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        TalusProblem *problem = create(&p.def, NULL, cases[c].model);
        TalusSolver *solver = NULL;
        CHECK_OK(talus_solver_create(cases[c].spec, &solver));
        bool takes = talus_solver_supports(solver, problem) == TALUS_OK;
        if (!CHECK(takes == cases[c].takes))
            printf("    %s, case %zu\n", cases[c].spec, c);
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

int main(void)
{
    RUN(solvers_of_coulombs_law_agree);
    RUN(one_contact_sticks_slides_and_opens);
    RUN(two_solvers_of_the_pyramid_agree);
    RUN(boxes_and_cylinders_agree_with_convex_solvers);
    RUN(bounds_from_outside_come_to_the_same);
    RUN(moving_bounds_are_those_of_the_estimate);
    RUN(an_explicit_matrix_gives_the_same_velocities);
    RUN(orders_agree_and_threads_do_not_matter);
    RUN(many_contacts_have_the_same_bits_for_any_threads);
    RUN(a_heavy_body_is_swept);
    RUN(contacts_without_friction);
    RUN(a_solution_is_kept);
    RUN(other_laws_are_refused);
    return talus_test_result();
}
