/* backend/cuda/iterate/face.cu - mprgp without the host: launches the rounds of face.h and waits for their end. */
#include "backend/cuda/iterate/face_kernels.h"
#include "backend/cuda/ops/part.h"

extern "C" {
#include "backend/part.h"
}

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

/* Guards the kernels' arguments in constant memory, which all contexts share: held for a whole run; on several ranks, which
 * may be threads and wait for each other, for one kernel. */
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
    args.counted = op->halo ? cu_context_of(op)->part->counted : nullptr;
    args.stop2 = run->stop_rms * run->stop_rms * talus_all_blocks(op);
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

/* ---- on several ranks ---- */

/* Uploads the arguments, launches a kernel and waits for its end. */
template <class K>
static void launch_alone(CuContext *cu, const FaceArgs *args, K *kernel, unsigned blocks,
                         int threads)
{
    std::lock_guard<std::mutex> hold(constant_memory);
    put_args(cu, args);
    launch_overlapped(cu, kernel, blocks, threads);
    cu_wait(cu);
}

/* Replaces `sums` tallies and, behind them, that of a maximum by those of all ranks. If a rank has failed, they become
 * NaN, which ends the run. */
static void add_tallies(const TalusOperator *op, CuTally *at, int sums)
{
    CuContext *cu = cu_context_of(op);
    TalusComm *comm = talus_operator_comm(op);
    CuTally tally[FACE_SPLIT_SUMS] = {};
    cu_get(cu, tally, at, (size_t)(sums + 1) * sizeof *tally);
    double max = cu->first_error[0] ? (double)NAN : max_of_key(tally[sums].bin[0]);
    talus_comm_add_binned_sums(comm, (TalusBinnedSum *)tally, sums);
    talus_comm_find_maxima(comm, &max, 1);
    tally[sums].bin[0] = max_key(max);
    for (int k = 0; k < sums && isnan(max); k++)
        tally[k].top = TALUS_BIN_NAN;
    cu_put(cu, at, tally, (size_t)(sums + 1) * sizeof *tally);
}

template <int ROWS> static void update_part(const TalusOperator *op, const FaceArgs *args)
{
    launch_alone(cu_context_of(op), args, face_update<ROWS>, FACE_BLOCKS, FACE_THREADS);
    add_tallies(op, args->split, FACE_SPLIT_SUMS - 1);
}

/* As run_rounds: all ranks have the same states, and stop after the same round. */
template <int ROWS>
static TalusStatus run_rounds_of_part(const TalusOperator *op, const FaceArgs *args, FaceState *end)
{
    CuContext *cu = cu_context_of(op);
    update_part<ROWS>(op, args);
    while (!end->stop) {
        launch_alone(cu, args, face_bodies<ROWS>, FACE_BODY_BLOCKS, FACE_BODY_THREADS);
        cu_get(cu, end, &args->state[FACE_DECIDED], sizeof *end);
        TALUS_TRY(talus_comm_agree(talus_operator_comm(op), cu_check(cu)));
        if (end->stop)
            break;
        cu_part_exchange(op, args->velocity, sizeof *args->velocity);
        launch_alone(cu, args, face_product<ROWS>, FACE_BLOCKS, FACE_THREADS);
        add_tallies(op, args->searched, FACE_SEARCH_SUMS - 1);
        update_part<ROWS>(op, args);
    }
    return TALUS_OK;
}

/* ---- on one rank ---- */

/* Holds the arguments in constant memory for all rounds. */
static TalusStatus run_alone(const TalusOperator *op, const FaceArgs *args, int iterations,
                             FaceState *end)
{
    CuContext *cu = cu_context_of(op);
    std::lock_guard<std::mutex> hold(constant_memory);
    put_args(cu, args);
    return op->rows == 1 ? run_rounds<1>(cu, iterations, end) : run_rounds<3>(cu, iterations, end);
}

TalusStatus cu_proportion_run(const TalusOperator *op, TalusProportioning *state, TalusRun *run)
{
    if (!op->pair || op->mixed_sets || op->elimination)
        return talus_fail(
            TALUS_ERR_UNSUPPORTED,
            "mprgp: runs of iterations on the device know contacts with half lines or "
            "circular cones alone, and no eliminated joints");
    CuContext *cu = cu_context_of(op);
    CuScratch *scratch = cu_scratch_of(op);
    TalusStatus status = reserve_shared(cu);
    TALUS_THEN(status, scratch->wrench.reserve(6 * (int64_t)op->bodies, "impulses on bodies"));
    TALUS_TRY(talus_comm_agree(talus_operator_comm(op), status));
    FaceArgs args = make_args(op, state, run);
    FaceState end = {};
    args.wrench = (double(*)[6])scratch->wrench.at;
    put_state(cu, state);
    cu_zero(cu, args.searched,
            ((int)FACE_SEARCH_SUMS + (int)FACE_SPLIT_SUMS) * sizeof *args.searched);
    if (!op->halo)
        TALUS_TRY(run_alone(op, &args, run->iterations, &end));
    else
        TALUS_TRY(op->rows == 1 ? run_rounds_of_part<1>(op, &args, &end)
                                : run_rounds_of_part<3>(op, &args, &end));
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
