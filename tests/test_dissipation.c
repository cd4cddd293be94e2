/* test_dissipation.c - energy dissipated body by body: closed forms of single contacts, the sum of the ledger, halved steps,
 * threads, saved states, refusals. */
#include "support/test.h"
#include "world/save/save.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <talus/talus.h>

enum { GRAINS = 60 };

static TalusWorldDef summing_def(void)
{
    TalusWorldDef def = talus_world_def_default();
    def.dissipation = true;
    def.threads = 1;
    return def;
}

static void add(TalusWorld *world, TalusShapeDef shape, TalusVec3 at, TalusVec3 velocity,
                double mass)
{
    TalusBodyBatch batch = talus_body_batch_default();
    CHECK_OK(talus_world_add_shape(world, &shape, &batch.shape));
    batch.fixed = mass == 0.0;
    batch.mass = mass;
    batch.count = 1;
    batch.position = &at;
    batch.velocity = &velocity;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
}

static const TalusVec3 none = {0.0, 0.0, 0.0};

static void add_floor(TalusWorld *world, double friction)
{
    TalusPairDef pair = talus_pair_def_default();
    pair.friction = friction;
    CHECK_OK(talus_world_set_pair(world, 0, 0, &pair));
    add(world, (TalusShapeDef){.kind = TALUS_SHAPE_PLANE}, none, none, 0.0);
}

/* Returns the energies of the first two bodies, or of one, in the order of adding. */
static void read_dissipated(const TalusWorld *world, double *out)
{
    TalusBodyState state = {.dissipated = out};
    talus_world_get_state(world, &state);
}

static void run_steps(TalusWorld *world, int steps)
{
    for (int i = 0; i < steps; i++)
        CHECK_OK(talus_world_step(world, NULL));
}

/* A sliding box loses its kinetic energy to friction, as much at any step. */
TEST(a_sliding_body_dissipates_its_energy)
{
    for (double h = 0.002; h < 0.02; h *= 3.0) {
        TalusWorldDef def = summing_def();
        TalusWorld *world;
        double got[2];
        def.step = h;
        def.compliance = 0.0;
        def.tolerance = 1e-9;
        REQUIRE_OK(talus_world_create(&def, &world));
        add_floor(world, 0.4);
        add(world, (TalusShapeDef){.kind = TALUS_SHAPE_BOX, .half = {0.2, 0.2, 0.05}},
            talus_vec3(0.0, 0.0, 0.05), talus_vec3(1.5, 0.0, 0.0), 2.0);
        run_steps(world, (int)(1.0 / h));
        read_dissipated(world, got);
        CHECK_NEAR(got[0], 0.0, 0.0); /* the floor has none of it */
        CHECK_NEAR(got[1], 0.5 * 2.0 * 1.5 * 1.5, 1e-6);
        const double before = got[1];
        run_steps(world, 100); /* at rest */
        read_dissipated(world, got);
        CHECK_NEAR(got[1], before, 1e-6);
        talus_world_destroy(world);
    }
}

/* Two equal spheres that collide without rebound, off any floor: each has half of what is lost. */
TEST(two_bodies_share_a_loss)
{
    TalusWorldDef def = summing_def();
    TalusWorld *world;
    double got[2];
    def.gravity = none;
    def.reference_speed = 0.05;
    def.compliance = 0.0;
    def.tolerance = 1e-9;
    REQUIRE_OK(talus_world_create(&def, &world));
    const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    add(world, ball, talus_vec3(-0.2, 0.0, 0.0), talus_vec3(1.0, 0.0, 0.0), 3.0);
    add(world, ball, talus_vec3(0.2, 0.0, 0.0), talus_vec3(-1.0, 0.0, 0.0), 3.0);
    run_steps(world, 100);
    read_dissipated(world, got);
    CHECK_NEAR(got[0], 1.5, 1e-5);
    CHECK_NEAR(got[1], got[0], 1e-14);
    talus_world_destroy(world);
}

/* ---- the sum of the ledger ---- */

/* Spheres and boxes that fall on a floor with friction, rolling friction and restitution. */
static TalusWorld *make_rain(const TalusWorldDef *def)
{
    TalusWorld *world;
    if (!CHECK_OK(talus_world_create(def, &world)))
        return NULL;
    TalusPairDef pair = talus_pair_def_default();
    pair.restitution = 0.4;
    pair.rolling = 0.02;
    CHECK_OK(talus_world_set_pair(world, 0, 0, &pair));
    add(world, (TalusShapeDef){.kind = TALUS_SHAPE_PLANE}, none, none, 0.0);
    for (int i = 0; i < GRAINS; i++) {
        const TalusVec3 at = {0.11 * (i % 3), 0.12 * (i / 3 % 3) + 0.01 * (i % 2),
                              0.1 + 0.24 * (i / 9)};
        const TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1},
                            box = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.08, 0.09}};
        add(world, i % 3 ? ball : box, talus_vec3(2.1 * at.x, 2.1 * at.y, at.z),
            talus_vec3(0.1 * (i % 5), 0.0, -1.0), 4.0 + i % 4);
    }
    return world;
}

/* Returns half the sum of m h g' v, which the sum of losses has beyond the columns of the ledger. */
static double half_fall(const TalusWorld *world, double h)
{
    TalusVec3 velocity[GRAINS + 1];
    double mass[GRAINS + 1], sum = 0.0;
    TalusBodyState state = {.velocity = velocity, .mass = mass};
    talus_world_get_state(world, &state);
    for (int i = 0; i <= GRAINS; i++)
        sum += 0.5 * mass[i] * h * talus_dot(talus_world_gravity(world), velocity[i]);
    return sum;
}

static double sum_dissipated(const TalusWorld *world)
{
    double energy[GRAINS + 1], sum = 0.0;
    read_dissipated(world, energy);
    for (int i = 0; i <= GRAINS; i++)
        sum += energy[i];
    return sum;
}

/* Makes `steps` steps; returns what they dissipate by the ledger. Steps that were halved are counted. */
static double run_by_ledger(TalusWorld *world, int steps, int *halved)
{
    double sum = 0.0;
    for (int i = 0; i < steps; i++) {
        TalusStepInfo info;
        if (!CHECK_OK(talus_world_step(world, &info)))
            break;
        const TalusLedger *l = &info.ledger;
        sum -= l->friction + l->impact + l->stabilisation + l->gravity_error;
        *halved += info.halvings > 0;
    }
    return sum;
}

TEST(energies_sum_to_the_ledger)
{
    TalusWorldDef def = summing_def();
    TalusWorld *world = make_rain(&def);
    int halved = 0;
    REQUIRE(world);
    const double start = half_fall(world, def.step), ledger = run_by_ledger(world, 300, &halved);
    const double expected = ledger + start - half_fall(world, def.step);
    CHECK(expected > 500.0);
    CHECK_INT(halved, 0);
    CHECK_NEAR(sum_dissipated(world), expected, 1e-11 * expected);
    talus_world_destroy(world);
}

/* A step that is taken back in halves has dissipated nothing. Parts of different lengths have another half_fall each, so the
 * sums agree to that. */
TEST(halved_steps_count_once)
{
    TalusWorldDef def = summing_def();
    def.on_miss = TALUS_MISS_HALVE;
    def.max_iterations = 8;
    TalusWorld *world = make_rain(&def);
    int halved = 0;
    REQUIRE(world);
    const double expected = run_by_ledger(world, 120, &halved);
    CHECK(halved > 20);
    CHECK_NEAR(sum_dissipated(world), expected, 0.01 * expected);
    talus_world_destroy(world);
}

/* Runs a world of so many threads, saved and loaded on the way if `reload`; writes what its bodies have dissipated. */
static void run_threads(int threads, bool reload, double energy[GRAINS + 1])
{
    TalusWorldDef def = summing_def();
    def.threads = threads;
    TalusWorld *world = make_rain(&def);
    void *bytes;
    size_t size;
    REQUIRE(world);
    run_steps(world, 80);
    if (reload) {
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        talus_world_destroy(world);
        REQUIRE_OK(talus_world_load(bytes, size, threads, NULL, &world));
        talus_free(bytes);
    }
    run_steps(world, 80);
    read_dissipated(world, energy);
    talus_world_destroy(world);
}

TEST(threads_and_saved_states_give_the_same_bits)
{
    double one[GRAINS + 1], four[GRAINS + 1], loaded[GRAINS + 1];
    run_threads(1, false, one);
    run_threads(4, false, four);
    run_threads(2, true, loaded);
    CHECK(memcmp(one, four, sizeof one) == 0);
    CHECK(memcmp(one, loaded, sizeof one) == 0);
    CHECK(one[1] > 0.0 && one[GRAINS] > 0.0);
}

/* Without the option nothing is summed, a state has no room for it, and the motion is the same. */
TEST(summing_changes_no_motion)
{
    uint64_t hash[2];
    size_t size[2];
    for (int on = 0; on < 2; on++) {
        TalusWorldDef def = summing_def();
        def.dissipation = on;
        TalusWorld *world = make_rain(&def);
        TalusSnapshot snapshot = {0};
        void *bytes;
        REQUIRE(world);
        run_steps(world, 60);
        CHECK((sum_dissipated(world) > 0.0) == on);
        hash[on] = talus_world_hash(world);
        REQUIRE_OK(talus_world_save(world, &bytes, &size[on]));
        REQUIRE_OK(talus_snapshot_take(&snapshot, world, TALUS_SNAPSHOT_ALL));
        CHECK((snapshot.dissipated != NULL) == on);
        talus_snapshot_free(&snapshot);
        talus_free(bytes);
        talus_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
    CHECK_INT((long long)(size[1] - size[0]), 8 * (GRAINS + 1));
}

/* Bytes that are read one after the other. */
static TalusStatus get_bytes(void *context, void *out, size_t size)
{
    const unsigned char **at = context;
    memcpy(out, *at, size);
    *at += size;
    return TALUS_OK;
}

/* Another world may start from a state, whether either of them sums energies: then all begin at 0. */
TEST(a_start_begins_at_zero)
{
    for (int k = 0; k < 4; k++) {
        TalusWorldDef def = summing_def(), start = def;
        def.dissipation = k & 1;
        start.dissipation = k >> 1;
        TalusWorld *world = make_rain(&def), *out;
        void *bytes;
        size_t size;
        REQUIRE(world);
        run_steps(world, 60);
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        const unsigned char *at = bytes;
        const TalusByteSource source = {get_bytes, &at};
        const TalusLoadDef load = {.start = &start};
        REQUIRE_OK(talus_world_load_from(&source, size, &load, &out));
        CHECK_INT(talus_world_body_count(out), GRAINS + 1);
        CHECK_NEAR(sum_dissipated(out), 0.0, 0.0);
        run_steps(out, 20);
        CHECK((sum_dissipated(out) > 0.0) == start.dissipation);
        talus_free(bytes);
        talus_world_destroy(world);
        talus_world_destroy(out);
    }
}

/* A cell that is sheared on and on: what it puts in is dissipated or stored. */
TEST(work_of_a_sheared_cell_is_dissipated)
{
    TalusWorldDef def = summing_def();
    TalusWorld *world;
    def.gravity = none;
    def.reference_speed = 0.05;
    def.period = (TalusPeriod){.lo = none, .hi = {1.0, 1.0, 1.0}, .on = {true, true, true}};
    def.cell.on = true;
    def.cell.rate = (TalusGradient){.xy = 1.0};
    REQUIRE_OK(talus_world_create(&def, &world));
    for (int i = 0; i < GRAINS; i++)
        add(world, (TalusShapeDef){.kind = TALUS_SHAPE_SPHERE, .radius = 0.128},
            talus_vec3(0.25 * (i % 4) + 0.03, 0.25 * (i / 4 % 4) + 0.01 * (i % 3), 0.25 * (i / 16)),
            none, 1.0);
    run_steps(world, 200);
    TalusStepInfo info;
    REQUIRE_OK(talus_world_step(world, &info));
    const double before = talus_world_cell(world).total_work,
                 start = before - info.ledger.kinetic - info.ledger.elastic - sum_dissipated(world);
    for (int i = 0; i < 400; i++)
        REQUIRE_OK(talus_world_step(world, &info));
    const double after = talus_world_cell(world).total_work, work = after - before;
    const double left = after - info.ledger.kinetic - info.ledger.elastic - sum_dissipated(world);
    printf("# work of the cell %g J, not dissipated or stored %g J\n", work, left - start);
    CHECK_NEAR(left, start, 0.05 * work);
    talus_world_destroy(world);
}

TEST(what_cannot_be_summed_is_refused)
{
    TalusWorldDef def = summing_def();
    TalusWorld *world = NULL;
    def.impacts = TALUS_IMPACTS_PROPAGATING;
    CHECK_INT(talus_world_create(&def, &world), TALUS_ERR_UNSUPPORTED);
    CHECK_STR(talus_error_record()->key, "dissipation");
    CHECK(world == NULL);
    def = summing_def();
    def.backend = "cuda";
    CHECK_INT(talus_world_create(&def, &world), TALUS_ERR_UNSUPPORTED);
}

int main(void)
{
    RUN(a_sliding_body_dissipates_its_energy);
    RUN(two_bodies_share_a_loss);
    RUN(energies_sum_to_the_ledger);
    RUN(halved_steps_count_once);
    RUN(threads_and_saved_states_give_the_same_bits);
    RUN(summing_changes_no_motion);
    RUN(a_start_begins_at_zero);
    RUN(work_of_a_sheared_cell_is_dissipated);
    RUN(what_cannot_be_summed_is_refused);
    return talus_test_result();
}
