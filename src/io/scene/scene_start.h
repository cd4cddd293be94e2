/* io/scene/scene_start.h - checks of a scene's world before the first step (scene_start.c). */
#ifndef TALUS_IO_SCENE_SCENE_START_H
#define TALUS_IO_SCENE_SCENE_START_H

#include "io/scene/scene.h"
#include "world/source/survey.h"

/* A new world, in which no body of the scene has been removed, and which of its bodies come from which entry of `bodies`.
 * Bodies up to the number created[0] come from an earlier run. Entries of the scene's copies follow each other: entry i of copy k
 * has the index k entries + i. */
typedef struct SceneStart {
    const TalusScene *scene;
    TalusWorld *world;
    const uint64_t *
        created; /* [all + 1]: entry i has the bodies with numbers created[i] + 1 to created[i + 1] */
    const int *pending; /* [all + 1]: delayed batches, pending[i] to pending[i + 1] - 1 */
    const int *count;   /* [all]: number of bodies, delayed ones included */
    bool allow_overlap; /* true: a deep overlap gives a warning, not an error */
} SceneStart;

/* All ranks of the world call this together; each logs all warnings. Fails, with the location of the entry in the scene, if bodies overlap by more than the scene allows, unless
 * start->allow_overlap. Logs warnings about unusual values: "scene.step", "scene.mesh" and others at most once,
 * "scene.overlap" at most once for the start and once for arrivals, "scene.joint" for each body of a joint concerned,
 * "scene.emitter" and "scene.emitter-room" for each emitter concerned. */
TalusStatus talus_scene_check_start(const SceneStart *start);

#endif
