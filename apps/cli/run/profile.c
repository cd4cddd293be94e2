/* cli/run/profile.c - where the time and the memory of a run went (--profile). */
#include "run.h"

#include "backend/backend.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/profile.h"
#include "base/timer.h"
#include "cli/page.h"

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

/* Returns the number of ranks whose loops are measured: those that are threads of this process. */
static int ranks_here(const Run *run)
{
    return talus_mpi_is_launched() ? 1 : talus_comm_size(run->comm);
}

/* Writes the loops, of several ranks the mean of each; returns their number. */
static int get_loops(const Run *run, TalusProfileRow row[LOOPS])
{
    const int count = talus_profile_rows(row, LOOPS), ranks = ranks_here(run);
    for (int k = 0; k < count; k++) {
        row[k].calls /= ranks;
        row[k].seconds /= ranks;
        row[k].known_seconds /= ranks;
        row[k].bytes /= ranks;
    }
    return count;
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

/* What one thread did alone in a stage, or in all that is no stage (""). */
typedef struct OutsideLoops {
    const char *stage;
    double seconds;
} OutsideLoops;

enum { STAGES = 5 };

/* Sets `rest` to the seconds of each stage that no loop of it has. */
static void find_outside_loops(const Run *run, const TalusProfileRow *row, int count,
                               OutsideLoops rest[STAGES])
{
    const RunClock *c = &run->clock;
    double stages = c->detect + c->build + c->solve + c->integrate;
    const OutsideLoops all[STAGES] = {{"detect", c->detect},
                                      {"build", c->build},
                                      {"solve", c->solve},
                                      {"integrate", c->integrate},
                                      {"", stepping_seconds(run) - stages}};
    memcpy(rest, all, sizeof all);
    for (int k = 0; k < STAGES; k++)
        for (int i = 0; i < count; i++)
            if (strcmp(row[i].stage, rest[k].stage) == 0)
                rest[k].seconds -= row[i].seconds;
}

static void print_loops(const Run *run, FILE *out)
{
    static TalusProfileRow row[LOOPS];
    OutsideLoops rest[STAGES];
    int count = get_loops(run, row);
    double all = stepping_seconds(run);
    fprintf(out, "\nTime of the steps, by loop; GB/s of what a loop must move, a copy moves %.1f\n",
            1e-9 * run->copy_speed);
    fprintf(out, "  %-9s %-44s %9s %9s %6s %8s %7s\n", "stage", "loop", "calls", "s", "%", "GB/s",
            "% copy");
    for (int i = 0; i < count; i++)
        if (row[i].seconds > least_share * all)
            print_loop(&row[i], all, run->copy_speed, out);
    find_outside_loops(run, row, count, rest);
    for (int k = 0; k < STAGES; k++)
        fprintf(out, "  %-9s %-44s %9s %9.3f %6.1f\n", rest[k].stage, "outside loops", "",
                rest[k].seconds, 100.0 * rest[k].seconds / all);
}

/* Writes a row: bytes at the peak of its name, and bytes for each body at the common peak. */
static void print_bytes(const Run *run, const char *name, double bytes, double at_highest,
                        FILE *out)
{
    const double bodies = (double)talus_world_body_count(run->world);
    double per_body = 1.0 / fmax(1.0, bodies);
    fprintf(out, "  %-44s %9.2f %12.1f %12.1f\n", name, 1e-6 * bytes, bytes * per_body,
            at_highest * per_body);
}

static void print_memory(const Run *run, FILE *out)
{
    TalusMemoryUse use[NAMES];
    int count = talus_memory_uses(use, NAMES);
    double peak = (double)talus_memory_highest(), device = device_bytes(run);
    fprintf(out,
            "\nMemory, by name of its arrays, each at its own peak and all at their common one\n"
            "  %-44s %9s %12s %12s\n",
            "name", "MB", "bytes a body", "common peak");
    for (int i = 0; i < count && (double)use[i].peak > least_share * peak; i++)
        print_bytes(run, use[i].name, (double)use[i].peak, (double)use[i].at_highest, out);
    print_bytes(run, "all names together, at their common peak", peak, peak, out);
    if (device > 0.0)
        print_bytes(run, "on the GPU, at the end", device, device, out);
}

void run_profile_print(const Run *run, FILE *out)
{
    print_loops(run, out);
    print_memory(run, out);
}

/* ---- JSON ---- */

static void write_loops(const Run *run, JsonOut *json)
{
    static TalusProfileRow row[LOOPS];
    int count = get_loops(run, row);
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
        json_write_int(json, "bytes_at_peak", (int64_t)use[i].at_highest);
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
    write_loops(run, json);
    write_memory(run, json);
    json_close_object(json);
}

/* ---- the page ---- */

/* Joins each two entries into one, so that there is place for as many again. All entries are full. */
static void halve_stage_means(RunStageTimes *t)
{
    for (int i = 0; i < t->count / 2; i++) {
        const RunStageMean *p = &t->mean[2 * i], *q = p + 1;
        t->mean[i] =
            (RunStageMean){q->time, 0.5 * (p->detect + q->detect), 0.5 * (p->build + q->build),
                           0.5 * (p->solve + q->solve), 0.5 * (p->integrate + q->integrate)};
    }
    t->count /= 2;
    t->steps *= 2;
}

void run_profile_add_step(Run *run, const TalusStepInfo *info)
{
    RunStageTimes *t = &run->stage_times;
    if (t->steps == 0)
        t->steps = 1;
    if (t->count == 0 || t->latest == t->steps) {
        if (t->count == RUN_STAGE_MEANS)
            halve_stage_means(t);
        t->mean[t->count++] = (RunStageMean){0};
        t->latest = 0;
    }
    RunStageMean *m = &t->mean[t->count - 1];
    double old = (double)t->latest, all = (double)++t->latest;
    m->time = talus_world_time(run->world);
    m->detect = (old * m->detect + info->detect_seconds) / all;
    m->build = (old * m->build + info->build_seconds) / all;
    m->solve = (old * m->solve + info->solve_seconds) / all;
    m->integrate = (old * m->integrate + info->integrate_seconds) / all;
}

/* Opens a table with this title and these columns, up to NULL, and its rows. */
static void open_table(JsonOut *json, const char *title, const char *const *columns)
{
    json_open_object(json, NULL);
    json_write_text(json, "title", title);
    json_open_array(json, "columns");
    for (; *columns; columns++)
        json_write_text(json, NULL, *columns);
    json_close_array(json);
    json_open_array(json, "rows");
}

static void close_table(JsonOut *json, const char *note)
{
    json_close_array(json);
    json_write_text(json, "note", note);
    json_close_object(json);
}

/* Writes a number with these decimals as a cell of a table; an empty cell if decimals is negative. */
static void write_cell(JsonOut *json, int decimals, double value)
{
    char text[32] = "";
    if (decimals >= 0)
        snprintf(text, sizeof text, "%.*f", decimals, value);
    json_write_text(json, NULL, text);
}

/* Writes a row of the table of loops; calls and speed, bytes/s, are left out where they are 0. */
static void write_loop_row(const Run *run, JsonOut *json, const TalusProfileRow *row, double speed)
{
    json_open_array(json, NULL);
    json_write_text(json, NULL, row->stage);
    json_write_text(json, NULL, row->loop);
    write_cell(json, row->calls ? 0 : -1, (double)row->calls);
    write_cell(json, 3, row->seconds);
    write_cell(json, 1, 100.0 * row->seconds / stepping_seconds(run));
    write_cell(json, speed > 0.0 ? 1 : -1, 1e-9 * speed);
    write_cell(json, speed > 0.0 ? 0 : -1, 100.0 * speed / run->copy_speed);
    json_close_array(json);
}

static void write_loop_table(const Run *run, JsonOut *json)
{
    static const char *const columns[] = {"stage", "loop", "calls",  "s",
                                          "%",     "GB/s", "% copy", NULL};
    static TalusProfileRow row[LOOPS];
    OutsideLoops rest[STAGES];
    char note[128];
    int count = get_loops(run, row);
    double all = stepping_seconds(run);
    open_table(json, "Time of the steps, by loop", columns);
    for (int i = 0; i < count; i++)
        if (row[i].seconds > least_share * all)
            write_loop_row(run, json, &row[i], run->copy_speed > 0.0 ? loop_speed(&row[i]) : 0.0);
    find_outside_loops(run, row, count, rest);
    for (int k = 0; k < STAGES; k++) {
        TalusProfileRow outside = {
            .stage = rest[k].stage, .loop = "outside loops", .seconds = rest[k].seconds};
        write_loop_row(run, json, &outside, 0.0);
    }
    snprintf(note, sizeof note,
             "All steps took %.3f s. GB/s: of what a loop must move; a copy moves %.1f GB/s.", all,
             1e-9 * run->copy_speed);
    close_table(json, note);
}

static void write_memory_row(const Run *run, JsonOut *json, const char *name, double bytes,
                             double at_highest)
{
    const double bodies = (double)talus_world_body_count(run->world);
    json_open_array(json, NULL);
    json_write_text(json, NULL, name);
    write_cell(json, 2, 1e-6 * bytes);
    write_cell(json, 1, bytes / fmax(1.0, bodies));
    write_cell(json, 1, at_highest / fmax(1.0, bodies));
    json_close_array(json);
}

static void write_memory_table(const Run *run, JsonOut *json)
{
    static const char *const columns[] = {"array", "MB", "bytes a body",
                                          "bytes a body at the common peak", NULL};
    static TalusMemoryUse use[LOOPS];
    int count = talus_memory_uses(use, LOOPS);
    double peak = (double)talus_memory_highest();
    open_table(json, "Memory, by name of its arrays", columns);
    for (int i = 0; i < count && (double)use[i].peak > least_share * peak; i++)
        write_memory_row(run, json, use[i].name, (double)use[i].peak, (double)use[i].at_highest);
    write_memory_row(run, json, "all names together", peak, peak);
    if (device_bytes(run) > 0.0)
        write_memory_row(run, json, "on the GPU, at the end", device_bytes(run), device_bytes(run));
    close_table(json, "Each name at its own peak, all together at their common one.");
}

/* Writes a curve: the mean of the stage whose seconds are `offset` bytes into RunStageMean, ms over simulated time. */
static void write_stage_curve(const Run *run, JsonOut *json, const char *name, size_t offset)
{
    const RunStageTimes *t = &run->stage_times;
    double x[RUN_STAGE_MEANS], y[RUN_STAGE_MEANS];
    for (int i = 0; i < t->count; i++) {
        x[i] = t->mean[i].time;
        memcpy(&y[i], (const char *)&t->mean[i] + offset, sizeof y[i]);
        y[i] *= 1e3;
    }
    json_open_object(json, NULL);
    json_write_text(json, "name", name);
    json_write_reals(json, "x", x, (size_t)t->count);
    json_write_reals(json, "y", y, (size_t)t->count);
    json_close_object(json);
}

static void write_stage_figure(const Run *run, JsonOut *json)
{
    json_open_object(json, NULL);
    json_write_text(json, "title", "Time of a step, by stage");
    json_write_text(json, "x", "simulated time, s");
    json_write_text(json, "y", "ms per step");
    json_open_array(json, "curves");
    write_stage_curve(run, json, "detect", offsetof(RunStageMean, detect));
    write_stage_curve(run, json, "build", offsetof(RunStageMean, build));
    write_stage_curve(run, json, "solve", offsetof(RunStageMean, solve));
    write_stage_curve(run, json, "integrate", offsetof(RunStageMean, integrate));
    json_close_array(json);
    json_close_object(json);
}

/* PageData of profile.html; `user` is the Run. */
static void write_page_data(void *user, JsonOut *json)
{
    const Run *run = user;
    char title[RUN_TEXT_MAX], note[128];
    snprintf(title, sizeof title, "Profile of %s", run->settings.scene);
    snprintf(note, sizeof note, "%lld steps of %lld bodies, backend %s.",
             (long long)(talus_world_steps(run->world) - run->first_step),
             (long long)talus_world_body_count(run->world), talus_world_backend(run->world));
    json_open_object(json, NULL);
    page_write_head(json, title, "run", talus_world_threads(run->world));
    json_open_array(json, "notes");
    json_write_text(json, NULL, note);
    json_close_array(json);
    json_open_array(json, "tables");
    write_loop_table(run, json);
    write_memory_table(run, json);
    json_close_array(json);
    json_open_array(json, "figures");
    write_stage_figure(run, json);
    json_close_array(json);
    json_close_object(json);
}

TalusStatus run_profile_write_page(const Run *run)
{
    return run->dir ? page_write_report(run->dir, "profile.html", write_page_data, (void *)run)
                    : TALUS_OK;
}
