/* world/source/source.h - arrivals and sinks, with commit and rollback. */
#ifndef TALUS_WORLD_SOURCE_SOURCE_H
#define TALUS_WORLD_SOURCE_SOURCE_H

#include "base/rng.h"
#include "world/source/sizes.h"
#include <talus/world.h>

typedef struct TalusEmitter {
    TalusEmitterDef def; /* radius_min and radius_max: of the curve; `sizes` is NULL */
    TalusSizeDef sizes;  /* with an array `sieve` of its own */
    TalusSizeCurve curve;
    int shape; /* index of the world's sphere shape */
    /* Radii are drawn in order and wait for a free position, so that a crowded region does not favour small bodies.
     * drawn - waiting bodies have been placed. */
    TalusRng rng;
    int64_t drawn;  /* number of radii drawn so far */
    int waiting;    /* number of drawn radii without a position yet */
    double *radius; /* [waiting], m */
    /* the four values above at the start of the step, for a rollback */
    TalusRng rng_before;
    int64_t drawn_before;
    int waiting_before;
    double *radius_before;
} TalusEmitter;

/* A delayed batch, with copies of its arrays. */
typedef struct TalusPending {
    double time; /* s: the batch is added in the first step that starts then or later */
    TalusBodyBatch batch;
    bool added; /* true if the current step added its bodies; commit drops the batch */
} TalusPending;

/* Removes free bodies, not sleeping ones, whose centre has a coordinate below a value. */
typedef struct TalusSink {
    char *name;
    int axis;       /* 0, 1 or 2 */
    double below;   /* m */
    TalusFlow flow; /* of the last step and before */
    TalusFlow next; /* bodies and mass of the current step */
} TalusSink;

typedef struct TalusSources {
    TalusEmitter *emitter;
    int emitters;
    TalusPending *pending;
    int pendings;
    TalusSink *sink;
    int sinks;
} TalusSources;

/* At the start of a step: stores the emitters' states, adds due batches and emitted spheres, removes bodies below
 * sinks, and records these changes in the journal. */
TalusStatus talus_sources_apply(TalusWorld *world);
/* After a step that succeeded: drops the batches that the step added and stops recording in the journal. */
void talus_sources_commit(TalusWorld *world);
/* After a step that failed: removes added bodies, restores removed ones and resets batches and emitters, if
 * talus_sources_apply had begun to change them. */
void talus_sources_rollback(TalusWorld *world);
void talus_sources_clear(TalusWorld *world);
/* Sets what sink `index` has taken, as when a state is loaded. */
void talus_sink_set_flow(TalusWorld *world, int index, const TalusFlow *flow);
/* Releases the arrays of a delayed batch. */
void talus_pending_clear(TalusPending *pending);

/* ---- arrival.c ---- */
/* At the end of a successful step that added batches: warns, once per world, of the deepest overlap of an added body
 * if it exceeds TALUS_DEEP_OVERLAP of the smaller size. */
void talus_arrivals_report(TalusWorld *world);

#endif
