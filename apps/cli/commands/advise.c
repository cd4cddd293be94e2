/* cli/commands/advise.c - talus advise: tries several settings on a scene and recommends one.
 *
 * First a state is made: the scene is simulated under the default setting up to --at, or for a quarter of --seconds but
 * at most to the middle of its run; or the checkpoint of a run is loaded. Each setting then advances this state by the
 * same simulated time, --span, or a time that follows from --seconds; without --span, a trial that takes more than its
 * share of the seconds ends before. No file is written. */
#include "advise.h"

#include "cli/run/run.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "world/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Values of the options, which the table at the end describes. NULL, NAN, -1: not given. */
typedef struct Options {
    CliList set;
    const char *backend, *from;
    int threads;
    double seconds, at, span;
    bool json, quiet;
} Options;

static Options options = {.threads = -1, .seconds = 20.0, .at = NAN, .span = NAN};

/* Parts of --seconds: state_part for the state from which trials start, pilot_part for the pilot trial by which
 * choose_span measures the cost of a step. span_part: part of the time left that all trials together would take if each
 * cost as much as the default; the rest is a reserve for settings that cost more. */
static const double state_part = 0.25, pilot_part = 0.04, span_part = 0.5;
enum { SPAN_STEPS = 12 }; /* minimum number of steps of a span */
/* Number of settings in the table of advise_plan with priority 0. The settings with priorities 0 to p are at most
 * ALWAYS_TRIED + p; one of priority p is tried if there is time for all of these. The scene's own setting, where it is
 * another one, is not counted. */
enum { ALWAYS_TRIED = 3 };

typedef struct Session {
    Advise advise;
    AdviseStart start;
    TalusWorldChanges own;               /* setting of the scene */
    AdviseSetting plan[ADVISE_SETTINGS]; /* settings to try */
    int count;                           /* number of settings in the plan */
    char *note;   /* of the checkpoint: advise.set points into it; NULL: none */
    double begun; /* clock reading at the start of the command */
    double until; /* simulated time at which the scene ends, s; infinite with --from */
} Session;

/* ---- the state ---- */

/* Returns the setting that the scene of the world gives. */
static TalusWorldChanges get_own_setting(const TalusWorld *world)
{
    const TalusWorldDef *def = &world->def;
    TalusWorldChanges own = {.law = def->friction.law,
                             .compliance = talus_world_compliance(world),
                             .elastic_overlap = def->elastic_overlap,
                             .tolerance = def->tolerance,
                             .step = def->step,
                             .on_miss = def->on_miss};
    return own;
}

/* Saves the world as the state from which all trials start, in place of an earlier saved state; sets the time, the
 * scales and the threads of this state. */
static TalusStatus save_start(Session *s, const TalusWorld *world)
{
    talus_free(s->start.bytes);
    s->start.bytes = NULL;
    s->advise.at = talus_world_time(world);
    s->advise.scales = advise_find_scales(world);
    s->start.threads = talus_world_threads(world);
    return talus_world_save(world, &s->start.bytes, &s->start.size);
}

/* Sets the scene's own setting, the default and the plan of settings to try. */
static void make_plan(Session *s, const TalusWorld *world)
{
    s->own = get_own_setting(world);
    s->advise.base = advise_default_setting(world);
    s->count = advise_plan(&s->own, &s->advise.base, s->plan);
}

/* Advances the saved state to --at or, without it, until state_part of --seconds has passed since the start of the
 * command, at most to the middle of the run; a signal ends it too. Uses the default setting, not the scene's own: under
 * the relaxation, bodies that begin to slide may be thrown up. */
static TalusStatus advance_start(Session *s)
{
    TalusWorld *world;
    bool chosen = !isnan(options.at);
    int64_t steps = cli_steps_until(chosen ? options.at : 0.5 * s->until, s->own.step);
    TalusStatus status = talus_world_load_changed(s->start.bytes, s->start.size, s->start.threads,
                                                  s->start.backend, &s->advise.base, &world);
    while (status == TALUS_OK && talus_world_steps(world) < steps && !cli_stop_signal() &&
           (chosen || talus_now() - s->begun < state_part * options.seconds))
        status = talus_world_step(world, NULL);
    TALUS_THEN(status, save_start(s, world));
    talus_world_destroy(world);
    return status;
}

/* Builds the scene, saves its start, makes the plan and advances the saved state. */
static TalusStatus start_from_scene(Session *s, const char *path)
{
    TalusScene *scene = NULL;
    TalusWorld *world = NULL;
    TalusSceneChoice choice = {.backend = options.backend,
                               .threads = cli_convert_threads(options.threads)};
    TalusStatus status = talus_scene_load(path, options.set.item, options.set.count, &scene);
    TALUS_THEN(status, talus_scene_build(scene, &choice, &world));
    TALUS_THEN(status, save_start(s, world));
    if (status == TALUS_OK) {
        s->until = talus_scene_until(scene);
        make_plan(s, world);
    }
    talus_world_destroy(world);
    talus_scene_destroy(scene);
    return status == TALUS_OK ? advance_start(s) : status;
}

/* Finds the file of a scene and starts from it; sets scene and assignments. Returns the exit code. */
static int start_from_named_scene(Session *s, const char *name)
{
    char path[CLI_PATH_MAX];
    if (!cli_find_scene(name, path, sizeof path) || cli_refuse_problem(path))
        return CLI_FAILED;
    snprintf(s->advise.scene, sizeof s->advise.scene, "%s", name);
    s->advise.set = options.set;
    return start_from_scene(s, path) == TALUS_OK ? CLI_OK : cli_fail_by_domain(&cli_advise);
}

/* Takes start, plan, scene and assignments from the checkpoint of the run in `dir`. Returns the exit code. */
static int start_from_run(Session *s, const char *dir)
{
    TalusWorld *world = NULL;
    RunSettings settings = {0};
    RunTally tally;
    int threads = options.threads > 0 ? options.threads : 0;
    TalusStatus status = talus_checkpoint_read(dir, threads, options.backend, &world, &s->note);
    TALUS_THEN(status, save_start(s, world));
    if (status == TALUS_OK)
        make_plan(s, world);
    talus_world_destroy(world);
    bool known = status == TALUS_OK && run_note_parse(s->note, &settings, &tally);
    snprintf(s->advise.scene, sizeof s->advise.scene, "%s", known ? settings.scene : dir);
    if (known)
        s->advise.set = settings.set;
    free(settings.fields.item);
    s->until = INFINITY; /* the trials may go on past the end of the run */
    return status == TALUS_OK ? CLI_OK : cli_fail_library();
}

/* ---- the trials ---- */

/* Returns what is left of --seconds, at least 0. */
static double seconds_left(const Session *s)
{
    return fmax(0.0, options.seconds - (talus_now() - s->begun));
}

/* Runs the trial of a setting from the saved state; replaces *trial. */
static TalusStatus run_trial(Session *s, const AdviseSetting *setting, double span, double seconds,
                             AdviseTrial *trial)
{
    *trial = (AdviseTrial){.setting = *setting};
    return advise_run_trial(&s->start, &s->advise.scales, span, seconds, trial);
}

/* Chooses the span, unless --span gives it, by the cost of a few steps of the default, and drops settings of the plan
 * for which there is no time. The span is 0 if a signal stops the command before the first step. */
static TalusStatus choose_span(Session *s)
{
    Advise *a = &s->advise;
    AdviseTrial pilot;
    a->span = options.span;
    if (!isnan(a->span))
        return TALUS_OK;
    TALUS_TRY(run_trial(s, &(AdviseSetting){.changes = a->base}, INFINITY,
                        pilot_part * options.seconds, &pilot));
    free(pilot.step);
    if (pilot.steps == 0) {
        a->span = 0.0;
        return cli_stop_signal() ? TALUS_OK : talus_fail(TALUS_ERR_NUMERIC, "%s", pilot.failure);
    }
    double step = pilot.wall / pilot.steps, left = seconds_left(s), h = s->own.step;
    int affordable = (int)fmin(s->count, left * span_part / (SPAN_STEPS * step)), kept = 0;
    for (int i = 0; i < s->count; i++)
        if (s->plan[i].priority == 0 || ALWAYS_TRIED + s->plan[i].priority <= affordable)
            s->plan[kept++] = s->plan[i];
    a->left_out = s->count - kept;
    s->count = kept;
    double steps = fmax(SPAN_STEPS, floor(span_part * left / (kept * step)));
    a->span = fmin(steps * h, fmax(s->until - a->at, SPAN_STEPS * h));
    return TALUS_OK;
}

/* Prints "talus: NUMBER of COUNT: SETTING" unless --quiet. */
static void report_progress(const AdviseSetting *setting, int number, int count)
{
    char text[ADVISE_TEXT];
    if (options.quiet)
        return;
    advise_describe_setting(&setting->changes, text, sizeof text);
    fprintf(stderr, "talus: %d of %d: %s\n", number, count, text);
}

/* Runs and adds the trial of a setting. Its time limit is an equal share of the time left, with `others` trials that
 * follow; none with --span. */
static TalusStatus add_trial(Session *s, const AdviseSetting *setting, int others)
{
    Advise *a = &s->advise;
    double share = isnan(options.span) ? seconds_left(s) / (others + 1) : INFINITY;
    report_progress(setting, a->trials + 1, a->trials + 1 + others);
    return run_trial(s, setting, a->span, share, &a->trial[a->trials++]);
}

static bool is_tried(const Advise *a, const TalusWorldChanges *setting)
{
    for (int i = 0; i < a->trials; i++)
        if (advise_same_setting(&a->trial[i].setting.changes, setting))
            return true;
    return false;
}

/* Runs the trials of the plan and judges them; then, unless tried already, runs the recommended setting, whose values
 * may have been tried only one by one, and confirms it. */
static TalusStatus run_trials(Session *s)
{
    Advise *a = &s->advise;
    AdviseSetting recommended = {0};
    TALUS_TRY(choose_span(s));
    for (int i = 0; i < s->count && !cli_stop_signal(); i++)
        TALUS_TRY(add_trial(s, &s->plan[i], s->count - i));
    advise_judge(a);
    recommended.changes = a->advice.changes;
    if (cli_stop_signal() || !a->advice.given || is_tried(a, &recommended.changes))
        return TALUS_OK;
    TALUS_TRY(add_trial(s, &recommended, 0));
    advise_confirm(a);
    return TALUS_OK;
}

/* ---- the command ---- */

/* Checks that the options are valid and go together. Returns the exit code. */
static int check_options(const CliList *operands)
{
    if (options.from && (operands->count || options.set.count || !isnan(options.at)))
        return cli_fail_usage(
            &cli_advise, "--from: scene and state come from the run; SCENE, --set and --at do not "
                         "go with it");
    if (!options.from && operands->count == 0)
        return cli_fail_usage(&cli_advise, "expected SCENE or --from DIR");
    if (options.seconds == 0.0 || options.span == 0.0)
        return cli_fail_usage(&cli_advise, "%s 0: expected a number above 0",
                              options.seconds == 0.0 ? "--seconds" : "--span");
    return cli_check_backend(&cli_advise, options.backend);
}

/* Opens scene or run, runs the trials and prints the result. Returns the exit code. */
static int advise_and_print(Session *s, const CliList *operands)
{
    Advise *a = &s->advise;
    int code = options.from ? start_from_run(s, options.from)
                            : start_from_named_scene(s, operands->item[0]);
    if (code != CLI_OK)
        return code;
    if (a->scales.moving == 0)
        return cli_fail("%s: no body moves, so there is nothing to try", a->scene);
    if (run_trials(s) != TALUS_OK)
        return cli_fail_library();
    a->stopped = cli_stop_signal() != 0;
    if (options.json)
        advise_print_json(a);
    else
        advise_print(a);
    return a->stopped ? 128 + cli_stop_signal() : CLI_OK;
}

static int advise_main(const CliList *operands)
{
    static Session session;
    int code = check_options(operands);
    if (code != CLI_OK)
        return code;
    cli_catch_signals();
    session.begun = talus_now();
    session.start.backend = options.backend;
    code = advise_and_print(&session, operands);
    for (int i = 0; i < session.advise.trials; i++)
        free(session.advise.trial[i].step);
    talus_free(session.start.bytes);
    talus_free(session.note);
    return code;
}

static const CliOption advise_options[] = {
    {"seconds", 0, CLI_REAL, &options.seconds, "S", "wall-clock seconds to spend, 20 by default"},
    {"from", 0, CLI_TEXT, &options.from, "DIR",
     "start from the newest checkpoint of the run in DIR:\na settled bed is a better judge than one that falls"},
    {"at", 0, CLI_REAL, &options.at, "T",
     "start from simulated time T, reached by the default\n"
     "setting; if not given, as far as a quarter of the seconds goes"},
    {"span", 0, CLI_REAL, &options.span, "T",
     "simulated seconds that each setting covers, whatever the\n"
     "wall clock says; by default what the seconds allow"},
    {"set", 0, CLI_LIST, &options.set, "NAME=VALUE",
     "a parameter of the scene, or any key path; may be repeated"},
    {"backend", 0, CLI_TEXT, &options.backend, "NAME", "where to compute; `talus list backends`"},
    {"threads", 0, CLI_COUNT, &options.threads, "N", "threads to use, 0 for one per processor"},
    {"json", 0, CLI_FLAG, &options.json, NULL, "standard output holds one JSON object"},
    {"quiet", 0, CLI_FLAG, &options.quiet, NULL, "no progress on standard error"},
};

const CliCommand cli_advise = {
    .name = "advise",
    .summary = "Tries several settings on a scene and recommends one.",
    .operands = "SCENE",
    .operands_max = 1,
    .details =
        "Advances one state of the scene under laws, stiffnesses, tolerances and steps in turn, prints what\n"
        "each costs and errs, and recommends keys for the scene, which stays as it is. Ctrl-C prints what is\n"
        "known so far. docs/how-to/advise.md explains the table.\n",
    CLI_OPTIONS(advise_options),
    .main = advise_main};
