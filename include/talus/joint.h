/* talus/joint.h - joints between two bodies, or a body and the fixed world.
 *
 * A joint is a few blocks of the step's problem beside the contacts (docs/how-to/joints.md), solved with them:
 * heyn-2012 Eq. (5). It is described in the world frame, where the bodies are when it is added, and holds on
 * to them from then on. Coordinate and speed are those of body a relative to body b, 0 where the joint was
 * added, a length for DISTANCE and SPRING; force and torque are what the joint does to a. */
#ifndef TALUS_JOINT_H
#define TALUS_JOINT_H

#include <talus/base.h>
#include <talus/math.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TalusJointKind {
    TALUS_JOINT_BALL,        /* a point of a and a point of b coincide */
    TALUS_JOINT_REVOLUTE,    /* and an axis: a turns about it. Coordinate: angle, turns counted */
    TALUS_JOINT_PRISMATIC,   /* a slides along an axis of b and does not turn. Travel */
    TALUS_JOINT_CYLINDRICAL, /* a slides along an axis of b and turns about it. Travel */
    TALUS_JOINT_UNIVERSAL,   /* a ball, and an axis of a stays normal to one of b: a Cardan joint */
    TALUS_JOINT_FIXED,       /* a and b are one */
    TALUS_JOINT_DISTANCE,    /* two points keep their distance, or keep it within limits. Length */
    TALUS_JOINT_SPRING,      /* a spring and a damper between two points. Length */
    TALUS_JOINT_KINDS
} TalusJointKind;

typedef enum TalusMotorKind {
    TALUS_MOTOR_NONE,
    TALUS_MOTOR_SPEED,    /* keeps a speed */
    TALUS_MOTOR_POSITION, /* goes to a coordinate: at once, or by stiffness and damping */
    TALUS_MOTOR_TORQUE,   /* a given torque; a force along an axis or between two points */
    TALUS_MOTOR_KINDS
} TalusMotorKind;

/* Of the joint's coordinate: units are rad and N m where that is an angle, m and N where it is a length. */
typedef struct TalusMotorDef {
    TalusMotorKind kind;
    double target, rate; /* target + rate (t - the time when the motor was set, or start) */
    double start;        /* s: until then the target is 0, and a torque motor gives none */
    double max_effort;   /* largest effort; infinite: any */
    double stiffness,
        damping; /* POSITION: effort = stiffness (target - x) + damping (rate - speed);
                                  both 0: the target is reached within a step, if `max_effort` allows */
} TalusMotorDef;

typedef struct TalusJointDef {
    uint32_t cookie;
    const char *name; /* copied; NULL: "" */
    TalusJointKind kind;
    TalusBodyId a, b;    /* number 0: the fixed world; one of them must be free to move */
    TalusVec3 point;     /* world frame; DISTANCE and SPRING: the end on a */
    TalusVec3 point_b;   /* DISTANCE and SPRING: the end on b */
    TalusVec3 axis;      /* REVOLUTE, PRISMATIC, CYLINDRICAL; UNIVERSAL: the axis of a */
    TalusVec3 axis_b;    /* UNIVERSAL: the axis of b, normal to the other */
    double lower, upper; /* of the coordinate; infinite: none */
    TalusMotorDef motor; /* of joints with a coordinate, except SPRING */
    double rest;         /* DISTANCE, SPRING: length; below 0: the present one */
    double stiffness;    /* SPRING: N/m */
    double damping;      /* SPRING: N s/m */
    bool collide;        /* a and b may touch each other */
} TalusJointDef;

typedef struct TalusJointId {
    uint32_t index, generation;
} TalusJointId;

typedef struct TalusJointState {
    TalusJointId id;
    const char *name; /* the world's, until the joint is removed */
    TalusJointKind kind;
    TalusBodyId a, b;
    TalusVec3 point, point_b; /* where the joint holds a and b, world frame */
    TalusVec3 axis;           /* of b; for DISTANCE and SPRING from point_b to point */
    double coordinate, speed;
    TalusVec3 force, torque; /* on a, mean over the last step; the torque about `point` */
    double effort;           /* of the motor or spring, along the coordinate */
    double error;            /* m: how far apart what should coincide is */
} TalusJointState;

const char *talus_joint_name(TalusJointKind kind); /* "ball", ... */

TalusJointDef talus_joint_def_default(void);
/* `id` may be NULL. */
TalusStatus talus_world_add_joint(TalusWorld *world, const TalusJointDef *def, TalusJointId *id);
/* A joint also goes when one of its bodies does. */
TalusStatus talus_world_remove_joint(TalusWorld *world, TalusJointId id);
/* Another motor, or none, from the next step on. */
TalusStatus talus_world_set_motor(TalusWorld *world, TalusJointId id, const TalusMotorDef *motor);

int talus_world_joint_count(const TalusWorld *world);
TalusStatus talus_world_get_joint(const TalusWorld *world, TalusJointId id, TalusJointState *state);
/* At most `count` states are written, in the order of their index; returns how many joints there are. */
int talus_world_get_joints(const TalusWorld *world, TalusJointState *out, int count);

#ifdef __cplusplus
}
#endif

#endif
