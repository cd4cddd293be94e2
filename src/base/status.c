/* base/status.c - thread-local error messages, the log function, version. */
#include "base/status.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static _Thread_local char last_message[1024];

static _Atomic(TalusLogFn *) log_fn;
static _Atomic(void *) log_user;

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
    atomic_store(&log_user, user);
    atomic_store(&log_fn, fn);
}

void talus_log(TalusLogLevel level, const char *id, const char *format, ...)
{
    TalusLogFn *fn = atomic_load(&log_fn);
    if (!fn)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fn(atomic_load(&log_user), level, id, text);
}
