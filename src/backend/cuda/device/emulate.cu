/* backend/cuda/device/emulate.cu - the emulated CUDA runtime and the coroutines of emulate.h. Empty in a build with
 * nvcc. */
#ifdef TALUS_EMULATED

#include "backend/cuda/device/emulate.h"

#include <stdio.h>
#include <time.h>
#include <vector>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

/* Recorded work, in order. */
struct EmulatedGraph {
    std::vector<std::function<void()>> work;
};

struct EmulatedStream {
    EmulatedGraph *capturing; /* graph that records the stream's work; NULL: work runs at once */
};

/* Runs the work now or, while the stream captures a graph, records it there. */
static void submit_work(cudaStream_t stream, std::function<void()> work)
{
    if (stream->capturing)
        stream->capturing->work.push_back(std::move(work));
    else
        work();
}

/* ---- threads as coroutines ---- */

/* Bytes of a thread's stack. */
enum { STACK = 256 * 1024 };

/* Pushes the callee-saved registers, stores the stack pointer in *from, and resumes the thread whose stack pointer,
 * stored in the same way, is `to`. swapcontext would also save the signal mask, at a system call per switch.
 * SAVED_WORDS: 8-byte words at the top of a new thread's stack; SAVED_START: index of the word that is the address
 * where the thread starts. */
extern "C" void emulate_switch(void **from, void *to);

#if defined __aarch64__
enum { SAVED_WORDS = 20, SAVED_START = 11 };
asm(".text\n"
    ".globl emulate_switch\n"
    ".type emulate_switch, %function\n"
    "emulate_switch:\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp]\n"
    "stp x21, x22, [sp, #16]\n"
    "stp x23, x24, [sp, #32]\n"
    "stp x25, x26, [sp, #48]\n"
    "stp x27, x28, [sp, #64]\n"
    "stp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\n"
    "stp d10, d11, [sp, #112]\n"
    "stp d12, d13, [sp, #128]\n"
    "stp d14, d15, [sp, #144]\n"
    "mov x9, sp\n"
    "str x9, [x0]\n"
    "mov sp, x1\n"
    "ldp x19, x20, [sp]\n"
    "ldp x21, x22, [sp, #16]\n"
    "ldp x23, x24, [sp, #32]\n"
    "ldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\n"
    "ldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\n"
    "ldp d10, d11, [sp, #112]\n"
    "ldp d12, d13, [sp, #128]\n"
    "ldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\n"
    "ret\n"
    ".size emulate_switch, .-emulate_switch\n");
#elif defined __x86_64__
enum { SAVED_WORDS = 8, SAVED_START = 6 }; /* word 7: run_thread expects its return address there */
asm(".text\n"
    ".globl emulate_switch\n"
    ".type emulate_switch, @function\n"
    "emulate_switch:\n"
    "pushq %rbp\n"
    "pushq %rbx\n"
    "pushq %r12\n"
    "pushq %r13\n"
    "pushq %r14\n"
    "pushq %r15\n"
    "movq %rsp, (%rdi)\n"
    "movq %rsi, %rsp\n"
    "popq %r15\n"
    "popq %r14\n"
    "popq %r13\n"
    "popq %r12\n"
    "popq %rbx\n"
    "popq %rbp\n"
    "ret\n"
    ".size emulate_switch, .-emulate_switch\n");
#else
#error "TALUS_CUDA=EMULATED: emulate_switch is written for aarch64 and x86-64 alone"
#endif

/* A thread of the emulated block, as a coroutine. */
struct EmulatedThread {
    void *stack;
    void *at; /* stack pointer while the thread waits */
    bool finished;
    void *fiber; /* what ThreadSanitizer knows it as; NULL without that */
};

/* State of a host thread from kernel to kernel. */
struct Host {
    std::vector<EmulatedThread> thread;
    std::vector<char> scratch; /* of emulated_scratch */
    std::vector<char> shared;  /* of emulated_shared */
    ~Host()
    {
        for (EmulatedThread &t : thread) {
#ifdef __SANITIZE_THREAD__
            __tsan_destroy_fiber(t.fiber);
#endif
            free(t.stack);
        }
    }
};

static thread_local Host host;
static __thread void *scheduler;       /* stack pointer of run_block, while a coroutine runs */
static __thread void *scheduler_fiber; /* EmulatedThread.fiber of run_block */
static __thread unsigned current;      /* index in its block of the coroutine that runs */
static __thread const std::function<void()> *running; /* kernel of run_block */
static __thread bool in_coroutine;                    /* run_block is running */

/* emulate_switch, of which ThreadSanitizer is told. */
static void switch_to(void **from, void *to, void *fiber)
{
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(fiber, 0);
#else
    (void)fiber;
#endif
    emulate_switch(from, to);
}

/* Gives the coroutine a new fiber. */
static void renew_fiber(EmulatedThread *t)
{
#ifdef __SANITIZE_THREAD__
    if (t->fiber)
        __tsan_destroy_fiber(t->fiber);
    t->fiber = __tsan_create_fiber(0);
    scheduler_fiber = __tsan_get_current_fiber();
#else
    (void)t;
#endif
}

/* First function of a coroutine: runs the kernel as thread `current`, then returns to run_block for good. */
static void run_thread(void)
{
    (*running)();
    host.thread[current].finished = true;
    switch_to(&host.thread[current].at, scheduler, scheduler_fiber);
}

void *emulated_scratch(size_t bytes)
{
    enum { MOST_THREADS = 1024 };
    if (host.scratch.size() < MOST_THREADS * bytes)
        host.scratch.resize(MOST_THREADS * bytes);
    return host.scratch.data();
}

void *emulated_shared(size_t bytes)
{
    if (host.shared.size() < bytes)
        host.shared.resize(bytes);
    return host.shared.data();
}

/* Makes thread t of a block start at run_thread at the next switch to it. Its stack is reused from kernel to
 * kernel. */
static void prepare_thread(unsigned t)
{
    if (t >= host.thread.size())
        host.thread.push_back({aligned_alloc(16, STACK), nullptr, false, nullptr});
    renew_fiber(&host.thread[t]);
    uintptr_t *at = (uintptr_t *)((char *)host.thread[t].stack + STACK) - SAVED_WORDS;
    memset(at, 0, SAVED_WORDS * sizeof *at);
    at[SAVED_START] = (uintptr_t)run_thread;
    host.thread[t].at = at;
    host.thread[t].finished = false;
}

/* Runs each thread of a block to its next barrier or its end, again and again until all have ended. */
static void run_block(const std::function<void()> &kernel)
{
    running = &kernel;
    in_coroutine = true;
    for (unsigned t = 0; t < blockDim.x; t++)
        prepare_thread(t);
    for (bool any = true; any;) {
        any = false;
        for (unsigned t = 0; t < blockDim.x; t++) {
            if (host.thread[t].finished)
                continue;
            current = t;
            threadIdx = {t, 0, 0};
            switch_to(&scheduler, host.thread[t].at, host.thread[t].fiber);
            any = any || !host.thread[t].finished;
        }
    }
    in_coroutine = false;
}

void __syncthreads(void)
{
    if (!in_coroutine) {
        fprintf(stderr,
                "emulation: __syncthreads in a kernel that was not started by launch_block\n");
        abort();
    }
    unsigned t = current;
    switch_to(&host.thread[t].at, scheduler, scheduler_fiber);
    threadIdx = {t, 0, 0};
}

void emulate_kernel(cudaStream_t stream, unsigned blocks, unsigned threads, bool coroutines,
                    std::function<void()> kernel)
{
    submit_work(stream, [=] {
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

/* Fills new memory with junk, so that no code relies on zeros. */
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

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    return cudaMalloc(p, bytes);
}
cudaError_t cudaFreeHost(void *p)
{
    return cudaFree(p);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream)
{
    submit_work(stream, [=] {
        if (bytes)
            memmove(to, from, bytes);
    });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    submit_work(stream, [=] {
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

cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}

/* There is one device. */
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
    *can = 0;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
    return cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorNoDevice ? "no CUDA-capable device is detected" : "emulated error";
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = new EmulatedStream{nullptr};
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int)
{
    stream->capturing = new EmulatedGraph;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = stream->capturing;
    stream->capturing = nullptr;
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

/* Returns a time in seconds, from an arbitrary start. */
static double seconds_now(void)
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

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    return cudaEventCreate(event);
}

/* What was recorded has been done. */
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned)
{
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    *event = seconds_now();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}

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
