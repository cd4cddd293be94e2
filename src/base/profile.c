/* base/profile.c - seconds and bytes by stage and loop (profile.h). */
#include "base/profile.h"

#include "base/timer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512 };

static atomic_bool on;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static TalusProfileRow rows[ROWS]; /* the last one has all that found no place */
static int row_count;

static _Thread_local const char *stage = "";
static _Thread_local double expected_bytes;

void talus_profile_start(void)
{
    pthread_mutex_lock(&mutex);
    row_count = 0;
    pthread_mutex_unlock(&mutex);
    atomic_store(&on, true);
}

void talus_profile_stop(void)
{
    atomic_store(&on, false);
}

bool talus_profile_is_on(void)
{
    return atomic_load_explicit(&on, memory_order_relaxed);
}

const char *talus_profile_set_stage(const char *next)
{
    const char *before = stage;
    stage = next;
    return before;
}

void talus_profile_expect_bytes(double bytes)
{
    if (talus_profile_is_on())
        expected_bytes = bytes;
}

double talus_profile_expected_bytes(void)
{
    return talus_profile_is_on() ? expected_bytes : 0.0;
}

/* Texts are mostly literals, so that equal ones are mostly the same. */
static bool equals(const char *a, const char *b)
{
    return a == b || strcmp(a, b) == 0;
}

/* Returns the row of a loop in the present stage, a new one if there is none. */
static TalusProfileRow *find_row(const char *loop)
{
    for (int i = 0; i < row_count; i++)
        if (equals(rows[i].loop, loop) && equals(rows[i].stage, stage))
            return &rows[i];
    if (row_count == ROWS)
        return &rows[ROWS - 1];
    bool last = row_count == ROWS - 1;
    rows[row_count] =
        (TalusProfileRow){.stage = last ? "" : stage, .loop = last ? "further loops" : loop};
    return &rows[row_count++];
}

/* Adds a call; bytes 0: not known. */
static void add_call(const char *name, double seconds, double bytes)
{
    pthread_mutex_lock(&mutex);
    TalusProfileRow *row = find_row(name);
    row->calls++;
    row->seconds += seconds;
    if (bytes > 0.0) {
        row->bytes += bytes;
        row->known_seconds += seconds;
    }
    pthread_mutex_unlock(&mutex);
}

void talus_profile_add(const char *loop, double seconds)
{
    add_call(loop, seconds, expected_bytes);
    expected_bytes = 0.0;
}

void talus_profile_add_since(const char *name, double begun)
{
    if (talus_profile_is_on())
        add_call(name, talus_now() - begun, 0.0);
}

static int compare_seconds(const void *a, const void *b)
{
    double x = ((const TalusProfileRow *)a)->seconds, y = ((const TalusProfileRow *)b)->seconds;
    return (x < y) - (x > y);
}

int talus_profile_rows(TalusProfileRow *row, int limit)
{
    TalusProfileRow all[ROWS];
    pthread_mutex_lock(&mutex);
    int count = row_count;
    memcpy(all, rows, (size_t)count * sizeof *all);
    pthread_mutex_unlock(&mutex);
    qsort(all, (size_t)count, sizeof *all, compare_seconds);
    count = count < limit ? count : limit;
    memcpy(row, all, (size_t)count * sizeof *row);
    return count;
}
