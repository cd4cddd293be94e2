/* world/joint/joint.c - adding, removing and querying joints.
 *
 * Joints are listed in order of creation, which is that of their numbers. A joint is alive while both its bodies are;
 * the fixed world always is. A joint that is not alive is skipped; it is dropped from the list only at the start of the
 * next step, so that a rollback that restores a body restores its joints. */
#include "world/joint/joint.h"
#include "world/ids.h"
#include "world/state.h"
#include "world/step/wake.h"

#include "collide/period.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { JOINT_COOKIE = 0x7a107017 };

static const char *const joint_names[TALUS_JOINT_KINDS] = {
    "ball", "revolute", "prismatic", "cylindrical", "universal", "fixed", "distance", "spring"};

const char *talus_joint_name(TalusJointKind kind)
{
    return (unsigned)kind < TALUS_JOINT_KINDS ? joint_names[kind] : "?";
}

TalusJointDef talus_joint_def_default(void)
{
    TalusJointDef def = {.cookie = JOINT_COOKIE,
                         .name = "",
                         .axis = {0.0, 0.0, 1.0},
                         .axis_b = {1.0, 0.0, 0.0},
                         .lower = -INFINITY,
                         .upper = INFINITY,
                         .motor.max_effort = INFINITY,
                         .rest = -1.0};
    return def;
}

/* ---- checks ---- */

/* True if the vector is finite and not 0. */
static bool is_direction(TalusVec3 a)
{
    double n = talus_norm(a);
    return n > 0.0 && isfinite(n);
}

/* Refuses the id of a body that does not exist; 0, the fixed world, is allowed. */
static TalusStatus check_body(const TalusWorld *world, const char *name, TalusBodyId id)
{
    if (id.number != 0 && talus_ranks_slot_near(world, id) < 0)
        return talus_reject("joint \"%s\": there is no body %" PRIu64, name, id.number);
    return TALUS_OK;
}

/* True if the body with this id exists and is free or asleep. */
static bool is_dynamic(const TalusWorld *world, TalusBodyId id)
{
    int slot = talus_ranks_slot_near(world, id);
    return slot >= 0 && talus_slot_is_dynamic(&world->bodies, slot);
}

/* Refuses bodies that do not exist, are the same, cannot move or cannot be those of its servo. */
static TalusStatus check_bodies(const TalusWorld *world, const char *name, const TalusJointDef *def)
{
    for (int k = 0; k < TALUS_JOINT_BODIES; k++)
        TALUS_TRY(check_body(world, name, talus_joint_body(def, k)));
    if (def->a.number != 0 && def->a.number == def->b.number)
        return talus_reject("joint \"%s\": both bodies are body %" PRIu64, name, def->a.number);
    if (!is_dynamic(world, def->a) && !is_dynamic(world, def->b))
        return talus_reject("joint \"%s\": neither body can move; one of them must", name);
    return talus_joint_check_servo(world, name, def);
}

/* Refuses points that are not finite, and axes that are no directions or, of a universal joint, not normal. */
static TalusStatus check_axes(const char *name, const TalusJointDef *def)
{
    bool line = talus_joint_is_line(def->kind);
    if (!talus_finite3(def->point) || (line && !talus_finite3(def->point_b)))
        return talus_reject("joint \"%s\": its point is not finite", name);
    bool axis = !line && def->kind != TALUS_JOINT_BALL && def->kind != TALUS_JOINT_FIXED;
    bool second = def->kind == TALUS_JOINT_UNIVERSAL;
    if ((axis && !is_direction(def->axis)) || (second && !is_direction(def->axis_b)))
        return talus_reject(
            "joint \"%s\": its axis is no direction; expected a finite vector other than 0", name);
    double cosine = second ? talus_dot(def->axis, def->axis_b) /
                                 (talus_norm(def->axis) * talus_norm(def->axis_b))
                           : 0.0;
    if (fabs(cosine) > 1e-3)
        return talus_reject(
            "joint \"%s\": the axes of a universal joint must be normal to each other; the cosine "
            "of their angle is %g",
            name, cosine);
    return TALUS_OK;
}

/* Refuses a motor that is not valid, or any motor of a joint without a coordinate and of a spring. */
static TalusStatus check_motor(const char *name, TalusJointKind kind, const TalusMotorDef *m)
{
    if ((unsigned)m->kind >= TALUS_MOTOR_KINDS)
        return talus_reject("joint \"%s\": motor %d; expected 0 to %d", name, (int)m->kind,
                            TALUS_MOTOR_KINDS - 1);
    if (m->kind == TALUS_MOTOR_NONE)
        return TALUS_OK;
    if (!talus_joint_has_coordinate(kind) || kind == TALUS_JOINT_SPRING)
        return talus_reject(
            "joint \"%s\": a %s joint has no motor; revolute, prismatic, cylindrical and distance "
            "joints have",
            name, talus_joint_name(kind));
    if (!isfinite(m->target) || !isfinite(m->rate) || !isfinite(m->start) || !(m->max_effort > 0.0))
        return talus_reject(
            "joint \"%s\": motor with target %g, rate %g, start %g, max_effort %g; expected "
            "finite numbers and a largest effort above 0",
            name, m->target, m->rate, m->start, m->max_effort);
    bool soft = m->stiffness != 0.0 || m->damping != 0.0;
    if (!(m->stiffness >= 0.0 && m->damping >= 0.0) || !isfinite(m->stiffness + m->damping) ||
        (soft && m->kind != TALUS_MOTOR_POSITION))
        return talus_reject(
            "joint \"%s\": motor with stiffness %g and damping %g; expected 0 or more, for "
            "position motors alone",
            name, m->stiffness, m->damping);
    return TALUS_OK;
}

/* Refuses a spring without stiffness and damping, and both in other joints. */
static TalusStatus check_spring(const char *name, const TalusJointDef *def)
{
    bool spring = def->kind == TALUS_JOINT_SPRING;
    double k = def->stiffness, c = def->damping;
    if (!(k >= 0.0 && c >= 0.0) || !isfinite(k + c) || (k + c > 0.0) != spring)
        return talus_reject(
            "joint \"%s\": stiffness %g and damping %g; expected 0 or more, and not both 0, for "
            "springs, and none for other joints",
            name, k, c);
    if (!isfinite(def->rest))
        return talus_reject("joint \"%s\": its rest length is not finite", name);
    return TALUS_OK;
}

/* Refuses limits in wrong order, of a joint without a coordinate, or of a length at most 0. */
static TalusStatus check_limits(const char *name, const TalusJointDef *def)
{
    bool any = def->lower != -INFINITY || def->upper != INFINITY;
    if (!(def->lower < def->upper) || def->lower == INFINITY || def->upper == -INFINITY)
        return talus_reject("joint \"%s\": limits %g and %g; expected lower below upper", name,
                            def->lower, def->upper);
    if (any && !talus_joint_has_coordinate(def->kind))
        return talus_reject("joint \"%s\": a %s joint has no limits", name,
                            talus_joint_name(def->kind));
    if (talus_joint_is_line(def->kind) && !(def->upper > 0.0))
        return talus_reject("joint \"%s\": upper limit %g of a length; expected more than 0", name,
                            def->upper);
    return TALUS_OK;
}

/* Returns def->rest; for a DISTANCE or SPRING with rest below 0 the present distance of its points. */
static double rest_length(const TalusWorld *world, const TalusJointDef *def)
{
    TalusVec3 separation =
        talus_nearest_image_vector(&world->def.period, talus_sub(def->point, def->point_b));
    return talus_joint_is_line(def->kind) && def->rest < 0.0 ? talus_norm(separation) : def->rest;
}

static TalusStatus check_def(const TalusWorld *world, const TalusJointDef *def)
{
    if (!def || def->cookie != JOINT_COOKIE)
        return talus_reject("joint: the def was not made by talus_joint_def_default()");
    const char *name = def->name ? def->name : "";
    if ((unsigned)def->kind >= TALUS_JOINT_KINDS)
        return talus_reject("joint \"%s\": kind %d; expected 0 to %d", name, (int)def->kind,
                            TALUS_JOINT_KINDS - 1);
    if (world->def.impacts == TALUS_IMPACTS_PROPAGATING)
        return talus_error_key(
            "impacts",
            talus_fail(TALUS_ERR_UNSUPPORTED,
                       "joint \"%s\": impacts that propagate do not pass through joints; "
                       "simultaneous impacts do",
                       name));
    TALUS_TRY(check_bodies(world, name, def));
    TALUS_TRY(check_axes(name, def));
    TALUS_TRY(check_limits(name, def));
    TALUS_TRY(check_motor(name, def->kind, &def->motor));
    TALUS_TRY(check_spring(name, def));
    bool limits = def->lower != -INFINITY || def->upper != INFINITY;
    if (def->kind == TALUS_JOINT_DISTANCE && limits && def->rest >= 0.0)
        return talus_reject("joint \"%s\": a distance has a rest length or limits, not both", name);
    if (talus_joint_constraint_rows(def) == 1 && !(rest_length(world, def) > 0.0))
        return talus_reject(
            "joint \"%s\": a distance of 0 has no direction; a ball joint holds two points "
            "together",
            name);
    return TALUS_OK;
}

TalusStatus talus_joint_check_bodies(const TalusWorld *world, const TalusJoint *joint)
{
    TALUS_TRY(check_bodies(world, joint->def.name, &joint->def));
    return joint->phases > 0
               ? talus_joint_check_phases(world, &joint->def, joint->phase, joint->phases)
               : TALUS_OK;
}

/* Checks kind, length, limits, motor and spring, and that axes and sides are unit vectors. */
TalusStatus talus_joint_check_loaded(const TalusJoint *joint)
{
    const TalusJointDef *def = &joint->def;
    if ((unsigned)def->kind >= TALUS_JOINT_KINDS || !(joint->length > 0.0))
        return talus_reject("there is no such joint");
    TALUS_TRY(check_limits(def->name, def));
    TALUS_TRY(check_motor(def->name, def->kind, &def->motor));
    TALUS_TRY(check_spring(def->name, def));
    for (int k = 0; k < 2; k++) {
        TalusVec3 n = joint->axis[k], t = joint->side[k];
        if (!(fabs(talus_dot(n, n) - 1.0) < 1e-6 && fabs(talus_dot(t, t) - 1.0) < 1e-6))
            return talus_reject("the axes of a joint are not of length 1");
    }
    return TALUS_OK;
}

/* ---- adding ---- */

/* Transforms points and directions of the def into the frames of base and mover. */
static void attach_to_bodies(const TalusWorld *world, TalusJoint *joint)
{
    const TalusJointDef *def = &joint->def;
    const TalusBodies *b = &world->bodies;
    TalusVec3 z = {0.0, 0.0, 1.0};
    bool line = talus_joint_is_line(def->kind), cross = def->kind == TALUS_JOINT_UNIVERSAL;
    TalusVec3 mover = talus_normalize(def->axis, z);
    TalusVec3 base = cross ? talus_normalize(def->axis_b, z) : mover;
    if (cross) /* makes the two axes exactly perpendicular */
        base = talus_normalize(talus_madd(base, -talus_dot(base, mover), mover), z);
    TalusVec3 axis[2] = {base, mover}, side = talus_unit_normal(base);
    TalusVec3 point[2] = {line ? def->point_b : def->point, def->point};
    for (int k = 0; k < 2; k++) {
        int slot = talus_ranks_slot_near(world, k == 0 ? def->b : def->a);
        TalusQuat turn = slot >= 0 ? b->orientation[slot] : talus_quat_identity();
        TalusVec3 centre = slot >= 0 ? b->position[slot] : talus_vec3(0.0, 0.0, 0.0);
        TalusVec3 arm = talus_sub(point[k], centre);
        if (slot >= 0) /* in periodic space, the image of the point nearest to the body */
            arm = talus_nearest_image_vector(&world->def.period, arm);
        joint->anchor[k] = talus_rotate_back(turn, arm);
        joint->axis[k] = talus_rotate_back(turn, axis[k]);
        joint->side[k] = talus_rotate_back(turn, side);
    }
}

/* Returns TalusJoint.length: the bounding radius of the smaller free or sleeping body. With offsets of this length the
 * rows of rotations have about the scale of the rows of translations. */
static double offset_length(const TalusWorld *world, const TalusJointDef *def)
{
    const double *radius = world->bodies.radius;
    double a = is_dynamic(world, def->a) ? radius[talus_ranks_slot_near(world, def->a)] : INFINITY;
    double b = is_dynamic(world, def->b) ? radius[talus_ranks_slot_near(world, def->b)] : INFINITY;
    return fmin(a, b);
}

/* True if the joint excludes its two bodies from collision. */
static bool excludes_collision(const TalusJointDef *def)
{
    return !def->collide && def->a.number != 0 && def->b.number != 0;
}

/* Excludes the joint's bodies from collision, unless the def lets them collide. */
static TalusStatus exclude_bodies(TalusWorld *world, const TalusJointDef *def)
{
    if (!excludes_collision(def))
        return TALUS_OK;
    return talus_bodies_exclude(world, def->a, def->b);
}

/* On several ranks: gets copies of all bodies that check_def and attach_to_bodies look at. */
static TalusStatus fetch_bodies_of(TalusWorld *world, const TalusJointDef *def)
{
    const TalusJointDef none = {0};
    return talus_joints_fetch_bodies(world, def ? def : &none);
}

/* Wakes a body; 0: the fixed world. All ranks call this together. */
static void wake_body(TalusWorld *world, TalusBodyId id)
{
    if (id.number != 0)
        talus_slot_wake(world, talus_slot_of(world, id));
}

TalusStatus talus_world_add_joint(TalusWorld *world, const TalusJointDef *def, TalusJointId *id)
{
    TalusJoints *joints = &world->joints;
    size_t count = (size_t)joints->count;
    char *name = NULL;
    if (world->def.cell.on)
        return talus_reject("joint: there are no joints in a periodic cell that deforms");
    TALUS_TRY(fetch_bodies_of(world, def));
    TALUS_TRY(check_def(world, def));
    TALUS_TRY(talus_world_download_bodies(world));
    TalusStatus status = TALUS_GROW(joints->joint, count + 1, count, "joints");
    TALUS_THEN(status, talus_copy_text(def->name ? def->name : "", "joint name", &name));
    status = talus_comm_agree(world->ranks.comm, status);
    TALUS_THEN(status, exclude_bodies(world, def));
    if (status != TALUS_OK) {
        talus_release(name);
        return status;
    }
    TalusJoint *joint = &joints->joint[joints->count++];
    *joint = (TalusJoint){.def = *def,
                          .number = ++joints->created,
                          .motor_since = talus_time(world),
                          .length = offset_length(world, def)};
    joint->def.name = name;
    attach_to_bodies(world, joint);
    wake_body(world, def->a);
    wake_body(world, def->b);
    joint->def.rest = rest_length(world, def);
    if (id)
        id->number = joint->number;
    return TALUS_OK;
}

/* ---- removing ---- */

/* On several ranks: gets the copies with which joints are looked at. They are not part of the world's content. */
static TalusStatus fetch_copies(const TalusWorld *world)
{
    return talus_joints_fetch_bodies((TalusWorld *)world, NULL);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = ((const TalusJoint *)a)->number, y = ((const TalusJoint *)b)->number;
    return (x > y) - (x < y);
}

/* Sets *out to the joint with this id, or fails if there is none that is alive. */
static TalusStatus find_joint(const TalusWorld *world, TalusJointId id, TalusJoint **out)
{
    const TalusJoints *joints = &world->joints;
    TalusJoint key = {.number = id.number};
    TALUS_TRY(fetch_copies(world));
    *out = joints->count == 0 ? NULL
                              : bsearch(&key, joints->joint, (size_t)joints->count,
                                        sizeof *joints->joint, compare_numbers);
    if (!*out || !talus_joint_lives(world, *out))
        return talus_reject("joint %" PRIu64 ": there is no such joint now", id.number);
    return TALUS_OK;
}

TalusStatus talus_world_remove_joint(TalusWorld *world, TalusJointId id)
{
    TalusJoint *joint = NULL;
    TALUS_TRY(find_joint(world, id, &joint));
    const TalusJointDef *def = &joint->def;
    if (excludes_collision(def))
        talus_bodies_include(world, def->a, def->b);
    talus_joints_drop(&world->joints, (int)(joint - world->joints.joint));
    return TALUS_OK;
}

void talus_joints_clear(TalusWorld *world)
{
    TalusJoints *joints = &world->joints;
    for (int i = 0; i < joints->count; i++)
        talus_joint_clear(&joints->joint[i]);
    TALUS_RELEASE(joints->joint, joints->block, joints->warm_start_backup);
    talus_projection_destroy(joints->projection);
    talus_exchange_clear(&joints->exchange);
    *joints = (TalusJoints){0};
}

/* ---- a step ---- */

/* Drops the joints of removed bodies. */
static void drop_dead_joints(TalusWorld *world)
{
    for (int i = world->joints.count - 1; i >= 0; i--)
        if (!talus_joint_lives(world, &world->joints.joint[i]))
            talus_joints_drop(&world->joints, i);
}

/* The same on several ranks, where the bodies of other ranks are not known before the step. */
static void drop_removed_joints(TalusWorld *world)
{
    for (int i = world->joints.count - 1; i >= 0; i--)
        if (world->joints.joint[i].removed)
            talus_joints_drop(&world->joints, i);
}

void talus_joints_begin_step(TalusWorld *world)
{
    TalusJoints *joints = &world->joints;
    if (talus_world_is_dealt(world))
        drop_removed_joints(world);
    else
        drop_dead_joints(world);
    for (int i = 0; i < joints->count; i++)
        joints->joint[i].sums = (TalusJointSums){0};
}

void talus_joints_finish_step(TalusWorld *world, double h)
{
    talus_joints_warn_ended_servos(world);
    if (talus_world_is_dealt(world))
        drop_dead_joints(world);
    for (int i = 0; i < world->joints.count; i++) {
        TalusJoint *joint = &world->joints.joint[i];
        joint->reported =
            (TalusJointSums){talus_scale(1.0 / h, joint->sums.force),
                             talus_scale(1.0 / h, joint->sums.torque), joint->sums.effort / h};
    }
}

TalusStatus talus_joints_snapshot(TalusWorld *world)
{
    TalusJoints *joints = &world->joints;
    TALUS_TRY(
        TALUS_GROW(joints->warm_start_backup, (size_t)joints->count, 0, "snapshot of a step"));
    for (int i = 0; i < joints->count; i++)
        joints->warm_start_backup[i] = joints->joint[i].warm_start;
    return TALUS_OK;
}

void talus_joints_rollback(TalusWorld *world)
{
    TalusJoints *joints = &world->joints;
    for (int i = 0; i < joints->count; i++)
        joints->joint[i].warm_start = joints->warm_start_backup[i];
}

int talus_joints_list_pairs(const TalusWorld *world, int (*pairs)[2], int limit)
{
    int count = 0;
    for (int i = 0; i < world->joints.count; i++) {
        const TalusJoint *joint = &world->joints.joint[i];
        if (!talus_joint_lives(world, joint))
            continue;
        if (pairs && count < limit) {
            pairs[count][0] = talus_ranks_slot_near(world, joint->def.a);
            pairs[count][1] = talus_ranks_slot_near(world, joint->def.b);
        }
        count++;
    }
    return count;
}

/* ---- motors ---- */

/* Gives a joint phases, which it owns from now on, in place of those that it has. */
static void set_phases(TalusJoint *joint, TalusServoPhase *phases, int count)
{
    talus_release(joint->phase);
    joint->phase = phases;
    joint->phases = count;
    joint->warm_start.phase = -1;
}

TalusStatus talus_world_set_motor(TalusWorld *world, TalusJointId id, const TalusMotorDef *motor)
{
    TalusJoint *joint = NULL;
    TALUS_TRY(find_joint(world, id, &joint));
    TalusJointDef def = joint->def;
    def.motor = *motor;
    TALUS_TRY(check_motor(def.name, def.kind, motor));
    TALUS_TRY(fetch_bodies_of(world, &def));
    TALUS_TRY(check_bodies(world, def.name, &def));
    joint->def.motor = *motor;
    joint->motor_since = talus_time(world);
    set_phases(joint, NULL, 0);
    return TALUS_OK;
}

TalusStatus talus_world_set_servo_phases(TalusWorld *world, TalusJointId id,
                                         const TalusServoPhase *phases, int count)
{
    TalusJoint *joint = NULL;
    TalusServoPhase *copy = NULL;
    TALUS_TRY(find_joint(world, id, &joint));
    TALUS_TRY(fetch_bodies_of(world, &joint->def));
    TALUS_TRY(talus_joint_check_phases(world, &joint->def, phases, count));
    TalusStatus status =
        count > 0 ? TALUS_ALLOC(copy, (size_t)count, "phases of a servo") : TALUS_OK;
    status = talus_comm_agree(world->ranks.comm, status);
    if (status != TALUS_OK) {
        talus_release(copy);
        return status;
    }
    for (int i = 0; i < count; i++)
        copy[i] = phases[i];
    set_phases(joint, copy, count);
    return TALUS_OK;
}

/* ---- queries ---- */

/* Returns the state of a joint at the present poses, with the forces of the last step. */
static TalusJointState joint_state(const TalusWorld *world, const TalusJoint *joint)
{
    TalusJointPose pose = talus_joint_pose(world, joint);
    const TalusVec3 *x = world->bodies.position;
    TalusVec3 zero = {0.0, 0.0, 0.0};
    TalusJointState state = {
        .id = {joint->number},
        .name = joint->def.name,
        .kind = joint->def.kind,
        .a = joint->def.a,
        .b = joint->def.b,
        .point = talus_add(pose.slot[1] < 0 ? zero : x[pose.slot[1]], pose.arm[1]),
        .point_b = talus_add(pose.slot[0] < 0 ? zero : x[pose.slot[0]], pose.arm[0]),
        .axis = pose.along,
        .coordinate = pose.coordinate,
        .speed = talus_joint_speed(world, joint, &pose),
        .force = joint->reported.force,
        .torque = joint->reported.torque,
        .effort = joint->reported.effort,
        .error = talus_joint_error(joint, &pose),
    };
    return state;
}

/* As fetch_copies, for queries that cannot fail: they see no bodies of other ranks if a message is lost. */
static void look_at_copies(const TalusWorld *world)
{
    if (fetch_copies(world) != TALUS_OK)
        talus_log_to(&world->log, TALUS_LOG_WARNING, "world.look",
                     "joints could not be looked at: %s", talus_error());
}

TalusStatus talus_world_find_joint(const TalusWorld *world, const char *name, TalusJointId *id)
{
    TALUS_TRY(fetch_copies(world));
    for (int i = 0; i < world->joints.count; i++) {
        const TalusJoint *joint = &world->joints.joint[i];
        if (strcmp(joint->def.name, name) == 0 && talus_joint_lives(world, joint)) {
            *id = (TalusJointId){joint->number};
            return TALUS_OK;
        }
    }
    return talus_fail_key(name, TALUS_ERR_ARGUMENT, "the world has no joint of this name");
}

int talus_world_joint_count(const TalusWorld *world)
{
    int removed = 0;
    if (!talus_world_is_dealt(world))
        return talus_joints_list_pairs(world, NULL, 0);
    /* those of bodies that sinks have removed are gone (talus_joints_finish_step) */
    for (int i = 0; i < world->joints.count; i++)
        removed += world->joints.joint[i].removed;
    return world->joints.count - removed;
}

TalusStatus talus_world_get_joint(const TalusWorld *world, TalusJointId id, TalusJointState *state)
{
    TalusJoint *joint = NULL;
    TALUS_TRY(find_joint(world, id, &joint));
    *state = joint_state(world, joint);
    return TALUS_OK;
}

int talus_world_get_joints(const TalusWorld *world, TalusJointState *out, int count)
{
    int total = 0;
    look_at_copies(world);
    for (int i = 0; i < world->joints.count; i++) {
        const TalusJoint *joint = &world->joints.joint[i];
        if (!talus_joint_lives(world, joint))
            continue;
        if (out && total < count)
            out[total] = joint_state(world, joint);
        total++;
    }
    return total;
}
