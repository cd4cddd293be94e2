/* lab/experiments/experiment.h - the experiments of `talus bench`: what they solve, how, and what they conclude.
 *
 * An experiment has cases, each a contact problem taken from a scene, and runs, each a solver with a
 * budget; every run is done on every case that it is for. What the paper reports about it is worked out from the
 * results by `conclude`. A new experiment is a new row of the table in experiment.c. */
#ifndef TALUS_CLI_EXPERIMENT_H
#define TALUS_CLI_EXPERIMENT_H

#include "lab/lab.h"

enum { BENCH_SETS = 6 };

/* The problem of the step after `at` seconds of a scene; quick_...: with --quick. */
typedef struct BenchCase {
    const char *name, *quick_name, *scene;
    double at, quick_at;
    const char *set[BENCH_SETS]; /* NAME=VALUE, as for --set */
    const char *quick_set[BENCH_SETS];
    double heaviest;                 /* > 0: the mass of the heaviest body is then made this */
    int contacts, quick_contacts;    /* > 0: the envelope is widened until there are so many */
    const TalusFrictionModel *model; /* of all contacts with friction; NULL: the scene's */
    const char
        *exact; /* the solver that is run before all others to the last digits: its velocities are
                          what errors are measured against, and bounds of the law `fixed` are its; NULL: none */
} BenchCase;

typedef struct BenchRun {
    const char *solver; /* NAME[:key=value,...] */
    int iterations;     /* at most; with --quick, a tenth */
    double tolerance;   /* relative, 0: all iterations */
    bool counted;       /* the label tells the iterations */
    uint32_t cases;     /* bit i: on case i; 0: on all */
} BenchRun;

typedef struct Experiment {
    const char *name, *summary, *source;
    const BenchCase *cases;
    int case_count;
    const BenchRun *runs;
    int run_count;
    double seconds; /* of a run that is named, at most; 0: no limit */
    int others; /* iterations of every solver of the table that the runs do not name; 0: they rest */
    /* divisor: of all iterations; 10 with --quick, and then the paper's figures and statements, which
     * are of other problems, are left out. */
    void (*conclude)(LabSet *set, int divisor);
} Experiment;

/* The members of a table of cases and a table of runs. */
#define EXPERIMENT_RUNS(case_table, run_table)                                      \
    .cases = (case_table), .case_count = sizeof(case_table) / sizeof *(case_table), \
    .runs = (run_table), .run_count = sizeof(run_table) / sizeof *(run_table)

int experiment_count(void);
const Experiment *experiment_row(int index);
/* NULL with a message of wrong usage, the nearest name in it. */
const Experiment *experiment_find(const CliCommand *command, const char *name);

/* What a run is called in results. */
void experiment_label(const BenchRun *run, int divisor, char label[LAB_TEXT]);

/* ---- for conclusions (conclusion.c) ---- */

/* The result of that label; NULL: not run or not measured. */
const LabResult *experiment_result(const LabSet *set, int problem, const char *label);
/* The last row of its trace up to this iteration. */
const double *experiment_row_at(const LabResult *result, int iteration);
/* The first row whose column is at most `value`; NULL: none. */
const double *experiment_row_below(const LabResult *result, LabColumn column, double value);
/* The smallest objective that any solver reached on the problem. */
double experiment_best(const LabSet *set, int problem);

/* A table of the paper's statements, each with what is found here. */
LabTable *experiment_claims(LabSet *set);
/* `holds`: a word such as "in part"; of a claim true or false. */
void experiment_verdict(LabTable *claims, const char *statement, const char *holds,
                        const char *format, ...) CLI_PRINTF(4, 5);
#define experiment_claim(claims, statement, holds, ...) \
    experiment_verdict(claims, statement, (holds) ? "yes" : "no", __VA_ARGS__)

/* heyn.c, preclik.c, petra.c */
extern const Experiment heyn_1, heyn_2, heyn_3, preclik, petra_opt;

#endif
