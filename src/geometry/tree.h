/* geometry/tree.h - tree of bounding boxes over triangles; for the host.
 *
 * Every inner node divides its triangles into two halves, by the centres of their boxes along the axis on which these
 * centres extend farthest. Ties are broken by the triangle's index, so that the tree depends on the triangles alone.
 * Nodes are in depth-first order: the left child follows its parent, `skip` leads past the descendants of a node. A
 * traversal needs no stack. */
#ifndef TALUS_GEOMETRY_TREE_H
#define TALUS_GEOMETRY_TREE_H

#include "geometry/shape.h"

/* Number of nodes of a tree with one triangle in each leaf; triangles >= 1. */
static inline size_t talus_tree_node_count(int triangles)
{
    return 2 * (size_t)triangles - 1;
}

/* Builds the tree over all triangles of a mesh in node[talus_tree_node_count(triangles)]. */
TalusStatus talus_tree_build(TalusTreeNode *node, const TalusVec3 *vertex, const int32_t *triangle,
                             int triangles);

#endif
