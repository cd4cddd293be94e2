/* solvers/multigrid/amg_cycle.c - cycles: smoother, restriction, bounds, correction (amg.h). */
#include "solvers/multigrid/amg.h"

#include <math.h>
#include <string.h>

/* COARSEST_SWEEPS: number of sweeps on a coarsest level that is too large for the dense method. LONGEST: largest step
 * length of the line search; along a direction without curvature the objective has no minimum. */
enum { COARSEST_SWEEPS = 20 };
static const double LONGEST = 8.0;

static double clamp(double x, double lower, double upper)
{
    return fmin(fmax(x, lower), upper);
}

/* Adds one product with the matrix a to the cost. */
static void count_product(TalusAmg *amg, const TalusSparse *a)
{
    amg->cost += talus_sparse_entries(a) / amg->finest_entries;
}

void talus_amg_sweep(TalusAmg *amg, int level, bool backward)
{
    TalusAmgLevel *l = &amg->level[level];
    int n = l->a.rows;
    for (int at = 0; at < n; at++) {
        int i = backward ? n - 1 - at : at;
        double g = l->q[i];
        if (!(l->diagonal[i] > 0.0))
            continue;
        for (int32_t k = l->a.start[i]; k < l->a.start[i + 1]; k++)
            g += l->a.value[k] * l->x[l->a.column[k]];
        l->x[i] = clamp(l->x[i] - g / l->diagonal[i], l->lower[i], l->upper[i]);
    }
    count_product(amg, &l->a);
}

void talus_amg_gradient(TalusAmg *amg, int level)
{
    TalusAmgLevel *l = &amg->level[level];
    memcpy(l->g, l->q, (size_t)l->a.rows * sizeof *l->g);
    talus_sparse_add_product(&l->a, 1.0, l->x, l->g);
    count_product(amg, &l->a);
}

/* ---- to the coarse level ---- */

/* False if truncation (Kornhuber 1994) cuts row i off from the coarse level: with x at a bound, the row passes no
 * gradient to the coarse level and gets no correction from it. */
static bool is_connected(const TalusAmg *amg, const TalusAmgLevel *l, int i)
{
    return !amg->truncate || talus_amg_is_inside(l, i);
}

/* Sets up the problem of the next level, whose unknown is a correction: q_H = P'g, x_H = 0. Its bounds are lower - x
 * and upper - x of the coarse rows, Eq. (24) of amg.h, or infinite (bounds=none). Adds to amg->cost. */
static void restrict_problem(TalusAmg *amg, const TalusAmgLevel *l, TalusAmgLevel *next)
{
    bool bounded = amg->params->bounds == AMG_INJECT;
    for (int i = 0; i < next->a.rows; i++) {
        next->x[i] = next->q[i] = 0.0;
        next->lower[i] = -INFINITY;
        next->upper[i] = INFINITY;
    }
    for (int i = 0; i < l->a.rows; i++) {
        int32_t at = l->coarse[i];
        if (at >= 0 && bounded) {
            next->lower[at] = fmin(l->lower[i] - l->x[i], 0.0);
            next->upper[at] = fmax(l->upper[i] - l->x[i], 0.0);
        }
        for (int32_t k = l->p.start[i]; is_connected(amg, l, i) && k < l->p.start[i + 1]; k++)
            next->q[l->p.column[k]] += l->p.value[k] * l->g[i];
    }
    count_product(amg, &l->p);
}

/* ---- back from the coarse level ---- */

/* Computes the correction d = P e from the next level's solution e, plus the clusters' own correction
 * (transfer=velocity); d = 0 in rows that truncation cuts off. Adds to amg->cost. */
static void interpolate_correction(TalusAmg *amg, TalusAmgLevel *l, const TalusAmgLevel *next)
{
    memset(l->d, 0, (size_t)l->a.rows * sizeof *l->d);
    if (l->clusters.count)
        amg->cost += talus_amg_clusters_correct(l) / amg->finest_entries;
    talus_sparse_add_product(&l->p, 1.0, next->x, l->d);
    for (int i = 0; i < l->a.rows; i++)
        if (!is_connected(amg, l, i))
            l->d[i] = 0.0;
    count_product(amg, &l->p);
}

/* Changes d in every row where x + d is out of bounds: to 0 if `reject`, else so that x + d is at the bound. */
static void limit_correction(TalusAmgLevel *l, bool reject)
{
    for (int i = 0; i < l->a.rows; i++) {
        double to = clamp(l->x[i] + l->d[i], l->lower[i], l->upper[i]);
        bool out = to != l->x[i] + l->d[i];
        l->d[i] = out ? (reject ? 0.0 : to - l->x[i]) : l->d[i];
    }
}

/* Returns the step length along d, at most LONGEST, that minimises the objective within the bounds; 0 if the objective
 * does not fall along d. x + d must be within the bounds. Adds to amg->cost. */
static double find_step_length(TalusAmg *amg, TalusAmgLevel *l)
{
    double slope = 0.0, curvature = 0.0, longest = LONGEST;
    for (int i = 0; i < l->a.rows; i++) {
        double row = 0.0;
        if (l->d[i] == 0.0)
            continue;
        for (int32_t k = l->a.start[i]; k < l->a.start[i + 1]; k++)
            row += l->a.value[k] * l->d[l->a.column[k]];
        slope += l->g[i] * l->d[i];
        curvature += row * l->d[i];
        double gap = (l->d[i] < 0.0 ? l->lower[i] : l->upper[i]) - l->x[i];
        longest = fmin(longest, fmax(gap / l->d[i], 1.0));
    }
    count_product(amg, &l->a);
    if (!(slope < 0.0))
        return 0.0;
    return -slope < longest * curvature ? -slope / curvature : longest;
}

/* Adds the correction d to x by the rule of the parameter `correction`. */
static void apply_correction(TalusAmg *amg, TalusAmgLevel *l)
{
    int rule = amg->params->correction;
    limit_correction(l, rule == AMG_REJECT);
    double step = rule == AMG_SEARCH ? find_step_length(amg, l) : 1.0;
    for (int i = 0; i < l->a.rows; i++)
        l->x[i] = clamp(l->x[i] + step * l->d[i], l->lower[i], l->upper[i]);
}

/* ---- cycles ---- */

/* Solves the problem of the coarsest level by the dense method, or approximately by sweeps. */
static void solve_coarsest(TalusAmg *amg, int level)
{
    TalusAmgLevel *l = &amg->level[level];
    if (amg->dense)
        amg->cost += talus_amg_dense_minimise(l->a.rows, amg->dense, l->q, l->lower, l->upper, l->x,
                                              amg->factor, amg->dense_vector, amg->state) /
                     amg->finest_entries;
    else
        for (int k = 0; k < COARSEST_SWEEPS; k++)
            talus_amg_sweep(amg, level, k % 2 == 1);
}

/* Improves x of a level: sweeps, correction from the coarser levels by recursion, sweeps. The coarsest level, unless it
 * is level 0, is solved instead. */
static void run_cycle(TalusAmg *amg, int level)
{
    const TalusAmgParams *p = amg->params;
    TalusAmgLevel *l = &amg->level[level];
    if (level > 0 && level == amg->levels - 1) {
        solve_coarsest(amg, level);
        return;
    }
    for (int k = 0; k < p->pre; k++)
        talus_amg_sweep(amg, level, false);
    if (amg->levels > level + 1) {
        talus_amg_gradient(amg, level);
        restrict_problem(amg, l, l + 1);
        int visits = level + 2 < amg->levels ? 1 + p->cycle : 1;
        for (int k = 0; k < visits; k++)
            run_cycle(amg, level + 1);
        interpolate_correction(amg, l, l + 1);
        apply_correction(amg, l);
    }
    for (int k = 0; k < p->post; k++)
        talus_amg_sweep(amg, level, true);
}

void talus_amg_cycle(TalusAmg *amg)
{
    run_cycle(amg, 0);
}
