/* draw/picture.h - what talus_draw draws, put together from a snapshot: the parts of src/draw share
 * it. Coordinates are relative to `origin`, the middle of what is shown. */
#ifndef TALUS_DRAW_PICTURE_H
#define TALUS_DRAW_PICTURE_H

#include "draw/draw.h"
#include "draw/raster.h"

/* A triangle of a container. */
typedef struct TalusPane {
    TalusF3 corner[3], normal[3];
    bool one_sided; /* of a plane: seen from where its normals point */
} TalusPane;

typedef struct TalusLine {
    TalusF3 from, to;
} TalusLine;

typedef struct TalusPicture {
    const TalusFramesHead *head;
    const TalusSnapshot *snapshot;
    const TalusDrawDef *def;
    const TalusTheme *theme;
    TalusVec3 up, east, north;        /* an orthonormal frame; azimuth turns from east to north */
    TalusAabb bounds, moving;         /* of all bodies with an extent; of moving ones */
    double fair_low[3], fair_high[3]; /* moving bodies whose middle is beyond do not count */
    TalusVec3 origin;
    TalusSolids bodies, chains;
    bool fixed_solid; /* fixed bodies with an inside are solids; else panes */
    double low, high; /* of the scale */
    TalusPane *pane;
    TalusLine *line;
    int pane_count, line_count;
    size_t pane_capacity, line_capacity;
    bool ground; /* a plane that takes shadows */
    TalusF3 ground_point, ground_normal;
    TalusView camera;
} TalusPicture;

/* What a body covers: half extents about a middle, both in the world frame; false for planes. */
bool talus_body_extent(const TalusFramesHead *head, const TalusSnapshot *snapshot, int row,
                       TalusVec3 *middle, TalusVec3 *extent);

/* Whether fixed spheres, boxes and cylinders are solids: where they are shown, and where they are
 * too many to be glass. */
bool talus_container_is_solid(const TalusPicture *picture); /* container.c */

/* Each fills its part; the order matters. */
void talus_picture_frame(TalusPicture *picture);            /* camera.c: up, bounds, origin */
TalusStatus talus_picture_colours(TalusPicture *picture);   /* colour.c: low and high */
TalusStatus talus_picture_bodies(TalusPicture *picture);    /* bodies.c: solids */
TalusStatus talus_picture_chains(TalusPicture *picture);    /* bodies.c */
TalusStatus talus_picture_container(TalusPicture *picture); /* container.c */
void talus_picture_camera(TalusPicture *picture);           /* camera.c */
void talus_picture_clear(TalusPicture *picture);

/* The value that 99 % of them do not exceed, by nearest rank; orders them. 0 of none. */
double talus_percentile(double *value, size_t count);
/* The least of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is not below x > 0. */
double talus_nice(double x);
/* For qsort of doubles. */
int talus_by_size(const void *a, const void *b);

/* The colour of a body's row. */
uint32_t talus_picture_colour(const TalusPicture *picture, int row);

/* The camera's direction, from what it looks at to the eye. */
TalusVec3 talus_picture_direction(const TalusPicture *picture, double azimuth, double elevation);

/* Height of the strip that the caption takes, pixels. */
int talus_caption_height(const TalusDrawDef *def);
TalusStatus talus_caption_draw(const TalusPicture *picture, TalusImage *image);

/* light.c: the mean light of all passes, premultiplied, four floats a pixel. */
TalusStatus talus_picture_expose(const TalusPicture *picture, TalusPool *pool, float *light);

#endif
