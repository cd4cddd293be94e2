/* io/surface/surface.h - data passed from the readers of surface files to their common stages.
 *
 * A reader (surface_stl.c, surface_obj.c) makes a soup: the corners of the file and triangles of them. surface_weld.c
 * merges nearly equal corners and drops degenerate and duplicate triangles; surface_orient.c makes the windings
 * agree. surface.c calls these stages in turn. */
#ifndef TALUS_IO_SURFACE_SURFACE_H
#define TALUS_IO_SURFACE_SURFACE_H

#include "base/status.h"

#include <talus/io.h>

/* Maximum number of triangles: three sides of each must be numbered by an int32_t. */
enum { TALUS_SURFACE_TRIANGLES = 1 << 28 };

/* The vertices and triangles of a file, as a reader has added them. */
typedef struct TalusSoup {
    const char *name; /* name of the file, for messages */
    TalusVec3 *vertex;
    int vertices;
    int32_t *triangle; /* [3 triangles]: indices of vertices */
    int triangles;
} TalusSoup;

/* Frees the arrays of a soup. */
void talus_soup_clear(TalusSoup *soup);
/* Appends a vertex. Its coordinates are not checked: a reader calls talus_soup_accepts_coordinate first, to name the
 * line in its error. */
TalusStatus talus_soup_add_vertex(TalusSoup *soup, TalusVec3 x);
/* Appends a triangle of three vertices. */
TalusStatus talus_soup_add_triangle(TalusSoup *soup, int32_t a, int32_t b, int32_t c);
/* True if the absolute value of a coordinate is at most 1e30. */
bool talus_soup_accepts_coordinate(double coordinate);

/* True if `size` matches the count of triangles in a binary STL file. The word "solid" at the start proves nothing,
 * because many programs write it into binary files too. */
bool talus_stl_is_binary(const unsigned char *bytes, size_t size);
/* True if the first word of the text is "solid". */
bool talus_stl_is_text(const char *text, size_t size);

/* Adds the vertices and triangles of a binary STL file to the soup. Errors name the triangle. */
TalusStatus talus_stl_read_binary(TalusSoup *soup, const unsigned char *bytes, size_t size);
/* As talus_stl_read_binary, for a text STL file and for an OBJ file. Errors name the line. */
TalusStatus talus_stl_read_text(TalusSoup *soup, const char *text, size_t size);
TalusStatus talus_obj_read(TalusSoup *soup, const char *text, size_t size);

/* Cuts a polygon, given by vertices of the soup, into triangles and adds these. *cut is false, and nothing is added, if
 * the polygon has more than 256 corners and is not star-shaped from its first corner. */
TalusStatus talus_polygon_triangulate(TalusSoup *soup, const int32_t *corner, int count, bool *cut);

/* Merges nearly equal corners, drops degenerate and duplicate triangles and unused vertices; stores bounds and counts
 * in `out`. The soup may be left without triangles. */
TalusStatus talus_surface_weld(TalusSoup *soup, TalusSurface *out);
/* Reverses triangles so that neighbours agree (surface_orient.c). Stores the volume and the counts of parts, edges and
 * reversed triangles in `out`, whose bounds must be set. */
TalusStatus talus_surface_orient(TalusSoup *soup, TalusSurface *out);

#endif
