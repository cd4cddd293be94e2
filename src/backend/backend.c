/* backend/backend.c - the list of backends. */
#include "backend/backend.h"

#include "base/status.h"

#include <string.h>

static const TalusBackend *const backends[] = {&talus_backend_cpu};

enum { BACKENDS = sizeof backends / sizeof *backends };

int talus_backend_count(void)
{
    return BACKENDS;
}

TalusBackendRow talus_backend_row(int index)
{
    TalusBackendRow row = {backends[index]->name, backends[index]->summary, true, ""};
    return row;
}

const TalusBackend *talus_backend_find(const char *name)
{
    for (int i = 0; i < BACKENDS; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    talus_fail(TALUS_ERR_UNSUPPORTED, "backend: '%s' is not in this build, which has: cpu", name);
    return NULL;
}
