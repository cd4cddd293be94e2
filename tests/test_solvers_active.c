/* kucera, mprgp, pgd and cpg, step by step against their listings written out with a full matrix. */

#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

enum { STEPS = 50, POWER_PRODUCTS = 12, MAX_SIZE = 96 };

/* ---- iterates of a solver ---- */

typedef struct Trace {
    int count, n;
    double x[STEPS][MAX_SIZE];
    int products[STEPS];
} Trace;

/* Iteration 1 shows the starting point with its residual, iteration k + 1 the k-th step. */
static bool record(void *user, const TalusObservation *o)
{
    Trace *t = user;
    if (o->iteration >= 1 && o->iteration <= STEPS) {
        memcpy(t->x[o->iteration - 1], o->gamma, (size_t)t->n * sizeof(double));
        t->products[o->iteration - 1] = o->products;
        t->count = o->iteration;
    }
    return true;
}

static void trace_solver(const char *spec, const TestProblem *p, int steps, Trace *t)
{
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    t->count = 0;
    t->n = verify_size(&p->def);
    options.tolerance = 0.0;
    options.max_iterations = steps;
    options.observer = record;
    options.observer_user = t;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    CHECK_INT(t->count, steps);
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
}

/* ---- the same by hand ---- */

typedef struct Dense {
    const TalusProblemDef *def;
    int n, rows, blocks, products;
    double matrix[MAX_SIZE * MAX_SIZE], q[MAX_SIZE];
    double x[MAX_SIZE], g[MAX_SIZE], p[MAX_SIZE];
    bool has_p; /* p continues a chain of conjugate directions */
    bool rose;  /* a projected step of conjugate gradients has raised the objective */
    /* Spectral steps: length, 0: none; objectives at the points of the series, less that at its start; active blocks at
     * the last direction. */
    double length, objectives[STEPS + 1];
    int points, active;
    double norm; /* as the solver estimates it: raised where a direction shows more curvature */
    int steps[3], spectral, cut; /* numbers of steps, and of those that are not whole */
} Dense;

enum { ON_FACE, EXPANSION, PROPORTIONING };

static Dense *make_dense(const TestProblem *p)
{
    Dense *d = calloc(1, sizeof *d);
    d->def = &p->def;
    d->n = verify_size(&p->def);
    d->rows = verify_rows(&p->def);
    d->blocks = verify_blocks(&p->def);
    if (!CHECK(d->n <= MAX_SIZE))
        abort();
    verify_matrix(&p->def, d->matrix);
    verify_velocity(&p->def, NULL, d->q);
    memcpy(d->g, d->q, sizeof d->q);
    return d;
}

static void times(const Dense *d, const double *x, double *out)
{
    for (int i = 0; i < d->n; i++) {
        out[i] = 0.0;
        for (int k = 0; k < d->n; k++)
            out[i] += d->matrix[i * d->n + k] * x[k];
    }
}

static double inner(const Dense *d, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < d->n; k++)
        sum += a[k] * b[k];
    return sum;
}

static void raise_norm(Dense *d, const double *v, const double *nv)
{
    double curvature = inner(d, v, nv), size = inner(d, v, v);
    if (curvature > d->norm * size && size > 0.0)
        d->norm = 1.02 * curvature / size;
}

static void gradient_at_x(Dense *d)
{
    times(d, d->x, d->g);
    for (int k = 0; k < d->n; k++)
        d->g[k] += d->q[k];
}

static void project_all(const Dense *d, double *x)
{
    for (int i = 0; i < d->blocks; i++)
        verify_cone_project(d->rows, verify_mu(d->def, i), x + i * d->rows);
}

static bool active(const Dense *d, const double *x, int i)
{
    const double *b = x + i * d->rows;
    if (b[0] <= 0.0)
        return true;
    double mu = verify_mu(d->def, i);
    return d->rows == 3 && mu > 0.0 && hypot(b[1], b[2]) >= mu * b[0] * (1.0 - 1e-12);
}

/* The part of v on the blocks of x that are active, or on those that are not, where a block without
 * friction has nothing but its normal row. */
static void part(const Dense *d, const double *x, const double *v, bool want, double *out)
{
    for (int k = 0; k < d->n; k++) {
        int i = k / d->rows;
        bool none = !want && k % d->rows > 0 && verify_mu(d->def, i) == 0.0;
        out[k] = active(d, x, i) == want && !none ? v[k] : 0.0;
    }
}

/* Whether y is in the set, on the blocks that are free at x: the others have not moved. */
static bool feasible(const Dense *d, const double *y)
{
    for (int i = 0; i < d->blocks; i++) {
        const double *b = y + i * d->rows;
        if (active(d, d->x, i))
            continue;
        if (b[0] < 0.0 || (d->rows == 3 && hypot(b[1], b[2]) > verify_mu(d->def, i) * b[0]))
            return false;
    }
    return true;
}

/* The largest a up to `most` with x - a p in the set, by bisection. */
static double last_feasible(const Dense *d, double most)
{
    double low = 0.0, high = most, y[MAX_SIZE];
    for (int i = 0; i < 200; i++) {
        double a = i ? 0.5 * (low + high) : most;
        for (int k = 0; k < d->n; k++)
            y[k] = d->x[k] - a * d->p[k];
        if (feasible(d, y))
            low = a;
        else
            high = a;
        if (low == high)
            break;
    }
    return low;
}

/* x = P(x - a v), then g. */
static void gradient_step(Dense *d, double a, const double *v)
{
    double dx[MAX_SIZE], ndx[MAX_SIZE];
    memcpy(dx, d->x, sizeof dx);
    for (int k = 0; k < d->n; k++)
        d->x[k] -= a * v[k];
    project_all(d, d->x);
    for (int k = 0; k < d->n; k++)
        dx[k] -= d->x[k];
    times(d, dx, ndx);
    raise_norm(d, dx, ndx);
    gradient_at_x(d);
    d->has_p = false;
    d->products++;
}

/* What follows where a step would leave the set: pospisil-2015's text, its proof's half step, projected conjugate
 * gradients, spectral steps. */
typedef enum Expansion { GRADIENT, HALF_STEP, PROJECTED_CG, SPECTRAL } Expansion;

/* Change of the objective from x to x - a p, np = N p: no difference of its values. */
static double change_along(const Dense *d, double a, const double *np)
{
    return -a * inner(d, d->g, d->p) + 0.5 * a * a * inner(d, d->p, np);
}

static int count_active(const Dense *d)
{
    int count = 0;
    for (int i = 0; i < d->blocks; i++)
        count += active(d, d->x, i);
    return count;
}

/* A projected gradient step of Barzilai and Borwein's length, whole unless that ends above the last ten points. */
static void spectral_step(Dense *d)
{
    double np[MAX_SIZE], most = -HUGE_VAL;
    d->active = count_active(d);
    for (int k = 0; k < d->n; k++)
        d->p[k] = d->x[k] - d->length * d->g[k];
    project_all(d, d->p);
    for (int k = 0; k < d->n; k++)
        d->p[k] = d->x[k] - d->p[k];
    times(d, d->p, np);
    raise_norm(d, d->p, np);
    d->products++;
    double best = inner(d, d->g, d->p) / inner(d, d->p, np);
    for (int k = d->points > 10 ? d->points - 10 : 0; k < d->points; k++)
        most = fmax(most, d->objectives[k]);
    double now = d->objectives[d->points - 1], a = 1.0;
    if (now + change_along(d, 1.0, np) > most) {
        a = best;
        d->cut++;
    }
    d->objectives[d->points++] = now + change_along(d, a, np);
    for (int k = 0; k < d->n; k++)
        d->x[k] -= a * d->p[k];
    project_all(d, d->x);
    gradient_at_x(d);
    d->length = inner(d, d->p, d->p) / inner(d, d->p, np);
    d->has_p = false;
    d->spectral++;
}

/* Conjugate gradients on the face, or the expansion: heyn-2012 lines 6 to 17. */
static void face_step(Dense *d, double step, Expansion expansion)
{
    double phi[MAX_SIZE], np[MAX_SIZE];
    d->length = 0.0;
    d->active = count_active(d);
    part(d, d->x, d->g, false, phi);
    times(d, d->p, np);
    double rho = d->has_p ? inner(d, phi, np) / inner(d, d->p, np) : 0.0;
    for (int k = 0; k < d->n; k++)
        d->p[k] = phi[k] - (d->has_p ? rho * d->p[k] : 0.0);
    times(d, d->p, np);
    raise_norm(d, d->p, np);
    d->products++;
    double cg = inner(d, d->g, d->p) / inner(d, d->p, np), a = last_feasible(d, cg);
    bool whole = a == cg;
    d->steps[whole ? ON_FACE : EXPANSION]++;
    if (!whole && expansion == PROJECTED_CG && !d->rose) {
        double from[MAX_SIZE], step[MAX_SIZE], nstep[MAX_SIZE];
        memcpy(from, d->x, sizeof from);
        gradient_step(d, cg, d->p);
        for (int k = 0; k < d->n; k++)
            step[k] = from[k] - d->x[k];
        times(d, step, nstep);
        d->rose = !(inner(d, step, d->g) + 0.5 * inner(d, step, nstep) > 0.0);
        return;
    }
    if (!whole && expansion == GRADIENT)
        a = 0.0;
    for (int k = 0; k < d->n; k++) {
        d->x[k] -= a * d->p[k];
        d->g[k] -= a * np[k];
    }
    d->has_p = true;
    if (whole)
        return;
    for (int i = 0; i < d->blocks; i++) /* the block that stopped it is at its bound */
        if (d->rows == 1 && expansion != GRADIENT && d->x[i] < 1e-13)
            d->x[i] = 0.0;
    if (expansion == SPECTRAL) {
        d->length = inner(d, d->p, d->p) / inner(d, d->p, np);
        project_all(d, d->x);
        d->objectives[0] = 0.0;
        d->points = 1;
        d->has_p = false;
        return;
    }
    part(d, d->x, d->g, false, phi);
    gradient_step(d, step, phi);
}

static void kucera_step(Dense *d, double factor, double gamma)
{
    double step = factor / d->norm;
    double moved[MAX_SIZE], beta[MAX_SIZE], phi[MAX_SIZE];
    for (int k = 0; k < d->n; k++)
        moved[k] = d->x[k] - step * d->g[k];
    project_all(d, moved);
    for (int k = 0; k < d->n; k++)
        moved[k] = (d->x[k] - moved[k]) / step;
    part(d, d->x, moved, true, beta);
    part(d, d->x, moved, false, phi);
    if (inner(d, beta, d->g) <= gamma * gamma * inner(d, phi, d->g)) {
        face_step(d, step, HALF_STEP);
    } else {
        part(d, d->x, d->g, true, beta);
        gradient_step(d, step, beta);
        d->steps[PROPORTIONING]++;
    }
}

static void mprgp_step(Dense *d, double factor, double gamma, Expansion expansion)
{
    double step = factor / d->norm;
    double phi[MAX_SIZE], beta[MAX_SIZE], moved[MAX_SIZE], nb[MAX_SIZE];
    for (int k = 0; k < d->n; k++)
        moved[k] = d->x[k] - step * d->g[k];
    project_all(d, moved);
    for (int k = 0; k < d->n; k++)
        moved[k] = (d->x[k] - moved[k]) / step;
    part(d, d->x, d->g, false, phi);
    part(d, d->x, moved, true, beta);
    bool proportional = sqrt(inner(d, beta, beta)) <= gamma * sqrt(inner(d, phi, phi));
    if (d->length > 0.0 && (count_active(d) != d->active || !proportional)) {
        spectral_step(d);
        return;
    }
    if (proportional) {
        face_step(d, step, expansion);
        return;
    }
    d->steps[PROPORTIONING]++;
    if (d->rows == 3) {
        memcpy(nb, d->g, sizeof nb);
        gradient_step(d, step, nb);
        return;
    }
    times(d, beta, nb);
    double a = inner(d, beta, d->g) / inner(d, beta, nb);
    gradient_step(d, a, beta);
}

/* Preclik's Algorithms 1 and 2 on bounds. */
static void tangent(const Dense *d, double *v)
{
    for (int k = 0; k < d->n; k++)
        v[k] = d->x[k] > 0.0 || v[k] > 0.0 ? v[k] : 0.0;
}

typedef enum Descent { PGD, CPG_ONE, CPG_TWO } Descent;

static void descent_step(Dense *d, Descent kind)
{
    double r[MAX_SIZE], old[MAX_SIZE], np[MAX_SIZE], beta = 0.0;
    for (int k = 0; k < d->n; k++)
        r[k] = -d->g[k];
    tangent(d, r);
    if (kind != PGD && d->has_p) {
        memcpy(old, d->p, sizeof old);
        tangent(d, d->p);
        bool changed = memcmp(old, d->p, (size_t)d->n * sizeof *old) != 0;
        const double *conjugate = kind == CPG_TWO ? d->p : old;
        times(d, conjugate, np);
        beta = -inner(d, r, np) / inner(d, conjugate, np);
        d->products += kind == CPG_TWO && changed;
    }
    for (int k = 0; k < d->n; k++)
        d->p[k] = r[k] + (beta == 0.0 ? 0.0 : beta * d->p[k]);
    d->has_p = true;
    times(d, d->p, np);
    double a = -inner(d, d->g, d->p) / inner(d, d->p, np);
    bool changed = false;
    for (int k = 0; k < d->n; k++) {
        d->x[k] += a * d->p[k];
        changed |= d->x[k] < 0.0;
    }
    project_all(d, d->x);
    gradient_at_x(d);
    d->products += 1 + (changed || kind == CPG_TWO);
}

/* ---- comparing ---- */

/* Largest eigenvalue by a long power iteration. */
static double norm_of(const Dense *d)
{
    double v[MAX_SIZE], w[MAX_SIZE], size = 0.0;
    for (int k = 0; k < d->n; k++)
        v[k] = 1.0 + 0.1 * (k % 7);
    for (int i = 0; i < 3000; i++) {
        times(d, v, w);
        size = sqrt(inner(d, w, w));
        for (int k = 0; k < d->n; k++)
            v[k] = w[k] / size;
    }
    return size;
}

static bool same_iterate(const Trace *t, int k, const Dense *d, const char *spec)
{
    double worst = 0.0, size = 1e-3;
    for (int i = 0; i < d->n; i++) {
        double off = fabs(t->x[k][i] - d->x[i]);
        worst = off <= worst || isnan(worst) ? worst : off; /* NaN stays */
        size = fmax(size, fabs(d->x[i]));
    }
    bool ok = CHECK_NEAR(worst, 0.0, 1e-10 * size) && CHECK_INT(t->products[k], d->products);
    if (!ok)
        printf("    in step %d of %s\n", k, spec);
    return ok;
}

/* The fixed step kucera takes from zero impulses: x_1 = P(-a q). Power iteration with its margin
 * leaves a little below 1 / |N|. */
static double fixed_step(const TestProblem *p, const Dense *d)
{
    Trace *t = calloc(1, sizeof *t);
    trace_solver("kucera:metric=none", p, 2, t);
    double a = 0.0, norm = norm_of(d);
    for (int i = 0; i < d->n; i += d->rows)
        if (d->rows == 1 && d->q[i] < 0.0)
            a = -t->x[1][i] / d->q[i];
        else if (d->rows == 3 &&
                 hypot(d->q[i + 1], d->q[i + 2]) < -verify_mu(d->def, i / 3) * d->q[i])
            a = -t->x[1][i] / d->q[i];
    CHECK(a * norm > 0.9 && a * norm < 1.1);
    free(t);
    return a;
}

static void follow_active(const TestProblem *p, const char *spec, bool kucera, double gamma,
                          double factor, Expansion expansion, int least[3])
{
    Dense *d = make_dense(p);
    Trace *t = calloc(1, sizeof *t);
    d->norm = 1.0 / fixed_step(p, d);
    trace_solver(spec, p, STEPS, t);
    d->products = 1 + POWER_PRODUCTS;
    for (int k = 0; k < STEPS; k++) {
        if (!same_iterate(t, k, d, spec))
            break;
        if (kucera)
            kucera_step(d, factor, gamma);
        else
            mprgp_step(d, factor, gamma, expansion);
    }
    for (int i = 0; i < 3; i++) /* the listing has been through all its branches */
        if (!CHECK(d->steps[i] >= least[i]))
            printf("    %d steps of kind %d by %s on %s\n", d->steps[i], i, spec, p->name);
    if (expansion == SPECTRAL)
        CHECK(d->spectral >= 3 && (d->rows == 3 || d->cut >= 1));
    free(d);
    free(t);
}

TEST(kucera_follows_its_listing)
{
    TestProblem rows = make_explicit(3, 60, 1), cones = make_explicit(5, 20, 3);
    follow_active(&rows, "kucera:metric=none", true, 1.0, 1.0, HALF_STEP, (int[]){5, 1, 2});
    follow_active(&rows, "kucera:metric=none,gamma=0.3,step=0.5", true, 0.3, 0.5, HALF_STEP,
                  (int[]){5, 1, 2});
    follow_active(&cones, "kucera:metric=none", true, 1.0, 1.0, HALF_STEP, (int[]){1, 0, 5});
    follow_active(&cones, "kucera:metric=none,gamma=30", true, 30.0, 1.0, HALF_STEP,
                  (int[]){5, 1, 5});
    free_test_problem(&rows);
    free_test_problem(&cones);
}

TEST(mprgp_follows_its_listing)
{
    TestProblem rows = make_explicit(3, 60, 1), cones = make_explicit(5, 20, 3);
    follow_active(&rows, "mprgp:metric=none,step=1,expansion=half-step", false, 1.0, 1.0, HALF_STEP,
                  (int[]){5, 1, 2});
    follow_active(&rows, "mprgp:metric=none,step=1.9,gamma=0.5,expansion=half-step", false, 0.5,
                  1.9, HALF_STEP, (int[]){5, 1, 2});
    follow_active(&rows, "mprgp:metric=none,step=1,expansion=gradient", false, 1.0, 1.0, GRADIENT,
                  (int[]){5, 1, 2});
    follow_active(&rows, "mprgp:metric=none,step=1,expansion=projcg", false, 1.0, 1.0, PROJECTED_CG,
                  (int[]){5, 1, 2});
    follow_active(&rows, "mprgp:metric=none,step=1", false, 1.0, 1.0, SPECTRAL, (int[]){5, 1, 1});
    follow_active(&cones, "mprgp:metric=none,step=1,expansion=half-step", false, 1.0, 1.0,
                  HALF_STEP, (int[]){0, 0, 5});
    follow_active(&cones, "mprgp:metric=none,gamma=30,expansion=half-step", false, 30.0, 1.9,
                  HALF_STEP, (int[]){5, 1, 5});
    follow_active(&cones, "mprgp:metric=none,gamma=30,expansion=projcg", false, 30.0, 1.9,
                  PROJECTED_CG, (int[]){5, 1, 5});
    follow_active(&cones, "mprgp:metric=none,gamma=30", false, 30.0, 1.9, SPECTRAL,
                  (int[]){1, 1, 0});
    free_test_problem(&rows);
    free_test_problem(&cones);
}

/* |g^P| / |q| of the impulses that a solver leaves, without a metric. */
static double projected_gradient(TalusProblem *problem)
{
    int n = talus_problem_size(problem);
    double *g = calloc((size_t)n, sizeof *g), *q = calloc((size_t)n, sizeof *q);
    const double *gamma = talus_problem_gamma(problem);
    double left = 0.0, all = 0.0;
    talus_problem_gradient(problem, gamma, g);
    talus_problem_offset(problem, q);
    for (int i = 0; i < n; i++) {
        double part = gamma[i] > 0.0 ? g[i] : fmin(g[i], 0.0);
        left += part * part;
        all += q[i] * q[i];
    }
    free(g);
    free(q);
    return sqrt(left / all);
}

/* The paper's rule, and no iteration more. */
TEST(mprgp_stops_as_its_paper_does)
{
    TestProblem p = make_explicit(3, 60, 1);
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info = {0};
    double last = 1.0;
    options.tolerance = 0.0;
    for (int limit = 1; limit < 1000; limit++) {
        TalusProblem *problem;
        TalusSolver *solver;
        REQUIRE_OK(talus_problem_create(&p.def, NULL, &problem));
        REQUIRE_OK(talus_solver_create("mprgp:metric=none,stop=1e-4", &solver));
        options.max_iterations = limit;
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
        double reached = projected_gradient(problem);
        talus_solver_destroy(solver);
        talus_problem_destroy(problem);
        if (info.iterations < limit) {
            CHECK(last <= 1e-4 && reached == last && limit > 5);
            break;
        }
        CHECK(last > 1e-4); /* it went on only because it had to */
        last = reached;
    }
    CHECK(last <= 1e-4);
    free_test_problem(&p);
}

static void follow_descent(const TestProblem *p, const char *spec, Descent kind)
{
    Dense *d = make_dense(p);
    Trace *t = calloc(1, sizeof *t);
    trace_solver(spec, p, STEPS, t);
    d->products = 1;
    for (int k = 0; k < STEPS && same_iterate(t, k, d, spec); k++)
        descent_step(d, kind);
    CHECK(d->products > 1 + STEPS); /* some projections have changed something */
    free(d);
    free(t);
}

TEST(pgd_and_cpg_follow_their_listings)
{
    TestProblem p[] = {make_explicit(3, 60, 1), make_heap(&(HeapOptions){4, 3, 3, 3, 0, 0, 0}),
                       make_heap(&(HeapOptions){12, 3, 2, 2, 0.0, 0.0, 1.0})};
    for (int i = 0; i < 3; i++) {
        follow_descent(&p[i], "pgd:metric=none", PGD);
        follow_descent(&p[i], "cpg:metric=none", CPG_ONE);
        follow_descent(&p[i], "cpg:metric=none,variant=two", CPG_TWO);
        free_test_problem(&p[i]);
    }
}

/* The papers' own parameters on beds without friction: spheres, and bodies of other shapes. */
TEST(kucera_and_mprgp_follow_their_listings_in_beds)
{
    TestProblem p[] = {make_heap(&(HeapOptions){11, 3, 3, 2, 0.0, 0.0, 0.0}),
                       make_heap(&(HeapOptions){12, 3, 2, 2, 0.0, 0.0, 1.0})};
    int least[3] = {5, 0, 0};
    for (int i = 0; i < 2; i++) {
        follow_active(&p[i], "kucera:metric=none", true, 1.0, 1.0, HALF_STEP, least);
        follow_active(&p[i], "mprgp:metric=none,step=1,expansion=gradient", false, 1.0, 1.0,
                      GRADIENT, least);
        follow_active(&p[i], "mprgp:metric=none,step=1,expansion=half-step", false, 1.0, 1.0,
                      HALF_STEP, least);
        free_test_problem(&p[i]);
    }
}

int main(void)
{
    RUN(kucera_follows_its_listing);
    RUN(mprgp_follows_its_listing);
    RUN(mprgp_stops_as_its_paper_does);
    RUN(pgd_and_cpg_follow_their_listings);
    RUN(kucera_and_mprgp_follow_their_listings_in_beds);
    return talus_test_result();
}
