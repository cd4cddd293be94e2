/* backend/groups.h - groups of contacts, the terms of sums over contacts on the host.
 *
 * A group is cut where the numbers of bodies say so (TalusBodyNumbers), not where the list does: in each run the contacts
 * whose first bodies are among the same BODY_GRAIN consecutive numbers, in pieces of BLOCK_GRAIN. Inside a group contacts
 * are added in their order, which is that of their keys; the groups' sums are added so that their order does not matter
 * (base/sum.h). A sum over contacts therefore depends neither on threads, nor on the slots of bodies, nor on where other
 * bodies are handled, as long as such a block of bodies stays together. Contacts that are not sorted by the numbers of
 * their first bodies, as in a file, make groups of BLOCK_GRAIN. */
#ifndef TALUS_BACKEND_GROUPS_H
#define TALUS_BACKEND_GROUPS_H

#include "backend/host.h"

#include <talus/base.h>

/* The first bodies of contacts: that of contact 0, an int32_t at `body`; the others follow at distances of `stride`
 * bytes. */
typedef struct TalusFirstBodies {
    const void *body;
    size_t stride;
    TalusBodyNumbers numbers;
} TalusFirstBodies;

/* Cuts the groups. run_end: ends of the three runs. Memory is reused. */
TalusStatus talus_groups_cut_contacts(TalusGroups *groups, const TalusFirstBodies *first,
                                      const int run_end[3]);

/* Cuts groups of bodies: `count` bodies, body k having the number id[slot[k]] (slot NULL: id[k]), ascending; a group has
 * those of BODY_GRAIN consecutive numbers. */
TalusStatus talus_groups_cut_bodies(TalusGroups *groups, const uint64_t *id, const uint32_t *slot,
                                    int count);

/* Calls fn(context, begin, end, group) for the contacts, or bodies, of each group, in parallel. */
void talus_groups_for_each(const TalusGroups *groups, TalusPool *pool, TalusLoopFn *fn,
                           void *context);

/* Returns the sum of `count` groups' sums. */
double talus_groups_sum(int64_t count, const double *partial);

#endif
