/* backend/backend.c - the list of backends. */
#include "backend/backend.h"

#include "base/status.h"

#include <string.h>

/* How to get the cuda backends. */
#define CUDA_HOW "configure with cmake --preset cuda, which needs nvcc"

/* A known backend. If this build has it, only `backend` is set; otherwise name, summary and `how`, which tells how to
 * get it. */
typedef struct Row {
    const char *name, *summary, *how;
    const TalusBackend *backend;
} Row;

static const Row rows[] = {
    {.backend = &talus_backend_cpu},
#ifdef TALUS_HAVE_CUDA
    {.backend = &talus_backend_cuda},
    {.backend = &talus_backend_cuda_mixed},
#else
    {.name = "cuda", .summary = TALUS_CUDA_SUMMARY, .how = CUDA_HOW},
    {.name = "cuda-mixed", .summary = TALUS_CUDA_MIXED_SUMMARY, .how = CUDA_HOW},
#endif
};

enum { BACKENDS = sizeof rows / sizeof *rows };

int talus_backend_count(void)
{
    return BACKENDS;
}

TalusBackendRow talus_backend_row(int index)
{
    const Row *row = &rows[index];
    const TalusBackend *backend = row->backend;
    if (!backend)
        return (TalusBackendRow){row->name, row->summary, false, row->how};
    return (TalusBackendRow){backend->name, backend->summary, true, ""};
}

const TalusBackend *talus_backend_find(const char *name)
{
    TalusLocation at = talus_locate(TALUS_DOMAIN_BACKEND, NULL, 0, name);
    for (int i = 0; i < BACKENDS; i++) {
        TalusBackendRow row = talus_backend_row(i);
        if (strcmp(row.name, name) != 0)
            continue;
        if (row.available)
            return rows[i].backend->open() == TALUS_OK ? rows[i].backend : NULL;
        talus_fail_at(at, TALUS_ERR_UNSUPPORTED, "not in this build; %s", row.how);
        return NULL;
    }
    talus_fail_at(at, TALUS_ERR_UNSUPPORTED,
                  "there is no such one; `talus list backends` names them all");
    return NULL;
}
