/* world/ranks/reach.c - where a body may touch others within a step, and how long a halo serves.
 *
 * A halo is made with reaches that are longer by a skin. It has all bodies that may touch own free ones as long as each
 * body's present sphere of reach lies in its longer one of then: |x - x_then| + reach <= reach_then + skin. */
#include "collide/grid_level.h"
#include "collide/period.h"
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"

#include <math.h>

/* Returns the velocity that detection uses for the body: the free or the solved one. */
static TalusVec3 velocity_of(const TalusWorld *world, int slot, const TalusDetectOptions *options,
                             const TalusSolvedMotions *motions)
{
    const TalusBodies *b = &world->bodies;
    const double h = options->h;
    if (motions)
        return motions->velocity[slot];
    if (!talus_slot_is_free(b, slot))
        return b->velocity[slot];
    TalusVec3 v = talus_madd(b->velocity[slot], h, world->def.gravity);
    if (slot < world->forces.count)
        v = talus_madd(v, h / b->mass[slot], world->forces.force[slot]);
    return v;
}

/* An envelope (collide/envelope.h) is at most the sum of two parts, each of one body: the closing speed is at most
 * |v_a| + |v_b|, the sliding speed likewise plus both surface speeds, and the pair's size is at most the sum of sizes. */
static double reach_of(const TalusWorld *world, int slot, const TalusDetectOptions *options,
                       double speed, double surface)
{
    const double rounding = 1.0 + 0x1p-30;
    const TalusBodies *b = &world->bodies;
    const double closing = talus_slot_is_sphere(world, slot) ? 0.0 : surface;
    const double speeds =
        speed + closing + options->friction * (speed + surface) + options->reference_speed;
    return rounding * (b->radius[slot] + options->envelope * b->size[slot] + options->h * speeds);
}

TalusReach talus_reach_of(const TalusWorld *world, int slot, const TalusDetectOptions *options,
                          const TalusSolvedMotions *motions)
{
    const TalusBodies *b = &world->bodies;
    TalusReach r = {b->position[slot], (double)INFINITY, 0.0, b->id[slot], b->mobility[slot]};
    if (!(b->radius[slot] > 0.0))
        return r;
    double speed = 0.0, surface = 0.0;
    if (b->mobility[slot] != TALUS_MOBILITY_FIXED) {
        const TalusVec3 spin = motions ? motions->spin[slot] : b->spin[slot];
        speed = talus_norm(velocity_of(world, slot, options, motions));
        surface = talus_norm(spin) * b->radius[slot];
        r.skin = TALUS_SKIN_SIZE * b->size[slot] +
                 fmin(TALUS_SKIN_STEPS * options->h * speed, TALUS_SKIN_MOTION * b->size[slot]);
    }
    r.length = reach_of(world, slot, options, speed, surface);
    return r;
}

TalusReachBox talus_reach_box(const TalusReach *r)
{
    const double length = r->length + r->skin;
    const TalusVec3 all = {length, length, length};
    return (TalusReachBox){talus_sub(r->position, all), talus_add(r->position, all)};
}

/* True if the sphere of reach lies in the longer one of then. */
static bool covers(const TalusPeriod *period, const TalusReach *then, const TalusReach *now)
{
    const TalusVec3 moved =
        talus_nearest_image_vector(period, talus_sub(now->position, then->position));
    return then->id == now->id && then->mobility == now->mobility &&
           now->length + talus_norm(moved) <= then->length + then->skin;
}

bool talus_ranks_halo_serves(const TalusWorld *world, const TalusDetectOptions *options,
                             const TalusSolvedMotions *motions)
{
    const TalusRanks *ranks = &world->ranks;
    const int slots = world->bodies.counts.slots;
    if (ranks->moved || ranks->reaches != slots || ranks->joints != world->joints.created)
        return false;
    for (int i = 0; i < slots; i++) {
        const TalusReach *then = &ranks->reach[i];
        const bool lives = world->bodies.shape[i] >= 0;
        if (!lives && then->id == 0)
            continue;
        if (!lives)
            return false;
        const TalusReach now = talus_reach_of(world, i, options, motions);
        if (!covers(&world->def.period, then, &now))
            return false;
    }
    return true;
}

TalusStatus talus_ranks_note_reaches(TalusWorld *world, const TalusDetectOptions *options,
                                     const TalusSolvedMotions *motions)
{
    TalusRanks *ranks = &world->ranks;
    const int slots = world->bodies.counts.slots;
    ranks->reaches = 0;
    TALUS_TRY(TALUS_GROW(ranks->reach, (size_t)slots + 1, 0, "halo"));
    for (int i = 0; i < slots; i++)
        ranks->reach[i] = world->bodies.shape[i] >= 0 ? talus_reach_of(world, i, options, motions)
                                                      : (TalusReach){0};
    ranks->reaches = slots;
    ranks->joints = world->joints.created; /* whose bodies are in all halos */
    return TALUS_OK;
}
