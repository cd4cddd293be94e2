/* Chains of bodies in joints, with contacts, limits, motors and springs, as problems. */
#ifndef TALUS_TESTS_SUPPORT_JOINTS_H
#define TALUS_TESTS_SUPPORT_JOINTS_H

#include "support/problems.h"

typedef struct JointOptions {
    uint64_t seed;
    int links;        /* bodies, hung up at the first */
    double mu;        /* of the contacts at the last two with the floor; 0: frictionless */
    double ratio;     /* mass of the last over that of the others; 0: 1 */
    bool masks;       /* joints between links have the rows 1 to 7 in turn, not all three */
    bool extras;      /* limits, motors with bounds small and large, springs */
    bool closed;      /* the last link hangs too, twice: rows that depend on each other */
    double moment_mu; /* of the contacts, against spinning and rolling */
} JointOptions;

/* Contacts first, then limits and motors, then what is free: springs, joints. */
TestProblem make_joints(const JointOptions *options);

/* The same with N + E written out; 3 rows. */
TestProblem make_joint_matrix(const TalusProblemDef *def);

/* Impulses that solve it, [size], by accelerated projected gradients on the verifier's full matrix and with
 * its projections; the caller frees them. `residual` is the verifier's. */
double *solve_densely(const TalusProblemDef *def, double *residual);

#endif
