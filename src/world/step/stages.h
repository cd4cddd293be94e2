/* world/step/stages.h - the stages of a step. */
#ifndef TALUS_WORLD_STEP_STAGES_H
#define TALUS_WORLD_STEP_STAGES_H

#include "collide/contact.h"

#include <talus/world.h>

/* Detects the contacts of a part of a step, of length h. */
TalusStatus talus_stage_detect(TalusWorld *world, double h);
/* Builds the problem of these contacts; `soften` adds normal compliance to every contact. */
TalusStatus talus_stage_build(TalusWorld *world, double h, bool soften);
/* Computes the solved velocities. */
TalusStatus talus_stage_solved(TalusWorld *world, double h);
/* *missed: true if the solve changed some velocity so much that detection missed a contact. */
TalusStatus talus_stage_missed(TalusWorld *world, double h, bool *missed);
/* Detects again with the solved velocities; transfers impulses. */
TalusStatus talus_stage_redetect(TalusWorld *world, double h);
/* Checks the velocities, then moves the world by h. A failure changes nothing, except with joints (step.c). */
TalusStatus talus_stage_integrate(TalusWorld *world, double h);
TalusStatus talus_stage_snapshot(TalusWorld *world);
void talus_stage_rollback(TalusWorld *world);
TalusDetectOptions talus_detect_options(const TalusWorld *world, double h);
/* Returns the change of velocity above which contacts may be missing, m/s. */
double talus_change_limit(const TalusWorld *world, double h);

#endif
