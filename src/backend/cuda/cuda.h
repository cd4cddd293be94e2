/* backend/cuda/cuda.h - the functions of the cuda backends (contracts: backend/backend.h), with C linkage for the
 * tables in backend.c. */
#ifndef TALUS_BACKEND_CUDA_CUDA_H
#define TALUS_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Most blocks of a problem whose runs are one kernel (iterate/iterate_resident.h). */
#ifdef TALUS_EMULATED
enum { CU_SMALL_BLOCKS = 256 };
#else
enum { CU_SMALL_BLOCKS = 132 * 768 };
#endif

/* device/memory.cu: functions of TalusBackend with these names; cu_memory_in_use is `memory` */
TalusStatus cu_open(void);
void cu_describe(char *text, size_t size);
double cu_copy_speed(void);
size_t cu_memory_in_use(void); /* bytes in use on the current device, by all programs */
TalusStatus cu_context_create(TalusContext **out);
void cu_context_destroy(TalusContext *context);
TalusStatus cu_check(TalusContext *context);
/* for tests: bytes copied between host and device so far, but for those of solves (ops/, iterate/) in page-locked memory */
uint64_t cu_copied_bytes(const TalusContext *context);

/* The operations of operations.h: cu_GROUP_NAME. */
#define OPERATION(result, group, name, arguments) result cu_##group##_##name arguments;
#include "backend/operations.h"

/* ops/operator.cu: frees op->device (the scratch, the copy of a host's operator, and what other files store there) and
 * sets it to NULL. */
void cu_scratch_clear(TalusOperator *op);
/* sweep/sweep.cu, for tests: writes, in host memory, contact[k], the contact at place k of the order, and class_of[i],
 * the class of contact i (sweep.h); [blocks] each. */
void cu_sweep_order(const TalusSweep *sweep, uint32_t *contact, uint32_t *class_of);

/* iterate/iterate.cu: run.accelerate and run.jacobi, in double precision and in single precision with refinement */
TalusStatus cu_accelerate_run(const TalusOperator *op, TalusAccelerated *state,
                              TalusMomentum *momentum, TalusRun *run);
TalusStatus cu_accelerate_run_mixed(const TalusOperator *op, TalusAccelerated *state,
                                    TalusMomentum *momentum, TalusRun *run);
TalusStatus cu_jacobi_run(const TalusOperator *op, double omega, double lambda, double *gamma,
                          TalusRun *run);
TalusStatus cu_jacobi_run_mixed(const TalusOperator *op, double omega, double lambda, double *gamma,
                                TalusRun *run);

/* iterate/face.cu: run.proportion */
TalusStatus cu_proportion_run(const TalusOperator *op, TalusProportioning *state, TalusRun *run);

#ifdef __cplusplus
}
#endif

#endif
