/* cli/run/progress.c - table and bar that show the progress of a run. */
#include "run.h"

#include "base/timer.h"
#include "world/compliance.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };                /* characters */
static const double bar_interval = 0.2; /* seconds between redraws */

/* Formats seconds as "1:05" or "2:03:10"; "-" if they are NAN, negative or very large. */
static void format_duration(double seconds, char *text, size_t size)
{
    if (!(seconds >= 0.0 && seconds < 1e8)) {
        snprintf(text, size, "-");
        return;
    }
    long s = lround(seconds);
    if (s >= 3600)
        snprintf(text, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(text, size, "%ld:%02ld", s / 60, s % 60);
}

/* Estimates the seconds until the end of the run from the mean speed of this process, which varies less than the recent
 * speed. */
static double seconds_left(const Progress *progress, const Run *run, double now)
{
    double done = (double)(talus_world_steps(run->world) - run->first_step);
    double left = (double)(run->last_step - talus_world_steps(run->world));
    return done > 0.0 ? left * (now - progress->begun) / done : NAN;
}

static void erase_bar(const Progress *progress)
{
    if (progress->bar) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

/* Redraws the bar; shows `word`, unless it is NULL, instead of the remaining time. */
static void draw_bar(Progress *progress, const Run *run, double now, const char *word)
{
    char left[32];
    double total = (double)(run->last_step - run->first_step);
    double done = (double)(talus_world_steps(run->world) - run->first_step);
    double part = total > 0.0 ? done / total : 1.0;
    int filled = (int)(part * BAR_WIDTH);
    format_duration(seconds_left(progress, run, now), left, sizeof left);
    fprintf(stderr, "\r\033[K[%.*s%*s] %3.0f %%  t = %.4g s  %s%s", filled,
            "##############################", BAR_WIDTH - filled, "", 100.0 * part,
            talus_world_time(run->world), word ? word : left, word ? "" : " left");
    fflush(stderr);
    progress->last_bar = now;
}

/* Sets the sums and maxima since the last table line to zero. */
static void begin_interval(Progress *progress, double now)
{
    progress->interval_begun = now;
    progress->steps = progress->iterations = 0;
    progress->residual = progress->penetration = 0.0;
}

/* Bytes of the texts of format_contact_law and format_processors. */
enum { CONTACT_LAW_TEXT = 160, PROCESSORS_TEXT = 64 };

/* Formats the compliance of the next step and, if it follows a change of bodies or tolerance, where it goes: "rigid",
 * "compliance 0.01", "compliance 0.008 (moving to 0.01)". */
static void format_compliance(const TalusWorld *world, char *text, size_t size)
{
    double now = talus_world_compliance(world), target = talus_target_compliance(world);
    int used =
        now > 0.0 ? snprintf(text, size, "compliance %g", now) : snprintf(text, size, "rigid");
    if (target != now)
        snprintf(text + used, size - (size_t)used, " (moving to %g)", target);
}

/* Formats law, section unless it is the disc, and compliance: "coulomb, compliance 0.01". */
static void format_contact_law(const TalusWorld *world, char text[CONTACT_LAW_TEXT])
{
    TalusFrictionModel model = talus_world_friction(world);
    char section[32], on[48] = "", soft[64];
    talus_section_format(model, section, sizeof section);
    if (model.section != TALUS_SECTION_DISC)
        snprintf(on, sizeof on, " on %s", section);
    format_compliance(world, soft, sizeof soft);
    snprintf(text, CONTACT_LAW_TEXT, "%s%s, %s", talus_law_name(model.law), on, soft);
}

/* Formats ranks and threads: "2 threads", "3 ranks of 2 threads". */
static void format_processors(const Run *run, char text[PROCESSORS_TEXT])
{
    const int ranks = talus_comm_size(run->comm), threads = talus_world_threads(run->world);
    char before[32] = "";
    if (ranks > 1)
        snprintf(before, sizeof before, "%d ranks of ", ranks);
    snprintf(text, PROCESSORS_TEXT, "%s%d thread%s", before, threads, threads == 1 ? "" : "s");
}

void progress_begin(Progress *progress, const Run *run, bool quiet, bool json)
{
    double now = talus_now();
    char contact[CONTACT_LAW_TEXT], processors[PROCESSORS_TEXT];
    memset(progress, 0, sizeof *progress);
    progress->begun = now;
    begin_interval(progress, now);
    if (quiet)
        return;
    progress->table = json ? stderr : stdout;
    progress->bar = isatty(STDERR_FILENO);
    format_contact_law(run->world, contact);
    format_processors(run, processors);
    fprintf(progress->table, "%s: %lld bodies, h = %g s, %s, %s, to t = %g s\n\n",
            run->settings.title, (long long)talus_world_body_count(run->world),
            talus_world_step_length(run->world), contact, processors, run->settings.until);
    fprintf(progress->table, "%10s %9s %9s %10s %9s %11s %11s %9s %9s\n", "time", "bodies",
            "contacts", "iterations", "residual", "penetration", "kinetic", "steps/s", "left");
    fprintf(progress->table, "%10s %9s %9s %10s %9s %11s %11s %9s %9s\n", "s", "", "", "per step",
            "m/s", "radii", "J", "", "");
    fflush(progress->table);
}

/* Prints the figures of the interval; erases the bar first. */
static void print_table_line(Progress *progress, const Run *run, const TalusStepInfo *info,
                             double now)
{
    char left[32];
    double wall = now - progress->interval_begun;
    format_duration(seconds_left(progress, run, now), left, sizeof left);
    erase_bar(progress);
    fprintf(progress->table, "%10.4f %9lld %9lld %10.1f %9.2e %11.2e %11.4e %9.1f %9s\n",
            info->time, (long long)info->bodies, (long long)info->contacts,
            (double)progress->iterations / (double)progress->steps, progress->residual,
            progress->penetration, info->ledger.kinetic,
            wall > 0.0 ? (double)progress->steps / wall : 0.0, left);
    fflush(progress->table);
}

void progress_step(Progress *progress, const Run *run, const TalusStepInfo *info, bool line)
{
    if (!progress->table)
        return;
    double now = talus_now();
    progress->steps++;
    progress->iterations += info->solve.iterations;
    progress->residual = fmax(progress->residual, info->solve.residual.rms);
    progress->penetration = fmax(progress->penetration, info->penetration_max);
    if (line) {
        print_table_line(progress, run, info, now);
        begin_interval(progress, now);
    }
    if (progress->bar && (line || now - progress->last_bar > bar_interval))
        draw_bar(progress, run, now, NULL);
}

/* Prints a table line with the time and a word, such as "paused". */
static void print_event(Progress *progress, const Run *run, const char *word)
{
    erase_bar(progress);
    fprintf(progress->table, "%10.4f %s\n", talus_world_time(run->world), word);
    fflush(progress->table);
}

void progress_pause(Progress *progress, const Run *run)
{
    if (!progress->table)
        return;
    print_event(progress, run, "paused");
    if (progress->bar)
        draw_bar(progress, run, talus_now(), "paused");
}

void progress_resume(Progress *progress, const Run *run, double seconds)
{
    progress->begun += seconds;
    progress->interval_begun += seconds;
    if (progress->table)
        print_event(progress, run, "going on");
}

void progress_end(Progress *progress)
{
    erase_bar(progress);
    progress->bar = false;
}
