/* draw/draw.h - a still picture of a moment.
 *
 * The picture is the mean of many passes. Each shifts the camera within a pixel, moves the key light
 * on its disc and takes a few directions of the sky, with a depth map from each: together they give
 * smooth edges, soft shadows and the dimming between grains. All of it happens in linear light; the
 * bytes depend on nothing but the arguments, the number of threads least of all. */
#ifndef TALUS_DRAW_DRAW_H
#define TALUS_DRAW_DRAW_H

#include "draw/image.h"
#include "draw/palette.h"

#include <talus/backend.h>
#include <talus/frames.h>

/* How fixed bodies look. */
typedef enum TalusContainerLook {
    TALUS_CONTAINER_SHOWN, /* opaque, but for walls between the viewer and the inside */
    TALUS_CONTAINER_GHOST, /* a hint of glass; the ground takes shadows */
    TALUS_CONTAINER_HIDDEN
} TalusContainerLook;

typedef struct TalusDrawDef {
    int width, height;
    TalusColourBy colour;
    double low, high;          /* ends of the colour scale; NAN: from the frame */
    double azimuth, elevation; /* of the camera, degrees; docs/how-to/render.md */
    double zoom;               /* 1 fits all */
    TalusContainerLook container;
    int clip_axis; /* 0, 1 or 2: bodies on the camera's side of coordinate clip_at are cut away */
    double clip_at;
    bool clip; /* whether to */
    bool chains, dark, transparent, plain;
} TalusDrawDef;

TalusDrawDef talus_draw_def_default(void);

/* Fails where the snapshot does not hold what `colour` or `chains` needs. */
TalusStatus talus_draw(const TalusFramesHead *head, const TalusSnapshot *snapshot,
                       const TalusDrawDef *def, TalusPool *pool, TalusImage *out);

#endif
