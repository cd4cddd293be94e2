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
    talus_release(watch->now);
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

static TalusStatus reserve(TalusWatch *w, size_t n)
{
    TALUS_TRY(TALUS_RESERVE(w->old, w->old_room, n, 0, "snapshot"));
    TALUS_TRY(TALUS_RESERVE(w->now, w->now_room, n, 0, "snapshot"));
    TALUS_TRY(TALUS_RESERVE(w->delta, w->delta_room, n, 0, "snapshot"));
    return TALUS_RESERVE(w->product, w->product_room, n, 0, "snapshot");
}

bool talus_solve_watching(const TalusSolve *solve)
{
    return solve->info->iterations >= solve->watch->next;
}

bool talus_solve_infeasible(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                            double rms)
{
    TalusWatch *w = solve->watch;
    size_t n = (size_t)solve->op->rows * (size_t)solve->op->blocks;
    if (!talus_solve_watching(solve) || reserve(w, n) != TALUS_OK)
        return false;
    w->next = 2 * solve->info->iterations;
    memcpy(w->now, x, n * sizeof *x);
    if (metric)
        solve->backend->scale(solve->op, metric, false, w->now);
    double outside, size = scaled_size(solve, w->now, &outside);
    if (w->has_old && rms > 0.5 * w->old_rms && size > 2.0 * w->old_size) {
        for (size_t i = 0; i < n; i++)
            w->delta[i] = w->now[i] - w->old[i];
        if (certificate(solve)) {
            solve->info->outcome = TALUS_OUTCOME_INFEASIBLE;
            return true;
        }
    }
    memcpy(w->old, w->now, n * sizeof *x);
    w->old_rms = rms;
    w->old_size = size;
    w->has_old = true;
    return false;
}
