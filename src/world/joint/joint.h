/* world/joint/joint.h - joints: stored data, poses and blocks.
 *
 * A joint has two bodies: the base, body b of the def, with index 0 below, and the mover, body a, with index 1. A
 * missing body is the fixed world, slot -1, with its origin at 0. Data is stored in the frames of the bodies, and all
 * results are relative to their centres, so that only the separation of two points depends on world positions.
 *
 * A joint's blocks connect a point of the base and one of the mover. There are three kinds:
 *     ball   all three rows: the points coincide
 *     axle   two rows: the mover's point is on an axis of the base
 *     rod    one row, along the normal n: distances, motors, springs, and rotations, by points that are offset by a
 *            vector r from the joint's: w being the relative spin, (w x r).n = w.(r x n)
 * and limits, which are contacts without friction. */
#ifndef TALUS_WORLD_JOINT_JOINT_H
#define TALUS_WORLD_JOINT_JOINT_H

#include "base/status.h"
#include "engine/engine.h"
#include "world/ids.h"

#include <talus/joint.h>

/* The parts of a joint, each at most one block. */
enum {
    TALUS_PART_FIRST, /* and the next two: constraints between the bodies, or the spring */
    TALUS_PART_MOTOR = 3,
    TALUS_PART_LOWER,
    TALUS_PART_UPPER,
    TALUS_JOINT_PARTS
};

/* State of a joint that the next step starts from. */
typedef struct TalusJointWarmStart {
    double angle; /* REVOLUTE: the last coordinate, rad, for counting turns */
    TalusVec3 impulse[TALUS_JOINT_PARTS]; /* on the mover, world frame, N s */
} TalusJointWarmStart;

/* Sums of impulses on the mover in the current step, N s and N m s; `effort`: along the coordinate. */
typedef struct TalusJointSums {
    TalusVec3 force, torque;
    double effort;
} TalusJointSums;

typedef struct TalusJoint {
    TalusJointDef def;  /* owns its name */
    uint64_t number;    /* of its id */
    double motor_since; /* s: time at which the motor was set */
    double length;      /* m: distance of offset points: bounding radius of the smaller free body */
    /* point, axis and unit vector normal to the axis, of base and mover, each in its own frame */
    TalusVec3 anchor[2], axis[2], side[2];
    TalusJointWarmStart warm_start;
    TalusJointSums sums, reported; /* shown: sums over h of the last step, N and N m */
} TalusJoint;

/* Geometry of a joint at the current poses. */
typedef struct TalusJointPose {
    int slot[2];                        /* -1: the fixed world */
    TalusVec3 arm[2], axis[2], side[2]; /* as in TalusJoint, in world axes */
    TalusVec3 separation;               /* from the base's point to the mover's */
    double coordinate;                  /* rad or m; 0 for kinds without one */
    TalusVec3 along; /* unit vector of the coordinate: axis, or line between the points */
} TalusJointPose;

/* One block of a joint: rows 0 (normal), 1 and 2 (tangents) of the relative velocity of two points. */
typedef struct TalusJointBlock {
    int joint, part;  /* index into TalusJoints.joint, TALUS_PART_* */
    int slot[2];      /* of base and mover; -1: the fixed world */
    TalusVec3 arm[2]; /* of the two points from the centres of base and mover */
    TalusVec3 offset; /* from the joint's point on the mover to the block's */
    TalusVec3 normal; /* direction of row 0; rows measure the mover's velocity minus the base's */
    TalusVec3 error;  /* m: from the base's point to the mover's (DISTANCE: less the rest length);
                       * only its components along rows of `mask` count */
    int mask;         /* bit k: row k is constrained; 0: a limit */
    /* m/s, 1/kg, and the largest impulse of a row in N s (INFINITY: no bound) */
    double bias, compliance, max_effort;
    double lever; /* m: effort over impulse where the coordinate is an angle; else 1 */
} TalusJointBlock;

struct TalusProjection;

/* Transfers between joints, which the host computes, and the engine (joint_transfer.c). */
typedef struct TalusJointExchange {
    struct TalusProblem *problem;   /* contains the joints' blocks alone, three rows each */
    int32_t *slot;                  /* [bodies]: slots of bodies with joints, moving ones first */
    TalusMotion *motion;            /* [bodies]: staging of their states */
    double (*record)[8];            /* [bodies]: staging of their records (backend/operator.h) */
    int moving, bodies;             /* moving bodies with joints; these and driven ones */
    TalusEngineJoint *block;        /* staging of all blocks */
    TalusMotorChange *motor_change; /* staging of the velocity changes by torque motors */
} TalusJointExchange;

typedef struct TalusJoints {
    TalusJoint *joint; /* ascending by number */
    int count;         /* includes joints whose bodies were removed since the last step */
    uint64_t created;  /* number of joints created so far: the last id number */

    /* Blocks of the step's problem: first `bounded` limits and motors of bounded effort, on which the solver iterates,
     * then `free` blocks without bounds, which may be eliminated. */
    TalusJointBlock *block;
    int bounded, free;
    bool any_compliance, any_torque_motor; /* some block is soft; some joint has a torque motor */

    TalusJointWarmStart *warm_start_backup; /* [count]: carry at the snapshot */
    struct TalusProjection *projection;

    TalusJointExchange exchange;
} TalusJoints;

/* True if each of the two bodies exists or is the fixed world. */
static inline bool talus_joint_lives(const TalusWorld *world, const TalusJoint *joint)
{
    TalusBodyId a = joint->def.a, b = joint->def.b;
    return (a.number == 0 || talus_slot_of(world, a) >= 0) &&
           (b.number == 0 || talus_slot_of(world, b) >= 0);
}

/* ---- joint.c ---- */
/* Checks a joint that was read from a saved state. */
TalusStatus talus_joint_check_loaded(const TalusWorld *world, const TalusJoint *joint);
void talus_joints_clear(TalusWorld *world);
/* Copy the carry of all joints to `warm_start_backup`, and back. */
TalusStatus talus_joints_snapshot(TalusWorld *world);
void talus_joints_rollback(TalusWorld *world);
/* Starts a step: drops joints of removed bodies, zeroes sums. */
void talus_joints_begin_step(TalusWorld *world);
/* Ends a step of length h: sets `reported` of all joints to their sums over h. */
void talus_joints_finish_step(TalusWorld *world, double h);
/* Writes the slots of bodies a and b of the first `limit` live joints, -1 for the fixed world. `pairs` may be NULL.
 * Returns the number of all live joints. */
int talus_joints_list_pairs(const TalusWorld *world, int (*pairs)[2], int limit);

/* ---- joint_pose.c ---- */
/* Computes the geometry of a joint from the poses of its bodies. */
TalusJointPose talus_joint_pose(const TalusWorld *world, const TalusJoint *joint);
/* Writes the blocks (at most three) of what the joint kind holds fixed, without motor, limits and spring; returns
 * their number. */
int talus_joint_constraint_blocks(const TalusJoint *joint, const TalusJointPose *pose,
                                  TalusJointBlock *out);
/* Returns the number of rows, 0 to 6, that talus_joint_constraint_blocks constrains. */
int talus_joint_constraint_rows(const TalusJointDef *def);
/* Returns a one-row block whose velocity is the coordinate's rate times `lever`; for motor, limits and spring. */
TalusJointBlock talus_joint_coordinate_block(const TalusJoint *joint, const TalusJointPose *pose);
/* Returns the rate of the coordinate, rad/s or m/s; 0 for kinds without one. */
double talus_joint_speed(const TalusWorld *world, const TalusJoint *joint,
                         const TalusJointPose *pose);
/* Returns the largest error of a constraint block, m: the distance of its two points along the constrained rows. */
double talus_joint_error(const TalusJoint *joint, const TalusJointPose *pose);
bool talus_joint_has_coordinate(TalusJointKind kind);
bool talus_joint_is_line(TalusJointKind kind); /* DISTANCE and SPRING */
/* Returns a unit vector perpendicular to `axis`, which has length 1. */
TalusVec3 talus_unit_normal(TalusVec3 axis);
/* Returns the angle, in (-pi, pi], whose sine and cosine are proportional to the arguments; by square roots and a
 * series, without libm. */
double talus_angle(double sine, double cosine);

/* ---- joint_build.c: the blocks of a step ---- */
/* Fills TalusJoints.block for a part of the step, of length h. */
TalusStatus talus_joints_make_blocks(TalusWorld *world, double h);
/* Writes the blocks into exchange.problem. Initial impulses are those of the last step times `warm`, cut to the
 * blocks' bounds. */
void talus_joints_fill_problem(TalusWorld *world, double warm);
/* Writes the changes of free velocities that torque motors cause within h, at most two per joint; returns their
 * number. */
int talus_joints_motor_changes(TalusWorld *world, double h, TalusMotorChange *out);
/* Copies the solved impulses of all blocks to the joints' carry. */
void talus_joints_update_warm_starts(TalusWorld *world);
/* As talus_joints_update_warm_starts; also adds the impulses, with those of torque motors, to the joints' sums. Returns their work,
 * J. The body records of exchange.problem must hold the mean of free and solved velocities. */
double talus_joints_sum_results(TalusWorld *world, double h);
/* After the bodies have moved: stores the angles of REVOLUTE joints, from which turns are counted. */
void talus_joints_update_angles(TalusWorld *world);

/* ---- joint_project.c ---- */
/* Before the bodies move: factors the matrix D' M^-1 D of the constraint rows. Without def.projection this function
 * and the next do nothing. */
TalusStatus talus_joints_prepare_projection(TalusWorld *world);
/* After the bodies have moved by h: corrects poses and velocities, in machines that fall back poses alone, so that the
 * joints are closed. Adds the changes of energy to the ledger. */
TalusStatus talus_joints_project(TalusWorld *world, double h);
void talus_projection_destroy(struct TalusProjection *projection);

/* ---- joint_transfer.c ---- */
/* Downloads the states of moving bodies with joints into the host's arrays. No effect with a shared engine. */
TalusStatus talus_joints_download_bodies(TalusWorld *world);
/* Before a solve: makes the blocks of a part of length h and passes them to the engine. */
TalusStatus talus_joints_upload(TalusWorld *world, double h);
/* After a solve that another one follows: downloads the impulses of the blocks to the joints. */
TalusStatus talus_joints_download_impulses(TalusWorld *world);
/* After the bodies have moved by h: downloads impulses, adds them to sums and their work to the ledger, projects the
 * bodies and uploads them. */
TalusStatus talus_joints_finish_part(TalusWorld *world, double h);
void talus_exchange_clear(TalusJointExchange *exchange);

#endif
