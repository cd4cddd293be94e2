/* A file that is gone on with, read while it grows, and written on a full disk or without memory. */
#include "frames_scene.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FRAMES = 40, STEPS = 3 };

/* The state of the world at each frame, so that any frame can be gone on from. */
typedef struct Run {
    void *state[FRAMES + 1];
    size_t size[FRAMES + 1];
    double time[FRAMES + 1];
} Run;

static TalusWorld *world_at(const Run *run, int frame)
{
    TalusWorld *world = NULL;
    CHECK_OK(talus_world_load(run->state[frame], run->size[frame], 1, NULL, &world));
    return world;
}

/* Frame by frame from `first` on, and the index. */
static void write_from(TalusFramesWriter *writer, const Run *run, int first)
{
    for (int i = first; i < FRAMES; i++) {
        TalusWorld *world = world_at(run, i);
        REQUIRE(world != NULL);
        CHECK_OK(talus_frames_add(writer, world));
        talus_world_destroy(world);
    }
    CHECK_OK(talus_frames_finish(writer));
}

static void make_run(Run *run, double start)
{
    TalusWorld *world = rain_world(start, true);
    for (int i = 0; i < FRAMES; i++) {
        run->time[i] = talus_world_time(world);
        CHECK_OK(talus_world_save(world, &run->state[i], &run->size[i]));
        step_world(world, STEPS);
    }
    talus_world_destroy(world);
}

static void free_run(Run *run)
{
    for (int i = 0; i < FRAMES; i++)
        talus_free(run->state[i]);
}

static void write_whole(const char *path, const Run *run, TalusDetail detail)
{
    TalusFramesDef def = {.title = "Rain", .scene = "rain", .detail = detail};
    TalusFramesWriter *writer;
    REQUIRE_OK(talus_frames_create(path, &def, &writer));
    write_from(writer, run, 0);
}

/* ---- going on ---- */

/* Goes on after frame `last` with a file that holds `size` bytes of the whole one. */
static void check_resume(const Run *run, Bytes whole, size_t size, int last)
{
    TalusFramesWriter *writer;
    write_bytes("part.talus", whole.bytes, size);
    double time = last < 0 ? -1.0 : run->time[last];
    REQUIRE_OK(talus_frames_resume("part.talus", time, &writer));
    write_from(writer, run, last + 1);
    CHECK(same_files("whole.talus", "part.talus"));
}

static void check_resumes(double start, TalusDetail detail)
{
    static const int after[] = {0, 1, 5, 14, 15, 16, 17, 31, 32, 38, 39};
    static Run run;
    TalusFrames *frames;
    make_run(&run, start);
    write_whole("whole.talus", &run, detail);
    Bytes whole = read_bytes("whole.talus");
    REQUIRE_OK(talus_frames_open("whole.talus", &frames));
    for (size_t k = 0; k < sizeof after / sizeof *after; k++) {
        TalusFrameInfo info = talus_frames_info(frames, after[k]);
        check_resume(&run, whole, whole.size, after[k]);
        check_resume(&run, whole, info.offset + info.size, after[k]);
        size_t more = info.offset + info.size + 100 * k; /* torn somewhere after it */
        check_resume(&run, whole, more < whole.size ? more : whole.size, after[k]);
    }
    check_resume(&run, whole, whole.size, -1);
    talus_frames_close(frames);
    talus_release(whole.bytes);
    free_run(&run);
}

TEST(a_resumed_file_is_the_same)
{
    check_resumes(0.0, TALUS_DETAIL_AUTO);
}

/* Nothing moves in the first frames, and the head changes on the way. */
TEST(a_resumed_file_is_the_same_when_heads_change)
{
    check_resumes(0.4, TALUS_DETAIL_FULL);
}

TEST(a_resumed_lean_file_is_the_same)
{
    check_resumes(0.0, TALUS_DETAIL_LEAN);
}

TEST(what_cannot_be_resumed_is_refused)
{
    static Run run;
    TalusFramesWriter *writer;
    TalusFrames *frames;
    CHECK(talus_frames_resume("missing.talus", 1.0, &writer) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "missing.talus: cannot open: No such file or directory");
    write_bytes("other.talus", "TALUSCHK and more", 17);
    CHECK(talus_frames_resume("other.talus", 1.0, &writer) == TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "other.talus: is not a Talus frames file");
    write_bytes("empty.talus", "TALUSFRM\1\0\0\0\0\0\0\0", 16);
    CHECK(talus_frames_resume("empty.talus", 1.0, &writer) == TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(),
              "empty.talus: holds no frame to go on from; without the file the run can be resumed");
    make_run(&run, 0.0);
    write_whole("whole.talus", &run, TALUS_DETAIL_FULL);
    Bytes whole = read_bytes("whole.talus");
    REQUIRE_OK(talus_frames_open("whole.talus", &frames));
    whole.bytes[talus_frames_info(frames, FRAMES - 1).offset + 60] ^= 1;
    talus_frames_close(frames);
    write_bytes("hurt.talus", whole.bytes, whole.size);
    CHECK(talus_frames_resume("hurt.talus", 1e9, &writer) == TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "hurt.talus: frame 39: damaged: ") == talus_error());
    Bytes still = read_bytes("hurt.talus"); /* a file that is refused is left as it was */
    CHECK(still.size == whole.size && memcmp(still.bytes, whole.bytes, whole.size) == 0);
    talus_release(still.bytes);
    talus_release(whole.bytes);
    free_run(&run);
}

/* ---- reading what is being written ---- */

TEST(frames_can_be_read_at_once)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFramesWriter *writer;
    TalusFrames *frames;
    TalusSnapshot s = {0};
    REQUIRE_OK(talus_frames_create("live.talus", NULL, &writer));
    REQUIRE_OK(talus_frames_open("live.talus", &frames));
    CHECK_INT(talus_frames_count(frames), 0);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(talus_frames_add(writer, world));
        CHECK_INT(talus_frames_count(frames), i);
        CHECK_OK(talus_frames_refresh(frames));
        CHECK_INT(talus_frames_count(frames), i + 1);
        CHECK_OK(talus_frames_read(frames, i, &s));
        CHECK_INT(s.body_count, talus_world_body_count(world));
        CHECK(!talus_frames_complete(frames));
        step_world(world, STEPS);
    }
    CHECK_OK(talus_frames_finish(writer));
    CHECK_OK(talus_frames_refresh(frames));
    CHECK(talus_frames_complete(frames));
    CHECK_INT(talus_frames_count(frames), 20);
    double time = talus_frames_info(frames, 4).time;
    REQUIRE_OK(talus_frames_resume("live.talus", time, &writer)); /* cut under the reader's feet */
    CHECK_OK(talus_frames_refresh(frames));
    CHECK_INT(talus_frames_count(frames), 5);
    CHECK(!talus_frames_complete(frames));
    CHECK_OK(talus_frames_read(frames, 4, &s));
    talus_frames_abandon(writer);
    REQUIRE_OK(talus_frames_create("live.talus", NULL, &writer)); /* and written anew */
    CHECK_OK(talus_frames_refresh(frames));
    CHECK_INT(talus_frames_count(frames), 0);
    for (int i = 0; i < 7; i++)
        CHECK_OK(talus_frames_add(writer, world));
    CHECK_OK(talus_frames_refresh(frames));
    CHECK_INT(talus_frames_count(frames), 7);
    CHECK_OK(talus_frames_read(frames, 6, &s));
    CHECK_INT(s.body_count, talus_world_body_count(world));
    talus_frames_abandon(writer);
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

static void write_at(const char *path, const TalusFramesHead *head, TalusSnapshot *s, int first)
{
    TalusFramesWriter *writer;
    REQUIRE_OK(talus_frames_create(path, NULL, &writer));
    for (s->step = first; s->step < first + 3; s->step++) {
        s->time = 0.5 * (double)s->step;
        CHECK_OK(talus_frames_add_snapshot(writer, head, s));
    }
    talus_frames_abandon(writer);
}

/* Another run in the same file, with chunks of the same sizes. */
TEST(a_file_written_anew_is_seen)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusHeadStore head = {0};
    TalusFrames *frames;
    TalusSnapshot s = {0};
    CHECK_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_ALL));
    CHECK_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    write_at("anew.talus", &head.head, &s, 0);
    REQUIRE_OK(talus_frames_open("anew.talus", &frames));
    CHECK(talus_frames_info(frames, 2).time == 1.0);
    write_at("anew.talus", &head.head, &s, 7);
    CHECK_OK(talus_frames_refresh(frames));
    CHECK_INT(talus_frames_count(frames), 3);
    CHECK(talus_frames_info(frames, 2).time == 4.5 && talus_frames_info(frames, 2).step == 9);
    CHECK(talus_frames_head(frames, 2)->gravity.x == 2.0);
    head.head.gravity.x = 3.0; /* the same frames under another head of the same size */
    write_at("anew.talus", &head.head, &s, 7);
    CHECK_OK(talus_frames_refresh(frames));
    CHECK(talus_frames_head(frames, 2)->gravity.x == 3.0);
    CHECK_INT(remove("anew.talus"), 0);
    CHECK_OK(talus_frames_refresh(frames)); /* what was open stays */
    CHECK_INT(talus_frames_count(frames), 3);
    write_at("anew.talus", &head.head, &s, 20); /* another file of that name */
    CHECK_OK(talus_frames_refresh(frames));
    CHECK(talus_frames_info(frames, 2).step == 22);
    CHECK_OK(talus_frames_read(frames, 2, &s));
    CHECK(talus_frames_head(frames, 3) == NULL);
    CHECK_STR(talus_error(), "anew.talus: frame 3; there are 3");
    talus_frames_close(frames);
    talus_snapshot_free(&s);
    talus_frames_head_clear(&head);
    talus_world_destroy(world);
}

/* A reader meets a growing file at every byte. */
TEST(a_growing_file_shows_whole_chunks)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFrames *whole, *frames;
    step_world(world, 30);
    write_frames("grown.talus", world, TALUS_DETAIL_LEAN, 4, STEPS);
    Bytes bytes = read_bytes("grown.talus");
    REQUIRE_OK(talus_frames_open("grown.talus", &whole));
    write_bytes("growing.talus", "", 0);
    REQUIRE_OK(talus_frames_open("growing.talus", &frames));
    FILE *file = fopen("growing.talus", "ab");
    REQUIRE(file != NULL);
    setvbuf(file, NULL, _IONBF, 0);
    for (size_t i = 0, count = 0; i < bytes.size; i++) {
        CHECK(fputc((unsigned char)bytes.bytes[i], file) != EOF);
        CHECK_OK(talus_frames_refresh(frames));
        TalusFrameInfo next = talus_frames_info(whole, count < 4 ? (int)count : 3);
        count += count < 4 && i + 1 >= next.offset + next.size;
        if (!CHECK_INT(talus_frames_count(frames), (long long)count) ||
            !CHECK(talus_frames_complete(frames) == (i + 1 == bytes.size)))
            break;
    }
    fclose(file);
    talus_frames_close(frames);
    talus_frames_close(whole);
    talus_release(bytes.bytes);
    talus_world_destroy(world);
}

/* ---- failures on the way ---- */

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(a_full_disk_leaves_a_sound_file)
{
    static Run run;
    TalusFramesDef def = {.title = "Rain", .scene = "rain"};
    TalusFramesWriter *writer;
    TalusFrames *frames;
    make_run(&run, 0.0);
    write_whole("whole.talus", &run, TALUS_DETAIL_AUTO);
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE_OK(talus_frames_create("full.talus", &def, &writer));
    for (int i = 0; i < FRAMES; i++) {
        TalusWorld *world = world_at(&run, i);
        Bytes before = read_bytes("full.talus");
        limit_file_size(before.size + 200); /* a head may fit, its frame does not */
        TalusStatus status = talus_frames_add(writer, world);
        limit_file_size(RLIM_INFINITY);
        CHECK(status == TALUS_ERR_IO);
        CHECK(strstr(talus_error(), "full.talus: cannot write: ") == talus_error());
        Bytes after = read_bytes("full.talus");
        CHECK_INT((long long)after.size, (long long)before.size);
        talus_release(before.bytes);
        talus_release(after.bytes);
        CHECK_OK(talus_frames_add(writer, world));
        talus_world_destroy(world);
    }
    CHECK_OK(talus_frames_finish(writer));
    CHECK(same_files("whole.talus", "full.talus"));
    REQUIRE_OK(talus_frames_open("full.talus", &frames));
    CHECK_INT(talus_frames_count(frames), FRAMES);
    talus_frames_close(frames);
    free_run(&run);
}

/* Every allocation of a frame fails once; the file in the end is that of a quiet run. */
static void add_in_need(TalusFramesWriter *writer, const TalusWorld *world, int *failures)
{
    for (long n = 1;; n++) {
        talus_fail_allocation_in(n);
        TalusStatus status = talus_frames_add(writer, world);
        talus_fail_allocation_in(0);
        if (status == TALUS_OK)
            return;
        if (!CHECK(status == TALUS_ERR_MEMORY))
            return;
        ++*failures;
    }
}

TEST(writing_survives_every_failed_allocation)
{
    TalusWorld *world = rain_world(0.05, true);
    TalusFramesDef def = {.title = "Rain", .scene = "rain"};
    TalusFramesWriter *writer, *quiet;
    int failures = 0;
    for (long n = 1; n < 20; n++) {
        talus_fail_allocation_in(n);
        TalusStatus status = talus_frames_create("need.talus", &def, &writer);
        talus_fail_allocation_in(0);
        if (status == TALUS_OK)
            break;
        CHECK(status == TALUS_ERR_MEMORY);
    }
    REQUIRE_OK(talus_frames_create("quiet.talus", &def, &quiet));
    for (int i = 0; i < 18; i++) {
        CHECK_OK(talus_frames_add(quiet, world));
        add_in_need(writer, world, &failures);
        step_world(world, STEPS);
    }
    CHECK(failures > 100);
    CHECK_OK(talus_frames_finish(quiet));
    talus_fail_allocation_in(1);
    CHECK(talus_frames_finish(writer) == TALUS_ERR_MEMORY);
    talus_fail_allocation_in(0);
    REQUIRE_OK(talus_frames_resume("need.talus", 1e9, &writer));
    CHECK_OK(talus_frames_finish(writer));
    CHECK(same_files("quiet.talus", "need.talus"));
    talus_world_destroy(world);
}

TEST(reading_survives_every_failed_allocation)
{
    TalusWorld *world = rain_world(0.0, true);
    int failures = 0;
    write_frames("read.talus", world, TALUS_DETAIL_FULL, 18, STEPS);
    talus_world_destroy(world);
    for (long n = 1;; n++) {
        TalusFrames *frames;
        TalusFramesWriter *writer = NULL;
        TalusSnapshot s = {0};
        talus_fail_allocation_in(n);
        TalusStatus status = talus_frames_open("read.talus", &frames);
        if (status == TALUS_OK)
            status = talus_frames_read(frames, 17, &s);
        if (status == TALUS_OK)
            status = talus_frames_resume("read.talus", 1e9, &writer);
        talus_fail_allocation_in(0);
        talus_snapshot_free(&s);
        talus_frames_close(frames);
        talus_frames_abandon(writer);
        if (status == TALUS_OK)
            break;
        if (!CHECK(status == TALUS_ERR_MEMORY))
            break;
        failures++;
    }
    CHECK(failures > 30);
}

int main(void)
{
    RUN(a_resumed_file_is_the_same);
    RUN(a_resumed_file_is_the_same_when_heads_change);
    RUN(a_resumed_lean_file_is_the_same);
    RUN(what_cannot_be_resumed_is_refused);
    RUN(frames_can_be_read_at_once);
    RUN(a_file_written_anew_is_seen);
    RUN(a_growing_file_shows_whole_chunks);
    RUN(a_full_disk_leaves_a_sound_file);
    RUN(writing_survives_every_failed_allocation);
    RUN(reading_survives_every_failed_allocation);
    return talus_test_result();
}
