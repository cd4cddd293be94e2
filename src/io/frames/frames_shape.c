/* io/frames/frames_shape.c - the shapes of a HEAD: JSON writer and reader, copy, comparison.
 *
 * Vertices, heights and triangles may be many: their little-endian doubles and 32-bit integers are stored as base64,
 * which is short and exact. Other numbers are JSON numbers with 17 digits. */
#include "base/memory.h"
#include "geometry/kinds.h"
#include "io/frames/frames.h"
#include "io/text/base64.h"

#include <string.h>

/* ---- writing ---- */

void talus_head_print_vector(TalusText *text, const char *key, TalusVec3 v)
{
    talus_text_print(text, "\"%s\": [%.17g, %.17g, %.17g]", key, v.x, v.y, v.z);
}

static void print_profile(TalusText *text, const TalusShapeDef *shape)
{
    talus_text_print(text, ", \"profile\": [");
    for (int i = 0; i < shape->point_count; i++)
        talus_text_print(text, "%s[%.17g, %.17g]", i ? ", " : "", shape->profile[2 * i],
                         shape->profile[2 * i + 1]);
    talus_text_print(text, "]");
}

/* Prints the member `key` with the bytes as base64. */
static void print_base64(TalusText *text, const char *key, const void *bytes, size_t size)
{
    talus_text_print(text, ", \"%s\": \"", key);
    char *reserved = talus_text_reserve(text, talus_base64_encoded_length(size));
    if (reserved)
        talus_base64_encode(bytes, size, reserved);
    talus_text_print(text, "\"");
}

static void print_shape_or_part(TalusText *text, const TalusShapeDef *shape, bool part);

static void print_parts(TalusText *text, const TalusShapeDef *shape)
{
    talus_text_print(text, ", \"parts\": [");
    for (int i = 0; i < shape->part_count; i++) {
        const TalusShapePart *part = &shape->part[i];
        TalusQuat q = part->orientation;
        talus_text_print(text, "%s{", i ? ", " : "");
        talus_head_print_vector(text, "position", part->position);
        talus_text_print(text, ", \"orientation\": [%.17g, %.17g, %.17g, %.17g], \"shape\": ", q.w,
                         q.x, q.y, q.z);
        print_shape_or_part(text, part->shape, true);
        talus_text_print(text, "}");
    }
    talus_text_print(text, "]");
}

static void print_heights(TalusText *text, const TalusShapeDef *shape)
{
    talus_text_print(text, ", \"columns\": %d, \"rows\": %d, \"spacing\": %.17g", shape->columns,
                     shape->rows, shape->spacing);
    print_base64(text, "height", shape->height,
                 (size_t)shape->columns * (size_t)shape->rows * sizeof *shape->height);
}

/* True if the shape has an inertia of its own. */
static bool has_gyration(const TalusShapeDef *shape)
{
    const TalusSym3 g = shape->gyration;
    return g.xx != 0.0 || g.yy != 0.0 || g.zz != 0.0 || g.xy != 0.0 || g.xz != 0.0 || g.yz != 0.0;
}

static void print_gyration(TalusText *text, TalusSym3 g)
{
    talus_text_print(text, ", \"gyration\": [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g]", g.xx, g.yy,
                     g.zz, g.xy, g.xz, g.yz);
}

/* Returns the TALUS_USES_* bits of the members that define a shape: none for a sphere, whose radius is that of the
 * body, unless it is part of a compound (`part`). */
static int used_members(const TalusShapeDef *shape, bool part)
{
    int uses = talus_shape_ops(shape->kind)->uses;
    return shape->kind == TALUS_SHAPE_SPHERE && !part ? 0 : uses;
}

/* Prints the object of a shape; its closing brace only if the shape is part of a compound (`part`). */
static void print_shape_or_part(TalusText *text, const TalusShapeDef *shape, bool part)
{
    int uses = used_members(shape, part);
    talus_text_print(text, "{\"kind\": \"%s\"", talus_shape_name(shape->kind));
    if (uses & TALUS_USES_HALF) {
        talus_text_print(text, ", ");
        talus_head_print_vector(text, "half", shape->half);
    }
    for (int i = 0; i < TALUS_LENGTHS; i++)
        if (talus_uses_length(uses, i))
            talus_text_print(text, ", \"%s\": %.17g", talus_shape_length_name(i),
                             talus_shape_get_length(shape, i));
    if (uses & TALUS_USES_PROFILE)
        print_profile(text, shape);
    if (uses & TALUS_USES_TRIANGLE)
        print_base64(text, "triangle", shape->triangle,
                     3 * (size_t)shape->triangle_count * sizeof *shape->triangle);
    if (uses & TALUS_USES_VERTEX)
        print_base64(text, "vertex", shape->vertex,
                     (size_t)shape->vertex_count * sizeof *shape->vertex);
    if (uses & TALUS_USES_HEIGHTS)
        print_heights(text, shape);
    if (uses & TALUS_USES_PARTS)
        print_parts(text, shape);
    if (has_gyration(shape))
        print_gyration(text, shape->gyration);
    if (part)
        talus_text_print(text, "}");
}

void talus_head_print_shape(TalusText *text, const TalusShapeDef *shape)
{
    print_shape_or_part(text, shape, false);
}

/* ---- reading: values ---- */

TalusStatus talus_head_find_member(const TalusJson *object, const char *key, TalusJsonKind kind,
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

TalusStatus talus_head_read_number(const TalusJson *object, const char *key, double *out)
{
    const TalusJson *node;
    TALUS_TRY(talus_head_find_member(object, key, TALUS_JSON_NUMBER, &node));
    *out = node->number;
    return TALUS_OK;
}

TalusStatus talus_head_read_list(const TalusJson *node, int count, double *out)
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

TalusStatus talus_head_read_vector(const TalusJson *object, const char *key, TalusVec3 *out)
{
    const TalusJson *node;
    double v[3];
    TALUS_TRY(talus_head_find_member(object, key, TALUS_JSON_ARRAY, &node));
    TALUS_TRY(talus_head_read_list(node, 3, v));
    *out = talus_vec3(v[0], v[1], v[2]);
    if (!(talus_norm(*out) < TALUS_HEAD_NUMBER_MAX))
        return talus_json_fail(node, 0, "is too long a vector");
    return TALUS_OK;
}

/* Decodes the base64 member `key` into elements of `size` bytes each, in the arena; sets *count to their number. */
static TalusStatus read_base64(TalusArena *arena, const TalusJson *object, const char *key,
                               size_t size, const void **out, int *count)
{
    const TalusJson *node;
    unsigned char *decoded;
    size_t bytes;
    TALUS_TRY(talus_head_find_member(object, key, TALUS_JSON_STRING, &node));
    size_t length = strlen(node->text);
    if (!talus_base64_decoded_size(node->text, length, &bytes) || bytes % size != 0)
        return talus_json_fail(node, 0, "is not base64 of elements of %zu bytes each", size);
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, decoded, bytes));
    if (!talus_base64_decode(node->text, length, decoded))
        return talus_json_fail(node, 0, "is not base64");
    *out = decoded;
    *count = (int)(bytes / size);
    return TALUS_OK;
}

/* As read_base64, for elements of `components` doubles; fails on a double of TALUS_HEAD_NUMBER_MAX or more. */
static TalusStatus read_doubles(TalusArena *arena, const TalusJson *object, const char *key,
                                int components, const void **out, int *count)
{
    TALUS_TRY(read_base64(arena, object, key, (size_t)components * sizeof(double), out, count));
    const double *value = *out;
    for (int k = 0; k < *count * components; k++)
        if (!(fabs(value[k]) < TALUS_HEAD_NUMBER_MAX))
            return talus_json_fail(talus_json_get(object, key), 0, "has %g for number %d", value[k],
                                   k);
    return TALUS_OK;
}

/* ---- reading: kinds ---- */

static TalusStatus read_profile(TalusArena *arena, const TalusJson *object, TalusShapeDef *out)
{
    const TalusJson *node;
    double *point;
    TALUS_TRY(talus_head_find_member(object, "profile", TALUS_JSON_ARRAY, &node));
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, point, 2 * (size_t)node->count));
    out->profile = point;
    out->point_count = node->count;
    for (const TalusJson *n = node->first; n; n = n->next, point += 2)
        TALUS_TRY(talus_head_read_list(n, 2, point));
    return TALUS_OK;
}

static TalusStatus read_triangles(TalusArena *arena, const TalusJson *node, TalusShapeDef *out)
{
    const void *triangle;
    TALUS_TRY(
        read_base64(arena, node, "triangle", 3 * sizeof(int32_t), &triangle, &out->triangle_count));
    out->triangle = triangle;
    for (int k = 0; k < 3 * out->triangle_count; k++)
        if (out->triangle[k] < 0 || out->triangle[k] >= out->vertex_count)
            return talus_json_fail(talus_json_get(node, "triangle"), 0,
                                   "has vertex %d; there are %d", out->triangle[k],
                                   out->vertex_count);
    return TALUS_OK;
}

static TalusStatus read_heights(TalusArena *arena, const TalusJson *node, TalusShapeDef *out)
{
    double columns, rows;
    const void *height;
    int count;
    TALUS_TRY(talus_head_read_number(node, "columns", &columns));
    TALUS_TRY(talus_head_read_number(node, "rows", &rows));
    TALUS_TRY(talus_head_read_number(node, "spacing", &out->spacing));
    TALUS_TRY(read_doubles(arena, node, "height", 1, &height, &count));
    out->height = height;
    if (!(columns >= 2.0 && rows >= 2.0 && columns == floor(columns) && columns * rows == count))
        return talus_json_fail(node, 0, "has %d heights for %g columns and %g rows", count, columns,
                               rows);
    out->columns = (int)columns;
    out->rows = (int)rows;
    return TALUS_OK;
}

static TalusStatus read_shape_members(TalusArena *arena, const TalusJson *node, bool part,
                                      TalusShapeDef *out);

static TalusStatus read_part(TalusArena *arena, const TalusJson *node, TalusShapePart *out)
{
    const TalusJson *shape, *turn;
    TalusShapeDef *def;
    double q[4];
    if (node->kind != TALUS_JSON_OBJECT)
        return talus_json_fail(node, 0, "is not a part of a shape");
    TALUS_TRY(talus_head_read_vector(node, "position", &out->position));
    TALUS_TRY(talus_head_find_member(node, "orientation", TALUS_JSON_ARRAY, &turn));
    TALUS_TRY(talus_head_read_list(turn, 4, q));
    out->orientation = (TalusQuat){q[0], q[1], q[2], q[3]};
    double norm = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(fabs(norm - 1.0) < 1e-6))
        return talus_json_fail(turn, 0, "is not a unit quaternion");
    TALUS_TRY(talus_head_find_member(node, "shape", TALUS_JSON_OBJECT, &shape));
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, def, 1));
    out->shape = def;
    return read_shape_members(arena, shape, true, def);
}

static TalusStatus read_parts(TalusArena *arena, const TalusJson *node, TalusShapeDef *out)
{
    const TalusJson *list;
    TalusShapePart *part;
    TALUS_TRY(talus_head_find_member(node, "parts", TALUS_JSON_ARRAY, &list));
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, part, list->count));
    out->part = part;
    out->part_count = list->count;
    for (const TalusJson *n = list->first; n; n = n->next)
        TALUS_TRY(read_part(arena, n, part++));
    return TALUS_OK;
}

static TalusStatus read_vertices(TalusArena *arena, const TalusJson *node, TalusShapeDef *out)
{
    const void *vertex;
    TALUS_TRY(read_doubles(arena, node, "vertex", 3, &vertex, &out->vertex_count));
    out->vertex = vertex;
    return TALUS_OK;
}

/* Reads the member "kind" of a shape. */
static TalusStatus read_shape_kind(const TalusJson *node, TalusShapeKind *out)
{
    const TalusJson *name;
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    int kind = 0;
    TALUS_TRY(talus_head_find_member(node, "kind", TALUS_JSON_STRING, &name));
    while (kind < TALUS_SHAPE_KINDS &&
           strcmp(name->text, talus_shape_name((TalusShapeKind)kind)) != 0)
        kind++;
    if (kind == TALUS_SHAPE_KINDS)
        return talus_json_fail(node, 0, "\"%s\" is not a shape this program knows",
                               talus_json_printable(name->text, shown));
    *out = (TalusShapeKind)kind;
    return TALUS_OK;
}

/* Reads the lengths that are in `uses`. */
static TalusStatus read_lengths(const TalusJson *node, int uses, TalusShapeDef *out)
{
    for (int i = 0; i < TALUS_LENGTHS; i++) {
        double value;
        if (!talus_uses_length(uses, i))
            continue;
        TALUS_TRY(talus_head_read_number(node, talus_shape_length_name(i), &value));
        talus_shape_set_length(out, i, value);
    }
    return TALUS_OK;
}

/* Reads the inertia over mass, which only shapes with an inertia of their own have. */
static TalusStatus read_gyration(const TalusJson *object, TalusSym3 *out)
{
    const TalusJson *node = talus_json_get(object, "gyration");
    double g[6];
    if (!node)
        return TALUS_OK;
    TALUS_TRY(talus_head_read_list(node, 6, g));
    *out = (TalusSym3){g[0], g[1], g[2], g[3], g[4], g[5]};
    return TALUS_OK;
}

/* Reads the kind of a shape and the members that the kind has; the radius of a sphere only of a part of a compound
 * (`part`). */
static TalusStatus read_shape_members(TalusArena *arena, const TalusJson *node, bool part,
                                      TalusShapeDef *out)
{
    *out = (TalusShapeDef){0};
    TALUS_TRY(read_shape_kind(node, &out->kind));
    int uses = used_members(out, part);
    if (uses & TALUS_USES_HALF)
        TALUS_TRY(talus_head_read_vector(node, "half", &out->half));
    TALUS_TRY(read_lengths(node, uses, out));
    TALUS_TRY(read_gyration(node, &out->gyration));
    if (uses & TALUS_USES_PROFILE)
        TALUS_TRY(read_profile(arena, node, out));
    if (uses & TALUS_USES_VERTEX)
        TALUS_TRY(read_vertices(arena, node, out));
    if (uses & TALUS_USES_TRIANGLE)
        TALUS_TRY(read_triangles(arena, node, out));
    if (uses & TALUS_USES_HEIGHTS)
        TALUS_TRY(read_heights(arena, node, out));
    return uses & TALUS_USES_PARTS ? read_parts(arena, node, out) : TALUS_OK;
}

TalusStatus talus_head_read_shape(TalusArena *arena, const TalusJson *node, TalusShapeDef *out)
{
    TalusShape shape;
    if (node->kind != TALUS_JSON_OBJECT)
        return talus_json_fail(node, 0, "is not a shape");
    TALUS_TRY(read_shape_members(arena, node, false, out));
    if (out->kind == TALUS_SHAPE_SPHERE)
        return TALUS_OK; /* bodies have the radii */
    TalusStatus status = talus_shape_init(&shape, out);
    if (status == TALUS_OK)
        talus_shape_clear(&shape);
    return talus_json_error_at(node, status == TALUS_ERR_ARGUMENT ? TALUS_ERR_FORMAT : status);
}

/* ---- copies and comparison ---- */

/* Arrays of a shape. list_arrays lists their pointers and sizes in bytes, 0 for NULL. */
enum { PROFILE, VERTEX, TRIANGLE, HEIGHT, ARRAYS };

/* Sets array[] and bytes[] to the arrays of a shape and their sizes; size 0 for a missing array. */
static void list_arrays(const TalusShapeDef *shape, const void *array[ARRAYS], size_t bytes[ARRAYS])
{
    array[PROFILE] = shape->profile;
    array[VERTEX] = shape->vertex;
    array[TRIANGLE] = shape->triangle;
    array[HEIGHT] = shape->height;
    bytes[PROFILE] = 2 * (size_t)shape->point_count * sizeof *shape->profile;
    bytes[VERTEX] = (size_t)shape->vertex_count * sizeof *shape->vertex;
    bytes[TRIANGLE] = 3 * (size_t)shape->triangle_count * sizeof *shape->triangle;
    bytes[HEIGHT] = (size_t)shape->columns * (size_t)shape->rows * sizeof *shape->height;
    for (int k = 0; k < ARRAYS; k++)
        if (!array[k])
            bytes[k] = 0;
}

static TalusStatus copy_parts(TalusArena *arena, const TalusShapeDef *shape, TalusShapeDef *out)
{
    TalusShapePart *part;
    TALUS_TRY(TALUS_ARENA_ALLOC(arena, part, shape->part_count));
    out->part = part;
    for (int k = 0; k < shape->part_count; k++) {
        TalusShapeDef *def;
        TALUS_TRY(TALUS_ARENA_ALLOC(arena, def, 1));
        part[k] = shape->part[k];
        part[k].shape = def;
        TALUS_TRY(talus_head_copy_shape(arena, shape->part[k].shape, def));
    }
    return TALUS_OK;
}

TalusStatus talus_head_copy_shape(TalusArena *arena, const TalusShapeDef *shape, TalusShapeDef *out)
{
    const void *array[ARRAYS];
    void *copy[ARRAYS] = {NULL};
    size_t bytes[ARRAYS];
    list_arrays(shape, array, bytes);
    for (int k = 0; k < ARRAYS; k++) {
        if (bytes[k] == 0)
            continue;
        copy[k] = talus_arena_alloc(arena, bytes[k]);
        if (!copy[k])
            return TALUS_ERR_MEMORY;
        memcpy(copy[k], array[k], bytes[k]);
    }
    *out = *shape;
    out->profile = copy[PROFILE];
    out->vertex = copy[VERTEX];
    out->triangle = copy[TRIANGLE];
    out->height = copy[HEIGHT];
    out->part = NULL;
    return used_members(shape, false) & TALUS_USES_PARTS ? copy_parts(arena, shape, out) : TALUS_OK;
}

/* True if all arrays have equal bytes. */
static bool same_arrays(const TalusShapeDef *a, const TalusShapeDef *b)
{
    const void *x[ARRAYS], *y[ARRAYS];
    size_t x_bytes[ARRAYS], y_bytes[ARRAYS];
    list_arrays(a, x, x_bytes);
    list_arrays(b, y, y_bytes);
    for (int k = 0; k < ARRAYS; k++)
        if (x_bytes[k] != y_bytes[k] || (x_bytes[k] && memcmp(x[k], y[k], x_bytes[k]) != 0))
            return false;
    return true;
}

static bool same_shape_or_part(const TalusShapeDef *a, const TalusShapeDef *b, bool part);

static bool same_parts(const TalusShapeDef *a, const TalusShapeDef *b)
{
    if (a->part_count != b->part_count)
        return false;
    for (int k = 0; k < a->part_count; k++) {
        const TalusShapePart *p = &a->part[k], *q = &b->part[k];
        if (memcmp(&p->position, &q->position, sizeof p->position) != 0 ||
            memcmp(&p->orientation, &q->orientation, sizeof p->orientation) != 0 ||
            !same_shape_or_part(p->shape, q->shape, true))
            return false;
    }
    return true;
}

/* True if two shapes are equal; radii of spheres count only if they are parts of compounds (`part`). */
static bool same_shape_or_part(const TalusShapeDef *a, const TalusShapeDef *b, bool part)
{
    int uses = used_members(a, part);
    if (a->kind != b->kind || memcmp(&a->gyration, &b->gyration, sizeof a->gyration) != 0)
        return false;
    if (uses & TALUS_USES_HALF && memcmp(&a->half, &b->half, sizeof a->half) != 0)
        return false;
    for (int i = 0; i < TALUS_LENGTHS; i++)
        if (talus_uses_length(uses, i) &&
            talus_shape_get_length(a, i) != talus_shape_get_length(b, i))
            return false;
    if (uses & TALUS_USES_HEIGHTS && (a->columns != b->columns || a->spacing != b->spacing))
        return false;
    return uses & TALUS_USES_PARTS ? same_parts(a, b) : same_arrays(a, b);
}

bool talus_head_shapes_equal(const TalusShapeDef *a, const TalusShapeDef *b)
{
    return same_shape_or_part(a, b, false);
}
