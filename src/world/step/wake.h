/* world/step/wake.h - sleeping bodies wake. */
#ifndef TALUS_WORLD_STEP_WAKE_H
#define TALUS_WORLD_STEP_WAKE_H

#include <talus/world.h>

/* Wakes a body alone. */
void talus_slot_wake_alone(TalusWorld *world, int slot);
/* Wakes a body's island; all of them. */
void talus_slot_wake(TalusWorld *world, int slot);
void talus_wake_all(TalusWorld *world);

#endif
