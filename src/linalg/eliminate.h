/* linalg/eliminate.h - joints solved for directly: A x = r with A = D' M^-1 D + E over rows of joints.
 *
 * Rows that follow each other between the same two bodies, up to six, are a node. Bodies are vertices and
 * nodes edges of a graph; eliminating a node merges its two vertices, and what it then couples are the
 * nodes left at the merged one. Order: least degree. A chain or a tree of bodies with few joints each takes
 * memory and time in proportion to its length (Baraff 1996 gets there with bodies among the unknowns). The
 * factorisation is L L' in blocks, machine by machine; a machine is what hangs together by bodies that move.
 *
 * Redundant rows (closed loops of hinges, two hinges of one door) make A singular: a machine with such rows
 * is factored with A_kk (1 + 1e-10) and each solution is refined, which for consistent right-hand sides
 * leads to rounding in D'v and to nearly the least of the impulses that do it. A row that no body moves for,
 * without compliance, has x = 0.
 *
 *     TalusElimination *e;
 *     talus_elimination_create(&e);
 *     talus_elimination_rows(e, count, &row);      memory is kept from call to call
 *     fill row[0 .. count);
 *     talus_elimination_factor(e, pool, bodies);   order and pattern are kept while the bodies of rows are
 *     talus_elimination_solve(e, x);               x = A^-1 x, in the order of the rows
 *     talus_elimination_destroy(e);
 *
 * The same bits for any number of threads. */
#ifndef TALUS_LINALG_ELIMINATE_H
#define TALUS_LINALG_ELIMINATE_H

#include "base/pool.h"
#include "linalg/machine.h"

#include <talus/base.h>

typedef struct TalusElimination TalusElimination;

TalusStatus talus_elimination_create(TalusElimination **out);
/* Accepts NULL. */
void talus_elimination_destroy(TalusElimination *e);

/* Room for so many rows, which the caller fills. */
TalusStatus talus_elimination_rows(TalusElimination *e, int count, TalusJointRow **row);
/* Bodies of rows are below `bodies`. TALUS_ERR_NUMERIC: something is not finite. The pool is kept. */
TalusStatus talus_elimination_factor(TalusElimination *e, TalusPool *pool, int bodies);

/* x = A^-1 x. */
void talus_elimination_solve(TalusElimination *e, double *x);
/* velocity -= M^-1 D x with x = A^-1 (D' velocity + b), b only where `offset`; records as in operator.h. */
void talus_elimination_apply(TalusElimination *e, bool offset, double (*velocity)[8]);
/* The x of the last of these two, in the order of the rows. */
void talus_elimination_solution(const TalusElimination *e, double *x);
/* What applying takes (machine.h), until the next factorisation. */
TalusMachines talus_elimination_machines(const TalusElimination *e);

/* Once after a factorisation, before the next: the entries of A^-1 that it has room for (Takahashi's
 * equations), those of any two rows on one moving body among them. */
void talus_elimination_invert(TalusElimination *e);
/* By body: its number among the moving ones that joints hold, -1: it is none of them; */
const int32_t *talus_elimination_vertices(const TalusElimination *e);
/* and by that number, what joints take from a body's M^-1, 6 x 6: M^-1 D A^-1 D' M^-1. */
const double (*talus_elimination_taken(const TalusElimination *e))[36];

typedef struct TalusEliminationFacts {
    int nodes, machines, vertices;
    int redundant;   /* machines with rows that others imply */
    int rounds;      /* most refinements of a solution */
    int analyses;    /* done so far */
    int64_t entries; /* of the factor */
} TalusEliminationFacts;

TalusEliminationFacts talus_elimination_facts(const TalusElimination *e);

#endif
