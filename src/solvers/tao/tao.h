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

/* Parameters of all tao-* solvers; each solver's table has those that the solver uses. */
typedef struct TalusTaoParams {
    int stop;         /* TalusTaoStop */
    int precondition; /* index into `preconditions` of TalusTaoKind */
    int steps;        /* conjugate gradient steps per iteration; 0: PETSc's own rules */
} TalusTaoParams;

/* What tells the tao-* solvers apart. */
typedef struct TalusTaoKind {
    TalusTaoMethod method;
    /* gradient norm at which stop=paper ends, m/s; 0: not offered */
    double paper;
    const char *const *preconditions; /* PETSc's names of preconditioners; NULL: none */
    /* iterations without a new least residual after which TAO is restarted; 0: TAO ends by itself when it stalls */
    int patience;
} TalusTaoKind;

/* Vectors of the unknowns x: multipliers of the QP of cones, or the impulses themselves if these are in boxes
 * (tao.c). */
enum {
    TALUS_TAO_ORIGIN,   /* x0 */
    TALUS_TAO_SLOPE,    /* scaled gradient at x0 */
    TALUS_TAO_LOW,      /* lower bounds of x */
    TALUS_TAO_HIGH,     /* upper bounds of x */
    TALUS_TAO_X,        /* x of the last evaluated point */
    TALUS_TAO_GRADIENT, /* scaled gradient at the last evaluated point */
    TALUS_TAO_POINT,    /* z of the last evaluated point */
    TALUS_TAO_LAST,     /* z of the last iterate that TAO reported */
    TALUS_TAO_Z,        /* z = (x - x0) / unit: the unknown of TAO; in: start, out: result */
    TALUS_TAO_Z_LOW,    /* lower bounds of z */
    TALUS_TAO_Z_HIGH,   /* upper bounds of z */
    TALUS_TAO_VECTORS
};

typedef struct TalusTaoWork {
    TalusQp qp;
    TalusSparse matrix; /* P times `stiffness`; not for blmvm */
    bool cones;         /* the unknowns are multipliers of cones; else impulses in boxes */
    bool ready;         /* the set-up can be reused */
    int n;              /* number of unknowns */
    double stiffness;   /* factor on P: a power of two, which brings its diagonal near 1 */
    double speed;       /* factor on the gradient: a power of two, which brings it near 1 at x0 */
    double unit;        /* stiffness / speed: x = x0 + unit z */
    double *memory, *vector[TALUS_TAO_VECTORS]; /* vectors [n], in `memory` */
    TalusVectors impulses;
    double *gamma, *velocity; /* impulses of the last evaluated point, and (N + E) gamma + q */
    TalusBest best;
} TalusTaoWork;

/* Solves from gamma, in place: `solve` of the tao-* solvers, whose variant is a TalusTaoKind. */
TalusStatus talus_tao_solve(TalusSolve *solve);
/* Releases the memory of a TalusTaoWork: `clear` of the tao-* solvers. */
void talus_tao_clear(void *work);

/* Fields of TalusSolverType that are the same for all tao-* solvers. */
#define TALUS_TAO_FIELDS(kind)                                                       \
    .work_size = sizeof(TalusTaoWork), .solve = talus_tao_solve, .variant = &(kind), \
    .clear = talus_tao_clear, .on_host = "PETSc", .missing = talus_tao_missing,      \
    .load = talus_tao_load

/* tao_load.c. Returns NULL if the module is available, else a text that says what is missing. Does not load the
 * module. */
const char *talus_tao_missing(void);
/* Locks PETSc for the calling thread, since only one thread may use it at a time, and writes the module, which is
 * loaded and started on first use, to *out. A thread may lock again what it has locked. Every success must be followed
 * by talus_tao_unlock; after a failure PETSc is not locked. */
TalusStatus talus_tao_lock(const TalusTaoModule **out);
/* Lets other threads use PETSc. The module stays loaded. */
void talus_tao_unlock(void);
/* Loads and starts the module, so that a later solve need not. */
TalusStatus talus_tao_load(void);

#endif
