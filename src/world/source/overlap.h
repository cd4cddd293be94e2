/* world/source/overlap.h - the deepest overlap of a set of bodies (overlap.c). */
#ifndef TALUS_WORLD_SOURCE_OVERLAP_H
#define TALUS_WORLD_SOURCE_OVERLAP_H

#include "world/state.h"

/* Overlap over size above which a start is unfit for a step. */
#define TALUS_DEEP_OVERLAP 0.5

/* The deepest overlap of a view; a moves. */
typedef struct TalusOverlapPair {
    int a, b;     /* slots; -1: no overlap */
    double depth; /* m */
    double size;  /* m: smaller size of the two bodies, of those that move */
    int pairs;    /* number of overlapping pairs */
} TalusOverlapPair;

/* Finds the pair of the largest depth over size. */
TalusStatus talus_view_overlap(TalusPool *pool, const TalusBodyView *view, TalusOverlapPair *worst);

#endif
