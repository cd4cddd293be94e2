/* solvers/first_order/admm.c - alternating direction method of multipliers, with a rho that follows the error.
 *
 * minimise 1/2 x'A x + q'x + I_K(z) subject to x = z, in the metric x = gamma / s with s^-2 the normal and tangential
 * diagonal entries of each block. A = S (N + E) S then has ones on its diagonal (tangential rows: in the mean of a
 * block), and rho has no unit. With y the multiplier of x = z, the only unknown is the point before the projection, w =
 * z + y / rho; with relaxation a,
 *     z = P(w),   u = w - z,   x = argmin 1/2 x'A x + q'x + rho/2 |x - z + u|^2,   w' = w + a (x - z).
 * The x-step, with g(z) = A z + q:
 *     direct    (A + rho) (z - x) = g(z) + rho u, by a factorisation of N + E + rho S^-2 that is repeated only when rho
 *               changes. An iteration is one product, which also gives the residual of z, and one solve, counted as
 *               another product.
 *     proximal  adds 1/2 (x - x_old)'(tau - A)(x - x_old) to the objective, tau the norm of A:
 *               x = (tau x_old + rho (z - u) - g(x_old)) / (tau + rho). One product per iteration, and one more every
 *               CHECK iterations to measure z. In effect a gradient method.
 *     auto      direct up to DIRECT_ROWS rows and DIRECT_FILL entries of the factor on a backend that factorises, else
 *               proximal.
 * Proximal is also the fallback of `direct` where the factorisation fails. Anderson's method accelerates w, and in the
 * proximal form also x (solvers/first_order/extrapolate.h).
 *
 * Choice of rho. The plain iteration reduces those parts of the error e = z - x fastest that belong to eigenvalues of A
 * near rho, and the others slowly. The remaining error has the curvature |A e| / |e|; the proximal form uses tau, the
 * curvature of its x-step, instead. If the curvature differs from rho by more than a factor `change`, rho moves to it,
 * by at most LARGEST_CHANGE at a time, like the shifts of alternating direction implicit methods. A e needs no product,
 * as it is g(z) + rho u - rho e. rho may change after `adapt` iterations, and then each time the number of iterations
 * has grown by a fifth and by `adapt`. Changes become ever rarer, so that convergence is that of a fixed rho.
 *
 * Limits: on deep beds the number of iterations grows like that of any first-order method. */
#include "solvers/first_order/extrapolate.h"

#include "base/memory.h"
#include "base/status.h"
#include "linalg/ldl.h"
#include "linalg/sparse.h"

#include <math.h>

/* Values of the parameter x_step. */
enum { X_AUTO, X_DIRECT, X_PROXIMAL };

/* CHECK: iterations between measurements of z in the proximal form. The others are limits of the direct form. */
enum { CHECK = 5, DIRECT_ROWS = 4000, DIRECT_FILL = 1000000 };

static const double MARGIN = 1.05, FORGET = 0.97; /* factors on the norm of A */
static const double RHO_MIN = 1e-4,
                    RHO_MAX = 1e4;         /* bounds of rho, for A with ones on its diagonal */
static const double LARGEST_CHANGE = 10.0; /* maximum factor on rho at a time */
static const double REGULAR = 1e-10, FACTOR = 2.0; /* parameters of the extrapolation */
static const double PIVOT = 1e-12;                 /* least pivot, relative to the diagonal entry */

/* Parameters of the solver; the table `params` says what each does. */
typedef struct Params {
    int x_step, adapt, anderson;
    double rho, relax, change;
} Params;

typedef struct Work {
    TalusExtrapolation extrapolation; /* part 0 is w, part 1 is x */
    TalusBest best;
    TalusVectors vectors, metric;
    double *g, *error;       /* gradient at z, then the right-hand side; z - x or a work vector */
    TalusSparse matrix;      /* N + E + rho S^-2 */
    double *diagonal;        /* diagonal of N + E */
    int32_t *diagonal_entry; /* index of each row's diagonal entry in `matrix` */
    TalusLdl factor;         /* of `matrix` */
} Work;

typedef struct Run {
    const TalusMetricBlock *metric;
    double *z, rho;   /* z is in the memory of gamma */
    bool direct;      /* the x-step is direct, else proximal */
    double curvature; /* |A e| / |e| of the current error; proximal: tau */
} Run;

static const char *const x_steps[] = {"auto", "direct", "proximal", NULL};

static const TalusParam params[] = {
    TALUS_CHOICE(Params, x_step, X_AUTO, x_steps, "factorise, or add a proximal term"),
    TALUS_REAL(Params, rho, 0.3, 1e-4, 1e4, "penalty at first, over the diagonal"),
    TALUS_INT(Params, adapt, 20, 0, 1000000, "iterations before rho may change; 0: it never does"),
    TALUS_REAL(Params, change, 5.0, 1.0, 1e3, "least factor by which rho changes"),
    TALUS_REAL(Params, relax, 1.6, 0.1, 1.95, "relaxation"),
    TALUS_INT(Params, anderson, 10, 0, TALUS_EXTRAPOLATE_MEMORY,
              "memory of the acceleration; 0: none"),
};

/* ---- the factorisation ---- */

/* Factorises N + E + rho S^-2. *good: false if it is not positive definite, which is no error. */
static TalusStatus factorise_with_rho(TalusSolve *s, const Run *run, bool *good)
{
    Work *w = s->work;
    const TalusPivots pivots = {.relative = PIVOT};
    for (int i = 0; i < w->matrix.rows; i++) {
        const double scale = run->metric[i / s->op->rows][i % s->op->rows > 0];
        w->matrix.value[w->diagonal_entry[i]] = w->diagonal[i] + run->rho / (scale * scale);
    }
    TalusStatus status = talus_ldl_factor(&w->factor, &w->matrix, NULL, &pivots);
    *good = status == TALUS_OK;
    return status == TALUS_ERR_NUMERIC ? TALUS_OK : status;
}

/* Stores the diagonal of N + E and the index of each diagonal entry, to which factorise_with_rho adds rho S^-2.
 * *complete: false if a diagonal entry is missing in the pattern. */
static TalusStatus store_diagonal(Work *w, bool *complete)
{
    const TalusSparse *a = &w->matrix;
    TALUS_TRY(TALUS_GROW(w->diagonal, (size_t)a->rows, 0, "diagonal"));
    TALUS_TRY(TALUS_GROW(w->diagonal_entry, (size_t)a->rows, 0, "diagonal"));
    *complete = true;
    for (int i = 0; i < a->rows && *complete; i++) {
        w->diagonal_entry[i] = talus_sparse_diagonal(a, i);
        *complete = w->diagonal_entry[i] >= 0;
        w->diagonal[i] = *complete ? a->value[w->diagonal_entry[i]] : 0.0;
    }
    return TALUS_OK;
}

/* Sets run->direct and factorises if the x-step should be direct and can be. Raises rho, at most to RHO_MAX, until the
 * matrix is positive definite. */
static TalusStatus prepare_direct(TalusSolve *s, const Params *p, Run *run)
{
    Work *w = s->work;
    bool complete;
    bool large = s->op->rows * s->op->blocks > DIRECT_ROWS ||
                 !talus_backend_can(s->backend, TALUS_CAP_FACTORISES);
    if (p->x_step == X_PROXIMAL || (p->x_step == X_AUTO && large))
        return TALUS_OK;
    talus_sparse_clear(&w->matrix);
    TALUS_TRY(talus_problem_assemble(s->problem, &w->matrix));
    TALUS_TRY(store_diagonal(w, &complete));
    if (!complete)
        return TALUS_OK;
    TALUS_TRY(talus_ldl_analyse(&w->factor, &w->matrix, NULL));
    if (p->x_step != X_DIRECT && talus_ldl_fill(&w->factor) > DIRECT_FILL)
        return TALUS_OK;
    TALUS_TRY(factorise_with_rho(s, run, &run->direct));
    while (!run->direct && run->rho * LARGEST_CHANGE <= RHO_MAX) {
        run->rho *= LARGEST_CHANGE; /* N is not positive semidefinite */
        TALUS_TRY(factorise_with_rho(s, run, &run->direct));
    }
    return TALUS_OK;
}

/* ---- one iteration ---- */

/* Computes z = P(w). If `measured`, also computes its gradient in w->g and its residual, and offers z as best
 * iterate. */
static void project_iterate(TalusSolve *s, Run *run, bool measured, TalusForwardSums *sums)
{
    Work *w = s->work;
    talus_vector_copy(s, w->extrapolation.part[0].y, run->z);
    s->backend->block.project(s->op, run->metric, run->z);
    if (!measured)
        return;
    s->backend->op.gradient(s->op, run->metric, run->z, true, w->g);
    s->info->products++;
    s->backend->block.forward_backward(s->op, run->metric, run->z, w->g, 1.0, NULL, NULL, sums);
    talus_best_offer(&w->best, s, run->z, sums->residual2);
}

/* Returns sqrt(square / by), or 0 if an argument is not positive. */
static double root_of_quotient(double square, double by)
{
    return square > 0.0 && by > 0.0 ? sqrt(square / by) : 0.0;
}

/* Computes h, the next w, by the direct x-step, and the curvature of the error. On entry w->g is g(z); on return w->g
 * is g(z) + rho u, and w->error is e = z - x. */
static void direct_step(TalusSolve *s, const Params *p, Run *run)
{
    Work *w = s->work;
    TalusExtrapolated *part = w->extrapolation.part;
    const double *sum[3] = {w->g, part->y, run->z}, *both[2] = {part->y, w->error};
    const double a[3] = {1.0, run->rho, -run->rho}, step[2] = {1.0, -p->relax};
    const double *dotted[2] = {w->error, w->g};
    double ee_re[2];
    s->backend->vector.combine(s->op, 3, sum, a, w->g);
    talus_vector_copy(s, w->g, w->error);
    s->backend->op.scale(s->op, run->metric, true, w->error);
    talus_ldl_solve(&w->factor, w->error);
    s->backend->op.scale(s->op, run->metric, true, w->error);
    s->info->products++;
    s->backend->vector.combine(s->op, 2, both, step, part->h);
    s->backend->vector.dots(s->op, 2, dotted, w->error, ee_re);
    double rr = s->backend->vector.dot(s->op, w->g, w->g);
    run->curvature =
        root_of_quotient(rr - 2.0 * run->rho * ee_re[1] + run->rho * run->rho * ee_re[0], ee_re[0]);
}

/* Computes h, the next w and x, by the proximal x-step. If `measured`, g(z) is in w->g, and tau is raised if the
 * curvature between z and x exceeds it. */
static void proximal_step(TalusSolve *s, const Params *p, Run *run, bool measured)
{
    Work *w = s->work;
    TalusNormState *state = s->state;
    TalusExtrapolated *part = w->extrapolation.part, *x = part + 1;
    double tau = state->norm, rho = run->rho, all = 1.0 / (tau + rho);
    s->backend->op.gradient(s->op, run->metric, x->y, true, w->error);
    s->info->products++;
    const double *old[4] = {x->y, run->z, part->y, w->error};
    const double a[4] = {tau * all, 2.0 * rho * all, -rho * all, -all};
    s->backend->vector.combine(s->op, 4, old, a, x->h);
    const double *sum[3] = {part->y, x->h, run->z};
    const double b[3] = {1.0, p->relax, -p->relax};
    s->backend->vector.combine(s->op, 3, sum, b, part->h);
    run->curvature = tau;
    if (!measured)
        return;
    const double *e[2] = {run->z, x->y}, c[2] = {1.0, -1.0};
    s->backend->vector.axpby(s->op, -1.0, w->error, 1.0, w->g);
    s->backend->vector.combine(s->op, 2, e, c, w->error);
    double seen = root_of_quotient(s->backend->vector.dot(s->op, w->g, w->g),
                                   s->backend->vector.dot(s->op, w->error, w->error));
    if (seen > tau && isfinite(seen))
        state->norm = MARGIN * seen; /* the power iteration has underestimated the norm */
}

/* ---- rho ---- */

/* Sets rho and keeps z and y = rho u: w = z + u rho_old / rho. Empties the memory of the extrapolation. Keeps the old
 * rho if the new matrix is not positive definite. */
static TalusStatus set_rho(TalusSolve *s, Run *run, double rho)
{
    Work *w = s->work;
    double *y = w->extrapolation.part[0].y, old = run->rho;
    bool good = true;
    run->rho = rho;
    if (run->direct)
        TALUS_TRY(factorise_with_rho(s, run, &good));
    if (!good) {
        run->rho = old;
        return factorise_with_rho(s, run, &good);
    }
    talus_vector_copy(s, y, run->z);
    s->backend->block.project(s->op, run->metric, run->z);
    s->backend->vector.axpby(s->op, 1.0 - old / rho, run->z, old / rho, y);
    talus_extrapolate_empty_memory(&w->extrapolation);
    return TALUS_OK;
}

/* Moves rho towards the curvature of the error if that is more than a factor `change` away. */
static TalusStatus adapt_rho(TalusSolve *s, const Params *p, Run *run)
{
    double wanted =
        fmin(fmax(run->curvature, run->rho / LARGEST_CHANGE), run->rho * LARGEST_CHANGE);
    wanted = fmin(fmax(wanted, RHO_MIN), RHO_MAX);
    if (wanted > p->change * run->rho || wanted * p->change < run->rho)
        return set_rho(s, run, wanted);
    return TALUS_OK;
}

/* ---- the solve ---- */

/* Sets the first w = z + u, with z the given impulses and u the part of -g / rho in the normal cone at z; the proximal
 * form also starts from x = z. */
static void set_start(TalusSolve *s, Run *run)
{
    Work *w = s->work;
    TalusExtrapolated *part = w->extrapolation.part;
    s->backend->op.scale(s->op, run->metric, true, run->z);
    s->backend->block.project(s->op, run->metric, run->z);
    s->backend->op.gradient(s->op, run->metric, run->z, true, w->g);
    s->info->products++;
    s->backend->vector.axpby(s->op, 0.0, w->g, -1.0 / run->rho, w->g);
    s->backend->block.project_tangent(s->op, run->metric, run->z, w->g, w->error);
    const double *sum[3] = {run->z, w->g, w->error}, a[3] = {1.0, 1.0, -1.0};
    s->backend->vector.combine(s->op, 3, sum, a, part->y);
    if (!run->direct)
        talus_vector_copy(s, run->z, part[1].y);
}

/* Iterates until the driver ends the solve. */
static TalusStatus run_iterations(TalusSolve *s, const Params *p, Run *run)
{
    double next = p->adapt > 0 ? p->adapt : INFINITY;
    for (int k = 0;; k++) {
        TalusForwardSums sums;
        bool last = s->info->iterations + 1 >= s->options->max_iterations;
        bool measured = run->direct || last || k % CHECK == 0;
        project_iterate(s, run, measured, &sums);
        if (!measured)
            talus_solve_count(s, 0);
        else if (!talus_solve_next(s, 0, run->z, run->metric, sums.residual2, sums.residual_max))
            return TALUS_OK;
        if (run->direct)
            direct_step(s, p, run);
        else
            proximal_step(s, p, run, measured);
        bool on =
            talus_extrapolate_next(&((Work *)s->work)->extrapolation, s) != TALUS_EXTRAPOLATE_BACK;
        if (on && measured && k >= next) {
            TALUS_TRY(adapt_rho(s, p, run));
            next = 1.2 * k + p->adapt;
        }
    }
}

/* `solve` of TalusSolverType: solves the problem from s->gamma, in place. */
static TalusStatus solve_admm(TalusSolve *s)
{
    const Params *p = s->params;
    Work *w = s->work;
    Run run = {.z = s->gamma, .rho = p->rho};
    TALUS_TRY(talus_best_begin(&w->best, s));
    TALUS_TRY(TALUS_RESERVE_VECTORS(s, &w->vectors, "gradient and error", &w->g, &w->error));
    TALUS_TRY(talus_solver_make_metric(s, TALUS_METRIC_ANISOTROPIC, &w->metric, &run.metric));
    TALUS_TRY(prepare_direct(s, p, &run));
    TALUS_TRY(talus_extrapolate_begin(&w->extrapolation, s, run.direct ? 1 : 2, p->anderson));
    w->extrapolation.regular = REGULAR;
    w->extrapolation.factor = FACTOR;
    if (!run.direct)
        talus_norm_renew(s, s->state, run.metric, FORGET, MARGIN, w->g, w->error);
    set_start(s, &run);
    TALUS_TRY(run_iterations(s, p, &run));
    talus_best_restore(&w->best, s, s->gamma);
    s->backend->op.scale(s->op, run.metric, false, s->gamma);
    s->backend->block.project(s->op, NULL, s->gamma);
    return TALUS_OK;
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    TALUS_RELEASE(w->diagonal, w->diagonal_entry);
    talus_sparse_clear(&w->matrix);
    talus_ldl_clear(&w->factor);
}

/* `is_on_host` of TalusSolverType: x_step=direct; auto is proximal on other backends. */
static bool is_on_host(const void *parameters)
{
    return ((const Params *)parameters)->x_step == X_DIRECT;
}

const TalusSolverType talus_solver_admm = {
    .name = "admm",
    .summary = "alternating directions, direct or proximal, adaptive rho: small stiff problems",
    .reference =
        "Boyd et al. 2011; Stellato et al. 2020; the choice of rho: docs/reference/solvers/first-order.md",
    .takes = TALUS_TAKES_CONVEX,
    TALUS_PARAMS(params, Params),
    .state_size = sizeof(TalusNormState),
    .work_size = sizeof(Work),
    .solve = solve_admm,
    .clear = clear_work,
    .on_host = "the factorisation of x_step=direct",
    .is_on_host = is_on_host,
};
