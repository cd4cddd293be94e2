/* solvers/driver/best.h - snapshot of the best iterate, for methods whose residual is not monotone. */
#ifndef TALUS_SOLVERS_DRIVER_BEST_H
#define TALUS_SOLVERS_DRIVER_BEST_H

#include "solvers/driver/solver.h"

/* A vector with its capacity, so that both move together when vectors are swapped. */
typedef struct TalusVector {
    double *at;
    size_t capacity;
} TalusVector;

typedef struct TalusBest {
    TalusVector x;
    double least; /* residual measure of the best iterate */
    bool kept;    /* true if x is better than the current iterate */
} TalusBest;

/* to = from */
void talus_copy(TalusSolve *solve, const double *from, double *to);

TalusStatus talus_best_begin(TalusBest *best, TalusSolve *solve);
/* Snapshots x if its measure is at most that of every iterate before. */
void talus_best_offer(TalusBest *best, TalusSolve *solve, const double *x, double measure);
/* Overwrites x with the best iterate if that is better and the solve ended without convergence. */
void talus_best_take(const TalusBest *best, TalusSolve *solve, double *x);
void talus_best_clear(TalusBest *best, const TalusBackend *backend);

#endif
