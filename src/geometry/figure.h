/* geometry/figure.h - drawing data of a shape of any kind: how it is drawn, and its triangles at one or more levels of
 * detail. Frames files contain figures (io/frames/frames_figure.c), so that a viewer needs no knowledge of kinds. */
#ifndef TALUS_GEOMETRY_FIGURE_H
#define TALUS_GEOMETRY_FIGURE_H

#include "geometry/mesh.h"

/* How a shape is drawn. */
typedef enum TalusDrawn {
    TALUS_DRAWN_SPHERE,     /* sphere of the body's radius; no triangles */
    TALUS_DRAWN_HALF_SPACE, /* below z = 0; no triangles */
    TALUS_DRAWN_SOLID,      /* convex pieces */
    TALUS_DRAWN_VESSEL,     /* a surface whose normals point away from its contents */
    TALUS_DRAWN_SHEET,      /* a surface of which either side may be the inner one */
    TALUS_DRAWN_GROUND,     /* a surface that supports bodies */
    TALUS_DRAWN_KINDS
} TalusDrawn;

enum { TALUS_FIGURE_LEVELS = 4 }; /* maximum number of levels */

typedef struct TalusFigure {
    TalusDrawn drawn;
    int levels;                           /* 0 without triangles */
    TalusMesh level[TALUS_FIGURE_LEVELS]; /* coarse to fine; without duplicate vertices */
    TalusAabb box;                        /* of the finest level, in the body's frame; else zero */
} TalusFigure;

/* "sphere", "half space", "solid", ... */
const char *talus_drawn_name(TalusDrawn drawn);

/* Makes the figure of a shape; free it with talus_figure_free. Coordinates are rounded to single precision and normals
 * to 1 / TALUS_NORMAL_STEPS, as files store them. On failure the figure is empty. */
TalusStatus talus_figure_of_shape(const TalusShapeDef *shape, TalusFigure *out);

enum { TALUS_NORMAL_STEPS = 32767 }; /* steps of a normal's component from 0 to 1 */

/* Bounds of triangles `from` to `to` - 1 of a mesh; zero if there are none. */
TalusAabb talus_figure_bounds(const TalusMesh *mesh, int from, int to);

/* Sets figure->box to the bounds of the finest level; to zero without levels. */
void talus_figure_set_box(TalusFigure *figure);

/* Releases the memory of a figure; accepts a zeroed one. */
void talus_figure_free(TalusFigure *figure);

#endif
