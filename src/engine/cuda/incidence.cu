/* engine/cuda/incidence.cu - incidence_start and incidence of a contact list: each body's contacts, as in
 * backend/operator.h. An incidence is one body's end of a contact, the number 2 * record + side.
 *
 *     begin     counts, for each body, the contacts of two free spheres that were found from it
 *     degrees   counts all other ends
 *     scan      incidence_start
 *     scatter   writes all ends, those of a body in any order
 *     rank      sorts those of each body: an end's place is the number of smaller ones
 *
 * Ranking costs as many comparisons per incidence as its body has incidences. */
#include "backend/cuda/device/primitives.h"
#include "engine/cuda/detect.h"

struct Incidences {
    int2 *pair;
    const uint32_t *other;
    const uint8_t *mobility;                        /* by slot */
    int spheres, compact, contacts, problem_bodies; /* compact: contacts of runs 1 and 2 */
    const uint32_t *first; /* [problem_bodies + 1]: first contact of run 1 found from each body */
    uint32_t *degree;      /* [problem_bodies + 1]: number of incidences; scatter counts it down */
    int32_t *start;
    uint32_t *loose; /* incidences in any order, by body */
    int32_t *incidence;
};

static __device__ inline int32_t lower(int2 pair)
{
    return pair.x < pair.y ? pair.x : pair.y;
}

static __device__ inline int32_t higher(int2 pair)
{
    return pair.x < pair.y ? pair.y : pair.x;
}

/* Returns the incidence of side 0 (a) or 1 (b) of contact i: 2 * record + side; general contacts have two records,
 * others one. */
static __device__ inline uint32_t incidence_of(const Incidences &t, int64_t i, int side)
{
    int64_t record = i < t.compact ? i : i + (i - t.compact) + side;
    return (uint32_t)(2 * record + side);
}

/* True if b's end of contact i gets an incidence: if impulses move b. In run 1 they do; elsewhere b may be driven or
 * asleep, with a problem index or without. */
static __device__ inline bool b_yields(const Incidences &t, int64_t i, int2 pair)
{
    return i < t.spheres || (pair.y >= 0 && t.mobility[t.other[i]] == TALUS_MOBILITY_FREE);
}

static __global__ void begin_degrees(Incidences t)
{
    int64_t p = item();
    if (p <= t.problem_bodies)
        t.degree[p] = p < t.problem_bodies ? t.first[p + 1] - t.first[p] : 0;
}

/* Counts the ends that begin_degrees has not: in run 1 those of the higher problem index, in other runs all. */
static __global__ void add_degrees(Incidences t)
{
    int64_t i = item();
    if (i >= t.contacts)
        return;
    int2 pair = t.pair[i];
    if (i < t.spheres) {
        atomicAdd(&t.degree[higher(pair)], 1u);
        return;
    }
    atomicAdd(&t.degree[pair.x], 1u);
    if (b_yields(t, i, pair))
        atomicAdd(&t.degree[pair.y], 1u);
}

/* Stores an incidence at the last free index of a body's range. Its first indices are for contacts of run 1 found from
 * this body (scatter). */
static __device__ inline void seat(const Incidences &t, int32_t problem_index, uint32_t incidence)
{
    uint32_t left = atomicAdd(&t.degree[problem_index], (uint32_t)-1);
    t.loose[(uint32_t)t.start[problem_index] + left - 1] = incidence;
}

static __global__ void scatter(Incidences t)
{
    int64_t i = item();
    if (i >= t.contacts)
        return;
    int2 pair = t.pair[i];
    if (i < t.spheres) {
        int32_t p = lower(pair);
        int side = p == pair.x ? 0 : 1;
        t.loose[(uint32_t)t.start[p] + ((uint32_t)i - t.first[p])] = incidence_of(t, i, side);
        seat(t, higher(pair), incidence_of(t, i, 1 - side));
        return;
    }
    seat(t, pair.x, incidence_of(t, i, 0));
    if (b_yields(t, i, pair))
        seat(t, pair.y, incidence_of(t, i, 1));
}

/* Writes an incidence to its final place in its body's range: after all smaller ones. */
static __device__ inline void settle(const Incidences &t, int32_t problem_index, uint32_t incidence)
{
    uint32_t begin = (uint32_t)t.start[problem_index], end = (uint32_t)t.start[problem_index + 1],
             rank = begin;
    for (uint32_t k = begin; k < end; k++)
        rank += t.loose[k] < incidence;
    t.incidence[rank] = (int32_t)incidence;
}

static __global__ void rank_incidences(Incidences t)
{
    int64_t i = item();
    if (i >= t.contacts)
        return;
    int2 pair = t.pair[i];
    settle(t, pair.x, incidence_of(t, i, 0));
    if (b_yields(t, i, pair))
        settle(t, pair.y, incidence_of(t, i, 1));
}

TalusStatus cu_list_body_contacts(const CuDetect *d, const CuList *list)
{
    const TalusEngineCounts *n = &list->counts;
    Incidences t = {list->pair.at,
                    list->other.at,
                    d->bodies.mobility,
                    n->sphere_sphere,
                    n->sphere_sphere + n->sphere_fixed,
                    n->contacts,
                    list->problem_bodies,
                    d->count,
                    d->temp,
                    list->incidence_start.at,
                    (uint32_t *)list->impulse.at,
                    list->incidence.at};
    int64_t starts = (int64_t)list->problem_bodies + 1;
    launch(d->cu, begin_degrees, blocks_for(starts), THREADS, t);
    launch(d->cu, add_degrees, blocks_for(t.contacts), THREADS, t);
    TALUS_TRY(cu_scan(d->cu, t.degree, (uint32_t *)t.start, starts));
    launch(d->cu, scatter, blocks_for(t.contacts), THREADS, t);
    launch(d->cu, rank_incidences, blocks_for(t.contacts), THREADS, t);
    return TALUS_OK;
}
