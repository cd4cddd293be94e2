/* Joints in worlds on several ranks (world/joint/joint_ranks.c): each step gives the bits of one rank, also where a
 * machine is spread over ranks: bodies are dealt in blocks of 256 numbers, and machines have bodies of several blocks. */
#include "ranks_world.h"

enum { STEPS = SANITIZED ? 6 : 12 };

static const TalusVec3 up = {0.0, 0.0, 1.0}, sideways = {0.0, 1.0, 0.0};

/* Adds a free body. */
static TalusStatus add_one(TalusWorld *world, TalusShapeDef shape, TalusVec3 at, TalusQuat turn,
                           double mass, TalusBodyId *id)
{
    TalusBodyBatch batch = talus_body_batch_default();
    batch.count = 1;
    batch.mass = mass;
    batch.position = &at;
    batch.orientation = &turn;
    TalusStatus status = talus_world_add_shape(world, &shape, &batch.shape);
    return status == TALUS_OK ? talus_world_add_bodies(world, &batch, id) : status;
}

static TalusStatus join(TalusWorld *world, TalusJointDef def, TalusJointKind kind, TalusBodyId a,
                        TalusBodyId b, TalusVec3 point)
{
    def.kind = kind;
    def.a = a;
    def.b = b;
    def.point = point;
    return talus_world_add_joint(world, &def, NULL);
}

/* A heap of small bodies in which machines work, on a floor. */
static Grains grains_of(TalusShapeDef shape, double z)
{
    return (Grains){.shape = shape,
                    .across = {12, 9, 4},
                    .lo = {-0.15, -0.1, z},
                    .spacing = 0.025,
                    .radius = 0.01,
                    .speed = 0.5};
}

/* ---- a cart ---- */

/* Adds a cart of a chassis and four wheels with motors of bounded torque, which stands on the heap: the chassis before the
 * grains are added, the wheels after. The first wheel has its limits, the second a motor without bound, the third a
 * damped one, the fourth a torque. */
static TalusStatus add_cart(TalusWorld *world, TalusBodyId chassis, double z)
{
    const TalusQuat across = talus_quat_from_z(sideways);
    for (int k = 0; k < 4; k++) {
        const TalusVec3 at = {k % 2 ? 0.06 : -0.06, k / 2 ? 0.06 : -0.06, z};
        const TalusShapeDef rim = {
            .kind = TALUS_SHAPE_CYLINDER, .radius = 0.03, .half_height = 0.012};
        TalusJointDef def = talus_joint_def_default();
        TalusBodyId wheel;
        def.axis = sideways;
        if (k == 0) {
            def.lower = -0.2;
            def.upper = 0.02;
        } else {
            def.motor.kind = k == 3   ? TALUS_MOTOR_TORQUE
                             : k == 2 ? TALUS_MOTOR_POSITION
                                      : TALUS_MOTOR_SPEED;
            def.motor.target = k == 3 ? 0.2 : 4.0;
            def.motor.rate = k == 2 ? 3.0 : 0.0;
            def.motor.max_effort = k == 1 ? 0.3 : INFINITY;
            def.motor.damping = k == 2 ? 0.05 : 0.0;
        }
        TALUS_TRY(add_one(world, rim, at, across, 0.2, &wheel));
        TALUS_TRY(join(world, def, TALUS_JOINT_REVOLUTE, wheel, chassis, at));
    }
    return TALUS_OK;
}

static TalusStatus make_cart_on(TalusWorldDef *def, TalusShapeDef grain, TalusWorld **world)
{
    const TalusShapeDef body = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.04, 0.015}};
    const double top = 4 * 0.025 + 0.035;
    const Grains grains = grains_of(grain, 0.002);
    TalusBodyId chassis;
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), up, NULL));
    TALUS_TRY(
        add_one(*world, body, talus_vec3(0, 0, top + 0.02), talus_quat_identity(), 1.0, &chassis));
    TALUS_TRY(add_grains(*world, &grains, NULL));
    return add_cart(*world, chassis, top);
}

static TalusStatus make_cart(TalusWorldDef *def, TalusWorld **world)
{
    return make_cart_on(def, (TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.01}, world);
}

static TalusStatus make_cart_on_boxes(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.008, 0.006, 0.006}};
    return make_cart_on(def, box, world);
}

static TalusStatus make_rigid_cart(TalusWorldDef *def, TalusWorld **world)
{
    def->friction.law = TALUS_LAW_CCP;
    def->compliance = 0.0;
    return make_cart(def, world);
}

TEST(a_cart_on_spheres_has_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "cart", .make = make_cart, .solver = "apgd", .steps = STEPS};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(last.contacts > 100);
    CHECK(last.ledger.joints != 0.0);
}

/* For a solver that needs the whole problem, joints included: rank 0 gathers it. */
static TalusStatus make_direct_cart(TalusWorldDef *def, TalusWorld **world)
{
    def->max_iterations = 4;
    return make_cart(def, world);
}

TEST(all_solvers_of_a_cart_give_the_same_bits_on_any_ranks)
{
    const RanksCase all[] = {
        {.name = "cart by auto", .make = make_cart, .solver = "auto", .steps = 5},
        {.name = "cart by sweeps", .make = make_cart, .solver = "gs-coulomb", .steps = 5},
        {.name = "cart by prox", .make = make_direct_cart, .solver = "prox", .steps = 3}};
    for (int k = 0; k < 3; k++)
        CHECK(compare_ranks(&all[k]).contacts > 100);
}

TEST(a_relaxed_rigid_cart_has_the_same_bits_on_any_ranks)
{
    const RanksCase of = {
        .name = "rigid cart", .make = make_rigid_cart, .solver = "apgd", .steps = STEPS};
    CHECK(compare_ranks(&of).contacts > 100);
}

/* Changes motors, and removes and adds joints. */
static TalusStatus change_cart(TalusWorld *world, int k)
{
    TalusMotorDef motor = {.kind = TALUS_MOTOR_SPEED, .target = -6.0, .max_effort = 0.5};
    TalusJointDef def = talus_joint_def_default();
    if (k == 3)
        return talus_world_set_motor(world, (TalusJointId){4}, &motor);
    if (k == 5)
        return talus_world_remove_joint(world, (TalusJointId){2});
    def.kind = TALUS_JOINT_SPRING;
    def.a = (TalusBodyId){2};
    def.b = (TalusBodyId){40};
    def.stiffness = 200.0;
    def.damping = 1.0;
    def.point = talus_vec3(0.0, 0.0, 0.14);
    def.point_b = talus_vec3(0.05, 0.0, 0.05);
    if (k == 10)
        return talus_world_remove_body(world, (TalusBodyId){2}); /* the chassis */
    return k == 7 ? talus_world_add_joint(world, &def, NULL) : TALUS_OK;
}

TEST(joints_that_change_have_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "changes",
                          .make = make_cart_on_boxes,
                          .act = change_cart,
                          .solver = "apgd",
                          .steps = STEPS};
    CHECK(compare_ranks(&of).contacts > 100);
}

/* ---- servo walls ---- */

/* Two walls of the heap are pushed together, a lid onto it, each by a stress over the area between the others: bodies of
 * several ranks, before and after the grains. */
static TalusStatus make_cell(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef side = {.kind = TALUS_SHAPE_BOX, .half = {0.01, 0.2, 0.2}},
                        lid = {.kind = TALUS_SHAPE_BOX, .half = {0.3, 0.3, 0.01}};
    const TalusVec3 at[] = {{-0.18, 0.0, 0.21}, {0.18, 0.0, 0.21}, {0.0, 0.0, 0.45}};
    const TalusVec3 axis[] = {{1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}, {0.0, 0.0, -1.0}};
    const Grains grains =
        grains_of((TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.01}, 0.002);
    TalusBodyId floor, body[3];
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), up, &floor));
    TALUS_TRY(add_one(*world, side, at[0], talus_quat_identity(), 0.5, &body[0]));
    TALUS_TRY(add_grains(*world, &grains, NULL));
    TALUS_TRY(add_one(*world, side, at[1], talus_quat_identity(), 0.5, &body[1]));
    TALUS_TRY(add_one(*world, lid, at[2], talus_quat_identity(), 0.5, &body[2]));
    for (int k = 0; k < 3; k++) {
        TalusJointDef servo = talus_joint_def_default();
        servo.axis = axis[k];
        servo.motor = (TalusMotorDef){.kind = TALUS_MOTOR_SERVO,
                                      .target = 500.0,
                                      .rate = 1e5,
                                      .max_effort = INFINITY,
                                      .max_speed = 2.0,
                                      .stress = true,
                                      .area = 0.3};
        servo.motor.between[0][0] = k < 2 ? floor : body[0];
        servo.motor.between[0][1] = k < 2 ? body[2] : body[1];
        TALUS_TRY(join(*world, servo, TALUS_JOINT_PRISMATIC, body[k], (TalusBodyId){0}, at[k]));
    }
    return TALUS_OK;
}

TEST(servo_walls_have_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "cell", .make = make_cell, .solver = "apgd", .steps = STEPS};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(last.contacts > 100);
    CHECK(last.ledger.joints != 0.0);
}

/* ---- a chain between a driven body and a fixed one ---- */

enum { LINKS = 24 };

/* Adds a chain of capsules and spheres above the heap, its links in turns before and after the grains; its one end is
 * held by a driven box, the other by a fixed one. */
static TalusStatus make_chain(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef link = {.kind = TALUS_SHAPE_CAPSULE, .radius = 0.004, .half_height = 0.007};
    const TalusShapeDef post = {.kind = TALUS_SHAPE_BOX, .half = {0.01, 0.01, 0.01}};
    const TalusQuat along = talus_quat_from_z(talus_vec3(1.0, 0.0, 0.0));
    const double pitch = 0.022, z = 0.12, start = -0.5 * LINKS * pitch;
    const Grains grains =
        grains_of((TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.01}, 0.002);
    TalusDriveDef drive = talus_drive_def_default();
    TalusBodyId body[LINKS + 2];
    drive.velocity = talus_vec3(-0.3, 0.0, -0.2);
    drive.amplitude = talus_vec3(0.0, 0.004, 0.0);
    drive.frequency = 5.0;
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), up, NULL));
    TALUS_TRY(add_fixed(*world, &post, talus_vec3(start - 0.5 * pitch, 0, z), talus_quat_identity(),
                        &body[0]));
    for (int k = 1; k <= LINKS; k += 2)
        TALUS_TRY(add_one(*world, link, talus_vec3(start + (k - 0.5) * pitch, 0, z), along, 0.004,
                          &body[k]));
    TALUS_TRY(add_grains(*world, &grains, NULL));
    for (int k = 2; k <= LINKS; k += 2)
        TALUS_TRY(add_one(*world, link, talus_vec3(start + (k - 0.5) * pitch, 0, z), along, 0.004,
                          &body[k]));
    TALUS_TRY(add_fixed(*world, &post, talus_vec3(start + (LINKS + 0.5) * pitch, 0, z),
                        talus_quat_identity(), &body[LINKS + 1]));
    TALUS_TRY(talus_world_set_drive(*world, body[LINKS + 1], &drive));
    for (int k = 0; k <= LINKS; k++) {
        const TalusBodyId a = k < LINKS ? body[k + 1] : body[k],
                          b = k < LINKS ? body[k] : body[k + 1];
        TALUS_TRY(join(*world, talus_joint_def_default(),
                       k % 5 == 4 ? TALUS_JOINT_UNIVERSAL : TALUS_JOINT_BALL, a, b,
                       talus_vec3(start + k * pitch, 0, z)));
    }
    return TALUS_OK;
}

TEST(a_driven_chain_has_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "chain", .make = make_chain, .solver = "apgd", .steps = STEPS};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(last.contacts > 100);
    CHECK(last.ledger.driven != 0.0);
}

/* ---- many machines without contacts, some of which fall back ---- */

enum { PENDULUMS = 24 };

/* Adds pendulums of two links that hang from the world, some so fast that no impulse closes them, and grains elsewhere. */
static TalusStatus make_pendulums(TalusWorldDef *def, TalusWorld **world)
{
    const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01};
    const Grains grains = grains_of(ball, -0.5);
    TalusBodyId body[2][PENDULUMS];
    def->step = 0.01;
    TALUS_TRY(talus_world_create(def, world));
    for (int half = 0; half < 2; half++) {
        for (int k = 0; k < PENDULUMS; k++) {
            TalusBodyBatch batch = talus_body_batch_default();
            const TalusVec3 at = {0.1 * k, 0.05 * (half + 1), 0.5};
            const TalusVec3 v = {0.0, 0.1 * k, k % 3 == 0 ? 12.0 : 0.5};
            batch.count = 1;
            batch.mass = 0.1;
            batch.position = &at;
            batch.velocity = &v;
            TALUS_TRY(talus_world_add_shape(*world, &ball, &batch.shape));
            TALUS_TRY(talus_world_add_bodies(*world, &batch, &body[half][k]));
        }
        if (half == 0)
            TALUS_TRY(add_grains(*world, &grains, NULL));
    }
    for (int k = 0; k < PENDULUMS; k++) {
        TALUS_TRY(join(*world, talus_joint_def_default(), TALUS_JOINT_BALL, body[0][k],
                       (TalusBodyId){0}, talus_vec3(0.1 * k, 0.0, 0.5)));
        TALUS_TRY(join(*world, talus_joint_def_default(), TALUS_JOINT_BALL, body[1][k], body[0][k],
                       talus_vec3(0.1 * k, 0.05, 0.5)));
    }
    return TALUS_OK;
}

TEST(machines_that_fall_back_have_the_same_bits_on_any_ranks)
{
    const RanksCase of = {
        .name = "pendulums", .make = make_pendulums, .solver = "apgd", .steps = STEPS};
    CHECK(compare_ranks(&of).projection_fallbacks > 0);
}

/* ---- a heap whose spheres hang together by ropes ---- */

enum { ROPES = 300 };

/* Joints with bounds alone, more than a group of sums takes (backend/groups.h), and no other general contacts. */
static TalusStatus make_ropes(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains =
        grains_of((TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.01}, 0.002);
    static const int apart[2] = {1, 108}; /* neighbours along x and z */
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), up, NULL));
    TALUS_TRY(add_grains(*world, &grains, NULL));
    TalusVec3 x[1 + 12 * 9 * 4];
    for (int k = 0; k < 12 * 9 * 4; k++)
        x[k] = talus_vec3(grains.lo.x + (k % 12 + 0.5) * grains.spacing,
                          grains.lo.y + (k / 12 % 9 + 0.5) * grains.spacing,
                          grains.lo.z + (k / 108 + 0.5) * grains.spacing);
    for (int k = 0; k < ROPES; k++) {
        const int other = k + apart[k % 2];
        TalusJointDef rope = talus_joint_def_default();
        rope.kind = TALUS_JOINT_DISTANCE;
        rope.a = (TalusBodyId){(uint64_t)k + 2};
        rope.b = (TalusBodyId){(uint64_t)other + 2};
        rope.point = x[k];
        rope.point_b = x[other];
        rope.lower = 0.02;
        rope.upper = talus_norm(talus_sub(x[k], x[other])) + 0.001;
        rope.collide = true;
        TALUS_TRY(talus_world_add_joint(*world, &rope, NULL));
    }
    return TALUS_OK;
}

TEST(ropes_in_a_heap_have_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "ropes", .make = make_ropes, .solver = "apgd", .steps = STEPS};
    CHECK(compare_ranks(&of).contacts > 100);
}

/* ---- limits between a free body and one that no impulse moves ---- */

enum { GATES = 18 };

/* Adds a post beside gate k: the world, a fixed body, or a driven one. */
static TalusStatus add_post(TalusWorld *world, int k, TalusVec3 at, TalusBodyId *id)
{
    const TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.004, 0.004, 0.03}};
    TalusDriveDef drive = talus_drive_def_default();
    *id = (TalusBodyId){0};
    if (k % 3 == 0)
        return TALUS_OK;
    TALUS_TRY(add_fixed(world, &box, at, talus_quat_identity(), id));
    drive.velocity = talus_vec3(0.05, 0.0, 0.1);
    drive.spin = talus_vec3(0.0, 0.0, 2.0);
    return k % 3 == 1 ? TALUS_OK : talus_world_set_drive(world, *id, &drive);
}

/* Gates that swing on posts up to their limits, some with a motor of bounded effort as well; the post is the first body of
 * every second joint, the gate that of the others. All limits are reached in the first steps. */
static TalusStatus make_gates(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains =
        grains_of((TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.01}, 0.002);
    const TalusShapeDef leaf = {.kind = TALUS_SHAPE_BOX, .half = {0.02, 0.002, 0.02}};
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), up, NULL));
    for (int k = 0; k < GATES; k++) {
        const TalusVec3 hinge = {0.1 * k, 0.3, 0.2};
        TalusJointDef joint = talus_joint_def_default();
        TalusBodyId gate, post;
        TALUS_TRY(add_post(*world, k, hinge, &post));
        TALUS_TRY(add_one(*world, leaf, talus_add(hinge, talus_vec3(0.03, 0, 0)),
                          talus_quat_identity(), 0.05, &gate));
        if (k == GATES / 2) /* gates before and after the grains are on different ranks */
            TALUS_TRY(add_grains(*world, &grains, NULL));
        joint.axis = sideways;
        joint.lower = -0.001;
        joint.upper = 0.001;
        if (k % 4 == 3)
            joint.motor =
                (TalusMotorDef){.kind = TALUS_MOTOR_SPEED, .target = 3.0, .max_effort = 0.02};
        TALUS_TRY(join(*world, joint, TALUS_JOINT_REVOLUTE, k % 2 ? post : gate,
                       k % 2 ? gate : post, hinge));
    }
    return TALUS_OK;
}

TEST(limits_at_bodies_that_no_impulse_moves_have_the_same_bits_on_any_ranks)
{
    const RanksCase of = {.name = "gates", .make = make_gates, .solver = "apgd", .steps = STEPS};
    const RanksCase swept = {.name = "gates, gs", .make = make_gates, .solver = "gs", .steps = 4};
    CHECK(compare_ranks(&of).contacts > 50);
    CHECK(compare_ranks(&swept).contacts > 50);
}

/* ---- machines beside bodies that sleep ---- */

enum { ROWS = 15, COLUMNS = 20, REST_STEPS = 24 };

/* One layer of spheres that come to rest; those that are not joined in pairs fall asleep. */
static TalusStatus make_sleepers(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = {.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01},
                           .across = {COLUMNS, ROWS, 1},
                           .lo = {0.0, 0.0, -0.0023},
                           .spacing = 0.025,
                           .radius = 0.01};
    def->sleep_speed = 0.5;
    def->sleep_steps = 4;
    TALUS_TRY(talus_world_create(def, world));
    TALUS_TRY(add_plane(*world, talus_vec3(0, 0, 0), up, NULL));
    TALUS_TRY(add_grains(*world, &grains, NULL));
    for (int k = 0; k + 1 < ROWS * COLUMNS; k += 5) {
        const TalusBodyId a = {(uint64_t)k + 2}, b = {(uint64_t)k + 3};
        const TalusVec3 between = {(k % COLUMNS + 1) * grains.spacing,
                                   (k / COLUMNS + 0.5) * grains.spacing, 0.01};
        TALUS_TRY(join(*world, talus_joint_def_default(), TALUS_JOINT_BALL, a, b, between));
    }
    return TALUS_OK;
}

/* Wakes bodies by a new joint, one that goes, and a body that goes. */
static TalusStatus wake_some(TalusWorld *world, int k)
{
    const TalusVec3 between = {0.25, 0.1, 0.01};
    if (k == REST_STEPS - 8)
        return join(world, talus_joint_def_default(), TALUS_JOINT_BALL, (TalusBodyId){12},
                    (TalusBodyId){282}, between);
    if (k == REST_STEPS - 5)
        return talus_world_remove_joint(world, (TalusJointId){2});
    return k == REST_STEPS - 3 ? talus_world_remove_body(world, (TalusBodyId){257}) : TALUS_OK;
}

TEST(bodies_beside_machines_sleep_alike_on_any_ranks)
{
    const RanksCase rest = {
        .name = "sleepers", .make = make_sleepers, .solver = "apgd", .steps = REST_STEPS - 8};
    const RanksCase of = {.name = "woken",
                          .make = make_sleepers,
                          .act = wake_some,
                          .solver = "apgd",
                          .steps = REST_STEPS};
    CHECK(compare_ranks(&rest).asleep > 100);
    compare_ranks(&of);
}

/* ---- calls that are wrong ---- */

static TalusStatus call_wrongly(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusJointDef joint = talus_joint_def_default();
    TalusMotorDef motor = {.kind = TALUS_MOTOR_NONE};
    TalusJointState state;
    TalusWorld *world = NULL;
    int *failures = context;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = make_cart(&def, &world);
    if (status == TALUS_OK) {
        int failed = talus_world_add_joint(world, NULL, NULL) != TALUS_OK;
        joint.a = (TalusBodyId){9999};
        failed += talus_world_add_joint(world, &joint, NULL) != TALUS_OK;
        joint.a = (TalusBodyId){1};
        failed += talus_world_add_joint(world, &joint, NULL) != TALUS_OK;
        failed += talus_world_remove_joint(world, (TalusJointId){5}) != TALUS_OK;
        failed += talus_world_set_motor(world, (TalusJointId){9}, &motor) != TALUS_OK;
        failed += talus_world_get_joint(world, (TalusJointId){0}, &state) != TALUS_OK;
        failures[talus_comm_rank(comm)] = failed + 10 * talus_world_joint_count(world);
    }
    talus_world_destroy(world);
    return status;
}

TEST(wrong_calls_fail_on_all_ranks)
{
    int failures[3] = {0};
    CHECK_OK(talus_ranks_run(3, call_wrongly, failures));
    for (int r = 0; r < 3; r++)
        CHECK_INT(failures[r], 46);
}

int main(void)
{
    RUN(a_cart_on_spheres_has_the_same_bits_on_any_ranks);
    RUN(all_solvers_of_a_cart_give_the_same_bits_on_any_ranks);
    RUN(a_relaxed_rigid_cart_has_the_same_bits_on_any_ranks);
    RUN(joints_that_change_have_the_same_bits_on_any_ranks);
    RUN(servo_walls_have_the_same_bits_on_any_ranks);
    RUN(a_driven_chain_has_the_same_bits_on_any_ranks);
    RUN(machines_that_fall_back_have_the_same_bits_on_any_ranks);
    RUN(ropes_in_a_heap_have_the_same_bits_on_any_ranks);
    RUN(limits_at_bodies_that_no_impulse_moves_have_the_same_bits_on_any_ranks);
    RUN(bodies_beside_machines_sleep_alike_on_any_ranks);
    RUN(wrong_calls_fail_on_all_ranks);
    return talus_test_result();
}
