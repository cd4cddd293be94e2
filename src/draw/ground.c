/* draw/ground.c - shadows on a grid of nodes, interpolated over pixels. */
#include "draw/ground.h"

#include "base/memory.h"
#include "base/pool.h"
#include "base/status.h"

#include <string.h>

/* NODE_SPACING: pixels between nodes of the grid. TAPS: samples of a depth map along each side of the square that blurs
 * a shadow. BAND: rows per chunk. */
enum { NODE_SPACING = 3, TAPS = 4, BAND = 16 };

/* Arguments of add_shadow_rows and blend_shadow_rows. */
typedef struct GroundJob {
    TalusGroundShadow *ground;
    const TalusPicture *picture;
    const TalusGroundLamp *lamps;
    int count;    /* of lamps */
    float weight; /* factor from lost light to its share, over the number of passes */
    float *light; /* of the picture; NULL in add_shadow_rows */
} GroundJob;

TalusStatus talus_ground_shadow_create(const TalusPicture *picture, TalusGroundShadow *out)
{
    out->columns = (picture->def->width + NODE_SPACING - 1) / NODE_SPACING + 1;
    out->rows = (picture->def->height + NODE_SPACING - 1) / NODE_SPACING + 1;
    return TALUS_ALLOC(out->shade, (size_t)out->columns * (size_t)out->rows, "ground");
}

void talus_ground_shadow_free(TalusGroundShadow *ground)
{
    talus_release(ground->shade);
    memset(ground, 0, sizeof *ground);
}

/* Sets *at to the point where the line of a pixel's ray meets the plane of the ground. True if the ray itself meets the
 * plane, coming from above; do not use *at otherwise. */
static bool meets_ground(const TalusPicture *p, int x, int y, TalusF3 *at)
{
    const TalusView *view = &p->camera;
    TalusRay ray = talus_view_pixel_ray(view, x, y);
    TalusF3 d = talus_view_direction_to_world(view, ray.d);
    float along = talus_f3_dot(p->ground_normal, d);
    float t = talus_f3_dot(p->ground_normal, talus_f3_sub(p->ground_point, view->eye)) / along;
    *at = talus_f3_madd(view->eye, t, d);
    return along < 0.0f && t > 0.0f;
}

/* Returns the share of a lamp's light that a point of the ground loses: among TAPS x TAPS samples of the depth map
 * around the point, the share with a solid nearer to the lamp. The samples cover a square of half width `angle` times
 * the point's depth beyond the middle of the lit box, at least a pixel of the map. Samples outside the map count as
 * lit. */
static float share_of_light_lost(const TalusGroundLamp *g, TalusF3 point, TalusF3 normal)
{
    const TalusLamp *lamp = g->lamp;
    const TalusView *view = &lamp->view;
    TalusF3 q = talus_view_point_from_world(view, talus_f3_madd(point, lamp->texel, normal));
    float blur = fmaxf(g->angle * (q.z - lamp->middle) * view->scale, 1.0f);
    float x0 = view->cx + view->scale * q.x - blur, y0 = view->cy + view->scale * q.y - blur;
    float step = 2.0f * blur / TAPS, side = (float)view->width;
    int hidden = 0;
    if (!(x0 + 2.0f * blur > 0.0f && y0 + 2.0f * blur > 0.0f && x0 < side && y0 < side))
        return 0.0f;
    for (int k = 0; k < TAPS * TAPS; k++) {
        float x = x0 + ((float)(k % TAPS) + 0.5f) * step;
        float y = y0 + ((float)(k / TAPS) + 0.5f) * step;
        if (x >= 0.0f && y >= 0.0f && x < side && y < side)
            hidden += lamp->raster.depth[(size_t)y * (size_t)view->width + (size_t)x] < q.z;
    }
    return (float)hidden / (TAPS * TAPS);
}

/* Adds the shadows of one pass to rows begin .. end - 1 of the grid. */
static void add_shadow_rows(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const GroundJob *job = context;
    const TalusPicture *p = job->picture;
    TalusF3 normal = p->ground_normal, at;
    (void)chunk;
    for (int row = (int)begin; row < (int)end; row++)
        for (int column = 0; column < job->ground->columns; column++) {
            float sum = 0.0f;
            if (!meets_ground(p, column * NODE_SPACING, row * NODE_SPACING, &at))
                continue;
            for (int k = 0; k < job->count; k++) {
                float facing = talus_f3_dot(normal, job->lamps[k].lamp->direction);
                if (facing > 0.0f)
                    sum += job->lamps[k].light * facing *
                           share_of_light_lost(&job->lamps[k], at, normal);
            }
            job->ground->shade[(size_t)row * (size_t)job->ground->columns + (size_t)column] +=
                job->weight * sum;
        }
}

void talus_ground_shadow_add_pass(TalusGroundShadow *ground, const TalusPicture *picture,
                                  const TalusGroundLamp *lamps, int count, int passes,
                                  TalusPool *pool)
{
    float key = TALUS_KEY_LIGHT *
                fmaxf(0.0f, talus_f3_dot(picture->ground_normal, lamps[0].lamp->direction));
    GroundJob job = {ground, picture, lamps, count, 0.0f, NULL};
    job.weight = 1.0f / ((key + TALUS_SKY_LIGHT) * (float)passes);
    talus_parallel(pool, ground->rows, BAND, add_shadow_rows, &job);
}

/* Blends the interpolated shadow behind rows begin .. end - 1 of the picture. */
static void blend_shadow_rows(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const GroundJob *job = context;
    size_t columns = (size_t)job->ground->columns;
    int width = job->picture->def->width;
    (void)chunk;
    for (int y = (int)begin; y < (int)end; y++)
        for (int x = 0; x < width; x++) {
            float u = (float)(x % NODE_SPACING) / NODE_SPACING,
                  v = (float)(y % NODE_SPACING) / NODE_SPACING;
            const float *s = job->ground->shade + (size_t)(y / NODE_SPACING) * columns +
                             (size_t)(x / NODE_SPACING);
            float top = s[0] + u * (s[1] - s[0]);
            float low = s[columns] + u * (s[columns + 1] - s[columns]);
            float shade = fminf(top + v * (low - top), 1.0f);
            float *alpha = &job->light[4 * ((size_t)y * (size_t)width + (size_t)x) + 3];
            *alpha += (1.0f - *alpha) * TALUS_SHADOW_ON_GROUND * shade;
        }
}

void talus_ground_shadow_blend(const TalusGroundShadow *ground, const TalusPicture *picture,
                               TalusPool *pool, float *light)
{
    TalusGroundShadow copy = *ground;
    GroundJob job = {&copy, picture, NULL, 0, 0.0f, light};
    talus_parallel(pool, picture->def->height, BAND, blend_shadow_rows, &job);
}
