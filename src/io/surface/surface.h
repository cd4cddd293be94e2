/* io/surface/surface.h - data passed from the readers of surface files to their common stages.
 *
 * A reader (surface_stl.c, surface_obj.c) makes a soup: the corners of the file and triangles of them. surface_weld.c
 * merges nearly equal corners and drops degenerate and duplicate triangles; surface_orient.c makes the windings agree.
 * surface.c calls them in turn. */
#ifndef TALUS_IO_SURFACE_SURFACE_H
#define TALUS_IO_SURFACE_SURFACE_H

#include "base/status.h"

#include <talus/io.h>

/* Maximum number of triangles: three sides of each must be numbered by an int32_t. */
enum { TALUS_SURFACE_TRIANGLES = 1 << 28 };

typedef struct TalusSoup {
    const char *name; /* of the file; for messages */
    TalusVec3 *vertex;
    int vertices;
    int32_t *triangle; /* [3 triangles]: vertices */
    int triangles;
} TalusSoup;

/* Frees the arrays of a soup. */
void talus_soup_clear(TalusSoup *soup);
/* Append a vertex, a triangle. Coordinates are not checked: the caller, who knows the line, calls
 * talus_soup_accepts. */
TalusStatus talus_soup_add_vertex(TalusSoup *soup, TalusVec3 x);
TalusStatus talus_soup_add_triangle(TalusSoup *soup, int32_t a, int32_t b, int32_t c);
/* True if a coordinate is finite and at most 1e30 (absolute). */
bool talus_soup_accepts(double coordinate);

/* True if `size` matches the count of triangles in a binary STL file. The word "solid" at the start proves nothing,
 * because many programs write it into binary files too. */
bool talus_stl_is_binary(const unsigned char *bytes, size_t size);
/* True if the first word of the text is "solid". */
bool talus_stl_is_text(const char *text, size_t size);

/* Add the vertices and triangles of a file to the soup. Errors name the line or the triangle. */
TalusStatus talus_stl_read_binary(TalusSoup *soup, const unsigned char *bytes, size_t size);
TalusStatus talus_stl_read_text(TalusSoup *soup, const char *text, size_t size);
TalusStatus talus_obj_read(TalusSoup *soup, const char *text, size_t size);

/* Adds the triangles of a polygon, given by vertices of the soup. *cut is false, and nothing added, if it has more than
 * 256 corners and is not star-shaped from its first one. */
TalusStatus talus_polygon_triangulate(TalusSoup *soup, const int32_t *corner, int count, bool *cut);

/* Merges nearly equal corners, drops degenerate and duplicate triangles and unused vertices; stores bounds and counts
 * in `out`. The soup may be left without triangles. */
TalusStatus talus_surface_weld(TalusSoup *soup, TalusSurface *out);
/* Reverses triangles so that neighbours agree; stores counts of parts, edges and reversed triangles, and the volume, in
 * `out`, whose bounds are set. */
TalusStatus talus_surface_orient(TalusSoup *soup, TalusSurface *out);

#endif
