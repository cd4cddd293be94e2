/* Bodies are dealt by the seconds that ranks have measured (world/ranks/deal.c): whatever these are, each step gives the bits of
 * one rank, and a rank whose bodies and contacts cost more gets fewer of them. */
#include "ranks_world.h"

#include "comm/comm.h"
#include "world/state.h"

enum { STEPS = SANITIZED ? 5 : 12 };

/* Makes this rank believe that its steps since the last look at shares have taken so long, and that it is time to look. */
static void claim_seconds(TalusWorld *world, double seconds)
{
    world->ranks.work.seconds = seconds;
    world->ranks.work.steps = world->ranks.work.look_after = 1;
}

/* Ranks claim to be slow in turn, so that each step begins with another deal. */
static TalusStatus claim_in_turn(TalusWorld *world, int k)
{
    const TalusComm *comm = world->ranks.comm;
    claim_seconds(world, (talus_comm_rank(comm) + k) % talus_comm_size(comm) == 0 ? 3.0 : 1.0);
    return TALUS_OK;
}

TEST(a_deal_before_each_step_changes_no_bit)
{
    const RanksCase of = {.name = "deals", .make = make_heap, .act = claim_in_turn, .steps = STEPS};
    NEEDS_RANKS();
    CHECK(compare_ranks(&of).contacts > 100 || !is_first_process());
}

/* Makes some steps in which rank 0 claims to take as long as all others, and counts bodies of rank 0 before and after. */
static TalusStatus slow_first_rank(TalusComm *comm, void *context)
{
    const Grains grains = {.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01},
                           .across = {20, 20, 20},
                           .spacing = 0.0215,
                           .radius = 0.01,
                           .speed = 0.5};
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    int *bodies = context;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = talus_world_create(&def, &world);
    TALUS_THEN(status, add_grains(world, &grains, NULL));
    for (int k = 0; k < 4 && status == TALUS_OK; k++) {
        if (k > 0)
            claim_seconds(world, talus_comm_rank(comm) == 0 ? 2.0 : 1.0);
        status = talus_world_step(world, NULL);
        if (talus_comm_rank(comm) == 0)
            bodies[k] = world->bodies.counts.living;
    }
    talus_world_destroy(world);
    return status;
}

TEST(a_slow_rank_gets_fewer_bodies)
{
    int bodies[4];
    CHECK_OK(talus_ranks_run(3, slow_first_rank, bodies));
    CHECK(bodies[0] > 2300 && bodies[0] < 3100); /* a third of 8,000, in blocks of 256 */
    CHECK(bodies[1] < bodies[0]);
    CHECK(bodies[3] < bodies[1]);
    CHECK(bodies[3] > 0);
}

int main(void)
{
    RUN(a_deal_before_each_step_changes_no_bit);
    RUN(a_slow_rank_gets_fewer_bodies);
    return talus_test_result();
}
