/* solvers/newton_al.c - augmented Lagrangians of the velocities' problem, each minimised by Newton's method
 * with a direct solver.
 *
 * Velocities v minimise 1/2 |v - v_f|_M^2 subject to laws whose multipliers are the impulses. With the
 * multipliers c of the last round, the augmented Lagrangian has no constraints left,
 *     L(v) = 1/2 |v - v_f|_M^2 + sum of psi(u),   u = D'v + bias,   -psi'(u) = p(u),
 *     p(u) = the point of K nearest to W^-1 (R c - u) in the norm of W,   W = R + E,   R = rho diag(N + E),
 * and is convex and once differentiable; so Newton's method with a search along its steps finds the minimum
 * from anywhere (on half lines, where p is piecewise linear, after finitely many steps). Then c = p,
 * and rho falls: the last rounds take one step each. Rockafellar 1976 proves that the rounds converge,
 * the faster the smaller rho; they are the proximal steps of prox.c, which looks for a root of the
 * natural map instead and has no function to go down.
 *
 * v is kept as impulses z with v = v_f + M^-1 D z, so u = N z + q, the same for problems without bodies. With f =
 * z - p the gradient is D f, and Newton's step has (I + A N) dz = -f, A = -p'(u) (newton_al.h). Along it
 * the slope of L is f'N dz, known for all lengths from one product: where it has turned over to half of what
 * it was or more, the step is too long, and is cut where the slope is nearly zero. Without friction whole
 * steps need a fifth fewer of them on deep beds, and steps are cut only in a round that has taken MOST_WHOLE.
 *
 * Circular cones: with e = t/|t| of what is to be projected, and w_n, w_t the entries of W, the nearest point
 * on the mantle is n (1, mu e), n = (w_n x_n + mu w_t |x_t|) / (w_n + mu^2 w_t), and A = b b' / (w_n + mu^2 w_t) +
 * (|p_t| / |x_t|) e' e'' / w_t, b = (1, mu e), e' across e. Boxes are refused: a bounded impulse moves only while
 * its velocity is within rho times its bound, and with small rho Newton's steps are cut at every row.
 *
 * What is shown and returned is p, which is in K. An iteration is one Newton step: a factorisation and two
 * products. Without compliance E in W for matrices, whose N + E is one. Host alone. */
#include "solvers/newton_al.h"

#include "solvers/best.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { LINEAR_AUTO, LINEAR_CHOLMOD, LINEAR_LDL };

static const char *const linears[] = {"auto", "cholmod", "ldl", NULL};

typedef struct Params {
    double rho, shrink, inner;
    int linear;
} Params;

static const TalusParam params[] = {
    {"rho", TALUS_PARAM_REAL, offsetof(Params, rho), 1e-3, 1e-8, 1e3, NULL,
     "weight of the last multipliers at the start, relative to the diagonal of N"},
    {"shrink", TALUS_PARAM_REAL, offsetof(Params, shrink), 0.3, 1e-3, 1.0, NULL,
     "factor on it from round to round"},
    {"inner", TALUS_PARAM_REAL, offsetof(Params, inner), 0.1, 1e-6, 1.0, NULL,
     "a round ends once its gradient is below this share of the change of multipliers"},
    {"linear", TALUS_PARAM_CHOICE, offsetof(Params, linear), LINEAR_AUTO, 0, 0, linears,
     "factorisation; auto: cholmod where the build has it"},
};

enum { MOST_WHOLE = 12 };

static const double RHO_MIN = 1e-9, RHO_CONES = 1e-5; /* below, rounding is as large as f */
static const double SUSPECT = 1e-4; /* impulses that still grow below this rho may do so for ever */
static const double STIFFEN = 100.0; /* on rho where a factorisation fails */

/* U: velocities of Z; P: p(U); F: Z - P; ND: N dz; G: gradient of P; T: of a trial. */
enum { Z, U, P, F, DZ, ND, CENTRE, G, T, VECTORS };

typedef struct Work {
    TalusAlSystem system;
    TalusAlBlock *block;
    double (*weight)[2]; /* [blocks]: R + E on the normal row, R on the others */
    double *memory, *vector[VECTORS];
    TalusBest best;
    double rho; /* where the last call left it */
    size_t block_room, weight_room, memory_room;
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    int rows, blocks;
    size_t n;
    double rho;
    bool cones; /* some contact has friction */
    int steps;  /* in this round */
} Run;

/* ---- the nearest point ---- */

static void add_direction(TalusAlBlock *b, double n, double t1, double t2, double stiffness)
{
    double *d = b->direction[b->rank];
    b->stiffness[b->rank++] = stiffness;
    d[0] = n;
    d[1] = t1;
    d[2] = t2;
}

/* `block` NULL: free directions are not wanted. */
static void cut_to_half_line(const double w[2], double *x, TalusAlBlock *block)
{
    if (*x > 0.0 && block)
        add_direction(block, 1.0, 0.0, 0.0, w[0]);
    *x = fmax(*x, 0.0);
}

static void cut_to_cone(double mu, const double w[2], double *x, TalusAlBlock *block)
{
    double t = sqrt(x[1] * x[1] + x[2] * x[2]), both = w[0] + mu * mu * w[1];
    if (mu > 0.0 && t <= mu * x[0]) {
        for (int k = 0; block && k < 3; k++)
            add_direction(block, k == 0, k == 1, k == 2, w[k > 0]);
        return;
    }
    double e1 = t > 0.0 ? x[1] / t : 0.0, e2 = t > 0.0 ? x[2] / t : 0.0;
    double n = fmax((w[0] * x[0] + mu * w[1] * t) / both, 0.0);
    x[0] = n;
    x[1] = mu * n * e1;
    x[2] = mu * n * e2;
    if (block && n > 0.0)
        add_direction(block, 1.0, mu * e1, mu * e2, both);
    if (block && mu * n > 0.0 && t > 0.0)
        add_direction(block, 0.0, -e2, e1, w[1] * t / (mu * n));
}

/* p of block i where its velocity is u. */
static void nearest(const Run *run, int i, const double *u, double *x, TalusAlBlock *block)
{
    const TalusOperator *op = run->s->op;
    const double *w = run->w->weight[i], *c = run->w->vector[CENTRE] + i * run->rows;
    double r = run->rho * talus_block_scale(op, i);
    r = r > 0.0 ? r : run->rho; /* bodies that cannot move: any will do */
    if (block)
        block->rank = 0;
    for (int k = 0; k < run->rows; k++)
        x[k] = (r * c[k] - u[k]) / w[k > 0];
    if (run->rows == 1)
        cut_to_half_line(w, x, block);
    else
        cut_to_cone(op->mu[i], w, x, block);
}

static void set_weights(Run *run)
{
    const TalusOperator *op = run->s->op;
    for (int i = 0; i < run->blocks; i++) {
        double r = run->rho * talus_block_scale(op, i);
        r = r > 0.0 ? r : run->rho;
        bool yields = run->w->system.bodies && op->compliance;
        run->w->weight[i][0] = r + (yields ? op->compliance[i] : 0.0);
        run->w->weight[i][1] = r;
    }
}

/* ---- rounds and steps ---- */

static void multiply(Run *run, const double *x, bool offset, double *u)
{
    run->s->backend->product(run->s->op, x, !run->w->system.bodies, offset, u);
    run->s->info->products++;
}

/* P, F and, where they are wanted, the free directions at U. Returns the size of F over that of the change of
 * multipliers, both in m/s. */
static double evaluate(Run *run)
{
    Work *w = run->w;
    double gradient = 0.0, change = 0.0;
    for (int i = 0; i < run->blocks; i++) {
        int at = i * run->rows;
        double d = talus_block_scale(run->s->op, i);
        nearest(run, i, w->vector[U] + at, w->vector[P] + at, &w->block[i]);
        for (int k = at; k < at + run->rows; k++) {
            double f = w->vector[F][k] = w->vector[Z][k] - w->vector[P][k];
            double c = w->vector[P][k] - w->vector[CENTRE][k];
            gradient += d * f * d * f;
            change += d * c * d * c;
        }
    }
    return change > 0.0 ? sqrt(gradient / change) : gradient > 0.0 ? INFINITY : 0.0;
}

/* Of L along dz, `length` of it away. */
static double slope(const Run *run, double length)
{
    const Work *w = run->w;
    double sum = 0.0, u[TALUS_AL_ROWS], p[TALUS_AL_ROWS];
    for (int i = 0; i < run->blocks; i++) {
        int at = i * run->rows;
        for (int k = 0; k < run->rows; k++)
            u[k] = w->vector[U][at + k] + length * w->vector[ND][at + k];
        nearest(run, i, u, p, NULL);
        for (int k = 0; k < run->rows; k++)
            sum += (w->vector[Z][at + k] + length * w->vector[DZ][at + k] - p[k]) *
                   w->vector[ND][at + k];
    }
    return sum;
}

/* The slope rises along dz: halve what holds its zero. */
static double step_length(const Run *run)
{
    enum { HALVINGS = 30 };
    static const double WHOLE = 0.5, ENOUGH = 0.1;
    double first = slope(run, 0.0), low = 0.0, high = 1.0;
    if (!(slope(run, 1.0) > -WHOLE * first))
        return 1.0;
    for (int k = 0; k < HALVINGS; k++) {
        double middle = 0.5 * (low + high), now = slope(run, middle);
        if (fabs(now) <= -ENOUGH * first)
            return middle;
        if (now < 0.0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* *singular: rho is too small for the numbers. */
static TalusStatus newton_step(Run *run, bool *singular)
{
    Work *w = run->w;
    TalusSolve *s = run->s;
    TalusStatus status =
        talus_al_system_solve(&w->system, s, w->block, w->vector[F], w->vector[DZ]);
    *singular = status == TALUS_ERR_NUMERIC;
    if (status != TALUS_OK)
        return *singular ? TALUS_OK : status;
    multiply(run, w->vector[DZ], false, w->vector[ND]);
    double length = run->cones || run->steps++ >= MOST_WHOLE ? step_length(run) : 1.0;
    s->backend->axpby(s->op, length, w->vector[DZ], 1.0, w->vector[Z]);
    s->backend->axpby(s->op, length, w->vector[ND], 1.0, w->vector[U]);
    return TALUS_OK;
}

/* p as the new multipliers. u is computed anew: it has gathered rounding errors. */
static void next_round(Run *run, double rho)
{
    Work *w = run->w;
    memcpy(w->vector[CENTRE], w->vector[P], run->n * sizeof(double));
    run->rho = rho;
    run->steps = 0;
    set_weights(run);
    multiply(run, w->vector[Z], true, w->vector[U]);
    if (rho <= SUSPECT)
        talus_solve_suspect(run->s);
}

/* The natural residual of p; false: the solve is to end. */
static bool goes_on(Run *run)
{
    Work *w = run->w;
    TalusSolve *s = run->s;
    TalusForward at;
    s->backend->gradient(s->op, NULL, w->vector[P], true, w->vector[G]);
    s->backend->forward_backward(s->op, NULL, w->vector[P], w->vector[G], 1.0, NULL, NULL, &at);
    talus_best_offer(&w->best, s, w->vector[P], at.residual2);
    return talus_solve_next(s, 1, w->vector[P], NULL, at.residual2, at.residual_max);
}

static TalusStatus iterate(Run *run)
{
    Work *w = run->w;
    double share = evaluate(run);
    memcpy(w->vector[P], w->vector[CENTRE], run->n * sizeof(double));
    for (bool go = goes_on(run); go;) {
        bool singular;
        evaluate(run);
        TALUS_TRY(newton_step(run, &singular));
        if (singular && run->rho >= 1.0) {
            run->s->info->outcome = TALUS_OUTCOME_BUDGET;
            return TALUS_OK;
        }
        share = evaluate(run);
        go = goes_on(run);
        if (singular)
            next_round(run, STIFFEN * run->rho);
        else if (share <= run->p->inner)
            next_round(run, fmax(run->p->shrink * run->rho,
                                 fmin(run->cones ? RHO_CONES : RHO_MIN, run->rho)));
    }
    return TALUS_OK;
}

/* ---- the solve ---- */

static TalusStatus prepare(Run *run)
{
    Work *w = run->w;
    TalusSolve *s = run->s;
    size_t blocks = (size_t)run->blocks;
    bool cholmod = run->p->linear == LINEAR_CHOLMOD ||
                   (run->p->linear == LINEAR_AUTO && !talus_direct_missing(TALUS_DIRECT_CHOLMOD));
    TALUS_TRY(TALUS_RESERVE(w->block, w->block_room, blocks, 0, "free directions"));
    TALUS_TRY(TALUS_RESERVE(w->weight, w->weight_room, blocks, 0, "weights"));
    TALUS_TRY(TALUS_RESERVE(w->memory, w->memory_room, VECTORS * run->n, 0, "vectors"));
    for (int k = 0; k < VECTORS; k++)
        w->vector[k] = w->memory + (size_t)k * run->n;
    TALUS_TRY(talus_best_begin(&w->best, s));
    return talus_al_system_begin(&w->system, s, cholmod ? TALUS_DIRECT_CHOLMOD : TALUS_DIRECT_LDL);
}

/* A call with another strictness goes on with the rho that it came to. */
static TalusStatus solve_newton_al(TalusSolve *s)
{
    Work *w = s->work;
    Run run = {.s = s, .p = s->params, .w = w, .rows = s->op->rows, .blocks = s->op->blocks};
    run.n = (size_t)run.rows * (size_t)run.blocks;
    run.rho = s->strictness < 1.0 && w->rho > 0.0 ? w->rho : run.p->rho;
    for (int i = 0; run.rows > 1 && i < run.blocks; i++)
        run.cones = run.cones || s->op->mu[i] > 0.0;
    TALUS_TRY(prepare(&run));
    set_weights(&run);
    memcpy(w->vector[CENTRE], s->gamma, run.n * sizeof(double));
    memcpy(w->vector[Z], s->gamma, run.n * sizeof(double));
    multiply(&run, w->vector[Z], true, w->vector[U]);
    TALUS_TRY(iterate(&run));
    w->rho = run.rho;
    memcpy(s->gamma, w->vector[P], run.n * sizeof(double));
    talus_best_take(&w->best, s, s->gamma);
    return TALUS_OK;
}

static void clear(void *work, const TalusBackend *backend)
{
    Work *w = work;
    talus_al_system_clear(&w->system);
    talus_release(w->block);
    talus_release(w->weight);
    talus_release(w->memory);
    talus_best_clear(&w->best, backend);
}

static const char *on_host(const void *parameters)
{
    (void)parameters;
    return "the factorisation";
}

const TalusSolverType talus_solver_newton_al = {
    .name = "newton-al",
    .summary =
        "augmented Lagrangian, Newton steps, direct solver: convex problems to high accuracy",
    .reference = "Hestenes 1969; Powell 1969; Rockafellar 1976",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_CONE,
    .params = params,
    .param_count = sizeof params / sizeof *params,
    .param_size = sizeof(Params),
    .state_size = 0,
    .work_size = sizeof(Work),
    .solve = solve_newton_al,
    .clear = clear,
    .on_host = on_host,
};
