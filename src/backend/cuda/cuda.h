/* backend/cuda/cuda.h - the operations of the cuda backends (backend/backend.h has their contracts), file
 * by file. Plain C, so that the table can be. */
#ifndef TALUS_BACKEND_CUDA_CUDA_H
#define TALUS_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* memory.cu */
TalusStatus cu_open(void);
TalusStatus cu_check(void);

#ifdef __cplusplus
}
#endif

#endif
