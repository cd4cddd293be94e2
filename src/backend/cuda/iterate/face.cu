/* backend/cuda/iterate/face.cu - mprgp without the host: launches the rounds of face.h and waits for their end. */
#include "backend/cuda/iterate/face_kernels.h"

#include <mutex>

/* Rounds per CUDA graph. */
enum { ROUNDS = 20 };

/* Data shared by the operators of a context. */
struct FaceShared {
    CuArray<FaceState> device_state; /* [FACE_STATES] */
    CuArray<CuTally> device_tally;   /* FaceArgs.searched, then FaceArgs.split */
    FaceState *seen_state;           /* pinned host memory, [2]: states of the last two requests */
    cudaEvent_t request_done[2];     /* ends of the last two requests */
    cudaGraphExec_t graph_of[2];     /* for one row and for three */
};

/* Guards the kernels' arguments in constant memory, which all contexts share: held for a whole run. */
static std::mutex constant_memory;

static void clear_shared(void *at)
{
    FaceShared *shared = (FaceShared *)at;
    shared->device_state.clear();
    shared->device_tally.clear();
    cudaFreeHost(shared->seen_state);
    for (cudaEvent_t event : shared->request_done)
        if (event)
            cudaEventDestroy(event);
    for (cudaGraphExec_t graph : shared->graph_of)
        if (graph)
            cudaGraphExecDestroy(graph);
    talus_release(shared);
}

/* Reserves the data that the operators of a context share; creates them on the first call. */
static TalusStatus reserve_shared(CuContext *cu)
{
    FaceShared *shared;
    TALUS_TRY(cu_get_owned(&cu->face, clear_shared, "steps on faces", &shared));
    TALUS_TRY(shared->device_state.reserve(FACE_STATES, "scalars"));
    TALUS_TRY(shared->device_tally.reserve((int)FACE_SEARCH_SUMS + (int)FACE_SPLIT_SUMS, "sums"));
    if (!shared->seen_state) {
        cu_note_error(cu,
                      cudaMallocHost((void **)&shared->seen_state, 2 * sizeof *shared->seen_state),
                      "pinned memory");
        for (cudaEvent_t &event : shared->request_done)
            cu_note_error(cu, cudaEventCreate(&event), "event");
    }
    return cu_check(cu);
}

/* Returns the data that reserve_shared has reserved. */
static FaceShared *shared_of(CuContext *cu)
{
    return (FaceShared *)cu->face.at;
}

/* ---- rounds ---- */

/* Launches the three kernels of a round. */
template <int ROWS> static void launch_round(CuContext *cu)
{
    launch_overlapped(cu, face_bodies<ROWS>, FACE_BODY_BLOCKS, FACE_BODY_THREADS);
    launch_overlapped(cu, face_product<ROWS>, FACE_BLOCKS, FACE_THREADS);
    launch_overlapped(cu, face_update<ROWS>, FACE_BLOCKS, FACE_THREADS);
}

/* Captures ROUNDS rounds as a graph. */
template <int ROWS> static void capture_rounds(CuContext *cu, cudaGraphExec_t *exec)
{
    load_kernel(cu, face_bodies<ROWS>);
    load_kernel(cu, face_product<ROWS>);
    load_kernel(cu, face_update<ROWS>);
    cu_capture_graph(cu, exec, [=] {
        for (int k = 0; k < ROUNDS; k++)
            launch_round<ROWS>(cu);
    });
}

/* Launches ROUNDS rounds, as a graph unless a profile times kernels one by one. */
template <int ROWS> static void launch_rounds(CuContext *cu)
{
    cudaGraphExec_t *graph = &shared_of(cu)->graph_of[ROWS == 3];
    if (talus_profile_is_on()) {
        for (int k = 0; k < ROUNDS; k++)
            launch_round<ROWS>(cu);
        return;
    }
    if (!*graph)
        capture_rounds<ROWS>(cu, graph);
    cu_note_error(cu, cudaGraphLaunch(*graph, cu->stream), "graph");
}

/* request_state starts the download of state DECIDED after the rounds launched so far; await_state waits for the
 * download of a request and returns the state. */
static void request_state(CuContext *cu, int request)
{
    const FaceShared *shared = shared_of(cu);
    cu_note_error(cu,
                  cudaMemcpyAsync(&shared->seen_state[request & 1],
                                  &shared->device_state.at[FACE_DECIDED],
                                  sizeof *shared->seen_state, cudaMemcpyDeviceToHost, cu->stream),
                  "copy out");
    cu_note_error(cu, cudaEventRecord(shared->request_done[request & 1], cu->stream), "event");
}

static const FaceState *await_state(CuContext *cu, int request)
{
    const FaceShared *shared = shared_of(cu);
    cu_note_error(cu, cudaEventSynchronize(shared->request_done[request & 1]), "wait");
    return &shared->seen_state[request & 1];
}

/* Launches an update and then rounds until they have stopped; writes the last state to *end. A round does at most one
 * iteration. While the iteration limit cannot have been reached, the next graph is launched before the host waits for
 * the state after the previous one. */
template <int ROWS> static TalusStatus run_rounds(CuContext *cu, int iterations, FaceState *end)
{
    launch_overlapped(cu, face_update<ROWS>, FACE_BLOCKS, FACE_THREADS);
    for (int request = 0;; request++) {
        TALUS_TRY(cu_check(cu));
        launch_rounds<ROWS>(cu);
        request_state(cu, request);
        bool ahead = (request + 1) * ROUNDS < iterations;
        if (ahead && request == 0)
            continue;
        const FaceState *seen = await_state(cu, ahead ? request - 1 : request);
        if (seen->stop) {
            *end = *seen;
            cu_wait(cu); /* queued rounds still read the arguments before they return */
            return cu_check(cu);
        }
    }
}

/* ---- a run ---- */

/* Returns the kernels' arguments, without `wrench`. */
static FaceArgs make_args(const TalusOperator *op, const TalusProportioning *state,
                          const TalusRun *run)
{
    const FaceShared *shared = shared_of(cu_context_of(op));
    FaceArgs args = {};
    args.op = cu_view(op);
    args.sets = cu_sets(op, state->metric);
    args.x = state->x;
    args.g = state->g;
    args.p = state->p;
    args.np = state->np;
    args.phi = state->phi;
    args.w = state->w;
    args.velocity = (double(*)[8])cu_scratch_of(op)->velocity.at;
    args.searched = shared->device_tally.at;
    args.split = shared->device_tally.at + FACE_SEARCH_SUMS;
    args.state = shared->device_state.at;
    args.gamma2 = state->gamma * state->gamma;
    args.step = state->step;
    args.enough = state->enough;
    args.stop2 = run->stop_rms * run->stop_rms * op->blocks;
    args.stop_max2 = run->stop_max * run->stop_max;
    args.iterations = run->iterations;
    args.expansion = state->expansion;
    return args;
}

/* Uploads the first state. Its task makes the first kernel, an update, split x and its gradient. */
static void put_state(CuContext *cu, const TalusProportioning *from)
{
    FaceState state = {};
    state.norm = from->norm;
    state.pnp = from->pnp;
    state.active = from->active;
    state.unchecked = from->unchecked;
    state.rose = from->rose;
    state.spectral = from->spectral;
    state.task = FACE_AFRESH;
    state.resumed = from->begun;
    cu_put(cu, &shared_of(cu)->device_state.at[FACE_DECIDED], &state, sizeof state);
}

/* Uploads the kernels' arguments to constant memory. */
static void put_args(CuContext *cu, const FaceArgs *args)
{
    void *place = &face;
#ifndef TALUS_EMULATED
    cu_note_error(cu, cudaGetSymbolAddress(&place, face), "constant memory");
#endif
    cu_put(cu, place, args, sizeof *args);
}

TalusStatus cu_proportion_run(const TalusOperator *op, TalusProportioning *state, TalusRun *run)
{
    if (!op->pair || op->mixed_sets || op->elimination)
        return talus_fail(
            TALUS_ERR_UNSUPPORTED,
            "mprgp: runs of iterations on the device know contacts with half lines or "
            "circular cones alone, and no eliminated joints");
    if (op->halo)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "mprgp does not work on several ranks of a backend with a GPU; apgd and "
                          "kucera do, and mprgp does on --backend cpu");
    CuContext *cu = cu_context_of(op);
    TALUS_TRY(reserve_shared(cu));
    FaceArgs args = make_args(op, state, run);
    FaceState end = {};
    CuScratch *scratch = cu_scratch_of(op);
    TALUS_TRY(scratch->wrench.reserve(6 * (int64_t)op->bodies, "impulses on bodies"));
    args.wrench = (double(*)[6])scratch->wrench.at;
    std::lock_guard<std::mutex> hold(constant_memory);
    put_args(cu, &args);
    put_state(cu, state);
    cu_zero(cu, args.searched,
            ((int)FACE_SEARCH_SUMS + (int)FACE_SPLIT_SUMS) * sizeof *args.searched);
    TALUS_TRY(op->rows == 1 ? run_rounds<1>(cu, run->iterations, &end)
                            : run_rounds<3>(cu, run->iterations, &end));
    state->norm = end.norm;
    state->pnp = end.pnp;
    state->active = end.active;
    state->unchecked = end.unchecked;
    state->rose = end.rose;
    state->spectral = end.spectral;
    state->products = end.products;
    state->reached = end.reached;
    state->begun = true;
    run->done = end.done;
    run->residual2 = end.residual2;
    run->residual_max = end.residual_max;
    run->first2 = end.first2;
    return TALUS_OK;
}
