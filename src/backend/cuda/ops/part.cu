/* backend/cuda/ops/part.cu - on several ranks: exchange of what the device has computed for bodies, and sums (part.h). */
#include "backend/cuda/ops/part.h"

#include <math.h>
#include <stdio.h>

/* Data of an operator with a halo. */
struct Part {
    CuPart part;
    CuArray<uint8_t> owned, counted; /* TalusHalo.owned; CuPart.counted */
    CuArray<int32_t> send, receive;  /* TalusHalo.send_body, receive_body */
    CuArray<double2> message;        /* records on their way from or to the host */
};

static void clear_part(void *at)
{
    Part *p = (Part *)at;
    cu_clear(p->owned, p->counted, p->send, p->receive, p->message);
    talus_release(p);
}

/* ---- preparation ---- */

/* slot: index in `owned` of each body; NULL: its own index. */
static __global__ void mark_counted(int blocks, const int2 *pair, const uint32_t *slot,
                                    const uint8_t *owned, uint8_t *counted)
{
    int64_t i = item_index();
    if (i < blocks)
        counted[i] = owned[slot ? slot[pair[i].x] : (uint32_t)pair[i].x];
}

/* Uploads `count` indices to an array. */
static TalusStatus upload_bodies(CuContext *cu, CuArray<int32_t> *to, const int32_t *from,
                                 int32_t count)
{
    TALUS_TRY(to->reserve(count, "bodies of the halo"));
    cu_put(cu, to->at, from, (size_t)count * sizeof *from);
    return TALUS_OK;
}

/* Marks the blocks that this rank counts in sums, which from now on are those of all ranks. */
static TalusStatus begin_sums(const TalusOperator *op, Part *p)
{
    const TalusHalo *halo = op->halo;
    CuContext *cu = cu_context_of(op);
    TALUS_TRY(p->owned.reserve(halo->bodies, "bodies of the halo"));
    TALUS_TRY(p->counted.reserve(op->blocks, "contacts of several ranks"));
    cu_put(cu, p->owned, halo->owned, (size_t)halo->bodies);
    launch(cu, mark_counted, blocks_for(op->blocks), THREADS, op->blocks, (const int2 *)op->pair,
           op->numbers.slot, p->owned.at, p->counted.at);
    p->part = CuPart{halo->comm, p->counted.at};
    cu->part = &p->part;
    return TALUS_OK;
}

TalusStatus cu_part_begin(const TalusOperator *op)
{
    const TalusHalo *halo = op->halo;
    CuContext *cu = cu_context_of(op);
    Part *p;
    if (!op->elimination)
        cu->part = nullptr;
    if (!halo)
        return TALUS_OK;
    TALUS_TRY(cu_get_owned(&cu_scratch_of(op)->part, clear_part, "halo", &p));
    const int32_t sends = halo->send_start[halo->neighbours];
    const int32_t receives = halo->receive_start[halo->neighbours];
    const size_t most = (size_t)(sends > receives ? sends : receives);
    TALUS_TRY(upload_bodies(cu, &p->send, halo->send_body, sends));
    TALUS_TRY(upload_bodies(cu, &p->receive, halo->receive_body, receives));
    TALUS_TRY(p->message.reserve((int64_t)(most * sizeof *op->body / sizeof(double2)),
                                 "bodies of the halo"));
    if (!op->elimination) /* else the marks of the operator with joints serve, whose first blocks these are */
        TALUS_TRY(begin_sums(op, p));
    return cu_check(cu);
}

/* ---- exchange ---- */

/* message[k] = records[body[k]] for `count` bodies, or, unless `pack`, the reverse; records of `words` words. */
static __global__ void move_records(int count, int words, const int32_t *body, bool pack,
                                    double2 *records, double2 *message)
{
    int64_t i = item_index();
    if (i >= (int64_t)count * words)
        return;
    double2 *record = records + (int64_t)body[i / words] * words + i % words;
    if (pack)
        message[i] = *record;
    else
        *record = message[i];
}

void cu_part_exchange(const TalusOperator *op, void *records, size_t bytes)
{
    TalusHalo *halo = op->halo;
    CuContext *cu = cu_context_of(op);
    if (!halo || halo->comm->size == 1)
        return;
    Part *p = (Part *)cu_scratch_of(op)->part.at;
    const int words = (int)(bytes / sizeof(double2));
    const int32_t sends = halo->send_start[halo->neighbours];
    const int32_t receives = halo->receive_start[halo->neighbours];
    launch(cu, move_records, blocks_for((int64_t)sends * words), THREADS, sends, words, p->send.at,
           true, (double2 *)records, p->message.at);
    cu_get(cu, halo->out, p->message, (size_t)sends * bytes);
    if (cu->first_error[0])
        memset(halo->out, 0xff, (size_t)sends * bytes);
    talus_halo_exchange_messages(halo, bytes);
    cu_put(cu, p->message, halo->in, (size_t)receives * bytes);
    launch(cu, move_records, blocks_for((int64_t)receives * words), THREADS, receives, words,
           p->receive.at, false, (double2 *)records, p->message.at);
}

/* ---- sums ---- */

/* What ranks agree upon before they add tallies: the largest of each over all ranks. */
struct Agreed {
    double failed; /* 1: some rank's kernel did not run, so that there are no totals */
    double sums, maxima;
    double maximum[MAX_MAXIMA];
};

/* Returns what this rank's kernel has left; `failed` if it did not run. */
static Agreed find_agreed(const CuContext *cu, const CuBoard *board)
{
    Agreed a = {};
    a.failed = cu->first_error[0] != '\0';
    if (a.failed > 0.0)
        return a;
    a.sums = board->sums;
    a.maxima = board->maxima;
    for (int k = 0; k < MAX_MAXIMA; k++)
        a.maximum[k] =
            k < board->maxima ? max_of_key(board->tally[board->sums + k].bin[0]) : -HUGE_VAL;
    return a;
}

void cu_reduce_over_ranks(CuContext *cu)
{
    TalusComm *comm = cu->part->comm;
    CuBoard board = {};
    TalusBinnedSum sum[MAX_SUMS];
    double value[MAX_SUMS];
    if (!cu->first_error[0])
        cu_get(cu, &board, cu->board, sizeof board);
    Agreed agreed = find_agreed(cu, &board);
    talus_comm_find_maxima(comm, (double *)&agreed, sizeof agreed / sizeof(double));
    const bool failed = !(agreed.failed == 0.0);
    const int sums = failed ? MAX_SUMS : (int)agreed.sums, maxima = failed ? 0 : (int)agreed.maxima;
    memcpy(sum, board.tally, sizeof sum);
    if (!failed && sums > 0)
        talus_comm_add_binned_sums(comm, sum, sums);
    for (int k = 0; k < sums + maxima; k++)
        value[k] = failed     ? (double)NAN
                   : k < sums ? talus_binned_sum_value(&sum[k])
                              : agreed.maximum[k - sums];
    if (cu->first_error[0])
        return;
    cu_zero(cu, cu->board, sizeof *cu->board);
    if (!failed)
        cu_put(cu, board.totals, value, (size_t)(sums + maxima) * sizeof *value);
    else
        snprintf(cu->first_error, sizeof cu->first_error,
                 "sums over ranks: another rank has failed");
}
