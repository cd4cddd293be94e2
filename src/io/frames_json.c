/* io/frames_json.c - the HEAD of a frames file as JSON, written and read back. */
#include "base/memory.h"
#include "geometry/shape.h"
#include "io/frames.h"
#include "io/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Numbers within this can be squared and added without overflow. */
#define MOST 1e100

/* ---- writing ---- */

typedef struct Text {
    char *bytes;
    size_t size, capacity;
    TalusStatus status; /* of the first failure */
} Text;

static void put(Text *text, const char *bytes, size_t size)
{
    if (text->status == TALUS_OK)
        text->status = TALUS_RESERVE(text->bytes, text->capacity, text->size + size + 1, text->size,
                                     "frames head");
    if (text->status != TALUS_OK)
        return;
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

static void print(Text *text, const char *format, ...) TALUS_PRINTF(2, 3);

static void print(Text *text, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    put(text, line, (size_t)n);
}

static void print_string(Text *text, const char *string)
{
    put(text, "\"", 1);
    for (; *string; string++) {
        if ((unsigned char)*string < 0x20)
            print(text, "\\u%04x", *string);
        else if (*string == '"' || *string == '\\')
            print(text, "\\%c", *string);
        else
            put(text, string, 1);
    }
    put(text, "\"", 1);
}

static void print_vector(Text *text, const char *key, TalusVec3 v)
{
    print(text, "\"%s\": [%.17g, %.17g, %.17g]", key, v.x, v.y, v.z);
}

static void print_profile(Text *text, const TalusShapeDef *shape)
{
    print(text, ", \"profile\": [");
    for (int i = 0; i < shape->point_count; i++)
        print(text, "%s[%.17g, %.17g]", i ? ", " : "", shape->profile[2 * i],
              shape->profile[2 * i + 1]);
    print(text, "]");
}

static void print_shape(Text *text, const TalusShapeDef *shape)
{
    print(text, "{\"kind\": \"%s\"", talus_shape_name(shape->kind));
    if (shape->kind == TALUS_SHAPE_BOX) {
        print(text, ", ");
        print_vector(text, "half", shape->half);
    } else if (shape->kind == TALUS_SHAPE_CYLINDER) {
        print(text, ", \"radius\": %.17g, \"half_height\": %.17g", shape->radius,
              shape->half_height);
    } else if (shape->kind == TALUS_SHAPE_REVOLVE) {
        print_profile(text, shape);
    }
    print(text, "}");
}

static void print_tables(Text *text, const TalusFramesHead *head)
{
    print(text, "\"shapes\": [");
    for (int i = 0; i < head->shape_count; i++) {
        print(text, "%s", i ? ", " : "");
        print_shape(text, &head->shapes[i]);
    }
    print(text, "],\n\"materials\": [");
    for (int i = 0; i < head->material_count; i++) {
        print(text, "%s{\"name\": ", i ? ", " : "");
        print_string(text, head->materials[i].name);
        print(text, ", \"friction\": %.17g, \"density\": %.17g}", head->materials[i].friction,
              head->materials[i].density);
    }
    print(text, "]}\n");
}

TalusStatus talus_frames_head_write(const TalusFramesHead *head, char **text, size_t *size)
{
    Text out = {0};
    *text = NULL;
    print(&out, "{\"producer\": \"talus %s\", \"title\": ", talus_version());
    print_string(&out, head->title);
    print(&out, ", \"scene\": ");
    print_string(&out, head->scene);
    print(&out, ",\n");
    print_vector(&out, "gravity", head->gravity);
    print(&out, ", \"step\": %.17g, \"radius\": %.17g, \"quantum\": %.17g,\n", head->step,
          head->radius, head->quantum);
    print_vector(&out, "origin", head->origin);
    if (isnan(head->floor))
        print(&out, ", \"floor\": null");
    else
        print(&out, ", \"floor\": %.17g", head->floor);
    print(&out, ", \"detail\": \"%s\",\n", head->lean ? "lean" : "full");
    print_tables(&out, head);
    if (out.status == TALUS_OK && out.size > TALUS_FRAMES_HEAD_LIMIT)
        out.status = talus_fail(TALUS_ERR_UNSUPPORTED,
                                "frames: %d shapes and %d materials take more than the %d bytes "
                                "that a head may have",
                                head->shape_count, head->material_count, TALUS_FRAMES_HEAD_LIMIT);
    if (out.status != TALUS_OK) {
        talus_release(out.bytes);
        return out.status;
    }
    *text = out.bytes;
    *size = out.size;
    return TALUS_OK;
}

/* ---- reading ---- */

static TalusStatus member(const TalusJson *object, const char *key, TalusJsonKind kind,
                          const TalusJson **out)
{
    *out = talus_json_get(object, key);
    if (!*out)
        return talus_json_fail(object, 0, "lacks \"%s\"", key);
    if ((*out)->kind != kind)
        return talus_json_fail(*out, 0, "is %s; expected %s", talus_json_kind_name((*out)->kind),
                               talus_json_kind_name(kind));
    return TALUS_OK;
}

static TalusStatus read_number(const TalusJson *object, const char *key, double *out)
{
    const TalusJson *node;
    TALUS_TRY(member(object, key, TALUS_JSON_NUMBER, &node));
    *out = node->number;
    return TALUS_OK;
}

static TalusStatus read_text(const TalusJson *object, const char *key, const char **out)
{
    const TalusJson *node;
    TALUS_TRY(member(object, key, TALUS_JSON_STRING, &node));
    *out = node->text;
    return TALUS_OK;
}

static TalusStatus read_list(const TalusJson *node, int count, double *out)
{
    if (node->kind != TALUS_JSON_ARRAY || node->count != count)
        return talus_json_fail(node, 0, "is not a list of %d numbers", count);
    for (const TalusJson *n = node->first; n; n = n->next, out++) {
        if (n->kind != TALUS_JSON_NUMBER)
            return talus_json_fail(n, 0, "is %s; expected a number", talus_json_kind_name(n->kind));
        *out = n->number;
    }
    return TALUS_OK;
}

static TalusStatus read_vector(const TalusJson *object, const char *key, TalusVec3 *out)
{
    const TalusJson *node;
    double v[3];
    TALUS_TRY(member(object, key, TALUS_JSON_ARRAY, &node));
    TALUS_TRY(read_list(node, 3, v));
    *out = talus_vec3(v[0], v[1], v[2]);
    if (!(talus_norm(*out) < MOST))
        return talus_json_fail(node, 0, "is too long a vector");
    return TALUS_OK;
}

static TalusStatus read_profile(TalusArena *arena, const TalusJson *object, TalusShapeDef *out)
{
    const TalusJson *node;
    void *block;
    TALUS_TRY(member(object, "profile", TALUS_JSON_ARRAY, &node));
    TALUS_TRY(talus_arena_alloc(arena, 2 * (size_t)node->count * sizeof(double), &block));
    double *point = block;
    out->profile = point;
    out->point_count = node->count;
    for (const TalusJson *n = node->first; n; n = n->next, point += 2)
        TALUS_TRY(read_list(n, 2, point));
    return TALUS_OK;
}

/* A shape must be one that a world would take. */
static TalusStatus check_shape(const TalusJson *node, const TalusShapeDef *def)
{
    TalusShape shape;
    if (def->kind == TALUS_SHAPE_SPHERE)
        return TALUS_OK; /* radii are the bodies' */
    TalusStatus status = talus_shape_init(&shape, def);
    if (status == TALUS_OK)
        talus_shape_clear(&shape);
    return status == TALUS_ERR_ARGUMENT ? talus_json_fail(node, 0, "%s", talus_error()) : status;
}

static TalusStatus read_shape(TalusArena *arena, const TalusJson *node, TalusShapeDef *out)
{
    const char *name;
    char shown[TALUS_JSON_SHOWN];
    int kind = 0;
    *out = (TalusShapeDef){0};
    if (node->kind != TALUS_JSON_OBJECT)
        return talus_json_fail(node, 0, "is not a shape");
    TALUS_TRY(read_text(node, "kind", &name));
    while (kind < TALUS_SHAPE_KINDS && strcmp(name, talus_shape_name((TalusShapeKind)kind)) != 0)
        kind++;
    if (kind == TALUS_SHAPE_KINDS)
        return talus_json_fail(node, 0, "\"%s\" is not a shape this program knows",
                               talus_json_show(name, shown));
    out->kind = (TalusShapeKind)kind;
    if (out->kind == TALUS_SHAPE_BOX)
        TALUS_TRY(read_vector(node, "half", &out->half));
    if (out->kind == TALUS_SHAPE_CYLINDER) {
        TALUS_TRY(read_number(node, "radius", &out->radius));
        TALUS_TRY(read_number(node, "half_height", &out->half_height));
    }
    if (out->kind == TALUS_SHAPE_REVOLVE)
        TALUS_TRY(read_profile(arena, node, out));
    return check_shape(node, out);
}

static TalusStatus read_shapes(TalusArena *arena, const TalusJson *root, TalusFramesHead *head)
{
    const TalusJson *list;
    void *block;
    TALUS_TRY(member(root, "shapes", TALUS_JSON_ARRAY, &list));
    TALUS_TRY(talus_arena_alloc(arena, (size_t)list->count * sizeof(TalusShapeDef), &block));
    TalusShapeDef *shape = block;
    head->shapes = shape;
    head->shape_count = list->count;
    for (const TalusJson *n = list->first; n; n = n->next)
        TALUS_TRY(read_shape(arena, n, shape++));
    return TALUS_OK;
}

static TalusStatus read_materials(TalusArena *arena, const TalusJson *root, TalusFramesHead *head)
{
    const TalusJson *list;
    void *block;
    TALUS_TRY(member(root, "materials", TALUS_JSON_ARRAY, &list));
    TALUS_TRY(talus_arena_alloc(arena, (size_t)list->count * sizeof(TalusFramesMaterial), &block));
    TalusFramesMaterial *material = block;
    head->materials = material;
    head->material_count = list->count;
    for (const TalusJson *n = list->first; n; n = n->next, material++) {
        if (n->kind != TALUS_JSON_OBJECT)
            return talus_json_fail(n, 0, "is not a material");
        TALUS_TRY(read_text(n, "name", &material->name));
        TALUS_TRY(read_number(n, "friction", &material->friction));
        TALUS_TRY(read_number(n, "density", &material->density));
    }
    return TALUS_OK;
}

/* A length or time that can be divided by. */
static TalusStatus read_scale(const TalusJson *root, const char *key, double *out)
{
    TALUS_TRY(read_number(root, key, out));
    if (!(*out > 1.0 / MOST && *out < MOST))
        return talus_json_fail(talus_json_get(root, key), 0, "is %g; expected more than 0", *out);
    return TALUS_OK;
}

static TalusStatus read_floor(const TalusJson *root, double *out)
{
    const TalusJson *node = talus_json_get(root, "floor");
    *out = NAN;
    return node && node->kind == TALUS_JSON_NULL ? TALUS_OK : read_number(root, "floor", out);
}

static TalusStatus read_root(TalusArena *arena, const TalusJson *root, TalusFramesHead *head)
{
    const char *detail;
    if (root->kind != TALUS_JSON_OBJECT)
        return talus_json_fail(root, 0, "is %s; expected an object",
                               talus_json_kind_name(root->kind));
    TALUS_TRY(read_text(root, "title", &head->title));
    TALUS_TRY(read_text(root, "scene", &head->scene));
    TALUS_TRY(read_vector(root, "gravity", &head->gravity));
    TALUS_TRY(read_scale(root, "step", &head->step));
    TALUS_TRY(read_scale(root, "radius", &head->radius));
    TALUS_TRY(read_scale(root, "quantum", &head->quantum));
    TALUS_TRY(read_vector(root, "origin", &head->origin));
    TALUS_TRY(read_floor(root, &head->floor));
    TALUS_TRY(read_text(root, "detail", &detail));
    head->lean = strcmp(detail, "lean") == 0;
    TALUS_TRY(read_shapes(arena, root, head));
    return read_materials(arena, root, head);
}

TalusStatus talus_frames_head_read(const char *text, size_t size, const char *source,
                                   TalusHeadStore *out)
{
    TalusJson *root;
    talus_frames_head_clear(out);
    TalusStatus status = talus_json_parse(&out->arena, text, size, source, true, &root);
    if (status == TALUS_OK)
        status = read_root(&out->arena, root, &out->head);
    if (status != TALUS_OK)
        talus_frames_head_clear(out);
    return status;
}
