/* backend/cuda/iterate/iterate.h - many iterations of the accelerated method and of Jacobi's, without the host.
 *
 * x is the iterate, x_prev the previous one, y = x + beta (x - x_prev). An iteration is two kernels:
 *
 *     bodies     sums each body's impulses of x into its velocity V
 *     contacts   computes the gradients at x and x_prev from V and V_prev of both bodies, and the next iterate
 *
 * If joints are eliminated, a machines' kernel between the two makes V satisfy the joints. The gradient g of a step is
 * that at x + ahead (x - x_prev) (backend/momentum.h). Jacobi's method uses V alone. The unknowns are the impulses
 * gamma; a step is
 *     gamma_next = P(y - step s^2 g),   P the projection in the norm |gamma / s|.
 * In the accelerated method 1 / s^2 is the diagonal of N + E, with `trace` its mean entry. A contact of
 * spheres computes the diagonal from the records of its bodies: the normal entry is the sum of 1/m plus E, the
 * tangential ones are the sum of 1/m + k. In Jacobi's method y is x, step is omega, 1 / s^2 the mean entry, and gamma
 * moves by lambda of the way to gamma_next.
 *
 * Scalars stay on the device. Each block of the contacts' kernel adds its sums to tallies (device/reduce.h). Every block
 * of the next bodies' kernel reads them and computes beta, L and whether to stop, so that no block waits for others.
 * There are two sets of tallies: the kernel that reads one empties the other, for the next step. After a stop the
 * kernels that are already launched return without a step.
 *
 * Kernels read arrays and sizes from IterateArgs, in constant memory, and have grids of fixed size: a CUDA graph of a
 * batch of iterations serves problems of any size.
 *
 * On several ranks V of the halo's bodies is exchanged between the two kernels, and the tallies of all ranks are added
 * after them.
 *
 * Single precision: gamma = base + x. base: the impulses at the last refinement, rounded to float; x: the increment
 * since then, also float. N x is computed in float. The gradient at base and the projection of base + x onto K are in
 * double, because base may be far larger than x. The rounding of N x is then relative to x. A refinement adds x to base
 * and recomputes the gradient in double, after which x is small again. The gradient at base is stored in 32 bits: a
 * high part, a float, and a low part of eight bits (iterate_parts.h). The kernels are as fast as memory is, so no
 * loaded number is wasted: with three rows a block of x has four floats, and the fourth ones of both vectors x are the
 * high parts of the two tangential gradients. */
#ifndef TALUS_BACKEND_CUDA_ITERATE_ITERATE_H
#define TALUS_BACKEND_CUDA_ITERATE_ITERATE_H

#include "backend/cuda/ops/machines.h"

/* Threads per block and blocks of the kernels of bodies, contacts and machines; the numbers of blocks are multiples of
 * an H200's 132 processors; small where threads are emulated. */
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

/* The single kernel for small problems (iterate_resident.h). RESIDENT_PER_THREAD: contacts that a thread keeps in
 * registers; resident_threads: threads per block, fewer in double precision, which takes twice the registers, more
 * without momentum, which keeps less of a contact. */
#ifdef TALUS_EMULATED
enum { RESIDENT_PER_THREAD = 32 };
template <class T, bool MOMENTUM> __host__ __device__ constexpr int resident_threads()
{
    return 8;
}
#else
enum { RESIDENT_PER_THREAD = 1 };
template <class T, bool MOMENTUM> __host__ __device__ constexpr int resident_threads()
{
    return sizeof(T) == sizeof(double) ? 512 : MOMENTUM ? 640 : 768;
}
#endif

/* Sums of the contacts' kernel. Those up to RESIDUAL2 are as in TalusStepSums; SIZE2 is the sum of d^2 |x|^2, d the mean
 * diagonal entry; RESIDUAL_MAX2 is a maximum, of squares. A step that does not measure the residual sums only RESTART,
 * of which the sign matters, as integers: terms times TalusMomentum.restart_scale, rounded, each at most
 * IterateArgs.restart_limit in size. The scale is RESTART_UNITS (iterate_bodies.h) over the size of the last sum, and
 * grows at most sixteenfold in a step. In Jacobi's method such a step sums nothing. */
enum { RESTART, DX2, DG2, X2, RESIDUAL2, SIZE2, RESIDUAL_MAX2, ITERATE_SUMS };

/* What precedes a launch of the bodies' kernel. SEEN_START: no step, and the kernel only computes V of the previous
 * iterate. SEEN_STEP, SEEN_CHECK: a step that did not measure the residual, or did, or, if the state is fresh, none. */
enum { SEEN_START, SEEN_STEP, SEEN_CHECK };

/* Values of IterateState.stop. GO: go on. STOP_REACHED: a limit on the residual was reached, or the residual is not
 * finite. STOP_REFINE: a refinement is due. */
enum { GO, STOP_REACHED, STOP_REFINE };

/* Scalars of the iteration. There are two states: the bodies' kernel of iteration t computes state[t % 2] from the
 * other. */
struct IterateState {
    TalusMomentum momentum;                 /* not used in Jacobi's method */
    double beta;                            /* factor of the momentum in the next step */
    double residual2, residual_max, first2; /* as in TalusRun; first2 < 0 before a measurement */
    int done;                               /* steps since the host wrote the state */
    int stop;                               /* GO or a STOP_ value */
    bool fresh; /* the host has written the state: there are no sums of a step yet */
};

/* Arguments of all kernels, in constant memory. */
struct IterateArgs {
    CuView<double> op;
    bool trace;                     /* s_n = s_t: 1 / s^2 is the block's mean diagonal entry */
    void *x[2];                     /* iterate t is [t % 2], double or float; Jacobi: all are [0] */
    void *v[2];                     /* records with V of x[0] and x[1]; Jacobi: v[0] == v[1] */
    const double *mu_range;         /* [2]: largest mu and largest -mu; set with three rows */
    CuTally (*tally)[ITERATE_SUMS]; /* [2]: sums of the contacts' kernel, by parity */
    CuTally (*totals)[ITERATE_SUMS]; /* [2]: those of all ranks; of one rank, `tally` */
    const uint8_t *counted;  /* CuPart.counted: contacts that count in the sums; NULL: all */
    IterateState *state;     /* [2] */
    CuMachinesView machines; /* all zeros in single precision */
    double omega, lambda;    /* Jacobi: length of a step, and share of the way that gamma moves */
    double stop2;            /* residual2 at or below which to stop; 0: never */
    double stop_max2;        /* square of the maximum at or below which to stop; 0: never */
    double restart_limit;    /* largest integer of a contact in RESTART: 2^62 over their number */
    int refine_after;        /* number of steps since a refinement after which the next is due */
    int steps_before;        /* steps since the last refinement, before this stretch (iterate.cu) */

    /* for single precision alone; the high parts of the tangential gradient are in x (below) */
    const float4 *normal; /* [blocks]: normal, and E in w */
    const float4 *base;   /* [blocks]: impulses at the last refinement; in w the normal gradient */
    const char4 *low;     /* [blocks]: low parts of the gradient at base */
    const float2 *mass;   /* [bodies]: 1/m, k */
    int tangent1; /* x[tangent1] has the gradient along tangent 1, the other x that along tangent 2 */
};

/* Argument of the single kernel that does a whole stretch of iterations. On entry and on return args.x[0] is the
 * iterate and args.x[1] the previous one (Jacobi: no iterate); on return args.state[0] is the final state. */
struct ResidentRun {
    IterateState state; /* initial state */
    unsigned *arrived;  /* counter of await_all_blocks, 0 at the start */
    int steps;          /* maximum number of iterations */
    int phase;          /* iterations of the solve before this stretch */
    int check;          /* period of measuring; the last of `steps` iterations measures too */
};

/* The kernels of one variant (iterate_kernels.h); parity is t % 2 of iteration t, `seen` a SEEN_ value. step and check
 * are the contacts' kernels; check also measures the residual. */
struct IterateKernels {
    IterateArgs *args; /* in constant memory */
    void (*bodies)(int parity, int seen);
    void (*machines)(int parity, int seen); /* NULL in single precision */
    void (*step)(int parity);
    void (*check)(int parity);
    /* Writes the state after the last step to state[parity]; one block. */
    void (*conclude)(int parity, int seen);
    void (*resident)(ResidentRun run); /* the single kernel of small problems */
    int resident_threads;              /* threads per block of that kernel */
};

/* Returns the bytes that the bodies' kernel, or the contacts' kernel, must move for sphere contacts if each array comes
 * from memory once. Bodies: touch 2 x 4, frame, x; start 4, mass or free velocity, V. Contacts: pair 8, frame, x in and
 * out, base and gradient or bias, x_prev; a record of each body, for apgd two. */
static inline double iterate_bytes(const TalusOperator *op, bool mixed, bool momentum, bool bodies)
{
    double frame = mixed ? 16 : 32, x = mixed ? 16 : 24, record = mixed ? 32 : 64;
    double fixed = mixed ? 16 + 4 : 8, mass = mixed ? 8 : 64;
    if (bodies)
        return op->blocks * (8 + frame + x) + op->bodies * (4 + mass + record);
    return op->blocks * (8 + frame + 2 * x + fixed + (momentum || mixed ? x : 0)) +
           op->bodies * record * (momentum ? 2 : 1);
}

/* Return the kernels of a variant (iterate_kernels.h explains the arguments). Each file has its own arguments in constant
 * memory, a slot, and all kernels: the compiler makes the same code of them, so that they give the same bits. Those of
 * iterate_double.cu and iterate_mixed.cu are slot 0. Ranks that share a device take a slot each, so that their kernels
 * may run at the same time. */
typedef IterateKernels IterateKernelsFn(int rows, bool general, bool momentum, bool exact);
IterateKernelsFn iterate_kernels_double, iterate_kernels_mixed;
IterateKernelsFn iterate_kernels_double_1, iterate_kernels_double_2, iterate_kernels_double_3;
IterateKernelsFn iterate_kernels_mixed_1, iterate_kernels_mixed_2, iterate_kernels_mixed_3;

#endif
