/* measure/heap.c - the free surface of a heap as columns, and the angles of a cone and of a plane through it.
 *
 * Both fits are linear: height = a + b r for a cone with the vertical through the centre of mass as its axis, height =
 * a + b u + c v for a plane. Columns come by sorting bodies, so that bodies far away cost nothing. Angles use libm; no step
 * depends on them. */
#include "measure/bulk.h"

#include "backend/frame.h"
#include "base/memory.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS_MIN = 8 };

/* A column of bodies, or one body of it. */
typedef struct Column {
    int64_t i, j;
    double height;   /* of its highest point */
    double u, v;     /* across, of its middle less the centre of mass */
    double distance; /* from the centre of mass, across */
} Column;

typedef struct Surface {
    Column *column;
    int count;
    double low, high; /* lowest and highest point of all bodies */
} Surface;

/* ---- columns ---- */

/* Orders columns by place, those of one place by falling height. */
static int compare_columns(const void *a, const void *b)
{
    const Column *x = a, *y = b;
    if (x->i != y->i)
        return x->i < y->i ? -1 : 1;
    if (x->j != y->j)
        return x->j < y->j ? -1 : 1;
    return (x->height < y->height) - (x->height > y->height);
}

/* Returns a position as height and two coordinates across. */
static TalusVec3 level(const double frame[4], TalusVec3 x)
{
    const double world[3] = {x.x, x.y, x.z};
    double local[3];
    talus_frame_to_local(frame, world, local);
    return talus_vec3(local[0], local[1], local[2]);
}

/* Lists each body that counts as a column of its own; returns the centre of mass, by height and across. */
static TalusVec3 list_bodies(const TalusAssembly *a, const TalusBulkDef *def, double edge,
                             Surface *s)
{
    double frame[4], mass = 0.0;
    TalusVec3 centre = {0, 0, 0};
    talus_frame_from_normal(frame, a->up.x, a->up.y, a->up.z);
    for (int i = 0; i < a->body_count; i++) {
        if (!talus_bulk_includes(def, a->position[i]))
            continue;
        const TalusVec3 x = level(frame, a->position[i]);
        mass += a->mass[i];
        centre = talus_madd(centre, a->mass[i], x);
        s->low = fmin(s->low, x.x - a->radius[i]);
        s->high = fmax(s->high, x.x + a->radius[i]);
        s->column[s->count++] = (Column){.i = (int64_t)floor(x.y / edge),
                                         .j = (int64_t)floor(x.z / edge),
                                         .height = x.x + a->radius[i]};
    }
    return talus_scale(1.0 / mass, centre);
}

/* Sets where the columns are, seen from the centre of mass. */
static void place_columns(Surface *s, TalusVec3 centre, double edge)
{
    for (int n = 0; n < s->count; n++) {
        Column *c = &s->column[n];
        c->u = ((double)c->i + 0.5) * edge - centre.y;
        c->v = ((double)c->j + 0.5) * edge - centre.z;
        c->distance = sqrt(c->u * c->u + c->v * c->v);
    }
}

/* Keeps the highest body of each place. */
static void keep_highest(Surface *s)
{
    int count = 0;
    qsort(s->column, (size_t)s->count, sizeof *s->column, compare_columns);
    for (int n = 0; n < s->count; n++)
        if (count == 0 || s->column[n].i != s->column[count - 1].i ||
            s->column[n].j != s->column[count - 1].j)
            s->column[count++] = s->column[n];
    s->count = count;
}

/* ---- fits ---- */

/* Sums for least squares: height against two coordinates. */
typedef struct Fit {
    double n, x, y, h, xx, yy, xy, xh, yh, hh;
} Fit;

static void add_point(Fit *f, double x, double y, double h)
{
    f->n += 1.0;
    f->x += x;
    f->y += y;
    f->h += h;
    f->xx += x * x;
    f->yy += y * y;
    f->xy += x * y;
    f->xh += x * h;
    f->yh += y * h;
    f->hh += h * h;
}

/* Sets the steepness of height = a + b x + c y, |(b, c)|, and the misfit; y may be 0 throughout. NAN with too few points. */
static double solve_fit(const Fit *f, double *misfit)
{
    const double xx = f->xx - f->x * f->x / f->n, yy = f->yy - f->y * f->y / f->n;
    const double xy = f->xy - f->x * f->y / f->n, hh = f->hh - f->h * f->h / f->n;
    const double xh = f->xh - f->x * f->h / f->n, yh = f->yh - f->y * f->h / f->n;
    const double determinant = xx * yy - xy * xy;
    const bool line = yy == 0.0;
    *misfit = NAN;
    if (f->n < COLUMNS_MIN || !(line ? xx > 0.0 : determinant > 0.0))
        return NAN;
    const double b = line ? xh / xx : (yy * xh - xy * yh) / determinant;
    const double c = line ? 0.0 : (xx * yh - xy * xh) / determinant;
    *misfit = sqrt(fmax(0.0, hh - b * xh - c * yh) / f->n);
    return sqrt(b * b + c * c);
}

/* Heights count from the lowest point, so that sums of squares keep their digits. */
static void fit_cone(const Surface *s, TalusHeap *out)
{
    const double height = s->high - s->low;
    Fit fit = {0};
    for (int n = 0; n < s->count; n++) {
        const double h = s->column[n].height - s->low;
        if (h >= 0.2 * height && h <= 0.8 * height)
            add_point(&fit, s->column[n].distance, 0.0, h);
    }
    out->repose = atan(solve_fit(&fit, &out->repose_misfit));
}

static TalusStatus fit_plane(const Surface *s, TalusHeap *out)
{
    double *distance = NULL;
    Fit fit = {0};
    TALUS_TRY(TALUS_ALLOC(distance, (size_t)s->count, "heap"));
    for (int n = 0; n < s->count; n++)
        distance[n] = s->column[n].distance;
    qsort(distance, (size_t)s->count, sizeof *distance, talus_compare_doubles);
    const double limit = s->count ? distance[s->count / 2] : 0.0;
    talus_release(distance);
    for (int n = 0; n < s->count; n++)
        if (s->column[n].distance <= limit)
            add_point(&fit, s->column[n].u, s->column[n].v, s->column[n].height - s->low);
    out->slope = atan(solve_fit(&fit, &out->slope_misfit));
    return TALUS_OK;
}

TalusStatus talus_heap_measure(const TalusAssembly *assembly, const TalusBulkDef *def,
                               TalusHeap *out)
{
    Surface s = {.low = INFINITY, .high = -INFINITY};
    double radius;
    *out = (TalusHeap){NAN, NAN, NAN, NAN};
    TALUS_TRY(talus_assembly_median_radius(assembly, &radius));
    if (!(radius > 0.0) || talus_dot(assembly->up, assembly->up) == 0.0)
        return TALUS_OK;
    TALUS_TRY(TALUS_ALLOC(s.column, (size_t)assembly->body_count, "heap"));
    const TalusVec3 centre = list_bodies(assembly, def, 4.0 * radius, &s);
    keep_highest(&s);
    place_columns(&s, centre, 4.0 * radius);
    fit_cone(&s, out);
    const TalusStatus status = fit_plane(&s, out);
    talus_release(s.column);
    return status;
}
