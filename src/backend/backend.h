/* backend/backend.h - the contract between solvers and the hardware.
 *
 * A solver is written once against these operations and runs on every backend that has them. Vectors have op->rows *
 * op->blocks entries. Vectors and the operator's arrays live in the backend's memory; only put and get copy between
 * them and the host. An operation that returns a sum over the whole problem makes the host wait for the backend.
 * operations.h names and describes the operations, by group; each group is a table of functions. TalusRunOps, many
 * iterations in one call, is optional.
 *
 * A solver's metric is a diagonal scaling of the unknowns: x = gamma / s with s_n on the normal row of a block and s_t
 * on its other rows. In it the gradient is s g and the friction of a cone mu s_n / s_t (TalusMetricBlock). Natural
 * residuals are always those of gamma, in m/s. */
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
    TALUS_ORDER_COLOURED,  /* colour by colour; the blocks of one colour in parallel */
    TALUS_ORDER_CHAOTIC    /* all at once; which changes a block sees is chance: not repeatable */
} TalusOrder;

/* Which diagonal of N + E scales the unknowns, or divides the step of one block. */
typedef enum TalusMetric {
    TALUS_METRIC_TRACE,      /* the block's mean diagonal entry, for all rows (negrut-2009) */
    TALUS_METRIC_ANISOTROPIC /* normal and tangential entries apart */
} TalusMetric;

/* Sums of one accelerated step (step.accelerate), in the metric except for the residual. */
typedef struct TalusStepSums {
    double restart;      /* (y - x_next)'(x_next - x): restart if positive */
    double dx2, dg2;     /* |x - x_prev|^2 and |g - g_prev|^2, for the step-length test */
    double x2;           /* |x|^2, to tell a difference from rounding */
    double residual2;    /* sum over blocks of the squared natural residual of x, (m/s)^2 */
    double residual_max; /* its maximum over blocks, m/s; both only with want_residual */
} TalusStepSums;

/* A solver's metric of one block: s_n, s_t, nu = mu s_n / s_t (friction in that metric) and 1 / (1 + nu^2), which
 * every projection onto the scaled cone needs. */
typedef double TalusMetricBlock[4];

/* Workspace of the accelerated method: vectors in the metric. With TALUS_CAP_FINDS_METRIC, run.accelerate also accepts
 * metric NULL on matrix-free problems whose blocks are all half lines or circular cones: x is then gamma, and the
 * backend computes the metric from `kind`. */
typedef struct TalusAccelerated {
    double *x, *x_prev, *g_prev; /* iterate, the iterate before it and the gradient at that one */
    const TalusMetricBlock *metric;
    TalusMetric kind;  /* which metric to use; for run.accelerate */
    double beta, step; /* momentum and 1/L */
    bool want_residual;
    /* Coulomb blocks follow their law: De Saxce's shift at x, sigma(-u_t), is added to the normal gradient in the step
     * from y and in the residual. The offsets must then be without shifts. */
    bool exact;
    /* Set by the backend: the operator's scratch holds the impulses of x on the bodies. The caller clears it after a
     * change of x. */
    bool warm;
} TalusAccelerated;

/* Sums of one forward-backward step t = P(x - step g), in the metric except for the residual. */
typedef struct TalusForward {
    double r2, rg;                  /* |x - t|^2 and (x - t)'g */
    double residual2, residual_max; /* natural residual of x as in TalusStepSums */
} TalusForward;

/* The face of x. A block is active when it is on the boundary of its set (gamma_n = 0; for a cone also the mantle),
 * else free. With x~ = (x - P(x - step g)) / step: on free blocks the free gradient is g (0 in rows in which the set
 * allows only 0) and the reduced gradient x~; both are 0 on active blocks. The chopped gradient is x~ on active blocks
 * and 0 on free ones. */
typedef struct TalusFace {
    double free2;                   /* |free gradient|^2 */
    double reduced_g, chopped_g;    /* reduced'g, chopped'g; each block adds at least |x~|^2 */
    double chopped2;                /* |chopped gradient|^2 */
    double residual2, residual_max; /* natural residual of x */
    int active;                     /* blocks on the boundary of their sets */
    int unbound;                    /* active blocks with a nonzero chopped gradient */
} TalusFace;

/* Maximum number of pairs (s, y) of a quasi-Newton method. */
enum { TALUS_PAIRS = 20 };

/* Workspace of a quasi-Newton method on r = x - P(x - step g), in the metric. A pair is the step s = d and the change
 * y = r_next - r, both multiplied by `unit`, in the memory of one vector; the backend chooses the layout. Pairs are
 * ordered oldest first; a step writes its own pair into pair[count]. */
typedef struct TalusQuasi {
    const TalusMetricBlock *metric;
    double step, unit; /* unit: a power of two near 1 / |r| */
    bool halve;        /* repeat the last step with d / 2; needs no product: N d is known */
    double *x, *g, *r; /* iterate, gradient, residual */
    double *d;         /* direction */
    double *x_next, *g_next, *r_next;       /* results of a step */
    double *smooth_x, *smooth_g, *smooth_r; /* x, g, r of a running average of the iterates */
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

/* One step of OGM-G, the optimised gradient method for the gradient norm, in the metric (formula: step.ogm). */
typedef struct TalusOgm {
    const TalusMetricBlock *metric;
    const double *x, *g; /* iterate and its gradient */
    double *y, *x_next;  /* y: the projected point t of the last step; then that of this step */
    double step, along, over; /* 1 / L; weights of t - y and of t - x in x_next */
    bool want_residual;
} TalusOgm;

/* Sums over blocks of gamma = s x. d is the block's mean diagonal entry of N + E. P projects onto the cone of a block,
 * or onto its prism, or onto the unbounded rows of a joint. */
typedef struct TalusSizes {
    double size;    /* d^2 |gamma|^2 */
    double outside; /* d^2 |gamma - P(gamma)|^2 */
    double over;    /* |gamma|^2 / d */
} TalusSizes;

/* Limits and results of a run: many iterations of a solve in one call. */
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
    double first2;                  /* out: residual2 of the first measured iterate */
} TalusRun;

/* Scalars of the accelerated method, kept from run to run. momentum.h updates them. */
typedef struct TalusMomentum {
    double norm;       /* L, norm of S (N + E) S; raised when gradients show a larger curvature */
    double margin;     /* factor on a raised estimate of L */
    double step_scale; /* length of a step times L: 1, or up to 4/3 with bounded momentum */
    double theta;      /* Nesterov's weight, 1 at the start; beta is in TalusAccelerated */
    double max_theta;  /* upper bound of theta; 0: none */
    bool restart;      /* drop the momentum when it points uphill */
} TalusMomentum;

/* Workspace of MPRGP, conjugate gradients on faces with proportioning, in the metric. phi is the free gradient, beta
 * the chopped one (TalusFace); solvers/face/mprgp.c gives the method. */
typedef struct TalusProportioning {
    const TalusMetricBlock *metric;
    double *x, *g;   /* iterate, inside the set, and its gradient */
    double *p, *np;  /* direction and S (N + E) S p */
    double *phi, *w; /* work vectors: phi; beta or an old x */
    /* Steps stay on the face while |beta| <= gamma |phi|; projected gradient steps have the length step / norm. */
    double gamma, step;
    bool half_step;        /* a step that would leave the set first goes to its boundary */
    double enough;         /* ends once |phi|^2 + |beta|^2 is at or below this; < 0: never */
    double norm, pnp;      /* norm of S (N + E) S; p'np, 0: the next direction is phi */
    int active, unchecked; /* active blocks when p was made; updates of g since it was recomputed */
    bool begun;            /* an earlier run has measured x: the first iteration is a step */
    int products;          /* out: products of this run */
    bool reached;          /* out: ended by `enough` */
} TalusProportioning;

/* Sums over blocks of the natural residual (problem.h). */
typedef struct TalusResidualSums {
    double residual2, residual_max;
} TalusResidualSums;

/* Sum of squares and maximum over blocks of |N| |gamma| + |q|, the size of the terms whose sum is the gradient: its
 * rounding is relative to them. Coulomb blocks count 1 + mu times (terms.h). */
typedef struct TalusTermSums {
    double terms2, terms_max;
} TalusTermSums;

/* Sums over blocks that measure gamma by the friction laws. */
typedef struct TalusLawSums {
    double residual2, residual_max; /* natural residual by each block's own law (problem.h) */
    /* (sigma - s)^2 over Coulomb blocks; sigma: De Saxce's shift at gamma, s: the shift in the offsets */
    double shift2;
    double estimate2; /* (d (gamma_n - estimate))^2 over prisms, d the mean diagonal entry */
} TalusLawSums;

/* Plan and state of Gauss-Seidel sweeps; defined by each backend. */
typedef struct TalusSweep TalusSweep;

typedef struct TalusSweepOptions {
    TalusOrder order;
    TalusMetric metric;   /* metric of a projected step */
    TalusOneSolver local; /* solver of one block's problem; TALUS_ONE_PROJECT: a projected step */
    /* A projected step restricts blocks under Coulomb's law as that law does: first the normal impulse, then the rest
     * to the bounds that it sets (sets/set.h talus_block_restrict). Only if there are such blocks. False: it projects
     * onto the cone, shifts included. */
    bool coulomb;
    double omega, rho; /* factor of the step; share of the stepped impulse in the new one */
    uint64_t seed;     /* start of the random orders */
} TalusSweepOptions;

/* ---- operations by group ---- */

#define GROUP(type) typedef struct type {
#define OPERATION(result, group, name, arguments) result(*name) arguments;
#define GROUP_END(type) \
    }                   \
    type;
#include "backend/operations.h"

/* Many iterations in one call, for matrix-free problems whose blocks are all half lines or circular cones. Optional:
 * where an entry is NULL, and for other problems, run.h and solvers/face/mprgp.c take single steps. */
typedef struct TalusRunOps {
    /* Repeats step.accelerate; momentum.h updates the scalars. A backend tests the step length at least whenever it
     * measures the residual. On return x_prev is the last measured iterate. With `since` > 0 a run continues the
     * previous run; vectors and operator must be as that run left them. */
    TalusStatus (*accelerate)(const TalusOperator *op, TalusAccelerated *state,
                              TalusMomentum *momentum, TalusRun *run);
    /* Repeats Jacobi's step, step.relax, in the same way. A step measures before it moves, so on return gamma is one
     * step beyond the last measured iterate. */
    TalusStatus (*relax)(const TalusOperator *op, double omega, double lambda, double *gamma,
                         TalusRun *run);
    /* Iterations of mprgp; measures the residual in each. Fails if op has eliminated joints. */
    TalusStatus (*proportion)(const TalusOperator *op, TalusProportioning *state, TalusRun *run);
} TalusRunOps;

/* Bits of TalusBackend.capabilities. */
enum {
    /* Vectors and operators are in host memory, where any code may read and write them; else only put and get reach
     * them. */
    TALUS_CAP_HOST_MEMORY = 1 << 0,
    /* Single steps, after which the host can look at the iterate, cost no more than runs of many. */
    TALUS_CAP_SEES_ITERATES = 1 << 1,
    TALUS_CAP_FACTORISES = 1 << 2,  /* direct methods are available */
    TALUS_CAP_FINDS_METRIC = 1 << 3 /* run.accelerate accepts metric NULL */
};

typedef struct TalusBackend {
    const char *name, *summary;
    unsigned capabilities; /* TALUS_CAP_... */

    /* Succeeds if this machine can use the backend; else the message says why not. */
    TalusStatus (*open)(void);
    /* `describe` writes the device's name and properties into text[size]; `memory` returns the bytes of its memory in
     * use. Both are NULL with TALUS_CAP_HOST_MEMORY. */
    void (*describe)(char *text, size_t size);
    size_t (*memory)(void);

    /* Create and destroy a context, the backend's state for one world or problem. Destroy it after the operators and
     * engines made in it. Both are NULL with TALUS_CAP_HOST_MEMORY. */
    TalusStatus (*context_create)(TalusContext **out);
    void (*context_destroy)(TalusContext *context);
    /* Returns the first error, since the last call of `check`, of operations that return no status. */
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

/* True if the backend has all of these TALUS_CAP_ bits. */
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
