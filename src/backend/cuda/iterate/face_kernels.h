/* backend/cuda/iterate/face_kernels.h - the three kernels of a round of mprgp (face.h): bodies, product, update. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_FACE_KERNELS_H
#define TALUS_BACKEND_CUDA_ITERATE_FACE_KERNELS_H

#include "backend/cuda/device/follow.h"
#include "backend/cuda/iterate/face.h"

extern "C" {
#include "backend/face.h"
}

/* Arguments of the kernels, in constant memory, so that they take no registers. */
namespace
{
__constant__ FaceArgs face;
}

/* ---- sums ---- */

/* Returns the number of blocks of the kernels product and update that have contacts; block 0, which stores the state,
 * also counts where a rank has none. */
static __device__ inline int busy_blocks()
{
    int busy = (face.op.blocks + FACE_THREADS - 1) / FACE_THREADS;
    busy = busy > 0 ? busy : 1;
    return busy < FACE_BLOCKS ? busy : (int)FACE_BLOCKS;
}

/* Calls item(i, block, terms) for each contact i of this thread, in the kernels product and update, and adds the terms of
 * those that this rank counts, the last of them a maximum, to tally[N]. All threads of the block call it. lowest: value of
 * a maximum before `item`; block: what load(i) returns, at first for this thread's first contact: loaded earlier, beside
 * the scalars. */
template <int N, class Block, class Load, class Item>
static __device__ inline void sum_contacts(CuTally *tally, double lowest, Block block, Load load,
                                           Item item)
{
    CuSums<N - 1, 1> sums(lowest);
    int64_t i = item_index();
    for (int terms = 1; i - threadIdx.x < face.op.blocks; terms++) {
        double v[N];
        for (int k = 0; k < N; k++)
            v[k] = k < N - 1 ? 0.0 : lowest;
        if (i < face.op.blocks) {
            item(i, block, v);
            if (!face.counted || face.counted[i])
                sums.add(v);
        }
        i += grid_stride();
        block = load(i);
        if (terms % TALUS_BIN_TERMS == 0 || i - threadIdx.x >= face.op.blocks)
            add_block_sums<FACE_THREADS>(sums, tally);
    }
}

/* ---- scalars ---- */

/* Copies a state to shared memory, by all threads of a block; it is there after the next __syncthreads. */
static __device__ inline void fetch_state(const FaceState *from, FaceState *to)
{
    static_assert(sizeof *from % sizeof(double) == 0, "a state is copied in words of eight bytes");
    for (int k = (int)threadIdx.x; k < (int)(sizeof *from / sizeof(double)); k += (int)blockDim.x)
        memcpy((double *)to + k, (const double *)from + k, sizeof(double));
}

/* ---- bodies ---- */

/* After a split, with its sums: records the residual, counts the iteration, sets reached and stop. The run stops at a
 * limit on the residual, at `enough`, at a residual that is not finite, or after face.iterations. */
static __device__ inline void record_split(FaceState &s, const double *sums)
{
    s.residual2 = sums[FACE_RESIDUAL2];
    s.residual_max = sqrt(sums[FACE_RESIDUAL_MAX2]);
    if (s.done++ == 0)
        s.first2 = s.residual2;
    bool small = face.stop2 > 0.0 && s.residual2 <= face.stop2;
    small = small || (face.stop_max2 > 0.0 && sums[FACE_RESIDUAL_MAX2] <= face.stop_max2);
    s.reached = sums[FACE_FREE2] + sums[FACE_CHOPPED2] <= face.enough;
    s.stop = small || s.reached || !(s.residual2 < HUGE_VAL) || s.done >= face.iterations;
}

/* Records the split (record_split), unless an earlier run did. If the run goes on, chooses this round's task, step and
 * cg_beta: in a series of spectral steps the next one, unless the number of active blocks stays and |beta| <= gamma
 * |phi|; else on the face if |beta| <= gamma |phi|; else a proportioning. Conjugate gradients start anew, with cg_beta
 * 0, if pnp is 0 or the number of active blocks has changed. */
template <int ROWS> static __device__ inline void choose_task(FaceState &s, const double *sums)
{
    if (!s.resumed)
        record_split(s, sums);
    s.resumed = false;
    if (s.stop)
        return;
    s.step = face.step / s.norm;
    s.cg_beta = 0.0;
    const int active = (int)sums[FACE_ACTIVE];
    const bool proportional = sums[FACE_CHOPPED2] <= face.gamma2 * sums[FACE_FREE2];
    if (s.spectral.length > 0.0 && (active != s.active || !proportional)) {
        s.active = active;
        s.task = FACE_SPECTRAL;
    } else if (proportional) {
        s.spectral.length = 0.0;
        if (s.pnp > 0.0 && active == s.active)
            s.cg_beta = -(sums[FACE_PHI_NP] / s.pnp);
        s.active = active;
        s.task = FACE_ON_FACE;
    } else {
        s.task = ROWS == 1 ? FACE_PROPORTION : FACE_PROJECT;
    }
}

/* LANES: threads per body. AHEAD: contacts that a thread loads together, with one row. One thread per body, one contact
 * at a time, would have too few loads under way to use the bandwidth of memory. */
enum { LANES = 4, AHEAD = 2 };

/* The scalars that the bodies' kernel needs. */
struct FaceDecision {
    FaceTask task;
    bool stop;
    double cg_beta;
};

/* Computes state FACE_DECIDED from state FACE_UPDATED; only copies it if its task is not FACE_DECIDE. All threads of
 * the block call it; block 0 stores the state. Not inlined, to save registers. */
template <int ROWS> static __device__ __attribute__((noinline)) FaceDecision compute_task()
{
    __shared__ FaceState next;
    double
        sums[FACE_SPLIT_SUMS]; /* without meaning, and not used, unless the task is FACE_DECIDE */
    fetch_state(&face.state[FACE_UPDATED], &next);
    read_tallies<FACE_SPLIT_SUMS - 1, 1>(face.split, sums);
    if (threadIdx.x == 0) {
        if (next.task == FACE_DECIDE)
            choose_task<ROWS>(next, sums);
        if (blockIdx.x == 0)
            face.state[FACE_DECIDED] = next;
    }
    __syncthreads();
    return FaceDecision{next.task, next.stop, next.cg_beta};
}

/* With one row: adds to the sum (add_wrench) the impulses of the entries from, from + stride, .. < end of `incidence`,
 * at most AHEAD of them, which are loaded together. */
static __device__ inline void add_loaded_incidences(const CuImpulses<double> &impulses,
                                                    int32_t from, int32_t end, int stride,
                                                    double (&sum)[6])
{
    int32_t incidence[AHEAD];
    double frame[AHEAD][4], local[AHEAD][3];
    for (int k = 0; k < AHEAD; k++)
        incidence[k] = from + k * stride < end ? face.op.incidence[from + k * stride] : -1;
    for (int k = 0; k < AHEAD; k++)
        if (incidence[k] >= 0) {
            int i = incidence_contact(face.op, incidence[k]);
            load_packs<4>(face.op.frame[i], frame[k]);
            load_impulse<1>(impulses, i, local[k]);
        }
    for (int k = 0; k < AHEAD; k++) {
        if (incidence[k] < 0)
            continue;
        if ((incidence[k] >> 1) >= face.op.spheres)
            add_incidence_wrench<1>(face.op, impulses, incidence[k], sum);
        else
            for (int j = 0; j < 3; j++)
                sum[j] +=
                    incidence[k] & 1 ? local[k][0] * frame[k][j] : -(local[k][0] * frame[k][j]);
    }
}

/* Adds to the sum (add_wrench) the impulses S x of the entries begin, begin + stride, .. < end of `incidence`. */
template <int ROWS>
static __device__ inline void sum_incident_impulses(const double *x, int32_t begin, int32_t end,
                                                    int stride, double (&sum)[6])
{
    const CuImpulses<double> impulses = {x, face.sets.metric};
    if constexpr (ROWS == 1)
        for (int32_t k = begin; k < end; k += AHEAD * stride)
            add_loaded_incidences(impulses, k, end, stride, sum);
    else
        for (int32_t k = begin; k < end; k += stride)
            add_incidence_wrench<ROWS>(face.op, impulses, face.op.incidence[k], sum);
}

/* Sums this thread's share, every LANES-th entry, of the impulses S x on a body with the range `span` in `incidence`.
 * Returns false, with sum 0, if the body is block-summed. */
template <int ROWS>
static __device__ inline bool sum_thread_part(const double *x, int2 span, double (&sum)[6])
{
    for (int k = 0; k < 6; k++)
        sum[k] = 0.0;
    if (span.y - span.x > BLOCK_SUM_ABOVE)
        return false;
    sum_incident_impulses<ROWS>(x, span.x + (int)threadIdx.x % LANES, span.y, LANES, sum);
    return true;
}

/* Returns the range .x to .y - 1 of body b's entries in `incidence`; empty if there is no body b. */
static __device__ inline int2 incidence_span(int b)
{
    return b < face.op.bodies
               ? make_int2(face.op.incidence_start[b], face.op.incidence_start[b + 1])
               : make_int2(0, 0);
}

/* True if the task searches along a direction, so that N p is needed. */
static __device__ inline bool is_search(FaceTask task)
{
    return task == FACE_ON_FACE || task == FACE_PROPORTION || task == FACE_SPECTRAL;
}

/* Returns the vector whose impulses the bodies' kernel sums for a task. */
static __device__ inline const double *summed_vector(FaceTask task)
{
    return task == FACE_ON_FACE ? face.phi : is_search(task) ? face.w : face.x;
}

/* Writes the velocity of body b from `sum` over its contacts. In a search `sum` is of phi or w: adds cg_beta times
 * the old `wrench` to sum, stores sum as the new `wrench`, and velocity = M^-1 wrench. Else `sum` is of x and velocity
 * = v_f + M^-1 sum. */
static __device__ inline void store_velocity(int b, const FaceDecision &now, double (&sum)[6])
{
    const bool search = is_search(now.task);
    if (search) {
        if (now.cg_beta != 0.0) {
            double before[6];
            load_packs<6>(face.wrench[b], before);
            for (int k = 0; k < 6; k++)
                sum[k] += now.cg_beta * before[k];
        }
        store_packs<6>(sum, face.wrench[b]);
    }
    write_body_velocity(face.op, b, sum, !search, face.velocity);
}

/* Sums the impulses S x on block-summed body b, by all threads of a block, and writes its velocity. */
template <int ROWS>
static __device__ __attribute__((noinline)) void move_block_summed(const double *x, int b,
                                                                   FaceDecision now)
{
    double sum[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    sum_incident_impulses<ROWS>(x, face.op.incidence_start[b] + (int)threadIdx.x,
                                face.op.incidence_start[b + 1], FACE_BODY_THREADS, sum);
    reduce_block<6, 0>(sum);
    if (threadIdx.x == 0)
        store_velocity(b, now, sum);
}

/* The bodies' kernel. A thread's first body is summed before the task is known, with the vector of the likely one, and
 * again if it was another. Blocks without bodies return, except block 0, which stores the state. */
template <int ROWS> static __global__ void __launch_bounds__(FACE_BODY_THREADS, 4) face_bodies()
{
    enum { BODIES = FACE_BODY_THREADS / LANES };
    const int stride = FACE_BODY_BLOCKS * BODIES;
    int first = (int)blockIdx.x * BODIES, b = first + (int)threadIdx.x / LANES;
    int2 span = incidence_span(b);
    double sum[6];
    await_previous_kernel();
    if (blockIdx.x == 0)
        clear_tallies(face.searched, FACE_SEARCH_SUMS);
    const int begin = FACE_BODY_BLOCKS - 1 - (int)blockIdx.x;
    const bool idle = first >= face.op.bodies && begin >= face.op.block_summed_count;
    if (face.state[FACE_UPDATED].stop || (idle && blockIdx.x > 0))
        return;
    const FaceState &before = face.state[FACE_UPDATED];
    const FaceTask likely = before.spectral.length > 0.0 ? FACE_SPECTRAL : FACE_ON_FACE;
    const double *from = summed_vector(before.task == FACE_DECIDE ? likely : before.task);
    bool summed = sum_thread_part<ROWS>(from, span, sum);
    const FaceDecision now = compute_task<ROWS>();
    if (now.stop || now.task == FACE_PROJECT)
        return;
    if (from != summed_vector(now.task)) {
        from = summed_vector(now.task);
        summed = sum_thread_part<ROWS>(from, span, sum);
    }
    for (; first < face.op.bodies; first += stride) {
        sum_lanes<LANES>(sum);
        if (summed && b < face.op.bodies && threadIdx.x % LANES == 0)
            store_velocity(b, now, sum);
        b += stride;
        summed = sum_thread_part<ROWS>(from, incidence_span(b), sum);
    }
    for (int h = begin; h < face.op.block_summed_count; h += FACE_BODY_BLOCKS)
        move_block_summed<ROWS>(from, face.op.block_summed[h], now);
}

/* ---- product ---- */

/* Returns the largest a with x - a p in the set, for x in it; infinite if there is no bound. */
template <int ROWS>
static __device__ inline double block_limit(double mu, const double (&x)[ROWS],
                                            const double (&p)[ROWS])
{
    if constexpr (ROWS == 3)
        return talus_cone_feasible_step(mu, x, p);
    else
        return p[0] > 0.0 ? x[0] / p[0] : HUGE_VAL;
}

/* What the product's kernel reads of a contact before it knows the task: x, g and D' velocity. */
template <int ROWS> struct ProductBlock {
    double x[ROWS], g[ROWS], velocity[ROWS];
};

/* Returns the ProductBlock of contact i; zeros if there is no contact i. */
template <int ROWS> static __device__ inline ProductBlock<ROWS> load_product_block(int64_t i)
{
    ProductBlock<ROWS> b = {};
    if (i < face.op.blocks) {
        contact_velocity(face.op, (const double(*)[8])face.velocity, (int)i, b.velocity);
        load_block(face.x, (int)i, b.x);
        load_block(face.g, (int)i, b.g);
    }
    return b;
}

/* Stores block i of the direction p and of N p; adds its part of the search sums. */
template <int ROWS>
static __device__ inline void store_search_block(int i, const ProductBlock<ROWS> &b,
                                                 const double (&p)[ROWS], const double (&np)[ROWS],
                                                 double (&sums)[FACE_SEARCH_SUMS])
{
    store_block(face.p, i, p);
    store_block(face.np, i, np);
    for (int k = 0; k < ROWS; k++) {
        sums[FACE_PNP] += np[k] * p[k];
        sums[FACE_PP] += p[k] * p[k];
        sums[FACE_PG] += b.g[k] * p[k];
    }
    double limit = block_limit(cone_friction<ROWS>(face.sets, i), b.x, p);
    sums[FACE_LIMIT] = larger(sums[FACE_LIMIT], -limit);
}

/* Stores g, the new gradient at x; b.g is the old one. If `tested`, x has moved by a projected step -s from the old x
 * in w: adds s'N s, s's and s'g to the sums FACE_PNP, FACE_PP and FACE_PG; N s is the change of the gradient. */
template <int ROWS>
static __device__ inline void store_gradient_block(int i, bool tested, const ProductBlock<ROWS> &b,
                                                   const double (&g)[ROWS],
                                                   double (&sums)[FACE_SEARCH_SUMS])
{
    double before[ROWS];
    if (tested) {
        load_block(face.w, i, before);
        for (int k = 0; k < ROWS; k++) {
            double step = before[k] - b.x[k];
            sums[FACE_PNP] += (b.g[k] - g[k]) * step;
            sums[FACE_PP] += step * step;
            sums[FACE_PG] += g[k] * step;
        }
    }
    store_block(face.g, i, g);
}

/* v = block i of the vector that N multiplies in this task: phi + cg_beta p or w in a search, else x. */
template <int ROWS>
static __device__ inline void load_multiplied_block(FaceTask task, double cg_beta, int i,
                                                    const ProductBlock<ROWS> &b, double (&v)[ROWS])
{
    double old[ROWS];
    if (!is_search(task)) {
        for (int k = 0; k < ROWS; k++)
            v[k] = b.x[k];
        return;
    }
    load_block(summed_vector(task), i, v);
    if (cg_beta == 0.0)
        return;
    load_block(face.p, i, old);
    for (int k = 0; k < ROWS; k++)
        v[k] += cg_beta * old[k];
}

/* The product's kernel: in a search p, N p and the search sums, else g at x. Does nothing after a stop and for
 * FACE_PROJECT. */
template <int ROWS>
static __global__ void __launch_bounds__(FACE_THREADS, ROWS == 1 ? 2 : 1) face_product()
{
    await_previous_kernel();
    if (blockIdx.x == 0)
        clear_tallies(face.split, FACE_SPLIT_SUMS);
    if ((int)blockIdx.x >= busy_blocks())
        return;
    const ProductBlock<ROWS> first = load_product_block<ROWS>(item_index());
    const FaceState *s = &face.state[FACE_DECIDED];
    const FaceTask task = s->task;
    const bool search = is_search(task), tested = s->tested;
    const double cg_beta = search ? s->cg_beta : 0.0;
    if (s->stop || task == FACE_PROJECT)
        return;
    auto multiply = [&](int64_t i, const ProductBlock<ROWS> &b, double(&sums)[FACE_SEARCH_SUMS]) {
        double v[ROWS], u[ROWS];
        load_multiplied_block(task, cg_beta, (int)i, b, v);
        for (int k = 0; k < ROWS; k++)
            u[k] = b.velocity[k];
        if (!search)
            u[0] += face.op.bias[i];
        scale_velocity(face.op, (int)i, metric_scales(face.sets, i), v, u);
        if (search)
            store_search_block((int)i, b, v, u, sums);
        else
            store_gradient_block((int)i, tested, b, u, sums);
    };
    sum_contacts<FACE_SEARCH_SUMS>(face.searched, -HUGE_VAL, first, load_product_block<ROWS>,
                                   multiply);
}

/* ---- update ---- */

/* Directions of a step off the face: the gradient, the free gradient, the direction of search. */
enum FaceAlong { FACE_ALONG_G, FACE_ALONG_PHI, FACE_ALONG_P };

/* What the update's kernel does: x -= a p and g -= a N p, then what the flags say, in their order. */
struct FaceMove {
    double a;     /* length of the step along -p */
    double step;  /* length of the projected step of `beyond`, or step of the split (TalusFace) */
    bool project; /* project x onto the set after the step */
    bool beyond;  /* leave the face, x = P(x - step d); w gets the x before */
    FaceAlong along; /* what d is */
    bool split;      /* split the gradient into phi and beta */
    double spectral; /* > 0: w gets x - P(x - spectral g) in place of beta */
};

/* Makes the next round compute the gradient from x, with this task, and counts its product. tested: x moves by a
 * projected step; the round also tests the norm by that step, and the next direction is phi (pnp 0). */
static __device__ inline void schedule_refresh(FaceState &s, FaceTask task, bool tested)
{
    s.task = task;
    s.tested = tested;
    s.unchecked = 0;
    s.products++;
    if (tested)
        s.pnp = 0.0;
}

/* Makes the update leave the face, x = P(x - step d); the next round recomputes g. */
static __device__ inline void schedule_leave(FaceState &s, FaceAlong along, double step,
                                             FaceMove &move)
{
    move.beyond = true;
    move.along = along;
    move.step = step;
    s.by_cg = along == FACE_ALONG_P;
    schedule_refresh(s, FACE_AFRESH, true);
}

/* Makes the update split the gradient at the new x, and the next round decide. */
static __device__ inline void schedule_split(FaceState &s, FaceMove &move)
{
    move.split = true;
    move.spectral = s.spectral.length;
    move.step = face.step / s.norm;
    s.task = FACE_DECIDE;
}

/* Counts an update of the gradient. Returns true if it must be recomputed from x. */
static __device__ inline bool count_gradient_update(FaceState &s)
{
    return ++s.unchecked >= TALUS_FACE_REFRESH;
}

/* After a step along p: makes the next round compute the gradient from x, or the update split it. */
static __device__ inline void schedule_next(FaceState &s, FaceMove &move)
{
    if (count_gradient_update(s))
        schedule_refresh(s, FACE_AFRESH, false);
    else
        schedule_split(s, move);
}

/* After the search of a spectral step, with the step `best` that minimises along p and p'p: takes the step, or ends the
 * series if there is no descent. */
static __device__ inline void end_spectral_search(FaceState &s, double best, double pp,
                                                  FaceMove &move)
{
    const double pnp = s.pnp;
    s.pnp = 0.0;
    if (best > 0.0) {
        move.a = talus_spectral_choose_step(&s.spectral, best, pnp);
        move.project = true;
        talus_spectral_set_length(&s.spectral, s.norm, pnp, pp);
        schedule_next(s, move);
    } else {
        s.spectral.length = 0.0;
        schedule_split(s, move);
    }
}

/* For a step of length a along p, with p'p, that would leave the set, `limit` long to its boundary: leaves the face as
 * TalusExpansion says. A half step goes a little beyond the boundary, and is projected; a step along the free gradient
 * after it is for the next round if the gradient must be recomputed before. */
static __device__ inline void schedule_expansion(FaceState &s, double a, double limit, double pp,
                                                 FaceMove &move)
{
    if (face.expansion == TALUS_EXPAND_PROJCG && !s.rose) {
        schedule_leave(s, FACE_ALONG_P, a, move);
        return;
    }
    if (face.expansion != TALUS_EXPAND_GRADIENT) {
        move.a = limit * TALUS_FACE_OVERSHOOT;
        move.project = true;
        if (face.expansion == TALUS_EXPAND_SPECTRAL) {
            talus_spectral_begin(&s.spectral, s.norm, s.pnp, pp);
            s.pnp = 0.0;
            schedule_next(s, move);
            return;
        }
        if (count_gradient_update(s)) {
            schedule_refresh(s, FACE_BEYOND, false);
            return;
        }
    }
    schedule_leave(s, FACE_ALONG_PHI, s.step, move);
}

/* After a search on the face: leaves the face if it is solved, expands if the step would leave the set, else takes the
 * step. After another search: takes the step. */
static __device__ inline void end_search(FaceState &s, const double *sums, FaceMove &move)
{
    const bool on_face = s.task == FACE_ON_FACE;
    const double limit = -sums[FACE_LIMIT];
    double a =
        talus_face_step_length(&s.norm, &s.pnp, sums[FACE_PNP], sums[FACE_PG], sums[FACE_PP], -1.0);
    s.products++;
    if (on_face && a == 0.0) { /* the face is solved up to rounding; leave it */
        schedule_leave(s, FACE_ALONG_G, s.step, move);
    } else if (on_face && !(a < limit)) {
        schedule_expansion(s, a, limit, sums[FACE_PP], move);
    } else if (s.task == FACE_SPECTRAL) {
        end_spectral_search(s, a, sums[FACE_PP], move);
    } else {
        move.a = a;
        if (!on_face)
            s.pnp = 0.0;
        schedule_next(s, move);
    }
}

/* Returns what the update's kernel does after the product of this round, with the product's sums, and updates the
 * scalars. */
static __device__ inline FaceMove plan_move(FaceState &s, const double *sums)
{
    FaceMove move = {};
    if (is_search(s.task)) {
        end_search(s, sums, move);
    } else if (s.task == FACE_PROJECT) {
        schedule_leave(s, FACE_ALONG_G, s.step, move);
    } else if (s.task == FACE_BEYOND) {
        schedule_leave(s, FACE_ALONG_PHI, s.step, move);
    } else {
        if (s.task == FACE_AFRESH && s.tested) {
            talus_face_raise_norm(&s.norm, sums[FACE_PNP], sums[FACE_PP]);
            if (s.by_cg)
                s.rose = !(talus_face_decrease(sums[FACE_PNP], sums[FACE_PG]) > 0.0);
        }
        schedule_split(s, move);
    }
    return move;
}

/* Computes state FACE_UPDATED from state FACE_DECIDED and returns the move to all threads of the block, which all call
 * it; block 0 stores the state. Not inlined, to save registers. */
static __device__ __attribute__((noinline)) FaceMove compute_move()
{
    __shared__ FaceMove move;
    __shared__ FaceState next;
    double sums[FACE_SEARCH_SUMS];
    fetch_state(&face.state[FACE_DECIDED], &next);
    read_tallies<FACE_SEARCH_SUMS - 1, 1>(face.searched, sums);
    if (threadIdx.x == 0) {
        move = plan_move(next, sums);
        if (blockIdx.x == 0)
            face.state[FACE_UPDATED] = next;
    }
    __syncthreads();
    return move;
}

/* What the update's kernel reads of a contact before it knows the move. */
template <int ROWS> struct UpdateBlock {
    double x[ROWS], g[ROWS], p[ROWS], np[ROWS];
};

/* Returns the UpdateBlock of contact i; zeros if there is no contact i. */
template <int ROWS> static __device__ inline UpdateBlock<ROWS> load_update_block(int64_t i)
{
    UpdateBlock<ROWS> b = {};
    if (i < face.op.blocks) {
        load_block(face.x, (int)i, b.x);
        load_block(face.g, (int)i, b.g);
        load_block(face.p, (int)i, b.p);
        load_block(face.np, (int)i, b.np);
    }
    return b;
}

/* Writes phi and, in w, beta of block i, as block.split_gradient, or the spectral direction (FaceMove); adds its part
 * of the split sums. */
template <int ROWS>
static __device__ inline void split_block(int i, double mu, const FaceMove &move,
                                          const UpdateBlock<ROWS> &b,
                                          double (&sums)[FACE_SPLIT_SUMS])
{
    const double step = move.step;
    const double(&x)[ROWS] = b.x, (&g)[ROWS] = b.g;
    double phi[ROWS], beta[ROWS];
    const bool active = is_active(mu, x);
    for (int k = 0; k < ROWS; k++) {
        phi[k] = active ? 0.0 : g[k];
        beta[k] = x[k] - step * g[k];
    }
    zero_immovable_rows(mu, phi);
    project_block(mu, beta);
    for (int k = 0; k < ROWS; k++) {
        beta[k] = active ? (x[k] - beta[k]) / step : 0.0;
        sums[FACE_FREE2] += phi[k] * phi[k];
        sums[FACE_CHOPPED2] += beta[k] * beta[k];
        sums[FACE_PHI_NP] += phi[k] * b.np[k];
    }
    sums[FACE_ACTIVE] += active ? 1.0 : 0.0;
    if (move.spectral > 0.0) {
        for (int k = 0; k < ROWS; k++)
            beta[k] = x[k] - move.spectral * g[k];
        project_block(mu, beta);
        for (int k = 0; k < ROWS; k++)
            beta[k] = x[k] - beta[k];
    }
    store_block(face.phi, i, phi);
    store_block(face.w, i, beta);
    double r2 = natural_residual2(face.sets, i, metric_scales(face.sets, i), x, g);
    sums[FACE_RESIDUAL2] += r2;
    sums[FACE_RESIDUAL_MAX2] = larger(sums[FACE_RESIDUAL_MAX2], r2);
}

/* Stores x in w; then x = P(x - step d) with the d of move.along. */
template <int ROWS>
static __device__ inline void leave_face_block(int i, double mu, const FaceMove &move,
                                               UpdateBlock<ROWS> &b)
{
    const bool free_only = move.along == FACE_ALONG_PHI, active = free_only && is_active(mu, b.x);
    double d[ROWS];
    for (int k = 0; k < ROWS; k++)
        d[k] = move.along == FACE_ALONG_P ? b.p[k] : active ? 0.0 : b.g[k];
    if (free_only)
        zero_immovable_rows(mu, d);
    store_block(face.w, i, b.x);
    for (int k = 0; k < ROWS; k++)
        b.x[k] = b.x[k] - move.step * d[k];
    project_block(mu, b.x);
}

/* Does what `move` says at block i; adds to the split sums if move.split. */
template <int ROWS>
static __device__ inline void update_block(int i, const FaceMove &move, UpdateBlock<ROWS> &b,
                                           double (&sums)[FACE_SPLIT_SUMS])
{
    const double mu = cone_friction<ROWS>(face.sets, i);
    if (move.a != 0.0) {
        for (int k = 0; k < ROWS; k++) {
            b.x[k] -= move.a * b.p[k];
            b.g[k] -= move.a * b.np[k];
        }
        store_block(face.g, i, b.g);
    }
    if (move.project)
        project_block(mu, b.x);
    if (move.beyond)
        leave_face_block(i, mu, move, b);
    if (move.a != 0.0 || move.beyond)
        store_block(face.x, i, b.x);
    if (move.split)
        split_block<ROWS>(i, mu, move, b, sums);
}

/* The update's kernel (plan_move). After a stop it only copies the stop to state FACE_UPDATED. */
template <int ROWS>
static __global__ void __launch_bounds__(FACE_THREADS, ROWS == 1 ? 2 : 1) face_update()
{
    await_previous_kernel();
    if (face.state[FACE_DECIDED].stop) {
        if (item_index() == 0)
            face.state[FACE_UPDATED].stop = true;
        return;
    }
    if ((int)blockIdx.x >= busy_blocks())
        return;
    const UpdateBlock<ROWS> first = load_update_block<ROWS>(item_index());
    const FaceMove move = compute_move();
    auto update = [&](int64_t i, UpdateBlock<ROWS> &b, double(&sums)[FACE_SPLIT_SUMS]) {
        update_block<ROWS>((int)i, move, b, sums);
    };
    sum_contacts<FACE_SPLIT_SUMS>(face.split, 0.0, first, load_update_block<ROWS>, update);
}

#endif
