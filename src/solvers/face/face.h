/* solvers/face/face.h - what the methods that work on faces share: kucera, mprgp, pgd, cpg.
 *
 * Vectors in a metric, the norm of the operator with its test, and conjugate gradients on the face of
 * an iterate with the step that leaves it. x is gamma / s in place of gamma. */
#ifndef TALUS_SOLVERS_FACE_FACE_H
#define TALUS_SOLVERS_FACE_FACE_H

#include "solvers/driver/solver.h"

/* Choices of a parameter `metric`. */
extern const char *const talus_face_metrics[];
enum { TALUS_FACE_UNSCALED, TALUS_FACE_TRACE, TALUS_FACE_ANISOTROPIC };

typedef struct TalusFaceWork {
    double *g;   /* gradient at x */
    double *p;   /* direction */
    double *np;  /* N p */
    double *phi; /* free gradient at x, as split leaves it */
    double *w;   /* spare */
    double *memory;
    size_t room;
    const TalusMetricBlock *metric; /* NULL: unscaled */
    TalusMetricBlock *metric_memory;
    size_t metric_room;
    double norm;   /* of S (N + E) S, with a margin */
    double pnp;    /* p'N p, 0: the next direction is the free gradient */
    int active;    /* active blocks when p was made */
    int unchecked; /* updates of g since it was formed afresh */
} TalusFaceWork;

/* Room, metric, x = P(gamma / s) and its gradient: one product, counted here. */
TalusStatus talus_face_begin(TalusSolve *solve, TalusFaceWork *work, int metric);
/* gamma = s x. */
void talus_face_end(TalusSolve *solve, TalusFaceWork *work);
void talus_face_clear(TalusFaceWork *work, const TalusBackend *backend);

/* Sets work->norm by power iteration, or from that of an earlier solve (0: there was none): the norm
 * of a scaled operator has no unit and is nearly the same from step to step. Uses p and np. */
void talus_face_norm(TalusSolve *solve, TalusFaceWork *work, double carried);

/* The end of an iteration: talus_solve_next with the residual of x. */
bool talus_face_measured(TalusSolve *solve, TalusFaceWork *work, int products);

static inline void talus_face_swap(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* The gradient at x afresh: one product. */
void talus_face_refresh(TalusSolve *solve, TalusFaceWork *work);

/* N p and p'N p, and the a >= 0 of the least objective on the line x + sign a p: 0 where it does not
 * go downhill, and a long step of its own where there is no curvature (pnp is 0 then). One product. */
double talus_face_search(TalusSolve *solve, TalusFaceWork *work, double sign);
/* The gradient after x has moved by a p: g + a N p, now and then afresh. Returns the products used. */
int talus_face_follow(TalusSolve *solve, TalusFaceWork *work, double a);

/* x = P(x - step d), the gradient there, and the test of the norm on the step taken. Uses p and w;
 * starts conjugate gradients anew. One product. */
void talus_face_project(TalusSolve *solve, TalusFaceWork *work, double step, const double *d);

/* One step on the face of x, whose free gradient is in phi. With p = phi - rho p_old conjugate to its
 * predecessor, x - a p minimises along p if that stays in the set. Otherwise the face expands:
 *     y = x - a_f p, the last point in the set (or y = x, where `half_step` is off),
 *     x = P(y - step phi(y)).
 * Returns the products used. */
int talus_face_advance(TalusSolve *solve, TalusFaceWork *work, const TalusFace *face, double step,
                       bool half_step);

/* x = x - a d with the a of talus_face_search. d must be such that no a > 0 leaves the set. Starts
 * conjugate gradients anew. Returns the products used. */
int talus_face_minimise(TalusSolve *solve, TalusFaceWork *work, double *d);

#endif
