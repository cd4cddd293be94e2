/* cli/serve/serve_crowd.h - keeps the server open to those who ask, whoever else holds connections.
 *
 * civetweb gives every connection a thread from its first byte on, and there are only so many. While nearly all of
 * them are taken, connections that keep one waiting are broken off: those whose request is not whole, those that
 * send a body nobody asked for, those that do not take their answer. A client that has sent its request is never
 * among them, also while it waits for a thread. */
#ifndef TALUS_CLI_SERVE_CROWD_H
#define TALUS_CLI_SERVE_CROWD_H

#include "base/status.h"

enum {
    CROWD_THREADS = 64, /* connections that are served at a time */
    CROWD_FULL = 60     /* from so many on it is a crowd */
};

typedef struct Crowd Crowd;
typedef struct Guest Guest; /* a connection that has a thread */

TalusStatus crowd_start(Crowd **out);
/* Whose connections these are: the port of their own end. Nothing is broken off before it is known. */
void crowd_port(Crowd *crowd, int port);
void crowd_stop(Crowd *crowd);

/* A thread has taken a connection, whose request is still to come. NULL if there are more than CROWD_THREADS; the
 * other calls then do nothing. */
Guest *crowd_enter(Crowd *crowd);
/* Its request is whole: it is being answered. `peer` is the port of the other end. */
void crowd_answer(Guest *guest, int peer);
bool crowd_answered(const Guest *guest);
/* It has taken some of the answer. */
void crowd_moves(Guest *guest);
/* All of it has been sent; what it still sends is thrown away. */
void crowd_drains(Guest *guest);
void crowd_leave(Guest *guest);

/* ---- sockets ---- */

/* Sockets of this process whose own end has the port and whose other end has port `peer`; 0: all with that port, a
 * listening one too. `how` as for shutdown(): what is shut ends at once. */
void crowd_shut(int port, int peer, int how);
/* The same for one, both ways, and closing it tells the other end, which may still be sending. */
void crowd_abort(int port, int peer);

#endif
