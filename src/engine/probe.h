/* engine/probe.h - the terms that one contact and one body add to the sums of a probe, for host and device. A probe
 * measures the contact forces on one body, or on all bodies in a region, or which bodies cross a plane. */
#ifndef TALUS_ENGINE_PROBE_H
#define TALUS_ENGINE_PROBE_H

#include "collide/period.h"
#include "engine/engine.h"

/* Numbers of doubles in TalusProbeSums: sums over contacts (impulse, torque, number) and over bodies (number, mass,
 * momentum). */
enum { TALUS_PROBE_CONTACT_SUMS = 7, TALUS_PROBE_BODY_SUMS = 5 };

/* True if the probe sums over the contacts and the momentum of the body in `slot`: the probe's own body or, for a region,
 * a free or sleeping body of the probe's copy whose centre lies in it. False for planes. group: that of a TalusFilter;
 * NULL: there is only one copy. */
TALUS_INLINE bool talus_probe_includes(const TalusEngineProbe *probe, const int32_t *shape,
                                       const uint8_t *mobility, const TalusVec3 *position,
                                       const uint16_t *group, uint32_t slot)
{
    if (!probe->region)
        return !probe->plane && slot == (uint32_t)probe->slot;
    if (group && talus_copy_of_group(group[slot]) != probe->copy)
        return false;
    TalusVec3 x = position[slot], lo = probe->lo, hi = probe->hi;
    return talus_is_dynamic(shape, mobility, slot) && x.x >= lo.x && x.x <= hi.x && x.y >= lo.y &&
           x.y <= hi.y && x.z >= lo.z && x.z <= hi.z;
}

/* True if the vector r, from the plane's point, is within the limits of the plane. */
TALUS_INLINE bool talus_probe_limits_hold(const TalusEngineProbe *probe, TalusVec3 r)
{
    return fabs(r.x) <= probe->half.x && fabs(r.y) <= probe->half.y && fabs(r.z) <= probe->half.z &&
           !(talus_dot(r, r) > probe->radius * probe->radius);
}

/* Returns 1 if the centre x of a free body goes through the plane along its normal within h at the solved velocities of
 * its record, -1 if against it, else 0. The side of a point on the plane is that ahead. The end is the position that
 * talus_move_body and talus_wrap_body give, so that the end of a step and the start of the next are on one side.
 * period: NULL if space is not periodic; then the nearest image of the plane counts. */
TALUS_INLINE int talus_probe_crossing(const TalusEngineProbe *probe, const TalusPeriod *period,
                                      TalusVec3 x, const double *solved, double h)
{
    TalusVec3 v = talus_vec3(solved[0], solved[1], solved[2]);
    TalusVec3 end = talus_madd(x, h, v), from = talus_sub(x, probe->at);
    if (period) {
        from = talus_nearest_image_vector(period, from);
        end = talus_wrap_position(period, end);
    }
    TalusVec3 to = talus_sub(end, probe->at);
    if (period)
        to = talus_nearest_image_vector(period, to);
    double before = talus_dot(probe->normal, from), after = talus_dot(probe->normal, to),
           along = talus_dot(probe->normal, v);
    bool ahead = after >= 0.0;
    /* Half a period away from the plane the nearest image changes, against the motion. */
    if (ahead == (before >= 0.0) || ahead != (along > 0.0))
        return 0;
    TalusVec3 point = talus_madd(from, -before / along, v);
    return !talus_probe_limits_hold(probe, point) ? 0 : ahead ? 1 : -1;
}

/* Adds one contact to sum[TALUS_PROBE_CONTACT_SUMS]. position: of the contact's body that the probe includes; arm: from
 * this body's centre to the contact. `impulse`, N s, and `moment`, N m s, act on b; on_a: this body is a, so impulse
 * and moment are reversed. Torques are about the body's centre or, for a region, about the region's middle. */
TALUS_INLINE void talus_probe_add_contact(const TalusEngineProbe *probe, TalusVec3 position,
                                          TalusVec3 arm, bool on_a, TalusVec3 impulse,
                                          TalusVec3 moment, double *sum)
{
    TalusVec3 middle = talus_scale(0.5, talus_add(probe->lo, probe->hi));
    if (probe->region)
        arm = talus_add(arm, talus_sub(position, middle));
    TalusVec3 p = on_a ? talus_neg(impulse) : impulse, m = on_a ? talus_neg(moment) : moment;
    TalusVec3 torque = talus_add(talus_cross(arm, p), m);
    double values[TALUS_PROBE_CONTACT_SUMS] = {p.x, p.y, p.z, torque.x, torque.y, torque.z, 1.0};
    for (int j = 0; j < TALUS_PROBE_CONTACT_SUMS; j++)
        sum[j] += values[j];
}

/* Adds one body to sum[TALUS_PROBE_BODY_SUMS]. `mass`: 0 for fixed and driven bodies. `solved`: its record with solved
 * velocities; NULL: no momentum is added. */
TALUS_INLINE void talus_probe_add_body(double mass, const double *solved, double *sum)
{
    sum[0] += 1.0;
    sum[1] += mass;
    for (int j = 0; solved && j < 3; j++)
        sum[2 + j] += mass * solved[j];
}

/* As talus_probe_add_body, of a body that crosses a plane: sign is that of talus_probe_crossing. */
TALUS_INLINE void talus_probe_add_crossing(int sign, double mass, const double *solved, double *sum)
{
    sum[0] += sign;
    sum[1] += sign * mass;
    for (int j = 0; j < 3; j++)
        sum[2 + j] += sign * mass * solved[j];
}

#endif
