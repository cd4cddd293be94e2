/* cli/serve/serve_request.h - what a request asks for, and whether it may: pure functions over its text.
 *
 * Nothing is decoded and nothing is guessed: a path is one of the few below, byte for byte, or there is
 * no such thing. docs/reference/server.md says what is refused and why. */
#ifndef TALUS_CLI_SERVE_REQUEST_H
#define TALUS_CLI_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SERVE_HEADERS_MAX = 63,  /* civetweb hands out 64 at most and drops the rest in silence */
    SERVE_HEAD_BYTES = 8192, /* of the request line and all headers */
    SERVE_BODY_BYTES = 256,  /* of the body */
    SERVE_TOKEN_LENGTH = 32, /* hexadecimal digits */
    SERVE_QUERY_DIGITS = 15  /* of a number in a query; the most that a double holds exactly */
};

typedef struct ServeHeader {
    const char *name, *value;
} ServeHeader;

/* As it came: nothing decoded, the path without '?' and what follows. It may stand behind this server's own address:
 * "http://127.0.0.1:8080/api/status". */
typedef struct ServeRequest {
    const char *method, *path;
    const char *query; /* NULL: none */
    const ServeHeader *headers;
    int header_count;
} ServeRequest;

typedef enum ServeRoute {
    SERVE_PAGE,    /* GET / */
    SERVE_STATUS,  /* GET /api/status */
    SERVE_INDEX,   /* GET /api/index?from=N */
    SERVE_STEPS,   /* GET /api/steps?from=N&stride=N */
    SERVE_FRAMES,  /* GET /data/frames.talus */
    SERVE_HEAD,    /* GET /data/head?from=N */
    SERVE_CONTROL, /* POST /api/control */
    SERVE_ROUTES
} ServeRoute;

typedef struct ServeVerdict {
    int status;          /* 200: what follows holds; otherwise the code of the refusal */
    const char *message; /* of a refusal */
    const char *allow;   /* the methods that there are, with 405 */
    ServeRoute route;
    bool head;            /* the headers alone are wanted */
    int64_t from, stride; /* of the query, or 0 and 1 */
    const char *range;    /* the value of Range, or NULL */
    int body;             /* bytes of the body */
} ServeVerdict;

/* Whether the target of a request begins with "http://". */
bool serve_is_address(const char *target);

/* `port` is the server's own, `token` what may pause and stop a run. */
ServeVerdict serve_judge(const ServeRequest *request, int port, const char *token);

/* What is to be sent of `size` bytes for the value of a Range (NULL: none was given): 200 all, 206 `count`
 * bytes from `first`, 416 nothing: several ranges, one that is not well formed or beyond the end. */
int serve_range(const char *range, uint64_t size, uint64_t *first, uint64_t *count);

/* The word of {"action": WORD} for `control` of dir.h; NULL if the body is anything else. */
const char *serve_action(const char *body, size_t size);

#endif
