/* collide/grid_images.c - bodies once more beyond the upper sides of a period (grid.h).
 *
 * Bodies lie between lo and hi. Two of them that are near each other across a side are one near the lower
 * side, whose image lies beyond the upper, and one near the upper. At an edge or a corner, where two or three
 * sides meet, each of the two may be shifted, along different axes: so every subset of the axes along which a
 * body is near the lower side gives an image, and broad.c takes pairs of entries that have no shift in common.
 *
 * A body is near a side if it is within its fat radius and the largest of all. */
#include "collide/grid.h"

#include "base/memory.h"
#include "base/status.h"

TalusVec3 talus_shifted(const TalusPeriod *p, TalusVec3 x, unsigned shift)
{
    if (shift & 1)
        x.x += p->hi.x - p->lo.x;
    if (shift & 2)
        x.y += p->hi.y - p->lo.y;
    if (shift & 4)
        x.z += p->hi.z - p->lo.z;
    return x;
}

static double along(TalusVec3 x, int axis)
{
    return axis == 0 ? x.x : axis == 1 ? x.y : x.z;
}

/* The axes along which the body is near the lower side. */
static unsigned sides_near(const TalusGrid *grid, int i)
{
    const TalusPeriod *p = grid->bodies->period;
    double reach = (fabs((double)grid->fat[i]) + grid->largest) * grid->unit;
    unsigned sides = 0;
    for (int axis = 0; axis < 3; axis++)
        if (p->on[axis] &&
            along(grid->bodies->position[i], axis) - along(p->lo, axis) < reach * TALUS_GRID_SLACK)
            sides |= 1u << axis;
    return sides;
}

/* ---- what one image allows ----
 *
 * Two bodies meet as nearest images alone, so two fat radii must stay below half of every period, and so must a
 * wall with its margin and the body beside it. Radii and resting envelopes that do not are refused. What speeds
 * add to them is clipped, and the bodies are counted of which a contact may be missed for that: the step is then
 * taken in parts (world/step/step.c). A clipped share of sliding is not counted. It keeps contacts from coming and going,
 * and no gap closes by it. */

static double resting_margin(const TalusGrid *grid, uint32_t i)
{
    const TalusDetectOptions *o = grid->options;
    return 0.5 * o->envelope * grid->bodies->size[i] + o->h * o->reference_speed;
}

/* The margin without its share of sliding (level.h): how far the body may come within the step. */
static double closing_margin(const TalusGrid *grid, uint32_t i)
{
    TalusDetectOptions frictionless = *grid->options;
    frictionless.friction = 0.0;
    return talus_body_margin(grid->bodies, &frictionless, grid->drift, i);
}

/* The largest radius with its resting envelope, in units. */
static double largest_at_rest(const TalusGrid *grid)
{
    double largest = 0.0;
    for (int i = 0; i < grid->bodies->count; i++)
        if (grid->fat[i] != 0.0f)
            largest = fmax(largest, grid->bodies->radius[i] + resting_margin(grid, (uint32_t)i));
    return largest * TALUS_GRID_SLACK * grid->per_unit;
}

static TalusStatus refuse_wall(const TalusGrid *grid, const TalusWall *wall, int axis,
                               double length, double reach)
{
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "period along %c: its length is %g, and body %u, a %s, reaches %g from its "
                      "centre with the bodies beside it; expected less than half of the length, or "
                      "a plane",
                      "xyz"[axis], length, wall -> body, talus_shape_name(wall->kind),
                      reach * grid -> unit);
}

/* A plane along the period is its own image. Any other wall has less than half of the length for itself, its margin
 * and a body beside it. The wall's margin may take half of what resting bodies leave; `limit`, of fat radii, is
 * lowered to the rest. */
static TalusStatus fit_wall(TalusGrid *grid, TalusWall *wall, int axis, double length,
                            double *limit)
{
    if (wall->kind == TALUS_SHAPE_PLANE) {
        if (fabs(along(wall->normal, axis)) < 1e-12)
            return TALUS_OK;
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "period along %c: the plane of body %u is not parallel to it; a plane "
                          "that is would be its own image",
                          "xyz"[axis], wall -> body);
    }
    double x = along(grid->bodies->position[wall->body], axis) * grid->per_unit;
    double extent = fmax(along(wall->bounds.hi, axis) - x, x - along(wall->bounds.lo, axis));
    double half = 0.5 * length * grid->per_unit;
    if (extent + (grid->largest + wall->margin) < half)
        return TALUS_OK;
    double body = largest_at_rest(grid);
    double margin = resting_margin(grid, wall->body) * TALUS_GRID_SLACK * grid->per_unit;
    double spare = half - extent - body - margin;
    if (!(spare > 0.0))
        return refuse_wall(grid, wall, axis, length, extent + body + margin);
    double allowed = margin + 0.5 * spare;
    if (wall->margin > allowed) {
        grid->clipped += closing_margin(grid, wall->body) * grid->per_unit > allowed;
        wall->margin = allowed;
    }
    *limit = fmin(*limit, half - extent - wall->margin);
    return TALUS_OK;
}

/* The largest fat radius that one image allows, in units. */
static TalusStatus find_limit(TalusGrid *grid, double *limit)
{
    const TalusPeriod *p = grid->bodies->period;
    *limit = INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        double length = along(p->hi, axis) - along(p->lo, axis);
        if (!p->on[axis])
            continue;
        double quarter = 0.25 * length * grid->per_unit;
        double rest = grid->largest < quarter ? 0.0 : largest_at_rest(grid);
        if (!(rest < quarter))
            return talus_fail(TALUS_ERR_UNSUPPORTED,
                              "period along %c: its length is %g, and the largest body has, with "
                              "its margin, the radius %g; expected more than four times that",
                              "xyz"[axis], length, rest * grid -> unit);
        *limit = fmin(*limit, quarter);
        for (int w = 0; w < grid->walls; w++)
            TALUS_TRY(fit_wall(grid, &grid->wall[w], axis, length, limit));
    }
    return TALUS_OK;
}

static void clip_body(TalusGrid *grid, int i, double limit, float clipped)
{
    double per_phase = 1.0 / grid->phase;
    double reach = grid->bodies->radius[i] + closing_margin(grid, (uint32_t)i);
    grid->clipped += reach * grid->per_unit > limit;
    int class = talus_size_class(fabs((double)grid->fat[i]), per_phase);
    atomic_fetch_sub(&grid->size_class[class], 1);
    grid->fat[i] = grid->fat[i] < 0.0f ? -clipped : clipped;
    atomic_fetch_add(&grid->size_class[talus_size_class((double)clipped, per_phase)], 1);
}

static void clip_bodies(TalusGrid *grid, double limit)
{
    limit *= 2.0 - TALUS_GRID_SLACK; /* strictly below, rounding included */
    for (int i = 0; i < grid->bodies->count; i++)
        if (fabs((double)grid->fat[i]) > limit)
            clip_body(grid, i, limit, (float)limit);
    grid->largest = (double)(float)limit;
}

TalusStatus talus_grid_fit(TalusGrid *grid, double *limit)
{
    float largest = 0.0f;
    for (int i = 0; i < grid->bodies->count; i++) {
        float fat = grid->fat[i] < 0.0f ? -grid->fat[i] : grid->fat[i];
        largest = fat > largest ? fat : largest;
    }
    grid->largest = (double)largest;
    grid->clipped = 0;
    return find_limit(grid, limit);
}

static TalusStatus add_images(TalusGrid *grid, int body, unsigned sides)
{
    double per_phase = 1.0 / grid->phase;
    for (unsigned shift = 1; shift < 8; shift++) {
        if (shift & ~sides)
            continue;
        size_t n = (size_t)grid->image_count;
        TALUS_TRY(TALUS_RESERVE(grid->images, grid->images_capacity, n + 1, n, "images"));
        grid->images[grid->image_count++] = (TalusGridImage){(uint32_t)body, (uint8_t)shift};
        int class = talus_size_class(fabs((double)grid->fat[body]), per_phase);
        atomic_fetch_add(&grid->size_class[class], 1);
    }
    return TALUS_OK;
}

TalusStatus talus_grid_images(TalusGrid *grid, double limit)
{
    int count = grid->bodies->count;
    if (!(grid->largest < limit))
        clip_bodies(grid, limit);
    for (int i = 0; i < count; i++) {
        unsigned sides = grid->fat[i] != 0.0f ? sides_near(grid, i) : 0;
        if (sides)
            TALUS_TRY(add_images(grid, i, sides));
    }
    size_t all = (size_t)count + (size_t)grid->image_count;
    if (all >= TALUS_NOT_PLAIN)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "detect: %zu bodies and images exceed 31 bits",
                          all);
    TALUS_TRY(TALUS_RESERVE(grid->fat, grid->fat_capacity, all, (size_t)count, "fat radii"));
    for (int k = 0; k < grid->image_count; k++)
        grid->fat[count + k] = grid->fat[grid->images[k].body];
    TALUS_TRY(TALUS_RESERVE(grid->image_room, grid->image_capacity, all, 0, "images"));
    grid->image = grid->image_room;
    return TALUS_OK;
}
