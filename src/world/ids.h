/* world/ids.h - which slot a body has. */
#ifndef TALUS_WORLD_IDS_H
#define TALUS_WORLD_IDS_H

#include "base/status.h"

#include <talus/world.h>

/* The slot of a living body, or -1. */
int talus_slot_of(const TalusWorld *world, TalusBodyId id);
TalusStatus talus_no_such_body(TalusBodyId id);

#endif
