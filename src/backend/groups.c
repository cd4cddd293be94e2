/* backend/groups.c - groups of contacts and of bodies (groups.h), cut once per problem. */
#include "backend/groups.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/sum.h"

/* Returns which block of BODY_GRAIN consecutive body numbers, counted from 0, contains `number` (>= 1). */
static uint64_t number_block(uint64_t number)
{
    return (number - 1) / BODY_GRAIN;
}

/* Returns number_block of the first body of contact i. */
static uint64_t first_body_block(const TalusFirstBodies *first, int i)
{
    int32_t body;
    memcpy(&body, (const char *)first->body + (size_t)i * first->stride, sizeof body);
    return number_block(talus_body_number(&first->numbers, body));
}

/* Starts a group at contact or body i. */
static TalusStatus start_group(TalusGroups *g, int i)
{
    if ((size_t)g->count + 1 >=
        TALUS_CAPACITY(g->start)) /* one more is the end of the last group */
        TALUS_TRY(TALUS_GROW(g->start, (size_t)g->count + 2, (size_t)g->count, "groups"));
    g->start[g->count++] = i;
    return TALUS_OK;
}

/* Ends the last group before contact or body i. */
static TalusStatus end_groups(TalusGroups *g, int i)
{
    TALUS_TRY(TALUS_GROW(g->start, (size_t)g->count + 1, (size_t)g->count, "groups"));
    g->start[g->count] = i;
    return TALUS_OK;
}

/* Adds the groups of contacts [begin, end) of one run. */
static TalusStatus cut_run(TalusGroups *g, const TalusFirstBodies *first, int begin, int end)
{
    int from = begin;
    uint64_t highest = 0;
    for (int i = begin; i < end; i++) {
        uint64_t block = first_body_block(first, i);
        if (i > begin && block <= highest && i - from < BLOCK_GRAIN)
            continue;
        highest = block > highest ? block : highest;
        from = i;
        TALUS_TRY(start_group(g, i));
    }
    return TALUS_OK;
}

TalusStatus talus_groups_cut_runs(TalusGroups *g, const TalusFirstBodies *first, const int *run_end,
                                  int runs)
{
    TalusStatus status = TALUS_OK;
    g->count = 0;
    for (int run = 0; run < runs; run++)
        TALUS_THEN(status, cut_run(g, first, run > 0 ? run_end[run - 1] : 0, run_end[run]));
    TALUS_THEN(status, end_groups(g, run_end[runs - 1]));
    g->count = status == TALUS_OK ? g->count : 0;
    return status;
}

TalusStatus talus_groups_cut_contacts(TalusGroups *g, const TalusFirstBodies *first,
                                      const int run_end[3])
{
    return talus_groups_cut_runs(g, first, run_end, 3);
}

TalusStatus talus_groups_cut_bodies(TalusGroups *g, const uint64_t *id, const uint32_t *slot,
                                    int count)
{
    TalusStatus status = TALUS_OK;
    uint64_t last = 0;
    g->count = 0;
    for (int k = 0; k < count && status == TALUS_OK; k++) {
        uint64_t block = number_block(id[slot ? slot[k] : (uint32_t)k]);
        if (k == 0 || block != last)
            status = start_group(g, k);
        last = block;
    }
    TALUS_THEN(status, end_groups(g, count));
    g->count = status == TALUS_OK ? g->count : 0;
    return status;
}

/* Arguments of talus_groups_for_each, for call_for_group. */
typedef struct GroupLoop {
    const TalusGroups *groups;
    TalusLoopFn *fn;
    void *context;
} GroupLoop;

/* Calls the function of a GroupLoop for one group; begin and end, a range of groups, are not used. */
static void call_for_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    const GroupLoop *loop = context;
    const int32_t *start = loop->groups->start + group;
    (void)begin;
    (void)end;
    loop->fn(loop->context, start[0], start[1], group);
}

void talus_groups_for_each_named(const TalusGroups *groups, TalusPool *pool, TalusLoopFn *fn,
                                 void *context, const char *name)
{
    GroupLoop loop = {groups, fn, context};
    talus_parallel_named(pool, groups->count, 1, call_for_group, &loop, name);
}

double talus_groups_sum(int64_t count, const double *partial)
{
    return talus_sum_of(partial, count);
}
