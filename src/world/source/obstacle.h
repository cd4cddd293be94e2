/* world/source/obstacle.h - bodies that are there, with which places for new bodies are compared. */
#ifndef TALUS_WORLD_SOURCE_OBSTACLE_H
#define TALUS_WORLD_SOURCE_OBSTACLE_H

#include "world/bodies.h"

/* The bodies of one copy of the scene near a box: on several ranks, those of this rank. */
typedef struct TalusObstacles {
    TalusBodies bodies; /* first `near`, all as fixed ones; then the places, as spheres */
    int near;
    int copy;
    double
        top; /* largest z, m, of a near body that has bounds; -INFINITY: there is none; of all ranks */
} TalusObstacles;

/* Collects the bodies of the world that may overlap the box [lo, hi]. To be cleared even after a failure. All ranks call this
 * together. */
TalusStatus talus_obstacles_gather(TalusWorld *world, TalusVec3 lo, TalusVec3 hi, int copy,
                                   TalusObstacles *out);
/* Sets overlaps[k] to a number above 0 if the sphere k overlaps one of them, on whatever rank, else to 0. Spheres deep inside a
 * mesh have no contact with it (overlap.c) and count as free. All ranks call this together, with the same spheres. */
TalusStatus talus_obstacles_mark(TalusWorld *world, TalusObstacles *o, int count,
                                 const TalusVec3 *position, const double *radius,
                                 int64_t *overlaps);
void talus_obstacles_clear(TalusObstacles *o);

#endif
