/* The table of steps as it grows: any torn end, columns in any order, files that are cut back or
 * replaced, lines that are no rows. */
#include "cli/run/steps.h"
#include "support/test.h"

#include "base/memory.h"
#include "io/text/json.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char TABLE[] = "time,step,solver,residual_rms,kinetic,extra\n"
                            "0.5,1,\"gs, coloured\",1e-3,7,x\n"
                            "1,2,gs,nan,8\n"
                            "\n"
                            "1.5,4,gs,inf,9,x,y,z\n";

static int table_of(const char *text, size_t size)
{
    int fd = open("steps.csv", O_RDWR | O_CREAT | O_TRUNC, 0666);
    CHECK(write(fd, text, size) == (ssize_t)size);
    return fd;
}

/* What steps_write_json writes, in memory. */
typedef struct Text {
    char bytes[1 << 20];
    size_t size;
} Text;

static void collect(void *user, const char *bytes, size_t size)
{
    Text *text = user;
    if (size <= sizeof text->bytes - text->size) {
        memcpy(text->bytes + text->size, bytes, size);
        text->size += size;
    }
}

static const char *json_of(const Steps *steps, int fd, int64_t first, int64_t stride)
{
    static Text text;
    JsonOut json;
    memset(&text, 0, sizeof text);
    json_start(&json, collect, &text);
    json_open_object(&json, NULL);
    CHECK_OK(steps_write_json(steps, fd, first, stride, &json));
    json_close_object(&json);
    json_finish(&json);
    return text.bytes;
}

static bool has(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    printf("no %s in %s\n", part, text);
    return false;
}

TEST(columns_are_found_by_name)
{
    Steps steps = {0};
    bool anew = false;
    int fd = table_of(TABLE, strlen(TABLE));
    REQUIRE_OK(steps_refresh(&steps, fd, &anew));
    CHECK(!anew);
    CHECK_INT(steps.rows, 4);
    const char *json = json_of(&steps, fd, 0, 1);
    CHECK(has(json, "\"rows\": 4,\n\"first\": 0,\n\"stride\": 1,\n\"total\": 4,"));
    CHECK(has(json, "\"time\": [0.5, 1, null, 1.5]"));
    CHECK(has(json, "\"kinetic\": [7, 8, null, 9]"));
    CHECK(has(json, "\"residual\": [0.001, null, null, null]"));
    CHECK(has(json, "\"contacts\": [null, null, null, null]"));
    json = json_of(&steps, fd, 1, 2);
    CHECK(has(json, "\"time\": [1, 1.5]"));
    CHECK(has(json_of(&steps, fd, 9, 1), "\"rows\": 0,\n\"first\": 9"));
    steps_clear(&steps);
    close(fd);
}

/* Cut anywhere and then made whole, the table reads as if it had been whole all along. */
TEST(a_torn_end_is_not_there_yet)
{
    for (size_t cut = 0; cut <= strlen(TABLE); cut++) {
        Steps steps = {0};
        bool anew = false;
        int fd = table_of(TABLE, cut);
        CHECK_OK(steps_refresh(&steps, fd, &anew));
        int rows = -1;
        for (size_t i = 0; i < cut; i++)
            rows += TABLE[i] == '\n';
        CHECK_INT(steps.rows, rows > 0 ? rows : 0);
        CHECK(write(fd, TABLE + cut, strlen(TABLE) - cut) == (ssize_t)(strlen(TABLE) - cut));
        CHECK_OK(steps_refresh(&steps, fd, &anew));
        CHECK_INT(steps.rows, 4);
        CHECK(!anew);
        CHECK(has(json_of(&steps, fd, 0, 1), "\"time\": [0.5, 1, null, 1.5]"));
        steps_clear(&steps);
        close(fd);
    }
}

TEST(another_table_is_noticed)
{
    static const char *const others[] = {
        "time,kinetic\n5,6\n", /* shorter */
        ("time,step,solver,residual_rms,kinetic,extra\n0.5,1,\"gs, coloured\",1e-3,7,x\n1,2,gs,nan,8\n"
         "\n1.5,4,gs,inf,9,x,y,Z\nmore\n"), /* longer, one byte differs */
        ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Steps steps = {0};
        bool anew = false;
        int fd = table_of(TABLE, strlen(TABLE));
        CHECK_OK(steps_refresh(&steps, fd, &anew));
        close(fd);
        fd = table_of(others[i], strlen(others[i])); /* the same file, written anew */
        CHECK_OK(steps_refresh(&steps, fd, &anew));
        CHECK(anew);
        CHECK_INT(steps.rows, i == 0 ? 1 : i == 1 ? 5 : 0);
        steps_clear(&steps);
        close(fd);
    }
}

TEST(many_rows_are_found_by_their_marks)
{
    enum { ROWS = 10000 };
    FILE *file = fopen("many.csv", "w");
    fprintf(file, "time\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(file, "%d\n", i);
    fclose(file);
    Steps steps = {0};
    bool anew = false;
    int fd = open("many.csv", O_RDONLY);
    REQUIRE_OK(steps_refresh(&steps, fd, &anew));
    CHECK_INT(steps.rows, ROWS);
    CHECK(has(json_of(&steps, fd, 255, 5000), "\"time\": [255, 5255]"));
    CHECK(has(json_of(&steps, fd, 9998, 1), "\"time\": [9998, 9999]"));
    CHECK(has(json_of(&steps, fd, 256, 1), "\"rows\": 4000,"));
    CHECK(has(json_of(&steps, fd, 0, 1), "3998, 3999]"));
    steps_clear(&steps);
    close(fd);
}

/* No memory is spent on a line without an end. Where it is cut off again, reading goes on. */
TEST(an_endless_line_ends_the_table)
{
    Steps steps = {0};
    bool anew = false;
    int fd = table_of("time\n1\n", 7);
    static char bytes[3 * STEPS_LINE_MAX];
    memset(bytes, '1', sizeof bytes);
    CHECK(write(fd, bytes, sizeof bytes) == sizeof bytes);
    CHECK(write(fd, "\n2\n", 3) == 3);
    CHECK_OK(steps_refresh(&steps, fd, &anew));
    CHECK_INT(steps.rows, 1);
    CHECK_OK(steps_refresh(&steps, fd, &anew));
    CHECK_INT(steps.rows, 1);
    CHECK(ftruncate(fd, 7) == 0 && pwrite(fd, "2\n", 2, 7) == 2);
    CHECK_OK(steps_refresh(&steps, fd, &anew));
    CHECK_INT(steps.rows, 2);
    CHECK(!anew);
    steps_clear(&steps);
    close(fd);
}

TEST(an_endless_header_is_not_for_ever)
{
    Steps steps = {0};
    bool anew = false;
    static char bytes[2 * STEPS_LINE_MAX];
    memset(bytes, 't', sizeof bytes);
    int fd = table_of(bytes, sizeof bytes);
    CHECK_OK(steps_refresh(&steps, fd, &anew));
    CHECK_INT(steps.rows, 0);
    close(fd);
    fd = table_of(TABLE, strlen(TABLE));
    CHECK_OK(steps_refresh(&steps, fd, &anew));
    CHECK_INT(steps.rows, 4);
    steps_clear(&steps);
    close(fd);
}

int main(void)
{
    RUN(columns_are_found_by_name);
    RUN(a_torn_end_is_not_there_yet);
    RUN(another_table_is_noticed);
    RUN(many_rows_are_found_by_their_marks);
    RUN(an_endless_line_ends_the_table);
    RUN(an_endless_header_is_not_for_ever);
    return talus_test_result();
}
