/* lab/experiments/experiment.h - the experiments of `talus bench` that repeat published comparisons of solvers.
 *
 * An experiment has cases (contact problems taken from a scene) and runs (solvers with a budget). Every run is
 * done on each of its cases. `conclude` derives from the results the figures that the paper gives. A new experiment is
 * a new row of the table in experiment.c. */
#ifndef TALUS_CLI_EXPERIMENT_H
#define TALUS_CLI_EXPERIMENT_H

#include "lab/lab.h"

enum { BENCH_SETS = 6 };

/* Contact problem of the step after `at` simulated seconds of a scene. With --quick, a field quick_X is used in place
 * of the field X. */
typedef struct BenchCase {
    const char *name, *quick_name, *scene;
    double at, quick_at;
    const char *set[BENCH_SETS]; /* NAME=VALUE, as for --set; NULL after the last */
    const char *quick_set[BENCH_SETS];
    double heaviest;              /* > 0: new mass of the heaviest body, kg */
    int contacts, quick_contacts; /* > 0: contacts of the problem, by widen_world; 0: the scene's */
    const TalusFrictionModel *model; /* for all contacts with friction; NULL: the scene's */
    /* Solver that is run first, by lab_problem_solve_reference; NULL: none. Its velocities are the reference for the errors of
     * all runs. Under law `fixed` all runs have the friction bounds of its solve, which come from a solution without
     * friction. */
    const char *exact;
} BenchCase;

typedef struct BenchRun {
    const char *solver; /* NAME[:key=value,...] */
    int iterations;     /* maximum; a tenth of it with --quick */
    /* Relative to the residual of zero impulses; 0: all iterations are done unless the solver has a rule of its own. */
    double tolerance;
    bool counted;   /* the label in the results is solver and iterations; false: the solver */
    uint32_t cases; /* bit i: run on case i; 0: run on all */
} BenchRun;

typedef struct Experiment {
    const char *name, *summary, *source;
    const BenchCase *cases;
    int case_count;
    const BenchRun *runs;
    int run_count;
    double seconds; /* limit of each run of the table; 0: none */
    /* Maximum iterations of each solver of the build, except auto, that `runs` does not name, a tenth of it with
     * --quick; 0: these are not run. */
    int others;
    /* Adds tables and statements to the set. `divisor`, by which all iterations were divided, is 1, or 10 with --quick.
     * With --quick the problems differ from the paper's, so the paper's figures and statements are omitted. */
    void (*conclude)(LabSet *set, int divisor);
} Experiment;

/* Initialises the members for a table of cases and a table of runs. */
#define EXPERIMENT_RUNS(case_table, run_table)                                      \
    .cases = (case_table), .case_count = sizeof(case_table) / sizeof *(case_table), \
    .runs = (run_table), .run_count = sizeof(run_table) / sizeof *(run_table)

/* Number of experiments in the table, and experiment `index` of it. */
int experiment_count(void);
const Experiment *experiment_row(int index);
/* Returns the experiment of this name; NULL, after a usage message that suggests the nearest name, if there is none. */
const Experiment *experiment_find(const CliCommand *command, const char *name);

/* Writes the label of a run in the results. */
void experiment_label(const BenchRun *run, int divisor, char label[LAB_TEXT]);

/* ---- for conclusions (conclusion.c) ---- */

/* Returns the problem's result with this label (LabResult.solver), whatever its outcome; NULL: not run. */
const LabResult *experiment_any_result(const LabSet *set, int problem, const char *label);
/* As experiment_any_result, but NULL also for a result without measured figures or trace. */
const LabResult *experiment_result(const LabSet *set, int problem, const char *label);
/* Returns the last row of the trace at or before this iteration, the first row if there is none; [LAB_COLUMNS]. */
const double *experiment_row_at(const LabResult *result, int iteration);
/* Returns the first row of the trace whose entry in `column` is at most `value`; NULL: none. */
const double *experiment_row_below(const LabResult *result, LabColumn column, double value);
/* Smallest final objective of the problem's measured results; INFINITY: none. */
double experiment_best(const LabSet *set, int problem);

/* Adds an empty table for statements of the paper and what is found here. */
LabTable *experiment_claims(LabSet *set);
/* Adds a row to that table: the statement, about the case or model `subject` ("": none); whether it holds, a word such
 * as "in part"; the formatted finding. experiment_claim and experiment_claim_of take true or false for `holds`. */
void experiment_verdict(LabTable *claims, const char *subject, const char *statement,
                        const char *holds, const char *format, ...) CLI_PRINTF(5, 6);
#define experiment_claim_of(claims, subject, statement, holds, ...) \
    experiment_verdict(claims, subject, statement, (holds) ? "yes" : "no", __VA_ARGS__)
#define experiment_claim(claims, statement, holds, ...) \
    experiment_claim_of(claims, "", statement, holds, __VA_ARGS__)

/* heyn.c, preclik.c, petra.c */
extern const Experiment heyn_1, heyn_2, heyn_3, preclik, petra_opt;

#endif
