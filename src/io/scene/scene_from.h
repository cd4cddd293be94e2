/* io/scene/scene_from.h - a scene that starts from an earlier run (scene_from.c). */
#ifndef TALUS_IO_SCENE_SCENE_FROM_H
#define TALUS_IO_SCENE_SCENE_FROM_H

#include "io/scene/scene.h"

/* Sets *dir to the directory of the run that scene->from names, which must not be NULL, and *time to the simulated time at or
 * before which its checkpoint is, INFINITY: the newest. Free *dir with talus_release. */
TalusStatus talus_scene_find_from(const TalusScene *scene, char **dir, double *time);
/* Creates a world with these settings and the bodies of the run that scene->from names, which must not be NULL. All ranks of
 * def->comm call this together. */
TalusStatus talus_scene_load_from(const TalusScene *scene, const TalusWorldDef *def,
                                  TalusWorld **world);
/* Gives all materials of the world that have the name of the def its properties; *index is the first of them, or that of a
 * new material if there is none. */
TalusStatus talus_scene_put_material(TalusWorld *world, const TalusMaterialDef *def, int *index);

/* Sets *ids, to be released even after a failure, to the bodies up to number `last` that have the tag of an entry with the
 * key `earlier`, ascending, and moves them to its group, if it has one. All ranks call this together. */
TalusStatus talus_scene_adopt_bodies(const SceneBody *body, int group, uint64_t last,
                                     TalusWorld *world, TalusBodyId **ids, int *count);

#endif
