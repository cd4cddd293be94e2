/* solvers/newton/natural_map.h - the natural map of one block and its generalised Jacobian.
 *
 *     f = x - P(z),   z = x - (u + s e_n) / d,   s = mu |u_t| where the law is exact, else 0,
 * with P the projection onto the cone |t| <= mu n and d the block's scale: f = 0 says that impulse x
 * and velocity u agree with the law (De Saxce & Feng 1998). With A an element of P's Jacobian at z and
 * S = I + e_n mu u_t' / |u_t|, one of f's is I - A with respect to x and A S / d with respect to u. A joint's
 * P clips row by row (sets/joint.h), and A has ones on its diagonal where it does not. */
#ifndef TALUS_SOLVERS_NEWTON_NATURAL_MAP_H
#define TALUS_SOLVERS_NEWTON_NATURAL_MAP_H

#include "sets/cone.h"
#include "sets/joint.h"

#include <stdbool.h>

typedef struct TalusNaturalBlock {
    int rows; /* 1 or 3 */
    bool exact;
    double mu, scale;
    int joint; /* rows of a joint, 3 rows; 0: a contact */
} TalusNaturalBlock;

/* f's derivatives by rows: with respect to the velocity and to the impulse. */
typedef struct TalusNaturalSlope {
    double velocity[9], impulse[9];
} TalusNaturalSlope;

void talus_natural_map(const TalusNaturalBlock *block, const double *x, const double *u, double *f);
void talus_natural_slope(const TalusNaturalBlock *block, const double *x, const double *u,
                         TalusNaturalSlope *slope);

#endif
