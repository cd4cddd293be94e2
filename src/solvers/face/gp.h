/* solvers/face/gp.h - gradient projection with a Krylov method in the faces, for bounds gamma >= 0.
 *
 * More and Toraldo 1991, heyn-2012 section 4. With f(x) = x'Ax/2 + q'x, A = S (N + E) S (s = 1 if unscaled), g the
 * gradient of f, A(x) the active set (x_i = 0) and B(x) the binding set (x_i = 0 and g_i >= 0), one round is
 *     projection   y' = P(y - a g(y)), Eq. (15), a the first of a0, a0/2, a0/4, ... with
 *                      f(y') <= f(y) + mu g'(y' - y)                                              (16)
 *                  until  A(y') = A(y)  (17)  or  f(y) - f(y') <= eta1 max of the earlier ones    (18)
 *     Krylov       steps w_j towards the minimum of f(x + w) over the face, w = 0 on A(x), until
 *                      f(x + w_(j-1)) - f(x + w_j) <= eta2 max of the earlier ones                (20)
 *                  or `inner` steps are done
 *     search       x' = P(x + a w), a = 1, 1/2, ... until (16) holds with x, x' for y, y'.
 *
 * The paper says that steps go on while (20) holds and stop when it is violated; the reverse is true, as for (18).
 * While the sets A and B of the new point are equal, the face may be the right one. If x + w is then inside the set,
 * the Krylov method continues with eta2 divided by ten; else it starts in the new face without projection steps.
 *
 * The matrix is multiplied only with steps d: with Ad known, f(x + d) - f(x) = g'd + d'Ad/2 has no cancellation, and
 * g(x + d) = g + Ad is free. The gradient is recomputed from x at intervals. Krylov methods also update the gradient at
 * x + w, so moving x to x + w needs no product.
 *
 * The matrix is only positive semidefinite, and in a face with more contacts than degrees of freedom the equations
 * contradict each other. A step is at most LONGEST_STEP times the size of the data, |x| + |g| / |A| at the start. A
 * step along a direction without curvature has about this length, and the projection ends it at the next bounds. (In a
 * longer step rounding in x would hide the gradient, and an infeasible problem would seem solved.) */
#ifndef TALUS_SOLVERS_FACE_GP_H
#define TALUS_SOLVERS_FACE_GP_H

#include "solvers/driver/solver.h"

/* Parameters of gpcg, gpminres and gpminres-p; TALUS_GP_ROWS explains each. */
typedef struct TalusGpParams {
    int metric, line, count;
    int inner, projections;
    double mu, eta1, eta2;
    bool binding;
} TalusGpParams;

/* The rows of a parameter table whose struct begins with a TalusGpParams. `steps`: default Krylov steps. */
#define TALUS_GP_ROWS(steps)                                                                       \
    TALUS_INT(TalusGpParams, inner, steps, 1, 100000, "Krylov steps in a face"),                   \
        TALUS_INT(TalusGpParams, projections, 8, 1, 100000, "projection steps in a row, at most"), \
        TALUS_REAL(TalusGpParams, mu, 0.01, 1e-9, 0.499, "sufficient decrease, Eq. (16)"),         \
        TALUS_REAL(TalusGpParams, eta1, 0.1, 0.0, 1.0,                                             \
                   "decrease that ends the projection steps, Eq. (18)"),                           \
        TALUS_REAL(TalusGpParams, eta2, 0.1, 0.0, 1.0,                                             \
                   "decrease that ends the Krylov steps, Eq. (20)"),                               \
        TALUS_FLAG(TalusGpParams, binding, 1,                                                      \
                   "stay with the Krylov method while active and binding sets agree"),             \
        TALUS_CHOICE(TalusGpParams, line, 0, talus_gp_lines,                                       \
                     "a0 is the best step along the projected gradient, or along the whole one"),  \
        TALUS_CHOICE(TalusGpParams, metric, 1, talus_gp_metrics,                                   \
                     "diagonal scaling of the unknowns"),                                          \
        TALUS_CHOICE(TalusGpParams, count, 0, talus_gp_counts,                                     \
                     "steps that count as iterations: all, or those of the Krylov method")

/* Names of the values of the parameters line, metric and count. */
extern const char *const talus_gp_lines[], *const talus_gp_metrics[], *const talus_gp_counts[];

typedef struct TalusGp TalusGp;

/* A Krylov method in the face of gp->x. */
typedef struct TalusKrylov {
    /* Begins at w = 0. On entry gp->r is the gradient at x, zero on the active set, and not all zero. */
    TalusStatus (*begin)(TalusGp *gp, void *work);
    /* Takes one step with at most one product: updates gp->w and the gradient gp->gw at x + w. Returns the decrease of
     * f. Writes false to *more if a further step cannot decrease f. */
    double (*step)(TalusGp *gp, void *work, bool *more);
} TalusKrylov;

typedef struct TalusGpWork {
    TalusVectors vectors, metric;
} TalusGpWork;

struct TalusGp {
    TalusSolve *solve;
    const TalusGpParams *params;
    const TalusKrylov *krylov;
    void *krylov_work;
    const TalusMetricBlock *metric; /* NULL: x is gamma */
    double *x, *trial;              /* iterate, in K; trial point: exchanged when x moves */
    double *g;                      /* gradient at x */
    double *w, *gw;                 /* step in the face; gradient at x + w */
    double *r, *ap;                 /* work: free gradient or direction; A times some vector */
    TalusFace face;                 /* face of x */
    double largest;                 /* lower bound of |A|: the largest curvature seen */
    double x_size, g_size;          /* |x| and |g| at the start */
    int since_gradient;             /* products since g was last computed from x */
};

/* Solves the problem of s from s->gamma, in place. krylov_work is passed to the functions of `krylov` as `work`. */
TalusStatus talus_gp_solve(TalusSolve *s, const TalusGpParams *params, TalusGpWork *work,
                           const TalusKrylov *krylov, void *krylov_work);

/* ---- for Krylov methods ---- */

/* Sets out = a x; the old content of out, NaN included, has no influence. */
void talus_gp_set_multiple(TalusGp *gp, double a, const double *x, double *out);
/* out = A p; counts the product. */
void talus_gp_product(TalusGp *gp, const double *p, double *out);
/* Returns p'Ap, or FLAT (gp.c) times |A| p'p if that is larger, so that the caller can divide by the result; *flat is
 * true in the second case. Raises gp->largest to p'Ap / p'p. */
double talus_gp_curvature(TalusGp *gp, double pAp, double pp, bool *flat);

#endif
