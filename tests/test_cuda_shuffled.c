/* A world on the cuda backend does not depend on the slots of its bodies: the order of contacts, colours and sums comes
 * from the state and from ids. */

#include "shuffled_world.h"

#include "support/cuda.h"

/* MANY: more than the sample from which a grid is chosen. HOLES: dead slots. */
enum { BODIES = WALLS + 2 * LAYER, STEPS = 30, MANY = WALLS + 20 * LAYER, HOLES = 1000 };

static int plain_order[MAX_BODIES], other_order[MAX_BODIES];

static bool same_contacts(TalusWorld *a, TalusWorld *b)
{
    static TalusContactState p[10 * MANY], q[10 * MANY];
    int count = talus_world_get_contacts(a, p, 10 * MANY), same = 0;
    if (!CHECK_INT(count, talus_world_get_contacts(b, q, 10 * MANY)) || !CHECK(count <= 10 * MANY))
        return false;
    for (int i = 0; i < count; i++)
        same += p[i].a.number == q[i].a.number && p[i].b.number == q[i].b.number &&
                memcmp(&p[i].impulse, &q[i].impulse, sizeof p[i].impulse) == 0;
    return CHECK_INT(same, count);
}

static TalusWorld *reloaded(TalusWorld *world)
{
    TalusWorld *copy = NULL;
    void *bytes;
    size_t size;
    if (CHECK_OK(talus_world_save(world, &bytes, &size))) {
        CHECK_OK(talus_world_load(bytes, size, 1, NULL, &copy));
        talus_free(bytes);
    }
    talus_world_destroy(world);
    return copy;
}

static void compare_orders(Kind kind, const char *solver, int bodies, int holes, int steps,
                           bool joints)
{
    NEEDS_CUDA();
    make_order(plain_order, bodies, 0);
    make_order(other_order, bodies + holes, 23);
    Recipe plain = {kind, bodies, plain_order, quick_def(1), 0}, other = plain;
    plain.def.solver = other.def.solver = solver;
    other.order = other_order;
    other.holes = holes;
    TalusWorld *a = make_recipe(&plain), *b = make_recipe(&other);
    if (joints) {
        add_joints(a, bodies);
        add_joints(b, bodies);
    }
    for (int k = 0; k < steps; k++) {
        TalusStepInfo p, q;
        if (k == steps / 2) {
            CHECK(b->id_order.stored);
            b = reloaded(b); /* saved bodies are in the order of ids */
        }
        REQUIRE_OK(talus_world_step(a, &p));
        REQUIRE_OK(talus_world_step(b, &q));
        CHECK_INT(p.solve.products, q.solve.products);
        CHECK(same_bits(p.solve.residual.rms, q.solve.residual.rms));
        CHECK(same_bits(p.ledger.kinetic, q.ledger.kinetic));
        CHECK(same_bits(p.ledger.friction, q.ledger.friction));
        CHECK(talus_world_hash(a) == talus_world_hash(b));
        if (!CHECK_INT(count_different(a, b), 0) || !same_contacts(a, b))
            break;
    }
    CHECK(joints || a->contact_count > LAYER);
    talus_world_destroy(a);
    talus_world_destroy(b);
}

TEST(spheres_in_any_slots)
{
    compare_orders(SPHERES, "auto", BODIES, 0, STEPS, false);
}

TEST(shapes_in_any_slots)
{
    compare_orders(SHAPES, "apgd", BODIES, 40, STEPS, false);
}

TEST(colours_in_any_slots)
{
    compare_orders(SHAPES, "gs", BODIES, 0, STEPS, false);
}

TEST(joints_in_any_slots)
{
    compare_orders(SHAPES, "apgd", BODIES, 40, 15, true);
}

/* The grid, and with it the order of contacts, comes from a part of the bodies. */
TEST(many_bodies_in_any_slots)
{
    compare_orders(FLYING, "apgd", MANY, HOLES, STEPS, false);
}

int main(void)
{
    test_backend = "cuda";
    cuda = talus_backend_find("cuda");
    RUN(spheres_in_any_slots);
    RUN(shapes_in_any_slots);
    RUN(colours_in_any_slots);
    RUN(joints_in_any_slots);
    RUN(many_bodies_in_any_slots);
    return cuda_test_result();
}
