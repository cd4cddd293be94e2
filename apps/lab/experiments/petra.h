/* lab/experiments/petra.h - what the experiments of petra-2009 share: worlds_petra.c runs worlds and solves single steps,
 * petra_tables.c tells of them; petra.c is the experiment on one problem. */
#ifndef TALUS_CLI_PETRA_H
#define TALUS_CLI_PETRA_H

#include "worlds.h"

enum { PETRA_SIZES = 3, PETRA_RUNS = 48, PETRA_STEPS = 1200 };

/* Contacts of a pebble in the paper's problems: 20,942 and 20,920 among 1,000. */
#define PETRA_DENSITY 20.942

/* A solver with its tolerance, over g h; 0: it has a rule of its own. */
typedef struct PetraMethod {
    const char *label, *spec;
    double tolerance;
    double seconds; /* of the processor for a run, at most */
} PetraMethod;

typedef struct PetraStep {
    double time, kinetic;
    double seconds; /* of the processor, for the whole step */
    double memory;  /* bytes that world and solver held at most */
    double residual;
    int contacts, iterations;
} PetraStep;

/* A vessel until rest. */
typedef struct PetraRun {
    const PetraMethod *method;
    bool nudged; /* starts 1e-9 apart from the others */
    int pebbles;
    double threshold; /* of the kinetic energy at rest */
    PetraStep *step;
    int count, missed;    /* steps; those that missed their tolerance */
    bool rested;          /* else its time was over */
    double infeasibility; /* of the step after the last, m/s; NAN: not solved */
} PetraRun;

/* One step at the paper's number of contacts. */
typedef struct PetraSolve {
    const PetraMethod *method;
    TalusOutcome outcome;
    int iterations;
    double seconds, memory, infeasibility, residual;
    bool failed; /* the solve ended with an error, `why` */
    char why[LAB_TEXT];
} PetraSolve;

typedef struct Petra {
    Worlds *w;
    PetraRun run[PETRA_RUNS];
    int runs;
    PetraSolve wide[PETRA_RUNS];
    int wides, wide_pebbles, wide_contacts;
    double wide_envelope, wide_time;
} Petra;

/* NULL: there is none. */
const PetraRun *petra_find(const Petra *p, const char *label, int pebbles);
double petra_mean(const PetraRun *run); /* seconds of a step */

/* petra_tables.c: tables, figures and verdicts of what has been run. */
void petra_report(const Petra *p);

#endif
