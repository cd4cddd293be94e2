/* cli/serve/serve_files.c - access to a run's directory, one thread at a time under a lock. */
#include "serve_files.h"

#include "cli/run/dir.h"
#include "cli/run/steps.h"
#include "viewer_page.h"

#include "base/memory.h"
#include "io/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* State of the directory at one time. */
typedef struct View {
    RunState run;
    const char *state; /* state of the run as the page names it */
    const char *title, *scene;
    char frames_error[RUN_TEXT_MAX]; /* why frames are missing; "": there are frames */
} View;

struct ServeFiles {
    RunLocation location;
    char *path; /* of the frames file, for messages */
    int dir;    /* descriptor of the directory */
    pthread_mutex_t lock;
    TalusFrames *frames; /* NULL: none, or none that can be read */
    Steps steps;
    int64_t identity; /* changes when frames or steps are replaced: the page loads them anew */
};

/* ---- locations ---- */

static TalusStatus split_path(const char *operand, RunLocation *location)
{
    const char *slash = strrchr(operand, '/');
    int length = slash ? (int)(slash - operand) : 0;
    if (!slash)
        TALUS_TRY(talus_path_format(&location->dir, "."));
    else
        TALUS_TRY(talus_path_format(&location->dir, "%.*s", length > 0 ? length : 1, operand));
    TALUS_TRY(talus_path_format(&location->name, "%s", slash ? slash + 1 : operand));
    location->alone = strcmp(location->name, SERVE_FRAMES_NAME) != 0;
    return TALUS_OK;
}

TalusStatus run_location_find(const char *operand, RunLocation *location)
{
    struct stat about;
    *location = (RunLocation){0};
    if (stat(operand, &about) != 0)
        return talus_fail_file(operand, TALUS_ERR_IO, "%s; expected the directory of a run",
                               strerror(errno));
    TalusStatus status;
    if (S_ISDIR(about.st_mode)) {
        status = talus_path_format(&location->dir, "%s", operand);
        TALUS_THEN(status, talus_path_format(&location->name, "%s", SERVE_FRAMES_NAME));
    } else if (S_ISREG(about.st_mode)) {
        status = split_path(operand, location);
    } else {
        status = talus_fail_file(operand, TALUS_ERR_IO, "is neither a directory nor a file");
    }
    if (status != TALUS_OK)
        run_location_clear(location);
    return status;
}

void run_location_clear(RunLocation *location)
{
    TALUS_RELEASE(location->dir, location->name);
    *location = (RunLocation){0};
}

/* ---- files ---- */

/* Opens a regular file of the directory, never a link; -1 with errno. */
static int open_file(const ServeFiles *files, const char *name)
{
    struct stat about;
    int fd = openat(files->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(fd);
        errno = EINVAL;
        fd = -1;
    }
    return fd;
}

static int frame_count(const ServeFiles *files)
{
    return files->frames ? talus_frames_count(files->frames) : 0;
}

/* Returns the size of the valid part of the frames file: all of it if complete, else up to the last whole chunk; 0
 * without a file. */
static uint64_t frame_bytes(const ServeFiles *files)
{
    struct stat about;
    if (!files->frames || !files->frames->complete || fstat(files->frames->fd, &about) != 0)
        return files->frames && files->frames->version ? files->frames->end : 0;
    return (uint64_t)about.st_size;
}

/* If the open directory was removed, opens the one that has its name now, if any. */
static void reopen_directory(ServeFiles *files)
{
    struct stat about;
    if (fstat(files->dir, &about) == 0 && about.st_nlink > 0)
        return;
    int fd = open(files->location.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        close(files->dir);
        files->dir = fd;
    }
}

/* Reads new frames; *anew becomes true if frames read earlier are no longer valid: the file was replaced or cannot be
 * opened. It is opened here, by its name in the directory, so that no link can lead elsewhere. */
static TalusStatus refresh_frames(ServeFiles *files, bool *anew)
{
    uint64_t replaced = files->frames ? files->frames->replaced : 0;
    int before = frame_count(files), fd = open_file(files, files->location.name);
    TalusStatus status;
    if (fd >= 0) {
        status = talus_frames_open_or_rescan(&files->frames, fd, files->path);
    } else {
        status = talus_fail_file(files->path, TALUS_ERR_IO, "%s",
                                 errno == EINVAL || errno == ELOOP ? "is not a regular file"
                                                                   : strerror(errno));
        talus_frames_close(files->frames);
        files->frames = NULL;
    }
    if (before > 0 && (!files->frames || files->frames->replaced > replaced))
        *anew = true;
    if (files->frames &&
        (frame_count(files) > SERVE_FRAMES_MAX || files->frames->heads > SERVE_FRAMES_MAX))
        return talus_fail_file(files->path, TALUS_ERR_UNSUPPORTED, "more than %d frames or heads",
                               SERVE_FRAMES_MAX);
    return status;
}

static void refresh_steps(ServeFiles *files, bool *anew)
{
    int fd = files->location.alone ? -1 : open_file(files, "steps.csv");
    if (fd >= 0) {
        steps_refresh(&files->steps, fd, anew);
        close(fd);
    } else {
        *anew = *anew || files->steps.rows > 0;
        steps_clear(&files->steps);
    }
}

/* ---- state of everything; the lock is held ---- */

static bool read_state(ServeFiles *files, RunState *run)
{
    *run = (RunState){.state = "unknown", .until = NAN, .every = NAN};
    return !files->location.alone && run_state_read(files->dir, ".", run);
}

/* Reads all files into `view`: run.json first, so that after "finished" all output of the run is seen. Without
 * run.json, title and scene come from the frames file. */
static void refresh(ServeFiles *files, View *view)
{
    bool anew = false;
    reopen_directory(files);
    bool known = read_state(files, &view->run);
    TalusStatus status = refresh_frames(files, &anew);
    view->frames_error[0] = '\0';
    if (status != TALUS_OK)
        snprintf(view->frames_error, sizeof view->frames_error, "%s", talus_error());
    refresh_steps(files, &anew);
    files->identity += anew;
    view->state = view->run.state;
    view->title = view->run.title;
    view->scene = view->run.scene;
    if (known)
        return;
    int count = frame_count(files);
    const TalusFramesHead *head = count > 0 ? talus_frames_head(files->frames, 0) : NULL;
    view->state = files->frames && files->frames->complete ? "finished" : "died";
    view->title = head ? head->title : "";
    view->scene = head ? head->scene : "";
    if (count > 0) {
        TalusFrameInfo last = talus_frames_info(files->frames, count - 1);
        view->run.step = last.step;
        view->run.time = last.time;
    }
}

/* ---- opening ---- */

static TalusStatus files_start(ServeFiles *files, const RunLocation *location)
{
    View view;
    uint32_t identity;
    TALUS_TRY(talus_path_format(&files->location.dir, "%s", location->dir));
    TALUS_TRY(talus_path_format(&files->location.name, "%s", location->name));
    TALUS_TRY(talus_path_format(&files->path, "%s/%s", location->dir, location->name));
    files->location.alone = location->alone;
    files->dir = open(location->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->dir < 0 || getentropy(&identity, sizeof identity) != 0)
        return talus_fail_file(location->dir, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    files->identity = identity;
    refresh(files, &view);
    if (view.frames_error[0] && !view.run.alive)
        return talus_fail(TALUS_ERR_IO,
                          "%s; `talus run SCENE --out DIR` writes %s, for `talus view DIR`",
                          view.frames_error, SERVE_FRAMES_NAME);
    return TALUS_OK;
}

TalusStatus serve_files_open(const RunLocation *location, ServeFiles **out)
{
    ServeFiles *files;
    TALUS_TRY(TALUS_ALLOC(files, 1, "files of a run"));
    files->dir = -1;
    pthread_mutex_init(&files->lock, NULL);
    TalusStatus status = files_start(files, location);
    if (status != TALUS_OK)
        serve_files_close(files);
    else
        *out = files;
    return status;
}

void serve_files_close(ServeFiles *files)
{
    if (!files)
        return;
    talus_frames_close(files->frames);
    talus_release(files->path);
    steps_clear(&files->steps);
    run_location_clear(&files->location);
    if (files->dir >= 0)
        close(files->dir);
    pthread_mutex_destroy(&files->lock);
    talus_release(files);
}

/* ---- answers ---- */

int serve_files_frames(ServeFiles *files, uint64_t *size)
{
    struct stat about;
    pthread_mutex_lock(&files->lock);
    reopen_directory(files);
    int fd = open_file(files, files->location.name);
    pthread_mutex_unlock(&files->lock);
    if (fd >= 0 && fstat(fd, &about) != 0) {
        close(fd);
        fd = -1;
    }
    *size = fd >= 0 ? (uint64_t)about.st_size : 0;
    return fd;
}

/* Copies a HEAD chunk (shapes and materials); packs one of version 1, which lacks the triangles of shapes, in the
 * present version. Version 1 is the one without a zero byte after the text. */
static TalusStatus pack_head(TalusFrames *frames, TalusHeadLocation location, TalusPacker *out)
{
    TalusHeadStore head = {0};
    TalusChunk chunk;
    if (location.size > TALUS_FRAMES_HEAD_MAX + sizeof chunk)
        return talus_fail_file(frames->path, TALUS_ERR_FORMAT, "the head is too large");
    TALUS_TRY(talus_frames_read_chunk(frames, location.offset, TALUS_CHUNK_HEAD, &chunk));
    size_t size = (size_t)chunk.size;
    if (memchr(frames->payload, 0, size)) {
        TALUS_TRY(talus_pack_bytes(out, &chunk, sizeof chunk));
        TALUS_TRY(talus_pack_bytes(out, frames->payload, size));
        return talus_pack_bytes(out, NULL, (size_t)location.size - sizeof chunk - size);
    }
    TalusStatus status =
        talus_frames_head_read((const char *)frames->payload, size, frames->path, &head);
    TALUS_THEN(status, talus_frames_head_pack(out, &head.head, TALUS_FRAMES_VERSION));
    talus_frames_head_clear(&head);
    return status;
}

TalusStatus serve_files_head(ServeFiles *files, int64_t number, TalusPacker *chunk)
{
    View view;
    pthread_mutex_lock(&files->lock);
    refresh(files, &view);
    TalusStatus status = files->frames && number < files->frames->heads
                             ? pack_head(files->frames, files->frames->head[number], chunk)
                             : talus_reject("there is no head of this number");
    pthread_mutex_unlock(&files->lock);
    return status;
}

TalusStatus serve_files_status(ServeFiles *files, JsonOut *json)
{
    View view;
    pthread_mutex_lock(&files->lock);
    refresh(files, &view);
    json_open_object(json, NULL);
    json_text(json, "state", view.state);
    json_int(json, "step", view.run.step);
    json_real(json, "time", view.run.time);
    json_real(json, "until", view.run.until);
    json_text(json, "title", view.title);
    json_text(json, "scene", view.scene);
    json_real(json, "steps_per_second", view.run.steps_per_second);
    bool report_error =
        view.frames_error[0] && !view.run.alive; /* a live run may not have frames yet */
    json_text(json, "message", report_error ? view.frames_error : view.run.message);
    json_int(json, "frames", frame_count(files));
    json_int(json, "bytes", (int64_t)frame_bytes(files));
    json_bool(json, "complete", files->frames && files->frames->complete);
    json_bool(json, "control", view.run.alive);
    json_int(json, "identity", files->identity);
    json_close_object(json);
    pthread_mutex_unlock(&files->lock);
    return TALUS_OK;
}

static void put_frame(JsonOut *json, TalusFrameInfo frame)
{
    json_open_array(json, NULL);
    json_int(json, NULL, (int64_t)frame.offset);
    json_int(json, NULL, (int64_t)frame.size);
    json_real(json, NULL, frame.time);
    json_int(json, NULL, frame.step);
    json_int(json, NULL, frame.key);
    json_int(json, NULL, frame.bodies);
    json_close_array(json);
}

TalusStatus serve_files_index(ServeFiles *files, int64_t from, JsonOut *json)
{
    View view;
    pthread_mutex_lock(&files->lock);
    refresh(files, &view);
    int count = frame_count(files);
    json_open_object(json, NULL);
    json_int(json, "identity", files->identity);
    json_int(json, "count", count);
    json_open_array(json, "heads");
    for (int i = 0; files->frames && i < files->frames->heads; i++) {
        json_open_array(json, NULL);
        json_int(json, NULL, (int64_t)files->frames->head[i].offset);
        json_int(json, NULL, (int64_t)files->frames->head[i].size);
        json_close_array(json);
    }
    json_close_array(json);
    json_open_array(json, "frames");
    for (int64_t i = from; i < count && i - from < SERVE_INDEX_ROWS; i++)
        put_frame(json, talus_frames_info(files->frames, (int)i));
    json_close_array(json);
    json_close_object(json);
    pthread_mutex_unlock(&files->lock);
    return TALUS_OK;
}

TalusStatus serve_files_steps(ServeFiles *files, int64_t from, int64_t stride, JsonOut *json)
{
    View view;
    pthread_mutex_lock(&files->lock);
    refresh(files, &view);
    int fd = files->steps.rows > 0 ? open_file(files, "steps.csv") : -1;
    json_open_object(json, NULL);
    json_int(json, "identity", files->identity);
    TalusStatus status = steps_json(&files->steps, fd, from, stride, json);
    json_close_object(json);
    if (fd >= 0)
        close(fd);
    pthread_mutex_unlock(&files->lock);
    return status;
}

TalusStatus serve_files_run(ServeFiles *files, const char *token, JsonOut *json)
{
    View view;
    pthread_mutex_lock(&files->lock);
    refresh(files, &view);
    ViewerRun run = {.title = view.title,
                     .scene = view.scene,
                     .state = view.state,
                     .note = "",
                     .token = token,
                     .until = view.run.until};
    TalusStatus status = viewer_run_json(&run, json);
    pthread_mutex_unlock(&files->lock);
    return status;
}

TalusStatus serve_files_control(ServeFiles *files, const char *word)
{
    RunState run;
    pthread_mutex_lock(&files->lock);
    reopen_directory(files);
    TalusStatus status = TALUS_OK;
    if (!read_state(files, &run) || !run.alive)
        status = talus_reject("no run is at work that could be told to %s", word);
    else if (!run_control_write(files->dir, word))
        status = talus_fail(TALUS_ERR_IO, "%s/control: cannot write: %s", files->location.dir,
                            strerror(errno));
    pthread_mutex_unlock(&files->lock);
    return status;
}
