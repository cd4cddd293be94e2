/* Outside solvers that drive steps (world/step/outside.c): the bits of the world's own solver, reports, failures that leave
 * the world as it was, refusals. */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <talus/talus.h>

/* A heap of spheres above a floor; `rate`: an emitter, too. */
static TalusWorld *make_heap(const char *solver, bool emit)
{
    TalusWorldDef def = talus_world_def_default();
    TalusBodyBatch floor = talus_body_batch_default(), grains = talus_body_batch_default();
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.05};
    TalusVec3 zero = {0.0, 0.0, 0.0}, at[60];
    TalusWorld *world = NULL;
    def.solver = solver;
    def.threads = 1;
    CHECK_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_add_shape(world, &plane, &floor.shape));
    CHECK_OK(talus_world_add_shape(world, &ball, &grains.shape));
    for (int i = 0; i < 60; i++)
        at[i] =
            talus_vec3(0.09 * (i % 4) + 0.003 * (i / 8), 0.09 * (i / 4 % 4), 0.05 + 0.1 * (i / 16));
    floor.fixed = true, floor.count = 1, floor.position = &zero;
    grains.count = 60, grains.position = at;
    CHECK_OK(talus_world_add_bodies(world, &floor, NULL));
    CHECK_OK(talus_world_add_bodies(world, &grains, NULL));
    if (emit) {
        TalusEmitterDef e = talus_emitter_def_default();
        e.lo = talus_vec3(0.0, 0.0, 2.0), e.hi = talus_vec3(1.0, 1.0, 3.0);
        e.rate = 1e4, e.count = 100, e.radius_min = e.radius_max = 0.02;
        e.start = 0.0499;
        CHECK_OK(talus_world_add_emitter(world, &e));
    }
    return world;
}

static const char *method = "apgd";

/* What an outside solver is given. */
typedef struct Outside {
    TalusSolver *solver;
    int calls, fail_at;
    TalusStatus status;
    double poison;
} Outside;

static TalusStatus solve(void *user, TalusProblem *problem, const TalusSolveOptions *options,
                         TalusSolveInfo *info)
{
    Outside *o = user;
    if (++o->calls == o->fail_at && o->status != TALUS_OK)
        return o->status;
    TalusStatus status = talus_solver_solve(o->solver, problem, options, info);
    if (o->calls == o->fail_at)
        talus_problem_gamma(problem)[0] = o->poison;
    return status;
}

TEST(a_solver_that_the_world_calls_has_the_bits_of_its_own)
{
    TalusWorld *own = make_heap(method, false), *other = make_heap("gs", false);
    Outside o = {0};
    TalusStepInfo a, b;
    REQUIRE_OK(talus_solver_create(method, &o.solver));
    REQUIRE_OK(talus_world_set_outside_solver(other, solve, &o));
    for (int i = 0; i < 60; i++) {
        REQUIRE_OK(talus_world_step(own, &a));
        REQUIRE_OK(talus_world_step(other, &b));
        REQUIRE(talus_world_hash(own) == talus_world_hash(other));
        CHECK(a.solve.iterations == b.solve.iterations);
        CHECK(a.solve.outcome == b.solve.outcome && a.missed == b.missed);
        CHECK(a.solve.residual.rms == b.solve.residual.rms);
    }
    CHECK(o.calls >= 60 && a.contacts > 50);
    CHECK_STR(b.solve.solver, "outside");
    REQUIRE_OK(talus_world_set_outside_solver(other, NULL, NULL));
    REQUIRE_OK(talus_world_step(other, &b));
    CHECK_STR(b.solve.solver, "gs");
    talus_solver_destroy(o.solver);
    talus_world_destroy(own);
    talus_world_destroy(other);
}

/* A step whose solver fails, or leaves a NaN, leaves the world as it was; the next one goes on. */
TEST(an_outside_solver_that_fails)
{
    TalusWorld *world = make_heap(method, false), *own = make_heap(method, false);
    Outside o = {.fail_at = 31, .status = TALUS_ERR_CANCELLED};
    REQUIRE_OK(talus_solver_create(method, &o.solver));
    REQUIRE_OK(talus_world_set_outside_solver(world, solve, &o));
    int failed = 0;
    for (int i = 0; i < 40; i++) {
        const uint64_t hash = talus_world_hash(world);
        TalusStatus status = talus_world_step(world, NULL);
        if (status != TALUS_OK) {
            CHECK(status == TALUS_ERR_CANCELLED && strstr(talus_error(), "outside solver"));
            CHECK(talus_world_hash(world) == hash);
            failed++;
            REQUIRE_OK(talus_world_step(world, NULL));
        }
        REQUIRE_OK(talus_world_step(own, NULL));
    }
    CHECK_INT(failed, 1);
    o.status = TALUS_OK;
    o.fail_at = o.calls + 1;
    o.poison = NAN;
    CHECK(talus_world_step(world, NULL) == TALUS_ERR_NUMERIC);
    talus_solver_destroy(o.solver);
    talus_world_destroy(world);
    talus_world_destroy(own);
}

/* Solves the problem that the world lends; returns a copy of the impulses. */
static double *solve_lent(TalusWorld *world, TalusSolver *solver, int *size)
{
    TalusProblem *problem = NULL;
    TalusSolveInfo info;
    TalusSolveOptions options = talus_solve_options_default();
    options.tolerance = 1e-2 * 9.81 * 0.005;
    options.reference_speed = 9.81 * 0.005;
    options.max_iterations = 1000;
    CHECK_OK(talus_world_build(world, &problem));
    *size = talus_problem_size(problem);
    double *gamma = malloc(((size_t)*size + 1) * sizeof *gamma);
    if (*size > 0)
        CHECK_OK(talus_solver_solve(solver, problem, &options, &info));
    for (int i = 0; gamma && i < *size; i++)
        gamma[i] = talus_problem_gamma(problem)[i];
    return gamma;
}

/* gs has no state that goes from solve to solve. */
TEST(impulses_that_are_handed_back_have_the_bits_of_the_step)
{
    TalusWorld *own = make_heap("gs", false), *other = make_heap("gs", false);
    TalusSolver *solver;
    TalusStepInfo info;
    REQUIRE_OK(talus_solver_create("gs", &solver));
    int same = 0;
    for (int i = 0; i < 40; i++) {
        int size;
        double *gamma = solve_lent(other, solver, &size);
        REQUIRE_OK(talus_world_step(own, &info));
        same += info.first_iterations == info.solve.iterations; /* no second solve */
        REQUIRE_OK(talus_world_step_with(other, gamma, size, &info));
        REQUIRE(talus_world_hash(own) == talus_world_hash(other));
        CHECK(!info.missed);
        free(gamma);
    }
    CHECK(same > 10);
    talus_solver_destroy(solver);
    talus_world_destroy(own);
    talus_world_destroy(other);
}

TEST(impulses_of_another_problem_are_refused)
{
    TalusWorld *world = make_heap(method, true);
    TalusSolver *solver;
    int size;
    REQUIRE_OK(talus_solver_create(method, &solver));
    for (int i = 0; i < 10; i++)
        REQUIRE_OK(talus_world_step(world, NULL));
    double *gamma = solve_lent(world, solver, &size);
    const uint64_t hash = talus_world_hash(world);
    CHECK(talus_world_step_with(world, gamma, size - 3, NULL) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "has changed"));
    CHECK(talus_world_step_with(world, NULL, size, NULL) == TALUS_ERR_ARGUMENT);
    /* the emitter begins in this step */
    CHECK(talus_world_step_with(world, gamma, size, NULL) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "enter or leave"));
    CHECK(talus_world_hash(world) == hash);
    CHECK_OK(talus_world_step(world, NULL));
    free(gamma);
    /* as many impulses, but of the step before, or of another friction */
    talus_world_destroy(world);
    world = make_heap(method, false);
    for (int i = 0; i < 60; i++)
        REQUIRE_OK(talus_world_step(world, NULL));
    gamma = solve_lent(world, solver, &size);
    CHECK_OK(talus_world_step_with(world, gamma, size, NULL));
    CHECK(talus_world_step_with(world, gamma, size, NULL) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "before each step") || strstr(talus_error(), "has changed"));
    free(gamma);
    gamma = solve_lent(world, solver, &size);
    TalusMaterialDef slippery = talus_world_material(world, 0);
    slippery.friction = 0.01;
    CHECK_OK(talus_world_set_material(world, 0, &slippery));
    CHECK(talus_world_step_with(world, gamma, size, NULL) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "before each step") || strstr(talus_error(), "has changed"));
    CHECK_OK(talus_world_step(world, NULL));
    free(gamma);
    talus_solver_destroy(solver);
    talus_world_destroy(world);
}

TEST(a_world_without_contacts_takes_no_impulses)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    const double one = 1.0;
    REQUIRE_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_step_with(world, NULL, 0, NULL));
    CHECK(talus_world_step_with(world, &one, 1, NULL) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "neither contacts nor joints"));
    talus_world_destroy(world);
    def.impacts = TALUS_IMPACTS_PROPAGATING;
    REQUIRE_OK(talus_world_create(&def, &world));
    CHECK(talus_world_step_with(world, NULL, 0, NULL) == TALUS_ERR_UNSUPPORTED);
    talus_world_destroy(world);
}

static TalusStatus refuse(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    (void)context;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = talus_world_create(&def, &world);
    if (status != TALUS_OK)
        return status;
    CHECK(talus_world_set_outside_solver(world, solve, NULL) == TALUS_ERR_UNSUPPORTED);
    CHECK(talus_world_step_with(world, NULL, 0, NULL) == TALUS_ERR_UNSUPPORTED);
    talus_world_destroy(world);
    return TALUS_OK;
}

TEST(ranks_have_no_outside_solver)
{
    CHECK_OK(talus_ranks_run(2, refuse, NULL));
}

int main(void)
{
    RUN(a_solver_that_the_world_calls_has_the_bits_of_its_own);
    RUN(an_outside_solver_that_fails);
    RUN(impulses_that_are_handed_back_have_the_bits_of_the_step);
    RUN(impulses_of_another_problem_are_refused);
    RUN(a_world_without_contacts_takes_no_impulses);
    RUN(ranks_have_no_outside_solver);
    return talus_test_result();
}
