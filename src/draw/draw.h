/* draw/draw.h - renders a still picture of one frame.
 *
 * The picture is the mean of many passes. Each pass shifts the camera within a pixel, moves the key light on its disc
 * and samples a few directions of the sky, with a depth map for each light. Together the passes give smooth edges, soft
 * shadows and ambient occlusion between grains. Light is added and blended linearly and encoded as sRGB at the end. The
 * bytes depend on the arguments alone, not on the number of threads. */
#ifndef TALUS_DRAW_DRAW_H
#define TALUS_DRAW_DRAW_H

#include "draw/image.h"
#include "draw/palette.h"

#include <talus/backend.h>
#include <talus/frames.h>

/* Appearance of fixed bodies. Ground (talus_is_ground) is opaque, unless hidden. SHOWN: opaque, except for walls
 * between the viewer and the inside. GHOST: nearly transparent. A level plane of a ghost has no surface: the first
 * level plane shows shadows, unless chains are drawn, and each has its outline if there are other planes. */
typedef enum TalusContainerStyle {
    TALUS_CONTAINER_SHOWN,
    TALUS_CONTAINER_GHOST,
    TALUS_CONTAINER_HIDDEN
} TalusContainerStyle;

typedef struct TalusDrawDef {
    int width, height; /* pixels, 1 to TALUS_IMAGE_SIDE_MAX */
    TalusColourBy colour;
    double low, high;          /* ends of the colour scale; low NAN: 0; high NAN: from the frame */
    double azimuth, elevation; /* of the camera, degrees; docs/how-to/render.md */
    double zoom;               /* 1 fits the whole scene; up to 1e6 */
    TalusContainerStyle container;
    bool clip;        /* bodies and chains are cut; the part on the camera's side is removed */
    int clip_axis;    /* with clip: 0, 1, 2 for a plane x, y, z = clip_at */
    double clip_at;   /* m */
    bool chains;      /* draws force chains, seen through a veil of bodies */
    bool dark;        /* dark theme */
    bool transparent; /* opacity channel instead of a background */
    bool plain;       /* no caption */
    /* Box that the picture shows in place of that of the frame's bodies, so that neither camera nor planes move from
     * frame to frame of a film; NULL: from the frame. */
    const TalusAabb *room;
} TalusDrawDef;

/* Returns a picture of 1600 x 1200 pixels coloured by speed, with a ghost container. */
TalusDrawDef talus_draw_def_default(void);

/* What several frames need together, of talus_draw_measure. */
typedef struct TalusDrawSpan {
    TalusAabb room; /* box about all that is drawn, without outliers; for TalusDrawDef.room */
    double
        high; /* the highest upper end of their colour scales; NAN for categories, or without values above 0 */
} TalusDrawSpan;

/* Widens *span by a frame; `first`: sets it. Fails as talus_draw does. */
TalusStatus talus_draw_measure(const TalusFramesHead *head, const TalusSnapshot *snapshot,
                               const TalusDrawDef *def, bool first, TalusDrawSpan *span);

/* Renders the snapshot into `out`; the caller frees it with talus_image_free after success. Fails if `def` is invalid
 * (such as low without high), or if the snapshot lacks data that `colour` or `chains` needs. */
TalusStatus talus_draw(const TalusFramesHead *head, const TalusSnapshot *snapshot,
                       const TalusDrawDef *def, TalusPool *pool, TalusImage *out);

#endif
