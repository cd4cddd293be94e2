/* backend/backend.h - the contract between solvers and the hardware.
 *
 * A solver is written once against these operations and runs on every backend that has them. Vectors have op->rows *
 * op->blocks entries. Vectors and the operator's arrays live in the backend's memory; only put and get copy between
 * them and the host. Operations that need a sum over the whole problem return it; there an iteration synchronises.
 * Each group of operations is a table. Runs of many iterations are optional.
 *
 * "Scaled" operations work in the metric of a solver: x = gamma / s with s = (s_n, s_t) per block, so the gradient
 * becomes s g and the cone's friction mu s_n / s_t (TalusMetricBlock). */
#ifndef TALUS_BACKEND_BACKEND_H
#define TALUS_BACKEND_BACKEND_H

#include "backend/operator.h"
#include "linalg/machine.h"
#include "sets/one_contact.h"

/* Maximum number of vectors in one call of dots or combine. */
enum { TALUS_VECTORS = 64 };

/* How a Gauss-Seidel sweep visits the blocks. */
typedef enum TalusOrder {
    TALUS_ORDER_FORWARD,   /* in the order of the problem, one thread */
    TALUS_ORDER_SYMMETRIC, /* forward, then backward */
    TALUS_ORDER_RANDOM,    /* a new permutation each sweep, from a seed */
    TALUS_ORDER_COLOURED,  /* colour by colour, threads and vector units within a colour */
    TALUS_ORDER_CHAOTIC    /* all at once, each with whatever velocities it reads: not repeatable */
} TalusOrder;

/* Which diagonal a one-block step divides by. */
typedef enum TalusMetric {
    TALUS_METRIC_TRACE,      /* one number per block, trace/3 (negrut-2009) */
    TALUS_METRIC_ANISOTROPIC /* normal and tangential entries apart */
} TalusMetric;

/* Sums of one accelerated step, in the scaled metric except for the residual. */
typedef struct TalusStepSums {
    double restart;   /* (y - x_next)'(x_next - x): restart if positive */
    double dx2, dg2;  /* |x - x_prev|^2 and |g - g_prev|^2, for the step-length test */
    double x2;        /* |x|^2, to tell a difference from rounding */
    double residual2; /* sum over blocks of the squared natural residual of x, (m/s)^2 */
    double residual_max;
} TalusStepSums;

/* A solver's metric of one block: s_n, s_t, nu = mu s_n / s_t (friction in that metric) and 1 / (1 + nu^2), which
 * every projection onto the scaled cone needs. */
typedef double TalusMetricBlock[4];

/* Workspace of the accelerated method: vectors in the scaled metric. With TALUS_CAP_FINDS_METRIC, run.accelerate also
 * accepts metric NULL on matrix-free problems without varied blocks: x is then gamma, and the backend computes the
 * metric from `kind`. */
typedef struct TalusAccelerated {
    double *x, *x_prev, *g_prev;
    const TalusMetricBlock *metric;
    TalusMetric kind;  /* which metric to use; for run.accelerate */
    double beta, step; /* momentum and 1/L */
    bool want_residual;
    /* Coulomb blocks follow their law: the step from y and the residual use De Saxce's shift at x, not the shift
     * stored in the offsets. */
    bool exact;
    /* Set by the backend: the scratch holds the wrenches of x. Clear it after x is set. */
    bool warm;
} TalusAccelerated;

/* Sums of one forward-backward step at x, in the scaled metric except for the residual. */
typedef struct TalusForward {
    double r2, rg;                  /* |x - t|^2 and (x - t)'g */
    double residual2, residual_max; /* natural residual of x as in TalusStepSums */
} TalusForward;

/* The face of x: a block is active when it is on the boundary of its set (gamma_n = 0; for a cone also the mantle),
 * else free. With x~ = (x - P(x - step g)) / step, the reduced gradient is x~ and the free gradient g on free blocks,
 * the chopped gradient is x~ on active blocks; elsewhere they are 0. */
typedef struct TalusFace {
    double free2;                   /* |free gradient|^2 */
    double reduced_g, chopped_g;    /* reduced'g and chopped'g; per block at least the square */
    double chopped2;                /* |chopped gradient|^2 */
    double residual2, residual_max; /* natural residual of x */
    int active;                     /* blocks on the boundary of their sets */
    int unbound;                    /* active blocks with a nonzero chopped gradient */
} TalusFace;

/* Maximum number of pairs of a quasi-Newton method. */
enum { TALUS_PAIRS = 20 };

/* Workspace of a quasi-Newton method on r = x - P(x - step g), in the scaled metric. A pair holds s and y, multiplied
 * by `unit`, in the memory of one vector; the backend chooses the layout. Pairs are ordered oldest first; a step
 * writes its own pair into pair[count]. */
typedef struct TalusQuasi {
    const TalusMetricBlock *metric;
    double step, unit; /* unit: a power of two near 1 / |r| */
    bool halve;        /* repeat the last step with half its d, whose product is known */
    double *x, *g, *r; /* iterate, gradient, residual */
    double *d;         /* direction */
    double *x_next, *g_next, *r_next;       /* results of a step */
    double *smooth_x, *smooth_g, *smooth_r; /* the same for a smoothed iterate */
    double *pair[TALUS_PAIRS + 1];
    int count;
} TalusQuasi;

typedef struct TalusQuasiSums {
    double r2, rg;         /* |r_next|^2 and r_next'g_next */
    double gd, dw, dd, ww; /* g'd, d'w, |d|^2 and |w|^2 with w = S (N + E) S d */
    double smooth;         /* smooth_r'r_next */
    double sy, yy;         /* s'y and |y|^2 of the new pair */
    double sr[TALUS_PAIRS + 1], yr[TALUS_PAIRS + 1]; /* s'r_next and y'r_next of all pairs */
} TalusQuasiSums;

typedef struct TalusSmoothSums {
    double x2, r2;                  /* |smooth_x|^2 and |smooth_r|^2 */
    double residual2, residual_max; /* natural residual of smooth_x */
} TalusSmoothSums;

/* The optimised gradient method for the gradient norm, in the scaled metric. */
typedef struct TalusOgm {
    const TalusMetricBlock *metric;
    const double *x, *g; /* iterate and its gradient */
    double *y, *x_next;
    double step, along, over;
    bool want_residual;
} TalusOgm;

/* Sums over blocks of gamma = s x. d is the block's scale (operator.h). */
typedef struct TalusSizes {
    double size;    /* d^2 |gamma|^2 */
    double outside; /* d^2 |gamma - P(gamma)|^2 */
    double over;    /* |gamma|^2 / d */
} TalusSizes;

/* Limits and results of a run of many iterations. */
typedef struct TalusRun {
    int iterations; /* maximum number, > 0 */
    /* The residual is measured every `check` iterations of the solve, and in the last iteration of the run. */
    int check;
    int since;       /* iterations of the solve before this run */
    double stop_rms; /* the run ends once the rms is at or below this; 0: never */
    double stop_max; /* the run ends once the maximum is at or below this; 0: never */
    bool stepwise;   /* forbids the single kernel for small problems, to test and measure */
    int done;        /* out: iterations done */
    double residual2, residual_max; /* out: residual of the last measured iterate */
    double first2;                  /* out: squared residual of the first */
} TalusRun;

/* Scalars of the accelerated method, from run to run (rules: solvers/first_order/apgd.c; code: momentum.h). */
typedef struct TalusMomentum {
    double norm;      /* L; raised when gradients show a larger curvature */
    double margin;    /* factor on a raised estimate of L */
    double theta;     /* Nesterov's weight, 1 at the start; beta is in TalusAccelerated */
    double max_theta; /* upper bound of theta; 0: none */
    bool restart;     /* drop the momentum when it points uphill */
} TalusMomentum;

/* Workspace of MPRGP: conjugate gradients on faces with proportioning (rules: solvers/face/mprgp.c), in the metric. */
typedef struct TalusProportioning {
    const TalusMetricBlock *metric;
    double *x, *g;         /* iterate, inside the set, and its gradient */
    double *p, *np;        /* direction and S (N + E) S p */
    double *phi, *w;       /* work vectors */
    double gamma, step;    /* parameters of mprgp with these names */
    bool half_step;        /* the same */
    double enough;         /* ends once |projected gradient|^2 is at or below this; < 0: never */
    double norm, pnp;      /* norm of the operator; p'N p, where 0 starts with the free gradient */
    int active, unchecked; /* as in TalusFaceWork (solvers/face/face.h) */
    bool begun;            /* x has been measured, so that the first iteration is a step */
    int products;          /* out: products of this run */
    bool reached;          /* out: the limit `enough` was reached */
} TalusProportioning;

/* Sums over blocks of the natural residual (problem.h). */
typedef struct TalusResidualSums {
    double residual2, residual_max;
} TalusResidualSums;

/* Sums over blocks that measure gamma by the friction laws. */
typedef struct TalusLawSums {
    double residual2, residual_max; /* natural residual by each block's own law (problem.h) */
    /* (sigma - s)^2 over Coulomb blocks; sigma: De Saxce's shift, s: the one in use */
    double shift2;
    double estimate2; /* (d (gamma_n - estimate))^2 over prisms, d the block's scale */
} TalusLawSums;

typedef struct TalusSweep TalusSweep;

typedef struct TalusSweepOptions {
    TalusOrder order;
    TalusMetric metric;   /* metric of a projected step */
    TalusOneSolver local; /* solver of one block's problem; project: a projected step */
    double omega, rho;    /* over-relaxation of the step; averaging with the old value */
    uint64_t seed;        /* for the random order; advanced by each sweep */
} TalusSweepOptions;

/* ---- operations by group ---- */

/* Vectors. `reserve` gives memory for n entries with undefined contents; it may outlive operator and context. */
typedef struct TalusVectorOps {
    TalusStatus (*reserve)(const TalusOperator *op, double **vector, size_t *capacity, size_t n,
                           const char *what);
    void (*release)(double *vector);
    void (*put)(const TalusOperator *op, double *vector, const double *host, size_t n);
    void (*get)(const TalusOperator *op, double *host, const double *vector, size_t n);
    void (*copy)(const TalusOperator *op, double *to, const double *from, size_t n);
    void (*zero)(const TalusOperator *op, double *vector, size_t n);
    double (*dot)(const TalusOperator *op, const double *x, const double *y);
    /* sums[k] = x[k]'y for at most TALUS_VECTORS vectors. */
    void (*dots)(const TalusOperator *op, int count, const double *const *x, const double *y,
                 double *sums);
    /* y = a x + b y */
    void (*axpby)(const TalusOperator *op, double a, const double *x, double b, double *y);
    /* out = sum of a[k] x[k] over at most TALUS_VECTORS vectors. `out` may be one of the x. */
    void (*combine)(const TalusOperator *op, int count, const double *const *x, const double *a,
                    double *out);
} TalusVectorOps;

/* The operator and measurements with it. metric NULL: s = 1, x is gamma. */
typedef struct TalusOperatorOps {
    /* Copies the operator's arrays from the host into `op`, which reuses its memory from call to call. Before the
     * first call `op` is zero except for its context. Only for backends without TALUS_CAP_HOST_MEMORY. */
    TalusStatus (*mirror)(const TalusOperator *host, TalusOperator *op);
    void (*mirror_clear)(TalusOperator *op);
    /* Reserves the operator's scratch (wrenches, velocities, partial sums). */
    TalusStatus (*scratch)(const TalusOperator *op);
    /* velocity = v_f + M^-1 D gamma, records as op->body; `free_motion` false omits v_f. */
    void (*bodies)(const TalusOperator *op, const double *gamma, bool free_motion,
                   double (*velocity)[8]);
    /* out = N gamma, plus E gamma if `compliant`, plus q if `offset`. gamma NULL means zero. */
    void (*product)(const TalusOperator *op, const double *gamma, bool compliant, bool offset,
                    double *out);
    /* out = S (N + E) S x, plus S q if `offset`. One product. */
    void (*gradient)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                     bool offset, double *out);
    /* Natural residual (problem.h) of gamma. One product. */
    void (*residual)(const TalusOperator *op, const double *gamma, TalusResidualSums *sums);
    /* Sum of squares and maximum over blocks of |N| |gamma| + |q|, by each block's own law: the size of the terms of
     * the gradient, to which its rounding is relative. About one product. */
    void (*terms)(const TalusOperator *op, const double *gamma, double *sum2, double *max);
    /* Writes the metric s = 1 / sqrt of the block's mean diagonal (trace), or of its normal and tangential entries
     * apart (anisotropic), into out[op->blocks]. */
    void (*metric)(const TalusOperator *op, TalusMetric kind, TalusMetricBlock *out);
    /* x = gamma / s if `into`, else gamma = s x; in place. */
    void (*scale)(const TalusOperator *op, const TalusMetricBlock *metric, bool into, double *x);
    void (*sizes)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                  TalusSizes *out);
} TalusOperatorOps;

/* Sets, block by block, for gradient, Krylov and quasi-Newton methods. metric NULL: s = 1, x is gamma. */
typedef struct TalusBlockOps {
    /* x = P(x). */
    void (*project)(const TalusOperator *op, const TalusMetricBlock *metric, double *x);
    /* t = P(x - step g), r = x - t; either may be NULL, t may be x. */
    void (*forward_backward)(const TalusOperator *op, const TalusMetricBlock *metric,
                             const double *x, const double *g, double step, double *t, double *r,
                             TalusForward *sums);
    /* Computes the gradients of the face of x; each vector may be NULL. */
    void (*split)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                  const double *g, double step, double *free_part, double *reduced, double *chopped,
                  TalusFace *face);
    /* y = 0 on the active blocks of x. */
    void (*mask)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                 double *y);
    /* out = projection of d onto the tangent cone of the set at x; out may be d. */
    void (*tangent)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                    const double *d, double *out);
    /* Returns the largest a >= 0 with x - a p in the set; infinite if there is no bound. */
    double (*feasible_step)(const TalusOperator *op, const TalusMetricBlock *metric,
                            const double *x, const double *p);
    /* Counts the blocks active in y, and the blocks active in exactly one of x and y. */
    void (*compare)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                    const double *y, int *active, int *changed);
    /* Projects x onto the recession cone of every block's own law (sets/recession.h); `relaxed` replaces Coulomb's
     * law by ccp. Blocks with |x| <= least become 0. */
    void (*recede)(const TalusOperator *op, bool relaxed, double least, double *x);
    /* Projects y onto the span of the recession cones of the blocks where x is not 0. */
    void (*recede_span)(const TalusOperator *op, bool relaxed, const double *x, double *y);
} TalusBlockOps;

/* Laws beyond ccp. `residual` and the solvers use cones with the current offsets, and prisms with bounds from
 * `estimate`; here u = N gamma + q is without shifts. */
typedef struct TalusLawOps {
    /* Measures gamma by the laws. One product. */
    void (*measure)(const TalusOperator *op, const double *gamma, TalusLawSums *sums);
    /* As `measure`, and moves the shift s of every Coulomb block, in bias or offset, by `share` of the way to sigma:
     * mu times the section's support function at -u_t, plus the terms of spinning and rolling. */
    void (*shift)(const TalusOperator *op, const double *gamma, double share, TalusLawSums *sums);
    /* Resets all shifts to 0. */
    void (*unshift)(const TalusOperator *op);
    /* Moves the estimate of every prism by `share` of the way to gamma_n = s_n x_n. No product. */
    void (*estimate)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                     double share);
} TalusLawOps;

/* Gauss-Seidel. */
typedef struct TalusSweepOps {
    /* Makes a plan with a copy of gamma. Fails if the backend does not support the order. */
    TalusStatus (*begin)(const TalusOperator *op, const TalusSweepOptions *options,
                         const double *gamma, TalusSweep **sweep);
    /* Does `sweeps` >= 1 sweeps. Returns the sum over blocks of (d |gamma_new - gamma_old|)^2, the squared velocity
     * change of the last sweep. */
    double (*run)(TalusSweep *sweep, int sweeps);
    /* Writes the impulses into gamma. */
    void (*end)(TalusSweep *sweep, double *gamma);
    void (*destroy)(TalusSweep *sweep);
} TalusSweepOps;

/* Fused steps of single methods. */
typedef struct TalusStepOps {
    /* Jacobi: gamma = gamma + lambda (P(gamma - omega g / d) - gamma), d the block's scale (operator.h). Returns the
     * residual of gamma before the step. One product. */
    void (*relax)(const TalusOperator *op, double omega, double lambda, double *gamma, double *sum2,
                  double *max);
    /* One projected gradient step with momentum: evaluates g at x, then
     *     y = x + beta (x - x_prev),  x_next = P(y - step g(y)),
     * with g(y) by linear combination, so one product per iteration. On return x is x_next, x_prev the old x, g_prev
     * the gradient at the old x. */
    void (*accelerate)(const TalusOperator *op, TalusAccelerated *state, TalusStepSums *sums);
    /* d = weight[0] r + sum of weight[1 + 2 i] s_i + weight[2 + 2 i] y_i over the pairs. */
    void (*quasi_direction)(const TalusOperator *op, const TalusQuasi *q, const double *weight);
    /* x_next = x + d with its gradient and residual, and the pair of this step. Call directly after quasi_direction,
     * whose wrenches it uses. One product, or none with q->halve. */
    void (*quasi_step)(const TalusOperator *op, const TalusQuasi *q, TalusQuasiSums *sums);
    /* smooth_x += eta (x - smooth_x), the same for its gradient, and its residual; eta 1 copies x. */
    void (*quasi_smooth)(const TalusOperator *op, const TalusQuasi *q, double eta,
                         TalusSmoothSums *sums);
    /* t = P(x - step g), x_next = t + along (t - y) + over (t - x), y = t; and the residual of x if wanted. */
    void (*ogm)(const TalusOperator *op, const TalusOgm *o, double *residual2,
                double *residual_max);
} TalusStepOps;

/* Elimination of free joints from a matrix-free operator (problem/eliminate.h). */
typedef struct TalusJointOps {
    /* Writes the rows of op's free joints (backend/arms.h) to host memory; row has a capacity of 3 op->joints. */
    TalusStatus (*rows)(const TalusOperator *op, TalusJointRow *row, int *count);
    /* Completes `op`, a copy of `whole` without its joints: contact lists of bodies and diagonals, in memory that op
     * already has, and `kinds`. op->elimination is already factored and inverted. */
    TalusStatus (*take_out)(const TalusOperator *whole, TalusOperator *op);
    /* Computes gamma of whole's joints from gamma of op; `offset` false: of a direction. Uses the scratch. */
    void (*recover)(const TalusOperator *whole, const TalusOperator *op, bool offset,
                    double *gamma);
} TalusJointOps;

/* Many iterations in one call, for matrix-free problems with at most 3 rows and no varied blocks. Optional: where an
 * entry is NULL, and for other problems, run.h and solvers/face/mprgp.c take single steps. */
typedef struct TalusRunOps {
    /* Repeats step.accelerate with the rules of momentum.h. A backend tests the step length at least whenever it
     * measures the residual. On return x_prev is the last measured iterate. With `since` > 0 a run continues the
     * previous run; vectors and operator must be as that run left them. */
    TalusStatus (*accelerate)(const TalusOperator *op, TalusAccelerated *state,
                              TalusMomentum *momentum, TalusRun *run);
    /* Repeats step.relax in the same way. On return gamma is one step beyond the last measured iterate. */
    TalusStatus (*relax)(const TalusOperator *op, double omega, double lambda, double *gamma,
                         TalusRun *run);
    /* Iterations of mprgp, each measured; only without eliminated joints. */
    TalusStatus (*proportion)(const TalusOperator *op, TalusProportioning *state, TalusRun *run);
} TalusRunOps;

/* Bits of TalusBackend.capabilities. */
enum {
    /* Vectors and operators are in host memory, where any code may read and write them; else only put and get reach
     * them. */
    TALUS_CAP_HOST_MEMORY = 1 << 0,
    /* The host sees every iterate at no cost; else many iterations per call are faster. */
    TALUS_CAP_SEES_ITERATES = 1 << 1,
    TALUS_CAP_FACTORISES = 1 << 2,  /* direct methods are available */
    TALUS_CAP_FINDS_METRIC = 1 << 3 /* run.accelerate accepts metric NULL */
};

typedef struct TalusBackend {
    const char *name, *summary;
    unsigned capabilities; /* TALUS_CAP_... */

    /* Succeeds if this machine can use the backend; else the message says why not. */
    TalusStatus (*open)(void);
    /* Describe the device in words; return the bytes of its memory in use. NULL with TALUS_CAP_HOST_MEMORY. */
    void (*describe)(char *text, size_t size);
    size_t (*memory)(void);

    /* Creates a context to run operations in (operator.h); NULL on backends that need none. Destroy it after the
     * operators and engines made in it. */
    TalusStatus (*context_create)(TalusContext **out);
    void (*context_destroy)(TalusContext *context);
    /* Returns the first error since the last call of operations that return nothing. */
    TalusStatus (*check)(TalusContext *context);

    TalusVectorOps vector;
    TalusOperatorOps op;
    TalusBlockOps block;
    TalusLawOps law;
    TalusSweepOps sweep;
    TalusStepOps step;
    TalusJointOps joint;
    TalusRunOps run;
} TalusBackend;

static inline bool talus_backend_can(const TalusBackend *backend, unsigned capabilities)
{
    return (backend->capabilities & capabilities) == capabilities;
}

/* Returns the backend called `name`, or NULL with the message set. */
const TalusBackend *talus_backend_find(const char *name);

/* Summaries of the cuda backends, also shown by a build without them. */
#define TALUS_CUDA_SUMMARY "NVIDIA GPU, double precision; the whole step stays there"
#define TALUS_CUDA_MIXED_SUMMARY "NVIDIA GPU, iterations in single precision, refined in double"

extern const TalusBackend talus_backend_cpu;
#ifdef TALUS_HAVE_CUDA
extern const TalusBackend talus_backend_cuda, talus_backend_cuda_mixed;
#endif

#endif
