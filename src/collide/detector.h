/* collide/detector.h - the detector as its files see it. */
#ifndef TALUS_COLLIDE_DETECTOR_H
#define TALUS_COLLIDE_DETECTOR_H

#include "collide/broad.h"
#include "collide/contact.h"
#include "collide/envelope.h"
#include "collide/narrow.h"

typedef struct TalusKey {
    uint32_t a, b, feature;
} TalusKey;

/* A touch that is not in the list. */
typedef struct TalusMissed {
    int run;
    TalusContact contact;
    TalusArms arms;
} TalusMissed;

struct TalusDetector {
    TalusContactList list;
    TalusVec3 *spare;    /* impulses of the next list */
    TalusKey *old_key;   /* of the old list without its first run */
    int64_t *chunk;      /* touches of each chunk of pairs, then the place of its first */
    TalusContact *draft; /* [DRAFT] for each chunk of the third run */
    TalusArms *draft_arms;
    uint8_t *dropped; /* by body: its impulses are to be dropped */
    bool any_dropped;
    TalusMissed *missed; /* by another look */
    int64_t missed_count;
    TalusBroad broad;

    /* Set for the time of a call. */
    const TalusBodyView *bodies;
    const TalusDetectOptions *options;
    TalusContactList old;     /* lengths of the old runs */
    atomic_llong unsupported; /* lowest pair of the run without a function */
    int run;                  /* that is counted or written */
    int64_t *run_chunk;       /* its part of chunk */
    int64_t drafts;           /* chunks of the third run that have one */
    const TalusLook *look;
    atomic_llong found; /* touches that another look has found; may exceed the capacity */
};

/* ---- keys ---- */

static inline TalusKey talus_key_of(const TalusContact *c)
{
    TalusKey key = {c->a, c->b, c->feature};
    return key;
}

static inline bool talus_key_less(TalusKey x, TalusKey y)
{
    uint64_t px = (uint64_t)x.a << 32 | x.b, py = (uint64_t)y.a << 32 | y.b;
    return px < py || (px == py && x.feature < y.feature);
}

static inline bool talus_key_equal(TalusKey x, TalusKey y)
{
    return x.a == y.a && x.b == y.b && x.feature == y.feature;
}

/* First of the contacts low .. high - 1 whose pair is not before (a, b). */
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
