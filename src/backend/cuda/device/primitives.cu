/* backend/cuda/device/primitives.cu - sorting and scanning (contracts: primitives.h): by CUB, or on the host when
 * emulated. */
#include "backend/cuda/device/primitives.h"

#ifdef TALUS_EMULATED

#include <algorithm>
#include <vector>

TalusStatus cu_scan(CuContext *, const uint32_t *in, uint32_t *out, int64_t n)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t value = in[i];
        out[i] = sum;
        sum += value;
    }
    return TALUS_OK;
}

template <class K>
static TalusStatus sort(CuContext *, const K *key, K *key_out, const uint32_t *value,
                        uint32_t *value_out, int64_t n, int bits)
{
    std::vector<int64_t> order((size_t)n);
    K mask = bits >= (int)(8 * sizeof(K)) ? ~(K)0 : ((K)1 << bits) - 1;
    for (int64_t i = 0; i < n; i++)
        order[(size_t)i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [=](int64_t a, int64_t b) { return (key[a] & mask) < (key[b] & mask); });
    for (int64_t i = 0; i < n; i++) {
        key_out[i] = key[order[(size_t)i]];
        value_out[i] = value[order[(size_t)i]];
    }
    return TALUS_OK;
}

#else

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

TalusStatus cu_scan(CuContext *cu, const uint32_t *in, uint32_t *out, int64_t n)
{
    size_t bytes = 0;
    CuTimer timer(cu, nullptr, "scan");
    cu_note_error(cu, cub::DeviceScan::ExclusiveSum(nullptr, bytes, in, out, n, cu->stream),
                  "scan");
    TALUS_TRY(cu->work.reserve((int64_t)bytes, "work space of a scan"));
    cu_note_error(cu, cub::DeviceScan::ExclusiveSum(cu->work.at, bytes, in, out, n, cu->stream),
                  "scan");
    return TALUS_OK;
}

template <class K>
static TalusStatus sort(CuContext *cu, const K *key, K *key_out, const uint32_t *value,
                        uint32_t *value_out, int64_t n, int bits)
{
    size_t bytes = 0;
    CuTimer timer(cu, nullptr, "sort");
    cu_note_error(cu,
                  cub::DeviceRadixSort::SortPairs(nullptr, bytes, key, key_out, value, value_out, n,
                                                  0, bits, cu->stream),
                  "sort");
    TALUS_TRY(cu->work.reserve((int64_t)bytes, "work space of a sort"));
    cu_note_error(cu,
                  cub::DeviceRadixSort::SortPairs(cu->work.at, bytes, key, key_out, value,
                                                  value_out, n, 0, bits, cu->stream),
                  "sort");
    return TALUS_OK;
}

#endif

TalusStatus cu_sort32(CuContext *cu, const uint32_t *key, uint32_t *key_out, const uint32_t *value,
                      uint32_t *value_out, int64_t n, int bits)
{
    return n ? sort(cu, key, key_out, value, value_out, n, bits) : TALUS_OK;
}

TalusStatus cu_sort64(CuContext *cu, const uint64_t *key, uint64_t *key_out, const uint32_t *value,
                      uint32_t *value_out, int64_t n, int bits)
{
    return n ? sort(cu, key, key_out, value, value_out, n, bits) : TALUS_OK;
}
