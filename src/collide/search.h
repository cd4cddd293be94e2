/* collide/search.h - a search for pairs of bodies, in the grid (broad.c) or among kept neighbours (neighbours.c): buffers
 * of pairs, spheres in contact, walls. */
#ifndef TALUS_COLLIDE_SEARCH_H
#define TALUS_COLLIDE_SEARCH_H

#include "base/memory.h"
#include "collide/broad.h"

#include <string.h>

enum { TALUS_SEARCH_BUFFER = 128 }; /* pairs of a run that a chunk buffers */

/* Search of one chunk. The fat sphere of a body has the fat radius (grid.h): if two bodies are in contact, their fat
 * spheres overlap. Lengths are in TalusGrid.unit. Pairs go through small buffers into the shared lists broad->run, in
 * an order that depends on the threads; they are sorted later. */
typedef struct TalusSearch {
    TalusBroad *broad;
    const TalusGrid *grid;
    double envelope;     /* options->envelope */
    double speed_margin; /* 2 h times the reference speed, in units */
    TalusPair buffer[TALUS_RUNS][TALUS_SEARCH_BUFFER];
    int buffered[TALUS_RUNS]; /* number of pairs in each buffer */
} TalusSearch;

/* Prepares a search with empty buffers. */
static inline void talus_search_start(TalusSearch *s, TalusBroad *broad)
{
    s->broad = broad;
    s->grid = &broad->grid;
    s->envelope = s->grid->options->envelope;
    s->speed_margin =
        s->grid->options->h * (2.0 * s->grid->options->reference_speed) / s->grid->unit;
    memset(s->buffered, 0, sizeof s->buffered);
}

/* True if a free body of this rank is in the pair. Body a is free. */
static inline bool talus_search_is_own(const TalusBodyView *v, TalusPair pair)
{
    const uint32_t own = (uint32_t)(v->count - v->halo);
    return pair.a < own || (pair.b < own && talus_is_free(v, pair.b));
}

/* Removes pairs that the filter excludes, and those of other ranks' bodies, from a buffer. */
static inline void talus_search_filter(TalusSearch *s, int run)
{
    const TalusBodyView *v = s->grid->bodies;
    TalusPair *pair = s->buffer[run];
    int kept = 0;
    for (int k = 0; k < s->buffered[run]; k++)
        if ((!v->filter || talus_may_meet(v->filter, pair[k].a, pair[k].b)) &&
            (v->halo == 0 || talus_search_is_own(v, pair[k])))
            pair[kept++] = pair[k];
    s->buffered[run] = kept;
}

/* Filters the buffer of a run, appends it to the shared list and empties it. Pairs beyond the list's capacity are only
 * counted. */
static inline void talus_search_flush(TalusSearch *s, int run)
{
    TalusPairList *list = &s->broad->run[run];
    const TalusBodyView *v = s->grid->bodies;
    if ((v->filter || v->halo > 0) && !s->broad->candidates)
        talus_search_filter(s, run);
    size_t count = (size_t)s->buffered[run];
    size_t at = (size_t)atomic_fetch_add(&list->found, (long long)count);
    s->buffered[run] = 0;
    size_t capacity = TALUS_CAPACITY(list->pair);
    if (at >= capacity)
        return; /* still counted: the search is repeated with enough capacity */
    size_t unused = capacity - at;
    memcpy(list->pair + at, s->buffer[run], (count < unused ? count : unused) * sizeof(TalusPair));
}

/* Flushes all buffers. */
static inline void talus_search_finish(TalusSearch *s)
{
    for (int run = 0; run < TALUS_RUNS; run++)
        talus_search_flush(s, run);
}

/* Adds a pair to the buffer of a run, flushing it first if it is full. */
static inline void talus_search_add(TalusSearch *s, int run, uint32_t a, uint32_t b)
{
    if (s->buffered[run] == TALUS_SEARCH_BUFFER)
        talus_search_flush(s, run);
    TalusPair pair = {a, b};
    s->buffer[run][s->buffered[run]++] = pair;
}

/* Adds a pair of free spheres, the one with the lower id first. */
static inline void talus_search_add_spheres(TalusSearch *s, uint32_t a, uint32_t b)
{
    bool in_order = talus_ranks_before(s->grid->bodies->rank, a, b);
    talus_search_add(s, TALUS_RUN_SPHERES, in_order ? a : b, in_order ? b : a);
}

/* Adds a pair of bodies that are not both free spheres, to the run where it belongs. A free body comes first: if both
 * are free, the one with the lower id. A pair without a free body is not added. */
static inline void talus_search_add_others(TalusSearch *s, uint32_t a, uint32_t b)
{
    const TalusBodyView *v = s->grid->bodies;
    if (!talus_is_free(v, a) && !talus_is_free(v, b))
        return;
    if (!talus_is_free(v, a) || (talus_is_free(v, b) && talus_ranks_before(v->rank, b, a))) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    bool sphere_fixed =
        v->mobility[b] == TALUS_MOBILITY_FIXED && talus_body_kind(v, a) == TALUS_SHAPE_SPHERE;
    talus_search_add(s, sphere_fixed ? TALUS_RUN_SPHERE_FIXED : TALUS_RUN_GENERAL, a, b);
}

/* True if two free spheres are certainly in contact, whatever their speeds, which saves evaluating those: distance2 is
 * the square of the distance of their centres, ra and rb are at most their radii. The factor 1 - 2^-18 guards the test
 * against rounding. */
static inline bool talus_search_is_sure(const TalusSearch *s, double distance2, double ra,
                                        double rb)
{
    double sure = (ra + rb + s->envelope * (ra < rb ? ra : rb) + s->speed_margin) * (1.0 - 0x1p-18);
    return distance2 < sure * sure;
}

/* Adds the pairs of a body, with its position and fat radius, and the walls near it; in periodic space, near the body's
 * image that is nearest to the wall. The envelope with a wall of size 0 contains envelope * size of the body, but the
 * fat radius contains only half of that. The other half is at most envelope * fat / 2, because size <= fat. */
static inline void talus_search_walls(TalusSearch *s, uint32_t body, TalusVec3 position, double fat)
{
    const TalusGrid *grid = s->grid;
    const TalusBodyView *v = grid->bodies;
    double reach = fat * (1.0 + 0.5 * s->envelope);
    for (int w = 0; w < grid->walls; w++) {
        const TalusWall *wall = &grid->wall[w];
        TalusVec3 x = position;
        if (v->filter && !talus_groups_meet(v->filter, body, wall->body))
            continue; /* many copies of a scene have many walls */
        if (v->period) {
            x = talus_add(v->position[wall->body], talus_vector_between(v, wall->body, body));
            x = talus_scale(grid->per_unit, x);
        }
        if (talus_is_near_wall(v, wall, x, reach + wall->margin, grid->unit, true))
            talus_search_add_others(s, body, wall->body);
    }
}

/* Runs `loops`, which search all chunks, and fills the lists broad->run, unsorted. If a list is too short for its pairs,
 * grows it and runs them again. */
TalusStatus talus_search_all(TalusBroad *broad, TalusPool *pool,
                             void (*loops)(TalusBroad *broad, TalusPool *pool));
/* Sorts the pairs of a list by the ranks of (a, b). Overwrites the scratch memory and cell starts of the grid, which is
 * no longer needed. */
TalusStatus talus_search_sort(TalusBroad *broad, TalusPool *pool, TalusPairList *list);

#endif
