/* A world that is moved between the host and the device in mid-run, by saving and loading, goes on. */
#include "cuda_world.h"

#include <talus/joint.h>

enum { LEAD = 40, PART = 12 };

/* A pendulum beside what make_full has: emitter, sink, bodies that come later, a probe. */
static TalusWorld *make_everything(void)
{
    test_backend = "cpu";
    test_relaxed = true;
    TalusWorld *world = make_full(1);
    test_relaxed = false;
    TalusJointDef joint = talus_joint_def_default();
    joint.kind = TALUS_JOINT_REVOLUTE;
    joint.axis = talus_vec3(0.0, 1.0, 0.0);
    joint.point = talus_vec3(3.0, 2.0, 2.0);
    CHECK_OK(add_one(world, brick, talus_vec3(3.5, 2.0, 2.0), &joint.a));
    CHECK_OK(talus_world_add_joint(world, &joint, NULL));
    CHECK_OK(talus_world_set_accuracy(world, 1e-9, 100000));
    return world;
}

static TalusWorld *move(TalusWorld *world, const char *backend)
{
    TalusWorld *out = moved_to(world, backend);
    talus_world_destroy(world);
    if (CHECK(out != NULL))
        CHECK_STR(talus_world_backend(out), backend);
    return out;
}

/* The same contacts with the same impulses. */
static void check_contacts(const TalusWorld *a, const TalusWorld *b)
{
    static TalusContactState p[MOST], q[MOST];
    int count = talus_world_get_contacts(a, p, MOST);
    CHECK(count > 50 && count <= MOST);
    CHECK_INT(talus_world_get_contacts(b, q, MOST), count);
    CHECK(memcmp(p, q, (size_t)count * sizeof *p) == 0);
}

/* Steps both; each reaches its tolerance, 1e-9 of the reference speed. Energies are compared with what the bodies have in all. */
static void step_along(TalusWorld *stays, TalusWorld *moves)
{
    for (int i = 0; i < PART; i++) {
        TalusStepInfo a, b;
        REQUIRE_OK(talus_world_step(stays, &a));
        REQUIRE_OK(talus_world_step(moves, &b));
        CHECK(!a.missed && !b.missed && b.solve.residual.rms <= b.tolerance);
        CHECK_INT(a.bodies, b.bodies);
        CHECK(llabs(a.contacts - b.contacts) <=
              4); /* of 120: corners of boxes at rest come and go */
        double energy = fabs(a.ledger.kinetic) + fabs(a.ledger.potential);
        CHECK_NEAR(a.ledger.kinetic, b.ledger.kinetic, 1e-8 * energy);
        CHECK_NEAR(a.ledger.potential, b.ledger.potential, 1e-8 * energy);
        CHECK(fabs(b.ledger.imbalance) < 1e-10 * energy);
    }
}

/* Positions to 1e-8 of the smallest body, velocities to 1e-8 of the fastest: what collisions leave of rounding. */
TEST(a_world_goes_on_wherever_it_is_moved)
{
    static const char *const way[] = {"cuda", "cpu", "cuda-mixed", "cpu"};
    TalusWorld *stays = make_everything();
    run(stays, LEAD);
    TalusWorld *moves = moved_to(stays, "cpu");
    for (int k = 0; k < 4 && moves; k++) {
        TalusWorld *before = moved_to(moves, talus_world_backend(moves));
        double dx, dv;
        moves = move(moves, way[k]);
        REQUIRE(moves && before);
        check_contacts(before, moves);
        talus_world_destroy(before);
        step_along(stays, moves);
        differences(stays, moves, 0.05, &dx, &dv);
        printf("  on %-10s positions %.1e, velocities %.1e\n", way[k], dx, dv);
        CHECK(dx <= 1e-8 && dv <= 1e-8);
    }
    compare_probes(stays, moves, 1e-6);
    CHECK_INT(talus_world_joint_count(moves), 1);
    CHECK(moves->bodies.counts.created == stays->bodies.counts.created);
    talus_world_destroy(stays);
    talus_world_destroy(moves);
}

/* The impulses that came along are what the first solve starts from: with one iteration alone a stack stays where it
 * is, and without them it falls. */
TEST(warm_starts_come_along)
{
    test_backend = "cpu";
    TalusWorldDef def = relaxed_def(1);
    TalusWorld *world = make_world(&def);
    CHECK_OK(add_floor(world, NULL));
    for (int i = 0; i < 3; i++)
        CHECK_OK(add_one(world, brick, talus_vec3(0.0, 0.0, 0.08 + 0.16 * i), NULL));
    CHECK_OK(talus_world_set_accuracy(world, 1e-9, 100000));
    run(world, 20);
    for (int k = 0; k < 2; k++) {
        TalusWorld *warm = moved_to(world, k ? "cpu" : "cuda"), *cold = moved_to(warm, NULL);
        TalusStepInfo a, b;
        REQUIRE(warm && cold);
        for (int i = 0; i < cold->bodies.counts.slots; i++)
            talus_world_drop_impulses(cold, i);
        REQUIRE_OK(talus_world_mark_bodies_dirty(cold));
        CHECK_OK(talus_world_set_accuracy(warm, 0.0, 1));
        CHECK_OK(talus_world_set_accuracy(cold, 0.0, 1));
        REQUIRE_OK(talus_world_step(warm, &a));
        REQUIRE_OK(talus_world_step(cold, &b));
        printf("  on %-5s %.1e J, %.1e J without impulses\n", talus_world_backend(warm),
               a.ledger.kinetic, b.ledger.kinetic);
        CHECK(a.ledger.kinetic < 0.2 * b.ledger.kinetic);
        talus_world_destroy(cold);
        talus_world_destroy(world);
        world = warm;
    }
    talus_world_destroy(world);
}

int main(void)
{
    if (!have_cuda())
        return 77;
    RUN(a_world_goes_on_wherever_it_is_moved);
    RUN(warm_starts_come_along);
    return talus_test_result();
}
