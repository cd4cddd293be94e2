/* base/status.c - error messages and the log function of a thread, version. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_message[1024];

static _Thread_local TalusLog thread_log;

const char *talus_version(void)
{
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
    return TEXT(TALUS_VERSION_MAJOR) "." TEXT(TALUS_VERSION_MINOR) "." TEXT(TALUS_VERSION_PATCH);
}

const char *talus_status_name(TalusStatus status)
{
    static const char *const names[] = {"ok",      "argument",  "memory",
                                        "io",      "format",    "unsupported",
                                        "numeric", "tolerance", "cancelled"};
    return (unsigned)status < sizeof names / sizeof *names ? names[status] : "unknown";
}

const char *talus_error(void)
{
    return last_message;
}

TalusStatus talus_fail(TalusStatus status, const char *format, ...)
{
    char text[sizeof last_message]; /* an argument may be the old message itself */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(last_message, sizeof last_message, "%s", text);
    return status;
}

void talus_set_log(TalusLogFn *fn, void *user)
{
    thread_log = (TalusLog){fn, user};
}

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
