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
 * impulse, and all do while the compliance changes. */
#include "world/step/sleep.h"
#include "world/state.h"
#include "world/step/wake.h"

#include "collide/period.h"
#include "geometry/bounds.h"

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
    TALUS_TRY(TALUS_GROW(s->jointed, (size_t)talus_joints_list_pairs(world, NULL, 0), 0,
                         "sleeping bodies"));
    if (slots <= have)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(s->calm, slots, have, "sleeping bodies"));
    TALUS_TRY(TALUS_GROW(s->island, slots, have, "sleeping bodies"));
    TALUS_TRY(TALUS_GROW(s->restless, slots, have, "sleeping bodies"));
    TALUS_TRY(TALUS_GROW(s->woken, slots, have, "sleeping bodies"));
    for (; s->slots < (int)slots; s->slots++) {
        s->calm[s->slots] = 0;
        s->island[s->slots] = s->slots;
    }
    return TALUS_OK;
}

void talus_sleep_clear(TalusWorld *world)
{
    TALUS_RELEASE(world->sleep.calm, world->sleep.island, world->sleep.restless,
                  world->sleep.jointed, world->sleep.woken);
    world->sleep = (TalusSleep){0};
}

/* ---- waking ---- */

/* True if a moving driven body may reach the slot's body within a step: the box around the driven body, widened by its
 * motion and the other's radius, contains the other's centre. */
static bool is_near_driven(const TalusWorld *world, int slot)
{
    const TalusBodies *b = &world->bodies;
    TalusVec3 x = b->position[slot];
    for (int k = 0; k < world->drives; k++) {
        int d = world->drive[k].slot;
        double speed = talus_norm(b->velocity[d]) + talus_norm(b->spin[d]);
        if (b->shape[d] < 0 || speed == 0.0)
            continue;
        TalusAabb box = talus_shape_bounds(&world->shape[b->shape[d]], b->radius[d], b->position[d],
                                           b->orientation[d]);
        TalusVec3 middle = talus_scale(0.5, talus_add(box.lo, box.hi));
        TalusVec3 half = talus_scale(0.5, talus_sub(box.hi, box.lo));
        TalusVec3 way = talus_nearest_image_vector(&world->def.period, talus_sub(x, middle));
        double surface_speed = talus_norm(b->velocity[d]) + talus_norm(b->spin[d]) * b->radius[d];
        double reach =
            b->radius[slot] * (1.0 + world->def.envelope) + world->def.step * surface_speed;
        bool apart = fabs(way.x) > half.x + reach || fabs(way.y) > half.y + reach ||
                     fabs(way.z) > half.z + reach;
        if (!apart) /* also true if bounds are not finite, as those of planes */
            return true;
    }
    return false;
}

TalusStatus talus_sleep_wake_disturbed(TalusWorld *world, bool *woken)
{
    TalusSleep *s = &world->sleep;
    const TalusBodies *b = &world->bodies;
    uint8_t *stirred = s->restless; /* by island */
    int before = s->asleep;
    *woken = false;
    if (before == 0)
        return TALUS_OK;
    TALUS_TRY(talus_world_download_bodies(world));
    TALUS_TRY(talus_world_download_contacts(world));
    const TalusContactList *list = talus_world_contacts(world);
    memset(stirred, 0, (size_t)s->slots);
    for (int i = 0; i < list->count; i++) {
        const TalusContact *c = &list->contact[i];
        if (talus_slot_is_asleep(b, (int)c->b) && s->calm[c->a] == 0)
            stirred[s->island[c->b]] = 1;
    }
    for (int i = 0; world->drives > 0 && i < s->slots; i++)
        if (talus_slot_is_asleep(b, i) && !stirred[s->island[i]] && is_near_driven(world, i))
            stirred[s->island[i]] = 1;
    for (int i = 0; i < s->slots; i++)
        if (talus_slot_is_asleep(b, i) && stirred[s->island[i]])
            talus_slot_wake_alone(world, i);
    *woken = s->asleep < before;
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

/* Finds the islands of awake bodies, as a forest in `island`. Sets restless[root] of an island that must stay awake:
 * one of its bodies has no contact with an impulse, has a joint, has been calm for fewer than sleep_steps steps or is
 * near a driven body. */
static void find_islands(TalusWorld *world)
{
    TalusSleep *s = &world->sleep;
    const TalusBodies *b = &world->bodies;
    const TalusContactList *list = talus_world_contacts(world);
    for (int i = 0; i < s->slots; i++) {
        if (talus_slot_is_asleep(b, i))
            continue;
        s->island[i] = i;
        s->restless[i] = 1;
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
        if (talus_slot_is_free(b, i) && (s->restless[i] || s->calm[i] < world->def.sleep_steps ||
                                         (world->drives > 0 && is_near_driven(world, i))))
            s->restless[talus_slot_root(s->island, i)] = 1;
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
    double total = talus_sum_value(&kinetic);
    world->exchange_kinetic -= total;
    world->info.ledger.kinetic -= total;
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
    if (any && !talus_compliance_changes(world)) {
        find_islands(world);
        for (int i = 0; i < s->slots; i++)
            if (talus_slot_is_free(b, i))
                s->island[i] = talus_slot_root(s->island, i);
        put_islands_to_sleep(world);
    }
    world->info.asleep = s->asleep;
    world->info.sleep_speed = s->asleep > 0 ? sleep_limit(world) : 0.0;
}

/* The engine's potential energy is that of free bodies only. */
double talus_sleep_potential(const TalusWorld *world)
{
    const TalusBodies *b = &world->bodies;
    TalusSum sum = {0};
    for (int i = 0; world->sleep.asleep > 0 && i < b->counts.slots; i++)
        if (talus_slot_is_asleep(b, i)) {
            double potential = -b->mass[i] * talus_dot(world->def.gravity, b->position[i]);
            talus_sum_add(&sum, &potential, 1);
        }
    return talus_sum_value(&sum);
}
