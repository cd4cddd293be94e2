/* lbfgs-fb: its fused operations against plain ones, the recursion against dense BFGS, short solves
 * that can be followed by hand, the last phase, the fallback. */
#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include "base/memory.h"
#include "base/rng.h"
#include "solvers/driver/solver.h"
#include "solvers/first_order/lbfgs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 18, PAIRS = 3 };

/* ---- operations ---- */

typedef struct Bench {
    TalusProblem *problem;
    const TalusOperator *op;
    const TalusBackend *b;
    int n;
    TalusMetricBlock *metric;
    double *v[VECTORS];
    double *s[PAIRS + 1], *y[PAIRS + 1]; /* what the pairs should hold */
    TalusQuasi q;
} Bench;

static double *random_vector(TalusRng *rng, int n)
{
    double *v = malloc((size_t)n * sizeof *v);
    for (int i = 0; i < n; i++)
        v[i] = 2.0 * talus_rng_uniform(rng) - 1.0;
    return v;
}

static Bench make_bench(const TalusProblemDef *def)
{
    Bench t = {0};
    TalusRng rng = talus_rng_from_seed(5);
    CHECK_OK(talus_problem_create(def, NULL, &t.problem));
    t.op = &t.problem->op;
    t.b = t.problem->backend;
    t.n = t.op->rows * t.op->blocks;
    CHECK_OK(t.b->op.reserve_scratch(t.op));
    t.metric = malloc((size_t)t.op->blocks * sizeof *t.metric);
    t.b->op.fill_metric(t.op, TALUS_METRIC_ANISOTROPIC, t.metric);
    for (int i = 0; i < VECTORS; i++)
        t.v[i] = random_vector(&rng, t.n);
    for (int i = 0; i <= PAIRS; i++) {
        t.s[i] = calloc((size_t)t.n, sizeof(double));
        t.y[i] = calloc((size_t)t.n, sizeof(double));
    }
    t.q = (TalusQuasi){.metric = (const TalusMetricBlock *)t.metric,
                       .step = 0.4,
                       .unit = 4.0,
                       .x = t.v[0],
                       .g = t.v[1],
                       .r = t.v[2],
                       .d = t.v[3],
                       .x_next = t.v[4],
                       .g_next = t.v[5],
                       .r_next = t.v[6],
                       .smooth_x = t.v[7],
                       .smooth_g = t.v[8],
                       .smooth_r = t.v[9]};
    for (int i = 0; i <= PAIRS; i++)
        t.q.pair[i] = t.v[10 + i];
    return t;
}

static void free_bench(Bench *t)
{
    for (int i = 0; i < VECTORS; i++)
        free(t->v[i]);
    for (int i = 0; i <= PAIRS; i++) {
        free(t->s[i]);
        free(t->y[i]);
    }
    free(t->metric);
    talus_problem_destroy(t->problem);
}

static double dot(const Bench *t, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < t->n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double size(const Bench *t, const double *a)
{
    return sqrt(dot(t, a, a));
}

static void check_same(const Bench *t, const double *a, const double *b, double relative)
{
    double worst = 0.0, scale = size(t, b);
    for (int i = 0; i < t->n; i++)
        worst = fmax(worst, fabs(a[i] - b[i]));
    CHECK_NEAR(worst, 0.0, relative * scale);
}

/* d, x_next, g_next, r_next of the step along `d` by plain operations. */
static void check_moved(Bench *t, const double *d)
{
    double *x = t->v[14], *g = t->v[15], *r = t->v[16];
    TalusForwardSums sums;
    t->b->op.gradient(t->op, t->q.metric, d, false, g);
    for (int i = 0; i < t->n; i++) {
        x[i] = t->q.x[i] + d[i];
        g[i] += t->q.g[i];
    }
    t->b->block.forward_backward(t->op, t->q.metric, x, g, t->q.step, NULL, r, &sums);
    check_same(t, t->q.d, d, 1e-15);
    check_same(t, t->q.x_next, x, 1e-14);
    check_same(t, t->q.g_next, g, 1e-13);
    check_same(t, t->q.r_next, r, 1e-13);
}

static void check_sums(const Bench *t, const TalusQuasiSums *sums)
{
    const TalusQuasi *q = &t->q;
    double *w = t->v[15];
    double scale = 1.0 + dot(t, q->r_next, q->r_next) + dot(t, q->g_next, q->g_next);
    for (int i = 0; i < t->n; i++)
        w[i] = q->g_next[i] - q->g[i];
    CHECK_NEAR(sums->r2, dot(t, q->r_next, q->r_next), 1e-13 * scale);
    CHECK_NEAR(sums->rg, dot(t, q->r_next, q->g_next), 1e-13 * scale);
    CHECK_NEAR(sums->gd, dot(t, q->g, q->d), 1e-13 * scale);
    CHECK_NEAR(sums->dw, dot(t, q->d, w), 1e-12 * scale);
    CHECK_NEAR(sums->dd, dot(t, q->d, q->d), 1e-13 * scale);
    CHECK_NEAR(sums->ww, dot(t, w, w), 1e-12 * scale);
    CHECK_NEAR(sums->smooth, dot(t, q->smooth_r, q->r_next), 1e-13 * scale);
}

/* Pairs are kept in single precision, and so are their products. */
static void check_pairs(const Bench *t, const TalusQuasiSums *sums)
{
    const double *r = t->q.r_next, *s = t->s[t->q.count], *y = t->y[t->q.count];
    CHECK_NEAR(sums->sy, dot(t, s, y), 1e-6 * size(t, s) * size(t, y));
    CHECK_NEAR(sums->yy, dot(t, y, y), 1e-6 * dot(t, y, y));
    for (int p = 0; p <= t->q.count; p++) {
        CHECK_NEAR(sums->sr[p], dot(t, t->s[p], r), 1e-6 * size(t, t->s[p]) * size(t, r));
        CHECK_NEAR(sums->yr[p], dot(t, t->y[p], r), 1e-6 * size(t, t->y[p]) * size(t, r));
    }
}

/* PAIRS steps one after the other, each with a direction from all pairs before. */
static void check_steps(Bench *t)
{
    TalusQuasi *q = &t->q;
    double weight[2 * TALUS_PAIRS + 1] = {-0.5, 0.3, -0.2, 1.5, 0.7, -0.1, 0.4};
    double *d = t->v[17];
    for (q->count = 0; q->count <= PAIRS; q->count++) {
        TalusQuasiSums sums;
        t->b->step.quasi_direction(t->op, q, weight);
        for (int i = 0; i < t->n; i++) {
            d[i] = weight[0] * q->r[i];
            for (int p = 0; p < q->count; p++)
                d[i] += weight[1 + 2 * p] * t->s[p][i] + weight[2 + 2 * p] * t->y[p][i];
        }
        check_same(t, q->d, d, 1e-6);
        memcpy(d, q->d, (size_t)t->n * sizeof *d);
        t->b->step.quasi_step(t->op, q, &sums);
        check_moved(t, d);
        check_sums(t, &sums);
        for (int halving = 0; halving < 2 && q->count == 1; halving++) {
            q->halve = true;
            t->b->step.quasi_step(t->op, q, &sums);
            q->halve = false;
            for (int i = 0; i < t->n; i++)
                d[i] *= 0.5;
            check_moved(t, d);
            check_sums(t, &sums);
        }
        for (int i = 0; i < t->n; i++) {
            t->s[q->count][i] = q->unit * d[i];
            t->y[q->count][i] = q->unit * (q->r_next[i] - q->r[i]);
        }
        check_pairs(t, &sums);
    }
}

static void check_smoothing(Bench *t, double eta)
{
    TalusQuasi *q = &t->q;
    TalusSmoothSums sums;
    TalusForwardSums plain;
    double *x = t->v[14], *g = t->v[15], *r = t->v[16];
    for (int i = 0; i < t->n; i++) {
        x[i] = eta * q->x[i] + (eta < 1.0 ? (1.0 - eta) * q->smooth_x[i] : 0.0);
        g[i] = eta * q->g[i] + (eta < 1.0 ? (1.0 - eta) * q->smooth_g[i] : 0.0);
    }
    t->b->block.forward_backward(t->op, q->metric, x, g, q->step, NULL, r, &plain);
    t->b->step.quasi_smooth(t->op, q, eta, &sums);
    check_same(t, q->smooth_x, x, 1e-15);
    check_same(t, q->smooth_g, g, 1e-15);
    check_same(t, q->smooth_r, r, 1e-14);
    CHECK_NEAR(sums.x2, dot(t, x, x), 1e-13 * dot(t, x, x));
    CHECK_NEAR(sums.r2, plain.r2, 1e-13 * plain.r2);
    CHECK_NEAR(sums.residual2, plain.residual2, 1e-13 * plain.residual2);
    CHECK_NEAR(sums.residual_max, plain.residual_max, 1e-13 * plain.residual_max);
}

static void check_ogm(Bench *t)
{
    double *y = t->v[14], *next = t->v[15], *proj = t->v[16], *old = t->v[17];
    TalusOgm o = {.metric = t->q.metric,
                  .x = t->q.x,
                  .g = t->q.g,
                  .y = y,
                  .x_next = next,
                  .step = 0.3,
                  .along = 0.6,
                  .over = 0.4,
                  .want_residual = true};
    TalusForwardSums plain;
    double residual2, residual_max;
    memcpy(old, y, (size_t)t->n * sizeof *y);
    t->b->block.forward_backward(t->op, o.metric, o.x, o.g, o.step, proj, NULL, &plain);
    t->b->step.ogm(t->op, &o, &residual2, &residual_max);
    check_same(t, y, proj, 1e-14);
    for (int i = 0; i < t->n; i++)
        proj[i] += o.along * (proj[i] - old[i]) + o.over * (proj[i] - o.x[i]);
    check_same(t, next, proj, 1e-14);
    CHECK_NEAR(residual2, plain.residual2, 1e-13 * plain.residual2);
    CHECK_NEAR(residual_max, plain.residual_max, 1e-13 * plain.residual_max);
}

TEST(fused_operations_are_the_plain_ones)
{
    TestProblem problems[] = {make_heap(&(HeapOptions){41, 6, 5, 5, 0.3, 0.0, 0.0}),
                              make_heap(&(HeapOptions){42, 5, 4, 3, 0.4, 0.1, 0.3}),
                              make_heap(&(HeapOptions){43, 4, 4, 3, 0.0, 0.1, 0.2}),
                              make_explicit(44, 37, 3), make_explicit(45, 1, 1)};
    for (int i = 0; i < 5; i++) {
        Bench t = make_bench(&problems[i].def);
        for (int k = 0; k < t.n; k++)
            t.q.smooth_x[k] = t.q.smooth_g[k] = NAN; /* eta = 1 must not read them */
        check_smoothing(&t, 1.0);
        check_steps(&t);
        memcpy(t.q.x, t.v[4], (size_t)t.n * sizeof(double));
        check_smoothing(&t, 0.3);
        check_smoothing(&t, 0.0);
        check_ogm(&t);
        free_bench(&t);
        free_test_problem(&problems[i]);
    }
}

/* ---- the recursion ---- */

enum { DIM = 6, STEPS = 7 };

static double dot6(const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < DIM; i++)
        sum += a[i] * b[i];
    return sum;
}

/* H+ = (I - rho s y') H (I - rho y s') + rho s s'. */
static void bfgs(double h[DIM][DIM], const double *s, const double *y)
{
    double hy[DIM] = {0.0}, rho = 1.0 / dot6(s, y);
    for (int i = 0; i < DIM; i++)
        hy[i] = dot6(h[i], y);
    double yhy = dot6(y, hy);
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j < DIM; j++)
            h[i][j] += rho * ((1.0 + rho * yhy) * s[i] * s[j] - hy[i] * s[j] - s[i] * hy[j]);
}

/* -H r of the last `memory` pairs, from the formulas. */
static void dense_direction(double s[][DIM], double y[][DIM], int count, int memory,
                            const double *r, double *d)
{
    double h[DIM][DIM] = {{0.0}}, scale = 1.0;
    int first = count > memory ? count - memory : 0;
    if (count > 0)
        scale = dot6(s[count - 1], y[count - 1]) / dot6(y[count - 1], y[count - 1]);
    for (int i = 0; i < DIM; i++)
        h[i][i] = scale;
    for (int k = first; k < count; k++)
        bfgs(h, s[k], y[k]);
    for (int i = 0; i < DIM; i++)
        d[i] = -dot6(h[i], r);
}

/* Pairs of a quadratic; the third has negative curvature and must be left out. */
TEST(recursion_is_dense_bfgs)
{
    TalusRng rng = talus_rng_from_seed(77);
    double s[STEPS][DIM], y[STEPS][DIM], r[DIM], weight[2 * TALUS_PAIRS + 1];
    double room[TALUS_PAIRS + 1];
    TalusLbfgs h = {.memory = 3};
    TalusQuasi q = {.unit = 0.5};
    for (int i = 0; i <= TALUS_PAIRS; i++)
        q.pair[i] = &room[i];
    for (int i = 0; i < DIM; i++)
        r[i] = talus_rng_uniform(&rng) - 0.5;
    int kept = 0;
    for (int k = 0; k < STEPS; k++) {
        double next[DIM], d[DIM], expected[DIM], diag[DIM];
        talus_lbfgs_direction(&h, weight);
        dense_direction(s, y, kept, 3, r, expected);
        for (int i = 0; i < DIM; i++) {
            d[i] = weight[0] * r[i];
            for (int p = 0; p < h.count; p++) {
                int at = kept - h.count + p;
                d[i] += weight[1 + 2 * p] * s[at][i] + weight[2 + 2 * p] * y[at][i];
            }
            CHECK_NEAR(d[i], expected[i], 1e-12);
            diag[i] = k == 2 ? -1.0 : 1.0 + i;
            next[i] = r[i] + diag[i] * d[i] * (1.0 + 0.1 * talus_rng_uniform(&rng));
        }
        TalusQuasiSums sums = {.dd = dot6(d, d)};
        for (int i = 0; i < DIM; i++) {
            s[kept][i] = q.unit * d[i];
            y[kept][i] = q.unit * (next[i] - r[i]);
        }
        for (int p = 0; p <= h.count; p++) {
            sums.sr[p] = dot6(s[kept - h.count + p], next);
            sums.yr[p] = dot6(y[kept - h.count + p], next);
        }
        sums.sy = dot6(s[kept], y[kept]);
        sums.yy = dot6(y[kept], y[kept]);
        double *newest = q.pair[h.count];
        talus_lbfgs_update(&h, &q, &sums);
        CHECK_INT(q.count, h.count);
        CHECK_INT(h.count, kept + (k != 2) < 3 ? kept + (k != 2) : 3);
        CHECK(k == 2 || q.pair[h.count - 1] == newest);
        kept += k != 2;
        memcpy(r, next, sizeof r);
    }
}

/* ---- solves ---- */

static TalusSolveInfo solve(const char *spec, TalusProblem *problem, double tolerance, int most)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.max_iterations = most;
    memset(talus_problem_gamma(problem), 0, (size_t)talus_problem_size(problem) * sizeof(double));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

static double start_residual(TalusProblem *problem)
{
    TalusResidual r;
    memset(talus_problem_gamma(problem), 0, (size_t)talus_problem_size(problem) * sizeof(double));
    talus_problem_residual(problem, talus_problem_gamma(problem), &r);
    return r.rms;
}

/* One row, N = 4, q = -2: R is linear, so the first step overshoots by 1.6 / 1.02 and smoothing puts
 * z on the optimum 0.5. Two iterations: the start and the step. */
TEST(one_row_is_solved_by_smoothing)
{
    const int32_t start[] = {0, 1}, column[] = {0};
    const double value[] = {4.0}, q[] = {-2.0};
    TalusProblemDef def = {.block_count = 1,
                           .rows = 1,
                           .row_start = start,
                           .column = column,
                           .values = value,
                           .offset = q};
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&def, NULL, &problem));
    TalusSolveInfo info = solve("lbfgs-fb:check=1,finish=0", problem, 1e-12, 10);
    CHECK_INT(info.iterations, 2);
    CHECK_NEAR(talus_problem_gamma(problem)[0], 0.5, 1e-14);
    talus_problem_destroy(problem);
}

static double *solution(TalusProblem *problem, double tolerance)
{
    size_t bytes = 6 * (size_t)talus_problem_bodies(problem) * sizeof(double);
    double *v = malloc(bytes);
    TalusSolveInfo info = solve("apgd", problem, tolerance, 100000);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    CHECK_OK(talus_problem_body_velocity(problem, talus_problem_gamma(problem), v));
    return v;
}

/* With the last phase, without it, and when apgd takes over at once: one answer. */
TEST(all_ways_end_at_the_same_velocities)
{
    const char *const specs[] = {"lbfgs-fb:finish=0", "lbfgs-fb:near=100,finish=30",
                                 "lbfgs-fb:patience=1", "lbfgs-fb:memory=1,rise=0,step=1.9"};
    TestProblem p = make_heap(&(HeapOptions){51, 4, 4, 4, 0.3, 0.0, 0.2});
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    int n = 6 * talus_problem_bodies(problem);
    double tolerance = 1e-9 * start_residual(problem);
    double *expected = solution(problem, 1e-2 * tolerance);
    double *v = malloc((size_t)n * sizeof *v);
    for (int i = 0; i < 4; i++) {
        TalusSolveInfo info = solve(specs[i], problem, tolerance, 20000);
        CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
        CHECK(info.products >= info.iterations);
        CHECK_OK(talus_problem_body_velocity(problem, talus_problem_gamma(problem), v));
        double worst = 0.0;
        for (int k = 0; k < n; k++)
            worst = fmax(worst, fabs(v[k] - expected[k]));
        CHECK_NEAR(worst, 0.0, 1e5 * tolerance);
    }
    free(v);
    free(expected);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* What the method is for: far fewer products than apgd on a rigid bed with friction. */
TEST(needs_fewer_products_than_apgd)
{
    TestProblem p = make_heap(&(HeapOptions){52, 6, 6, 8, 0.3, 0.0, 0.0});
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    double start = start_residual(problem);
    int apgd = solve("apgd", problem, 1e-6 * start, 20000).products;
    TalusSolveInfo own = solve("lbfgs-fb", problem, 1e-6 * start, 20000);
    CHECK(own.outcome == TALUS_OUTCOME_CONVERGED);
    CHECK(own.products < 0.7 * apgd);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

/* Solves of one size take memory once. */
TEST(second_solve_allocates_nothing)
{
    TestProblem p = make_heap(&(HeapOptions){53, 4, 4, 3, 0.3, 0.0, 0.0});
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    CHECK_OK(talus_solver_create("lbfgs-fb", &solver));
    options.tolerance = 1e-4 * start_residual(problem);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK(info.memory_bytes > 0);
    start_residual(problem);
    talus_fail_allocation_in(1);
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_fail_allocation_in(0);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
}

int main(void)
{
    RUN(fused_operations_are_the_plain_ones);
    RUN(recursion_is_dense_bfgs);
    RUN(one_row_is_solved_by_smoothing);
    RUN(all_ways_end_at_the_same_velocities);
    RUN(needs_fewer_products_than_apgd);
    RUN(second_solve_allocates_nothing);
    return talus_test_result();
}
