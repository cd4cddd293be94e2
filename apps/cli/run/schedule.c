/* cli/run/schedule.c - decides which steps have a frame or a table line, and the length of the next step. */
#include "run.h"

#include <math.h>

enum { TABLE_LINES = 50 }; /* maximum number of table lines of a run, beside that at its end */

double run_next_step_length(const Run *run)
{
    return talus_world_next_length(run->world, run->settings.until);
}

/* True if a multiple of `every`, s, lies within the step `info`: after its start and not after its end, up to rounding.
 * With `every` 0: true if the run ends with this step. */
static bool interval_ends(const Run *run, const TalusStepInfo *info, double every)
{
    double h = talus_world_step_length(run->world), step = (double)info->step;
    double begin = run->shortened ? info->time - info->length : (step - 1.0) * h;
    double end = run->shortened ? info->time : step * h;
    if (!(every > 0.0))
        return run_next_step_length(run) == 0.0;
    return floor(end / every + 1e-6) > floor(begin / every + 1e-6);
}

bool run_frame_due(const Run *run, const TalusStepInfo *info)
{
    return interval_ends(run, info, run->settings.every);
}

/* Lines are due with frames, or with every n-th one if there would be more than TABLE_LINES, and at the end. */
bool run_line_due(const Run *run, const TalusStepInfo *info)
{
    double every = run->settings.every, lines = run->settings.until / every;
    if (lines > TABLE_LINES)
        every *= ceil(lines / TABLE_LINES);
    return interval_ends(run, info, every) || run_next_step_length(run) == 0.0;
}
