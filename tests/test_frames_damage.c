/* Torn, flipped and lying files: read up to the damage, or refused with file, frame and reason. */
#include "frames_scene.h"

#include "base/deflate.h"
#include "base/rng.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { FRAMES = 6 };

/* A small sound file in memory, with the places of its frames. */
typedef struct Sample {
    Bytes file;
    TalusFrameInfo frame[FRAMES];
    uint64_t head, head_size;
} Sample;

static void make_sample(Sample *sample, TalusDetail detail)
{
    TalusWorld *world = rain_world(0.0, true);
    TalusFrames *frames;
    step_world(world, 25);
    write_frames("sample.talus", world, detail, FRAMES, 8);
    talus_world_destroy(world);
    sample->file = read_bytes("sample.talus");
    REQUIRE_OK(talus_frames_open("sample.talus", &frames));
    for (int i = 0; i < FRAMES; i++)
        sample->frame[i] = talus_frames_info(frames, i);
    talus_frames_head_location(frames, 0, &sample->head, &sample->head_size);
    talus_frames_close(frames);
}

static TalusStatus read_all(const char *path, int *read)
{
    TalusFrames *frames;
    TalusSnapshot s = {0};
    *read = 0;
    TalusStatus status = talus_frames_open(path, &frames);
    for (int i = 0; status == TALUS_OK && i < talus_frames_count(frames); i++) {
        status = talus_frames_read(frames, i, &s);
        *read += status == TALUS_OK;
    }
    talus_snapshot_free(&s);
    talus_frames_close(frames);
    return status;
}

/* ---- torn ---- */

TEST(torn_anywhere_the_frames_before_are_read)
{
    Sample sample;
    int read;
    make_sample(&sample, TALUS_DETAIL_FULL);
    const TalusFrameInfo *last = &sample.frame[FRAMES - 1];
    for (size_t size = last->offset; size < sample.file.size; size++) {
        write_bytes("torn.talus", sample.file.bytes, size);
        if (!CHECK_OK(read_all("torn.talus", &read)) ||
            !CHECK_INT(read, size < last->offset + last->size ? FRAMES - 1 : FRAMES))
            break;
    }
    for (size_t size = 0; size < sample.frame[0].offset + sample.frame[0].size; size += 13) {
        write_bytes("torn.talus", sample.file.bytes, size);
        if (!CHECK_OK(read_all("torn.talus", &read)) || !CHECK_INT(read, 0))
            break;
    }
    talus_release(sample.file.bytes);
}

static int warnings;

static void count_warning(void *user, TalusLogLevel level, const char *id, const char *text)
{
    (void)user;
    (void)text;
    warnings += level == TALUS_LOG_WARNING && strcmp(id, "frames.damaged") == 0;
}

/* A machine that lost power may leave the length of the last chunk and zeros in it. */
TEST(a_last_chunk_of_zeros_is_left_out)
{
    Sample sample;
    TalusFrames *frames;
    int read;
    make_sample(&sample, TALUS_DETAIL_FULL);
    const TalusFrameInfo *last = &sample.frame[FRAMES - 1];
    size_t end = last->offset + last->size;
    warnings = 0;
    talus_set_log(count_warning, NULL);
    Bytes sound = read_bytes("sample.talus");
    memset(sample.file.bytes + last->offset + 200, 0, last->size - 200);
    write_bytes("zeros.talus", sample.file.bytes, end);
    REQUIRE_OK(talus_frames_open("zeros.talus", &frames));
    CHECK_INT(talus_frames_count(frames), FRAMES - 1);
    CHECK_OK(talus_frames_refresh(frames));
    CHECK_INT(talus_frames_count(frames), FRAMES - 1);
    FILE *file = fopen("zeros.talus", "r+b"); /* its bytes come after all */
    REQUIRE(file && fwrite(sound.bytes, 1, sound.size, file) == sound.size);
    fclose(file);
    CHECK_OK(talus_frames_refresh(frames));
    CHECK_INT(talus_frames_count(frames), FRAMES);
    CHECK(talus_frames_complete(frames));
    talus_frames_close(frames);
    talus_release(sound.bytes);
    CHECK_INT(warnings, 1);
    memset(sample.file.bytes + last->offset, 0, last->size);
    write_bytes("zeros.talus", sample.file.bytes, end);
    CHECK_OK(read_all("zeros.talus", &read));
    CHECK_INT(read, FRAMES - 1);
    CHECK_INT(warnings, 2);
    talus_set_log(NULL, NULL);
    talus_release(sample.file.bytes);
}

/* ---- flipped ---- */

static void overwrite(const char *path, const Sample *sample)
{
    FILE *file = fopen(path, "r+b");
    REQUIRE(file && fwrite(sample->file.bytes, 1, sample->file.size, file) == sample->file.size);
    fclose(file);
}

/* A frame that could not be read for a while leaves the reader able to go on from it. */
TEST(what_is_mended_is_read_again)
{
    Sample sample;
    TalusFrames *frames;
    TalusSnapshot s = {0}, sound = {0};
    make_sample(&sample, TALUS_DETAIL_FULL);
    write_bytes("mend.talus", sample.file.bytes, sample.file.size);
    REQUIRE_OK(talus_frames_open("mend.talus", &frames));
    CHECK_OK(talus_frames_read(frames, 3, &sound));
    CHECK_OK(talus_frames_read(frames, 2, &s));
    size_t byte = sample.frame[2].offset + 500;
    sample.file.bytes[byte] ^= 1;
    overwrite("mend.talus", &sample);
    CHECK(talus_frames_read(frames, 2, &s) == TALUS_ERR_FORMAT);
    sample.file.bytes[byte] ^= 1;
    overwrite("mend.talus", &sample);
    CHECK_OK(talus_frames_read(frames, 3, &s));
    REQUIRE(s.body_count == sound.body_count);
    CHECK(memcmp(s.position, sound.position, (size_t)s.body_count * sizeof *s.position) == 0);
    talus_frames_close(frames);
    talus_snapshot_free(&s);
    talus_snapshot_free(&sound);
    talus_release(sample.file.bytes);
}

static int frame_of(const Sample *sample, size_t byte)
{
    for (int i = 0; i < FRAMES; i++)
        if (byte >= sample->frame[i].offset &&
            byte < sample->frame[i].offset + sample->frame[i].size)
            return i;
    return -1;
}

/* No byte of a chunk can change unnoticed, but for the zeros after it. */
static bool check_flip(const Sample *sample, size_t byte)
{
    int read, frame = frame_of(sample, byte);
    TalusStatus status = read_all("flip.talus", &read);
    if (status == TALUS_OK && frame >= 0)
        return byte >= sample->frame[frame].offset + sample->frame[frame].size - 8 || read < FRAMES;
    return status == TALUS_OK || strstr(talus_error(), "flip.talus: ") == talus_error();
}

TEST(flipped_bytes_are_noticed)
{
    Sample sample;
    make_sample(&sample, TALUS_DETAIL_FULL);
    for (size_t byte = 0; byte < sample.file.size; byte += byte < 1200 ? 1 : 11) {
        sample.file.bytes[byte] ^= (char)(1 << byte % 8);
        write_bytes("flip.talus", sample.file.bytes, sample.file.size);
        if (!CHECK(check_flip(&sample, byte)))
            printf("byte %zu: %s\n", byte, talus_error());
        sample.file.bytes[byte] ^= (char)(1 << byte % 8);
    }
    sample.file.bytes[sample.frame[2].offset + 500] ^= 1;
    write_bytes("flip.talus", sample.file.bytes, sample.file.size);
    int read;
    CHECK(read_all("flip.talus", &read) == TALUS_ERR_FORMAT);
    CHECK(strstr(talus_error(), "flip.talus: frame 2: damaged: the chunk at byte ") != NULL);
    CHECK_INT(read, 2);
    talus_release(sample.file.bytes);
}

/* ---- lying, with sound checksums ---- */

static void seal(Bytes file, uint64_t offset)
{
    TalusChunk chunk;
    memcpy(&chunk, file.bytes + offset, sizeof chunk);
    if (chunk.size > file.size - offset - sizeof chunk)
        return;
    chunk.crc = talus_chunk_crc(&chunk, file.bytes + offset + sizeof chunk);
    memcpy(file.bytes + offset, &chunk, sizeof chunk);
}

/* Where the head of an array stands in the file; 0 if it is not there. */
static size_t find_array(Bytes file, uint64_t frame, int name)
{
    TalusFrameHead head;
    TalusArrayHead array;
    size_t at = frame + sizeof(TalusChunk);
    memcpy(&head, file.bytes + at, sizeof head);
    at += sizeof head;
    for (uint32_t i = 0; i < head.arrays; i++) {
        memcpy(&array, file.bytes + at, sizeof array);
        if (array.name == name)
            return at;
        at += sizeof array + (array.bytes + 7) / 8 * 8;
    }
    return 0;
}

typedef struct Lie {
    int frame, array; /* array 0: the frame's own head */
    size_t field;     /* offset in the head */
    int width;        /* bytes of the field */
    uint32_t value;
    const char *message;
} Lie;

#define IN_FRAME(field) 0, offsetof(TalusFrameHead, field), 4
#define IN_ARRAY(name, field, width) name, offsetof(TalusArrayHead, field), width

static void check_lie(const Sample *sample, const Lie *lie)
{
    Bytes copy = sample->file;
    uint64_t frame = sample->frame[lie->frame].offset;
    int read;
    if (!CHECK_OK(TALUS_ALLOC(copy.bytes, copy.size, "copy")))
        return;
    memcpy(copy.bytes, sample->file.bytes, copy.size);
    size_t at = lie->array ? find_array(copy, frame, lie->array) : frame + sizeof(TalusChunk);
    CHECK(at > 0);
    memcpy(copy.bytes + at + lie->field, &lie->value, (size_t)lie->width);
    seal(copy, frame);
    write_bytes("lie.talus", copy.bytes, copy.size);
    size_t peak = talus_memory_now();
    talus_memory_reset_peak();
    CHECK(read_all("lie.talus", &read) == TALUS_ERR_FORMAT);
    CHECK(talus_memory_peak() - peak < (size_t)4 << 20);
    CHECK_INT(read, lie->frame);
    char start[64];
    snprintf(start, sizeof start, "lie.talus: frame %d: ", lie->frame);
    if (!CHECK(strstr(talus_error(), start) == talus_error()) ||
        !CHECK(strstr(talus_error(), lie->message) != NULL))
        printf("  %s\n  expected \"%s\"\n", talus_error(), lie->message);
    talus_release(copy.bytes);
}

TEST(lies_are_refused)
{
    static const Lie lies[] = {
        {1, IN_FRAME(bodies), 0xffffffff, "claims 4294967295 bodies"},
        {1, IN_FRAME(bodies), 0x7fffffff, "claims 2147483647 bodies in "},
        {1, IN_FRAME(bodies), 9000, "number: "},
        {1, IN_FRAME(bodies), 3, "tuples; expected 3"},
        {4, IN_FRAME(contacts), 1, " chains of 1 contacts"},
        {1, IN_FRAME(arrays), 0xffffffff, "announces 4294967295 arrays and ends before them"},
        {1, IN_FRAME(arrays), 0, "number: 0 tuples; expected"},
        {1, IN_ARRAY(TALUS_ARRAY_POSITION, tuples, 4), 0xffffffff, "position: "},
        {1, IN_ARRAY(TALUS_ARRAY_POSITION, bytes, 4), 0xffffffff, "bytes, of which "},
        {1, IN_ARRAY(TALUS_ARRAY_POSITION, components, 1), 255, "position: "},
        {1, IN_ARRAY(TALUS_ARRAY_POSITION, type, 1), 9, "position: type 9"},
        {1, IN_ARRAY(TALUS_ARRAY_POSITION, width, 1), 3, "position: type 1 with 3 bytes"},
        {1, IN_ARRAY(TALUS_ARRAY_POSITION, coding, 1), 7, "position: coding 7"},
        {1, IN_ARRAY(TALUS_ARRAY_POSITION, prediction, 1), 3, "position: prediction 3"},
        {1, IN_ARRAY(TALUS_ARRAY_POSITION, name, 1), TALUS_ARRAY_NUMBER, "number: is there twice"},
        {1, IN_ARRAY(TALUS_ARRAY_FORCE, name, 1), 99, "force: 0 tuples; expected"},
        {1, IN_ARRAY(TALUS_ARRAY_FORCE, prediction, 1), 1, "force: prediction 1"},
        {0, IN_ARRAY(TALUS_ARRAY_POSITION, prediction, 1), 2, "predicted from a frame before"},
        {0, IN_ARRAY(TALUS_ARRAY_SHAPE, type, 1), 3, "shape: type 3"},
    };
    Sample sample;
    make_sample(&sample, TALUS_DETAIL_FULL);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        check_lie(&sample, &lies[i]);
    talus_release(sample.file.bytes);
}

/* Values of arrays, in a file whose arrays are stored as they are. */
typedef struct Value {
    int array;
    size_t byte;
    unsigned char value;
    const char *message;
} Value;

/* Key frame of two boxes and a ball at rest on a plane, small enough to be stored. */
static void make_stored(const char *path)
{
    TalusWorldDef def = talus_world_def_default();
    TalusShapeDef plane = {.kind = TALUS_SHAPE_PLANE};
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    TalusShapeDef box = {.kind = TALUS_SHAPE_BOX, .half = {0.1, 0.1, 0.1}};
    TalusWorld *world;
    def.threads = 1;
    REQUIRE_OK(talus_world_create(&def, &world));
    CHECK_OK(add_body(world, plane, talus_vec3(0.0, 0.0, 0.0), true, 0));
    CHECK_OK(add_body(world, box, talus_vec3(1.0, 0.0, 0.1), false, 0));
    CHECK_OK(add_body(world, ball, talus_vec3(0.0, 0.0, 0.1), false, 0));
    step_world(world, 5);
    write_frames(path, world, TALUS_DETAIL_FULL, 1, 1);
    talus_world_destroy(world);
}

TEST(wrong_values_are_refused)
{
    static const Value values[] = {
        {TALUS_ARRAY_SHAPE, 1, 6, "shape: 3; expected 0 to 2"},
        {TALUS_ARRAY_SHAPE, 1, 5, "shape: -3; expected 0 to 2"},
        {TALUS_ARRAY_MATERIAL, 1, 2, "material: 1; expected 0 to 0"},
        {TALUS_ARRAY_FIXED, 1, 4, "fixed: 2; expected 0 to 1"},
        {TALUS_ARRAY_VELOCITY, 3, 0x7f, "velocity: a value is not finite"}, /* with 0x80 below */
        {TALUS_ARRAY_RADIUS, 10, 0xff, "radius: "},
        {TALUS_ARRAY_CHAIN_A, 0, 1, "chain 0: joins bodies -1 and "},
        {TALUS_ARRAY_CHAIN_B, 0, 0, "chain 0: joins bodies "},
    };
    TalusFrames *frames;
    make_stored("stored.talus");
    Sample sample = {.file = read_bytes("stored.talus")};
    REQUIRE_OK(talus_frames_open("stored.talus", &frames));
    uint64_t frame = talus_frames_info(frames, 0).offset;
    talus_frames_close(frames);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int read;
        size_t at = find_array(sample.file, frame, values[i].array);
        TalusArrayHead head;
        REQUIRE(at > 0);
        memcpy(&head, sample.file.bytes + at, sizeof head);
        CHECK(head.coding == TALUS_CODING_STORED && head.bytes > values[i].byte);
        char *byte = sample.file.bytes + at + sizeof head + values[i].byte;
        char old = *byte;
        *byte = (char)values[i].value;
        if (values[i].array == TALUS_ARRAY_VELOCITY)
            byte[-3] = (char)0x80; /* the lowest bit of the exponent */
        seal(sample.file, frame);
        write_bytes("value.talus", sample.file.bytes, sample.file.size);
        TalusStatus status = read_all("value.talus", &read);
        if (!CHECK(status == TALUS_ERR_FORMAT) ||
            !CHECK(strstr(talus_error(), values[i].message) != NULL))
            printf("  %s: %s\n", talus_array_name(values[i].array), talus_error());
        *byte = old;
    }
    talus_release(sample.file.bytes);
}

/* Compressed data without zlib are named as such; with it, streams that lie are refused. */
TEST(compressed_data_are_checked)
{
    Sample sample;
    int read;
    make_stored("stored.talus");
    sample.file = read_bytes("stored.talus");
    TalusFrames *frames;
    REQUIRE_OK(talus_frames_open("stored.talus", &frames));
    uint64_t frame = talus_frames_info(frames, 0).offset;
    talus_frames_close(frames);
    sample.file.bytes[find_array(sample.file, frame, TALUS_ARRAY_NUMBER) + 5] = TALUS_CODING_ZLIB;
    seal(sample.file, frame);
    write_bytes("zlib.talus", sample.file.bytes, sample.file.size);
    TalusStatus status = read_all("zlib.talus", &read);
    if (talus_deflate_available()) {
        CHECK(status == TALUS_ERR_FORMAT);
        CHECK(strstr(talus_error(),
                     "zlib.talus: frame 0: number: the compressed data are damaged: ") != NULL);
    } else {
        CHECK(status == TALUS_ERR_UNSUPPORTED);
        CHECK_STR(talus_error(), "zlib.talus: frame 0: number: the data are compressed: this build "
                                 "has no zlib (Debian: zlib1g-dev; then configure again)");
    }
    talus_release(sample.file.bytes);
}

TEST(chance_finds_nothing)
{
    Sample sample;
    TalusRng rng = talus_rng_from_seed(11);
    int read, refused = 0;
    make_sample(&sample, TALUS_DETAIL_FULL);
    size_t end = sample.frame[1].offset + sample.frame[1].size;
    for (int i = 0; i < 1500; i++) {
        Bytes copy = {.size = end};
        REQUIRE_OK(TALUS_ALLOC(copy.bytes, end, "copy"));
        memcpy(copy.bytes, sample.file.bytes, end);
        for (uint64_t k = 1 + talus_rng_below(&rng, 4); k > 0; k--)
            copy.bytes[16 + talus_rng_below(&rng, end - 16)] = (char)talus_rng_next(&rng);
        seal(copy, sample.head);
        seal(copy, sample.frame[0].offset);
        seal(copy, sample.frame[1].offset);
        write_bytes("chance.talus", copy.bytes, end);
        refused += read_all("chance.talus", &read) != TALUS_OK;
        talus_release(copy.bytes);
    }
    CHECK(refused > 300);
    talus_release(sample.file.bytes);
}

/* ---- heads, index, other files ---- */

static void check_head(const Sample *sample, const char *from, const char *to, const char *message)
{
    Bytes copy = {.size = sample->frame[0].offset + sample->frame[0].size};
    int read;
    if (!CHECK_OK(TALUS_ALLOC(copy.bytes, copy.size + 1, "copy")))
        return;
    memcpy(copy.bytes, sample->file.bytes, copy.size);
    char *at = strstr(copy.bytes + sample->head + sizeof(TalusChunk), from);
    CHECK(at != NULL && strlen(from) == strlen(to));
    if (at)
        memcpy(at, to, strlen(to));
    seal(copy, sample->head);
    write_bytes("head.talus", copy.bytes, copy.size);
    CHECK(read_all("head.talus", &read) == TALUS_ERR_FORMAT);
    if (!CHECK(strstr(talus_error(), message) != NULL))
        printf("  %s\n", talus_error());
    talus_release(copy.bytes);
}

TEST(wrong_heads_are_refused)
{
    Sample sample;
    make_sample(&sample, TALUS_DETAIL_FULL);
    check_head(&sample, "{\"producer\"", "[\"producer\"", "head.talus: frame 0: ");
    check_head(&sample, "\"title\"", "\"tatle\"", "lacks \"title\"");
    check_head(&sample, "\"quantum\": 0", "\"quantum\":-1", "quantum: is -1");
    check_head(&sample, "\"cylinder\"", "\"zylinder\"", "\"zylinder\" is not a shape");
    check_head(&sample, "[0.29999999999999999, 0]", "[0.29999999999999999  0]", "frame 0: ");
    check_head(&sample, "\"density\": 1000", "\"density\":\"100\"", "expected a number");
    talus_release(sample.file.bytes);
}

TEST(a_wrong_index_is_not_needed)
{
    Sample sample;
    TalusFileEnd end;
    int read;
    make_sample(&sample, TALUS_DETAIL_FULL);
    memcpy(&end, sample.file.bytes + sample.file.size - sizeof end, sizeof end);
    size_t rows = end.index + sizeof(TalusChunk);
    static const struct {
        size_t byte;
        unsigned char value;
    } lies[] = {{0, 200}, {3, 200}, {8 + 1, 77}, {8 + 40, 3}, {8 + 40 + 24, 8}, {8 + 40 + 30, 255}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        char old = sample.file.bytes[rows + lies[i].byte];
        sample.file.bytes[rows + lies[i].byte] = (char)lies[i].value;
        seal(sample.file, end.index);
        write_bytes("index.talus", sample.file.bytes, sample.file.size);
        CHECK_OK(read_all("index.talus", &read));
        CHECK_INT(read, FRAMES);
        sample.file.bytes[rows + lies[i].byte] = old;
    }
    talus_release(sample.file.bytes);
}

TEST(other_files_are_refused)
{
    TalusFrames *frames;
    static const char later[] = "TALUSFRM\5\0\0\0\0\0\0\0";
    write_bytes("later.talus", later, 16);
    CHECK(talus_frames_open("later.talus", &frames) == TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(),
              "later.talus: has format version 5, this program reads versions 1 to 4");
    write_bytes("text.talus", "Talus", 5);
    CHECK(talus_frames_open("text.talus", &frames) == TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "text.talus: is not a Talus frames file");
    CHECK(talus_frames_open("none.talus", &frames) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "none.talus: cannot open: No such file or directory");
    CHECK(talus_frames_open(".", &frames) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), ".: is not a regular file");
    remove("pipe.talus");
    CHECK(mkfifo("pipe.talus", 0600) == 0);
    CHECK(talus_frames_open("pipe.talus", &frames) == TALUS_ERR_IO);
    CHECK_STR(talus_error(), "pipe.talus: is not a regular file");
}

/* A bed where nothing moves deflates to almost nothing, and stays within bodies to a byte. */
TEST(still_frames_are_filled_up)
{
    TalusWorldDef def = talus_world_def_default();
    TalusShapeDef ball = {.kind = TALUS_SHAPE_SPHERE, .radius = 0.1};
    TalusBodyBatch batch = talus_body_batch_default();
    enum { COUNT = 40000 };
    static TalusVec3 at[COUNT];
    TalusWorld *world;
    TalusFrames *frames;
    int read;
    for (int i = 0; i < COUNT; i++)
        at[i] = talus_vec3(i % 100, i / 100 % 100, i / 10000);
    def.threads = 1;
    REQUIRE_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_add_shape(world, &ball, &batch.shape));
    batch.count = COUNT;
    batch.position = at;
    batch.fixed = true;
    CHECK_OK(talus_world_add_bodies(world, &batch, NULL));
    write_frames("still.talus", world, TALUS_DETAIL_LEAN, 3, 0);
    CHECK_OK(read_all("still.talus", &read));
    CHECK_INT(read, 3);
    REQUIRE_OK(talus_frames_open("still.talus", &frames));
    CHECK(talus_frames_info(frames, 1).size >= COUNT / TALUS_FRAMES_PER_BYTE);
    if (talus_deflate_available())
        CHECK(talus_frames_info(frames, 1).size < COUNT / TALUS_FRAMES_PER_BYTE + 100);
    talus_frames_close(frames);
    talus_world_destroy(world);
}

int main(void)
{
    RUN(torn_anywhere_the_frames_before_are_read);
    RUN(a_last_chunk_of_zeros_is_left_out);
    RUN(what_is_mended_is_read_again);
    RUN(flipped_bytes_are_noticed);
    RUN(lies_are_refused);
    RUN(wrong_values_are_refused);
    RUN(compressed_data_are_checked);
    RUN(chance_finds_nothing);
    RUN(wrong_heads_are_refused);
    RUN(a_wrong_index_is_not_needed);
    RUN(other_files_are_refused);
    RUN(still_frames_are_filled_up);
    return talus_test_result();
}
