/* io/scene/scene_servo.h - servo walls in scenes: the struct that the key `servo` is read into, its checks and construction. */
#ifndef TALUS_IO_SCENE_SCENE_SERVO_H
#define TALUS_IO_SCENE_SCENE_SERVO_H

#include "io/scene/scene_joint.h"

/* One of several loads of a servo; one of force, stress and velocity is given. */
typedef struct ScenePhase {
    const TalusJson *json;
    double force, stress, velocity;
    double ramp, until;
} ScenePhase;

struct SceneServo {
    const TalusJson *json;
    TalusVec3 axis;
    double force, stress; /* one of them, or phases, is given */
    SceneList phases;     /* items: ScenePhase */
    TalusMotorDef def;    /* rate, start, max_speed and area */
    SceneList between;    /* items: SceneList of two const char *, names of entries */
};

/* The type of the key `servo`. */
extern const SceneType talus_scene_servo;

/* Fails if an entry with a servo is fixed, driven or arrives later, or if its walls are no entries. */
TalusStatus talus_scene_check_servos(const TalusScene *scene);
/* Adds the joints of all servos of a copy to the world, named as their entries. Fails if an entry or wall has not exactly
 * one body. */
TalusStatus talus_scene_add_servos(const SceneJointPlace *place, TalusWorld *world);

#endif
