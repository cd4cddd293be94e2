/* base/status.c - the thread-local error and its text, the log function of a thread, names of codes, version. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local TalusError last; /* the thread's last error */

static _Thread_local TalusLog thread_log; /* set by talus_set_log */

const char *talus_version(void)
{
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
    return TEXT(TALUS_VERSION_MAJOR) "." TEXT(TALUS_VERSION_MINOR) "." TEXT(TALUS_VERSION_PATCH);
}

int talus_abi_version(void)
{
    return TALUS_ABI_VERSION;
}

const char *talus_status_name(TalusStatus status)
{
    static const char *const names[] = {"ok",      "argument",  "memory",
                                        "io",      "format",    "unsupported",
                                        "numeric", "tolerance", "cancelled"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

const char *talus_domain_name(TalusDomain domain)
{
    static const char *const names[] = {
        [TALUS_DOMAIN_PROGRAM] = "program",
        [TALUS_DOMAIN_BASE] = "base",
        [TALUS_DOMAIN_SHAPE] = "shape",
        [TALUS_DOMAIN_PROBLEM] = "problem",
        [TALUS_DOMAIN_BACKEND] = "backend",
        [TALUS_DOMAIN_DEVICE] = "device",
        [TALUS_DOMAIN_SOLVER] = "solver",
        [TALUS_DOMAIN_WORLD] = "world",
        [TALUS_DOMAIN_IO] = "io",
        [TALUS_DOMAIN_SCENE] = "scene",
        [TALUS_DOMAIN_OVERRIDE] = "override",
        [TALUS_DOMAIN_DRAW] = "draw",
    };
    return (unsigned)domain < sizeof names / sizeof *names ? names[domain] : "unknown";
}

/* ---- the error ---- */

const char *talus_error(void)
{
    return last.text;
}

const TalusError *talus_error_record(void)
{
    return &last;
}

const char *talus_error_reason(void)
{
    return last.text + last.reason;
}

void talus_error_restore(const TalusError *error)
{
    last = *error;
}

/* Appends as much of `more` to text[size] as fits. */
static void append_text(char *text, size_t size, const char *more)
{
    size_t used = strlen(text), n = strnlen(more, size - used - 1);
    memcpy(text + used, more, n);
    text[used + n] = '\0';
}

/* Writes "FILE:LINE:COLUMN: " without unknown parts; "" if the location has no file. Returns the length. */
static size_t write_file_prefix(TalusLocation at, char *text, size_t size)
{
    text[0] = '\0';
    if (at.file && at.line == 0)
        snprintf(text, size, "%s: ", at.file);
    else if (at.file && at.column == 0)
        snprintf(text, size, "%s:%d: ", at.file, at.line);
    else if (at.file)
        snprintf(text, size, "%s:%d:%d: ", at.file, at.line, at.column);
    return strlen(text);
}

/* Returns the noun to put before the key, "solver " or "backend ", where the key is the name of one; "" for other
 * domains and for locations in a file. */
static const char *noun_before_key(TalusLocation at)
{
    if (at.file)
        return "";
    return at.domain == TALUS_DOMAIN_SOLVER                                        ? "solver "
           : at.domain == TALUS_DOMAIN_BACKEND || at.domain == TALUS_DOMAIN_DEVICE ? "backend "
                                                                                   : "";
}

size_t talus_location_text(TalusLocation at, char *text, size_t size)
{
    size_t used = write_file_prefix(at, text, size);
    if (at.key && at.key[0])
        snprintf(text + used, size - used, "%s%s: ", noun_before_key(at), at.key);
    return strlen(text);
}

/* Completes the record `e`, whose code and key are set, and makes it the thread's error. The text becomes the location
 * followed by `rest`; the reason begins at offset `reason` of `rest`. */
static void set_error(TalusError *e, TalusLocation at, const char *rest, size_t reason)
{
    char where[sizeof e->file + sizeof e->key + 64];
    size_t begin = talus_location_text(at, where, sizeof where) + reason;
    append_text(e->text, sizeof e->text, where);
    append_text(e->text, sizeof e->text, rest);
    size_t end = strlen(e->text);
    e->reason = (int)(begin < end ? begin : end);
    e->domain = at.domain;
    e->line = at.line;
    e->column = at.column;
    append_text(e->file, sizeof e->file, at.file ? at.file : "");
    last = *e;
}

/* Makes a new error at this location, with the formatted text as its reason, the thread's error. */
static void set_failure(TalusLocation at, TalusStatus status, const char *format, va_list args)
{
    char rest[sizeof last.text]; /* an argument may be the old text itself */
    TalusError e = {.code = status};
    vsnprintf(rest, sizeof rest, format, args);
    append_text(e.key, sizeof e.key, at.key ? at.key : "");
    set_error(&e, at, rest, 0);
}

TalusStatus talus_fail_in(TalusDomain domain, TalusStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_failure(talus_locate(domain, NULL, 0, NULL), status, format, args);
    va_end(args);
    return status;
}

TalusStatus talus_fail_at(TalusLocation at, TalusStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_failure(at, status, format, args);
    va_end(args);
    return status;
}

TalusStatus talus_fail_around_in(TalusDomain domain, TalusStatus status, const char *format, ...)
{
    char key[sizeof last.key];
    memcpy(key, last.key, sizeof key);
    va_list args;
    va_start(args, format);
    set_failure(talus_locate(domain, NULL, 0, NULL), status, format, args);
    va_end(args);
    return talus_error_key(key, status);
}

/* Returns the number of characters at the start of `names` that repeat the last word of the outer key `path`: that
 * word with its separator, such as "backend " of "backend cuda: " for the key "run.backend"; 0 if `names` begins
 * otherwise. `names` is the part of an inner error's text from its key up to its reason, `length` characters. */
static size_t repeated_length(const char *path, const char *names, size_t length)
{
    const char *dot = path ? strrchr(path, '.') : NULL, *word = dot ? dot + 1 : path;
    size_t n = word ? strlen(word) : 0;
    if (n == 0 || n + 1 >= length || strncmp(word, names, n) != 0)
        return 0;
    return names[n] == ' ' ? n + 1 : names[n] == ':' ? n + 2 : 0;
}

TalusStatus talus_error_at(TalusLocation at, TalusStatus status)
{
    if (status == TALUS_OK)
        return TALUS_OK;
    TalusError inner = last, e = {.code = status};
    TalusLocation old = {
        .file = inner.file[0] ? inner.file : NULL, .line = inner.line, .column = inner.column};
    size_t skip = 0, reason = (size_t)inner.reason;
    /* Only the inner error has a line: it counts in a text inside the file, so that both locations stay in the text. */
    bool same = at.file && strcmp(at.file, inner.file) == 0 && (at.line || !inner.line);
    if (!at.file || same) {
        char file[sizeof inner.file + 64];
        size_t head = write_file_prefix(old, file, sizeof file);
        skip = head < reason ? head : reason; /* long texts are truncated */
        at.file = old.file;
        at.line = at.line ? at.line : old.line;
        at.column = at.column ? at.column : old.column;
    }
    skip += repeated_length(at.key, inner.text + skip, reason - skip);
    if (at.key)
        append_text(e.key, sizeof e.key, at.key);
    if (at.key && inner.key[0] && inner.domain == at.domain)
        append_text(e.key, sizeof e.key, ".");
    if (!at.key || inner.domain == at.domain)
        append_text(e.key, sizeof e.key, inner.key);
    set_error(&e, at, inner.text + skip, reason - skip);
    return status;
}

TalusStatus talus_error_key(const char *key, TalusStatus status)
{
    if (status != TALUS_OK)
        snprintf(last.key, sizeof last.key, "%s", key);
    return status;
}

TalusStatus talus_error_add(const char *more, TalusStatus status)
{
    if (status != TALUS_OK)
        append_text(last.text, sizeof last.text, more);
    return status;
}

/* ---- the log ---- */

void talus_set_log(TalusLogFn *fn, void *user)
{
    thread_log = (TalusLog){fn, user};
}

/* Formats a line and passes it to the function of `log`, if that is not NULL. */
static void log_text(const TalusLog *log, TalusLogLevel level, const char *id, const char *format,
                     va_list args)
{
    char text[1024];
    if (!log->fn)
        return;
    vsnprintf(text, sizeof text, format, args);
    log->fn(log->user, level, id, text);
}

void talus_log(TalusLogLevel level, const char *id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_text(&thread_log, level, id, format, args);
    va_end(args);
}

void talus_log_to(const TalusLog *log, TalusLogLevel level, const char *id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_text(log->fn ? log : &thread_log, level, id, format, args);
    va_end(args);
}
