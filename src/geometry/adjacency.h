/* geometry/adjacency.h - adjacency of the triangles of a mesh.
 *
 * Side 3 t + k of a mesh is edge k of triangle t, from its corner k to the next. */
#ifndef TALUS_GEOMETRY_ADJACENCY_H
#define TALUS_GEOMETRY_ADJACENCY_H

#include <talus/base.h>

/* Next side of the same triangle. */
static inline int32_t talus_next_side(int32_t side)
{
    return side % 3 == 2 ? side - 2 : side + 1;
}

/* Start vertex of a side. */
static inline int32_t talus_side_start(const int32_t *triangle, int32_t side)
{
    return triangle[side];
}

/* End vertex of a side. */
static inline int32_t talus_side_end(const int32_t *triangle, int32_t side)
{
    return triangle[talus_next_side(side)];
}

/* Sets across[s], for each of the 3 * triangles sides s, to the other side on the same edge; -1 at a free edge. If more
 * than two triangles share an edge, across[] links their sides to a ring in ascending order. On failure nothing is
 * set. */
TalusStatus talus_link_sides(const int32_t *triangle, int triangles, int32_t *across);

enum { TALUS_EDGE_TRIANGLES = 16 }; /* triangles at an edge that talus_side_is_balanced accepts */
/* True if equally many triangles traverse the edge of a side in either direction, as on every edge of a closed surface;
 * false at a free edge, and if more than TALUS_EDGE_TRIANGLES triangles share the edge. reversed: by triangle, nonzero
 * for those that count as reversed; NULL: none. */
bool talus_side_is_balanced(const int32_t *triangle, const int32_t *across, const uint8_t *reversed,
                            int32_t side);

/* A value with its sort key. */
typedef struct TalusKeyed {
    uint64_t key;
    int32_t value;
} TalusKeyed;

/* Sorts item[count] by key; items with equal keys keep their order. `spare` is scratch memory for as many items. */
void talus_sort_keyed(TalusKeyed *item, TalusKeyed *spare, size_t count);

#endif
