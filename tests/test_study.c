/* Parts of talus sweep: Student's quantiles against tables, samples, ranges and lists, the numbering of points. */
#include "cli/study/student.h"
#include "cli/study/vary.h"

#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- samples ---- */

/* Quantiles of published tables (97.5 % of one side). */
TEST(student_quantiles_are_those_of_tables)
{
    static const struct {
        int degrees;
        double t;
    } rows[] = {{1, 12.7062047361747},  {2, 4.30265272974946},  {3, 3.18244630528371},
                {4, 2.77644510519779},  {5, 2.57058183563631},  {6, 2.44691185114497},
                {9, 2.26215716279820},  {10, 2.22813885198627}, {29, 2.04522964213270},
                {30, 2.04227245630124}, {99, 1.98421695158642}, {1000, 1.96233908082641}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_NEAR(study_student_quantile(rows[i].degrees), rows[i].t, 1e-12 * rows[i].t);
    CHECK_NEAR(study_student_quantile(100000), 1.95996398454005, 3e-5);
}

/* 2, 4, 4, 4, 5, 5, 7, 9 have the mean 5 and squares of deviations that sum up to 32. */
TEST(a_sample_is_summarised)
{
    const double value[] = {2, 4, 4, NAN, 4, 5, 5, 7, 9};
    const StudySample s = study_summarise(value, 9);
    CHECK_INT(s.count, 8);
    CHECK_NEAR(s.mean, 5.0, 0.0);
    CHECK_NEAR(s.deviation, sqrt(32.0 / 7.0), 1e-15);
    CHECK_NEAR(s.error, sqrt(32.0 / 7.0 / 8.0), 1e-15);
    CHECK_NEAR(s.interval, 2.36462425159278 * sqrt(32.0 / 7.0 / 8.0), 1e-12);
}

TEST(one_value_has_no_interval)
{
    const double value[] = {3.5, NAN};
    const StudySample one = study_summarise(value, 2), none = study_summarise(value + 1, 1);
    CHECK_INT(one.count, 1);
    CHECK_NEAR(one.mean, 3.5, 0.0);
    CHECK(isnan(one.deviation) && isnan(one.error) && isnan(one.interval));
    CHECK_INT(none.count, 0);
    CHECK(isnan(none.mean));
}

/* ---- values ---- */

/* Checks that the text gives these values, with spaces between. */
static void check_values(const char *text, const char *expected, bool log)
{
    StudyAxis axis;
    char why[256] = "", found[512] = "";
    if (!CHECK(study_axis_parse(text, &axis, why, sizeof why)))
        printf("    %s\n", why);
    for (int i = 0; i < axis.count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i ? " " : "",
                 axis.value[i]);
    CHECK_STR(found, expected);
    CHECK_INT(axis.log, log);
    study_axis_clear(&axis);
}

TEST(ranges_have_clean_values)
{
    check_values("mu=0.1:0.9:9", "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9", false);
    check_values("mu=1:-1:3", "1 0 -1", false);
    check_values("n=100:1000:4", "100 400 700 1000", false);
    check_values("e=1e-4:1e-1:4:log", "0.0001 0.001 0.01 0.1", true);
    check_values("e=8:1:4:log", "8 4 2 1", true);
    check_values("x=0:1:4", "0 0.333333333333 0.666666666667 1", false);
}

TEST(lists_keep_their_texts)
{
    check_values("mu=0.10,0.5", "0.10 0.5", false);
    check_values("mu=7", "7", false);
    check_values("section=disc,polygon:8", "disc polygon:8", false);
    check_values("gravity=[0,0,-9],[0,0,-1]", "[0,0,-9] [0,0,-1]", false);
    check_values("solver={\"name\":\"gs\",\"tolerance\":1},auto",
                 "{\"name\":\"gs\",\"tolerance\":1} auto", false);
    check_values("title=\"a,\\\"b\",c", "\"a,\\\"b\" c", false);
    check_values("mu==2*x,=max(x,1)", "=2*x =max(x,1)", false);
}

/* Checks that the text is refused with a reason that has `part`. */
static void check_refused(const char *text, const char *part)
{
    StudyAxis axis;
    char why[256] = "";
    CHECK(!study_axis_parse(text, &axis, why, sizeof why));
    if (!CHECK(strstr(why, part) != NULL))
        printf("    %s\n", why);
    study_axis_clear(&axis);
}

TEST(wrong_values_are_refused)
{
    check_refused("mu", "expected KEY=VALUES");
    check_refused("=1", "expected KEY=VALUES");
    check_refused("mu=", "empty");
    check_refused("mu=1,", "empty");
    check_refused("mu=0:1", "FIRST:LAST:NUMBER");
    check_refused("mu=0:1:3:lin", "FIRST:LAST:NUMBER");
    check_refused("mu=0:1:2.5", "whole number");
    check_refused("mu=0:1:1", "whole number");
    check_refused("mu=0:1:200000", "100000");
    check_refused("mu=0:1:5:log", "above 0");
    check_refused("mu=1:1:5", "both ends");
    check_refused("mu=1,2,1", "twice");
    check_refused("mu=1,1e0", "twice");
}

/* ---- points ---- */

static StudyGrid make_grid(bool paired)
{
    StudyGrid grid = {.axes = 3, .paired = paired};
    char why[64];
    CHECK(study_axis_parse(paired ? "a=1,2" : "a=1,2,3", &grid.axis[0], why, sizeof why));
    CHECK(study_axis_parse("b=x,y", &grid.axis[1], why, sizeof why));
    CHECK(study_axis_parse("c=5,6", &grid.axis[2], why, sizeof why));
    return grid;
}

TEST(a_grid_has_all_combinations_once)
{
    StudyGrid grid = make_grid(false);
    bool seen[3][2][2] = {0};
    CHECK_INT(study_grid_count(&grid), 12);
    for (int p = 0; p < 12; p++) {
        const int i = study_grid_index(&grid, p, 0), j = study_grid_index(&grid, p, 1),
                  k = study_grid_index(&grid, p, 2);
        CHECK(!seen[i][j][k]);
        CHECK_INT(k, p % 2); /* the last axis varies first */
        seen[i][j][k] = true;
    }
    for (int a = 0; a < 3; a++)
        study_axis_clear(&grid.axis[a]);
    CHECK_INT(study_grid_count(&(StudyGrid){0}), 1);
}

TEST(pairs_go_together)
{
    StudyGrid grid = make_grid(true);
    CHECK_INT(study_grid_count(&grid), 2);
    for (int p = 0; p < 2; p++)
        for (int a = 0; a < 3; a++)
            CHECK_INT(study_grid_index(&grid, p, a), p);
    for (int a = 0; a < 3; a++)
        study_axis_clear(&grid.axis[a]);
}

int main(void)
{
    RUN(student_quantiles_are_those_of_tables);
    RUN(a_sample_is_summarised);
    RUN(one_value_has_no_interval);
    RUN(ranges_have_clean_values);
    RUN(lists_keep_their_texts);
    RUN(wrong_values_are_refused);
    RUN(a_grid_has_all_combinations_once);
    RUN(pairs_go_together);
    return talus_test_result();
}
