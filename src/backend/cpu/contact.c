/* backend/cpu/contact.c - the matrix-free operator: D gamma and D' v of a range of contacts, M^-1 of all bodies.
 *
 * N gamma takes three kernels: writing of wrenches (each contact's impulse p and torque t), gathering of the wrenches
 * of each body, contact velocities. A body adds the wrenches of its own contacts in the order of the contacts, so no
 * two threads write the same number. A wrench record is (p, t): p acts on b, -p on a, and t is minus the angular
 * impulse, over l, on either body. A contact of the first two runs has one record, with t = n x p; a general contact
 * has one for each body.
 *
 * Where all contacts are general, velocities alone need no wrenches: impulses are written, a third of the memory, and
 * each body multiplies them by its arms (talus_cpu_gather_impulses). */
#include "backend/cpu/cpu.h"
#include "linalg/eliminate.h"

#include "backend/cpu/sphere_lanes.h"
#include "backend/frame.h"
#include "backend/part.h"
#include "backend/terms.h"
#include "base/profile.h"

/* Number of packs of two contacts that are computed side by side: statements are loops over packs, which the compiler
 * unrolls. With one pack after the other the processor would wait for results. */
enum { WIDE = 3 };

/* Entries of `incidence` between the one that is read and the one whose contact is fetched: those of a body as the second
 * of their contacts are scattered. */
enum { ENTRIES_AHEAD = 8 };

/* ---- contact velocity ---- */

/* u = D'v of the first 2 `wide` contacts of the given arrays, contacts of two spheres or, if `fixed`, of a sphere and a
 * fixed body. `wide` and `fixed` are constants after inlining. */
KERNEL void write_velocity_packs(const double (*velocity)[8], const int32_t (*pair)[2],
                                 const double (*frame)[4], int wide, bool fixed, double *u)
{
    Lane f[WIDE][4], v[WIDE][3], spin[WIDE][3], local[WIDE][3];
    for (int w = 0; w < wide; w++) {
        lane_gather(frame[LANES * w], frame[LANES * w + 1], 2, f[w]);
        lanes_relative_motion(velocity, pair + LANES * w, fixed, v[w], spin[w]);
    }
    for (int w = 0; w < wide; w++)
        lanes_subtract_spin_velocity(f[w], spin[w], v[w]);
    for (int w = 0; w < wide; w++)
        lanes_to_local(f[w], v[w], local[w]);
    for (int w = 0; w < wide; w++)
        lane_store3(u + 3 * LANES * w, local[w]);
}

/* local = D'v of one contact of two spheres or, if `fixed`, of a sphere and a fixed body. */
KERNEL void write_sphere_velocity(const double (*velocity)[8], const int32_t pair[2],
                                  const double frame[4], bool fixed, double local[3])
{
    Lane r[4];
    sphere_relative_motion(velocity, pair, fixed, r);
    double world[3] = {r[0][0], r[0][1], r[1][0]}, spin[3] = {r[2][0], r[2][1], r[3][0]}, turn[3];
    talus_cross3(spin, frame, turn);
    for (int k = 0; k < 3; k++)
        world[k] -= turn[k];
    talus_frame_to_local(frame, world, local);
}

/* u = D'v of `count` contacts of one run of spheres, as many as possible in packs. */
KERNEL void write_run_velocities(const double (*velocity)[8], const int32_t (*pair)[2],
                                 const double (*frame)[4], int count, bool fixed, double *u)
{
    int i = 0;
    for (; i + WIDE * LANES <= count; i += WIDE * LANES)
        write_velocity_packs(velocity, pair + i, frame + i, WIDE, fixed, u + 3 * i);
    for (; i + LANES <= count; i += LANES)
        write_velocity_packs(velocity, pair + i, frame + i, 1, fixed, u + 3 * i);
    if (i < count)
        write_sphere_velocity(velocity, pair[i], frame[i], fixed, u + 3 * i);
}

/* u = D'v of sphere contacts [begin, end), all of one run. */
static void write_sphere_velocities(const TalusOperator *op, const double (*velocity)[8], int begin,
                                    int end, double *u)
{
    const int32_t(*pair)[2] = (const int32_t(*)[2])op->pair + begin;
    const double(*frame)[4] = (const double(*)[4])op->frame + begin;
    if (begin < op->sphere_sphere)
        write_run_velocities(velocity, pair, frame, end - begin, false, u);
    else
        write_run_velocities(velocity, pair, frame, end - begin, true, u);
}

/* u = normal velocities of sphere contacts [begin, end), for problems with one row. */
static void write_normal_velocities(const TalusOperator *op, const double (*velocity)[8], int begin,
                                    int end, double *u)
{
    for (int i = begin; i < end; i++) {
        const double *n = op->frame[i], *a = velocity[op->pair[i][0]];
        double un = -(n[0] * a[0] + n[1] * a[1] + n[2] * a[2]);
        if (i < op->sphere_sphere) {
            const double *b = velocity[op->pair[i][1]];
            un += n[0] * b[0] + n[1] * b[1] + n[2] * b[2];
        }
        *u++ = un;
    }
}

/* local = angular velocity of b relative to a at contact i, times the contact's length, in its frame: the velocities of
 * the moment rows. */
static void write_moment_velocity(const TalusOperator *op, const double (*velocity)[8], int i,
                                  double local[3])
{
    const double *lever = op->lever[i - op->sphere_sphere - op->sphere_fixed];
    const double *a = velocity[op->pair[i][0]] + 4;
    double world[3];
    for (int k = 0; k < 3; k++)
        world[k] = -lever[0] * a[k];
    if (op->pair[i][1] >= 0)
        for (int k = 0; k < 3; k++)
            world[k] += lever[1] * velocity[op->pair[i][1]][4 + k];
    talus_frame_to_local(op->frame[i], world, local);
}

/* local = velocity of b relative to a at general contact i, in its frame. */
static void write_general_velocity(const TalusOperator *op, const double (*velocity)[8], int i,
                                   double local[3])
{
    const double *arm = op->arm[i - op->sphere_sphere - op->sphere_fixed];
    const double *a = velocity[op->pair[i][0]];
    double world[3], turn[3];
    talus_cross3(a + 4, arm, turn);
    for (int k = 0; k < 3; k++)
        world[k] = -a[k] - turn[k];
    if (op->pair[i][1] >= 0) {
        const double *b = velocity[op->pair[i][1]];
        talus_cross3(b + 4, arm + 3, turn);
        for (int k = 0; k < 3; k++)
            world[k] += b[k] + turn[k];
    }
    talus_frame_to_local(op->frame[i], world, local);
}

/* Returns `value` limited to [low, high]. */
static int clamp_index(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void talus_cpu_contact_velocity(const TalusOperator *op, const double (*velocity)[8], int begin,
                                int end, double *u)
{
    const int rows = op->rows,
              runs[3] = {op->sphere_sphere, op->sphere_sphere + op->sphere_fixed, op->blocks};
    for (int run = 0, start = begin; run < 3; run++) {
        int stop = clamp_index(runs[run], start, end);
        double *out = u + (size_t)rows * (size_t)(start - begin);
        if (run == 2) {
            double local[3];
            for (int i = start; i < stop; i++, out += rows) {
                write_general_velocity(op, velocity, i, local);
                for (int k = 0; k < rows && k < 3; k++)
                    out[k] = local[k];
                if (rows == 6)
                    write_moment_velocity(op, velocity, i, out + 3);
            }
        } else if (rows == 1) {
            write_normal_velocities(op, velocity, start, stop, out);
        } else {
            write_sphere_velocities(op, velocity, start, stop, out);
        }
        start = stop;
    }
}

/* ---- wrenches ---- */

/* Writes the wrench records of 2 `wide` sphere contacts; frame, gamma and record start at the first of them. */
KERNEL void write_wrench_packs(const double (*frame)[4], const double *gamma, int wide,
                               double (*record)[6])
{
    Lane f[WIDE][4], local[WIDE][3], p[WIDE][3], t[WIDE][3];
    for (int w = 0; w < wide; w++) {
        lane_gather(frame[LANES * w], frame[LANES * w + 1], 2, f[w]);
        lane_load3(gamma + 3 * LANES * w, local[w]);
    }
    for (int w = 0; w < wide; w++)
        lanes_to_world(f[w], local[w], p[w]);
    for (int w = 0; w < wide; w++)
        lane_cross(f[w], p[w], t[w]);
    for (int w = 0; w < wide; w++)
        lanes_store_wrench(record[LANES * w], p[w], t[w]);
}

/* Writes the wrench records of sphere contacts [begin, end); gamma starts at contact `begin`, record at contact 0. */
static void write_sphere_wrenches(const TalusOperator *op, const double *gamma, int begin, int end,
                                  double (*record)[6])
{
    const double(*frame)[4] = (const double(*)[4])op->frame;
    int i = begin;
    for (; i + WIDE * LANES <= end; i += WIDE * LANES, gamma += 3 * WIDE * LANES)
        write_wrench_packs(frame + i, gamma, WIDE, record + i);
    for (; i + LANES <= end; i += LANES, gamma += 3 * LANES)
        write_wrench_packs(frame + i, gamma, 1, record + i);
    if (i < end) {
        talus_frame_to_world(frame[i], gamma, record[i]);
        talus_cross3(frame[i], record[i], record[i] + 3);
    }
}

/* write_sphere_wrenches for problems with one row, in which contacts of spheres exert no torque. */
static void write_normal_wrenches(const TalusOperator *op, const double *gamma, int begin, int end,
                                  double (*record)[6])
{
    for (int i = begin; i < end; i++) {
        double g = *gamma++;
        for (int k = 0; k < 3; k++) {
            record[i][k] = g * op->frame[i][k];
            record[i][3 + k] = 0.0;
        }
    }
}

/* Adds the moment of general contact i, given in its frame, to the torques of its two records. Bodies subtract the
 * torques of records, hence the signs. */
static void add_moment_wrench(const TalusOperator *op, const double moment[3], int i,
                              double (*record)[6])
{
    int spheres = op->sphere_sphere + op->sphere_fixed, j = i - spheres;
    double world[3];
    talus_frame_to_world(op->frame[i], moment, world);
    for (int k = 0; k < 3; k++) {
        record[spheres + 2 * j][3 + k] += op->lever[j][0] * world[k];
        record[spheres + 2 * j + 1][3 + k] -= op->lever[j][1] * world[k];
    }
}

/* Writes the two records of general contact i: (p, arm_a x p) for a and (p, -arm_b x p) for b, so that both bodies
 * subtract the torque. */
static void write_general_wrench(const TalusOperator *op, const double *gamma, int i,
                                 double (*record)[6])
{
    int spheres = op->sphere_sphere + op->sphere_fixed, j = i - spheres;
    double local[3] = {gamma[0], op->rows == 1 ? 0.0 : gamma[1], op->rows == 1 ? 0.0 : gamma[2]};
    double p[3], t[3];
    talus_frame_to_world(op->frame[i], local, p);
    for (int side = 0; side < 2; side++) {
        double *r = record[spheres + 2 * j + side];
        talus_cross3(op->arm[j] + 3 * side, p, t);
        for (int k = 0; k < 3; k++) {
            r[k] = p[k];
            r[3 + k] = side ? -t[k] : t[k];
        }
    }
    if (op->rows == 6)
        add_moment_wrench(op, gamma + 3, i, record);
}

void talus_cpu_write_wrenches(const TalusOperator *op, const double *gamma, int begin, int end,
                              double (*record)[6])
{
    int spheres = op->sphere_sphere + op->sphere_fixed;
    int stop = clamp_index(spheres, begin, end);
    if (op->rows == 1)
        write_normal_wrenches(op, gamma, begin, stop, record);
    else
        write_sphere_wrenches(op, gamma, begin, stop, record);
    gamma += (size_t)op->rows * (size_t)(stop - begin);
    for (int i = stop; i < end; i++, gamma += op->rows)
        write_general_wrench(op, gamma, i, record);
}

/* ---- bodies ---- */

/* Arguments of talus_cpu_gather_wrenches and talus_cpu_gather_impulses. */
typedef struct Gather {
    const TalusOperator *op;
    const double (*record)[6];
    /* In place of `record`, by contact: impulse on b, world frame; the last number is unused. */
    double (*impulse)[4];
    const double *gamma; /* from which `impulse` is written */
    double (*velocity)[8];
    bool free_motion, terms;
} Gather;

/* sum = {p_x, p_y}, {p_z, t_x}, {t_y, t_z}, the sums over one body's wrench records; if `terms`, size = the same sums
 * of absolute values. Where the body is side a of a contact, the sign bit of the impulse is flipped. Torques are added
 * with the sign of the records, for the caller to subtract. */
KERNEL void sum_body_wrenches(const double (*record)[6], const int32_t *incidence, int count,
                              bool terms, Lane sum[3], Lane size[3])
{
    const Mask unsign = {INT64_MAX, INT64_MAX}; /* all bits but the sign */
    for (int k = 0; k < 3; k++)
        sum[k] = size[k] = lane(0.0);
    for (int k = 0; k < count; k++) {
        const double *r = record[incidence[k] >> 1];
        Lane part[3] = {lane_load(r), lane_load(r + 2), lane_load(r + 4)};
        int64_t flip = incidence[k] & 1 ? 0 : INT64_MIN;
        sum[0] += (Lane)((Mask){flip, flip} ^ (Mask)part[0]);
        sum[1] += (Lane)((Mask){flip, 0} ^ (Mask)part[1]);
        sum[2] += part[2];
        for (int j = 0; terms && j < 3; j++)
            size[j] += (Lane)(unsign & (Mask)part[j]);
    }
}

/* sum_body_wrenches from impulses and arms of general contacts, which are the only ones; the same numbers. `last` is the
 * end of the entries whose contacts may be fetched ahead. */
KERNEL void sum_body_impulses(const double (*impulse)[4], const double (*arm)[6],
                              const int32_t *incidence, int count, const int32_t *last, bool terms,
                              Lane sum[3], Lane size[3])
{
    const Mask unsign = {INT64_MAX, INT64_MAX}; /* all bits but the sign */
    for (int k = 0; k < 3; k++)
        sum[k] = size[k] = lane(0.0);
    for (int k = 0; k < count; k++) {
        if (incidence + k + ENTRIES_AHEAD < last) {
            int ahead = incidence[k + ENTRIES_AHEAD] >> 2;
            __builtin_prefetch(impulse[ahead]);
            __builtin_prefetch(arm[ahead]);
        }
        const int side = incidence[k] & 1, j = incidence[k] >> 2; /* 2 * (2 j + side) + side */
        const double *p = impulse[j], *r = arm[j] + 3 * side;
        Lane turn = (Lane){r[2], r[0]} * lane_load(p) - lane_load(r) * (Lane){p[2], p[0]};
        Lane part[3] = {lane_load(p), {p[2], r[1] * p[2] - r[2] * p[1]}, turn};
        int64_t flip = side ? 0 : INT64_MIN, flip_turn = side ? INT64_MIN : 0;
        sum[0] += (Lane)((Mask){flip, flip} ^ (Mask)part[0]);
        sum[1] += (Lane)((Mask){flip, flip_turn} ^ (Mask)part[1]);
        sum[2] += (Lane)((Mask){flip_turn, flip_turn} ^ (Mask)part[2]);
        for (int j3 = 0; terms && j3 < 3; j3++)
            size[j3] += (Lane)(unsign & (Mask)part[j3]);
    }
}

/* Writes |V| and |W| of a body (terms.h) to entries 3 and 7 of v, from the sums of absolute values of its records. */
KERNEL void write_body_terms(const TalusOperator *op, int64_t body, const Lane size[3], double *v)
{
    double sum[6] = {size[0][0], size[0][1], size[1][0], size[1][1], size[2][0], size[2][1]};
    double out[2];
    talus_terms_body_size(op->body[body], op->inverse_inertia ? op->inverse_inertia[body] : NULL,
                          sum, out);
    v[3] = out[0];
    v[7] = out[1];
}

/* Writes the velocity records of bodies [begin, end), from impulses in place of wrenches if `impulses`. `terms` and
 * `impulses` are constants after inlining. */
KERNEL void gather_bodies(const Gather *g, int64_t begin, int64_t end, bool terms, bool impulses)
{
    const TalusOperator op = *g->op; /* a copy: no store below changes it, as the compiler knows */
    const double(*record)[6] = g->record;
    const int32_t *last = op.incidence + op.incidence_start[end];
    const Lane keep = lane(g->free_motion ? 1.0 : 0.0);
    for (int64_t i = begin; i < end; i++) {
        const double *body = op.body[i];
        double *v = g->velocity[i], m = body[3], k = body[7];
        const int32_t *incidence = op.incidence + op.incidence_start[i];
        const int count = op.incidence_start[i + 1] - op.incidence_start[i];
        Lane sum[3], size[3];
        if (impulses)
            sum_body_impulses((const double(*)[4])g->impulse, (const double(*)[6])op.arm, incidence,
                              count, last, terms, sum, size);
        else
            sum_body_wrenches(record, incidence, count, terms, sum, size);
        Lane turn[2] = {__builtin_shufflevector(sum[1], sum[2], 1, 2), lane(sum[2][1])};
        if (op.inverse_inertia) {
            double torque[3] = {turn[0][0], turn[0][1], turn[1][0]}, t[3];
            talus_spin_change(&op, (int)i, k, torque, t);
            turn[0] = (Lane){t[0], t[1]};
            turn[1] = lane(t[2]);
        } else {
            turn[0] *= k;
            turn[1] *= k;
        }
        lane_store(v, keep * lane_load(body) + m * sum[0]);
        lane_store(v + 2, lane_low(keep * lane_load(body + 2) + m * sum[1], lane(m)));
        lane_store(v + 4, keep * lane_load(body + 4) - turn[0]);
        lane_store(v + 6, lane_low(keep * lane_load(body + 6) - turn[1], lane(k)));
        if (terms)
            write_body_terms(&op, i, size, v);
    }
}

/* gather_bodies for bodies [begin, end), with g->terms as a constant. */
static void gather_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Gather *g = context;
    (void)chunk;
    if (g->terms && g->impulse)
        gather_bodies(g, begin, end, true, true);
    else if (g->terms)
        gather_bodies(g, begin, end, true, false);
    else if (g->impulse)
        gather_bodies(g, begin, end, false, true);
    else
        gather_bodies(g, begin, end, false, false);
}

void talus_cpu_gather_wrenches(const TalusOperator *op, const double (*record)[6], bool free_motion,
                               bool terms, double (*velocity)[8])
{
    Gather g = {.op = op,
                .record = record,
                .velocity = velocity,
                .free_motion = free_motion,
                .terms = terms};
    op->scratch->velocity_of = NULL;
    /* if each array comes from memory once: wrenches and incidence; start, record and velocity */
    talus_profile_expect_bytes((op->blocks + op->general) * (double)sizeof *record +
                               2.0 * op->blocks * sizeof *op->incidence +
                               op->bodies * (sizeof *op->incidence_start + 2.0 * sizeof *velocity));
    talus_cpu_compute_and_send(op, gather_chunk, &g, velocity, sizeof *velocity);
    if (op->elimination) { /* which reads the velocities of all bodies */
        talus_halo_finish_exchange(op->halo);
        talus_elimination_apply(op->elimination, free_motion, velocity);
    }
}

/* Writes the impulses of general contacts [begin, end) in the world frame. */
static void impulse_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Gather *g = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++) {
        double p[3];
        talus_frame_to_world(g->op->frame[i], g->gamma + 3 * i, p);
        lane_store(g->impulse[i], (Lane){p[0], p[1]});
        lane_store(g->impulse[i] + 2, (Lane){p[2], 0.0});
    }
}

bool talus_cpu_gather_impulses(const TalusOperator *op, const double *gamma, bool free_motion,
                               bool terms, double (*velocity)[8])
{
    if (op->rows != 3 || op->general != op->blocks || op->joints || op->elimination)
        return false;
    Gather g = {.op = op,
                .impulse =
                    (double(*)[4])op->scratch->record, /* has room for 12 numbers a contact */
                .gamma = gamma,
                .velocity = velocity,
                .free_motion = free_motion,
                .terms = terms};
    op->scratch->velocity_of = NULL;
    /* if each array comes from memory once: impulses, arms and incidence; start, record and velocity */
    talus_profile_expect_bytes(op->blocks * (double)(sizeof *g.impulse + sizeof *op->arm) +
                               2.0 * op->blocks * sizeof *op->incidence +
                               op->bodies * (sizeof *op->incidence_start + 2.0 * sizeof *velocity));
    talus_parallel(op->pool, op->blocks, BLOCK_GRAIN, impulse_chunk, &g);
    talus_cpu_compute_and_send(op, gather_chunk, &g, velocity, sizeof *velocity);
    return true;
}
