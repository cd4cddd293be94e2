/* world/step/sleep.h - sleeping bodies. */
#ifndef TALUS_WORLD_STEP_SLEEP_H
#define TALUS_WORLD_STEP_SLEEP_H

#include <talus/world.h>

/* Sleep (sleep.c); unused if def.sleep_speed is 0. */
typedef struct TalusSleep {
    int slots;         /* size of the arrays */
    int32_t *calm;     /* by slot: steps for which the body has been slow without a break */
    int32_t *island;   /* by slot: lowest slot of the island with which the body fell asleep */
    uint8_t *restless; /* scratch, by body or island: must not sleep, or must wake */
    int (*jointed)[2]; /* scratch: the two slots of each joint; -1: the fixed world */
    int asleep;        /* number of sleeping bodies */
} TalusSleep;

/* Extends the arrays to all slots; new bodies are not calm. No effect if sleep is off. */
TalusStatus talus_sleep_reserve(TalusWorld *world);
/* After a detection: wakes islands that have a contact with a body whose count `calm` is 0, or that a moving driven
 * body may reach. *woken: true if there were any. */
TalusStatus talus_sleep_disturb(TalusWorld *world, bool *woken);
/* At the end of a step: counts calm steps and puts calm islands to sleep. */
void talus_sleep_update(TalusWorld *world);
/* Returns the potential energy of sleeping bodies, J. */
double talus_sleep_potential(const TalusWorld *world);
void talus_sleep_clear(TalusWorld *world);

#endif
