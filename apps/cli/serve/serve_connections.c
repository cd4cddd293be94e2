/* cli/serve/serve_connections.c - finds the sockets of the server and aborts stalled connections.
 *
 * civetweb does not expose its sockets, so they are found among the process's descriptors by the ports of both
 * ends. Of a connection that still waits for a thread, the socket's buffer shows whether its request is complete. A
 * connection with a thread reports its state itself (connection_set_answering and others). */
#include "serve_connections.h"

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
    CHECK_MS = 25,      /* interval of checks while nearly all threads are in use */
    PEEK_BYTES = 16384  /* more than the maximum size of a request */
};

/* Seconds after which a connection is aborted while nearly all threads are in use. request_grace: without a complete
 * request, or with further input after the answer. answer_grace: without reading any of the answer. */
static const double request_grace = 0.1;
static const double answer_grace = 1.0;

typedef enum ConnectionState {
    CONNECTION_NONE,      /* the record is free */
    CONNECTION_READING,   /* the request is not complete */
    CONNECTION_ANSWERING, /* the request is complete, the answer is being made or sent */
    CONNECTION_DRAINING   /* the answer is sent, further input is being discarded */
} ConnectionState;

struct Connection {
    Connections *all;
    ConnectionState state;
    int peer;     /* the client's port; 0: unknown */
    double since; /* clock reading at the last change of state or progress, s */
};

/* A connection as observed through its descriptor. */
typedef struct Observed {
    int peer;     /* the client's port */
    double first; /* clock reading when it was first seen, s */
    double whole; /* clock reading when its buffer last held a complete request; 0: never */
} Observed;

struct Connections {
    pthread_mutex_t mutex;
    /* Signalled when `stop` or `port` is set and when `count` reaches SERVE_THREADS_BUSY. */
    pthread_cond_t change;
    pthread_t thread;
    bool stop;
    int port;  /* of the server; 0: not known yet */
    int count; /* connections with a thread */
    Connection connection[SERVE_THREADS];
    Observed seen[DESCRIPTORS]; /* by descriptor; used only by the thread that aborts connections */
};

/* ---- sockets ---- */

/* Writes the remote port of socket `fd`, 0 for a listening socket; returns false if the local port is not `port`. */
static bool find_peer(int fd, int port, int *peer)
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

void sockets_shut(int port, int peer, int how)
{
    for (int fd = 0, found; fd < DESCRIPTORS; fd++)
        if (find_peer(fd, port, &found) && (peer == 0 || found == peer))
            shutdown(fd, how);
}

void socket_abort(int port, int peer)
{
    const struct linger none = {.l_onoff = 1, .l_linger = 0};
    for (int fd = 0, found; fd < DESCRIPTORS; fd++)
        if (find_peer(fd, port, &found) && found == peer) {
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
            shutdown(fd, SHUT_RDWR);
        }
}

/* Reads the socket's buffer without consuming it. Another thread owns the descriptor and may close it meanwhile,
 * which does no harm here. ThreadSanitizer would report that in recv() but does not see the call itself. */
static ssize_t peek_socket(int fd, void *bytes, size_t size)
{
#ifdef SYS_recvfrom
    return syscall(SYS_recvfrom, fd, bytes, size, MSG_PEEK | MSG_DONTWAIT, NULL, NULL);
#else
    return recv(fd, bytes, size, MSG_PEEK | MSG_DONTWAIT);
#endif
}

/* True if the socket's buffer holds the end of a request's headers. */
static bool holds_request(int fd)
{
    static const char *const ends[] = {"\r\n\r\n", "\n\n", "\n\r\n"};
    char bytes[PEEK_BYTES + 1];
    ssize_t size = peek_socket(fd, bytes, PEEK_BYTES);
    bytes[size > 0 ? size : 0] = '\0';
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strstr(bytes, ends[i]))
            return true;
    return false;
}

/* ---- the thread that aborts stalled connections ---- */

/* Returns the connection with this client's port; NULL if its request is not being answered yet, as Connection.peer is
 * 0 until then. `copy` is a copy of Connections.connection. */
static const Connection *find_connection(const Connection *copy, int peer)
{
    for (int i = 0; i < SERVE_THREADS; i++)
        if (copy[i].state != CONNECTION_NONE && copy[i].peer == peer)
            return &copy[i];
    return NULL;
}

/* True if the connection should be aborted; updates `seen`. `connection` is NULL while no thread answers it. A request
 * that was complete in the socket's buffer and has left it is being read by a thread; it counts as complete for
 * answer_grace seconds more. */
static bool is_stalled(Observed *seen, int fd, int peer, const Connection *connection, double now)
{
    if (seen->peer != peer)
        *seen = (Observed){.peer = peer, .first = now};
    if (connection && connection->state == CONNECTION_ANSWERING)
        return now - connection->since > answer_grace;
    if (connection && connection->state == CONNECTION_DRAINING)
        return now - connection->since > request_grace;
    if (holds_request(fd))
        seen->whole = now;
    return now - seen->first > request_grace && now - seen->whole > answer_grace;
}

/* Shuts the sockets of all stalled connections. */
static void abort_stalled(Connections *all, const Connection *copy, int port)
{
    double now = talus_now();
    for (int fd = 0, peer, again; fd < DESCRIPTORS; fd++) {
        if (!find_peer(fd, port, &peer) || peer == 0)
            all->seen[fd].peer = 0;
        else if (is_stalled(&all->seen[fd], fd, peer, find_connection(copy, peer), now) &&
                 find_peer(fd, port, &again) && again == peer)
            shutdown(fd, SHUT_RDWR);
    }
}

/* Waits CHECK_MS, or less if another thread signals a change. */
static void wait_for_check(Connections *all)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += CHECK_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&all->change, &all->mutex, &until);
}

/* Main function of the thread: while SERVE_THREADS_BUSY connections have threads, aborts stalled ones. */
static void *check_connections(void *user)
{
    Connections *all = user;
    Connection copy[SERVE_THREADS];
    pthread_mutex_lock(&all->mutex);
    while (!all->stop) {
        if (all->count < SERVE_THREADS_BUSY || all->port == 0) {
            pthread_cond_wait(&all->change, &all->mutex);
            continue;
        }
        memcpy(copy, all->connection, sizeof copy);
        int port = all->port;
        pthread_mutex_unlock(&all->mutex);
        abort_stalled(all, copy, port);
        pthread_mutex_lock(&all->mutex);
        if (!all->stop)
            wait_for_check(all);
    }
    pthread_mutex_unlock(&all->mutex);
    return NULL;
}

static void connections_free(Connections *all)
{
    pthread_cond_destroy(&all->change);
    pthread_mutex_destroy(&all->mutex);
    talus_release(all);
}

TalusStatus connections_start(Connections **out)
{
    Connections *all;
    TALUS_TRY(TALUS_ALLOC(all, 1, "connections"));
    pthread_mutex_init(&all->mutex, NULL);
    pthread_cond_init(&all->change, NULL);
    if (pthread_create(&all->thread, NULL, check_connections, all) != 0) {
        connections_free(all);
        return talus_fail(TALUS_ERR_MEMORY, "no thread for the server's connections");
    }
    *out = all;
    return TALUS_OK;
}

void connections_set_port(Connections *all, int port)
{
    pthread_mutex_lock(&all->mutex);
    all->port = port;
    pthread_cond_signal(&all->change);
    pthread_mutex_unlock(&all->mutex);
}

void connections_stop(Connections *all)
{
    pthread_mutex_lock(&all->mutex);
    all->stop = true;
    pthread_cond_signal(&all->change);
    pthread_mutex_unlock(&all->mutex);
    pthread_join(all->thread, NULL);
    connections_free(all);
}

/* ---- connections with a thread ---- */

Connection *connections_add(Connections *all)
{
    Connection *connection = NULL;
    pthread_mutex_lock(&all->mutex);
    for (int i = 0; i < SERVE_THREADS && !connection; i++)
        if (all->connection[i].state == CONNECTION_NONE)
            connection = &all->connection[i];
    if (connection) {
        *connection = (Connection){.all = all, .state = CONNECTION_READING, .since = talus_now()};
        if (++all->count == SERVE_THREADS_BUSY)
            pthread_cond_signal(&all->change);
    }
    pthread_mutex_unlock(&all->mutex);
    return connection;
}

/* Sets state and client's port of the connection, and connection->since to the present time; NULL: does nothing. */
static void set_state(Connection *connection, ConnectionState state, int peer)
{
    if (!connection)
        return;
    pthread_mutex_lock(&connection->all->mutex);
    connection->state = state;
    connection->peer = peer;
    connection->since = talus_now();
    pthread_mutex_unlock(&connection->all->mutex);
}

void connection_set_answering(Connection *connection, int peer)
{
    set_state(connection, CONNECTION_ANSWERING, peer);
}

bool connection_is_answered(const Connection *connection)
{
    return connection &&
           connection->state != CONNECTION_READING; /* no lock: only the calling thread writes it */
}

void connection_note_progress(Connection *connection)
{
    if (connection)
        set_state(connection, connection->state, connection->peer);
}

void connection_set_draining(Connection *connection)
{
    if (connection)
        set_state(connection, CONNECTION_DRAINING, connection->peer);
}

void connection_remove(Connection *connection)
{
    if (!connection)
        return;
    Connections *all = connection->all;
    pthread_mutex_lock(&all->mutex);
    connection->state = CONNECTION_NONE;
    all->count--;
    pthread_mutex_unlock(&all->mutex);
}
