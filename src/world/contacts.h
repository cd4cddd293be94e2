/* world/contacts.h - contacts of the last step, and their forces on bodies. */
#ifndef TALUS_WORLD_CONTACTS_H
#define TALUS_WORLD_CONTACTS_H

#include <talus/world.h>

/* Returns, by slot, the row of each living body in arrays over all living bodies. The caller releases *rows. */
TalusStatus talus_slot_rows(const TalusWorld *world, int **rows);
/* As talus_world_get_forces; `rows` may be NULL if both arrays are. */
TalusStatus talus_world_sum_forces(const TalusWorld *world, const int *rows, double *force,
                                   int *touching, TalusForceSummary *summary);

#endif
