/* engine/engine.c - the table of engines. */
#include "engine/engine.h"

#include "engine/cpu/engine.h"

const TalusEngineOps *talus_engine_host(void)
{
    return &cpu_engine_ops;
}

const TalusEngineOps *talus_engine_ops(const TalusBackend *backend)
{
    return backend->engine ? backend->engine : talus_engine_host();
}
