/* collide/grid.c - see grid.h. */
#include "collide/grid.h"

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"
#include "collide/envelope.h"

#include <float.h>
#include <string.h>

enum {
    SAMPLE = 1024,     /* slots looked at to choose unit, phase, drift and box */
    SMALL_SAMPLE = 16, /* fewer moving bodies than this in it: take the first there are */
    BINS = 32,         /* candidates for the phase, and bins for sizes within an octave */
    MAX_LARGE_WALLS = 64,
    GRAIN = 8192
};

/* A fixed body so many times larger than the typical moving one is a wall. */
static const double LARGE = 8.0;
/* Keeps rounding out of the grid: fat radii are larger by one part in a million. */
static const double SLACK = 1.0 + 0x1p-20;

static bool unbounded(TalusShapeKind kind)
{
    return kind == TALUS_SHAPE_PLANE || kind == TALUS_SHAPE_REVOLVE;
}

/* Without the radius itself. Two margins hold any closing speed (envelope.h): with the drift d,
 * |v_a - v_b| and |v_a| are at most |v_a - d| + |v_b - d| + |d|. */
static double margin(const TalusGrid *grid, uint32_t i)
{
    const TalusDetectOptions *o = grid->options;
    double own = talus_norm(talus_sub(talus_body_velocity(grid->bodies, i), grid->drift));
    double speed = own + 0.5 * talus_norm(grid->drift) +
                   o->friction * (own + talus_surface_speed(grid->bodies, i));
    return 0.5 * o->envelope * grid->bodies->size[i] +
           o->h * (speed + talus_body_spin(grid->bodies, i) + o->reference_speed);
}

static double fat_radius(const TalusGrid *grid, uint32_t i)
{
    return (grid->bodies->radius[i] + margin(grid, i)) * SLACK;
}

static bool is_wall(const TalusGrid *grid, uint32_t i)
{
    return unbounded(talus_body_kind(grid->bodies, i)) ||
           (grid->bodies->fixed[i] && fat_radius(grid, i) > grid->large);
}

/* ---- sample ---------------------------------------------------------------------------------- */

static bool sampled(const TalusBodyView *v, int i)
{
    if (v->shape[i] < 0 || v->fixed[i] || unbounded(talus_body_kind(v, (uint32_t)i)))
        return false;
    TalusVec3 x = v->position[i], u = v->velocity[i];
    return fabs(x.x) + fabs(x.y) + fabs(x.z) + fabs(u.x) + fabs(u.y) + fabs(u.z) < INFINITY;
}

/* Slots at random, the same for the same number of slots; regular steps would fall into step with
 * bodies made in rows. */
static int sample_some(const TalusBodyView *v, uint32_t *out)
{
    TalusRng rng = talus_rng((uint64_t)v->count);
    int count = 0;
    for (int k = 0; k < SAMPLE; k++) {
        int i = (int)talus_rng_below(&rng, (uint64_t)v->count);
        if (sampled(v, i))
            out[count++] = (uint32_t)i;
    }
    return count;
}

static int sample_first(const TalusBodyView *v, uint32_t *out)
{
    int count = 0;
    for (int i = 0; i < v->count && count < SAMPLE; i++) {
        if (sampled(v, i))
            out[count++] = (uint32_t)i;
    }
    return count;
}

static void choose_drift(TalusGrid *grid, const uint32_t *sample, int count)
{
    TalusVec3 sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++)
        sum = talus_add(sum, grid->bodies->velocity[sample[i]]);
    grid->drift = talus_scale(1.0 / count, sum);
}

/* The phase is the one of BINS candidates that makes the cells least wasteful: the number of bodies
 * met in the search grows as the cube of edge / (2 fat). */
static double choose_phase(const int histogram[BINS])
{
    double best = INFINITY, phase = 1.0;
    for (int k = 0; k < BINS; k++) {
        double edge = 1.0 + (k + 1.0) / BINS, cost = 0.0;
        for (int b = 0; b < BINS; b++) {
            double ratio = (b <= k ? edge : 2.0 * edge) / (1.0 + (b + 1.0) / BINS);
            cost += histogram[b] * ratio * ratio * ratio;
        }
        if (cost < best) {
            best = cost;
            phase = edge;
        }
    }
    return phase;
}

static void choose_sizes(TalusGrid *grid, const uint32_t *sample, int count)
{
    int histogram[BINS] = {0};
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        double fat = fat_radius(grid, sample[i]);
        int exponent;
        double fraction = frexp(fat * SLACK, &exponent); /* in [1/2, 1) */
        if (fat > 0.0 && fat < INFINITY)
            histogram[(int)((2.0 * fraction - 1.0) * BINS)]++;
        sum += fat;
    }
    int exponent = 0;
    if (sum > 0.0 && sum < INFINITY)
        frexp(sum / count, &exponent);
    grid->unit = ldexp(1.0, exponent);
    grid->per_unit = 1.0 / grid->unit;
    grid->large = sum < INFINITY ? LARGE * sum / count : INFINITY;
    grid->phase = choose_phase(histogram);
}

/* Mean -+ four mean deviations, as far as bodies go: all of a uniform bed, and little more when a
 * few bodies have left it. */
static void choose_range(const TalusGrid *grid, const uint32_t *sample, int count, int axis,
                         double *low, double *high)
{
    const double *x = (const double *)grid->bodies->position + axis;
    double sum = 0.0, deviation = 0.0, least = INFINITY, most = -INFINITY;
    for (int i = 0; i < count; i++)
        sum += x[3 * (size_t)sample[i]];
    double mean = sum / count;
    for (int i = 0; i < count; i++) {
        double xi = x[3 * (size_t)sample[i]];
        deviation += fabs(xi - mean) / count;
        least = fmin(least, xi);
        most = fmax(most, xi);
    }
    *low = fmax(least, mean - 4.0 * deviation) / grid->unit;
    *high = fmin(most, mean + 4.0 * deviation) / grid->unit;
}

static void choose_parameters(TalusGrid *grid)
{
    uint32_t sample[SAMPLE];
    int count = grid->bodies->count > SAMPLE ? sample_some(grid->bodies, sample) : 0;
    if (count < SMALL_SAMPLE)
        count = sample_first(grid->bodies, sample);
    grid->moving = count;
    if (count == 0)
        return;
    choose_drift(grid, sample, count);
    choose_sizes(grid, sample, count);
    choose_range(grid, sample, count, 0, &grid->low.x, &grid->high.x);
    choose_range(grid, sample, count, 1, &grid->low.y, &grid->high.y);
    choose_range(grid, sample, count, 2, &grid->low.z, &grid->high.z);
}

/* ---- walls ----------------------------------------------------------------------------------- */

static TalusStatus count_walls(TalusGrid *grid, int *unbounded_walls, int *large_walls)
{
    const TalusBodyView *v = grid->bodies;
    *unbounded_walls = *large_walls = 0;
    for (int i = 0; i < v->count; i++) {
        if (v->shape[i] < 0)
            continue;
        TalusShapeKind kind = talus_body_kind(v, (uint32_t)i);
        if (unbounded(kind) && !v->fixed[i])
            return talus_fail(TALUS_ERR_ARGUMENT, "body %d: a %s can only be fixed", i,
                              talus_shape_name(kind));
        *unbounded_walls += unbounded(kind);
        *large_walls += v->fixed[i] && !unbounded(kind) && is_wall(grid, (uint32_t)i);
    }
    return TALUS_OK;
}

static TalusWall make_wall(const TalusGrid *grid, uint32_t i)
{
    const TalusBodyView *v = grid->bodies;
    double per_unit = grid->per_unit;
    TalusWall wall = {.body = i, .kind = talus_body_kind(v, i)};
    TalusAabb box = talus_shape_bounds(&v->shapes[v->shape[i]], v->radius[i], v->position[i],
                                       v->orientation[i]);
    wall.bounds.lo = talus_scale(per_unit, box.lo);
    wall.bounds.hi = talus_scale(per_unit, box.hi);
    wall.margin = margin(grid, i) * SLACK * per_unit;
    wall.normal = talus_rotate(v->orientation[i], talus_vec3(0.0, 0.0, 1.0));
    wall.offset = talus_dot(wall.normal, v->position[i]) * per_unit;
    return wall;
}

static TalusStatus collect_walls(TalusGrid *grid)
{
    const TalusBodyView *v = grid->bodies;
    int unbounded_walls, large_walls;
    TALUS_TRY(count_walls(grid, &unbounded_walls, &large_walls));
    if (large_walls > MAX_LARGE_WALLS) { /* so many are better off in the grid */
        grid->large = INFINITY;
        large_walls = 0;
    }
    int need = unbounded_walls + large_walls;
    TALUS_TRY(TALUS_RESERVE(grid->wall, grid->wall_capacity, (size_t)need, 0, "walls"));
    grid->walls = 0;
    for (int i = 0; grid->walls < need; i++) {
        if (v->shape[i] >= 0 && v->fixed[i] && is_wall(grid, (uint32_t)i))
            grid->wall[grid->walls++] = make_wall(grid, (uint32_t)i);
    }
    return TALUS_OK;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* ceil(log2(2 fat / phase)) + 1023, read from the bits of the quotient. */
static int size_class(double fat, double per_phase)
{
    double ratio = 2.0 * fat * per_phase;
    uint64_t bits;
    memcpy(&bits, &ratio, sizeof bits);
    int class = (int)((bits - 1) >> 52) + 1;
    return class < 1 || class >= TALUS_SIZE_CLASSES ? 1 : class;
}

static bool finite_body(const TalusBodyView *v, int64_t i)
{
    TalusVec3 x = v->position[i], u = v->velocity[i];
    double sum =
        fabs(x.x) + fabs(x.y) + fabs(x.z) + fabs(u.x) + fabs(u.y) + fabs(u.z) + v->radius[i];
    if (talus_body_kind(v, (uint32_t)i) != TALUS_SHAPE_SPHERE) { /* whose turns are never read */
        TalusQuat q = v->orientation[i];
        sum += fabs(q.w) + fabs(q.x) + fabs(q.y) + fabs(q.z);
    }
    if (v->spin)
        sum += fabs(v->spin[i].x) + fabs(v->spin[i].y) + fabs(v->spin[i].z);
    return sum < INFINITY;
}

static void lower_to(atomic_llong *value, long long candidate)
{
    long long now = atomic_load(value);
    while (candidate < now && !atomic_compare_exchange_weak(value, &now, candidate))
        ;
}

/* Whether the body goes into the grid, and its fat radius as TalusGrid.fat has it. */
static float measure(TalusGrid *grid, uint32_t i)
{
    const TalusBodyView *v = grid->bodies;
    if (v->shape[i] < 0)
        return 0.0f;
    bool sphere = talus_body_kind(v, i) == TALUS_SHAPE_SPHERE;
    if (!finite_body(v, i))
        lower_to(&grid->bad_body, i);
    else if (sphere && v->size[i] != v->radius[i])
        lower_to(&grid->odd_sphere, i);
    else if (!is_wall(grid, i)) {
        float fat = (float)(fat_radius(grid, i) * grid->per_unit * SLACK);
        if (grid->moving > 0 && !(fat >= FLT_MIN && fat <= FLT_MAX))
            lower_to(&grid->bad_body, i);
        return sphere && !v->fixed[i] ? fat : -fat;
    }
    return 0.0f;
}

static void measure_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    TalusGrid *grid = context;
    uint32_t count[TALUS_SIZE_CLASSES] = {0};
    double per_phase = 1.0 / grid->phase;
    int least = TALUS_SIZE_CLASSES, most = 0;
    for (int64_t i = begin; i < end; i++) {
        float fat = measure(grid, (uint32_t)i);
        grid->fat[i] = fat;
        if (fat == 0.0f)
            continue;
        int class = size_class(fabs((double)fat), per_phase);
        count[class]++;
        least = class < least ? class : least;
        most = class > most ? class : most;
    }
    for (int class = least; class <= most; class ++) {
        if (count[class])
            atomic_fetch_add(&grid->size_class[class], count[class]);
    }
}

/* Halves the longest side until the box has at most `budget` cells. */
static void shrink(int64_t cells[3], double budget)
{
    while ((double)cells[0] * (double)cells[1] * (double)cells[2] > budget) {
        int longest = cells[1] > cells[0] ? 1 : 0;
        longest = cells[2] > cells[longest] ? 2 : longest;
        if (cells[longest] <= 3)
            return;
        cells[longest] = cells[longest] < 6 ? 3 : (cells[longest] + 1) / 2;
    }
}

static void lay_out_level(const TalusGrid *grid, TalusLevel *level)
{
    const double *low = &grid->low.x, *high = &grid->high.x;
    for (int axis = 0; axis < 3; axis++) {
        level->origin[axis] = talus_cell_of(level, low[axis]) - 1;
        level->cells[axis] = talus_cell_of(level, high[axis]) - level->origin[axis] + 2;
    }
    shrink(level->cells, fmax(27.0, level->bodies * (level->bodies < 1u << 29 ? 2.0 : 1.0)));
}

/* From the largest size class down; more classes than levels share the last, which is safe because
 * cells may be too large for a body but never too small. */
static TalusStatus lay_out_levels(TalusGrid *grid)
{
    grid->levels = 0;
    grid->members = 0;
    for (int class = TALUS_SIZE_CLASSES - 1; class >= 0; class --) {
        uint32_t count = atomic_load(&grid->size_class[class]);
        if (count == 0)
            continue;
        if (grid->levels < TALUS_MAX_LEVELS) {
            TalusLevel level = {.edge = ldexp(grid->phase, class - 1023)};
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
        lay_out_level(grid, level);
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

static uint32_t cell_of_body(const TalusGrid *grid, const TalusLevel *level, TalusVec3 position)
{
    TalusVec3 x = talus_scale(grid->per_unit, position);
    int64_t cx = talus_fold(level, 0, talus_cell_of(level, x.x));
    int64_t cy = talus_fold(level, 1, talus_cell_of(level, x.y));
    int64_t cz = talus_fold(level, 2, talus_cell_of(level, x.z));
    return level->first + (uint32_t)((cz * level->cells[1] + cy) * level->cells[0] + cx);
}

static void enter_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const TalusGrid *grid = context;
    const TalusVec3 *position = grid->bodies->position;
    double per_phase = 1.0 / grid->phase;
    for (int64_t i = begin; i < end; i++) {
        uint32_t cell = grid->cells; /* the one past all others */
        if (grid->fat[i] != 0.0f) {
            int class = size_class(fabs((double)grid->fat[i]), per_phase);
            cell = cell_of_body(grid, &grid->level[grid->level_of_class[class]], position[i]);
        }
        grid->entry[i].a = cell;
        grid->entry[i].b = (uint32_t)i;
    }
}

/* Copies what the search reads into the order of cells. */
static void copy_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    (void)chunk;
    const TalusGrid *grid = context;
    double per_unit = grid->per_unit;
    for (int64_t k = begin; k < end; k++) {
        uint32_t i = grid->entry[k].b;
        TalusVec3 x = grid->bodies->position[i];
        TalusGridBody body = {x.x * per_unit, x.y * per_unit, x.z * per_unit,
                              fabs((double)grid->fat[i])};
        grid->body[k] = body;
        grid->radius[k] = (float)(grid->bodies->radius[i] * per_unit / SLACK);
        if (grid->fat[i] < 0.0f)
            grid->entry[k].b |= TALUS_NOT_PLAIN;
    }
}

static TalusStatus sort_into_cells(TalusGrid *grid, TalusPool *pool, TalusScratch *scratch)
{
    size_t count = (size_t)grid->bodies->count;
    size_t pairs = count * sizeof(TalusPair),
           bodies = grid->members * (sizeof(TalusGridBody) + sizeof(float));
    TALUS_TRY(TALUS_RESERVE(scratch->block, scratch->capacity, pairs > bodies ? pairs : bodies, 0,
                            "grid bodies"));
    TALUS_TRY(TALUS_RESERVE(grid->entry, grid->entry_capacity, count, 0, "grid entries"));
    TALUS_TRY(
        TALUS_RESERVE(grid->start, grid->start_capacity, (size_t)grid->cells + 2, 0, "grid cells"));
    talus_parallel(pool, (int64_t)count, GRAIN, enter_chunk, grid);
    TALUS_TRY(talus_sort_pairs(&scratch->sorter, pool, grid->entry, (TalusPair *)scratch->block,
                               (int64_t)count, grid->cells + 1, grid->start));
    grid->body = (TalusGridBody *)scratch->block;
    grid->radius = (float *)(grid->body + grid->members);
    talus_parallel(pool, grid->members, GRAIN, copy_chunk, grid);
    return TALUS_OK;
}

static TalusStatus measure_bodies(TalusGrid *grid, TalusPool *pool)
{
    int count = grid->bodies->count;
    TALUS_TRY(TALUS_RESERVE(grid->fat, grid->fat_capacity, (size_t)count, 0, "fat radii"));
    for (int class = 0; class < TALUS_SIZE_CLASSES; class ++)
        atomic_store_explicit(&grid->size_class[class], 0, memory_order_relaxed);
    atomic_store(&grid->bad_body, INT64_MAX);
    atomic_store(&grid->odd_sphere, INT64_MAX);
    talus_parallel(pool, count, GRAIN, measure_chunk, grid);
    long long bad = atomic_load(&grid->bad_body), odd = atomic_load(&grid->odd_sphere);
    if (bad != INT64_MAX)
        return talus_fail(TALUS_ERR_NUMERIC,
                          "detect: body %lld has a position, orientation, velocity or radius that "
                          "is not a finite number, or out of all proportion to the others",
                          bad);
    if (odd != INT64_MAX)
        return talus_fail(TALUS_ERR_ARGUMENT,
                          "detect: body %lld is a sphere of radius %g and size %g; they must be "
                          "equal",
                          odd, grid->bodies->radius[odd], grid->bodies->size[odd]);
    return TALUS_OK;
}

TalusStatus talus_grid_build(TalusGrid *grid, TalusPool *pool, TalusScratch *scratch,
                             const TalusBodyView *bodies, const TalusDetectOptions *options)
{
    grid->bodies = bodies;
    grid->options = options;
    grid->drift = talus_vec3(0.0, 0.0, 0.0);
    grid->unit = grid->per_unit = grid->phase = 1.0;
    grid->large = INFINITY;
    grid->walls = grid->levels = 0;
    grid->members = grid->cells = 0;
    choose_parameters(grid);
    TALUS_TRY(collect_walls(grid));
    TALUS_TRY(measure_bodies(grid, pool));
    if (grid->moving == 0)
        return TALUS_OK;
    TALUS_TRY(lay_out_levels(grid));
    return sort_into_cells(grid, pool, scratch);
}

void talus_grid_clear(TalusGrid *grid)
{
    talus_release(grid->wall);
    talus_release(grid->fat);
    talus_release(grid->entry);
    talus_release(grid->start);
}
