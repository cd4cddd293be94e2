/* io/scene/scene_entries.h - which bodies of a world come from which entry of its scene (scene_entries.c). */
#ifndef TALUS_IO_SCENE_SCENE_ENTRIES_H
#define TALUS_IO_SCENE_SCENE_ENTRIES_H

#include "io/scene/scene.h"

/* Lists the ranges of bodies by entry. created: bodies in the world before each entry of each copy, and after the last. */
TalusStatus talus_scene_list_entries(const TalusScene *scene, const uint64_t *created,
                                     TalusSceneEntries *out);

#endif
