/* world/contacts.c - the contacts of the last step as a list, and sums of their normal forces by body. */
#include "world/contacts.h"
#include "world/state.h"

#include "collide/contact_arms.h"

/* Returns the normal impulse of contact i on b, N s; below 0: the contact pulls. */
static double normal_impulse(const TalusContactList *list, int i)
{
    return talus_dot(list->impulse[i], list->contact[i].normal);
}

static TalusArms contact_arms(const TalusWorld *world, const TalusContactList *list, int i)
{
    return talus_contact_arms(list, i, world->bodies.position, world->bodies.radius,
                              &world->def.period);
}

/* Returns contact i of the list as callers see it; its point moves with body a. */
static TalusContactState contact_state(const TalusWorld *world, const TalusContactList *list, int i)
{
    const TalusBodies *bodies = &world->bodies;
    const TalusContact *c = &list->contact[i];
    TalusVec3 on_a = talus_add(bodies->position[c->a], contact_arms(world, list, i).a);
    TalusContactState state = {
        .a = talus_slot_id(bodies, c->a),
        .b = talus_slot_id(bodies, c->b),
        .point = talus_madd(on_a, 0.5 * c->gap, c->normal),
        .normal = c->normal,
        .impulse = list->impulse[i],
        .gap = c->gap,
    };
    return state;
}

int talus_world_get_strong_contacts(const TalusWorld *world, double least, TalusContactState *out,
                                    int count)
{
    talus_world_refresh(world, true);
    const TalusContactList *list = talus_world_contacts(world);
    int total = 0;
    for (int i = 0; i < list->count; i++) {
        if (!talus_contact_lives(&world->bodies, &list->contact[i]) ||
            !(normal_impulse(list, i) > least))
            continue;
        if (out && total < count)
            out[total] = contact_state(world, list, i);
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

/* Adds the normal impulses of loaded contacts over summary->length to force[] of both bodies, counts these contacts in
 * touching[], and fills the rest of the summary. The canonical order of contacts makes the sums depend on the state
 * alone. */
static void sum_forces(const TalusWorld *world, const int *living_index, double *force,
                       int *touching, TalusForceSummary *summary)
{
    const TalusContactList *list = talus_world_contacts(world);
    double sum = 0.0;
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (!talus_contact_lives(&world->bodies, c))
            continue;
        summary->contacts++;
        double impulse = normal_impulse(list, i);
        if (!(impulse > 0.0))
            continue;
        summary->loaded++;
        sum += impulse;
        if (force) {
            force[living_index[c->a]] += impulse / summary->length;
            force[living_index[c->b]] += impulse / summary->length;
        }
        if (touching) {
            touching[living_index[c->a]]++;
            touching[living_index[c->b]]++;
        }
    }
    summary->mean_impulse = summary->loaded ? sum / summary->loaded : 0.0;
}

TalusStatus talus_world_sum_forces(const TalusWorld *world, const int *living_index, double *force,
                                   int *touching, TalusForceSummary *summary)
{
    double made = world->impulse_step;
    *summary = (TalusForceSummary){.length = made > 0.0 ? made : world->def.step};
    TALUS_TRY(talus_world_download_contacts(world));
    for (int i = 0; i < world->bodies.counts.living; i++) {
        if (force)
            force[i] = 0.0;
        if (touching)
            touching[i] = 0;
    }
    sum_forces(world, living_index, force, touching, summary);
    return TALUS_OK;
}

TalusStatus talus_world_get_forces(const TalusWorld *world, double *force, int *touching,
                                   TalusForceSummary *summary)
{
    int *living_index = NULL;
    TALUS_TRY(talus_ranks_refuse(world, "query of forces"));
    if (force || touching)
        TALUS_TRY(talus_living_indices(world, &living_index));
    TalusStatus status = talus_world_sum_forces(world, living_index, force, touching, summary);
    talus_release(living_index);
    return status;
}
