/* base/pool.c - a fork-join pool (pool.h, talus/backend.h).
 *
 * The caller starts a loop by raising `generation` and returns when every worker has written that number to its
 * `finished`. Each thread has a contiguous share of the chunks, the same in all loops with equally many chunks, so that
 * data that a thread wrote in one loop is in its cache for the next. A thread that has finished its share runs chunks
 * of the others. Waiting threads spin briefly, because the gaps between loops of one step are microseconds, then sleep
 * on a condition variable.
 *
 * A sweep of a solver is some ten loops of a few microseconds each, so what a loop costs besides its chunks counts. A
 * cache line that several threads write passes from core to core at about 0.1 us each time. So every number that is
 * polled has a line of its own, workers report on lines of their own, and a thread looks whether another's share has
 * chunks left before it takes one. */
#include "base/pool.h"

#include "base/memory.h"
#include "base/processors.h"
#include "base/profile.h"
#include "base/status.h"
#include "base/timer.h"

#include <pthread.h>
#include <stdatomic.h>

/* Number of polls before a waiting thread sleeps; smaller under ThreadSanitizer, where an atomic load is much slower,
 * and under AddressSanitizer, where what runs between loops is: tests side by side would take each other's processors. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SPINS = 200 };
#else
enum { SPINS = 20000 };
#endif
/* Maximum number of threads of a pool. */
enum { MAX_THREADS = 1024 };

/* One thread's share of a loop's chunks, on a cache line of its own. */
typedef struct Share {
    _Alignas(64) atomic_llong next; /* number of the next chunk to run */
    int64_t end;                    /* number after the last chunk of the share */
} Share;

/* One thread of the pool, on a cache line of its own. */
typedef struct Worker {
    _Alignas(64)
        atomic_uint finished; /* generation of the last loop that the worker has finished */
    TalusPool *pool;
    int index; /* 0 is the caller */
    pthread_t thread;
} Worker;

struct TalusPool {
    int threads;    /* the caller included */
    int spins;      /* polls before a waiting thread sleeps */
    Worker *worker; /* [threads] */
    Share *share;   /* [threads] */
    int started;    /* number of worker threads that run */

    /* The current loop: arguments of talus_parallel. */
    _Alignas(64) TalusLoopFn *fn;
    void *context;
    int64_t count, grain;

    _Alignas(64) atomic_uint generation; /* a change announces a new loop */
    _Alignas(64) atomic_bool quit;       /* workers end at the next announcement */
    atomic_int sleepers;                 /* number of workers that sleep on `wake` */
    atomic_bool caller_sleeps;           /* the caller sleeps on `done`, or is about to */
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
};

/* Tells the processor that this thread is spinning. */
static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Calls the function of the current loop for one chunk. */
static void run_chunk(const TalusPool *pool, int64_t chunk)
{
    int64_t begin = chunk * pool->grain;
    int64_t end = begin + pool->grain < pool->count ? begin + pool->grain : pool->count;
    pool->fn(pool->context, begin, end, chunk);
}

/* Runs the chunks of the thread's own share, then those left in the shares of the other threads. */
static void run_chunks(TalusPool *pool, int index)
{
    for (int k = 0; k < pool->threads; k++) {
        Share *share = &pool->share[(index + k) % pool->threads];
        while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end) {
            int64_t chunk = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
            if (chunk >= share->end)
                break;
            run_chunk(pool, chunk);
        }
    }
}

/* Divides the chunks of a loop among the threads; announce_loop publishes the shares. */
static void deal_shares(TalusPool *pool, int64_t chunks)
{
    for (int k = 0; k < pool->threads; k++) {
        atomic_store_explicit(&pool->share[k].next, chunks * k / pool->threads,
                              memory_order_relaxed);
        pool->share[k].end = chunks * (k + 1) / pool->threads;
    }
}

/* Waits until a loop is announced, that is until `generation` differs from `seen`, its value at the worker's last
 * loop. */
static void wait_for_loop(TalusPool *pool, unsigned seen)
{
    for (int i = 0; i < pool->spins; i++) {
        if (atomic_load(&pool->generation) != seen)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->generation) == seen)
        pthread_cond_wait(&pool->wake, &pool->mutex);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->mutex);
}

/* Main function of a worker thread: runs its part of every loop until the pool quits. */
static void *worker_main(void *argument)
{
    Worker *worker = argument;
    TalusPool *pool = worker->pool;
    unsigned seen = 0;
    for (;;) {
        wait_for_loop(pool, seen);
        seen++;
        if (atomic_load(&pool->quit))
            return NULL;
        run_chunks(pool, worker->index);
        atomic_store(&worker->finished, seen);
        if (atomic_load(&pool->caller_sleeps)) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
}

/* Announces a loop, or the end if pool->quit is set, and wakes sleeping workers. */
static void announce_loop(TalusPool *pool)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) || !pool->spins) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->mutex);
    }
}

/* Waits until the worker has left loop number `loop`. */
static void wait_for_worker(TalusPool *pool, Worker *worker, unsigned loop)
{
    for (int i = 0; i < pool->spins; i++) {
        if (atomic_load_explicit(&worker->finished, memory_order_acquire) == loop)
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_sleeps, true); /* a worker that finishes from here on signals */
    while (atomic_load(&worker->finished) != loop)
        pthread_cond_wait(&pool->done, &pool->mutex);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->mutex);
}

/* Waits until all workers have left the loop. */
static void wait_for_workers(TalusPool *pool)
{
    unsigned loop = atomic_load(&pool->generation);
    for (int i = 1; i <= pool->started; i++)
        wait_for_worker(pool, &pool->worker[i], loop);
}

static void run_loop(TalusPool *pool, int64_t count, int64_t grain, TalusLoopFn *fn, void *context)
{
    if (!pool || pool->started == 0 || count <= grain) {
        for (int64_t begin = 0; begin < count; begin += grain)
            fn(context, begin, begin + grain < count ? begin + grain : count, begin / grain);
        return;
    }
    pool->fn = fn;
    pool->context = context;
    pool->count = count;
    pool->grain = grain;
    deal_shares(pool, talus_chunks(count, grain));
    announce_loop(pool);
    run_chunks(pool, 0);
    wait_for_workers(pool);
}

void talus_parallel_named(TalusPool *pool, int64_t count, int64_t grain, TalusLoopFn *fn,
                          void *context, const char *name)
{
    if (!talus_profile_is_on()) {
        run_loop(pool, count, grain, fn, context);
        return;
    }
    double start = talus_now();
    run_loop(pool, count, grain, fn, context);
    talus_profile_add(name, talus_now() - start);
}

/* Allocates shares and workers, and starts all threads but the caller's. */
static TalusStatus start_workers(TalusPool *pool)
{
    TALUS_TRY(TALUS_ALLOC(pool->worker, (size_t)pool->threads, "thread pool"));
    TALUS_TRY(TALUS_ALLOC(pool->share, (size_t)pool->threads, "thread pool"));
    for (int i = 1; i < pool->threads; i++) {
        Worker *worker = &pool->worker[i];
        worker->pool = pool;
        worker->index = i;
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
            return talus_fail_key("threads", TALUS_ERR_MEMORY, "only %d of %d could be started", i,
                                  pool->threads);
        pool->started++;
    }
    return TALUS_OK;
}

TalusStatus talus_pool_create(int threads, TalusPool **out)
{
    *out = NULL;
    if (threads < 0 || threads > MAX_THREADS)
        return talus_fail_key("threads", TALUS_ERR_ARGUMENT, "%d is not between 0 and %d", threads,
                              MAX_THREADS);
    int processors = threads == 1 ? 1 : talus_count_processors();
    if (threads == 0)
        threads = processors > MAX_THREADS ? MAX_THREADS : processors;
    TalusPool *pool;
    TALUS_TRY(TALUS_ALLOC(pool, 1, "thread pool"));
    pool->threads = threads;
    /* with more threads than processors spinning wastes time */
    pool->spins = threads <= processors ? SPINS : 0;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    TalusStatus status = start_workers(pool);
    if (status != TALUS_OK) {
        talus_pool_destroy(pool);
        return status;
    }
    *out = pool;
    return TALUS_OK;
}

void talus_pool_destroy(TalusPool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->quit, true);
    announce_loop(pool);
    for (int i = 1; i <= pool->started; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->mutex);
    TALUS_RELEASE(pool->worker, pool->share, pool);
}

int talus_pool_threads(const TalusPool *pool)
{
    return pool ? pool->threads : 1;
}
