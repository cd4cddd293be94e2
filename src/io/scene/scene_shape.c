/* io/scene/scene_shape.c - shapes of a scene for the world: from numbers, from files, or random. */
#include "io/scene/scene.h"

#include "base/memory.h"
#include "base/rng.h"
#include "geometry/kinds.h"
#include "geometry/traits.h"
#include "io/file/file.h"
#include "io/text/numbers.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The definition of a shape and the memory that it points to; unused pointers are NULL. */
typedef struct Draft {
    TalusShapeDef def;
    double scale; /* of all lengths */
    TalusVec3 *point;
    double *height;
    TalusSurface surface;
    struct Draft *part_draft; /* [def.part_count]: drafts of the parts of a compound */
    TalusShapePart *part;     /* [def.part_count] */
} Draft;

static void free_draft(Draft *d)
{
    for (int k = 0; d->part_draft && k < d->def.part_count; k++)
        free_draft(&d->part_draft[k]);
    TALUS_RELEASE(d->part_draft, d->part, d->point, d->height);
    talus_surface_free(&d->surface);
    memset(d, 0, sizeof *d);
}

/* Distributions of scales without `forms` have so many. */
enum { DEFAULT_FORMS = 16 };

int talus_scene_form_count(const SceneShape *shape)
{
    return shape->forms > 0                        ? (int)shape->forms
           : talus_scene_size_varies(shape->scale) ? DEFAULT_FORMS
                                                   : 1;
}

/* Returns the scale of form k of n: the size below which the share (k + 1/2)/n lies, so that bodies which choose among the
 * forms at random have the distribution, in n classes of equal numbers. */
static TalusStatus find_scale(const SceneShape *shape, int k, double *scale)
{
    TalusSizeCurve curve;
    *scale = 1.0;
    if (!shape->scale)
        return TALUS_OK;
    TALUS_TRY(talus_scene_make_sizes(shape->scale, NULL, &curve));
    *scale = talus_size_curve_quantile(&curve, ((double)k + 0.5) / talus_scene_form_count(shape));
    talus_size_curve_clear(&curve);
    return TALUS_OK;
}

/* ---- surfaces from files ---- */

/* Reads the vertices and, for a mesh, the triangles of a surface file, scaled. */
static TalusStatus read_surface_file(const TalusScene *scene, const SceneShape *shape, Draft *d)
{
    const TalusJson *json = talus_json_get(shape->json, "file");
    char *path;
    TALUS_TRY(talus_scene_resolve_path(scene, json, shape->file, &path));
    TalusStatus status = talus_json_error_at(json, talus_surface_read(path, &d->surface));
    talus_release(path);
    if (status != TALUS_OK)
        return status;
    for (int k = 0; k < d->surface.vertex_count; k++)
        d->surface.vertex[k] = talus_scale(d->scale, d->surface.vertex[k]);
    d->def.vertex = d->surface.vertex;
    d->def.vertex_count = d->surface.vertex_count;
    if (talus_shape_ops(d->def.kind)->uses & TALUS_USES_TRIANGLE) {
        d->def.triangle = d->surface.triangle;
        d->def.triangle_count = d->surface.triangle_count;
    }
    return TALUS_OK;
}

/* Copies the points of a hull from the scene, scaled. */
static TalusStatus copy_points(const SceneShape *shape, Draft *d)
{
    const double(*points)[3] = (const double(*)[3])shape->points.items;
    TALUS_TRY(TALUS_ALLOC(d->point, (size_t)shape->points.count, "points of a hull"));
    for (int k = 0; k < shape->points.count; k++)
        d->point[k] = talus_scale(d->scale, scene_vec3(points[k]));
    d->def.vertex = d->point;
    d->def.vertex_count = shape->points.count;
    return TALUS_OK;
}

/* ---- fields ---- */

/* Copies the heights of a field from the scene, scaled; fails if rows have different lengths. */
static TalusStatus copy_heights(const SceneShape *shape, Draft *d)
{
    const SceneList *rows = (const SceneList *)shape->heights.items;
    const TalusJson *json = talus_json_get(shape->json, "heights")->first;
    int columns = rows[0].count;
    TALUS_TRY(TALUS_ALLOC(d->height, (size_t)columns * (size_t)shape->heights.count,
                          "heights of a field"));
    for (int j = 0; j < shape->heights.count; j++, json = json->next) {
        if (rows[j].count != columns)
            return talus_json_fail(json, 0, "expected %d numbers as in the first row, found %d",
                                   columns, rows[j].count);
        for (int i = 0; i < columns; i++)
            d->height[(size_t)j * (size_t)columns + (size_t)i] =
                d->scale * ((const double *)rows[j].items)[i];
    }
    d->def.columns = columns;
    d->def.rows = shape->heights.count;
    return TALUS_OK;
}

/* Reads the heights of a field, not yet scaled: each line of the text is a row of the grid. */
static TalusStatus read_height_rows(TalusNumberLines *in, Draft *d)
{
    size_t count = 0;
    TALUS_TRY(talus_number_lines_read(in));
    for (; in->count > 0; d->def.rows++) {
        if (d->def.rows > 0 && in->count != (size_t)d->def.columns)
            return talus_fail_line(in->path, in->line, TALUS_ERR_FORMAT,
                                   "expected %d numbers as in the first row, found %zu",
                                   d->def.columns, in->count);
        if (in->count > INT_MAX - count)
            return talus_fail_line(in->path, in->line, TALUS_ERR_FORMAT, "more than %d numbers",
                                   INT_MAX);
        TALUS_TRY(TALUS_GROW(d->height, count + in->count, count, "heights"));
        memcpy(d->height + count, in->value, in->count * sizeof *in->value);
        count += in->count;
        d->def.columns = (int)in->count;
        TALUS_TRY(talus_number_lines_read(in));
    }
    if (d->def.rows < 2 || d->def.columns < 2)
        return talus_fail_file(in->path, TALUS_ERR_FORMAT,
                               "%d rows of %d numbers; expected 2 of 2 or more", d->def.rows,
                               d->def.columns);
    return TALUS_OK;
}

/* Reads the heights of a field from its file, scaled. */
static TalusStatus read_heights_file(const TalusScene *scene, const SceneShape *shape, Draft *d)
{
    const TalusJson *json = talus_json_get(shape->json, "file");
    char *path, *text = NULL;
    size_t length = 0;
    TALUS_TRY(talus_scene_resolve_path(scene, json, shape->file, &path));
    TalusStatus status = talus_read_file(path, SIZE_MAX, &text, &length);
    TalusNumberLines in = {.path = path,
                           .at = text,
                           .end = text + (status == TALUS_OK ? length : 0),
                           .separators = " \t\r,;",
                           .expected = "a number"};
    TALUS_THEN(status, read_height_rows(&in, d));
    for (int k = 0; status == TALUS_OK && k < d->def.rows * d->def.columns; k++)
        d->height[k] *= d->scale;
    TALUS_RELEASE(text, path, in.value);
    return talus_json_error_at(json, status);
}

/* ---- rocks ---- */

/* Returns a direction, uniform on the unit sphere: points of the cube are drawn until one has a distance of 0.1 to 1
 * from the centre, and normalised. */
static TalusVec3 random_direction(TalusRng *rng)
{
    for (;;) {
        double x = 2.0 * talus_rng_uniform(rng) - 1.0, y = 2.0 * talus_rng_uniform(rng) - 1.0;
        TalusVec3 p = talus_vec3(x, y, 2.0 * talus_rng_uniform(rng) - 1.0);
        double n = talus_dot(p, p);
        if (n > 0.01 && n <= 1.0)
            return talus_scale(1.0 / sqrt(n), p);
    }
}

/* Returns the next corner of a rock on the unit sphere: among CANDIDATES random points the one that is farthest from
 * its nearest corner so far. So corners are spread over all sides. */
static TalusVec3 choose_corner(TalusRng *rng, const TalusVec3 *corner, int count)
{
    enum { CANDIDATES = 4 };
    TalusVec3 best = random_direction(rng);
    double farthest = -1.0;
    for (int c = 0; c < CANDIDATES; c++) {
        TalusVec3 p = random_direction(rng);
        double nearest = INFINITY;
        for (int k = 0; k < count; k++) {
            TalusVec3 d = talus_sub(p, corner[k]);
            nearest = fmin(nearest, talus_dot(d, d));
        }
        if (nearest > farthest) {
            farthest = nearest;
            best = p;
        }
    }
    return best;
}

/* Makes a rock: a hull of points on an ellipsoid with random semi-axes. The seeds and `form` determine both. */
static TalusStatus make_rock(const TalusScene *scene, const SceneShape *shape, int form, Draft *d)
{
    int corners = shape->corners > 0 ? (int)shape->corners : 20;
    double spread = talus_json_get(shape->json, "spread") ? shape->spread : 0.3;
    uint64_t seed =
        talus_scene_mix_seed(scene, talus_json_get(shape->json, "seed") ? shape->seed : 1);
    TalusRng rng = talus_rng_from_seed(seed * UINT64_C(0x726f636b) + (uint64_t)form);
    double axis[3];
    for (int k = 0; k < 3; k++)
        axis[k] =
            d->scale * shape->def.radius * (1.0 + spread * (2.0 * talus_rng_uniform(&rng) - 1.0));
    TALUS_TRY(TALUS_ALLOC(d->point, (size_t)corners, "corners of a rock"));
    for (int k = 0; k < corners; k++)
        d->point[k] = choose_corner(&rng, d->point, k);
    for (int k = 0; k < corners; k++)
        d->point[k] =
            talus_vec3(axis[0] * d->point[k].x, axis[1] * d->point[k].y, axis[2] * d->point[k].z);
    d->def.kind = TALUS_SHAPE_HULL;
    d->def.vertex = d->point;
    d->def.vertex_count = corners;
    return TALUS_OK;
}

/* ---- definitions ---- */

/* Scales the members of a definition that are lengths, but no arrays. */
static void scale_lengths(double scale, TalusShapeDef *def)
{
    def->half = talus_scale(scale, def->half);
#define SCALE_LENGTH(member, name) def->member *= scale;
    TALUS_SHAPE_LENGTHS(SCALE_LENGTH)
#undef SCALE_LENGTH
}

/* Makes the definition of a shape that is no compound, in the form `form`. `radius` is that of a sphere. */
static TalusStatus make_draft(const TalusScene *scene, const SceneShape *shape, double radius,
                              int form, Draft *d)
{
    TALUS_TRY(find_scale(shape, form, &d->scale));
    d->def = shape->def;
    scale_lengths(d->scale, &d->def);
    d->def.kind = (TalusShapeKind)shape->kind;
    if (shape->kind == TALUS_SHAPE_SPHERE)
        d->def.radius = radius;
    d->def.profile = (const double *)shape->profile.items;
    d->def.point_count = shape->profile.count;
    TalusStatus status = TALUS_OK;
    int uses = shape->kind == SCENE_ROCK ? 0 : talus_shape_ops(d->def.kind)->uses;
    if (shape->kind == SCENE_ROCK)
        status = make_rock(scene, shape, form, d);
    else if (uses & TALUS_USES_HEIGHTS)
        status = shape->file ? read_heights_file(scene, shape, d) : copy_heights(shape, d);
    else if (shape->file)
        status = read_surface_file(scene, shape, d);
    else if (uses & TALUS_USES_VERTEX)
        status = copy_points(shape, d);
    d->def.height = d->height;
    return status;
}

/* Scales the definition of a part, whose arrays are the draft's own. */
static void scale_part(double scale, Draft *d)
{
    scale_lengths(scale, &d->def);
    TalusVec3 *vertex = d->point ? d->point : d->surface.vertex;
    for (int k = 0; k < d->def.vertex_count; k++)
        vertex[k] = talus_scale(scale, vertex[k]);
}

/* Makes the definition of a compound in the form `form`, with a draft for each part. */
static TalusStatus make_compound_draft(const TalusScene *scene, const SceneShape *shape, int form,
                                       Draft *d)
{
    const ScenePart *parts = (const ScenePart *)shape->parts.items;
    size_t count = (size_t)shape->parts.count;
    TALUS_TRY(find_scale(shape, form, &d->scale));
    d->def = (TalusShapeDef){.kind = TALUS_SHAPE_COMPOUND};
    TALUS_TRY(TALUS_ALLOC(d->part_draft, count, "compound"));
    d->def.part_count = (int)count;
    TALUS_TRY(TALUS_ALLOC(d->part, count, "compound"));
    d->def.part = d->part;
    for (size_t k = 0; k < count; k++) {
        const SceneShape *part_shape;
        TALUS_TRY(talus_scene_resolve_shape(scene, parts[k].shape, &part_shape));
        TALUS_TRY(make_draft(scene, part_shape, part_shape->def.radius, 0, &d->part_draft[k]));
        scale_part(d->scale, &d->part_draft[k]);
        d->part[k] =
            (TalusShapePart){&d->part_draft[k].def, talus_scale(d->scale, scene_vec3(parts[k].at)),
                             talus_quat_identity()};
        if (parts[k].orientation)
            d->part[k].orientation = talus_scene_make_rotation(parts[k].orientation);
    }
    return TALUS_OK;
}

TalusSym3 talus_scene_gyration(const SceneBody *body)
{
    const double *value = (const double *)body->inertia.items;
    TalusSym3 inertia = {0};
    if (body->inertia.count == 0)
        return inertia;
    inertia = (TalusSym3){.xx = value[0], .yy = value[1], .zz = value[2]};
    if (body->inertia.count == 6) {
        inertia.xy = value[3];
        inertia.xz = value[4];
        inertia.yz = value[5];
    }
    return talus_sym3_scale(1.0 / body->mass, inertia);
}

TalusStatus talus_scene_add_shape(const TalusScene *scene, const SceneShape *shape, double radius,
                                  TalusSym3 gyration, TalusWorld *world, int *first)
{
    for (int form = 0; form < talus_scene_form_count(shape); form++) {
        Draft d = {0};
        int index;
        TalusStatus status = shape->kind == TALUS_SHAPE_COMPOUND
                                 ? make_compound_draft(scene, shape, form, &d)
                                 : make_draft(scene, shape, radius, form, &d);
        d.def.gyration = gyration;
        TALUS_THEN(status,
                   talus_json_error_at(shape->json, talus_world_add_shape(world, &d.def, &index)));
        free_draft(&d);
        if (status != TALUS_OK)
            return status;
        *first = form == 0 ? index : *first;
    }
    return TALUS_OK;
}
