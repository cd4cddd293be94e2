/* backend/cpu/sweep_single.c - coloured Gauss-Seidel sweeps in single precision, four contacts at a time.
 *
 * A sweep changes impulses and w, the velocities less those at the start (single.h). A sweep whose velocity change
 * comes near the rounding errors is the last one in single precision (talus_single_is_spent): sweep.c goes on in double
 * precision. Items are computed in double precision on the same velocities. */
#include "backend/cpu/sweep.h"

#include "backend/part.h"

#include <math.h>

/* ---- four sphere contacts ---- */

/* u = contact velocities of a pack, world frame, plus the bias along the normal. */
KERNEL void write_velocity(const SinglePack *pack, const float (*velocity)[8], bool fixed,
                           Lane4 u[3])
{
    single_velocity(velocity, pack->a, pack->b, fixed, pack->normal, pack->offset, u);
}

/* Returns the normal velocities with compliance; u contains the bias. */
KERNEL Lane4 opening(const SinglePack *pack, const Lane4 u[3], Lane4 gamma_n)
{
    return lane4_dot(pack->normal, u) + pack->compliance * gamma_n;
}

/* Applies the changes dp of the impulses of a pack to its bodies: -dp to a, dp to b. */
KERNEL void change_velocities(const SinglePack *pack, bool fixed, const Lane4 dp[3],
                              float (*velocity)[8])
{
    Lane4 p[LANES4], t[LANES4];
    single_wrenches(pack->normal, dp, p, t);
    for (int k = 0; k < LANES4; k++) {
        float *a = velocity[pack->a[k]], *b = velocity[pack->b[k]];
        Lane4 v = lane4_load(a), spin = lane4_load(a + 4);
        lane4_store(a, v - lane4_last(v) * p[k]);
        lane4_store(a + 4, spin - lane4_last(spin) * t[k]);
        if (fixed)
            continue;
        v = lane4_load(b);
        spin = lane4_load(b + 4);
        lane4_store(b, v + lane4_last(v) * p[k]);
        lane4_store(b + 4, spin - lane4_last(spin) * t[k]);
    }
}

/* ---- four general contacts ---- */

/* u = contact velocities of a pack of general contacts, world frame, plus the bias along the normal. */
KERNEL void write_general_velocity(const SinglePack *pack, const PackArms *arms,
                                   const float (*velocity)[8], Lane4 u[3])
{
    Lane4 v[LANES4], spin_a[LANES4], spin_b[LANES4], turn_a[3], turn_b[3];
    for (int k = 0; k < LANES4; k++) {
        const float *a = velocity[pack->a[k]], *b = velocity[pack->b[k]];
        v[k] = lane4_load(b) - lane4_load(a);
        spin_a[k] = lane4_load(a + 4);
        spin_b[k] = lane4_load(b + 4);
    }
    lane4_transpose(v);
    lane4_transpose(spin_a);
    lane4_transpose(spin_b);
    lane4_cross(spin_a, arms->a, turn_a);
    lane4_cross(spin_b, arms->b, turn_b);
    for (int k = 0; k < 3; k++)
        u[k] = pack->offset[k] + (v[k] + (turn_b[k] - turn_a[k]));
}

/* Adds to the velocity record w of a body, whose inverse inertia is in `inertia`, the effect of the impulse p with the
 * torque t or, if `negative`, of their opposites. The last entries of p and t are 0, so that inverse masses stay. */
KERNEL void change_body(float *w, const float *inertia, bool negative, Lane4 p, Lane4 t)
{
    Lane4 v = lane4_load(w), spin = lane4_load(w + 4), moved = lane4_last(v) * p;
    Lane4 turn = lane4_load(inertia) * lane4(t[0]) + lane4_load(inertia + 4) * lane4(t[1]) +
                 lane4_load(inertia + 8) * lane4(t[2]);
    lane4_store(w, negative ? v - moved : v + moved);
    lane4_store(w + 4, negative ? spin - turn : spin + turn);
}

/* Applies the changes dp of the impulses of a pack of general contacts to its bodies: -dp to a, dp to b. */
KERNEL void change_general_velocities(const SinglePack *pack, const PackArms *arms,
                                      const float (*inertia)[12], const Lane4 dp[3],
                                      float (*velocity)[8])
{
    Lane4 p[LANES4] = {dp[0], dp[1], dp[2], lane4(0.0f)}, torque_a[LANES4], torque_b[LANES4];
    lane4_cross(arms->a, dp, torque_a);
    lane4_cross(arms->b, dp, torque_b);
    torque_a[3] = torque_b[3] = lane4(0.0f);
    lane4_transpose(p);
    lane4_transpose(torque_a);
    lane4_transpose(torque_b);
    for (int k = 0; k < LANES4; k++) {
        int32_t a = pack->a[k], b = pack->b[k];
        /* other threads may read bodies that impulses do not move */
        if (arms->moves[k] & PACK_MOVES_A)
            change_body(velocity[a], inertia[a], true, p[k], torque_a[k]);
        if (arms->moves[k] & PACK_MOVES_B)
            change_body(velocity[b], inertia[b], false, p[k], torque_b[k]);
    }
}

static void general_chunk(void *context, int64_t begin, int64_t end, int64_t chunk);

/* ---- bodies of one contact ---- */

/* Writes the change of a body's velocity since the start, m/s, with its inverse masses, to `copy` and returns that. */
KERNEL const double *body_velocity(const TalusSweep *sweep, int body, double copy[8])
{
    const float *w = sweep->single.velocity[body];
    for (int k = 0; k < 8; k++)
        copy[k] = sweep->single.unit.speed * w[k];
    copy[3] = sweep->op->body[body][3];
    copy[7] = sweep->op->body[body][7];
    return copy;
}

/* Applies the impulse sign * dp at `arm` (over l) to a body. */
KERNEL void add_impulse(TalusSweep *sweep, int body, double sign, const double arm[3],
                        const double dp[3])
{
    if (!talus_body_yields(sweep->op, body))
        return; /* other threads may read this body at the same time */
    float *w = sweep->single.velocity[body];
    double v[8], per_speed = sweep->single.unit.per_speed;
    body_velocity(sweep, body, v);
    talus_body_add_impulse(sweep->op, body, sign, arm, dp, v);
    for (int k = 0; k < 3; k++) {
        w[k] = (float)(per_speed * v[k]);
        w[4 + k] = (float)(per_speed * v[4 + k]);
    }
}

/* Returns the unit of speeds, m/s. */
KERNEL double speed_unit(const TalusSweep *sweep)
{
    return sweep->single.unit.speed;
}

#define Real float
#define Vector Lane4
#define Bits Mask4
#define WIDTH LANES4
#define SMALLEST2 SINGLE_TINY2
#define OP(name) lane4_##name
#define OP_SPREAD(a) lane4(a)
#define Pack SinglePack
#define ARRAYS(sweep) (&(sweep)->single)
#define SLIP(sweep) NULL /* in the offset of packs */
#define GENERAL_PACKS
#include "backend/cpu/sweep_loops.h"

/* sweep_packs for packs of general contacts. */
KERNEL Lane4 sweep_general_packs(PackLoop loop, SinglePack *pack, const PackArms *arms,
                                 const float (*inertia)[12], int count, Lane4 most, float *term)
{
    Lane4 u[BATCH][3];
    int i = 0;
    for (int k = 0; k < count; k++)
        write_general_velocity(&pack[k], &arms[k], (const float(*)[8])loop.velocity, u[k]);
    for (; i + WIDE <= count; i += WIDE)
        step_packs(loop, &pack[i], WIDE, &u[i]);
    for (; i < count; i++)
        step_packs(loop, &pack[i], 1, &u[i]);
    for (int k = 0; k < count; k++) {
        Lane4 change2 = pack[k].scale * pack[k].scale * lane4_dot(u[k], u[k]);
        lane4_store(term + LANES4 * k, change2);
        most = lane4_select(change2 > most, change2, most);
        change_general_velocities(&pack[k], &arms[k], inertia, u[k], loop.velocity);
    }
    return most;
}

/* Prefetches the inverse inertias of a pack's bodies. */
KERNEL void prefetch_inertias(const SinglePack *pack, const float (*inertia)[12])
{
    for (int k = 0; k < LANES4; k++) {
        __builtin_prefetch(inertia[pack->a[k]]);
        __builtin_prefetch(inertia[pack->b[k]]);
    }
}

/* sweep_range for packs of general contacts from `first` on. */
KERNEL float sweep_general_range(PackLoop loop, const SingleState *single, int first, int64_t begin,
                                 int64_t end)
{
    const float(*inertia)[12] = (const float(*)[12])single->inertia;
    SinglePack *pack = single->pack + first;
    float *term = single->term + LANES4 * (int64_t)first, largest = 0.0f;
    Lane4 most = lane4(0.0f);
    for (int64_t i = begin; i < end; i += BATCH) {
        int count = end - i < BATCH ? (int)(end - i) : BATCH;
        for (int64_t k = i + BATCH; k < end && k < i + 2 * BATCH; k++) {
            prefetch_bodies(&pack[k], loop.velocity, false);
            prefetch_inertias(&pack[k], inertia);
        }
        most = sweep_general_packs(loop, &pack[i], &single->arms[first + i], inertia, count, most,
                                   term + LANES4 * i);
    }
    for (int k = 0; k < LANES4; k++)
        largest = most[k] > largest ? most[k] : largest;
    return largest;
}

/* Sweeps packs [begin, end) of general contacts of a Loop; stores the largest squared velocity change of the chunk. */
static void general_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Loop *loop = context;
    const SingleState *single = &loop->sweep->single;
    const Lane4 rho = lane4((float)loop->sweep->options.rho);
    float most; /* each call is compiled for its constants */
    if (loop->sweep->options.rho != 1.0)
        most = sweep_general_range((PackLoop){single->velocity, rho, false, true, NULL}, single,
                                   loop->first, begin, end);
    else
        most = sweep_general_range((PackLoop){single->velocity, rho, false, false, NULL}, single,
                                   loop->first, begin, end);
    loop->sweep->partial[chunk] = most;
}

/* ---- start ---- */

/* Writes the columns of a body's inverse inertia, in units of inverse masses. */
static void write_inertia(const double m[6], double per_mass, float column[12])
{
    const double value[12] = {m[0], m[3], m[4], 0.0, m[3], m[1], m[5], 0.0, m[4], m[5], m[2], 0.0};
    for (int k = 0; k < 12; k++)
        column[k] = (float)(per_mass * value[k]);
}

/* Sets the velocity changes of bodies [begin, end) to 0. */
static void start_bodies_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusSweep *sweep = context;
    const double per_mass = sweep->single.unit.per_inverse_mass;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        float *w = sweep->single.velocity[i];
        const double *body = sweep->op->body[i];
        lane4_store(w, (Lane4){0.0f, 0.0f, 0.0f, (float)(per_mass * body[3])});
        lane4_store(w + 4, (Lane4){0.0f, 0.0f, 0.0f, (float)(per_mass * body[7])});
        if (sweep->packs_general)
            write_inertia(sweep->op->inverse_inertia[i], per_mass, sweep->single.inertia[i]);
    }
}

void talus_single_start(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    SingleState *single = &sweep->single;
    single->unit = talus_single_units(op, (const double(*)[8])sweep->velocity, sweep->partial);
    talus_parallel(op->pool, op->bodies, BODY_GRAIN, start_bodies_chunk, sweep);
    memset(single->velocity[op->bodies], 0, sizeof *single->velocity);
    if (sweep->packs_general)
        memset(single->inertia[op->bodies], 0, sizeof *single->inertia);
}

/* ---- the sweep ---- */

double talus_single_sweep(TalusSweep *sweep)
{
    SingleState *single = &sweep->single;
    double largest, change2 = sweep_colours(sweep, &largest);
    single->bound += sqrt(largest) * single->unit.speed;
    return change2 * single->unit.speed * single->unit.speed;
}

bool talus_single_is_spent(const TalusSweep *sweep, double change2)
{
    double least = SINGLE_SPENT * sweep->single.bound;
    return change2 < least * least * talus_all_blocks(sweep->op);
}
