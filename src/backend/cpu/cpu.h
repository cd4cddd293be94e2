/* backend/cpu/cpu.h - functions shared by the files of the CPU backend. */
#ifndef TALUS_BACKEND_CPU_CPU_H
#define TALUS_BACKEND_CPU_CPU_H

#include "backend/backend.h"
#include "backend/host.h"

/* u = D'v, contact velocities of blocks [begin, end) in their frames, op->rows numbers per block. */
void talus_cpu_contact_velocity(const TalusOperator *op, const double (*velocity)[8], int begin,
                                int end, double *u);

/* Writes the wrenches (impulse and torque, see contact.c) of blocks [begin, end) to record, one per contact or, of a
 * general one, two. gamma starts at block `begin`, record at block 0. */
void talus_cpu_wrench(const TalusOperator *op, const double *gamma, int begin, int end,
                      double (*record)[6]);

/* Writes gamma = S x to the scratch: its wrenches to `record` or, for an explicit matrix, gamma to `unscaled`. */
void talus_cpu_unscale(const TalusOperator *op, const TalusMetricBlock *metric, const double *x);

/* velocity = v_f, if `free_motion`, plus M^-1 times the sum of a body's wrenches; then satisfies eliminated joints. */
void talus_cpu_gather(const TalusOperator *op, const double (*record)[6], bool free_motion,
                      double (*velocity)[8]);

/* Explicit operator (sparse.c): true if N consists of full 3 x 3 blocks; out = N x for blocks [begin, end), out
 * starting at block `begin`. */
bool talus_cpu_full_blocks(const TalusOperator *op);
void talus_cpu_sparse_product(const TalusOperator *op, const double *x, int begin, int end,
                              double *out);

/* Maximum number of sums per chunk. */
enum { PARTIALS = 8 };

/* Adds up the first `count` partial sums of all chunks of blocks, in order; the last total is a maximum instead. */
void talus_cpu_collect(const TalusOperator *op, int count, double *total);

/* The operations: talus_cpu_GROUP_NAME. */
#define OPERATION(result, group, name, arguments) result talus_cpu_##group##_##name arguments;
#define OPTIONAL(result, group, name, arguments)
#include "backend/operations.h"

#endif
