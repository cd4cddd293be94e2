/* world/joint/joint.h - joints: stored data, poses and blocks.
 *
 * A joint has two bodies: the base, body b of the def, with index 0 below, and the mover, body a, with index 1. A
 * missing body is the fixed world, slot -1, with its origin at 0. Points and axes are stored in the frames of the
 * bodies, and arms are relative to the bodies' centres, so that only the separation of two points depends on world
 * positions.
 *
 * A joint's blocks connect a point of the base and one of the mover. There are three kinds:
 *     ball   all three rows: the points coincide
 *     axle   two rows: the mover's point is on an axis of the base
 *     rod    one row, along the normal n: for distances, motors and springs. Also for rotations, by points that are
 *            offset by a vector r from the joint's points: with the relative spin w, (w x r).n = w.(r x n)
 * Limits are further blocks, contacts without friction.
 *
 * A servo, a motor whose force is a stress over the current area, reads the poses of up to four walls as well. They are
 * bodies of the joint like its two own: it does not outlive them, and has copies of them on other ranks. */
#ifndef TALUS_WORLD_JOINT_JOINT_H
#define TALUS_WORLD_JOINT_JOINT_H

#include "base/status.h"
#include "engine/engine.h"
#include "world/ids.h"
#include "world/ranks/ranks.h"

#include <talus/joint.h>

/* The parts of a joint, each at most one block. */
enum {
    TALUS_PART_FIRST, /* this and the next two: constraints between the bodies; of a SPRING this is the spring */
    TALUS_PART_MOTOR = 3,
    TALUS_PART_LOWER,
    TALUS_PART_UPPER,
    TALUS_JOINT_PARTS
};

/* Bodies of a joint: a, b, then the walls of a servo. */
enum { TALUS_JOINT_BODIES = 6 };

/* State of a joint from which the next step starts. */
typedef struct TalusJointWarmStart {
    double angle; /* REVOLUTE: the last coordinate, rad, for counting turns */
    TalusVec3 impulse[TALUS_JOINT_PARTS]; /* on the mover, world frame, N s */
    /* of a servo with phases: index of the present one, -1 before the first step; when it began, s; load then, N, Pa or
     * m/s */
    int phase;
    double phase_start, phase_load;
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
    double length;      /* m: of offsets r (above): bounding radius of the smaller moving body */
    TalusServoPhase *phase; /* [phases]: of a servo; NULL: the motor's own numbers hold */
    int phases;
    /* point, axis and unit vector normal to the axis, of base and mover, each in its own frame */
    TalusVec3 anchor[2], axis[2], side[2];
    TalusJointWarmStart warm_start;
    TalusJointWarmStart left;      /* its members of phases: those before the present phase began */
    TalusJointSums sums, reported; /* reported: sums of the last step over its length, N and N m */
    bool removed;                  /* on several ranks: a call has removed one of its bodies */
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
    /* m: vector from the base's point to the mover's (DISTANCE: less the rest length); only the components along rows
     * of `mask` are errors */
    TalusVec3 error;
    int mask;                /* bit k: row k is constrained; 0: a limit */
    double bias, compliance; /* m/s, 1/kg */
    double max_impulse;      /* N s: largest |impulse| of a row; INFINITY: no bound */
    double lever;            /* torque over force, m, if the coordinate is an angle; else 1 */
} TalusJointBlock;

struct TalusProjection;

/* Transfers between joints, which the host computes, and the engine (joint_transfer.c). */
typedef struct TalusJointExchange {
    struct TalusProblem *problem; /* contains the joints' blocks alone, three rows each */
    int32_t *slot;                /* [bodies]: slots of bodies with joints, moving ones first */
    TalusMotion *motion;          /* [bodies]: staging of their states */
    double (*record)[8];          /* [bodies]: staging of their records (backend/operator.h) */
    int moving, bodies;           /* moving bodies with joints; these and driven ones */
    int32_t *own; /* [own_bodies]: on several ranks, slots of this rank's bodies with joints */
    int own_bodies;
    TalusEngineJoint *block;        /* staging of all blocks */
    TalusMotorChange *motor_change; /* staging of the velocity changes by torque motors */
} TalusJointExchange;

typedef struct TalusJoints {
    TalusJoint *joint; /* ascending by number */
    int count;         /* includes joints whose bodies were removed since the last step */
    uint64_t created;  /* number of joints created so far: the last id number */

    /* Blocks of the step's problem: first `bounded` blocks, limits and motors of bounded effort, on which the solver
     * iterates; then `free` blocks without bounds, which may be eliminated. */
    TalusJointBlock *block;
    int bounded, free;
    bool any_compliance;   /* true if some block has compliance */
    bool any_torque_motor; /* true if some joint that is alive has a torque motor or a servo */

    TalusJointWarmStart *warm_start_backup; /* [count]: warm_start at the snapshot */
    struct TalusProjection *projection;

    TalusJointExchange exchange;
} TalusJoints;

/* Returns body k of a joint, of TALUS_JOINT_BODIES; number 0: the fixed world, or no wall. */
static inline TalusBodyId talus_joint_body(const TalusJointDef *def, int k)
{
    return k == 0 ? def->a : k == 1 ? def->b : def->motor.between[k / 2 - 1][k % 2];
}

/* True if the body is one of the joint's. */
static inline bool talus_joint_has_body(const TalusJointDef *def, TalusBodyId id)
{
    bool found = false;
    for (int k = 0; k < TALUS_JOINT_BODIES; k++)
        found = found || talus_joint_body(def, k).number == id.number;
    return found;
}

/* True if the joint is alive: each of its bodies exists or is the fixed world. On several ranks bodies are found
 * within a step, and after talus_joints_fetch_bodies. */
static inline bool talus_joint_lives(const TalusWorld *world, const TalusJoint *joint)
{
    bool lives = !joint->removed;
    for (int k = 0; k < TALUS_JOINT_BODIES && lives; k++) {
        const TalusBodyId id = talus_joint_body(&joint->def, k);
        lives = id.number == 0 || talus_ranks_slot_near(world, id) >= 0;
    }
    return lives;
}

/* ---- joint.c ---- */
/* Check a joint that was read from a saved state: itself; its bodies, found as by talus_joint_lives. */
TalusStatus talus_joint_check_loaded(const TalusJoint *joint);
TalusStatus talus_joint_check_bodies(const TalusWorld *world, const TalusJoint *joint);
void talus_joints_clear(TalusWorld *world);
/* Copy warm_start of all joints to warm_start_backup, and back. No joint may be added or removed in between. */
TalusStatus talus_joints_snapshot(TalusWorld *world);
void talus_joints_rollback(TalusWorld *world);
/* Starts a step: drops joints of removed bodies, zeroes sums. */
void talus_joints_begin_step(TalusWorld *world);
/* Ends a step of length h: sets `reported` of all joints to their sums over h. On several ranks drops joints of removed
 * bodies, while copies of all jointed bodies are there. */
void talus_joints_finish_step(TalusWorld *world, double h);
/* Writes the slots of bodies a and b of the first `limit` joints that are alive, -1 for the fixed world. `pairs` may be
 * NULL. Returns the number of all joints that are alive. */
int talus_joints_list_pairs(const TalusWorld *world, int (*pairs)[2], int limit);

/* ---- joint_drop.c ---- */
/* Releases the memory of a joint. */
void talus_joint_clear(TalusJoint *joint);
/* Removes the joint at `index` from the list and releases its name. */
void talus_joints_drop(TalusJoints *joints, int index);
/* On several ranks: drops the joints of a body that a call has removed, on all ranks. */
void talus_joints_forget_body(TalusWorld *world, TalusBodyId id);

/* ---- joint_pose.c ---- */
/* Computes the geometry of a joint from the poses of its bodies. */
TalusJointPose talus_joint_pose(const TalusWorld *world, const TalusJoint *joint);
/* Writes the constraint blocks of the joint's kind, at most three, without motor, limits and spring; returns their
 * number. */
int talus_joint_constraint_blocks(const TalusJoint *joint, const TalusJointPose *pose,
                                  TalusJointBlock *out);
/* Returns the number of rows, 0 to 6, that talus_joint_constraint_blocks constrains. */
int talus_joint_constraint_rows(const TalusJointDef *def);
/* Returns the one-row block that acts on the joint's coordinate: its velocity is the coordinate's rate times `lever`.
 * For motor, limits and spring. */
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

/* ---- joint_servo.c ---- */
/* Refuses a servo whose numbers, joint, bodies or walls are not valid; other motors pass. */
TalusStatus talus_joint_check_servo(const TalusWorld *world, const char *name,
                                    const TalusJointDef *def);
/* Refuses phases that are not valid for this joint, which has a servo. */
TalusStatus talus_joint_check_phases(const TalusWorld *world, const TalusJointDef *def,
                                     const TalusServoPhase *phases, int count);
/* Before the blocks of a part of length h: enters the phase in which the middle of the part lies. */
void talus_joint_enter_phase(const TalusWorld *world, TalusJoint *joint, double h);
/* Before a part that was begun becomes shorter: takes back the phases that were entered in it, whose middle the shorter part
 * may not reach. */
void talus_joints_leave_phases(TalusWorld *world);
/* Returns what a servo with phases holds at a time: N, Pa or m/s. */
double talus_joint_phase_load(const TalusJoint *joint, double time);
/* True if the servo holds a velocity at present. */
bool talus_joint_holds_velocity(const TalusJoint *joint);
/* Returns the force of a servo whose motor has this target: a stress times the current area, or the force itself. */
double talus_joint_servo_force(const TalusWorld *world, const TalusJoint *joint, double target);
/* At the end of a step, before joints of removed bodies are dropped: logs, once per world, that a sink has ended a servo.
 * Joints of bodies that a call has removed are gone by then. */
void talus_joints_warn_ended_servos(TalusWorld *world);
/* Returns the force along the axis that balances the weight of body a. */
double talus_joint_counterweight(const TalusWorld *world, const TalusJoint *joint,
                                 const TalusJointPose *pose);

/* ---- joint_build.c: the blocks of a step ---- */
/* Makes the blocks of all joints, TalusJoints.block, for a part of the step of length h. */
TalusStatus talus_joints_make_blocks(TalusWorld *world, double h);
/* Writes the blocks into exchange.problem. Initial impulses are those of the last step times `ratio`, cut to the
 * blocks' bounds. */
void talus_joints_fill_problem(TalusWorld *world, double ratio);
/* Writes the changes of free velocities that torque motors and servos cause within h, at most two per joint; returns their
 * number. */
int talus_joints_motor_changes(TalusWorld *world, double h, TalusMotorChange *out);
/* Copies the solved impulses of all blocks from exchange.problem to warm_start of their joints; the impulses of parts
 * without a block become 0. */
void talus_joints_update_warm_starts(TalusWorld *world);
/* Does talus_joints_update_warm_starts, and adds the impulses of blocks and torque motors to the joints' sums. Returns
 * the work of these impulses, J. The body records of exchange.problem must hold the mean of free and solved
 * velocities. */
double talus_joints_sum_results(TalusWorld *world, double h);
/* After the bodies have moved: stores the angles of REVOLUTE joints, from which turns are counted. */
void talus_joints_update_angles(TalusWorld *world);

/* ---- joint_project.c ---- */
/* Before the bodies move: factors the matrix D' M^-1 D of the constraint rows. Does nothing without def.projection. */
TalusStatus talus_joints_prepare_projection(TalusWorld *world);
/* After the bodies have moved by h: corrects poses and velocities, so that the joints are closed; in machines that fall
 * back, poses alone. Adds the changes of energy to the ledger. Does nothing without def.projection. */
TalusStatus talus_joints_project(TalusWorld *world, double h);
void talus_projection_destroy(struct TalusProjection *projection);

/* ---- joint_ranks.c: a world on several ranks; a whole world has all bodies, and these do nothing ---- */
/* Sets jointed[slot] to 1 for this rank's bodies that have joints. */
void talus_joints_mark_own(const TalusWorld *world, uint8_t *jointed);
/* Between steps: gets copies of the jointed bodies of other ranks; only != NULL: of the bodies of this joint in place of
 * them. All ranks call this together. */
TalusStatus talus_joints_fetch_bodies(TalusWorld *world, const TalusJointDef *only);
/* After bodies have moved: renews poses and velocities of the copies of jointed bodies in the halo. */
TalusStatus talus_joints_renew_copies(TalusWorld *world);

/* ---- joint_transfer.c ---- */
/* Downloads the states of moving bodies with joints into the host's arrays. No effect with a shared engine. */
TalusStatus talus_joints_download_bodies(TalusWorld *world);
/* Before a solve: lists and downloads the jointed bodies, makes the blocks of a part of length h and uploads them to
 * the engine. Uses world->build_options. */
TalusStatus talus_joints_upload(TalusWorld *world, double h);
/* After a solve that is followed by another: downloads the impulses of the blocks to warm_start of the joints. */
TalusStatus talus_joints_download_impulses(TalusWorld *world);
/* After the bodies have moved by h: downloads the impulses of joints, adds them to their sums and their work to the
 * ledger; downloads the jointed bodies, with def.projection projects and uploads them; updates the angles. */
TalusStatus talus_joints_finish_part(TalusWorld *world, double h);
void talus_exchange_clear(TalusJointExchange *exchange);

#endif
