/* backend/cuda/ops/machines.h - free joints that are eliminated, in kernels: satisfied in velocities once these have been
 * gathered. */
#ifndef TALUS_BACKEND_CUDA_MACHINES_H
#define TALUS_BACKEND_CUDA_MACHINES_H

#include "backend/cuda/ops/contact.h"

extern "C" {
#include "linalg/machine.h"
}

/* A block of these to a machine. */
#ifdef TALUS_EMULATED
enum { MACHINE_THREADS = 4 };
#else
enum { MACHINE_THREADS = 32 };
#endif

static __device__ inline TalusTeam cu_team()
{
    return TalusTeam{(int)threadIdx.x, MACHINE_THREADS};
}

/* machines.cu. The operator's factorisation, brought here by cu_machines_put; no machines where it has none. */
TalusStatus cu_machines_put(const TalusOperator *op);
TalusMachines cu_machines(const TalusOperator *op);
/* Nothing where the operator has no elimination. */
void cu_machines_apply(const TalusOperator *op, bool offset, double (*velocity)[8]);

#endif
