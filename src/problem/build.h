/* problem/build.h - how a world fills its problem in place, step after step, without copies.
 *
 *     talus_problem_create_empty(pool, &problem);
 *     each step:
 *         talus_problem_resize(problem, &sizes);             memory is kept and grows
 *         op = talus_problem_operator(problem);
 *         write op->body, numbers, pair, frame, arm, bias and mu, gamma and the bodies' lengths;
 *         op->inverse_inertia if sizes.general > 0, op->compliance if sizes.compliance, op->model if
 *         sizes.models, op->slip if it is not NULL, op->moment_mu and op->lever if rows is 6
 *         talus_problem_finish(problem);         diagonals, body-contact lists, laws and their memory
 *
 * After a later change of op->bias call talus_problem_finish again. */
#ifndef TALUS_PROBLEM_BUILD_H
#define TALUS_PROBLEM_BUILD_H

#include "backend/backend.h"
#include "backend/frame.h"
#include "backend/operator.h"

#include <talus/problem.h>

/* Counts that talus_problem_resize allocates for. */
typedef struct TalusProblemSizes {
    int bodies;
    int sphere_sphere, sphere_fixed, general;
    int first_runs
        [2]; /* with 6 rows: lengths of the first two runs of the list, which `general` contains; else 0 */
    /* Blocks of free joints, the last ones of the general run (backend/operator.h); 3 rows or 6. */
    int joints;
    /* 1 if no contact has friction, 6 if some resists spinning or rolling (then all contacts are general), else 3 */
    int rows;
    bool compliance; /* some contact has E > 0 */
    bool models;     /* some contact's friction model differs from disc and ccp */
    bool slip;       /* some contact has a tangential offset; used if rows is above 1 */
    /* bodies have inertias even if no contact is general, because some are on another rank */
    bool inertias;
} TalusProblemSizes;

/* Creates a problem without blocks, to be filled in place as above; resize allocates its arrays, of undefined contents,
 * and ends a lending; operator returns the operator whose arrays the caller fills; finish derives the rest (diagonals,
 * incidence, friction data) and drops the certificate. After a failure of resize or finish, resize must come next. */
TalusStatus talus_problem_create_empty(TalusPool *pool, TalusProblem **out);
TalusStatus talus_problem_resize(TalusProblem *problem, const TalusProblemSizes *sizes);
TalusOperator *talus_problem_operator(TalusProblem *problem);
TalusStatus talus_problem_finish(TalusProblem *problem);

/* Sets *out to the problem's certificate (talus_problem_certificate), an array [size] that the caller fills; from now
 * on the problem counts as having a certificate. */
TalusStatus talus_problem_reserve_certificate(TalusProblem *problem, double **out);

/* Returns the friction model in the form that operators store. */
TalusBlockModel talus_block_model(TalusFrictionModel model);

/* Makes solvers work on `op` and `gamma`, which the caller owns in the backend's memory, until the next call of
 * talus_problem_lend or talus_problem_resize. Meanwhile only the problem's counts of blocks, rows and bodies are valid
 * on the host. */
void talus_problem_lend(TalusProblem *problem, const TalusBackend *backend, TalusOperator *op,
                        double *gamma);

/* Returns where the problem keeps its array of impulses, a block of base/memory.h: a world uses it as work space before
 * it fills the problem anew, and may leave another block there, of any size, or NULL. */
double **talus_problem_lend_gamma(TalusProblem *problem);
/* The same for the wrenches of operations, whose contents do not matter between operations. The block that is left there
 * must not be smaller, unless the problem is filled anew. */
double (**talus_problem_lend_wrenches(TalusProblem *problem))[6];

/* Returns the array [bodies] of the bodies' lengths l, by which spins are multiplied (s = l w). The caller that fills
 * the problem writes it; conversions to physical units read it. */
double *talus_problem_lengths(TalusProblem *problem);

/* Returns the velocities v_f + M^-1 D gamma of all bodies at the problem's gamma, as records like op->body: v in
 * entries 0 to 2, l w in 4 to 6. The array is valid until the next product or measurement of the problem. */
const double (*talus_problem_velocities(TalusProblem *problem))[8];
/* The same, right after a solve: takes the velocities from the solver's measurement of its result, if that was on the
 * host. Neither gamma nor the problem may have changed since the solve. */
const double (*talus_problem_solved_velocities(TalusProblem *problem))[8];

#endif
