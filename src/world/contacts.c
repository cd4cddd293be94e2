/* world/contacts.c - the contacts of the last step as a list, and sums of their normal forces by body. */
#include "world/contacts.h"
#include "world/state.h"

#include "collide/contact_arms.h"

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
    const TalusVec3 point = talus_madd(on_a, 0.5 * c->gap, c->normal);
    TalusContactState state = {
        .a = talus_slot_id(bodies, c->a),
        .b = {b},
        .point = point,
        .normal = c->normal,
        .impulse = list->impulse[i],
        .gap = c->gap,
        .branch_a = talus_branch(&world->def.period, bodies->position[c->a], point),
    };
    return state;
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

TalusForceSums talus_force_sums_begin(const TalusWorld *world, int bodies, double *force,
                                      int *touching)
{
    const double made = world->impulse_step;
    for (int i = 0; i < bodies; i++) {
        if (force)
            force[i] = 0.0;
        if (touching)
            touching[i] = 0;
    }
    return (TalusForceSums){.force = force,
                            .touching = touching,
                            .summary = {.length = made > 0.0 ? made : world->def.step}};
}

void talus_force_sums_add(TalusForceSums *s, double impulse, int a, int b)
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

TalusForceSummary talus_force_sums_end(const TalusForceSums *s)
{
    TalusForceSummary summary = s->summary;
    summary.mean_impulse = summary.loaded ? s->impulse / (double)summary.loaded : 0.0;
    return summary;
}

/* A contact that is counted: its bodies' slots, or `slots` in place of another rank's. */
typedef struct OwnContact {
    int a, b;
    double impulse;
} OwnContact;

/* Adds a contact to the sums; the element behind the slots takes what is of other ranks. */
static void add_own_contact(TalusForceSums *sums, const OwnContact *c, int slots, int *first)
{
    talus_force_sums_add(sums, c->impulse, c->a, c->b);
    *first += c->a < slots;
}

/* Adds the contacts of the engine's list whose bodies live. */
static int add_listed(const TalusWorld *world, TalusForceSums *sums)
{
    const TalusContactList *list = talus_world_contacts(world);
    const int slots = world->bodies.counts.slots;
    const int own = talus_world_is_dealt(world) ? world->ranks.list.own : slots;
    int first = 0;
    for (int i = 0; i < list->count; i++) {
        const int a = (int)list->contact[i].a, b = (int)list->contact[i].b;
        if (talus_ranks_listed_body(world, (uint32_t)a) &&
            talus_ranks_listed_body(world, (uint32_t)b))
            add_own_contact(sums,
                            &(OwnContact){a < own ? a : slots, b < own ? b : slots,
                                          talus_normal_impulse(list, i)},
                            slots, &first);
    }
    return first;
}

/* Adds those that have come with bodies and are not in the list yet; they are sorted. */
static int add_waiting(const TalusWorld *world, TalusForceSums *sums)
{
    const int slots = world->bodies.counts.slots;
    int first = 0;
    for (int64_t k = 0; k < world->ranks.contacts; k++) {
        const TalusContactRecord *c = &world->ranks.contact[k];
        const int a = talus_slot_of(world, (TalusBodyId){c->a});
        const int b = talus_slot_of(world, (TalusBodyId){c->b});
        add_own_contact(
            sums,
            &(OwnContact){a >= 0 ? a : slots, b >= 0 ? b : slots, talus_dot(c->impulse, c->normal)},
            slots, &first);
    }
    return first;
}

TalusStatus talus_world_sum_own_forces(const TalusWorld *world, double *force, int *touching,
                                       TalusForceSummary *summary)
{
    TALUS_TRY(talus_ranks_download(world));
    if (world->ranks.moved) /* sorting is not seen */
        TALUS_TRY(talus_ranks_sort_contacts(&((TalusWorld *)world)->ranks));
    TalusForceSums sums =
        talus_force_sums_begin(world, world->bodies.counts.slots + 1, force, touching);
    const int first = world->ranks.moved ? add_waiting(world, &sums) : add_listed(world, &sums);
    *summary = sums.summary;
    summary->contacts = first;
    return TALUS_OK;
}

/* The canonical order of contacts makes the sums depend on the state alone. */
TalusStatus talus_world_sum_forces(const TalusWorld *world, const int *living_index, double *force,
                                   int *touching, TalusForceSummary *summary)
{
    const int *row = living_index;
    TALUS_TRY(talus_world_download_contacts(world));
    TalusForceSums sums =
        talus_force_sums_begin(world, world->bodies.counts.living, force, touching);
    const TalusContactList *list = talus_world_contacts(world);
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (talus_contact_lives(&world->bodies, c))
            talus_force_sums_add(&sums, talus_normal_impulse(list, i), row ? row[c->a] : 0,
                                 row ? row[c->b] : 0);
    }
    *summary = talus_force_sums_end(&sums);
    return TALUS_OK;
}
