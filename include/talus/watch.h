/* talus/watch.h - contacts that begin, persist and end from step to step.
 *
 * A watch compares the contacts of a world's last step with those that it saw before. A contact counts while it bears a
 * normal impulse above 0. Its key, the two bodies and the feature, stays the same from step to step: two boxes that rest on
 * each other have four contacts with four features. One rank. */
#ifndef TALUS_WATCH_H
#define TALUS_WATCH_H

#include <talus/base.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum TalusContactChange {
    TALUS_CONTACT_BEGINS,
    TALUS_CONTACT_PERSISTS,
    TALUS_CONTACT_ENDS
} TalusContactChange;

typedef struct TalusContactEvent {
    TalusContactChange change;
    uint32_t feature;        /* tells contacts of the same two bodies apart */
    TalusContactState state; /* of a contact that ends: a and b, the rest is 0 */
} TalusContactEvent;

typedef struct TalusWatch TalusWatch;

/* Creates a watch that has seen no contacts. NULL may be destroyed. */
TALUS_API TalusStatus talus_watch_create(TalusWatch **out);
TALUS_API void talus_watch_destroy(TalusWatch *watch);

/* Sets *event to the changes since the last call, [*count], by ascending numbers of a, then b, then features. The array is
 * the watch's until its next call. A body that was removed ends its contacts. */
TALUS_API TalusStatus talus_watch_update(TalusWatch *watch, const TalusWorld *world,
                                         const TalusContactEvent **event, int64_t *count);

#ifdef __cplusplus
}
#endif

#endif
