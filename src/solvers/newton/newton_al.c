/* solvers/newton/newton_al.c - augmented Lagrangians of the velocity problem, by Newton's method with a direct solver.
 *
 * Without friction, velocities v minimise 1/2 |v - v_f|_M^2 subject to u = D'v + bias >= 0, and impulses are the
 * multipliers. With the multipliers c of the last round, the augmented Lagrangian has no constraints:
 *     L(v) = 1/2 |v - v_f|_M^2 + sum of psi(u),   -psi'(u) = p(u) = max((R c - u) / w, 0),
 *     w = R + E,   R = rho diag(N + E).
 * L is convex and once differentiable. Newton's method with a line search finds the minimum from anywhere, in finitely
 * many steps as p is piecewise linear. At the end of a round c becomes p, and rho falls; the last rounds take one
 * Newton step each. Rockafellar 1976 proves that the rounds converge, the faster the smaller rho. A round is a proximal
 * step as in prox.c; prox seeks a root of the natural map, has no function to minimise and needs no convexity.
 *
 * v is stored as impulses z with v = v_f + M^-1 D z, so u = N z + q, also for problems without bodies; for these N
 * includes E, and w = R. With f = z - p the gradient is D f, and Newton's step has (I + A N) dz = -f, A = -p'(u)
 * (newton_al.h). The slope of L along it is f'N dz, known for all lengths from one product. If the slope at the full
 * step is positive and more than half of its starting size, the step is too long and is cut where the slope is nearly
 * zero. On deep beds a round with full steps takes fewer of them, so steps are cut only after the first MAX_FULL_STEPS
 * steps of a round.
 *
 * The method takes only problems without friction; with friction it does worse than prox. On boxes, an impulse between
 * its bounds moves only while its velocity is within rho times the distance of the bounds, so that steps are cut at
 * every row. On circular cones the method takes two to three times as many steps as prox, or fails
 * (docs/reference/solvers/direct.md).
 *
 * The impulses reported and returned are p, which is in K. An iteration is one Newton step: a factorisation and two
 * products, a third one at the end of a round, and another one for a problem without bodies. The method runs on the
 * host only. */
#include "solvers/newton/newton_al.h"

#include "solvers/driver/best.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* Values of the parameter linear. */
enum { LINEAR_AUTO, LINEAR_CHOLMOD, LINEAR_LDL };

static const char *const linears[] = {"auto", "cholmod", "ldl", NULL};

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    double rho, shrink, inner;
    int linear;
} Params;

static const TalusParam params[] = {
    TALUS_REAL(Params, rho, 1e-3, 1e-8, 1e3,
               "weight of the last multipliers at the start, relative to the diagonal of N"),
    TALUS_REAL(Params, shrink, 0.3, 1e-3, 1.0, "factor on it from round to round"),
    TALUS_REAL(Params, inner, 0.1, 1e-6, 1.0,
               "a round ends once its gradient is below this share of the change of multipliers"),
    TALUS_CHOICE(Params, linear, LINEAR_AUTO, linears,
                 "factorisation; auto: cholmod where the build has it"),
};

enum { MAX_FULL_STEPS = 12 }; /* steps of a round that are never cut */

static const double RHO_MIN = 1e-6;  /* rho is not lowered below it */
static const double SOLVED = 1e-8;   /* |f| over the change of multipliers that counts as 0 */
static const double STIFFEN = 100.0; /* factor on rho after a failed factorisation */

/* Z: z; DZ: its Newton step; U: velocities N z + q; P: p(U); F: Z - P; ND: N dz; CENTRE: multipliers c; G: gradient of
 * the contact problem at P; WEIGHT: w. */
enum { Z, U, P, F, DZ, ND, CENTRE, G, WEIGHT, VECTORS };

typedef struct Work {
    TalusAlSystem system;
    bool *is_free; /* rows in which p depends on u */
    TalusVectors vectors;
    double *vector[VECTORS];
    TalusBest best;
    double rho; /* value at the end of the last call */
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    size_t n;   /* rows, one per contact */
    double rho; /* current value; the parameter is the first one */
    int steps;  /* Newton steps in this round */
} Run;

/* R of row i: rho times its diagonal entry of N + E. */
static double penalty_of(const Run *run, size_t i)
{
    double d = talus_block_scale(run->s->op, (int)i);
    return run->rho * (d > 0.0 ? d : 1.0); /* bodies that cannot move: any value > 0 will do */
}

/* Returns (R c - u) / w of row i: the impulse p at velocity u before it is clamped at 0. */
static double multiplier_at(const Run *run, size_t i, double u)
{
    return (penalty_of(run, i) * run->w->vector[CENTRE][i] - u) / run->w->vector[WEIGHT][i];
}

/* Sets w = R + E of all rows; w = R for problems without bodies, whose N includes E. */
static void set_weights(Run *run)
{
    const double *compliance = run->w->system.bodies ? run->s->op->compliance : NULL;
    for (size_t i = 0; i < run->n; i++)
        run->w->vector[WEIGHT][i] = penalty_of(run, i) + (compliance ? compliance[i] : 0.0);
}

/* ---- rounds and steps ---- */

/* Computes u = N x, plus q if `offset`; counts one product. N includes E for problems without bodies. */
static void apply_operator(Run *run, const double *x, bool offset, double *u)
{
    run->s->backend->op.product(run->s->op, x, !run->w->system.bodies, offset, u);
    run->s->info->products++;
}

/* Computes P, F and the free rows from Z and U. Returns |F| over |P - c|, the change of multipliers, both in m/s;
 * infinite if only |P - c| is 0, and 0 if both are 0. */
static double evaluate_multipliers(Run *run)
{
    Work *w = run->w;
    double gradient = 0.0, change = 0.0;
    for (size_t i = 0; i < run->n; i++) {
        double p = multiplier_at(run, i, w->vector[U][i]),
               d = talus_block_scale(run->s->op, (int)i);
        w->is_free[i] = p > 0.0;
        p = fmax(p, 0.0);
        double f = d * (w->vector[Z][i] - p), c = d * (p - w->vector[CENTRE][i]);
        w->vector[P][i] = p;
        w->vector[F][i] = w->vector[Z][i] - p;
        gradient += f * f;
        change += c * c;
    }
    return change > 0.0 ? sqrt(gradient / change) : gradient > 0.0 ? INFINITY : 0.0;
}

/* Slope of L along dz at the point z + length dz. */
static double slope_at(const Run *run, double length)
{
    double *const *v = run->w->vector;
    double sum = 0.0;
    for (size_t i = 0; i < run->n; i++) {
        double p = fmax(multiplier_at(run, i, v[U][i] + length * v[ND][i]), 0.0);
        sum += (v[Z][i] + length * v[DZ][i] - p) * v[ND][i];
    }
    return sum;
}

/* Returns the step length along dz: 1, unless the slope of L at the full step is positive and larger than WHOLE times
 * its size at the start; then a length at which the slope is nearly 0, by bisection, as the slope rises along dz. */
static double find_step_length(const Run *run)
{
    enum { HALVINGS = 30 };
    /* ENOUGH: share of the first slope up to which a slope counts as nearly 0. */
    static const double WHOLE = 0.5, ENOUGH = 0.1;
    double first = slope_at(run, 0.0), low = 0.0, high = 1.0;
    if (!(slope_at(run, 1.0) > -WHOLE * first))
        return 1.0;
    for (int k = 0; k < HALVINGS; k++) {
        double middle = 0.5 * (low + high), now = slope_at(run, middle);
        if (fabs(now) <= -ENOUGH * first)
            return middle;
        if (now < 0.0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* Takes one Newton step: changes Z and U, and counts the step of the round. *singular: the factorisation failed, since
 * rho is too small for double precision, and Z and U are unchanged. */
static TalusStatus take_newton_step(Run *run, bool *singular)
{
    Work *w = run->w;
    TalusSolve *s = run->s;
    TalusStatus status = talus_al_system_solve(&w->system, s, w->is_free, w->vector[WEIGHT],
                                               w->vector[F], w->vector[DZ]);
    *singular = status == TALUS_ERR_NUMERIC;
    if (status != TALUS_OK)
        return *singular ? TALUS_OK : status;
    apply_operator(run, w->vector[DZ], false, w->vector[ND]);
    double length = run->steps++ >= MAX_FULL_STEPS ? find_step_length(run) : 1.0;
    s->backend->vector.axpby(s->op, length, w->vector[DZ], 1.0, w->vector[Z]);
    s->backend->vector.axpby(s->op, length, w->vector[ND], 1.0, w->vector[U]);
    return TALUS_OK;
}

/* Starts a round: p becomes the multipliers c, and rho the weight. Recomputes u, which has accumulated rounding. */
static void start_round(Run *run, double rho)
{
    Work *w = run->w;
    memcpy(w->vector[CENTRE], w->vector[P], run->n * sizeof(double));
    run->rho = rho;
    run->steps = 0;
    set_weights(run);
    apply_operator(run, w->vector[Z], true, w->vector[U]);
}

/* Measures the natural residual of p, offers p as the best iterate and reports it to the driver as one iteration. False
 * if the solve must end. */
static bool measure_and_report(Run *run)
{
    Work *w = run->w;
    TalusSolve *s = run->s;
    TalusForwardSums at;
    s->backend->op.gradient(s->op, NULL, w->vector[P], true, w->vector[G]);
    s->backend->block.forward_backward(s->op, NULL, w->vector[P], w->vector[G], 1.0, NULL, NULL,
                                       &at);
    talus_best_offer(&w->best, s, w->vector[P], at.residual2);
    return talus_solve_next(s, 1, w->vector[P], NULL, at.residual2, at.residual_max);
}

/* Runs Newton steps and rounds until the solve ends. After a failed factorisation a round with a larger rho follows; at
 * rho >= 1 the solve ends with outcome budget. */
static TalusStatus run_rounds(Run *run)
{
    Work *w = run->w;
    memcpy(w->vector[P], w->vector[CENTRE], run->n * sizeof(double));
    for (bool go = measure_and_report(run); go;) {
        bool singular;
        evaluate_multipliers(run);
        TALUS_TRY(take_newton_step(run, &singular));
        if (singular && run->rho >= 1.0) {
            run->s->info->outcome = TALUS_OUTCOME_BUDGET;
            return TALUS_OK;
        }
        double share = evaluate_multipliers(run);
        if (share <= SOLVED)
            /* only at a round's end does growth of p hint at infeasibility */
            talus_solve_request_infeasibility_check(run->s);
        go = measure_and_report(run);
        if (go && singular)
            start_round(run, STIFFEN * run->rho);
        else if (go && share <= run->p->inner)
            start_round(run, fmax(run->p->shrink * run->rho, fmin(RHO_MIN, run->rho)));
    }
    return TALUS_OK;
}

/* ---- the solve ---- */

/* Reserves memory and sets up the linear systems, with the factorisation of the parameter `linear`. */
static TalusStatus prepare(Run *run)
{
    Work *w = run->w;
    TalusSolve *s = run->s;
    bool cholmod = run->p->linear == LINEAR_CHOLMOD ||
                   (run->p->linear == LINEAR_AUTO && !talus_direct_missing(TALUS_DIRECT_CHOLMOD));
    TALUS_TRY(TALUS_GROW(w->is_free, run->n, 0, "free rows"));
    TALUS_TRY(talus_vectors_reserve(s, &w->vectors, VECTORS, w->vector, "vectors"));
    TALUS_TRY(talus_best_begin(&w->best, s));
    return talus_al_system_prepare(&w->system, s,
                                   cholmod ? TALUS_DIRECT_CHOLMOD : TALUS_DIRECT_LDL);
}

/* Solves the problem from s->gamma, in place; gamma becomes the last p, or the best one if the outcome is budget or
 * infeasible. A resumed call continues with the last rho. */
static TalusStatus solve_newton_al(TalusSolve *s)
{
    Work *w = s->work;
    Run run = {.s = s, .p = s->params, .w = w, .n = (size_t)s->op->blocks};
    run.rho = s->resumed && w->rho > 0.0 ? w->rho : run.p->rho;
    TALUS_TRY(prepare(&run));
    set_weights(&run);
    memcpy(w->vector[CENTRE], s->gamma, run.n * sizeof(double));
    memcpy(w->vector[Z], s->gamma, run.n * sizeof(double));
    apply_operator(&run, w->vector[Z], true, w->vector[U]);
    TALUS_TRY(run_rounds(&run));
    w->rho = run.rho;
    memcpy(s->gamma, w->vector[P], run.n * sizeof(double));
    talus_best_restore(&w->best, s, s->gamma);
    return TALUS_OK;
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    talus_al_system_clear(&w->system);
    talus_release(w->is_free);
}

const TalusSolverType talus_solver_newton_al = {
    .name = "newton-al",
    .summary = "augmented Lagrangian, Newton steps, direct solver: no friction, high accuracy",
    .reference = "Hestenes 1969; Powell 1969; Rockafellar 1976",
    .takes = TALUS_TAKES_NONNEG,
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .solve = solve_newton_al,
    .clear = clear_work,
    .on_host = "the factorisation",
};
