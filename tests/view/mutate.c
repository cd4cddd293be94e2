/* mutate.c - requests with something wrong in them, at the real server, for as long as one likes. */
#include "client.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 1 << 16, LEFT_OPEN = 16, GOOD_EVERY = 500 };

typedef struct Request {
    char bytes[ROOM];
    size_t size;
} Request;

/* ---- random numbers: xorshift ---- */

static uint64_t state;

static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (size_t)(state % n) : 0;
}

/* ---- requests ---- */

static const char *const seeds[] = {
    "GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
    "GET /api/status HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: http://localhost\r\n\r\n",
    "GET /api/index?from=0 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: */*\r\n\r\n",
    "GET /api/steps?from=1&stride=2 HTTP/1.1\r\nHost: [::1]:%d\r\n\r\n",
    "GET /data/frames.talus HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nRange: bytes=0-99\r\n\r\n",
    "HEAD /data/frames.talus HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
    ("POST /api/control HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Talus-Token: %s\r\nContent-Length: 19\r\n\r\n"
     "{\"action\": \"pause\"}"),
};

static const char *const words[] = {
    "..",
    "/",
    "../",
    "%2e%2e/",
    "%2f",
    "%00",
    "%",
    "\\",
    ";",
    "?",
    "#",
    "&",
    "=",
    ":",
    " ",
    "\r\n",
    "\n",
    "\r",
    "\t",
    "-",
    ",",
    "\"",
    "{",
    "}",
    "[",
    "canary.txt",
    "inside.txt",
    "link.txt",
    "/etc/passwd",
    "http://127.0.0.1/",
    "GET ",
    "POST ",
    "PUT ",
    "OPTIONS ",
    "HTTP/1.0",
    "HTTP/0.9",
    "HTTP/9.9",
    "Content-Length: 0\r\n",
    "Content-Length: 99999999999\r\n",
    "Content-Length: -1\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: keep-alive\r\n",
    "Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "Host: evil\r\n",
    "Range: bytes=-5\r\n",
    "Range: bytes=5-\r\n",
    "Range: bytes=0-0,2-2\r\n",
    "Authorization: Basic AAAA\r\n",
    "Accept-Encoding: gzip\r\n",
    "If-Modified-Since: x\r\n",
    "18446744073709551616",
    "-1",
    "0x10",
    "1e9",
    "\xff\xfe",
    "\xc3\xa9",
};

static void insert(Request *r, size_t at, const char *bytes, size_t size)
{
    if (size > ROOM - r->size)
        return;
    memmove(r->bytes + at + size, r->bytes + at, r->size - at);
    memcpy(r->bytes + at, bytes, size);
    r->size += size;
}

static void insert_run(Request *r, size_t at)
{
    static char run[20000];
    memset(run, (int)(below(4) ? 'A' + below(26) : below(256)), sizeof run);
    insert(r, at, run, 1 + below(below(4) ? 300 : sizeof run));
}

static void mutate(Request *r)
{
    size_t at = below(r->size + 1), length = 1 + below(below(4) ? 8 : 200);
    length = length < r->size - at ? length : r->size - at;
    char copy[256];
    switch (below(7)) {
    case 0:
        if (at < r->size)
            r->bytes[at] = (char)(r->bytes[at] ^ (1 << below(8)));
        break;
    case 1:
        if (at < r->size)
            r->bytes[at] = (char)below(256);
        break;
    case 2:
        memmove(r->bytes + at, r->bytes + at + length, r->size - at - length);
        r->size -= length;
        break;
    case 3:
        memcpy(copy, r->bytes + at, length);
        insert(r, below(r->size + 1), copy, length);
        break;
    case 4:
    case 5: {
        const char *word = words[below(sizeof words / sizeof *words)];
        insert(r, at, word, strlen(word));
        break;
    }
    default: insert_run(r, at);
    }
}

static void make(Request *r, const char *token)
{
    const char *seed = seeds[below(sizeof seeds / sizeof *seeds)];
    r->size = (size_t)snprintf(r->bytes, ROOM, seed, client_port, token);
    if (below(16) == 0) { /* two at once */
        char again[1024];
        memcpy(again, r->bytes, r->size);
        insert(r, r->size, again, r->size);
    }
    for (size_t n = 1 + below(6); n > 0; n--)
        mutate(r);
    if (below(12) == 0)
        r->size = below(r->size + 1);
}

/* ---- sending ---- */

/* What came, whatever its end. */
static void check_answer(const char *bytes, size_t size, const Request *r)
{
    static const int known[] = {200, 206, 400, 403, 404, 405, 408, 409,
                                411, 413, 414, 416, 417, 431, 501, 505};
    bool right = size < 12;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        right = right || atoi(bytes + 9) == known[i];
    if (!right || (size >= 9 && strncmp(bytes, "HTTP/1.", 7) != 0))
        client_fail("an odd answer: %.80s to %.200s", bytes, r->bytes);
    for (size_t i = 0; i + 6 <= size; i++)
        if (memcmp(bytes + i, "CANARY", 6) == 0)
            client_fail("bytes of another file came for %.*s", (int)r->size, r->bytes);
}

static void read_answer(int fd, const Request *r)
{
    static char bytes[1 << 20];
    size_t size = 0;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (size < sizeof bytes - 1 && poll(&wait, 1, 200) > 0) {
        ssize_t n = recv(fd, bytes + size, sizeof bytes - 1 - size, 0);
        if (n <= 0)
            break;
        size += (size_t)n;
    }
    bytes[size] = '\0';
    check_answer(bytes, size, r);
}

/* Whole or in two parts; then most say that nothing more comes, some just go, some stay open. */
static void throw_one(const Request *r, int *open_ones)
{
    int fd = client_dial("127.0.0.1", client_port);
    size_t first = below(4) ? r->size : below(r->size + 1);
    if (fd < 0 || !client_send(fd, r->bytes, first) ||
        !client_send(fd, r->bytes + first, r->size - first)) {
        if (fd >= 0)
            close(fd);
        return;
    }
    size_t how = below(32);
    if (how == 0) {
        int *slot = &open_ones[below(LEFT_OPEN)];
        if (*slot > 0)
            close(*slot);
        *slot = fd;
        return;
    }
    if (how > 2) {
        shutdown(fd, SHUT_WR);
        read_answer(fd, r);
    }
    close(fd);
}

void fuzz_server(double seconds, unsigned seed)
{
    static Request request;
    int open_ones[LEFT_OPEN] = {0};
    char token[64];
    double end = client_now() + seconds;
    long thrown = 0, good = 0;
    client_token(token);
    state = 0x9e3779b97f4a7c15u ^ ((uint64_t)seed << 20);
    while (client_now() < end && client_failures == 0) {
        make(&request, token);
        throw_one(&request, open_ones);
        if (++thrown % GOOD_EVERY)
            continue;
        Reply reply = client_ask("GET", "/api/status", "", NULL);
        if (reply.status != 200)
            client_fail("after %ld requests a good one is answered %d", thrown, reply.status);
        good++;
        client_free(&reply);
    }
    printf("%ld requests were thrown, %ld good ones answered between them\n", thrown, good);
}
