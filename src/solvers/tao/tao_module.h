/* solvers/tao/tao_module.h - what libtalus and the module talus_tao.so say to each other.
 *
 * PETSc brings about a hundred libraries, MPI among them, so it is not linked: it is behind a module that is
 * loaded when a tao-* solver is first used (tao_load.c). The module (apps/plugins/tao.c) has no symbol of
 * libtalus, libtalus none of PETSc, and both know this header alone. */
#ifndef TALUS_SOLVERS_TAO_TAO_MODULE_H
#define TALUS_SOLVERS_TAO_TAO_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Goes up with every change of this header. */
enum { TALUS_TAO_VERSION = 1, TALUS_TAO_TEXT = 256 };

typedef enum TalusTaoMethod {
    TALUS_TAO_BLMVM,
    TALUS_TAO_TRON,
    TALUS_TAO_GPCG,
    TALUS_TAO_BQPIP
} TalusTaoMethod;

/* min 1/2 x'H x + b'x over lower <= x <= upper. */
typedef struct TalusTaoProblem {
    TalusTaoMethod method;
    int32_t n; /* > 0 */
    /* H, both triangles, every diagonal entry, columns rising; NULL for blmvm, which has `evaluate` alone.
     * bqpip writes to the diagonal and puts it back, unless it fails. */
    int32_t *start, *column;
    double *value;
    const double *lower, *upper; /* infinite: no bound */
    double *x;                   /* in: the starting point; out: the last iterate */
    const char *precondition;    /* PETSc's name, e.g. "jacobi"; not for blmvm */
    int inner_steps; /* conjugate gradients per iteration: at most so many steps, to this share of */
    double inner_accuracy; /*   the residual; 0 steps: PETSc's own rules */
    size_t memory_limit;   /* bytes that PETSc may hold; 0: no limit */

    void *user;
    /* Value and gradient at x. */
    double (*evaluate)(void *user, const double *x, double *gradient);
    /* After iteration `number`, 0 for the starting point: false ends the solve. The norm is that of the
     * projected gradient as TAO has it. */
    bool (*iterated)(void *user, int number, const double *x, double norm);
    /* After each product with H or a part of it within the module: false ends conjugate gradients, so that
     * the iteration comes to its end. */
    bool (*multiplied)(void *user);
} TalusTaoProblem;

typedef enum TalusTaoEnd {
    TALUS_TAO_ENDED,   /* `iterated` said so */
    TALUS_TAO_GAVE_UP, /* TAO sees no way on: `text` has its reason */
    TALUS_TAO_MEMORY,  /* no memory left, or more than the limit */
    TALUS_TAO_FAILED   /* PETSc failed: `text` says how */
} TalusTaoEnd;

typedef struct TalusTaoResult {
    TalusTaoEnd end;
    size_t bytes; /* most that PETSc held during the solve, beyond what it held before */
    char text[TALUS_TAO_TEXT];
} TalusTaoResult;

typedef struct TalusTaoModule {
    int version;
    const char *package; /* "PETSc 3.18.5" */
    /* Starts PETSc; once. False: result->text says why not. One thread at a time for both. */
    bool (*open)(TalusTaoResult *result);
    void (*solve)(const TalusTaoProblem *problem, TalusTaoResult *result);
} TalusTaoModule;

/* The module's one symbol. */
#define TALUS_TAO_SYMBOL "talus_tao_module"
typedef const TalusTaoModule *TalusTaoEntry(void);

#endif
