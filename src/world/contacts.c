/* world/contacts.c - the contacts of the last step as a list, and sums of their normal forces by body. */
#include "world/contacts.h"
#include "world/state.h"

#include "collide/contact_arms.h"

#include <stdlib.h>

double talus_normal_impulse(const TalusContactList *list, int i)
{
    return talus_dot(list->impulse[i], list->contact[i].normal);
}

static TalusArms contact_arms(const TalusWorld *world, const TalusContactList *list, int i)
{
    return talus_contact_arms(list, i, world->bodies.position, world->bodies.radius,
                              &world->def.period);
}

TalusContactState talus_contact_state(const TalusWorld *world, const TalusContactList *list, int i,
                                      uint64_t b)
{
    const TalusBodies *bodies = &world->bodies;
    const TalusContact *c = &list->contact[i];
    TalusVec3 on_a = talus_add(bodies->position[c->a], contact_arms(world, list, i).a);
    TalusContactState state = {
        .a = talus_slot_id(bodies, c->a),
        .b = {b},
        .point = talus_madd(on_a, 0.5 * c->gap, c->normal),
        .normal = c->normal,
        .impulse = list->impulse[i],
        .gap = c->gap,
    };
    return state;
}

/* As talus_world_get_strong_contacts, of all ranks. */
static int get_shared_contacts(const TalusWorld *world, double least, TalusContactState *out,
                               int count)
{
    TalusSharedContact *contact = NULL;
    int all = 0, total = 0;
    if (talus_ranks_gather_contacts(world, &contact, &all) != TALUS_OK)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "world.look",
                     "the contacts of other ranks could not be fetched: %s", talus_error());
    for (int i = 0; i < all; i++) {
        if (!(contact[i].impulse > least))
            continue;
        if (out && total < count)
            out[total] = contact[i].state;
        total++;
    }
    talus_release(contact);
    return total;
}

int talus_world_get_strong_contacts(const TalusWorld *world, double least, TalusContactState *out,
                                    int count)
{
    if (talus_world_is_dealt(world))
        return get_shared_contacts(world, least, out, count);
    talus_world_refresh(world, true);
    const TalusContactList *list = talus_world_contacts(world);
    int total = 0;
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (!talus_contact_lives(&world->bodies, c) || !(talus_normal_impulse(list, i) > least))
            continue;
        if (out && total < count)
            out[total] = talus_contact_state(world, list, i, world->bodies.id[c->b]);
        total++;
    }
    return total;
}

int talus_world_get_contacts(const TalusWorld *world, TalusContactState *out, int count)
{
    return talus_world_get_strong_contacts(world, -INFINITY, out, count);
}

TalusOverlapSummary talus_world_get_overlap(const TalusWorld *world)
{
    return world->overlap;
}

TalusStatus talus_living_indices(const TalusWorld *world, int **living_index)
{
    const TalusBodies *bodies = &world->bodies;
    int row = 0;
    TALUS_TRY(TALUS_ALLOC(*living_index, (size_t)bodies->counts.slots, "rows of bodies"));
    for (int i = 0; i < bodies->counts.slots; i++)
        if (bodies->shape[i] >= 0)
            (*living_index)[i] = row++;
    return TALUS_OK;
}

/* Sums of normal forces; force and touching may be NULL. */
typedef struct ForceSums {
    double *force;
    int *touching;
    TalusForceSummary summary;
    double impulse; /* N s: sum of the loaded contacts */
} ForceSums;

/* Starts sums for `bodies` bodies. */
static ForceSums begin_sums(const TalusWorld *world, int bodies, double *force, int *touching)
{
    const double made = world->impulse_step;
    for (int i = 0; i < bodies; i++) {
        if (force)
            force[i] = 0.0;
        if (touching)
            touching[i] = 0;
    }
    return (ForceSums){.force = force,
                       .touching = touching,
                       .summary = {.length = made > 0.0 ? made : world->def.step}};
}

/* Counts a contact; if it is loaded, adds its normal impulse over summary.length to the forces of both bodies, whose
 * indices are a and b. */
static void add_contact(ForceSums *s, double impulse, int a, int b)
{
    s->summary.contacts++;
    if (!(impulse > 0.0))
        return;
    s->summary.loaded++;
    s->impulse += impulse;
    if (s->force) {
        s->force[a] += impulse / s->summary.length;
        s->force[b] += impulse / s->summary.length;
    }
    if (s->touching) {
        s->touching[a]++;
        s->touching[b]++;
    }
}

static TalusForceSummary end_sums(const ForceSums *s)
{
    TalusForceSummary summary = s->summary;
    summary.mean_impulse = summary.loaded ? s->impulse / summary.loaded : 0.0;
    return summary;
}

/* The canonical order of contacts makes the sums depend on the state alone. */
TalusStatus talus_world_sum_forces(const TalusWorld *world, const int *living_index, double *force,
                                   int *touching, TalusForceSummary *summary)
{
    const int *row = living_index;
    TALUS_TRY(talus_world_download_contacts(world));
    ForceSums sums = begin_sums(world, world->bodies.counts.living, force, touching);
    const TalusContactList *list = talus_world_contacts(world);
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (talus_contact_lives(&world->bodies, c))
            add_contact(&sums, talus_normal_impulse(list, i), row ? row[c->a] : 0,
                        row ? row[c->b] : 0);
    }
    *summary = end_sums(&sums);
    return TALUS_OK;
}

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
    int count = 0;
    TalusStatus status = talus_ranks_gather_contacts(world, &contact, &count);
    if (status == TALUS_OK && rows)
        status = talus_ranks_gather_bodies(world, &all);
    if (status == TALUS_OK) {
        ForceSums sums = begin_sums(world, all.counts.slots, force, touching);
        for (int i = 0; i < count; i++)
            add_contact(&sums, contact[i].impulse, rows ? find_row(&all, contact[i].state.a) : 0,
                        rows ? find_row(&all, contact[i].state.b) : 0);
        *summary = end_sums(&sums);
    }
    talus_release(contact);
    talus_bodies_clear(&all);
    return status;
}

TalusStatus talus_world_get_forces(const TalusWorld *world, double *force, int *touching,
                                   TalusForceSummary *summary)
{
    int *living_index = NULL;
    if (talus_world_is_dealt(world))
        return sum_shared_forces(world, force, touching, summary);
    if (force || touching)
        TALUS_TRY(talus_living_indices(world, &living_index));
    TalusStatus status = talus_world_sum_forces(world, living_index, force, touching, summary);
    talus_release(living_index);
    return status;
}
