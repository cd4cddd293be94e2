/* fuzz/http_request.c - any request through the server's own judgement: what is let through has a path
 * that there is, comes under this server's name and, to control, with its token; ranges stay inside the
 * file.
 *
 * The input is lines: method, path, query, then headers until an empty one, then the body. */
#include "cli/serve/serve_request.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PORT = 8080, MOST_HEADERS = 64 };
#define TOKEN "0123456789abcdef0123456789abcdef"

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* Cuts the next line off; "" after the last. */
static char *next_line(char **rest)
{
    char *line = *rest;
    size_t length = strcspn(line, "\n");
    *rest = line + length + (line[length] == '\n');
    line[length] = '\0';
    return line;
}

static int count_headers(const ServeRequest *request, const char *name, const char *value)
{
    int count = 0;
    for (int i = 0; i < request->header_count; i++)
        count += strcasecmp(request->headers[i].name, name) == 0 &&
                 (!value || strcasecmp(request->headers[i].value, value) == 0);
    return count;
}

/* Behind this server's own address, if there is one. */
static const char *path_of(const char *target)
{
    static const char *const own[] = {"http://127.0.0.1:8080", "http://localhost:8080",
                                      "http://[::1]:8080"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strncasecmp(target, own[i], strlen(own[i])) == 0)
            return target[strlen(own[i])] ? target + strlen(own[i]) : "/";
    return target;
}

static void check_let_through(const ServeRequest *request, const ServeVerdict *verdict)
{
    static const char *const paths[] = {"/",          "/api/status",        "/api/index",
                                        "/api/steps", "/data/frames.talus", "/api/control"};
    bool post = strcmp(request->method, "POST") == 0;
    check(strcmp(path_of(request->path), paths[verdict->route]) == 0);
    check(post == (verdict->route == SERVE_CONTROL));
    check(count_headers(request, "Host", NULL) == 1);
    check(count_headers(request, "Host", "127.0.0.1:8080") +
              count_headers(request, "Host", "localhost:8080") +
              count_headers(request, "Host", "[::1]:8080") ==
          1);
    check(!post || count_headers(request, "X-Talus-Token", TOKEN) == 1);
    check(verdict->body >= 0 && verdict->body <= SERVE_BODY_BYTES);
    check(verdict->from >= 0 && verdict->stride > 0);
    check(count_headers(request, "Transfer-Encoding", NULL) == 0);
}

static void check_range(const char *text)
{
    static const uint64_t sizes[] = {0, 1, 100, 6936, INT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint64_t first, count;
        int status = serve_parse_range(text, sizes[i], &first, &count);
        check(status == 206 || status == 416);
        check(status == 416 || (count > 0 && first < sizes[i] && count <= sizes[i] - first));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text;
    ServeHeader headers[MOST_HEADERS];
    ServeRequest request = {.headers = headers};
    memcpy(text, data, size);
    text[size] = '\0';
    request.method = next_line(&rest);
    request.path = next_line(&rest);
    request.query = next_line(&rest);
    while (request.header_count < MOST_HEADERS && *rest && *rest != '\n') {
        char *line = next_line(&rest), *value = line + strcspn(line, ":");
        if (*value)
            *value++ = '\0';
        headers[request.header_count++] = (ServeHeader){line, value + strspn(value, " ")};
    }
    ServeVerdict verdict = serve_judge_request(&request, PORT, TOKEN);
    check((verdict.status == 200) == (verdict.message == NULL));
    if (verdict.status == 200)
        check_let_through(&request, &verdict);
    if (verdict.range)
        check_range(verdict.range);
    check_range(rest);
    const char *action = serve_parse_action(rest, strlen(rest));
    check(!action || strstr(rest, "action"));
    free(text);
    return 0;
}
