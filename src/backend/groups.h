/* backend/groups.h - groups of contacts, the terms of sums over contacts on the host.
 *
 * A group is cut where bodies say so, not where the list does: in each run the contacts whose first bodies are among the
 * same BODY_GRAIN consecutive bodies, in pieces of BLOCK_GRAIN. Inside a group contacts are added in their order, which
 * is that of their keys; the groups' sums are added so that their order does not matter (base/sum.h). A sum over
 * contacts therefore depends neither on threads nor on where other bodies are handled, as long as such a block of bodies
 * stays together. Contacts that are not sorted by their first bodies, as in a file, make groups of BLOCK_GRAIN. */
#ifndef TALUS_BACKEND_GROUPS_H
#define TALUS_BACKEND_GROUPS_H

#include "backend/host.h"

#include <talus/base.h>

/* Cuts the groups. first_body: that of contact 0, an int32_t; those of the others follow at distances of `stride` bytes.
 * run_end: ends of the three runs. Memory is reused. */
TalusStatus talus_groups_cut(TalusGroups *groups, const void *first_body, size_t stride,
                             const int run_end[3], int bodies);

/* Calls fn(context, begin, end, group) for the contacts of each group, in parallel. */
void talus_groups_each(const TalusGroups *groups, TalusPool *pool, TalusLoopFn *fn, void *context);

/* Returns the sum of `count` groups' sums. */
double talus_groups_sum(int64_t count, const double *partial);

#endif
