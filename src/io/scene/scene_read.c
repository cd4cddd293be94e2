/* io/scene/scene_read.c - reading of the JSON tree into the structs of scene.h, as the table of keys says. */
#include "io/scene/scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the functions of this file share. */
typedef struct SceneReader {
    TalusArena *arena;     /* for structs, lists and nodes of defaults */
    TalusExprScope *scope; /* parameters read so far */
} SceneReader;

static TalusStatus read_value(SceneReader *r, const SceneType *type, const TalusJson *json,
                              void *field);
static TalusStatus read_object(SceneReader *r, const SceneType *type, const TalusJson *json,
                               void *structure);

/* ---- numbers ---- */

/* Fails with "expected ..., found ...", where the type describes what is expected. */
static TalusStatus fail_type(const SceneType *type, const TalusJson *json)
{
    char expected[160], shown[TALUS_JSON_PRINTABLE_BYTES];
    talus_scene_describe_type(type, expected, sizeof expected);
    if (json->kind == TALUS_JSON_STRING)
        return talus_json_fail(json, 0, "expected %s, found the string \"%s\"", expected,
                               talus_json_printable(json->text, shown));
    return talus_json_fail(json, 0, "expected %s, found %s", expected,
                           talus_json_kind_name(json->kind));
}

/* Sets *value to a JSON number, or to the value of an expression, a string "=..." (io/text/expr.h). Fails on other
 * values with a message that says what `type` accepts. */
static TalusStatus eval_number(const SceneReader *r, const SceneType *type, const TalusJson *json,
                               double *value)
{
    if (json->kind == TALUS_JSON_NUMBER) {
        *value = json->number;
        return TALUS_OK;
    }
    if (json->kind != TALUS_JSON_STRING || json->text[0] != '=')
        return fail_type(type, json);
    TalusExprError error;
    if (!talus_expr_eval(json->text + 1, r->scope, value, &error))
        return talus_json_fail(json, 2 + error.offset, "%s", error.message); /* 2: " and = */
    return TALUS_OK;
}

/* True if x is within the bounds of a number's type. */
static bool in_range(const SceneType *type, double x)
{
    if (type->min == 0 && type->max == 0)
        return true;
    return (type->above ? x > type->min : x >= type->min) && x <= type->max;
}

/* Writes the bound that x exceeds, such as " and at most 1e+300", if talus_scene_describe_type omits this bound (see
 * TALUS_SCENE_LARGEST), else "". */
static void write_far_bound(const SceneType *type, double x, char *out, size_t size)
{
    bool has_min = type->min > -TALUS_SCENE_LARGEST;
    out[0] = '\0';
    if (type->min == 0 && type->max == 0)
        return;
    if (x > type->max && type->max >= TALUS_SCENE_LARGEST)
        snprintf(out, size, "%s at most %.15g", has_min ? " and" : " of", type->max);
    if (x < type->min && !has_min)
        snprintf(out, size, " of at least %.15g", type->min);
}

/* Sets *value to the value of a number or expression; checks the range and, for types INT and `whole`, that the value
 * is whole. */
static TalusStatus read_number(const SceneReader *r, const SceneType *type, const TalusJson *json,
                               double *value)
{
    TALUS_TRY(eval_number(r, type, json, value));
    bool whole = type->kind == SCENE_INT || type->whole;
    if (in_range(type, *value) && (!whole || *value == floor(*value)))
        return TALUS_OK;
    SceneType one = *type; /* type of one number, for the message; `type` may be REALS */
    one.kind = whole ? SCENE_INT : SCENE_REAL;
    char expected[160], far[48];
    talus_scene_describe_type(&one, expected, sizeof expected);
    write_far_bound(type, *value, far, sizeof far);
    return talus_json_fail(json, 0, "expected %s%s, found %.15g", expected, far, *value);
}

/* Reads an array of type->length numbers; with or_one, one number that is repeated. */
static TalusStatus read_reals(const SceneReader *r, const SceneType *type, const TalusJson *json,
                              double *values)
{
    SceneType one = *type;
    one.kind = type->whole ? SCENE_INT : SCENE_REAL;
    if (type->or_one && json->kind != TALUS_JSON_ARRAY) {
        TALUS_TRY(read_number(r, type, json, values));
        for (int i = 1; i < type->length; i++)
            values[i] = values[0];
        return TALUS_OK;
    }
    if (json->kind != TALUS_JSON_ARRAY)
        return fail_type(type, json);
    if (json->count != type->length)
        return talus_json_fail(json, 0, "expected an array of %d numbers, found %d", type->length,
                               json->count);
    for (const TalusJson *c = json->first; c; c = c->next)
        TALUS_TRY(read_number(r, &one, c, &values[c->index]));
    return TALUS_OK;
}

/* ---- words ---- */

static TalusStatus read_flag(const SceneType *type, const TalusJson *json, bool *value)
{
    if (json->kind != TALUS_JSON_TRUE && json->kind != TALUS_JSON_FALSE)
        return fail_type(type, json);
    *value = json->kind == TALUS_JSON_TRUE;
    return TALUS_OK;
}

static TalusStatus read_text(const SceneType *type, const TalusJson *json, const char **value)
{
    if (json->kind != TALUS_JSON_STRING)
        return fail_type(type, json);
    *value = json->text;
    return TALUS_OK;
}

/* Sets *value to the index of a word among the choices of the type. */
static TalusStatus read_choice(const SceneType *type, const TalusJson *json, int *value)
{
    for (int i = 0; json->kind == TALUS_JSON_STRING && type->choices[i]; i++)
        if (strcmp(type->choices[i], json->text) == 0) {
            *value = i;
            return TALUS_OK;
        }
    return fail_type(type, json);
}

/* ---- lists ---- */

size_t talus_scene_item_size(const SceneType *item)
{
    switch (item->kind) {
    case SCENE_OBJECT: return item->size;
    case SCENE_REALS: return (size_t)item->length * sizeof(double);
    case SCENE_TEXT: return sizeof(const char *);
    case SCENE_LIST: return sizeof(SceneList);
    default: return sizeof(double);
    }
}

/* Allocates a list of `count` items in the arena. */
static TalusStatus allocate_list(SceneReader *r, const SceneType *item, int count, SceneList *list)
{
    list->items = talus_arena_alloc(r->arena, (size_t)count * talus_scene_item_size(item));
    list->count = count;
    return list->items ? TALUS_OK : TALUS_ERR_MEMORY;
}

/* Reads a value into item `index` of a list. */
static TalusStatus read_item(SceneReader *r, const SceneType *item, const TalusJson *json,
                             SceneList *list, int index)
{
    void *field = (char *)list->items + (size_t)index * talus_scene_item_size(item);
    return item->kind == SCENE_OBJECT ? read_object(r, item, json, field)
                                      : read_value(r, item, json, field);
}

/* Reads the children of an array or object, each of type `item`, into a list. */
static TalusStatus read_items(SceneReader *r, const SceneType *item, const TalusJson *json,
                              SceneList *list)
{
    TALUS_TRY(allocate_list(r, item, json->count, list));
    for (const TalusJson *c = json->first; c; c = c->next)
        TALUS_TRY(read_item(r, item, c, list, c->index));
    return TALUS_OK;
}

/* Reads an array of the allowed number of items; with or_one, an array that is itself the only item. */
static TalusStatus read_list(SceneReader *r, const SceneType *type, const TalusJson *json,
                             SceneList *list)
{
    if (json->kind != TALUS_JSON_ARRAY)
        return fail_type(type, json);
    if (type->or_one && json->first && json->first->kind != TALUS_JSON_ARRAY) {
        TALUS_TRY(allocate_list(r, type->item, 1, list));
        return read_item(r, type->item, json, list, 0);
    }
    if (json->count < type->min_count || (type->max_count && json->count > type->max_count)) {
        char expected[160];
        talus_scene_describe_type(type, expected, sizeof expected);
        return talus_json_fail(json, 0, "expected %s, found %d", expected, json->count);
    }
    return read_items(r, type->item, json, list);
}

/* Reads an object with names of the user's choice as keys; the list gets the values. */
static TalusStatus read_map(SceneReader *r, const SceneType *type, const TalusJson *json,
                            SceneList *list)
{
    return json->kind == TALUS_JSON_OBJECT ? read_items(r, type->item, json, list)
                                           : fail_type(type, json);
}

/* Evaluates the parameters in order and adds each to the scope, so that later expressions can use it. */
static TalusStatus read_params(SceneReader *r, const SceneType *type, const TalusJson *json,
                               SceneList *list)
{
    if (json->kind != TALUS_JSON_OBJECT)
        return fail_type(type, json);
    const char **names;
    TALUS_TRY(allocate_list(r, type->item, json->count, list));
    TALUS_TRY(TALUS_ARENA_ALLOC(r->arena, names, json->count));
    r->scope->names = names;
    r->scope->values = (const double *)list->items;
    for (const TalusJson *c = json->first; c; c = c->next) {
        if (!talus_expr_is_name(c->key))
            return talus_json_fail_key(c,
                                       "a parameter's name is a letter or _, then letters, digits "
                                       "or _, %d characters at most",
                                       TALUS_EXPR_NAME_MAX);
        TALUS_TRY(read_item(r, type->item, c, list, c->index));
        names[c->index] = c->key;
        r->scope->count = c->index + 1;
    }
    return TALUS_OK;
}

/* ---- objects ---- */

/* The selector of an object is the key, such as "type", that decides which other keys are allowed. Sets *bit to 1 << i
 * if the value of the selector is choice i; to 0 if the object lacks that key or its type has no selector. */
static TalusStatus find_selected_bit(const SceneType *type, const TalusJson *json, unsigned *bit)
{
    const TalusJson *selector = type->selector ? talus_json_get(json, type->selector) : NULL;
    *bit = 0;
    if (!selector)
        return TALUS_OK;
    int choice = 0;
    TALUS_TRY(read_choice(talus_scene_find_field(type, type->selector)->type, selector, &choice));
    *bit = 1u << choice;
    return TALUS_OK;
}

/* Fails if the key of `member` is unknown, if the selector's choice (`bit`, from find_selected_bit) excludes it, or if
 * a key that it needs is missing. */
static TalusStatus check_key(const SceneType *type, const TalusJson *member, unsigned bit)
{
    const SceneField *field = talus_scene_find_field(type, member->key);
    char near[96];
    if (!field)
        return talus_json_fail_key(member, "unknown key%s",
                                   talus_scene_suggest_key(type, member->key, near, sizeof near));
    if (field->only && !(field->only & bit)) {
        const TalusJson *selector = talus_json_get(member->parent, type->selector);
        return selector ? talus_json_fail_key(member, "not for %s \"%s\"", type->selector,
                                              selector->text)
                        : talus_json_fail_key(member, "needs the key '%s' along with it",
                                              type->selector);
    }
    if (field->needs && !talus_json_get(member->parent, field->needs))
        return talus_json_fail_key(member, "needs the key '%s' along with it", field->needs);
    return TALUS_OK;
}

/* Writes the keys of a group: "'at', 'lattice' or 'fill'". */
static void write_group_keys(const SceneType *type, const char *group, char *text, size_t size)
{
    size_t used = 0;
    int total = 0, seen = 0;
    for (int i = 0; i < type->field_count; i++)
        total += type->fields[i].one_of && strcmp(type->fields[i].one_of, group) == 0;
    for (int i = 0; i < type->field_count && used < size; i++) {
        const SceneField *f = &type->fields[i];
        if (!f->one_of || strcmp(f->one_of, group) != 0)
            continue;
        seen++;
        used += (size_t)snprintf(text + used, size - used, "%s'%s'",
                                 seen == 1       ? ""
                                 : seen == total ? " or "
                                                 : ", ",
                                 f->key);
    }
}

/* Fails if the object gives two keys of a group (SceneField.one_of), or none while the group's name does not begin with
 * '?'. */
static TalusStatus check_group(const SceneType *type, const TalusJson *json, const char *group)
{
    const TalusJson *given = NULL;
    char words[160];
    for (const TalusJson *c = json->first; c; c = c->next) {
        const SceneField *f = talus_scene_find_field(type, c->key);
        if (!f->one_of || strcmp(f->one_of, group) != 0)
            continue;
        if (given)
            return talus_json_fail_key(c, "cannot be given together with '%s'", given->key);
        given = c;
    }
    if (given || group[0] == '?')
        return TALUS_OK;
    write_group_keys(type, group, words, sizeof words);
    return talus_json_fail(json, 0, "%s %s needs the key %s",
                           strchr("aeiou", type->name[0]) ? "an" : "a", type->name, words);
}

/* Fails if the object has unknown or excluded keys, lacks required ones, or gives none or several of a group
 * (one_of). */
static TalusStatus check_keys(const SceneType *type, const TalusJson *json)
{
    unsigned bit;
    for (const TalusJson *c = json->first; c; c = c->next)
        if (!talus_scene_find_field(type, c->key))
            return check_key(type, c, 0);
    TALUS_TRY(find_selected_bit(type, json, &bit));
    for (const TalusJson *c = json->first; c; c = c->next)
        TALUS_TRY(check_key(type, c, bit));
    const char *group = NULL;
    for (int i = 0; i < type->field_count; i++) {
        const SceneField *f = &type->fields[i];
        if ((f->required || (f->needed & bit)) && !talus_json_get(json, f->key))
            return talus_json_fail(json, 0, "missing key '%s': %s", f->key, f->help);
        if (f->one_of && (!group || strcmp(f->one_of, group) != 0))
            TALUS_TRY(check_group(type, json, group = f->one_of));
    }
    return TALUS_OK;
}

/* Makes a JSON node of the default of a key. The node has `owner` as parent and the line of `owner`, for messages, but
 * is not among its children. */
static TalusStatus make_default_node(SceneReader *r, const SceneField *field,
                                     const TalusJson *owner, TalusJson **out)
{
    TALUS_TRY(talus_json_parse_in(owner->domain, r->arena, field->preset, strlen(field->preset),
                                  owner->source, false, out));
    (*out)->key = field->key;
    (*out)->parent = (TalusJson *)owner; /* cast from const: nodes do not change their parent */
    (*out)->line = owner->line;
    (*out)->column = owner->column;
    return TALUS_OK;
}

/* Reads the value of one key, or its default, into the struct; if there is neither, the member stays. `json` is the
 * object, or a bare value that stands for the key `shorthand`. */
static TalusStatus read_field(SceneReader *r, const SceneField *field, const char *shorthand,
                              const TalusJson *json, void *structure)
{
    bool bare = json->kind != TALUS_JSON_OBJECT && strcmp(field->key, shorthand) == 0;
    TalusJson *preset = NULL;
    const TalusJson *value = bare ? json : talus_json_get(json, field->key);
    if (!value && field->preset) {
        TALUS_TRY(make_default_node(r, field, json, &preset));
        value = preset;
    }
    return value ? read_value(r, field->type, value, (char *)structure + field->offset) : TALUS_OK;
}

/* True if a value without braces, of this JSON kind, may be read as the type of the shorthand key. A string fits a
 * number too, as an expression. */
static bool accepts_bare_value(const SceneType *type, TalusJsonKind kind)
{
    bool number = type->kind == SCENE_REAL || type->kind == SCENE_INT;
    return (type->kind == SCENE_REALS && kind == TALUS_JSON_ARRAY) ||
           (number && kind == TALUS_JSON_NUMBER) ||
           (type->kind <= SCENE_TEXT && kind == TALUS_JSON_STRING);
}

/* Reads an object, or a bare value or word that stands for one (SceneType.shorthand, SceneType.word), into the struct.
 * Sets the struct's first member, its TalusJson pointer, to `json`. */
static TalusStatus read_object(SceneReader *r, const SceneType *type, const TalusJson *json,
                               void *structure)
{
    if (type->init)
        type->init(structure);
    if (type->word && json->kind == TALUS_JSON_STRING && strcmp(json->text, type->word) == 0) {
        *(const TalusJson **)structure = json;
        *(bool *)((char *)structure + talus_scene_find_field(type, type->word)->offset) = true;
        return TALUS_OK;
    }
    if (json->kind == TALUS_JSON_OBJECT)
        TALUS_TRY(check_keys(type, json));
    else if (!type->shorthand ||
             !accepts_bare_value(talus_scene_find_field(type, type->shorthand)->type, json->kind))
        return fail_type(type, json);
    *(const TalusJson **)structure = json;
    for (int i = 0; i < type->field_count; i++)
        TALUS_TRY(read_field(r, &type->fields[i], type->shorthand, json, structure));
    return TALUS_OK;
}

/* Reads a value of any type into `field`, a member of the C type that SceneKind tells. */
static TalusStatus read_value(SceneReader *r, const SceneType *type, const TalusJson *json,
                              void *field)
{
    double number = 0.0;
    switch (type->kind) {
    case SCENE_REAL: return read_number(r, type, json, (double *)field);
    case SCENE_INT:
        TALUS_TRY(read_number(r, type, json, &number));
        if (type->narrow)
            *(int *)field = (int)number;
        else
            *(int64_t *)field = (int64_t)number;
        return TALUS_OK;
    case SCENE_FLAG: return read_flag(type, json, (bool *)field);
    case SCENE_TEXT: return read_text(type, json, (const char **)field);
    case SCENE_CHOICE: return read_choice(type, json, (int *)field);
    case SCENE_REALS: return read_reals(r, type, json, (double *)field);
    case SCENE_LIST: return read_list(r, type, json, (SceneList *)field);
    case SCENE_MAP: return read_map(r, type, json, (SceneList *)field);
    case SCENE_PARAMS: return read_params(r, type, json, (SceneList *)field);
    case SCENE_OBJECT: break;
    }
    void *object = talus_arena_alloc(r->arena, type->size);
    if (!object)
        return TALUS_ERR_MEMORY;
    memcpy(field, &object, sizeof object); /* the member is a pointer to some struct type */
    return read_object(r, type, json, object);
}

TalusStatus talus_scene_read(TalusScene *scene, const TalusJson *root, TalusArena *arena)
{
    SceneReader r = {arena, &scene->scope};
    return read_object(&r, &talus_scene_type, root, scene);
}
