/* world/id_order.h: the order of slots by ids, and steps that do not depend on the slots of bodies. */

#include "shuffled_world.h"

#include "world/id_order.h"

/* Several blocks of numbers (backend/groups.h). FEW: of the worlds that are changed. */
enum { BODIES = WALLS + 10 * LAYER, STEPS = 50, FEW = WALLS + 3 * LAYER };

static int plain_order[MAX_BODIES], other_order[MAX_BODIES];

/* ---- the order ---- */

TEST(ascending_ids_need_no_order)
{
    TalusIdOrder order = {0};
    const uint64_t id[] = {1, 2, 7, UINT64_C(5) << 32};
    REQUIRE_OK(talus_id_order_update(&order, id, 4));
    CHECK(!order.stored && !order.rank);
    REQUIRE_OK(talus_id_order_update(&order, NULL, 0));
    CHECK(!order.stored);
    talus_id_order_clear(&order);
}

TEST(order_of_any_ids)
{
    enum { COUNT = 3000 };
    static uint64_t id[COUNT];
    TalusRng rng = talus_rng_from_seed(5);
    TalusIdOrder order = {0};
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COUNT; i++) /* of few bits and of all 64 */
            id[i] = (talus_rng_below(&rng, UINT64_C(1) << 20) << (round * 14)) + (uint64_t)i;
        REQUIRE_OK(talus_id_order_update(&order, id, COUNT));
        CHECK(order.stored);
        int wrong = 0;
        for (int k = 0; k < COUNT; k++) {
            wrong += order.rank[order.at_rank[k]] != (uint32_t)k;
            wrong += k > 0 && id[order.at_rank[k]] < id[order.at_rank[k - 1]];
        }
        CHECK_INT(wrong, 0);
    }
    for (int i = 0; i < COUNT; i++)
        id[i] = (uint64_t)i + 1;
    REQUIRE_OK(talus_id_order_update(&order, id, COUNT));
    CHECK(!order.stored);
    talus_id_order_clear(&order);
}

/* Ids that ascend, and behind them a halo's, which lie between. */
TEST(order_of_a_halo_behind_ascending_ids)
{
    enum { OWN = 1000, HALO = 300 };
    static uint64_t id[OWN + HALO];
    TalusIdOrder order = {0};
    for (int i = 0; i < OWN; i++)
        id[i] = 2 * (uint64_t)i + 2;
    for (int k = 0; k < HALO; k++)
        id[OWN + k] = 2 * (uint64_t)((k * 77) % (OWN + 49)) + 1;
    REQUIRE_OK(talus_id_order_update(&order, id, OWN + HALO));
    int wrong = 0;
    for (int k = 0; k < OWN + HALO; k++) {
        wrong += order.rank[order.at_rank[k]] != (uint32_t)k;
        wrong += k > 0 && id[order.at_rank[k]] <= id[order.at_rank[k - 1]];
    }
    CHECK_INT(wrong, 0);
    talus_id_order_clear(&order);
}

/* ---- steps ---- */

/* Steps both worlds and compares, after each, the states of bodies and what the step reports. */
static void compare_steps(TalusWorld *a, TalusWorld *b, int steps)
{
    for (int k = 0; k < steps; k++) {
        TalusStepInfo p, q;
        REQUIRE_OK(talus_world_step(a, &p));
        REQUIRE_OK(talus_world_step(b, &q));
        CHECK_INT(p.contacts, q.contacts);
        CHECK_INT(p.solve.products, q.solve.products);
        CHECK(same_bits(p.solve.residual.rms, q.solve.residual.rms));
        CHECK(same_bits(p.ledger.kinetic, q.ledger.kinetic));
        CHECK(same_bits(p.ledger.friction, q.ledger.friction));
        CHECK(same_bits(p.ledger.elastic, q.ledger.elastic));
        CHECK(same_bits(p.ledger.potential, q.ledger.potential));
        /* before the first of these steps bodies may have come one by one, in different orders */
        CHECK(k == 0 || same_bits(p.ledger.exchange, q.ledger.exchange));
        CHECK(same_bits(p.ledger.imbalance, q.ledger.imbalance));
        CHECK(same_bits(p.overlap.mean, q.overlap.mean));
        CHECK(talus_world_hash(a) == talus_world_hash(b));
        if (!CHECK_INT(count_different(a, b), 0))
            return;
    }
}

static void compare_orders(Kind kind, const char *solver, double tolerance, int threads)
{
    enum { HOLES = BODIES / 3 };
    make_order(plain_order, BODIES, 0);
    make_order(other_order, BODIES + HOLES, 17);
    Recipe plain = {kind, BODIES, plain_order, quick_def(1), 0};
    plain.def.solver = solver;
    plain.def.tolerance = tolerance;
    Recipe other = plain;
    other.order = other_order;
    other.holes = HOLES;
    other.def.threads = threads;
    TalusWorld *a = make_recipe(&plain), *b = make_recipe(&other);
    compare_steps(a, b, STEPS);
    CHECK(b->id_order.stored && !a->id_order.stored);
    CHECK(same_bits(a->masses.sum, b->masses.sum));
    CHECK(a->contact_count > BODIES);
    talus_world_destroy(a);
    talus_world_destroy(b);
}

TEST(spheres_in_any_slots)
{
    compare_orders(SPHERES, "auto", 1e-3, 3);
}

TEST(shapes_in_any_slots)
{
    compare_orders(SHAPES, "auto", 1e-2, 2);
}

TEST(solvers_with_other_sums_and_orders)
{
    static const char *solver[] = {"gs", "gs-coulomb", "lbfgs-fb", "apgd"};
    for (int k = 0; k < 4; k++)
        compare_orders(k == 1 ? SPHERES : SHAPES, solver[k], 1e-2, 2);
}

/* ---- joints, sleep, sinks ---- */

static void join_bodies(TalusWorld *world)
{
    add_joints(world, FEW);
}

/* What is changed in a world before it is stepped. */
typedef void Change(TalusWorld *world);

/* Steps two worlds with other slots, both changed alike. Returns the number of contacts at the end. */
static int compare_changed(Kind kind, const TalusWorldDef *def, Change *change, int before,
                           int after)
{
    enum { HOLES = FEW / 3 };
    make_order(plain_order, FEW, 0);
    make_order(other_order, FEW + HOLES, 29);
    Recipe plain = {kind, FEW, plain_order, *def, 0}, other = plain;
    other.order = other_order;
    other.holes = HOLES;
    TalusWorld *a = make_recipe(&plain), *b = make_recipe(&other);
    compare_steps(a, b, before);
    change(a);
    change(b);
    compare_steps(a, b, after);
    int contacts = a->contact_count;
    talus_world_destroy(a);
    talus_world_destroy(b);
    return contacts;
}

TEST(joints_in_any_slots)
{
    static const char *solver[] = {"auto", "apgd", "gs"};
    TalusWorldDef def = quick_def(1);
    for (int k = 0; k < 3; k++) {
        def.solver = solver[k];
        CHECK(compare_changed(SHAPES, &def, join_bodies, 0, 8) > 0);
    }
}

static void add_low_sink(TalusWorld *world)
{
    CHECK_OK(talus_world_add_sink(world, 2, 0.25));
}

/* Many bodies leave at once. Their energies are in the ledger and in the load limit of compliant contacts. */
TEST(sinks_in_any_slots)
{
    TalusWorldDef def = quick_def(1);
    CHECK(compare_changed(SPHERES, &def, add_low_sink, 40, 20) > 0);
}

static void push_bodies(TalusWorld *world)
{
    for (uint64_t id = WALLS + 1; id <= FEW; id++) {
        TalusVec3 force = {0.1 * (double)(id % 7), -0.1 / (double)id, 0.3 * (double)(id % 3)};
        CHECK_OK(talus_world_set_force(world, (TalusBodyId){id}, force, zero));
    }
}

TEST(forces_in_any_slots)
{
    TalusWorldDef def = quick_def(1);
    CHECK(compare_changed(SPHERES, &def, push_bodies, 30, 20) > 0);
}

static void check_some_sleep(TalusWorld *world)
{
    CHECK(world->sleep.asleep > 10);
}

/* A high limit of calm: islands fall asleep and wake again while bodies still fall. */
TEST(sleep_in_any_slots)
{
    TalusWorldDef def = quick_def(1);
    def.sleep_speed = 50.0;
    def.sleep_steps = 3;
    compare_changed(SPHERES, &def, check_some_sleep, 80, 20);
}

/* ---- hash ---- */

/* Two bodies that exchange states have another hash, as any bit of a state and the time have. */
TEST(a_hash_is_of_ids_and_states)
{
    TalusWorldDef def = quick_def(1);
    TalusWorld *world = make_world(&def);
    for (int k = 0; k < 3; k++)
        REQUIRE_OK(add_one(world, ball, talus_vec3(k, 0.0, 5.0), NULL));
    TalusBodies *b = &world->bodies;
    uint64_t hash = talus_world_hash(world);
    TalusVec3 first = b->position[0];
    b->position[0] = b->position[1];
    b->position[1] = first;
    CHECK(talus_world_hash(world) != hash);
    b->position[1] = b->position[0];
    b->position[0] = first;
    CHECK(talus_world_hash(world) == hash);
    b->spin[2].z = -0.0;
    CHECK(talus_world_hash(world) != hash);
    b->spin[2].z = 0.0;
    world->steps++;
    CHECK(talus_world_hash(world) != hash);
    talus_world_destroy(world);
}

/* ---- slots used again ---- */

/* Removes every fifth body that is no wall and adds as many at the top, in the order that `seed` gives, with the ids that
 * they have without a seed. */
static void replace_bodies(TalusWorld *world, uint64_t seed)
{
    int slot[BODIES], order[BODIES], count = 0;
    uint64_t created = world->bodies.counts.created;
    for (uint64_t id = WALLS + 1; id <= BODIES; id += 5)
        CHECK_OK(talus_world_remove_body(world, (TalusBodyId){id}));
    while (WALLS + 5 * count < BODIES)
        count++;
    make_order(order, count, seed);
    for (int k = 0; k < count; k++) {
        int first = world->bodies.counts.first_free;
        while (world->bodies.shape[first] >= 0)
            first++;
        slot[k] = first;
        add_body(world, SPHERES, BODIES + order[k]);
    }
    for (int k = 0; k < count; k++)
        world->bodies.id[slot[k]] = created + 1 + (uint64_t)order[k];
    CHECK_OK(talus_ids_index_loaded(&world->bodies));
}

/* Number of contacts of two bodies with ids up to `last` whose impulses differ from those of the same bodies in `old`,
 * a list of `count` contacts. */
static int count_lost(TalusWorld *world, uint64_t last, const TalusContactState *old, int count)
{
    static TalusContactState now[10 * BODIES];
    TalusProblem *problem;
    int lost = 0;
    CHECK_OK(talus_world_build(world, &problem));
    int found = talus_world_get_contacts(world, now, 10 * BODIES);
    for (int k = 0; k < found; k++) {
        if (now[k].a.number > last || now[k].b.number > last)
            continue;
        for (int i = 0; i < count; i++)
            if (old[i].a.number == now[k].a.number && old[i].b.number == now[k].b.number)
                lost += memcmp(&old[i].impulse, &now[k].impulse, sizeof now[k].impulse) != 0;
    }
    return lost;
}

/* Contacts of removed bodies leave the list, those of the others keep their impulses: also in a world that was saved. */
TEST(slots_used_again)
{
    make_order(plain_order, BODIES, 0);
    make_order(other_order, BODIES, 4);
    Recipe plain = {SPHERES, BODIES, plain_order, quick_def(1), 0}, other = plain;
    other.order = other_order;
    TalusWorld *a = make_recipe(&plain), *b = make_recipe(&other), *c = NULL;
    static TalusContactState old[10 * BODIES];
    compare_steps(a, b, STEPS);
    int count = talus_world_get_contacts(b, old, 10 * BODIES);
    replace_bodies(a, 0);
    replace_bodies(b, 9);
    CHECK(count > BODIES && count < 10 * BODIES);
    CHECK_INT(count_lost(b, BODIES, old, count), 0);
    compare_steps(a, b, 5);
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(b, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &c));
    talus_free(bytes);
    compare_steps(a, c, 10);
    talus_world_destroy(a);
    talus_world_destroy(b);
    talus_world_destroy(c);
}

int main(void)
{
    RUN(ascending_ids_need_no_order);
    RUN(order_of_any_ids);
    RUN(order_of_a_halo_behind_ascending_ids);
    RUN(spheres_in_any_slots);
    RUN(shapes_in_any_slots);
    RUN(solvers_with_other_sums_and_orders);
    RUN(joints_in_any_slots);
    RUN(sinks_in_any_slots);
    RUN(forces_in_any_slots);
    RUN(sleep_in_any_slots);
    RUN(a_hash_is_of_ids_and_states);
    RUN(slots_used_again);
    return talus_test_result();
}
