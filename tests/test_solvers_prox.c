/* prox, and the direct solver under it: fronts against dense elimination, the natural map's slope
 * against differences, one contact by hand, singular matrices, exact Coulomb on random and on real
 * problems, budgets, and allocations that fail. */
#include "support/problems.h"
#include "support/test.h"

#include "base/memory.h"
#include "base/rng.h"
#include "linalg/fronts.h"
#include "linalg/sparse.h"
#include "solvers/newton/natural_map.h"

#include <talus/talus.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 120, PATH = 1024 };

static TalusRng rng;

static double uniform(void)
{
    return 2.0 * talus_rng_uniform(&rng) - 1.0;
}

/* ---- fronts and block matrices ---- */

typedef struct Dense {
    int n;
    double a[MOST][MOST];
} Dense;

/* Blocks in a chain with a few far couplings, some of them in one triangle alone. */
static void fill_dense(int blocks, int size, Dense *d)
{
    d->n = blocks * size;
    memset(d->a, 0, sizeof d->a);
    for (int k = 0; k < 3 * blocks; k++) {
        int i = k % blocks, j = k < blocks       ? i
                                : k < 2 * blocks ? (i + 1) % blocks
                                                 : (int)talus_rng_below(&rng, (uint64_t)blocks);
        for (int r = 0; r < size; r++)
            for (int c = 0; c < size; c++)
                d->a[i * size + r][j * size + c] += uniform();
    }
}

static TalusSparse dense_to_sparse(const Dense *d)
{
    int32_t row[MOST * MOST], column[MOST * MOST];
    double value[MOST * MOST];
    size_t count = 0;
    TalusSparse out;
    for (int i = 0; i < d->n; i++)
        for (int j = 0; j < d->n; j++)
            if (d->a[i][j] != 0.0) {
                row[count] = i;
                column[count] = j;
                value[count++] = d->a[i][j];
            }
    CHECK_OK(talus_sparse_from_triplets(&(TalusTriplets){d->n, d->n, count, row, column, value},
                                        &out, "test"));
    return out;
}

static void random_blocks(double *block, int blocks, int size, double diagonal)
{
    for (int k = 0; k < blocks * size * size; k++)
        block[k] = uniform();
    for (int i = 0; i < blocks; i++)
        for (int r = 0; r < size; r++)
            block[i * size * size + r * (size + 1)] += diagonal;
}

/* |(L A + M) x - b| where x is the solution by fronts. */
static double front_error(const Dense *d, int size, const double *left, const double *own)
{
    TalusSparse sparse = dense_to_sparse(d);
    TalusBlockMatrix matrix;
    TalusFronts fronts = {0};
    double b[MOST], x[MOST], ax[MOST], zero[MOST] = {0}, worst = 0.0;
    CHECK_OK(talus_block_matrix_create(&sparse, size, &matrix));
    CHECK_OK(talus_fronts_analyse(&fronts, &matrix));
    for (int again = 0; again < 2; again++) { /* a second factorisation must not see the first */
        talus_fronts_factor(&fronts, &matrix, left, own);
        for (int i = 0; i < d->n; i++)
            x[i] = b[i] = uniform();
        talus_fronts_solve(&fronts, x);
        talus_block_matrix_apply(&matrix, x, zero, ax);
        for (int i = 0; i < d->n; i++) {
            double sum = 0.0, product = 0.0;
            int block = i / size, r = i % size;
            for (int c = 0; c < size; c++)
                sum += left[(block * size + r) * size + c] * ax[block * size + c] +
                       own[(block * size + r) * size + c] * x[block * size + c];
            for (int j = 0; j < d->n; j++)
                product += d->a[i][j] * x[j];
            worst = fmax(worst, fmax(fabs(sum - b[i]), fabs(product - ax[i])));
        }
    }
    CHECK_INT(fronts.replaced, 0);
    talus_fronts_clear(&fronts);
    talus_block_matrix_clear(&matrix);
    talus_sparse_clear(&sparse);
    return worst;
}

TEST(fronts_agree_with_dense_algebra)
{
    static Dense d;
    static double left[3 * MOST], own[3 * MOST];
    rng = talus_rng_from_seed(1);
    for (int trial = 0; trial < 60; trial++) {
        int size = trial % 2 ? 3 : 1, blocks = 1 + trial % (MOST / 3);
        fill_dense(blocks, size, &d);
        random_blocks(left, blocks, size, 0.0);
        random_blocks(own, blocks, size, 12.0);
        CHECK_NEAR(front_error(&d, size, left, own), 0.0, 1e-10);
    }
}

/* Every front is one block here, and its pivots are off the diagonal. */
TEST(fronts_exchange_rows)
{
    static Dense d;
    double left[2 * 9] = {0}, own[2 * 9] = {0, 1, 0, 1, 0, 0, 0, 0, 2, 0, 0, 1, 1, 0, 0, 0, 1, 0};
    rng = talus_rng_from_seed(2);
    fill_dense(2, 3, &d);
    CHECK_NEAR(front_error(&d, 3, left, own), 0.0, 1e-14);
}

TEST(fronts_replace_vanishing_pivots)
{
    double left[9] = {0}, own[9] = {1, 0, 0, 0, 1, 0, 0, 0, 0}, x[3] = {1, 2, 0};
    Dense d = {.n = 3};
    d.a[0][0] = 1.0;
    TalusSparse sparse = dense_to_sparse(&d);
    TalusBlockMatrix matrix;
    TalusFronts fronts = {0};
    REQUIRE_OK(talus_block_matrix_create(&sparse, 3, &matrix));
    REQUIRE_OK(talus_fronts_analyse(&fronts, &matrix));
    talus_fronts_factor(&fronts, &matrix, left, own);
    talus_fronts_factor(&fronts, &matrix, left, own);
    talus_fronts_solve(&fronts, x);
    CHECK_INT(fronts.replaced, 1);
    CHECK_NEAR(x[0], 1.0, 1e-15);
    CHECK_NEAR(x[1], 2.0, 1e-15);
    CHECK_NEAR(x[2], 0.0, 1e-15);
    talus_fronts_clear(&fronts);
    talus_block_matrix_clear(&matrix);
    talus_sparse_clear(&sparse);
}

/* A tree and lists that hold every coupling: each block is a pivot once, and its neighbours that are
 * eliminated later are in its front. */
TEST(tree_of_fronts_covers_the_pattern)
{
    static Dense d;
    rng = talus_rng_from_seed(3);
    for (int trial = 0; trial < 20; trial++) {
        int blocks = 2 + 5 * trial, pivots = 0;
        int32_t weight[100];
        for (int i = 0; i < blocks; i++)
            weight[i] = 1 + (int32_t)talus_rng_below(&rng, 6);
        fill_dense(blocks, 1, &d);
        TalusSparse sparse = dense_to_sparse(&d);
        TalusBlockMatrix matrix;
        TalusFrontTree tree;
        REQUIRE_OK(talus_block_matrix_create(&sparse, 1, &matrix));
        REQUIRE_OK(talus_front_tree_create(&matrix, trial % 2 ? weight : NULL, &tree));
        for (int k = 0; k < tree.count; k++) {
            pivots += tree.pivots[k];
            CHECK(tree.parent[k] < 0 || tree.parent[k] > k);
        }
        CHECK_INT(pivots, blocks);
        for (int i = 0; i < blocks; i++)
            for (int32_t e = matrix.start[i]; e < matrix.start[i + 1]; e++) {
                int j = matrix.column[e], k = tree.front_of[i];
                bool found = tree.front_of[j] < k;
                CHECK_INT(matrix.column[matrix.mirror[e]], i);
                for (int64_t l = tree.list_start[k]; l < tree.list_start[k + 1]; l++)
                    found = found || tree.list[l] == j;
                CHECK(found);
            }
        talus_front_tree_clear(&tree);
        talus_block_matrix_clear(&matrix);
        talus_sparse_clear(&sparse);
    }
}

/* ---- the natural map ---- */

TEST(slope_agrees_with_differences)
{
    rng = talus_rng_from_seed(4);
    for (int trial = 0; trial < 400; trial++) {
        const double h = 1e-6, mus[4] = {0.0, 0.3, 0.8, 3.0};
        TalusNaturalBlock b = {trial % 5 ? 3 : 1, trial % 2 == 0, mus[trial % 4],
                               1.0 + 0.5 * uniform(), 0};
        if (b.rows == 3 && trial % 7 == 0)
            b = (TalusNaturalBlock){3, false, trial % 3 ? 0.3 : INFINITY, b.scale, 1 + trial % 6};
        double v[6], plus[3], minus[3];
        TalusNaturalJacobian slope;
        for (int k = 0; k < 6; k++)
            v[k] = uniform();
        talus_natural_jacobian(&b, v, v + 3, &slope);
        for (int c = 0; c < 6; c++) {
            double keep = v[c];
            if (c % 3 >= b.rows)
                continue;
            v[c] = keep + h;
            talus_natural_map(&b, v, v + 3, plus);
            v[c] = keep - h;
            talus_natural_map(&b, v, v + 3, minus);
            v[c] = keep;
            const double *column = c < 3 ? slope.by_impulse : slope.by_velocity;
            for (int r = 0; r < b.rows; r++)
                CHECK_NEAR(column[r * b.rows + c % 3], (plus[r] - minus[r]) / (2.0 * h), 1e-6);
        }
    }
}

/* ---- solving ---- */

static TalusSolveInfo solve(TalusProblem *problem, const char *spec, double tolerance,
                            TalusNorm norm)
{
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolver *solver = NULL;
    options.tolerance = tolerance;
    options.norm = norm;
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

static const TalusFrictionModel exact = {.law = TALUS_LAW_COULOMB}, relaxed = {0};

static TalusProblem *open_problem(const TestProblem *p, TalusFrictionModel model)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    if (talus_problem_rows(problem) == 3)
        CHECK_OK(talus_problem_set_friction(problem, model));
    return problem;
}

/* Coulomb's law read off u and gamma, block by block, in m/s: no gap is closed further, what opens does
 * not push, what slides is held back by mu times the normal impulse, along its velocity. */
static double law_error(TalusProblem *problem)
{
    int blocks = talus_problem_blocks(problem);
    const double *gamma = talus_problem_gamma(problem);
    double *u = calloc((size_t)(3 * blocks), sizeof *u), worst = 0.0;
    talus_problem_gradient(problem, gamma, u);
    for (int i = 0; i < blocks; i++) {
        const double *g = gamma + 3 * i, *v = u + 3 * i;
        double d = talus_problem_diagonal(problem, i), mu = talus_problem_mu(problem, i);
        double t = hypot(g[1], g[2]), speed = hypot(v[1], v[2]), size = d * mu * g[0];
        double work = g[1] * v[1] + g[2] * v[2];
        worst = fmax(worst, fmax(-v[0], -d * g[0]));
        worst = fmax(worst, fmin(v[0], d * g[0]));
        worst = fmax(worst, d * (t - mu * g[0]));
        worst = fmax(worst, fmin(speed, size) > 0.0 ? fmin(size, speed + d * work / size) : 0.0);
    }
    free(u);
    return worst;
}

/* W = 2 I and q by hand. */
static void check_one(const double q[3], double mu, const double expected[3])
{
    const int32_t start[4] = {0, 1, 2, 3}, column[3] = {0, 1, 2};
    const double values[3] = {2.0, 2.0, 2.0};
    TalusProblemDef def = {.block_count = 1,
                           .rows = 3,
                           .row_start = start,
                           .column = column,
                           .values = values,
                           .offset = q,
                           .mu = &mu,
                           .model = &exact};
    TalusProblem *problem = NULL;
    REQUIRE_OK(talus_problem_create(&def, NULL, &problem));
    TalusSolveInfo info = solve(problem, "prox", 1e-13, TALUS_NORM_RMS);
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(talus_problem_gamma(problem)[k], expected[k], 1e-12);
    talus_problem_destroy(problem);
}

TEST(one_contact_by_hand)
{
    check_one((double[3]){-2.0, 0.3, 0.4}, 0.5, (double[3]){1.0, -0.15, -0.2}); /* sticks */
    check_one((double[3]){-2.0, 3.0, 4.0}, 0.5, (double[3]){1.0, -0.3, -0.4});  /* slides */
    check_one((double[3]){-2.0, 3.0, 4.0}, 0.0, (double[3]){1.0, 0.0, 0.0});    /* smooth */
    check_one((double[3]){0.1, 3.0, 4.0}, 0.5, (double[3]){0.0, 0.0, 0.0});     /* open */
}

/* Beds of spheres and of other bodies, stiff and compliant, and matrices. */
TEST(solves_coulomb_and_the_relaxation)
{
    for (int k = 0; k < 6; k++) {
        HeapOptions heap = {.seed = (uint64_t)k + 1,
                            .nx = 3,
                            .ny = 3,
                            .nz = 3,
                            .mu = 0.2 + 0.15 * k,
                            .compliance = k % 2 ? 0.01 : 0.0,
                            .general = k % 3 ? 0.0 : 0.5};
        TestProblem p = k < 5 ? make_heap(&heap) : make_explicit(7, 30, 3);
        TalusProblem *coulomb = open_problem(&p, exact), *ccp = open_problem(&p, relaxed);
        TalusSolveInfo info = solve(coulomb, "prox", 1e-11, TALUS_NORM_MAX);
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        CHECK(info.iterations < 200);
        CHECK(law_error(coulomb) < 1e-9);
        info = solve(ccp, "prox", 1e-11, TALUS_NORM_MAX);
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        TalusMetrics m;
        CHECK_OK(talus_problem_measure(ccp, talus_problem_gamma(ccp), &m));
        CHECK(fabs(m.duality_gap) < 1e-8 && m.primal_infeasibility < 1e-10);
        talus_problem_destroy(coulomb);
        talus_problem_destroy(ccp);
        free_test_problem(&p);
    }
}

/* Rough bodies of all shapes, on which full Newton steps alternate, and loose proximal steps circle. */
TEST(solves_heaps_that_full_steps_do_not)
{
    const HeapOptions heaps[2] = {
        {.seed = 3, .nx = 4, .ny = 4, .nz = 4, .mu = 0.8, .general = 0.5},
        {.seed = 35, .nx = 4, .ny = 4, .nz = 5, .mu = 0.85, .general = 1.0}};
    for (int k = 0; k < 2; k++) {
        TestProblem p = make_heap(&heaps[k]);
        TalusProblem *problem = open_problem(&p, exact);
        TalusSolveInfo info = solve(problem, "prox", 1e-10, TALUS_NORM_RMS);
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* The velocities that another method finds. */
TEST(agrees_with_shifted_apgd)
{
    TestProblem p = make_heap(
        &(HeapOptions){.seed = 9, .nx = 2, .ny = 2, .nz = 3, .mu = 0.3, .compliance = 0.05});
    TalusProblem *a = open_problem(&p, exact), *b = open_problem(&p, exact);
    int n = talus_problem_size(a);
    double *u = calloc(2 * (size_t)n, sizeof *u), far = 0.0, fast = 0.0;
    CHECK_STR(talus_outcome_name(solve(a, "prox", 1e-11, TALUS_NORM_MAX).outcome), "converged");
    CHECK_STR(talus_outcome_name(solve(b, "apgd", 1e-10, TALUS_NORM_MAX).outcome), "converged");
    talus_problem_velocity(a, talus_problem_gamma(a), u);
    talus_problem_velocity(b, talus_problem_gamma(b), u + n);
    for (int i = 0; i < n; i++) {
        far = fmax(far, fabs(u[i] - u[n + i]));
        fast = fmax(fast, fabs(u[i]));
    }
    CHECK(far < 1e-6 * fast);
    free(u);
    talus_problem_destroy(a);
    talus_problem_destroy(b);
    free_test_problem(&p);
}

TEST(solves_problems_without_friction)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 4, .nx = 3, .ny = 3, .nz = 4});
    TalusProblem *problem = open_problem(&p, relaxed);
    TalusSolveInfo info = solve(problem, "prox", 1e-12, TALUS_NORM_MAX);
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Every contact twice: N has half its rank, impulses are not unique. */
TEST(solves_singular_problems)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 5, .nx = 3, .ny = 2, .nz = 3, .mu = 0.5});
    int count = p.def.contact_count;
    TalusContactDef *twice = test_memory(&p, 2 * (size_t)count, sizeof *twice);
    for (int i = 0; i < count; i++)
        twice[2 * i] = twice[2 * i + 1] = p.def.contacts[i];
    for (int i = 0; i < count; i++)
        twice[2 * i].mu = i % 3 ? 0.5 : 0.0; /* and some without friction */
    p.def.contacts = twice;
    p.def.contact_count = 2 * count;
    TalusProblem *problem = open_problem(&p, exact);
    TalusSolveInfo info = solve(problem, "prox", 1e-10, TALUS_NORM_MAX);
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    CHECK(law_error(problem) < 1e-8);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(proves_infeasibility)
{
    const double mus[2] = {0.0, 0.4};
    for (int k = 0; k < 2; k++) {
        TestProblem p = make_wedge(mus[k], 4);
        TalusProblem *problem = open_problem(&p, relaxed);
        TalusSolveInfo info = solve(problem, "prox", 1e-10, TALUS_NORM_RMS);
        CHECK_STR(talus_outcome_name(info.outcome), "infeasible");
        CHECK(info.iterations < 40);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* A heavy body on light ones, and a long column. (A ratio of 1e6 is what the watch takes for a wedge.) */
TEST(does_not_mind_mass_ratios)
{
    for (int k = 0; k < 2; k++) {
        TestProblem p = k ? make_bowl(12, 0.6, 0.0) : make_column(30, 1e5, 0.5);
        TalusProblem *problem = open_problem(&p, exact);
        TalusMetrics m;
        CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
        TalusSolveInfo info = solve(problem, "prox", 1e-9 * m.natural_at_zero, TALUS_NORM_MAX);
        bool hidden = info.rounding > 0.5e-9 * m.natural_at_zero; /* no claim is possible then */
        CHECK_INT(hidden, k == 0);
        CHECK_STR(talus_outcome_name(info.outcome), hidden ? "budget" : "converged");
        CHECK(info.residual.max <= 1e-9 * m.natural_at_zero);
        CHECK(info.iterations < 100);
        talus_problem_destroy(problem);
        free_test_problem(&p);
    }
}

/* ---- what the driver asks of every solver ---- */

static bool stop_at(void *user, int iteration, int products, double residual)
{
    (void)products;
    (void)residual;
    return iteration < *(int *)user;
}

TEST(keeps_to_the_budget)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 6, .nx = 3, .ny = 3, .nz = 3, .mu = 0.4});
    TalusProblem *problem = open_problem(&p, exact);
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    TalusSolver *solver = NULL;
    int last = 2;
    options.tolerance = 1e-14;
    options.max_iterations = 3;
    REQUIRE_OK(talus_solver_create("prox", &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_STR(talus_outcome_name(info.outcome), "budget");
    CHECK_INT(info.iterations, 3);
    CHECK(info.residual.rms <= info.start_residual);
    options.max_iterations = 100;
    options.monitor = stop_at;
    options.monitor_user = &last;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(info.iterations, 2);
    options.monitor = NULL;
    options.tolerance = 1e-10;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_STR(talus_outcome_name(info.outcome), "converged");
    CHECK_INT(info.iterations, 1); /* warm: nothing is left to do */
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* What is kept from one solve must not show in the next. */
TEST(takes_one_problem_after_another)
{
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    REQUIRE_OK(talus_solver_create("prox", &solver));
    options.tolerance = 1e-10;
    for (int k = 0; k < 5; k++) {
        TestProblem p = make_heap(
            &(HeapOptions){.seed = 20, .nx = 2 + k % 2, .ny = 2, .nz = 2, .mu = 0.3 * (k % 3)});
        TalusProblem *problem = open_problem(&p, exact), *other = open_problem(&p, exact);
        TalusSolveInfo info;
        size_t bytes = (size_t)talus_problem_size(problem) * sizeof(double);
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        CHECK_STR(talus_outcome_name(info.outcome), "converged");
        CHECK_INT(solve(other, "prox", 1e-10, TALUS_NORM_RMS).iterations, info.iterations);
        CHECK(memcmp(talus_problem_gamma(problem), talus_problem_gamma(other), bytes) == 0);
        talus_problem_destroy(problem);
        talus_problem_destroy(other);
        free_test_problem(&p);
    }
    talus_solver_destroy(solver);
}

TEST(survives_failed_allocations)
{
    TestProblem p = make_heap(&(HeapOptions){.seed = 8, .nx = 2, .ny = 2, .nz = 2, .mu = 0.4});
    TalusProblem *problem = open_problem(&p, exact);
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    TalusSolver *solver = NULL;
    TalusStatus status = TALUS_ERR_MEMORY;
    int n = 1;
    for (; status != TALUS_OK && n < 200; n++) {
        REQUIRE_OK(talus_solver_create("prox", &solver));
        talus_fail_allocation_in(n);
        status = talus_solver_solve(solver, problem, &options, &info);
        talus_fail_allocation_in(0);
        if (status != TALUS_OK) { /* the same solver goes on once there is memory */
            CHECK_INT(status, TALUS_ERR_MEMORY);
            CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        }
        talus_solver_destroy(solver);
    }
    CHECK(n > 20 && n < 200);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* ---- the real problems ---- */

/* Exact Coulomb in Siconos's measure, and the reference's velocities. */
static void check_real(const char *folder, const char *name)
{
    char path[PATH], reference[PATH];
    TalusFclib *f = NULL;
    TalusFclibPoint point = {0};
    TalusProblem *problem = NULL;
    TalusMetrics m;
    snprintf(path, sizeof path, "%s/problems/problems/%s.hdf5", folder, name);
    snprintf(reference, sizeof reference, "%s/problems/reference/%s.ref.hdf5", folder, name);
    REQUIRE_OK(talus_fclib_read(path, &f));
    REQUIRE_OK(talus_fclib_problem(f, &exact, NULL, &problem));
    TalusSolveInfo info = solve(problem, "prox", 1e-8, TALUS_NORM_SICONOS);
    int n = talus_problem_size(problem);
    double *u = calloc(2 * (size_t)n, sizeof *u);
    talus_problem_offset(problem, u + n);
    talus_problem_velocity(problem, talus_problem_gamma(problem), u);
    CHECK_OK(talus_problem_measure(problem, talus_problem_gamma(problem), &m));
    CHECK_OK(talus_fclib_read_point(reference, "solution", f, &point));
    double far = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        far = hypot(far, u[i] - point.u[i]);
        size = hypot(size, u[n + i]);
    }
    bool unique = strcmp(name, "OneObject-i1028-138") != 0;
    if (!CHECK(info.outcome == TALUS_OUTCOME_CONVERGED && m.siconos <= 1e-8 &&
               info.iterations < 150 && (far <= 1e-6 * size || !unique)))
        printf("%s: %s after %d iterations, measure %g, velocities off by %g |q|\n", name,
               talus_outcome_name(info.outcome), info.iterations, m.siconos, far / size);
    free(u);
    talus_fclib_free_point(&point);
    talus_problem_destroy(problem);
    talus_fclib_destroy(f);
}

TEST(solves_every_real_problem)
{
    const char *folder = getenv("TALUS_SHARED");
    char path[PATH];
    int count = 0;
    if (!talus_fclib_available())
        SKIP(talus_fclib_build_hint());
    snprintf(path, sizeof path, "%s/problems/problems", folder ? folder : "");
    DIR *list = opendir(path);
    if (!list)
        SKIP("no ../shared/problems");
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        char name[256];
        char *end;
        snprintf(name, sizeof name, "%s", entry->d_name);
        end = strstr(name, ".hdf5");
        if (!end)
            continue;
        *end = '\0';
        check_real(folder, name);
        count++;
    }
    closedir(list);
    CHECK(count > 20);
}

int main(void)
{
    RUN(fronts_agree_with_dense_algebra);
    RUN(fronts_exchange_rows);
    RUN(fronts_replace_vanishing_pivots);
    RUN(tree_of_fronts_covers_the_pattern);
    RUN(slope_agrees_with_differences);
    RUN(one_contact_by_hand);
    RUN(solves_coulomb_and_the_relaxation);
    RUN(solves_heaps_that_full_steps_do_not);
    RUN(agrees_with_shifted_apgd);
    RUN(solves_problems_without_friction);
    RUN(solves_singular_problems);
    RUN(proves_infeasibility);
    RUN(does_not_mind_mass_ratios);
    RUN(keeps_to_the_budget);
    RUN(takes_one_problem_after_another);
    RUN(survives_failed_allocations);
    RUN(solves_every_real_problem);
    return talus_test_result();
}
