/* backend/cuda/ops/machines.h - eliminated free joints in kernels: satisfied in velocities after these are gathered. */
#ifndef TALUS_BACKEND_CUDA_MACHINES_H
#define TALUS_BACKEND_CUDA_MACHINES_H

#include "backend/cuda/ops/operator.h"

extern "C" {
#include "linalg/machine.h"
}

/* Threads per machine (one block), in groups of the maximum number of rows of a node. */
#ifdef TALUS_EMULATED
enum { MACHINE_THREADS = 12, MACHINE_MEMBERS = 6 };
#else
enum { MACHINE_THREADS = 30, MACHINE_MEMBERS = 6 };
#endif

static __device__ inline TalusTeam cu_team()
{
    const int lane = (int)threadIdx.x;
    return TalusTeam{lane,
                     MACHINE_THREADS,
                     lane / MACHINE_MEMBERS,
                     MACHINE_THREADS / MACHINE_MEMBERS,
                     lane % MACHINE_MEMBERS,
                     MACHINE_MEMBERS};
}

/* A machine of at most RESPONSE_BODIES bodies is applied as a dense matrix: its nodes, which follow one another, would
 * cost 65 us for a rover of 15 bodies. All matrices together stay in a GPU's cache, or none is formed. */
#ifdef TALUS_EMULATED
enum { RESPONSE_THREADS = 16 };
#else
enum { RESPONSE_THREADS = 384 };
#endif
enum { RESPONSE_BODIES = 32, RESPONSE_PARTS = 4, RESPONSE_BYTES = 16 << 20 };

/* Data of an operator without its free joints. */
struct CuMachines {
    TalusMachines view;   /* with device pointers */
    size_t bytes;         /* in use of `arrays` */
    char *staging;        /* host memory: all arrays of a factorisation, one after the other */
    CuArray<char> arrays; /* the same on the device */
    CuArray<double> x, y, response, work;
    CuArray<uint32_t> before; /* prefix sum of the bodies' contacts */
    CuArray<int32_t> vertex;  /* by body; -1: no joint holds it */
    CuArray<double> taken;
    const double *dense; /* response.at, or NULL: matrices are not in use */
};

/* A factorisation up to this size is copied to the shared memory of a block. Nodes follow one another, and the
 * location of each number depends on numbers loaded before: latency decides. */
enum { MACHINE_SHARED = 40 * 1024 };

/* Machines with the block of memory that holds their arrays: a multiple of 8 bytes. */
struct CuMachinesView {
    TalusMachines machines;
    const char *arrays;
    size_t bytes;
    /* [1 + 6 * bodies of the largest machine][vertices][8]: velocities with joints satisfied, from rest and from a unit of
     * each component of the machine's velocities; NULL: apply the factorisation */
    const double *response;
};

template <class T>
static __device__ inline void cu_rebase(const T *&array, const char *from, const double *to)
{
    if (array)
        array = (const T *)((const char *)to + ((const char *)array - from));
}

/* Copies the arrays to `shared`, where they fit, and y behind them. To be called by all threads of a block. */
static __device__ inline TalusMachines cu_machines_near(const CuMachinesView *view, double *shared)
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
    cu_rebase(e.place, from, shared);
    cu_rebase(e.vertex, from, shared);
    cu_rebase(e.body, from, shared);
    cu_rebase(e.list, from, shared);
    cu_rebase(e.list_start, from, shared);
    cu_rebase(e.vertex_body, from, shared);
    cu_rebase(e.machine_start, from, shared);
    cu_rebase(e.machine_vertex, from, shared);
    cu_rebase(e.rounds, from, shared);
    return e;
}

/* Component c of the velocities of consecutive bodies: its index in their records. */
static __device__ inline int component_at(int c)
{
    return c / 3 * 4 + c % 3;
}

/* Satisfies the joints of machine m by its matrix. To be called by all RESPONSE_THREADS threads of a block, with
 * MACHINE_SHARED bytes of shared memory. */
static __device__ inline void cu_machine_respond(const CuMachinesView *view, int m,
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
        const double *row = response + component_at(t / RESPONSE_PARTS);
        double part = 0.0;
        for (int c = t % RESPONSE_PARTS; c < 6 * bodies; c += RESPONSE_PARTS)
            part += row[(size_t)(1 + c) * column] * before[component_at(c)];
        sum[t] = part;
    }
    __syncthreads();
    for (int c = (int)threadIdx.x; c < 6 * bodies; c += RESPONSE_THREADS) {
        const int k = component_at(c);
        double total = e->bias ? response[k] : 0.0;
        for (int part = 0; part < RESPONSE_PARTS; part++)
            total += sum[RESPONSE_PARTS * c + part];
        velocity[e->vertex_body[first + k / 8]][k % 8] = total;
    }
    __syncthreads();
}

/* machines_apply.cu: satisfy joints in velocities, with their offsets or without. cu_machines_apply does nothing without
 * elimination. */
void cu_machines_launch(const TalusOperator *op, CuMachinesView view, bool offset,
                        double (*velocity)[8]);
void cu_machines_apply(const TalusOperator *op, bool offset, double (*velocity)[8]);

/* No machines where the operator has no elimination. */
static inline CuMachinesView cu_machines(const TalusOperator *op)
{
    const CuMachines *m = (const CuMachines *)cu_scratch_of(op)->machines.at;
    return op->elimination ? CuMachinesView{m->view, m->arrays.at, m->bytes, m->dense}
                           : CuMachinesView{};
}

static inline unsigned cu_machine_threads(const CuMachinesView *view)
{
    return view->response ? (unsigned)RESPONSE_THREADS : (unsigned)MACHINE_THREADS;
}

#endif
