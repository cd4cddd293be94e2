/* solvers/show.c - iterates for an observer, with the clock stopped. */
#include "solvers/show.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "problem/eliminate.h"

/* Every iteration up to 50, then those 2 % apart: a plot over ten thousand has a few hundred points. */
static int next_after(int iteration)
{
    return iteration + 1 + iteration / 50;
}

/* Of impulses as an observer sees them, joints that are eliminated among them. */
static size_t size_of(const TalusSolve *solve)
{
    return (size_t)talus_problem_size(solve->problem);
}

static size_t size_within(const TalusSolve *solve)
{
    return (size_t)solve->op->rows * (size_t)solve->op->blocks;
}

/* The observer sees the problem as it was given, without what an outer loop keeps in it. */
static bool ask(TalusSolve *solve, const TalusObservation *seen)
{
    const TalusSolveOptions *options = solve->options;
    TalusProblem *problem = solve->problem;
    const bool here = talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY);
    bool hidden = here && problem->op.base, moving = problem->op.moving;
    if (hidden)
        talus_problem_hide_shifts(problem, solve->show->shifts);
    bool go = options->observer(options->observer_user, seen);
    if (hidden)
        talus_problem_show_shifts(problem, solve->show->shifts, moving);
    return go;
}

static bool show(TalusSolve *solve, const double *gamma)
{
    double stopped = talus_now();
    if (solve->reduced) {
        if (gamma != solve->show->gamma)
            solve->backend->vector.copy(solve->op, solve->show->gamma, gamma, size_within(solve));
        talus_reduced_recover(solve->reduced, solve->show->gamma);
        gamma = solve->show->gamma;
    }
    if (!talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY)) {
        solve->backend->vector.get(solve->op, solve->show->host, gamma, size_of(solve));
        gamma = solve->show->host;
    }
    TalusObservation seen = {.iteration = solve->info->iterations,
                             .products = solve->info->products,
                             .seconds = stopped - solve->began - solve->paused,
                             .gamma = gamma};
    solve->show->last = seen.iteration;
    solve->show->next = next_after(seen.iteration);
    bool go = ask(solve, &seen);
    solve->paused += talus_now() - stopped;
    return go;
}

TalusStatus talus_show_begin(TalusSolve *solve)
{
    TalusShow *s = solve->show;
    if (!solve->options->observer)
        return TALUS_OK;
    TALUS_TRY(solve->backend->vector.reserve(solve->op, &s->gamma, &s->room, size_of(solve),
                                             "observed impulses"));
    const bool here = talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY);
    if (!here)
        TALUS_TRY(TALUS_RESERVE(s->host, s->host_room, size_of(solve), 0, "observed impulses"));
    if (here && solve->op->base)
        TALUS_TRY(TALUS_RESERVE(s->shifts, s->shift_room, (size_t)solve->op->blocks, 0, "shifts"));
    s->last = -1;
    s->next = next_after(solve->info->iterations);
    if (solve->info->iterations == 0) /* else another solver ended there and has shown it */
        show(solve, solve->gamma);
    return TALUS_OK;
}

bool talus_show_due(const TalusSolve *solve)
{
    return solve->options->observer && solve->info->iterations >= solve->show->next;
}

bool talus_show_iterate(TalusSolve *solve, const double *x, const TalusMetricBlock *metric)
{
    TalusShow *s = solve->show;
    if (!metric)
        return show(solve, x);
    solve->backend->vector.copy(solve->op, s->gamma, x, size_within(solve));
    solve->backend->op.scale(solve->op, metric, false, s->gamma);
    return show(solve, s->gamma);
}

void talus_show_other(TalusSolve *solve)
{
    solve->show->last = -1;
}

void talus_show_end(TalusSolve *solve)
{
    if (solve->options->observer && solve->show->last != solve->info->iterations &&
        !show(solve, solve->gamma))
        solve->stopped = true; /* no other solver is to go on */
}

void talus_show_clear(TalusShow *show, const TalusBackend *backend)
{
    backend->vector.release(show->gamma);
    talus_release(show->host);
    talus_release(show->shifts);
}
