/* backend/cpu/sweep.c - Gauss-Seidel sweeps over contacts (negrut-2009, Algorithm 1, step 4).
 *
 * Each contact in turn gets the impulse gamma + rho (gamma' - gamma) with gamma' = P(gamma - omega B^-1 g), g = u +
 * bias + E gamma, u from the current velocities of the bodies, and P the projection in the metric B. The change of the
 * impulse is applied to the bodies at once; only heavy contacts (colour.h) change together. B = diag(b_n, b_t, b_t),
 * see StepRule. For spheres with omega 1 and the anisotropic metric, B is the contact's whole block of N + E, so that
 * the step solves the contact's own problem exactly. With options.coulomb P first makes n >= 0, then shortens t to mu
 * n. */
#include "backend/cpu/sweep.h"

#include "base/memory.h"
#include "base/status.h"

#include <math.h>

/* ---- two sphere contacts ---- */

/* Stores the velocity records of two bodies, at p and q, from the lanes of v. */
KERNEL void store_two_bodies(double *p, double *q, const Lane v[8])
{
    lane_store(p, lane_low(v[0], v[1]));
    lane_store(p + 2, lane_low(v[2], v[3]));
    lane_store(p + 4, lane_low(v[4], v[5]));
    lane_store(p + 6, lane_low(v[6], v[7]));
    lane_store(q, lane_high(v[0], v[1]));
    lane_store(q + 2, lane_high(v[2], v[3]));
    lane_store(q + 4, lane_high(v[4], v[5]));
    lane_store(q + 6, lane_high(v[6], v[7]));
}

/* Number of packs that are computed side by side: statements are loops over packs, which the compiler unrolls. A step
 * is one long chain of dependent operations; with one pack after the other the processor would wait for results. */
enum { WIDE = 2 };

/* next = the impulses, world frame, after projected steps at the contact velocities u: old + rho (projected - old). mu
 * / |t| is computed as (mu / t2) |t| with t2 = |t|^2, so that the division does not wait for the root. */
KERNEL void step_packs(const SpherePack *pack, int wide, Lane rho, Lane u[WIDE][3],
                       Lane next[WIDE][3])
{
    Lane normal[WIDE], along[WIDE], t[WIDE][3], t2[WIDE], size[WIDE], shrink[WIDE];
    for (int w = 0; w < wide; w++) {
        Lane gamma_n = lane_dot(pack[w].normal, pack[w].gamma);
        Lane opening = lane_dot(pack[w].normal, u[w]) + pack[w].bias + pack[w].compliance * gamma_n;
        normal[w] = gamma_n - pack[w].inv_n * opening;
    }
    for (int w = 0; w < wide; w++) {
        for (int k = 0; k < 3; k++)
            t[w][k] = pack[w].gamma[k] - pack[w].inv_t * u[w][k];
        along[w] = lane_dot(pack[w].normal, t[w]);
    }
    for (int w = 0; w < wide; w++) {
        for (int k = 0; k < 3; k++)
            t[w][k] -= along[w] * pack[w].normal[k];
        t2[w] = lane_dot(t[w], t[w]);
    }
    for (int w = 0; w < wide; w++) {
        size[w] = lane_sqrt(t2[w]);
        shrink[w] = pack[w].mu / lane_select(t2[w] > TINY2, t2[w], lane(1.0));
    }
    for (int w = 0; w < wide; w++) {
        Mask inside = size[w] <= pack[w].mu * normal[w];   /* for mu 0 true also at the apex, */
        Mask apex = pack[w].kappa * size[w] <= -normal[w]; /* so that apex takes precedence */
        Lane mantle = (normal[w] + pack[w].kappa * size[w]) * pack[w].mantle;
        shrink[w] = shrink[w] * size[w] * mantle;
        normal[w] = (Lane)(~apex & (Mask)lane_select(inside, normal[w], mantle));
        shrink[w] = (Lane)(~apex & (Mask)lane_select(inside, lane(1.0), shrink[w]));
    }
    for (int w = 0; w < wide; w++)
        for (int k = 0; k < 3; k++) {
            Lane full = normal[w] * pack[w].normal[k] + shrink[w] * t[w][k];
            next[w][k] = pack[w].gamma[k] + rho * (full - pack[w].gamma[k]);
        }
}

/* Takes the step of `wide` packs of one colour and updates the velocities of their bodies. Writes the squared velocity
 * change of each contact to `term`; returns, by lane, the largest of these and of `most`. fixed: b is a fixed body.
 * `wide` and `fixed` are constants after inlining. */
KERNEL Lane sweep_packs(SpherePack *pack, int wide, double (*velocity)[8], Lane rho, bool fixed,
                        Lane most, double *term)
{
    Lane a[WIDE][8], b[WIDE][8], u[WIDE][3], next[WIDE][3], change2[WIDE];
    for (int w = 0; w < wide; w++) {
        lane_gather(velocity[pack[w].a[0]], velocity[pack[w].a[1]], 4, a[w]);
        if (!fixed)
            lane_gather(velocity[pack[w].b[0]], velocity[pack[w].b[1]], 4, b[w]);
    }
    for (int w = 0; w < wide; w++) {
        Lane spin[3], turn[3];
        for (int k = 0; k < 3; k++)
            spin[k] = fixed ? a[w][4 + k] : a[w][4 + k] + b[w][4 + k];
        lane_cross(spin, pack[w].normal, turn);
        for (int k = 0; k < 3; k++)
            u[w][k] = fixed ? -a[w][k] - turn[k] : b[w][k] - a[w][k] - turn[k];
    }
    step_packs(pack, wide, rho, u, next);
    for (int w = 0; w < wide; w++) {
        Lane dp[3], turn[3];
        for (int k = 0; k < 3; k++) {
            dp[k] = next[w][k] - pack[w].gamma[k];
            pack[w].gamma[k] = next[w][k];
        }
        lane_cross(pack[w].normal, dp, turn);
        for (int k = 0; k < 3; k++) {
            a[w][k] -= a[w][3] * dp[k];
            a[w][4 + k] -= a[w][7] * turn[k];
            b[w][k] += fixed ? lane(0.0) : b[w][3] * dp[k];
            b[w][4 + k] -= fixed ? lane(0.0) : b[w][7] * turn[k];
        }
        change2[w] = pack[w].scale * pack[w].scale * lane_dot(dp, dp);
    }
    for (int w = 0; w < wide; w++) {
        store_two_bodies(velocity[pack[w].a[0]], velocity[pack[w].a[1]], a[w]);
        if (!fixed)
            store_two_bodies(velocity[pack[w].b[0]], velocity[pack[w].b[1]], b[w]);
    }
    for (int w = 0; w < wide; w++) {
        lane_store(term + LANES * w, change2[w]);
        most = lane_select(change2[w] > most, change2[w], most);
    }
    return most;
}

/* ---- one contact of any kind ---- */

/* u = velocity of b relative to a at the contact, world frame; b < 0 is the fixed world. */
KERNEL void item_velocity(const SweepItem *item, const double (*velocity)[8], double u[3])
{
    const double *a = velocity[item->a];
    double turn[3];
    talus_cross3(a + 4, item->arm_a, turn);
    for (int k = 0; k < 3; k++)
        u[k] = -a[k] - turn[k];
    if (item->b < 0)
        return;
    const double *b = velocity[item->b];
    talus_cross3(b + 4, item->arm_b, turn);
    for (int k = 0; k < 3; k++)
        u[k] += b[k] + turn[k];
}

/* Takes the projected step of one contact at the contact velocity u, as step_packs, and stores its impulse in the
 * item; dp = change of the impulse. */
KERNEL void step_item(SweepItem *item, double rho, const double u[3], double dp[3])
{
    const double *n = item->normal;
    const StepRule *rule = &item->rule;
    double gamma_n = dot3(n, item->gamma), t[3];
    double normal = gamma_n - rule->inv_n * (dot3(n, u) + item->bias + item->compliance * gamma_n);
    for (int k = 0; k < 3; k++)
        t[k] = item->gamma[k] - rule->inv_t * u[k];
    double along = dot3(n, t);
    for (int k = 0; k < 3; k++)
        t[k] -= along * n[k];
    double size = sqrt(dot3(t, t)), shrink = 1.0;
    if (size > rule->mu * normal || normal < 0.0) {
        bool apex = rule->kappa * size <= -normal;
        normal = apex ? 0.0 : (normal + rule->kappa * size) * rule->mantle;
        shrink = apex || size == 0.0 ? 0.0 : rule->mu * normal / size;
    }
    for (int k = 0; k < 3; k++) {
        double full = normal * n[k] + shrink * t[k];
        double next = item->gamma[k] + rho * (full - item->gamma[k]);
        dp[k] = next - item->gamma[k];
        item->gamma[k] = next;
    }
}

/* Applies the change dp of an item's impulse, world frame, to its bodies: -dp to a, dp to b. */
KERNEL void apply_change(TalusSweep *sweep, const SweepItem *item, const double dp[3])
{
    talus_body_add_impulse(sweep->op, item->a, -1.0, item->arm_a, dp, sweep->velocity[item->a]);
    if (item->b >= 0)
        talus_body_add_impulse(sweep->op, item->b, 1.0, item->arm_b, dp, sweep->velocity[item->b]);
}

/* ---- loops ---- */

/* A parallel loop over packs or items from `first` on; fixed: the packs are of spheres and fixed bodies. */
typedef struct Loop {
    TalusSweep *sweep;
    int first;
    bool fixed;
} Loop;

/* Number of packs or items by which prefetching of body records, which are scattered in memory, is ahead. */
enum { AHEAD = 6 };

/* Prefetches the velocity records of a pack's bodies for writing. */
KERNEL void prefetch_bodies(const SpherePack *pack, double (*velocity)[8], bool fixed)
{
    for (int k = 0; k < LANES; k++) {
        __builtin_prefetch(velocity[pack->a[k]], 1);
        if (!fixed)
            __builtin_prefetch(velocity[pack->b[k]], 1);
    }
}

/* sweep_packs for packs [begin, end), with prefetching; `term` starts at pack 0. */
KERNEL Lane sweep_range(SpherePack *pack, int64_t begin, int64_t end, double (*velocity)[8],
                        Lane rho, bool fixed, double *term)
{
    Lane most = lane(0.0);
    int64_t i = begin;
    for (; i + WIDE <= end; i += WIDE) {
        for (int w = 0; w < WIDE && i + AHEAD + w < end; w++)
            prefetch_bodies(&pack[i + AHEAD + w], velocity, fixed);
        most = sweep_packs(&pack[i], WIDE, velocity, rho, fixed, most, term + LANES * i);
    }
    for (; i < end; i++)
        most = sweep_packs(&pack[i], 1, velocity, rho, fixed, most, term + LANES * i);
    return most;
}

/* Sweeps packs [begin, end) of a Loop; stores the largest squared velocity change of the chunk. */
static void pack_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Loop *loop = context;
    SpherePack *pack = loop->sweep->pack + loop->first;
    double(*velocity)[8] = loop->sweep->velocity;
    Lane rho = lane(loop->sweep->options.rho);
    double *term = loop->sweep->term + LANES * (int64_t)loop->first;
    Lane most = loop->fixed ? sweep_range(pack, begin, end, velocity, rho, true, term)
                            : sweep_range(pack, begin, end, velocity, rho, false, term);
    loop->sweep->partial[chunk] = most[0] > most[1] ? most[0] : most[1];
}

/* Takes the step of `wide` items of one colour, which share no body that impulses move, side by side as for packs, and
 * updates the velocities of their bodies. Writes the squared velocity change of each item to `term`; returns the
 * largest of these and of `most`. */
KERNEL double sweep_items(TalusSweep *sweep, SweepItem *item, int wide, double most, double *term)
{
    double u[WIDE][3], dp[WIDE][3];
    for (int w = 0; w < wide; w++)
        item_velocity(&item[w], (const double(*)[8])sweep->velocity, u[w]);
    for (int w = 0; w < wide; w++)
        step_item(&item[w], sweep->options.rho, u[w], dp[w]);
    for (int w = 0; w < wide; w++) {
        apply_change(sweep, &item[w], dp[w]);
        term[w] = item[w].rule.scale * item[w].rule.scale * dot3(dp[w], dp[w]);
        most = term[w] > most ? term[w] : most;
    }
    return most;
}

/* Prefetches velocity records and inverse inertias of an item's bodies. */
KERNEL void prefetch_item_bodies(const TalusSweep *sweep, const SweepItem *item)
{
    int b = item->b >= 0 ? item->b : item->a;
    __builtin_prefetch(sweep->velocity[item->a], 1);
    __builtin_prefetch(sweep->velocity[b], 1);
    if (sweep->op->inverse_inertia) {
        __builtin_prefetch(sweep->op->inverse_inertia[item->a]);
        __builtin_prefetch(sweep->op->inverse_inertia[b]);
    }
}

/* Returns the address of an item's squared velocity change in sweep->term, where those of packs come first. */
static double *item_term(const TalusSweep *sweep, int64_t item)
{
    return sweep->term + LANES * (int64_t)sweep->pack_start[COLOURS - 1][2] + item;
}

/* Sweeps items [begin, end) of a Loop; stores the largest squared velocity change of the chunk. */
static void item_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Loop *loop = context;
    SweepItem *item = loop->sweep->item + loop->first;
    double *term = item_term(loop->sweep, loop->first), most = 0.0;
    int64_t i = begin;
    for (; i + WIDE <= end; i += WIDE) {
        for (int w = 0; w < WIDE && i + AHEAD + w < end; w++)
            prefetch_item_bodies(loop->sweep, &item[i + AHEAD + w]);
        most = sweep_items(loop->sweep, &item[i], WIDE, most, term + i);
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
    double *term = item_term(sweep, loop->first), most = 0.0;
    for (int64_t i = begin; i < end; i++) {
        SweepItem *item = &sweep->item[loop->first + i];
        double u[3], *dp = sweep->change[i];
        item_velocity(item, (const double(*)[8])sweep->velocity, u);
        step_item(item, sweep->options.rho, u, dp);
        term[i] = item->rule.scale * item->rule.scale * dot3(dp, dp);
        most = term[i] > most ? term[i] : most;
    }
    sweep->partial[chunk] = most;
}

/* Runs fn in parallel over packs or items first to end - 1. Returns the largest squared velocity change of these and of
 * `most`. */
static double run_in_parallel(TalusSweep *sweep, int first, int end, int grain, bool fixed,
                              TalusLoopFn *fn, double most)
{
    Loop loop = {sweep, first, fixed};
    talus_parallel(sweep->op->pool, end - first, grain, fn, &loop);
    double found = talus_sweep_largest(sweep, talus_chunks(end - first, grain));
    return found > most ? found : most;
}

/* Sweeps the heavy items. Returns the largest squared velocity change of these and of `most`. */
static double sweep_heavy(TalusSweep *sweep, double most)
{
    int first = sweep->item_start[CLASS_HEAVY], end = sweep->item_start[CLASSES];
    most = run_in_parallel(sweep, first, end, ITEM_GRAIN, false, heavy_chunk, most);
    for (int i = first; i < end; i++)
        apply_change(sweep, &sweep->item[i], sweep->change[i - first]);
    return most;
}

/* Does one coloured sweep. Returns the sum of the squared velocity changes. */
static double sweep_colours(TalusSweep *sweep)
{
    double most = 0.0;
    for (int c = 0; c < sweep->colouring.colours; c++) {
        const int *packs = sweep->pack_start[c], *items = sweep->item_start + c;
        most = run_in_parallel(sweep, packs[0], packs[1], PACK_GRAIN, false, pack_chunk, most);
        most = run_in_parallel(sweep, packs[1], packs[2], PACK_GRAIN, true, pack_chunk, most);
        most = run_in_parallel(sweep, items[0], items[1], ITEM_GRAIN, false, item_chunk, most);
    }
    for (int i = sweep->item_start[CLASS_OVERFLOW]; i < sweep->item_start[CLASS_HEAVY]; i++)
        most = sweep_items(sweep, &sweep->item[i], 1, most, item_term(sweep, i));
    most = sweep_heavy(sweep, most);
    return talus_sweep_sum(sweep, item_term(sweep, sweep->item_start[CLASSES]) - sweep->term, most);
}

/* Does one sweep in sequence. Returns the sum of the squared velocity changes; of a symmetric sweep, that of its
 * backward half alone. */
static double sweep_in_sequence(TalusSweep *sweep)
{
    double sum = 0.0, term;
    if (sweep->options.order == TALUS_ORDER_RANDOM)
        talus_sweep_shuffle(sweep);
    for (int i = 0; i < sweep->op->blocks; i++) {
        sweep_items(sweep, &sweep->item[sweep->order[i]], 1, 0.0, &term);
        sum += term;
    }
    if (sweep->options.order != TALUS_ORDER_SYMMETRIC)
        return sum;
    sum = 0.0;
    for (int i = sweep->op->blocks - 1; i >= 0; i--) {
        sweep_items(sweep, &sweep->item[sweep->order[i]], 1, 0.0, &term);
        sum += term;
    }
    return sum;
}

/* ---- the contract ---- */

TalusStatus talus_cpu_sweep_prepare(const TalusOperator *op, const TalusSweepOptions *options,
                                    const double *gamma, TalusSweep **sweep)
{
    if (options->order == TALUS_ORDER_CHAOTIC)
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "gs: order=chaotic is an update of all contacts at once, for --backend "
                          "cuda; order=coloured uses all threads and gives the same result each "
                          "time");
    if (!*sweep)
        TALUS_TRY(TALUS_ALLOC(*sweep, 1, "sweep plan"));
    (*sweep)->op = op;
    (*sweep)->options = *options;
    (*sweep)->ended = NULL;
    (*sweep)->packed = false;
    (*sweep)->rng = talus_rng_from_seed(options->seed);
    if (op->pair) {
        (*sweep)->velocity = op->scratch->velocity;
        talus_cpu_op_body_velocities(op, gamma, true, op->scratch->velocity);
    }
    if (options->local != TALUS_ONE_PROJECT)
        return talus_sweep_prepare_local(*sweep, gamma);
    return talus_sweep_is_by_block(*sweep) ? talus_sweep_prepare_by_block(*sweep, gamma)
                                           : talus_sweep_fill_items(*sweep, gamma);
}

/* Does one sweep. First recomputes the velocities if other operations may have overwritten them (sweep->ended).
 * Returns the sum of the squared velocity changes. */
static double sweep_once(TalusSweep *sweep)
{
    if (sweep->op->pair && sweep->ended)
        talus_cpu_op_body_velocities(sweep->op, sweep->ended, true, sweep->velocity);
    sweep->ended = NULL;
    if (talus_sweep_is_by_block(sweep))
        return talus_sweep_run_by_block(sweep);
    return sweep->options.order == TALUS_ORDER_COLOURED ? sweep_colours(sweep)
                                                        : sweep_in_sequence(sweep);
}

double talus_cpu_sweep_run(TalusSweep *sweep, int sweeps)
{
    double change2 = 0.0;
    for (int k = 0; k < sweeps; k++)
        change2 = sweep_once(sweep);
    return change2;
}

void talus_cpu_sweep_get_impulses(TalusSweep *sweep, double *gamma)
{
    sweep->ended = gamma;
    if (talus_sweep_is_by_block(sweep))
        memcpy(gamma, sweep->gamma,
               (size_t)sweep->op->blocks * (size_t)sweep->op->rows * sizeof *gamma);
    else
        talus_sweep_read_items(sweep, gamma);
}

void talus_cpu_sweep_destroy(TalusSweep *sweep)
{
    if (!sweep)
        return;
    talus_colouring_clear(&sweep->colouring);
    TALUS_RELEASE(sweep->term, sweep->partial, sweep->pack, sweep->item, sweep->change,
                  sweep->split, sweep->order, sweep->gamma, sweep->local, sweep);
}
