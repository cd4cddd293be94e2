/* world/step/sleep.c - sleep: settled bodies are left out of the steps.
 *
 * A body is calm while |v| + |w| r stays below sleep_speed times the reference speed; r is its radius. An island is a
 * set of bodies connected by contacts that transmit impulses. It falls asleep when all its bodies have been calm for
 * sleep_steps steps: their velocities become 0, and they count as fixed. An island wakes when a body that is not calm
 * has a contact with it, when a driven body moves nearby, and in most calls that change the world: those of
 * talus_wake_all wake all islands, talus_slot_wake wakes one.
 *
 * Sleep neglects motion slower than the limit of calm, which is reported as TalusStepInfo.sleep_speed, and the load of
 * calm awake bodies on sleeping ones. An island stays awake while one of its bodies has a joint or no contact with an
 * impulse, and all do while the compliance changes.
 *
 * On several ranks islands have bodies of several ranks. Their numbers name islands, and what disturbs one is told to
 * all ranks. */
#include "world/step/sleep.h"
#include "world/ids.h"
#include "world/state.h"
#include "world/step/wake.h"

#include "collide/period.h"
#include "geometry/bounds.h"

#include <stdlib.h>
#include <string.h>

/* Returns the limit of calm, m/s. */
static double sleep_limit(const TalusWorld *world)
{
    return world->def.sleep_speed * world->reference_speed;
}

TalusStatus talus_sleep_reserve(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    size_t slots = (size_t)world->bodies.counts.slots, have = (size_t)s->slots;
    if (world->def.sleep_speed == 0.0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(s->jointed, (size_t)world->joints.count, 0, "sleeping bodies"));
    if (slots <= have)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(s->calm, slots, have, "sleeping bodies"));
    TALUS_TRY(TALUS_GROW(s->island, slots, have, "sleeping bodies"));
    TALUS_TRY(TALUS_GROW(s->label, slots, have, "sleeping bodies"));
    TALUS_TRY(TALUS_GROW(s->restless, slots, have, "sleeping bodies"));
    TALUS_TRY(TALUS_GROW(s->woken, slots, have, "sleeping bodies"));
    for (; s->slots < (int)slots; s->slots++) {
        s->calm[s->slots] = 0;
        s->island[s->slots] = s->slots;
        s->label[s->slots] = 0;
    }
    return TALUS_OK;
}

void talus_sleep_clear(TalusWorld *world)
{
    TALUS_RELEASE(world->sleep.calm, world->sleep.island, world->sleep.label, world->sleep.restless,
                  world->sleep.driven, world->sleep.jointed, world->sleep.woken);
    world->sleep = (TalusSleep){0};
}

void talus_sleep_name_islands(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    for (int i = 0; i < s->slots; i++)
        if (talus_slot_is_asleep(&world->bodies, i))
            s->label[i] = world->bodies.id[s->island[i]];
}

void talus_sleep_place_islands(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    for (int i = 0; i < s->slots; i++)
        if (talus_slot_is_asleep(&world->bodies, i))
            s->island[i] = talus_slot_of(world, (TalusBodyId){s->label[i]});
}

/* ---- waking ---- */

/* Replaces the driven bodies of this rank in s->driven by those of all ranks. */
static TalusStatus share_driven(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    TalusInbox inbox = {0};
    const size_t element = sizeof *s->driven, bytes = (size_t)s->driven_count * element;
    TalusStatus status = talus_comm_gather(world->ranks.comm, s->driven, bytes, &inbox);
    s->driven_count = 0;
    for (int m = 0; status == TALUS_OK && m < inbox.count; m++) {
        if (inbox.message[m].bytes > 0)
            memcpy(s->driven + s->driven_count, inbox.message[m].data, inbox.message[m].bytes);
        s->driven_count += (int)(inbox.message[m].bytes / element);
    }
    talus_inbox_clear(&inbox);
    return status;
}

/* Sets s->driven to the driven bodies that move. */
static TalusStatus find_driven(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    const TalusBodies *b = &world->bodies;
    s->driven_count = 0;
    if (world->drives == 0)
        return TALUS_OK;
    TALUS_TRY(talus_comm_agree(world->ranks.comm,
                               TALUS_GROW(s->driven, (size_t)world->drives, 0, "sleeping bodies")));
    for (int k = 0; k < world->drives; k++) {
        const int d = world->drive[k].slot;
        if (d >= 0 && talus_drive_is_first(world->drive, k) && b->shape[d] >= 0 &&
            talus_norm(b->velocity[d]) + talus_norm(b->spin[d]) > 0.0)
            talus_body_pack(world, d, &s->driven[s->driven_count++]);
    }
    return talus_world_is_dealt(world) ? share_driven(world) : TALUS_OK;
}

/* True if a body of s->driven may reach the slot's body within a step: the box around the driven body, widened by its
 * motion and the other's radius, contains the other's centre. */
static bool is_near_driven(const TalusWorld *world, int slot)
{
    const TalusBodies *b = &world->bodies;
    TalusVec3 x = b->position[slot];
    for (int k = 0; k < world->sleep.driven_count; k++) {
        const TalusBodyRecord *d = &world->sleep.driven[k];
        TalusAabb box =
            talus_shape_bounds(&world->shape[d->shape], d->radius, d->position, d->orientation);
        TalusVec3 middle = talus_scale(0.5, talus_add(box.lo, box.hi));
        TalusVec3 half = talus_scale(0.5, talus_sub(box.hi, box.lo));
        TalusVec3 way = talus_nearest_image_vector(&world->def.period, talus_sub(x, middle));
        double surface_speed = talus_norm(d->velocity) + talus_norm(d->spin) * d->radius;
        double reach =
            b->radius[slot] * (1.0 + world->def.envelope) + world->def.step * surface_speed;
        bool apart = fabs(way.x) > half.x + reach || fabs(way.y) > half.y + reach ||
                     fabs(way.z) > half.z + reach;
        if (!apart) /* also true if bounds are not finite, as those of planes */
            return true;
    }
    return false;
}

/* Wakes the islands that something disturbs. */
static void wake_islands(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    const TalusBodies *b = &world->bodies;
    uint8_t *stirred = s->restless; /* by island */
    const TalusContactList *list = talus_world_contacts(world);
    memset(stirred, 0, (size_t)s->slots);
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (talus_slot_is_asleep(b, (int)c->b) && s->calm[c->a] == 0)
            stirred[s->island[c->b]] = 1;
    }
    for (int i = 0; s->driven_count > 0 && i < s->slots; i++)
        if (talus_slot_is_asleep(b, i) && !stirred[s->island[i]] && is_near_driven(world, i))
            stirred[s->island[i]] = 1;
    for (int i = 0; i < s->slots; i++)
        if (talus_slot_is_asleep(b, i) && stirred[s->island[i]])
            talus_slot_wake_alone(world, i);
}

/* Sets *out to an array, which the caller releases, of the labels of the islands that this rank sees disturbed. A body that
 * is not calm is seen by its owner. */
static TalusStatus list_disturbed(const TalusWorld *world, uint64_t **out, int64_t *count)
{
    const TalusSleep *s = &world->sleep;
    const TalusBodies *b = &world->bodies;
    const TalusContactList *list = talus_world_contacts(world);
    *count = 0;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)list->count + (size_t)s->slots + 1, "sleeping bodies"));
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if ((int)c->a < s->slots && talus_slot_is_asleep(b, (int)c->b) && s->calm[c->a] == 0)
            (*out)[(*count)++] = s->label[c->b];
    }
    for (int i = 0; s->driven_count > 0 && i < s->slots; i++)
        if (talus_slot_is_asleep(b, i) && is_near_driven(world, i))
            (*out)[(*count)++] = s->label[i];
    return TALUS_OK;
}

static int compare_labels(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Wakes the islands that some rank sees disturbed. */
static TalusStatus wake_islands_of_ranks(TalusWorld *world)
{
    const TalusSleep *s = &world->sleep;
    uint64_t *disturbed = NULL;
    int64_t count;
    TalusStatus status =
        talus_comm_agree(world->ranks.comm, list_disturbed(world, &disturbed, &count));
    TALUS_THEN(status, talus_ranks_gather_numbers(world->ranks.comm, &disturbed, &count));
    if (status == TALUS_OK && count > 0) {
        qsort(disturbed, (size_t)count, sizeof *disturbed, compare_labels);
        for (int i = 0; i < s->slots; i++)
            if (talus_slot_is_asleep(&world->bodies, i) &&
                bsearch(&s->label[i], disturbed, (size_t)count, sizeof *disturbed, compare_labels))
                talus_slot_wake_alone(world, i);
    }
    talus_release(disturbed);
    return status;
}

TalusStatus talus_sleep_wake_disturbed(TalusWorld *world, bool *woken)
{
    const int before = world->sleep.asleep;
    *woken = false;
    if (!talus_any_asleep(world))
        return TALUS_OK;
    TALUS_TRY(talus_world_download_bodies(world));
    TALUS_TRY(talus_world_download_contacts(world));
    TALUS_TRY(find_driven(world));
    if (talus_world_is_dealt(world))
        TALUS_TRY(wake_islands_of_ranks(world));
    else
        wake_islands(world);
    *woken = talus_comm_any(world->ranks.comm, world->sleep.asleep < before);
    return TALUS_OK;
}

/* ---- rollback ---- */

void talus_sleep_begin_step(TalusWorld *world)
{
    world->sleep.woken_count = 0;
}

void talus_sleep_rollback(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    int slots = world->bodies.counts.slots;
    if (s->woken_count > 0)
        (void)talus_world_mark_bodies_dirty(world); /* a failed device fails later calls too */
    for (int i = 0; i < s->woken_count; i++) {
        TalusWokenBody woken = s->woken[i];
        world->bodies.mobility[woken.slot] = TALUS_MOBILITY_ASLEEP;
        s->calm[woken.slot] = woken.calm;
    }
    s->asleep += s->woken_count;
    s->woken_count = 0;
    s->slots = s->slots < slots ? s->slots : slots; /* arrivals were removed */
}

/* ---- falling asleep ---- */

/* Joins the islands of two bodies; the lowest slot represents an island. */
static void join_islands(int32_t *island, int a, int b)
{
    a = talus_slot_root(island, a);
    b = talus_slot_root(island, b);
    island[a > b ? a : b] = a > b ? b : a;
}

/* True if the impulse of contact i is not 0. */
static bool has_impulse(const TalusContactList *list, int i)
{
    TalusVec3 p = list->impulse[i];
    return p.x != 0.0 || p.y != 0.0 || p.z != 0.0;
}

/* Finds the islands of awake bodies, of the halo too, as a forest in `island`. Sets restless[root] of an island that must
 * stay awake: one of its bodies on this rank has no contact with an impulse, has a joint, has been calm for fewer than
 * sleep_steps steps or is near a driven body. */
static void find_islands(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    const TalusBodies *b = &world->bodies;
    const TalusContactList *list = talus_world_contacts(world);
    for (int i = 0; i < s->slots + world->ranks.halo; i++) {
        if (talus_slot_is_asleep(b, i))
            continue;
        s->island[i] = i;
        s->restless[i] = i < s->slots;
    }
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (!has_impulse(list, i))
            continue;
        s->restless[c->a] = 0;
        if (talus_slot_is_free(b, (int)c->b)) {
            s->restless[c->b] = 0;
            join_islands(s->island, (int)c->a, (int)c->b);
        }
    }
    int joints = talus_joints_list_pairs(world, s->jointed, (int)TALUS_CAPACITY(s->jointed));
    for (int k = 0; k < 2 * joints; k++)
        if (s->jointed[k / 2][k % 2] >= 0)
            s->restless[s->jointed[k / 2][k % 2]] = 1;
    for (int i = 0; i < s->slots; i++)
        if (talus_slot_is_free(b, i) &&
            (s->restless[i] || s->calm[i] < world->def.sleep_steps || is_near_driven(world, i)))
            s->restless[talus_slot_root(s->island, i)] = 1;
    for (int i = 0; i < s->slots + world->ranks.halo; i++)
        if (talus_slot_is_free(b, i))
            s->island[i] = talus_slot_root(s->island, i);
}

/* Finds the islands of all ranks: labels of awake bodies, and restless[island[i]] of an island that some rank wants
 * awake. */
static TalusStatus find_islands_of_ranks(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    const size_t own = (size_t)s->slots, all = own + (size_t)world->ranks.halo;
    TalusStatus status = TALUS_GROW(s->island, all, own, "sleeping bodies");
    TALUS_THEN(status, TALUS_GROW(s->restless, all, own, "sleeping bodies"));
    TALUS_TRY(talus_comm_agree(world->ranks.comm, status));
    find_islands(world);
    return talus_ranks_join_islands(world, s->island, s->restless, s->label);
}

/* Sets the body's velocities to 0 and its mobility to asleep, and adds its kinetic energy to *kinetic. */
static void put_to_sleep(TalusWorld *world, int slot, TalusSum *kinetic)
{
    TalusBodies *b = &world->bodies;
    double own = talus_slot_kinetic(world, slot);
    talus_sum_add(kinetic, &own, 1);
    b->velocity[slot] = b->spin[slot] = talus_vec3(0.0, 0.0, 0.0);
    b->mobility[slot] = TALUS_MOBILITY_ASLEEP;
    world->mirror.bodies_dirty = true;
    world->sleep.asleep++;
}

/* Puts all bodies of islands that are not restless to sleep. Subtracts their kinetic energy, an exact sum, which does not
 * depend on the order of bodies, in the ledger. */
static void put_islands_to_sleep(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    TalusSum kinetic = {0};
    for (int i = 0; i < s->slots; i++)
        if (talus_slot_is_free(&world->bodies, i) && !s->restless[s->island[i]])
            put_to_sleep(world, i, &kinetic);
    talus_comm_add_sums(world->ranks.comm, &kinetic, 1);
    double total = talus_sum_value(&kinetic);
    world->exchange_kinetic -= total;
    world->info.ledger.kinetic -= total;
}

/* Puts the islands to sleep that may. If memory is lacking or another rank fails, nothing changes. */
static void let_sleep(TalusWorld *world)
{
    TalusStatus status = find_driven(world);
    if (status == TALUS_OK && talus_world_is_dealt(world))
        status = find_islands_of_ranks(world);
    else if (status == TALUS_OK)
        find_islands(world);
    if (status == TALUS_OK)
        put_islands_to_sleep(world);
}

/* If the state cannot be downloaded, nothing changes; the device keeps its error, and the next step returns it. */
void talus_sleep_update(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    const TalusBodies *b = &world->bodies;
    bool any = false;
    if (world->def.sleep_speed == 0.0)
        return;
    s->woken_count = 0;
    talus_world_refresh(world, true);
    if (world->mirror.bodies_stale || world->mirror.contacts_stale)
        return;
    for (int i = 0; i < s->slots; i++) {
        if (!talus_slot_is_free(b, i))
            continue;
        double speed = talus_norm(b->velocity[i]) + talus_norm(b->spin[i]) * b->radius[i];
        s->calm[i] = speed < sleep_limit(world) ? s->calm[i] + (s->calm[i] < INT32_MAX) : 0;
        any |= s->calm[i] >= world->def.sleep_steps;
    }
    if (talus_comm_any(world->ranks.comm, any) && !talus_compliance_changes(world))
        let_sleep(world);
    int64_t asleep = s->asleep;
    (void)talus_comm_add_counts(world->ranks.comm, &asleep, 1); /* the next step fails, too */
    world->info.asleep = asleep;
    world->info.sleep_speed = asleep > 0 ? sleep_limit(world) : 0.0;
}

/* The engine's potential energy is that of free bodies only. */
double talus_sleep_potential(const TalusWorld *world)
{
    const TalusBodies *b = &world->bodies;
    TalusSum sum = {0};
    if (!talus_any_asleep(world))
        return 0.0;
    for (int i = 0; world->sleep.asleep > 0 && i < b->counts.slots; i++)
        if (talus_slot_is_asleep(b, i)) {
            double potential = -b->mass[i] * talus_dot(world->def.gravity, b->position[i]);
            talus_sum_add(&sum, &potential, 1);
        }
    talus_comm_add_sums(world->ranks.comm, &sum, 1);
    return talus_sum_value(&sum);
}
