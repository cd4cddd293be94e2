/* solvers/driver/infeasibility.h - the monitor that notices that a problem has no solution. */
#ifndef TALUS_SOLVERS_DRIVER_INFEASIBILITY_H
#define TALUS_SOLVERS_DRIVER_INFEASIBILITY_H

#include "solvers/driver/certificate.h"

/* Snapshots at iterations 64, 128, 256, ...: see infeasibility.c. */
typedef struct TalusInfeasibility {
    bool off; /* nothing is tried: a direction within bounds proves nothing */
    int next; /* iteration of the next snapshot */
    bool has_old;
    double old_rms, old_size;
    double *old; /* the iterate then, in the solver's metric */
    double *delta, *product;
    size_t old_capacity, delta_capacity, product_capacity;
    TalusCertificateWork certificate;
} TalusInfeasibility;

/* Whether a check is due. */
bool talus_infeasibility_due(const TalusSolve *solve);
/* The check, where one is due: true when the iterate proves that there is no solution. */
bool talus_infeasibility_check(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                               double rms);
void talus_infeasibility_reset(TalusInfeasibility *monitor);
void talus_infeasibility_clear(TalusInfeasibility *monitor, const TalusBackend *backend);

#endif
