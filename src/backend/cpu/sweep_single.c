/* backend/cpu/sweep_single.c - coloured Gauss-Seidel sweeps in single precision, four sphere contacts at a time.
 *
 * With v0 the velocities at the start, in double precision, a sweep changes w = v - v0, from 0, and impulses gamma;
 * the contact velocity is u = D'v0 + D'w. D'v0 plus the bias is computed in double precision and rounded once. So the
 * errors are some 1e-7 of the velocities' changes, of D'v0 and of gamma times the diagonal, whatever the bodies' speeds.
 * A sweep whose velocity change comes near these errors is the last one in single precision (talus_single_is_spent):
 * sweep.c goes on in double precision. Items are computed in double precision on the same velocities. */
#include "backend/cpu/sweep.h"

#include <math.h>

/* ---- four sphere contacts ---- */

/* u = contact velocities of a pack, world frame, plus the bias along the normal. */
KERNEL void write_velocity(const SinglePack *pack, const float (*velocity)[8], bool fixed,
                           Lane4 u[3])
{
    Lane4 v[LANES4], spin[LANES4], turn[3];
    for (int k = 0; k < LANES4; k++) {
        const float *a = velocity[pack->a[k]], *b = velocity[pack->b[k]];
        v[k] = fixed ? -lane4_load(a) : lane4_load(b) - lane4_load(a);
        spin[k] = fixed ? lane4_load(a + 4) : lane4_load(a + 4) + lane4_load(b + 4);
    }
    lane4_transpose(v);
    lane4_transpose(spin);
    lane4_cross(spin, pack->normal, turn);
    for (int k = 0; k < 3; k++)
        u[k] = pack->offset[k] + (v[k] - turn[k]);
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
    Lane4 p[LANES4] = {dp[0], dp[1], dp[2], lane4(0.0f)}, t[LANES4];
    lane4_cross(pack->normal, dp, t);
    t[3] = lane4(0.0f);
    lane4_transpose(p);
    lane4_transpose(t);
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
        copy[k] = sweep->single.speed * w[k];
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
    double v[8], per_speed = 1.0 / sweep->single.speed;
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
    return sweep->single.speed;
}

#define Real float
#define Vector Lane4
#define Bits Mask4
#define WIDTH LANES4
/* In units of SingleState.impulse; mu over this is still a float. */
#define SMALLEST2 1e-30f
#define OP(name) lane4_##name
#define OP_SPREAD(a) lane4(a)
#define Pack SinglePack
#define ARRAYS(sweep) (&(sweep)->single)
#include "backend/cpu/sweep_loops.h"

/* ---- start ---- */

/* Returns the power of two that is at most `value` and above half of it; 1 if the value is 0 or not finite. */
static double unit_of(double value)
{
    int exponent;
    if (!(value > 0.0) || !isfinite(value))
        return 1.0;
    frexp(value, &exponent);
    return ldexp(1.0, exponent - 1);
}

/* Writes the largest numbers of bodies [begin, end) to sweep->partial: of velocities to entry 2 chunk, of inverse
 * masses to the next. */
static void measure_bodies_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusSweep *sweep = context;
    Lane most[4] = {lane(0.0), lane(0.0), lane(0.0), lane(0.0)};
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 4; k++) {
            Lane value = lane_load(sweep->velocity[i] + 2 * k);
            value = lane_select(value < 0.0, -value, value);
            most[k] = lane_select(value > most[k], value, most[k]);
        }
    double speed = fmax(most[1][0], most[3][0]);
    for (int k = 0; k < 4; k += 2)
        speed = fmax(speed, fmax(most[k][0], most[k][1]));
    sweep->partial[2 * chunk] = speed;
    sweep->partial[2 * chunk + 1] = fmax(most[1][1], most[3][1]);
}

/* Sets the velocity changes of bodies [begin, end) to 0. */
static void start_bodies_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    TalusSweep *sweep = context;
    const double per_mass = 1.0 / sweep->single.inverse_mass;
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
    double speed = 0.0, inverse_mass = 0.0;
    talus_parallel(op->pool, op->bodies, BODY_GRAIN, measure_bodies_chunk, sweep);
    for (int64_t c = 0; c < talus_chunks(op->bodies, BODY_GRAIN); c++) {
        speed = fmax(speed, sweep->partial[2 * c]);
        inverse_mass = fmax(inverse_mass, sweep->partial[2 * c + 1]);
    }
    single->speed = unit_of(speed);
    single->inverse_mass = unit_of(inverse_mass);
    single->impulse = single->speed / single->inverse_mass;
    talus_parallel(op->pool, op->bodies, BODY_GRAIN, start_bodies_chunk, sweep);
    memset(single->velocity[op->bodies], 0, sizeof *single->velocity);
}

/* ---- the sweep ---- */

double talus_single_sweep(TalusSweep *sweep)
{
    SingleState *single = &sweep->single;
    double largest, change2 = sweep_colours(sweep, &largest);
    single->bound += sqrt(largest) * single->speed;
    return change2 * single->speed * single->speed;
}

/* Sweeps in single precision end at an rms velocity change of this factor times the bound: some ten times the rounding
 * error 2^-24 of a float. */
static const double SPENT = 0x1p-20;

bool talus_single_is_spent(const TalusSweep *sweep, double change2)
{
    double least = SPENT * sweep->single.bound;
    return change2 < least * least * sweep->op->blocks;
}
