/* solvers/driver/observe.c - reports iterates to an observer, with the clock stopped. */
#include "solvers/driver/observe.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/timer.h"
#include "problem/eliminate.h"

/* Returns the iteration to report next: the following one up to 50, then 2 % later, so that a plot over ten thousand
 * iterations has a few hundred points. */
static int next_after(int iteration)
{
    return iteration + 1 + iteration / 50;
}

/* Number of impulses that an observer sees, eliminated joints included. */
static size_t size_of(const TalusSolve *solve)
{
    return (size_t)talus_problem_size(solve->problem);
}

/* Number of impulses of the algorithm, without eliminated joints. */
static size_t size_within(const TalusSolve *solve)
{
    return (size_t)solve->op->rows * (size_t)solve->op->blocks;
}

/* Calls the observer with the clock stopped since the time `stopped`. */
static bool report(TalusSolve *solve, const double *gamma, double stopped)
{
    TalusObservation seen = {.iteration = solve->info->iterations,
                             .products = solve->info->products,
                             .seconds = stopped - solve->began - solve->paused,
                             .gamma = gamma};
    bool go = solve->wanted->observer(solve->wanted->observer_user, &seen);
    solve->paused += talus_now() - stopped;
    return go;
}

/* Reports gamma, with the impulses of eliminated joints. The observer sees the problem as given: shifts of an outer
 * loop are removed meanwhile. Only the arrays of a backend in host memory are the problem's own and have shifts. */
static bool observe(TalusSolve *solve, const double *gamma)
{
    double stopped = talus_now();
    TalusObserved *o = solve->observed;
    TalusProblem *problem = solve->problem;
    bool hidden = talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY) && problem->op.unshifted,
         prisms = problem->op.prisms;
    if (solve->reduced) {
        if (gamma != o->gamma)
            solve->backend->vector.copy(solve->op, o->gamma, gamma, size_within(solve));
        talus_reduced_recover_joints(solve->reduced, o->gamma);
        gamma = o->gamma;
    }
    if (!talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY)) {
        solve->backend->vector.get(solve->op, o->host, gamma, size_of(solve));
        gamma = o->host;
    }
    o->last = solve->info->iterations;
    o->next = next_after(o->last);
    if (hidden)
        talus_problem_remove_shifts(problem, o->shifts);
    bool go = report(solve, gamma, stopped);
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
        TALUS_TRY(TALUS_GROW(o->host, size_of(solve), 0, "observed impulses"));
    if (talus_backend_can(solve->backend, TALUS_CAP_HOST_MEMORY) && solve->op->unshifted)
        TALUS_TRY(TALUS_GROW(o->shifts, (size_t)solve->op->blocks, 0, "shifts"));
    o->last = -1;
    o->next = next_after(solve->info->iterations);
    if (solve->info->iterations == 0) /* else another stage ended here and was observed */
        solve->stopped = !observe(solve, solve->gamma);
    return TALUS_OK;
}

bool talus_observe_due(const TalusSolve *solve)
{
    return solve->options->observer && solve->info->iterations >= solve->observed->next;
}

bool talus_observe_iterate(TalusSolve *solve, const double *x, const TalusMetricBlock *metric)
{
    TalusObserved *o = solve->observed;
    if (!metric)
        return observe(solve, x);
    solve->backend->vector.copy(solve->op, o->gamma, x, size_within(solve));
    solve->backend->op.scale(solve->op, metric, false, o->gamma);
    return observe(solve, o->gamma);
}

void talus_observe_replaced(TalusSolve *solve)
{
    solve->observed->last = -1;
}

void talus_observe_result(TalusSolve *solve)
{
    if (solve->options->observer && solve->observed->last != solve->info->iterations &&
        !observe(solve, solve->gamma))
        solve->stopped = true; /* no other stage may follow */
}

bool talus_observe_between(TalusSolve *solve)
{
    return report(solve, solve->problem->gamma, talus_now());
}

void talus_observe_clear(TalusObserved *observed)
{
    TALUS_RELEASE(observed->host, observed->shifts);
}
