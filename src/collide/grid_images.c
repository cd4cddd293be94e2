/* collide/grid_images.c - images of bodies beyond the upper sides of a period (grid.h).
 *
 * Bodies lie between lo and hi. If two bodies are near each other across a side, one is near the lower side, with an
 * image beyond the upper, and the other is near the upper. At an edge or a corner, where two or three sides meet, each
 * of the two may be shifted, along different axes. So every nonempty subset of the axes along which a body is near the
 * lower side gives an image, and broad.c takes pairs of entries that have no shifted axis in common. With a tilt an image
 * across y lies at another x, and whether it has an image across x follows from there.
 *
 * A body is near a side if its distance from the side is below the sum of its fat radius and the largest of all,
 * enlarged by TALUS_GRID_SLACK. */
#include "collide/grid.h"

#include "base/memory.h"
#include "base/status.h"
#include "collide/errors.h"

/* Sets the magnitude of fat[i] to `clipped` (units), moves the body to its new size class, and counts the body in
 * fit.clipped if it may miss a contact. */
static void clip_fat_radius(TalusGrid *grid, int i, float clipped)
{
    double per_edge_factor = 1.0 / grid->edge_factor;
    grid->fit.clipped += talus_clipped_body_may_miss(&grid->fit, grid->bodies, grid->options,
                                                     grid->drift, (uint32_t)i);
    int class = talus_size_class(fabs((double)grid->fat[i]), per_edge_factor);
    atomic_fetch_sub(&grid->size_class[class], 1);
    grid->fat[i] = grid->fat[i] < 0.0f ? -clipped : clipped;
    atomic_fetch_add(&grid->size_class[talus_size_class((double)clipped, per_edge_factor)], 1);
}

/* Clips all fat radii above talus_clipped_fat_radius, and sets fit.largest to that. */
static void clip_fat_radii(TalusGrid *grid)
{
    double limit = talus_clipped_fat_radius(&grid->fit) * grid->per_unit;
    for (int i = 0; i < grid->bodies->count; i++)
        if (fabs((double)grid->fat[i]) > limit)
            clip_fat_radius(grid, i, (float)limit);
    grid->fit.largest = (double)(float)limit * grid->unit;
}

TalusStatus talus_grid_fit_period(TalusGrid *grid)
{
    TalusFit *fit = &grid->fit;
    const TalusBodyView *v = grid->bodies;
    double largest = 0.0, at_rest = 0.0;
    for (int i = 0; i < v->count; i++) {
        double fat = fabs((double)grid->fat[i]);
        double rest = fat > 0.0 ? talus_resting_fat_radius(v, grid->options, (uint32_t)i) : 0.0;
        largest = fat > largest ? fat : largest;
        at_rest = rest > at_rest ? rest : at_rest;
    }
    fit->largest = largest * grid->unit;
    fit->at_rest = at_rest;
    talus_fit_period(fit, v, grid->options, grid->drift, grid->wall, grid->walls, grid->unit);
    return talus_check_period_fit(fit);
}

/* Adds the images of the body: bit 1 << shift of `set` for each. Counts the images in size_class. */
static TalusStatus add_images(TalusGrid *grid, int body, unsigned set)
{
    double per_edge_factor = 1.0 / grid->edge_factor;
    for (unsigned shift = 1; shift < 8; shift++) {
        if (!(set >> shift & 1u))
            continue;
        size_t n = (size_t)grid->image_count;
        TALUS_TRY(TALUS_GROW(grid->images, n + 1, n, "images"));
        grid->images[grid->image_count++] = (TalusGridImage){(uint32_t)body, (uint8_t)shift};
        int class = talus_size_class(fabs((double)grid->fat[body]), per_edge_factor);
        atomic_fetch_add(&grid->size_class[class], 1);
    }
    return TALUS_OK;
}

TalusStatus talus_grid_make_images(TalusGrid *grid)
{
    const TalusBodyView *v = grid->bodies;
    int count = v->count;
    if (!(grid->fit.largest < grid->fit.limit))
        clip_fat_radii(grid);
    for (int i = 0; i < count; i++) {
        if (grid->fat[i] == 0.0f)
            continue;
        double reach = fabs((double)grid->fat[i]) * grid->unit + grid->fit.largest;
        unsigned set = talus_upper_images(v->period, v->position[i], reach * TALUS_GRID_SLACK);
        if (set)
            TALUS_TRY(add_images(grid, i, set));
    }
    size_t all = (size_t)count + (size_t)grid->image_count;
    if (all >= TALUS_NOT_FREE_SPHERE)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "detect: %zu bodies and images exceed 31 bits",
                          all);
    TALUS_TRY(TALUS_GROW(grid->fat, all, (size_t)count, "fat radii"));
    for (int k = 0; k < grid->image_count; k++)
        grid->fat[count + k] = grid->fat[grid->images[k].body];
    TALUS_TRY(TALUS_GROW(grid->image_memory, all, 0, "images"));
    grid->image = grid->image_memory;
    return TALUS_OK;
}
