/* world/joint/joint_pose.c - poses of joints, and the constraint blocks between their bodies.
 *
 * Rows are velocities of points. While the joint is closed, the velocity of a block's rows is the rate of change of its
 * `error`, on which the projection (joint_project.c) relies. */
#include "world/ids.h"
#include "world/state.h"

#include "collide/period.h"
#include "geometry/support.h"

#define PI 3.14159265358979323846

/* ---- angles ---- */

/* Returns asin x for |x| < 0.1, by its series; the first omitted term is below 1e-19. */
static double arcsine(double x)
{
    double y = x * x, term = x, sum = x;
    for (int n = 1; n <= 8; n++) {
        double odd = 2.0 * n - 1.0;
        term *= y * odd / (2.0 * n);
        sum += term / (2.0 * n + 1.0);
    }
    return sum;
}

double talus_angle(double sine, double cosine)
{
    double norm = sqrt(sine * sine + cosine * cosine);
    double s = norm > 0.0 ? sine / norm : 0.0, c = norm > 0.0 ? fabs(cosine) / norm : 1.0;
    for (int i = 0; i < 4; i++) { /* halve the angle four times: below 5.7 degrees */
        c = sqrt(0.5 * (1.0 + c));
        s /= 2.0 * c;
    }
    double angle = 16.0 * arcsine(s);
    return cosine >= 0.0 ? angle : (sine >= 0.0 ? PI : -PI) - angle;
}

TalusVec3 talus_unit_normal(TalusVec3 n)
{
    TalusVec3 least = talus_smallest_axis(n);
    return talus_normalize(talus_cross(n, least), least);
}

/* ---- poses ---- */

bool talus_joint_is_line(TalusJointKind kind)
{
    return kind == TALUS_JOINT_DISTANCE || kind == TALUS_JOINT_SPRING;
}

bool talus_joint_has_coordinate(TalusJointKind kind)
{
    return kind == TALUS_JOINT_REVOLUTE || kind == TALUS_JOINT_PRISMATIC ||
           kind == TALUS_JOINT_CYLINDRICAL || talus_joint_is_line(kind);
}

/* Returns the joint's coordinate, rad or m; to an angle whole turns are added until it is nearest to the last angle. */
static double joint_coordinate(const TalusJoint *joint, const TalusJointPose *p)
{
    if (joint->def.kind == TALUS_JOINT_REVOLUTE) {
        TalusVec3 across = talus_cross(p->axis[0], p->side[0]);
        double angle =
            talus_angle(talus_dot(p->side[1], across), talus_dot(p->side[1], p->side[0]));
        return angle + 2.0 * PI * floor((joint->warm_start.angle - angle) / (2.0 * PI) + 0.5);
    }
    return talus_joint_has_coordinate(joint->def.kind) ? talus_dot(p->separation, p->along) : 0.0;
}

TalusJointPose talus_joint_pose(const TalusWorld *world, const TalusJoint *joint)
{
    const TalusBodies *b = &world->bodies;
    TalusJointPose p;
    TalusVec3 point[2];
    for (int k = 0; k < 2; k++) {
        int slot = talus_ranks_slot_near(world, k == 0 ? joint->def.b : joint->def.a);
        TalusQuat turn = slot >= 0 ? b->orientation[slot] : talus_quat_identity();
        p.slot[k] = slot;
        p.arm[k] = talus_rotate(turn, joint->anchor[k]);
        p.axis[k] = talus_rotate(turn, joint->axis[k]);
        p.side[k] = talus_rotate(turn, joint->side[k]);
        point[k] = slot >= 0 ? talus_add(b->position[slot], p.arm[k]) : p.arm[k];
    }
    p.separation = talus_nearest_image_vector(&world->def.period, talus_sub(point[1], point[0]));
    p.along = p.axis[0];
    if (talus_joint_is_line(joint->def.kind))
        p.along = talus_normalize(p.separation, p.axis[0]);
    p.coordinate = joint_coordinate(joint, &p);
    return p;
}

/* ---- blocks ---- */

/* Returns a block that holds the joint's two points together along the rows of `mask`; row 0 is along `normal`. */
static TalusJointBlock point_block(const TalusJointPose *p, int mask, TalusVec3 normal)
{
    TalusJointBlock block = {.slot = {p->slot[0], p->slot[1]},
                             .arm = {p->arm[0], p->arm[1]},
                             .normal = normal,
                             .error = p->separation,
                             .mask = mask,
                             .max_impulse = INFINITY,
                             .lever = 1.0};
    return block;
}

enum { BALL = 7, AXLE = 6, ROD = 1 }; /* TalusJointBlock.mask: bits of the constrained rows */

/* Returns the block that makes the joint's two points coincide. */
static TalusJointBlock ball_block(const TalusJointPose *p)
{
    return point_block(p, BALL, p->axis[0]);
}

/* Returns the block with its points moved by `base` and `mover`. */
static TalusJointBlock shift_points(TalusJointBlock block, TalusVec3 base, TalusVec3 mover)
{
    block.arm[0] = talus_add(block.arm[0], base);
    block.arm[1] = talus_add(block.arm[1], mover);
    block.error = talus_add(block.error, talus_sub(mover, base));
    return block;
}

/* Returns the block that holds the mover's point, moved by `further` along the mover's axis, on the axis of the
 * base. */
static TalusJointBlock axle_block(const TalusJointPose *p, double further)
{
    TalusJointBlock block = point_block(p, AXLE, p->axis[0]);
    return shift_points(block, talus_scale(further, p->axis[0]), talus_scale(further, p->axis[1]));
}

/* As axle_block, for a mover that slides: the base's point is moved along the axis until it is nearest to the mover's
 * point. */
static TalusJointBlock sliding_axle_block(const TalusJointPose *p, double further)
{
    TalusJointBlock block = axle_block(p, further);
    block.arm[0] = talus_madd(block.arm[0], talus_dot(p->separation, p->axis[0]), p->axis[0]);
    return block;
}

/* Returns the block that prevents rotation about the axis: with r = side, times `length`, and n = axis x side, r x n is
 * along the axis (joint.h). slides: the base's point follows the mover along the axis. */
static TalusJointBlock no_twist_block(const TalusJointPose *p, double length, bool slides)
{
    TalusVec3 n = talus_cross(p->axis[0], p->side[0]);
    TalusJointBlock block = point_block(p, ROD, n);
    block = shift_points(block, talus_scale(length, p->side[0]), talus_scale(length, p->side[1]));
    if (slides)
        block.arm[0] = talus_madd(block.arm[0], talus_dot(p->separation, p->axis[0]), p->axis[0]);
    return block;
}

/* Returns the block that holds the axis n of the base normal to the axis q of the mover: d(n.q)/dt = w.(q x n), with w
 * the relative spin; so the points are offset by r = q, times `length`, and the row is along n. */
static TalusJointBlock normal_axes_block(const TalusJointPose *p, double length)
{
    TalusVec3 r = talus_scale(length, p->axis[1]);
    TalusJointBlock block = point_block(p, ROD, p->axis[0]);
    block.arm[0] = talus_add(block.arm[0], r);
    block.arm[1] = talus_add(block.arm[1], r);
    block.error = talus_add(block.error, r);
    return block;
}

/* True if the rest length is held: neither limits nor a motor govern the distance. */
static bool holds_distance(const TalusJointDef *def)
{
    return def->motor.kind == TALUS_MOTOR_NONE && def->lower == -INFINITY && def->upper == INFINITY;
}

int talus_joint_constraint_rows(const TalusJointDef *def)
{
    static const int rows[TALUS_JOINT_KINDS] = {3, 5, 5, 4, 4, 6, 1, 0};
    return def->kind == TALUS_JOINT_DISTANCE && !holds_distance(def) ? 0 : rows[def->kind];
}

int talus_joint_constraint_blocks(const TalusJoint *joint, const TalusJointPose *p,
                                  TalusJointBlock *out)
{
    double l = joint->length;
    switch (joint->def.kind) {
    case TALUS_JOINT_BALL: out[0] = ball_block(p); return 1;
    case TALUS_JOINT_REVOLUTE:
        out[0] = ball_block(p);
        out[1] = axle_block(p, l);
        return 2;
    case TALUS_JOINT_PRISMATIC:
    case TALUS_JOINT_CYLINDRICAL:
        out[0] = sliding_axle_block(p, 0.0);
        out[1] = sliding_axle_block(p, l);
        out[2] = no_twist_block(p, l, true);
        return joint->def.kind == TALUS_JOINT_PRISMATIC ? 3 : 2;
    case TALUS_JOINT_UNIVERSAL:
        out[0] = ball_block(p);
        out[1] = normal_axes_block(p, l);
        return 2;
    case TALUS_JOINT_FIXED:
        out[0] = ball_block(p);
        out[1] = axle_block(p, l);
        out[2] = no_twist_block(p, l, false);
        return 3;
    case TALUS_JOINT_DISTANCE:
        out[0] = point_block(p, ROD, p->along);
        out[0].error = talus_scale(p->coordinate - joint->def.rest, p->along);
        return holds_distance(&joint->def) ? 1 : 0;
    case TALUS_JOINT_SPRING:
    case TALUS_JOINT_KINDS: break;
    }
    return 0;
}

TalusJointBlock talus_joint_coordinate_block(const TalusJoint *joint, const TalusJointPose *p)
{
    TalusJointBlock block = point_block(p, ROD, p->along);
    if (joint->def.kind == TALUS_JOINT_REVOLUTE) {
        TalusVec3 r = talus_scale(joint->length, p->side[0]);
        block = shift_points(block, r, r);
        block.normal = talus_cross(p->axis[0], p->side[0]);
        block.lever = joint->length;
    } else if (!talus_joint_is_line(joint->def.kind)) {
        block.arm[0] = talus_madd(block.arm[0], p->coordinate, p->along);
    }
    return block;
}

/* ---- queries ---- */

/* Returns the velocity of a body's point; 0 for the fixed world. */
static TalusVec3 point_velocity(const TalusWorld *world, int slot, TalusVec3 arm)
{
    if (slot < 0)
        return talus_vec3(0.0, 0.0, 0.0);
    const TalusBodies *b = &world->bodies;
    return talus_add(b->velocity[slot], talus_cross(b->spin[slot], arm));
}

double talus_joint_speed(const TalusWorld *world, const TalusJoint *joint, const TalusJointPose *p)
{
    if (!talus_joint_has_coordinate(joint->def.kind))
        return 0.0;
    if (joint->def.kind == TALUS_JOINT_REVOLUTE) {
        const TalusVec3 *spin = world->bodies.spin;
        double mover = p->slot[1] < 0 ? 0.0 : talus_dot(spin[p->slot[1]], p->along);
        return mover - (p->slot[0] < 0 ? 0.0 : talus_dot(spin[p->slot[0]], p->along));
    }
    TalusJointBlock drive = talus_joint_coordinate_block(joint, p);
    TalusVec3 mover = point_velocity(world, p->slot[1], drive.arm[1]);
    return talus_dot(talus_sub(mover, point_velocity(world, p->slot[0], drive.arm[0])), p->along);
}

double talus_joint_error(const TalusJoint *joint, const TalusJointPose *p)
{
    TalusJointBlock block[3];
    double worst = 0.0;
    int count = talus_joint_constraint_blocks(joint, p, block);
    for (int i = 0; i < count; i++) {
        double along = talus_dot(block[i].error, block[i].normal);
        TalusVec3 across = talus_madd(block[i].error, -along, block[i].normal);
        double length = block[i].mask == ROD    ? fabs(along)
                        : block[i].mask == AXLE ? talus_norm(across)
                                                : talus_norm(block[i].error);
        worst = fmax(worst, length);
    }
    return worst;
}
