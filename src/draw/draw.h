/* draw/draw.h - renders a still picture of one frame.
 *
 * The picture is the mean of many passes. Each pass shifts the camera within a pixel, moves the key light on its disc
 * and takes a few directions of the sky, with a depth map for each light. Together the passes give smooth edges, soft
 * shadows and ambient occlusion between grains. Light is added and blended linearly and encoded as sRGB at the end. The
 * bytes depend on the arguments alone, not on the number of threads. */
#ifndef TALUS_DRAW_DRAW_H
#define TALUS_DRAW_DRAW_H

#include "draw/image.h"
#include "draw/palette.h"

#include <talus/backend.h>
#include <talus/frames.h>

/* Appearance of fixed bodies. Ground (talus_is_ground) is opaque, unless hidden. */
typedef enum TalusContainerStyle {
    TALUS_CONTAINER_SHOWN, /* opaque, except walls between viewer and inside */
    TALUS_CONTAINER_GHOST, /* nearly transparent; level planes have no surface: the first shows shadows unless chains are drawn, and beside other
     * planes each has its outline */
    TALUS_CONTAINER_HIDDEN
} TalusContainerStyle;

typedef struct TalusDrawDef {
    int width, height;
    TalusColourBy colour;
    double low, high;          /* ends of the colour scale; low NAN: 0; high NAN: from the frame */
    double azimuth, elevation; /* of the camera, degrees; docs/how-to/render.md */
    double zoom;               /* 1 fits the whole scene; up to 1e6 */
    TalusContainerStyle container;
    int clip_axis; /* 0, 1 or 2: bodies are cut by the plane where coordinate x, y or z is clip_at */
    double clip_at; /* m; the part on the camera's side is removed, of chains too */
    bool clip;      /* enables clip_axis and clip_at */
    /* force chains seen through a veil of bodies; dark theme; opacity channel, no background; no caption */
    bool chains, dark, transparent, plain;
} TalusDrawDef;

TalusDrawDef talus_draw_def_default(void);

/* Renders the snapshot into `out`; the caller frees it with talus_image_free. Fails if `def` is invalid, as low given
 * without high, or if the snapshot lacks data that `colour` or `chains` needs. */
TalusStatus talus_draw(const TalusFramesHead *head, const TalusSnapshot *snapshot,
                       const TalusDrawDef *def, TalusPool *pool, TalusImage *out);

#endif
