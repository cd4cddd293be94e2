/* Scenes that start from an earlier run: what comes along, what is the scene's, which checkpoint. */
#include "io/run/checkpoint.h"
#include "support/ranks.h"
#include "support/scene_text.h"
#include "world/state.h"

#include <inttypes.h>
#include <stdio.h>

#define SETTINGS " 'step': 0.004, 'solver': {'name': 'gs', 'tolerance': 1e-4},"
#define BED                                                                                 \
    "{" SETTINGS " 'materials': {'sand': {'friction': 0.5, 'density': 2000}, 'steel': {}}," \
    " 'shapes': {'wall': {'kind': 'plane'}}, 'bodies': ["                                   \
    "  {'shape': 'wall', 'material': 'steel', 'at': [0, 0, 0]},"                            \
    "  {'radius': {'min': 0.03, 'max': 0.05}, 'count': 200, 'tag': 4,"                      \
    "   'lattice': {'cells': [6, 6, 0], 'jitter': 0.9}},"                                   \
    "  {'shape': {'kind': 'box', 'half': [0.04, 0.03, 0.05]}, 'count': 40,"                 \
    "   'lattice': {'lo': [0, 0, 0.8], 'cells': [5, 5, 0]}}]}"

enum { STEPS = 60 };

/* Makes steps and returns the world's bodies in *state, whose arrays have room for 400. */
static void advance(TalusWorld *world, int steps)
{
    for (int k = 0; k < steps; k++)
        REQUIRE_OK(talus_world_step(world, NULL));
}

/* Writes checkpoints of the bed after STEPS and 2 STEPS steps to `dir`, and returns the world. */
static TalusWorld *make_run(const char *text, const char *dir)
{
    TalusWorld *world = NULL;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    CHECK_INT(system(command), 0);
    CHECK_OK(build_scene_text(text, &world));
    if (!world)
        return NULL;
    for (int k = 0; k < 2; k++) {
        advance(world, STEPS);
        CHECK_OK(talus_checkpoint_write(dir, world, NULL));
    }
    return world;
}

static TalusWorld *start(const char *text)
{
    TalusWorld *world = NULL;
    CHECK_OK(build_scene_text(text, &world));
    return world;
}

/* Number of bodies whose position and velocity have the same bits in both worlds. */
static int count_same(const TalusWorld *a, const TalusWorld *b)
{
    int same = 0;
    for (int i = 0; i < a->bodies.counts.slots && i < b->bodies.counts.slots; i++)
        same += memcmp(&a->bodies.position[i], &b->bodies.position[i], sizeof(TalusVec3)) == 0 &&
                memcmp(&a->bodies.velocity[i], &b->bodies.velocity[i], sizeof(TalusVec3)) == 0;
    return same;
}

/* With the settings of the run, the bits are those of the run that goes on: all impulses have come along. */
TEST(the_same_settings_give_the_same_bits)
{
    TalusWorld *run = make_run(BED, "bed");
    TalusWorld *next = start("{" SETTINGS " 'from': 'bed', 'bodies': []}");
    REQUIRE(run && next);
    CHECK_INT(talus_world_steps(next), 0);
    CHECK(talus_world_time(next) == 0.0);
    CHECK_INT(talus_world_body_count(next), 241);
    CHECK_INT(next->bodies.tag[5], 4);
    CHECK_INT(count_same(run, next), 241);
    advance(run, 30);
    advance(next, 30);
    CHECK_INT(count_same(run, next), 241);
    CHECK(talus_world_time(next) == 30 * 0.004);
    talus_world_destroy(run);
    talus_world_destroy(next);
}

/* Scaled impulses of another step, materials by name, masses as they were. */
TEST(settings_are_those_of_the_scene)
{
    TalusWorld *run = make_run(BED, "bed");
    TalusWorld *next =
        start("{'from': 'bed', 'step': 0.001, 'law': 'ccp', 'gravity': [1, 0, -9], 'sleep': 0.5,"
              " 'solver': {'name': 'apgd', 'tolerance': 1e-3},"
              " 'materials': {'glass': {}, 'sand': {'friction': 0.1, 'density': 9000}},"
              " 'friction': [{'between': ['sand', 'glass'], 'mu': 0.7}], 'bodies': ["
              "  {'radius': 0.1, 'material': 'glass', 'at': [0, 0, 9]}]}");
    REQUIRE(run && next);
    CHECK_INT(talus_world_material_count(next), 4); /* the default, sand, steel, glass */
    CHECK_STR(next->materials.def[1].name, "sand");
    CHECK(next->materials.def[1].friction == 0.1 && next->materials.def[3].friction == 0.3);
    CHECK(next->materials.law[1 * 4 + 3].mu == 0.7);
    CHECK(next->def.step == 0.001 && next->def.friction.law == TALUS_LAW_CCP);
    CHECK(next->def.gravity.x == 1.0 && next->def.sleep_speed == 0.5);
    CHECK(next->bodies.mass[9] == run->bodies.mass[9]);
    CHECK_INT(talus_world_body_count(next), 242);
    CHECK_INT((int)next->bodies.id[241], 242);
    CHECK(next->bodies.material[241] == 3);
    const double made = next->impulse_step;
    CHECK(made == 0.004); /* the next step scales its impulses by 0.001 / 0.004 */
    advance(next, 20);
    talus_world_destroy(run);
    talus_world_destroy(next);
}

TEST(fixed_bodies_may_stay_behind)
{
    TalusWorld *run = make_run(BED, "bed");
    TalusWorld *next =
        start("{" SETTINGS
              " 'from': {'run': 'bed', 'fixed': false}, 'shapes': {'wall': {'kind': 'plane'}},"
              " 'bodies': [{'shape': 'wall', 'at': [0, 0, 0]}]}");
    REQUIRE(run && next);
    CHECK_INT(talus_world_body_count(next), 241);
    int fixed = 0;
    for (int i = 0; i < next->bodies.counts.slots; i++)
        fixed += next->bodies.shape[i] >= 0 && next->bodies.mobility[i] == TALUS_MOBILITY_FIXED;
    CHECK_INT(fixed, 1);
    advance(next, 20);
    talus_world_destroy(run);
    talus_world_destroy(next);
}

/* ---- what stays behind ---- */

static char told[1000];

static void note(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user, (void)level;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s: %s\n", id, text);
}

TEST(joints_drives_and_sources_stay_behind)
{
    static const char machine[] =
        "{'step': 0.004, 'sleep': 0.5, 'shapes': {'brick': {'kind': 'box', 'half': [0.1, 0.1, 0.1]}},"
        " 'bodies': [{'shape': {'kind': 'plane'}, 'at': [0, 0, 0]},"
        "  {'name': 'bob', 'shape': 'brick', 'at': [0, 0, 1], 'density': 1000},"
        "  {'shape': 'brick', 'at': [1, 0, 0.5], 'drive': {'velocity': [0.1, 0, 0]}},"
        "  {'shape': 'brick', 'at': [2, 0, 0.5], 'density': 1000, 'group': 'g', 'force': [0, 1, 0]},"
        "  {'shape': 'brick', 'at': [2, 0, 0.45], 'density': 1000, 'group': 'g'},"
        "  {'radius': 0.1, 'at': [4, 0, 0.1], 'density': 1000},"
        "  {'radius': 0.1, 'at': [3, 0, 5], 'density': 1000, 'time': 99}],"
        " 'apart': [{'between': ['g', 'g']}], 'probes': [{'name': 'bob', 'body': 'bob'}],"
        " 'joints': [{'type': 'ball', 'bodies': ['bob'], 'at': [0, 0, 2]}], 'max_overlap': 3,"
        " 'sinks': [{'below': -1}],"
        " 'emitters': [{'lo': [8, 8, 8], 'hi': [9, 9, 9], 'rate': 1e-9, 'count': 1, 'radius': 0.1}]}";
    TalusWorld *run = make_run(machine, "machine");
    told[0] = '\0';
    talus_set_log(note, NULL);
    TalusWorld *next = start("{'step': 0.004, 'from': 'machine', 'max_overlap': 3, 'bodies': []}");
    talus_set_log(NULL, NULL);
    REQUIRE(run && next);
    CHECK(strstr(told, "start.joints: 1 joint of the earlier state stays behind") != NULL);
    CHECK(strstr(told, "start.drives: 1 driven body of the earlier state is fixed") != NULL);
    CHECK(run->sleep.asleep > 0);
    CHECK(next->sleep.asleep == 0 && next->def.sleep_speed == 0.0);
    CHECK(next->joints.count == 0 && next->drives == 0 && next->probes == 0);
    CHECK(next->sources.emitters == 0 && next->sources.pendings == 0 && next->sources.sinks == 0);
    CHECK(!next->filters.groups_apart && next->bodies.group[3] == 0 && next->forces.count == 0);
    CHECK_INT(next->bodies.mobility[2], TALUS_MOBILITY_FIXED);
    CHECK(next->bodies.velocity[2].x == 0.0 && run->bodies.velocity[2].x != 0.0);
    const TalusVec3 x = next->bodies.position[2];
    advance(next, 10);
    CHECK(memcmp(&x, &next->bodies.position[2], sizeof x) == 0);
    talus_world_destroy(run);
    talus_world_destroy(next);
}

/* ---- which checkpoint ---- */

/* Checks that a scene that starts from `from` has the bed after so many steps. */
static void check_start(const char *from, double height)
{
    char text[300];
    snprintf(text, sizeof text, "{'from': %s, 'bodies': []}", from);
    TalusWorld *world = start(text);
    REQUIRE(world != NULL);
    CHECK(world->bodies.position[40].z == height);
    talus_world_destroy(world);
}

TEST(the_newest_checkpoint_at_or_before_a_time)
{
    TalusWorld *run = make_run(BED, "bed"), *early, *world;
    double late = run->bodies.position[40].z;
    REQUIRE_OK(build_scene_text(BED, &early));
    advance(early, STEPS);
    double soon = early->bodies.position[40].z;
    CHECK(soon != late);
    check_start("'bed'", late);
    check_start("'bed@0.48'", late);
    check_start("'bed@100'", late);
    check_start("'bed@0.4799'", soon);
    check_start("'bed@0.24'", soon);
    check_start("{'run': 'bed', 'time': 0.3}", soon);
    CHECK_INT(build_scene_text("{'from': 'bed@0.2', 'bodies': []}", &world), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(),
                 "from: bed: no checkpoint at or before t = 0.2 s; there is t = 0.24 s "
                 "and t = 0.48 s") != NULL);
    CHECK_INT(build_scene_text("{'from': 'nowhere', 'bodies': []}", &world), TALUS_ERR_IO);
    CHECK(strstr(talus_error(), "from: nowhere: there is no such directory") != NULL);
    talus_world_destroy(run);
    talus_world_destroy(early);
}

/* An overlap of a new body with one of the run names the run. */
TEST(new_bodies_that_overlap_are_refused)
{
    TalusWorld *run = make_run(BED, "bed"), *world;
    CHECK_INT(build_scene_text("{'from': 'bed', 'bodies': [{'radius': 0.05, 'density': 2000,"
                               " 'at': [0.3, 0.3, 0.05]}]}",
                               &world),
              TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), " of the earlier run by ") != NULL ||
          strstr(talus_error(), "from: sphere") != NULL);
    talus_world_destroy(run);
}

/* ---- ranks ---- */

typedef struct RanksCase {
    const char *text;
    uint64_t hash;
} RanksCase;

static TalusStatus run_rank(TalusComm *comm, void *context)
{
    RanksCase *c = context;
    const TalusSceneChoice choice = {.threads = 1, .solver = "apgd", .comm = comm};
    TalusScene *scene;
    TalusWorld *world = NULL;
    TalusStatus status = parse_scene_text(c->text, NULL, 0, &scene);
    if (status != TALUS_OK)
        return status;
    status = talus_scene_build(scene, &choice, &world);
    talus_scene_destroy(scene);
    for (int k = 0; status == TALUS_OK && k < 12; k++)
        status = talus_world_step(world, NULL);
    const uint64_t hash = status == TALUS_OK ? talus_world_hash(world) : 0;
    if (talus_comm_rank(comm) == 0)
        c->hash = hash;
    talus_world_destroy(world);
    return status;
}

static void check_ranks(const char *text)
{
    RanksCase one = {.text = text}, three = {.text = text};
    CHECK_OK(talus_ranks_run(1, run_rank, &one));
    CHECK_OK(talus_ranks_run(3, run_rank, &three));
    CHECK(one.hash != 0 && one.hash == three.hash);
}

TEST(ranks_start_with_the_same_bits_thread)
{
    TalusWorld *run = make_run(BED, "bed");
    check_ranks("{" SETTINGS
                " 'from': 'bed', 'bodies': [{'radius': 0.02, 'density': 2000, 'count': 900,"
                " 'lattice': {'lo': [0, 0, 1.5], 'cells': [9, 9, 0], 'jitter': 0.5}}]}");
    check_ranks("{" SETTINGS
                " 'from': {'run': 'bed', 'fixed': false}, 'bodies': [{'shape': {'kind':"
                " 'plane'}, 'at': [0, 0, 0]}]}");
    talus_world_destroy(run);
}

int main(void)
{
    RUN(the_same_settings_give_the_same_bits);
    RUN(settings_are_those_of_the_scene);
    RUN(fixed_bodies_may_stay_behind);
    RUN(joints_drives_and_sources_stay_behind);
    RUN(the_newest_checkpoint_at_or_before_a_time);
    RUN(new_bodies_that_overlap_are_refused);
    RUN(ranks_start_with_the_same_bits_thread);
    return talus_test_result();
}
