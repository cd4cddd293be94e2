/* problem/part.h - a rank's part of a problem: all contacts of the bodies that it owns (comm/halo.h).
 *
 * A part is a TalusProblem like any other. All solvers take it, make the same decisions on all ranks, and give each contact
 * the impulse, to the last bit, that they give it in the whole problem. Those that work through products alone or sweep by colours work on the
 * parts; for all others, and for metrics, rank 0 gathers the whole problem (gather.h). The residual is that of the whole
 * problem. Joints and explicit matrices cannot be dealt. */
#ifndef TALUS_PROBLEM_PART_H
#define TALUS_PROBLEM_PART_H

#include "comm/halo.h"

#include <talus/problem.h>

/* Makes the rank's part of a problem that all ranks have. Bodies are dealt in blocks of consecutive numbers, so that ranks
 * have about equally many contacts; where a body is does not matter. The contacts must be in the order of their first
 * bodies, those of a pair one after the other, as those of a world are. The impulses are those of the whole problem. */
TalusStatus talus_part_create(const TalusProblem *whole, TalusComm *comm, TalusPool *pool,
                              TalusProblem **out);

/* Writes, on rank 0, the impulses of all ranks to gamma, [size] of the whole problem. */
TalusStatus talus_part_collect(const TalusProblem *problem, double *gamma);

#endif
