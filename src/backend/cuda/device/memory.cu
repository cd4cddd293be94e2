/* backend/cuda/device/memory.cu - contexts of the device: stream, memory, copies and errors. */
#include "backend/cuda/device/reduce.h"

extern "C" {
#include "base/inject.h"
#include "base/timer.h"
}

#include <cxxabi.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string>

/* Bytes of a context's pinned memory. Downloads of at most this many go through it: the device writes it directly. */
enum { PINNED = 1 << 16 };

/* Bytes from which an array grows by a sixteenth instead of half. */
static const size_t LARGE = (size_t)1 << 28;

/* ---- contexts ---- */

void cu_note_error(CuContext *cu, cudaError_t error, const char *where)
{
    if (error != cudaSuccess && !cu->first_error[0])
        snprintf(cu->first_error, sizeof cu->first_error, "%s: %s", where,
                 cudaGetErrorString(error));
}

TalusStatus cu_check(CuContext *cu)
{
    cu_note_error(cu, cudaGetLastError(), "launch");
    if (!cu->first_error[0])
        return TALUS_OK;
    TalusStatus status =
        talus_error_key("cuda", talus_fail(TALUS_ERR_UNSUPPORTED, "cuda: %s", cu->first_error));
    cu->first_error[0] = '\0';
    return status;
}

TalusStatus cu_open(void)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return TALUS_OK;
    return talus_fail_at(talus_locate(TALUS_DOMAIN_DEVICE, NULL, 0, "cuda"), TALUS_ERR_UNSUPPORTED,
                         "this machine has no GPU that CUDA can use (%s); --backend cpu runs "
                         "everywhere",
                         error == cudaSuccess ? "none found" : cudaGetErrorString(error));
}

/* Results of kernels for the host, as they lie in device memory. */
struct Results {
    double totals[CU_TOTALS];
    uint32_t counts[CU_COUNTS];
};

/* Returns the device of this process: that of its number among the processes that mpirun or Slurm has started on this
 * machine, modulo the number of devices; 0 for a process alone. */
static int own_device()
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "SLURM_LOCALID"};
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2)
        return 0;
    for (const char *name : names)
        if (const char *text = getenv(name))
            return atoi(text) > 0 ? atoi(text) % count : 0;
    return 0;
}

TalusStatus cu_context_create(TalusContext **out)
{
    CuContext *cu;
    *out = nullptr;
    TALUS_TRY(cu_open());
    TALUS_TRY(TALUS_ALLOC(cu, 1, "context"));
    cu->device = own_device();
    cu_note_error(cu, cudaSetDevice(cu->device), "device");
    cu_note_error(cu, cudaStreamCreateWithFlags(&cu->stream, cudaStreamNonBlocking), "stream");
    cu_note_error(cu, cudaMallocHost((void **)&cu->pinned, PINNED), "pinned memory");
    cu_note_error(cu, cudaMalloc((void **)&cu->totals, sizeof(Results)), "totals");
    cu->counts = (uint32_t *)(cu->totals + CU_TOTALS);
    TalusStatus status = cu_check(cu);
    if (status != TALUS_OK)
        cu_context_destroy(cu);
    else
        *out = cu;
    return status;
}

void cu_context_destroy(TalusContext *cu)
{
    if (!cu)
        return;
    if (cu->stream)
        cu_wait(cu);
    for (CuOwned owned : {cu->iterate, cu->face, cu->windows})
        if (owned.at)
            owned.clear(owned.at);
    cu->work.clear();
    cu_release(cu->totals);
    cu_release(cu->board);
    cudaFreeHost(cu->pinned);
    for (cudaEvent_t event : cu->timer)
        if (event)
            cudaEventDestroy(event);
    if (cu->stream)
        cudaStreamDestroy(cu->stream);
    talus_release(cu);
}

/* The driver's version is the newest CUDA version that it can run. */
void cu_describe(char *text, size_t size)
{
    cudaDeviceProp device;
    int driver = 0;
    snprintf(text, size, "no device");
    if (cu_open() != TALUS_OK || cudaGetDeviceProperties(&device, 0) != cudaSuccess)
        return;
    cudaDriverGetVersion(&driver);
    snprintf(text, size, "%s, %.1f GiB, %d multiprocessors, driver for CUDA %d.%d", device.name,
             (double)device.totalGlobalMem / (1 << 30), device.multiProcessorCount, driver / 1000,
             driver % 1000 / 10);
}

double cu_copy_speed(void)
{
    const size_t bytes = (size_t)1 << 30;
    CuArray<char> from, to;
    TalusContext *cu = nullptr;
    double best = 0.0;
    if (cu_context_create(&cu) == TALUS_OK && from.reserve((int64_t)bytes, "copy") == TALUS_OK &&
        to.reserve((int64_t)bytes, "copy") == TALUS_OK)
        for (int k = 0; k < 4; k++) { /* the first one warms up */
            double start = talus_now();
            cu_copy(cu, to.at, from.at, bytes);
            cu_wait(cu);
            double speed = 2.0 * (double)bytes / (talus_now() - start);
            best = k > 0 && speed > best ? speed : best;
        }
    bool copied = cu && cu_check(cu) == TALUS_OK;
    cu_clear(from, to);
    cu_context_destroy(cu);
    return copied ? best : 0.0;
}

/* ---- profile ---- */

/* KERNELS: kernels with a name of their own in a profile; more than there are. */
enum { KERNELS = 1024, NAME_LENGTH = 96 };

/* Writes the name of a kernel without return type and arguments, with the arguments of its template: up to a parenthesis
 * outside the template's brackets. */
static void format_kernel_name(const void *kernel, char text[NAME_LENGTH])
{
    snprintf(text, NAME_LENGTH, "kernel");
#if !defined(TALUS_EMULATED) && CUDART_VERSION >= 12030 /* earlier ones do not tell names */
    const char *mangled = nullptr;
    if (cudaFuncGetName(&mangled, kernel) != cudaSuccess || !mangled)
        return;
    char *whole = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
    std::string name = whole ? whole : mangled;
    free(whole);
    if (name.rfind("void ", 0) == 0)
        name.erase(0, 5);
    size_t end = 0;
    for (int depth = 0; end < name.size() && (depth > 0 || name[end] != '('); end++)
        depth += (name[end] == '<') - (name[end] == '>');
    name.erase(end);
    snprintf(text, NAME_LENGTH, "%s", name.c_str());
#else
    (void)kernel;
#endif
}

static void load_kernel_code(const void *kernel)
{
#ifndef TALUS_EMULATED
    cudaFuncAttributes unused;
    (void)cudaFuncGetAttributes(&unused, kernel); /* a launch reports the error */
#else
    (void)kernel;
#endif
}

/* Returns the name of a kernel, valid until the program ends. The first call for a kernel loads its code on the device,
 * which would else count as time of its first launch. */
static const char *kernel_name(const void *kernel)
{
    static std::mutex mutex;
    static struct {
        const void *kernel;
        char name[NAME_LENGTH];
    } known[KERNELS];
    std::lock_guard<std::mutex> hold(mutex);
    for (auto &k : known) {
        if (!k.kernel) {
            k.kernel = kernel;
            load_kernel_code(kernel);
            format_kernel_name(kernel, k.name);
        }
        if (k.kernel == kernel)
            return k.name;
    }
    return "further kernels";
}

void CuTimer::start()
{
    if (!name)
        name = kernel_name(kernel);
    for (cudaEvent_t &event : cu->timer)
        if (!event)
            cu_note_error(cu, cudaEventCreate(&event), "event");
    cu_note_error(cu, cudaEventRecord(cu->timer[0], cu->stream), "event");
}

void CuTimer::finish()
{
    float ms = 0.0f;
    cu_note_error(cu, cudaEventRecord(cu->timer[1], cu->stream), "event");
    cu_note_error(cu, cudaEventSynchronize(cu->timer[1]), "wait");
    cu_note_error(cu, cudaEventElapsedTime(&ms, cu->timer[0], cu->timer[1]), "event");
    talus_profile_add(name, 1e-3 * (double)ms);
}

/* ---- memory ---- */

/* GiB per byte. */
static const double GIB = 1.0 / (1 << 30);

TalusStatus cu_reserve(void **array, size_t *capacity, size_t need, size_t element,
                       const char *what)
{
    if (*array && need <= *capacity)
        return TALUS_OK;
    size_t spare = *capacity / (*capacity < LARGE / element ? 2 : 16), free = 0, total = 0;
    size_t count = need > *capacity + spare ? need : *capacity + spare;
    cu_release(*array); /* waits for all work that may still use it */
    *array = nullptr;
    *capacity = 0;
    bool injected = talus_allocation_must_fail();
    cudaError_t error =
        injected ? cudaErrorMemoryAllocation : cudaMalloc(array, count * element + !count);
    if (error != cudaSuccess && !injected) { /* try again without spare capacity */
        cudaGetLastError();
        count = need;
        error = cudaMalloc(array, count * element + !count);
    }
    if (error != cudaSuccess) {
        cudaGetLastError();
        *array = nullptr;
        if (error !=
            cudaErrorMemoryAllocation) /* an earlier fault of the device, not a lack of memory */
            return talus_error_key("cuda", talus_fail(TALUS_ERR_UNSUPPORTED, "cuda: %s: %s", what,
                                                      cudaGetErrorString(error)));
        cudaMemGetInfo(&free, &total);
        return talus_error_key(
            "cuda",
            talus_fail(TALUS_ERR_MEMORY,
                       "cuda: %s: %.3f GiB are needed, %.3f of the device's %.3f GiB are free",
                       what, (double)(need * element) * GIB, (double)free * GIB,
                       (double)total * GIB));
    }
    *capacity = count;
    return TALUS_OK;
}

void cu_release(void *pointer)
{
    if (pointer)
        cudaFree(pointer); /* an error here is of earlier work, whose context reports it */
}

size_t cu_memory_in_use(void)
{
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    return total - free;
}

/* ---- copies ---- */

void cu_wait(CuContext *cu)
{
    cu_note_error(cu, cudaGetLastError(), "launch");
    cu_note_error(cu, cudaStreamSynchronize(cu->stream), "wait");
}

void cu_put_pinned(CuContext *cu, void *device, const void *pinned, size_t bytes)
{
    if (bytes)
        cu_note_error(cu,
                      cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, cu->stream),
                      "copy in");
    cu->copied += bytes;
}

void cu_get_pinned(CuContext *cu, void *pinned, const void *device, size_t bytes)
{
    if (bytes)
        cu_note_error(cu,
                      cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, cu->stream),
                      "copy out");
    cu->copied += bytes;
}

uint64_t cu_copied_bytes(const TalusContext *cu)
{
    return cu->copied;
}

void cu_put(CuContext *cu, void *device, const void *host, size_t bytes)
{
    if (!bytes)
        return;
    cu_put_pinned(cu, device, host, bytes);
    cu_wait(cu); /* the caller may write to `host` again at once */
}

void cu_get(CuContext *cu, void *host, const void *device, size_t bytes)
{
    if (!bytes)
        return;
    bool small = bytes <= PINNED;
    void *to = small ? cu->pinned : host;
    cu_get_pinned(cu, to, device, bytes);
    cu_wait(cu);
    if (small)
        memcpy(host, cu->pinned, bytes);
}

void cu_copy(CuContext *cu, void *to, const void *from, size_t bytes)
{
    if (bytes && to != from)
        cu_note_error(cu, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, cu->stream),
                      "copy");
}

void cu_zero(CuContext *cu, void *device, size_t bytes)
{
    if (bytes)
        cu_note_error(cu, cudaMemsetAsync(device, 0, bytes, cu->stream), "zero");
}

/* ---- sums ---- */

TalusStatus cu_board_reserve(CuContext *cu)
{
    size_t capacity = 0;
    if (cu->board)
        return TALUS_OK;
    TALUS_TRY(CU_RESERVE(cu->board, capacity, 1, "partial sums"));
    cu_zero(cu, cu->board, sizeof *cu->board);
    return TALUS_OK;
}

void cu_totals_get(CuContext *cu, int count, double *out)
{
    cu_get(cu, out, cu->totals, (size_t)count * sizeof *out);
    for (int k = 0; cu->first_error[0] && k < count; k++)
        out[k] = NAN; /* no stale totals: solvers stop at NaN */
}

void cu_totals_and_counts_get(CuContext *cu, double *totals, uint32_t *counts)
{
    Results found;
    cu_get(cu, &found, cu->totals, sizeof found);
    bool valid = !cu->first_error[0];
    for (int k = 0; k < CU_TOTALS; k++)
        totals[k] = valid ? found.totals[k] : NAN;
    for (int k = 0; k < CU_COUNTS; k++)
        counts[k] = valid ? found.counts[k] : 0;
}
