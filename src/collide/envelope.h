/* collide/envelope.h - envelope of a pair: a point whose gap is below the envelope is a contact; for host and device.
 *
 *     envelope min(size) + h (closing + spin + friction sliding + 2 reference speed)
 *
 * closing is the largest of three speeds along the contact's normal n (for spheres the line of centres), or 0 if none
 * is positive: (v_a - v_b).n, at which the bodies approach now; v_a.n, if b is stopped within the step; -v_b.n, if a is
 * stopped. The last two matter when a falling bed reaches the floor: its bodies do not approach each other until the
 * first of them is stopped. Through closing, a fast body widens only its envelopes with bodies ahead of it. spin is the
 * speed at which rotation may close a gap (talus_closing_spin_speed).
 *
 * The convex law of friction, ccp, holds a sliding contact open by h mu |u_t|. With a narrower envelope such a contact
 * would appear and disappear. sliding is an upper bound, |v_a - v_b| plus both surface speeds. */
#ifndef TALUS_COLLIDE_ENVELOPE_H
#define TALUS_COLLIDE_ENVELOPE_H

#include "collide/contact.h"
#include "collide/period.h"

/* Kind of the shape of body i, whose slot must not be dead. */
TALUS_INLINE TalusShapeKind talus_body_kind(const TalusBodyView *bodies, uint32_t i)
{
    return bodies->shapes[bodies->shape[i]].def.kind;
}

/* Velocity of body i; zero for a fixed body. */
TALUS_INLINE TalusVec3 talus_body_velocity(const TalusBodyView *bodies, uint32_t i)
{
    return bodies->mobility[i] == TALUS_MOBILITY_FIXED ? talus_vec3(0.0, 0.0, 0.0)
                                                       : bodies->velocity[i];
}

/* Largest surface speed by rotation, |w| times the bounding radius, m/s; 0 for fixed and unbounded bodies. */
TALUS_INLINE double talus_surface_speed(const TalusBodyView *bodies, uint32_t i)
{
    if (!bodies->spin || bodies->mobility[i] == TALUS_MOBILITY_FIXED)
        return 0.0;
    return talus_norm(bodies->spin[i]) * bodies->radius[i];
}

/* Upper bound on the speed at which rotation of body i, of surface speed `speed`, may close a gap, m/s: the surface
 * speed. The rotation of a sphere, and that of a revolve about its axis, do not count: they move the surface only along
 * itself. */
TALUS_INLINE double talus_closing_part(const TalusBodyView *bodies, uint32_t i, double speed)
{
    TalusShapeKind kind = talus_body_kind(bodies, i);
    if (kind == TALUS_SHAPE_SPHERE)
        return 0.0;
    if (kind != TALUS_SHAPE_REVOLVE || speed == 0.0)
        return speed;
    TalusVec3 across = talus_rotate_back(bodies->orientation[i], bodies->spin[i]);
    across.z = 0.0;
    return talus_norm(across) * bodies->radius[i];
}

/* talus_closing_part of the surface speed of body i. */
TALUS_INLINE double talus_closing_spin_speed(const TalusBodyView *bodies, uint32_t i)
{
    return talus_closing_part(bodies, i, talus_surface_speed(bodies, i));
}

/* Upper bound on the sliding speed of two bodies. */
TALUS_INLINE double talus_sliding_speed(const TalusBodyView *bodies, uint32_t a, uint32_t b)
{
    TalusVec3 v = talus_sub(talus_body_velocity(bodies, a), talus_body_velocity(bodies, b));
    return talus_norm(v) + (talus_surface_speed(bodies, a) + talus_surface_speed(bodies, b));
}

/* The smaller size; a size of 0 (planes, surfaces) does not count unless both are 0. */
TALUS_INLINE double talus_pair_size(double a, double b)
{
    return a > 0.0 && (a < b || !(b > 0.0)) ? a : b;
}

/* Closing speed (file head), given the components a = v_a.n and b = v_b.n of the velocities along the normal. */
TALUS_INLINE double talus_closing_speed(double a, double b)
{
    return talus_max(talus_max(a - b, 0.0), talus_max(a, -b));
}

/* Envelope without the closing speed, m. size: talus_pair_size; spin: sum of both talus_closing_spin_speed; sliding:
 * talus_sliding_speed. */
TALUS_INLINE double talus_envelope_without_closing(const TalusDetectOptions *options, double size,
                                                   double spin, double sliding)
{
    return options->envelope * size +
           options->h * (spin + options->friction * sliding + 2.0 * options->reference_speed);
}

/* Speeds by the rotation of one body, m/s: what its pairs need for their envelopes. */
typedef struct TalusSpinSpeeds {
    double surface; /* talus_surface_speed */
    double closing; /* talus_closing_spin_speed */
} TalusSpinSpeeds;

/* Returns the speeds of body i, whose slot must not be dead. */
TALUS_INLINE TalusSpinSpeeds talus_spin_speeds(const TalusBodyView *bodies, uint32_t i)
{
    double surface = talus_surface_speed(bodies, i);
    TalusSpinSpeeds speeds = {surface, talus_closing_part(bodies, i, surface)};
    return speeds;
}

/* Envelope of two bodies without the closing speed, given their velocities and spin speeds. */
TALUS_INLINE double talus_envelope_base_of(const TalusBodyView *bodies,
                                           const TalusDetectOptions *options, uint32_t a,
                                           uint32_t b, TalusVec3 va, TalusVec3 vb,
                                           TalusSpinSpeeds of_a, TalusSpinSpeeds of_b)
{
    return talus_envelope_without_closing(
        options, talus_pair_size(bodies->size[a], bodies->size[b]), of_a.closing + of_b.closing,
        talus_norm(talus_sub(va, vb)) + (of_a.surface + of_b.surface));
}

/* Envelope of two bodies without the closing speed. */
TALUS_INLINE double talus_envelope_base(const TalusBodyView *bodies,
                                        const TalusDetectOptions *options, uint32_t a, uint32_t b)
{
    return talus_envelope_base_of(bodies, options, a, b, talus_body_velocity(bodies, a),
                                  talus_body_velocity(bodies, b), talus_spin_speeds(bodies, a),
                                  talus_spin_speeds(bodies, b));
}

/* Upper bound of the envelope over all normals: `base`, the envelope without the closing speed, plus h times the
 * largest of |va - vb|, |va|, |vb|. */
TALUS_INLINE double talus_envelope_reach(double base, double h, TalusVec3 va, TalusVec3 vb)
{
    TalusVec3 u = talus_sub(va, vb);
    double speed2 = talus_max(talus_dot(u, u), talus_max(talus_dot(va, va), talus_dot(vb, vb)));
    return base + h * sqrt(speed2) * (1.0 + 0x1p-40);
}

/* Vector from the position of a to that of b; in periodic space to the nearest image of b. */
TALUS_INLINE TalusVec3 talus_vector_between(const TalusBodyView *bodies, uint32_t a, uint32_t b)
{
    TalusVec3 d = talus_sub(bodies->position[b], bodies->position[a]);
    return bodies->period ? talus_nearest_image_vector(bodies->period, d) : d;
}

/* As talus_envelope_base, for two free spheres: their rotation closes no gap. */
TALUS_INLINE double talus_spheres_envelope_base(const TalusBodyView *bodies,
                                                const TalusDetectOptions *options, uint32_t a,
                                                uint32_t b)
{
    double sliding = talus_norm(talus_sub(bodies->velocity[a], bodies->velocity[b])), surface = 0.0;
    if (bodies->spin)
        surface = talus_norm(bodies->spin[a]) * bodies->radius[a] +
                  talus_norm(bodies->spin[b]) * bodies->radius[b];
    return talus_envelope_without_closing(
        options, talus_pair_size(bodies->size[a], bodies->size[b]), 0.0, sliding + surface);
}

/* True if two free spheres, d from centre a to centre b, have a gap below their envelope, or the same centre. With a
 * and b swapped and d negated, rounding is the same, and so is the result. */
TALUS_INLINE bool talus_spheres_within_envelope(const TalusBodyView *bodies,
                                                const TalusDetectOptions *options, TalusVec3 d,
                                                uint32_t a, uint32_t b)
{
    TalusVec3 va = bodies->velocity[a], vb = bodies->velocity[b];
    double distance = talus_norm(d), radii = bodies->radius[a] + bodies->radius[b];
    double base = talus_spheres_envelope_base(bodies, options, a, b);
    if (distance == 0.0)
        return true;
    double closing = talus_closing_speed(talus_dot(va, d) / distance, talus_dot(vb, d) / distance);
    return distance - radii < base + options->h * closing;
}

/* As talus_spheres_within_envelope, with the vector between the stored positions: space has no period. */
TALUS_INLINE bool talus_spheres_within_envelope_unwrapped(const TalusBodyView *bodies,
                                                          const TalusDetectOptions *options,
                                                          uint32_t a, uint32_t b)
{
    TalusVec3 d = talus_sub(bodies->position[b], bodies->position[a]);
    return talus_spheres_within_envelope(bodies, options, d, a, b);
}

#endif
