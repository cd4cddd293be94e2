/* draw/panes.c - draws triangles and lines: transforms each to the view once; bands of rows skip those outside. */
#include "draw/panes.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"

enum { BAND = 16, GRAIN = 4096 };

typedef struct Job {
    const TalusPicture *picture;
    const TalusView *view;
    const TalusRaster *raster;
    TalusRaster *target; /* NULL: ghosts */
    float *left;
    float half_line;   /* half width of lines, pixels */
    struct Seen *seen; /* one per pane */
} Job;

/* A projected triangle and its plane, dot(normal, q) = offset, in view coordinates. */
typedef struct Seen {
    float x[3], y[3], w[3]; /* w: 1 / depth, or 1 in a parallel view */
    TalusF3 normal;
    float offset;
    float x0, x1, y0, y1; /* y0 > y1 if invisible */
} Seen;

static bool see(const TalusPane *pane, const TalusView *view, Seen *out)
{
    TalusF3 q[3];
    out->x0 = out->y0 = INFINITY;
    out->x1 = out->y1 = -INFINITY;
    for (int k = 0; k < 3; k++) {
        q[k] = talus_view_point(view, pane->corner[k]);
        if (!(q[k].z > 0.0f))
            return false;
        talus_view_project(view, q[k], &out->x[k], &out->y[k]);
        out->w[k] = view->perspective ? 1.0f / q[k].z : 1.0f;
        out->x0 = fminf(out->x0, out->x[k]);
        out->x1 = fmaxf(out->x1, out->x[k]);
        out->y0 = fminf(out->y0, out->y[k]);
        out->y1 = fmaxf(out->y1, out->y[k]);
    }
    out->normal = talus_f3_cross(talus_f3_sub(q[1], q[0]), talus_f3_sub(q[2], q[0]));
    out->offset = talus_f3_dot(out->normal, q[0]);
    return true;
}

/* Twice the signed area of a, b and (px, py). Both triangles at an edge compute it from the same end, so that a
 * pixel on the edge belongs to exactly one of them. */
static float edge(const Seen *s, int a, int b, float px, float py)
{
    bool swap = s->x[a] > s->x[b] || (s->x[a] == s->x[b] && s->y[a] > s->y[b]);
    int from = swap ? b : a, to = swap ? a : b;
    float e =
        (s->x[to] - s->x[from]) * (py - s->y[from]) - (s->y[to] - s->y[from]) * (px - s->x[from]);
    return swap ? -e : e;
}

/* True if a pixel's middle is in the triangle; weights of the corners. */
static bool covers(const Seen *s, int x, int y, float weight[3])
{
    float px = (float)x + 0.5f, py = (float)y + 0.5f;
    weight[0] = edge(s, 1, 2, px, py);
    weight[1] = edge(s, 2, 0, px, py);
    weight[2] = edge(s, 0, 1, px, py);
    bool one = weight[0] >= 0.0f && weight[1] >= 0.0f && weight[2] >= 0.0f;
    bool other = weight[0] < 0.0f && weight[1] < 0.0f && weight[2] < 0.0f;
    return one || other;
}

static bool meet(const TalusPane *pane, const TalusView *view, const Seen *s, int x, int y,
                 const float weight[3], float *t, TalusF3 *normal)
{
    TalusRay ray = talus_view_ray(view, x, y);
    float along = talus_f3_dot(s->normal, ray.d);
    *t = (s->offset - talus_f3_dot(s->normal, ray.o)) / along;
    TalusF3 n = talus_f3(0.0f, 0.0f, 0.0f);
    for (int k = 0; k < 3; k++)
        n = talus_f3_madd(n, weight[k] * s->w[k], pane->normal[k]);
    float length = sqrtf(talus_f3_dot(n, n)), sign = weight[0] + weight[1] + weight[2];
    if (!(length > 0.0f) || !(*t > 0.0f))
        return false;
    *normal = talus_view_turn(view, talus_f3_scale((sign < 0.0f ? -1.0f : 1.0f) / length, n));
    return true;
}

bool talus_pane_hit(const TalusPane *pane, const TalusView *view, int x, int y, float *t,
                    TalusF3 *normal)
{
    Seen seen;
    float weight[3];
    return see(pane, view, &seen) && covers(&seen, x, y, weight) &&
           meet(pane, view, &seen, x, y, weight, t, normal);
}

/* True if a shown wall is opaque: a plane from its free side, a vessel with its outward normal away from the eye. */
static bool is_opaque(const Job *job, const TalusPane *pane, TalusF3 normal, TalusRay ray)
{
    if (job->picture->def->container != TALUS_CONTAINER_SHOWN)
        return false;
    float along = talus_f3_dot(normal, ray.d);
    return pane->one_sided ? along < 0.0f : along > 0.0f;
}

static void mark(const Job *job, int index, const TalusPane *pane, int x, int y, float t,
                 TalusF3 normal)
{
    size_t at = (size_t)y * (size_t)job->raster->width + (size_t)x;
    TalusRay ray = talus_view_ray(job->view, x, y);
    bool opaque = is_opaque(job, pane, normal, ray);
    if (!(t < job->raster->depth[at]))
        return;
    if (job->target && opaque) {
        job->target->depth[at] = t;
        job->target->hit[at] = TALUS_PANE_HIT(index);
    } else if (!job->target && !opaque) {
        float facing = fabsf(talus_f3_dot(normal, ray.d)) / sqrtf(talus_f3_dot(ray.d, ray.d));
        float slant = 1.0f - fminf(facing, 1.0f);
        const TalusTheme *theme = job->picture->theme;
        float rise = theme->ghost_edge - theme->ghost_face;
        job->left[at] *= 1.0f - (theme->ghost_face + rise * slant * slant * slant);
    }
}

static int first_pixel(float low, int least)
{
    return low - 0.5f > (float)least ? (int)fminf(low - 0.5f, 1e6f) : least;
}

static int end_pixel(float high, int most)
{
    return high + 0.5f < (float)most ? (int)fmaxf(high + 0.5f, 0.0f) : most;
}

/* Part of a row that the triangle can cover, plus a pixel at either end. */
static void row_range(const Seen *s, float y, int width, int *first, int *end)
{
    float low = INFINITY, high = -INFINITY;
    for (int a = 0; a < 3; a++) {
        int b = (a + 1) % 3;
        if ((s->y[a] < y) == (s->y[b] < y))
            continue;
        float x = s->x[a] + (y - s->y[a]) / (s->y[b] - s->y[a]) * (s->x[b] - s->x[a]);
        low = fminf(low, x);
        high = fmaxf(high, x);
    }
    *first = first_pixel(low - 1.0f, 0);
    *end = end_pixel(high + 1.0f, width);
}

static void draw_pane(const Job *job, int index, int top, int bottom)
{
    const TalusPane *pane = &job->picture->pane[index];
    const Seen *s = &job->seen[index];
    if (s->y1 < (float)top || s->y0 > (float)bottom)
        return;
    for (int y = first_pixel(s->y0, top); y < end_pixel(s->y1, bottom); y++) {
        int x0, x1;
        row_range(s, (float)y + 0.5f, job->view->width, &x0, &x1);
        for (int x = x0; x < x1; x++) {
            float weight[3], t;
            TalusF3 normal;
            if (covers(s, x, y, weight) && meet(pane, job->view, s, x, y, weight, &t, &normal))
                mark(job, index, pane, x, y, t, normal);
        }
    }
}

/* ---- lines ---- */

/* Draws pixels within half a width of the line that are not hidden. A factor below zero marks a drawn pixel, so that
 * lines that meet or coincide are as dark as one. */
static void draw_line(const Job *job, const TalusLine *line, int top, int bottom)
{
    const TalusView *view = job->view;
    TalusF3 a = talus_view_point(view, line->from), b = talus_view_point(view, line->to);
    float ax, ay, bx, by, half = job->half_line;
    if (!(a.z > 0.0f && b.z > 0.0f))
        return;
    talus_view_project(view, a, &ax, &ay);
    talus_view_project(view, b, &bx, &by);
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
            /* depth is linear in 1 / z across the picture */
            float z =
                view->perspective ? a.z * b.z / (b.z + s * (a.z - b.z)) : a.z + s * (b.z - a.z);
            float *left = &job->left[(size_t)y * (size_t)view->width + (size_t)x];
            float depth = job->raster->depth[left - job->left];
            if (z <= depth * 1.0005f && *left > 0.0f)
                *left *= -(1.0f - job->picture->theme->ghost_line);
        }
}

static void draw_band(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Job *job = context;
    int top = (int)begin, bottom = (int)end;
    size_t width = (size_t)job->view->width;
    (void)chunk;
    for (size_t k = (size_t)top * width; job->left && k < (size_t)bottom * width; k++)
        job->left[k] = 1.0f;
    for (int k = 0; k < job->picture->pane_count; k++)
        draw_pane(job, k, top, bottom);
    if (!job->left)
        return;
    for (int k = 0; k < job->picture->line_count; k++)
        draw_line(job, &job->picture->line[k], top, bottom);
    for (size_t k = (size_t)top * width; k < (size_t)bottom * width; k++)
        job->left[k] = fabsf(job->left[k]);
}

static void see_panes(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Job *job = context;
    (void)chunk;
    for (int64_t k = begin; k < end; k++)
        if (!see(&job->picture->pane[k], job->view, &job->seen[k])) {
            job->seen[k].y0 = INFINITY;
            job->seen[k].y1 = -INFINITY;
        }
}

static TalusStatus draw_all(Job *job, TalusPool *pool)
{
    const TalusPicture *p = job->picture;
    TALUS_TRY(TALUS_ALLOC(job->seen, (size_t)p->pane_count, "panes in view"));
    talus_parallel(pool, p->pane_count, GRAIN, see_panes, job);
    talus_parallel(pool, job->view->height, BAND, draw_band, job);
    talus_release(job->seen);
    return TALUS_OK;
}

TalusStatus talus_panes_draw(const TalusPicture *picture, const TalusView *view,
                             TalusRaster *raster, TalusPool *pool)
{
    Job job = {.picture = picture, .view = view, .raster = raster, .target = raster};
    bool shown = picture->def->container == TALUS_CONTAINER_SHOWN;
    return shown ? draw_all(&job, pool) : TALUS_OK;
}

TalusStatus talus_panes_veil(const TalusPicture *picture, const TalusView *view,
                             const TalusRaster *raster, TalusPool *pool, float *left)
{
    Job job = {.picture = picture, .view = view, .raster = raster, .left = left};
    job.half_line = (float)(0.5 * TALUS_GHOST_LINE_WIDTH / 1200.0) * (float)view->height;
    return draw_all(&job, pool);
}
