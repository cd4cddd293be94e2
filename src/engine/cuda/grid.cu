/* engine/cuda/grid.cu - bodies in the cells of the hierarchical grid (collide/grid.h).
 *
 *     draw_sample           a sample of the free bodies, in any order (collide/grid_level.h)
 *     choose_grid           drift, unit, edge_factor and box of the grid, from the sample
 *     measure_bodies        fat radius and size class of each body, walls, refusals
 *     fit_into_period       in periodic space: limit of fat radii (collide/fit.h); measures again if bodies exceed it
 *     lay_out_grid          walls and levels
 *     enter_cells           the cell of each body, its number in the cell, number of bodies of each cell
 *     cu_scan               first problem index of each cell
 *     collect_cell_bodies   the bodies of each cell, in any order
 *     number_grid_bodies    problem indices, within a cell in the order of ids; copies for the search
 *     number_driven_walls   problem indices of driven walls
 *
 * Atomic operations count the bodies of a cell, which is faster than sorting. The order of bodies within a cell then
 * follows from comparing ids, so that problem indices depend on the state alone. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/detect.h"

#include <float.h>

/* Threads that read the sample: one per sampled body, because one thread that loads several bodies waits for memory each
 * time; fewer if emulated. */
#ifdef TALUS_EMULATED
enum { SAMPLE_THREADS = THREADS };
#else
enum { SAMPLE_THREADS = TALUS_GRID_SAMPLE };
#endif

/* Largest number of sampled bodies that a thread reads. */
enum { PER_THREAD = TALUS_GRID_SAMPLE / SAMPLE_THREADS };

/* ---- sample ---- */

/* As reduce_block, but all threads of the block get the result. */
template <int SUMS, int MAXIMA>
static __device__ inline void reduce_to_all_threads(double (&v)[SUMS + MAXIMA])
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

/* Forms the sums and maxima of a stage: over all threads of the block or, on several ranks, of all of them if this run of
 * choose_grid is of a later stage. */
template <int STAGE, int SUMS, int MAXIMA>
static __device__ inline void reduce_sample(const CuDetect &d, int run, double (&v)[SUMS + MAXIMA])
{
    double *agreed = d.grid->agreed[STAGE];
    if (STAGE >= run || run == SAMPLE_ALONE)
        reduce_to_all_threads<SUMS, MAXIMA>(v);
    for (int k = 0; k < SUMS + MAXIMA; k++) {
        if (STAGE < run)
            v[k] = agreed[k];
        else if (STAGE == run && threadIdx.x == 0)
            agreed[k] = v[k];
    }
}

/* Adds this rank's bodies of the sample to grid->sample, in any order. */
static __global__ void draw_sample(CuDetect d)
{
    int64_t i = item_index();
    if (i >= d.own || talus_sample_hash(&d.bodies, i) > d.sample_limit ||
        !talus_can_be_sampled(&d.bodies, i))
        return;
    uint32_t k = atomicAdd(&d.grid->drawn, 1u);
    if (k < TALUS_GRID_SAMPLE)
        d.grid->sample[k] = (uint32_t)i;
}

/* True if the sample has all bodies that can be sampled, and threads find them without draw_sample. */
static __host__ __device__ bool samples_all_slots(const CuDetect &d)
{
    return !d.comm && d.slots <= TALUS_GRID_SAMPLE;
}

/* Writes the slots of this thread's part of the sample, at most PER_THREAD, and returns their number. */
static __device__ int read_sample(const CuDetect &d, uint32_t slot[PER_THREAD])
{
    const bool all = samples_all_slots(d);
    const int64_t capacity = TALUS_GRID_SAMPLE, count = all ? d.slots : (int64_t)d.grid->drawn;
    const int64_t end = count < capacity ? count : capacity;
    int own_count = 0;
    for (int64_t at = threadIdx.x; at < end; at += SAMPLE_THREADS)
        if (!all || talus_can_be_sampled(&d.bodies, at))
            slot[own_count++] = all ? (uint32_t)at : d.grid->sample[at];
    return own_count;
}

/* Returns the edge_factor of least cost (talus_edge_factor_cost). histogram: number of sampled fat radii by mantissa,
 * in TALUS_EDGE_FACTORS equal classes. All threads of the block call it. */
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

/* Replaces the histogram by that of all ranks if this run is of a later stage. All threads of the block call it. */
static __device__ void share_histogram(const CuDetect &d, int run, int *histogram)
{
    double *agreed = d.grid->agreed[SAMPLE_HISTOGRAM];
    for (unsigned k = threadIdx.x; k < TALUS_EDGE_FACTORS; k += blockDim.x) {
        if (SAMPLE_HISTOGRAM < run)
            histogram[k] = (int)agreed[k];
        else if (SAMPLE_HISTOGRAM == run)
            agreed[k] = histogram[k];
    }
    __syncthreads();
}

/* Sets unit, edge_factor and large_radius of the grid from the fat radii of the sample. fat[own_count]: those of this
 * thread; largest: of all threads. sampled: number of bodies of all threads. All threads of the block call it. */
static __device__ void choose_sizes(const CuDetect &d, int run, const double *fat, int own_count,
                                    int sampled, double largest)
{
    __shared__ int histogram[TALUS_EDGE_FACTORS];
    for (unsigned k = threadIdx.x; k < TALUS_EDGE_FACTORS; k += blockDim.x)
        histogram[k] = 0;
    __syncthreads();
    double sum[1] = {0.0}, rounder = talus_term_rounder(largest);
    for (int k = 0; k < own_count; k++) {
        int exponent;
        double fraction = frexp(fat[k] * TALUS_GRID_SLACK, &exponent); /* in [1/2, 1) */
        if (fat[k] > 0.0 && fat[k] < INFINITY)
            atomicAdd(&histogram[(int)((2.0 * fraction - 1.0) * TALUS_EDGE_FACTORS)], 1);
        sum[0] += talus_round_term(fat[k], rounder);
    }
    __syncthreads();
    reduce_sample<SAMPLE_SIZES, 1, 0>(d, run, sum);
    share_histogram(d, run, histogram);
    double edge_factor = choose_edge_factor(histogram);
    if (threadIdx.x != 0)
        return;
    int exponent = 0;
    bool fine = sum[0] > 0.0 && sum[0] < INFINITY;
    if (fine)
        frexp(sum[0] / sampled, &exponent);
    d.grid->unit = ldexp(1.0, exponent);
    d.grid->edge_factor = edge_factor;
    double large = fine ? TALUS_GRID_LARGE * sum[0] / sampled : INFINITY;
    if (d.bodies.period) /* larger bodies fit into the period only as walls (collide/fit.h) */
        large = fmin(large, 0.25 * talus_shortest_period(d.bodies.period));
    d.grid->large_radius = (float)(large / d.grid->unit);
}

/* Sets the box of the grid, low and high: along each axis mean position -+ four mean absolute deviations, clipped to
 * the range of the sample. The box contains all of a uniform bed, and little more if a few bodies are far from the bed.
 * highest[axis], highest[3 + axis]: largest coordinate and largest negated coordinate; deviation: sums of the `sampled`
 * absolute deviations from the mean. */
static __device__ void choose_box(CuGridLayout *grid, const double *highest, const double *mean,
                                  const double *deviation, int sampled)
{
    double low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = fmax(-highest[3 + axis], mean[axis] - 4.0 * deviation[axis] / sampled);
        high[axis] = fmin(highest[axis], mean[axis] + 4.0 * deviation[axis] / sampled);
    }
    grid->low = talus_vec3(low[0], low[1], low[2]);
    grid->high = talus_vec3(high[0], high[1], high[2]);
}

/* Sets highest[axis] and highest[3 + axis] as in choose_box, and highest[6]: the largest component of a velocity; over
 * the sample. All threads of the block call it. */
static __device__ void find_ranges(const CuDetect &d, int run, const uint32_t *slot, int own_count,
                                   double (&highest)[7])
{
    for (int k = 0; k < 7; k++)
        highest[k] = -HUGE_VAL;
    for (int k = 0; k < own_count; k++) {
        TalusVec3 x = d.bodies.position[slot[k]], u = d.bodies.velocity[slot[k]];
        for (int axis = 0; axis < 3; axis++) {
            highest[axis] = fmax(highest[axis], talus_along(x, axis));
            highest[3 + axis] = fmax(highest[3 + axis], -talus_along(x, axis));
            highest[6] = fmax(highest[6], fabs(talus_along(u, axis)));
        }
    }
    reduce_sample<SAMPLE_RANGES, 0, 7>(d, run, highest);
}

/* Sets sum[axis] and sum[3 + axis] to the sums of the sample's positions and velocities, and sum[6] to the number of
 * its bodies. All threads of the block call it. */
static __device__ void sum_motions(const CuDetect &d, int run, const uint32_t *slot, int own_count,
                                   const double (&highest)[7], double (&sum)[7])
{
    for (int k = 0; k < 6; k++)
        sum[k] = 0.0;
    sum[6] = (double)own_count;
    for (int axis = 0; axis < 3; axis++) {
        double far = fmax(fabs(highest[axis]), fabs(highest[3 + axis]));
        double of_x = talus_term_rounder(far), of_u = talus_term_rounder(highest[6]);
        for (int k = 0; k < own_count; k++) {
            sum[axis] += talus_round_term(talus_along(d.bodies.position[slot[k]], axis), of_x);
            sum[3 + axis] += talus_round_term(talus_along(d.bodies.velocity[slot[k]], axis), of_u);
        }
    }
    reduce_sample<SAMPLE_MOTIONS, 7, 0>(d, run, sum);
}

/* Writes the fat radii of this thread's part of the sample, and to v the sums of all absolute deviations from the mean
 * along each axis and the largest fat radius. All threads of the block call it. */
static __device__ void measure_sample(const CuDetect &d, int run, const uint32_t *slot,
                                      int own_count, const double (&highest)[7], const double *mean,
                                      TalusVec3 drift, double *fat, double (&v)[4])
{
    for (int axis = 0; axis < 3; axis++) {
        double rounder = talus_term_rounder(highest[axis] + highest[3 + axis]);
        v[axis] = 0.0;
        for (int k = 0; k < own_count; k++) {
            double x = talus_along(d.bodies.position[slot[k]], axis);
            v[axis] += talus_round_term(fabs(x - mean[axis]), rounder);
        }
    }
    v[3] = 0.0;
    for (int k = 0; k < own_count; k++) {
        fat[k] = talus_fat_radius(&d.bodies, &d.options, drift, slot[k]);
        v[3] = fmax(v[3], fat[k]);
    }
    reduce_sample<SAMPLE_DEVIATIONS, 3, 1>(d, run, v);
}

/* Chooses drift, unit, edge_factor, large_radius and box of the grid from the sample, and initialises grid->found; one
 * block of threads. `seen`: totals 0 and 1 of cu_write_detection_motions; if total 0 names a body of bad state,
 * grid->sampled is 0. run: stage of this run, SAMPLE_STAGES after all of them; SAMPLE_ALONE on one rank. */
static __global__ void __launch_bounds__(SAMPLE_THREADS)
    choose_grid(CuDetect d, const double *seen, int run)
{
    uint32_t slot[PER_THREAD];
    double fat[PER_THREAD], highest[7], sum[7], v[4];
    CuGridLayout *grid = d.grid;
    const bool sound = !(seen[0] > -HUGE_VAL);
    int own_count = read_sample(d, slot);
    find_ranges(d, run, slot, own_count, highest);
    sum_motions(d, run, slot, own_count, highest, sum);
    int sampled = (int)sum[6], count = sampled > 0 ? sampled : 1;
    const double mean[3] = {sum[0] / count, sum[1] / count, sum[2] / count};
    TalusVec3 drift = talus_scale(1.0 / count, talus_vec3(sum[3], sum[4], sum[5]));
    measure_sample(d, run, slot, own_count, highest, mean, drift, fat, v);
    if (threadIdx.x == 0) {
        grid->found.bad_state = sound ? CU_NONE : (uint32_t)-seen[0];
        grid->found.min_size = -seen[1];
        grid->found.bad_radius = grid->found.bad_sphere = grid->found.free_wall = CU_NONE;
        grid->found.unsupported = ~0ull;
        grid->sampled = sound ? sampled : 0;
        grid->drift = drift;
        choose_box(grid, highest, mean, v, count);
    }
    choose_sizes(d, run, fat, own_count, count, v[3]);
}

/* ---- fat radii ---- */

/* Returns CuDetect.fat of slot i: the fat radius in grid->unit, negated unless the body is a free sphere; 0 for an
 * empty slot, a wall by shape, a body with numbers that are not finite, a sphere of size != radius, or if the sample is
 * empty. Also adds walls to wall_slot or large_wall, and records bad bodies in grid->found. */
static __device__ float measure_body(const CuDetect &d, uint32_t i)
{
    const TalusBodyView *v = &d.bodies;
    CuGridLayout *grid = d.grid;
    if (v->shape[i] < 0)
        return 0.0f;
    TalusShapeKind kind = talus_body_kind(v, i);
    bool fixed = v->mobility[i] != TALUS_MOBILITY_FREE, sphere = kind == TALUS_SHAPE_SPHERE;
    if (talus_shape_has(kind, TALUS_TRAIT_WALL) && !fixed)
        atomicMin(&grid->found.free_wall, i);
    if (!talus_body_is_finite(v, i))
        atomicMin(&grid->found.bad_radius, i);
    else if (sphere && v->size[i] != v->radius[i])
        atomicMin(&grid->found.bad_sphere, i);
    else if (talus_shape_has(kind, TALUS_TRAIT_WALL)) {
        uint32_t k = atomicAdd(&grid->found.shape_walls, 1u);
        if (k < d.wall_capacity)
            d.wall_slot[k] = i;
    } else if (grid->sampled) {
        float fat = (float)(talus_fat_radius(v, &d.options, grid->drift, i) / grid->unit *
                            TALUS_GRID_SLACK);
        if (!(fat >= FLT_MIN && fat <= FLT_MAX))
            atomicMin(&grid->found.bad_radius, i);
        if (cu_is_large_wall(d, i, -fat)) {
            if (i < d.own)
                atomicAdd(&grid->own_large_walls, 1u);
            uint32_t k = atomicAdd(&grid->large_walls, 1u);
            if (k < TALUS_LARGE_WALLS)
                grid->large_wall[k] = i;
        }
        return sphere && !fixed ? fat : -fat;
    }
    return 0.0f;
}

/* Fills d.fat and counts this rank's bodies of each size class, large walls included. again: second measurement, which does
 * nothing unless grid->again. */
static __global__ void measure_bodies(CuDetect d, bool again)
{
    __shared__ uint32_t count[CU_CLASSES];
    if (again && !d.grid->again)
        return;
    for (unsigned k = threadIdx.x; k < CU_CLASSES; k += blockDim.x)
        count[k] = 0;
    __syncthreads();
    double edge_factor = d.grid->edge_factor;
    for (int64_t i = item_index(); i < d.slots; i += grid_stride()) {
        float fat = measure_body(d, (uint32_t)i);
        d.fat[i] = fat;
        if (fat != 0.0f && i < d.own)
            atomicAdd(&count[cu_size_class(fat, edge_factor)], 1u);
    }
    __syncthreads();
    for (unsigned k = threadIdx.x; k < CU_CLASSES; k += blockDim.x)
        if (count[k])
            atomicAdd(&d.grid->class_count[k], count[k]);
}

/* ---- walls ---- */

/* Writes d.wall in the order of ids: walls by shape and large walls. Large walls are removed from the size classes; if
 * they are more than TALUS_LARGE_WALLS they stay in the grid, and grid->large_radius becomes infinite. All threads of
 * one block call it. */
static __device__ void lay_out_walls(const CuDetect &d)
{
    CuGridLayout *grid = d.grid;
    uint32_t unbounded = grid->found.shape_walls, large = grid->large_walls;
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
        d.wall_group[rank] = d.filter.group ? d.filter.group[slot] : 0;
        if (k >= unbounded && !d.comm) /* else share_classes has done it */
            atomicAdd(&grid->class_count[cu_size_class(d.fat[slot], grid->edge_factor)],
                      (uint32_t)-1);
    }
    if (threadIdx.x == 0) {
        grid->walls = (int)walls;
        if (grid->large_walls > TALUS_LARGE_WALLS)
            grid->large_radius = INFINITY;
    }
    __syncthreads();
}

/* On several ranks: replaces the number of large walls by a larger one than TALUS_LARGE_WALLS if all ranks together have
 * more. */
static TalusStatus share_large_walls(const CuDetect *d)
{
    const uint32_t too_many = TALUS_LARGE_WALLS + 1;
    uint32_t own = 0;
    if (!d->comm)
        return TALUS_OK;
    cu_get(d->cu, &own, &d->grid->own_large_walls, sizeof own);
    int64_t all = own;
    TALUS_TRY(talus_comm_add_counts(d->comm, &all, 1));
    if (all > TALUS_LARGE_WALLS)
        cu_put(d->cu, &d->grid->large_walls, &too_many, sizeof too_many);
    return TALUS_OK;
}

/* ---- periodic space ---- */

/* Kernel of lay_out_walls, one block, before the period is fitted. again: only if bodies were measured again. */
static __global__ void lay_out_walls_alone(CuDetect d, bool again)
{
    if (!again || d.grid->again)
        lay_out_walls(d);
}

/* Requests a second measurement: sets grid->again, drift 0, and all counts of the first measurement to 0. */
static __device__ void restart_without_drift(CuGridLayout *grid)
{
    grid->again = true;
    grid->drift = talus_vec3(0.0, 0.0, 0.0);
    grid->found.shape_walls = grid->large_walls = grid->own_large_walls = 0;
    for (int k = 0; k < CU_CLASSES; k++)
        grid->class_count[k] = 0;
}

/* Finds the limit of fat radii below which bodies meet nearest images only (collide/fit.h), from the largest radii and the
 * walls; one thread. Returns true if bodies must be measured again without drift, which widens the margins of bodies that
 * move otherwise, because a radius exceeds the limit. */
static __device__ bool find_limit_beside_walls(const CuDetect &d)
{
    TalusFit fit = d.grid->found.fit;
    talus_fit_period(&fit, &d.bodies, &d.options, d.grid->drift, d.wall, d.grid->walls, 1.0);
    d.grid->found.fit = fit;
    return fit.result == TALUS_FIT_OK && talus_fit_has_clipped(&fit);
}

/* Writes found.fit; on several ranks the largest radii of this rank's bodies alone, and share_radius_limit does the rest.
 * If bodies must be measured without drift, requests that. again: after that measurement. */
static __global__ void find_radius_limit(CuDetect d, bool again, CuTallies tallies)
{
    CuGridLayout *grid = d.grid;
    double v[2];
    CuSums<0, 2> largest;
    if (!grid->sampled || (again && !grid->again))
        return;
    for (int64_t i = item_index(); i < d.slots; i += grid_stride()) {
        float fat = d.fat[i];
        if (fat == 0.0f || cu_is_large_wall(d, (uint32_t)i, fat))
            continue;
        v[0] = fabs((double)fat) * grid->unit;
        v[1] = talus_resting_fat_radius(&d.bodies, &d.options, (uint32_t)i);
        largest.add(v);
    }
    if (!reduce_grid(tallies, largest, v))
        return;
    TalusFit fit = {};
    fit.largest = v[0];
    fit.at_rest = v[1];
    grid->found.fit = fit;
    if (!d.comm && find_limit_beside_walls(d) && !again)
        restart_without_drift(grid);
}

/* Kernel of find_limit_beside_walls, for several ranks; one thread. */
static __global__ void find_limit_alone(CuDetect d, bool again)
{
    if (d.grid->sampled && (!again || d.grid->again))
        (void)find_limit_beside_walls(d);
}

/* Kernel of restart_without_drift, for several ranks; one thread. */
static __global__ void restart_alone(CuDetect d)
{
    restart_without_drift(d.grid);
}

/* Finds the limit of fat radii from the largest radii and the walls of all ranks. If it is exceeded on some rank, requests
 * a measurement without drift on all. */
static TalusStatus share_radius_limit(const CuDetect *d, bool again)
{
    TalusFit *at = &d->grid->found.fit, fit = {};
    cu_get(d->cu, &fit, at, sizeof fit);
    double largest[2] = {fit.largest, fit.at_rest};
    talus_comm_find_maxima(d->comm, largest, 2);
    fit.largest = largest[0];
    fit.at_rest = largest[1];
    cu_put(d->cu, at, &fit, sizeof fit);
    launch(d->cu, find_limit_alone, 1, 1, *d, again);
    cu_get(d->cu, &fit, at, sizeof fit);
    talus_comm_find_minima(d->comm, &fit.limit, 1);
    cu_put(d->cu, at, &fit, sizeof fit);
    TALUS_TRY(talus_comm_agree(d->comm, cu_check(d->cu)));
    const bool faulty = talus_comm_any(d->comm, fit.result != TALUS_FIT_OK);
    const bool clipped = talus_comm_any(d->comm, talus_fit_has_clipped(&fit));
    if (clipped && !faulty && !again)
        launch(d->cu, restart_alone, 1, 1, *d);
    return TALUS_OK;
}

/* Reduces fat radii above the limit of find_radius_limit to that limit, except those of large walls, and moves this rank's
 * bodies to their new size classes. Counts in found.fit.clipped those of them that may miss a contact because of the
 * reduction. */
static __global__ void clip_fat_radii(CuDetect d)
{
    CuGridLayout *grid = d.grid;
    const TalusFit fit = grid->found.fit;
    int64_t i = item_index();
    if (i >= d.slots || !grid->sampled || fit.largest < fit.limit)
        return;
    double limit = talus_clipped_fat_radius(&fit) / grid->unit;
    float fat = d.fat[i], clipped = (float)limit;
    if (!(fabs((double)fat) > limit) || cu_is_large_wall(d, (uint32_t)i, fat))
        return;
    d.fat[i] = fat < 0.0f ? -clipped : clipped;
    if (i >= d.own)
        return;
    if (talus_clipped_body_may_miss(&fit, &d.bodies, &d.options, grid->drift, (uint32_t)i))
        atomicAdd(&grid->found.fit.clipped, 1);
    atomicAdd(&grid->class_count[cu_size_class(fat, grid->edge_factor)], (uint32_t)-1);
    atomicAdd(&grid->class_count[cu_size_class(clipped, grid->edge_factor)], 1u);
}

/* In periodic space: finds the limit of fat radii, measures bodies again without drift if needed, clips fat radii. */
static TalusStatus fit_into_period(const CuDetect *d, unsigned blocks)
{
    for (int again = 0; again < 2; again++) {
        if (again) {
            launch_block(d->cu, measure_bodies, blocks, THREADS, *d, true);
            TALUS_TRY(share_large_walls(d));
        }
        launch_block(d->cu, lay_out_walls_alone, 1, THREADS, *d, again);
        launch_block(d->cu, find_radius_limit, blocks, THREADS, *d, again,
                     CuTallies{d->cu->board, nullptr, false});
        if (d->comm)
            TALUS_TRY(share_radius_limit(d, again));
    }
    launch(d->cu, clip_fat_radii, blocks_for(d->slots), THREADS, *d);
    return TALUS_OK;
}

/* ---- levels ---- */

/* Gives a level to each size class that has bodies, from the largest class, `most`, down to `least`. Classes beyond the
 * first TALUS_MAX_LEVELS share the last level, whose cells are larger than their bodies need. Also counts
 * found.members. count: bodies of each class. */
static __device__ void assign_levels(CuGridLayout *grid, const uint32_t *count, int most, int least)
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

/* Returns the problem index of wall w, if driven: number of the grid's bodies plus number of driven walls before w.
 * With w the number of all walls this is the number of problem bodies. */
static __device__ uint32_t driven_wall_index(const CuDetect &d, int w)
{
    uint32_t problem_index = d.grid->found.members;
    for (int k = 0; d.driven && k < w; k++)
        problem_index += d.bodies.mobility[d.wall[k].body] == TALUS_MOBILITY_DRIVEN;
    return problem_index;
}

/* Lays out walls (unless fit_into_period did) and levels, numbers the cells, counts problem bodies; one block. */
static __global__ void lay_out_grid(CuDetect d)
{
    __shared__ uint32_t count[CU_CLASSES];
    __shared__ int most, least;
    CuGridLayout *grid = d.grid;
    if (!d.bodies.period) /* else fit_into_period has done it */
        lay_out_walls(d);
    if (threadIdx.x == 0) {
        most = -1;
        least = CU_CLASSES;
    }
    __syncthreads();
    for (int k = (int)threadIdx.x; k < CU_CLASSES; k += (int)blockDim.x) {
        count[k] = ((volatile uint32_t *)grid->class_count)[k];
        if (count[k]) {
            atomicMax(&most, k);
            atomicMin(&least, k);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        assign_levels(grid, count, most, least);
        grid->found.problem_bodies = driven_wall_index(d, grid->walls);
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

/* Returns the number of the cell of a level that contains x, folded into the level's box. */
static __device__ uint32_t cell_of_position(const TalusLevel *level, TalusVec3 x)
{
    int64_t cx = talus_fold_cell(level, 0, talus_cell_coordinate(level, x.x));
    int64_t cy = talus_fold_cell(level, 1, talus_cell_coordinate(level, x.y));
    int64_t cz = talus_fold_cell(level, 2, talus_cell_coordinate(level, x.z));
    return level->first + (uint32_t)((cz * level->cells[1] + cy) * level->cells[0] + cx);
}

/* Writes the cell of each grid body and its number in the cell, and counts the bodies of each cell in cell_start.
 * Bodies that are not in the grid get cell CU_NONE and problem index -1. */
static __global__ void enter_cells(CuDetect d)
{
    int64_t i = item_index();
    if (i >= d.slots)
        return;
    float fat = d.fat[i];
    if (fat == 0.0f || cu_is_large_wall(d, (uint32_t)i, fat)) {
        d.cell[i] = CU_NONE;
        d.problem_index[i] = -1;
        return;
    }
    const CuGridLayout *grid = d.grid;
    const TalusLevel *level =
        &grid->level[grid->level_of_class[cu_size_class(fat, grid->edge_factor)]];
    uint32_t cell = cell_of_position(level, d.bodies.position[i]);
    d.cell[i] = cell;
    d.number_in_cell[i] = atomicAdd(&d.cell_start[cell], 1u);
}

/* Writes the slots of the grid's bodies to cell_bodies, cell by cell. */
static __global__ void collect_cell_bodies(CuDetect d)
{
    int64_t i = item_index();
    if (i < d.slots && d.cell[i] != CU_NONE)
        d.cell_bodies[d.cell_start[d.cell[i]] + d.number_in_cell[i]] = (uint32_t)i;
}

/* Gives problem indices to the grid's bodies, cell by cell, within a cell in the order of ids. Fills slot and
 * problem_index, and ball and ball_fat for the search. */
static __global__ void number_grid_bodies(CuDetect d)
{
    int64_t k = item_index();
    if (k >= d.grid->found.members)
        return;
    uint32_t i = d.cell_bodies[k], cell = d.cell[i];
    uint32_t begin = d.cell_start[cell], end = d.cell_start[cell + 1], problem_index = begin;
    for (uint32_t j = begin; j < end; j++)
        problem_index += talus_ranks_before(d.bodies.rank, d.cell_bodies[j], i);
    TalusVec3 x = d.bodies.position[i];
    d.slot[problem_index] = i;
    d.problem_index[i] = (int32_t)problem_index;
    d.ball[problem_index] = CuBall{x.x, x.y, x.z, d.bodies.radius[i]};
    d.ball_fat[problem_index] = d.fat[i];
}

/* Gives problem indices to driven walls, after the grid's bodies; one block. */
static __global__ void number_driven_walls(CuDetect d)
{
    for (int w = (int)item_index(); w < d.grid->walls; w += (int)blockDim.x) {
        uint32_t body = d.wall[w].body, problem_index = driven_wall_index(d, w);
        if (d.bodies.mobility[body] != TALUS_MOBILITY_DRIVEN)
            continue;
        d.slot[problem_index] = body;
        d.problem_index[body] = (int32_t)problem_index;
    }
}

/* ---- on several ranks ---- */

/* Replaces what a stage of choose_grid has found by the sums and maxima over all ranks. */
static TalusStatus share_stage(const CuDetect *d, int stage)
{
    static const int sums[SAMPLE_STAGES] = {0, 7, 3, 1, TALUS_EDGE_FACTORS};
    static const int maxima[SAMPLE_STAGES] = {7, 0, 1, 0, 0};
    const int count = sums[stage] + maxima[stage];
    double v[TALUS_EDGE_FACTORS] = {};
    TalusSum sum[TALUS_EDGE_FACTORS];
    cu_get(d->cu, v, d->grid->agreed[stage], (size_t)count * sizeof *v);
    for (int k = 0; k < sums[stage];
         k++) { /* terms are rounded, so that plain sums are exact, too */
        sum[k] = TalusSum{};
        talus_sum_add(&sum[k], &v[k], 1);
    }
    if (sums[stage] > 0)
        talus_comm_add_sums(d->comm, sum, sums[stage]);
    for (int k = 0; k < sums[stage]; k++)
        v[k] = talus_sum_value(&sum[k]);
    if (maxima[stage] > 0)
        talus_comm_find_maxima(d->comm, v + sums[stage], maxima[stage]);
    cu_put(d->cu, d->grid->agreed[stage], v, (size_t)count * sizeof *v);
    return cu_check(d->cu);
}

/* Runs choose_grid: once, or on several ranks stage by stage. */
static TalusStatus choose_grid_of_all(const CuDetect *d)
{
    for (int run = 0; d->comm && run < SAMPLE_STAGES; run++) {
        launch_block(d->cu, choose_grid, 1, SAMPLE_THREADS, *d, d->cu->totals, run);
        TALUS_TRY(talus_comm_agree(d->comm, share_stage(d, run)));
    }
    launch_block(d->cu, choose_grid, 1, SAMPLE_THREADS, *d, d->cu->totals,
                 d->comm ? (int)SAMPLE_STAGES : (int)SAMPLE_ALONE);
    return TALUS_OK;
}

/* Removes this rank's large walls from its size classes. */
static void remove_large_walls(const CuDetect *d, CuGridLayout *grid)
{
    for (uint32_t k = 0; k < grid->large_walls && k < TALUS_LARGE_WALLS; k++) {
        float fat = 1.0f;
        if ((int64_t)grid->large_wall[k] >= d->own)
            continue;
        cu_get(d->cu, &fat, d->fat + grid->large_wall[k], sizeof fat);
        grid->class_count[cu_size_class(fat, grid->edge_factor)]--;
    }
}

/* Replaces the numbers of bodies of each size class by those of all ranks, without large walls. */
static TalusStatus share_classes(const CuDetect *d)
{
    CuGridLayout *grid;
    int64_t all[CU_CLASSES];
    TalusStatus status = talus_comm_agree(d->comm, TALUS_ALLOC(grid, 1, "grid"));
    if (status != TALUS_OK) {
        talus_release(grid);
        return status;
    }
    cu_get(d->cu, grid, d->grid, sizeof *grid);
    if (grid->large_walls <= TALUS_LARGE_WALLS)
        remove_large_walls(d, grid);
    for (int k = 0; k < CU_CLASSES; k++)
        all[k] = grid->class_count[k];
    status = talus_comm_add_counts(d->comm, all, CU_CLASSES);
    for (int k = 0; k < CU_CLASSES; k++)
        grid->class_count[k] = (uint32_t)all[k];
    cu_put(d->cu, d->grid->class_count, grid->class_count, sizeof grid->class_count);
    talus_release(grid);
    return status;
}

/* Total 2: number of bodies in the grid of this rank. */
static __global__ void count_members(CuTallies tallies, double *totals, CuDetect d)
{
    sum_items<1, 0>(tallies, totals + 2, 0, d.slots, 0.0, [&](int64_t i, double(&v)[1]) {
        const float fat = d.fat[i];
        v[0] = fat != 0.0f && !cu_is_large_wall(d, (uint32_t)i, fat);
    });
}

/* Sets found.members and problem_bodies, which lay_out_grid has counted over all ranks, to those of this rank. */
static __global__ void set_members(CuDetect d, const double *totals)
{
    d.grid->found.members = (uint32_t)totals[2];
    d.grid->found.problem_bodies = driven_wall_index(d, d.grid->walls);
}

static void count_members_here(const CuDetect *d)
{
    launch_own_sums(d->cu, count_members, d->slots, d->cu->totals, *d);
    launch(d->cu, set_members, 1, 1, *d, d->cu->totals);
}

TalusStatus cu_grid_build(const CuDetect *d)
{
    unsigned blocks = blocks_for(d->slots), some = blocks < 1056 ? blocks : 1056;
    cu_zero(d->cu, d->grid, sizeof *d->grid);
    if (!samples_all_slots(*d))
        launch(d->cu, draw_sample, blocks, THREADS, *d);
    TALUS_TRY(choose_grid_of_all(d));
    launch_block(d->cu, measure_bodies, some, THREADS, *d, false);
    TALUS_TRY(share_large_walls(d));
    if (d->bodies.period)
        TALUS_TRY(fit_into_period(d, some));
    if (d->comm)
        TALUS_TRY(share_classes(d));
    launch_block(d->cu, lay_out_grid, 1, THREADS, *d);
    if (d->comm)
        count_members_here(d);
    cu_zero(d->cu, d->cell_start, (size_t)d->cells * sizeof *d->cell_start);
    launch(d->cu, enter_cells, blocks, THREADS, *d);
    TALUS_TRY(cu_scan(d->cu, d->cell_start, d->cell_start, d->cells));
    launch(d->cu, collect_cell_bodies, blocks, THREADS, *d);
    launch(d->cu, number_grid_bodies, blocks, THREADS, *d);
    if (d->driven)
        launch(d->cu, number_driven_walls, 1, THREADS, *d);
    return TALUS_OK;
}
