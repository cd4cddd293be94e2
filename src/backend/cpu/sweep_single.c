/* backend/cpu/sweep_single.c - coloured Gauss-Seidel sweeps in single precision, four sphere contacts at a time.
 *
 * A sweep changes impulses and w, the velocities less those at the start (single.h). A sweep whose velocity change
 * comes near the rounding errors is the last one in single precision (talus_single_is_spent): sweep.c goes on in double
 * precision. Items are computed in double precision on the same velocities. */
#include "backend/cpu/sweep.h"

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
    double v[8], per_speed = 1.0 / sweep->single.unit.speed;
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
#include "backend/cpu/sweep_loops.h"

/* ---- start ---- */

/* Sets the velocity changes of bodies [begin, end) to 0. */
static void start_bodies_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusSweep *sweep = context;
    const double per_mass = 1.0 / sweep->single.unit.inverse_mass;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        float *w = sweep->single.velocity[i];
        const double *body = sweep->op->body[i];
        lane4_store(w, (Lane4){0.0f, 0.0f, 0.0f, (float)(per_mass * body[3])});
        lane4_store(w + 4, (Lane4){0.0f, 0.0f, 0.0f, (float)(per_mass * body[7])});
    }
}

void talus_single_start(TalusSweep *sweep)
{
    const TalusOperator *op = sweep->op;
    SingleState *single = &sweep->single;
    single->unit = talus_single_units(op, (const double(*)[8])sweep->velocity, sweep->partial);
    talus_parallel(op->pool, op->bodies, BODY_GRAIN, start_bodies_chunk, sweep);
    memset(single->velocity[op->bodies], 0, sizeof *single->velocity);
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
    return change2 < least * least * sweep->op->blocks;
}
