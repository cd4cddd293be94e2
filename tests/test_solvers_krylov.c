/* gpcg, gpminres, gpminres-p: single phases against dense formulas, the conditions that end a phase,
 * faces whose equations are singular or contradict each other. */
#include "support/problems.h"
#include "support/test.h"
#include "verify/verify.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

enum { N = 8 };

/* ---- small dense problems ---- */

typedef struct Dense {
    double a[N][N], q[N], start[N];
    int32_t row_start[N + 1], column[N * N];
    TalusProblemDef def;
} Dense;

static void finish(Dense *d)
{
    for (int i = 0; i < N; i++) {
        d->row_start[i] = N * i;
        for (int j = 0; j < N; j++)
            d->column[N * i + j] = j;
    }
    d->row_start[N] = N * N;
    d->def = (TalusProblemDef){.block_count = N,
                               .rows = 1,
                               .row_start = d->row_start,
                               .column = d->column,
                               .values = &d->a[0][0],
                               .offset = d->q};
}

/* A = B'B + shift I of `rank` rows, and q so that x is where the gradient is g. */
static void make_dense(Dense *d, uint64_t seed, int rank, double shift, const double *x,
                       const double *g)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double b[N][N];
    memset(d, 0, sizeof *d);
    for (int k = 0; k < rank; k++)
        for (int i = 0; i < N; i++)
            b[k][i] = 2.0 * talus_rng_uniform(&rng) - 1.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            for (int k = 0; k < rank; k++)
                d->a[i][j] += b[k][i] * b[k][j];
            d->a[i][j] += i == j ? shift : 0.0;
        }
    for (int i = 0; i < N; i++) {
        d->q[i] = g[i];
        for (int j = 0; j < N; j++)
            d->q[i] -= d->a[i][j] * x[j];
    }
    finish(d);
}

static void gradient(const Dense *d, const double *x, double *g)
{
    for (int i = 0; i < N; i++) {
        g[i] = d->q[i];
        for (int j = 0; j < N; j++)
            g[i] += d->a[i][j] * x[j];
    }
}

static double form(const Dense *d, const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += x[i] * d->a[i][j] * y[j];
    return sum;
}

static double dot(const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += x[i] * y[i];
    return sum;
}

static double value(const Dense *d, const double *x)
{
    return 0.5 * form(d, x, x) + dot(d->q, x);
}

static TalusSolveInfo run(const char *spec, TalusProblem *problem, double tolerance, int iterations)
{
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    return info;
}

/* The iterate after `iterations`, from d->start. */
static TalusSolveInfo iterate(const Dense *d, const char *spec, int iterations, double *x)
{
    TalusProblem *problem = NULL;
    CHECK_OK(talus_problem_create(&d->def, NULL, &problem));
    memcpy(talus_problem_gamma(problem), d->start, sizeof d->start);
    TalusSolveInfo info = run(spec, problem, 0.0, iterations);
    memcpy(x, talus_problem_gamma(problem), sizeof d->start);
    talus_problem_destroy(problem);
    return info;
}

static void check_same(const double *x, const double *expected, double tolerance)
{
    for (int i = 0; i < N; i++)
        CHECK_NEAR(x[i], expected[i], tolerance);
}

/* ---- projection steps ---- */

/* Eq. (15) and (16) written out; `whole` takes a0 along the whole gradient. */
static void dense_projection(const Dense *d, const double *x, bool whole, double mu, double *out)
{
    double g[N], p[N], step[N];
    gradient(d, x, g);
    for (int i = 0; i < N; i++)
        p[i] = !whole && x[i] == 0.0 && g[i] > 0.0 ? 0.0 : -g[i];
    for (double a = dot(p, p) / form(d, p, p);; a *= 0.5) {
        for (int i = 0; i < N; i++) {
            out[i] = fmax(0.0, x[i] - a * g[i]);
            step[i] = out[i] - x[i];
        }
        if (value(d, out) <= value(d, x) + mu * dot(g, step))
            return;
    }
}

TEST(projection_steps_follow_the_formula)
{
    const double x[N] = {0.0, 0.0, 0.0, 0.3, 0.5, 1.0, 0.1, 2.0};
    const double g[N] = {3.0, -1.0, 0.5, 0.2, 2.0, -0.4, 1.5, -1.0};
    static const char *const lines[] = {"projected", "whole"};
    for (uint64_t seed = 1; seed < 6; seed++)
        for (int i = 0; i < 4; i++) {
            double mu = i & 1 ? 0.499 : 0.01; /* the larger one asks for halved steps */
            Dense d;
            double expected[N], found[N];
            char spec[80];
            snprintf(spec, sizeof spec, "gpminres:metric=none,line=%s,mu=%g", lines[i / 2], mu);
            make_dense(&d, seed, N, 0.1, x, g);
            memcpy(d.start, x, sizeof x);
            iterate(&d, spec, 2, found); /* the first one measures the start */
            dense_projection(&d, x, i / 2, mu, expected);
            check_same(found, expected, 1e-12);
        }
}

/* Inside the set the first product serves the whole step; a0 is the best along the gradient. */
TEST(free_projection_step_costs_one_product)
{
    const double x[N] = {5.0, 6.0, 5.0, 6.0, 5.0, 6.0, 5.0, 6.0};
    const double g[N] = {0.1, -0.1, 0.2, -0.2, 0.1, -0.3, 0.1, 0.2};
    Dense d;
    double expected[N], found[N];
    make_dense(&d, 7, N, 0.5, x, g);
    memcpy(d.start, x, sizeof x);
    TalusSolveInfo info = iterate(&d, "gpcg:metric=none", 2, found);
    CHECK_INT(info.products, 2);
    double a = dot(g, g) / form(&d, g, g);
    for (int i = 0; i < N; i++)
        expected[i] = x[i] - a * g[i];
    check_same(found, expected, 1e-13);
}

/* ---- Krylov steps ---- */

/* Solves the m equations in place, by elimination; positive definite. */
static void small_solve(int m, double a[N][N], double *b)
{
    for (int k = 0; k < m; k++)
        for (int i = k + 1; i < m; i++) {
            double s = a[i][k] / a[k][k];
            for (int j = k; j < m; j++)
                a[i][j] -= s * a[k][j];
            b[i] -= s * b[k];
        }
    for (int k = m - 1; k >= 0; k--) {
        for (int j = k + 1; j < m; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
}

/* An orthonormal basis of span {g_F, A_FF g_F, ...}. */
static void krylov_basis(const Dense *d, const bool *active, const double *g, int m,
                         double basis[N][N])
{
    for (int k = 0; k < m; k++) {
        for (int i = 0; i < N; i++) {
            basis[k][i] = k ? 0.0 : g[i];
            for (int j = 0; k && j < N; j++)
                basis[k][i] += d->a[i][j] * basis[k - 1][j];
            if (active[i])
                basis[k][i] = 0.0;
        }
        for (int twice = 0; twice < 2; twice++)
            for (int l = 0; l < k; l++) {
                double s = dot(basis[l], basis[k]);
                for (int i = 0; i < N; i++)
                    basis[k][i] -= s * basis[l][i];
            }
        double norm = sqrt(dot(basis[k], basis[k]));
        for (int i = 0; i < N; i++)
            basis[k][i] /= norm;
    }
}

/* x + w with w in the Krylov space: of least f (cg), or of least residual |(g + A w)_F|. */
static void dense_krylov(const Dense *d, const double *x, bool cg, int m, double *out)
{
    double g[N], basis[N][N], image[N][N] = {{0.0}}, a[N][N], b[N];
    bool active[N];
    gradient(d, x, g);
    for (int i = 0; i < N; i++)
        active[i] = x[i] == 0.0;
    krylov_basis(d, active, g, m, basis);
    for (int k = 0; k < m; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                image[k][i] += active[i] ? 0.0 : d->a[i][j] * basis[k][j];
    for (int k = 0; k < m; k++) {
        for (int l = 0; l < m; l++)
            a[k][l] = dot(cg ? basis[k] : image[k], image[l]);
        b[k] = -dot(cg ? basis[k] : image[k], g);
    }
    small_solve(m, a, b);
    for (int i = 0; i < N; i++) {
        out[i] = x[i];
        for (int k = 0; k < m; k++)
            out[i] += b[k] * basis[k][i];
    }
}

/* Far from the bounds but for two that stay active: after one projection step, which leaves the face
 * as it is, the iterate moves through the Krylov spaces of that face. */
TEST(face_steps_are_optimal_in_their_krylov_space)
{
    const double x[N] = {5.0, 0.0, 5.0, 6.0, 0.0, 6.0, 5.0, 6.0};
    const double g[N] = {0.1, 9.0, 0.2, -0.2, 8.0, -0.3, 0.1, 0.2};
    const char *specs[] = {"gpminres:metric=none,eta2=0", "gpcg:metric=none,eta2=0"};
    for (uint64_t seed = 11; seed < 14; seed++)
        for (int cg = 0; cg < 2; cg++) {
            Dense d;
            double first[N], expected[N], found[N];
            make_dense(&d, seed, N, 0.5, x, g);
            memcpy(d.start, x, sizeof x);
            iterate(&d, specs[cg], 2, first);
            for (int m = 1; m <= 5; m++) {
                TalusSolveInfo info = iterate(&d, specs[cg], 2 + m, found);
                dense_krylov(&d, first, cg, m, expected);
                check_same(found, expected, 1e-10);
                CHECK_INT(info.products, 2 + m);
            }
        }
}

/* With the face's own factor one step is enough, in any metric. */
TEST(factor_of_the_face_needs_one_step)
{
    const double x[N] = {5.0, 0.0, 5.0, 6.0, 0.0, 6.0, 5.0, 6.0};
    const double g[N] = {0.1, 9.0, 0.2, -0.2, 8.0, -0.3, 0.1, 0.2};
    const char *specs[] = {"gpminres-p", "gpminres-p:metric=none"};
    for (int s = 0; s < 2; s++) {
        Dense d;
        double found[N], end[N];
        make_dense(&d, 21, N, 0.5, x, g);
        memcpy(d.start, x, sizeof x);
        iterate(&d, specs[s], 3, found);
        gradient(&d, found, end);
        for (int i = 0; i < N; i++)
            CHECK_NEAR(x[i] > 0.0 ? end[i] : 0.0, 0.0, 1e-12);
    }
}

/* ---- when a phase ends ---- */

typedef struct Gaps {
    int last, ones, longs, length, others;
} Gaps;

/* Projection steps are shown one by one, a Krylov phase when it is over. */
static bool see(void *user, const TalusObservation *o)
{
    Gaps *gaps = user;
    int gap = o->iteration - gaps->last;
    gaps->last = o->iteration;
    if (gap == 1)
        gaps->ones++;
    else if (gap == gaps->length)
        gaps->longs++;
    else if (gap)
        gaps->others++;
    return true;
}

static Gaps watch_phases(const char *spec, int length)
{
    TestProblem p = make_heap(&(HeapOptions){71, 4, 4, 4, 0.0, 0.0, 0.0});
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveInfo info;
    Gaps gaps = {.length = length};
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = 0.0;
    options.max_iterations = 43;
    options.observer = see;
    options.observer_user = &gaps;
    CHECK_OK(talus_problem_create(&p.def, NULL, &problem));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    free_test_problem(&p);
    return gaps;
}

TEST(phases_end_by_their_conditions)
{
    /* eta2 0: all `inner` steps. eta2 1: MINRES and CG have their largest decrease early here. */
    Gaps inner = watch_phases("gpminres:eta2=0,inner=5,binding=off", 5);
    CHECK(inner.longs >= 3 && inner.ones >= 3);
    CHECK(inner.others <= 1); /* the one that the budget cuts short */
    Gaps slow = watch_phases("gpcg:eta2=1,inner=20,binding=off", 20);
    CHECK_INT(slow.longs, 0);
    Gaps one = watch_phases("gpminres:inner=2,eta2=0,binding=off,projections=1", 2);
    CHECK(one.longs >= 12 && abs(one.ones - one.longs) <= 2);
    /* active = binding: Krylov phases follow each other, or go on, without projection steps */
    Gaps off = watch_phases("gpminres:inner=4,eta2=0,binding=off", 4);
    Gaps on = watch_phases("gpminres:inner=4,eta2=0,binding=on", 4);
    CHECK(on.ones < off.ones);
}

/* The Krylov phase goes on in a face only while its active bounds are binding: where one is not, the
 * next iteration is a projection step and frees it. */
TEST(a_bound_that_does_not_bind_ends_the_phase)
{
    const double x[N] = {5.0, 0.0, 5.0, 6.0, 0.0, 6.0, 5.0, 6.0};
    const double g[N] = {0.9, 0.01, 0.8, -0.7, 9.0, -0.9, 0.9, 0.8};
    const char *spec = "gpminres:metric=none,eta2=0,inner=2";
    int cases = 0;
    for (uint64_t seed = 51; seed < 71; seed++) {
        Dense d;
        double before[N], after[N], slope[N];
        make_dense(&d, seed, N, 0.5, x, g);
        memcpy(d.start, x, sizeof x);
        iterate(&d, spec, 2, before);
        gradient(&d, before, slope);
        if (before[1] > 0.0 || slope[1] < 0.0) /* freed by the first projection step */
            continue;
        iterate(&d, spec, 4, before);
        iterate(&d, spec, 5, after);
        gradient(&d, before, slope);
        CHECK(before[1] == 0.0);
        CHECK((slope[1] < 0.0) == (after[1] > 0.0));
        cases += slope[1] < 0.0;
    }
    CHECK(cases > 2);
}

/* ---- singular faces ---- */

static void check_optimal(const Dense *d, const double *x, double tolerance)
{
    double g[N];
    gradient(d, x, g);
    for (int i = 0; i < N; i++) {
        CHECK(x[i] >= 0.0 && isfinite(x[i]));
        CHECK(g[i] >= -tolerance);
        CHECK_NEAR(fmin(x[i], 1.0) * g[i], 0.0, tolerance);
    }
}

static const char *const all[] = {"gpcg",
                                  "gpminres",
                                  "gpminres-p",
                                  "gpcg:metric=none,line=whole",
                                  "gpminres:metric=none,line=whole",
                                  "gpminres:binding=off",
                                  "gpminres-p:metric=none,raise=1"};

enum { ALL = sizeof all / sizeof *all };

/* Rank 3 of 8. From a start with all bounds free the equations of the face contradict each other (q is
 * not in the range of A), yet the problem has a solution. */
TEST(contradicting_equations_are_solved)
{
    const double x[N] = {1.0, 0.0, 2.0, 0.0, 0.0, 0.5, 0.0, 0.0};
    const double g[N] = {0.0, 1.0, 0.0, 0.5, 2.0, 0.0, 0.7, 0.0};
    for (uint64_t seed = 31; seed < 36; seed++)
        for (int s = 0; s < ALL; s++) {
            Dense d;
            double found[N];
            make_dense(&d, seed, 3, 0.0, x, g);
            for (int warm = 0; warm < 2; warm++) {
                for (int i = 0; i < N; i++)
                    d.start[i] = warm ? 1.0 + 0.1 * i : 0.0;
                iterate(&d, all[s], 400, found);
                check_optimal(&d, found, 1e-9);
                CHECK_NEAR(value(&d, found), value(&d, x), 1e-9);
            }
        }
}

/* A file's matrix may be indefinite by rounding. */
TEST(slightly_indefinite_matrix_does_no_harm)
{
    const double x[N] = {1.0, 0.0, 2.0, 0.0, 0.0, 0.5, 0.0, 0.0};
    const double g[N] = {0.0, 1.0, 0.0, 0.5, 2.0, 0.0, 0.7, 0.3};
    for (int s = 0; s < ALL; s++) {
        Dense d;
        double found[N];
        make_dense(&d, 37, 3, -1e-9, x, g);
        iterate(&d, all[s], 400, found);
        check_optimal(&d, found, 1e-6);
    }
}

/* Nothing to gain: no step, no NaN, the whole budget. */
TEST(an_exact_solution_stays)
{
    const double x[N] = {0.0}, g[N] = {1.0, 0.0, 2.0, 1.0, 1.0, 1.0, 3.0, 1.0};
    for (int s = 0; s < ALL; s++) {
        Dense d;
        double found[N];
        make_dense(&d, 38, N, 0.5, x, g);
        TalusSolveInfo info = iterate(&d, all[s], 9, found);
        CHECK_INT(info.iterations, 9);
        CHECK(info.outcome == TALUS_OUTCOME_BUDGET);
        check_same(found, x, 0.0);
    }
}

/* ---- scale ---- */

TEST(powers_of_two_do_not_show)
{
    TestProblem p = make_explicit(41, 40, 1), scaled = copy_test_problem(&p.def, "scaled");
    int n = verify_size(&p.def);
    for (int32_t k = 0; k < p.def.row_start[n]; k++)
        ((double *)scaled.def.values)[k] *= ldexp(1.0, 30);
    for (int k = 0; k < n; k++)
        ((double *)scaled.def.offset)[k] *= ldexp(1.0, -20);
    TalusProblem *a = NULL, *b = NULL;
    CHECK_OK(talus_problem_create(&p.def, NULL, &a));
    CHECK_OK(talus_problem_create(&scaled.def, NULL, &b));
    for (int s = 0; s < ALL; s++) {
        double *x = talus_problem_gamma(a), *y = talus_problem_gamma(b);
        memset(x, 0, (size_t)n * sizeof *x);
        memset(y, 0, (size_t)n * sizeof *y);
        run(all[s], a, 0.0, 30);
        run(all[s], b, 0.0, 30);
        for (int k = 0; k < n; k++)
            CHECK(ldexp(x[k], -50) == y[k]);
    }
    talus_problem_destroy(a);
    talus_problem_destroy(b);
    free_test_problem(&p);
    free_test_problem(&scaled);
}

int main(void)
{
    RUN(projection_steps_follow_the_formula);
    RUN(free_projection_step_costs_one_product);
    RUN(face_steps_are_optimal_in_their_krylov_space);
    RUN(factor_of_the_face_needs_one_step);
    RUN(phases_end_by_their_conditions);
    RUN(a_bound_that_does_not_bind_ends_the_phase);
    RUN(contradicting_equations_are_solved);
    RUN(slightly_indefinite_matrix_does_no_harm);
    RUN(an_exact_solution_stays);
    RUN(powers_of_two_do_not_show);
    return talus_test_result();
}
