/* lab/experiments/experiment.h - the experiments of `talus bench`: problems, solvers and conclusions.
 *
 * An experiment has cases (contact problems taken from a scene) and runs (solvers with a budget). Every run is
 * done on each of its cases. `conclude` derives the paper's figures from the results. A new experiment is a new
 * row of the table in experiment.c. */
#ifndef TALUS_CLI_EXPERIMENT_H
#define TALUS_CLI_EXPERIMENT_H

#include "lab/lab.h"

enum { BENCH_SETS = 6 };

/* Contact problem of the step after `at` seconds of a scene; quick_... fields replace theirs with --quick. */
typedef struct BenchCase {
    const char *name, *quick_name, *scene;
    double at, quick_at;
    const char *set[BENCH_SETS]; /* NAME=VALUE, as for --set */
    const char *quick_set[BENCH_SETS];
    double heaviest;                 /* > 0: new mass of the heaviest body, kg */
    int contacts, quick_contacts;    /* > 0: the envelope is widened to give this number */
    const TalusFrictionModel *model; /* for all contacts with friction; NULL: the scene's */
    /* Solver that is run first, to full accuracy; NULL: none. Its velocities are the reference of errors, and its
     * impulses give the bounds of law `fixed`. */
    const char *exact;
} BenchCase;

typedef struct BenchRun {
    const char *solver; /* NAME[:key=value,...] */
    int iterations;     /* maximum; a tenth of it with --quick */
    double tolerance;   /* relative; 0: all iterations */
    bool counted;       /* the label contains the iterations */
    uint32_t cases;     /* bit i: run on case i; 0: run on all */
} BenchRun;

typedef struct Experiment {
    const char *name, *summary, *source;
    const BenchCase *cases;
    int case_count;
    const BenchRun *runs;
    int run_count;
    double seconds; /* limit of a named run; 0: none */
    int others;     /* iterations of each solver that the runs do not name; 0: not run */
    /* `divisor` divides all iterations: 10 with --quick. Then the problems differ from the paper's, so the paper's
     * figures and statements are omitted. */
    void (*conclude)(LabSet *set, int divisor);
} Experiment;

/* Initialises the members for a table of cases and a table of runs. */
#define EXPERIMENT_RUNS(case_table, run_table)                                      \
    .cases = (case_table), .case_count = sizeof(case_table) / sizeof *(case_table), \
    .runs = (run_table), .run_count = sizeof(run_table) / sizeof *(run_table)

/* The table of experiments that solve problems. */
int experiment_count(void);
const Experiment *experiment_row(int index);
/* Returns NULL if there is none, with a usage message that suggests the nearest name. */
const Experiment *experiment_find(const CliCommand *command, const char *name);

/* Writes the label of a run in the results. */
void experiment_label(const BenchRun *run, int divisor, char label[LAB_TEXT]);

/* ---- for conclusions (conclusion.c) ---- */

/* Returns the result with this label, whatever its outcome; NULL: not run. */
const LabResult *experiment_any_result(const LabSet *set, int problem, const char *label);
/* As experiment_any_result, but NULL also for a result without measured figures. */
const LabResult *experiment_result(const LabSet *set, int problem, const char *label);
/* Last row of the trace at or before this iteration. */
const double *experiment_row_at(const LabResult *result, int iteration);
/* First row whose column is at most `value`; NULL: none. */
const double *experiment_row_below(const LabResult *result, LabColumn column, double value);
/* Smallest objective that any solver reached on the problem. */
double experiment_best(const LabSet *set, int problem);

/* Adds a table of the paper's statements and the findings here. */
LabTable *experiment_claims(LabSet *set);
/* Adds a statement about a case or model, "" for none. `holds` is a word such as "in part"; experiment_claim and
 * experiment_claim_of take true or false. */
void experiment_verdict(LabTable *claims, const char *subject, const char *statement,
                        const char *holds, const char *format, ...) CLI_PRINTF(5, 6);
#define experiment_claim_of(claims, subject, statement, holds, ...) \
    experiment_verdict(claims, subject, statement, (holds) ? "yes" : "no", __VA_ARGS__)
#define experiment_claim(claims, statement, holds, ...) \
    experiment_claim_of(claims, "", statement, holds, __VA_ARGS__)

/* heyn.c, preclik.c, petra.c */
extern const Experiment heyn_1, heyn_2, heyn_3, preclik, petra_opt;

#endif
