/* engine/cuda/narrow.cu - contacts of the candidates: all near pairs that are not two free spheres.
 *
 * One thread finds the contacts of one candidate, with the host's own functions (collide/pair_table.h): first to
 * count them, then, when every candidate knows its index in the list, to write them. The closed forms of spheres have
 * small, fast kernels of their own. All other candidates are grouped by kind for kernels that need some kB of local
 * memory per thread, for the simplices and polygons of GJK, EPA and manifolds. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/detect.h"

extern "C" {
#include "backend/frame.h"
#include "collide/narrow.h"
}

/* Takes the contact points of a pair: counts those within the envelope, and writes them if at >= 0. */
struct CuManifoldSink {
    TalusManifoldRoute route;
    TalusVec3 va, vb;
    double rest, h; /* rest: envelope without closing speed */
    int count;
    int64_t at; /* index of the first in the list; -1: count only */
    const CuList *list;
    int2 pair;
    uint32_t other;
};

TALUS_INLINE void take_point(CuManifoldSink *s, const TalusManifoldPoint *point)
{
    double closing =
        talus_closing_speed(talus_dot(s->va, point->normal), talus_dot(s->vb, point->normal));
    if (!(point->gap < s->rest + s->h * closing))
        return;
    int64_t i = s->at + s->count++;
    if (s->at < 0)
        return;
    const CuList *list = s->list;
    double f[4];
    talus_frame_set(f, point->normal.x, point->normal.y, point->normal.z);
    list->pair[i] = s->pair;
    list->other[i] = s->other;
    list->feature[i - list->counts.sphere_sphere] = point->feature;
    list->frame[i] = CuFrame{f[0], f[1], f[2], f[3]};
    list->gap[i] = point->gap;
    int64_t general = i - list->counts.sphere_sphere - list->counts.sphere_fixed;
    if (general >= 0)
        list->arms[general] = TalusArms{point->arm_a, point->arm_b};
}

#define TALUS_MANIFOLD_SINK CuManifoldSink
#define TALUS_MANIFOLD_RECEIVE take_point
#include "collide/pair_table.h"

/* True if the candidate's contacts belong to the run of spheres on fixed bodies, false for the general run. */
static __device__ inline bool sphere_fixed(const CuDetect &d, CuCandidate c)
{
    return d.bodies.mobility[c.b] == TALUS_MOBILITY_FIXED &&
           talus_body_kind(&d.bodies, c.a) == TALUS_SHAPE_SPHERE;
}

/* ---- one pair ---- */

/* Prepares the sink for a pair, except where it writes; returns the largest gap that can be within the envelope. */
static __device__ inline double approach(const CuDetect &d, CuCandidate c, CuManifoldSink *s)
{
    const TalusBodyView *v = &d.bodies;
    s->route = TalusManifoldRoute{};
    s->count = 0;
    s->h = d.options.h;
    s->va = talus_body_velocity(v, c.a);
    s->vb = talus_body_velocity(v, c.b);
    s->rest = talus_envelope_base(v, &d.options, c.a, c.b);
    return talus_envelope_reach(s->rest, d.options.h, s->va, s->vb);
}

/* Finds the contacts of a pair by a closed form of spheres; returns false for a pair that has none. */
static __device__ inline bool find_simple(const CuDetect &d, CuCandidate c, CuManifoldSink *s)
{
    TalusShapeKind a = talus_body_kind(&d.bodies, c.a), b = talus_body_kind(&d.bodies, c.b);
    bool swapped = talus_table_order_swapped(a, b);
    if ((swapped ? b : a) != TALUS_SHAPE_SPHERE)
        return false;
    TalusPose first = talus_pose_of(&d.bodies, swapped ? c.b : c.a);
    TalusPose second = talus_pose_of(&d.bodies, swapped ? c.a : c.b);
    if (d.bodies.period)
        (swapped ? first : second).position =
            talus_pose_of_nearest_image(&d.bodies, c.a, c.b).position;
    double reach = approach(d, c, s);
    s->route.swapped = swapped;
    return talus_manifold_of_sphere(&first, &second, reach, s);
}

/* Handles any pair; returns false if the two shapes are within reach and have no contact function. Not inlined: it is
 * larger than the rest of detection. */
static __device__ __noinline__ bool find_contacts(const CuDetect &d, CuCandidate c,
                                                  CuManifoldSink *s)
{
    TalusPose a = talus_pose_of(&d.bodies, c.a),
              b = talus_pose_of_nearest_image(&d.bodies, c.a, c.b);
    return talus_manifold_of_pair(&a, &b, approach(d, c, s), s);
}

/* ---- grouped pairs ---- */

static __device__ inline int kind_of(const CuDetect &d, CuCandidate c)
{
    TalusShapeKind a = talus_body_kind(&d.bodies, c.a), b = talus_body_kind(&d.bodies, c.b);
    if (a == TALUS_SHAPE_COMPOUND || b == TALUS_SHAPE_COMPOUND)
        return CU_KIND_PARTS;
    if (b == TALUS_SHAPE_PLANE)
        return CU_KIND_PLANE;
    return talus_shape_has(b, TALUS_TRAIT_FACETS) ? CU_KIND_FACETS : CU_KIND_CONVEX;
}

/* Adds candidate k to those of its kind, in any order: the place of its contacts in the list does not depend on that
 * order. */
static __device__ inline void set_aside(const CuDetect &d, int candidates, CuCandidate c, int64_t k)
{
    int kind = kind_of(d, c);
    uint32_t at = atomicAdd(&d.grid->found.rest[kind], 1u);
    d.rest[(int64_t)kind * candidates + at] = (uint32_t)k;
}

/* Returns the index of the i-th grouped candidate, kind after kind; -1 beyond them. */
static __device__ inline int64_t aside(const CuDetect &d, int candidates, int64_t i)
{
    for (int kind = 0; kind < CU_KINDS; kind++) {
        uint32_t count = d.grid->found.rest[kind];
        if (i < count)
            return d.rest[(int64_t)kind * candidates + i];
        i -= count;
    }
    return -1;
}

/* Returns the number of blocks of a kernel over the grouped candidates. The host does not know their number, at most
 * `candidates`; threads take several if there are more than these blocks hold. */
static unsigned aside_blocks(int candidates)
{
    unsigned blocks = blocks_for(candidates, 128);
    return blocks < 132 * 16 ? blocks : 132 * 16;
}

/* ---- count ---- */

/* Writes the number of contacts of candidate k to its run's row of count, 0 to the other, and adds it to total. */
static __device__ inline void note_count(int candidates, int64_t k, int contacts, bool fixed,
                                         uint32_t *count, double total[2])
{
    count[k] = fixed ? (uint32_t)contacts : 0;
    count[candidates + 1 + k] = fixed ? 0 : (uint32_t)contacts;
    total[fixed ? 0 : 1] += contacts;
}

static __global__ void count_simple(CuDetect d, int candidates, uint32_t *count,
                                    CuPartials partials)
{
    int64_t k = item();
    double total[2] = {0.0, 0.0};
    if (k < candidates) {
        CuCandidate c = d.candidate[k];
        CuManifoldSink s;
        s.at = -1;
        if (find_simple(d, c, &s))
            note_count(candidates, k, s.count, sphere_fixed(d, c), count, total);
        else
            set_aside(d, candidates, c, k);
    } else if (k == candidates) {
        note_count(candidates, k, 0, true, count, total);
    }
    if (reduce_grid<2, 0>(partials, total)) {
        d.grid->found.fixed = total[0];
        d.grid->found.general = total[1];
    }
}

/* ---- write ---- */

template <class T> static __device__ inline void exchange(T *array, int64_t i, int64_t j)
{
    T t = array[i];
    array[i] = array[j];
    array[j] = t;
}

/* Sorts a pair's contacts by feature. */
static __device__ void order_features(const CuList &list, int64_t first, int count)
{
    int64_t spheres = list.counts.sphere_sphere, compact = spheres + list.counts.sphere_fixed;
    const uint32_t *feature = list.feature;
    for (int64_t i = first + 1; i < first + count; i++) {
        for (int64_t j = i; j > first && feature[j - 1 - spheres] > feature[j - spheres]; j--) {
            exchange(list.feature.at, j - 1 - spheres, j - spheres);
            exchange(list.frame.at, j - 1, j);
            exchange(list.gap.at, j - 1, j);
            if (j > compact)
                exchange(list.arms.at, j - 1 - compact, j - compact);
        }
    }
}

/* Returns a sink that writes the contacts of candidate k. */
static __device__ inline CuManifoldSink begin_write(const CuDetect &d, int candidates,
                                                    const uint32_t *count, const CuList &list,
                                                    CuCandidate c, int64_t k)
{
    uint32_t at =
        count[sphere_fixed(d, c) ? k : candidates + 1 + k]; /* prefix sum over runs 2 and 3 */
    bool at_rest = d.bodies.mobility[c.b] == TALUS_MOBILITY_FIXED;
    CuManifoldSink s;
    s.at = list.counts.sphere_sphere + (int64_t)at;
    s.list = &list;
    s.pair = make_int2(list.problem_index[c.a], at_rest ? -1 : list.problem_index[c.b]);
    s.other = c.b;
    s.count = 0;
    return s;
}

static __global__ void write_simple(CuDetect d, int candidates, const uint32_t *count, CuList list)
{
    int64_t k = item();
    if (k >= candidates)
        return;
    CuCandidate c = d.candidate[k];
    CuManifoldSink s = begin_write(d, candidates, count, list, c, k);
    if (find_simple(d, c, &s))
        order_features(list, s.at, s.count);
}

/* ---- all other pairs ---- */

/* Counts the contacts of the grouped candidates or, if `write`, writes them. One kernel for both, because it takes long
 * to compile. */
static __global__ void find_others(CuDetect d, int candidates, uint32_t *count, CuList list,
                                   bool write, CuPartials partials)
{
    double total[2] = {0.0, 0.0};
    int64_t step = stride(), k;
    for (int64_t i = item(); (k = aside(d, candidates, i)) >= 0; i += step) {
        CuCandidate c = d.candidate[k];
        CuManifoldSink s;
        s.at = -1;
        if (write)
            s = begin_write(d, candidates, count, list, c, k);
        if (!find_contacts(d, c, &s))
            atomicMin(&d.grid->found.unsupported, (unsigned long long)c.a << 32 | c.b);
        if (write)
            order_features(list, s.at, s.count);
        else
            note_count(candidates, k, s.count, sphere_fixed(d, c), count, total);
    }
    if (write)
        return;
    if (reduce_grid<2, 0>(partials, total)) {
        d.grid->found.fixed += total[0];
        d.grid->found.general += total[1];
    }
}

/* ---- both ---- */

TalusStatus cu_manifolds_count(const CuDetect *d, int candidates, uint32_t *count)
{
    unsigned blocks = blocks_for((int64_t)candidates + 1, 128);
    TALUS_TRY(cu_partials_reserve(d->cu, blocks, 2));
    launch_block(d->cu, count_simple, blocks, 128, *d, candidates, count, cu_partials(d->cu));
    if (d->ragged)
        launch_block(d->cu, find_others, aside_blocks(candidates), 128, *d, candidates, count,
                     CuList{}, false, cu_partials(d->cu));
    return cu_scan(d->cu, count, count, 2 * ((int64_t)candidates + 1));
}

void cu_manifolds_write(const CuDetect *d, int candidates, uint32_t *count, const CuList *list)
{
    launch(d->cu, write_simple, blocks_for(candidates, 128), 128, *d, candidates, count, *list);
    if (d->ragged)
        launch_block(d->cu, find_others, aside_blocks(candidates), 128, *d, candidates, count,
                     *list, true, cu_partials(d->cu));
}
