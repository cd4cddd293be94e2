/* draw/lamp.h - a distant light and the depth map that tells what it reaches. */
#ifndef TALUS_DRAW_LAMP_H
#define TALUS_DRAW_LAMP_H

#include "draw/raster.h"

typedef struct TalusLamp {
    TalusF3 direction; /* unit, towards the light */
    TalusView view;
    TalusRaster raster;
    float texel;  /* width of a pixel of the map */
    float middle; /* depth of the middle of what it looks at */
} TalusLamp;

/* Looks along -direction at the box of half extents `half` about `middle`, with a map of size x
 * size pixels, and draws what the solids hide. */
TalusStatus talus_lamp_draw(TalusLamp *lamp, TalusF3 direction, const TalusSolids *solids,
                            TalusF3 middle, TalusF3 half, int size, TalusPool *pool);
void talus_lamp_clear(TalusLamp *lamp);

/* The part of the light that reaches a point whose unit normal is given; 1 outside the map. Four
 * neighbours of the map, weighted; the point is lifted off its surface by a texel and a half, so that
 * a surface does not hide itself. */
static inline float talus_lamp_reaches(const TalusLamp *lamp, TalusF3 point, TalusF3 normal)
{
    float lift = 1.5f * lamp->texel;
    TalusF3 q = talus_view_point(&lamp->view, talus_f3_madd(point, lift, normal));
    float x = lamp->view.cx + lamp->view.scale * q.x - 0.5f;
    float y = lamp->view.cy + lamp->view.scale * q.y - 0.5f;
    int width = lamp->view.width;
    if (!(x >= 0.0f && y >= 0.0f && x < (float)(width - 1) && y < (float)(width - 1)))
        return 1.0f;
    int i = (int)x, j = (int)y;
    float u = x - (float)i, v = y - (float)j, z = q.z - 0.5f * lamp->texel;
    const float *at = lamp->raster.depth + (size_t)j * (size_t)width + (size_t)i;
    float top = (1.0f - u) * (float)(at[0] >= z) + u * (float)(at[1] >= z);
    float low = (1.0f - u) * (float)(at[width] >= z) + u * (float)(at[width + 1] >= z);
    return (1.0f - v) * top + v * low;
}

#endif
