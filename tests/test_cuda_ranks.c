/* Worlds on several ranks on the cuda backends: each step gives the bits of one rank there. */
#include "ranks_world.h"

#include "base/status.h"

#include "support/cuda.h"

#include <talus/joint.h>

static const RanksGrid grid = {3, {1, 2, 3}, {1, 1, 1}};
/* Emulated kernels take long: few bodies, more than two ranks' blocks of numbers, and few iterations. */
enum { STEPS = 2, LONG = 8, ACROSS = 8, HIGH = 10, BODIES = ACROSS * ACROSS * HIGH };

static const char *backend, *solver; /* of the worlds that are made */
static int iterations;

static void set_def(TalusWorldDef *def)
{
    def->backend = backend;
    def->solver = solver;
    def->max_iterations = iterations;
}

/* Compares a case on all numbers of ranks, on a backend, with at most `most` iterations of the solver `by`; returns the
 * report of the last step. */
static TalusStepInfo compare_case(const RanksCase *of, const char *on, const char *by, int most)
{
    backend = on;
    solver = by;
    iterations = most;
    return compare_ranks(of);
}

static void compare_on(const char *on, const char *name, const char *by, MakeWorldFn *make)
{
    const RanksCase of = {.name = name, .make = make, .steps = STEPS, .grid = &grid};
    CHECK(compare_case(&of, on, by, 10).contacts > 100);
}

/* On both backends. */
static void compare(const char *name, const char *by, MakeWorldFn *make)
{
    compare_on("cuda", name, by, make);
    compare_on("cuda-mixed", name, by, make);
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

static TalusStatus make_frictionless(TalusWorldDef *def, TalusWorld **world)
{
    TALUS_TRY(make_relaxed(def, world));
    return talus_world_set_friction(*world, 0, 0, 0.0);
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
    CHECK_INT(compare_case(&of, "cuda", "jacobi", 4).bodies, BODIES + 4);
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

/* ---- periodic space ---- */

static TalusStatus make_periodic(TalusWorldDef *def, double speed, TalusWorld **world)
{
    Grains grains = heap_of_spheres(speed);
    grains.across[0] = grains.across[1] = ACROSS;
    grains.across[2] = HIGH;
    grains.spacing = 0.0205;
    const double side = ACROSS * grains.spacing;
    set_def(def);
    def->period = (TalusPeriod){.on = {true, true, false}, .hi = {side, side, 0.0}};
    def->gravity = (TalusVec3){4.0, 0.0, -9.0};
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), talus_vec3(0, 0, 1), NULL));
    return add_grains(*world, &grains, NULL);
}

static TalusStatus make_flow(TalusWorldDef *def, TalusWorld **world)
{
    return make_periodic(def, 1.0, world);
}

TEST(a_periodic_flow_has_the_bits_of_one_rank)
{
    NEEDS_CUDA();
    compare_on("cuda", "periodic flow", "apgd", make_flow);
}

/* Some bodies move by a quarter of the period in a step, which is halved. */
static TalusStatus make_fast_flow(TalusWorldDef *def, TalusWorld **world)
{
    const TalusBodyId some[] = {{20}, {300}, {301}};
    const TalusVec3 up = {0.0, 3.0, 40.0}, none = {0.0, 0.0, 0.0};
    TALUS_TRY(make_periodic(def, 1.0, world));
    for (int k = 0; k < 3; k++)
        TALUS_TRY(talus_world_set_velocity(*world, some[k], up, none));
    return TALUS_OK;
}

TEST(steps_of_fast_bodies_in_periodic_space_are_halved_alike)
{
    const RanksCase of = {.name = "fast flow", .make = make_fast_flow, .steps = 2, .grid = &grid};
    NEEDS_CUDA();
    CHECK(compare_case(&of, "cuda", "jacobi", 4).halvings > 0);
}

/* ---- steps that miss their tolerance ---- */

static TalusStatus make_hasty(TalusWorldDef *def, TalusWorld **world)
{
    def->on_miss = TALUS_MISS_HALVE;
    def->tolerance = 1e-9;
    return make_relaxed(def, world);
}

TEST(steps_that_miss_are_halved_alike)
{
    const RanksCase of = {.name = "halved", .make = make_hasty, .steps = 1, .grid = &grid};
    NEEDS_CUDA();
    CHECK_INT(compare_case(&of, "cuda", "apgd", 2).halvings, 4);
}

/* ---- bodies that sleep ---- */

enum { REST_STEPS = 16, WIDE = 12, STACKED = 2 };

/* Columns of boxes at rest, of numbers in several blocks, and a sphere that comes later. */
static TalusStatus make_sleepers(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.01, 0.01, 0.01}};
    const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.008};
    const TalusVec3 at = {-0.03, 0.031, 0.03}, shot = {2.0, 0.0, 0.2};
    TalusBodyBatch columns = talus_body_batch_default(), one = talus_body_batch_default();
    TalusVec3 position[STACKED * WIDE * WIDE];
    set_def(def);
    def->sleep_speed = 1.0;
    def->sleep_steps = 3;
    for (int k = 0; k < STACKED * WIDE * WIDE; k++)
        position[k] = (TalusVec3){0.03 * (k % WIDE), 0.03 * (k / WIDE % WIDE),
                                  0.01 + 0.02 * (k / (WIDE * WIDE))};
    columns.count = STACKED * WIDE * WIDE;
    columns.position = position;
    one.count = 1;
    one.position = &at;
    one.velocity = &shot;
    columns.density = one.density = 2000.0;
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), talus_vec3(0, 0, 1), NULL));
    TALUS_TRY(talus_world_add_shape(*world, &box, &columns.shape));
    TALUS_TRY(talus_world_add_bodies(*world, &columns, NULL));
    TALUS_TRY(talus_world_add_shape(*world, &ball, &one.shape));
    return talus_world_add_bodies_at(*world, 0.04, &one);
}

/* Wakes a column by a call. */
static TalusStatus disturb(TalusWorld *world, int k)
{
    const TalusVec3 up = {0.0, 0.0, 0.3}, none = {0.0, 0.0, 0.0};
    if (k == 9)
        return talus_world_set_velocity(world, (TalusBodyId){2 + WIDE * WIDE + 40}, up, none);
    return TALUS_OK;
}

TEST(columns_sleep_and_wake_alike)
{
    const RanksCase of = {.name = "sleepers",
                          .make = make_sleepers,
                          .act = disturb,
                          .steps = REST_STEPS,
                          .grid = &grid};
    NEEDS_CUDA();
    const TalusStepInfo last = compare_case(&of, "cuda", "apgd", 10);
    CHECK(last.asleep > 100);
    CHECK(last.asleep < STACKED * WIDE * WIDE);
}

/* ---- joints ---- */

/* Joins the grain of index k of a heap to the one above it. */
static TalusStatus join_grains(TalusWorld *world, const TalusVec3 *position, int k)
{
    const int floor_and_walls = 5, above = k + ACROSS * ACROSS;
    TalusJointDef def = talus_joint_def_default();
    def.a = (TalusBodyId){(uint64_t)(floor_and_walls + 1 + above)};
    def.b = (TalusBodyId){(uint64_t)(floor_and_walls + 1 + k)};
    def.point = talus_scale(
        0.5, talus_add(position[floor_and_walls + above], position[floor_and_walls + k]));
    def.kind = k % 2 ? TALUS_JOINT_BALL : TALUS_JOINT_REVOLUTE;
    def.axis = talus_vec3(1.0, 0.0, 0.0);
    if (k % 4 == 0) {
        def.motor.kind = TALUS_MOTOR_SPEED;
        def.motor.target = 2.0;
        def.motor.max_effort = 1e-3;
    } else if (k % 4 == 2) {
        def.lower = -0.1;
        def.upper = 0.01;
    }
    return talus_world_add_joint(world, &def, NULL);
}

/* Joins many grains in pairs and chains, whose bodies are of several ranks, some with limits, some with motors. */
static TalusStatus make_machines(TalusWorldDef *def, TalusWorld **world)
{
    TalusVec3 position[BODIES + 5];
    TALUS_TRY(make_spheres(def, world));
    talus_world_get_state(*world, &(TalusBodyState){.position = position});
    for (int k = 0; k < 7 * ACROSS * ACROSS; k += 5)
        TALUS_TRY(join_grains(*world, position, k));
    return TALUS_OK;
}

static TalusStatus drop_joints(TalusWorld *world, int k)
{
    return k == 1 ? talus_world_remove_body(world, (TalusBodyId){200}) : TALUS_OK;
}

TEST(machines_of_several_ranks_have_the_bits_of_one)
{
    const RanksCase of = {
        .name = "machines", .make = make_machines, .act = drop_joints, .steps = 3, .grid = &grid};
    NEEDS_CUDA();
    const TalusStepInfo last = compare_case(&of, "cuda", "apgd", 10);
    CHECK(last.contacts > 100);
    CHECK(last.ledger.joints != 0.0);
}

/* ---- refusals ---- */

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
    backend = "cuda";
    solver = "gs:order=coloured";
    iterations = 10;
    CHECK_INT(talus_ranks_run(2, step_by_gs, NULL), TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "whole problem") && strstr(talus_error(), "backend cpu"));
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
    compare_on("cuda", "spheres by lbfgs-fb", "lbfgs-fb", make_relaxed);
    compare_on("cuda", "spheres by mprgp", "mprgp", make_relaxed);
    compare_on("cuda-mixed", "frictionless spheres by mprgp", "mprgp", make_frictionless);
}

int main(void)
{
    cuda = talus_backend_find("cuda");
    RUN(spheres_have_the_bits_of_one_rank);
    RUN(boxes_have_the_bits_of_one_rank);
    RUN(other_solvers_give_the_bits_of_one_rank);
    RUN(halos_and_owners_change);
    RUN(a_world_is_divided_and_gathered);
    RUN(a_periodic_flow_has_the_bits_of_one_rank);
    RUN(steps_of_fast_bodies_in_periodic_space_are_halved_alike);
    RUN(steps_that_miss_are_halved_alike);
    RUN(columns_sleep_and_wake_alike);
    RUN(machines_of_several_ranks_have_the_bits_of_one);
    RUN(what_is_refused_is_said);
    return cuda_test_result();
}
