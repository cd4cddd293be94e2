/* solvers/driver/infeasibility.h - monitor that detects problems without a solution. */
#ifndef TALUS_SOLVERS_DRIVER_INFEASIBILITY_H
#define TALUS_SOLVERS_DRIVER_INFEASIBILITY_H

#include "solvers/driver/certificate.h"

/* State of the monitor. A snapshot is taken at the first iterate reported at or after iteration 64, then each time the
 * count has doubled; talus_solve_suspect and chunk.c change `next`. */
typedef struct TalusInfeasibility {
    bool off; /* disables checks, as for prisms: a direction within bounds proves nothing */
    int next; /* iteration of the next snapshot */
    bool has_old;
    double old_rms, old_size; /* of the last snapshot: rms residual; TalusSizes.size */
    double *old;              /* iterate of the last snapshot, as impulses */
    double *delta, *product;  /* difference of two iterates, as impulses; (N + E) delta or q */
    TalusVectors old_memory, delta_memory, product_memory;
    TalusCertificateWork certificate;
} TalusInfeasibility;

/* True if a check is due. */
bool talus_infeasibility_due(const TalusSolve *solve);
/* Runs the check if it is due, on the iterate gamma = s x with residual rms. Returns true, and sets the outcome, if it
 * proves that there is no solution. */
bool talus_infeasibility_check(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                               double rms);
void talus_infeasibility_reset(TalusInfeasibility *monitor);

#endif
