/* io/scene/scene_copies.c - several copies of a scene side by side in one world.
 *
 * Many small worlds, such as those of a parameter study, keep neither a GPU nor many threads busy one after the other.
 * As copies in one world they are detected, solved and moved together. The file is read once per copy, with another
 * value of `copy` in its expressions, so that copies may differ in materials, sizes, seeds and everything else that
 * belongs to their bodies. Bodies of different copies never collide, wherever they are; that copies stand side by side
 * keeps the search for pairs short and lets them be looked at. */
#include "io/scene/scene_copies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int talus_scene_copy_count(const TalusScene *scene)
{
    return scene->copies ? (int)scene->copies->count : 1;
}

const TalusScene *talus_scene_copy(const TalusScene *scene, int k)
{
    return k == 0 ? scene : &scene->other_copy[k - 1];
}

/* ---- comparison ---- */

static bool same_object(const SceneType *type, const char *a, const char *b);

/* True if two lists have equal items. */
static bool same_list(const SceneType *type, const SceneList *a, const SceneList *b);

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* True if two members of this type, read from the same place of the file for different copies, are equal. */
static bool same_value(const SceneType *type, const char *a, const char *b)
{
    const char *first, *second;
    switch (type->kind) {
    case SCENE_REAL: return memcmp(a, b, sizeof(double)) == 0;
    case SCENE_REALS: return memcmp(a, b, (size_t)type->length * sizeof(double)) == 0;
    case SCENE_INT: return memcmp(a, b, type->narrow ? sizeof(int) : sizeof(int64_t)) == 0;
    case SCENE_FLAG: return memcmp(a, b, sizeof(bool)) == 0;
    case SCENE_CHOICE: return memcmp(a, b, sizeof(int)) == 0;
    case SCENE_LIST:
    case SCENE_MAP:
    case SCENE_PARAMS: return same_list(type, (const SceneList *)a, (const SceneList *)b);
    case SCENE_TEXT:
    case SCENE_OBJECT: break;
    }
    memcpy(&first, a, sizeof first); /* the member is a pointer to a text or an object */
    memcpy(&second, b, sizeof second);
    if (type->kind == SCENE_TEXT)
        return same_text(first, second);
    return first && second ? same_object(type, first, second) : first == second;
}

static bool same_list(const SceneType *type, const SceneList *a, const SceneList *b)
{
    size_t size = talus_scene_item_size(type->item);
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++) {
        const char *first = (const char *)a->items + (size_t)i * size;
        const char *second = (const char *)b->items + (size_t)i * size;
        if (!(type->item->kind == SCENE_OBJECT ? same_object(type->item, first, second)
                                               : same_value(type->item, first, second)))
            return false;
    }
    return true;
}

static bool same_object(const SceneType *type, const char *a, const char *b)
{
    for (int i = 0; i < type->field_count; i++) {
        const SceneField *f = &type->fields[i];
        if (!same_value(f->type, a + f->offset, b + f->offset))
            return false;
    }
    return true;
}

/* True if copies a and b have equal values of a key of the scene. */
static bool same_key(const TalusScene *a, const TalusScene *b, const char *key)
{
    const SceneField *f = talus_scene_find_field(&talus_scene_type, key);
    return same_value(f->type, (const char *)a + f->offset, (const char *)b + f->offset);
}

/* True for keys of a scene in which copies may differ. */
static bool may_differ(const char *key)
{
    static const char *const keys[] = {"params", "seed",   "materials", "friction", "shapes",
                                       "bodies", "joints", "emitters",  "probes"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

int talus_scene_copy_of_materials(const TalusScene *scene, int k)
{
    const TalusScene *copy = talus_scene_copy(scene, k);
    for (int i = 0; i < k; i++)
        if (same_key(talus_scene_copy(scene, i), copy, "materials") &&
            same_key(talus_scene_copy(scene, i), copy, "friction"))
            return i;
    return k;
}

int talus_scene_copy_of_shapes(const TalusScene *scene, int k)
{
    for (int i = 0; i < k; i++)
        if (same_key(talus_scene_copy(scene, i), talus_scene_copy(scene, k), "shapes") &&
            same_key(talus_scene_copy(scene, i), talus_scene_copy(scene, k), "seed"))
            return i;
    return k;
}

/* ---- reading ---- */

/* Fails if the world of copy k would not be that of copy 0. */
static TalusStatus check_shared_keys(const TalusScene *scene, int k)
{
    for (int i = 0; i < talus_scene_type.field_count; i++) {
        const char *key = talus_scene_type.fields[i].key;
        if (!may_differ(key) && !same_key(scene, talus_scene_copy(scene, k), key))
            return talus_json_fail(talus_json_get_or_self(scene->json, key), 0,
                                   "differs between copies 0 and %d, which are in one world: it "
                                   "must not depend on `copy`",
                                   k);
    }
    return TALUS_OK;
}

/* Fails if the scene has what copies cannot have: they stand side by side in x and y. */
static TalusStatus check_possible(const TalusScene *scene)
{
    const SceneSink *sinks = (const SceneSink *)scene->sinks.items;
    if (scene->from)
        return talus_json_fail(
            scene->from->json, 0,
            "a scene with `copies` cannot start from a run: it has one set of bodies");
    if (scene->period)
        return talus_json_fail(scene->period->json, 0,
                               "a scene with `copies` cannot be periodic: they share one space");
    for (int i = 0; i < scene->sinks.count; i++)
        if (sinks[i].axis != 2)
            return talus_json_fail(
                sinks[i].json, 0,
                "a scene with `copies` can have sinks along z only: copies stand "
                "side by side in x and y");
    return TALUS_OK;
}

TalusStatus talus_scene_name_copy(int k, TalusStatus status)
{
    char where[32];
    if (k == 0)
        return status;
    snprintf(where, sizeof where, " (where copy = %d)", k);
    return talus_error_add(where, status);
}

TalusStatus talus_scene_read_copies(TalusScene *scene, const TalusJson *root)
{
    int count = talus_scene_copy_count(scene);
    if (count == 1)
        return TALUS_OK;
    TALUS_TRY(check_possible(scene));
    TALUS_TRY(TALUS_ARENA_ALLOC(&scene->arena, scene->other_copy, count - 1));
    for (int k = 1; k < count; k++) {
        TalusScene *copy = &scene->other_copy[k - 1];
        copy->folder = scene->folder;
        copy->scope.copy = k;
        TALUS_TRY(talus_scene_name_copy(k, talus_scene_read(copy, root, &scene->arena)));
        TALUS_TRY(talus_scene_name_copy(k, talus_scene_check(copy)));
        TALUS_TRY(check_shared_keys(scene, k));
    }
    return TALUS_OK;
}

/* ---- layout ---- */

TalusVec3 talus_scene_copy_shift(const TalusScene *scene, int k, TalusVec3 width)
{
    if (k == 0)
        return talus_vec3(0.0, 0.0, 0.0);
    int side = (int)ceil(sqrt(talus_scene_copy_count(scene)));
    const double *given = scene->copies->spacing;
    double x = given[0] > 0.0 ? given[0] : 1.25 * width.x;
    double y = given[1] > 0.0 ? given[1] : 1.25 * width.y;
    return talus_vec3(k % side * x, k / side * y, 0.0);
}

void talus_scene_copy_suffix(const TalusScene *scene, int k, char text[TALUS_SCENE_SUFFIX_BYTES])
{
    text[0] = '\0';
    if (talus_scene_copy_count(scene) > 1)
        snprintf(text, TALUS_SCENE_SUFFIX_BYTES, "[%d]", k);
}
