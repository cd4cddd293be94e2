/* engine/cuda/grid.cu - bodies in the cells of the hierarchical grid (collide/grid.h).
 *
 *     sample    drift, unit, edge_factor and box of the grid, from a sample of free bodies
 *     measure   fat radius and size class of each body, walls, refusals
 *     fit       in periodic space: limit of fat radii (collide/fit.h); measure again if exceeded
 *     lay out   levels, walls
 *     enter     the cell of each body, its number in the cell, counts of the cells
 *     scan      first problem index of each cell
 *     collect   each cell's bodies, in any order
 *     arrange   in order of slots; sorted copies for the search
 *     seat      problem indices of driven walls
 *
 * Atomics count the bodies of a cell, which is faster than sorting. A body's rank in its cell then follows from
 * comparing slots, so that problem indices depend on the state alone. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/detect.h"

#include <float.h>

/* One sample per thread, except in emulation on the host; in sequence each would wait for memory. */
#ifdef TALUS_EMULATED
enum { SAMPLE_THREADS = THREADS };
#else
enum { SAMPLE_THREADS = TALUS_GRID_SAMPLE };
#endif

enum { PER_THREAD = TALUS_GRID_SAMPLE / SAMPLE_THREADS, ENOUGH = 16 };

/* ---- sample ---- */

/* reduce_block with the result in all threads. */
template <int SUMS, int MAXIMA> static __device__ inline void reduce_all(double (&v)[SUMS + MAXIMA])
{
    __shared__ double result[SUMS + MAXIMA];
    reduce_block<SUMS, MAXIMA>(v);
    if (threadIdx.x == 0)
        for (int k = 0; k < SUMS + MAXIMA; k++)
            result[k] = v[k];
    __syncthreads();
    for (int k = 0; k < SUMS + MAXIMA; k++)
        v[k] = result[k];
    __syncthreads();
}

/* True for a free body with finite position and velocity that is no wall. */
static __device__ bool sampled(const TalusBodyView &v, int64_t i)
{
    if (v.shape[i] < 0 || v.mobility[i] != TALUS_MOBILITY_FREE ||
        talus_shape_has(talus_body_kind(&v, (uint32_t)i), TALUS_TRAIT_WALL))
        return false;
    TalusVec3 x = v.position[i], u = v.velocity[i];
    return fabs(x.x) + fabs(x.y) + fabs(x.z) + fabs(u.x) + fabs(u.y) + fabs(u.z) < INFINITY;
}

/* Returns the slot at a place in the order of ids. */
static __device__ uint32_t slot_at(const CuDetect &d, int64_t place)
{
    return d.bodies.at_rank ? d.bodies.at_rank[place] : (uint32_t)place;
}

/* Returns the k-th of a pseudorandom sequence of places, which depends on their number alone. Places at regular intervals
 * could all be of one column of bodies that were made in rows. */
static __device__ int64_t random_place(uint32_t k, int64_t slots)
{
    uint64_t x = (k + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (int64_t)((x >> 32) * (uint64_t)slots >> 32);
}

/* Writes this thread's share of the sample, up to PER_THREAD free bodies; returns their number. If random places hold
 * fewer than ENOUGH free bodies in all, samples the first ones by id instead. */
static __device__ int take_sample(const CuDetect &d, uint32_t sample[PER_THREAD])
{
    int have = 0;
    for (uint32_t k = 0; k < PER_THREAD; k++) {
        int64_t at = (int64_t)k * SAMPLE_THREADS + threadIdx.x;
        int64_t i = d.slots > TALUS_GRID_SAMPLE ? random_place((uint32_t)at, d.slots) : at;
        if (i < d.slots && sampled(d.bodies, slot_at(d, i)))
            sample[have++] = slot_at(d, i);
    }
    double total[1] = {(double)have};
    reduce_all<1, 0>(total);
    if (total[0] >= ENOUGH || d.slots <= TALUS_GRID_SAMPLE)
        return have;
    have = 0; /* few bodies move: take the first ones */
    for (int64_t from = 0; from < d.slots && total[0] < ENOUGH; from += SAMPLE_THREADS) {
        int64_t i = from + threadIdx.x;
        if (i < d.slots && have < PER_THREAD && sampled(d.bodies, slot_at(d, i)))
            sample[have++] = slot_at(d, i);
        total[0] = have;
        reduce_all<1, 0>(total);
    }
    return have;
}

/* Returns the edge_factor of least cost (talus_edge_factor_cost) for the sampled fat radii. histogram: their numbers by
 * mantissa, in TALUS_EDGE_FACTORS equal classes. */
static __device__ double choose_edge_factor(const int *histogram)
{
    __shared__ double cost[TALUS_EDGE_FACTORS];
    if (threadIdx.x < TALUS_EDGE_FACTORS)
        cost[threadIdx.x] = talus_edge_factor_cost(histogram, (int)threadIdx.x);
    __syncthreads();
    int best = 0;
    for (int k = 1; k < TALUS_EDGE_FACTORS; k++)
        best = cost[k] < cost[best] ? k : best;
    return talus_edge_factor(best);
}

/* Chooses unit, edge_factor and `large` of the grid from the fat radii of the sample. */
static __device__ void choose_sizes(const CuDetect &d, const uint32_t *sample, int have, int moving,
                                    TalusVec3 drift)
{
    __shared__ int histogram[TALUS_EDGE_FACTORS];
    if (threadIdx.x < TALUS_EDGE_FACTORS)
        histogram[threadIdx.x] = 0;
    __syncthreads();
    double sum[1] = {0.0};
    for (int k = 0; k < have; k++) {
        double fat = talus_fat_radius(&d.bodies, &d.options, drift, sample[k]);
        int exponent;
        double fraction = frexp(fat * TALUS_GRID_SLACK, &exponent); /* in [1/2, 1) */
        if (fat > 0.0 && fat < INFINITY)
            atomicAdd(&histogram[(int)((2.0 * fraction - 1.0) * TALUS_EDGE_FACTORS)], 1);
        sum[0] += fat;
    }
    reduce_all<1, 0>(sum);
    double edge_factor = choose_edge_factor(histogram);
    if (threadIdx.x != 0)
        return;
    int exponent = 0;
    bool fine = sum[0] > 0.0 && sum[0] < INFINITY;
    if (fine)
        frexp(sum[0] / moving, &exponent);
    d.grid->unit = ldexp(1.0, exponent);
    d.grid->edge_factor = edge_factor;
    double large = fine ? TALUS_GRID_LARGE * sum[0] / moving : INFINITY;
    if (d.bodies.period) /* larger bodies fit into the period only as walls (collide/fit.h) */
        large = fmin(large, 0.25 * talus_shortest_period(d.bodies.period));
    d.grid->large = (float)(large / d.grid->unit);
}

/* Chooses the box of the grid, along each axis: mean position -+ four mean absolute deviations, clipped to the range of
 * the sample. It holds all of a uniform bed, and little more when a few bodies are far from it. sum[0..2]: sums of
 * positions. */
static __device__ void choose_range(const CuDetect &d, const uint32_t *sample, int have, int moving,
                                    const double *sum)
{
    const double mean[3] = {sum[0] / moving, sum[1] / moving, sum[2] / moving};
    double v[9] = {0.0, 0.0, 0.0, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int k = 0; k < have; k++) {
        TalusVec3 p = d.bodies.position[sample[k]];
        const double x[3] = {p.x, p.y, p.z};
        for (int axis = 0; axis < 3; axis++) {
            v[axis] += fabs(x[axis] - mean[axis]) / moving;
            v[3 + axis] = fmax(v[3 + axis], x[axis]);
            v[6 + axis] = fmax(v[6 + axis], -x[axis]);
        }
    }
    reduce_all<3, 6>(v);
    if (threadIdx.x != 0)
        return;
    double low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = fmax(-v[6 + axis], mean[axis] - 4.0 * v[axis]);
        high[axis] = fmin(v[3 + axis], mean[axis] + 4.0 * v[axis]);
    }
    d.grid->low = talus_vec3(low[0], low[1], low[2]);
    d.grid->high = talus_vec3(high[0], high[1], high[2]);
}

/* Chooses the grid's drift, unit, edges and box by a sample of the free bodies; one thread block. `seen`: totals 0 and
 * 1 of cu_predict_velocities; if they show a fault, grid->moving is 0. */
static __global__ void __launch_bounds__(SAMPLE_THREADS)
    sample_bodies(CuDetect d, const double *seen)
{
    uint32_t sample[PER_THREAD];
    CuGridShape *grid = d.grid;
    const bool sound = !(seen[0] > -HUGE_VAL);
    int have = take_sample(d, sample);
    double sum[7] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, (double)have};
    for (int k = 0; k < have; k++) {
        TalusVec3 x = d.bodies.position[sample[k]], u = d.bodies.velocity[sample[k]];
        sum[0] += x.x, sum[1] += x.y, sum[2] += x.z;
        sum[3] += u.x, sum[4] += u.y, sum[5] += u.z;
    }
    reduce_all<7, 0>(sum);
    int moving = (int)sum[6];
    TalusVec3 drift = talus_vec3(0.0, 0.0, 0.0);
    if (moving)
        drift = talus_scale(1.0 / moving, talus_vec3(sum[3], sum[4], sum[5]));
    if (threadIdx.x == 0) {
        grid->found.fault = sound ? CU_NONE : (uint32_t)-seen[0];
        grid->found.min_size = -seen[1];
        grid->found.bad = grid->found.odd = grid->found.loose = CU_NONE;
        grid->found.unsupported = ~0ull;
        grid->moving = sound ? moving : 0;
        grid->drift = drift;
    }
    choose_sizes(d, sample, have, moving > 0 ? moving : 1, drift);
    choose_range(d, sample, have, moving > 0 ? moving : 1, sum);
}

/* ---- measure ---- */

/* Returns CuDetect.fat of slot i: the fat radius (radius plus margin) in units, negated unless the body is a free
 * sphere; 0 for an empty slot, a wall by shape, a fault, or if nothing moves. Lists walls and records faults in the
 * grid. */
static __device__ float measure(const CuDetect &d, uint32_t i)
{
    const TalusBodyView *v = &d.bodies;
    CuGridShape *grid = d.grid;
    if (v->shape[i] < 0)
        return 0.0f;
    TalusShapeKind kind = talus_body_kind(v, i);
    bool fixed = v->mobility[i] != TALUS_MOBILITY_FREE, sphere = kind == TALUS_SHAPE_SPHERE;
    if (talus_shape_has(kind, TALUS_TRAIT_WALL) && !fixed)
        atomicMin(&grid->found.loose, i);
    if (!talus_body_is_finite(v, i))
        atomicMin(&grid->found.bad, i);
    else if (sphere && v->size[i] != v->radius[i])
        atomicMin(&grid->found.odd, i);
    else if (talus_shape_has(kind, TALUS_TRAIT_WALL)) {
        uint32_t k = atomicAdd(&grid->found.unbounded, 1u);
        if (k < d.wall_capacity)
            d.wall_slot[k] = i;
    } else if (grid->moving) {
        float fat = (float)(talus_fat_radius(v, &d.options, grid->drift, i) / grid->unit *
                            TALUS_GRID_SLACK);
        if (!(fat >= FLT_MIN && fat <= FLT_MAX))
            atomicMin(&grid->found.bad, i);
        if (cu_large(d, i, -fat)) {
            uint32_t k = atomicAdd(&grid->large_walls, 1u);
            if (k < TALUS_LARGE_WALLS)
                grid->large_wall[k] = i;
        }
        return sphere && !fixed ? fat : -fat;
    }
    return 0.0f;
}

static __global__ void measure_bodies(CuDetect d, bool again)
{
    __shared__ uint32_t count[CU_CLASSES];
    if (again && !d.grid->again)
        return;
    for (unsigned k = threadIdx.x; k < CU_CLASSES; k += blockDim.x)
        count[k] = 0;
    __syncthreads();
    double edge_factor = d.grid->edge_factor;
    for (int64_t i = item(); i < d.slots; i += stride()) {
        float fat = measure(d, (uint32_t)i);
        d.fat[i] = fat;
        if (fat != 0.0f)
            atomicAdd(&count[cu_class_of(fat, edge_factor)], 1u);
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < CU_CLASSES; k += blockDim.x)
        if (count[k])
            atomicAdd(&d.grid->size_class[k], count[k]);
}

/* ---- lay out ---- */

/* Writes d.wall in order of ids. Large bodies become walls and leave the size classes; if there are more than
 * TALUS_LARGE_WALLS, they stay in the grid, with grid->large infinite. */
static __device__ void lay_out_walls(const CuDetect &d)
{
    CuGridShape *grid = d.grid;
    uint32_t unbounded = grid->found.unbounded, large = grid->large_walls;
    unbounded = unbounded < d.wall_capacity ? unbounded : d.wall_capacity;
    large = large <= TALUS_LARGE_WALLS ? large : 0;
    uint32_t walls = unbounded + large;
    for (uint32_t k = threadIdx.x; k < walls; k += blockDim.x) {
        uint32_t slot = k < unbounded ? d.wall_slot[k] : grid->large_wall[k - unbounded];
        uint32_t rank = 0;
        for (uint32_t j = 0; j < walls; j++) {
            uint32_t other = j < unbounded ? d.wall_slot[j] : grid->large_wall[j - unbounded];
            rank += talus_ranks_before(d.bodies.rank, other, slot);
        }
        d.wall[rank] = talus_make_wall(&d.bodies, &d.options, grid->drift, slot, 1.0);
        if (k >= unbounded)
            atomicAdd(&grid->size_class[cu_class_of(d.fat[slot], grid->edge_factor)], (uint32_t)-1);
    }
    if (threadIdx.x == 0) {
        grid->walls = (int)walls;
        if (grid->large_walls > TALUS_LARGE_WALLS)
            grid->large = INFINITY;
    }
    __syncthreads();
}

/* ---- periodic space ---- */

static __global__ void find_walls(CuDetect d, bool again)
{
    if (!again || d.grid->again)
        lay_out_walls(d);
}

/* Sets the drift to 0 and resets all counts of the first measurement, for a second one. */
static __device__ void forget_drift(CuGridShape *grid)
{
    grid->again = true;
    grid->drift = talus_vec3(0.0, 0.0, 0.0);
    grid->found.unbounded = grid->large_walls = 0;
    for (int k = 0; k < CU_CLASSES; k++)
        grid->size_class[k] = 0;
}

/* Computes the limit of fat radii within which bodies meet nearest images only (collide/fit.h). A drift widens the
 * margins of bodies that do not share it; if some exceed the limit, bodies are measured again without drift. */
static __global__ void fit_bodies(CuDetect d, bool again, CuPartials partials)
{
    CuGridShape *grid = d.grid;
    double v[2] = {0.0, 0.0};
    if (!grid->moving || (again && !grid->again))
        return;
    for (int64_t i = item(); i < d.slots; i += stride()) {
        float fat = d.fat[i];
        if (fat == 0.0f || cu_large(d, (uint32_t)i, fat))
            continue;
        v[0] = larger(v[0], fabs((double)fat) * grid->unit);
        v[1] = larger(v[1], talus_resting_fat_radius(&d.bodies, &d.options, (uint32_t)i));
    }
    if (!reduce_grid<0, 2>(partials, v))
        return;
    TalusFit fit = {};
    fit.largest = v[0];
    fit.at_rest = v[1];
    talus_fit_period(&fit, &d.bodies, &d.options, grid->drift, d.wall, grid->walls, 1.0);
    grid->found.fit = fit;
    if (!again && fit.result == TALUS_FIT_OK && talus_fit_has_clipped(&fit))
        forget_drift(grid);
}

/* Reduces fat radii to the limit of fit_bodies, large walls excepted; counts in found.fit.clipped the bodies that may
 * miss a contact because of it. */
static __global__ void clip_bodies(CuDetect d)
{
    CuGridShape *grid = d.grid;
    const TalusFit fit = grid->found.fit;
    int64_t i = item();
    if (i >= d.slots || !grid->moving || fit.largest < fit.limit)
        return;
    double limit = talus_clipped_fat_radius(&fit) / grid->unit;
    float fat = d.fat[i], clipped = (float)limit;
    if (!(fabs((double)fat) > limit) || cu_large(d, (uint32_t)i, fat))
        return;
    if (talus_clipped_body_may_miss(&fit, &d.bodies, &d.options, grid->drift, (uint32_t)i))
        atomicAdd(&grid->found.fit.clipped, 1);
    atomicAdd(&grid->size_class[cu_class_of(fat, grid->edge_factor)], (uint32_t)-1);
    atomicAdd(&grid->size_class[cu_class_of(clipped, grid->edge_factor)], 1u);
    d.fat[i] = fat < 0.0f ? -clipped : clipped;
}

static TalusStatus fit_period(const CuDetect *d, unsigned blocks)
{
    TALUS_TRY(cu_partials_reserve(d->cu, blocks, 2));
    for (int again = 0; again < 2; again++) {
        if (again)
            launch_block(d->cu, measure_bodies, blocks, THREADS, *d, true);
        launch_block(d->cu, find_walls, 1, THREADS, *d, again);
        launch_block(d->cu, fit_bodies, blocks, THREADS, *d, again, cu_partials(d->cu));
    }
    launch(d->cu, clip_bodies, blocks_for(d->slots), THREADS, *d);
    return TALUS_OK;
}

/* ---- levels ---- */

/* Assigns levels to the size classes that have bodies, from the largest, `most`, down to `least`. Classes beyond
 * TALUS_MAX_LEVELS share the last level, whose cells are larger than they need. Also counts the members of the grid. */
static __device__ void name_levels(CuGridShape *grid, const uint32_t *count, int most, int least)
{
    int levels = 0;
    uint32_t members = 0;
    for (int k = most; k >= least; k--) {
        if (count[k] == 0)
            continue;
        if (levels < TALUS_MAX_LEVELS) {
            TalusLevel *level = &grid->level[levels++];
            level->edge = ldexp(grid->edge_factor, k + CU_CLASS_ZERO - 1023) * grid->unit;
            level->per_edge = 1.0 / level->edge;
            level->bodies = 0;
        }
        grid->level[levels - 1].bodies += count[k];
        grid->level_of_class[k] = (uint8_t)(levels - 1);
        members += count[k];
    }
    grid->levels = levels;
    grid->found.members = members;
}

/* Returns the problem index of driven wall w: after the grid's bodies and the driven walls before it. With w the number
 * of walls: the number of problem bodies. */
static __device__ uint32_t wall_index(const CuDetect &d, int w)
{
    uint32_t problem_index = d.grid->found.members;
    for (int k = 0; k < w; k++)
        problem_index += d.bodies.mobility[d.wall[k].body] == TALUS_MOBILITY_DRIVEN;
    return problem_index;
}

static __global__ void lay_out(CuDetect d)
{
    __shared__ uint32_t count[CU_CLASSES];
    __shared__ int most, least;
    CuGridShape *grid = d.grid;
    if (!d.bodies.period) /* else done already */
        lay_out_walls(d);
    if (threadIdx.x == 0) {
        most = -1;
        least = CU_CLASSES;
    }
    __syncthreads();
    for (int k = (int)threadIdx.x; k < CU_CLASSES; k += (int)blockDim.x) {
        count[k] = ((volatile uint32_t *)grid->size_class)[k];
        if (count[k]) {
            atomicMax(&most, k);
            atomicMin(&least, k);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        name_levels(grid, count, most, least);
        grid->found.problem_bodies = wall_index(d, grid->walls);
    }
    __syncthreads();
    for (int l = (int)threadIdx.x; l < grid->levels; l += (int)blockDim.x)
        talus_lay_out_level(&grid->level[l], grid->low, grid->high);
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    uint64_t cells = 0;
    for (int l = grid->levels - 1; l >= 0; l--) {
        const int64_t *n = grid->level[l].cells;
        grid->level[l].first = (uint32_t)cells;
        cells += (uint64_t)(n[0] * n[1] * n[2]);
    }
}

/* ---- cells ---- */

static __device__ uint32_t cell_of_body(const TalusLevel *level, TalusVec3 x)
{
    int64_t cx = talus_fold_cell(level, 0, talus_cell_coordinate(level, x.x));
    int64_t cy = talus_fold_cell(level, 1, talus_cell_coordinate(level, x.y));
    int64_t cz = talus_fold_cell(level, 2, talus_cell_coordinate(level, x.z));
    return level->first + (uint32_t)((cz * level->cells[1] + cy) * level->cells[0] + cx);
}

static __global__ void enter_cells(CuDetect d)
{
    int64_t i = item();
    if (i >= d.slots)
        return;
    float fat = d.fat[i];
    if (fat == 0.0f || cu_large(d, (uint32_t)i, fat)) {
        d.cell[i] = CU_NONE;
        d.problem_index[i] = -1;
        return;
    }
    const CuGridShape *grid = d.grid;
    const TalusLevel *level =
        &grid->level[grid->level_of_class[cu_class_of(fat, grid->edge_factor)]];
    uint32_t cell = cell_of_body(level, d.bodies.position[i]);
    d.cell[i] = cell;
    d.rank[i] = atomicAdd(&d.start[cell], 1u);
}

static __global__ void collect(CuDetect d)
{
    int64_t i = item();
    if (i < d.slots && d.cell[i] != CU_NONE)
        d.temp[d.start[d.cell[i]] + d.rank[i]] = (uint32_t)i;
}

static __global__ void arrange(CuDetect d)
{
    int64_t k = item();
    if (k >= d.grid->found.members)
        return;
    uint32_t i = d.temp[k], cell = d.cell[i];
    uint32_t begin = d.start[cell], end = d.start[cell + 1], problem_index = begin;
    for (uint32_t j = begin; j < end; j++)
        problem_index += talus_ranks_before(d.bodies.rank, d.temp[j], i);
    TalusVec3 x = d.bodies.position[i];
    d.slot[problem_index] = i;
    d.problem_index[i] = (int32_t)problem_index;
    d.ball[problem_index] = CuBall{x.x, x.y, x.z, d.bodies.radius[i]};
    d.ball_fat[problem_index] = d.fat[i];
}

static __global__ void seat_walls(CuDetect d)
{
    for (int w = (int)item(); w < d.grid->walls; w += (int)blockDim.x) {
        uint32_t body = d.wall[w].body, problem_index = wall_index(d, w);
        if (d.bodies.mobility[body] != TALUS_MOBILITY_DRIVEN)
            continue;
        d.slot[problem_index] = body;
        d.problem_index[body] = (int32_t)problem_index;
    }
}

TalusStatus cu_grid_build(const CuDetect *d)
{
    unsigned blocks = blocks_for(d->slots), some = blocks < 1056 ? blocks : 1056;
    int64_t cells = 2 * d->slots + CU_SPARE_CELLS;
    cu_zero(d->cu, d->grid, sizeof *d->grid);
    launch_block(d->cu, sample_bodies, 1, SAMPLE_THREADS, *d, d->cu->totals);
    launch_block(d->cu, measure_bodies, some, THREADS, *d, false);
    if (d->bodies.period)
        TALUS_TRY(fit_period(d, some));
    launch_block(d->cu, lay_out, 1, THREADS, *d);
    cu_zero(d->cu, d->start, (size_t)cells * sizeof *d->start);
    launch(d->cu, enter_cells, blocks, THREADS, *d);
    TALUS_TRY(cu_scan(d->cu, d->start, d->start, cells));
    launch(d->cu, collect, blocks, THREADS, *d);
    launch(d->cu, arrange, blocks, THREADS, *d);
    if (d->driven)
        launch(d->cu, seat_walls, 1, THREADS, *d);
    return TALUS_OK;
}
