/* world/compliance.h - the compliance of contacts: TalusWorldDef.compliance, and what TALUS_COMPLIANCE_AUTO means. */
#ifndef TALUS_WORLD_COMPLIANCE_H
#define TALUS_WORLD_COMPLIANCE_H

#include <talus/world.h>

/* Sum and extremes of the masses of free and sleeping bodies, kg. Without any: sum and largest 0, least infinite. */
typedef struct TalusMasses {
    double sum, least, largest;
} TalusMasses;

/* Returns the compliance that TALUS_COMPLIANCE_AUTO aims at, for the present bodies at a tolerance;
 * talus_world_compliance follows it gradually. */
double talus_auto_compliance(const TalusWorld *world, double tolerance);
/* Returns the value that talus_world_compliance has, or reaches after some steps if bodies and tolerance stay. */
double talus_target_compliance(const TalusWorld *world);
/* True if the next step's compliance is another than the last step's. */
bool talus_compliance_changes(const TalusWorld *world);

/* Updates world->masses; all ranks call this together. Until bodies come or go, functions that tell the compliance then
 * need no other ranks. */
void talus_compliance_update_masses(TalusWorld *world);
/* Before the detection of a step or part: updates world->masses and world->compliance, and wakes all bodies if the
 * compliance changes, because elastic overlap of sleeping bodies would meet the whole change when they wake. */
void talus_compliance_begin_part(TalusWorld *world);
/* At the end of a successful step, before bodies fall asleep: updates world->last_compliance. */
void talus_compliance_finish_step(TalusWorld *world);
/* After a failed step: forgets world->masses, which may be those of bodies that the step added. */
void talus_compliance_rollback(TalusWorld *world);

#endif
