/* backend/cpu/contact.c - the matrix-free operator: D' v, D gamma and M^-1 of a chunk of contacts.
 *
 * N gamma takes three kernels: wrench (per contact), gather (per body), contact velocity (per
 * contact). A body sums its own contacts, so no two threads write one number and the order of
 * addition is that of the contact list.
 *
 * Per sphere-sphere contact with friction, bytes read + written and flops:
 *     wrench            56 + 48 B    26 flop
 *     gather, two sides 112 + 0 B    12 flop   (and 64 + 64 B, 12 flop per body)
 *     contact velocity  168 + 24 B   33 flop   (128 of them body records, mostly cached)     */
#include "backend/cpu/cpu.h"

#include "backend/cpu/lane.h"
#include "backend/frame.h"

/* ---- contact velocity ---- */

/* s = sign(n_x) and w_x = n_x + s of two frames (backend/frame.h). */
KERNEL Lane lane_sign(Lane nx)
{
    return lane_select(nx < 0.0, lane(-1.0), lane(1.0));
}

KERNEL void lanes_to_local(const Lane frame[4], const Lane world[3], Lane local[3])
{
    Lane s = lane_sign(frame[0]);
    Lane w[3] = {frame[0] + s, frame[1], frame[2]};
    Lane d = frame[3] * lane_dot(w, world);
    local[0] = -s * (world[0] - d * w[0]);
    local[1] = world[1] - d * w[1];
    local[2] = s * (world[2] - d * w[2]);
}

KERNEL void lanes_to_world(const Lane frame[4], const Lane local[3], Lane world[3])
{
    Lane s = lane_sign(frame[0]);
    Lane w[3] = {frame[0] + s, frame[1], frame[2]};
    Lane g[3] = {-s * local[0], local[1], s * local[2]};
    Lane d = frame[3] * lane_dot(w, g);
    world[0] = g[0] - d * w[0];
    world[1] = g[1] - d * w[1];
    world[2] = g[2] - d * w[2];
}

/* World-frame velocity of b relative to a at sphere contacts i and j. */
KERNEL void sphere_velocity(const TalusOperator *op, const double (*velocity)[8], int i, int j,
                            const Lane normal[3], Lane u[3])
{
    Lane a[8];
    lane_gather(velocity[op->pair[i][0]], velocity[op->pair[j][0]], 4, a);
    Lane spin[3] = {a[4], a[5], a[6]};
    u[0] = -a[0];
    u[1] = -a[1];
    u[2] = -a[2];
    if (i < op->sphere_sphere) {
        Lane b[8];
        lane_gather(velocity[op->pair[i][1]], velocity[op->pair[j][1]], 4, b);
        for (int k = 0; k < 3; k++) {
            u[k] += b[k];
            spin[k] += b[4 + k];
        }
    }
    Lane turn[3];
    lane_cross(spin, normal, turn);
    for (int k = 0; k < 3; k++)
        u[k] -= turn[k];
}

static void sphere_velocities(const TalusOperator *op, const double (*velocity)[8], int begin,
                              int end, double *u)
{
    for (int i = begin; i < end; i += LANES) {
        int j = i + 1 < end ? i + 1 : i;
        Lane frame[4], world[3], local[3];
        lane_gather(op->frame[i], op->frame[j], 2, frame);
        sphere_velocity(op, velocity, i, j, frame, world);
        lanes_to_local(frame, world, local);
        if (j > i) {
            lane_store3(u, local);
            u += 6;
        } else {
            u[0] = local[0][0];
            u[1] = local[1][0];
            u[2] = local[2][0];
        }
    }
}

static void sphere_normal_velocities(const TalusOperator *op, const double (*velocity)[8],
                                     int begin, int end, double *u)
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

static void general_velocity(const TalusOperator *op, const double (*velocity)[8], int i,
                             double local[3])
{
    const double *arm = op->arm[i - op->sphere_sphere - op->sphere_fixed];
    const double *a = velocity[op->pair[i][0]];
    double world[3], turn[3];
    cross3(a + 4, arm, turn);
    for (int k = 0; k < 3; k++)
        world[k] = -a[k] - turn[k];
    if (op->pair[i][1] >= 0) {
        const double *b = velocity[op->pair[i][1]];
        cross3(b + 4, arm + 3, turn);
        for (int k = 0; k < 3; k++)
            world[k] += b[k] + turn[k];
    }
    talus_frame_local(op->frame[i], world, local);
}

static int limit(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void talus_cpu_contact_velocity(const TalusOperator *op, const double (*velocity)[8], int begin,
                                int end, double *u)
{
    const int rows = op->rows,
              runs[3] = {op->sphere_sphere, op->sphere_sphere + op->sphere_fixed, op->blocks};
    for (int run = 0, start = begin; run < 3; run++) {
        int stop = limit(runs[run], start, end);
        double *out = u + (size_t)rows * (size_t)(start - begin);
        if (run == 2) {
            double local[3];
            for (int i = start; i < stop; i++, out += rows) {
                general_velocity(op, velocity, i, local);
                for (int k = 0; k < rows; k++)
                    out[k] = local[k];
            }
        } else if (rows == 1) {
            sphere_normal_velocities(op, velocity, start, stop, out);
        } else {
            sphere_velocities(op, velocity, start, stop, out);
        }
        start = stop;
    }
}

/* ---- wrenches ---- */

static void sphere_wrenches(const TalusOperator *op, const double *gamma, int begin, int end,
                            double (*record)[6])
{
    for (int i = begin; i < end; i += LANES, gamma += 3 * LANES) {
        int j = i + 1 < end ? i + 1 : i;
        Lane frame[4], local[3], p[3], t[3];
        lane_gather(op->frame[i], op->frame[j], 2, frame);
        if (j > i)
            lane_load3(gamma, local);
        else
            for (int k = 0; k < 3; k++)
                local[k] = lane(gamma[k]);
        lanes_to_world(frame, local, p);
        lane_cross(frame, p, t);
        double *r = record[i];
        lane_store(r, lane_low(p[0], p[1]));
        lane_store(r + 2, lane_low(p[2], t[0]));
        lane_store(r + 4, lane_low(t[1], t[2]));
        r = record[j];
        lane_store(r, j > i ? lane_high(p[0], p[1]) : lane_low(p[0], p[1]));
        lane_store(r + 2, j > i ? lane_high(p[2], t[0]) : lane_low(p[2], t[0]));
        lane_store(r + 4, j > i ? lane_high(t[1], t[2]) : lane_low(t[1], t[2]));
    }
}

static void sphere_normal_wrenches(const TalusOperator *op, const double *gamma, int begin, int end,
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

/* Two records: (p, arm_a x p) for a and (p, -arm_b x p) for b, so that both subtract the torque. */
static void general_wrench(const TalusOperator *op, const double *gamma, int i, double (*record)[6])
{
    int spheres = op->sphere_sphere + op->sphere_fixed, j = i - spheres;
    double local[3] = {gamma[0], op->rows == 1 ? 0.0 : gamma[1], op->rows == 1 ? 0.0 : gamma[2]};
    double p[3], t[3];
    talus_frame_world(op->frame[i], local, p);
    for (int side = 0; side < 2; side++) {
        double *r = record[spheres + 2 * j + side];
        cross3(op->arm[j] + 3 * side, p, t);
        for (int k = 0; k < 3; k++) {
            r[k] = p[k];
            r[3 + k] = side ? -t[k] : t[k];
        }
    }
}

void talus_cpu_wrench(const TalusOperator *op, const double *gamma, int begin, int end,
                      double (*record)[6])
{
    int spheres = op->sphere_sphere + op->sphere_fixed;
    int stop = limit(spheres, begin, end);
    if (op->rows == 1)
        sphere_normal_wrenches(op, gamma, begin, stop, record);
    else
        sphere_wrenches(op, gamma, begin, stop, record);
    gamma += (size_t)op->rows * (size_t)(stop - begin);
    for (int i = stop; i < end; i++, gamma += op->rows)
        general_wrench(op, gamma, i, record);
}

/* ---- bodies ---- */

typedef struct Gather {
    const TalusOperator *op;
    const double (*record)[6];
    double (*velocity)[8];
    bool free_motion;
} Gather;

/* Sums of one body's impulses (0-2) and torques to subtract (3-5). */
KERNEL void body_sum(const Gather *g, int body, double sum[6])
{
    const TalusOperator *op = g->op;
    Lane a = lane(0.0), b = lane(0.0), c = lane(0.0);
    for (int k = op->touch_start[body]; k < op->touch_start[body + 1]; k++) {
        const double *r = g->record[op->touch[k] >> 1];
        double sign = op->touch[k] & 1 ? 1.0 : -1.0;
        a += lane(sign) * lane_load(r);
        b += (Lane){sign, 1.0} * lane_load(r + 2);
        c += lane_load(r + 4);
    }
    lane_store(sum, a);
    lane_store(sum + 2, b);
    lane_store(sum + 4, c);
}

static void gather_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Gather *g = context;
    (void)chunk;
    for (int i = (int)begin; i < (int)end; i++) {
        const double *body = g->op->body[i];
        double *v = g->velocity[i], sum[6], turn[3];
        double keep = g->free_motion ? 1.0 : 0.0;
        body_sum(g, i, sum);
        turn_body(g->op, i, body[7], sum + 3, turn);
        for (int k = 0; k < 3; k++) {
            v[k] = keep * body[k] + body[3] * sum[k];
            v[4 + k] = keep * body[4 + k] - turn[k];
        }
        v[3] = body[3];
        v[7] = body[7];
    }
}

void talus_cpu_gather(const TalusOperator *op, const double (*record)[6], bool free_motion,
                      double (*velocity)[8])
{
    Gather g = {op, record, velocity, free_motion};
    talus_parallel(op->pool, op->bodies, BODY_GRAIN, gather_chunk, &g);
}
