/* io/scene/scene_field.h - probes of fields in a scene: what a run measures as it goes on. */
#ifndef TALUS_IO_SCENE_SCENE_FIELD_H
#define TALUS_IO_SCENE_SCENE_FIELD_H

#include "io/scene/scene.h"

/* True if a probe measures fields or bulk figures, not forces. */
bool talus_scene_measures(const SceneProbe *probe);
/* Fails if a probe has keys that do not go together, or fields that cannot be measured. */
TalusStatus talus_scene_check_field_probe(const TalusScene *scene, const SceneProbe *probe);

#endif
