/* Bodies that a caller looks at and changes one by one (world/motion.c): closed forms, the energies that enter the ledger,
 * contacts that are found anew, refusals, and the bits of several ranks. */
#include "ranks_world.h"

#include "world/state.h"

#include <talus/body.h>

static const TalusVec3 zero = {0.0, 0.0, 0.0};
static const TalusQuat upright = {1.0, 0.0, 0.0, 0.0};

typedef struct Setting {
    TalusWorld *world;
    TalusBodyId floor, ball, block;
    TalusStepInfo info;
} Setting;

static TalusBodyId add(TalusWorld *world, TalusShapeDef shape, bool fixed, TalusVec3 at)
{
    TalusBodyId id = {0};
    TalusBodyBatch batch = talus_body_batch_default();
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.count = 1;
    batch.fixed = fixed;
    batch.position = &at;
    batch.tag = 7;
    batch.group = 3;
    CHECK_OK(talus_world_add_bodies(world, &batch, &id));
    return id;
}

/* A floor, a ball on it and a block on it, a metre apart. */
static Setting set_up(double sleep_speed)
{
    TalusWorldDef def = talus_world_def_default();
    Setting s = {0};
    def.step = 1e-3;
    def.tolerance = 1e-8;
    def.compliance = 0.0;
    def.threads = 1;
    def.sleep_speed = sleep_speed;
    def.sleep_steps = 5;
    CHECK_OK(talus_world_create(&def, &s.world));
    s.floor = add(s.world, (TalusShapeDef){.kind = TALUS_SHAPE_PLANE}, true, zero);
    s.ball = add(s.world, (TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.1}, false,
                 talus_vec3(0.0, 0.0, 0.1));
    s.block = add(s.world, (TalusShapeDef){.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.2, 0.3}}, false,
                  talus_vec3(1.0, 0.0, 0.3));
    return s;
}

static TalusBody get(const Setting *s, TalusBodyId id)
{
    TalusBody body = {0};
    CHECK_OK(talus_world_get_body(s->world, id, &body));
    return body;
}

/* Makes a step; energies that the report has must be those before plus the changes that it tells. */
static void step(Setting *s)
{
    const double before = s->info.ledger.kinetic + s->info.ledger.potential;
    const bool first = s->info.step == 0;
    REQUIRE_OK(talus_world_step(s->world, &s->info));
    const TalusLedger *l = &s->info.ledger;
    if (!first)
        CHECK_NEAR(l->kinetic + l->potential, before + l->kinetic_change + l->potential_change,
                   1e-12 * (fabs(before) + fabs(l->kinetic) + fabs(l->potential)));
}

static void steps(Setting *s, int count)
{
    for (int i = 0; i < count; i++)
        step(s);
}

/* ---- state ---- */

TEST(the_state_of_one_body)
{
    Setting s = set_up(0.0);
    const TalusVec3 force = {1.0, 2.0, 3.0};
    REQUIRE_OK(talus_world_set_force(s.world, s.block, force, zero));
    TalusBody block = get(&s, s.block), floor = get(&s, s.floor);
    CHECK(block.id.number == s.block.number && block.motion == TALUS_MOTION_FREE);
    CHECK(block.position.x == 1.0 && block.force.y == 2.0 && block.tag == 7 && block.group == 3);
    CHECK_NEAR(block.mass, 1000.0 * 0.2 * 0.4 * 0.6, 1e-12);
    CHECK(floor.motion == TALUS_MOTION_FIXED && floor.mass == 0.0);
    CHECK(talus_world_has_body(s.world, s.ball));
    REQUIRE_OK(talus_world_remove_body(s.world, s.ball));
    CHECK(!talus_world_has_body(s.world, s.ball) &&
          !talus_world_has_body(s.world, (TalusBodyId){0}));
    TalusBody none;
    CHECK(talus_world_get_body(s.world, s.ball, &none) == TALUS_ERR_ARGUMENT);
    talus_world_destroy(s.world);
}

TEST(a_pointer_of_the_caller_stays_with_its_body)
{
    enum { COUNT = 300 };
    Setting s = set_up(0.0);
    static int mark[COUNT];
    TalusBodyId id[COUNT];
    for (int i = 0; i < COUNT; i++) {
        id[i] = add(s.world, (TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.01}, false,
                    talus_vec3(0.1 * i, 5.0, 1.0));
        REQUIRE_OK(talus_world_set_user(s.world, id[i], &mark[i]));
    }
    for (int i = 0; i < COUNT; i++)
        CHECK(talus_world_get_user(s.world, id[i]) == &mark[i]);
    CHECK(talus_world_get_user(s.world, s.ball) == NULL);
    REQUIRE_OK(talus_world_set_user(s.world, id[4], NULL));
    REQUIRE_OK(talus_world_remove_body(s.world, id[5]));
    CHECK(talus_world_get_user(s.world, id[4]) == NULL);
    CHECK(talus_world_get_user(s.world, id[5]) == NULL);
    CHECK(talus_world_set_user(s.world, id[5], &mark[0]) == TALUS_ERR_ARGUMENT);
    /* a body that takes the slot of a removed one has none of its own */
    TalusBodyId next = add(s.world, (TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.01},
                           false, talus_vec3(0.5, 5.0, 1.0));
    CHECK(talus_world_get_user(s.world, next) == NULL);
    talus_world_destroy(s.world);
}

/* ---- poses ---- */

/* A ball at rest is put into the air, falls from there, and its new contact starts without the impulse of the old one. */
TEST(a_body_is_put_elsewhere)
{
    Setting s = set_up(0.0);
    steps(&s, 20);
    TalusContactState contact[16];
    int64_t count = talus_world_get_contacts(s.world, contact, 16);
    CHECK(count == 5 && fabs(contact[0].impulse.z) > 0.0);
    REQUIRE_OK(talus_world_set_pose(s.world, s.ball, talus_vec3(0.0, 0.0, 2.0), upright));
    for (int64_t i = 0; i < talus_world_get_contacts(s.world, contact, 16); i++)
        if (contact[i].a.number == s.ball.number || contact[i].b.number == s.ball.number)
            CHECK(contact[i].impulse.z == 0.0);
    step(&s);
    CHECK_NEAR(get(&s, s.ball).velocity.z, -9.81e-3, 1e-6);
    CHECK_NEAR(s.info.ledger.exchange, get(&s, s.ball).mass * 9.81 * 1.9, 1e-3);
    CHECK(talus_world_get_contacts(s.world, NULL, 0) == 4);
    /* and onto the block: contacts are found where the body is now */
    REQUIRE_OK(talus_world_set_pose(s.world, s.ball, talus_vec3(1.0, 0.0, 0.7), upright));
    step(&s);
    CHECK(talus_world_get_contacts(s.world, NULL, 0) == 5);
    talus_world_destroy(s.world);
}

/* The floor moves away below a sleeping ball, which wakes and falls. */
TEST(a_fixed_body_moves_and_sleepers_wake)
{
    Setting s = set_up(1.0);
    steps(&s, 30);
    CHECK(get(&s, s.ball).motion == TALUS_MOTION_ASLEEP);
    REQUIRE_OK(talus_world_set_pose(s.world, s.floor, talus_vec3(0.0, 0.0, -1.0), upright));
    CHECK(get(&s, s.ball).motion == TALUS_MOTION_FREE);
    steps(&s, 3);
    CHECK(get(&s, s.ball).velocity.z < -0.02);
    talus_world_destroy(s.world);
}

TEST(poses_that_are_refused)
{
    Setting s = set_up(0.0);
    const uint64_t hash = talus_world_hash(s.world);
    CHECK(talus_world_set_pose(s.world, s.ball, talus_vec3(NAN, 0, 0), upright) ==
          TALUS_ERR_ARGUMENT);
    CHECK(talus_world_set_pose(s.world, s.ball, zero, (TalusQuat){2, 0, 0, 0}) ==
          TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "length 2"));
    TalusDriveDef drive = talus_drive_def_default();
    drive.velocity.x = 1.0;
    REQUIRE_OK(talus_world_set_drive(s.world, s.floor, &drive));
    CHECK(talus_world_set_pose(s.world, s.floor, zero, upright) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "prescribed motion"));
    CHECK(talus_world_hash(s.world) == hash);
    talus_world_destroy(s.world);
}

/* ---- states in bulk ---- */

TEST(states_are_set_in_bulk)
{
    enum { BODIES = 3 };
    Setting s = set_up(0.0), t = set_up(0.0);
    TalusVec3 x[BODIES], v[BODIES], w[BODIES];
    TalusQuat e[BODIES];
    TalusBodyState all = {.position = x, .velocity = v, .spin = w, .orientation = e};
    REQUIRE_OK(talus_world_add_impulse(s.world, s.ball, talus_vec3(1.0, 0.5, 2.0), zero));
    steps(&s, 40);
    REQUIRE_OK(talus_world_get_state(s.world, &all));
    REQUIRE_OK(talus_world_set_state(t.world, &all, BODIES));
    TalusBody a = get(&s, s.ball), b = get(&t, t.ball);
    CHECK(memcmp(&a.position, &b.position, sizeof a.position) == 0);
    CHECK(memcmp(&a.velocity, &b.velocity, sizeof a.velocity) == 0);
    CHECK(memcmp(&a.spin, &b.spin, sizeof a.spin) == 0);
    CHECK(memcmp(&a.orientation, &b.orientation, sizeof a.orientation) == 0);
    a = get(&s, s.block), b = get(&t, t.block);
    CHECK(memcmp(&a.orientation, &b.orientation, sizeof a.orientation) == 0);
    CHECK(talus_world_get_contacts(t.world, NULL, 0) == 0);
    step(&t);
    CHECK(talus_world_get_contacts(t.world, NULL, 0) > 0);

    /* two of them by ids, velocities alone: the fixed one stays at rest */
    TalusBodyId id[2] = {t.block, t.floor};
    v[0] = v[1] = talus_vec3(0.0, 0.0, 3.0);
    REQUIRE_OK(talus_world_set_state(t.world, &(TalusBodyState){.id = id, .velocity = v}, 2));
    CHECK(get(&t, t.block).velocity.z == 3.0 && get(&t, t.floor).velocity.z == 0.0);
    steps(&t, 2);

    /* all or none */
    const uint64_t hash = talus_world_hash(t.world);
    v[1] = talus_vec3(0.0, INFINITY, 0.0);
    CHECK(talus_world_set_state(t.world, &(TalusBodyState){.id = id, .velocity = v}, 2) ==
          TALUS_ERR_ARGUMENT);
    v[1] = zero;
    id[1] = (TalusBodyId){99};
    CHECK(talus_world_set_state(t.world, &(TalusBodyState){.id = id, .velocity = v}, 2) ==
          TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "1 of 2 ids"));
    CHECK(talus_world_set_state(t.world, &all, 2) == TALUS_ERR_ARGUMENT);
    int tag[BODIES];
    CHECK(talus_world_set_state(t.world, &(TalusBodyState){.tag = tag}, 3) == TALUS_ERR_ARGUMENT);
    CHECK(talus_world_hash(t.world) == hash);
    talus_world_destroy(s.world);
    talus_world_destroy(t.world);
}

/* ---- impulses and forces at a point ---- */

TEST(an_impulse_at_a_point)
{
    Setting s = set_up(0.0);
    const TalusVec3 lifted = {1.0, 0.0, 10.0}, impulse = {0.0, 6.0, 0.0};
    REQUIRE_OK(talus_world_set_pose(s.world, s.block, lifted, upright));
    steps(&s, 1);
    TalusBody before = get(&s, s.block);
    const TalusVec3 arm = {0.1, 0.0, 0.3};
    REQUIRE_OK(talus_world_add_impulse(s.world, s.block, impulse, talus_add(before.position, arm)));
    TalusBody after = get(&s, s.block);
    CHECK_NEAR(after.velocity.y - before.velocity.y, 6.0 / before.mass, 1e-14);
    /* arm x impulse = (-1.8, 0, 0.6) N m s over the inertia of the box */
    CHECK_NEAR(after.spin.x, -1.8 / (before.mass / 3.0 * (0.04 + 0.09)), 1e-12);
    CHECK_NEAR(after.spin.z, 0.6 / (before.mass / 3.0 * (0.01 + 0.04)), 1e-12);
    /* the mean of old and new velocity of the point times the impulse is the work */
    const TalusVec3 point = talus_cross(after.spin, arm);
    steps(&s, 1);
    CHECK_NEAR(s.info.ledger.exchange, 6.0 * 0.5 * (after.velocity.y + point.y), 1e-10);
    CHECK(talus_world_add_impulse(s.world, s.floor, impulse, zero) == TALUS_ERR_ARGUMENT);
    CHECK(talus_world_add_impulse(s.world, s.ball, impulse, talus_vec3(0, 0, NAN)) ==
          TALUS_ERR_ARGUMENT);
    talus_world_destroy(s.world);
}

TEST(a_force_at_a_point)
{
    Setting s = set_up(0.0);
    const TalusVec3 force = {2.0, 0.0, 0.0};
    TalusVec3 above = talus_add(get(&s, s.block).position, talus_vec3(0.0, 0.0, 0.3));
    REQUIRE_OK(talus_world_set_force_at(s.world, s.block, force, above));
    CHECK(get(&s, s.block).force.x == 2.0);
    CHECK_NEAR(get(&s, s.block).torque.y, 0.6, 1e-15);
    CHECK(talus_world_set_force_at(s.world, s.floor, force, above) == TALUS_ERR_ARGUMENT);
    talus_world_destroy(s.world);
}

/* ---- fixed and free ---- */

/* A block becomes fixed in the air, then free again: it hangs, then falls, with the mass of its material or a given one. */
TEST(a_body_becomes_fixed_and_free_again)
{
    Setting s = set_up(0.0);
    const double mass = get(&s, s.block).mass;
    REQUIRE_OK(talus_world_set_pose(s.world, s.block, talus_vec3(1.0, 0.0, 2.0), upright));
    steps(&s, 10);
    REQUIRE_OK(talus_world_fix_body(s.world, s.block));
    CHECK(get(&s, s.block).motion == TALUS_MOTION_FIXED);
    TalusVec3 at = get(&s, s.block).position;
    steps(&s, 10);
    CHECK(get(&s, s.block).position.z == at.z && get(&s, s.block).velocity.z == 0.0);
    REQUIRE_OK(talus_world_release_body(s.world, s.block, 0.0));
    CHECK_NEAR(get(&s, s.block).mass, mass, 1e-12 * mass);
    steps(&s, 10);
    CHECK_NEAR(get(&s, s.block).velocity.z, -0.0981, 1e-12);
    REQUIRE_OK(talus_world_fix_body(s.world, s.block));
    REQUIRE_OK(talus_world_release_body(s.world, s.block, 2.5));
    CHECK(get(&s, s.block).mass == 2.5);
    /* on the ground as a fixed one, the ball lands on it and stays */
    REQUIRE_OK(talus_world_set_pose(s.world, s.block, talus_vec3(0.0, 0.0, 0.6), upright));
    REQUIRE_OK(talus_world_fix_body(s.world, s.block));
    REQUIRE_OK(talus_world_set_pose(s.world, s.ball, talus_vec3(0.0, 0.0, 1.0), upright));
    steps(&s, 50);
    CHECK_NEAR(get(&s, s.ball).position.z, 1.0, 1e-4);
    /* a saved state has it */
    void *bytes;
    size_t size;
    TalusWorld *loaded;
    REQUIRE_OK(talus_world_save(s.world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    steps(&s, 5);
    for (int i = 0; i < 5; i++)
        REQUIRE_OK(talus_world_step(loaded, NULL));
    CHECK(talus_world_hash(loaded) == talus_world_hash(s.world));
    talus_free(bytes);
    talus_world_destroy(loaded);
    talus_world_destroy(s.world);
}

/* A driven body that is let go flies on. */
TEST(a_driven_body_is_released)
{
    Setting s = set_up(0.0);
    TalusDriveDef drive = talus_drive_def_default();
    drive.velocity = talus_vec3(0.0, 0.0, 3.0);
    REQUIRE_OK(talus_world_fix_body(s.world, s.ball));
    REQUIRE_OK(talus_world_set_drive(s.world, s.ball, &drive));
    steps(&s, 10);
    CHECK(get(&s, s.ball).motion == TALUS_MOTION_DRIVEN);
    REQUIRE_OK(talus_world_release_body(s.world, s.ball, 1.0));
    steps(&s, 10);
    CHECK_NEAR(get(&s, s.ball).velocity.z, 3.0 - 0.0981, 1e-12);
    talus_world_destroy(s.world);
}

TEST(switches_that_are_refused)
{
    Setting s = set_up(0.0);
    CHECK(talus_world_release_body(s.world, s.floor, 1.0) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "no volume"));
    TalusJointDef joint = talus_joint_def_default();
    joint.kind = TALUS_JOINT_BALL;
    joint.a = s.ball;
    joint.name = "peg";
    TalusJointId id, found;
    REQUIRE_OK(talus_world_add_joint(s.world, &joint, &id));
    CHECK(talus_world_fix_body(s.world, s.ball) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "joints"));
    REQUIRE_OK(talus_world_find_joint(s.world, "peg", &found));
    CHECK(found.number == id.number);
    CHECK(talus_world_find_joint(s.world, "pin", &found) == TALUS_ERR_ARGUMENT);
    REQUIRE_OK(talus_world_remove_joint(s.world, id));
    CHECK_OK(talus_world_fix_body(s.world, s.ball));
    talus_world_destroy(s.world);
}

/* ---- several ranks ---- */

static TalusStatus make_grains(TalusWorldDef *def, TalusWorld **world)
{
    const Grains grains = {.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01},
                           .across = {6, 6, 6},
                           .lo = {-0.07, -0.07, 0.01},
                           .spacing = 0.0205,
                           .radius = 0.01,
                           .speed = 0.1};
    TalusStatus status = talus_world_create(def, world);
    status = status == TALUS_OK ? add_container(*world, 0.2) : status;
    return status == TALUS_OK ? add_grains(*world, &grains, NULL) : status;
}

/* Every kind of change, on all ranks; a body goes far, and comes back. */
static TalusStatus act_on_grains(TalusWorld *world, int k)
{
    TalusBodyId some[3] = {{20}, {90}, {150}};
    TalusVec3 v[3] = {{0.1, 0.0, 0.2}, {0.0, 0.3, 0.0}, {-0.2, 0.0, 0.1}};
    TalusVec3 x[3] = {{0.0, 0.0, 0.2}, {0.03, 0.0, 0.2}, {0.0, 0.03, 0.2}};
    TalusBody body;
    TalusStatus status = talus_world_get_body(world, some[k % 3], &body);
    CHECK(talus_world_has_body(world, some[0]) && !talus_world_has_body(world, (TalusBodyId){999}));
    if (status == TALUS_OK && k == 2)
        status = talus_world_set_pose(world, some[0], talus_vec3(0.05, 0.05, 0.19), upright);
    if (status == TALUS_OK && k == 3)
        status = talus_world_add_impulse(world, some[1], talus_vec3(1e-3, 0.0, 2e-3),
                                         talus_vec3(0.0, 0.0, 0.1));
    if (status == TALUS_OK && k == 4)
        status = talus_world_set_state(
            world, &(TalusBodyState){.id = some, .position = x, .velocity = v}, 3);
    if (status == TALUS_OK && k == 5)
        status = talus_world_set_gravity(world, talus_vec3(1.0, 0.0, -9.0));
    if (status == TALUS_OK && k == 6)
        status = talus_world_set_force_at(world, some[2], talus_vec3(0.01, 0.0, 0.0), zero);
    return status;
}

TEST(changes_have_the_same_bits_on_any_ranks_and_threads)
{
    const RanksCase of = {.name = "changes",
                          .make = make_grains,
                          .act = act_on_grains,
                          .solver = "apgd",
                          .steps = SANITIZED ? 7 : 10};
    TalusStepInfo last = compare_ranks(&of);
    CHECK(last.contacts > 100);
}

static TalusStatus refuse_on_ranks(TalusComm *comm, void *context)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    (void)context;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = make_grains(&def, &world);
    if (status == TALUS_OK) {
        CHECK(talus_world_fix_body(world, (TalusBodyId){20}) == TALUS_ERR_UNSUPPORTED);
        CHECK(strstr(talus_error(), "2 ranks"));
    }
    talus_world_destroy(world);
    return status;
}

TEST(what_ranks_refuse_with_threads)
{
    CHECK_OK(talus_ranks_run(2, refuse_on_ranks, NULL));
}

int main(void)
{
    RUN(the_state_of_one_body);
    RUN(a_pointer_of_the_caller_stays_with_its_body);
    RUN(a_body_is_put_elsewhere);
    RUN(a_fixed_body_moves_and_sleepers_wake);
    RUN(poses_that_are_refused);
    RUN(states_are_set_in_bulk);
    RUN(an_impulse_at_a_point);
    RUN(a_force_at_a_point);
    RUN(a_body_becomes_fixed_and_free_again);
    RUN(a_driven_body_is_released);
    RUN(switches_that_are_refused);
    RUN(changes_have_the_same_bits_on_any_ranks_and_threads);
    RUN(what_ranks_refuse_with_threads);
    return talus_test_result();
}
