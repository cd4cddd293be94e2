/* world/ranks/reach.c - the reaches of this rank's bodies (engine/reach.h), on the host: where each body may touch others
 * within a step, and whether the halo that was made with them still serves. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"
#include "base/profile.h"
#include "base/timer.h"

#include <math.h>

/* Returns a velocity relative to the flow of a cell that deforms: before a part that of the part before, which free
 * velocities change to that of the part. */
static TalusVec3 relative_to_flow(const TalusWorld *world, int slot, TalusVec3 v, bool solved)
{
    const TalusCell *cell = &world->cell.now.cell;
    if (!world->def.cell.on)
        return v;
    return talus_sub(v, talus_flow_at(solved ? &cell->now : &cell->last, cell->centre,
                                      world->bodies.position[slot]));
}

/* Returns the velocity that detection uses for the body: the free or the solved one. */
static TalusVec3 velocity_of(const TalusWorld *world, int slot, const TalusDetectOptions *options,
                             const TalusSolvedMotions *motions)
{
    const TalusBodies *b = &world->bodies;
    const double h = options->h;
    if (motions)
        return relative_to_flow(world, slot, motions->velocity[slot], true);
    if (!talus_slot_is_free(b, slot))
        return b->velocity[slot];
    TalusVec3 v = relative_to_flow(world, slot, b->velocity[slot], false);
    v = talus_madd(v, h, world->def.gravity);
    if (slot < world->forces.count)
        v = talus_madd(v, h / b->mass[slot], world->forces.force[slot]);
    return v;
}

TalusReach talus_reach_of(const TalusWorld *world, int slot, const TalusReachOptions *options,
                          const TalusSolvedMotions *motions)
{
    const TalusBodies *b = &world->bodies;
    const TalusReachBody body = {
        .position = b->position[slot],
        .velocity = velocity_of(world, slot, &options->detect, motions),
        .spin = motions ? motions->spin[slot] : b->spin[slot],
        .radius = b->radius[slot],
        .size = b->size[slot],
        .id = b->id[slot],
        .mobility = b->mobility[slot],
        .is_sphere = talus_slot_is_sphere(world, slot),
    };
    return talus_reach_of_body(&body, options);
}

/* ---- the common motion ---- */

TalusReachSpace talus_ranks_space(const TalusWorld *world)
{
    const TalusRanks *ranks = &world->ranks;
    const TalusPeriod *now = &world->def.period;
    if (world->def.cell.on && ranks->reaches > 0)
        return talus_reach_space(&ranks->period_then, now, world->cell.now.cell.centre);
    return (TalusReachSpace){.period = *now, .stretch = 1.0};
}

/* Sums over this rank's free bodies. */
static TalusReachMotion sum_motion(const TalusWorld *world)
{
    const TalusBodies *b = &world->bodies;
    const TalusRanks *ranks = &world->ranks;
    const TalusReachSpace space = talus_ranks_space(world);
    TalusReachMotion sum = {0};
    for (int i = 0; i < b->counts.slots; i++) {
        TalusVec3 moved = {0.0, 0.0, 0.0};
        if (!talus_slot_is_free(b, i))
            continue;
        if (i < ranks->reaches && ranks->reach[i].id == b->id[i])
            moved = talus_reach_moved(&space, &ranks->reach[i], b->position[i]);
        const TalusVec3 v = relative_to_flow(world, i, b->velocity[i], false);
        for (int axis = 0; axis < 3; axis++) {
            sum.velocity[axis] += talus_along(v, axis);
            sum.moved[axis] += talus_along(moved, axis);
        }
        sum.bodies += 1.0;
    }
    return sum;
}

/* Returns the means of all ranks' bodies. Exact sums of what each rank has: the same on all of them. */
static TalusReachMotion find_means(const TalusWorld *world, const TalusReachMotion *own)
{
    const double *term = (const double *)own;
    TalusSum sum[sizeof *own / sizeof *term] = {0};
    TalusReachMotion mean = {0};
    double *out = (double *)&mean;
    const int terms = (int)(sizeof *own / sizeof *term);
    for (int k = 0; k < terms; k++)
        talus_sum_add(&sum[k], &term[k], 1);
    talus_comm_add_sums(world->ranks.comm, sum, terms);
    const double bodies = talus_sum_value(&sum[terms - 1]);
    for (int k = 0; k < terms && bodies > 0.0; k++)
        out[k] = talus_sum_value(&sum[k]) / bodies;
    return mean;
}

/* Returns the vector, 0 if it is not finite. */
static TalusVec3 finite_vector(const double x[3])
{
    const TalusVec3 v = {x[0], x[1], x[2]};
    return talus_finite3(v) ? v : talus_vec3(0.0, 0.0, 0.0);
}

TalusStatus talus_ranks_find_drift(TalusWorld *world, bool by_engine)
{
    TalusRanks *ranks = &world->ranks;
    TalusReachMotion own = {0};
    TalusStatus status = TALUS_OK;
    if (by_engine)
        status = world->engine.ops->sum_motions(world->engine.self, talus_ranks_space(world), &own);
    else
        own = sum_motion(world);
    TALUS_TRY(talus_comm_agree(ranks->comm, status));
    const TalusReachMotion mean = find_means(world, &own);
    ranks->drift = finite_vector(mean.velocity);
    ranks->shift = finite_vector(mean.moved);
    return TALUS_OK;
}

static TalusReachOptions options_with(const TalusWorld *world, const TalusDetectOptions *options,
                                      TalusVec3 drift)
{
    const bool shares = talus_world_shares_arrays(world);
    return (TalusReachOptions){.detect = *options,
                               .drift = drift,
                               .skin = shares ? TALUS_SKIN_SIZE : TALUS_SKIN_OF_ENGINE};
}

TalusReachOptions talus_ranks_reach_options(const TalusWorld *world,
                                            const TalusDetectOptions *options)
{
    return options_with(world, options, world->ranks.drift);
}

void talus_ranks_reach_tests(const TalusWorld *world, const TalusDetectOptions *options,
                             TalusReachTest test[TALUS_REACH_TESTS])
{
    const TalusRanks *ranks = &world->ranks;
    const TalusReachSpace space = talus_ranks_space(world);
    test[0] = (TalusReachTest){options_with(world, options, ranks->drift_then), space,
                               talus_vec3(0.0, 0.0, 0.0)};
    test[1] = (TalusReachTest){options_with(world, options, ranks->drift), space, ranks->shift};
}

/* ---- how long a halo serves ---- */

/* True if all bodies of this rank pass the test. */
static bool all_pass(const TalusWorld *world, const TalusReachTest *test,
                     const TalusSolvedMotions *motions)
{
    for (int i = 0; i < world->bodies.counts.slots; i++) {
        const TalusReach *then = &world->ranks.reach[i];
        const bool lives = world->bodies.shape[i] >= 0;
        if (!lives && then->id == 0)
            continue;
        if (!lives)
            return false;
        const TalusReach now = talus_reach_of(world, i, &test->options, motions);
        if (!talus_reach_covers(&test->space, then, &now, test->shift))
            return false;
    }
    return true;
}

bool talus_ranks_halo_is_known(const TalusWorld *world)
{
    const TalusRanks *ranks = &world->ranks;
    return !ranks->moved && ranks->reaches == world->bodies.counts.slots &&
           ranks->joints == world->joints.created;
}

bool talus_ranks_halo_passes(const TalusWorld *world, const TalusDetectOptions *options,
                             const TalusSolvedMotions *motions, int test)
{
    TalusReachTest tests[TALUS_REACH_TESTS];
    const double start = talus_now();
    talus_ranks_reach_tests(world, options, tests);
    const bool passes = talus_ranks_halo_is_known(world) && all_pass(world, &tests[test], motions);
    talus_profile_add_since("reach.c:all_pass", start);
    return passes;
}

void talus_ranks_note_halo(TalusWorld *world)
{
    TalusRanks *ranks = &world->ranks;
    ranks->reaches = world->bodies.counts.slots;
    ranks->drift_then = ranks->drift;
    ranks->period_then = world->def.period;
    ranks->shift = talus_vec3(0.0, 0.0, 0.0);
    ranks->joints = world->joints.created; /* whose bodies are in all halos */
}

TalusStatus talus_ranks_note_reaches(TalusWorld *world, const TalusDetectOptions *options,
                                     const TalusSolvedMotions *motions)
{
    const TalusReachOptions reach = talus_ranks_reach_options(world, options);
    TalusRanks *ranks = &world->ranks;
    const int slots = world->bodies.counts.slots;
    ranks->reaches = 0;
    TALUS_TRY(TALUS_GROW(ranks->reach, (size_t)slots + 1, 0, "halo"));
    for (int i = 0; i < slots; i++)
        ranks->reach[i] = world->bodies.shape[i] >= 0 ? talus_reach_of(world, i, &reach, motions)
                                                      : (TalusReach){0};
    talus_ranks_note_halo(world);
    return TALUS_OK;
}
