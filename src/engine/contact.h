/* engine/contact.h - one contact of a step: its velocity, what its law makes of it, its share of the energy ledger.
 * Written once for the host's loops and the device's kernels, so that both give the same bits. */
#ifndef TALUS_ENGINE_CONTACT_H
#define TALUS_ENGINE_CONTACT_H

#include "backend/block.h"
#include "engine/engine.h"

/* ---- its velocity ---- */

/* Velocity and spin of a body; the fixed world (-1) has none. */
TALUS_INLINE void talus_record_velocity(const TalusOperator *op, int body, TalusVec3 *v,
                                        TalusVec3 *s)
{
    *v = *s = talus_vec3(0.0, 0.0, 0.0);
    if (body < 0)
        return;
    const double *r = op->body[body];
    *v = talus_vec3(r[0], r[1], r[2]);
    *s = talus_vec3(r[4], r[5], r[6]);
}

/* Velocity of contact i, in its frame, with the velocities that op->body holds. */
TALUS_INLINE void talus_block_velocity(const TalusOperator *op, int64_t i, double local[3])
{
    TalusVec3 va, sa, vb, sb;
    talus_record_velocity(op, op->pair[i][0], &va, &sa);
    talus_record_velocity(op, op->pair[i][1], &vb, &sb);
    const double *n = op->frame[i];
    TalusVec3 arm_a = talus_vec3(n[0], n[1], n[2]), arm_b = talus_neg(arm_a);
    int64_t general = i - op->sphere_sphere - op->sphere_fixed;
    if (general >= 0) {
        const double *arm = op->arm[general];
        arm_a = talus_vec3(arm[0], arm[1], arm[2]);
        arm_b = talus_vec3(arm[3], arm[4], arm[5]);
    }
    TalusVec3 u =
        talus_sub(talus_add(vb, talus_cross(sb, arm_b)), talus_add(va, talus_cross(sa, arm_a)));
    double world[3] = {u.x, u.y, u.z};
    talus_frame_local(n, world, local);
}

/* The rows of contact i that turn: relative angular velocity times the contact's length, in its frame. */
TALUS_INLINE void talus_block_turning(const TalusOperator *op, int64_t i, double local[3])
{
    TalusVec3 v, sa, sb;
    talus_record_velocity(op, op->pair[i][0], &v, &sa);
    talus_record_velocity(op, op->pair[i][1], &v, &sb);
    const double *lever = op->lever[i - op->sphere_sphere - op->sphere_fixed];
    TalusVec3 w = talus_sub(talus_scale(lever[1], sb), talus_scale(lever[0], sa));
    double world[3] = {w.x, w.y, w.z};
    talus_frame_local(op->frame[i], world, local);
}

/* ---- the law ---- */

/* Rows that a contact needs under a law: normal, tangents, moments. */
TALUS_INLINE int talus_law_rows(const TalusLaw *law)
{
    return law->spinning + law->rolling > 0.0 ? 6 : law->mu > 0.0 ? 3 : 1;
}

/* Its friction as a bit of TalusOperator.kinds; 0 without any. */
TALUS_INLINE uint32_t talus_law_kind(const TalusLaw *law)
{
    return talus_law_rows(law) > 1 ? TALUS_KIND(law->model.law, law->model.section) : 0;
}

/* The offset b_n of a contact between bodies whose smaller size is `size`: b_n = phi/h for an open gap;
 * for an overlap max(phi/h, -v_rec) with v_rec = recovery sqrt(scale size), or recovery alone if scale is
 * 0, so that no body is shot out. A contact with stiffness k and damping c has b_n = phi/h * h k/(h k + c);
 * its overlap is elastic strain, not error, so no recovery limit applies to it. */
TALUS_INLINE double talus_contact_bias(const TalusLaw *law, double h, double recovery, double scale,
                                       double gap, double size)
{
    double bias = gap / h;
    if (law->stiffness > 0.0)
        return bias * (h * law->stiffness / (h * law->stiffness + law->damping));
    if (gap >= 0.0 || recovery == 0.0)
        return bias;
    double limit = scale > 0.0 ? recovery * sqrt(scale * size) : recovery;
    return fmax(bias, -limit);
}

/* E = 1/(h (h k + c)), 0 where the contact is rigid. */
TALUS_INLINE double talus_contact_compliance(const TalusLaw *law, double h)
{
    return law->stiffness > 0.0 ? 1.0 / (h * (h * law->stiffness + law->damping)) : 0.0;
}

/* The offset of a contact that rebounds, from the one above: Newton's law asks for u'_n = -e u_n, u_n the
 * normal velocity before the step, of contacts that would close within it (with `free_velocity`, gravity's
 * part included) and close fast enough. An overlap is undone by whichever of the two is faster, not by
 * their sum. */
TALUS_INLINE double talus_contact_rebound(const TalusLaw *law, const TalusBuildOptions *o,
                                          double gap, double velocity, double free_velocity,
                                          double bias)
{
    bool closes = gap + o->h * free_velocity < 0.0 && -velocity > o->bounce;
    return closes ? fmin(bias, law->restitution * velocity) : bias;
}

/* The offset of contact i, whose bodies, frame and arms are there. */
TALUS_INLINE double talus_contact_offset(const TalusOperator *op, int64_t i, const TalusLaw *law,
                                         const TalusBuildOptions *o, double gap, double size)
{
    double bias = talus_contact_bias(law, o->h, o->recovery, o->scale, gap, size);
    if (law->restitution == 0.0)
        return bias;
    double u[3], kick = 0.0;
    const double *n = op->frame[i];
    int b = op->pair[i][1];
    if (b < 0 || op->body[b][3] == 0.0) /* gravity moves two bodies alike, but not a fixed one */
        kick = talus_dot(o->kick, talus_vec3(n[0], n[1], n[2]));
    talus_block_velocity(op, i, u);
    return talus_contact_rebound(law, o, gap, u[0] + kick, u[0], bias);
}

/* The attractive impulse c h of a contact in touch. The problem's normal impulse is larger by as much than
 * that of the world: the cone's apex is at -c h. */
TALUS_INLINE double talus_contact_pull(const TalusLaw *law, const TalusBuildOptions *o, double gap,
                                       double size)
{
    return law->cohesion > 0.0 && gap <= o->reach * size ? law->cohesion * o->h : 0.0;
}

/* Radius of the surface that a body turns on: a sphere's, the size of a cylinder, capsule or ellipsoid; 0 for flat
 * ones. */
TALUS_INLINE double talus_round_size(TalusShapeKind kind, double size)
{
    return talus_shape_has(kind, TALUS_TRAIT_ROLLS) ? size : 0.0;
}

/* The length by which moments are divided (talus/world.h), from the radii above; `size` is that of the
 * smaller body. */
TALUS_INLINE double talus_turning_length(double a, double b, double size)
{
    if (a > 0.0 && b > 0.0)
        return a * b / (a + b);
    return a + b > 0.0 ? a + b : size;
}

/* An impulse of the world frame, multiplied by `warm`, as the contact's block of gamma. Moments are not
 * carried from step to step: they start from 0. */
TALUS_INLINE void talus_contact_warm(const double frame[4], int rows, double warm,
                                     TalusVec3 impulse, double *gamma)
{
    double world[3] = {warm * impulse.x, warm * impulse.y, warm * impulse.z};
    if (rows == 1)
        gamma[0] = frame[0] * world[0] + frame[1] * world[1] + frame[2] * world[2];
    else
        talus_frame_local(frame, world, gamma);
    for (int k = 3; k < rows; k++)
        gamma[k] = 0.0;
}

/* ---- its share of the energy ledger (engine/cpu/ledger.c says what the sums are) ---- */

/* The impulses in gamma of contact i, three entries whatever the rows. */
TALUS_INLINE void talus_block_gamma(const TalusOperator *op, const double *gamma, int64_t i,
                                    double out[3])
{
    const double *g = &gamma[op->rows * i];
    out[0] = g[0];
    out[1] = op->rows >= 3 ? g[1] : 0.0;
    out[2] = op->rows >= 3 ? g[2] : 0.0;
}

/* gamma of contact i in the world frame. */
TALUS_INLINE TalusVec3 talus_block_impulse(const TalusOperator *op, const double *gamma, int64_t i)
{
    double local[3], world[3];
    talus_block_gamma(op, gamma, i, local);
    talus_frame_world(op->frame[i], local, world);
    return talus_vec3(world[0], world[1], world[2]);
}

enum {
    TALUS_WORK_NORMAL,
    TALUS_WORK_TANGENTIAL,
    TALUS_WORK_STABILISATION,
    TALUS_WORK_COHESION,
    TALUS_WORK_SUMS
};

/* Adds the works of contact i and gives its impulse in the world frame, less the attractive impulse `pull`.
 * `recovery` is the offset that undoes its overlap, 0 where there is none. op->body holds the mean of free
 * and solved velocities, free of cohesion. Moments work on the relative spin, as friction. */
TALUS_INLINE TalusVec3 talus_block_work(const TalusOperator *op, const double *all_gamma, int64_t i,
                                        double recovery, double pull, double *sum)
{
    double gamma[3], world[3], u[3];
    if (op->rows == 6) {
        const double *moment = &all_gamma[6 * i + 3];
        talus_block_turning(op, i, u);
        sum[TALUS_WORK_TANGENTIAL] += moment[0] * u[0] + moment[1] * u[1] + moment[2] * u[2];
    }
    talus_block_gamma(op, all_gamma, i, gamma);
    if (gamma[0] == 0.0 && gamma[1] == 0.0 && gamma[2] == 0.0 && pull == 0.0)
        return talus_vec3(0.0, 0.0, 0.0);
    double net[3] = {gamma[0] - pull, gamma[1], gamma[2]};
    talus_frame_world(op->frame[i], net, world);
    talus_block_velocity(op, i, u);
    sum[TALUS_WORK_NORMAL] += gamma[0] * u[0];
    sum[TALUS_WORK_TANGENTIAL] += gamma[1] * u[1] + gamma[2] * u[2];
    sum[TALUS_WORK_COHESION] -= pull * u[0];
    if (recovery < 0.0)
        sum[TALUS_WORK_STABILISATION] -= gamma[0] * recovery;
    return talus_vec3(world[0], world[1], world[2]);
}

/* Work of an impulse and a moment of block i, of the general run, upon the body on its side, world frame. */
TALUS_INLINE double talus_side_work(const TalusOperator *op, int64_t i, int side, TalusVec3 impulse,
                                    TalusVec3 moment)
{
    int64_t general = i - op->sphere_sphere - op->sphere_fixed;
    const double *record = op->body[op->pair[i][side]], *r = &op->arm[general][3 * side];
    TalusVec3 v = talus_vec3(record[0], record[1], record[2]);
    TalusVec3 s = talus_vec3(record[4], record[5], record[6]);
    TalusVec3 u = talus_add(v, talus_cross(s, talus_vec3(r[0], r[1], r[2])));
    double lever = op->rows == 6 ? op->lever[general][side] : 0.0;
    return talus_dot(impulse, u) + lever * talus_dot(moment, s);
}

#endif
