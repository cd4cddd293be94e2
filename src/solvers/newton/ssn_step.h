/* solvers/newton/ssn_step.h - a step of a generalised Newton method on bounds, preclik-2009 3.3, for ssn and gs-ssn.
 *
 * Let l <= x <= u be the bounds of every row and g = (N + E) x + q. The weight c of a row is its diagonal entry
 * (metric=diagonal), so that all terms are in m/s, or 1 (metric=none, as in the paper). A solution of the problem is a
 * root of one of the maps
 *     map=minmax   F(x) = max(c (x - u), min(c (x - l), g))                  (Eq. 18)
 *     map=normal   G(y) = g(x) + c (y - x),   x = min(u, max(l, y))          (Eq. 21)
 * In both maps a row is either free or decided by a bound. With constant bounds, a Newton step takes the rows that a
 * bound decides (A) to the bound (minmax) or leaves them there (normal), and the free rows (F) solve
 *     (N + E)_FF d_F = -g_F - (N + E)_FA d_A.
 * More free rows than degrees of freedom make this system singular. With a wrong active set and biases the system need
 * not have a solution, contrary to the paper. So the map is that of a regularised problem, with
 *     g = (N + E) x + q + r diag(N + E) (x - centre),
 * where r is the parameter `regularise`. The centre is the current iterate (ssn), or moves to the solution each time a
 * regularised problem is solved (gs-ssn: proximal point method).
 *
 * Coulomb's law on the square has bounds +-mu x_n. bounds=frozen is the paper's way: each iteration sets them from the
 * current normal impulses and treats them as constant. bounds=moving takes the full generalised Jacobian, whose rows of
 * sliding components are dx_t -+ mu dx_n. Its matrix need be neither symmetric nor regular. It has the form diag(L) (N
 * + E) + diag(M) of linalg/fronts.h, as in prox.
 *
 * A line search halves the step along d until the squared norm of the map falls enough or `step_min` is reached. The
 * parameter `step_min` is the paper's means to get past local minima; it needs tuning, as the paper says. */
#ifndef TALUS_SOLVERS_NEWTON_SSN_STEP_H
#define TALUS_SOLVERS_NEWTON_SSN_STEP_H

#include "linalg/fronts.h"
#include "linalg/ldl.h"
#include "solvers/driver/solver.h"

/* Values of the parameters metric, map and bounds. */
enum { TALUS_SSN_NONE, TALUS_SSN_DIAGONAL };
enum { TALUS_SSN_MINMAX, TALUS_SSN_NORMAL };
enum { TALUS_SSN_FROZEN, TALUS_SSN_MOVING };

typedef struct TalusSsnParams {
    int metric, map, bounds;
    double regularise, step_min;
} TalusSsnParams;

/* Names of these values, for parameter tables. */
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

/* Vectors of TalusSsn, one entry per row. G: g without the term of the regularisation; D: change of x in a Newton step,
 * with map=normal at the length tried last; ND: (N + E) D; Y, DY: y and its change in a Newton step, with map=normal;
 * F: value of the map; Q: offsets q; WEIGHT: c; DIAGONALS: diagonal of N + E; CENTRE: centre of the regularisation;
 * PACKED: work space, a vector's free rows. */
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
    double regularise;          /* r: the parameter at first; gs-ssn raises it */
    int rows, blocks;           /* rows of a block; number of blocks */
    bool coulomb;               /* some blocks have the bounds +-mu x_n of Coulomb's law */
    bool moving;                /* these bounds move within a step (bounds=moving) */
    TalusSparse matrix;         /* N + E */
    TalusSparse free_matrix;    /* free rows and columns of N + E; has capacity for all */
    TalusLdl factor;            /* of free_matrix, for constant bounds */
    TalusBlockMatrix by_blocks; /* N + E in blocks, for bounds=moving */
    TalusFronts fronts;         /* factorisation for bounds=moving */
    double *left, *own;         /* L and M of the fronts */
    int32_t *free_index;        /* [rows * blocks]: index of each row among the free ones, or -1 */
    int32_t *free_row;          /* row of each free one: inverse of free_index */
    int changed;                /* rows that changed sides in the last evaluation or sweep */
    int8_t *side;               /* deciding bound of each row: -1 lower, 1 upper, 0 none */
    TalusVectors memory;
    double *vector[TALUS_SSN_VECTORS];
    double *friction; /* [blocks]: mu of a block under Coulomb's law; 0: constant bounds */
    /* [blocks]: mu times the estimate: the tangential bound, unless `moving` and friction[b] > 0 */
    double *tangential_bound;
} TalusSsn;

/* Assembles N + E, reserves memory and sets the bounds from gamma. Makes prisms of the blocks under Coulomb's law,
 * until talus_ssn_end. */
TalusStatus talus_ssn_begin(TalusSsn *w, TalusSolve *solve, const TalusSsnParams *params);
/* Undoes the prisms and releases the matrices; the vectors stay for the next solve. Must be called after a failure
 * too. */
TalusStatus talus_ssn_end(TalusSsn *w, TalusSolve *solve);
/* Releases the memory of a workspace that begins with a TalusSsn: `clear` of ssn and gs-ssn. */
void talus_ssn_clear(void *work);

/* With map=normal: sets the bounds and y from gamma, then gamma to y clamped to the bounds; counts one product. With
 * map=minmax: does nothing. To be called before the first step and after each change of gamma by the caller. */
void talus_ssn_set_iterate(TalusSsn *w, TalusSolve *solve);
/* Sets the bounds from gamma (map=normal: then gamma from y), computes the gradient G and, in *at, the natural residual
 * of gamma with these bounds. Takes one product, which the caller counts. */
void talus_ssn_measure(TalusSsn *w, TalusSolve *solve, TalusForwardSums *at);
/* Computes sides and map at gamma for the next step, after talus_ssn_measure and, once, talus_ssn_set_centre. Returns
 * the number of rows that changed sides. */
int talus_ssn_update_sides(TalusSsn *w, const TalusSolve *solve);
/* Makes gamma the centre of the regularisation, then does the same as talus_ssn_update_sides. */
int talus_ssn_set_centre(TalusSsn *w, const TalusSolve *solve);

/* How a Newton step is taken. */
typedef struct TalusSsnMove {
    bool search;   /* line search along the direction; else a step of `length` */
    bool reuse;    /* reuse the factor of the last step; all sides must be the same */
    double length; /* share of the Newton step that is taken: written with `search`, else read */
} TalusSsnMove;

/* Takes one Newton step of gamma (map=normal: of y and gamma), after talus_ssn_update_sides or talus_ssn_set_centre.
 * Takes and counts one factorisation unless move->reuse. */
TalusStatus talus_ssn_step(TalusSsn *w, TalusSolve *solve, TalusSsnMove *move);

/* Runs one projected Gauss-Seidel sweep of gamma, with relaxation omega, over the rows of the matrix; blocks under
 * Coulomb's law have bounds from their current normal impulses. Updates side and changed. Returns the sum over rows of
 * (c times the change)^2. The caller counts the product. */
double talus_ssn_sweep(TalusSsn *w, TalusSolve *solve, double omega);

#endif
