/* backend/cuda/device/primitives.h - sorting and scanning (prefix sums) of whole arrays: by CUB, or on the host when
 * emulated. All run in the context's stream and are deterministic; sorting is stable. */
#ifndef TALUS_BACKEND_CUDA_DEVICE_PRIMITIVES_H
#define TALUS_BACKEND_CUDA_DEVICE_PRIMITIVES_H

#include "backend/cuda/device/device.h"

/* out[i] = in[0] + ... + in[i - 1] for i < n, so out[0] = 0; `in` may be `out`. Fails only for lack of memory, as the
 * sorts below; other errors are stored (cu_note_error). */
TalusStatus cu_scan(CuContext *cu, const uint32_t *in, uint32_t *out, int64_t n);

/* Sort n keys by their lowest `bits` bits, rising, into key_out, and `value`, in the same order, into value_out; no
 * output may be an input. */
TalusStatus cu_sort32(CuContext *cu, const uint32_t *key, uint32_t *key_out, const uint32_t *value,
                      uint32_t *value_out, int64_t n, int bits);
TalusStatus cu_sort64(CuContext *cu, const uint64_t *key, uint64_t *key_out, const uint32_t *value,
                      uint32_t *value_out, int64_t n, int bits);

#endif
