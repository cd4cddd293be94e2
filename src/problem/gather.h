/* problem/gather.h - the whole problem of all ranks on rank 0, for what cannot be done on parts (part.h): solvers that need
 * matrices or that visit contacts one after the other, and metrics. */
#ifndef TALUS_PROBLEM_GATHER_H
#define TALUS_PROBLEM_GATHER_H

#include "comm/comm.h"

#include <talus/problem.h>

/* Blocks of a rank: indices in the whole problem, in the order of the rank's part. */
typedef struct TalusGathered {
    int32_t *index;
    int64_t count;
} TalusGathered;

typedef struct TalusGather {
    TalusComm *comm;
    TalusProblem *whole; /* on rank 0; NULL elsewhere */
    TalusGathered *of;   /* [ranks], on rank 0 */
    int rows;
} TalusGather;

/* Makes the whole problem on rank 0, with these impulses of this rank's contacts; called by all ranks. Those of each body are
 * in the order of the problem of which the ranks have parts; so are all contacts if that is by body numbers. Bodies are
 * in the order of their numbers. Offsets are those without De Saxce's shifts. */
TalusStatus talus_gather_create(const TalusProblem *part, const double *gamma, TalusGather **out);
/* Writes to out, [size] of the part, this rank's entries of `all`, [size] of the whole, on rank 0. Called by all ranks. */
TalusStatus talus_gather_deal(const TalusGather *gather, const double *all, double *out);
void talus_gather_destroy(TalusGather *gather);

#endif
