/* cli/run/run.h - parts of `talus run`: settings, totals, schedule of frames, progress, control and report. */
#ifndef TALUS_CLI_RUN_H
#define TALUS_CLI_RUN_H

#include "cli/cli.h"
#include "cli/json_out.h"
#include "dir.h"

#include "comm/comm.h"
#include "io/file/dir.h"

#include <talus/io.h>

#include <stdio.h>

/* Definition of a run. A checkpoint stores it, so that --resume needs only the directory. Texts are not owned: they are
 * arguments, texts of the scene and the world, or parts of a checkpoint's note. */
typedef struct RunSettings {
    const char *scene;   /* as named on the command line */
    const char *title;   /* the scene's title, or its name if it has none */
    const char *solver;  /* NULL: the scene's */
    const char *backend; /* NULL: read from a checkpoint that lacks this field */
    const char *frames;  /* additional kinds of frames, "vtp,csv"; NULL: none */
    CliList set;         /* assignments NAME=VALUE of --set, that of --seed among them */
    CliList fields;      /* probes of fields as lines of text (io/run/field_probes.h) */
    int64_t seed;        /* of the scene as it was read */
    int threads; /* of --threads; 0: not given or 0, so that a resumed run takes one per processor */
    double until, every; /* simulated seconds: end of the run; time between frames */
} RunSettings;

/* Totals over all steps, including those before a --resume, and figures of the last step. */
typedef struct RunTally {
    int64_t iterations, missed; /* missed: steps that did not reach the tolerance */
    int64_t fallbacks;          /* machines whose projection failed, summed over steps */
    double residual_max;        /* maximum over steps of the root mean square residual, m/s */
    /* Of the last step: */
    int64_t contacts;
    double residual;                          /* root mean square, m/s */
    double penetration_mean, penetration_max; /* over the size of the smaller body */
    double kinetic;                           /* energy, J */
    TalusOverlapSummary overlap;              /* of loaded contacts */
} RunTally;

/* Wall-clock seconds of this process by stage. */
typedef struct RunClock {
    double setup, detect, build, solve, integrate, output, paused;
    double start; /* clock reading when the command began to open the run */
    double wall;  /* seconds from `start` to the end of the run */
} RunClock;

/* Mean seconds of some consecutive steps, by stage. */
typedef struct RunStageMean {
    double time; /* simulated, at the end of the last of the steps, s */
    double detect, build, solve, integrate;
} RunStageMean;

/* Seconds of all steps of a profiled run, by stage; when `mean` is full, each two of its entries become one. */
enum { RUN_STAGE_MEANS = 1024 };
typedef struct RunStageTimes {
    RunStageMean mean[RUN_STAGE_MEANS];
    int count;      /* entries, the last one perhaps of fewer steps */
    int64_t steps;  /* of an entry; 0 before the first step */
    int64_t latest; /* steps of the last entry */
} RunStageTimes;

/* What one rank has had to do. */
typedef struct RunShare {
    double bodies, contacts; /* at the end */
    double
        step_seconds; /* in steps; of these, seconds in messages and in reductions, waiting included */
    double message_seconds, reduce_seconds;
    double hidden_seconds;  /* of computing while messages were under way */
    double messages, bytes; /* sent in steps */
    double peak_bytes;      /* of its process */
} RunShare;

typedef struct Run {
    RunSettings settings;
    RunTally tally;
    RunClock clock;
    TalusWorld *world;     /* of several ranks: this rank's part */
    TalusComm *comm;       /* NULL: one rank */
    TalusCommUse comm_use; /* in steps */
    double step_seconds;   /* of this rank, in steps */
    RunShare *share;       /* [ranks], on rank 0 at the end; NULL before, and on one rank */
    int64_t first_step;    /* number of steps that the run had before this process */
    int64_t last_step;     /* number of steps that the run is to have at its end */
    uint64_t hash;         /* talus_world_hash at the end */
    /* True once a step was shorter than h, so that time is no longer the number of steps times h. */
    bool shortened;
    const char *dir; /* directory of the output; NULL: no output */
    bool profiled;   /* --profile was given */
    RunStageTimes stage_times;
    double copy_speed; /* bytes/s of a copy, of a profiled run at its end */
} Run;

/* Adds a step to the totals and to the seconds of its stages, and stores its figures as those of the last step. */
void run_tally_step(RunTally *tally, RunClock *clock, const TalusStepInfo *info);

/* ---- ranks.c: a run on several ranks ----
 * Rank 0 runs the session; the others do what it orders. run_agree and run_make_step are called
 * by all ranks, rank 0 calling run_order before. */
typedef enum RunOrder {
    RUN_END,
    RUN_BUILD,
    RUN_SUPPORT,
    RUN_LOAD,
    RUN_STEP,
    RUN_ROWS,
    RUN_SAVE,
    RUN_FRAME,
    RUN_HASH,
    RUN_POSITIONS,
    RUN_SHARES
} RunOrder;

/* Rank 0: tells the others what all ranks do next. Does nothing on one rank. */
void run_order(const Run *run, RunOrder order);
/* True if there is a world, in parts. */
static inline bool run_has_parts(const Run *run)
{
    return run->comm && run->world;
}
/* Returns the status of this rank if it is a failure, else a failure if another rank has failed, which then prints why. */
TalusStatus run_agree(const Run *run, TalusStatus status);
/* Makes one step towards the end of the run. */
TalusStatus run_make_step(Run *run, TalusStepInfo *info);

/* ---- shares.c ---- */
/* Returns the peak of the resident memory of this process, bytes. */
double run_peak_bytes(void);
/* Makes run->share, on rank 0. All ranks call it, as above. */
TalusStatus run_gather_shares(Run *run);
/* Print run->share as a table, or its extremes where ranks are many, and write it as JSON, if there is one. */
void run_print_shares(const Run *run, FILE *out);
void run_write_shares(const Run *run, JsonOut *json);

/* ---- orders.c ---- */
/* What a rank does for RUN_BUILD, RUN_SUPPORT and RUN_LOAD; all end with run_agree. */
typedef struct RunMakers {
    TalusStatus (*build)(void *context), (*try_solver)(void *context), (*load)(void *context);
    void *context;
} RunMakers;
/* Other ranks: do what rank 0 orders, until the end or a failure, which is one of all ranks (run_agree). */
void run_follow(Run *run, const RunMakers *make);
/* Rank 0: write the rows of a step, a frame, a checkpoint; sets run->hash; writes the positions of moving bodies. `output` and
 * `note` as for talus_output_checkpoint. */
TalusStatus run_write_rows(Run *run, TalusOutput *output, const TalusStepInfo *info);
TalusStatus run_write_frame(Run *run, TalusOutput *output);
TalusStatus run_save(Run *run, TalusOutput *output, const char *note);
/* The same for talus_output_rescue. */
TalusStatus run_rescue(Run *run, TalusOutput *output, const char *note, char *path, size_t size);
TalusStatus run_hash(Run *run);
TalusStatus run_write_positions(Run *run, const char *path);

/* ---- schedule.c ---- */
/* Returns the length of the next step, s; 0 at the end of the run. */
double run_next_step_length(const Run *run);
/* True if the step just taken, described by `info`, is to have a frame or a line of the progress table. */
bool run_frame_due(const Run *run, const TalusStepInfo *info);
bool run_line_due(const Run *run, const TalusStepInfo *info);

/* ---- note.c ---- */
/* Returns settings and totals as text, stored in a checkpoint as its note; release with free(). NULL: out of memory. */
char *run_note_format(const RunSettings *settings, const RunTally *tally);
/* Parses a note; modifies its text, and the settings point into it. *settings must be zeros or from an earlier call,
 * whose arrays settings->set.item and settings->fields.item are used again. Returns false if the text is not such a note; both
 * structs are then undefined, except these arrays. */
bool run_note_parse(char *note, RunSettings *settings, RunTally *tally);

/* ---- fields.c: probes of fields ---- */

/* Probes as the output takes them; `line` has their names. */
typedef struct RunFields {
    TalusFieldProbe *probe;
    char **line;
    int count;
} RunFields;

/* Sets *fields to lines of text, each of which the caller frees. */
TalusStatus run_fields_of_scene(const TalusScene *scene, CliList *fields);
/* Reads the lines; free with run_fields_free, also after a failure. */
TalusStatus run_fields_parse(const CliList *fields, RunFields *out);
void run_fields_free(RunFields *fields);

/* ---- kinds of frames, as named in --frames and in a note ---- */
enum { FRAME_KINDS_MAX = 16 };

typedef struct FrameKinds {
    char text[256]; /* memory of the items */
    const char *item[FRAME_KINDS_MAX];
    int count;
} FrameKinds;

/* Splits a list such as "vtp,csv"; NULL is empty. Drops "view", always written. Does not check the names. Returns false
 * if the text does not fit into kinds->text or names more than FRAME_KINDS_MAX kinds. */
bool frame_kinds_split(const char *list, FrameKinds *kinds);
/* Checks that `list`, the value of --frames, names kinds of this build, none of them twice. Returns CLI_OK, or the exit
 * code after a message. */
int frame_kinds_check(const CliCommand *command, const char *list);

/* ---- control: lock, run.json and command words from outside ---- */
typedef struct Control {
    const char *dir;  /* set by control_begin; NULL: control_report and control_poll do nothing */
    TalusDir held;    /* the open directory; stays valid if the directory is renamed */
    int lock;         /* descriptor of run.lock; -1: none */
    bool pause, stop; /* requested by command words */
    double polled, reported; /* wall clock of the last read of `control`, last write of run.json */
    int64_t reported_step;   /* steps at the last write of run.json */
    double reported_active;  /* seconds spent in steps and output, at the last write of run.json */
    double rate;             /* steps per second between the last two writes of run.json */
} Control;

/* Creates `dir` if needed, locks it (or warns if the file system has no locks), and removes a command word for an
 * earlier run. Returns the exit code; call control_close even after a failure. */
int control_open(Control *control, const char *dir);
/* Lets control_report and control_poll act from now on, and reports the state "running". */
void control_begin(Control *control, const Run *run);
/* Rewrites run.json; `message` may be "". Ignores a failure to write. */
void control_report(Control *control, const Run *run, const char *state, const char *message);
/* Reads the file `control`, sets control->pause and control->stop by its word, and, unless paused, rewrites run.json;
 * each only if enough time has passed since the last time. Call after each step and repeatedly during a pause. */
void control_poll(Control *control, const Run *run);
/* Unlocks and closes the directory. */
void control_close(Control *control);

/* ---- progress: a table line per interval and, on a terminal, a bar ---- */
typedef struct Progress {
    FILE *table;     /* NULL: quiet */
    bool bar;        /* a bar is drawn on standard error, a terminal */
    double begun;    /* wall clock at the start, plus the seconds of pauses since */
    double last_bar; /* wall clock at the last redraw of the bar */
    /* Of the steps since the last table line: */
    double interval_begun;     /* wall clock at their start, plus the seconds of pauses since */
    int64_t steps, iterations; /* numbers */
    double residual;           /* maximum of the root mean square residual, m/s */
    double penetration;        /* maximum, over the size of the smaller body */
} Progress;

/* Prints the table's head to standard output, or with `json` to standard error, where later lines go too. With `quiet`
 * neither this nor the other calls print anything. */
void progress_begin(Progress *progress, const Run *run, bool quiet, bool json);
/* Call after each step. `line`: the step ends an interval, so a table line is printed. */
void progress_step(Progress *progress, const Run *run, const TalusStepInfo *info, bool line);
/* Report the beginning and the end of a pause; its `seconds` do not count in speeds. */
void progress_pause(Progress *progress, const Run *run);
void progress_resume(Progress *progress, const Run *run, double seconds);
/* Erases the bar, which is not drawn again. */
void progress_end(Progress *progress);

/* ---- the end of a run ---- */

/* Writes the name of a scene: its path without folders and ".json". */
void run_format_scene_name(const char *scene, char *name, size_t size);
/* Writes the default directory of a run: out/NAME with the name of the scene, or out/sceneNAME if the name is empty or
 * begins with a dot. */
void run_format_default_dir(const char *scene, char *dir, size_t size);
/* Print the final report (seconds by stage, steps, residuals, hash): as text to `out`, as JSON to standard output. */
void run_report(const Run *run, FILE *out);
void run_report_json(const Run *run);

/* ---- profile.c: --profile ---- */
/* Adds a step to run->stage_times. */
void run_profile_add_step(Run *run, const TalusStepInfo *info);
/* Ends the profile and measures run->copy_speed. */
void run_profile_finish(Run *run);
/* Print and write where the time and the memory of the run went. */
void run_profile_print(const Run *run, FILE *out);
void run_profile_write_json(const Run *run, JsonOut *json);
/* Writes profile.html into the directory of the run, if it has one. */
TalusStatus run_profile_write_page(const Run *run);

#endif
