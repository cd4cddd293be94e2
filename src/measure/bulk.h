/* measure/bulk.h - which bodies and contacts bulk figures count. */
#ifndef TALUS_MEASURE_BULK_H
#define TALUS_MEASURE_BULK_H

#include "base/status.h"
#include "measure/region.h"

#include <talus/measure.h>

/* True if a body with this centre counts. */
static inline bool talus_bulk_includes(const TalusBulkDef *def, TalusVec3 x)
{
    return talus_region_includes(&def->region, x);
}

static inline double talus_normal_force(const TalusAssemblyContact *contact)
{
    return talus_dot(contact->force, contact->normal);
}

/* True if the contact has a body that counts. */
static inline bool talus_bulk_counts(const TalusAssembly *a, const TalusBulkDef *def,
                                     const TalusAssemblyContact *contact)
{
    return talus_bulk_includes(def, a->position[contact->a]) ||
           (contact->b >= 0 && talus_bulk_includes(def, a->position[contact->b]));
}

#endif
