/* solvers/driver/certificate.h - the proof that a contact problem has no solution.
 *
 * Let u = N gamma + q be the velocities of a solution and delta a direction in the recession cone of the sets
 * with (N + E) delta = 0. Under ccp u is in the dual cone, so 0 <= u'delta = q'delta. Under `fixed` and
 * `coulomb` u_n >= 0 is all that is known, which says the same of a delta without friction; that is their
 * recession cone here (sets/recession.h). A free row of a joint has u = 0. A delta with q'delta < 0 is therefore
 * a proof that there is no solution: a body wedged between fixed walls has one, and impulses grow along it
 * without end.
 *
 * In numbers, with d_i the block's scale and sums over blocks:
 *     balance = |(N + E) delta| / sqrt(sum d_i^2 |delta_i|^2)     what is left of the velocities that the parts of
 *                                                                delta give
 *     gain    = -q'delta / (|q| |delta|)                         q of the blocks in which delta is not 0
 * It is taken for a proof where balance is rounding and gain is more than BOUND times as large: then impulses
 * that solve the problem would be at least about BOUND times as large as those that its data suggest. And
 * -q'delta / |delta| must be above what rounding may hide of q, which is relative to its terms (backend/terms.h). */
#ifndef TALUS_SOLVERS_DRIVER_CERTIFICATE_H
#define TALUS_SOLVERS_DRIVER_CERTIFICATE_H

#include "solvers/driver/solver.h"

/* What a search needs; starts as zeros, keeps its memory. */
typedef struct TalusCertificateWork {
    double *memory;
    TalusMetricBlock *metric;
    size_t capacity, metric_capacity;
} TalusCertificateWork;

/* Searches for a certificate near delta, impulses in the backend's memory, which are overwritten: the part of delta
 * that is in the null space of N + E and in the recession cone, to rounding. True where there is one; it is
 * then stored with the problem (talus_problem_certificate). Under Coulomb's law info->jammed is set where there is
 * one of the relaxation alone. */
bool talus_certificate_find(TalusSolve *solve, TalusCertificateWork *work, double *delta);
void talus_certificate_clear(TalusCertificateWork *work, const TalusBackend *backend);

#endif
