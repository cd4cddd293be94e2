/* Lean frames in parts: bodies by blocks of their numbers, a chunk each; files of version 3, which have none. */
#include "frames_scene.h"

#include "base/deflate.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { FRAMES = 36, BODIES = 200, PARTS = 5 };

static const uint64_t part_number[PARTS] = {0, 1, 2, 7, 4000000};

/* What a frame shows of body k: numbers go through the parts; bodies come and go, all of part 2 among them. */
static uint64_t number_of(int k)
{
    const uint64_t per_part = BODIES / PARTS;
    return part_number[(uint64_t)k / per_part] * TALUS_FRAMES_PART + 1 +
           (uint64_t)k % per_part * 1500;
}

static bool is_there(int k, int frame)
{
    const int part = k / (BODIES / PARTS);
    if (part == 2 && frame >= 20)
        return false;
    if (part == 4)
        return frame >= 5 && k % 40 < 2 * (frame - 4);
    return (k * 7 + 3) % 41 > frame || k % 3 == 0;
}

static void fill_body(TalusSnapshot *s, int row, int k, int frame)
{
    const double turn = 0.1 * frame + k, down = 0.01 * frame;
    s->id[row].number = number_of(k);
    s->position[row] = talus_vec3(0.05 * k + 0.001 * frame, sin(k + 0.05 * frame), 3.0 - down);
    s->orientation[row] = (TalusQuat){cos(turn), 0.0, sin(turn), 0.0};
    s->radius[row] = 0.01 + 0.0001 * (k % 20);
    s->shape[row] = k % 4 == 0;
    s->material[row] = k % 2;
    s->tag[row] = k - 100;
    s->fixed[row] = k % 50 == 0;
    s->speed[row] = 0.25 * (k % 5);
    s->force[row] = 2.0 * (k % 3);
    s->dissipated[row] = 0.13 * (k % 7 - 1) * frame;
}

static void make_snapshot(TalusSnapshot *s, int frame)
{
    int count = 0;
    for (int k = 0; k < BODIES; k++)
        count += is_there(k, frame);
    REQUIRE_OK(talus_snapshot_resize(s, talus_frame_fields(true), count, 0));
    s->time = 0.5 * frame;
    s->step = 10 * frame;
    s->length = 0.01;
    s->contact_total = 1000 + frame;
    for (int k = 0, row = 0; k < BODIES; k++)
        if (is_there(k, frame))
            fill_body(s, row++, k, frame);
}

/* A head with a sphere and a box, and two materials. */
static TalusFramesHead make_head(void)
{
    static const TalusShapeDef shapes[] = {{.kind = TALUS_SHAPE_SPHERE},
                                           {.kind = TALUS_SHAPE_BOX, .half = {0.01, 0.02, 0.01}}};
    static const TalusFramesMaterial materials[] = {{"a", 0.3, 1000.0}, {"b", 0.5, 2000.0}};
    return (TalusFramesHead){.title = "Parts",
                             .scene = "parts",
                             .gravity = {0.0, 0.0, -9.81},
                             .step = 0.01,
                             .floor = NAN,
                             .shape_count = 2,
                             .material_count = 2,
                             .shapes = shapes,
                             .materials = materials};
}

static TalusFramesWriter *create(const char *path)
{
    const TalusFramesDef def = {.detail = TALUS_DETAIL_LEAN};
    TalusFramesWriter *writer = NULL;
    CHECK_OK(talus_frames_create(path, &def, &writer));
    return writer;
}

static TalusStatus add(TalusFramesWriter *writer, int frame)
{
    const TalusFramesHead head = make_head();
    TalusSnapshot s = {0};
    make_snapshot(&s, frame);
    const TalusStatus status = talus_frames_add_snapshot(writer, &head, &s);
    talus_snapshot_free(&s);
    return status;
}

static void write_all(const char *path)
{
    TalusFramesWriter *writer = create(path);
    REQUIRE(writer != NULL);
    for (int frame = 0; frame < FRAMES; frame++)
        CHECK_OK(add(writer, frame));
    CHECK_OK(talus_frames_finish(writer));
}

static TalusFrames *open_frames(const char *path)
{
    TalusFrames *frames = NULL;
    CHECK_OK(talus_frames_open(path, &frames));
    return frames;
}

/* True if the frame that was read is the one of make_snapshot, to the file's precision. */
static bool is_frame(const TalusSnapshot *s, const TalusFramesHead *head, int frame)
{
    TalusSnapshot truth = {0};
    make_snapshot(&truth, frame);
    bool same = CHECK_INT(s->body_count, truth.body_count) && s->time == truth.time &&
                s->step == truth.step && s->contact_total == truth.contact_total &&
                s->contact_count == 0 && s->touching == NULL && s->dissipated != NULL;
    for (int i = 0; same && i < s->body_count; i++) {
        const TalusVec3 off = talus_sub(s->position[i], truth.position[i]);
        same = s->id[i].number == truth.id[i].number &&
               fmax(fabs(off.x), fmax(fabs(off.y), fabs(off.z))) <= 0.51 * head->quantum &&
               fabs(s->radius[i] / truth.radius[i] - 1.0) < 1.0 / 64 &&
               s->shape[i] == truth.shape[i] && s->material[i] == truth.material[i] &&
               s->tag[i] == truth.tag[i] && s->fixed[i] == truth.fixed[i] &&
               s->speed[i] == truth.speed[i] && s->force[i] == truth.force[i] &&
               fabs(s->dissipated[i] - truth.dissipated[i]) <= fabs(truth.dissipated[i]) / 127.0;
        if (same && s->shape[i] == 1) {
            const TalusQuat p = s->orientation[i], q = truth.orientation[i];
            same = fabs(fabs(p.w * q.w + p.y * q.y) - 1.0) < 1e-4 && p.x == 0.0 && p.z == 0.0;
        }
    }
    talus_snapshot_free(&truth);
    return same;
}

static bool reads(TalusFrames *frames, int index, int frame)
{
    TalusSnapshot s = {0};
    const bool same = CHECK_OK(talus_frames_read(frames, index, &s)) &&
                      CHECK(is_frame(&s, talus_frames_head(frames, index), frame));
    talus_snapshot_free(&s);
    return same;
}

/* The number of parts that the chunks of a frame's bytes are in; -1 if they are not parts and a frame behind them. */
static int count_parts(const Bytes *file, const TalusFrameInfo *info)
{
    uint64_t at = info->offset;
    TalusChunk chunk;
    for (int parts = 0;; parts++) {
        memcpy(&chunk, file->bytes + at, sizeof chunk);
        at += talus_chunk_bytes(&chunk);
        if (chunk.kind != TALUS_CHUNK_PART)
            return chunk.kind == TALUS_CHUNK_FRAME && at == info->offset + info->size ? parts : -1;
    }
}

TEST(frames_in_parts_come_back_in_any_order)
{
    write_all("parts.talus");
    Bytes file = read_bytes("parts.talus");
    TalusFrames *frames = open_frames("parts.talus");
    REQUIRE(CHECK_INT(talus_frames_count(frames), FRAMES));
    CHECK_INT(talus_frames_version(frames), TALUS_FRAMES_VERSION);
    int keys = 0;
    for (int frame = 0; frame < FRAMES; frame++) {
        const TalusFrameInfo info = talus_frames_info(frames, frame);
        CHECK_INT(count_parts(&file, &info), 4 + (frame >= 5) - (frame >= 20));
        keys += info.key;
        if (!reads(frames, frame, frame))
            break;
    }
    CHECK_INT(keys, 3);
    for (int i = 0; i < 60; i++)
        if (!reads(frames, i * 23 % FRAMES, i * 23 % FRAMES))
            break;
    talus_frames_close(frames);
    talus_release(file.bytes);
}

/* The index says nothing that the chunks do not. */
TEST(without_index_the_same_frames_are_found)
{
    TalusFramesWriter *writer = create("open.talus");
    write_all("parts.talus");
    REQUIRE(writer != NULL);
    for (int frame = 0; frame < FRAMES; frame++)
        CHECK_OK(add(writer, frame));
    talus_frames_abandon(writer);
    TalusFrames *closed = open_frames("parts.talus"), *open = open_frames("open.talus");
    CHECK(talus_frames_complete(closed) && !talus_frames_complete(open));
    REQUIRE(CHECK_INT(talus_frames_count(open), FRAMES));
    for (int frame = 0; frame < FRAMES; frame++) {
        const TalusFrameInfo a = talus_frames_info(closed, frame),
                             b = talus_frames_info(open, frame);
        CHECK(a.offset == b.offset && a.size == b.size && a.bodies == b.bodies &&
              a.time == b.time && a.step == b.step && a.key == b.key);
    }
    CHECK(reads(open, FRAMES - 1, FRAMES - 1));
    talus_frames_close(closed);
    talus_frames_close(open);
}

TEST(a_resumed_file_has_the_same_bytes)
{
    write_all("parts.talus");
    for (int last = 0; last < FRAMES; last += 5) {
        TalusFramesWriter *writer;
        Bytes file = read_bytes("parts.talus");
        write_bytes("again.talus", file.bytes, file.size);
        talus_release(file.bytes);
        REQUIRE_OK(talus_frames_resume("again.talus", 0.5 * last, &writer));
        for (int frame = last + 1; frame < FRAMES; frame++)
            CHECK_OK(add(writer, frame));
        CHECK_OK(talus_frames_finish(writer));
        if (!CHECK(same_files("parts.talus", "again.talus")))
            break;
    }
}

/* A file that is being written, cut anywhere in its last two frames: a frame is there once its last chunk is. */
TEST(a_reader_follows_the_parts)
{
    write_all("parts.talus");
    Bytes file = read_bytes("parts.talus");
    TalusFrames *frames = open_frames("parts.talus"), *follower = NULL;
    TalusFrameInfo last[2] = {talus_frames_info(frames, FRAMES - 2),
                              talus_frames_info(frames, FRAMES - 1)};
    const uint64_t end = last[1].offset + last[1].size;
    talus_frames_close(frames);
    write_bytes("follow.talus", file.bytes, last[0].offset);
    follower = open_frames("follow.talus");
    REQUIRE(follower != NULL);
    for (uint64_t size = last[0].offset; size <= end; size += 8) {
        const int whole = FRAMES - 2 + (size >= last[0].offset + last[0].size) + (size >= end);
        FILE *grown = fopen("follow.talus", "r+b");
        REQUIRE(grown != NULL);
        CHECK(fwrite(file.bytes, 1, size, grown) == size);
        fclose(grown);
        CHECK_OK(talus_frames_refresh(follower));
        frames = open_frames("follow.talus");
        bool same = CHECK_INT(talus_frames_count(follower), whole) &&
                    CHECK_INT(talus_frames_count(frames), whole);
        talus_frames_close(frames);
        if (!same || (size % 256 == 0 && !reads(follower, whole - 1, whole - 1)))
            break;
    }
    talus_frames_close(follower);
    talus_release(file.bytes);
}

/* Puts the checksum right, so that what the chunk says is what is judged. */
static void seal(char *bytes)
{
    TalusChunk chunk;
    memcpy(&chunk, bytes, sizeof chunk);
    chunk.crc = talus_chunk_crc(&chunk, bytes + sizeof chunk);
    memcpy(bytes, &chunk, sizeof chunk);
}

static uint32_t get_word(const char *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static void put_word(char *bytes, uint32_t word)
{
    memcpy(bytes, &word, sizeof word);
}

/* Reads frame 1 of a file with these bytes: it fails, and the error has `words`. */
static void check_refused(const Bytes *file, const char *words)
{
    TalusSnapshot s = {0};
    write_bytes("bad.talus", file->bytes, file->size);
    TalusFrames *frames = open_frames("bad.talus");
    CHECK(talus_frames_read(frames, 1, &s) == TALUS_ERR_FORMAT);
    if (!CHECK(strstr(talus_error(), "bad.talus") == talus_error() &&
               strstr(talus_error(), words) != NULL))
        printf("         %s\n", talus_error());
    talus_snapshot_free(&s);
    talus_frames_close(frames);
}

TEST(parts_that_lie_are_refused)
{
    write_all("parts.talus");
    Bytes file = read_bytes("parts.talus");
    TalusFrames *frames = open_frames("parts.talus");
    const TalusFrameInfo info = talus_frames_info(frames, 1);
    talus_frames_close(frames);
    char *first = file.bytes + info.offset, *second;
    TalusChunk chunk;
    memcpy(&chunk, first, sizeof chunk);
    second = first + talus_chunk_bytes(&chunk);
    char *last = file.bytes + info.offset + info.size - sizeof chunk - sizeof(TalusFrameHead);
    enum { BODIES_AT = sizeof(TalusChunk), PART_AT = BODIES_AT + 12 };
    const struct {
        char *chunk;
        int at;
        uint32_t change;
        const char *words;
    } lies[] = {
        {first, PART_AT, 3, "frame 1: "},
        {second, PART_AT, 0u - 1u, "part 0 with"},
        {first, BODIES_AT, 1, "frame 1: "},
        {first, BODIES_AT, 1u << 20, "frame 1: "},
        {last, BODIES_AT, 1, "frame 1: has 4 parts with"},
        {last, PART_AT, 1, "frame 1: has 4 parts with"},
        {last, PART_AT, 0u - 1u, "frame 1: has 4 parts with"},
        {first, 24, 1, "frame 1: is not the one that the index names"},
        {second, 32, 1, "frame 1: is not the one that the index names"},
        {second, 4, 1, "damaged"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        char *word = lies[i].chunk + lies[i].at;
        put_word(word, get_word(word) + lies[i].change);
        seal(lies[i].chunk);
        check_refused(&file, lies[i].words);
        put_word(word, get_word(word) - lies[i].change);
        seal(lies[i].chunk);
    }
    second[BODIES_AT + 20] ^= 1;
    check_refused(&file, "does not match its checksum");
    talus_release(file.bytes);
}

/* After a power failure the last frame may have its length without its bytes, in any of its chunks. */
TEST(a_torn_part_takes_its_frame_along)
{
    TalusFramesWriter *writer = create("torn.talus");
    REQUIRE(writer != NULL);
    for (int frame = 0; frame < 3; frame++)
        CHECK_OK(add(writer, frame));
    talus_frames_abandon(writer);
    Bytes file = read_bytes("torn.talus");
    TalusFrames *frames = open_frames("torn.talus");
    const TalusFrameInfo info = talus_frames_info(frames, 2);
    talus_frames_close(frames);
    TalusChunk chunk;
    for (uint64_t at = info.offset; at < file.size; at += talus_chunk_bytes(&chunk)) {
        memcpy(&chunk, file.bytes + at, sizeof chunk);
        char *payload = file.bytes + at + sizeof chunk, kept[8];
        memcpy(kept, payload, sizeof kept);
        memset(payload, 0, sizeof kept);
        write_bytes("cut.talus", file.bytes, file.size);
        memcpy(payload, kept, sizeof kept);
        frames = open_frames("cut.talus");
        CHECK_INT(talus_frames_count(frames), 2);
        CHECK(reads(frames, 1, 1));
        talus_frames_close(frames);
    }
    talus_release(file.bytes);
}

static void limit_file_size(uint64_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The disk is full behind some of the parts, or memory is at some allocation: the frame is not there, and comes later. */
TEST(a_frame_that_fails_leaves_no_parts)
{
    TalusFramesWriter *writer = create("need.talus");
    int failures = 0;
    REQUIRE(writer != NULL);
    signal(SIGXFSZ, SIG_IGN);
    for (int frame = 0; frame < FRAMES; frame++) {
        const Bytes before = read_bytes("need.talus");
        for (uint64_t room = 100; room < 2000; room += 700) {
            limit_file_size(before.size + room);
            const TalusStatus status = add(writer, frame);
            limit_file_size(RLIM_INFINITY);
            CHECK(status == TALUS_ERR_IO);
            const Bytes after = read_bytes("need.talus");
            CHECK_INT((long long)after.size, (long long)before.size);
            talus_release(after.bytes);
        }
        talus_release(before.bytes);
        const TalusFramesHead head = make_head();
        TalusSnapshot s = {0};
        make_snapshot(&s, frame);
        for (long n = 1 + frame % 3;; n += 3) {
            talus_fail_allocation_in(n);
            const TalusStatus status = talus_frames_add_snapshot(writer, &head, &s);
            talus_fail_allocation_in(0);
            if (status == TALUS_OK)
                break;
            failures++;
            if (!CHECK(status == TALUS_ERR_MEMORY))
                break;
        }
        talus_snapshot_free(&s);
    }
    CHECK(failures > 20);
    CHECK_OK(talus_frames_finish(writer));
    write_all("parts.talus");
    CHECK(same_files("parts.talus", "need.talus"));
}

/* Old numbers that were not in the frame before can come in key frames only: the whole frame becomes one. */
TEST(bodies_that_come_back_make_a_key_frame)
{
    const TalusFramesHead head = make_head();
    TalusFramesWriter *writer = create("back.talus");
    TalusSnapshot s = {0};
    REQUIRE(writer != NULL);
    for (int frame = 0; frame < 4; frame++) {
        make_snapshot(&s, frame == 1 ? 19 : 0); /* many are missing in frame 1 */
        s.time = 0.5 * frame;
        CHECK_OK(talus_frames_add_snapshot(writer, &head, &s));
    }
    CHECK_OK(talus_frames_finish(writer));
    TalusFrames *frames = open_frames("back.talus");
    static const bool key[] = {true, false, true, false};
    for (int frame = 0; frame < 4; frame++) {
        CHECK_INT(talus_frames_info(frames, frame).key, key[frame]);
        CHECK_OK(talus_frames_read(frames, frame, &s));
    }
    talus_frames_close(frames);
    talus_snapshot_free(&s);
}

/* Frames without bodies, and those whose ids do not ascend, are whole; frames in parts may follow. */
TEST(other_frames_are_whole)
{
    const TalusFramesHead head = make_head();
    TalusFramesWriter *writer = create("mixed.talus");
    TalusSnapshot s = {0};
    REQUIRE(writer != NULL);
    for (int frame = 0; frame < 6; frame++) {
        make_snapshot(&s, frame);
        if (frame == 2)
            s.body_count = 0;
        if (frame == 3) {
            const TalusBodyId id = s.id[0];
            s.id[0] = s.id[1];
            s.id[1] = id;
        }
        CHECK_OK(talus_frames_add_snapshot(writer, &head, &s));
    }
    talus_snapshot_free(&s);
    CHECK_OK(talus_frames_finish(writer));
    Bytes file = read_bytes("mixed.talus");
    TalusFrames *frames = open_frames("mixed.talus");
    static const int parts[] = {4, 4, 0, 0, 4, 5};
    for (int frame = 0; frame < 6; frame++) {
        const TalusFrameInfo info = talus_frames_info(frames, frame);
        CHECK_INT(count_parts(&file, &info), parts[frame]);
        if (frame != 2 && frame != 3)
            CHECK(reads(frames, frame, frame));
    }
    CHECK_OK(talus_frames_read(frames, 2, &s));
    CHECK_INT(s.body_count, 0);
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    talus_release(file.bytes);
}

/* A lean file of version 3 is read, and gone on with in version 3, without parts. */
TEST(version_3_has_no_parts)
{
    if (!talus_deflate_available())
        SKIP("no zlib in this build, with which the file is compressed");
    const char *dir = getenv("TALUS_SOURCE_DIR");
    char path[4096];
    TalusFramesWriter *writer;
    TalusSnapshot s = {0};
    snprintf(path, sizeof path, "%s/tests/frames/version-3.talus", dir ? dir : ".");
    Bytes file = read_bytes(path);
    write_bytes("old.talus", file.bytes, file.size);
    TalusFrames *frames = open_frames("old.talus");
    CHECK_INT(talus_frames_version(frames), 3);
    REQUIRE(CHECK_INT(talus_frames_count(frames), 20));
    const TalusFrameInfo sixth = talus_frames_info(frames, 5);
    TalusWorld *world = rain_world(0.1, true);
    step_world(world, 6 * 8);
    talus_frames_close(frames);
    REQUIRE_OK(talus_frames_resume("old.talus", sixth.time, &writer));
    for (int i = 6; i < 20; i++) {
        CHECK_OK(talus_frames_add(writer, world));
        step_world(world, 8);
    }
    CHECK_OK(talus_frames_finish(writer));
    talus_world_destroy(world);
    frames = open_frames("old.talus");
    CHECK_INT(talus_frames_version(frames), 3);
    REQUIRE(CHECK_INT(talus_frames_count(frames), 20));
    talus_release(file.bytes);
    file = read_bytes("old.talus");
    for (int i = 0; i < 20; i++) {
        const TalusFrameInfo info = talus_frames_info(frames, i);
        CHECK_INT(count_parts(&file, &info), 0);
        CHECK_OK(talus_frames_read(frames, i, &s));
    }
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    talus_release(file.bytes);
}

int main(void)
{
    RUN(frames_in_parts_come_back_in_any_order);
    RUN(without_index_the_same_frames_are_found);
    RUN(a_resumed_file_has_the_same_bytes);
    RUN(a_reader_follows_the_parts);
    RUN(parts_that_lie_are_refused);
    RUN(a_torn_part_takes_its_frame_along);
    RUN(a_frame_that_fails_leaves_no_parts);
    RUN(bodies_that_come_back_make_a_key_frame);
    RUN(other_frames_are_whole);
    RUN(version_3_has_no_parts);
    return talus_test_result();
}
