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

/* machines.cu. The operator's factorisation, brought here by cu_machines_put; no machines where it has none. */
TalusStatus cu_machines_put(const TalusOperator *op);
TalusMachines cu_machines(const TalusOperator *op);
/* Nothing where the operator has no elimination. */
void cu_machines_apply(const TalusOperator *op, bool offset, double (*velocity)[8]);

#endif
