/* lab/lab.h - the solver laboratory behind `talus solve` and `talus bench`.
 *
 * A job is one solver on one problem. Objective, residuals and numbers of open, sliding and sticking blocks in its
 * result come from talus_problem_measure, never from the solver. Results are stored in results.json while jobs run,
 * each with a key, a hash of everything that determines it (lab_job_key). A later call takes results with equal keys
 * from there and does not run their jobs again. docs/how-to/laboratory.md is the user's page. */
#ifndef TALUS_LAB_LAB_H
#define TALUS_LAB_LAB_H

#include "cli/cli.h"
#include "cli/json_out.h"

#include <talus/fclib.h>

#include <stdio.h>

/* Bytes of a text, of a word, and of the terms of a result in words; maximum number of solvers in a list. */
enum { LAB_TEXT = 256, LAB_WORD = 16, LAB_TERMS = 512, LAB_SOLVERS = 256 };

/* Number of elements of an array. */
#define LAB_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- solvers named on the command line ---- */

typedef struct LabList {
    char *text; /* memory of the items, except those that "all" added, which are constant */
    const char *item[LAB_SOLVERS];
    int count;
    const char *twice; /* last solver that was named twice, not counting "all"; NULL: none */
} LabList;

/* Parses "NAME[:key=value,...][,NAME...]"; "all" stands for every solver of this build but "auto". A comma starts
 * another solver unless a key=value follows it. A solver named twice is listed once. Fails for an unknown solver or
 * parameter; `out` must be cleared even then. */
TalusStatus lab_list_parse(const char *text, LabList *out);
void lab_list_clear(LabList *list);
/* True if this build has the solver that `spec`, NAME[:key=value,...], names; parameters are not checked. */
bool lab_has_solver(const char *spec);

/* ---- friction ---- */

/* Parses --law and --section; NULL means ccp and disc. */
TalusStatus lab_model_parse(const char *law, const char *section, TalusFrictionModel *out);
/* Friction model of FCLIB files if the user names no law and no section: Coulomb's law on discs. The files store no
 * law, but are meant for this one. */
extern const TalusFrictionModel lab_fclib_model;
/* Writes the names of law and section of the contacts with friction; "mixed" if contacts differ. If no contact has
 * friction: law "ccp", section "none". */
void lab_friction_format(const TalusProblem *problem, char law[LAB_WORD], char section[LAB_WORD]);
/* Parses --outer, the loop that updates shifts or bounds around a convex solver: "shift", "tresca" or "auto",
 * optionally followed by ":every=N,share=X,refresh=N", the fields of TalusOuter. */
TalusStatus lab_outer_parse(const char *text, TalusOuter *out);
/* Writes the outer loop as lab_outer_parse reads it; "" for the default, "auto" with all fields 0. */
void lab_outer_format(const TalusOuter *outer, char text[LAB_TEXT]);

/* ---- problems ---- */

typedef struct LabProblem {
    const char *path;
    char name[LAB_TEXT];     /* the file's name without folder and suffix; callers may change it */
    uint64_t hash;           /* hash of the file's bytes */
    uint64_t reference_hash; /* hash of the reference's file or velocities; 0: no reference */
    TalusProblem *problem;
    /* Content of an FCLIB file. Of a problem file: NULL, or the problem in FCLIB's layout, made when a reference is
     * read or FCLIB is written. */
    TalusFclib *fclib;
    /* True if there are contacts with friction and all of them are under Coulomb's law. */
    bool all_coulomb;
    /* "LAW SECTION" if contacts have another model than the file gives, so always for FCLIB, which gives none; else
     * "". */
    char changed_friction[LAB_TEXT];
    int bodies;         /* of an FCLIB file: degrees of freedom over those of a body; 0: unknown */
    double *start;      /* impulses stored in the file; NULL: none */
    double *reference;  /* reference contact velocities; NULL: none */
    double *velocity;   /* work array for contact velocities */
    double offset_norm; /* |q|, by which lab_velocity_error divides, m/s */
    double natural_at_zero; /* natural residual (rms) at zero impulses, m/s */
} LabProblem;

/* Opens a problem file or FCLIB file; keeps the pointer `path`. All contacts with friction get `model`; NULL: the
 * models of the problem file, lab_fclib_model for FCLIB. The problem's impulses become zero; those of the file are in
 * out->start. Call lab_problem_close even after a failure. */
TalusStatus lab_problem_open(const char *path, const TalusFrictionModel *model, TalusPool *pool,
                             LabProblem *out);
/* Uses the path as the problem's name; of a path that is too long, its end. */
void lab_problem_name_by_path(LabProblem *problem);
/* Reads the reference velocities u from the FCLIB file `path`: from group /solution if problem->all_coulomb; otherwise
 * from /ccp_solution or, if the file has none, /solution. Fails if the group has no u. */
TalusStatus lab_problem_read_reference(LabProblem *problem, const char *path);
/* Solves the problem to 1e-11 of the residual at zero impulses, stores the velocities as reference and sets the
 * impulses to zero. `solver` NULL: prox if problem->all_coulomb, else an interior point method. Blocks under law fixed
 * keep the bounds of this solve, and problem->natural_at_zero is measured again with them. Fails if the solver does not
 * converge or a signal stops it; the impulses are then those at which it ended. */
TalusStatus lab_problem_solve_reference(LabProblem *problem, const char *solver);
/* Returns the error of the velocities at gamma, |u - u_ref| / |q| (if q = 0, |u - u_ref|); NAN without a reference. */
double lab_velocity_error(LabProblem *problem, const double *gamma);
/* Saves the problem with impulses gamma: as FCLIB with velocities u and impulses r if `path` ends with .hdf5 or .h5,
 * else as a problem file, for which gamma becomes the impulses of the problem. */
TalusStatus lab_problem_save(LabProblem *problem, const double *gamma, const char *path);
void lab_problem_close(LabProblem *problem);

/* ---- results ---- */

/* Columns of a trace. A trace is the history of a solve, with one row per iterate that the solver reports. */
typedef enum LabColumn {
    LAB_ITERATION,
    LAB_PRODUCTS, /* products with the operator N so far; "applies" in files */
    LAB_SECONDS,
    LAB_OBJECTIVE,
    LAB_NATURAL,
    LAB_NATURAL_RELATIVE,
    LAB_NATURAL_MAX,
    LAB_PROJECTED_GRADIENT,
    LAB_COMPLEMENTARITY_MAX,
    LAB_PRIMAL_INFEASIBILITY,
    LAB_OPEN, /* number of open blocks; "active" in files */
    /* Number of blocks whose state (open, sliding, sticking) differs from the row before; in the first row, number of
     * blocks that are not open. "active_changes" in files. */
    LAB_STATE_CHANGES,
    LAB_VELOCITY_ERROR, /* as lab_velocity_error */
    LAB_COLUMNS
} LabColumn;

/* A figure: its name in results.json, trace.csv and the report, and the offset of its field in TalusMetrics. */
typedef struct LabMetric {
    const char *name;
    size_t offset; /* LAB_NO_METRIC: the figure is no field of TalusMetrics */
} LabMetric;

enum { LAB_NO_METRIC = sizeof(TalusMetrics) };

extern const LabMetric lab_columns[LAB_COLUMNS];
/* Copies to out[i] each figure i of `table` that is a field of the metrics; leaves the others unchanged. */
void lab_copy_metrics(const LabMetric *table, int count, const TalusMetrics *metrics, double *out);

typedef struct LabTrace {
    double (*row)[LAB_COLUMNS]; /* [capacity]; release with free() */
    int count;                  /* number of rows that are filled */
    int capacity;
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
/* True if a result with this outcome has measured figures; false for LAB_UNSUPPORTED and LAB_FAILED. */
bool lab_outcome_is_measured(LabOutcome outcome);

/* Figures of the impulses with which a solve ended (docs/reference/metrics.md). */
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

enum { LAB_IMPULSES = 501 }; /* maximum number of points of the curve of sorted impulses */

typedef struct LabResult {
    int problem; /* index in LabSet.problems; of a stored result, in the set of its call */
    char solver[LAB_TEXT]; /* as the user named it, or the label of an experiment */
    char auto_choice[32];  /* solver that "auto" chose, "ran" in files; "" for other solvers */
    char key[17];          /* as written by lab_job_key */
    LabOutcome outcome;
    bool interrupted; /* a signal ended the solve before it converged */
    char reason[512]; /* reason of the outcome; "" if converged */
    int iterations, factorisations;
    int products; /* with the operator N; "applies" in files */
    int updates;  /* of the outer loop */
    double seconds, objective;
    double residual[LAB_RESIDUALS]; /* by LabResidual; NAN: not measured */
    double memory_bytes;            /* peak memory of the solve beside the problem */
    int open, sliding, sticking;    /* numbers of blocks in these states */
    /* Terms of the job, as in LabJob; max_iterations 0: read from a results.json that lacks these fields. */
    double tolerance, max_seconds;
    int max_iterations, threads;
    char backend[32]; /* "": cpu, which results.json omits */
    /* As lab_friction_format writes them; "": read from a results.json that lacks these fields, so ccp on disc or
     * none. */
    char law[LAB_WORD], section[LAB_WORD];
    char outer[LAB_TEXT]; /* outer loop as lab_outer_format writes it; "": default */
    bool siconos;         /* the tolerance is in Siconos's measure */
    bool warm;            /* the solve started from the impulses stored in the file */
    /* Sample of the normal impulses, in ascending order. */
    int impulse_count;
    int impulse_rank[LAB_IMPULSES]; /* rank among all normal impulses, 1 for the smallest */
    double impulse[LAB_IMPULSES];   /* N s */
    LabTrace trace;
} LabResult;

/* Releases the trace; leaves all other fields. */
void lab_result_clear(LabResult *result);

/* ---- running one job ---- */

/* Callback for TalusSolveOptions.monitor: ends the solve, by returning false, once a signal to stop was received. */
bool lab_monitor_signals(void *user, int iteration, int products, double residual);

typedef struct LabJob {
    const char *solver; /* NAME[:key=value,...] */
    const char *label;  /* name of the result; NULL: `solver` */
    const char *backend;
    /* Tolerance of the natural residual (rms), relative to that of zero impulses; with `siconos`, tolerance of the
     * error measure of the Siconos library (TalusMetrics.siconos); 0: none. */
    double tolerance;
    bool siconos;
    TalusOuter outer;
    int max_iterations;
    double max_seconds; /* 0: no limit */
    /* warm: start from LabProblem.start (not NULL) instead of zero. trace: record a row per reported iterate. */
    bool warm, trace;
} LabJob;

/* Writes the key of a job's result, 16 hexadecimal digits: a hash of problem file, reference, job, threads and version.
 * These are hashed only if they are not the default: a backend other than cpu, a changed law and section, outer loop,
 * measure. job->trace is not hashed. */
void lab_job_key(const LabProblem *problem, const LabJob *job, int threads, char key[17]);

/* Runs a job and leaves the impulses in the problem. An unsupported problem or a failed solve is a result
 * (LAB_UNSUPPORTED, LAB_FAILED), not a failure of this function. Problem index, key and terms of the result stay zero;
 * lab_set_run_job sets them. `quiet`: no progress display. The caller clears *out, unless the function fails. */
TalusStatus lab_run_job(LabProblem *problem, const LabJob *job, bool quiet, LabResult *out);

/* Writes the terms of a result in words: "to 1e-6 of the residual at zero impulses, at most 100 iterations, from zero,
 * ...". */
void lab_terms_format(const LabResult *result, char text[LAB_TERMS]);
/* Writes tolerance, maximum iterations and maximum seconds of a result for a table cell: "1e-6, 10000, 60 s"; omits
 * tolerance and seconds that are 0. */
void lab_limits_format(const LabResult *result, char text[LAB_TEXT]);
/* True if the backend was cpu; result->backend may be "". */
bool lab_on_host(const LabResult *result);
/* True if tolerance, measure, limits, start, threads, backend, law, section and outer loop are equal. */
bool lab_same_terms(const LabResult *a, const LabResult *b);

/* ---- a set of results ---- */

/* A table of texts for the terminal and the page; owns copies of its cells. */
typedef struct LabTable {
    char title[LAB_TEXT];
    char note[1024];
    int columns, cells, capacity; /* numbers: of columns; of cells, with headings; room in `cell` */
    char **cell;                  /* [cells] by rows; the first row has the headings */
} LabTable;

/* Begins a table, to be released with lab_table_clear; tabs separate the headings. */
void lab_table_begin(LabTable *table, const char *title, const char *headings);
/* Adds columns; tabs separate their headings. Call before the first row. */
void lab_table_add_columns(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
/* Appends cells, the formatted text (cut to 2047 bytes) split at tabs; a cell "nan" or "-nan" becomes "-". A cell is
 * cut to LAB_TEXT - 1 bytes. Several calls may fill one row, which ends after table->columns cells. */
void lab_table_add_cells(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
/* Appends one cell with the formatted text as it is, even with tabs or "nan", but cut to LAB_TEXT - 1 bytes. */
void lab_table_add_cell(LabTable *table, const char *format, ...) CLI_PRINTF(2, 3);
/* Prints title, rows in columns and note. */
void lab_table_print(const LabTable *table, FILE *out);
void lab_table_clear(LabTable *table);

/* Curve or points of a figure on the page; owns copies of its values. */
typedef struct LabCurve {
    char name[LAB_TEXT];
    double *x, *y;
    double *bar; /* half lengths of error bars along y; NULL: none */
    int count;
} LabCurve;

enum { LAB_CURVES = 32 }; /* maximum number of curves of a figure */

typedef struct LabFigure {
    char title[LAB_TEXT], note[1024];
    char x[LAB_TEXT], y[LAB_TEXT]; /* labels of the axes */
    bool x_log, y_log, points;     /* points: marks without a line */
    LabCurve curve[LAB_CURVES];
    int curves;
} LabFigure;

/* Adds a curve, of which a figure has at most LAB_CURVES; copies its points. */
void lab_figure_add(LabFigure *figure, const char *name, const double *x, const double *y,
                    int count);
/* The same with error bars of these half lengths, NAN: none at this point; bar NULL: none at all. */
void lab_figure_add_with_bars(LabFigure *figure, const char *name, const double *x, const double *y,
                              const double *bar, int count);
void lab_figure_clear(LabFigure *figure);
enum {
    LAB_SHOWN = 1000
}; /* maximum number of points of a curve on a page, those that break its line aside */
/* Writes the points of a curve of the figure that a page shows, extremes among them, to *out, whose x, y and bar the caller
 * frees. Returns false, and leaves *out as it is, if the page shows all. */
bool lab_curve_thin(const LabFigure *figure, const LabCurve *curve, LabCurve *out);

/* Values over a plane of cells, by colour: one picture for each frame. */
typedef struct LabMap {
    char title[LAB_TEXT], note[256];
    char x[LAB_TEXT], y[LAB_TEXT], value[LAB_TEXT]; /* labels of the axes and of the colours */
    double x_range[2], y_range[2];                  /* outer edges of the first and last cell */
    int columns, rows, frames;
    char (*name)[LAB_TEXT]; /* [frames] */
    double *values;         /* [frames][rows][columns]; NAN: none */
} LabMap;

/* A solution that lab_set_search found. */
typedef struct LabSolution {
    int found;        /* number of starts that led to it */
    int start;        /* index of the first of these starts; 0: zero impulses */
    double residual;  /* natural residual over that of zero impulses */
    double objective; /* J */
    double nearest;   /* distance of the nearest other solution, m/s; NAN: none */
} LabSolution;

/* Distinct solutions of a problem that one solver found from several starts. */
typedef struct LabSearch {
    int problem; /* index in LabSet.problems */
    char solver[LAB_TEXT];
    int starts;            /* number asked for; a signal may have ended the search before */
    int converged;         /* number of starts from which the solver converged */
    double same_within;    /* distance up to which two results count as one solution, m/s */
    LabSolution *solution; /* [solutions], in the order of their first starts */
    int solutions;
} LabSearch;

enum { LAB_NOTES = 96, LAB_FIGURES = 128 }; /* maximum numbers in a set */

/* The results of one call of `talus solve` or `talus bench`, with all that the report shows. */
typedef struct LabSet {
    /* kind: "solve", "bench" or "sweep". dir: directory of results.json; NULL: nothing is stored. */
    const char *title, *kind, *dir;
    const char *experiment; /* name of the experiment; NULL: none */
    int threads;            /* of all solves; 0: the experiment runs worlds */
    LabProblem *problems;
    int problem_count;
    LabResult *results;
    int result_count;
    LabSearch *searches;
    int search_count;
    LabTable **tables; /* any number; a table stays where it is while others are added */
    int table_count;
    /* One of the tables, with the title LAB_CLAIMS_TITLE: statements of a paper (experiments/claims.h); NULL: none. */
    LabTable *claims;
    LabFigure *figures[LAB_FIGURES];
    int figure_count;
    LabMap *maps[LAB_FIGURES]; /* of the page alone; results.json of a sweep is not read back */
    int map_count;
    char *notes[LAB_NOTES];
    int note_count;
    /* Results of an earlier call, read from dir; a job that reuses one sets its key to "". */
    LabResult *stored;
    int stored_count;
    char stored_title[LAB_TEXT]; /* title of that call; "": none */
    bool complete;     /* all jobs are done: results.json omits stored results that no job reused */
    double next_write; /* clock reading before which lab_set_run_job does not write results.json */
} LabSet;

/* Creates set->dir and reads the results of an earlier call from it, if any and unless `fresh`. Does nothing if
 * set->dir is NULL. */
TalusStatus lab_set_open(LabSet *set, bool fresh);
/* Adds the job's result to the set: the stored result with the same key (*reused becomes true), or else the result of
 * running the job. After running a job, writes results.json if set->next_write has passed. *out points into the set and
 * is valid until the next call. */
TalusStatus lab_set_run_job(LabSet *set, int problem, const LabJob *job, bool quiet,
                            LabResult **out, bool *reused);
/* Solves a problem with the job's solver from `starts` starts, zero and random ones, and adds the distinct solutions
 * found to the set (lab_starts.c). *out points into the set and is valid until the next call. */
TalusStatus lab_set_search(LabSet *set, int problem, const LabJob *job, int starts,
                           const LabSearch **out);
/* Makes a table of the solutions; the caller clears it. */
void lab_search_make_table(const LabSet *set, const LabSearch *search, LabTable *out);
/* Eigenvalues of the Jacobian of Coulomb's shift map (lab_shift_map.c). */
typedef struct LabShiftMap {
    int vectors; /* number of vectors of Arnoldi's method */
    int above;   /* number of eigenvalues found with a real part above 1; above 0: the map repels */
    double largest; /* largest real part found; -INFINITY: no reliable eigenvalue */
} LabShiftMap;
/* True if lab_analyse_shift_map accepts the problem: three rows, at most 5000 blocks, no joints, some contacts with
 * friction, all of these discs under Coulomb's law. */
bool lab_has_shift_map(const LabProblem *problem);
/* Linearises the shift map at the shifts of the problem's impulses, which stay, and finds its outer eigenvalues. */
TalusStatus lab_analyse_shift_map(const LabProblem *problem, LabShiftMap *out);
/* For a solve by `solver` that missed its tolerance and left its impulses in the problem: analyses the shift map there
 * and adds a table with the eigenvalues and a note on what they mean. *out points to the table. */
TalusStatus lab_explain_missed_tolerance(LabSet *set, int problem, const char *solver,
                                         const LabTable **out);
/* Adds an empty table to the set; tabs separate the headings. */
LabTable *lab_set_add_table(LabSet *set, const char *title, const char *headings);
/* Adds a figure without curves to the set, which has at most LAB_FIGURES; x and y are the labels of the axes. */
LabFigure *lab_set_add_figure(LabSet *set, const char *title, const char *x, const char *y);
/* Adds a map with memory for these numbers of cells and frames, whose values are NAN. */
LabMap *lab_set_add_map(LabSet *set, const char *title, int columns, int rows, int frames);
enum { LAB_CLAIM_COLUMNS = 4 }; /* of the table LabSet.claims */
#define LAB_CLAIMS_TITLE "What the paper states, and what is found here"
#define LAB_STORE_NAME "results.json"
/* Writes set->dir/results.json, from which a later call takes results. */
TalusStatus lab_store_write(const LabSet *set);
/* Writes set->dir/report.html. */
TalusStatus lab_page_write(const LabSet *set);
/* Reads set->dir/results.json, if it exists, into set->stored and set->stored_title; skips results that were
 * interrupted or are incomplete. */
TalusStatus lab_store_read(LabSet *set);
/* Reads tables, figures and notes from set->dir/results.json into the set, if that has the title of the set, is
 * complete and was written by this version; *found tells. */
TalusStatus lab_store_read_shown(LabSet *set, bool *found);
/* Moves the tables, except the claims, and the figures of `from` to `to`, with "NAME: " before their titles. */
void lab_set_move_shown(LabSet *from, LabSet *to, const char *name);
/* Reads a parsed results.json, of this path, into the set. */
struct TalusJson;
typedef TalusStatus LabStoreReader(LabSet *set, const struct TalusJson *root, const char *path);
/* Calls `read` for set->dir/results.json, if there is one; the message of a format error mentions --fresh. */
TalusStatus lab_store_parse(LabSet *set, LabStoreReader *read);
/* Adds a table with a row per solver of the first problem: numbers of outcomes and cost over all problems. */
const LabTable *lab_set_add_summary(LabSet *set);
/* Adds the formatted text, cut to 1023 bytes, as a note of the report; a set has at most LAB_NOTES. */
void lab_set_add_note(LabSet *set, const char *format, ...) CLI_PRINTF(2, 3);
/* Adds a note if the solver, NAME[:key=value,...], is not in this build. */
void lab_set_note_missing_solver(LabSet *set, const char *solver);
/* Writes results.json, trace.csv and report.html in set->dir, which must not be NULL. */
TalusStatus lab_set_write(LabSet *set);
/* Writes the traces of all results as one CSV table, a row per iterate. */
TalusStatus lab_write_traces(const LabSet *set, const char *path);
/* Writes each table of the set to a file in set->dir: table-1.csv, table-2.csv and so on. */
TalusStatus lab_set_write_tables(const LabSet *set);
/* Writes a table as Markdown: its title in bold, then rows and note. */
void lab_table_write_markdown(const LabTable *table, struct TalusFile *file);
/* Writes all tables of the set as Markdown to set->dir/tables.md, after a line that says how they were made. */
TalusStatus lab_set_write_markdown(const LabSet *set, const char *about);
/* Closes the problems, releases all that the set owns and sets it to zero; title, kind, dir and experiment are not
 * owned. */
void lab_set_clear(LabSet *set);

/* Prints the sizes of a problem, the terms if all its results share them, its measured results as a table, best first,
 * and the reasons of the others. */
void lab_print_results(const LabSet *set, int problem, FILE *out);
/* Compares by outcome (in the order of LabOutcome), then seconds, as lab_print_results sorts; < 0 if a is better. */
int lab_compare_results(const LabResult *a, const LabResult *b);
/* Prints the output of `talus solve --json`: an object, or an array of objects for several problems. */
void lab_print_solve_json(const LabSet *set);
/* Prints the output of `talus bench --json`: an experiment with its tables and notes. */
void lab_print_bench_json(const LabSet *set);

#endif
