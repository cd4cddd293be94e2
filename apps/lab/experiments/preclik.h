/* lab/experiments/preclik.h - shared by preclik.c (the experiment) and preclik_claims.c (its conclusions). */
#ifndef TALUS_CLI_PRECLIK_H
#define TALUS_CLI_PRECLIK_H

#include "experiment.h"

enum { FRICTIONLESS, BOX, PYRAMID, CONE, CONVEX_PYRAMID, CONVEX_CONE, MODELS, STATES = 3 };
/* Cases with strong friction, in one state. */
enum { STRONG_PYRAMID = MODELS * STATES, STRONG_CONE };

static inline int preclik_case(int model, int state)
{
    return state * MODELS + model;
}

#define CPG_PAPER "cpg:variant=two,metric=none"
#define SSN_PLAIN "ssn:metric=none,regularise=1e-10,step_min=0.01" /* with minimal safeguards */

extern const char *const preclik_models[MODELS];

enum { PRECLIK_MARKS = 3 };
extern const double preclik_marks[PRECLIK_MARKS]; /* relative to the residual of zero impulses */

/* ---- preclik_claims.c: evaluation of results ---- */

/* Returns NULL if there is none. */
const LabResult *preclik_result(const LabSet *set, int model, int state, const char *solver);
/* Iterations until the maximum norm falls to `mark`. INFINITY: never; NAN: no result. */
double preclik_iterations(const LabResult *r, double mark);
/* Iterations of gs-ssn without a factorisation. */
int preclik_sweeps(const LabResult *r);
/* Final maximum norm, relative to that of zero impulses. */
double preclik_end(const LabResult *r);

/* The solvers of Figs. 3 and 4. */
enum { PGS, CPG, SSN, PLAIN, COMPARED };
extern const char *const preclik_compared[COMPARED];

/* Fig. 3: relation of velocity error and residual. */
typedef struct Coupling {
    double levels;  /* correlation of their logarithms */
    double changes; /* correlation of the changes of their logarithms between rows */
    double spread;  /* largest over smallest ratio of error and residual */
} Coupling;

/* Evaluates the trace of a result with a reference. */
Coupling preclik_couple(const LabResult *r);

/* Fig. 4: decay of the changes of the active set. */
typedef struct Decay {
    double exponential, linear; /* squared correlation with log(changes + 1/2); with changes */
} Decay;

/* Evaluates the trace of a result. */
Decay preclik_decay(const LabResult *r);

/* Adds the paper's statements and the findings here. */
void preclik_claims(LabSet *set);

#endif
