/* backend/cpu/accelerate_single.h - runs of the accelerated method in single precision. */
#ifndef TALUS_BACKEND_CPU_ACCELERATE_SINGLE_H
#define TALUS_BACKEND_CPU_ACCELERATE_SINGLE_H

#include "backend/cpu/single.h"

/* TalusRunOps.accelerate for contacts of spheres with friction, 3 rows, and a state with `single`. Sets state->single
 * to false once the residual comes near the rounding of floats; the run then ends. */
TalusStatus talus_cpu_run_accelerate(const TalusOperator *op, TalusAccelerated *state,
                                     TalusMomentum *momentum, TalusRun *run);
/* TalusRunOps.write_back and .widen. */
void talus_cpu_run_write_back(const TalusOperator *op, TalusAccelerated *state);
void talus_cpu_run_widen(const TalusOperator *op, TalusAccelerated *state);

#endif
