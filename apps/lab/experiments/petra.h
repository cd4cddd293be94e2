/* lab/experiments/petra.h - shared by the experiments of petra-2009: worlds_petra.c runs worlds and solves single
 * steps, petra_tables.c reports them; petra.c is the experiment on one problem. */
#ifndef TALUS_CLI_PETRA_H
#define TALUS_CLI_PETRA_H

#include "worlds.h"

enum { PETRA_SIZES = 3, PETRA_RUNS = 48 };

/* Contacts per pebble in the larger of the paper's two problems: 20,942 contacts among 1,000 pebbles. */
#define PETRA_DENSITY 20.942

typedef struct PetraMethod {
    const char *label, *spec; /* name in tables; solver as NAME[:key=value,...] */
    double tolerance; /* of the residual, relative to g h; 0: the solver's own stopping rule */
    double seconds;   /* processor time limit of a run; see limit_of in worlds_petra.c */
} PetraMethod;

typedef struct PetraStep {
    double time, kinetic; /* simulated time, s; kinetic energy, J */
    double seconds;       /* processor time of the whole step */
    double memory;        /* peak memory of world and solver, bytes */
    double residual;      /* rms, m/s */
    int contacts, iterations;
} PetraStep;

/* Simulation of a vessel until the pebbles rest or a limit is reached. */
typedef struct PetraRun {
    const PetraMethod *method;
    bool nudged; /* perturbed: the pebbles, of radius 1, start 1e-9 higher */
    int pebbles;
    double threshold;     /* kinetic energy below which the run is at rest, J */
    PetraStep *step;      /* [count] */
    int count, missed;    /* steps; steps that missed their tolerance */
    bool rested;          /* false: ended by the limit of steps or processor time */
    double infeasibility; /* metric primal_infeasibility of the step after the last, m/s */
} PetraRun;

/* Solution of the problem of one step, by solve_next of worlds_petra.c. */
typedef struct PetraSolve {
    const PetraMethod *method;
    TalusOutcome outcome;
    int iterations;
    /* Processor time, s; peak memory of the solver alone, bytes; metric primal_infeasibility and rms residual, m/s. */
    double seconds, memory, infeasibility, residual;
    bool failed; /* the solve ended with the error `why`; the figures above are 0 */
    char why[LAB_TEXT];
} PetraSolve;

typedef struct Petra {
    Worlds *w;
    PetraRun run[PETRA_RUNS];
    int runs;
    /* The step with the paper's number of contacts per pebble, by every method; its numbers of pebbles and contacts,
     * its setting TalusWorldDef.envelope, and its time, s. */
    PetraSolve wide[PETRA_RUNS];
    int wide_count, wide_pebbles, wide_contacts;
    double wide_envelope, wide_time;
} Petra;

/* Returns the run of the method `label` with this number of pebbles that is not nudged; NULL: none. */
const PetraRun *petra_find(const Petra *p, const char *label, int pebbles);
/* Mean (NAN without steps) and maximum over the run's steps of the processor time of a step, s. */
double petra_mean(const PetraRun *run);
double petra_longest(const PetraRun *run);
/* Returns the run of lowest cost among those of this size that reached rest and are not nudged; NULL: none. */
const PetraRun *petra_quickest(const Petra *p, int pebbles, double (*cost)(const PetraRun *run));

/* Writes tables, figures and verdicts of all runs (petra_tables.c). */
void petra_report(const Petra *p);

#endif
