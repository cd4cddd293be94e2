/* io/surface/surface_polygon.c - triangulation of polygons.
 *
 * The polygon is projected along the axis of the largest component of its normal (Newell's: the sum of the cross
 * products of neighbouring corners, taken from the first corner). A polygon that is star-shaped from its first corner
 * becomes a fan of triangles; others are cut ear by ear. */
#include "io/surface/surface.h"

/* Maximum number of corners of a polygon that is cut by ears, at a cost that may be cubic. */
enum { MAX_EARS = 256 };

/* A polygon, projected along an axis. */
typedef struct Projection {
    const TalusSoup *soup;
    const int32_t *corner; /* indices of its vertices in the soup */
    int dropped_axis;      /* coordinate dropped by the projection: 0, 1 or 2 */
    double turn;           /* -1 if the polygon runs clockwise in the projection, else 1 */
} Projection;

/* Returns Newell's normal, of twice the polygon's area as length. */
static TalusVec3 newell_normal(const TalusSoup *soup, const int32_t *corner, int count)
{
    TalusVec3 sum = {0.0, 0.0, 0.0}, origin = soup->vertex[corner[0]];
    for (int k = 1; k + 1 < count; k++)
        sum = talus_add(sum, talus_cross(talus_sub(soup->vertex[corner[k]], origin),
                                         talus_sub(soup->vertex[corner[k + 1]], origin)));
    return sum;
}

/* Chooses the axis along which the polygon is projected, and its sense in the projection. */
static Projection choose_projection(const TalusSoup *soup, const int32_t *corner, int count)
{
    TalusVec3 n = newell_normal(soup, corner, count);
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    Projection projection = {soup, corner, 0, n.x < 0.0 ? -1.0 : 1.0};
    if (z >= x && z >= y) {
        projection.dropped_axis = 2;
        projection.turn = n.z < 0.0 ? -1.0 : 1.0;
    } else if (y >= x) {
        projection.dropped_axis = 1;
        projection.turn = n.y < 0.0 ? -1.0 : 1.0;
    }
    return projection;
}

/* Returns twice the projected area of the corners i, j, k; positive if they run in the sense of the polygon. */
static double projected_area(const Projection *projection, int i, int j, int k)
{
    const TalusVec3 *vertex = projection->soup->vertex;
    TalusVec3 a = vertex[projection->corner[i]];
    TalusVec3 n = talus_cross(talus_sub(vertex[projection->corner[j]], a),
                              talus_sub(vertex[projection->corner[k]], a));
    double part = projection->dropped_axis == 0 ? n.x : projection->dropped_axis == 1 ? n.y : n.z;
    return projection->turn * part;
}

/* True if the projected polygon is star-shaped from its first corner. */
static bool is_fan(const Projection *projection, int count)
{
    for (int k = 1; k + 1 < count; k++)
        if (projected_area(projection, 0, k, k + 1) < 0.0)
            return false;
    return true;
}

/* True if corner left[at] is an ear: convex, and no other corner lies in its triangle with its two neighbours. */
static bool is_ear(const Projection *projection, const int *left, int count, int at)
{
    int before = left[(at + count - 1) % count], here = left[at], after = left[(at + 1) % count];
    if (!(projected_area(projection, before, here, after) > 0.0))
        return false;
    for (int k = 0; k < count; k++) {
        int other = left[k];
        if (other == before || other == here || other == after)
            continue;
        if (projected_area(projection, before, here, other) >= 0.0 &&
            projected_area(projection, here, after, other) >= 0.0 &&
            projected_area(projection, after, before, other) >= 0.0)
            return false;
    }
    return true;
}

/* Cuts off ears and adds each as a triangle, until two corners are left. Where no corner is an ear, as in a polygon
 * that intersects itself, cuts off the next corner. */
static TalusStatus cut_ears(TalusSoup *soup, const Projection *projection, int count)
{
    int left[MAX_EARS];
    for (int k = 0; k < count; k++)
        left[k] = k;
    for (int at = 0; count > 2; count--) {
        int ear = at % count;
        for (int k = 0; k < count; k++) {
            if (is_ear(projection, left, count, (at + k) % count)) {
                ear = (at + k) % count;
                break;
            }
        }
        TALUS_TRY(talus_soup_add_triangle(soup, projection->corner[left[(ear + count - 1) % count]],
                                          projection->corner[left[ear]],
                                          projection->corner[left[(ear + 1) % count]]));
        for (int k = ear; k + 1 < count; k++)
            left[k] = left[k + 1];
        at = ear;
    }
    return TALUS_OK;
}

TalusStatus talus_polygon_triangulate(TalusSoup *soup, const int32_t *corner, int count, bool *cut)
{
    Projection projection = choose_projection(soup, corner, count);
    *cut = true;
    if (is_fan(&projection, count)) {
        for (int k = 1; k + 1 < count; k++)
            TALUS_TRY(talus_soup_add_triangle(soup, corner[0], corner[k], corner[k + 1]));
        return TALUS_OK;
    }
    *cut = count <= MAX_EARS;
    return *cut ? cut_ears(soup, &projection, count) : TALUS_OK;
}
