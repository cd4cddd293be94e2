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

/* asin x for |x| < 0.1; the first omitted term is below 1e-19. */
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

/* Returns the coordinate, rad or m; an angle with as many turns as make it nearest to the last one. */
static double coordinate_of(const TalusJoint *joint, const TalusJointPose *p)
{
    if (joint->def.kind == TALUS_JOINT_REVOLUTE) {
        TalusVec3 across = talus_cross(p->axis[0], p->side[0]);
        double angle =
            talus_angle(talus_dot(p->side[1], across), talus_dot(p->side[1], p->side[0]));
        return angle + 2.0 * PI * floor((joint->carry.angle - angle) / (2.0 * PI) + 0.5);
    }
    return talus_joint_has_coordinate(joint->def.kind) ? talus_dot(p->apart, p->along) : 0.0;
}

TalusJointPose talus_joint_pose(const TalusWorld *world, const TalusJoint *joint)
{
    const TalusBodies *b = &world->bodies;
    TalusJointPose p;
    TalusVec3 point[2];
    for (int k = 0; k < 2; k++) {
        int slot = talus_slot_of(world, k == 0 ? joint->def.b : joint->def.a);
        TalusQuat turn = slot >= 0 ? b->orientation[slot] : talus_quat_identity();
        p.slot[k] = slot;
        p.arm[k] = talus_rotate(turn, joint->anchor[k]);
        p.axis[k] = talus_rotate(turn, joint->axis[k]);
        p.side[k] = talus_rotate(turn, joint->side[k]);
        point[k] = slot >= 0 ? talus_add(b->position[slot], p.arm[k]) : p.arm[k];
    }
    p.apart = talus_nearest_image_vector(&world->def.period, talus_sub(point[1], point[0]));
    p.along = p.axis[0];
    if (talus_joint_is_line(joint->def.kind))
        p.along = talus_normalize(p.apart, p.axis[0]);
    p.coordinate = coordinate_of(joint, &p);
    return p;
}

/* ---- blocks ---- */

static TalusJointBlock block_of(const TalusJointPose *p, int mask, TalusVec3 normal)
{
    TalusJointBlock block = {.slot = {p->slot[0], p->slot[1]},
                             .arm = {p->arm[0], p->arm[1]},
                             .normal = normal,
                             .error = p->apart,
                             .mask = mask,
                             .max_effort = INFINITY,
                             .lever = 1.0};
    return block;
}

enum { BALL = 7, AXLE = 6, ROD = 1 }; /* TalusJointBlock.mask: bits of the constrained rows */

static TalusJointBlock ball_of(const TalusJointPose *p)
{
    return block_of(p, BALL, p->axis[0]);
}

/* Returns the block with its points moved by `base` and `mover`. */
static TalusJointBlock shifted(TalusJointBlock block, TalusVec3 base, TalusVec3 mover)
{
    block.arm[0] = talus_add(block.arm[0], base);
    block.arm[1] = talus_add(block.arm[1], mover);
    block.error = talus_add(block.error, talus_sub(mover, base));
    return block;
}

/* Holds the mover's point, moved by `further` along its axis, on the axis of the base. */
static TalusJointBlock axle_of(const TalusJointPose *p, double further)
{
    TalusJointBlock block = block_of(p, AXLE, p->axis[0]);
    return shifted(block, talus_scale(further, p->axis[0]), talus_scale(further, p->axis[1]));
}

/* As axle_of, for a mover that slides: the base's point is moved along its axis until it is nearest to the mover's. */
static TalusJointBlock slide_of(const TalusJointPose *p, double further)
{
    TalusJointBlock block = axle_of(p, further);
    block.arm[0] = talus_madd(block.arm[0], talus_dot(p->apart, p->axis[0]), p->axis[0]);
    return block;
}

/* Prevents rotation about the axis: in units of `length`, r = side and n = axis x side, so r x n = axis. */
static TalusJointBlock stay_of(const TalusJointPose *p, double length, bool slides)
{
    TalusVec3 n = talus_cross(p->axis[0], p->side[0]);
    TalusJointBlock block = block_of(p, ROD, n);
    block = shifted(block, talus_scale(length, p->side[0]), talus_scale(length, p->side[1]));
    if (slides)
        block.arm[0] = talus_madd(block.arm[0], talus_dot(p->apart, p->axis[0]), p->axis[0]);
    return block;
}

/* Holds the axis n of the base normal to the axis q of the mover: d(n.q)/dt = w.(q x n), with w the relative spin; so
 * the points are offset by r = q and the row is along n. */
static TalusJointBlock cross_of(const TalusJointPose *p, double length)
{
    TalusVec3 r = talus_scale(length, p->axis[1]);
    TalusJointBlock block = block_of(p, ROD, p->axis[0]);
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
    case TALUS_JOINT_BALL: out[0] = ball_of(p); return 1;
    case TALUS_JOINT_REVOLUTE:
        out[0] = ball_of(p);
        out[1] = axle_of(p, l);
        return 2;
    case TALUS_JOINT_PRISMATIC:
    case TALUS_JOINT_CYLINDRICAL:
        out[0] = slide_of(p, 0.0);
        out[1] = slide_of(p, l);
        out[2] = stay_of(p, l, true);
        return joint->def.kind == TALUS_JOINT_PRISMATIC ? 3 : 2;
    case TALUS_JOINT_UNIVERSAL:
        out[0] = ball_of(p);
        out[1] = cross_of(p, l);
        return 2;
    case TALUS_JOINT_FIXED:
        out[0] = ball_of(p);
        out[1] = axle_of(p, l);
        out[2] = stay_of(p, l, false);
        return 3;
    case TALUS_JOINT_DISTANCE:
        out[0] = block_of(p, ROD, p->along);
        out[0].error = talus_scale(p->coordinate - joint->def.rest, p->along);
        return holds_distance(&joint->def) ? 1 : 0;
    case TALUS_JOINT_SPRING:
    case TALUS_JOINT_KINDS: break;
    }
    return 0;
}

TalusJointBlock talus_joint_drive(const TalusJoint *joint, const TalusJointPose *p)
{
    TalusJointBlock block = block_of(p, ROD, p->along);
    if (joint->def.kind == TALUS_JOINT_REVOLUTE) {
        TalusVec3 r = talus_scale(joint->length, p->side[0]);
        block = shifted(block, r, r);
        block.normal = talus_cross(p->axis[0], p->side[0]);
        block.lever = joint->length;
    } else if (!talus_joint_is_line(joint->def.kind)) {
        block.arm[0] = talus_madd(block.arm[0], p->coordinate, p->along);
    }
    return block;
}

/* ---- queries ---- */

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
    TalusJointBlock drive = talus_joint_drive(joint, p);
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
