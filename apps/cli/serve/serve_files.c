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
typedef struct DirView {
    RunState run;
    const char *state;               /* state of the run as the page names it */
    const char *title, *scene;       /* in `run` or the head of the first frame */
    char frames_error[RUN_TEXT_MAX]; /* why frames cannot be read; "": the frames file is valid */
} DirView;

struct ServeFiles {
    RunLocation location;
    char *path; /* of the frames file, for messages */
    int dir;    /* descriptor of the directory */
    pthread_mutex_t lock;
    TalusFrames *frames; /* NULL: none, or none that can be read */
    Steps steps;
    /* Grows when frames or steps are replaced, upon which the page loads them anew. */
    int64_t identity;
};

/* ---- locations ---- */

/* Sets `location` from the path of a file. */
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

static int count_frames(const ServeFiles *files)
{
    return files->frames ? talus_frames_count(files->frames) : 0;
}

/* Returns the size of the valid part of the frames file: all of it if complete, else up to the last whole chunk; 0
 * without a file. */
static uint64_t find_valid_bytes(const ServeFiles *files)
{
    struct stat about;
    if (!files->frames || !files->frames->complete || fstat(files->frames->fd, &about) != 0)
        return files->frames && files->frames->version ? files->frames->end : 0;
    return (uint64_t)about.st_size;
}

/* If the open directory was removed, opens the directory that has the same path now, if any. */
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
 * opened. Opens the file by its name in the open directory, so that no link can lead elsewhere. */
static TalusStatus refresh_frames(ServeFiles *files, bool *anew)
{
    uint64_t replaced = files->frames ? files->frames->replaced : 0;
    int before = count_frames(files), fd = open_file(files, files->location.name);
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
        (count_frames(files) > SERVE_FRAMES_MAX || files->frames->heads > SERVE_FRAMES_MAX))
        return talus_fail_file(files->path, TALUS_ERR_UNSUPPORTED, "more than %d frames or heads",
                               SERVE_FRAMES_MAX);
    return status;
}

/* Reads new rows of steps.csv; *anew becomes true if rows read earlier are no longer valid. */
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

/* ---- state of all files; the caller holds files->lock ---- */

/* Reads run.json; without a run sets the state "unknown". Returns false if the state is "unknown". */
static bool read_run_state(ServeFiles *files, RunState *run)
{
    *run = (RunState){.state = "unknown", .until = NAN, .every = NAN};
    return !files->location.alone && run_state_read(files->dir, ".", run);
}

/* Reads run.json, new frames and new steps, and fills `view`. Reads run.json first: if it says "finished", frames and
 * steps are complete. Without run.json, title, scene, step and time come from the frames file. */
static void refresh_all(ServeFiles *files, DirView *view)
{
    bool anew = false;
    reopen_directory(files);
    bool known = read_run_state(files, &view->run);
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
    int count = count_frames(files);
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

/* Fills `files`: opens the directory and reads its files. Fails as serve_files_open; the caller closes `files` then. */
static TalusStatus open_location(ServeFiles *files, const RunLocation *location)
{
    DirView view;
    uint32_t identity;
    TALUS_TRY(talus_path_format(&files->location.dir, "%s", location->dir));
    TALUS_TRY(talus_path_format(&files->location.name, "%s", location->name));
    TALUS_TRY(talus_path_format(&files->path, "%s/%s", location->dir, location->name));
    files->location.alone = location->alone;
    files->dir = open(location->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->dir < 0 || getentropy(&identity, sizeof identity) != 0)
        return talus_fail_file(location->dir, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    files->identity = identity;
    refresh_all(files, &view);
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
    TalusStatus status = open_location(files, location);
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

/* As open_file, with the size of the file; the caller holds files->lock. */
static int open_sized(ServeFiles *files, const char *name, uint64_t *size)
{
    struct stat about;
    reopen_directory(files);
    int fd = open_file(files, name);
    if (fd >= 0 && fstat(fd, &about) != 0) {
        close(fd);
        fd = -1;
    }
    *size = fd >= 0 ? (uint64_t)about.st_size : 0;
    return fd;
}

int serve_files_open_frames(ServeFiles *files, uint64_t *size)
{
    pthread_mutex_lock(&files->lock);
    int fd = open_sized(files, files->location.name, size);
    pthread_mutex_unlock(&files->lock);
    return fd;
}

/* The same of a file that belongs to a run; a frames file alone has none. */
static int open_of_run(ServeFiles *files, const char *name, uint64_t *size)
{
    *size = 0;
    return files->location.alone ? -1 : open_sized(files, name, size);
}

static int open_locked(ServeFiles *files, const char *name, uint64_t *size)
{
    pthread_mutex_lock(&files->lock);
    int fd = open_of_run(files, name, size);
    pthread_mutex_unlock(&files->lock);
    return fd;
}

int serve_files_open_ranks(ServeFiles *files, uint64_t *size)
{
    return open_locked(files, "ranks.csv", size);
}

int serve_files_open_fields(ServeFiles *files, uint64_t *size)
{
    return open_locked(files, "fields.csv", size);
}

/* Returns the size of a file of the run, and sets *changed to the time of its last change, ms since 1970; 0 and 0: there is
 * none. */
static int64_t find_bytes(ServeFiles *files, const char *name, int64_t *changed)
{
    struct stat about;
    uint64_t size;
    int fd = open_of_run(files, name, &size);
    const bool known = fd >= 0 && fstat(fd, &about) == 0;
    *changed = known ? (int64_t)about.st_mtim.tv_sec * 1000 + about.st_mtim.tv_nsec / 1000000 : 0;
    if (fd >= 0)
        close(fd);
    return known ? (int64_t)size : 0;
}

/* Copies a HEAD chunk (shapes and materials). A chunk of version 1, which has no zero byte after its text and lacks the
 * triangles of shapes, is converted to the present version. */
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

TalusStatus serve_files_pack_head(ServeFiles *files, int64_t number, TalusPacker *chunk)
{
    DirView view;
    pthread_mutex_lock(&files->lock);
    refresh_all(files, &view);
    TalusStatus status = files->frames && number < files->frames->heads
                             ? pack_head(files->frames, files->frames->head[number], chunk)
                             : talus_reject("there is no head of this number");
    pthread_mutex_unlock(&files->lock);
    return status;
}

TalusStatus serve_files_write_status(ServeFiles *files, JsonOut *json)
{
    DirView view;
    int64_t changed;
    pthread_mutex_lock(&files->lock);
    refresh_all(files, &view);
    json_open_object(json, NULL);
    json_write_text(json, "state", view.state);
    json_write_int(json, "step", view.run.step);
    json_write_real(json, "time", view.run.time);
    json_write_real(json, "until", view.run.until);
    json_write_text(json, "title", view.title);
    json_write_text(json, "scene", view.scene);
    json_write_real(json, "steps_per_second", view.run.steps_per_second);
    /* A live run may not have frames yet. */
    bool report_error = view.frames_error[0] && !view.run.alive;
    json_write_text(json, "message", report_error ? view.frames_error : view.run.message);
    json_write_int(json, "frames", count_frames(files));
    json_write_int(json, "bytes", (int64_t)find_valid_bytes(files));
    json_write_int(json, "ranks", find_bytes(files, "ranks.csv", &changed));
    json_write_int(json, "fields", find_bytes(files, "fields.csv", &changed));
    json_write_int(json, "fields_changed", changed);
    json_write_bool(json, "complete", files->frames && files->frames->complete);
    json_write_bool(json, "control", view.run.alive);
    json_write_int(json, "identity", files->identity);
    json_close_object(json);
    pthread_mutex_unlock(&files->lock);
    return TALUS_OK;
}

/* Writes [offset, size, time, step, key, bodies] of a frame. */
static void write_frame_row(JsonOut *json, TalusFrameInfo frame)
{
    json_open_array(json, NULL);
    json_write_int(json, NULL, (int64_t)frame.offset);
    json_write_int(json, NULL, (int64_t)frame.size);
    json_write_real(json, NULL, frame.time);
    json_write_int(json, NULL, frame.step);
    json_write_int(json, NULL, frame.key);
    json_write_int(json, NULL, frame.bodies);
    json_close_array(json);
}

TalusStatus serve_files_write_index(ServeFiles *files, int64_t from, JsonOut *json)
{
    DirView view;
    pthread_mutex_lock(&files->lock);
    refresh_all(files, &view);
    int count = count_frames(files);
    json_open_object(json, NULL);
    json_write_int(json, "identity", files->identity);
    json_write_int(json, "count", count);
    json_open_array(json, "heads");
    for (int i = 0; files->frames && i < files->frames->heads; i++) {
        json_open_array(json, NULL);
        json_write_int(json, NULL, (int64_t)files->frames->head[i].offset);
        json_write_int(json, NULL, (int64_t)files->frames->head[i].size);
        json_close_array(json);
    }
    json_close_array(json);
    json_open_array(json, "frames");
    for (int64_t i = from; i < count && i - from < SERVE_INDEX_ROWS; i++)
        write_frame_row(json, talus_frames_info(files->frames, (int)i));
    json_close_array(json);
    json_close_object(json);
    pthread_mutex_unlock(&files->lock);
    return TALUS_OK;
}

TalusStatus serve_files_write_steps(ServeFiles *files, int64_t from, int64_t stride, JsonOut *json)
{
    DirView view;
    pthread_mutex_lock(&files->lock);
    refresh_all(files, &view);
    int fd = files->steps.rows > 0 ? open_file(files, "steps.csv") : -1;
    json_open_object(json, NULL);
    json_write_int(json, "identity", files->identity);
    TalusStatus status = steps_write_json(&files->steps, fd, from, stride, json);
    json_close_object(json);
    if (fd >= 0)
        close(fd);
    pthread_mutex_unlock(&files->lock);
    return status;
}

TalusStatus serve_files_write_run(ServeFiles *files, const char *token, JsonOut *json)
{
    DirView view;
    pthread_mutex_lock(&files->lock);
    refresh_all(files, &view);
    ViewerRun run = {.title = view.title,
                     .scene = view.scene,
                     .state = view.state,
                     .note = "",
                     .token = token,
                     .until = view.run.until};
    TalusStatus status = viewer_write_run(&run, json);
    pthread_mutex_unlock(&files->lock);
    return status;
}

TalusStatus serve_files_send_command(ServeFiles *files, const char *word)
{
    RunState run;
    pthread_mutex_lock(&files->lock);
    reopen_directory(files);
    TalusStatus status = TALUS_OK;
    if (!read_run_state(files, &run) || !run.alive)
        status = talus_reject("no run is at work that could be told to %s", word);
    else if (!run_control_write(files->dir, word))
        status = talus_fail(TALUS_ERR_IO, "%s/control: cannot write: %s", files->location.dir,
                            strerror(errno));
    pthread_mutex_unlock(&files->lock);
    return status;
}
