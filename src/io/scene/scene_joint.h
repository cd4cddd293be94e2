/* io/scene/scene_joint.h - joints in scenes: what they are read into. */
#ifndef TALUS_IO_SCENE_SCENE_JOINT_H
#define TALUS_IO_SCENE_SCENE_JOINT_H

#include "io/scene/scene.h"

#include <talus/joint.h>

typedef struct SceneMotor {
    const TalusJson *json;
    int type;          /* TalusMotorKind less 1 */
    TalusMotorDef def; /* without its kind */
} SceneMotor;

typedef struct SceneJoint {
    const TalusJson *json;
    int type;          /* TalusJointKind */
    SceneList bodies;  /* const char * */
    TalusJointDef def; /* without kind, bodies and motor */
    SceneMotor *motor;
} SceneJoint;

/* The type of the scene's key `joints`. */
extern const SceneType talus_scene_joints;

TalusStatus talus_scene_check_joints(const TalusScene *scene);
/* The entry of `bodies` that the k-th body of a joint is. */
int talus_scene_joint_entry(const TalusScene *scene, const SceneJoint *joint, int k);
/* `id` of the one body of each entry of `bodies`, and `count` of bodies. */
TalusStatus talus_scene_add_joints(const TalusScene *scene, TalusWorld *world,
                                   const TalusBodyId *id, const int *count);

#endif
