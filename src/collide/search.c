/* collide/search.c - lists of pairs (search.h): grown until they suffice, sorted. */
#include "collide/search.h"

#include "base/status.h"
#include "collide/errors.h"
#include "collide/neighbours.h"

enum { RENAME_GRAIN = 4096 }; /* pairs of a chunk that are renamed */

/* Fails if a search for a list of neighbours has found too many pairs; before memory for them is reserved. */
static TalusStatus check_candidates(TalusBroad *broad)
{
    long long most = (long long)TALUS_NEIGHBOURS * broad->grid.members, found = 0;
    for (int run = 0; run < TALUS_RUNS; run++)
        found += atomic_load(&broad->run[run].found);
    return broad->candidates && found > most
               ? talus_fail(TALUS_ERR_UNSUPPORTED, "neighbours: %lld pairs, at most %lld", found,
                            most)
               : TALUS_OK;
}

TalusStatus talus_search_all(TalusBroad *broad, TalusPool *pool,
                             void (*loops)(TalusBroad *broad, TalusPool *pool))
{
    for (bool enough = false; !enough;) {
        for (int run = 0; run < TALUS_RUNS; run++)
            atomic_store(&broad->run[run].found, 0);
        loops(broad, pool);
        TALUS_TRY(check_candidates(broad));
        enough = true;
        for (int run = 0; run < TALUS_RUNS; run++) {
            TalusPairList *list = &broad->run[run];
            list->count = atomic_load(&list->found);
            TALUS_TRY(talus_check_pair_count((double)list->count, INT32_MAX));
            enough = enough && (size_t)list->count <= TALUS_CAPACITY(list->pair);
            TALUS_TRY(TALUS_GROW(list->pair, (size_t)list->count, 0, "pairs"));
        }
    }
    return TALUS_OK;
}

/* Arguments of rename_chunk. */
typedef struct BodyRenaming {
    TalusPair *pair;
    const uint32_t *name; /* by old number of a body: its new number */
} BodyRenaming;

/* Renames the bodies of pairs begin .. end - 1. */
static void rename_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const BodyRenaming *r = context;
    (void)chunk;
    for (int64_t i = begin; i < end; i++)
        r->pair[i] = (TalusPair){r->name[r->pair[i].a], r->name[r->pair[i].b]};
}

/* Replaces the bodies of all pairs by name[body]: slots by ranks, or ranks by slots. NULL: leaves the pairs as they
 * are, because slots are ranks. */
static void rename_bodies(TalusPool *pool, const TalusPairList *list, const uint32_t *name)
{
    BodyRenaming renaming = {list->pair, name};
    if (name)
        talus_parallel(pool, list->count, RENAME_GRAIN, rename_chunk, &renaming);
}

TalusStatus talus_search_sort(TalusBroad *broad, TalusPool *pool, TalusPairList *list)
{
    TalusScratch *scratch = &broad->scratch;
    TalusGrid *grid = &broad->grid;
    uint32_t range = (uint32_t)grid->bodies->count;
    if (list->count == 0)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(scratch->block, (size_t)list->count * sizeof(TalusPair), 0, "pairs"));
    TALUS_TRY(TALUS_GROW(grid->start, (size_t)range + 1, 0, "pair starts"));
    rename_bodies(pool, list, grid->bodies->rank);
    TALUS_TRY(talus_sort_pairs_by_a(&scratch->sorter, pool, list->pair, (TalusPair *)scratch->block,
                                    list->count, range, grid->start));
    talus_sort_pairs_by_b(pool, list->pair, grid->start, range);
    rename_bodies(pool, list, grid->bodies->at_rank);
    return TALUS_OK;
}
