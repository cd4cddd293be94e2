/* draw/picture.h - what talus_draw draws, prepared from a snapshot and shared by the parts of src/draw.
 * Coordinates are relative to `origin`, the middle of the shown bodies. */
#ifndef TALUS_DRAW_PICTURE_H
#define TALUS_DRAW_PICTURE_H

#include "draw/draw.h"
#include "draw/raster.h"
#include "geometry/figure.h"

/* An edge of a container. */
typedef struct TalusLine {
    TalusF3 from, to;
} TalusLine;

/* Pose of a mesh, x -> scale R x + position, and its colour. */
typedef struct TalusPlacement {
    TalusVec3 position; /* relative to the picture's origin */
    TalusQuat q;
    double scale;
    uint32_t rgb;
} TalusPlacement;

/* A convex piece of a shape: half extents of its box, and the box's middle in the body's frame. */
typedef struct TalusPiece {
    TalusVec3 middle, half;
    int first, levels; /* its polyhedra */
} TalusPiece;

/* A shape of the head, prepared for drawing. */
typedef struct TalusDrawnShape {
    const TalusFigure *figure;
    bool ground;       /* a surface that bodies stand on: drawn opaque */
    int first, pieces; /* pieces of a solid */
} TalusDrawnShape;

typedef struct TalusPicture {
    TalusDrawnShape *shape; /* of each shape */
    TalusPiece *piece;
    TalusPolyhedron *polyhedron;
    int polyhedra;
    TalusFigure *own_figures; /* figures that are not in the head */
    const TalusFramesHead *head;
    const TalusSnapshot *snapshot;
    const TalusDrawDef *def;
    const TalusTheme *theme;
    TalusVec3 up, east, north; /* orthonormal frame; azimuth rotates from east to north */
    TalusAabb bounds, moving;  /* of all bodies with an extent; of moving ones */
    double inlier_low[3], inlier_high[3]; /* moving bodies with their middle outside do not count */
    TalusVec3 origin;
    TalusSolids bodies, chains;
    TalusSolids walls; /* triangles of fixed bodies; they cast no shadow */
    bool fixed_solid;  /* fixed bodies with an inside are among `bodies`; else among `walls` */
    double low, high;  /* ends of the colour scale */
    TalusLine *line;
    int line_count;
    bool ground; /* a plane that receives shadows */
    TalusF3 ground_point, ground_normal;
    TalusView camera;
} TalusPicture;

/* Half extents of a body about a middle, both in the world frame; false for planes. */
bool talus_body_extent(const TalusPicture *picture, int row, TalusVec3 *middle, TalusVec3 *extent);

/* True if fixed bodies with an inside are solids: if they are shown, or too many for glass. */
bool talus_container_is_solid(const TalusPicture *picture); /* container.c */

static inline const TalusFigure *talus_picture_figure(const TalusPicture *picture, int row)
{
    return picture->shape[picture->snapshot->shape[row]].figure;
}

static inline bool talus_is_drawn(const TalusPicture *picture, int row, TalusDrawn drawn)
{
    return talus_picture_figure(picture, row)->drawn == drawn;
}

/* True for surfaces without an inside. */
static inline bool talus_is_wall(const TalusPicture *picture, int row)
{
    return talus_picture_figure(picture, row)->drawn != TALUS_DRAWN_SPHERE &&
           talus_picture_figure(picture, row)->drawn != TALUS_DRAWN_SOLID;
}

/* Finest level of a figure with at most `most` triangles, else its coarsest level. */
static inline const TalusMesh *talus_figure_level(const TalusFigure *figure, int most)
{
    int k = figure->levels - 1;
    while (k > 0 && figure->level[k].triangle_count > most)
        k--;
    return &figure->level[k];
}

/* True if a body is among `bodies`: a solid, or the triangles of a ground. Otherwise it is among `walls`. */
bool talus_is_drawn_solid(const TalusPicture *picture, int row); /* shapes.c */
bool talus_is_ground(const TalusPicture *picture, int row);

/* Each function fills its part; call them in this order. */
void talus_picture_set_axes(TalusPicture *picture);         /* camera.c: up, east, north */
TalusStatus talus_picture_shapes(TalusPicture *picture);    /* shapes.c */
void talus_picture_measure(TalusPicture *picture);          /* camera.c: bounds, origin */
TalusStatus talus_picture_colours(TalusPicture *picture);   /* colour.c: low and high */
TalusStatus talus_picture_bodies(TalusPicture *picture);    /* bodies.c: solids */
TalusStatus talus_picture_chains(TalusPicture *picture);    /* bodies.c */
TalusStatus talus_picture_container(TalusPicture *picture); /* container.c */
void talus_picture_camera(TalusPicture *picture);           /* camera.c */
void talus_picture_clear(TalusPicture *picture);
void talus_picture_clear_shapes(TalusPicture *picture);

/* Pose of the body in this row, without scale. */
TalusPlacement talus_picture_place(const TalusPicture *picture, int row); /* bodies.c */
/* Adds the triangles of a mesh. If `from` (mesh frame) is given, normals are turned to point away from it. */
TalusStatus talus_solids_add_mesh(TalusSolids *solids, const TalusMesh *mesh,
                                  const TalusPlacement *placement, TalusOpaqueFrom opaque_from,
                                  const TalusVec3 *from);

/* 99th percentile by nearest rank, 0 of none; sorts the values. */
double talus_percentile(double *value, size_t count);
/* Smallest of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is at least x > 0. */
double talus_nice(double x);

/* Colour of the body in this row. */
uint32_t talus_picture_colour(const TalusPicture *picture, int row);

/* Direction from the camera's target to the eye. */
TalusVec3 talus_picture_direction(const TalusPicture *picture, double azimuth, double elevation);

/* Height of the caption, pixels. */
int talus_caption_height(const TalusDrawDef *def);
TalusStatus talus_caption_draw(const TalusPicture *picture, TalusImage *image);

/* Computes the mean light of all passes, premultiplied, four floats per pixel (light.c). */
TalusStatus talus_picture_expose(const TalusPicture *picture, TalusPool *pool, float *light);

#endif
