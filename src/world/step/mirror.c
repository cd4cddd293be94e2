/* world/step/mirror.c - the host's arrays of a world whose engine has memory of its own.
 *
 * What the engine has computed is fetched when someone asks for it, and what the host has changed is
 * sent before the next step: a world that nobody looks at copies nothing. An engine that shares the host's memory
 * is given the arrays themselves before every step, and nothing is ever fetched. */
#include "world/step/mirror.h"
#include "world/filter.h"
#include "world/state.h"

#include <string.h>

void talus_mirror_bodies_changed(TalusWorld *world)
{
    world->mirror.bodies_behind = !talus_world_is_shared(world);
}

void talus_mirror_contacts_changed(TalusWorld *world)
{
    world->mirror.contacts_behind = !talus_world_is_shared(world);
}

TalusContactList *talus_world_contacts(const TalusWorld *world)
{
    return world->host.ops->contacts(world->host.engine);
}

/* The engine never sees fewer slots than before: contacts may still name those that a failed step has
 * given back. */
static TalusBodyArrays body_arrays(TalusWorld *world)
{
    TalusBodies *b = &world->bodies;
    int slots = b->counts.slots, sent = world->mirror.slots_sent;
    TalusBodyArrays arrays = {
        .slots = slots > sent ? slots : sent,
        .id = b->id,
        .position = b->position,
        .velocity = b->velocity,
        .spin = b->spin,
        .orientation = b->orientation,
        .mass = b->mass,
        .radius = b->radius,
        .size = b->size,
        .shape = b->shape,
        .material = b->material,
        .fixed = b->fixed,
        .driven = world->drives > 0,
    };
    return arrays;
}

/* ---- driven bodies ---- */

/* The states of driven bodies as the host has them. */
static TalusStatus note_driven(TalusWorld *world)
{
    TalusMirror *m = &world->mirror;
    const TalusBodies *b = &world->bodies;
    size_t count = (size_t)world->drives;
    TALUS_TRY(TALUS_GROW(m->few, count, 0, "driven bodies"));
    TALUS_TRY(TALUS_GROW(m->motion, count, 0, "driven bodies"));
    for (int k = 0; k < world->drives; k++) {
        int i = world->drive[k].slot;
        m->few[k] = i;
        m->motion[k] = (TalusMotion){b->position[i], b->velocity[i], b->spin[i], b->orientation[i]};
    }
    return TALUS_OK;
}

static void take_driven(TalusWorld *world)
{
    const TalusMirror *m = &world->mirror;
    TalusBodies *b = &world->bodies;
    for (int k = 0; k < world->drives; k++) {
        int i = world->drive[k].slot;
        b->position[i] = m->motion[k].position;
        b->velocity[i] = m->motion[k].velocity;
        b->spin[i] = m->motion[k].spin;
        b->orientation[i] = m->motion[k].orientation;
    }
}

TalusStatus talus_mirror_send_driven(TalusWorld *world)
{
    const TalusMirror *m = &world->mirror;
    if (world->drives == 0 || talus_world_is_shared(world))
        return TALUS_OK;
    TALUS_TRY(note_driven(world));
    return world->on.ops->put_states(world->on.engine, m->few, m->motion, world->drives);
}

TalusStatus talus_mirror_fetch_driven(TalusWorld *world)
{
    const TalusMirror *m = &world->mirror;
    if (world->drives == 0 || talus_world_is_shared(world))
        return TALUS_OK;
    TALUS_TRY(note_driven(world));
    TALUS_TRY(world->on.ops->get_states(world->on.engine, m->few, m->motion, world->drives));
    take_driven(world);
    return TALUS_OK;
}

/* ---- from the engine ---- */

TalusStatus talus_world_look(const TalusWorld *world)
{
    TalusWorld *w = (TalusWorld *)world; /* the mirror is no part of what the world means */
    if (!w->mirror.bodies_behind)
        return TALUS_OK;
    TalusBodyArrays arrays = body_arrays(w);
    TALUS_TRY(note_driven(w));
    TALUS_TRY(w->on.ops->get_bodies(w->on.engine, &arrays));
    take_driven(w);
    w->mirror.bodies_behind = false;
    return TALUS_OK;
}

static TalusStatus reserve_list(TalusMirror *m, const TalusEngineCounts *n)
{
    size_t count = (size_t)n->contacts, general = (size_t)n->general;
    TALUS_TRY(TALUS_GROW(m->list.contact, count, 0, "contacts"));
    TALUS_TRY(TALUS_GROW(m->list.arms, general, 0, "contact arms"));
    return TALUS_GROW(m->list.impulse, count, 0, "impulses");
}

TalusStatus talus_world_look_contacts(const TalusWorld *world)
{
    TalusWorld *w = (TalusWorld *)world;
    TalusMirror *m = &w->mirror;
    if (!m->contacts_behind)
        return TALUS_OK;
    TalusEngineCounts n;
    w->on.ops->counts(w->on.engine, &n);
    TALUS_TRY(reserve_list(m, &n));
    m->list.sphere_sphere = n.sphere_sphere;
    m->list.sphere_fixed = n.sphere_fixed;
    m->list.general = n.general;
    m->list.count = n.contacts;
    TALUS_TRY(w->on.ops->get_contacts(w->on.engine, &m->list));
    TALUS_TRY(w->host.ops->put_contacts(w->host.engine, &m->list));
    for (size_t i = 0; m->any_forgotten && i < TALUS_CAPACITY(m->forgotten); i++)
        if (m->forgotten[i]) /* since the engine made them */
            w->host.ops->forget(w->host.engine, (int)i);
    m->contacts_behind = false;
    return TALUS_OK;
}

void talus_world_see(const TalusWorld *world, bool contacts)
{
    TalusStatus status = talus_world_look(world);
    if (status == TALUS_OK && contacts)
        status = talus_world_look_contacts(world);
    if (status != TALUS_OK)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "world.look",
                     "the state could not be fetched from backend %s and is shown as it was: %s",
                     world->def.backend, talus_error());
}

/* ---- to the engine ---- */

TalusStatus talus_world_touch(TalusWorld *world)
{
    TALUS_TRY(talus_world_look(world));
    world->mirror.bodies_ahead = true;
    return TALUS_OK;
}

/* Slots that were never sent have no contacts there. */
void talus_world_forget(TalusWorld *world, int slot)
{
    TalusMirror *m = &world->mirror;
    world->host.ops->forget(world->host.engine, slot);
    if ((size_t)slot >= TALUS_CAPACITY(m->forgotten))
        return;
    m->forgotten[slot] = 1;
    m->any_forgotten = true;
}

static TalusStatus send_tables(TalusWorld *world)
{
    const TalusMaterials *m = &world->materials;
    TalusTables tables = {
        .shape = world->shape,
        .gyration = world->gyration,
        .shapes = world->shapes,
        .law = m->law,
        .materials = m->count,
        .compliance = m->any_compliance,
        .models = m->any_models,
        .friction = m->max_friction > 0.0,
        .restitution = m->any_restitution,
        .turning = m->any_turning,
        .cohesion = m->any_cohesion,
    };
    return world->on.ops->tables(world->on.engine, &tables);
}

static TalusStatus send_bodies(TalusWorld *world)
{
    TalusMirror *m = &world->mirror;
    TalusBodyArrays arrays = body_arrays(world);
    size_t slots = (size_t)arrays.slots, before = TALUS_CAPACITY(m->forgotten);
    TALUS_TRY(TALUS_GROW(m->forgotten, slots, before, "forgotten bodies"));
    if (TALUS_CAPACITY(m->forgotten) > before)
        memset(m->forgotten + before, 0, TALUS_CAPACITY(m->forgotten) - before);
    for (int i = world->bodies.counts.slots; i < arrays.slots; i++)
        arrays.shape[i] = -1;
    TALUS_TRY(world->on.ops->put_bodies(world->on.engine, &arrays,
                                        m->any_forgotten ? m->forgotten : NULL));
    if (m->any_forgotten)
        memset(m->forgotten, 0, TALUS_CAPACITY(m->forgotten));
    m->any_forgotten = m->bodies_ahead = false;
    m->slots_sent = arrays.slots;
    return TALUS_OK;
}

/* With the groups of all bodies, of which there are none where all meet. */
static TalusStatus send_filter(TalusWorld *world)
{
    int slots = body_arrays(world).slots;
    return world->on.ops->put_filter(world->on.engine, talus_filter_view(world), slots);
}

static TalusStatus send_forces(TalusWorld *world)
{
    const TalusForces *f = &world->forces;
    return world->on.ops->put_forces(world->on.engine, f->force, f->torque, f->count);
}

/* The arrays themselves, which may have moved since. */
static TalusStatus share(TalusWorld *world)
{
    TalusBodyArrays arrays = body_arrays(world);
    arrays.slots = world->bodies.counts.slots;
    TALUS_TRY(send_tables(world));
    TALUS_TRY(send_filter(world));
    TALUS_TRY(send_forces(world));
    return world->on.ops->put_bodies(world->on.engine, &arrays, NULL);
}

TalusStatus talus_mirror_send(TalusWorld *world)
{
    TalusMirror *m = &world->mirror;
    if (talus_world_is_shared(world))
        return share(world);
    if (m->tables_ahead)
        TALUS_TRY(send_tables(world));
    m->tables_ahead = false;
    if (m->bodies_ahead || m->filters_ahead)
        TALUS_TRY(send_filter(world));
    m->filters_ahead = false;
    if (m->forces_ahead)
        TALUS_TRY(send_forces(world));
    m->forces_ahead = false;
    if (m->bodies_ahead)
        TALUS_TRY(send_bodies(world));
    if (m->contacts_ahead)
        TALUS_TRY(world->on.ops->put_contacts(world->on.engine, talus_world_contacts(world)));
    m->contacts_ahead = false;
    return TALUS_OK;
}

void talus_mirror_clear(TalusMirror *mirror)
{
    TALUS_RELEASE(mirror->forgotten, mirror->list.contact, mirror->list.arms, mirror->list.impulse,
                  mirror->few, mirror->motion);
    *mirror = (TalusMirror){0};
}
