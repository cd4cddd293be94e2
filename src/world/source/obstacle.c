/* world/source/obstacle.c - which places for new bodies overlap bodies that are there.
 *
 * A detector apart from the step's gets the bodies near the places, as fixed ones of group 0, and the places as moving
 * spheres of group 1, which meet group 0 alone, with no envelope: contacts with a negative gap are the overlaps. The world's
 * own groups do not count. */
#include "world/source/obstacle.h"
#include "world/state.h"

#include "collide/period.h"

#include <string.h>

/* True if, by its bounding radius, the slot's body may overlap the box. */
static bool is_near(const TalusWorld *world, int slot, TalusVec3 lo, TalusVec3 hi)
{
    const TalusBodies *b = &world->bodies;
    const double r = b->radius[slot];
    TalusVec3 x = b->position[slot], middle = talus_scale(0.5, talus_add(lo, hi));
    if (r == 0.0)
        return true; /* unbounded */
    if (talus_has_period(&world->def.period))
        x = talus_add(middle, talus_nearest_image_vector(&world->def.period, talus_sub(x, middle)));
    return x.x >= lo.x - r && x.x <= hi.x + r && x.y >= lo.y - r && x.y <= hi.y + r &&
           x.z >= lo.z - r && x.z <= hi.z + r;
}

/* Appends a body at rest to the set, which has the capacity. group: 0 or 1. */
static void append_body(TalusObstacles *o, TalusVec3 position, TalusQuat orientation, double radius,
                        double size, int shape, int group)
{
    TalusBodies *b = &o->bodies;
    const int at = b->counts.slots++;
    b->position[at] = position;
    b->velocity[at] = talus_vec3(0.0, 0.0, 0.0);
    b->orientation[at] = orientation;
    b->radius[at] = radius;
    b->size[at] = size;
    b->shape[at] = shape;
    b->mobility[at] = group == 0 ? TALUS_MOBILITY_FIXED : TALUS_MOBILITY_FREE;
    b->group[at] = (uint16_t)(TALUS_GROUPS * o->copy + group);
}

static TalusStatus gather_here(TalusWorld *world, TalusVec3 lo, TalusVec3 hi, TalusObstacles *o)
{
    const TalusBodies *b = &world->bodies;
    size_t need = 1;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            TALUS_TRY(talus_bodies_reserve(&o->bodies, need));
        for (int i = 0; i < b->counts.slots; i++) {
            if (b->shape[i] < 0 || talus_copy_of_group(b->group[i]) != o->copy ||
                !is_near(world, i, lo, hi))
                continue;
            need++;
            if (pass == 1)
                append_body(o, b->position[i], b->orientation[i], b->radius[i], b->size[i],
                            b->shape[i], 0);
            if (pass == 1 && b->radius[i] > 0.0)
                o->top = fmax(o->top, b->position[i].z + b->radius[i]);
        }
    }
    o->near = o->bodies.counts.slots;
    return TALUS_OK;
}

TalusStatus talus_obstacles_gather(TalusWorld *world, TalusVec3 lo, TalusVec3 hi, int copy,
                                   TalusObstacles *out)
{
    TalusComm *comm = world->ranks.comm;
    *out = (TalusObstacles){.copy = copy, .top = -INFINITY};
    TALUS_TRY(talus_comm_agree(comm, gather_here(world, lo, hi, out)));
    if (comm)
        talus_comm_find_maxima(comm, &out->top, 1);
    return TALUS_OK;
}

static TalusStatus mark_here(TalusWorld *world, TalusObstacles *o, int count,
                             const TalusVec3 *position, const double *radius, int64_t *overlaps)
{
    static const uint32_t meets[TALUS_GROUPS] = {[0] = 3, [1] = 1};
    const TalusDetectOptions options = {0};
    TalusDetector *detector;
    TalusContactList *list;
    int sphere;
    TALUS_TRY(talus_bodies_reserve(&o->bodies, (size_t)o->near + (size_t)count));
    TALUS_TRY(talus_world_require_sphere_shape(world, 1.0, &sphere));
    o->bodies.counts.slots = o->near;
    for (int k = 0; k < count; k++)
        append_body(o, talus_wrap_position(&world->def.period, position[k]), talus_quat_identity(),
                    radius[k], radius[k], sphere, 1);
    TalusFilter filter = {.group = o->bodies.group, .meets = meets};
    TalusBodyView view = talus_bodies_view(world, &o->bodies, &filter);
    TALUS_TRY(talus_detector_create(&detector));
    TalusStatus status = talus_detect(detector, world->pool, &view, &options, &list);
    for (int i = 0; status == TALUS_OK && i < list->count; i++)
        if (list->contact[i].gap < 0.0)
            overlaps[(int)list->contact[i].a - o->near] = 1;
    talus_detector_destroy(detector);
    return status;
}

TalusStatus talus_obstacles_mark(TalusWorld *world, TalusObstacles *o, int count,
                                 const TalusVec3 *position, const double *radius, int64_t *overlaps)
{
    TalusComm *comm = world->ranks.comm;
    if (count > 0)
        memset(overlaps, 0, (size_t)count * sizeof *overlaps);
    TALUS_TRY(talus_comm_agree(comm, mark_here(world, o, count, position, radius, overlaps)));
    return talus_comm_add_counts(comm, overlaps, count);
}

void talus_obstacles_clear(TalusObstacles *o)
{
    talus_bodies_clear(&o->bodies);
    *o = (TalusObstacles){0};
}
