/* linalg/eliminate_parts.h - arrays and functions of an elimination (eliminate.h) that eliminate*.c share. */
#ifndef TALUS_LINALG_ELIMINATE_PARTS_H
#define TALUS_LINALG_ELIMINATE_PARTS_H

#include "base/order.h"
#include "linalg/eliminate.h"

#include <stdbool.h>
#include <stddef.h>

/* Maximum number of rows of a node. */
enum { NODE_ROWS = 6 };

/* Arrays also in TalusMachines are described there. */
struct TalusElimination {
    TalusPool *pool;
    int rows, bodies;
    TalusJointRow *row; /* [rows]: the caller's rows, in the caller's order */

    /* the pattern, and the keys that determine it */
    int32_t (*key)[2]; /* [rows]: body of each side; -2 - body if the body does not move */
    int analysed_rows, analysed_bodies; /* rows (-1: no analysis) and bodies of the last analysis */
    int analyses;                       /* number of analyses so far */
    bool *moving; /* [bodies]: true if an impulse in some row moves the body */
    int nodes, vertices, machines;
    int32_t *caller_row; /* [nodes]: first row in the caller's order */
    int32_t *first_row, *start, *below, (*vertex)[2], (*body)[2], *vertex_body;
    int64_t *diagonal_at, *block_at;
    int32_t *machine_start, *machine_vertex, *vertex_node_start, *vertex_node;
    int32_t *body_vertex; /* [bodies]: vertex, -1: none */

    /* numbers */
    /* from here on [rows] is in the order of elimination */
    TalusJointRow *ordered;         /* [rows]: the caller's rows */
    double *bias, *scale;           /* [rows]: b; A_kk, the scale of a pivot */
    double *value, *inverse, *unit; /* L, with 1 / L_kk on diagonals; parts of A^-1; L_qp L_pp^-1 */
    double *right, *x, *y;          /* [rows]: right-hand side of a solve; solution; residual */
    double (*motion)[8];            /* [vertices]: v in 0 to 2, spin in 4 to 6; work of a solve */
    double (*reduction)[36];        /* [vertices]: see talus_elimination_reductions */
    int32_t *rounds;                /* [machines]: refinements of a solution */
    bool *redundant;                /* [machines]: has redundant rows */

    /* work of the analysis (eliminate_order.c) */
    int32_t *work;
};

/* Returns the number of rows of a node. */
static inline int node_size(const TalusElimination *e, int node)
{
    return e->first_row[node + 1] - e->first_row[node];
}

/* Returns the side, 0 or 1, of a node on which the given vertex of the node is. */
static inline int node_side(const TalusElimination *e, int node, int vertex)
{
    return e->vertex[node][0] == vertex ? 0 : 1;
}

/* Returns the index in `value` of block (q, p), p <= q; the nodes must share a vertex or be coupled by L. */
static inline int64_t block_of(const TalusElimination *e, int q, int p)
{
    return q == p ? e->diagonal_at[p]
                  : e->block_at[talus_sorted_index(e->below, e->start[p], e->start[p + 1], q)];
}

/* Returns talus_elimination_machines for velocities that are indexed by vertex instead of by body, as in `motion`, with
 * offsets `bias` (NULL: 0). */
TalusMachines talus_machines_by_vertex(const TalusElimination *e, const double *bias);

/* Factorises A of one machine and sets rounds[machine] and redundant[machine]; rounds < 0: A is not finite. */
void talus_elimination_factor_machine(TalusElimination *e, int machine);
/* Computes the machine's entries of A^-1 within the pattern of L, from its factor. */
void talus_elimination_invert_machine(TalusElimination *e, int machine);

/* Finds the elimination order and the pattern of L. Keeps those of the last analysis if every row has the same bodies
 * and the same of them move. */
TalusStatus talus_elimination_analyse(TalusElimination *e);

#endif
