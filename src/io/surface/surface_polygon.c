/* io/surface/surface_polygon.c - triangulation of polygons.
 *
 * The polygon is projected along the axis of the largest component of its normal (Newell's: the sum of the cross
 * products of neighbouring corners, taken from the first corner). A polygon that is star-shaped from its first corner
 * becomes a fan of triangles; others are cut ear by ear. */
#include "io/surface/surface.h"

enum { MAX_EARS = 256 }; /* maximum corners of a polygon that is no fan; the cost may be cubic */

typedef struct Flat {
    const TalusSoup *soup;
    const int32_t *corner;
    int left_out; /* coordinate dropped by the projection: 0, 1 or 2 */
    double turn;  /* -1 if the polygon runs clockwise in the projection, else 1 */
} Flat;

static TalusVec3 newell(const TalusSoup *soup, const int32_t *corner, int count)
{
    TalusVec3 sum = {0.0, 0.0, 0.0}, origin = soup->vertex[corner[0]];
    for (int k = 1; k + 1 < count; k++)
        sum = talus_add(sum, talus_cross(talus_sub(soup->vertex[corner[k]], origin),
                                         talus_sub(soup->vertex[corner[k + 1]], origin)));
    return sum;
}

static Flat flatten(const TalusSoup *soup, const int32_t *corner, int count)
{
    TalusVec3 n = newell(soup, corner, count);
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    Flat flat = {soup, corner, 0, n.x < 0.0 ? -1.0 : 1.0};
    if (z >= x && z >= y) {
        flat.left_out = 2;
        flat.turn = n.z < 0.0 ? -1.0 : 1.0;
    } else if (y >= x) {
        flat.left_out = 1;
        flat.turn = n.y < 0.0 ? -1.0 : 1.0;
    }
    return flat;
}

/* Returns twice the projected area of the corners i, j, k; positive if they run in the sense of the polygon. */
static double area(const Flat *flat, int i, int j, int k)
{
    const TalusVec3 *vertex = flat->soup->vertex;
    TalusVec3 a = vertex[flat->corner[i]];
    TalusVec3 n =
        talus_cross(talus_sub(vertex[flat->corner[j]], a), talus_sub(vertex[flat->corner[k]], a));
    double part = flat->left_out == 0 ? n.x : flat->left_out == 1 ? n.y : n.z;
    return flat->turn * part;
}

static bool is_fan(const Flat *flat, int count)
{
    for (int k = 1; k + 1 < count; k++)
        if (area(flat, 0, k, k + 1) < 0.0)
            return false;
    return true;
}

/* True if corner left[at] is an ear: convex, and no other corner lies in its triangle with its two neighbours. */
static bool is_ear(const Flat *flat, const int *left, int count, int at)
{
    int before = left[(at + count - 1) % count], here = left[at], after = left[(at + 1) % count];
    if (!(area(flat, before, here, after) > 0.0))
        return false;
    for (int k = 0; k < count; k++) {
        int other = left[k];
        if (other == before || other == here || other == after)
            continue;
        if (area(flat, before, here, other) >= 0.0 && area(flat, here, after, other) >= 0.0 &&
            area(flat, after, before, other) >= 0.0)
            return false;
    }
    return true;
}

/* Cuts off ears, each a triangle, until two corners are left; where no corner is an ear, as in a polygon that
 * intersects itself, the next corner. */
static TalusStatus cut_ears(TalusSoup *soup, const Flat *flat, int count)
{
    int left[MAX_EARS];
    for (int k = 0; k < count; k++)
        left[k] = k;
    for (int at = 0; count > 2; count--) {
        int ear = at % count;
        for (int k = 0; k < count; k++) {
            if (is_ear(flat, left, count, (at + k) % count)) {
                ear = (at + k) % count;
                break;
            }
        }
        TALUS_TRY(talus_soup_add_triangle(soup, flat->corner[left[(ear + count - 1) % count]],
                                          flat->corner[left[ear]],
                                          flat->corner[left[(ear + 1) % count]]));
        for (int k = ear; k + 1 < count; k++)
            left[k] = left[k + 1];
        at = ear;
    }
    return TALUS_OK;
}

TalusStatus talus_polygon_triangulate(TalusSoup *soup, const int32_t *corner, int count, bool *cut)
{
    Flat flat = flatten(soup, corner, count);
    *cut = true;
    if (is_fan(&flat, count)) {
        for (int k = 1; k + 1 < count; k++)
            TALUS_TRY(talus_soup_add_triangle(soup, corner[0], corner[k], corner[k + 1]));
        return TALUS_OK;
    }
    *cut = count <= MAX_EARS;
    return *cut ? cut_ears(soup, &flat, count) : TALUS_OK;
}
