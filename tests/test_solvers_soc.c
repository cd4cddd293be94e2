/* ipm-soc: the algebra of one cone against its definitions, also for points near the mantle; both forms of the
 * linear systems by every factorisation of the build; half lines among cones; what it ends at without polish;
 * Coulomb's law by shifts; what it refuses. */
#include "solver_specs.h"

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/direct.h"
#include "solvers/ipm/ipm_soc_cone.h"

/* ---- one cone ---- */

enum { DRAWS = 400 };

/* Between -1 and 1. */
static double draw(TalusRng *rng)
{
    return 2.0 * talus_rng_uniform(rng) - 1.0;
}

/* A point of the cone as near to the mantle as `margin`, of any size and direction. */
static void draw_inside(TalusRng *rng, double margin, double x[3])
{
    double angle[2] = {draw(rng), draw(rng)};
    double length = sqrt(angle[0] * angle[0] + angle[1] * angle[1]);
    double size = ldexp((0.75 + 0.25 * draw(rng)), (int)talus_rng_below(rng, 60) - 30);
    double t = size * (1.0 - margin);
    x[0] = size;
    x[1] = t * angle[0] / length;
    x[2] = t * angle[1] / length;
}

static double size_of(const double x[3])
{
    return sqrt(talus_soc_dot(x, x));
}

static double apart(const double a[3], const double b[3])
{
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return size_of(d);
}

/* W x = W^-1 z = l up to what x and z within `margin` of the mantle leave: det is known to eps / margin. */
static void check_pair(TalusRng *rng, double margin)
{
    TalusSocBlock k = {.kind = TALUS_SOC_CONE, .mu = 1.0};
    double x[3], z[3], wx[3], wz[3], back[3], product[3], square[3];
    double tolerance = 1e-14 / margin;
    draw_inside(rng, margin, x);
    draw_inside(rng, margin, z);
    if (!CHECK(talus_soc_set_scaling(&k, x, z)))
        return;
    talus_soc_apply_scaling(&k, x, wx);
    talus_soc_apply_inverse_scaling(&k, z, wz);
    CHECK(apart(wx, k.lambda) <= tolerance * size_of(k.lambda));
    CHECK(apart(wz, k.lambda) <= tolerance * size_of(k.lambda));
    talus_soc_apply_inverse_scaling(&k, wx, back);
    CHECK(apart(back, x) <= tolerance * size_of(x));
    talus_soc_jordan_product(&k, k.lambda, k.lambda, square);
    talus_soc_divide_by_lambda(&k, square, product);
    CHECK(apart(product, k.lambda) <= tolerance * size_of(k.lambda));
    CHECK_NEAR(square[0], talus_soc_dot(x, z), tolerance * square[0]);
}

TEST(scaling_takes_both_points_to_one)
{
    TalusRng rng = talus_rng_from_seed(7);
    for (int i = 0; i < DRAWS; i++) {
        check_pair(&rng, 0.5);
        check_pair(&rng, 1e-3);
        check_pair(&rng, 1e-8);
    }
}

/* The step to the mantle ends on it, and a ray's at zero. */
TEST(steps_end_on_the_mantle)
{
    TalusRng rng = talus_rng_from_seed(8);
    for (int i = 0; i < DRAWS; i++) {
        TalusSocBlock k = {.kind = TALUS_SOC_CONE};
        double d[3], end[3];
        draw_inside(&rng, 0.3, k.lambda);
        for (int r = 0; r < 3; r++)
            d[r] = draw(&rng) * k.lambda[0];
        double a = talus_soc_longest_step(&k, d);
        if (!isfinite(a)) {
            CHECK(d[0] >= sqrt(d[1] * d[1] + d[2] * d[2]));
            continue;
        }
        for (int r = 0; r < 3; r++)
            end[r] = k.lambda[r] + a * d[r];
        CHECK_NEAR(talus_soc_det(end), 0.0, 1e-12 * talus_soc_dot(end, end));
        for (int r = 0; r < 3; r++)
            end[r] = k.lambda[r] + 0.999 * a * d[r];
        CHECK(talus_soc_is_inside(&k, end));
    }
    TalusSocBlock ray = {.kind = TALUS_SOC_RAY, .lambda = {2.0}};
    CHECK_NEAR(talus_soc_longest_step(&ray, (double[3]){-4.0, 0.0, 0.0}), 0.5, 0.0);
    CHECK(isinf(talus_soc_longest_step(&ray, (double[3]){1.0, 0.0, 0.0})));
}

/* ---- solves ---- */

static double *velocity(const TestProblem *p, TalusProblem *problem)
{
    double *u = calloc((size_t)verify_size(&p->def), sizeof *u);
    verify_velocity(&p->def, talus_problem_gamma(problem), u);
    return u;
}

static double largest_offset(const TestProblem *p)
{
    int n = verify_size(&p->def);
    double *q = calloc((size_t)n, sizeof *q), most = 0.0;
    verify_velocity(&p->def, NULL, q);
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(q[k]));
    free(q);
    return most;
}

/* Solved to 1e-10 of zero impulses in at most 40 iterations, by the verifier's figure; its velocities. */
static double *check_solve(const TestProblem *p, const char *spec)
{
    TalusProblem *problem = create(&p->def, NULL);
    double zero = start_residual(problem);
    TalusSolveInfo info = solve_cold(spec, problem, 1e-10 * zero, 40);
    bool ok = CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    ok &= CHECK(verify_residual(&p->def, talus_problem_gamma(problem)).rms <= 1.0001e-10 * zero);
    ok &= CHECK(verify_outside(&p->def, talus_problem_gamma(problem)) <= 1e-15);
    ok &= CHECK(info.factorisations > 0 && info.factorisations <= info.iterations + 3);
    ok &= CHECK(info.products <= 9 * info.iterations); /* the factor is that of the matrix */
    blame(ok, p->name, spec);
    double *u = velocity(p, problem);
    talus_problem_destroy(problem);
    return u;
}

static void check_forms(TestProblem *p)
{
    const char *const specs[] = {"ipm-soc:linear=ldl",     "ipm-soc:linear=ldl,form=contacts",
                                 "ipm-soc:linear=mumps",   "ipm-soc:linear=mumps,form=contacts",
                                 "ipm-soc:linear=cholmod", "prox"};
    double *first = NULL;
    for (int s = 0; s < 6; s++) {
        if ((strstr(specs[s], "mumps") && talus_direct_missing(TALUS_DIRECT_MUMPS)) ||
            (strstr(specs[s], "cholmod") && talus_direct_missing(TALUS_DIRECT_CHOLMOD)))
            continue;
        double *u = check_solve(p, specs[s]);
        if (!first) {
            first = u;
            continue;
        }
        double scale = largest_offset(p);
        blame(CHECK_NEAR(largest_difference(u, first, verify_size(&p->def)), 0.0, 1e-8 * scale),
              p->name, specs[s]);
        free(u);
    }
    free(first);
    free_test_problem(p);
}

TEST(both_forms_by_all_factorisations)
{
    TestProblem p = make_heap(&(HeapOptions){31, 4, 3, 3, 0.4, 0.0, 0.3});
    check_forms(&p);
    p = make_heap(&(HeapOptions){32, 3, 3, 3, 0.7, 0.2, 0.0});
    check_forms(&p);
    p = make_heap(&(HeapOptions){33, 4, 3, 3, 0.0, 0.1, 0.5});
    check_forms(&p);
}

/* Three rows per block, every third one without friction, one with hardly any, one with a lot. */
TEST(half_lines_among_cones)
{
    TestProblem heap = make_heap(&(HeapOptions){34, 3, 3, 3, 0.5, 0.0, 0.0});
    TestProblem p = make_dense_copy(&heap.def);
    double *mu = (double *)p.def.mu;
    for (int i = 0; i < p.def.block_count; i += 3)
        mu[i] = 0.0;
    mu[1] = 1e-40;
    mu[2] = 1e-6;
    mu[4] = 1e6;
    double *a = check_solve(&p, "ipm-soc"), *b = check_solve(&p, "prox:rho=0.1");
    CHECK_NEAR(largest_difference(a, b, verify_size(&p.def)), 0.0, 1e-8 * largest_offset(&p));
    free(a);
    free(b);
    free_test_problem(&heap);
    free_test_problem(&p);
}

/* The interior-point method alone, and what the polish adds: one Newton step. */
TEST(polish_finds_the_last_digits)
{
    TestProblem p = make_heap(&(HeapOptions){35, 5, 5, 4, 0.3, 0.0, 0.0});
    TalusProblem *problem = create(&p.def, NULL);
    double zero = start_residual(problem);
    TalusSolveInfo info = solve_cold("ipm-soc:polish=off", problem, 1e-8 * zero, 40);
    int interior = info.iterations;
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    info = solve_cold("ipm-soc:polish=off", problem, 1e-15 * zero, 1000);
    CHECK(info.outcome == TALUS_OUTCOME_BUDGET && info.iterations < 100); /* it knows its end */
    CHECK(info.residual.rms <= 1e-8 * zero);
    info = solve_cold("ipm-soc", problem, 1e-13 * zero, 40);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED && info.iterations <= interior + 4);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Where a solve starts does not matter, unless it starts at the solution. */
TEST(start_does_not_matter)
{
    TestProblem p = make_heap(&(HeapOptions){36, 3, 3, 2, 0.3, 0.0, 0.0});
    TalusProblem *problem = create(&p.def, NULL);
    int n = verify_size(&p.def);
    double *gamma = talus_problem_gamma(problem), *cold = calloc((size_t)n, sizeof *cold);
    double tolerance = 1e-9 * start_residual(problem);
    solve_cold("ipm-soc", problem, tolerance, 40);
    memcpy(cold, gamma, (size_t)n * sizeof *cold);
    for (int warm = 0; warm < 2; warm++) {
        TalusSolver *solver = solver_of("ipm-soc");
        TalusSolveOptions options = budget(tolerance, 40);
        TalusSolveInfo info;
        for (int i = 0; i < n; i += 3)
            gamma[i] += warm ? 0.0 : 1.0;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK(warm ? info.iterations == 1 : info.iterations > 5);
        CHECK_NEAR(largest_difference(gamma, cold, n), 0.0, 0.0);
        talus_solver_destroy(solver);
    }
    free(cold);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* One sliding contact, N = 1, with the solution (2.8, -1.4, 0): a start that misses the cone by a billionth is within the
 * tolerance and is returned, but on the cone. */
TEST(a_start_is_returned_inside_the_cone)
{
    const int32_t start[4] = {0, 3, 6, 9}, column[9] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    const double values[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1.0, 5.0, 0.0}, mu[1] = {0.5};
    const TalusProblemDef def = {.block_count = 1,
                                 .rows = 3,
                                 .row_start = start,
                                 .column = column,
                                 .values = values,
                                 .offset = q,
                                 .mu = mu};
    TalusProblem *problem = create(&def, NULL);
    TalusSolver *solver = solver_of("ipm-soc");
    TalusSolveOptions options = budget(1e-6, 40);
    TalusSolveInfo info;
    double *gamma = talus_problem_gamma(problem);
    gamma[0] = 2.8;
    gamma[1] = -1.4 * (1.0 + 1e-9);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED && info.iterations == 1);
    CHECK(hypot(gamma[1], gamma[2]) <= 0.5 * gamma[0] * (1.0 + 1e-15));
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
}

/* Coulomb's law, by shifts around exact convex solves. */
TEST(coulomb_by_shifts)
{
    TestProblem p = make_heap(&(HeapOptions){37, 3, 3, 3, 0.4, 0.0, 0.0});
    TalusProblem *problem = create(&p.def, NULL);
    const TalusFrictionModel coulomb = {.law = TALUS_LAW_COULOMB};
    CHECK_OK(talus_problem_set_friction(problem, coulomb));
    double zero = start_residual(problem);
    TalusSolveInfo info = solve_cold("ipm-soc", problem, 1e-6 * zero, 2000);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED && info.updates > 1);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

static void check_refusal(TalusProblem *problem, const char *spec, const char *message)
{
    TalusSolver *solver = solver_of(spec);
    TalusSolveOptions options = budget(1e-6, 40);
    TalusSolveInfo info;
    CHECK_INT(talus_solver_solve(solver, problem, &options, &info), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error(), message);
    talus_solver_destroy(solver);
}

TEST(refusals_say_what_would_do)
{
    TestProblem bodies = make_heap(&(HeapOptions){38, 2, 2, 2, 0.4, 0.0, 0.0});
    TestProblem matrix = make_dense_copy(&bodies.def);
    TalusProblem *a = create(&bodies.def, NULL), *b = create(&matrix.def, NULL);
    check_refusal(b, "ipm-soc:form=bodies",
                  "solver ipm-soc: form=bodies needs bodies, this problem is a matrix");
    check_refusal(a, "ipm-soc:form=bodies,linear=cholmod",
                  "solver ipm-soc: form=bodies is indefinite, and cholmod is for positive definite "
                  "matrices; linear=ldl and linear=mumps take it");
    talus_problem_destroy(a);
    talus_problem_destroy(b);
    free_test_problem(&bodies);
    free_test_problem(&matrix);
}

/* A body that does not turn about one of its axes has no inertia to put into the matrix: contacts do without. */
TEST(an_inertia_need_not_exist)
{
    TestProblem p = make_heap(&(HeapOptions){40, 2, 2, 2, 0.4, 0.0, 1.0});
    ((TalusSym3 *)p.def.inv_inertia)[0] = (TalusSym3){3.0, 2.0, 0.0, 0.0, 0.0, 0.0};
    TalusProblem *problem = create(&p.def, NULL);
    TalusSolveInfo info = solve_cold("ipm-soc", problem, 1e-9 * start_residual(problem), 40);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    set_gamma(problem, NULL);
    check_refusal(problem, "ipm-soc:form=bodies",
                  "body 0: its inverse inertia is singular but not zero, so it has no inertia that "
                  "a method with velocities as unknowns could use");
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Memory that runs out anywhere in a solve is a status, and a second try succeeds. */
TEST(every_allocation_may_fail)
{
    TestProblem p = make_heap(&(HeapOptions){39, 2, 2, 2, 0.4, 0.0, 0.0});
    TalusProblem *problem = create(&p.def, NULL);
    TalusSolveOptions options = budget(1e-10 * start_residual(problem), 40);
    TalusStatus status = TALUS_ERR_MEMORY;
    TalusSolver *solver = solver_of("ipm-soc:linear=ldl");
    for (long n = 1; n < 1000 && status == TALUS_ERR_MEMORY; n++) {
        TalusSolveInfo info;
        set_gamma(problem, NULL);
        talus_fail_allocation_in(n);
        status = talus_solver_solve(solver, problem, &options, &info);
        talus_fail_allocation_in(0);
    }
    CHECK_OK(status);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

int main(void)
{
    RUN(scaling_takes_both_points_to_one);
    RUN(steps_end_on_the_mantle);
    RUN(both_forms_by_all_factorisations);
    RUN(half_lines_among_cones);
    RUN(polish_finds_the_last_digits);
    RUN(start_does_not_matter);
    RUN(a_start_is_returned_inside_the_cone);
    RUN(coulomb_by_shifts);
    RUN(refusals_say_what_would_do);
    RUN(an_inertia_need_not_exist);
    RUN(every_allocation_may_fail);
    return talus_test_result();
}
