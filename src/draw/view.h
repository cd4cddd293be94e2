/* draw/view.h - a camera or a lamp: transformation from the world to pixels.
 *
 * View coordinates are x to the right, y down, z forward from the eye. A pixel's ray is o + t d in them, and t is
 * the depth along z for both projections. */
#ifndef TALUS_DRAW_VIEW_H
#define TALUS_DRAW_VIEW_H

#include "draw/vec.h"

#include <stdbool.h>

typedef struct TalusView {
    bool perspective; /* false: parallel projection */
    TalusF3 eye, right, down, forward;
    float scale;  /* pixels per unit of length; perspective: at depth 1 */
    float cx, cy; /* intersection of the axis with the picture, pixels */
    int width, height;
} TalusView;

typedef struct TalusRay {
    TalusF3 o, d;
} TalusRay;

/* Transform a direction, and a point, to view coordinates. */
static inline TalusF3 talus_view_turn(const TalusView *view, TalusF3 a)
{
    return talus_f3(talus_f3_dot(view->right, a), talus_f3_dot(view->down, a),
                    talus_f3_dot(view->forward, a));
}

static inline TalusF3 talus_view_point(const TalusView *view, TalusF3 p)
{
    return talus_view_turn(view, talus_f3_sub(p, view->eye));
}

/* Transforms a direction back to the world. */
static inline TalusF3 talus_view_turn_back(const TalusView *view, TalusF3 a)
{
    TalusF3 r = talus_f3_scale(a.x, view->right);
    r = talus_f3_madd(r, a.y, view->down);
    return talus_f3_madd(r, a.z, view->forward);
}

/* Ray through the middle of pixel (x, y). */
static inline TalusRay talus_view_ray(const TalusView *view, int x, int y)
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

/* Picture coordinates of a point in view coordinates, which must be in front of the eye. */
static inline void talus_view_project(const TalusView *view, TalusF3 q, float *x, float *y)
{
    float s = view->perspective ? view->scale / q.z : view->scale;
    *x = view->cx + s * q.x;
    *y = view->cy + s * q.y;
}

#endif
