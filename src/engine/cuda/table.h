/* engine/cuda/table.h - the operations of the device's engine, in C: cu_engine_NAME. */
#ifndef TALUS_ENGINE_CUDA_TABLE_H
#define TALUS_ENGINE_CUDA_TABLE_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OPERATION(result, name, arguments) result cu_engine_##name arguments;
#define SHARED_ONLY(result, name, arguments)
#include "engine/operations.h"

#ifdef __cplusplus
}
#endif

#endif
