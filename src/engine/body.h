/* engine/body.h - one body: its record in a problem, and its motion once velocities are known. Shared by the
 * host's loops and the device's kernels, so that both give the same bits.
 *
 * Orientations e by the Cayley map cay (talus/math.h); w' is the solved spin, w'' that at the end of the step:
 *   spheres  e' = cay(h w') e
 *   others   (cubes and other bodies with three equal moments turn as spheres do)
 *            with L = I(e) w' after the solve, conserved exactly:
 *            e_half = cay(h/2 w') e,  w_mid = I(e_half)^-1 L,  e' = cay(h w_mid) e,
 *            w'' = I(e')^-1 L
 * This is the midpoint rule on orientation alone. Angular momentum is conserved to rounding, and energy to order h^2
 * without drift in one direction. An explicit gyroscopic torque would gain energy. */
#ifndef TALUS_ENGINE_BODY_H
#define TALUS_ENGINE_BODY_H

#include "engine/engine.h"

/* True if the three principal moments are equal, as those of a cube: inertia then does not depend on orientation, and a
 * rotation without torque keeps its spin. */
TALUS_INLINE bool talus_gyration_is_round(const TalusGyration *gyration)
{
    const TalusSym3 *m = &gyration->inertia;
    return m->xx == m->yy && m->yy == m->zz && m->xy == 0.0 && m->xz == 0.0 && m->yz == 0.0;
}

/* ---- the record ---- */

/* Returns the inverse inertia l^2 I^-1, 1/kg, world frame, of a moving body of length l (its radius). gyration: that of
 * the body's shape; NULL for a sphere, where I = 2/5 m l^2 and l^2 / I = 5 / (2 m). */
TALUS_INLINE TalusSym3 talus_body_inverse_inertia(const TalusGyration *gyration, double inv_mass,
                                                  double l, TalusQuat orientation)
{
    double k = 2.5 * inv_mass;
    TalusSym3 sphere = {k, k, k, 0.0, 0.0, 0.0};
    if (!gyration)
        return sphere;
    TalusSym3 inverse = talus_sym3_scale(l * l * inv_mass, gyration->inverse);
    return talus_gyration_is_round(gyration) ? inverse : talus_sym3_rotate(orientation, inverse);
}

/* Writes the record of a body, { v, 1/m, l w, k }: free velocity v, inverse mass, spin w times length l, and k, the
 * mean diagonal entry of inverse_inertia (talus_body_inverse_inertia). For a driven body the caller passes inverse mass
 * and inverse inertia 0 and gyration NULL. */
TALUS_INLINE void talus_body_record(TalusVec3 free_velocity, TalusVec3 spin, double inv_mass,
                                    double l, const TalusGyration *gyration,
                                    TalusSym3 inverse_inertia, double record[8])
{
    TalusVec3 s = talus_scale(l, spin);
    record[0] = free_velocity.x;
    record[1] = free_velocity.y;
    record[2] = free_velocity.z;
    record[3] = inv_mass;
    record[4] = s.x;
    record[5] = s.y;
    record[6] = s.z;
    record[7] = gyration
                    ? (inverse_inertia.xx + inverse_inertia.yy + inverse_inertia.zz) * (1.0 / 3.0)
                    : inverse_inertia.xx;
}

/* Adds the change l h I^-1 t that an applied torque t causes within h to the free spin of a record; inverse_inertia is
 * l^2 I^-1. */
TALUS_INLINE void talus_record_add_torque(TalusVec3 torque, TalusSym3 inverse_inertia, double h,
                                          double l, double record[8])
{
    TalusVec3 change = talus_sym3_mul(inverse_inertia, torque);
    record[4] += h / l * change.x;
    record[5] += h / l * change.y;
    record[6] += h / l * change.z;
}

/* Writes the entries of m in the order xx yy zz xy xz yz. */
TALUS_INLINE void talus_sym3_store(double out[6], TalusSym3 m)
{
    out[0] = m.xx;
    out[1] = m.yy;
    out[2] = m.zz;
    out[3] = m.xy;
    out[4] = m.xz;
    out[5] = m.yz;
}

/* ---- checks ---- */

/* Returns 0 if the squares of position, velocity and spin are finite, else NaN: infinity minus infinity is NaN. */
TALUS_INLINE double talus_state_fault(TalusVec3 x, TalusVec3 v, TalusVec3 w)
{
    double sum = talus_dot(x, x) + talus_dot(v, v) + talus_dot(w, w);
    return sum - sum;
}

/* Returns 0 if the solved velocities v, a record, lead from position x to a finite state after h, else NaN. */
TALUS_INLINE double talus_motion_fault(TalusVec3 x, double h, double l, const double v[8])
{
    double angle = h / l * (fabs(v[4]) + fabs(v[5]) + fabs(v[6]));
    double sum = (x.x + h * v[0]) + (x.y + h * v[1]) + (x.z + h * v[2]) +
                 (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + angle * angle;
    return sum - sum;
}

/* Returns the sum of the absolute entries of velocity and spin (l w) of a record, m/s. */
TALUS_INLINE double talus_record_speed(const double v[8])
{
    return fabs(v[0]) + fabs(v[1]) + fabs(v[2]) + fabs(v[4]) + fabs(v[5]) + fabs(v[6]);
}

/* ---- rotation ---- */

/* Returns the product of m, given in the body frame, and a in the world frame, as a vector of the world frame. */
TALUS_INLINE TalusVec3 talus_sym3_mul_rotated(TalusQuat orientation, TalusSym3 m, TalusVec3 a)
{
    return talus_rotate(orientation, talus_sym3_mul(m, talus_rotate_back(orientation, a)));
}

/* Returns the orientation after the time h at constant spin w: cay(h w) e, normalised. */
TALUS_INLINE TalusQuat talus_quat_advance(TalusQuat orientation, double h, TalusVec3 spin)
{
    TalusVec3 half = talus_scale(0.5 * h, spin);
    TalusQuat step = {1.0, half.x, half.y, half.z};
    return talus_quat_normalize(talus_quat_mul(step, orientation));
}

/* Returns the rotational energy per unit mass, J/kg; orientation and spin in the world frame. */
TALUS_INLINE double talus_spin_energy(const TalusGyration *gyration, TalusQuat orientation,
                                      TalusVec3 spin)
{
    TalusVec3 w = talus_rotate_back(orientation, spin);
    return 0.5 * talus_dot(w, talus_sym3_mul(gyration->inertia, w));
}

/* Rotates a body other than a sphere over h without torque: advances *orientation and sets *spin to the spin at the
 * end. The world-frame angular momentum is conserved, the energy to order h^2. */
TALUS_INLINE void talus_rotate_body(const TalusGyration *gyration, double h, TalusQuat *orientation,
                                    TalusVec3 *spin)
{
    TalusQuat e = *orientation;
    TalusVec3 momentum = talus_sym3_mul_rotated(e, gyration->inertia, *spin); /* per unit mass */
    TalusVec3 middle =
        talus_sym3_mul_rotated(talus_quat_advance(e, 0.5 * h, *spin), gyration->inverse, momentum);
    *orientation = talus_quat_advance(e, h, middle);
    *spin = talus_sym3_mul_rotated(*orientation, gyration->inverse, momentum);
}

/* ---- one step ---- */

/* Sums over bodies in integration, J, for the energy ledger. */
enum {
    TALUS_BODY_KINETIC_CHANGE,   /* change of kinetic energy from old to solved velocities */
    TALUS_BODY_POTENTIAL_CHANGE, /* change of potential energy */
    TALUS_BODY_SPIN_CHANGE,      /* change of rotational energy by the rotation without torque */
    TALUS_BODY_KINETIC_END,      /* kinetic energy at the end */
    TALUS_BODY_POTENTIAL_END,    /* potential energy at the end */
    TALUS_BODY_SUMS
};

/* Sets the body's spin to the solved spin, s / l, and rotates the body over h. The spin of a body other than a sphere
 * (gyration not NULL) changes during the rotation, to w'' above. Adds to the entries KINETIC_CHANGE, SPIN_CHANGE and
 * KINETIC_END of `sum`. */
TALUS_INLINE void talus_move_rotation(TalusMotion *b, double mass, double l,
                                      const TalusGyration *gyration, double h, const double s[3],
                                      double *sum)
{
    TalusVec3 before = talus_scale(l, b->spin), after = talus_vec3(s[0], s[1], s[2]);
    TalusVec3 change = talus_sub(after, before), both = talus_add(after, before);
    b->spin = talus_scale(1.0 / l, after);
    if (!gyration) {
        sum[TALUS_BODY_KINETIC_CHANGE] += mass * 0.2 * talus_dot(change, both);
        sum[TALUS_BODY_KINETIC_END] += mass * 0.2 * talus_dot(after, after);
        b->orientation = talus_quat_advance(b->orientation, h, b->spin);
        return;
    }
    if (talus_gyration_is_round(gyration)) {
        double half = 0.5 * gyration->inertia.xx; /* half the moment, per unit mass */
        sum[TALUS_BODY_KINETIC_CHANGE] += mass * half * talus_dot(change, both) / (l * l);
        sum[TALUS_BODY_KINETIC_END] += mass * half * talus_dot(b->spin, b->spin);
        b->orientation = talus_quat_advance(b->orientation, h, b->spin);
        return;
    }
    TalusVec3 turned = talus_sym3_mul_rotated(b->orientation, gyration->inertia, both);
    sum[TALUS_BODY_KINETIC_CHANGE] += mass * 0.5 * talus_dot(change, turned) / (l * l);
    double energy = talus_spin_energy(gyration, b->orientation, b->spin);
    talus_rotate_body(gyration, h, &b->orientation, &b->spin);
    double energy_end = talus_spin_energy(gyration, b->orientation, b->spin);
    sum[TALUS_BODY_SPIN_CHANGE] += mass * (energy_end - energy);
    sum[TALUS_BODY_KINETIC_END] += mass * energy_end;
}

/* Moves and rotates one body of length l over h with the solved velocities v, a record; sets its velocity and spin;
 * adds its energies to sum[TALUS_BODY_SUMS]. gyration is NULL for a sphere. */
TALUS_INLINE void talus_move_body(TalusMotion *b, double mass, double l,
                                  const TalusGyration *gyration, double h, TalusVec3 gravity,
                                  const double v[8], double *sum)
{
    TalusVec3 old = b->velocity, now = talus_vec3(v[0], v[1], v[2]);
    TalusVec3 x = b->position, moved = talus_madd(x, h, now);
    sum[TALUS_BODY_KINETIC_CHANGE] +=
        0.5 * mass * talus_dot(talus_sub(now, old), talus_add(now, old));
    sum[TALUS_BODY_POTENTIAL_CHANGE] -= mass * talus_dot(gravity, talus_sub(moved, x));
    sum[TALUS_BODY_KINETIC_END] += 0.5 * mass * talus_dot(now, now);
    sum[TALUS_BODY_POTENTIAL_END] -= mass * talus_dot(gravity, moved);
    b->velocity = now;
    b->position = moved;
    talus_move_rotation(b, mass, l, gyration, h, v + 4, sum);
}

#endif
