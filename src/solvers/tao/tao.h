/* solvers/tao/tao.h - PETSc's TAO behind the solvers tao-*. */
#ifndef TALUS_SOLVERS_TAO_TAO_H
#define TALUS_SOLVERS_TAO_TAO_H

#include "problem/qp.h"
#include "solvers/driver/best.h"
#include "solvers/driver/solver.h"
#include "solvers/tao/tao_module.h"

/* Problems of cones as their dual QP. */
#define TALUS_TAO_TAKES (TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, POLYGON) | TALUS_TAKES(CCP, SQUARE))

/* When tao-blmvm and tao-tron stop. */
typedef enum TalusTaoStop {
    TALUS_TAO_STOP_OURS, /* as all solvers do */
    TALUS_TAO_STOP_PAPER /* on the norm of the projected gradient, m/s */
} TalusTaoStop;

/* All of them; a solver's table shows what it has use for. */
typedef struct TalusTaoParams {
    int stop;         /* TalusTaoStop */
    int precondition; /* index into the solver's names */
    int steps;        /* of conjugate gradients per iteration; 0: PETSc's own rules */
} TalusTaoParams;

/* One solver of the table. */
typedef struct TalusTaoKind {
    TalusTaoMethod method;
    double paper;                     /* gradient norm of petra-2009's rule; 0: it has none */
    const char *const *preconditions; /* PETSc's names; NULL: it has none */
    int patience; /* iterations without a better one after which to start anew; 0: TAO sees itself */
} TalusTaoKind;

/* Everything is in unknowns x: multipliers of a QP of cones, or the impulses themselves where these are
 * in boxes. */
enum {
    TALUS_TAO_ORIGIN,   /* x0 */
    TALUS_TAO_SLOPE,    /* gradient there, scaled */
    TALUS_TAO_LOW,      /* bounds of x */
    TALUS_TAO_HIGH,     /* */
    TALUS_TAO_X,        /* x of the point evaluated last */
    TALUS_TAO_GRADIENT, /*   its gradient, scaled, */
    TALUS_TAO_POINT,    /*   and z */
    TALUS_TAO_LAST,     /* z of the last iterate */
    TALUS_TAO_Z,        /* z = (x - x0) / unit: the unknown of TAO */
    TALUS_TAO_Z_LOW,
    TALUS_TAO_Z_HIGH,
    TALUS_TAO_VECTORS
};

typedef struct TalusTaoWork {
    TalusQp qp;
    TalusSparse matrix; /* of the unknowns, times `stiffness` */
    bool cones, ready;  /* unknowns are multipliers; this is filled */
    int n;              /* unknowns */
    double stiffness, speed,
        unit; /* powers of two that make matrix, gradient and z numbers near 1 */
    double *memory, *vector[TALUS_TAO_VECTORS];
    double *gamma, *velocity; /* of the point evaluated last: impulses, (N + E) gamma + q */
    TalusBest best;
} TalusTaoWork;

TalusStatus talus_tao_solve(TalusSolve *solve, const TalusTaoKind *kind);
void talus_tao_clear(void *work, const TalusBackend *backend);

/* tao_load.c. NULL where the module is at hand, else what is missing. It is looked for, not loaded. */
const char *talus_tao_missing(void);
/* The module, loaded and started. PETSc is used by one thread at a time: every success is followed by
 * talus_tao_release. */
TalusStatus talus_tao_acquire(const TalusTaoModule **out);
void talus_tao_release(void);
/* Both: what it takes to load is over before a solve. */
TalusStatus talus_tao_load(void);

#endif
