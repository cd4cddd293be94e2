/* backend/cuda/iterate/face.h - many iterations of mprgp (solvers/face/mprgp.c) without the host.
 *
 * Work goes in rounds of three kernels, each of which does what the scalars on the device ask for:
 *
 *     bodies   takes up the sums of the last split, decides what comes next, and sums each body's impulses
 *              of the direction, or of x
 *     product  p = phi + carry p with N p, p'N p, p'g, p'p and the step to the boundary; or g at x afresh
 *     update   takes up these sums; x and g after the step, split into phi and beta with their norms; or x
 *              beyond the boundary, whose gradient is the next round's
 *
 * A step on the face or a proportioning is one round, an expansion two. Every block adds the sums that the
 * kernel before has left, so no block waits for others, and block 0 keeps the scalars: the bodies' kernel
 * makes state DECIDED from state UPDATED, the update's the other way. The impulses of a direction on a body
 * follow the same recursion as the direction, in `wrench`: phi alone is summed.
 *
 * Arrays, sizes and rules are in constant memory and grids have a fixed size, so a graph of rounds serves
 * any problem. After a stop the kernels still in line return at once. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_FACE_H
#define TALUS_BACKEND_CUDA_ITERATE_FACE_H

#include "backend/cuda/ops/contact.h"

/* One item per thread up to 135,000. Few, large blocks: each adds the sums of all others. */
#ifdef TALUS_EMULATED
enum { FACE_BODY_THREADS = 16, FACE_BODY_BLOCKS = 3, FACE_THREADS = 32, FACE_BLOCKS = 3 };
#else
enum { FACE_BODY_THREADS = 256, FACE_BODY_BLOCKS = 528, FACE_THREADS = 512, FACE_BLOCKS = 264 };
#endif

/* What a round is for. */
enum FaceTask {
    FACE_DECIDE,     /* x is split: bodies' kernel to say */
    FACE_ON_FACE,    /* search along phi + carry p */
    FACE_PROPORTION, /* search along beta */
    FACE_PROJECT,    /* no product: x = P(x - step g) */
    FACE_AFRESH,     /* gradient at x, and then split; */
    FACE_BEYOND      /*   and then leave the face */
};

/* Sums of the product's kernel: of a search, or, in the first two, of a projection's test of the norm. */
enum { FACE_PNP, FACE_PP, FACE_PG, FACE_LIMIT, FACE_SEARCH_SUMS };
/* Sums of a split; the last is a maximum, as is LIMIT, minus the step to the boundary. */
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
    double carry, step; /* of the round under way; step: that of projections, P(x - step g) */
    int active, unchecked;
    int done, products;
    FaceTask task;
    bool tested;  /* the gradient afresh is that after a projection, which tests the norm */
    bool resumed; /* the first split repeats the last one of the run before */
    bool reached, stop;
};

enum { FACE_DECIDED, FACE_UPDATED, FACE_STATES };

struct FaceArgs {
    CuView<double> op;
    CuSets sets;
    double *x, *g, *p, *np, *phi, *w; /* w: beta after a split, x before a projection */
    double (*velocity)[8];
    double (*wrench)[6];
    double *searched, *split; /* partial sums, [value][block] */
    FaceState *state;
    double gamma2, step, enough, stop2, stop_max2;
    int iterations;
    bool half_step;
};

#endif
