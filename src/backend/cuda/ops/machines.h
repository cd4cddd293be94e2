/* backend/cuda/ops/machines.h - eliminated free joints in kernels: satisfied in velocities after these are gathered. */
#ifndef TALUS_BACKEND_CUDA_MACHINES_H
#define TALUS_BACKEND_CUDA_MACHINES_H

#include "backend/cuda/ops/contact.h"

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
    char *staging;        /* host memory: all arrays of a factorisation, one after the other */
    CuArray<char> arrays; /* the same on the device */
    CuArray<double> x, y;
    CuArray<uint32_t> before; /* prefix sum of the bodies' contacts */
    CuArray<int32_t> vertex;  /* by body; -1: no joint holds it */
    CuArray<double> taken;
};

/* machines.cu: uploads the operator's factorisation. */
TalusStatus cu_machines_put(const TalusOperator *op);

/* Empty if the operator has no elimination. */
static inline TalusMachines cu_machines(const TalusOperator *op)
{
    return op->elimination ? ((CuMachines *)cu_scratch_of(op)->machines.at)->view : TalusMachines{};
}

#endif
