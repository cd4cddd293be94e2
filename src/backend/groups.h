/* backend/groups.h - groups of contacts, the terms of sums over contacts on the host.
 *
 * Body numbers (TalusBodyNumbers), not positions in the list, decide where a group begins. A group has the contacts of
 * one run whose first bodies have numbers in the same block of BODY_GRAIN consecutive numbers; a group of more than
 * BLOCK_GRAIN contacts is cut into pieces of BLOCK_GRAIN. Inside a group the terms of contacts are added in the order
 * of the contacts' keys; the sums of groups are added exactly, so that their order does not matter (base/sum.h). A sum
 * over contacts therefore does not depend on the number of threads or on the slots of bodies; nor would it on a
 * distribution of bodies over processes that keeps each block of numbers together. Contacts that are not sorted by the
 * numbers of their first bodies, as in a problem file, make groups of BLOCK_GRAIN. */
#ifndef TALUS_BACKEND_GROUPS_H
#define TALUS_BACKEND_GROUPS_H

#include "backend/host.h"

#include <talus/base.h>

/* The first body of each contact: an int32_t, for contact 0 at `body`, for contact i at i times `stride` bytes
 * after. */
typedef struct TalusFirstBodies {
    const void *body;
    size_t stride;
    TalusBodyNumbers numbers;
} TalusFirstBodies;

/* Fills *groups with the groups of contacts. run_end: ends of the three runs of the contact list. Memory of *groups is
 * reused. */
TalusStatus talus_groups_cut_contacts(TalusGroups *groups, const TalusFirstBodies *first,
                                      const int run_end[3]);
/* The same for any number of runs. */
TalusStatus talus_groups_cut_runs(TalusGroups *groups, const TalusFirstBodies *first,
                                  const int *run_end, int runs);

/* Fills *groups with groups of bodies 0 to count - 1. Body k has the number id[slot[k]] (slot NULL: id[k]); numbers
 * ascend with k. A group has the bodies of one block of BODY_GRAIN consecutive numbers. */
TalusStatus talus_groups_cut_bodies(TalusGroups *groups, const uint64_t *id, const uint32_t *slot,
                                    int count);

/* Calls fn(context, begin, end, group) for each group, in parallel; its contacts or bodies are begin to end - 1. */
#define talus_groups_for_each(groups, pool, fn, context) \
    talus_groups_for_each_named((groups), (pool), (fn), (context), TALUS_LOOP_NAME(fn))
void talus_groups_for_each_named(const TalusGroups *groups, TalusPool *pool, TalusLoopFn *fn,
                                 void *context, const char *name);

/* Returns the exact sum, rounded once, of the sums partial[0] to partial[count - 1] of groups. */
double talus_groups_sum(int64_t count, const double *partial);

#endif
