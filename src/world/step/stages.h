/* world/step/stages.h - the stages of a step. A part is the whole step or, after halving, a fraction of it; h is its
 * length, s. */
#ifndef TALUS_WORLD_STEP_STAGES_H
#define TALUS_WORLD_STEP_STAGES_H

#include "collide/contact.h"

#include <talus/world.h>

/* Uploads changes, sets the velocities of driven bodies and detects the contacts of a part; wakes disturbed islands
 * and detects again until none is disturbed. */
TalusStatus talus_stage_detect(TalusWorld *world, double h);
/* Builds world->problem from contacts and joints; `soften` adds normal compliance to every contact. */
TalusStatus talus_stage_build(TalusWorld *world, double h, bool soften);
/* Computes the velocities from the solved impulses; world->velocities_changed: one of them changed by more than
 * talus_velocity_change_limit. */
TalusStatus talus_stage_velocities(TalusWorld *world, double h);
/* *missed: true if bodies may meet within h, at the solved velocities, where they have no contact. False unless
 * velocities_changed; then find_missed decides, or, in an engine without it, true. */
TalusStatus talus_stage_find_missed(TalusWorld *world, double h, bool *missed);
/* Stores the solved impulses, then detects again with the solved velocities, or adds the contacts that find_missed has
 * found. */
TalusStatus talus_stage_redetect(TalusWorld *world, double h);
/* Checks the solved velocities, then moves the world by h. If the check fails, nothing has changed; joints may fail
 * after the bodies have moved, so step.c takes a snapshot before. */
TalusStatus talus_stage_integrate(TalusWorld *world, double h);
/* Copy bodies, contacts and joints' impulses at the start of a step; return to the copy. */
TalusStatus talus_stage_snapshot(TalusWorld *world);
void talus_stage_rollback(TalusWorld *world);
TalusDetectOptions talus_detect_options(const TalusWorld *world, double h);
/* Returns a speed, m/s: if no body's velocity changes by more, detection has found all contacts. */
double talus_velocity_change_limit(const TalusWorld *world, double h);

#endif
