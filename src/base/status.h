/* base/status.h - recording of errors and log lines.
 *
 * An error is data (TalusError): code, domain, file, line, column, key, and a text composed of these and a reason.
 * Callers that know more of the location add it to the record; only status.c takes a text apart. */
#ifndef TALUS_BASE_STATUS_H
#define TALUS_BASE_STATUS_H

#include <talus/base.h>

#if defined(__GNUC__)
#define TALUS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TALUS_PRINTF(text, first)
#endif

/* Domain of the errors that this source reports: that of its folder (CMakeLists.txt). */
#ifndef TALUS_DOMAIN_HERE
#define TALUS_DOMAIN_HERE TALUS_DOMAIN_PROGRAM
#endif

/* Location of an error; NULL and 0: unknown. */
typedef struct TalusLocation {
    TalusDomain domain;
    const char *file;
    int line, column;
    const char *key;
} TalusLocation;

static inline TalusLocation talus_locate(TalusDomain domain, const char *file, long line,
                                         const char *key)
{
    TalusLocation at = {domain, file, (int)line, 0, key};
    return at;
}

/* Writes "FILE:LINE:COLUMN: KEY: " without the unknown parts and returns its length. */
size_t talus_location_text(TalusLocation at, char *text, size_t size);

/* Records the calling thread's error and returns `status`, so that a failure reads
 *     return talus_fail(TALUS_ERR_ARGUMENT, "step: %g is not positive", h);            */
#define talus_fail(...) talus_fail_in(TALUS_DOMAIN_HERE, __VA_ARGS__)
/* The same for the most frequent failure, an invalid argument. */
#define talus_reject(...) talus_fail(TALUS_ERR_ARGUMENT, __VA_ARGS__)
/* The same with a file, a line of it, or a key, with which the text then begins:
 *     return talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
 * In the domains of solvers and backends a key is a name, preceded by a noun: "solver gs: ". */
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
/* As talus_fail, around the error of an inner call: its key stays. */
#define talus_fail_around(...) talus_fail_around_in(TALUS_DOMAIN_HERE, __VA_ARGS__)
TalusStatus talus_fail_around_in(TalusDomain domain, TalusStatus status, const char *format, ...)
    TALUS_PRINTF(3, 4);

/* The next two add to the error of a call that failed with `status` and return it; TALUS_OK passes unchanged. */

/* Adds the caller's location: sets domain and code, and the text begins with the location. A file already named is not
 * repeated, nor a word that the key has ("backend" before "backend cuda: "). A key of the same domain ends the path. */
TalusStatus talus_error_at(TalusLocation at, TalusStatus status);
#define talus_error_in_file(file, status) \
    talus_error_at(talus_locate(TALUS_DOMAIN_HERE, file, 0, NULL), status)
/* Sets the key, for a text that already names it. */
TalusStatus talus_error_key(const char *key, TalusStatus status);

/* Reason of the thread's error: its text without file and key. */
const char *talus_error_reason(void);
/* Restores an earlier record as the thread's error, after a clean-up that may have failed too. */
void talus_error_restore(const TalusError *error);

/* A log function and its user pointer. */
typedef struct TalusLog {
    TalusLogFn *fn;
    void *user;
} TalusLog;

/* Log to the function of the calling thread, or to `log` if it has one. */
void talus_log(TalusLogLevel level, const char *id, const char *format, ...) TALUS_PRINTF(3, 4);
void talus_log_to(const TalusLog *log, TalusLogLevel level, const char *id, const char *format, ...)
    TALUS_PRINTF(4, 5);

/* Returns the status of a failed call from the function. */
#define TALUS_TRY(call)                         \
    do {                                        \
        TalusStatus talus_try_status_ = (call); \
        if (talus_try_status_ != TALUS_OK)      \
            return talus_try_status_;           \
    } while (0)

/* Makes a call unless an earlier one has failed: for functions with one clean-up at their end. */
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
