/* base/status.h - recording errors and log lines.
 *
 * An error is data (TalusError): code, domain, file, line, column, key, and a text that is put together from
 * these and a reason. Whoever knows more of where an error lies adds to the record; nobody but status.c takes
 * a text apart. */
#ifndef TALUS_BASE_STATUS_H
#define TALUS_BASE_STATUS_H

#include <talus/base.h>

#if defined(__GNUC__)
#define TALUS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TALUS_PRINTF(text, first)
#endif

/* The domain of errors that this source reports: that of its folder (CMakeLists.txt). */
#ifndef TALUS_DOMAIN_HERE
#define TALUS_DOMAIN_HERE TALUS_DOMAIN_PROGRAM
#endif

/* Where an error lies, as far as is known: NULL and 0 are not. */
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

/* "FILE:LINE:COLUMN: KEY: ", as texts begin, without what is not known; returns its length. */
size_t talus_location_text(TalusLocation at, char *text, size_t size);

/* Records the calling thread's error and returns `status`, so that a failure reads
 *     return talus_fail(TALUS_ERR_ARGUMENT, "step: %g is not positive", h);            */
#define talus_fail(...) talus_fail_in(TALUS_DOMAIN_HERE, __VA_ARGS__)
/* The same in a file or at a line of it, and for a key or name; the text begins with these:
 *     return talus_fail_file(path, TALUS_ERR_IO, "cannot open: %s", strerror(errno));
 * In the domains of solvers and backends a key is a name, which comes with the word: "solver gs: ". */
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

/* What follows adds to the error of a call that has failed with `status`, returns it, and does nothing for
 * TALUS_OK. */

/* Where the error lies, seen from outside: domain and code become these, the text begins with the location. A
 * file that the error has already is not named again, nor what the key says already ("backend" before "backend
 * cuda: "); a key of the same domain stays as the end of the path. */
TalusStatus talus_error_at(TalusLocation at, TalusStatus status);
#define talus_error_in_file(file, status) \
    talus_error_at(talus_locate(TALUS_DOMAIN_HERE, file, 0, NULL), status)
/* The key that the text names in words of its own. */
TalusStatus talus_error_key(const char *key, TalusStatus status);

/* The reason of the thread's error: its text without file and key. */
const char *talus_error_reason(void);
/* Makes a copy of an earlier record the thread's error again, after a clean-up that may have failed too. */
void talus_error_restore(const TalusError *error);

/* A log function with what it is called with. */
typedef struct TalusLog {
    TalusLogFn *fn;
    void *user;
} TalusLog;

/* To the log function of the calling thread; or to `log`, where that has one. */
void talus_log(TalusLogLevel level, const char *id, const char *format, ...) TALUS_PRINTF(3, 4);
void talus_log_to(const TalusLog *log, TalusLogLevel level, const char *id, const char *format, ...)
    TALUS_PRINTF(4, 5);

/* Leaves the function with the status of a failed call. */
#define TALUS_TRY(call)                         \
    do {                                        \
        TalusStatus talus_try_status_ = (call); \
        if (talus_try_status_ != TALUS_OK)      \
            return talus_try_status_;           \
    } while (0)

/* Makes a call, unless an earlier one has failed: for functions that clean up at their one end. */
#define TALUS_THEN(status, call) ((status) = (status) == TALUS_OK ? (call) : (status))

/* The text of a function's arguments (format, ...), into an array of characters. */
#define TALUS_FORMAT(text, format)                              \
    do {                                                        \
        va_list talus_args_;                                    \
        va_start(talus_args_, format);                          \
        vsnprintf((text), sizeof(text), (format), talus_args_); \
        va_end(talus_args_);                                    \
    } while (0)

#endif
