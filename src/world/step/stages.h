/* world/step/stages.h - the stages of a step. A part is the whole step or, after halving, a fraction of it; h is its
 * length, s. */
#ifndef TALUS_WORLD_STEP_STAGES_H
#define TALUS_WORLD_STEP_STAGES_H

#include "collide/contact.h"

#include <talus/world.h>

/* Uploads changes, sets the velocities of driven bodies and detects the contacts of a part. */
TalusStatus talus_stage_detect(TalusWorld *world, double h);
/* Builds world->problem from contacts and joints; `soften` adds normal compliance to every contact. */
TalusStatus talus_stage_build(TalusWorld *world, double h, bool soften);
/* Computes the velocities from the solved impulses; sets world->velocities_changed. */
TalusStatus talus_stage_solved(TalusWorld *world, double h);
/* *missed: true if bodies would meet within h, at the solved velocities, where they have no contact. */
TalusStatus talus_stage_missed(TalusWorld *world, double h, bool *missed);
/* Stores the solved impulses, then detects again with the solved velocities. */
TalusStatus talus_stage_redetect(TalusWorld *world, double h);
/* Checks the velocities, then moves the world by h. A failure changes nothing, except with joints (step.c). */
TalusStatus talus_stage_integrate(TalusWorld *world, double h);
/* Copy the state of engine and joints, and return to the copy. */
TalusStatus talus_stage_snapshot(TalusWorld *world);
void talus_stage_rollback(TalusWorld *world);
TalusDetectOptions talus_detect_options(const TalusWorld *world, double h);
/* Returns the change of a body's velocity, m/s, up to which detection has found all contacts. */
double talus_change_limit(const TalusWorld *world, double h);

#endif
