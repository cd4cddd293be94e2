/* cli/run/profile.c - where the time and the memory of a run went (--profile). */
#include "run.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/profile.h"
#include "base/timer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are read, and lines of the table of memory. */
enum { LOOPS = 512, NAMES = 40 };

/* Loops and names with less than this share of the whole are left out of the tables. */
static const double least_share = 0.005;

/* ---- the speed of a copy ---- */

/* COPY_BYTES: more than most caches hold. COPY_GRAIN: bytes per chunk. */
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

/* Returns the bytes per second of a copy by this many threads; 0 if memory is lacking. The copy is not memory of the
 * run, so it is not counted as the library's. */
static double measure_host_copy(int threads)
{
    Copy copy = {.from = calloc(COPY_BYTES, 1), .to = calloc(COPY_BYTES, 1)};
    TalusPool *pool = NULL;
    double best = 0.0;
    if (copy.from) /* pages never written would all be read from one page of zeros */
        memset(copy.from, 1, COPY_BYTES);
    if (copy.from && copy.to && talus_pool_create(threads, &pool) == TALUS_OK)
        for (int k = 0; k < COPIES; k++) {
            double start = talus_now();
            talus_parallel(pool, COPY_BYTES, COPY_GRAIN, copy_chunk, &copy);
            best = fmax(best, 2.0 * COPY_BYTES / (talus_now() - start));
        }
    free(copy.from);
    free(copy.to);
    talus_pool_destroy(pool);
    return best;
}

/* ---- figures ---- */

void run_profile_finish(Run *run)
{
    const TalusBackend *backend = talus_backend_find(talus_world_backend(run->world));
    talus_profile_stop();
    run->copy_speed = backend && backend->copy_speed
                          ? backend->copy_speed()
                          : measure_host_copy(talus_world_threads(run->world));
}

/* Returns the seconds of all steps, with their output. */
static double stepping_seconds(const Run *run)
{
    return run->clock.wall - run->clock.setup - run->clock.paused;
}

/* Returns the speed at which a loop moves the bytes that it must move, bytes/s; 0 if these are not known. */
static double loop_speed(const TalusProfileRow *row)
{
    return row->known_seconds > 0.0 ? row->bytes / row->known_seconds : 0.0;
}

/* Returns the bytes of device memory in use; 0 on the host. */
static double device_bytes(const Run *run)
{
    const TalusBackend *backend = talus_backend_find(talus_world_backend(run->world));
    return backend && backend->memory ? (double)backend->memory() : 0.0;
}

/* ---- tables ---- */

static void print_loop(const TalusProfileRow *row, double all, double copy, FILE *out)
{
    fprintf(out, "  %-9s %-44s %9" PRId64 " %9.3f %6.1f", row->stage, row->loop, row->calls,
            row->seconds, 100.0 * row->seconds / all);
    if (loop_speed(row) > 0.0 && copy > 0.0)
        fprintf(out, " %8.1f %7.0f", 1e-9 * loop_speed(row), 100.0 * loop_speed(row) / copy);
    fputc('\n', out);
}

/* Prints the seconds of a stage, or of all that is no stage, that no loop of it has. */
static void print_rest(const char *stage, double seconds, const TalusProfileRow *row, int count,
                       double all, FILE *out)
{
    for (int i = 0; i < count; i++)
        seconds -= strcmp(row[i].stage, stage) == 0 ? row[i].seconds : 0.0;
    fprintf(out, "  %-9s %-44s %9s %9.3f %6.1f\n", stage, "outside loops", "", seconds,
            100.0 * seconds / all);
}

static void print_loops(const Run *run, FILE *out)
{
    static TalusProfileRow row[LOOPS];
    const RunClock *c = &run->clock;
    int count = talus_profile_rows(row, LOOPS);
    double all = stepping_seconds(run);
    fprintf(out, "\nTime of the steps, by loop; GB/s of what a loop must move, a copy moves %.1f\n",
            1e-9 * run->copy_speed);
    fprintf(out, "  %-9s %-44s %9s %9s %6s %8s %7s\n", "stage", "loop", "calls", "s", "%", "GB/s",
            "% copy");
    for (int i = 0; i < count; i++)
        if (row[i].seconds > least_share * all)
            print_loop(&row[i], all, run->copy_speed, out);
    print_rest("detect", c->detect, row, count, all, out);
    print_rest("build", c->build, row, count, all, out);
    print_rest("solve", c->solve, row, count, all, out);
    print_rest("integrate", c->integrate, row, count, all, out);
    print_rest("", all - c->detect - c->build - c->solve - c->integrate, row, count, all, out);
}

static void print_bytes(const Run *run, const char *name, double bytes, FILE *out)
{
    int bodies = talus_world_body_count(run->world);
    fprintf(out, "  %-54s %9.2f %12.1f\n", name, 1e-6 * bytes, bytes / (bodies > 0 ? bodies : 1));
}

static void print_memory(const Run *run, FILE *out)
{
    TalusMemoryUse use[NAMES];
    int count = talus_memory_uses(use, NAMES);
    double peak = (double)talus_memory_highest(), device = device_bytes(run);
    fprintf(out, "\nMemory, by name of its arrays, each at its own peak\n  %-54s %9s %12s\n",
            "name", "MB", "bytes a body");
    for (int i = 0; i < count && (double)use[i].peak > least_share * peak; i++)
        print_bytes(run, use[i].name, (double)use[i].peak, out);
    print_bytes(run, "all names together, at their common peak", peak, out);
    if (device > 0.0)
        print_bytes(run, "on the GPU, at the end", device, out);
}

void run_profile_print(const Run *run, FILE *out)
{
    print_loops(run, out);
    print_memory(run, out);
}

/* ---- JSON ---- */

static void write_loops(JsonOut *json)
{
    static TalusProfileRow row[LOOPS];
    int count = talus_profile_rows(row, LOOPS);
    json_open_array(json, "loops");
    for (int i = 0; i < count; i++) {
        json_open_object(json, NULL);
        json_write_text(json, "stage", row[i].stage);
        json_write_text(json, "loop", row[i].loop);
        json_write_int(json, "calls", row[i].calls);
        json_write_real(json, "seconds", row[i].seconds);
        if (loop_speed(&row[i]) > 0.0)
            json_write_real(json, "bytes_per_second", loop_speed(&row[i]));
        json_close_object(json);
    }
    json_close_array(json);
}

static void write_memory(const Run *run, JsonOut *json)
{
    static TalusMemoryUse use[LOOPS];
    int count = talus_memory_uses(use, LOOPS);
    json_open_array(json, "memory");
    for (int i = 0; i < count; i++) {
        json_open_object(json, NULL);
        json_write_text(json, "name", use[i].name);
        json_write_int(json, "bytes", (int64_t)use[i].peak);
        json_close_object(json);
    }
    json_close_array(json);
    json_write_int(json, "memory_peak", (int64_t)talus_memory_highest());
    if (device_bytes(run) > 0.0)
        json_write_int(json, "device_memory", (int64_t)device_bytes(run));
}

void run_profile_write_json(const Run *run, JsonOut *json)
{
    json_open_object(json, "profile");
    json_write_real(json, "seconds", stepping_seconds(run));
    json_write_real(json, "copy_bytes_per_second", run->copy_speed);
    write_loops(json);
    write_memory(run, json);
    json_close_object(json);
}
