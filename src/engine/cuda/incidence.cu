/* engine/cuda/incidence.cu - incidence_start and incidence of a contact list: the contacts of each body, as in
 * backend/operator.h. An incidence is one body's end of a contact, the number 2 * record + side.
 *
 *     count_first_ends     number of contacts of run 1 (two free spheres) that the search from each body has found
 *     count_other_ends     adds the number of all other ends of each body
 *     cu_scan              incidence_start
 *     scatter_incidences   writes all incidences to the ranges of their bodies, in any order
 *     sort_incidences      sorts the incidences of each body: an incidence has as many before it as are smaller
 *
 * Sorting compares each incidence with all incidences of its body. */
#include "backend/cuda/device/primitives.h"
#include "engine/cuda/detect.h"

/* Kernel argument: the list, and work space. */
struct Incidences {
    int2 *pair;              /* of the list */
    const uint32_t *slot_b;  /* of the list */
    const uint8_t *mobility; /* by slot */
    int spheres, compact, contacts,
        problem_bodies; /* numbers; spheres: of run 1, compact: of runs 1 and 2 */
    const uint32_t *
        first; /* [problem_bodies + 1]: first contact of run 1 that the search from each body found */
    uint32_t *
        end_count; /* [problem_bodies + 1]: incidences of each body; scatter_incidences counts down */
    int32_t *start;     /* incidence_start */
    uint32_t *unsorted; /* incidences by body, in any order */
    int32_t *incidence; /* of the list: the result */
};

/* Return the lower and the higher problem index of a pair of two bodies that both have one. */
static __device__ inline int32_t lower_index(int2 pair)
{
    return pair.x < pair.y ? pair.x : pair.y;
}

static __device__ inline int32_t higher_index(int2 pair)
{
    return pair.x < pair.y ? pair.y : pair.x;
}

/* Returns the incidence 2 * record + side of contact i at its side 0 (a) or 1 (b). A general contact has two records,
 * one for each side, any other contact one. */
static __device__ inline uint32_t incidence_of(const Incidences &t, int64_t i, int side)
{
    int64_t record = i < t.compact ? i : i + (i - t.compact) + side;
    return (uint32_t)(2 * record + side);
}

/* True if impulses move body b of contact i, so that b gets an incidence. In run 1 b is free; in other runs b may also
 * be fixed, driven or asleep. */
static __device__ inline bool impulses_move_b(const Incidences &t, int64_t i, int2 pair)
{
    return i < t.spheres || (pair.y >= 0 && t.mobility[t.slot_b[i]] == TALUS_MOBILITY_FREE);
}

/* end_count[p] = number of contacts of run 1 that the search from body p found. */
static __global__ void count_first_ends(Incidences t)
{
    int64_t p = item_index();
    if (p <= t.problem_bodies)
        t.end_count[p] = p < t.problem_bodies ? t.first[p + 1] - t.first[p] : 0;
}

/* Adds to end_count the ends that count_first_ends has not counted: in run 1 the end at the body of higher problem
 * index, in other runs that at a and, if impulses move b, that at b. */
static __global__ void count_other_ends(Incidences t)
{
    int64_t i = item_index();
    if (i >= t.contacts)
        return;
    int2 pair = t.pair[i];
    if (i < t.spheres) {
        atomicAdd(&t.end_count[higher_index(pair)], 1u);
        return;
    }
    atomicAdd(&t.end_count[pair.x], 1u);
    if (impulses_move_b(t, i, pair))
        atomicAdd(&t.end_count[pair.y], 1u);
}

/* Stores an incidence at the last free index of a body's range in `unsorted`, and counts end_count down. The first
 * indices of the range are for contacts of run 1 that the search from this body found (scatter_incidences). */
static __device__ inline void store_unsorted(const Incidences &t, int32_t problem_index,
                                             uint32_t incidence)
{
    uint32_t left = atomicAdd(&t.end_count[problem_index], (uint32_t)-1);
    t.unsorted[(uint32_t)t.start[problem_index] + left - 1] = incidence;
}

/* Writes the incidences of each contact to `unsorted`, in the ranges of their bodies: two, or one if impulses do not
 * move b. */
static __global__ void scatter_incidences(Incidences t)
{
    int64_t i = item_index();
    if (i >= t.contacts)
        return;
    int2 pair = t.pair[i];
    if (i < t.spheres) {
        int32_t p = lower_index(pair);
        int side = p == pair.x ? 0 : 1;
        t.unsorted[(uint32_t)t.start[p] + ((uint32_t)i - t.first[p])] = incidence_of(t, i, side);
        store_unsorted(t, higher_index(pair), incidence_of(t, i, 1 - side));
        return;
    }
    store_unsorted(t, pair.x, incidence_of(t, i, 0));
    if (impulses_move_b(t, i, pair))
        store_unsorted(t, pair.y, incidence_of(t, i, 1));
}

/* Writes an incidence to its final index: after all smaller incidences of its body. */
static __device__ inline void store_sorted(const Incidences &t, int32_t problem_index,
                                           uint32_t incidence)
{
    uint32_t begin = (uint32_t)t.start[problem_index], end = (uint32_t)t.start[problem_index + 1],
             rank = begin;
    for (uint32_t k = begin; k < end; k++)
        rank += t.unsorted[k] < incidence;
    t.incidence[rank] = (int32_t)incidence;
}

/* Writes all incidences, those of each body in ascending order. */
static __global__ void sort_incidences(Incidences t)
{
    int64_t i = item_index();
    if (i >= t.contacts)
        return;
    int2 pair = t.pair[i];
    store_sorted(t, pair.x, incidence_of(t, i, 0));
    if (impulses_move_b(t, i, pair))
        store_sorted(t, pair.y, incidence_of(t, i, 1));
}

TalusStatus cu_fill_incidence(const CuDetect *d, const CuList *list)
{
    const TalusEngineCounts *n = &list->counts;
    Incidences t = {list->pair.at,
                    list->slot_b.at,
                    d->bodies.mobility,
                    n->sphere_sphere,
                    n->sphere_sphere + n->sphere_fixed,
                    (int)n->contacts,
                    list->problem_bodies,
                    d->count,
                    d->cell_bodies,
                    list->incidence_start.at,
                    (uint32_t *)list->impulse.at,
                    list->incidence.at};
    int64_t starts = (int64_t)list->problem_bodies + 1;
    launch(d->cu, count_first_ends, blocks_for(starts), THREADS, t);
    launch(d->cu, count_other_ends, blocks_for(t.contacts), THREADS, t);
    TALUS_TRY(cu_scan(d->cu, t.end_count, (uint32_t *)t.start, starts));
    launch(d->cu, scatter_incidences, blocks_for(t.contacts), THREADS, t);
    launch(d->cu, sort_incidences, blocks_for(t.contacts), THREADS, t);
    return TALUS_OK;
}
