/* limits.c - what talus view refuses for its size, its pace or where it comes from. */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- sizes ---- */

static char *filled(size_t size)
{
    char *text = malloc(size + 1);
    memset(text, 'a', size);
    text[size] = '\0';
    return text;
}

static void check_heads(void)
{
    char *value = filled(100000), line[9100];
    snprintf(line, sizeof line, "X-Long: %.9000s\r\n", value);
    EXPECT("9 kB header", client_ask("GET", "/api/status", line, NULL), 431, 413, 400);
    snprintf(line, sizeof line, "X-Long: %.7000s\r\n", value);
    EXPECT("7 kB header", client_ask("GET", "/api/status", line, NULL), 200);
    EXPECT("100 kB path", client_ask("GET", value, "", NULL), 431, 414, 400, 1);
    char *lines = malloc(8000);
    size_t used = 0;
    for (int i = 0; i < 100; i++)
        used += (size_t)sprintf(lines + used, "X-%d: a\r\n", i);
    EXPECT("100 headers", client_ask("GET", "/api/status", lines, NULL), 431, 400);
    /* civetweb drops headers after the 64th: this Origin must not go unseen */
    sprintf(lines + used, "Origin: http://evil.example\r\n");
    EXPECT("a late Origin", client_ask("GET", "/api/status", lines, NULL), 431, 403, 400);
    free(lines);
    free(value);
}

/* A POST with the right token and these lines. */
static Reply post(const char *lines, const char *body, size_t size)
{
    char token[64];
    client_token(token);
    char *text = malloc(size + 1024);
    int n =
        snprintf(text, 1024,
                 "POST /api/control HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Talus-Token: %s\r\n%s\r\n",
                 client_port, token, lines);
    memcpy(text + n, body, size);
    Reply reply = client_say(text, (size_t)n + size);
    free(text);
    return reply;
}

/* The whole answer, its end too, without waiting for a body. */
static void expect_soon(const char *what, Reply reply, int status)
{
    if (reply.seconds > 2.0)
        client_fail("Content-Length %s: the answer took %.1f s", what, reply.seconds);
    EXPECT(what, reply, status);
}

void check_bodies(void)
{
    static const char action[] = "{\"action\": \"pause\"}";
    static const char chunks[] = "13\r\n{\"action\": \"pause\"}\r\n0\r\n\r\n";
    size_t size = strlen(action);
    char *large = filled(1000000), line[64];
    snprintf(line, sizeof line, "Content-Length: %zu\r\n", size);
    check_heads();
    EXPECT("good", post(line, action, size), 409);
    EXPECT("1 MB", post("Content-Length: 1000000\r\n", large, 1000000), 413);
    EXPECT("257 B", post("Content-Length: 257\r\n", large, 257), 413);
    EXPECT("256 B", post("Content-Length: 256\r\n", large, 256), 400);
    EXPECT("an endless body", post("Content-Length: 99999999999999999999\r\n", large, 1000000),
           413);
    static const char *const huge[] = {"257", "2147483648", "9223372036854775807",
                                       "9223372036854775808", "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) { /* and nothing of it comes */
        snprintf(line, sizeof line, "Content-Length: %s\r\n", huge[i]);
        expect_soon(huge[i], post(line, "", 0), 413);
        expect_soon(huge[i], client_ask("POST", "/api/control", line, NULL), 413);
        expect_soon(huge[i], client_ask("GET", "/api/status", line, NULL), 413);
    }
    static const char *const none[] = {"-1", "abc", "1e3", "+5", "-99999999999999999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        snprintf(line, sizeof line, "Content-Length: %s\r\n", none[i]);
        expect_soon(none[i], post(line, "", 0), 400);
    }
    snprintf(line, sizeof line, "Content-Length: %zu\r\n", size);
    EXPECT("longer than said", post("Content-Length: 10\r\n", action, size), 400);
    EXPECT("no length", post("", action, size), 411, 400);
    EXPECT("length -1", post("Content-Length: -1\r\n", action, size), 400);
    EXPECT("length 18x", post("Content-Length: 18x\r\n", action, size), 400);
    EXPECT("two lengths", post("Content-Length: 19\r\nContent-Length: 19\r\n", action, size), 400);
    EXPECT("chunked", post("Transfer-Encoding: chunked\r\n", chunks, sizeof chunks - 1), 400, 411);
    EXPECT("chunked and long",
           post("Transfer-Encoding: chunked\r\nContent-Length: 19\r\n", action, size), 400, 411);
    EXPECT("a body with GET", client_ask("GET", "/api/status", "", "x"), 400);
    EXPECT("HTTP/1.0", client_say("GET / HTTP/1.0\r\n\r\n", 18), 403);
    EXPECT("HTTP/3.0", client_say("GET / HTTP/3.0\r\nHost: x\r\n\r\n", 27), 505, 400);
    EXPECT("garbage", client_say("\x16\x03\x01\x02\x00\x01\xff\r\n\r\n", 11), 400, 1);
    EXPECT("no colon", client_say("GET / HTTP/1.1\r\nHost\r\n\r\n", 24), 400, 403);
    free(large);
}

/* ---- time ---- */

enum { GREEDY = 70 };
enum { TRICKLES = 50, SLOW_BODIES = 2, IDLE = 2, ALL_SLOW = TRICKLES + SLOW_BODIES + IDLE };

/* Whether the server has closed it; takes what it sends meanwhile. */
static bool is_closed(int fd)
{
    char bytes[512];
    ssize_t n;
    while ((n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        ;
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

static void open_slow(int *fds)
{
    char head[256], token[64];
    client_token(token);
    for (int i = 0; i < ALL_SLOW; i++) {
        fds[i] = client_dial("127.0.0.1", client_port);
        int n = 0;
        if (i < TRICKLES)
            n = snprintf(head, sizeof head, "GET /api/status HTTP/1.1\r\nX: ");
        else if (i < TRICKLES + SLOW_BODIES)
            n = snprintf(head, sizeof head,
                         "POST /api/control HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Talus-Token: %s\r\n"
                         "Content-Length: 200\r\n\r\n{",
                         client_port, token);
        client_send(fds[i], head, (size_t)n);
    }
}

/* Each sends a byte every quarter of a second; all are to be cut after five seconds or a little more, and
 * meanwhile others are answered. */
void check_slow(void)
{
    int fds[ALL_SLOW], left = ALL_SLOW, asked = 0;
    double start = client_now(), slowest = 0.0;
    open_slow(fds);
    for (; left > 0 && client_now() - start < CLIENT_SECONDS; poll(NULL, 0, 250)) {
        for (int i = 0; i < ALL_SLOW; i++) {
            if (fds[i] < 0)
                continue;
            if (is_closed(fds[i]) || (i < TRICKLES + SLOW_BODIES && !client_send(fds[i], "a", 1))) {
                double seconds = client_now() - start;
                if (seconds < 4.0)
                    client_fail("slow client %d was cut after %.1f s", i, seconds);
                slowest = seconds;
                close(fds[i]);
                fds[i] = -1;
                left--;
            }
        }
        Reply other = client_ask("GET", "/api/status", "", NULL);
        asked += left > 0 && client_now() - start < 4.0;
        if (other.status != 200)
            client_fail("beside slow clients: status %d", other.status);
        client_free(&other);
    }
    if (left > 0)
        client_fail("%d slow clients were not cut within %d s", left, CLIENT_SECONDS);
    if (asked == 0)
        client_fail("no other client was answered beside the slow ones");
    printf("slow clients were cut after %.1f s; %d others were answered beside them\n", slowest,
           asked);
}

/* ---- crowds ---- */

enum { CROWD_MOST = 1000, CROWD_ASKS = 12 };
static const double crowd_seconds =
    2.5; /* longest wait beside them; 15 s where nobody sees to it */

/* Starts to connect without waiting for it. */
static int dial_softly(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)client_port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        (void)connect(fd, (struct sockaddr *)&to, sizeof to); /* it goes on by itself */
    return fd;
}

/* A byte more on each; one that was cut comes again. Returns how many were. */
static int trickle(int *fds, bool *begun, int count, const char *head)
{
    int cut = 0;
    for (int i = 0; i < count; i++) {
        const char *text = begun[i] ? "a" : head;
        ssize_t n = fds[i] < 0 ? -1 : send(fds[i], text, strlen(text), MSG_NOSIGNAL);
        if (n > 0)
            begun[i] = true;
        if (n > 0 || (fds[i] >= 0 && (errno == EAGAIN || errno == ENOTCONN)))
            continue;
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = dial_softly();
        begun[i] = false;
        cut++;
    }
    return cut;
}

/* So many clients send a byte now and then and come again when they are cut; others are answered beside them. */
static void ask_beside(int count, const char *what, const char *head)
{
    static int fds[CROWD_MOST];
    static bool begun[CROWD_MOST];
    double slowest = 0.0;
    int cut = 0;
    for (int i = 0; i < count; i++) {
        fds[i] = dial_softly();
        begun[i] = false;
    }
    for (int k = 0; k < CROWD_ASKS; k++) {
        cut += trickle(fds, begun, count, head);
        double start = client_now();
        Reply reply = client_ask("GET", "/api/status", "", NULL);
        double seconds = client_now() - start;
        slowest = seconds > slowest ? seconds : slowest;
        if (reply.status != 200)
            client_fail("beside %d clients with %s: status %d", count, what, reply.status);
        client_free(&reply);
        poll(NULL, 0, 100);
    }
    for (int i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (slowest > crowd_seconds)
        client_fail("beside %d clients with %s an answer took %.1f s", count, what, slowest);
    printf("beside %d clients with %s, of which %d were cut, answers took %.2f s at most\n", count,
           what, cut, slowest);
}

void check_crowd(void)
{
    char body[256];
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
    setrlimit(RLIMIT_NOFILE, &files);
    int most = files.rlim_cur >= CROWD_MOST + 100 ? CROWD_MOST : 200;
    snprintf(body, sizeof body,
             "POST /api/control HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 200\r\n\r\n{",
             client_port);
    ask_beside(200, "half a request", "GET /api/status HTTP/1.1\r\nX: ");
    ask_beside(200, "half a body", body);
    ask_beside(most, "half a request", "GET /api/status HTTP/1.1\r\nX: ");
}

/* ---- answers that are not taken ---- */

/* Asks for the whole file and reads none of it. */
static int open_greedy(void)
{
    char text[128];
    int fd = client_dial("127.0.0.1", client_port);
    int n = snprintf(text, sizeof text,
                     "GET /data/frames.talus HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", client_port);
    client_send(fd, text, (size_t)n);
    return fd;
}

/* More clients than there are threads ask for a large file and take none of it. They are given up, so that
 * one that asks after them gets its answer, and all of the file. */
void check_greedy(void)
{
    int fds[GREEDY];
    for (int i = 0; i < GREEDY; i++)
        fds[i] = open_greedy();
    Reply reply = client_ask("GET", "/data/frames.talus", "", NULL);
    const char *length = client_header(&reply, "Content-Length");
    if (reply.status != 200 || !length || strtoull(length, NULL, 10) != reply.body_size)
        client_fail("behind clients that do not read: status %d, %zu bytes of %s", reply.status,
                    reply.body_size, length ? length : "none");
    printf("behind %d clients that do not read, %zu bytes came after %.1f s\n", GREEDY,
           reply.body_size, reply.seconds);
    client_free(&reply);
    for (int i = 0; i < GREEDY; i++)
        close(fds[i]);
}

/* ---- addresses ---- */

/* The listening sockets with this port in /proc/net/tcp or tcp6 are on 127.0.0.1. */
static void check_table(const char *path)
{
    FILE *table = fopen(path, "r");
    char line[512], address[64];
    unsigned port, state;
    int found = 0;
    while (table && fgets(line, sizeof line, table))
        if (sscanf(line, " %*d: %63[0-9A-F]:%x %*[0-9A-F]:%*x %x", address, &port, &state) == 3 &&
            (int)port == client_port && state == 10) {
            found++;
            if (strcmp(address, "0100007F") != 0)
                client_fail("%s: listens on %s", path, address);
        }
    if (table && strstr(path, "tcp6") == NULL && found != 1)
        client_fail("%s: %d sockets listen on port %d", path, found, client_port);
    if (table)
        fclose(table);
}

void check_loopback(void)
{
    struct ifaddrs *all = NULL;
    int tried = 0;
    check_table("/proc/net/tcp");
    check_table("/proc/net/tcp6");
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (struct ifaddrs *a = all; a; a = a->ifa_next) {
        char address[64];
        if (!a->ifa_addr || a->ifa_addr->sa_family != AF_INET || (a->ifa_flags & IFF_LOOPBACK) ||
            !(a->ifa_flags & IFF_UP))
            continue;
        inet_ntop(AF_INET, &((struct sockaddr_in *)a->ifa_addr)->sin_addr, address, sizeof address);
        int fd = client_dial(address, client_port);
        tried++;
        if (fd >= 0)
            client_fail("%s answers on port %d", address, client_port);
    }
    freeifaddrs(all);
    if (tried == 0)
        puts("no address but loopback here: refusing others was not tried");
}
