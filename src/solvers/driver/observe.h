/* solvers/driver/observe.h - iterates for an observer (talus/solver.h). */
#ifndef TALUS_SOLVERS_DRIVER_OBSERVE_H
#define TALUS_SOLVERS_DRIVER_OBSERVE_H

#include "solvers/driver/solver.h"

typedef struct TalusObserved {
    int next;       /* iteration to report next */
    int last;       /* iteration reported last, -1: none */
    double *gamma;  /* an iterate out of its metric, in the backend's memory */
    double *host;   /* a copy for the observer, where that is not the host's */
    double *shifts; /* those of Coulomb's blocks, on the host, meanwhile */
    size_t capacity;
} TalusObserved;

/* Begins a stage; the first one reports the starting point. */
TalusStatus talus_observe_begin(TalusSolve *solve);
bool talus_observe_due(const TalusSolve *solve);
/* False when the observer asks to stop. */
bool talus_observe_iterate(TalusSolve *solve, const double *x, const TalusMetricBlock *metric);
/* The result is to be another iterate than the last one, which may have been reported. */
void talus_observe_replaced(TalusSolve *solve);
/* Reports the result of a stage, unless the last iterate reported was it. */
void talus_observe_result(TalusSolve *solve);
/* Reports the problem's own impulses, between two stages. False when the observer asks to stop. */
bool talus_observe_between(TalusSolve *solve);
void talus_observe_clear(TalusObserved *observed, const TalusBackend *backend);

#endif
