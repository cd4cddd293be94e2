/* backend/cuda/device/window.cu - device memory of a rank that the other ranks of its process read (window.h). */
#include "backend/cuda/device/window.h"

#include <atomic>
#include <new>
#include <stdio.h>

/* A window. Its rank and each rank that knows it holds it. */
struct Window {
    std::atomic<int> holders;
    int device;
    CuArray<double2> message[2];
    CuArray<CuBoard> board; /* [2] */
    CuArray<CuTally> tally;
    cudaEvent_t written[2]; /* ends of what is read after meetings of this parity */
};

/* The windows of all ranks, as one rank knows them. */
struct Windows {
    TalusComm *comm; /* of the ranks; NULL: windows are closed */
    Window *own;
    Window **of; /* [ranks], by rank; this rank's own entry is NULL */
    int ranks;
    int64_t *address;        /* [ranks], work space */
    CuWindowView *host_view; /* [ranks], likewise */
    CuWindowView own_view;
    CuArray<CuWindowView> view; /* [ranks] */
    unsigned meetings;
};

static Windows *windows_of(const CuContext *cu)
{
    return (Windows *)cu->windows.at;
}

/* ---- life of a window ---- */

/* Gives up `count` holds; the last one frees the window, after all work of the device. */
static void release_window(Window *w, int count)
{
    if (!w || w->holders.fetch_sub(count) > count)
        return;
    cu_clear(w->message[0], w->message[1]);
    w->board.clear();
    w->tally.clear();
    for (cudaEvent_t event : w->written)
        if (event)
            cudaEventDestroy(event);
    talus_release(w);
}

static TalusStatus reserve_window(CuContext *cu, Window *w, int64_t words)
{
    for (CuArray<double2> &message : w->message)
        TALUS_TRY(message.reserve(words, "bodies of the halo"));
    TALUS_TRY(w->board.reserve(2, "sums of ranks"));
    TALUS_TRY(w->tally.reserve(CU_WINDOW_TALLIES, "sums of ranks"));
    cu_zero(cu, w->tally.at, CU_WINDOW_TALLIES * sizeof *w->tally.at);
    for (cudaEvent_t &event : w->written)
        cu_note_error(cu, cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
    return cu_check(cu);
}

/* Makes a window with messages of `words` unless the rank has one. A smaller one, which others may read, is left to
 * them. */
static TalusStatus make_window(CuContext *cu, Windows *ws, int64_t words)
{
    if (ws->own && ws->own->message[0].capacity >= (size_t)words)
        return TALUS_OK;
    const size_t spare = ws->own ? ws->own->message[0].capacity / 2 : 0;
    release_window(ws->own, 1);
    TALUS_TRY(TALUS_ALLOC(ws->own, 1, "windows"));
    new (ws->own) Window();
    ws->own->holders = 1;
    ws->own->device = cu->device;
    TalusStatus status = reserve_window(cu, ws->own, words + (int64_t)spare);
    if (status == TALUS_OK)
        return status;
    release_window(ws->own, 1);
    ws->own = nullptr;
    return status;
}

/* ---- all windows ---- */

/* Gives up the windows of other ranks. */
static void forget_others(Windows *ws)
{
    for (int r = 0; r < ws->ranks; r++) {
        release_window(ws->of[r], 1);
        ws->of[r] = nullptr;
    }
}

static void release_lists(Windows *ws)
{
    talus_release(ws->of);
    talus_release(ws->address);
    talus_release(ws->host_view);
    ws->of = nullptr;
    ws->address = nullptr;
    ws->host_view = nullptr;
    ws->ranks = 0;
}

static void clear_windows(void *at)
{
    Windows *ws = (Windows *)at;
    forget_others(ws);
    release_window(ws->own, 1);
    ws->view.clear();
    release_lists(ws);
    talus_release(ws);
}

/* Reserves the lists of `ranks` windows. */
static TalusStatus reserve_lists(Windows *ws, int ranks)
{
    TALUS_TRY(ws->view.reserve(ranks, "windows"));
    if (ranks <= ws->ranks)
        return TALUS_OK;
    forget_others(ws);
    release_lists(ws);
    TALUS_TRY(TALUS_ALLOC(ws->of, (size_t)ranks, "windows"));
    TALUS_TRY(TALUS_ALLOC(ws->address, (size_t)ranks, "windows"));
    TALUS_TRY(TALUS_ALLOC(ws->host_view, (size_t)ranks, "windows"));
    ws->ranks = ranks;
    return TALUS_OK;
}

/* Tells all ranks the address of this rank's window, and replaces the windows of others by those that they have now. Each
 * window is held for its readers before they know it; all ranks get all addresses, or none does. */
static TalusStatus exchange_addresses(Windows *ws, TalusComm *comm)
{
    const int others = comm->size - 1;
    memset(ws->address, 0, (size_t)comm->size * sizeof *ws->address);
    ws->address[comm->rank] = (int64_t)(intptr_t)ws->own;
    ws->own->holders += others;
    TalusStatus status = talus_comm_add_counts(comm, ws->address, comm->size);
    if (status != TALUS_OK) {
        release_window(ws->own, others);
        return status;
    }
    forget_others(ws);
    for (int r = 0; r < comm->size; r++)
        if (r != comm->rank)
            ws->of[r] = (Window *)(intptr_t)ws->address[r];
    return TALUS_OK;
}

/* True if kernels on this context's device can read the memory of the other one. */
static bool sees_device(const CuContext *cu, int other)
{
    int can = 0;
    if (other == cu->device)
        return true;
    if (cudaDeviceCanAccessPeer(&can, cu->device, other) != cudaSuccess || !can)
        return false;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    cudaGetLastError(); /* that access is there already is no error of later calls */
    return error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled;
}

static bool sees_all(const CuContext *cu, const Windows *ws, int ranks)
{
    bool all = true;
    for (int r = 0; r < ranks; r++)
        all = (!ws->of[r] || sees_device(cu, ws->of[r]->device)) && all;
    return all;
}

static CuWindowView view_of(const Window *w)
{
    return CuWindowView{
        {w->message[0].at, w->message[1].at}, {w->board.at, w->board.at + 1}, w->tally.at};
}

/* Uploads the addresses in all windows. */
static void upload_views(CuContext *cu, Windows *ws, int ranks)
{
    ws->own_view = view_of(ws->own);
    for (int r = 0; r < ranks; r++)
        ws->host_view[r] = ws->of[r] ? view_of(ws->of[r]) : ws->own_view;
    cu_put(cu, ws->view, ws->host_view, (size_t)ranks * sizeof *ws->host_view);
}

/* What this rank needs before it knows other ranks' windows. */
static TalusStatus prepare_windows(CuContext *cu, int ranks, int64_t words)
{
    Windows *ws;
    TALUS_TRY(cu_get_owned(&cu->windows, clear_windows, "windows", &ws));
    TALUS_TRY(reserve_lists(ws, ranks));
    return make_window(cu, ws, words);
}

TalusStatus cu_windows_open(CuContext *cu, TalusComm *comm, int64_t words, TalusStatus status)
{
    cu_windows_close(cu);
    if (!comm->ops->shares_memory)
        return status;
    TALUS_THEN(status, prepare_windows(cu, comm->size, words));
    TALUS_TRY(talus_comm_agree(comm, status));
    Windows *ws = windows_of(cu);
    TALUS_TRY(exchange_addresses(ws, comm));
    if (talus_comm_any(comm, !sees_all(cu, ws, comm->size)))
        return TALUS_OK;
    upload_views(cu, ws, comm->size);
    ws->comm = comm;
    return cu_check(cu);
}

void cu_windows_close(CuContext *cu)
{
    if (cu->windows.at)
        windows_of(cu)->comm = nullptr;
}

bool cu_windows_are_open(const CuContext *cu)
{
    return cu->windows.at && windows_of(cu)->comm;
}

const CuWindowView *cu_window_own(const CuContext *cu)
{
    return &windows_of(cu)->own_view;
}

const CuWindowView *cu_window_all(const CuContext *cu)
{
    return windows_of(cu)->view.at;
}

int cu_windows_turn(const CuContext *cu)
{
    return (int)(windows_of(cu)->meetings & 1);
}

bool cu_windows_meet(CuContext *cu)
{
    Windows *ws = windows_of(cu);
    const int turn = (int)(ws->meetings++ & 1);
    cu_note_error(cu, cudaGetLastError(), "launch");
    cu_note_error(cu, cudaEventRecord(ws->own->written[turn], cu->stream), "event");
    if (talus_comm_any(ws->comm, cu->first_error[0] != '\0')) {
        if (!cu->first_error[0])
            snprintf(cu->first_error, sizeof cu->first_error, "another rank has failed");
        return false;
    }
    for (int r = 0; r < ws->comm->size; r++)
        if (ws->of[r])
            cu_note_error(cu, cudaStreamWaitEvent(cu->stream, ws->of[r]->written[turn], 0), "wait");
    return true;
}

/* ---- tallies ---- */

static __global__ void add_tallies(const CuWindowView *window, int ranks, int first, int count,
                                   int maximum, CuTally *to)
{
    enum { WORDS = TALUS_BINS + 1 }; /* the bins, then the top */
    for (int k = (int)threadIdx.x; k < count * WORDS; k += (int)blockDim.x) {
        const int t = k / WORDS, bin = k % WORDS;
        const bool is_top = bin == TALUS_BINS;
        const unsigned long long word =
            cu_add_words(window, ranks, is_top || t == maximum, [=](const CuWindowView &w) {
                const CuTally *tally = w.tally + first + t;
                return is_top ? (unsigned long long)tally->top : tally->bin[bin];
            });
        if (is_top)
            to[t].top = (int)word;
        else
            to[t].bin[bin] = word;
    }
}

void cu_windows_add_tallies(CuContext *cu, int first, int count, int maximum, CuTally *to)
{
    launch(cu, add_tallies, 1, THREADS, cu_window_all(cu), windows_of(cu)->comm->size, first, count,
           maximum, to);
}
