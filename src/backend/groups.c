/* backend/groups.c - groups of contacts (groups.h): cut once per problem, in one pass over the contacts. */
#include "backend/groups.h"

#include "base/memory.h"
#include "base/status.h"
#include "base/sum.h"

typedef struct List {
    const char *first_body;
    size_t stride;
} List;

/* Returns the block of BODY_GRAIN bodies that the first body of contact i is in. */
static int body_block(const List *list, int i)
{
    int32_t body;
    memcpy(&body, list->first_body + (size_t)i * list->stride, sizeof body);
    return body / BODY_GRAIN;
}

/* Appends the groups of contacts [begin, end), one run. */
static void cut_run(TalusGroups *g, const List *list, int begin, int end)
{
    int first = begin, highest = -1;
    for (int i = begin; i < end; i++) {
        int block = body_block(list, i);
        if (block <= highest && i - first < BLOCK_GRAIN)
            continue;
        highest = block > highest ? block : highest;
        g->start[g->count++] = first = i;
    }
}

TalusStatus talus_groups_cut(TalusGroups *g, const void *first_body, size_t stride,
                             const int run_end[3], int bodies)
{
    const List list = {first_body, stride};
    int64_t cuts = 3 * talus_chunks(bodies, BODY_GRAIN) + talus_chunks(run_end[2], BLOCK_GRAIN);
    size_t most = (size_t)(cuts < run_end[2] ? cuts : run_end[2]) + 1;
    g->count = 0;
    TALUS_TRY(TALUS_GROW(g->start, most, 0, "groups of contacts"));
    for (int run = 0; run < 3; run++)
        cut_run(g, &list, run ? run_end[run - 1] : 0, run_end[run]);
    g->start[g->count] = run_end[2];
    return TALUS_OK;
}

typedef struct GroupLoop {
    const TalusGroups *groups;
    TalusLoopFn *fn;
    void *context;
} GroupLoop;

static void run_group(void *context, int64_t begin, int64_t end, int64_t group)
{
    const GroupLoop *loop = context;
    const int32_t *start = loop->groups->start + group;
    (void)begin;
    (void)end;
    loop->fn(loop->context, start[0], start[1], group);
}

void talus_groups_each(const TalusGroups *groups, TalusPool *pool, TalusLoopFn *fn, void *context)
{
    GroupLoop loop = {groups, fn, context};
    talus_parallel(pool, groups->count, 1, run_group, &loop);
}

double talus_groups_sum(int64_t count, const double *partial)
{
    return talus_sum_of(partial, count);
}
