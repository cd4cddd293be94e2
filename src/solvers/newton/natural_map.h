/* solvers/newton/natural_map.h - the natural map of one block and its generalised Jacobian.
 *
 *     f = x - P(z),   z = x - (u + s e_n) / d,   s = mu |u_t| where the law is exact, else 0,
 * with P the projection onto the cone |t| <= mu n (one row: n >= 0) and d the block's scale. f = 0 if and only if
 * impulse x and velocity u satisfy the friction law (De Saxce & Feng 1998). Let A be an element of the Jacobian of P at
 * z, and S = I + e_n mu u_t' / |u_t| where the law is exact and u_t is not 0, else I. Then a Jacobian of f is I - A
 * with respect to x and A S / d with respect to u. P of a joint clips row by row (sets/joint.h); its A has ones on the
 * diagonal of rows that are not clipped. */
#ifndef TALUS_SOLVERS_NEWTON_NATURAL_MAP_H
#define TALUS_SOLVERS_NEWTON_NATURAL_MAP_H

#include "sets/cone.h"
#include "sets/joint.h"

#include <stdbool.h>

typedef struct TalusNaturalBlock {
    int rows;     /* number of rows: 1 or 3 */
    bool exact;   /* Coulomb's law; else ccp */
    double mu;    /* friction coefficient of a contact; bound of |impulse| in a row of a joint */
    double scale; /* d */
    /* of a joint: bit k is set if the impulse in row k may be nonzero; 0: a contact */
    int joint;
} TalusNaturalBlock;

/* Matrices of the derivatives of f with respect to velocity and to impulse, [rows * rows], stored by rows. */
typedef struct TalusNaturalJacobian {
    double by_velocity[9], by_impulse[9];
} TalusNaturalJacobian;

/* Writes f at impulse x and velocity u, all [rows]. */
void talus_natural_map(const TalusNaturalBlock *block, const double *x, const double *u, double *f);
/* Writes an element of the generalised Jacobian of f at impulse x and velocity u. */
void talus_natural_jacobian(const TalusNaturalBlock *block, const double *x, const double *u,
                            TalusNaturalJacobian *slope);

/* For blocks of three rows: writes z, the argument of the projection in f. */
void talus_natural_argument(const TalusNaturalBlock *block, const double *x, const double *u,
                            double z[3]);
/* For blocks of three rows: writes the Jacobian of f at velocity u, given the Jacobian A of the projection, by rows. */
void talus_natural_chain_rule(const TalusNaturalBlock *block, const double *u, const double a[9],
                              TalusNaturalJacobian *slope);

#endif
