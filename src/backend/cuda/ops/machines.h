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

/* Data of an operator without its free joints. */
struct CuMachines {
    TalusMachines view;   /* with device pointers */
    size_t bytes;         /* in use of `arrays` */
    char *staging;        /* host memory: all arrays of a factorisation, one after the other */
    CuArray<char> arrays; /* the same on the device */
    CuArray<double> x, y;
    CuArray<uint32_t> before; /* prefix sum of the bodies' contacts */
    CuArray<int32_t> vertex;  /* by body; -1: no joint holds it */
    CuArray<double> taken;
};

/* machines.cu: uploads the operator's factorisation. */
TalusStatus cu_machines_put(const TalusOperator *op);

/* A factorisation up to this size is copied to the shared memory of a block. Nodes follow one another, and the
 * location of each number depends on numbers loaded before: latency decides. */
enum { MACHINE_SHARED = 40 * 1024 };

/* Machines with the block of memory that holds their arrays: a multiple of 8 bytes. */
struct CuMachinesView {
    TalusMachines machines;
    const char *arrays;
    size_t bytes;
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

/* No machines where the operator has no elimination. */
static inline CuMachinesView cu_machines(const TalusOperator *op)
{
    const CuMachines *m = (const CuMachines *)cu_scratch_of(op)->machines.at;
    return op->elimination ? CuMachinesView{m->view, m->arrays.at, m->bytes} : CuMachinesView{};
}

#endif
