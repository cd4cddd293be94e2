/* solvers/ipm/ipm_qp.h - primal-dual interior point method for the quadratic program of problem/qp.h.
 *
 * Unknowns are the multipliers lambda > 0 and the slacks w > 0 of the constraints, with P = G'(N + E) G, kappa = G'q
 * and
 *     P lambda + kappa - w = 0,   lambda_k w_k = mu -> 0.
 * Velocities always follow from lambda, v = v_f + M^-1 A'lambda with A = G'D'. The first rows of petra-2009's system
 * (18) therefore hold exactly, and one equation remains to be reduced by the steps.
 *
 * A multiplier of a contact and its slack are a pair (x, w), x = lambda. A row of a joint with bounds has two pairs,
 * its distances x = bound + lambda and x = bound - lambda from both bounds; a row of a free joint, an equation, has
 * none. With s = 1 or -1 the sign of lambda in x, the conditions are
 *     (P lambda + kappa)_k = sum of s w over the pairs of row k,   x w = mu -> 0   for every pair. */
#ifndef TALUS_SOLVERS_IPM_IPM_QP_H
#define TALUS_SOLVERS_IPM_IPM_QP_H

#include "solvers/driver/best.h"
#include "solvers/ipm/ipm_system.h"

/* ---- the iteration ---- */

/* Indices of TalusIpm.vector, with an entry per multiplier. LAMBDA: iterate; RHO = sum of s w - (P lambda + kappa); DL:
 * step; T: sum of w / x; RIGHT, REST: right-hand side and residual of a linear system; MORE_L: trial step. */
enum {
    TALUS_IPM_LAMBDA,
    TALUS_IPM_RHO,
    TALUS_IPM_DL,
    TALUS_IPM_RIGHT,
    TALUS_IPM_REST,
    TALUS_IPM_T,
    TALUS_IPM_MORE_L,
    TALUS_IPM_VECTORS
};

/* Indices of TalusIpm.pair_vector, with an entry per pair. X, W: iterate; DX, DW: step; TARGET: c of ipm_qp.c; MORE_X,
 * MORE_W: trial step. */
enum {
    TALUS_IPM_X,
    TALUS_IPM_W,
    TALUS_IPM_DX,
    TALUS_IPM_DW,
    TALUS_IPM_TARGET,
    TALUS_IPM_MORE_X,
    TALUS_IPM_MORE_W,
    TALUS_IPM_PAIR_VECTORS
};

/* A pair: its multiplier, and the sign of that in x. */
typedef struct TalusIpmPair {
    int32_t row;
    int32_t sign; /* 1 or -1 */
} TalusIpmPair;

typedef struct TalusIpm {
    TalusQp qp;
    TalusIpmSystem system;
    int pairs;
    TalusIpmPair *pair;                          /* [pairs], by rising rows */
    double *memory, *vector[TALUS_IPM_VECTORS];  /* vectors [multipliers], in `memory` */
    double *pair_vector[TALUS_IPM_PAIR_VECTORS]; /* vectors [pairs], in `memory` */
    double *impulse, *velocity; /* [rows blocks]: G x and (N + E) G x, x lambda or a step */
    int correctors;             /* maximum number of Gondzio's correctors per step */

    /* u = (N + E) gamma, without offsets; pointed.c: N gamma. `context` is its first argument. */
    void (*product)(void *context, const double *gamma, double *u);
    void *context;
    int products; /* calls of `product`, until the caller resets the count */

    double mu;            /* x'w / pairs; 0 without pairs */
    double infeasibility; /* largest |RHO|, m/s */
    double speed;         /* largest |kappa|, m/s */
    double length;        /* length of the last step */
} TalusIpm;

/* Reserves memory for the filled QP and computes ipm->speed. */
TalusStatus talus_ipm_reserve(TalusIpm *ipm);
/* Sets a starting point that depends only on the data; the system must be prepared. Factorises once, or more often if
 * pivots are rejected (talus_ipm_system_factor). Leaves in `velocity` another product than that of the point. */
TalusStatus talus_ipm_start(TalusIpm *ipm);
/* Sets a starting point near these multipliers, moved so that all x and w are positive. Leaves in `velocity`
 * another product than that of the point. */
TalusStatus talus_ipm_start_near(TalusIpm *ipm, const double *lambda);
/* Computes mu, RHO and infeasibility at the iterate, whose (N + E) gamma must be in `velocity`. */
void talus_ipm_evaluate(TalusIpm *ipm);
/* Moves lambda, x and w by one predictor-corrector step; talus_ipm_evaluate must have been called at the iterate.
 * TALUS_ERR_NUMERIC: the factorisation failed; the iterate is unchanged. Overwrites `impulse` and `velocity`. */
TalusStatus talus_ipm_step(TalusIpm *ipm);
/* Sets x, [multipliers], to (P + T)^-1 RIGHT, with the factor of P + T that talus_ipm_system_factor computed last from
 * the vector T; refined while the residual halves. Overwrites REST, `impulse` and `velocity`. */
TalusStatus talus_ipm_solve_refined(TalusIpm *ipm, double *x);
/* Releases all memory and zeroes *ipm. */
void talus_ipm_release(TalusIpm *ipm);

/* ---- the solvers ---- */

typedef struct TalusIpmParams {
    int linear;     /* 0: auto; else kinds[linear - 1] of the solver */
    int correctors; /* 0: auto; else the number of correctors plus one */
    int stop;       /* 0: the driver's residual; 1: OOQP's rule */
    bool warm;      /* starts near the given impulses */
} TalusIpmParams;

typedef struct TalusIpmWork {
    TalusIpm ipm;
    TalusBest best;
    double datum; /* OOQP's data scale if its rule ends the solve; else 0 */
    bool ready;   /* the iterate can be continued if the driver resumes the solve */
} TalusIpmWork;

/* Names of the values of the parameters correctors and stop. */
extern const char *const talus_ipm_correctors[], *const talus_ipm_stops[];

#define TALUS_IPM_PARAMS(linear_choices)                                                           \
    TALUS_CHOICE(TalusIpmParams, linear, 0, linear_choices,                                        \
                 "direct method; auto: the first that this build has"),                            \
        TALUS_CHOICE(                                                                              \
            TalusIpmParams, correctors, 0, talus_ipm_correctors,                                   \
            "centrality correctors per iteration, at most; auto: by the cost of a factorisation"), \
        TALUS_CHOICE(                                                                              \
            TalusIpmParams, stop, 0, talus_ipm_stops,                                              \
            "ends by the residual asked for, or by OOQP's rule: a mean product of 1e-8 J"),        \
        TALUS_FLAG(TalusIpmParams, warm, 0, "starts near the impulses given")

/* Differences between ipm-chol and ipm-aug: form of the linear systems; direct solvers in order of preference. */
typedef struct TalusIpmVariant {
    const TalusIpmForm *form;
    TalusDirectKind kinds[2];
} TalusIpmVariant;

/* `solve` and `clear` of ipm-chol and ipm-aug. */
TalusStatus talus_ipm_solve(TalusSolve *solve);
void talus_ipm_clear(void *work);

/* Fields of TalusSolverType that ipm-chol and ipm-aug share; the arguments are the fields of a TalusIpmVariant. */
#define TALUS_IPM_FIELDS(...)                                                              \
    .reference = "petra-2009; Mehrotra 1992; Gondzio 1996; Gertz & Wright 2003",           \
    .takes = TALUS_TAKES_NONNEG | TALUS_TAKES(CCP, POLYGON) | TALUS_TAKES(CCP, SQUARE) |   \
             TALUS_TAKES_JOINT,                                                            \
    .work_size = sizeof(TalusIpmWork), .solve = talus_ipm_solve, .clear = talus_ipm_clear, \
    .variant = &(const TalusIpmVariant){__VA_ARGS__}, .on_host = "the factorisation"

#endif
