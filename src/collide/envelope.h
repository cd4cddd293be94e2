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

TALUS_INLINE TalusShapeKind talus_body_kind(const TalusBodyView *bodies, uint32_t i)
{
    return bodies->shapes[bodies->shape[i]].def.kind;
}

TALUS_INLINE TalusVec3 talus_body_velocity(const TalusBodyView *bodies, uint32_t i)
{
    return bodies->fixed[i] ? talus_vec3(0.0, 0.0, 0.0) : bodies->velocity[i];
}

/* Largest speed of the surface by rotation. */
TALUS_INLINE double talus_surface_speed(const TalusBodyView *bodies, uint32_t i)
{
    return !bodies->spin || bodies->fixed[i] ? 0.0
                                             : talus_norm(bodies->spin[i]) * bodies->radius[i];
}

/* The part of it that may close a gap; a sphere's surface moves along itself. */
TALUS_INLINE double talus_body_spin(const TalusBodyView *bodies, uint32_t i)
{
    return talus_body_kind(bodies, i) == TALUS_SHAPE_SPHERE ? 0.0 : talus_surface_speed(bodies, i);
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

/* The envelope without the closing speed. */
TALUS_INLINE double talus_envelope_at_rest(const TalusBodyView *bodies,
                                           const TalusDetectOptions *options, uint32_t a,
                                           uint32_t b)
{
    double spin = talus_body_spin(bodies, a) + talus_body_spin(bodies, b);
    return options->envelope * talus_smaller_size(bodies->size[a], bodies->size[b]) +
           options->h * (spin + options->friction * talus_sliding_speed(bodies, a, b) +
                         2.0 * options->reference_speed);
}

/* Whether two moving spheres are in contact. Swapping a and b changes no bit. */
TALUS_INLINE bool talus_spheres_meet(const TalusBodyView *bodies, const TalusDetectOptions *options,
                                     uint32_t a, uint32_t b)
{
    TalusVec3 d = talus_sub(bodies->position[b], bodies->position[a]);
    TalusVec3 va = bodies->velocity[a], vb = bodies->velocity[b];
    double distance = talus_norm(d), radii = bodies->radius[a] + bodies->radius[b];
    double rest = talus_envelope_at_rest(bodies, options, a, b);
    if (distance == 0.0)
        return true;
    double closing = talus_closing_speed(talus_dot(va, d) / distance, talus_dot(vb, d) / distance);
    return distance - radii < rest + options->h * closing;
}

#endif
