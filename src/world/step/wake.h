/* world/step/wake.h - waking of sleeping bodies. */
#ifndef TALUS_WORLD_STEP_WAKE_H
#define TALUS_WORLD_STEP_WAKE_H

#include <talus/world.h>

#include <stdbool.h>

/* Wakes a sleeping body without its island and lists it in TalusSleep.woken. The body must be asleep. */
void talus_slot_wake_alone(TalusWorld *world, int slot);
/* Restarts the body's count of calm steps; wakes its island if it sleeps. On several ranks all call this together; slot
 * -1: another rank owns the body. */
void talus_slot_wake(TalusWorld *world, int slot);
/* True if some body sleeps; on several ranks all call this together. */
bool talus_any_asleep(const TalusWorld *world);
/* Wakes all bodies. */
void talus_wake_all(TalusWorld *world);

#endif
