/* io/scene/scene_avoid.h - places that overlap bodies which are there are left out (scene_avoid.c). */
#ifndef TALUS_IO_SCENE_SCENE_AVOID_H
#define TALUS_IO_SCENE_SCENE_AVOID_H

#include "io/scene/scene.h"

/* Leaves out of the places of an entry those that overlap bodies of the world: of a lattice or layers the places themselves,
 * whose number becomes smaller and is logged ("scene.avoid"); bodies of a random fill go elsewhere in the region. `copy`
 * and `shift`: of the copy of the scene that the entry belongs to. Fails, with the location of the entry, if no place is left,
 * or bodies of a fill find none. All ranks call this together. */
TalusStatus talus_scene_avoid_bodies(TalusWorld *world, int copy, TalusVec3 shift,
                                     ScenePlaces *places);

#endif
