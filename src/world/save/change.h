/* world/save/change.h - a saved world with other settings: one state, advanced in several ways, to compare them. */
#ifndef TALUS_WORLD_SAVE_CHANGE_H
#define TALUS_WORLD_SAVE_CHANGE_H

#include <talus/world.h>

/* Settings in place of the saved ones; of pairs of materials with a friction model of their own the law stays. */
typedef struct TalusWorldChanges {
    TalusFrictionLaw law;
    double compliance, elastic_overlap, tolerance, step;
    TalusMissPolicy on_miss;
} TalusWorldChanges;

/* As talus_world_load, with these settings. Time goes on from the saved one, impulses are those of the saved step scaled
 * to the new one; the solver starts without what it had learnt. */
TalusStatus talus_world_load_changed(const void *bytes, size_t size, int threads,
                                     const char *backend, const TalusWorldChanges *changes,
                                     TalusWorld **out);

#endif
