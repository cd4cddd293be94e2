/* The laboratory: deadlines of benchmarks that run worlds. */
#include "lab/experiments/worlds.h"
#include "support/test.h"

#include "base/timer.h"

#include <math.h>
#include <time.h>

/* ---- deadlines ---- */

enum { ROWS = 3 };

static double start[ROWS],
    time_left[ROWS]; /* of each row: when it began; its time until the deadline then; s */
static int begun;

static TalusStatus take_time(Worlds *w)
{
    const struct timespec pause = {.tv_nsec = 300000000};
    start[begun] = talus_now();
    time_left[begun] = w->deadline - start[begun];
    begun++;
    nanosleep(&pause, NULL);
    return TALUS_OK;
}

static const WorldsRow without_share = {
    .name = "a", .summary = "", .source = "", .share = 0.0, .run = take_time};
static const WorldsRow two_shares = {
    .name = "b", .summary = "", .source = "", .share = 2.0, .run = take_time};
static const WorldsRow one_share = {
    .name = "c", .summary = "", .source = "", .share = 1.0, .run = take_time};

static void run_rows(const WorldsRow *const *rows, int count)
{
    static LabSet set;
    static Worlds w;
    set = (LabSet){0};
    w = (Worlds){.limit = 300.0, .quiet = true, .set = &set};
    begun = 0;
    CHECK_INT(worlds_main(&w, rows, count), CLI_OK);
    CHECK_INT(begun, count);
    lab_set_clear(&set);
}

TEST(a_row_without_a_share_has_no_deadline)
{
    const WorldsRow *const rows[] = {&two_shares, &without_share, &one_share};
    run_rows(rows + 1, 1);
    CHECK(time_left[0] == HUGE_VAL);
    run_rows(rows, 3);
    CHECK_NEAR(time_left[0], 200.0, 0.1);
    CHECK(time_left[1] == HUGE_VAL);
    CHECK_NEAR(time_left[2], 300.0 - (start[1] - start[0]), 0.1); /* a's time is not of the limit */
}

int main(void)
{
    RUN(a_row_without_a_share_has_no_deadline);
    return talus_test_result();
}
