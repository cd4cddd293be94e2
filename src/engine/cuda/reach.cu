/* engine/cuda/reach.cu - on several ranks: where own bodies may touch others (engine/reach.h), and which of them are near
 * other ranks' bodies. The host gets sums, bounds and the slots of near bodies alone. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/exchange.h"

/* What the reaches of bodies follow from. */
struct ReachInputs {
    CuBodies bodies;
    const TalusShape *shape;
    TalusVec3 gravity;
    const TalusVec3 *solved_velocity, *solved_spin; /* by slot; NULL: before the solve */
};

static ReachInputs make_inputs(const TalusEngine *e, TalusVec3 gravity, bool solved)
{
    return {e->bodies, e->tables.shape, gravity, solved ? e->solved_velocity.at : nullptr,
            solved ? e->solved_spin.at : nullptr};
}

/* Returns the velocity that detection uses for the body in a slot: as velocity_of in world/ranks/reach.c. */
static __device__ inline TalusVec3 velocity_of(const ReachInputs &in, double h, int64_t i)
{
    const CuBodies &b = in.bodies;
    if (in.solved_velocity)
        return in.solved_velocity[i];
    if (!cu_is_free(b.shape, b.mobility, i))
        return b.velocity[i];
    const TalusVec3 v = talus_madd(b.velocity[i], h, in.gravity);
    return i < b.force_count ? talus_madd(v, h / b.mass[i], b.force[i]) : v;
}

/* Returns the reach of the body in a slot; all zeros if the slot is dead. */
static __device__ inline TalusReach reach_of(const ReachInputs &in, const TalusReachOptions &o,
                                             int64_t i)
{
    const CuBodies &b = in.bodies;
    TalusReachBody body;
    if (b.shape[i] < 0)
        return TalusReach{{0.0, 0.0, 0.0}, 0.0, 0.0, 0, 0};
    body.position = b.position[i];
    body.velocity = velocity_of(in, o.detect.h, i);
    body.spin = in.solved_spin ? in.solved_spin[i] : b.spin[i];
    body.radius = b.radius[i];
    body.size = b.size[i];
    body.id = b.ids_differ ? b.id[i] : (uint64_t)i + 1;
    body.mobility = b.mobility[i];
    body.is_sphere = in.shape[b.shape[i]].def.kind == TALUS_SHAPE_SPHERE;
    return talus_reach_of_body(&body, &o);
}

/* ---- do they serve ---- */

/* Sums of TalusReachMotion over own free bodies; those behind `reaches` have not moved. */
static __global__ void sum_motion(CuTallies tallies, double *totals, CuBodies b,
                                  TalusReachSpace space, const TalusReach *reach, int reaches)
{
    sum_items<7, 0>(tallies, totals, 0, b.own, 0.0, [&](int64_t i, double(&v)[7]) {
        if (!cu_is_free(b.shape, b.mobility, i))
            return;
        const TalusVec3 u = b.velocity[i];
        TalusVec3 moved = talus_vec3(0.0, 0.0, 0.0);
        if (i < reaches && reach[i].id == (b.ids_differ ? b.id[i] : (uint64_t)i + 1))
            moved = talus_reach_moved(&space, &reach[i], b.position[i]);
        for (int axis = 0; axis < 3; axis++) {
            v[axis] = talus_along(u, axis);
            v[3 + axis] = talus_along(moved, axis);
        }
        v[6] = 1.0;
    });
}

TalusStatus cu_engine_sum_motions(TalusEngine *e, TalusReachSpace space, TalusReachMotion *out)
{
    static_assert(sizeof *out == 7 * sizeof(double), "as many as sum_motion adds");
    launch_own_sums(e->cu, sum_motion, e->bodies.own, e->cu->totals, e->bodies, space,
                    (const TalusReach *)e->reach.at, e->reaches);
    cu_totals_get(e->cu, 7, out->velocity);
    return cu_check(e->cu);
}

/* fails[k] = 1 if a body does not pass test[k]. */
static __global__ void test_bodies(ReachInputs in, TalusReachTest first, TalusReachTest second,
                                   const TalusReach *then, uint32_t *fails)
{
    const int64_t i = item_index();
    if (i >= in.bodies.own)
        return;
    const TalusReachTest *test[TALUS_REACH_TESTS] = {&first, &second};
    for (int k = 0; k < TALUS_REACH_TESTS; k++) {
        const TalusReach now = reach_of(in, test[k]->options, i);
        if ((now.id != 0 || then[i].id != 0) &&
            !talus_reach_covers(&test[k]->space, &then[i], &now, test[k]->shift))
            fails[k] = 1; /* all threads that write write the same */
    }
}

TalusStatus cu_engine_test_reaches(TalusEngine *e, const TalusReachTest *test, TalusVec3 gravity,
                                   bool solved, bool *serves)
{
    uint32_t fails[TALUS_REACH_TESTS];
    TALUS_TRY(e->subset.reserve(TALUS_REACH_TESTS, "halo"));
    cu_zero(e->cu, e->subset, sizeof fails);
    if (e->reaches == e->bodies.own)
        launch(e->cu, test_bodies, blocks_for(e->bodies.own), THREADS,
               make_inputs(e, gravity, solved), test[0], test[1], (const TalusReach *)e->reach.at,
               (uint32_t *)e->subset.at);
    cu_get(e->cu, fails, e->subset, sizeof fails);
    for (int k = 0; k < TALUS_REACH_TESTS; k++)
        serves[k] = e->reaches == e->bodies.own && fails[k] == 0;
    return cu_check(e->cu);
}

/* ---- a new halo ---- */

/* Maxima of the bounds of two boxes, lower corners with the other sign, behind two sums. */
enum { WIDTH_SUMS = 2, BOUNDS = 12 };

/* Raises to[6] by the corners of a box. */
static __device__ inline void extend_bounds(const TalusReachBox &box, double *to)
{
    for (int axis = 0; axis < 3; axis++) {
        to[axis] = larger(to[axis], -talus_along(box.lo, axis));
        to[3 + axis] = larger(to[3 + axis], talus_along(box.hi, axis));
    }
}

/* reach[i] of own bodies; partial[block]: sum of half widths of free bodies' boxes, their number, bounds of the boxes of
 * free bodies and of all bounded ones. */
static __global__ void note_bodies(ReachInputs in, TalusReachOptions o, TalusReach *reach,
                                   double (*partial)[WIDTH_SUMS + BOUNDS])
{
    double v[WIDTH_SUMS + BOUNDS];
    for (int k = 0; k < WIDTH_SUMS + BOUNDS; k++)
        v[k] = k < WIDTH_SUMS ? 0.0 : -HUGE_VAL;
    for (int64_t i = item_index(); i < in.bodies.own; i += grid_stride()) {
        const TalusReach r = reach[i] = reach_of(in, o, i);
        const TalusReachBox box = talus_reach_box(&r);
        if (r.id == 0 || r.length == HUGE_VAL)
            continue;
        extend_bounds(box, v + WIDTH_SUMS + BOUNDS / 2);
        if (r.mobility != TALUS_MOBILITY_FREE)
            continue;
        extend_bounds(box, v + WIDTH_SUMS);
        v[0] += 0.5 * (box.hi.x - box.lo.x);
        v[1] += 1.0;
    }
    reduce_block<WIDTH_SUMS, BOUNDS>(v);
    for (int k = 0; threadIdx.x == 0 && k < WIDTH_SUMS + BOUNDS; k++)
        partial[blockIdx.x][k] = v[k];
}

/* total[k]: sums and maxima of the rows of `partial`, by one block. */
static __global__ void reduce_partial(int rows, const double (*partial)[WIDTH_SUMS + BOUNDS],
                                      double *total)
{
    double v[WIDTH_SUMS + BOUNDS];
    for (int k = 0; k < WIDTH_SUMS + BOUNDS; k++)
        v[k] = k < WIDTH_SUMS ? 0.0 : -HUGE_VAL;
    for (int row = (int)threadIdx.x; row < rows; row += (int)blockDim.x)
        for (int k = 0; k < WIDTH_SUMS + BOUNDS; k++)
            v[k] = k < WIDTH_SUMS ? v[k] + partial[row][k] : larger(v[k], partial[row][k]);
    reduce_block<WIDTH_SUMS, BOUNDS>(v);
    for (int k = 0; threadIdx.x == 0 && k < WIDTH_SUMS + BOUNDS; k++)
        total[k] = v[k];
}

static TalusReachBox box_of_bounds(const double *v)
{
    return {talus_vec3(-v[0], -v[1], -v[2]), talus_vec3(v[3], v[4], v[5])};
}

TalusStatus cu_engine_note_reaches(TalusEngine *e, const TalusReachOptions *options,
                                   TalusVec3 gravity, bool solved, TalusReachSummary *out)
{
    const int own = e->bodies.own;
    const unsigned needed = blocks_for(own), most = SUM_BLOCKS;
    const unsigned blocks = needed < most ? needed : most;
    double v[WIDTH_SUMS + BOUNDS];
    double(*partial)[WIDTH_SUMS + BOUNDS];
    e->reaches = 0;
    TALUS_TRY(e->reach.reserve(own, "halo"));
    TALUS_TRY(e->reach_sums.reserve((int64_t)blocks * (WIDTH_SUMS + BOUNDS), "halo"));
    partial = (double(*)[WIDTH_SUMS + BOUNDS]) e->reach_sums.at;
    launch_block(e->cu, note_bodies, blocks, THREADS, make_inputs(e, gravity, solved), *options,
                 e->reach.at, partial);
    launch_block(e->cu, reduce_partial, 1, THREADS, (int)blocks, partial, e->cu->totals);
    cu_totals_get(e->cu, WIDTH_SUMS + BOUNDS, v);
    out->half_widths = v[0];
    out->widths = (int64_t)v[1];
    out->need = box_of_bounds(v + WIDTH_SUMS);
    out->offer = box_of_bounds(v + WIDTH_SUMS + BOUNDS / 2);
    TALUS_TRY(cu_check(e->cu));
    e->reaches = own;
    return TALUS_OK;
}

/* ---- bodies near others ---- */

/* Calls visit(word, bits) for the words of the cells that a reach's box touches, with their bits, until it returns true;
 * false if no call does. */
template <class Visit>
static __device__ inline bool visit_cells(const TalusNearGrid &grid, const TalusReach &r,
                                          Visit visit)
{
    const TalusReachBox box = talus_reach_box(&r);
    const TalusNearRange c = talus_near_range(&grid, &box);
    const int first = c.lo[0] / 32, last = c.hi[0] / 32;
    for (int z = c.lo[2]; z <= c.hi[2]; z++)
        for (int y = c.lo[1]; y <= c.hi[1]; y++)
            for (int w = first; w <= last; w++) {
                const uint32_t from = ~0u << (w == first ? c.lo[0] % 32 : 0);
                const uint32_t to = ~0u >> (w == last ? 31 - c.hi[0] % 32 : 0);
                if (visit((z * TALUS_NEAR_CELLS + y) * (TALUS_NEAR_CELLS / 32) + w, from & to))
                    return true;
            }
    return false;
}

/* Sets the bits of the cells that the boxes of own bodies touch, but for unbounded ones. */
static __global__ void mark_cells(int own, TalusNearGrid grid, const TalusReach *reach,
                                  uint32_t *cells)
{
    const int64_t i = item_index();
    if (i >= own || reach[i].id == 0 || reach[i].length == HUGE_VAL)
        return;
    visit_cells(grid, reach[i], [&](int word, uint32_t bits) {
        if ((cells[word] & bits) != bits) /* most are set already */
            atomicOr(&cells[word], bits);
        return false;
    });
}

TalusStatus cu_engine_mark_cells(TalusEngine *e, const TalusNearGrid *grid, uint32_t *bit)
{
    const size_t bytes = TALUS_NEAR_WORDS * sizeof *bit;
    TALUS_TRY(e->near_bit.reserve(TALUS_NEAR_WORDS, "halo"));
    cu_zero(e->cu, e->near_bit, bytes);
    launch(e->cu, mark_cells, blocks_for(e->bodies.own), THREADS, e->bodies.own, *grid,
           (const TalusReach *)e->reach.at, e->near_bit.at);
    cu_get(e->cu, bit, e->near_bit, bytes);
    return cu_check(e->cu);
}

/* near[i] = 1 if the box of own body i touches a cell whose bit is set, or is unbounded; else 0. */
static __global__ void mark_near(int own, TalusNearGrid grid, const TalusReach *reach,
                                 const uint32_t *cells, uint32_t *near)
{
    const int64_t i = item_index();
    if (i >= own)
        return;
    const TalusReach r = reach[i];
    near[i] =
        r.id != 0 && (r.length == HUGE_VAL || visit_cells(grid, r, [&](int word, uint32_t bits) {
                          return (cells[word] & bits) != 0;
                      }));
}

/* slot[place[i]] = i if near[i], where near[i] = place[i + 1] - place[i]. */
static __global__ void list_near(int own, const uint32_t *place, int32_t *slot)
{
    const int64_t i = item_index();
    if (i < own && place[i + 1] > place[i])
        slot[place[i]] = (int32_t)i;
}

TalusStatus cu_engine_find_near(TalusEngine *e, const TalusNearGrid *grid, const uint32_t *bit,
                                const int32_t **slot, int *count)
{
    const int own = e->bodies.own;
    uint32_t found = 0;
    TALUS_TRY(cu_upload(e, &e->near_bit, bit, TALUS_NEAR_WORDS, "halo"));
    TALUS_TRY(e->near.reserve((int64_t)own + 1, "halo"));
    cu_zero(e->cu, e->near + own, sizeof *e->near.at);
    launch(e->cu, mark_near, blocks_for(own), THREADS, own, *grid, (const TalusReach *)e->reach.at,
           (const uint32_t *)e->near_bit.at, e->near.at);
    TALUS_TRY(cu_scan(e->cu, e->near, e->near, (int64_t)own + 1));
    cu_get(e->cu, &found, e->near + own, sizeof found);
    TALUS_TRY(cu_check(e->cu));
    TALUS_TRY(e->subset.reserve((int64_t)found, "halo"));
    TALUS_TRY(cu_pinned_reserve(&e->near_slot, (size_t)found * sizeof(int32_t), "halo"));
    launch(e->cu, list_near, blocks_for(own), THREADS, own, (const uint32_t *)e->near.at,
           e->subset.at);
    cu_get_pinned(e->cu, e->near_slot.at, e->subset, (size_t)found * sizeof(int32_t));
    cu_wait(e->cu);
    *slot = (const int32_t *)e->near_slot.at;
    *count = (int)found;
    return cu_check(e->cu);
}

void cu_reaches_clear(TalusEngine *e)
{
    cu_clear(e->reach, e->reach_sums, e->near_bit, e->near);
    cu_pinned_clear(&e->near_slot);
}
