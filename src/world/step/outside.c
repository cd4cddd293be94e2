/* world/step/outside.c - solves of a step by a solver outside the library, measured by the library. */
#include "world/step/outside.h"

#include "base/hash.h"
#include "base/timer.h"
#include "problem/problem.h"
#include "world/state.h"

#include <math.h>
#include <string.h>

/* Refuses worlds whose problem is not in the host's memory, or is a part of one. */
static TalusStatus check_world(const TalusWorld *world)
{
    TALUS_TRY(talus_ranks_refuse(world, "outside solver"));
    if (!talus_world_shares_arrays(world))
        return talus_fail(TALUS_ERR_UNSUPPORTED,
                          "backend %s has its problems in a device's memory, where no outside "
                          "solver sees them; backend cpu has them on the host",
                          world->def.backend);
    return TALUS_OK;
}

TalusStatus talus_world_set_outside_solver(TalusWorld *world, TalusSolveFn *solve, void *user)
{
    TALUS_TRY(check_world(world));
    world->outside.solve = solve;
    world->outside.user = user;
    return TALUS_OK;
}

/* True if bodies have entered or left at the start of this step. */
static bool bodies_changed(const TalusWorld *world)
{
    return world->journal.recording && world->journal.count > 0;
}

/* Adds the hash of an array; NULL: none. */
static uint64_t add_array(uint64_t hash, const void *array, size_t count, size_t size)
{
    return array ? talus_hash(hash, array, count * size) : hash;
}

/* Returns a hash of all that a problem of a world is made of. */
static uint64_t hash_problem(const TalusProblem *problem)
{
    const TalusOperator *op = &problem->op;
    const size_t bodies = (size_t)op->bodies, blocks = (size_t)op->blocks;
    uint64_t hash = add_array(TALUS_HASH_SEED, op->body, bodies, sizeof *op->body);
    hash = add_array(hash, op->pair, blocks, sizeof *op->pair);
    hash = add_array(hash, op->frame, blocks, sizeof *op->frame);
    hash = add_array(hash, op->arm, (size_t)op->general, sizeof *op->arm);
    hash = add_array(hash, op->bias, blocks, sizeof *op->bias);
    hash = add_array(hash, op->slip, blocks, sizeof *op->slip);
    hash = add_array(hash, op->rows > 1 ? op->mu : NULL, blocks, sizeof *op->mu);
    hash = add_array(hash, op->moment_mu, blocks, sizeof *op->moment_mu);
    return add_array(hash, op->compliance, blocks, sizeof *op->compliance);
}

void talus_outside_note_lent(TalusWorld *world)
{
    world->outside.lent = talus_world_shares_arrays(world) ? hash_problem(world->problem) : 0;
}

/* Copies the impulses that were given into the problem. Fails if they are of another problem. */
static TalusStatus take_given(TalusWorld *world)
{
    TalusOutside *o = &world->outside;
    const int size = talus_problem_size(world->problem);
    const double *gamma = o->gamma;
    o->gamma = NULL; /* later solves of the step are others' */
    if (world->build_options.h != world->def.step)
        return talus_reject(
            "talus_world_step_with: the step is to be halved, since bodies move too "
            "far in it; expected impulses of a whole step");
    if (size != o->size || bodies_changed(world))
        return talus_reject(
            "talus_world_step_with: %d impulses; the problem of this step has %d%s. "
            "The world has changed since talus_world_build",
            o->size, size, bodies_changed(world) ? ", with bodies that enter or leave" : "");
    if (o->lent != hash_problem(world->problem))
        return talus_reject(
            "talus_world_step_with: the problem of this step is another than that of "
            "talus_world_build, which must be called before each step");
    memcpy(talus_problem_gamma(world->problem), gamma, (size_t)size * sizeof *gamma);
    return TALUS_OK;
}

static double norm_of(const TalusResidual *residual, TalusNorm norm)
{
    return norm == TALUS_NORM_MAX ? residual->max : residual->rms;
}

/* Measures the impulses in the problem, and sets residual and outcome. */
static void measure(TalusWorld *world, const TalusSolveOptions *options, TalusSolveInfo *info)
{
    TalusProblem *problem = world->problem;
    TalusResidual rounding;
    talus_problem_residual_and_rounding(problem, talus_problem_gamma(problem), &info->residual,
                                        &rounding);
    const double residual = norm_of(&info->residual, options->norm);
    info->rounding = norm_of(&rounding, options->norm);
    info->outcome = !isfinite(residual)              ? TALUS_OUTCOME_DIVERGED
                    : residual <= options->tolerance ? TALUS_OUTCOME_CONVERGED
                                                     : TALUS_OUTCOME_BUDGET;
}

/* Calls the outside solver. */
static TalusStatus call(TalusWorld *world, const TalusSolveOptions *options, TalusSolveInfo *info)
{
    const TalusOutside *o = &world->outside;
    const double start = talus_now();
    TalusStatus status = o->solve(o->user, world->problem, options, info);
    info->seconds = talus_now() - start;
    if (status != TALUS_OK)
        return talus_fail(status, "step %lld: the outside solver returned the status '%s'",
                          (long long)world->steps + 1, talus_status_name(status));
    return TALUS_OK;
}

TalusStatus talus_outside_solve(TalusWorld *world, const TalusSolveOptions *options,
                                TalusSolveInfo *info)
{
    const bool given = world->outside.gamma != NULL;
    TalusResidual start;
    if (!given && !world->outside.solve)
        return talus_solver_solve(world->solver, world->problem, options, info);
    *info = (TalusSolveInfo){.solver = "outside"};
    talus_problem_residual(world->problem, talus_problem_gamma(world->problem), &start);
    TALUS_TRY(given ? take_given(world) : call(world, options, info));
    info->solver = "outside";
    info->jammed = false;
    info->start_residual = start.rms;
    measure(world, options, info);
    return TALUS_OK;
}

TalusStatus talus_outside_check_empty(TalusWorld *world)
{
    TalusOutside *o = &world->outside;
    const bool given = o->gamma && o->size > 0;
    o->gamma = NULL;
    if (given)
        return talus_reject(
            "talus_world_step_with: %d impulses; this step has neither contacts nor "
            "joints",
            o->size);
    return TALUS_OK;
}

TalusStatus talus_outside_give(TalusWorld *world, const double *gamma, int size)
{
    TALUS_TRY(check_world(world));
    if (world->def.impacts == TALUS_IMPACTS_PROPAGATING)
        return talus_fail_key("impacts", TALUS_ERR_UNSUPPORTED,
                              "impacts that propagate come before the problem of a step, and "
                              "talus_world_build does not make them; simultaneous ones are in it");
    if (size < 0 || (size > 0 && !gamma))
        return talus_reject("talus_world_step_with: %d impulses at %s", size,
                            gamma ? "an address" : "NULL");
    world->outside.gamma = gamma;
    world->outside.size = size;
    return TALUS_OK;
}
