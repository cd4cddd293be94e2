/* backend/backend.h - the contract between solvers and the hardware.
 *
 * A solver is written once against these operations and runs on every backend that has them. Vectors
 * have op->rows * op->blocks entries and live where the backend keeps its memory, as do the operator's
 * arrays: only put and get bring them to the host and back. Operations that need a whole-problem sum
 * return it; they are the points where an iteration synchronises. Groups of operations are tables of their own:
 * vectors, operator, sets block by block, laws beyond ccp, sweeps, fused steps, joints; runs of many iterations are optional.
 *
 * "Scaled" operations work in the metric of a solver: x = gamma / s with s = (s_n, s_t) per block, so
 * the gradient becomes s g and the cone's friction mu s_n / s_t (TalusMetricBlock). */
#ifndef TALUS_BACKEND_BACKEND_H
#define TALUS_BACKEND_BACKEND_H

#include "backend/operator.h"
#include "linalg/machine.h"
#include "sets/one_contact.h"

/* Vectors that dots and combine take at once. */
enum { TALUS_VECTORS = 64 };

/* How a Gauss-Seidel sweep visits the blocks. */
typedef enum TalusOrder {
    TALUS_ORDER_FORWARD,   /* in the order of the problem, one thread */
    TALUS_ORDER_SYMMETRIC, /* forward, then backward */
    TALUS_ORDER_RANDOM,    /* a new permutation each sweep, from a seed */
    TALUS_ORDER_COLOURED,  /* colour by colour, threads and vector units within a colour */
    TALUS_ORDER_CHAOTIC /* all at once, each with the velocities it happens to see: not repeatable */
} TalusOrder;

/* Which diagonal a one-block step divides by. */
typedef enum TalusMetric {
    TALUS_METRIC_TRACE,      /* one number per block, trace/3 (negrut-2009) */
    TALUS_METRIC_ANISOTROPIC /* normal and tangential entries apart */
} TalusMetric;

/* Sums of one accelerated step, all in the scaled metric but for the residual. */
typedef struct TalusStepSums {
    double restart;   /* (y - x_next)'(x_next - x): positive asks for a restart */
    double dx2, dg2;  /* |x - x_prev|^2 and |g - g_prev|^2, for the step-length test, */
    double x2;        /*   and |x|^2, to tell what of it is rounding */
    double residual2; /* sum over blocks of the squared natural residual of x, (m/s)^2 */
    double residual_max;
} TalusStepSums;

/* A solver's metric, per block: s_n, s_t, and with nu = mu s_n / s_t the friction in that metric, nu
 * and 1 / (1 + nu^2), which every projection onto the scaled cone needs. */
typedef double TalusMetricBlock[4];

/* Workspace of the accelerated method: vectors in the scaled metric. With TALUS_CAP_FINDS_METRIC run.accelerate
 * also takes a matrix-free problem's impulses themselves, metric NULL, and finds the metric's numbers by `kind`; not
 * where blocks are varied. */
typedef struct TalusAccelerated {
    double *x, *x_prev, *g_prev;
    const TalusMetricBlock *metric;
    TalusMetric kind;  /* which metric that is; for run.accelerate */
    double beta, step; /* momentum and 1/L */
    bool want_residual;
    bool
        exact; /* Coulomb blocks follow their law: De Saxce's shift is that of x, in the step from y and
                   in the residual, not what the offsets hold */
    bool warm; /* kept by the backend: the scratch holds the wrenches of x; false after x is set */
} TalusAccelerated;

/* Sums of one forward-backward step at x, in the scaled metric but for the residual. */
typedef struct TalusForward {
    double r2, rg;                  /* |x - t|^2 and (x - t)'g */
    double residual2, residual_max; /* natural residual of x as in TalusStepSums */
} TalusForward;

/* The face of x: a block is active when it is on the boundary of its set (gamma_n = 0; for a cone
 * also the mantle), else free. With x~ = (x - P(x - step g)) / step, the reduced gradient is x~ and
 * the free gradient g on free blocks, the chopped gradient x~ on active ones. */
typedef struct TalusFace {
    double free2;                /* |free gradient|^2 */
    double reduced_g, chopped_g; /* reduced'g and chopped'g, block by block at least the square */
    double chopped2;             /* |chopped gradient|^2 */
    double residual2, residual_max; /* natural residual of x */
    int active;                     /* blocks on their boundary; */
    int unbound;                    /*   of these, with a chopped gradient that is not zero */
} TalusFace;

/* Pairs that a quasi-Newton method may keep. */
enum { TALUS_PAIRS = 20 };

/* Workspace of a quasi-Newton method on r = x - P(x - step g), in the scaled metric. A pair is a
 * vector's room that holds s and y, multiplied by `unit`, as the backend sees fit; they are oldest
 * first, and a step writes its own into pair[count]. */
typedef struct TalusQuasi {
    const TalusMetricBlock *metric;
    double step, unit; /* unit: a power of two near 1 / |r| */
    bool halve;        /* take the last step again with half its d, whose product is known */
    double *x, *g, *r; /* iterate, gradient, residual */
    double *d;         /* direction */
    double *x_next, *g_next, *r_next;       /* what a step leads to */
    double *smooth_x, *smooth_g, *smooth_r; /* the same of a smoothed iterate */
    double *pair[TALUS_PAIRS + 1];
    int count;
} TalusQuasi;

typedef struct TalusQuasiSums {
    double r2, rg;         /* |r_next|^2 and r_next'g_next */
    double gd, dw, dd, ww; /* g'd, d'w, |d|^2 and |w|^2 with w = S (N + E) S d */
    double smooth;         /* smooth_r'r_next */
    double sy, yy;         /* s'y and |y|^2 of the new pair */
    double sr[TALUS_PAIRS + 1], yr[TALUS_PAIRS + 1]; /* s'r_next, y'r_next of all pairs */
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

/* Sums over blocks of gamma = s x, d the block's scale (operator.h). */
typedef struct TalusSizes {
    double size;    /* d^2 |gamma|^2 */
    double outside; /* d^2 |gamma - P(gamma)|^2 */
    double over;    /* |gamma|^2 / d */
} TalusSizes;

/* Many iterations at once: how long, and what was reached. */
typedef struct TalusRun {
    int iterations; /* at most this many, > 0 */
    int check; /* the residual is measured every `check` iterations, counted from the first of */
    int since; /*   the solve, of which `since` were done before this run, and in the last */
    double stop_rms; /* ends the run once the rms (or, if positive, the maximum) is at or below */
    double stop_max; /*   this; 0: never */
    bool stepwise;   /* not in one kernel, however small the problem: to test and measure that */
    int done;        /* out: iterations done; */
    double residual2, residual_max; /* out: residual of the last iterate that was measured; */
    double first2;                  /* out: and of the first */
} TalusRun;

/* The accelerated method's scalars from run to run (solvers/first_order/apgd.c has the rules, momentum.h the code). */
typedef struct TalusMomentum {
    double norm;   /* L; raised where gradients show a larger curvature */
    double margin; /* factor on such a new estimate */
    double theta;  /* Nesterov's weight, 1 at the start; beta is in TalusAccelerated */
    double most;   /* theta is kept at or below this; 0: no limit */
    bool restart;  /* drop the momentum when it points uphill */
} TalusMomentum;

/* Conjugate gradients on faces, left in proportion (solvers/face/mprgp.c has the rules), in the metric. */
typedef struct TalusProportioning {
    const TalusMetricBlock *metric;
    double *x, *g;         /* iterate, which is in the set, and its gradient */
    double *p, *np;        /* direction and S (N + E) S p */
    double *phi, *w;       /* room for two vectors more */
    double gamma, step;    /* mprgp's parameters */
    bool half_step;        /*   of these names */
    double enough;         /* ends once |projected gradient|^2 is at or below; < 0: never */
    double norm, pnp;      /* of the operator, and p'N p: 0 starts with the free gradient */
    int active, unchecked; /* TalusFaceWork in solvers/face/face.h */
    bool begun;   /* x has been measured: the first iteration is a step. false: it is not */
    int products; /* out: of this run */
    bool reached; /* out: `enough` */
} TalusProportioning;

/* Sums over blocks of the natural residual (problem.h). */
typedef struct TalusResidualSums {
    double residual2, residual_max;
} TalusResidualSums;

/* Sums over blocks of what the laws say of gamma. */
typedef struct TalusLawSums {
    double residual2, residual_max; /* natural residual by each block's own law (problem.h) */
    double shift2;    /* (sigma - s)^2 over Coulomb blocks: De Saxce's shift and the one in use */
    double estimate2; /* (d (gamma_n - estimate))^2 over prisms, d the block's scale */
} TalusLawSums;

typedef struct TalusSweep TalusSweep;

typedef struct TalusSweepOptions {
    TalusOrder order;
    TalusMetric metric;   /* of a projected step */
    TalusOneSolver local; /* how a block's own problem is solved; project: by a projected step */
    double omega, rho;    /* over-relaxation of the step; averaging with the old value */
    uint64_t seed;        /* random order; advanced by each sweep */
} TalusSweepOptions;

/* ---- the contract, group by group ---- */

/* Vectors. Memory has room for n entries, contents undefined, and may outlive operator and context. */
typedef struct TalusVectorOps {
    TalusStatus (*reserve)(const TalusOperator *op, double **vector, size_t *capacity, size_t n,
                           const char *what);
    void (*release)(double *vector);
    void (*put)(const TalusOperator *op, double *vector, const double *host, size_t n);
    void (*get)(const TalusOperator *op, double *host, const double *vector, size_t n);
    void (*copy)(const TalusOperator *op, double *to, const double *from, size_t n);
    void (*zero)(const TalusOperator *op, double *vector, size_t n);
    double (*dot)(const TalusOperator *op, const double *x, const double *y);
    /* sums[k] = x[k]'y; at most TALUS_VECTORS at once. */
    void (*dots)(const TalusOperator *op, int count, const double *const *x, const double *y,
                 double *sums);
    /* y = a x + b y */
    void (*axpby)(const TalusOperator *op, double a, const double *x, double b, double *y);
    /* out = sum of a[k] x[k]; at most TALUS_VECTORS at once. `out` may be one of the x. */
    void (*combine)(const TalusOperator *op, int count, const double *const *x, const double *a,
                    double *out);
} TalusVectorOps;

/* The operator and what is measured with it. metric NULL: s = 1, x is gamma. */
typedef struct TalusOperatorOps {
    /* The operator's arrays copied from the host's into `op`, which keeps its memory from call to call
     * and starts as zeros but for its context. Without TALUS_CAP_HOST_MEMORY alone. */
    TalusStatus (*mirror)(const TalusOperator *host, TalusOperator *op);
    void (*mirror_clear)(TalusOperator *op);
    /* Room for the operator's scratch (wrenches, velocities, partial sums). */
    TalusStatus (*scratch)(const TalusOperator *op);
    /* velocities = v_f + M^-1 D gamma, records as op->body; `free_motion` false leaves v_f out. */
    void (*bodies)(const TalusOperator *op, const double *gamma, bool free_motion,
                   double (*velocity)[8]);
    /* out = N gamma, plus E gamma where `compliant`, plus q where `offset`. gamma NULL is zero. */
    void (*product)(const TalusOperator *op, const double *gamma, bool compliant, bool offset,
                    double *out);
    /* out = S (N + E) S x, plus S q where `offset`. One product. */
    void (*gradient)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                     bool offset, double *out);
    /* Natural residual (problem.h) of gamma. One product. */
    void (*residual)(const TalusOperator *op, const double *gamma, TalusResidualSums *sums);
    /* Sum of squares and maximum over blocks of |N| |gamma| + |q|: the size of the terms whose sum is the gradient, to
     * which its rounding is relative, by each block's own law. About one product. */
    void (*terms)(const TalusOperator *op, const double *gamma, double *sum2, double *max);
    /* The metric s = 1 / sqrt of the block's mean diagonal (trace) or of its normal and tangential
     * entries apart (anisotropic); `out` has room for op->blocks. */
    void (*metric)(const TalusOperator *op, TalusMetric kind, TalusMetricBlock *out);
    /* x = gamma / s and back, in place. */
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
    /* The gradients of the face of x; each vector may be NULL. */
    void (*split)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                  const double *g, double step, double *free_part, double *reduced, double *chopped,
                  TalusFace *face);
    /* y = 0 on the active blocks of x. */
    void (*mask)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                 double *y);
    /* out = projection of d onto the tangent cone of the set at x; out may be d. */
    void (*tangent)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                    const double *d, double *out);
    /* The largest a >= 0 with x - a p in the set; infinite if there is none. */
    double (*feasible_step)(const TalusOperator *op, const TalusMetricBlock *metric,
                            const double *x, const double *p);
    /* Blocks active in y, and blocks that are active in one of x and y alone. */
    void (*compare)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                    const double *y, int *active, int *changed);
    /* x = its projection onto the recession cone of every block's own law (sets/recession.h), or, relaxed, with
     * ccp for Coulomb's; blocks with |x| <= least become 0. */
    void (*recede)(const TalusOperator *op, bool relaxed, double least, double *x);
    /* y = its projection onto the span of the recession cones of blocks where x is not 0. */
    void (*recede_span)(const TalusOperator *op, bool relaxed, const double *x, double *y);
} TalusBlockOps;

/* Laws beyond ccp. `residual` and the solvers see cones with the offsets as they stand and prisms on
 * `estimate`; here u = N gamma + q is without shifts. */
typedef struct TalusLawOps {
    /* What the laws say of gamma. One product. */
    void (*measure)(const TalusOperator *op, const double *gamma, TalusLawSums *sums);
    /* The same, and the shift s of every Coulomb block moves by `share` of the way to sigma, the section's
     * support function at -u_t times mu (and those of spinning and rolling): in bias or offset. */
    void (*shift)(const TalusOperator *op, const double *gamma, double share, TalusLawSums *sums);
    /* Shifts back to 0. */
    void (*unshift)(const TalusOperator *op);
    /* The estimate of every prism moves by `share` of the way to gamma_n = s_n x_n. No product. */
    void (*estimate)(const TalusOperator *op, const TalusMetricBlock *metric, const double *x,
                     double share);
} TalusLawOps;

/* Gauss-Seidel. */
typedef struct TalusSweepOps {
    /* Copies gamma into a plan, or fails where the order is not the backend's. */
    TalusStatus (*begin)(const TalusOperator *op, const TalusSweepOptions *options,
                         const double *gamma, TalusSweep **sweep);
    /* So many sweeps, at least one. Returns the sum over blocks of (d |gamma_new - gamma_old|)^2, the squared
     * velocity change of the last sweep. */
    double (*run)(TalusSweep *sweep, int sweeps);
    /* Writes gamma back. */
    void (*end)(TalusSweep *sweep, double *gamma);
    void (*destroy)(TalusSweep *sweep);
} TalusSweepOps;

/* Fused steps of single methods. */
typedef struct TalusStepOps {
    /* Jacobi: gamma = gamma + lambda (P(gamma - omega g / d) - gamma), d the block's scale (operator.h);
     * returns the residual of the gamma that came in. One product. */
    void (*relax)(const TalusOperator *op, double omega, double lambda, double *gamma, double *sum2,
                  double *max);
    /* One projected gradient step with momentum: evaluates g at x, then
     *     y = x + beta (x - x_prev),  x_next = P(y - step g(y)),
     * with g(y) by linear combination, so one operator product per iteration. On return x is x_next,
     * x_prev the old x, g_prev its gradient. */
    void (*accelerate)(const TalusOperator *op, TalusAccelerated *state, TalusStepSums *sums);
    /* d = weight[0] r + sum of weight[1 + 2 i] s_i + weight[2 + 2 i] y_i over the pairs. */
    void (*quasi_direction)(const TalusOperator *op, const TalusQuasi *q, const double *weight);
    /* x_next = x + d with its gradient and residual, and the pair of this step. Directly after
     * quasi_direction, whose wrenches it takes: one product, or none with q->halve. */
    void (*quasi_step)(const TalusOperator *op, const TalusQuasi *q, TalusQuasiSums *sums);
    /* smooth_x += eta (x - smooth_x), its gradient likewise, and its residual; eta 1 copies x. */
    void (*quasi_smooth)(const TalusOperator *op, const TalusQuasi *q, double eta,
                         TalusSmoothSums *sums);
    /* t = P(x - step g), x_next = t + along (t - y) + over (t - x), y = t; the residual of x where it
     * is wanted. */
    void (*ogm)(const TalusOperator *op, const TalusOgm *o, double *residual2,
                double *residual_max);
} TalusStepOps;

/* Free joints taken out of a matrix-free operator (problem/eliminate.h). */
typedef struct TalusJointOps {
    /* The rows of op's free joints (backend/arms.h), on the host; row has room for 3 op->joints. */
    TalusStatus (*rows)(const TalusOperator *op, TalusJointRow *row, int *count);
    /* `op`, a copy of `whole` cut short by its joints, gets touches and diagonals of its own, for which it has room,
     * and `kinds`; op->elimination has been factored and inverted. */
    TalusStatus (*take_out)(const TalusOperator *whole, TalusOperator *op);
    /* gamma of whole's joints from gamma of op; `offset` false: of a direction. Uses the scratch. */
    void (*recover)(const TalusOperator *whole, const TalusOperator *op, bool offset,
                    double *gamma);
} TalusJointOps;

/* Many iterations in one call, of matrix-free problems with at most 3 rows whose blocks are not varied. Optional: where an
 * entry is NULL, and for other problems, run.h and solvers/face/mprgp.c take steps one by one. */
typedef struct TalusRunOps {
    /* step.accelerate over and over with the rules of momentum.h. A backend tests the step length whenever it
     * measures the residual, or more often. On return x_prev is the iterate measured last. With `since`
     * above 0 a run goes on where the one before has ended, vectors and operator as that left them. */
    TalusStatus (*accelerate)(const TalusOperator *op, TalusAccelerated *state,
                              TalusMomentum *momentum, TalusRun *run);
    /* step.relax over and over, likewise; gamma on return is one step beyond what was measured last. */
    TalusStatus (*relax)(const TalusOperator *op, double omega, double lambda, double *gamma,
                         TalusRun *run);
    /* Iterations of mprgp, each measured; without eliminated joints alone. */
    TalusStatus (*proportion)(const TalusOperator *op, TalusProportioning *state, TalusRun *run);
} TalusRunOps;

/* What some backends can do and others not: bits of TalusBackend.capabilities. */
enum {
    TALUS_CAP_HOST_MEMORY =
        1 << 0, /* vectors and operators are in the host's memory, where anyone may read and
                                       write them; else put and get alone reach them */
    TALUS_CAP_SEES_ITERATES =
        1 << 1, /* the host sees every iterate at no cost; else iterations are better
                                       sent many at once */
    TALUS_CAP_FACTORISES = 1 << 2, /* direct methods work there */
    TALUS_CAP_FINDS_METRIC =
        1 << 3 /* runs of the accelerated method need no metric (TalusAccelerated) */
};

typedef struct TalusBackend {
    const char *name, *summary;
    unsigned capabilities; /* TALUS_CAP_... */

    /* Whether it can be used on this machine; the message says why not. */
    TalusStatus (*open)(void);
    /* The device in words, and the bytes of its memory in use; NULL with TALUS_CAP_HOST_MEMORY. */
    void (*describe)(char *text, size_t size);
    size_t (*memory)(void);

    /* A context to run operations in (operator.h), NULL on backends that need none. It is given back after the
     * operators and engines that were made in it. */
    TalusStatus (*context_create)(TalusContext **out);
    void (*context_destroy)(TalusContext *context);
    /* What has gone wrong in it since the last call in operations that return nothing. */
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

/* The backend called `name`, or NULL with the message set. */
const TalusBackend *talus_backend_find(const char *name);

/* Said of the cuda backends also by a build that lacks them. */
#define TALUS_CUDA_SUMMARY "NVIDIA GPU, double precision; the whole step stays there"
#define TALUS_CUDA_MIXED_SUMMARY "NVIDIA GPU, iterations in single precision, refined in double"

extern const TalusBackend talus_backend_cpu;
#ifdef TALUS_HAVE_CUDA
extern const TalusBackend talus_backend_cuda, talus_backend_cuda_mixed;
#endif

#endif
