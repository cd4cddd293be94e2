/* The laboratory: deadlines of benchmarks that run worlds, and their verdicts. */
#include "lab/experiments/worlds.h"
#include "support/test.h"

#include "base/timer.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* ---- cells of tables ---- */

/* Returns the cell in the row whose first cell is `name`, of the table with this title; "" if there is none. */
static const char *cell_of(const LabSet *set, const char *title, const char *name, int column)
{
    for (int i = 0; i < set->table_count; i++) {
        const LabTable *t = &set->tables[i];
        if (strcmp(t->title, title) != 0)
            continue;
        for (int k = t->columns; k + column < t->cells; k += t->columns)
            if (strcmp(t->cell[k], name) == 0)
                return t->cell[k + column];
    }
    return "";
}

/* ---- deadlines ---- */

enum { ROWS = 3 };

static double start[ROWS];     /* of each row, as talus_now */
static double time_left[ROWS]; /* until the row's deadline, at its start, s */
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

/* ---- verdicts ---- */

static TalusStatus judge_three(Worlds *w)
{
    const WorldsStep known = {.rms = 1e-4, .relative = 2e-3},
                     relative = {.rms = NAN, .relative = 3e-3};
    worlds_judge(w, 1.0, 1.5, "s", &known, "residual");
    worlds_judge(w, 1.0, 0.5, "s", &relative, "relative residual");
    worlds_judge(w, 1.0, 1.5, "s", NULL, "no residual");
    return TALUS_OK;
}

TEST(verdicts_show_the_residuals_that_are_known)
{
    static const WorldsRow row = {.name = "a", .summary = "", .source = "", .run = judge_three};
    static const char *const expected[][4] = {{"residual", "1.00e-04", "2.00e-03", "held"},
                                              {"relative residual", "-", "3.00e-03", "missed"},
                                              {"no residual", "-", "-", "held"}};
    static LabSet set;
    static Worlds w = {.quiet = true, .set = &set};
    const WorldsRow *const rows[] = {&row};
    CHECK_INT(worlds_main(&w, rows, 1), CLI_OK);
    for (int i = 0; i < 3; i++)
        for (int k = 1; k < 4; k++)
            CHECK_STR(cell_of(&set, "Targets", expected[i][0], k + 2), expected[i][k]);
    lab_set_clear(&set);
}

int main(void)
{
    RUN(a_row_without_a_share_has_no_deadline);
    RUN(verdicts_show_the_residuals_that_are_known);
    return talus_test_result();
}
