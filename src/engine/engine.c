/* engine/engine.c - choice of the engine by backend. */
#include "engine/engine.h"

#include "engine/cpu/engine.h"

const TalusEngineOps *talus_engine_host(void)
{
    return &cpu_engine_ops;
}

const TalusEngineOps *talus_engine_ops(const TalusBackend *backend)
{
#ifdef TALUS_HAVE_CUDA
    if (backend == &talus_backend_cuda || backend == &talus_backend_cuda_mixed)
        return &talus_engine_cuda;
#endif
    (void)backend;
    return talus_engine_host();
}
