/* cli/run/control.c - interface of a run to other processes: holds the lock of its directory, reports progress in
 * run.json, and reads command words between steps.
 *
 * Reports and reads follow the wall clock: however fast the steps are, the run reads command words at most ten times
 * and writes run.json at most twice per second. Nothing here affects the results. */
#include "run.h"

#include "base/timer.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const double poll_interval = 0.1, report_interval = 0.5; /* seconds */

/* Creates and opens the directory; fails if a link, a pipe or another special file has the name of a file that the run
 * writes here. */
static TalusStatus open_dir(Control *control, const char *dir)
{
    static const char *const names[] = {"run.lock", "run.json", "run.json.tmp", "control",
                                        "control.taken"};
    TALUS_TRY(talus_dir_open(dir, &control->held));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        TALUS_TRY(talus_dir_expect_file(&control->held, names[i]));
    return TALUS_OK;
}

int control_open(Control *control, const char *dir)
{
    char word[32];
    *control = (Control){.lock = -1};
    if (open_dir(control, dir) != TALUS_OK)
        return cli_fail_library();
    switch (run_lock_take(control->held.fd, &control->lock)) {
    case RUN_LOCK_HELD: return cli_fail("%s: another run is writing there", dir);
    case RUN_LOCK_FAILED: return cli_fail("%s/run.lock: cannot open: %s", dir, strerror(errno));
    case RUN_LOCK_ABSENT:
        fprintf(stderr,
                "talus: %s: cannot be locked (%s), so nothing keeps a second run from writing "
                "there\n",
                dir, strerror(errno));
        break;
    case RUN_LOCKED: break;
    }
    run_control_take(control->held.fd, word, sizeof word); /* drops a word for an earlier run */
    return CLI_OK;
}

void control_begin(Control *control, const Run *run)
{
    control->dir = run->dir;
    control_report(control, run, "running", "");
}

/* Wall-clock seconds so far that were spent in steps and their output, not in setup and pauses. */
static double active_seconds(const Run *run)
{
    return talus_now() - run->clock.start - run->clock.setup - run->clock.paused;
}

/* Sets control->rate to the steps per second since the last report; leaves it unchanged if there were no steps. */
static void measure_rate(Control *control, const Run *run)
{
    int64_t step = talus_world_steps(run->world);
    double active = active_seconds(run);
    if (step > control->reported_step && active > control->reported_active)
        control->rate =
            (double)(step - control->reported_step) / (active - control->reported_active);
    control->reported_step = step;
    control->reported_active = active;
}

/* Ignores a failure to write run.json: results do not depend on it, and the run's own output will fail with a
 * message. */
void control_report(Control *control, const Run *run, const char *state, const char *message)
{
    const TalusOverlapSummary *overlap = &run->tally.overlap;
    if (!control->dir)
        return;
    RunState s = {.state = state,
                  .step = talus_world_steps(run->world),
                  .time = talus_world_time(run->world),
                  .until = run->settings.until,
                  .every = run->settings.every,
                  .seed = run->settings.seed,
                  .bodies = talus_world_body_count(run->world),
                  .overlap_mean = overlap->mean,
                  .overlap_p99 = overlap->p99,
                  .overlap_max = overlap->max,
                  .kappa = overlap->kappa > 0.0 ? overlap->kappa : NAN};
    measure_rate(control, run);
    s.steps_per_second = control->rate;
    run_format_scene_name(run->settings.scene, s.scene, sizeof s.scene);
    snprintf(s.title, sizeof s.title, "%s", run->settings.title);
    snprintf(s.message, sizeof s.message, "%s", message);
    run_state_write(control->held.fd, &s);
    control->reported = talus_now();
}

/* Sets control->pause or control->stop by a command word; prints a message if the word is unknown. */
static void obey_word(Control *control, const char *word)
{
    if (strcmp(word, RUN_PAUSE) == 0)
        control->pause = true;
    else if (strcmp(word, RUN_CONTINUE) == 0)
        control->pause = false;
    else if (strcmp(word, RUN_STOP) == 0)
        control->stop = true;
    else
        fprintf(stderr, "talus: %s/control: '%s' is none of pause, run and stop\n", control->dir,
                word);
}

void control_poll(Control *control, const Run *run)
{
    char word[32];
    double now = talus_now();
    if (!control->dir)
        return;
    if (now - control->polled >= poll_interval) {
        control->polled = now;
        if (run_control_take(control->held.fd, word, sizeof word))
            obey_word(control, word);
    }
    if (!control->pause && now - control->reported >= report_interval)
        control_report(control, run, "running", "");
}

void control_close(Control *control)
{
    if (control->lock >= 0)
        close(control->lock);
    talus_dir_close(&control->held);
    *control = (Control){.lock = -1};
}
