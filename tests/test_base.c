/* The ground everything stands on: pool, memory, messages, parameters, hash, random numbers. */

#include "support/test.h"

#include "base/crc.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/param.h"
#include "base/pool.h"
#include "base/processors.h"
#include "base/profile.h"
#include "base/rng.h"
#include "base/runs.h"
#include "base/status.h"
#include "base/timer.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <talus/world.h>

/* ---- pool ---- */

enum { MOST_ITEMS = 20000 };

typedef struct Visits {
    atomic_int item[MOST_ITEMS];
    atomic_int chunk[MOST_ITEMS];
    int64_t grain, count;
    atomic_int wrong;
} Visits;

static Visits visits;

static void visit(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    Visits *v = context;
    int64_t whole = begin + v->grain;
    if (begin != chunk * v->grain || end != (whole < v->count ? whole : v->count))
        atomic_fetch_add(&v->wrong, 1);
    atomic_fetch_add(&v->chunk[chunk], 1);
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&v->item[i], 1);
}

/* Every item and every chunk once, nothing beyond. */
static bool visited_once(TalusPool *pool, int64_t count, int64_t grain)
{
    memset(&visits, 0, sizeof visits);
    visits.grain = grain;
    visits.count = count;
    talus_parallel(pool, count, grain, visit, &visits);
    bool ok = atomic_load(&visits.wrong) == 0;
    for (int64_t i = 0; i < MOST_ITEMS && ok; i++)
        ok = atomic_load(&visits.item[i]) == (i < count) &&
             atomic_load(&visits.chunk[i]) == (i < talus_chunks(count, grain));
    return CHECK(ok);
}

TEST(pool_visits_every_chunk_once)
{
    const int threads[] = {1, 2, 3, 8}; /* more than this machine may have */
    const int64_t counts[] = {0, 1, 2, 63, 64, 65, 511, 512, 513, 4097, MOST_ITEMS};
    const int64_t grains[] = {1, 64, 512, 5000};
    CHECK(visited_once(NULL, 1000, 7));
    for (int t = 0; t < 4; t++) {
        TalusPool *pool = NULL;
        REQUIRE_OK(talus_pool_create(threads[t], &pool));
        CHECK_INT(talus_pool_threads(pool), threads[t]);
        for (int c = 0; c < 11; c++)
            for (int g = 0; g < 4; g++)
                visited_once(pool, counts[c], grains[g]);
        talus_pool_destroy(pool);
    }
}

static void add_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    double *partial = context, sum = 0.0;
    for (int64_t i = begin; i < end; i++)
        sum += 1.0 / (double)(i + 1);
    partial[chunk] = sum;
}

/* Many short loops in a row, with pauses that send the workers to sleep: what a step does. */
TEST(pool_is_used_again_and_again)
{
    double expected[40], partial[40];
    for (int threads = 1; threads <= 8; threads += 7) {
        TalusPool *pool = NULL;
        REQUIRE_OK(talus_pool_create(threads, &pool));
        talus_parallel(NULL, 4000, 100, add_chunk, expected);
        for (int i = 0; i < 2000; i++) {
            memset(partial, 0, sizeof partial);
            talus_parallel(pool, 4000, 100, add_chunk, partial);
            if (memcmp(partial, expected, sizeof partial) != 0) {
                CHECK(!"the sums of chunks differ");
                break;
            }
            if (i % 500 == 0) {
                struct timespec nap = {0, 2000000};
                nanosleep(&nap, NULL);
            }
        }
        talus_pool_destroy(pool);
    }
}

/* A loop's function may use other pools, and NULL. */
static void loop_inside(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    double *sums = context, partial[10];
    (void)end;
    (void)chunk;
    talus_parallel(NULL, 100, 10, add_chunk, partial);
    sums[begin] = partial[0] + partial[9];
}

TEST(pool_loops_may_hold_serial_loops)
{
    TalusPool *pool = NULL;
    double sums[64];
    REQUIRE_OK(talus_pool_create(3, &pool));
    talus_parallel(pool, 64, 1, loop_inside, sums);
    for (int i = 1; i < 64; i++)
        CHECK(sums[i] == sums[0]);
    talus_pool_destroy(pool);
}

TEST(pools_live_side_by_side_and_die_unused)
{
    TalusPool *pools[8] = {NULL};
    for (int i = 0; i < 8; i++)
        CHECK_OK(talus_pool_create(i, &pools[i]));
    CHECK(talus_pool_threads(pools[0]) >= 1);
    CHECK_INT(talus_pool_threads(NULL), 1);
    visited_once(pools[3], 5000, 64);
    visited_once(pools[5], 5000, 64);
    for (int i = 0; i < 8; i++)
        talus_pool_destroy(pools[i]);
    talus_pool_destroy(NULL);
}

TEST(pool_refuses_odd_sizes)
{
    TalusPool *pool = NULL;
    CHECK_INT(talus_pool_create(-1, &pool), TALUS_ERR_ARGUMENT);
    CHECK_STR(talus_error(), "threads: -1 is not between 0 and 1024");
    CHECK_INT(talus_pool_create(1025, &pool), TALUS_ERR_ARGUMENT);
    for (long n = 1; n <= 2; n++) {
        talus_fail_allocation_in(n);
        CHECK_INT(talus_pool_create(2, &pool), TALUS_ERR_MEMORY);
        CHECK(!pool);
    }
    talus_fail_allocation_in(0);
}

/* ---- profile ---- */

TEST(profile_counts_loops_by_stage)
{
    TalusProfileRow row[8];
    TalusPool *pool;
    double sum[4];
    REQUIRE_OK(talus_pool_create(2, &pool));
    talus_parallel(pool, 4, 1, add_chunk, sum); /* no profile is on */
    talus_profile_start();
    CHECK(talus_profile_is_on());
    CHECK_INT(talus_profile_rows(row, 8), 0);
    CHECK_STR(talus_profile_set_stage("first"), "");
    talus_parallel(pool, 4, 1, add_chunk, sum);
    talus_profile_expect_bytes(64.0);
    talus_parallel(NULL, 4, 1, add_chunk, sum);
    CHECK_STR(talus_profile_set_stage("second"), "first");
    talus_parallel(pool, 4, 1, add_chunk, sum);
    talus_profile_add("a slow one", 100.0);
    talus_profile_expect_bytes(32.0); /* of the next loop, not of what is outside of loops */
    talus_profile_add_since("between loops", talus_now() - 50.0);
    CHECK(talus_profile_expected_bytes() == 32.0);
    talus_profile_set_stage("");
    talus_profile_stop();
    talus_parallel(pool, 4, 1, add_chunk, sum);
    talus_profile_add_since("no profile is on", 0.0);
    REQUIRE(talus_profile_rows(row, 8) == 4);
    CHECK_STR(row[0].loop, "a slow one");
    CHECK_INT(row[0].calls, 1);
    CHECK_STR(row[1].loop, "between loops");
    CHECK(row[1].seconds >= 50.0 && row[1].bytes == 0.0);
    const TalusProfileRow *first = strcmp(row[2].stage, "first") == 0 ? &row[2] : &row[3];
    CHECK_STR(first->loop, "test_base.c:add_chunk");
    CHECK_INT(first->calls, 2);
    CHECK(first->bytes == 64.0 && first->known_seconds <= first->seconds);
    CHECK_INT(talus_profile_rows(row, 1), 1);
    talus_pool_destroy(pool);
}

/* ---- sorting of runs ---- */

/* Items larger than their keys; `at` shows the order of equal keys. */
typedef struct RunItem {
    int key, at;
    char rest[9];
} RunItem;

static int compare_run_items(const void *a, const void *b)
{
    const int x = ((const RunItem *)a)->key, y = ((const RunItem *)b)->key;
    return (x > y) - (x < y);
}

/* Sorts `count` items in `runs` ascending runs of random lengths, with many equal keys, and checks the result. */
static void check_sorted_runs(TalusRng *rng, int count, int runs)
{
    RunItem *item = calloc((size_t)count + 1, sizeof *item);
    int key = 0, sum = 0, sorted = 0;
    REQUIRE(item);
    for (int k = 0; k < count; k++) {
        key = talus_rng_uniform(rng) * count < runs ? 0 : key + (talus_rng_uniform(rng) < 0.3);
        item[k] = (RunItem){.key = key, .at = k};
        memset(item[k].rest, k % 100, sizeof item[k].rest);
        sum += key;
    }
    CHECK(talus_sort_runs(item, (size_t)count, sizeof *item, compare_run_items) == TALUS_OK);
    for (int k = 0; k < count; k++) {
        sum -= item[k].key;
        CHECK(item[k].rest[0] == item[k].at % 100 && item[k].rest[8] == item[k].at % 100);
        sorted += k == 0 || item[k - 1].key < item[k].key ||
                  (item[k - 1].key == item[k].key && item[k - 1].at < item[k].at);
    }
    CHECK_INT(sorted, count);
    CHECK_INT(sum, 0);
    free(item);
}

TEST(runs_are_sorted_and_equal_items_keep_their_order)
{
    TalusRng rng = talus_rng_from_seed(7);
    for (int count = 0; count < 20; count++)
        for (int runs = 1; runs <= count; runs++)
            check_sorted_runs(&rng, count, runs);
    check_sorted_runs(&rng, 5000, 16);
    check_sorted_runs(&rng, 1000, 1000);
}

TEST(sorting_of_runs_says_that_memory_is_lacking_and_loses_nothing)
{
    RunItem item[] = {{.key = 2}, {.key = 3}, {.key = 1}};
    for (int k = 1; k <= 4; k++) {
        talus_fail_allocation_in(k);
        CHECK(talus_sort_runs(item, 3, sizeof *item, compare_run_items) == TALUS_ERR_MEMORY);
        talus_fail_allocation_in(0);
        CHECK(item[0].key == 2 && item[1].key == 3 && item[2].key == 1);
    }
    CHECK(talus_sort_runs(item, 3, sizeof *item, compare_run_items) == TALUS_OK);
    CHECK(item[0].key == 1 && item[1].key == 2 && item[2].key == 3);
}

/* ---- memory ---- */

TEST(memory_is_zeroed_aligned_and_counted)
{
    for (size_t n = 0; n < 200; n += 33) {
        uint64_t before = talus_allocation_count();
        double *block = NULL;
        bool zero = true;
        REQUIRE_OK(TALUS_ALLOC(block, n, "block"));
        CHECK(block && (uintptr_t)block % 64 == 0);
        CHECK(talus_allocation_count() == before + 1);
        for (size_t i = 0; i < n; i++)
            zero &= block[i] == 0.0;
        CHECK(zero);
        talus_release(block);
    }
    talus_release(NULL);
    talus_free(NULL);
}

TEST(growing_keeps_what_it_is_told_to)
{
    int *array = NULL;
    size_t held = 0;
    for (size_t need = 1; need < 3000; need = need * 5 / 4 + 1) {
        REQUIRE_OK(TALUS_GROW(array, need, held, "numbers"));
        CHECK(TALUS_CAPACITY(array) >= need);
        for (size_t i = 0; i < held; i++)
            if (array[i] != (int)i * 7) {
                CHECK(!"an element was lost");
                break;
            }
        for (; held < need; held++)
            array[held] = (int)held * 7;
    }
    uint64_t before = talus_allocation_count();
    CHECK_OK(TALUS_GROW(array, held / 2, held, "numbers")); /* there is room already */
    CHECK(talus_allocation_count() == before);
    talus_release(array);
}

/* Returns the use of this name among all; zeros if there is none. */
static TalusMemoryUse find_use(const char *name)
{
    static TalusMemoryUse use[1024];
    int count = talus_memory_uses(use, 1024);
    for (int i = 1; i < count; i++)
        CHECK(use[i - 1].peak >= use[i].peak);
    for (int i = 0; i < count; i++)
        if (strcmp(use[i].name, name) == 0)
            return use[i];
    return (TalusMemoryUse){0};
}

TEST(memory_is_counted_by_name)
{
    char *small = NULL, *large = NULL;
    TalusMemoryUse largest;
    REQUIRE_OK(TALUS_ALLOC(small, 1000, "counted by name"));
    REQUIRE_OK(TALUS_ALLOC(large, 5000, "counted by name"));
    CHECK_INT(find_use("counted by name").now,
              (int)(talus_capacity(small) + talus_capacity(large)));
    talus_release(large);
    CHECK_INT(find_use("counted by name").now, (int)talus_capacity(small));
    CHECK(find_use("counted by name").peak >= 6000);
    talus_release(small);
    CHECK_INT(find_use("counted by name").now, 0);
    size_t before = find_use("other libraries").now;
    talus_memory_count_external(0, 77);
    CHECK_INT(find_use("other libraries").now, (int)before + 77);
    talus_memory_count_external(77, 0);
    /* a short list has the largest */
    CHECK_INT(talus_memory_uses(&largest, 1), 1);
    CHECK(largest.peak >= find_use("counted by name").peak);
}

/* The bytes of a name when all together had the most, which need not be at the name's own peak. */
TEST(memory_by_name_is_known_at_the_common_peak)
{
    char *early = NULL, *late = NULL;
    size_t highest = talus_memory_highest();
    REQUIRE_OK(TALUS_ALLOC(early, 3 * highest, "before the peak"));
    talus_release(early);
    CHECK(find_use("before the peak").at_highest >= 3 * highest);
    REQUIRE_OK(TALUS_ALLOC(late, 12 * highest, "at the peak"));
    CHECK(find_use("before the peak").peak >= 3 * highest);
    CHECK_INT(find_use("before the peak").at_highest, 0);
    CHECK(find_use("at the peak").at_highest >= 12 * highest);
    talus_release(late);
}

/* A large array that grows with its contents is never in memory twice. */
TEST(large_arrays_are_moved)
{
    int *array = NULL;
    size_t count = (size_t)1 << 21, now = talus_memory_now();
    for (int round = 0; round < 6; round++, count += count / 2) {
        size_t held = TALUS_CAPACITY(array);
        talus_memory_reset_peak();
        REQUIRE_OK(TALUS_GROW(array, count, held, "numbers"));
        CHECK((uintptr_t)array % 64 == 0);
        if (round > 0)
            CHECK(talus_memory_peak() <= now + talus_capacity(array));
        for (size_t i = 0; i < held; i += 1001)
            CHECK(array[i] == (int)i);
        for (size_t i = 0; i < TALUS_CAPACITY(array); i++)
            array[i] = (int)i;
    }
    size_t held = TALUS_CAPACITY(array);
    talus_fail_allocation_in(1);
    CHECK_INT(TALUS_GROW(array, 2 * held, held, "numbers"), TALUS_ERR_MEMORY);
    CHECK(TALUS_CAPACITY(array) == held && array[held - 1] == (int)held - 1);
    talus_release(array);
    CHECK(talus_memory_now() == now);
}

TEST(large_arrays_grow_by_a_sixteenth)
{
    char *array = NULL;
    size_t need = (size_t)8 << 20;
    REQUIRE_OK(TALUS_GROW(array, need, 0, "bytes"));
    need = talus_capacity(array);
    REQUIRE_OK(TALUS_GROW(array, need + 1, 0, "bytes"));
    CHECK(talus_capacity(array) >= need + need / 16);
    CHECK(talus_capacity(array) < need + need / 8);
    talus_release(array);
}

TEST(arrays_grow_by_half_at_least)
{
    char *array = NULL;
    uint64_t before = talus_allocation_count();
    for (size_t need = 1; need <= 100000; need++)
        REQUIRE_OK(TALUS_GROW(array, need, need - 1, "bytes"));
    CHECK(talus_allocation_count() - before < 40);
    talus_release(array);
}

TEST(allocations_fail_on_demand)
{
    int *array = NULL, *other = NULL;
    REQUIRE_OK(TALUS_GROW(array, 10, 0, "numbers"));
    array[9] = 42;
    size_t before = TALUS_CAPACITY(array);
    talus_fail_allocation_in(1);
    CHECK_INT(TALUS_GROW(array, 100000, 10, "numbers"), TALUS_ERR_MEMORY);
    CHECK(strncmp(talus_error(), "numbers: out of memory for 4000", 30) == 0);
    CHECK(array[9] == 42 &&
          TALUS_CAPACITY(array) == before); /* what was to be kept is still there */
    talus_fail_allocation_in(1);
    CHECK_INT(TALUS_GROW(array, 100000, 0, "numbers"), TALUS_ERR_MEMORY);
    CHECK(!array &&
          talus_capacity(array) == 0); /* nothing was to be kept: the old block went first */
    talus_fail_allocation_in(2);
    CHECK_OK(TALUS_ALLOC(other, 1, "one"));
    talus_release(other);
    CHECK_INT(TALUS_ALLOC(other, 1, "two"), TALUS_ERR_MEMORY);
    CHECK_STR(talus_error(), "two: out of memory for 64 bytes");
    CHECK_OK(TALUS_ALLOC(other, 1, "three"));
    talus_release(other);
    talus_fail_allocation_in(0);
    talus_release(array);
}

TEST(sizes_that_overflow_are_refused)
{
    double *block = NULL;
    CHECK_INT(TALUS_ALLOC(block, SIZE_MAX / 4, "huge"), TALUS_ERR_MEMORY);
    CHECK(strstr(talus_error(), "overflow the address space"));
}

/* ---- messages ---- */

TEST(fail_keeps_a_message_made_of_itself)
{
    CHECK_INT(talus_fail(TALUS_ERR_IO, "disk %d", 7), TALUS_ERR_IO);
    CHECK_INT(talus_fail(TALUS_ERR_FORMAT, "while reading: %s", talus_error()), TALUS_ERR_FORMAT);
    CHECK_STR(talus_error(), "while reading: disk 7");
    char longer[3000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    talus_fail(TALUS_ERR_IO, "%s", longer);
    CHECK(strlen(talus_error()) > 500 && strlen(talus_error()) < sizeof longer);
}

static void *fail_elsewhere(void *unused)
{
    (void)unused;
    bool empty = *talus_error() == '\0';
    talus_fail(TALUS_ERR_IO, "elsewhere");
    return empty ? fail_elsewhere : NULL;
}

TEST(messages_belong_to_their_thread)
{
    pthread_t thread;
    void *was_empty = NULL;
    talus_fail(TALUS_ERR_ARGUMENT, "here");
    REQUIRE(pthread_create(&thread, NULL, fail_elsewhere, NULL) == 0);
    pthread_join(thread, &was_empty);
    CHECK(was_empty != NULL);
    CHECK_STR(talus_error(), "here");
}

static TalusStatus try_it(TalusStatus status)
{
    TALUS_TRY(status);
    return TALUS_ERR_CANCELLED;
}

TEST(try_hands_failures_on)
{
    CHECK_INT(try_it(TALUS_ERR_NUMERIC), TALUS_ERR_NUMERIC);
    CHECK_INT(try_it(TALUS_OK), TALUS_ERR_CANCELLED);
}

TEST(statuses_and_version_have_names)
{
    static const char *const names[] = {"ok",      "argument",  "memory",
                                        "io",      "format",    "unsupported",
                                        "numeric", "tolerance", "cancelled"};
    for (int i = 0; i <= TALUS_ERR_CANCELLED; i++)
        CHECK_STR(talus_status_name((TalusStatus)i), names[i]);
    CHECK_STR(talus_status_name((TalusStatus)99), "unknown");
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", TALUS_VERSION_MAJOR, TALUS_VERSION_MINOR,
             TALUS_VERSION_PATCH);
    CHECK_STR(talus_version(), version);
    CHECK(talus_abi_version() == TALUS_ABI_VERSION);
}

static void note(void *user, TalusLogLevel level, const char *id, const char *text)
{
    snprintf(user, 100, "%d %s %s", (int)level, id, text);
}

TEST(log_goes_where_it_was_sent)
{
    char heard[100] = "";
    talus_log(TALUS_LOG_INFO, "test.nobody", "unheard");
    talus_set_log(note, heard);
    talus_log(TALUS_LOG_WARNING, "test.some", "%d of %s", 3, "them");
    CHECK_STR(heard, "1 test.some 3 of them");
    talus_set_log(NULL, NULL);
    talus_log(TALUS_LOG_WARNING, "test.nobody", "unheard");
    CHECK_STR(heard, "1 test.some 3 of them");
}

/* ---- parameters ---- */

typedef struct Values {
    double real;
    int whole, colour;
    bool flag;
} Values;

static const char *const colours[] = {"red", "green", "blue", NULL};
static const TalusParam table[] = {
    {"real", TALUS_PARAM_REAL, offsetof(Values, real), 0.5, 0.0, 2.0, NULL, "a number"},
    {"whole", TALUS_PARAM_INT, offsetof(Values, whole), 3, 1, 10, NULL, "a count"},
    {"colour", TALUS_PARAM_CHOICE, offsetof(Values, colour), 1, 0, 0, colours, "a colour"},
    {"flag", TALUS_PARAM_FLAG, offsetof(Values, flag), 1, 0, 1, NULL, "a switch"},
};

TEST(params_start_at_presets_and_take_values)
{
    Values v;
    talus_params_set_defaults(table, 4, &v);
    CHECK(v.real == 0.5 && v.whole == 3 && v.colour == 1 && v.flag);
    CHECK_OK(talus_params_parse(table, 4, "test", NULL, &v));
    CHECK_OK(talus_params_parse(table, 4, "test", "", &v));
    CHECK_OK(talus_params_parse(table, 4, "test", "real=1e-3,whole=10,colour=blue,flag=off", &v));
    CHECK(v.real == 1e-3 && v.whole == 10 && v.colour == 2 && !v.flag);
    CHECK_OK(talus_params_parse(table, 4, "test", "flag=true,whole=1e0,", &v));
    CHECK(v.flag && v.whole == 1);
}

TEST(params_explain_what_is_wrong)
{
    static const char *const wrong[][2] = {
        {"reel=1", "test: no parameter 'reel'; did you mean 'real'?"},
        {"zzzz=1", "test: no parameter 'zzzz'; `talus list solvers` names its parameters"},
        {"=1", "test: no parameter ''; `talus list solvers` names its parameters"},
        {"real", "test: 'real': expected key=value"},
        {"real=", "test: real=: expected a number"},
        {"real=one", "test: real=one: expected a number"},
        {"real=inf", "test: real=inf: expected a number"},
        {"real=2.5", "test: real=2.5: expected a number from 0 to 2"},
        {"whole=2.5", "test: whole=2.5: expected a whole number"},
        {"whole=11", "test: whole=11: expected a whole number from 1 to 10"},
        {"whole=1e99", "test: whole=1e99: expected a whole number from 1 to 10"},
        {"colour=pink", "test: colour=pink: expected one of red|green|blue"},
        {"flag=perhaps", "test: flag=perhaps: expected on or off"},
        {"real=1,,whole=2", "test: '': expected key=value"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Values v;
        talus_params_set_defaults(table, 4, &v);
        CHECK_INT(talus_params_parse(table, 4, "test", wrong[i][0], &v), TALUS_ERR_ARGUMENT);
        CHECK_STR(talus_error(), wrong[i][1]);
    }
    char longer[400];
    Values v;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    CHECK_INT(talus_params_parse(table, 4, "test", longer, &v), TALUS_ERR_ARGUMENT);
}

TEST(params_describe_themselves)
{
    static const char *const lines[] = {
        "  real=0.5  a number (0 to 2)", "  whole=3  a count (1 to 10)",
        "  colour=green  a colour (red|green|blue)", "  flag=on  a switch (on|off)"};
    for (int i = 0; i < 4; i++) {
        char text[100];
        talus_param_describe(&table[i], text, sizeof text);
        CHECK_STR(text, lines[i]);
        talus_param_describe(&table[i], text, 8); /* cut, not overrun */
        CHECK_INT((int)strlen(text), 7);
    }
}

TEST(nearest_name_is_near)
{
    static const char *const names[] = {"friction", "density", "stiffness", "damping"};
    CHECK_STR(talus_nearest_name("frction", names, 4), "friction");
    CHECK_STR(talus_nearest_name("Density", names, 4), "density");
    CHECK_STR(talus_nearest_name("stifness", names, 4), "stiffness");
    CHECK_STR(talus_nearest_name("damping", names, 4), "damping");
    CHECK(!talus_nearest_name("colour", names, 4));
    /* A word that goes on, or ends early, comes before one that is misspelt. */
    static const char *const options[] = {"reference", "tol", "max-iter", "trace", "threads"};
    CHECK_STR(talus_nearest_name("tolerance", options, 5), "tol");
    CHECK_STR(talus_nearest_name("max-iterations", options, 5), "max-iter");
    CHECK_STR(talus_nearest_name("ref", options, 5), "reference");
    CHECK(!talus_nearest_name("q", options, 5));
    CHECK(!talus_nearest_name("", names, 4));
    CHECK(!talus_nearest_name("friction", names, 0));
    char longer[300];
    memset(longer, 'q', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    CHECK(!talus_nearest_name(longer, names, 4));
}

/* ---- hash and random numbers ---- */

static int bits(uint64_t x)
{
    int n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

/* Turning any one bit of the input turns about half of the output's. */
TEST(hash_spreads_every_bit)
{
    unsigned char text[40];
    double sum = 0.0;
    int least = 64, tries = 0;
    for (int i = 0; i < 40; i++)
        text[i] = (unsigned char)(i * 37);
    for (size_t length = 1; length <= 40; length += 3)
        for (size_t bit = 0; bit < 8 * length; bit++, tries++) {
            uint64_t before = talus_hash(TALUS_HASH_SEED, text, length);
            text[bit / 8] ^= (unsigned char)(1u << bit % 8);
            int turned = bits(before ^ talus_hash(TALUS_HASH_SEED, text, length));
            text[bit / 8] ^= (unsigned char)(1u << bit % 8);
            sum += turned;
            least = turned < least ? turned : least;
        }
    CHECK_NEAR(sum / tries, 32.0, 0.5);
    CHECK(least >= 10);
}

TEST(hash_tells_lengths_and_starts_apart)
{
    const char zero[24] = {0};
    for (size_t a = 0; a < 24; a++)
        for (size_t b = a + 1; b <= 24; b++)
            CHECK(talus_hash(1, zero, a) != talus_hash(1, zero, b));
    CHECK(talus_hash(1, zero, 8) != talus_hash(2, zero, 8));
    CHECK(talus_hash(1, zero, 8) == talus_hash(1, zero, 8));
    CHECK(talus_hash(1, NULL, 0) == talus_hash(1, zero, 0)); /* an array that was never allocated */
}

/* The check value of CRC-32, and that a sum goes on over any division of the bytes. */
TEST(crc_is_the_usual_one)
{
    const char *text = "123456789 and as many bytes again, from any place";
    size_t length = strlen(text);
    CHECK(talus_crc32(0, "123456789", 9) == 0xcbf43926u);
    for (size_t from = 0; from < 9; from++)
        for (size_t to = from; to <= length; to++)
            CHECK(talus_crc32(talus_crc32(0, text, from), text + from, length - from) ==
                  talus_crc32(talus_crc32(0, text, to), text + to, length - to));
}

TEST(random_numbers_stay_in_range_and_fill_it)
{
    TalusRng rng = talus_rng_from_seed(5);
    int counts[10] = {0}, bins[7] = {0};
    double sum = 0.0, low = 1.0, high = 0.0;
    for (int i = 0; i < 70000; i++) {
        double x = talus_rng_uniform(&rng);
        sum += x;
        low = fmin(low, x);
        high = fmax(high, x);
        counts[(int)(10.0 * x)]++;
        bins[talus_rng_below(&rng, 7)]++;
    }
    CHECK(low >= 0.0 && low < 1e-3 && high < 1.0 && high > 0.999);
    CHECK_NEAR(sum / 70000, 0.5, 0.005);
    for (int i = 0; i < 10; i++)
        CHECK_NEAR(counts[i], 7000, 400);
    for (int i = 0; i < 7; i++)
        CHECK_NEAR(bins[i], 10000, 400);
    CHECK(talus_rng_below(&rng, 1) == 0);
    for (int i = 0; i < 1000; i++)
        CHECK(talus_rng_below(&rng, UINT64_C(1) << 40) < UINT64_C(1) << 40);
}

TEST(random_numbers_repeat_from_their_state)
{
    TalusRng a = talus_rng_from_seed(9), b = talus_rng_from_seed(9),
             other = talus_rng_from_seed(10);
    bool same = true, different = false;
    for (int i = 0; i < 100; i++) {
        uint64_t x = talus_rng_next(&a);
        same &= x == talus_rng_next(&b);
        different |= x != talus_rng_next(&other);
    }
    CHECK(same && different);
    TalusRng saved = a;
    CHECK(talus_rng_next(&a) == talus_rng_next(&saved));
}

/* ---- processors ---- */

/* A copy of /proc and /sys for one test, and the files that it has. */
typedef struct Root {
    const char *path;
    char file[8][512];
    int files;
} Root;

/* Writes `text` to the file `name` in a folder of the root, which is made with the folders above it. */
static void put_file(Root *root, const char *folder, const char *name, const char *text)
{
    char *path = root->file[root->files++];
    snprintf(path, sizeof *root->file, "%s%s/%s", root->path, folder, name);
    for (char *c = path; (c = strchr(c + 1, '/'));) {
        *c = '\0';
        mkdir(path, 0777);
        *c = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

/* Removes the files of the root; its folders stay. */
static void remove_files(Root *root)
{
    while (root->files > 0)
        remove(root->file[--root->files]);
}

TEST(processors_are_those_that_may_be_used)
{
    Root root = {.path = "test_base.root"};
    CHECK(talus_count_processors() >= 1);
    CHECK_INT(talus_count_processors_of(8, "no such folder"), 8);
    CHECK_INT(talus_count_processors_of(-1, "no such folder"), 1);
    put_file(&root, "/proc/thread-self", "status",
             "Name:\ttalus\nCpus_allowed:\t8001,0000000f\nNothing: f\n");
    put_file(&root, "/proc/self", "cgroup", "0::/a/b\n");
    CHECK_INT(talus_count_processors_of(64, root.path), 6);
    CHECK_INT(talus_count_processors_of(4, root.path), 4);
    put_file(&root, "/sys/fs/cgroup/a/b", "cpu.max", "");
    CHECK_INT(talus_count_processors_of(64, root.path), 6);
    put_file(&root, "/sys/fs/cgroup/a/b", "cpu.max", "max 100000\n");
    CHECK_INT(talus_count_processors_of(64, root.path), 6);
    put_file(&root, "/sys/fs/cgroup/a", "cpu.max", "250000 100000\n"); /* of the group above */
    CHECK_INT(talus_count_processors_of(64, root.path), 3);
    put_file(&root, "/sys/fs/cgroup", "cpu.max", "50000 100000\n");
    CHECK_INT(talus_count_processors_of(64, root.path), 1);
    remove_files(&root);
}

TEST(processors_of_control_groups_of_version_1)
{
    Root root = {.path = "test_base.root1"};
    put_file(&root, "/proc/thread-self", "status", "Cpus_allowed:\tff\n");
    put_file(&root, "/proc/self", "cgroup", "5:cpuset:/\n4:cpuacct,cpu:/of/the/host\n0::/\n");
    put_file(&root, "/sys/fs/cgroup", "cpu.max", "max 100000\n");
    put_file(&root, "/sys/fs/cgroup/cpu", "cpu.cfs_period_us", "100000\n");
    put_file(&root, "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "-1\n");
    CHECK_INT(talus_count_processors_of(64, root.path), 8);
    put_file(&root, "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "200000\n");
    CHECK_INT(talus_count_processors_of(64, root.path), 2);
    remove_files(&root);
}

int main(void)
{
    RUN(pool_visits_every_chunk_once);
    RUN(pool_is_used_again_and_again);
    RUN(pool_loops_may_hold_serial_loops);
    RUN(pools_live_side_by_side_and_die_unused);
    RUN(pool_refuses_odd_sizes);
    RUN(processors_are_those_that_may_be_used);
    RUN(processors_of_control_groups_of_version_1);
    RUN(profile_counts_loops_by_stage);
    RUN(memory_is_zeroed_aligned_and_counted);
    RUN(memory_is_counted_by_name);
    RUN(growing_keeps_what_it_is_told_to);
    RUN(memory_by_name_is_known_at_the_common_peak);
    RUN(arrays_grow_by_half_at_least);
    RUN(large_arrays_are_moved);
    RUN(large_arrays_grow_by_a_sixteenth);
    RUN(allocations_fail_on_demand);
    RUN(sizes_that_overflow_are_refused);
    RUN(fail_keeps_a_message_made_of_itself);
    RUN(messages_belong_to_their_thread);
    RUN(try_hands_failures_on);
    RUN(statuses_and_version_have_names);
    RUN(log_goes_where_it_was_sent);
    RUN(params_start_at_presets_and_take_values);
    RUN(params_explain_what_is_wrong);
    RUN(params_describe_themselves);
    RUN(nearest_name_is_near);
    RUN(runs_are_sorted_and_equal_items_keep_their_order);
    RUN(sorting_of_runs_says_that_memory_is_lacking_and_loses_nothing);
    RUN(hash_spreads_every_bit);
    RUN(hash_tells_lengths_and_starts_apart);
    RUN(crc_is_the_usual_one);
    RUN(random_numbers_stay_in_range_and_fill_it);
    RUN(random_numbers_repeat_from_their_state);
    return talus_test_result();
}
