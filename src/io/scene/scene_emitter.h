/* io/scene/scene_emitter.h - emitters of a scene in its world (scene_emitter.c). */
#ifndef TALUS_IO_SCENE_SCENE_EMITTER_H
#define TALUS_IO_SCENE_SCENE_EMITTER_H

#include "io/scene/scene.h"

/* The copy of a scene that is being added to a world, and where. */
typedef struct SceneEmitterPlace {
    const TalusScene *scene;
    const int *material; /* by index in the scene: index in the world */
    TalusComm *comm;     /* NULL: one rank */
    int copy;
    TalusVec3 shift; /* m, relative to copy 0 */
} SceneEmitterPlace;

/* Adds an emitter of the scene: one of the world or, with species, one for each of them. All ranks call this together. */
TalusStatus talus_scene_add_emitter(const SceneEmitterPlace *place, const SceneEmitter *emitter,
                                    TalusWorld *world);

#endif
