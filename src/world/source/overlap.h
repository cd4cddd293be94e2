/* world/source/overlap.h - the deepest overlap of a set of bodies (overlap.c). */
#ifndef TALUS_WORLD_SOURCE_OVERLAP_H
#define TALUS_WORLD_SOURCE_OVERLAP_H

#include "world/state.h"

/* Depth over size above which the overlap of an arriving body is reported. */
#define TALUS_DEEP_OVERLAP 0.5

/* The overlap of a set of bodies with the largest depth over size; body a is free. */
typedef struct TalusOverlapPair {
    int a, b;     /* slots; -1: no overlap */
    double depth; /* m */
    double size;  /* m: size of a, or the smaller of both sizes if b is free too */
    int pairs; /* number of overlapping pairs with contacts; 1 if bodies overlap only inside meshes */
} TalusOverlapPair;

/* Sets *worst to the pair of bodies of the view with the largest depth over size. */
TalusStatus talus_view_worst_overlap(TalusPool *pool, const TalusBodyView *view,
                                     TalusOverlapPair *worst);

#endif
