/* backend/cuda/iterate/iterate.h - many iterations of the accelerated method and of Jacobi's, without the host.
 *
 * An iteration is two kernels. The bodies' kernel sums each body's impulses into its velocity V and computes, with
 * that of the previous iterate, the velocity W = V + beta (V - V_prev) that belongs to y = x + beta (x - x_prev). If
 * joints are eliminated, a machines' kernel then satisfies them in V and recomputes W of their bodies. The contacts'
 * kernel reads W of both bodies, which gives the gradient at y without a stored gradient. Unknowns are the impulses
 * gamma: a step with the metric s is
 *     gamma_next = P(y - step s^2 g),   P the projection in the norm |gamma / s|.
 * s^2 is the inverse of the diagonal of N + E, for spheres the sum of the 1/m and k in the bodies' records.
 *
 * The scalars stay on the device. Each block of the contacts' kernel writes its sums; every block of the next bodies'
 * kernel reduces them and derives momentum, step and whether to stop, so no block waits for others. After a stop the
 * queued kernels return at once.
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

/* Threads per block and blocks of the kernels: what an H200's 132 processors hold at once. Constants, so that sums have
 * the same order everywhere; small where threads are emulated one by one. */
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

/* The single kernel for small problems (iterate_resident.h): number of blocks, one per processor; contacts that a
 * thread keeps in registers; threads per block. Double precision takes twice the registers. */
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
 * of d^2 |x|^2. A step that does not measure writes only the first. */
enum { RESTART, DX2, DG2, X2, RESIDUAL2, SIZE2, RESIDUAL_MAX2, ITERATE_SUMS };

/* What the bodies' kernel finds: START, no step yet, it computes velocities only; else the sums of the previous step,
 * which measured the residual (CHECK) or not (STEP). */
enum { SEEN_START, SEEN_STEP, SEEN_CHECK };

/* IterateState.stop: go on; a limit was reached or the residual is not finite; a refinement is due. */
enum { GO, STOP_REACHED, STOP_REFINE };

/* Scalars of the iteration. There are two: iteration t computes state[t % 2] from the other. */
struct IterateState {
    TalusMomentum momentum;
    double beta;
    double residual2, residual_max, first2; /* as in TalusRun; first2 < 0 before the first */
    int done;                               /* steps since the host wrote the state */
    int stop;
    bool fresh; /* no step has been done */
};

/* Arguments of all kernels, in constant memory. */
struct IterateArgs {
    CuView<double> op;
    bool trace;              /* metric: one number per block */
    void *x[2];              /* iterate t is [t % 2]; Jacobi's method uses one array */
    void *v[2], *w;          /* velocities of x[0], x[1] and y */
    const double *mu_range;  /* largest mu and largest -mu: tells whether all mu are equal */
    double *partial;         /* sums of the contacts' kernel, [ITERATE_SUMS][blocks] */
    IterateState *state;     /* [2] */
    CuMachinesView machines; /* double precision alone */
    double omega, lambda;    /* Jacobi */
    double stop2;            /* residual2 at which to stop; 0: never */
    double stop_max2;        /* square of the maximum at which to stop; 0: never */
    int refine_after;        /* steps after which to stop for refinement */
    int steps_before;        /* steps since the last refinement, before this call */

    /* single precision */
    const float4 *normal;   /* normal and c (frame.h) */
    const float4 *base;     /* impulses at the last refinement, and E */
    const double *gradient; /* gradient at base */
    const float2 *mass;     /* 1/m, k */
};

/* Argument of the single kernel that does a whole run. On entry and return args.x[0] is the iterate, x[1] the previous
 * one; on return args.state[0] is the final state. */
struct ResidentRun {
    IterateState state;
    unsigned *arrived; /* counter, 0 at the start */
    int steps;         /* maximum number */
    int phase;         /* iterations of the solve before this run */
    int check;         /* period of measuring; the last iteration measures too */
};

/* The kernels of one variant; parity is t % 2 of iteration t, `seen` a SEEN_ value. */
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
