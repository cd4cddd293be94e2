/* cli/run/run.h - the parts of `talus run`: its settings, its tally, its progress, its directory as others see
 * it, and its report. */
#ifndef TALUS_CLI_RUN_H
#define TALUS_CLI_RUN_H

#include "cli/cli.h"
#include "dir.h"

#include "io/file/dir.h"

#include <stdio.h>

/* What defines a run; a checkpoint keeps it, so that --resume needs nothing but the directory. */
typedef struct RunSettings {
    const char *scene, *title;
    const char *solver;  /* NULL: the scene's own */
    const char *backend; /* NULL: that of a run from before it was noted */
    const char *frames;  /* kinds beyond those of the viewer, "vtp,csv"; NULL: none */
    CliList set;
    int threads; /* 0: one per processor, or what the scene says */
    double until, every;
} RunSettings;

/* What is counted over all steps, those before a --resume included, and what the last step said. */
typedef struct RunTally {
    int64_t iterations, missed;
    int64_t fallbacks;   /* of the projection of joints */
    double residual_max; /* the worst root mean square of a step, m/s */
    int contacts;
    double residual, penetration_mean, penetration_max, kinetic;
} RunTally;

/* Seconds of this process by stage. */
typedef struct RunClock {
    double setup, detect, build, solve, integrate, output, paused;
    double start, wall; /* when it began, how long it took in all */
} RunClock;

typedef struct Run {
    RunSettings settings;
    RunTally tally;
    RunClock clock;
    TalusWorld *world;
    int64_t first_step, last_step; /* of this process; the run ends after last_step */
    bool shortened;                /* a step was: whole ones cannot follow as if it had not been */
    const char *dir;               /* NULL: nothing is written */
} Run;

void run_tally_step(RunTally *tally, RunClock *clock, const TalusStepInfo *info);

/* ---- when: schedule.c ---- */
/* Length of the next step; 0: the run is at its end. */
double run_next_length(const Run *run);
/* Whether the step just done has a frame, and a line of the table. */
bool run_frame_due(const Run *run, const TalusStepInfo *info);
bool run_line_due(const Run *run, const TalusStepInfo *info);

/* Settings and tally as text for the checkpoint's note; free with free(). NULL: out of memory. */
char *run_note_write(const RunSettings *settings, const RunTally *tally);
/* Reads a note; the settings point into its text, which is changed. False: not a note of ours. */
bool run_note_read(char *note, RunSettings *settings, RunTally *tally);

/* ---- kinds of frames, as --frames and a note name them ---- */
enum { FRAME_KINDS_MAX = 16 };

typedef struct FrameKinds {
    char text[256]; /* the items point into it */
    const char *item[FRAME_KINDS_MAX];
    int count;
} FrameKinds;

/* Splits a list such as "vtp,csv"; NULL is an empty one. "view" is dropped: it is always written. False:
 * more than there is room for. */
bool frame_kinds_split(const char *list, FrameKinds *kinds);
/* CLI_OK, or a message about --frames and the exit code. */
int frame_kinds_check(const CliCommand *command, const char *list);

/* ---- control: the lock, run.json, and words from outside ---- */
typedef struct Control {
    const char *dir;     /* NULL: not begun, and every other call does nothing */
    TalusDir held;       /* the directory, whatever becomes of its name */
    int lock;            /* descriptor; -1: none */
    bool pause, stop;    /* what was asked for last */
    double looked, told; /* wall clock of the last look at `control` and of the last run.json */
    int64_t told_step;
    double told_active, rate; /* seconds spent on steps when told_step was told; steps per second */
} Control;

/* Creates `dir` where there is none, and makes it this process's; a word from before is dropped. Returns
 * the exit code. */
int control_open(Control *control, const char *dir);
/* The run says that it runs. */
void control_begin(Control *control, const Run *run);
/* Rewrites run.json. */
void control_tell(Control *control, const Run *run, const char *state, const char *message);
/* After each step, and from time to time in a pause: rewrites run.json and reads `control` if it is time. */
void control_tend(Control *control, const Run *run);
void control_close(Control *control);

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
/* A pause begins; it has ended after `seconds`, which count in no speed. */
void progress_pause(Progress *progress, const Run *run);
void progress_go_on(Progress *progress, const Run *run, double seconds);
void progress_end(Progress *progress);

/* ---- the end of a run ---- */
/* A scene goes by its name, however it was given: without folders and ".json". */
void run_scene_name(const char *scene, char *name, size_t size);
/* Where a run goes that was not told: out/NAME. */
void run_default_dir(const char *scene, char *dir, size_t size);
/* A line "x y z" per moving body. */
TalusStatus run_write_positions(const char *path, const TalusWorld *world);
void run_report(const Run *run, FILE *out);
void run_report_json(const Run *run);

#endif
