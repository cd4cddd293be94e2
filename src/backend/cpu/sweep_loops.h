/* backend/cpu/sweep_loops.h - coloured Gauss-Seidel sweeps in one precision; included by sweep.c for doubles and by
 * sweep_single.c for floats, which define:
 *     Real, Vector, Bits     type of a number, of a vector of them, and of the result of a comparison of two vectors
 *     WIDTH, SMALLEST2       number of lanes of a Vector; as TINY2 (base/lane.h)
 *     OP(name)               name of a function of base/lane.h or base/lane4.h; OP_SPREAD(a): a in all lanes
 *     Pack, ARRAYS(sweep)    type of a pack; address of the struct with `velocity`, `term` and `pack`
 *     SLIP(sweep)            slips of all packs, NULL if they are 0 or write_velocity contains them
 *     write_velocity         u = contact velocities of a pack
 *     opening                normal velocities of a pack, with bias and compliance
 *     change_velocities      applies changes of impulses to the bodies of a pack
 *     what sweep_items.h needs
 *     general_chunk          loop over packs of general contacts; a macro GENERAL_PACKS says that there are some
 * All operations are those of scalar code in a fixed order, whatever the processor. */
/* A step is one long chain of dependent operations; with one pack after the other the processor would wait for results.
 * So each part of the step is done for BATCH packs before the next part, and the projection for WIDE packs side by
 * side: its statements are loops over packs, which the compiler unrolls. ITEMS_WIDE: the same for items. */
enum { BATCH = 16, WIDE = 4, ITEMS_WIDE = 2 };

/* What is constant in a loop over packs. fixed: b is a fixed body; averaged: rho is not 1. */
typedef struct PackLoop {
    Real (*velocity)[8];
    Vector rho;
    bool fixed, averaged;
    const Vector (*slip)[3]; /* slips of the packs, world frame; NULL: 0 */
} PackLoop;

/* Takes the projected step of `wide` packs at the contact velocities u: their impulses, world frame, become old + rho
 * (projected - old). On return u is the change of the impulses. mu / |t| is computed as (mu / t2) |t| with t2 = |t|^2,
 * so that the division does not wait for the root. `wide` is a constant after inlining. */
KERNEL void step_packs(PackLoop loop, Pack *pack, int wide, Vector u[][3])
{
    Vector normal[WIDE], along[WIDE], t[WIDE][3], t2[WIDE], size[WIDE], shrink[WIDE];
    for (int w = 0; w < wide; w++) {
        Vector gamma_n = OP(dot)(pack[w].normal, pack[w].gamma);
        normal[w] = gamma_n - pack[w].inv_n * opening(&pack[w], u[w], gamma_n);
    }
    for (int w = 0; w < wide; w++) {
        for (int k = 0; k < 3; k++)
            t[w][k] = pack[w].gamma[k] - pack[w].inv_t * u[w][k];
        along[w] = OP(dot)(pack[w].normal, t[w]);
    }
    for (int w = 0; w < wide; w++) {
        for (int k = 0; k < 3; k++)
            t[w][k] -= along[w] * pack[w].normal[k];
        t2[w] = OP(dot)(t[w], t[w]);
    }
    for (int w = 0; w < wide; w++) {
        size[w] = OP(sqrt)(t2[w]);
        shrink[w] = pack[w].mu / OP(select)(t2[w] > SMALLEST2, t2[w], OP_SPREAD(1));
    }
    for (int w = 0; w < wide; w++) {
        Bits inside = size[w] <= pack[w].mu * normal[w];   /* for mu 0 true also at the apex, */
        Bits apex = pack[w].kappa * size[w] <= -normal[w]; /* so that apex takes precedence */
        Vector mantle = (normal[w] + pack[w].kappa * size[w]) * pack[w].mantle;
        shrink[w] = shrink[w] * size[w] * mantle;
        normal[w] = (Vector)(~apex & (Bits)OP(select)(inside, normal[w], mantle));
        shrink[w] = (Vector)(~apex & (Bits)OP(select)(inside, OP_SPREAD(1), shrink[w]));
    }
    for (int w = 0; w < wide; w++)
        for (int k = 0; k < 3; k++) {
            Vector next = normal[w] * pack[w].normal[k] + shrink[w] * t[w][k];
            if (loop.averaged)
                next = pack[w].gamma[k] + loop.rho * (next - pack[w].gamma[k]);
            u[w][k] = next - pack[w].gamma[k];
            pack[w].gamma[k] = next;
        }
}

/* Takes the step of `count` packs of one colour, at most BATCH, and updates the velocities of their bodies. Writes the
 * squared velocity change of each contact to `term`; returns, by lane, the largest of these and of `most`. */
KERNEL Vector sweep_packs(PackLoop loop, Pack *pack, int count, Vector most, Real *term)
{
    Vector u[BATCH][3];
    int i = 0;
    for (int k = 0; k < count; k++)
        write_velocity(&pack[k], (const Real(*)[8])loop.velocity, loop.fixed, u[k]);
    for (int k = 0; loop.slip && k < count; k++)
        for (int c = 0; c < 3; c++)
            u[k][c] += loop.slip[k][c];
    for (; i + WIDE <= count; i += WIDE)
        step_packs(loop, &pack[i], WIDE, &u[i]);
    for (; i < count; i++)
        step_packs(loop, &pack[i], 1, &u[i]);
    for (int k = 0; k < count; k++) {
        Vector change2 = pack[k].scale * pack[k].scale * OP(dot)(u[k], u[k]);
        OP(store)(term + WIDTH * k, change2);
        most = OP(select)(change2 > most, change2, most);
        change_velocities(&pack[k], loop.fixed, u[k], loop.velocity);
    }
    return most;
}

#include "backend/cpu/sweep_items.h"

/* ---- loops ---- */

/* A parallel loop over packs or items from `first` on; fixed: the packs are of spheres and fixed bodies. */
typedef struct Loop {
    TalusSweep *sweep;
    int first;
    bool fixed;
} Loop;

/* Number of items by which prefetching of body records, which are scattered in memory, is ahead. */
enum { AHEAD = 6 };

/* Prefetches the velocity records of a pack's bodies for writing. */
KERNEL void prefetch_bodies(const Pack *pack, Real (*velocity)[8], bool fixed)
{
    for (int k = 0; k < WIDTH; k++) {
        __builtin_prefetch(velocity[pack->a[k]], 1);
        if (!fixed)
            __builtin_prefetch(velocity[pack->b[k]], 1);
    }
}

/* sweep_packs for packs [begin, end), with prefetching; `term` starts at pack 0. Returns the largest squared velocity
 * change. */
KERNEL Real sweep_range(PackLoop loop, Pack *pack, int64_t begin, int64_t end, Real *term)
{
    Vector most = OP_SPREAD(0);
    Real largest = 0;
    for (int64_t i = begin; i < end; i += BATCH) {
        int count = end - i < BATCH ? (int)(end - i) : BATCH;
        for (int64_t k = i + BATCH; k < end && k < i + 2 * BATCH; k++)
            prefetch_bodies(&pack[k], loop.velocity, loop.fixed);
        PackLoop part = loop;
        part.slip = loop.slip ? loop.slip + i : NULL;
        most = sweep_packs(part, &pack[i], count, most, term + WIDTH * i);
    }
    for (int k = 0; k < WIDTH; k++)
        largest = most[k] > largest ? most[k] : largest;
    return largest;
}

/* Sweeps packs [begin, end) of a Loop; stores the largest squared velocity change of the chunk. */
static void pack_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Loop *loop = context;
    TalusSweep *sweep = loop->sweep;
    const double rho = sweep->options.rho;
    Pack *pack = ARRAYS(sweep)->pack + loop->first;
    Real *term = ARRAYS(sweep)->term + WIDTH * (int64_t)loop->first;
    Real(*velocity)[8] = ARRAYS(sweep)->velocity;
    const Vector share = OP_SPREAD((Real)rho);
    const Vector(*slip)[3] = SLIP(sweep);
    slip = slip ? slip + loop->first : NULL;
    double most; /* each call is compiled for its constants */
    if (rho != 1.0)
        most = sweep_range((PackLoop){velocity, share, loop->fixed, true, slip}, pack, begin, end,
                           term);
    else if (loop->fixed)
        most = sweep_range((PackLoop){velocity, share, true, false, slip}, pack, begin, end, term);
    else
        most = sweep_range((PackLoop){velocity, share, false, false, slip}, pack, begin, end, term);
    sweep->partial[chunk] = most;
}

/* Takes the step of `wide` items of one colour, which share no body that impulses move, side by side as for packs, and
 * updates the velocities of their bodies. Writes the squared velocity change of each item to `term`; returns the
 * largest of these and of `most`. */
KERNEL Real sweep_items(TalusSweep *sweep, SweepItem *item, int wide, Real most, Real *term)
{
    double u[ITEMS_WIDE][3], dp[ITEMS_WIDE][3];
    for (int w = 0; w < wide; w++)
        item_velocity(sweep, &item[w], u[w]);
    for (int w = 0; w < wide; w++)
        step_item(&item[w], sweep->options.rho, u[w], dp[w]);
    for (int w = 0; w < wide; w++) {
        apply_change(sweep, &item[w], dp[w]);
        term[w] = item_change2(sweep, &item[w], dp[w]);
        most = term[w] > most ? term[w] : most;
    }
    return most;
}

/* Prefetches velocity records and inverse inertias of an item's bodies. */
KERNEL void prefetch_item_bodies(const TalusSweep *sweep, const SweepItem *item)
{
    int b = item->b >= 0 ? item->b : item->a;
    __builtin_prefetch(ARRAYS(sweep)->velocity[item->a], 1);
    __builtin_prefetch(ARRAYS(sweep)->velocity[b], 1);
    if (sweep->op->inverse_inertia) {
        __builtin_prefetch(sweep->op->inverse_inertia[item->a]);
        __builtin_prefetch(sweep->op->inverse_inertia[b]);
    }
}

/* Returns the address of an item's squared velocity change in sweep->term, where those of packs come first. */
static Real *item_term(const TalusSweep *sweep, int64_t item)
{
    return ARRAYS(sweep)->term + WIDTH * (int64_t)sweep->pack_start[COLOURS - 1][3] + item;
}

/* Sweeps items [begin, end) of a Loop; stores the largest squared velocity change of the chunk. */
static void item_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Loop *loop = context;
    SweepItem *item = loop->sweep->item + loop->first;
    Real *term = item_term(loop->sweep, loop->first), most = 0;
    int64_t i = begin;
    for (; i + ITEMS_WIDE <= end; i += ITEMS_WIDE) {
        for (int w = 0; w < ITEMS_WIDE && i + AHEAD + w < end; w++)
            prefetch_item_bodies(loop->sweep, &item[i + AHEAD + w]);
        most = sweep_items(loop->sweep, &item[i], ITEMS_WIDE, most, term + i);
    }
    for (; i < end; i++)
        most = sweep_items(loop->sweep, &item[i], 1, most, term + i);
    loop->sweep->partial[chunk] = most;
}

/* Takes the step of heavy items at the velocities before any of them changed, and stores the changes of their impulses
 * in sweep->change; sweep_heavy applies these to the bodies afterwards. */
static void heavy_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Loop *loop = context;
    TalusSweep *sweep = loop->sweep;
    Real *term = item_term(sweep, loop->first), most = 0;
    for (int64_t i = begin; i < end; i++) {
        SweepItem *item = &sweep->item[loop->first + i];
        double u[3], *dp = sweep->change[i];
        item_velocity(sweep, item, u);
        step_item(item, sweep->options.rho, u, dp);
        term[i] = item_change2(sweep, item, dp);
        most = term[i] > most ? term[i] : most;
    }
    sweep->partial[chunk] = most;
}

/* Runs fn, `name` in a profile, in parallel over packs or items first to end - 1. Returns the largest squared velocity
 * change of these and of `most`. */
#define run_in_parallel(loop, end, grain, fn, most) \
    run_named((loop), (end), (grain), (fn), (most), TALUS_LOOP_NAME(fn))
static double run_named(Loop loop, int end, int grain, TalusLoopFn *fn, double most,
                        const char *name)
{
    int count = end - loop.first;
    if (count == 0)
        return most;
    talus_parallel_named(loop.sweep->op->pool, count, grain, fn, &loop, name);
    double found = talus_sweep_largest(loop.sweep, talus_chunks(count, grain));
    return found > most ? found : most;
}

_Static_assert(PACK_GRAIN *WIDTH >= ITEM_GRAIN, "talus_sweep_reserve_terms counts on it");

/* Returns the number of packs per chunk of a loop over `count` packs: one chunk for each thread, in whole batches. The
 * packs of one colour take a few microseconds, so that threads with one chunk more than others would hold all up. */
static int pack_grain(const TalusSweep *sweep, int count)
{
    int threads = talus_pool_threads(sweep->op->pool);
    int share = (count + threads - 1) / threads;
    int batches = (share + BATCH - 1) / BATCH;
    if (count <= FEW_PACKS)
        return FEW_PACKS;
    return batches * BATCH > PACK_GRAIN ? batches * BATCH : PACK_GRAIN;
}

/* Brings the velocities that a phase needs from other ranks. */
static void bring(TalusSweep *sweep, int phase)
{
    talus_sweep_bring(sweep, phase, ARRAYS(sweep)->velocity, sizeof *ARRAYS(sweep)->velocity);
}

/* Sweeps the overflow items one after the other, on several ranks level by level. Returns the largest squared velocity
 * change of these and of `most`. */
static double sweep_overflow(TalusSweep *sweep, double most)
{
    const SweepPart *part = sweep->part;
    if (!sweep->op->halo)
        for (int i = sweep->item_start[CLASS_OVERFLOW]; i < sweep->item_start[CLASS_HEAVY]; i++)
            most = sweep_items(sweep, &sweep->item[i], 1, (Real)most, item_term(sweep, i));
    for (int level = 0; sweep->op->halo && level < part->levels; level++) {
        bring(sweep, part->colours + level);
        for (int k = part->tail_start[level]; k < part->tail_start[level + 1]; k++)
            most = sweep_items(sweep, &sweep->item[part->tail[k]], 1, (Real)most,
                               item_term(sweep, part->tail[k]));
    }
    return most;
}

/* Sweeps the heavy items. Returns the largest squared velocity change of these and of `most`. */
static double sweep_heavy(TalusSweep *sweep, double most)
{
    int first = sweep->item_start[CLASS_HEAVY], end = sweep->item_start[CLASSES];
    if (sweep->op->halo)
        bring(sweep, sweep->part->phases - 1);
    most = run_in_parallel(((Loop){sweep, first, false}), end, ITEM_GRAIN, heavy_chunk, most);
    for (int i = first; i < end; i++)
        apply_change(sweep, &sweep->item[i], sweep->change[i - first]);
    return most;
}

/* Returns the bytes that a sweep over `packs` packs of one colour must move: packs and the velocities of their bodies,
 * of which packs of one colour share none, in; impulses, velocities and terms out. */
static double pack_bytes(int packs, bool fixed)
{
    double velocities = (fixed ? 1 : 2) * 8 * WIDTH * sizeof(Real);
    return packs * (sizeof(Pack) + 3.0 * sizeof(Vector) + 2.0 * velocities + sizeof(Vector));
}

/* Does one coloured sweep. Returns the sum of the squared velocity changes and sets *largest to the largest of them,
 * both of all ranks and in units of `term`. */
static double sweep_colours(TalusSweep *sweep, double *largest)
{
    double most = 0.0;
    for (int c = 0; c < sweep->colouring.colours; c++) {
        const int *packs = sweep->pack_start[c], *items = sweep->item_start + c;
        const Loop moving = {sweep, packs[0], false}, fixed = {sweep, packs[1], true};
        const Loop general = {sweep, items[0], false};
        int moving_packs = packs[1] - packs[0], fixed_packs = packs[2] - packs[1];
        bring(sweep, c);
        talus_profile_expect_bytes(pack_bytes(moving_packs, false));
        most = run_in_parallel(moving, packs[1], pack_grain(sweep, moving_packs), pack_chunk, most);
        talus_profile_expect_bytes(pack_bytes(fixed_packs, true));
        most = run_in_parallel(fixed, packs[2], pack_grain(sweep, fixed_packs), pack_chunk, most);
        talus_profile_expect_bytes(0.0);
#ifdef GENERAL_PACKS
        const Loop general_packs = {sweep, packs[2], false};
        most = run_in_parallel(general_packs, packs[3], pack_grain(sweep, packs[3] - packs[2]),
                               general_chunk, most);
#endif
        most = run_in_parallel(general, items[1], ITEM_GRAIN, item_chunk, most);
    }
    most = sweep_overflow(sweep, most);
    most = sweep_heavy(sweep, most);
    most = talus_cpu_find_maximum(sweep->op, most);
    *largest = most;
    return talus_sweep_sum(
        sweep, item_term(sweep, sweep->item_start[CLASSES]) - ARRAYS(sweep)->term, most);
}
