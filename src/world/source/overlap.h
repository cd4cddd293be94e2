/* world/source/overlap.h - the worst overlap of a set of bodies: the largest depth over size (overlap.c). */
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
    /* number of overlapping pairs that have a contact; bodies so deep inside a mesh that they have none do not count */
    int64_t pairs;
    int run; /* in which run of the contact list the pair is; TALUS_OVERLAP_INSIDE: b is a mesh with a inside it */
} TalusOverlapPair;

enum { TALUS_OVERLAP_INSIDE = 3 };

/* An overlap as ranks compare it. */
typedef struct TalusNumberedOverlap {
    TalusOverlapPair pair;
    uint64_t number[2]; /* of a and b; 0: none */
} TalusNumberedOverlap;

/* Replaces *worst by the worst of all ranks, with the number of all pairs; of equal ones it is the first by run, then in the
 * order of numbers. *rank: whose it is. */
TalusStatus talus_overlap_share(TalusComm *comm, TalusNumberedOverlap *worst, int *rank);

/* Sets *worst to the pair of bodies of the view with the largest depth over size; its bodies are -1 if none overlap. Of
 * equal ones it is the first by run, then in the order of ids (TalusBodyView.rank) of a and b, or of b and a inside a mesh.
 * Body a is none of the halo. */
TalusStatus talus_view_worst_overlap(TalusPool *pool, const TalusBodyView *view,
                                     TalusOverlapPair *worst);

#endif
