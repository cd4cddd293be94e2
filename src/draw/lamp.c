/* draw/lamp.c - places the view of a light around a box and draws its depth map. */
#include "draw/lamp.h"

#include <math.h>

/* Returns the half width, along a unit vector, of an axis-aligned box with half extents `half`. */
static float box_half_width(TalusF3 half, TalusF3 along)
{
    return fabsf(along.x) * half.x + fabsf(along.y) * half.y + fabsf(along.z) * half.z;
}

TalusStatus talus_lamp_draw_depth_map(TalusLamp *lamp, TalusF3 direction, const TalusSolids *solids,
                                      TalusF3 middle, TalusF3 half, int size, TalusPool *pool)
{
    TalusF3 aside = fabsf(direction.x) < 0.6f ? talus_f3(1, 0, 0) : talus_f3(0, 1, 0);
    TalusView *view = &lamp->view;
    lamp->direction = direction;
    view->perspective = false;
    view->forward = talus_f3_scale(-1.0f, direction);
    view->right = talus_f3_normalize(talus_f3_cross(aside, view->forward));
    view->down = talus_f3_cross(view->forward, view->right);
    float wide = fmaxf(box_half_width(half, view->right), box_half_width(half, view->down));
    lamp->texel = 2.0f * wide / (float)(size - 4);
    lamp->middle = 2.0f * sqrtf(talus_f3_dot(half, half));
    view->eye = talus_f3_madd(middle, lamp->middle, direction);
    view->scale = 1.0f / lamp->texel;
    view->cx = view->cy = 0.5f * (float)size;
    view->width = view->height = size;
    return talus_raster_draw(&lamp->raster, solids, view, false, pool);
}

void talus_lamp_clear(TalusLamp *lamp)
{
    talus_raster_clear(&lamp->raster);
}
