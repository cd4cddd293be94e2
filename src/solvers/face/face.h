/* solvers/face/face.h - shared by kucera, mprgp, pgd and cpg, which work on faces: the parts of the set on which the
 * active blocks do not change.
 *
 * Provides vectors in a metric, the norm of the operator with a test that it is large enough, and conjugate gradients
 * on the face of an iterate with the step that leaves it. x = gamma / s is stored in the memory of gamma. N in the
 * formulas below is S (N + E) S; s = 1 if unscaled. The caller counts all products (talus_face_report), except those of
 * talus_face_begin and talus_face_estimate_norm. */
#ifndef TALUS_SOLVERS_FACE_FACE_H
#define TALUS_SOLVERS_FACE_FACE_H

#include "solvers/driver/solver.h"

/* Names of the choices of the parameter `metric`, the row of a table for it, and its values. */
extern const char *const talus_face_metrics[];
#define TALUS_FACE_METRIC(Struct)                                            \
    TALUS_CHOICE(Struct, metric, TALUS_FACE_ANISOTROPIC, talus_face_metrics, \
                 "diagonal scaling of the unknowns; the paper's method has none")
enum { TALUS_FACE_UNSCALED, TALUS_FACE_TRACE, TALUS_FACE_ANISOTROPIC };

/* Workspace. talus_face_projected_step exchanges the pointers g and p. */
typedef struct TalusFaceWork {
    double *g;   /* gradient at x */
    double *p;   /* direction */
    double *np;  /* N p */
    double *phi; /* gradient at x, 0 on active blocks (TalusFace) */
    double *w;   /* work vector; in mprgp also the chopped gradient (TalusFace) */
    const TalusMetricBlock *metric; /* NULL: unscaled */
    TalusVectors vectors, metric_memory;
    double norm;   /* estimated norm of S (N + E) S, raised when a step shows larger curvature */
    double pnp;    /* p'N p; 0 if unknown or flat: the next direction is then phi */
    double pp;     /* p'p, of talus_face_best_step */
    int active;    /* number of active blocks when p was made */
    int g_updates; /* updates of g since g was last computed from x */
    bool rose;     /* a step of TALUS_EXPAND_PROJCG has raised the objective */
    /* Of TALUS_EXPAND_SPECTRAL; talus_face_advance begins and ends its steps. */
    TalusSpectral spectral;
} TalusFaceWork;

/* Begins a solve: reserves memory, fills the metric (TALUS_FACE_...), sets x = P(gamma / s) and its gradient g, and
 * sets work->norm to a lower bound. Counts one product. */
TalusStatus talus_face_begin(TalusSolve *solve, TalusFaceWork *work, int metric);
/* Ends a solve: converts x, stored in gamma, back to impulses, gamma = s x. */
void talus_face_end(TalusSolve *solve, TalusFaceWork *work);

/* Raises work->norm to an estimate of the norm. In a metric the estimate is 0.97 times `last_norm`, the norm of an
 * earlier solve, as the norm of a scaled operator has no unit and hardly changes from step to step. Without a metric,
 * or if `last_norm` is 0, a power iteration gives it, which overwrites p and np. */
void talus_face_estimate_norm(TalusSolve *solve, TalusFaceWork *work, double last_norm);

/* Ends an iteration: counts it with its products, measures the residual of x from g and reports it. Returns true to go
 * on. */
bool talus_face_report(TalusSolve *solve, TalusFaceWork *work, int products);

/* Computes g from x, with one product. */
void talus_face_recompute_gradient(TalusSolve *solve, TalusFaceWork *work);

/* Computes np = N p and pnp = p'N p, with one product; may raise work->norm. Returns the a >= 0 that minimises the
 * objective at x + sign a p: 0 if the objective does not fall along that line, a long step if it has no curvature (pnp
 * is then 0). */
double talus_face_best_step(TalusSolve *solve, TalusFaceWork *work, double sign);
/* Updates g after x has moved by a p: adds a N p or, at intervals, computes g from x. Returns the products used. */
int talus_face_update_gradient(TalusSolve *solve, TalusFaceWork *work, double a);

/* Sets x = P(x - step d) and its gradient, and raises work->norm if the step taken shows it too small. d may be p.
 * Overwrites p and w; restarts conjugate gradients. One product. Returns by how much the objective has decreased. */
double talus_face_projected_step(TalusSolve *solve, TalusFaceWork *work, double step,
                                 const double *d);

/* One step on the face of x, whose free gradient is in phi. With p = phi - rho p_old conjugate to its predecessor (p =
 * phi after a restart), x - a p minimises along p if that stays in the set. Otherwise the face expands, as `expansion`
 * says (TalusExpansion of backend.h). If the objective does not fall along p, x = P(x - step g). Returns the products
 * used. */
int talus_face_advance(TalusSolve *solve, TalusFaceWork *work, const TalusFace *face, double step,
                       TalusExpansion expansion);

/* A spectral step (backend/face.h), for a face with this number of active blocks; work->spectral must have a length.
 * Overwrites p and np; restarts conjugate gradients. Returns the products used. */
int talus_face_spectral_step(TalusSolve *solve, TalusFaceWork *work, int active);

/* x = x - a d with the a of talus_face_best_step. d must be such that no a > 0 leaves the set. Overwrites np; restarts
 * conjugate gradients. Returns the products used. */
int talus_face_minimise_along(TalusSolve *solve, TalusFaceWork *work, double *d);

#endif
