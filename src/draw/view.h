/* draw/view.h - a camera or a lamp: transformation from the world to pixels.
 *
 * View coordinates are x to the right, y down, z forward from the eye. The ray of a pixel in these coordinates is o + t
 * d with o.z = 0 and d.z = 1, so that t is the depth along z in both projections. */
#ifndef TALUS_DRAW_VIEW_H
#define TALUS_DRAW_VIEW_H

#include "draw/vec.h"

#include <stdbool.h>

typedef struct TalusView {
    bool perspective; /* false: parallel projection */
    TalusF3 eye;      /* world frame; of a parallel view, a point on its axis at depth 0 */
    TalusF3 right, down, forward; /* orthonormal axes, world frame */
    float scale;                  /* pixels per metre; in perspective, of lengths at depth 1 m */
    float cx, cy;                 /* where the view axis meets the picture, pixels */
    int width, height;            /* of the picture or depth map, pixels */
} TalusView;

typedef struct TalusRay {
    TalusF3 o, d; /* origin, direction */
} TalusRay;

/* Transforms a direction from the world to view coordinates. */
static inline TalusF3 talus_view_direction_from_world(const TalusView *view, TalusF3 a)
{
    return talus_f3(talus_f3_dot(view->right, a), talus_f3_dot(view->down, a),
                    talus_f3_dot(view->forward, a));
}

/* Transforms a point from the world to view coordinates. */
static inline TalusF3 talus_view_point_from_world(const TalusView *view, TalusF3 p)
{
    return talus_view_direction_from_world(view, talus_f3_sub(p, view->eye));
}

/* Transforms a direction from view coordinates to the world. */
static inline TalusF3 talus_view_direction_to_world(const TalusView *view, TalusF3 a)
{
    TalusF3 r = talus_f3_scale(a.x, view->right);
    r = talus_f3_madd(r, a.y, view->down);
    return talus_f3_madd(r, a.z, view->forward);
}

/* Returns the ray through the middle of pixel (x, y), in view coordinates. */
static inline TalusRay talus_view_pixel_ray(const TalusView *view, int x, int y)
{
    float u = ((float)x + 0.5f - view->cx) / view->scale;
    float v = ((float)y + 0.5f - view->cy) / view->scale;
    TalusRay r = {{0.0f, 0.0f, 0.0f}, {u, v, 1.0f}};
    if (!view->perspective) {
        r.o = talus_f3(u, v, 0.0f);
        r.d = talus_f3(0.0f, 0.0f, 1.0f);
    }
    return r;
}

/* Sets *x and *y to the pixel coordinates of a point q in view coordinates, which must be in front of the eye. */
static inline void talus_view_project_to_pixels(const TalusView *view, TalusF3 q, float *x,
                                                float *y)
{
    float s = view->perspective ? view->scale / q.z : view->scale;
    *x = view->cx + s * q.x;
    *y = view->cy + s * q.y;
}

#endif
