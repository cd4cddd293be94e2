/* Solvers iterate by iterate against the listings of their papers, written out with a full matrix and nothing of the
 * library: gs and jacobi (negrut-2009 Algorithm 1, Eq. 15), spg and gpminres (heyn-2012), ipm-chol and ipm-aug
 * (petra-2009 section 3.1), pgs, bgs-enum and nscd (preclik-2009 section 3.1). */
#include "support/dense.h"
#include "support/problems.h"
#include "support/test.h"
#include "support/verified.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <talus/solver.h>

/* SWEEPS: the start and 50 iterations; STEPS: those and a phase of gpminres that begins among them. */
enum { SWEEPS = 51, STEPS = SWEEPS + 10, MAX_SIZE = 150, PROBLEMS = 3 };

static const TalusFrictionModel ccp = {TALUS_SECTION_DISC, TALUS_LAW_CCP, 0};
static const TalusFrictionModel square = {TALUS_SECTION_SQUARE, TALUS_LAW_COULOMB, 0};
static const TalusFrictionModel disc = {TALUS_SECTION_DISC, TALUS_LAW_COULOMB, 0};
static const TalusFrictionModel triangle = {TALUS_SECTION_POLYGON, TALUS_LAW_CCP, 3};

/* ---- the problem, and the iterates of a solver ---- */

typedef struct Dense {
    int n, rows, blocks;
    double matrix[MAX_SIZE * MAX_SIZE], q[MAX_SIZE], mu[MAX_SIZE];
    double x[MAX_SIZE];
    /* spg: iterations so far, step length, values of the objective */
    int done;
    double alpha, value[SWEEPS + 2];
    struct Dense *dual; /* interior points: the dual program; NULL: not begun */
    /* dual program: slacks, what makes an unknown a speed, and the cones' edges, a column per unknown */
    double w[MAX_SIZE], scale[MAX_SIZE], edge[MAX_SIZE][MAX_SIZE];
} Dense;

typedef struct Trace {
    int count, n;
    int iteration[SWEEPS];
    double x[SWEEPS][MAX_SIZE];
} Trace;

static bool record(void *user, const TalusObservation *o)
{
    Trace *t = user;
    if (t->count < SWEEPS) {
        t->iteration[t->count] = o->iteration;
        memcpy(t->x[t->count++], o->gamma, (size_t)t->n * sizeof(double));
    }
    return true;
}

/* Runs the solver from zero impulses, all contacts under `model`. */
static Trace *trace_solver(const char *spec, const TestProblem *p, TalusFrictionModel model)
{
    Trace *t = calloc(1, sizeof *t);
    TalusProblem *problem = NULL;
    TalusSolver *solver = NULL;
    TalusSolveOptions options = talus_solve_options_default();
    TalusSolveInfo info;
    t->n = verify_size(&p->def);
    options.tolerance = 0.0;
    options.max_iterations = STEPS;
    options.observer = record;
    options.observer_user = t;
    CHECK_OK(talus_problem_create(&p->def, NULL, &problem));
    CHECK_OK(talus_problem_set_friction(problem, model));
    CHECK_OK(talus_solver_create(spec, &solver));
    CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    talus_solver_destroy(solver);
    talus_problem_destroy(problem);
    return t;
}

static Dense *make_dense(const TestProblem *p)
{
    Dense *d = calloc(1, sizeof *d);
    d->n = verify_size(&p->def);
    d->rows = verify_rows(&p->def);
    d->blocks = verify_blocks(&p->def);
    if (!CHECK(d->n <= MAX_SIZE))
        abort();
    verify_matrix(&p->def, d->matrix);
    verify_velocity(&p->def, NULL, d->q);
    for (int i = 0; i < d->blocks; i++)
        d->mu[i] = verify_mu(&p->def, i);
    return d;
}

/* The larger number; NaN if one is NaN. */
static double larger(double a, double b)
{
    return b <= a || isnan(a) ? a : b;
}

/* Row k of A x + b. */
static double gradient_of_row(const Dense *d, const double *x, int k)
{
    double sum = d->q[k];
    for (int j = 0; j < d->n; j++)
        sum += d->matrix[k * d->n + j] * x[j];
    return sum;
}

/* eta_i = 3 / trace of a block's diagonal, with as many rows as the block has. */
static double mean_step(const Dense *d, int i)
{
    double trace = 0.0;
    for (int k = i * d->rows; k < (i + 1) * d->rows; k++)
        trace += d->matrix[k * d->n + k];
    return d->rows / trace;
}

/* Projection onto the cone |z_t| <= mu z_n, or onto z_n >= 0. */
static void project(int rows, double mu, double *z)
{
    if (rows == 1 || mu == 0.0) {
        z[0] = fmax(z[0], 0.0);
        for (int k = 1; k < rows; k++)
            z[k] = 0.0;
        return;
    }
    double t = hypot(z[1], z[2]);
    if (t <= mu * z[0])
        return;
    double normal = mu * t <= -z[0] ? 0.0 : (z[0] + mu * t) / (1.0 + mu * mu);
    z[0] = normal;
    z[1] *= t > 0.0 ? mu * normal / t : 0.0;
    z[2] *= t > 0.0 ? mu * normal / t : 0.0;
}

/* ---- negrut-2009 ---- */

typedef struct Parameters {
    double omega, rho;
    bool symmetric;
    double first; /* spg without preconditioner: the first step length; 0: with preconditioner */
} Parameters;

/* Algorithm 1, step 4, for contact i. */
static void update_contact(Dense *d, int i, const Parameters *p)
{
    double z[3], *x = d->x + i * d->rows, eta = mean_step(d, i);
    for (int k = 0; k < d->rows; k++)
        z[k] = x[k] - p->omega * eta * gradient_of_row(d, d->x, i * d->rows + k);
    project(d->rows, d->mu[i], z);
    for (int k = 0; k < d->rows; k++)
        x[k] = p->rho * z[k] + (1.0 - p->rho) * x[k];
}

static void negrut_sweep(Dense *d, const Parameters *p)
{
    for (int i = 0; i < d->blocks; i++)
        update_contact(d, i, p);
    for (int i = d->blocks - 1; i >= 0 && p->symmetric; i--)
        update_contact(d, i, p);
}

/* Eq. (15) with an empty set D(i, r): all contacts from the same iterate. */
static void jacobi_sweep(Dense *d, const Parameters *p)
{
    double old[MAX_SIZE], next[MAX_SIZE];
    memcpy(old, d->x, sizeof old);
    for (int i = 0; i < d->blocks; i++) {
        memcpy(d->x, old, sizeof old);
        update_contact(d, i, p);
        memcpy(next + i * d->rows, d->x + i * d->rows, (size_t)d->rows * sizeof(double));
    }
    memcpy(d->x, next, sizeof next);
}

/* ---- heyn-2012, P-SPG-FB ---- */

static double objective(const Dense *d, const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < d->n; k++)
        sum += 0.5 * x[k] * (gradient_of_row(d, x, k) + d->q[k]);
    return sum;
}

/* Lines (3) to (23), with N_GLL 10, xi 1e-4, sigma 0.1 and 0.9, and line (14) by interpolation. The preconditioner is
 * the mean of each block's diagonal, with a first step length of 1, or P = 1. */
static void spg_step(Dense *d, const Parameters *p)
{
    double g[MAX_SIZE], dir[MAX_SIZE], next[MAX_SIZE], slope = 0.0, ceiling = -HUGE_VAL;
    int j = d->done++;
    bool plain = p && p->first > 0.0;
    if (j == 0)
        d->alpha = plain ? p->first : 1.0;
    d->value[j] = objective(d, d->x);
    for (int k = 0; k < d->n; k++) {
        g[k] = gradient_of_row(d, d->x, k);
        dir[k] = d->x[k] - d->alpha * g[k] * (plain ? 1.0 : mean_step(d, k / d->rows));
    }
    for (int i = 0; i < d->blocks; i++)
        project(d->rows, d->mu[i], dir + i * d->rows);
    for (int k = 0; k < d->n; k++) {
        dir[k] -= d->x[k];
        slope += dir[k] * g[k];
    }
    for (int k = j > 10 ? j - 10 : 0; k <= j; k++)
        ceiling = fmax(ceiling, d->value[k]);
    for (double lambda = 1.0;;) {
        for (int k = 0; k < d->n; k++)
            next[k] = d->x[k] + lambda * dir[k];
        double value = objective(d, next), bend = value - d->value[j] - lambda * slope;
        if (value <= ceiling + 1e-4 * lambda * slope)
            break;
        double lowest = -slope * lambda * lambda / (2.0 * bend); /* of the parabola through both */
        lambda = fmin(fmax(lowest, 0.1 * lambda), 0.9 * lambda);
    }
    double sps = 0.0, sy = 0.0, ypy = 0.0;
    for (int k = 0; k < d->n; k++) {
        double s = next[k] - d->x[k], y = gradient_of_row(d, next, k) - g[k];
        double per_p = plain ? 1.0 : mean_step(d, k / d->rows);
        sps += s * s / per_p;
        sy += s * y;
        ypy += y * y * per_p;
    }
    d->alpha = fmin(1e9, fmax(1e-9, j % 2 ? sps / sy : sy / ypy));
    memcpy(d->x, next, sizeof next);
}

/* ---- preclik-2009, section 3.1 ---- */

/* Componentwise: the solution of one row, put within its bounds, which follow the normal impulse. */
static void pgs_sweep(Dense *d, const Parameters *p)
{
    (void)p;
    for (int k = 0; k < d->n; k++) {
        int i = k / d->rows;
        double own = d->matrix[k * d->n + k];
        double most = k % d->rows ? d->mu[i] * d->x[i * d->rows] : HUGE_VAL;
        double x = d->x[k] - gradient_of_row(d, d->x, k) / own;
        d->x[k] = fmax(k % d->rows ? -most : 0.0, fmin(most, x));
    }
}

/* One contact with the others held: a x + c, of three rows. */
typedef struct One {
    double a[3][3], c[3], mu;
} One;

static One one_contact(const Dense *d, int i)
{
    One one = {.mu = d->mu[i]};
    for (int r = 0; r < 3; r++) {
        one.c[r] = gradient_of_row(d, d->x, 3 * i + r);
        for (int k = 0; k < 3; k++) {
            one.a[r][k] = d->matrix[(3 * i + r) * d->n + 3 * i + k];
            one.c[r] -= one.a[r][k] * d->x[3 * i + k];
        }
    }
    return one;
}

/* One case of the total enumeration: the normal component open (0) or closed (1); each tangential one at its lower
 * bound (-1), free (0) or at its upper bound (1). Returns by how much its inequalities are violated. */
static double try_case(const One *one, int closed, const int side[2], double x[3])
{
    double m[3][3] = {{0}}, r[3] = {0};
    for (int k = 0; k < 3; k++) {
        bool free_row = k == 0 ? closed : side[k - 1] == 0;
        for (int j = 0; j < 3 && free_row; j++)
            m[k][j] = one->a[k][j];
        if (free_row) {
            r[k] = -one->c[k];
        } else { /* x_k = its bound, which depends on x_n */
            m[k][k] = 1.0;
            if (k > 0)
                m[k][0] = -side[k - 1] * one->mu;
        }
    }
    memcpy(x, r, sizeof r);
    solve_dense(3, &m[0][0], 3, x);
    double worst = fmax(0.0, -x[0]);
    for (int k = 0; k < 3; k++) {
        double u = one->c[k];
        for (int j = 0; j < 3; j++)
            u += one->a[k][j] * x[j];
        if (k == 0)
            worst = fmax(worst, closed ? 0.0 : -u);
        else if (side[k - 1] == 0)
            worst = fmax(worst, fabs(x[k]) - one->mu * x[0]);
        else /* at the upper bound the velocity is negative */
            worst = fmax(worst, side[k - 1] * u);
    }
    return worst;
}

static void enumerate(const One *one, double x[3])
{
    double least = HUGE_VAL, trial[3];
    for (int c = 0; c < 18; c++) {
        int side[2] = {c / 2 % 3 - 1, c / 6 - 1};
        double violation = try_case(one, c % 2, side, trial);
        if (violation < least) {
            least = violation;
            memcpy(x, trial, sizeof trial);
        }
    }
}

static void enumeration_sweep(Dense *d, const Parameters *p)
{
    (void)p;
    for (int i = 0; i < d->blocks; i++) {
        One one = one_contact(d, i);
        enumerate(&one, d->x + 3 * i);
    }
}

/* A sliding contact with the tangential velocity -slip x_t: x, and by how much it is outside of its cone. */
static double slide(const One *one, double slip, double x[3])
{
    double m[3][3];
    memcpy(m, one->a, sizeof m);
    m[1][1] += slip;
    m[2][2] += slip;
    for (int k = 0; k < 3; k++)
        x[k] = -one->c[k];
    solve_dense(3, &m[0][0], 3, x);
    return hypot(x[1], x[2]) - one->mu * x[0];
}

/* The root of Alart and Curnier's function: open, sticking, or sliding. Newton's method finds the same root. */
static void coulomb_contact(const One *one, double x[3])
{
    double low = 0.0, high = 1.0;
    memset(x, 0, 3 * sizeof *x);
    if (one->c[0] >= 0.0)
        return;
    if (slide(one, 0.0, x) <= 0.0)
        return;
    while (slide(one, high, x) > 0.0)
        high *= 2.0;
    for (int k = 0; k < 200; k++) {
        double middle = 0.5 * (low + high);
        if (slide(one, middle, x) > 0.0)
            low = middle;
        else
            high = middle;
    }
}

static void newton_sweep(Dense *d, const Parameters *p)
{
    (void)p;
    for (int i = 0; i < d->blocks; i++) {
        One one = one_contact(d, i);
        coulomb_contact(&one, d->x + 3 * i);
    }
}

/* ---- heyn-2012, GPMINRES ---- */

enum { INNER = 10 };
static const double MU = 0.01, ETA1 = 0.1, ETA2 = 0.1;

/* The iterates of the listing, with the number of projection and MINRES steps before each. */
typedef struct Points {
    int count, iteration[SWEEPS];
    double x[SWEEPS][MAX_SIZE];
} Points;

static void add_point(Points *points, int iteration, const double x[MAX_SIZE])
{
    points->iteration[points->count] = iteration;
    memcpy(points->x[points->count++], x, sizeof *points->x);
}

/* By how much the objective falls from x to x + step, g'step + step'A step / 2, without a difference of its values. */
static double decrease_along(const Dense *d, const double *x, const double *step)
{
    double sum = 0.0;
    for (int k = 0; k < d->n; k++) {
        double g = gradient_of_row(d, x, k), a = gradient_of_row(d, step, k) - d->q[k];
        sum -= step[k] * (g + 0.5 * a);
    }
    return sum;
}

/* x = P(x + a w), a = 1, 1/2, .. times `first` until the objective falls enough, Eq. (16). Returns the decrease. */
static double search_path(Dense *d, const double *w, double first)
{
    double step[MAX_SIZE];
    for (double a = first;; a *= 0.5) {
        double slope = 0.0;
        for (int k = 0; k < d->n; k++) {
            step[k] = fmax(0.0, d->x[k] + a * w[k]) - d->x[k];
            slope += gradient_of_row(d, d->x, k) * step[k];
        }
        double decrease = decrease_along(d, d->x, step);
        if (-decrease > MU * slope)
            continue;
        for (int k = 0; k < d->n; k++)
            d->x[k] = fmax(0.0, d->x[k] + a * w[k]);
        return decrease;
    }
}

/* One projected step along the gradient, Eq. (15), from the best step along the whole gradient. */
static double project_gradient(Dense *d)
{
    double w[MAX_SIZE], gg = 0.0, gag = 0.0;
    for (int k = 0; k < d->n; k++) {
        w[k] = -gradient_of_row(d, d->x, k);
        gg += w[k] * w[k];
    }
    for (int k = 0; k < d->n; k++)
        gag += w[k] * (gradient_of_row(d, w, k) - d->q[k]);
    return search_path(d, w, gg / gag);
}

/* A times a vector on the free rows; 0 on the others. */
static void multiply_free(const Dense *d, const double *v, double *out)
{
    for (int k = 0; k < d->n; k++)
        out[k] = d->x[k] > 0.0 ? gradient_of_row(d, v, k) - d->q[k] : 0.0;
}

static double inner(const Dense *d, const double *a, const double *b)
{
    double sum = 0.0;
    for (int k = 0; k < d->n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Makes v orthogonal to the unit vectors of `basis`, twice against rounding, and of length 1. */
static void orthonormalise(const Dense *d, double basis[][MAX_SIZE], int count, double *v)
{
    for (int pass = 0; pass < 2 * count; pass++) {
        const double *b = basis[pass % count];
        double part = inner(d, b, v);
        for (int k = 0; k < d->n; k++)
            v[k] -= part * b[k];
    }
    double size = sqrt(inner(d, v, v));
    for (int k = 0; k < d->n; k++)
        v[k] /= size;
}

/* The point of the Krylov space of `steps` dimensions, spanned by `basis`, with the least residual |A w + g| on the
 * free rows. */
static void minimise_residual(const Dense *d, double basis[][MAX_SIZE], int steps, const double *g,
                              double *w)
{
    double q[STEPS][MAX_SIZE], r[STEPS][STEPS], y[STEPS];
    for (int j = 0; j < steps; j++) {
        multiply_free(d, basis[j], q[j]);
        double image[MAX_SIZE];
        memcpy(image, q[j], sizeof image);
        orthonormalise(d, q, j, q[j]);
        for (int i = 0; i <= j; i++)
            r[i][j] = inner(d, q[i], image);
    }
    memset(w, 0, MAX_SIZE * sizeof *w);
    for (int j = steps - 1; j >= 0; j--) {
        y[j] = -inner(d, q[j], g);
        for (int i = j + 1; i < steps; i++)
            y[j] -= r[j][i] * y[i];
        y[j] /= r[j][j];
        for (int k = 0; k < d->n; k++)
            w[k] += y[j] * basis[j][k];
    }
}

/* Form of gpminres. */
typedef struct Counting {
    const char *spec;
    bool binding;    /* the Krylov phase goes on while the active contacts are the binding ones */
    int projections; /* limit of the projection steps in a row */
    int each;        /* iterations that the start and a projection step count */
    int limit;       /* iterations compared: before rounding decides when a phase ends */
} Counting;

/* True if every contact without impulse at d->x is binding at x: its gradient is not negative there. */
static bool active_is_binding(const Dense *d, const double *x)
{
    for (int k = 0; k < d->n; k++)
        if (!(d->x[k] > 0.0) && gradient_of_row(d, x, k) < 0.0)
            return false;
    return true;
}

/* True if x, of the Krylov phase, is inside the face of d->x and the active contacts there are the binding ones. */
static bool face_is_right(const Dense *d, const double *x)
{
    for (int k = 0; k < d->n; k++)
        if (d->x[k] > 0.0 && !(x[k] > 0.0))
            return false;
    return active_is_binding(d, x);
}

/* Lines (9) to (18): MINRES steps on the free rows until (20), then the search. While the face is right they go on with
 * a smaller eta2 instead, from line (10), and the point so far is an iterate. True if they do after the search, too. */
static bool minimise_on_face(Dense *d, const Counting *counting, int *iteration, Points *points)
{
    double basis[STEPS][MAX_SIZE], g[MAX_SIZE], at[MAX_SIZE], step[MAX_SIZE];
    double w[MAX_SIZE] = {0.0}, most = 0.0, eta = ETA2;
    for (int k = 0; k < d->n; k++)
        g[k] = d->x[k] > 0.0 ? gradient_of_row(d, d->x, k) : 0.0;
    for (int j = 0, since = 1; CHECK(j < STEPS); j++, since++) {
        for (int k = 0; k < d->n; k++) {
            at[k] = d->x[k] + w[k];
            step[k] = -w[k];
        }
        if (j == 0)
            memcpy(basis[0], g, sizeof g);
        else
            multiply_free(d, basis[j - 1], basis[j]);
        orthonormalise(d, basis, j, basis[j]);
        minimise_residual(d, basis, j + 1, g, w);
        for (int k = 0; k < d->n; k++)
            step[k] += w[k];
        double decrease = decrease_along(d, at, step);
        bool slow = since > 1 && decrease <= eta * most;
        most = fmax(most, decrease);
        ++*iteration;
        if (!slow && since < INNER)
            continue;
        for (int k = 0; k < d->n; k++)
            at[k] = d->x[k] + w[k];
        if (!counting->binding || !face_is_right(d, at))
            break;
        add_point(points, *iteration, at);
        if (*iteration >= counting->limit)
            return false;
        eta *= slow ? 0.1 : 1.0;
        since = 0;
    }
    double decrease = search_path(d, w, 1.0);
    add_point(points, *iteration, d->x);
    return counting->binding && decrease > 0.0 && active_is_binding(d, d->x);
}

static bool same_active(const Dense *d, const double *a, const double *b)
{
    for (int k = 0; k < d->n; k++)
        if ((a[k] > 0.0) != (b[k] > 0.0))
            return false;
    return true;
}

/* Lines (1) to (21). Points that count nothing are not shown, for the face after them is. */
static void run_gpminres(Dense *d, const Counting *counting, Points *points)
{
    int iteration = counting->each, limit = counting->limit;
    add_point(points, iteration, d->x);
    while (iteration < limit) {
        bool again = true;
        double most = 0.0, before[MAX_SIZE];
        for (int j = 0; j < counting->projections && iteration < limit; j++) {
            memcpy(before, d->x, sizeof before);
            double decrease = project_gradient(d);
            iteration += counting->each;
            if (counting->each)
                add_point(points, iteration, d->x);
            if (decrease <= ETA1 * most || same_active(d, before, d->x)) /* (18), (17) */
                break;
            most = fmax(most, decrease);
        }
        while (again && iteration < limit)
            again = minimise_on_face(d, counting, &iteration, points);
    }
}

static void follow_gpminres(const TestProblem *p, const Counting *counting)
{
    Dense *d = make_dense(p);
    Points *points = calloc(1, sizeof *points);
    Trace *t = trace_solver(counting->spec, p, ccp);
    int compared = 0;
    run_gpminres(d, counting, points);
    for (int i = 0; i < points->count; i++)
        for (int k = 0; k < t->count; k++) {
            double worst = 0.0, size = 1e-3;
            if (t->iteration[k] != points->iteration[i])
                continue;
            for (int j = 0; j < d->n; j++) {
                worst = larger(worst, fabs(t->x[k][j] - points->x[i][j]));
                size = fmax(size, fabs(points->x[i][j]));
            }
            compared++;
            if (!CHECK_NEAR(worst, 0.0, 1e-10 * size))
                printf("    after %d steps on %s\n", points->iteration[i], p->name);
        }
    if (!CHECK(compared == points->count && compared > 4))
        printf("    %d points of %d on %s\n", compared, points->count, p->name);
    free(d);
    free(points);
    free(t);
}

/* ---- petra-2009, section 3.1: Mehrotra's interior points ---- */

/* The dual program, Eq. 13: x >= 0 with slacks w = P x + kappa, P = G'N G and kappa = G'q. An impulse is gamma = G x; its
 * cone's edges, the columns of G, are (1, mu cos 2 pi k / sides, mu sin 2 pi k / sides), or (1) without friction. */
static Dense *make_dual(const Dense *d, int sides)
{
    Dense *dual = calloc(1, sizeof *dual);
    double(*edge)[MAX_SIZE] = dual->edge;
    for (int i = 0; i < d->blocks; i++) {
        const bool friction = d->rows == 3 && d->mu[i] > 0.0;
        const double *n = d->matrix + i * d->rows * (d->n + 1); /* its normal diagonal entry */
        for (int k = 0; k < (friction ? sides : 1); k++, dual->n++) {
            if (!CHECK(dual->n < MAX_SIZE))
                abort();
            const double turn = 2.0 * acos(-1.0) * k / sides;
            edge[i * d->rows][dual->n] = 1.0;
            dual->scale[dual->n] = n[0];
            if (friction) {
                edge[i * d->rows + 1][dual->n] = d->mu[i] * cos(turn);
                edge[i * d->rows + 2][dual->n] = d->mu[i] * sin(turn);
                dual->scale[dual->n] += d->mu[i] * d->mu[i] * 0.5 * (n[d->n + 1] + n[2 * d->n + 2]);
            }
        }
    }
    for (int r = 0; r < d->n; r++)
        for (int k = 0; k < dual->n; k++) {
            dual->q[k] += edge[r][k] * d->q[r];
            for (int c = 0; c < d->n && edge[r][k] != 0.0; c++)
                for (int l = 0; l < dual->n; l++)
                    dual->matrix[k * dual->n + l] +=
                        edge[r][k] * d->matrix[r * d->n + c] * edge[c][l];
        }
    return dual;
}

/* Newton's direction, which changes the products x_k w_k by target_k and makes w = P x + kappa. */
static void newton_direction(const Dense *d, const double *target, double *dx, double *dw)
{
    static double m[MAX_SIZE * MAX_SIZE];
    memcpy(m, d->matrix, sizeof m);
    for (int k = 0; k < d->n; k++) {
        m[k * d->n + k] += d->w[k] / d->x[k];
        dx[k] = d->w[k] - gradient_of_row(d, d->x, k) + target[k] / d->x[k];
    }
    solve_dense(d->n, m, d->n, dx);
    for (int k = 0; k < d->n; k++)
        dw[k] = (target[k] - d->w[k] * dx[k]) / d->x[k];
}

/* The first step at which a product vanishes, at most 1; *pair: that product, -1: none. */
static double boundary_step(const Dense *d, const double *dx, const double *dw, int *pair)
{
    double a = 1.0;
    *pair = -1;
    for (int k = 0; k < d->n; k++) {
        double least = fmin(d->x[k] + a * dx[k] < 0.0 ? -d->x[k] / dx[k] : a,
                            d->w[k] + a * dw[k] < 0.0 ? -d->w[k] / dw[k] : a);
        if (least < a) {
            a = least;
            *pair = k;
        }
    }
    return a;
}

static double mean_product(const Dense *d, double a, const double *dx, const double *dw)
{
    double sum = 0.0;
    for (int k = 0; k < d->n; k++)
        sum += (d->x[k] + a * dx[k]) * (d->w[k] + a * dw[k]);
    return sum / d->n;
}

/* Mehrotra's starting point: the end of the predictor from x = s / scale, w = s, s the largest |kappa|, moved inside. */
static void start_inside(Dense *d)
{
    double s = 0.0, target[MAX_SIZE], dx[MAX_SIZE], dw[MAX_SIZE], low_x = 0.0, low_w = 0.0;
    for (int k = 0; k < d->n; k++)
        s = fmax(s, fabs(d->q[k]));
    for (int k = 0; k < d->n; k++) {
        d->x[k] = s / d->scale[k];
        d->w[k] = s;
        target[k] = -d->x[k] * d->w[k];
    }
    newton_direction(d, target, dx, dw);
    for (int k = 0; k < d->n; k++) { /* x times its scale is a speed, as w is */
        d->x[k] = (d->x[k] + dx[k]) * d->scale[k];
        d->w[k] += dw[k];
        low_x = fmin(low_x, d->x[k]);
        low_w = fmin(low_w, d->w[k]);
    }
    double product = 0.0, sum_x = 0.0, sum_w = 0.0;
    for (int k = 0; k < d->n; k++) {
        d->x[k] -= 1.5 * low_x;
        d->w[k] -= 1.5 * low_w;
        product += d->x[k] * d->w[k];
        sum_x += d->x[k];
        sum_w += d->w[k];
    }
    for (int k = 0; k < d->n; k++) {
        d->x[k] = (d->x[k] + 0.5 * product / sum_w) / d->scale[k];
        d->w[k] += 0.5 * product / sum_x;
    }
}

/* One iteration: predictor, corrector with sigma = (mu_affine / mu)^3, and Mehrotra's step length, by which the pair that
 * reaches the boundary first ends with a hundredth of the mean product. */
static void interior_step(Dense *d)
{
    double target[MAX_SIZE], dx[MAX_SIZE], dw[MAX_SIZE];
    int pair;
    for (int k = 0; k < d->n; k++)
        target[k] = -d->x[k] * d->w[k];
    newton_direction(d, target, dx, dw);
    double mu = mean_product(d, 0.0, dx, dw);
    double sigma = pow(mean_product(d, boundary_step(d, dx, dw, &pair), dx, dw) / mu, 3.0);
    for (int k = 0; k < d->n; k++)
        target[k] = sigma * mu - d->x[k] * d->w[k] - dx[k] * dw[k];
    newton_direction(d, target, dx, dw);
    double a = boundary_step(d, dx, dw, &pair), longest = a;
    if (pair >= 0) {
        double goal = 0.01 * mean_product(d, a, dx, dw);
        bool slack =
            d->w[pair] + a * dw[pair] < d->x[pair] + a * dx[pair]; /* which of the two is 0 */
        double other = slack ? d->x[pair] + a * dx[pair] : d->w[pair] + a * dw[pair];
        a = slack ? (goal / other - d->w[pair]) / dw[pair] : (goal / other - d->x[pair]) / dx[pair];
        a = fmin(fmax(a, 0.99 * longest), (1.0 - 1e-8) * longest);
    }
    for (int k = 0; k < d->n; k++) {
        d->x[k] += a * dx[k];
        d->w[k] += a * dw[k];
    }
}

/* Three-sided cones, as in Eq. 2: first Mehrotra's starting point, then an iteration at a time. */
static void interior_sweep(Dense *d, const Parameters *p)
{
    (void)p;
    if (d->dual) {
        interior_step(d->dual);
    } else {
        d->dual = make_dual(d, 3);
        start_inside(d->dual);
    }
    for (int r = 0; r < d->n; r++) {
        d->x[r] = 0.0;
        for (int k = 0; k < d->dual->n; k++)
            d->x[r] += d->dual->edge[r][k] * d->dual->x[k];
    }
}

/* ---- comparing ---- */

typedef void Sweep(Dense *d, const Parameters *p);

/* Compares the first iterates with those of the listing. The first is the start, and so are `repeats` after it. */
static void follow_some(const char *spec, const TestProblem *p, TalusFrictionModel model,
                        Sweep *sweep, const Parameters *parameters, int repeats, int iterates)
{
    Dense *d = make_dense(p);
    Trace *t = trace_solver(spec, p, model);
    double moved = 0.0;
    CHECK(t->count >= iterates);
    for (int k = 0; k < iterates; k++) {
        double worst = 0.0, size = 0.0;
        for (int j = 0; j < d->n; j++) {
            worst = larger(worst, fabs(t->x[k][j] - d->x[j]));
            size = fmax(size, fabs(d->x[j]));
        }
        moved = fmax(moved, size);
        if (!CHECK_NEAR(worst, 0.0, 1e-10 * fmax(size, 1e-3))) {
            printf("    in iterate %d of %s on %s\n", k, spec, p->name);
            break;
        }
        if (k >= repeats)
            sweep(d, parameters);
    }
    CHECK(moved > 1e-3);
    free(d->dual);
    free(d);
    free(t);
}

static void follow(const char *spec, const TestProblem *p, TalusFrictionModel model, Sweep *sweep,
                   const Parameters *parameters, int repeats)
{
    follow_some(spec, p, model, sweep, parameters, repeats, SWEEPS);
}

/* Random blocks, spheres, and bodies of other shapes; without friction or with. */
static void make_three(TestProblem p[PROBLEMS], double mu)
{
    p[0] = make_explicit(3, mu > 0.0 ? 20 : 60, mu > 0.0 ? 3 : 1);
    p[1] = make_heap(&(HeapOptions){11, 3, 2, 2, mu, 0.0, 0.0});
    p[2] = make_heap(&(HeapOptions){12, 3, 2, 2, mu, 0.0, 1.0});
}

/* Heaps of spheres and of other shapes, and a column under a heavy sphere, without friction, so tall that 50 iterations of
 * heyn-2012's methods do not end at rounding, as they do on those of make_three. Not any heap will do for gpminres: where
 * a Ritz value converges, Lanczos vectors lose their orthogonality, and two ways to compute MINRES differ by a million
 * times the rounding. */
static void make_three_tall(TestProblem p[PROBLEMS])
{
    p[0] = make_heap(&(HeapOptions){13, 2, 3, 9, 0.0, 0.0, 0.0});
    p[1] = make_heap(&(HeapOptions){12, 2, 2, 16, 0.0, 0.0, 1.0});
    p[2] = make_column(60, 16.0, 0.0);
}

TEST(gauss_seidel_follows_negrut)
{
    for (int friction = 0; friction < 2; friction++) {
        TestProblem p[PROBLEMS];
        make_three(p, friction ? 0.5 : 0.0);
        for (int i = 0; i < PROBLEMS; i++) {
            follow("gs:order=forward,metric=trace,coupling=off", &p[i], ccp, negrut_sweep,
                   &(Parameters){.omega = 1.0, .rho = 1.0}, 0);
            follow("gs:order=forward,metric=trace,coupling=off,omega=0.3,rho=0.9", &p[i], ccp,
                   negrut_sweep, &(Parameters){.omega = 0.3, .rho = 0.9}, 0);
            follow("gs:order=symmetric,metric=trace,coupling=off,omega=0.8", &p[i], ccp,
                   negrut_sweep, &(Parameters){.omega = 0.8, .rho = 1.0, .symmetric = true}, 0);
            free_test_problem(&p[i]);
        }
    }
}

TEST(jacobi_follows_negrut_and_heyn)
{
    for (int friction = 0; friction < 2; friction++) {
        TestProblem p[PROBLEMS];
        make_three(p, friction ? 0.5 : 0.0);
        for (int i = 0; i < PROBLEMS; i++) {
            follow("jacobi", &p[i], ccp, jacobi_sweep, &(Parameters){.omega = 0.3, .rho = 1.0}, 0);
            follow("jacobi:omega=0.2,lambda=0.8", &p[i], ccp, jacobi_sweep,
                   &(Parameters){.omega = 0.2, .rho = 0.8}, 0);
            free_test_problem(&p[i]);
        }
    }
}

TEST(spg_follows_heyn)
{
    for (int friction = 0; friction < 2; friction++) {
        TestProblem p[PROBLEMS];
        make_three(p, friction ? 0.5 : 0.0);
        for (int i = 0; i < PROBLEMS; i++) {
            follow("spg", &p[i], ccp, spg_step, NULL, 1);
            free_test_problem(&p[i]);
        }
    }
}

/* The first step length of spg without preconditioner, which the paper leaves open: that of its first move, which goes
 * along -q. */
static double first_spg_step(const char *spec, const TestProblem *p)
{
    Dense *d = make_dense(p);
    Trace *t = trace_solver(spec, p, ccp);
    int most = 0;
    for (int k = 1; k < d->n; k++)
        most = t->x[2][k] > t->x[2][most] ? k : most;
    double first = -t->x[2][most] / d->q[most];
    free(d);
    free(t);
    return first;
}

/* With the paper's parameters, and ours where it leaves them open: the row "spg (paper)" of its experiments. */
TEST(spg_with_the_papers_parameters_follows_heyn)
{
    static const char spec[] = "spg:precondition=off";
    for (int tall = 0; tall < 2; tall++) {
        TestProblem p[PROBLEMS];
        if (tall)
            make_three_tall(p);
        else
            make_three(p, 0.0);
        for (int i = 0; i < PROBLEMS; i++) {
            const Parameters plain = {.first = first_spg_step(spec, &p[i])};
            follow(spec, &p[i], ccp, spg_step, &plain, 1);
            follow("spg", &p[i], ccp, spg_step, NULL, 1);
            free_test_problem(&p[i]);
        }
    }
}

TEST(gpminres_follows_heyn)
{
    static const Counting countings[] = {
        {"gpminres:line=whole,metric=none,binding=off", false, 8, 1, 41},
        {"gpminres:line=whole,metric=none,binding=off,projections=100000,null_exit=off,count=krylov",
         false, 100000, 0, 30},
    };
    TestProblem p[PROBLEMS];
    make_three(p, 0.0);
    for (int i = 0; i < PROBLEMS; i++) {
        for (int k = 0; k < 2; k++)
            follow_gpminres(&p[i], &countings[k]);
        free_test_problem(&p[i]);
    }
}

/* With the paper's parameters, and ours where it leaves them open: the row "gpminres (paper)" of its experiments. */
TEST(gpminres_with_the_papers_parameters_follows_heyn)
{
    static const Counting counting = {
        "gpminres:line=whole,metric=none,projections=100000,null_exit=off,count=krylov", true,
        100000, 0, SWEEPS - 1};
    TestProblem p[PROBLEMS];
    make_three_tall(p);
    for (int i = 0; i < PROBLEMS; i++) {
        follow_gpminres(&p[i], &counting);
        free_test_problem(&p[i]);
    }
}

/* ipm-chol by its normal equations and ipm-aug by its augmented ones where there are bodies, both by the dual matrix where
 * there are none: zero impulses twice, Mehrotra's point, and ten iterations. */
TEST(interior_points_follow_petra)
{
    for (int friction = 0; friction < 2; friction++) {
        TestProblem p[PROBLEMS];
        make_three(p, friction ? 0.5 : 0.0);
        for (int i = 0; i < PROBLEMS; i++) {
            follow_some("ipm-chol:correctors=0", &p[i], triangle, interior_sweep, NULL, 1, 13);
            follow_some("ipm-aug:correctors=0", &p[i], triangle, interior_sweep, NULL, 1, 13);
            free_test_problem(&p[i]);
        }
    }
}

TEST(sweeps_over_contacts_follow_preclik)
{
    TestProblem p[PROBLEMS];
    make_three(p, 0.4);
    for (int i = 0; i < PROBLEMS; i++) {
        follow("pgs:order=forward", &p[i], square, pgs_sweep, NULL, 0);
        follow("bgs-enum:order=forward", &p[i], square, enumeration_sweep, NULL, 0);
        follow("nscd:order=forward", &p[i], disc, newton_sweep, NULL, 0);
        free_test_problem(&p[i]);
    }
}

TEST(sweeps_over_rows_follow_preclik)
{
    TestProblem p[PROBLEMS];
    make_three(p, 0.0);
    for (int i = 0; i < PROBLEMS; i++) {
        follow("pgs:order=forward", &p[i], square, pgs_sweep, NULL, 0);
        free_test_problem(&p[i]);
    }
}

int main(void)
{
    RUN(gauss_seidel_follows_negrut);
    RUN(jacobi_follows_negrut_and_heyn);
    RUN(spg_follows_heyn);
    RUN(spg_with_the_papers_parameters_follows_heyn);
    RUN(gpminres_follows_heyn);
    RUN(gpminres_with_the_papers_parameters_follows_heyn);
    RUN(interior_points_follow_petra);
    RUN(sweeps_over_contacts_follow_preclik);
    RUN(sweeps_over_rows_follow_preclik);
    return talus_test_result();
}
