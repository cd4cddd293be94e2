/* client.c - sockets, answers, and the program: view_client PORT WORD [ARGUMENTS]
 *
 *   routes DIR     every path, against the files of DIR
 *   ranges DIR     parts of the frames file
 *   refusals       paths, methods, names and tokens that are not to be answered
 *   bodies         headers and bodies that are too large, too short, too long, wrong
 *   slow           many clients that take their time, and one that does not
 *   crowd          up to a thousand of them, who come again when they are cut
 *   greedy         many clients that do not read what they asked for, and one that does
 *   loopback       no other address of this machine answers
 *   status         prints the answer to /api/status
 *   get TARGET     prints the body
 *   control WORD   tells the run what to do, prints the answer
 *   fuzz SECONDS SEED   requests with something wrong in them
 *   hold           keeps connections of several kinds open until it is killed, a minute at most
 *
 * Prints a line for every check that fails; the exit status is 1 if there was one. */
#include "client.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int client_port;
int client_failures;

void client_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("FAILED: ", stdout);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    client_failures++;
}

double client_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- sockets ---- */

int client_dial(const char *address, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, address, &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

bool client_send(int fd, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t n = send(fd, from, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        from += n;
        size -= (size_t)n;
    }
    return true;
}

static void find_parts(Reply *reply)
{
    reply->text[reply->size] = '\0';
    if (strncmp(reply->text, "HTTP/1.1 ", 9) == 0)
        reply->status = atoi(reply->text + 9);
    const char *end = strstr(reply->text, "\r\n\r\n");
    reply->body = end ? end + 4 : reply->text + reply->size;
    reply->body_size = (size_t)(reply->text + reply->size - reply->body);
}

Reply client_read(int fd)
{
    Reply reply = {0};
    size_t room = 1 << 16;
    double start = client_now();
    reply.text = malloc(room + 1);
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, 1000 * CLIENT_SECONDS) <= 0) {
            client_fail("no end of the answer within %d s", CLIENT_SECONDS);
            break;
        }
        ssize_t n = recv(fd, reply.text + reply.size, room - reply.size, 0);
        if (n <= 0)
            break;
        reply.size += (size_t)n;
        if (reply.size == room)
            reply.text = realloc(reply.text, (room *= 2) + 1);
    }
    close(fd);
    find_parts(&reply);
    reply.seconds = client_now() - start;
    return reply;
}

Reply client_say(const void *bytes, size_t size)
{
    int fd = client_dial("127.0.0.1", client_port);
    if (fd < 0) {
        printf("FAILED: cannot connect to port %d: %s\n", client_port, strerror(errno));
        exit(1);
    }
    client_send(fd, bytes, size); /* it may be refused before its end: the answer tells */
    return client_read(fd);
}

Reply client_ask(const char *method, const char *target, const char *more, const char *body)
{
    size_t room = strlen(target) + strlen(more) + (body ? strlen(body) : 0) + 256;
    char *text = malloc(room);
    int n = snprintf(text, room, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s", method, target,
                     client_port, more);
    if (body)
        n += snprintf(text + n, room - (size_t)n, "Content-Length: %zu\r\n", strlen(body));
    n += snprintf(text + n, room - (size_t)n, "\r\n%s", body ? body : "");
    Reply reply = client_say(text, (size_t)n);
    free(text);
    return reply;
}

void client_free(Reply *reply)
{
    free(reply->text);
    *reply = (Reply){0};
}

/* ---- answers ---- */

const char *client_header(const Reply *reply, const char *name)
{
    static char value[256];
    size_t length = strlen(name);
    for (const char *line = strstr(reply->text, "\r\n"); line && line + 4 < reply->body;
         line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':') {
            const char *from = line + 3 + length + strspn(line + 3 + length, " ");
            snprintf(value, sizeof value, "%.*s", (int)strcspn(from, "\r\n"), from);
            return value;
        }
    return NULL;
}

bool client_has(const Reply *reply, const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + length <= reply->body_size; i++)
        if (memcmp(reply->body + i, text, length) == 0)
            return true;
    return false;
}

double client_number(const Reply *reply, const char *key)
{
    char word[64];
    snprintf(word, sizeof word, "\"%s\": ", key);
    const char *at = strstr(reply->body, word);
    return at ? atof(at + strlen(word)) : -1.0;
}

bool client_token(char token[64])
{
    Reply page = client_ask("GET", "/", "", NULL);
    const char *at = strstr(page.body, "\"token\": \"");
    token[0] = '\0';
    if (at)
        snprintf(token, 64, "%.*s", (int)strcspn(at + 10, "\""), at + 10);
    client_free(&page);
    return strlen(token) == 32;
}

void client_expect(const char *what, Reply reply, const int *statuses)
{
    bool right = false;
    for (const int *s = statuses; *s; s++)
        right = right || reply.status == (*s == 1 ? 0 : *s);
    if (!right)
        client_fail("%s: answered %d, expected %d: %.200s", what, reply.status, statuses[0],
                    reply.text);
    if (client_has(&reply, "CANARY"))
        client_fail("%s: bytes of a file that is not to be read: %.300s", what, reply.text);
    if (reply.status && !client_header(&reply, "X-Content-Type-Options"))
        client_fail("%s: no X-Content-Type-Options: %.200s", what, reply.text);
    client_free(&reply);
}

/* ---- the program ---- */

static void print_body(Reply reply)
{
    fwrite(reply.body, 1, reply.body_size, stdout);
    if (reply.status != 200)
        client_fail("status %d", reply.status);
    client_free(&reply);
}

static void control(const char *word)
{
    char token[64], header[128], body[64];
    if (!client_token(token))
        client_fail("no token in the page");
    snprintf(header, sizeof header, "X-Talus-Token: %s\r\n", token);
    snprintf(body, sizeof body, "{\"action\": \"%s\"}", word);
    print_body(client_ask("POST", "/api/control", header, body));
}

/* Idle ones, half a request, and one that does not take its answer. */
static void hold(void)
{
    static const char half[] = "GET / HTTP/1.1\r\nHost: x";
    char all[128];
    int size =
        snprintf(all, sizeof all, "GET /data/frames.talus HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n",
                 client_port);
    for (int i = 0; i < 4; i++) {
        client_dial("127.0.0.1", client_port);
        client_send(client_dial("127.0.0.1", client_port), half, sizeof half - 1);
        client_send(client_dial("127.0.0.1", client_port), all, (size_t)size);
    }
    puts("holding");
    fflush(stdout);
    poll(NULL, 0, 1000 * CLIENT_SECONDS);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    client_port = atoi(argv[1]);
    const char *word = argv[2], *argument = argc > 3 ? argv[3] : "";
    if (strcmp(word, "routes") == 0)
        check_routes(argument);
    else if (strcmp(word, "ranges") == 0)
        check_ranges(argument);
    else if (strcmp(word, "refusals") == 0)
        check_refusals();
    else if (strcmp(word, "bodies") == 0)
        check_bodies();
    else if (strcmp(word, "slow") == 0)
        check_slow();
    else if (strcmp(word, "crowd") == 0)
        check_crowd();
    else if (strcmp(word, "greedy") == 0)
        check_greedy();
    else if (strcmp(word, "loopback") == 0)
        check_loopback();
    else if (strcmp(word, "status") == 0)
        print_body(client_ask("GET", "/api/status", "", NULL));
    else if (strcmp(word, "get") == 0)
        print_body(client_ask("GET", argument, "", NULL));
    else if (strcmp(word, "control") == 0)
        control(argument);
    else if (strcmp(word, "fuzz") == 0)
        fuzz_server(atof(argument), argc > 4 ? (unsigned)atoi(argv[4]) : 1);
    else if (strcmp(word, "hold") == 0)
        hold();
    else
        return 2;
    return client_failures > 0;
}
