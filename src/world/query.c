/* world/query.c - what a caller asks for: states of bodies, contacts, forces. On several ranks every rank gets those of
 * all. */
#include "world/contacts.h"
#include "world/state.h"
#include "world/step/mirror.h"

#include <stdlib.h>
#include <string.h>

/* ---- bodies ---- */

#define STORE(field, value)            \
    do {                               \
        if (state->field)              \
            state->field[n] = (value); \
    } while (0)

/* Copies the state of living bodies. */
static void copy_state(const TalusBodies *b, TalusBodyState *state)
{
    int n = 0;
    for (int i = 0; i < b->counts.slots; i++) {
        if (b->shape[i] < 0)
            continue;
        STORE(id, talus_slot_id(b, (uint32_t)i));
        STORE(position, b->position[i]);
        STORE(velocity, b->velocity[i]);
        STORE(spin, b->spin[i]);
        STORE(orientation, b->orientation[i]);
        STORE(radius, b->radius[i]);
        STORE(mass, b->mass[i]);
        STORE(dissipated, b->dissipated[i]);
        STORE(shape, b->shape[i]);
        STORE(material, b->material[i]);
        STORE(tag, b->tag[i]);
        STORE(fixed, !talus_slot_is_dynamic(b, i));
        n++;
    }
}

TalusStatus talus_world_get_state(const TalusWorld *world, TalusBodyState *state)
{
    TalusBodies all = {0};
    if (!talus_world_is_dealt(world)) {
        if (state->position || state->velocity || state->spin || state->orientation)
            TALUS_TRY(talus_world_download_bodies(world));
        copy_state(&world->bodies, state);
        return TALUS_OK;
    }
    TalusStatus status = talus_ranks_gather_bodies(world, &all);
    if (status == TALUS_OK)
        copy_state(&all, state);
    talus_bodies_clear(&all);
    return status;
}

TalusStatus talus_world_view_bodies(const TalusWorld *world, TalusBodyRows *rows)
{
    *rows = (TalusBodyRows){0};
    if (talus_world_is_dealt(world))
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "world: a view of bodies needs all of them on one rank; take copies by "
                          "talus_world_get_state");
    TALUS_TRY(talus_world_download_bodies(world));
    const TalusBodies *b = &world->bodies;
    *rows = (TalusBodyRows){.count = b->counts.slots,
                            .id = b->id,
                            .position = b->position,
                            .velocity = b->velocity,
                            .spin = b->spin,
                            .orientation = b->orientation,
                            .radius = b->radius,
                            .mass = b->mass,
                            .shape = b->shape,
                            .material = b->material,
                            .tag = b->tag};
    return TALUS_OK;
}

/* ---- contacts ---- */

/* Sets the branch vectors from the second bodies of contacts that all ranks have: each rank knows those of its own bodies. */
static void share_branches(const TalusWorld *world, TalusSharedContact *contact, int64_t count)
{
    enum { AT_ONCE = 4096 };
    const TalusBodies *bodies = &world->bodies;
    double branch[3 * AT_ONCE];
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int n = (int)(count - first < AT_ONCE ? count - first : AT_ONCE);
        for (int i = 0; i < n; i++) {
            const TalusContactState *c = &contact[first + i].state;
            const int slot = talus_slot_of(world, c->b);
            TalusVec3 own = {INFINITY, INFINITY, INFINITY};
            if (slot >= 0)
                own = talus_branch(&world->def.period, bodies->position[slot], c->point);
            memcpy(branch + 3 * i, &own, sizeof own);
        }
        talus_comm_find_minima(world->ranks.comm, branch, 3 * n);
        for (int i = 0; i < n; i++)
            memcpy(&contact[first + i].state.branch_b, branch + 3 * i, sizeof(TalusVec3));
    }
}

/* As talus_world_get_strong_contacts, of all ranks. */
static int64_t get_shared_contacts(const TalusWorld *world, double least, TalusContactState *out,
                                   int64_t count)
{
    TalusSharedContact *contact = NULL;
    int64_t all = 0, total = 0;
    if (talus_ranks_gather_contacts(world, &contact, &all) != TALUS_OK)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "world.look",
                     "the contacts of other ranks could not be fetched: %s", talus_error());
    share_branches(world, contact, all); /* of all, because all ranks must exchange the same */
    for (int64_t i = 0; i < all; i++) {
        if (!(contact[i].impulse > least))
            continue;
        if (out && total < count)
            out[total] = contact[i].state;
        total++;
    }
    talus_release(contact);
    return total;
}

int64_t talus_world_get_strong_contacts(const TalusWorld *world, double least,
                                        TalusContactState *out, int64_t count)
{
    if (talus_world_is_dealt(world))
        return get_shared_contacts(world, least, out, count);
    talus_world_refresh(world, true);
    const TalusContactList *list = talus_world_contacts(world);
    int64_t total = 0;
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (!talus_contact_lives(&world->bodies, c) || !(talus_normal_impulse(list, i) > least))
            continue;
        if (out && total < count) {
            out[total] = talus_contact_state(world, list, i, world->bodies.id[c->b]);
            out[total].branch_b =
                talus_branch(&world->def.period, world->bodies.position[c->b], out[total].point);
        }
        total++;
    }
    return total;
}

int64_t talus_world_get_contacts(const TalusWorld *world, TalusContactState *out, int64_t count)
{
    return talus_world_get_strong_contacts(world, -INFINITY, out, count);
}

/* ---- forces ---- */

static int compare_ids(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the index of a body, which is there, among bodies by ascending numbers. */
static int find_row(const TalusBodies *all, TalusBodyId body)
{
    const uint64_t *at =
        bsearch(&body.number, all->id, (size_t)all->counts.slots, sizeof *all->id, compare_ids);
    return (int)(at - all->id);
}

/* As talus_world_get_forces, of all ranks. */
static TalusStatus sum_shared_forces(const TalusWorld *world, double *force, int *touching,
                                     TalusForceSummary *summary)
{
    const bool rows = force || touching;
    TalusSharedContact *contact = NULL;
    TalusBodies all = {0};
    int64_t count = 0;
    TalusStatus status = talus_ranks_gather_contacts(world, &contact, &count);
    if (status == TALUS_OK && rows)
        status = talus_ranks_gather_bodies(world, &all);
    if (status == TALUS_OK) {
        TalusForceSums sums = talus_force_sums_begin(world, all.counts.slots, force, touching);
        for (int64_t i = 0; i < count; i++)
            talus_force_sums_add(&sums, contact[i].impulse,
                                 rows ? find_row(&all, contact[i].state.a) : 0,
                                 rows ? find_row(&all, contact[i].state.b) : 0);
        *summary = talus_force_sums_end(&sums);
    }
    talus_release(contact);
    talus_bodies_clear(&all);
    return status;
}

TalusStatus talus_world_get_forces(const TalusWorld *world, double *force, int *touching,
                                   TalusForceSummary *summary)
{
    int *living_index = NULL;
    TalusForceSummary unwanted;
    summary = summary ? summary : &unwanted;
    if (talus_world_is_dealt(world))
        return sum_shared_forces(world, force, touching, summary);
    if (force || touching)
        TALUS_TRY(talus_living_indices(world, &living_index));
    TalusStatus status = talus_world_sum_forces(world, living_index, force, touching, summary);
    talus_release(living_index);
    return status;
}
