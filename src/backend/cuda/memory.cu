/* backend/cuda/memory.cu - the device, its stream, its memory, and what has gone wrong there. */
#include "backend/cuda/reduce.h"

extern "C" {
#include "base/inject.h"
}

#include <stdio.h>

/* Copies below this many bytes go through pinned memory, at a third of the latency. */
enum { PINNED = 1 << 16 };

/* Bytes from which on an array grows by less than half. */
static const size_t LARGE = (size_t)1 << 28;

static bool opened;
static cudaStream_t stream;
static char *pinned;
static double *totals;
static CuArray<double> partial;
static unsigned *arrived;
static char first_error[256];

cudaStream_t cu_stream(void)
{
    return stream;
}

void cu_note(cudaError_t error, const char *where)
{
    if (error != cudaSuccess && !first_error[0])
        snprintf(first_error, sizeof first_error, "%s: %s", where, cudaGetErrorString(error));
}

TalusStatus cu_check(void)
{
    cu_note(cudaGetLastError(), "launch");
    if (!first_error[0])
        return TALUS_OK;
    TalusStatus status = talus_fail(TALUS_ERR_UNSUPPORTED, "cuda: %s", first_error);
    first_error[0] = '\0';
    return status;
}

TalusStatus cu_open(void)
{
    int count = 0;
    if (opened)
        return TALUS_OK;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0)
        return talus_fail_at(talus_locate(TALUS_DOMAIN_DEVICE, NULL, 0, "cuda"),
                             TALUS_ERR_UNSUPPORTED,
                             "this machine has no GPU that CUDA can use (%s); --backend "
                             "cpu runs everywhere",
                             error == cudaSuccess ? "none found" : cudaGetErrorString(error));
    cu_note(cudaSetDevice(0), "device 0");
    cu_note(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    cu_note(cudaMallocHost((void **)&pinned, PINNED), "pinned memory");
    cu_note(cudaMalloc((void **)&totals, CU_TOTALS * sizeof *totals), "totals");
    cu_note(cudaMalloc((void **)&arrived, sizeof *arrived), "counter");
    TALUS_TRY(cu_check());
    cu_zero(arrived, sizeof *arrived);
    opened = true;
    return cu_check();
}

/* The driver's version is CUDA's number for it: the newest CUDA that it can run. */
void cu_describe(char *text, size_t size)
{
    cudaDeviceProp device;
    int driver = 0;
    snprintf(text, size, "no device");
    if (cu_open() != TALUS_OK || cudaGetDeviceProperties(&device, 0) != cudaSuccess)
        return;
    cu_note(cudaDriverGetVersion(&driver), "driver version");
    snprintf(text, size, "%s, %.1f GiB, %d multiprocessors, driver for CUDA %d.%d", device.name,
             (double)device.totalGlobalMem / (1 << 30), device.multiProcessorCount, driver / 1000,
             driver % 1000 / 10);
}

/* ---- memory ---- */

static const double GIB = 1.0 / (1 << 30);

TalusStatus cu_reserve(void **array, size_t *capacity, size_t need, size_t element,
                       const char *what)
{
    if (*array && need <= *capacity)
        return TALUS_OK;
    TALUS_TRY(cu_open());
    size_t spare = *capacity / (*capacity < LARGE / element ? 2 : 16), free = 0, total = 0;
    size_t count = need > *capacity + spare ? need : *capacity + spare;
    cu_wait(); /* what is under way may still use the old block */
    cu_release(*array);
    *array = nullptr;
    *capacity = 0;
    bool injected = talus_inject_failure();
    cudaError_t error =
        injected ? cudaErrorMemoryAllocation : cudaMalloc(array, count * element + !count);
    if (error != cudaSuccess && !injected) { /* then with nothing to spare */
        cudaGetLastError();
        count = need;
        error = cudaMalloc(array, count * element + !count);
    }
    if (error != cudaSuccess) {
        cudaGetLastError();
        *array = nullptr;
        cu_note(error != cudaErrorMemoryAllocation ? error : cudaSuccess, what);
        TALUS_TRY(cu_check()); /* a device that has failed earlier is not short of memory */
        cudaMemGetInfo(&free, &total);
        return talus_fail(TALUS_ERR_MEMORY,
                          "cuda: %s: %.3f GiB are needed, %.3f of the device's %.3f GiB are free",
                          what, (double)(need * element) * GIB, (double)free * GIB,
                          (double)total * GIB);
    }
    *capacity = count;
    return TALUS_OK;
}

void cu_release(void *pointer)
{
    if (pointer)
        cu_note(cudaFree(pointer), "free");
}

size_t cu_memory_now(void)
{
    size_t free = 0, total = 0;
    if (opened)
        cudaMemGetInfo(&free, &total);
    return total - free;
}

/* ---- copies ---- */

void cu_wait(void)
{
    cu_note(cudaGetLastError(), "launch");
    cu_note(cudaStreamSynchronize(stream), "wait");
}

void cu_put(void *device, const void *host, size_t bytes)
{
    if (!bytes)
        return;
    cu_note(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "copy in");
    cu_wait(); /* the caller may write to `host` again at once */
}

void cu_get(void *host, const void *device, size_t bytes)
{
    if (!bytes)
        return;
    bool small = bytes <= PINNED;
    cu_note(cudaMemcpyAsync(small ? pinned : host, device, bytes, cudaMemcpyDeviceToHost, stream),
            "copy out");
    cu_wait();
    if (small)
        memcpy(host, pinned, bytes);
}

void cu_copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from)
        cu_note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "copy");
}

void cu_zero(void *device, size_t bytes)
{
    if (bytes)
        cu_note(cudaMemsetAsync(device, 0, bytes, stream), "zero");
}

/* ---- sums ---- */

TalusStatus cu_partials_reserve(unsigned blocks, int values)
{
    return partial.reserve((int64_t)blocks * values, "partial sums");
}

CuPartials cu_partials(void)
{
    return CuPartials{partial.at, arrived};
}

double *cu_totals(void)
{
    return totals;
}

void cu_totals_get(int count, double *out)
{
    cu_get(out, totals, (size_t)count * sizeof *out);
    for (int k = 0; first_error[0] && k < count; k++)
        out[k] = NAN; /* not what some earlier kernel has left: solvers stop at it */
}
