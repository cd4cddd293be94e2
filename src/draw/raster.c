/* draw/raster.c - visibility by tiles.
 *
 *   project   finds the rectangle of pixels and the nearest depth of every solid, in chunks
 *   list      lists the solids of each tile, those whose rectangles overlap it: counts by chunk and tile, sums them up,
 *             then each chunk writes into its own range of the list
 *   draw      draws tile by tile, roughly from near to far. Blocks of 8 x 8 pixels store their farthest depth, so a
 *             hidden solid costs a few comparisons: of a bed of a million bodies only the outermost layers are
 *             intersected. */
#include "draw/raster_tile.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"

#include <string.h>

enum {
    BUCKETS = 64,   /* of depth, by which the solids of a tile are sorted */
    GRAIN = 8192,   /* minimum number of solids of a chunk */
    MAX_CHUNKS = 64 /* maximum number of chunks of solids */
};

/* ---- project ---- */

/* Sets *low and *high to the slopes (across / along) of the two rays from the eye that touch a sphere, in the plane of
 * the view axis and one direction across it. `across` and `along` (> radius) are the centre's coordinates there. */
static void find_tangent_slopes(float across, float along, float radius, float *low, float *high)
{
    float reach = sqrtf(across * across + along * along - radius * radius);
    float below = along * along - radius * radius;
    *low = (across * along - radius * reach) / below;
    *high = (across * along + radius * reach) / below;
}

/* Part of the picture; sides in pixels, or before the projection as slopes or lengths. */
typedef struct Rectangle {
    float x0, x1, y0, y1;
} Rectangle;

/* Bounds in pixels of a sphere with centre q in view coordinates. */
static Rectangle sphere_rectangle(const TalusView *view, TalusF3 q, float radius)
{
    Rectangle r = {q.x - radius, q.x + radius, q.y - radius, q.y + radius};
    if (view->perspective) {
        find_tangent_slopes(q.x, q.z, radius, &r.x0, &r.x1);
        find_tangent_slopes(q.y, q.z, radius, &r.y0, &r.y1);
    }
    r.x0 = view->cx + view->scale * r.x0;
    r.x1 = view->cx + view->scale * r.x1;
    r.y0 = view->cy + view->scale * r.y0;
    r.y1 = view->cy + view->scale * r.y1;
    return r;
}

/* Corner k, 0 to 7, of the box of a solid, in view coordinates. */
static TalusF3 box_corner(const TalusViewedSolid *solid, int k)
{
    TalusF3 q = solid->centre;
    q = talus_f3_madd(q, k & 1 ? solid->half.x : -solid->half.x, solid->axis[0]);
    q = talus_f3_madd(q, k & 2 ? solid->half.y : -solid->half.y, solid->axis[1]);
    return talus_f3_madd(q, k & 4 ? solid->half.z : -solid->half.z, solid->axis[2]);
}

/* Returns the bounds in pixels of a triangle's corners, or of the box of a tube or polyhedron. */
static Rectangle form_rectangle(const TalusView *view, const TalusViewedSolid *solid)
{
    Rectangle r = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    bool triangle = solid->kind == TALUS_FORM_TRIANGLE;
    for (int k = 0; k < (triangle ? 3 : 8); k++) {
        TalusF3 q = triangle ? talus_f3_add(solid->centre, solid->axis[k]) : box_corner(solid, k);
        float x, y;
        talus_view_project_to_pixels(view, q, &x, &y);
        r = (Rectangle){fminf(r.x0, x), fmaxf(r.x1, x), fminf(r.y0, y), fmaxf(r.y1, y)};
    }
    return r;
}

/* Sets the range first <= x < end of pixels in [0, size) whose middle may lie between `low` and `high`. */
static void find_pixel_range(float low, float high, int size, int *first, int *end)
{
    low = talus_clampf(low - 0.51f, -1.0f, (float)size);
    high = talus_clampf(high + 0.51f, -1.0f, (float)size);
    *first = (int)fmaxf(ceilf(low), 0.0f);
    *end = (int)fminf(floorf(high) + 1.0f, (float)size);
}

Splat talus_project_splat(const TalusSolids *solids, int index, const TalusView *view)
{
    const TalusSolid *solid = &solids->solid[index];
    TalusViewedSolid placed = talus_solid_in_view(solids, index, view);
    Splat splat = {placed.centre.z - solid->radius, 0, 0, 0, 0};
    if (placed.kind == TALUS_FORM_TRIANGLE)
        splat.near =
            placed.centre.z + fminf(placed.axis[0].z, fminf(placed.axis[1].z, placed.axis[2].z));
    if (!(splat.near > 1e-6f * solid->radius)) /* it reaches to the eye or behind it */
        return splat;
    Rectangle r = placed.kind < 0 ? sphere_rectangle(view, placed.centre, solid->radius)
                                  : form_rectangle(view, &placed);
    find_pixel_range(r.x0, r.x1, view->width, &splat.x0, &splat.x1);
    find_pixel_range(r.y0, r.y1, view->height, &splat.y0, &splat.y1);
    if (splat.x0 >= splat.x1 || splat.y0 >= splat.y1)
        splat.x0 = splat.x1 = splat.y0 = splat.y1 = 0;
    return splat;
}

/* ---- lists of solids by tile ---- */

/* Loops over the tiles that a splat overlaps; `tile` is the number of the tile. */
#define FOR_TILES(job, splat, tile)                                                               \
    for (int ty_ = (splat)->y0 / TILE; (splat)->x1 > 0 && ty_ <= ((splat)->y1 - 1) / TILE; ty_++) \
        for (int tile = ty_ * (job)->tiles_x + (splat)->x0 / TILE;                                \
             tile <= ty_ * (job)->tiles_x + ((splat)->x1 - 1) / TILE; tile++)

/* Projects the solids [begin, end) and counts those of each tile. */
static void project_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    RasterJob *job = context;
    int64_t *count = job->raster->start + chunk * job->tiles;
    memset(count, 0, (size_t)job->tiles * sizeof *count);
    for (int64_t i = begin; i < end; i++) {
        Splat *splat = &job->raster->splat[i];
        *splat = talus_project_splat(job->solids, (int)i, job->view);
        FOR_TILES(job, splat, tile) count[tile]++;
    }
}

/* Writes the solids [begin, end) into the ranges of their tiles in `list`. */
static void list_chunk_by_tile(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    RasterJob *job = context;
    int64_t *next = job->raster->start + chunk * job->tiles;
    for (int64_t i = begin; i < end; i++) {
        const Splat *splat = &job->raster->splat[i];
        FOR_TILES(job, splat, tile) job->raster->list[next[tile]++] = (uint32_t)i;
    }
}

/* Replaces the count of each chunk and tile in `start` by the start of its range in `list`, where ranges are ordered by
 * tile, then by chunk. Returns the total. */
static int64_t sum_tile_counts(const RasterJob *job)
{
    int64_t sum = 0;
    for (int tile = 0; tile < job->tiles; tile++)
        for (int64_t chunk = 0; chunk < job->chunks; chunk++) {
            int64_t *at = &job->raster->start[chunk * job->tiles + tile];
            int64_t count = *at;
            *at = sum;
            sum += count;
        }
    return sum;
}

/* ---- draw ---- */

/* Draws a sphere or a tube ray by ray. */
static void draw_by_rays(const Tile *tile, const Splat *s, int32_t index,
                         const TalusViewedSolid *solid)
{
    const RasterJob *job = tile->job;
    TalusRaster *raster = job->raster;
    for (int y = s->y0; y < s->y1; y++)
        for (int x = s->x0; x < s->x1; x++) {
            size_t at = (size_t)y * (size_t)raster->width + (size_t)x;
            float t;
            TalusF3 normal;
            if (talus_viewed_find_hit(solid, &job->cut, talus_view_pixel_ray(job->view, x, y), &t,
                                      &normal))
                write_if_nearest(raster, at, t, index, 0);
        }
}

/* Draws a sphere into a depth map. Here and in draw_sphere_perspective: as find_sphere_span of solid.c, without
 * branches, so that the loop vectorises; the depth of a miss is infinite. */
static void draw_sphere_parallel(const Tile *tile, const Splat *s, TalusF3 c, float radius)
{
    const RasterJob *job = tile->job;
    float rr = radius * radius;
    for (int y = s->y0; y < s->y1; y++) {
        float v = ((float)y + 0.5f - job->view->cy) / job->view->scale - c.y, left = rr - v * v;
        float *restrict depth = job->raster->depth + (size_t)y * (size_t)job->raster->width;
        for (int x = s->x0; x < s->x1; x++) {
            float off = tile->u[x - tile->x0] - c.x, h2 = left - off * off;
            float t = c.z - sqrtf(fmaxf(h2, 0.0f));
            t = h2 > 0.0f ? t : INFINITY;
            depth[x] = t < depth[x] ? t : depth[x];
        }
    }
}

/* Draws a sphere into a picture: depth and hit. */
static void draw_sphere_perspective(const Tile *tile, const Splat *s, int32_t index, TalusF3 c,
                                    float radius)
{
    const RasterJob *job = tile->job;
    float rr = radius * radius;
    for (int y = s->y0; y < s->y1; y++) {
        float v = ((float)y + 0.5f - job->view->cy) / job->view->scale;
        size_t row = (size_t)y * (size_t)job->raster->width;
        float *restrict depth = job->raster->depth + row;
        int32_t *restrict hit = job->raster->hit + row;
        for (int x = s->x0; x < s->x1; x++) {
            float u = tile->u[x - tile->x0], dd = u * u + v * v + 1.0f;
            float mid = (c.x * u + c.y * v + c.z) / dd;
            float ox = c.x - mid * u, oy = c.y - mid * v, oz = c.z - mid;
            float h2 = rr - (ox * ox + oy * oy + oz * oz);
            float t = mid - sqrtf(fmaxf(h2, 0.0f) / dd);
            t = h2 > 0.0f ? t : INFINITY;
            bool wins = (t < depth[x]) | ((t == depth[x]) & (index < hit[x]) & (h2 > 0.0f));
            depth[x] = wins ? t : depth[x];
            hit[x] = wins ? index : hit[x];
        }
    }
}

/* True if the splat is behind the farthest depth of every block that it overlaps; marks the other blocks dirty. */
static bool is_hidden(Tile *tile, const Splat *s)
{
    int bx0 = (s->x0 - tile->x0) / BLOCK, bx1 = (s->x1 - 1 - tile->x0) / BLOCK;
    int by0 = (s->y0 - tile->y0) / BLOCK, by1 = (s->y1 - 1 - tile->y0) / BLOCK;
    bool hidden = true;
    for (int by = by0; by <= by1; by++)
        for (int bx = bx0; bx <= bx1; bx++) {
            bool open = s->near <= tile->far[by * BLOCKS + bx];
            tile->dirty[by * BLOCKS + bx] |= open;
            hidden &= !open;
        }
    return hidden;
}

/* Draws solid `index` within the tile, unless it is hidden. Spheres that are not cut have fast loops: in pictures,
 * which are perspective with hits, and in depth maps, which are parallel without hits. */
static void draw_solid_in_tile(Tile *tile, int32_t index)
{
    const RasterJob *job = tile->job;
    Splat s = job->raster->splat[index];
    s.x0 = s.x0 > tile->x0 ? s.x0 : tile->x0;
    s.x1 = s.x1 < tile->x1 ? s.x1 : tile->x1;
    s.y0 = s.y0 > tile->y0 ? s.y0 : tile->y0;
    s.y1 = s.y1 < tile->y1 ? s.y1 : tile->y1;
    if (is_hidden(tile, &s))
        return;
    const TalusSolid *solid = &job->solids->solid[index];
    TalusF3 centre = talus_view_point_from_world(job->view, solid->centre);
    if (solid->form >= 0 || job->cut.on || job->view->perspective != (job->raster->hit != NULL)) {
        TalusViewedSolid placed = talus_solid_in_view(job->solids, index, job->view);
        if (!talus_draw_by_faces(tile, &s, index, &placed))
            draw_by_rays(tile, &s, index, &placed);
    } else if (job->view->perspective) {
        draw_sphere_perspective(tile, &s, index, centre, solid->radius);
    } else {
        draw_sphere_parallel(tile, &s, centre, solid->radius);
    }
}

/* Computes the farthest depth of the dirty blocks anew. */
static void update_farthest_depths(Tile *tile)
{
    const TalusRaster *raster = tile->job->raster;
    for (int b = 0; b < BLOCKS * BLOCKS; b++) {
        if (!tile->dirty[b])
            continue;
        int x0 = tile->x0 + b % BLOCKS * BLOCK, y0 = tile->y0 + b / BLOCKS * BLOCK;
        int x1 = x0 + BLOCK < tile->x1 ? x0 + BLOCK : tile->x1;
        int y1 = y0 + BLOCK < tile->y1 ? y0 + BLOCK : tile->y1;
        float far = 0.0f;
        for (int y = y0; y < y1; y++)
            for (int x = x0; x < x1; x++)
                far = fmaxf(far, raster->depth[(size_t)y * (size_t)raster->width + (size_t)x]);
        tile->far[b] = far;
        tile->dirty[b] = false;
    }
}

/* Sorts list[begin, end) into sorted[begin, end) by buckets of nearest depth, near first; order within a bucket is that
 * of the list. edge[k] is the start of bucket k, edge[BUCKETS] the end of the last. */
static void sort_tile_by_depth(const TalusRaster *raster, int64_t begin, int64_t end,
                               int64_t edge[BUCKETS + 1])
{
    float low = INFINITY, high = 0.0f;
    int64_t count[BUCKETS] = {0};
    for (int64_t k = begin; k < end; k++) {
        low = fminf(low, raster->splat[raster->list[k]].near);
        high = fmaxf(high, raster->splat[raster->list[k]].near);
    }
    float per = high > low ? 0.999f * (float)BUCKETS / (high - low) : 0.0f;
    for (int64_t k = begin; k < end; k++)
        count[(int)(per * (raster->splat[raster->list[k]].near - low))]++;
    edge[0] = begin;
    for (int b = 0; b < BUCKETS; b++) {
        edge[b + 1] = edge[b] + count[b];
        count[b] = edge[b];
    }
    for (int64_t k = begin; k < end; k++) {
        int b = (int)(per * (raster->splat[raster->list[k]].near - low));
        raster->sorted[count[b]++] = raster->list[k];
    }
}

/* Sets the bounds and rays of a tile, and clears its depths and hits. */
static void init_tile(const RasterJob *job, int number, Tile *tile)
{
    TalusRaster *raster = job->raster;
    memset(tile, 0, sizeof *tile);
    tile->job = job;
    tile->x0 = number % job->tiles_x * TILE;
    tile->y0 = number / job->tiles_x * TILE;
    tile->x1 = tile->x0 + TILE < raster->width ? tile->x0 + TILE : raster->width;
    tile->y1 = tile->y0 + TILE < raster->height ? tile->y0 + TILE : raster->height;
    for (int b = 0; b < BLOCKS * BLOCKS; b++)
        tile->far[b] = INFINITY;
    for (int x = tile->x0; x < tile->x1; x++)
        tile->u[x - tile->x0] = ((float)x + 0.5f - job->view->cx) / job->view->scale;
    for (int y = tile->y0; y < tile->y1; y++)
        for (int x = tile->x0; x < tile->x1; x++) {
            size_t at = (size_t)y * (size_t)raster->width + (size_t)x;
            raster->depth[at] = INFINITY;
            if (raster->hit)
                raster->hit[at] = -1;
        }
}

/* Draws tiles first .. last - 1. */
static void draw_tiles(void *context, int64_t first, int64_t last, int64_t chunk)
{
    const RasterJob *job = context;
    const TalusRaster *raster = job->raster;
    const int64_t *done = job->chunks ? raster->start + (job->chunks - 1) * job->tiles : NULL;
    (void)chunk;
    for (int64_t number = first; number < last; number++) {
        Tile tile;
        int64_t edge[BUCKETS + 1];
        init_tile(job, (int)number, &tile);
        if (!done) /* no solids */
            continue;
        /* list_chunk_by_tile has advanced every start to the end of its range; that of the last chunk is the end of the
         * tile. */
        sort_tile_by_depth(raster, number ? done[number - 1] : 0, done[number], edge);
        for (int b = 0; b < BUCKETS; b++) {
            for (int64_t k = edge[b]; k < edge[b + 1]; k++)
                draw_solid_in_tile(&tile, (int32_t)raster->sorted[k]);
            if (edge[b] < edge[b + 1])
                update_farthest_depths(&tile);
        }
    }
}

/* ---- the raster ---- */

/* Grows the arrays of the raster to the size of the picture and the number of solids. */
static TalusStatus reserve_raster(TalusRaster *raster, const RasterJob *job, bool hits)
{
    size_t pixel_count = (size_t)raster->width * (size_t)raster->height;
    TALUS_TRY(TALUS_GROW(raster->depth, pixel_count, 0, "depths"));
    if (hits) {
        TALUS_TRY(TALUS_GROW(raster->hit, pixel_count, 0, "pixels"));
        TALUS_TRY(TALUS_GROW(raster->face, pixel_count, 0, "pixels"));
    }
    TALUS_TRY(TALUS_GROW(raster->splat, (size_t)job->solids->count, 0, "solids in view"));
    return TALUS_GROW(raster->start, (size_t)job->chunks * (size_t)job->tiles, 0, "tiles");
}

TalusStatus talus_raster_draw(TalusRaster *raster, const TalusSolids *solids, const TalusView *view,
                              bool hits, TalusPool *pool)
{
    RasterJob job = {.raster = raster, .solids = solids, .view = view};
    int64_t share = talus_chunks(solids->count, MAX_CHUNKS);
    raster->width = view->width;
    raster->height = view->height;
    job.cut = talus_cut_in_view(&solids->cut, view);
    job.tiles_x = (view->width + TILE - 1) / TILE;
    job.tiles = job.tiles_x * ((view->height + TILE - 1) / TILE);
    job.grain = share > GRAIN ? share : GRAIN;
    job.chunks = talus_chunks(solids->count, job.grain);
    TALUS_TRY(reserve_raster(raster, &job, hits));
    talus_parallel(pool, solids->count, job.grain, project_chunk, &job);
    size_t places = (size_t)sum_tile_counts(&job);
    TALUS_TRY(TALUS_GROW(raster->list, places, 0, "tile lists"));
    TALUS_TRY(TALUS_GROW(raster->sorted, places, 0, "tile lists"));
    talus_parallel(pool, solids->count, job.grain, list_chunk_by_tile, &job);
    talus_parallel(pool, job.tiles, 1, draw_tiles, &job);
    return TALUS_OK;
}

void talus_raster_clear(TalusRaster *raster)
{
    TALUS_RELEASE(raster->depth, raster->hit, raster->face, raster->splat, raster->list,
                  raster->sorted, raster->start);
    memset(raster, 0, sizeof *raster);
}
