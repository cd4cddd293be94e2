/* spg, anderson, admm: single iterations against dense formulas, what is returned, finite termination,
 * step lengths that are too long, powers of two, stacks that are held in more ways than needed. */
#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include "backend/random.h"
#include "base/rng.h"
#include "solvers/first_order/dense.h"
#include "solvers/first_order/gll.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/fclib.h>
#include <talus/set.h>
#include <talus/solver.h>
#include <unistd.h>

enum { BLOCKS = 5, N = 3 * BLOCKS, SEEN = 40 };

/* ---- a dense problem with cones ---- */

typedef struct Dense {
    double a[N][N], q[N], mu[BLOCKS];
    int32_t row_start[N + 1], column[N * N];
    TalusProblemDef def;
} Dense;

/* A = B'B + shift I with rows of different size, times `scale`; q times `push`. */
static void make_shifted(Dense *d, uint64_t seed, double shift, double scale, double push)
{
    TalusRng rng = talus_rng_from_seed(seed);
    double b[N][N], size[BLOCKS];
    memset(d, 0, sizeof *d);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            b[i][j] = talus_rng_uniform(&rng) - 0.5;
    for (int i = 0; i < BLOCKS; i++) {
        d->mu[i] = 0.2 + 0.5 * talus_rng_uniform(&rng);
        size[i] = 0.5 + 2.0 * talus_rng_uniform(&rng);
    }
    for (int i = 0; i < N; i++) {
        d->q[i] = push * ((i % 3 ? 0.0 : -1.0) + talus_rng_uniform(&rng) - 0.5);
        d->row_start[i + 1] = N * (i + 1);
        for (int j = 0; j < N; j++) {
            d->a[i][j] = i == j ? shift : 0.0;
            for (int k = 0; k < N; k++)
                d->a[i][j] += b[k][i] * b[k][j];
            d->a[i][j] *= scale * size[i / 3] * size[j / 3];
            d->column[N * i + j] = j;
        }
    }
    d->def = (TalusProblemDef){.block_count = BLOCKS,
                               .rows = 3,
                               .row_start = d->row_start,
                               .column = d->column,
                               .values = &d->a[0][0],
                               .offset = d->q,
                               .mu = d->mu};
}

static void make_dense(Dense *d, uint64_t seed, double scale, double push)
{
    make_shifted(d, seed, 1.0, scale, push);
}

static void multiply(const Dense *d, const double *x, double *out)
{
    for (int i = 0; i < N; i++) {
        out[i] = 0.0;
        for (int j = 0; j < N; j++)
            out[i] += d->a[i][j] * x[j];
    }
}

static void gradient_of(const Dense *d, const double *x, double *g)
{
    multiply(d, x, g);
    for (int i = 0; i < N; i++)
        g[i] += d->q[i];
}

static double dot(const double *x, const double *y)
{
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += x[i] * y[i];
    return sum;
}

static void project_all(const Dense *d, double *x)
{
    for (int i = 0; i < BLOCKS; i++)
        talus_set_project((TalusFrictionModel){0}, 3, d->mu[i], NULL, 0.0, x + 3 * i);
}

static double mean_diagonal(const Dense *d, int row)
{
    int i = row / 3 * 3;
    return (d->a[i][i] + d->a[i + 1][i + 1] + d->a[i + 2][i + 2]) / 3.0;
}

/* ---- running a solver ---- */

typedef struct Seen {
    int count;
    double gamma[SEEN][N];
} Seen;

static bool see(void *user, const TalusObservation *observation)
{
    Seen *seen = user; /* at the end the iterate that is returned may be shown once more */
    if (seen->count < SEEN && observation->iteration == seen->count + 1)
        memcpy(seen->gamma[seen->count++], observation->gamma, sizeof *seen->gamma);
    return true;
}

static TalusSolveInfo run(const char *spec, const TalusProblemDef *def, double tolerance,
                          int iterations, Seen *seen, double *gamma)
{
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveInfo info = {.outcome = TALUS_OUTCOME_DIVERGED};
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    if (seen) {
        *seen = (Seen){0};
        options.observer = see;
        options.observer_user = seen;
    }
    CHECK_OK(talus_problem_create(def, NULL, &problem));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    if (gamma)
        memcpy(gamma, talus_problem_gamma(problem),
               (size_t)talus_problem_size(problem) * sizeof *gamma);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    return info;
}

static bool same(const double *a, const double *b)
{
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < N; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
        size = fmax(size, fabs(b[i]));
    }
    return CHECK_NEAR(worst, 0.0, 1e-12 * fmax(size, 1.0));
}

/* ---- spg ---- */

/* The listing of heyn-2012 in the unknowns gamma, with gll = 0: an Armijo search on the last value. */
static void paper_spg(const Dense *d, bool preconditioned, double unit, int iterations, Seen *out)
{
    double x[N] = {0}, g[N], alpha = unit;
    for (int j = 0; j < iterations; j++) {
        double p[N], dir[N], nd[N], sps = 0.0, yy = 0.0, lambda = 1.0;
        memcpy(out->gamma[j], x, sizeof x);
        gradient_of(d, x, g);
        for (int i = 0; i < N; i++) {
            p[i] = preconditioned ? mean_diagonal(d, i) : 1.0;
            dir[i] = x[i] - alpha * g[i] / p[i];
        }
        project_all(d, dir);
        for (int i = 0; i < N; i++)
            dir[i] -= x[i];
        multiply(d, dir, nd);
        double slope = dot(dir, g), curvature = dot(dir, nd);
        while (lambda * slope + 0.5 * lambda * lambda * curvature > 1e-4 * lambda * slope)
            lambda = fmin(fmax(-slope / curvature, 0.1 * lambda), 0.9 * lambda);
        for (int i = 0; i < N; i++) {
            x[i] += lambda * dir[i];
            sps += dir[i] * p[i] * dir[i];
            yy += nd[i] * nd[i] / p[i];
        }
        alpha = j % 2 ? sps / curvature : curvature / yy;
    }
}

/* |N v| of the vector that the power iteration starts from: the unit of an unscaled step. */
static double size_of_operator(const Dense *d)
{
    const TalusContactKeys keys = {.pair = NULL};
    double v[N], nv[N];
    for (int i = 0; i < N; i++)
        v[i] = talus_random_entry(talus_random_key(&keys, i / 3), i % 3);
    multiply(d, v, nv);
    return sqrt(dot(nv, nv) / dot(v, v));
}

TEST(spg_follows_the_listing)
{
    for (int k = 0; k < 6; k++) {
        Dense d;
        Seen seen, paper;
        bool preconditioned = k % 2 == 0;
        make_dense(&d, 40 + (uint64_t)k, 1.0, 1.0);
        run(preconditioned ? "spg:gll=0" : "spg:gll=0,precondition=off", &d.def, 0.0, 7, &seen,
            NULL);
        paper_spg(&d, preconditioned, preconditioned ? 1.0 : 1.0 / size_of_operator(&d), 7, &paper);
        CHECK_INT(seen.count, 7);
        for (int j = 0; j < 7; j++)
            same(seen.gamma[j], paper.gamma[j]);
    }
}

/* Heyn's Eq. (24) in the preconditioned variables. */
static double fallback_measure(const Dense *d, const double *x, double tau)
{
    double g[N], t[N], sum = 0.0;
    gradient_of(d, x, g);
    for (int i = 0; i < N; i++)
        t[i] = x[i] - tau * g[i] / mean_diagonal(d, i);
    project_all(d, t);
    for (int i = 0; i < N; i++)
        sum += (x[i] - t[i]) * (x[i] - t[i]) * mean_diagonal(d, i);
    return sqrt(sum) / tau;
}

TEST(spg_returns_the_best_iterate)
{
    int not_last = 0;
    for (int k = 0; k < 24; k++) {
        Dense d;
        Seen seen;
        double gamma[N];
        make_shifted(&d, 60 + (uint64_t)k, 1e-3, 1.0, 1.0);
        run("spg:step=bb1,tau_g=0.01", &d.def, 0.0, 10 + k, &seen, gamma);
        int best = 0;
        for (int j = 1; j < seen.count; j++)
            if (fallback_measure(&d, seen.gamma[j], 0.01) <=
                fallback_measure(&d, seen.gamma[best], 0.01))
                best = j;
        not_last += best < seen.count - 1;
        same(gamma, seen.gamma[best]);
    }
    CHECK(not_last > 0);
}

/* Near the end d'g is a sum of large terms that cancel. A line search that believes it needs 600 iterations
 * here, the one that knows d'g <= -|d|^2 / alpha needs 37. */
TEST(spg_reaches_the_last_digits)
{
    Dense d;
    make_dense(&d, 71, 1.0, 1.0);
    for (int i = 0; i < N; i += 3) { /* all contacts carry load and slide */
        d.q[i] -= 3.0;
        d.q[i + 1] += 9.0;
    }
    double start = verify_residual(&d.def, (double[N]){0}).rms;
    TalusSolveInfo info = run("spg:gll=0", &d.def, 1e-14 * start, 80, NULL, NULL);
    CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
}

/* ---- scale ---- */

TEST(powers_of_two_change_no_bit)
{
    static const char *const specs[] = {"spg",
                                        "spg:precondition=off",
                                        "anderson",
                                        "anderson:map=gradient",
                                        "admm",
                                        "admm:x_step=proximal",
                                        "spg:step=bb2,tau_g=0.1",
                                        "admm:anderson=0,adapt=3,change=1"};
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        Dense d, scaled;
        double gamma[N], other[N];
        make_dense(&d, 80, 1.0, 1.0);
        make_dense(&scaled, 80, 0x1p-40, 0x1p7);
        run(specs[s], &d.def, 0.0, 33, NULL, gamma);
        run(specs[s], &scaled.def, 0.0, 33, NULL, other);
        int differ = 0;
        for (int i = 0; i < N; i++)
            differ += gamma[i] * 0x1p47 != other[i];
        if (!CHECK_INT(differ, 0))
            printf("    with %s\n", specs[s]);
    }
}

/* ---- anderson ---- */

/* With every contact inside its cone the map is affine: with a memory of all its dimensions the method
 * ends after one step more than there are, whatever the plain iteration needs. */
TEST(anderson_ends_on_an_affine_map)
{
    Dense d;
    double solution[N], g[N];
    make_dense(&d, 90, 1.0, 0.0);
    for (int i = 0; i < N; i++)
        solution[i] = i % 3 ? 0.0 : 1.0;
    multiply(&d, solution, g);
    for (int i = 0; i < N; i++)
        d.q[i] = -g[i];
    for (int i = 0; i < BLOCKS; i++)
        d.mu[i] = 50.0;
    double start = verify_residual(&d.def, (double[N]){0}).rms;
    TalusSolveInfo full =
        run("anderson:memory=20,regular=0", &d.def, 1e-9 * start, 1000, NULL, NULL);
    TalusSolveInfo plain = run("anderson:memory=1", &d.def, 1e-9 * start, 1000, NULL, NULL);
    CHECK(full.outcome == TALUS_OUTCOME_CONVERGED && full.iterations <= N + 4);
    CHECK(plain.iterations > 3 * full.iterations);
}

/* omega = 10 makes the plain map expand; it is halved until it does not. */
TEST(anderson_shortens_a_step_that_is_too_long)
{
    TestProblem p = make_heap(&(HeapOptions){91, 4, 4, 3, 0.3, 0.0, 0.2});
    double *zero = calloc((size_t)verify_size(&p.def), sizeof *zero);
    double start = verify_residual(&p.def, zero).rms;
    static const char *const specs[] = {"anderson:omega=10", "anderson:map=gradient,omega=10"};
    for (int s = 0; s < 2; s++) {
        TalusSolveInfo info = run(specs[s], &p.def, 1e-8 * start, 3000, NULL, NULL);
        CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
    }
    free(zero);
    free_test_problem(&p);
}

/* ---- admm ---- */

/* Solves m x = x by elimination. */
static void eliminate(double m[N][N], double *x)
{
    for (int k = 0; k < N; k++)
        for (int i = k + 1; i < N; i++) {
            double f = m[i][k] / m[k][k];
            for (int j = k; j < N; j++)
                m[i][j] -= f * m[k][j];
            x[i] -= f * x[k];
        }
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++)
            x[i] -= m[i][j] * x[j];
        x[i] /= m[i][i];
    }
}

/* The metric of row i squared, inverted: its normal or mean tangential diagonal entry. */
static double anisotropic(const Dense *d, int i)
{
    int n = i / 3 * 3;
    return i % 3 ? 0.5 * (d->a[n + 1][n + 1] + d->a[n + 2][n + 2]) : d->a[n][n];
}

/* In that metric the projection is that of talus_project_cone with other weights. */
static void project_scaled(const Dense *d, double *x)
{
    for (int i = 0; i < BLOCKS; i++) {
        double sn = sqrt(anisotropic(d, 3 * i)), st = sqrt(anisotropic(d, 3 * i + 1));
        double block[3] = {x[3 * i] * sn, x[3 * i + 1] * st, x[3 * i + 2] * st};
        talus_set_project((TalusFrictionModel){0}, 3, d->mu[i] * st / sn, NULL, 0.0, block);
        x[3 * i] = block[0] / sn;
        x[3 * i + 1] = block[1] / st;
        x[3 * i + 2] = block[2] / st;
    }
}

/* From gamma = 0 with the textbook's steps in the unknowns gamma: x = (N + rho D)^-1 (rho D (z - u) - q),
 * D the diagonal of the metric. At 0 the tangent cone is K, so u is what -q / rho lacks to be in K. */
TEST(admm_follows_the_textbook)
{
    const double rho = 0.3, relax = 1.6;
    Dense d;
    Seen seen;
    make_dense(&d, 100, 1.0, 1.0);
    TalusSolveInfo info = run("admm:anderson=0,adapt=0,x_step=direct", &d.def, 0.0, 6, &seen, NULL);
    CHECK_INT(info.products, 2 * 6); /* one at the start, one at each z, five solves */
    double z[N] = {0}, u[N], w[N];
    for (int i = 0; i < N; i++)
        u[i] = -d.q[i] / (rho * anisotropic(&d, i));
    memcpy(w, u, sizeof w);
    project_scaled(&d, u);
    for (int i = 0; i < N; i++)
        w[i] -= u[i];
    for (int k = 0; k < 6; k++) {
        double m[N][N], x[N];
        memcpy(z, w, sizeof z);
        project_scaled(&d, z);
        same(seen.gamma[k], z);
        memcpy(m, d.a, sizeof m);
        for (int i = 0; i < N; i++) {
            m[i][i] += rho * anisotropic(&d, i);
            x[i] = rho * anisotropic(&d, i) * (2.0 * z[i] - w[i]) - d.q[i];
        }
        eliminate(m, x);
        for (int i = 0; i < N; i++)
            w[i] += relax * (x[i] - z[i]);
    }
}

/* The three forms of the x-step on planted optima; the proximal one is otherwise only met on problems
 * that are too large for the others. */
TEST(admm_forms_agree)
{
    static const char *const specs[] = {"admm:x_step=direct", "admm:x_step=proximal",
                                        "admm:x_step=direct,anderson=0", "admm:change=1,adapt=1"};
    TestProblem problems[KNOWN_PROBLEMS];
    make_known(problems);
    for (int i = 0; i < KNOWN_PROBLEMS; i++) {
        TestProblem *p = &problems[i];
        int n = verify_size(&p->def);
        double *gamma = calloc((size_t)n, sizeof *gamma), *g = calloc((size_t)n, sizeof *g);
        double start = verify_residual(&p->def, gamma).rms;
        for (int s = 0; s < 4; s++) {
            TalusSolveInfo info = run(specs[s], &p->def, 1e-11 * start, 20000, NULL, gamma);
            bool ok = CHECK(info.outcome == TALUS_OUTCOME_CONVERGED);
            double worst = 0.0;
            verify_gradient(&p->def, gamma, g);
            for (int k = 0; k < n; k++)
                worst = fmax(worst, fabs(g[k] - p->gradient[k]));
            ok &= CHECK_NEAR(worst, 0.0, 1e-8 * verify_scale(&p->def, p->gamma));
            if (!ok)
                printf("    with %s on %s\n", specs[s], p->name);
        }
        free(gamma);
        free(g);
        free_test_problem(p);
    }
}

/* Off-diagonal blocks three times as large: N is indefinite, and so is N + rho D at first. */
TEST(admm_survives_an_indefinite_matrix)
{
    Dense d;
    double gamma[N], m[N][N], unused[N] = {0};
    int negative = 0;
    make_dense(&d, 110, 1.0, 1.0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (i / 3 != j / 3)
                d.a[i][j] *= 3.0;
    memcpy(m, d.a, sizeof m);
    for (int i = 0; i < N; i++)
        m[i][i] += 0.3 * anisotropic(&d, i);
    eliminate(m, unused);
    for (int i = 0; i < N; i++)
        negative += m[i][i] < 0.0;
    CHECK(negative > 0);
    TalusSolveInfo info = run("admm:x_step=direct", &d.def, 1e-9, 300, NULL, gamma);
    double sum = 0.0;
    for (int i = 0; i < N; i++)
        sum += gamma[i];
    CHECK(isfinite(sum) && isfinite(info.residual.rms));
    CHECK_INT(info.products, 2 * info.iterations); /* a larger rho was found: the step is direct */
}

/* ---- real problems ---- */

static void solve_real(const char *folder, const char *name, const char *spec, int iterations)
{
    char path[1024];
    TalusFclib *file = NULL;
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusResidual zero;
    TalusSolveInfo info;
    snprintf(path, sizeof path, "%s/problems/problems/%s.hdf5", folder, name);
    REQUIRE_OK(talus_fclib_read(path, &file));
    CHECK_OK(talus_fclib_problem(file, NULL, NULL, &problem));
    CHECK_OK(talus_solver_create(spec, &solver));
    talus_problem_residual(problem, talus_problem_gamma(problem), &zero);
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = 1e-8 * zero.rms;
    options.max_iterations = iterations;
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    if (!CHECK(info.outcome == TALUS_OUTCOME_CONVERGED))
        printf("    with %s on %s\n", spec, name);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    talus_fclib_destroy(file);
}

/* About twice the iterations that were measured. */
TEST(stacks_with_too_many_supports_are_solved)
{
    const char *folder = getenv("TALUS_SHARED");
    char path[1024];
    snprintf(path, sizeof path, "%s/problems/problems", folder ? folder : "");
    if (!talus_fclib_available() || access(path, R_OK) != 0)
        SKIP("needs HDF5 and the shared problems beside the source tree");
    solve_real(folder, "BoxesStack-fclibtest", "admm", 600);
    solve_real(folder, "KaplasTower-i1061-4", "admm", 100);
    solve_real(folder, "Capsules-i101-404", "admm", 700);
    solve_real(folder, "BoxesStack-fclibtest", "anderson", 6000);
    solve_real(folder, "KaplasTower-i1061-4", "anderson", 1000);
    solve_real(folder, "Capsules-i101-404", "anderson", 1200);
    solve_real(folder, "KaplasTower-i1061-4", "spg", 700);
}

/* ---- small dense algebra ---- */

TEST(normal_equations)
{
    /* F = (1 0; 0 2; 0 0), f = (3, 4, 9): c = (3, 2); the third column is empty */
    const double gram[9] = {1.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0},
                 right[3] = {3.0, 8.0, 0.0};
    double c[3];
    CHECK(talus_dense_least_squares(3, 3, gram, right, 0.0, c));
    CHECK(c[0] == 3.0 && c[1] == 2.0 && c[2] == 0.0);
    /* two equal columns share what belongs to one, once something is added to the diagonal */
    const double twice[4] = {4.0, 4.0, 4.0, 4.0}, both[2] = {8.0, 8.0};
    CHECK(!talus_dense_least_squares(2, 2, twice, both, 0.0, c));
    CHECK(c[0] == 0.0 && c[1] == 0.0);
    CHECK(talus_dense_least_squares(2, 2, twice, both, 1e-8, c));
    CHECK_NEAR(c[0], 1.0, 1e-7);
    CHECK_NEAR(c[1], 1.0, 1e-7);
    const double broken[1] = {NAN};
    CHECK(talus_dense_least_squares(1, 1, broken, both, 0.0, c) && c[0] == 0.0);
    const double infinite[2] = {INFINITY, 8.0};
    CHECK(!talus_dense_least_squares(2, 2, gram, infinite, 0.0, c));
}

/* ---- the memory of the line search ---- */

/* The ceiling is the largest of the last values, whatever came between: an iteration without a step takes no place. */
TEST(old_values_leave_the_memory)
{
    const double values[] = {9.0, 5.0, 7.0, 6.0, 6.5, 3.0, 4.0, 2.0, 2.5, 1.0, 1.5, 0.5};
    enum { VALUES = sizeof values / sizeof *values };
    for (int memory = 0; memory < 6; memory++) {
        TalusGll gll = {.memory = memory};
        for (int k = 1; k < VALUES; k++) {
            double most = values[k];
            for (int i = k - memory > 0 ? k - memory : 0; i < k; i++)
                most = fmax(most, values[i]);
            talus_gll_add(&gll, values[k] - values[k - 1]);
            CHECK_NEAR(talus_gll_ceiling(&gll), most - values[k], 1e-15);
        }
    }
}

int main(void)
{
    RUN(old_values_leave_the_memory);
    RUN(spg_follows_the_listing);
    RUN(spg_returns_the_best_iterate);
    RUN(spg_reaches_the_last_digits);
    RUN(powers_of_two_change_no_bit);
    RUN(anderson_ends_on_an_affine_map);
    RUN(anderson_shortens_a_step_that_is_too_long);
    RUN(admm_follows_the_textbook);
    RUN(admm_forms_agree);
    RUN(admm_survives_an_indefinite_matrix);
    RUN(stacks_with_too_many_supports_are_solved);
    RUN(normal_equations);
    return talus_test_result();
}
