/* collide/grid.c - builds the hierarchical grid (grid.h): sample, walls, levels, sorting of bodies into cells. */
#include "collide/grid.h"

#include "base/memory.h"
#include "base/status.h"
#include "collide/errors.h"

#include <float.h>

enum { GRAIN = 8192 }; /* bodies or entries of a chunk */

/* The bodies from which a grid is chosen (grid_level.h). */
typedef struct Sample {
    uint32_t body[TALUS_GRID_SAMPLE]; /* slots, in any order */
    int count;
} Sample;

/* Fat radius of body i, m. */
static double fat_radius(const TalusGrid *grid, uint32_t i)
{
    return talus_fat_radius(grid->bodies, grid->options, grid->drift, i);
}

/* Fat radius of body i in the grid, m: with the skin if the grid is for a list of neighbours. */
static double fat_radius_in_grid(const TalusGrid *grid, uint32_t i)
{
    return fat_radius(grid, i) +
           (grid->with_skin ? talus_skin(grid->bodies, grid->options, grid->drift, i) : 0.0);
}

/* True for shapes that can only be walls, such as planes and meshes, and for large bodies (TalusGrid.large) that are
 * not free. */
static bool is_wall(const TalusGrid *grid, uint32_t i)
{
    return talus_shape_has(talus_body_kind(grid->bodies, i), TALUS_TRAIT_WALL) ||
           (!talus_is_free(grid->bodies, i) && fat_radius(grid, i) > grid->large);
}

/* ---- sample ---------------------------------------------------------------------------------- */

/* Arguments of the loops that draw the sample. */
typedef struct Draw {
    const TalusBodyView *bodies;
    uint64_t limit;     /* talus_sample_limit */
    atomic_llong free;  /* number of free bodies */
    atomic_llong drawn; /* number of bodies of the sample */
    uint32_t *slot;     /* [TALUS_GRID_SAMPLE]: their slots */
} Draw;

/* Counts the free bodies in slots begin .. end - 1. */
static void count_free_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    Draw *draw = context;
    const TalusBodyView *v = draw->bodies;
    int count = 0;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        count += (v->shape[i] >= 0) & (v->mobility[i] == TALUS_MOBILITY_FREE);
    atomic_fetch_add(&draw->free, count);
}

/* Adds the bodies of the sample that are in slots begin .. end - 1; drops those that exceed its capacity. */
static void draw_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    Draw *draw = context;
    uint32_t own[TALUS_GRID_SAMPLE];
    int count = 0;
    (void)chunk;
    for (int64_t i = begin; i < end && count < TALUS_GRID_SAMPLE; i++)
        if (talus_sample_hash(draw->bodies, i) <= draw->limit &&
            talus_can_be_sampled(draw->bodies, i))
            own[count++] = (uint32_t)i;
    long long first = atomic_fetch_add(&draw->drawn, count);
    for (int k = 0; k < count && first + k < TALUS_GRID_SAMPLE; k++)
        draw->slot[first + k] = own[k];
}

/* Fills the sample. */
static void draw_sample(const TalusBodyView *v, TalusPool *pool, Sample *sample)
{
    Draw draw = {.bodies = v, .slot = sample->body};
    talus_parallel(pool, v->count, GRAIN, count_free_chunk, &draw);
    draw.limit = talus_sample_limit(atomic_load(&draw.free));
    talus_parallel(pool, v->count, GRAIN, draw_chunk, &draw);
    long long drawn = atomic_load(&draw.drawn);
    sample->count = drawn < TALUS_GRID_SAMPLE ? (int)drawn : TALUS_GRID_SAMPLE;
}

/* Returns the mean of the sampled bodies' entries of an array of vectors along one axis, none larger than `largest`. */
static double mean_along(const Sample *sample, const TalusVec3 *of, int axis, double largest)
{
    double rounder = talus_term_rounder(largest), sum = 0.0;
    for (int i = 0; i < sample->count; i++)
        sum += talus_round_term(talus_along(of[sample->body[i]], axis), rounder);
    return sum / sample->count;
}

/* Sets grid->drift, the mean velocity of the sample. */
static void choose_drift(TalusGrid *grid, const Sample *sample)
{
    const TalusVec3 *velocity = grid->bodies->velocity;
    double largest = 0.0;
    for (int i = 0; i < sample->count; i++) {
        TalusVec3 u = velocity[sample->body[i]];
        largest = fmax(largest, fmax(fmax(fabs(u.x), fabs(u.y)), fabs(u.z)));
    }
    grid->drift = talus_vec3(mean_along(sample, velocity, 0, largest),
                             mean_along(sample, velocity, 1, largest),
                             mean_along(sample, velocity, 2, largest));
}

/* Returns the candidate for edge_factor (talus_edge_factor) with the lowest cost of the search. */
static double choose_edge_factor(const int histogram[TALUS_EDGE_FACTORS])
{
    double best = INFINITY, edge_factor = 1.0;
    for (int k = 0; k < TALUS_EDGE_FACTORS; k++) {
        double cost = talus_edge_factor_cost(histogram, k);
        if (cost < best) {
            best = cost;
            edge_factor = talus_edge_factor(k);
        }
    }
    return edge_factor;
}

/* Counts the fat radii in the grid of the sample in the histogram: bin k has those in (1 + k/32 .. 1 + (k + 1)/32) 2^i,
 * for all i. Returns the mean of the fat radii without skin; infinity or NaN if one is. */
static double measure_sample(const TalusGrid *grid, const Sample *sample,
                             int histogram[TALUS_EDGE_FACTORS])
{
    double fat[TALUS_GRID_SAMPLE], largest = 0.0, sum = 0.0;
    for (int i = 0; i < sample->count; i++) {
        double in_grid = fat_radius_in_grid(grid, sample->body[i]);
        int exponent;
        double fraction = frexp(in_grid * TALUS_GRID_SLACK, &exponent); /* in [1/2, 1) */
        fat[i] = fat_radius(grid, sample->body[i]);
        if (in_grid > 0.0 && in_grid < INFINITY)
            histogram[(int)((2.0 * fraction - 1.0) * TALUS_EDGE_FACTORS)]++;
        largest = fmax(largest, fat[i]);
    }
    double rounder = talus_term_rounder(largest);
    for (int i = 0; i < sample->count; i++)
        sum += talus_round_term(fat[i], rounder);
    return sum / sample->count;
}

/* Sets unit, per_unit, edge_factor and large of the grid (TalusGrid) from the fat radii of the sample. */
static void choose_sizes(TalusGrid *grid, const Sample *sample)
{
    int histogram[TALUS_EDGE_FACTORS] = {0}, exponent = 0;
    double mean = measure_sample(grid, sample, histogram);
    if (mean > 0.0 && mean < INFINITY)
        frexp(mean, &exponent);
    grid->unit = ldexp(1.0, exponent);
    grid->per_unit = 1.0 / grid->unit;
    grid->large = mean < INFINITY ? TALUS_GRID_LARGE * mean : INFINITY;
    grid->edge_factor = choose_edge_factor(histogram);
    if (grid->bodies->period) /* fit.h would refuse or clip a larger body in the grid */
        grid->large = fmin(grid->large, 0.25 * talus_shortest_period(grid->bodies->period));
}

/* Sets *low and *high, the range of the box along one axis, in units: mean -+ four mean deviations of the sample's
 * positions, cut at the outermost. This contains all of a uniform bed, and is hardly wider if a few bodies are far
 * away. */
static void choose_range(const TalusGrid *grid, const Sample *sample, int axis, double *low,
                         double *high)
{
    const TalusVec3 *position = grid->bodies->position;
    double least = INFINITY, most = -INFINITY, sum = 0.0;
    for (int i = 0; i < sample->count; i++) {
        double x = talus_along(position[sample->body[i]], axis);
        least = fmin(least, x);
        most = fmax(most, x);
    }
    double mean = mean_along(sample, position, axis, fmax(fabs(least), fabs(most)));
    double rounder = talus_term_rounder(most - least);
    for (int i = 0; i < sample->count; i++)
        sum += talus_round_term(fabs(talus_along(position[sample->body[i]], axis) - mean), rounder);
    double deviation = sum / sample->count;
    *low = fmax(least, mean - 4.0 * deviation) / grid->unit;
    *high = fmin(most, mean + 4.0 * deviation) / grid->unit;
}

/* Samples the bodies and sets sampled, drift, unit, per_unit, edge_factor, large, low and high of the grid. Sets only
 * sampled = 0 if no body can be sampled. */
static void choose_parameters(TalusGrid *grid, TalusPool *pool)
{
    Sample sample;
    draw_sample(grid->bodies, pool, &sample);
    grid->sampled = sample.count;
    if (sample.count == 0)
        return;
    choose_drift(grid, &sample);
    choose_sizes(grid, &sample);
    choose_range(grid, &sample, 0, &grid->low.x, &grid->high.x);
    choose_range(grid, &sample, 1, &grid->low.y, &grid->high.y);
    choose_range(grid, &sample, 2, &grid->low.z, &grid->high.z);
}

/* ---- walls ----------------------------------------------------------------------------------- */

/* Slot k of those among which walls are sought. */
static uint32_t slot_among(const TalusSlots *among, int k)
{
    return among->slot ? among->slot[k] : (uint32_t)k;
}

/* Counts bodies of shapes that can only be walls in *wall_shapes, and bodies of other shapes that are walls because
 * they are large in *large_walls. Fails if a body of the first kind is free. */
static TalusStatus count_walls(TalusGrid *grid, const TalusSlots *among, int *wall_shapes,
                               int *large_walls)
{
    const TalusBodyView *v = grid->bodies;
    *wall_shapes = *large_walls = 0;
    for (int k = 0; k < among->count; k++) {
        uint32_t i = slot_among(among, k);
        if (v->shape[i] < 0)
            continue;
        TalusShapeKind kind = talus_body_kind(v, i);
        if (talus_shape_has(kind, TALUS_TRAIT_WALL) && talus_is_free(v, i))
            return talus_refuse_free_wall(i, kind);
        *wall_shapes += talus_shape_has(kind, TALUS_TRAIT_WALL);
        *large_walls +=
            !talus_is_free(v, i) && !talus_shape_has(kind, TALUS_TRAIT_WALL) && is_wall(grid, i);
    }
    return TALUS_OK;
}

/* If too many bodies are walls only because they are large, they go into the grid instead. */
TalusStatus talus_grid_collect_walls(TalusGrid *grid, const TalusSlots *among)
{
    const TalusBodyView *v = grid->bodies;
    int wall_shapes, large_walls;
    TALUS_TRY(count_walls(grid, among, &wall_shapes, &large_walls));
    if (large_walls > TALUS_LARGE_WALLS) { /* too many to test against every body */
        grid->large = INFINITY;
        large_walls = 0;
    }
    int need = wall_shapes + large_walls;
    TALUS_TRY(TALUS_GROW(grid->wall, (size_t)need, 0, "walls"));
    grid->walls = 0;
    for (int k = 0; grid->walls < need; k++) {
        uint32_t i = slot_among(among, k);
        if (v->shape[i] >= 0 && !talus_is_free(v, i) && is_wall(grid, i))
            grid->wall[grid->walls++] =
                talus_make_wall(v, grid->options, grid->drift, i, grid->per_unit);
    }
    return TALUS_OK;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Sets *value to the candidate if that is lower; safe from several threads. */
static void lower_to(atomic_llong *value, long long candidate)
{
    long long now = atomic_load(value);
    while (candidate < now && !atomic_compare_exchange_weak(value, &now, candidate))
        ;
}

/* Lowers bad_body or odd_sphere to i for a body with numbers that are not finite, or a sphere whose size is not its
 * radius; and bad_body for a fat radius outside the range of float. */
float talus_grid_measure_body(TalusGrid *grid, uint32_t i)
{
    const TalusBodyView *v = grid->bodies;
    if (v->shape[i] < 0)
        return 0.0f;
    bool sphere = talus_body_kind(v, i) == TALUS_SHAPE_SPHERE;
    if (!talus_body_is_finite(v, i))
        lower_to(&grid->bad_body, i);
    else if (sphere && v->size[i] != v->radius[i])
        lower_to(&grid->odd_sphere, i);
    else if (!is_wall(grid, i)) {
        float fat = (float)(fat_radius_in_grid(grid, i) * grid->per_unit * TALUS_GRID_SLACK);
        if (grid->sampled > 0 && !(fat >= FLT_MIN && fat <= FLT_MAX))
            lower_to(&grid->bad_body, i);
        return sphere && talus_is_free(v, i) ? fat : -fat;
    }
    return 0.0f;
}

/* Sets grid->fat of slots begin .. end - 1 and counts the bodies in grid->size_class. */
static void measure_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    TalusGrid *grid = context;
    uint32_t count[TALUS_SIZE_CLASSES] = {0};
    double per_edge_factor = 1.0 / grid->edge_factor;
    int least = TALUS_SIZE_CLASSES, most = 0;
    for (int64_t i = begin; i < end; i++) {
        float fat = talus_grid_measure_body(grid, (uint32_t)i);
        grid->fat[i] = fat;
        if (fat == 0.0f)
            continue;
        int class = talus_size_class(fabs((double)fat), per_edge_factor);
        count[class]++;
        least = class < least ? class : least;
        most = class > most ? class : most;
    }
    for (int class = least; class <= most; class ++) {
        if (count[class])
            atomic_fetch_add(&grid->size_class[class], count[class]);
    }
}

/* Makes a level for each size class that has bodies, the largest first; class c has cells of edge edge_factor 2^(c -
 * 1023). If there are more classes than TALUS_MAX_LEVELS, the smallest share the last level, because a cell may be too
 * large for a body but never too small. */
static TalusStatus lay_out_levels(TalusGrid *grid)
{
    grid->levels = 0;
    grid->members = 0;
    for (int class = TALUS_SIZE_CLASSES - 1; class >= 0; class --) {
        uint32_t count = atomic_load(&grid->size_class[class]);
        if (count == 0)
            continue;
        if (grid->levels < TALUS_MAX_LEVELS) {
            TalusLevel level = {.edge = ldexp(grid->edge_factor, class - 1023)};
            level.per_edge = 1.0 / level.edge;
            grid->level[grid->levels++] = level;
        }
        grid->level[grid->levels - 1].bodies += count;
        grid->level_of_class[class] = (uint8_t)(grid->levels - 1);
        grid->members += count;
    }
    uint64_t cells = 0;
    for (int l = 0; l < grid->levels; l++) {
        TalusLevel *level = &grid->level[l];
        talus_lay_out_level(level, grid->low, grid->high);
        level->first = (uint32_t)cells;
        cells += (uint64_t)(level->cells[0] * level->cells[1] * level->cells[2]);
    }
    if (cells > UINT32_MAX - 2)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "detect: %llu grid cells exceed 32 bits",
                          (unsigned long long)cells);
    grid->cells = (uint32_t)cells;
    return TALUS_OK;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Index of the cell of a level, counted over all levels, that contains a position. */
static uint32_t cell_of_position(const TalusGrid *grid, const TalusLevel *level, TalusVec3 position)
{
    TalusVec3 x = talus_scale(grid->per_unit, position);
    int64_t cx = talus_fold_cell(level, 0, talus_cell_coordinate(level, x.x));
    int64_t cy = talus_fold_cell(level, 1, talus_cell_coordinate(level, x.y));
    int64_t cz = talus_fold_cell(level, 2, talus_cell_coordinate(level, x.z));
    return level->first + (uint32_t)((cz * level->cells[1] + cy) * level->cells[0] + cx);
}

/* Position of body i, or of image i - bodies->count. */
static inline TalusVec3 position_of_entry(const TalusGrid *grid, int64_t i)
{
    const TalusBodyView *v = grid->bodies;
    if (i < v->count)
        return v->position[i];
    const TalusGridImage *image = &grid->images[i - v->count];
    return talus_shift_by_periods(v->period, v->position[image->body], image->shift, 1.0);
}

/* Writes entries begin .. end - 1, not yet sorted: (cell, number of the body or image). */
static void write_entries_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const TalusGrid *grid = context;
    double per_edge_factor = 1.0 / grid->edge_factor;
    for (int64_t i = begin; i < end; i++) {
        uint32_t cell = grid->cells; /* the cell after all others, for what is not in the grid */
        if (grid->fat[i] != 0.0f) {
            int class = talus_size_class(fabs((double)grid->fat[i]), per_edge_factor);
            cell = cell_of_position(grid, &grid->level[grid->level_of_class[class]],
                                    position_of_entry(grid, i));
        }
        grid->entry[i].a = cell;
        grid->entry[i].b = (uint32_t)i;
    }
}

/* Entry k is body i, or image i - bodies->count. Stores its shift in image[k], makes entry[k] name the body itself, and
 * returns the body. */
static uint32_t resolve_image(const TalusGrid *grid, int64_t k, uint32_t i)
{
    uint32_t count = (uint32_t)grid->bodies->count;
    grid->image[k] = i < count ? 0 : grid->images[i - count].shift;
    i = i < count ? i : grid->images[i - count].body;
    grid->entry[k].b = i;
    return i;
}

/* Copies positions and radii of entries begin .. end - 1, which are sorted by cell, so that the search reads contiguous
 * memory. Marks entries that are not free spheres. */
static void copy_bodies_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const TalusGrid *grid = context;
    double per_unit = grid->per_unit;
    for (int64_t k = begin; k < end; k++) {
        uint32_t i = grid->entry[k].b;
        TalusVec3 x = position_of_entry(grid, i);
        TalusGridBody body = {x.x * per_unit, x.y * per_unit, x.z * per_unit,
                              fabs((double)grid->fat[i])};
        grid->body[k] = body;
        if (grid->image)
            i = resolve_image(grid, k, i);
        grid->radius[k] = (float)(grid->bodies->radius[i] * per_unit / TALUS_GRID_SLACK);
        if (grid->fat[i] < 0.0f)
            grid->entry[k].b |= TALUS_NOT_FREE_SPHERE;
    }
}

/* Fills entry, start, body, radius and, with a period, image of the grid: bodies and images sorted by cell. */
static TalusStatus sort_into_cells(TalusGrid *grid, TalusPool *pool, TalusScratch *scratch)
{
    size_t count = (size_t)grid->bodies->count + (size_t)grid->image_count;
    size_t pairs = count * sizeof(TalusPair),
           bodies = grid->members * (sizeof(TalusGridBody) + sizeof(float));
    TALUS_TRY(TALUS_GROW(scratch->block, pairs > bodies ? pairs : bodies, 0, "grid bodies"));
    TALUS_TRY(TALUS_GROW(grid->entry, count, 0, "grid entries"));
    TALUS_TRY(TALUS_GROW(grid->start, (size_t)grid->cells + 2, 0, "grid cells"));
    talus_parallel(pool, (int64_t)count, GRAIN, write_entries_chunk, grid);
    TALUS_TRY(talus_sort_pairs_by_a(&scratch->sorter, pool, grid->entry,
                                    (TalusPair *)scratch->block, (int64_t)count, grid->cells + 1,
                                    grid->start));
    grid->body = (TalusGridBody *)scratch->block;
    grid->radius = (float *)(grid->body + grid->members);
    talus_parallel(pool, grid->members, GRAIN, copy_bodies_chunk, grid);
    return TALUS_OK;
}

void talus_grid_start_check(TalusGrid *grid)
{
    atomic_store(&grid->bad_body, INT64_MAX);
    atomic_store(&grid->odd_sphere, INT64_MAX);
}

TalusStatus talus_grid_check_bodies(const TalusGrid *grid)
{
    long long bad = atomic_load(&grid->bad_body), odd = atomic_load(&grid->odd_sphere);
    if (bad != INT64_MAX)
        return talus_refuse_bad_numbers(bad);
    if (odd != INT64_MAX)
        return talus_refuse_sphere_size(odd, grid->bodies->radius[odd], grid->bodies->size[odd]);
    return TALUS_OK;
}

/* Sets fat and size_class of the grid for all bodies. Fails if a body has faulty numbers. */
static TalusStatus measure_bodies(TalusGrid *grid, TalusPool *pool)
{
    int count = grid->bodies->count;
    TALUS_TRY(TALUS_GROW(grid->fat, (size_t)count, 0, "fat radii"));
    for (int class = 0; class < TALUS_SIZE_CLASSES; class ++)
        atomic_store_explicit(&grid->size_class[class], 0, memory_order_relaxed);
    talus_grid_start_check(grid);
    talus_parallel(pool, count, GRAIN, measure_chunk, grid);
    return talus_grid_check_bodies(grid);
}

/* Lists the walls and measures all other bodies, with the present drift. */
static TalusStatus measure_walls_and_bodies(TalusGrid *grid, TalusPool *pool)
{
    TalusSlots all = {NULL, grid->bodies->count};
    TALUS_TRY(talus_grid_collect_walls(grid, &all));
    return measure_bodies(grid, pool);
}

/* Makes the images of bodies near the sides of a period. A drift widens the margins of bodies that do not share it; so
 * if some are too wide for the period, all bodies are measured again without drift. */
static TalusStatus make_images(TalusGrid *grid, TalusPool *pool)
{
    TALUS_TRY(talus_grid_fit_period(grid));
    if (talus_fit_has_clipped(&grid->fit)) {
        grid->drift = talus_vec3(0.0, 0.0, 0.0);
        TALUS_TRY(measure_walls_and_bodies(grid, pool));
        TALUS_TRY(talus_grid_fit_period(grid));
    }
    return talus_grid_make_images(grid);
}

TalusStatus talus_grid_build(TalusGrid *grid, TalusPool *pool, TalusScratch *scratch,
                             const TalusBodyView *bodies, const TalusDetectOptions *options,
                             bool with_skin)
{
    grid->bodies = bodies;
    grid->options = options;
    grid->with_skin = with_skin;
    grid->drift = talus_vec3(0.0, 0.0, 0.0);
    grid->unit = grid->per_unit = grid->edge_factor = 1.0;
    grid->large = INFINITY;
    grid->walls = grid->levels = 0;
    grid->members = grid->cells = 0;
    grid->image_count = 0;
    grid->fit.clipped = 0;
    grid->image = NULL;
    choose_parameters(grid, pool);
    TALUS_TRY(measure_walls_and_bodies(grid, pool));
    if (grid->sampled == 0)
        return TALUS_OK;
    if (bodies->period)
        TALUS_TRY(make_images(grid, pool));
    TALUS_TRY(lay_out_levels(grid));
    return sort_into_cells(grid, pool, scratch);
}

void talus_grid_clear(TalusGrid *grid)
{
    TALUS_RELEASE(grid->wall, grid->fat, grid->entry, grid->start, grid->images,
                  grid->image_memory);
}
