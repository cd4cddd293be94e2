/* collide/contact.h - input and output of collision detection.
 *
 * Contacts come in three runs, each in the canonical order (a, b, feature), where bodies count by their ids
 * (TalusBodyView.rank). Their order, and every sum over them, therefore depends on the state alone: not on threads or
 * history, nor on the slots that bodies happen to have.
 *   1. sphere-sphere  a and b are free spheres                       } arms are not stored but
 *   2. sphere-fixed   a is a free sphere, b a fixed body             } computed (contact_arms.h)
 *   3. general        all others; arms are stored
 * Body a is always free; if b is free too, a has the lower id. The normal points from a to b. */
#ifndef TALUS_COLLIDE_CONTACT_H
#define TALUS_COLLIDE_CONTACT_H

#include "base/pool.h"
#include "geometry/shape.h"

#include <talus/comm.h>
#include <talus/math.h>

/* Filter of pairs of bodies: detection ignores pairs of different copies of a scene, pairs whose groups do not meet, and
 * pairs that are excluded. */
typedef struct TalusFilter {
    const uint16_t *group; /* by slot: 32 times the body's copy, plus its collision group */
    const uint32_t *meets; /* by group: bit g is set if its bodies collide with those of group g */
    const uint32_t (*excluded)[2]; /* sorted pairs of slots, the smaller slot first */
    int excluded_count;
} TalusFilter;

/* True if the pair of slots a and b, in either order, is in the list of excluded pairs. */
TALUS_INLINE bool talus_is_excluded(const TalusFilter *f, uint32_t a, uint32_t b)
{
    uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    int low = 0, high = f->excluded_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        uint64_t at = (uint64_t)f->excluded[middle][0] << 32 | f->excluded[middle][1];
        if (at == key)
            return true;
        low = at < key ? middle + 1 : low;
        high = at < key ? high : middle;
    }
    return false;
}

/* Returns the copy of a scene that a value of TalusFilter.group names. */
TALUS_INLINE int talus_copy_of_group(uint16_t group)
{
    return group >> 5;
}

/* True if bodies a and b belong to the same copy of a scene, and their groups meet. */
TALUS_INLINE bool talus_groups_meet(const TalusFilter *f, uint32_t a, uint32_t b)
{
    uint16_t first = f->group[a], second = f->group[b];
    return talus_copy_of_group(first) == talus_copy_of_group(second) &&
           (f->meets[first & 31] >> (second & 31) & 1);
}

/* True if the filter lets bodies a and b collide. */
TALUS_INLINE bool talus_may_meet(const TalusFilter *f, uint32_t a, uint32_t b)
{
    return talus_groups_meet(f, a, b) && !talus_is_excluded(f, a, b);
}

/* Mobility of a body. FREE: moved by forces. FIXED: never moves. DRIVEN: moves as prescribed. ASLEEP: rests until
 * something wakes it. */
enum { TALUS_MOBILITY_FREE, TALUS_MOBILITY_FIXED, TALUS_MOBILITY_DRIVEN, TALUS_MOBILITY_ASLEEP };

/* Bodies as collision detection sees them. The world owns the arrays, which are indexed by body slot. */
typedef struct TalusBodyView {
    int count; /* slots, dead ones included */
    const TalusVec3 *position;
    const TalusQuat *orientation;
    const TalusVec3 *velocity; /* free velocity v_f; in redetection the solved one */
    const TalusVec3 *spin;     /* angular velocity; NULL: no body rotates */
    const double *radius;      /* sphere radius, else bounding radius; 0: unbounded */
    const double *size;        /* sphere radius, else smallest half extent; 0: planes, surfaces */
    const int32_t *shape;      /* index into shapes, -1 for a dead slot */
    const uint8_t *mobility;   /* TALUS_MOBILITY_* */
    const TalusShape *shapes;
    int shape_count;
    const TalusFilter *filter; /* NULL: all pairs meet */
    const TalusPeriod *period; /* NULL: space is not periodic */
    /* Of a cell that deforms (cell.h); velocities are then relative to its flow. NULL: 0. */
    const TalusGradient *gradient;
    /* The order of bodies by their ids. rank[slot]: number of bodies with a lower id. at_rank[rank]: slot of the body
     * with that rank. Both NULL: ids ascend with slots. */
    const uint32_t *rank, *at_rank;
    const uint64_t *id; /* by slot; NULL, if rank is NULL too: the id is the slot + 1 */
    /* Used if rank is given: highest id at the last detection. A body with a higher id is new in its slot, and the
     * contacts of that slot in the list are those of the body before it. */
    uint64_t last_id;
    /* Number of the last slots, whose bodies other ranks own: contacts are found of free bodies in the slots before. */
    int halo;
    TalusComm *comm; /* the ranks that detect at the same time; NULL: this one alone */
} TalusBodyView;

/* True if body a comes before body b in the order of ids. rank: TalusBodyView.rank. */
TALUS_INLINE bool talus_ranks_before(const uint32_t *rank, uint32_t a, uint32_t b)
{
    return rank ? rank[a] < rank[b] : a < b;
}

/* True if the body in this slot is free. */
TALUS_INLINE bool talus_is_free(const TalusBodyView *bodies, int64_t slot)
{
    return bodies->mobility[slot] == TALUS_MOBILITY_FREE;
}

typedef struct TalusContact {
    uint32_t a, b;    /* slots of the two bodies */
    uint32_t feature; /* distinguishes the contacts of a pair; stable from step to step */
    uint32_t general; /* in run 3: index into TalusContactList.arms; else unused */
    TalusVec3 normal; /* unit vector from a to b, world frame */
    double gap;       /* m: signed distance phi along the normal */
} TalusContact;

/* Key of a contact, by which impulses are transferred to the next step. a, b: ranks of the bodies, or their slots if
 * TalusBodyView.rank is NULL. The canonical order of contacts is the order of their keys. */
typedef struct TalusKey {
    uint32_t a, b, feature;
} TalusKey;

/* Key of a contact of the bodies in slots a and b. rank: TalusBodyView.rank. */
static inline TalusKey talus_pair_key(const uint32_t *rank, uint32_t a, uint32_t b,
                                      uint32_t feature)
{
    TalusKey key = {rank ? rank[a] : a, rank ? rank[b] : b, feature};
    return key;
}

/* Key of a contact. rank: TalusBodyView.rank. */
static inline TalusKey talus_contact_key(const uint32_t *rank, const TalusContact *c)
{
    return talus_pair_key(rank, c->a, c->b, c->feature);
}

/* True if key x comes before key y: by a, then b, then feature. */
static inline bool talus_key_less(TalusKey x, TalusKey y)
{
    uint64_t px = (uint64_t)x.a << 32 | x.b, py = (uint64_t)y.a << 32 | y.b;
    return px < py || (px == py && x.feature < y.feature);
}

static inline bool talus_key_equal(TalusKey x, TalusKey y)
{
    return x.a == y.a && x.b == y.b && x.feature == y.feature;
}

typedef struct TalusArms {
    TalusVec3 a, b; /* contact point on each body relative to its centre, world frame */
} TalusArms;

typedef struct TalusContactList {
    int sphere_sphere, sphere_fixed, general; /* lengths of the runs */
    int count;                                /* their sum */
    TalusContact *contact;                    /* [count] */
    TalusArms *arms;                          /* [general] */
    TalusVec3 *impulse; /* [count], N s: on b, world frame; warm start, then result of the solve */
} TalusContactList;

typedef struct TalusDetectOptions {
    double h;        /* length of the step, s */
    double envelope; /* part of an envelope that is not due to speeds, over the smaller size */
    double reference_speed; /* m/s: max(|gravity| h, a given speed) */
    double friction;        /* largest friction coefficient of all pairs, at most 1 */
} TalusDetectOptions;

typedef struct TalusDetector TalusDetector;

/* Creates a detector with an empty list. */
TalusStatus talus_detector_create(TalusDetector **out);
/* Releases the detector and its list; accepts NULL. */
void talus_detector_destroy(TalusDetector *detector);

/* Finds every contact whose gap is below its envelope (envelope.h)
 *     envelope * min(size) + h * (closing speed along the contact's normal, now or if one body is stopped,
 *                                 + surface speeds by spin of non-spheres + friction * sliding speed
 *                                 + 2 reference_speed)
 * where a size of 0 (planes and surfaces) does not count in the minimum; two free spheres with the same centre are in
 * contact, too. Warm starts come from the list of the previous call: the impulse of the contact with the same key (a,
 * b, feature); in runs 2 and 3 the impulses of a pair's contacts that are gone are divided evenly among its new ones.
 * The detector owns the list; the next call replaces it and may move its arrays. Allocates nothing once capacities
 * suffice.
 *
 * Fails with TALUS_ERR_NUMERIC if a body's numbers are not finite or out of all proportion, with TALUS_ERR_ARGUMENT if
 * an option is negative or not finite, a sphere's size is not its radius, or a free body has a shape for walls only,
 * with TALUS_ERR_UNSUPPORTED if two shapes within reach have no contact function, a body or wall does not fit the
 * period (fit.h), or there are too many pairs, contacts (INT32_MAX each), grid cells or images, and with
 * TALUS_ERR_MEMORY. *out is then the previous list, unchanged but for dropped impulses
 * (talus_detector_drop_impulses). */
TalusStatus talus_detect(TalusDetector *detector, TalusPool *pool, const TalusBodyView *bodies,
                         const TalusDetectOptions *options, TalusContactList **out);

/* Number of bodies and walls whose margin the last talus_detect or talus_detector_find_missing had to clip so far that a
 * contact may be missing: in periodic space two bodies meet as nearest images only (fit.h). A shorter h clips fewer. */
int talus_detector_count_clipped(const TalusDetector *detector);

/* Subset of bodies to redetect. */
typedef struct TalusRedetectSubset {
    const uint8_t *around; /* by slot: nonzero for bodies of the subset */
    double tolerance;      /* overlap that is allowed at the end of the step, over h; m/s */
} TalusRedetectSubset;

/* Finds contacts that are missing from the list of the last talus_detect: points at which a body of the subset, with
 * the velocities and spins of `bodies`, would overlap another body at the end of the step by more than h times the
 * tolerance. `bodies` and `options` are those of talus_detect but for velocities and spins. A pair of which each body
 * is convex or a plane is not searched if it has any contact in the list. Sets *missing to the number of contacts found,
 * 0 on failure. The contacts of the list do not change until talus_detector_add_missing is called, but its arrays may
 * move. */
TalusStatus talus_detector_find_missing(TalusDetector *detector, TalusPool *pool,
                                        const TalusBodyView *bodies,
                                        const TalusDetectOptions *options,
                                        const TalusRedetectSubset *subset, int *missing);
/* Inserts the contacts that talus_detector_find_missing has found into the list, with zero impulses. Call it only if
 * that succeeded. */
void talus_detector_add_missing(TalusDetector *detector);

/* Returns the list of the last talus_detect or talus_detector_restore, with added missing contacts (count 0 before the
 * first), after setting dropped impulses to zero. */
TalusContactList *talus_detector_contacts(TalusDetector *detector);

/* Exchanges *memory, a block of base/memory.h or NULL, for the detector's spare array of impulses. talus_detect writes
 * the new list's impulses to the spare array, which afterwards is that of the old impulses; between detections its
 * contents do not matter. So a caller with an array that is not in use during detection can lend it: exchange before
 * and after. */
void talus_detector_exchange_spare(TalusDetector *detector, TalusVec3 **memory);

/* Exchanges *memory likewise for the memory in which talus_detect and talus_detector_find_missing sort bodies and
 * pairs. */
void talus_detector_exchange_scratch(TalusDetector *detector, unsigned char **memory);

/* Marks the impulses of the contacts of the body in slot `body` to be set to zero, because another body may use its
 * slot next. The next talus_detect, talus_detector_contacts or talus_detector_restore does so, in one pass for any
 * number of bodies. */
void talus_detector_drop_impulses(TalusDetector *detector, uint32_t body);

/* Gives the bodies of the list's contacts the slots slot[present slot], and removes the contacts of bodies with -1. The
 * order of bodies by ids must not change. Until the next talus_detect only keys and impulses of the list are valid. */
void talus_detector_renumber(TalusDetector *detector, const int32_t *slot);

/* Replaces the detector's list by a copy of `list`, as if the last talus_detect had made it; for restart. If memory is
 * lacking, the list is unchanged or empty. */
TalusStatus talus_detector_restore(TalusDetector *detector, const TalusContactList *list);

#endif
