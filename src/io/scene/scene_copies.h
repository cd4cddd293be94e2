/* io/scene/scene_copies.h - several copies of a scene side by side in one world (scene_copies.c). */
#ifndef TALUS_IO_SCENE_SCENE_COPIES_H
#define TALUS_IO_SCENE_SCENE_COPIES_H

#include "io/scene/scene.h"

/* Bytes of a suffix of talus_scene_copy_suffix. */
enum { TALUS_SCENE_SUFFIX_BYTES = 16 };

/* Reads copies 1, 2, ... of a scene that has been read as copy 0, and checks that all copies agree in what they share:
 * settings of the world and the solver, groups and sinks. */
TalusStatus talus_scene_read_copies(TalusScene *scene, const TalusJson *root);

/* Returns the number of copies, at least 1. */
int talus_scene_copy_count(const TalusScene *scene);
/* Returns copy k; copy 0 is the scene itself. */
const TalusScene *talus_scene_copy(const TalusScene *scene, int k);

/* Returns `status`. Adds the number of the copy to an error of copy k > 0. */
TalusStatus talus_scene_name_copy(int k, TalusStatus status);

/* Returns the first copy whose materials and pairs of materials are those of copy k. */
int talus_scene_copy_of_materials(const TalusScene *scene, int k);
/* Returns the first copy whose named shapes are those of copy k. */
int talus_scene_copy_of_shapes(const TalusScene *scene, int k);

/* Returns how far copy k stands from copy 0: copies fill a square in x and y, row by row. `width`: extent of the bodies
 * of copy 0, of which copies are 1.25 times apart unless the scene gives their spacing. */
TalusVec3 talus_scene_copy_shift(const TalusScene *scene, int k, TalusVec3 width);

/* Writes what follows the names of probes and joints of copy k: its number, "[3]", if there are several copies, else
 * nothing. */
void talus_scene_copy_suffix(const TalusScene *scene, int k, char text[TALUS_SCENE_SUFFIX_BYTES]);

#endif
