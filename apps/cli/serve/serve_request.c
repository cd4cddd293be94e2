/* cli/serve/serve_request.c - judges requests before any action. */
#include "serve_request.h"

#include "cli/run/dir.h"

#include "io/text/json.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HTTP_PORT = 80 };

/* Path and method of each route. */
static const struct {
    const char *path;
    bool post; /* the method is POST; else GET or HEAD */
} routes[SERVE_ROUTES] = {
    [SERVE_PAGE] = {"/", false},
    [SERVE_STATUS] = {"/api/status", false},
    [SERVE_INDEX] = {"/api/index", false},
    [SERVE_STEPS] = {"/api/steps", false},
    [SERVE_FRAMES] = {"/data/frames.talus", false},
    [SERVE_RANKS] = {"/data/ranks.csv", false},
    [SERVE_FIELDS] = {"/data/fields.csv", false},
    [SERVE_FRAMES_HEAD] = {"/data/head", false},
    [SERVE_CONTROL] = {"/api/control", true},
};

static ServeVerdict refuse(int status, const char *message)
{
    return (ServeVerdict){.status = status, .message = message};
}

/* ---- headers ---- */

/* Returns the number of headers with this name; *value is that of the last. */
static int find_header(const ServeRequest *request, const char *name, const char **value)
{
    int count = 0;
    for (int i = 0; i < request->header_count; i++)
        if (strcasecmp(request->headers[i].name, name) == 0) {
            *value = request->headers[i].value;
            count++;
        }
    return count;
}

/* True if the request has too many headers, or request line and headers too many bytes. */
static bool is_too_large(const ServeRequest *request)
{
    size_t bytes = strlen(request->method) + strlen(request->path) +
                   (request->query ? strlen(request->query) : 0) + strlen("  ? HTTP/1.1\r\n\r\n");
    for (int i = 0; i < request->header_count; i++)
        bytes += strlen(request->headers[i].name) + strlen(request->headers[i].value) + 4;
    return request->header_count > SERVE_HEADERS_MAX || bytes > SERVE_HEADERS_BYTES;
}

/* True if `text` is `prefix` followed by one of this server's names and its port, which may be missing if it is 80. A
 * page of another host whose name resolves to 127.0.0.1 (DNS rebinding) sends that host's name and gets false. */
static bool is_own_name(const char *text, const char *prefix, int port)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]"};
    char own[64];
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        snprintf(own, sizeof own, "%s%s:%d", prefix, hosts[i], port);
        if (strcasecmp(text, own) == 0)
            return true;
        snprintf(own, sizeof own, "%s%s", prefix, hosts[i]);
        if (port == HTTP_PORT && strcasecmp(text, own) == 0)
            return true;
    }
    return false;
}

/* True if the header Host, and Origin if there is one, name this server. */
static bool is_for_own_host(const ServeRequest *request, int port)
{
    const char *host = "", *origin = "";
    int origins = find_header(request, "Origin", &origin);
    return find_header(request, "Host", &host) == 1 && is_own_name(host, "", port) &&
           (origins == 0 || (origins == 1 && is_own_name(origin, "http://", port)));
}

/* True if the request has the token; compares in constant time, so that response times reveal nothing about it. */
static bool token_matches(const ServeRequest *request, const char *token)
{
    const char *given = "";
    if (find_header(request, "X-Talus-Token", &given) != 1 || strlen(given) != SERVE_TOKEN_LENGTH)
        return false;
    volatile unsigned char difference = 0;
    for (int i = 0; i < SERVE_TOKEN_LENGTH; i++)
        difference |= (unsigned char)(given[i] ^ token[i]);
    return difference == 0;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses the text up to `end`; returns false unless it is 1 to SERVE_QUERY_DIGITS digits. */
static bool parse_whole_number(const char *text, const char *end, int64_t *value)
{
    if (text == end || end - text > SERVE_QUERY_DIGITS)
        return false;
    *value = 0;
    for (; text < end; text++) {
        if (!is_digit(*text))
            return false;
        *value = 10 * *value + (*text - '0');
    }
    return true;
}

/* Parses "from=N&stride=N", both optional, in any order: `from` for index, steps and head, `stride` (above 0) for steps
 * alone. Ignores the query of SERVE_PAGE. */
static bool read_query(const char *query, ServeVerdict *verdict)
{
    if (!query || verdict->route == SERVE_PAGE)
        return true;
    while (*query) {
        const char *end = query + strcspn(query, "&");
        const char *value = query + strcspn(query, "=");
        size_t length = (size_t)(value - query);
        if (value >= end)
            return false;
        bool from = length == 4 && memcmp(query, "from", 4) == 0 &&
                    (verdict->route == SERVE_INDEX || verdict->route == SERVE_STEPS ||
                     verdict->route == SERVE_FRAMES_HEAD);
        bool stride =
            length == 6 && memcmp(query, "stride", 6) == 0 && verdict->route == SERVE_STEPS;
        if (!from && !stride)
            return false;
        if (!parse_whole_number(value + 1, end, from ? &verdict->from : &verdict->stride))
            return false;
        query = *end ? end + 1 : end;
    }
    return verdict->stride > 0;
}

/* ---- targets ---- */

#define HTTP "http://"

bool serve_is_address(const char *target)
{
    return strncasecmp(target, HTTP, strlen(HTTP)) == 0;
}

/* Returns the path of a target, which may begin with this server's address; NULL: with that of another server. */
static const char *find_target_path(const char *target, int port)
{
    char name[64];
    if (!serve_is_address(target))
        return target;
    target += strlen(HTTP);
    size_t length = strcspn(target, "/");
    if (length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, target);
    if (!is_own_name(name, "", port))
        return NULL;
    return target[length] ? target + length : "/";
}

/* ---- the verdict ---- */

/* Returns `verdict` with the length of the body, or a refusal if the length is not given properly or too large. */
static ServeVerdict judge_body_length(const ServeRequest *request, ServeVerdict verdict)
{
    const char *length = "", *coding;
    int64_t bytes = 0;
    int lengths = find_header(request, "Content-Length", &length);
    if (find_header(request, "Transfer-Encoding", &coding) > 0 || lengths > 1)
        return refuse(400, "a body needs one Content-Length and no Transfer-Encoding");
    size_t digits = strspn(length, "0123456789");
    if (digits > SERVE_QUERY_DIGITS && length[digits] == '\0')
        return refuse(413, "the body is too large; 256 bytes are allowed");
    if (lengths == 1 && !parse_whole_number(length, length + strlen(length), &bytes))
        return refuse(400, "Content-Length is no number");
    if (bytes > SERVE_BODY_BYTES)
        return refuse(413, "the body is too large; 256 bytes are allowed");
    verdict.body = (int)bytes;
    return verdict;
}

/* Returns `verdict`, or a refusal if the route lacks the body that it needs or has one that it does not take. */
static ServeVerdict judge_body_presence(const ServeRequest *request, ServeVerdict verdict)
{
    const char *length;
    if (verdict.route == SERVE_CONTROL && find_header(request, "Content-Length", &length) == 0)
        return refuse(411, "expected a Content-Length");
    if (verdict.body > 0 && verdict.route != SERVE_CONTROL)
        return refuse(400, "no body is expected here");
    return verdict;
}

static bool find_route(const char *path, ServeRoute *route)
{
    for (int i = 0; i < SERVE_ROUTES; i++)
        if (strcmp(routes[i].path, path) == 0) {
            *route = (ServeRoute)i;
            return true;
        }
    return false;
}

ServeVerdict serve_judge_request(const ServeRequest *request, int port, const char *token)
{
    ServeVerdict verdict = {.status = 200, .stride = 1, .range = NULL};
    bool post = strcmp(request->method, "POST") == 0;
    verdict.headers_only = strcmp(request->method, "HEAD") == 0;
    if (is_too_large(request))
        return refuse(431, "the headers are too large; 8 KiB are allowed");
    const char *path = find_target_path(request->path, port);
    if (!path || !is_for_own_host(request, port))
        return refuse(403, "only pages of this server may ask; open it as http://127.0.0.1:PORT/");
    if (path[0] != '/')
        return refuse(400, "expected a path, such as /api/status");
    verdict = judge_body_length(request, verdict);
    if (verdict.status != 200)
        return verdict;
    if (!find_route(path, &verdict.route))
        return refuse(404, "there is nothing here");
    if (post != routes[verdict.route].post ||
        (!post && !verdict.headers_only && strcmp(request->method, "GET") != 0)) {
        ServeVerdict no = refuse(405, "this method is not allowed here");
        no.allow = routes[verdict.route].post ? "POST" : "GET, HEAD";
        return no;
    }
    if (!read_query(request->query, &verdict))
        return refuse(400, "the query is wrong; expected from=N, for steps also stride=N");
    if (post && !token_matches(request, token))
        return refuse(403, "the page's token is missing or wrong; load the page again");
    if (find_header(request, "Range", &verdict.range) > 1)
        return refuse(400, "Range is given twice");
    return judge_body_presence(request, verdict);
}

/* ---- ranges ---- */

/* Parses the digits at *text and moves *text behind them; false if there are none or the number exceeds 64 bits. */
static bool parse_leading_number(const char **text, uint64_t *value)
{
    const char *start = *text;
    *value = 0;
    for (; is_digit(**text); ++*text) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (*value > (UINT64_MAX - digit) / 10)
            return false;
        *value = 10 * *value + digit;
    }
    return *text > start;
}

int serve_parse_range(const char *range, uint64_t size, uint64_t *first, uint64_t *count)
{
    *first = 0;
    *count = size;
    if (!range)
        return 200;
    *count = 0;
    if (strncasecmp(range, "bytes=", 6) != 0)
        return 416;
    const char *text = range + 6;
    uint64_t low, high;
    if (*text == '-') { /* suffix range: the last N bytes */
        text++;
        if (!parse_leading_number(&text, &low) || *text || low == 0 || size == 0)
            return 416;
        *count = low < size ? low : size;
        *first = size - *count;
        return 206;
    }
    if (!parse_leading_number(&text, &low) || *text++ != '-' || low >= size)
        return 416;
    high = size - 1;
    if (*text && (!parse_leading_number(&text, &high) || *text || high < low))
        return 416;
    *first = low;
    *count = (high < size ? high : size - 1) - low + 1;
    return 206;
}

/* ---- the body of /api/control ---- */

const char *serve_parse_action(const char *body, size_t size)
{
    static const char *const words[] = {RUN_PAUSE, RUN_CONTINUE, RUN_STOP};
    const char *action = NULL;
    TalusArena arena = {0};
    TalusJson *root;
    if (talus_json_parse(&arena, body, size, "control", false, &root) == TALUS_OK &&
        root->kind == TALUS_JSON_OBJECT && root->count == 1) {
        const TalusJson *value = talus_json_get(root, "action");
        for (size_t i = 0; value && i < sizeof words / sizeof *words; i++)
            if (value->kind == TALUS_JSON_STRING && strcmp(value->text, words[i]) == 0)
                action = words[i];
    }
    talus_arena_clear(&arena);
    return action;
}
