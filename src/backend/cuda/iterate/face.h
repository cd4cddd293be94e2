/* backend/cuda/iterate/face.h - many iterations of mprgp (solvers/face/mprgp.c) without the host.
 *
 * Work is done in rounds of three kernels, controlled by scalars on the device:
 *
 *     bodies   reduces the sums of the last split, decides the next task, and sums each body's impulses of the
 *              direction, or of x
 *     product  p = phi + cg_beta p with N p, p'N p, p'g, p'p and the step to the boundary; or a new g at x
 *     update   reduces these sums; computes x and g after the step, split into phi and beta with their norms; or x
 *              beyond the boundary, whose gradient the next round computes
 *
 * A step on the face or a proportioning takes one round, an expansion two. Every block reduces the sums of the
 * previous kernel, so no block waits for others, and block 0 stores the scalars: the bodies' kernel computes state
 * DECIDED from state UPDATED, the update's kernel the reverse. The impulses of a direction on a body follow the same
 * recursion as the direction, in `wrench`, so that only phi is summed.
 *
 * Arrays, sizes and rules are in constant memory and grids have a fixed size, so one graph of rounds serves any
 * problem. After a stop the queued kernels return at once. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_FACE_H
#define TALUS_BACKEND_CUDA_ITERATE_FACE_H

#include "backend/cuda/ops/operator.h"

/* One item per thread up to 135,000. Few, large blocks, because each reduces the sums of all others. */
#ifdef TALUS_EMULATED
enum { FACE_BODY_THREADS = 16, FACE_BODY_BLOCKS = 3, FACE_THREADS = 32, FACE_BLOCKS = 3 };
#else
enum { FACE_BODY_THREADS = 256, FACE_BODY_BLOCKS = 528, FACE_THREADS = 512, FACE_BLOCKS = 264 };
#endif

/* Task of a round. */
enum FaceTask {
    FACE_DECIDE,     /* x is split; the bodies' kernel decides */
    FACE_ON_FACE,    /* search along phi + cg_beta p */
    FACE_PROPORTION, /* search along beta */
    FACE_PROJECT,    /* no product: x = P(x - step g) */
    FACE_AFRESH,     /* compute the gradient at x, then split */
    FACE_BEYOND      /* compute the gradient at x, then leave the face */
};

/* Sums of the product's kernel: of a search or, in the first two, of the test of the norm after a projection. LIMIT
 * is a maximum: of minus the step to the boundary. */
enum { FACE_PNP, FACE_PP, FACE_PG, FACE_LIMIT, FACE_SEARCH_SUMS };
/* Sums of a split; the last is a maximum. */
enum {
    FACE_FREE2,
    FACE_CHOPPED2,
    FACE_ACTIVE,
    FACE_PHI_NP,
    FACE_RESIDUAL2,
    FACE_RESIDUAL_MAX2,
    FACE_SPLIT_SUMS
};

struct FaceState {
    double norm, pnp, residual2, residual_max, first2;
    double cg_beta, step; /* of the current round; step: that of projections, P(x - step g) */
    int active, unchecked;
    int done, products;
    FaceTask task;
    bool tested;  /* a projection came before, and the new gradient tests the norm */
    bool resumed; /* the first split repeats the last one of the previous run */
    bool reached, stop;
};

enum { FACE_DECIDED, FACE_UPDATED, FACE_STATES };

struct FaceArgs {
    CuView<double> op;
    CuSets sets;
    double *x, *g, *p, *np, *phi, *w; /* w: beta after a split, the old x during a projection */
    double (*velocity)[8];
    double (*wrench)[6];
    double *searched, *split; /* partial sums, [value][block] */
    FaceState *state;
    double gamma2, step, enough, stop2, stop_max2;
    int iterations;
    bool half_step;
};

#endif
