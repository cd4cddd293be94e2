/* collide/detector.h - internals of the detector. */
#ifndef TALUS_COLLIDE_DETECTOR_H
#define TALUS_COLLIDE_DETECTOR_H

#include "collide/broad.h"
#include "collide/narrow.h"

/* A contact that is missing from the list. */
typedef struct TalusMissed {
    int run;
    TalusContact contact;
    TalusArms arms;
} TalusMissed;

struct TalusDetector {
    TalusContactList list;
    TalusVec3 *spare;    /* impulses of the new list while it is made */
    TalusKey *old_key;   /* keys of the second and third run of the old list */
    int64_t *chunk;      /* by chunk of pairs: number of contacts, later index of the first */
    TalusContact *draft; /* contacts found while the third run is counted: DRAFT per chunk */
    TalusArms *draft_arms;
    uint8_t *dropped; /* by body: the impulses of its contacts are to be zeroed */
    bool any_dropped;
    TalusMissed *missed; /* found by redetection */
    int64_t missed_count;
    TalusBroad broad;

    /* Valid during a call. */
    const TalusBodyView *bodies;
    const TalusDetectOptions *options;
    TalusContactList old;     /* lengths of the old runs */
    atomic_llong unsupported; /* lowest index of a pair of the run without a contact function */
    int run;                  /* run that is counted or written */
    int64_t *run_chunk;       /* part of chunk for this run */
    int64_t drafts;           /* number of chunks of the third run with a draft */
    const TalusRedetectSubset *look;
    atomic_llong found; /* missing contacts found so far; may exceed the capacity */
};

/* Returns the first of the contacts low .. high - 1 whose key is not below `key`, or high. */
static inline int64_t talus_find_key(const TalusContact *old, int64_t low, int64_t high,
                                     TalusKey key)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (talus_key_less(talus_key_of(&old[middle]), key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
