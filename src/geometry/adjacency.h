/* geometry/adjacency.h - adjacency of the triangles of a mesh.
 *
 * Side 3 t + k of a mesh is edge k of triangle t, from its corner k to the next. */
#ifndef TALUS_GEOMETRY_ADJACENCY_H
#define TALUS_GEOMETRY_ADJACENCY_H

#include <talus/base.h>

/* Next side of the same triangle. */
static inline int32_t talus_side_next(int32_t side)
{
    return side % 3 == 2 ? side - 2 : side + 1;
}

/* Start and end vertex of a side. */
static inline int32_t talus_side_from(const int32_t *triangle, int32_t side)
{
    return triangle[side];
}

static inline int32_t talus_side_to(const int32_t *triangle, int32_t side)
{
    return triangle[talus_side_next(side)];
}

/* Sets across[s] for each of the 3 * triangles sides to the other side on the same edge, or -1 at a free edge. If more
 * than two triangles share an edge, their sides form a ring in ascending order. */
TalusStatus talus_mesh_adjacency(const int32_t *triangle, int triangles, int32_t *across);

enum { TALUS_CROWD = 16 };
/* True if equally many triangles traverse the edge of a side in either direction, as on every edge of a closed surface;
 * false at a free edge, and if more than TALUS_CROWD triangles share it. turn: 1 for triangles that count as reversed;
 * NULL: none. */
bool talus_side_balanced(const int32_t *triangle, const int32_t *across, const uint8_t *turn,
                         int32_t side);

/* A value with its sort key. */
typedef struct TalusKeyed {
    uint64_t key;
    int32_t value;
} TalusKeyed;

/* Stable sort by key; `spare` has the same capacity as `item`. */
void talus_sort_keyed(TalusKeyed *item, TalusKeyed *spare, size_t count);

#endif
