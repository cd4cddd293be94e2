/* backend/cpu/cpu.h - functions shared by the files of the CPU backend. */
#ifndef TALUS_BACKEND_CPU_CPU_H
#define TALUS_BACKEND_CPU_CPU_H

#include "backend/backend.h"
#include "backend/frame.h"
#include "backend/host.h"

/* world = the slip of contact i, world frame; needs op->slip. */
static inline void talus_slip_to_world(const TalusOperator *op, int64_t i, double world[3])
{
    const double local[3] = {0.0, op->slip[i][0], op->slip[i][1]};
    talus_frame_to_world(op->frame[i], local, world);
}

/* u = D'v, contact velocities of blocks [begin, end) in their frames, op->rows numbers per block. */
void talus_cpu_contact_velocity(const TalusOperator *op, const double (*velocity)[8], int begin,
                                int end, double *u);

/* Writes the wrenches (impulse and torque, see contact.c) of blocks [begin, end) to `record`: one per contact, two per
 * general contact. gamma starts at block `begin`, record at block 0. */
void talus_cpu_write_wrenches(const TalusOperator *op, const double *gamma, int begin, int end,
                              double (*record)[6]);

/* Computes gamma = S x and writes its wrenches to the scratch's `record` or, for an explicit matrix, gamma itself to
 * the scratch's `unscaled`. */
void talus_cpu_unscale_impulses(const TalusOperator *op, const TalusMetricBlock *metric,
                                const double *x);

/* Begins velocity = v_f, if `free_motion`, plus M^-1 times the sum of each body's wrenches, as records like op->body; then
 * changes the velocities so that they satisfy eliminated joints. With `terms`, which needs `free_motion`, |V| and |W|
 * of each body (terms.h) replace 1/m and k, entries 3 and 7 of its velocity record. On return the velocities of the halo
 * may still be under way: a loop `when_ready` follows (border.c), or talus_halo_finish_exchange. */
void talus_cpu_gather_wrenches(const TalusOperator *op, const double (*record)[6], bool free_motion,
                               bool terms, double (*velocity)[8]);

/* talus_cpu_gather_wrenches of the wrenches of gamma; overwrites the scratch's `record`. False, with nothing written,
 * unless all contacts are general and have three rows, and there are no joints. */
bool talus_cpu_gather_impulses(const TalusOperator *op, const double *gamma, bool free_motion,
                               bool terms, double (*velocity)[8]);

/* Begins to write the bodies' velocities v_f + M^-1 D gamma to the scratch, with `terms` and with a loop to follow as in
 * talus_cpu_gather_wrenches. */
void talus_cpu_update_velocities(const TalusOperator *op, const double *gamma, bool terms);

/* Adds the squared sizes of the terms (terms.h) of blocks [begin, end) to *terms2 and raises *max2 to the largest of
 * them. gamma starts at block 0. For contacts talus_cpu_update_velocities must have been called before, with `terms`
 * and the same gamma. */
void talus_cpu_add_terms(const TalusOperator *op, const double *gamma, int64_t begin, int64_t end,
                         double *terms2, double *max2);

/* sparse.c: true if N of an explicit operator consists of full 3 x 3 blocks. */
bool talus_cpu_has_full_blocks(const TalusOperator *op);
/* out = N x for blocks [begin, end) of an explicit operator; x starts at block 0, `out` at block `begin`. Reads
 * full_blocks of the scratch. */
void talus_cpu_sparse_product(const TalusOperator *op, const double *x, int begin, int end,
                              double *out);

/* Returns the address in a block of memory after `*used` bytes, and adds those of an array to them; block NULL: NULL. */
static inline void *talus_take_memory(unsigned char *block, size_t *used, size_t count,
                                      size_t element)
{
    enum { ALIGNMENT = 64 };
    void *array = block ? block + *used : NULL;
    *used += (count * element + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return array;
}

/* Writes s_n and s_t of block i in the metric of this kind (op.fill_metric). */
static inline void talus_cpu_metric_scales(const TalusOperator *op, TalusMetric kind, int64_t i,
                                           double s[2])
{
    const bool trace = kind == TALUS_METRIC_TRACE;
    const double d = talus_block_scale(op, (int)i);
    s[0] = 1.0 / sqrt(trace ? d : op->diagonal[i][0]);
    s[1] = 1.0 / sqrt(trace ? d : op->diagonal[i][1]);
}

/* ---- sums.c: sums and maxima over blocks, by groups (backend/groups.h) ---- */

/* Maximum number of sums and maxima that a loop stores per group. */
enum { PARTIALS = 8 };

/* Cuts the blocks of a matrix-free operator into groups; part of op.reserve_scratch. */
TalusStatus talus_cpu_group_blocks(const TalusOperator *op);
/* Returns the number of groups. Free joints, and all blocks of an explicit matrix, are in groups of BLOCK_GRAIN. */
int64_t talus_cpu_group_count(const TalusOperator *op);
/* Calls fn(context, begin, end, group) for the blocks of each group, in parallel. */
#define talus_cpu_for_each_group(op, fn, context) \
    talus_cpu_for_each_group_named((op), (fn), (context), TALUS_LOOP_NAME(fn))
void talus_cpu_for_each_group_named(const TalusOperator *op, TalusLoopFn *fn, void *context,
                                    const char *name);
/* The same for the groups that are cut by position: free joints, or all blocks of an explicit matrix. */
void talus_cpu_for_each_positioned_group_named(const TalusOperator *op, TalusLoopFn *fn,
                                               void *context, const char *name);
/* Stores `count` <= PARTIALS sums or maxima of a group in the scratch's `partial`. */
void talus_cpu_store_sums(const TalusOperator *op, int64_t group, int count, const double *sums);
/* Combines the stored numbers of all groups, of all ranks: total[k] is the sum over groups for k < sums, the maximum over
 * groups for the next `maxima` numbers. */
void talus_cpu_combine_sums(const TalusOperator *op, int sums, int maxima, double *total);

/* total[k] = the sum over the groups of all ranks of partial[k][group], for k < count <= TALUS_VECTORS. */
void talus_cpu_sum_groups(const TalusOperator *op, int count, const double *partial, double *total);
/* Returns the largest of the ranks' values; NaN if one is. */
double talus_cpu_find_maximum(const TalusOperator *op, double value);

/* ---- border.c: velocities of the halo travel behind the work ---- */

/* Makes the lists of a rank's part; part of op.reserve_scratch, after talus_cpu_group_blocks. */
TalusStatus talus_cpu_list_border(const TalusOperator *op);
/* Calls fn(context, begin, end, chunk), which writes the records, for ranges of all own bodies, in parallel, and begins the
 * exchange of records, of `bytes` each, once those are there that other ranks need. */
#define talus_cpu_compute_and_send(op, fn, context, records, bytes) \
    talus_cpu_compute_and_send_named((op), (fn), (context), (records), (bytes), TALUS_LOOP_NAME(fn))
void talus_cpu_compute_and_send_named(const TalusOperator *op, TalusLoopFn *fn, void *context,
                                      void *records, size_t bytes, const char *name);
/* Like talus_cpu_for_each_group, for a function that reads velocities: while those of the halo are under way, goes over
 * the groups that have no body of the halo, then waits and goes over the others; on return they are here. */
#define talus_cpu_for_each_group_when_ready(op, fn, context) \
    talus_cpu_for_each_group_when_ready_named((op), (fn), (context), TALUS_LOOP_NAME(fn))
void talus_cpu_for_each_group_when_ready_named(const TalusOperator *op, TalusLoopFn *fn,
                                               void *context, const char *name);
/* The same in ranges of at most BLOCK_GRAIN blocks, which are groups only if velocities are under way: for a function that
 * stores no sums. */
#define talus_cpu_for_each_block_when_ready(op, fn, context) \
    talus_cpu_for_each_block_when_ready_named((op), (fn), (context), TALUS_LOOP_NAME(fn))
void talus_cpu_for_each_block_when_ready_named(const TalusOperator *op, TalusLoopFn *fn,
                                               void *context, const char *name);

/* The operations: talus_cpu_GROUP_NAME. */
#define OPERATION(result, group, name, arguments) result talus_cpu_##group##_##name arguments;
#define OPTIONAL(result, group, name, arguments)
#include "backend/operations.h"

#endif
