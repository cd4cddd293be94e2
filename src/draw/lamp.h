/* draw/lamp.h - a distant light and its depth map: the depth at which each of its parallel rays meets the first
 * solid. */
#ifndef TALUS_DRAW_LAMP_H
#define TALUS_DRAW_LAMP_H

#include "draw/raster.h"

typedef struct TalusLamp {
    TalusF3 direction;  /* unit, towards the light */
    TalusView view;     /* parallel view along -direction */
    TalusRaster raster; /* the depth map: depths without hits */
    float texel;        /* width of a pixel of the depth map, m */
    float middle;       /* depth of the middle of the lit box in `view`, m */
} TalusLamp;

/* Draws the depth map of the solids, size x size pixels, over the box `middle` +- `half`, seen along -direction
 * (a unit vector). Sets all members of the lamp, which is zero-initialised or drawn before. */
TalusStatus talus_lamp_draw_depth_map(TalusLamp *lamp, TalusF3 direction, const TalusSolids *solids,
                                      TalusF3 middle, TalusF3 half, int size, TalusPool *pool);
/* Releases the depth map; accepts a zero-initialised lamp. */
void talus_lamp_clear(TalusLamp *lamp);

/* Returns the share of the light that reaches a point with this unit normal: bilinear mean over the four nearest pixels
 * of the map, each 0 or 1; 1 outside the map. The point is moved by one and a half texels along its normal and half a
 * texel towards the light, so that a surface does not shadow itself. */
static inline float talus_lamp_visibility(const TalusLamp *lamp, TalusF3 point, TalusF3 normal)
{
    float lift = 1.5f * lamp->texel;
    TalusF3 q = talus_view_point_from_world(&lamp->view, talus_f3_madd(point, lift, normal));
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
