/* world/step/mirror.c - the host's copy of the state of an engine with memory of its own.
 *
 * Results of the engine are downloaded when they are read, and changes of the host are uploaded before the next step.
 * A world that is not read copies nothing. A shared engine gets pointers to the arrays before every step, and nothing
 * is downloaded. */
#include "world/step/mirror.h"
#include "world/state.h"

#include <string.h>

void talus_mirror_mark_bodies_stale(TalusWorld *world)
{
    world->mirror.bodies_stale = !talus_world_shares_arrays(world);
}

void talus_mirror_mark_contacts_stale(TalusWorld *world)
{
    world->mirror.contacts_stale = !talus_world_shares_arrays(world);
}

TalusContactList *talus_world_contacts(const TalusWorld *world)
{
    return world->host.ops->contact_list(world->host.self);
}

TalusBodyArrays talus_mirror_body_arrays(TalusWorld *world)
{
    TalusBodies *b = &world->bodies;
    const TalusIdOrder *order = &world->id_order;
    const TalusRanks *ranks = &world->ranks;
    const int slots = b->counts.slots + ranks->halo;
    const int sent = ranks->comm ? 0 : world->mirror.uploaded_slots;
    TalusBodyArrays arrays = {
        .slots = slots > sent ? slots : sent,
        .id = b->id,
        .rank = order->stored ? order->rank : NULL,
        .at_rank = order->stored ? order->at_rank : NULL,
        .last_id = b->counts.detected,
        .position = b->position,
        .velocity = b->velocity,
        .spin = b->spin,
        .orientation = b->orientation,
        .mass = b->mass,
        .radius = b->radius,
        .size = b->size,
        .dissipated = world->def.dissipation ? b->dissipated : NULL,
        .shape = b->shape,
        .material = b->material,
        .mobility = b->mobility,
        .driven = world->drives > 0,
        .halo = ranks->halo,
        .owner = ranks->owner,
        .comm = ranks->comm,
    };
    return arrays;
}

/* ---- driven bodies ---- */

/* Copies the slots and the host's states of driven bodies to the staging arrays. */
static TalusStatus stage_driven(TalusWorld *world)
{
    TalusMirror *m = &world->mirror;
    size_t count = (size_t)world->drives;
    TALUS_TRY(TALUS_GROW(m->driven, count, 0, "driven bodies"));
    TALUS_TRY(TALUS_GROW(m->motion, count, 0, "driven bodies"));
    m->staged = 0;
    for (int k = 0; k < world->drives; k++)
        if (world->drive[k].slot >= 0 && talus_drive_is_first(world->drive, k))
            m->driven[m->staged++] = world->drive[k].slot;
    talus_bodies_gather(&world->bodies, m->driven, m->staged, m->motion);
    return TALUS_OK;
}

TalusStatus talus_mirror_upload_driven(TalusWorld *world)
{
    const TalusMirror *m = &world->mirror;
    if (world->drives == 0 || talus_world_shares_arrays(world))
        return TALUS_OK;
    TALUS_TRY(stage_driven(world));
    return world->engine.ops->put_states(world->engine.self, m->driven, m->motion, m->staged);
}

TalusStatus talus_mirror_download_driven(TalusWorld *world)
{
    const TalusMirror *m = &world->mirror;
    if (world->drives == 0 || talus_world_shares_arrays(world))
        return TALUS_OK;
    TALUS_TRY(stage_driven(world));
    TALUS_TRY(world->engine.ops->get_states(world->engine.self, m->driven, m->motion, m->staged));
    talus_bodies_scatter(&world->bodies, m->driven, m->staged, m->motion);
    return TALUS_OK;
}

/* ---- download ---- */

/* Driven bodies keep the host's states, which are newer than the engine's (talus_drives_reach_targets). */
TalusStatus talus_world_download_bodies(const TalusWorld *world)
{
    TalusWorld *w = (TalusWorld *)world; /* the mirror is not part of the world's content */
    if (!w->mirror.bodies_stale)
        return TALUS_OK;
    TalusBodyArrays arrays = talus_mirror_body_arrays(w);
    TALUS_TRY(stage_driven(w));
    TALUS_TRY(w->engine.ops->get_bodies(w->engine.self, &arrays));
    talus_bodies_scatter(&w->bodies, w->mirror.driven, w->mirror.staged, w->mirror.motion);
    w->mirror.bodies_stale = false;
    return TALUS_OK;
}

/* Reserves the arrays of the staging list for these numbers of contacts. */
static TalusStatus reserve_list(TalusMirror *m, const TalusEngineCounts *n)
{
    size_t count = (size_t)n->contacts, general = (size_t)n->general;
    TALUS_TRY(TALUS_GROW(m->list.contact, count, 0, "contacts"));
    TALUS_TRY(TALUS_GROW(m->list.arms, general, 0, "contact arms"));
    return TALUS_GROW(m->list.impulse, count, 0, "impulses");
}

TalusStatus talus_world_download_contacts(const TalusWorld *world)
{
    TalusWorld *w = (TalusWorld *)world;
    TalusMirror *m = &w->mirror;
    if (!m->contacts_stale)
        return TALUS_OK;
    TalusEngineCounts n;
    w->engine.ops->get_counts(w->engine.self, &n);
    TALUS_TRY(reserve_list(m, &n));
    m->list.sphere_sphere = n.sphere_sphere;
    m->list.sphere_fixed = n.sphere_fixed;
    m->list.general = n.general;
    m->list.count = n.sphere_sphere + n.sphere_fixed + n.general;
    TALUS_TRY(w->engine.ops->get_contacts(w->engine.self, &m->list));
    TALUS_TRY(w->host.ops->put_contacts(w->host.self, &m->list));
    for (size_t i = 0; m->any_dropped && i < TALUS_CAPACITY(m->dropped); i++)
        if (m->dropped[i]) /* dropped after the engine computed the contacts */
            w->host.ops->drop_impulses(w->host.self, (int)i);
    m->contacts_stale = false;
    return TALUS_OK;
}

void talus_world_refresh(const TalusWorld *world, bool contacts)
{
    TalusStatus status = talus_world_download_bodies(world);
    if (status == TALUS_OK && contacts)
        status = talus_world_download_contacts(world);
    if (status != TALUS_OK)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "world.look",
                     "the state could not be fetched from backend %s and is shown as it was: %s",
                     world->def.backend, talus_error());
}

/* ---- upload ---- */

TalusStatus talus_world_mark_bodies_dirty(TalusWorld *world)
{
    TALUS_TRY(talus_world_download_bodies(world));
    world->mirror.bodies_dirty = true;
    return TALUS_OK;
}

/* `dropped` has an entry for every slot that was uploaded; other slots have no contacts in the engine. With a shared
 * engine, whose contacts are the host's own, `dropped` is empty. */
void talus_world_drop_impulses(TalusWorld *world, int slot)
{
    TalusMirror *m = &world->mirror;
    world->host.ops->drop_impulses(world->host.self, slot);
    if ((size_t)slot >= TALUS_CAPACITY(m->dropped))
        return;
    m->dropped[slot] = 1;
    m->any_dropped = true;
}

void talus_mirror_forget_dropped(TalusWorld *world)
{
    TalusMirror *m = &world->mirror;
    if (m->any_dropped)
        memset(m->dropped, 0, TALUS_CAPACITY(m->dropped));
    m->any_dropped = false;
}

/* Passes shapes and laws to the engine. */
static TalusStatus upload_tables(TalusWorld *world)
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
        .moments = m->any_moments,
        .cohesion = m->any_cohesion,
    };
    return world->engine.ops->put_tables(world->engine.self, &tables);
}

/* Makes `dropped` hold an entry for each of the first `slots` slots. */
static TalusStatus reserve_dropped(TalusMirror *m, int slots)
{
    const size_t before = TALUS_CAPACITY(m->dropped);
    TALUS_TRY(TALUS_GROW(m->dropped, (size_t)slots, before, "dropped bodies"));
    if (TALUS_CAPACITY(m->dropped) > before)
        memset(m->dropped + before, 0, TALUS_CAPACITY(m->dropped) - before);
    return TALUS_OK;
}

/* Updates the order of ids and uploads all bodies, with the slots whose contacts lose their impulses. */
static TalusStatus upload_bodies(TalusWorld *world)
{
    TalusMirror *m = &world->mirror;
    TALUS_TRY(talus_id_order_update(&world->id_order, world->bodies.id,
                                    talus_mirror_body_arrays(world).slots));
    TalusBodyArrays arrays = talus_mirror_body_arrays(world);
    TALUS_TRY(reserve_dropped(m, arrays.slots));
    for (int i = world->bodies.counts.slots + world->ranks.halo; i < arrays.slots; i++)
        arrays.shape[i] = -1;
    TALUS_TRY(world->engine.ops->put_bodies(world->engine.self, &arrays,
                                            m->any_dropped ? m->dropped : NULL));
    talus_mirror_forget_dropped(world);
    m->bodies_dirty = false;
    m->uploaded_slots = arrays.slots;
    return TALUS_OK;
}

/* Uploads excluded pairs and groups; NULL if all pairs collide. */
static TalusStatus upload_filter(TalusWorld *world)
{
    int slots = talus_mirror_body_arrays(world).slots;
    return world->engine.ops->put_filter(world->engine.self, talus_filter_view(world), slots);
}

static TalusStatus upload_forces(TalusWorld *world)
{
    const TalusForces *f = &world->forces;
    return world->engine.ops->put_forces(world->engine.self, f->force, f->torque, f->count);
}

/* For a shared engine: passes pointers to all arrays, which may have been reallocated. */
static TalusStatus share_arrays(TalusWorld *world)
{
    const TalusBodies *b = &world->bodies;
    const int slots = b->counts.slots + world->ranks.halo;
    TALUS_TRY(talus_id_order_update(&world->id_order, b->id, slots));
    TalusBodyArrays arrays = talus_mirror_body_arrays(world);
    arrays.slots = slots;
    TALUS_TRY(upload_tables(world));
    TALUS_TRY(upload_filter(world));
    TALUS_TRY(upload_forces(world));
    return world->engine.ops->put_bodies(world->engine.self, &arrays, NULL);
}

/* Uploads what no halo changes: shapes and laws. */
static TalusStatus upload_changed_tables(TalusWorld *world)
{
    if (world->mirror.tables_dirty)
        TALUS_TRY(upload_tables(world));
    world->mirror.tables_dirty = false;
    return TALUS_OK;
}

static TalusStatus upload_changed_forces(TalusWorld *world)
{
    if (world->mirror.forces_dirty)
        TALUS_TRY(upload_forces(world));
    world->mirror.forces_dirty = false;
    return TALUS_OK;
}

TalusStatus talus_mirror_upload(TalusWorld *world)
{
    TalusMirror *m = &world->mirror;
    if (talus_world_shares_arrays(world))
        return share_arrays(world);
    TALUS_TRY(upload_changed_tables(world));
    if (m->bodies_dirty || m->filters_dirty)
        TALUS_TRY(upload_filter(world));
    m->filters_dirty = false;
    TALUS_TRY(upload_changed_forces(world));
    if (m->bodies_dirty)
        TALUS_TRY(upload_bodies(world));
    if (m->contacts_dirty)
        TALUS_TRY(world->engine.ops->put_contacts(world->engine.self, talus_world_contacts(world)));
    m->contacts_dirty = false;
    return TALUS_OK;
}

/* ---- on several ranks ---- */

TalusStatus talus_mirror_upload_own(TalusWorld *world)
{
    const int own = world->bodies.counts.slots;
    TALUS_TRY(upload_changed_tables(world));
    TALUS_TRY(upload_changed_forces(world));
    if (!world->mirror.bodies_dirty)
        return TALUS_OK;
    TALUS_TRY(talus_id_order_update(&world->id_order, world->bodies.id, own));
    TalusBodyArrays arrays = talus_mirror_body_arrays(world);
    arrays.slots = own;
    arrays.halo = 0;
    TALUS_TRY(world->engine.ops->put_bodies(world->engine.self, &arrays, NULL));
    world->mirror.bodies_dirty = false;
    return TALUS_OK;
}

TalusStatus talus_mirror_upload_halo(TalusWorld *world)
{
    const int slots = world->bodies.counts.slots + world->ranks.halo;
    TALUS_TRY(talus_id_order_update(&world->id_order, world->bodies.id, slots));
    TALUS_TRY(reserve_dropped(&world->mirror, slots));
    const TalusBodyArrays arrays = talus_mirror_body_arrays(world);
    world->mirror.filters_dirty = true; /* they are by slots */
    return world->engine.ops->put_halo(world->engine.self, &arrays);
}

TalusStatus talus_mirror_download_states(TalusWorld *world, const int32_t *slot, int count)
{
    TalusMirror *m = &world->mirror;
    TALUS_TRY(TALUS_GROW(m->motion, (size_t)count, 0, "states of bodies"));
    TALUS_TRY(world->engine.ops->get_states(world->engine.self, slot, m->motion, count));
    talus_bodies_scatter(&world->bodies, slot, count, m->motion);
    return TALUS_OK;
}

TalusStatus talus_mirror_move_contacts(TalusWorld *world, const TalusSlotChange *change)
{
    TalusMirror *m = &world->mirror;
    TALUS_TRY(reserve_dropped(m, change->kept + change->count));
    TALUS_TRY(world->engine.ops->move_contacts(world->engine.self, change,
                                               m->any_dropped ? m->dropped : NULL));
    talus_mirror_forget_dropped(world);
    m->contacts_stale = true;
    return TALUS_OK;
}

void talus_mirror_clear(TalusMirror *mirror)
{
    TALUS_RELEASE(mirror->dropped, mirror->list.contact, mirror->list.arms, mirror->list.impulse,
                  mirror->driven, mirror->motion);
    *mirror = (TalusMirror){0};
}
