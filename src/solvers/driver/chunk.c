/* solvers/driver/chunk.c - lengths of runs, many iterations in one call of the backend (chunk.h). */
#include "solvers/driver/chunk.h"

#include "solvers/driver/infeasibility.h"
#include "solvers/driver/observe.h"

#include <math.h>

/* CLOCK: iterations between readings of the clock, if time is limited. LATEST_CHECK: postpone_check moves the first
 * snapshot of the infeasibility monitor to this iteration at the latest. */
enum { CLOCK = 200, LATEST_CHECK = 256 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Returns the iterations of the next run. With a monitor or a backend that sees iterates it ends at the next residual.
 * Otherwise, as coming back is expensive, where the observer, the infeasibility monitor or the clock is due. */
static int length(const TalusSolve *s, int check, int since)
{
    const TalusSolveOptions *options = s->options;
    int done = s->info->iterations, count = options->max_iterations - done;
    if (talus_backend_can(s->backend, TALUS_CAP_SEES_ITERATES) || options->monitor)
        return least(count, (since + check - 1) / check * check - since + 1);
    if (options->observer)
        count = least(count, s->observed->next - done);
    if (!s->infeasibility->off)
        count = least(count, s->infeasibility->next - done);
    if (options->max_seconds > 0.0)
        count = least(count, CLOCK);
    return count > 0 ? count : 1;
}

/* True if no residual can end the solve before its budget, on a backend that need not return to the host for them. */
static bool spends_budget(const TalusSolve *s)
{
    return !talus_backend_can(s->backend, TALUS_CAP_SEES_ITERATES) &&
           !(s->options->tolerance > 0.0) && !s->options->monitor;
}

/* Delays the first snapshot of the infeasibility monitor to half the budget, at most to LATEST_CHECK, so as to split
 * the run once; the second snapshot, at twice that iteration, is then at its end. */
static void postpone_check(const TalusSolve *s)
{
    int half = least(s->options->max_iterations / 2, LATEST_CHECK);
    if (!s->infeasibility->has_old && s->infeasibility->next < half)
        s->infeasibility->next = half;
}

int talus_chunk_check(const TalusSolve *s, int check, int unseen)
{
    return spends_budget(s) && check < unseen ? unseen : check;
}

TalusRun talus_chunk_next(const TalusSolve *s, int check, int since)
{
    if (spends_budget(s))
        postpone_check(s);
    double stop = s->options->tolerance > 0.0 ? s->options->tolerance * s->tolerance_factor : 0.0;
    bool rms = s->options->norm == TALUS_NORM_RMS;
    TalusRun run = {.iterations = length(s, check, since),
                    .check = check,
                    .since = since,
                    .stop_rms = rms ? stop : 0.0,
                    .stop_max = rms ? 0.0 : stop};
    return run;
}

void talus_chunk_count(TalusSolve *s, const TalusRun *run)
{
    for (int k = 0; k < run->done; k++)
        talus_solve_count(s, 1);
    talus_solve_note_start(s, sqrt(run->first2 / s->op->blocks));
}
