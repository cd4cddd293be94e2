/* Bodies are dealt by the seconds that ranks have measured (world/ranks/deal.c): whatever these are, each step gives the bits of
 * one rank, and a rank whose bodies and contacts cost more gets fewer of them. */
#include "ranks_world.h"

#include "comm/comm.h"
#include "world/state.h"

enum { STEPS = SANITIZED ? 5 : 12 };

/* Makes this rank believe that each of its last four steps has taken so long, and the last deal so long. */
static void claim_seconds(TalusWorld *world, double seconds, double dealing)
{
    TalusRankWork *work = &world->ranks.work;
    work->steps = 4.0;
    work->seconds = work->steps * seconds;
    work->dealing = dealing;
    work->lost = 0.0;
}

/* Ranks claim to be slow in turn, so that each step begins with another deal. */
static TalusStatus claim_in_turn(TalusWorld *world, int k)
{
    const TalusComm *comm = world->ranks.comm;
    claim_seconds(world, (talus_comm_rank(comm) + k) % talus_comm_size(comm) == 0 ? 3.0 : 1.0, 0.0);
    return TALUS_OK;
}

TEST(a_deal_before_each_step_changes_no_bit)
{
    const RanksCase of = {.name = "deals", .make = make_heap, .act = claim_in_turn, .steps = STEPS};
    NEEDS_RANKS();
    CHECK(compare_ranks(&of).contacts > 100 || !is_first_process());
}

/* Steps before which rank 0, of three, claims to have taken 2 s and the others 1 s, and the seconds of the last deal. */
typedef struct Slow {
    double dealing;
    int bodies[4]; /* of rank 0 before these steps, and after each */
} Slow;

static TalusStatus slow_first_rank(TalusComm *comm, void *context)
{
    const Grains grains = {.shape = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.01},
                           .across = {20, 20, 20},
                           .spacing = 0.0215,
                           .radius = 0.01,
                           .speed = 0.5};
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    Slow *slow = context;
    def.comm = comm;
    def.threads = 1;
    TalusStatus status = talus_world_create(&def, &world);
    TALUS_THEN(status, add_grains(world, &grains, NULL));
    for (int k = 0; k < 4 && status == TALUS_OK; k++) {
        if (k > 0)
            claim_seconds(world, talus_comm_rank(comm) == 0 ? 2.0 : 1.0, slow->dealing);
        status = talus_world_step(world, NULL);
        if (talus_comm_rank(comm) == 0)
            slow->bodies[k] = world->bodies.counts.living;
    }
    talus_world_destroy(world);
    return status;
}

TEST(a_slow_rank_gets_fewer_bodies)
{
    Slow slow = {.dealing = 0.6}; /* it has lost 2/3 s */
    const int *bodies = slow.bodies;
    CHECK_OK(talus_ranks_run(3, slow_first_rank, &slow));
    CHECK(bodies[0] > 2300 && bodies[0] < 3100); /* a third of 8,000, in blocks of 256 */
    CHECK(bodies[1] < bodies[0]);
    CHECK(bodies[3] < bodies[1]);
    CHECK(bodies[3] > 0);
}

TEST(bodies_stay_while_a_deal_would_cost_more)
{
    Slow slow = {.dealing = 0.7};
    CHECK_OK(talus_ranks_run(3, slow_first_rank, &slow));
    CHECK_INT(slow.bodies[1], slow.bodies[0]);
    CHECK_INT(slow.bodies[3], slow.bodies[0]);
}

int main(void)
{
    RUN(a_deal_before_each_step_changes_no_bit);
    RUN(a_slow_rank_gets_fewer_bodies);
    RUN(bodies_stay_while_a_deal_would_cost_more);
    return talus_test_result();
}
