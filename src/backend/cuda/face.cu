/* backend/cuda/face.cu - mprgp without the host: sends the rounds of face.h and watches for their end. */
#include "backend/cuda/face_kernels.h"

/* Rounds in a graph. */
enum { ROUNDS = 20 };

/* What an operator keeps for its runs. */
struct FaceOwned {
    CuArray<double> wrench;
};

/* What all operators share. */
static CuArray<FaceState> device_state;
static CuArray<double> device_partial;
static FaceState *seen_state; /* pinned: of the last two looks */
static cudaEvent_t look_end[2];
static cudaGraphExec_t graph_of[2]; /* of one row and of three */

static TalusStatus open_shared(void)
{
    TALUS_TRY(device_state.reserve(FACE_STATES, "scalars"));
    TALUS_TRY(
        device_partial.reserve(FACE_BLOCKS * (FACE_SEARCH_SUMS + FACE_SPLIT_SUMS), "partial sums"));
    if (!seen_state) {
        cu_note(cudaMallocHost((void **)&seen_state, 2 * sizeof *seen_state), "pinned memory");
        for (cudaEvent_t &event : look_end)
            cu_note(cudaEventCreate(&event), "event");
    }
    return cu_check();
}

static void clear_owned(void *at)
{
    FaceOwned *owned = (FaceOwned *)at;
    owned->wrench.clear();
    talus_release(owned);
}

static TalusStatus wrench_of(const TalusOperator *op, double (**out)[6])
{
    CuOwned *owned = &cu_scratch_of(op)->face;
    if (!owned->at) {
        TALUS_TRY(talus_alloc(&owned->at, 1, sizeof(FaceOwned), "steps on faces"));
        owned->clear = clear_owned;
    }
    FaceOwned *mine = (FaceOwned *)owned->at;
    TALUS_TRY(mine->wrench.reserve(6 * (int64_t)op->bodies, "impulses on bodies"));
    *out = (double(*)[6])mine->wrench.at;
    return TALUS_OK;
}

/* ---- rounds ---- */

template <int ROWS> static void launch_round(void)
{
    launch_next(face_bodies<ROWS>, FACE_BODY_BLOCKS, FACE_BODY_THREADS);
    launch_next(face_product<ROWS>, FACE_BLOCKS, FACE_THREADS);
    launch_next(face_update<ROWS>, FACE_BLOCKS, FACE_THREADS);
}

template <int ROWS> static void capture_rounds(cudaGraphExec_t *exec)
{
    cudaGraph_t graph;
    load_kernel(face_bodies<ROWS>);
    load_kernel(face_product<ROWS>);
    load_kernel(face_update<ROWS>);
    cu_note(cudaStreamBeginCapture(cu_stream(), cudaStreamCaptureModeGlobal), "capture");
    for (int k = 0; k < ROUNDS; k++)
        launch_round<ROWS>();
    cu_note(cudaStreamEndCapture(cu_stream(), &graph), "capture");
    cu_note(cudaGraphInstantiate(exec, graph, 0), "graph");
    cu_note(cudaGraphDestroy(graph), "graph");
}

/* Asks for the scalars after the rounds sent so far. */
static void ask(int look)
{
    cu_note(cudaMemcpyAsync(&seen_state[look & 1], &device_state.at[FACE_DECIDED],
                            sizeof *seen_state, cudaMemcpyDeviceToHost, cu_stream()),
            "copy out");
    cu_note(cudaEventRecord(look_end[look & 1], cu_stream()), "event");
}

static const FaceState *answer(int look)
{
    cu_note(cudaEventSynchronize(look_end[look & 1]), "wait");
    return &seen_state[look & 1];
}

/* Sends rounds until they have stopped. While they cannot have done all iterations, a graph is sent before
 * the answer to the one before. */
template <int ROWS> static TalusStatus run_rounds(int iterations, FaceState *end)
{
    cudaGraphExec_t *graph = &graph_of[ROWS == 3];
    if (!*graph)
        capture_rounds<ROWS>(graph);
    launch_next(face_update<ROWS>, FACE_BLOCKS, FACE_THREADS);
    for (int look = 0;; look++) {
        TALUS_TRY(cu_check());
        cu_note(cudaGraphLaunch(*graph, cu_stream()), "graph");
        ask(look);
        bool ahead = (look + 1) * ROUNDS < iterations;
        if (ahead && look == 0)
            continue;
        const FaceState *seen = answer(ahead ? look - 1 : look);
        if (seen->stop) {
            *end = *seen;
            return cu_check();
        }
    }
}

/* ---- a run ---- */

static FaceArgs new_args(const TalusOperator *op, const TalusProportioning *state,
                         const TalusRun *run)
{
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
    args.searched = device_partial.at;
    args.split = device_partial.at + FACE_BLOCKS * FACE_SEARCH_SUMS;
    args.state = device_state.at;
    args.gamma2 = state->gamma * state->gamma;
    args.step = state->step;
    args.enough = state->enough;
    args.stop2 = run->stop_rms * run->stop_rms * op->blocks;
    args.stop_max2 = run->stop_max * run->stop_max;
    args.iterations = run->iterations;
    args.half_step = state->half_step;
    return args;
}

/* The first kernel, an update, finds x with its gradient just formed, and splits it. */
static void put_state(const TalusProportioning *from)
{
    FaceState state = {};
    state.norm = from->norm;
    state.pnp = from->pnp;
    state.active = from->active;
    state.unchecked = from->unchecked;
    state.task = FACE_AFRESH;
    state.resumed = from->begun;
    cu_put(&device_state.at[FACE_DECIDED], &state, sizeof state);
}

static void put_args(const FaceArgs *args)
{
    void *place = &face;
#ifndef TALUS_EMULATED
    cu_note(cudaGetSymbolAddress(&place, face), "constant memory");
#endif
    cu_put(place, args, sizeof *args);
}

TalusStatus cu_proportion_run(const TalusOperator *op, TalusProportioning *state, TalusRun *run)
{
    if (!op->pair || op->varied)
        return talus_fail(
            TALUS_ERR_UNSUPPORTED,
            "mprgp: runs of iterations on the device know contacts with half lines or "
            "circular cones alone");
    TALUS_TRY(open_shared());
    FaceArgs args = new_args(op, state, run);
    FaceState end = {};
    TALUS_TRY(wrench_of(op, &args.wrench));
    put_args(&args);
    put_state(state);
    TALUS_TRY(op->rows == 1 ? run_rounds<1>(run->iterations, &end)
                            : run_rounds<3>(run->iterations, &end));
    state->norm = end.norm;
    state->pnp = end.pnp;
    state->active = end.active;
    state->unchecked = end.unchecked;
    state->products = end.products;
    state->reached = end.reached;
    state->begun = true;
    run->done = end.done;
    run->residual2 = end.residual2;
    run->residual_max = end.residual_max;
    run->first2 = end.first2;
    return TALUS_OK;
}
