/* lab/experiments/preclik.h - what preclik.c, the experiment, and preclik_claims.c, its conclusions, share. */
#ifndef TALUS_CLI_PRECLIK_H
#define TALUS_CLI_PRECLIK_H

#include "experiment.h"

enum { FRICTIONLESS, BOX, PYRAMID, CONE, CONVEX_PYRAMID, CONVEX_CONE, MODELS, STATES = 3 };
/* Strong friction, one state. */
enum { STRONG_PYRAMID = MODELS * STATES, STRONG_CONE };

static inline int preclik_case(int model, int state)
{
    return state * MODELS + model;
}

#define CPG_PAPER "cpg:variant=two,metric=none"
#define SSN_PLAIN "ssn:metric=none,regularise=1e-10,step_min=0.01" /* with the least of our own */

extern const char *const preclik_models[MODELS];

enum { PRECLIK_MARKS = 3 };
extern const double preclik_marks[PRECLIK_MARKS]; /* of the residual of zero impulses */

/* ---- preclik_claims.c: what is read from results ---- */

/* NULL: there is none. */
const LabResult *preclik_result(const LabSet *set, int model, int state, const char *solver);
/* Until the maximum norm has fallen so far. INFINITY: not in its iterations; NAN: there is no result. */
double preclik_iterations(const LabResult *r, double mark);
/* Iterations of gs-ssn that took no factorisation. */
int preclik_sweeps(const LabResult *r);
/* The maximum norm at the end, relative to zero impulses. */
double preclik_end(const LabResult *r);

/* The solvers of Figs. 3 and 4. */
enum { PGS, CPG, SSN, PLAIN, COMPARED };
extern const char *const preclik_compared[COMPARED];

/* Fig. 3: how the velocity error goes with the residual. */
typedef struct Coupling {
    double levels;  /* correlation of their logarithms, */
    double changes; /*   and of the changes of these from row to row */
    double spread;  /* largest over smallest ratio of the two */
} Coupling;

Coupling preclik_couple(const LabResult *r);

/* Fig. 4: the course of the changes of the active set. */
typedef struct Decay {
    double exponential, linear; /* squared correlation with log(changes + 1/2), with the changes */
} Decay;

Decay preclik_decay(const LabResult *r);

/* The paper's statements, each with what is found here. */
void preclik_claims(LabSet *set);

#endif
