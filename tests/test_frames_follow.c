/* Frames of a file that the caller opens, as the server does: the same from whatever part of the file was seen first, and
 * never a chunk that is not whole. */
#include "support/test.h"

#include "io/frames/frames.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 4096 };

/* A frames file in memory; payloads are zeros, with their checksums. */
typedef struct File {
    unsigned char bytes[ROOM];
    size_t size;
} File;

static void put(File *file, const void *bytes, size_t size)
{
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static void put_chunk(File *file, uint32_t kind, uint64_t size, double time, uint32_t bodies)
{
    static const unsigned char zeros[ROOM];
    TalusChunk chunk = {TALUS_CHUNK_MAGIC, kind, size, time, (int64_t)(10 * time), time == 0.0, 0};
    size_t start = file->size + sizeof chunk;
    put(file, &chunk, sizeof chunk);
    put(file, zeros, (size_t)(talus_chunk_bytes(&chunk) - sizeof chunk));
    if (size >= sizeof bodies)
        memcpy(file->bytes + start, &bodies, sizeof bodies);
    chunk.crc = talus_chunk_crc(&chunk, file->bytes + start);
    memcpy(file->bytes + start - sizeof chunk, &chunk, sizeof chunk);
}

static File make_file(void)
{
    File file = {0};
    put(&file, &(TalusFileHead){TALUS_FRAMES_MAGIC, 1, 0}, sizeof(TalusFileHead));
    put_chunk(&file, TALUS_CHUNK_HEAD, 21, 0.0, 0);
    put_chunk(&file, TALUS_CHUNK_FRAME, 16, 0.0, 3);
    put_chunk(&file, TALUS_CHUNK_WORD('N', 'E', 'W', '1'), 5, 0.0, 0);
    put_chunk(&file, TALUS_CHUNK_FRAME, 33, 1.0, 4);
    put_chunk(&file, TALUS_CHUNK_HEAD, 8, 0.0, 0);
    put_chunk(&file, TALUS_CHUNK_FRAME, 24, 2.0, 5);
    return file;
}

static void end_file(File *file)
{
    TalusFileEnd end = {.index = file->size};
    put_chunk(file, TALUS_CHUNK_INDEX, 8, 0.0, 0);
    memcpy(end.magic, TALUS_FRAMES_END, sizeof end.magic);
    put(file, &end, sizeof end);
}

static int write_file(const File *file, size_t size)
{
    int fd = open("frames", O_RDWR | O_CREAT | O_TRUNC, 0666);
    CHECK(write(fd, file->bytes, size) == (ssize_t)size);
    return fd;
}

/* As the server does: hands over a descriptor of its own. */
static TalusStatus follow(TalusFrames **frames, int fd)
{
    return talus_frames_open_or_rescan(frames, dup(fd), "frames");
}

static void check_whole(const TalusFrames *frames)
{
    CHECK_INT(frames->count, 3);
    CHECK_INT(frames->heads, 2);
    if (frames->count != 3)
        return;
    CHECK_INT(frames->frame[0].bodies, 3);
    CHECK_INT(frames->frame[2].bodies, 5);
    CHECK_INT(frames->frame[2].step, 20);
    CHECK_INT(frames->frame[1].size, 40 + 40);
    CHECK(frames->frame[0].key && !frames->frame[1].key);
    CHECK_INT(frames->head[0].offset, 16);
    CHECK_INT(frames->head[0].size, 40 + 24);
}

TEST(any_part_then_the_whole)
{
    File open_file = make_file(), ended = make_file();
    end_file(&ended);
    for (size_t cut = 0; cut <= ended.size; cut++) {
        TalusFrames *frames = NULL;
        int fd = write_file(&ended, cut);
        REQUIRE(CHECK_OK(follow(&frames, fd)));
        CHECK(frames->count == 0 || frames->end <= cut);
        CHECK(frames->complete == (cut == ended.size));
        CHECK(write(fd, ended.bytes + cut, ended.size - cut) == (ssize_t)(ended.size - cut));
        REQUIRE(CHECK_OK(follow(&frames, fd)));
        check_whole(frames);
        CHECK(frames->complete && frames->replaced == 0);
        CHECK_INT(frames->end, open_file.size);
        talus_frames_close(frames);
        close(fd);
    }
}

/* A run that is resumed writes its next frames over the index. */
TEST(an_index_that_is_written_over)
{
    File file = make_file();
    end_file(&file);
    TalusFrames *frames = NULL;
    int fd = write_file(&file, file.size);
    REQUIRE(CHECK_OK(follow(&frames, fd)));
    CHECK(frames->complete);
    close(fd);
    file = make_file();
    put_chunk(&file, TALUS_CHUNK_FRAME, 100, 3.0, 6);
    fd = write_file(&file, file.size);
    REQUIRE(CHECK_OK(follow(&frames, fd)));
    CHECK(!frames->complete && frames->replaced == 0);
    CHECK_INT(frames->count, 4);
    CHECK_INT(frames->heads, 2);
    talus_frames_close(frames);
    close(fd);
}

TEST(another_file_is_noticed)
{
    File file = make_file(), other = make_file();
    TalusFrames *frames = NULL;
    int fd = write_file(&file, file.size);
    REQUIRE(CHECK_OK(follow(&frames, fd)));
    close(fd);
    /* cut back by one byte: the last frame is gone */
    fd = write_file(&file, file.size - 1);
    REQUIRE(CHECK_OK(follow(&frames, fd)));
    CHECK_INT(frames->replaced, 1);
    CHECK_INT(frames->count, 2);
    close(fd);
    /* as long or longer, but the last frame that was seen is another */
    fd = write_file(&file, file.size);
    REQUIRE(CHECK_OK(follow(&frames, fd)));
    CHECK_INT(frames->replaced, 1);
    close(fd);
    other.bytes[other.size - 24 - 4] ^= 1; /* the checksum of the last frame */
    put_chunk(&other, TALUS_CHUNK_FRAME, 16, 3.0, 6);
    fd = write_file(&other, other.size);
    REQUIRE(CHECK_OK(follow(&frames, fd)));
    CHECK_INT(frames->replaced, 2);
    CHECK_INT(frames->count, 4);
    talus_frames_close(frames);
    close(fd);
}

TEST(no_frames_file)
{
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {{"TALUSFRX\1\0\0\0\0\0\0\0", 16},
               {"TALUSFRM\5\0\0\0\0\0\0\0", 16},
               {"TALUSFRM\0\0\0\0\0\0\0\0", 16}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        File file = {0}, good = make_file();
        TalusFrames *frames = NULL;
        put(&file, bad[i].bytes, bad[i].size);
        int fd = write_file(&file, file.size);
        CHECK_INT(follow(&frames, fd), TALUS_ERR_FORMAT);
        CHECK(!frames);
        close(fd);
        /* nor in place of one */
        fd = write_file(&good, good.size);
        CHECK_OK(follow(&frames, fd));
        close(fd);
        fd = write_file(&file, file.size);
        CHECK_INT(follow(&frames, fd), TALUS_ERR_FORMAT);
        CHECK(!frames);
        close(fd);
    }
}

/* The index has the frames of make_file, and no other. */
static void check_all_but_the_last(const File *file)
{
    TalusFrames *frames = NULL;
    int fd = write_file(file, file->size);
    if (CHECK_OK(follow(&frames, fd)))
        check_whole(frames);
    talus_frames_close(frames);
    close(fd);
}

/* Sizes that would wrap around, and a last frame without its bytes. */
TEST(sizes_that_lie)
{
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 40, INT64_MAX,
                                     1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        File file = make_file();
        TalusChunk chunk = {TALUS_CHUNK_MAGIC, TALUS_CHUNK_FRAME, sizes[i], 3.0, 30, 0, 0};
        put(&file, &chunk, sizeof chunk);
        check_all_but_the_last(&file);
    }
    File file = make_file();
    put_chunk(&file, TALUS_CHUNK_FRAME, 32, 3.0, 6);
    file.bytes[file.size - 1] = 1;
    check_all_but_the_last(&file);
}

int main(void)
{
    RUN(any_part_then_the_whole);
    RUN(an_index_that_is_written_over);
    RUN(another_file_is_noticed);
    RUN(no_frames_file);
    RUN(sizes_that_lie);
    return talus_test_result();
}
