/* checks.c - what talus view answers, and what it refuses for what it is. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_whole(const char *dir, const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(1 << 24);
    *size = file ? fread(bytes, 1, 1 << 24, file) : 0;
    if (file)
        fclose(file);
    if (*size == 0)
        client_fail("%s: cannot be read", path);
    return bytes;
}

/* ---- routes ---- */

static void check_headers(const char *target)
{
    static const char *const headers[][2] = {
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"X-Frame-Options", "DENY"},
        {"Connection", "close"},
    };
    Reply get = client_ask("GET", target, "", NULL), head = client_ask("HEAD", target, "", NULL);
    if (get.status != 200 || head.status != 200)
        client_fail("%s: GET %d, HEAD %d", target, get.status, head.status);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        const char *value = client_header(&get, headers[i][0]);
        if (!value || strcmp(value, headers[i][1]) != 0)
            client_fail("%s: %s is '%s'", target, headers[i][0], value ? value : "missing");
    }
    const char *length = client_header(&get, "Content-Length");
    if (!length || strtoull(length, NULL, 10) != get.body_size)
        client_fail("%s: Content-Length of %zu bytes is %s", target, get.body_size,
                    length ? length : "missing");
    length = client_header(&head, "Content-Length");
    if (!length || strtoull(length, NULL, 10) != get.body_size || head.body_size != 0)
        client_fail("%s: HEAD has %zu bytes of body", target, head.body_size);
    if (client_header(&get, "Access-Control-Allow-Origin"))
        client_fail("%s: other origins are allowed", target);
    client_free(&get);
    client_free(&head);
}

/* The keys of an answer. */
static void check_keys(const char *target, const char *const *keys)
{
    Reply reply = client_ask("GET", target, "", NULL);
    const char *type = client_header(&reply, "Content-Type");
    if (!type || strcmp(type, "application/json") != 0)
        client_fail("%s: type %s", target, type ? type : "missing");
    for (; *keys; keys++) {
        char key[64];
        snprintf(key, sizeof key, "\"%s\": ", *keys);
        if (!client_has(&reply, key))
            client_fail("%s: no %s in %.300s", target, *keys, reply.body);
    }
    client_free(&reply);
}

/* Every place of the index holds a chunk of its kind, and `from` skips. */
static void check_index(void)
{
    Reply index = client_ask("GET", "/api/index?from=0", "", NULL);
    double offset, size, time;
    int step, count = (int)client_number(&index, "count"), rows = 0;
    const char *at = strstr(index.body, "\"frames\": [");
    for (at = at ? at + 11 : "";
         sscanf(at, " [%lf, %lf, %lf, %d", &offset, &size, &time, &step) == 4; rows++) {
        char range[128];
        snprintf(range, sizeof range, "Range: bytes=%.0f-%.0f\r\n", offset, offset + size - 1);
        Reply chunk = client_ask("GET", "/data/frames.talus", range, NULL);
        if (chunk.status != 206 || (double)chunk.body_size != size ||
            memcmp(chunk.body, "TCHKFRAM", 8) != 0)
            client_fail("frame at %.0f: status %d, %zu bytes", offset, chunk.status,
                        chunk.body_size);
        client_free(&chunk);
        at += strcspn(at, "]");
        at += strspn(at, "], \n");
    }
    if (rows != count || count < 2)
        client_fail("the index has %d rows, and counts %d", rows, count);
    client_free(&index);
    char target[64];
    snprintf(target, sizeof target, "/api/index?from=%d", count);
    index = client_ask("GET", target, "", NULL);
    if (!client_has(&index, "\"frames\": []"))
        client_fail("%s: %.200s", target, index.body);
    client_free(&index);
}

/* The first head is given as it stands in the file. */
static void check_head(const char *dir)
{
    size_t size;
    char *file = read_whole(dir, "frames.talus", &size);
    Reply head = client_ask("GET", "/data/head?from=0", "", NULL);
    const size_t at = 16; /* behind the file's own */
    if (head.status != 200 || head.body_size > size - at || memcmp(head.body, "TCHKHEAD", 8) != 0 ||
        memcmp(head.body, file + at, head.body_size) != 0)
        client_fail("head: status %d, %zu bytes", head.status, head.body_size);
    client_free(&head);
    free(file);
    head = client_ask("GET", "/data/head?from=99", "", NULL);
    if (head.status != 404)
        client_fail("a head that is not there: status %d", head.status);
    client_free(&head);
}

static void check_steps(const char *dir)
{
    size_t size;
    char *csv = read_whole(dir, "steps.csv", &size);
    int rows = -1;
    for (size_t i = 0; i < size; i++)
        rows += csv[i] == '\n';
    free(csv);
    Reply steps = client_ask("GET", "/api/steps", "", NULL);
    if (client_number(&steps, "total") != rows || client_number(&steps, "rows") != rows)
        client_fail("steps: %d rows in the file: %.200s", rows, steps.body);
    if (client_has(&steps, "\"kinetic\": []") || client_has(&steps, "\"kinetic\": [null"))
        client_fail("steps: no kinetic energy: %.300s", steps.body);
    client_free(&steps);
    steps = client_ask("GET", "/api/steps?from=1&stride=2", "", NULL);
    if (client_number(&steps, "first") != 1 || client_number(&steps, "stride") != 2 ||
        client_number(&steps, "rows") != rows / 2)
        client_fail("steps from 1 by 2 of %d: %.200s", rows, steps.body);
    client_free(&steps);
}

void check_routes(const char *dir)
{
    static const char *const status[] = {
        "state", "step",   "time",    "until",    "title",   "scene",    "bytes",
        "ranks", "frames", "control", "complete", "message", "identity", "steps_per_second",
        NULL};
    static const char *const index[] = {"frames", "heads", "count", "identity", NULL};
    static const char *const steps[] = {
        "rows",       "first",       "stride",       "total",       "time",        "kinetic",
        "contacts",   "bodies",      "residual",     "potential",   "tolerance",   "missed",
        "iterations", "penetration", "overlap_mean", "overlap_p99", "overlap_max", NULL};
    static const char *const targets[] = {"/",          "/api/status",        "/api/index",
                                          "/api/steps", "/data/frames.talus", "/?anything",
                                          "/data/head"};
    char token[64];
    size_t size;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        check_headers(targets[i]);
    check_keys("/api/status", status);
    check_keys("/api/index", index);
    check_keys("/api/steps", steps);
    check_index();
    check_head(dir);
    check_steps(dir);
    if (!client_token(token))
        client_fail("the page has no token");
    char *frames = read_whole(dir, "frames.talus", &size);
    Reply all = client_ask("GET", "/data/frames.talus", "", NULL);
    if (all.body_size != size || memcmp(all.body, frames, size) != 0)
        client_fail("the frames that came are not those of the file");
    client_free(&all);
    free(frames);
}

/* ---- ranges ---- */

void check_ranges(const char *dir)
{
    size_t size;
    char *file = read_whole(dir, "frames.talus", &size), range[256], end[64];
    snprintf(end, sizeof end, "%zu-", size - 1);
    char beyond[64], past[64];
    snprintf(beyond, sizeof beyond, "%zu-", size);
    snprintf(past, sizeof past, "5-%zu", size + 100);
    const struct {
        const char *spec;
        int status;
        size_t first, count;
    } rows[] = {
        {"0-0", 206, 0, 1},
        {"0-15", 206, 0, 16},
        {"7-20", 206, 7, 14},
        {end, 206, size - 1, 1},
        {past, 206, 5, size - 5},
        {"10-", 206, 10, size - 10},
        {"-8", 206, size - 8, 8},
        {"-99999999999", 206, 0, size},
        {beyond, 416, 0, 0},
        {"99999999999-", 416, 0, 0},
        {"20-7", 416, 0, 0},
        {"0-1,4-5", 416, 0, 0},
        {"-0", 416, 0, 0},
        {"-", 416, 0, 0},
        {"", 416, 0, 0},
        {"a-b", 416, 0, 0},
        {"1-2x", 416, 0, 0},
        {"+1-2", 416, 0, 0},
        {"0x0-0x5", 416, 0, 0},
        {"18446744073709551616-18446744073709551617", 416, 0, 0},
        {"0-99999999999999999999999", 416, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(range, sizeof range, "Range: bytes=%s\r\n", rows[i].spec);
        Reply reply = client_ask("GET", "/data/frames.talus", range, NULL);
        if (reply.status != rows[i].status)
            client_fail("%.60s: answered %d", range, reply.status);
        if (rows[i].status == 206 && (reply.body_size != rows[i].count ||
                                      memcmp(reply.body, file + rows[i].first, rows[i].count) != 0))
            client_fail("%.60s: other bytes came", range);
        if (rows[i].status == 206)
            snprintf(range, sizeof range, "bytes %zu-%zu/%zu", rows[i].first,
                     rows[i].first + rows[i].count - 1, size);
        else
            snprintf(range, sizeof range, "bytes */%zu", size);
        const char *given = client_header(&reply, "Content-Range");
        if (!given || strcmp(given, range) != 0)
            client_fail("%s: Content-Range is %s", rows[i].spec, given ? given : "missing");
        client_free(&reply);
    }
    EXPECT("lines=0-1", client_ask("GET", "/data/frames.talus", "Range: lines=0-1\r\n", NULL), 416);
    EXPECT(
        "two ranges",
        client_ask("GET", "/data/frames.talus", "Range: bytes=0-1\r\nRange: bytes=2-3\r\n", NULL),
        400);
    free(file);
}

/* ---- what is refused ---- */

/* "http://HOST/PATH" is that path, where HOST is the server. */
static void check_addresses(void)
{
    static const struct {
        const char *format;
        int status;
    } targets[] = {
        {"http://127.0.0.1:%d/api/status", 200},
        {"HTTP://LocalHost:%d/api/index?from=3", 200},
        {"http://127.0.0.1:%d/api/index?from=x", 400},
        {"http://127.0.0.1:%d", 200},
        {"http://127.0.0.1:%d/", 200},
        {"http://127.0.0.1:%d/canary.txt", 404},
        {"http://127.0.0.1:%d/../canary.txt", 404},
        {"http://127.0.0.1:%d//api/status", 404},
        {"http://127.0.0.1:1%d/api/status", 403},
        {"http://evil.example:%d/api/status", 403},
        {"http://127.0.0.1:%d@evil.example/api/status", 403},
        {"https://127.0.0.1:%d/api/status", 400},
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char target[128];
        snprintf(target, sizeof target, targets[i].format, client_port);
        EXPECT(target, client_ask("GET", target, "", NULL), targets[i].status);
    }
    EXPECT("another port", client_ask("GET", "http://127.0.0.1/canary.txt", "", NULL), 403);
}

static void check_paths(void)
{
    static const char *const paths[] = {
        "/../canary.txt",
        "/%2e%2e/canary.txt",
        "/..%2fcanary.txt",
        "/%2e%2e%2fcanary.txt",
        "/%252e%252e/canary.txt",
        "/data/../../canary.txt",
        "/data/%2e%2e/%2e%2e/canary.txt",
        "/data/frames.talus/../../canary.txt",
        "//etc/passwd",
        "/etc/passwd",
        "/data//etc/passwd",
        "/data/..\\..\\canary.txt",
        "/..\\canary.txt",
        "/data/frames.talus%00.txt",
        "/data/frames.talus%00",
        "/api/status%00",
        "/data/frames.talus;x",
        "/data/frames.talus/",
        "/data/frames.talus.",
        "/data/./frames.talus",
        "//data/frames.talus",
        "/data/frames.talus#x",
        "/DATA/frames.talus",
        "/data/FRAMES.TALUS",
        "/data/",
        "/data",
        "/api/",
        "/api",
        "/inside.txt",
        "/data/inside.txt",
        "/run.json",
        "/data/run.json",
        "/steps.csv",
        "/data/steps.csv",
        "/frames.talus",
        "/control",
        "/index.html",
        "/favicon.ico",
        "/.htpasswd",
        "/.htaccess",
        "/%61pi/status",
        "/api/status/",
        "/api/statusx",
        "/data/%66rames.talus",
        "/~root",
        "/%",
        "/%zz",

        "/api/index%3Ffrom=0",
        "/data/link.txt",
        "/link.txt",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        EXPECT(paths[i], client_ask("GET", paths[i], "", NULL), 404, 400);
    EXPECT("no slash", client_ask("GET", "canary.txt", "", NULL), 400);
    EXPECT("file", client_ask("GET", "file:///etc/passwd", "", NULL), 404, 400);
    EXPECT("star", client_ask("GET", "*", "", NULL), 404, 400);
    EXPECT("all options", client_ask("OPTIONS", "*", "", NULL), 404, 400);
    check_addresses();
    EXPECT("other bytes", client_ask("GET", "/\x80\xff", "", NULL), 404, 400);
    static const char nul[] = "GET /api/status\0x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    EXPECT("NUL", client_say(nul, sizeof nul - 1), 400, 403, 404, 1);
    char *longest = malloc(7001);
    memset(longest, 'a', 7000);
    memcpy(longest, "/", 1);
    longest[7000] = '\0';
    EXPECT("long path", client_ask("GET", longest, "", NULL), 404);
    free(longest);
}

static void check_queries(void)
{
    static const char *const wrong[] = {
        "/api/index?from=-1",
        "/api/index?from=",
        "/api/index?from",
        "/api/index?from=1x",
        "/api/index?from=9999999999999999",
        "/api/index?to=1",
        "/api/index?stride=2",
        "/api/index?from=%31",
        "/api/steps?stride=0",
        "/api/steps?from=0;stride=2",
        "/api/status?x=1",
        "/data/frames.talus?from=1",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT(wrong[i], client_ask("GET", wrong[i], "", NULL), 400);
    EXPECT("far", client_ask("GET", "/api/index?from=999999999999999", "", NULL), 200);
    EXPECT("far",
           client_ask("GET", "/api/steps?from=999999999999999&stride=999999999999999", "", NULL),
           200);
}

static void check_methods(void)
{
    static const char *const odd[] = {"PUT",   "DELETE", "OPTIONS",  "CONNECT", "PATCH",
                                      "MKCOL", "TRACE",  "PROPFIND", "MOVE",    "COPY",
                                      "LOCK",  "FOO",    "get",      "PRI",     "REPORT"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        EXPECT(odd[i], client_ask(odd[i], "/data/frames.talus", "", NULL), 405, 400);
        EXPECT(odd[i], client_ask(odd[i], "/new.txt", "", "x"), 404, 400, 405);
    }
    EXPECT("POST /", client_ask("POST", "/", "", "{}"), 405);
    EXPECT("GET control", client_ask("GET", "/api/control", "", NULL), 405);
    EXPECT("HEAD control", client_ask("HEAD", "/api/control", "", NULL), 405);
    Reply put = client_ask("PUT", "/api/status", "", "x");
    const char *allow = client_header(&put, "Allow");
    if (put.status != 405 || !allow || strcmp(allow, "GET, HEAD") != 0)
        client_fail("PUT: %d, Allow: %s", put.status, allow ? allow : "missing");
    client_free(&put);
}

/* One GET of /api/status with these lines alone. */
static Reply with_lines(const char *format)
{
    char lines[512], text[640];
    /* %1$d in the lines is the port. */
    snprintf(lines, sizeof lines, format, client_port);
    int n = snprintf(text, sizeof text, "GET /api/status HTTP/1.1\r\n%s\r\n", lines);
    return client_say(text, (size_t)n);
}

static void check_names(void)
{
    EXPECT("no Host", with_lines("X-Port: %d\r\n"), 403);
    EXPECT("another Host", with_lines("Host: evil.example:%d\r\n"), 403);
    EXPECT("Host without port", with_lines("Host: 127.0.0.1\r\nX-Port: %d\r\n"), 403);
    EXPECT("Host with another port", with_lines("Host: 127.0.0.1:1\r\nX-Port: %d\r\n"), 403);
    EXPECT("Host with a tail", with_lines("Host: 127.0.0.1:%d.evil.example\r\n"), 403);
    EXPECT("Host with a head", with_lines("Host: evil127.0.0.1:%d\r\n"), 403);
    EXPECT("two Hosts", with_lines("Host: 127.0.0.1:%1$d\r\nHost: 127.0.0.1:%1$d\r\n"), 403, 400);
    EXPECT("127.0.0.2", with_lines("Host: 127.0.0.2:%d\r\n"), 403);
    EXPECT("localhost", with_lines("Host: localhost:%d\r\n"), 200);
    EXPECT("[::1]", with_lines("Host: [::1]:%d\r\n"), 200);
    EXPECT("own Origin", with_lines("Host: 127.0.0.1:%1$d\r\nOrigin: http://127.0.0.1:%1$d\r\n"),
           200);
    EXPECT("other Origin", with_lines("Host: 127.0.0.1:%1$d\r\nOrigin: http://evil.example\r\n"),
           403);
    EXPECT("null Origin", with_lines("Host: 127.0.0.1:%1$d\r\nOrigin: null\r\n"), 403);
    EXPECT("https Origin", with_lines("Host: 127.0.0.1:%1$d\r\nOrigin: https://127.0.0.1:%1$d\r\n"),
           403);
    EXPECT("two Origins",
           with_lines("Host: 127.0.0.1:%1$d\r\nOrigin: http://127.0.0.1:%1$d\r\n"
                      "Origin: http://evil.example\r\n"),
           403);
    EXPECT(
        "websocket",
        with_lines("Host: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"),
        200);
}

static void check_tokens(void)
{
    static const char action[] = "{\"action\": \"pause\"}";
    char token[64], header[200];
    client_token(token);
    EXPECT("no token", client_ask("POST", "/api/control", "", action), 403);
    EXPECT("empty token", client_ask("POST", "/api/control", "X-Talus-Token:\r\n", action), 403);
    snprintf(header, sizeof header, "X-Talus-Token: %.31s\r\n", token);
    EXPECT("short token", client_ask("POST", "/api/control", header, action), 403);
    snprintf(header, sizeof header, "X-Talus-Token: %s0\r\n", token);
    EXPECT("long token", client_ask("POST", "/api/control", header, action), 403);
    snprintf(header, sizeof header, "X-Talus-Token: %s\r\nX-Talus-Token: %s\r\n", token, token);
    EXPECT("two tokens", client_ask("POST", "/api/control", header, action), 403);
    snprintf(header, sizeof header, "X-Talus-Token: %.31s%c\r\n", token,
             token[31] == '0' ? '1' : '0');
    EXPECT("wrong token", client_ask("POST", "/api/control", header, action), 403);
    snprintf(header, sizeof header, "X-Talus-Token: %s\r\nOrigin: http://evil.example\r\n", token);
    EXPECT("token from elsewhere", client_ask("POST", "/api/control", header, action), 403);
    snprintf(header, sizeof header, "X-Talus-Token: %s\r\n", token);
    EXPECT("no run", client_ask("POST", "/api/control", header, action), 409);
    static const char *const wrong[] = {"",
                                        "{}",
                                        "pause",
                                        "{\"action\": \"exec\"}",
                                        "{\"action\": 1}",
                                        "[\"pause\"]",
                                        "{\"action\": \"pause\"",
                                        "{\"action\": \"pause\", \"x\": 1}",
                                        "{\"action\": \"pause\"}}",
                                        "{\"action\": null}",
                                        "\x80\x81"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT(wrong[i], client_ask("POST", "/api/control", header, wrong[i]), 400);
}

void check_refusals(void)
{
    check_paths();
    check_queries();
    check_methods();
    check_names();
    check_tokens();
}
