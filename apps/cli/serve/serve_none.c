/* cli/serve/serve_none.c - replaces serve.c in a build without civetweb. */
#include "serve.h"

#include "base/status.h"

bool serve_available(void)
{
    return false;
}

const char *serve_build_hint(void)
{
    return "install libcivetweb-dev, then configure without TALUS_CORE_ONLY and build";
}

TalusStatus serve_start(ServeFiles *files, int port, Server **out)
{
    (void)files;
    (void)port;
    (void)out;
    return talus_fail(TALUS_ERR_UNSUPPORTED, "this build has no server: %s", serve_build_hint());
}

int serve_port(const Server *server)
{
    (void)server;
    return 0;
}

void serve_stop(Server *server)
{
    (void)server;
}
