/* solvers/driver/best.c - keeps the best iterate of a solve (best.h). */
#include "solvers/driver/best.h"

#include "solvers/driver/observe.h"

#include <math.h>

TalusStatus talus_best_begin(TalusBest *best, TalusSolve *solve)
{
    best->least = INFINITY;
    best->better = false;
    return talus_vectors_reserve(solve, &best->memory, 1, &best->x, "best impulses");
}

void talus_best_offer(TalusBest *best, TalusSolve *solve, const double *x, double measure)
{
    best->better = !(measure <= best->least);
    if (best->better)
        return;
    best->least = measure;
    talus_vector_copy(solve, x, best->x);
}

void talus_best_restore(const TalusBest *best, TalusSolve *solve, double *x)
{
    TalusOutcome outcome = solve->info->outcome;
    bool ended = outcome == TALUS_OUTCOME_BUDGET || outcome == TALUS_OUTCOME_INFEASIBLE;
    if (!best->better || !ended || !isfinite(best->least))
        return;
    talus_vector_copy(solve, best->x, x);
    talus_observe_mark_replaced(solve);
}
