/* lab/experiments/experiment.h - the experiments of `talus bench` that repeat published comparisons of solvers.
 *
 * An experiment has cases (contact problems taken from a scene) and runs (solvers with a budget). Every run is
 * done on each of its cases. `conclude` derives from the results the figures that the paper gives. A new experiment is
 * a new row of the table in experiment.c. */
#ifndef TALUS_LAB_EXPERIMENTS_EXPERIMENT_H
#define TALUS_LAB_EXPERIMENTS_EXPERIMENT_H

#include "claims.h"

enum { BENCH_ASSIGNMENTS = 6 }; /* maximum number of assignments of a case */

/* Contact problem of the step after `at` simulated seconds of a scene. With --quick, a field quick_X is used in place
 * of the field X. */
typedef struct BenchCase {
    const char *name, *quick_name, *scene;
    double at, quick_at;
    const char *set[BENCH_ASSIGNMENTS]; /* NAME=VALUE, as for --set; NULL after the last */
    const char *quick_set[BENCH_ASSIGNMENTS];
    double heaviest_mass;         /* > 0: new mass of the heaviest body in the problem, kg */
    int contacts, quick_contacts; /* > 0: number of contacts, made by widen_world; 0: the scene's */
    const TalusFrictionModel *model; /* for all contacts with friction; NULL: the scene's */
    /* Solver whose velocities are the reference for the errors of all runs (lab_problem_solve_reference); NULL: none.
     * Under law `fixed` all runs also have the friction bounds of this solve, which come from a solution without
     * friction. */
    const char *reference_solver;
} BenchCase;

typedef struct BenchRun {
    const char *solver; /* NAME[:key=value,...] */
    int iterations;     /* maximum; divided with --quick (Experiment.quick_divisor) */
    /* Relative to the residual of zero impulses; 0: the solver does all iterations, or stops by a rule of its own. */
    double tolerance;
    bool label_iterations; /* the label in the results is "NAME ITERATIONS"; false: "NAME" */
    uint32_t cases;        /* bit i: run on case i; 0: run on all */
    const char *label;     /* NAME in the label; NULL: `solver` */
} BenchRun;

typedef struct Experiment {
    const char *name, *summary, *source;
    const BenchCase *cases;
    int case_count;
    const BenchRun *runs;
    int run_count;
    double seconds; /* limit of each run of the table; 0: none */
    /* Maximum iterations of the solvers of this build, except auto, that `runs` does not name; divided with --quick. 0:
     * these solvers are not run. */
    int other_iterations;
    int quick_divisor; /* number > 1 by which all iterations are divided with --quick; 0: 10 */
    /* Adds tables and the paper's statements to the set. All iterations were divided by `divisor`: 1 without
     * --quick. With --quick the problems differ from the paper's, so that its figures are omitted. */
    void (*conclude)(LabSet *set, int divisor);
} Experiment;

/* Initialises the members cases, case_count, runs and run_count of Experiment from two tables. */
#define EXPERIMENT_RUNS(case_table, run_table)                                      \
    .cases = (case_table), .case_count = sizeof(case_table) / sizeof *(case_table), \
    .runs = (run_table), .run_count = sizeof(run_table) / sizeof *(run_table)

int experiment_count(void);
/* Returns experiment `index` of the table. */
const Experiment *experiment_get(int index);
/* Returns the experiment of this name; NULL, after a usage message that suggests the nearest name, if there is none. */
const Experiment *experiment_find(const CliCommand *command, const char *name);

/* ---- running (experiment_run.c) ---- */

/* A run of an experiment. The problems' files are stored in the set's directory beside the results. Their names contain
 * a hash of all that defines a problem, so that a stopped experiment goes on without simulating its scenes again. */
typedef struct ExperimentSession {
    const Experiment *experiment;
    LabSet *set;
    int threads;
    bool quick, quiet, fresh;
    /* made by experiment_open */
    int divisor; /* number by which iterations are divided; 1 without --quick */
    int solved;  /* number of runs so far whose result is not a stored one */
    char **path; /* paths of the problem files, one per case */
    TalusPool *pool;
} ExperimentSession;

/* Prepares the set for the cases and adds notes on the experiment. The caller opens the set (lab_set_open) and calls
 * experiment_close, even after a failure, when the set is cleared. */
TalusStatus experiment_open(ExperimentSession *session);
/* Adds notes about missing solvers, then makes and solves the problems of all cases, until a signal. */
TalusStatus experiment_run_cases(ExperimentSession *session);
/* Adds the experiment's tables, figures and statements and writes all results; after a signal writes the results
 * alone. */
TalusStatus experiment_conclude(ExperimentSession *session);
void experiment_close(ExperimentSession *session);

/* Writes the label of a run in the results. */
void experiment_format_label(const BenchRun *run, int divisor, char label[LAB_TEXT]);

/* ---- for conclusions (conclusion.c) ---- */

/* Returns the problem's result with this label (LabResult.solver), whatever its outcome; NULL: not run. */
const LabResult *experiment_find_any_result(const LabSet *set, int problem, const char *label);
/* As experiment_find_any_result, but NULL also for a result without measured figures or trace. */
const LabResult *experiment_find_result(const LabSet *set, int problem, const char *label);
/* Returns the last row of the trace at or before this iteration, the first row if there is none; [LAB_COLUMNS]. */
const double *experiment_find_row_at(const LabResult *result, int iteration);
/* Returns the first row of the trace whose entry in `column` is at most `value`; NULL: none. */
const double *experiment_find_row_below(const LabResult *result, LabColumn column, double value);
/* Returns the smallest final objective of the problem's measured results; INFINITY: none. */
double experiment_best_objective(const LabSet *set, int problem);

/* heyn.c, preclik.c, petra.c */
extern const Experiment heyn_1, heyn_2, heyn_3, preclik, petra_opt;

#endif
