/* ipm-hsd: against ipm-soc on discs and ipm-chol on polygons, real problems, certificates of infeasibility against the
 * verifier, MOSEK's rule, threads, what is refused, faults. */
#include "solver_specs.h"

#include "base/memory.h"

#include <talus/talus.h>

#include <unistd.h>

static const TalusFrictionModel disc = {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0};
static const TalusFrictionModel triangle = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3};
static const TalusFrictionModel hexagon = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 6};
static const TalusFrictionModel square = {TALUS_SECTION_SQUARE, TALUS_LAW_CCP, 0};

static TalusProblem *open_problem(const TestProblem *p, TalusFrictionModel model)
{
    TalusProblem *problem = create(&p->def, NULL);
    CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

/* ---- solutions ---- */

static double objective(TalusProblem *problem)
{
    TalusMetrics m = {0};
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    return m.objective;
}

/* Contact velocities of the problem's gamma; the caller frees them. */
static double *velocities(TalusProblem *problem)
{
    double *u = calloc((size_t)talus_problem_size(problem) + 1, sizeof *u);
    talus_problem_apply(problem, talus_problem_gamma(problem), u);
    return u;
}

/* Both converge to `share` of the residual of zero impulses, to one objective and the same velocities; ours within
 * `iterations`. */
static void compare(TalusProblem *problem, const char *name, const char *spec, const char *other,
                    double share, int iterations)
{
    int n = talus_problem_size(problem);
    double tolerance = share * start_residual(problem);
    TalusSolveInfo theirs = solve_cold(other, problem, tolerance, 2000);
    double expected = objective(problem), *u = velocities(problem), speed = 0.0;
    TalusSolveInfo ours = solve_cold(spec, problem, tolerance, iterations);
    double *v = velocities(problem);
    for (int k = 0; k < n; k++)
        speed = fmax(speed, fabs(u[k]));
    bool ok = CHECK_STR(talus_outcome_name(theirs.outcome), "converged");
    ok &= CHECK_STR(talus_outcome_name(ours.outcome), "converged");
    ok &= CHECK_NEAR(objective(problem), expected, 1e-9 * fabs(expected));
    ok &= CHECK(largest_difference(u, v, n) <= 1e-6 * speed);
    ok &= CHECK(ours.factorisations > 0 && ours.factorisations <= ours.iterations + 3);
    if (!ok)
        printf("    %s on %s: %.1e after %d iterations, velocities off by %.1e of %.1e\n", spec,
               name, ours.residual.rms, ours.iterations, largest_difference(u, v, n), speed);
    free(u);
    free(v);
}

static void compare_all(TestProblem p)
{
    const struct {
        TalusFrictionModel model;
        const char *spec, *other;
    } cases[] = {{disc, "ipm-hsd", "ipm-soc"},
                 {disc, "ipm-hsd:linear=ldl", "prox"},
                 {triangle, "ipm-hsd", "ipm-chol"},
                 {triangle, "ipm-hsd:linear=ldl", "ipm-aug"},
                 {hexagon, "ipm-hsd", "ipm-chol"},
                 {square, "ipm-hsd:linear=ldl", "ipm-chol"},
                 {{.section = TALUS_SECTION_NONE}, "ipm-hsd", "ipm-soc"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        TalusProblem *problem = open_problem(&p, cases[k].model);
        compare(problem, p.name, cases[k].spec, cases[k].other, 1e-10, 40);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

TEST(agrees_on_heaps_and_matrices)
{
    for (int i = 0; i < 4; i++)
        compare_all(make_heap(&(HeapOptions){.seed = 51,
                                             .nx = 4,
                                             .ny = 3,
                                             .nz = 3,
                                             .mu = 0.4,
                                             .compliance = i & 1 ? 0.02 : 0.0,
                                             .general = i & 2 ? 0.4 : 0.0}));
    TestProblem heap = make_heap(&(HeapOptions){.seed = 52, .nx = 3, .ny = 3, .nz = 3, .mu = 0.3});
    compare_all(make_dense_copy(&heap.def));
    free_test_problem(&heap);
    compare_all(make_explicit(53, 40, 3)); /* every seventh block has mu = 0 */
}

/* Impulses that are far larger than the start, and impulses that are not unique. */
TEST(agrees_where_masses_differ_and_rank_is_missing)
{
    compare_all(make_column(20, 1e4, 0.5));
    compare_all(make_bowl(12, 0.6, 0.0));
}

/* A bed of spheres, a step of a world: a few iterations more than ipm-soc takes, without the polish. */
TEST(takes_few_iterations_on_a_bed)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 54, .nx = 7, .ny = 7, .nz = 7, .mu = 0.3});
    const TalusFrictionModel models[] = {disc, triangle};
    for (int k = 0; k < 2; k++) {
        TalusProblem *problem = open_problem(&p, models[k]);
        double tolerance = 1e-6 * start_residual(problem);
        TalusSolveInfo info = solve_cold("ipm-hsd:polish=off", problem, tolerance, 100);
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        if (!CHECK(info.iterations <= 28 && info.factorisations < info.iterations))
            printf("    %d iterations\n", info.iterations);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* The start is the same whatever is given, unless that is a solution. */
TEST(a_solution_is_returned)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 55, .nx = 3, .ny = 3, .nz = 2, .mu = 0.3});
    TalusProblem *problem = open_problem(&p, disc);
    TalusSolveOptions options = budget(1e-9 * start_residual(problem), 60);
    TalusSolver *solver = solver_of("ipm-hsd");
    TalusSolveInfo info;
    solve_cold("ipm-hsd", problem, 0.1 * options.tolerance, 60);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED && info.iterations == 1);
    CHECK_INT(info.factorisations, 0);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* By shifts around convex solves. */
TEST(reaches_coulombs_law)
{
    const TalusFrictionModel laws[] = {{TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0},
                                       {TALUS_SECTION_POLYGON, TALUS_LAW_COULOMB, 6}};
    TestProblem p = make_heap(&(HeapOptions){.seed = 56, .nx = 3, .ny = 3, .nz = 2, .mu = 0.2});
    for (int k = 0; k < 2; k++) {
        TalusProblem *problem = open_problem(&p, laws[k]);
        double tolerance = 1e-6 * start_residual(problem);
        TalusSolveInfo info = solve_cold("ipm-hsd", problem, tolerance, 2000);
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        CHECK(info.updates > 1);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* MOSEK's rule ends the solve by itself: with a tolerance that is out of reach, well before the budget. */
TEST(ends_by_the_rule_of_mosek)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 57, .nx = 5, .ny = 5, .nz = 5, .mu = 0.3});
    const TalusFrictionModel models[] = {disc, triangle};
    for (int k = 0; k < 2; k++) {
        TalusProblem *problem = open_problem(&p, models[k]);
        double zero = start_residual(problem);
        solve_cold("ipm-hsd", problem, 1e-10 * zero, 100);
        double best = objective(problem);
        TalusSolveInfo info = solve_cold("ipm-hsd:stop=mosek", problem, 0.0, 500);
        CHECK_STR(talus_outcome_name(info.outcome), "budget");
        CHECK(info.iterations >= 5 && info.iterations <= 30);
        CHECK(info.residual.rms <= 1e-3 * zero && info.residual.rms > 1e-9 * zero);
        CHECK_NEAR(objective(problem), best, 1e-8 * fmax(1.0, fabs(best)));
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* ---- problems without a solution ---- */

/* The verifier takes the certificate for a proof. */
static bool certificate_holds(const TalusProblemDef *def, const double *delta)
{
    int n = verify_size(def);
    double *scaled = calloc((size_t)n + 1, sizeof *scaled);
    VerifyPoint point = verify_def_point(def, delta);
    double scale = verify_certificate_scale(&point);
    verify_point_free(&point);
    for (int k = 0; k < n; k++)
        scaled[k] = scale * delta[k];
    point = verify_def_point(def, scaled);
    bool proof = verify_certificate_check(&point).proof;
    verify_point_free(&point);
    free(scaled);
    return proof;
}

static void check_infeasible(const TestProblem *p, TalusFrictionModel model, const char *name)
{
    TalusProblem *problem = open_problem(p, model);
    TalusProblemDef def;
    CHECK_OK(talus_problem_export(problem, &def));
    TalusSolveInfo info = solve_cold("ipm-hsd", problem, 1e-10, 200);
    const double *delta = talus_problem_certificate(problem);
    bool ok = CHECK_STR(talus_outcome_name(info.outcome), "infeasible");
    ok &= CHECK(delta && certificate_holds(&def, delta));
    ok &= CHECK(info.iterations <= 25);
    if (!ok)
        printf("    %s, %s: after %d\n", name, talus_section_name(model.section), info.iterations);
    talus_problem_destroy(problem);
}

/* A wedged row of spheres, alone and beside a bed: tau vanishes, and x is the certificate. */
TEST(proves_infeasibility)
{
    const TalusFrictionModel models[] = {disc, triangle, square};
    TestProblem bed = make_heap(&(HeapOptions){.seed = 58, .nx = 3, .ny = 3, .nz = 2, .mu = 0.4});
    for (int k = 0; k < 6; k++) {
        TestProblem wedge = make_wedge(k % 2 ? 0.4 : 0.0, 4);
        TestProblem both = make_union(&bed.def, &wedge.def);
        TestProblem matrix = make_dense_copy(&both.def);
        check_infeasible(&wedge, models[k / 2], "wedge");
        check_infeasible(&both, models[k / 2], "wedge and bed");
        check_infeasible(&matrix, models[k / 2], "matrix of both");
        free_test_problem(&matrix);
        free_test_problem(&both);
        free_test_problem(&wedge);
    }
    free_test_problem(&bed);
}

/* ---- the same bits ---- */

/* Impulses on so many threads. */
static double *solved_on(const TestProblem *p, TalusFrictionModel model, int threads)
{
    TalusPool *pool = NULL;
    TalusProblem *problem = NULL;
    CHECK_OK(talus_pool_create(threads, &pool));
    CHECK_OK(talus_problem_create(&p->def, pool, &problem));
    CHECK_OK(talus_problem_set_friction(problem, model));
    size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
    double *gamma = malloc(bytes + 1);
    solve_cold("ipm-hsd", problem, 1e-9 * start_residual(problem), 60);
    memcpy(gamma, talus_problem_gamma(problem), bytes);
    talus_problem_destroy(problem);
    talus_pool_destroy(pool);
    return gamma;
}

TEST(one_and_two_threads_give_the_same_bits)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 59, .nx = 8, .ny = 8, .nz = 6, .mu = 0.3});
    const TalusFrictionModel models[] = {disc, triangle};
    for (int k = 0; k < 2; k++) {
        double *one = solved_on(&p, models[k], 1), *two = solved_on(&p, models[k], 2);
        CHECK(memcmp(one, two, (size_t)verify_size(&p.def) * sizeof *one) == 0);
        free(one);
        free(two);
    }
    free_test_problem(&p);
}

/* ---- what is refused, faults ---- */

TEST(discs_beside_polygons_are_refused)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 60, .nx = 2, .ny = 2, .nz = 2, .mu = 0.4});
    ((TalusContactDef *)p.def.contacts)[1].model = triangle;
    TalusProblem *problem = create(&p.def, NULL);
    TalusSolver *solver = solver_of("ipm-hsd");
    TalusSolveOptions options = budget(1e-8, 50);
    TalusSolveInfo info;
    CHECK_INT(talus_solver_solve(solver, problem, &options, &info), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "contact 0: its friction cone is circular"));
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Zero impulses solve a problem without offsets. */
TEST(offsets_of_zero)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 61, .nx = 2, .ny = 2, .nz = 2, .mu = 0.4});
    TestProblem matrix = make_dense_copy(&p.def);
    memset((double *)matrix.def.offset, 0, (size_t)verify_size(&matrix.def) * sizeof(double));
    TalusProblem *problem = open_problem(&matrix, disc);
    TalusSolver *solver = solver_of("ipm-hsd");
    TalusSolveOptions options = budget(1e-12, 60);
    TalusSolveInfo info;
    talus_problem_gamma(problem)[0] = 1.0;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&matrix);
    free_test_problem(&p);
}

TEST(survives_failed_allocations)
{
    const TalusFrictionModel models[] = {disc, triangle};
    TestProblem p = make_heap(&(HeapOptions){.seed = 62, .nx = 2, .ny = 2, .nz = 1, .mu = 0.4});
    for (int i = 0; i < 2; i++) {
        TalusProblem *problem = open_problem(&p, models[i]);
        TalusSolveOptions options = budget(1e-9 * start_residual(problem), 60);
        TalusSolveInfo info;
        TalusStatus status = TALUS_ERR_MEMORY;
        int n = 1;
        for (; status != TALUS_OK && n < 400; n++) {
            TalusSolver *solver = solver_of("ipm-hsd:linear=ldl");
            set_gamma(problem, NULL);
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
        CHECK(n > 20 && n < 400);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* ---- the real problems ---- */

static void check_real(const char *folder, const char *name)
{
    const TalusFrictionModel models[] = {disc, triangle};
    char path[1024];
    snprintf(path, sizeof path, "%s/problems/problems/%s.hdf5", folder, name);
    for (int k = 0; k < 2; k++) {
        TalusFclib *f = NULL;
        TalusProblem *problem = NULL;
        REQUIRE_OK(talus_fclib_read(path, &f));
        REQUIRE_OK(talus_fclib_problem(f, &models[k], NULL, &problem));
        compare(problem, name, "ipm-hsd", k ? "ipm-chol" : "ipm-soc", 1e-8, 60);
        talus_problem_destroy(problem);
        talus_fclib_destroy(f);
    }
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
    RUN(agrees_on_heaps_and_matrices);
    RUN(agrees_where_masses_differ_and_rank_is_missing);
    RUN(takes_few_iterations_on_a_bed);
    RUN(a_solution_is_returned);
    RUN(reaches_coulombs_law);
    RUN(ends_by_the_rule_of_mosek);
    RUN(proves_infeasibility);
    RUN(one_and_two_threads_give_the_same_bits);
    RUN(discs_beside_polygons_are_refused);
    RUN(offsets_of_zero);
    RUN(survives_failed_allocations);
    RUN(real_problems);
    return talus_test_result();
}
