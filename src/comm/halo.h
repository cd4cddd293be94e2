/* comm/halo.h - the part of a problem that one rank has, and the bodies around it.
 *
 * A rank owns bodies, and has all contacts of them. The other bodies of these contacts are its halo. A contact between
 * bodies of two ranks is computed by both, from the same numbers, so that no impulse travels. A body's velocity is
 * computed by its owner, who adds the wrenches of all its contacts in their order, and sent to the ranks whose halo has
 * the body: one exchange for each product. In sums over contacts a contact is counted by the owner of its first body.
 *
 * Owners are given blocks of consecutive body numbers (backend/groups.h), so that a group of contacts is counted as a
 * whole by one rank: sums over contacts have the bits that they have on one rank. */
#ifndef TALUS_COMM_HALO_H
#define TALUS_COMM_HALO_H

#include "comm/comm.h"

typedef struct TalusHalo {
    TalusComm *comm;
    int64_t blocks;    /* number of blocks of the whole problem, without free joints */
    int64_t general;   /* number of general ones among them */
    bool frictionless; /* talus_problem_is_frictionless of the whole problem */
    int bodies;        /* number of entries of `owned` */
    uint8_t *owned;    /* [bodies]: 1 if this rank owns the body */
    /* Blocks of joints with bounds, which come behind the contacts. All ranks have all blocks of joints and compute them
     * from the same numbers; one rank counts them, that which has the last general contact of the whole problem. */
    int bounded_joints;
    bool counts_joints;
    /* What is sent and received, by neighbour: the bodies from start[k] to start[k + 1] - 1 of `body`. */
    int neighbours;
    TalusMessage *send, *receive;
    int32_t *send_start, *send_body, *receive_start, *receive_body;
    unsigned char *out, *in; /* records of all messages */
    /* What an exchange under way has been begun with; NULL: there is none. */
    void *records;
    size_t bytes;
} TalusHalo;

/* The bodies of a rank, those of its halo included. */
typedef struct TalusHaloBodies {
    int count;
    const uint64_t *number;
    const int32_t *owner;  /* rank of the owner */
    const uint32_t *order; /* the bodies by ascending number; NULL: they are in this order */
    bool
        everywhere; /* on all ranks alike: a rank may need bodies of any other, which need none of it */
} TalusHaloBodies;

/* Finds out which velocities each rank needs from which other; called by all ranks. If a rank has a body of another one,
 * that one must have a body of the first, as owners of the two bodies of a contact do, unless bodies->everywhere. `record`: the most bytes that will
 * be exchanged for a body. */
TalusStatus talus_halo_create(TalusComm *comm, const TalusHaloBodies *bodies, size_t record,
                              TalusHalo **out);
void talus_halo_destroy(TalusHalo *halo);

/* Replaces the records of the halo's bodies by those of their owners; record k is `bytes` k bytes after `records`. If the
 * communicator breaks, they become NaN. halo NULL: nothing happens. */
void talus_halo_exchange(TalusHalo *halo, void *records, size_t bytes);
/* The same in two halves. The first copies what is sent: between them the caller may change records of its own bodies, and
 * neither reads nor writes those of the halo. */
void talus_halo_begin_exchange(TalusHalo *halo, void *records, size_t bytes);
/* Nothing happens if no exchange is under way. */
void talus_halo_finish_exchange(TalusHalo *halo);
/* Lets messages get on (comm.h); true if all that comes is here, or nothing is under way. */
bool talus_halo_advance_exchange(TalusHalo *halo);
static inline bool talus_halo_is_under_way(const TalusHalo *halo)
{
    return halo && halo->records;
}
/* The same for records that the caller has written to halo->out, in the order of halo->send_body; those of the halo's bodies
 * come to halo->in, in the order of halo->receive_body. */
void talus_halo_exchange_messages(TalusHalo *halo, size_t bytes);
/* The same from and to memory of the caller's, in the order of halo->out and halo->in. */
void talus_halo_exchange_between(TalusHalo *halo, size_t bytes, unsigned char *out,
                                 unsigned char *in);

/* Cuts a list of items into `parts` ranges of about equal weight: range p has the items first[p] to first[p + 1] - 1. Every
 * item counts as `each` in addition to its weight. */
void talus_cut_by_weight(int64_t items, const int64_t *weight, int64_t each, int parts,
                         int64_t *first);

#endif
