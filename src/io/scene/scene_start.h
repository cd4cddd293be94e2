/* io/scene/scene_start.h - whether the world of a scene is one to start with (scene_start.c). */
#ifndef TALUS_IO_SCENE_SCENE_START_H
#define TALUS_IO_SCENE_SCENE_START_H

#include "io/scene/scene.h"
#include "world/source/survey.h"

/* A world just built, and which of its bodies come from which entry of `bodies`. */
typedef struct SceneStart {
    const TalusScene *scene;
    TalusWorld *world;
    const int *slot;    /* [entries + 1]: the first body of each entry */
    const int *pending; /* [entries + 1]: its first batch that waits */
    const int *count;   /* [entries]: its bodies */
    bool allow_overlap; /* whatever the scene says; it is told as a warning */
} SceneStart;

/* Fails, with the place of the worse body, where bodies overlap by more than the scene allows. What is unusual is
 * told by the log, one line for each kind: "scene.overlap", "scene.step" and so on. */
TalusStatus talus_scene_check_start(const SceneStart *start);

#endif
