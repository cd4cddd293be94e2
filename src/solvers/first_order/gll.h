/* solvers/first_order/gll.h - memory of a nonmonotone line search (Grippo, Lampariello and Lucidi 1986): objective
 * values of the last iterates, as differences to the current one, so that no large numbers are subtracted. */
#ifndef TALUS_SOLVERS_FIRST_ORDER_GLL_H
#define TALUS_SOLVERS_FIRST_ORDER_GLL_H

enum { TALUS_GLL_MAX = 100 }; /* largest `memory` */

/* Starts as zeros with `memory` set: the number of earlier iterates that count. */
typedef struct TalusGll {
    int memory, next;                 /* next: slot of the current iterate */
    double excess[TALUS_GLL_MAX + 1]; /* ring: f of an iterate minus f of the current one */
} TalusGll;

/* Returns the largest stored difference; it is at least 0, the difference of the current iterate to itself. Unused
 * slots hold the difference of the first iterate, whose f is as large as any so far. */
static inline double talus_gll_ceiling(const TalusGll *g)
{
    double max = 0.0;
    for (int i = 0; i <= g->memory; i++)
        max = g->excess[i] > max ? g->excess[i] : max;
    return max;
}

/* Adds the next iterate in the slot of the oldest and makes it the current one; `change`: its f minus that of the old
 * current iterate. */
static inline void talus_gll_add(TalusGll *g, double change)
{
    for (int i = 0; i <= g->memory; i++)
        g->excess[i] -= change;
    g->next = (g->next + 1) % (g->memory + 1);
    g->excess[g->next] = 0.0;
}

#endif
