/* cli/run/dir.c - run.json, run.lock, control and tables in the directory of a run. */
#include "dir.h"

#include "cli/cli.h"
#include "cli/json_out.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/text/json.h"
#include "io/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Version of run.json and maximum of its bytes; attempts of run_lock_take, 10 ms apart. */
enum { VERSION = 1, STATE_LIMIT = 1 << 16, LOCK_TRIES = 20 };

/* Flags of open() that neither follow a link nor block on a named pipe. */
#define READ_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* States that run.json may contain. */
static const char *const states[] = {"running", "paused", "finished", "stopped", "failed"};

static void join_path(char path[CLI_PATH_MAX], const char *dir, const char *name)
{
    snprintf(path, CLI_PATH_MAX, "%s/%s", dir, name);
}

/* ---- the lock ---- */

/* Tries several times, because a reader that tests the lock (is_locked) holds it for a moment. */
RunLock run_lock_take(int dir, int *fd)
{
    *fd = openat(dir, "run.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (*fd < 0)
        return RUN_LOCK_FAILED;
    for (int i = 0; i < LOCK_TRIES; i++) {
        if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
            return RUN_LOCKED;
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    int error = errno;
    close(*fd);
    *fd = -1;
    errno = error;
    return error == EWOULDBLOCK || error == EINTR ? RUN_LOCK_HELD : RUN_LOCK_ABSENT;
}

/* True if a run holds run.lock, or if this cannot be tested (no permission, a file system without locks), so that a run
 * whose run.json says "running" counts as alive. False if there is no run.lock. The test takes a shared lock for a
 * moment, so that two readers do not take each other for a run. */
static bool is_locked(int at, const char *dir)
{
    char path[CLI_PATH_MAX];
    join_path(path, dir, "run.lock");
    int fd = openat(at, path, READ_FLAGS);
    if (fd < 0)
        return errno != ENOENT;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return held;
}

/* ---- reading run.json ---- */

static bool set_unknown(RunState *state, const char *format, ...) CLI_PRINTF(2, 3);

/* Sets the state to "unknown" with the formatted text as message; returns false. */
static bool set_unknown(RunState *state, const char *format, ...)
{
    va_list args;
    *state = (RunState){.state = "unknown", .until = NAN, .every = NAN};
    va_start(args, format);
    vsnprintf(state->message, sizeof state->message, format, args);
    va_end(args);
    return false;
}

/* Writes the string at `key`, cut to RUN_TEXT_MAX; "" if there is none. */
static void get_text(const TalusJson *root, const char *key, char text[RUN_TEXT_MAX])
{
    const TalusJson *value = talus_json_get(root, key);
    snprintf(text, RUN_TEXT_MAX, "%s",
             value && value->kind == TALUS_JSON_STRING ? value->text : "");
}

/* Returns the number at `key`, or `otherwise` if there is none. */
static double get_number(const TalusJson *root, const char *key, double otherwise)
{
    const TalusJson *value = talus_json_get(root, key);
    return value && value->kind == TALUS_JSON_NUMBER ? value->number : otherwise;
}

/* Returns the number at `key`, rounded down; 0 if it is missing, negative or above `limit`, as in a damaged file. */
static int64_t get_count(const TalusJson *root, const char *key, double limit)
{
    double value = get_number(root, key, 0.0);
    return value >= 0.0 && value <= limit ? (int64_t)value : 0;
}

/* Fills `state` from the value of run.json; sets it to "unknown" and returns false if the value is not valid. */
static bool parse_state(const TalusJson *root, const char *path, RunState *state)
{
    char word[RUN_TEXT_MAX];
    if (root->kind != TALUS_JSON_OBJECT)
        return set_unknown(state, "%s: expected an object", path);
    if (get_number(root, "version", 0.0) != VERSION)
        return set_unknown(state, "%s: is not of version 1, the one this program reads", path);
    *state = (RunState){0};
    get_text(root, "state", word);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcmp(states[i], word) == 0)
            state->state = states[i];
    if (!state->state)
        return set_unknown(state, "%s: names no state of a run", path);
    get_text(root, "scene", state->scene);
    get_text(root, "title", state->title);
    get_text(root, "message", state->message);
    state->step = get_count(root, "step", 9e15);
    state->bodies = get_count(root, "bodies", 9e15);
    state->time = get_number(root, "time", 0.0);
    state->until = get_number(root, "until", NAN);
    state->every = get_number(root, "every", NAN);
    state->seed = (int64_t)get_number(root, "seed", 0.0);
    state->steps_per_second = get_number(root, "steps_per_second", 0.0);
    state->overlap_mean = get_number(root, "overlap_mean", NAN);
    state->overlap_p99 = get_number(root, "overlap_p99", NAN);
    state->overlap_max = get_number(root, "overlap_max", NAN);
    state->kappa = get_number(root, "kappa", NAN);
    return true;
}

/* Reads run.json without testing the lock; state->alive stays false. Returns false if the state is "unknown". */
static bool read_state_file(int at, const char *dir, RunState *state)
{
    char path[CLI_PATH_MAX], *text;
    size_t size;
    TalusArena arena = {0};
    TalusJson *root;
    bool known;
    join_path(path, dir, "run.json");
    int fd = openat(at, path, READ_FLAGS);
    if (fd < 0 && errno == ENOENT)
        return set_unknown(state, "%s: there is none, so no state of the run is known", path);
    if (fd < 0)
        return set_unknown(state, "%s: cannot open: %s", path, strerror(errno));
    if (talus_read_open_file(fd, path, STATE_LIMIT, &text, &size) != TALUS_OK ||
        talus_json_parse(&arena, text, size, path, true, &root) != TALUS_OK)
        known = set_unknown(state, "%s", talus_error());
    else
        known = parse_state(root, path, state);
    talus_arena_clear(&arena);
    talus_release(text);
    close(fd);
    return known;
}

/* Reads run.json, then tests the lock. If run.json says "running" or "paused" but the lock is free, reads run.json once
 * more: the run may have ended between, and it writes its final state before it releases the lock. */
bool run_state_read(int at, const char *dir, RunState *state)
{
    for (int i = 0; i < 2; i++) {
        if (!read_state_file(at, dir, state))
            return false;
        if (strcmp(state->state, "running") != 0 && strcmp(state->state, "paused") != 0)
            return true;
        state->alive = is_locked(at, dir);
        if (state->alive)
            return true;
    }
    state->state = "died";
    return true;
}

/* ---- writing ---- */

/* Replaces a file of the directory by `text` atomically; returns false with errno. */
static bool replace_file(int dir, const char *name, const char *text, size_t size)
{
    char beside[32];
    snprintf(beside, sizeof beside, "%s.tmp", name);
    int fd = openat(dir, beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                    0666);
    if (fd < 0)
        return false;
    int error = talus_write_fully(fd, text, size, NULL);
    close(fd);
    if (!error && renameat(dir, beside, dir, name) == 0)
        return true;
    error = error ? error : errno;
    unlinkat(dir, beside, 0);
    errno = error;
    return false;
}

bool run_state_write(int dir, const RunState *state)
{
    JsonOut json;
    TalusText text = {0};
    json_start(&json, json_to_text, &text);
    json_open_object(&json, NULL);
    json_write_int(&json, "version", VERSION);
    json_write_text(&json, "state", state->state);
    json_write_text(&json, "scene", state->scene);
    json_write_text(&json, "title", state->title);
    json_write_int(&json, "step", state->step);
    json_write_real(&json, "time", state->time);
    json_write_real(&json, "until", state->until);
    json_write_real(&json, "every", state->every);
    json_write_int(&json, "seed", state->seed);
    json_write_int(&json, "bodies", state->bodies);
    json_write_real(&json, "steps_per_second", state->steps_per_second);
    json_write_real(&json, "overlap_mean", state->overlap_mean);
    json_write_real(&json, "overlap_p99", state->overlap_p99);
    json_write_real(&json, "overlap_max", state->overlap_max);
    json_write_real(&json, "kappa", state->kappa);
    json_write_text(&json, "message", state->message);
    json_close_object(&json);
    json_finish(&json);
    bool written = text.status == TALUS_OK && replace_file(dir, "run.json", text.bytes, text.size);
    talus_release(text.bytes);
    return written;
}

/* ---- control ---- */

bool run_control_write(int dir, const char *word)
{
    char line[16];
    int size = snprintf(line, sizeof line, "%s\n", word);
    return replace_file(dir, "control", line, (size_t)size);
}

/* Renames the file before reading it, so that a word written meanwhile makes a new file and is not lost. Leaves an
 * empty file, which somebody is still writing by hand, for the next call. */
bool run_control_take(int dir, char *word, int size)
{
    struct stat about;
    if (fstatat(dir, "control", &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size == 0)
        return false;
    if (renameat(dir, "control", dir, "control.taken") != 0)
        return false;
    int fd = openat(dir, "control.taken", READ_FLAGS);
    ssize_t n = fd >= 0 ? read(fd, word, (size_t)size - 1) : 0;
    if (fd >= 0)
        close(fd);
    unlinkat(dir, "control.taken", 0);
    word[n > 0 ? n : 0] = '\0';
    word[strcspn(word, " \t\r\n")] = '\0';
    return true;
}

/* ---- tables ---- */

int64_t run_table_count_rows(const char *dir, const char *name)
{
    char path[CLI_PATH_MAX], block[4096];
    struct stat about;
    int64_t lines = 0;
    join_path(path, dir, name);
    int fd = open(path, READ_FLAGS);
    bool regular = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    for (ssize_t n; regular && (n = read(fd, block, sizeof block)) > 0;)
        for (ssize_t i = 0; i < n; i++)
            lines += block[i] == '\n';
    if (fd >= 0)
        close(fd);
    return !regular ? -1 : lines > 0 ? lines - 1 : 0;
}
