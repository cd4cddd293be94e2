/* lab/experiments/petra.h - shared by the experiments of petra-2009: worlds_petra.c runs worlds and solves single
 * steps, petra_tables.c reports them; petra.c is the experiment on one problem. */
#ifndef TALUS_CLI_PETRA_H
#define TALUS_CLI_PETRA_H

#include "worlds.h"

enum { PETRA_SIZES = 3, PETRA_RUNS = 48, PETRA_STEPS = 1200 };

/* Contacts per pebble in the paper: its problems have 20,942 and 20,920 contacts among 1,000 pebbles. */
#define PETRA_DENSITY 20.942

/* A solver with its tolerance relative to g h; 0: the solver's own rule. */
typedef struct PetraMethod {
    const char *label, *spec;
    double tolerance;
    double seconds; /* processor time limit of a run */
} PetraMethod;

typedef struct PetraStep {
    double time, kinetic;
    double seconds; /* processor time of the whole step */
    double memory;  /* peak memory of world and solver, bytes */
    double residual;
    int contacts, iterations;
} PetraStep;

/* Run of a vessel until rest. */
typedef struct PetraRun {
    const PetraMethod *method;
    bool nudged; /* the pebbles start 1e-9 higher */
    int pebbles;
    double threshold; /* kinetic energy below which the run is at rest */
    PetraStep *step;
    int count, missed;    /* steps; steps that missed their tolerance */
    bool rested;          /* false: the time was over */
    double infeasibility; /* of the step after the last, m/s; NAN: not solved */
} PetraRun;

/* One step at the paper's number of contacts. */
typedef struct PetraSolve {
    const PetraMethod *method;
    TalusOutcome outcome;
    int iterations;
    double seconds, memory, infeasibility, residual;
    bool failed; /* the solve ended with the error `why` */
    char why[LAB_TEXT];
} PetraSolve;

typedef struct Petra {
    Worlds *w;
    PetraRun run[PETRA_RUNS];
    int runs;
    PetraSolve wide[PETRA_RUNS];
    int wide_count, wide_pebbles, wide_contacts;
    double wide_envelope, wide_time;
} Petra;

/* Returns NULL if there is none. */
const PetraRun *petra_find(const Petra *p, const char *label, int pebbles);
/* Mean and maximum of the seconds of a step. */
double petra_mean(const PetraRun *run);
double petra_longest(const PetraRun *run);
/* Returns the run to rest, not nudged, of the lowest cost; NULL: none. */
const PetraRun *petra_quickest(const Petra *p, int pebbles, double (*cost)(const PetraRun *run));

/* Writes tables, figures and verdicts of all runs (petra_tables.c). */
void petra_report(const Petra *p);

#endif
