/* engine/cuda/missing.h - contacts of a pair in a list, found through the incidence of its bodies. */
#ifndef TALUS_ENGINE_CUDA_MISSING_H
#define TALUS_ENGINE_CUDA_MISSING_H

#include "engine/cuda/detect.h"

/* Contacts of any feature, for cu_has_contact. */
#define CU_ANY_FEATURE UINT32_MAX

/* Returns the contact that an incidence belongs to (incidence.cu): a general contact has two records. */
TALUS_INLINE int64_t cu_contact_of_incidence(const TalusEngineCounts &n, int32_t incidence)
{
    int64_t record = incidence / 2, compact = n.sphere_sphere + n.sphere_fixed;
    return record < compact ? record : compact + (record - compact) / 2;
}

/* Returns the number of incidences of the body with this problem index; INT32_MAX for -1, no index. */
TALUS_INLINE int32_t cu_incidence_count(const CuList &list, int32_t problem_index)
{
    if (problem_index < 0)
        return INT32_MAX;
    return list.incidence_start[problem_index + 1] - list.incidence_start[problem_index];
}

/* True if the list has a contact of slots a and b with this feature. a is free; the search is in the contacts of a or,
 * if b is free and has fewer, of b. */
TALUS_INLINE bool cu_has_contact(const CuList &list, const uint8_t *mobility, uint32_t a,
                                 uint32_t b, uint32_t feature)
{
    const uint32_t slots = (uint32_t)list.slots; /* later ones are of a halo that has grown since */
    if (a >= slots || b >= slots)
        return false;
    int32_t p = list.problem_index[a];
    int32_t q = mobility[b] == TALUS_MOBILITY_FREE ? list.problem_index[b] : -1;
    if (cu_incidence_count(list, q) < cu_incidence_count(list, p))
        p = q;
    for (int32_t k = list.incidence_start[p]; k < list.incidence_start[p + 1]; k++) {
        int64_t i = cu_contact_of_incidence(list.counts, list.incidence[k]);
        if (list.slot_b[i] != b || list.slot[list.pair[i].x] != a)
            continue;
        if (feature == CU_ANY_FEATURE || i < list.counts.sphere_sphere ||
            list.feature[i - list.counts.sphere_sphere] == feature)
            return true;
    }
    return false;
}

#endif
