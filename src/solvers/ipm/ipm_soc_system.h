/* solvers/ipm/ipm_soc_system.h - the linear systems of the interior-point methods on circular cones (ipm_soc.c,
 * ipm_hsd.c).
 *
 * With G = diag(T^-1 Q L^-1), x = T gamma the coordinates of a block and W = Q L Q' its scaling (ipm_soc_cone.h), every
 * step solves for y, along the axes Q of each block, with
 *     (G'(N + E) G + I) y = b,        and the change of gamma is G y.
 * N + E is multiplied by `unit`, a power of two. In these axes the entries of the matrix range from 1e-16 to 1e16, but
 * the matrix is only badly scaled, which does not harm elimination: entries of N along directions in which an impulse
 * is free to change do not mix with the large numbers that hold it in the other directions. A block on the mantle of a
 * cone has both kinds of direction. Two forms:
 *     contacts  the matrix itself, positive definite
 *     bodies    [ M   -D G; -G'D'  -(I + G'E G) ] (v, y) = (0, -b), quasi-definite: M instead of M^-1,
 *               sparse if bodies have many contacts; needs bodies
 * Both are factorised with G'G times a small weight and the block scales added, if needed. Conjugate gradients then
 * solve the system without that weight, with products with N + E itself and the factor as preconditioner: mostly in one
 * or two steps. */
#ifndef TALUS_SOLVERS_IPM_IPM_SOC_SYSTEM_H
#define TALUS_SOLVERS_IPM_IPM_SOC_SYSTEM_H

#include "linalg/block_matrix.h"
#include "linalg/direct.h"
#include "problem/jacobian.h"
#include "solvers/driver/solver.h"
#include "solvers/ipm/ipm_soc_cone.h"

typedef enum TalusSocForm { TALUS_SOC_BODIES, TALUS_SOC_CONTACTS } TalusSocForm;

/* Values of a solver's parameters linear, with their names, and form. */
typedef enum TalusSocLinear {
    TALUS_SOC_LINEAR_AUTO,
    TALUS_SOC_LINEAR_LDL,
    TALUS_SOC_LINEAR_CHOLMOD,
    TALUS_SOC_LINEAR_MUMPS
} TalusSocLinear;
extern const char *const talus_soc_linears[];
typedef enum TalusSocFormChoice {
    TALUS_SOC_FORM_AUTO,
    TALUS_SOC_FORM_BODIES,
    TALUS_SOC_FORM_CONTACTS
} TalusSocFormChoice;

enum { TALUS_SOC_VECTORS = 7 }; /* vectors of conjugate gradients (ipm_soc_system.c) */

typedef struct TalusSocSystem {
    TalusSocForm form;
    TalusDirect *direct;     /* factorisation of `lower` */
    int rows, blocks, head;  /* head: number of velocities, which come first; 0 in form contacts */
    double unit;             /* power of two that brings N + E to the order of 1 */
    double weight;           /* small weight added to N + E in the factor */
    TalusBlockMatrix matrix; /* N + E; form contacts */
    TalusJacobian jacobian;  /* M and D; form bodies */
    TalusSparse lower;       /* lower triangle of the matrix of the form */
    int8_t *sign;            /* [head + n]: signs of the pivots of `lower`; n: rows blocks */
    double *g;               /* [rows^2 blocks]: G by rows */
    double *x;               /* [head + n]: right-hand side, then solution */
    double *memory,
        *vector[TALUS_SOC_VECTORS]; /* vectors [n] of conjugate gradients, in `memory` */
} TalusSocSystem;

/* The Newton steps on the natural map, with a small proximal weight from the start, that find the last digits after an
 * interior-point method. */
#define TALUS_SOC_POLISH "prox:rho=1e-8,shrink=0.1,inner=0.7"

/* Fills block[op->blocks] with kind, mu and scale of each block; returns the number of cones, blocks with unknowns.
 * Friction coefficients up to 1e-30 count as 0. */
int talus_soc_fill_blocks(const TalusOperator *op, TalusSocBlock *block);
/* Writes the units of a scaled problem, powers of two: N + E times *unit and offsets, at most `speed`, times *unit over
 * *impulse are of the order of 1; impulses are over *impulse. */
void talus_soc_find_units(const TalusOperator *op, double speed, double *unit, double *impulse);

/* Chooses form and direct solver, computes the pattern of the matrix and analyses it for the factorisation. linear
 * auto: cholmod for form contacts where the build has it, else ldl. form auto: bodies where there are any, but contacts
 * for cholmod or where bodies are refused. May be called again for another problem or other choices.
 * TALUS_ERR_UNSUPPORTED: the choices exclude each other, the factor is too large, the build lacks the direct solver or,
 * in form bodies, a body's inverse inertia is singular but not zero. */
TalusStatus talus_soc_system_choose(TalusSocSystem *y, TalusSolve *s, TalusSocLinear linear,
                                    TalusSocFormChoice form, double unit);
/* Computes the scaling of each block at the point (x, z), and G from it, and factorises, with y->weight times the block
 * scales added to the diagonal of N + E; the weight is raised if a pivot is rejected. Counts factorisations.
 * TALUS_ERR_NUMERIC: a block has no scaling, or a pivot is rejected even with the largest weight. */
TalusStatus talus_soc_system_scale(TalusSocSystem *y, TalusSolve *s, TalusSocBlock *block,
                                   const double *x, const double *z);
/* Solves for y: writes y to `out` and unit (N + E) G y to `image`. Ends when the 2-norm of the residual is at most
 * `enough`, falls too slowly or after 30 steps; the y with the smallest residual is written. *left: norm of the
 * residual of that y. Counts the products. TALUS_ERR_NUMERIC: no norm is finite. */
TalusStatus talus_soc_system_solve(TalusSocSystem *y, TalusSolve *s, const double *b, double enough,
                                   double *out, double *image, double *left);
/* out = G in: the change of the impulses gamma for y = in. */
void talus_soc_system_to_impulses(const TalusSocSystem *y, const double *in, double *out);
/* Releases the memory and zeroes *y. */
void talus_soc_system_clear(TalusSocSystem *y);

#endif
