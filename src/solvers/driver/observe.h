/* solvers/driver/observe.h - reports iterates to an observer (talus/solver.h). */
#ifndef TALUS_SOLVERS_DRIVER_OBSERVE_H
#define TALUS_SOLVERS_DRIVER_OBSERVE_H

#include "solvers/driver/solver.h"

typedef struct TalusObserved {
    int next; /* iteration to report next */
    int last; /* iteration reported last; -1: none */
    TalusVectors memory;
    double *gamma;  /* iterate as impulses (metric removed), in the backend's memory */
    double *host;   /* host copy for the observer, if the backend has its own memory */
    double *shifts; /* [blocks]: normal offsets with De Saxce's shifts, while the observer runs */
} TalusObserved;

/* Reserves memory for the reports of a stage. A stage that begins before any iteration also reports the starting point;
 * solve->stopped is set if the observer then asks to stop. */
TalusStatus talus_observe_begin(TalusSolve *solve);
/* True if the current iteration is to be reported. */
bool talus_observe_is_due(const TalusSolve *solve);
/* Reports the iterate gamma = s x (metric NULL: x is gamma). Returns false if the observer asks to stop. */
bool talus_observe_iterate(TalusSolve *solve, const double *x, const TalusMetricBlock *metric);
/* Makes talus_observe_result report the result, which is no longer the iterate reported last. */
void talus_observe_mark_replaced(TalusSolve *solve);
/* Reports the result of a stage, unless it was reported as the last iterate. Sets solve->stopped if the observer asks
 * to stop. */
void talus_observe_result(TalusSolve *solve);
/* Reports the problem's impulses between two stages. Returns false if the observer asks to stop. */
bool talus_observe_between_stages(TalusSolve *solve);
/* Releases the host copies; `memory` is released with the vectors of the solver. */
void talus_observe_clear(TalusObserved *observed);

#endif
