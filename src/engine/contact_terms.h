/* engine/contact_terms.h - one contact of a step: velocity; offset and compliance by the contact's law; works.
 * Shared by the host's loops and the device's kernels, so that both give the same bits. */
#ifndef TALUS_ENGINE_CONTACT_TERMS_H
#define TALUS_ENGINE_CONTACT_TERMS_H

#include "backend/block.h"
#include "engine/engine.h"

/* ---- velocity ---- */

/* Reads velocity v and spin s = l w, m/s, from the record of a problem body; both are 0 for the fixed world (-1). */
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

/* Computes the velocity of b relative to a at contact i, in the contact's frame, from the velocities in op->body. */
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
    talus_frame_to_local(n, world, local);
}

/* Computes the velocity of the moment rows of contact i: angular velocity of b relative to a, times the contact length,
 * in the contact's frame. Needs op->rows 6. */
TALUS_INLINE void talus_block_moment_velocity(const TalusOperator *op, int64_t i, double local[3])
{
    TalusVec3 v, sa, sb;
    talus_record_velocity(op, op->pair[i][0], &v, &sa);
    talus_record_velocity(op, op->pair[i][1], &v, &sb);
    const double *lever = op->lever[i - op->sphere_sphere - op->sphere_fixed];
    TalusVec3 w = talus_sub(talus_scale(lever[1], sb), talus_scale(lever[0], sa));
    double world[3] = {w.x, w.y, w.z};
    talus_frame_to_local(op->frame[i], world, local);
}

/* ---- the law ---- */

/* Returns the number of rows that a contact needs under a law: 1 (normal), 3 (with tangents) or 6 (with moments). */
TALUS_INLINE int talus_law_rows(const TalusLaw *law)
{
    return law->spinning + law->rolling > 0.0 ? 6 : law->mu > 0.0 ? 3 : 1;
}

/* Returns the friction of a law as a bit of TalusOperator.kinds; 0 if contacts under it need one row only. */
TALUS_INLINE uint32_t talus_law_kind(const TalusLaw *law)
{
    return talus_law_rows(law) > 1 ? TALUS_KIND(law->model.law, law->model.section) : 0;
}

/* Writes the initial impulse of a block to gamma[rows]: `ratio` times a world-frame impulse, in the contact's frame; if
 * rows is 1, the normal part alone. Moments are 0. */
TALUS_INLINE void talus_contact_warm_start(const double frame[4], int rows, double ratio,
                                           TalusVec3 impulse, double *gamma)
{
    double world[3] = {ratio * impulse.x, ratio * impulse.y, ratio * impulse.z};
    if (rows == 1)
        gamma[0] = frame[0] * world[0] + frame[1] * world[1] + frame[2] * world[2];
    else
        talus_frame_to_local(frame, world, gamma);
    for (int k = 3; k < rows; k++)
        gamma[k] = 0.0;
}

/* Returns the largest speed at which overlap is undone, m/s: recovery sqrt(gravity size), or recovery if gravity, its
 * norm in m/s2, is 0. */
TALUS_INLINE double talus_recovery_speed(double recovery, double gravity, double size)
{
    return gravity > 0.0 ? recovery * sqrt(gravity * size) : recovery;
}

/* Returns the normal offset b_n, m/s, of a contact with gap phi, before restitution; `size` is that of the smaller
 * body, `gravity` the norm of gravity. Open gap: b_n = phi/h. Overlap: b_n = max(phi/h, -v_rec) with v_rec =
 * talus_recovery_speed, so that no body is shot out; recovery 0: no limit. Stiffness k > 0 and damping c:
 * b_n = phi/h * h k/(h k + c), without limit, because the overlap is elastic strain, not error. */
TALUS_INLINE double talus_contact_bias(const TalusLaw *law, double h, double recovery,
                                       double gravity, double gap, double size)
{
    double bias = gap / h;
    if (law->stiffness > 0.0)
        return bias * (h * law->stiffness / (h * law->stiffness + law->damping));
    if (gap >= 0.0 || recovery == 0.0)
        return bias;
    return talus_max(bias, -talus_recovery_speed(recovery, gravity, size));
}

/* Returns the compliance E = 1/(h (h k + c)), 1/kg; 0 for a rigid contact. */
TALUS_INLINE double talus_contact_compliance(const TalusLaw *law, double h)
{
    return law->stiffness > 0.0 ? 1.0 / (h * (h * law->stiffness + law->damping)) : 0.0;
}

/* Returns N_nn of contact i, 1/kg: the normal velocity that a unit normal impulse causes. */
TALUS_INLINE double talus_normal_diagonal(const TalusOperator *op, int64_t i)
{
    int64_t general = i - op->sphere_sphere - op->sphere_fixed;
    const double *n = op->frame[i];
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        int body = op->pair[i][side];
        if (body < 0)
            continue;
        sum += op->body[body][3];
        if (general >= 0) {
            const double *arm = &op->arm[general][3 * side], *m = op->inverse_inertia[body];
            TalusSym3 inertia = {m[0], m[1], m[2], m[3], m[4], m[5]};
            TalusVec3 turn =
                talus_cross(talus_vec3(arm[0], arm[1], arm[2]), talus_vec3(n[0], n[1], n[2]));
            sum += talus_dot(turn, talus_sym3_mul(inertia, turn));
        }
    }
    return sum;
}

/* Returns the normal offset with restitution; `bias` is the offset without. Newton's law asks for u'_n = -e u_n, with
 * u_n = `velocity`, the normal velocity before gravity and loads. The law applies to contacts that close within the
 * step at `free_velocity`, the normal velocity after gravity and loads, and that approach faster than o->rebound_speed
 * by `velocity`. An overlapping contact separates at the faster of rebound and recovery, not at the sum of both. */
TALUS_INLINE double talus_rebound_offset(const TalusLaw *law, const TalusBuildOptions *o,
                                         double gap, double velocity, double free_velocity,
                                         double bias)
{
    bool closes = gap + o->h * free_velocity < 0.0 && -velocity > o->rebound_speed;
    return closes ? talus_min(bias, law->restitution * velocity) : bias;
}

/* Applied force and torque on a body, N and N m, and its length l (operator.h). */
typedef struct TalusLoad {
    TalusVec3 force, torque;
    double length;
} TalusLoad;

/* Returns the normal velocity, of b relative to a, that the loads of a and b add to contact i within h. */
TALUS_INLINE double talus_load_velocity(const TalusOperator *op, int64_t i, double h,
                                        const TalusLoad load[2])
{
    const double *n = op->frame[i];
    int64_t general = i - op->sphere_sphere - op->sphere_fixed;
    double velocity[2] = {0.0, 0.0};
    for (int side = 0; side < 2; side++) {
        int body = op->pair[i][side];
        if (body < 0)
            continue;
        TalusVec3 v = talus_scale(h * op->body[body][3], load[side].force);
        if (general >= 0) { /* the torque on a sphere moves its contacts along tangents only */
            const double *m = op->inverse_inertia[body], *arm = &op->arm[general][3 * side];
            TalusSym3 inertia = {m[0], m[1], m[2], m[3], m[4], m[5]};
            TalusVec3 spin = talus_sym3_mul(inertia, load[side].torque);
            v = talus_madd(v, h / load[side].length,
                           talus_cross(spin, talus_vec3(arm[0], arm[1], arm[2])));
        }
        velocity[side] = talus_dot(v, talus_vec3(n[0], n[1], n[2]));
    }
    return velocity[1] - velocity[0];
}

/* Returns the attractive impulse c h, N s, with c the cohesion of the law, if the gap is within o->cohesion_range times
 * `size`; else 0. The normal impulse in the problem is the net normal impulse on the bodies plus c h; so the friction
 * cone of the net impulse has its apex at -c h. */
TALUS_INLINE double talus_attractive_impulse(const TalusLaw *law, const TalusBuildOptions *o,
                                             double gap, double size)
{
    return law->cohesion > 0.0 && gap <= o->cohesion_range * size ? law->cohesion * o->h : 0.0;
}

/* Linearised spring of a contact with relative compliance: o->compliance is above 0, the contact's law has no
 * stiffness, and the contact does not rebound in this step. The spring hardens with its overlap d, so that no force
 * causes an overlap of `limit`:
 *     force = k d/(1 - (d/limit)^2),    k = 1/(h^2 o->compliance N_nn),    limit = o->elastic_overlap size.
 * Below half the limit the spring is nearly linear. As a function of the impulse gamma, with e = o->compliance N_nn,
 * the overlap is d = h f(gamma), f(gamma) = 2 e gamma/(1 + s), s^2 = 1 + (2 h e gamma/limit)^2, f' = 2 e/(s + s^2). A
 * step uses the tangent of f at `warm`, the impulse in the contact list. f continues as a straight line above the
 * larger of o->impulse_limit and o->hardening_ratio times limit/(h e), the impulse of a linear spring at the limit: so
 * the force of an overlap beyond the limit stays finite.
 *
 * An overlap error is overlap beyond the overlap that `warm` causes plus the overlap that one step at the recovery
 * speed undoes. It occurs where bodies overlap at the start, or where a loaded corner has just become a contact. Until
 * the error is undone, the compliance is at most TALUS_ERROR_COMPLIANCE N_nn, and the tangent is the line through zero
 * impulse with this compliance. With the compliance of the spring, the impulses that undo the error would be stored as
 * elastic energy and throw the bodies apart, and a new contact would sink further under its load. The contact is not
 * made rigid, because bodies may be squeezed between fixed ones. */
typedef struct TalusHardening {
    double warm;         /* normal impulse, N s, at least 0 */
    double overlap_rate; /* f(warm), m/s: overlap under the impulse `warm`, over h */
    double compliance;   /* f'(warm) */
} TalusHardening;

#define TALUS_ERROR_COMPLIANCE 5e-4 /* largest compliance over N_nn with an overlap error */

/* True if the overlap -gap contains an overlap error (TalusHardening): it exceeds h (overlap_rate + recovery speed). */
TALUS_INLINE bool talus_is_overlap_error(const TalusBuildOptions *o, double gap, double size,
                                         double overlap_rate)
{
    return gap < 0.0 && o->recovery > 0.0 &&
           -gap / o->h > overlap_rate + talus_recovery_speed(o->recovery, o->gravity, size);
}

/* Returns TalusHardening.warm of contact i: the normal impulse, at least 0, at which the tangent is taken. impulse: of
 * the contact in the list, world frame, net of attraction; `pull`: the attractive impulse, which is added. */
TALUS_INLINE double talus_warm_normal_impulse(const TalusOperator *op, int64_t i,
                                              const TalusBuildOptions *o, TalusVec3 impulse,
                                              double pull)
{
    double warm;
    talus_contact_warm_start(op->frame[i], 1, o->impulse_ratio, impulse, &warm);
    return talus_max(warm + pull, 0.0);
}

/* Returns the linearised spring of contact i, which has relative compliance. impulse: of the contact in the list, world
 * frame. */
TALUS_INLINE TalusHardening talus_hardening(const TalusOperator *op, int64_t i, const TalusLaw *law,
                                            const TalusBuildOptions *o, double gap, double size,
                                            TalusVec3 impulse)
{
    double diagonal = talus_normal_diagonal(op, i);
    double e = o->compliance * diagonal, limit = o->elastic_overlap * size;
    double pull = talus_attractive_impulse(law, o, gap, size);
    TalusHardening s;
    s.warm = talus_warm_normal_impulse(op, i, o, impulse, pull);
    double hard = s.warm;
    if (s.warm > o->impulse_limit + pull) /* seldom: saves a division */
        hard = talus_min(
            s.warm, talus_max(o->impulse_limit + pull, o->hardening_ratio * limit / (o->h * e)));
    double ratio = 2.0 * o->h * e * hard / limit;
    double root = sqrt(1.0 + ratio * ratio);
    s.compliance = 2.0 * e / (root * (1.0 + root));
    s.overlap_rate = 2.0 * e * hard / (1.0 + root) + s.compliance * (s.warm - hard);
    if (talus_is_overlap_error(o, gap, size, s.overlap_rate)) {
        s.compliance = talus_min(s.compliance, TALUS_ERROR_COMPLIANCE * diagonal);
        s.overlap_rate = s.compliance * s.warm;
    }
    return s;
}

/* Returns the normal offset of a contact with relative compliance before hardening: gap/h, for an overlap at least
 * -(overlap_rate + recovery speed). So a step undoes of an overlap at most the part under `warm` and what the recovery
 * speed allows. */
TALUS_INLINE double talus_elastic_offset(const TalusBuildOptions *o, double gap, double size,
                                         const TalusHardening *s)
{
    double speed = talus_recovery_speed(o->recovery, o->gravity, size);
    return gap >= 0.0 || o->recovery == 0.0 ? gap / o->h
                                            : talus_max(gap / o->h, -(s->overlap_rate + speed));
}

/* True if all contacts under a law have relative compliance in every step: the law has neither stiffness nor
 * restitution. */
TALUS_INLINE bool talus_always_relative_compliance(const TalusLaw *law, const TalusBuildOptions *o)
{
    return o->compliance > 0.0 && law->stiffness == 0.0 && law->restitution == 0.0;
}

/* True if a contact has relative compliance in this step: its law has no stiffness, and the contact does not rebound. A
 * rebounding contact has an offset `bias`, restitution included, below its offset without restitution. */
TALUS_INLINE bool talus_has_relative_compliance(const TalusLaw *law, const TalusBuildOptions *o,
                                                double gap, double size, double bias)
{
    return talus_always_relative_compliance(law, o) ||
           (o->compliance > 0.0 && law->stiffness == 0.0 &&
            bias >= talus_contact_bias(law, o->h, o->recovery, o->gravity, gap, size));
}

/* Sets op->compliance[i], 1/kg, of a contact and, if it has relative compliance, its offset op->bias[i]. On entry
 * op->bias[i] must hold the offset with restitution, unless talus_always_relative_compliance. impulse: of the contact
 * in the list. Returns TalusHardening.overlap_rate; -1 without relative compliance. */
TALUS_INLINE double talus_contact_fill_compliance(const TalusOperator *op, int64_t i,
                                                  const TalusLaw *law, const TalusBuildOptions *o,
                                                  double gap, double size, TalusVec3 impulse)
{
    op->compliance[i] = talus_contact_compliance(law, o->h);
    if (!talus_has_relative_compliance(law, o, gap, size, op->bias[i]))
        return -1.0;
    TalusHardening s = talus_hardening(op, i, law, o, gap, size, impulse);
    op->compliance[i] = s.compliance;
    op->bias[i] = talus_elastic_offset(o, gap, size, &s) + (s.overlap_rate - s.compliance * s.warm);
    return s.overlap_rate;
}

/* Returns the overlap, m, of a contact with relative compliance after the step, under the normal impulse gamma. */
TALUS_INLINE double talus_elastic_overlap(const TalusBuildOptions *o, const TalusHardening *s,
                                          double gamma)
{
    return o->h * (s->overlap_rate + s->compliance * (gamma - s->warm));
}

/* Returns talus_elastic_overlap over its limit, elastic_overlap times size; 0 for an overlap error, which a stiffer
 * spring would not reduce. */
TALUS_INLINE double talus_contact_overlap_ratio(const TalusBuildOptions *o, const TalusHardening *s,
                                                double gap, double size, double gamma)
{
    return talus_is_overlap_error(o, gap, size, s->overlap_rate)
               ? 0.0
               : talus_elastic_overlap(o, s, gamma) / (o->elastic_overlap * size);
}

/* Returns the normal offset of contact i, with restitution, before relative compliance. The contact's pair, frame, arms
 * and bodies in op must be filled. closing: normal velocity of b's image relative to b (collide/cell.h), which the offset
 * does not contain. load[2]: loads of a and b, which the free velocities in op->body contain, like
 * gravity; NULL if there are none or the restitution is 0. */
TALUS_INLINE double talus_contact_offset(const TalusOperator *op, int64_t i, const TalusLaw *law,
                                         const TalusBuildOptions *o, double gap, double size,
                                         double closing, const TalusLoad *load)
{
    double bias = talus_contact_bias(law, o->h, o->recovery, o->gravity, gap, size);
    if (law->restitution == 0.0)
        return bias;
    double u[3], change = 0.0; /* change: of u_n by gravity and loads within h */
    const double *n = op->frame[i];
    int b = op->pair[i][1];
    /* gravity changes both velocities alike, unless b is fixed, driven or asleep */
    if (b < 0 || op->body[b][3] == 0.0)
        change = -talus_dot(o->gravity_change, talus_vec3(n[0], n[1], n[2]));
    if (load)
        change += talus_load_velocity(op, i, o->h, load);
    talus_block_velocity(op, i, u);
    u[0] += closing;
    return talus_rebound_offset(law, o, gap, u[0] - change, u[0], bias);
}

/* Returns the radius of the surface on which a body rolls: radius of a sphere, capsule or cylinder, least semi-axis of
 * an ellipsoid; 0 for other shapes. `size`: of the body; a cylinder's may be its half height. */
TALUS_INLINE double talus_rolling_radius(const TalusShapeDef *def, double size)
{
    if (!talus_shape_has(def->kind, TALUS_TRAIT_ROLLS))
        return 0.0;
    return def->kind == TALUS_SHAPE_CYLINDER ? def->radius : size;
}

/* Returns the contact length by which moments are divided. a, b: talus_rolling_radius of the bodies. If both bodies
 * roll, the length is a b / (a + b); if one does, its radius; if none does, `size`, that of the smaller body. */
TALUS_INLINE double talus_moment_length(double a, double b, double size)
{
    if (a > 0.0 && b > 0.0)
        return a * b / (a + b);
    return a + b > 0.0 ? a + b : size;
}

/* ---- works, for the energy ledger ---- */

/* Copies the normal and tangential impulses of contact i from gamma to `out`; the tangential ones are 0 if the problem
 * has one row per block. */
TALUS_INLINE void talus_block_gamma(const TalusOperator *op, const double *gamma, int64_t i,
                                    double out[3])
{
    const double *g = &gamma[op->rows * i];
    out[0] = g[0];
    out[1] = op->rows >= 3 ? g[1] : 0.0;
    out[2] = op->rows >= 3 ? g[2] : 0.0;
}

/* Returns the impulse of contact i on b, in the world frame. */
TALUS_INLINE TalusVec3 talus_block_impulse(const TalusOperator *op, const double *gamma, int64_t i)
{
    double local[3], world[3];
    talus_block_gamma(op, gamma, i, local);
    talus_frame_to_world(op->frame[i], local, world);
    return talus_vec3(world[0], world[1], world[2]);
}

/* Sums over contacts of the works of impulses on both bodies, J. */
enum {
    TALUS_WORK_NORMAL,
    TALUS_WORK_TANGENTIAL,    /* of tangential impulses and of moments */
    TALUS_WORK_STABILISATION, /* part of NORMAL: normal impulse times the speed that undoes overlap */
    TALUS_WORK_COHESION,      /* of the attractive impulses */
    TALUS_WORK_ELASTIC_START, /* elastic energy before the step; not a work */
    TALUS_WORK_ELASTIC_END,   /* elastic energy after the step; not a work */
    TALUS_WORK_SUMS
};

/* True if contact i of a built problem is elastic: by its law's stiffness or by relative compliance. The compliance
 * that o->soften adds for wedged bodies does not make a contact elastic. */
TALUS_INLINE bool talus_is_elastic(const TalusOperator *op, int64_t i, const TalusLaw *law,
                                   const TalusBuildOptions *o)
{
    return law->stiffness > 0.0 || (o->compliance > 0.0 && op->compliance[i] > 0.0);
}

/* Adds the elastic energies of a contact with relative compliance, half force times overlap, before and after the step
 * to `sum`; gamma: the new normal impulse. Returns the part of the offset, at most 0, that undoes overlap beyond the
 * overlap under `warm`; 0 without such overlap. */
TALUS_INLINE double talus_add_relative_energy(const TalusBuildOptions *o, double gap, double size,
                                              const TalusHardening *s, double gamma, double *sum)
{
    double before = talus_min(talus_elastic_offset(o, gap, size, s), 0.0);
    double elastic = talus_max(before, -s->overlap_rate);
    sum[TALUS_WORK_ELASTIC_START] -= 0.5 * s->warm * elastic;
    sum[TALUS_WORK_ELASTIC_END] += 0.5 * gamma * talus_elastic_overlap(o, s, gamma) / o->h;
    return before - elastic;
}

/* Adds the elastic energies of contact i, whose law has a stiffness k, before and after the step to `sum`: k d^2/2 of
 * an overlap d. closing: the part of the offset that is the velocity of b's image (collide/cell.h). gamma: the new normal
 * impulse. Returns 0, as the whole overlap is elastic. */
TALUS_INLINE double talus_add_stiffness_energy(const TalusOperator *op, int64_t i,
                                               const TalusLaw *law, const TalusBuildOptions *o,
                                               double gap, double closing, double gamma,
                                               double *sum)
{
    /* gap after the step, by u_n = -bias - E gamma */
    double k = law->stiffness,
           left = gap - o->h * (op->bias[i] - closing + op->compliance[i] * gamma);
    sum[TALUS_WORK_ELASTIC_START] += gap < 0.0 ? 0.5 * k * gap * gap : 0.0;
    if (left < 0.0 && gamma > 0.0) /* without impulse the contact is open */
        sum[TALUS_WORK_ELASTIC_END] += 0.5 * k * left * left;
    return 0.0;
}

/* Adds the elastic energies of elastic contact i by talus_add_stiffness_energy or talus_add_relative_energy, and
 * returns their result. impulse: of the contact in the list, from the last step or solve. */
TALUS_INLINE double talus_add_elastic_energy(const TalusOperator *op, int64_t i,
                                             const TalusLaw *law, const TalusBuildOptions *o,
                                             double gap, double size, TalusVec3 impulse,
                                             double gamma, double *sum)
{
    if (law->stiffness > 0.0)
        return talus_add_stiffness_energy(op, i, law, o, gap, 0.0, gamma, sum);
    TalusHardening s = talus_hardening(op, i, law, o, gap, size, impulse);
    return talus_add_relative_energy(o, gap, size, &s, gamma, sum);
}

/* Adds the works of contact i to sum[TALUS_WORK_SUMS]. Returns the contact's impulse on b, world frame, less the
 * attractive impulse `pull`. `recovery`: offset, at most 0, that undoes overlap; 0 without overlap. op->body must hold
 * the mean of solved velocities and free velocities, the latter without attraction. */
TALUS_INLINE TalusVec3 talus_add_block_work(const TalusOperator *op, const double *all_gamma,
                                            int64_t i, double recovery, double pull, double *sum)
{
    double gamma[3], world[3], u[3];
    if (op->rows == 6) {
        const double *moment = &all_gamma[6 * i + 3];
        talus_block_moment_velocity(op, i, u);
        sum[TALUS_WORK_TANGENTIAL] += moment[0] * u[0] + moment[1] * u[1] + moment[2] * u[2];
    }
    talus_block_gamma(op, all_gamma, i, gamma);
    if (gamma[0] == 0.0 && gamma[1] == 0.0 && gamma[2] == 0.0 && pull == 0.0)
        return talus_vec3(0.0, 0.0, 0.0);
    double net[3] = {gamma[0] - pull, gamma[1], gamma[2]};
    talus_frame_to_world(op->frame[i], net, world);
    talus_block_velocity(op, i, u);
    sum[TALUS_WORK_NORMAL] += gamma[0] * u[0];
    sum[TALUS_WORK_TANGENTIAL] += gamma[1] * u[1] + gamma[2] * u[2];
    sum[TALUS_WORK_COHESION] -= pull * u[0];
    if (recovery < 0.0)
        sum[TALUS_WORK_STABILISATION] -= gamma[0] * recovery;
    return talus_vec3(world[0], world[1], world[2]);
}

/* Returns impulse . u + moment . (L w), the work at general contact i on the body of one side (0: a, 1: b): u is that
 * body's velocity at the contact, w its spin, both from op->body, L the contact length. impulse and moment (over L, as
 * in gamma) are in the world frame. */
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
