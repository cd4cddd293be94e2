/* world/source/overlap.h - the deepest overlap of a set of bodies (overlap.c). */
#ifndef TALUS_WORLD_SOURCE_OVERLAP_H
#define TALUS_WORLD_SOURCE_OVERLAP_H

#include "world/state.h"

/* Depth over size above which the overlap of an arriving body is reported. */
#define TALUS_DEEP_OVERLAP 0.5

/* The overlap that is deepest over size, of a set of bodies; body a moves. */
typedef struct TalusOverlapPair {
    int a, b;     /* slots; -1: no overlap */
    double depth; /* m */
    double size;  /* m: size of a, or the smaller of both sizes if b moves too */
    int pairs;    /* overlapping pairs with contacts; 1 if there are only bodies inside meshes */
} TalusOverlapPair;

/* Finds the pair with the largest depth over size. */
TalusStatus talus_view_worst_overlap(TalusPool *pool, const TalusBodyView *view,
                                     TalusOverlapPair *worst);

#endif
