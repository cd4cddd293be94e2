/* solvers/driver/infeasibility.h - monitor that detects problems without a solution. */
#ifndef TALUS_SOLVERS_DRIVER_INFEASIBILITY_H
#define TALUS_SOLVERS_DRIVER_INFEASIBILITY_H

#include "solvers/driver/certificate.h"

/* State of the monitor. A snapshot is taken at the first iterate reported at or after iteration 64, then each time the
 * count has doubled; talus_solve_request_infeasibility_check and chunk.c change `next`. */
typedef struct TalusInfeasibility {
    bool off;     /* no checks, as for prisms: a direction within bounds proves nothing */
    int next;     /* iteration of the next snapshot */
    bool has_old; /* a snapshot has been taken */
    double old_rms, old_size; /* of the last snapshot: rms residual; TalusSizes.size */
    double *old;              /* iterate of the last snapshot, as impulses */
    double *delta, *product;  /* difference of two iterates, as impulses; (N + E) delta or q */
    TalusVectors old_memory, delta_memory, product_memory;
    TalusCertificateWork certificate;
} TalusInfeasibility;

/* True if the monitor is on and the iteration of the next snapshot is reached. */
bool talus_infeasibility_is_due(const TalusSolve *solve);
/* If a check is due: searches for a proof from the difference of the iterate gamma = s x, of residual rms, to the last
 * snapshot, and takes a new snapshot. Returns true, with the outcome set, if it is proven that there is no solution. */
bool talus_infeasibility_check(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                               double rms);
/* Searches for a proof near `direction`, unless the monitor is off. Returns true, with the outcome set, if there is
 * one. */
bool talus_infeasibility_prove(TalusSolve *solve, const double *direction);
/* Switches the monitor on and discards its snapshot, for a new stage. */
void talus_infeasibility_reset(TalusInfeasibility *monitor);

#endif
