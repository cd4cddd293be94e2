/* solvers/face/minres.h - MINRES in a face, for gpminres and gpminres-p (solvers/face/gp.h). */
#ifndef TALUS_SOLVERS_FACE_MINRES_H
#define TALUS_SOLVERS_FACE_MINRES_H

#include "solvers/face/gp.h"

/* Preconditioner: z = M^-1 r with a positive definite M on the free entries; r and z are zero on the others. */
typedef void TalusPrecondition(TalusGp *gp, void *user, const double *r, double *z);

/* Indices of TalusMinres.vector. NOW, OLD: r_j and r_(j-1) of the Lanczos process (minres.c); Z: M^-1 r_j; V, AV: v_j
 * and A v_j; D, AD: the last three directions d_j, oldest first, and A d_j. */
enum { MINRES_OLD, MINRES_NOW, MINRES_V, MINRES_AV, MINRES_Z, MINRES_D, MINRES_AD = MINRES_D + 3 };
enum { MINRES_VECTORS = MINRES_AD + 3 };

typedef struct TalusMinres {
    double *vector[MINRES_VECTORS];
    TalusVectors memory;
    TalusPrecondition *precondition; /* set by the caller; NULL: none */
    void *user;                      /* passed to `precondition` */
    bool null_exit;                  /* set by the caller; the parameter of TALUS_MINRES_ROW */

    double beta, beta_old; /* off-diagonal entries of T, the Lanczos tridiagonal matrix */
    double cosine, sine;   /* of the last rotation */
    double bar, above; /* entries delta and eps that this rotation leaves in the next column of T */
    double left;       /* norm of the remaining residual, in the metric of M^-1 */
    double size;       /* lower bound of |A| in the metric of M */
} TalusMinres;

/* The row of a parameter table for the member null_exit of the struct. */
#define TALUS_MINRES_ROW(Params)     \
    TALUS_FLAG(Params, null_exit, 1, \
               "leave a face once the rest of its residual lies in its null space")

/* Reserves the vectors. */
TalusStatus talus_minres_reserve(TalusSolve *s, TalusMinres *m);
/* `begin` and `step` of TalusKrylov; `minres` is a TalusMinres. */
TalusStatus talus_minres_begin(TalusGp *gp, void *minres);
double talus_minres_step(TalusGp *gp, void *minres, bool *more);

#endif
