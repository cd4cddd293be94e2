/* io/scene/scene_place.c - positions of the bodies of one entry: given, generated, or from a file. */
#include "io/scene/scene.h"

#include "base/memory.h"
#include "base/rng.h"
#include "io/file/file.h"
#include "world/source/generate.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Relative tolerance of sizes, for rounding. */
#define SLACK 1e-12

typedef struct Placing {
    const TalusScene *scene;
    const SceneBody *body;
    bool spheres;
    double min, max;         /* radii of spheres */
    const SceneForms *forms; /* extents of other shapes */
    TalusVec3 half;          /* half extents of the largest body */
    double across;           /* largest half width seen from above, for the rotations allowed */
    ScenePlaces *out;
} Placing;

/* ---- sizes ---- */

static void set_extents(Placing *p)
{
    bool turned = p->body->orientation || talus_json_get(p->body->json, "normal");
    double bound = p->max;
    for (int k = 0; !p->spheres && k < p->forms->count; k++)
        bound = fmax(bound, p->forms->bound[k]);
    bool ball = p->spheres || turned;
    p->half = ball ? talus_vec3(bound, bound, bound) : p->forms->half;
    p->across = ball ? bound : p->forms->across;
}

/* Returns the distance of the scene, or 1.1 sizes; fails if it is less than the size. */
static TalusStatus distance(const TalusJson *owner, const char *key, double given, double size,
                            double *out)
{
    const TalusJson *json = talus_json_get(owner, key);
    *out = json ? given : 1.1 * size;
    if (*out >= size * (1.0 - SLACK))
        return TALUS_OK;
    return talus_json_fail(json, 0, "%g is less than a body's size, %g: bodies would overlap", *out,
                           size);
}

static TalusStatus room_for(const Placing *p, int64_t count)
{
    if (count > INT_MAX)
        return talus_json_fail(p->body->json, 0, "more than %d bodies in one entry", INT_MAX);
    TALUS_TRY(TALUS_ALLOC(p->out->position, (size_t)count, "bodies of a scene"));
    if (p->spheres)
        TALUS_TRY(TALUS_ALLOC(p->out->radius, (size_t)count, "bodies of a scene"));
    else if (p->forms->count > 1)
        TALUS_TRY(TALUS_ALLOC(p->out->form, (size_t)count, "bodies of a scene"));
    p->out->count = (int)count;
    return TALUS_OK;
}

/* Allocates, and draws sizes or forms from separate random streams, so that jitter does not change them. */
static TalusStatus start(const Placing *p, int64_t count)
{
    TALUS_TRY(room_for(p, count));
    TalusRng rng = talus_rng((uint64_t)p->body->seed ^ UINT64_C(0x666f726d73));
    for (int i = 0; p->out->form && i < p->out->count; i++)
        p->out->form[i] = (int)talus_rng_below(&rng, (uint64_t)p->forms->count);
    if (p->out->radius)
        talus_generate_sizes((uint64_t)p->body->seed ^ UINT64_C(0x73697a6573), p->min, p->max,
                             count, p->out->radius);
    return TALUS_OK;
}

static TalusStatus fail_room(const TalusJson *json, double places, int64_t count)
{
    return talus_json_fail(json, 0, "there is room for %.0f of %lld bodies", places,
                           (long long)count);
}

/* ---- generators ---- */

static TalusStatus place_points(const Placing *p)
{
    const double(*points)[3] = (const double(*)[3])p->body->at.items;
    TALUS_TRY(start(p, p->body->at.count));
    for (int i = 0; i < p->out->count; i++)
        p->out->position[i] = scene_vec3(points[i]);
    return TALUS_OK;
}

static double whole_cells(double length, double spacing)
{
    double n = floor(length / spacing * (1.0 + SLACK));
    return n > 0.0 ? (n < INT_MAX ? n : INT_MAX) : 0.0;
}

static TalusStatus place_lattice(const Placing *p)
{
    const SceneLattice *l = p->body->lattice;
    const double sizes[3] = {2.0 * p->half.x, 2.0 * p->half.y, 2.0 * p->half.z};
    double spacing[3], cells[3];
    for (int k = 0; k < 3; k++) {
        TALUS_TRY(distance(l->json, "spacing", l->spacing[k], sizes[k], &spacing[k]));
        cells[k] = talus_json_get(l->json, "hi") ? whole_cells(l->hi[k] - l->lo[k], spacing[k])
                                                 : l->cells[k];
    }
    int64_t count = p->body->count;
    double floor_cells = cells[0] * cells[1];
    if (!talus_json_get(l->json, "hi") && cells[2] == 0.0 && floor_cells > 0.0)
        cells[2] = ceil((double)count / floor_cells);
    double places = floor_cells * cells[2];
    if (places < 1.0 || (double)count > places)
        return fail_room(l->json, places, count > 0 ? count : 1);
    if (count == 0 && places > INT_MAX)
        return talus_json_fail(l->json, 0, "more than %d bodies in one entry", INT_MAX);
    TALUS_TRY(start(p, count > 0 ? count : (int64_t)places));
    TalusLattice lattice = {.lo = scene_vec3(l->lo),
                            .spacing = scene_vec3(spacing),
                            .half = p->half,
                            .cells = {(int64_t)cells[0], (int64_t)cells[1], (int64_t)cells[2]},
                            .jitter = l->jitter,
                            .seed = (uint64_t)p->body->seed};
    talus_generate_lattice(&lattice, p->out->count, p->out->position);
    return TALUS_OK;
}

static TalusStatus place_layers(const Placing *p)
{
    const SceneLayers *l = p->body->layers;
    TalusLayers layers = {.bottom = scene_vec3(l->bottom),
                          .radius = l->radius,
                          .half = {l->half[0], l->half[1]},
                          .size = p->across,
                          .height = p->half.z,
                          .jitter = l->jitter,
                          .seed = (uint64_t)p->body->seed};
    TALUS_TRY(distance(l->json, "spacing", l->spacing, 2.0 * p->across, &layers.spacing));
    TALUS_TRY(distance(l->json, "rise", l->rise, 2.0 * p->half.z, &layers.rise));
    if (!(l->rise > 0.0) && layers.spacing > layers.rise)
        layers.rise = layers.spacing;
    int64_t count = p->body->count;
    int64_t places = talus_layers_places(&layers, l->repeat > 0 ? l->repeat : count);
    if (places == 0 || count > places)
        return fail_room(l->json, (double)places, count > 0 ? count : 1);
    TALUS_TRY(start(p, count > 0 ? count : places));
    talus_generate_layers(&layers, p->out->count, p->out->position);
    return TALUS_OK;
}

static int larger_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

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

/* Draws the bounding radii of bodies other than spheres, largest first; forms are sorted alike. */
static TalusStatus ball_radii(const Placing *p, double *radius)
{
    ScenePlaces *out = p->out;
    Bound *bound;
    TALUS_TRY(TALUS_ALLOC(bound, (size_t)out->count, "bodies of a scene"));
    for (int i = 0; i < out->count; i++) {
        int form = out->form ? out->form[i] : 0;
        bound[i] = (Bound){p->forms->bound[form], form};
    }
    qsort(bound, (size_t)out->count, sizeof *bound, larger_bound_first);
    for (int i = 0; i < out->count; i++) {
        radius[i] = bound[i].radius;
        if (out->form)
            out->form[i] = bound[i].form;
    }
    talus_release(bound);
    return TALUS_OK;
}

/* Places balls that bound the bodies in any orientation. */
static TalusStatus fill_with_balls(const Placing *p, const TalusFill *fill, int64_t *placed)
{
    ScenePlaces *out = p->out;
    if (p->spheres) {
        qsort(out->radius, (size_t)out->count, sizeof(double), larger_first);
        return talus_generate_fill(fill, out->count, out->radius, out->position, placed);
    }
    double *radius;
    TALUS_TRY(TALUS_ALLOC(radius, (size_t)out->count, "bodies of a scene"));
    TalusStatus status = ball_radii(p, radius);
    TALUS_THEN(status, talus_generate_fill(fill, out->count, radius, out->position, placed));
    talus_release(radius);
    return status;
}

static TalusStatus place_fill(const Placing *p)
{
    const SceneFill *f = p->body->fill;
    TalusFill fill = {
        .lo = scene_vec3(f->lo), .hi = scene_vec3(f->hi), .seed = (uint64_t)p->body->seed};
    if (f->radius > 0.0) {
        fill.radius = f->radius;
        fill.lo = scene_vec3(f->bottom);
        fill.hi = talus_add(fill.lo, talus_vec3(0.0, 0.0, f->height));
    }
    int64_t placed;
    TALUS_TRY(start(p, p->body->count));
    TALUS_TRY(fill_with_balls(p, &fill, &placed));
    if (placed < p->out->count)
        return talus_json_fail(f->json, 0,
                               "%lld of %d bodies fitted; random places fill about a third of the "
                               "volume, a lattice holds more",
                               (long long)placed, p->out->count);
    return TALUS_OK;
}

/* ---- files ---- */

typedef struct Lines {
    const char *path, *at, *end;
    int line, columns; /* columns: of the first line with numbers */
} Lines;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Reads the numbers of the line at `from`; returns how many, or -1 with a message. */
static int line_numbers(const Lines *in, const char *from, const char *stop, double *values)
{
    int n = 0;
    for (;;) {
        while (from < stop && is_space(*from))
            from++;
        if (from == stop || *from == '#')
            return n;
        size_t length = 0;
        while (from + length < stop && !is_space(from[length]))
            length++;
        if (n == 4 || talus_number_scan(from, length) != length ||
            !talus_number_value(from, length, &values[n])) {
            char shown[TALUS_JSON_SHOWN], word[TALUS_JSON_SHOWN];
            snprintf(word, sizeof word, "%.*s", (int)(length < 40 ? length : 40), from);
            talus_fail_line(in->path, in->line, TALUS_ERR_FORMAT,
                            "expected x y z [radius], found '%s'",
                            talus_json_print_value(word, shown));
            return -1;
        }
        n++;
        from += length;
    }
}

/* Reads the next line with numbers, if any. A first line that starts with a letter is a header. */
static TalusStatus next_point(Lines *in, double *values, bool *found)
{
    *found = false;
    while (!*found && in->at < in->end) {
        const char *from = in->at, *stop = memchr(from, '\n', (size_t)(in->end - from));
        in->at = stop ? stop + 1 : in->end;
        stop = stop ? stop : in->end;
        bool header =
            ++in->line == 1 && from < stop && ((*from | 32) >= 'a' && (*from | 32) <= 'z');
        int n = header ? 0 : line_numbers(in, from, stop, values);
        if (n < 0)
            return TALUS_ERR_FORMAT;
        if (n == 1 || n == 2 || (n > 0 && in->columns > 0 && n != in->columns))
            return talus_fail_line(in->path, in->line, TALUS_ERR_FORMAT,
                                   "expected %s numbers, found %d",
                                   in->columns == 4   ? "4"
                                   : in->columns == 3 ? "3"
                                                      : "3 or 4",
                                   n);
        *found = n > 0;
        in->columns = n > 0 ? n : in->columns;
    }
    return TALUS_OK;
}

static TalusStatus store_points(const Placing *p, Lines *in, int64_t count)
{
    double values[4];
    bool found;
    for (int64_t i = 0; i < count; i++) {
        TALUS_TRY(next_point(in, values, &found));
        p->out->position[i] = scene_vec3(values);
        if (in->columns < 4)
            continue;
        if (!p->out->radius || !(values[3] > 0.0))
            return talus_fail_line(in->path, in->line, TALUS_ERR_FORMAT, "%s",
                                   p->out->radius ? "expected a radius above 0"
                                                  : "a radius is for spheres only");
        p->out->radius[i] = values[3];
    }
    return TALUS_OK;
}

static TalusStatus read_points(const Placing *p, Lines in)
{
    const TalusJson *json = talus_json_get(p->body->json, "file");
    Lines first = in;
    double values[4];
    int64_t places = 0, count = p->body->count;
    for (bool found = true; found; places += found)
        TALUS_TRY(next_point(&in, values, &found));
    if (places == 0 || count > places)
        return talus_json_fail(json, 0, "%s holds %lld points, expected at least %lld", in.path,
                               (long long)places, (long long)(count > 0 ? count : 1));
    if (in.columns == 3 && p->spheres && p->max == 0.0)
        return talus_json_fail(json, 0, "%s has no radii, and neither has the entry", in.path);
    TALUS_TRY(start(p, count > 0 ? count : places));
    return store_points(p, &first, p->out->count);
}

static TalusStatus place_file(const Placing *p)
{
    const TalusJson *json = talus_json_get(p->body->json, "file");
    char *path, *text;
    size_t length;
    TALUS_TRY(talus_scene_path(p->scene, json, p->body->file, &path));
    TalusStatus status = talus_read_file(path, SIZE_MAX, &text, &length);
    if (status != TALUS_OK) {
        talus_json_error_at(json, status);
    } else {
        Lines in = {.path = path, .at = text, .end = text + length};
        status = read_points(p, in);
        talus_release(text);
    }
    talus_release(path);
    return status;
}

/* ---- entry ---- */

TalusStatus talus_scene_place(const TalusScene *scene, const SceneBody *body,
                              const SceneShape *shape, const SceneForms *forms, ScenePlaces *out)
{
    Placing p = {.scene = scene, .body = body, .forms = forms, .out = out};
    memset(out, 0, sizeof *out);
    p.spheres = shape->kind == TALUS_SHAPE_SPHERE && (!forms || forms->count == 1);
    if (p.spheres)
        talus_scene_sizes(body->radius, shape, &p.min, &p.max);
    set_extents(&p);
    TalusStatus status = body->lattice  ? place_lattice(&p)
                         : body->layers ? place_layers(&p)
                         : body->fill   ? place_fill(&p)
                         : body->file   ? place_file(&p)
                                        : place_points(&p);
    if (status != TALUS_OK)
        talus_scene_places_clear(out);
    return status;
}

void talus_scene_places_clear(ScenePlaces *places)
{
    TALUS_RELEASE(places->position, places->radius, places->form);
    memset(places, 0, sizeof *places);
}
