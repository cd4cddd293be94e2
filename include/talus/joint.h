/* talus/joint.h - joints between two bodies, or a body and the fixed world.
 *
 * A joint adds one to three blocks to the step's problem (docs/how-to/joints.md), solved with the contacts: heyn-2012
 * Eq. (5). A joint is defined in the world frame, at the bodies' poses when the joint is added. Coordinate and speed
 * are those of body a relative to body b; the coordinate is 0 at that pose, but of DISTANCE and SPRING it is a length.
 * Force and torque act on a. In a world on several ranks all ranks call these functions together, queries too, but for
 * talus_world_joint_count. */
#ifndef TALUS_JOINT_H
#define TALUS_JOINT_H

#include <talus/base.h>
#include <talus/math.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TalusJointKind {
    TALUS_JOINT_BALL, /* a point of a and a point of b coincide */
    TALUS_JOINT_REVOLUTE, /* a ball, and a turns about an axis of b. Coordinate: angle, with whole turns */
    TALUS_JOINT_PRISMATIC,   /* a slides along an axis of b and does not turn. Coordinate: travel */
    TALUS_JOINT_CYLINDRICAL, /* a slides along an axis of b and turns about it. Coordinate: travel */
    TALUS_JOINT_UNIVERSAL,   /* a ball, and an axis of a stays normal to one of b: a Cardan joint */
    TALUS_JOINT_FIXED,       /* a and b move as one */
    TALUS_JOINT_DISTANCE, /* two points keep a distance, or stay within limits. Coordinate: length */
    TALUS_JOINT_SPRING,   /* a spring and a damper between two points. Coordinate: length */
    TALUS_JOINT_KINDS
} TalusJointKind;

typedef enum TalusMotorKind {
    TALUS_MOTOR_NONE,
    TALUS_MOTOR_SPEED,    /* keeps a speed */
    TALUS_MOTOR_POSITION, /* moves to a coordinate: at once, or by stiffness and damping */
    TALUS_MOTOR_TORQUE,   /* a given torque, or force if the coordinate is a length */
    TALUS_MOTOR_SERVO,    /* a given force or stress, up to a speed; takes the mover's weight */
    TALUS_MOTOR_KINDS
} TalusMotorKind;

/* What a servo holds in a phase. */
typedef enum TalusServoLoad {
    TALUS_SERVO_FORCE,    /* a force along the axis, N */
    TALUS_SERVO_STRESS,   /* a stress, Pa: a force over the current area */
    TALUS_SERVO_VELOCITY, /* a velocity along the axis, m/s, whatever the force */
    TALUS_SERVO_LOADS
} TalusServoLoad;

/* One of several loads that a servo has one after the other (talus_world_set_servo_phases). */
typedef struct TalusServoPhase {
    TalusServoLoad load;
    double value; /* N, Pa or m/s; a velocity is at most max_speed of the motor */
    /* s: within this time from the start of the phase the load goes in proportion to time to `value`, from the force or
     * the stress that the servo bears as the phase begins, or from its velocity; 0: at once */
    double ramp;
    double until; /* s: end of the phase; infinite for the last one */
} TalusServoPhase;

/* Motor of the joint's coordinate. Units are rad and N m for an angle, m and N for a length. */
typedef struct TalusMotorDef {
    TalusMotorKind kind;
    /* the motor's target at time t is target + rate (t - t0), t0 the later of `start` and the time at which the motor
     * was set */
    double target, rate;
    double start;      /* s: before this time the target is 0 and a torque motor is off */
    double max_effort; /* largest |effort|, above 0; infinite: no limit */
    /* POSITION: effort = stiffness (target - x) + damping (rate - speed); both 0: the target is reached within a step,
     * if `max_effort` allows. */
    double stiffness, damping;
    /* SERVO, of a PRISMATIC or CYLINDRICAL joint whose body b is fixed, driven or the world: body a is pushed along the
     * axis by the force `target`, N, or by the stress `target`, Pa, times the current area, at most at max_speed. The
     * area is `area` times the distance of the two walls of each pair of `between`, which are boxes or planes. */
    double max_speed; /* m/s, above 0 */
    bool stress;      /* true: `target` is a stress */
    /* m2; with one pair m, with two pairs a number. 0: 1 with two pairs; without pairs the face of body a, a box or a
     * cylinder, across the axis */
    double area;
    TalusBodyId between[2][2]; /* number 0: no pair */
} TalusMotorDef;

typedef struct TalusJointDef {
    uint32_t cookie;
    const char *name; /* copied; NULL: "" */
    TalusJointKind kind;
    TalusBodyId a, b;    /* number 0: the fixed world; at least one must be free or asleep */
    TalusVec3 point;     /* world frame; DISTANCE and SPRING: the end on a */
    TalusVec3 point_b;   /* DISTANCE and SPRING: the end on b */
    TalusVec3 axis;      /* REVOLUTE, PRISMATIC, CYLINDRICAL; UNIVERSAL: the axis of a */
    TalusVec3 axis_b;    /* UNIVERSAL: the axis of b, normal to `axis` */
    double lower, upper; /* limits of the coordinate; infinite: none */
    TalusMotorDef motor; /* of joints with a coordinate, except SPRING */
    /* DISTANCE, SPRING: rest length, m; below 0: the present length. A DISTANCE with limits must leave it below 0; with
     * limits or a motor the rest length is not held. */
    double rest;
    double stiffness; /* SPRING: N/m */
    double damping;   /* SPRING: N s/m; not both 0 */
    bool collide;     /* true if a and b may collide with each other */
} TalusJointDef;

/* Joints are numbered from 1 in order of creation, without reuse. 0: no joint. */
typedef struct TalusJointId {
    uint64_t number;
} TalusJointId;

/* State of a joint after the last step. */
typedef struct TalusJointState {
    TalusJointId id;
    const char *name; /* owned by the world until the joint is removed */
    TalusJointKind kind;
    TalusBodyId a, b;
    TalusVec3 point, point_b; /* world frame: anchors on a and b */
    TalusVec3 axis;           /* of b; for DISTANCE and SPRING from point_b to point */
    double coordinate, speed; /* rad and rad/s, or m and m/s; 0 for kinds without a coordinate */
    TalusVec3 force, torque;  /* on a, mean over the last step; the torque about `point` */
    double effort;            /* of the motor or spring, along the coordinate */
    double error; /* m: largest distance of points that should coincide; DISTANCE: from rest */
} TalusJointState;

TALUS_API const char *talus_joint_name(TalusJointKind kind); /* "ball", ... */

TALUS_API TalusJointDef talus_joint_def_default(void);
/* Adds a joint at the present poses of its bodies and wakes their islands. `id` may be NULL. */
TALUS_API TalusStatus talus_world_add_joint(TalusWorld *world, const TalusJointDef *def,
                                            TalusJointId *id);
/* A joint is also removed with either of its bodies. */
TALUS_API TalusStatus talus_world_remove_joint(TalusWorld *world, TalusJointId id);
/* Replaces the motor from the next step on; TALUS_MOTOR_NONE removes it. `motor` must not be NULL. */
TALUS_API TalusStatus talus_world_set_motor(TalusWorld *world, TalusJointId id,
                                            const TalusMotorDef *motor);
/* Gives a servo `count` phases, copied, in place of target, rate, start and `stress` of its motor. A step belongs to the
 * phase in which its middle lies. count 0, or another motor, ends them: then the motor's own numbers hold. */
TALUS_API TalusStatus talus_world_set_servo_phases(TalusWorld *world, TalusJointId id,
                                                   const TalusServoPhase *phases, int count);

/* Sets *id to the first joint of this name; fails if there is none. */
TALUS_API TalusStatus talus_world_find_joint(const TalusWorld *world, const char *name,
                                             TalusJointId *id);
TALUS_API int talus_world_joint_count(const TalusWorld *world);
TALUS_API TalusStatus talus_world_get_joint(const TalusWorld *world, TalusJointId id,
                                            TalusJointState *state);
/* Writes at most `count` states to `out`, which may be NULL, in the order of their numbers; returns the number of
 * joints. */
TALUS_API int talus_world_get_joints(const TalusWorld *world, TalusJointState *out, int count);

#ifdef __cplusplus
}
#endif

#endif
