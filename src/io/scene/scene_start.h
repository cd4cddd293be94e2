/* io/scene/scene_start.h - checks of a scene's world before the first step (scene_start.c). */
#ifndef TALUS_IO_SCENE_SCENE_START_H
#define TALUS_IO_SCENE_SCENE_START_H

#include "io/scene/scene.h"
#include "world/source/survey.h"

/* A new world and the ranges of its bodies that belong to each entry of `bodies`. */
typedef struct SceneStart {
    const TalusScene *scene;
    TalusWorld *world;
    const int *slot;    /* [entries + 1]: slot of the first body of each entry */
    const int *pending; /* [entries + 1]: first delayed batch of each entry */
    const int *count;   /* [entries]: number of bodies */
    bool allow_overlap; /* overlaps give a warning, not an error */
} SceneStart;

/* Fails, with the location of the entry in the scene, if bodies overlap by more than the scene allows. Logs at most one
 * warning for each kind of unusual value: "scene.overlap", "scene.step" and so on. */
TalusStatus talus_scene_check_start(const SceneStart *start);

#endif
