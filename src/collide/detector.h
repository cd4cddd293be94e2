/* collide/detector.h - memory and state of the detector, shared by detect.c and missing.c. */
#ifndef TALUS_COLLIDE_DETECTOR_H
#define TALUS_COLLIDE_DETECTOR_H

#include "collide/broad.h"
#include "collide/narrow.h"

/* A contact that redetection has found and the list lacks. */
typedef struct TalusMissing {
    int run; /* TALUS_RUN_* */
    TalusKey key;
    int64_t before; /* index in the list of the contact before which this one is to be inserted */
    TalusContact contact; /* its index `general` is set when it is inserted */
    TalusArms arms;
} TalusMissing;

struct TalusDetector {
    TalusContactList list;
    TalusVec3 *spare;  /* impulses of the new list; exchanged with list.impulse at the end */
    TalusKey *old_key; /* keys of the second and third run of the old list */
    /* By chunk of runs 2 and 3 (select_run): number of contacts, later index of the first one within its run. */
    int64_t *chunk;
    TalusContact *draft;   /* contacts found while run 3 is counted: DRAFT per chunk (detect.c) */
    TalusArms *draft_arms; /* arms of the contacts in draft */
    TalusSpinSpeeds *spin_speeds; /* by slot; 0 in dead slots */
    uint8_t *dropped;      /* by slot: the impulses of the body's contacts are to be zeroed */
    bool any_dropped;      /* some element of dropped is set */
    TalusMissing *missing; /* found by the last redetection and not yet added to the list */
    int64_t missing_count;
    TalusBroad broad;

    /* Valid during a call of talus_detect or talus_detector_find_missing. */
    const TalusBodyView *bodies;
    const TalusDetectOptions *options;
    TalusContactList old;     /* the old list; only the lengths of its runs are used */
    atomic_llong unsupported; /* lowest index of a pair of the run that the narrow phase refuses */
    int run;                  /* run that is counted, written or searched */
    int64_t *run_chunk;       /* part of chunk for this run */
    int64_t drafts;           /* number of chunks of the third run with a draft */
    bool joined;     /* drafts follow each other without gaps, and there is only the third run */
    int64_t drafted; /* contacts in joined drafts */
    const TalusRedetectSubset *subset; /* in talus_detector_find_missing */
    atomic_llong found;                /* missing contacts found so far; may exceed the capacity */
};

/* Returns the index of the first contact in old[low .. high - 1], sorted by key, whose key is not below `key`; high:
 * none. rank: TalusBodyView.rank. */
static inline int64_t talus_find_key(const TalusContact *old, const uint32_t *rank, int64_t low,
                                     int64_t high, TalusKey key)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (talus_key_less(talus_contact_key(rank, &old[middle]), key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
