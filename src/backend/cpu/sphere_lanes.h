/* backend/cpu/sphere_lanes.h - contact frames and sphere contacts, two at a time.
 *
 * The same operations as backend/frame.h and the scalar code of contact.c, in the same order. */
#ifndef TALUS_BACKEND_CPU_SPHERE_LANES_H
#define TALUS_BACKEND_CPU_SPHERE_LANES_H

#include "base/lane.h"

#include <stdbool.h>

/* sign(n_x) of two frames, 1 for n_x = 0 (backend/frame.h). */
KERNEL Lane lane_sign(Lane nx)
{
    return lane_select(nx < 0.0, lane(-1.0), lane(1.0));
}

/* talus_frame_to_local and talus_frame_to_world for two frames. */
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

/* Writes v_b - v_a of one sphere contact to r[0] and r[1], as {x, y}, {z, unused}, and s_a + s_b likewise to r[2] and
 * r[3]. fixed: v_b = s_b = 0. */
KERNEL void sphere_relative_motion(const double (*velocity)[8], const int32_t pair[2], bool fixed,
                                   Lane r[4])
{
    const double *a = velocity[pair[0]];
    if (fixed) {
        for (int k = 0; k < 4; k++)
            r[k] = k < 2 ? -lane_load(a + 2 * k) : lane_load(a + 2 * k);
        return;
    }
    const double *b = velocity[pair[1]];
    for (int k = 0; k < 4; k++) {
        Lane va = lane_load(a + 2 * k), vb = lane_load(b + 2 * k);
        r[k] = k < 2 ? vb - va : va + vb;
    }
}

/* v = v_b - v_a and spin = s_a + s_b of two sphere contacts, one per lane. The records of a and b are combined before
 * the transposition into lanes, which halves the number of shuffles. */
KERNEL void lanes_relative_motion(const double (*velocity)[8], const int32_t (*pair)[2], bool fixed,
                                  Lane v[3], Lane spin[3])
{
    Lane i[4], j[4];
    sphere_relative_motion(velocity, pair[0], fixed, i);
    sphere_relative_motion(velocity, pair[1], fixed, j);
    v[0] = lane_low(i[0], j[0]);
    v[1] = lane_high(i[0], j[0]);
    v[2] = lane_low(i[1], j[1]);
    spin[0] = lane_low(i[2], j[2]);
    spin[1] = lane_high(i[2], j[2]);
    spin[2] = lane_low(i[3], j[3]);
}

/* v -= spin x n, which makes v of lanes_relative_motion the contact velocity. */
KERNEL void lanes_subtract_spin_velocity(const Lane normal[3], const Lane spin[3], Lane v[3])
{
    Lane turn[3];
    lane_cross(spin, normal, turn);
    for (int k = 0; k < 3; k++)
        v[k] -= turn[k];
}

/* Stores two consecutive wrench records: impulse p and torque t. */
KERNEL void lanes_store_wrench(double *record, const Lane p[3], const Lane t[3])
{
    lane_store(record, lane_low(p[0], p[1]));
    lane_store(record + 2, lane_low(p[2], t[0]));
    lane_store(record + 4, lane_low(t[1], t[2]));
    lane_store(record + 6, lane_high(p[0], p[1]));
    lane_store(record + 8, lane_high(p[2], t[0]));
    lane_store(record + 10, lane_high(t[1], t[2]));
}

#endif
