/* backend/backend.h - the contract between solvers and the hardware.
 *
 * A solver is written once against these operations and runs on every backend that has them. Vectors have op->rows *
 * op->blocks entries. Vectors and the operator's arrays live in the backend's memory; only put and get copy between
 * them and the host. Operations that need a sum over the whole problem return it; there an iteration synchronises.
 * operations.h names and describes the operations, by group; each group is a table. Runs of many iterations are optional.
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

#define GROUP(type) typedef struct type {
#define OPERATION(result, group, name, arguments) result(*name) arguments;
#define GROUP_END(type) \
    }                   \
    type;
#include "backend/operations.h"

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

    /* Creates a context to run operations in (operator.h); destroys it, after the operators and engines made in it.
     * NULL with TALUS_CAP_HOST_MEMORY. */
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
