/* solvers/sweep/block_sweep.c - sweeps over contacts; each contact is solved with the others held constant
 * (block_sweep.h).
 *
 * The stopping test is the velocity change of a sweep (of a symmetric one, of its backward half), rms over contacts and
 * scaled under Coulomb's law (RESIDUAL_OF_CHANGE); the driver then measures the residual of the law. */
#include "solvers/sweep/block_sweep.h"

#include "backend/part.h"
#include "base/hash.h"
#include "base/status.h"

#include <math.h>

static const char *const orders[] = {"forward", "symmetric", "random", "coloured", NULL};

const TalusParam talus_block_sweep_params[TALUS_BLOCK_SWEEP_PARAMS] = {
    TALUS_CHOICE(TalusBlockSweepParams, order, TALUS_ORDER_COLOURED, orders,
                 "how a sweep visits the contacts; only coloured uses more than one thread"),
    TALUS_REAL(TalusBlockSweepParams, omega, 1.0, 1e-6, 2.0, "relaxation"),
    TALUS_REAL(TalusBlockSweepParams, rho, 1.0, 1e-6, 1.0, "averaging with the old value"),
    TALUS_INT(TalusBlockSweepParams, seed, 1, 0, 2147483647, "of the random order"),
};

/* Number of sweeps after which the velocity change is downloaded, on backends where a download costs as much as a sweep
 * of a small problem. */
enum { UNSEEN_SWEEPS = 4 };

/* Under Coulomb's law the residual after a sweep is estimated as this factor times the velocity change of the sweep
 * divided by omega and rho. On beds of spheres the true factor is 0.35 to 0.5
 * (bench/results/2026-11-16-coulomb-sweep.md); the driver measures the residual in the end. */
static const double RESIDUAL_OF_CHANGE = 0.75;

/* Returns the number of sweeps until the next velocity change is needed; 1 if the backend shows each iterate at no
 * cost, or there is an observer or a monitor. */
static int sweeps_at_once(const TalusSolve *s)
{
    int left = s->options->max_iterations - s->info->iterations;
    const bool sees = talus_backend_can(s->backend, TALUS_CAP_SEES_ITERATES);
    if (sees || s->options->observer || s->options->monitor)
        return 1;
    return left < 1 ? 1 : left < UNSEEN_SWEEPS ? left : UNSEEN_SWEEPS;
}

TalusStatus talus_sweep_solve(TalusSolve *s, TalusSweepOptions options, int seed)
{
    TalusSweepState *state = s->state;
    TalusSweepWork *w = s->work;
    int products = options.order == TALUS_ORDER_SYMMETRIC ? 2 : 1;
    options.seed = talus_hash_mix((uint64_t)seed ^ state->solves++);
    options.single = talus_solve_takes_single(s);
    w->backend = s->backend;
    if (!options.coulomb || !s->resumed) /* else the plan of the last call is still valid */
        TALUS_TRY(s->backend->sweep.prepare(s->op, &options, s->gamma, &w->sweep));
    const double estimate =
        options.coulomb ? RESIDUAL_OF_CHANGE / (options.omega * options.rho) : 1.0;
    double rms;
    do {
        int sweeps = sweeps_at_once(s);
        rms = sqrt(s->backend->sweep.run(w->sweep, sweeps) / talus_all_blocks(s->op)) * estimate;
        for (int k = 0; k < sweeps; k++)
            talus_solve_count(s, products);
        if (talus_solve_wants_iterate(s)) {
            s->backend->sweep.get_impulses(w->sweep, s->gamma);
            if (!talus_solve_observe(s, s->gamma, NULL, rms))
                return TALUS_OK;
        }
    } while (talus_solve_continue(s, rms, NAN));
    s->backend->sweep.get_impulses(w->sweep, s->gamma);
    return TALUS_OK;
}

TalusStatus talus_block_sweep_solve(TalusSolve *s)
{
    const TalusBlockSweepParams *p = s->params;
    const TalusSweepOptions options = {.order = (TalusOrder)p->order,
                                       .metric = TALUS_METRIC_ANISOTROPIC,
                                       .local = *(const TalusOneSolver *)s->type->variant,
                                       .omega = p->omega,
                                       .rho = p->rho};
    return talus_sweep_solve(s, options, p->seed);
}

bool talus_block_sweep_is_coloured(const void *params)
{
    return ((const TalusBlockSweepParams *)params)->order == TALUS_ORDER_COLOURED;
}

void talus_sweep_clear(void *work)
{
    TalusSweepWork *w = work;
    if (w->sweep)
        w->backend->sweep.destroy(w->sweep);
}
