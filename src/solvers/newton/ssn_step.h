/* solvers/newton/ssn_step.h - one step of a generalised Newton method on bounds, preclik-2009 section 3.3; what ssn
 * and gs-ssn share.
 *
 * With bounds l <= x <= u on every row, g = (N + E) x + q, and c the row's diagonal entry (metric=diagonal), so
 * that all is in m/s, or 1 (metric=none, the paper), the problem is the root of one of
 *     map=minmax   F(x) = max(c (x - u), min(c (x - l), g))                  (Eq. 18)
 *     map=normal   G(y) = g(x) + c (y - x),   x = min(u, max(l, y))          (Eq. 21)
 * In both a row is free or a bound decides it. With constant bounds rows at bounds go there at once
 * (minmax) or stay (normal), and for the free ones remains the Schur complement
 *     (N + E)_FF d_F = -g_F - (N + E)_FA d_A.
 * More free rows than degrees of freedom make it singular, and with a wrong active set and biases it is
 * not even consistent, against what the paper says. So the map is that of a regularised problem, with
 *     g = (N + E) x + q + r diag(N + E) (x - centre),
 * whose centre is the present iterate (ssn) or moves when a problem is solved (gs-ssn: a proximal point
 * method); r is `regularise`.
 *
 * Coulomb's law on the square has bounds +-mu x_n. bounds=frozen is the paper's way out: in each iteration they
 * are set by the present normal impulses and taken for constant. bounds=moving takes the generalised
 * Jacobian as it is: rows of sliding components are dx_t -+ mu dx_n, and the matrix, which is
 * neither symmetric nor surely regular, is diag(L) (N + E) + diag(M) of linalg/fronts.h, as in prox.
 *
 * Then a step along d, halved until the squared map falls enough or `step_min` is reached: the paper's means
 * against local minima, subject to tuning as it says. */
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
#define TALUS_SSN_PARAM_ROWS(bounds_preset, regularise_preset)                                    \
    {"metric",                                                                                    \
     TALUS_PARAM_CHOICE,                                                                          \
     offsetof(TalusSsnParams, metric),                                                            \
     TALUS_SSN_DIAGONAL,                                                                          \
     0,                                                                                           \
     0,                                                                                           \
     talus_ssn_metrics,                                                                           \
     "what makes bounds and velocities comparable; the paper's method has none"},                 \
        {"map",                                                                                   \
         TALUS_PARAM_CHOICE,                                                                      \
         offsetof(TalusSsnParams, map),                                                           \
         TALUS_SSN_MINMAX,                                                                        \
         0,                                                                                       \
         0,                                                                                       \
         talus_ssn_maps,                                                                          \
         "whose root is looked for: the paper's Eq. 18, or PATH's, Eq. 21"},                      \
        {"bounds",                                                                                \
         TALUS_PARAM_CHOICE,                                                                      \
         offsetof(TalusSsnParams, bounds),                                                        \
         bounds_preset,                                                                           \
         0,                                                                                       \
         0,                                                                                       \
         talus_ssn_bounds,                                                                        \
         "Coulomb's law: bounds constant in each step, or moved with the normal impulse"},        \
        {"regularise",                                                                            \
         TALUS_PARAM_REAL,                                                                        \
         offsetof(TalusSsnParams, regularise),                                                    \
         regularise_preset,                                                                       \
         1e-14,                                                                                   \
         1.0,                                                                                     \
         NULL,                                                                                    \
         "added to each diagonal entry of the free rows, relative to it"},                        \
    {                                                                                             \
        "step_min", TALUS_PARAM_REAL, offsetof(TalusSsnParams, step_min), 1e-4, 1e-12, 1.0, NULL, \
            "no step is shorter than this share of Newton's"                                      \
    }

/* G: g; D, ND: change of x and (N + E) times it; Y, DY: of map=normal; F: the map; Q: offsets; WEIGHT: c;
 * CENTRE: of the regularisation. */
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
    double regularise;        /* begins as the parameter */
    int rows, blocks;         /* rows of a block */
    bool coulomb, moving;     /* some bounds depend on impulses; and the Jacobian knows */
    TalusSparse matrix, face; /* N + E; its free rows and columns, in arrays as large */
    TalusLdl factor;
    TalusBlockMatrix by_blocks; /* N + E once more, and its fronts: bounds=moving */
    TalusFronts fronts;
    double *left, *own;   /* its L and M */
    int32_t *place, *row; /* of each row among the free ones, or -1; and back */
    int changed;          /* rows that changed sides in the last look or sweep */
    int8_t *side;         /* of each row: the bound that decides, -1 lower, 1 upper, 0 none */
    double *slope;        /* [blocks]: of bounds that move: mu; 0: constant */
    double *reach;        /* [blocks]: of constant ones */
    double *memory, *vector[TALUS_SSN_VECTORS];
} TalusSsn;

/* Matrices and vectors for the solve. Coulomb blocks are prisms until talus_ssn_end. */
TalusStatus talus_ssn_begin(TalusSsn *w, TalusSolve *solve, const TalusSsnParams *params);
/* Also after a failure; gives the matrices back and keeps vectors. */
TalusStatus talus_ssn_end(TalusSsn *w, TalusSolve *solve);
void talus_ssn_clear(TalusSsn *w);

/* map=normal: y from gamma, which moves to what y stands for. To be called before the first step and
 * after gamma was changed from outside. */
void talus_ssn_place(TalusSsn *w, TalusSolve *solve);
/* Bounds, gradient and natural residual of gamma. Two products with talus_ssn_place, else one. */
void talus_ssn_measure(TalusSsn *w, TalusSolve *solve, TalusForward *at);
/* After talus_ssn_measure: sides and map, as the next step takes them; returns how many rows changed sides. */
int talus_ssn_look(TalusSsn *w, const TalusSolve *solve);
/* The same with gamma as the new centre of the regularisation. */
int talus_ssn_anchor(TalusSsn *w, const TalusSolve *solve);

typedef struct TalusSsnMove {
    bool search;   /* along the direction; else `length` of it is taken */
    bool again;    /* sides are those of the last step: its factor is still good */
    double length; /* in and out: share of Newton's step */
} TalusSsnMove;

/* One step of gamma, after one of these; one factorisation unless `again`. */
TalusStatus talus_ssn_step(TalusSsn *w, TalusSolve *solve, TalusSsnMove *move);

/* One projected Gauss-Seidel sweep of gamma over the rows of the matrix, bounds by the normal impulses as
 * they are; returns the sum of (c times the change)^2. */
double talus_ssn_sweep(TalusSsn *w, TalusSolve *solve, double omega);

#endif
