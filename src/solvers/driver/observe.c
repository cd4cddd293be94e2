/* solvers/driver/observe.c - reports iterates to an observer, with the clock stopped. */
#include "solvers/driver/observe.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "problem/eliminate.h"

/* Returns the iteration to report after `iteration`: every iteration up to 50, then each 2 % later than the last, so
 * that a plot over ten thousand iterations has a few hundred points. */
static int next_reported(int iteration)
{
    return iteration + 1 + iteration / 50;
}

/* Number of impulses that an observer sees, eliminated joints included. */
static size_t observed_size(const TalusSolve *solve)
{
    return (size_t)talus_problem_size(solve->problem);
}

/* Number of impulses of the algorithm, without eliminated joints. */
static size_t reduced_size(const TalusSolve *solve)
{
    return (size_t)solve->op->rows * (size_t)solve->op->blocks;
}

/* Calls the observer with gamma. The time from `stopped` until the observer returns does not count for the solve.
 * Returns false if the observer asks to stop. */
static bool call_observer(TalusSolve *solve, const double *gamma, double stopped)
{
    TalusObservation seen = {.iteration = solve->info->iterations,
                             .products = solve->info->products,
                             .seconds = stopped - solve->began - solve->paused,
                             .gamma = gamma};
    bool go = solve->wanted->observer(solve->wanted->observer_user, &seen);
    solve->paused += talus_now() - stopped;
    return go;
}

/* Reports gamma to the observer, on the host and extended by the impulses of eliminated joints; sets the iteration to
 * report next. The observer sees the problem as given: shifts of an outer loop are removed during the call. (Only a
 * backend in host memory writes shifts into the problem's own arrays.) Returns false if the observer asks to stop. */
static bool report_impulses(TalusSolve *solve, const double *gamma)
{
    double stopped = talus_now();
    TalusObserved *o = solve->observed;
    TalusProblem *problem = solve->problem;
    bool hidden = talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY) && problem->op.unshifted,
         prisms = problem->op.prisms;
    if (solve->reduced) {
        if (gamma != o->gamma)
            solve->backend->vector.copy(solve->op, o->gamma, gamma, reduced_size(solve));
        talus_reduced_recover_joints(solve->reduced, o->gamma);
        gamma = o->gamma;
    }
    if (!talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY)) {
        solve->backend->vector.get(solve->op, o->host, gamma, observed_size(solve));
        gamma = o->host;
    }
    o->last = solve->info->iterations;
    o->next = next_reported(o->last);
    if (hidden)
        talus_problem_remove_shifts(problem, o->shifts);
    bool go = call_observer(solve, gamma, stopped);
    if (hidden)
        talus_problem_apply_shifts(problem, o->shifts, prisms);
    return go;
}

TalusStatus talus_observe_begin(TalusSolve *solve)
{
    TalusObserved *o = solve->observed;
    if (!solve->options->observer)
        return TALUS_OK;
    TALUS_TRY(talus_vectors_reserve(solve, &o->memory, 1, &o->gamma, "observed impulses"));
    if (!talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY))
        TALUS_TRY(TALUS_GROW(o->host, observed_size(solve), 0, "observed impulses"));
    if (talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY) && solve->op->unshifted)
        TALUS_TRY(TALUS_GROW(o->shifts, (size_t)solve->op->blocks, 0, "shifts"));
    o->last = -1;
    o->next = next_reported(solve->info->iterations);
    if (!solve->start_observed) /* else this is the result of the stage before, already reported */
        solve->stopped = !report_impulses(solve, solve->gamma);
    solve->start_observed = true;
    return TALUS_OK;
}

bool talus_observe_is_due(const TalusSolve *solve)
{
    return solve->options->observer && solve->info->iterations >= solve->observed->next;
}

bool talus_observe_iterate(TalusSolve *solve, const double *x, const TalusMetricBlock *metric)
{
    TalusObserved *o = solve->observed;
    if (!metric)
        return report_impulses(solve, x);
    solve->backend->vector.copy(solve->op, o->gamma, x, reduced_size(solve));
    solve->backend->op.scale(solve->op, metric, false, o->gamma);
    return report_impulses(solve, o->gamma);
}

void talus_observe_mark_replaced(TalusSolve *solve)
{
    solve->observed->last = -1;
}

void talus_observe_result(TalusSolve *solve)
{
    if (solve->options->observer && solve->observed->last != solve->info->iterations &&
        !report_impulses(solve, solve->gamma))
        solve->stopped = true; /* no other stage may follow */
}

bool talus_observe_between_stages(TalusSolve *solve)
{
    return call_observer(solve, solve->problem->gamma, talus_now());
}

void talus_observe_clear(TalusObserved *observed)
{
    TALUS_RELEASE(observed->host, observed->shifts);
}
