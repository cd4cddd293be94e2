/* schedule.c - which steps of a run have a frame or a line of the table, and whether the last one is shortened. */
#include "run.h"

#include <math.h>

enum { TABLE_LINES = 50 };

bool run_ends_short(const Run *run)
{
    double h = talus_world_step_length(run->world);
    return run->settings.until < ((double)run->last_step - 1e-6) * h;
}

bool run_is_past_grid(const Run *run)
{
    return run_ends_short(run) && talus_world_steps(run->world) >= run->last_step;
}

/* Whether the step just done is the first at or after a multiple of `every`. */
static bool interval_ends(const Run *run, int64_t step, double every)
{
    double h = talus_world_step_length(run->world);
    double end = run_is_past_grid(run) ? run->settings.until : (double)step * h;
    if (!(every > 0.0))
        return step == run->last_step;
    return floor(end / every + 1e-6) > floor((double)(step - 1) * h / every + 1e-6);
}

bool run_frame_due(const Run *run, int64_t step)
{
    return interval_ends(run, step, run->settings.every);
}

/* A table line goes with a frame, but a table should fit on a screen or two. */
bool run_line_due(const Run *run, int64_t step)
{
    double every = run->settings.every, lines = run->settings.until / every;
    if (lines > TABLE_LINES)
        every *= ceil(lines / TABLE_LINES);
    return interval_ends(run, step, every) || step == run->last_step;
}
