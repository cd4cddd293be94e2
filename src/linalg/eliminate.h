/* linalg/eliminate.h - direct solution for joints: A x = r with A = D' M^-1 D + E over the rows of joints.
 *
 * Up to six consecutive rows between the same two bodies are a node. Bodies are the vertices and nodes the edges of a
 * graph. Eliminating a node merges its two vertices and couples the nodes left at the merged vertex. Nodes are
 * eliminated in minimum degree order. A chain or tree of bodies with few joints each takes memory and time proportional
 * to its length (Baraff 1996 achieves this with bodies among the unknowns). The factorisation is L L' in blocks, per
 * machine; a machine is a set of moving bodies connected by joints.
 *
 * Redundant rows (closed loops of hinges, two hinges of one door) make A singular. A machine with redundant rows is
 * factored with A_kk (1 + 1e-10) in place of A_kk, and each solution is refined. For consistent right-hand sides this
 * solves A x = r up to rounding, with nearly the smallest impulses x. A row without compliance that moves no body has x
 * = 0.
 *
 *     TalusElimination *e;
 *     talus_elimination_create(&e);
 *     talus_elimination_reserve_rows(e, count, &row); memory is kept from call to call
 *     fill row[0 .. count);
 *     talus_elimination_factor(e, pool, bodies);   order and pattern are kept if the same bodies have the rows and move
 *     talus_elimination_solve(e, x);               x = A^-1 x, in the order of the rows
 *     talus_elimination_destroy(e);
 *
 * Results are bitwise the same for any number of threads. */
#ifndef TALUS_LINALG_ELIMINATE_H
#define TALUS_LINALG_ELIMINATE_H

#include "base/pool.h"
#include "linalg/machine.h"

#include <talus/base.h>

typedef struct TalusElimination TalusElimination;

/* Creates an elimination without rows. */
TalusStatus talus_elimination_create(TalusElimination **out);
/* Releases e; NULL is allowed. */
void talus_elimination_destroy(TalusElimination *e);

/* Reserves `count` rows and writes their address to *row; the caller fills them before talus_elimination_factor. Rows
 * keep their content if `count` is at most that of the last call; else their content is undefined. */
TalusStatus talus_elimination_reserve_rows(TalusElimination *e, int count, TalusJointRow **row);
/* Factorises A of the rows. All body indices of rows must be below `bodies`. The pool is stored and used by the calls
 * below. TALUS_ERR_NUMERIC: a diagonal entry of A is not finite. After a failure only another factorisation is
 * possible. */
TalusStatus talus_elimination_factor(TalusElimination *e, TalusPool *pool, int bodies);

/* x becomes A^-1 x, in the order of the caller's rows. */
void talus_elimination_solve(TalusElimination *e, double *x);
/* Makes velocities satisfy the joints: velocity -= M^-1 D x with x = A^-1 (D' velocity + b). b, the rows' `bias`, is
 * added only if `offset`. velocity[body] has v in 0 to 2 and the spin in 4 to 6. */
void talus_elimination_apply(TalusElimination *e, bool offset, double (*velocity)[8]);
/* Writes x of the last solve or apply, in the order of the caller's rows. */
void talus_elimination_get_solution(const TalusElimination *e, double *x);
/* Returns the arrays that talus_machine_apply needs (machine.h), valid until the next factorisation. */
TalusMachines talus_elimination_machines(const TalusElimination *e);

/* Computes the entries of A^-1 within the factor's pattern (Takahashi's equations), which include those of any two rows
 * on one moving body, and from them the result of talus_elimination_reductions. To be called once after each
 * factorisation whose reductions are wanted. */
void talus_elimination_invert(TalusElimination *e);
/* Returns for each body its index among the moving bodies with joints; -1: fixed or without joints. */
const int32_t *talus_elimination_body_vertices(const TalusElimination *e);
/* Returns, by the index of talus_elimination_body_vertices, the amount by which joints reduce each body's M^-1: the
 * body's 6 x 6 block, by rows, of M^-1 D A^-1 D' M^-1, as of the last talus_elimination_invert. */
const double (*talus_elimination_reductions(const TalusElimination *e))[36];

/* Counts and sizes of an elimination; a vertex is a moving body with joints. */
typedef struct TalusEliminationFacts {
    int nodes, machines, vertices; /* numbers of them */
    int redundant;                 /* machines with redundant rows */
    int rounds;                    /* refinements of a solution, maximum over machines */
    int analyses;                  /* number of analyses so far */
    int64_t entries;               /* number of entries of the factor */
} TalusEliminationFacts;

/* Returns counts and sizes for reports and tests. */
TalusEliminationFacts talus_elimination_facts(const TalusElimination *e);

#endif
