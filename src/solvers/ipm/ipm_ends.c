/* solvers/ipm/ipm_ends.c - beginning and end of interior-point solves (ipm_ends.h). */
#include "solvers/ipm/ipm_ends.h"

bool talus_ipm_must_iterate(TalusSolve *s, TalusBest *best)
{
    TalusResidualSums sums;
    s->backend->block.project(s->op, NULL, s->gamma);
    s->backend->op.residual(s->op, s->gamma, &sums, NULL);
    talus_best_offer(best, s, s->gamma, sums.residual2);
    return talus_solve_next(s, 1, s->gamma, NULL, sums.residual2, sums.residual_max);
}

void talus_ipm_end_with_best(TalusSolve *s, TalusBest *best, int products)
{
    TalusResidualSums sums;
    talus_vector_copy(s, best->x, s->gamma);
    best->better = false;
    s->backend->op.residual(s->op, s->gamma, &sums, NULL);
    best->least = sums.residual2;
    s->info->outcome = TALUS_OUTCOME_BUDGET;
    products++;
    while (talus_solve_next(s, products, s->gamma, NULL, sums.residual2, sums.residual_max) &&
           !s->plan.shift)
        products = 0;
}
