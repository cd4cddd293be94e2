/* run.h - the parts of `talus run`: its settings, its tally, its progress and its report. */
#ifndef TALUS_CLI_RUN_H
#define TALUS_CLI_RUN_H

#include "cli.h"

#include <stdio.h>

/* What defines a run; a checkpoint keeps it, so that --resume needs nothing but the directory. */
typedef struct RunSettings {
    const char *scene, *title;
    const char *solver, *backend; /* NULL: the scene's own */
    CliList set;
    int threads; /* 0: one per processor, or what the scene says */
    double until, every;
} RunSettings;

/* What is counted over all steps, those before a --resume included, and what the last step said. */
typedef struct RunTally {
    int64_t iterations, missed;
    double residual_max; /* the worst root mean square of a step, m/s */
    int contacts;
    double residual, penetration_mean, penetration_max, kinetic;
} RunTally;

/* Seconds of this process by stage. */
typedef struct RunClock {
    double setup, detect, build, solve, integrate, output;
    double start, wall; /* when it began, how long it took in all */
} RunClock;

typedef struct Run {
    RunSettings settings;
    RunTally tally;
    RunClock clock;
    TalusWorld *world;
    int64_t first_step, last_step; /* of this process; the run ends after last_step */
    const char *dir;               /* NULL: nothing is written */
} Run;

void run_tally_step(RunTally *tally, RunClock *clock, const TalusStepInfo *info);

/* Settings and tally as text for the checkpoint's note; free with free(). NULL: out of memory. */
char *run_note_write(const RunSettings *settings, const RunTally *tally);
/* Reads a note; the settings point into its text, which is changed. False: not a note of ours. */
bool run_note_read(char *note, RunSettings *settings, RunTally *tally);

/* ---- progress: a table line per interval and, on a terminal, a bar ---- */
typedef struct Progress {
    FILE *table; /* NULL: quiet */
    bool bar;
    double begun, last_bar; /* wall clock */
    /* the interval since the last line */
    double interval_begun;
    int64_t steps, iterations;
    double residual, penetration;
} Progress;

void progress_begin(Progress *progress, const Run *run, bool quiet, bool json);
/* After each step; `line` ends an interval. */
void progress_step(Progress *progress, const Run *run, const TalusStepInfo *info, bool line);
void progress_end(Progress *progress);

/* ---- the end of a run ---- */
void run_report(const Run *run, FILE *out);
void run_report_json(const Run *run);

#endif
