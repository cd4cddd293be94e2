/* backend/cuda/ops/machines_apply.cu - the kernel that makes velocities satisfy eliminated joints, from the functions
 * of machines.h. */
#include "backend/cuda/ops/machines.h"

/* Makes the velocities of a machine's bodies satisfy its joints, one machine per block of threads: by the dense
 * matrices view.response if there are any, else by the factorisation. */
static __global__ void __launch_bounds__(RESPONSE_THREADS)
    apply_machines(CuMachinesView view, double (*velocity)[8])
{
    double *shared = cu_machine_shared();
    if (view.response) {
        cu_machine_apply_dense(&view, (int)blockIdx.x, velocity, shared);
        return;
    }
    const TalusMachines e = cu_machines_in_shared(&view, shared);
    talus_machine_apply(&e, (int)blockIdx.x, velocity, cu_thread_team());
}

void cu_machines_apply_view(const TalusOperator *op, CuMachinesView view, bool offset,
                            double (*velocity)[8])
{
    if (!offset)
        view.machines.bias = nullptr;
    launch_block(cu_context_of(op), apply_machines, (unsigned)view.machines.machines,
                 cu_machine_threads(&view), view, velocity);
}

void cu_machines_apply(const TalusOperator *op, bool offset, double (*velocity)[8])
{
    cu_machines_apply_view(op, cu_machines(op), offset, velocity);
}
