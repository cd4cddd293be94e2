/* Worlds on several ranks on the cuda backends: each step gives the bits of one rank there. */
#include "ranks_world.h"

#include "base/memory.h"
#include "base/status.h"
#include "world/state.h"

#include "support/cuda.h"

#include <talus/joint.h>

/* backend/cuda/cuda.h, in builds that have it */
#ifdef TALUS_HAVE_CUDA
#include "backend/cuda/cuda.h"
#else
static uint64_t cu_copied_bytes(const TalusContext *context)
{
    (void)context;
    return 0;
}
#endif

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

/* True if some problem has been gathered on rank 0. */
static bool has_gathered(void)
{
    static TalusMemoryUse use[1024];
    const int uses = talus_memory_uses(use, 1024);
    bool found = false;
    for (int k = 0; k < uses; k++)
        found = found || strcmp(use[k].name, "contacts of ranks") == 0;
    return found;
}

/* Bodies apart from each other, of which the lowest touch the floor. */
static TalusStatus make_few(TalusWorldDef *def, TalusWorld **world)
{
    Grains grains = heap_of_spheres(1.5);
    grains.spacing = 0.04;
    return make_grains(def, grains, ACROSS * grains.spacing, world);
}

/* Problems of few contacts, which one rank solves in one kernel. */
TEST(small_problems_are_gathered)
{
    const RanksCase of = {.name = "few contacts", .make = make_few, .steps = 4, .grid = &grid};
    NEEDS_CUDA();
    const TalusStepInfo last = compare_case(&of, "cuda", "apgd", 10);
    compare_case(&of, "cuda-mixed", "jacobi", 10);
    if (!is_first_process())
        return;
    CHECK(last.contacts > 20);
    CHECK(last.contacts <= cuda->gathered_blocks);
    CHECK(has_gathered());
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

/* ---- steps without a query between them, which would bring all bodies to the host ---- */

typedef struct QuietRun {
    const RanksCase *of;
    uint64_t hash;
    TalusStepInfo last;
} QuietRun;

static TalusStatus run_quietly(TalusComm *comm, void *context)
{
    QuietRun *run = context;
    const RanksCase *of = run->of;
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    TalusStepInfo last = {0};
    def.comm = comm;
    TalusStatus status = of->make(&def, &world);
    for (int k = 0; k < of->steps && status == TALUS_OK; k++) {
        if (of->act)
            status = of->act(world, k);
        TALUS_THEN(status, talus_world_step(world, &last));
    }
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (talus_comm_rank(comm) == 0) {
        run->hash = hash;
        run->last = last;
    }
    talus_world_destroy(world);
    return status;
}

static void compare_quiet(const RanksCase *of, const char *by)
{
    QuietRun one = {.of = of};
    backend = "cuda";
    solver = by;
    iterations = 4;
    CHECK_OK(talus_ranks_run(1, run_quietly, &one));
    for (int ranks = 2; ranks <= 3; ranks++) {
        QuietRun run = {.of = of};
        CHECK_OK(talus_ranks_run(ranks, run_quietly, &run));
        CHECK(run.hash != 0 && run.hash == one.hash);
        if (!is_info_same(&run.last, &one.last))
            printf("# %s on %d ranks\n", of->name, ranks);
    }
}

/* Forces that change in each step, so that records of bodies travel, and what act_on_burst does. */
static TalusStatus push_in_burst(TalusWorld *world, int k)
{
    const TalusVec3 none = {0.0, 0.0, 0.0};
    for (uint64_t id = 20; id < 600; id += 97)
        TALUS_TRY(
            talus_world_set_force(world, (TalusBodyId){id}, talus_vec3(0.1 * k, 0.0, 0.3), none));
    return act_on_burst(world, k);
}

/* Makes ranks believe that they are slow in turn (test_ranks_deal.c), so that bodies are dealt anew before the step or, unless
 * `now`, that a deal would take for ever. */
static void claim_in_turn(TalusWorld *world, int k, bool now)
{
    const TalusComm *comm = world->ranks.comm;
    const bool is_slow = (talus_comm_rank(comm) + k) % talus_comm_size(comm) == 0;
    world->ranks.work = (TalusRankWork){
        .seconds = is_slow ? 12.0 : 4.0, .steps = 4.0, .dealing = now ? 0.0 : (double)INFINITY};
}

static TalusStatus deal_in_burst(TalusWorld *world, int k)
{
    claim_in_turn(world, k, true);
    return act_on_burst(world, k);
}

/* One deal, by which ranks lose the bodies that they had pushed. */
static TalusStatus deal_last(TalusWorld *world, int k)
{
    claim_in_turn(world, k, k == 9);
    return act_on_burst(world, k);
}

/* A step that misses its tolerance fails and is made again. */
static TalusStatus fail_first(TalusWorld *world, int k)
{
    world->def.on_miss = TALUS_MISS_STOP;
    const TalusStatus status = k % 2 ? talus_world_step(world, NULL) : TALUS_OK;
    world->def.on_miss = TALUS_MISS_CONTINUE;
    return status == TALUS_ERR_TOLERANCE ? TALUS_OK : status;
}

static TalusStatus make_strict(TalusWorldDef *def, TalusWorld **world)
{
    def->tolerance = 1e-9;
    return make_burst(def, world);
}

TEST(steps_without_queries_have_the_bits_of_one_rank)
{
    const RanksCase of[] = {
        {.name = "burst", .make = make_burst, .act = act_on_burst, .steps = 10},
        {.name = "dealt", .make = make_burst, .act = deal_in_burst, .steps = 10},
        {.name = "dealt last", .make = make_burst, .act = deal_last, .steps = 10},
        {.name = "pushed", .make = make_burst, .act = push_in_burst, .steps = 7},
        {.name = "failures", .make = make_strict, .act = fail_first, .steps = 8},
        {.name = "halved", .make = make_hasty, .steps = 2},
        {.name = "flow", .make = make_flow, .steps = 8},
        {.name = "sleepers", .make = make_sleepers, .act = disturb, .steps = REST_STEPS},
        {.name = "machines", .make = make_machines, .act = drop_joints, .steps = 4},
        {.name = "boxes", .make = make_boxes, .steps = 3},
    };
    NEEDS_CUDA();
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        compare_quiet(&of[k], "apgd");
}

/* ---- failures ---- */

/* Makes the halo anew before each step, and before that fails to for lack of memory in one allocation after the other, on
 * either rank. Messages have their memory from the first steps: a communicator that lacks memory would be of no more use. */
static TalusStatus run_short_of_memory(TalusComm *comm, void *context)
{
    QuietRun *run = context;
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    int64_t failed = 0;
    def.comm = comm;
    TalusStatus status = run->of->make(&def, &world);
    for (int k = 0; k < run->of->steps && status == TALUS_OK; k++) {
        const TalusDetectOptions options = {.h = 1e-3, .envelope = 0.1, .reference_speed = 0.01};
        TalusStatus made = k < 2 ? TALUS_OK : TALUS_ERR_MEMORY;
        for (long n = 1; made != TALUS_OK && n < 500; n++, failed++) {
            world->ranks.reaches = 0; /* a new one */
            if (talus_comm_rank(comm) == 0 && talus_comm_size(comm) > 1)
                talus_fail_allocation_in(n);
            TALUS_THEN(status, talus_comm_agree(comm, TALUS_OK));
            made = talus_ranks_make_halo(world, &options);
            TALUS_THEN(status, talus_comm_agree(comm, TALUS_OK));
            if (talus_comm_rank(comm) == 0)
                talus_fail_allocation_in(0);
            TALUS_THEN(status, talus_comm_agree(comm, TALUS_OK));
        }
        TALUS_THEN(status, talus_world_step(world, NULL));
    }
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (talus_comm_rank(comm) == 0) {
        run->hash = hash;
        run->last.contacts = failed;
    }
    talus_world_destroy(world);
    return status;
}

TEST(halos_that_lack_memory_are_made_again)
{
    const RanksCase of = {.name = "short of memory", .make = make_relaxed, .steps = 4};
    QuietRun one = {.of = &of}, two = one;
    NEEDS_CUDA();
    backend = "cuda";
    solver = "jacobi";
    iterations = 4;
    CHECK_OK(talus_ranks_run(1, run_short_of_memory, &one));
    CHECK_OK(talus_ranks_run(2, run_short_of_memory, &two));
    CHECK(one.hash != 0 && one.hash == two.hash);
    CHECK(two.last.contacts >=
          2); /* one failure in each of two halos; the emulation of kernels allocates more often */
}

/* ---- what is copied between host and device ---- */

/* A long strip of spheres, some of which touch in the last steps: halos are small. Bodies move to and fro by `speed`, along the strip. */
enum { STRIP_WIDE = 4, STRIP_STEPS = 10 };

typedef struct StripRun {
    int length; /* bodies along the strip */
    double speed;
    uint64_t hash;
    int64_t searches; /* of halos after the first steps */
    double most;      /* bytes copied in one of these steps by one rank */
} StripRun;

static TalusStatus make_strip(const StripRun *run, TalusComm *comm, TalusWorld **world)
{
    const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusWorldDef def = talus_world_def_default();
    def.comm = comm;
    def.backend = "cuda";
    def.solver = "lbfgs-fb"; /* no small problem is gathered for it */
    def.max_iterations = 4;
    def.gravity = talus_vec3(0.0, 0.0, 0.0);
    def.reference_speed = 0.01;
    def.step = 1e-3;
    batch.count = STRIP_WIDE * run->length;
    TalusVec3 *x = malloc(2 * (size_t)batch.count * sizeof *x), *v = x + batch.count;
    for (int k = 0; k < batch.count; k++) {
        const double to = k / STRIP_WIDE % 2 ? run->speed : -run->speed;
        x[k] = talus_vec3(0.06 * (k / STRIP_WIDE), 0.06 * (k % STRIP_WIDE), 0.0);
        v[k] = talus_vec3(to, 0.0, 0.0);
    }
    batch.position = x;
    batch.velocity = v;
    batch.density = 2500.0;
    TalusStatus status = talus_world_create(&def, world);
    TALUS_THEN(status, talus_world_add_shape(*world, &ball, &batch.shape));
    TALUS_THEN(status, talus_world_add_bodies(*world, &batch, NULL));
    free(x);
    return status;
}

/* No query comes between the steps: each would bring all bodies to the host. */
static TalusStatus run_strip(TalusComm *comm, void *context)
{
    StripRun *run = context;
    TalusWorld *world = NULL;
    double most = 0.0;
    int64_t searches = 0;
    TalusStatus status = make_strip(run, comm, &world);
    for (int k = 0; k < STRIP_STEPS && status == TALUS_OK; k++) {
        const double before = (double)cu_copied_bytes(world->context);
        const int64_t had = world->ranks.searches;
        status = talus_world_step(world, NULL);
        world->ranks.work.dealing =
            (double)INFINITY; /* however slow this machine is: no other deal */
        if (k < 2)            /* bodies are dealt, and the first halo is made */
            continue;
        most = fmax(most, (double)cu_copied_bytes(world->context) - before);
        searches += world->ranks.searches - had;
    }
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (talus_comm_rank(comm) == 0) {
        run->hash = hash;
        run->most = most;
        run->searches = searches;
    }
    talus_world_destroy(world);
    return status;
}

/* Runs the strip on two ranks and on one; returns what two did. */
static StripRun compare_strip(int length, double speed)
{
    StripRun one = {.length = length, .speed = speed}, two = one;
    CHECK_OK(talus_ranks_run(1, run_strip, &one));
    CHECK_OK(talus_ranks_run(2, run_strip, &two));
    CHECK(one.hash != 0 && one.hash == two.hash);
    return two;
}

/* Returns the bytes that a step copies more for each body more of a rank, where the halo stays as it is; *searches: of the
 * longer strip. */
static double bytes_for_a_body(double speed, int64_t *searches)
{
    enum { SHORT = 256, LONGER = 512 };
    const StripRun few = compare_strip(SHORT, speed), many = compare_strip(LONGER, speed);
    *searches = many.searches;
    return (many.most - few.most) / (STRIP_WIDE * (LONGER - SHORT) / 2);
}

/* States and arrays of a body are some 240 bytes. A new halo has a new order of ids, and the problem of a step marks bodies
 * in a byte each. */
TEST(a_step_copies_what_its_halo_has_and_not_all_bodies)
{
    int64_t searches;
    NEEDS_CUDA();
    CHECK(bytes_for_a_body(0.0, &searches) < 4.0);
    CHECK_INT(searches, 0);
    CHECK(bytes_for_a_body(5.0, &searches) < 16.0);
    CHECK(searches >= 2);
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
    RUN(small_problems_are_gathered);
    RUN(halos_and_owners_change);
    RUN(a_world_is_divided_and_gathered);
    RUN(a_periodic_flow_has_the_bits_of_one_rank);
    RUN(steps_of_fast_bodies_in_periodic_space_are_halved_alike);
    RUN(steps_that_miss_are_halved_alike);
    RUN(columns_sleep_and_wake_alike);
    RUN(machines_of_several_ranks_have_the_bits_of_one);
    RUN(steps_without_queries_have_the_bits_of_one_rank);
    RUN(halos_that_lack_memory_are_made_again);
    RUN(a_step_copies_what_its_halo_has_and_not_all_bodies);
    RUN(what_is_refused_is_said);
    return cuda_test_result();
}
