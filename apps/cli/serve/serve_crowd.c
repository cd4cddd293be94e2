/* cli/serve/serve_crowd.c - see serve_crowd.h.
 *
 * civetweb does not expose its sockets, so they are found among the process's descriptors by the ports of both
 * ends. Connections that wait for a thread are among them: whether their request is complete is read from the
 * socket's buffer. For connections with a thread, the thread tells (crowd_answer). */
#include "serve_crowd.h"

#include "base/memory.h"
#include "base/timer.h"

#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    DESCRIPTORS = 1024, /* more than this program ever has open */
    NAP_MS = 25,        /* interval of checks of a crowd */
    PEEK_BYTES = 16384  /* more than the maximum size of a request */
};

static const double request_grace = 0.1; /* s, for a request or a body, in a crowd */
static const double answer_grace = 1.0;  /* s without reading any of an answer */

typedef enum GuestState { GUEST_FREE, GUEST_ASKING, GUEST_TAKING, GUEST_DRAINING } GuestState;

struct Guest {
    Crowd *crowd;
    GuestState state;
    int peer;     /* 0: unknown */
    double since; /* time of the last progress */
};

/* A connection as observed through its descriptor. */
typedef struct Seen {
    int peer;
    double first, whole; /* first seen; last seen with a complete request, 0: never */
} Seen;

struct Crowd {
    pthread_mutex_t mutex;
    pthread_cond_t change;
    pthread_t thread;
    bool stop;
    int port, count;
    Guest guest[CROWD_THREADS];
    Seen seen[DESCRIPTORS]; /* used by the watcher alone */
};

/* ---- sockets ---- */

/* Returns the remote port of a connection, or 0 of a listening socket; false if the local port differs. */
static bool find_ends(int fd, int port, int *peer)
{
    struct sockaddr_in own, other;
    socklen_t size = sizeof own;
    if (getsockname(fd, (struct sockaddr *)&own, &size) != 0 || own.sin_family != AF_INET ||
        ntohs(own.sin_port) != port)
        return false;
    size = sizeof other;
    *peer = getpeername(fd, (struct sockaddr *)&other, &size) == 0 ? ntohs(other.sin_port) : 0;
    return true;
}

void crowd_shut(int port, int peer, int how)
{
    for (int fd = 0, at; fd < DESCRIPTORS; fd++)
        if (find_ends(fd, port, &at) && (peer == 0 || at == peer))
            shutdown(fd, how);
}

void crowd_abort(int port, int peer)
{
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    for (int fd = 0, at; fd < DESCRIPTORS; fd++)
        if (find_ends(fd, port, &at) && at == peer) {
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
            shutdown(fd, SHUT_RDWR);
        }
}

/* Reads the socket's buffer without consuming it. Another thread owns the descriptor and may close it meanwhile,
 * which does no harm here. ThreadSanitizer would report that in recv() but does not see the call itself. */
static ssize_t peek(int fd, void *bytes, size_t size)
{
#ifdef SYS_recvfrom
    return syscall(SYS_recvfrom, fd, bytes, size, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
#else
    return recv(fd, bytes, size, MSG_PEEK | MSG_DONTWAIT);
#endif
}

/* True if the socket holds the end of a request's headers. */
static bool holds_request(int fd)
{
    static const char *const ends[] = {"\r\n\r\n", "\n\n", "\n\r\n"};
    char bytes[PEEK_BYTES + 1];
    ssize_t size = peek(fd, bytes, PEEK_BYTES);
    bytes[size > 0 ? size : 0] = '\0';
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strstr(bytes, ends[i]))
            return true;
    return false;
}

/* ---- the watcher ---- */

static const Guest *find_guest(const Guest *guests, int peer)
{
    for (int i = 0; i < CROWD_THREADS; i++)
        if (guests[i].state != GUEST_FREE && guests[i].peer == peer)
            return &guests[i];
    return NULL;
}

/* True if the connection should be aborted. A request last seen complete may be with a thread already. */
static bool keeps_waiting(Seen *seen, int fd, int peer, const Guest *guest, double now)
{
    if (seen->peer != peer)
        *seen = (Seen){.peer = peer, .first = now};
    if (guest && guest->state == GUEST_TAKING)
        return now - guest->since > answer_grace;
    if (guest && guest->state == GUEST_DRAINING)
        return now - guest->since > request_grace;
    if (holds_request(fd))
        seen->whole = now;
    return now - seen->first > request_grace && now - seen->whole > answer_grace;
}

static void relieve(Crowd *crowd, const Guest *guests, int port)
{
    double now = talus_now();
    for (int fd = 0, peer, again; fd < DESCRIPTORS; fd++) {
        if (!find_ends(fd, port, &peer) || peer == 0)
            crowd->seen[fd].peer = 0;
        else if (keeps_waiting(&crowd->seen[fd], fd, peer, find_guest(guests, peer), now) &&
                 find_ends(fd, port, &again) && again == peer)
            shutdown(fd, SHUT_RDWR);
    }
}

static void nap(Crowd *crowd)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += NAP_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&crowd->change, &crowd->mutex, &until);
}

static void *watch(void *user)
{
    Crowd *crowd = user;
    Guest guests[CROWD_THREADS];
    pthread_mutex_lock(&crowd->mutex);
    while (!crowd->stop) {
        if (crowd->count < CROWD_FULL || crowd->port == 0) {
            pthread_cond_wait(&crowd->change, &crowd->mutex);
            continue;
        }
        memcpy(guests, crowd->guest, sizeof guests);
        int port = crowd->port;
        pthread_mutex_unlock(&crowd->mutex);
        relieve(crowd, guests, port);
        pthread_mutex_lock(&crowd->mutex);
        if (!crowd->stop)
            nap(crowd);
    }
    pthread_mutex_unlock(&crowd->mutex);
    return NULL;
}

static void crowd_free(Crowd *crowd)
{
    pthread_cond_destroy(&crowd->change);
    pthread_mutex_destroy(&crowd->mutex);
    talus_release(crowd);
}

TalusStatus crowd_start(Crowd **out)
{
    Crowd *crowd;
    TALUS_TRY(TALUS_ALLOC(crowd, 1, "connections"));
    pthread_mutex_init(&crowd->mutex, NULL);
    pthread_cond_init(&crowd->change, NULL);
    if (pthread_create(&crowd->thread, NULL, watch, crowd) != 0) {
        crowd_free(crowd);
        return talus_fail(TALUS_ERR_MEMORY, "no thread for the server's connections");
    }
    *out = crowd;
    return TALUS_OK;
}

void crowd_port(Crowd *crowd, int port)
{
    pthread_mutex_lock(&crowd->mutex);
    crowd->port = port;
    pthread_cond_signal(&crowd->change);
    pthread_mutex_unlock(&crowd->mutex);
}

void crowd_stop(Crowd *crowd)
{
    pthread_mutex_lock(&crowd->mutex);
    crowd->stop = true;
    pthread_cond_signal(&crowd->change);
    pthread_mutex_unlock(&crowd->mutex);
    pthread_join(crowd->thread, NULL);
    crowd_free(crowd);
}

/* ---- guests ---- */

Guest *crowd_enter(Crowd *crowd)
{
    Guest *guest = NULL;
    pthread_mutex_lock(&crowd->mutex);
    for (int i = 0; i < CROWD_THREADS && !guest; i++)
        if (crowd->guest[i].state == GUEST_FREE)
            guest = &crowd->guest[i];
    if (guest) {
        *guest = (Guest){.crowd = crowd, .state = GUEST_ASKING, .since = talus_now()};
        if (++crowd->count == CROWD_FULL)
            pthread_cond_signal(&crowd->change);
    }
    pthread_mutex_unlock(&crowd->mutex);
    return guest;
}

static void move_to(Guest *guest, GuestState state, int peer)
{
    if (!guest)
        return;
    pthread_mutex_lock(&guest->crowd->mutex);
    guest->state = state;
    guest->peer = peer;
    guest->since = talus_now();
    pthread_mutex_unlock(&guest->crowd->mutex);
}

void crowd_answer(Guest *guest, int peer)
{
    move_to(guest, GUEST_TAKING, peer);
}

bool crowd_answered(const Guest *guest)
{
    return guest && guest->state != GUEST_ASKING; /* only its own thread writes this */
}

void crowd_moves(Guest *guest)
{
    if (guest)
        move_to(guest, guest->state, guest->peer);
}

void crowd_drains(Guest *guest)
{
    if (guest)
        move_to(guest, GUEST_DRAINING, guest->peer);
}

void crowd_leave(Guest *guest)
{
    if (!guest)
        return;
    Crowd *crowd = guest->crowd;
    pthread_mutex_lock(&crowd->mutex);
    guest->state = GUEST_FREE;
    crowd->count--;
    pthread_mutex_unlock(&crowd->mutex);
}
