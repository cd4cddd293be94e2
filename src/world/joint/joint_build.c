/* world/joint/joint_build.c - the blocks of joints in the problem of a step, and their impulses.
 *
 * Offsets and compliances, for a row with coordinate y and velocity u over a step h. For an angle, y and target are
 * angles times the row's lever; max_effort is divided by the lever, stiffness and damping by its square:
 *     held            u = 0
 *     speed motor     u = speed, |gamma| <= max_effort h
 *     servo           u = max_speed in the direction of the force F, |gamma| <= |F| h; in a phase of given velocity as a
 *                     speed motor
 *     position motor  y + h u = target, |gamma| <= max_effort h; or, with stiffness k and damping c, the force
 *                     k (target - y - h u) + c (rate - u) at the end of the step
 *     spring          -(k (y + h u - rest) + c u), likewise
 *     limit           y + h u >= lower, by an impulse that only pushes
 * With E = 1/(h (h k + c)) motors and springs with k and c are u + E gamma + b = 0, b = (k (y - target) - c rate)/
 * (h k + c).
 *
 * A torque motor has no row: its impulse is added to the free velocities, as is a servo's against the weight. So a servo's
 * force is exact wherever its row does not hold the speed, and needs no gain. */
#include "engine/body.h"
#include "engine/contact_terms.h"
#include "world/state.h"

#include <float.h>

/* ---- the list ---- */

typedef struct BlockWriter {
    TalusWorld *world;
    const TalusJoint *joint; /* whose blocks are appended */
    int index;               /* of the joint in TalusJoints.joint */
    double h;
    int bounded, free; /* index of the next block of each kind (TalusJoints) */
} BlockWriter;

/* Appends the block to the free or the bounded blocks of TalusJoints.block, with its joint, part and offset. */
static void append_block(BlockWriter *c, TalusJointBlock block, int part,
                         const TalusJointPose *pose)
{
    TalusJoints *joints = &c->world->joints;
    block.joint = c->index;
    block.part = part;
    block.offset = talus_sub(block.arm[1], pose->arm[1]);
    bool free = block.mask != 0 && block.max_impulse == INFINITY;
    joints->any_compliance = joints->any_compliance || block.compliance > 0.0;
    joints->block[free ? c->free++ : c->bounded++] = block;
}

/* Makes the block, whose coordinate is y, a spring of stiffness k and damping c towards `target`, which moves at
 * `rate`. */
static void make_spring(TalusJointBlock *block, double h, double k, double c, double y,
                        double target, double rate)
{
    block->compliance = 1.0 / (h * (h * k + c));
    block->bias = (k * (y - target) - c * rate) / (h * k + c);
}

/* Returns the motor's target at a time; 0 until its start. */
static double motor_target(const TalusJoint *joint, double time)
{
    const TalusMotorDef *motor = &joint->def.motor;
    if (joint->phases > 0)
        return talus_joint_phase_load(joint, time);
    return time > motor->start
               ? motor->target + motor->rate * (time - fmax(joint->motor_since, motor->start))
               : 0.0;
}

/* True for motors that have a block. */
static bool has_block(const TalusMotorDef *motor)
{
    return motor->kind == TALUS_MOTOR_SPEED || motor->kind == TALUS_MOTOR_POSITION ||
           motor->kind == TALUS_MOTOR_SERVO;
}

/* Returns the largest |effort| of the motor's block at a time; of a servo that holds no velocity its force. */
static double block_effort(const TalusWorld *world, const TalusJoint *joint, double time)
{
    const TalusMotorDef *motor = &joint->def.motor;
    if (motor->kind != TALUS_MOTOR_SERVO || talus_joint_holds_velocity(joint))
        return motor->max_effort;
    double force = talus_joint_servo_force(world, joint, motor_target(joint, time));
    return fmin(fabs(force), fmin(motor->max_effort, DBL_MAX));
}

/* Appends the block of a motor that has one. */
static void append_motor(BlockWriter *c, const TalusJointPose *pose)
{
    const TalusMotorDef *motor = &c->joint->def.motor;
    if (!has_block(motor))
        return;
    TalusJointBlock block = talus_joint_coordinate_block(c->joint, pose);
    double lever = block.lever, square = lever * lever;
    double end = c->world->part_time + c->h;
    double target = lever * motor_target(c->joint, end);
    double rate = end > motor->start ? lever * motor->rate : 0.0;
    double y = lever * pose->coordinate;
    double max_effort = block_effort(c->world, c->joint, end);
    block.max_impulse = max_effort * c->h / lever;
    /* count_bounded counts this block as bounded: a product that overflows must not become INFINITY, no bound */
    if (isfinite(max_effort))
        block.max_impulse = fmin(block.max_impulse, DBL_MAX);
    if (motor->kind == TALUS_MOTOR_SPEED || talus_joint_holds_velocity(c->joint))
        block.bias = -target;
    else if (motor->kind == TALUS_MOTOR_SERVO)
        block.bias = -copysign(motor->max_speed, target);
    else if (motor->stiffness + motor->damping > 0.0)
        make_spring(&block, c->h, motor->stiffness / square, motor->damping / square, y, target,
                    rate);
    else
        block.bias = (y - target) / c->h;
    append_block(c, block, TALUS_PART_MOTOR, pose);
}

/* Appends the block of the lower limit (way 1) or the upper limit (way -1), unless the limit is infinite. A coordinate
 * beyond its limit returns at most at the recovery speed of overlaps. */
static void append_limit(BlockWriter *c, const TalusJointPose *pose, double limit, double way,
                         int part)
{
    if (!isfinite(limit))
        return;
    const TalusBuildOptions *o = &c->world->build_options;
    const TalusLaw rigid = {0};
    TalusJointBlock block = talus_joint_coordinate_block(c->joint, pose);
    block.normal = talus_scale(way, block.normal);
    block.mask = 0;
    block.bias =
        talus_contact_bias(&rigid, c->h, o->recovery, o->gravity,
                           way * block.lever * (pose->coordinate - limit), c->joint->length);
    append_block(c, block, part, pose);
}

/* Appends all blocks of the joint: constraints, spring, motor, limits. */
static void append_joint(BlockWriter *c)
{
    const TalusJointDef *def = &c->joint->def;
    TalusJointPose pose = talus_joint_pose(c->world, c->joint);
    TalusJointBlock hold[3];
    int holds = talus_joint_constraint_blocks(c->joint, &pose, hold);
    for (int k = 0; k < holds; k++)
        append_block(c, hold[k], TALUS_PART_FIRST + k, &pose);
    if (def->kind == TALUS_JOINT_SPRING) {
        TalusJointBlock spring = talus_joint_coordinate_block(c->joint, &pose);
        make_spring(&spring, c->h, def->stiffness, def->damping, pose.coordinate, def->rest, 0.0);
        append_block(c, spring, TALUS_PART_FIRST, &pose);
    }
    append_motor(c, &pose);
    append_limit(c, &pose, def->lower, 1.0, TALUS_PART_LOWER);
    append_limit(c, &pose, def->upper, -1.0, TALUS_PART_UPPER);
}

/* Returns the number of bounded blocks of a joint: motors of bounded effort, and limits. */
static int count_bounded(const TalusJoint *joint)
{
    const TalusJointDef *def = &joint->def;
    bool force = def->motor.kind == TALUS_MOTOR_SERVO && !talus_joint_holds_velocity(joint);
    bool motor = has_block(&def->motor) && (isfinite(def->motor.max_effort) || force);
    return motor + isfinite(def->lower) + isfinite(def->upper);
}

/* True for motors that change free velocities: torque motors, and servos by their counterweights. */
static bool gives_impulses(const TalusMotorDef *motor)
{
    return motor->kind == TALUS_MOTOR_TORQUE || motor->kind == TALUS_MOTOR_SERVO;
}

TalusStatus talus_joints_make_blocks(TalusWorld *world, double h)
{
    TalusJoints *joints = &world->joints;
    joints->bounded = joints->free = 0;
    joints->any_compliance = joints->any_torque_motor = false;
    if (joints->count == 0)
        return TALUS_OK;
    TALUS_TRY(
        TALUS_GROW(joints->block, (size_t)joints->count * TALUS_JOINT_PARTS, 0, "joint blocks"));
    for (int i = 0; i < joints->count; i++) {
        TalusJoint *joint = &joints->joint[i];
        if (!talus_joint_lives(world, joint))
            continue;
        talus_joint_enter_phase(world, joint, h);
        joints->bounded += count_bounded(joint);
    }
    BlockWriter c = {.world = world, .h = h, .free = joints->bounded};
    for (c.index = 0; c.index < joints->count; c.index++) {
        c.joint = &joints->joint[c.index];
        if (!talus_joint_lives(world, c.joint))
            continue;
        append_joint(&c);
        joints->any_torque_motor = joints->any_torque_motor || gives_impulses(&c.joint->def.motor);
    }
    joints->free = c.free - joints->bounded;
    return TALUS_OK;
}

/* ---- into the operator ---- */

/* True if the operator's block has the mover as its first body, which must be free, because the base is not free. The
 * normal then changes its sign, which preserves velocities and impulses along the normal. */
static bool is_swapped(const TalusWorld *world, const TalusJointBlock *block)
{
    return block->slot[0] < 0 || !talus_slot_is_free(&world->bodies, block->slot[0]);
}

/* Returns the index of the slot's body in exchange.problem: the slot, or -1 for a fixed body or the fixed world. */
static int problem_body(const TalusWorld *world, int slot)
{
    return slot >= 0 && world->bodies.mobility[slot] != TALUS_MOBILITY_FIXED ? slot : -1;
}

/* Writes the arms of block i, divided by the lengths of its bodies; 0 for body -1. */
static void fill_arms(const TalusOperator *op, const double *length, int64_t i,
                      const TalusVec3 arm[2])
{
    double *out = op->arm[i - op->sphere_sphere - op->sphere_fixed];
    for (int side = 0; side < 2; side++) {
        int body = op->pair[i][side];
        TalusVec3 r = talus_scale(body < 0 ? 0.0 : 1.0 / length[body], arm[side]);
        out[3 * side] = r.x;
        out[3 * side + 1] = r.y;
        out[3 * side + 2] = r.z;
    }
}

/* Writes block i of exchange.problem. A limit is a contact without friction; other blocks have their mask in
 * model.sides and their largest impulse in `mu`. */
static void fill_block(TalusWorld *world, const TalusJointBlock *block, int64_t i)
{
    TalusOperator *op = talus_problem_operator(world->joints.exchange.problem);
    const double *length = talus_problem_lengths(world->joints.exchange.problem);
    bool swapped = is_swapped(world, block);
    TalusVec3 arm[2] = {block->arm[swapped], block->arm[!swapped]};
    TalusVec3 n = swapped ? talus_neg(block->normal) : block->normal;
    bool limit = block->mask == 0;
    op->pair[i][0] = block->slot[swapped];
    op->pair[i][1] = problem_body(world, block->slot[!swapped]);
    talus_frame_from_normal(op->frame[i], n.x, n.y, n.z);
    fill_arms(op, length, i, arm);
    op->bias[i] = block->bias;
    op->mu[i] = limit ? 0.0 : block->max_impulse;
    op->model[i] = (TalusBlockModel){.section = limit ? TALUS_SECTION_NONE : TALUS_SECTION_JOINT,
                                     .law = TALUS_LAW_CCP,
                                     .sides = (uint16_t)block->mask};
    op->compliance[i] = block->compliance;
}

/* Writes the initial impulse of block i: `ratio` times the impulse of the last step, cut to the block's bounds. */
static void fill_gamma(TalusWorld *world, const TalusJointBlock *block, int64_t i, double ratio)
{
    const TalusOperator *op = talus_problem_operator(world->joints.exchange.problem);
    double *g = &talus_problem_gamma(world->joints.exchange.problem)[op->rows * i];
    TalusVec3 impulse = world->joints.joint[block->joint].warm_start.impulse[block->part];
    if (is_swapped(world, block))
        impulse = talus_neg(impulse);
    talus_contact_warm_start(op->frame[i], op->rows, ratio, impulse, g);
    bool limit = block->mask == 0;
    for (int k = 0; k < 3; k++)
        if (limit ? k > 0 : !(block->mask >> k & 1))
            g[k] = 0.0;
        else
            g[k] = fmin(block->max_impulse, fmax(limit ? 0.0 : -block->max_impulse, g[k]));
}

void talus_joints_fill_problem(TalusWorld *world, double ratio)
{
    const TalusJoints *joints = &world->joints;
    for (int k = 0; k < joints->bounded + joints->free; k++) {
        fill_block(world, &joints->block[k], k);
        fill_gamma(world, &joints->block[k], k, ratio);
    }
}

/* ---- torque motors, and counterweights of servos ---- */

typedef struct MotorImpulse {
    int slot;
    TalusVec3 impulse, moment; /* on the body: N s, N m s about its centre */
} MotorImpulse;

/* Returns the effort of a torque motor at a time, or the counterweight of a servo. */
static double impulse_effort(const TalusWorld *world, const TalusJoint *joint,
                             const TalusJointPose *pose, double time)
{
    const TalusMotorDef *motor = &joint->def.motor;
    return motor->kind == TALUS_MOTOR_SERVO
               ? talus_joint_counterweight(world, joint, pose)
               : fmin(motor->max_effort, fmax(-motor->max_effort, motor_target(joint, time)));
}

/* Computes the impulses within h of a torque motor on base and mover, by its effort at the middle of h, or of a
 * counterweight. False if the joint has no such motor or is not alive. */
static bool motor_impulses(const TalusWorld *world, const TalusJoint *joint, double h,
                           MotorImpulse act[2])
{
    if (!gives_impulses(&joint->def.motor) || !talus_joint_lives(world, joint))
        return false;
    TalusJointPose pose = talus_joint_pose(world, joint);
    double amount = h * impulse_effort(world, joint, &pose, world->part_time + 0.5 * h);
    TalusJointBlock block = talus_joint_coordinate_block(joint, &pose);
    bool turns = joint->def.kind == TALUS_JOINT_REVOLUTE;
    TalusVec3 zero = {0.0, 0.0, 0.0};
    for (int k = 0; k < 2; k++) {
        TalusVec3 along = talus_scale(k ? amount : -amount, pose.along);
        act[k].slot = block.slot[k];
        act[k].impulse = turns ? zero : along;
        act[k].moment = turns ? along : talus_cross(block.arm[k], along);
    }
    return true;
}

/* Computes the change of a free body's record (velocity, spin times its length) by a motor's impulse; false if the body
 * is not free. */
static bool velocity_change(const TalusWorld *world, const MotorImpulse *act, TalusMotorChange *out)
{
    TalusProblem *problem = world->joints.exchange.problem;
    if (act->slot < 0 || !talus_slot_is_free(&world->bodies, act->slot))
        return false;
    double inv_mass = talus_problem_operator(problem)->body[act->slot][3];
    double l = talus_problem_lengths(problem)[act->slot];
    TalusSym3 inertia = talus_body_inverse_inertia(talus_slot_gyration(world, act->slot), inv_mass,
                                                   l, world->bodies.orientation[act->slot]);
    TalusVec3 v = talus_scale(inv_mass, act->impulse);
    TalusVec3 spin = talus_scale(1.0 / l, talus_sym3_mul(inertia, act->moment));
    *out = (TalusMotorChange){act->slot, {v.x, v.y, v.z, 0.0, spin.x, spin.y, spin.z, 0.0}};
    return true;
}

int talus_joints_motor_changes(TalusWorld *world, double h, TalusMotorChange *out)
{
    MotorImpulse act[2];
    int count = 0;
    for (int i = 0; world->joints.any_torque_motor && i < world->joints.count; i++) {
        if (!motor_impulses(world, &world->joints.joint[i], h, act))
            continue;
        count += velocity_change(world, &act[0], &out[count]);
        count += velocity_change(world, &act[1], &out[count]);
    }
    return count;
}

/* Returns the work of a motor's impulse on a body, J, at the velocities in the body records of exchange.problem. */
static double motor_impulse_work(TalusWorld *world, const MotorImpulse *act)
{
    if (act->slot < 0 || !talus_slot_is_free(&world->bodies, act->slot))
        return 0.0;
    TalusVec3 v, s;
    talus_record_velocity(talus_problem_operator(world->joints.exchange.problem), act->slot, &v,
                          &s);
    double l = talus_problem_lengths(world->joints.exchange.problem)[act->slot];
    return talus_dot(act->impulse, v) + talus_dot(act->moment, s) / l;
}

/* Returns the work of all torque motors and counterweights, J, and adds their impulses to the joints' sums. */
static double sum_torque_motors(TalusWorld *world, double h)
{
    double work = 0.0;
    MotorImpulse act[2];
    for (int i = 0; world->joints.any_torque_motor && i < world->joints.count; i++) {
        TalusJoint *joint = &world->joints.joint[i];
        if (!motor_impulses(world, joint, h, act))
            continue;
        TalusJointPose pose = talus_joint_pose(world, joint);
        bool turns = joint->def.kind == TALUS_JOINT_REVOLUTE;
        work += motor_impulse_work(world, &act[0]) + motor_impulse_work(world, &act[1]);
        joint->sums.force = talus_add(joint->sums.force, act[1].impulse);
        if (turns)
            joint->sums.torque = talus_add(joint->sums.torque, act[1].moment);
        if (joint->def.motor.kind == TALUS_MOTOR_TORQUE)
            joint->sums.effort += talus_dot(turns ? act[1].moment : act[1].impulse, pose.along);
    }
    return work;
}

/* ---- results of the solve ---- */

/* Copies the solved impulse of block i, on the mover, to warm_start of its joint, and returns it. */
static TalusVec3 store_block_impulse(TalusWorld *world, const TalusJointBlock *block, int64_t i)
{
    const TalusOperator *op = talus_problem_operator(world->joints.exchange.problem);
    TalusVec3 impulse =
        talus_block_impulse(op, talus_problem_gamma(world->joints.exchange.problem), i);
    if (is_swapped(world, block))
        impulse = talus_neg(impulse);
    world->joints.joint[block->joint].warm_start.impulse[block->part] = impulse;
    return impulse;
}

/* Zeroes the stored impulses of all parts; store_block_impulse then sets those of parts that have a block. */
static void zero_stored_impulses(TalusWorld *world)
{
    for (int i = 0; i < world->joints.count; i++) {
        TalusJoint *joint = &world->joints.joint[i];
        for (int part = 0; part < TALUS_JOINT_PARTS; part++)
            joint->warm_start.impulse[part] = talus_vec3(0.0, 0.0, 0.0);
    }
}

void talus_joints_update_warm_starts(TalusWorld *world)
{
    const TalusJoints *joints = &world->joints;
    zero_stored_impulses(world);
    for (int k = 0; k < joints->bounded + joints->free; k++)
        store_block_impulse(world, &joints->block[k], k);
}

double talus_joints_sum_results(TalusWorld *world, double h)
{
    const TalusJoints *joints = &world->joints;
    const TalusOperator *op = talus_problem_operator(world->joints.exchange.problem);
    const double *all = talus_problem_gamma(world->joints.exchange.problem);
    double work = sum_torque_motors(world, h);
    zero_stored_impulses(world);
    for (int k = 0; k < joints->bounded + joints->free; k++) {
        const TalusJointBlock *block = &joints->block[k];
        TalusJointSums *sums = &joints->joint[block->joint].sums;
        const double *gamma = &all[op->rows * (int64_t)k];
        double u[3];
        TalusVec3 impulse = store_block_impulse(world, block, k);
        talus_block_velocity(op, k, u);
        work += gamma[0] * u[0] + gamma[1] * u[1] + gamma[2] * u[2];
        sums->force = talus_add(sums->force, impulse);
        sums->torque = talus_add(sums->torque, talus_cross(block->offset, impulse));
        bool spring = joints->joint[block->joint].def.kind == TALUS_JOINT_SPRING;
        if (block->part == TALUS_PART_MOTOR || (spring && block->part == TALUS_PART_FIRST))
            sums->effort += block->lever * gamma[0];
    }
    return work;
}

void talus_joints_update_angles(TalusWorld *world)
{
    for (int i = 0; i < world->joints.count; i++) {
        TalusJoint *joint = &world->joints.joint[i];
        if (joint->def.kind == TALUS_JOINT_REVOLUTE && talus_joint_lives(world, joint))
            joint->warm_start.angle = talus_joint_pose(world, joint).coordinate;
    }
}
