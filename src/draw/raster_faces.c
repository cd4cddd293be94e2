/* draw/raster_faces.c - hulls and triangles, face by face; ellipsoids in depth maps. */
#include "draw/raster_tile.h"

/* More go ray by ray. */
enum { MOST_FACETS = 256, MOST_CORNERS = 256 };

/* ---- planes in a picture ---- */

/* A linear function of a ray's place (u, v). In a perspective view 1 / t of where the ray meets a plane n.x = d is
 * n.(u, v, 1) / d; in a parallel one -t is (n_x u + n_y v - d) / n_z: the larger, the nearer. */
typedef struct Linear {
    float u, v, one;
} Linear;

/* Whether the plane looks to the eye. */
static bool linear_of(bool perspective, TalusF3 n, float offset, Linear *out)
{
    float below = perspective ? offset : n.z, one = perspective ? n.z : -offset;
    if (fabsf(below) < 1e-12f)
        below = below < 0.0f ? -1e-12f : 1e-12f;
    *out = (Linear){n.x / below, n.y / below, one / below};
    return below < 0.0f;
}

static TalusF3 out_of_axes(const TalusPlaced *solid, TalusF3 a)
{
    TalusF3 r = talus_f3_scale(a.x, solid->axis[0]);
    return talus_f3_madd(talus_f3_madd(r, a.y, solid->axis[1]), a.z, solid->axis[2]);
}

/* ---- polygons ---- */

typedef struct Point {
    float x, y;
} Point;

/* The stretch of each row of the tile, from its first. */
typedef struct Rows {
    int first, end; /* rows of the polygon within the splat */
    float low[TILE], high[TILE];
} Rows;

/* The first pixel whose middle is not below x. */
static int pixel_from(float x, int least, int most)
{
    x = talus_clampf(x - 0.5f, (float)least, (float)most);
    int whole = (int)x;
    return whole + ((float)whole < x);
}

static void begin_rows(const Splat *s, const Point *corner, const int *loop, int count, Rows *rows)
{
    float low = INFINITY, high = -INFINITY;
    for (int k = 0; k < count; k++) {
        low = fminf(low, corner[loop[k]].y);
        high = fmaxf(high, corner[loop[k]].y);
    }
    rows->first = pixel_from(low, s->y0, s->y1);
    rows->end = pixel_from(high, s->y0, s->y1);
    for (int y = rows->first; y < rows->end; y++) {
        rows->low[y - s->y0] = INFINITY;
        rows->high[y - s->y0] = -INFINITY;
    }
}

/* An edge belongs to the rows whose middle lies from its upper end on to before its lower one, and its x is
 * computed from the upper end: faces that share it agree, so that each pixel is in one of them. */
static void add_edge(const Splat *s, Point a, Point b, Rows *rows)
{
    if (a.y > b.y || (a.y == b.y && a.x > b.x)) {
        Point c = a;
        a = b;
        b = c;
    }
    float slope = (b.x - a.x) / (b.y - a.y);
    int end = pixel_from(b.y, s->y0, s->y1);
    for (int y = pixel_from(a.y, s->y0, s->y1); y < end; y++) {
        float x = a.x + ((float)y + 0.5f - a.y) * slope;
        rows->low[y - s->y0] = fminf(rows->low[y - s->y0], x);
        rows->high[y - s->y0] = fmaxf(rows->high[y - s->y0], x);
    }
}

static void fill_row(const Tile *tile, int32_t index, Linear l, int y, int x0, int x1)
{
    const Job *job = tile->job;
    const TalusView *view = job->view;
    size_t row = (size_t)y * (size_t)job->raster->width;
    float *depth = job->raster->depth + row;
    float b = l.v * (((float)y + 0.5f - view->cy) / view->scale) + l.one;
    if (!view->perspective && !job->raster->hit) {
        for (int x = x0; x < x1; x++) {
            float t = -(l.u * tile->u[x - tile->x0] + b);
            depth[x] = t < depth[x] ? t : depth[x];
        }
        return;
    }
    for (int x = x0; x < x1; x++) {
        float near = l.u * tile->u[x - tile->x0] + b;
        if (view->perspective && !(near > 0.0f))
            continue;
        keep_nearest(&depth[x], job->raster->hit ? &job->raster->hit[row + (size_t)x] : NULL,
                     view->perspective ? 1.0f / near : -near, index);
    }
}

static void fill(const Tile *tile, const Splat *s, int32_t index, const Point *corner,
                 const int *loop, int count, Linear l)
{
    Rows rows;
    begin_rows(s, corner, loop, count, &rows);
    for (int k = 0; k < count; k++)
        add_edge(s, corner[loop[k]], corner[loop[k + 1 < count ? k + 1 : 0]], &rows);
    for (int y = rows.first; y < rows.end; y++)
        fill_row(tile, index, l, y, pixel_from(rows.low[y - s->y0], s->x0, s->x1),
                 pixel_from(rows.high[y - s->y0], s->x0, s->x1));
}

static Point project(const TalusView *view, TalusF3 q)
{
    Point p;
    talus_view_project(view, q, &p.x, &p.y);
    return p;
}

static void draw_triangle(const Tile *tile, const Splat *s, int32_t index, const TalusPlaced *solid)
{
    static const int loop[3] = {0, 1, 2};
    const TalusView *view = tile->job->view;
    Point corner[3];
    TalusF3 n = talus_f3_cross(talus_f3_sub(solid->axis[1], solid->axis[0]),
                               talus_f3_sub(solid->axis[2], solid->axis[0]));
    Linear l;
    for (int k = 0; k < 3; k++)
        corner[k] = project(view, talus_f3_add(solid->centre, solid->axis[k]));
    linear_of(view->perspective, n, talus_f3_dot(n, talus_f3_add(solid->centre, solid->axis[0])),
              &l);
    fill(tile, s, index, corner, loop, 3, l);
}

/* The eye in the axes of a solid; of a parallel view, the way there. */
static TalusF3 eye_in_axes(const TalusView *view, const TalusPlaced *solid)
{
    TalusF3 to = view->perspective ? talus_f3_scale(-1.0f, solid->centre) : talus_f3(0, 0, -1.0f);
    return talus_f3(talus_f3_dot(solid->axis[0], to), talus_f3_dot(solid->axis[1], to),
                    talus_f3_dot(solid->axis[2], to));
}

/* The faces that look to the eye cover what is seen of a hull, each pixel once. */
static void draw_hull(const Tile *tile, const Splat *s, int32_t index, const TalusPlaced *solid)
{
    const TalusView *view = tile->job->view;
    TalusF3 eye = eye_in_axes(view, solid);
    Point corner[MOST_CORNERS];
    for (int k = 0; k < solid->corner_count; k++)
        corner[k] =
            project(view, talus_f3_add(solid->centre, out_of_axes(solid, solid->corner[k])));
    for (int k = 0; k < solid->facet_count; k++) {
        const TalusFacet *f = &solid->facet[k];
        if (!(talus_f3_dot(f->normal, eye) > (view->perspective ? f->offset : 0.0f)))
            continue;
        TalusF3 n = out_of_axes(solid, f->normal);
        Linear l;
        if (linear_of(view->perspective, n, f->offset + talus_f3_dot(n, solid->centre), &l))
            fill(tile, s, index, corner, solid->loop + f->first, f->count, l);
    }
}

/* ---- ellipsoids in a depth map ---- */

/* With M = sum of a a' / h^2 over the axes, x' M x = 1 on the surface; along the ray at (u, v) from the middle
 * that is M_zz t^2 + 2 b t + c = 0. */
static void draw_ellipsoid(const Tile *tile, const Splat *s, const TalusPlaced *solid, TalusF3 half)
{
    const Job *job = tile->job;
    float xx = 0.0f, yy = 0.0f, zz = 0.0f, xy = 0.0f, xz = 0.0f, yz = 0.0f;
    float h[3] = {half.x, half.y, half.z};
    for (int k = 0; k < 3; k++) {
        TalusF3 a = talus_f3_scale(1.0f / h[k], solid->axis[k]);
        xx += a.x * a.x;
        yy += a.y * a.y;
        zz += a.z * a.z;
        xy += a.x * a.y;
        xz += a.x * a.z;
        yz += a.y * a.z;
    }
    for (int y = s->y0; y < s->y1; y++) {
        float v = ((float)y + 0.5f - job->view->cy) / job->view->scale - solid->centre.y;
        float *restrict depth = job->raster->depth + (size_t)y * (size_t)job->raster->width;
        for (int x = s->x0; x < s->x1; x++) {
            float u = tile->u[x - tile->x0] - solid->centre.x, b = xz * u + yz * v;
            float root = b * b - zz * (u * (xx * u + 2.0f * xy * v) + yy * v * v - 1.0f);
            float t = solid->centre.z - (b + sqrtf(fmaxf(root, 0.0f))) / zz;
            t = root > 0.0f ? t : INFINITY;
            depth[x] = t < depth[x] ? t : depth[x];
        }
    }
}

/* In a depth map a hull of a few pixels is as good as the ellipsoid of its volume: its faces are smaller
 * than what a point is lifted by (lamp.h). */
static bool is_small(const Tile *tile, const TalusPlaced *solid)
{
    return 2.0f * solid->radius * tile->job->view->scale < 16.0f;
}

/* ---- a hull that is cut ---- */

/* The ray is inside from the least value of the planes that look to the eye down to the greatest of the others. */
typedef struct Facing {
    Linear front[MOST_FACETS + 1], back[MOST_FACETS + 1]; /* and the cut */
    int fronts, backs;
} Facing;

static void add_facing(Facing *facing, bool perspective, TalusF3 n, float offset)
{
    Linear l;
    if (linear_of(perspective, n, offset, &l))
        facing->front[facing->fronts++] = l;
    else
        facing->back[facing->backs++] = l;
}

static void face_hull(const Job *job, const TalusPlaced *solid, Facing *facing)
{
    facing->fronts = facing->backs = 0;
    for (int k = 0; k < solid->facet_count; k++) {
        TalusF3 n = out_of_axes(solid, solid->facet[k].normal);
        add_facing(facing, job->view->perspective, n,
                   solid->facet[k].offset + talus_f3_dot(n, solid->centre));
    }
    if (job->cut.on)
        add_facing(facing, job->view->perspective, job->cut.normal, job->cut.offset);
}

static void draw_cut_hull(const Tile *tile, const Splat *s, int32_t index, const TalusPlaced *solid)
{
    const Job *job = tile->job;
    TalusRaster *raster = job->raster;
    bool perspective = job->view->perspective;
    const float *u = tile->u + (s->x0 - tile->x0);
    int wide = s->x1 - s->x0;
    Facing facing;
    float first[TILE], last[TILE];
    face_hull(job, solid, &facing);
    for (int y = s->y0; y < s->y1; y++) {
        float v = ((float)y + 0.5f - job->view->cy) / job->view->scale;
        for (int x = 0; x < wide; x++) {
            first[x] = INFINITY;
            last[x] = perspective ? 0.0f : -INFINITY;
        }
        for (int k = 0; k < facing.fronts; k++) {
            float a = facing.front[k].u, b = facing.front[k].v * v + facing.front[k].one;
            for (int x = 0; x < wide; x++)
                first[x] = a * u[x] + b < first[x] ? a * u[x] + b : first[x];
        }
        for (int k = 0; k < facing.backs; k++) {
            float a = facing.back[k].u, b = facing.back[k].v * v + facing.back[k].one;
            for (int x = 0; x < wide; x++)
                last[x] = a * u[x] + b > last[x] ? a * u[x] + b : last[x];
        }
        size_t at = (size_t)y * (size_t)raster->width + (size_t)s->x0;
        for (int x = 0; x < wide; x++, at++)
            if (first[x] > last[x] && first[x] < INFINITY)
                keep_nearest(&raster->depth[at], raster->hit ? &raster->hit[at] : NULL,
                             perspective ? 1.0f / first[x] : -first[x], index);
    }
}

bool talus_draw_faces(const Tile *tile, const Splat *s, int32_t index, const TalusPlaced *solid)
{
    const Job *job = tile->job;
    bool map = !job->view->perspective && !job->raster->hit && !job->cut.on;
    bool hull = solid->kind == TALUS_FORM_HULL;
    if (solid->kind == TALUS_FORM_TRIANGLE)
        draw_triangle(tile, s, index, solid);
    else if (map && solid->kind == TALUS_FORM_ELLIPSOID)
        draw_ellipsoid(tile, s, solid, solid->half);
    else if (map && hull && is_small(tile, solid))
        draw_ellipsoid(tile, s, solid, talus_f3_scale(solid->round, solid->half));
    else if (!hull || solid->facet_count > MOST_FACETS || solid->corner_count > MOST_CORNERS)
        return false;
    else if (job->cut.on)
        draw_cut_hull(tile, s, index, solid);
    else
        draw_hull(tile, s, index, solid);
    return true;
}
