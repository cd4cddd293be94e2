/* solvers/driver/infeasibility.c - decides when and where to search for a proof that there is no solution.
 *
 * Let some velocity v_f + w satisfy all constraints, q + D'w in K*. Then every delta in K has
 *     0 <= q'delta + w'D delta,   hence   |w|_M >= -q'delta / sqrt(delta'N delta):
 * a delta with q'delta < 0 and D delta = 0 proves that there is no such w. A body wedged between fixed walls has one:
 * impulses grow without bound along it. First-order methods then move, in the limit, along exactly this direction. So
 * delta is the difference of two iterates, about at iterations 64, 128, 256, ..., if |gamma|^2 (weighted,
 * TalusSizes.size) has more than doubled and the residual has not halved. Suspicion arises if this bound of the
 * velocity change |w|_M is more than FAR times the size of q in the same norm, sqrt(sum q_i^2 / d_i) with d_i the scale
 * of block i. Suspicion is no proof: a heavy body on a light one needs a velocity change larger by the root of the mass
 * ratio. On suspicion a proof is searched for near delta (certificate.c). With compliance, N + E replaces N. Nothing is
 * checked while prisms have bounds, which limit delta sideways (outer.c). De Saxce's shifts only raise q: a proof with
 * them holds without them. */
#include "solvers/driver/infeasibility.h"

enum { FIRST_SNAPSHOT = 64 }; /* iteration of the first snapshot */

/* Ratio of the bound of |w|_M to the size of q above which delta is suspect. */
static const double FAR = 10.0;

void talus_infeasibility_reset(TalusInfeasibility *monitor)
{
    monitor->next = FIRST_SNAPSHOT;
    monitor->has_old = false;
    monitor->off = false;
}

/* True if delta is suspect: within K up to 1 % of its size, with a bound of the velocity change above FAR times the
 * size of q. */
static bool is_suspect(TalusSolve *solve)
{
    const TalusBackend *backend = solve->backend;
    TalusInfeasibility *w = solve->infeasibility;
    TalusSizes delta, q;
    backend->op.measure_sizes(solve->op, NULL, w->delta, &delta);
    if (!(delta.outside <= 1e-4 * delta.size))
        return false;
    backend->op.product(solve->op, w->delta, true, false, w->product);
    double energy = backend->vector.dot(solve->op, w->product, w->delta);
    backend->op.product(solve->op, NULL, false, true, w->product);
    double gain = -backend->vector.dot(solve->op, w->product, w->delta);
    backend->op.measure_sizes(solve->op, NULL, w->product, &q);
    return gain > 0.0 && gain * gain > FAR * FAR * energy * q.over;
}

/* out = s x, the iterate as impulses: snapshots must not depend on the metric, in which solvers that hand over to each
 * other may differ. */
static void scale_to_impulses(const TalusSolve *solve, const double *x,
                              const TalusMetricBlock *metric, double *out)
{
    size_t n = (size_t)solve->op->rows * (size_t)solve->op->blocks;
    solve->backend->vector.copy(solve->op, out, x, n);
    if (metric)
        solve->backend->op.scale(solve->op, metric, false, out);
}

/* True if the way from `old` (NULL: zero impulses) to s x leads to a proof; the outcome is then set. The vectors of
 * certificate.c are reserved only on suspicion. */
static bool prove_from(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                       const double *old)
{
    TalusInfeasibility *w = solve->infeasibility;
    if (TALUS_RESERVE_VECTORS(solve, &w->delta_memory, "certificate", &w->delta) != TALUS_OK ||
        TALUS_RESERVE_VECTORS(solve, &w->product_memory, "certificate", &w->product) != TALUS_OK)
        return false;
    scale_to_impulses(solve, x, metric, w->delta);
    if (old)
        solve->backend->vector.axpby(solve->op, -1.0, old, 1.0, w->delta);
    bool proof = is_suspect(solve) && talus_certificate_find(solve, &w->certificate, w->delta);
    if (proof)
        solve->info->outcome = TALUS_OUTCOME_INFEASIBLE;
    return proof;
}

bool talus_infeasibility_prove(TalusSolve *solve, const double *direction)
{
    return !solve->infeasibility->off && prove_from(solve, direction, NULL, NULL);
}

bool talus_infeasibility_is_due(const TalusSolve *solve)
{
    return !solve->infeasibility->off && solve->info->iterations >= solve->infeasibility->next;
}

bool talus_infeasibility_check(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                               double rms)
{
    TalusInfeasibility *w = solve->infeasibility;
    TalusSizes sizes;
    if (!talus_infeasibility_is_due(solve) ||
        TALUS_RESERVE_VECTORS(solve, &w->old_memory, "snapshot", &w->old) != TALUS_OK)
        return false;
    w->next = 2 * solve->info->iterations;
    solve->backend->op.measure_sizes(solve->op, metric, x, &sizes);
    bool grown = w->has_old && rms > 0.5 * w->old_rms && sizes.size > 2.0 * w->old_size;
    if (grown && prove_from(solve, x, metric, w->old))
        return true;
    if (solve->info->iterations >= solve->options->max_iterations)
        return false; /* no later check can use a snapshot */
    scale_to_impulses(solve, x, metric, w->old);
    w->old_rms = rms;
    w->old_size = sizes.size;
    w->has_old = true;
    return false;
}
