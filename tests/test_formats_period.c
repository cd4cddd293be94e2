/* Periods of a world in what is written of it: frames.talus, files for other programs, and the way from one to the
 * other. */
#include "support/test.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/formats/formats.h"
#include "io/frames/frames.h"

#include <stdio.h>
#include <string.h>

static const double lo = -0.25, hi = 0.75;

/* Two columns of spheres pressed onto a floor, and a pair squeezed across the side of x: contacts all of them. z repeats itself
 * in no world with a floor. */
static TalusWorld *make_world(bool periodic)
{
    TalusWorldDef def = talus_world_def_default();
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE},
                  sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.05};
    TalusVec3 at[] = {{-0.2, 0.5, 0.0499}, {0.71, 0.5, 0.0499}, {0.25, 0.02, 0.0499}};
    TalusBodyBatch floor = talus_body_batch_default(), balls = talus_body_batch_default();
    TalusWorld *world = NULL;
    def.threads = 1;
    def.step = 1.0 / 128.0;
    if (periodic)
        def.period = (TalusPeriod){{lo, 0, 0}, {hi, 1, 0}, {1, 1, 0}, 0.0};
    CHECK_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_add_shape(world, &plane, &floor.shape));
    CHECK_OK(talus_world_add_shape(world, &sphere, &balls.shape));
    floor.fixed = true;
    floor.count = 1;
    floor.position = &(TalusVec3){0, 0, 0};
    balls.count = 3;
    balls.position = at;
    TalusVec3 towards[] = {{-0.5, 0, 0}, {0.5, 0, 0}, {0, 0, 0}};
    balls.velocity = towards;
    CHECK_OK(talus_world_add_bodies(world, &floor, NULL));
    CHECK_OK(talus_world_add_bodies(world, &balls, NULL));
    CHECK_OK(talus_world_step(world, NULL));
    return world;
}

static char *read_text(const char *path)
{
    char *text = "";
    size_t size;
    CHECK_OK(talus_read_file(path, 1 << 24, &text, &size));
    return text;
}

static void check_text(const char *path, const char *part, bool there)
{
    char *text = read_text(path);
    if ((strstr(text, part) != NULL) != there)
        printf("%s:\n%.2000s\n", path, text);
    CHECK((strstr(text, part) != NULL) == there);
    talus_release(text);
}

static void write_as(const char *format, const char *dir, const TalusFramesHead *head,
                     const TalusSnapshot *snapshot)
{
    TalusFormatWriter *writer = NULL;
    REQUIRE_OK(talus_format_open(format, dir, false, 0.0, &writer));
    CHECK_OK(talus_format_add_frame(writer, head, snapshot));
    CHECK_OK(talus_format_close(writer));
}

static void check_files(const char *dir, bool periodic)
{
    char path[64];
    snprintf(path, sizeof path, "%s/bodies.dump", dir);
    check_text(path, "ITEM: BOX BOUNDS pp pp ff\n-0.25 0.75\n0 1\n", periodic);
    check_text(path, "ITEM: BOX BOUNDS ff ff ff\n", !periodic);
    for (int k = 0; k < 3; k++) {
        static const char *const names[] = {"bodies", "chains", "walls"};
        snprintf(path, sizeof path, "%s/frames/%s-000000.vtp", dir, names[k]);
        check_text(path,
                   "Name=\"period_lo\" NumberOfComponents=\"3\" NumberOfTuples=\"1\" "
                   "format=\"ascii\">-0.25 0 0</DataArray>",
                   periodic);
        check_text(path, "format=\"ascii\">0.75 1 0</DataArray>", periodic);
    }
    snprintf(path, sizeof path, "%s/frames.csv", dir);
    check_text(path, ",-0.25,0,,0.75,1,\n", periodic);
    check_text(path, ",,,,,,\n", !periodic);
}

/* From a world, and from a file of its frames. */
TEST(files_for_other_programs_tell_the_period)
{
    for (int periodic = 0; periodic < 2; periodic++) {
        TalusWorld *world = make_world(periodic);
        TalusHeadStore store = {0};
        TalusSnapshot s = {0};
        TalusFramesWriter *writer;
        TalusFrames *frames;
        static const char *const formats[] = {"lammps", "vtp", "csv"};
        CHECK_OK(talus_frames_head_of_world(world, NULL, NULL, &store));
        CHECK_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_ALL));
        for (int k = 0; k < 3; k++)
            write_as(formats[k], "world", &store.head, &s);
        check_files("world", periodic);
        REQUIRE_OK(talus_frames_create("frames.talus", NULL, &writer));
        CHECK_OK(talus_frames_add(writer, world));
        CHECK_OK(talus_frames_finish(writer));
        REQUIRE_OK(talus_frames_open("frames.talus", &frames));
        CHECK_OK(talus_frames_read(frames, 0, &s));
        const TalusFramesHead *head = talus_frames_head(frames, 0);
        REQUIRE(head != NULL);
        CHECK_INT(head->period.on[0], periodic);
        CHECK_INT(head->period.on[2], 0);
        CHECK(!periodic || (head->period.lo.x == lo && head->period.hi.x == hi));
        CHECK(talus_frames_heads_equal(head, &store.head));
        for (int k = 0; k < 3; k++)
            write_as(formats[k], "frames", head, &s);
        check_files("frames", periodic);
        talus_frames_close(frames);
        talus_frames_head_clear(&store);
        talus_snapshot_free(&s);
        talus_world_destroy(world);
    }
}

/* A chain goes from a body to the nearest image of the other, and not all the way back. */
TEST(chains_cross_the_side)
{
    TalusWorld *world = make_world(true);
    TalusFramesWriter *writer;
    TalusFrames *frames;
    TalusSnapshot s = {0};
    int across = 0;
    REQUIRE_OK(talus_frames_create("chains.talus", NULL, &writer));
    CHECK_OK(talus_frames_add(writer, world));
    CHECK_OK(talus_frames_finish(writer));
    REQUIRE_OK(talus_frames_open("chains.talus", &frames));
    CHECK_OK(talus_frames_read(frames, 0, &s));
    for (int i = 0; i < s.contact_count; i++) {
        TalusVec3 arm = talus_sub(s.contact[i].point, s.position[s.contact_a[i]]);
        across += !s.fixed[s.contact_b[i]];
        CHECK(talus_norm(arm) < 0.06);
    }
    CHECK(across > 0);
    talus_frames_close(frames);
    talus_snapshot_free(&s);
    talus_world_destroy(world);
}

/* Another period is another head; so is none. */
TEST(heads_differ_by_their_periods)
{
    TalusWorld *world[2] = {make_world(false), make_world(true)};
    TalusHeadStore a = {0}, b = {0};
    CHECK_OK(talus_frames_head_of_world(world[0], NULL, NULL, &a));
    CHECK_OK(talus_frames_head_of_world(world[1], NULL, NULL, &b));
    CHECK(!talus_frames_heads_equal(&a.head, &b.head));
    a.head.period = b.head.period;
    CHECK(talus_frames_heads_equal(&a.head, &b.head));
    a.head.period.hi.z = 5.0; /* along which it is off */
    CHECK(talus_frames_heads_equal(&a.head, &b.head));
    a.head.period.hi.y = 5.0;
    CHECK(!talus_frames_heads_equal(&a.head, &b.head));
    talus_frames_head_clear(&a);
    talus_frames_head_clear(&b);
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
}

static TalusStatus read_head(const char *period)
{
    char text[512];
    TalusHeadStore store = {0};
    snprintf(
        text, sizeof text,
        "{\"title\": \"\", \"scene\": \"\", \"gravity\": [0, 0, -9], \"step\": 0.01, \"radius\": 1, "
        "\"quantum\": 0.01, \"origin\": [0, 0, 0], \"floor\": null, \"detail\": \"full\", %s"
        "\"shapes\": [], \"materials\": []}",
        period);
    TalusStatus status = talus_frames_head_read(text, strlen(text), "head", &store);
    talus_frames_head_clear(&store);
    return status;
}

TEST(periods_that_cannot_be_are_refused)
{
    CHECK_OK(read_head(""));
    CHECK_OK(read_head("\"period\": {}, "));
    CHECK_OK(read_head("\"period\": {\"x\": [-1, 1]}, "));
    CHECK_INT(read_head("\"period\": [], "), TALUS_ERR_FORMAT);
    CHECK_INT(read_head("\"period\": {\"x\": 1}, "), TALUS_ERR_FORMAT);
    CHECK_INT(read_head("\"period\": {\"x\": [1]}, "), TALUS_ERR_FORMAT);
    CHECK_INT(read_head("\"period\": {\"y\": [1, 1]}, "), TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "is from 1 to 1; expected from a smaller number"));
    CHECK_INT(read_head("\"period\": {\"z\": [2, 1]}, "), TALUS_ERR_FORMAT);
    CHECK_INT(read_head("\"period\": {\"z\": [-1e200, 1]}, "), TALUS_ERR_FORMAT);
    CHECK_INT(read_head("\"period\": {\"z\": [0, \"a\"]}, "), TALUS_ERR_FORMAT);
}

int main(void)
{
    RUN(files_for_other_programs_tell_the_period);
    RUN(chains_cross_the_side);
    RUN(heads_differ_by_their_periods);
    RUN(periods_that_cannot_be_are_refused);
    return talus_test_result();
}
