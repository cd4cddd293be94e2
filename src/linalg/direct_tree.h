/* linalg/direct_tree.h - tree of fronts of a symmetric matrix, row by row.
 *
 * Rows with the same neighbours, such as the three components of a body's velocity or the multipliers of one contact,
 * are ordered as one block, by minimum degree (fronts_order.c). */
#ifndef TALUS_LINALG_DIRECT_TREE_H
#define TALUS_LINALG_DIRECT_TREE_H

#include <talus/base.h>
#include <talus/sparse.h>

typedef struct TalusRowTree {
    int count;           /* number of fronts; children before parents, each subtree contiguous */
    int32_t *parent;     /* [count], -1 at a root */
    int32_t *pivots;     /* [count]: number of rows eliminated in a front */
    int64_t *list_start; /* [count + 1] */
    int32_t *list;       /* rows of each front in the order of elimination, pivots first */
    int32_t *front_of;   /* [rows]: front in which a row is eliminated */
} TalusRowTree;

/* `lower`: lower triangle, with or without the diagonal. */
TalusStatus talus_row_tree_create(const TalusSparse *lower, TalusRowTree *out);
void talus_row_tree_clear(TalusRowTree *tree);

#endif
