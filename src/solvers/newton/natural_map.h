/* solvers/newton/natural_map.h - the natural map of one block and its generalised Jacobian.
 *
 *     f = x - P(z),   z = x - (u + s e_n) / d,   s = mu |u_t| where the law is exact, else 0,
 * with P the projection onto the cone |t| <= mu n (one row: n >= 0) and d the block's scale. f = 0 if impulse x and
 * velocity u satisfy the law (De Saxce & Feng 1998). Let A be an element of the Jacobian of P at z, and S = I + e_n mu
 * u_t' / |u_t| where the law is exact and u_t is not 0, else I. Then a Jacobian of f is I - A with respect to x and A S
 * / d with respect to u. P of a joint clips row by row (sets/joint.h); its A has ones on the diagonal of rows that are
 * not clipped. */
#ifndef TALUS_SOLVERS_NEWTON_NATURAL_MAP_H
#define TALUS_SOLVERS_NEWTON_NATURAL_MAP_H

#include "sets/cone.h"
#include "sets/joint.h"

#include <stdbool.h>

typedef struct TalusNaturalBlock {
    int rows;         /* 1 or 3 */
    bool exact;       /* Coulomb's law; else ccp */
    double mu, scale; /* mu: friction, or bound of a joint; scale: d */
    int joint;        /* of a joint: bit k is set if row k may be nonzero; 0: a contact */
} TalusNaturalBlock;

/* Derivatives of f by rows, with respect to the velocity and to the impulse. */
typedef struct TalusNaturalSlope {
    double velocity[9], impulse[9];
} TalusNaturalSlope;

/* Write f, and an element of its generalised Jacobian, at impulse x and velocity u, [rows]. */
void talus_natural_map(const TalusNaturalBlock *block, const double *x, const double *u, double *f);
void talus_natural_slope(const TalusNaturalBlock *block, const double *x, const double *u,
                         TalusNaturalSlope *slope);

/* Parts of the above for three rows: z, and the Jacobian of f from A, [9] by rows, at velocity u. */
void talus_natural_point(const TalusNaturalBlock *block, const double *x, const double *u,
                         double z[3]);
void talus_natural_chain(const TalusNaturalBlock *block, const double *u, const double a[9],
                         TalusNaturalSlope *slope);

#endif
