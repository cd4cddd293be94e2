/* backend/cuda/primitives.h - sorting and scanning whole arrays: CUB's, or the host's when emulated.
 * All are stable and deterministic; work space is kept and grows. */
#ifndef TALUS_BACKEND_CUDA_PRIMITIVES_H
#define TALUS_BACKEND_CUDA_PRIMITIVES_H

#include "backend/cuda/device.h"

/* out[i] = in[0] + ... + in[i - 1] for i < n; in may be out. */
TalusStatus cu_scan(const uint32_t *in, uint32_t *out, int64_t n);

/* Sorts by the key's lowest `bits` bits, keys and values into the out arrays. */
TalusStatus cu_sort32(const uint32_t *key, uint32_t *key_out, const uint32_t *value,
                      uint32_t *value_out, int64_t n, int bits);
TalusStatus cu_sort64(const uint64_t *key, uint64_t *key_out, const uint32_t *value,
                      uint32_t *value_out, int64_t n, int bits);

/* Gives the work space back. */
void cu_primitives_clear(void);

#endif
