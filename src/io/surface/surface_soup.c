/* io/surface/surface_soup.c - list of the vertices and triangles of a file, as a reader adds them. */
#include "io/surface/surface.h"

#include "base/memory.h"

#include <math.h>

/* Largest coordinate: bounds of triangles are stored in single precision, which ends at 3e38. */
#define LARGEST 1e30

void talus_soup_clear(TalusSoup *soup)
{
    TALUS_RELEASE(soup->vertex, soup->triangle);
}

bool talus_soup_accepts_coordinate(double coordinate)
{
    return fabs(coordinate) <= LARGEST;
}

/* Fails if `count`, the present number of vertices or corners, is the largest that is read. */
static TalusStatus check_count(const TalusSoup *soup, int count, const char *what)
{
    if (count < TALUS_SURFACE_TRIANGLES * 3)
        return TALUS_OK;
    return talus_fail_file(soup->name, TALUS_ERR_UNSUPPORTED,
                           "has more than %d %s; so many are not read", count, what);
}

TalusStatus talus_soup_add_vertex(TalusSoup *soup, TalusVec3 x)
{
    size_t have = (size_t)soup->vertices;
    TALUS_TRY(check_count(soup, soup->vertices, "vertices"));
    TALUS_TRY(TALUS_GROW(soup->vertex, have + 1, have, "vertices"));
    soup->vertex[soup->vertices++] = x;
    return TALUS_OK;
}

TalusStatus talus_soup_add_triangle(TalusSoup *soup, int32_t a, int32_t b, int32_t c)
{
    size_t have = 3 * (size_t)soup->triangles;
    if (soup->triangles == TALUS_SURFACE_TRIANGLES)
        return check_count(soup, 3 * TALUS_SURFACE_TRIANGLES, "triangle corners");
    TALUS_TRY(TALUS_GROW(soup->triangle, have + 3, have, "triangles"));
    int32_t *t = soup->triangle + have;
    t[0] = a;
    t[1] = b;
    t[2] = c;
    soup->triangles++;
    return TALUS_OK;
}
