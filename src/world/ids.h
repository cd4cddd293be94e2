/* world/ids.h - id numbers of bodies, in worlds and in files. */
#ifndef TALUS_WORLD_IDS_H
#define TALUS_WORLD_IDS_H

#include <talus/world.h>

/* Upper bound of id numbers, so that doubles represent them exactly. No run reaches it. */
#define TALUS_ID_LIMIT (UINT64_C(1) << 53)

/* Returns the id number of a body that a file names by slot and generation (the number of bodies that the slot has
 * had): states up to version 5, frames up to version 2. 0, no body, for generation 0. */
static inline uint64_t talus_id_from_generation(uint32_t slot, uint32_t generation)
{
    return generation == 0 ? 0 : ((uint64_t)(generation - 1) << 32 | slot) + 1;
}

/* ---- ids.c ---- */
struct TalusBodies;
/* Returns the slot of the living body with this id; -1: there is none. */
int talus_slot_of(const TalusWorld *world, TalusBodyId id);
/* Sets *slot to the slot of the living body with this id, or fails if there is none. */
TalusStatus talus_slot_find(const TalusWorld *world, TalusBodyId id, int *slot);
/* Reserves memory for the ids of `count` more bodies, so that talus_slot_assign_id cannot fail. consecutive: the numbers
 * follow each other, since no other rank owns any of the bodies. */
TalusStatus talus_ids_reserve(struct TalusBodies *bodies, int count, bool consecutive);
/* Assigns the next id number to the body in `slot`. */
void talus_slot_assign_id(struct TalusBodies *bodies, int slot);
/* Orders the living bodies by ascending ids: slot[k] is the slot of the k-th, row[slot] its k; -1 for a dead slot. slot, row:
 * [slots]; slot may be NULL. */
TalusStatus talus_ids_order(const struct TalusBodies *bodies, int32_t *slot, int32_t *row);
/* After a failed step has reset counts.created: drops the entries of `displaced` with numbers above it. */
void talus_ids_rollback(struct TalusBodies *bodies);
/* After loading: builds `displaced` from the ids of living bodies; fails if two of them have the same id. */
TalusStatus talus_ids_index_loaded(struct TalusBodies *bodies);

#endif
