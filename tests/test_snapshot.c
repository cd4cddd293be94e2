/* Snapshots of a world; and numbers as frames keep them. */
#include "frames_scene.h"

#include "base/rng.h"

static double relative(double a, double b)
{
    return a == b ? 0.0 : fabs(a - b) / fmax(fabs(a), fabs(b));
}

static double normal_force(const TalusSnapshot *s, int i)
{
    return talus_dot(s->contact[i].impulse, s->contact[i].normal) / s->length;
}

/* Sums of forces against the list of contacts, and rows after slots have become empty. */
TEST(forces_are_the_contacts)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusSnapshot s = {0};
    static double force[1000];
    static int touching[1000];
    int loaded = 0;
    step_world(world, 90);
    CHECK_OK(talus_world_remove_body(world, (TalusBodyId){4})); /* the box: row 3 goes */
    REQUIRE_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_ALL));
    REQUIRE(s.body_count > 10 && s.body_count < 1000 && s.id[3].number > 4);
    CHECK_INT(s.contact_count, talus_world_get_contacts(world, NULL, 0));
    CHECK_INT(s.contact_total, s.contact_count);
    for (int i = 0; i < s.contact_count; i++) {
        int a = s.contact_a[i], b = s.contact_b[i];
        CHECK(s.id[a].number == s.contact[i].a.number && s.id[b].number == s.contact[i].b.number);
        if (!(normal_force(&s, i) > 0.0))
            continue;
        loaded++;
        force[a] += normal_force(&s, i);
        force[b] += normal_force(&s, i);
        touching[a]++;
        touching[b]++;
    }
    CHECK(loaded > 20);
    for (int i = 0; i < s.body_count; i++)
        if (!CHECK(relative(force[i], s.force[i]) < 1e-12) || !CHECK(touching[i] == s.touching[i]))
            break;
    talus_snapshot_free(&s);
    talus_world_destroy(world);
}

/* Only what is asked for is there, and a snapshot is used again for more and for less. */
TEST(fields_are_as_asked)
{
    static const unsigned asked[] = {0, TALUS_SNAPSHOT_SPEED, TALUS_SNAPSHOT_ALL,
                                     TALUS_SNAPSHOT_CHAINS | TALUS_SNAPSHOT_MASS};
    TalusWorld *world = rain_world(0.0, true);
    TalusSnapshot s = {0};
    step_world(world, 60);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        unsigned fields = asked[i];
        REQUIRE_OK(talus_snapshot_take(&s, world, fields));
        CHECK((s.velocity != NULL) == ((fields & TALUS_SNAPSHOT_VELOCITY) != 0));
        CHECK((s.speed != NULL) == ((fields & (TALUS_SNAPSHOT_SPEED | 1)) != 0));
        CHECK((s.spin != NULL) == ((fields & TALUS_SNAPSHOT_SPIN) != 0));
        CHECK((s.force != NULL) == ((fields & TALUS_SNAPSHOT_FORCE) != 0));
        CHECK((s.mass != NULL) == ((fields & TALUS_SNAPSHOT_MASS) != 0));
        CHECK((s.contact != NULL) == ((fields & (TALUS_SNAPSHOT_CONTACTS | 32)) != 0));
        CHECK(s.layer == NULL && s.body_count == talus_world_body_count(world));
        CHECK((s.fields & TALUS_SNAPSHOT_VELOCITY) == (fields & TALUS_SNAPSHOT_VELOCITY));
        CHECK(s.contact_total == talus_world_get_contacts(world, NULL, 0));
        CHECK(s.time == talus_world_time(world) && s.step == 60);
    }
    CHECK(s.contact_count > 0 && s.contact_count < s.contact_total);
    CHECK(s.mass[0] == 0.0 && s.mass[3] > 0.0);
    uint64_t count = talus_allocation_count();
    CHECK_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_SPEED));
    CHECK_INT((long long)(talus_allocation_count() - count), 0);
    unsigned lean = TALUS_SNAPSHOT_FORCE | TALUS_SNAPSHOT_CHAINS;
    CHECK_OK(talus_snapshot_take(&s, world, lean));
    count = talus_allocation_count();
    CHECK_OK(talus_snapshot_take(&s, world, lean));
    CHECK_INT((long long)(talus_allocation_count() - count),
              1); /* rows of slots: forces are summed once */
    talus_snapshot_free(&s);
    talus_snapshot_free(NULL);
    talus_world_destroy(world);
}

/* ---- numbers ---- */

TEST(halves_round_to_nearest)
{
    static const struct {
        double value;
        int drop;
        double expected;
    } cases[] = {
        {1.0, 0, 1.0},
        {1.0 + 0x1p-8, 0, 1.0},              /* a tie goes to the even one */
        {1.0 + 3 * 0x1p-8, 0, 1.0 + 0x1p-6}, /* so does this */
        {1.0 + 0x1.2p-8, 0, 1.0 + 0x1p-7},
        {-1.99999, 0, -2.0},
        {0.0, 4, 0.0},
        {1.0 + 0x1p-4, 4, 1.0},
        {1.0 + 0x1.1p-4, 4, 1.0 + 0x1p-3},
        {1e300, 0, 0x1.c4p127},
        {-1e300, 4, -0x1.cp127},
        {1e-60, 0, 0.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_NEAR(talus_from_bfloat16(talus_to_bfloat16(cases[i].value, cases[i].drop)),
                   cases[i].expected, 0.0);
    CHECK(isnan(talus_from_bfloat16(talus_to_bfloat16(NAN, 0))));
    CHECK(isnan(talus_from_bfloat16(talus_to_bfloat16(NAN, TALUS_BFLOAT16_DROPPED_LEAN))));
    TalusRng rng = talus_rng_from_seed(5);
    for (int i = 0; i < 10000; i++) {
        double x = ldexp(talus_rng_uniform(&rng) - 0.5, (int)talus_rng_below(&rng, 40) - 20);
        int drop = i % 2 ? TALUS_BFLOAT16_DROPPED_LEAN : 0;
        double back = talus_from_bfloat16(talus_to_bfloat16(x, drop));
        if (!CHECK(fabs(back - x) <= fabs(x) * (drop ? 0x1p-4 : 0x1p-8)))
            return;
    }
}

int main(void)
{
    RUN(forces_are_the_contacts);
    RUN(fields_are_as_asked);
    RUN(halves_round_to_nearest);
    return talus_test_result();
}
