/* backend/run.c - runs (run.h): the choice between the backend's operation and single steps, and the latter. */
#include "backend/run.h"

#include "backend/momentum.h"
#include "backend/part.h"
#include "base/status.h"

#include <math.h>

bool talus_run_measures(const TalusRun *run, int done)
{
    return (run->since + done) % run->check == 0 || done + 1 == run->iterations;
}

bool talus_run_record(TalusRun *run, double blocks, double residual2, double residual_max)
{
    double rms = sqrt(residual2 / blocks);
    if (run->first2 < 0.0)
        run->first2 = residual2;
    run->residual2 = residual2;
    run->residual_max = residual_max;
    if (!isfinite(rms))
        return true;
    return (run->stop_rms > 0.0 && rms <= run->stop_rms) ||
           (run->stop_max > 0.0 && residual_max <= run->stop_max);
}

void talus_run_reset(TalusRun *run)
{
    run->done = 0;
    run->first2 = -1.0;
}

/* Does the run by repeating step.accelerate. */
static TalusStatus accelerate_stepwise(const TalusBackend *backend, const TalusOperator *op,
                                       TalusAccelerated *state, TalusMomentum *momentum,
                                       TalusRun *run)
{
    bool go = true;
    for (talus_run_reset(run); go && run->done < run->iterations; run->done++) {
        TalusStepSums sums;
        state->step = talus_momentum_step(momentum, state->beta);
        state->lag = momentum->lag;
        state->want_residual = talus_run_measures(run, run->done);
        backend->step.accelerate(op, state, &sums);
        talus_momentum_update(momentum, &sums, run->since + run->done > 0, DBL_EPSILON,
                              &state->beta);
        if (!state->want_residual)
            continue;
        talus_momentum_adapt_bound(momentum, sums.residual2, &state->beta);
        go = !talus_run_record(run, talus_all_blocks(op), sums.residual2, sums.residual_max);
    }
    return backend->check(op->context);
}

/* Does the run by repeating step.jacobi. */
static TalusStatus jacobi_stepwise(const TalusBackend *backend, const TalusOperator *op,
                                   double omega, double lambda, double *gamma, TalusRun *run)
{
    bool go = true;
    for (talus_run_reset(run); go && run->done < run->iterations; run->done++) {
        double sum2, max;
        backend->step.jacobi(op, omega, lambda, gamma, &sum2, &max);
        if (talus_run_measures(run, run->done))
            go = !talus_run_record(run, talus_all_blocks(op), sum2, max);
    }
    return backend->check(op->context);
}

/* True if operations of TalusRunOps can be used for the problem: matrix-free, all blocks half lines or all circular
 * cones. */
static bool fits_backend_runs(const TalusOperator *op)
{
    return op->pair && op->rows <= 3 && !op->mixed_sets;
}

/* True if the state's run is to be in single precision, on a backend in host memory: contacts of spheres with friction
 * alone. */
static bool fits_single(const TalusOperator *op, const TalusAccelerated *state)
{
    return state->single && op->rows == 3 && !talus_has_general(op) && !op->elimination;
}

bool talus_run_is_single(const TalusBackend *backend, const TalusOperator *op,
                         const TalusAccelerated *state)
{
    return talus_backend_can(backend, TALUS_CAP_HOST_MEMORY) && backend->run.accelerate &&
           fits_backend_runs(op) && fits_single(op, state);
}

TalusStatus talus_run_accelerate(const TalusBackend *backend, const TalusOperator *op,
                                 TalusAccelerated *state, TalusMomentum *momentum, TalusRun *run)
{
    const bool host = talus_backend_can(backend, TALUS_CAP_HOST_MEMORY);
    if (!backend->run.accelerate || !fits_backend_runs(op) || (host && !fits_single(op, state)))
        return accelerate_stepwise(backend, op, state, momentum, run);
    return backend->run.accelerate(op, state, momentum, run);
}

void talus_run_write_back(const TalusBackend *backend, const TalusOperator *op,
                          TalusAccelerated *state)
{
    if (backend->run.write_back && fits_backend_runs(op) && fits_single(op, state))
        backend->run.write_back(op, state);
}

TalusStatus talus_run_jacobi(const TalusBackend *backend, const TalusOperator *op, double omega,
                             double lambda, double *gamma, TalusRun *run)
{
    if (!backend->run.jacobi || !fits_backend_runs(op))
        return jacobi_stepwise(backend, op, omega, lambda, gamma, run);
    return backend->run.jacobi(op, omega, lambda, gamma, run);
}
