/* Algebraic multigrid: its parts against dense algebra, counts that do not grow with the grid where theory says
 * so, and the rules of corrections and of counting. */

#include "solver_specs.h"

#include "base/memory.h"
#include "base/rng.h"
#include "solvers/multigrid/amg.h"

/* ---- problems ---- */

typedef struct Stencil {
    int32_t *start, *column;
    double *value, *offset, *obstacle;
    int32_t at;
} Stencil;

static void put(Stencil *s, int row, int column, double value)
{
    s->column[s->at] = column;
    s->value[s->at++] = value;
    s->offset[row] += value * s->obstacle[column];
}

/* A membrane, fixed at its rim, over a paraboloid that lifts it in the middle: -Laplace by the five-point
 * stencil on n x n points, gamma the height above the obstacle. */
static TestProblem make_membrane(int n)
{
    TestProblem p = {.name = "membrane"};
    size_t rows = (size_t)n * (size_t)n;
    Stencil s = {
        test_memory(&p, rows + 1, sizeof(int32_t)), test_memory(&p, 5 * rows, sizeof(int32_t)),
        test_memory(&p, 5 * rows, sizeof(double)),  test_memory(&p, rows, sizeof(double)),
        test_memory(&p, rows, sizeof(double)),      0};
    for (int i = 0; i < n * n; i++) {
        double x = (i % n + 1.0) / (n + 1) - 0.5, y = (i / n + 1.0) / (n + 1) - 0.5;
        s.obstacle[i] = 0.1 - 1.5 * (x * x + y * y);
    }
    for (int i = 0; i < n * n; i++) {
        if (i / n > 0)
            put(&s, i, i - n, -1.0);
        if (i % n > 0)
            put(&s, i, i - 1, -1.0);
        put(&s, i, i, 4.0);
        if (i % n < n - 1)
            put(&s, i, i + 1, -1.0);
        if (i / n < n - 1)
            put(&s, i, i + n, -1.0);
        s.start[i + 1] = s.at;
    }
    p.def = (TalusProblemDef){.block_count = n * n,
                              .rows = 1,
                              .row_start = s.start,
                              .column = s.column,
                              .values = s.value,
                              .offset = s.offset};
    return p;
}

/* Level 0 of a problem with all rows that can move taken. */
static void begin_level(const TalusProblem *problem, TalusAmg *amg)
{
    TalusAmgLevel *l = &amg->level[0];
    CHECK_OK(talus_problem_assemble(problem, &l->a));
    CHECK_OK(talus_amg_level_allocate(l));
    amg->finest_entries = talus_sparse_entries(&l->a);
    for (int i = 0; i < l->a.rows; i++)
        l->taken[i] = l->diagonal[i] > 0.0;
}

static double *dense_of(const TalusSparse *a)
{
    double *out = calloc((size_t)a->rows * (size_t)a->columns, sizeof *out);
    for (int i = 0; i < a->rows; i++)
        for (int32_t k = a->start[i]; k < a->start[i + 1]; k++)
            out[i * a->columns + a->column[k]] += a->value[k];
    return out;
}

/* out = A' B, or A B; A has m rows. */
static double *dense_product(const double *a, bool transposed, const double *b, int rows, int inner,
                             int columns)
{
    double *out = calloc((size_t)rows * (size_t)columns, sizeof *out);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            for (int k = 0; k < inner; k++)
                out[i * columns + j] +=
                    (transposed ? a[k * rows + i] : a[i * inner + k]) * b[k * columns + j];
    return out;
}

/* ---- the parts ---- */

static const TalusAmgParams plain = {.pre = 1,
                                     .post = 1,
                                     .correction = AMG_SEARCH,
                                     .passes = 1,
                                     .cluster = 3,
                                     .coarsest = 10,
                                     .theta = 0.25};

static void check_galerkin(const TestProblem *p, TalusAmgParams params)
{
    TalusProblem *problem = create(&p->def, NULL);
    TalusAmg amg = {.params = &params};
    begin_level(problem, &amg);
    REQUIRE_OK(talus_amg_build_levels(&amg));
    CHECK(amg.levels >= 3);
    for (int k = 0; k + 1 < amg.levels; k++) {
        const TalusAmgLevel *l = &amg.level[k];
        int n = l->a.rows, m = l->p.columns;
        CHECK_INT(amg.level[k + 1].a.rows, m);
        double *a = dense_of(&l->a), *w = dense_of(&l->p), *coarse = dense_of(&amg.level[k + 1].a);
        double *aw = dense_product(a, false, w, n, n, m),
               *waw = dense_product(w, true, aw, m, n, m);
        double size = 0.0;
        for (int i = 0; i < m * m; i++)
            size = fmax(size, fabs(waw[i]));
        CHECK_NEAR(largest_difference(waw, coarse, m * m), 0.0, 1e-13 * size);
        for (int i = 0; i < n; i++) /* (22): coarse rows are taken over */
            if (l->coarse[i] >= 0)
                CHECK(w[i * m + l->coarse[i]] == 1.0);
            else if (params.transfer ==
                     AMG_VELOCITY) /* clusters do not feel what interpolation does */
                for (int j = 0; j < m; j++)
                    CHECK_NEAR(aw[i * m + j], 0.0, 1e-9 * size);
        free(a);
        free(w);
        free(coarse);
        free(aw);
        free(waw);
    }
    talus_amg_clear_levels(&amg, 0);
    talus_problem_destroy(problem);
}

TEST(coarse_matrices_are_variational)
{
    TestProblem membrane = make_membrane(13);
    TestProblem heap = make_heap(&(HeapOptions){71, 4, 4, 3, 0.0, 0.0, 0.3});
    TalusAmgParams second = plain, rigid = plain, both = plain;
    second.passes = 2;
    rigid.transfer = AMG_VELOCITY;
    both.strong = AMG_ABSOLUTE;
    check_galerkin(&membrane, plain);
    check_galerkin(&membrane, second);
    check_galerkin(&membrane, rigid);
    check_galerkin(&heap, plain);
    check_galerkin(&heap, both);
    check_galerkin(&heap, rigid);
    free_test_problem(&membrane);
    free_test_problem(&heap);
}

/* On the five-point stencil the splitting is a chequerboard: no row depends on another of its colour. Making
 * the next level takes products of A with P and of P' with that, some ten entries of A each. */
TEST(the_stencil_is_split_by_colour)
{
    TestProblem p = make_membrane(16);
    TalusProblem *problem = create(&p.def, NULL);
    TalusAmgParams params = plain;
    TalusAmg amg = {.params = &params};
    begin_level(problem, &amg);
    REQUIRE_OK(talus_amg_build_levels(&amg));
    const int32_t *coarse = amg.level[0].coarse;
    int wrong = 0;
    for (int i = 0; i < 16 * 16; i++)
        wrong += (coarse[i] >= 0) != ((i % 16 + i / 16) % 2 == 0) ? 1 : 0;
    CHECK(wrong == 0 || wrong == 16 * 16);
    CHECK(amg.cost > 5.0 && amg.cost < 20.0);
    talus_amg_clear_levels(&amg, 0);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* With theta=0 every negative coupling is strong: an interior row of the stencil has four. */
TEST(theta_0_makes_every_coupling_strong)
{
    TestProblem p = make_membrane(8);
    TalusProblem *problem = create(&p.def, NULL);
    TalusAmgParams params = plain;
    TalusSparse strong = {0};
    TalusAmg amg = {.params = &params};
    params.theta = 0.0;
    begin_level(problem, &amg);
    REQUIRE_OK(talus_amg_find_strong(&amg.level[0], &params, &strong));
    CHECK_INT(talus_sparse_entries(&strong), 2 * 2 * 7 * 8);
    talus_sparse_clear(&strong);
    CHECK_OK(talus_amg_build_levels(&amg));
    CHECK(amg.levels >= 2);
    talus_amg_clear_levels(&amg, 0);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Levels that could not be built leave none behind and cost about what was spent on them, in products. */
TEST(failed_levels_leave_cost_and_count_in_order)
{
    TestProblem p = make_membrane(16);
    TalusProblem *problem = create(&p.def, NULL);
    TalusAmgParams params = plain;
    TalusAmg amg = {.params = &params};
    TalusStatus status = TALUS_ERR_MEMORY;
    begin_level(problem, &amg);
    for (long n = 1; status != TALUS_OK; n++) {
        amg.cost = 3.0;
        talus_fail_allocation_in(n);
        status = talus_amg_build_levels(&amg);
        talus_fail_allocation_in(0);
        CHECK(amg.cost >= 3.0 && amg.cost < 23.0);
        if (status != TALUS_OK)
            CHECK(amg.levels == 0 && !amg.level[1].a.start && !amg.dense && !amg.state);
    }
    CHECK(amg.levels >= 2);
    talus_amg_clear_levels(&amg, 0);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Where a row of the matrix sums to zero its weights sum to one, on all levels below as well. */
TEST(constants_are_interpolated)
{
    TestProblem p = make_membrane(12);
    TalusProblem *problem = create(&p.def, NULL);
    TalusAmgParams params = plain;
    TalusAmg amg = {.params = &params};
    begin_level(problem, &amg);
    REQUIRE_OK(talus_amg_build_levels(&amg));
    int seen = 0;
    for (int k = 0; k + 1 < amg.levels; k++) {
        const TalusAmgLevel *l = &amg.level[k];
        for (int i = 0; i < l->a.rows; i++) {
            double row = 0.0, weights = 0.0;
            for (int32_t j = l->a.start[i]; j < l->a.start[i + 1]; j++)
                row += l->a.value[j];
            for (int32_t j = l->p.start[i]; j < l->p.start[i + 1]; j++)
                weights += l->p.value[j];
            if (fabs(row) > 1e-12 * l->diagonal[i] || l->coarse[i] >= 0)
                continue;
            CHECK_NEAR(weights, 1.0, 1e-12);
            seen++;
        }
    }
    CHECK(seen > 40);
    talus_amg_clear_levels(&amg, 0);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* The optimality conditions, on matrices of rank `rank`. */
static void check_box(uint64_t seed, int n, int rank)
{
    enum { MOST = 12 };
    TalusRng rng = talus_rng_from_seed(seed);
    double b[MOST * MOST], a[MOST * MOST] = {0}, q[MOST] = {0};
    double lower[MOST] = {0}, upper[MOST] = {0}, x[MOST] = {0};
    double factor[MOST * MOST], work[3 * MOST], size = 0.0;
    uint8_t state[MOST];
    for (int i = 0; i < n * rank; i++)
        b[i] = talus_rng_uniform(&rng) - 0.5;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < rank; k++)
                a[i * n + j] += b[i * rank + k] * b[j * rank + k];
    for (int i = 0; i < n; i++) {
        /* q in the range of A: with upper bounds missing, too, there is a minimum */
        for (int k = 0; k < rank; k++)
            q[i] += b[i * rank + k] * (2.0 * (k % 3) - 2.0);
        size = fmax(size, fabs(q[i]));
        lower[i] = i % 4 == 0 ? 0.0 : -talus_rng_uniform(&rng);
        upper[i] = i % 3 == 0 ? INFINITY : talus_rng_uniform(&rng);
    }
    CHECK(talus_amg_dense_minimise(n, a, q, lower, upper, x, factor, work, state) > 0.0);
    for (int i = 0; i < n; i++) {
        double g = q[i];
        for (int k = 0; k < n; k++)
            g += a[i * n + k] * x[k];
        CHECK(x[i] >= lower[i] && x[i] <= upper[i]);
        if (x[i] > lower[i])
            CHECK(g <= 1e-8 * size);
        if (x[i] < upper[i])
            CHECK(g >= -1e-8 * size);
    }
}

TEST(coarsest_level_is_solved)
{
    for (uint64_t seed = 1; seed <= 40; seed++)
        check_box(seed, 3 + (int)(seed % 10), 2 + (int)(seed % 7));
}

/* ---- the method ---- */

static void solve_membrane(int n, const char *spec, int cycles, int products)
{
    TestProblem p = make_membrane(n);
    TalusProblem *problem = create(&p.def, NULL);
    double tolerance = 1e-9 * start_residual(problem);
    TalusSolveInfo info = solve_cold("ssn", problem, 1e-3 * tolerance, 200);
    double *expected = malloc((size_t)n * (size_t)n * sizeof *expected), height = 0.0;
    memcpy(expected, talus_problem_gamma(problem), (size_t)n * (size_t)n * sizeof *expected);
    info = solve_cold(spec, problem, tolerance, 200);
    for (int i = 0; i < n * n; i++)
        height = fmax(height, expected[i]);
    bool ok = CHECK(info.outcome == TALUS_OUTCOME_CONVERGED) && CHECK(info.iterations <= cycles) &&
              CHECK(info.products <= products);
    ok &= CHECK_NEAR(largest_difference(expected, talus_problem_gamma(problem), n * n), 0.0,
                     1e-6 * height);
    blame(ok, p.name, spec);
    free(expected);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* 13 to 15 cycles from 31^2 to 255^2 points; sweeps alone need 653 to some 30,000. */
TEST(obstacle_problems_need_no_more_cycles_on_finer_grids)
{
    for (int n = 15; n <= 95; n = 2 * n + 1) {
        solve_membrane(n, "amg:coarsest=10", 16, 230);
        solve_membrane(n, "amg:cycle=W,coarsest=10", 16, 400);
        solve_membrane(n, "amg:passes=2,coarsest=10", 16, 250);
    }
}

/* Clusters of a chain are eliminated without fill: one cycle solves it, to rounding. */
TEST(columns_of_spheres)
{
    TestProblem p = make_column(400, 3.0, 0.0);
    TalusProblem *problem = create(&p.def, NULL);
    double start = start_residual(problem);
    TalusSolveInfo info = solve_cold("amg", problem, 1e-9 * start, 100);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED && info.iterations <= 17);
    info = solve_cold("amg:transfer=velocity", problem, 1e-9 * start, 100);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED && info.iterations <= 2);
    CHECK(info.products < 40);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

typedef struct Descent {
    TalusProblem *problem;
    double least;
    int rises, seen;
} Descent;

static bool look(void *user, const TalusObservation *o)
{
    Descent *d = user;
    double objective = 0.0;
    CHECK_OK(talus_problem_objective(d->problem, o->gamma, &objective));
    d->rises += objective > d->least + 1e-13 * fabs(d->least);
    d->least = fmin(d->least, objective);
    d->seen++;
    return true;
}

TEST(searched_corrections_never_raise_the_objective)
{
    static const char *const texts[] = {"amg", "amg:transfer=velocity,cycle=W,bounds=none",
                                        "amg:truncate=off,strong=absolute"};
    TestProblem p = make_heap(&(HeapOptions){72, 6, 6, 5, 0.0, 0.0, 0.2});
    TalusProblem *problem = create(&p.def, NULL);
    for (int i = 0; i < 3; i++) {
        TalusSolver *solver = solver_of(texts[i]);
        Descent d = {.problem = problem, .least = INFINITY};
        TalusSolveOptions options = budget(1e-9 * start_residual(problem), 60);
        TalusSolveInfo info;
        options.observer = look;
        options.observer_user = &d;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        bool ok = CHECK(d.seen > 5);
        blame(CHECK_INT(d.rises, 0) && ok, p.name, texts[i]);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Where nothing is coupled there is one level, and a cycle is its sweeps and a measurement; the first product
 * measures the start. */
TEST(work_is_counted_in_products)
{
    enum { N = 40 };
    int32_t start[N + 1] = {0}, column[N];
    double values[N], offset[N];
    for (int i = 0; i < N; i++) {
        start[i + 1] = i + 1;
        column[i] = i;
        values[i] = 1.0 + i;
        offset[i] = i % 3 - 1.0;
    }
    TalusProblemDef def = {.block_count = N,
                           .rows = 1,
                           .row_start = start,
                           .column = column,
                           .values = values,
                           .offset = offset};
    TalusProblem *problem = create(&def, NULL);
    TalusSolveInfo info = solve_cold("amg:pre=2,post=3,coarsest=1,warm=4", problem, 0.0, 6);
    CHECK_INT(info.products, 1 + 5 + 4 * 6);
    talus_problem_destroy(problem);
}

/* The clock is looked at between the sweeps of a warm start. */
TEST(warm_starts_keep_to_the_time)
{
    TestProblem p = make_membrane(31);
    TalusProblem *problem = create(&p.def, NULL);
    TalusSolveInfo info;
    TalusSolver *solver = solver_of("amg:warm=100000");
    TalusSolveOptions options = budget(0.0, 1000);
    options.max_seconds = 1e-9;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK(info.outcome == TALUS_OUTCOME_BUDGET && info.products < 10);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* What is no larger than `coarsest` is solved in the first cycle, singular as it may be. */
static void solve_small(TestProblem p)
{
    TalusProblem *problem = create(&p.def, NULL);
    TalusSolveInfo info = solve_cold("amg", problem, 1e-10 * start_residual(problem), 100);
    CHECK(talus_problem_size(problem) <= 30);
    blame(CHECK(info.outcome == TALUS_OUTCOME_CONVERGED && info.iterations == 2), p.name, "amg");
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(small_problems_are_solved_directly)
{
    solve_small(make_bowl(12, 0.0, 0.0));
    solve_small(make_column(25, 1000.0, 0.0));
    solve_small(make_heap(&(HeapOptions){76, 2, 2, 2, 0.0, 0.0, 0.0}));
}

/* Boxes by themselves, and Coulomb's law on the square by the loop that moves them. */
static void solve_law(TalusFrictionLaw law, const char *spec)
{
    TestProblem p = make_heap(&(HeapOptions){74, 3, 3, 2, 0.3, 0.01, 0.3});
    TalusProblem *problem = create(&p.def, NULL);
    int n = verify_size(&p.def);
    double *expected = malloc((size_t)n * sizeof *expected), *u = malloc((size_t)n * sizeof *u);
    CHECK_OK(
        talus_problem_set_friction(problem, (TalusFrictionModel){TALUS_SECTION_SQUARE, law, 0}));
    double tolerance = 1e-9 * start_residual(problem), size = 0.0;
    TalusSolveInfo info = solve_cold("pgs", problem, tolerance, 20000);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    talus_problem_velocity(problem, talus_problem_gamma(problem), expected);
    info = solve_cold(spec, problem, tolerance, 5000);
    talus_problem_velocity(problem, talus_problem_gamma(problem), u);
    for (int i = 0; i < n; i++)
        size = fmax(size, fabs(expected[i]));
    bool ok = CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    if (law == TALUS_LAW_FIXED) /* under Coulomb's law there may be more than one solution */
        ok &= CHECK_NEAR(largest_difference(u, expected, n), 0.0, 1e-5 * size);
    blame(ok, talus_law_name(law), spec);
    free(expected);
    free(u);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

TEST(boxes_are_solved)
{
    solve_law(TALUS_LAW_FIXED, "amg");
    solve_law(TALUS_LAW_FIXED, "amg:transfer=velocity");
    solve_law(TALUS_LAW_COULOMB, "amg");
}

/* Whichever allocation fails, the solve says so, leaks nothing, and the solver goes on afterwards. */
TEST(memory_that_cannot_be_had)
{
    static const char *const texts[] = {"amg:passes=2", "amg:transfer=velocity"};
    TestProblem p = make_heap(&(HeapOptions){75, 3, 3, 3, 0.0, 0.0, 0.0});
    TalusProblem *problem = create(&p.def, NULL);
    TalusSolveOptions options = budget(1e-9 * start_residual(problem), 200);
    for (int i = 0; i < 2; i++) {
        TalusSolver *solver = solver_of(texts[i]);
        TalusSolveInfo info;
        int failures = 0;
        for (long n = 1;; n += 3, failures++) {
            set_gamma(problem, NULL);
            talus_fail_allocation_in(n);
            TalusStatus status = talus_solver_solve(solver, problem, &options, &info);
            talus_fail_allocation_in(0);
            if (status == TALUS_OK)
                break;
            CHECK_INT(status, TALUS_ERR_MEMORY);
        }
        CHECK(failures > 5);
        CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        talus_solver_destroy(solver);
    }
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

int main(void)
{
    RUN(coarse_matrices_are_variational);
    RUN(the_stencil_is_split_by_colour);
    RUN(theta_0_makes_every_coupling_strong);
    RUN(failed_levels_leave_cost_and_count_in_order);
    RUN(constants_are_interpolated);
    RUN(coarsest_level_is_solved);
    RUN(obstacle_problems_need_no_more_cycles_on_finer_grids);
    RUN(columns_of_spheres);
    RUN(searched_corrections_never_raise_the_objective);
    RUN(work_is_counted_in_products);
    RUN(warm_starts_keep_to_the_time);
    RUN(small_problems_are_solved_directly);
    RUN(boxes_are_solved);
    RUN(memory_that_cannot_be_had);
    return talus_test_result();
}
