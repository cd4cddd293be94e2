/* draw/raster_faces.c - draws polyhedra and triangles face by face, and small polyhedra in depth maps as ellipsoids. */
#include "draw/raster_tile.h"

/* ---- planes in a picture ---- */

/* Coefficients of a linear function of a ray's coordinates (u, v), its x and y at depth 1. At the intersection with a
 * plane n.x = d, at depth t, its value is 1 / t = n.(u, v, 1) / d in a perspective view and
 * -t = (n_x u + n_y v - d) / n_z in a parallel view: the larger, the nearer. */
typedef struct DepthFunction {
    float u, v, one;
} DepthFunction;

/* Returns the coefficients for the plane n.x = offset. */
static DepthFunction depth_function_of(bool perspective, TalusF3 n, float offset)
{
    float below = perspective ? offset : n.z, one = perspective ? n.z : -offset;
    if (fabsf(below) < 1e-12f)
        below = below < 0.0f ? -1e-12f : 1e-12f;
    return (DepthFunction){n.x / below, n.y / below, one / below};
}

/* ---- polygons ---- */

/* A point of the picture, pixels. */
typedef struct Point {
    float x, y;
} Point;

/* Makes the interval of row y empty. */
static void clear_row(const Splat *s, Rows *rows, int y)
{
    rows->low[y - s->y0] = INFINITY;
    rows->high[y - s->y0] = -INFINITY;
}

/* Extends the range of rows to include [first, end) and makes the new ones empty. Not all TILE rows are initialised at
 * once, because most facets have few. */
static void extend_rows(const Splat *s, Rows *rows, int first, int end)
{
    if (rows->first >= rows->end)
        rows->first = rows->end = first;
    while (rows->first > first)
        clear_row(s, rows, --rows->first);
    while (rows->end < end)
        clear_row(s, rows, rows->end++);
}

/* Extends the intervals of the rows that the edge from a to b crosses: those whose middle is at or below its upper end
 * (the smaller y) and above its lower end. x is always computed from the upper end, so that two faces with a common
 * edge agree and each pixel is in exactly one of them. */
static void add_edge_to_rows(const Splat *s, Point a, Point b, Rows *rows)
{
    if (a.y > b.y || (a.y == b.y && a.x > b.x)) {
        Point c = a;
        a = b;
        b = c;
    }
    int begin = first_pixel_from(a.y, s->y0, s->y1), end = first_pixel_from(b.y, s->y0, s->y1);
    if (begin >= end)
        return;
    float slope = (b.x - a.x) / (b.y - a.y);
    extend_rows(s, rows, begin, end);
    for (int y = begin; y < end; y++) {
        float x = a.x + ((float)y + 0.5f - a.y) * slope;
        rows->low[y - s->y0] = fminf(rows->low[y - s->y0], x);
        rows->high[y - s->y0] = fmaxf(rows->high[y - s->y0], x);
    }
}

/* A plane polygon to be drawn: a triangle, or a facet of a polyhedron. */
typedef struct PaintedPolygon {
    int32_t index, face; /* index of the solid; number of the facet */
    DepthFunction l;     /* of its plane: gives the depth at each ray */
} PaintedPolygon;

/* Draws pixels x0 <= x < x1 of row y of a polygon. */
static void paint_row(const Tile *tile, const PaintedPolygon *paint, int y, int x0, int x1)
{
    const RasterJob *job = tile->job;
    const TalusView *view = job->view;
    DepthFunction l = paint->l;
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
        write_if_nearest(job->raster, row + (size_t)x, view->perspective ? 1.0f / near : -near,
                         paint->index, paint->face);
    }
}

/* Pixel coordinates of a point in view coordinates. */
static Point project_point(const TalusView *view, TalusF3 q)
{
    Point p;
    talus_view_project_to_pixels(view, q, &p.x, &p.y);
    return p;
}

void talus_find_triangle_rows(const TalusView *view, const Splat *s,
                              const TalusViewedSolid *triangle, Rows *rows)
{
    Point corner[3];
    rows->first = rows->end = 0;
    for (int k = 0; k < 3; k++)
        corner[k] = project_point(view, talus_f3_add(triangle->centre, triangle->axis[k]));
    for (int k = 0; k < 3; k++)
        add_edge_to_rows(s, corner[k], corner[(k + 1) % 3], rows);
}

/* Draws a triangle in the part of the tile that the splat covers. */
static void draw_triangle(const Tile *tile, const Splat *s, int32_t index,
                          const TalusViewedSolid *solid)
{
    const TalusView *view = tile->job->view;
    Rows rows;
    TalusF3 n = talus_f3_cross(talus_f3_sub(solid->axis[1], solid->axis[0]),
                               talus_f3_sub(solid->axis[2], solid->axis[0]));
    float offset = talus_f3_dot(n, talus_f3_add(solid->centre, solid->axis[0]));
    PaintedPolygon paint = {.index = index, .l = depth_function_of(view->perspective, n, offset)};
    talus_find_triangle_rows(view, s, solid, &rows);
    FOR_ROWS(s, &rows, y, x0, x1) paint_row(tile, &paint, y, x0, x1);
}

/* ---- polyhedra ---- */

/* Returns, in a solid's axes, the eye relative to its centre; in a parallel view, the direction to the eye. */
static TalusF3 eye_in_axes(const TalusView *view, const TalusViewedSolid *solid)
{
    TalusF3 to = view->perspective ? talus_f3_scale(-1.0f, solid->centre) : talus_f3(0, 0, -1.0f);
    return talus_viewed_to_axes(solid, to);
}

/* True if the eye is on the outer side of a facet. */
static bool faces_eye(const TalusView *view, const TalusPolygonFacet *f, TalusF3 eye)
{
    return talus_f3_dot(f->normal, eye) > (view->perspective ? f->offset : 0.0f);
}

enum { BATCH = 16 }; /* corners of a facet that are projected at a time */

/* True if the bounding rectangle of the points meets the splat. */
static bool bounds_overlap(const Splat *s, const Point *at, int count)
{
    float x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
    for (int k = 0; k < count; k++) {
        x0 = fminf(x0, at[k].x);
        x1 = fmaxf(x1, at[k].x);
        y0 = fminf(y0, at[k].y);
        y1 = fmaxf(y1, at[k].y);
    }
    return x1 >= (float)s->x0 && x0 <= (float)s->x1 && y1 >= (float)s->y0 && y0 <= (float)s->y1;
}

/* Sets `rows` to the intervals of x that facet f covers within the splat. A facet of at most BATCH corners whose bounds
 * are outside the splat gets no rows: a body is drawn tile by tile, so most of its facets are outside. */
static void find_facet_rows(const Tile *tile, const Splat *s, const TalusViewedSolid *solid,
                            const TalusPolygonFacet *f, Rows *rows)
{
    const TalusPolyhedron *p = solid->polyhedron;
    Point at[BATCH + 1], first = {0.0f, 0.0f}; /* at[0]: last corner of the batch before */
    rows->first = rows->end = 0;
    for (int k = 0, have = 0; k < f->count; k++) {
        TalusF3 q = talus_viewed_from_axes(solid, p->corner[f->first + k].at);
        at[have++] = project_point(tile->job->view, talus_f3_add(solid->centre, q));
        first = k == 0 ? at[0] : first;
        bool last = k + 1 == f->count;
        if (!last && have < BATCH)
            continue;
        if (last)
            at[have++] = first;
        if (f->count <= BATCH && !bounds_overlap(s, at, have))
            return;
        for (int i = 0; i + 1 < have; i++)
            add_edge_to_rows(s, at[i], at[i + 1], rows);
        at[0] = at[have - 1];
        have = 1;
    }
}

/* Depth function of the plane of a facet. */
static DepthFunction facet_depth_function(const Tile *tile, const TalusViewedSolid *solid,
                                          const TalusPolygonFacet *f)
{
    TalusF3 n = talus_viewed_from_axes(solid, f->normal);
    return depth_function_of(tile->job->view->perspective, n,
                             f->offset + talus_f3_dot(n, solid->centre));
}

/* Draws the facets that face the eye; together they cover the silhouette of the polyhedron, each pixel once. */
static void draw_polyhedron(const Tile *tile, const Splat *s, int32_t index,
                            const TalusViewedSolid *solid)
{
    const TalusPolyhedron *p = solid->polyhedron;
    TalusF3 eye = eye_in_axes(tile->job->view, solid);
    Rows rows;
    for (int k = 0; k < p->facets; k++) {
        if (!faces_eye(tile->job->view, &p->facet[k], eye))
            continue;
        find_facet_rows(tile, s, solid, &p->facet[k], &rows);
        if (rows.first >= rows.end)
            continue;
        PaintedPolygon paint = {index, k, facet_depth_function(tile, solid, &p->facet[k])};
        FOR_ROWS(s, &rows, y, x0, x1) paint_row(tile, &paint, y, x0, x1);
    }
}

/* ---- polyhedra in a depth map ---- */

/* Draws an ellipsoid with half axes `half` into a depth map. With M = sum of a a' / h^2 over its axes a and half axes
 * h, the surface is x' M x = 1, x relative to the centre. On the ray x = (u, v, t) this is M_zz t^2 + 2 b t + c = 0
 * with b = M_xz u + M_yz v and c = M_xx u^2 + 2 M_xy u v + M_yy v^2 - 1. */
static void draw_ellipsoid(const Tile *tile, const Splat *s, const TalusViewedSolid *solid,
                           TalusF3 half)
{
    const RasterJob *job = tile->job;
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

/* True if a depth map may show the ellipsoid of equal volume instead: the bounding sphere is less than 16 pixels wide,
 * so that the error is about the distance of 1.5 pixels by which lamp.h lifts points. Polyhedra of up to 12 facets are
 * drawn as fast by their facets. */
static bool can_be_ellipsoid(const Tile *tile, const TalusViewedSolid *solid)
{
    return solid->polyhedron->facets > 12 && 2.0f * solid->radius * tile->job->view->scale < 16.0f;
}

/* ---- a polyhedron that is cut ---- */

/* For each pixel of a tile: the depths between which its ray is inside the polyhedron, INFINITY and -INFINITY if it
 * misses, and the facet where it enters. */
typedef struct Intervals {
    float enter[TILE * TILE], leave[TILE * TILE];
    int32_t face[TILE * TILE];
} Intervals;

/* Writes the depths at which the rays of a row enter by a facet (`front`: it faces the eye) or leave by it. */
static void record_row(const Tile *tile, Intervals *intervals, const PaintedPolygon *paint, int y,
                       int x0, int x1, bool front)
{
    const TalusView *view = tile->job->view;
    DepthFunction l = paint->l;
    float b = l.v * (((float)y + 0.5f - view->cy) / view->scale) + l.one;
    for (int x = x0; x < x1; x++) {
        int at = (y - tile->y0) * TILE + (x - tile->x0);
        float near = l.u * tile->u[x - tile->x0] + b;
        float t = view->perspective ? (near > 0.0f ? 1.0f / near : INFINITY) : -near;
        if (front) {
            intervals->enter[at] = t;
            intervals->face[at] = paint->face;
        } else {
            intervals->leave[at] = t;
        }
    }
}

/* Finds, for all pixels of the splat, where their rays enter and leave the polyhedron. */
static void find_intervals(const Tile *tile, const Splat *s, const TalusViewedSolid *solid,
                           Intervals *intervals)
{
    const TalusPolyhedron *p = solid->polyhedron;
    TalusF3 eye = eye_in_axes(tile->job->view, solid);
    Rows rows;
    for (int y = s->y0 - tile->y0; y < s->y1 - tile->y0; y++)
        for (int x = s->x0 - tile->x0; x < s->x1 - tile->x0; x++) {
            intervals->enter[y * TILE + x] = INFINITY;
            intervals->leave[y * TILE + x] = -INFINITY;
        }
    for (int k = 0; k < p->facets; k++) {
        bool front = faces_eye(tile->job->view, &p->facet[k], eye);
        find_facet_rows(tile, s, solid, &p->facet[k], &rows);
        PaintedPolygon paint = {.face = k, .l = facet_depth_function(tile, solid, &p->facet[k])};
        FOR_ROWS(s, &rows, y, x0, x1) record_row(tile, intervals, &paint, y, x0, x1, front);
    }
}

/* Draws what the cut leaves of a polyhedron: the ray enters by a facet or, with face -1, by the plane of the cut. */
static void draw_cut_polyhedron(const Tile *tile, const Splat *s, int32_t index,
                                const TalusViewedSolid *solid)
{
    const RasterJob *job = tile->job;
    Intervals intervals;
    find_intervals(tile, s, solid, &intervals);
    for (int y = s->y0; y < s->y1; y++)
        for (int x = s->x0; x < s->x1; x++) {
            int at = (y - tile->y0) * TILE + (x - tile->x0);
            TalusRay ray = talus_view_pixel_ray(job->view, x, y);
            float along = talus_f3_dot(job->cut.normal, ray.d), enter = intervals.enter[at];
            float room = job->cut.offset - talus_f3_dot(job->cut.normal, ray.o);
            float leave =
                along > 0.0f ? fminf(intervals.leave[at], room / along) : intervals.leave[at];
            bool open = along < 0.0f && room / along > enter; /* the ray enters by the cut */
            if (open)
                enter = room / along;
            if (enter < leave && enter > 0.0f && (along != 0.0f || room >= 0.0f))
                write_if_nearest(job->raster, (size_t)y * (size_t)job->raster->width + (size_t)x,
                                 enter, index, open ? -1 : intervals.face[at]);
        }
}

bool talus_draw_by_faces(const Tile *tile, const Splat *s, int32_t index,
                         const TalusViewedSolid *solid)
{
    const RasterJob *job = tile->job;
    bool map = !job->view->perspective && !job->raster->hit;
    if (solid->kind == TALUS_FORM_TRIANGLE && talus_viewed_is_opaque(solid))
        draw_triangle(tile, s, index, solid);
    if (solid->kind != TALUS_FORM_POLYHEDRON)
        return solid->kind == TALUS_FORM_TRIANGLE;
    if (job->cut.on)
        draw_cut_polyhedron(tile, s, index, solid);
    else if (map && can_be_ellipsoid(tile, solid))
        draw_ellipsoid(tile, s, solid, talus_f3_scale(solid->polyhedron->ellipsoid, solid->half));
    else
        draw_polyhedron(tile, s, index, solid);
    return true;
}
