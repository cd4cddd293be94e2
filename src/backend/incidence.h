/* backend/incidence.h - the contacts of each body, listed on the host. */
#ifndef TALUS_BACKEND_INCIDENCE_H
#define TALUS_BACKEND_INCIDENCE_H

#include "backend/operator.h"

/* Returns the entry of contact i in the list of its body a (side 0) or b (1), at least 0 and rising with i; -1: it has
 * none there, as for the fixed world. */
typedef int32_t TalusIncidenceFn(const void *context, const TalusOperator *op, int i, int side);

/* TalusIncidenceFn: the entries of TalusOperator.incidence, from the wrench record of the contact for that body: contacts
 * of spheres have one record, general contacts one for each body. Bodies that impulses do not move get no entries: a
 * drum would have thousands, which nothing reads. */
static inline int32_t talus_wrench_entry(const void *context, const TalusOperator *op, int i,
                                         int side)
{
    int general = i - op->sphere_sphere - op->sphere_fixed;
    int record = general < 0 ? i : i + general + side;
    (void)context;
    return talus_body_yields(op, op->pair[i][side]) ? 2 * record + side : -1;
}

/* Lists the entries of each body's contacts in rising order: body b has entry[start[b]] to entry[start[b + 1] - 1].
 * start: [bodies + 2], of which the last is work space; entry: [2 blocks]. The lists do not depend on the number of
 * threads. entry_of NULL: talus_wrench_entry. */
void talus_list_incidences(const TalusOperator *op, TalusIncidenceFn *entry_of, const void *context,
                           int32_t *start, int32_t *entry);

#endif
