/* geometry/tree.h - tree of bounding boxes over triangles; for the host.
 *
 * Every inner node halves its triangles by the centres of their boxes along the longest extent of these centres. Ties
 * are broken by the triangle's index, so that the tree depends on the triangles alone. Nodes are in depth-first order:
 * the left child follows its parent, `skip` leads past the descendants of a node. A traversal needs no stack. */
#ifndef TALUS_GEOMETRY_TREE_H
#define TALUS_GEOMETRY_TREE_H

#include "geometry/shape.h"

/* Number of nodes of a tree with one triangle in each leaf. */
static inline size_t talus_tree_nodes(int triangles)
{
    return 2 * (size_t)triangles - 1;
}

/* Fills node[talus_tree_nodes(triangles)]. */
TalusStatus talus_tree_build(TalusTreeNode *node, const TalusVec3 *vertex, const int32_t *triangle,
                             int triangles);

#endif
