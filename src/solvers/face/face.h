/* solvers/face/face.h - shared by the methods that work on faces: kucera, mprgp, pgd, cpg.
 *
 * Provides vectors in a metric, the norm of the operator with its test, and conjugate gradients on the face of an
 * iterate with the step that leaves it. x = gamma / s is stored in the memory of gamma. */
#ifndef TALUS_SOLVERS_FACE_FACE_H
#define TALUS_SOLVERS_FACE_FACE_H

#include "solvers/driver/solver.h"

/* Choices of the parameter `metric`. */
extern const char *const talus_face_metrics[];
#define TALUS_FACE_METRIC(Struct)                                            \
    TALUS_CHOICE(Struct, metric, TALUS_FACE_ANISOTROPIC, talus_face_metrics, \
                 "diagonal scaling of the unknowns; the paper's method has none")
enum { TALUS_FACE_UNSCALED, TALUS_FACE_TRACE, TALUS_FACE_ANISOTROPIC };

typedef struct TalusFaceWork {
    double *g;                      /* gradient at x */
    double *p;                      /* direction */
    double *np;                     /* N p */
    double *phi;                    /* free gradient at x, as split leaves it */
    double *w;                      /* work vector */
    const TalusMetricBlock *metric; /* NULL: unscaled */
    TalusVectors vectors, metric_memory;
    double norm;   /* norm of S (N + E) S, with a margin */
    double pnp;    /* p'N p; 0: the next direction is the free gradient */
    int active;    /* number of active blocks when p was made */
    int unchecked; /* updates of g since it was computed from x */
} TalusFaceWork;

/* Reserves memory, fills the metric, and sets x = P(gamma / s) and its gradient. Counts one product. */
TalusStatus talus_face_begin(TalusSolve *solve, TalusFaceWork *work, int metric);
/* gamma = s x. */
void talus_face_end(TalusSolve *solve, TalusFaceWork *work);

/* Sets work->norm by power iteration, or from `carried`, that of an earlier solve (0: none): the norm of a scaled
 * operator has no unit and hardly changes from step to step. Overwrites p and np. */
void talus_face_norm(TalusSolve *solve, TalusFaceWork *work, double carried);

/* The end of an iteration: talus_solve_next with the residual of x. */
bool talus_face_measured(TalusSolve *solve, TalusFaceWork *work, int products);

/* Computes the gradient from x: one product. */
void talus_face_refresh(TalusSolve *solve, TalusFaceWork *work);

/* Computes N p and p'N p. Returns the a >= 0 of the minimum objective on the line x + sign a p: 0 if the line does not
 * descend, a long step if there is no curvature (pnp is then 0). One product. */
double talus_face_search(TalusSolve *solve, TalusFaceWork *work, double sign);
/* Updates the gradient after x has moved by a p: g + a N p, at intervals from x. Returns the products used. */
int talus_face_follow(TalusSolve *solve, TalusFaceWork *work, double a);

/* Sets x = P(x - step d) and its gradient, and tests the norm on the step taken. Overwrites p and w; restarts conjugate
 * gradients. One product. */
void talus_face_project(TalusSolve *solve, TalusFaceWork *work, double step, const double *d);

/* One step on the face of x, whose free gradient is in phi. With p = phi - rho p_old conjugate to its
 * predecessor, x - a p minimises along p if that stays in the set. Otherwise the face expands:
 *     y = x - a_f p, the last point in the set (or y = x, where `half_step` is off),
 *     x = P(y - step phi(y)).
 * Returns the products used. */
int talus_face_advance(TalusSolve *solve, TalusFaceWork *work, const TalusFace *face, double step,
                       bool half_step);

/* x = x - a d with the a of talus_face_search. d must be such that no a > 0 leaves the set. Restarts conjugate
 * gradients. Returns the products used. */
int talus_face_minimise(TalusSolve *solve, TalusFaceWork *work, double *d);

#endif
