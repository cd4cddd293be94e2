/* world/ids.h - numbers of bodies, in worlds and in files. */
#ifndef TALUS_WORLD_IDS_H
#define TALUS_WORLD_IDS_H

#include <stdint.h>

/* Numbers stay below this, so that doubles have them exactly. No run gets there. */
#define TALUS_ID_LIMIT (UINT64_C(1) << 53)

/* The id of a body where it is named by its slot and how many bodies the slot has had by then: states up to version 5,
 * frames up to version 2. 0: no body. */
static inline uint64_t talus_id_of_slot(uint32_t slot, uint32_t generation)
{
    return generation == 0 ? 0 : ((uint64_t)(generation - 1) << 32 | slot) + 1;
}

#endif
