/* problem/build.h - filling a Problem in place, step after step, without copies.
 *
 *     talus_problem_create_empty(pool, &problem);
 *     each step:
 *         talus_problem_resize(problem, &sizes);             memory is kept and grows
 *         op = talus_problem_operator(problem);
 *         write op->body, inertia, pair, frame, arm, bias, mu, compliance, and gamma;
 *         op->model where sizes.models, op->turning and op->lever where rows is 6
 *         talus_problem_finish(problem);         diagonals, body-contact lists, laws and their memory
 *
 * Whoever writes op->bias after that calls talus_problem_finish again. */
#ifndef TALUS_PROBLEM_BUILD_H
#define TALUS_PROBLEM_BUILD_H

#include "backend/backend.h"
#include "backend/frame.h"
#include "backend/operator.h"

#include <talus/problem.h>

typedef struct TalusProblemSizes {
    int bodies;
    int sphere_sphere, sphere_fixed, general;
    int joints; /* of the general run, the last: blocks of free joints (backend/operator.h); 3 rows or 6 */
    int rows; /* 1 when no contact has friction, 6 when some has friction against turning (then all
                 contacts are general), else 3 */
    bool compliance; /* some contact has E > 0 */
    bool models;     /* some contact's friction model is not all zeros */
} TalusProblemSizes;

TalusStatus talus_problem_create_empty(TalusPool *pool, TalusProblem **out);
TalusStatus talus_problem_resize(TalusProblem *problem, const TalusProblemSizes *sizes);
TalusOperator *talus_problem_operator(TalusProblem *problem);
TalusStatus talus_problem_finish(TalusProblem *problem);

/* Room for a certificate (talus_problem_certificate), [size], for the caller to fill. The problem has one then. */
TalusStatus talus_problem_reserve_certificate(TalusProblem *problem, double **out);

/* The model as operators hold it. */
TalusBlockModel talus_block_model(TalusFrictionModel model);

/* A problem that was made elsewhere, in a backend's memory (engine/engine.h): solvers work on `op` and
 * `gamma`, which stay the lender's, until the next call of this or of talus_problem_resize. What reads
 * the problem on the host is not to be called meanwhile, but for its counts. */
void talus_problem_lend(TalusProblem *problem, const TalusBackend *backend, TalusOperator *op,
                        double *gamma);

/* The lengths l that scale angular velocities, [bodies]; the filler writes them too, so that
 * physical units can be given back. */
double *talus_problem_lengths(TalusProblem *problem);

/* After a solve: v = v_f + M^-1 D gamma for all bodies, as records like op->body. */
const double (*talus_problem_velocities(TalusProblem *problem))[8];

#endif
