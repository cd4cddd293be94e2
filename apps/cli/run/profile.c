/* cli/run/profile.c - where the time and the memory of a run went (--profile). */
#include "run.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/profile.h"
#include "base/timer.h"

#include <math.h>
#include <string.h>

/* Rows that are read, and lines of the table of memory. */
enum { LOOPS = 512, NAMES = 40 };

/* Loops and names with less than this share of the whole are left out of the tables. */
static const double least_share = 0.005;

/* ---- the speed of a copy ---- */

/* COPY_BYTES: a multiple of any cache. COPY_GRAIN: bytes per chunk. */
enum { COPY_BYTES = 1 << 28, COPY_GRAIN = 1 << 20, COPIES = 3 };

typedef struct Copy {
    char *from, *to;
} Copy;

static void copy_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Copy *copy = context;
    (void)chunk;
    memcpy(copy->to + begin, copy->from + begin, (size_t)(end - begin));
}

/* Returns the bytes per second, read and written, of a copy by the threads of a run; 0 if memory is lacking. */
static double measure_copy(int threads)
{
    Copy copy = {0};
    TalusPool *pool = NULL;
    double best = 0.0;
    if (talus_pool_create(threads, &pool) == TALUS_OK &&
        TALUS_ALLOC(copy.from, COPY_BYTES, "copy") == TALUS_OK &&
        TALUS_ALLOC(copy.to, COPY_BYTES, "copy") == TALUS_OK)
        for (int k = 0; k < COPIES; k++) {
            double start = talus_now();
            talus_parallel(pool, COPY_BYTES, COPY_GRAIN, copy_chunk, &copy);
            best = fmax(best, 2.0 * COPY_BYTES / (talus_now() - start));
        }
    talus_release(copy.from);
    talus_release(copy.to);
    talus_pool_destroy(pool);
    return best;
}

/* ---- tables ---- */

static void print_loop(const TalusProfileRow *row, double wall, double copy, FILE *out)
{
    fprintf(out, "  %-9s %-44s %9lld %9.3f %6.1f", row->stage, row->loop, (long long)row->calls,
            row->seconds, 100.0 * row->seconds / wall);
    if (row->known_seconds > 0.0 && copy > 0.0)
        fprintf(out, " %8.1f %7.0f", 1e-9 * row->bytes / row->known_seconds,
                100.0 * row->bytes / row->known_seconds / copy);
    fputc('\n', out);
}

static void print_loops(const Run *run, FILE *out)
{
    static TalusProfileRow row[LOOPS];
    int count = talus_profile_rows(row, LOOPS);
    double wall = run->clock.wall - run->clock.setup - run->clock.paused, rest = wall;
    double copy = measure_copy(talus_world_threads(run->world));
    fprintf(out, "\nLoops; a copy moves %.1f GB/s\n", 1e-9 * copy);
    fprintf(out, "  %-9s %-44s %9s %9s %6s %8s %7s\n", "stage", "loop", "calls", "s", "%", "GB/s",
            "% copy");
    for (int i = 0; i < count; i++) {
        rest -= row[i].seconds;
        if (row[i].seconds > least_share * wall)
            print_loop(&row[i], wall, copy, out);
    }
    fprintf(out, "  %-9s %-44s %9s %9.3f %6.1f\n", "", "outside loops", "", rest,
            100.0 * rest / wall);
}

static void print_memory(const Run *run, FILE *out)
{
    TalusMemoryUse use[NAMES];
    int count = talus_memory_uses(use, NAMES), bodies = talus_world_body_count(run->world);
    double per_body = 1.0 / (bodies > 0 ? bodies : 1), peak = (double)talus_memory_peak();
    fprintf(out, "\nMemory of the host, at the peak of each name\n");
    fprintf(out, "  %-44s %10s %12s\n", "name", "MB", "bytes a body");
    for (int i = 0; i < count && (double)use[i].peak > least_share * peak; i++)
        fprintf(out, "  %-44s %10.2f %12.1f\n", use[i].name, 1e-6 * (double)use[i].peak,
                per_body * (double)use[i].peak);
    fprintf(out, "  %-44s %10.2f %12.1f\n", "all at once, at the peak", 1e-6 * peak,
            per_body * peak);
}

void run_print_profile(const Run *run, FILE *out)
{
    talus_profile_stop();
    print_memory(run, out); /* before the copy adds to it */
    print_loops(run, out);
}
