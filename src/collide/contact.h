/* collide/contact.h - what collision detection reads and what it makes.
 *
 * Contacts come in three runs, each in the canonical order (a, b, feature), so that their order,
 * and with it every sum over them, depends on the state alone: not on threads, not on history.
 *   1. sphere-sphere  both bodies move and are spheres          } compact form: the arms are
 *   2. sphere-fixed   a is a moving sphere, b a fixed body      } radius times the normal
 *   3. general        everything else, driven bodies among it; arms stored
 * a < b in runs 1 and 3 unless b is fixed or driven; a always moves freely. The normal points from a to b. */
#ifndef TALUS_COLLIDE_CONTACT_H
#define TALUS_COLLIDE_CONTACT_H

#include "base/pool.h"
#include "geometry/shape.h"

#include <talus/math.h>

/* Which pairs are left out. */
typedef struct TalusFilter {
    const uint8_t *group;          /* by body */
    const uint32_t *meets;         /* by group: bit g for the groups that it meets */
    const uint32_t (*excluded)[2]; /* pairs of bodies, smaller one first, in order */
    int excluded_count;
} TalusFilter;

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

TALUS_INLINE bool talus_may_meet(const TalusFilter *f, uint32_t a, uint32_t b)
{
    return (f->meets[f->group[a]] >> f->group[b] & 1) && !talus_is_excluded(f, a, b);
}

/* Bodies as collision detection sees them: arrays owned by the world, indexed by body slot. */
typedef struct TalusBodyView {
    int count; /* slots, dead ones included */
    const TalusVec3 *position;
    const TalusQuat *orientation;
    const TalusVec3 *velocity; /* linear, at the start of the step, gravity added: v + h g */
    const TalusVec3 *spin;     /* angular velocity; NULL: nothing spins */
    const double *radius;      /* sphere radius or bounding radius; 0 where unbounded */
    const double *size;        /* the length that scales a body's margins: sphere radius, smallest
                                  half extent of other shapes */
    const int32_t *shape;      /* index into shapes, -1 for a dead slot */
    const uint8_t *fixed;      /* 0 moves freely, 1 is at rest, 2 moves as it is driven */
    const TalusShape *shapes;
    int shape_count;
    const TalusFilter *filter; /* NULL: all meet */
    const TalusPeriod *period; /* NULL: space does not repeat itself */
} TalusBodyView;

typedef struct TalusContact {
    uint32_t a, b;
    uint32_t feature; /* tells contacts of one pair apart, stable from step to step */
    uint32_t general; /* index into arms for run 3 */
    TalusVec3 normal;
    double gap; /* signed distance phi along the normal */
} TalusContact;

typedef struct TalusArms {
    TalusVec3 a, b; /* contact point on each body relative to its centre, world frame */
} TalusArms;

typedef struct TalusContactList {
    int sphere_sphere, sphere_fixed, general; /* lengths of the runs */
    int count;                                /* their sum */
    TalusContact *contact;                    /* [count] */
    TalusArms *arms;                          /* [general] */
    TalusVec3 *impulse; /* [count]: warm start, on b, world frame; the world stores results here */
} TalusContactList;

typedef struct TalusDetectOptions {
    double h;
    double envelope;        /* fraction of the smaller size */
    double reference_speed; /* max(g h, the scene's) */
    double friction;        /* the largest coefficient of any pair */
} TalusDetectOptions;

typedef struct TalusDetector TalusDetector;

TalusStatus talus_detector_create(TalusDetector **out);
void talus_detector_destroy(TalusDetector *detector);

/* Finds every contact whose gap is below its envelope
 *     envelope * min(size) + h * (closing speed of the bodies along the contact's normal, now or
 *                                 should one of them be stopped (envelope.h), plus spin surface speeds of non-spheres, plus
 *                                 friction times the sliding speed, plus 2 reference_speed)
 * where sizes of 0 (plane, revolve) do not count, and carries over impulses of contacts with the
 * same key (a, b, feature) from the list of the call before. The list belongs to the detector until
 * the next call. Nothing is allocated once capacities have been reached.
 *
 * Fails, leaving the last list as it was, with TALUS_ERR_NUMERIC where a body's numbers are not
 * finite, and TALUS_ERR_UNSUPPORTED where two shapes come within reach that have no contact
 * function or where more than INT32_MAX contacts are needed. */
TalusStatus talus_detect(TalusDetector *detector, TalusPool *pool, const TalusBodyView *bodies,
                         const TalusDetectOptions *options, TalusContactList **out);

/* In space that repeats itself: bodies that the last talus_detect or talus_detector_find_missed saw moving so far within h
 * that some of their contacts may be missing, for two bodies meet as nearest images alone. A shorter h has fewer. */
int talus_detector_clipped(const TalusDetector *detector);

/* Where another look is wanted, and how fast a gap may close beyond contact without being one. */
typedef struct TalusLook {
    const uint8_t *around; /* by body */
    double tolerance;
} TalusLook;

/* Finds where bodies of `look`, with the velocities and spins of `bodies`, would come to overlap another body within
 * the step without a contact in the list of the last talus_detect; for two convex bodies any contact of theirs will
 * do. Tells how many such touches there are. The list stays as it is until they are taken into it, without
 * impulses. */
TalusStatus talus_detector_find_missed(TalusDetector *detector, TalusPool *pool,
                                       const TalusBodyView *bodies,
                                       const TalusDetectOptions *options, const TalusLook *look,
                                       int *missed);
void talus_detector_take_missed(TalusDetector *detector);

/* The list of the last talus_detect (count 0 before the first), without dropped impulses. */
TalusContactList *talus_detector_contacts(TalusDetector *detector);

/* Forgets the impulses of a body's contacts: its slot may be used by another body next. Takes
 * effect with the next of these calls; any number of bodies costs one pass over the list. */
void talus_detector_drop_impulses(TalusDetector *detector, uint32_t body);

/* For restart: puts a list back as if the last talus_detect had made it (arrays are copied). */
TalusStatus talus_detector_restore(TalusDetector *detector, const TalusContactList *list);

#endif
