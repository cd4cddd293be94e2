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

/* On several ranks: wakes all bodies of this rank in the island of the body in `slot`, which one rank has. Numbers of
 * bodies are exact as doubles. */
static void wake_island_of_ranks(TalusWorld *world, int slot)
{
    const TalusBodies *b = &world->bodies;
    const bool asleep = slot >= 0 && talus_slot_is_asleep(b, slot);
    double label = asleep ? (double)world->sleep.label[slot] : 0.0;
    if (world->def.sleep_speed == 0.0)
        return;
    talus_comm_find_maxima(world->ranks.comm, &label, 1);
    for (int i = 0; label > 0.0 && i < b->counts.slots; i++)
        if (talus_slot_is_asleep(b, i) && (double)world->sleep.label[i] == label)
            talus_slot_wake_alone(world, i);
}

void talus_slot_wake(TalusWorld *world, int slot)
{
    if (slot >= 0 && slot < world->sleep.slots)
        world->sleep.calm[slot] = 0;
    if (talus_world_is_dealt(world))
        wake_island_of_ranks(world, slot);
    else if (talus_slot_is_asleep(&world->bodies, slot))
        wake_island(world, world->sleep.island[slot]);
}

bool talus_any_asleep(const TalusWorld *world)
{
    return world->def.sleep_speed > 0.0 &&
           talus_comm_any(world->ranks.comm, world->sleep.asleep > 0);
}

void talus_wake_all(TalusWorld *world)
{
    for (int i = 0; world->sleep.asleep > 0 && i < world->bodies.counts.slots; i++)
        if (talus_slot_is_asleep(&world->bodies, i))
            talus_slot_wake_alone(world, i);
}
