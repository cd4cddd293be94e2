/* solvers/prox.h - proximal Newton steps on the natural map: the loop of prox.c, for solvers that end
 * with it. */
#ifndef TALUS_SOLVERS_PROX_H
#define TALUS_SOLVERS_PROX_H

#include "linalg/fronts.h"
#include "solvers/best.h"
#include "solvers/natural_map.h"

typedef struct TalusProxRules {
    double rho, shrink, inner; /* the parameters of prox */
} TalusProxRules;

enum { TALUS_PROX_VECTORS = 8 };

/* Workspace; starts as zeros. */
typedef struct TalusProx {
    TalusBlockMatrix matrix; /* N + E */
    TalusFronts fronts;
    double *left, *own; /* the Jacobian's L and M */
    double *memory, *vector[TALUS_PROX_VECTORS];
    TalusNaturalBlock *block;
    size_t left_room, own_room, memory_room, block_room;
    TalusBest best;
    double rho; /* where the last call left it */
} TalusProx;

/* From s->gamma to the end of the solve; the best point met is left there. `resumed`: with the matrix and
 * the weight of the call before. Blocks are under Coulomb's law where the solve is exact (s->plan), else
 * under the relaxation, with whatever shifts are in the offsets. */
TalusStatus talus_prox_run(TalusSolve *s, TalusProx *work, const TalusProxRules *rules,
                           bool resumed);
void talus_prox_clear(TalusProx *work, const TalusBackend *backend);

#endif
