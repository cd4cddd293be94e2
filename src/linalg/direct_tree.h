/* linalg/direct_tree.h - tree of fronts (fronts.h) over the rows of a symmetric matrix.
 *
 * Rows with the same neighbours, such as the three components of a body's velocity or the multipliers of one contact,
 * are ordered as one block, by minimum degree (fronts_order.c). */
#ifndef TALUS_LINALG_DIRECT_TREE_H
#define TALUS_LINALG_DIRECT_TREE_H

#include "linalg/fronts.h"

/* Builds the tree, in which every row counts as a block. `lower`: the lower triangle, the diagonal may be absent. */
TalusStatus talus_row_tree_create(const TalusSparse *lower, TalusFrontTree *out);

#endif
