/* cli/serve/serve.h - the viewer's server: civetweb, on 127.0.0.1 alone. */
#ifndef TALUS_CLI_SERVE_H
#define TALUS_CLI_SERVE_H

#include "serve_files.h"

/* True if this build has a server. */
bool serve_available(void);
/* Returns a text that says how to get a build with a server; "" if this build has one. */
const char *serve_build_hint(void);

typedef struct Server Server;

/* Starts a server that answers in its own threads. The caller must have blocked SIGINT and SIGTERM, so that these
 * threads do not receive them. Port 0 takes a free port. `files` must outlive the server. Fails if the port is in use
 * or this build has no server; end *out with serve_stop. */
TalusStatus serve_start(ServeFiles *files, int port, Server **out);
/* Returns the port in use. */
int serve_port(const Server *server);
/* Aborts requests in progress and releases the server; all threads have ended on return. */
void serve_stop(Server *server);

#endif
