/* Entries with `avoid`: places beside bodies that are there, on any number of ranks. */
#include "support/ranks.h"
#include "support/scene_text.h"
#include "world/state.h"

#include <stdio.h>

#define OBSTACLES                                                                             \
    "{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"                                          \
    "{'shape': {'kind': 'box', 'half': [0.3, 0.2, 0.25]}, 'fixed': true, 'at': [0, 0, 0.3]}," \
    "{'radius': 0.2, 'density': 1000, 'at': [[0.5, 0.5, 0.6], [-0.6, 0.5, 0.3]]},"
#define FILL \
    " 'fill': {'lo': [-0.8, -0.8, -0.3], 'hi': [0.8, 0.8, 1.2]}, 'density': 1000, 'avoid': true"

static char told[2000];

static void note(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user, (void)level;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s: %s\n", id, text);
}

/* Builds the scene and stores what is logged in `told`. */
static TalusWorld *build(const char *text)
{
    TalusWorld *world = NULL;
    told[0] = '\0';
    talus_set_log(note, NULL);
    CHECK_OK(build_scene_text(text, &world));
    talus_set_log(NULL, NULL);
    return world;
}

static double worst_depth(TalusWorld *world)
{
    TalusOverlap worst = {.depth = 1.0};
    CHECK_OK(talus_world_worst_overlap(world, &worst));
    return worst.depth;
}

TEST(fills_go_around_what_is_there)
{
    TalusWorld *world = build("{'bodies': [" OBSTACLES
                              "{'count': 250, 'radius': {'mean': 0.04, 'spread': 0.5}," FILL "}]}");
    REQUIRE(world != NULL);
    CHECK_INT(talus_world_body_count(world), 254);
    CHECK(worst_depth(world) == 0.0);
    int low = 0;
    for (int i = 4; i < 254; i++) { /* all in the region, some beside the box */
        const TalusVec3 x = world->bodies.position[i];
        const double r = world->bodies.radius[i];
        CHECK(x.x - r >= -0.8 && x.x + r <= 0.8 && x.z - r >= 0.0 && x.z + r <= 1.2);
        low += x.z < 0.5;
    }
    CHECK(low > 30);
    talus_world_destroy(world);
    /* without the key the same places overlap, and the scene is refused */
    CHECK_INT(
        build_scene_text("{'bodies': [" OBSTACLES
                         "{'count': 250, 'radius': {'mean': 0.04, 'spread': 0.5}, 'density': 1000,"
                         " 'fill': {'lo': [-0.8, -0.8, -0.3], 'hi': [0.8, 0.8, 1.2]}}]}",
                         &world),
        TALUS_ERR_FORMAT);
}

/* Bodies of other shapes count with the balls around them, turned as they may be. */
TEST(shapes_go_around_what_is_there)
{
    TalusWorld *world = build("{'bodies': [" OBSTACLES
                              "{'count': 60, 'orientation': 'random', 'shape': {'kind': 'rock',"
                              " 'radius': 0.07, 'forms': 5}," FILL "}]}");
    REQUIRE(world != NULL);
    CHECK_INT(talus_world_body_count(world), 64);
    CHECK(worst_depth(world) == 0.0);
    talus_world_destroy(world);
}

#define GRID \
    " 'density': 1000, 'lattice': {'lo': [-0.8, -0.8, 0], 'cells': [16, 16, 8], 'spacing': 0.1}}]}"

/* Of a lattice the free places stay as they were, in order. */
TEST(lattices_leave_out_places)
{
    TalusWorld *all = build("{'bodies': [{'radius': 0.05," GRID);
    TalusWorld *some = build("{'bodies': [" OBSTACLES "{'radius': 0.05, 'avoid': true," GRID);
    REQUIRE(all && some);
    const int left = (int)talus_world_body_count(some) - 4;
    CHECK(left > 1200 && left < 2048);
    CHECK(worst_depth(some) < 1e-12);
    char words[120];
    snprintf(
        words, sizeof words,
        "scene.avoid: bodies[3]: %d of 2048 places overlap bodies that are there, and are left out",
        2048 - left);
    CHECK(strstr(told, words) != NULL);
    int next = 0;
    for (int i = 0; i < left; i++) {
        const TalusVec3 *x = &some->bodies.position[4 + i];
        while (next < 2048 && memcmp(&all->bodies.position[next], x, sizeof *x) != 0)
            next++;
    }
    CHECK(next < 2048);
    talus_world_destroy(all);
    talus_world_destroy(some);
}

/* Across the border of a period, and in copies each beside its own bodies. */
TEST(periods_and_copies)
{
    TalusWorld *world = build("{'period': {'x': [0, 2]}, 'gravity': [0, 0, -1], 'bodies': ["
                              "{'radius': 0.45, 'density': 1000, 'at': [0, 0.5, 0.5]},"
                              "{'count': 60, 'radius': 0.08, 'density': 1000, 'avoid': true,"
                              "  'fill': {'lo': [0.1, 0, 0], 'hi': [1.9, 1, 1]}}]}");
    REQUIRE(world != NULL);
    CHECK(worst_depth(world) == 0.0);
    talus_world_destroy(world);
    world = build("{'copies': 3, 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
                  "{'radius': 0.3, 'density': 1000, 'at': ['=0.2*copy', 0, 0.3]},"
                  "{'count': 50, 'radius': 0.08, 'density': 1000, 'avoid': true,"
                  "  'fill': {'lo': [-0.5, -0.5, 0], 'hi': [0.9, 0.5, 1]}}]}");
    REQUIRE(world != NULL);
    CHECK_INT(talus_world_body_count(world), 3 * 52);
    CHECK(worst_depth(world) == 0.0);
    talus_world_destroy(world);
}

TEST(no_room)
{
    TalusWorld *world;
    CHECK_INT(build_scene_text("{'bodies': [{'radius': 1, 'density': 1, 'at': [0, 0, 0]},"
                               "{'radius': 0.1, 'density': 1, 'avoid': true, 'count': 5,"
                               "  'fill': {'lo': [-0.3, -0.3, -0.3], 'hi': [0.3, 0.3, 0.3]}}]}",
                               &world),
              TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(),
                 "bodies[1].fill: 0 of 5 bodies fitted beside the bodies that are there, "
                 "which reach up to z = 1 here: place them above") != NULL);
    CHECK_INT(build_scene_text("{'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
                               "{'radius': 0.1, 'density': 1, 'avoid': true,"
                               "  'layers': {'bottom': [0, 0, -3], 'radius': 1, 'repeat': 2}}]}",
                               &world),
              TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "bodies fitted beside the bodies that are there: use fewer") !=
          NULL);
}

/* ---- ranks ---- */

typedef struct RanksCase {
    const char *text;
    uint64_t hash;
} RanksCase;

static TalusStatus run_rank(TalusComm *comm, void *context)
{
    RanksCase *c = context;
    const TalusSceneChoice choice = {.threads = 1, .comm = comm};
    TalusScene *scene;
    TalusWorld *world = NULL;
    TalusStatus status = parse_scene_text(c->text, NULL, 0, &scene);
    if (status != TALUS_OK)
        return status;
    status = talus_scene_build(scene, &choice, &world);
    talus_scene_destroy(scene);
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (talus_comm_rank(comm) == 0)
        c->hash = hash;
    talus_world_destroy(world);
    return status;
}

TEST(ranks_place_the_same_bodies_thread)
{
    static const char text[] =
        "{'bodies': [" OBSTACLES "{'radius': 0.03, 'density': 1000, 'count': 900, 'avoid': true,"
        " 'lattice': {'lo': [-0.8, -0.8, 0], 'cells': [16, 16, 0], 'spacing': 0.1, 'jitter': 1}},"
        "{'count': 60, 'radius': {'mean': 0.04, 'spread': 0.5}," FILL "}]}";
    RanksCase one = {.text = text}, three = {.text = text};
    CHECK_OK(talus_ranks_run(1, run_rank, &one));
    CHECK_OK(talus_ranks_run(3, run_rank, &three));
    CHECK(one.hash != 0 && one.hash == three.hash);
}

int main(void)
{
    RUN(fills_go_around_what_is_there);
    RUN(shapes_go_around_what_is_there);
    RUN(lattices_leave_out_places);
    RUN(periods_and_copies);
    RUN(no_room);
    RUN(ranks_place_the_same_bodies_thread);
    return talus_test_result();
}
