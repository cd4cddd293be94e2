/* solvers/ipm/ipm_conic.h - a contact problem as a quadratic program over a product of standard cones:
 *     minimise 1/2 x'Q x + q'x,   x in K,   z = Q x + q in K.
 *
 * Discs: x and z are impulses and velocities of contacts in the coordinates of ipm_soc_cone.h, K the second-order
 * cones. Polygons, squares and problems without friction: x are the multipliers of the edges (problem/qp.h), Q their
 * matrix P and K the half lines, so each multiplier is a block with one row. Powers of two bring Q and q to the order
 * of 1.
 *
 * An interior-point step solves (Q + W^2) d = r, W the scalings of all blocks. Vectors have `rows` entries per
 * block. */
#ifndef TALUS_SOLVERS_IPM_IPM_CONIC_H
#define TALUS_SOLVERS_IPM_IPM_CONIC_H

#include "solvers/ipm/ipm_qp.h"
#include "solvers/ipm/ipm_soc_system.h"

typedef struct TalusConic TalusConic;

/* The two kinds of cones; the functions below say what each does. */
typedef struct TalusConicForm {
    TalusStatus (*prepare)(TalusConic *c, TalusSocLinear linear);
    void (*product)(TalusConic *c, const double *x, double *out);
    TalusStatus (*factor)(TalusConic *c, const double *x, const double *z);
    TalusStatus (*solve)(TalusConic *c, const double *r, double enough, double *d, double *image);
    void (*to_impulses)(const TalusConic *c, const double *x, double *gamma);
} TalusConicForm;

struct TalusConic {
    const TalusConicForm *form;
    TalusSolve *s;
    int blocks, rows, n;  /* n: rows blocks */
    int cones;            /* blocks with unknowns */
    TalusSocBlock *block; /* [blocks] */
    double *q;            /* [n] */
    double unit,
        impulse; /* Q is N + E times unit, x impulses over `impulse`, z velocities times unit / impulse */
    double *gamma, *u;     /* [rows blocks of the problem]: work vectors */
    double *right;         /* [n]: work vector */
    TalusSocSystem system; /* discs */
    TalusIpm ipm;          /* polygons */
};

/* Sets up the program of the solve's problem; *c starts as zeros and may be prepared again. linear: cholmod, ldl and
 * mumps are the direct solver; polygons then have the normal equations of ipm_chol.c, with mumps the augmented system
 * of ipm_aug.c. Errors are those of talus_soc_system_choose and talus_qp_fill. */
TalusStatus talus_conic_prepare(TalusConic *c, TalusSolve *s, TalusSocLinear linear);
/* out = Q x. Counts the product. */
void talus_conic_product(TalusConic *c, const double *x, double *out);
/* Sets the scalings at the point (x, z) in c->block and factorises Q + W^2. TALUS_ERR_NUMERIC: a block has no scaling,
 * or the factorisation fails. */
TalusStatus talus_conic_factor(TalusConic *c, const double *x, const double *z);
/* Solves (Q + W^2) d = W r; d receives W d, image Q d. Discs: to a residual of W^-1 times the system with a norm of at
 * most `enough`, if rounding allows. */
TalusStatus talus_conic_solve(TalusConic *c, const double *r, double enough, double *d,
                              double *image);
/* gamma = impulses of x, N s, in the problem's order. */
void talus_conic_to_impulses(const TalusConic *c, const double *x, double *gamma);
/* Releases the memory and zeroes *c. */
void talus_conic_clear(TalusConic *c);

#endif
