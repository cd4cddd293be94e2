/* backend/cuda/iterate/iterate.h - many iterations of the accelerated method and of Jacobi's, without the host.
 *
 * An iteration is two kernels. The bodies' kernel sums each body's impulses into its velocity V and computes, with
 * that of the previous iterate, the velocity W = V + beta (V - V_prev) that belongs to y = x + beta (x - x_prev). If
 * joints are eliminated, a machines' kernel then makes V satisfy them and recomputes W of their bodies. The contacts'
 * kernel reads W of both bodies, which gives the gradient at y without a stored gradient. If it measures the residual
 * or follows Coulomb's law it reads V and V_prev instead, for the gradients at x and x_prev. Jacobi's method uses V
 * only. Unknowns are the impulses gamma: a step with the metric s is
 *     gamma_next = P(y - step s^2 g),   P the projection in the norm |gamma / s|, step = 1 / L.
 * 1 / s^2 is the diagonal of N + E (mean entry with `trace`). A contact of spheres forms it from the records of its
 * bodies: normal entry the sum of 1/m plus E, tangential entries the sum of 1/m + k.
 *
 * The scalars stay on the device. Each block of the contacts' kernel writes its sums; every block of the next bodies'
 * kernel adds up all of them and derives momentum, step and whether to stop, so no block waits for others. After a
 * stop the queued kernels return at once.
 *
 * Kernels read arrays and sizes from IterateArgs, in constant memory, and have grids of fixed size: a CUDA graph of a
 * batch of iterations serves problems of any size.
 *
 * Single precision: gamma = base + x, base the impulses at the last refinement rounded to float, x the increment
 * since, also float. N x is computed in float; the gradient at base and the projection of base + x onto K are in
 * double, because base may be far larger than x. The rounding of N x is then relative to x, which a refinement (x is
 * added to base, whose gradient is recomputed in double) makes small again. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_H

#include "backend/cuda/ops/machines.h"

/* Threads per block and blocks of the kernels; the numbers of blocks are multiples of an H200's 132 processors.
 * Constants, so that sums have the same order everywhere; small where threads are emulated one by one. */
#ifdef TALUS_EMULATED
enum {
    BODY_THREADS = 16,
    BODY_BLOCKS = 3,
    CONTACT_THREADS = 32,
    CONTACT_BLOCKS = 5,
    MACHINE_BLOCKS = 2
};
#else
enum {
    BODY_THREADS = 128,
    BODY_BLOCKS = 1056,
    CONTACT_THREADS = 256,
    CONTACT_BLOCKS = 528,
    MACHINE_BLOCKS = 528
};
#endif

/* The single kernel for small problems (iterate_resident.h): number of blocks, one per processor of an H200; contacts
 * that a thread keeps in registers; threads per block, fewer in double precision, which takes twice the registers. */
#ifdef TALUS_EMULATED
enum { RESIDENT_BLOCKS = 1, RESIDENT_PER_THREAD = 32 };
template <class T> constexpr int resident_threads()
{
    return 8;
}
#else
enum { RESIDENT_BLOCKS = 132, RESIDENT_PER_THREAD = 1 };
template <class T> constexpr int resident_threads()
{
    return sizeof(T) == sizeof(float) ? 640 : 512;
}
#endif

/* Sums that each block of the contacts' kernel writes to partial[value][block], as in TalusStepSums; SIZE2 is the sum
 * of d^2 |x|^2, RESIDUAL_MAX2 a maximum of squares. A step that does not measure writes only RESTART, or nothing in
 * Jacobi's method. */
enum { RESTART, DX2, DG2, X2, RESIDUAL2, SIZE2, RESIDUAL_MAX2, ITERATE_SUMS };

/* What the bodies' kernel finds. START: no step yet, it computes velocities only. STEP, CHECK: the sums of the previous
 * step, which did not measure the residual, or did; none if the state before is fresh. */
enum { SEEN_START, SEEN_STEP, SEEN_CHECK };

/* IterateState.stop: go on; a limit on the residual was reached or the residual is not finite; a refinement is due. */
enum { GO, STOP_REACHED, STOP_REFINE };

/* Scalars of the iteration. There are two states: iteration t computes state[t % 2] from the other. */
struct IterateState {
    TalusMomentum momentum;
    double beta;
    double residual2, residual_max, first2; /* as in TalusRun; first2 < 0 before a measurement */
    int done;                               /* steps since the host wrote the state */
    int stop;
    bool fresh; /* as the host wrote it: there are no sums of a step yet */
};

/* Arguments of all kernels, in constant memory. */
struct IterateArgs {
    CuView<double> op;
    bool trace;              /* s_n = s_t: 1 / s^2 is the block's mean diagonal entry */
    void *x[2];              /* iterate t is [t % 2]; Jacobi's method uses one array */
    void *v[2], *w;          /* velocities of x[0], x[1] and y */
    const double *mu_range;  /* largest mu and largest -mu: tells whether all mu are equal */
    double *partial;         /* sums of the contacts' kernel, [value][block] */
    IterateState *state;     /* [2] */
    CuMachinesView machines; /* all zeros in single precision */
    double omega, lambda;    /* Jacobi */
    double stop2;            /* residual2 at or below which to stop; 0: never */
    double stop_max2;        /* square of the maximum at or below which to stop; 0: never */
    int refine_after;        /* steps since a refinement after which to stop for the next */
    int steps_before;        /* those of them before this stretch (iterate.cu) */

    /* single precision */
    const float4 *normal;   /* normal and c (frame.h) */
    const float4 *base;     /* [blocks]: impulses at the last refinement, and E */
    const double *gradient; /* [rows * blocks]: gradient at base */
    const float2 *mass;     /* 1/m, k */
};

/* Argument of the single kernel that does a whole stretch of iterations. On entry and return args.x[0] is the iterate,
 * x[1] the previous one (Jacobi: the same array); on return args.state[0] is the final state. */
struct ResidentRun {
    IterateState state;
    unsigned *arrived; /* counter of await_all, 0 at the start */
    int steps;         /* maximum number */
    int phase;         /* iterations of the solve before this stretch */
    int check;         /* period of measuring; the last of `steps` iterations measures too */
};

/* The kernels of one variant (iterate_kernels.h); parity is t % 2 of iteration t, `seen` a SEEN_ value. */
struct IterateKernels {
    IterateArgs *args; /* in constant memory */
    void (*bodies)(int parity, int seen);
    void (*machines)(int parity, int seen); /* NULL in single precision */
    void (*step)(int parity);
    void (*check)(int parity);
    /* Writes the state after the last step to state[parity]; one block. */
    void (*conclude)(int parity, int seen);
    void (*resident)(ResidentRun run);
    int resident_threads;
};

/* iterate_double.cu, iterate_mixed.cu: return the kernels of a variant (iterate_kernels.h explains the arguments) */
IterateKernels iterate_kernels_double(int rows, bool general, bool momentum, bool exact);
IterateKernels iterate_kernels_mixed(int rows, bool general, bool momentum, bool exact);

#endif
