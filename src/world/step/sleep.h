/* world/step/sleep.h - sleeping bodies. */
#ifndef TALUS_WORLD_STEP_SLEEP_H
#define TALUS_WORLD_STEP_SLEEP_H

#include <talus/world.h>

/* Sleep (sleep.c); unused if def.sleep_speed is 0. */
typedef struct TalusSleep {
    int slots;         /* size of the arrays */
    int32_t *calm;     /* number of steps that a body has been slow */
    int32_t *island;   /* of sleeping bodies; an island falls asleep and wakes as a whole */
    uint8_t *restless; /* scratch */
    int (*jointed)[2]; /* scratch */
    int asleep;
} TalusSleep;

/* Extends the arrays to all slots; new bodies are not calm. No effect if sleep is off. */
TalusStatus talus_sleep_reserve(TalusWorld *world);
/* After a detection: wakes islands touched by bodies that are not calm. *woken: true if there were any. */
TalusStatus talus_sleep_disturb(TalusWorld *world, bool *woken);
/* At the end of a step: counts calm steps and puts calm islands to sleep. */
void talus_sleep_update(TalusWorld *world);
double talus_sleep_potential(const TalusWorld *world);
void talus_sleep_clear(TalusWorld *world);

#endif
