/* io/scene/scene_joint.h - joints in scenes: the structs they are read into, their keys, checks and construction. */
#ifndef TALUS_IO_SCENE_SCENE_JOINT_H
#define TALUS_IO_SCENE_SCENE_JOINT_H

#include "io/scene/scene.h"

#include <talus/joint.h>

typedef struct SceneMotor {
    const TalusJson *json;
    int type;          /* TalusMotorKind - 1, as scenes have no word for "none" */
    TalusMotorDef def; /* all but `kind` */
} SceneMotor;

typedef struct SceneJoint {
    const TalusJson *json;
    int type;          /* TalusJointKind */
    SceneList bodies;  /* items: const char *, names of entries */
    TalusJointDef def; /* all but kind, bodies and motor */
    SceneMotor *motor;
} SceneJoint;

/* The type of the scene's key `joints`. */
extern const SceneType talus_scene_joints;

/* Fails if a joint names an entry that does not exist or whose bodies arrive after the start. */
TalusStatus talus_scene_check_joints(const TalusScene *scene);
/* Returns the index in `bodies` of the entry that the k-th body name of a joint refers to; -1 if there is none, which
 * talus_scene_check_joints excludes. */
int talus_scene_find_joint_entry(const TalusScene *scene, const SceneJoint *joint, int k);
/* Sets *out to both texts, one after the other; free with talus_release. */
TalusStatus talus_scene_join_texts(const char *first, const char *second, char **out);

/* Where the joints of one copy of a scene go. */
typedef struct SceneJointPlace {
    const TalusScene *scene; /* the copy */
    const char *suffix;      /* of the joints' names; "": none */
    TalusVec3 shift;         /* where it stands, relative to copy 0, m */
    const TalusBodyId *id;   /* by entry of its `bodies`: the body, if there is exactly one */
    const int *count;        /* by entry: number of bodies */
} SceneJointPlace;

/* Adds the joints of a copy to the world. Fails if a joint names an entry that has not exactly one body. */
TalusStatus talus_scene_add_joints(const SceneJointPlace *place, TalusWorld *world);

#endif
