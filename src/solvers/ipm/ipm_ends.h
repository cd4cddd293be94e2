/* solvers/ipm/ipm_ends.h - how interior-point solves begin and end: given impulses that are good enough, and methods
 * that no longer progress. */
#ifndef TALUS_SOLVERS_IPM_IPM_ENDS_H
#define TALUS_SOLVERS_IPM_IPM_ENDS_H

#include "solvers/driver/best.h"

/* Projects the given impulses onto K, measures and reports them, and offers them as best iterate. True if they are not
 * good enough and the solve may go on. */
bool talus_ipm_must_iterate(TalusSolve *s, TalusBest *best);
/* Ends a solve that no longer progresses: gamma becomes the best iterate, the outcome budget (or what the driver
 * finds). Counts and reports iterations without work until the budget is used, since that outcome means a used budget;
 * only one if an outer loop can use the rest for other shifts. products: those not counted yet. */
void talus_ipm_end_with_best(TalusSolve *s, TalusBest *best, int products);

#endif
