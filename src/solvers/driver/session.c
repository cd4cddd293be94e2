/* solvers/driver/session.c - what algorithms and outer loops ask of a solve session (solver.h). */
#include "solvers/driver/session.h"

#include "backend/part.h"
#include "base/timer.h"

#include <math.h>
#include <string.h>

void talus_solve_count(TalusSolve *solve, int products)
{
    solve->info->iterations++;
    solve->info->products += products;
}

void talus_solve_note_start(TalusSolve *solve, double rms)
{
    if (!solve->started)
        solve->info->start_residual = rms;
    solve->started = true;
}

double talus_solve_elapsed(const TalusSolve *solve)
{
    return talus_now() - solve->began - solve->paused;
}

bool talus_solve_is_late(const TalusSolve *solve)
{
    const double limit = solve->options->max_seconds;
    return limit > 0.0 &&
           talus_comm_any(talus_operator_comm(solve->op), talus_solve_elapsed(solve) > limit);
}

bool talus_solve_within_budget(TalusSolve *solve)
{
    if (solve->info->iterations >= solve->options->max_iterations || talus_solve_is_late(solve)) {
        solve->info->outcome = TALUS_OUTCOME_BUDGET;
        return false;
    }
    return true;
}

/* True if the monitor, of any rank, ends the solve. */
static bool monitor_stops(const TalusSolve *solve, double reached)
{
    const TalusSolveOptions *options = solve->options;
    const TalusSolveInfo *info = solve->info;
    return options->monitor &&
           talus_comm_any(
               talus_operator_comm(solve->op),
               !options->monitor(options->monitor_user, info->iterations, info->products, reached));
}

bool talus_solve_continue(TalusSolve *solve, double rms, double max)
{
    const TalusSolveOptions *options = solve->options;
    double reached = options->norm == TALUS_NORM_MAX && !isnan(max) ? max : rms;
    talus_solve_note_start(solve, rms);
    if (!isfinite(rms)) {
        solve->info->outcome = TALUS_OUTCOME_DIVERGED;
        return false;
    }
    if (options->tolerance > 0.0 && reached <= options->tolerance * solve->tolerance_factor) {
        solve->info->outcome = TALUS_OUTCOME_CONVERGED;
        return false;
    }
    if (monitor_stops(solve, reached)) {
        solve->info->outcome = TALUS_OUTCOME_BUDGET;
        solve->stopped = true;
        return false;
    }
    return talus_solve_within_budget(solve);
}

bool talus_solve_report(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                        double residual2, double residual_max)
{
    double rms = sqrt(residual2 / talus_all_blocks(solve->op));
    return talus_solve_observe(solve, x, metric, rms) &&
           talus_solve_continue(solve, rms, residual_max);
}

bool talus_solve_next(TalusSolve *solve, int products, const double *x,
                      const TalusMetricBlock *metric, double residual2, double residual_max)
{
    talus_solve_count(solve, products);
    return talus_solve_report(solve, x, metric, residual2, residual_max);
}

/* Least tolerance, relative to the reference speed, at which steps of worlds may be solved in single precision. Below
 * it most of a solve would be in double precision, for the errors of floats are 1e-7 of speeds that are larger than the
 * reference speed. */
static const double SINGLE_LEAST = 1e-5;

/* Largest number of iterations, without a tolerance, that may be in single precision: a solve that ends by so few is far
 * from the rounding errors of floats. */
enum { SINGLE_BUDGET = 16 };

bool talus_solve_takes_single(const TalusSolve *solve)
{
    const TalusSolveOptions *options = solve->options;
    double speed = options->reference_speed;
    if (options->tolerance == 0.0)
        return speed > 0.0 && options->max_iterations <= SINGLE_BUDGET;
    return speed > 0.0 && options->tolerance >= SINGLE_LEAST * speed;
}

bool talus_solve_wants_iterate(const TalusSolve *solve)
{
    return talus_observe_is_due(solve) || talus_infeasibility_is_due(solve);
}

void talus_solve_request_infeasibility_check(TalusSolve *solve)
{
    solve->infeasibility->next = 0;
}

bool talus_solve_prove_infeasible(TalusSolve *solve, const double *direction)
{
    return talus_infeasibility_prove(solve, direction);
}

bool talus_solve_observe(TalusSolve *solve, const double *x, const TalusMetricBlock *metric,
                         double rms)
{
    if (talus_observe_is_due(solve) && !talus_observe_iterate(solve, x, metric)) {
        solve->info->outcome = TALUS_OUTCOME_BUDGET;
        solve->stopped = true;
        return false;
    }
    return !talus_infeasibility_check(solve, x, metric, rms);
}

void talus_solve_set_solver(TalusSolve *solve, TalusSolver *s)
{
    solve->solver = s;
    solve->type = s->type;
    solve->params = s->params;
    solve->state = s->state;
    solve->work = s->work;
}

TalusStatus talus_solve_hand_over(TalusSolve *solve, int part, bool resumed)
{
    TalusSolver *from = solve->solver, *to = from->part[part];
    bool was_resumed = solve->resumed, was_called = solve->called;
    if (!resumed && !from->type->parts[part].keeps_state)
        memset(to->state, 0, to->type->state_size);
    talus_solve_set_solver(solve, to);
    solve->resumed = solve->called = resumed;
    TalusStatus status = to->type->solve(solve);
    solve->resumed = was_resumed;
    solve->called = was_called;
    talus_solve_set_solver(solve, from);
    return status;
}
