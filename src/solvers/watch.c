/* solvers/watch.c - an infeasibility certificate from differences of iterates.
 *
 * Let some velocity v_f + w satisfy all constraints, q + D'w in K*. Then every delta in K has
 *     0 <= q'delta + w'D delta,   hence   |w|_M >= -q'delta / sqrt(delta'N delta):
 * a delta with q'delta < 0 and D delta = 0 proves that there is no such w. A body wedged between
 * fixed walls has one: impulses grow without bound along it. First order methods then move, in the
 * limit, along exactly this direction, so the difference of two iterates is tried as delta at
 * iterations 64, 128, 256, ... It counts as proof when the velocity change it asks for is FAR times
 * that of q itself, sqrt(sum q_i^2 / d_i) in the same norm (d: the blocks' diagonal). A heavy body on
 * light ones asks for about the root of the mass ratio. With compliance N + E stands for N.
 * Tried only while gamma doubles and the residual does not fall. */
#include "solvers/watch.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>
#include <string.h>

enum { FIRST_SNAPSHOT = 64 };

static const double FAR = 1e3;

void talus_watch_reset(TalusWatch *watch)
{
    watch->next = FIRST_SNAPSHOT;
    watch->has_old = false;
}

void talus_watch_clear(TalusWatch *watch)
{
    talus_release(watch->old);
    talus_release(watch->delta);
    talus_release(watch->product);
}

/* Sum over blocks of d^2 |x|^2, and of d^2 |x - P x|^2 in *outside. */
static double scaled_size(const TalusSolve *solve, const double *x, double *outside)
{
    const int rows = solve->op->rows;
    TalusSetKind kind = rows == 1 ? TALUS_SET_NONNEG : TALUS_SET_CONE;
    double size = 0.0;
    *outside = 0.0;
    for (int i = 0; i < solve->op->blocks; i++) {
        double d = talus_block_scale(solve->op, i), block[3];
        memcpy(block, x + i * rows, (size_t)rows * sizeof *block);
        talus_set_project(kind, rows == 3 ? solve->op->mu[i] : 0.0, block);
        for (int k = 0; k < rows; k++) {
            double value = d * x[i * rows + k], off = d * (x[i * rows + k] - block[k]);
            size += value * value;
            *outside += off * off;
        }
    }
    return size;
}

/* Sum over blocks of |q|^2 / d. */
static double offset_size(const TalusSolve *solve, const double *q)
{
    const int rows = solve->op->rows;
    double sum = 0.0;
    for (int i = 0; i < solve->op->blocks; i++)
        for (int k = 0; k < rows; k++)
            sum += q[i * rows + k] * q[i * rows + k] / talus_block_scale(solve->op, i);
    return sum;
}

static bool certificate(TalusSolve *solve)
{
    TalusWatch *w = solve->watch;
    double outside, size = scaled_size(solve, w->delta, &outside);
    if (!(outside <= 1e-4 * size))
        return false;
    solve->backend->product(solve->op, w->delta, true, false, w->product);
    double energy = solve->backend->dot(solve->op, w->product, w->delta);
    talus_problem_offset(solve->problem, w->product);
    double gain = -solve->backend->dot(solve->op, w->product, w->delta);
    double least = FAR * FAR * energy * offset_size(solve, w->product);
    return gain > 0.0 && gain * gain > least;
}

/* Sum over blocks of d^2 |gamma|^2, gamma = s x. */
static double iterate_size(const TalusSolve *solve, const double *x, const TalusMetricBlock *metric)
{
    const int rows = solve->op->rows;
    double size = 0.0;
    for (int i = 0; i < solve->op->blocks; i++)
        for (int k = 0; k < rows; k++) {
            double s = metric ? metric[i][k > 0] : 1.0;
            double value = talus_block_scale(solve->op, i) * s * x[i * rows + k];
            size += value * value;
        }
    return size;
}

/* Whether the move from the snapshot to x proves that there is no solution. Memory for the proof is
 * taken only when there is a suspicion. */
static bool proves_infeasible(TalusSolve *solve, const double *x, const TalusMetricBlock *metric)
{
    TalusWatch *w = solve->watch;
    size_t n = (size_t)solve->op->rows * (size_t)solve->op->blocks;
    if (TALUS_RESERVE(w->delta, w->delta_room, n, 0, "certificate") != TALUS_OK ||
        TALUS_RESERVE(w->product, w->product_room, n, 0, "certificate") != TALUS_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        w->delta[i] = x[i] - w->old[i];
    if (metric)
        solve->backend->scale(solve->op, metric, false, w->delta);
    return certificate(solve);
}

bool talus_watch_due(const TalusSolve *solve)
{
    return solve->info->iterations >= solve->watch->next;
}

bool talus_watch_look(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                      double rms)
{
    TalusWatch *w = solve->watch;
    size_t n = (size_t)solve->op->rows * (size_t)solve->op->blocks;
    if (!talus_watch_due(solve) || TALUS_RESERVE(w->old, w->old_room, n, 0, "snapshot") != TALUS_OK)
        return false;
    w->next = 2 * solve->info->iterations;
    double size = iterate_size(solve, x, metric);
    bool suspicious = w->has_old && rms > 0.5 * w->old_rms && size > 2.0 * w->old_size;
    if (suspicious && proves_infeasible(solve, x, metric)) {
        solve->info->outcome = TALUS_OUTCOME_INFEASIBLE;
        return true;
    }
    memcpy(w->old, x, n * sizeof *x);
    w->old_rms = rms;
    w->old_size = size;
    w->has_old = true;
    return false;
}
