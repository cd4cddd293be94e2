/* engine/cuda/slots.cu - on several ranks: bodies of a new halo, uploaded behind this rank's own, and contacts of the list
 * that get other slots with it. */
#include "engine/cuda/exchange.h"

/* ---- bodies ---- */

/* Uploads elements first to count - 1 of the host's array; those before them stay. */
template <class T>
static TalusStatus put_tail(TalusEngine *e, CuArray<T> *to, const T *from, int first, int count)
{
    TALUS_TRY(cu_grow(e, to, count, first, "bodies"));
    cu_put(e->cu, to->at + first, from + first, (size_t)(count - first) * sizeof *from);
    return TALUS_OK;
}

/* True if the id of some slot from `first` on is not its slot + 1. */
static bool ids_differ(const TalusBodyArrays *from, int first)
{
    for (int i = first; i < from->slots; i++)
        if (from->id[i] != (uint64_t)i + 1)
            return true;
    return false;
}

/* Uploads the ids of the halo, or all if the device has none yet, and the order of all ids. */
static TalusStatus put_order(TalusEngine *e, const TalusBodyArrays *from, int own)
{
    CuBodies *b = &e->bodies;
    const int first = b->ids_differ ? own : 0;
    const bool differ = b->ids_differ || ids_differ(from, own);
    if (differ)
        TALUS_TRY(put_tail(e, &b->id, from->id, first, from->slots));
    b->ids_differ = differ; /* the device has them all now */
    b->ranked = from->rank != nullptr;
    return b->ranked ? cu_upload(e, &b->rank, from->rank, from->slots, "bodies") : TALUS_OK;
}

TalusStatus cu_engine_put_halo(TalusEngine *e, const TalusBodyArrays *from)
{
    CuBodies *b = &e->bodies;
    const int n = from->slots, own = n - from->halo;
    TALUS_TRY(put_tail(e, &b->position, from->position, own, n));
    TALUS_TRY(put_tail(e, &b->velocity, from->velocity, own, n));
    TALUS_TRY(put_tail(e, &b->spin, from->spin, own, n));
    TALUS_TRY(put_tail(e, &b->orientation, from->orientation, own, n));
    TALUS_TRY(put_tail(e, &b->mass, from->mass, own, n));
    TALUS_TRY(put_tail(e, &b->radius, from->radius, own, n));
    TALUS_TRY(put_tail(e, &b->size, from->size, own, n));
    TALUS_TRY(put_tail(e, &b->shape, from->shape, own, n));
    TALUS_TRY(put_tail(e, &b->material, from->material, own, n));
    TALUS_TRY(put_tail(e, &b->mobility, from->mobility, own, n));
    TALUS_TRY(put_order(e, from, own));
    b->slots = n;
    b->own = own;
    cu_engine_refer_to(e, from);
    return cu_check(e->cu);
}

/* ---- contacts ---- */

/* A TalusSlotChange on the device. */
struct SlotChange {
    int kept, count;
    const int32_t *slot;
};

/* Returns the present slot of what was in a slot; CU_GONE: it is not here any more. */
static __device__ inline uint32_t present_slot(const SlotChange &c, uint32_t slot)
{
    if (slot < (uint32_t)c.kept)
        return slot;
    const uint32_t k = slot - (uint32_t)c.kept;
    return k < (uint32_t)c.count && c.slot[k] >= 0 ? (uint32_t)c.slot[k] : CU_GONE;
}

/* Gives the second bodies of contacts their present slots. One that is gone leaves its former problem index, so that the
 * order of the list stays that of transfer.cu. */
static __global__ void move_second_bodies(CuList list, SlotChange change)
{
    const int64_t i = item_index();
    if (i >= list.counts.contacts)
        return;
    const uint32_t before = list.slot_b[i], now = present_slot(change, before);
    if (now == CU_GONE && list.pair[i].y < 0 && before < (uint32_t)list.slots)
        list.pair[i].y = list.problem_index[before];
    list.slot_b[i] = now;
}

/* index[i] = -1, for i < slots. */
static __global__ void clear_index(int slots, int32_t *index)
{
    const int64_t i = item_index();
    if (i < slots)
        index[i] = -1;
}

/* Gives the problem bodies their present slots, and index[slot] their problem indices. */
static __global__ void move_problem_bodies(CuList list, SlotChange change, int32_t *index)
{
    const int64_t p = item_index();
    if (p >= list.problem_bodies)
        return;
    const uint32_t before = list.slot[p], now = present_slot(change, before);
    if (now != CU_GONE)
        index[now] = list.problem_index[before];
    list.slot[p] = now;
}

TalusStatus cu_engine_move_contacts(TalusEngine *e, const TalusSlotChange *change,
                                    const uint8_t *dropped)
{
    CuList *list = cu_current_list(e);
    CuArray<int32_t> index;
    TALUS_TRY(cu_upload(e, &e->subset, change->slot, change->count, "contacts"));
    TALUS_TRY(index.reserve(change->slots, "contacts"));
    const SlotChange moved = {change->kept, change->count, e->subset.at};
    TalusStatus status =
        dropped ? cu_drop_impulses(e, dropped, change->kept + change->count) : TALUS_OK;
    if (status != TALUS_OK) {
        index.clear();
        return status;
    }
    launch(e->cu, move_second_bodies, blocks_for(list->counts.contacts), THREADS, *list, moved);
    launch(e->cu, clear_index, blocks_for(change->slots), THREADS, change->slots, index.at);
    launch(e->cu, move_problem_bodies, blocks_for(list->problem_bodies), THREADS, *list, moved,
           index.at);
    list->problem_index.clear(); /* waits for the kernels */
    list->problem_index = index;
    list->slots = change->slots;
    return cu_check(e->cu);
}
