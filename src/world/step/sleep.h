/* world/step/sleep.h - settled bodies. */
#ifndef TALUS_WORLD_STEP_SLEEP_H
#define TALUS_WORLD_STEP_SLEEP_H

#include <talus/world.h>

/* Bodies that settle (sleep.c); nothing unless def.sleep_speed is above 0. */
typedef struct TalusSleep {
    int slots;         /* that the arrays know */
    int32_t *calm;     /* steps that a body has been slow for */
    int32_t *island;   /* of sleeping bodies: what falls asleep together wakes together */
    uint8_t *restless; /* scratch, as is `jointed` */
    int (*jointed)[2];
    int asleep;
} TalusSleep;

TalusStatus talus_sleep_reserve(TalusWorld *world);
/* After a detection: wakes what is touched by bodies that are not calm; whether there was any. */
TalusStatus talus_sleep_disturb(TalusWorld *world, bool *woken);
/* At the end of a step. */
void talus_sleep_update(TalusWorld *world);
double talus_sleep_potential(const TalusWorld *world);
void talus_sleep_clear(TalusWorld *world);

#endif
