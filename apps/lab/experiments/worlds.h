/* lab/experiments/worlds.h - benchmarks of `talus bench` that run worlds, by name or as the group `gpu`.
 *
 * A row is one benchmark. It steps one or more worlds, writes tables and notes into the set of results, and gives a
 * verdict for every figure with a target. With --quick the worlds are small, for tests, and targets are not judged. */
#ifndef TALUS_LAB_EXPERIMENTS_WORLDS_H
#define TALUS_LAB_EXPERIMENTS_WORLDS_H

#include "base/status.h"
#include "claims.h"

enum {
    WORLDS_ROWS = 16,        /* number of benchmarks */
    WORLDS_ASSIGNMENTS = 16, /* maximum number for a scene */
    WORLDS_BACKENDS = 2,     /* maximum number in one call */
    WORLDS_VERDICTS = 32,    /* maximum number in one call */
    WORLDS_SECONDS =
        480 /* time limit of `talus bench gpu`, s; a row that exceeds its share ends early or fails */
};

/* A measured figure and its target. */
typedef struct Verdict {
    char what[LAB_TEXT];     /* name of the figure */
    char found[LAB_TEXT];    /* text shown instead of "held" or "missed", or the error; "": none */
    double target, measured; /* in `unit`; the target is an upper bound */
    const char *unit;
    double rms, relative; /* residual in m/s, and relative to g h; NAN: not known */
    bool failed;          /* the row ended with the error `found` */
} Verdict;

typedef struct Worlds {
    /* Most rows run on the first backend only; million runs on all and judges the first; agreement judges all. */
    const char *backend[WORLDS_BACKENDS];
    int backends;    /* number of them */
    int threads;     /* of --threads; -1: not given */
    int repeat;      /* measured steps per figure; 0: the row's default */
    int steps;       /* maximum steps of the rows that simulate a whole run; 0: all */
    double limit;    /* seconds for all rows together; 0: none */
    double deadline; /* clock reading at which the row should end; infinite without a limit */
    bool quick, quiet;
    const char *dir;          /* directory of the results */
    const char *const *names; /* operands after the row's own name, for a row that takes names */
    int name_count;
    bool fresh;       /* --fresh: the row ignores stored figures */
    int *simulated;   /* counts the runs that were not stored ones; NULL: nobody asks */
    bool keep_runs;   /* finished runs are stored, and stored ones are not run again */
    bool any_backend; /* --backend is not given, so the row may choose the backend */
    LabSet *set;
    Verdict verdict[WORLDS_VERDICTS];
    int verdicts;
} Worlds;

typedef struct WorldsRow {
    const char *name, *summary, *source;
    /* Weight of the row in the time limit of `talus bench gpu`. Its deadline is limit * a / b seconds after the start
     * of the first row, with a the sum of the shares up to and including this row and b the sum over all chosen rows;
     * time that a row does not use is left to later rows. If all rows run, b is WORLDS_SECONDS, so that shares are
     * seconds. 0: the row is not part of the group `gpu`; named together with it, the row has no deadline, and its time
     * does not count. */
    double share;
    /* Further operands are names of the row's cases, and the row reuses what an earlier call has stored. */
    bool takes_names;
    TalusStatus (*run)(Worlds *w);
} WorldsRow;

/* worlds_speed.c, worlds_copies.c, worlds_pospisil.c, worlds_beverloo.c, worlds_agreement.c; run by name only:
 * worlds_shear.c, worlds_packing.c, worlds_janssen.c, worlds_petra.c, worlds_rigid.c, worlds_negrut.c, mprgp of
 * worlds_pospisil.c, defaults/defaults.c */
extern const WorldsRow worlds_hourglass, worlds_million, worlds_ten_million, worlds_hundred_million,
    worlds_copies, worlds_pospisil, worlds_beverloo, worlds_agreement, worlds_shear, worlds_packing,
    worlds_janssen, worlds_petra, worlds_default, worlds_rigid, worlds_negrut, worlds_mprgp;

/* Returns row `index`; NULL beyond the last. */
const WorldsRow *worlds_get_row(int index);
/* Returns NULL if there is no row of this name. */
const WorldsRow *worlds_find_row(const char *name);
/* Writes the device of a backend and its properties; "the host" for one without. */
void worlds_describe_backend(const char *name, char text[LAB_TEXT]);

/* Runs `talus bench gpu [ROW...]` or one row alone; the caller has set the options in `w`. Returns the exit code:
 * CLI_FAILED if a row ended with an error, CLI_OK even if targets were missed. */
int worlds_run_rows(Worlds *w, const WorldsRow *const *rows, int count);

/* ---- finished runs of a row (worlds_store.c), if w->keep_runs ---- */

/* Reads the steps of a run, `columns` numbers each; `run` says all that defines it, but threads and --quick. *rows is 0
 * if no such run is stored. The caller releases *values in any case. */
TalusStatus worlds_load_run(const Worlds *w, const char *run, int columns, double **values,
                            int *rows);
/* Stores the steps of a finished run. `header`: names of the columns, separated by commas. */
TalusStatus worlds_save_run(const Worlds *w, const char *run, const char *header, int columns,
                            const double *values, int rows);
/* Removes all runs that are stored in `dir`. */
void worlds_forget_runs(const char *dir);

/* ---- for the rows (worlds_measure.c) ---- */

/* NAME=VALUE assignments, as for --set. */
typedef struct WorldsAssignments {
    char text[WORLDS_ASSIGNMENTS][96];
    int count;
} WorldsAssignments;

/* Adds the formatted text, an assignment NAME=VALUE of at most 95 bytes; there may be WORLDS_ASSIGNMENTS in all. */
void worlds_assign(WorldsAssignments *sets, const char *format, ...) CLI_PRINTF(2, 3);

typedef struct WorldsCase {
    const char *scene, *solver, *backend; /* solver or backend NULL: the scene's */
    const char *text; /* JSON text of the scene, used in place of `scene`; NULL: none */
    WorldsAssignments sets;
} WorldsCase;

/* Builds the world of a scene with the assignments of the case, under relaxed defaults unless they say otherwise. */
TalusStatus worlds_build(const Worlds *w, const WorldsCase *c, TalusWorld **out);
/* Creates a copy of the next step's problem, with its warm start as impulses; the copy outlives the world, and the
 * caller destroys it. */
TalusStatus worlds_copy_problem(TalusWorld *world, TalusProblem **out);
/* Returns |gravity| h, the speed that gravity adds in one step, m/s. */
double worlds_reference_speed(const TalusWorld *world);
/* Returns the processor time of this program so far, s, summed over its threads. */
double worlds_processor_time(void);
/* Prints a line to standard error unless --quiet. */
void worlds_print_line(const Worlds *w, const char *format, ...) CLI_PRINTF(2, 3);
/* True if the row's deadline has passed; a row whose figures do not need all its steps then ends early. */
bool worlds_time_is_over(const Worlds *w);
/* Fails with TALUS_ERR_CANCELLED once a signal requests a stop or the row's time is over. */
TalusStatus worlds_check_stop(const Worlds *w);

/* Cost and accuracy of a step, or their medians or maxima over steps. */
typedef struct WorldsStep {
    double wall, detect, build, solve, integrate; /* seconds */
    double iterations, products, contacts;
    double rms, relative; /* residual in m/s, and relative to the reference speed */
} WorldsStep;

/* Makes `steps` steps. `median` and `max` (may be NULL) receive the median and the maximum over the steps of each field
 * of WorldsStep. If the row's time is over after a step, the function ends without an error and *done receives the
 * number of steps taken; with `done` NULL it fails. A signal to stop makes it fail, too. `label` begins messages. */
TalusStatus worlds_advance(const Worlds *w, TalusWorld *world, int steps, const char *label,
                           WorldsStep *median, WorldsStep *max, int *done);

/* Solves the problem as talus_solver_solve does, with messages that `label` begins. Fails with TALUS_ERR_CANCELLED
 * within an iteration of a signal to stop. */
TalusStatus worlds_solve(const Worlds *w, const char *label, TalusSolver *solver,
                         TalusProblem *problem, const TalusSolveOptions *options,
                         TalusSolveInfo *info);

/* Returns the bytes of device memory that the backend holds; on the host, the bytes that the library holds. */
double worlds_measure_memory(const char *backend);

/* Returns the median and sorts the values; NAN if there are none. */
double worlds_median(double *values, int count);
/* Returns the mean of one or more values. */
double worlds_mean(const double *values, int count);
/* Returns the standard deviation of a sample; NAN for fewer than two values. */
double worlds_deviation(const double *values, int count);

/* Region in which packing fractions are measured, m: |x| <= half, |y| <= half, low <= z <= high. */
typedef struct WorldsCore {
    double half, low, high;
} WorldsCore;

double worlds_core_volume(const WorldsCore *core);
/* Returns the volume of the part of a ball that is inside the core, approximated by narrow columns. */
double worlds_ball_volume_within(const WorldsCore *core, TalusVec3 x, double radius);

/* Adds a verdict on a figure that should be at most `target`. `step` (may be NULL) has the residual of the steps in
 * which the figure was measured; the formatted text names the figure. Returns the verdict; verdicts beyond
 * WORLDS_VERDICTS are not stored. */
Verdict *worlds_add_verdict(Worlds *w, double measured, double target, const char *unit,
                            const WorldsStep *step, const char *format, ...) CLI_PRINTF(6, 7);
/* Marks the verdict as missed, whatever its figure, if fewer than `steps` steps were done. */
void worlds_require_steps(Verdict *verdict, int done, int steps);
/* Adds a verdict that the benchmark `row` failed with talus_error(). */
void worlds_add_failure(Worlds *w, const char *row);

/* Returns `quick` with --quick, else `full`. */
static inline int worlds_choose_size(const Worlds *w, int full, int quick)
{
    return w->quick ? quick : full;
}

#endif
