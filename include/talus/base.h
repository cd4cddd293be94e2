/* talus/base.h - status codes, errors as data and as text, logging, version.
 *
 * Every call that can fail returns a TalusStatus. On failure the calling thread's error says what was wrong, where,
 * and what would be right: talus_error() has the text, talus_error_record() the data. The library never prints,
 * exits or aborts; warnings and information go to the log function, if one is set. */
#ifndef TALUS_BASE_H
#define TALUS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports; scripts/check-headers.sh wants it before every function of these headers. */
#ifdef __GNUC__
#define TALUS_API __attribute__((visibility("default")))
#else
#define TALUS_API
#endif

#define TALUS_VERSION_MAJOR 0
#define TALUS_VERSION_MINOR 1
#define TALUS_VERSION_PATCH 0
/* The version as one number that grows: 10203 is 1.2.3. */
#define TALUS_VERSION_NUMBER \
    (10000 * TALUS_VERSION_MAJOR + 100 * TALUS_VERSION_MINOR + TALUS_VERSION_PATCH)

/* Version of the binary interface, and number in the name libtalus.so.N. It grows with every release in which a function
 * went, or a function or a struct changed so that programs must be compiled again. */
#define TALUS_ABI_VERSION 0

typedef enum TalusStatus {
    TALUS_OK = 0,
    TALUS_ERR_ARGUMENT, /* a value the caller gave is out of range or contradictory */
    TALUS_ERR_MEMORY,   /* memory or a thread could not be had; the message says for what */
    TALUS_ERR_IO,       /* the operating system refused a read or a write */
    TALUS_ERR_FORMAT,   /* a file's content is wrong; the message has file:line:column or offset */
    /* this build, backend or solver cannot do it, or a size limit is exceeded; the message says why */
    TALUS_ERR_UNSUPPORTED,
    TALUS_ERR_NUMERIC,   /* a NaN or infinity appeared, a solve diverged, or a pivot vanished */
    TALUS_ERR_TOLERANCE, /* a step missed its tolerance and the policy is to stop */
    TALUS_ERR_CANCELLED  /* a callback asked to stop */
} TalusStatus;

/* Returns the version of the linked library, such as "0.1.0". */
TALUS_API const char *talus_version(void);
/* Returns TALUS_ABI_VERSION of the linked library. A program that loads the library by hand compares it with the one of
 * the headers that it was compiled with. */
TALUS_API int talus_abi_version(void);

/* Returns a short stable name of the status, such as "argument". */
TALUS_API const char *talus_status_name(TalusStatus status);

/* Part of the library, or input, in which an error lies. The domain tells a wrong argument of a scene from one of the
 * caller. */
typedef enum TalusDomain {
    TALUS_DOMAIN_PROGRAM, /* the program around the library */
    TALUS_DOMAIN_BASE,    /* memory, threads, parameters */
    TALUS_DOMAIN_SHAPE,
    TALUS_DOMAIN_PROBLEM, /* contact problems and the sets of their impulses */
    TALUS_DOMAIN_BACKEND,
    TALUS_DOMAIN_DEVICE, /* the GPU behind a backend */
    TALUS_DOMAIN_SOLVER,
    TALUS_DOMAIN_WORLD,
    TALUS_DOMAIN_IO,       /* files and directories other than scenes */
    TALUS_DOMAIN_SCENE,    /* the text of a scene */
    TALUS_DOMAIN_OVERRIDE, /* an override beside the scene, such as --set name=value */
    TALUS_DOMAIN_DRAW
} TalusDomain;

/* Returns a short stable name of the domain, such as "scene". */
TALUS_API const char *talus_domain_name(TalusDomain domain);

/* An error. Its text is "FILE:LINE:COLUMN: KEY: REASON", without the unknown parts. */
typedef struct TalusError {
    TalusStatus code; /* what the failed call returned */
    TalusDomain domain;
    int line, column; /* in the file, from 1; 0: not known */
    int reason;       /* index in `text` at which the reason begins, after file and key */
    char file[1024];  /* "": none; for an override its whole text, "--set name=value" */
    /* Path of a key ("bodies[1].radius"), or name of a solver, backend or parameter; "": none. */
    char key[256];
    char text[1024];
} TalusError;

/* Returns the error of the last failed call on this thread, valid until the next failure. Its code is TALUS_OK if no
 * call has failed. */
TALUS_API const TalusError *talus_error_record(void);

/* Returns the text of that error, for people; "" if no call has failed. Programs decide by the record. */
TALUS_API const char *talus_error(void);

typedef enum TalusLogLevel { TALUS_LOG_INFO, TALUS_LOG_WARNING } TalusLogLevel;

/* `id` is stable across versions ("step.missed"); `text` is for people. */
typedef void TalusLogFn(void *user, TalusLogLevel level, const char *id, const char *text);

/* Sets the log function of the calling thread; NULL, the default, silences the library there. A world may have a log
 * function of its own (talus_world_set_log). */
TALUS_API void talus_set_log(TalusLogFn *fn, void *user);

/* Returns the number of heap allocations that the library has made so far, for tests of allocation-free steps. */
TALUS_API uint64_t talus_allocation_count(void);

#ifdef __cplusplus
}
#endif

#endif
