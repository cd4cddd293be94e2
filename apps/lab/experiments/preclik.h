/* lab/experiments/preclik.h - shared by preclik.c (the experiment) and preclik_claims.c (its conclusions). */
#ifndef TALUS_CLI_PRECLIK_H
#define TALUS_CLI_PRECLIK_H

#include "experiment.h"

/* Friction models; number of states of the settling spheres from which problems are taken. */
enum { FRICTIONLESS, BOX, PYRAMID, CONE, CONVEX_PYRAMID, CONVEX_CONE, MODELS, STATES = 3 };
/* Indices of two further cases, with mu 3 in place of 0.8, in the first state. */
enum { STRONG_PYRAMID = MODELS * STATES, STRONG_CONE };

/* Index of a case in the experiment. */
static inline int preclik_case(int model, int state)
{
    return state * MODELS + model;
}

#define CPG_PAPER "cpg:variant=two,metric=none"                    /* the paper's form, unscaled */
#define SSN_PLAIN "ssn:metric=none,regularise=1e-10,step_min=0.01" /* with minimal safeguards */

extern const char *const preclik_models[MODELS];

/* Residuals at which iterations of solvers are compared, relative to the residual of zero impulses. */
enum { PRECLIK_MARKS = 3 };
extern const double preclik_marks[PRECLIK_MARKS];

/* ---- preclik_claims.c: evaluation of results ---- */

/* Returns the solver's result for a model in a state, by experiment_result; NULL: none. */
const LabResult *preclik_result(const LabSet *set, int model, int state, const char *solver);
/* Iterations, at least 1, until the residual in the maximum norm is at most `mark` times that of zero impulses.
 * INFINITY: never; NAN: r is NULL. */
double preclik_iterations(const LabResult *r, double mark);
/* Gauss-Seidel sweeps in a result of gs-ssn: its iterations less its factorisations. */
int preclik_sweeps(const LabResult *r);
/* Final residual in the maximum norm, relative to that of zero impulses. */
double preclik_end(const LabResult *r);

/* The solvers of Figs. 3 and 4. */
enum { PGS, CPG, SSN, PLAIN, COMPARED };
extern const char *const preclik_compared[COMPARED];

/* Fig. 3: relation of velocity error and residual (maximum norm) over the rows of a trace after iteration 1, while the
 * residual is above 1e-6 of that of zero impulses. */
typedef struct Coupling {
    double levels;  /* correlation of the logarithms of error and residual */
    double changes; /* correlation of the changes of these logarithms between such rows */
    double spread;  /* largest value of error / residual over the smallest */
} Coupling;

/* Evaluates the trace of a result whose problem has a reference, without which there is no velocity error. */
Coupling preclik_couple(const LabResult *r);

/* Fig. 4: how the number of changes of the active set per iteration decays, over iterations 3 to 50. */
typedef struct Decay {
    /* Squared correlation of the iteration's number with log(changes + 1/2), and with the changes. */
    double exponential, linear;
} Decay;

/* Evaluates the trace of a result. */
Decay preclik_decay(const LabResult *r);

/* Adds a table of the paper's statements and of what is found here. */
void preclik_claims(LabSet *set);

#endif
