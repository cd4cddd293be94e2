/* The table of scene keys as a JSON Schema (scenes/schema.json) and as the reference in docs/reference/scenes.md.
 * test_scene_schema.c compares both files with this output. */
#ifndef TALUS_TESTS_SCENE_SCHEMA_H
#define TALUS_TESTS_SCENE_SCHEMA_H

#include "io/scene/scene.h"

#include "base/memory.h"
#include "io/text/text.h"

#include <string.h>

enum { MAX_OBJECTS = 32 };

#define put talus_text_print

static TalusStatus finish(TalusText *t, char **out)
{
    if (t->status != TALUS_OK) {
        talus_release(t->bytes);
        return t->status;
    }
    *out = t->bytes;
    return TALUS_OK;
}

/* ---- the objects of the table, each once, in order of occurrence ---- */

typedef struct Objects {
    const SceneType *type[MAX_OBJECTS];
    int count;
} Objects;

static void collect(Objects *all, const SceneType *type)
{
    if (type->item)
        collect(all, type->item);
    if (type->kind != SCENE_OBJECT)
        return;
    for (int i = 0; i < all->count; i++)
        if (all->type[i] == type)
            return;
    if (all->count == MAX_OBJECTS)
        return;
    all->type[all->count++] = type;
    for (int i = 0; i < type->field_count; i++)
        collect(all, type->fields[i].type);
}

/* ---- schema: values ---- */

static void put_type(TalusText *t, const SceneType *type);

static void put_number(TalusText *t, const SceneType *type, bool whole)
{
    put(t, "{\"anyOf\": [{\"type\": \"%s\"", whole ? "integer" : "number");
    if (type->min != 0 || type->max != 0) {
        put(t, ", \"%s\": %.15g", type->above ? "exclusiveMinimum" : "minimum", type->min);
        if (type->max < 1e300)
            put(t, ", \"maximum\": %.15g", type->max);
    }
    put(t, "}, {\"$ref\": \"#/$defs/expression\"}]}");
}

static void put_array(TalusText *t, const SceneType *type)
{
    int least = type->kind == SCENE_REALS ? type->length : type->min_count;
    int most = type->kind == SCENE_REALS ? type->length : type->max_count;
    if (type->or_one)
        put(t, "{\"anyOf\": [");
    if (type->or_one && type->kind == SCENE_LIST)
        put_type(t, type->item);
    else if (type->or_one)
        put_number(t, type, type->whole);
    put(t, "%s{\"type\": \"array\", \"items\": ", type->or_one ? ", " : "");
    if (type->kind == SCENE_LIST)
        put_type(t, type->item);
    else
        put_number(t, type, type->whole);
    if (least)
        put(t, ", \"minItems\": %d", least);
    if (most)
        put(t, ", \"maxItems\": %d", most);
    put(t, type->or_one ? "}]}" : "}");
}

static void put_choices(TalusText *t, const SceneType *type)
{
    put(t, "{\"enum\": [");
    for (int i = 0; type->choices[i]; i++)
        put(t, "%s\"%s\"", i ? ", " : "", type->choices[i]);
    put(t, "]}");
}

static void put_type(TalusText *t, const SceneType *type)
{
    switch (type->kind) {
    case SCENE_REAL: put_number(t, type, false); break;
    case SCENE_INT: put_number(t, type, true); break;
    case SCENE_FLAG: put(t, "{\"type\": \"boolean\"}"); break;
    case SCENE_TEXT: put(t, "{\"type\": \"string\"}"); break;
    case SCENE_CHOICE: put_choices(t, type); break;
    case SCENE_REALS:
    case SCENE_LIST: put_array(t, type); break;
    case SCENE_OBJECT: put(t, "{\"$ref\": \"#/$defs/%s\"}", type->name); break;
    case SCENE_MAP:
    case SCENE_PARAMS:
        put(t, "{\"type\": \"object\"");
        if (type->kind == SCENE_PARAMS)
            put(t, ", \"propertyNames\": {\"pattern\": \"^[A-Za-z_][A-Za-z0-9_]{0,62}$\"}");
        put(t, ", \"additionalProperties\": ");
        put_type(t, type->item);
        put(t, "}");
        break;
    }
}

/* Writes a member of "properties": description and default first, then the schema of the value. */
static void put_property(TalusText *t, const SceneField *field, bool last)
{
    put(t, "          \"%s\": {\"description\": ", field->key);
    talus_text_quote(t, field->help);
    if (field->preset)
        put(t, ", \"default\": %s", field->preset);
    put(t, ", \"allOf\": [");
    put_type(t, field->type);
    put(t, "]}%s\n", last ? "" : ",");
}

/* ---- schema: rules between keys ---- */

static bool in_group(const SceneField *field, const char *group)
{
    return field->one_of && strcmp(field->one_of, group) == 0;
}

/* True for the first field of each group. */
static bool opens_group(const SceneType *type, int index)
{
    const char *group = type->fields[index].one_of;
    for (int i = 0; group && i < index; i++)
        if (in_group(&type->fields[i], group))
            return false;
    return group != NULL;
}

static void put_exactly_one(TalusText *t, const SceneType *type, const char *group)
{
    const char *comma = "";
    put(t, "{\"oneOf\": [");
    for (int i = 0; i < type->field_count; i++)
        if (in_group(&type->fields[i], group)) {
            put(t, "%s{\"required\": [\"%s\"]}", comma, type->fields[i].key);
            comma = ", ";
        }
    put(t, "]}");
}

static void put_at_most_one(TalusText *t, const SceneType *type, const char *group)
{
    const char *comma = "";
    for (int i = 0; i < type->field_count; i++)
        for (int j = i + 1; j < type->field_count; j++)
            if (in_group(&type->fields[i], group) && in_group(&type->fields[j], group)) {
                put(t, "%s{\"not\": {\"required\": [\"%s\", \"%s\"]}}", comma, type->fields[i].key,
                    type->fields[j].key);
                comma = ", ";
            }
}

/* Writes what follows from one choice of the selector (bit 0: not given). */
static void put_variant(TalusText *t, const SceneType *type, const char *choice, unsigned bit)
{
    const char *comma = "";
    if (choice)
        put(t, "{\"if\": {\"properties\": {\"%s\": {\"const\": \"%s\"}}, \"required\": [\"%s\"]}",
            type->selector, choice, type->selector);
    else
        put(t, "{\"if\": {\"not\": {\"required\": [\"%s\"]}}", type->selector);
    put(t, ", \"then\": {\"required\": [");
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].needed & bit) {
            put(t, "%s\"%s\"", comma, type->fields[i].key);
            comma = ", ";
        }
    put(t, "], \"properties\": {");
    comma = "";
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].only && !(type->fields[i].only & bit)) {
            put(t, "%s\"%s\": false", comma, type->fields[i].key);
            comma = ", ";
        }
    put(t, "}}}");
}

static void put_rules(TalusText *t, const SceneType *type)
{
    const char *comma = ",\n        \"allOf\": [\n          ";
    bool any = false;
    for (int i = 0; i < type->field_count; i++) {
        if (!opens_group(type, i))
            continue;
        put(t, "%s", comma);
        if (type->fields[i].one_of[0] == '?')
            put_at_most_one(t, type, type->fields[i].one_of);
        else
            put_exactly_one(t, type, type->fields[i].one_of);
        comma = ",\n          ";
        any = true;
    }
    if (type->selector) {
        const SceneType *selector = talus_scene_find_field(type, type->selector)->type;
        put(t, "%s", comma);
        put_variant(t, type, NULL, 0);
        for (int i = 0; selector->choices[i]; i++) {
            put(t, ",\n          ");
            put_variant(t, type, selector->choices[i], 1u << i);
        }
        any = true;
    }
    if (any)
        put(t, "\n        ]");
}

static void put_required(TalusText *t, const SceneType *type)
{
    const char *comma = ",\n        \"required\": [";
    bool any = false;
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].required) {
            put(t, "%s\"%s\"", comma, type->fields[i].key);
            comma = ", ";
            any = true;
        }
    put(t, "%s", any ? "]" : "");
}

static void put_needs(TalusText *t, const SceneType *type)
{
    const char *comma = ",\n        \"dependentRequired\": {";
    bool any = false;
    for (int i = 0; i < type->field_count; i++)
        if (type->fields[i].needs) {
            put(t, "%s\"%s\": [\"%s\"]", comma, type->fields[i].key, type->fields[i].needs);
            comma = ", ";
            any = true;
        }
    put(t, "%s", any ? "}" : "");
}

static void put_object(TalusText *t, const SceneType *type, bool last)
{
    put(t, "    \"%s\": {\"anyOf\": [\n", type->name);
    if (type->shorthand) {
        put(t, "      ");
        put_type(t, talus_scene_find_field(type, type->shorthand)->type);
        put(t, ",\n");
    }
    if (type->word)
        put(t, "      {\"const\": \"%s\"},\n", type->word);
    put(t, "      {\"type\": \"object\",\n        \"additionalProperties\": false,\n"
           "        \"properties\": {\n");
    for (int i = 0; i < type->field_count; i++)
        put_property(t, &type->fields[i], i == type->field_count - 1);
    put(t, "        }");
    put_required(t, type);
    put_needs(t, type);
    put_rules(t, type);
    put(t, "\n      }\n    ]}%s\n", last ? "" : ",");
}

/* Makes the schema; free with talus_release. */
static TalusStatus scene_schema(char **out)
{
    TalusText t = {0};
    Objects all = {0};
    collect(&all, &talus_scene_type);
    put(&t,
        "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
        "  \"title\": \"Talus scene\",\n"
        "  \"description\": \"See docs/reference/scenes.md. Made from src/io/scene/scene_table.c; comments and "
        "trailing commas are allowed on top of JSON.\",\n"
        "  \"$ref\": \"#/$defs/scene\",\n  \"$defs\": {\n"
        "    \"expression\": {\"type\": \"string\", \"pattern\": \"^=\", \"description\": "
        "\"arithmetic on the names of params, such as =2*radius\"},\n");
    for (int i = 0; i < all.count; i++)
        put_object(&t, all.type[i], i == all.count - 1);
    put(&t, "  }\n}\n");
    return finish(&t, out);
}

/* ---- reference ---- */

/* Writes what a key accepts, with links to the tables of objects. */
static void put_value(TalusText *t, const SceneType *type)
{
    char words[200];
    const SceneType *item = type->item;
    if (type->kind == SCENE_OBJECT && type->shorthand) {
        talus_scene_describe_type(talus_scene_find_field(type, type->shorthand)->type, words,
                                  sizeof words);
        put(t, "%s, or [%s](#%s)", words, type->name, type->name);
    } else if (type->kind == SCENE_OBJECT)
        put(t, "[%s](#%s)", type->name, type->name);
    else if (type->kind == SCENE_MAP)
        put(t, "names with [%s](#%s)", item->name, item->name);
    else if (type->kind == SCENE_PARAMS)
        put(t, "names with numbers");
    else if (type->kind == SCENE_LIST && item->kind == SCENE_OBJECT)
        put(t, "an array of [%s](#%s)", item->name, item->name);
    else {
        talus_scene_describe_type(type, words, sizeof words);
        put(t, "%s", words);
    }
}

static void put_row(TalusText *t, const SceneField *field)
{
    put(t, "| `%s` | ", field->key);
    put_value(t, field->type);
    if (field->preset)
        put(t, " | `%s` | ", field->preset);
    else
        put(t, " | %s | ", field->required ? "required" : "");
    put(t, "%s |\n", field->help);
}

/* Writes "Exactly one of `at`, `file`." for each group. */
static void put_group_lines(TalusText *t, const SceneType *type)
{
    for (int i = 0; i < type->field_count; i++) {
        if (!opens_group(type, i))
            continue;
        const char *group = type->fields[i].one_of, *comma = " ";
        put(t, "\n%s one of", group[0] == '?' ? "At most" : "Exactly");
        for (int j = i; j < type->field_count; j++)
            if (in_group(&type->fields[j], group)) {
                put(t, "%s`%s`", comma, type->fields[j].key);
                comma = ", ";
            }
        put(t, " is given.\n");
    }
}

/* Makes the reference; free with talus_release. */
static TalusStatus scene_reference(char **out)
{
    TalusText t = {0};
    Objects all = {0};
    collect(&all, &talus_scene_type);
    for (int i = 0; i < all.count; i++) {
        const SceneType *type = all.type[i];
        put(&t, "### %s\n\n", type->name);
        if (type->shorthand)
            put(&t, "A bare value stands for `%s`.", type->shorthand);
        if (type->word)
            put(&t, " The word \"%s\" sets `%s`.", type->word, type->word);
        if (type->shorthand)
            put(&t, "\n\n");
        put(&t, "| key | value | default | about |\n|---|---|---|---|\n");
        for (int j = 0; j < type->field_count; j++)
            put_row(&t, &type->fields[j]);
        put_group_lines(&t, type);
        put(&t, "\n");
    }
    return finish(&t, out);
}

#endif
