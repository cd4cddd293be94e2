/* backend/cuda/iterate/face.h - many iterations of mprgp (solvers/face/mprgp.c) without the host.
 *
 * x is the iterate, g its gradient, p the direction of search. A split divides g into the free gradient phi and the
 * chopped gradient beta (TalusFace). All vectors are in the metric; N stands for S (N + E) S here. Work is done in
 * rounds of three kernels, controlled by scalars on the device:
 *
 *     bodies    reads the sums of the last split, chooses the task of the round, and computes the bodies' velocities
 *               for p or, if the round recomputes g, for x
 *     product   in a search: p = phi + cg_beta p, p = beta or p = x - P(x - l g), N p, and the sums p'N p, p'g, p'p and
 *               the step to the boundary; else g at x
 *     update    reads these sums; computes x and g after the step and splits g, in a series of spectral steps with
 *               x - P(x - l g) in place of beta; or moves x off the face, and the next round computes g there
 *
 * A step on the face takes one round, and so do a spectral step and a proportioning with one row; other
 * expansions and a proportioning of cones take two. A recomputation of g against rounding takes one round more.
 *
 * Every block reads the sums of the previous kernel from tallies (device/reduce.h), so that no block waits for others,
 * and block 0 stores the scalars: the bodies' kernel computes state FACE_DECIDED from state FACE_UPDATED, the update's
 * kernel the reverse. The kernel after the one that reads tallies empties them.
 * `wrench` is the sum of p's impulses on each body. It obeys the recursion of p, phi + cg_beta p, so that a round sums
 * the impulses of phi alone.
 *
 * Arrays, sizes and parameters are in constant memory and grids have a fixed size, so that one graph of rounds serves
 * problems of any size. After a stop the kernels that are already launched return without a step.
 *
 * On several ranks the host launches kernel by kernel: between the first two it exchanges the velocities of bodies, and after
 * each of the other two it adds the sums of all ranks. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_FACE_H
#define TALUS_BACKEND_CUDA_ITERATE_FACE_H

#include "backend/cuda/ops/operator.h"

/* Threads per block and blocks: FACE_BODY_ of the bodies' kernel, FACE_ of the other two, whose 264 * 512 threads take
 * one contact each up to 135,168 contacts. */
#ifdef TALUS_EMULATED
enum { FACE_BODY_THREADS = 16, FACE_BODY_BLOCKS = 3, FACE_THREADS = 32, FACE_BLOCKS = 3 };
#else
enum { FACE_BODY_THREADS = 256, FACE_BODY_BLOCKS = 528, FACE_THREADS = 512, FACE_BLOCKS = 264 };
#endif

/* Task of a round. */
enum FaceTask {
    FACE_DECIDE,  /* phi and beta are known; the next bodies' kernel chooses one of the next four */
    FACE_ON_FACE, /* search along phi + cg_beta p */
    FACE_PROPORTION, /* search along beta; one row only */
    FACE_SPECTRAL,   /* search along x - P(x - l g): a spectral step */
    FACE_PROJECT,    /* proportioning of cones: no product, x = P(x - step g) */
    FACE_AFRESH,     /* compute the gradient at x, then split */
    FACE_BEYOND      /* compute the gradient at x, then leave the face along phi (expansion) */
};

/* Sums of the product's kernel in a search: p'N p, p'p, p'g; FACE_LIMIT is a maximum over blocks, of minus the step to
 * the boundary. If the kernel computes the gradient after a projection instead, FACE_PNP, FACE_PP and FACE_PG are
 * s'N s, s's and s'g of the step from x to x - s and the gradient g after it (talus_face_raise_norm,
 * talus_face_decrease). */
enum { FACE_PNP, FACE_PP, FACE_PG, FACE_LIMIT, FACE_SEARCH_SUMS };
/* Sums of a split: |phi|^2, |beta|^2, number of active blocks, phi'N p, sum of squared natural residuals; the last is a
 * maximum, of squared natural residuals. */
enum {
    FACE_FREE2,
    FACE_CHOPPED2,
    FACE_ACTIVE,
    FACE_PHI_NP,
    FACE_RESIDUAL2,
    FACE_RESIDUAL_MAX2,
    FACE_SPLIT_SUMS
};

/* Scalars of the method. Fields without a comment are as in TalusProportioning and TalusRun; done and products count
 * from 0 in each run. */
struct FaceState {
    double norm, pnp, residual2, residual_max, first2;
    double
        cg_beta; /* factor of the old p in this round's direction; 0: start anew along phi or beta */
    double step; /* length of this round's projected step, x = P(x - step g) */
    TalusSpectral spectral;
    int active, unchecked;
    int done, products;
    FaceTask task;
    bool tested; /* x has moved by a projected step: the next gradient tests the norm */
    bool by_cg;  /* that step was along p: the next gradient tests the decrease, too */
    bool rose;
    bool resumed; /* the next split repeats the last of the previous run, which has counted it */
    bool reached;
    bool stop; /* the run has ended */
};

/* Indices in FaceArgs.state. */
enum { FACE_DECIDED, FACE_UPDATED, FACE_STATES };

/* Arguments of all kernels, in constant memory. */
struct FaceArgs {
    CuView<double> op;
    CuSets sets;
    double *x, *g, *p, *np, *phi;
    double *w; /* beta or a spectral direction after a split, the old x after a projected step */
    double (*velocity)[8];       /* [bodies]: M^-1 D S p in a search, else v_f + M^-1 D S x */
    double (*wrench)[6];         /* [bodies]: sum of the impulses S p, as add_wrench forms it */
    CuTally *searched, *split;   /* sums of product and of update */
    const uint8_t *counted;      /* CuPart.counted; NULL: one rank */
    FaceState *state;            /* [FACE_STATES] */
    double gamma2, step, enough; /* of TalusProportioning: gamma squared, step, enough */
    double stop2, stop_max2;     /* limits on residual2 and on the squared maximum; 0: none */
    int iterations;              /* maximum number of this run */
    TalusExpansion expansion;    /* as in TalusProportioning */
};

#endif
