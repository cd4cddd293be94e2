/* world/ranks/owners.c - which rank owns which blocks of body numbers. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"

#include <stdlib.h>

/* Consecutive blocks of one rank, as it sends them. */
typedef struct Run {
    uint64_t first, count;
} Run;

static int compare_runs(const void *a, const void *b)
{
    const uint64_t x = ((const Run *)a)->first, y = ((const Run *)b)->first;
    return (x > y) - (x < y);
}

/* Lists the blocks of this rank's bodies in the order of slots, where those of a block are mostly neighbours. */
static TalusStatus list_blocks(const TalusBodies *b, Run **out, size_t *count)
{
    size_t runs = 0;
    *out = NULL;
    for (int i = 0; i < b->counts.slots; i++) {
        if (b->shape[i] < 0)
            continue;
        const uint64_t block = talus_number_block(b->id[i]);
        if (runs > 0 && (*out)[runs - 1].first == block)
            continue;
        TALUS_TRY(TALUS_GROW(*out, runs + 1, runs, "owners"));
        (*out)[runs++] = (Run){block, 1};
    }
    *count = runs;
    return TALUS_OK;
}

/* Joins blocks that follow each other, and drops those that are there twice. Returns the number of runs. */
static size_t join_blocks(Run *run, size_t count)
{
    size_t runs = 0;
    if (count > 0)
        qsort(run, count, sizeof *run, compare_runs);
    for (size_t k = 0; k < count; k++) {
        const Run *last = runs > 0 ? &run[runs - 1] : NULL;
        if (last && run[k].first == last->first + last->count)
            run[runs - 1].count++;
        else if (!last || run[k].first > last->first + last->count)
            run[runs++] = run[k];
    }
    return runs;
}

static int compare_owned(const void *a, const void *b)
{
    const uint64_t x = ((const TalusOwnedBlocks *)a)->first;
    const uint64_t y = ((const TalusOwnedBlocks *)b)->first;
    return (x > y) - (x < y);
}

/* Sets *out to the runs of all messages in order. */
static TalusStatus merge_runs(const TalusInbox *inbox, TalusOwnedBlocks **out, int64_t *count)
{
    size_t all = 0;
    for (int m = 0; m < inbox->count; m++)
        all += inbox->message[m].bytes / sizeof(Run);
    TALUS_TRY(TALUS_ALLOC(*out, all + 1, "owners"));
    for (int m = 0; m < inbox->count; m++) {
        const Run *run = inbox->message[m].data;
        for (size_t k = 0; k < inbox->message[m].bytes / sizeof *run; k++)
            (*out)[(*count)++] =
                (TalusOwnedBlocks){run[k].first, run[k].count, inbox->message[m].rank};
    }
    if (all > 0)
        qsort(*out, all, sizeof **out, compare_owned);
    return TALUS_OK;
}

TalusStatus talus_ranks_gather_owners(const TalusWorld *world, TalusOwnedBlocks **out,
                                      int64_t *count)
{
    TalusComm *comm = world->ranks.comm;
    TalusInbox inbox = {0};
    Run *mine;
    size_t runs = 0;
    *out = NULL;
    *count = 0;
    TalusStatus status = talus_comm_agree(comm, list_blocks(&world->bodies, &mine, &runs));
    if (status == TALUS_OK) {
        runs = join_blocks(mine, runs);
        const TalusMessage message = {mine, runs * sizeof *mine, 0};
        status = talus_comm_route(comm, &message, 1, &inbox);
    }
    if (status == TALUS_OK && talus_comm_rank(comm) == 0)
        status = merge_runs(&inbox, out, count);
    status = talus_comm_agree(comm, status);
    talus_release(mine);
    talus_inbox_clear(&inbox);
    return status;
}
