/* lab/lab.h - the solver laboratory behind `talus solve` and `talus bench`.
 *
 * A job is one solver on one problem. Its result is measured by talus_problem_measure, never by the
 * solver. Results are kept in DIR/results.json as they come, each with a key of all that defines it,
 * so that a second call finds what the first one finished. docs/how-to/laboratory.md is the user's page. */
#ifndef TALUS_CLI_LAB_H
#define TALUS_CLI_LAB_H

#include "cli/cli.h"
#include "cli/json_out.h"

#include <talus/fclib.h>

#include <stdio.h>

enum { LAB_TEXT = 256, LAB_WORD = 16, LAB_TERMS = 512, LAB_SOLVERS = 256 };

/* ---- solvers named on the command line ---- */

typedef struct LabList {
    char *text; /* the items point into it or into the table of solvers */
    const char *item[LAB_SOLVERS];
    int count;
    const char *twice; /* one that is named again; NULL: none */
} LabList;

/* "NAME[:key=value,...][,NAME...]"; "all" stands for every algorithm of the table. A comma starts
 * another solver unless a key=value follows it. What is named twice is there once. */
TalusStatus lab_list_parse(const char *text, LabList *out);
void lab_list_clear(LabList *list);

/* ---- friction ---- */

/* --law and --section; what is NULL is ccp and disc. */
TalusStatus lab_model_parse(const char *law, const char *section, TalusFrictionModel *out);
/* The law and the section of the contacts with friction: "mixed" where they have several, ccp and none
 * where there is no such contact. */
void lab_friction_text(const TalusProblem *problem, char law[LAB_WORD], char section[LAB_WORD]);
/* "shift", "tresca" or "auto", and ":every=N,share=X,refresh=N". */
TalusStatus lab_outer_parse(const char *text, TalusOuter *out);
/* The same in words, but "" for what is so by default. */
void lab_outer_text(const TalusOuter *outer, char text[LAB_TEXT]);

/* ---- problems ---- */

typedef struct LabProblem {
    const char *path;
    char name[LAB_TEXT]; /* the file's name without folder and ending */
    uint64_t hash;       /* of the file's bytes */
    uint64_t reference_hash;
    TalusProblem *problem;
    TalusFclib *fclib;      /* NULL: the file was not FCLIB */
    bool exact;             /* the law is Coulomb's for all contacts with friction */
    char changed[LAB_TEXT]; /* law and section, where they are not the file's own; else "" */
    int bodies;             /* 0: the file does not tell */
    double *start;          /* impulses stored in the file; NULL: none */
    double *reference;      /* contact velocities to compare with; NULL: none */
    double *velocity;       /* room for as many */
    double offset_norm, natural_at_zero;
} LabProblem;

/* `model`: of all contacts with friction; NULL: the file's own. */
TalusStatus lab_problem_open(const char *path, const TalusFrictionModel *model, TalusPool *pool,
                             LabProblem *out);
/* Its path for a name, or the end of it. */
void lab_problem_name_by_path(LabProblem *problem);
/* Of an FCLIB file: /solution where the law is Coulomb's, else /ccp_solution, or where that is not,
 * /solution. */
TalusStatus lab_problem_reference(LabProblem *problem, const char *path);
/* That of the problem itself, solved to the last digits by this solver; NULL: by prox under Coulomb's law, else
 * by ipm-soc. */
TalusStatus lab_problem_exact(LabProblem *problem, const char *solver);
/* |u - u_ref| / |q|; NAN without a reference. */
double lab_velocity_error(LabProblem *problem, const double *gamma);
/* The problem with these impulses as its solution, u and r, in FCLIB's layout where the name asks for
 * it; else in our own, as the problem's impulses. */
TalusStatus lab_problem_save(LabProblem *problem, const double *gamma, const char *path);
void lab_problem_close(LabProblem *problem);

/* ---- results ---- */

/* One row per iterate shown; the names are those of the report's columns. */
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

extern const char *const lab_column_names[LAB_COLUMNS];

typedef struct LabTrace {
    double (*row)[LAB_COLUMNS];
    int count, room;
} LabTrace;

typedef enum LabOutcome {
    LAB_CONVERGED = TALUS_OUTCOME_CONVERGED,
    LAB_BUDGET = TALUS_OUTCOME_BUDGET,
    LAB_INFEASIBLE = TALUS_OUTCOME_INFEASIBLE,
    LAB_DIVERGED = TALUS_OUTCOME_DIVERGED,
    LAB_UNSUPPORTED, /* the solver does not take the problem */
    LAB_FAILED,      /* the solve ended with an error, such as no memory */
    LAB_OUTCOMES
} LabOutcome;

const char *lab_outcome_name(LabOutcome outcome);
/* Whether there are figures. */
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

extern const char *const lab_residual_names[LAB_RESIDUALS];

enum { LAB_IMPULSES = 501 }; /* points of the curve of sorted impulses */

typedef struct LabResult {
    int problem;           /* its number in the set */
    char solver[LAB_TEXT]; /* as the user named it, or the label of an experiment */
    char ran[32];          /* what "auto" chose; "" for all others */
    char key[17];
    LabOutcome outcome;
    bool interrupted;
    char reason[512]; /* why there is no better outcome; "" where that is plain */
    int iterations, applies, updates, factorisations;
    double seconds, objective;
    double residual[LAB_RESIDUALS];
    double memory_bytes;
    int open, sliding, sticking;
    /* The terms of the job, as there; max_iterations 0: a file of before they were kept. */
    double tolerance, max_seconds;
    int max_iterations, threads;
    char backend[32]; /* "": a file of before it was kept, which is cpu */
    char law[LAB_WORD],
        section[LAB_WORD]; /* "": a file of before they were kept: ccp, on disc or none */
    char outer[LAB_TEXT];  /* "": by default */
    bool siconos;          /* the tolerance is in Siconos's measure */
    bool warm;
    int impulse_count; /* normal impulses in ascending order, a sample of them */
    int impulse_rank[LAB_IMPULSES];
    double impulse[LAB_IMPULSES];
    LabTrace trace;
} LabResult;

void lab_result_clear(LabResult *result);

/* ---- running one job ---- */

typedef struct LabJob {
    const char *solver;  /* NAME[:key=value,...] */
    const char *label;   /* what the result is called; NULL: as the solver */
    const char *backend; /* NULL: cpu */
    double tolerance; /* of the natural residual, relative to gamma = 0, or with `siconos` in that
                            measure; 0: the whole budget */
    bool siconos;
    TalusOuter outer;
    int max_iterations;
    double max_seconds; /* 0: no limit */
    bool warm, trace;
} LabJob;

/* Where a job runs. */
const char *lab_job_backend(const LabJob *job);
/* The key of a result: problem, reference, job, threads, version and, unless it is cpu, backend; and what
 * is asked for of law, section, outer loop and measure. */
void lab_job_key(const LabProblem *problem, const LabJob *job, int threads, char key[17]);

/* Leaves the impulses in the problem. Fails only where the laboratory itself fails; a solve that
 * fails is a result. `quiet`: draw no progress. */
TalusStatus lab_run(LabProblem *problem, const LabJob *job, bool quiet, LabResult *out);

/* In words, such as "to 1e-6 of the residual at zero impulses, at most 10000 iterations, from zero,
 * 2 threads". */
void lab_terms_text(const LabResult *result, char text[LAB_TERMS]);
/* Where a run ends, in the width of a cell. */
void lab_limits_text(const LabResult *result, char text[LAB_TEXT]);
bool lab_on_host(const LabResult *result);
bool lab_same_terms(const LabResult *a, const LabResult *b);

/* ---- a set of results ---- */

/* A table in words, for the terminal and the page. Cells are copied. */
typedef struct LabTable {
    char title[LAB_TEXT];
    char note[1024];
    int columns, cells, room;
    char **cell; /* [cells], row after row, the first row the headings */
} LabTable;

/* Tabs separate headings, and cells in the text of a row. */
void lab_table_begin(LabTable *table, const char *title, const char *headings);
/* More columns, before the first row. */
void lab_table_head(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
/* Fills the next cells, row by row; a number that is none (nan) is shown as "-". */
void lab_table_row(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
/* Fills the next cell with any text. */
void lab_table_add(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
void lab_table_print(const LabTable *table, FILE *out);
void lab_table_clear(LabTable *table);

/* Curves or points for the page, beside those that it draws of runs. Values are copied. */
typedef struct LabCurve {
    char name[LAB_TEXT];
    double *x, *y;
    int count;
} LabCurve;

enum { LAB_CURVES = 32 };

typedef struct LabFigure {
    char title[LAB_TEXT], note[1024];
    char x[LAB_TEXT], y[LAB_TEXT]; /* labels of the axes */
    bool x_log, y_log, points;     /* points: marks that no line joins */
    LabCurve curve[LAB_CURVES];
    int curves;
} LabFigure;

void lab_figure_add(LabFigure *figure, const char *name, const double *x, const double *y,
                    int count);
void lab_figure_clear(LabFigure *figure);

enum { LAB_TABLES = 24, LAB_NOTES = 32, LAB_FIGURES = 16 };

typedef struct LabSet {
    const char *title, *kind, *dir; /* dir NULL: nothing is kept */
    const char *experiment;         /* its name; NULL: none */
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
    LabResult *stored; /* results of an earlier call, found in dir */
    int stored_count;
    char stored_title[LAB_TEXT]; /* of that call; "": none */
    bool complete;     /* every job is done: what is stored and was not asked for may go */
    double next_write; /* wall clock: results.json is not written before */
} LabSet;

/* Reads what an earlier call left in set->dir; with `fresh`, or where there is nothing, nothing. */
TalusStatus lab_set_open(LabSet *set, bool fresh);
/* Takes the job's result from the earlier call, or runs it and, unless it did so a moment ago, writes
 * results.json. `out` is in the set and valid until the next call; *kept: it was not run now. */
TalusStatus lab_set_run(LabSet *set, int problem, const LabJob *job, bool quiet, LabResult **out,
                        bool *kept);
LabTable *lab_set_table(LabSet *set, const char *title, const char *headings);
LabFigure *lab_set_figure(LabSet *set, const char *title, const char *x, const char *y);
/* A table of the set with a row per solver: outcomes and cost over all problems. */
const LabTable *lab_set_summary(LabSet *set);
void lab_set_note(LabSet *set, const char *format, ...) CLI_PRINTF(2, 3);
/* results.json, trace.csv and report.html in set->dir. */
TalusStatus lab_set_write(LabSet *set);
TalusStatus lab_write_csv(const LabSet *set, const char *path);
/* table-1.csv and so on, in set->dir. */
TalusStatus lab_set_write_tables(const LabSet *set);
void lab_set_clear(LabSet *set);

/* The results of a problem as a table, best first. */
void lab_print_results(const LabSet *set, int problem, FILE *out);
/* The order of that table: outcome, then seconds. */
int lab_compare(const LabResult *a, const LabResult *b);
/* The answer to --json: an object, or an array of objects for several problems. */
void lab_print_json(const LabSet *set);
/* The same of an experiment, with its tables and notes. */
void lab_print_bench_json(const LabSet *set);

#endif
