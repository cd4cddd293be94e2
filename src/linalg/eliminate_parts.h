/* linalg/eliminate_parts.h - the inside of an elimination (eliminate.h), for its files. */
#ifndef TALUS_LINALG_ELIMINATE_PARTS_H
#define TALUS_LINALG_ELIMINATE_PARTS_H

#include "base/order.h"
#include "linalg/eliminate.h"

#include <stdbool.h>
#include <stddef.h>

/* Rows of a node at most. */
enum { NODE_ROWS = 6 };

/* Arrays that TalusMachines has too are described there. */
struct TalusElimination {
    TalusPool *pool;
    int rows, bodies;
    TalusJointRow *row; /* [rows]: as given */

    /* the pattern, and what it was made from */
    int32_t (*key)[2];       /* [rows]: bodies; -2 - body for those that do not move */
    int keyed, keyed_bodies; /* rows and bodies then; -1: none */
    int analyses;
    bool *moving; /* [bodies] */
    int nodes, vertices, machines;
    int32_t *given; /* [nodes]: its first row in the order given */
    int32_t *place, *start, *below, (*vertex)[2], (*body)[2], *vertex_body;
    int64_t *diagonal_at, *block_at;
    int32_t *machine_start, *machine_vertex, *list_start, *list;
    int32_t *local; /* [bodies]: vertex, -1: none */

    /* numbers */
    TalusJointRow *ordered;         /* [rows] */
    double *bias, *scale;           /* [rows]: b, and A_kk, by which a pivot is measured */
    double *value, *inverse, *unit; /* L, with 1 / L_kk on diagonals; of A^-1; L_qp L_pp^-1 */
    double *right, *x, *y;          /* [rows] */
    double (*motion)[8];            /* [vertices] */
    double (*taken)[36];            /* [vertices] */
    int32_t *rounds;                /* [machines] */
    bool *redundant;                /* [machines] */

    /* work of the analysis (eliminate_order.c) */
    int32_t *work;
};

static inline int node_size(const TalusElimination *e, int node)
{
    return e->place[node + 1] - e->place[node];
}

/* The side of a node that a vertex is on. */
static inline int node_side(const TalusElimination *e, int node, int vertex)
{
    return e->vertex[node][0] == vertex ? 0 : 1;
}

/* Where in `value` the block of two nodes is, p <= q, which share a vertex or are coupled by L. */
static inline int64_t block_of(const TalusElimination *e, int q, int p)
{
    return q == p ? e->diagonal_at[p]
                  : e->block_at[talus_place_of(e->below, e->start[p], e->start[p + 1], q)];
}

/* As talus_elimination_machines, with `motion` for velocities and these offsets. */
TalusMachines talus_machines_local(const TalusElimination *e, const double *bias);

/* rounds[machine] < 0 afterwards: something is not finite. */
void talus_elimination_factor_machine(TalusElimination *e, int machine);
void talus_elimination_invert_machine(TalusElimination *e, int machine);

/* Order and pattern for the rows as given, or those of the last time where they still hold. */
TalusStatus talus_elimination_analyse(TalusElimination *e);

#endif
