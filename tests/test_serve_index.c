/* The server's index of a frames file: the same from whatever part of the file was seen first, and never
 * a chunk that is not whole. */
#include "cli/serve/serve_index.h"
#include "support/test.h"

#include "base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 4096 };

/* A frames file in memory; payloads are zeros, which is all the index asks of them. */
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
    TalusChunk chunk = {TALUS_CHUNK_MAGIC, kind, size, time, (int64_t)(10 * time), time == 0.0, 7};
    put(file, &chunk, sizeof chunk);
    size_t start = file->size;
    put(file, zeros, (size_t)(talus_chunk_bytes(&chunk) - sizeof chunk));
    if (size >= sizeof bodies)
        memcpy(file->bytes + start, &bodies, sizeof bodies);
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

static void check_whole(const ServeIndex *index)
{
    CHECK_INT(index->frame_count, 3);
    CHECK_INT(index->head_count, 2);
    if (index->frame_count != 3)
        return;
    CHECK_INT(index->frames[0].bodies, 3);
    CHECK_INT(index->frames[2].bodies, 5);
    CHECK_INT(index->frames[2].step, 20);
    CHECK_INT(index->frames[1].place.size, 40 + 40);
    CHECK(index->frames[0].key && !index->frames[1].key);
    CHECK_INT(index->heads[0].offset, 16);
    CHECK_INT(index->heads[0].size, 40 + 24);
}

TEST(any_part_then_the_whole)
{
    File open_file = make_file(), ended = make_file();
    end_file(&ended);
    for (size_t cut = 0; cut <= ended.size; cut++) {
        ServeIndex index = {0};
        bool anew = false;
        int fd = write_file(&ended, cut);
        CHECK_OK(serve_index_refresh(&index, fd, &anew));
        CHECK(index.end <= cut && index.size <= cut);
        CHECK(index.complete == (cut == ended.size));
        CHECK(write(fd, ended.bytes + cut, ended.size - cut) == (ssize_t)(ended.size - cut));
        CHECK_OK(serve_index_refresh(&index, fd, &anew));
        check_whole(&index);
        CHECK(index.complete && !anew);
        CHECK_INT(index.size, ended.size);
        CHECK_INT(index.end, open_file.size);
        serve_index_clear(&index);
        close(fd);
    }
}

/* A run that is resumed writes its next frames over the index. */
TEST(an_index_that_is_written_over)
{
    File file = make_file();
    end_file(&file);
    ServeIndex index = {0};
    bool anew = false;
    int fd = write_file(&file, file.size);
    CHECK_OK(serve_index_refresh(&index, fd, &anew));
    CHECK(index.complete);
    close(fd);
    file = make_file();
    put_chunk(&file, TALUS_CHUNK_FRAME, 100, 3.0, 6);
    fd = write_file(&file, file.size);
    CHECK_OK(serve_index_refresh(&index, fd, &anew));
    CHECK(!index.complete && !anew);
    CHECK_INT(index.frame_count, 4);
    CHECK_INT(index.head_count, 2);
    serve_index_clear(&index);
    close(fd);
}

TEST(another_file_is_noticed)
{
    File file = make_file(), other = make_file();
    ServeIndex index = {0};
    bool anew = false;
    int fd = write_file(&file, file.size);
    CHECK_OK(serve_index_refresh(&index, fd, &anew));
    close(fd);
    /* cut back by one byte: the last frame is gone */
    fd = write_file(&file, file.size - 1);
    CHECK_OK(serve_index_refresh(&index, fd, &anew));
    CHECK(anew);
    CHECK_INT(index.frame_count, 2);
    close(fd);
    /* as long or longer, but the last chunk that was seen is another */
    fd = write_file(&file, file.size);
    CHECK_OK(serve_index_refresh(&index, fd, &anew));
    close(fd);
    anew = false;
    other.bytes[other.size - 24 - 4] ^= 1; /* the checksum of the last frame */
    put_chunk(&other, TALUS_CHUNK_FRAME, 16, 3.0, 6);
    fd = write_file(&other, other.size);
    CHECK_OK(serve_index_refresh(&index, fd, &anew));
    CHECK(anew);
    CHECK_INT(index.frame_count, 4);
    serve_index_clear(&index);
    close(fd);
}

TEST(no_frames_file)
{
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {{"TALUSFRX\1\0\0\0\0\0\0\0", 16},
               {"TALUSFRM\4\0\0\0\0\0\0\0", 16},
               {"TALUSFRM\0\0\0\0\0\0\0\0", 16}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        File file = {0};
        ServeIndex index = {0};
        bool anew = false;
        put(&file, bad[i].bytes, bad[i].size);
        int fd = write_file(&file, file.size);
        CHECK_INT(serve_index_refresh(&index, fd, &anew), TALUS_ERR_FORMAT);
        serve_index_clear(&index);
        close(fd);
    }
}

/* Sizes that would wrap around, and a frame that is too short to be one. */
TEST(sizes_that_lie)
{
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 40, INT64_MAX,
                                     1 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        File file = make_file();
        TalusChunk chunk = {TALUS_CHUNK_MAGIC, TALUS_CHUNK_FRAME, sizes[i], 3.0, 30, 0, 0};
        put(&file, &chunk, sizeof chunk);
        ServeIndex index = {0};
        bool anew = false;
        int fd = write_file(&file, file.size);
        CHECK_OK(serve_index_refresh(&index, fd, &anew));
        check_whole(&index);
        serve_index_clear(&index);
        close(fd);
    }
    File file = make_file();
    put_chunk(&file, TALUS_CHUNK_FRAME, 15, 3.0, 6);
    ServeIndex index = {0};
    bool anew = false;
    int fd = write_file(&file, file.size);
    CHECK_INT(serve_index_refresh(&index, fd, &anew), TALUS_ERR_FORMAT);
    check_whole(&index);
    serve_index_clear(&index);
    close(fd);
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
