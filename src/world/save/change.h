/* world/save/change.h - loading of a saved world with other settings, to compare several settings from one state. */
#ifndef TALUS_WORLD_SAVE_CHANGE_H
#define TALUS_WORLD_SAVE_CHANGE_H

#include <talus/world.h>

/* Settings in place of the saved ones. Pairs of materials with a friction model of their own keep their law. */
typedef struct TalusWorldChanges {
    TalusFrictionLaw law;
    double compliance, elastic_overlap, tolerance, step;
    TalusMissPolicy on_miss;
} TalusWorldChanges;

/* As talus_world_load, with these settings; `changes` NULL: with the saved ones. With changes, time continues from the
 * saved time, impulses of the saved step are scaled to the new step length, and the solver's state is not loaded. */
TalusStatus talus_world_load_changed(const void *bytes, size_t size, int threads,
                                     const char *backend, const TalusWorldChanges *changes,
                                     TalusWorld **out);

#endif
