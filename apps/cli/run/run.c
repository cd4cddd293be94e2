/* cli/run/run.c - talus run: runs a scene from its start, or a stopped run from its checkpoint, to the end.
 *
 * Each step writes its row, its frame if due and then the checkpoint if due. A checkpoint therefore never refers to
 * data that is not on disk, and a resumed run starts with the next step. Frames are due by step number (after a
 * shortened step by time), so that stopping does not move them.
 *
 * A run whose end is not a multiple of the step ends with one or two shortened steps (talus_world_step_to), which a run
 * to a later end does not have. The last checkpoint is therefore written before the shortened steps. A resume to a
 * later end continues from that checkpoint and removes all rows and frames after it, those of shortened steps too. */
#include "run.h"

#include "base/processors.h"
#include "base/profile.h"
#include "base/timer.h"
#include "io/run/checkpoint.h"
#include "io/text/text.h"
#include "world/compliance.h"
#include "world/step/stages.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Values of the options, which the table at the end describes. NULL, NAN, -1: not given. */
typedef struct Options {
    CliList set;
    const char *solver, *backend, *out, *frames, *from, *resume, *final_positions;
    int threads, ranks, seed;
    double until, every, checkpoint_every;
    bool json, quiet, no_out, accept_changed_files, profile;
} Options;

static Options options = {
    .threads = -1, .ranks = -1, .seed = -1, .until = NAN, .every = NAN, .checkpoint_every = 60.0};

/* State of one call of the command. */
typedef struct Session {
    Options options;
    const char *name; /* of the scene, as on the command line; NULL with --resume */
    Run run;
    TalusScene *scene;
    TalusSceneEntries entries; /* of the scene; empty with --resume */
    char *note; /* of the checkpoint: the settings of a resumed run point into it; else NULL */
    TalusOutput *output;
    Progress progress;
    Control control;
    char default_dir[CLI_PATH_MAX]; /* directory of the run without --out */
    char failure[RUN_TEXT_MAX];     /* first error; "": none */
    double last_checkpoint;         /* wall clock of the last checkpoint */
    double checked;                 /* wall clock of the last check of the directory */
    double saved_time;              /* simulated time of the last checkpoint written; -1: none */
    bool end_moved;                 /* a resumed run has another end than before */
} Session;

/* Prints talus_error() and returns CLI_FAILED; keeps the first error of the run for run.json. */
static int fail_run(Session *session)
{
    if (!session->failure[0])
        snprintf(session->failure, sizeof session->failure, "%s", talus_error());
    return cli_fail_library();
}

/* ---- a checkpoint ---- */

/* Writes a checkpoint of the present state; counts the time as output. Returns the exit code. */
static int write_checkpoint(Session *session)
{
    Run *run = &session->run;
    double begun = talus_now();
    char *note = run_note_format(&run->settings, &run->tally);
    TalusStatus status = note ? run_save(run, session->output, note) : TALUS_ERR_MEMORY;
    if (!note)
        cli_fail("out of memory for a checkpoint");
    else if (status != TALUS_OK)
        fail_run(session);
    else
        session->saved_time = talus_world_time(run->world);
    free(note);
    session->last_checkpoint = talus_now();
    run->clock.output += session->last_checkpoint - begun;
    return status == TALUS_OK ? CLI_OK : CLI_FAILED;
}

/* ---- opening ---- */

/* Checks that the options are valid and go together, before anything is opened. Returns the exit code. */
static int check_options(const Options *o, const CliList *operands)
{
    if (o->resume) {
        if (operands->count || o->set.count || o->seed >= 0 || o->from || o->solver || o->out ||
            o->frames || o->no_out || !isnan(o->every))
            return cli_fail_usage(
                &cli_run, "--resume: the scene and its settings come from the checkpoint; only "
                          "--until, --backend, --threads, --ranks, --checkpoint-every, "
                          "--accept-changed-files, --json, --quiet and --final-positions go "
                          "with it");
    } else if (operands->count == 0) {
        return cli_fail_usage(&cli_run, "expected SCENE or --resume DIR");
    } else if (o->no_out && (o->out || o->frames)) {
        return cli_fail_usage(&cli_run, "--no-out: keeps nothing, and does not go with --%s",
                              o->out ? "out" : "frames");
    } else if (o->accept_changed_files) {
        return cli_fail_usage(&cli_run, "--accept-changed-files: goes with --resume DIR alone");
    }
    if (o->until == 0.0 || o->every == 0.0)
        return cli_fail_usage(&cli_run, "%s 0: expected a number above 0",
                              o->until == 0.0 ? "--until" : "--every");
    int code = cli_check_backend(&cli_run, o->backend);
    if (code == CLI_OK)
        code = frame_kinds_check(&cli_run, o->frames);
    return code == CLI_OK ? cli_check_solver(&cli_run, o->solver) : code;
}

/* Builds the problem of the first step, of which each rank has its part, and fails if the solver does not support it. All
 * ranks call this together. */
static TalusStatus try_solver(Session *session, TalusProblem **problem)
{
    TalusStatus status = talus_world_build_part(session->run.world, problem);
    if (status == TALUS_OK && !cli_supports(session->options.solver, *problem))
        status = TALUS_ERR_UNSUPPORTED;
    return run_agree(&session->run, status);
}

/* Fails, before anything is written, if the solver does not support the problem of the first step. Solvers that take
 * every convex problem are not checked, which saves building the problem of the first step twice. */
static int check_support(Session *session)
{
    const char *spec = session->options.solver;
    TalusProblem *problem = NULL;
    int index = talus_solver_find(spec);
    if (index >= 0 && !(TALUS_TAKES_CONVEX & ~talus_solver_row(index).takes))
        return CLI_OK;
    run_order(&session->run, RUN_SUPPORT);
    TalusStatus status = try_solver(session, &problem);
    if (status == TALUS_ERR_UNSUPPORTED && problem)
        return cli_fail_unsupported(problem);
    return status == TALUS_OK ? CLI_OK : cli_fail_library();
}

/* Opens the directory for output: replaces its content and writes the first frame or, with `resume`, removes output
 * after the checkpoint. Then run.json says "running". Returns the exit code. */
static int open_output(Session *session, bool resume)
{
    Run *run = &session->run;
    FrameKinds kinds;
    RunFields fields;
    char scene[256];
    if (!frame_kinds_split(run->settings.frames, &kinds))
        return cli_fail("%s: its checkpoint names too many kinds of frames", run->dir);
    run_format_scene_name(run->settings.scene, scene, sizeof scene);
    TalusOutputDef def = {.title = run->settings.title,
                          .scene = scene,
                          .entries = session->entries.entry,
                          .entry_count = session->entries.count,
                          .kinds = kinds.item,
                          .kind_count = kinds.count,
                          .resume = resume,
                          .time = talus_world_time(run->world),
                          .accept_changes = session->options.accept_changed_files};
    TalusStatus status = run_fields_parse(&run->settings.fields, &fields);
    def.fields = fields.probe;
    def.field_count = fields.count;
    /* run.json is rewritten after talus_output_open, so that a failed resume leaves the state of the earlier run. */
    TALUS_THEN(status, talus_output_open(run->dir, &def, &session->output));
    run_fields_free(&fields);
    if (status == TALUS_OK || !resume)
        control_begin(&session->control, run);
    if (status == TALUS_OK && !resume)
        status = run_write_frame(&session->run, session->output);
    return status == TALUS_OK ? CLI_OK : fail_run(session);
}

/* Returns the number of threads of this rank; `threads` <= 0: not given. Ranks that are threads of one process share its
 * processors. */
static int share_threads(const Session *session, int threads)
{
    const int ranks = session->options.ranks;
    if (threads > 0 || ranks < 2)
        return threads;
    const int share = talus_count_processors() / ranks;
    return share > 1 ? share : 1;
}

/* Returns the directory of the run: --out, NULL with --no-out, else the default, announced unless --quiet. */
static const char *choose_dir(Session *session)
{
    const Options *o = &session->options;
    if (o->out || o->no_out)
        return o->out;
    run_format_default_dir(session->name, session->default_dir, sizeof session->default_dir);
    if (!o->quiet)
        fprintf(stderr, "talus: writes to %s; --out DIR chooses another place, --no-out none\n",
                session->default_dir);
    return session->default_dir;
}

/* Locks the directory of a new run and opens the output. If an earlier run is replaced, prints that even with --quiet,
 * because its data is lost. */
static int open_new_output(Session *session)
{
    const char *dir = session->run.dir;
    int code = control_open(&session->control, dir);
    if (code != CLI_OK)
        return code;
    int64_t steps = run_table_count_rows(dir, "steps.csv");
    if (steps >= 0)
        fprintf(stderr, "talus: %s: replaces a run of %" PRId64 " step%s\n", dir, steps,
                steps == 1 ? "" : "s");
    return open_output(session, false);
}

/* Loads the scene; all ranks need its files. */
static TalusStatus load_scene(Session *session)
{
    const CliList *set = &session->options.set;
    char path[CLI_PATH_MAX];
    if (!cli_find_scene(session->name, path, sizeof path))
        return talus_fail(TALUS_ERR_IO, "%s: not found", session->name);
    return talus_scene_load(path, set->item, set->count, &session->scene);
}

/* Loads the scene, builds its world and sets the settings. All ranks call this together; each gets its part. */
static TalusStatus build_scene(Session *session)
{
    const Options *o = &session->options;
    Run *run = &session->run;
    TalusSceneChoice choice = {.solver = o->solver,
                               .backend = o->backend,
                               .threads = share_threads(session, cli_convert_threads(o->threads)),
                               .comm = run->comm,
                               .entries = &session->entries};
    TALUS_TRY(run_agree(run, load_scene(session)));
    TALUS_TRY(run_agree(run, talus_scene_build(session->scene, &choice, &run->world)));
    talus_compliance_update_masses(run->world); /* then rank 0 alone can print the compliance */
    const char *title = talus_scene_title(session->scene);
    run->settings =
        (RunSettings){.scene = session->name,
                      .title = title[0] ? title : session->name,
                      .solver = o->solver,
                      .backend = talus_world_backend(run->world),
                      .frames = o->frames,
                      .set = o->set,
                      .seed = talus_scene_seed(session->scene),
                      .threads = o->threads > 0 ? o->threads : 0,
                      .until = isnan(o->until) ? talus_scene_until(session->scene) : o->until,
                      .every = isnan(o->every) ? talus_scene_every(session->scene) : o->every};
    return run_fields_of_scene(session->scene, &run->settings.fields);
}

/* Builds the scene on all ranks and, unless --no-out, opens the output. */
static int start_scene(Session *session)
{
    const Options *o = &session->options;
    char path[CLI_PATH_MAX];
    if (!cli_find_scene(session->name, path, sizeof path) || cli_refuse_problem(path))
        return CLI_FAILED;
    run_order(&session->run, RUN_BUILD);
    if (build_scene(session) != TALUS_OK)
        return cli_fail_by_domain(&cli_run);
    int code = o->solver ? check_support(session) : CLI_OK;
    if (code != CLI_OK)
        return code;
    session->run.dir = choose_dir(session);
    return session->run.dir ? open_new_output(session) : CLI_OK;
}

/* Sets *threads to --threads or, without it, to the number of the run that is resumed. */
static TalusStatus find_threads(const Session *session, int *threads)
{
    RunSettings settings = {.threads = 1};
    RunTally tally;
    char *note;
    *threads = session->options.threads;
    if (*threads >= 0)
        return TALUS_OK;
    TALUS_TRY(talus_checkpoint_read_note(session->options.resume, session->run.comm, &note));
    if (note)
        (void)run_note_parse(note, &settings, &tally); /* read_checkpoint says what is wrong */
    *threads = settings.threads;
    free(settings.set.item);
    free(settings.fields.item);
    talus_free(note);
    return TALUS_OK;
}

/* Reads world, settings and tally from the checkpoint. All ranks call this together; each gets its part of the world. */
static TalusStatus read_checkpoint(Session *session)
{
    const char *dir = session->options.resume;
    Run *run = &session->run;
    int threads;
    TALUS_TRY(find_threads(session, &threads));
    TALUS_TRY(talus_checkpoint_read_part(dir, run->comm, share_threads(session, threads),
                                         session->options.backend, &run->world, &session->note));
    if (!run_note_parse(session->note, &run->settings, &run->tally))
        return talus_fail_file(dir, TALUS_ERR_FORMAT,
                               "its checkpoint was not written by `talus run`");
    return TALUS_OK;
}

/* Reads the checkpoint and applies --until and --threads to the settings. */
static TalusStatus load_checkpoint(Session *session)
{
    const Options *o = &session->options;
    RunSettings *s = &session->run.settings;
    TALUS_TRY(read_checkpoint(session));
    talus_compliance_update_masses(session->run.world); /* as build_scene does */
    session->end_moved = !isnan(o->until) && o->until != s->until;
    if (o->threads >= 0)
        s->threads = o->threads;
    if (!isnan(o->until))
        s->until = o->until;
    return TALUS_OK;
}

/* Locks the directory of the run to resume. To be called before its checkpoint is read, since a run that is active
 * there would replace the checkpoint. Does nothing in a directory without a run, so that no run.lock is created
 * there. */
static int lock_resumed_dir(Session *session, const char *dir)
{
    static const char *const names[] = {TALUS_CHECKPOINT_A, TALUS_CHECKPOINT_B, "run.lock"};
    char path[CLI_PATH_MAX];
    bool found = false;
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        found = found || access(path, F_OK) == 0;
    }
    return found ? control_open(&session->control, dir) : CLI_OK;
}

/* Stores the backend of the world in the settings of a resumed run. Returns true, after a message unless --quiet, if
 * the checkpoint was written on another backend. */
static bool note_backend_change(Session *session)
{
    RunSettings *s = &session->run.settings;
    const char *now = talus_world_backend(session->run.world);
    bool moved = s->backend && strcmp(s->backend, now) != 0;
    if (moved && !session->options.quiet)
        fprintf(stderr,
                "talus: %s: goes on on backend %s; it was saved on %s, so the end is not bit for "
                "bit that of a run that was not stopped\n",
                session->options.resume, now, s->backend);
    s->backend = now;
    return moved;
}

/* Loads the checkpoint on all ranks and opens the output. */
static int resume_run(Session *session)
{
    const Options *o = &session->options;
    Run *run = &session->run;
    int code = lock_resumed_dir(session, o->resume);
    if (code != CLI_OK)
        return code;
    run_order(run, RUN_LOAD);
    if (run_agree(run, load_checkpoint(session)) != TALUS_OK)
        return cli_fail_library();
    bool changed = note_backend_change(session) || o->accept_changed_files || session->end_moved;
    run->dir = o->resume;
    session->saved_time = talus_world_time(run->world);
    /* Resuming a run whose end is before its checkpoint would discard output and compute nothing. */
    if (session->saved_time > run->settings.until + 1e-6 * talus_world_step_length(run->world))
        return cli_fail(
            "%s: its checkpoint is at t = %g s, past the end at t = %g s; --until moves "
            "the end",
            run->dir, session->saved_time, run->settings.until);
    code = open_output(session, true);
    /* The next resume must find these settings, even if no other checkpoint becomes due. */
    return code == CLI_OK && changed ? write_checkpoint(session) : code;
}

/* ---- the loop ---- */

static const double check_interval = 0.1; /* seconds between checks of the directory */

/* Writes a checkpoint if checkpoint_every seconds have passed since the last one and no step was shortened. */
static int write_checkpoint_if_due(Session *session)
{
    if (session->run.shortened)
        return CLI_OK;
    if (talus_now() - session->last_checkpoint < session->options.checkpoint_every)
        return CLI_OK;
    return write_checkpoint(session);
}

/* Writes the row of the step, its frame if `frame`, then a checkpoint if due. Returns the exit code. */
static int write_step(Session *session, const TalusStepInfo *info, bool frame)
{
    if (!session->output)
        return CLI_OK;
    double begun = talus_now();
    TalusStatus status = run_write_rows(&session->run, session->output, info);
    if (status == TALUS_OK && frame)
        status = run_write_frame(&session->run, session->output);
    session->run.clock.output += talus_now() - begun;
    if (status != TALUS_OK)
        return fail_run(session);
    return write_checkpoint_if_due(session);
}

/* ---- the directory ---- */

/* Checks, every check_interval at most, that the directory is still reachable by its name. */
static int check_directory(Session *session)
{
    double now = talus_now();
    if (!session->output || now - session->checked < check_interval)
        return CLI_OK;
    session->checked = now;
    return talus_output_check(session->output) == TALUS_OK ? CLI_OK : fail_run(session);
}

/* For a run that fails: if its directory was renamed or removed, saves the state in the open directory and prints the
 * directory's present path, or that the data is lost. Returns false if there is no output or the directory still has
 * its name. */
static bool rescue_state(Session *session)
{
    Run *run = &session->run;
    char path[CLI_PATH_MAX];
    if (!session->output || talus_output_check(session->output) == TALUS_OK)
        return false;
    char *note = cli_check_memory(run_note_format(&run->settings, &run->tally));
    if (run_rescue(run, session->output, note, path, sizeof path) == TALUS_OK)
        cli_fail("the state at t = %g s was saved: talus run --resume %s",
                 run->shortened ? session->saved_time : talus_world_time(run->world), path);
    else
        cli_fail("%s; what the run has written is lost", talus_error());
    free(note);
    return true;
}

/* For a run that fails: prints from which checkpoint it can be resumed; rescues the state if the directory was
 * moved. */
static void report_last_checkpoint(Session *session)
{
    if (rescue_state(session))
        return;
    if (session->saved_time >= 0.0)
        cli_fail("the last good checkpoint is at t = %g s: talus run --resume %s",
                 session->saved_time, session->run.dir);
    else
        cli_fail("there was no checkpoint yet");
}

/* Writes the last checkpoint and closes the output. Writes no checkpoint if the present state is saved already or was
 * reached by shortened steps. Closing writes the index of frames; the checkpoint refers to the frames before it. */
static int close_output(Session *session)
{
    Run *run = &session->run;
    int code = CLI_OK;
    if (session->saved_time != talus_world_time(run->world) && !run->shortened)
        code = write_checkpoint(session);
    else if (talus_output_check(session->output) != TALUS_OK)
        code = fail_run(session);
    if (code != CLI_OK)
        report_last_checkpoint(session);
    double begun = talus_now();
    if (code == CLI_OK && talus_output_close(session->output) != TALUS_OK)
        code = fail_run(session);
    else if (code != CLI_OK)
        talus_output_abandon(session->output);
    session->output = NULL;
    run->clock.output += talus_now() - begun;
    return code;
}

/* After a step that failed: prints the error and closes the output, with a checkpoint of the state before the step.
 * Returns CLI_FAILED. */
static int end_after_failed_step(Session *session)
{
    Run *run = &session->run;
    progress_end(&session->progress);
    snprintf(session->failure, sizeof session->failure, "at t = %g s: %s",
             talus_world_time(run->world), talus_error());
    cli_fail("%s", session->failure);
    if (session->output && close_output(session) == CLI_OK)
        cli_fail("the state before that step is in %s", run->dir);
    return CLI_FAILED;
}

/* If the next step is the first shortened one: writes the last checkpoint of the run. Otherwise does nothing. */
static int write_checkpoint_before_short_step(Session *session)
{
    Run *run = &session->run;
    if (!session->output || run->shortened ||
        run_next_step_length(run) == talus_world_step_length(run->world) ||
        session->saved_time == talus_world_time(run->world))
        return CLI_OK;
    int code = write_checkpoint(session);
    if (code != CLI_OK)
        report_last_checkpoint(session);
    return code;
}

/* Advances the world by one step, then updates totals and progress, writes the output of the step and reads command
 * words. Returns the exit code. */
static int make_step(Session *session)
{
    Run *run = &session->run;
    TalusStepInfo info;
    if (write_checkpoint_before_short_step(session) != CLI_OK)
        return CLI_FAILED;
    run_order(run, RUN_STEP);
    if (run_make_step(run, &info) != TALUS_OK)
        return end_after_failed_step(session);
    run->shortened |= info.length < talus_world_step_length(run->world);
    bool line = run_line_due(run, &info), frame = run_frame_due(run, &info);
    run_tally_step(&run->tally, &run->clock, &info);
    if (run->profiled)
        run_profile_add_step(run, &info);
    progress_step(&session->progress, run, &info, line);
    int code = write_step(session, &info, frame);
    if (code == CLI_OK)
        code = check_directory(session);
    if (code != CLI_OK)
        report_last_checkpoint(session);
    else
        control_poll(&session->control, run);
    return code;
}

static bool asked_to_stop(const Session *session)
{
    return cli_stop_signal() || session->control.stop;
}

/* Reports the state "paused" and sleeps until a command word or a signal ends the pause, with a checkpoint when due;
 * then reports "running" unless the run is to stop. Returns the exit code. */
static int wait_in_pause(Session *session)
{
    Run *run = &session->run;
    double begun = talus_now(), output = run->clock.output;
    int code = CLI_OK;
    control_report(&session->control, run, "paused", "");
    progress_pause(&session->progress, run);
    while (code == CLI_OK && session->control.pause && !asked_to_stop(session)) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        control_poll(&session->control, run);
        code = check_directory(session);
        if (code == CLI_OK && session->saved_time != talus_world_time(run->world))
            code = write_checkpoint_if_due(session);
    }
    double paused = talus_now() - begun - (run->clock.output - output);
    run->clock.paused += paused;
    if (code != CLI_OK) {
        report_last_checkpoint(session);
    } else if (!asked_to_stop(session)) {
        progress_resume(&session->progress, run, paused);
        control_report(&session->control, run, "running", "");
    }
    return code;
}

/* Makes steps, or waits while paused, until the run ends, fails or is asked to stop. */
static int step_until_end(Session *session)
{
    Run *run = &session->run;
    int code = CLI_OK;
    while (code == CLI_OK && !asked_to_stop(session) && run_next_step_length(run) > 0.0)
        code = session->control.pause ? wait_in_pause(session) : make_step(session);
    return code;
}

/* Starts the progress table, makes all steps and closes the output. Returns the exit code. */
static int run_to_end(Session *session)
{
    Run *run = &session->run;
    run->first_step = talus_world_steps(run->world);
    run->last_step = cli_steps_until(run->settings.until, talus_world_step_length(run->world));
    session->last_checkpoint = talus_now();
    run->clock.setup = session->last_checkpoint - run->clock.start;
    if (run_next_step_length(run) == 0.0)
        fprintf(stderr, "talus: already at t = %g s; --until moves the end\n",
                talus_world_time(run->world));
    progress_begin(&session->progress, run, session->options.quiet, session->options.json);
    run->profiled = session->options.profile;
    if (run->profiled)
        talus_profile_start();
    int code = step_until_end(session);
    progress_end(&session->progress);
    if (code == CLI_OK && session->output)
        code = close_output(session);
    run->clock.wall = talus_now() - run->clock.start;
    return code;
}

/* ---- the end ---- */

/* Returns the name of the signal that has stopped the run; if a command word did, "talus view", which writes these. */
static const char *name_of_stopper(void)
{
    return cli_stop_signal() ? cli_stop_name() : "talus view";
}

/* Prints the cause and the time of the stop, and how to resume the run. Returns the exit code. */
static int report_stop(const Session *session)
{
    const Run *run = &session->run;
    fprintf(stderr, "talus: stopped by %s at t = %g s (step %" PRId64 ")", name_of_stopper(),
            talus_world_time(run->world), talus_world_steps(run->world));
    if (run->dir)
        fprintf(stderr, "; go on with: talus run --resume %s\n", run->dir);
    else
        fprintf(stderr, "; nothing was kept, as --no-out asks\n");
    return 128 + (cli_stop_signal() ? cli_stop_signal() : SIGTERM);
}

static bool is_at_end(const Run *run)
{
    return run_next_step_length(run) == 0.0;
}

/* Prints the final report and writes --final-positions. Returns the exit code, that of a stop if the run is not at its
 * end. */
static int report_end(Session *session)
{
    const Options *o = &session->options;
    Run *run = &session->run;
    int code = CLI_OK;
    if (run_hash(run) != TALUS_OK)
        return cli_fail_library();
    if (run_has_parts(run)) {
        run_order(run, RUN_SHARES);
        if (run_gather_shares(run) != TALUS_OK)
            return cli_fail_library();
    }
    if (run->profiled)
        run_profile_finish(run);
    if (!o->quiet)
        run_report(run, o->json ? stderr : stdout);
    if (o->json)
        run_report_json(run);
    if (run->profiled && run_profile_write_page(run) != TALUS_OK)
        code = cli_fail_library();
    if (o->final_positions && run_write_positions(run, o->final_positions) != TALUS_OK)
        code = cli_fail_library();
    return code == CLI_OK && !is_at_end(run) ? report_stop(session) : code;
}

/* Writes "finished", "stopped" or "failed" to run.json; `code` is the exit code of the run so far. */
static void write_final_state(Session *session, int code)
{
    char message[RUN_TEXT_MAX] = "";
    const Run *run = &session->run;
    if (code == CLI_OK && !is_at_end(run))
        snprintf(message, sizeof message, "stopped by %s", name_of_stopper());
    if (code != CLI_OK)
        control_report(&session->control, run, "failed", session->failure);
    else
        control_report(&session->control, run, is_at_end(run) ? "finished" : "stopped", message);
}

/* Checks the options, opens the run, runs it to its end, writes run.json and reports. Returns the exit code. */
static int run_session(Session *session, const CliList *operands)
{
    int code = check_options(&session->options, operands);
    if (code != CLI_OK)
        return code;
    session->run.clock.start = talus_now();
    code = session->options.resume ? resume_run(session) : start_scene(session);
    if (code == CLI_OK)
        code = run_to_end(session);
    talus_output_abandon(session->output); /* still open only after a failure */
    write_final_state(session, code);
    return code == CLI_OK ? report_end(session) : code;
}

/* ---- ranks ---- */

/* What the ranks of a run share. */
typedef struct Job {
    const CliList *operands;
    int code; /* the exit code of rank 0 */
} Job;

/* Makes the world of a rank other than 0. */
static TalusStatus follow_build(void *context)
{
    return build_scene(context);
}

static TalusStatus follow_load(void *context)
{
    Session *session = context;
    return run_agree(&session->run, load_checkpoint(session));
}

/* Tries the solver together with rank 0. */
static TalusStatus follow_support(void *context)
{
    TalusProblem *problem;
    return try_solver(context, &problem);
}

static void close_session(Session *session)
{
    control_close(&session->control);
    talus_free(session->run.share);
    talus_world_destroy(session->run.world);
    talus_scene_destroy(session->scene);
    talus_scene_entries_free(&session->entries);
    talus_free(session->note);
    CliList *fields = &session->run.settings.fields;
    if (session->options.resume) /* else the list is that of the command line */
        free(session->run.settings.set.item);
    for (int i = 0; !session->options.resume && i < fields->count; i++)
        free((char *)fields->item[i]); /* else they are in the note */
    free(fields->item);
}

/* What one rank does. */
static TalusStatus run_rank(TalusComm *comm, void *context)
{
    Job *job = context;
    Session *session = cli_check_memory(calloc(1, sizeof *session));
    session->options = options;
    session->name = job->operands->count ? job->operands->item[0] : NULL;
    session->control.lock = -1;
    session->saved_time = -1.0;
    session->run.comm = talus_comm_size(comm) > 1 ? comm : NULL;
    if (talus_comm_rank(comm) > 0) {
        talus_set_log(NULL, NULL); /* rank 0 logs the same */
        run_follow(&session->run, &(RunMakers){follow_build, follow_support, follow_load, session});
    } else {
        job->code = run_session(session, job->operands);
        run_order(&session->run, RUN_END);
    }
    close_session(session);
    free(session);
    return TALUS_OK;
}

/* Runs a function on the ranks that were asked for: the processes that mpirun has started, threads, or one. */
static TalusStatus run_on_ranks(TalusRankFn *fn, void *context)
{
    if (talus_mpi_is_launched())
        return talus_ranks_run_mpi(fn, context);
    return options.ranks > 1 ? talus_ranks_run(options.ranks, fn, context) : fn(NULL, context);
}

/* Adds an assignment of --set: of the key `target`, which begins with a dot, so that it is never a parameter. Its text is used
 * to the end of the program. */
static void assign(const char *target, const char *value)
{
    TalusText text = {0};
    talus_text_print(&text, "%s=", target);
    talus_text_quote(&text, value);
    talus_text_print(&text, "%s", ""); /* a NUL */
    cli_list_add(&options.set, cli_check_memory(text.bytes));
}

static int run_main(const CliList *operands)
{
    char seed[32];
    Job job = {.operands = operands};
    if (options.seed >= 0 && !options.resume) {
        snprintf(seed, sizeof seed, ".seed=%d", options.seed);
        cli_list_add(&options.set, seed);
    }
    if (options.from && !options.resume)
        assign(".from.run", options.from);
    if (options.ranks > 1 && talus_mpi_is_launched())
        return cli_fail_usage(&cli_run, "--ranks: goes without mpirun, whose processes are ranks");
    cli_catch_signals(); /* in every process: mpirun passes signals on to all, and rank 0 ends the run */
    return run_on_ranks(run_rank, &job) == TALUS_OK ? job.code : cli_fail_library();
}

static const CliOption run_options[] = {
    {"set", 0, CLI_LIST, &options.set, "NAME=VALUE",
     "a parameter of the scene, or any key path such as\n"
     "solver.tolerance=1e-4, compliance=0 or defaults=relaxed;\nmay be repeated"},
    {"seed", 0, CLI_COUNT, &options.seed, "N",
     "shifts every random choice of the scene: another sample of\nthe same; 0, the default: none"},
    {"from", 0, CLI_TEXT, &options.from, "DIR[@T]",
     "begins with the bodies of an earlier run: of its newest\ncheckpoint, at or before simulated time T"},
    {"solver", 0, CLI_TEXT, &options.solver, "NAME[:K=V,...]",
     "solver and its parameters; `talus list solvers`"},
    {"backend", 0, CLI_TEXT, &options.backend, "NAME", "where to compute; `talus list backends`"},
    {"threads", 0, CLI_COUNT, &options.threads, "N",
     "threads to use, 0 for one per processor; results do not\ndepend on it"},
    {"ranks", 0, CLI_COUNT, &options.ranks, "N",
     "parts in which the world is computed, as threads of this\n"
     "process, or without this option one for each process of\n"
     "mpirun; results do not depend on it"},
    {"until", 0, CLI_REAL, &options.until, "T",
     "simulated seconds at which to end; the last step is\nshortened where it has to be"},
    {"out", 0, CLI_TEXT, &options.out, "DIR",
     "write frames, tables and checkpoints to DIR, in place of\n"
     "an earlier run there; out/NAME by default"},
    {"no-out", 0, CLI_FLAG, &options.no_out, NULL, "write none of these"},
    {"frames", 0, CLI_TEXT, &options.frames, "KIND[,KIND...]",
     "frames for other programs beside those of the viewer:\n"
     "vtp and vtkhdf (ParaView), lammps (OVITO), csv, and\n"
     "bulk, figures of each frame as by talus measure; exact:\n"
     "frames.talus has all digits and all contacts"},
    {"every", 0, CLI_REAL, &options.every, "DT",
     "simulated seconds between frames; table lines\nfollow them, 50 at most"},
    {"checkpoint-every", 0, CLI_REAL, &options.checkpoint_every, "SECONDS",
     "wall-clock seconds between checkpoints, 60 by default;\n"
     "one is also written at the end and on SIGINT or SIGTERM"},
    {"resume", 0, CLI_TEXT, &options.resume, "DIR",
     "go on from the newest sound checkpoint in DIR, with the\n"
     "settings of that run; --until moves its end, --backend\ngoes on elsewhere"},
    {"accept-changed-files", 0, CLI_FLAG, &options.accept_changed_files, NULL,
     "with --resume: go on although files of the run are missing\n"
     "or not as its checkpoint left them"},
    {"final-positions", 0, CLI_TEXT, &options.final_positions, "FILE",
     "at the end, write a line 'x y z' per moving body"},
    {"json", 0, CLI_FLAG, &options.json, NULL,
     "standard output holds one JSON object about the run and\n"
     "nothing else; tables go to standard error"},
    {"profile", 0, CLI_FLAG, &options.profile, NULL,
     "at the end, say where time and memory went, by loop and\n"
     "by array; on a GPU steps take longer meanwhile"},
    {"quiet", 0, CLI_FLAG, &options.quiet, NULL, "no table and no closing report"},
};

const CliCommand cli_run = {
    .name = "run",
    .summary = "Simulates a scene.",
    .operands = "SCENE",
    .operands_max = 1,
    .details =
        "SCENE is a file or the name of a scene that ships (`talus list scenes`).\n"
        "A run that was stopped and resumed ends in the same state, bit for bit, as one that was\n"
        "not. docs/reference/output.md describes the files.\n",
    CLI_OPTIONS(run_options),
    .main = run_main};
