/* io/scene/scene_drive.h - prescribed motions in scenes: construction. */
#ifndef TALUS_IO_SCENE_SCENE_DRIVE_H
#define TALUS_IO_SCENE_SCENE_DRIVE_H

#include "io/scene/scene.h"

/* Adds a motion of the scene, with its table, behind those of a body. shift: of the copy, m. */
TalusStatus talus_scene_add_drive(const SceneDrive *drive, TalusBodyId id, TalusVec3 shift,
                                  TalusWorld *world);

#endif
