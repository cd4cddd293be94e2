/* Frames are read back by an independent decoder; tables and frames are cut and continued. */
#include "support/test.h"

#include "base/memory.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/vtp.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <talus/io.h>

enum { GRAINS = 7 };

/* Grains at odd places above a plane, within a wall, with one probe on the plane. */
static TalusWorld *make_world(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.threads = 1;
    def.step = 1.0 / 128.0;
    CHECK_OK(talus_world_create(&def, &world));
    TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.25};
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    static const double wall_profile[] = {30.0, -1.0, 30.0, 1.0};
    TalusShapeDef wall = {.kind = TALUS_SHAPE_REVOLVE, .profile = wall_profile, .point_count = 2};
    int sphere_index, plane_index, wall_index;
    CHECK_OK(talus_world_add_shape(world, &sphere, &sphere_index));
    CHECK_OK(talus_world_add_shape(world, &plane, &plane_index));
    CHECK_OK(talus_world_add_shape(world, &wall, &wall_index));
    TalusVec3 at[GRAINS], origin = {0.0, 0.0, 0.0};
    for (int i = 0; i < GRAINS; i++)
        at[i] = talus_vec3(0.6 * i, 0.1 / (i + 1), 0.3 + 0.01 * i);
    TalusBodyBatch batch = talus_body_batch_default();
    TalusBodyId floor;
    batch.count = 1;
    batch.shape = plane_index;
    batch.fixed = true;
    batch.position = &origin;
    CHECK_OK(talus_world_add_bodies(world, &batch, &floor));
    batch.shape = wall_index;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    batch.count = GRAINS;
    batch.shape = sphere_index;
    batch.fixed = false;
    batch.position = at;
    batch.tag = 42;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    TalusProbeDef probe = {.name = "floor", .kind = TALUS_PROBE_BODY, .body = floor};
    CHECK_OK(talus_world_add_probe(world, &probe, NULL));
    return world;
}

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size;
    CHECK_OK(talus_read_file(path, 1 << 24, &text, &size));
    return text;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- frames ---- */

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *p = c ? strchr(digits, c) : NULL;
    return p ? (int)(p - digits) : -1;
}

/* Decodes up to the first character that is not base64; returns the number of bytes. */
static size_t decode(const char *text, unsigned char *out, size_t room)
{
    size_t n = 0;
    uint32_t bits = 0;
    int held = 0;
    for (; digit(*text) >= 0 && n < room; text++) {
        bits = bits << 6 | (uint32_t)digit(*text);
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[n++] = (unsigned char)(bits >> held);
        }
    }
    return n;
}

/* The bytes of the array `name` of type `type`, without the leading count; 0 if it is wrong. */
static size_t array_bytes(const char *vtp, const char *type, const char *name, void *out,
                          size_t room)
{
    char mark[128];
    unsigned char bytes[4096];
    uint64_t announced;
    snprintf(mark, sizeof mark, "type=\"%s\" Name=\"%s\"", type, name);
    const char *p = strstr(vtp, mark);
    p = p ? strchr(p, '\n') : NULL;
    if (!p)
        return 0;
    size_t n = decode(p + 1, bytes, sizeof bytes);
    memcpy(&announced, bytes, sizeof announced);
    if (n != announced + sizeof announced || announced > room)
        return 0;
    memcpy(out, bytes + sizeof announced, announced);
    return announced;
}

TEST(frame_holds_the_bodies)
{
    TalusWorld *world = make_world();
    TalusVec3 at[GRAINS + 2], read[GRAINS];
    TalusBodyState state = {.position = at};
    float radius[GRAINS], orientation[4 * GRAINS];
    int32_t tag[GRAINS], offsets[GRAINS];
    int64_t id[GRAINS];
    REQUIRE_OK(talus_world_step(world, NULL));
    talus_world_get_state(world, &state);
    REQUIRE_OK(talus_vtp_write("frame.vtp", world));
    char *text = read_text("frame.vtp");
    CHECK(strstr(text, "<Piece NumberOfPoints=\"7\" NumberOfVerts=\"7\" ") != NULL);
    CHECK(strstr(text, "header_type=\"UInt64\"") != NULL);
    CHECK(strstr(text, "appended") == NULL && strstr(text, "compressor") == NULL);
    CHECK_INT(array_bytes(text, "Float64", "Points", read, sizeof read), sizeof read);
    CHECK(memcmp(read, at + 2, sizeof read) == 0); /* plane and wall came first and are left out */
    CHECK_INT(array_bytes(text, "Float32", "radius", radius, sizeof radius), sizeof radius);
    CHECK_INT(array_bytes(text, "Float32", "orientation", orientation, sizeof orientation),
              sizeof orientation);
    CHECK_INT(array_bytes(text, "Int32", "tag", tag, sizeof tag), sizeof tag);
    CHECK_INT(array_bytes(text, "Int32", "offsets", offsets, sizeof offsets), sizeof offsets);
    CHECK_INT(array_bytes(text, "Int64", "body_id", id, sizeof id), sizeof id);
    for (int i = 0; i < GRAINS; i++) {
        CHECK(radius[i] == 0.25F && orientation[4 * i] == 1.0F);
        CHECK(tag[i] == 42 && offsets[i] == i + 1 && id[i] == i + 2);
    }
    talus_release(text);
    talus_world_destroy(world);
}

/* ---- directories ---- */

static void run_steps(TalusOutput *output, TalusWorld *world, int count)
{
    for (int i = 0; i < count; i++) {
        TalusStepInfo info;
        CHECK_OK(talus_world_step(world, &info));
        CHECK_OK(talus_output_step(output, world, &info));
        if (info.step % 4 == 0)
            CHECK_OK(talus_output_frame(output, world));
    }
}

/* The columns of measured seconds are the last four; they are cut off. */
static void drop_seconds(char *table)
{
    char *to = table;
    for (char *line = table, *next; *line; line = next) {
        next = strchr(line, '\n') + 1;
        char *end = next - 1;
        for (int commas = 0; commas < 4;)
            commas += *--end == ',';
        memmove(to, line, (size_t)(end - line));
        to += end - line;
        *to++ = '\n';
    }
    *to = '\0';
}

static void check_same_file(const char *a, const char *b, bool seconds)
{
    char *text_a = read_text(a), *text_b = read_text(b);
    if (text_a && text_b && seconds) {
        drop_seconds(text_a);
        drop_seconds(text_b);
    }
    CHECK_STR(text_a, text_b);
    talus_release(text_a);
    talus_release(text_b);
}

TEST(resumed_files_equal_uninterrupted)
{
    TalusOutput *output;
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_output_open("whole", false, 0.0, &output));
    CHECK_OK(talus_output_frame(output, world));
    run_steps(output, world, 20);
    talus_output_close(output);
    talus_world_destroy(world);

    world = make_world();
    REQUIRE_OK(talus_output_open("parts/deeper", false, 0.0, &output));
    CHECK_OK(talus_output_frame(output, world));
    run_steps(output, world, 10);
    void *bytes;
    size_t size;
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    run_steps(output, world, 7); /* lost with the process */
    talus_output_close(output);
    talus_world_destroy(world);
    CHECK(exists("parts/deeper/frames/frame-000004.vtp"));

    REQUIRE_OK(talus_world_load(bytes, size, 1, &world));
    talus_free(bytes);
    REQUIRE_OK(talus_output_open("parts/deeper", true, talus_world_time(world), &output));
    CHECK(!exists("parts/deeper/frames/frame-000003.vtp"));
    run_steps(output, world, 10);
    talus_output_close(output);
    talus_world_destroy(world);
    check_same_file("whole/run.pvd", "parts/deeper/run.pvd", false);
    check_same_file("whole/steps.csv", "parts/deeper/steps.csv", true);
    check_same_file("whole/probes.csv", "parts/deeper/probes.csv", false);
    check_same_file("whole/frames/frame-000005.vtp", "parts/deeper/frames/frame-000005.vtp", false);
}

TEST(new_run_replaces_the_old_one)
{
    TalusOutput *output;
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_output_open("again", false, 0.0, &output));
    CHECK_OK(talus_output_frame(output, world));
    run_steps(output, world, 4);
    CHECK_OK(talus_checkpoint_write("again", world, NULL));
    talus_output_close(output);
    talus_world_destroy(world);
    REQUIRE_OK(talus_output_open("again", false, 0.0, &output));
    talus_output_close(output);
    CHECK(!exists("again/checkpoint-a.talus"));
    CHECK(!exists("again/run.pvd"));
    CHECK(!exists("again/frames/frame-000000.vtp"));
    CHECK(!exists("again/probes.csv"));
}

/* ---- tables ---- */

static void put_file(const char *path, const char *text)
{
    TalusFile *file = NULL;
    CHECK_OK(talus_file_create(path, &file));
    talus_file_put(file, text, strlen(text));
    CHECK_OK(talus_file_commit(file));
}

static int gap_warnings;

static void count_gaps(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    (void)text;
    gap_warnings += level == TALUS_LOG_WARNING && strcmp(id, "output.gap") == 0;
}

/* Resumes "table.csv" holding `before` at time 1 and compares. */
static void check_cut(const char *before, const char *after, int gaps)
{
    TalusCsv csv;
    put_file("table.csv", before);
    gap_warnings = 0;
    talus_set_log(count_gaps, NULL);
    CHECK_OK(talus_csv_resume("table.csv", "time,a\n", 1.0, &csv));
    talus_csv_close(&csv);
    talus_set_log(NULL, NULL);
    char *text = read_text("table.csv");
    CHECK_STR(text, after);
    CHECK_INT(gap_warnings, gaps);
    talus_release(text);
}

TEST(tables_are_cut_at_the_right_row)
{
    check_cut("time,a\n0.5,1\n1,2\n", "time,a\n0.5,1\n1,2\n", 0);
    check_cut("time,a\n0.5,1\n1,2\n1.5,3\n2,4\n", "time,a\n0.5,1\n1,2\n", 0);
    check_cut("time,a\n0.5,1\n1,2\n1.5", "time,a\n0.5,1\n1,2\n", 0);
    check_cut("time,a\n0.5,1\n1,2", "time,a\n0.5,1\n", 1); /* its last row has no end */
    check_cut("time,a\n0.5,1\nnan,2\n1,3\n", "time,a\n0.5,1\n", 1);
    check_cut("", "time,a\n", 1);
    TalusCsv csv;
    put_file("table.csv", "time,b\n0.5,1\n");
    CHECK(talus_csv_resume("table.csv", "time,a\n", 1.0, &csv) == TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "table.csv:1: is not the header of this version's table");
}

/* ---- failures ---- */

/* Files may not grow beyond `bytes`: what a full disk looks like to a writer. */
static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(failures_name_the_file)
{
    TalusOutput *output;
    TalusFile *file;
    TalusWorld *world = make_world();
    put_file("plain", "x");
    CHECK(talus_output_open("plain/out", false, 0.0, &output) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "plain: cannot create the directory: Not a directory");
    CHECK(talus_file_create("missing/file", &file) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "missing/file: cannot create: No such file or directory");

    put_file("kept.vtp", "old");
    signal(SIGXFSZ, SIG_IGN);
    limit_file_size(1000);
    TalusStatus status = talus_vtp_write("kept.vtp", world);
    limit_file_size(RLIM_INFINITY);
    CHECK(status == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "kept.vtp: cannot write: File too large");
    char *text = read_text("kept.vtp");
    CHECK_STR(text, "old"); /* the old file is as it was, and no piece of the new one is left */
    CHECK(!exists("kept.vtp.tmp"));
    talus_release(text);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(frame_holds_the_bodies);
    RUN(resumed_files_equal_uninterrupted);
    RUN(new_run_replaces_the_old_one);
    RUN(tables_are_cut_at_the_right_row);
    RUN(failures_name_the_file);
    return talus_test_result();
}
