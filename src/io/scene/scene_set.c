/* io/scene/scene_set.c - applies "--set name=value" to the JSON tree before it is read.
 *
 * The target of an assignment is the name of a parameter, or a path of keys and indices from the root. The path is
 * followed in the JSON tree and in the table of keys together: a key that the table has and the file omits is inserted
 * into the tree with its default. An entry of a list can be given by its key `name` instead of its index:
 * bodies[grains].file. */
#include "io/scene/scene.h"

#include "base/param.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The way from the root of the tree to the target of an override. */
typedef struct Walk {
    TalusArena *arena;     /* of the tree */
    const char *source;    /* "--set target=value" */
    const SceneType *type; /* type of the node; NULL for a number in an array of numbers */
    TalusJson *node;       /* node reached so far */
} Walk;

enum {
    MAX_WORD = 128,  /* size of a word of a path, with its NUL */
    MAX_NAMES = 256, /* maximum of names among which a similar one is suggested */
    FEW_NAMES = 10   /* maximum number listed in a message */
};

/* ---- messages ---- */

/* Returns the location of errors: the whole override. */
static TalusLocation override_location(const Walk *w)
{
    return talus_locate(TALUS_DOMAIN_OVERRIDE, w->source, 0, NULL);
}

/* Fails with "WHAT 'WORD'" (what: "no parameter or key") and the name most like it; if none is similar, with all
 * `names`, provided they are at most FEW_NAMES. */
static TalusStatus fail_unknown_name(const Walk *w, const char *what, const char *word,
                                     const char *const *names, int count)
{
    char shown[TALUS_JSON_PRINTABLE_BYTES], known[256] = "";
    const char *near = talus_nearest_name(word, names, count);
    if (near)
        snprintf(known, sizeof known, "; did you mean '%s'?", near);
    for (int i = 0; !near && i < count && count <= FEW_NAMES; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                 i ? ", " : "; there is ", names[i]);
    return talus_fail_at(override_location(w), TALUS_ERR_ARGUMENT, "%s '%s'%s", what,
                         talus_json_printable(word, shown), known);
}

/* Appends the keys of a node's children (node may be NULL) after names[count - 1]; returns the new count. */
static int append_child_keys(const TalusJson *node, const char **names, int count)
{
    for (const TalusJson *c = node ? node->first : NULL; c && count < MAX_NAMES; c = c->next)
        names[count++] = c->key;
    return count;
}

/* Fails for an unknown first word of a target. Suggests OBJECT.WORD if an object of the scene has such a key, else the
 * most similar parameter or key. */
static TalusStatus fail_unknown_target(const Walk *w, const char *word)
{
    const char *names[MAX_NAMES];
    char dotted[MAX_WORD + 64];
    int n = append_child_keys(talus_json_get(w->node, "params"), names, 0);
    for (int i = 0; i < w->type->field_count && n < MAX_NAMES; i++) {
        const SceneField *f = &w->type->fields[i];
        names[n++] = f->key;
        if (f->type->kind == SCENE_OBJECT && talus_scene_find_field(f->type, word)) {
            snprintf(dotted, sizeof dotted, "%s.%s", f->key, word);
            return talus_fail_at(override_location(w), TALUS_ERR_ARGUMENT,
                                 "no parameter or key '%s'; did you mean '%s'?", word, dotted);
        }
    }
    return fail_unknown_name(w, "no parameter or key", word, names, n);
}

/* Fails for a key that the node reached does not have; suggests a similar one. */
static TalusStatus fail_unknown_key(const Walk *w, const char *word)
{
    const char *names[MAX_NAMES];
    int n = 0;
    char path[256], what[300];
    talus_json_write_path(w->node, path, sizeof path);
    snprintf(what, sizeof what, "%s has no key", path);
    if (w->type->kind == SCENE_OBJECT)
        for (; n < w->type->field_count && n < MAX_NAMES; n++)
            names[n] = w->type->fields[n].key;
    else
        n = append_child_keys(w->node, names, 0);
    return talus_error_key(path, fail_unknown_name(w, what, word, names, n));
}

/* Fails with the path of the node reached and `why`. */
static TalusStatus fail_at_node(const Walk *w, const char *why)
{
    char path[256];
    talus_json_write_path(w->node, path, sizeof path);
    return talus_error_key(
        path, talus_fail_at(override_location(w), TALUS_ERR_ARGUMENT, "%s %s", path, why));
}

/* ---- steps of the walk ---- */

/* Makes a JSON node without content that is not yet in the tree; `key` may be NULL. */
static TalusStatus new_node(const Walk *w, TalusJsonKind kind, const char *key, TalusJson **out)
{
    char *name = NULL;
    TALUS_TRY(TALUS_ARENA_ALLOC(w->arena, *out, 1));
    if (key)
        TALUS_TRY(talus_arena_copy_text(w->arena, key, strlen(key), &name));
    (*out)->kind = kind;
    (*out)->domain = TALUS_DOMAIN_OVERRIDE;
    (*out)->source = w->source;
    (*out)->key = name;
    return TALUS_OK;
}

/* Parses JSON text; errors name the override. */
static TalusStatus parse_json(const Walk *w, const char *text, TalusJson **out)
{
    return talus_json_parse_in(TALUS_DOMAIN_OVERRIDE, w->arena, text, strlen(text), w->source,
                               false, out);
}

/* Removes all keys of the group of `field` (SceneField.one_of) from the object, since only one of a group may be
 * given. */
static void remove_group_keys(TalusJson *object, const SceneType *type, const SceneField *field)
{
    for (TalusJson *c = object->first, *next; field->one_of && c; c = next) {
        next = c->next;
        const SceneField *rival = talus_scene_find_field(type, c->key);
        if (rival && rival->one_of && strcmp(rival->one_of, field->one_of) == 0)
            talus_json_remove(object, c);
    }
}

/* Inserts a key that the file omits into the object reached; removes other keys of its group. The value is the default
 * of the key or, if it has none, an empty array or object, or null. */
static TalusStatus insert_missing_key(Walk *w, const SceneField *field, TalusJson **out)
{
    SceneKind kind = field->type->kind;
    TalusJson *preset;
    remove_group_keys(w->node, w->type, field);
    TALUS_TRY(new_node(w,
                       kind == SCENE_LIST || kind == SCENE_REALS ? TALUS_JSON_ARRAY
                       : kind >= SCENE_OBJECT                    ? TALUS_JSON_OBJECT
                                                                 : TALUS_JSON_NULL,
                       field->key, out));
    talus_json_append(w->node, *out);
    if (field->preset) {
        TALUS_TRY(parse_json(w, field->preset, &preset));
        talus_json_replace(*out, preset);
    }
    return TALUS_OK;
}

/* Replaces a bare value V, the node reached, by the object {K: V} that it stands for, K the type's shorthand. */
static TalusStatus expand_shorthand(Walk *w)
{
    TalusJson *object, *value;
    TALUS_TRY(new_node(w, TALUS_JSON_OBJECT, NULL, &object));
    TALUS_TRY(new_node(w, TALUS_JSON_NULL, w->type->shorthand, &value));
    talus_json_replace(value, w->node);
    object->domain = w->node->domain;
    object->source = w->node->source;
    object->line = w->node->line;
    object->column = w->node->column;
    talus_json_append(object, value);
    talus_json_replace(w->node, object);
    return TALUS_OK;
}

/* Goes from an object to its member `key`; inserts the member if it is missing and the table has the key. */
static TalusStatus step_to_key(Walk *w, const char *key)
{
    bool object = w->type && w->type->kind == SCENE_OBJECT;
    if (!object && !(w->type && (w->type->kind == SCENE_MAP || w->type->kind == SCENE_PARAMS)))
        return fail_at_node(w, "has no keys");
    if (object && w->type->shorthand && w->node->kind != TALUS_JSON_OBJECT)
        TALUS_TRY(expand_shorthand(w));
    if (w->node->kind != TALUS_JSON_OBJECT)
        return fail_at_node(w, "is no object");
    const SceneField *field = object ? talus_scene_find_field(w->type, key) : NULL;
    TalusJson *child = talus_json_get(w->node, key);
    if (object ? !field : !child)
        return w->node->parent ? fail_unknown_key(w, key) : fail_unknown_target(w, key);
    if (!child)
        TALUS_TRY(insert_missing_key(w, field, &child));
    w->node = child;
    w->type = object ? field->type : w->type->item;
    return TALUS_OK;
}

/* Returns the child whose index is `word` or, if `word` is no number, the child whose key `name` is `word`; NULL if
 * there is none. */
static TalusJson *find_entry(const TalusJson *list, const char *word)
{
    char *end;
    long index = strtol(word, &end, 10);
    bool by_index = end != word && *end == '\0';
    for (TalusJson *c = list->first; c; c = c->next) {
        const TalusJson *name = talus_json_get(c, "name");
        if (by_index ? c->index == index
                     : name && name->kind == TALUS_JSON_STRING && strcmp(name->text, word) == 0)
            return c;
    }
    return NULL;
}

/* Goes from an array to its entry with the index or the name `word`. */
static TalusStatus step_to_entry(Walk *w, const char *word)
{
    if (w->node->kind != TALUS_JSON_ARRAY || !w->type)
        return fail_at_node(w, "is no array");
    TalusJson *child = find_entry(w->node, word);
    char why[MAX_WORD + 96], shown[TALUS_JSON_PRINTABLE_BYTES];
    if (!child) {
        snprintf(why, sizeof why, "has no entry [%s]; it has %d", talus_json_printable(word, shown),
                 w->node->count);
        return fail_at_node(w, why);
    }
    w->node = child;
    bool nested =
        w->type->kind == SCENE_LIST && (!w->type->or_one || child->kind == TALUS_JSON_ARRAY);
    w->type = nested ? w->type->item : NULL;
    return TALUS_OK;
}

/* ---- targets ---- */

/* Copies the text up to one of the characters `ends`, or to its end, into word[MAX_WORD], and moves *text there. Fails
 * if the word is empty or too long. */
static TalusStatus read_word(const Walk *w, const char **text, const char *ends, char *word)
{
    size_t n = strcspn(*text, ends);
    if (n == 0 || n >= MAX_WORD)
        return talus_fail_at(override_location(w), TALUS_ERR_ARGUMENT,
                             "expected a name or a path such as bodies[0].material");
    memcpy(word, *text, n);
    word[n] = '\0';
    *text += n;
    return TALUS_OK;
}

/* Goes from the root to the target of an override, a parameter or a path; w->node is then the value to replace. */
static TalusStatus walk_path(Walk *w, const char *path)
{
    char word[MAX_WORD];
    const bool dotted = *path == '.';
    path += dotted;
    TALUS_TRY(read_word(w, &path, ".[", word));
    const TalusJson *params = talus_json_get(w->node, "params");
    /* A path that begins with a dot, or goes on after its first word, as bodies[0] does, means the key even if a parameter
     * has this name. */
    bool key = dotted || (talus_scene_find_field(w->type, word) && *path);
    if (params && talus_json_get(params, word) && !key)
        TALUS_TRY(step_to_key(w, "params"));
    TALUS_TRY(step_to_key(w, word));
    while (*path) {
        bool index = *path++ == '[';
        TALUS_TRY(read_word(w, &path, index ? "]" : ".[", word));
        if (index && *path++ != ']')
            return talus_fail_at(override_location(w), TALUS_ERR_ARGUMENT, "expected ']'");
        TALUS_TRY(index ? step_to_entry(w, word) : step_to_key(w, word));
        if (*path && *path != '.' && *path != '[')
            return talus_fail_at(override_location(w), TALUS_ERR_ARGUMENT,
                                 "expected '.', '[' or '='");
    }
    return TALUS_OK;
}

/* Parses a text as JSON. A text that is not JSON and begins with neither {, [ nor " becomes a string, so that
 * material=steel needs no quotes. */
static TalusStatus parse_value(const Walk *w, const char *text, TalusJson **out)
{
    TalusStatus status = parse_json(w, text, out);
    if (status != TALUS_ERR_FORMAT || (*text && strchr("{[\"", *text)))
        return status;
    char *copy;
    TALUS_TRY(new_node(w, TALUS_JSON_STRING, NULL, out));
    TALUS_TRY(talus_arena_copy_text(w->arena, text, strlen(text), &copy));
    (*out)->text = copy;
    return TALUS_OK;
}

TalusStatus talus_scene_apply_override(TalusArena *arena, TalusJson *root, const char *override)
{
    char *source;
    size_t size = strlen(override) + sizeof "--set ";
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, source, size));
    snprintf(source, size, "--set %s", override);
    Walk w = {arena, source, &talus_scene_type, root};
    const char *equals = strchr(override, '=');
    if (!equals)
        return talus_fail_at(override_location(&w), TALUS_ERR_ARGUMENT, "expected name=value");
    char *path;
    TalusJson *value;
    TALUS_TRY(talus_arena_copy_text(arena, override, (size_t)(equals - override), &path));
    TALUS_TRY(parse_value(&w, equals + 1, &value));
    TALUS_TRY(walk_path(&w, path));
    talus_json_replace(w.node, value);
    return TALUS_OK;
}
