/* collide/envelope.h - how near two bodies must be for a contact; for host and device.
 *
 *     envelope min(size) + h (closing + spin + friction sliding + 2 reference speed)
 *
 * closing is the largest of three speeds along the contact's normal n, which for spheres is the line
 * of centres: (v_a - v_b).n, at which the bodies approach now; v_a.n, should b be stopped within the
 * step; -v_b.n, should a be. The last two matter when a falling bed meets the floor: its bodies do
 * not approach each other until the first of them is stopped. A fast body widens only the envelopes
 * of what it flies at.
 *
 * The convex law of friction holds a sliding contact open by h mu |u_t|; were the envelope narrower,
 * such a contact would come and go. Sliding is bounded by |v_a - v_b| plus both surface speeds. */
#ifndef TALUS_COLLIDE_ENVELOPE_H
#define TALUS_COLLIDE_ENVELOPE_H

#include "collide/contact.h"
#include "collide/period.h"

TALUS_INLINE TalusShapeKind talus_body_kind(const TalusBodyView *bodies, uint32_t i)
{
    return bodies->shapes[bodies->shape[i]].def.kind;
}

TALUS_INLINE TalusVec3 talus_body_velocity(const TalusBodyView *bodies, uint32_t i)
{
    return bodies->fixed[i] == 1 ? talus_vec3(0.0, 0.0, 0.0) : bodies->velocity[i];
}

/* How far from a body's centre its surface may be; a revolve, whose radius is 0 as that of a wall, is
 * asked for it only while it is driven. Planes do not turn. */
TALUS_INLINE double talus_farthest(const TalusBodyView *bodies, uint32_t i)
{
    const TalusShapeDef *def = &bodies->shapes[bodies->shape[i]].def;
    double most = 0.0;
    if (bodies->radius[i] > 0.0 || def->kind != TALUS_SHAPE_REVOLVE)
        return bodies->radius[i];
    for (int k = 0; k < def->point_count; k++)
        most = fmax(most, def->profile[2 * k] * def->profile[2 * k] +
                              def->profile[2 * k + 1] * def->profile[2 * k + 1]);
    return sqrt(most);
}

/* Largest speed of the surface by rotation. */
TALUS_INLINE double talus_surface_speed(const TalusBodyView *bodies, uint32_t i)
{
    if (!bodies->spin || bodies->fixed[i] == 1)
        return 0.0;
    return talus_norm(bodies->spin[i]) *
           (bodies->fixed[i] ? talus_farthest(bodies, i) : bodies->radius[i]);
}

/* The part of it that may close a gap; a sphere's surface moves along itself, and so does that of a
 * revolve that turns about its axis. */
TALUS_INLINE double talus_body_spin(const TalusBodyView *bodies, uint32_t i)
{
    TalusShapeKind kind = talus_body_kind(bodies, i);
    if (kind == TALUS_SHAPE_SPHERE)
        return 0.0;
    double speed = talus_surface_speed(bodies, i);
    if (kind != TALUS_SHAPE_REVOLVE || speed == 0.0)
        return speed;
    TalusVec3 across = talus_rotate_back(bodies->orientation[i], bodies->spin[i]);
    across.z = 0.0;
    return talus_norm(across) * talus_farthest(bodies, i);
}

/* A bound on the sliding speed of two bodies. */
TALUS_INLINE double talus_sliding_speed(const TalusBodyView *bodies, uint32_t a, uint32_t b)
{
    TalusVec3 v = talus_sub(talus_body_velocity(bodies, a), talus_body_velocity(bodies, b));
    return talus_norm(v) + (talus_surface_speed(bodies, a) + talus_surface_speed(bodies, b));
}

/* The smaller size; 0 stands for a wall, which has none. */
TALUS_INLINE double talus_smaller_size(double a, double b)
{
    return a > 0.0 && (a < b || !(b > 0.0)) ? a : b;
}

/* The closing speed, given both velocities along the normal. */
TALUS_INLINE double talus_closing_speed(double a, double b)
{
    return fmax(fmax(a - b, 0.0), fmax(a, -b));
}

/* The envelope without the closing speed, given the smaller size, the speed of spins and that of sliding. */
TALUS_INLINE double talus_envelope_of(const TalusDetectOptions *options, double size, double spin,
                                      double sliding)
{
    return options->envelope * size +
           options->h * (spin + options->friction * sliding + 2.0 * options->reference_speed);
}

TALUS_INLINE double talus_envelope_at_rest(const TalusBodyView *bodies,
                                           const TalusDetectOptions *options, uint32_t a,
                                           uint32_t b)
{
    double spin = talus_body_spin(bodies, a) + talus_body_spin(bodies, b);
    return talus_envelope_of(options, talus_smaller_size(bodies->size[a], bodies->size[b]), spin,
                             talus_sliding_speed(bodies, a, b));
}

/* The envelope with the largest closing speed along any normal; rounding cuts nothing off. */
TALUS_INLINE double talus_envelope_reach(double rest, double h, TalusVec3 va, TalusVec3 vb)
{
    TalusVec3 u = talus_sub(va, vb);
    double speed2 = fmax(talus_dot(u, u), fmax(talus_dot(va, va), talus_dot(vb, vb)));
    return rest + h * sqrt(speed2) * (1.0 + 0x1p-40);
}

/* The vector from a body to another, in space that repeats itself to the nearest of its images. */
TALUS_INLINE TalusVec3 talus_body_distance(const TalusBodyView *bodies, uint32_t a, uint32_t b)
{
    TalusVec3 d = talus_sub(bodies->position[b], bodies->position[a]);
    return bodies->period ? talus_image(bodies->period, d) : d;
}

/* The same of two moving spheres, whose spins close no gap. */
TALUS_INLINE double talus_spheres_at_rest(const TalusBodyView *bodies,
                                          const TalusDetectOptions *options, uint32_t a, uint32_t b)
{
    double sliding = talus_norm(talus_sub(bodies->velocity[a], bodies->velocity[b])), turning = 0.0;
    if (bodies->spin)
        turning = talus_norm(bodies->spin[a]) * bodies->radius[a] +
                  talus_norm(bodies->spin[b]) * bodies->radius[b];
    return talus_envelope_of(options, talus_smaller_size(bodies->size[a], bodies->size[b]), 0.0,
                             sliding + turning);
}

/* Whether two moving spheres are in contact, d being the vector between their centres. Swapping a and b,
 * and the sign of d, changes no bit. */
TALUS_INLINE bool talus_spheres_reach(const TalusBodyView *bodies,
                                      const TalusDetectOptions *options, TalusVec3 d, uint32_t a,
                                      uint32_t b)
{
    TalusVec3 va = bodies->velocity[a], vb = bodies->velocity[b];
    double distance = talus_norm(d), radii = bodies->radius[a] + bodies->radius[b];
    double rest = talus_spheres_at_rest(bodies, options, a, b);
    if (distance == 0.0)
        return true;
    double closing = talus_closing_speed(talus_dot(va, d) / distance, talus_dot(vb, d) / distance);
    return distance - radii < rest + options->h * closing;
}

TALUS_INLINE bool talus_spheres_meet(const TalusBodyView *bodies, const TalusDetectOptions *options,
                                     uint32_t a, uint32_t b)
{
    TalusVec3 d = talus_sub(bodies->position[b], bodies->position[a]);
    return talus_spheres_reach(bodies, options, d, a, b);
}

#endif
