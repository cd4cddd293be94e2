/* solvers/watch.h - noticing that a problem has no solution. */
#ifndef TALUS_SOLVERS_WATCH_H
#define TALUS_SOLVERS_WATCH_H

#include "solvers/certificate.h"

/* Snapshots at iterations 64, 128, 256, ...: see watch.c. */
typedef struct TalusWatch {
    bool off; /* nothing is tried: a direction within bounds proves nothing */
    int next; /* iteration of the next snapshot */
    bool has_old;
    double old_rms, old_size;
    double *old; /* the iterate then, in the solver's metric */
    double *delta, *product;
    size_t old_room, delta_room, product_room;
    TalusCertificateWork certificate;
} TalusWatch;

/* Whether the next look would look, and the look: true when the iterate proves that there is none. */
bool talus_watch_due(const TalusSolve *solve);
bool talus_watch_look(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                      double rms);
void talus_watch_reset(TalusWatch *watch);
void talus_watch_clear(TalusWatch *watch, const TalusBackend *backend);

#endif
