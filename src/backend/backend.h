/* backend/backend.h - the contract between solvers and the hardware.
 *
 * A solver is written once against these operations and runs on every backend that has them. Vectors have op->rows *
 * op->blocks entries. Vectors and the operator's arrays are in the backend's memory; only vector.put and vector.get
 * copy between a vector and the host. An operation that returns a sum over the whole problem makes the host wait for
 * the backend. operations.h names and describes the operations, by group; each group is a table of functions.
 * TalusRunOps, many iterations in one call, is optional.
 *
 * A solver's metric is a diagonal scaling of the unknowns: x = gamma / s with s_n on the normal row of a block and s_t
 * on its other rows. For x the gradient is s g, and a cone has the friction coefficient mu s_n / s_t
 * (TalusMetricBlock). Natural residuals are always those of gamma, in m/s. */
#ifndef TALUS_BACKEND_BACKEND_H
#define TALUS_BACKEND_BACKEND_H

#include "backend/face.h"
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
    TALUS_ORDER_CHAOTIC    /* by all threads, without waiting for each other: not repeatable */
} TalusOrder;

/* Which diagonal entries of N + E scale the unknowns, or divide the step of one block. */
typedef enum TalusMetric {
    TALUS_METRIC_TRACE,      /* the block's mean diagonal entry, for all rows (negrut-2009) */
    TALUS_METRIC_ANISOTROPIC /* normal and tangential entries apart */
} TalusMetric;

/* Sums over blocks of one accelerated step (step.accelerate). x, y and g are in the solver's metric; the residual is
 * that of gamma. */
typedef struct TalusStepSums {
    double restart;      /* (y - x_next)'(x_next - x): restart if positive */
    double dx2, dg2;     /* |x - x_prev|^2 and |g - g_prev|^2, for the step-length test */
    double x2;           /* |x|^2; differences small against it may be rounding */
    double residual2;    /* sum over blocks of the squared natural residual of x, (m/s)^2 */
    double residual_max; /* its maximum over blocks, m/s; both are valid only with want_residual */
} TalusStepSums;

/* A solver's metric of one block: s_n, s_t, nu = mu s_n / s_t (the friction coefficient of x = gamma / s) and
 * 1 / (1 + nu^2), a factor of every projection onto the cone of x. */
typedef double TalusMetricBlock[4];

/* Vectors, in the metric, and scalars of the accelerated method. A backend with TALUS_CAP_FINDS_METRIC also accepts
 * metric NULL in run.accelerate, for matrix-free problems whose blocks are all half lines or all circular cones: x is
 * then gamma, and the backend computes the metric that `kind` names. Steps and runs may exchange the pointers x and
 * x_prev. */
typedef struct TalusAccelerated {
    double *x, *x_prev; /* iterate and previous iterate */
    double *g_prev;     /* gradient at x_prev; run.accelerate may use it as work space instead */
    const TalusMetricBlock *metric; /* [blocks]; NULL: see above */
    TalusMetric kind;               /* kind of `metric`, which run.accelerate may compute again */
    double beta;        /* factor of the momentum in the next step; run.accelerate updates it */
    double lag;         /* as in TalusMomentum, from which run.accelerate takes it */
    double step;        /* length of a step; run.accelerate computes its own (momentum.h) */
    bool want_residual; /* measure the residual of x; run.accelerate decides by TalusRun */
    /* True: blocks under Coulomb's law obey it exactly. De Saxce's shift at x, sigma(-u_t), is then added to the normal
     * gradient in the step from y and in the residual; the operator's offsets must be without shifts. */
    bool exact;
    /* True if the next step may use what the last one left in the operator's scratch, such as the wrenches of x. Set by
     * the backend; the caller sets it to false after changing x or calling another operation that uses the scratch. */
    bool warm;
    /* True: runs in host memory may be in single precision until the residual comes near the rounding of floats; the
     * backend then sets it to false. While it is true and talus_run_is_single, x_prev and g_prev may both be NULL: the
     * method starts from x alone, and write_back writes the last measured iterate to x. The metric may then be NULL,
     * too: x is gamma, and the metric is the one that `kind` names. */
    bool single;
    bool
        begun; /* a run in single precision has its own copies of the iterates; set by the backend */
    bool
        spent; /* single precision has come to its end without x_prev and g_prev; run.widen is next */
} TalusAccelerated;

/* Sums over blocks of one forward-backward step t = P(x - step g). x, t and g are in the metric; the residual is that
 * of gamma. */
typedef struct TalusForwardSums {
    double r2, rg;                  /* |x - t|^2 and (x - t)'g */
    double residual2, residual_max; /* natural residual of x as in TalusStepSums */
} TalusForwardSums;

/* The face of x. A block is active when it is on the boundary of its set (gamma_n = 0, or another row at its bound; for
 * a joint, a row at a finite bound above 0), else free. With x~ = (x - P(x - step g)) / step: on free blocks the free
 * gradient is g (0 in rows in which the set allows only 0) and the reduced gradient x~; both are 0 on active blocks.
 * The chopped gradient is x~ on active blocks and 0 on free ones. */
typedef struct TalusFace {
    double free2;                   /* |free gradient|^2 */
    double reduced_g, chopped_g;    /* reduced gradient times g, chopped gradient times g */
    double chopped2;                /* |chopped gradient|^2 */
    double residual2, residual_max; /* natural residual of x */
    int active;                     /* number of blocks on the boundary of their sets */
    int unbound;                    /* number of active blocks with a nonzero chopped gradient */
} TalusFace;

/* Maximum number of pairs (s, y) of a quasi-Newton method. */
enum { TALUS_PAIRS = 20 };

/* Vectors, in the metric, and scalars of a quasi-Newton method on r = x - P(x - step g). A pair holds the step s = d
 * and the change y = r_next - r of one iteration, both multiplied by `unit`, in the memory of one vector; the backend
 * chooses the layout. Pairs 0 to count - 1 are ordered oldest first; a step writes its own pair to pair[count]. */
typedef struct TalusQuasi {
    const TalusMetricBlock *metric; /* [blocks], not NULL */
    double step, unit;              /* unit: a power of two near 1 / |r| */
    bool halve;        /* repeat the last step with d / 2, without a product, as N d is known */
    double *x, *g, *r; /* iterate, gradient, residual */
    double *d;         /* direction; a step with `halve` overwrites it by d / 2 */
    double *x_next, *g_next, *r_next;       /* results of a step */
    double *smooth_x, *smooth_g, *smooth_r; /* x, g, r of a running average of the iterates */
    double *pair[TALUS_PAIRS + 1];          /* memory of the pairs, each of one vector */
    int count; /* number of pairs before this step, at most TALUS_PAIRS */
} TalusQuasi;

/* Sums of one quasi-Newton step (step.quasi_step). */
typedef struct TalusQuasiSums {
    double r2, rg;         /* |r_next|^2 and r_next'g_next */
    double gd, dw, dd, ww; /* g'd, d'w, |d|^2 and |w|^2 with w = S (N + E) S d */
    double smooth;         /* smooth_r'r_next */
    double sy, yy;         /* s'y and |y|^2 of the new pair */
    double sr[TALUS_PAIRS + 1], yr[TALUS_PAIRS + 1]; /* s'r_next and y'r_next of all pairs */
} TalusQuasiSums;

/* Sums of the running average of iterates (step.quasi_smooth). */
typedef struct TalusSmoothSums {
    double x2, r2;                  /* |smooth_x|^2 and |smooth_r|^2 */
    double residual2, residual_max; /* natural residual of smooth_x */
} TalusSmoothSums;

/* One step of OGM-G, the optimised gradient method for the gradient norm, in the metric (formula: step.ogm). */
typedef struct TalusOgm {
    const TalusMetricBlock *metric; /* [blocks], not NULL */
    const double *x, *g;            /* iterate and its gradient */
    double *y, *x_next; /* y: on entry the projected point t of the last step, then of this step */
    double step, along, over; /* 1 / L; weights of t - y and of t - x in x_next */
    bool want_residual;       /* measure the natural residual of x */
} TalusOgm;

/* Sums over blocks that tell how large gamma = s x is and how far it lies outside its sets. d is the block's mean
 * diagonal entry of N + E. P projects onto the cone or prism of a contact; for a joint it sets the rows with finite
 * bounds to 0. */
typedef struct TalusSizes {
    double size;    /* sum of d^2 |gamma|^2, (m/s)^2 */
    double outside; /* sum of d^2 |gamma - P(gamma)|^2, (m/s)^2 */
    double over;    /* sum of |gamma|^2 / d */
} TalusSizes;

/* Limits and results of a run, a call that does many iterations of a solve. */
typedef struct TalusRun {
    int iterations; /* maximum number of iterations of this run, > 0 */
    /* The residual is measured every `check` iterations of the solve, and in the last iteration of the run. */
    int check;
    int since; /* iterations of the solve before this run */
    /* The run ends after the iteration in which the measured rms residual is at or below stop_rms (0: no such limit),
     * the maximum residual is at or below stop_max (0: none), or the residual is not finite. */
    double stop_rms, stop_max;
    bool stepwise; /* forbids the kernel that does whole runs of small problems; for tests */
    int done;      /* out: number of iterations done */
    double residual2, residual_max; /* out: residual of the last measured iterate */
    double first2;                  /* out: residual2 of the first measured iterate */
} TalusRun;

/* Scalars of the accelerated method that one run leaves to the next; momentum.h updates them. */
typedef struct TalusMomentum {
    double norm;   /* L, estimated norm of S (N + E) S; raised if gradients show it is too small */
    double margin; /* factor on an observed curvature, to which L is raised at most */
    double theta;  /* Nesterov's weight, 1 at the start; beta is in TalusAccelerated */
    double lag;    /* share of the momentum that the gradient does not follow, in [0, 1) */
    bool restart;  /* drop the momentum when it points uphill (TalusStepSums.restart) */
    /* on the GPU: factor that makes integers of the terms of TalusStepSums.restart (cuda/iterate/iterate.h); 0 before the
     * first step that measures the residual */
    double restart_scale;

    /* for Coulomb's law: an upper bound of theta that follows the residual */
    double max_theta; /* the bound; 0: none, and the rest is not used */
    double least2;    /* minimum of residual2 since the bound was lowered or L raised; 0: none */
    int done, calm;   /* iterations so far, and since the bound was last changed */
} TalusMomentum;

/* What conjugate gradients on a face do where their step -a p would leave the set; solvers/face/mprgp.c says more. */
typedef enum TalusExpansion {
    TALUS_EXPAND_GRADIENT,  /* a projected step along the free gradient */
    TALUS_EXPAND_HALF_STEP, /* to the boundary, then a projected step along the free gradient */
    TALUS_EXPAND_PROJCG,  /* the step projected, until one raises the objective; then half steps */
    TALUS_EXPAND_SPECTRAL /* to the boundary, then spectral steps */
} TalusExpansion;

/* Vectors, in the metric, and scalars of MPRGP, conjugate gradients on faces with proportioning. phi is the free
 * gradient, beta the chopped gradient (TalusFace); solvers/face/mprgp.c describes the method. */
typedef struct TalusProportioning {
    const TalusMetricBlock *metric; /* [blocks]; NULL: no scaling, x is gamma */
    double *x, *g;                  /* iterate, inside the set, and its gradient */
    double *p, *np;                 /* direction and S (N + E) S p */
    double *phi, *w; /* work vectors: w holds beta, a spectral direction or an old x */
    /* Steps stay on the face while |beta| <= gamma |phi|; projected gradient steps have the length step / norm. */
    double gamma, step;
    TalusExpansion expansion; /* how a step that would leave the set does so */
    double enough; /* the run ends once |phi|^2 + |beta|^2 is at or below this; < 0: never */
    double norm;   /* norm of S (N + E) S */
    double pnp;    /* p'np; 0: the next direction is phi */
    int active;    /* number of active blocks when p was computed */
    int unchecked; /* number of updates of g since g was last computed from x */
    bool rose;     /* a step of TALUS_EXPAND_PROJCG has raised the objective */
    TalusSpectral spectral; /* of TALUS_EXPAND_SPECTRAL */
    bool begun;             /* an earlier run has measured x, so the first iteration is a step */
    int products;           /* out: number of operator products of this run */
    bool reached;           /* out: the run ended by `enough` */
} TalusProportioning;

/* Natural residual (problem.h) over all blocks: sum of squares and maximum. */
typedef struct TalusResidualSums {
    double residual2, residual_max;
} TalusResidualSums;

/* Sum of squares and maximum over blocks of |N| |gamma| + |q|, the size of the terms whose sum is the gradient. The
 * rounding error of the gradient is relative to this size. Blocks under Coulomb's law count 1 + mu times (terms.h). */
typedef struct TalusTermSums {
    double terms2, terms_max;
} TalusTermSums;

/* Sums over blocks that tell how well gamma obeys the friction laws. */
typedef struct TalusLawSums {
    double residual2, residual_max; /* natural residual by each block's own law (problem.h) */
    /* (sigma - s)^2 over Coulomb blocks; sigma: De Saxce's shift at gamma, s: the shift in the offsets */
    double shift2;
    double estimate2; /* (d (gamma_n - estimate))^2 over prisms, d the mean diagonal entry */
} TalusLawSums;

/* Plan and state of Gauss-Seidel sweeps; defined by each backend. */
typedef struct TalusSweep TalusSweep;

/* What sweep.prepare plans. */
typedef struct TalusSweepOptions {
    TalusOrder order;     /* how a sweep visits the blocks */
    TalusMetric metric;   /* metric of a projected step */
    TalusOneSolver local; /* solver of one block's problem; TALUS_ONE_PROJECT: a projected step */
    /* True: the projected step of a block under Coulomb's law sets the normal impulse first, then restricts the other
     * rows to the bounds that follow from it (talus_block_restrict, sets/set.h); requires that such blocks exist.
     * False: the step projects onto the cone, at offsets that contain De Saxce's shifts. */
    bool coulomb;
    /* True: the backend may sweep in single precision until the velocity change of a sweep comes near the rounding of
     * floats. False: all arithmetic is in double precision. */
    bool single;
    bool ignore_coupling; /* steps are not divided by TalusOperator.coupling */
    double omega, rho;    /* factor of the step; share of the stepped impulse in the new one */
    uint64_t seed;        /* start of the random orders */
} TalusSweepOptions;

/* ---- operations by group ---- */

#define GROUP(type) typedef struct type {
#define OPERATION(result, group, name, arguments) result(*name) arguments;
#define GROUP_END(type) \
    }                   \
    type;
#include "backend/operations.h"

/* Operations that do many iterations in one call, for matrix-free problems whose blocks are all half lines or all
 * circular cones. All are optional: where one is NULL, and for other problems, run.h and solvers/face/mprgp.c take
 * single steps. */
typedef struct TalusRunOps {
    /* Repeats step.accelerate; momentum.h updates *momentum and state->beta. The backend tests L at least in every
     * iteration, after the first of the solve, that measures the residual. On return x_prev is the last measured
     * iterate, with state->single only after write_back; the pointers x and x_prev may have been exchanged. g_prev is work space, which must be finite before
     * the first run. With run->since > 0 the run continues the previous one: all vectors, g_prev too, and the operator
     * must be as that run left them. */
    TalusStatus (*accelerate)(const TalusOperator *op, TalusAccelerated *state,
                              TalusMomentum *momentum, TalusRun *run);
    /* Writes x, x_prev and g_prev of a state with `single` and `warm`, which runs leave in the backend's memory. */
    void (*write_back)(const TalusOperator *op, TalusAccelerated *state);
    /* Ends single precision for a state that is `spent`, after the caller has given it x_prev, g_prev and metric. */
    void (*widen)(const TalusOperator *op, TalusAccelerated *state);
    /* Repeats Jacobi's step, step.jacobi. A step measures gamma before changing it, so on return gamma is one step
     * beyond the last measured iterate. */
    TalusStatus (*jacobi)(const TalusOperator *op, double omega, double lambda, double *gamma,
                          TalusRun *run);
    /* Does iterations of mprgp and measures the residual in each of them. Fails if op has eliminated joints. */
    TalusStatus (*proportion)(const TalusOperator *op, TalusProportioning *state, TalusRun *run);
} TalusRunOps;

/* Bits of TalusBackend.capabilities. */
enum {
    /* Vectors and operators are in host memory, where any code may read and write them. Without this bit only
     * vector.put and vector.get access them. */
    TALUS_CAP_HOST_MEMORY = 1 << 0,
    /* Single steps, after each of which the host can read the iterate, cost no more than runs of many iterations. */
    TALUS_CAP_SEES_ITERATES = 1 << 1,
    TALUS_CAP_FACTORISES = 1 << 2,  /* direct methods are available */
    TALUS_CAP_FINDS_METRIC = 1 << 3 /* run.accelerate accepts metric NULL */
};

/* A backend: its properties, and its operations by group. Pointers of operations that it does not have are NULL. */
typedef struct TalusBackend {
    const char *name, *summary; /* as users give and see them */
    unsigned capabilities;      /* TALUS_CAP_... */
    /* Most blocks of a problem whose runs of run.accelerate and run.jacobi may have other last bits on one rank than parts
     * of it on several; such a problem is gathered (solvers/driver/gathered.h). 0: there are none. */
    int64_t gathered_blocks;

    /* Succeeds if this machine can use the backend; else the message says why not. */
    TalusStatus (*open)(void);
    /* `describe` writes the device's name and properties into text[size]; `memory` returns the bytes of its memory in
     * use; `copy_speed` measures the bytes per second, read and written, of a copy in its memory, 0 if memory is
     * lacking. All are NULL with TALUS_CAP_HOST_MEMORY. */
    void (*describe)(char *text, size_t size);
    size_t (*memory)(void);
    double (*copy_speed)(void);

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

/* Returns the backend called `name`; NULL, with the message set, if there is none in this build or this machine cannot
 * use it (`open` fails). */
const TalusBackend *talus_backend_find(const char *name);

/* Summaries of the cuda backends, also shown by a build without them. */
#define TALUS_CUDA_SUMMARY "NVIDIA GPU, double precision; the whole step stays there"
#define TALUS_CUDA_MIXED_SUMMARY "NVIDIA GPU, iterations in single precision, refined in double"

extern const TalusBackend talus_backend_cpu;
#ifdef TALUS_HAVE_CUDA
extern const TalusBackend talus_backend_cuda, talus_backend_cuda_mixed;
#endif

#endif
