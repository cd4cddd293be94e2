/* cli/serve/viewer_page.c - writes the viewer's page: template, JSON value about the run, frames. */
#include "viewer_page.h"

#include "cli/page.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/text/base64.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { COPY_BYTES = 1 << 16 }; /* size of the buffer for frames */

/* Writes the member "steps", with every n-th row if there are more than STEPS_ROWS_MAX; null without steps. */
static TalusStatus write_steps(const ViewerRun *run, JsonOut *json)
{
    if (!run->steps) {
        json_write_null(json, "steps");
        return TALUS_OK;
    }
    int64_t stride = (run->steps->rows + STEPS_ROWS_MAX - 1) / STEPS_ROWS_MAX;
    json_open_object(json, "steps");
    TalusStatus status =
        steps_write_json(run->steps, run->steps_fd, 0, stride > 0 ? stride : 1, json);
    json_close_object(json);
    return status;
}

TalusStatus viewer_write_run(const ViewerRun *run, JsonOut *json)
{
    char producer[64];
    snprintf(producer, sizeof producer, "talus %s", talus_version());
    json_open_object(json, NULL);
    json_write_int(json, "version", 1);
    json_write_text(json, "producer", producer);
    json_write_text(json, "title", run->title);
    json_write_text(json, "scene", run->scene);
    json_write_text(json, "state", run->state);
    json_write_real(json, "until", run->until);
    json_write_text(json, "note", run->note);
    if (run->token) {
        json_open_object(json, "server");
        json_write_text(json, "token", run->token);
        json_close_object(json);
    } else {
        json_write_null(json, "server");
    }
    TalusStatus status = write_steps(run, json);
    json_close_object(json);
    return status;
}

uint64_t viewer_page_size(uint64_t run_bytes, uint64_t frame_bytes)
{
    uint64_t size = run_bytes + (frame_bytes + 2) / 3 * 4;
    for (int i = 0; i < 3; i++)
        size += page_viewer[i].size;
    return size;
}

/* ---- the file ---- */

/* Appends the first `bytes` of the open file `fd`, in base64; `frames` is its path for messages. */
static TalusStatus append_frames(TalusFile *file, int fd, const char *frames, uint64_t bytes)
{
    char *buffer;
    TALUS_TRY(TALUS_ALLOC(buffer, COPY_BYTES, "buffer for frames"));
    TalusStatus status = TALUS_OK;
    TalusBase64 stream = talus_base64_begin(file);
    while (bytes > 0 && status == TALUS_OK) {
        ssize_t n = read(fd, buffer, bytes < COPY_BYTES ? (size_t)bytes : COPY_BYTES);
        if (n > 0) {
            talus_base64_put(&stream, buffer, (size_t)n);
            bytes -= (uint64_t)n;
        } else if (n == 0) {
            status = talus_fail_file(frames, TALUS_ERR_IO, "became shorter while being read");
        } else if (errno != EINTR) {
            status = talus_fail_file(frames, TALUS_ERR_IO, "cannot read: %s", strerror(errno));
        }
    }
    talus_base64_end(&stream);
    talus_release(buffer);
    return status;
}

/* Writes template, JSON value and frames to the open file. */
static TalusStatus write_page_parts(TalusFile *file, const ViewerRun *run, const char *frames,
                                    uint64_t bytes)
{
    int fd = open(frames, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return talus_fail_file(frames, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    JsonOut json;
    talus_file_put(file, page_viewer[0].bytes, page_viewer[0].size);
    json_start(&json, json_to_file, file);
    TalusStatus status = viewer_write_run(run, &json);
    json_finish(&json);
    talus_file_put(file, page_viewer[1].bytes, page_viewer[1].size);
    TALUS_THEN(status, append_frames(file, fd, frames, bytes));
    talus_file_put(file, page_viewer[2].bytes, page_viewer[2].size);
    close(fd);
    return status;
}

TalusStatus viewer_page_write(const char *path, const ViewerRun *run, const char *frames,
                              uint64_t bytes)
{
    TalusFile *file;
    TALUS_TRY(talus_file_create(path, &file));
    TalusStatus status = write_page_parts(file, run, frames, bytes);
    if (status == TALUS_OK)
        return talus_file_commit(file);
    talus_file_abandon(file);
    return status;
}
