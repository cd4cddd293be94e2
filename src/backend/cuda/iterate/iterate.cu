/* backend/cuda/iterate/iterate.cu - many iterations without the host: what surrounds the kernels of iterate.h.
 *
 * A run is a sequence of stretches, one per refinement (in double precision only one). A stretch prepares the arrays,
 * launches iterations on the device, and downloads the scalars. A small problem takes one kernel (iterate_resident.h);
 * else iterations are launched singly and in batches, which are CUDA graphs, some batches ahead of the state that the
 * host has downloaded. In single precision a run that continues the last one (TalusRun.since) reuses base and
 * increments. */
#include "backend/cuda/device/follow.h"
#include "backend/cuda/device/together.h"
#include "backend/cuda/device/window.h"
#include "backend/cuda/iterate/iterate_split.h"
#include "backend/cuda/ops/part.h"

extern "C" {
#include "backend/run.h"
}

#include <atomic>
#include <mutex>

/* Steps since the last refinement after which the next measuring step asks for another; REFINE_AT (iterate_bodies.h)
 * may ask earlier, but not before a sixteenth of them. */
enum { REFINE_AFTER = 400 };

/* BATCH: minimum number of steps in a graph. PROMPT: number of graphs at the start of a run after each of which the
 * host waits for the state. Most runs are short: kernels that were launched ahead and find that the run has stopped take
 * longer than waiting. Later graphs are launched while the one before still runs. */
enum { BATCH = 10, PROMPT = 4 };

/* What a run in single precision leaves for the run that continues it. */
struct Kept {
    long long serial; /* CuScratch.serial at its end; 0: it cannot be continued */
    const double *x;  /* the caller's vector of impulses */
    int since;        /* iterations of the solve up to its end */
    int steps;        /* steps since the last refinement */
    int now;          /* index of the iterate in Iterate.x */
};

/* Data of an operator for its runs. */
struct Iterate {
    Kept kept;
    long long serial[2]; /* CuScratch.serial when mu_range was made; when normal and mass were */
    CuArray<float4> normal, base; /* as in IterateArgs */
    CuArray<char4> low;           /* as in IterateArgs */
    CuArray<float2> mass;         /* as in IterateArgs */
    CuArray<double> mu_range;     /* as in IterateArgs */
    CuArray<double> gradient;     /* at base; for Jacobi in single precision alone */
    /* increments, in single precision; [0] also has the gradient along tangent 1, [1] that along tangent 2 */
    CuArray<char> x[2];
    CuArray<char> v[2]; /* IterateArgs.v */
};

/* A captured batch of iterations of one variant of the kernels. */
struct Batch {
    cudaGraphExec_t graph; /* NULL: not captured yet */
    int check, steps;      /* period of measuring; steps in the graph */
    int resident;          /* 1: iterate_resident can be launched; 0: unknown; -1: cannot */
};

/* Number of variants (make_stretch). */
enum { VARIANTS = 128 };

/* Data shared by the operators of a context: device buffers and captured batches. */
struct Shared {
    CuArray<IterateState> device_state; /* [2] */
    CuArray<CuTally> device_tally;      /* IterateArgs.tally */
    CuArray<unsigned> device_arrived;   /* ResidentRun.arrived */
    IterateState
        *seen_state; /* pinned host memory, [2][2]: both states, of the last two requests */
    /* pinned host memory: arguments on their way to constant memory; tallies of ranks without windows, [ITERATE_SUMS] */
    IterateArgs *sent_args;
    CuTally *sent_tally;
    cudaEvent_t request_done[2]; /* ends of the last two requests */
    Batch batches[VARIANTS];     /* by variant */
};

/* The kernels' arguments in constant memory (iterate.h: slots) of a device. All contexts of the device share them, one
 * stretch after the other: `mutex` is held while kernels that read them are launched. */
struct Slot {
    std::mutex mutex;
    long long serial; /* Stretch.serial of the arguments that are there; 0: of none */
    cudaStream_t
        reader; /* the stream of that stretch, whose kernels may still read them; NULL: there are none */
    cudaEvent_t read; /* after which others may be written; NULL before the first */
};

/* Slots of a device; devices, more than a machine has. */
enum { SLOTS = 4, DEVICES = 64 };
static Slot slots[DEVICES][SLOTS];
static IterateKernelsFn *const kernels_double[SLOTS] = {
    iterate_kernels_double, iterate_kernels_double_1, iterate_kernels_double_2,
    iterate_kernels_double_3};
static IterateKernelsFn *const kernels_mixed[SLOTS] = {
    iterate_kernels_mixed, iterate_kernels_mixed_1, iterate_kernels_mixed_2,
    iterate_kernels_mixed_3};

static void clear_shared(void *at)
{
    Shared *shared = (Shared *)at;
    cu_clear(shared->device_state, shared->device_tally, shared->device_arrived);
    for (void *pinned :
         {(void *)shared->seen_state, (void *)shared->sent_args, (void *)shared->sent_tally})
        if (pinned)
            cudaFreeHost(pinned);
    for (cudaEvent_t event : shared->request_done)
        if (event)
            cudaEventDestroy(event);
    for (const Batch &batch : shared->batches)
        if (batch.graph)
            cudaGraphExecDestroy(batch.graph);
    talus_release(shared);
}

/* Reserves the data that the operators of a context share; creates them on the first call. */
static TalusStatus reserve_shared(CuContext *cu)
{
    Shared *shared;
    TALUS_TRY(cu_get_owned(&cu->iterate, clear_shared, "iterations", &shared));
    TALUS_TRY(shared->device_state.reserve(2, "scalars"));
    TALUS_TRY(shared->device_arrived.reserve(1, "counter"));
    TALUS_TRY(shared->device_tally.reserve(2 * ITERATE_SUMS, "sums"));
    if (!shared->seen_state) {
        cu_note_error(cu,
                      cudaMallocHost((void **)&shared->seen_state, 4 * sizeof *shared->seen_state),
                      "pinned memory");
        cu_note_error(cu, cudaMallocHost((void **)&shared->sent_args, sizeof *shared->sent_args),
                      "pinned memory");
        cu_note_error(
            cu,
            cudaMallocHost((void **)&shared->sent_tally, ITERATE_SUMS * sizeof *shared->sent_tally),
            "pinned memory");
        for (cudaEvent_t &event : shared->request_done)
            cu_note_error(cu, cudaEventCreate(&event), "event");
    }
    return cu_check(cu);
}

/* Returns the data that reserve_shared has reserved. */
static Shared *shared_of(CuContext *cu)
{
    return (Shared *)cu->iterate.at;
}

static void clear_iterate(void *at)
{
    Iterate *w = (Iterate *)at;
    cu_clear(w->normal, w->base, w->low, w->mass, w->mu_range, w->gradient);
    for (CuArray<char> &array : w->x)
        array.clear();
    for (CuArray<char> &array : w->v)
        array.clear();
    talus_release(w);
}

/* Writes the address of the operator's data for runs to *out; allocates them on the first call. */
static TalusStatus iterate_of(const TalusOperator *op, Iterate **out)
{
    return cu_get_owned(&cu_scratch_of(op)->iterate, clear_iterate, "iterations", out);
}

/* ---- preparation ---- */

/* Reserves the arrays of w that the run needs, except `gradient`. Fills those that depend on the operator alone, unless
 * they were filled since the last cu_scratch_begin. */
static TalusStatus prepare_operator(const TalusOperator *op, Iterate *w, bool mixed, bool momentum)
{
    const CuView<double> view = cu_view(op);
    const long long serial = cu_scratch_of(op)->serial;
    size_t real = mixed ? sizeof(float) : sizeof(double);
    TALUS_TRY(reserve_shared(cu_context_of(op)));
    TALUS_TRY(w->mu_range.reserve(2, "friction"));
    for (int k = 0; k < (momentum ? 2 : 1); k++)
        TALUS_TRY(w->v[k].reserve(8 * (int64_t)real * op->bodies, "velocities"));
    if (mixed) {
        int64_t vector = (int64_t)(op->rows == 3 ? sizeof(float4) : sizeof(float)) * op->blocks;
        TALUS_TRY(w->normal.reserve(op->blocks, "normals"));
        TALUS_TRY(w->base.reserve(op->blocks, "impulses"));
        TALUS_TRY(w->mass.reserve(op->bodies, "masses"));
        TALUS_TRY(w->low.reserve(op->blocks, "gradient"));
        for (CuArray<char> &x : w->x)
            TALUS_TRY(x.reserve(vector, "impulses"));
    }
    if (w->serial[0] != serial && op->rows == 3)
        launch_sums(cu_context_of(op), find_mu_range, op->blocks, w->mu_range.at, op->blocks,
                    op->mu);
    w->serial[0] = serial;
    if (!mixed || w->serial[1] == serial)
        return cu_check(cu_context_of(op));
    launch(cu_context_of(op), round_contacts, blocks_for(op->blocks), THREADS, view, w->normal.at);
    launch(cu_context_of(op), round_bodies, blocks_for(op->bodies), THREADS, view, w->mass.at);
    w->serial[1] = serial;
    return cu_check(cu_context_of(op));
}

/* ---- a stretch of iterations ---- */

/* Iterations between two refinements, or a whole run in double precision. */
struct Stretch {
    CuContext *cu;
    IterateKernels kernels;
    Batch *batch;
    const TalusRun *run;
    int left;      /* maximum number of steps of the stretch */
    int lead;      /* steps before the first that measures by period, where batches begin */
    int launched;  /* number of steps launched so far */
    int first;     /* parity of the first step */
    bool resident; /* one kernel does the stretch */
    const TalusOperator
        *part; /* the operator, if it is the part of one of several ranks; else NULL */
    const IterateArgs *args;  /* of the kernels */
    Slot *slot;               /* where the kernels find them */
    long long serial;         /* number of the stretch among all of the program, from 1 on */
    size_t record;            /* bytes of a body's V */
    bool machines;            /* joints are eliminated */
    unsigned machine_threads; /* threads per block of the machines' kernel */
    double body_bytes, contact_bytes; /* that the two kernels must move */
};

/* Returns the parity of the next step to be launched. */
static int next_parity(const Stretch *s)
{
    return (s->first + s->launched) & 1;
}

/* Returns SEEN_CHECK if the last launched step measures the residual, else, or if there is none, SEEN_STEP. */
static int seen_value(const Stretch *s)
{
    int before = s->run->done + s->launched - 1;
    return s->launched && talus_run_measures(s->run, before) ? SEEN_CHECK : SEEN_STEP;
}

/* Launches a kernel of the stretch: overlapped, unless the stream waits for other ranks between kernels. */
template <class... P, class... A>
static void launch_kernel(const Stretch *s, void (*kernel)(P...), unsigned blocks, unsigned threads,
                          A... arguments)
{
    if (s->part)
        launch_block(s->cu, kernel, blocks, threads, arguments...);
    else
        launch_overlapped(s->cu, kernel, blocks, threads, arguments...);
}

/* Launches the bodies' kernel. */
static void launch_bodies_alone(const Stretch *s, int parity, int seen)
{
    talus_profile_expect_bytes(s->body_bytes);
    launch_kernel(s, s->kernels.bodies, BODY_BLOCKS, BODY_THREADS, parity, seen);
}

/* Launches the machines' kernel if joints are eliminated. */
static void launch_machines(const Stretch *s, int parity, int seen)
{
    if (s->machines)
        launch_kernel(s, s->kernels.machines, MACHINE_BLOCKS, s->machine_threads, parity, seen);
}

/* Launches both. */
static void launch_bodies(const Stretch *s, int parity, int seen)
{
    launch_bodies_alone(s, parity, seen);
    launch_machines(s, parity, seen);
}

/* Launches the contacts' kernel. */
static void launch_contacts(const Stretch *s, int parity, bool check)
{
    talus_profile_expect_bytes(s->contact_bytes);
    launch_kernel(s, check ? s->kernels.check : s->kernels.step, CONTACT_BLOCKS, CONTACT_THREADS,
                  parity);
}

/* Launches the kernel that computes the state after the last step. */
static void launch_conclude(const Stretch *s)
{
    launch_kernel(s, s->kernels.conclude, 1, BODY_THREADS, next_parity(s), seen_value(s));
}

/* Launches the kernels of one iteration. */
static void launch_step(const Stretch *s, int parity, int seen, bool check)
{
    launch_bodies(s, parity, seen);
    launch_contacts(s, parity, check);
}

/* Launches the next step of the stretch and counts it. */
static void launch_next_step(Stretch *s)
{
    bool check = talus_run_measures(s->run, s->run->done + s->launched);
    launch_step(s, next_parity(s), seen_value(s), check);
    s->launched++;
}

/* Returns the number of steps of a batch: whole periods of measuring, and even, so that parity repeats. */
static int batch_steps(int check)
{
    int steps = (BATCH + check - 1) / check * check;
    return steps % 2 ? steps + check : steps;
}

/* Captures a batch of steps with this period of measuring as the graph of s->batch. */
static void capture_batch(const Stretch *s, int check)
{
    CuContext *cu = s->cu;
    const IterateKernels *k = &s->kernels;
    Batch *batch = s->batch;
    if (batch->graph)
        cu_note_error(cu, cudaGraphExecDestroy(batch->graph), "graph");
    batch->check = check;
    batch->steps = batch_steps(check);
    load_kernel(cu, k->bodies);
    if (s->machines)
        load_kernel(cu, k->machines);
    load_kernel(cu, k->step);
    load_kernel(cu, k->check);
    cu_capture_graph(cu, &batch->graph, [=] {
        for (int t = 0; t < batch->steps; t++) {
            int seen = (t + batch->steps - 1) % check == 0 ? SEEN_CHECK : SEEN_STEP;
            launch_step(s, t & 1, seen, t % check == 0);
        }
    });
}

/* Starts the download of both states, as request number `request`. */
static void request_states(CuContext *cu, int request)
{
    const Shared *shared = shared_of(cu);
    IterateState *now = shared->seen_state + 2 * (request & 1);
    cu_note_error(cu,
                  cudaMemcpyAsync(now, shared->device_state.at, 2 * sizeof *now,
                                  cudaMemcpyDeviceToHost, cu->stream),
                  "copy out");
    cu_note_error(cu, cudaEventRecord(shared->request_done[request & 1], cu->stream), "event");
}

/* Waits for a request. True if its states say that the steps have stopped. */
static bool has_stopped(CuContext *cu, int request)
{
    const Shared *shared = shared_of(cu);
    const IterateState *seen = shared->seen_state + 2 * (request & 1);
    cu_note_error(cu, cudaEventSynchronize(shared->request_done[request & 1]), "wait");
    return seen[0].stop || seen[1].stop;
}

/* Requests the states and waits for that or, from request PROMPT on, for the request before. True if the states that have
 * come say that the steps have stopped. */
static bool poll_stopped(CuContext *cu, int request)
{
    request_states(cu, request);
    return has_stopped(cu, request < PROMPT ? request : request - 1);
}

/* Launches batches while more steps are left than a batch has: the last step of a run always measures, in a batch only
 * steps by period do. A profile times kernels one by one, so that there are no batches. Returns false if a downloaded
 * state says that the steps have stopped. */
static bool launch_batches(Stretch *s)
{
    const int check = s->run->check, steps = batch_steps(check);
    if (talus_profile_is_on())
        return true;
    if (s->left - s->launched > steps && (!s->batch->graph || s->batch->check != check))
        capture_batch(s, check);
    for (int request = 0; s->left - s->launched > steps; request++) {
        cu_note_error(s->cu, cudaGraphLaunch(s->batch->graph, s->cu->stream), "graph");
        s->launched += steps;
        if (poll_stopped(s->cu, request))
            return false;
    }
    return true;
}

/* Makes the arguments in constant memory those of the stretch, once kernels of other streams have read what is there. The
 * caller holds the slot's mutex. */
static void take_slot(const Stretch *s)
{
    Slot *slot = s->slot;
    CuContext *cu = s->cu;
    if (slot->serial == s->serial)
        return;
    if (!slot->read)
        cu_note_error(cu, cudaEventCreateWithFlags(&slot->read, cudaEventDisableTiming), "event");
    if (slot->reader && slot->reader != cu->stream) {
        cu_note_error(cu, cudaEventRecord(slot->read, slot->reader), "event");
        cu_note_error(cu, cudaStreamWaitEvent(cu->stream, slot->read, 0), "wait");
    }
    cu_note_error(cu,
                  cudaMemcpyAsync(s->kernels.args, shared_of(cu)->sent_args, sizeof *s->args,
                                  cudaMemcpyHostToDevice, cu->stream),
                  "copy in");
    slot->serial = s->serial;
    slot->reader = cu->stream;
}

/* Gives the slot up, after the last kernel of the stretch has ended. The caller holds its mutex. */
static void leave_slot(const Stretch *s)
{
    if (s->slot->serial != s->serial)
        return;
    s->slot->serial = 0;
    s->slot->reader = nullptr;
}

static __global__ void set_both_states(IterateState *to, IterateState value)
{
    to[0] = to[1] = value;
}

/* Returns the state at the start of a run; momentum NULL: Jacobi's method. */
static IterateState initial_state(const TalusMomentum *momentum, double beta)
{
    IterateState state = {};
    if (momentum)
        state.momentum = *momentum;
    state.beta = beta;
    state.first2 = -1.0;
    return state;
}

/* Launches the one kernel that does the whole stretch. */
static void launch_resident(const Stretch *s, const IterateState *state)
{
    const CuArray<unsigned> &arrived = shared_of(s->cu)->device_arrived;
    ResidentRun run = {};
    run.state = *state;
    run.arrived = arrived.at;
    run.steps = s->left;
    run.phase = s->run->since + s->run->done;
    run.check = s->run->check;
    cu_zero(s->cu, arrived.at, sizeof *arrived.at);
    launch_cooperative(s->cu, s->kernels.resident, RESIDENT_BLOCKS,
                       (unsigned)s->kernels.resident_threads, run);
}

/* True if a profile is on and the steps launched so far have stopped: further ones would be timed, and do nothing. */
static bool is_seen_to_stop(const Stretch *s)
{
    IterateState seen[2];
    if (!talus_profile_is_on())
        return false;
    cu_get(s->cu, seen, shared_of(s->cu)->device_state.at, sizeof seen);
    return seen[0].stop || seen[1].stop;
}

/* Launches all steps of the stretch, singly and in batches, and the kernel that concludes them. */
static void launch_steps(Stretch *s, bool momentum, const IterateState *state)
{
    launch(s->cu, set_both_states, 1, 1, shared_of(s->cu)->device_state.at, *state);
    if (momentum)
        launch_bodies(s, 1 - s->first, SEEN_START);
    while (s->launched < s->lead && s->launched < s->left)
        launch_next_step(s);
    bool going = launch_batches(s);
    while (going && s->launched < s->left) {
        launch_next_step(s);
        going = !is_seen_to_stop(s);
    }
    launch_conclude(s);
}

/* ---- on several ranks ---- */

/* Calls launches(), whose kernels find the arguments of the stretch. Waits neither for the device nor for another rank. */
template <class F> static void launch_phase(const Stretch *s, F launches)
{
    std::lock_guard<std::mutex> hold(s->slot->mutex);
    take_slot(s);
    launches();
}

/* Computes V for all bodies of this rank and its halo. Without windows the exchange waits for the stream; then *stopped
 * tells at once whether the steps have stopped. False: a rank has failed. */
static bool move_bodies_of_part(const Stretch *s, int parity, int seen, bool *stopped)
{
    const bool looks = seen == SEEN_CHECK && !cu_windows_are_open(s->cu);
    launch_phase(s, [=] { launch_bodies_alone(s, parity, seen); });
    if (looks)
        request_states(s->cu, 0);
    if (!cu_part_exchange(s->part, s->args->v[parity], s->record))
        return false;
    *stopped = looks && has_stopped(s->cu, 0);
    if (s->machines)
        launch_phase(s, [=] { launch_machines(s, parity, seen); });
    return true;
}

/* Adds the tallies of a step of all ranks by windows. False: a rank has failed. */
static bool add_tallies_by_windows(const Stretch *s, int parity)
{
    static_assert(2 * ITERATE_SUMS <= CU_WINDOW_TALLIES, "a window has tallies of two steps");
    if (!cu_windows_meet(s->cu))
        return false;
    cu_windows_add_tallies(s->cu, parity * ITERATE_SUMS, ITERATE_SUMS, RESIDUAL_MAX2,
                           s->args->totals[parity]);
    return true;
}

/* Copies the tallies of a step from the device to pinned memory, or back; the latter ends while the host goes on. */
static void move_tallies(const Stretch *s, int parity, cudaMemcpyKind kind)
{
    CuTally *here = shared_of(s->cu)->sent_tally, *there = s->args->tally[parity];
    const bool to_host = kind == cudaMemcpyDeviceToHost;
    cu_note_error(s->cu,
                  cudaMemcpyAsync(to_host ? here : there, to_host ? there : here,
                                  ITERATE_SUMS * sizeof *here, kind, s->cu->stream),
                  "copy of sums");
    if (to_host)
        cu_wait(s->cu);
}

/* Replaces the tallies of a step by those of all ranks, through the host. */
static void add_tallies_by_messages(const Stretch *s, int parity, bool check)
{
    TalusComm *comm = talus_operator_comm(s->part);
    CuTally *tally = shared_of(s->cu)->sent_tally;
    move_tallies(s, parity, cudaMemcpyDeviceToHost);
    const bool valid = !s->cu->first_error[0];
    if (check) {
        double max = valid ? max_of_key(tally[RESIDUAL_MAX2].bin[0]) : (double)NAN;
        talus_comm_add_binned_sums(comm, (TalusBinnedSum *)tally, RESIDUAL_MAX2);
        talus_comm_find_maxima(comm, &max, 1);
        tally[RESIDUAL_MAX2].bin[0] = max_key(max);
        if (isnan(max)) /* some rank has failed, or the residual is not finite */
            tally[RESIDUAL2].top = TALUS_BIN_NAN;
    } else if (talus_comm_add_counts(comm, (int64_t *)&tally[RESTART].bin[0], 1) != TALUS_OK) {
        tally[RESTART].bin[0] = 0;
    }
    move_tallies(s, parity, cudaMemcpyHostToDevice);
}

/* Makes the totals of a step those of all ranks. False: a rank has failed. */
static bool add_tallies_of_ranks(const Stretch *s, int parity, bool check, bool momentum)
{
    if (cu_windows_are_open(s->cu))
        return add_tallies_by_windows(s, parity);
    if (check || momentum)
        add_tallies_by_messages(s, parity, check);
    return true;
}

/* Launches one step together with all ranks; *stopped as in move_bodies_of_part. False: a rank has failed. */
static bool step_part(Stretch *s, bool momentum, bool *stopped)
{
    const int parity = next_parity(s), seen = seen_value(s);
    const bool check = talus_run_measures(s->run, s->run->done + s->launched);
    if (!move_bodies_of_part(s, parity, seen, stopped))
        return false;
    launch_phase(s, [=] { launch_contacts(s, parity, check); });
    s->launched++;
    return add_tallies_of_ranks(s, parity, check, momentum);
}

/* Empties the tallies of this rank, once no other reads them any more. */
static bool begin_tallies(const Stretch *s)
{
    if (cu_windows_are_open(s->cu) && !cu_windows_meet(s->cu))
        return false;
    cu_zero(s->cu, s->args->tally, 2 * sizeof *s->args->tally);
    return true;
}

/* Looks at the state once in `period` steps, while the steps launched since the request keep the device busy: ASK after that
 * of a period that measures, when the state after it is on the device, and LOOK. All ranks see the same state. True if
 * the steps have stopped. */
static bool look_at_period(const Stretch *s, int period)
{
    enum { ASK = 2, LOOK = 6 };
    static_assert((int)LOOK < (int)BATCH, "the next request comes later");
    const int at = (s->launched - s->lead) % period;
    if (at == ASK)
        request_states(s->cu, 0);
    return at == LOOK && has_stopped(s->cu, 0);
}

/* As launch_steps, on several ranks. All of them have the same states, and stop after the same step. With windows the host
 * runs ahead of the device; what it launches after a stop does nothing. */
static void launch_steps_of_part(Stretch *s, bool momentum, const IterateState *state)
{
    const int period = batch_steps(s->run->check);
    bool stopped = false, going = begin_tallies(s);
    launch(s->cu, set_both_states, 1, 1, s->args->state, *state);
    if (going && momentum)
        going = move_bodies_of_part(s, 1 - s->first, SEEN_START, &stopped);
    while (going && !stopped && s->launched < s->left) {
        going = step_part(s, momentum, &stopped);
        if (going && cu_windows_are_open(s->cu))
            stopped = look_at_period(s, period);
    }
    launch_phase(s, [=] { launch_conclude(s); });
}

/* Runs a stretch on several ranks; reads the final state. */
static void run_part(Stretch *s, bool momentum, IterateState *state)
{
    launch_steps_of_part(s, momentum, state);
    cu_get(s->cu, state, s->args->state + next_parity(s), sizeof *state);
    std::lock_guard<std::mutex> hold(s->slot->mutex);
    leave_slot(s);
}

/* Runs a stretch on one rank, which holds the arguments in constant memory to its end; reads the final state. */
static void run_alone(Stretch *s, bool momentum, IterateState *state)
{
    std::lock_guard<std::mutex> hold(s->slot->mutex);
    take_slot(s);
    if (s->resident)
        launch_resident(s, state);
    else
        launch_steps(s, momentum, state);
    cu_get(s->cu, state, s->args->state + (s->resident ? 0 : next_parity(s)), sizeof *state);
    leave_slot(s);
}

/* Does at most s->left steps from `state`, which receives the final state. args->x[s->first] is the iterate, the other
 * args->x the previous one; parity_after tells which is the iterate afterwards. */
static TalusStatus run_stretch(Stretch *s, const IterateArgs *args, bool momentum,
                               IterateState *state)
{
    static std::atomic<long long> stretches;
    CuContext *cu = s->cu;
    const Shared *shared = shared_of(cu);
    state->done = 0;
    state->stop = GO;
    state->fresh = true;
    s->args = args;
    s->serial = ++stretches;
    *shared->sent_args = *args;
    cu_zero(cu, shared->device_tally.at, 2 * ITERATE_SUMS * sizeof *shared->device_tally.at);
    if (s->part)
        run_part(s, momentum, state);
    else
        run_alone(s, momentum, state);
    return cu_check(cu);
}

/* Returns the index of the iterate in args.x after a stretch. */
static int parity_after(const Stretch *s, const IterateState *state)
{
    return s->resident ? 0 : (s->first + state->done) & 1;
}

/* ---- runs ---- */

static_assert((int)CU_SMALL_BLOCKS ==
                  RESIDENT_BLOCKS * resident_threads<float, false>() * (int)RESIDENT_PER_THREAD,
              "the kernel with most threads keeps the most contacts");

/* True if one kernel can do the stretch: its threads can keep all contacts, its blocks can run at the same time, no
 * joints are eliminated and run->stepwise does not forbid it. */
static bool is_resident(const Stretch *s, const TalusOperator *op)
{
    const int threads = s->kernels.resident_threads;
    if (s->run->stepwise || s->machines || s->part ||
        op->blocks > RESIDENT_BLOCKS * threads * RESIDENT_PER_THREAD)
        return false;
    if (!s->batch->resident)
        s->batch->resident = can_run_together(s->cu, s->kernels.resident, threads) ? 1 : -1;
    return s->batch->resident > 0;
}

/* Returns a stretch for the rest of the run. The steps before s.lead are launched one by one; s.first gives parity 0 to
 * the first step of a batch. The index `variant` has a bit for each property that needs a graph of its own. */
static Stretch make_stretch(const TalusOperator *op, const TalusRun *run, bool mixed, bool momentum,
                            bool exact)
{
    bool general = op->inverse_inertia != nullptr;
    const CuMachinesView view = cu_machines(op);
    bool machines = op->elimination != nullptr, dense = view.response != nullptr;
    int variant = dense * 64 + machines * 32 + exact * 16 + mixed * 8 + (op->rows == 3) * 4 +
                  general * 2 + momentum;
    int phase = (run->since + run->done) % run->check;
    Stretch s = {};
    s.cu = cu_context_of(op);
    const int slot = op->halo ? op->halo->comm->rank % SLOTS : 0;
    s.slot = &slots[s.cu->device % DEVICES][slot];
    s.kernels = (mixed ? kernels_mixed : kernels_double)[slot](op->rows, general, momentum, exact);
    s.batch = &shared_of(s.cu)->batches[variant];
    s.run = run;
    s.part = op->halo ? op : nullptr;
    s.record = 8 * (mixed ? sizeof(float) : sizeof(double));
    s.machines = machines;
    s.machine_threads = cu_machine_threads(&view);
    s.left = run->iterations - run->done;
    s.lead = phase ? run->check - phase : 0;
    s.resident = is_resident(&s, op);
    s.first = s.resident ? 0 : s.lead & 1;
    s.body_bytes = iterate_bytes(op, mixed, momentum, true);
    s.contact_bytes = iterate_bytes(op, mixed, momentum, false);
    return s;
}

/* Returns the kernels' arguments, without those that the method sets: trace, x, tangent1, omega, lambda,
 * steps_before. */
static IterateArgs make_args(const TalusOperator *op, const Iterate *w, const TalusRun *run)
{
    const Shared *shared = shared_of(cu_context_of(op));
    IterateArgs args = {};
    args.op = cu_view(op);
    args.v[0] = w->v[0].at;
    args.v[1] = w->v[1].at;
    args.mu_range = w->mu_range.at;
    args.totals = (CuTally(*)[ITERATE_SUMS])shared->device_tally.at;
    args.tally = args.totals;
    if (op->halo && cu_windows_are_open(cu_context_of(op)))
        args.tally = (CuTally(*)[ITERATE_SUMS])cu_window_own(cu_context_of(op))->tally;
    args.counted = cu_context_of(op)->part ? cu_context_of(op)->part->counted : nullptr;
    args.state = shared->device_state.at;
    args.stop2 = run->stop_rms * run->stop_rms * talus_all_blocks(op);
    args.stop_max2 = run->stop_max * run->stop_max;
    args.restart_limit = 0x1p62 / talus_all_blocks(op);
    args.refine_after = REFINE_AFTER;
    args.normal = w->normal.at;
    args.base = w->base.at;
    args.low = w->low.at;
    args.mass = w->mass.at;
    args.machines = cu_machines(op);
    return args;
}

/* Adds the steps of a stretch to the run and copies the residuals to it. */
static void add_results(const IterateState *state, TalusRun *run)
{
    run->done += state->done;
    run->residual2 = state->residual2;
    run->residual_max = state->residual_max;
    run->first2 = state->first2;
}

/* Scales x and x_prev into the metric, or out of it; does nothing without a metric. */
static void scale_iterates(const TalusOperator *op, const TalusAccelerated *a, bool into)
{
    if (!a->metric)
        return;
    cu_op_scale(op, a->metric, into, a->x);
    cu_op_scale(op, a->metric, into, a->x_prev);
}

/* Does a whole run of the accelerated method in double precision, as one stretch. May exchange the pointers a->x and
 * a->x_prev. */
static TalusStatus accelerate_double(const TalusOperator *op, Iterate *w, TalusAccelerated *a,
                                     IterateState *state, TalusRun *run)
{
    Stretch s = make_stretch(op, run, false, true, a->exact);
    IterateArgs args = make_args(op, w, run);
    args.trace = a->kind == TALUS_METRIC_TRACE;
    args.x[s.first] = a->x;
    args.x[1 - s.first] = a->x_prev;
    scale_iterates(op, a, false);
    TALUS_TRY(run_stretch(&s, &args, true, state));
    int now = parity_after(&s, state);
    a->x = (double *)args.x[now];
    a->x_prev = (double *)args.x[1 - now];
    scale_iterates(op, a, true);
    add_results(state, run);
    return cu_check(cu_context_of(op));
}

/* True if the run continues the one that w->kept describes: then x, x_prev, base and increments are as that one left
 * them (TalusRunOps.accelerate). */
static bool continues_last_run(const Iterate *w, const TalusOperator *op, const double *x,
                               const TalusRun *run)
{
    const Kept *kept = &w->kept;
    return kept->serial == cu_scratch_of(op)->serial && kept->x == x && run->done == 0 &&
           run->since > 0 && kept->since == run->since;
}

/* Records what the next run can continue from: nothing if a refinement is due. now: index of the iterate in w->x. */
static void record_continuation(Iterate *w, const TalusOperator *op, const double *x,
                                const TalusRun *run, const IterateState *state, int steps_before,
                                int now)
{
    const long long serial = state->stop == STOP_REFINE ? 0 : cu_scratch_of(op)->serial;
    w->kept = Kept{serial, x, run->since + run->done, steps_before + state->done, now};
}

/* Computes the gradient at the impulses x, which are w->base, in `gradient`, and writes its parts to w. */
static void set_gradient(const TalusOperator *op, Iterate *w, const double *x, double *gradient)
{
    cu_op_product(op, x, true, true, gradient);
    LAUNCH_CONES(launch, op, split_gradient, blocks_for(op->blocks), THREADS, op->blocks, gradient,
                 w->base.at, (float *)w->x[0].at, (float *)w->x[1].at, w->low.at);
}

/* Does one stretch of the accelerated method in single precision, up to the next refinement. Writes the results to a->x
 * and a->x_prev; a->g_prev is work space for the gradient at base. */
static TalusStatus accelerate_mixed(const TalusOperator *op, Iterate *w, TalusAccelerated *a,
                                    IterateState *state, TalusRun *run)
{
    Stretch s = make_stretch(op, run, true, true, a->exact);
    IterateArgs args = make_args(op, w, run);
    const bool on = continues_last_run(w, op, a->x, run);
    const int at = on ? w->kept.now : s.first;
    float *increment[2] = {(float *)w->x[at].at, (float *)w->x[1 - at].at};
    unsigned blocks = blocks_for(op->blocks);
    args.trace = a->kind == TALUS_METRIC_TRACE;
    args.x[s.first] = increment[0];
    args.x[1 - s.first] = increment[1];
    args.tangent1 = args.x[0] == w->x[0].at ? 0 : 1;
    args.steps_before = on ? w->kept.steps : 0;
    if (!on) {
        LAUNCH_CONES(launch, op, split_impulses, blocks, THREADS, op->blocks, a->metric, a->x,
                     a->x_prev, w->base.at, increment[0], increment[1]);
        set_gradient(op, w, a->x, a->g_prev);
    }
    TALUS_TRY(run_stretch(&s, &args, true, state));
    int now = parity_after(&s, state);
    LAUNCH_CONES(launch, op, join_impulses, blocks, THREADS, op->blocks, a->metric, w->base.at,
                 (const float *)args.x[now], a->x, (const float *)args.x[1 - now], a->x_prev);
    add_results(state, run);
    record_continuation(w, op, a->x, run, state, args.steps_before,
                        args.x[now] == w->x[0].at ? 0 : 1);
    return cu_check(cu_context_of(op));
}

/* True if `mixed` and no joints are eliminated: these need double precision, because in single precision the rounding
 * of velocities would leave them open. */
static bool uses_single_precision(const TalusOperator *op, bool mixed)
{
    return mixed && !op->elimination;
}

static TalusStatus accelerate_run(const TalusOperator *op, bool mixed, TalusAccelerated *a,
                                  TalusMomentum *momentum, TalusRun *run)
{
    Iterate *w;
    mixed = uses_single_precision(op, mixed);
    TALUS_TRY(iterate_of(op, &w));
    TALUS_TRY(prepare_operator(op, w, mixed, true));
    IterateState state = initial_state(momentum, a->beta);
    run->done = 0;
    do
        TALUS_TRY(mixed ? accelerate_mixed(op, w, a, &state, run)
                        : accelerate_double(op, w, a, &state, run));
    while (state.stop == STOP_REFINE && run->done < run->iterations);
    *momentum = state.momentum;
    a->beta = state.beta;
    a->warm = false;
    return TALUS_OK;
}

TalusStatus cu_accelerate_run(const TalusOperator *op, TalusAccelerated *state,
                              TalusMomentum *momentum, TalusRun *run)
{
    return accelerate_run(op, false, state, momentum, run);
}

TalusStatus cu_accelerate_run_mixed(const TalusOperator *op, TalusAccelerated *state,
                                    TalusMomentum *momentum, TalusRun *run)
{
    return accelerate_run(op, true, state, momentum, run);
}

/* Does one stretch of Jacobi's method; in double precision this is the whole run. */
static TalusStatus relax_stretch(const TalusOperator *op, bool mixed, Iterate *w, double omega,
                                 double lambda, double *gamma, IterateState *state, TalusRun *run)
{
    Stretch s = make_stretch(op, run, mixed, false, false);
    IterateArgs args = make_args(op, w, run);
    const TalusMetricBlock *none = nullptr;
    float *increment = (float *)w->x[0].at, *no_increment = nullptr;
    const double *no_x = nullptr;
    double *no_out = nullptr;
    const bool on = mixed && continues_last_run(w, op, gamma, run);
    unsigned blocks = blocks_for(op->blocks);
    args.steps_before = on ? w->kept.steps : 0;
    args.omega = omega;
    args.lambda = lambda;
    args.v[1] = args.v[0];
    args.x[0] = mixed ? (void *)increment : (void *)gamma;
    args.x[1] = mixed ? (void *)w->x[1].at : (void *)gamma;
    if (mixed && !on) {
        LAUNCH_CONES(launch, op, split_impulses, blocks, THREADS, op->blocks, none, gamma, no_x,
                     w->base.at, increment, no_increment);
        set_gradient(op, w, gamma, w->gradient.at);
    }
    TALUS_TRY(run_stretch(&s, &args, false, state));
    add_results(state, run);
    if (mixed) {
        LAUNCH_CONES(launch, op, join_impulses, blocks, THREADS, op->blocks, none, w->base.at,
                     increment, gamma, no_increment, no_out);
        record_continuation(w, op, gamma, run, state, args.steps_before, 0);
    }
    return cu_check(cu_context_of(op));
}

static TalusStatus relax_run(const TalusOperator *op, bool mixed, double omega, double lambda,
                             double *gamma, TalusRun *run)
{
    Iterate *w;
    mixed = uses_single_precision(op, mixed);
    TALUS_TRY(iterate_of(op, &w));
    TALUS_TRY(prepare_operator(op, w, mixed, false));
    if (mixed)
        TALUS_TRY(w->gradient.reserve((int64_t)op->rows * op->blocks, "gradient"));
    IterateState state = initial_state(nullptr, 0.0);
    run->done = 0;
    do
        TALUS_TRY(relax_stretch(op, mixed, w, omega, lambda, gamma, &state, run));
    while (state.stop == STOP_REFINE && run->done < run->iterations);
    return TALUS_OK;
}

TalusStatus cu_jacobi_run(const TalusOperator *op, double omega, double lambda, double *gamma,
                          TalusRun *run)
{
    return relax_run(op, false, omega, lambda, gamma, run);
}

TalusStatus cu_jacobi_run_mixed(const TalusOperator *op, double omega, double lambda, double *gamma,
                                TalusRun *run)
{
    return relax_run(op, true, omega, lambda, gamma, run);
}
