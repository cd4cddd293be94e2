/* solvers/driver/best.h - the best iterate so far, for methods whose residual is not monotone. */
#ifndef TALUS_SOLVERS_DRIVER_BEST_H
#define TALUS_SOLVERS_DRIVER_BEST_H

#include "solvers/driver/solver.h"

/* A vector and its capacity, which go together when vectors change places. */
typedef struct TalusVector {
    double *at;
    size_t capacity;
} TalusVector;

typedef struct TalusBest {
    TalusVector x;
    double least; /* measure of the best iterate */
    bool kept;    /* x is that iterate: the present one is worse */
} TalusBest;

/* to = from */
void talus_copy(TalusSolve *solve, const double *from, double *to);

TalusStatus talus_best_begin(TalusBest *best, TalusSolve *solve);
/* The present iterate with its measure: kept if none before was better. */
void talus_best_offer(TalusBest *best, TalusSolve *solve, const double *x, double measure);
/* At the end of a solve, the iterate to return: the present one when it has converged, else the best. */
void talus_best_take(const TalusBest *best, TalusSolve *solve, double *x);
void talus_best_clear(TalusBest *best, const TalusBackend *backend);

#endif
