/* solvers/newton/ssn_step.h - a step of a generalised Newton method on bounds, preclik-2009 3.3, for ssn and gs-ssn.
 *
 * With bounds l <= x <= u on every row, g = (N + E) x + q, and c the row's diagonal entry (metric=diagonal), so that
 * all is in m/s, or 1 (metric=none, the paper), the problem is the root of one of
 *     map=minmax   F(x) = max(c (x - u), min(c (x - l), g))                  (Eq. 18)
 *     map=normal   G(y) = g(x) + c (y - x),   x = min(u, max(l, y))          (Eq. 21)
 * In both, a row is free or decided by a bound. With constant bounds, rows at bounds (A) go there at once (minmax) or
 * stay (normal), and the free rows (F) solve the Schur complement
 *     (N + E)_FF d_F = -g_F - (N + E)_FA d_A.
 * More free rows than degrees of freedom make it singular. With a wrong active set and biases it is not even
 * consistent, contrary to the paper. So the map is that of a regularised problem, with
 *     g = (N + E) x + q + r diag(N + E) (x - centre),
 * whose centre is the current iterate (ssn) or moves when a problem is solved (gs-ssn: proximal point); r is
 * `regularise`.
 *
 * Coulomb's law on the square has bounds +-mu x_n. bounds=frozen is the paper's way: each iteration sets them from the
 * current normal impulses and treats them as constant. bounds=moving takes the full generalised Jacobian: rows of
 * sliding components are dx_t -+ mu dx_n. Its matrix, neither symmetric nor surely regular, is diag(L) (N + E) +
 * diag(M) of linalg/fronts.h, as in prox.
 *
 * A step along d is halved until the squared map falls enough or `step_min` is reached: the paper's means against local
 * minima, which needs tuning, as the paper says. */
#ifndef TALUS_SOLVERS_NEWTON_SSN_STEP_H
#define TALUS_SOLVERS_NEWTON_SSN_STEP_H

#include "linalg/fronts.h"
#include "linalg/ldl.h"
#include "solvers/driver/solver.h"

enum { TALUS_SSN_NONE, TALUS_SSN_DIAGONAL };
enum { TALUS_SSN_MINMAX, TALUS_SSN_NORMAL };
enum { TALUS_SSN_FROZEN, TALUS_SSN_MOVING };

typedef struct TalusSsnParams {
    int metric, map, bounds;
    double regularise, step_min;
} TalusSsnParams;

extern const char *const talus_ssn_metrics[], *const talus_ssn_maps[], *const talus_ssn_bounds[];

/* The rows of a parameter table whose struct begins with TalusSsnParams. */
#define TALUS_SSN_PARAM_ROWS(bounds_preset, regularise_preset)                                \
    TALUS_CHOICE(TalusSsnParams, metric, TALUS_SSN_DIAGONAL, talus_ssn_metrics,               \
                 "what makes bounds and velocities comparable; the paper's method has none"), \
        TALUS_CHOICE(TalusSsnParams, map, TALUS_SSN_MINMAX, talus_ssn_maps,                   \
                     "whose root is looked for: the paper's Eq. 18, or PATH's, Eq. 21"),      \
        TALUS_CHOICE(                                                                         \
            TalusSsnParams, bounds, bounds_preset, talus_ssn_bounds,                          \
            "Coulomb's law: bounds constant in each step, or moved with the normal impulse"), \
        TALUS_REAL(TalusSsnParams, regularise, regularise_preset, 1e-14, 1.0,                 \
                   "added to each diagonal entry of the free rows, relative to it"),          \
        TALUS_REAL(TalusSsnParams, step_min, 1e-4, 1e-12, 1.0,                                \
                   "no step is shorter than this share of Newton's")

/* G: g; D, ND: change of x and (N + E) times it; Y, DY: y and its change, map=normal; F: the map; Q: offsets; WEIGHT:
 * c; DIAGONALS: diagonal of N + E; CENTRE: of the regularisation; PACKED: work, the free rows of a vector. */
enum {
    TALUS_SSN_G,
    TALUS_SSN_D,
    TALUS_SSN_ND,
    TALUS_SSN_Y,
    TALUS_SSN_DY,
    TALUS_SSN_F,
    TALUS_SSN_Q,
    TALUS_SSN_WEIGHT,
    TALUS_SSN_DIAGONALS,
    TALUS_SSN_CENTRE,
    TALUS_SSN_PACKED,
    TALUS_SSN_VECTORS
};

typedef struct TalusSsn {
    const TalusSsnParams *p;
    double regularise;        /* r: the parameter at first; gs-ssn raises it */
    int rows, blocks;         /* rows of a block */
    bool coulomb, moving;     /* some bounds are mu x_n; they move within a step (bounds=moving) */
    TalusSparse matrix, face; /* N + E; its free rows and columns, with the same capacity */
    TalusLdl factor;
    TalusBlockMatrix by_blocks; /* N + E in blocks, for bounds=moving */
    TalusFronts fronts;
    double *left, *own;   /* L and M of the fronts */
    int32_t *place, *row; /* index of each row among the free ones, or -1; inverse */
    int changed;          /* rows that changed sides in the last evaluation or sweep */
    int8_t *side;         /* deciding bound of each row: -1 lower, 1 upper, 0 none */
    TalusVectors memory;
    double *vector[TALUS_SSN_VECTORS];
    double *slope; /* [blocks]: mu of Coulomb blocks; 0: bounds given */
    double *reach; /* [blocks]: mu times the estimate; bounds within a step unless `moving` */
} TalusSsn;

/* Prepares matrices and vectors for the solve. Coulomb blocks are prisms until talus_ssn_end. */
TalusStatus talus_ssn_begin(TalusSsn *w, TalusSolve *solve, const TalusSsnParams *params);
/* Releases the matrices and keeps the vectors. Must be called after a failure too. */
TalusStatus talus_ssn_end(TalusSsn *w, TalusSolve *solve);
/* `clear` of a solver whose workspace begins with a TalusSsn. */
void talus_ssn_clear(void *work);

/* With map=normal: sets y from gamma, and gamma to the x of y; counts one product. With map=minmax does nothing. Call
 * it before the first step and when gamma was changed. */
void talus_ssn_set_iterate(TalusSsn *w, TalusSolve *solve);
/* Sets the bounds from gamma (map=normal: and gamma from y), computes gradient and natural residual of gamma. One
 * product, which the caller counts. */
void talus_ssn_measure(TalusSsn *w, TalusSolve *solve, TalusForwardSums *at);
/* Evaluates sides and map for the next step, after talus_ssn_measure. Returns the rows that changed sides. */
int talus_ssn_update_sides(TalusSsn *w, const TalusSolve *solve);
/* Takes gamma as the new centre of the regularisation, then does the same as talus_ssn_update_sides. */
int talus_ssn_anchor(TalusSsn *w, const TalusSolve *solve);

typedef struct TalusSsnMove {
    bool search;   /* line search along the direction; else a step of `length` */
    bool again;    /* sides are those of the last step: its factor is reused */
    double length; /* share of Newton's step: out with `search`, else in */
} TalusSsnMove;

/* Takes one step of gamma, after talus_ssn_update_sides or talus_ssn_anchor; one factorisation unless `again`. */
TalusStatus talus_ssn_step(TalusSsn *w, TalusSolve *solve, TalusSsnMove *move);

/* One projected Gauss-Seidel sweep of gamma over the rows of the matrix, Coulomb blocks with bounds from the current
 * normal impulses. Updates side and changed. Returns the sum of (c times the change)^2. */
double talus_ssn_sweep(TalusSsn *w, TalusSolve *solve, double omega);

#endif
