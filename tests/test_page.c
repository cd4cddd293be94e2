/* The JSON writer and the report page: what goes in comes back, whatever the strings and numbers, and
 * nothing in the data can end the element it stands in. Leaves report pages for report_page.sh:
 * page-hostile/report.html and page-empty/report.html. */
#include "cli/page.h"
#include "support/test.h"

#include "base/memory.h"
#include "io/file/file.h"
#include "io/text/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char HOSTILE[] =
    "</script><b>x</b><!--<script>\"\\ &amp; \x01\n\t\xe2\x80\xa8 caf\xc3\xa9 \xf0\x9d\x9b\xbe";

/* ---- helpers ---- */

/* Collects what the writer makes. */
typedef struct Text {
    char bytes[1 << 16];
    size_t size;
    int calls;
} Text;

static void collect(void *user, const char *bytes, size_t size)
{
    Text *text = user;
    text->calls++;
    if (size <= sizeof text->bytes - text->size) {
        memcpy(text->bytes + text->size, bytes, size);
        text->size += size;
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *p = text; (p = strstr(p, part)) != NULL; p++)
        n++;
    return n;
}

static double number_at(const TalusJson *object, const char *key)
{
    const TalusJson *value = talus_json_get(object, key);
    return value && value->kind == TALUS_JSON_NUMBER ? value->number : NAN;
}

/* ---- the writer ---- */

TEST(numbers_come_back_bit_for_bit)
{
    static const double values[] = {0.0,           -0.0,     0.1,      1.0 / 3.0, 5e-324,
                                    2.3e-308,      1.7e+308, -1e22,    3.14e-7,   1e-2,
                                    123456789.125, NAN,      INFINITY, 1.0,       -INFINITY};
    enum { COUNT = sizeof values / sizeof *values };
    static Text text;
    JsonOut json;
    json_start(&json, collect, &text);
    json_write_reals(&json, NULL, values, COUNT);
    json_finish(&json);

    TalusArena arena = {0};
    TalusJson *root;
    REQUIRE_OK(talus_json_parse(&arena, text.bytes, text.size, "numbers", true, &root));
    CHECK_INT(root->count, COUNT);
    int i = 0;
    for (const TalusJson *v = root->first; v; v = v->next, i++) {
        if (isfinite(values[i]))
            CHECK(v->kind == TALUS_JSON_NUMBER && memcmp(&v->number, &values[i], 8) == 0);
        else
            CHECK(v->kind == TALUS_JSON_NULL);
    }
    talus_arena_clear(&arena);
}

TEST(structure_and_integers)
{
    static const int ints[] = {-2147483647 - 1, 0, 7};
    static Text text;
    JsonOut json;
    json_start(&json, collect, &text);
    json_open_object(&json, NULL);
    json_open_array(&json, "empty");
    json_close_array(&json);
    json_write_ints(&json, "ints", ints, 3);
    json_open_array(&json, "mixed");
    json_open_object(&json, NULL);
    json_close_object(&json);
    json_write_bool(&json, NULL, true);
    json_write_null(&json, NULL);
    json_write_text(&json, NULL, NULL);
    json_close_array(&json);
    json_write_int(&json, "big", INT64_MIN);
    json_close_object(&json);
    json_finish(&json);
    CHECK_STR(text.bytes, "{\n\"empty\": [],\n\"ints\": [-2147483648, 0, 7],\n"
                          "\"mixed\": [{}, true, null, null],\n\"big\": -9223372036854775808}\n");
}

/* Bytes that are no UTF-8 (lone continuation, overlong, surrogate, cut off, beyond U+10FFFF). */
TEST(malformed_text_is_replaced)
{
    static const char *const bad[] = {
        "\x80", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x80", "\xf4\x90\x80\x80", "\xff", "\xe0\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        static Text text;
        memset(&text, 0, sizeof text);
        JsonOut json;
        json_start(&json, collect, &text);
        json_write_text(&json, NULL, bad[i]);
        json_finish(&json);
        CHECK_INT(count_of(text.bytes, "\\ufffd"), strlen(bad[i]));
        CHECK_INT(text.size, 6 * strlen(bad[i]) + 3);
    }
}

TEST(long_output_passes_through_a_small_buffer)
{
    static Text text;
    JsonOut json;
    json_start(&json, collect, &text);
    json_open_array(&json, NULL);
    for (int i = 0; i < 3000; i++)
        json_write_int(&json, NULL, i);
    json_close_array(&json);
    json_finish(&json);
    CHECK(text.calls > 3);
    TalusArena arena = {0};
    TalusJson *root;
    REQUIRE_OK(talus_json_parse(&arena, text.bytes, text.size, "long", true, &root));
    CHECK_INT(root->count, 3000);
    CHECK_NEAR(root->last->number, 2999, 0);
    talus_arena_clear(&arena);
}

/* ---- the page ---- */

static void put_trace(JsonOut *json)
{
    double iteration[40], relative[40], seconds[40];
    for (int i = 0; i < 40; i++) {
        iteration[i] = i;
        seconds[i] = 1e-3 * i;
        relative[i] = i == 7 ? NAN : 1.0 / (1 + i * i * i);
    }
    json_open_object(json, "trace");
    json_write_reals(json, "iteration", iteration, 40);
    json_write_reals(json, "applies", iteration, 40);
    json_write_reals(json, "seconds", seconds, 40);
    json_write_reals(json, "natural_relative", relative, 40);
    json_close_object(json);
}

static void put_run(JsonOut *json, const char *solver, const char *outcome)
{
    json_open_object(json, NULL);
    json_write_int(json, "problem", 0);
    json_write_text(json, "solver", solver);
    json_write_text(json, "outcome", outcome);
    json_write_text(json, "reason", HOSTILE);
    json_write_int(json, "iterations", 39);
    json_write_real(json, "seconds", 0.1);
    json_write_real(json, "objective", NAN);
    put_trace(json);
    json_close_object(json);
}

static void put_hostile(void *user, JsonOut *json)
{
    (void)user;
    static const double thresholds[] = {1e-2, 1e-4};
    json_open_object(json, NULL);
    json_write_text(json, "title", HOSTILE);
    json_write_text(json, "kind", "solve");
    json_write_reals(json, "thresholds", thresholds, 2);
    json_open_array(json, "problems");
    json_open_object(json, NULL);
    json_write_text(json, "name", HOSTILE);
    json_write_int(json, "contacts", 12);
    json_write_real(json, "mu_max", INFINITY);
    json_close_object(json);
    json_close_array(json);
    json_open_array(json, "runs");
    put_run(json, "apgd", "converged");
    put_run(json, HOSTILE, "budget");
    put_run(json, "gs", "unsupported");
    json_close_array(json);
    json_close_object(json);
}

static void put_empty(void *user, JsonOut *json)
{
    (void)user;
    json_open_object(json, NULL);
    json_close_object(json);
}

/* The JSON between the data element's tags, found as a browser finds it: up to the first "</script". */
static bool data_of(char *page, const char **data, size_t *size)
{
    static const char open[] = "<script type=\"application/json\" id=\"talus-data\">";
    char *start = strstr(page, open);
    if (!start)
        return false;
    start += sizeof open - 1;
    const char *end = strstr(start, "</script");
    if (!end)
        return false;
    *data = start;
    *size = (size_t)(end - start);
    return true;
}

TEST(page_holds_its_data)
{
    REQUIRE_OK(page_write_report("page-hostile/deep/er", "report.html", put_hostile, NULL));
    REQUIRE_OK(page_write_report("page-hostile", "report.html", put_hostile, NULL));
    char *page;
    size_t size, data_size = 0;
    const char *data = NULL;
    REQUIRE_OK(talus_read_file("page-hostile/report.html", 1 << 24, &page, &size));
    REQUIRE(data_of(page, &data, &data_size));
    CHECK(strncmp(page, "<!doctype html>", 15) == 0);
    CHECK(strstr(page, "@TALUS_DATA@") == NULL);
    CHECK(strcmp(page + size - 8, "</html>\n") == 0);
    CHECK_INT(count_of(page, "</script>"), 3); /* licences, data, program */

    TalusArena arena = {0};
    TalusJson *root;
    REQUIRE_OK(talus_json_parse(&arena, data, data_size, "page", true, &root));
    CHECK_STR(talus_json_get(root, "title")->text, HOSTILE);
    const TalusJson *runs = talus_json_get(root, "runs");
    CHECK_INT(runs->count, 3);
    CHECK_STR(talus_json_get(runs->first->next, "solver")->text, HOSTILE);
    CHECK_NEAR(number_at(runs->first, "seconds"), 0.1, 0);
    CHECK(talus_json_get(runs->first, "objective")->kind == TALUS_JSON_NULL);
    CHECK(talus_json_get(talus_json_get(root, "problems")->first, "mu_max")->kind ==
          TALUS_JSON_NULL);
    const TalusJson *relative =
        talus_json_get(talus_json_get(runs->first, "trace"), "natural_relative");
    CHECK_INT(relative->count, 40);
    CHECK_NEAR(relative->last->number, 1.0 / (1 + 39 * 39 * 39), 0);
    talus_arena_clear(&arena);
    talus_release(page);
}

TEST(page_without_data)
{
    REQUIRE_OK(page_write_report("page-empty", "report.html", put_empty, NULL));
    struct stat info;
    CHECK(stat("page-empty/report.html", &info) == 0 && info.st_size > 50000);
}

TEST(page_that_cannot_be_written)
{
    FILE *file = fopen("page-file", "w");
    REQUIRE(file);
    fclose(file);
    CHECK(page_write_report("page-file", "report.html", put_empty, NULL) == TALUS_ERR_IO);
    CHECK(strstr(talus_error(), "page-file") != NULL);
}

int main(void)
{
    RUN(numbers_come_back_bit_for_bit);
    RUN(structure_and_integers);
    RUN(malformed_text_is_replaced);
    RUN(long_output_passes_through_a_small_buffer);
    RUN(page_holds_its_data);
    RUN(page_without_data);
    RUN(page_that_cannot_be_written);
    return talus_test_result();
}
