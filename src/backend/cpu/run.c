/* backend/cpu/run.c - many iterations: the host is here anyway, so one after the other. */
#include "backend/cpu/cpu.h"

#include "backend/run.h"

TalusStatus talus_cpu_accelerate_run(const TalusOperator *op, TalusAccelerated *state,
                                     TalusMomentum *momentum, TalusRun *run)
{
    return talus_accelerate_each(&talus_backend_cpu, op, state, momentum, run);
}

TalusStatus talus_cpu_relax_run(const TalusOperator *op, double omega, double lambda, double *gamma,
                                TalusRun *run)
{
    return talus_relax_each(&talus_backend_cpu, op, omega, lambda, gamma, run);
}
