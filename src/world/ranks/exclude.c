/* world/ranks/exclude.c - excluded pairs of a world on several ranks: all ranks have them by ids, and each gives the
 * detector those of which it has both bodies. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static int compare_pairs(const TalusExclusion *x, const TalusExclusion *y)
{
    if (x->id[0] != y->id[0])
        return x->id[0] < y->id[0] ? -1 : 1;
    return (x->id[1] > y->id[1]) - (x->id[1] < y->id[1]);
}

/* Returns the exclusion of a pair, with the count 0. */
static TalusExclusion pair_of(TalusBodyId a, TalusBodyId b)
{
    const bool ascend = a.number < b.number;
    return (TalusExclusion){.id = {ascend ? a.number : b.number, ascend ? b.number : a.number}};
}

/* Returns the index of the pair, or the index at which to insert it. *there: true if it is in the list. */
static int find_pair(const TalusRanks *ranks, const TalusExclusion *pair, bool *there)
{
    int low = 0, high = ranks->exclusions;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (compare_pairs(&ranks->exclusion[middle], pair) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *there = low < ranks->exclusions && compare_pairs(&ranks->exclusion[low], pair) == 0;
    return low;
}

TalusStatus talus_ranks_add_exclusion(TalusRanks *ranks, TalusExclusion pair)
{
    const size_t count = (size_t)ranks->exclusions;
    bool there;
    const int at = find_pair(ranks, &pair, &there);
    if (there) {
        ranks->exclusion[at].count += pair.count;
        return TALUS_OK;
    }
    TALUS_TRY(TALUS_GROW(ranks->exclusion, count + 1, count, "excluded pairs"));
    memmove(ranks->exclusion + at + 1, ranks->exclusion + at, (count - (size_t)at) * sizeof pair);
    ranks->exclusion[at] = pair;
    ranks->exclusions++;
    return TALUS_OK;
}

TalusStatus talus_ranks_exclude(TalusWorld *world, TalusBodyId a, TalusBodyId b)
{
    TalusRanks *ranks = &world->ranks;
    TalusExclusion pair = pair_of(a, b);
    const size_t count = (size_t)ranks->exclusions;
    pair.count = 1;
    /* room first, so that all ranks or none add the pair */
    TALUS_TRY(talus_comm_agree(ranks->comm,
                               TALUS_GROW(ranks->exclusion, count + 1, count, "excluded pairs")));
    return talus_ranks_add_exclusion(ranks, pair);
}

void talus_ranks_include(TalusWorld *world, TalusBodyId a, TalusBodyId b)
{
    TalusRanks *ranks = &world->ranks;
    const TalusExclusion pair = pair_of(a, b);
    bool there;
    const int at = find_pair(ranks, &pair, &there);
    if (!there || --ranks->exclusion[at].count > 0)
        return;
    memmove(ranks->exclusion + at, ranks->exclusion + at + 1,
            (size_t)(--ranks->exclusions - at) * sizeof pair);
}

static int compare_slots(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    if (x[0] != y[0])
        return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

TalusStatus talus_ranks_place_exclusions(TalusWorld *world)
{
    const TalusRanks *ranks = &world->ranks;
    TalusFilters *f = &world->filters;
    f->count = 0;
    TALUS_TRY(TALUS_GROW(f->excluded, (size_t)ranks->exclusions + 1, 0, "excluded pairs"));
    for (int k = 0; k < ranks->exclusions; k++) {
        const uint64_t *id = ranks->exclusion[k].id;
        const int a = talus_ranks_slot_near(world, (TalusBodyId){id[0]});
        const int b = talus_ranks_slot_near(world, (TalusBodyId){id[1]});
        if (a < 0 || b < 0)
            continue;
        f->excluded[f->count][0] = (uint32_t)(a < b ? a : b);
        f->excluded[f->count++][1] = (uint32_t)(a < b ? b : a);
    }
    if (f->count > 0)
        qsort(f->excluded, (size_t)f->count, sizeof *f->excluded, compare_slots);
    return TALUS_OK;
}
