/* backend/cuda/iterate/iterate.h - many iterations of the accelerated method and of Jacobi's, without the host.
 *
 * An iteration is two kernels. The bodies' kernel sums each body's impulses into its velocity V and computes, with
 * that of the previous iterate, the velocity W = V + beta (V - V_prev) that belongs to y = x + beta (x - x_prev). If
 * joints are eliminated, a machines' kernel then satisfies them in V and recomputes W of their bodies. The contacts'
 * kernel reads W of both bodies, which gives the gradient at y without a stored gradient. Unknowns are the impulses
 * gamma: a step with the metric s is
 *     gamma_next = P(y - step s^2 g),   P the projection in the norm |gamma / s|,
 * and s^2, the inverse of the diagonal, comes from the masses in the records of V and W.
 *
 * The scalars stay on the device. Each block of the contacts' kernel writes its sums; every block of the next bodies'
 * kernel reduces them and derives momentum, step and whether to stop, so no block waits for others. After a stop the
 * queued kernels return at once.
 *
 * Kernels read arrays and sizes from IterateArgs, in constant memory, and have grids of fixed size: a CUDA graph of a
 * batch of iterations serves problems of any size.
 *
 * Single precision: gamma = base + x, base the impulses at the last refinement rounded to float, x the increment
 * since, also float. N x is computed in float; the gradient at base, base itself and the projection of base + x are
 * in double, because the correction lives in K - base. The rounding of N x is then relative to x, which a refinement
 * (x is added to base, whose gradient is recomputed in double) makes small again. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_H

#include "backend/cuda/ops/machines.h"

/* Grids of the iterations: what an H200's 132 processors hold at once. Constants, so that sums have the same order
 * everywhere; small where threads are emulated one by one. */
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

/* Small problems (iterate_resident.h): one block per processor, and the number of contacts that a thread keeps.
 * Double precision takes twice the registers. */
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

/* Sums of a block of contacts: [value][block]. A plain step writes only the first. */
enum { RESTART, DX2, DG2, X2, RESIDUAL2, SIZE2, RESIDUAL_MAX2, ITERATE_SUMS };

/* Input of the bodies' kernel: START, velocities of the previous iterate only; else the sums of the previous step,
 * which measured (CHECK) or not (STEP). */
enum { SEEN_START, SEEN_STEP, SEEN_CHECK };

enum { GO, STOP_REACHED, STOP_REFINE };

/* One of two states: iteration t computes [t % 2] from the other. */
struct IterateState {
    TalusMomentum momentum;
    double beta;
    double residual2, residual_max, first2; /* as in TalusRun; first2 < 0 before the first */
    int done;                               /* steps since the host wrote this */
    int stop;
    bool fresh; /* no step has been done */
};

struct IterateArgs {
    CuView<double> op;
    bool trace;             /* metric: one number per block */
    void *x[2];             /* iterate t is [t % 2]; Jacobi's method uses one array */
    void *v[2], *w;         /* velocities of x[0], x[1] and y */
    const double *mu_range; /* largest mu and largest -mu */
    double *partial;
    IterateState *state;
    CuMachinesView machines; /* double precision alone */
    double omega, lambda;    /* Jacobi */
    double stop2;            /* sum of squares at which to stop; 0: never */
    double stop_max2;
    int refine_after; /* steps after which to stop for refinement */
    int steps_before; /* steps since the last refinement before this stretch */

    /* single precision */
    const float4 *normal;   /* normal and c (frame.h) */
    const float4 *base;     /* impulses at the last refinement, and E */
    const double *gradient; /* gradient at base */
    const float2 *mass;     /* 1/m, k */
};

/* Arguments of a run in one kernel. x[0] is the iterate, x[1] the previous one, on entry and on return; state[0] is
 * the final state. */
struct ResidentRun {
    IterateState state;
    unsigned *arrived; /* counter, 0 at the start */
    int steps;         /* maximum number */
    int phase;         /* iterations of the solve before this run */
    int check;         /* period of measuring; the last iteration measures too */
};

struct IterateKernels {
    IterateArgs *args; /* where the kernels read them */
    void (*bodies)(int parity, int seen);
    void (*machines)(int parity, int seen); /* NULL in single precision */
    void (*step)(int parity);
    void (*check)(int parity);
    /* Reduces the last step's sums; one block. */
    void (*conclude)(int parity, int seen);
    void (*resident)(ResidentRun run);
    int resident_threads;
};

/* iterate_double.cu, iterate_mixed.cu */
IterateKernels iterate_kernels_double(int rows, bool general, bool momentum, bool exact);
IterateKernels iterate_kernels_mixed(int rows, bool general, bool momentum, bool exact);

#endif
