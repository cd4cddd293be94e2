/* cli/serve/serve_crowd.h - keeps the server responsive while other clients hold connections.
 *
 * civetweb gives every connection a thread from its first byte on, and the number of threads is fixed. While
 * nearly all of them are in use, connections that keep a thread waiting are aborted: those with an incomplete
 * request, those that send a body nobody asked for, those that do not read their answer. A client that has sent
 * its request is never aborted, even while it waits for a thread. */
#ifndef TALUS_CLI_SERVE_CROWD_H
#define TALUS_CLI_SERVE_CROWD_H

#include "base/status.h"

enum {
    CROWD_THREADS = 64, /* connections served at a time */
    CROWD_FULL = 60     /* from this number on connections are aborted */
};

typedef struct Crowd Crowd;
typedef struct Guest Guest; /* a connection that has a thread */

TalusStatus crowd_start(Crowd **out);
/* Sets the server's port, by which its connections are found. Nothing is aborted before. */
void crowd_port(Crowd *crowd, int port);
void crowd_stop(Crowd *crowd);

/* Registers a connection with a thread, before its request; NULL beyond CROWD_THREADS. Other calls accept NULL. */
Guest *crowd_enter(Crowd *crowd);
/* Notes that the request is complete and is being answered. `peer` is the client's port. */
void crowd_answer(Guest *guest, int peer);
bool crowd_answered(const Guest *guest);
/* Notes that the client has read part of the answer. */
void crowd_moves(Guest *guest);
/* Notes that the answer is sent; further input is discarded. */
void crowd_drains(Guest *guest);
void crowd_leave(Guest *guest);

/* ---- sockets ---- */

/* Shuts sockets of this process with local port `port` and remote port `peer`; peer 0: all with that local port,
 * also a listening one. `how` is that of shutdown(). */
void crowd_shut(int port, int peer, int how);
/* Shuts one socket both ways; closing it resets the connection, so that a client that is still sending notices. */
void crowd_abort(int port, int peer);

#endif
