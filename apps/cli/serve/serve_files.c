/* cli/serve/serve_files.c - access to a run's directory under one lock. */
#include "serve_files.h"

#include "cli/run/dir.h"
#include "cli/run/steps.h"
#include "serve_index.h"
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
typedef struct Look {
    RunState run;
    const char *state; /* as the page names it */
    const char *title, *scene;
    char trouble[RUN_TEXT_MAX]; /* why frames are missing; "": they are not */
} Look;

struct ServeFiles {
    RunPlace place;
    int dir; /* its descriptor */
    pthread_mutex_t lock;
    ServeIndex index;
    Steps steps;
    int64_t identity;     /* version of index and steps, changed when they restart */
    TalusHeadStore head;  /* of the first frame: title and scene without run.json */
    uint64_t head_offset; /* file offset of that head; 0: not read */
};

/* ---- locations ---- */

static TalusStatus split_path(const char *operand, RunPlace *place)
{
    const char *slash = strrchr(operand, '/');
    int length = slash ? (int)(slash - operand) : 0;
    if (!slash)
        TALUS_TRY(talus_path(&place->dir, "."));
    else
        TALUS_TRY(talus_path(&place->dir, "%.*s", length > 0 ? length : 1, operand));
    TALUS_TRY(talus_path(&place->name, "%s", slash ? slash + 1 : operand));
    place->alone = strcmp(place->name, SERVE_FRAMES_NAME) != 0;
    return TALUS_OK;
}

TalusStatus run_place_find(const char *operand, RunPlace *place)
{
    struct stat about;
    *place = (RunPlace){0};
    if (stat(operand, &about) != 0)
        return talus_fail_file(operand, TALUS_ERR_IO, "%s; expected the directory of a run",
                               strerror(errno));
    TalusStatus status;
    if (S_ISDIR(about.st_mode)) {
        status = talus_path(&place->dir, "%s", operand);
        TALUS_THEN(status, talus_path(&place->name, "%s", SERVE_FRAMES_NAME));
    } else if (S_ISREG(about.st_mode)) {
        status = split_path(operand, place);
    } else {
        status = talus_fail_file(operand, TALUS_ERR_IO, "is neither a directory nor a file");
    }
    if (status != TALUS_OK)
        run_place_clear(place);
    return status;
}

void run_place_clear(RunPlace *place)
{
    TALUS_RELEASE(place->dir, place->name);
    *place = (RunPlace){0};
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

/* Reopens the directory by name: one removed and created again is another directory. */
static void reopen_directory(ServeFiles *files)
{
    struct stat about;
    if (fstat(files->dir, &about) == 0 && about.st_nlink > 0)
        return;
    int fd = open(files->place.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        close(files->dir);
        files->dir = fd;
    }
}

static void forget_frames(ServeFiles *files)
{
    serve_index_clear(&files->index);
    talus_frames_head_clear(&files->head);
    files->head_offset = 0;
}

static TalusStatus look_at_frames(ServeFiles *files, bool *anew)
{
    int fd = open_file(files, files->place.name);
    if (fd < 0) {
        *anew = *anew || files->index.frame_count > 0;
        forget_frames(files);
        return talus_fail(TALUS_ERR_IO, "%s/%s: %s", files->place.dir, files->place.name,
                          errno == EINVAL || errno == ELOOP ? "is not a regular file"
                                                            : strerror(errno));
    }
    bool other = false;
    TalusStatus status = serve_index_refresh(&files->index, fd, &other);
    if (other) {
        talus_frames_head_clear(&files->head);
        files->head_offset = 0;
        *anew = true;
    }
    close(fd);
    return status;
}

static void look_at_steps(ServeFiles *files, bool *anew)
{
    int fd = files->place.alone ? -1 : open_file(files, "steps.csv");
    if (fd >= 0) {
        steps_refresh(&files->steps, fd, anew);
        close(fd);
    } else {
        *anew = *anew || files->steps.rows > 0;
        steps_clear(&files->steps);
    }
}

/* Reads and checks the chunk of a head; the caller releases it. *size is that of its payload. */
static TalusStatus read_head(const ServeFiles *files, ServePlace place, unsigned char **bytes,
                             size_t *size)
{
    TalusChunk chunk;
    int fd = open_file(files, files->place.name);
    bool there = fd >= 0 && pread(fd, &chunk, sizeof chunk, (off_t)place.offset) == sizeof chunk &&
                 chunk.size <= TALUS_FRAMES_HEAD_MAX && talus_chunk_bytes(&chunk) == place.size;
    TalusStatus status = TALUS_OK;
    *bytes = NULL;
    if (there)
        status = TALUS_ALLOC(*bytes, place.size, "head of frames");
    if (there && status == TALUS_OK) {
        *size = chunk.size;
        there = pread(fd, *bytes, place.size, (off_t)place.offset) == (ssize_t)place.size &&
                talus_chunk_crc(&chunk, *bytes + sizeof chunk) == chunk.crc;
    }
    if (fd >= 0)
        close(fd);
    if (status == TALUS_OK && !there)
        status = talus_fail(TALUS_ERR_FORMAT, "the head of the frames is damaged");
    return status;
}

/* Reads title and scene from the first head, for frames without a run.json. */
static void look_at_head(ServeFiles *files)
{
    unsigned char *bytes;
    size_t size;
    if (files->head_offset > 0 || files->index.head_count == 0)
        return;
    files->head_offset = files->index.heads[0].offset;
    if (read_head(files, files->index.heads[0], &bytes, &size) == TALUS_OK &&
        talus_frames_head_read((const char *)bytes + sizeof(TalusChunk), size, files->place.name,
                               &files->head) != TALUS_OK)
        talus_frames_head_clear(&files->head);
    talus_release(bytes);
}

/* ---- state of everything; the lock is held ---- */

static bool read_state(ServeFiles *files, RunState *run)
{
    *run = (RunState){.state = "unknown", .until = NAN, .every = NAN};
    return !files->place.alone && run_state_read_at(files->dir, run);
}

/* Reads the state first, so that all output of a run that says it has finished is seen. */
static void take_look(ServeFiles *files, Look *look)
{
    bool anew = false;
    reopen_directory(files);
    bool known = read_state(files, &look->run);
    TalusStatus status = look_at_frames(files, &anew);
    look->trouble[0] = '\0';
    if (status != TALUS_OK)
        snprintf(look->trouble, sizeof look->trouble, "%s", talus_error());
    look_at_steps(files, &anew);
    files->identity += anew;
    look->state = look->run.state;
    look->title = look->run.title;
    look->scene = look->run.scene;
    if (known)
        return;
    look_at_head(files);
    look->state = files->index.complete ? "finished" : "died";
    look->title = files->head.head.title ? files->head.head.title : "";
    look->scene = files->head.head.scene ? files->head.head.scene : "";
    if (files->index.frame_count > 0) {
        const ServeFrame *last = &files->index.frames[files->index.frame_count - 1];
        look->run.step = last->step;
        look->run.time = last->time;
    }
}

/* ---- opening ---- */

static TalusStatus files_start(ServeFiles *files, const RunPlace *place)
{
    Look look;
    uint32_t identity;
    TALUS_TRY(talus_path(&files->place.dir, "%s", place->dir));
    TALUS_TRY(talus_path(&files->place.name, "%s", place->name));
    files->place.alone = place->alone;
    files->dir = open(place->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->dir < 0 || getentropy(&identity, sizeof identity) != 0)
        return talus_fail_file(place->dir, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
    files->identity = identity;
    take_look(files, &look);
    if (look.trouble[0] && !look.run.alive)
        return talus_fail(TALUS_ERR_IO,
                          "%s; `talus run SCENE --out DIR` writes %s, for `talus view DIR`",
                          look.trouble, SERVE_FRAMES_NAME);
    return TALUS_OK;
}

TalusStatus serve_files_open(const RunPlace *place, ServeFiles **out)
{
    ServeFiles *files;
    TALUS_TRY(TALUS_ALLOC(files, 1, "files of a run"));
    files->dir = -1;
    pthread_mutex_init(&files->lock, NULL);
    TalusStatus status = files_start(files, place);
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
    forget_frames(files);
    steps_clear(&files->steps);
    run_place_clear(&files->place);
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
    int fd = open_file(files, files->place.name);
    pthread_mutex_unlock(&files->lock);
    if (fd >= 0 && fstat(fd, &about) != 0) {
        close(fd);
        fd = -1;
    }
    *size = fd >= 0 ? (uint64_t)about.st_size : 0;
    return fd;
}

/* A head of version 1 has no figures, and its text is not zero-terminated. */
static TalusStatus pack_head(const ServeFiles *files, ServePlace place, TalusPacker *chunk)
{
    TalusHeadStore head = {0};
    unsigned char *bytes;
    size_t size;
    TalusStatus status = read_head(files, place, &bytes, &size);
    if (status == TALUS_OK && memchr(bytes + sizeof(TalusChunk), 0, size)) {
        status = talus_pack_bytes(chunk, bytes, place.size);
    } else if (status == TALUS_OK) {
        status = talus_frames_head_read((const char *)bytes + sizeof(TalusChunk), size,
                                        files->place.name, &head);
        TALUS_THEN(status, talus_frames_head_pack(chunk, &head.head, TALUS_FRAMES_VERSION));
        talus_frames_head_clear(&head);
    }
    talus_release(bytes);
    return status;
}

TalusStatus serve_files_head(ServeFiles *files, int64_t number, TalusPacker *chunk)
{
    Look look;
    pthread_mutex_lock(&files->lock);
    take_look(files, &look);
    TalusStatus status = number < files->index.head_count
                             ? pack_head(files, files->index.heads[number], chunk)
                             : talus_fail(TALUS_ERR_ARGUMENT, "there is no head of this number");
    pthread_mutex_unlock(&files->lock);
    return status;
}

TalusStatus serve_files_status(ServeFiles *files, JsonOut *json)
{
    Look look;
    pthread_mutex_lock(&files->lock);
    take_look(files, &look);
    json_open_object(json, NULL);
    json_text(json, "state", look.state);
    json_int(json, "step", look.run.step);
    json_real(json, "time", look.run.time);
    json_real(json, "until", look.run.until);
    json_text(json, "title", look.title);
    json_text(json, "scene", look.scene);
    json_real(json, "steps_per_second", look.run.steps_per_second);
    bool told = look.trouble[0] && !look.run.alive; /* a live run may not have frames yet */
    json_text(json, "message", told ? look.trouble : look.run.message);
    json_int(json, "frames", files->index.frame_count);
    json_int(json, "bytes", (int64_t)files->index.size);
    json_bool(json, "complete", files->index.complete);
    json_bool(json, "control", look.run.alive);
    json_int(json, "identity", files->identity);
    json_close_object(json);
    pthread_mutex_unlock(&files->lock);
    return TALUS_OK;
}

static void put_frame(JsonOut *json, const ServeFrame *frame)
{
    json_open_array(json, NULL);
    json_int(json, NULL, (int64_t)frame->place.offset);
    json_int(json, NULL, (int64_t)frame->place.size);
    json_real(json, NULL, frame->time);
    json_int(json, NULL, frame->step);
    json_int(json, NULL, frame->key);
    json_int(json, NULL, frame->bodies);
    json_close_array(json);
}

TalusStatus serve_files_index(ServeFiles *files, int64_t from, JsonOut *json)
{
    Look look;
    pthread_mutex_lock(&files->lock);
    take_look(files, &look);
    const ServeIndex *index = &files->index;
    json_open_object(json, NULL);
    json_int(json, "identity", files->identity);
    json_int(json, "count", index->frame_count);
    json_open_array(json, "heads");
    for (int i = 0; i < index->head_count; i++) {
        json_open_array(json, NULL);
        json_int(json, NULL, (int64_t)index->heads[i].offset);
        json_int(json, NULL, (int64_t)index->heads[i].size);
        json_close_array(json);
    }
    json_close_array(json);
    json_open_array(json, "frames");
    for (int64_t i = from; i < index->frame_count && i - from < SERVE_INDEX_ROWS; i++)
        put_frame(json, &index->frames[i]);
    json_close_array(json);
    json_close_object(json);
    pthread_mutex_unlock(&files->lock);
    return TALUS_OK;
}

TalusStatus serve_files_steps(ServeFiles *files, int64_t from, int64_t stride, JsonOut *json)
{
    Look look;
    pthread_mutex_lock(&files->lock);
    take_look(files, &look);
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
    Look look;
    pthread_mutex_lock(&files->lock);
    take_look(files, &look);
    ViewerRun run = {.title = look.title,
                     .scene = look.scene,
                     .state = look.state,
                     .note = "",
                     .token = token,
                     .until = look.run.until};
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
        status = talus_fail(TALUS_ERR_ARGUMENT, "no run is at work that could be told to %s", word);
    else if (!run_control_write(files->dir, word))
        status = talus_fail(TALUS_ERR_IO, "%s/control: cannot write: %s", files->place.dir,
                            strerror(errno));
    pthread_mutex_unlock(&files->lock);
    return status;
}
