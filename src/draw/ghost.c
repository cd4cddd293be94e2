/* draw/ghost.c - draws transparent triangles and lines; bands of pixel rows are drawn in parallel. */
#include "draw/ghost.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"
#include "draw/raster_tile.h"

enum {
    BAND = 16,   /* pixel rows of a chunk */
    GRAIN = 4096 /* triangles of a chunk */
};
_Static_assert((int)BAND <= (int)TILE, "Rows holds a band");

/* Arguments of talus_ghosts_draw for its chunks. */
typedef struct GhostJob {
    const TalusPicture *picture;
    const TalusView *view;
    const TalusRaster *const *opaque;
    float *transmitted;
    float half_line; /* half width of lines, pixels */
    Splat *splat;    /* one per triangle of the walls */
} GhostJob;

/* Returns the depth of the nearest opaque solid at a pixel. */
static float opaque_depth_at(const GhostJob *job, size_t pixel)
{
    float first = job->opaque[0]->depth[pixel];
    return job->opaque[1]->depth ? fminf(first, job->opaque[1]->depth[pixel]) : first;
}

/* ---- walls ---- */

/* Multiplies the transmitted light of a pixel by the share that a ghost with normal n transmits along the ray d: the
 * more it is seen edge on, the less. n and d need not be unit vectors. */
static void dim_pixel(const GhostJob *job, size_t pixel, TalusF3 n, TalusF3 d)
{
    const TalusTheme *theme = job->picture->theme;
    float along = talus_f3_dot(n, d), most = talus_f3_dot(n, n) * talus_f3_dot(d, d);
    float facing = most > 0.0f ? fabsf(along) / sqrtf(most) : 1.0f;
    float slant = 1.0f - fminf(facing, 1.0f), rise = theme->ghost_edge - theme->ghost_face;
    job->transmitted[pixel] *= 1.0f - (theme->ghost_face + rise * slant * slant * slant);
}

/* A triangle with corners q0, q1, q2 and corner normals n0, n1, n2, in view coordinates, prepared for rays from the eye
 * along d = (u, v, 1). A ray meets the triangle at depth offset / dot(plane, d). The interpolated normal at that point
 * is along (d . q1 x q2) n0 + (d . q2 x q0) n1 + (d . q0 x q1) n2, which is linear in d. */
typedef struct WallPlane {
    TalusF3 plane, normal[3]; /* normal: coefficients of u, v and 1 */
    float offset;
} WallPlane;

/* Prepares a triangle of a wall for rays from the eye. */
static WallPlane make_wall_plane(const TalusViewedSolid *wall)
{
    const TalusF3 *a = wall->axis;
    WallPlane r = {.plane = talus_f3_cross(talus_f3_sub(a[1], a[0]), talus_f3_sub(a[2], a[0]))};
    r.offset = talus_f3_dot(r.plane, talus_f3_add(wall->centre, a[0]));
    for (int k = 0; k < 3; k++) {
        TalusF3 p = a[(k + 1) % 3], q = a[(k + 2) % 3];
        TalusF3 w =
            talus_f3_add(talus_f3_cross(wall->centre, talus_f3_sub(q, p)), talus_f3_cross(p, q));
        TalusF3 n = talus_view_direction_from_world(wall->view, wall->normal[k]);
        r.normal[0] = talus_f3_madd(r.normal[0], w.x, n);
        r.normal[1] = talus_f3_madd(r.normal[1], w.y, n);
        r.normal[2] = talus_f3_madd(r.normal[2], w.z, n);
    }
    return r;
}

/* Draws triangle `index` of the walls as a ghost in rows top <= y < bottom; not if the container is shown and the
 * triangle is opaque. */
static void draw_wall(const GhostJob *job, int index, int top, int bottom)
{
    Splat s = job->splat[index];
    s.y0 = s.y0 > top ? s.y0 : top;
    s.y1 = s.y1 < bottom ? s.y1 : bottom;
    if (s.y0 >= s.y1)
        return;
    TalusViewedSolid wall = talus_solid_in_view(&job->picture->walls, index, job->view);
    if (job->picture->def->container == TALUS_CONTAINER_SHOWN && talus_viewed_is_opaque(&wall))
        return;
    WallPlane sheet = make_wall_plane(&wall);
    Rows rows;
    talus_find_triangle_rows(job->view, &s, &wall, &rows);
    FOR_ROWS(&s, &rows, y, x0, x1)
    for (int x = x0; x < x1; x++) {
        size_t pixel = (size_t)y * (size_t)job->view->width + (size_t)x;
        TalusF3 d = talus_view_pixel_ray(job->view, x, y).d;
        float t = sheet.offset / talus_f3_dot(sheet.plane, d);
        if (t > 0.0f && t < opaque_depth_at(job, pixel)) {
            TalusF3 n = talus_f3_madd(sheet.normal[2], d.x, sheet.normal[0]);
            dim_pixel(job, pixel, talus_f3_madd(n, d.y, sheet.normal[1]), d);
        }
    }
}

/* ---- lines ---- */

/* Returns the first pixel, at least `least`, that a line from coordinate `low` on may cover. */
static int first_pixel(float low, int least)
{
    return low - 0.5f > (float)least ? (int)fminf(low - 0.5f, 1e6f) : least;
}

/* Returns the pixel after the last one, at most `most`, that a line up to coordinate `high` may cover. */
static int end_pixel(float high, int most)
{
    return high + 0.5f < (float)most ? (int)fmaxf(high + 0.5f, 0.0f) : most;
}

/* Draws the visible pixels within half a width of the line, in rows top <= y < bottom; nothing if an end is behind the
 * eye. A line up to 0.05 % behind a solid is visible, since it may lie on its surface. A negative value in
 * `transmitted` marks a pixel that a line has drawn already, so that lines that meet or coincide are as dark as one. */
static void draw_line(const GhostJob *job, const TalusLine *line, int top, int bottom)
{
    const TalusView *view = job->view;
    TalusF3 a = talus_view_point_from_world(view, line->from),
            b = talus_view_point_from_world(view, line->to);
    float ax, ay, bx, by, half = job->half_line;
    if (!(a.z > 0.0f && b.z > 0.0f))
        return;
    talus_view_project_to_pixels(view, a, &ax, &ay);
    talus_view_project_to_pixels(view, b, &bx, &by);
    float dx = bx - ax, dy = by - ay, dd = dx * dx + dy * dy;
    int y0 = first_pixel(fminf(ay, by) - half, top), y1 = end_pixel(fmaxf(ay, by) + half, bottom);
    int x0 = first_pixel(fminf(ax, bx) - half, 0);
    int x1 = end_pixel(fmaxf(ax, bx) + half, view->width);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            float px = (float)x + 0.5f - ax, py = (float)y + 0.5f - ay;
            float s = dd > 0.0f ? talus_clampf((px * dx + py * dy) / dd, 0.0f, 1.0f) : 0.0f;
            float ox = px - s * dx, oy = py - s * dy;
            if (ox * ox + oy * oy > half * half)
                continue;
            /* in perspective 1 / z, not z, is linear across the picture */
            float z =
                view->perspective ? a.z * b.z / (b.z + s * (a.z - b.z)) : a.z + s * (b.z - a.z);
            size_t pixel = (size_t)y * (size_t)view->width + (size_t)x;
            float *transmitted = &job->transmitted[pixel];
            if (z <= opaque_depth_at(job, pixel) * 1.0005f && *transmitted > 0.0f)
                *transmitted *= -(1.0f - job->picture->theme->ghost_line);
        }
}

/* Draws all ghosts in rows begin <= y < end. */
static void draw_rows(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const GhostJob *job = context;
    int top = (int)begin, bottom = (int)end;
    size_t width = (size_t)job->view->width;
    (void)chunk;
    for (size_t k = (size_t)top * width; k < (size_t)bottom * width; k++)
        job->transmitted[k] = 1.0f;
    for (int k = 0; k < job->picture->walls.count; k++)
        draw_wall(job, k, top, bottom);
    for (int k = 0; k < job->picture->line_count; k++)
        draw_line(job, &job->picture->line[k], top, bottom);
    for (size_t k = (size_t)top * width; k < (size_t)bottom * width; k++)
        job->transmitted[k] = fabsf(job->transmitted[k]);
}

/* Sets the splats of triangles begin .. end - 1 of the walls. */
static void project_walls(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const GhostJob *job = context;
    (void)chunk;
    for (int64_t k = begin; k < end; k++)
        job->splat[k] = talus_project_splat(&job->picture->walls, (int)k, job->view);
}

TalusStatus talus_ghosts_draw(const TalusPicture *picture, const TalusView *view,
                              const TalusRaster *const opaque[2], TalusPool *pool,
                              float *transmitted)
{
    GhostJob job = {.picture = picture, .view = view, .opaque = opaque, .transmitted = transmitted};
    job.half_line = (float)(0.5 * TALUS_GHOST_LINE_WIDTH / 1200.0) * (float)view->height;
    TALUS_TRY(TALUS_ALLOC(job.splat, (size_t)picture->walls.count, "walls in view"));
    talus_parallel(pool, picture->walls.count, GRAIN, project_walls, &job);
    talus_parallel(pool, view->height, BAND, draw_rows, &job);
    talus_release(job.splat);
    return TALUS_OK;
}
