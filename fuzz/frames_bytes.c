/* fuzz/frames_bytes.c - libFuzzer target: any bytes as a frames file. The checksums of its chunks are
 * set right first, or nothing would get past them. What is accepted is read forward and backward,
 * written again, and gone on with. */
#include "base/memory.h"
#include "io/frames/frames.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FRAMES = 6 }; /* read of one input, so that it stays cheap */

static char path[64], copy_path[72];

static void check(bool ok)
{
    if (!ok)
        abort();
}

static void remove_files(void)
{
    unlink(path);
    unlink(copy_path);
}

/* Files in memory, where the system has such a folder. */
static void name_files(void)
{
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".";
    snprintf(path, sizeof path, "%s/talus-fuzz-%ld.talus", folder, (long)getpid());
    snprintf(copy_path, sizeof copy_path, "%s.copy", path);
    atexit(remove_files);
}

static void seal_chunks(unsigned char *bytes, size_t size)
{
    TalusChunk chunk;
    for (size_t at = sizeof(TalusFileHead); size - at >= sizeof chunk && at < size;) {
        memcpy(&chunk, bytes + at, sizeof chunk);
        if (chunk.magic != TALUS_CHUNK_MAGIC || chunk.size > size - at - sizeof chunk)
            return;
        chunk.crc = talus_chunk_crc(&chunk, bytes + at + sizeof chunk);
        memcpy(bytes + at, &chunk, sizeof chunk);
        if (talus_chunk_bytes(&chunk) > size - at)
            return;
        at += talus_chunk_bytes(&chunk);
    }
}

static void put_file(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size + 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check(bytes && fd >= 0);
    memcpy(bytes, data, size);
    if (size > sizeof(TalusFileHead))
        seal_chunks(bytes, size);
    check(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    free(bytes);
}

static void check_failure(TalusStatus status)
{
    check(status == TALUS_OK || status == TALUS_ERR_MEMORY ||
          strncmp(talus_error(), path, strlen(path)) == 0);
}

/* Touches every array. */
static void check_snapshot(const TalusFramesHead *head, const TalusSnapshot *s)
{
    for (int i = 0; i < s->body_count; i++) {
        check(s->shape[i] >= 0 && s->shape[i] < head->shape_count);
        check(s->material[i] >= 0 && s->material[i] < head->material_count);
        check(isfinite(talus_norm(s->position[i])) && isfinite(s->orientation[i].w));
        check(isfinite(s->radius[i] + s->speed[i] + s->force[i]));
        check(s->layer[i] >= 0 && s->layer[i] < 256);
    }
    for (int i = 0; i < s->contact_count; i++) {
        check(s->contact_a[i] >= 0 && s->contact_a[i] < s->body_count);
        check(s->contact_b[i] >= 0 && s->contact_b[i] < s->body_count);
        check(isfinite(talus_norm(s->contact[i].point)) && isfinite(s->contact[i].normal.x));
    }
}

static void check_mesh(const TalusMesh *mesh, bool solid)
{
    int covered = 0;
    for (int k = 0; k < mesh->vertex_count; k++)
        check(isfinite(talus_norm(mesh->vertex[k])) && talus_norm(mesh->normal[k]) < 2.0);
    for (int k = 0; k < 3 * mesh->triangle_count; k++)
        check(mesh->triangle[k] >= 0 && mesh->triangle[k] < mesh->vertex_count);
    for (int k = 0; k < 2 * mesh->edge_count; k++)
        check(mesh->edge[k] >= 0 && mesh->edge[k] < mesh->vertex_count);
    for (int k = 0; k < mesh->piece_count; k++)
        covered += mesh->piece[k];
    check(covered == (solid ? mesh->triangle_count : 0));
}

static void check_figures(const TalusFramesHead *head)
{
    for (int i = 0; head->figures && i < head->shape_count; i++) {
        const TalusFigure *f = &head->figures[i];
        check(f->levels >= 0 && f->levels <= TALUS_FIGURE_LEVELS);
        check((f->levels == 0) == (f->drawn <= TALUS_DRAWN_HALF_SPACE));
        for (int k = 0; k < f->levels; k++)
            check_mesh(&f->level[k], f->drawn == TALUS_DRAWN_SOLID);
    }
}

static void read_frames(TalusFrames *frames)
{
    TalusFramesWriter *writer;
    TalusSnapshot s = {0};
    int count = talus_frames_count(frames) < MOST_FRAMES ? talus_frames_count(frames) : MOST_FRAMES;
    check(talus_frames_create(copy_path, NULL, &writer) == TALUS_OK);
    for (int k = 0; k < 2 * count; k++) {
        int i = k < count ? k : 2 * count - 1 - k;
        TalusStatus status = talus_frames_read(frames, i, &s);
        check_failure(status);
        if (status != TALUS_OK)
            continue;
        const TalusFramesHead *head = talus_frames_head(frames, i);
        check_snapshot(head, &s);
        check_figures(head);
        if (k < count) /* what cannot be written again is refused, such as times that go back */
            (void)talus_frames_add_snapshot(writer, head, &s);
    }
    (void)talus_frames_finish(writer);
    talus_snapshot_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TalusFrames *frames;
    TalusFramesWriter *writer;
    if (!path[0])
        name_files();
    put_file(data, size);
    TalusStatus status = talus_frames_open(path, &frames);
    check((status == TALUS_OK) == (frames != NULL));
    check_failure(status);
    if (frames) {
        read_frames(frames);
        check(talus_frames_refresh(frames) == TALUS_OK);
        talus_frames_close(frames);
    }
    status = talus_frames_resume(path, 0.1, &writer);
    check_failure(status);
    if (status == TALUS_OK)
        check(talus_frames_finish(writer) == TALUS_OK);
    check(talus_memory_now() == 0);
    return 0;
}
