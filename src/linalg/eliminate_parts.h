/* linalg/eliminate_parts.h - the inside of an elimination (eliminate.h), for its files. */
#ifndef TALUS_LINALG_ELIMINATE_PARTS_H
#define TALUS_LINALG_ELIMINATE_PARTS_H

#include "base/order.h"
#include "linalg/eliminate.h"

#include <stdbool.h>
#include <stddef.h>

/* Rows of a node at most. */
enum { NODE_ROWS = 6 };

/* "Vertex": a body that moves, numbered among those that joints hold, machine by machine. Nodes are in the
 * order of elimination, machine by machine, too, and so are ordered rows. */
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
    int32_t *given;         /* [nodes]: its first row in the order given */
    int32_t *place;         /* [nodes + 1]: its first row in the order of elimination */
    int32_t (*vertex)[2];   /* [nodes]: of its bodies, -1 where one does not move */
    int32_t *start, *below; /* [nodes + 1]: later nodes that L couples it to, rising */
    int64_t *diagonal_at;   /* [nodes + 1]: where its square block is in `value`, */
    int64_t *block_at;      /* [start[nodes]]: and the blocks below it, rows of the later node */
    int32_t *machine_start, *machine_vertex; /* [machines + 1]: first node, first vertex */
    int32_t *local;                          /* [bodies]: vertex, -1: none */
    int32_t *list_start, *list;              /* [vertices + 1]: nodes at a vertex, rising */

    /* numbers */
    TalusJointRow *ordered;         /* [rows] */
    double *bias, *scale;           /* [rows]: b, and A_kk, by which a pivot is measured */
    double *value, *inverse, *unit; /* L, with 1 / L_kk on diagonals; of A^-1; L_qp L_pp^-1 */
    double *right, *x, *y;          /* [rows] */
    double (*motion)[8];            /* [vertices] */
    int *rounds;                    /* [machines]: refinements */
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

/* Velocities to which x is applied: records of all bodies, or `motion` by vertex; and offsets of ordered rows,
 * NULL: none. */
typedef struct Motion {
    double (*velocity)[8];
    bool local;
    const double *bias;
} Motion;

/* y = D' velocity + bias, and `again`, less E x, x being what has been taken so far. */
void talus_machine_residual(TalusElimination *e, int machine, const Motion *motion, bool again);
/* y = A^-1 y, x += y (x = y unless `again`), velocity -= M^-1 D y. */
void talus_machine_step(TalusElimination *e, int machine, const Motion *motion, bool again);

/* rounds[machine] < 0 afterwards: something is not finite. */
void talus_elimination_factor_machine(TalusElimination *e, int machine);
void talus_elimination_invert_machine(TalusElimination *e, int machine);

/* Order and pattern for the rows as given, or those of the last time where they still hold. */
TalusStatus talus_elimination_analyse(TalusElimination *e);

#endif
