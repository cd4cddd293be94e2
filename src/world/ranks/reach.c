/* world/ranks/reach.c - where a body may touch others within a step. */
#include "world/ranks/ranks.h"
#include "world/state.h"

/* An envelope (collide/envelope.h) is at most the sum of two parts, each of one body: the closing speed is at most
 * |v_a| + |v_b|, the sliding speed likewise plus both surface speeds, and the pair's size is at most the sum of sizes. */
static double reach_of(const TalusWorld *world, int slot, const TalusDetectOptions *options,
                       TalusVec3 velocity, TalusVec3 spin)
{
    const double rounding = 1.0 + 0x1p-30;
    const TalusBodies *b = &world->bodies;
    const double radius = b->radius[slot];
    double speed = 0.0, surface = 0.0;
    if (b->mobility[slot] != TALUS_MOBILITY_FIXED) {
        speed = talus_norm(velocity);
        surface = talus_norm(spin) * radius;
    }
    const double closing = talus_slot_is_sphere(world, slot) ? 0.0 : surface;
    const double speeds =
        speed + closing + options->friction * (speed + surface) + options->reference_speed;
    return rounding * (radius + options->envelope * b->size[slot] + options->h * speeds);
}

TalusReachBox talus_reach_of(const TalusWorld *world, int slot, const TalusDetectOptions *options,
                             TalusVec3 velocity, TalusVec3 spin)
{
    const TalusVec3 x = world->bodies.position[slot];
    double reach = (double)INFINITY;
    if (world->bodies.radius[slot] > 0.0)
        reach = reach_of(world, slot, options, velocity, spin);
    const TalusVec3 all = {reach, reach, reach};
    return (TalusReachBox){talus_sub(x, all), talus_add(x, all)};
}
