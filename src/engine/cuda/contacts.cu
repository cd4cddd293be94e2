/* engine/cuda/contacts.cu - upload and download of the contact list in the host's order; storage of the solved impulses
 * in the list.
 *
 * On the host, contacts have slots of bodies and are sorted by (a, b, feature) within each run, a and b in the order of
 * ids. The device's list is sorted by problem indices. Contacts of one pair are adjacent in it, in the order of
 * features, so a stable sort by the ranks of a and b gives the host's order. A list uploaded at a restart stays in the
 * host's order: until the next detection the rank of a body serves as its problem index. */
#include "backend/cuda/device/primitives.h"
#include "engine/cuda/material.h"

/* Largest capacity of the staging memory on the device, in contacts; longer lists are copied in several passes. */
enum { STAGE = 1 << 18 };

/* ---- impulses ---- */

/* Stores in the list the impulse of each contact on b, world frame, from gamma, less the attractive impulse. PULL: some
 * law has cohesion. */
template <bool PULL>
static __global__ void store_impulses(CuLawInputs s, TalusOperator op, const double *gamma)
{
    int64_t i = item_index();
    if (i >= s.list.counts.contacts)
        return;
    TalusVec3 impulse = talus_block_impulse(&op, gamma, i);
    double pull = PULL ? cu_attractive_impulse(s, i) : 0.0;
    CuFrame f = s.list.frame[i];
    s.list.impulse[i] =
        pull > 0.0 ? talus_madd(impulse, -pull, talus_vec3(f.x, f.y, f.z)) : impulse;
}

TalusStatus cu_engine_store_impulses(TalusEngine *e)
{
    const TalusOperator *op = &e->step.op;
    launch(e->cu, e->tables.cohesion ? store_impulses<true> : store_impulses<false>,
           blocks_for(op->blocks), THREADS, cu_law_inputs(e), *op, e->step.gamma.at);
    return cu_check(e->cu);
}

/* ---- download ---- */

/* Device memory in which contacts wait for a copy to or from the host; sort keys and the order. gone: contacts of each run
 * with bodies that are not here (slots.cu). */
struct Staging {
    CuArray<uint32_t> gone;
    CuArray<TalusContact> contact;
    CuArray<TalusVec3> impulse;
    CuArray<TalusArms> arms;
    CuArray<uint64_t> key, sorted;  /* make_sort_keys; keys after sorting */
    CuArray<uint32_t> index, order; /* of contacts: before sorting; find_host_order */
};

static void clear_staging(Staging *s)
{
    cu_clear(s->contact, s->impulse, s->arms, s->key, s->sorted, s->index, s->order, s->gone);
}

/* Reserves staging memory for at most STAGE of `contacts` contacts and of `general` arms. */
static TalusStatus reserve_staging(Staging *s, int contacts, int general)
{
    TALUS_TRY(s->contact.reserve(contacts < STAGE ? contacts : STAGE, "contacts on their way"));
    TALUS_TRY(s->impulse.reserve(contacts < STAGE ? contacts : STAGE, "contacts on their way"));
    return s->arms.reserve(general < STAGE ? general : STAGE, "contacts on their way");
}

/* Returns the rank of the body in a slot, its index in the order of ids. */
static __device__ inline uint32_t rank_of(const CuBodies &b, uint32_t slot)
{
    return b.ranked ? b.rank[slot] : slot;
}

/* key[i] = rank of a, then rank of b in `bits` bits, of contact i; index[i] = i. A stable sort of a run by these keys
 * gives the host's order, because the contacts of one pair are in the order of features already. Contacts of bodies that are
 * not here come last; gone[run] counts them. */
static __global__ void make_sort_keys(CuList list, CuBodies b, int bits, uint64_t *key,
                                      uint32_t *index, uint32_t *gone)
{
    int64_t i = item_index();
    const TalusEngineCounts &n = list.counts;
    if (i >= n.contacts)
        return;
    const uint32_t first = list.slot[list.pair[i].x], second = list.slot_b[i];
    index[i] = (uint32_t)i;
    if (first < (uint32_t)b.slots && second < (uint32_t)b.slots) {
        key[i] = (uint64_t)rank_of(b, first) << bits | rank_of(b, second);
        return;
    }
    key[i] = ~0ull;
    atomicAdd(&gone[i < n.sphere_sphere ? 0 : i < n.sphere_sphere + n.sphere_fixed ? 1 : 2], 1u);
}

/* Writes contacts first to first + count - 1 of the host's order, with their impulses, to contact[count] and
 * impulse[count]. order[k] is the index in the device's list of the host's contact k; from `general` on these have arms. */
static __global__ void pack_contacts(CuList list, const uint32_t *order, int general, int first,
                                     int count, TalusContact *contact, TalusVec3 *impulse)
{
    int64_t k = item_index();
    if (k >= count)
        return;
    int spheres = list.counts.sphere_sphere;
    int host_index = first + (int)k;
    uint32_t i = order[host_index];
    CuFrame frame = list.frame[i];
    TalusContact c;
    c.a = list.slot[list.pair[i].x];
    c.b = list.slot_b[i];
    c.feature = (int)i < spheres ? 0 : list.feature[i - spheres];
    c.general = host_index < general ? 0 : (uint32_t)(host_index - general);
    c.normal = talus_vec3(frame.x, frame.y, frame.z);
    c.gap = list.gap[i];
    contact[k] = c;
    impulse[k] = list.impulse[i];
}

/* Writes the arms of general contacts first to first + count - 1 of the host's order, in which `general` are before. */
static __global__ void pack_arms(CuList list, const uint32_t *order, int general, int first,
                                 int count, TalusArms *arms)
{
    int64_t k = item_index();
    int before = list.counts.sphere_sphere + list.counts.sphere_fixed;
    if (k < count)
        arms[k] = list.arms[order[general + first + k] - before];
}

/* Takes the contacts that are gone, the last ones of each run, out of s->order and out of the counts of the host's list.
 * s->index is used up. */
static void leave_out_gone(TalusEngine *e, Staging *s, TalusContactList *to)
{
    int *const length[3] = {&to->sphere_sphere, &to->sphere_fixed, &to->general};
    uint32_t gone[3] = {0, 0, 0};
    int from = 0;
    cu_get(e->cu, gone, s->gone, sizeof gone);
    if (e->cu->first_error[0] || gone[0] + gone[1] + gone[2] == 0)
        return;
    to->count = 0;
    for (int run = 0; run < 3; run++) {
        const int before = *length[run];
        *length[run] -= (int)gone[run];
        cu_copy(e->cu, s->index + to->count, s->order + from,
                (size_t)*length[run] * sizeof *s->order.at);
        to->count += *length[run];
        from += before;
    }
    const CuArray<uint32_t> rest = s->index;
    s->index = s->order;
    s->order = rest;
}

/* Fills s->order: order[k] is the index in the device's list of the host's contact k. */
static TalusStatus find_host_order(TalusEngine *e, Staging *s)
{
    const CuList *list = cu_current_list(e);
    const TalusEngineCounts *n = &list->counts;
    const int length[3] = {n->sphere_sphere, n->sphere_fixed, n->general};
    int bits = 1, at = 0;
    while (bits < 32 && (int64_t)1 << bits < e->bodies.slots)
        bits++;
    TALUS_TRY(s->key.reserve(n->contacts, "order of contacts"));
    TALUS_TRY(s->sorted.reserve(n->contacts, "order of contacts"));
    TALUS_TRY(s->index.reserve(n->contacts, "order of contacts"));
    TALUS_TRY(s->order.reserve(n->contacts, "order of contacts"));
    TALUS_TRY(s->gone.reserve(3, "order of contacts"));
    cu_zero(e->cu, s->gone, 3 * sizeof *s->gone.at);
    launch(e->cu, make_sort_keys, blocks_for(n->contacts), THREADS, *list, e->bodies, bits,
           s->key.at, s->index.at, s->gone.at);
    for (int run = 0; run < 3; at += length[run++])
        if (length[run])
            TALUS_TRY(cu_sort64(e->cu, s->key + at, s->sorted + at, s->index + at, s->order + at,
                                length[run], 2 * bits));
    return TALUS_OK;
}

/* Downloads contacts, impulses and arms in the host's order, through the staging memory. */
static TalusStatus get_contacts(TalusEngine *e, Staging *s, TalusContactList *to)
{
    const CuList *list = cu_current_list(e);
    TALUS_TRY(reserve_staging(s, to->count, to->general));
    TALUS_TRY(find_host_order(e, s));
    leave_out_gone(e, s, to);
    const int general = to->sphere_sphere + to->sphere_fixed;
    for (int at = 0; at < to->count; at += STAGE) {
        int count = to->count - at < STAGE ? to->count - at : STAGE;
        launch(e->cu, pack_contacts, blocks_for(count), THREADS, *list, s->order.at, general, at,
               count, s->contact.at, s->impulse.at);
        cu_get(e->cu, to->contact + at, s->contact, (size_t)count * sizeof *to->contact);
        cu_get(e->cu, to->impulse + at, s->impulse, (size_t)count * sizeof *to->impulse);
    }
    for (int at = 0; at < to->general; at += STAGE) {
        int count = to->general - at < STAGE ? to->general - at : STAGE;
        launch(e->cu, pack_arms, blocks_for(count), THREADS, *list, s->order.at, general, at, count,
               s->arms.at);
        cu_get(e->cu, to->arms + at, s->arms, (size_t)count * sizeof *to->arms);
    }
    return cu_check(e->cu);
}

TalusStatus cu_engine_get_contacts(TalusEngine *e, TalusContactList *to)
{
    const TalusEngineCounts *n = &cu_current_list(e)->counts;
    Staging staging = {};
    to->sphere_sphere = n->sphere_sphere;
    to->sphere_fixed = n->sphere_fixed;
    to->general = n->general;
    to->count = n->contacts;
    TalusStatus status = n->contacts ? get_contacts(e, &staging, to) : TALUS_OK;
    clear_staging(&staging);
    return status;
}

/* ---- upload ---- */

/* Fills slot and problem_index of an uploaded list: the rank of a free body is its problem index, others have -1. */
static __global__ void number_bodies(CuBodies b, uint32_t *slot, int32_t *problem_index)
{
    int64_t i = item_index();
    if (i >= b.slots)
        return;
    uint32_t rank = rank_of(b, (uint32_t)i);
    slot[rank] = (uint32_t)i;
    problem_index[i] = cu_is_free(b.shape, b.mobility, i) ? (int32_t)rank : -1;
}

/* Writes contact[count] and impulse[count], in the host's order, to the list from index `first` on. */
static __global__ void unpack_contacts(CuList list, CuBodies b, int first, int count,
                                       const TalusContact *contact, const TalusVec3 *impulse)
{
    int64_t k = item_index();
    if (k >= count)
        return;
    int64_t i = first + k;
    TalusContact c = contact[k];
    double frame[4];
    talus_frame_from_normal(frame, c.normal.x, c.normal.y, c.normal.z);
    bool b_moves = b.mobility[c.b] == TALUS_MOBILITY_FREE;
    list.pair[i] = make_int2((int)rank_of(b, c.a), b_moves ? (int)rank_of(b, c.b) : -1);
    list.slot_b[i] = c.b;
    list.frame[i] = CuFrame{frame[0], frame[1], frame[2], frame[3]};
    list.gap[i] = c.gap;
    list.impulse[i] = impulse[k];
    if (i >= list.counts.sphere_sphere)
        list.feature[i - list.counts.sphere_sphere] = c.feature;
}

/* Reserves the arrays of a list that is uploaded; incidence, which the next detection fills, is left out. */
static TalusStatus reserve_list(CuList *list, const TalusContactList *from, int slots)
{
    const char *what = "contacts";
    TALUS_TRY(list->slot.reserve(slots, what));
    TALUS_TRY(list->problem_index.reserve(slots, what));
    TALUS_TRY(list->pair.reserve(from->count, what));
    TALUS_TRY(list->slot_b.reserve(from->count, what));
    TALUS_TRY(list->feature.reserve(from->count - from->sphere_sphere, what));
    TALUS_TRY(list->frame.reserve(from->count, what));
    TALUS_TRY(list->gap.reserve(from->count, what));
    TALUS_TRY(list->arms.reserve(from->general, what));
    return list->impulse.reserve(from->count, what);
}

/* Uploads contacts, impulses and arms to the current list, whose counts are set, through the staging memory; arms are
 * copied directly. */
static TalusStatus put_contacts(TalusEngine *e, Staging *s, const TalusContactList *from)
{
    CuList *list = cu_current_list(e);
    TALUS_TRY(reserve_staging(s, from->count, 0));
    launch(e->cu, number_bodies, blocks_for(e->bodies.slots), THREADS, e->bodies, list->slot.at,
           list->problem_index.at);
    for (int at = 0; at < from->count; at += STAGE) {
        int count = from->count - at < STAGE ? from->count - at : STAGE;
        cu_put(e->cu, s->contact, from->contact + at, (size_t)count * sizeof *from->contact);
        cu_put(e->cu, s->impulse, from->impulse + at, (size_t)count * sizeof *from->impulse);
        launch(e->cu, unpack_contacts, blocks_for(count), THREADS, *list, e->bodies, at, count,
               s->contact.at, s->impulse.at);
    }
    cu_put(e->cu, list->arms, from->arms, (size_t)from->general * sizeof *from->arms);
    return cu_check(e->cu);
}

TalusStatus cu_engine_put_contacts(TalusEngine *e, const TalusContactList *from)
{
    CuList *list = cu_current_list(e);
    Staging staging = {};
    list->counts = {0, 0, 0, 0, HUGE_VAL, 0}; /* until the upload is complete */
    list->problem_bodies = 0;
    TALUS_TRY(reserve_list(list, from, e->bodies.slots));
    list->counts = {from->sphere_sphere, from->sphere_fixed, from->general,
                    from->count,         HUGE_VAL,           0};
    list->problem_bodies = list->slots = e->bodies.slots;
    TalusStatus status = put_contacts(e, &staging, from);
    clear_staging(&staging);
    if (status != TALUS_OK)
        list->counts = {0, 0, 0, 0, HUGE_VAL, 0};
    return status;
}
