/* continuation: the smoothed map against differences and in the limit, the sign of determinants, agreement with prox
 * on heaps, budgets, warm starts, and allocations that fail. */
#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/fronts.h"
#include "linalg/sparse.h"
#include "solvers/newton/natural_system.h"
#include "solvers/newton/smooth_map.h"

#include <talus/talus.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const TalusFrictionModel exact = {.law = TALUS_LAW_COULOMB};
static TalusRng rng;

static double uniform(void)
{
    return 2.0 * talus_rng_uniform(&rng) - 1.0;
}

/* ---- the smoothed map ---- */

typedef struct Point {
    TalusNaturalBlock block;
    double width, v[6]; /* impulse, then velocity */
} Point;

static Point random_point(int k)
{
    Point p = {.block = {.rows = k % 4 ? 3 : 1,
                         .exact = k % 3 != 0,
                         .mu = k % 5 ? 0.6 : 0.0,
                         .scale = 1.7},
               .width = k % 2 ? 0.3 : 0.02};
    for (int i = 0; i < 6; i++)
        p.v[i] = uniform();
    return p;
}

static void map_at(const Point *p, double f[3], TalusNaturalSlope *slope, double rate[3])
{
    talus_smooth_map(&p->block, p->width, p->v, p->v + 3, f, slope, rate);
}

/* f at p with entry `which` moved by e; entry 6 is the logarithm of the width. */
static void moved(const Point *p, int which, double e, double f[3])
{
    Point q = *p;
    TalusNaturalSlope slope;
    double rate[3];
    if (which < 6)
        q.v[which] += e;
    else
        q.width *= exp(e);
    map_at(&q, f, &slope, rate);
}

static double difference(const Point *p, int which, int row)
{
    double more[3], less[3];
    moved(p, which, 1e-6, more);
    moved(p, which, -1e-6, less);
    return (more[row] - less[row]) / 2e-6;
}

TEST(slopes_agree_with_differences)
{
    rng = talus_rng_from_seed(5);
    for (int k = 0; k < 400; k++) {
        Point p = random_point(k);
        double f[3], rate[3];
        TalusNaturalSlope slope;
        const int rows = p.block.rows;
        map_at(&p, f, &slope, rate);
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < rows; c++) {
                CHECK_NEAR(slope.impulse[r * rows + c], difference(&p, c, r), 1e-5);
                CHECK_NEAR(slope.velocity[r * rows + c], difference(&p, 3 + c, r), 1e-5);
            }
            CHECK_NEAR(rate[r], -difference(&p, 6, r), 1e-5);
        }
    }
}

/* A contact without any motion along it: the slope is that of the limit, not the noise of a quotient. */
TEST(slopes_hold_where_nothing_slides)
{
    const TalusNaturalBlock block = {.rows = 3, .mu = 0.3, .scale = 1.0};
    for (int k = 0; k < 40; k++) {
        double x[3] = {0.7, pow(0.1, k), 0.0}, u[3] = {0.3, 0.0, 0.0}, f[3], rate[3];
        TalusNaturalSlope slope;
        talus_smooth_map(&block, 0.1, x, u, f, &slope, rate);
        CHECK(slope.impulse[8] > 0.0 && slope.impulse[8] < 1.0);
        if (k > 5)
            CHECK_NEAR(slope.impulse[8], slope.impulse[4], 1e-5);
    }
}

/* Without friction the tangential impulse has no part in f, whatever it is: at rest too, where |z_t| has no slope. */
TEST(slopes_hold_without_friction)
{
    const TalusNaturalBlock block = {.rows = 3, .mu = 0.0, .scale = 1.3};
    for (int k = 0; k < 3; k++) {
        double x[3] = {0.7, k == 1 ? 0.4 : 0.0, 0.0}, u[3] = {k == 2 ? -0.3 : 0.3, 0.0, 0.0}, f[3];
        double rate[3];
        TalusNaturalSlope slope;
        talus_smooth_map(&block, 0.1, x, u, f, &slope, rate);
        for (int r = 1; r < 3; r++)
            for (int c = 1; c < 3; c++) {
                CHECK_NEAR(slope.impulse[3 * r + c], r == c ? 1.0 : 0.0, 1e-15);
                CHECK_NEAR(slope.velocity[3 * r + c], 0.0, 1e-15);
            }
    }
}

/* A block that is not a number shows in the sum and in the maximum, wherever it is in the list. */
TEST(largest_residual_keeps_a_nan)
{
    for (int bad = 0; bad < 3; bad++) {
        TalusNaturalBlock block[3];
        TalusNaturalSystem system = {.matrix = {.blocks = 3, .size = 1}, .block = block};
        double x[3] = {1.0, 2.0, 3.0}, u[3] = {0.5, 0.5, 0.5}, sum, largest;
        for (int i = 0; i < 3; i++)
            block[i] = (TalusNaturalBlock){.rows = 1, .scale = 1.0};
        talus_natural_system_measure(&system, x, u, &sum, &largest);
        CHECK_NEAR(largest, 0.5, 1e-15);
        x[bad] = NAN;
        talus_natural_system_measure(&system, x, u, &sum, &largest);
        CHECK(isnan(sum) && isnan(largest));
    }
}

/* The smoothed map differs from the natural one by the width over the scale at most; at a root both impulse and shifted
 * velocity are inside their cones. */
TEST(smoothing_vanishes_with_its_width)
{
    rng = talus_rng_from_seed(6);
    for (int k = 0; k < 400; k++) {
        Point p = random_point(k);
        double f[3], limit[3], rate[3], z[3];
        TalusNaturalSlope slope;
        talus_natural_map(&p.block, p.v, p.v + 3, limit);
        map_at(&p, f, &slope, rate);
        for (int r = 0; r < p.block.rows; r++)
            CHECK(fabs(f[r] - limit[r]) <= 2.0 * p.width / p.block.scale);
        if (p.block.rows == 1 || p.block.mu == 0.0)
            continue;
        for (int r = 0; r < 3; r++)
            z[r] = p.v[r] - f[r];
        CHECK(hypot(z[1], z[2]) < p.block.mu * z[0]);
    }
}

/* ---- the sign of determinants ---- */

enum { SIDE = 60 };

static int dense_sign(double a[SIDE][SIDE])
{
    int sign = 1;
    for (int k = 0; k < SIDE; k++) {
        int best = k;
        for (int i = k + 1; i < SIDE; i++)
            best = fabs(a[i][k]) > fabs(a[best][k]) ? i : best;
        for (int j = 0; j < SIDE && best != k; j++) {
            double swap = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = swap;
        }
        sign *= (best != k) == (a[k][k] < 0.0) ? 1 : -1;
        for (int i = k + 1; i < SIDE; i++)
            for (int j = SIDE - 1; j >= k; j--)
                a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    return sign;
}

/* Matrices A + I of random A in blocks of three rows, by fronts and by dense elimination. */
TEST(signs_of_determinants_are_known)
{
    int found[2] = {0};
    rng = talus_rng_from_seed(9);
    for (int k = 0; k < 50; k++) {
        double a[SIDE][SIDE], value[SIDE * SIDE], left[3 * SIDE] = {0}, own[3 * SIDE] = {0};
        int32_t row[SIDE * SIDE], column[SIDE * SIDE];
        TalusSparse sparse;
        TalusBlockMatrix matrix = {0};
        TalusFronts fronts = {0};
        for (int i = 0; i < SIDE * SIDE; i++) {
            row[i] = i / SIDE;
            column[i] = i % SIDE;
            value[i] = uniform();
            a[i / SIDE][i % SIDE] = value[i] + (i / SIDE == i % SIDE);
        }
        for (int i = 0; i < SIDE; i++)
            left[3 * i + i % 3] = own[3 * i + i % 3] = 1.0;
        REQUIRE_OK(talus_sparse_from_triplets(
            &(TalusTriplets){SIDE, SIDE, SIDE * SIDE, row, column, value}, &sparse, "test"));
        REQUIRE_OK(talus_block_matrix_create(&sparse, 3, &matrix));
        REQUIRE_OK(talus_fronts_analyse(&fronts, &matrix));
        talus_fronts_factor(&fronts, &matrix, left, own);
        CHECK_INT(fronts.sign, dense_sign(a));
        found[fronts.sign > 0]++;
        talus_fronts_clear(&fronts);
        talus_block_matrix_clear(&matrix);
        talus_sparse_clear(&sparse);
    }
    CHECK(found[0] > 5 && found[1] > 5);
}

/* ---- solves ---- */

static TalusProblem *open_heap(const HeapOptions *heap, TalusFrictionModel model)
{
    TestProblem p = make_heap(heap);
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    CHECK_OK(talus_problem_set_friction(problem, model));
    free_test_problem(&p);
    return problem;
}

static TalusSolveInfo solve(TalusProblem *problem, const char *spec, double relative, int most)
{
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {0};
    TalusSolver *solver = NULL;
    TalusMetrics m;
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    options.tolerance = relative * m.natural_at_zero;
    options.max_iterations = most;
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

/* Largest difference of the velocities of two problems' impulses. */
static double apart(TalusProblem *a, TalusProblem *b)
{
    int n = talus_problem_size(a);
    double *u = calloc(2 * (size_t)n, sizeof *u), largest = 0.0;
    talus_problem_velocity(a, talus_problem_gamma(a), u);
    talus_problem_velocity(b, talus_problem_gamma(b), u + n);
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(u[i] - u[n + i]));
    free(u);
    return largest;
}

/* Under the relaxation, whose velocities are unique, and under Coulomb's law at little friction, where they are. */
TEST(finds_the_velocities_of_prox)
{
    for (int k = 0; k < 6; k++) {
        HeapOptions heap = {.seed = (uint64_t)k + 1,
                            .nx = 3,
                            .ny = 3,
                            .nz = 3,
                            .mu = 0.1 * k,
                            .general = k % 3 ? 0.0 : 0.5};
        TalusFrictionModel model = k % 2 ? exact : (TalusFrictionModel){0};
        TalusProblem *a = open_heap(&heap, model), *b = open_heap(&heap, model);
        CHECK_STR(talus_outcome_name(solve(a, "continuation", 1e-11, 1000).outcome), "converged");
        CHECK_STR(talus_outcome_name(solve(b, "prox", 1e-11, 1000).outcome), "converged");
        CHECK(apart(a, b) < 1e-8);
        talus_problem_destroy(a);
        talus_problem_destroy(b);
    }
}

/* Rough heaps of all shapes, hyperstatic, some with several solutions. */
TEST(solves_rough_heaps)
{
    for (int k = 0; k < 12; k++) {
        HeapOptions heap = {.seed = 30 + (uint64_t)k,
                            .nx = 4,
                            .ny = 4,
                            .nz = 4,
                            .mu = 0.6 + 0.05 * k,
                            .general = 0.5 * (k % 3)};
        TalusProblem *problem = open_heap(&heap, exact);
        TalusSolveInfo info = solve(problem, "continuation", 1e-9, 5000);
        if (!CHECK(info.outcome == TALUS_OUTCOME_CONVERGED))
            printf("    heap %d: %d iterations, %g of %g m/s\n", k, info.iterations,
                   info.residual.rms, info.start_residual);
        talus_problem_destroy(problem);
    }
}

/* A sheared bed of 150 spheres (`talus bench rigid`), whose path bends sharply where sliding speeds pass by 0. Points
 * that are not accurate enough there lose the path, and prox takes over: 595 iterations, instead of 446 on the path. */
TEST(follows_sharp_bends)
{
    char path[1024];
    const char *source = getenv("TALUS_SOURCE_DIR");
    if (!source)
        SKIP("TALUS_SOURCE_DIR is not set");
    snprintf(path, sizeof path, "%s/tests/problems/sheared-150.talus", source);
    TalusProblem *problem = NULL;
    REQUIRE_OK(talus_problem_read(path, NULL, &problem));
    memset(talus_problem_gamma(problem), 0, (size_t)talus_problem_size(problem) * sizeof(double));
    TalusSolveInfo info = solve(problem, "continuation", 1e-8, 520);
    if (!CHECK(info.outcome == TALUS_OUTCOME_CONVERGED))
        printf("    %d iterations, %g of %g m/s\n", info.iterations, info.residual.rms,
               info.start_residual);
    talus_problem_destroy(problem);
}

TEST(keeps_to_the_budget_and_takes_a_solution_as_it_is)
{
    HeapOptions heap = {.seed = 6, .nx = 3, .ny = 3, .nz = 3, .mu = 0.4};
    TalusProblem *problem = open_heap(&heap, exact);
    TalusSolveInfo info = solve(problem, "continuation", 1e-13, 7);
    CHECK_STR(talus_outcome_name(info.outcome), "budget");
    CHECK_INT(info.iterations, 7);
    CHECK(info.residual.rms <= info.start_residual);
    CHECK_STR(talus_outcome_name(solve(problem, "continuation", 1e-10, 500).outcome), "converged");
    info = solve(problem, "continuation", 1e-9, 500);
    CHECK_INT(info.iterations, 1);
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    talus_problem_destroy(problem);
}

TEST(survives_failed_allocations)
{
    HeapOptions heap = {.seed = 8, .nx = 2, .ny = 2, .nz = 2, .mu = 0.4};
    TalusProblem *problem = open_heap(&heap, exact);
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    TalusStatus status = TALUS_ERR_MEMORY;
    int n = 1;
    for (; status != TALUS_OK && n < 200; n++) {
        TalusSolver *solver = NULL;
        REQUIRE_OK(talus_solver_create("continuation", &solver));
        talus_fail_allocation_in(n);
        status = talus_solver_solve(solver, problem, &options, &info);
        talus_fail_allocation_in(0);
        if (status != TALUS_OK) { /* the same solver goes on once there is memory */
            CHECK_INT(status, TALUS_ERR_MEMORY);
            CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
            CHECK_STR(talus_outcome_name(info.outcome), "converged");
            memset(talus_problem_gamma(problem), 0,
                   (size_t)talus_problem_size(problem) * sizeof(double));
        }
        talus_solver_destroy(solver);
    }
    CHECK(n > 20 && n < 200);
    talus_problem_destroy(problem);
}

int main(void)
{
    RUN(slopes_agree_with_differences);
    RUN(slopes_hold_where_nothing_slides);
    RUN(slopes_hold_without_friction);
    RUN(largest_residual_keeps_a_nan);
    RUN(smoothing_vanishes_with_its_width);
    RUN(signs_of_determinants_are_known);
    RUN(finds_the_velocities_of_prox);
    RUN(solves_rough_heaps);
    RUN(follows_sharp_bends);
    RUN(keeps_to_the_budget_and_takes_a_solution_as_it_is);
    RUN(survives_failed_allocations);
    return talus_test_result();
}
