/* engine/engine.h - which engine carries out the steps of a world. */
#ifndef TALUS_ENGINE_ENGINE_H
#define TALUS_ENGINE_ENGINE_H

#include "backend/backend.h"
#include "backend/engine.h"

/* An engine with its operations. */
typedef struct TalusEngineHandle {
    const TalusEngineOps *ops;
    TalusEngine *engine;
} TalusEngineHandle;

/* The operations of a backend's engine; those of the host's for a backend that works in its memory. */
const TalusEngineOps *talus_engine_ops(const TalusBackend *backend);
const TalusEngineOps *talus_engine_host(void);

static inline bool talus_engine_can(TalusEngineHandle on, uint32_t capability)
{
    return (on.ops->capabilities & capability) == capability;
}

#endif
