/* The published schema and the reference: equal to what the table says, and true of the parser.
 *
 * TALUS_REGENERATE=1 in the environment rewrites scenes/schema.json and the reference part of
 * docs/reference/scenes.md instead of comparing. Scenes are judged by a small validator of the subset of JSON
 * Schema that the file uses; it knows nothing of the table. */
#include "scene_schema.h"

#include "base/memory.h"
#include "base/rng.h"
#include "io/file/file.h"
#include "support/test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const char *name)
{
    static char path[4096];
    const char *root = getenv("TALUS_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/%s", root ? root : ".", name);
    return path;
}

static char *read_all(const char *name)
{
    char *text;
    size_t length;
    return talus_read_file(path_of(name), SIZE_MAX, &text, &length) == TALUS_OK ? text : NULL;
}

static void write_all(const char *name, const char *text, size_t length)
{
    FILE *file = fopen(path_of(name), "w");
    REQUIRE(file != NULL);
    CHECK(fwrite(text, 1, length, file) == length);
    CHECK(fclose(file) == 0);
}

/* ---- files made from the table ---- */

TEST(schema_file_is_current)
{
    char *text;
    REQUIRE_OK(scene_schema(&text));
    if (getenv("TALUS_REGENERATE"))
        write_all("scenes/schema.json", text, strlen(text));
    char *file = read_all("scenes/schema.json");
    CHECK(file && strcmp(file, text) == 0); /* else run this test with TALUS_REGENERATE=1 */
    talus_release(file);
    talus_release(text);
}

static const char begin_mark[] = "<!-- reference: made from src/io/scene/scene_table.c -->\n\n";
static const char end_mark[] = "<!-- end of reference -->";

static void put_reference(const char *docs, const char *begin, const char *end, const char *text)
{
    size_t head = (size_t)(begin - docs), size = head + strlen(text) + strlen(end);
    char *whole;
    REQUIRE_OK(TALUS_ALLOC(whole, size + 1, "docs"));
    snprintf(whole, size + 1, "%.*s%s%s", (int)head, docs, text, end);
    write_all("docs/reference/scenes.md", whole, size);
    talus_release(whole);
}

TEST(reference_in_docs_is_current)
{
    char *text, *docs = read_all("docs/reference/scenes.md");
    REQUIRE_OK(scene_reference(&text));
    char *begin = docs ? strstr(docs, begin_mark) : NULL;
    char *end = begin ? strstr(begin, end_mark) : NULL;
    if (CHECK(end != NULL)) {
        begin += strlen(begin_mark);
        if (getenv("TALUS_REGENERATE"))
            put_reference(docs, begin, end, text);
        else
            CHECK(strlen(text) == (size_t)(end - begin) && memcmp(begin, text, strlen(text)) == 0);
    }
    talus_release(docs);
    talus_release(text);
}

/* ---- a validator ---- */

static TalusArena schema_arena;
static TalusJson *schema;

static bool valid(const TalusJson *rule, const TalusJson *value);

static bool same(const TalusJson *a, const TalusJson *b)
{
    return a->kind == b->kind && (a->kind != TALUS_JSON_STRING || strcmp(a->text, b->text) == 0) &&
           (a->kind != TALUS_JSON_NUMBER || a->number == b->number);
}

static bool has_type(const char *type, const TalusJson *v)
{
    switch (v->kind) {
    case TALUS_JSON_OBJECT: return strcmp(type, "object") == 0;
    case TALUS_JSON_ARRAY: return strcmp(type, "array") == 0;
    case TALUS_JSON_STRING: return strcmp(type, "string") == 0;
    case TALUS_JSON_NUMBER:
        return strcmp(type, "number") == 0 ||
               (strcmp(type, "integer") == 0 && v->number == floor(v->number));
    case TALUS_JSON_NULL: return strcmp(type, "null") == 0;
    default: return strcmp(type, "boolean") == 0;
    }
}

static int count_valid(const TalusJson *rules, const TalusJson *v)
{
    int n = 0;
    for (const TalusJson *r = rules->first; r; r = r->next)
        n += valid(r, v);
    return n;
}

static bool has_all(const TalusJson *names, const TalusJson *v)
{
    for (const TalusJson *n = names->first; n; n = n->next)
        if (v->kind == TALUS_JSON_OBJECT && !talus_json_get(v, n->text))
            return false;
    return true;
}

static bool valid_members(const TalusJson *rule, const TalusJson *v)
{
    const TalusJson *properties = talus_json_get(rule, "properties");
    const TalusJson *other = talus_json_get(rule, "additionalProperties");
    const TalusJson *names = talus_json_get(rule, "propertyNames");
    const TalusJson *along = talus_json_get(rule, "dependentRequired");
    for (const TalusJson *c = v->kind == TALUS_JSON_OBJECT ? v->first : NULL; c; c = c->next) {
        const TalusJson *known = properties ? talus_json_get(properties, c->key) : NULL;
        const TalusJson *needs = along ? talus_json_get(along, c->key) : NULL;
        if ((known && !valid(known, c)) || (!known && other && !valid(other, c)) ||
            (names && !talus_expr_is_name(c->key)) || (needs && !has_all(needs, v)))
            return false;
    }
    return true;
}

static bool valid_keyword(const TalusJson *rule, const TalusJson *k, const TalusJson *v)
{
    bool number = v->kind == TALUS_JSON_NUMBER, array = v->kind == TALUS_JSON_ARRAY;
    const char *key = k->key;
    if (strcmp(key, "$ref") == 0)
        return valid(talus_json_get(talus_json_get(schema, "$defs"), strrchr(k->text, '/') + 1), v);
    if (strcmp(key, "type") == 0)
        return has_type(k->text, v);
    if (strcmp(key, "const") == 0)
        return same(k, v);
    if (strcmp(key, "enum") == 0) {
        for (const TalusJson *c = k->first; c; c = c->next)
            if (same(c, v))
                return true;
        return false;
    }
    if (strcmp(key, "anyOf") == 0)
        return count_valid(k, v) > 0;
    if (strcmp(key, "oneOf") == 0)
        return count_valid(k, v) == 1;
    if (strcmp(key, "allOf") == 0)
        return count_valid(k, v) == k->count;
    if (strcmp(key, "not") == 0)
        return !valid(k, v);
    if (strcmp(key, "if") == 0)
        return !valid(k, v) || valid(talus_json_get(rule, "then"), v);
    if (strcmp(key, "required") == 0)
        return has_all(k, v);
    if (strcmp(key, "minimum") == 0)
        return !number || v->number >= k->number;
    if (strcmp(key, "exclusiveMinimum") == 0)
        return !number || v->number > k->number;
    if (strcmp(key, "maximum") == 0)
        return !number || v->number <= k->number;
    if (strcmp(key, "minItems") == 0)
        return !array || v->count >= (int)k->number;
    if (strcmp(key, "maxItems") == 0)
        return !array || v->count <= (int)k->number;
    if (strcmp(key, "pattern") == 0) /* "^=" of expressions; names are checked as such */
        return v->kind != TALUS_JSON_STRING || v->text[0] == '=';
    if (strcmp(key, "items") == 0) {
        for (const TalusJson *c = array ? v->first : NULL; c; c = c->next)
            if (!valid(k, c))
                return false;
    }
    return true;
}

static bool valid(const TalusJson *rule, const TalusJson *value)
{
    if (rule->kind != TALUS_JSON_OBJECT)
        return rule->kind == TALUS_JSON_TRUE;
    for (const TalusJson *k = rule->first; k; k = k->next)
        if (!valid_keyword(rule, k, value))
            return false;
    return valid_members(rule, value);
}

TEST(schema_file_is_json)
{
    char *text = read_all("scenes/schema.json");
    REQUIRE(text);
    REQUIRE_OK(talus_json_parse(&schema_arena, text, strlen(text), "schema.json", true, &schema));
    talus_release(text);
    CHECK(talus_json_get(schema, "$defs") != NULL);
}

/* ---- scenes against it ---- */

typedef enum Verdict { ACCEPTS, REJECTS, UNREADABLE } Verdict;

static Verdict judge(const char *text)
{
    TalusArena arena = {0};
    TalusJson *root;
    Verdict verdict = UNREADABLE;
    if (talus_json_parse(&arena, text, strlen(text), "scene", true, &root) == TALUS_OK)
        verdict = valid(schema, root) ? ACCEPTS : REJECTS;
    talus_arena_clear(&arena);
    return verdict;
}

typedef void EachFile(const char *folder, const char *name);

static void each_scene(const char *folder, EachFile *fn)
{
    struct dirent **entries;
    int n = scandir(path_of(folder), &entries, NULL, alphasort);
    CHECK(n > 10);
    for (int i = 0; i < n; i++) {
        const char *dot = strrchr(entries[i]->d_name, '.');
        if (dot && strcmp(dot, ".json") == 0 && strcmp(entries[i]->d_name, "schema.json") != 0)
            fn(folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

static void check_shipped(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_all(path);
    if (!CHECK(text && judge(text) == ACCEPTS))
        printf("  in %s\n", name);
    talus_release(text);
}

static void check_bad(const char *folder, const char *name)
{
    static const char *const verdicts[] = {"schema accepts\n", "schema rejects\n",
                                           "schema unreadable\n"};
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_all(path);
    snprintf(strrchr(path, '.'), 5, ".txt");
    char *expected = read_all(path);
    if (CHECK(text && expected)) {
        const char *verdict = verdicts[judge(text)];
        size_t n = strlen(verdict), length = strlen(expected);
        if (!CHECK(length > n && strcmp(expected + length - n, verdict) == 0))
            printf("  in %s: %s", name, verdict);
    }
    talus_release(text);
    talus_release(expected);
}

TEST(shipped_scenes_are_valid)
{
    REQUIRE(schema);
    each_scene("scenes", check_shipped);
}

TEST(bad_scenes_as_stated)
{
    REQUIRE(schema);
    each_scene("tests/bad_scenes", check_bad);
}

/* ---- random edits: what the parser takes, the schema takes ---- */

static TalusJson *random_node(TalusJson *root, TalusRng *rng)
{
    TalusJson *node = root;
    while (node->count > 0 && (node == root || talus_rng_below(rng, 4))) {
        TalusJson *child = node->first;
        for (uint64_t i = talus_rng_below(rng, (uint64_t)node->count); i > 0; i--)
            child = child->next;
        node = child;
    }
    return node;
}

static void edit(TalusArena *arena, TalusJson *root, TalusRng *rng)
{
    static const char *const values[] = {"0",
                                         "-1",
                                         "1.5",
                                         "\"=1\"",
                                         "\"x\"",
                                         "true",
                                         "null",
                                         "[]",
                                         "[0, 0, 1]",
                                         "[[0, 0, 1]]",
                                         "{}",
                                         "[1, 2, 3, 4]",
                                         "{\"kind\": \"sphere\"}",
                                         "{\"min\": 1, \"max\": 2}",
                                         "\"sphere\"",
                                         "\"box\"",
                                         "{\"name\": \"wall\"}",
                                         "2"};
    static const char *const keys[] = {"radius", "at",     "kind", "lo",       "hi",
                                       "count",  "name",   "mass", "fixed",    "min",
                                       "half",   "normal", "file", "tolerance"};
    TalusJson *node = random_node(root, rng), *value;
    const char *text = values[talus_rng_below(rng, sizeof values / sizeof *values)];
    REQUIRE_OK(talus_json_parse(arena, text, strlen(text), "edit", false, &value));
    const char *key = keys[talus_rng_below(rng, sizeof keys / sizeof *keys)];
    switch (talus_rng_below(rng, 3)) {
    case 0: talus_json_replace(node, value); break;
    case 1: talus_json_remove(node->parent, node); break;
    default:
        if (node->kind == TALUS_JSON_OBJECT && !talus_json_get(node, key)) {
            value->key = key;
            talus_json_append(node, value);
        } else if (node->parent->kind == TALUS_JSON_OBJECT && !talus_json_get(node->parent, key))
            node->key = key;
    }
}

static int taken, refused;

static void edit_scene(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = read_all(path);
    REQUIRE(text);
    TalusRng rng = talus_rng_from_seed(strlen(text));
    for (int round = 0; round < 800; round++) {
        TalusScene *scene;
        TalusJson *root;
        REQUIRE_OK(TALUS_ALLOC(scene, 1, "scene"));
        REQUIRE_OK(talus_json_parse(&scene->arena, text, strlen(text), name, true, &root));
        for (uint64_t n = talus_rng_below(&rng, 3); n < 3 && root->count > 0; n++)
            edit(&scene->arena, root, &rng);
        bool ok = talus_scene_read(scene, root, &scene->arena) == TALUS_OK &&
                  talus_scene_check(scene) == TALUS_OK;
        taken += ok;
        refused += !ok;
        if (ok && !CHECK(valid(schema, root)))
            printf("  in %s, round %d\n", name, round);
        talus_scene_destroy(scene);
    }
    talus_release(text);
}

TEST(parser_takes_nothing_the_schema_refuses)
{
    REQUIRE(schema);
    each_scene("scenes", edit_scene);
    CHECK(taken > 1000 && refused > 1000);
}

int main(void)
{
    RUN(schema_file_is_current);
    RUN(reference_in_docs_is_current);
    RUN(schema_file_is_json);
    RUN(shipped_scenes_are_valid);
    RUN(bad_scenes_as_stated);
    RUN(parser_takes_nothing_the_schema_refuses);
    talus_arena_clear(&schema_arena);
    return talus_test_result();
}
