/* A world on the cuda backend does not depend on the slots of its bodies: the order of contacts, colours and sums comes
 * from the state and from ids. */

#include "shuffled_world.h"

#include "support/cuda.h"

enum { BODIES = WALLS + 2 * LAYER, STEPS = 30 };

static int plain_order[MAX_BODIES], other_order[MAX_BODIES];

static bool same_contacts(TalusWorld *a, TalusWorld *b)
{
    static TalusContactState p[10 * BODIES], q[10 * BODIES];
    int count = talus_world_get_contacts(a, p, 10 * BODIES), same = 0;
    if (!CHECK_INT(count, talus_world_get_contacts(b, q, 10 * BODIES)) ||
        !CHECK(count <= 10 * BODIES))
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

static void compare_orders(Kind kind, const char *solver)
{
    NEEDS_CUDA();
    make_order(plain_order, BODIES, 0);
    make_order(other_order, BODIES, 23);
    Recipe plain = {kind, BODIES, plain_order, quick_def(1)}, other = plain;
    plain.def.solver = other.def.solver = solver;
    other.order = other_order;
    TalusWorld *a = make_recipe(&plain), *b = make_recipe(&other);
    for (int k = 0; k < STEPS; k++) {
        TalusStepInfo p, q;
        if (k == STEPS / 2)
            b = reloaded(b);
        REQUIRE_OK(talus_world_step(a, &p));
        REQUIRE_OK(talus_world_step(b, &q));
        CHECK_INT(p.solve.products, q.solve.products);
        CHECK(same_bits(p.solve.residual.rms, q.solve.residual.rms));
        CHECK(same_bits(p.ledger.kinetic, q.ledger.kinetic));
        CHECK(same_bits(p.ledger.friction, q.ledger.friction));
        if (!CHECK_INT(count_different(a, b), 0) || !same_contacts(a, b))
            break;
    }
    CHECK(a->contact_count > LAYER);
    CHECK(b->id_order.stored);
    talus_world_destroy(a);
    talus_world_destroy(b);
}

TEST(spheres_in_any_slots)
{
    compare_orders(SPHERES, "auto");
}

TEST(shapes_in_any_slots)
{
    compare_orders(SHAPES, "apgd");
}

TEST(colours_in_any_slots)
{
    compare_orders(SHAPES, "gs");
}

int main(void)
{
    test_backend = "cuda";
    cuda = talus_backend_find("cuda");
    RUN(spheres_in_any_slots);
    RUN(shapes_in_any_slots);
    RUN(colours_in_any_slots);
    return cuda_test_result();
}
