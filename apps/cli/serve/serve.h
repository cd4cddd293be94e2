/* cli/serve/serve.h - the viewer's server: civetweb, on 127.0.0.1 alone. */
#ifndef TALUS_CLI_SERVE_H
#define TALUS_CLI_SERVE_H

#include "serve_files.h"

/* Whether this build has a server, and how to get one. */
bool serve_available(void);
const char *serve_how(void);

typedef struct Server Server;

/* Answers from now on, in threads of its own that SIGINT and SIGTERM must not reach: block them first.
 * Port 0 takes a free one. `files` must outlive the server. Fails where the port is taken. */
TalusStatus serve_start(ServeFiles *files, int port, Server **out);
int serve_port(const Server *server);
/* Breaks off what is under way; all threads have ended when it returns. */
void serve_stop(Server *server);

#endif
