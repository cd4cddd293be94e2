/* solvers/driver/best.h - snapshot of the best iterate, for methods whose residual is not monotone. */
#ifndef TALUS_SOLVERS_DRIVER_BEST_H
#define TALUS_SOLVERS_DRIVER_BEST_H

#include "solvers/driver/solver.h"

typedef struct TalusBest {
    TalusVectors memory;
    double *x;    /* the best iterate */
    double least; /* measure of x, as offered by the caller */
    bool better;  /* true if x is better than the iterate offered last */
} TalusBest;

/* Reserves memory and discards the best iterate of the last solve. */
TalusStatus talus_best_begin(TalusBest *best, TalusSolve *solve);
/* Copies x as the best iterate if its measure is at most that of every iterate offered before. */
void talus_best_offer(TalusBest *best, TalusSolve *solve, const double *x, double measure);
/* Overwrites x with the best iterate if the best is better than the iterate offered last and the outcome is budget or
 * infeasible; the observer is then told that the result is not the last iterate. */
void talus_best_restore(const TalusBest *best, TalusSolve *solve, double *x);

#endif
