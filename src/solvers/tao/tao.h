/* solvers/tao/tao.h - the solvers tao-*, which run optimisers of PETSc's TAO from a module (tao_module.h). */
#ifndef TALUS_SOLVERS_TAO_TAO_H
#define TALUS_SOLVERS_TAO_TAO_H

#include "problem/qp.h"
#include "solvers/driver/best.h"
#include "solvers/driver/solver.h"
#include "solvers/tao/tao_module.h"

/* Sets and laws that all tao-* solvers take: polygonal cones, solved as the dual QP of problem/qp.h. */
#define TALUS_TAO_TAKES (TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, POLYGON) | TALUS_TAKES(CCP, SQUARE))

/* When tao-blmvm and tao-tron stop. */
typedef enum TalusTaoStop {
    TALUS_TAO_STOP_OURS, /* on the natural residual, like all solvers */
    TALUS_TAO_STOP_PAPER /* on the norm of the projected gradient, m/s */
} TalusTaoStop;

/* Parameters of all kinds; a solver's table has those it uses. */
typedef struct TalusTaoParams {
    int stop;         /* TalusTaoStop */
    int precondition; /* index into the solver's names */
    int steps;        /* conjugate gradient steps per iteration; 0: PETSc's own rules */
} TalusTaoParams;

/* One solver of the table. */
typedef struct TalusTaoKind {
    TalusTaoMethod method;
    double paper;                     /* gradient norm of petra-2009's rule; 0: none */
    const char *const *preconditions; /* PETSc's names; NULL: none */
    int patience; /* iterations without improvement before a restart; 0: TAO detects it */
} TalusTaoKind;

/* Vectors of the unknowns x: multipliers of a QP of cones, or the impulses themselves if these are in boxes. */
enum {
    TALUS_TAO_ORIGIN,   /* x0 */
    TALUS_TAO_SLOPE,    /* scaled gradient at x0 */
    TALUS_TAO_LOW,      /* lower bounds of x */
    TALUS_TAO_HIGH,     /* upper bounds of x */
    TALUS_TAO_X,        /* x of the last evaluated point */
    TALUS_TAO_GRADIENT, /* its scaled gradient */
    TALUS_TAO_POINT,    /* its z */
    TALUS_TAO_LAST,     /* z of the last iterate */
    TALUS_TAO_Z,        /* z = (x - x0) / unit: the unknown of TAO */
    TALUS_TAO_Z_LOW,
    TALUS_TAO_Z_HIGH,
    TALUS_TAO_VECTORS
};

typedef struct TalusTaoWork {
    TalusQp qp;
    TalusSparse matrix; /* P times `stiffness`; not for blmvm */
    bool cones, ready;  /* unknowns are multipliers; the set-up can be reused */
    int n;              /* unknowns */
    double stiffness, speed,
        unit; /* powers of two that make matrix, gradient and z numbers near 1 */
    double *memory, *vector[TALUS_TAO_VECTORS];
    TalusVectors impulses;
    double *gamma, *velocity; /* of the last evaluated point: impulses, (N + E) gamma + q */
    TalusBest best;
} TalusTaoWork;

/* The variant of the solver is its TalusTaoKind. */
TalusStatus talus_tao_solve(TalusSolve *solve);
void talus_tao_clear(void *work);

/* Fields of TalusSolverType that all these solvers share. */
#define TALUS_TAO_FIELDS(kind)                                                       \
    .work_size = sizeof(TalusTaoWork), .solve = talus_tao_solve, .variant = &(kind), \
    .clear = talus_tao_clear, .on_host = "PETSc", .missing = talus_tao_missing,      \
    .load = talus_tao_load

/* tao_load.c. Returns NULL if the module is available, else what is missing. Does not load it. */
const char *talus_tao_missing(void);
/* Returns the module, loaded and started. PETSc is used by one thread at a time: every success must be followed by
 * talus_tao_release. */
TalusStatus talus_tao_acquire(const TalusTaoModule **out);
void talus_tao_release(void);
/* Acquires and releases, so that loading is done before a solve. */
TalusStatus talus_tao_load(void);

#endif
