/* backend/cuda/iterate/iterate_resident.h - all iterations of a run in one kernel, for small problems.
 *
 * The time of a small problem is spent waiting for launches, sums and loads, not for memory bandwidth. Here a thread
 * keeps its contacts (RESIDENT_PER_THREAD) in registers from the first iteration to the last, with the previous iterate
 * and its gradient. A contact then reads only the velocities of its bodies, and a body only the impulses of its
 * contacts and constant data. Blocks, one per processor, synchronise twice in an iteration: after the bodies and after
 * the contacts. After its own bodies the last warp of each block reads the sums of the previous step and computes the
 * next state, which is the same in every block. V, in args.v[0], is the velocity of the current iterate. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_RESIDENT_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_RESIDENT_H

#include "backend/cuda/device/together.h"
#include "backend/cuda/iterate/iterate_bodies.h"
#include "backend/cuda/iterate/iterate_contacts.h"

/* ---- blocks ---- */

/* Returns this block's range of the items: .x to .y - 1. */
static __device__ inline int2 block_range(int items)
{
    int each = (items + RESIDENT_BLOCKS - 1) / RESIDENT_BLOCKS;
    int begin = each * (int)blockIdx.x, end = begin + each;
    return make_int2(begin < items ? begin : items, end < items ? end : items);
}

/* ---- bodies ---- */

/* resident_lanes: threads that sum the impulses on one body, neighbours in a warp; four without momentum, whose kernel
 * has more threads, enough for a body each. RESIDENT_WARP: threads that compute the next state. */
#ifdef TALUS_EMULATED
enum { RESIDENT_WARP = 1 };
template <bool MOMENTUM> __host__ __device__ constexpr int resident_lanes()
{
    return 1;
}
#else
enum { RESIDENT_WARP = 32 };
template <bool MOMENTUM> __host__ __device__ constexpr int resident_lanes()
{
    return MOMENTUM ? 2 : 4;
}
#endif

/* Number of entries of `incidence` that each of a body's LANES threads keeps in registers. */
template <int LANES> __host__ __device__ constexpr int held_incidences()
{
    return LANES == 1 ? 4 : 8 / LANES;
}

/* Adds up the sums of a body's LANES threads; all of them get the result. */
template <int LANES, class T> static __device__ inline void sum_body_lanes(T (&sum)[6])
{
#ifdef TALUS_EMULATED
    (void)sum;
#else
    const unsigned group = ((1u << LANES) - 1u) << (threadIdx.x & (32u - LANES));
    for (int k = 0; k < 6; k++)
        for (int off = LANES / 2; off > 0; off /= 2)
            sum[k] += __shfl_xor_sync(group, sum[k], off);
#endif
}

/* What a thread keeps of its first body, so that the impulses of its contacts can be loaded at once. */
template <int LANES> struct HeldBody {
    bool block_summed;                           /* the body is block-summed */
    int2 span;                                   /* range of the body's entries in `incidence` */
    int32_t incidence[held_incidences<LANES>()]; /* this thread's first entries; -1: none */
    /* In single precision the frame of entry k is frame[k * blockDim.x], in shared memory: a barrier over all blocks
     * empties the first-level cache. */
    float4 *frame;
};

/* Returns the contact of a body's entry in `incidence`. */
template <bool GENERAL> static __device__ inline int entry_contact(int32_t incidence)
{
    return GENERAL ? incidence_contact(args.op, incidence) : incidence >> 1;
}

/* Keep the frame of contact i for entry k of the body, and get it again; in double precision, where frames do not fit
 * into shared memory, it is loaded. */
template <int LANES>
static __device__ inline void keep_frame(const HeldBody<LANES> &h, int k, int i, float)
{
    float f[4];
    load_frame(i, f);
    h.frame[k * (int)blockDim.x] = make_float4(f[0], f[1], f[2], f[3]);
}

template <int LANES>
static __device__ inline void keep_frame(const HeldBody<LANES> &, int, int, double)
{
}

template <int LANES>
static __device__ inline void kept_frame(const HeldBody<LANES> &h, int k, int, float (&frame)[4])
{
    const float4 f = h.frame[k * (int)blockDim.x];
    frame[0] = f.x;
    frame[1] = f.y;
    frame[2] = f.z;
    frame[3] = f.w;
}

template <int LANES>
static __device__ inline void kept_frame(const HeldBody<LANES> &, int, int i, double (&frame)[4])
{
    load_frame(i, frame);
}

/* Loads what this thread keeps of its first body. bodies: range of the bodies of its block; frames: shared memory,
 * blockDim.x times held_incidences() of them in single precision. */
template <class T, bool GENERAL, int LANES>
static __device__ inline void load_held_body(int2 bodies, float4 *frames, HeldBody<LANES> &h)
{
    const int lane = (int)threadIdx.x % LANES;
    const int b = bodies.x + (int)threadIdx.x / LANES;
    h.span = b < bodies.y ? incidence_span(b) : make_int2(0, 0);
    h.block_summed = h.span.y - h.span.x > BLOCK_SUM_ABOVE;
    h.frame = frames + threadIdx.x;
    for (int k = 0; k < held_incidences<LANES>(); k++) {
        int at = h.span.x + lane + k * LANES;
        h.incidence[k] = at < h.span.y ? args.op.incidence[at] : -1;
        if (h.incidence[k] >= 0)
            keep_frame(h, k, entry_contact<GENERAL>(h.incidence[k]), T(0));
    }
}

/* Adds to `sum` this thread's share of the impulses x on its first body: of the held entries, then of those beyond
 * them. */
template <class T, int ROWS, bool GENERAL, int LANES>
static __device__ inline void sum_held_impulses(const T *x, const HeldBody<LANES> &h, T (&sum)[6])
{
    enum { HELD = held_incidences<LANES>() };
    const int lane = (int)threadIdx.x % LANES;
    T frame[HELD][4] = {}, local[HELD][ROWS] = {};
    for (int k = 0; k < HELD; k++)
        if (h.incidence[k] >= 0) {
            int i = entry_contact<GENERAL>(h.incidence[k]);
            load_vector<ROWS>(x, i, local[k]);
            kept_frame(h, k, i, frame[k]);
        }
    for (int k = 0; k < HELD; k++)
        add_contact_impulse<T, ROWS, GENERAL>(h.incidence[k], frame[k], local[k], sum);
    sum_incident_impulses<T, ROWS, GENERAL>(x, h.span.x + lane + HELD * LANES, h.span.y, LANES,
                                            sum);
}

/* Stores V of body b from its record v and this thread's part of the sum over its contacts; both are changed. All
 * threads of the body call it; the first one stores. */
template <class T, bool GENERAL, int LANES>
static __device__ inline void store_summed_velocity(int b, T (&v)[8], T (&sum)[6])
{
    sum_body_lanes<LANES>(sum);
    if (threadIdx.x % LANES)
        return;
    apply_impulse<T, GENERAL>(b, sum, v);
    store_packs<8>(v, (T *)args.v[0] + 8 * (int64_t)b);
}

/* Computes V, for impulses x, of this block's range of bodies without block-summed ones, and of every
 * RESIDENT_BLOCKS-th block-summed body. All threads of the block call it. */
template <class T, int ROWS, bool GENERAL, int LANES>
static __device__ inline void compute_block_velocities(const T *x, int2 bodies,
                                                       const HeldBody<LANES> &held)
{
    const int lane = (int)threadIdx.x % LANES, abreast = (int)blockDim.x / LANES;
    int b = bodies.x + (int)threadIdx.x / LANES;
    T v[8];
    if (b < bodies.y && !held.block_summed) {
        T sum[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
        load_body_record(b, v);
        sum_held_impulses<T, ROWS, GENERAL>(x, held, sum);
        store_summed_velocity<T, GENERAL, LANES>(b, v, sum);
    }
    for (b += abreast; b < bodies.y; b += abreast) {
        int2 span = incidence_span(b);
        if (span.y - span.x > BLOCK_SUM_ABOVE)
            continue;
        T sum[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
        load_body_record(b, v);
        sum_incident_impulses<T, ROWS, GENERAL>(x, span.x + lane, span.y, LANES, sum);
        store_summed_velocity<T, GENERAL, LANES>(b, v, sum);
    }
    for (int h = (int)blockIdx.x; h < args.op.block_summed_count; h += RESIDENT_BLOCKS)
        move_block_summed<T, ROWS, GENERAL>(x, args.op.block_summed[h], 0);
}

/* ---- scalars ---- */

/* Makes the threads of a warp wait for each other. */
static __device__ inline void await_warp()
{
#ifndef TALUS_EMULATED /* emulated: one thread */
    __syncwarp();
#endif
}

/* Computes *state and *next, both in shared memory, after a step with these tallies: by the last warp of the block,
 * which has the fewest bodies; other threads return. check: the step measured the residual; next: scalars of the step
 * before, then of the next one. */
template <bool MOMENTUM, bool FLOAT>
static __device__ inline void update_resident_state(const CuTally *tally, bool check,
                                                    IterateState *state, StepScalars *next)
{
    __shared__ double sums[ITERATE_SUMS];
    const int lane = (int)threadIdx.x - ((int)blockDim.x - RESIDENT_WARP);
    if (lane < 0)
        return;
    for (int k = lane; check && k < ITERATE_SUMS; k += RESIDENT_WARP)
        sums[k] = k == RESIDUAL_MAX2 ? tally_max(&tally[k]) : tally_sum(&tally[k]);
    if (MOMENTUM && !check && lane == 0)
        sums[RESTART] = read_restart(tally, state->momentum.restart_scale);
    await_warp();
    if (lane == 0) {
        *state = state_after_step<MOMENTUM, FLOAT>(*state, check, sums);
        *next = step_scalars(*state, next->mu);
    }
}

/* ---- contacts ---- */

/* What a thread keeps of a contact. */
template <class T, int ROWS> struct HeldContact {
    int2 pair;
    T frame[4];
    T x[ROWS], before[ROWS]; /* iterate and previous iterate */
    T u[ROWS];               /* gradient at `before`, less g */
    T gamma[ROWS]; /* Base.gamma, which is a float in single precision, so that T holds it */
    T compliance;
    double g[ROWS]; /* Base.g */
    Weights<T> w;
};

/* Returns the Base of a held contact. */
template <class T, int ROWS>
static __device__ inline Base<T, ROWS> held_base(const HeldContact<T, ROWS> &h)
{
    Base<T, ROWS> base;
    for (int k = 0; k < ROWS; k++) {
        base.gamma[k] = (double)h.gamma[k];
        base.g[k] = h.g[k];
    }
    base.compliance = h.compliance;
    return base;
}

/* u = gradient at x less h.g, from the bodies' velocities va and vb for x. */
template <class T, int ROWS, bool GENERAL>
static __device__ inline void held_gradient(int i, const HeldContact<T, ROWS> &h, const T (&va)[8],
                                            const T (&vb)[8], const T (&x)[ROWS], T (&u)[ROWS])
{
    relative_velocity<T, ROWS, GENERAL>(i, h.frame, va, vb, u);
    u[0] += h.compliance * x[0];
}

/* Loads contact i. args.v[0] holds V of the previous iterate at this point, which gives h.u. */
template <class T, int ROWS, bool GENERAL, bool MOMENTUM>
static __device__ inline void load_held_contact(int i, HeldContact<T, ROWS> &h)
{
    T va[8], vb[8];
    Base<T, ROWS> base;
    h.pair = args.op.pair[i];
    load_frame(i, h.frame);
    load_base(i,
              {load_vector<ROWS>((const T *)args.x[0], i, h.x),
               load_vector<ROWS>((const T *)args.x[1], i, h.before)},
              base);
    h.compliance = base.compliance;
    for (int k = 0; k < ROWS; k++) {
        h.gamma[k] = (T)base.gamma[k];
        h.g[k] = base.g[k];
    }
    if (!MOMENTUM) /* args.x[1] is then no iterate */
        for (int k = 0; k < ROWS; k++)
            h.before[k] = h.x[k];
    load_records(args.v[0], h.pair, va, vb);
    h.w = contact_weights<T, ROWS, GENERAL>(i, h.compliance, va, vb);
    held_gradient<T, ROWS, GENERAL>(i, h, va, vb, h.before, h.u);
}

/* One accelerated step at held contact i, with V of h.x in args.v[0]: h.x becomes the next iterate, h.before the
 * present one, h.u the gradient there; adds the sums of the step. */
template <class T, int ROWS, bool GENERAL, bool CHECK, bool EXACT>
static __device__ inline void accelerate_held(const StepScalars &c, int i, HeldContact<T, ROWS> &h,
                                              double (&sums)[ITERATE_SUMS])
{
    T va[8], vb[8], u[ROWS], dx[ROWS], du[ROWS], y[ROWS], next[ROWS], restart = T(0);
    load_records(args.v[0], h.pair, va, vb);
    held_gradient<T, ROWS, GENERAL>(i, h, va, vb, h.x, u);
    const double mu = contact_friction<ROWS>(c, i);
    Base<T, ROWS> base = held_base(h);
    if constexpr (EXACT)
        base.g[0] += coulomb_shift(base, mu, u);
    for (int k = 0; k < ROWS; k++) {
        dx[k] = h.x[k] - h.before[k];
        du[k] = u[k] - h.u[k];
    }
    if constexpr (CHECK) {
        add_residual(base, mu, h.w, h.x, u, sums);
        add_step_changes(h.w, h.x, dx, du, sums);
    }
    for (int k = 0; k < ROWS; k++) {
        h.before[k] = h.x[k];
        h.u[k] = u[k];
        y[k] = h.x[k] + (T)c.beta * dx[k];
        u[k] += (T)c.ahead * du[k];
    }
    take_projected_step(base, mu, c.step, h.w.n, h.w.t, y, u, next);
    for (int k = 0; k < ROWS; k++) {
        restart += (k ? h.w.t : h.w.n) * (y[k] - next[k]) * (next[k] - h.x[k]);
        h.x[k] = next[k];
    }
    sums[RESTART] += (double)restart;
}

/* One Jacobi step at held contact i: h.x becomes the next iterate; adds the residual of the old one if CHECK. */
template <class T, int ROWS, bool GENERAL, bool CHECK>
static __device__ inline void relax_held(const StepScalars &c, int i, HeldContact<T, ROWS> &h,
                                         double (&sums)[ITERATE_SUMS])
{
    T va[8], vb[8], u[ROWS], next[ROWS];
    load_records(args.v[0], h.pair, va, vb);
    held_gradient<T, ROWS, GENERAL>(i, h, va, vb, h.x, u);
    const double mu = contact_friction<ROWS>(c, i);
    const Base<T, ROWS> base = held_base(h);
    if constexpr (CHECK)
        add_residual(base, mu, h.w, h.x, u, sums);
    take_projected_step(base, mu, args.omega, h.w.d, h.w.d, h.x, u, next);
    for (int k = 0; k < ROWS; k++)
        h.x[k] += (T)args.lambda * (next[k] - h.x[k]);
}

/* ---- the run ---- */

/* Runs the statement that follows for each contact i that this thread keeps, as held[k]. */
#define FOR_HELD(i, k)                                                          \
    for (int k = 0, i = contacts.x + (int)threadIdx.x; k < RESIDENT_PER_THREAD; \
         k++, i += (int)blockDim.x)                                             \
        if (i < contacts.y)

/* One step at the contacts that this thread keeps, of the block's range; stores the next iterate in args.x[0] and adds
 * the block's sums to the tallies. All threads of the block call it. */
template <class T, int ROWS, bool GENERAL, bool MOMENTUM, bool EXACT, bool CHECK>
static __device__ inline void step_held(const StepScalars &c, int2 contacts,
                                        HeldContact<T, ROWS> (&held)[RESIDENT_PER_THREAD],
                                        CuTally *tally)
{
    StepSums<MOMENTUM, CHECK> sums;
    FOR_HELD(i, k)
    {
        double terms[ITERATE_SUMS] = {0.0};
        if constexpr (MOMENTUM)
            accelerate_held<T, ROWS, GENERAL, CHECK, EXACT>(c, i, held[k], terms);
        else
            relax_held<T, ROWS, GENERAL, CHECK>(c, i, held[k], terms);
        store_vector<ROWS>((T *)args.x[0], i, held[k].x, fourth_of(held_base(held[k]), 0));
        sums.add(c, terms);
    }
    sums.template add_to<resident_threads<T, MOMENTUM>()>(tally);
}

/* The kernel: at most run.steps iterations (ResidentRun). */
template <class T, int ROWS, bool GENERAL, bool MOMENTUM, bool EXACT>
static __global__ void __launch_bounds__(resident_threads<T, MOMENTUM>(), 1)
    iterate_resident(ResidentRun run)
{
    enum {
        LANES = resident_lanes<MOMENTUM>(),
        FRAMES = sizeof(T) == sizeof(float)
                     ? held_incidences<LANES>() * resident_threads<T, MOMENTUM>()
                     : 1
    };
    __shared__ IterateState state;
    __shared__ StepScalars scalars;
    __shared__ float4 frames[FRAMES];
    static_assert(sizeof frames <= 40 * 1024, "sums and state take 7 of the 48 KiB of a block");
    HeldContact<T, ROWS> held[RESIDENT_PER_THREAD];
    HeldBody<LANES> body;
    const int2 contacts = block_range(args.op.blocks), bodies = block_range(args.op.bodies);
    unsigned goal = 0;
    T *x = (T *)args.x[0];
    if (threadIdx.x == 0) {
        state = run.state;
        scalars = step_scalars(state, common_friction<ROWS>());
    }
    load_held_body<T, GENERAL>(bodies, frames, body);
    compute_block_velocities<T, ROWS, GENERAL>((const T *)args.x[MOMENTUM], bodies, body);
    await_all_blocks(run.arrived, goal);
    FOR_HELD(i, k)
    load_held_contact<T, ROWS, GENERAL, MOMENTUM>(i, held[k]);
    await_all_blocks(run.arrived, goal);
    bool check = false;
    for (int t = 0;; t++) {
        compute_block_velocities<T, ROWS, GENERAL>(x, bodies, body);
        if (t > 0)
            update_resident_state<MOMENTUM, sizeof(T) == sizeof(float)>(args.tally[~t & 1], check,
                                                                        &state, &scalars);
        await_all_blocks(run.arrived, goal);
        if (t == run.steps || state.stop)
            break;
        check = (run.phase + t) % run.check == 0 || t + 1 == run.steps;
        const StepScalars c = scalars;
        if (check)
            step_held<T, ROWS, GENERAL, MOMENTUM, EXACT, true>(c, contacts, held,
                                                               args.tally[t & 1]);
        else
            step_held<T, ROWS, GENERAL, MOMENTUM, EXACT, false>(c, contacts, held,
                                                                args.tally[t & 1]);
        if (blockIdx.x == 0) /* all blocks have read the sums of the step before */
            clear_tallies(args.tally[~t & 1], ITERATE_SUMS);
        await_all_blocks(run.arrived, goal);
    }
    if (MOMENTUM)
        FOR_HELD(i, k)
    store_vector<ROWS>((T *)args.x[1], i, held[k].before, fourth_of(held_base(held[k]), 1));
    if (item_index() == 0)
        args.state[0] = state;
}

#undef FOR_HELD

#endif
