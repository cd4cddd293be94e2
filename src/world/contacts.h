/* world/contacts.h - contacts of the last step, and their forces on bodies. */
#ifndef TALUS_WORLD_CONTACTS_H
#define TALUS_WORLD_CONTACTS_H

#include <talus/world.h>

/* Allocates *living_index, [slots]: the index of each living body among the living bodies, in the order of slots; 0 for
 * dead slots. The caller releases the array (talus_release). */
TalusStatus talus_living_indices(const TalusWorld *world, int **living_index);
/* As talus_world_get_forces, with living_index from talus_living_indices. living_index may be NULL if force and
 * touching are NULL. */
TalusStatus talus_world_sum_forces(const TalusWorld *world, const int *living_index, double *force,
                                   int *touching, TalusForceSummary *summary);

#endif
