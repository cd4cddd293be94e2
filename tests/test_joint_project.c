/* The projection of joints: chains that whip keep their energy, and where one cannot be closed it is said. */
#include "joint_world.h"

#include <string.h>

/* ---- chains ---- */

typedef struct Chain {
    int links; /* of 0.1 m and 0.1 kg, from the origin along x */
    TalusJointKind kind;
    bool rods; /* else balls */
    double h;
} Chain;

/* Links touch nothing: they are of one group, which does not meet itself. */
static void add_chain(TalusWorld *world, const Chain *chain, TalusVec3 at)
{
    TalusBodyId before = the_world;
    TalusVec3 y = {0.0, 1.0, 0.0};
    for (int i = 0; i < chain->links; i++) {
        Body link = {.shape = chain->rods ? rod(0.01, 0.05) : ball(0.05), .mass = 0.1};
        TalusVec3 joint = talus_add(at, talus_vec3(0.1 * i, 0.0, 0.0));
        link.x = talus_add(joint, talus_vec3(0.05, 0.0, 0.0));
        link.e = (TalusQuat){sqrt(0.5), 0.0, sqrt(0.5), 0.0}; /* along x */
        TalusBodyId id = add_body(world, link);
        add_joint(world, joint_of(chain->kind, id, before, joint, y));
        before = id;
    }
}

static TalusWorld *chain_world(const Chain *chain)
{
    TalusWorldDef def = joint_def(chain->h);
    TalusWorld *world = joint_world(&def);
    CHECK_OK(talus_world_set_groups(world, 0, 0, false));
    add_chain(world, chain, talus_vec3(0.0, 0.0, 0.0));
    return world;
}

/* Of m g L/2, what the chain could fall; 0 at the start. */
typedef struct Drift {
    double end, worst, rms;
    int fallbacks;
} Drift;

/* Velocities are those of the middle of a step, so the potential energy is taken there. */
static Drift swing(const Chain *chain, double seconds)
{
    TalusWorld *world = chain_world(chain);
    int steps = (int)(seconds / chain->h + 0.5);
    double fall = 0.1 * chain->links * gravity * 0.05 * chain->links, before = 0.0;
    TalusStepInfo info;
    Drift drift = {0.0, 0.0, 0.0, 0};
    for (int i = 0; i < steps; i++) {
        CHECK_OK(talus_world_step(world, &info));
        CHECK_INT(info.contacts, 0);
        drift.end = (info.ledger.kinetic + 0.5 * (info.ledger.potential + before)) / fall;
        drift.worst = fmax(drift.worst, fabs(drift.end));
        drift.rms += drift.end * drift.end / steps;
        drift.fallbacks += info.projection_fallbacks;
        before = info.ledger.potential;
    }
    drift.rms = sqrt(drift.rms);
    talus_world_destroy(world);
    return drift;
}

/* Ten links let go from the horizontal whip: one turns by up to half a radian in a step of 1 ms. */
TEST(a_chain_of_ten_links_keeps_its_energy)
{
    const TalusJointKind kind[] = {TALUS_JOINT_BALL, TALUS_JOINT_REVOLUTE};
    for (int i = 0; i < 4; i++) {
        Chain chain = {10, kind[i / 2], i % 2, 0.001};
        Drift drift = swing(&chain, 5.0);
        CHECK_INT(drift.fallbacks, 0);
        CHECK_NEAR(drift.end, 0.0, 1e-3);
        CHECK(drift.rms < 1e-3);
        CHECK(drift.worst < 0.02); /* in a whip, and then given back */
    }
}

TEST(chains_of_any_length_keep_their_energy)
{
    const int links[] = {2, 5, 20, 50};
    for (int i = 0; i < 4; i++) {
        Chain chain = {links[i], TALUS_JOINT_BALL, false, 0.001};
        Drift drift = swing(&chain, 5.0);
        CHECK_INT(drift.fallbacks, 0);
        CHECK_NEAR(drift.end, 0.0, 1e-2);
        CHECK(drift.rms < 5e-3);
    }
}

TEST(the_energy_is_of_second_order)
{
    Chain chain = {2, TALUS_JOINT_BALL, true, 0.002};
    double before = swing(&chain, 5.0).rms;
    for (int i = 0; i < 2; i++) {
        chain.h *= 0.5;
        double rms = swing(&chain, 5.0).rms;
        CHECK_NEAR(before / rms, 4.0, 0.4);
        before = rms;
    }
}

/* ---- what cannot be closed ---- */

static void count_warning(void *user, TalusLogLevel level, const char *id, const char *text)
{
    int *said = user;
    CHECK(level == TALUS_LOG_WARNING && strstr(text, "projection_fallbacks"));
    *said += strcmp(id, "step.projection") == 0;
}

/* In steps of 10 ms the last links of a chain turn by more than a right angle; a pendulum beside it does not. */
TEST(a_machine_that_falls_back_is_counted_and_holds_no_other_up)
{
    Chain wild = {20, TALUS_JOINT_BALL, false, 0.01}, calm = {1, TALUS_JOINT_BALL, false, 0.01};
    TalusWorld *both = chain_world(&calm), *alone = chain_world(&calm);
    add_chain(both, &wild, talus_vec3(0.0, 1.0, 0.0));
    int said = 0, fallbacks = 0;
    talus_set_log(count_warning, &said);
    for (int i = 0; i < 200; i++) {
        TalusStepInfo info;
        CHECK_OK(talus_world_step(both, &info));
        CHECK(info.projection_fallbacks <= 1);
        fallbacks += info.projection_fallbacks;
        CHECK_OK(talus_world_step(alone, &info));
        CHECK_INT(info.projection_fallbacks, 0);
        Pose a = pose_of(both, 0), b = pose_of(alone, 0);
        CHECK_NEAR(talus_norm(talus_sub(a.x, b.x)), 0.0, 1e-12);
        CHECK_NEAR(talus_norm(talus_sub(a.v, b.v)), 0.0, 1e-12);
    }
    talus_set_log(NULL, NULL);
    CHECK(fallbacks > 0);
    CHECK_INT(said, 1);
    talus_world_destroy(both);
    talus_world_destroy(alone);
}

int main(void)
{
    RUN(a_chain_of_ten_links_keeps_its_energy);
    RUN(chains_of_any_length_keep_their_energy);
    RUN(the_energy_is_of_second_order);
    RUN(a_machine_that_falls_back_is_counted_and_holds_no_other_up);
    return talus_test_result();
}
