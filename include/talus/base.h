/* talus/base.h - status codes, error messages, logging, version.
 *
 * Every call that can fail returns a TalusStatus. On failure the calling thread's message, read with
 * talus_error(), says what was wrong, where, and what would be right. The library never prints,
 * exits or aborts; what it wants to say on the way goes to the log function, if one is set. */
#ifndef TALUS_BASE_H
#define TALUS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TALUS_VERSION_MAJOR 0
#define TALUS_VERSION_MINOR 1
#define TALUS_VERSION_PATCH 0

typedef enum TalusStatus {
    TALUS_OK = 0,
    TALUS_ERR_ARGUMENT, /* a value the caller gave is out of range or contradictory */
    TALUS_ERR_MEMORY,   /* an allocation failed; the message names the size */
    TALUS_ERR_IO,       /* the operating system refused a read or a write */
    TALUS_ERR_FORMAT,   /* a file's content is wrong; the message has file:line:column or offset */
    TALUS_ERR_UNSUPPORTED, /* this build, backend or solver cannot do that; the message says who can */
    TALUS_ERR_NUMERIC,     /* a NaN or infinity appeared in the state */
    TALUS_ERR_TOLERANCE, /* a step missed its tolerance and the policy is to stop */
    TALUS_ERR_CANCELLED  /* a callback asked to stop */
} TalusStatus;

/* The version of the library that is linked, such as "0.1.0". */
const char *talus_version(void);

/* A short stable name, such as "argument". */
const char *talus_status_name(TalusStatus status);

/* The message of the last failed call on this thread; "" if none failed yet. */
const char *talus_error(void);

typedef enum TalusLogLevel { TALUS_LOG_INFO, TALUS_LOG_WARNING } TalusLogLevel;

/* `id` is stable across versions ("solver.missed-tolerance"); `text` is for people. */
typedef void TalusLogFn(void *user, TalusLogLevel level, const char *id, const char *text);

/* Sets the log function of the calling thread; NULL silences the library there (the default). A world may
 * have one of its own (talus_world_set_log). */
void talus_set_log(TalusLogFn *fn, void *user);

/* Number of heap allocations the library has made so far, for tests of allocation-free steps. */
uint64_t talus_allocation_count(void);

#ifdef __cplusplus
}
#endif

#endif
