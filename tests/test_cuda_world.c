/* Worlds on the cuda backend: the shipped scenes, settling, restart. */
#include "cuda_world.h"

#include <talus/io.h>

static double smallest_size(const TalusWorld *world)
{
    double size = INFINITY;
    for (int i = 0; i < world->bodies.counts.slots; i++)
        if (talus_slot_is_free(&world->bodies, i))
            size = fmin(size, world->bodies.size[i]);
    return size;
}

/* ---- the shipped scenes ---- */

typedef struct Case {
    const char *scene, *set[2]; /* small, but more than one layer */
    int lead;                   /* steps on the host, until things touch and push */
} Case;

static const Case cases[] = {
    {"hourglass", {"bodies=60"}, 40},
    {"settle-box", {"bodies=40"}, 40},
    {"settle-cylinder", {"bodies=40", "vat=0.5"}, 90},
    {"heavy-on-light", {"bodies=30", "vat=0.5"}, 100},
    {"million", {"bodies=48", "layers=4"}, 12},
    {"pebble-bed", {"bodies=30"}, 4},
    {"impact", {"bodies=60"}, 60},
    {"dominoes", {"bodies=6"}, 150},
    {"box-stack", {"bodies=6"}, 20},
};

enum { CASES = sizeof cases / sizeof *cases, STEPS = 3 };

static TalusWorld *build_scene(const char *name, const char *const *set)
{
    char path[1024];
    TalusScene *scene;
    TalusWorld *world = NULL;
    TalusSceneChoice choice = {.backend = "cpu", .threads = 1};
    const char *root = getenv("TALUS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/scenes/%s.json", root ? root : ".", name);
    if (!CHECK_OK(talus_scene_load(path, set, set[1] ? 2 : 1, &scene)))
        return NULL;
    CHECK_OK(talus_scene_build(scene, &choice, &world));
    talus_scene_destroy(scene);
    return world;
}

static void compare_contacts(const TalusWorld *host, const TalusWorld *cuda)
{
    int count = talus_world_get_contacts(host, NULL, 0);
    if (!CHECK_INT(talus_world_get_contacts(cuda, NULL, 0), count) || !CHECK(count > 0))
        return;
    TalusContactState *a = calloc((size_t)count, sizeof *a), *b = calloc((size_t)count, sizeof *b);
    talus_world_get_contacts(host, a, count);
    talus_world_get_contacts(cuda, b, count);
    int other = 0;
    for (int i = 0; i < count; i++)
        other += memcmp(&a[i].a, &b[i].a, sizeof a[i].a) != 0 ||
                 memcmp(&a[i].b, &b[i].b, sizeof a[i].b) != 0 ||
                 memcmp(&a[i].normal, &b[i].normal, sizeof a[i].normal) != 0 ||
                 a[i].gap != b[i].gap;
    CHECK_INT(other, 0);
    free(a);
    free(b);
}

static void compare_scene(const Case *c)
{
    TalusWorld *world = build_scene(c->scene, c->set);
    if (!world)
        return;
    run(world, c->lead);
    make_tight(world);
    TalusWorld *cuda = moved_to(world, "cuda");
    double length = smallest_size(world), dx = INFINITY, dv = INFINITY;
    for (int i = 0; cuda && i < STEPS; i++) {
        run(world, 1);
        run(cuda, 1);
        if (i == 0)
            compare_contacts(world, cuda);
        differences(world, cuda, length, &dx, &dv);
        CHECK(dx <= 1e-9 && dv <= 1e-9);
    }
    printf("  %-16s %lld bodies: positions %.1e of the smallest size, velocities %.1e\n", c->scene,
           (long long)talus_world_body_count(world), dx, dv);
    talus_world_destroy(world);
    talus_world_destroy(cuda);
}

TEST(scenes_agree_to_rounding)
{
    for (int i = 0; i < CASES; i++)
        compare_scene(&cases[i]);
}

/* ---- settling ---- */

/* What is left to compare once collisions have made two runs differ. */
typedef struct Bed {
    double mean,
        top; /* height over the lowest point: of all, and of those above 1.6 times the mean */
    double fraction; /* of the volume below twice the mean height, within the widest extent */
    double energy;
} Bed;

enum { FIGURES = sizeof(Bed) / sizeof(double) };

static Bed measure_bed(const TalusWorld *world, const TalusLedger *ledger)
{
    const TalusBodies *b = &world->bodies;
    Bed bed = {.energy = ledger->kinetic + ledger->potential};
    int count = 0, high = 0;
    double lo = INFINITY, volume = 0.0, width = 0.0;
    CHECK_OK(talus_world_download_bodies(world));
    for (int i = 0; i < b->counts.slots; i++) {
        if (!talus_slot_is_free(b, i))
            continue;
        TalusVec3 x = b->position[i];
        double r = b->radius[i];
        count++;
        bed.mean += x.z;
        volume += 4.0 / 3.0 * 3.14159265358979 * r * r * r;
        lo = fmin(lo, x.z - r);
        width = fmax(width, fmax(fabs(x.x), fabs(x.y)) + r);
    }
    bed.mean = bed.mean / count - lo;
    for (int i = 0; i < b->counts.slots; i++)
        if (talus_slot_is_free(b, i) && b->position[i].z - lo > 1.6 * bed.mean) {
            bed.top += b->position[i].z - lo;
            high++;
        }
    bed.top /= high ? high : 1;
    bed.fraction = volume / (4.0 * width * width * 2.0 * bed.mean);
    return bed;
}

static Bed settle(TalusWorld *world)
{
    TalusStepInfo info = {0};
    for (int i = 0; i < 90; i++)
        if (!CHECK_OK(talus_world_step(world, &info)))
            break;
    Bed bed = measure_bed(world, &info.ledger);
    printf("  %-10s mean height %.4f m, top %.4f m, fraction %.4f, energy %.2f J\n",
           talus_world_backend(world), bed.mean, bed.top, bed.fraction, bed.energy);
    return bed;
}

/* The figures of the bed agree within 3 times what one nudged body changes on the host, or 1 %. */
TEST(a_bed_settles_alike)
{
    TalusWorld *world = build_scene("settle-box", (const char *const[2]){"bodies=50"});
    REQUIRE(world);
    run(world, 20);
    TalusWorld *all[4] = {moved_to(world, "cpu"), moved_to(world, "cpu"), moved_to(world, "cuda"),
                          moved_to(world, "cuda-mixed")};
    REQUIRE(all[0] && all[1] && all[2] && all[3]);
    TalusBodyId nudged = talus_slot_id(&world->bodies, 30);
    CHECK_OK(talus_world_set_velocity(all[1], nudged, talus_vec3(0.01, 0.0, -1.0), zero));
    double figure[4][FIGURES];
    for (int k = 0; k < 4; k++) {
        Bed bed = settle(all[k]);
        memcpy(figure[k], &bed, sizeof bed);
    }
    for (int k = 2; k < 4; k++)
        for (int i = 0; i < FIGURES; i++) {
            double a = figure[0][i], scatter = fabs(figure[1][i] - a);
            CHECK_NEAR(figure[k][i], a, fmax(3.0 * scatter, 0.01 * fabs(a)));
        }
    for (int k = 0; k < 4; k++)
        talus_world_destroy(all[k]);
    talus_world_destroy(world);
}

/* ---- restart ---- */

TEST(a_loaded_world_goes_on_bitwise_as_the_saved_one)
{
    TalusWorld *world = make_full(1);
    for (int part = 0; part < 2; part++) {
        void *bytes, *again;
        size_t size, size_again;
        TalusWorld *copy;
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &copy));
        CHECK_STR(talus_world_backend(copy), "cuda");
        REQUIRE_OK(talus_world_save(copy, &again, &size_again));
        CHECK(size == size_again && memcmp(bytes, again, size) == 0);
        talus_free(bytes);
        talus_free(again);
        run(copy, 20);
        run(world, 20);
        CHECK(talus_world_hash(copy) == talus_world_hash(world));
        REQUIRE_OK(talus_world_save(world, &bytes, &size));
        REQUIRE_OK(talus_world_save(copy, &again, &size_again));
        CHECK(size == size_again && memcmp(bytes, again, size) == 0);
        talus_free(bytes);
        talus_free(again);
        talus_world_destroy(copy);
    }
    talus_world_destroy(world);
}

TEST(looking_and_building_change_nothing)
{
    TalusWorld *world = make_heap(1, 32), *other = make_heap(1, 32);
    for (int i = 0; i < 25; i++) {
        TalusProblem *problem;
        TalusStepInfo info;
        TalusForceSummary summary;
        TalusOverlap worst;
        REQUIRE_OK(talus_world_worst_overlap(world, &worst));
        REQUIRE_OK(talus_world_build(world, &problem));
        REQUIRE_OK(talus_world_step(world, &info));
        REQUIRE_OK(talus_world_step(other, NULL));
        CHECK_INT(talus_problem_blocks(problem), info.contacts);
        CHECK_NEAR(worst.depth, info.penetration_max * worst.size, 1e-12);
        CHECK_INT(talus_world_get_contacts(world, NULL, 0), info.contacts);
        CHECK_OK(talus_world_get_forces(world, NULL, NULL, &summary));
        CHECK_INT(summary.contacts, info.contacts);
        talus_world_hash(world);
    }
    CHECK(talus_world_hash(world) == talus_world_hash(other));
    talus_world_destroy(world);
    talus_world_destroy(other);
}

int main(void)
{
    if (!have_cuda())
        return 77;
    RUN(scenes_agree_to_rounding);
    RUN(looking_and_building_change_nothing);
    RUN(a_loaded_world_goes_on_bitwise_as_the_saved_one);
    RUN(a_bed_settles_alike);
    return talus_test_result();
}
