/* world/source/overlap.h - the deepest overlap of a set of bodies (overlap.c). */
#ifndef TALUS_WORLD_SOURCE_OVERLAP_H
#define TALUS_WORLD_SOURCE_OVERLAP_H

#include "world/state.h"

/* Overlap over size from which on it is no start that a step should be given. */
#define TALUS_DEEP_OVERLAP 0.5

/* Two bodies of a view; a moves. */
typedef struct TalusOverlapPair {
    int a, b;     /* -1: none overlap */
    double depth; /* m */
    double size;  /* m, the smaller of the two bodies', of those that move */
    int pairs;    /* that overlap in all */
} TalusOverlapPair;

/* The pair of the largest depth over size. Velocities are to be 0. */
TalusStatus talus_view_overlap(TalusPool *pool, const TalusBodyView *view, TalusOverlapPair *worst);

#endif
