/* engine/cuda/table.c - the table of operations of the device's engine. */
#ifdef TALUS_HAVE_CUDA

#include "engine/cuda/table.h"

const TalusEngineOps talus_engine_cuda = {
    .capabilities = TALUS_ENGINE_PERIODS | TALUS_ENGINE_SLEEP,
#define OPERATION(result, name, arguments) .name = cu_engine_##name,
#define SHARED_ONLY(result, name, arguments)
#include "engine/operations.h"
};

#endif
