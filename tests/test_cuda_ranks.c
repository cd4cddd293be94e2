/* Worlds on several ranks on the cuda backends: each step gives the bits of one rank there. */
#include "ranks_world.h"

#include "base/status.h"

#include "support/cuda.h"

#include <talus/joint.h>

static const RanksGrid grid = {3, {1, 2, 3}, {1, 1, 1}};
/* Emulated kernels take long: few bodies, more than two ranks' blocks of numbers, and few iterations. */
enum { STEPS = 2, LONG = 8, ACROSS = 8, HIGH = 10, BODIES = ACROSS * ACROSS * HIGH };

static const char *backend, *solver; /* of the worlds that are made */
static int iterations = 10;

static void set_def(TalusWorldDef *def)
{
    def->backend = backend;
    def->solver = solver;
    def->max_iterations = iterations;
}

/* Compares a world on all numbers of ranks, on both backends. */
static void compare(const char *name, const char *by, MakeWorldFn *make)
{
    static const char *const backends[] = {"cuda", "cuda-mixed"};
    const RanksCase of = {.name = name, .make = make, .steps = STEPS, .grid = &grid};
    solver = by;
    for (int k = 0; k < 2; k++) {
        backend = backends[k];
        CHECK(compare_ranks(&of).contacts > 100);
    }
}

/* ---- worlds ---- */

static TalusStatus make_grains(TalusWorldDef *def, Grains grains, double side, TalusWorld **world)
{
    grains.across[0] = grains.across[1] = ACROSS;
    grains.across[2] = HIGH;
    set_def(def);
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_container(*world, side));
    return add_grains(*world, &grains, NULL);
}

/* They touch from the start, as the boxes below. */
static TalusStatus make_spheres(TalusWorldDef *def, TalusWorld **world)
{
    Grains grains = heap_of_spheres(1.5);
    grains.spacing = 0.0195;
    grains.spread = 0.1;
    return make_grains(def, grains, ACROSS * grains.spacing, world);
}

static TalusStatus make_relaxed(TalusWorldDef *def, TalusWorld **world)
{
    def->friction.law = TALUS_LAW_CCP;
    def->compliance = 0.0;
    return make_spheres(def, world);
}

static TalusStatus make_boxes(TalusWorldDef *def, TalusWorld **world)
{
    Grains grains = heap_of_spheres(1.5);
    grains.shape = (TalusShapeDef){.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}};
    grains.spacing = 0.018;
    grains.spread = 0.0;
    return make_grains(def, grains, ACROSS * grains.spacing, world);
}

/* Bodies that fly apart, so that halos change and bodies are dealt anew. */
static TalusStatus make_burst(TalusWorldDef *def, TalusWorld **world)
{
    Grains grains = heap_of_spheres(12.0);
    const TalusProbeDef region = {
        .kind = TALUS_PROBE_REGION, .name = "half", .hi = {0.1, 1.0, 1.0}};
    const TalusProbeDef body = {.kind = TALUS_PROBE_BODY, .name = "floor", .body = {1}};
    grains.spacing = 0.021;
    TALUS_TRY(make_grains(def, grains, 0.03 * ACROSS, world));
    TALUS_TRY(talus_world_add_probe(*world, &region, NULL));
    return talus_world_add_probe(*world, &body, NULL);
}

/* A wall is driven, a body is pushed, another one removed. */
static TalusStatus act_on_burst(TalusWorld *world, int k)
{
    TalusDriveDef lift = talus_drive_def_default();
    const TalusBodyId floor = {1}, pushed = {300}, gone = {500};
    const TalusVec3 force = {0.0, 0.0, 2.0}, torque = {0.0, 0.0, 0.0};
    lift.velocity = (TalusVec3){0.0, 0.0, 0.2};
    if (k == 2)
        TALUS_TRY(talus_world_set_drive(world, floor, &lift));
    if (k == 3)
        TALUS_TRY(talus_world_set_force(world, pushed, force, torque));
    return k == 5 ? talus_world_remove_body(world, gone) : TALUS_OK;
}

TEST(halos_and_owners_change)
{
    const RanksCase of = {
        .name = "burst", .make = make_burst, .act = act_on_burst, .steps = LONG, .grid = &grid};
    NEEDS_CUDA();
    backend = "cuda";
    solver = "jacobi";
    iterations = 4;
    CHECK_INT(compare_ranks(&of).bodies, BODIES + 4);
}

TEST(a_world_is_divided_and_gathered)
{
    const RanksCase of = {.name = "parts", .make = make_burst, .steps = 3};
    NEEDS_CUDA();
    backend = "cuda";
    solver = "jacobi";
    iterations = 4;
    compare_parts(&of);
}

/* ---- refusals ---- */

static TalusPeriod period;
static double sleep_speed;

static TalusStatus make_refused(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    (void)context;
    def.comm = comm;
    def.backend = "cuda";
    def.period = period;
    def.sleep_speed = sleep_speed;
    const TalusStatus status = talus_world_create(&def, &world);
    talus_world_destroy(world);
    return status;
}

static TalusStatus make_with_joint(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusJointDef joint = talus_joint_def_default();
    TalusWorld *world = NULL;
    (void)context;
    def.comm = comm;
    TalusStatus status = make_spheres(&def, &world);
    joint.a = (TalusBodyId){20};
    TALUS_THEN(status, talus_world_add_joint(world, &joint, NULL));
    talus_world_destroy(world);
    return status;
}

static TalusStatus step_by_gs(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    (void)context;
    def.comm = comm;
    TalusStatus status = make_spheres(&def, &world);
    for (int k = 0; k < 3; k++)
        TALUS_THEN(status, talus_world_step(world, NULL));
    talus_world_destroy(world);
    return status;
}

TEST(what_is_refused_is_said)
{
    NEEDS_CUDA();
    period = (TalusPeriod){.on = {true, false, false}, .hi = {1.0, 0.0, 0.0}};
    CHECK_INT(talus_ranks_run(2, make_refused, NULL), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "periods") && strstr(talus_error(), "backend cpu"));
    period = (TalusPeriod){0};
    sleep_speed = 0.1;
    CHECK_INT(talus_ranks_run(2, make_refused, NULL), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "sleeping") && strstr(talus_error(), "backend cpu"));
    backend = "cuda";
    solver = "gs:order=coloured";
    CHECK_INT(talus_ranks_run(2, make_with_joint, NULL), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "joints") && strstr(talus_error(), "backend cpu"));
    CHECK_INT(talus_ranks_run(2, step_by_gs, NULL), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "whole problem") && strstr(talus_error(), "backend cpu"));
    solver = "mprgp";
    CHECK_INT(talus_ranks_run(2, step_by_gs, NULL), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "mprgp") && strstr(talus_error(), "backend cpu"));
}

TEST(spheres_have_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare("spheres", "apgd", make_spheres);
    compare("relaxed spheres", "apgd", make_relaxed);
}

TEST(boxes_have_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare("boxes", "apgd", make_boxes);
}

TEST(other_solvers_give_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare("spheres by jacobi", "jacobi", make_relaxed);
    compare("spheres by lbfgs-fb", "lbfgs-fb", make_relaxed);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(spheres_have_the_bits_of_one_rank);
    RUN(boxes_have_the_bits_of_one_rank);
    RUN(other_solvers_give_the_bits_of_one_rank);
    RUN(halos_and_owners_change);
    RUN(a_world_is_divided_and_gathered);
    RUN(what_is_refused_is_said);
    return cuda_test_result();
}
