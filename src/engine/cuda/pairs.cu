/* engine/cuda/pairs.cu - the search for near pairs of bodies; one thread searches the partners of one body.
 *
 * A body is tested with bodies of higher problem index: in its own level those of the later half of the cells around
 * it, in coarser levels those of all cells within reach. A free body is also tested with every wall. Pairs of free
 * spheres are decided here, exactly as on the host. All other near pairs with at least one free body become candidates.
 * The search runs twice, to count pairs and to write them. The counting search stores the outcomes of its first 64
 * tests in a mask, which the writing search reads. Pairs of spheres whose outcome depends on speeds are deferred in the
 * counting search and decided together: at almost every test some thread of a warp has such a pair, for which the
 * others would wait. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/detect.h"

extern "C" {
#include "backend/frame.h"
}

/* Arrays that the writing search fills: for each contact of two free spheres `pair` and `slot_b` as in CuList;
 * candidates. */
struct Output {
    int2 *pair;
    uint32_t *slot_b;
    CuCandidate *candidate;
};

/* Bits of a search's MODE. WRITE: writes pairs instead of counting them. RICH: the world has filters, meshes or fields, or
 * several ranks.
 * PERIODIC, only together with RICH: space is periodic. A search without RICH or PERIODIC needs fewer registers. */
enum { COUNT = 0, WRITE = 1, RICH = 2, PERIODIC = 4 };

/* MASK_BITS: number of outcomes in a mask. DEFERRED: capacity for deferred pairs of one thread. */
enum { MASK_BITS = 64, DEFERRED = 8 };

/* Deferred pairs of the threads of a block: problem index of the partner and number of the test, at most MASK_BITS. */
struct DeferredPairs {
    uint32_t partner[DEFERRED][THREADS];
    uint8_t test[DEFERRED][THREADS];
};

/* State of the search from one body. */
struct Searcher {
    const CuDetect *d;
    uint32_t problem_index, slot;  /* of the body */
    CuBall ball;                   /* the body or its periodic image */
    double unit, fat;              /* unit of CuDetect.ball_fat, m; own fat radius, m */
    bool free_sphere;              /* the body is a free sphere */
    bool not_free;                 /* the body is not free */
    int tests;                     /* number of tests so far */
    uint64_t mask;                 /* bit k: outcome of test k, true if the pair is near */
    DeferredPairs *deferred_pairs; /* memory of deferred pairs; NULL in the writing search */
    int deferred;                  /* number of deferred pairs */
    uint32_t spheres, candidates;  /* number found; in the writing search index of the next */
    Output out;
};

/* Results of judge_pair. */
enum Verdict { APART, MEETS, PERHAPS };

/* Judges the pair with body q by positions and radii. APART: the fat spheres (radius plus margin) do not overlap, or
 * neither body is free. MEETS: the pair is a candidate; or two free spheres are so near that speeds do not matter, with
 * a margin of 2^-18 for rounding. PERHAPS: two free spheres, for which spheres_meet_exactly decides. */
static __device__ inline Verdict judge_pair(const Searcher &s, uint32_t q)
{
    const CuDetect &d = *s.d;
    CuBall b = d.ball[q];
    float b_fat = d.ball_fat[q];
    double dx = b.x - s.ball.x, dy = b.y - s.ball.y, dz = b.z - s.ball.z;
    double distance2 = dx * dx + dy * dy + dz * dz;
    double reach = s.fat + fabs((double)b_fat) * s.unit;
    if (!(distance2 < reach * reach))
        return APART;
    if (!s.free_sphere || b_fat < 0.0f)
        return !s.not_free || d.bodies.mobility[d.slot[q]] == TALUS_MOBILITY_FREE ? MEETS : APART;
    double rest = d.options.h * (2.0 * d.options.reference_speed);
    double sure =
        s.ball.radius + b.radius + d.options.envelope * fmin(s.ball.radius, b.radius) + rest;
    sure *= 1.0 - 0x1p-18;
    return distance2 < sure * sure ? MEETS : PERHAPS;
}

/* True if two free spheres, this body and q, are within their envelope, which depends on their speeds. For pairs judged
 * PERHAPS. */
template <int MODE>
static __device__ inline bool spheres_meet_exactly(const Searcher &s, uint32_t q)
{
    const TalusBodyView *v = &s.d->bodies;
    uint32_t slot = s.d->slot[q];
    if (!(MODE & PERIODIC))
        return talus_spheres_within_envelope_unwrapped(v, &s.d->options, s.slot, slot);
    return talus_spheres_within_envelope(v, &s.d->options, talus_vector_between(v, s.slot, slot),
                                         s.slot, slot);
}

/* True if the body is free and this rank's own. */
static __device__ inline bool is_own(const CuDetect &d, uint32_t slot)
{
    return (int64_t)slot < d.own && d.bodies.mobility[slot] == TALUS_MOBILITY_FREE;
}

/* True if collision filters let this body meet the body in `slot` and, on several ranks, contacts of the two are this
 * rank's. */
template <int MODE> static __device__ inline bool filter_allows(const Searcher &s, uint32_t slot)
{
    const CuDetect &d = *s.d;
    if ((MODE & RICH) && d.bodies.halo > 0 && !is_own(d, s.slot) && !is_own(d, slot))
        return false;
    return !(MODE & RICH) || !d.filter.group || talus_may_meet(&d.filter, s.slot, slot);
}

/* Returns slots a and b as a candidate, exchanged if body b has to be the first one (collide/contact.h). */
static __device__ inline CuCandidate ordered_pair(const CuDetect &d, uint32_t a, uint32_t b)
{
    const uint8_t *mobility = d.bodies.mobility;
    bool swapped = mobility[a] != TALUS_MOBILITY_FREE ||
                   (mobility[b] == TALUS_MOBILITY_FREE && talus_ranks_before(d.bodies.rank, b, a));
    return swapped ? CuCandidate{b, a} : CuCandidate{a, b};
}

/* Counts the candidate of this body and the one in `slot` or, in the writing search, writes it. */
template <int MODE> static __device__ inline void add_candidate(Searcher &s, uint32_t slot)
{
    if (MODE & WRITE)
        s.out.candidate[s.candidates] = ordered_pair(*s.d, s.slot, slot);
    s.candidates++;
}

/* Counts the pair with body q or, in the writing search, writes it: as a contact if both are free spheres, else as a
 * candidate. */
template <int MODE> static __device__ inline void add_pair(Searcher &s, uint32_t q)
{
    const CuDetect &d = *s.d;
    if (!s.free_sphere || d.ball_fat[q] < 0.0f) {
        add_candidate<MODE>(s, MODE & WRITE ? d.slot[q] : 0);
        return;
    }
    if (MODE & WRITE) {
        uint32_t slot = d.slot[q];
        bool first = talus_ranks_before(d.bodies.rank, s.slot, slot);
        s.out.pair[s.spheres] = first ? make_int2((int)s.problem_index, (int)q)
                                      : make_int2((int)q, (int)s.problem_index);
        s.out.slot_b[s.spheres] = first ? slot : s.slot;
    }
    s.spheres++;
}

/* True if the mask of the counting search holds the outcome of the next test; for the writing search. */
template <int MODE> static __device__ inline bool outcome_known(const Searcher &s)
{
    return (MODE & WRITE) && s.tests < MASK_BITS;
}

/* Counts a test; the counting search also stores its outcome `hit` in the mask. */
template <int MODE> static __device__ inline void note_outcome(Searcher &s, bool hit)
{
    if (!(MODE & WRITE) && s.tests < MASK_BITS && hit)
        s.mask |= UINT64_C(1) << s.tests;
    s.tests++;
}

/* Decides the deferred pairs exactly; counts those that meet and stores their outcomes in the mask. For the counting
 * search. */
template <int MODE> static __device__ inline void decide_deferred(Searcher &s)
{
    for (int k = 0; k < s.deferred; k++)
        if (spheres_meet_exactly<MODE>(s, s.deferred_pairs->partner[k][threadIdx.x])) {
            int test = s.deferred_pairs->test[k][threadIdx.x];
            s.mask |= test < MASK_BITS ? UINT64_C(1) << test : 0;
            s.spheres++;
        }
    s.deferred = 0;
}

/* Defers the pair with body q and counts its test; decides the deferred pairs first if their memory is full. */
template <int MODE> static __device__ inline void defer_pair(Searcher &s, uint32_t q)
{
    if (s.deferred == DEFERRED)
        decide_deferred<MODE>(s);
    s.deferred_pairs->partner[s.deferred][threadIdx.x] = q;
    s.deferred_pairs->test[s.deferred++][threadIdx.x] =
        (uint8_t)(s.tests < MASK_BITS ? s.tests : MASK_BITS);
    s.tests++;
}

/* Tests this body with the bodies of problem indices begin to end - 1 that are higher than its own. */
template <int MODE>
static __device__ inline void search_range(Searcher &s, uint32_t begin, uint32_t end)
{
    for (uint32_t q = begin > s.problem_index ? begin : s.problem_index + 1; q < end; q++) {
        bool before = outcome_known<MODE>(s);
        Verdict verdict = before ? (s.mask >> s.tests & 1 ? MEETS : APART) : judge_pair(s, q);
        if ((MODE & RICH) && !before && verdict != APART && !filter_allows<MODE>(s, s.d->slot[q]))
            verdict = APART;
        if (!(MODE & WRITE) && verdict == PERHAPS) {
            defer_pair<MODE>(s, q);
            continue;
        }
        bool hit = verdict == MEETS || (verdict == PERHAPS && spheres_meet_exactly<MODE>(s, q));
        note_outcome<MODE>(s, hit);
        if (hit)
            add_pair<MODE>(s, q);
    }
}

/* Cells of a level that may contain partners: y_rows by z_rows rows of cells from (y, z) on, each row from x_low to
 * x_high. Indices wrap around the level's box, so that x_low may exceed x_high. */
struct CellBox {
    uint32_t x_low, x_high, y, z, y_rows, z_rows;
    uint32_t first; /* rows of lower index (z times cells[1] plus y) are skipped */
};

/* Returns the box of cells with indices low to high, wrapped around the box of the level; skips no row. */
static __device__ inline CellBox make_cell_box(const TalusLevel *level, const int64_t low[3],
                                               const int64_t high[3])
{
    CellBox b;
    b.x_low = (uint32_t)talus_fold_cell(level, 0, low[0]);
    b.x_high = (uint32_t)talus_fold_cell(level, 0, high[0]);
    b.y = (uint32_t)talus_fold_cell(level, 1, low[1]);
    b.z = (uint32_t)talus_fold_cell(level, 2, low[2]);
    b.y_rows = (uint32_t)(high[1] - low[1]) + 1;
    b.z_rows = (uint32_t)(high[2] - low[2]) + 1;
    b.first = 0;
    return b;
}

/* Returns the 3 x 3 x 3 cells around s.ball. Unless s.ball is a periodic image, rows before its own are skipped: their
 * bodies have lower problem indices. */
static __device__ inline CellBox cells_around(const Searcher &s, const TalusLevel *level,
                                              bool image)
{
    const double x[3] = {s.ball.x, s.ball.y, s.ball.z};
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = talus_cell_coordinate(level, x[axis]) - 1;
        high[axis] = low[axis] + 2;
    }
    CellBox b = make_cell_box(level, low, high);
    if (image)
        return b;
    uint32_t ny = (uint32_t)level->cells[1], nz = (uint32_t)level->cells[2];
    b.first = (b.z + 1 < nz ? b.z + 1 : 0) * ny + (b.y + 1 < ny ? b.y + 1 : 0);
    return b;
}

/* Returns the cells of a coarser level that may contain partners: along each axis the centre of a partner is at most
 * own fat radius + edge / 2 away. */
static __device__ inline CellBox cells_within_reach(const Searcher &s, const TalusLevel *level)
{
    const double x[3] = {s.ball.x, s.ball.y, s.ball.z};
    double reach = s.fat + 0.5 * level->edge;
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = talus_cell_coordinate(level, x[axis] - reach);
        high[axis] = talus_cell_coordinate(level, x[axis] + reach);
    }
    return make_cell_box(level, low, high);
}

/* Tests this body with the bodies in one row of cells, in two ranges if the row wraps around. start: cell_start of the
 * row's `width` cells. */
template <int MODE>
static __device__ inline void search_row(Searcher &s, const uint32_t *start, uint32_t width,
                                         const CellBox &b)
{
    bool folded = b.x_low > b.x_high;
    uint32_t begin = start[b.x_low], end = start[folded ? width : b.x_high + 1];
    for (;;) {
        search_range<MODE>(s, begin, end);
        if (!folded)
            return;
        folded = false;
        begin = start[0];
        end = start[b.x_high + 1];
    }
}

/* Tests this body with the bodies in a box of cells. */
template <int MODE>
static __device__ inline void search_cells(Searcher &s, const TalusLevel *level, const CellBox &b)
{
    uint32_t nx = (uint32_t)level->cells[0], ny = (uint32_t)level->cells[1],
             nz = (uint32_t)level->cells[2];
    const uint32_t *start = s.d->cell_start + level->first;
    uint32_t z = b.z, y = b.y;
    for (uint32_t k = 0; k < b.y_rows * b.z_rows; k++) {
        uint32_t row = z * ny + y;
        if (row >= b.first)
            search_row<MODE>(s, start + row * nx, nx, b);
        y = y + 1 < ny ? y + 1 : 0;
        if ((k + 1) % b.y_rows == 0) {
            y = b.y;
            z = z + 1 < nz ? z + 1 : 0;
        }
    }
}

/* True if this body, in periodic space its image nearest to the wall, is within `reach` of the wall. */
template <int MODE>
static __device__ inline bool is_near_wall(const Searcher &s, const TalusWall &wall, double reach)
{
    const TalusBodyView *v = &s.d->bodies;
    TalusVec3 x = talus_vec3(s.ball.x, s.ball.y, s.ball.z);
    if (MODE & PERIODIC)
        x = talus_add(v->position[wall.body], talus_vector_between(v, wall.body, s.slot));
    return talus_is_near_wall(v, &wall, x, reach + wall.margin, 1.0, MODE & RICH);
}

/* Tests a free body with every wall. The envelope of a pair contains envelope times the smaller size; a wall by shape
 * has size 0, which does not count, so the body's whole envelope * size is part of the envelope. The fat radius
 * contains half of it; the other half is at most envelope * fat / 2, because size <= fat. */
template <int MODE> static __device__ inline void search_walls(Searcher &s)
{
    const CuDetect &d = *s.d;
    double reach = s.fat * (1.0 + 0.5 * d.options.envelope);
    int walls = s.not_free ? 0 : d.grid->walls;
    int copy = (MODE & RICH) && d.filter.group ? talus_copy_of_group(d.filter.group[s.slot]) : 0;
    for (int w = 0; w < walls; w++) {
        const TalusWall &wall = d.wall[w];
        if ((MODE & RICH) && talus_copy_of_group(d.wall_group[w]) != copy)
            continue; /* many copies of a scene have many walls */
        bool hit = outcome_known<MODE>(s)
                       ? s.mask >> s.tests & 1
                       : is_near_wall<MODE>(s, wall, reach) && filter_allows<MODE>(s, wall.body);
        note_outcome<MODE>(s, hit);
        if (hit)
            add_candidate<MODE>(s, wall.body);
    }
}

/* Returns the state at the start of the search from the body with this problem index. */
static __device__ inline Searcher make_searcher(const CuDetect &d, uint32_t problem_index)
{
    Searcher s;
    float fat = d.ball_fat[problem_index];
    s.d = &d;
    s.problem_index = problem_index;
    s.slot = d.slot[problem_index];
    s.ball = d.ball[problem_index];
    s.unit = d.grid->unit;
    s.fat = fabs((double)fat) * s.unit;
    s.free_sphere = fat > 0.0f;
    s.not_free = !s.free_sphere && d.bodies.mobility[s.slot] != TALUS_MOBILITY_FREE;
    s.tests = 0;
    s.mask = 0;
    s.deferred_pairs = nullptr;
    s.deferred = 0;
    s.spheres = s.candidates = 0;
    return s;
}

/* Searches the own level of the body and all coarser levels, from s.ball; image: s.ball is a periodic image. */
template <int MODE> static __device__ inline void search_levels(Searcher &s, bool image)
{
    const CuGridLayout *grid = s.d->grid;
    int own =
        grid->level_of_class[cu_size_class(s.d->ball_fat[s.problem_index], grid->edge_factor)];
    for (int l = own; l >= 0; l--) {
        const TalusLevel *level = &grid->level[l];
        search_cells<MODE>(s, level,
                           l == own ? cells_around(s, level, image) : cells_within_reach(s, level));
    }
}

/* In periodic space: searches from the body's position and from its images beyond the sides of the period that it is
 * near, one image for each nonempty subset of the axes of these sides. Of a pair across a side only the body with the
 * lower problem index searches, and only one of its images finds the other body (collide/fit.h). */
template <int MODE> static __device__ inline void search_images(Searcher &s)
{
    const TalusPeriod *p = s.d->bodies.period;
    const TalusFit &fit = s.d->grid->found.fit;
    const CuBall ball = s.ball;
    TalusVec3 x = talus_vec3(ball.x, ball.y, ball.z);
    double reach = (s.fat + fmin(fit.largest, fit.limit)) * TALUS_GRID_SLACK;
    reach =
        fmin(reach, 0.5 * talus_shortest_period(
                              p)); /* so that a body is near at most one of two opposite sides */
    unsigned lower = talus_near_lower_sides(p, x, reach),
             upper = talus_near_upper_sides(p, x, reach);
    for (unsigned shift = 0; shift < 8; shift++) {
        if (shift & ~(lower | upper))
            continue;
        TalusVec3 at = talus_shift_by_periods(p, talus_shift_by_periods(p, x, shift & lower, 1.0),
                                              shift & upper, -1.0);
        s.ball = CuBall{at.x, at.y, at.z, ball.radius};
        search_levels<MODE>(s, shift != 0);
    }
    s.ball = ball;
}

/* Does the whole search from one body: levels, in periodic space of all its images, and walls. */
template <int MODE> static __device__ inline void search_partners(Searcher &s)
{
    if (MODE & PERIODIC)
        search_images<MODE>(s);
    else
        search_levels<MODE>(s, false);
    search_walls<MODE>(s);
}

/* Counting search from each body: fills d.count, d.mask, and sphere_sphere and candidates of CuFound. Three blocks per
 * multiprocessor leave 80 registers per thread; the 64 registers of four blocks would not suffice for the exact
 * test. */
template <int MODE> static __global__ void __launch_bounds__(THREADS, 3) count_pairs(CuDetect d)
{
    __shared__ DeferredPairs pairs;
    int64_t p = item_index();
    double total[2] = {0.0, 0.0};
    if (p < d.grid->found.members) {
        Searcher s = make_searcher(d, (uint32_t)p);
        s.deferred_pairs = &pairs;
        search_partners<MODE>(s);
        decide_deferred<MODE>(s);
        d.mask[p] = s.mask;
        d.count[p] = s.spheres;
        d.count[d.slots + 1 + p] = s.candidates;
        total[0] = s.spheres;
        total[1] = s.candidates;
    } else if (p <= d.slots) {
        d.count[p] = d.count[d.slots + 1 + p] = 0;
    }
    CuFound *found = &d.grid->found;
    add_block_counts(total, {&found->sphere_sphere, &found->candidates});
}

typedef void CountKernel(CuDetect);
typedef void WriteKernel(CuDetect, Output, uint32_t);

/* Returns the kernel whose MODE the world needs. */
template <class Kernel>
static Kernel *choose_kernel(const CuDetect *d, Kernel *plain, Kernel *rich, Kernel *periodic)
{
    return d->bodies.period ? periodic : d->facets || d->filter.group || d->comm ? rich : plain;
}

TalusStatus cu_pairs_count(const CuDetect *d)
{
    unsigned blocks = blocks_for(d->slots + 1);
    CountKernel *kernel = choose_kernel<CountKernel>(
        d, count_pairs<COUNT>, count_pairs<COUNT | RICH>, count_pairs<COUNT | RICH | PERIODIC>);
    launch_block(d->cu, kernel, blocks, THREADS, *d);
    return cu_scan(d->cu, d->count, d->count, 2 * (d->slots + 1));
}

/* Writing search from each body that has pairs, into the memory of `out`. spheres: number of contacts in run 1. */
template <int MODE>
static __global__ void __launch_bounds__(THREADS, 3)
    write_pairs(CuDetect d, Output out, uint32_t spheres)
{
    int64_t p = item_index();
    if (p >= d.grid->found.members)
        return;
    const uint32_t *candidate = d.count + d.slots + 1;
    uint32_t first = d.count[p], first_candidate = candidate[p];
    if (d.count[p + 1] == first && candidate[p + 1] == first_candidate)
        return;
    Searcher s = make_searcher(d, (uint32_t)p);
    s.mask = d.mask[p];
    s.spheres = first;
    s.candidates = first_candidate - spheres;
    s.out = out;
    search_partners<MODE>(s);
}

void cu_pairs_write(const CuDetect *d, const CuList *list, int spheres)
{
    Output out = {list->pair.at, list->slot_b.at, d->candidate};
    WriteKernel *kernel = choose_kernel<WriteKernel>(
        d, write_pairs<WRITE>, write_pairs<WRITE | RICH>, write_pairs<WRITE | RICH | PERIODIC>);
    launch(d->cu, kernel, blocks_for(list->problem_bodies), THREADS, *d, out, (uint32_t)spheres);
}

/* ---- normals of spheres ---- */

/* Writes frame and gap of each contact of two free spheres. Spheres with the same centre get the normal (0, 0, 1). */
template <bool PERIODS>
static __global__ void fill_sphere_frames(CuDetect d, const int2 *pair, int spheres, CuFrame *frame,
                                          double *gap)
{
    int64_t i = item_index();
    if (i >= spheres)
        return;
    CuBall a = d.ball[pair[i].x], b = d.ball[pair[i].y];
    TalusVec3 between = talus_vec3(b.x - a.x, b.y - a.y, b.z - a.z), normal = {0.0, 0.0, 1.0};
    if (PERIODS)
        between = talus_nearest_image_vector(d.bodies.period, between);
    double distance = talus_norm(between), f[4];
    if (distance > 0.0)
        normal = talus_scale(1.0 / distance, between);
    talus_frame_from_normal(f, normal.x, normal.y, normal.z);
    frame[i] = CuFrame{f[0], f[1], f[2], f[3]};
    gap[i] = distance - (a.radius + b.radius);
}

void cu_fill_sphere_frames(const CuDetect *d, const CuList *list, int spheres)
{
    launch(d->cu, d->bodies.period ? fill_sphere_frames<true> : fill_sphere_frames<false>,
           blocks_for(spheres), THREADS, *d, list->pair.at, spheres, list->frame.at, list->gap.at);
}
