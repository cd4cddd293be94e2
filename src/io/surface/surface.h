/* io/surface/surface.h - how the readers of surfaces hand over what they find.
 *
 * A reader (surface_stl.c, surface_obj.c) makes a soup: corners as the file has them, and triangles over
 * them. surface_weld.c joins corners that are the same point and drops what is no triangle;
 * surface_orient.c makes the windings agree. surface.c calls them in turn. */
#ifndef TALUS_IO_SURFACE_SURFACE_H
#define TALUS_IO_SURFACE_SURFACE_H

#include "base/status.h"

#include <talus/io.h>

/* Triangles of a surface at most: sides are numbered by 32 bits. */
enum { TALUS_SURFACE_TRIANGLES = 1 << 28 };

typedef struct TalusSoup {
    const char *name; /* of the file, for messages */
    TalusVec3 *vertex;
    int vertices;
    int32_t *triangle;
    int triangles;
} TalusSoup;

void talus_soup_clear(TalusSoup *soup);
/* Corners are checked by whoever knows where in the file they are: talus_soup_fits. */
TalusStatus talus_soup_add_vertex(TalusSoup *soup, TalusVec3 x);
TalusStatus talus_soup_add_triangle(TalusSoup *soup, int32_t a, int32_t b, int32_t c);
/* Whether a coordinate is finite and small enough for bounds in single precision. */
bool talus_soup_fits(double coordinate);

/* Whether the bytes are a binary STL file: their number is what the count in them says. The word "solid" at
 * the start tells nothing, many programs write it into binary files as well. */
bool talus_stl_is_binary(const unsigned char *bytes, size_t size);
/* Whether the text begins as an STL file does. */
bool talus_stl_is_text(const char *text, size_t size);

TalusStatus talus_stl_read_binary(TalusSoup *soup, const unsigned char *bytes, size_t size);
TalusStatus talus_stl_read_text(TalusSoup *soup, const char *text, size_t size);
TalusStatus talus_obj_read(TalusSoup *soup, const char *text, size_t size);

/* Cuts a polygon (vertices of the soup) into triangles. False where it has too many corners for its shape. */
TalusStatus talus_polygon_cut(TalusSoup *soup, const int32_t *corner, int count, bool *cut);

/* Joins corners and drops triangles; counts go to `out`. */
TalusStatus talus_surface_weld(TalusSoup *soup, TalusSurface *out);
/* Turns triangles round; counts, open edges and the volume go to `out`. */
TalusStatus talus_surface_orient(TalusSoup *soup, TalusSurface *out);

#endif
