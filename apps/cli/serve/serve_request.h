/* cli/serve/serve_request.h - classifies requests and decides whether they are allowed: pure functions over text.
 *
 * Nothing is decoded or guessed: a path matches one of the routes below byte for byte or is not found.
 * docs/reference/server.md says what is refused and why. */
#ifndef TALUS_CLI_SERVE_REQUEST_H
#define TALUS_CLI_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SERVE_HEADERS_MAX = 63,     /* maximum number; civetweb passes 64 and silently drops the rest */
    SERVE_HEADERS_BYTES = 8192, /* maximum size of the request line and all headers */
    SERVE_BODY_BYTES = 256,     /* maximum size of the body */
    SERVE_TOKEN_LENGTH = 32,    /* hexadecimal digits */
    SERVE_QUERY_DIGITS = 15 /* maximum digits of a number in a query; a double holds 15 exactly */
};

typedef struct ServeHeader {
    const char *name, *value;
} ServeHeader;

/* A request as received, without decoding. `path` excludes '?' and the query; it may begin with this server's own
 * address, as in "http://127.0.0.1:8080/api/status". */
typedef struct ServeRequest {
    const char *method, *path;
    const char *query; /* NULL: none */
    const ServeHeader *headers;
    int header_count;
} ServeRequest;

typedef enum ServeRoute {
    SERVE_PAGE,        /* GET / */
    SERVE_STATUS,      /* GET /api/status */
    SERVE_INDEX,       /* GET /api/index?from=N */
    SERVE_STEPS,       /* GET /api/steps?from=N&stride=N */
    SERVE_FRAMES,      /* GET /data/frames.talus */
    SERVE_RANKS,       /* GET /data/ranks.csv */
    SERVE_FIELDS,      /* GET /data/fields.csv */
    SERVE_FRAMES_HEAD, /* GET /data/head?from=N */
    SERVE_CONTROL,     /* POST /api/control */
    SERVE_ROUTES
} ServeRoute;

/* Decision about a request. */
typedef struct ServeVerdict {
    int status; /* 200: allowed, `route` and all after it are valid; else code of a refusal */
    const char *message; /* of a refusal; NULL: allowed */
    const char *allow;   /* allowed methods, with status 405 */
    ServeRoute route;
    bool headers_only;    /* HEAD request: headers only */
    int64_t from, stride; /* from the query; default 0 and 1 */
    const char *range;    /* value of the Range header, or NULL */
    int body;             /* size of the body, bytes */
} ServeVerdict;

/* True if the target of a request begins with "http://". */
bool serve_is_address(const char *target);

/* Decides whether a request is allowed, and finds its route and parameters. `port` is the server's; a POST request must
 * have `token`. */
ServeVerdict serve_judge_request(const ServeRequest *request, int port, const char *token);

/* Evaluates the Range header `range` (NULL: none) for `size` bytes. Returns 200: send all; 206: send `count` bytes
 * from `first`; 416: send nothing, for several ranges, a malformed range or one beyond the end. */
int serve_parse_range(const char *range, uint64_t size, uint64_t *first, uint64_t *count);

/* Parses the body {"action": WORD} of /api/control. Returns the command word "pause", "run" or "stop"; NULL for any
 * other body. */
const char *serve_parse_action(const char *body, size_t size);

#endif
