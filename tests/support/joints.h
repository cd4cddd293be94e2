/* support/joints.h - matrix-free problems of chains of bodies in joints, with contacts, limits, motors and springs. */
#ifndef TALUS_TESTS_SUPPORT_JOINTS_H
#define TALUS_TESTS_SUPPORT_JOINTS_H

#include "support/problems.h"

typedef struct JointOptions {
    uint64_t seed;
    int links;        /* number of bodies; the first is joined to the fixed world */
    double mu;        /* of two floor contacts at each of the last two bodies; 0: frictionless */
    double ratio;     /* factor of the last body's mass, about 1 kg for the others; 0: 1 */
    bool masks;       /* joints between links have the row masks 1 to 7 in turn, not all rows (7) */
    bool extras;      /* limits, motors with bounds small and large, springs */
    bool closed;      /* two joints hold the last body to the world, so that rows are dependent */
    double moment_mu; /* of the contacts, against spinning and rolling; > 0: 6 rows per block */
} JointOptions;

/* Blocks: contacts, then limits and motors, then those whose impulses have no bounds: springs, joints. */
TestProblem make_joints(const JointOptions *options);

/* The problem of `def`, which has 3 rows per block, as an explicit one with the matrix N + E. */
TestProblem make_joint_matrix(const TalusProblemDef *def);

/* Returns impulses that solve the problem, [size], by accelerated projected gradients on the verifier's full matrix and
 * with its projections; the caller frees them. *residual receives the verifier's rms residual, m/s. */
double *solve_densely(const TalusProblemDef *def, double *residual);

#endif
