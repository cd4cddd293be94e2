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

/* Returns the number of general contacts of the whole problem. */
static inline double talus_all_general(const TalusOperator *op)
{
    return op->halo ? (double)(op->halo->general + op->joints) : (double)op->general;
}

/* True if the whole problem has general contacts. */
static inline bool talus_has_general(const TalusOperator *op)
{
    return talus_all_general(op) > 0.0;
}

/* Returns the index of the first block of a joint. */
static inline int talus_first_joint(const TalusOperator *op)
{
    return op->blocks - op->joints - (op->halo ? op->halo->bounded_joints : 0);
}

/* True if another rank has contact i, too: it has the other of the contact's bodies. */
static inline bool talus_contact_is_shared(const TalusOperator *op, int i)
{
    const int32_t *pair = op->pair[i];
    return op->halo && pair[1] >= 0 && op->halo->owned[pair[0]] != op->halo->owned[pair[1]];
}

/* True if this rank counts contact i in sums over contacts: it owns the first body. */
static inline bool talus_contact_counts(const TalusOperator *op, int i)
{
    return !op->halo || op->halo->owned[op->pair[i][0]];
}

/* Returns the communicator of the ranks that have the problem; NULL: it is whole. */
static inline TalusComm *talus_operator_comm(const TalusOperator *op)
{
    return op->halo ? op->halo->comm : NULL;
}

#endif
