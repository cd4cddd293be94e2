/* world/contacts.h - contacts of the last step, and their forces on bodies. */
#ifndef TALUS_WORLD_CONTACTS_H
#define TALUS_WORLD_CONTACTS_H

#include <talus/world.h>

/* By slot, the row of a living body in arrays over all of them; to be released. */
TalusStatus talus_slot_rows(const TalusWorld *world, int **rows);
/* talus_world_get_forces; `rows` may be NULL where neither array is asked for. */
TalusStatus talus_world_sum_forces(const TalusWorld *world, const int *rows, double *force,
                                   int *touching, TalusForceSummary *summary);

#endif
