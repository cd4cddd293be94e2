/* Relative compliance of contacts on the cpu, and what is said of values that make no sense. */
#include "compliance_cases.h"

#include <talus/io.h>

/* ---- values ---- */

static void expect_refused(double compliance, double overlap, const char *key, const char *text)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    def.compliance = compliance;
    def.elastic_overlap = overlap;
    CHECK_INT(talus_world_create(&def, &world), TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error_record()->key, key);
    if (!CHECK(strstr(talus_error(), text) != NULL))
        printf("    %s\n", talus_error());
}

TEST(bad_values_are_refused)
{
    const char *softness =
        "expected TALUS_COMPLIANCE_AUTO, 0 (rigid) or more, such as 1e-3, over the contact's "
        "inverse mass";
    const char *overlap = "expected a fraction of the body size, more than 0 and at most 0.5; "
                          "compliance 0 makes contacts rigid";
    expect_refused(-1e-3, 0.01, "compliance", softness);
    expect_refused(NAN, 0.01, "compliance", softness);
    expect_refused(INFINITY, 0.01, "compliance", softness);
    expect_refused(0.0, 0.0, "elastic_overlap", overlap);
    expect_refused(1e-3, -0.1, "elastic_overlap", overlap);
    expect_refused(1e-3, NAN, "elastic_overlap", overlap);
    expect_refused(1e-3, 0.51, "elastic_overlap", overlap);
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.elastic_overlap = TALUS_ELASTIC_OVERLAP_MAX;
    CHECK_OK(talus_world_create(&def, &world));
    talus_world_destroy(world);
}

/* The same by a scene's keys; the message names file, line and key. */
TEST(scenes_with_bad_values_are_refused)
{
    static const struct {
        const char *set, *text;
    } bad[] = {
        {"compliance=-1", "expected a number of at least 0, found -1"},
        {"elastic_overlap=0", "expected a number above 0, at most 0.5, found 0"},
        {"elastic_overlap=0.6", "expected a number above 0, at most 0.5, found 0.6"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        TalusScene *scene = NULL;
        TalusWorld *world = NULL;
        TalusSceneChoice choice = {.threads = 1};
        const char *sets[] = {bad[i].set};
        char path[1024];
        snprintf(path, sizeof path, "%s/box-stack.json", TALUS_SCENE_DIR);
        TalusStatus status = talus_scene_load(path, sets, 1, &scene);
        if (status == TALUS_OK)
            status = talus_scene_build(scene, &choice, &world);
        CHECK(status != TALUS_OK);
        if (!CHECK(strstr(talus_error(), bad[i].text) != NULL))
            printf("    %s\n", talus_error());
        talus_world_destroy(world);
        talus_scene_destroy(scene);
    }
}

/* ---- too much of it ---- */

typedef struct Heard {
    int count;
    char text[512];
} Heard;

static void hear(void *user, TalusLogLevel level, const char *id, const char *text)
{
    Heard *heard = user;
    if (strcmp(id, "step.soft") != 0)
        return;
    CHECK_INT(level, TALUS_LOG_WARNING);
    heard->count++;
    snprintf(heard->text, sizeof heard->text, "%s", text);
}

/* A ball of radius 0.1 m at rest; under its weight it would sink by compliance g h^2, at most 2e-3 m. */
static Heard listen(double h, double compliance, double stiffness)
{
    Heard heard = {0};
    TalusWorldDef def = soft_def(h, compliance);
    TalusMaterialDef stiff = talus_material_def_default();
    TalusBodyBatch batch = talus_body_batch_default();
    TalusShapeDef ball = sphere(0.1);
    TalusVec3 x = {0.0, 0.0, 0.1};
    stiff.stiffness = stiffness;
    def.tolerance = 1e-3; /* the default is then softest, 0.01 */
    TalusWorld *world = make_world(&def, NULL);
    talus_world_set_log(world, hear, &heard);
    add_floor(world);
    CHECK_OK(talus_world_add_material(world, &stiff, &batch.material));
    CHECK_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = 1;
    batch.position = &x;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    for (int i = 0; i < 5; i++)
        CHECK_OK(talus_world_step(world, NULL));
    talus_world_destroy(world);
    return heard;
}

TEST(a_limit_that_dominates_is_said_once)
{
    Heard soft = listen(0.01, 1.5, 0.0); /* 1.47e-3 m */
    CHECK_INT(soft.count, 1);
    CHECK_STR(soft.text, "step 1: compliance 1.5 is more than elastic_overlap 0.02 allows: its own "
                         "weight would press a body of size 0.1 m in by 0.0015 m, and the limit "
                         "is 0.002 m, so contacts are stiffer than asked; expected a compliance of "
                         "at most 0.2, or shorter steps (said once)");
    CHECK_INT(listen(0.01, 0.2, 0.0).count, 0);  /* what it said */
    CHECK_INT(listen(0.003, 1.5, 0.0).count, 0); /* a shorter step */
    CHECK_INT(listen(0.01, 0.0, 0.0).count, 0);
    CHECK_INT(listen(0.01, 1.5, 1e5).count, 0); /* the material's stiffness counts instead */
    /* steps of 0.5 s: 0.025 m by the default too, but nobody asked for that */
    CHECK_INT(listen(0.5, 0.01, 0.0).count, 1);
    CHECK_INT(listen(0.5, TALUS_COMPLIANCE_AUTO, 0.0).count, 0);
}

int main(void)
{
    run_compliance_cases();
    RUN(bad_values_are_refused);
    RUN(scenes_with_bad_values_are_refused);
    RUN(a_limit_that_dominates_is_said_once);
    return talus_test_result();
}
