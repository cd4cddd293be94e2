/* geometry/tree.h - a tree of bounding boxes over triangles; for the host.
 *
 * Every inner node halves its triangles by the middles of their boxes along the longest side of the room these
 * take; ties go by the triangle's number, so that the tree depends on the triangles alone. Nodes lie in
 * depth-first order: the left child follows its parent, `skip` leads past what lies below a node. A walk needs
 * no stack. */
#ifndef TALUS_GEOMETRY_TREE_H
#define TALUS_GEOMETRY_TREE_H

#include "geometry/shape.h"

/* Nodes of a tree over so many triangles, one in each leaf. */
static inline size_t talus_tree_nodes(int triangles)
{
    return 2 * (size_t)triangles - 1;
}

/* Fills node[talus_tree_nodes(triangles)]. */
TalusStatus talus_tree_build(TalusTreeNode *node, const TalusVec3 *vertex, const int32_t *triangle,
                             int triangles);

#endif
