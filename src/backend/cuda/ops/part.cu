/* backend/cuda/ops/part.cu - on several ranks: exchange of what the device has computed for bodies, and sums (part.h).
 *
 * Ranks with windows (device/window.h) read what others have written there. Between other ranks messages and sums travel
 * through pinned host memory: the host waits for the stream before it sends, and not after it has received. */
#include "backend/cuda/ops/part.h"

#include "backend/cuda/device/window.h"

#include <math.h>
#include <stdio.h>

/* Page-locked host memory, from and to which the stream copies while the host goes on. The host writes to it only once
 * it has waited for the stream after the last copy from there. */
template <class T> struct Pinned {
    T *at;
    size_t capacity;
};

/* Data of an operator with a halo. */
struct Part {
    CuPart part;                     /* first: the context's CuPart is that of its Part */
    CuArray<uint8_t> owned, counted; /* TalusHalo.owned; CuPart.counted */
    CuArray<int32_t> send, receive;  /* TalusHalo.send_body, receive_body */
    /* With windows: where the record of receive[k] is: rank of its owner, index in that one's message. */
    CuArray<int2> source;
    /* Without windows: records on their way from or to the host, and there. */
    CuArray<double2> message;
    Pinned<unsigned char> out, in;
    Pinned<double> totals; /* [MAX_SUMS] */
};

/* ---- pinned memory ---- */

template <class T> static void clear_pinned(Pinned<T> *p)
{
    if (p->at)
        cudaFreeHost(p->at);
    *p = Pinned<T>{};
}

/* Makes room for `need` elements; what was there is lost. */
template <class T> static TalusStatus reserve_pinned(CuContext *cu, Pinned<T> *p, size_t need)
{
    if (p->at && need <= p->capacity)
        return TALUS_OK;
    const size_t count = need + p->capacity / 2 + 1;
    cu_wait(cu); /* for copies */
    clear_pinned(p);
    if (cudaMallocHost((void **)&p->at, count * sizeof(T)) != cudaSuccess) {
        cudaGetLastError();
        p->at = nullptr;
        return talus_error_key(
            "cuda", talus_fail(TALUS_ERR_MEMORY, "cuda: messages of ranks: no pinned memory"));
    }
    p->capacity = count;
    return TALUS_OK;
}

/* Starts a copy between the device and pinned memory. */
static void start_copy(CuContext *cu, void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    if (bytes)
        cu_note_error(cu, cudaMemcpyAsync(to, from, bytes, kind, cu->stream), "copy of a message");
}

/* ---- preparation ---- */

static void clear_part(void *at)
{
    Part *p = (Part *)at;
    cu_clear(p->owned, p->counted);
    cu_clear(p->send, p->receive);
    p->source.clear();
    p->message.clear();
    clear_pinned(&p->out);
    clear_pinned(&p->in);
    clear_pinned(&p->totals);
    talus_release(p);
}

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

/* Finds out where in its owner's message each record is that this rank receives. */
static TalusStatus find_sources(TalusHalo *halo, int2 *source)
{
    int64_t *start;
    TalusStatus status = TALUS_ALLOC(start, 2 * (size_t)halo->neighbours + 1, "neighbours");
    status = talus_comm_agree(halo->comm, status);
    int64_t *of_owner = start + halo->neighbours;
    if (status != TALUS_OK) {
        talus_release(start);
        return status;
    }
    for (int k = 0; k < halo->neighbours; k++) {
        start[k] = halo->send_start[k];
        halo->send[k] = TalusMessage{&start[k], sizeof *start, halo->send[k].rank};
        halo->receive[k] = TalusMessage{&of_owner[k], sizeof *start, halo->receive[k].rank};
    }
    status = talus_comm_exchange(halo->comm, halo->send, halo->neighbours, halo->receive,
                                 halo->neighbours);
    for (int k = 0; status == TALUS_OK && k < halo->neighbours; k++)
        for (int i = halo->receive_start[k]; i < halo->receive_start[k + 1]; i++)
            source[i] =
                make_int2(halo->receive[k].rank, (int)of_owner[k] + i - halo->receive_start[k]);
    talus_release(start);
    return status;
}

/* Uploads the sources of what this rank receives. */
static TalusStatus begin_windows(const TalusOperator *op, Part *p, int32_t receives)
{
    TalusHalo *halo = op->halo;
    int2 *source;
    TalusStatus status = TALUS_ALLOC(source, (size_t)receives + 1, "bodies of the halo");
    TALUS_THEN(status, p->source.reserve(receives, "bodies of the halo"));
    status = talus_comm_agree(halo->comm, status);
    TALUS_THEN(status, find_sources(halo, source));
    if (status == TALUS_OK)
        cu_put(cu_context_of(op), p->source, source, (size_t)receives * sizeof *source);
    talus_release(source);
    return status;
}

/* Reserves what messages need that travel through the host. */
static TalusStatus begin_messages(const TalusOperator *op, Part *p, int32_t sends, int32_t receives)
{
    CuContext *cu = cu_context_of(op);
    const size_t record = sizeof *op->body;
    const int64_t most = sends > receives ? sends : receives;
    TALUS_TRY(p->message.reserve(most * (int64_t)(record / sizeof(double2)), "bodies of the halo"));
    TALUS_TRY(reserve_pinned(cu, &p->out, (size_t)sends * record));
    TALUS_TRY(reserve_pinned(cu, &p->in, (size_t)receives * record));
    return reserve_pinned(cu, &p->totals, MAX_SUMS);
}

/* Uploads the lists of the halo and reserves memory for the longest records. */
static TalusStatus begin_exchange(const TalusOperator *op, Part *p)
{
    const TalusHalo *halo = op->halo;
    CuContext *cu = cu_context_of(op);
    const int32_t sends = halo->send_start[halo->neighbours];
    const int32_t receives = halo->receive_start[halo->neighbours];
    const size_t record = sizeof *op->body; /* the longest */
    TalusStatus status = upload_bodies(cu, &p->send, halo->send_body, sends);
    TALUS_THEN(status, upload_bodies(cu, &p->receive, halo->receive_body, receives));
    status = cu_windows_open(cu, halo->comm, (int64_t)(sends * record / sizeof(double2)), status);
    if (status != TALUS_OK)
        return status;
    return cu_windows_are_open(cu) ? begin_windows(op, p, receives)
                                   : begin_messages(op, p, sends, receives);
}

TalusStatus cu_part_begin(const TalusOperator *op)
{
    CuContext *cu = cu_context_of(op);
    Part *p;
    if (!op->elimination)
        cu->part = nullptr;
    if (!op->halo)
        return TALUS_OK;
    TALUS_TRY(cu_get_owned(&cu_scratch_of(op)->part, clear_part, "halo", &p));
    TALUS_TRY(begin_exchange(op, p));
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

/* records[body[k]] = the record of source[k] in the window of its owner. */
static __global__ void fetch_records(int count, int words, const int32_t *body, const int2 *source,
                                     const CuWindowView *window, int turn, double2 *records)
{
    int64_t i = item_index();
    if (i >= (int64_t)count * words)
        return;
    const int2 from = source[i / words];
    records[(int64_t)body[i / words] * words + i % words] =
        window[from.x].message[turn][(int64_t)from.y * words + i % words];
}

/* Lets the other ranks read this rank's records, and reads theirs. False: a rank has failed. */
static bool exchange_by_windows(const TalusOperator *op, const Part *p, double2 *records, int words)
{
    const TalusHalo *halo = op->halo;
    CuContext *cu = cu_context_of(op);
    const int turn = cu_windows_turn(cu);
    const int32_t sends = halo->send_start[halo->neighbours];
    const int32_t receives = halo->receive_start[halo->neighbours];
    launch(cu, move_records, blocks_for((int64_t)sends * words), THREADS, sends, words, p->send.at,
           true, records, cu_window_own(cu)->message[turn]);
    if (!cu_windows_meet(cu))
        return false;
    launch(cu, fetch_records, blocks_for((int64_t)receives * words), THREADS, receives, words,
           p->receive.at, p->source.at, cu_window_all(cu), turn, records);
    return true;
}

/* The same through the host; waits for the stream. What has not come is NaN. */
static void exchange_by_messages(const TalusOperator *op, Part *p, double2 *records, int words)
{
    TalusHalo *halo = op->halo;
    CuContext *cu = cu_context_of(op);
    const size_t bytes = (size_t)words * sizeof *records;
    const int32_t sends = halo->send_start[halo->neighbours];
    const int32_t receives = halo->receive_start[halo->neighbours];
    launch(cu, move_records, blocks_for((int64_t)sends * words), THREADS, sends, words, p->send.at,
           true, records, p->message.at);
    start_copy(cu, p->out.at, p->message.at, (size_t)sends * bytes, cudaMemcpyDeviceToHost);
    cu_wait(cu);
    if (cu->first_error[0])
        memset(p->out.at, 0xff, (size_t)sends * bytes);
    talus_halo_exchange_between(halo, bytes, p->out.at, p->in.at);
    start_copy(cu, p->message.at, p->in.at, (size_t)receives * bytes, cudaMemcpyHostToDevice);
    launch(cu, move_records, blocks_for((int64_t)receives * words), THREADS, receives, words,
           p->receive.at, false, records, p->message.at);
}

bool cu_part_exchange(const TalusOperator *op, void *records, size_t bytes)
{
    Part *p = (Part *)cu_scratch_of(op)->part.at;
    const int words = (int)(bytes / sizeof(double2));
    if (!op->halo || op->halo->comm->size == 1)
        return true;
    if (cu_windows_are_open(cu_context_of(op)))
        return exchange_by_windows(op, p, (double2 *)records, words);
    exchange_by_messages(op, p, (double2 *)records, words);
    return true;
}

/* ---- sums by windows ---- */

/* Block k writes total k of all ranks, from their boards. */
static __global__ void add_boards(const CuWindowView *window, int ranks, int rank, int turn)
{
    __shared__ CuTally all;
    const CuBoard *own = window[rank].board[turn];
    const int k = (int)blockIdx.x;
    const bool max = k >= own->sums;
    if (k >= own->sums + own->maxima)
        return;
    for (int b = (int)threadIdx.x; b < TALUS_BINS; b += (int)blockDim.x)
        all.bin[b] = cu_add_words(window, ranks, max, [=](const CuWindowView &w) {
            return w.board[turn]->tally[k].bin[b];
        });
    if (threadIdx.x == 0)
        all.top = (int)cu_add_words(window, ranks, true, [=](const CuWindowView &w) {
            return (unsigned long long)w.board[turn]->tally[k].top;
        });
    __syncthreads();
    if (threadIdx.x > 0)
        return;
    int64_t bins[TALUS_BIN_DIGITS];
    for (int j = 0; j < TALUS_BIN_DIGITS; j++)
        bins[j] = (int64_t)all.bin[all.top + 3 - j];
    own->totals[k] = max ? max_of_key(all.bin[0]) : talus_bins_value(all.top, bins);
}

/* cu_reduce_over_ranks by windows. */
static void reduce_by_windows(CuContext *cu)
{
    const TalusComm *comm = cu->part->comm;
    const int turn = cu_windows_turn(cu);
    if (!cu->first_error[0]) {
        cu_copy(cu, cu_window_own(cu)->board[turn], cu->board, sizeof *cu->board);
        cu_zero(cu, cu->board, sizeof *cu->board);
    }
    if (cu_windows_meet(cu))
        launch_block(cu, add_boards, MAX_SUMS, THREADS, cu_window_all(cu), comm->size, comm->rank,
                     turn);
}

/* ---- sums through the host ---- */

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

/* Starts the upload of totals. */
static void put_totals(CuContext *cu, double *to, const double *value, int count)
{
    Part *p = (Part *)cu->part;
    memcpy(p->totals.at, value, (size_t)count * sizeof *value);
    start_copy(cu, to, p->totals.at, (size_t)count * sizeof *value, cudaMemcpyHostToDevice);
}

/* cu_reduce_over_ranks through the host; waits for the stream before. */
static void reduce_by_messages(CuContext *cu)
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
    for (int k = 0; !failed && k < sums + maxima; k++)
        value[k] = k < sums ? talus_binned_sum_value(&sum[k]) : agreed.maximum[k - sums];
    if (cu->first_error[0])
        return;
    cu_zero(cu, cu->board, sizeof *cu->board);
    if (!failed)
        put_totals(cu, board.totals, value, sums + maxima);
    else
        snprintf(cu->first_error, sizeof cu->first_error,
                 "sums over ranks: another rank has failed");
}

void cu_reduce_over_ranks(CuContext *cu)
{
    if (cu_windows_are_open(cu))
        reduce_by_windows(cu);
    else
        reduce_by_messages(cu);
}
