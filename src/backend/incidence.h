/* backend/incidence.h - the contacts of each body, listed on the host. */
#ifndef TALUS_BACKEND_INCIDENCE_H
#define TALUS_BACKEND_INCIDENCE_H

#include "backend/operator.h"

/* Returns the entry of contact i in the list of its body a (side 0) or b (1), at least 0 and rising with i; -1: it has
 * none there, as for the fixed world. */
typedef int32_t TalusIncidenceFn(const void *context, const TalusOperator *op, int i, int side);

/* Lists the entries of each body's contacts in rising order: body b has entry[start[b]] to entry[start[b + 1] - 1].
 * start: [bodies + 2], of which the last is work space; entry: [2 blocks]. The lists do not depend on the number of
 * threads. */
void talus_list_incidences(const TalusOperator *op, TalusIncidenceFn *entry_of, const void *context,
                           int32_t *start, int32_t *entry);

#endif
