/* io/run/snapshot.h - arrays of a snapshot; bodies of a world on several ranks, asked for by their numbers. */
#ifndef TALUS_IO_RUN_SNAPSHOT_H
#define TALUS_IO_RUN_SNAPSHOT_H

#include "world/state.h"

#include <talus/frames.h>

/* ---- arrays: snapshot_arrays.c; talus_snapshot_resize is in io/frames/frames.h ---- */

/* A body as it comes to another rank. */
typedef struct TalusSentBody {
    TalusVec3 position, velocity, spin;
    TalusQuat orientation;
    double mass, dissipated, radius, force;
    int32_t shape, material, tag, touching;
    int32_t fixed, held; /* held: not free; its force is summed there */
} TalusSentBody;

/* Returns the body in a slot, without force. */
TalusSentBody talus_snapshot_get_body(const TalusBodies *bodies, int slot);
/* Sets all of row i but its id. */
void talus_snapshot_store_body(TalusSnapshot *snapshot, int i, const TalusSentBody *body);
/* Allocates the arrays of contacts anew; those of bodies stay. */
TalusStatus talus_snapshot_resize_contacts(TalusSnapshot *snapshot, int count);
/* Returns the row of a body in a snapshot with ascending ids, -1 if it is not there. */
int talus_snapshot_find(const TalusSnapshot *snapshot, uint64_t number);

/* ---- bodies of all ranks: gathering.c; all ranks call these together ---- */

/* What every rank holds while bodies of all come to some of them. */
typedef struct TalusGathering TalusGathering;

/* Sums the forces. The world must outlive the gathering and not change meanwhile. */
TalusStatus talus_gathering_open(const TalusWorld *world, TalusGathering **out);
/* On each rank alone; NULL is allowed. */
void talus_gathering_close(TalusGathering *gathering);
/* Sets *number to the smallest of all bodies, from `least` on; 0: there is none. */
TalusStatus talus_gathering_find(const TalusGathering *gathering, uint64_t least, uint64_t *number);
/* True if any body of any rank is not fixed. */
bool talus_gathering_moves(const TalusGathering *gathering);
/* Returns the number of contacts of all ranks. */
int64_t talus_gathering_contacts(const TalusGathering *gathering);
/* Rank `root` gets the bodies with the numbers [first, end), by ascending ids, without contacts; the snapshots of others stay as
 * they are. */
TalusStatus talus_gathering_take(const TalusGathering *gathering, unsigned fields, uint64_t first,
                                 uint64_t end, int root, TalusSnapshot *snapshot);
/* Fills a snapshot with the bodies of this rank, without forces and contacts; a call of this rank alone. */
TalusStatus talus_gathering_take_own(const TalusGathering *gathering, TalusSnapshot *snapshot);

#endif
