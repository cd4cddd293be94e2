/* world/ids.h - numbers of bodies, in worlds and in files. */
#ifndef TALUS_WORLD_IDS_H
#define TALUS_WORLD_IDS_H

#include <talus/world.h>

/* Numbers stay below this, so that doubles have them exactly. No run gets there. */
#define TALUS_ID_LIMIT (UINT64_C(1) << 53)

/* The id of a body where it is named by its slot and how many bodies the slot has had by then: states up to version 5,
 * frames up to version 2. 0: no body. */
static inline uint64_t talus_id_of_slot(uint32_t slot, uint32_t generation)
{
    return generation == 0 ? 0 : ((uint64_t)(generation - 1) << 32 | slot) + 1;
}

/* ---- ids.c ---- */
struct TalusBodies;
/* The slot of a living body, or -1. */
int talus_slot_of(const TalusWorld *world, TalusBodyId id);
/* The same; fails where there is no such body. */
TalusStatus talus_slot_find(const TalusWorld *world, TalusBodyId id, int *slot);
/* Room for the ids of so many bodies more; talus_slot_number then gives a slot the next number. */
TalusStatus talus_ids_reserve(struct TalusBodies *bodies, int count);
void talus_slot_number(struct TalusBodies *bodies, int slot);
/* Drops numbers above counts.created, which were given in a step that failed. */
void talus_ids_undo(struct TalusBodies *bodies);
/* Of ids that were loaded; fails where two bodies have the same. */
TalusStatus talus_ids_admit(struct TalusBodies *bodies);

#endif
