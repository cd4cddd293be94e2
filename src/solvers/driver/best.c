/* solvers/driver/best.c - copies of iterates (best.h). */
#include "solvers/driver/best.h"

#include "solvers/driver/observe.h"

#include <math.h>

void talus_copy(TalusSolve *solve, const double *from, double *to)
{
    const double one = 1.0;
    solve->backend->vector.combine(solve->op, 1, &from, &one, to);
}

TalusStatus talus_best_begin(TalusBest *best, TalusSolve *solve)
{
    size_t n = (size_t)solve->op->rows * (size_t)solve->op->blocks;
    best->least = INFINITY;
    best->kept = false;
    return solve->backend->vector.reserve(solve->op, &best->x.at, &best->x.capacity, n,
                                          "best impulses");
}

void talus_best_offer(TalusBest *best, TalusSolve *solve, const double *x, double measure)
{
    best->kept = !(measure <= best->least);
    if (best->kept)
        return;
    best->least = measure;
    talus_copy(solve, x, best->x.at);
}

void talus_best_take(const TalusBest *best, TalusSolve *solve, double *x)
{
    TalusOutcome outcome = solve->info->outcome;
    bool ended = outcome == TALUS_OUTCOME_BUDGET || outcome == TALUS_OUTCOME_INFEASIBLE;
    if (!best->kept || !ended || !isfinite(best->least))
        return;
    talus_copy(solve, best->x.at, x);
    talus_observe_replaced(solve);
}

void talus_best_clear(TalusBest *best, const TalusBackend *backend)
{
    backend->vector.release(best->x.at);
}
