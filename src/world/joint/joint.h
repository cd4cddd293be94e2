/* world/joint/joint.h - joints: stored data, poses and blocks.
 *
 * A joint has two bodies: the base, body b of the def, with index 0 below, and the mover, body a, with index 1. A
 * missing body is the fixed world, slot -1, with its origin at 0. Data is stored in the frames of the bodies, and all
 * results are relative to their centres, so that only the separation of two points depends on world positions.
 *
 * A joint's blocks connect a point of the base and one of the mover. There are three kinds:
 *     ball   all three rows: the points coincide
 *     axle   two rows: the mover's point is on an axis of the base
 *     rod    one row, the normal: distances, motors, springs, and rotations, by points at a distance r from
 *            the joint's: (w x r).n = w.(r x n)
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

/* State that is transferred to the next step. */
typedef struct TalusJointCarry {
    double angle;                         /* REVOLUTE: the last coordinate, for counting turns */
    TalusVec3 impulse[TALUS_JOINT_PARTS]; /* on the mover, world frame, N s */
} TalusJointCarry;

/* Impulses of the current step, N s and N m s. */
typedef struct TalusJointSums {
    TalusVec3 force, torque;
    double effort;
} TalusJointSums;

typedef struct TalusJoint {
    TalusJointDef def; /* owns its name */
    uint64_t number;   /* of its id */
    double since;      /* time at which the motor was set */
    double length;     /* m: distance of offset points; near the size of the smaller moving body */
    TalusVec3 anchor[2], axis[2], side[2]; /* of base and mover, each in its own frame */
    TalusJointCarry carry;
    TalusJointSums sums, shown; /* sums: of the current step; shown: forces of the last one */
} TalusJoint;

/* Geometry of a joint at the current poses. */
typedef struct TalusJointPose {
    int slot[2];                        /* -1: the fixed world */
    TalusVec3 arm[2], axis[2], side[2]; /* arms from the centres; world frame */
    TalusVec3 apart;                    /* from the base's point to the mover's */
    double coordinate;
    TalusVec3 along; /* unit vector of the coordinate: axis, or line between the points */
} TalusJointPose;

typedef struct TalusJointBlock {
    int joint, part;
    int slot[2];
    TalusVec3 arm[2]; /* of base and mover */
    TalusVec3 offset; /* of the mover's point from the joint's */
    TalusVec3 normal; /* velocities are of the mover relative to the base */
    TalusVec3 error;  /* displacement of the points, in the rows of `mask` */
    int mask;         /* set of rows; 0: a limit */
    double bias, compliance, max_effort;
    double lever; /* effort over impulse, for a motor that rotates; else 1 */
} TalusJointBlock;

struct TalusProjection;

/* Transfers between joints, which the host computes, and the engine (joint_transfer.c). */
typedef struct TalusJointExchange {
    struct TalusProblem *problem; /* of the joints' blocks alone, three rows each */
    int32_t *slot;                /* [bodies] with joints: moving ones, then driven ones */
    TalusMotion *motion;
    double (*record)[8];
    int moving, bodies;
    TalusEngineJoint *block;
    TalusEnginePush *push;
} TalusJointExchange;

typedef struct TalusJoints {
    TalusJoint *joint; /* ascending by number */
    int count;         /* with joints whose bodies were removed since the last step */
    uint64_t created;  /* number of joints created so far: the last id number */

    /* of the step's problem: first the blocks kept in the iteration, then the free ones */
    TalusJointBlock *block;
    int kept, free;
    bool any_compliance, any_push;

    TalusJointCarry *backup;
    struct TalusProjection *projection;

    TalusJointExchange exchange;
} TalusJoints;

/* True if both bodies exist. */
static inline bool talus_joint_lives(const TalusWorld *world, const TalusJoint *joint)
{
    TalusBodyId a = joint->def.a, b = joint->def.b;
    return (a.number == 0 || talus_slot_of(world, a) >= 0) &&
           (b.number == 0 || talus_slot_of(world, b) >= 0);
}

/* ---- joint.c ---- */
/* Checks a loaded joint. */
TalusStatus talus_joint_check_loaded(const TalusWorld *world, const TalusJoint *joint);
void talus_joints_clear(TalusWorld *world);
/* Save and restore the joints' state, for a halved step. */
TalusStatus talus_joints_snapshot(TalusWorld *world);
void talus_joints_rollback(TalusWorld *world);
/* Starts a step: drops joints of removed bodies, zeroes sums. */
void talus_joints_begin(TalusWorld *world);
/* Ends a step of length h: forces are the sums of impulses over h. */
void talus_joints_close(TalusWorld *world, double h);
/* Writes the slots of live joints, -1 for the fixed world; returns the number of live joints. */
int talus_joints_pairs(const TalusWorld *world, int (*pairs)[2], int limit);

/* ---- joint_pose.c ---- */
TalusJointPose talus_joint_pose(const TalusWorld *world, const TalusJoint *joint);
/* Writes the constraint blocks between the bodies, at most three; returns their number. */
int talus_joint_holds(const TalusJoint *joint, const TalusJointPose *pose, TalusJointBlock *out);
/* Returns the number of their rows. */
int talus_joint_hold_rows(const TalusJointDef *def);
/* Returns the rod along the coordinate. */
TalusJointBlock talus_joint_drive(const TalusJoint *joint, const TalusJointPose *pose);
double talus_joint_speed(const TalusWorld *world, const TalusJoint *joint,
                         const TalusJointPose *pose);
double talus_joint_error(const TalusJoint *joint, const TalusJointPose *pose);
bool talus_joint_has_coordinate(TalusJointKind kind);
bool talus_joint_is_line(TalusJointKind kind); /* DISTANCE and SPRING */
/* Returns a unit vector normal to a unit vector. */
TalusVec3 talus_unit_normal(TalusVec3 axis);
/* Returns the angle in (-pi, pi] of a sine and a cosine, by square roots and a series. */
double talus_angle(double sine, double cosine);

/* ---- joint_build.c: the blocks of a step ---- */
/* Makes the list of blocks for a part of the step, of length h. */
TalusStatus talus_joints_prepare(TalusWorld *world, double h);
/* Writes the blocks into the problem of the exchange, with the transferred impulses times `warm`. */
void talus_joints_fill(TalusWorld *world, double warm);
/* Writes the changes of the problem's free velocities by torque motors, at most two per joint; returns their number. */
int talus_joints_push(TalusWorld *world, double h, TalusEnginePush *out);
/* Stores the impulses of the blocks in the joints. */
void talus_joints_store(TalusWorld *world);
/* Also sums forces; returns the work. The problem's bodies must hold the mean of free and solved velocities. */
double talus_joints_work(TalusWorld *world, double h);
/* Counts turns; call after the bodies have moved. */
void talus_joints_moved(TalusWorld *world);

/* ---- joint_project.c ---- */
/* Factors the constraint rows at the start of a step, before the bodies move. */
TalusStatus talus_joints_prepare_projection(TalusWorld *world);
/* Projects the moved bodies onto their joints. Adds the changes of energy to the ledger. */
TalusStatus talus_joints_project(TalusWorld *world, double h);
void talus_projection_destroy(struct TalusProjection *projection);

/* ---- joint_transfer.c ---- */
/* Downloads the states of jointed bodies alone into the host's arrays. */
TalusStatus talus_exchange_fetch(TalusWorld *world);
/* Uploads the joints of a part of length h; downloads their impulses; completes the part after the bodies have
 * moved. */
TalusStatus talus_exchange_send(TalusWorld *world, double h);
TalusStatus talus_exchange_store(TalusWorld *world);
TalusStatus talus_exchange_close(TalusWorld *world, double h);
void talus_exchange_clear(TalusJointExchange *exchange);

#endif
