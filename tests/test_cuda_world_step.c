/* Worlds on the cuda backend: what comes, goes and changes between steps, and steps that do not go as
 * planned. */
#include "cuda_world.h"

/* ---- what comes and goes ---- */

static TalusWorld *on(const char *backend, TalusWorld *(*make)(void))
{
    test_backend = backend;
    TalusWorld *world = make();
    test_backend = "cuda";
    return world;
}

/* Emitter, delayed batch, sink and probes of bodies, walls, regions and a plane. */
static TalusWorld *make_busy(void)
{
    TalusWorld *world = make_full(1);
    TalusProbeDef region = {.name = "region",
                            .kind = TALUS_PROBE_REGION,
                            .lo = {-0.2, -0.2, 0.0},
                            .hi = {0.5, 0.5, 0.6}};
    TalusProbeDef moving = {.name = "moving", .kind = TALUS_PROBE_BODY, .body = {21}};
    CHECK_OK(talus_world_add_probe(world, &region, NULL));
    CHECK_OK(talus_world_add_probe(world, &moving, NULL));
    TalusProbeDef plane = {
        .name = "plane", .kind = TALUS_PROBE_PLANE, .at = {0, 0, 0.35}, .normal = {0, 0.1, -1}};
    CHECK_OK(talus_world_add_probe(world, &plane, NULL));
    make_tight(world);
    return world;
}

TEST(arrivals_sinks_and_probes_are_those_of_the_host)
{
    TalusWorld *host = on("cpu", make_busy), *cuda = on("cuda", make_busy);
    double dx = 0.0, dv = 0.0;
    bool came = false, went = false;
    for (int i = 0; i < 15; i++) {
        int before = talus_world_body_count(host);
        run(host, 1);
        run(cuda, 1);
        came |= talus_world_body_count(host) > before;
        CHECK_INT(talus_world_body_count(cuda), talus_world_body_count(host));
        compare_probes(host, cuda, 1e-9);
    }
    CHECK(came && host->probe[0].value.contacts > 0);
    differences(host, cuda, 0.05, &dx, &dv);
    printf("  after 15 steps: positions %.1e, velocities %.1e\n", dx, dv);
    CHECK(dx <= 1e-8 && dv <= 1e-7);
    /* a probe of a body that is gone reads 0; a sink that has bodies below it takes them */
    CHECK_OK(talus_world_remove_body(host, talus_slot_id(&host->bodies, 20)));
    CHECK_OK(talus_world_remove_body(cuda, talus_slot_id(&cuda->bodies, 20)));
    CHECK_OK(talus_world_add_sink(host, 2, 0.09));
    CHECK_OK(talus_world_add_sink(cuda, 2, 0.09));
    for (int i = 0; i < 3; i++) {
        int before = talus_world_body_count(host);
        run(host, 1);
        run(cuda, 1);
        went |= talus_world_body_count(host) < before;
        CHECK_INT(talus_world_body_count(cuda), talus_world_body_count(host));
        compare_probes(host, cuda, 1e-9);
    }
    CHECK(went && talus_world_probe_value(cuda, 2).bodies == 0);
    differences(host, cuda, 0.05, &dx, &dv);
    CHECK(dx <= 1e-8 && dv <= 1e-7);
    talus_world_destroy(host);
    talus_world_destroy(cuda);
}

/* A ball on the floor, with a probe, and two that come later. Contacts are rigid: in the step in which the brick below
 * comes, the device detects and solves once more, as the host, which finds no contact missing, does not, and springs
 * that harden are then linearised at other impulses. */
static TalusWorld *make_late(void)
{
    TalusWorldDef def = quick_def(1);
    def.solver = "jacobi";
    def.compliance = 0.0;
    TalusWorld *world = make_world(&def);
    TalusVec3 late[2] = {{0.0, 0.0, 0.5}, {0.01, 0.0, 0.72}};
    TalusBodyBatch batch = talus_body_batch_default();
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY};
    CHECK_OK(add_floor(world, &probe.body));
    CHECK_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1), NULL));
    batch.count = 2;
    batch.shape = 1;
    batch.position = late;
    CHECK_OK(talus_world_add_bodies_at(world, 0.05, &batch));
    CHECK_OK(talus_world_add_probe(world, &probe, NULL));
    make_tight(world);
    return world;
}

static void step_both(TalusWorld *const world[2], int steps)
{
    double dx, dv;
    run(world[0], steps);
    run(world[1], steps);
    differences(world[0], world[1], 0.1, &dx, &dv);
    CHECK(dx <= 1e-9 && dv <= 1e-9);
    compare_probes(world[0], world[1], 1e-9);
    CHECK_INT(talus_world_probe_value(world[1], 0).contacts,
              talus_world_probe_value(world[0], 0).contacts);
}

/* Velocities, friction, bodies and shapes that change between steps reach the engine. One iteration
 * shows where it started from: a body has nothing from the one that had its slot before. */
TEST(changes_between_steps_are_those_of_the_host)
{
    TalusWorld *const world[2] = {on("cpu", make_late), on("cuda", make_late)};
    TalusBodyId id = {2};
    step_both(world, 30);
    CHECK_INT(talus_world_body_count(world[1]), 4);
    for (int k = 0; k < 2; k++) {
        CHECK_OK(talus_world_set_velocity(world[k], id, talus_vec3(0.5, 0.2, 0.0),
                                          talus_vec3(0.0, 3.0, 0.0)));
        CHECK_OK(talus_world_set_friction(world[k], 0, 0, 0.05));
    }
    step_both(world, 5);
    for (int k = 0; k < 2; k++)
        CHECK_OK(talus_world_set_accuracy(world[k], 0.0, 1));
    step_both(world, 1);
    for (int k = 0; k < 2; k++) {
        TalusBodyId next;
        CHECK_OK(talus_world_remove_body(world[k], id));
        CHECK_OK(add_one(world[k], ball, talus_vec3(0.5, 0.0, 0.1), &next));
        CHECK_INT(talus_slot_of(world[k], next), 1);
    }
    step_both(world, 1);
    for (int k = 0; k < 2; k++) {
        make_tight(world[k]);
        CHECK_OK(add_one(world[k], brick, talus_vec3(1.0, 0.0, 0.07), NULL));
    }
    step_both(world, 20);
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
}

static TalusWorld *make_floating(void)
{
    TalusWorldDef def = quick_def(1);
    return make_world(&def);
}

TEST(worlds_without_contacts_or_bodies_step)
{
    TalusWorld *world = on("cuda", make_floating);
    TalusBodyId id;
    TalusStepInfo info;
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK(info.contacts == 0 && info.bodies == 0);
    REQUIRE_OK(add_one(world, ball, zero, &id));
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK_INT(info.bodies, 1);
    CHECK(fabs(info.ledger.imbalance) <= 1e-15 * info.ledger.kinetic);
    read_state(world, &cuda_state);
    CHECK_NEAR(cuda_state.v[0].z, -9.81 * 0.005, 1e-16);
    REQUIRE_OK(talus_world_remove_body(world, id));
    REQUIRE_OK(talus_world_step(world, &info));
    CHECK_INT(info.bodies, 0);
    talus_world_destroy(world);
}

/* ---- steps that do not go as planned ---- */

static TalusWorld *make_hasty(TalusMissPolicy policy)
{
    TalusWorldDef def = quick_def(1);
    def.tolerance = 1e-9;
    def.solver = "apgd";
    def.max_iterations = 2;
    def.on_miss = policy;
    TalusWorld *world = make_world(&def);
    CHECK_OK(add_heap(world, 32));
    return world;
}

static void be_quiet(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)level, (void)text;
    *(int *)user += strcmp(id, "step.infeasible") == 0;
}

TEST(a_missed_tolerance_follows_the_policy)
{
    int infeasible = 0;
    TalusStepInfo info;
    talus_set_log(be_quiet, &infeasible);
    TalusWorld *world = make_hasty(TALUS_MISS_STOP);
    TalusStatus status = TALUS_OK;
    uint64_t hash = 0;
    for (int i = 0; i < 50 && status == TALUS_OK; i++) {
        hash = talus_world_hash(world);
        status = talus_world_step(world, &info);
    }
    CHECK_INT(status, TALUS_ERR_TOLERANCE);
    CHECK(talus_world_hash(world) == hash);
    CHECK_INT(talus_world_step(world, &info), TALUS_ERR_TOLERANCE);
    CHECK(talus_world_hash(world) == hash);
    talus_world_destroy(world);

    world = make_hasty(TALUS_MISS_HALVE);
    for (int i = 0; i < 30; i++)
        REQUIRE_OK(talus_world_step(world, &info));
    CHECK_INT(info.halvings, 4);
    double scale = fabs(info.ledger.friction) + fabs(info.ledger.impact) + info.ledger.kinetic;
    CHECK(fabs(info.ledger.imbalance) <= 1e-12 * scale);
    talus_world_destroy(world);
    talus_set_log(NULL, NULL);
}

static TalusWorld *make_failing(void)
{
    int ignored = 0;
    talus_set_log(be_quiet, &ignored);
    TalusWorld *world = make_full(1);
    CHECK_OK(talus_world_set_accuracy(world, 1e-12, 1));
    run(world, 21);
    CHECK_OK(talus_world_remove_body(world, talus_slot_id(&world->bodies, 3)));
    talus_set_log(NULL, NULL);
    return world;
}

TEST(a_failed_step_takes_arrivals_back)
{
    TalusWorld *world = make_failing(), *other = make_failing();
    uint64_t hash = talus_world_hash(world);
    int bodies = talus_world_body_count(world), ignored = 0;
    talus_set_log(be_quiet, &ignored);
    for (int i = 0; i < 2; i++) {
        world->def.on_miss = TALUS_MISS_STOP;
        CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_TOLERANCE);
        CHECK_INT(talus_world_body_count(world), bodies);
        CHECK(talus_world_hash(world) == hash);
    }
    world->def.on_miss = TALUS_MISS_CONTINUE; /* and now as if nothing had happened */
    run(world, 20);
    run(other, 20);
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_set_log(NULL, NULL);
    talus_world_destroy(world);
    talus_world_destroy(other);
}

/* One allocation after the other fails, on the host and on the device, until a step goes through. */
static int step_short_of_memory(TalusWorld *world)
{
    uint64_t hash = talus_world_hash(world);
    int bodies = talus_world_body_count(world), failed = 0;
    TalusStatus status = TALUS_ERR_MEMORY;
    for (long n = 1; status == TALUS_ERR_MEMORY; n++, failed++) {
        talus_fail_allocation_in(n);
        status = talus_world_step(world, NULL);
        talus_fail_allocation_in(0);
        if (status != TALUS_OK) {
            CHECK_INT(status, TALUS_ERR_MEMORY);
            CHECK_INT(talus_world_body_count(world), bodies);
            CHECK(talus_world_hash(world) == hash);
        }
    }
    return failed - 1;
}

static void compare_short_of_memory(TalusWorld *world, TalusWorld *other, int steps)
{
    int failed = 0;
    for (int i = 0; i < steps; i++) {
        failed += step_short_of_memory(world);
        run(other, 1);
        CHECK(talus_world_hash(world) == talus_world_hash(other)); /* impulses were kept as well */
    }
    CHECK(failed > steps);
    talus_world_destroy(world);
    talus_world_destroy(other);
}

TEST(a_step_without_memory_leaves_all_as_it_was)
{
    int ignored = 0;
    talus_set_log(be_quiet, &ignored);
    compare_short_of_memory(make_full(1), make_full(1), 8);
    compare_short_of_memory(make_hasty(TALUS_MISS_HALVE), make_hasty(TALUS_MISS_HALVE), 18);
    talus_set_log(NULL, NULL);
}

TEST(a_nan_fails_the_step_and_names_the_body)
{
    TalusWorld *world = make_heap(1, 32);
    run(world, 30);
    uint64_t hash = talus_world_hash(world);
    TalusVec3 kept = world->bodies.velocity[17];
    const TalusVec3 bad[3] = {{0.0, NAN, 0.0}, {1e308, 1e308, 0.0}, {0.0, 0.0, 1e200}};
    for (int i = 0; i < 3; i++) {
        REQUIRE_OK(talus_world_mark_bodies_dirty(world));
        world->bodies.velocity[17] = bad[i];
        CHECK_INT(talus_world_step(world, NULL), TALUS_ERR_NUMERIC);
        CHECK(said("body 18 "));
        CHECK_INT(talus_world_steps(world), 30);
    }
    REQUIRE_OK(talus_world_mark_bodies_dirty(world));
    world->bodies.velocity[17] = kept;
    CHECK(talus_world_hash(world) == hash);
    run(world, 5);
    TalusWorld *other = make_heap(1, 32);
    run(other, 35);
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_world_destroy(world);
    talus_world_destroy(other);
}

TEST(a_wedged_body_is_an_outcome_not_a_hang)
{
    int said_infeasible = 0, infeasible = 0;
    talus_set_log(be_quiet, &said_infeasible);
    TalusWorldDef def = relaxed_def(1);
    def.max_iterations = 5000;
    TalusWorld *world = make_world(&def);
    REQUIRE_OK(add_floor(world, NULL));
    REQUIRE_OK(add_wall(world, -0.09, 1.0));
    REQUIRE_OK(add_wall(world, 0.09, -1.0));
    REQUIRE_OK(add_one(world, ball, talus_vec3(0.0, 0.0, 0.1), NULL));
    for (int i = 0; i < 10; i++) {
        TalusStepInfo info;
        REQUIRE_OK(talus_world_step(world, &info));
        infeasible += info.solve.outcome == TALUS_OUTCOME_INFEASIBLE;
        CHECK(info.missed || info.solve.outcome == TALUS_OUTCOME_CONVERGED);
    }
    CHECK(infeasible > 0);
    CHECK_INT(said_infeasible, 1);
    read_state(world, &cuda_state);
    TalusVec3 x = cuda_state.x[3];
    CHECK(fabs(x.x) < 0.02 && fabs(x.y) < 0.02 && x.z < 0.2);
    talus_world_destroy(world);
    talus_set_log(NULL, NULL);
}

/* Each ball is pushed into the next within the step: contacts are looked for again. */
static TalusWorld *make_row(void)
{
    TalusWorldDef def = quick_def(1);
    def.gravity = zero;
    def.reference_speed = 0.01;
    TalusWorld *world = make_world(&def);
    TalusBodyId id;
    for (int i = 5; i >= 0; i--)
        CHECK_OK(add_one(world, ball, talus_vec3(0.2 * i + 0.008 * i, 0.0, 0.0), &id));
    CHECK_OK(talus_world_set_velocity(world, id, talus_vec3(20.0, 0.0, 0.0), zero));
    make_tight(world);
    return world;
}

TEST(a_struck_body_meets_what_it_is_pushed_into)
{
    TalusWorld *host = on("cpu", make_row), *cuda = on("cuda", make_row);
    double dx, dv, worst = 0.0;
    for (int i = 0; i < 12; i++) {
        TalusStepInfo a, b;
        REQUIRE_OK(talus_world_step(host, &a));
        REQUIRE_OK(talus_world_step(cuda, &b));
        CHECK_INT(a.contacts, b.contacts);
        worst = fmax(worst, b.penetration_max);
    }
    differences(host, cuda, 0.1, &dx, &dv);
    CHECK(dx <= 1e-9 && dv <= 1e-9);
    CHECK(worst < 1e-3);
    talus_world_destroy(host);
    talus_world_destroy(cuda);
}

int main(void)
{
    if (!have_cuda())
        return 77;
    RUN(worlds_without_contacts_or_bodies_step);
    RUN(a_struck_body_meets_what_it_is_pushed_into);
    RUN(changes_between_steps_are_those_of_the_host);
    RUN(arrivals_sinks_and_probes_are_those_of_the_host);
    RUN(a_missed_tolerance_follows_the_policy);
    RUN(a_failed_step_takes_arrivals_back);
    RUN(a_step_without_memory_leaves_all_as_it_was);
    RUN(a_nan_fails_the_step_and_names_the_body);
    RUN(a_wedged_body_is_an_outcome_not_a_hang);
    return talus_test_result();
}
