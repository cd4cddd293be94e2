/* world/joint/joint.h - joints inside: what is stored, where they stand, and their blocks.
 *
 * Two bodies: the base, which is body b of the def, and the mover, body a; index 0 and 1 below. A body
 * that is not there is the fixed world, slot -1, with its origin at 0. Everything is kept in the frames of
 * the bodies, and everything that is computed is relative to their centres, so that only the separation of
 * two points knows where in the world they are.
 *
 * A joint's blocks, each a point of the base and one of the mover, are of three kinds:
 *     ball   all three rows: the points coincide
 *     axle   two rows: the mover's point is on an axis of the base
 *     rod    one row, the normal: distances, motors, springs, and turning, by points at a distance r from
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
    TALUS_PART_FIRST, /* the next two as well: what holds the bodies together, or the spring */
    TALUS_PART_MOTOR = 3,
    TALUS_PART_LOWER,
    TALUS_PART_UPPER,
    TALUS_JOINT_PARTS
};

/* What the next step needs of this one. */
typedef struct TalusJointCarry {
    double angle;                         /* REVOLUTE: the last coordinate, which tells the turns */
    TalusVec3 impulse[TALUS_JOINT_PARTS]; /* on the mover, world frame, N s */
} TalusJointCarry;

/* Impulses of the step under way. */
typedef struct TalusJointSums {
    TalusVec3 force, torque;
    double effort;
} TalusJointSums;

typedef struct TalusJoint {
    TalusJointDef def; /* with a name of its own */
    uint32_t generation;
    bool used;
    double since;  /* when the motor was set */
    double length; /* m: of offset points; near the size of the smaller moving body */
    TalusVec3 anchor[2], axis[2], side[2]; /* of base and mover, each in its own frame */
    TalusJointCarry carry;
    TalusJointSums sums, shown; /* of the step under way; forces of the last one */
} TalusJoint;

/* Where a joint stands. */
typedef struct TalusJointPose {
    int slot[2];                        /* -1: the fixed world */
    TalusVec3 arm[2], axis[2], side[2]; /* from the centres, world frame */
    TalusVec3 apart;                    /* from the base's point to the mover's */
    double coordinate;
    TalusVec3 along; /* unit vector of the coordinate: the axis, or the line between two points */
} TalusJointPose;

typedef struct TalusJointBlock {
    int joint, part;
    int slot[2];
    TalusVec3 arm[2]; /* of base and mover */
    TalusVec3 offset; /* from the joint's point on the mover */
    TalusVec3 normal; /* velocities are those of the mover relative to the base */
    TalusVec3 error;  /* displacement of the points, in the rows of `mask` */
    int mask;         /* of rows; 0: a limit */
    double bias, compliance, most;
    double lever; /* of a motor that turns: effort is the impulse times this; else 1 */
} TalusJointBlock;

struct TalusProjection;

/* What goes between joints, which are the host's, and the engine (joint_exchange.c). */
typedef struct TalusJointExchange {
    struct TalusProblem *problem; /* of the joints' blocks alone, three rows each */
    int32_t *slot; /* [bodies] that joints hold: first those that move, then driven ones */
    TalusMotion *motion;
    double (*record)[8];
    int moving, bodies;
    TalusEngineJoint *block;
    TalusEnginePush *push;
} TalusJointExchange;

typedef struct TalusJoints {
    TalusJoint *joint;
    int slots, living; /* with dead ones; without, but with those whose bodies have gone */

    /* of the step's problem: kept in the iteration first, then free ones */
    TalusJointBlock *block;
    int kept, free;
    bool any_compliance, any_push;

    TalusJointCarry *backup;
    struct TalusProjection *projection;

    TalusJointExchange exchange;
} TalusJoints;

/* Whether both bodies are there. */
static inline bool talus_joint_lives(const TalusWorld *world, const TalusJoint *joint)
{
    TalusBodyId a = joint->def.a, b = joint->def.b;
    return joint->used && (a.number == 0 || talus_slot_of(world, a) >= 0) &&
           (b.number == 0 || talus_slot_of(world, b) >= 0);
}

/* ---- joint.c ---- */
/* Whether a loaded joint makes sense. */
TalusStatus talus_joint_admit(const TalusWorld *world, const TalusJoint *joint);
void talus_joints_clear(TalusWorld *world);
/* The joints' state for a halved step, and back. */
TalusStatus talus_joints_keep(TalusWorld *world);
void talus_joints_go_back(TalusWorld *world);
void talus_joints_begin(TalusWorld *world);
void talus_joints_close(TalusWorld *world, double h);
/* Slots of live joints, -1 for the fixed world; returns how many there are. */
int talus_joints_pairs(const TalusWorld *world, int (*pairs)[2], int most);

/* ---- joint_pose.c ---- */
TalusJointPose talus_joint_pose(const TalusWorld *world, const TalusJoint *joint);
/* The blocks that hold the bodies together, up to three. */
int talus_joint_holds(const TalusJoint *joint, const TalusJointPose *pose, TalusJointBlock *out);
/* Their rows. */
int talus_joint_hold_rows(const TalusJointDef *def);
/* The rod along the coordinate. */
TalusJointBlock talus_joint_drive(const TalusJoint *joint, const TalusJointPose *pose);
double talus_joint_speed(const TalusWorld *world, const TalusJoint *joint,
                         const TalusJointPose *pose);
double talus_joint_error(const TalusJoint *joint, const TalusJointPose *pose);
bool talus_joint_has_coordinate(TalusJointKind kind);
bool talus_joint_is_line(TalusJointKind kind); /* DISTANCE and SPRING */
/* Any unit vector normal to a unit vector. */
TalusVec3 talus_unit_normal(TalusVec3 axis);
/* The angle in (-pi, pi] of a sine and a cosine, by square roots and a series. */
double talus_angle(double sine, double cosine);

/* ---- joint_build.c: the blocks of a step ---- */
/* Makes the list of blocks for a part of the step of length h. */
TalusStatus talus_joints_prepare(TalusWorld *world, double h);
/* Writes them into the problem of the exchange, without impulses; then the carried ones times `warm`. */
void talus_joints_fill(TalusWorld *world);
void talus_joints_warm(TalusWorld *world, double warm);
/* What torque motors change of the problem's free velocities, at most two entries a joint; returns how many. */
int talus_joints_push(TalusWorld *world, double h, TalusEnginePush *out);
/* Impulses of the blocks back to the joints. */
void talus_joints_store(TalusWorld *world);
/* The same with the sums of forces; returns the work. The problem's bodies hold the mean of free and solved
 * velocities. */
double talus_joints_work(TalusWorld *world, double h);
/* After the bodies have moved: counts turns. */
void talus_joints_moved(TalusWorld *world);

/* ---- joint_project.c ---- */
/* Before the bodies of a step move, and after: brings them to where the joints hold; adds what energies change
 * by to the ledger. */
TalusStatus talus_joints_aim(TalusWorld *world);
TalusStatus talus_joints_project(TalusWorld *world, double h);
void talus_projection_destroy(struct TalusProjection *projection);

/* ---- joint_exchange.c ---- */
/* The states of jointed bodies into the host's arrays, which may be behind in all others. */
TalusStatus talus_exchange_fetch(TalusWorld *world);
/* The joints of a part of length h to the engine; their impulses back; and, once the bodies have moved, all that
 * is left to do. */
TalusStatus talus_exchange_send(TalusWorld *world, double h);
TalusStatus talus_exchange_store(TalusWorld *world);
TalusStatus talus_exchange_close(TalusWorld *world, double h);
void talus_exchange_clear(TalusJointExchange *exchange);

#endif
