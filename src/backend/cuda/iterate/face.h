/* backend/cuda/iterate/face.h - many iterations of mprgp (solvers/face/mprgp.c) without the host.
 *
 * Work is done in rounds of three kernels, controlled by scalars on the device:
 *
 *     bodies   adds up the sums of the last split, decides the next task, and sums on each body the impulses of the
 *              direction, or of x
 *     product  p = phi + cg_beta p or p = beta, with N p, p'N p, p'g, p'p and the step to the boundary; or a new g at x
 *     update   adds up these sums; computes x and g after the step and splits g into the free part phi and the chopped
 *              part beta (TalusFace); or x after leaving the face, whose gradient the next round computes
 *
 * All vectors are in the metric; N stands for S (N + E) S. A step on the face, and with one row a proportioning, takes
 * one round; an expansion, and a proportioning of cones, two; one round more where g is recomputed against rounding.
 *
 * Every block adds up the sums of the previous kernel, so no block waits for others, and block 0 stores the scalars:
 * the bodies' kernel computes state DECIDED from state UPDATED, the update's kernel the reverse. `wrench` holds the
 * sums of p's impulses on each body; they follow the recursion of p, phi + cg_beta p, so that a round sums those of phi
 * only.
 *
 * Arrays, sizes and rules are in constant memory and grids have a fixed size, so one graph of rounds serves any
 * problem. After a stop the queued kernels return at once. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_FACE_H
#define TALUS_BACKEND_CUDA_ITERATE_FACE_H

#include "backend/cuda/ops/operator.h"

/* Threads per block and blocks: 264 * 512, one contact per thread up to 135,000 contacts. Few, large blocks, because
 * each adds up the sums of all. */
#ifdef TALUS_EMULATED
enum { FACE_BODY_THREADS = 16, FACE_BODY_BLOCKS = 3, FACE_THREADS = 32, FACE_BLOCKS = 3 };
#else
enum { FACE_BODY_THREADS = 256, FACE_BODY_BLOCKS = 528, FACE_THREADS = 512, FACE_BLOCKS = 264 };
#endif

/* Task of a round. */
enum FaceTask {
    FACE_DECIDE,     /* phi and beta are known; the bodies' kernel decides */
    FACE_ON_FACE,    /* search along phi + cg_beta p */
    FACE_PROPORTION, /* search along beta; one row only */
    FACE_PROJECT,    /* cones: no product, x = P(x - step g) */
    FACE_AFRESH,     /* compute the gradient at x, then split */
    FACE_BEYOND      /* compute the gradient at x, then leave the face */
};

/* Sums of the product's kernel in a search: p'N p, p'p, p'g; LIMIT is a maximum, of minus the step to the boundary. For
 * a new gradient after a projection, PNP and PP are s'N s and s's of the step s that x took; their quotient raises the
 * estimate of |N| if it is larger. */
enum { FACE_PNP, FACE_PP, FACE_PG, FACE_LIMIT, FACE_SEARCH_SUMS };
/* Sums of a split: |phi|^2, |beta|^2, number of active blocks, phi'N p, squared residual; the last is a maximum, of
 * squared residuals. */
enum {
    FACE_FREE2,
    FACE_CHOPPED2,
    FACE_ACTIVE,
    FACE_PHI_NP,
    FACE_RESIDUAL2,
    FACE_RESIDUAL_MAX2,
    FACE_SPLIT_SUMS
};

/* Scalars of the method; names as in TalusProportioning and TalusRun. */
struct FaceState {
    double norm, pnp, residual2, residual_max, first2;
    double cg_beta, step; /* of the current round; step: length of projections, x = P(x - step g) */
    int active, unchecked;
    int done, products;
    FaceTask task;
    bool tested;  /* x comes from a projection: the next gradient tests the norm */
    bool resumed; /* the first split repeats the last of the previous run, which counted it */
    bool reached, stop;
};

/* Indices in FaceArgs.state. */
enum { FACE_DECIDED, FACE_UPDATED, FACE_STATES };

struct FaceArgs {
    CuView<double> op;
    CuSets sets;
    double *x, *g, *p, *np, *phi, *w; /* w: beta after a split, the old x during a projection */
    double (*velocity)[8];
    double (*wrench)[6];
    double *searched, *split; /* partial sums, [value][block] */
    FaceState *state;
    /* TalusProportioning.gamma squared, its step and enough; limits on residual2 and on the squared maximum, 0: none */
    double gamma2, step, enough, stop2, stop_max2;
    int iterations;
    bool half_step;
};

#endif
