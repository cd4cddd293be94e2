/* io/scene/scene_avoid.c - places of an entry beside bodies that are there.
 *
 * A body counts with the ball around it, as in a random fill, so that it may have any orientation; bodies that are there count
 * with their shapes. Of a random fill the bodies that overlap are drawn again, ROUNDS times at most, among those that do not.
 * The result depends on the seed and on the bodies alone, not on the number of ranks. */
#include "io/scene/scene_avoid.h"

#include "base/memory.h"
#include "world/source/obstacle.h"
#include "world/state.h"

#include <math.h>
#include <stdio.h>

enum { ROUNDS = 400 };

/* What the functions of this file share. */
typedef struct Avoiding {
    TalusWorld *world;
    ScenePlaces *places;
    TalusVec3 shift;
    TalusObstacles obstacles;
    /* [places->count]: */
    double *bound;      /* radii of the balls around the bodies */
    TalusVec3 *shifted; /* positions in the world */
    int64_t *overlaps;  /* above 0: the ball overlaps a body */
} Avoiding;

/* Makes all places of a lattice or of layers, and keeps them. */
static TalusStatus keep_all(ScenePlaces *places)
{
    ScenePiece all;
    if (places->kind == SCENE_PLACES_KEPT)
        return TALUS_OK;
    TalusStatus status = talus_scene_allocate_piece(places, places->count, &all);
    if (status == TALUS_OK)
        talus_scene_get_piece(places, 0, places->count, &all);
    places->position = all.position;
    places->radius = all.radius;
    places->form = all.form;
    places->kind = SCENE_PLACES_KEPT;
    return status;
}

static TalusStatus prepare(Avoiding *a)
{
    ScenePlaces *p = a->places;
    const size_t count = (size_t)p->count;
    TALUS_TRY(keep_all(p));
    TALUS_TRY(TALUS_ALLOC(a->bound, count, "bodies of a scene"));
    TALUS_TRY(TALUS_ALLOC(a->shifted, count, "bodies of a scene"));
    TALUS_TRY(TALUS_ALLOC(a->overlaps, count, "bodies of a scene"));
    for (int i = 0; i < p->count; i++)
        a->bound[i] = talus_scene_bound(p, i);
    return TALUS_OK;
}

/* Collects the bodies near the region: the box of a fill, else that around the places. */
static TalusStatus gather(Avoiding *a, int copy)
{
    const ScenePlaces *p = a->places;
    TalusVec3 lo = talus_vec3(INFINITY, INFINITY, INFINITY), hi = talus_scale(-1.0, lo);
    for (int i = 0; !p->body->fill && i < p->count; i++) {
        TalusVec3 r = talus_vec3(a->bound[i], a->bound[i], a->bound[i]), x = p->position[i];
        TalusVec3 down = talus_sub(x, r), up = talus_add(x, r);
        lo = talus_vec3(fmin(lo.x, down.x), fmin(lo.y, down.y), fmin(lo.z, down.z));
        hi = talus_vec3(fmax(hi.x, up.x), fmax(hi.y, up.y), fmax(hi.z, up.z));
    }
    if (p->body->fill) {
        const TalusFill fill = talus_scene_make_fill(p->body, 0);
        const TalusVec3 across = talus_vec3(fill.radius, fill.radius, 0.0);
        lo = talus_sub(fill.lo, across);
        hi = talus_add(fill.hi, across);
    }
    return talus_obstacles_gather(a->world, talus_add(lo, a->shift), talus_add(hi, a->shift), copy,
                                  &a->obstacles);
}

/* Marks the places that overlap bodies; *marked is their number. */
static TalusStatus mark(Avoiding *a, int *marked)
{
    const ScenePlaces *p = a->places;
    *marked = 0;
    for (int i = 0; i < p->count; i++)
        a->shifted[i] = talus_add(p->position[i], a->shift);
    TALUS_TRY(
        talus_obstacles_mark(a->world, &a->obstacles, p->count, a->shifted, a->bound, a->overlaps));
    for (int i = 0; i < p->count; i++)
        *marked += a->overlaps[i] > 0;
    return TALUS_OK;
}

/* Fails because too few places are free; says where there is room. */
static TalusStatus fail_room(const Avoiding *a, const TalusJson *json, int fitted)
{
    char above[80] = "";
    if (isfinite(a->obstacles.top))
        snprintf(above, sizeof above, ", which reach up to z = %.4g here: place them above, or",
                 a->obstacles.top - a->shift.z);
    return talus_json_fail(json, 0,
                           "%d of %d bodies fitted beside the bodies that are there%s use fewer or "
                           "smaller ones, or a larger region",
                           fitted, a->places->count, above[0] ? above : ":");
}

/* ---- lattices and layers ---- */

/* Drops the marked places. */
static void drop_marked(const Avoiding *a)
{
    ScenePlaces *p = a->places;
    int left = 0;
    for (int i = 0; i < p->count; i++) {
        if (a->overlaps[i] > 0)
            continue;
        p->position[left] = p->position[i];
        if (p->radius)
            p->radius[left] = p->radius[i];
        if (p->form)
            p->form[left] = p->form[i];
        left++;
    }
    p->count = left;
}

static TalusStatus leave_out(const Avoiding *a, int marked)
{
    const TalusJson *json = a->places->body->json;
    char path[256];
    if (marked == a->places->count)
        return fail_room(a, json, 0);
    if (marked == 0)
        return TALUS_OK;
    talus_json_write_path(json, path, sizeof path);
    talus_log(TALUS_LOG_WARNING, "scene.avoid",
              "%s: %d of %d places overlap bodies that are there, and are left out", path, marked,
              a->places->count);
    drop_marked(a);
    return TALUS_OK;
}

/* ---- random fills ---- */

/* Draws the marked bodies again until none is marked. */
static TalusStatus draw_again(Avoiding *a, int marked)
{
    ScenePlaces *p = a->places;
    for (int round = 1; marked > 0; round++) {
        int64_t placed = 0;
        const uint64_t seed = talus_hash_mix(p->seed + (uint64_t)round);
        const TalusFill fill = talus_scene_make_fill(p->body, seed);
        TALUS_TRY(talus_comm_agree(a->world->ranks.comm,
                                   talus_generate_fill_again(&fill, p->count, a->bound, a->overlaps,
                                                             p->position, &placed)));
        if (placed < marked || round == ROUNDS)
            return fail_room(a, p->body->fill->json, p->count - marked);
        TALUS_TRY(mark(a, &marked));
    }
    return TALUS_OK;
}

TalusStatus talus_scene_avoid_bodies(TalusWorld *world, int copy, TalusVec3 shift,
                                     ScenePlaces *places)
{
    Avoiding a = {.world = world, .places = places, .shift = shift};
    int marked = 0;
    TalusStatus status = talus_comm_agree(world->ranks.comm, prepare(&a));
    TALUS_THEN(status, gather(&a, copy));
    TALUS_THEN(status, mark(&a, &marked));
    if (places->body->fill)
        TALUS_THEN(status, draw_again(&a, marked));
    else
        TALUS_THEN(status, leave_out(&a, marked));
    talus_obstacles_clear(&a.obstacles);
    TALUS_RELEASE(a.bound, a.shifted, a.overlaps);
    return status;
}
