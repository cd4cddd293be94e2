/* cli/serve/serve.h - the viewer's server: civetweb, on 127.0.0.1 alone. */
#ifndef TALUS_CLI_SERVE_H
#define TALUS_CLI_SERVE_H

#include "serve_files.h"

/* serve_available: true if this build has a server. serve_how: text that says how to get a build that has one. */
bool serve_available(void);
const char *serve_how(void);

typedef struct Server Server;

/* Starts a server that answers in its own threads. SIGINT and SIGTERM must not reach them: block both signals first.
 * Port 0 takes a free port. `files` must outlive the server. Fails if the port is in use. */
TalusStatus serve_start(ServeFiles *files, int port, Server **out);
int serve_port(const Server *server);
/* Aborts requests in progress; all threads have ended on return. */
void serve_stop(Server *server);

#endif
