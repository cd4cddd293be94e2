/* world/drive.c - driven bodies: prescribed motion.
 *
 * The problem's record of a driven body has its velocity, and zero inverse mass and inertia: so D'v_f contains its
 * share of the contact velocities. Each of a body's motions moves what the ones before it have moved. The pose of a driven body at the end of a step, or of a part of a halved step, is a
 * closed form in time, so that nothing drifts. Its velocity is the one that leads to that pose within the step, so that
 * contacts and poses agree. */
#include "world/drive.h"
#include "engine/contact_terms.h"
#include "world/ids.h"
#include "world/state.h"
#include "world/step/wake.h"

#include "base/turn.h"
#include "collide/period.h"
#include "world/source/generate.h"

#include <inttypes.h>

enum { DRIVE_COOKIE = 0x7a10d71e };

#define TURN 6.28318530717958647692 /* 2 pi, rad */

TalusDriveDef talus_drive_def_default(void)
{
    TalusDriveDef def = {.cookie = DRIVE_COOKIE, .stop = 1e300};
    return def;
}

/* ---- the list ---- */

/* Returns the index of the body's first motion in world->drive; world->drives: none. */
static int find_first(const TalusWorld *world, uint64_t body)
{
    int i = 0;
    while (i < world->drives && world->drive[i].body != body)
        i++;
    return i;
}

/* Returns the index behind the last motion of the body whose motions contain index i. */
static int find_end(const TalusWorld *world, int i)
{
    int end = i;
    while (end < world->drives && world->drive[end].body == world->drive[i].body)
        end++;
    return end;
}

int talus_drives_count_bodies(const TalusWorld *world)
{
    int bodies = 0;
    for (int i = 0; i < world->drives; i++)
        bodies += talus_drive_is_first(world->drive, i);
    return bodies;
}

/* Adds a motion behind those of its body. */
static TalusStatus insert_drive(TalusWorld *world, const TalusDrive *drive)
{
    const size_t n = (size_t)world->drives;
    const int at = find_end(world, find_first(world, drive->body));
    TALUS_TRY(TALUS_GROW(world->drive, n + 1, n, "driven bodies"));
    for (int i = world->drives++; i > at; i--)
        world->drive[i] = world->drive[i - 1];
    world->drive[at] = *drive;
    return TALUS_OK;
}

void talus_body_clear_drive(TalusWorld *world, TalusBodyId id)
{
    const int first = find_first(world, id.number), end = find_end(world, first);
    for (int i = end; i < world->drives; i++) /* keep the order */
        world->drive[first + i - end] = world->drive[i];
    world->drives -= end - first;
}

/* True if all numbers are finite and the motion does not stop before its start. */
static bool is_valid_drive(const TalusDriveDef *d)
{
    TalusVec3 sum = talus_add(talus_add(d->velocity, d->amplitude), talus_add(d->spin, d->point));
    TalusVec3 rates = talus_add(d->acceleration, d->spin_acceleration);
    return isfinite(talus_norm(sum)) && isfinite(talus_norm(rates)) && isfinite(d->frequency) &&
           isfinite(d->phase) && isfinite(d->start) && d->stop >= d->start;
}

/* Returns the direction of the axis; 0 if the motion does not turn. */
static TalusVec3 axis_of(const TalusDriveDef *d)
{
    return talus_norm(d->spin) > 0.0 ? d->spin : d->spin_acceleration;
}

/* True if the axis of the motion keeps its direction. */
static bool has_one_axis(const TalusDriveDef *d)
{
    const TalusVec3 across = talus_cross(d->spin, d->spin_acceleration);
    return talus_norm(across) <= 1e-9 * talus_norm(d->spin) * talus_norm(d->spin_acceleration);
}

/* Refuses a def whose numbers are not valid, or a rotating plane. `shape`: of the body. */
static TalusStatus check_drive(const TalusWorld *world, uint64_t body, int shape,
                               const TalusDriveDef *def)
{
    TalusShapeKind kind = world->shape[shape].def.kind;
    if (def->cookie != DRIVE_COOKIE)
        return talus_reject("drive: the def was not made by talus_drive_def_default()");
    if (!is_valid_drive(def))
        return talus_reject(
            "drive of body %" PRIu64 ": a number is not finite, or stop is before start", body);
    if (!has_one_axis(def))
        return talus_reject(
            "drive of body %" PRIu64
            ": spin and spin_acceleration are not parallel; two motions have two axes",
            body);
    if (kind == TALUS_SHAPE_PLANE && talus_norm(axis_of(def)) > 0.0)
        return talus_reject("drive of body %" PRIu64
                            ": a plane has no end and cannot turn; a box or a cylinder can",
                            body);
    return TALUS_OK;
}

TalusStatus talus_drive_add_loaded(TalusWorld *world, const TalusDrive *drive, int shape)
{
    TALUS_TRY(check_drive(world, drive->body, shape, &drive->def));
    return insert_drive(world, drive);
}

/* Makes the body in `slot` a fixed one; -1: another rank does. */
static void stop_body(TalusWorld *world, int slot)
{
    TalusBodies *b = &world->bodies;
    if (slot < 0)
        return;
    b->velocity[slot] = b->spin[slot] = talus_vec3(0.0, 0.0, 0.0);
    b->mobility[slot] = TALUS_MOBILITY_FIXED;
}

/* Makes the motion of a body with this pose at its start. */
static TalusDrive make_drive(const TalusWorld *world, TalusBodyId id, const TalusDriveDef *def,
                             TalusVec3 position, TalusQuat orientation)
{
    TalusDrive drive = {.def = *def,
                        .body = id.number,
                        .slot = talus_slot_of(world, id),
                        .position = position,
                        .orientation = orientation};
    TalusVec3 arm = talus_sub(position, def->point);
    /* in periodic space the axis passes through the point's image nearest to the body */
    TalusVec3 nearer = talus_sub(arm, talus_nearest_image_vector(&world->def.period, arm));
    drive.def.point = def->own_axis ? talus_add(def->point, nearer) : position;
    return drive;
}

TalusStatus talus_world_add_drive(TalusWorld *world, TalusBodyId id, const TalusDriveDef *def)
{
    const int first = find_first(world, id.number);
    TalusBodyRecord body;
    if (first == world->drives)
        return talus_world_set_drive(world, id, def);
    TALUS_TRY(talus_ranks_get_body(world, id, &body));
    TALUS_TRY(check_drive(world, id.number, body.shape, def));
    const TalusDrive drive =
        make_drive(world, id, def, world->drive[first].position, world->drive[first].orientation);
    talus_wake_all(world);
    return talus_comm_agree(world->ranks.comm, insert_drive(world, &drive));
}

TalusStatus talus_world_set_drive(TalusWorld *world, TalusBodyId id, const TalusDriveDef *def)
{
    TalusBodyRecord body;
    TALUS_TRY(talus_ranks_get_body(world, id, &body));
    if (body.mobility == TALUS_MOBILITY_FREE || body.mobility == TALUS_MOBILITY_ASLEEP)
        return talus_reject("body %" PRIu64 " moves freely; only a fixed one is driven", id.number);
    if (def)
        TALUS_TRY(check_drive(world, id.number, body.shape, def));
    TALUS_TRY(talus_world_mark_bodies_dirty(world));
    talus_wake_all(world);
    /* contacts of spheres with this body change their run */
    talus_ranks_drop_impulses(world, id);
    talus_body_clear_drive(world, id);
    const int slot = talus_slot_of(world, id);
    stop_body(world, slot);
    if (!def)
        return TALUS_OK;
    const TalusDrive drive = make_drive(world, id, def, body.position, body.orientation);
    TALUS_TRY(talus_comm_agree(world->ranks.comm, insert_drive(world, &drive)));
    if (slot >= 0)
        world->bodies.mobility[slot] = TALUS_MOBILITY_DRIVEN;
    return TALUS_OK;
}

/* ---- the motion ---- */

/* Returns the time since the start of the motion (s of TalusDriveDef), at least 0 and at most stop - start. */
static double elapsed_time(const TalusDriveDef *d, double time)
{
    return fmin(fmax(time, d->start), d->stop) - d->start;
}

/* Pose of a body, and its angular velocity. */
typedef struct DrivenPose {
    TalusVec3 position, spin;
    TalusQuat orientation;
} DrivenPose;

/* Returns the rotation by which a motion has turned after s. */
static TalusQuat turn_after(const TalusDriveDef *d, double s)
{
    const TalusVec3 axis = axis_of(d);
    const double length = talus_norm(axis);
    if (!(length > 0.0))
        return talus_quat_identity();
    const double growth = talus_dot(d->spin_acceleration, axis) / length;
    return talus_quat_about(axis, (talus_norm(d->spin) * s + 0.5 * growth * s * s) / TURN);
}

/* Moves a pose by a motion at a time: x <- point + shift + R (x - point), e <- R e. */
static void move_pose(const TalusDriveDef *d, double time, DrivenPose *pose)
{
    double s = elapsed_time(d, time), cosine, now, first;
    talus_cos_sin_turns(d->frequency * s + d->phase, &cosine, &now);
    talus_cos_sin_turns(d->phase, &cosine, &first);
    TalusVec3 shift = talus_madd(talus_scale(s, d->velocity), now - first, d->amplitude);
    shift = talus_madd(shift, 0.5 * s * s, d->acceleration);
    TalusVec3 point = d->own_axis ? d->point : pose->position;
    TalusVec3 arm = talus_sub(pose->position, point);
    if (talus_norm(axis_of(d)) > 0.0) {
        TalusQuat turn = turn_after(d, s);
        arm = talus_rotate(turn, arm);
        pose->orientation = talus_quat_normalize(talus_quat_mul(turn, pose->orientation));
    }
    pose->position = talus_add(talus_add(point, shift), arm);
}

/* Returns how much of the time from `time` to time + h lies between d->start and d->stop; exactly h if all of it. */
static double moving_time(const TalusDriveDef *d, double time, double h)
{
    bool all = time >= d->start && time + h <= d->stop;
    return all ? h : elapsed_time(d, time + h) - elapsed_time(d, time);
}

/* Returns the mean angular velocity of one motion from `time` to time + h. */
static TalusVec3 mean_spin(const TalusDriveDef *d, double time, double h)
{
    const double middle = 0.5 * (elapsed_time(d, time) + elapsed_time(d, time + h));
    return talus_scale(moving_time(d, time, h) / h,
                       talus_madd(d->spin, middle, d->spin_acceleration));
}

/* Returns the prescribed pose at time + h, not wrapped into a period, after the motions from index `first` to `end`, and
 * the angular velocity from `time` on: each motion turns that of the ones before it by its rotation in the middle. */
static DrivenPose prescribed_pose(const TalusWorld *world, int first, int end, double time,
                                  double h)
{
    const TalusDrive *drive = world->drive;
    DrivenPose pose = {.position = drive[first].position,
                       .orientation = drive[first].orientation,
                       .spin = mean_spin(&drive[first].def, time, h)};
    move_pose(&drive[first].def, time + h, &pose);
    for (int i = first + 1; i < end; i++) {
        const TalusDriveDef *d = &drive[i].def;
        const TalusQuat turn = turn_after(d, elapsed_time(d, time + 0.5 * h));
        move_pose(d, time + h, &pose);
        pose.spin = talus_add(talus_rotate(turn, pose.spin), mean_spin(d, time, h));
    }
    return pose;
}

void talus_drives_set_targets(TalusWorld *world, double h)
{
    TalusBodies *b = &world->bodies;
    for (int i = 0, end; i < world->drives; i = end) {
        TalusDrive *drive = &world->drive[i];
        int slot = drive->slot;
        end = find_end(world, i);
        if (slot < 0)
            continue; /* another rank's body */
        DrivenPose to = prescribed_pose(world, i, end, world->part_time, h);
        TalusVec3 way = talus_nearest_image_vector(&world->def.period,
                                                   talus_sub(to.position, b->position[slot]));
        drive->next_position = talus_wrap_position(&world->def.period, to.position);
        drive->next_orientation = to.orientation;
        b->velocity[slot] = talus_scale(1.0 / h, way);
        b->spin[slot] = to.spin;
    }
}

void talus_drives_reach_targets(TalusWorld *world)
{
    TalusBodies *b = &world->bodies;
    for (int i = 0; i < world->drives; i++) {
        const TalusDrive *drive = &world->drive[i];
        if (drive->slot < 0 || !talus_drive_is_first(world->drive, i))
            continue;
        b->position[drive->slot] = drive->next_position;
        b->orientation[drive->slot] = drive->next_orientation;
    }
}

void talus_drives_snapshot(TalusWorld *world)
{
    for (int i = 0; i < world->drives; i++) {
        TalusDrive *drive = &world->drive[i];
        drive->slot = talus_slot_of(world, (TalusBodyId){drive->body});
        if (drive->slot < 0)
            continue;
        drive->velocity_before = world->bodies.velocity[drive->slot];
        drive->spin_before = world->bodies.spin[drive->slot];
    }
}

void talus_drives_rollback(TalusWorld *world)
{
    for (int i = 0; i < world->drives; i++) {
        const TalusDrive *drive = &world->drive[i];
        if (drive->slot < 0)
            continue;
        world->bodies.velocity[drive->slot] = drive->velocity_before;
        world->bodies.spin[drive->slot] = drive->spin_before;
    }
}

/* ---- work ----
 *
 * The ledger's work of a block is gamma'(u' + u_f)/2, with its velocities u_f before and u' after the impulses. Both
 * contain the velocity v + w x r of a driven side, whose share of the work changes no kinetic energy: p'(v + w x r) on
 * side b, with the impulse p on b, and minus that on side a. The work done by the driven body is minus this share. */

/* Returns p'(v + w x r) for the world-frame impulse p of block i and its driven body on `side` (0: a, 1: b); 0 if that
 * body is not driven. */
static double driven_side_work(const TalusWorld *world, const TalusOperator *op, int64_t i,
                               int side, TalusVec3 impulse)
{
    int body = op->pair[i][side];
    if (body < 0 || world->bodies.mobility[body] != TALUS_MOBILITY_DRIVEN)
        return 0.0;
    return talus_side_work(op, i, side, impulse, talus_vec3(0.0, 0.0, 0.0));
}

void talus_drives_add_joint_work(TalusWorld *world)
{
    TalusProblem *problem = world->joints.exchange.problem;
    const TalusOperator *op = talus_problem_operator(problem);
    for (int i = 0; world->drives > 0 && i < op->blocks; i++) {
        TalusVec3 impulse = talus_block_impulse(op, talus_problem_gamma(problem), i);
        world->info.ledger.driven +=
            driven_side_work(world, op, i, 0, impulse) - driven_side_work(world, op, i, 1, impulse);
    }
}
