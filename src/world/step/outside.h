/* world/step/outside.h - solves of a step by a solver outside the library. */
#ifndef TALUS_WORLD_STEP_OUTSIDE_H
#define TALUS_WORLD_STEP_OUTSIDE_H

#include <talus/outside.h>

typedef struct TalusOutside {
    TalusSolveFn *solve; /* NULL: the world's own solver */
    void *user;
    const double *gamma; /* [size]: impulses of the first solve of this step; NULL: none given */
    int size;
    uint64_t lent; /* of the problem that talus_world_build has lent last: hash_problem; 0: none */
} TalusOutside;

/* Solves the world's problem: by the impulses that were given for this step, else by the outside solver or, without one, by
 * the world's own. */
TalusStatus talus_outside_solve(TalusWorld *world, const TalusSolveOptions *options,
                                TalusSolveInfo *info);
/* Notes that the world's problem is lent. */
void talus_outside_note_lent(TalusWorld *world);
/* Before a step: gives it the impulses of its first solve. */
TalusStatus talus_outside_give(TalusWorld *world, const double *gamma, int size);
/* In place of a solve, where the problem is empty: fails if impulses were given for this step. */
TalusStatus talus_outside_check_empty(TalusWorld *world);

#endif
