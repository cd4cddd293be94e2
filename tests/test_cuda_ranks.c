/* Worlds on several ranks on the cuda backends: each step gives the bits of one rank there. */
#include "ranks_world.h"

#include "base/status.h"

#include "support/cuda.h"

#include <talus/joint.h>

static const int grid[][2] = {{1, 1}, {2, 1}, {3, 1}};
enum { RUNS = sizeof grid / sizeof *grid, STEPS = 4, LONG = 8 };

static const char *backend, *solver; /* of the worlds that are made */

static void set_def(TalusWorldDef *def)
{
    def->backend = backend;
    def->solver = solver;
    def->max_iterations = 60;
}

static void compare_on(const char *name, MakeWorldFn *make, ActFn *act, int least)
{
    CHECK(compare_ranks(name, make, act, STEPS, grid, RUNS).contacts > least);
}

/* Compares a world on all numbers of ranks, on both backends. */
static void compare(const char *name, const char *by, MakeWorldFn *make, ActFn *act, int least)
{
    static const char *const backends[] = {"cuda", "cuda-mixed"};
    solver = by;
    for (int k = 0; k < 2; k++) {
        backend = backends[k];
        compare_on(name, make, act, least);
    }
}

/* ---- worlds ---- */

static TalusStatus make_spheres(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    int index;
    set_def(def);
    TalusStatus status = talus_world_create(def, world);
    TALUS_THEN(status, add_container(*world, 0.0215 * ACROSS));
    TALUS_THEN(status, talus_world_add_shape(*world, &shape, &index));
    TALUS_THEN(status, add_lattice(*world, index, 0.0215, 0.01, 1.5));
    return status;
}

static TalusStatus make_relaxed(TalusWorldDef *def, TalusWorld **world)
{
    def->friction.law = TALUS_LAW_CCP;
    def->compliance = 0.0;
    return make_spheres(def, world);
}

static TalusStatus make_boxes(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.005}};
    int index;
    set_def(def);
    TalusStatus status = talus_world_create(def, world);
    TALUS_THEN(status, add_container(*world, 0.0215 * ACROSS));
    TALUS_THEN(status, talus_world_add_shape(*world, &shape, &index));
    TALUS_THEN(status, add_lattice(*world, index, 0.0215, 0.0112, 1.5));
    return status;
}

/* Bodies that fly apart, so that halos change and bodies are dealt anew; a wall is driven, and one body is pushed. */
static TalusStatus make_burst(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    int index;
    set_def(def);
    def->max_iterations = 4;
    TalusStatus status = talus_world_create(def, world);
    TALUS_THEN(status, add_container(*world, 0.03 * ACROSS));
    TALUS_THEN(status, talus_world_add_shape(*world, &shape, &index));
    TALUS_THEN(status, add_lattice(*world, index, 0.021, 0.01, 12.0));
    const TalusProbeDef region = {
        .kind = TALUS_PROBE_REGION, .name = "half", .hi = {0.015 * ACROSS, 1.0, 1.0}};
    const TalusProbeDef body = {.kind = TALUS_PROBE_BODY, .name = "floor", .body = {1}};
    TALUS_THEN(status, talus_world_add_probe(*world, &region, NULL));
    TALUS_THEN(status, talus_world_add_probe(*world, &body, NULL));
    return status;
}

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
    NEEDS_CUDA();
    backend = "cuda";
    solver = "jacobi";
    CHECK(compare_ranks("burst", make_burst, act_on_burst, LONG, grid, RUNS).bodies == BODIES + 4);
}

TEST(a_world_is_divided_and_gathered)
{
    NEEDS_CUDA();
    backend = "cuda";
    solver = "jacobi";
    compare_parts("parts", make_burst, 1);
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
    compare("spheres", "apgd", make_spheres, NULL, 100);
    compare("relaxed spheres", "apgd", make_relaxed, NULL, 100);
}

TEST(boxes_have_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare("boxes", "apgd", make_boxes, NULL, 100);
}

TEST(other_solvers_give_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare("spheres by jacobi", "jacobi", make_relaxed, NULL, 100);
    compare("spheres by lbfgs-fb", "lbfgs-fb", make_relaxed, NULL, 100);
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
