/* lemke: contacts by hand, heaps and real problems under every law and section it takes, against other methods;
 * ties, rays, refusals, budgets, failed allocations. */
#include "lcp_solves.h"

#include "base/memory.h"
#include "base/rng.h"

#include <string.h>

/* ---- contacts ---- */

static void check_one(const double q[3], double mu, TalusFrictionModel model,
                      const double expected[3])
{
    const double twice[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    TalusProblem *problem = one_contact(twice, q, mu, model);
    converges(problem, "lemke", 1e-13);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(talus_problem_gamma(problem)[k], expected[k], 1e-14);
    talus_problem_destroy(problem);
}

TEST(one_contact_by_hand)
{
    const TalusFrictionModel exact = polygon(TALUS_LAW_COULOMB, 4),
                             cone = polygon(TALUS_LAW_CCP, 4);
    const double fall[3] = {-2.0, 3.0, 4.0}, slow[3] = {-2.0, 0.3, 0.4}, open[3] = {0.1, 3.0, 4.0};
    check_one(fall, 0.5, exact,
              (double[3]){1.0, 0.0, -0.5}); /* the corner against the faster axis */
    check_one(fall, 0.5, exact_square, (double[3]){1.0, -0.5, -0.5});
    check_one(slow, 0.5, exact, (double[3]){1.0, -0.15, -0.2});
    check_one(slow, 0.5, exact_square, (double[3]){1.0, -0.15, -0.2});
    check_one(slow, 0.5, square, (double[3]){1.0, -0.15, -0.2});
    check_one(open, 0.5, exact, (double[3]){0.0, 0.0, 0.0});
    /* the relaxation lifts what slides: two edges of its cone, z = (1/3, 4/3), and one, (2 + 2 mu^2) z = 4 mu - 0.1 */
    check_one(fall, 0.5, cone, (double[3]){5.0 / 3.0, -1.0 / 6.0, -2.0 / 3.0});
    check_one(open, 0.5, cone, (double[3]){0.76, 0.0, -0.38});
}

/* Painleve's rod, at 60 degrees, sliding with so much friction that it pushes the contact together. Closing: it
 * jams, which is the only solution. Opening: there are three, of which the path finds one; zero
 * impulses, another, are taken as they stand. */
TEST(painleve_rod)
{
    const double c = 0.5, s = 0.8660254037844386, mu = 1.5;
    const double w[9] = {1 + 3 * c * c, 3 * s * c, 0, 3 * s * c, 1 + 3 * s * s, 0, 0, 0, 1};
    const double jam[3] = {(0.1 * w[4] + 5.0 * w[1]) / 4.0, -(5.0 * w[0] + 0.1 * w[1]) / 4.0, 0.0};
    const double closing[3] = {-0.1, 5.0, 0.0}, opening[3] = {0.1, 5.0, 0.0};
    TalusProblem *a = one_contact(w, closing, mu, polygon(TALUS_LAW_COULOMB, 4));
    TalusProblem *b = one_contact(w, opening, mu, polygon(TALUS_LAW_COULOMB, 4));
    converges(a, "lemke", 1e-12);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(talus_problem_gamma(a)[k], jam[k], 1e-13);
    CHECK_INT(solve(b, "lemke", 1e-12).iterations, 1);
    CHECK(talus_problem_gamma(b)[0] == 0.0);
    talus_problem_gamma(b)[0] = 1.0;
    converges(b, "lemke", 1e-12);
    talus_problem_destroy(a);
    talus_problem_destroy(b);
}

/* Planted optima without friction; with it, what other methods find. */
TEST(finds_known_optima)
{
    TestProblem known[KNOWN_PROBLEMS];
    int count = 0;
    make_known(known);
    for (int k = 0; k < KNOWN_PROBLEMS; k++) {
        TalusProblem *problem = open_problem(&known[k], (TalusFrictionModel){0});
        if (talus_problem_rows(problem) == 1) {
            int n = talus_problem_size(problem);
            double *u = calloc((size_t)n, sizeof *u), worst = 0.0, size = 0.0;
            converges(problem, "lemke", 1e-11);
            talus_problem_gradient(problem, talus_problem_gamma(problem), u);
            for (int i = 0; i < n; i++) {
                worst = fmax(worst, fabs(u[i] - known[k].gradient[i]));
                size = fmax(size, fabs(u[i]));
            }
            if (!CHECK(worst <= 1e-10 * size))
                printf("    on %s: off by %g\n", known[k].name, worst);
            free(u);
            count++;
        }
        talus_problem_destroy(problem);
        free_test_problem(&known[k]);
    }
    CHECK(count >= 3);
}

TEST(agrees_with_other_methods)
{
    const HeapOptions spheres = {.seed = 3, .nx = 3, .ny = 2, .nz = 2, .mu = 0.4};
    const HeapOptions others = {
        .seed = 4, .nx = 2, .ny = 2, .nz = 3, .mu = 0.3, .compliance = 0.05, .general = 0.5};
    for (int k = 0; k < 2; k++) {
        const HeapOptions *heap = k ? &others : &spheres;
        compare_solvers(heap, "lemke", polygon(TALUS_LAW_CCP, 3), "lbfgs-fb");
        compare_solvers(heap, "lemke", polygon(TALUS_LAW_CCP, 8), "lbfgs-fb");
        compare_solvers(heap, "lemke", square, "lbfgs-fb");
        compare_solvers(heap, "lemke", polygon(TALUS_LAW_COULOMB, 3), "apgd");
        compare_solvers(heap, "lemke", polygon(TALUS_LAW_COULOMB, 6), "apgd");
        compare_solvers(heap, "lemke", exact_square, "pgs");
    }
}

static double objective_of(TalusProblem *problem)
{
    double objective = NAN;
    CHECK_OK(talus_problem_objective(problem, talus_problem_gamma(problem), &objective));
    return objective;
}

/* The relaxation's objective tends to the disc's like 1 / m^2, as the section does. Velocities do so like 1 / m: what
 * slides is held back by a corner, up to pi / m beside its direction. */
TEST(polygons_tend_to_the_disc)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 8, .nx = 2, .ny = 2, .nz = 2, .mu = 0.3});
    for (int k = 0; k < 2; k++) {
        TalusFrictionLaw law = k ? TALUS_LAW_COULOMB : TALUS_LAW_CCP;
        TalusProblem *disc = open_problem(&p, (TalusFrictionModel){TALUS_SECTION_DISC, law, 0});
        TalusProblem *few = open_problem(&p, polygon(law, 6));
        TalusProblem *many = open_problem(&p, polygon(law, 48));
        converges(disc, "prox", 1e-12);
        converges(few, "lemke", 1e-12);
        converges(many, "lemke", 1e-12);
        CHECK(apart(disc, few) < 0.2 && apart(disc, many) < apart(disc, few) / 5.0);
        double off = objective_of(many) - objective_of(disc);
        if (law == TALUS_LAW_CCP)
            CHECK(off > 0.0 && off < (objective_of(few) - objective_of(disc)) / 30.0);
        talus_problem_destroy(disc);
        talus_problem_destroy(few);
        talus_problem_destroy(many);
    }
    free_test_problem(&p);
}

/* ---- degenerate problems ---- */

TEST(solves_repeated_contacts)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 5, .nx = 2, .ny = 2, .nz = 2, .mu = 0.5});
    TalusProblem *once = open_problem(&p, square);
    repeat_contacts(&p);
    const TalusFrictionModel models[4] = {square, exact_square, polygon(TALUS_LAW_CCP, 3),
                                          polygon(TALUS_LAW_COULOMB, 5)};
    for (int k = 0; k < 4; k++) {
        TalusProblem *problem = open_problem(&p, models[k]);
        converges(problem, "lemke", 1e-12);
        memset(talus_problem_gamma(problem), 0,
               (size_t)talus_problem_size(problem) * sizeof(double));
        converges(problem, "lemke:cover=ones", 1e-12);
        talus_problem_destroy(problem);
    }
    converges(once, "lemke", 1e-12);
    talus_problem_destroy(once);
    free_test_problem(&p);
}

TEST(proves_infeasibility)
{
    const TalusFrictionModel models[4] = {square, polygon(TALUS_LAW_CCP, 4), exact_square,
                                          polygon(TALUS_LAW_COULOMB, 3)};
    for (int k = 0; k < 5; k++) {
        TestProblem p = make_wedge(k < 4 ? 0.4 : 0.0, 4);
        TalusProblem *problem = open_problem(&p, models[k % 4]);
        CHECK_STR(talus_outcome_name(solve(problem, "lemke", 1e-10).outcome), "infeasible");
        for (int i = 0; i < talus_problem_size(problem); i++)
            CHECK(isfinite(talus_problem_gamma(problem)[i]));
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* As it falls, no path finds a solution under Coulomb's law, which proves nothing: the outcome is budget. */
TEST(friction_jams)
{
    static const char *const expected[4] = {"infeasible", "infeasible", "budget", "converged"};
    for (int k = 0; k < 4; k++) {
        TalusProblem *problem = make_jam(k < 2 ? TALUS_LAW_CCP : TALUS_LAW_COULOMB, k % 2 == 1);
        CHECK_STR(talus_outcome_name(solve(problem, "lemke", 1e-12).outcome), expected[k]);
        talus_problem_destroy(problem);
    }
}

/* A ball between three walls under Coulomb's law whose first path ends on a ray and a later one on a solution: if
 * that is not accurate enough, there still is one. One in thousands does so. */
TEST(a_ray_proves_nothing_beside_a_solution)
{
    enum { WALLS = 3, ROWS = 3 * WALLS };
    TalusRng rng = talus_rng_from_seed(9865);
    TalusFrictionModel models[WALLS];
    double v[3], d[3][ROWS] = {{0}}, q[ROWS] = {0}, w[ROWS * ROWS] = {0}, mu[WALLS];
    int32_t start[ROWS + 1] = {0}, column[ROWS * ROWS];
    for (int r = 0; r < 3; r++)
        v[r] = 2.0 * talus_rng_uniform(&rng) - 1.0;
    for (int c = 0; c < WALLS; c++) {
        double x = 2.0 * talus_rng_uniform(&rng) - 1.0, y = 2.0 * talus_rng_uniform(&rng) - 1.0;
        double size = sqrt(x * x + y * y);
        d[0][3 * c] = d[1][3 * c + 1] = x / size;
        d[1][3 * c] = y / size;
        d[0][3 * c + 1] = -y / size;
        d[2][3 * c + 2] = 1.0;
        mu[c] = 0.2 + 1.5 * talus_rng_uniform(&rng);
        models[c] = polygon(TALUS_LAW_COULOMB, 4);
    }
    for (int i = 0; i < ROWS; i++) {
        start[i + 1] = ROWS * (i + 1);
        for (int r = 0; r < 3; r++)
            q[i] += d[r][i] * v[r];
        q[i] -= i % 3 == 0 ? 0.3 * talus_rng_uniform(&rng) : 0.0;
        for (int j = 0; j < ROWS; j++) {
            column[ROWS * i + j] = j;
            for (int r = 0; r < 3; r++)
                w[ROWS * i + j] += d[r][i] * d[r][j];
        }
    }
    TalusProblemDef def = {.block_count = WALLS,
                           .rows = 3,
                           .row_start = start,
                           .column = column,
                           .values = w,
                           .offset = q,
                           .mu = mu,
                           .model = models};
    TalusProblem *problem = NULL;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    talus_problem_gamma(problem)[0] = 1.0;
    CHECK_STR(talus_outcome_name(solve(problem, "lemke", 0.0).outcome), "budget");
    converges(problem, "lemke", 1e-9);
    talus_problem_destroy(problem);
}

TEST(takes_what_there_is_of_a_problem)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 6, .nx = 2, .ny = 2, .nz = 2, .mu = 0.5});
    int count = p.def.contact_count;
    p.def.contact_count = 0;
    TalusProblem *problem = open_problem(&p, square);
    converges(problem, "lemke", 1e-12);
    talus_problem_destroy(problem);
    p.def.contact_count = count;
    double *inverse = (double *)p.def.inv_mass;
    inverse[p.def.body_count - 1] = 0.0; /* one of the bodies cannot move */
    ((TalusSym3 *)p.def.inv_inertia)[p.def.body_count - 1] = (TalusSym3){0};
    for (int i = 0; i < 6; i++)
        ((double *)p.def.free_velocity)[6 * (p.def.body_count - 1) + i] = 0.0;
    for (int k = 0; k < 2; k++) {
        problem = open_problem(&p, k ? exact_square : square);
        converges(problem, "lemke", 1e-12);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* ---- what the driver asks of every solver ---- */

TEST(refuses_what_is_too_large)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 6, .nx = 3, .ny = 3, .nz = 3, .mu = 0.5});
    TalusSolveOptions options = talus_solve_options_default();
    for (int k = 0; k < 2; k++) {
        TalusProblem *problem = open_problem(&p, k ? polygon(TALUS_LAW_COULOMB, 4) : square);
        TalusSolver *solver = NULL;
        TalusSolveInfo info;
        size_t before = talus_memory_now();
        REQUIRE_OK(talus_solver_create("lemke:max_unknowns=50", &solver));
        talus_memory_reset_peak();
        CHECK_INT(talus_solver_solve(solver, problem, &options, &info), TALUS_ERR_UNSUPPORTED);
        CHECK(strstr(talus_error(), k ? "Stewart and Trinkle's LCP" : "the dual LCP"));
        CHECK(strstr(talus_error(), "max_unknowns=50") && strstr(talus_error(), "apgd"));
        CHECK(talus_memory_peak() < before + 4096);
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

TEST(keeps_to_the_budget)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 6, .nx = 3, .ny = 3, .nz = 2, .mu = 0.4});
    TalusProblem *problem = open_problem(&p, square);
    TalusSolveInfo info = solve_within(problem, "lemke", 1e-12, 7);
    CHECK_STR(talus_outcome_name(info.outcome), "budget");
    CHECK_INT(info.iterations, 7);
    info = solve(problem, "lemke:refactor=10", 1e-12);
    CHECK(info.iterations > 20 && info.products == info.iterations && info.factorisations > 0);
    CHECK_INT(solve(problem, "lemke", 1e-12).iterations, 1); /* nothing is left to do */
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(survives_failed_allocations)
{
    check_failed_allocations("lemke", exact_square);
}

/* ---- the real problems ---- */

TEST(solves_small_real_problems)
{
    const char *missing = missing_real_problems();
    if (missing)
        SKIP(missing);
    CHECK(solve_real_problems("lemke") >= 7 * 20);
    solve_real_problems("lemke:cover=ones"); /* some take a second path */
}

int main(void)
{
    RUN(one_contact_by_hand);
    RUN(painleve_rod);
    RUN(finds_known_optima);
    RUN(agrees_with_other_methods);
    RUN(polygons_tend_to_the_disc);
    RUN(solves_repeated_contacts);
    RUN(proves_infeasibility);
    RUN(friction_jams);
    RUN(a_ray_proves_nothing_beside_a_solution);
    RUN(takes_what_there_is_of_a_problem);
    RUN(refuses_what_is_too_large);
    RUN(keeps_to_the_budget);
    RUN(survives_failed_allocations);
    RUN(solves_small_real_problems);
    return talus_test_result();
}
