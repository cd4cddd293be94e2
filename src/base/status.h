/* base/status.h - recording failures and log lines. */
#ifndef TALUS_BASE_STATUS_H
#define TALUS_BASE_STATUS_H

#include <talus/base.h>

#if defined(__GNUC__)
#define TALUS_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TALUS_PRINTF(text, first)
#endif

/* Records the calling thread's message and returns `status`, so that a failure reads
 *     return talus_fail(TALUS_ERR_ARGUMENT, "step: %g is not positive", h);            */
TalusStatus talus_fail(TalusStatus status, const char *format, ...) TALUS_PRINTF(2, 3);

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

#endif
