/* collide/contact_arms.h - arms of a contact of any run: computed in the two sphere runs, stored in the general one. */
#ifndef TALUS_COLLIDE_CONTACT_ARMS_H
#define TALUS_COLLIDE_CONTACT_ARMS_H

#include "collide/contact.h"
#include "collide/period.h"

/* Returns the arms of contact i, given positions and radii by body. `period` must not be NULL; all its axes may be
 * off. */
static inline TalusArms talus_contact_arms(const TalusContactList *list, int i,
                                           const TalusVec3 *position, const double *radius,
                                           const TalusPeriod *period)
{
    const TalusContact *c = &list->contact[i];
    if (i >= list->sphere_sphere + list->sphere_fixed)
        return list->arms[c->general];
    TalusArms arms = {.a = talus_scale(radius[c->a], c->normal)};
    if (i < list->sphere_sphere)
        arms.b = talus_scale(-radius[c->b], c->normal);
    else
        arms.b = talus_nearest_image_vector(
            period, talus_sub(talus_madd(talus_add(position[c->a], arms.a), c->gap, c->normal),
                              position[c->b]));
    return arms;
}

#endif
