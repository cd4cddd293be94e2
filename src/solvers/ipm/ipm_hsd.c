/* solvers/ipm/ipm_hsd.c - homogeneous interior-point method for monotone complementarity problems, on quadratic
 * programs over cones (ipm_conic.h): MOSEK's method for convex quadratic programs in petra-2009 (Section 3.4).
 *
 * The conditions z = Q x + q, x in K, z in K, x'z = 0 become homogeneous by a factor tau >= 0 of q, and kappa >= 0
 * measures what the gap lacks (Andersen and Ye 1999; for Q = 0 this is the simplified self-dual embedding of Xu, Hung
 * and Ye 1996):
 *     z = Q x + tau q,   kappa = -x'Q x / tau - q'x,   x o z = 0,   tau kappa = 0.
 * The system always has a solution other than zero. One with tau > 0 gives the impulses x / tau. One with kappa > 0 has
 * tau = 0, Q x = 0 and q'x < 0: x is a certificate that the problem has no solution. Both are approached from the same
 * start, x = z = e, tau = kappa = 1, which need not be near anything.
 *
 * A step reduces the residuals r1 = z - Q x - tau q and r2 = kappa + x'Q x / tau + q'x to 1 - eta of themselves and
 * aims at x o z = g mu e, tau kappa = g mu, g = 1 - eta, in Nesterov and Todd's scaling W (ipm_soc_cone.h):
 *     (Q + W^2) dx = W y + eta r1 - q dtau,    dz = W (y - W dx),
 * y from the complementarity of cones. With p = -(Q + W^2)^-1 q and h = (Q + W^2)^-1 (W y + eta r1), dx = h + p dtau
 * and
 *     dtau = (eta r2 + c / tau + (2 Q xi + q)'h) / (kappa / tau + |W p|^2 + (p - xi)'Q (p - xi)),   xi = x / tau,
 * c the aim less tau kappa. The denominator, (2 Q xi + q)'p with the other terms, is written as a sum of squares.
 * Predictor: g = 0; corrector: g = (1 - reached length)^3, with the second-order terms of both complementarities and of
 * x'Q x / tau (Mehrotra 1992). One factorisation serves p, predictor and corrector. Once kappa is below SETTLED of tau,
 * the problem has a solution to that accuracy, and tau stays as it is: dtau, a quotient of two numbers of the order of
 * mu, would be rounding before the other parts of the step are.
 *
 * Of two impulses the one with the smaller residual is reported: x / tau, which is inside the cones, or its projected
 * gradient step P(gamma - g / d), in which open contacts are open. With `polish`, Newton's method on the natural map
 * follows for discs at HANDOVER, or where the method ends by itself, as in ipm_soc.c. */
#include "solvers/ipm/ipm_conic.h"
#include "solvers/ipm/ipm_ends.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

/* PATIENCE: iterations without a residual below FALLING times its minimum that end the method. */
enum { PATIENCE = 8 };
static const double FALLING = 0.9;
/* REACH: share of the step to the boundary. */
static const double REACH = 0.99;
/* A linear system is solved if the norm of its residual is at most ENOUGH sqrt(mu x cones). */
static const double ENOUGH = 1e-6;
/* VANISHED: tau over kappa below which x is tried as a certificate. SETTLED: kappa over tau below which tau is
 * fixed. */
static const double VANISHED = 1e-3, SETTLED = 1e-9;
/* Residual, relative to that of zero impulses, below which Newton's method takes over. */
static const double HANDOVER = 1e-8;
/* MOSEK's tolerances in petra-2009: feasibility relative to 1 + |q|, gap relative to the objective or 1 J. */
static const double MOSEK_FEASIBILITY = 1e-8, MOSEK_GAP = 1e-8;

typedef struct Params {
    int linear, stop;
    bool polish;
} Params;

static const char *const stops[] = {"residual", "mosek", NULL};
enum { STOP_RESIDUAL, STOP_MOSEK };

static const TalusParam params[] = {
    TALUS_CHOICE(Params, linear, TALUS_SOC_LINEAR_AUTO, talus_soc_linears,
                 "factorisation; auto: cholmod for polygons and matrices where the build has it, "
                 "else ldl"),
    TALUS_CHOICE(Params, stop, STOP_RESIDUAL, stops,
                 "ends by the residual asked for, or by MOSEK's rule: feasibility and relative gap "
                 "of 1e-8"),
    TALUS_FLAG(Params, polish, 1.0,
               "discs: Newton steps on the natural map after the last interior-point step"),
};

enum { POLISH }; /* index in `parts` */
static const TalusPart parts[] = {[POLISH] = {TALUS_SOC_POLISH, false}, {NULL, false}};

/* X, Z: the point. QX: Q x. R1: residual. P, PX, QP: W p, p and Q p. D, DX, QD: the step's W dx, dx and Q dx. DZ: W^-1
 * dz. Y: y of the step. RIGHT: right-hand side of a linear system, later a trial of x; TRIAL: of z. */
enum { X, Z, QX, R1, P, PX, QP, Y, D, DX, QD, DZ, RIGHT, TRIAL, VECTORS };

typedef struct Work {
    TalusConic conic;
    TalusBest best;
    TalusVectors vectors;
    double *other, *gradient; /* the other impulses; (N + E) gamma + q */
    double *memory, *vector[VECTORS];
    double tau, kappa;
    bool settled;   /* tau no longer changes */
    bool ready;     /* the point can be continued if the driver resumes the solve */
    bool polishing; /* the last call ended in the polish; a resumed call continues the polish */
} Work;

typedef struct Run {
    TalusSolve *s;
    const Params *p;
    Work *w;
    double mu;             /* (x'z + tau kappa) / (cones + 1) */
    double gap, curve, r2; /* x'z; x'Q x; second residual */
    double dtau, dkappa;   /* of the step */
    double denominator;    /* of dtau */
    double sum, largest;   /* residual of the reported impulses: sum of squares, maximum */
    double zero_sum;       /* that of zero impulses, sum of squares */
} Run;

static double dot(const Run *run, const double *x, const double *y)
{
    double sum = 0.0;
    for (int k = 0; k < run->w->conic.n; k++)
        sum += x[k] * y[k];
    return sum;
}

/* ---- the point ---- */

/* Sets x and z to the cones' e and 1 to tau and kappa; blocks without unknowns have zeros. */
static void set_start(Run *run)
{
    Work *w = run->w;
    const TalusConic *c = &w->conic;
    memset(w->vector[X], 0, (size_t)c->n * sizeof(double));
    for (int i = 0; i < c->blocks; i++)
        w->vector[X][i * c->rows] = c->block[i].kind == TALUS_SOC_NOTHING ? 0.0 : 1.0;
    memcpy(w->vector[Z], w->vector[X], (size_t)c->n * sizeof(double));
    w->tau = w->kappa = 1.0;
    w->settled = false;
}

/* Computes QX, R1, r2, gap, curve and mu of the point. */
static void evaluate_point(Run *run)
{
    Work *w = run->w;
    TalusConic *c = &w->conic;
    double **v = w->vector;
    talus_conic_product(c, v[X], v[QX]);
    for (int k = 0; k < c->n; k++)
        v[R1][k] = v[Z][k] - v[QX][k] - w->tau * c->q[k];
    for (int i = 0; i < c->blocks; i++) /* entries without unknowns are not part of the program */
        for (int r = talus_soc_rows(&c->block[i]); r < c->rows; r++)
            v[R1][i * c->rows + r] = 0.0;
    run->gap = dot(run, v[X], v[Z]);
    run->curve = dot(run, v[X], v[QX]);
    /* = kappa + x'Q x / tau + q'x, without the cancellation of its terms */
    run->r2 = (run->gap + w->tau * w->kappa - dot(run, v[X], v[R1])) / w->tau;
    run->mu = (run->gap + w->tau * w->kappa) / (c->cones + 1);
}

/* Measures the residual of impulses in K; w->gradient becomes their (N + E) gamma + q. */
static void measure_impulses(Run *run, const double *gamma, double *sum, double *largest)
{
    TalusSolve *s = run->s;
    TalusForwardSums sums;
    s->backend->op.product(s->op, gamma, true, true, run->w->gradient);
    s->info->products++;
    s->backend->block.forward_backward(s->op, NULL, gamma, run->w->gradient, 1.0, NULL, NULL,
                                       &sums);
    *sum = sums.residual2;
    *largest = sums.residual_max;
}

/* Writes the better of the two impulses of the point to s->gamma, with its residual, and offers it as best iterate. */
static void choose_reported(Run *run)
{
    TalusSolve *s = run->s;
    Work *w = run->w;
    double *v = w->vector[RIGHT], sum, largest;
    int rows = s->op->rows;
    for (int k = 0; k < w->conic.n; k++)
        v[k] = w->vector[X][k] / w->tau;
    talus_conic_to_impulses(&w->conic, v, s->gamma);
    s->backend->block.project(s->op, NULL, s->gamma);
    measure_impulses(run, s->gamma, &run->sum, &run->largest);
    for (int i = 0; i < s->op->blocks; i++) {
        double scale = talus_block_scale(s->op, i);
        for (int k = i * rows; k < (i + 1) * rows; k++)
            w->other[k] = s->gamma[k] - (scale > 0.0 ? w->gradient[k] / scale : 0.0);
    }
    s->backend->block.project(s->op, NULL, w->other);
    measure_impulses(run, w->other, &sum, &largest);
    if (sum < run->sum) {
        talus_vector_copy(s, w->other, s->gamma);
        run->sum = sum;
        run->largest = largest;
    }
    talus_best_offer(&w->best, s, s->gamma, run->sum);
}

/* ---- steps ---- */

/* out = W^-1 x of all blocks; 0 in entries without unknowns. */
static void apply_inverse_scalings(const Run *run, const double *x, double *out)
{
    const TalusConic *c = &run->w->conic;
    for (int i = 0; i < c->blocks; i++) {
        double y[3] = {0.0, 0.0, 0.0};
        talus_soc_apply_inverse_scaling(&c->block[i], x + i * c->rows, y);
        memcpy(out + i * c->rows, y, (size_t)c->rows * sizeof *y);
    }
}

static double enough(const Run *run)
{
    return ENOUGH * sqrt(run->mu * run->w->conic.cones);
}

/* Factorises at the point and computes P, PX, QP and the denominator of dtau. */
static TalusStatus factorise(Run *run)
{
    Work *w = run->w;
    TalusConic *c = &w->conic;
    double **v = w->vector, curve = 0.0;
    TALUS_TRY(talus_conic_factor(c, v[X], v[Z]));
    apply_inverse_scalings(run, c->q, v[RIGHT]);
    for (int k = 0; k < c->n; k++)
        v[RIGHT][k] = -v[RIGHT][k];
    TALUS_TRY(talus_conic_solve(c, v[RIGHT], enough(run), v[P], v[QP]));
    apply_inverse_scalings(run, v[P], v[PX]);
    for (int k = 0; k < c->n; k++)
        curve += (v[PX][k] - v[X][k] / w->tau) * (v[QP][k] - v[QX][k] / w->tau);
    run->denominator = w->kappa / w->tau + dot(run, v[P], v[P]) + fmax(curve, 0.0);
    return TALUS_OK;
}

/* Sets RIGHT = y + eta W^-1 r1. Predictor (aim 0, not corrected): y = -l; corrected: l o y = aim e - l o l - dx o
 * dz. */
static void set_right_side(Run *run, bool corrected, double aim, double eta)
{
    const TalusConic *c = &run->w->conic;
    double **v = run->w->vector;
    apply_inverse_scalings(run, v[R1], v[RIGHT]);
    for (int i = 0; i < c->blocks; i++) {
        const TalusSocBlock *k = &c->block[i];
        const int at = i * c->rows;
        double y[3] = {-k->lambda[0], -k->lambda[1], -k->lambda[2]};
        if (corrected) {
            double square[3];
            talus_soc_jordan_product(k, v[D] + at, v[DZ] + at, y);
            talus_soc_jordan_product(k, k->lambda, k->lambda, square);
            for (int r = 0; r < talus_soc_rows(k); r++)
                y[r] = (r == 0 ? aim : 0.0) - square[r] - y[r];
            talus_soc_divide_by_lambda(k, y, y);
        }
        for (int r = 0; r < talus_soc_rows(k); r++) {
            v[Y][at + r] = y[r];
            v[RIGHT][at + r] = y[r] + eta * v[RIGHT][at + r];
        }
    }
}

/* Returns the second-order term of x'Q x / tau along the step. */
static double second_order_curve(const Run *run)
{
    const Work *w = run->w;
    double *const *v = w->vector, sum = 0.0, share = run->dtau / w->tau;
    for (int k = 0; k < w->conic.n; k++)
        sum += (v[DX][k] - share * v[X][k]) * (v[QD][k] - share * v[QX][k]);
    return sum / w->tau;
}

/* Returns (2 Q xi + q)'h, h from D = W h and its system's RIGHT. Since (Q + W^2) h = W RIGHT, (Q + W^2) p = -q and W xi
 * = l / tau, that is (2 l / tau - W p)'RIGHT - 2 l'D / tau: a sum of terms as small as mu, unlike the former. */
static double slope_along(const Run *run)
{
    const TalusConic *c = &run->w->conic;
    double *const *v = run->w->vector, sum = 0.0;
    for (int i = 0; i < c->blocks; i++)
        for (int r = 0; r < talus_soc_rows(&c->block[i]); r++) {
            int k = i * c->rows + r;
            double l = 2.0 * c->block[i].lambda[r] / run->w->tau;
            sum += (l - v[P][k]) * v[RIGHT][k] - l * v[D][k];
        }
    return sum;
}

/* Computes the step D, DX, QD, DZ, dtau and dkappa for RIGHT. more: added to eta r2; target: change of tau kappa, to
 * first order. */
static TalusStatus compute_step(Run *run, double eta, double more, double target)
{
    Work *w = run->w;
    TalusConic *c = &w->conic;
    double **v = w->vector;
    TALUS_TRY(talus_conic_solve(c, v[RIGHT], enough(run), v[D], v[QD]));
    apply_inverse_scalings(run, v[D], v[DX]);
    double slope = slope_along(run);
    run->dtau = (eta * run->r2 + more + target / w->tau + slope) / run->denominator;
    run->dtau = w->settled ? 0.0 : run->dtau;
    run->dkappa = (target - w->kappa * run->dtau) / w->tau;
    for (int k = 0; k < c->n; k++) {
        v[D][k] += run->dtau * v[P][k];
        v[DX][k] += run->dtau * v[PX][k];
        v[QD][k] += run->dtau * v[QP][k];
        v[DZ][k] = v[Y][k] - v[D][k];
    }
    return isfinite(run->dtau) ? TALUS_OK
                               : talus_fail(TALUS_ERR_NUMERIC, "a step of tau is not finite");
}

/* Returns the largest a with x + a dx >= 0. */
static double ratio(double x, double dx)
{
    return dx < 0.0 ? -x / dx : INFINITY;
}

/* Returns the largest step that stays within the cones, with tau and kappa not negative; may be infinite. */
static double longest_step(const Run *run)
{
    const TalusConic *c = &run->w->conic;
    double *const *v = run->w->vector;
    double a = fmin(ratio(run->w->tau, run->dtau), ratio(run->w->kappa, run->dkappa));
    for (int i = 0; i < c->blocks; i++) {
        a = fmin(a, talus_soc_longest_step(&c->block[i], v[D] + i * c->rows));
        a = fmin(a, talus_soc_longest_step(&c->block[i], v[DZ] + i * c->rows));
    }
    return a;
}

/* Writes x + a dx to RIGHT and z + a dz to TRIAL. False if one of them is not strictly inside. */
static bool write_moved_point(Run *run, double a)
{
    const TalusConic *c = &run->w->conic;
    double **v = run->w->vector;
    bool inside = true;
    for (int i = 0; i < c->blocks; i++)
        talus_soc_apply_scaling(&c->block[i], v[DZ] + i * c->rows, v[TRIAL] + i * c->rows);
    for (int k = 0; k < c->n; k++) {
        v[RIGHT][k] = v[X][k] + a * v[DX][k];
        v[TRIAL][k] = v[Z][k] + a * v[TRIAL][k];
    }
    for (int i = 0; i < c->blocks && inside; i++)
        inside = talus_soc_is_inside(&c->block[i], v[RIGHT] + i * c->rows) &&
                 talus_soc_is_inside(&c->block[i], v[TRIAL] + i * c->rows);
    return inside;
}

/* Moves to the new point, halving the step until it is inside; TALUS_ERR_NUMERIC if 20 halvings do not suffice. */
static TalusStatus move_point(Run *run)
{
    Work *w = run->w;
    double a = fmin(1.0, REACH * longest_step(run));
    int halvings = 0;
    while (!write_moved_point(run, a)) {
        if (++halvings > 20)
            return talus_fail(TALUS_ERR_NUMERIC, "no step inside the cones");
        a *= 0.5;
    }
    talus_vector_swap(&w->vector[X], &w->vector[RIGHT]);
    talus_vector_swap(&w->vector[Z], &w->vector[TRIAL]);
    w->tau += a * run->dtau;
    w->kappa += a * run->dkappa;
    w->settled = w->settled || w->kappa < SETTLED * w->tau;
    return TALUS_OK;
}

/* Takes one step from the evaluated point. */
static TalusStatus take_step(Run *run)
{
    const Work *w = run->w;
    double product = w->tau * w->kappa;
    TALUS_TRY(factorise(run));
    set_right_side(run, false, 0.0, 1.0);
    TALUS_TRY(compute_step(run, 1.0, 0.0, -product));
    double left = 1.0 - fmin(1.0, longest_step(run)), g = left * left * left, eta = 1.0 - g;
    double more = second_order_curve(run), target = g * run->mu - product - run->dtau * run->dkappa;
    set_right_side(run, true, g * run->mu, eta);
    TALUS_TRY(compute_step(run, eta, more, target));
    return move_point(run);
}

/* ---- the solve ---- */

/* MOSEK's rule in petra-2009: velocities agree with (N + E) gamma + q to 1e-8 (1 + |q|), and the gap is at most 1e-8 of
 * the objective or of 1 J: numbers with units, so the result depends on them. */
static bool meets_mosek(const Run *run)
{
    const Work *w = run->w;
    const TalusConic *c = &w->conic;
    double speed = c->impulse / c->unit, energy = c->impulse * speed, residual = 0.0, q = 0.0;
    for (int k = 0; k < c->n; k++) {
        residual = fmax(residual, fabs(w->vector[R1][k]));
        q = fmax(q, fabs(c->q[k]));
    }
    double objective = 0.5 * run->curve / (w->tau * w->tau) + dot(run, c->q, w->vector[X]) / w->tau;
    return speed * residual / w->tau <= MOSEK_FEASIBILITY * (1.0 + speed * q) &&
           energy * run->gap / (w->tau * w->tau) <= MOSEK_GAP * fmax(1.0, energy * fabs(objective));
}

/* True if tau vanishes beside kappa and x leads to a proof that there is no solution; the outcome is then set. */
static bool proves_infeasible(Run *run)
{
    Work *w = run->w;
    if (!(w->tau < VANISHED * w->kappa))
        return false;
    talus_conic_to_impulses(&w->conic, w->vector[X], w->other);
    return talus_solve_prove_infeasible(run->s, w->other);
}

/* True if the method has `polish` and its part takes the problem. */
static bool can_polish(const Run *run)
{
    return run->p->polish && run->w->conic.rows == 3;
}

/* Takes steps until the driver or MOSEK's rule ends the solve, or there is a proof: *ended is true. False: progress
 * stops, or the polish takes over. */
static TalusStatus run_iterations(Run *run, bool *ended)
{
    TalusSolve *s = run->s;
    double least = INFINITY;
    for (int idle = 0; idle < PATIENCE;) {
        evaluate_point(run);
        choose_reported(run);
        *ended = isfinite(run->sum) &&
                 (!talus_solve_next(s, 0, s->gamma, NULL, run->sum, run->largest) ||
                  (run->p->stop == STOP_MOSEK && meets_mosek(run)) || proves_infeasible(run));
        bool close = can_polish(run) && run->sum <= HANDOVER * HANDOVER * run->zero_sum;
        if (*ended || close || !isfinite(run->sum) || !(run->mu > 0.0))
            return TALUS_OK;
        idle = run->sum < FALLING * FALLING * least ? 0 : idle + 1;
        least = fmin(least, run->sum);
        TalusStatus status = take_step(run);
        if (status == TALUS_ERR_NUMERIC) /* rounding exceeds any further gain */
            return TALUS_OK;
        TALUS_TRY(status);
    }
    return TALUS_OK;
}

/* Runs prox from gamma; if its result is worse than the best point, gamma becomes that. *done: false if prox refuses,
 * as its factor has both triangles and may be too large. */
static TalusStatus run_polish(Run *run, bool resumed, bool *done)
{
    TalusSolve *s = run->s;
    TalusResidualSums sums;
    TalusStatus status = talus_solve_hand_over(s, POLISH, resumed);
    run->w->polishing = *done = status == TALUS_OK;
    if (status == TALUS_ERR_UNSUPPORTED)
        return TALUS_OK;
    TALUS_TRY(status);
    s->backend->op.residual(s->op, s->gamma, &sums, NULL);
    if (!(sums.residual2 <= run->w->best.least))
        talus_vector_copy(s, run->w->best.x, s->gamma);
    return TALUS_OK;
}

/* Ends a solve in which the method no longer progresses. */
static TalusStatus finish(Run *run)
{
    TalusSolve *s = run->s;
    bool done = false;
    talus_vector_copy(s, run->w->best.x, s->gamma);
    s->info->outcome = TALUS_OUTCOME_BUDGET;
    if (can_polish(run))
        TALUS_TRY(run_polish(run, false, &done));
    if (!done)
        talus_ipm_end_with_best(s, &run->w->best, 0);
    return TALUS_OK;
}

/* Sets up the program and reserves the vectors. */
static TalusStatus prepare_run(Run *run)
{
    Work *w = run->w;
    TALUS_TRY(TALUS_RESERVE_VECTORS(run->s, &w->vectors, "vectors", &w->other, &w->gradient));
    TALUS_TRY(talus_conic_prepare(&w->conic, run->s, run->p->linear));
    size_t n = (size_t)w->conic.n;
    TALUS_TRY(TALUS_GROW(w->memory, VECTORS * n, 0, "vectors"));
    for (int k = 0; k < VECTORS; k++)
        w->vector[k] = w->memory + (size_t)k * n;
    memset(w->memory, 0, VECTORS * n * sizeof *w->memory);
    return TALUS_OK;
}

/* Measures zero impulses, for run->zero_sum. */
static void measure_zero(Run *run)
{
    double largest;
    memset(run->w->other, 0, (size_t)(run->s->op->rows * run->s->op->blocks) * sizeof(double));
    measure_impulses(run, run->w->other, &run->zero_sum, &largest);
}

/* Runs the method, from its start unless it is resumed, and what follows it. */
static TalusStatus run_method(Run *run, bool resumed)
{
    Work *w = run->w;
    bool ended = false;
    if (!resumed) {
        TALUS_TRY(prepare_run(run));
        set_start(run);
    }
    w->conic.s = run->s;
    measure_zero(run);
    if (w->conic.cones > 0)
        TALUS_TRY(run_iterations(run, &ended));
    if (!ended)
        return finish(run);
    w->ready = true;
    talus_best_restore(&w->best, run->s, run->s->gamma);
    return TALUS_OK;
}

/* `solve` of TalusSolverType. */
static TalusStatus solve_ipm_hsd(TalusSolve *s)
{
    Work *w = s->work;
    Run run = {.s = s, .p = s->params, .w = w};
    bool resumed = s->resumed && w->ready, polishing = s->resumed && w->polishing, done;
    w->ready = w->polishing = false;
    if (polishing)
        return run_polish(&run, true, &done);
    TALUS_TRY(talus_best_begin(&w->best, s));
    if (!resumed && !talus_ipm_must_iterate(s, &w->best))
        return TALUS_OK;
    return run_method(&run, resumed);
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    talus_conic_clear(&w->conic);
    talus_release(w->memory);
}

const TalusSolverType talus_solver_ipm_hsd = {
    .name = "ipm-hsd",
    .summary = "homogeneous interior point on cones of all sections, with proofs of infeasibility",
    .reference = "Andersen & Ye 1999; Xu, Hung & Ye 1996; Nesterov & Todd 1998; petra-2009 (MOSEK)",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, DISC) | TALUS_TAKES(CCP, POLYGON) |
             TALUS_TAKES(CCP, SQUARE),
    TALUS_PARAMS(params, Params),
    .work_size = sizeof(Work),
    .parts = parts,
    .solve = solve_ipm_hsd,
    .clear = clear_work,
    .on_host = "the factorisation",
};
