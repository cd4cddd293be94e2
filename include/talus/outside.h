/* talus/outside.h - solvers outside the library drive the steps of a world.
 *
 * Either the world calls the solver for each contact problem of a step, or a program solves the problem that
 * talus_world_build lends and hands its impulses back. All else of the step stays: detection again where bodies come
 * together that had no contact, stiffer contacts where the overlap would exceed its limit, the ledger, the check of the
 * residual, which the world measures itself. One rank, and a backend that works in the host's memory. */
#ifndef TALUS_OUTSIDE_H
#define TALUS_OUTSIDE_H

#include <talus/base.h>
#include <talus/problem.h>
#include <talus/solver.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Solves the problem of a step, or of a part of one, from the impulses in talus_problem_gamma(problem), and leaves the
 * result there. `options` has tolerance, norm and budget of the step. In *info it may report iterations, products, updates
 * and factorisations; the rest is the world's. Neither the world nor its bodies may be changed. A status other than TALUS_OK
 * makes the step fail with it. */
typedef TalusStatus TalusSolveFn(void *user, TalusProblem *problem,
                                 const TalusSolveOptions *options, TalusSolveInfo *info);

/* Makes the world call `solve` in place of its own solver; NULL: its own again. Reports name this solver "outside". It is
 * not saved. */
TALUS_API TalusStatus talus_world_set_outside_solver(TalusWorld *world, TalusSolveFn *solve,
                                                     void *user);

/* Makes the step whose problem talus_world_build has lent, with gamma[size], size being talus_problem_size of that problem,
 * as the result of its first solve. Should the step need another one, because contacts were missing, overlaps became too
 * large or bodies are wedged, the world's solver goes on from these impulses. The call fails, and the world is as before, if
 * the step has another problem: the world has changed since, bodies enter or leave at its start, or it must be halved. */
TALUS_API TalusStatus talus_world_step_with(TalusWorld *world, const double *gamma, int size,
                                            TalusStepInfo *info);

#ifdef __cplusplus
}
#endif

#endif
