/* A run's directory: one snapshot feeds every kind of frames; tables and frames are cut and continued; a
 * new run removes what an earlier one left; a full disk is told. */
#include "support/test.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/text/csv.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <talus/frames.h>
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
    TalusProbeDef plane_probe = {
        .name = "plane", .kind = TALUS_PROBE_PLANE, .at = {0, 0, 0.28}, .normal = {0, 0, -1}};
    CHECK_OK(talus_world_add_probe(world, &plane_probe, NULL));
    CHECK_OK(talus_world_add_named_sink(world, "\"bin\"", 2, 0.2));
    return world;
}

static char *read_text(const char *path)
{
    char *text = NULL;
    size_t size;
    CHECK_OK(talus_read_file(path, 1 << 24, &text, &size));
    return text;
}

static void put_file(const char *path, const char *text)
{
    TalusFile *file = NULL;
    CHECK_OK(talus_file_create(path, &file));
    talus_file_put(file, text, strlen(text));
    CHECK_OK(talus_file_commit(file));
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

/* The points of a .vtp file, which come after their number of bytes, are exactly these. */
static void check_points(const char *path, const TalusVec3 *at, size_t count)
{
    unsigned char bytes[4096];
    uint64_t announced = 0;
    char *text = NULL;
    size_t size, n = 0;
    CHECK_OK(talus_read_file(path, 1 << 24, &text, &size));
    const char *p = text ? strstr(text, "type=\"Float64\" Name=\"Points\"") : NULL;
    p = p ? strchr(p, '\n') : NULL;
    if (CHECK(p != NULL))
        n = decode(p + 1, bytes, sizeof bytes);
    if (CHECK_INT(n, sizeof announced + count * sizeof *at)) {
        memcpy(&announced, bytes, sizeof announced);
        CHECK_INT(announced, count * sizeof *at);
        CHECK(memcmp(bytes + sizeof announced, at, count * sizeof *at) == 0);
    }
    talus_release(text);
}

/* The bodies of the last frame in frames.talus and in a .vtp file, against the world's own. */
TEST(every_kind_holds_the_bodies)
{
    static const char *const kinds[] = {"vtp", "csv"};
    TalusOutputDef def = {.title = "Grains", .scene = "grains", .kinds = kinds, .kind_count = 2};
    TalusWorld *world = make_world();
    TalusOutput *output;
    TalusFrames *frames;
    TalusSnapshot moment = {0};
    TalusVec3 at[GRAINS + 2];
    TalusBodyState state = {.position = at};
    REQUIRE_OK(talus_output_open("kinds", &def, &output));
    CHECK_OK(talus_output_frame(output, world));
    for (int i = 0; i < 3; i++)
        REQUIRE_OK(talus_world_step(world, NULL));
    CHECK_OK(talus_output_frame(output, world));
    CHECK_OK(talus_output_close(output));
    talus_world_get_state(world, &state);

    /* plane and wall came first and are left out */
    check_points("kinds/frames/bodies-000001.vtp", at + 2, GRAINS);
    CHECK(exists("kinds/frames/bodies-000001.csv"));

    REQUIRE_OK(talus_frames_open("kinds/frames.talus", &frames));
    CHECK_INT(talus_frames_count(frames), 2);
    CHECK(talus_frames_complete(frames));
    REQUIRE_OK(talus_frames_read(frames, 1, &moment));
    CHECK_INT(moment.body_count, GRAINS + 2);
    CHECK_INT(moment.step, 3);
    const TalusFramesHead *head = talus_frames_head(frames, 1);
    CHECK_STR(head->title, "Grains");
    CHECK_STR(head->scene, "grains");
    for (int i = 0; i < GRAINS; i++)
        CHECK(talus_norm(talus_sub(moment.position[i + 2], at[i + 2])) <= head->quantum);
    talus_snapshot_free(&moment);
    talus_frames_close(frames);
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

static void check_same_table(const char *a, const char *b, bool seconds)
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

static void check_same_bytes(const char *a, const char *b)
{
    char *bytes_a = NULL, *bytes_b = NULL;
    size_t size_a = 0, size_b = 0;
    CHECK_OK(talus_read_file(a, 1 << 24, &bytes_a, &size_a));
    CHECK_OK(talus_read_file(b, 1 << 24, &bytes_b, &size_b));
    CHECK_INT(size_a, size_b);
    CHECK(size_a == size_b && size_a > 0 && memcmp(bytes_a, bytes_b, size_a) == 0);
    talus_release(bytes_a);
    talus_release(bytes_b);
}

static const char *const all_kinds[] = {"vtp", "csv", "lammps", "bulk"};
static const TalusOutputDef start = {.kinds = all_kinds, .kind_count = 4};

TEST(resumed_files_equal_uninterrupted)
{
    static const char *const files[] = {"frames.talus",
                                        "bodies.pvd",
                                        "bodies.dump",
                                        "bulk.csv",
                                        "frames/bodies-000005.vtp",
                                        "frames/bodies-000005.csv"};
    TalusOutput *output;
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_output_open("whole", &start, &output));
    CHECK_OK(talus_output_frame(output, world));
    run_steps(output, world, 20);
    CHECK_OK(talus_output_close(output));
    talus_world_destroy(world);

    world = make_world();
    REQUIRE_OK(talus_output_open("parts/deeper", &start, &output));
    CHECK_OK(talus_output_frame(output, world));
    run_steps(output, world, 10);
    void *bytes;
    size_t size;
    CHECK_OK(talus_output_sync(output));
    REQUIRE_OK(talus_world_save(world, &bytes, &size));
    run_steps(output, world, 7); /* lost with the process */
    talus_output_abandon(output);
    talus_world_destroy(world);
    CHECK(exists("parts/deeper/frames/bodies-000004.vtp"));

    REQUIRE_OK(talus_world_load(bytes, size, 1, NULL, &world));
    talus_free(bytes);
    TalusOutputDef again = start;
    again.resume = true;
    again.time = talus_world_time(world);
    REQUIRE_OK(talus_output_open("parts/deeper", &again, &output));
    CHECK(!exists("parts/deeper/frames/bodies-000003.vtp"));
    run_steps(output, world, 10);
    CHECK_OK(talus_output_close(output));
    talus_world_destroy(world);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char a[64], b[64];
        snprintf(a, sizeof a, "whole/%s", files[i]);
        snprintf(b, sizeof b, "parts/deeper/%s", files[i]);
        check_same_bytes(a, b);
    }
    check_same_table("whole/steps.csv", "parts/deeper/steps.csv", true);
    check_same_table("whole/probes.csv", "parts/deeper/probes.csv", false);
    check_same_table("whole/flows.csv", "parts/deeper/flows.csv", false);
}

TEST(new_run_replaces_the_old_one)
{
    static const char *const gone[] = {"checkpoint-a.talus", "bodies.pvd", "bodies.dump",
                                       "frames/bodies-000000.vtp", "probes.csv"};
    TalusOutput *output;
    TalusFrames *frames;
    TalusWorld *world = make_world();
    REQUIRE_OK(talus_output_open("again", &start, &output));
    CHECK_OK(talus_output_frame(output, world));
    run_steps(output, world, 4);
    CHECK_OK(talus_checkpoint_write("again", world, NULL));
    CHECK_OK(talus_output_close(output));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        char path[64];
        snprintf(path, sizeof path, "again/%s", gone[i]);
        CHECK(exists(path));
    }
    put_file("again/mine", "kept");
    REQUIRE_OK(talus_output_open("again", &(TalusOutputDef){0}, &output));
    CHECK_OK(talus_output_frame(output, world));
    CHECK_OK(talus_output_close(output));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        char path[64];
        snprintf(path, sizeof path, "again/%s", gone[i]);
        CHECK(!exists(path));
    }
    CHECK(exists("again/mine"));
    REQUIRE_OK(talus_frames_open("again/frames.talus", &frames));
    CHECK_INT(talus_frames_count(frames), 1);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

/* ---- tables ---- */

static int gap_warnings;

static void count_gaps(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    (void)text;
    gap_warnings += level == TALUS_LOG_WARNING && strcmp(id, "output.gap") == 0;
}

/* Resumes "tables/table.csv" holding `before` at time 1 and compares. */
static void check_cut(const char *before, const char *after, int gaps)
{
    TalusDir dir;
    TalusGrowing csv;
    CHECK_OK(talus_dir_open("tables", &dir));
    put_file("tables/table.csv", before);
    gap_warnings = 0;
    talus_set_log(count_gaps, NULL);
    CHECK_OK(talus_csv_resume(&dir, "table.csv", "time,a\n", 1.0, &csv));
    talus_growing_close(&csv);
    talus_dir_close(&dir);
    talus_set_log(NULL, NULL);
    char *text = read_text("tables/table.csv");
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
    TalusDir dir;
    TalusGrowing csv;
    CHECK_OK(talus_dir_open("tables", &dir));
    put_file("tables/table.csv", "time,b\n0.5,1\n");
    CHECK(talus_csv_resume(&dir, "table.csv", "time,a\n", 1.0, &csv) == TALUS_ERR_FORMAT);
    talus_dir_close(&dir);
    CHECK_STR(talus_error(), "tables/table.csv:1: is not the header of this version's table");
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
    static const char *const unknown = "vtpp";
    TalusOutput *output;
    TalusFile *file;
    put_file("plain", "x");
    CHECK(talus_output_open("plain/out", &start, &output) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "plain: cannot create the directory: Not a directory");
    CHECK(talus_file_create("missing/file", &file) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "missing/file: cannot create: No such file or directory");
    TalusOutputDef def = {.kinds = &unknown, .kind_count = 1};
    CHECK(talus_output_open("odd", &def, &output) == TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "vtpp: ") != NULL);

    put_file("kept", "old");
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE_OK(talus_file_create("kept", &file));
    limit_file_size(1000);
    for (int i = 0; i < 100; i++)
        talus_file_print(file, "%0100d\n", i);
    TalusStatus status = talus_file_commit(file);
    limit_file_size(RLIM_INFINITY);
    CHECK(status == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "kept: cannot write: File too large");
    char *text = read_text("kept");
    CHECK_STR(text, "old"); /* the old file is as it was, and no piece of the new one is left */
    CHECK(!exists("kept.tmp"));
    talus_release(text);
}

/* What is on the disk before the failure stays readable, and a run can go on from there. */
TEST(full_disk_is_told)
{
    TalusOutput *output;
    TalusFrames *frames;
    TalusWorld *world = make_world();
    TalusOutputDef def = {.title = "Full"};
    REQUIRE_OK(talus_output_open("full", &def, &output));
    CHECK_OK(talus_output_frame(output, world));
    struct stat about;
    REQUIRE(stat("full/frames.talus", &about) == 0);
    signal(SIGXFSZ, SIG_IGN);
    limit_file_size((rlim_t)about.st_size + 100);
    TalusStatus status = talus_output_frame(output, world);
    limit_file_size(RLIM_INFINITY);
    CHECK(status == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "full/frames.talus: cannot write: File too large");
    talus_output_abandon(output);
    REQUIRE_OK(talus_frames_open("full/frames.talus", &frames));
    CHECK_INT(talus_frames_count(frames), 1);
    CHECK(!talus_frames_complete(frames));
    talus_frames_close(frames);

    def.resume = true;
    REQUIRE_OK(talus_output_open("full", &def, &output));
    CHECK_OK(talus_world_step(world, NULL));
    CHECK_OK(talus_output_frame(output, world));
    CHECK_OK(talus_output_close(output));
    REQUIRE_OK(talus_frames_open("full/frames.talus", &frames));
    CHECK_INT(talus_frames_count(frames), 2);
    CHECK(talus_frames_complete(frames));
    talus_frames_close(frames);
    talus_world_destroy(world);
}

static TalusStatus write_two_frames(const TalusWorld *world)
{
    TalusOutput *output;
    TalusStatus status = talus_output_open("scarce", &start, &output);
    for (int i = 0; i < 2 && status == TALUS_OK; i++)
        status = talus_output_frame(output, world);
    if (status == TALUS_OK)
        return talus_output_close(output);
    talus_output_abandon(output);
    return status;
}

/* Every allocation fails in turn; nothing is lost, which the harness checks, and the last try succeeds. */
TEST(scarce_memory_is_told)
{
    TalusWorld *world = make_world();
    TalusStatus status = TALUS_ERR_MEMORY;
    long n = 0;
    while (status == TALUS_ERR_MEMORY && n < 2000) {
        talus_fail_allocation_in(++n);
        status = write_two_frames(world);
    }
    talus_fail_allocation_in(0);
    CHECK_OK(status);
    CHECK(n > 20);
    talus_world_destroy(world);
}

/* ---- what a checkpoint knows ---- */

/* Five steps into "known", a checkpoint, two more that no checkpoint knows. */
static TalusWorld *leave_run(double *time)
{
    TalusOutput *output;
    TalusWorld *world = make_world();
    CHECK_OK(talus_output_open("known", &start, &output));
    CHECK_OK(talus_output_frame(output, world));
    run_steps(output, world, 5);
    CHECK_OK(talus_output_checkpoint(output, world, "note"));
    *time = talus_world_time(world);
    run_steps(output, world, 2);
    talus_output_abandon(output);
    return world;
}

TEST(changed_files_are_named)
{
    double time;
    TalusOutput *output;
    talus_world_destroy(leave_run(&time));
    TalusOutputDef again = start;
    again.resume = true;
    again.time = time;
    CHECK(unlink("known/probes.csv") == 0);
    put_file("known/bodies.dump", "");
    char *before = read_text("known/steps.csv");
    CHECK(talus_output_open("known", &again, &output) == TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "bodies.dump (0 bytes of ") != NULL);
    CHECK(strstr(talus_error(), ", probes.csv (missing)") != NULL);
    char *after = read_text("known/steps.csv");
    CHECK_STR(before, after);
    talus_release(before);
    talus_release(after);
    again.accept_changes = true;
    REQUIRE_OK(talus_output_open("known", &again, &output));
    CHECK_OK(talus_output_check(output));
    talus_output_abandon(output);
}

/* No failed allocation makes a resume believe what it has not compared. */
TEST(scarce_memory_stops_a_resume)
{
    double time;
    long n = 0;
    TalusStatus status = TALUS_ERR_MEMORY;
    talus_world_destroy(leave_run(&time));
    TalusOutputDef again = start;
    again.resume = true;
    again.time = time;
    CHECK(unlink("known/joints.csv") != 0 && unlink("known/frames.csv") == 0);
    while (status == TALUS_ERR_MEMORY && n < 2000) {
        TalusOutput *output;
        talus_fail_allocation_in(++n);
        status = talus_output_open("known", &again, &output);
    }
    talus_fail_allocation_in(0);
    CHECK(status == TALUS_ERR_FORMAT && n > 10);
    CHECK(strstr(talus_error(), "frames.csv (missing)") != NULL);
}

static TalusStatus resume_in_need(const TalusWorld *world, double time)
{
    TalusOutput *output;
    TalusOutputDef again = start;
    again.resume = true;
    again.time = time;
    TalusStatus status = talus_output_open("known", &again, &output);
    if (status != TALUS_OK)
        return status;
    status = talus_output_checkpoint(output, world, "note");
    talus_output_abandon(output);
    return status;
}

TEST(scarce_memory_leaves_a_run_to_resume)
{
    double time;
    long n = 0;
    TalusStatus status = TALUS_ERR_MEMORY;
    TalusWorld *world = leave_run(&time);
    while (status == TALUS_ERR_MEMORY && n < 2000) {
        talus_fail_allocation_in(++n);
        status = resume_in_need(world, time);
    }
    talus_fail_allocation_in(0);
    CHECK_OK(status);
    CHECK(n > 50);
    talus_world_destroy(world);
}

/* ---- a directory that is taken away ---- */

TEST(lost_directories_are_noticed)
{
    char now[512];
    double time;
    TalusOutput *output;
    TalusWorld *copy, *world = leave_run(&time);
    CHECK(system("rm -rf taken known") == 0);
    REQUIRE_OK(talus_output_open("known", &start, &output));
    CHECK_OK(talus_output_frame(output, world));
    CHECK_OK(talus_output_check(output));
    CHECK(rename("known", "taken") == 0 && mkdir("known", 0777) == 0);
    CHECK(talus_output_check(output) == TALUS_ERR_IO);
    CHECK_STR(talus_error(),
              "known: the directory was renamed, and another put in its place, while it "
              "was being written to");
    CHECK(talus_output_checkpoint(output, world, NULL) == TALUS_ERR_IO);
    run_steps(output, world, 1); /* into the directory that is held */
    CHECK_OK(talus_output_rescue(output, world, NULL, now, sizeof now));
    CHECK(strlen(now) > 6 && strcmp(now + strlen(now) - 6, "/taken") == 0);
    CHECK_OK(talus_output_rescue(output, NULL, NULL, now, sizeof now)); /* leaves that checkpoint */
    CHECK(strlen(now) > 6 && strcmp(now + strlen(now) - 6, "/taken") == 0);
    CHECK(rmdir("known") == 0); /* empty: nothing went there */
    CHECK(rename("taken", "known") == 0);
    CHECK_OK(talus_output_check(output));
    CHECK(unlink("known/steps.csv") == 0);
    CHECK(talus_output_check(output) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "known/steps.csv: was removed while it was being written");
    CHECK(talus_output_close(output) == TALUS_ERR_IO);
    REQUIRE_OK(talus_checkpoint_read("known", 1, NULL, &copy, NULL));
    CHECK(talus_world_hash(copy) == talus_world_hash(world));
    talus_world_destroy(copy);
    talus_world_destroy(world);
}

TEST(removed_directories_are_noticed)
{
    char now[512];
    double time;
    TalusOutput *output;
    TalusWorld *world = leave_run(&time);
    REQUIRE_OK(talus_output_open("known", &start, &output));
    CHECK(system("rm -rf known") == 0);
    CHECK(talus_output_check(output) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "known: the directory was removed while it was being written to");
    CHECK(talus_output_rescue(output, world, NULL, now, sizeof now) == TALUS_ERR_IO);
    CHECK_STR(now, "");
    talus_output_abandon(output);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(every_kind_holds_the_bodies);
    RUN(resumed_files_equal_uninterrupted);
    RUN(new_run_replaces_the_old_one);
    RUN(tables_are_cut_at_the_right_row);
    RUN(failures_name_the_file);
    RUN(full_disk_is_told);
    RUN(scarce_memory_is_told);
    RUN(changed_files_are_named);
    RUN(scarce_memory_stops_a_resume);
    RUN(scarce_memory_leaves_a_run_to_resume);
    RUN(lost_directories_are_noticed);
    RUN(removed_directories_are_noticed);
    return talus_test_result();
}
