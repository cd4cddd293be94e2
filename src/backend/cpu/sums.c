/* backend/cpu/sums.c - sums and maxima over the blocks of an operator (cpu.h), by groups (backend/groups.h). */
#include "backend/cpu/cpu.h"

#include "backend/groups.h"
#include "backend/part.h"

/* Joints with bounds continue the last group of contacts. On several ranks one alone counts them, that which has this
 * group; on others they are groups of their own. */
TalusStatus talus_cpu_group_blocks(const TalusOperator *op)
{
    const int end = op->blocks - op->joints;
    const int run_end[4] = {op->list_end[0], op->list_end[1], talus_first_joint(op), end};
    const int joined_end[3] = {op->list_end[0], op->list_end[1], end};
    const bool apart = op->halo && !op->halo->counts_joints;
    if (!op->pair)
        return TALUS_OK;
    const TalusFirstBodies first = {op->pair, sizeof *op->pair, op->numbers};
    if (apart)
        return talus_groups_cut_runs(&op->scratch->groups, &first, run_end, 4);
    return talus_groups_cut_contacts(&op->scratch->groups, &first, joined_end);
}

/* Returns the number of groups of blocks that are cut by position: free joints, or all blocks of an explicit matrix. */
static int64_t groups_by_position(const TalusOperator *op)
{
    return talus_chunks(op->pair ? op->joints : op->blocks, BLOCK_GRAIN);
}

int64_t talus_cpu_group_count(const TalusOperator *op)
{
    return (op->pair ? op->scratch->groups.count : 0) + groups_by_position(op);
}

/* A parallel loop over the groups that are cut by position; the first has the index first_group and starts at
 * first_block. */
typedef struct PositionLoop {
    int64_t first_block, first_group;
    TalusLoopFn *fn;
    void *context;
} PositionLoop;

/* Calls the function of a PositionLoop for one chunk of it, as a group of its own. */
static void call_for_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const PositionLoop *loop = context;
    loop->fn(loop->context, loop->first_block + begin, loop->first_block + end,
             loop->first_group + chunk);
}

void talus_cpu_for_each_positioned_group_named(const TalusOperator *op, TalusLoopFn *fn,
                                               void *context, const char *name)
{
    PositionLoop loop = {.fn = fn, .context = context};
    if (op->pair) {
        loop.first_block = op->blocks - op->joints;
        loop.first_group = op->scratch->groups.count;
    }
    if (op->blocks > loop.first_block)
        talus_parallel_named(op->pool, op->blocks - loop.first_block, BLOCK_GRAIN, call_for_chunk,
                             &loop, name);
}

void talus_cpu_for_each_group_named(const TalusOperator *op, TalusLoopFn *fn, void *context,
                                    const char *name)
{
    if (op->pair)
        talus_groups_for_each_named(&op->scratch->groups, op->pool, fn, context, name);
    talus_cpu_for_each_positioned_group_named(op, fn, context, name);
}

void talus_cpu_store_sums(const TalusOperator *op, int64_t group, int count, const double *sums)
{
    int64_t stride = talus_cpu_group_count(op);
    for (int k = 0; k < count; k++)
        op->scratch->partial[k * stride + group] = sums[k];
}

/* True if this rank counts the group: it owns the first bodies of its contacts, or counts joints. */
static bool counts_group(const TalusOperator *op, int64_t group)
{
    const TalusGroups *groups = &op->scratch->groups;
    if (group >= groups->count || groups->start[group] >= talus_first_joint(op))
        return op->halo->counts_joints;
    return op->halo->owned[op->pair[groups->start[group]][0]];
}

/* sums[k] = the sum of partial[k][group] over the groups that this rank counts. */
static void sum_own_groups(const TalusOperator *op, int count, const double *partial,
                           TalusSum *sums)
{
    const int64_t groups = talus_cpu_group_count(op);
    for (int k = 0; k < count; k++) {
        sums[k] = (TalusSum){0};
        for (int64_t g = 0; g < groups; g++)
            if (counts_group(op, g))
                talus_sum_add(&sums[k], &partial[k * groups + g], 1);
    }
}

void talus_cpu_sum_groups(const TalusOperator *op, int count, const double *partial, double *total)
{
    const int64_t groups = talus_cpu_group_count(op);
    TalusSum sums[TALUS_VECTORS];
    if (!op->halo) {
        for (int k = 0; k < count; k++)
            total[k] = talus_groups_sum(groups, partial + k * groups);
        return;
    }
    sum_own_groups(op, count, partial, sums);
    talus_comm_add_sums(op->halo->comm, sums, count);
    for (int k = 0; k < count; k++)
        total[k] = talus_sum_value(&sums[k]);
}

double talus_cpu_find_maximum(const TalusOperator *op, double value)
{
    talus_comm_find_maxima(talus_operator_comm(op), &value, 1);
    return value;
}

void talus_cpu_combine_sums(const TalusOperator *op, int sums, int maxima, double *total)
{
    int64_t groups = talus_cpu_group_count(op);
    const double *partial = op->scratch->partial;
    talus_cpu_sum_groups(op, sums, partial, total);
    for (int k = sums; k < sums + maxima; k++) {
        total[k] = 0.0;
        for (int64_t g = 0; g < groups; g++)
            update_max(&total[k], partial[k * groups + g]);
    }
    if (maxima > 0)
        talus_comm_find_maxima(talus_operator_comm(op), total + sums, maxima);
}
