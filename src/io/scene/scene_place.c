/* io/scene/scene_place.c - positions of the bodies of one entry of `bodies`: given in the scene, generated, or from a
 * file. They are made piece by piece where that is possible (ScenePlaces). */
#include "io/scene/scene.h"

#include "base/memory.h"
#include "base/rng.h"
#include "io/file/file.h"
#include "io/text/numbers.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Relative tolerance for rounding where sizes are compared. */
#define SLACK 1e-12

/* What the functions of this file share: an entry of `bodies` and where its bodies go. */
typedef struct Placing {
    const TalusScene *scene;
    const SceneBody *body;
    const SceneForms *forms;
    TalusVec3 half; /* largest half extents of a body along the axes (set_extents) */
    double across;  /* largest half width of a body seen from above (set_extents) */
    ScenePlaces *out;
} Placing;

/* ---- sizes ---- */

/* Sets p->half and p->across: to the radius of the largest bounding ball if the entry rotates bodies, else to those of
 * p->forms. */
static void set_extents(Placing *p)
{
    bool ball = p->body->orientation || talus_json_get(p->body->json, "normal");
    double bound = 0.0;
    for (int k = 0; k < p->forms->count; k++)
        bound = fmax(bound, p->forms->bound[k]);
    p->half = ball ? talus_vec3(bound, bound, bound) : p->forms->half;
    p->across = ball ? bound : p->forms->across;
}

/* Sets *out to the distance between the centres of neighbours: `given` if the object `owner` has the key, else 1.1
 * times `size`, the width of the largest body. Fails if a given distance is less than `size`. */
static TalusStatus choose_spacing(const TalusJson *owner, const char *key, double given,
                                  double size, double *out)
{
    const TalusJson *json = talus_json_get(owner, key);
    *out = json ? given : 1.1 * size;
    if (*out >= size * (1.0 - SLACK))
        return TALUS_OK;
    return talus_json_fail(json, 0, "%g is less than a body's size, %g: bodies would overlap", *out,
                           size);
}

/* Sets the number of bodies, and how they are placed. */
static TalusStatus set_count(const Placing *p, ScenePlaceKind kind, int64_t count)
{
    if (count > INT_MAX)
        return talus_json_fail(p->body->json, 0, "more than %d bodies in one entry", INT_MAX);
    p->out->kind = kind;
    p->out->count = (int)count;
    return TALUS_OK;
}

/* Returns the form of a body that draws one number: all forms alike, or by their shares. */
static int draw_form(const SceneForms *forms, TalusRng *rng)
{
    if (!forms->below)
        return (int)talus_rng_below(rng, (uint64_t)forms->count);
    double u = talus_rng_uniform(rng);
    int k = 0;
    while (k < forms->count - 1 && !(u < forms->below[k]))
        k++;
    return k;
}

/* Draws radii and forms of `count` bodies from number `first` on. The random streams are not that of the positions, so that
 * radii and forms do not depend on the jitter. A body draws one number of each. */
static void draw_sizes(const ScenePlaces *places, int first, int count, ScenePiece *piece)
{
    TalusRng form_rng = talus_rng_from_seed(places->seed ^ UINT64_C(0x666f726d73));
    TalusRng size_rng = talus_rng_from_seed(places->seed ^ UINT64_C(0x73697a6573));
    talus_rng_skip(&form_rng, (uint64_t)first);
    talus_rng_skip(&size_rng, (uint64_t)first);
    for (int i = 0; piece->form && i < count; i++)
        piece->form[i] = draw_form(places->forms, &form_rng);
    for (int i = 0; piece->radius && i < count; i++) {
        const TalusSizeCurve *sizes = &places->forms->sizes[piece->form ? piece->form[i] : 0];
        double u = talus_rng_uniform(&size_rng);
        piece->radius[i] = sizes->classes > 0 ? talus_size_curve_quantile(sizes, u) : 0.0;
    }
}

/* Sets the number of bodies whose places are kept, allocates their arrays and draws radii or forms. */
static TalusStatus keep_places(const Placing *p, int64_t count)
{
    ScenePiece all;
    TALUS_TRY(set_count(p, SCENE_PLACES_KEPT, count));
    TalusStatus status = talus_scene_allocate_piece(p->out, p->out->count, &all);
    p->out->position = all.position;
    p->out->radius = all.radius;
    p->out->form = all.form;
    if (status == TALUS_OK)
        draw_sizes(p->out, 0, p->out->count, &all);
    return status;
}

/* Fails because a region has too few places for the bodies. */
static TalusStatus fail_capacity(const TalusJson *json, double places, int64_t count)
{
    return talus_json_fail(json, 0, "there is room for %.0f of %lld bodies", places,
                           (long long)count);
}

/* ---- generators ---- */

/* Returns how many cells of width `spacing` fit into a length, at most INT_MAX; a length that is too short by no more
 * than the share SLACK counts as long enough. */
static double whole_cells(double length, double spacing)
{
    double n = floor(length / spacing * (1.0 + SLACK));
    return n > 0.0 ? (n < INT_MAX ? n : INT_MAX) : 0.0;
}

/* Places bodies on a lattice: `count` of them or, if that is 0, one in every cell. Without `hi`, 0 cells along z means
 * as many layers as `count` needs. */
static TalusStatus place_lattice(const Placing *p)
{
    const SceneLattice *l = p->body->lattice;
    const double sizes[3] = {2.0 * p->half.x, 2.0 * p->half.y, 2.0 * p->half.z};
    double spacing[3], cells[3];
    for (int k = 0; k < 3; k++) {
        TALUS_TRY(choose_spacing(l->json, "spacing", l->spacing[k], sizes[k], &spacing[k]));
        cells[k] = talus_json_get(l->json, "hi") ? whole_cells(l->hi[k] - l->lo[k], spacing[k])
                                                 : l->cells[k];
    }
    int64_t count = p->body->count;
    double floor_cells = cells[0] * cells[1];
    if (!talus_json_get(l->json, "hi") && cells[2] == 0.0 && floor_cells > 0.0)
        cells[2] = ceil((double)count / floor_cells);
    double places = floor_cells * cells[2];
    if (places < 1.0 || (double)count > places)
        return fail_capacity(l->json, places, count > 0 ? count : 1);
    if (count == 0 && places > INT_MAX)
        return talus_json_fail(l->json, 0, "more than %d bodies in one entry", INT_MAX);
    p->out->lattice =
        (TalusLattice){.lo = scene_vec3(l->lo),
                       .spacing = scene_vec3(spacing),
                       .half = p->half,
                       .cells = {(int64_t)cells[0], (int64_t)cells[1], (int64_t)cells[2]},
                       .jitter = l->jitter,
                       .seed = p->out->seed};
    return set_count(p, SCENE_PLACES_LATTICE, count > 0 ? count : (int64_t)places);
}

/* Places bodies in layers. Without the key `rise`, layers are apart by the larger of 1.1 times the largest body's
 * height and the spacing within a layer. */
static TalusStatus place_layers(const Placing *p)
{
    const SceneLayers *l = p->body->layers;
    TalusLayers layers = {.bottom = scene_vec3(l->bottom),
                          .radius = l->radius,
                          .half = {l->half[0], l->half[1]},
                          .size = p->across,
                          .height = p->half.z,
                          .jitter = l->jitter,
                          .seed = p->out->seed};
    TALUS_TRY(choose_spacing(l->json, "spacing", l->spacing, 2.0 * p->across, &layers.spacing));
    TALUS_TRY(choose_spacing(l->json, "rise", l->rise, 2.0 * p->half.z, &layers.rise));
    if (!(l->rise > 0.0) && layers.spacing > layers.rise)
        layers.rise = layers.spacing;
    int64_t count = p->body->count;
    int64_t places = talus_layers_capacity(&layers, l->repeat > 0 ? l->repeat : count);
    if (places == 0 || count > places)
        return fail_capacity(l->json, (double)places, count > 0 ? count : 1);
    p->out->layers = layers;
    return set_count(p, SCENE_PLACES_LAYERS, count > 0 ? count : places);
}

/* A body to be sorted: its bounding radius and its form. */
typedef struct Bound {
    double radius;
    int form;
} Bound;

static int larger_bound_first(const void *a, const void *b)
{
    const Bound *x = a, *y = b;
    if (x->radius != y->radius)
        return x->radius < y->radius ? 1 : -1;
    return (x->form > y->form) - (x->form < y->form);
}

double talus_scene_bound(const ScenePlaces *places, int i)
{
    const int form = places->form ? places->form[i] : 0;
    const bool sphere = places->forms->sizes[form].classes > 0; /* which is its own bound */
    return sphere ? places->radius[i] : places->forms->bound[form];
}

/* Sets bound[] to the bounding radii of the bodies, largest first, and sorts radii and forms of p->out in the same
 * order. */
static TalusStatus sort_bounding_radii(const Placing *p, double *bound)
{
    ScenePlaces *out = p->out;
    Bound *sorted;
    TALUS_TRY(TALUS_ALLOC(sorted, (size_t)out->count, "bodies of a scene"));
    for (int i = 0; i < out->count; i++)
        sorted[i] = (Bound){talus_scene_bound(out, i), out->form ? out->form[i] : 0};
    qsort(sorted, (size_t)out->count, sizeof *sorted, larger_bound_first);
    for (int i = 0; i < out->count; i++) {
        bound[i] = sorted[i].radius;
        if (out->radius)
            out->radius[i] = p->forms->sizes[sorted[i].form].classes > 0 ? bound[i] : 0.0;
        if (out->form)
            out->form[i] = sorted[i].form;
    }
    talus_release(sorted);
    return TALUS_OK;
}

/* Places the bounding balls of the bodies at random in the region, largest first, so that bodies do not overlap in any
 * orientation. Sorts radii or forms by size. Sets *placed to the number of bodies that fitted. */
static TalusStatus place_bounding_balls(const Placing *p, const TalusFill *fill, int64_t *placed)
{
    ScenePlaces *out = p->out;
    double *bound;
    TALUS_TRY(TALUS_ALLOC(bound, (size_t)out->count, "bodies of a scene"));
    TalusStatus status = sort_bounding_radii(p, bound);
    TALUS_THEN(status, talus_generate_fill(fill, out->count, bound, out->position, placed));
    talus_release(bound);
    return status;
}

TalusFill talus_scene_make_fill(const SceneBody *body, uint64_t seed)
{
    const SceneFill *f = body->fill;
    TalusFill fill = {.lo = scene_vec3(f->lo), .hi = scene_vec3(f->hi), .seed = seed};
    if (f->radius > 0.0) {
        fill.radius = f->radius;
        fill.lo = scene_vec3(f->bottom);
        fill.hi = talus_add(fill.lo, talus_vec3(0.0, 0.0, f->height));
    }
    return fill;
}

/* Places bodies at random in the region of the key `fill`, a box or an upright cylinder. */
static TalusStatus place_at_random(const Placing *p)
{
    const TalusFill fill = talus_scene_make_fill(p->body, p->out->seed);
    int64_t placed;
    TALUS_TRY(keep_places(p, p->body->count));
    TALUS_TRY(place_bounding_balls(p, &fill, &placed));
    if (placed < p->out->count)
        return talus_json_fail(p->body->fill->json, 0,
                               "%lld of %d bodies fitted; random places fill about a third of the "
                               "volume, a lattice holds more",
                               (long long)placed, p->out->count);
    return TALUS_OK;
}

/* ---- files ---- */

/* Reads the next line, x y z or x y z radius, into in->value. *columns is the number of columns, 0 before the first
 * line; fails if a line has another number. in->count is 0 at the end of the text. */
static TalusStatus read_point(TalusNumberLines *in, size_t *columns)
{
    TALUS_TRY(talus_number_lines_read(in));
    if (in->count == 0)
        return TALUS_OK;
    if (in->count < 3 || (*columns > 0 && in->count != *columns))
        return talus_fail_line(in->path, in->line, TALUS_ERR_FORMAT,
                               "expected %s numbers, found %zu",
                               *columns == 4   ? "4"
                               : *columns == 3 ? "3"
                                               : "3 or 4",
                               in->count);
    *columns = in->count;
    return TALUS_OK;
}

/* Reads positions and, if the lines have four columns, radii of all bodies. */
static TalusStatus store_points(const Placing *p, TalusNumberLines *in)
{
    size_t columns = 0;
    for (int i = 0; i < p->out->count; i++) {
        TALUS_TRY(read_point(in, &columns));
        p->out->position[i] = scene_vec3(in->value);
        if (columns < 4)
            continue;
        bool spheres = p->out->radius && p->forms->count == 1;
        if (!spheres || !(in->value[3] > 0.0))
            return talus_fail_line(in->path, in->line, TALUS_ERR_FORMAT, "%s",
                                   spheres ? "expected a radius above 0"
                                           : "a radius is for spheres only, of one species");
        p->out->radius[i] = in->value[3];
    }
    return TALUS_OK;
}

/* Counts the points of the text, then places bodies at the first `count` of them; at all if the entry gives no
 * count. */
static TalusStatus read_points(const Placing *p, TalusNumberLines *in)
{
    const TalusJson *json = talus_json_get(p->body->json, "file");
    const char *start = in->at;
    int header = in->line;
    size_t columns = 0;
    int64_t places = -1, count = p->body->count;
    do {
        TALUS_TRY(read_point(in, &columns));
        places++;
    } while (in->count > 0);
    if (places == 0 || count > places)
        return talus_json_fail(json, 0, "%s holds %lld points, expected at least %lld", in->path,
                               (long long)places, (long long)(count > 0 ? count : 1));
    if (columns == 3 && p->out->sized && p->forms->count == 1 && p->forms->sizes[0].classes == 0)
        return talus_json_fail(json, 0, "%s has no radii, and neither has the entry", in->path);
    TALUS_TRY(keep_places(p, count > 0 ? count : places));
    in->at = start;
    in->line = header;
    return store_points(p, in);
}

/* Skips the first line if it starts with a letter, as a header does. */
static void skip_header(TalusNumberLines *in)
{
    if (in->at == in->end || (*in->at | 32) < 'a' || (*in->at | 32) > 'z')
        return;
    const char *stop = memchr(in->at, '\n', (size_t)(in->end - in->at));
    in->at = stop ? stop + 1 : in->end;
    in->line = 1;
}

/* Places bodies at the points of a text file. */
static TalusStatus place_from_file(const Placing *p)
{
    const TalusJson *json = talus_json_get(p->body->json, "file");
    char *path, *text = NULL;
    size_t length = 0;
    TALUS_TRY(talus_scene_resolve_path(p->scene, json, p->body->file, &path));
    TalusStatus status = talus_json_error_at(json, talus_read_file(path, SIZE_MAX, &text, &length));
    if (status == TALUS_OK) {
        TalusNumberLines in = {.path = path,
                               .at = text,
                               .end = text + length,
                               .separators = " \t\r",
                               .expected = "x y z [radius]",
                               .limit = 4};
        skip_header(&in);
        status = read_points(p, &in);
        talus_release(in.value);
    }
    TALUS_RELEASE(path, text);
    return status;
}

/* ---- entry ---- */

TalusStatus talus_scene_place_bodies(const TalusScene *scene, const SceneBody *body,
                                     const SceneShape *shape, const SceneForms *forms,
                                     ScenePlaces *out)
{
    Placing p = {.scene = scene, .body = body, .forms = forms, .out = out};
    *out = (ScenePlaces){
        .body = body, .forms = forms, .seed = talus_scene_mix_seed(scene, body->seed)};
    out->sized = shape->kind == TALUS_SHAPE_SPHERE && forms->count == 1; /* by a file at least */
    for (int k = 0; k < forms->count; k++)
        out->sized |= forms->sizes[k].classes > 0;
    set_extents(&p);
    return body->lattice  ? place_lattice(&p)
           : body->layers ? place_layers(&p)
           : body->fill   ? place_at_random(&p)
           : body->file   ? place_from_file(&p)
                          : set_count(&p, SCENE_PLACES_AT, body->at.count);
}

void talus_scene_places_clear(ScenePlaces *places)
{
    TALUS_RELEASE(places->position, places->radius, places->form);
    *places = (ScenePlaces){0};
}

/* ---- pieces ---- */

TalusStatus talus_scene_allocate_piece(const ScenePlaces *places, int count, ScenePiece *piece)
{
    *piece = (ScenePiece){0};
    TALUS_TRY(TALUS_ALLOC(piece->position, (size_t)count, "bodies of a scene"));
    if (places->sized)
        TALUS_TRY(TALUS_ALLOC(piece->radius, (size_t)count, "bodies of a scene"));
    if (places->forms->count > 1)
        TALUS_TRY(TALUS_ALLOC(piece->form, (size_t)count, "bodies of a scene"));
    return TALUS_OK;
}

void talus_scene_piece_clear(ScenePiece *piece)
{
    TALUS_RELEASE(piece->position, piece->radius, piece->form);
    *piece = (ScenePiece){0};
}

/* Copies a part of the kept places. */
static void copy_kept(const ScenePlaces *places, int first, int count, ScenePiece *piece)
{
    const size_t n = (size_t)count;
    if (n == 0)
        return;
    memcpy(piece->position, places->position + first, n * sizeof *piece->position);
    if (piece->radius)
        memcpy(piece->radius, places->radius + first, n * sizeof *piece->radius);
    if (piece->form)
        memcpy(piece->form, places->form + first, n * sizeof *piece->form);
}

void talus_scene_get_piece(const ScenePlaces *places, int first, int count, ScenePiece *piece)
{
    const double(*points)[3] = (const double(*)[3])places->body->at.items;
    if (places->kind == SCENE_PLACES_KEPT) {
        copy_kept(places, first, count, piece);
        return;
    }
    draw_sizes(places, first, count, piece);
    if (places->kind == SCENE_PLACES_LATTICE)
        talus_generate_lattice(&places->lattice, first, count, piece->position);
    else if (places->kind == SCENE_PLACES_LAYERS)
        talus_generate_layers(&places->layers, first, count, piece->position);
    else
        for (int i = 0; i < count; i++)
            piece->position[i] = scene_vec3(points[first + i]);
}
