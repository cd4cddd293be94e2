/* The JSON reader: what it accepts, where it says things are, how it refuses. */
#include "io/text/json.h"

#include "base/memory.h"
#include "base/rng.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static TalusArena arena;

static TalusJson *parse(const char *text)
{
    TalusJson *root = NULL;
    talus_arena_clear(&arena);
    return talus_json_parse(&arena, text, strlen(text), "f", true, &root) == TALUS_OK ? root : NULL;
}

TEST(values)
{
    TalusJson *root = parse("{\"a\": [1, -2.5e1, true, false, null], \"b\": \"x\\n\\u00e9\"}");
    REQUIRE(root);
    const TalusJson *a = talus_json_get(root, "a");
    CHECK_INT(a->count, 5);
    CHECK(a->first->number == 1.0 && a->first->next->number == -25.0);
    CHECK_INT(a->first->next->next->kind, TALUS_JSON_TRUE);
    CHECK_INT(a->last->kind, TALUS_JSON_NULL);
    CHECK_STR(talus_json_get(root, "b")->text, "x\n\xC3\xA9");
    CHECK(!talus_json_get(root, "c"));
}

TEST(comments_and_trailing_commas)
{
    TalusJson *root =
        parse("\xEF\xBB\xBF// head\n{/* a */\"a\": [1, 2,], // b\n\"c\": {},}\n// end");
    REQUIRE(root);
    CHECK_INT(talus_json_get(root, "a")->count, 2);
    CHECK_INT(root->count, 2);
}

TEST(positions_count_characters)
{
    TalusJson *root = parse("{\n  \"\xC3\xA9t\xC3\xA9\": [1,\n 2],\n\t\"b\": 3}");
    REQUIRE(root);
    const TalusJson *a = root->first, *b = root->last;
    CHECK_INT(a->key_line, 2);
    CHECK_INT(a->key_column, 3);
    CHECK_INT(a->column, 10);
    CHECK_INT(a->last->line, 3);
    CHECK_INT(a->last->column, 2);
    CHECK_INT(b->key_column, 2);
    CHECK_INT(b->column, 7);
}

TEST(paths)
{
    TalusJson *root = parse("{\"a\": {\"b\": [0, {\"c\": 1}]}}");
    REQUIRE(root);
    char path[64];
    talus_json_write_path(root->first->first->last->first, path, sizeof path);
    CHECK_STR(path, "a.b[1].c");
    talus_json_fail(root->first->first->last->first, 0, "wrong");
    CHECK_STR(talus_error(), "f:1:23: a.b[1].c: wrong");
}

TEST(surrogates)
{
    TalusJson *root = parse("[\"\\ud83d\\ude00\"]");
    REQUIRE(root);
    CHECK_STR(root->first->text, "\xF0\x9F\x98\x80");
    CHECK(!parse("[\"\\ud83d\"]"));
    CHECK_STR(talus_error(), "f:1:3: a lone surrogate is no character");
    CHECK(!parse("[\"\\ud83d\\u0041\"]"));
    CHECK(!parse("[\"\\u0000\"]"));
    CHECK_STR(talus_error(), "f:1:3: U+0000 is not allowed in a string");
}

TEST(refusals)
{
    static const char *const cases[][2] = {
        {"", "f:1:1: found the end of the file, expected a value"},
        {"[1 2]", "f:1:4: found '2', expected ',' or ']'"},
        {"[,]", "f:1:2: found ',', expected a value"},
        {"{1: 2}", "f:1:2: found '1', expected a key in quotes or '}'"},
        {"{\"a\" 2}", "f:1:6: found '2', expected ':'"},
        {"{\"a\": 1, \"a\": 2}", "f:1:10: key 'a' is given twice, first in line 1"},
        {"[01]", "f:1:3: found '1', expected ',' or ']'"},
        {"[1.]", "f:1:2: a malformed number, expected such as -1, 0.5 or 2e-3"},
        {"[+1]", "f:1:2: a malformed number, expected such as -1, 0.5 or 2e-3"},
        {"[1e]", "f:1:2: a malformed number, expected such as -1, 0.5 or 2e-3"},
        {"[-]", "f:1:2: a malformed number, expected such as -1, 0.5 or 2e-3"},
        {"[1e999]", "f:1:2: a number too large or too long"},
        {"[0x10]", "f:1:3: found 'x', expected ',' or ']'"},
        {"[1,5", "f:1:5: found the end of the file, expected ',' or ']'"},
        {"[NaN]", "f:1:2: found 'N', expected a value"},
        {"[tru]", "f:1:2: found 't', expected a value"},
        {"[\"a\tb\"]", "f:1:4: byte 0x09 must be written as an escape"},
        {"[\"a\nb\"]", "f:1:2: this string has no end, expected \" on the same line"},
        {"[\"\\x\"]", "f:1:4: found 'x', expected one of \" \\ / b f n r t u after \\"},
        {"[\"\\u12g4\"]", "f:1:7: found 'g', expected four hexadecimal digits after \\u"},
        {"[\"\xFF\"]", "f:1:3: byte 0xff is not UTF-8"},
        {"[\"\xC0\x80\"]", "f:1:3: byte 0xc0 is not UTF-8"},
        {"[\"\xED\xA0\x80\"]", "f:1:3: byte 0xed is not UTF-8"},
        {"[1] x", "f:1:5: found 'x', expected the end of the file"},
        {"[1] /* x", "f:1:5: this comment has no end, expected */"},
        {"[1] / x", "f:1:5: found '/', expected the end of the file"},
        {"\x01", "f:1:1: found byte 0x01, expected a value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(!parse(cases[i][0]));
        CHECK_STR(talus_error(), cases[i][1]);
    }
}

TEST(depth_and_key_limits)
{
    char text[8 * TALUS_JSON_KEYS + 64];
    memset(text, '[', TALUS_JSON_DEPTH);
    memset(text + TALUS_JSON_DEPTH, ']', TALUS_JSON_DEPTH);
    text[2 * TALUS_JSON_DEPTH] = '\0';
    CHECK(parse(text));
    memset(text, '[', 200);
    text[200] = '\0';
    CHECK(!parse(text));
    CHECK_STR(talus_error(), "f:1:65: nested deeper than 64 levels");
    size_t used = (size_t)snprintf(text, sizeof text, "{");
    for (int i = 0; i <= TALUS_JSON_KEYS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "\"%d\":0,", i);
    snprintf(text + used, sizeof text - used, "}");
    CHECK(!parse(text));
    CHECK(strstr(talus_error(), "more than 1000 keys in one object"));
}

TEST(numbers_are_those_of_the_text)
{
    TalusJson *root = parse("[0.1, 5e-324, 1.7976931348623157e308, -0, 123456789012345678]");
    REQUIRE(root);
    const TalusJson *n = root->first;
    CHECK(n->number == 0.1 && n->next->number == 5e-324);
    CHECK(n->next->next->number == 1.7976931348623157e308);
    CHECK(root->last->number == 123456789012345678.0);
}

TEST(editing)
{
    TalusJson *root = parse("{\"a\": 1, \"b\": [1, 2], \"c\": 3}"), *value;
    REQUIRE(root);
    REQUIRE_OK(talus_json_parse(&arena, "{\"x\": 7}", 8, "set", false, &value));
    talus_json_replace(talus_json_get(root, "b"), value);
    CHECK_STR(talus_json_get(root, "b")->key, "b");
    const TalusJson *x = talus_json_get(talus_json_get(root, "b"), "x");
    talus_json_fail(x, 0, "wrong");
    CHECK_STR(talus_error(), "set: b.x: wrong");
    talus_json_remove(root, talus_json_get(root, "a"));
    talus_json_remove(root, talus_json_get(root, "c"));
    CHECK_INT(root->count, 1);
    CHECK(root->first == root->last && root->first->index == 0);
}

TEST(long_text_in_messages_is_cut)
{
    char shown[TALUS_JSON_PRINTABLE_BYTES], text[300];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    memcpy(text + 59, "\xC3\xA9", 2); /* across the cut */
    talus_json_printable(text, shown);
    CHECK_INT((long long)strlen(shown), 62);
    CHECK_STR(talus_json_printable("a\nb", shown), "a?b");
}

/* Whatever the bytes, the answer is a tree or a message that names the source. */
TEST(survives_any_bytes)
{
    static const char seed[] =
        "{\"a\": [1, 2.5e3, \"x\\u00e9\\ud83d\\ude00\"], /* c */ \"b\": {\"t\": true,"
        " \"n\": null}, // d\n \"\xC3\xA9\": -0.5}";
    TalusRng rng = talus_rng_from_seed(7);
    char text[sizeof seed];
    for (int round = 0; round < 20000; round++) {
        memcpy(text, seed, sizeof seed);
        for (uint64_t n = 1 + talus_rng_below(&rng, 4); n > 0; n--) {
            static const char spice[] = "{}[]\",:\\/*u0e-\n\x80\xC3\xF0";
            size_t at = (size_t)talus_rng_below(&rng, sizeof seed - 1);
            text[at] = talus_rng_below(&rng, 2) ? spice[talus_rng_below(&rng, sizeof spice - 1)]
                                                : (char)talus_rng_below(&rng, 256);
        }
        size_t length = (size_t)talus_rng_below(&rng, sizeof seed);
        TalusJson *root;
        talus_arena_clear(&arena);
        TalusStatus status = talus_json_parse(&arena, text, length, "f", true, &root);
        if (status != TALUS_OK)
            REQUIRE(status == TALUS_ERR_FORMAT && strncmp(talus_error(), "f:", 2) == 0);
    }
}

TEST(memory_failures)
{
    for (int n = 1;; n++) {
        TalusJson *root = NULL;
        talus_arena_clear(&arena);
        talus_fail_allocation_in(n);
        TalusStatus status = talus_json_parse(&arena, "[1]", 3, "f", true, &root);
        talus_fail_allocation_in(0);
        if (status == TALUS_OK)
            break;
        REQUIRE(status == TALUS_ERR_MEMORY);
    }
}

int main(void)
{
    RUN(values);
    RUN(comments_and_trailing_commas);
    RUN(positions_count_characters);
    RUN(paths);
    RUN(surrogates);
    RUN(refusals);
    RUN(depth_and_key_limits);
    RUN(numbers_are_those_of_the_text);
    RUN(editing);
    RUN(long_text_in_messages_is_cut);
    RUN(survives_any_bytes);
    RUN(memory_failures);
    talus_arena_clear(&arena);
    return talus_test_result();
}
