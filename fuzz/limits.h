/* fuzz/limits.h - what both targets do with a file that was accepted: condense it, set a solution,
 * take its impulses back. Sizes are bounded so that one input stays cheap; the reader itself sees
 * everything. */
#ifndef TALUS_FUZZ_LIMITS_H
#define TALUS_FUZZ_LIMITS_H

#include "io/problem/fclib.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CONTACTS = 64, MOST_FREEDOMS = 256 };

static inline void check(bool ok)
{
    if (!ok)
        abort();
}

/* A problem that was made can be solved back into the file's terms. */
static inline void exercise_under(TalusFclib *f, const TalusFrictionModel *model)
{
    TalusProblem *problem;
    if (talus_fclib_problem(f, model, NULL, &problem) != TALUS_OK)
        return;
    check(talus_problem_blocks(problem) == f->contacts);
    check(talus_fclib_set_solution(f, problem, talus_problem_gamma(problem)) == TALUS_OK);
    check(talus_fclib_impulses(f, problem, &f->solution, talus_problem_gamma(problem)) == TALUS_OK);
    talus_problem_destroy(problem);
}

/* W symmetrised, and as stored. */
static inline void exercise(TalusFclib *f)
{
    const TalusFrictionModel coulomb = {.law = TALUS_LAW_COULOMB};
    double asymmetry;
    if (f->contacts > MOST_CONTACTS || talus_fclib_dofs(f) > MOST_FREEDOMS ||
        talus_fclib_joints(f) > MOST_FREEDOMS)
        return;
    talus_fclib_asymmetry(f, &asymmetry);
    exercise_under(f, NULL);
    exercise_under(f, &coulomb);
}

static inline void read_and_exercise(const void *bytes, size_t size)
{
    TalusFclib *fclib;
    TalusStatus status = talus_fclib_parse("fuzz", bytes, size, &fclib);
    check((status == TALUS_OK) == (fclib != NULL));
    check(status == TALUS_OK || strncmp(talus_error(), "fuzz: ", 6) == 0 ||
          status == TALUS_ERR_MEMORY || status == TALUS_ERR_UNSUPPORTED);
    if (!fclib)
        return;
    exercise(fclib);
    talus_fclib_destroy(fclib);
}

#endif
