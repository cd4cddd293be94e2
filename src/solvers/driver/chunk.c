/* solvers/driver/chunk.c - lengths of runs, many iterations in one call of the backend (chunk.h). */
#include "solvers/driver/chunk.h"

#include "backend/part.h"
#include "solvers/driver/infeasibility.h"
#include "solvers/driver/observe.h"

#include <math.h>

/* CLOCK_INTERVAL: iterations between readings of the clock, if time is limited. LATEST_SNAPSHOT: latest iteration to
 * which postpone_snapshot moves the first snapshot of the infeasibility monitor. */
enum { CLOCK_INTERVAL = 200, LATEST_SNAPSHOT = 256 };

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* Returns the number of iterations of the next run. With a monitor, or on a backend that sees iterates, the run ends at
 * the next residual. Otherwise, as returning to the host is expensive, the run ends where the observer, the
 * infeasibility monitor or the clock is due. */
static int run_length(const TalusSolve *s, int check, int since)
{
    const TalusSolveOptions *options = s->options;
    int done = s->info->iterations, count = options->max_iterations - done;
    if (talus_backend_can(s->backend, TALUS_CAP_SEES_ITERATES) || options->monitor)
        return min_int(count, (since + check - 1) / check * check - since + 1);
    if (options->observer)
        count = min_int(count, s->observed->next - done);
    if (!s->infeasibility->off)
        count = min_int(count, s->infeasibility->next - done);
    if (options->max_seconds > 0.0)
        count = min_int(count, CLOCK_INTERVAL);
    return count > 0 ? count : 1;
}

/* True without a tolerance and a monitor on a backend without TALUS_CAP_SEES_ITERATES: residuals then end nothing, and
 * nobody sees them. */
static bool spends_budget(const TalusSolve *s)
{
    return !talus_backend_can(s->backend, TALUS_CAP_SEES_ITERATES) &&
           !(s->options->tolerance > 0.0) && !s->options->monitor;
}

/* Delays the first snapshot of the infeasibility monitor to half the budget, at most to LATEST_SNAPSHOT. A budget up to
 * twice LATEST_SNAPSHOT is then split once, as the second snapshot, at twice that iteration, is at its end. */
static void postpone_snapshot(const TalusSolve *s)
{
    int half = min_int(s->options->max_iterations / 2, LATEST_SNAPSHOT);
    if (!s->infeasibility->has_old && s->infeasibility->next < half)
        s->infeasibility->next = half;
}

int talus_chunk_check_interval(const TalusSolve *s, int check, int unseen)
{
    return spends_budget(s) && check < unseen ? unseen : check;
}

TalusRun talus_chunk_next_run(const TalusSolve *s, int check, int since)
{
    if (spends_budget(s))
        postpone_snapshot(s);
    double stop = s->options->tolerance > 0.0 ? s->options->tolerance * s->tolerance_factor : 0.0;
    bool rms = s->options->norm == TALUS_NORM_RMS;
    TalusRun run = {.iterations = run_length(s, check, since),
                    .check = check,
                    .since = since,
                    .stop_rms = rms ? stop : 0.0,
                    .stop_max = rms ? 0.0 : stop};
    return run;
}

void talus_chunk_count_run(TalusSolve *s, const TalusRun *run)
{
    for (int k = 0; k < run->done; k++)
        talus_solve_count(s, 1);
    talus_solve_note_start(s, sqrt(run->first2 / talus_all_blocks(s->op)));
}
