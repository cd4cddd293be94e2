/* solvers/driver/infeasibility.h - monitor that detects problems without a solution. */
#ifndef TALUS_SOLVERS_DRIVER_INFEASIBILITY_H
#define TALUS_SOLVERS_DRIVER_INFEASIBILITY_H

#include "solvers/driver/certificate.h"

/* State of the monitor. Snapshots are taken at iterations 64, 128, 256, ... (infeasibility.c). */
typedef struct TalusInfeasibility {
    bool off; /* disables checks, as for prisms: a direction within bounds proves nothing */
    int next; /* iteration of the next snapshot */
    bool has_old;
    double old_rms, old_size; /* of the last snapshot: residual, size of gamma */
    double *old;              /* iterate of the last snapshot, in the solver's metric */
    double *delta, *product;  /* difference of two iterates, as impulses; N delta or q */
    TalusVectors old_memory, delta_memory, product_memory;
    TalusCertificateWork certificate;
} TalusInfeasibility;

/* True if a check is due. */
bool talus_infeasibility_due(const TalusSolve *solve);
/* Runs the check if it is due. Returns true if the iterate proves that there is no solution. */
bool talus_infeasibility_check(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                               double rms);
void talus_infeasibility_reset(TalusInfeasibility *monitor);

#endif
