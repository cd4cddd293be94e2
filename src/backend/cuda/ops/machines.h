/* backend/cuda/ops/machines.h - free joints that are eliminated, in kernels: satisfied in velocities once these have been
 * gathered. */
#ifndef TALUS_BACKEND_CUDA_MACHINES_H
#define TALUS_BACKEND_CUDA_MACHINES_H

#include "backend/cuda/ops/contact.h"

extern "C" {
#include "linalg/machine.h"
}

/* A block of these to a machine, in groups of the rows that a node has at most. */
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

/* What an operator without its free joints keeps. */
struct CuMachines {
    TalusMachines view;   /* with device pointers */
    char *staging;        /* on the host: all arrays of a factorisation, one behind the other */
    CuArray<char> arrays; /* the same here */
    CuArray<double> x, y;
    CuArray<uint32_t> before; /* touches of the bodies before each one */
    CuArray<int32_t> vertex;  /* by body; -1: joints do not hold it */
    CuArray<double> taken;
};

/* machines.cu: brings the operator's factorisation here. */
TalusStatus cu_machines_put(const TalusOperator *op);

/* No machines where the operator has no elimination. */
static inline TalusMachines cu_machines(const TalusOperator *op)
{
    return op->elimination ? ((CuMachines *)cu_scratch_of(op)->machines.at)->view : TalusMachines{};
}

#endif
