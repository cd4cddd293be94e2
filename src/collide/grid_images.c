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

/* A wall must not reach around half of the period: the nearest image of a body would not be the only one. */
static TalusStatus check_wall(const TalusGrid *grid, const TalusWall *wall, int axis, double length)
{
    TalusVec3 x = grid->bodies->position[wall->body];
    const char *kind = talus_shape_name(wall->kind);
    if (wall->kind == TALUS_SHAPE_PLANE) {
        if (fabs(along(wall->normal, axis)) < 1e-12)
            return TALUS_OK;
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "period along %c: the plane of body %u is not parallel to it; a plane "
                          "that is would be its own image",
                          "xyz"[axis], wall -> body);
    }
    double above = along(wall->bounds.hi, axis) * grid->unit - along(x, axis);
    double below = along(x, axis) - along(wall->bounds.lo, axis) * grid->unit;
    double reach = fmax(above, below) + (grid->largest + wall->margin) * grid->unit;
    if (reach < 0.5 * length)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED,
                      "period along %c: its length is %g, and body %u, a %s, reaches %g from its "
                      "centre with the bodies beside it; expected less than half of the length, or "
                      "a plane",
                      "xyz"[axis], length, wall -> body, kind, reach);
}

static TalusStatus check_sizes(const TalusGrid *grid)
{
    const TalusPeriod *p = grid->bodies->period;
    for (int axis = 0; axis < 3; axis++) {
        double length = along(p->hi, axis) - along(p->lo, axis);
        if (!p->on[axis])
            continue;
        if (!(4.0 * grid->largest * grid->unit < length))
            return talus_fail(TALUS_ERR_UNSUPPORTED,
                              "period along %c: its length is %g, and the largest body has, with "
                              "its margin, the radius %g; expected more than four times that",
                              "xyz"[axis], length, grid -> largest * grid -> unit);
        for (int w = 0; w < grid->walls; w++)
            TALUS_TRY(check_wall(grid, &grid->wall[w], axis, length));
    }
    return TALUS_OK;
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

TalusStatus talus_grid_images(TalusGrid *grid)
{
    int count = grid->bodies->count;
    float largest = 0.0f;
    for (int i = 0; i < count; i++) {
        float fat = grid->fat[i] < 0.0f ? -grid->fat[i] : grid->fat[i];
        largest = fat > largest ? fat : largest;
    }
    grid->largest = (double)largest;
    TALUS_TRY(check_sizes(grid));
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
