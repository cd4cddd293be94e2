/* newton-pang and newton-path: contacts by hand, heaps under every law and section they take against lemke, Pang's
 * method iterate by iterate, degenerate and infeasible problems, warm starts, local minima, refusals, budgets. */
#include "lcp_solves.h"
#include "support/dense.h"

#include "base/rng.h"
#include "solvers/pivot/lcp_newton.h"
#include "solvers/pivot/lemke_lcp.h"

static const char *const both[] = {"newton-pang", "newton-path"};

/* ---- agreement ---- */

TEST(one_contact_by_hand)
{
    const double twice[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    const double fall[3] = {-2.0, 3.0, 4.0}, open[3] = {0.1, 3.0, 4.0};
    const double slide[3] = {1.0, 0.0, -0.5}, lift[3] = {5.0 / 3.0, -1.0 / 6.0, -2.0 / 3.0};
    for (int k = 0; k < 2; k++) {
        TalusProblem *a = one_contact(twice, fall, 0.5, polygon(TALUS_LAW_COULOMB, 4));
        TalusProblem *b = one_contact(twice, fall, 0.5, polygon(TALUS_LAW_CCP, 4));
        TalusProblem *c = one_contact(twice, open, 0.5, polygon(TALUS_LAW_COULOMB, 4));
        converges(a, both[k], 1e-13);
        converges(b, both[k], 1e-13);
        CHECK_INT(solve(c, both[k], 1e-13).iterations, 1); /* zero impulses solve it */
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(talus_problem_gamma(a)[i], slide[i], 1e-13);
            CHECK_NEAR(talus_problem_gamma(b)[i], lift[i], 1e-13);
        }
        talus_problem_destroy(a);
        talus_problem_destroy(b);
        talus_problem_destroy(c);
    }
}

TEST(agree_with_lemke)
{
    const HeapOptions heaps[3] = {
        {.seed = 3, .nx = 3, .ny = 2, .nz = 2, .mu = 0.4},
        {.seed = 4, .nx = 2, .ny = 2, .nz = 3, .mu = 0.3, .compliance = 0.05, .general = 0.5},
        {.seed = 7, .nx = 4, .ny = 4, .nz = 3, .mu = 0.3}};
    for (int k = 0; k < 2; k++)
        for (int h = 0; h < 3; h++) {
            HeapOptions smooth = heaps[h];
            smooth.mu = 0.0;
            compare_solvers(&smooth, both[k], square, "lemke");
            compare_solvers(&heaps[h], both[k], polygon(TALUS_LAW_CCP, 3), "lemke");
            compare_solvers(&heaps[h], both[k], square, "lemke");
            if (h < 2) /* 1,000 unknowns on the third */
                compare_solvers(&heaps[h], both[k], polygon(TALUS_LAW_CCP, 8), "lemke");
        }
}

/* Coulomb's law may have several solutions: newton-pang then finds others than lemke. */
TEST(agree_with_lemke_under_coulomb)
{
    const HeapOptions small = {.seed = 3, .nx = 3, .ny = 2, .nz = 2, .mu = 0.4};
    const HeapOptions larger = {.seed = 7, .nx = 4, .ny = 4, .nz = 3, .mu = 0.3};
    for (int k = 0; k < 2; k++) {
        compare_solvers(&small, both[k], polygon(TALUS_LAW_COULOMB, 3), "lemke");
        compare_solvers(&small, both[k], polygon(TALUS_LAW_COULOMB, 6), "lemke");
        compare_solvers(&small, both[k], exact_square, "lemke");
    }
    compare_solvers(&larger, "newton-path", polygon(TALUS_LAW_COULOMB, 3), "lemke");
    compare_solvers(&larger, "newton-path", exact_square, "lemke");
}

/* ---- Pang's method, written out ---- */

enum { ROWS = 14, STEPS = 12 };

typedef struct Listing {
    double m[ROWS * ROWS], q[ROWS], z[ROWS], w[ROWS];
} Listing;

/* A stack whose rows have diagonal entries from 1/2 to 1, and offsets of which some are 0: tied at the start. The LCP
 * then has no scales. */
static void make_listing(Listing *d, TalusRng *rng)
{
    double g[ROWS][ROWS];
    *d = (Listing){.q = {0}};
    for (int i = 0; i < ROWS; i++) {
        double sum = 0.0;
        for (int k = 0; k < ROWS; k++) {
            g[i][k] = k < 6 ? 2.0 * talus_rng_uniform(rng) - 1.0 : 0.0;
            sum += g[i][k] * g[i][k];
        }
        for (int k = 0; k < ROWS; k++)
            g[i][k] *= sqrt(0.7 / sum);
        d->q[i] = i % 4 == 1 ? 0.0 : i == 0 ? -0.9 : 1.2 * talus_rng_uniform(rng) - 0.6;
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            d->m[i * ROWS + j] = i == j ? 0.1 : 0.0;
            for (int k = 0; k < ROWS; k++)
                d->m[i * ROWS + j] += g[i][k] * g[j][k];
        }
}

static void multiply(const Listing *d, const double *z, double *w)
{
    for (int i = 0; i < ROWS; i++) {
        w[i] = d->q[i];
        for (int j = 0; j < ROWS; j++)
            w[i] += d->m[i * ROWS + j] * z[j];
    }
}

static double theta(const double *z, const double *w)
{
    double sum = 0.0;
    for (int i = 0; i < ROWS; i++)
        sum += 0.5 * fmin(z[i], w[i]) * fmin(z[i], w[i]);
    return sum;
}

/* Solves the rows in `free` for z+, the others 0, with r added to the diagonal; true if all tied pairs are >= 0. */
static bool solve_case(const Listing *d, const bool *free, const bool *tied, double r, double *z)
{
    double a[ROWS * ROWS], x[ROWS];
    int index[ROWS], n = 0;
    bool ok = true;
    for (int i = 0; i < ROWS; i++)
        if (free[i])
            index[n++] = i;
    for (int i = 0; i < n; i++) {
        x[i] = r * d->z[index[i]] - d->q[index[i]];
        for (int j = 0; j < n; j++)
            a[i * ROWS + j] = d->m[index[i] * ROWS + index[j]] + (i == j ? r : 0.0);
    }
    solve_dense(n, a, ROWS, x);
    memset(z, 0, ROWS * sizeof *z);
    for (int i = 0; i < n; i++)
        z[index[i]] = x[i];
    for (int i = 0; i < ROWS; i++) {
        double w = d->q[i] + r * (z[i] - d->z[i]);
        for (int j = 0; j < ROWS; j++)
            w += d->m[i * ROWS + j] * z[j];
        ok &= !tied[i] || (free[i] ? z[i] >= 0.0 : w >= 0.0);
    }
    return ok;
}

/* One step: the mixed LCP by all choices of the tied rows, then Armijo's rule. Returns the number of tied rows. */
static int pang_step(Listing *d, double equal, double r)
{
    bool free[ROWS], tied[ROWS];
    double most = 0.0, target[ROWS], z[ROWS], w[ROWS];
    int count = 0, where[ROWS];
    multiply(d, d->z, d->w);
    for (int i = 0; i < ROWS; i++)
        most = fmax(most, fabs(fmin(d->z[i], d->w[i])));
    for (int i = 0; i < ROWS; i++) {
        tied[i] = fabs(d->z[i] - d->w[i]) <= equal * most;
        free[i] = !tied[i] && d->z[i] > d->w[i];
        if (tied[i])
            where[count++] = i;
    }
    for (unsigned choice = 0; choice < 1u << count; choice++) {
        for (int k = 0; k < count; k++)
            free[where[k]] = choice >> k & 1u;
        if (solve_case(d, free, tied, r, target))
            break;
    }
    for (double t = 1.0; t > 1e-4; t *= 0.5) {
        for (int i = 0; i < ROWS; i++)
            z[i] = d->z[i] + t * (target[i] - d->z[i]);
        multiply(d, z, w);
        if (theta(z, w) <= (1.0 - 2e-4 * t) * theta(d->z, d->w))
            break;
    }
    memcpy(d->z, z, sizeof z);
    multiply(d, d->z, d->w);
    return count;
}

typedef struct Trace {
    int count;
    double x[STEPS][ROWS];
} Trace;

/* Stores the iterate of iteration k + 1 as number k: the first iteration measures the start. */
static bool record(void *user, const TalusObservation *o)
{
    Trace *t = user;
    if (o->iteration >= 1 && o->iteration <= STEPS) {
        memcpy(t->x[o->iteration - 1], o->gamma, ROWS * sizeof(double));
        t->count = o->iteration;
    }
    return true;
}

static void trace_pang(Listing *d, Trace *t)
{
    int32_t start[ROWS + 1], column[ROWS * ROWS];
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    for (int i = 0; i < ROWS * ROWS; i++)
        column[i] = i % ROWS;
    for (int i = 0; i <= ROWS; i++)
        start[i] = i * ROWS;
    TalusProblemDef def = {.block_count = ROWS,
                           .rows = 1,
                           .row_start = start,
                           .column = column,
                           .values = d->m,
                           .offset = d->q};
    options.tolerance = 1e-11;
    options.max_iterations = STEPS;
    options.observer = record;
    options.observer_user = t;
    t->count = 0;
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    CHECK_OK(talus_solver_create("newton-pang:equal=1e-6,regularise=1e-7", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
}

TEST(pang_follows_the_listing)
{
    TalusRng rng = talus_rng_from_seed(31);
    int steps = 0, ties = 0;
    for (int trial = 0; trial < 40; trial++) {
        Listing d;
        Trace t;
        make_listing(&d, &rng);
        trace_pang(&d, &t);
        for (int k = 1; k < t.count; k++, steps++) {
            ties += pang_step(&d, 1e-6, 1e-7);
            for (int i = 0; i < ROWS; i++)
                CHECK_NEAR(t.x[k][i], fmax(d.z[i], 0.0), 1e-10);
        }
    }
    CHECK(steps > 100 && ties > 100);
}

/* ---- degenerate problems ---- */

TEST(solve_repeated_contacts)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 5, .nx = 2, .ny = 2, .nz = 2, .mu = 0.5});
    repeat_contacts(&p);
    const TalusFrictionModel models[4] = {square, exact_square, polygon(TALUS_LAW_CCP, 3),
                                          polygon(TALUS_LAW_COULOMB, 5)};
    for (int m = 0; m < 4; m++)
        for (int k = 0; k < 2; k++) {
            TalusProblem *problem = open_problem(&p, models[m]);
            if (!converges(problem, both[k], 1e-11))
                printf("    %s, model %d\n", both[k], m);
            talus_problem_destroy(problem);
        }
    free_test_problem(&p);
}

/* Five contacts in place of each make the equations singular: without regularisation Pang's method ends where it is,
 * and says that it has not converged. */
TEST(pang_ends_at_singular_equations)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 5, .nx = 2, .ny = 2, .nz = 2, .mu = 0.5});
    repeat_contacts(&p);
    TalusProblem *problem = open_problem(&p, square);
    TalusSolveInfo info = solve(problem, "newton-pang:regularise=0", 1e-11);
    CHECK_STR(talus_outcome_name(info.outcome), "budget");
    CHECK(info.iterations < 100 && info.residual.rms <= info.start_residual);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(prove_infeasibility)
{
    const TalusFrictionModel models[4] = {square, polygon(TALUS_LAW_CCP, 4), exact_square,
                                          polygon(TALUS_LAW_COULOMB, 3)};
    for (int m = 0; m < 5; m++)
        for (int k = 0; k < 2; k++) {
            TestProblem p = make_wedge(m < 4 ? 0.4 : 0.0, 4);
            TalusProblem *problem = open_problem(&p, models[m % 4]);
            TalusSolveInfo info = solve_within(problem, both[k], 1e-10, 5000);
            if (!CHECK_STR(talus_outcome_name(info.outcome), "infeasible"))
                printf("    %s, model %d: after %d, %g\n", both[k], m, info.iterations,
                       info.residual.rms);
            for (int i = 0; i < talus_problem_size(problem); i++)
                CHECK(isfinite(talus_problem_gamma(problem)[i]));
            talus_problem_destroy(problem);
            free_test_problem(&p);
        }
}

/* Under Coulomb's law the outcome of the falling ball is budget; lemke finds no solution either. */
TEST(friction_jams)
{
    static const char *const expected[4] = {"infeasible", "infeasible", "budget", "converged"};
    for (int m = 0; m < 4; m++)
        for (int k = 0; k < 2; k++) {
            TalusProblem *problem = make_jam(m < 2 ? TALUS_LAW_CCP : TALUS_LAW_COULOMB, m % 2 == 1);
            TalusSolveInfo info = solve_within(problem, both[k], 1e-12, 5000);
            if (!CHECK_STR(talus_outcome_name(info.outcome), expected[m]))
                printf("    %s, case %d\n", both[k], m);
            talus_problem_destroy(problem);
        }
}

/* ---- warm starts ---- */

/* The unknowns of solved impulses have these impulses and solve the LCP: corners beside the tangential impulse, slip
 * speeds from velocities. */
TEST(unknowns_of_a_solution_solve_the_lcp)
{
    const TalusFrictionModel models[4] = {square, polygon(TALUS_LAW_CCP, 5), exact_square,
                                          polygon(TALUS_LAW_COULOMB, 3)};
    TestProblem p = make_heap(&(HeapOptions){.seed = 9, .nx = 3, .ny = 3, .nz = 2, .mu = 0.3});
    for (int m = 0; m < 4; m++) {
        TalusProblem *problem = open_problem(&p, models[m]);
        int size = talus_problem_size(problem);
        double *zero = calloc((size_t)size, sizeof *zero), *q = calloc((size_t)size, sizeof *q);
        double *gamma = talus_problem_gamma(problem), *back = calloc((size_t)size, sizeof *back);
        TalusContactLcp c = {0};
        TalusLcpPoint at = {0};
        converges(problem, "lemke", 1e-13);
        double *u = velocity_of(problem);
        talus_problem_velocity(problem, zero, q);
        REQUIRE_OK(talus_contact_lcp_fill(&c, problem, q));
        REQUIRE_OK(talus_lcp_point_reserve(&at, c.lcp.n));
        talus_contact_lcp_get_unknowns(&c, gamma, u, at.z);
        talus_lcp_point_evaluate(&at, &c.lcp);
        CHECK(at.merit < 1e-22);
        talus_contact_lcp_get_impulses(&c, at.z, back);
        for (int i = 0; i < size; i++)
            CHECK_NEAR(back[i], gamma[i], 1e-13);
        talus_lcp_point_clear(&at);
        talus_contact_lcp_clear(&c);
        free(zero);
        free(q);
        free(back);
        free(u);
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

/* From impulses that are a thousandth off, the path is short, with the crash and without it. */
TEST(warm_starts_save_pivots)
{
    static const char *const specs[2] = {"newton-path:crash=0", "newton-path"};
    const TalusFrictionModel models[2] = {polygon(TALUS_LAW_CCP, 4), exact_square};
    TestProblem p = make_heap(&(HeapOptions){.seed = 9, .nx = 3, .ny = 3, .nz = 3, .mu = 0.3});
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 2; k++) {
            TalusRng rng = talus_rng_from_seed(1);
            TalusProblem *problem = open_problem(&p, models[m]);
            TalusSolveInfo cold = solve(problem, specs[k], 1e-11), warm;
            double *gamma = talus_problem_gamma(problem);
            for (int i = 0; i < talus_problem_size(problem); i++)
                gamma[i] *= 1.0 + 1e-3 * (2.0 * talus_rng_uniform(&rng) - 1.0);
            warm = solve(problem, specs[k], 1e-11);
            CHECK_STR(talus_outcome_name(cold.outcome), "converged");
            CHECK_STR(talus_outcome_name(warm.outcome), "converged");
            CHECK(k == 1 ? warm.iterations <= cold.iterations
                         : 3 * warm.iterations < cold.iterations);
            talus_problem_destroy(problem);
        }
    free_test_problem(&p);
}

/* ---- what the driver asks of every solver ---- */

TEST(refuse_what_is_too_large)
{
    static const char *const specs[2] = {"newton-pang:max_unknowns=50",
                                         "newton-path:max_unknowns=50"};
    TestProblem p = make_heap(&(HeapOptions){.seed = 6, .nx = 3, .ny = 3, .nz = 3, .mu = 0.5});
    TalusProblem *problem = open_problem(&p, square);
    TalusSolveOptions options = talus_solve_options_default();
    for (int k = 0; k < 2; k++) {
        TalusSolver *solver = NULL;
        TalusSolveInfo info;
        REQUIRE_OK(talus_solver_create(specs[k], &solver));
        CHECK_INT(talus_solver_solve(solver, problem, &options, &info), TALUS_ERR_UNSUPPORTED);
        CHECK(strstr(talus_error(), both[k]) && strstr(talus_error(), "max_unknowns=50"));
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(keep_to_the_budget)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 6, .nx = 3, .ny = 3, .nz = 2, .mu = 0.4});
    for (int k = 0; k < 2; k++) {
        TalusProblem *problem = open_problem(&p, square);
        TalusSolveInfo info = solve_within(problem, both[k], 1e-12, 3);
        CHECK_STR(talus_outcome_name(info.outcome), "budget");
        CHECK_INT(info.iterations, 3);
        info = solve(problem, both[k], 1e-12);
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        CHECK(info.factorisations > 0 && info.products == info.iterations + 1);
        CHECK_INT(solve(problem, both[k], 1e-12).iterations, 1); /* nothing is left to do */
        talus_problem_destroy(problem);
    }
    free_test_problem(&p);
}

TEST(survive_failed_allocations)
{
    for (int k = 0; k < 2; k++) {
        check_failed_allocations(both[k], polygon(TALUS_LAW_CCP, 3));
        check_failed_allocations(both[k], exact_square);
    }
}

/* newton-pang is not here: under Coulomb's law it may take many steps. */
TEST(path_solves_small_real_problems)
{
    const char *missing = missing_real_problems();
    if (missing)
        SKIP(missing);
    CHECK(solve_real_problems("newton-path") >= 7 * 20);
}

int main(void)
{
    RUN(one_contact_by_hand);
    RUN(agree_with_lemke);
    RUN(agree_with_lemke_under_coulomb);
    RUN(pang_follows_the_listing);
    RUN(solve_repeated_contacts);
    RUN(pang_ends_at_singular_equations);
    RUN(prove_infeasibility);
    RUN(friction_jams);
    RUN(unknowns_of_a_solution_solve_the_lcp);
    RUN(warm_starts_save_pivots);
    RUN(refuse_what_is_too_large);
    RUN(keep_to_the_budget);
    RUN(survive_failed_allocations);
    RUN(path_solves_small_real_problems);
    return talus_test_result();
}
