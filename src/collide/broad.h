/* collide/broad.h - broad phase: pairs of bodies that touch or may touch.
 *
 * A body is tested against the bodies in the grid cells around it: in half of the cells of its own level (the other
 * half tests against it), and in all coarser levels. Every body of the grid is tested against every wall
 * (talus_is_near_wall). Pairs without a free body, and pairs that the filter of the bodies excludes, are never made.
 *
 * Most detections need no search: a list of neighbours from an earlier one still contains all pairs (neighbours.h).
 *
 * A test reads 32 bytes of the partner (TalusGridBody), mostly from the cache, because neighbours along x are
 * neighbours in the sorted array. */
#ifndef TALUS_COLLIDE_BROAD_H
#define TALUS_COLLIDE_BROAD_H

#include "collide/grid.h"

/* The three runs of a contact list (contact.h). */
enum { TALUS_RUN_SPHERES, TALUS_RUN_SPHERE_FIXED, TALUS_RUN_GENERAL, TALUS_RUNS };

typedef struct TalusPairList {
    TalusPair *pair; /* slots of the two bodies */
    int64_t count;
    atomic_llong found; /* pairs found so far in a search; may exceed the capacity of `pair` */
} TalusPairList;

/* Pairs of bodies that may be in contact now and in later detections: neighbours.h. */
typedef struct TalusNeighbours {
    TalusPairList spheres; /* pairs of free spheres, in the order of ids when the list was made */
    TalusPairList others; /* other pairs with a free body that are both in the grid, in any order */
    TalusGridBody
        *body; /* by slot: position when the list was made, fat radius with the skin; in units */
    uint8_t *role;      /* by slot: TALUS_ROLE_* when the list was made */
    uint32_t *off_grid; /* [off_grid_count]: slots that were dead or whose bodies were walls */
    int off_grid_count;
    uint64_t *mark;  /* a bit for each pair of `spheres`: in contact now */
    int64_t *chunk;  /* by chunk of `spheres`: marked pairs before it */
    int slots;       /* 0: there is no list */
    bool all_free;   /* all bodies of the grid are free */
    bool ranked;     /* bodies had ranks when the list was made */
    int uses;        /* detections that this list has served */
    int pause;       /* detections until the next list is made */
    int next_pause;  /* length of the next pause */
    TalusVec3 drift; /* these four as in TalusGrid */
    double unit, large;
    int sampled;
} TalusNeighbours;

typedef struct TalusBroad {
    /* The pairs found, a and b in the order of TalusContact; talus_broad_find sorts them by the ranks of (a, b). Every
     * pair of the first run is a contact; the narrow phase decides about pairs of the other runs. */
    TalusPairList run[TALUS_RUNS];
    const uint8_t *around; /* by slot: nonzero for bodies to search around; NULL: all bodies */
    bool
        candidates; /* true during a search for a list of neighbours: all pairs that may touch are kept */
    TalusNeighbours neighbours;
    TalusGrid grid;
    TalusScratch scratch;
} TalusBroad;

/* Finds all pairs that may be contacts and writes them to broad->run. Fails as talus_detect does; the pairs are then
 * incomplete. */
TalusStatus talus_broad_find(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                             const TalusDetectOptions *options);

/* Finds all pairs with a body of the subset `around` (a flag per slot), and some pairs without such a body. The pairs
 * in broad->run are not sorted; some occur twice, and a body may be paired with itself. `around` is only used
 * during the call. */
TalusStatus talus_broad_find_around(TalusBroad *broad, TalusPool *pool, const TalusBodyView *bodies,
                                    const TalusDetectOptions *options, const uint8_t *around);
/* Releases all memory of the broad phase, the grid included; pointers stay set. */
void talus_broad_clear(TalusBroad *broad);

#endif
