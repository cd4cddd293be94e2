/* lab/experiments/worlds.h - the benchmarks of `talus bench` that run worlds: `gpu`, which is all of them, and each by its
 * own name.
 *
 * A row steps one or more worlds, writes tables and notes into the set, and gives a verdict for every
 * figure that has a target. With --quick it does the same with small worlds, for tests; targets are then
 * left unjudged. */
#ifndef TALUS_CLI_WORLDS_H
#define TALUS_CLI_WORLDS_H

#include "base/status.h"
#include "lab/lab.h"

enum {
    WORLDS_SETS = 16,
    WORLDS_BACKENDS = 2,
    WORLDS_VERDICTS = 32,
    WORLDS_SECONDS = 480 /* what `talus bench gpu` may take; on a slower device rows end early */
};

/* A figure with what it should be. */
typedef struct Verdict {
    char what[LAB_TEXT];
    char found[LAB_TEXT];    /* instead of "held" or "missed" */
    double target, measured; /* at most the target; in `unit` */
    const char *unit;
    double rms, relative; /* residual reached: m/s, and over g h; NAN: none goes with it */
    bool failed;          /* the row ended with an error: `found` */
} Verdict;

typedef struct Worlds {
    const char *backend[WORLDS_BACKENDS]; /* the first is the one that is judged */
    int backends;
    int threads, repeat; /* repeat: measured steps of a figure; 0: the row's own number */
    int steps;           /* of hourglass and pospisil; 0: all */
    double limit;        /* seconds for all rows together; 0: none */
    double until;        /* talus_now() at which the row should be done; infinite without a limit */
    bool quick, quiet;
    const char *dir;
    LabSet *set;
    Verdict verdict[WORLDS_VERDICTS];
    int verdicts;
} Worlds;

typedef struct WorldsRow {
    const char *name, *summary, *source;
    double
        share; /* of the limit, in seconds of WORLDS_SECONDS; what one row leaves goes to those after it.
                  0: not among the rows of `talus bench gpu`, run by its own name */
    TalusStatus (*run)(Worlds *w);
} WorldsRow;

/* worlds_speed.c, worlds_pospisil.c, worlds_beverloo.c, worlds_agreement.c; by their own
 * names alone: worlds_shear.c, worlds_packing.c, worlds_janssen.c, worlds_petra.c */
extern const WorldsRow worlds_hourglass, worlds_million, worlds_ten_million, worlds_hundred_million,
    worlds_pospisil, worlds_beverloo, worlds_agreement, worlds_shear, worlds_packing,
    worlds_janssen, worlds_petra;

/* The rows by number; NULL beyond the last. */
const WorldsRow *worlds_row(int index);
/* NULL: there is no row of this name. */
const WorldsRow *worlds_find(const char *name);

/* `talus bench gpu [ROW...]` or one row alone; the caller has filled in the choices. Returns the exit
 * code. */
int worlds_main(Worlds *w, const WorldsRow *const *rows, int count);

/* ---- for the rows (worlds_measure.c) ---- */

/* NAME=VALUE, as for --set. */
typedef struct WorldsSets {
    char text[WORLDS_SETS][96];
    int count;
} WorldsSets;

void worlds_set(WorldsSets *sets, const char *format, ...) CLI_PRINTF(2, 3);

typedef struct WorldsCase {
    const char *scene, *solver, *backend;
    WorldsSets sets;
} WorldsCase;

TalusStatus worlds_open(const Worlds *w, const WorldsCase *c, TalusWorld **out);
/* One line on standard error; nothing with --quiet. */
void worlds_say(const Worlds *w, const char *format, ...) CLI_PRINTF(2, 3);
/* The row's time is over. Rows that can tell something without their end look here and finish early. */
bool worlds_over(const Worlds *w);
/* TALUS_ERR_CANCELLED with a message once a signal asks to stop or the row's time is over. */
TalusStatus worlds_stopped(const Worlds *w);

/* What the steps of a figure took, and what they reached. */
typedef struct WorldsStep {
    double wall, detect, build, solve, integrate; /* seconds */
    double iterations, products, contacts;
    double rms, relative; /* residual: m/s, and over the reference speed */
} WorldsStep;

/* `steps` steps; the median of each column where `median` is not NULL. `most`, if not NULL, is the largest
 * of each. With `done` not NULL, a row whose time is over is left after *done steps without an error. */
TalusStatus worlds_advance(const Worlds *w, TalusWorld *world, int steps, const char *label,
                           WorldsStep *median, WorldsStep *most, int *done);

/* Bytes that the backend holds in its own memory, or the library on the host. */
double worlds_memory(const char *backend);

double worlds_median(double *values, int count); /* sorts them */
double worlds_mean(const double *values, int count);
double worlds_deviation(const double *values, int count); /* standard, of a sample */

/* What packing fractions are measured in: |x| and |y| up to `half`, z from low to high. */
typedef struct WorldsCore {
    double half, low, high;
} WorldsCore;

double worlds_core_volume(const WorldsCore *core);
/* The centres of the bodies that move, which the caller releases. */
TalusStatus worlds_centres(const TalusWorld *world, TalusVec3 **centre, int *count);
/* The volume of the part of a ball that is within the core. */
double worlds_ball_within(const WorldsCore *core, TalusVec3 x, double radius);

/* A figure that should be at most `target`; `step` (may be NULL) has its residual. */
void worlds_judge(Worlds *w, const char *what, double measured, double target, const char *unit,
                  const WorldsStep *step);
/* The same for a figure of `steps` steps of which only `done` were taken within the row's time: missed. */
void worlds_judge_steps(Worlds *w, const char *what, double measured, double target, int done,
                        int steps, const WorldsStep *step);

/* The row ended with talus_error(). */
void worlds_judge_failure(Worlds *w, const char *row);

/* Quick or full. */
static inline int worlds_size(const Worlds *w, int full, int quick)
{
    return w->quick ? quick : full;
}

#endif
