/* lab/lab.h - the solver laboratory behind `talus solve` and `talus bench`.
 *
 * A job is one solver on one problem. Its result is measured by talus_problem_measure, never by the solver.
 * Results are stored in DIR/results.json as they come. A key of all that defines a result lets a second call reuse
 * what the first one finished. docs/how-to/laboratory.md is the user's page. */
#ifndef TALUS_CLI_LAB_H
#define TALUS_CLI_LAB_H

#include "cli/cli.h"
#include "cli/json_out.h"

#include <talus/fclib.h>

#include <stdio.h>

enum { LAB_TEXT = 256, LAB_WORD = 16, LAB_TERMS = 512, LAB_SOLVERS = 256 };

#define LAB_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- solvers named on the command line ---- */

typedef struct LabList {
    char *text; /* memory of items that are not in the table of solvers */
    const char *item[LAB_SOLVERS];
    int count;
    const char *twice; /* a solver named twice; NULL: none */
} LabList;

/* Parses "NAME[:key=value,...][,NAME...]"; "all" stands for every algorithm of the table. A comma starts another
 * solver unless a key=value follows it. A solver named twice is listed once. */
TalusStatus lab_list_parse(const char *text, LabList *out);
void lab_list_clear(LabList *list);
/* True if this build has the solver NAME[:key=value,...]. */
bool lab_has_solver(const char *spec);

/* ---- friction ---- */

/* Parses --law and --section; NULL means ccp and disc. */
TalusStatus lab_model_parse(const char *law, const char *section, TalusFrictionModel *out);
/* Writes law and section of contacts with friction: "mixed" for several; ccp and none without friction. */
void lab_friction_text(const TalusProblem *problem, char law[LAB_WORD], char section[LAB_WORD]);
/* Parses "shift", "tresca" or "auto", optionally followed by ":every=N,share=X,refresh=N". */
TalusStatus lab_outer_parse(const char *text, TalusOuter *out);
/* Writes the outer loop as text; "" for the default. */
void lab_outer_text(const TalusOuter *outer, char text[LAB_TEXT]);

/* ---- problems ---- */

typedef struct LabProblem {
    const char *path;
    char name[LAB_TEXT]; /* the file's name without folder and suffix */
    uint64_t hash;       /* hash of the file's bytes */
    uint64_t reference_hash;
    TalusProblem *problem;
    TalusFclib *fclib;      /* NULL: the file is not FCLIB */
    bool exact;             /* Coulomb's law for all contacts with friction */
    char changed[LAB_TEXT]; /* law and section if they differ from the file's; else "" */
    int bodies;             /* 0: unknown */
    double *start;          /* impulses stored in the file; NULL: none */
    double *reference;      /* reference contact velocities; NULL: none */
    double *velocity;       /* work space of the same size */
    double offset_norm, natural_at_zero;
} LabProblem;

/* Opens a problem. `model` is that of all contacts with friction; NULL: the file's. */
TalusStatus lab_problem_open(const char *path, const TalusFrictionModel *model, TalusPool *pool,
                             LabProblem *out);
/* Uses the path, or its end, as the problem's name. */
void lab_problem_name_by_path(LabProblem *problem);
/* Reads the reference from FCLIB: /solution under Coulomb's law; else /ccp_solution or, without one, /solution. */
TalusStatus lab_problem_reference(LabProblem *problem, const char *path);
/* Solves the problem to full accuracy for a reference; NULL: prox under Coulomb's law, else an interior point. */
TalusStatus lab_problem_exact(LabProblem *problem, const char *solver);
/* |u - u_ref| / |q|; NAN without a reference. */
double lab_velocity_error(LabProblem *problem, const double *gamma);
/* Saves the problem with these impulses: as FCLIB with u and r if the file name asks for it, else as a problem file. */
TalusStatus lab_problem_save(LabProblem *problem, const double *gamma, const char *path);
void lab_problem_close(LabProblem *problem);

/* ---- results ---- */

/* Columns of a trace, which has one row per reported iterate; names as in the report. */
typedef enum LabColumn {
    LAB_ITERATION,
    LAB_APPLIES,
    LAB_SECONDS,
    LAB_OBJECTIVE,
    LAB_NATURAL,
    LAB_NATURAL_RELATIVE,
    LAB_NATURAL_MAX,
    LAB_PROJECTED_GRADIENT,
    LAB_COMPLEMENTARITY_MAX,
    LAB_PRIMAL_INFEASIBILITY,
    LAB_ACTIVE,
    LAB_ACTIVE_CHANGES,
    LAB_VELOCITY_ERROR,
    LAB_COLUMNS
} LabColumn;

/* Name of a figure, and the offset of its field in TalusMetrics. */
typedef struct LabMetric {
    const char *name;
    size_t offset; /* LAB_NO_METRIC: it is of no such field */
} LabMetric;

enum { LAB_NO_METRIC = sizeof(TalusMetrics) };

extern const LabMetric lab_columns[LAB_COLUMNS];
/* Sets the figures of `table` that are fields of the metrics, and leaves the others. */
void lab_take_metrics(const LabMetric *table, int count, const TalusMetrics *metrics, double *out);

typedef struct LabTrace {
    double (*row)[LAB_COLUMNS];
    int count, capacity;
} LabTrace;

typedef enum LabOutcome {
    LAB_CONVERGED = TALUS_OUTCOME_CONVERGED,
    LAB_BUDGET = TALUS_OUTCOME_BUDGET,
    LAB_INFEASIBLE = TALUS_OUTCOME_INFEASIBLE,
    LAB_DIVERGED = TALUS_OUTCOME_DIVERGED,
    LAB_UNSUPPORTED, /* the solver does not support the problem */
    LAB_FAILED,      /* the solve ended with an error, such as out of memory */
    LAB_OUTCOMES
} LabOutcome;

const char *lab_outcome_name(LabOutcome outcome);
/* True if the result has measured figures. */
bool lab_outcome_measured(LabOutcome outcome);

typedef enum LabResidual {
    LAB_R_PROJECTED_GRADIENT,
    LAB_R_NATURAL,
    LAB_R_COMPLEMENTARITY_MAX,
    LAB_R_PRIMAL_INFEASIBILITY,
    LAB_R_SICONOS,
    LAB_R_SICONOS_OVER_Q,
    LAB_R_VELOCITY_ERROR,
    LAB_R_NATURAL_RELATIVE,
    LAB_R_NATURAL_MAX,
    LAB_R_COMPLEMENTARITY_MEAN,
    LAB_R_COMPLEMENTARITY_STD,
    LAB_R_DUALITY_GAP,
    LAB_R_CONE_VIOLATION,
    LAB_R_DILATION,
    LAB_R_BOUND_MISMATCH,
    LAB_RESIDUALS
} LabResidual;

extern const LabMetric lab_residuals[LAB_RESIDUALS];

enum { LAB_IMPULSES = 501 }; /* points of the curve of sorted impulses */

typedef struct LabResult {
    int problem;           /* index in the set */
    char solver[LAB_TEXT]; /* as the user named it, or the label of an experiment */
    char ran[32];          /* choice of "auto"; "" for other solvers */
    char key[17];
    LabOutcome outcome;
    bool interrupted;
    char reason[512]; /* reason of the outcome; "" if obvious */
    int iterations, applies, updates, factorisations;
    double seconds, objective;
    double residual[LAB_RESIDUALS];
    double memory_bytes;
    int open, sliding, sticking;
    /* Terms of the job, as in LabJob; max_iterations 0: the file is older than these fields. */
    double tolerance, max_seconds;
    int max_iterations, threads;
    char backend[32]; /* "": the file is older than this field; means cpu */
    char law[LAB_WORD],
        section[LAB_WORD]; /* "": file is older than these fields: ccp; disc or none */
    char outer[LAB_TEXT];  /* "": default */
    bool siconos;          /* the tolerance is in Siconos's measure */
    bool warm;
    int impulse_count; /* size of the sample of sorted normal impulses */
    int impulse_rank[LAB_IMPULSES];
    double impulse[LAB_IMPULSES];
    LabTrace trace;
} LabResult;

void lab_result_clear(LabResult *result);

/* ---- running one job ---- */

typedef struct LabJob {
    const char *solver; /* NAME[:key=value,...] */
    const char *label;  /* name of the result; NULL: the solver's */
    const char *backend;
    /* Tolerance of the natural residual relative to gamma = 0, or with `siconos` in its measure; 0: none. */
    double tolerance;
    bool siconos;
    TalusOuter outer;
    int max_iterations;
    double max_seconds; /* 0: no limit */
    bool warm, trace;
} LabJob;

/* Writes the key of a result: hash of problem, reference, job, threads, version, the backend unless cpu, and law,
 * section, outer loop and measure where given. */
void lab_job_key(const LabProblem *problem, const LabJob *job, int threads, char key[17]);

/* Runs a job and leaves the impulses in the problem. Fails only if the laboratory itself fails; a failed solve is
 * a result. `quiet`: no progress display. */
TalusStatus lab_run(LabProblem *problem, const LabJob *job, bool quiet, LabResult *out);

/* Writes the terms: "to 1e-6 of the residual at zero impulses, at most 10000 iterations, from zero, 2 threads". */
void lab_terms_text(const LabResult *result, char text[LAB_TERMS]);
/* Writes the limits of a run, short enough for a table cell. */
void lab_limits_text(const LabResult *result, char text[LAB_TEXT]);
/* True if the backend was cpu. */
bool lab_on_host(const LabResult *result);
/* True if tolerance, limits, start, threads, backend and friction are equal. */
bool lab_same_terms(const LabResult *a, const LabResult *b);

/* ---- a set of results ---- */

/* A table of texts for the terminal and the page; owns copies of its cells. */
typedef struct LabTable {
    char title[LAB_TEXT];
    char note[1024];
    int columns, cells, capacity;
    char **cell; /* [cells] by rows; the first row has the headings */
} LabTable;

/* Begins a table. Tabs separate headings, and cells in the text of a row. */
void lab_table_begin(LabTable *table, const char *title, const char *headings);
/* Adds columns; call before the first row. */
void lab_table_head(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
/* Fills the next cells, row by row; nan is shown as "-". */
void lab_table_row(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
/* Fills the next cell with arbitrary text. */
void lab_table_add(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
void lab_table_print(const LabTable *table, FILE *out);
void lab_table_clear(LabTable *table);

/* Curve or points of a figure on the page; owns copies of its values. */
typedef struct LabCurve {
    char name[LAB_TEXT];
    double *x, *y;
    int count;
} LabCurve;

enum { LAB_CURVES = 32 };

typedef struct LabFigure {
    char title[LAB_TEXT], note[1024];
    char x[LAB_TEXT], y[LAB_TEXT]; /* labels of the axes */
    bool x_log, y_log, points;     /* points: marks without a line */
    LabCurve curve[LAB_CURVES];
    int curves;
} LabFigure;

/* Adds a curve; copies its points. */
void lab_figure_add(LabFigure *figure, const char *name, const double *x, const double *y,
                    int count);
void lab_figure_clear(LabFigure *figure);

enum { LAB_TABLES = 24, LAB_NOTES = 32, LAB_FIGURES = 16 };

typedef struct LabSet {
    const char *title, *kind, *dir; /* dir NULL: nothing is stored */
    const char *experiment;         /* name of the experiment; NULL: none */
    int threads;
    LabProblem *problems;
    int problem_count;
    LabResult *results;
    int result_count;
    LabTable tables[LAB_TABLES];
    int table_count;
    LabFigure *figures[LAB_FIGURES];
    int figure_count;
    char *notes[LAB_NOTES];
    int note_count;
    LabResult *stored; /* results of an earlier call, read from dir */
    int stored_count;
    char stored_title[LAB_TEXT]; /* title of that call; "": none */
    bool complete;               /* all jobs are done: stored results not asked for may go */
    double next_write;           /* earliest wall-clock time of the next results.json */
} LabSet;

/* Reads the results of an earlier call from set->dir, if any; reads none if `fresh`. */
TalusStatus lab_set_open(LabSet *set, bool fresh);
/* Takes the job's result from the earlier call, or runs the job and writes results.json unless it was written a
 * moment ago. `out` points into the set and is valid until the next call; *reused: the result is an earlier one. */
TalusStatus lab_set_run(LabSet *set, int problem, const LabJob *job, bool quiet, LabResult **out,
                        bool *reused);
/* Add an empty table, with tabs between its headings, or a figure without curves; x and y label the axes. */
LabTable *lab_set_table(LabSet *set, const char *title, const char *headings);
LabFigure *lab_set_figure(LabSet *set, const char *title, const char *x, const char *y);
/* Write DIR/results.json, for later calls and for reading, and DIR/report.html. */
#define LAB_STORE_NAME "results.json"
TalusStatus lab_store_write(const LabSet *set);
TalusStatus lab_page_write(const LabSet *set);
/* Reads the runs of DIR/results.json into set->stored, none if the file is missing. */
TalusStatus lab_store_read(LabSet *set);
/* Adds a table with a row per solver: outcomes and cost over all problems. */
const LabTable *lab_set_summary(LabSet *set);
void lab_set_note(LabSet *set, const char *format, ...) CLI_PRINTF(2, 3);
/* Adds a note if the solver is not in this build. */
void lab_note_missing(LabSet *set, const char *solver);
/* Writes results.json, trace.csv and report.html in set->dir. */
TalusStatus lab_set_write(LabSet *set);
/* Writes the traces of all results. */
TalusStatus lab_write_csv(const LabSet *set, const char *path);
/* Writes table-1.csv and so on in set->dir. */
TalusStatus lab_set_write_tables(const LabSet *set);
void lab_set_clear(LabSet *set);

/* Prints the results of a problem as a table, best first. */
void lab_print_results(const LabSet *set, int problem, FILE *out);
/* Compares by outcome, then seconds: the order of that table. */
int lab_compare(const LabResult *a, const LabResult *b);
/* Prints the answer to --json: an object, or an array of objects for several problems. */
void lab_print_json(const LabSet *set);
/* As lab_print_json, for an experiment with its tables and notes. */
void lab_print_bench_json(const LabSet *set);

#endif
