/* draw/picture.h - a snapshot prepared for drawing: solids, walls, lines and camera, shared by the files of src/draw.
 * Coordinates of solids, walls, lines, ground and camera are relative to `origin`, the middle of `bounds`; boxes and
 * ranges are in the world. */
#ifndef TALUS_DRAW_PICTURE_H
#define TALUS_DRAW_PICTURE_H

#include "draw/draw.h"
#include "draw/raster.h"
#include "geometry/figure.h"

/* An edge of a container. */
typedef struct TalusLine {
    TalusF3 from, to;
} TalusLine;

/* Pose of a mesh, x -> scale R x + position with the rotation R of q, and its colour. */
typedef struct TalusPlacement {
    TalusVec3 position; /* relative to the picture's origin */
    TalusQuat q;
    double scale;
    uint32_t rgb;
} TalusPlacement;

/* A convex piece of a shape: middle and half extents of its box at the finest level, in the body's frame. */
typedef struct TalusPiece {
    TalusVec3 middle, half;
    int first, levels; /* its polyhedra, coarse to fine: polyhedron[first .. first + levels - 1] */
} TalusPiece;

/* A shape of the head, prepared for drawing. */
typedef struct TalusDrawnShape {
    const TalusFigure *figure;
    bool ground;       /* a surface that bodies stand on: opaque if its body is fixed */
    int first, pieces; /* of a solid: piece[first .. first + pieces - 1] */
} TalusDrawnShape;

typedef struct TalusPicture {
    TalusDrawnShape *shape;      /* [shapes of the head] */
    TalusPiece *piece;           /* pieces of all solid shapes */
    TalusPolyhedron *polyhedron; /* [polyhedra]: all levels of all pieces */
    int polyhedra;
    TalusFigure *own_figures; /* figures of all shapes, if the head has none; else NULL */
    const TalusFramesHead *head;
    const TalusSnapshot *snapshot;
    const TalusDrawDef *def;
    const TalusTheme *theme;
    TalusVec3 up, east, north; /* orthonormal frame; azimuth rotates from east to north */
    /* bounds: box around all bodies but planes, and without fixed bodies if these are hidden. moving: box around moving
     * bodies. Both are without outliers: moving bodies whose middle is outside [inlier_low, inlier_high], which the
     * camera ignores too. */
    TalusAabb bounds, moving;
    double inlier_low[3], inlier_high[3];
    TalusVec3 origin;   /* middle of bounds */
    TalusSolids bodies; /* moving bodies, opaque fixed bodies with an inside, and ground */
    TalusSolids chains; /* empty unless def->chains */
    TalusSolids walls;  /* triangles of fixed bodies; they cast no shadow */
    bool fixed_solid;   /* fixed bodies with an inside are in `bodies`; else in `walls` or hidden */
    double low, high;   /* ends of the colour scale */
    double
        measured_high; /* the high end by the frame's values; NAN: none is above 0, or not measured */
    TalusLine *line;   /* edges of the container */
    int line_count;
    bool ground; /* true if the plane of the next two members receives shadows */
    TalusF3 ground_point, ground_normal;
    TalusView camera;
} TalusPicture;

/* Finds the middle and the half extents of a body's bounding box, world frame. False for planes, whose *extent is not
 * set, and if middle or extents are not finite. */
bool talus_find_body_extent(const TalusPicture *picture, int row, TalusVec3 *middle,
                            TalusVec3 *extent);

/* True if fixed bodies with an inside are opaque solids: if the container is shown, or if it should be a ghost but has
 * too many triangles for that. */
bool talus_container_is_solid(const TalusPicture *picture); /* container.c */

/* Returns the figure (kind of drawing and triangles) of the body in row `row` of the snapshot. */
static inline const TalusFigure *talus_picture_figure(const TalusPicture *picture, int row)
{
    return picture->shape[picture->snapshot->shape[row]].figure;
}

/* True if the body in this row has a figure of kind `drawn`. */
static inline bool talus_is_drawn_as(const TalusPicture *picture, int row, TalusDrawn drawn)
{
    return talus_picture_figure(picture, row)->drawn == drawn;
}

/* True if the body is drawn as a surface without an inside: a plane, vessel, sheet or ground. */
static inline bool talus_is_surface(const TalusPicture *picture, int row)
{
    return talus_picture_figure(picture, row)->drawn != TALUS_DRAWN_SPHERE &&
           talus_picture_figure(picture, row)->drawn != TALUS_DRAWN_SOLID;
}

/* Returns the finest level of a figure with at most `most` triangles, else its coarsest level. */
static inline const TalusMesh *talus_figure_level(const TalusFigure *figure, int most)
{
    int k = figure->levels - 1;
    while (k > 0 && figure->level[k].triangle_count > most)
        k--;
    return &figure->level[k];
}

/* True if a body is in `bodies`, as a solid or as triangles of a ground. False for other walls, for fixed bodies that
 * are ghosts or hidden, for bodies without radius, and for bodies too far away. */
bool talus_is_in_bodies(const TalusPicture *picture, int row); /* shapes.c */
/* True if a body is fixed, not hidden, and ground: its figure is TALUS_DRAWN_GROUND, or it is a sheet that is nowhere
 * steeper than 45 degrees (in the orientation of the first body with this shape). */
bool talus_is_ground(const TalusPicture *picture, int row);

/* Each function sets the members of the picture that the comment beside it names. draw.c calls them in this order, and
 * sets fixed_solid by talus_container_is_solid before the scale. talus_picture_add_chains is only called with
 * def->chains. */
void talus_picture_set_axes(TalusPicture *picture); /* camera.c: up, east, north */
TalusStatus
talus_picture_prepare_shapes(TalusPicture *picture);        /* shapes.c: shape, piece, polyhedron */
void talus_picture_set_bounds(TalusPicture *picture);       /* camera.c: bounds to origin */
TalusStatus talus_picture_set_scale(TalusPicture *picture); /* colour.c: low and high */
/* colour.c: sets measured_high and high from the high end of the values; 0: none, high is then 1 */
void talus_picture_set_high(TalusPicture *picture, double high);
TalusStatus talus_picture_add_bodies(TalusPicture *picture); /* bodies.c: bodies */
TalusStatus talus_picture_add_chains(TalusPicture *picture); /* bodies.c: chains, high */
TalusStatus
talus_picture_add_container(TalusPicture *picture);   /* container.c: walls, line, ground */
void talus_picture_set_camera(TalusPicture *picture); /* camera.c: camera */
/* Frees all memory of the picture and zeroes it. */
void talus_picture_clear(TalusPicture *picture);
/* Frees the memory of shape, piece, polyhedron and own_figures. */
void talus_picture_clear_shapes(TalusPicture *picture);

/* Returns pose and colour of the body in this row of the snapshot, with scale 1. */
TalusPlacement talus_picture_placement(const TalusPicture *picture, int row); /* bodies.c */
/* Adds the triangles of a mesh to `solids`. If `from` (mesh frame) is not NULL, the normals of each triangle are turned
 * away from it, as seen from the triangle's first corner. */
TalusStatus talus_solids_add_mesh(TalusSolids *solids, const TalusMesh *mesh,
                                  const TalusPlacement *placement, TalusOpaqueFrom opaque_from,
                                  const TalusVec3 *from);

/* Returns the 99th percentile by nearest rank, 0 if count is 0. Sorts the values in place, ascending. */
double talus_percentile_99(double *value, size_t count);
/* Returns x > 0 rounded up, with a tolerance of 1e-9 x, to the next 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten. */
double talus_round_up_nice(double x);

/* Colour of the body in this row, sRGB. Fixed bodies have the colour of the theme; with chains, moving bodies have the
 * colour of the veil. */
uint32_t talus_picture_colour(const TalusPicture *picture, int row);

/* Returns the unit vector at these angles in degrees: azimuth from east towards north, elevation towards up. */
TalusVec3 talus_picture_direction(const TalusPicture *picture, double azimuth, double elevation);
/* Returns the direction from the scene to the camera's eye, at most straight up or down. */
TalusVec3 talus_picture_camera_direction(const TalusPicture *picture);

/* Returns the height of the caption, pixels; 0 for a plain or very small picture, which has none. */
int talus_caption_height(const TalusDrawDef *def);
/* Draws the caption at the bottom of the image; nothing if talus_caption_height is 0. */
TalusStatus talus_caption_draw(const TalusPicture *picture, TalusImage *image);

/* Adds the mean of all passes to `light`, zero on entry: four floats per pixel, red, green and blue in linear light,
 * premultiplied by the opacity that follows (light.c). Then blends the shadow on the ground, if picture->ground. */
TalusStatus talus_picture_expose(const TalusPicture *picture, TalusPool *pool, float *light);

#endif
