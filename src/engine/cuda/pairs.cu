/* engine/cuda/pairs.cu - the search for pairs of bodies; one thread searches the partners of one body.
 *
 * A body is tested with bodies of higher problem index: those in the later half of the cells around it in its own level
 * and in all cells within reach in coarser levels. A free body is also tested with every wall. Pairs of free spheres
 * are decided here, exactly as on the host; all other near pairs, of which one body is free, become candidates. The
 * search runs twice, to count and to write. The first run stores the outcome of its first 64 tests in a mask for the
 * second. It also defers pairs of spheres that depend on speeds and decides them together: at almost every test some
 * thread of a warp has such a pair, and the others would wait. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/detect.h"

extern "C" {
#include "backend/frame.h"
}

/* Arrays that the writing search fills: pair and slot of b of each contact of two free spheres; candidates. */
struct Output {
    int2 *pair;
    uint32_t *other;
    CuCandidate *candidate;
};

/* Bits of a search's MODE. WRITE: write pairs instead of counting them. RICH: with filters, meshes or fields. PERIODIC,
 * together with RICH: in periodic space. Worlds without these save the registers. */
enum { COUNT = 0, WRITE = 1, RICH = 2, PERIODIC = 4 };

/* Bits of a mask; capacity for deferred pairs of one thread. */
enum { MASK_BITS = 64, UNSURE = 8 };

/* Deferred pairs of a block's threads: the partner's problem index and the number of the test, at most MASK_BITS. */
struct Aside {
    uint32_t partner[UNSURE][THREADS];
    uint8_t test[UNSURE][THREADS];
};

/* A body that searches for partners. */
struct Seeker {
    const CuDetect *d;
    uint32_t problem_index, slot;
    CuBall ball;
    double unit, fat; /* unit of the others' fat radii, m; own fat radius, m */
    bool plain;       /* a free sphere */
    bool fixed;       /* not free */
    int tests;
    uint64_t mask;
    Aside *aside;                 /* deferred pairs; in the counting search only */
    int unsure;                   /* number of deferred pairs */
    uint32_t spheres, candidates; /* number found; when writing, index of the next */
    Output out;
};

enum Verdict { APART, MEETS, PERHAPS };

/* Decides on the pair with body q. APART: their fat spheres (radius plus margin) do not overlap, or neither is free.
 * MEETS: a candidate; or two free spheres so near that speeds do not matter, with a margin of 2^-18 for rounding.
 * PERHAPS: two free spheres that need the exact test. */
static __device__ inline Verdict judge(const Seeker &s, uint32_t q)
{
    const CuDetect &d = *s.d;
    CuBall b = d.ball[q];
    float b_fat = d.ball_fat[q];
    double dx = b.x - s.ball.x, dy = b.y - s.ball.y, dz = b.z - s.ball.z;
    double distance2 = dx * dx + dy * dy + dz * dz;
    double reach = s.fat + fabs((double)b_fat) * s.unit;
    if (!(distance2 < reach * reach))
        return APART;
    if (!s.plain || b_fat < 0.0f)
        return !s.fixed || d.bodies.mobility[d.slot[q]] == TALUS_MOBILITY_FREE ? MEETS : APART;
    double rest = d.options.h * (2.0 * d.options.reference_speed);
    double sure =
        s.ball.radius + b.radius + d.options.envelope * fmin(s.ball.radius, b.radius) + rest;
    sure *= 1.0 - 0x1p-18;
    return distance2 < sure * sure ? MEETS : PERHAPS;
}

/* The exact test of two free spheres, which includes their speeds; for pairs judged PERHAPS. */
template <int MODE> static __device__ inline bool meet_exactly(const Seeker &s, uint32_t q)
{
    const TalusBodyView *v = &s.d->bodies;
    uint32_t slot = s.d->slot[q];
    if (!(MODE & PERIODIC))
        return talus_spheres_within_envelope_unwrapped(v, &s.d->options, s.slot, slot);
    return talus_spheres_within_envelope(v, &s.d->options, talus_vector_between(v, s.slot, slot),
                                         s.slot, slot);
}

/* True if the filter lets the body meet the one in a slot. */
template <int MODE> static __device__ inline bool may_meet(const Seeker &s, uint32_t slot)
{
    return !(MODE & RICH) || !s.d->filter.group || talus_may_meet(&s.d->filter, s.slot, slot);
}

/* Returns the two bodies in the order of collide/contact.h. */
static __device__ inline CuCandidate in_order(const CuDetect &d, uint32_t a, uint32_t b)
{
    const uint8_t *mobility = d.bodies.mobility;
    bool swapped = mobility[a] != TALUS_MOBILITY_FREE ||
                   (mobility[b] == TALUS_MOBILITY_FREE && talus_ranks_before(d.bodies.rank, b, a));
    return swapped ? CuCandidate{b, a} : CuCandidate{a, b};
}

template <int MODE> static __device__ inline void take_candidate(Seeker &s, uint32_t slot)
{
    if (MODE & WRITE)
        s.out.candidate[s.candidates] = in_order(*s.d, s.slot, slot);
    s.candidates++;
}

/* Counts or writes the pair with body q: as a contact if both are free spheres, else as a candidate. */
template <int MODE> static __device__ inline void take(Seeker &s, uint32_t q)
{
    const CuDetect &d = *s.d;
    if (!s.plain || d.ball_fat[q] < 0.0f) {
        take_candidate<MODE>(s, MODE & WRITE ? d.slot[q] : 0);
        return;
    }
    if (MODE & WRITE) {
        uint32_t slot = d.slot[q];
        bool first = talus_ranks_before(d.bodies.rank, s.slot, slot);
        s.out.pair[s.spheres] = first ? make_int2((int)s.problem_index, (int)q)
                                      : make_int2((int)q, (int)s.problem_index);
        s.out.other[s.spheres] = first ? slot : s.slot;
    }
    s.spheres++;
}

/* True if the mask of the counting search holds the outcome of the next test: no need to repeat it. */
template <int MODE> static __device__ inline bool known(const Seeker &s)
{
    return (MODE & WRITE) && s.tests < MASK_BITS;
}

/* Counts a test; the counting search also stores its outcome as a bit of the mask. */
template <int MODE> static __device__ inline void note(Seeker &s, bool hit)
{
    if (!(MODE & WRITE) && s.tests < MASK_BITS && hit)
        s.mask |= UINT64_C(1) << s.tests;
    s.tests++;
}

/* Decides, counts and notes in the mask the deferred pairs; in the counting search only. */
template <int MODE> static __device__ inline void settle(Seeker &s)
{
    for (int k = 0; k < s.unsure; k++)
        if (meet_exactly<MODE>(s, s.aside->partner[k][threadIdx.x])) {
            int test = s.aside->test[k][threadIdx.x];
            s.mask |= test < MASK_BITS ? UINT64_C(1) << test : 0;
            s.spheres++;
        }
    s.unsure = 0;
}

/* Defers the pair with body q and counts its test. */
template <int MODE> static __device__ inline void set_aside(Seeker &s, uint32_t q)
{
    if (s.unsure == UNSURE)
        settle<MODE>(s);
    s.aside->partner[s.unsure][threadIdx.x] = q;
    s.aside->test[s.unsure++][threadIdx.x] = (uint8_t)(s.tests < MASK_BITS ? s.tests : MASK_BITS);
    s.tests++;
}

/* Tests the bodies with problem indices begin to end - 1 that are above the own one. */
template <int MODE>
static __device__ inline void seek_range(Seeker &s, uint32_t begin, uint32_t end)
{
    for (uint32_t q = begin > s.problem_index ? begin : s.problem_index + 1; q < end; q++) {
        bool before = known<MODE>(s);
        Verdict verdict = before ? (s.mask >> s.tests & 1 ? MEETS : APART) : judge(s, q);
        if ((MODE & RICH) && !before && verdict != APART && !may_meet<MODE>(s, s.d->slot[q]))
            verdict = APART;
        if (!(MODE & WRITE) && verdict == PERHAPS) {
            set_aside<MODE>(s, q);
            continue;
        }
        bool hit = verdict == MEETS || (verdict == PERHAPS && meet_exactly<MODE>(s, q));
        note<MODE>(s, hit);
        if (hit)
            take<MODE>(s, q);
    }
}

/* Cells of a level that may hold partners: `y_rows` by `z_rows` rows from (y, z) on, each from x_low to x_high. Indices
 * wrap around the level's box, so that x_low may exceed x_high. */
struct Block {
    uint32_t x_low, x_high, y, z, y_rows, z_rows;
    uint32_t first; /* rows with a lower index, z times cells[1] plus y, are skipped */
};

static __device__ inline Block make_block(const TalusLevel *level, const int64_t low[3],
                                          const int64_t high[3])
{
    Block b;
    b.x_low = (uint32_t)talus_fold_cell(level, 0, low[0]);
    b.x_high = (uint32_t)talus_fold_cell(level, 0, high[0]);
    b.y = (uint32_t)talus_fold_cell(level, 1, low[1]);
    b.z = (uint32_t)talus_fold_cell(level, 2, low[2]);
    b.y_rows = (uint32_t)(high[1] - low[1]) + 1;
    b.z_rows = (uint32_t)(high[2] - low[2]) + 1;
    b.first = 0;
    return b;
}

/* Returns the 3 x 3 x 3 cells around s.ball. Unless that is a periodic image, rows before its own are skipped: they
 * hold lower problem indices. */
static __device__ inline Block block_around(const Seeker &s, const TalusLevel *level, bool image)
{
    const double x[3] = {s.ball.x, s.ball.y, s.ball.z};
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = talus_cell_coordinate(level, x[axis]) - 1;
        high[axis] = low[axis] + 2;
    }
    Block b = make_block(level, low, high);
    if (image)
        return b;
    uint32_t ny = (uint32_t)level->cells[1], nz = (uint32_t)level->cells[2];
    b.first = (b.z + 1 < nz ? b.z + 1 : 0) * ny + (b.y + 1 < ny ? b.y + 1 : 0);
    return b;
}

/* Returns the cells within reach in a coarser level: along each axis a partner's centre is at most fat + edge / 2
 * away. */
static __device__ inline Block block_within(const Seeker &s, const TalusLevel *level)
{
    const double x[3] = {s.ball.x, s.ball.y, s.ball.z};
    double reach = s.fat + 0.5 * level->edge;
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = talus_cell_coordinate(level, x[axis] - reach);
        high[axis] = talus_cell_coordinate(level, x[axis] + reach);
    }
    return make_block(level, low, high);
}

/* Tests the bodies in one row of a block's cells, in two ranges if it wraps around. start: of the row's `width`
 * cells. */
template <int MODE>
static __device__ inline void seek_row(Seeker &s, const uint32_t *start, uint32_t width,
                                       const Block &b)
{
    bool folded = b.x_low > b.x_high;
    uint32_t begin = start[b.x_low], end = start[folded ? width : b.x_high + 1];
    for (;;) {
        seek_range<MODE>(s, begin, end);
        if (!folded)
            return;
        folded = false;
        begin = start[0];
        end = start[b.x_high + 1];
    }
}

template <int MODE>
static __device__ inline void seek_block(Seeker &s, const TalusLevel *level, const Block &b)
{
    uint32_t nx = (uint32_t)level->cells[0], ny = (uint32_t)level->cells[1],
             nz = (uint32_t)level->cells[2];
    const uint32_t *start = s.d->start + level->first;
    uint32_t z = b.z, y = b.y;
    for (uint32_t k = 0; k < b.y_rows * b.z_rows; k++) {
        uint32_t row = z * ny + y;
        if (row >= b.first)
            seek_row<MODE>(s, start + row * nx, nx, b);
        y = y + 1 < ny ? y + 1 : 0;
        if ((k + 1) % b.y_rows == 0) {
            y = b.y;
            z = z + 1 < nz ? z + 1 : 0;
        }
    }
}

/* True if the body, or in periodic space its image nearest to the wall, is within reach of the wall. */
template <int MODE>
static __device__ inline bool near_wall(const Seeker &s, const TalusWall &wall, double reach)
{
    const TalusBodyView *v = &s.d->bodies;
    TalusVec3 x = talus_vec3(s.ball.x, s.ball.y, s.ball.z);
    if (MODE & PERIODIC)
        x = talus_add(v->position[wall.body], talus_vector_between(v, wall.body, s.slot));
    return talus_is_near_wall(v, &wall, x, reach + wall.margin, 1.0, MODE & RICH);
}

/* The envelope contains envelope times the smaller size; a wall by shape has size 0, which does not count. So the
 * body's whole envelope * size counts here. fat contains half of it; the other half is at most envelope * fat / 2,
 * because size <= fat. */
template <int MODE> static __device__ inline void seek_walls(Seeker &s)
{
    const CuDetect &d = *s.d;
    double reach = s.fat * (1.0 + 0.5 * d.options.envelope);
    int walls = s.fixed ? 0 : d.grid->walls;
    for (int w = 0; w < walls; w++) {
        const TalusWall &wall = d.wall[w];
        bool hit = known<MODE>(s) ? s.mask >> s.tests & 1
                                  : near_wall<MODE>(s, wall, reach) && may_meet<MODE>(s, wall.body);
        note<MODE>(s, hit);
        if (hit)
            take_candidate<MODE>(s, wall.body);
    }
}

static __device__ inline Seeker make_seeker(const CuDetect &d, uint32_t problem_index)
{
    Seeker s;
    float fat = d.ball_fat[problem_index];
    s.d = &d;
    s.problem_index = problem_index;
    s.slot = d.slot[problem_index];
    s.ball = d.ball[problem_index];
    s.unit = d.grid->unit;
    s.fat = fabs((double)fat) * s.unit;
    s.plain = fat > 0.0f;
    s.fixed = !s.plain && d.bodies.mobility[s.slot] != TALUS_MOBILITY_FREE;
    s.tests = 0;
    s.mask = 0;
    s.aside = nullptr;
    s.unsure = 0;
    s.spheres = s.candidates = 0;
    return s;
}

template <int MODE> static __device__ inline void seek_levels(Seeker &s, bool image)
{
    const CuGridShape *grid = s.d->grid;
    int own = grid->level_of_class[cu_class_of(s.d->ball_fat[s.problem_index], grid->edge_factor)];
    for (int l = own; l >= 0; l--) {
        const TalusLevel *level = &grid->level[l];
        seek_block<MODE>(s, level,
                         l == own ? block_around(s, level, image) : block_within(s, level));
    }
}

/* In periodic space: searches from the body's position and from its images beyond the sides that it is near, one image
 * for every nonempty subset of the axes of these sides. Of a pair across a side only the body with the lower problem
 * index searches, and one of its images alone finds the other body (collide/fit.h). */
template <int MODE> static __device__ inline void seek_images(Seeker &s)
{
    const TalusPeriod *p = s.d->bodies.period;
    const TalusFit &fit = s.d->grid->found.fit;
    const CuBall ball = s.ball;
    TalusVec3 x = talus_vec3(ball.x, ball.y, ball.z);
    double reach = (s.fat + fmin(fit.largest, fit.limit)) * TALUS_GRID_SLACK;
    reach =
        fmin(reach, 0.5 * talus_shortest_period(p)); /* near at most one of two opposite sides */
    unsigned lower = talus_near_lower_sides(p, x, reach),
             upper = talus_near_upper_sides(p, x, reach);
    for (unsigned shift = 0; shift < 8; shift++) {
        if (shift & ~(lower | upper))
            continue;
        TalusVec3 at = talus_shift_by_periods(p, talus_shift_by_periods(p, x, shift & lower, 1.0),
                                              shift & upper, -1.0);
        s.ball = CuBall{at.x, at.y, at.z, ball.radius};
        seek_levels<MODE>(s, shift != 0);
    }
    s.ball = ball;
}

template <int MODE> static __device__ inline void seek(Seeker &s)
{
    if (MODE & PERIODIC)
        seek_images<MODE>(s);
    else
        seek_levels<MODE>(s, false);
    seek_walls<MODE>(s);
}

/* 80 registers: three blocks per multiprocessor; the 64 registers of four blocks would not hold the exact test. */
template <int MODE>
static __global__ void __launch_bounds__(THREADS, 3) count_pairs(CuDetect d, CuPartials partials)
{
    __shared__ Aside aside;
    int64_t p = item();
    double total[2] = {0.0, 0.0};
    if (p < d.grid->found.members) {
        Seeker s = make_seeker(d, (uint32_t)p);
        s.aside = &aside;
        seek<MODE>(s);
        settle<MODE>(s);
        d.mask[p] = s.mask;
        d.count[p] = s.spheres;
        d.count[d.slots + 1 + p] = s.candidates;
        total[0] = s.spheres;
        total[1] = s.candidates;
    } else if (p <= d.slots) {
        d.count[p] = d.count[d.slots + 1 + p] = 0;
    }
    if (reduce_grid<2, 0>(partials, total)) {
        d.grid->found.spheres = total[0];
        d.grid->found.candidates = total[1];
    }
}

typedef void CountKernel(CuDetect, CuPartials);
typedef void WriteKernel(CuDetect, Output, uint32_t);

/* Returns the variant of a kernel that the world needs. */
template <class Kernel>
static Kernel *choose(const CuDetect *d, Kernel *plain, Kernel *rich, Kernel *periodic)
{
    return d->bodies.period ? periodic : d->facets || d->filter.group ? rich : plain;
}

TalusStatus cu_pairs_count(const CuDetect *d)
{
    unsigned blocks = blocks_for(d->slots + 1);
    TALUS_TRY(cu_partials_reserve(d->cu, blocks, 2));
    CountKernel *kernel = choose<CountKernel>(d, count_pairs<COUNT>, count_pairs<COUNT | RICH>,
                                              count_pairs<COUNT | RICH | PERIODIC>);
    launch_block(d->cu, kernel, blocks, THREADS, *d, cu_partials(d->cu));
    return cu_scan(d->cu, d->count, d->count, 2 * (d->slots + 1));
}

template <int MODE>
static __global__ void __launch_bounds__(THREADS, 3)
    write_pairs(CuDetect d, Output out, uint32_t spheres)
{
    int64_t p = item();
    if (p >= d.grid->found.members)
        return;
    const uint32_t *candidate = d.count + d.slots + 1;
    uint32_t first = d.count[p], first_candidate = candidate[p];
    if (d.count[p + 1] == first && candidate[p + 1] == first_candidate)
        return;
    Seeker s = make_seeker(d, (uint32_t)p);
    s.mask = d.mask[p];
    s.spheres = first;
    s.candidates = first_candidate - spheres;
    s.out = out;
    seek<MODE>(s);
}

void cu_pairs_write(const CuDetect *d, const CuList *list, int spheres)
{
    Output out = {list->pair.at, list->other.at, d->candidate};
    WriteKernel *kernel = choose<WriteKernel>(d, write_pairs<WRITE>, write_pairs<WRITE | RICH>,
                                              write_pairs<WRITE | RICH | PERIODIC>);
    launch(d->cu, kernel, blocks_for(list->problem_bodies), THREADS, *d, out, (uint32_t)spheres);
}

/* ---- normals of spheres ---- */

/* Writes frame and gap of each contact of two free spheres. Spheres with the same centre get the normal (0, 0, 1). */
template <bool PERIODS>
static __global__ void sphere_frames(CuDetect d, const int2 *pair, int spheres, CuFrame *frame,
                                     double *gap)
{
    int64_t i = item();
    if (i >= spheres)
        return;
    CuBall a = d.ball[pair[i].x], b = d.ball[pair[i].y];
    TalusVec3 between = talus_vec3(b.x - a.x, b.y - a.y, b.z - a.z), normal = {0.0, 0.0, 1.0};
    if (PERIODS)
        between = talus_nearest_image_vector(d.bodies.period, between);
    double distance = talus_norm(between), f[4];
    if (distance > 0.0)
        normal = talus_scale(1.0 / distance, between);
    talus_frame_set(f, normal.x, normal.y, normal.z);
    frame[i] = CuFrame{f[0], f[1], f[2], f[3]};
    gap[i] = distance - (a.radius + b.radius);
}

void cu_sphere_frames(const CuDetect *d, const CuList *list, int spheres)
{
    launch(d->cu, d->bodies.period ? sphere_frames<true> : sphere_frames<false>,
           blocks_for(spheres), THREADS, *d, list->pair.at, spheres, list->frame.at, list->gap.at);
}
