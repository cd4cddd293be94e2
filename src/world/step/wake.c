/* world/step/wake.c - waking of sleeping bodies (sleep.c). */
#include "world/step/wake.h"
#include "world/state.h"

/* Cannot overflow `woken`, which has an entry for every slot: a body is listed at most once, because bodies fall asleep
 * only when the list is empty. */
void talus_slot_wake_alone(TalusWorld *world, int slot)
{
    TalusSleep *s = &world->sleep;
    s->woken[s->woken_count++] = (TalusWokenBody){slot, s->calm[slot]};
    world->bodies.mobility[slot] = TALUS_MOBILITY_FREE;
    /* the mirror is up to date: a world with sleeping bodies is downloaded after every step */
    world->mirror.bodies_dirty = true;
    s->calm[slot] = 0;
    s->asleep--;
}

/* Wakes all bodies of an island, given by its lowest slot (TalusSleep.island). */
static void wake_island(TalusWorld *world, int island)
{
    for (int i = 0; i < world->bodies.counts.slots; i++)
        if (talus_slot_is_asleep(&world->bodies, i) && world->sleep.island[i] == island)
            talus_slot_wake_alone(world, i);
}

void talus_slot_wake(TalusWorld *world, int slot)
{
    if (slot < world->sleep.slots)
        world->sleep.calm[slot] = 0;
    if (talus_slot_is_asleep(&world->bodies, slot))
        wake_island(world, world->sleep.island[slot]);
}

void talus_wake_all(TalusWorld *world)
{
    for (int i = 0; world->sleep.asleep > 0 && i < world->bodies.counts.slots; i++)
        if (talus_slot_is_asleep(&world->bodies, i))
            talus_slot_wake_alone(world, i);
}
