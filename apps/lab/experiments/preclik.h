/* lab/experiments/preclik.h - shared by preclik.c (the experiment), preclik_figures.c (its plots), preclik_claims.c and
 * preclik_newton.c (its conclusions). */
#ifndef TALUS_LAB_EXPERIMENTS_PRECLIK_H
#define TALUS_LAB_EXPERIMENTS_PRECLIK_H

#include "experiment.h"

/* Friction models of the cases; STATES: number of states of the settling spheres from which problems are taken. */
enum { FRICTIONLESS, BOX, PYRAMID, CONE, CONVEX_PYRAMID, CONVEX_CONE, MODELS, STATES = 3 };
/* Indices of two further cases, with mu 3 in place of 0.8, in the first state, and of the first of STATES small ones
 * each with two of the models, for methods with dense matrices. */
enum {
    STRONG_PYRAMID = MODELS * STATES,
    STRONG_CONE,
    SMALL_PYRAMID,
    SMALL_CONVEX = SMALL_PYRAMID + STATES
};

/* Returns the index of the case of a model in a state. */
static inline int preclik_case_index(int model, int state)
{
    return state * MODELS + model;
}

#define CPG_PAPER "cpg:variant=two,metric=none"           /* the paper's form, unscaled */
#define CPG_ONE "cpg:metric=none"                         /* the same with one product */
#define AMG_REJECT "amg:correction=reject,truncate=off"   /* the paper's form */
#define AMG_PROJECT "amg:correction=project,truncate=off" /* the other that the paper names */
#define SSN_PLAIN "ssn:metric=none,regularise=1e-10,step_min=0.01" /* with the fewest safeguards */

extern const char *const preclik_models[MODELS];

/* Residuals at which iterations of solvers are compared, relative to the residual of zero impulses. */
enum { PRECLIK_MARKS = 3 };
extern const double preclik_marks[PRECLIK_MARKS];

/* ---- preclik_claims.c: evaluation of results ---- */

/* Returns the solver's result for a model in a state, by experiment_find_result; NULL: none. */
const LabResult *preclik_find_result(const LabSet *set, int model, int state, const char *solver);
/* Returns the iterations, at least 1, until the residual in the maximum norm is at most `mark` times that of zero
 * impulses. INFINITY: never; NAN: r is NULL. */
double preclik_count_iterations(const LabResult *r, double mark);
/* Returns the number of Gauss-Seidel sweeps in a result of gs-ssn: its iterations minus its factorisations. */
int preclik_count_sweeps(const LabResult *r);
/* Returns the final residual in the maximum norm over that of zero impulses. */
double preclik_final_residual(const LabResult *r);

/* The solvers of Figs. 3 and 4: the paper's PGS, CPG and Newton, then CPG and Newton with our parameters. */
enum { PGS, CPG, PLAIN, CPG_OURS, SSN, COMPARED };
extern const char *const preclik_compared[COMPARED];

/* Fig. 3: how velocity error and residual (maximum norm) are related, over those rows of a trace after iteration 1
 * whose error is above 0 and whose residual is above 1e-6 of that of zero impulses. */
typedef struct Coupling {
    double levels;  /* correlation of the logarithms of error and residual */
    double changes; /* correlation of the changes of these logarithms from row to row */
    double spread;  /* largest value of error / residual over the smallest */
} Coupling;

/* Evaluates the trace of a result; its problem must have a reference, so that there are velocity errors. */
Coupling preclik_find_coupling(const LabResult *r);

/* Fig. 4: how the number of changes of the active set per iteration decays, over iterations 3 to 50. */
typedef struct Decay {
    double exponential; /* squared correlation of iteration and log(changes + 1/2) */
    double linear;      /* squared correlation of iteration and changes */
} Decay;

/* Evaluates the trace of a result. */
Decay preclik_find_decay(const LabResult *r);

/* Adds the paper's statements, but those about Newton's method, each judged by the results. */
void preclik_add_claims(LabSet *set);

/* ---- preclik_newton.c ---- */

/* Adds the statements about Newton's method. */
void preclik_add_newton_claims(LabSet *set);

/* ---- preclik_figures.c ---- */

/* Adds plots of the paper's Figs. 2 to 4, of the first state. */
void preclik_add_figures(LabSet *set);

#endif
