/* geometry/adjacency.h - which triangles meet at which edges.
 *
 * Side 3 t + k of a mesh is edge k of triangle t, from its corner k to the next. */
#ifndef TALUS_GEOMETRY_ADJACENCY_H
#define TALUS_GEOMETRY_ADJACENCY_H

#include <talus/base.h>

/* The side after this one around its triangle. */
static inline int32_t talus_side_next(int32_t side)
{
    return side % 3 == 2 ? side - 2 : side + 1;
}

/* The vertex at which a side starts, and that at which it ends. */
static inline int32_t talus_side_from(const int32_t *triangle, int32_t side)
{
    return triangle[side];
}

static inline int32_t talus_side_to(const int32_t *triangle, int32_t side)
{
    return triangle[talus_side_next(side)];
}

/* For each of the 3 * triangles sides the other side on the same edge, or -1 at a free edge. Where more than
 * two triangles share an edge, their sides form a ring: each has the next one,
 * in ascending order, the last the first. */
TalusStatus talus_mesh_adjacency(const int32_t *triangle, int triangles, int32_t *across);

/* Whether as many triangles go along the edge of a side one way as the other, as on every edge of a closed
 * surface; false where there are more than TALUS_CROWD of them. */
enum { TALUS_CROWD = 16 };
bool talus_side_balanced(const int32_t *triangle, const int32_t *across, int32_t side);

/* A number to sort by and what it belongs to. */
typedef struct TalusKeyed {
    uint64_t key;
    int32_t value;
} TalusKeyed;

/* Sorts by key, keeping the order of equal ones; `spare` has room for as many. */
void talus_sort_keyed(TalusKeyed *item, TalusKeyed *spare, size_t count);

#endif
