/* backend/cuda/emulate.cu - see emulate.h. Empty in a build with nvcc. */
#ifdef TALUS_EMULATED

#include "backend/cuda/emulate.h"

#include <stdio.h>
#include <time.h>
#include <ucontext.h>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

struct EmulatedStream {
    int unused;
};

struct EmulatedGraph {
    std::vector<std::function<void()>> work;
};

static EmulatedStream the_stream;
static EmulatedGraph *capturing;

/* Runs the work now, or notes it for the graph that is being captured. */
static void submit(std::function<void()> work)
{
    if (capturing)
        capturing->work.push_back(std::move(work));
    else
        work();
}

/* ---- threads as coroutines ---- */

enum { STACK = 128 * 1024 };

static ucontext_t scheduler;
static std::vector<ucontext_t> thread_context;
/* Never destroyed: the stacks are kept to the end of the process. */
static std::vector<char *> &thread_stack = *new std::vector<char *>;
static std::vector<bool> finished;
static unsigned current;
static const std::function<void()> *running;
static bool in_coroutine;

static void thread_main(void)
{
    (*running)();
    finished[current] = true;
}

static void prepare_thread(unsigned t)
{
    if (t >= thread_context.size()) {
        thread_context.resize(t + 1);
        finished.resize(t + 1);
        thread_stack.push_back((char *)malloc(STACK));
    }
    finished[t] = false;
    getcontext(&thread_context[t]);
    thread_context[t].uc_stack.ss_sp = thread_stack[t];
    thread_context[t].uc_stack.ss_size = STACK;
    thread_context[t].uc_link = &scheduler;
    makecontext(&thread_context[t], thread_main, 0);
}

/* All threads run to their next barrier, over and over, until all have ended. */
static void run_block(const std::function<void()> &kernel)
{
    running = &kernel;
    in_coroutine = true;
    for (unsigned t = 0; t < blockDim.x; t++)
        prepare_thread(t);
    for (bool any = true; any;) {
        any = false;
        for (unsigned t = 0; t < blockDim.x; t++) {
            if (finished[t])
                continue;
            current = t;
            threadIdx = {t, 0, 0};
            swapcontext(&scheduler, &thread_context[t]);
            any = any || !finished[t];
        }
    }
    in_coroutine = false;
}

void __syncthreads(void)
{
    if (!in_coroutine) {
        fprintf(stderr, "emulation: __syncthreads in a kernel that was not started by launch_block\n");
        abort();
    }
    unsigned t = current;
    swapcontext(&thread_context[t], &scheduler);
    threadIdx = {t, 0, 0};
}

void emulate(unsigned blocks, unsigned threads, bool coroutines, std::function<void()> kernel)
{
    submit([=] {
        gridDim = {blocks, 1, 1};
        blockDim = {threads, 1, 1};
        for (unsigned b = 0; b < blocks; b++) {
            blockIdx = {b, 0, 0};
            if (coroutines) {
                run_block(kernel);
                continue;
            }
            for (unsigned t = 0; t < threads; t++) {
                threadIdx = {t, 0, 0};
                kernel();
            }
        }
    });
}

/* ---- runtime ---- */

/* What is new is filled with junk, so that nothing relies on zeros. */
cudaError_t cudaMalloc(void **p, size_t bytes)
{
    *p = malloc(bytes ? bytes : 1);
    if (!*p)
        return cudaErrorMemoryAllocation;
    memset(*p, 0xA5, bytes);
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **p, size_t bytes) { return cudaMalloc(p, bytes); }
cudaError_t cudaFreeHost(void *p) { return cudaFree(p); }

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    submit([=] {
        if (bytes)
            memmove(to, from, bytes);
    });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t)
{
    submit([=] {
        if (bytes)
            memset(p, value, bytes);
    });
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    *free = *total = (size_t)1 << 34;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = getenv("TALUS_NO_DEVICE") ? 0 : 1;
    return *count ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    memset(p, 0, sizeof *p);
    strcpy(p->name, "emulated on the host");
    p->totalGlobalMem = (size_t)1 << 34;
    p->multiProcessorCount = 2;
    p->l2CacheSize = 1 << 20;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorNoDevice ? "no CUDA-capable device is detected" : "emulated error";
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = &the_stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaStreamBeginCapture(cudaStream_t, int)
{
    capturing = new EmulatedGraph;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    *graph = capturing;
    capturing = nullptr;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = new EmulatedGraph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t)
{
    for (auto &work : exec->work)
        work();
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new double(0.0);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    *event = now();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(1e3 * (*to - *from));
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

#endif
