/* io/frames/frames_figure.c - figures (triangles for drawing) of the shapes of a HEAD. The JSON has the kind of
 * each figure and the sizes of its levels of detail; the arrays behind the JSON have the vertices, triangles, edges and
 * pieces of all figures.
 *
 * A reader checks every number before using it. Each array must have exactly the number of tuples that the levels add
 * up to; vertices, triangles, edges and pieces together are at most TALUS_FIGURE_PER_BYTE per byte of the payload. */
#include "base/memory.h"
#include "geometry/figure.h"
#include "io/frames/frames.h"

#include <string.h>

/* Numbers of vertices, triangles, edges and convex pieces of one mesh (a level of detail), or sums over meshes. */
enum { VERTICES, TRIANGLES, EDGES, PIECES, SIZES };
typedef struct Sizes {
    int64_t count[SIZES];
} Sizes;

static Sizes sizes_of_mesh(const TalusMesh *m)
{
    return (Sizes){{m->vertex_count, m->triangle_count, m->edge_count, m->piece_count}};
}

static Sizes add_sizes(Sizes a, Sizes b)
{
    for (int k = 0; k < SIZES; k++)
        a.count[k] += b.count[k];
    return a;
}

/* Returns the sum of all four counts. */
static int64_t total_count(Sizes s)
{
    return s.count[VERTICES] + s.count[TRIANGLES] + s.count[EDGES] + s.count[PIECES];
}

/* Returns the sum of the sizes of all levels of all figures. */
static Sizes sizes_of_figures(const TalusFigure *figure, int count)
{
    Sizes all = {0};
    for (int k = 0; k < count; k++)
        for (int i = 0; i < figure[k].levels; i++)
            all = add_sizes(all, sizes_of_mesh(&figure[k].level[i]));
    return all;
}

/* ---- making ---- */

TalusStatus talus_head_make_figures(const TalusFramesHead *head, TalusFigure **out)
{
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)head->shape_count, "figures"));
    TalusStatus status = TALUS_OK;
    for (int k = 0; k < head->shape_count && status == TALUS_OK; k++)
        status = talus_figure_of_shape(&head->shapes[k], &(*out)[k]);
    if (status != TALUS_OK)
        talus_head_free_figures(out, head->shape_count);
    return status;
}

void talus_head_free_figures(TalusFigure **figure, int count)
{
    for (int k = 0; *figure && k < count; k++)
        talus_figure_free(&(*figure)[k]);
    talus_release(*figure);
    *figure = NULL;
}

/* ---- writing ---- */

void talus_head_print_figure(TalusText *text, const TalusFigure *figure)
{
    talus_text_print(text, ", \"drawn\": \"%s\", \"levels\": [", talus_drawn_name(figure->drawn));
    for (int i = 0; i < figure->levels; i++) {
        const TalusMesh *m = &figure->level[i];
        talus_text_print(text, "%s[%d, %d, %d, %d]", i ? ", " : "", m->vertex_count,
                         m->triangle_count, m->edge_count, m->piece_count);
    }
    talus_text_print(text, "]");
}

/* Integer columns of the figures. name: TALUS_ARRAY_*; components: numbers per tuple; size: index in Sizes.count of the
 * number of tuples; prediction: from which the file has differences. */
enum { NORMAL, TRIANGLE, EDGE, PIECE, COLUMNS };
static const struct {
    int name, components, size;
    TalusPrediction prediction;
} columns[COLUMNS] = {
    [NORMAL] = {TALUS_ARRAY_NORMAL, 3, VERTICES, TALUS_PREDICT_TUPLE},
    [TRIANGLE] = {TALUS_ARRAY_TRIANGLE, 3, TRIANGLES, TALUS_PREDICT_TUPLE},
    [EDGE] = {TALUS_ARRAY_EDGE, 2, EDGES, TALUS_PREDICT_TUPLE},
    [PIECE] = {TALUS_ARRAY_PIECE, 1, PIECES, TALUS_PREDICT_NONE},
};

/* The arrays of all figures, each a column with the numbers of all meshes in the order of shapes, then levels. */
typedef struct Columns {
    float *point;              /* coordinates, 3 per vertex */
    int32_t *integer[COLUMNS]; /* NORMAL to PIECE; normals in steps of 1 / TALUS_NORMAL_STEPS */
} Columns;

static void free_columns(Columns *c)
{
    TALUS_RELEASE(c->point, c->integer[NORMAL], c->integer[TRIANGLE], c->integer[EDGE],
                  c->integer[PIECE]);
}

/* Allocates columns for meshes of these total sizes. */
static TalusStatus create_columns(Sizes all, Columns *c)
{
    memset(c, 0, sizeof *c);
    TalusStatus status = TALUS_ALLOC(c->point, 3 * (size_t)all.count[VERTICES], "figures");
    for (int k = 0; k < COLUMNS; k++)
        TALUS_THEN(status, TALUS_ALLOC(c->integer[k],
                                       (size_t)(columns[k].components * all.count[columns[k].size]),
                                       "figures"));
    if (status != TALUS_OK)
        free_columns(c);
    return status;
}

/* Returns the start of a mesh in column k; `at` is the sum of the sizes of all meshes before. */
static int32_t *find_in_column(const Columns *c, int k, Sizes at)
{
    return c->integer[k] + columns[k].components * at.count[columns[k].size];
}

/* Copies a mesh into the columns, behind the meshes that `at` sums up. */
static void copy_mesh_to_columns(const TalusMesh *mesh, Sizes at, Columns *c)
{
    float *point = c->point + 3 * at.count[VERTICES];
    int32_t *normal = find_in_column(c, NORMAL, at);
    for (int k = 0; k < mesh->vertex_count; k++, point += 3, normal += 3) {
        TalusVec3 p = mesh->vertex[k], n = mesh->normal[k];
        point[0] = (float)p.x;
        point[1] = (float)p.y;
        point[2] = (float)p.z;
        normal[0] = (int32_t)rint(TALUS_NORMAL_STEPS * n.x);
        normal[1] = (int32_t)rint(TALUS_NORMAL_STEPS * n.y);
        normal[2] = (int32_t)rint(TALUS_NORMAL_STEPS * n.z);
    }
    for (int k = 0; k < 3 * mesh->triangle_count; k++)
        find_in_column(c, TRIANGLE, at)[k] = mesh->triangle[k];
    for (int k = 0; k < 2 * mesh->edge_count; k++)
        find_in_column(c, EDGE, at)[k] = mesh->edge[k];
    for (int k = 0; k < mesh->piece_count; k++)
        find_in_column(c, PIECE, at)[k] = mesh->piece[k];
}

/* Packs all columns as arrays of a HEAD. */
static TalusStatus pack_columns(TalusPacker *p, const Columns *c, Sizes all)
{
    p->thorough = true;
    TALUS_TRY(talus_pack_floats(p, TALUS_ARRAY_POINT, 3, (int)all.count[VERTICES], c->point));
    for (int k = 0; k < COLUMNS; k++)
        TALUS_TRY(talus_pack_integers(p, columns[k].name, columns[k].components,
                                      (int)all.count[columns[k].size], columns[k].prediction,
                                      c->integer[k], NULL));
    return talus_packer_append_arrays(p);
}

TalusStatus talus_head_pack_figures(TalusPacker *packer, const TalusFigure *figure, int count)
{
    Sizes all = sizes_of_figures(figure, count), at = {0};
    Columns c;
    if (total_count(all) > TALUS_FRAMES_COUNT_MAX)
        return talus_fail(TALUS_ERR_UNSUPPORTED, "frames: the shapes have %lld triangles",
                          (long long)all.count[TRIANGLES]);
    TALUS_TRY(create_columns(all, &c));
    for (int k = 0; k < count; k++)
        for (int i = 0; i < figure[k].levels; i++) {
            copy_mesh_to_columns(&figure[k].level[i], at, &c);
            at = add_sizes(at, sizes_of_mesh(&figure[k].level[i]));
        }
    TalusStatus status = pack_columns(packer, &c, all);
    free_columns(&c);
    return status;
}

size_t talus_head_figure_padding(const TalusFigure *figure, int count, size_t size)
{
    size_t needed =
        ((size_t)total_count(sizes_of_figures(figure, count)) + TALUS_FIGURE_PER_BYTE - 1) /
        TALUS_FIGURE_PER_BYTE;
    return size < needed ? needed - size : 0;
}

/* ---- reading ---- */

/* Reads the sizes of one level, [vertices, triangles, edges, pieces]; read_figure_arrays compares them with the
 * arrays. */
static TalusStatus read_level_sizes(const TalusJson *node, TalusMesh *out)
{
    double v[4];
    TALUS_TRY(talus_head_read_list(node, 4, v));
    for (int k = 0; k < 4; k++)
        if (!(v[k] >= 0.0 && v[k] <= TALUS_FRAMES_COUNT_MAX && v[k] == floor(v[k])))
            return talus_json_fail(node, 0, "has %g where a count should be", v[k]);
    out->vertex_count = (int)v[0];
    out->triangle_count = (int)v[1];
    out->edge_count = (int)v[2];
    out->piece_count = (int)v[3];
    return TALUS_OK;
}

/* Reads the member "drawn" of a shape. */
static TalusStatus read_drawn_kind(const TalusJson *node, TalusDrawn *out)
{
    const TalusJson *word;
    char shown[TALUS_JSON_PRINTABLE_BYTES];
    TALUS_TRY(talus_head_find_member(node, "drawn", TALUS_JSON_STRING, &word));
    for (int k = 0; k < TALUS_DRAWN_KINDS; k++)
        if (strcmp(word->text, talus_drawn_name((TalusDrawn)k)) == 0) {
            *out = (TalusDrawn)k;
            return TALUS_OK;
        }
    return talus_json_fail(word, 0, "\"%s\" is not a way to draw that this program knows",
                           talus_json_printable(word->text, shown));
}

/* Reads the kind of a figure and the sizes of its levels. Fails unless spheres and half spaces have no levels, other
 * figures 1 to 4, all with the same number of pieces. */
static TalusStatus read_figure_sizes(const TalusJson *node, TalusFigure *out)
{
    const TalusJson *list;
    TALUS_TRY(read_drawn_kind(node, &out->drawn));
    TALUS_TRY(talus_head_find_member(node, "levels", TALUS_JSON_ARRAY, &list));
    bool plain = out->drawn == TALUS_DRAWN_SPHERE || out->drawn == TALUS_DRAWN_HALF_SPACE;
    if (list->count > TALUS_FIGURE_LEVELS || (list->count == 0) != plain)
        return talus_json_fail(list, 0, "has %d levels; expected %s", list->count,
                               plain ? "none" : "1 to 4");
    for (const TalusJson *n = list->first; n; n = n->next) {
        TALUS_TRY(read_level_sizes(n, &out->level[out->levels]));
        if (out->level[out->levels++].piece_count != out->level[0].piece_count)
            return talus_json_fail(n, 0, "has more or fewer pieces than the level before");
    }
    return TALUS_OK;
}

/* Copies points and normals of a mesh; fails if a normal has length 2 or more. */
static TalusStatus copy_vertices(TalusMesh *mesh, const float *point, const int32_t *normal)
{
    for (int k = 0; k < mesh->vertex_count; k++, point += 3, normal += 3) {
        const double steps = TALUS_NORMAL_STEPS;
        mesh->vertex[k] = talus_vec3(point[0], point[1], point[2]);
        mesh->normal[k] = talus_vec3(normal[0] / steps, normal[1] / steps, normal[2] / steps);
        if (!(talus_norm(mesh->normal[k]) < 2.0))
            return talus_fail(TALUS_ERR_FORMAT, "normal: vertex %d has one that is not a unit", k);
    }
    return TALUS_OK;
}

/* Copies vertex indices; fails if one is out of range. */
static TalusStatus copy_corners(int *out, int count, const int32_t *from, int vertices,
                                const char *name)
{
    for (int k = 0; k < count; k++) {
        if (from[k] < 0 || from[k] >= vertices)
            return talus_fail(TALUS_ERR_FORMAT, "%s: has vertex %d; there are %d", name, from[k],
                              vertices);
        out[k] = from[k];
    }
    return TALUS_OK;
}

/* Copies the number of triangles of each piece of a mesh. Fails unless each piece has triangles and the pieces of a
 * solid add up to all triangles of the mesh; a figure that is no solid must have no pieces. */
static TalusStatus copy_pieces(TalusMesh *mesh, const int32_t *from, bool solid)
{
    int64_t covered = 0;
    for (int k = 0; k < mesh->piece_count; k++) {
        if (from[k] <= 0)
            return talus_fail(TALUS_ERR_FORMAT, "piece: has %d triangles", from[k]);
        mesh->piece[k] = from[k];
        covered += from[k];
    }
    if (covered != (solid ? mesh->triangle_count : 0) || (!solid && mesh->piece_count > 0))
        return talus_fail(TALUS_ERR_FORMAT, "piece: has %lld of %d triangles", (long long)covered,
                          mesh->triangle_count);
    return TALUS_OK;
}

/* Allocates the arrays of a mesh, whose counts are set, and copies them from the columns, behind the meshes that `at`
 * sums up; checks all numbers. */
static TalusStatus fill_mesh(TalusMesh *mesh, bool solid, const Columns *c, Sizes at)
{
    TALUS_TRY(TALUS_ALLOC(mesh->vertex, (size_t)mesh->vertex_count, "figures"));
    TALUS_TRY(TALUS_ALLOC(mesh->normal, (size_t)mesh->vertex_count, "figures"));
    TALUS_TRY(TALUS_ALLOC(mesh->triangle, 3 * (size_t)mesh->triangle_count, "figures"));
    TALUS_TRY(TALUS_ALLOC(mesh->edge, 2 * (size_t)mesh->edge_count, "figures"));
    TALUS_TRY(TALUS_ALLOC(mesh->piece, (size_t)mesh->piece_count, "figures"));
    TALUS_TRY(
        copy_vertices(mesh, c->point + 3 * at.count[VERTICES], find_in_column(c, NORMAL, at)));
    TALUS_TRY(copy_corners(mesh->triangle, 3 * mesh->triangle_count,
                           find_in_column(c, TRIANGLE, at), mesh->vertex_count, "triangle"));
    TALUS_TRY(copy_corners(mesh->edge, 2 * mesh->edge_count, find_in_column(c, EDGE, at),
                           mesh->vertex_count, "edge"));
    return copy_pieces(mesh, find_in_column(c, PIECE, at), solid);
}

/* Reads all columns; fails if an array has another number of tuples than `all` says. */
static TalusStatus unpack_columns(TalusUnpacker *u, Sizes all, Columns *c)
{
    TALUS_TRY(talus_unpack_floats(u, TALUS_ARRAY_POINT, 3, (int)all.count[VERTICES], c->point));
    for (int k = 0; k < COLUMNS; k++)
        TALUS_TRY(talus_unpack_integers(u, columns[k].name, columns[k].components,
                                        (int)all.count[columns[k].size], NULL, c->integer[k]));
    return TALUS_OK;
}

/* Reads the arrays and fills the meshes of all figures; `all` is the sum of their sizes. */
static TalusStatus fill_figures(TalusUnpacker *u, Sizes all, TalusFigure *figure, int count)
{
    Columns c;
    Sizes at = {0};
    TALUS_TRY(create_columns(all, &c));
    TalusStatus status = unpack_columns(u, all, &c);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < figure[k].levels && status == TALUS_OK; i++) {
            TalusMesh *mesh = &figure[k].level[i];
            status = fill_mesh(mesh, figure[k].drawn == TALUS_DRAWN_SOLID, &c, at);
            at = add_sizes(at, sizes_of_mesh(mesh));
        }
    free_columns(&c);
    return status;
}

/* Compares the sizes of all figures with the size of the payload, then reads their meshes. */
static TalusStatus read_figure_arrays(TalusHeadPayload payload, TalusFigure *figure, int count)
{
    TalusUnpacker u = {0};
    Sizes all = sizes_of_figures(figure, count);
    if (total_count(all) > TALUS_FRAMES_COUNT_MAX ||
        (uint64_t)total_count(all) > (uint64_t)payload.size * TALUS_FIGURE_PER_BYTE)
        return talus_fail(TALUS_ERR_FORMAT,
                          "claims figures of %lld numbers in %zu bytes; there may be %d to a byte",
                          (long long)total_count(all), payload.size, TALUS_FIGURE_PER_BYTE);
    TalusStatus status = talus_unpacker_locate_arrays(&u, payload.bytes + payload.arrays_at,
                                                      payload.size - payload.arrays_at);
    TALUS_THEN(status, fill_figures(&u, all, figure, count));
    talus_unpacker_clear(&u);
    return status;
}

TalusStatus talus_head_read_figures(const TalusJson *shapes, TalusHeadPayload payload,
                                    TalusFigure **out)
{
    int k = 0;
    TALUS_TRY(TALUS_ALLOC(*out, (size_t)shapes->count, "figures"));
    TalusStatus status = TALUS_OK;
    for (const TalusJson *n = shapes->first; n && status == TALUS_OK; n = n->next)
        status = read_figure_sizes(n, &(*out)[k++]);
    if (status == TALUS_OK) {
        status = read_figure_arrays(payload, *out, shapes->count);
        if (status == TALUS_ERR_FORMAT)
            status = talus_fail(status, "%s: head: %s", payload.source, talus_error());
    }
    for (int i = 0; i < shapes->count && status == TALUS_OK; i++)
        talus_figure_set_box(&(*out)[i]);
    if (status != TALUS_OK)
        talus_head_free_figures(out, shapes->count);
    return status;
}
