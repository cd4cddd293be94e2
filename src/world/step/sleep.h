/* world/step/sleep.h - sleeping bodies. */
#ifndef TALUS_WORLD_STEP_SLEEP_H
#define TALUS_WORLD_STEP_SLEEP_H

#include "world/ranks/ranks.h"

#include <talus/world.h>

/* A body that was woken, and its entry of TalusSleep.calm before. */
typedef struct TalusWokenBody {
    int32_t slot, calm;
} TalusWokenBody;

/* Sleep (sleep.c); unused if def.sleep_speed is 0. */
typedef struct TalusSleep {
    int slots;       /* size of the arrays */
    int32_t *calm;   /* by slot: steps for which the body has been slow without a break */
    int32_t *island; /* by slot: lowest slot of the island with which the body fell asleep */
    /* On several ranks, in place of island: by slot, those of the halo too, the number of a body of the island with which
     * the body fell asleep. */
    uint64_t *label;
    uint8_t *restless;       /* scratch, by body or island: must not sleep, or must wake */
    TalusBodyRecord *driven; /* scratch, [driven_count]: driven bodies that move, of all ranks */
    int driven_count;
    int (*jointed)[2];     /* scratch: the two slots of each joint; -1: the fixed world */
    int asleep;            /* number of sleeping bodies; on several ranks, of this one */
    TalusWokenBody *woken; /* for a rollback: bodies woken since the last begin or end of a step */
    int woken_count;
} TalusSleep;

/* Extends the arrays to all slots; the count `calm` of new slots is 0. No effect if sleep is off. */
TalusStatus talus_sleep_reserve(TalusWorld *world);
/* After a detection: wakes islands that have a contact with a body whose count `calm` is 0, or that a moving driven
 * body may reach. *woken: true if some island was woken. */
TalusStatus talus_sleep_wake_disturbed(TalusWorld *world, bool *woken);
/* At the start of a step: empties the list `woken`, so that a rollback puts back to sleep only bodies woken from now
 * on. */
void talus_sleep_begin_step(TalusWorld *world);
/* After a failed step, once bodies and their counts are rolled back: puts the bodies that the step woke back to
 * sleep. */
void talus_sleep_rollback(TalusWorld *world);
/* At the end of a step: counts the calm steps of all bodies and puts islands to sleep that have been calm long
 * enough. */
void talus_sleep_update(TalusWorld *world);
/* Returns the potential energy of sleeping bodies, J. */
double talus_sleep_potential(const TalusWorld *world);
void talus_sleep_clear(TalusWorld *world);

#endif
