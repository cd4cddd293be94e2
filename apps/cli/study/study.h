/* cli/study/study.h - a study: the same scene run at many points and with many seeds, and what is measured of the runs.
 *
 * Each run is a process of its own, `talus run` in a directory DIR/runs/KEY. KEY is a hash of the run's identity: a text with
 * all that determines the run. A directory with the file sweep.key, which has the identity and where the run ended, holds a
 * whole run and is not computed again; any other goes on from its checkpoint or starts anew, with the same bits. */
#ifndef TALUS_CLI_STUDY_STUDY_H
#define TALUS_CLI_STUDY_STUDY_H

#include "figure.h"
#include "student.h"
#include "vary.h"

#include "cli/cli.h"

#include <talus/io.h>

/* Maximum numbers of figures, and of runs: a file name per run in one directory. */
enum { STUDY_FIGURES = 32, STUDY_RUNS = 1000000 };
/* Bytes of a reason and of a key; number of points up to which tables are shown, beyond it only written. */
enum { STUDY_REASON = 512, STUDY_KEY = 17, STUDY_SHOWN = 1000 };

typedef enum StudyState { STUDY_WAITING, STUDY_FINISHED, STUDY_FAILED } StudyState;

typedef struct StudyRun {
    int point;
    int seed;     /* -1: not given */
    double until; /* simulated time at its end, s */
    char *identity;
    char key[STUDY_KEY];
    int same_as; /* index of an earlier run with the same key, which is run for both; -1: none */
    StudyState state;
    char *reason;  /* why it failed; NULL: it has not */
    double *value; /* [figures]; NAN: not known */
} StudyRun;

/* What the user asks for; NULL, NAN, -1: not given. */
typedef struct StudyOptions {
    const CliCommand *command; /* for messages */
    const char *scene;         /* as on the command line */
    CliList vary, measure, set;
    const char *solver, *backend, *out, *devices;
    int seed, seeds, threads, jobs;
    double from, until, every, checkpoint_every;
    bool paired, quiet;
} StudyOptions;

typedef struct Study {
    const StudyOptions *options;
    char path[CLI_PATH_MAX]; /* of the scene */
    char title[256];         /* of the scene */
    char dir[CLI_PATH_MAX];  /* of the results */
    uint64_t program;        /* hash of the program's file */
    StudyGrid grid;
    StudyFigure figure[STUDY_FIGURES];
    int figures;
    StudyRun *run; /* [runs], by points, then seeds */
    int runs, points, seeds;
    CliList devices;
    bool on_device; /* some run has another backend than the cpu */
    int lock;       /* descriptor of DIR/sweep.lock; -1: none */
} Study;

/* ---- study.c: the plan ---- */

/* Makes the plan and checks all of it: each point must be a scene, each figure exist. Returns the exit code, after a
 * message if it is not CLI_OK; call study_close in any case. */
int study_open(Study *study, const StudyOptions *options);
void study_close(Study *study);
/* Returns the text of a point's value. */
const char *study_value(const Study *study, int point, int axis);
/* Writes "mu=0.1, bodies=200, seed 3". */
void study_describe_run(const Study *study, const StudyRun *run, char *text, size_t size);
/* Adds the assignments of a point to the list, for the caller to free. */
void study_add_assignments(const Study *study, const StudyRun *run, CliList *list);
/* Sets *identity to the text of all that determines the run, as the scene is now; free with free(). Fails if the scene is
 * wrong. */
TalusStatus study_identify(const Study *study, const StudyRun *run, char **identity);

/* ---- store.c: the directories of runs ---- */

/* Creates DIR and DIR/runs and locks DIR. Returns the exit code. */
int study_open_store(Study *study);
/* Writes the path of the run's directory. */
void study_run_dir(const Study *study, const StudyRun *run, char path[CLI_PATH_MAX]);
/* True if the directory holds the whole run. */
bool study_is_whole(const Study *study, const StudyRun *run);
/* True if the directory has a checkpoint from which the run may go on. */
bool study_has_checkpoint(const Study *study, const StudyRun *run);
/* Removes what says that the directory holds a run, before a process writes there. */
void study_begin_run(const Study *study, const StudyRun *run);
/* Enters in the directory that it holds the whole run. Fails if it does not. */
TalusStatus study_confirm_run(const Study *study, const StudyRun *run);
/* Sets run->value from the tables of a whole run. */
TalusStatus study_read_run(const Study *study, StudyRun *run);

/* ---- jobs.c: the processes ---- */

/* Runs what is not there, several processes at a time, until all runs are finished or have failed, or a signal asks for an
 * end, which ends the processes too. */
void study_run_all(Study *study);
/* Returns the number of processes at a time. */
int study_job_count(const Study *study);

#endif
