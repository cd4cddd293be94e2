/* Sizes, scales, species and the seed of a scene, in the worlds that are built from it. */
#include "base/memory.h"
#include "support/scene_text.h"
#include "world/state.h"

#include <math.h>
#include <stdio.h>

/* Sums over the bodies with one tag. */
typedef struct Sums {
    int count, materials[4];
    double mass, square; /* square: of masses */
    double smallest, largest;
} Sums;

static Sums sum_tag(const TalusWorld *world, int tag)
{
    const TalusBodies *b = &world->bodies;
    Sums s = {.smallest = INFINITY};
    for (int i = 0; i < b->counts.slots; i++) {
        if (b->tag[i] != tag)
            continue;
        s.count++;
        s.mass += b->mass[i];
        s.square += b->mass[i] * b->mass[i];
        s.materials[b->material[i]]++;
        s.smallest = fmin(s.smallest, b->radius[i]);
        s.largest = fmax(s.largest, b->radius[i]);
    }
    return s;
}

static TalusWorld *build(const char *text)
{
    TalusWorld *world = NULL;
    CHECK_OK(build_scene_text(text, &world));
    return world;
}

/* ---- species ---- */

#define MIXTURE(by)                                                                             \
    "{'materials': {'glass': {'density': 2500}, 'lead': {'density': 11000}},"                   \
    " 'shapes': {'brick': {'kind': 'box', 'half': [0.01, 0.006, 0.004], 'scale': {'mean': 1,"   \
    "   'spread': 0.4}, 'forms': 8}},"                                                          \
    " 'bodies': [{'count': 20000, 'lattice': {'cells': [30, 30, 0]}, 'orientation': 'random',"  \
    "  'tag': 7, 'by': '" by "', 'species': ["                                                  \
    "   {'fraction': 0.5, 'radius': {'kind': 'lognormal', 'median': 0.004, 'deviation': 0.2}}," \
    "   {'fraction': 0.3, 'radius': 0.006, 'material': 'lead', 'tag': 1},"                      \
    "   {'fraction': 0.2, 'shape': 'brick', 'density': 600, 'tag': 2}]}]}"

TEST(species_by_mass)
{
    static const double fraction[] = {0.5, 0.3, 0.2};
    static const int tag[] = {7, 1, 2}, material[] = {1, 2, 1};
    TalusWorld *world = build(MIXTURE("mass"));
    REQUIRE(world != NULL);
    Sums s[3];
    double all = 0.0, counted = 0.0;
    for (int i = 0; i < 3; i++) {
        s[i] = sum_tag(world, tag[i]);
        all += s[i].mass;
        counted += s[i].count;
        CHECK_INT(s[i].materials[material[i]], s[i].count);
    }
    CHECK_INT((int)counted, 20000);
    for (int i = 0; i < 3; i++) { /* five standard deviations of a sum of independent masses */
        double share = s[i].mass / all, others = 0.0;
        for (int k = 0; k < 3; k++)
            others += s[k].square * (k == i ? (1.0 - share) * (1.0 - share) : share * share);
        CHECK(fabs(share - fraction[i]) < 5.0 * sqrt(others) / all);
        CHECK(sqrt(others) / all < 0.01);
    }
    CHECK(s[1].smallest == 0.006 && s[1].largest == 0.006);
    CHECK(s[0].smallest > 0.002 && s[0].largest < 0.008 && s[0].smallest < 0.0028);
    /* the volume of the bricks is that of their eight scales, (k + 1/2)/8 of the way from 0.6 to 1.4 */
    double cubes = 0.0;
    for (int k = 0; k < 8; k++)
        cubes += pow(0.6 + 0.8 * (k + 0.5) / 8.0, 3.0) / 8.0;
    double mean = 600.0 * 8.0 * 0.01 * 0.006 * 0.004 * cubes;
    double band = 5.0 * sqrt(s[2].square) / s[2].count;
    CHECK(fabs(s[2].mass / s[2].count - mean) < band);
    talus_world_destroy(world);
}

TEST(species_by_number)
{
    static const double fraction[] = {0.5, 0.3, 0.2};
    static const int tag[] = {7, 1, 2};
    TalusWorld *world = build(MIXTURE("number"));
    REQUIRE(world != NULL);
    for (int i = 0; i < 3; i++) {
        double f = fraction[i];
        CHECK(fabs(sum_tag(world, tag[i]).count / 20000.0 - f) < 5.0 * sqrt(f * (1 - f) / 20000.0));
    }
    talus_world_destroy(world);
}

/* Spheres of two species and boxes fill a region without overlap. */
TEST(species_fill_a_region)
{
    TalusWorld *world = build(
        "{'bodies': [{'count': 300, 'fill': {'lo': [0, 0, 0], 'hi': [1, 1, 1]},"
        "  'by': 'number', 'density': 1000, 'species': ["
        "   {'fraction': 0.5, 'radius': {'min': 0.02, 'max': 0.05}},"
        "   {'fraction': 0.25, 'radius': 0.03, 'tag': 1},"
        "   {'fraction': 0.25, 'shape': {'kind': 'box', 'half': [0.03, 0.02, 0.02]}, 'tag': 2}]}]}");
    TalusOverlap worst;
    REQUIRE(world != NULL);
    REQUIRE_OK(talus_world_worst_overlap(world, &worst));
    CHECK(worst.depth == 0.0);
    Sums s[] = {sum_tag(world, 0), sum_tag(world, 1), sum_tag(world, 2)};
    CHECK_INT(s[0].count + s[1].count + s[2].count, 300);
    CHECK(s[1].smallest == 0.03 && s[1].largest == 0.03 && s[1].count > 40);
    CHECK(s[0].smallest >= 0.02 && s[0].largest <= 0.05 && s[0].largest > 0.045);
    talus_world_destroy(world);
}

/* ---- scales ---- */

/* Returns the mass of the only body of a scene with this shape. */
static double mass_of(const char *shape)
{
    char text[600];
    snprintf(text, sizeof text, "{'bodies': [{'at': [0, 0, 0], 'density': 1, 'shape': %s}]}",
             shape);
    TalusWorld *world = build(text);
    double mass = world ? world->bodies.mass[0] : 0.0;
    talus_world_destroy(world);
    return mass;
}

/* A body of scale 2 has 8 times the mass. */
static void check_scale(const char *shape)
{
    char scaled[500];
    const double mass = mass_of(shape);
    snprintf(scaled, sizeof scaled, "%.*s, 'scale': 2}", (int)strlen(shape) - 1, shape);
    CHECK(mass > 0.0);
    CHECK_NEAR(mass_of(scaled) / mass, 8.0, 1e-13);
}

TEST(scales_apply_to_all_shapes)
{
    check_scale("{'kind': 'box', 'half': [1, 2, 3]}");
    check_scale("{'kind': 'ellipsoid', 'half': [1, 2, 3]}");
    check_scale("{'kind': 'cylinder', 'radius': 1, 'half_height': 2}");
    check_scale("{'kind': 'capsule', 'radius': 1, 'half_height': 2}");
    check_scale("{'kind': 'cone', 'radius': 1, 'half_height': 2}");
    check_scale("{'kind': 'rock', 'radius': 1, 'corners': 12}");
    check_scale("{'kind': 'hull', 'points': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}");
    check_scale(
        "{'kind': 'compound', 'parts': [{'shape': {'kind': 'sphere', 'radius': 1}},"
        " {'shape': {'kind': 'box', 'half': [1, 1, 2]}, 'at': [1, 0, 0]},"
        " {'shape': {'kind': 'hull', 'points': [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]},"
        "  'at': [0, 3, 0]}]}");
}

/* Rocks with a distribution of scales have as many forms as it says, and masses that follow it. */
TEST(rocks_of_a_distribution)
{
    TalusWorld *world =
        build("{'bodies': [{'count': 500, 'density': 1000, 'lattice': {'cells': [20, 20, 0]},"
              " 'orientation': 'random', 'shape': {'kind': 'rock', 'radius': 0.01, 'spread': 0,"
              " 'forms': 40, 'scale': {'kind': 'normal', 'mean': 1, 'deviation': 0.2}}}]}");
    REQUIRE(world != NULL);
    CHECK_INT(talus_world_shape_count(world), 40);
    Sums s = sum_tag(world, 0);
    /* the outermost of 40 classes are at quantiles 1/80 and 79/80, 2.236 deviations off */
    CHECK(s.smallest > 0.01 * 0.53 && s.smallest < 0.01 * 0.58);
    CHECK(s.largest > 0.01 * 1.42 && s.largest < 0.01 * 1.6);
    talus_world_destroy(world);
}

/* ---- emitters ---- */

#define RAIN                                                                                \
    "{'materials': {'glass': {'density': 2500}, 'lead': {'density': 11000}}, 'bodies': ["   \
    "  {'shape': {'kind': 'plane'}, 'at': [0, 0, -9]}],"                                    \
    " 'emitters': [{'lo': [0, 0, 0], 'hi': [1, 1, 0.2], 'rate': 20000, 'count': 900,"       \
    "  'tag': 5, 'species': ["                                                              \
    "   {'fraction': 0.75, 'radius': {'kind': 'sieve', 'sieve': [[0.004, 0], [0.006, 0.3]," \
    "     [0.01, 1]]}}, {'fraction': 0.25, 'radius': 0.006, 'material': 'lead', 'tag': 6}]}]}"

TEST(emitted_species)
{
    TalusWorld *world = build(RAIN), *loaded;
    void *bytes;
    size_t size;
    REQUIRE(world != NULL);
    for (int k = 0; k < 2; k++)
        REQUIRE_OK(talus_world_step(world, NULL));
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &loaded));
    for (int k = 0; k < 30; k++) {
        REQUIRE_OK(talus_world_step(world, NULL));
        REQUIRE_OK(talus_world_step(loaded, NULL));
    }
    CHECK(talus_world_hash(world) == talus_world_hash(loaded));
    Sums glass = sum_tag(world, 5), lead = sum_tag(world, 6);
    CHECK_INT(glass.count + lead.count, 900);
    CHECK(glass.smallest >= 0.004 && glass.largest <= 0.01 && glass.largest > 0.009);
    CHECK(lead.smallest == 0.006 && lead.largest == 0.006);
    CHECK_INT(lead.materials[2], lead.count);
    double share = lead.mass / (lead.mass + glass.mass);
    CHECK(fabs(share - 0.25) < 5.0 * sqrt(glass.square) / glass.mass * 0.25);
    talus_world_destroy(world);
    talus_world_destroy(loaded);
    talus_free(bytes);
}

/* ---- the seed ---- */

#define SAMPLE                                                                                 \
    " 'params': {'seed': 4}, 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"        \
    " {'density': 1, 'count': 50, 'radius': {'min': 0.1, 'max': 0.2}, 'seed': '=seed',"        \
    "  'fill': {'lo': [0, 0, 0], 'hi': [4, 4, 4]}},"                                           \
    " {'density': 1, 'at': [6, 0, 3], 'shape': {'kind': 'rock', 'radius': 0.5, 'forms': 2}}]," \
    " 'emitters': [{'lo': [8, 8, 2], 'hi': [9, 9, 3], 'rate': 1000, 'count': 5, 'radius': 0.05}]}"

/* Hash of the world after a step, with this override; of its rock's mass as well. */
static uint64_t hash_of(const char *text, const char *override)
{
    const TalusSceneChoice choice = {.threads = 1};
    TalusScene *scene;
    TalusWorld *world = NULL;
    CHECK_OK(parse_scene_text(text, &override, override ? 1 : 0, &scene));
    CHECK_OK(talus_scene_build(scene, &choice, &world));
    talus_scene_destroy(scene);
    if (!world)
        return 0;
    CHECK_OK(talus_world_step(world, NULL));
    uint64_t hash = talus_world_hash(world);
    hash = talus_hash(hash, &world->bodies.mass[51], sizeof(double));
    talus_world_destroy(world);
    return hash;
}

TEST(a_seed_shifts_every_choice)
{
    const uint64_t plain = hash_of("{" SAMPLE, NULL);
    CHECK(hash_of("{'seed': 0," SAMPLE, NULL) == plain);
    CHECK(hash_of("{" SAMPLE, ".seed=0") == plain);
    const uint64_t one = hash_of("{'seed': 1," SAMPLE, NULL);
    CHECK(one != plain && hash_of("{" SAMPLE, ".seed=1") == one);
    CHECK(hash_of("{" SAMPLE, ".seed=2") != one);
    CHECK(hash_of("{" SAMPLE, "seed=1") != one); /* the parameter, of one entry */
}

/* Positions, rocks and emitted bodies differ each for itself. */
TEST(a_seed_reaches_all_parts)
{
    TalusWorld *a = build("{" SAMPLE), *b = build("{'seed': 9," SAMPLE);
    REQUIRE(a && b);
    REQUIRE_OK(talus_world_step(a, NULL));
    REQUIRE_OK(talus_world_step(b, NULL));
    CHECK(a->bodies.position[1].x != b->bodies.position[1].x);
    CHECK(a->bodies.radius[1] != b->bodies.radius[1]);
    CHECK(a->bodies.mass[51] != b->bodies.mass[51]);
    CHECK(a->bodies.counts.slots > 52 && b->bodies.counts.slots > 52);
    CHECK(a->bodies.position[52].x != b->bodies.position[52].x);
    talus_world_destroy(a);
    talus_world_destroy(b);
}

/* Copies may have seeds of their own: each is then the scene with that seed. */
TEST(copies_with_seeds)
{
    static const char text[] =
        "{'copies': {'count': 3, 'spacing': [10, 10]}, 'seed': '=copy', 'shapes': {'r': {'kind':"
        " 'rock', 'radius': 0.5}}, 'bodies': [{'shape': 'r', 'density': 1, 'at': [0, 0, 1]}]}";
    TalusWorld *all = build(text);
    REQUIRE(all != NULL);
    for (int k = 0; k < 3; k++) {
        char one[400];
        snprintf(one, sizeof one,
                 "{'seed': %d, 'shapes': {'r': {'kind': 'rock', 'radius': 0.5}},"
                 " 'bodies': [{'shape': 'r', 'density': 1, 'at': [0, 0, 1]}]}",
                 k);
        TalusWorld *world = build(one);
        REQUIRE(world != NULL);
        CHECK(world->bodies.mass[0] == all->bodies.mass[k]);
        talus_world_destroy(world);
    }
    CHECK(all->bodies.mass[0] != all->bodies.mass[1]);
    talus_world_destroy(all);
}

/* Each allocation fails in turn: distributions, species, scales, an emitter of species, places left out. */
TEST(memory_failures)
{
    static const char text[] =
        "{'shapes': {'r': {'kind': 'rock', 'radius': 0.05, 'forms': 2, 'scale': {'mean': 1, 'spread': 0.2}}},"
        " 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
        "  {'count': 6, 'density': 1000, 'avoid': true, 'fill': {'lo': [0, 0, 0], 'hi': [1, 1, 1]}, 'species': ["
        "   {'fraction': 0.5, 'radius': {'kind': 'sieve', 'sieve': [[0.02, 0], [0.03, 1]]}},"
        "   {'fraction': 0.5, 'shape': 'r'}]}],"
        " 'emitters': [{'lo': [0, 0, 2], 'hi': [1, 1, 3], 'rate': 9, 'count': 4, 'density': 1, 'species': ["
        "   {'fraction': 0.5, 'radius': {'kind': 'sieve', 'sieve': [[0.02, 0], [0.03, 1]]}},"
        "   {'fraction': 0.5, 'radius': 0.02}]}]}";
    for (int n = 1;; n++) {
        TalusWorld *world = NULL;
        talus_fail_allocation_in(n);
        TalusStatus status = build_scene_text(text, &world);
        talus_fail_allocation_in(0);
        talus_world_destroy(world);
        if (status == TALUS_OK)
            break;
        REQUIRE(status == TALUS_ERR_MEMORY && n < 5000);
    }
}

int main(void)
{
    RUN(species_by_mass);
    RUN(species_by_number);
    RUN(species_fill_a_region);
    RUN(scales_apply_to_all_shapes);
    RUN(rocks_of_a_distribution);
    RUN(emitted_species);
    RUN(a_seed_shifts_every_choice);
    RUN(a_seed_reaches_all_parts);
    RUN(copies_with_seeds);
    RUN(memory_failures);
    return talus_test_result();
}
