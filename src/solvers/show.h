/* solvers/show.h - iterates for an observer (talus/solver.h). */
#ifndef TALUS_SOLVERS_SHOW_H
#define TALUS_SOLVERS_SHOW_H

#include "solvers/solver.h"

typedef struct TalusShow {
    int next;       /* iteration to show next */
    int last;       /* iteration shown last, -1: none */
    double *gamma;  /* an iterate out of its metric, in the backend's memory */
    double *host;   /* a copy for the observer, where that is not the host's */
    double *shifts; /* those of Coulomb's blocks, on the host, meanwhile */
    size_t room, host_room, shift_room;
} TalusShow;

/* Shows the starting point. */
TalusStatus talus_show_begin(TalusSolve *solve);
bool talus_show_due(const TalusSolve *solve);
/* False when the observer asks to stop. */
bool talus_show_iterate(TalusSolve *solve, const double *x, const TalusMetricBlock *metric);
/* The result is to be another iterate than the last one, which may have been shown. */
void talus_show_other(TalusSolve *solve);
/* Shows the result, unless the last iterate shown was it. */
void talus_show_end(TalusSolve *solve);
void talus_show_clear(TalusShow *show, const TalusBackend *backend);

#endif
