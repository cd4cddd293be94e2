/* world/contacts.h - contacts of the last step, and their forces on bodies. */
#ifndef TALUS_WORLD_CONTACTS_H
#define TALUS_WORLD_CONTACTS_H

#include "collide/contact.h"
#include "collide/period.h"

#include <talus/world.h>

/* Returns the normal impulse of contact i on b, N s; below 0: the contact pulls. */
double talus_normal_impulse(const TalusContactList *list, int i);
/* Returns the branch vector to a contact point from a body's position. */
static inline TalusVec3 talus_branch(const TalusPeriod *period, TalusVec3 position, TalusVec3 point)
{
    return talus_nearest_image_vector(period, talus_sub(point, position));
}

/* Returns contact i of the list as callers see it, without branch_b; its point moves with body a. b: the number of its second
 * body. */
TalusContactState talus_contact_state(const TalusWorld *world, const TalusContactList *list, int i,
                                      uint64_t b);

/* Sums of normal forces by body; force and touching may be NULL. */
typedef struct TalusForceSums {
    double *force;
    int *touching;
    TalusForceSummary summary;
    double impulse; /* N s: sum of the loaded contacts */
} TalusForceSums;

/* Starts sums for `bodies` bodies. */
TalusForceSums talus_force_sums_begin(const TalusWorld *world, int bodies, double *force,
                                      int *touching);
/* Counts a contact; if it is loaded, adds its normal impulse over summary.length to the forces of both bodies, whose
 * indices are a and b. */
void talus_force_sums_add(TalusForceSums *sums, double impulse, int a, int b);
TalusForceSummary talus_force_sums_end(const TalusForceSums *sums);

/* Sums normal forces by slot, over all contacts of this rank's bodies; the arrays hold one element more than there are slots.
 * The summary is of the contacts whose first bodies this rank has, without the mean. */
TalusStatus talus_world_sum_own_forces(const TalusWorld *world, double *force, int *touching,
                                       TalusForceSummary *summary);

/* Allocates *living_index, [slots]: the index of each living body among the living bodies, in the order of slots; 0 for
 * dead slots. The caller releases the array (talus_release). */
TalusStatus talus_living_indices(const TalusWorld *world, int **living_index);
/* As talus_world_get_forces, with living_index from talus_living_indices. living_index may be NULL if force and
 * touching are NULL. */
TalusStatus talus_world_sum_forces(const TalusWorld *world, const int *living_index, double *force,
                                   int *touching, TalusForceSummary *summary);

#endif
