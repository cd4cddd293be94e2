/* linalg/eliminate_parts.h - internals of an elimination (eliminate.h). */
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
    TalusJointRow *row; /* [rows]: as given */

    /* the pattern, and the keys that determine it */
    int32_t (*key)[2];       /* [rows]: body of each side, -2 - body if that does not move */
    int keyed, keyed_bodies; /* rows and bodies of the last analysis; -1: none */
    int analyses;
    bool *moving; /* [bodies] */
    int nodes, vertices, machines;
    int32_t *given; /* [nodes]: first row in the caller's order */
    int32_t *place, *start, *below, (*vertex)[2], (*body)[2], *vertex_body;
    int64_t *diagonal_at, *block_at;
    int32_t *machine_start, *machine_vertex, *list_start, *list;
    int32_t *local; /* [bodies]: vertex, -1: none */

    /* numbers */
    TalusJointRow *ordered;         /* [rows] */
    double *bias, *scale;           /* [rows]: b; A_kk, the scale of a pivot */
    double *value, *inverse, *unit; /* L, with 1 / L_kk on diagonals; parts of A^-1; L_qp L_pp^-1 */
    double *right, *x, *y;          /* [rows] */
    double (*motion)[8];            /* [vertices]: velocities, v and spin; work of a solve */
    double (*taken)[36];            /* [vertices]: see talus_elimination_taken */
    int32_t *rounds;                /* [machines] */
    bool *redundant;                /* [machines] */

    /* work of the analysis (eliminate_order.c) */
    int32_t *work;
};

static inline int node_size(const TalusElimination *e, int node)
{
    return e->place[node + 1] - e->place[node];
}

/* Side of a node on which a vertex is. */
static inline int node_side(const TalusElimination *e, int node, int vertex)
{
    return e->vertex[node][0] == vertex ? 0 : 1;
}

/* Index in `value` of the block of two nodes, p <= q, that share a vertex or are coupled by L. */
static inline int64_t block_of(const TalusElimination *e, int q, int p)
{
    return q == p ? e->diagonal_at[p]
                  : e->block_at[talus_sorted_index(e->below, e->start[p], e->start[p + 1], q)];
}

/* talus_elimination_machines for velocities in `motion`, indexed by vertex instead of body; offsets `bias`, NULL: 0. */
TalusMachines talus_machines_local(const TalusElimination *e, const double *bias);

/* Factorises a machine and sets rounds[machine] and redundant[machine]; rounds < 0: A is not finite. */
void talus_elimination_factor_machine(TalusElimination *e, int machine);
/* Computes the machine's entries of A^-1 within the pattern of L, from its factor. */
void talus_elimination_invert_machine(TalusElimination *e, int machine);

/* Finds order and pattern of the rows, or keeps the last ones if rows and moving bodies are the same. */
TalusStatus talus_elimination_analyse(TalusElimination *e);

#endif
