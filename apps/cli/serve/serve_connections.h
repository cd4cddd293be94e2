/* cli/serve/serve_connections.h - keeps the server responsive while other clients hold connections.
 *
 * civetweb gives every connection a thread from its first byte on, and the number of threads is fixed. While
 * nearly all of them are in use, connections that keep a thread waiting are aborted: those with an incomplete
 * request, those that send a body nobody asked for, those that do not read their answer. A client that has sent
 * its request and reads the answer is never aborted here, even while it waits for a thread. */
#ifndef TALUS_CLI_SERVE_CONNECTIONS_H
#define TALUS_CLI_SERVE_CONNECTIONS_H

#include "base/status.h"

enum {
    SERVE_THREADS = 64,     /* connections served at a time */
    SERVE_THREADS_BUSY = 60 /* with this number in use, stalled connections are aborted */
};

typedef struct Connections Connections;
typedef struct Connection Connection; /* record of a connection that has a thread */

/* Starts the thread that aborts stalled connections. */
TalusStatus connections_start(Connections **out);
/* Sets the server's port, by which its connections are found; nothing is aborted before this call. */
void connections_set_port(Connections *all, int port);
/* Ends the thread and releases the memory. */
void connections_stop(Connections *all);

/* Registers a connection that has got a thread, before its request is read. Returns NULL if SERVE_THREADS are
 * registered already; the other calls accept NULL and do nothing. */
Connection *connections_add(Connections *all);
/* Notes that the request is complete and is being answered. `peer` is the client's port. */
void connection_set_answering(Connection *connection, int peer);
/* True if connection_set_answering was called. */
bool connection_is_answered(const Connection *connection);
/* Notes that part of the answer was sent, which shows that the client still reads. */
void connection_note_progress(Connection *connection);
/* Notes that the answer is sent and that the rest of the client's input is being read and discarded. */
void connection_set_draining(Connection *connection);
/* Makes the record free for another connection. */
void connection_remove(Connection *connection);

/* ---- sockets ---- */

/* Shuts sockets of this process with local port `port` and remote port `peer`; peer 0: all with that local port,
 * also a listening one. `how` is that of shutdown(). */
void sockets_shut(int port, int peer, int how);
/* Shuts one socket both ways; closing it resets the connection, so that a client that is still sending notices. */
void socket_abort(int port, int peer);

#endif
