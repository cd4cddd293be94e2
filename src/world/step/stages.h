/* world/step/stages.h - the stages of a step. A part is the whole step or, after halving, a fraction of it; h is its
 * length, s. */
#ifndef TALUS_WORLD_STEP_STAGES_H
#define TALUS_WORLD_STEP_STAGES_H

#include "collide/contact.h"

#include <talus/world.h>

/* Updates world->masses and world->compliance, and wakes all bodies if the compliance changes. Then uploads the host's
 * changes, sets the velocities of driven bodies and detects the contacts of a part; wakes disturbed islands and detects
 * again until no island is disturbed. */
TalusStatus talus_stage_detect(TalusWorld *world, double h);
/* Under TALUS_IMPACTS_PROPAGATING, after talus_stage_detect: changes velocities by the impacts of contacts that close
 * within h, and detects again; adds to ledger, probes and world->info.impacts. */
TalusStatus talus_stage_impacts(TalusWorld *world, double h);
/* Builds world->problem from contacts and joints, and sets world->build_options. soften: normal compliance
 * is added to every contact and joint limit, for wedged bodies. */
TalusStatus talus_stage_build(TalusWorld *world, double h, bool soften);
/* Computes the velocities from the solved impulses. Sets world->overlap_ratio and world->velocities_changed: some
 * velocity differs from the one that detection used by more than talus_velocity_change_limit. */
TalusStatus talus_stage_velocities(TalusWorld *world, double h);
/* Sets *missing: true if bodies may meet within h, at the solved velocities, where they have no contact. False unless
 * velocities_changed; otherwise the result of the engine's find_missing. May update world->clipped_bodies. */
TalusStatus talus_stage_find_missing(TalusWorld *world, double h, bool *missing);
/* Stores the solved impulses of contacts and joints, then detects again with the solved velocities, or adds the
 * contacts that find_missing has found. */
TalusStatus talus_stage_redetect(TalusWorld *world, double h);
/* Checks the solved velocities, then moves bodies, drives and joints by h and adds to ledger and probes. If the check
 * fails, nothing has changed; joints may fail after the bodies have moved, so step.c takes a snapshot before. */
TalusStatus talus_stage_integrate(TalusWorld *world, double h);
/* talus_stage_snapshot copies contacts and the warm starts of joints and, with `states`, the states of bodies, before
 * the step changes them, unless this step has copied them already; talus_stage_rollback returns to what was copied. */
TalusStatus talus_stage_snapshot(TalusWorld *world, bool states);
void talus_stage_rollback(TalusWorld *world);
/* Returns the options for the detection of a part of length h. */
TalusDetectOptions talus_detect_options(const TalusWorld *world, double h);
/* Returns a speed, m/s: if the solve changes no body's velocity by more than this, detection has found all contacts. */
double talus_velocity_change_limit(const TalusWorld *world, double h);

/* Like talus_world_build; on several ranks, which call this together, *problem is this rank's part. */
TalusStatus talus_world_build_part(TalusWorld *world, TalusProblem **problem);

#endif
