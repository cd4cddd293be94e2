/* base/status.h - recording of errors and log lines.
 *
 * An error is a record (TalusError): code, domain, file, line, column, key, and a text composed of these and a reason.
 * A caller that knows more about the location of the error adds it to the record before returning (talus_error_at). */
#ifndef TALUS_BASE_STATUS_H
#define TALUS_BASE_STATUS_H

#include <talus/base.h>

#if defined(__GNUC__)
#define TALUS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TALUS_PRINTF(text, first)
#endif

/* Domain of the errors reported by the including file; CMakeLists.txt defines it by folder. */
#ifndef TALUS_DOMAIN_HERE
#define TALUS_DOMAIN_HERE TALUS_DOMAIN_PROGRAM
#endif

/* Location of an error; NULL or 0: that part is unknown. Lines and columns count from 1. */
typedef struct TalusLocation {
    TalusDomain domain;
    const char *file;
    int line, column;
    const char *key;
} TalusLocation;

/* Makes a location without column. */
static inline TalusLocation talus_locate(TalusDomain domain, const char *file, long line,
                                         const char *key)
{
    TalusLocation at = {domain, file, (int)line, 0, key};
    return at;
}

/* Writes "FILE:LINE:COLUMN: KEY: " without the unknown parts, cut at `size`; without a file, "solver KEY: " or "backend
 * KEY: " in the domains of solvers, backends and devices. Returns the length of the text. */
size_t talus_location_text(TalusLocation at, char *text, size_t size);

/* Records the calling thread's error and returns `status`, so that a failure reads
 *     return talus_fail(TALUS_ERR_ARGUMENT, "step: %g is not positive", h);            */
#define talus_fail(...) talus_fail_in(TALUS_DOMAIN_HERE, __VA_ARGS__)
/* talus_fail with TALUS_ERR_ARGUMENT. */
#define talus_reject(...) talus_fail(TALUS_ERR_ARGUMENT, __VA_ARGS__)
/* As talus_fail, with a location (file, file and line, or key) that is stored and put in front of the text:
 *     return talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
 * In the domains of solvers and backends the key is the name of a solver or backend, and the text begins with, for
 * example, "solver gs: ". */
#define talus_fail_file(file, ...) \
    talus_fail_at(talus_locate(TALUS_DOMAIN_HERE, file, 0, NULL), __VA_ARGS__)
#define talus_fail_line(file, line, ...) \
    talus_fail_at(talus_locate(TALUS_DOMAIN_HERE, file, line, NULL), __VA_ARGS__)
#define talus_fail_key(key, ...) \
    talus_fail_at(talus_locate(TALUS_DOMAIN_HERE, NULL, 0, key), __VA_ARGS__)

TalusStatus talus_fail_in(TalusDomain domain, TalusStatus status, const char *format, ...)
    TALUS_PRINTF(3, 4);
TalusStatus talus_fail_at(TalusLocation at, TalusStatus status, const char *format, ...)
    TALUS_PRINTF(3, 4);
/* As talus_fail, after an inner call has failed: the new error replaces that of the inner call and keeps its key. */
#define talus_fail_around(...) talus_fail_around_in(TALUS_DOMAIN_HERE, __VA_ARGS__)
TalusStatus talus_fail_around_in(TalusDomain domain, TalusStatus status, const char *format, ...)
    TALUS_PRINTF(3, 4);

/* talus_error_at and talus_error_key change the error of a call that returned `status`, unless that is TALUS_OK, and
 * return `status`. */

/* Adds the caller's location to the thread's error: puts it in front of the text and sets file, line, column, domain
 * and code. If `at` has no file or the same file, what it lacks of file, line and column stays that of the inner error.
 * A file that the text already names is not repeated, nor a word that ends the key ("backend" before "backend cuda: ").
 * If both have a key, it becomes "OUTER.INNER" in the same domain, otherwise "OUTER"; an inner key alone stays. */
TalusStatus talus_error_at(TalusLocation at, TalusStatus status);
#define talus_error_in_file(file, status) \
    talus_error_at(talus_locate(TALUS_DOMAIN_HERE, file, 0, NULL), status)
/* Sets the key of the thread's error and leaves its text, which names the key already. */
TalusStatus talus_error_key(const char *key, TalusStatus status);

/* Adds `more` to the end of the text of the error of a call that returned `status`, unless that is TALUS_OK. Returns
 * `status`. */
TalusStatus talus_error_add(const char *more, TalusStatus status);

/* Returns the text of the thread's error without file and key. */
const char *talus_error_reason(void);
/* Restores an earlier record as the thread's error, after a clean-up that may have failed too. */
void talus_error_restore(const TalusError *error);

/* A log function and its user pointer. */
typedef struct TalusLog {
    TalusLogFn *fn;
    void *user;
} TalusLog;

/* Write a log line, cut at 1023 bytes, by the log function of the calling thread, if there is one; talus_log_to by the
 * function of `log`, if that is not NULL. `id` is a fixed word for the kind of message, such as "output.gap". */
void talus_log(TalusLogLevel level, const char *id, const char *format, ...) TALUS_PRINTF(3, 4);
void talus_log_to(const TalusLog *log, TalusLogLevel level, const char *id, const char *format, ...)
    TALUS_PRINTF(4, 5);

/* Makes a call; if it fails, the enclosing function returns its status. */
#define TALUS_TRY(call)                         \
    do {                                        \
        TalusStatus talus_try_status_ = (call); \
        if (talus_try_status_ != TALUS_OK)      \
            return talus_try_status_;           \
    } while (0)

/* Makes a call, unless `status` already is a failure, and stores its status: for functions that clean up at the end. */
#define TALUS_THEN(status, call) ((status) = (status) == TALUS_OK ? (call) : (status))

/* Formats a function's arguments (format, ...) into an array of characters. */
#define TALUS_FORMAT(text, format)                              \
    do {                                                        \
        va_list talus_args_;                                    \
        va_start(talus_args_, format);                          \
        vsnprintf((text), sizeof(text), (format), talus_args_); \
        va_end(talus_args_);                                    \
    } while (0)

#endif
