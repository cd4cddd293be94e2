/* world/force.h - applied forces. */
#ifndef TALUS_WORLD_FORCE_H
#define TALUS_WORLD_FORCE_H

#include <talus/world.h>

/* Applied forces (force.c) of the first `count` slots; other slots have none. */
typedef struct TalusForces {
    TalusVec3 *force, *torque; /* N, N m; world frame */
    int count;
} TalusForces;

/* Ensures a capacity, so that talus_slot_set_force cannot fail for slots below `slots`. */
TalusStatus talus_forces_reserve(TalusWorld *world, size_t slots);
/* Replaces the force and torque that act on a body in every step. */
TalusStatus talus_slot_set_force(TalusWorld *world, int slot, TalusVec3 force, TalusVec3 torque);
void talus_forces_clear(TalusWorld *world);

#endif
