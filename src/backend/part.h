/* backend/part.h - counts and sums of an operator that may be a rank's part of a problem (comm/halo.h). */
#ifndef TALUS_BACKEND_PART_H
#define TALUS_BACKEND_PART_H

#include "backend/operator.h"
#include "comm/halo.h"

/* Returns the number of blocks of the whole problem, over which root mean squares are taken. */
static inline double talus_all_blocks(const TalusOperator *op)
{
    return op->halo ? (double)(op->halo->blocks + op->joints) : (double)op->blocks;
}

/* True if the whole problem has general contacts. */
static inline bool talus_has_general(const TalusOperator *op)
{
    return op->halo ? op->halo->general + op->joints > 0 : op->general > 0;
}

/* Returns the index of the first block of a joint. */
static inline int talus_first_joint(const TalusOperator *op)
{
    return op->blocks - op->joints - (op->halo ? op->halo->bounded_joints : 0);
}

/* Returns the communicator of the ranks that have the problem; NULL: it is whole. */
static inline TalusComm *talus_operator_comm(const TalusOperator *op)
{
    return op->halo ? op->halo->comm : NULL;
}

#endif
