/* solvers/driver/best.h - snapshot of the best iterate, for methods whose residual is not monotone. */
#ifndef TALUS_SOLVERS_DRIVER_BEST_H
#define TALUS_SOLVERS_DRIVER_BEST_H

#include "solvers/driver/solver.h"

typedef struct TalusBest {
    TalusVectors memory;
    double *x;    /* the best iterate */
    double least; /* its residual, in the measure that the caller offers */
    bool kept;    /* true if x is better than the iterate offered last */
} TalusBest;

/* Reserves memory and forgets the last solve's iterate. */
TalusStatus talus_best_begin(TalusBest *best, TalusSolve *solve);
/* Snapshots x if its measure is at most that of every iterate before. */
void talus_best_offer(TalusBest *best, TalusSolve *solve, const double *x, double measure);
/* Overwrites x with the best iterate if that is better than the last one offered and the outcome is budget or
 * infeasible. */
void talus_best_take(const TalusBest *best, TalusSolve *solve, double *x);

#endif
