/* solvers/tao/tao_module.h - interface between libtalus and the module talus_tao.so.
 *
 * PETSc brings about a hundred libraries, MPI among them, so libtalus does not link it. PETSc is used through a module,
 * which is loaded when a tao-* solver is first used (tao_load.c). The module (apps/plugins/tao.c) uses no symbol of
 * libtalus, libtalus uses none of PETSc, and both share only this header. */
#ifndef TALUS_SOLVERS_TAO_TAO_MODULE_H
#define TALUS_SOLVERS_TAO_TAO_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TALUS_TAO_VERSION increases with every change of this header. TALUS_TAO_TEXT: size of the text of a result. */
enum { TALUS_TAO_VERSION = 1, TALUS_TAO_TEXT = 256 };

typedef enum TalusTaoMethod {
    TALUS_TAO_BLMVM,
    TALUS_TAO_TRON,
    TALUS_TAO_GPCG,
    TALUS_TAO_BQPIP
} TalusTaoMethod;

/* The problem to solve: min 1/2 x'H x + b'x over lower <= x <= upper. */
typedef struct TalusTaoProblem {
    TalusTaoMethod method;
    int32_t n; /* > 0 */
    /* H, both triangles, every diagonal entry, columns rising; NULL for blmvm, which uses only `evaluate`. bqpip
     * changes the diagonal and restores it, unless it fails. */
    int32_t *start, *column;
    double *value;
    const double *lower, *upper; /* an infinite value means no bound */
    double *x;                   /* in: the starting point; out: the last iterate */
    const char *precondition;    /* PETSc's name, e.g. "jacobi"; not for blmvm */
    int inner_steps; /* maximum conjugate gradient steps per iteration; 0: PETSc's own rules */
    double inner_accuracy; /* conjugate gradients end at this share of the residual */
    size_t memory_limit;   /* bytes that PETSc may hold; 0: no limit */

    void *user;
    /* Returns the value of the objective at x and writes its gradient there. */
    double (*evaluate)(void *user, const double *x, double *gradient);
    /* Called after iteration `number`, 0 for the starting point; false ends the solve. norm: norm of TAO's projected
     * gradient. */
    bool (*iterated)(void *user, int number, const double *x, double norm);
    /* Called after each product with H or a part of it within the module; false ends the conjugate gradients. */
    bool (*multiplied)(void *user);
} TalusTaoProblem;

typedef enum TalusTaoEnd {
    TALUS_TAO_ENDED,   /* `iterated` returned false */
    TALUS_TAO_GAVE_UP, /* TAO ended by itself: `text` has its reason */
    TALUS_TAO_MEMORY,  /* no memory left, or more than the limit */
    TALUS_TAO_FAILED   /* PETSc failed: `text` says how */
} TalusTaoEnd;

typedef struct TalusTaoResult {
    TalusTaoEnd end;
    size_t bytes; /* peak memory of PETSc during the solve, beyond what it held before */
    char text[TALUS_TAO_TEXT]; /* reason of a failure or of TAO's end; else empty */
} TalusTaoResult;

typedef struct TalusTaoModule {
    int version;
    const char *package; /* "PETSc 3.18.5" */
    /* Starts PETSc in the first call; later calls return the same. False on failure: result->text has the reason.
     * `open` and `solve` must not be called from two threads at once. */
    bool (*open)(TalusTaoResult *result);
    /* Solves the problem; problem->x becomes the last iterate. */
    void (*solve)(const TalusTaoProblem *problem, TalusTaoResult *result);
} TalusTaoModule;

/* Name and type of the only function that the module exports; it returns the module's table. */
#define TALUS_TAO_SYMBOL "talus_tao_module"
typedef const TalusTaoModule *TalusTaoEntry(void);

#endif
