/* world/joint/joint_servo.c - servo walls: the force of a stress over the current area.
 *
 * The area is that between walls that may move, `area` times their distances, or a constant. The wall that is pushed is
 * weightless along its axis: its weight is balanced, so that at rest the contacts bear the given force whatever the mass
 * of the wall. While it accelerates by a they bear the force less mass times a.
 *
 * Phases are loads one after the other. What a phase begins with is taken from the step before: the force that the servo
 * bore, or its velocity. It is kept with the warm start, so that a step that is undone undoes it. */
#include "world/ids.h"
#include "world/joint/joint.h"
#include "world/state.h"

#include <inttypes.h>

static const TalusShapeDef *shape_of_slot(const TalusWorld *world, int slot)
{
    return &world->shape[world->bodies.shape[slot]].def;
}

/* ---- the area ---- */

/* Returns the area that a box or cylinder covers as seen along the unit vector `axis`, in its own frame; 0 for other
 * shapes. */
static double face_area(const TalusShapeDef *shape, TalusVec3 axis)
{
    const TalusVec3 h = shape->half;
    const double pi = 3.14159265358979323846, x = fabs(axis.x), y = fabs(axis.y), z = fabs(axis.z);
    const double r = shape->radius;
    if (shape->kind == TALUS_SHAPE_BOX)
        return 4.0 * (x * h.y * h.z + y * h.z * h.x + z * h.x * h.y);
    if (shape->kind == TALUS_SHAPE_CYLINDER)
        return pi * r * r * z + 4.0 * r * shape->half_height * sqrt(x * x + y * y);
    return 0.0;
}

/* Returns the unit normal of a wall: of a plane its own, of a box along the thinnest side. */
static TalusVec3 wall_normal(const TalusWorld *world, int slot)
{
    const TalusShapeDef *shape = shape_of_slot(world, slot);
    const TalusVec3 h = shape->half;
    TalusVec3 normal = {0.0, 0.0, 1.0};
    if (shape->kind == TALUS_SHAPE_BOX && (h.x < h.z || h.y < h.z))
        normal = h.x <= h.y ? talus_vec3(1.0, 0.0, 0.0) : talus_vec3(0.0, 1.0, 0.0);
    return talus_rotate(world->bodies.orientation[slot], normal);
}

/* Returns the reach of a wall from its origin along the unit vector n. */
static double wall_reach(const TalusWorld *world, int slot, TalusVec3 n)
{
    const TalusShapeDef *shape = shape_of_slot(world, slot);
    const TalusVec3 m = talus_rotate_back(world->bodies.orientation[slot], n), h = shape->half;
    return shape->kind == TALUS_SHAPE_BOX ? fabs(m.x) * h.x + fabs(m.y) * h.y + fabs(m.z) * h.z
                                          : 0.0;
}

/* Returns the distance of two walls along the normal of the first, m; 0 if they overlap. */
static double wall_distance(const TalusWorld *world, const TalusBodyId wall[2])
{
    const int a = talus_ranks_slot_near(world, wall[0]), b = talus_ranks_slot_near(world, wall[1]);
    const TalusVec3 n = wall_normal(world, a);
    const TalusVec3 way = talus_sub(world->bodies.position[b], world->bodies.position[a]);
    return fmax(fabs(talus_dot(way, n)) - wall_reach(world, a, n) - wall_reach(world, b, n), 0.0);
}

/* Returns the present area of a servo, m2. */
static double current_area(const TalusWorld *world, const TalusJoint *joint)
{
    const TalusMotorDef *motor = &joint->def.motor;
    double area = motor->area;
    bool walls = motor->between[0][0].number != 0;
    if (area == 0.0)
        area = walls ? 1.0
                     : face_area(shape_of_slot(world, talus_ranks_slot_near(world, joint->def.a)),
                                 joint->axis[1]);
    for (int k = 0; k < 2; k++)
        if (motor->between[k][0].number != 0)
            area *= wall_distance(world, motor->between[k]);
    return area;
}

/* ---- phases ---- */

static const TalusServoPhase *present_phase(const TalusJoint *joint)
{
    return joint->phases > 0 ? &joint->phase[joint->warm_start.phase] : NULL;
}

/* Returns what the servo bears or how it moves now, in the unit of the load: N, Pa or m/s. */
static double present_load(const TalusWorld *world, const TalusJoint *joint, TalusServoLoad load)
{
    if (load == TALUS_SERVO_VELOCITY) {
        const TalusJointPose pose = talus_joint_pose(world, joint);
        return talus_joint_speed(world, joint, &pose);
    }
    const double force = joint->reported.effort;
    const double area = load == TALUS_SERVO_STRESS ? current_area(world, joint) : 1.0;
    return area > 0.0 ? force / area : 0.0;
}

void talus_joint_enter_phase(const TalusWorld *world, TalusJoint *joint, double h)
{
    TalusJointWarmStart *w = &joint->warm_start;
    const double middle = world->part_time + 0.5 * h;
    int next = w->phase < 0 ? 0 : w->phase;
    while (next + 1 < joint->phases && middle > joint->phase[next].until)
        next++;
    if (joint->phases == 0 || next == w->phase)
        return;
    joint->left = *w;
    w->phase = next;
    w->phase_start = world->part_time;
    w->phase_load = present_load(world, joint, joint->phase[next].load);
}

void talus_joints_leave_phases(TalusWorld *world)
{
    for (int i = 0; i < world->joints.count; i++) {
        TalusJoint *joint = &world->joints.joint[i];
        TalusJointWarmStart *w = &joint->warm_start;
        if (joint->phases == 0 || w->phase < 0 || w->phase_start != world->part_time)
            continue;
        w->phase = joint->left.phase;
        w->phase_start = joint->left.phase_start;
        w->phase_load = joint->left.phase_load;
    }
}

double talus_joint_phase_load(const TalusJoint *joint, double time)
{
    const TalusServoPhase *phase = present_phase(joint);
    const double from = joint->warm_start.phase_load;
    const double passed = time - joint->warm_start.phase_start;
    if (passed >= phase->ramp)
        return phase->value;
    return from + (phase->value - from) * (passed / phase->ramp);
}

bool talus_joint_holds_velocity(const TalusJoint *joint)
{
    const TalusServoPhase *phase = present_phase(joint);
    return phase && phase->load == TALUS_SERVO_VELOCITY;
}

/* ---- forces ---- */

/* True if the present target of a servo is a stress. */
static bool holds_stress(const TalusJoint *joint)
{
    const TalusServoPhase *phase = present_phase(joint);
    return phase ? phase->load == TALUS_SERVO_STRESS : joint->def.motor.stress;
}

double talus_joint_servo_force(const TalusWorld *world, const TalusJoint *joint, double target)
{
    return holds_stress(joint) ? target * current_area(world, joint) : target;
}

double talus_joint_counterweight(const TalusWorld *world, const TalusJoint *joint,
                                 const TalusJointPose *pose)
{
    const int slot = talus_ranks_slot_near(world, joint->def.a);
    return -world->bodies.mass[slot] * talus_dot(world->def.gravity, pose->along);
}

/* ---- the end ---- */

void talus_joints_warn_ended_servos(TalusWorld *world)
{
    const TalusJoints *joints = &world->joints;
    for (int i = 0; i < joints->count && !world->said_servo; i++) {
        const TalusJointDef *def = &joints->joint[i].def;
        if (def->motor.kind != TALUS_MOTOR_SERVO || talus_joint_lives(world, &joints->joint[i]))
            continue;
        talus_log_to(&world->log, TALUS_LOG_WARNING, "step.servo",
                     "step %lld: a sink has taken a wall of the servo of joint \"%s\": the servo "
                     "ends, and what it loaded is loaded no longer (said once)",
                     (long long)world->steps + 1, def->name);
        world->said_servo = true;
    }
}

/* ---- checks ---- */

/* Refuses numbers of a servo that are not valid. */
static TalusStatus check_numbers(const char *name, const TalusMotorDef *m)
{
    if (!(m->max_speed > 0.0) || !isfinite(m->max_speed))
        return talus_reject("joint \"%s\": servo with max_speed %g; expected m/s, more than 0",
                            name, m->max_speed);
    if (!(m->area >= 0.0) || !isfinite(m->area))
        return talus_reject("joint \"%s\": servo with area %g; expected more than 0", name,
                            m->area);
    return TALUS_OK;
}

/* Refuses a servo of a joint that does not slide, or between two bodies that move. */
static TalusStatus check_joint(const TalusWorld *world, const char *name, const TalusJointDef *def)
{
    const int a = talus_ranks_slot_near(world, def->a), b = talus_ranks_slot_near(world, def->b);
    if (def->kind != TALUS_JOINT_PRISMATIC && def->kind != TALUS_JOINT_CYLINDRICAL)
        return talus_reject("joint \"%s\": only prismatic and cylindrical joints have a servo",
                            name);
    if (a < 0 || !talus_slot_is_dynamic(&world->bodies, a) ||
        (b >= 0 && talus_slot_is_dynamic(&world->bodies, b)))
        return talus_reject(
            "joint \"%s\": a servo moves a free first body; the second is fixed, driven or the "
            "world",
            name);
    return TALUS_OK;
}

/* Refuses walls that are neither boxes nor planes, the same twice, or one without the other. */
static TalusStatus check_pair(const TalusWorld *world, const char *name, const TalusBodyId wall[2])
{
    if (wall[0].number == 0 && wall[1].number == 0)
        return TALUS_OK;
    if (wall[0].number == wall[1].number || wall[0].number == 0 || wall[1].number == 0)
        return talus_reject("joint \"%s\": the area of a servo is between two walls; expected two",
                            name);
    for (int k = 0; k < 2; k++) {
        const int slot = talus_ranks_slot_near(world, wall[k]);
        TalusShapeKind kind = shape_of_slot(world, slot)->kind;
        if (kind != TALUS_SHAPE_BOX && kind != TALUS_SHAPE_PLANE)
            return talus_reject("joint \"%s\": body %" PRIu64
                                " is no wall of an area; boxes and planes are",
                                name, wall[k].number);
    }
    return TALUS_OK;
}

/* Refuses an area that is not known: without walls of a body without faces, and of one pair without a width. */
static TalusStatus check_area(const TalusWorld *world, const char *name, const TalusJointDef *def)
{
    const TalusMotorDef *m = &def->motor;
    const bool first = m->between[0][0].number != 0, second = m->between[1][0].number != 0;
    TalusShapeKind kind = shape_of_slot(world, talus_ranks_slot_near(world, def->a))->kind;
    if (second && !first)
        return talus_reject("joint \"%s\": a servo has the second pair of walls without the first",
                            name);
    if (first != second && m->area == 0.0)
        return talus_reject(
            "joint \"%s\": between two walls a servo needs the width across, as its area", name);
    if (!first && m->area == 0.0 && kind != TALUS_SHAPE_BOX && kind != TALUS_SHAPE_CYLINDER)
        return talus_reject(
            "joint \"%s\": the stress of a servo needs an area; boxes and cylinders have one",
            name);
    return TALUS_OK;
}

TalusStatus talus_joint_check_servo(const TalusWorld *world, const char *name,
                                    const TalusJointDef *def)
{
    if (def->motor.kind != TALUS_MOTOR_SERVO)
        return TALUS_OK;
    TALUS_TRY(check_numbers(name, &def->motor));
    TALUS_TRY(check_joint(world, name, def));
    for (int k = 0; k < 2; k++)
        TALUS_TRY(check_pair(world, name, def->motor.between[k]));
    return def->motor.stress ? check_area(world, name, def) : TALUS_OK;
}

/* Refuses the numbers of phase i. */
static TalusStatus check_phase(const TalusJointDef *def, const TalusServoPhase *phases, int count,
                               int i)
{
    const TalusServoPhase *p = &phases[i];
    const double begin = i > 0 ? phases[i - 1].until : 0.0;
    if ((unsigned)p->load >= TALUS_SERVO_LOADS || !isfinite(p->value))
        return talus_reject("joint \"%s\": phase %d with load %d and value %g; expected a force, "
                            "stress or velocity that is finite",
                            def->name, i, (int)p->load, p->value);
    if (p->load == TALUS_SERVO_VELOCITY && fabs(p->value) > def->motor.max_speed)
        return talus_reject("joint \"%s\": phase %d with velocity %g; the servo has a speed of %g "
                            "at most",
                            def->name, i, p->value, def->motor.max_speed);
    if (i + 1 < count ? !(p->until > begin) || !isfinite(p->until) : p->until != INFINITY)
        return talus_reject("joint \"%s\": phase %d until %g; expected ends that ascend, and none "
                            "of the last phase",
                            def->name, i, p->until);
    if (!(p->ramp >= 0.0) || !isfinite(p->ramp) || p->ramp > (p->until - begin) * (1.0 + 1e-9))
        return talus_reject("joint \"%s\": phase %d with a ramp of %g s; expected 0 or more, and "
                            "no more than the phase lasts, %g s",
                            def->name, i, p->ramp, p->until - begin);
    return TALUS_OK;
}

TalusStatus talus_joint_check_phases(const TalusWorld *world, const TalusJointDef *def,
                                     const TalusServoPhase *phases, int count)
{
    TalusJointDef pushed = *def;
    if (def->motor.kind != TALUS_MOTOR_SERVO || count < 0 || (count > 0 && !phases))
        return talus_reject("joint \"%s\": %d phases; servos alone have phases, 0 or more",
                            def->name, count);
    for (int i = 0; i < count; i++) {
        TALUS_TRY(check_phase(def, phases, count, i));
        pushed.motor.stress = pushed.motor.stress || phases[i].load == TALUS_SERVO_STRESS;
    }
    return talus_joint_check_servo(world, def->name, &pushed);
}
