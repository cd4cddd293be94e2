/* backend/cuda/iterate/iterate_bodies.h - the bodies' kernel of iterate.h: scalars of the next step, velocities. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_BODIES_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_BODIES_H

#include "backend/cuda/iterate/iterate_load.h"

extern "C" {
#include "backend/momentum.h"
}

/* In single precision a refinement is due when residual2 is below REFINE_AT^2 times SIZE2, the sum of d^2 |x|^2 over
 * the increments x since the last refinement: then the residual is near the rounding of N x. It is due at the latest
 * after args.refine_after steps, and not before a sixteenth of them. */
static constexpr double REFINE_AT = 2e-5;

/* ---- scalars between iterations ---- */

/* Size of RESTART of a step in integers if it is that of the step before. The rounding of a hundred million terms is
 * then less than a thousandth of the sum. A single term, at most restart_limit, may be 64 times the sum among a million
 * contacts, and half of it among a hundred million; a larger one counts as that much. */
static constexpr double RESTART_UNITS = 0x1p36;

/* Returns TalusMomentum.restart_scale after a step whose sum was `restart`. A sum may be small because its terms cancel,
 * so the scale grows only sixteenfold in a step. */
static __device__ inline double next_restart_scale(double scale, double restart)
{
    const double largest = 1e300; /* times a term of 0 it is 0 */
    const double matching = fmin(RESTART_UNITS / fabs(restart), largest);
    return scale > 0.0 ? fmin(matching, fmin(16.0 * scale, largest)) : matching;
}

/* Returns the state after a step with these sums, s the state before it. check: the step measured the residual; only
 * then sums other than RESTART are read, and the state may stop. */
template <bool MOMENTUM, bool FLOAT>
static __device__ inline IterateState state_after_step(IterateState s, bool check,
                                                       const double *sums)
{
    s.done++;
    if (MOMENTUM) {
        TalusStepSums step = {};
        step.restart = sums[RESTART];
        double &scale = s.momentum.restart_scale;
        if (check || scale > 0.0)
            scale = next_restart_scale(scale, step.restart);
        if (check) {
            step.dx2 = sums[DX2];
            step.dg2 = sums[DG2];
            step.x2 = sums[X2];
        }
        talus_momentum_update(&s.momentum, &step, check, FLOAT ? FLT_EPSILON : DBL_EPSILON,
                              &s.beta);
    }
    if (!check)
        return s;
    s.residual2 = sums[RESIDUAL2];
    if (MOMENTUM)
        talus_momentum_adapt_bound(&s.momentum, s.residual2, &s.beta);
    s.residual_max = sqrt(sums[RESIDUAL_MAX2]);
    if (s.first2 < 0.0)
        s.first2 = s.residual2;
    bool reached = s.residual2 <= args.stop2 && args.stop2 > 0.0;
    reached = reached || (sums[RESIDUAL_MAX2] <= args.stop_max2 && args.stop_max2 > 0.0);
    if (reached || !(s.residual2 < HUGE_VAL))
        s.stop = STOP_REACHED;
    const int steps = args.steps_before + s.done;
    if (s.stop == GO && FLOAT && steps >= args.refine_after / 16 &&
        (steps >= args.refine_after || s.residual2 < REFINE_AT * REFINE_AT * sums[SIZE2]))
        s.stop = STOP_REFINE;
    return s;
}

/* Returns RESTART of a step that did not measure the residual; scale: restart_scale of that step. */
static __device__ inline double read_restart(const CuTally *tally, double scale)
{
    return scale > 0.0 ? (double)(long long)__ldcg(&tally[RESTART].bin[0]) / scale : 0.0;
}

/* Reads the sums of the previous step, `before` being the state before it: without `check` only RESTART, and nothing in
 * Jacobi's method. Valid in thread 0. */
template <bool MOMENTUM>
static __device__ inline void read_step_sums(const CuTally *tally, bool check,
                                             const IterateState *before,
                                             double (&sums)[ITERATE_SUMS])
{
    if (check)
        read_tallies<ITERATE_SUMS - 1, 1>(tally, sums);
    else if (MOMENTUM && threadIdx.x == 0)
        sums[RESTART] = read_restart(tally, before->momentum.restart_scale);
}

/* Computes state[parity] from the other state and the sums of the step since; only copies the other state, with fresh
 * false, if that is fresh or has stopped. All threads of a block call it; every block gets the same result, and block 0
 * stores the state and empties the tallies of the next step. Returns its `stop`. Not inlined, to save registers. */
template <bool MOMENTUM, bool FLOAT>
static __device__ __attribute__((noinline)) int compute_next_state(int parity, int seen)
{
    __shared__ IterateState next;
    const IterateState *before = &args.state[1 - parity];
    const bool step = !before->fresh && !before->stop, check = seen == SEEN_CHECK;
    double sums[ITERATE_SUMS] = {0.0};
    /* meaningless, and not used, unless there was a step */
    read_step_sums<MOMENTUM>(args.totals[1 - parity], check, before, sums);
    if (blockIdx.x == 0)
        clear_tallies(args.tally[parity], ITERATE_SUMS);
    if (threadIdx.x == 0) {
        next = step ? state_after_step<MOMENTUM, FLOAT>(*before, check, sums) : *before;
        next.fresh = false;
        if (blockIdx.x == 0)
            args.state[parity] = next;
    }
    __syncthreads();
    return next.stop;
}

/* ---- bodies ---- */

/* Adds the impulse x of a contact on a body, and minus its torque, to the sum, as add_wrench in ops/operator.h;
 * `incidence` is the body's entry for the contact. With frame and x all 0 it adds nothing. */
template <class T, int ROWS, bool GENERAL>
static __device__ inline void add_contact_impulse(int32_t incidence, const T (&frame)[4],
                                                  const T (&x)[ROWS], T (&sum)[6])
{
    const T sign = incidence & 1 ? T(1) : T(-1);
    T local[3], p[3], t[3], arm[3];
    for (int k = 0; k < 3; k++)
        local[k] = k < ROWS ? x[k < ROWS ? k : 0] : T(0);
    frame_world(frame, local, p);
    T turn = T(1);
    for (int k = 0; k < 3; k++)
        arm[k] = frame[k];
    if constexpr (GENERAL) {
        int general = incidence_contact(args.op, incidence) - args.op.spheres;
        if (general >= 0) {
            turn = -sign;
            for (int k = 0; k < 3; k++)
                arm[k] = (T)args.op.arm[general][3 * (incidence & 1) + k];
        }
    }
    cross(arm, p, t);
    for (int k = 0; k < 3; k++) {
        sum[k] += sign * p[k];
        sum[3 + k] += turn * t[k];
    }
}

/* Adds the impulses of the entries begin, begin + stride, .. < end of `incidence` to the sum; AHEAD of them are loaded
 * together. */
template <class T, int ROWS, bool GENERAL>
static __device__ inline void sum_incident_impulses(const T *x, int32_t begin, int32_t end,
                                                    int stride, T (&sum)[6])
{
    enum { AHEAD = 16 / sizeof(T) };
    for (int32_t from = begin; from < end; from += AHEAD * stride) {
        int32_t incidence[AHEAD];
        T frame[AHEAD][4] = {}, local[AHEAD][ROWS] = {}; /* zeros add nothing */
        for (int k = 0; k < AHEAD; k++)
            incidence[k] = from + k * stride < end ? args.op.incidence[from + k * stride] : -1;
        for (int k = 0; k < AHEAD; k++)
            if (incidence[k] >= 0) {
                int i = GENERAL ? incidence_contact(args.op, incidence[k]) : incidence[k] >> 1;
                load_frame(i, frame[k]);
                load_vector<ROWS>(x, i, local[k]);
            }
        for (int k = 0; k < AHEAD; k++)
            add_contact_impulse<T, ROWS, GENERAL>(incidence[k], frame[k], local[k], sum);
    }
}

/* Loads a body's record: in double precision with v_f, in single with 0, as the gradient at base contains v_f. */
static __device__ inline void load_body_record(int b, double (&v)[8])
{
    load_packs<8>(args.op.body[b], v);
}

static __device__ inline void load_body_record(int b, float (&v)[8])
{
    float2 mass = args.mass[b];
    for (int k = 0; k < 8; k++)
        v[k] = 0.0f;
    v[3] = mass.x;
    v[7] = mass.y;
}

/* v += M^-1 times the sum over a body's contacts (add_contact_impulse). */
template <class T, bool GENERAL>
static __device__ inline void apply_impulse(int b, const T (&sum)[6], T (&v)[8])
{
    T turn[3];
    if constexpr (GENERAL) {
        T m[6];
        for (int k = 0; k < 6; k++)
            m[k] = (T)args.op.inverse_inertia[b][k];
        turn[0] = m[0] * sum[3] + m[3] * sum[4] + m[4] * sum[5];
        turn[1] = m[3] * sum[3] + m[1] * sum[4] + m[5] * sum[5];
        turn[2] = m[4] * sum[3] + m[5] * sum[4] + m[2] * sum[5];
    } else {
        for (int k = 0; k < 3; k++)
            turn[k] = v[7] * sum[3 + k];
    }
    for (int k = 0; k < 3; k++) {
        v[k] += v[3] * sum[k];
        v[4 + k] -= turn[k];
    }
}

/* Stores V of body b, from the sum over its contacts, in args.v[parity]. */
template <class T, bool GENERAL>
static __device__ inline void store_body_velocity(int b, int parity, const T (&sum)[6])
{
    T v[8];
    load_body_record(b, v);
    apply_impulse<T, GENERAL>(b, sum, v);
    store_packs<8>(v, (T *)args.v[parity] + 8 * (int64_t)b);
}

/* Returns the range .x to .y - 1 of body b's entries in `incidence`. */
static __device__ inline int2 incidence_span(int b)
{
    return make_int2(args.op.incidence_start[b], args.op.incidence_start[b + 1]);
}

/* Sums the impulses x on a body with the range `span` in `incidence`. Returns false, with sum 0, if the body is
 * block-summed. */
template <class T, int ROWS, bool GENERAL>
static __device__ inline bool sum_by_one_thread(const T *x, int2 span, T (&sum)[6])
{
    for (int k = 0; k < 6; k++)
        sum[k] = T(0);
    if (span.y - span.x > BLOCK_SUM_ABOVE)
        return false;
    sum_incident_impulses<T, ROWS, GENERAL>(x, span.x, span.y, 1, sum);
    return true;
}

/* Sums the impulses x on block-summed body b, by all threads of a block, and stores its V. Not inlined, to save
 * registers elsewhere. */
template <class T, int ROWS, bool GENERAL>
static __device__ __attribute__((noinline)) void move_block_summed(const T *x, int b, int parity)
{
    T sum[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    double total[6];
    sum_incident_impulses<T, ROWS, GENERAL>(x, args.op.incidence_start[b] + (int)threadIdx.x,
                                            args.op.incidence_start[b + 1], (int)blockDim.x, sum);
    for (int k = 0; k < 6; k++)
        total[k] = (double)sum[k];
    reduce_block<6, 0>(total);
    for (int k = 0; k < 6; k++)
        sum[k] = (T)total[k];
    if (threadIdx.x == 0)
        store_body_velocity<T, GENERAL>(b, parity, sum);
}

/* The bodies' kernel. A thread sums its first body before the scalars are computed, which only tell whether to go on.
 * The range of its contacts in `incidence`, constant during a run, is loaded before waiting for the previous kernel. */
template <class T, int ROWS, bool GENERAL, bool MOMENTUM>
static __global__ void __launch_bounds__(BODY_THREADS, GENERAL || sizeof(T) == 8 ? 5 : 8)
    iterate_bodies(int parity, int seen)
{
    const int stride = BODY_BLOCKS * BODY_THREADS;
    T sum[6] = {};
    int b = (int)(blockIdx.x * BODY_THREADS + threadIdx.x);
    int2 span = b < args.op.bodies ? incidence_span(b) : make_int2(0, 0);
    await_previous_kernel();
    const bool idle = (int)(blockIdx.x * BODY_THREADS) >= args.op.bodies &&
                      BODY_BLOCKS - 1 - (int)blockIdx.x >= args.op.block_summed_count;
    if (idle && blockIdx.x > 0) /* block 0 stores the state */
        return;
    const T *x = (const T *)args.x[MOMENTUM ? parity : 0];
    bool summed = sum_by_one_thread<T, ROWS, GENERAL>(x, span, sum);
    if (seen != SEEN_START &&
        compute_next_state<MOMENTUM, sizeof(T) == sizeof(float)>(parity, seen) != GO)
        return;
    while (b < args.op.bodies) {
        if (summed)
            store_body_velocity<T, GENERAL>(b, parity, sum);
        b += stride;
        if (b < args.op.bodies)
            summed = sum_by_one_thread<T, ROWS, GENERAL>(x, incidence_span(b), sum);
    }
    for (int h = BODY_BLOCKS - 1 - (int)blockIdx.x; h < args.op.block_summed_count;
         h += BODY_BLOCKS)
        move_block_summed<T, ROWS, GENERAL>(x, args.op.block_summed[h], parity);
}

/* The machines' kernel: makes V satisfy the joints. */
static __global__ void __launch_bounds__(RESPONSE_THREADS) iterate_machines(int parity, int seen)
{
    await_previous_kernel();
    if (seen != SEEN_START && args.state[parity].stop)
        return;
    double *shared = cu_machine_shared();
    const bool dense = args.machines.response != nullptr;
    double(*velocity)[8] = (double(*)[8])args.v[parity];
    const TalusMachines e =
        dense ? args.machines.machines : cu_machines_in_shared(&args.machines, shared);
    for (int m = (int)blockIdx.x; m < e.machines; m += MACHINE_BLOCKS) {
        if (dense)
            cu_machine_apply_dense(&args.machines, m, velocity, shared);
        else
            talus_machine_apply(&e, m, velocity, cu_thread_team());
    }
}

/* Computes the state after the last step, without a further step; one block. */
template <bool MOMENTUM, bool FLOAT> static __global__ void iterate_conclude(int parity, int seen)
{
    await_previous_kernel();
    compute_next_state<MOMENTUM, FLOAT>(parity, seen);
}

#endif
