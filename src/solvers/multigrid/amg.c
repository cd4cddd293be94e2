/* solvers/multigrid/amg.c - projected algebraic multigrid for bounds, preclik-2009 section 3.4.
 *
 * Gauss-Seidel sweeps remove errors that change from row to row. Smooth errors remain and are corrected on a coarser
 * level, whose problem has its own bounds (amg.h). The rows of the coarser level are chosen by Ruge and Stueben's rules
 * for linear systems, as in the paper, which knows no better rules for complementarity problems.
 *
 * The paper's plain method is truncate=off, correction=reject or project. The defaults are the variants that are known
 * to converge for obstacle problems. A row at a bound takes no part in the coarse level (truncated interpolation,
 * Kornhuber 1994), so that the linear system of the free rows is coarsened; truncate=late, the default, truncates after
 * the first cycle that did not halve the residual. A correction is clamped to the bounds and followed by a line
 * search, so that the objective never rises (Graeser and Kornhuber 2009). The coarser levels are rebuilt when the set
 * of free rows has changed by more than the share `refresh`.
 *
 * The paper suspects that impulses, not being unique, are the wrong quantity to transfer between levels. With A_H =
 * P'AP velocities do not suffer from it: corrections with the same coarse velocities A_H e differ by an e with e'A_H e
 * = 0, for which A P e = 0. But such a null vector can push variables over their bounds. With transfer=velocity,
 * amg_rigid.c transfers the velocities of clusters instead.
 *
 * An iteration is one cycle; the start and the sweeps of a warm start count as one each. The products of the solve are
 * the cost of sweeps, cycles, coarsening and measurements in units of one product with the finest matrix, rounded. The
 * solver runs on one thread of the host. */
#include "solvers/multigrid/amg.h"
#include "solvers/driver/best.h"
#include "solvers/driver/solver.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

static const char *const cycles[] = {"V", "W", NULL};
static const char *const corrections[] = {"reject", "project", "search", NULL};
static const char *const bounds[] = {"inject", "none", NULL};
static const char *const truncations[] = {"off", "on", "late", NULL};
static const char *const transfers[] = {"impulse", "velocity", NULL};
static const char *const strengths[] = {"negative", "absolute", NULL};

static const TalusParam params[] = {
    TALUS_CHOICE(TalusAmgParams, cycle, 0, cycles, "V: one visit to each coarser level; W: two"),
    TALUS_INT(TalusAmgParams, pre, 1, 0, 100, "sweeps before a correction, forward"),
    TALUS_INT(TalusAmgParams, post, 1, 1, 100, "sweeps after it, backward"),
    TALUS_CHOICE(
        TalusAmgParams, correction, AMG_SEARCH, corrections,
        "of a variable that would leave its bounds: drop it, cut it, or cut it and search a step"),
    TALUS_CHOICE(TalusAmgParams, bounds, AMG_INJECT, bounds,
                 "on coarser levels: those of the rows that are there, or none"),
    TALUS_CHOICE(
        TalusAmgParams, truncate, AMG_LATE, truncations,
        "leave rows at their bounds out of coarser levels; late: once plain cycles stop halving"),
    TALUS_REAL(TalusAmgParams, refresh, 0.0, 0.0, 1.0,
               "share of the free rows that must have changed before levels are built anew"),
    TALUS_INT(TalusAmgParams, warm, 0, 0, 100000, "sweeps before the first levels are built"),
    TALUS_REAL(TalusAmgParams, theta, 0.25, 0.0, 1.0,
               "a coupling is strong from this share of the largest on"),
    TALUS_CHOICE(TalusAmgParams, strong, AMG_NEGATIVE, strengths, "which couplings can be strong"),
    TALUS_INT(TalusAmgParams, passes, 1, 1, 2,
              "of the coarsening: the second has fine rows share coarse ones"),
    TALUS_CHOICE(
        TalusAmgParams, transfer, AMG_IMPULSE, transfers,
        "interpolate impulses by weights, or make clusters of contacts move as rigidly as they can"),
    TALUS_INT(TalusAmgParams, cluster, 1, 1, 1000, "rows of such a cluster, at most"),
    TALUS_INT(TalusAmgParams, coarsest, 30, 1, 500, "rows of a level that is solved directly"),
};

typedef struct Work {
    TalusAmg amg;
    TalusBest best;
    bool ready; /* the matrix of level 0 is that of the current problem */
} Work;

/* ---- level 0 ---- */

/* Sets bounds and kinds of the rows of level 0: normal impulses >= 0, tangential ones within mu times the estimate. */
static void set_bounds_and_kinds(const TalusOperator *op, TalusAmgLevel *l)
{
    for (int i = 0; i < op->blocks; i++) {
        double bound = op->rows > 1 ? op->mu[i] * op->estimate[i] : 0.0;
        for (int k = 0; k < op->rows; k++) {
            int at = i * op->rows + k;
            l->lower[at] = k ? -bound : 0.0;
            l->upper[at] = k ? bound : INFINITY;
            l->kind[at] = k > 0;
        }
    }
}

/* Releases the hierarchy and assembles the matrix of level 0, with its vectors. */
static TalusStatus assemble_level_0(TalusSolve *s, Work *w)
{
    TalusAmg *amg = &w->amg;
    w->ready = false;
    talus_amg_clear_levels(amg, 0);
    TALUS_TRY(talus_problem_assemble(s->problem, &amg->level[0].a));
    TALUS_TRY(talus_amg_level_allocate(&amg->level[0]));
    amg->finest_entries = fmax(talus_sparse_entries(&amg->level[0].a), 1.0);
    w->ready = true;
    return TALUS_OK;
}

/* Sets up matrix, offset and bounds of level 0 from the problem, and its x from gamma, clamped to the bounds. A resumed
 * call has the same matrix, which is not assembled again. Resets the cost and the best iterate. */
static TalusStatus set_up_level_0(TalusSolve *s, Work *w)
{
    TalusAmgLevel *l = &w->amg.level[0];
    w->amg.params = s->params;
    w->amg.cost = 0.0;
    TALUS_TRY(talus_best_begin(&w->best, s));
    if (!(s->resumed && w->ready))
        TALUS_TRY(assemble_level_0(s, w));
    s->backend->op.product(s->op, NULL, false, true, l->q);
    set_bounds_and_kinds(s->op, l);
    for (int i = 0; i < l->a.rows; i++)
        l->x[i] = fmin(fmax(s->gamma[i], l->lower[i]), l->upper[i]);
    return TALUS_OK;
}

/* ---- the solve ---- */

typedef struct Meter {
    double reported;  /* cost already reported to the driver as products */
    double residual2; /* sum of squared residuals at the last measurement */
} Meter;

/* Measures the residual at x of level 0 and reports it to the driver as one iteration, with the cost since the last
 * report as products. Offers x as the best iterate. False if the solve must end. */
static bool measure_and_report(TalusSolve *s, Work *w, Meter *m)
{
    TalusAmgLevel *l = &w->amg.level[0];
    TalusForwardSums at;
    talus_amg_gradient(&w->amg, 0);
    s->backend->block.forward_backward(s->op, NULL, l->x, l->g, 1.0, NULL, NULL, &at);
    talus_best_offer(&w->best, s, l->x, at.residual2);
    double now = floor(w->amg.cost + 0.5);
    int products = (int)(now - m->reported);
    m->reported = now;
    m->residual2 = at.residual2;
    return talus_solve_next(s, products, l->x, NULL, at.residual2, at.residual_max);
}

/* True if row i of level 0 is to take part in the coarsening: its diagonal entry is positive, its bounds differ and,
 * with truncation, x is strictly between the bounds. */
static bool takes_part(const TalusAmg *amg, int i)
{
    const TalusAmgLevel *l = &amg->level[0];
    return l->diagonal[i] > 0.0 && l->lower[i] < l->upper[i] &&
           (!amg->truncate || talus_amg_is_inside(l, i));
}

/* Builds the coarser levels if there are none, or if more rows than the share `refresh` of those that take part have
 * entered or left the coarsening. */
static TalusStatus rebuild_if_changed(TalusAmg *amg)
{
    TalusAmgLevel *l = &amg->level[0];
    int changed = 0, rows = 0;
    for (int i = 0; i < l->a.rows; i++) {
        changed += takes_part(amg, i) != l->taken[i];
        rows += takes_part(amg, i);
    }
    if (amg->levels && changed <= amg->params->refresh * rows)
        return TALUS_OK;
    for (int i = 0; i < l->a.rows; i++)
        l->taken[i] = takes_part(amg, i);
    return talus_amg_build_levels(amg);
}

/* True if a cycle did not halve the residual; before, now: squared residuals. */
static bool has_stalled(double before, double now)
{
    return !(now <= 0.25 * before);
}

/* Runs the `warm` sweeps, then cycles until the driver ends the solve. */
static TalusStatus run_cycles(TalusSolve *s, Work *w)
{
    const TalusAmgParams *p = s->params;
    TalusAmg *amg = &w->amg;
    Meter m = {0};
    if (!measure_and_report(s, w, &m))
        return TALUS_OK;
    for (int k = 0; k < p->warm && talus_solve_within_budget(s); k++)
        talus_amg_sweep(amg, 0, k % 2 == 1);
    if (p->warm > 0 && !measure_and_report(s, w, &m))
        return TALUS_OK;
    amg->truncate = p->truncate == AMG_ON;
    for (;;) {
        double before = m.residual2;
        TALUS_TRY(rebuild_if_changed(amg));
        talus_amg_cycle(amg);
        if (!measure_and_report(s, w, &m))
            return TALUS_OK;
        if (p->truncate == AMG_LATE && has_stalled(before, m.residual2))
            amg->truncate = true;
    }
}

/* Solves the problem from s->gamma, in place; gamma becomes the last iterate, or the best one if the outcome is budget
 * or infeasible. Releases the coarser levels. */
static TalusStatus solve_amg(TalusSolve *s)
{
    Work *w = s->work;
    TALUS_TRY(set_up_level_0(s, w));
    TalusStatus status = run_cycles(s, w);
    size_t n = (size_t)s->op->rows * (size_t)s->op->blocks;
    memcpy(s->gamma, w->amg.level[0].x, n * sizeof *s->gamma);
    talus_best_restore(&w->best, s, s->gamma);
    talus_amg_clear_levels(&w->amg, 1);
    return status;
}

/* `clear` of TalusSolverType. */
static void clear_work(void *work)
{
    Work *w = work;
    talus_amg_clear_levels(&w->amg, 0);
}

const TalusSolverType talus_solver_amg = {
    .name = "amg",
    .summary = "projected algebraic multigrid: obstacle problems and chains, not beds",
    .reference = "preclik-2009 section 3.4; Ruge & Stueben 1987; Graeser & Kornhuber 2009",
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES_BOX,
    TALUS_PARAMS(params, TalusAmgParams),
    .work_size = sizeof(Work),
    .solve = solve_amg,
    .clear = clear_work,
    .on_host = "the hierarchy of matrices",
};
