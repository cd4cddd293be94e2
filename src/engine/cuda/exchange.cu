/* engine/cuda/exchange.cu - on several ranks: states and solved motions of a halo's bodies, gathered by a kernel to
 * page-locked memory, from where the host sends them, and back. Nothing here is as long as all bodies. */
#include "engine/cuda/exchange.h"

extern "C" {
#include "base/inject.h"
}

/* ---- page-locked memory ---- */

TalusStatus cu_pinned_reserve(CuPinned *memory, size_t bytes, const char *what)
{
    if (memory->at && bytes <= memory->bytes)
        return TALUS_OK;
    const size_t more = bytes + bytes / 2 + 1;
    cu_pinned_clear(memory);
    if (talus_allocation_must_fail() || cudaMallocHost(&memory->at, more) != cudaSuccess) {
        cudaGetLastError();
        memory->at = nullptr;
        return talus_error_key("cuda", talus_fail(TALUS_ERR_MEMORY,
                                                  "cuda: %s: %zu bytes of page-locked memory of "
                                                  "the host are needed",
                                                  what, more));
    }
    memory->bytes = more;
    return TALUS_OK;
}

void cu_pinned_clear(CuPinned *memory)
{
    if (memory->at)
        cudaFreeHost(memory->at);
    *memory = CuPinned{};
}

/* ---- lists ---- */

TalusStatus cu_engine_put_halo_lists(TalusEngine *e, const TalusHaloLists *lists)
{
    CuExchange *x = &e->exchange;
    x->sends = x->receives = 0;
    TALUS_TRY(cu_link_bodies(e, lists));
    TALUS_TRY(cu_upload(e, &x->send, lists->send, lists->sends, "bodies of the halo"));
    TALUS_TRY(cu_upload(e, &x->receive, lists->receive, lists->receives, "bodies of the halo"));
    const size_t sends = (size_t)lists->sends, receives = (size_t)lists->receives;
    const size_t most = sends > receives ? sends : receives;
    TALUS_TRY(x->record.reserve((int64_t)(most * sizeof(TalusMotion)), "bodies of the halo"));
    TALUS_TRY(cu_pinned_reserve(&x->out, sends * sizeof(TalusMotion), "bodies of the halo"));
    TALUS_TRY(cu_pinned_reserve(&x->in, receives * sizeof(TalusMotion), "bodies of the halo"));
    x->sends = lists->sends;
    x->receives = lists->receives;
    return cu_check(e->cu);
}

/* ---- records ---- */

/* motion[k]: solved motion of the body in slot[k]. */
static __global__ void gather_solved(const TalusVec3 *velocity, const TalusVec3 *spin,
                                     const int32_t *slot, TalusSolvedMotion *motion, int count)
{
    const int64_t k = item_index();
    if (k < count)
        motion[k] = TalusSolvedMotion{velocity[slot[k]], spin[slot[k]]};
}

/* The reverse. */
static __global__ void scatter_solved(TalusVec3 *velocity, TalusVec3 *spin, const int32_t *slot,
                                      const TalusSolvedMotion *motion, int count)
{
    const int64_t k = item_index();
    if (k >= count)
        return;
    velocity[slot[k]] = motion[k].velocity;
    spin[slot[k]] = motion[k].spin;
}

static size_t record_bytes(bool solved)
{
    return solved ? sizeof(TalusSolvedMotion) : sizeof(TalusMotion);
}

/* Writes the records of the bodies in slot[count] to x->record. */
static void gather_records(TalusEngine *e, bool solved, const int32_t *slot, int count)
{
    if (solved)
        launch(e->cu, gather_solved, blocks_for(count), THREADS,
               (const TalusVec3 *)e->solved_velocity.at, (const TalusVec3 *)e->solved_spin.at, slot,
               (TalusSolvedMotion *)e->exchange.record.at, count);
    else
        cu_gather_states(e, slot, (TalusMotion *)e->exchange.record.at, count);
}

TalusStatus cu_engine_pack_halo(TalusEngine *e, bool solved, TalusHaloRecords *out)
{
    CuExchange *x = &e->exchange;
    const size_t bytes = record_bytes(solved);
    *out = TalusHaloRecords{x->out.at, x->in.at, bytes};
    gather_records(e, solved, x->send, x->sends);
    cu_get_pinned(e->cu, x->out.at, x->record, (size_t)x->sends * bytes);
    cu_wait(e->cu);
    return cu_check(e->cu);
}

/* Makes the arrays of solved motions hold those of all slots. */
static TalusStatus grow_solved(TalusEngine *e)
{
    const int64_t slots = e->bodies.slots, own = e->bodies.own;
    const bool solved = cu_detects_solved(e);
    TALUS_TRY(cu_grow(e, &e->solved_velocity, slots, own, "solved velocities"));
    cu_detect_with(e, solved);
    return cu_grow(e, &e->solved_spin, slots, own, "solved velocities");
}

TalusStatus cu_engine_unpack_halo(TalusEngine *e, bool solved)
{
    CuExchange *x = &e->exchange;
    const size_t bytes = record_bytes(solved);
    if (solved)
        TALUS_TRY(grow_solved(e));
    cu_put_pinned(e->cu, x->record, x->in.at, (size_t)x->receives * bytes);
    if (solved)
        launch(e->cu, scatter_solved, blocks_for(x->receives), THREADS, e->solved_velocity.at,
               e->solved_spin.at, (const int32_t *)x->receive.at,
               (const TalusSolvedMotion *)x->record.at, x->receives);
    else
        cu_scatter_states(e, x->receive, (const TalusMotion *)x->record.at, x->receives);
    cu_wait(e->cu); /* the caller may write to the messages' memory again */
    return cu_check(e->cu);
}

TalusStatus cu_engine_get_motions(TalusEngine *e, const int32_t *slot, int count)
{
    TalusSolvedMotions to;
    CuPinned *staging = &e->exchange.out;
    const size_t bytes = (size_t)count * sizeof(TalusSolvedMotion);
    TALUS_TRY(cu_engine_solved_motions(e, &to));
    TALUS_TRY(cu_upload(e, &e->subset, slot, count, "solved velocities"));
    TALUS_TRY(e->exchange.record.reserve((int64_t)bytes, "solved velocities"));
    TALUS_TRY(cu_pinned_reserve(staging, bytes, "solved velocities"));
    gather_records(e, true, e->subset, count);
    cu_get_pinned(e->cu, staging->at, e->exchange.record, bytes);
    cu_wait(e->cu);
    TALUS_TRY(cu_check(e->cu));
    const TalusSolvedMotion *motion = (const TalusSolvedMotion *)staging->at;
    for (int k = 0; k < count; k++) {
        to.velocity[slot[k]] = motion[k].velocity;
        to.spin[slot[k]] = motion[k].spin;
        to.changed[slot[k]] = 1; /* all bodies are searched */
    }
    return TALUS_OK;
}

void cu_exchange_clear(TalusEngine *e)
{
    CuExchange *x = &e->exchange;
    cu_clear(x->send, x->receive, x->record);
    cu_pinned_clear(&x->out);
    cu_pinned_clear(&x->in);
}
