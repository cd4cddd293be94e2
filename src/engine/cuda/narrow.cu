/* engine/cuda/narrow.cu - contacts of the candidates: all near pairs that are not two free spheres.
 *
 * One thread finds the contacts of one candidate, with the host's own functions (collide/pair_table.h): first to count
 * them, then, when the index of each candidate's first contact is known, to write them. Candidates with a sphere in
 * closed form have small, fast kernels of their own. All other candidates are grouped by kind, for a kernel that needs
 * some kB of local memory per thread, for the simplices and polygons of GJK, EPA and manifolds. */
#include "backend/cuda/device/primitives.h"
#include "backend/cuda/device/reduce.h"
#include "engine/cuda/missing.h"

extern "C" {
#include "backend/frame.h"
#include "collide/missing.h"
#include "collide/narrow.h"
}

/* Receives the contact points of a pair (add_point): counts those within the envelope and, if first >= 0, writes them
 * to the list. With `check` it counts those that are missing in the list of the check. */
struct CuManifoldSink {
    TalusManifoldRoute route;
    const CuDetect *check;   /* NULL: no check */
    CuCandidate candidate;   /* set with check */
    TalusVec3 va, vb;        /* velocities of bodies a and b, m/s */
    double envelope_at_rest; /* envelope without the closing speed, m */
    double h;
    int count;          /* number of contacts so far */
    int64_t first;      /* index in the list of the pair's first contact; -1: count only */
    const CuList *list; /* the list that is written; set if first >= 0 */
    int2 pair;          /* CuList.pair of the contacts; set if first >= 0 */
    uint32_t slot_b;    /* CuList.slot_b of the contacts; set if first >= 0 */
};

/* True if a contact point is missing in the list of the check (collide/missing.h). */
TALUS_INLINE bool is_missing(const CuManifoldSink *s, const TalusManifoldPoint *point)
{
    const CuDetect *d = s->check;
    CuCandidate c = s->candidate;
    return talus_ends_overlapping(&d->bodies, c.a, c.b, point, s->h, d->check.tolerance) &&
           !cu_has_contact(d->check.list, d->bodies.mobility, c.a, c.b, point->feature);
}

/* Counts a contact point that is within the envelope at its closing speed; writes it to the list if s->first >= 0. With
 * a check: counts a contact point that is missing. */
TALUS_INLINE void add_point(CuManifoldSink *s, const TalusManifoldPoint *point)
{
    if (s->check) {
        s->count += is_missing(s, point);
        return;
    }
    double closing =
        talus_closing_speed(talus_dot(s->va, point->normal), talus_dot(s->vb, point->normal));
    if (!(point->gap < s->envelope_at_rest + s->h * closing))
        return;
    int64_t i = s->first + s->count++;
    if (s->first < 0)
        return;
    const CuList *list = s->list;
    double f[4];
    talus_frame_from_normal(f, point->normal.x, point->normal.y, point->normal.z);
    list->pair[i] = s->pair;
    list->slot_b[i] = s->slot_b;
    list->feature[i - list->counts.sphere_sphere] = point->feature;
    list->frame[i] = CuFrame{f[0], f[1], f[2], f[3]};
    list->gap[i] = point->gap;
    int64_t general = i - list->counts.sphere_sphere - list->counts.sphere_fixed;
    if (general >= 0)
        list->arms[general] = TalusArms{point->arm_a, point->arm_b};
}

#define TALUS_MANIFOLD_SINK CuManifoldSink
#define TALUS_MANIFOLD_RECEIVE add_point
#include "collide/pair_table.h"

/* True if the candidate's contacts belong to the run of spheres on fixed bodies, false for the general run. */
static __device__ inline bool is_sphere_fixed(const CuDetect &d, CuCandidate c)
{
    return d.bodies.mobility[c.b] == TALUS_MOBILITY_FIXED &&
           talus_body_kind(&d.bodies, c.a) == TALUS_SHAPE_SPHERE;
}

/* ---- one pair ---- */

/* Sets the fields of the sink that finding contacts needs, but not those that say where they are written. Returns the
 * largest gap that can be within the envelope or, for a check, that can close within the step. */
static __device__ inline double prepare_sink(const CuDetect &d, CuCandidate c, CuManifoldSink *s)
{
    const TalusBodyView *v = &d.bodies;
    s->route = TalusManifoldRoute{};
    s->count = 0;
    s->h = d.options.h;
    s->check = d.check.on ? &d : nullptr;
    s->candidate = c;
    if (d.check.on)
        return talus_closable_gap(v, s->h, c.a, c.b);
    s->va = talus_body_velocity(v, c.a);
    s->vb = talus_body_velocity(v, c.b);
    s->envelope_at_rest = talus_envelope_base(v, &d.options, c.a, c.b);
    return talus_envelope_reach(s->envelope_at_rest, d.options.h, s->va, s->vb);
}

/* True in a check of a pair that has a contact which guards it (collide/missing.h). */
static __device__ inline bool is_guarded(const CuDetect &d, CuCandidate c)
{
    return d.check.on && talus_one_contact_guards(&d.bodies, c.a, c.b) &&
           cu_has_contact(d.check.list, d.bodies.mobility, c.a, c.b, CU_ANY_FEATURE);
}

/* If the pair has a closed form of spheres, passes its contacts to the sink and returns true; else returns false. Also
 * true for a guarded pair, which has no missing contact. */
static __device__ inline bool find_sphere_contacts(const CuDetect &d, CuCandidate c,
                                                   CuManifoldSink *s)
{
    s->count = 0;
    if (is_guarded(d, c))
        return true;
    TalusShapeKind a = talus_body_kind(&d.bodies, c.a), b = talus_body_kind(&d.bodies, c.b);
    bool swapped = talus_table_order_swapped(a, b);
    if ((swapped ? b : a) != TALUS_SHAPE_SPHERE)
        return false;
    TalusPose first = talus_pose_of(&d.bodies, swapped ? c.b : c.a);
    TalusPose second = talus_pose_of(&d.bodies, swapped ? c.a : c.b);
    if (d.bodies.period)
        (swapped ? first : second).position =
            talus_pose_of_nearest_image(&d.bodies, c.a, c.b).position;
    double reach = prepare_sink(d, c, s);
    s->route.swapped = swapped;
    return talus_manifold_of_sphere(&first, &second, reach, s);
}

/* Passes the contacts of any pair to the sink. Returns false if the two shapes are within reach and have no contact
 * function. Not inlined: it is larger than the rest of detection. */
static __device__ __noinline__ bool find_contacts(const CuDetect &d, CuCandidate c,
                                                  CuManifoldSink *s)
{
    TalusPose a = talus_pose_of(&d.bodies, c.a),
              b = talus_pose_of_nearest_image(&d.bodies, c.a, c.b);
    return talus_manifold_of_pair(&a, &b, prepare_sink(d, c, s), s);
}

/* ---- grouped pairs ---- */

/* Returns the CU_KIND of a candidate. */
static __device__ inline int candidate_kind(const CuDetect &d, CuCandidate c)
{
    TalusShapeKind a = talus_body_kind(&d.bodies, c.a), b = talus_body_kind(&d.bodies, c.b);
    if (a == TALUS_SHAPE_COMPOUND || b == TALUS_SHAPE_COMPOUND)
        return CU_KIND_PARTS;
    if (b == TALUS_SHAPE_PLANE)
        return CU_KIND_PLANE;
    return talus_shape_has(b, TALUS_TRAIT_FACETS) ? CU_KIND_FACETS : CU_KIND_CONVEX;
}

/* Adds candidate k to a group, a CU_KIND_ or CU_TOUCHING, in any order: where its contacts are in the list does not
 * depend on that order. */
static __device__ inline void group_candidate(const CuDetect &d, int candidates, int group,
                                              int64_t k)
{
    uint32_t at = atomicAdd(&d.grid->found.grouped[group], 1u);
    d.grouped[(int64_t)group * candidates + at] = (uint32_t)k;
}

/* Returns the index in d.candidate of the i-th grouped candidate, kind after kind, or with `touching` of the i-th of
 * CU_TOUCHING; -1 if there are not so many. */
static __device__ inline int64_t grouped_candidate(const CuDetect &d, int candidates, int64_t i,
                                                   bool touching)
{
    const int end = touching ? (int)CU_GROUPS : (int)CU_KINDS;
    for (int kind = touching ? (int)CU_TOUCHING : 0; kind < end; kind++) {
        uint32_t count = d.grid->found.grouped[kind];
        if (i < count)
            return d.grouped[(int64_t)kind * candidates + i];
        i -= count;
    }
    return -1;
}

/* Returns the number of blocks, of 128 threads, of a kernel over the grouped candidates. The host does not know the
 * number of grouped candidates, at most `candidates`; a thread takes several if there are more of them than threads. */
static unsigned grouped_blocks(int candidates)
{
    unsigned blocks = blocks_for(candidates, 128);
    return blocks < 132 * 16 ? blocks : 132 * 16;
}

/* ---- count ---- */

/* Writes the number of contacts of candidate k to count: in the row of its run (fixed: run 2, else run 3), 0 in the
 * other row. Adds the number to total of that run. */
static __device__ inline void store_count(int candidates, int64_t k, int contacts, bool fixed,
                                          uint32_t *count, double total[2])
{
    count[k] = fixed ? (uint32_t)contacts : 0;
    count[candidates + 1 + k] = fixed ? 0 : (uint32_t)contacts;
    total[fixed ? 0 : 1] += contacts;
}

/* Counts the contacts of each candidate that has a closed form of spheres; groups all other candidates by kind. Adds the
 * numbers counted here to sphere_fixed and general of CuFound. */
static __global__ void count_or_group(CuDetect d, int candidates, uint32_t *count)
{
    int64_t k = item_index();
    double total[2] = {0.0, 0.0};
    if (k < candidates) {
        CuCandidate c = d.candidate[k];
        CuManifoldSink s;
        s.first = -1;
        if (find_sphere_contacts(d, c, &s))
            store_count(candidates, k, s.count, is_sphere_fixed(d, c), count, total);
        else
            group_candidate(d, candidates, candidate_kind(d, c), k);
    } else if (k == candidates) {
        store_count(candidates, k, 0, true, count, total);
    }
    add_block_counts(total, {&d.grid->found.sphere_fixed, &d.grid->found.general});
}

/* ---- write ---- */

/* Exchanges entries i and j of an array. */
template <class T> static __device__ inline void exchange_entries(T *array, int64_t i, int64_t j)
{
    T t = array[i];
    array[i] = array[j];
    array[j] = t;
}

/* Sorts the `count` contacts of a pair, from index `first` of the list on, by feature; pair and slot_b are the same for
 * all. */
static __device__ void sort_by_feature(const CuList &list, int64_t first, int count)
{
    int64_t spheres = list.counts.sphere_sphere, compact = spheres + list.counts.sphere_fixed;
    const uint32_t *feature = list.feature;
    for (int64_t i = first + 1; i < first + count; i++) {
        for (int64_t j = i; j > first && feature[j - 1 - spheres] > feature[j - spheres]; j--) {
            exchange_entries(list.feature.at, j - 1 - spheres, j - spheres);
            exchange_entries(list.frame.at, j - 1, j);
            exchange_entries(list.gap.at, j - 1, j);
            if (j > compact)
                exchange_entries(list.arms.at, j - 1 - compact, j - compact);
        }
    }
}

/* Returns a sink that writes the contacts of candidate k to the list. */
static __device__ inline CuManifoldSink writing_sink(const CuDetect &d, int candidates,
                                                     const uint32_t *count, const CuList &list,
                                                     CuCandidate c, int64_t k)
{
    uint32_t at =
        count[is_sphere_fixed(d, c)
                  ? k
                  : candidates + 1 + k]; /* index of the first contact, counted from run 2 */
    bool at_rest = d.bodies.mobility[c.b] == TALUS_MOBILITY_FIXED;
    CuManifoldSink s;
    s.first = list.counts.sphere_sphere + (int64_t)at;
    s.list = &list;
    s.pair = make_int2(list.problem_index[c.a], at_rest ? -1 : list.problem_index[c.b]);
    s.slot_b = c.b;
    s.count = 0;
    return s;
}

/* Writes the contacts of each candidate that has a closed form of spheres to the list. */
static __global__ void write_sphere_contacts(CuDetect d, int candidates, const uint32_t *count,
                                             CuList list)
{
    int64_t k = item_index();
    if (k >= candidates)
        return;
    CuCandidate c = d.candidate[k];
    CuManifoldSink s = writing_sink(d, candidates, count, list, c, k);
    if (find_sphere_contacts(d, c, &s))
        sort_by_feature(list, s.first, s.count);
}

/* ---- all other pairs ---- */

/* Counts the contacts of the grouped candidates, adds the numbers to CuFound and groups those that touch; or, if `write`,
 * writes the contacts of the latter to the list. One kernel for both, because it takes long to compile. Records in
 * CuFound pairs without a contact function. */
static __global__ void find_grouped_contacts(CuDetect d, int candidates, uint32_t *count,
                                             CuList list, bool write)
{
    double total[2] = {0.0, 0.0};
    int64_t step = grid_stride(), k;
    for (int64_t i = item_index(); (k = grouped_candidate(d, candidates, i, write)) >= 0;
         i += step) {
        CuCandidate c = d.candidate[k];
        CuManifoldSink s;
        s.first = -1;
        if (write)
            s = writing_sink(d, candidates, count, list, c, k);
        if (!find_contacts(d, c, &s))
            atomicMin(&d.grid->found.unsupported, (unsigned long long)c.a << 32 | c.b);
        if (write) {
            sort_by_feature(list, s.first, s.count);
            continue;
        }
        store_count(candidates, k, s.count, is_sphere_fixed(d, c), count, total);
        if (s.count > 0)
            group_candidate(d, candidates, CU_TOUCHING, k);
    }
    if (write)
        return;
    add_block_counts(total, {&d.grid->found.sphere_fixed, &d.grid->found.general});
}

/* ---- both ---- */

/* Bytes of a candidate: two slots, states, sizes and shapes of two bodies (176 each), its counts. Bytes of a general
 * contact that is written, without those of its bodies: frame, gap, arms, feature, pair, slot. Shapes, which bodies
 * share, are not counted. */
enum { PAIR_BYTES = 8 + 2 * 176 + 12, CONTACT_BYTES = 32 + 8 + 48 + 4 + 8 + 4 };

TalusStatus cu_manifolds_count(const CuDetect *d, int candidates, uint32_t *count)
{
    unsigned blocks = blocks_for((int64_t)candidates + 1, 128);
    launch_block(d->cu, count_or_group, blocks, 128, *d, candidates, count);
    if (d->complex_shapes) {
        talus_profile_expect_bytes((double)candidates * PAIR_BYTES);
        launch_block(d->cu, find_grouped_contacts, grouped_blocks(candidates), 128, *d, candidates,
                     count, CuList{}, false);
    }
    return cu_scan(d->cu, count, count, 2 * ((int64_t)candidates + 1));
}

void cu_manifolds_write(const CuDetect *d, int candidates, uint32_t *count, const CuList *list)
{
    launch(d->cu, write_sphere_contacts, blocks_for(candidates, 128), 128, *d, candidates, count,
           *list);
    if (d->complex_shapes) {
        talus_profile_expect_bytes((double)list->counts.general * CONTACT_BYTES);
        launch_block(d->cu, find_grouped_contacts, grouped_blocks(candidates), 128, *d, candidates,
                     count, *list, true);
    }
}
