/* engine/cuda/transfer.cu - transfer of impulses from the old contacts to the new ones, by key.
 *
 * Old contacts are ordered within each run by the lower of their two problem indices (engine.h). find_begins notes the
 * first old contact of each such index and run. For a new contact, `transfer` looks up the old problem indices of its
 * two slots and compares its key with the old contacts from the first one of the lower index on. Small bodies come
 * before large ones, so a large body's many contacts are spread over the problem indices of the small ones, and each
 * new contact is compared with few old ones. */
#include "engine/cuda/detect.h"

/* Index of the old contacts. */
struct Old {
    CuList list;
    /* [3][problem_bodies], by run and by ordering_index: 1 + index of the first such contact; 0: none */
    uint32_t *begin;
};

static __device__ inline int run_of(const TalusEngineCounts &n, int64_t i)
{
    return i < n.sphere_sphere ? 0 : i < n.sphere_sphere + n.sphere_fixed ? 1 : 2;
}

/* Returns the lower of two problem indices; b may be -1, none. */
static __device__ inline int32_t lower_index(int32_t a, int32_t b)
{
    return b >= 0 && b < a ? b : a;
}

/* Returns the problem index by which contact i is ordered: the lower one of a and b, or a's if b has none. */
static __device__ inline int32_t ordering_index(const CuList &list, int64_t i)
{
    int2 pair = list.pair[i];
    return lower_index(pair.x, pair.y >= 0 ? pair.y : list.problem_index[list.other[i]]);
}

static __global__ void find_begins(Old old)
{
    int64_t i = item();
    const TalusEngineCounts &n = old.list.counts;
    if (i >= n.contacts)
        return;
    int run = run_of(n, i);
    int32_t problem_index = ordering_index(old.list, i);
    if (i == 0 || run_of(n, i - 1) != run || ordering_index(old.list, i - 1) != problem_index)
        old.begin[(int64_t)run * old.list.problem_bodies + problem_index] = (uint32_t)i + 1;
}

/* Returns the problem index that the body in a slot has in the old list; -1: none. */
static __device__ inline int32_t old_index(const CuList &old, uint32_t slot)
{
    return slot < (uint32_t)old.slots ? old.problem_index[slot] : -1;
}

/* Returns the index of the old contact with this key, or -1. */
static __device__ inline int64_t find_old(const Old &old, int run, uint32_t a, uint32_t b,
                                          uint32_t feature)
{
    const CuList &list = old.list;
    const TalusEngineCounts &n = list.counts;
    int32_t index_a = old_index(list, a), index_b = old_index(list, b);
    if (index_a < 0)
        return -1;
    int32_t problem_index = lower_index(index_a, index_b);
    int64_t i = (int64_t)old.begin[(int64_t)run * list.problem_bodies + problem_index] - 1;
    int64_t end = run == 2 ? n.contacts : n.sphere_sphere + (run == 1 ? n.sphere_fixed : 0);
    if (i < 0)
        return -1;
    for (; i < end; i++) {
        if (list.pair[i].x == index_a && list.other[i] == b &&
            (run == 0 || list.feature[i - n.sphere_sphere] == feature))
            return i;
        if (ordering_index(list, i) != problem_index)
            return -1;
    }
    return -1;
}

static __global__ void transfer(Old old, CuList list)
{
    int64_t i = item();
    const TalusEngineCounts &n = list.counts;
    if (i >= n.contacts)
        return;
    int run = run_of(n, i);
    uint32_t feature = run == 0 ? 0 : list.feature[i - n.sphere_sphere];
    int64_t from = find_old(old, run, list.slot[list.pair[i].x], list.other[i], feature);
    list.impulse[i] = from < 0 ? talus_vec3(0.0, 0.0, 0.0) : old.list.impulse[from];
}

void cu_transfer_impulses(CuContext *cu, const CuList *old, const CuList *list, uint32_t *begin)
{
    Old o = {*old, begin};
    if (old->counts.contacts == 0) {
        cu_zero(cu, list->impulse, (size_t)list->counts.contacts * sizeof *list->impulse.at);
        return;
    }
    cu_zero(cu, begin, 3 * (size_t)old->problem_bodies * sizeof *begin);
    launch(cu, find_begins, blocks_for(old->counts.contacts), THREADS, o);
    launch(cu, transfer, blocks_for(list->counts.contacts), THREADS, o, *list);
}
