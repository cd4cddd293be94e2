/* solvers/first_order/gll.h - memory of a nonmonotone line search (Grippo, Lampariello and Lucidi 1986): objective
 * values of the last iterates, as differences to the current one, so that no large numbers are subtracted. */
#ifndef TALUS_SOLVERS_FIRST_ORDER_GLL_H
#define TALUS_SOLVERS_FIRST_ORDER_GLL_H

enum { TALUS_GLL_MAX = 100 };

/* Starts as zeros with `memory` set: the number of earlier iterates that count. */
typedef struct TalusGll {
    int memory, next;
    double ahead[TALUS_GLL_MAX + 1]; /* ring: f of an iterate minus f of the current one */
} TalusGll;

/* Returns the largest stored difference: at least 0, that of the current iterate itself. Unused slots hold the value of
 * the first iterate, which is as high as f ever was. */
static inline double talus_gll_ceiling(const TalusGll *g)
{
    double max = 0.0;
    for (int i = 0; i <= g->memory; i++)
        max = g->ahead[i] > max ? g->ahead[i] : max;
    return max;
}

/* Moves to the next iterate, whose f differs by `change`, in the slot of the oldest. */
static inline void talus_gll_step(TalusGll *g, double change)
{
    for (int i = 0; i <= g->memory; i++)
        g->ahead[i] -= change;
    g->next = (g->next + 1) % (g->memory + 1);
    g->ahead[g->next] = 0.0;
}

#endif
