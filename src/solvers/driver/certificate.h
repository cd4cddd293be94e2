/* solvers/driver/certificate.h - the proof that a contact problem has no solution.
 *
 * Let g = (N + E) gamma + q be the gradient at a solution gamma, and delta a direction in the recession cone of the
 * sets with (N + E) delta = 0. Under ccp, g is in the dual cone, so 0 <= g'delta = q'delta. Under `fixed` and `coulomb`
 * only g_n >= 0 is known, which gives the same inequality for a delta without friction; such deltas are their recession
 * cone here (sets/recession.h). A free row of a joint has g = 0. A delta with q'delta < 0 therefore proves that there
 * is no solution. Example: a body wedged between fixed walls, where impulses grow along delta without bound.
 *
 * Two numbers judge delta, with d_i the scale of block i and sums over blocks:
 *     balance = |(N + E) delta| / sqrt(sum d_i^2 |delta_i|^2)    velocity that does not cancel, relative
 *     gain    = -q'delta / (|q| |delta|)                         q of the blocks in which delta is not 0
 * delta counts as a proof if balance is rounding, gain is above rounding, and gain is at least BOUND times balance:
 * impulses that solve the problem would then be at least about BOUND times as large as its data suggest. In addition
 * -q'delta / |delta| must exceed the rounding of q, which is relative to the terms of q (backend/terms.h). */
#ifndef TALUS_SOLVERS_DRIVER_CERTIFICATE_H
#define TALUS_SOLVERS_DRIVER_CERTIFICATE_H

#include "solvers/driver/solver.h"

/* Work memory of a search; starts as zeros, and its memory is reused. */
typedef struct TalusCertificateWork {
    TalusVectors vectors, metric;
} TalusCertificateWork;

/* Searches near delta for a certificate: a direction in the null space of N + E and in the recession cone, to rounding,
 * with q'delta < 0. delta is in the backend's memory and is overwritten. Returns true if there is one and stores it
 * with the problem (talus_problem_certificate). Under Coulomb's law, if only the relaxation has a certificate, returns
 * false and sets info->jammed. Also false without memory for the search. */
bool talus_certificate_find(TalusSolve *solve, TalusCertificateWork *work, double *delta);

#endif
