/* lab/experiments/negrut.h - shared by worlds_negrut.c, which runs the hourglass of negrut-2009, and negrut_claims.c, which
 * judges the paper's statements. */
#ifndef TALUS_LAB_EXPERIMENTS_NEGRUT_H
#define TALUS_LAB_EXPERIMENTS_NEGRUT_H

#include "worlds.h"

enum { NEGRUT_STEPS = 18000 }; /* of the paper, three minutes */

/* Methods of the runs; that of the GPU alone has no run without one. */
enum {
    NEGRUT_FORWARD,
    NEGRUT_SHUFFLED,
    NEGRUT_UNSYNCHRONISED,
    NEGRUT_COLOURED,
    NEGRUT_GPU_UNSYNCHRONISED,
    NEGRUT_JACOBI,
    NEGRUT_APGD,
    NEGRUT_METHODS
};

/* Figures of one run, most of them over its steps. */
typedef struct NegrutRun {
    int steps, bodies, threads;  /* no steps: there is no such run */
    double seconds, solve_share; /* wall clock of all steps; share of the solves in it */
    double emptied;  /* time at which the upper bulb was empty, s; NAN: not within the run */
    double contacts; /* median */
    double mean, mean_most, worst; /* overlap over size: median and largest of the means, largest */
    double residual, residual_most; /* rms over g h: median and largest */
    double late;                    /* largest of the second half of the steps */
    double *time, *overlap;         /* [steps]: the curve of the mean overlap */
} NegrutRun;

typedef struct Negrut {
    Worlds *w;
    NegrutRun run[NEGRUT_METHODS];
} Negrut;

enum { NEGRUT_OMEGAS = 4 };
extern const double negrut_omegas[NEGRUT_OMEGAS];

/* Runs with these values of omega, in the order of the list and in random order. */
typedef struct NegrutOmegaRuns {
    NegrutRun run[2][NEGRUT_OMEGAS];
} NegrutOmegaRuns;

/* True if residuals stay bounded in the steps of a run: once spheres rest on each other, residuals stay below g h, which is
 * what contacts at rest have without any iteration. A method that diverges raises them from step to step, as each starts
 * from the impulses of the one before. */
bool negrut_stays_bounded(const NegrutRun *run);

/* Adds the statements of the paper. */
void negrut_judge(const Negrut *n, const NegrutOmegaRuns *runs);

#endif
