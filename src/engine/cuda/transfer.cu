/* engine/cuda/transfer.cu - transfer of impulses from the old contacts to the new ones, by key.
 *
 * Old contacts are ordered within each run by the lower of their two problem indices (engine.h). index_old_contacts
 * stores the first old contact of each such index and run. For a new contact, transfer_impulses looks up the old
 * problem indices of its two slots and compares its key with the old contacts of the lower index. Small bodies have
 * lower problem indices than large ones, so the many contacts of a large body are spread over the indices of the small
 * bodies, and each new contact is compared with few old ones. */
#include "engine/cuda/detect.h"

/* The old contacts, and where those of each ordering index begin. */
struct OldContacts {
    CuList list;
    /* [3][problem_bodies], by run and ordering_index: 1 + index of the first contact with them; 0: none */
    uint32_t *begin;
};

/* Returns the run of contact i: 0 sphere-sphere, 1 sphere-fixed, 2 general. */
static __device__ inline int run_of(const TalusEngineCounts &n, int64_t i)
{
    return i < n.sphere_sphere ? 0 : i < n.sphere_sphere + n.sphere_fixed ? 1 : 2;
}

/* Returns the lower of two problem indices; b may be -1, no index. */
static __device__ inline int32_t lower_index(int32_t a, int32_t b)
{
    return b >= 0 && b < a ? b : a;
}

/* Returns the problem index that the body in a slot has in the list; -1: none, or the list does not have the slot. */
static __device__ inline int32_t listed_problem_index(const CuList &list, uint32_t slot)
{
    return slot < (uint32_t)list.slots ? list.problem_index[slot] : -1;
}

/* Returns the problem index by which contact i is ordered: the lower one of a and b, or a's if b has none. */
static __device__ inline int32_t ordering_index(const CuList &list, int64_t i)
{
    int2 pair = list.pair[i];
    return lower_index(pair.x, pair.y >= 0 ? pair.y : listed_problem_index(list, list.slot_b[i]));
}

/* Fills old.begin, which is 0 before. */
static __global__ void index_old_contacts(OldContacts old)
{
    int64_t i = item_index();
    const TalusEngineCounts &n = old.list.counts;
    if (i >= n.contacts)
        return;
    int run = run_of(n, i);
    int32_t problem_index = ordering_index(old.list, i);
    if (i == 0 || run_of(n, i - 1) != run || ordering_index(old.list, i - 1) != problem_index)
        old.begin[(int64_t)run * old.list.problem_bodies + problem_index] = (uint32_t)i + 1;
}

/* Old contacts of one run with one ordering index: begin to end - 1. Those of one pair are among them. */
struct OldRange {
    int64_t begin, end;
    int32_t a; /* old problem index of the pair's body a; -1: none, and the range is empty */
};

/* Returns the range of old contacts of a run that contains those of the pair in slots a and b, if the pair has any.
 * Empty if no old contact of the run has the pair's ordering index. */
static __device__ inline OldRange find_old_range(const OldContacts &old, int run, uint32_t a,
                                                 uint32_t b)
{
    const CuList &list = old.list;
    const TalusEngineCounts &n = list.counts;
    OldRange range = {0, 0, listed_problem_index(list, a)};
    if (range.a < 0)
        return range;
    int32_t problem_index = lower_index(range.a, listed_problem_index(list, b));
    int64_t first = (int64_t)old.begin[(int64_t)run * list.problem_bodies + problem_index] - 1;
    int64_t end = run == 2 ? n.contacts : n.sphere_sphere + (run == 1 ? n.sphere_fixed : 0);
    if (first < 0)
        return range;
    range.begin = range.end = first;
    while (range.end < end && ordering_index(list, range.end) == problem_index)
        range.end++;
    return range;
}

/* Returns the feature of contact i of a run; 0 in run 0, two spheres. */
static __device__ inline uint32_t feature_of(const CuList &list, int run, int64_t i)
{
    return run == 0 ? 0 : list.feature[i - list.counts.sphere_sphere];
}

/* True if old contact k is of the pair of body range.a and the body in slot b. */
static __device__ inline bool is_of_pair(const CuList &list, const OldRange &range, uint32_t b,
                                         int64_t k)
{
    return list.pair[k].x == range.a && list.slot_b[k] == b;
}

/* Returns the index of the old contact with this feature of the pair of body range.a and slot b; -1 if there is
 * none. */
static __device__ inline int64_t find_old_contact(const OldContacts &old, const OldRange &range,
                                                  int run, uint32_t b, uint32_t feature)
{
    for (int64_t k = range.begin; k < range.end; k++)
        if (is_of_pair(old.list, range, b, k) && feature_of(old.list, run, k) == feature)
            return k;
    return -1;
}

/* Contacts of one pair in the new list: begin to end - 1. */
struct NewRange {
    int64_t begin, end;
};

/* Returns the contacts of the list that have the pair and the run of contact i. */
static __device__ inline NewRange find_new_range(const CuList &list, int64_t i)
{
    int32_t a = list.pair[i].x;
    uint32_t b = list.slot_b[i];
    int run = run_of(list.counts, i);
    NewRange range = {i, i + 1};
    while (range.begin > 0 && run_of(list.counts, range.begin - 1) == run &&
           list.pair[range.begin - 1].x == a && list.slot_b[range.begin - 1] == b)
        range.begin--;
    while (range.end < list.counts.contacts && run_of(list.counts, range.end) == run &&
           list.pair[range.end].x == a && list.slot_b[range.end] == b)
        range.end++;
    return range;
}

/* True if some contact of the range has this feature. */
static __device__ inline bool has_feature(const CuList &list, const NewRange &range, int run,
                                          uint32_t feature)
{
    for (int64_t i = range.begin; i < range.end; i++)
        if (feature_of(list, run, i) == feature)
            return true;
    return false;
}

/* Returns the impulse of new contact i, whose key no old contact has: the sum of the impulses of the pair's old
 * contacts of this run whose keys no new contact has, divided equally among the pair's new contacts whose keys no old
 * contact has; as share_lost_impulse of collide/detect.c. 0 if the pair had no contact. range: find_old_range of the
 * pair. */
static __device__ inline TalusVec3 share_lost_impulse(const OldContacts &old, const CuList &list,
                                                      int run, const OldRange &range, int64_t i)
{
    uint32_t b = list.slot_b[i];
    NewRange pair = find_new_range(list, i);
    TalusVec3 lost = talus_vec3(0.0, 0.0, 0.0);
    int64_t fresh = 0;
    for (int64_t j = pair.begin; j < pair.end; j++)
        fresh += find_old_contact(old, range, run, b, feature_of(list, run, j)) < 0;
    for (int64_t k = range.begin; k < range.end; k++)
        if (is_of_pair(old.list, range, b, k) &&
            !has_feature(list, pair, run, feature_of(old.list, run, k)))
            lost = talus_add(lost, old.list.impulse[k]);
    return talus_scale(1.0 / (double)fresh, lost);
}

/* Fills list.impulse: the impulse of the old contact with the same key, or share_lost_impulse if there is none. */
static __global__ void transfer_impulses(OldContacts old, CuList list)
{
    int64_t i = item_index();
    const TalusEngineCounts &n = list.counts;
    if (i >= n.contacts)
        return;
    int run = run_of(n, i);
    OldRange range = find_old_range(old, run, list.slot[list.pair[i].x], list.slot_b[i]);
    int64_t from = find_old_contact(old, range, run, list.slot_b[i], feature_of(list, run, i));
    list.impulse[i] =
        from < 0 ? share_lost_impulse(old, list, run, range, i) : TalusVec3(old.list.impulse[from]);
}

void cu_transfer_impulses(CuContext *cu, const CuList *old, const CuList *list, uint32_t *begin)
{
    OldContacts o = {*old, begin};
    if (old->counts.contacts == 0) {
        cu_zero(cu, list->impulse, (size_t)list->counts.contacts * sizeof *list->impulse.at);
        return;
    }
    cu_zero(cu, begin, 3 * (size_t)old->problem_bodies * sizeof *begin);
    launch(cu, index_old_contacts, blocks_for(old->counts.contacts), THREADS, o);
    launch(cu, transfer_impulses, blocks_for(list->counts.contacts), THREADS, o, *list);
}
