/* world/ranks/record.c - bodies as they are sent from rank to rank. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/runs.h"

#include <string.h>

static void pack_sleep(const TalusWorld *world, int slot, TalusBodyRecord *out)
{
    const TalusSleep *s = &world->sleep;
    if (slot >= s->slots)
        return;
    out->calm = s->calm[slot];
    if (talus_slot_is_asleep(&world->bodies, slot) && talus_world_is_dealt(world))
        out->island = s->label[slot];
}

/* Also for slots of the halo, which talus_sleep_reserve does not count. */
static TalusStatus unpack_sleep(TalusWorld *world, const TalusBodyRecord *r, int slot)
{
    TalusSleep *s = &world->sleep;
    const size_t need = (size_t)slot + 1;
    if (world->def.sleep_speed == 0.0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(s->calm, need, TALUS_CAPACITY(s->calm), "sleeping bodies"));
    TALUS_TRY(TALUS_GROW(s->label, need, TALUS_CAPACITY(s->label), "sleeping bodies"));
    s->calm[slot] = r->calm;
    s->label[slot] = r->island;
    return TALUS_OK;
}

void talus_body_pack(const TalusWorld *world, int slot, TalusBodyRecord *out)
{
    const TalusBodies *b = &world->bodies;
    const TalusForces *f = &world->forces;
    memset(out, 0, sizeof *out); /* padding, too: it is sent */
    out->id = b->id[slot];
    out->position = b->position[slot];
    out->velocity = b->velocity[slot];
    out->spin = b->spin[slot];
    if (slot < f->count) {
        out->force = f->force[slot];
        out->torque = f->torque[slot];
    }
    out->orientation = b->orientation[slot];
    out->mass = b->mass[slot];
    out->radius = b->radius[slot];
    out->size = b->size[slot];
    out->dissipated = b->dissipated[slot];
    out->shape = b->shape[slot];
    out->material = b->material[slot];
    out->tag = b->tag[slot];
    out->group = b->group[slot];
    out->mobility = b->mobility[slot];
    pack_sleep(world, slot, out);
}

void talus_body_store(TalusBodies *b, const TalusBodyRecord *r, int slot)
{
    b->id[slot] = r->id;
    b->position[slot] = r->position;
    b->velocity[slot] = r->velocity;
    b->spin[slot] = r->spin;
    b->orientation[slot] = r->orientation;
    b->mass[slot] = r->mass;
    b->radius[slot] = r->radius;
    b->size[slot] = r->size;
    b->dissipated[slot] = r->dissipated;
    b->shape[slot] = r->shape;
    b->material[slot] = r->material;
    b->tag[slot] = r->tag;
    b->group[slot] = r->group;
    b->mobility[slot] = r->mobility;
}

TalusStatus talus_body_unpack(TalusWorld *world, const TalusBodyRecord *r, int slot)
{
    talus_body_store(&world->bodies, r, slot);
    TALUS_TRY(unpack_sleep(world, r, slot));
    return talus_slot_set_force(world, slot, r->force, r->torque);
}

static int compare_records(const void *a, const void *b)
{
    const uint64_t x = (*(const TalusBodyRecord *const *)a)->id;
    const uint64_t y = (*(const TalusBodyRecord *const *)b)->id;
    return (x > y) - (x < y);
}

TalusStatus talus_body_sort_records(const TalusBodyRecord **record, size_t count)
{
    return talus_sort_runs(record, count, sizeof *record, compare_records);
}
