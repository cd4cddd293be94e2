/* Checkpoints: exact, in turn, and refused with a reason when anything is wrong with them. */
#include "support/test.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/run/checkpoint.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static TalusWorld *make_world(void)
{
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world = NULL;
    def.threads = 1;
    CHECK_OK(talus_world_create(&def, &world));
    TalusShapeDef sphere = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.25};
    int shape;
    CHECK_OK(talus_world_add_shape(world, &sphere, &shape));
    TalusVec3 at[3] = {{0, 0, 0}, {0.1, 0, 0.49}, {0, 0.1, 0.97}};
    TalusBodyBatch batch = talus_body_batch_default();
    batch.shape = shape;
    batch.position = at;
    batch.count = 1;
    batch.fixed = true;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    batch.position = at + 1;
    batch.count = 2;
    batch.fixed = false;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    return world;
}

static void run_steps(TalusWorld *world, int count)
{
    for (int i = 0; i < count; i++)
        CHECK_OK(talus_world_step(world, NULL));
}

/* Flips one bit; a negative place counts from the end. */
static void flip(const char *path, long place)
{
    FILE *file = fopen(path, "r+b");
    int whence = place < 0 ? SEEK_END : SEEK_SET;
    fseek(file, place, whence);
    int c = fgetc(file);
    fseek(file, place, whence);
    fputc(c ^ 0x10, file);
    fclose(file);
}

static long file_size(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (long)about.st_size : -1;
}

/* Messages of "checkpoint.damaged" since the last call of expect_read. */
static char warning[1024];
static int warnings;

static void note_warning(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    if (level == TALUS_LOG_WARNING && strcmp(id, "checkpoint.damaged") == 0) {
        snprintf(warning, sizeof warning, "%s", text);
        warnings++;
    }
}

/* The steps of the world that a read gives, -1 if it fails. */
static int64_t read_steps(const char *dir)
{
    TalusWorld *world;
    char *note;
    warnings = 0;
    warning[0] = '\0';
    talus_set_log(note_warning, NULL);
    TalusStatus status = talus_checkpoint_read(dir, 1, NULL, &world, &note);
    talus_set_log(NULL, NULL);
    CHECK((status == TALUS_OK) == (world != NULL && note != NULL));
    int64_t steps = world ? talus_world_steps(world) : -1;
    talus_world_destroy(world);
    talus_free(note);
    return steps;
}

/* Two checkpoints in a new directory: a at step 2, b at step 4. */
static void make_pair(const char *dir)
{
    TalusWorld *world = make_world();
    char path[256];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, i ? TALUS_CHECKPOINT_B : TALUS_CHECKPOINT_A);
        unlink(path);
    }
    for (int i = 0; i < 2; i++) {
        run_steps(world, 2);
        CHECK_OK(talus_checkpoint_write(dir, world, "note"));
    }
    talus_world_destroy(world);
}

TEST(goes_on_bitwise)
{
    TalusWorld *world = make_world(), *copy;
    const char *text = "scene a\nset x=1\n\t\"quoted\" \xc3\xa9";
    char *note;
    run_steps(world, 25);
    REQUIRE_OK(talus_checkpoint_write("exact", world, text));
    REQUIRE_OK(talus_checkpoint_read("exact", 2, NULL, &copy, &note));
    CHECK_STR(note, text);
    CHECK(talus_world_time(copy) == talus_world_time(world));
    CHECK(talus_world_hash(copy) == talus_world_hash(world));
    run_steps(world, 25);
    run_steps(copy, 25);
    CHECK(talus_world_hash(copy) == talus_world_hash(world));
    talus_free(note);
    REQUIRE_OK(talus_checkpoint_write("exact", world, NULL));
    TalusWorld *last;
    REQUIRE_OK(talus_checkpoint_read("exact", 1, NULL, &last, NULL)); /* nobody wants the note */
    CHECK_INT(talus_world_steps(last), 50);
    talus_world_destroy(last);
    talus_world_destroy(copy);
    talus_world_destroy(world);
}

TEST(files_take_turns)
{
    TalusCheckpointInfo a, b;
    make_pair("turns");
    REQUIRE_OK(talus_checkpoint_inspect("turns/" TALUS_CHECKPOINT_A, &a));
    REQUIRE_OK(talus_checkpoint_inspect("turns/" TALUS_CHECKPOINT_B, &b));
    CHECK(a.sequence == 1 && a.steps == 2 && b.sequence == 2 && b.steps == 4);
    CHECK_STR(b.note, "note");
    talus_free(a.note);
    talus_free(b.note);
    CHECK_INT(read_steps("turns"), 4);
    CHECK_INT(warnings, 0);
    TalusWorld *world = make_world();
    run_steps(world, 6);
    REQUIRE_OK(talus_checkpoint_write("turns", world, NULL));
    talus_world_destroy(world);
    REQUIRE_OK(talus_checkpoint_inspect("turns/" TALUS_CHECKPOINT_A, &a));
    CHECK(a.sequence == 3 && a.steps == 6);
    talus_free(a.note);
    CHECK_INT(read_steps("turns"), 6);
}

TEST(flipped_bits_are_refused)
{
    static const long places[] = {0,  5,  8,  12, 16, 24,  40,    48, 56,
                                  64, 72, 79, 80, 84, 200, -1000, -1};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        make_pair("flipped");
        flip("flipped/" TALUS_CHECKPOINT_B, places[i]);
        CHECK_INT(read_steps("flipped"), 2);
        CHECK_INT(warnings, 1);
    }
    CHECK_STR(warning, "flipped/" TALUS_CHECKPOINT_B
                       ": damaged: the content does not match its checksum; the other one is used");
    make_pair("flipped");
    flip("flipped/" TALUS_CHECKPOINT_A, 30); /* the older one: still worth a warning */
    CHECK_INT(read_steps("flipped"), 4);
    CHECK_STR(warning, "flipped/" TALUS_CHECKPOINT_A
                       ": damaged: the header does not match its checksum; the other one is used");
}

TEST(truncated_files_are_refused)
{
    make_pair("short");
    long whole = file_size("short/" TALUS_CHECKPOINT_B);
    const long sizes[] = {0, 7, 8, 79, 80, 81, 88, whole / 2, whole - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        make_pair("short");
        CHECK(truncate("short/" TALUS_CHECKPOINT_B, sizes[i]) == 0);
        CHECK_INT(read_steps("short"), 2);
        CHECK_INT(warnings, 1);
    }
    char expected[256];
    snprintf(expected, sizeof expected,
             "short/" TALUS_CHECKPOINT_B ": truncated: %ld bytes after the header, which announces "
             "4, 0 and %ld; the other one is used",
             whole - 81, whole - 84);
    CHECK_STR(warning, expected);
    make_pair("short");
    CHECK(truncate("short/" TALUS_CHECKPOINT_B, whole + 8) == 0); /* too long is as bad */
    CHECK_INT(read_steps("short"), 2);
}

TEST(both_bad_gives_both_reasons)
{
    make_pair("both");
    flip("both/" TALUS_CHECKPOINT_A, -1);
    CHECK(truncate("both/" TALUS_CHECKPOINT_B, 20) == 0);
    CHECK_INT(read_steps("both"), -1);
    CHECK_STR(talus_error(),
              "no usable checkpoint: both/" TALUS_CHECKPOINT_A
              ": damaged: the content does not match its checksum; both/" TALUS_CHECKPOINT_B
              ": truncated: 20 bytes, but the header alone has 80");
    CHECK_INT(read_steps("nowhere"), -1);
    CHECK_STR(talus_error(), "nowhere: there is no such directory");
    CHECK(mkdir("empty", 0777) == 0 || errno == EEXIST);
    CHECK_INT(read_steps("empty"), -1);
    CHECK_STR(talus_error(), "empty: holds neither " TALUS_CHECKPOINT_A " nor " TALUS_CHECKPOINT_B);
    TalusWorld *world = make_world();
    run_steps(world, 9);
    REQUIRE_OK(talus_checkpoint_write("both", world, NULL)); /* replaces a bad one */
    CHECK_INT(read_steps("both"), 9);
    talus_world_destroy(world);
}

TEST(full_disk_keeps_the_last_good_one)
{
    struct rlimit limit;
    TalusWorld *world = make_world();
    make_pair("full");
    getrlimit(RLIMIT_FSIZE, &limit);
    rlim_t before = limit.rlim_cur;
    signal(SIGXFSZ, SIG_IGN);
    limit.rlim_cur = 200;
    setrlimit(RLIMIT_FSIZE, &limit);
    TalusStatus status = talus_checkpoint_write("full", world, NULL);
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(status == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "full/" TALUS_CHECKPOINT_A ": cannot write: File too large");
    CHECK_INT(read_steps("full"), 4);
    CHECK_INT(warnings, 0);
    CHECK(file_size("full/" TALUS_CHECKPOINT_A ".tmp") == -1);
    CHECK(talus_checkpoint_write("full/" TALUS_CHECKPOINT_A "/x", world, NULL) == TALUS_ERR_IO);
    CHECK_STR(talus_error(),
              "full/" TALUS_CHECKPOINT_A ": cannot create the directory: Not a directory");
    talus_world_destroy(world);
}

int main(void)
{
    RUN(goes_on_bitwise);
    RUN(files_take_turns);
    RUN(flipped_bits_are_refused);
    RUN(truncated_files_are_refused);
    RUN(both_bad_gives_both_reasons);
    RUN(full_disk_keeps_the_last_good_one);
    return talus_test_result();
}
