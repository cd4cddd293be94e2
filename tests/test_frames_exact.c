/* Exact frames: the bits of the snapshots that were written, also after a resume; damage and the limits of a reader. */
#include "frames_scene.h"

#include "io/run/exact_start.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { FRAMES = 20, STEPS = 3 };

static const char path[] = "exact.talus", plain_path[] = "plain.talus", cut_path[] = "cut.talus";

#define SAME(array, count) \
    CHECK((count) == 0 || memcmp(a->array, b->array, (size_t)(count) * sizeof *a->array) == 0)

/* All numbers of two snapshots have the same bits. */
static void check_same(const TalusSnapshot *a, const TalusSnapshot *b)
{
    REQUIRE(a->body_count == b->body_count && a->contact_count == b->contact_count);
    CHECK(a->fields == b->fields);
    CHECK(a->time == b->time && a->step == b->step && a->length == b->length);
    CHECK(a->contact_total == b->contact_total);
    SAME(id, a->body_count);
    SAME(position, a->body_count);
    SAME(velocity, a->body_count);
    SAME(spin, a->body_count);
    SAME(orientation, a->body_count);
    SAME(speed, a->body_count);
    SAME(radius, a->body_count);
    SAME(mass, a->body_count);
    SAME(force, a->body_count);
    SAME(touching, a->body_count);
    SAME(shape, a->body_count);
    SAME(material, a->body_count);
    SAME(tag, a->body_count);
    SAME(fixed, a->body_count);
    SAME(contact, a->contact_count);
    SAME(contact_a, a->contact_count);
    SAME(contact_b, a->contact_count);
}

/* Rain, frame by frame, with a snapshot of each frame and the state of the world at it. */
typedef struct Run {
    TalusSnapshot snapshot[FRAMES];
    void *state[FRAMES];
    size_t size[FRAMES];
} Run;

static void write_run(Run *run, const char *to, bool exact)
{
    TalusFramesDef def = {.title = "Rain", .exact = exact};
    TalusFramesWriter *writer;
    TalusWorld *world = rain_world(0.0, true);
    REQUIRE_OK(talus_frames_create(to, &def, &writer));
    for (int i = 0; i < FRAMES; i++, step_world(world, STEPS)) {
        CHECK_OK(talus_frames_add(writer, world));
        if (!run)
            continue;
        CHECK_OK(talus_snapshot_take(&run->snapshot[i], world, TALUS_EXACT_FIELDS));
        CHECK_OK(talus_world_save(world, &run->state[i], &run->size[i]));
    }
    CHECK_OK(talus_frames_finish(writer));
    talus_world_destroy(world);
}

static void free_run(Run *run)
{
    for (int i = 0; i < FRAMES; i++) {
        talus_snapshot_free(&run->snapshot[i]);
        talus_free(run->state[i]);
    }
}

static void check_file(const char *name, const Run *run)
{
    TalusSnapshot got = {0};
    TalusFrames *frames;
    REQUIRE_OK(talus_frames_open(name, &frames));
    CHECK(talus_frames_count(frames) == FRAMES);
    for (int i = FRAMES - 1; i >= 0; i -= 3) { /* in any order */
        CHECK(talus_frames_exact(frames, i));
        CHECK_OK(talus_frames_read_exact(frames, i, &got));
        check_same(&run->snapshot[i], &got);
    }
    CHECK(!talus_frames_exact(frames, -1) && !talus_frames_exact(frames, FRAMES));
    talus_snapshot_free(&got);
    talus_frames_close(frames);
}

TEST(exact_frames_have_the_bits_of_the_snapshots)
{
    Run run = {0};
    write_run(&run, path, true);
    CHECK(run.snapshot[FRAMES - 1].contact_count > 20);
    check_file(path, &run);
    free_run(&run);
}

TEST(rounded_frames_are_the_same_beside_exact_ones)
{
    TalusSnapshot a = {0}, b = {0};
    TalusFrames *exact, *plain;
    write_run(NULL, path, true);
    write_run(NULL, plain_path, false);
    REQUIRE_OK(talus_frames_open(path, &exact));
    REQUIRE_OK(talus_frames_open(plain_path, &plain));
    REQUIRE(talus_frames_count(plain) == talus_frames_count(exact));
    for (int i = 0; i < talus_frames_count(plain); i++) {
        const TalusFrameInfo x = talus_frames_info(exact, i), y = talus_frames_info(plain, i);
        CHECK(x.size == y.size && x.bodies == y.bodies && x.key == y.key);
        CHECK_OK(talus_frames_read(exact, i, &a));
        CHECK_OK(talus_frames_read(plain, i, &b));
        CHECK(a.body_count == b.body_count && a.contact_count == b.contact_count);
        CHECK(memcmp(a.position, b.position, (size_t)a.body_count * sizeof *a.position) == 0);
    }
    CHECK(!talus_frames_exact(plain, 3));
    CHECK(talus_frames_read_exact(plain, 3, &a) == TALUS_ERR_UNSUPPORTED);
    CHECK(strstr(talus_error(), "--frames exact") != NULL);
    talus_snapshot_free(&a);
    talus_snapshot_free(&b);
    talus_frames_close(exact);
    talus_frames_close(plain);
}

/* The rest of a run from frame `first` on, in a file that was resumed there. */
static void go_on(const Run *run, const char *name, int first)
{
    TalusFramesWriter *writer;
    REQUIRE_OK(talus_frames_resume(name, run->snapshot[first].time * (1.0 - 1e-9), &writer));
    for (int i = first; i < FRAMES; i++) {
        TalusWorld *world = NULL;
        REQUIRE_OK(talus_world_load(run->state[i], run->size[i], 1, NULL, &world));
        CHECK_OK(talus_frames_add(writer, world));
        talus_world_destroy(world);
    }
    CHECK_OK(talus_frames_finish(writer));
}

TEST(a_resumed_file_goes_on_with_exact_frames)
{
    static const int starts[] = {1, 7, 16, 19};
    Run run = {0};
    char *whole, *again;
    size_t size, got;
    write_run(&run, path, true);
    REQUIRE_OK(talus_read_file(path, 1 << 26, &whole, &size));
    for (int i = 0; i < 4; i++) {
        go_on(&run, path, starts[i]);
        REQUIRE_OK(talus_read_file(path, 1 << 26, &again, &got));
        CHECK(got == size && memcmp(whole, again, size) == 0);
        talus_release(again);
    }
    check_file(path, &run);
    talus_release(whole);
    free_run(&run);
}

TEST(a_file_cut_within_exact_data_has_the_frames_before)
{
    Run run = {0};
    TalusFrames *frames;
    TalusSnapshot got = {0};
    char *whole;
    size_t size;
    write_run(&run, path, true);
    REQUIRE_OK(talus_read_file(path, 1 << 26, &whole, &size));
    REQUIRE_OK(talus_frames_open(path, &frames));
    const uint64_t exact = frames->exact[5], frame = frames->frame[5].offset;
    CHECK(exact > frames->frame[4].offset && frame > exact);
    talus_frames_close(frames);

    write_bytes(cut_path, whole, (size_t)exact + 100); /* within the data of frame 5 */
    REQUIRE_OK(talus_frames_open(cut_path, &frames));
    CHECK(talus_frames_count(frames) == 5 && talus_frames_exact(frames, 4));
    write_bytes(cut_path, whole, (size_t)frame + 20); /* behind them, within the frame */
    CHECK_OK(talus_frames_refresh(frames));
    CHECK(talus_frames_count(frames) == 5);
    write_bytes(cut_path, whole, size);
    CHECK_OK(talus_frames_refresh(frames));
    CHECK(talus_frames_count(frames) == FRAMES);
    CHECK_OK(talus_frames_read_exact(frames, 5, &got));
    check_same(&run.snapshot[5], &got);
    talus_frames_close(frames);

    whole[exact + 200] = (char)~whole[exact + 200];
    write_bytes(cut_path, whole, size);
    REQUIRE_OK(talus_frames_open(cut_path, &frames));
    CHECK(talus_frames_read_exact(frames, 5, &got) == TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "frame 5") != NULL);
    CHECK_OK(talus_frames_read(frames, 5, &got)); /* the rounded frame is sound */
    CHECK_OK(talus_frames_read_exact(frames, 6, &got));
    check_same(&run.snapshot[6], &got);
    talus_frames_close(frames);
    talus_snapshot_free(&got);
    talus_release(whole);
    free_run(&run);
}

/* Decodes the chunk in the packer with a changed head of its payload. */
static TalusStatus decode_with(const TalusPacker *packer, const TalusFramesHead *head,
                               TalusFrameHead counts)
{
    unsigned char *bytes = malloc(packer->size);
    TalusUnpacker unpacker = {0};
    TalusSnapshot got = {0};
    TalusChunk chunk;
    if (!bytes)
        return TALUS_ERR_MEMORY;
    memcpy(bytes, packer->bytes, packer->size);
    memcpy(&chunk, bytes, sizeof chunk);
    memcpy(bytes + sizeof chunk, &counts, sizeof counts);
    const TalusStatus status =
        talus_frame_decode_exact(&unpacker, head, &chunk, bytes + sizeof chunk, &got);
    talus_snapshot_free(&got);
    talus_unpacker_clear(&unpacker);
    free(bytes);
    return status;
}

TEST(wrong_counts_and_lacking_fields_are_refused)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusPacker packer = {0};
    TalusSnapshot s = {0};
    TalusHeadStore head = {0};
    TalusFrameHead counts;
    step_world(world, 40);
    CHECK_OK(talus_frames_head_of_world(world, NULL, NULL, &head));
    CHECK_OK(talus_snapshot_take(&s, world, TALUS_SNAPSHOT_FORCE));
    CHECK(talus_frame_encode_exact(&packer, &s) == TALUS_ERR_ARGUMENT);
    CHECK_OK(talus_snapshot_take(&s, world, TALUS_EXACT_FIELDS));
    CHECK_OK(talus_frame_encode_exact(&packer, &s));
    memcpy(&counts, packer.bytes + sizeof(TalusChunk), sizeof counts);
    CHECK_OK(decode_with(&packer, &head.head, counts));
    TalusFrameHead wrong = counts;
    wrong.contacts = UINT32_MAX;
    CHECK(decode_with(&packer, &head.head, wrong) == TALUS_ERR_FORMAT);
    wrong = counts;
    wrong.contacts--;
    CHECK(decode_with(&packer, &head.head, wrong) == TALUS_ERR_FORMAT);
    wrong = counts;
    wrong.bodies = UINT32_MAX;
    CHECK(decode_with(&packer, &head.head, wrong) != TALUS_OK);
    head.head.shape_count = 1; /* others are unknown */
    CHECK(decode_with(&packer, &head.head, counts) == TALUS_ERR_FORMAT);
    talus_snapshot_free(&s);
    talus_frames_head_clear(&head);
    talus_packer_clear(&packer);
    talus_world_destroy(world);
}

/* Starts a world from the frame of `run` at or before `time`, and compares all bodies with frame `expected`. */
static void check_start(const Run *run, double time, int expected)
{
    const TalusSnapshot *a = &run->snapshot[expected];
    TalusWorldDef def = talus_world_def_default();
    TalusWorld *world;
    TalusSnapshot got = {0}, *b = &got;
    double found;
    CHECK_OK(talus_exact_find("start", time, &found));
    CHECK(found == a->time);
    REQUIRE_OK(talus_exact_start("start", time, true, &def, &world));
    CHECK_OK(talus_snapshot_take(&got, world, TALUS_EXACT_FIELDS));
    REQUIRE(b->body_count == a->body_count);
    CHECK(b->time == 0.0 && b->contact_count == 0);
    SAME(position, a->body_count);
    SAME(velocity, a->body_count);
    SAME(spin, a->body_count);
    SAME(orientation, a->body_count);
    SAME(radius, a->body_count);
    SAME(mass, a->body_count);
    SAME(shape, a->body_count);
    SAME(material, a->body_count);
    SAME(tag, a->body_count);
    SAME(fixed, a->body_count);
    CHECK_OK(talus_world_step(world, NULL));
    talus_snapshot_free(&got);
    talus_world_destroy(world);
}

TEST(a_world_starts_with_the_bits_of_an_exact_frame)
{
    Run run = {0};
    TalusWorld *world;
    double found;
    const TalusWorldDef def = talus_world_def_default();
    (void)mkdir("start", 0777);
    write_run(&run, "start/frames.talus", true);
    check_start(&run, INFINITY, FRAMES - 1);
    check_start(&run, run.snapshot[9].time, 9);
    check_start(&run, run.snapshot[9].time + 0.001, 9);
    write_run(NULL, "start/frames.talus", false);
    CHECK_OK(talus_exact_find("start", INFINITY, &found));
    CHECK(isnan(found));
    CHECK(talus_exact_start("start", INFINITY, true, &def, &world) == TALUS_ERR_ARGUMENT);
    CHECK_OK(talus_exact_find("nowhere", INFINITY, &found));
    CHECK(isnan(found));
    free_run(&run);
}

int main(void)
{
    RUN(exact_frames_have_the_bits_of_the_snapshots);
    RUN(rounded_frames_are_the_same_beside_exact_ones);
    RUN(a_resumed_file_goes_on_with_exact_frames);
    RUN(a_file_cut_within_exact_data_has_the_frames_before);
    RUN(a_world_starts_with_the_bits_of_an_exact_frame);
    RUN(wrong_counts_and_lacking_fields_are_refused);
    return talus_test_result();
}
