/* backend/cuda/ops/machines.h - eliminated joints in kernels: functions that change the velocities of bodies, machine
 * by machine, so that they satisfy the joints. A machine is a set of moving bodies connected by joints. */
#ifndef TALUS_BACKEND_CUDA_MACHINES_H
#define TALUS_BACKEND_CUDA_MACHINES_H

#include "backend/cuda/ops/operator.h"

extern "C" {
#include "linalg/machine.h"
}

/* MACHINE_THREADS: threads of the block that applies the factorisation to a machine; they form groups of
 * MACHINE_MEMBERS, the largest number of rows of a node. A node is the joint rows between two bodies, the unit of the
 * factorisation. */
#ifdef TALUS_EMULATED
enum { MACHINE_THREADS = 12, MACHINE_MEMBERS = 6 };
#else
enum { MACHINE_THREADS = 30, MACHINE_MEMBERS = 6 };
#endif

/* Returns this thread's place in its block of MACHINE_THREADS (linalg/machine.h). */
static __device__ inline TalusTeam cu_thread_team()
{
    const int lane = (int)threadIdx.x;
    return TalusTeam{lane,
                     MACHINE_THREADS,
                     lane / MACHINE_MEMBERS,
                     MACHINE_THREADS / MACHINE_MEMBERS,
                     lane % MACHINE_MEMBERS,
                     MACHINE_MEMBERS};
}

/* If all machines have at most RESPONSE_BODIES bodies and all their matrices together at most RESPONSE_BYTES, to stay
 * in a GPU's cache, dense matrices make velocities satisfy the joints. The factorisation is slower: its nodes depend on
 * one another, which takes 65 us for a rover of 15 bodies. RESPONSE_THREADS: threads of the block that applies the
 * matrix of a machine; RESPONSE_PARTS of them add up one row. */
#ifdef TALUS_EMULATED
enum { RESPONSE_THREADS = 16 };
#else
enum { RESPONSE_THREADS = 384 };
#endif
enum { RESPONSE_BODIES = 32, RESPONSE_PARTS = 4, RESPONSE_BYTES = 16 << 20 };

/* Data of an operator whose free joints are eliminated. */
struct CuMachines {
    TalusMachines view;   /* with device pointers */
    size_t bytes;         /* used part of `arrays` */
    char *staging;        /* host memory: all arrays of the factorisation, one after the other */
    CuArray<char> arrays; /* the same on the device */
    /* x: multipliers, minus the impulses of joints, and y: work space, [rows] each; response: dense matrices as in
     * CuMachinesView, work: work space to form them */
    CuArray<double> x, y, response, work;
    CuArray<uint32_t> contact_start; /* [bodies + 1]: incidence_start without joints */
    CuArray<int32_t> vertex;         /* by body: its vertex (linalg/machine.h), -1: none */
    CuArray<double> taken; /* by vertex: what the joints remove from the body's M^-1, 6 x 6 */
    const double *dense;   /* response.at; NULL: the factorisation is applied */
};

/* Bytes of shared memory per block. A factorisation that takes at most this many, work vector y included, is copied
 * there: most loads need an index that was loaded before, so that the latency of memory decides the time. */
enum { MACHINE_SHARED = 40 * 1024 };

/* Returns MACHINE_SHARED bytes of shared memory, the same for all threads of a block. */
static __device__ inline double *cu_machine_shared(void)
{
#ifdef TALUS_EMULATED
    return (double *)emulated_shared(MACHINE_SHARED);
#else
    __shared__ double shared[MACHINE_SHARED / sizeof(double)];
    return shared;
#endif
}

/* Kernel argument: the machines, with pointers into `arrays`, device memory of `bytes`, a multiple of 8. */
struct CuMachinesView {
    TalusMachines machines;
    const char *arrays;
    size_t bytes;
    /* Dense matrices by column, [1 + 6 * bodies of the largest machine][vertices][8]. Column 0: the velocities that
     * satisfy the joints if the bodies were at rest, with offsets and driven bodies; column 1 + c: those if velocity
     * component c of the machine was 1, without offsets and driven bodies. NULL: apply the factorisation. */
    const double *response;
};

/* Makes `array`, a pointer into the memory at `from`, point to the same place of the copy at `to`; NULL stays. */
template <class T>
static __device__ inline void cu_rebase(const T *&array, const char *from, const double *to)
{
    if (array)
        array = (const T *)((const char *)to + ((const char *)array - from));
}

/* Copies the arrays to `shared`, with space for y behind them, and returns machines that point there; if they do not
 * fit, returns those of the view. All MACHINE_THREADS threads of a block call it. */
static __device__ inline TalusMachines cu_machines_in_shared(const CuMachinesView *view,
                                                             double *shared)
{
    TalusMachines e = view->machines;
    const char *from = view->arrays;
    const size_t count = view->bytes / sizeof *shared;
    if (view->bytes + (size_t)e.rows * sizeof *shared > MACHINE_SHARED)
        return e;
    for (size_t k = threadIdx.x; k < count; k += MACHINE_THREADS)
        shared[k] = ((const double *)from)[k];
    __syncthreads();
    e.y = shared + count;
    cu_rebase(e.value, from, shared);
    cu_rebase(e.row, from, shared);
    cu_rebase(e.bias, from, shared);
    cu_rebase(e.diagonal_at, from, shared);
    cu_rebase(e.block_at, from, shared);
    cu_rebase(e.below, from, shared);
    cu_rebase(e.start, from, shared);
    cu_rebase(e.first_row, from, shared);
    cu_rebase(e.vertex, from, shared);
    cu_rebase(e.body, from, shared);
    cu_rebase(e.vertex_node, from, shared);
    cu_rebase(e.vertex_node_start, from, shared);
    cu_rebase(e.vertex_body, from, shared);
    cu_rebase(e.machine_start, from, shared);
    cu_rebase(e.machine_vertex, from, shared);
    cu_rebase(e.rounds, from, shared);
    return e;
}

/* Returns the index of velocity component c (six per body: v, then s) in consecutive records of eight numbers. */
static __device__ inline int component_place(int c)
{
    return c / 3 * 4 + c % 3;
}

/* Makes the velocities of machine m satisfy its joints, by its matrix; view->machines.bias NULL leaves out column 0.
 * All RESPONSE_THREADS threads of a block call it, with `shared`, MACHINE_SHARED bytes of shared memory. */
static __device__ inline void cu_machine_apply_dense(const CuMachinesView *view, int m,
                                                     double (*velocity)[8], double *shared)
{
    double *before = shared, *sum = shared + 8 * RESPONSE_BODIES;
    const TalusMachines *e = &view->machines;
    const int first = e->machine_vertex[m], bodies = e->machine_vertex[m + 1] - first;
    const size_t column = 8 * (size_t)e->vertices;
    const double *response = view->response + 8 * (size_t)first;
    for (int k = (int)threadIdx.x; k < 8 * bodies; k += RESPONSE_THREADS)
        before[k] = velocity[e->vertex_body[first + k / 8]][k % 8];
    __syncthreads();
    for (int t = (int)threadIdx.x; t < 6 * bodies * RESPONSE_PARTS; t += RESPONSE_THREADS) {
        const double *row = response + component_place(t / RESPONSE_PARTS);
        double part = 0.0;
        for (int c = t % RESPONSE_PARTS; c < 6 * bodies; c += RESPONSE_PARTS)
            part += row[(size_t)(1 + c) * column] * before[component_place(c)];
        sum[t] = part;
    }
    __syncthreads();
    for (int c = (int)threadIdx.x; c < 6 * bodies; c += RESPONSE_THREADS) {
        const int k = component_place(c);
        double total = e->bias ? response[k] : 0.0;
        for (int part = 0; part < RESPONSE_PARTS; part++)
            total += sum[RESPONSE_PARTS * c + part];
        velocity[e->vertex_body[first + k / 8]][k % 8] = total;
    }
    __syncthreads();
}

/* machines_apply.cu: make velocities[bodies] satisfy the joints of all machines; `offset` false: with offsets b = 0,
 * for velocities without v_f. cu_machines_apply_view does it for a view of op's machines; cu_machines_apply for
 * cu_machines(op), so that it does nothing if op has no elimination. */
void cu_machines_apply_view(const TalusOperator *op, CuMachinesView view, bool offset,
                            double (*velocity)[8]);
void cu_machines_apply(const TalusOperator *op, bool offset, double (*velocity)[8]);

/* Returns the operator's machines; none, all zeros, if it has no elimination. */
static inline CuMachinesView cu_machines(const TalusOperator *op)
{
    const CuMachines *m = (const CuMachines *)cu_scratch_of(op)->machines.at;
    return op->elimination ? CuMachinesView{m->view, m->arrays.at, m->bytes, m->dense}
                           : CuMachinesView{};
}

/* Returns the number of threads per block of a kernel that applies the view. */
static inline unsigned cu_machine_threads(const CuMachinesView *view)
{
    return view->response ? (unsigned)RESPONSE_THREADS : (unsigned)MACHINE_THREADS;
}

#endif
