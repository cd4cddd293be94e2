/* lab/experiments/petra.h - shared by the experiments of petra-2009: worlds_petra.c runs worlds and solves single
 * steps, petra_tables.c reports them; petra.c is the experiment on one problem. */
#ifndef TALUS_CLI_PETRA_H
#define TALUS_CLI_PETRA_H

#include "worlds.h"

/* Number of sizes (numbers of pebbles) in the paper; maximum number of runs. */
enum { PETRA_SIZES = 3, PETRA_RUNS = 48 };

/* Contacts per pebble in the larger of the paper's two problems: 20,942 contacts among 1,000 pebbles. */
#define PETRA_DENSITY 20.942

typedef struct PetraMethod {
    const char *label, *spec; /* name in tables; solver as NAME[:key=value,...] */
    double tolerance; /* of the residual, relative to g h; 0: the solver's own stopping rule */
    double seconds[PETRA_SIZES]; /* limit of processor time of a run with each size; 0: no run */
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
    bool nudged; /* the start is perturbed: the pebbles, of radius 1, start 1e-9 higher */
    int pebbles;
    double limit;         /* of processor time, s */
    double threshold;     /* kinetic energy below which the run is at rest, J */
    PetraStep *step;      /* [count] */
    int count, missed;    /* steps; steps that missed their tolerance */
    bool rested;          /* false: ended by the limit of steps or processor time, or failed */
    bool failed;          /* a step ended with an error */
    double infeasibility; /* metric primal_infeasibility of the step after the last, m/s */
} PetraRun;

/* Solution of the problem of one step, by solve_next of worlds_petra.c. */
typedef struct PetraSolve {
    const PetraMethod *method;
    TalusOutcome outcome;
    int iterations;
    double seconds;       /* processor time */
    double memory;        /* peak memory of the solver alone, bytes */
    double infeasibility; /* metric primal_infeasibility, m/s */
    double residual;      /* rms, m/s */
    bool failed;          /* the solve ended with the error `why`; the figures above are 0 */
    char why[LAB_TEXT];
} PetraSolve;

typedef struct Petra {
    Worlds *w;
    PetraRun run[PETRA_RUNS];
    int runs;
    /* The wide step: one step with the paper's number of contacts per pebble, solved by every method. */
    PetraSolve wide[PETRA_RUNS];
    int wide_count;   /* number of solutions */
    int wide_pebbles; /* the most that the paper has */
    int wide_contacts;
    double wide_envelope; /* TalusWorldDef.envelope that gives these contacts */
    double wide_time;     /* simulated time of the step, s */
} Petra;

/* Returns the run of the method `label` with this number of pebbles that is not nudged; NULL: none. */
const PetraRun *petra_find_run(const Petra *p, const char *label, int pebbles);
/* Returns the mean processor time of a step, s; NAN without steps. */
double petra_mean_seconds(const PetraRun *run);
/* Returns the processor time of the longest step, s. */
double petra_longest_step(const PetraRun *run);
/* Returns the run of lowest cost among those of this size that reached rest and are not nudged; NULL: none. */
const PetraRun *petra_find_quickest(const Petra *p, int pebbles,
                                    double (*cost)(const PetraRun *run));

/* Adds tables, figures and verdicts of all runs to the set of results (petra_tables.c). */
void petra_report(const Petra *p);

#endif
