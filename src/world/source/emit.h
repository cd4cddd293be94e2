/* world/source/emit.h - placement of an emitter's spheres. */
#ifndef TALUS_WORLD_SOURCE_EMIT_H
#define TALUS_WORLD_SOURCE_EMIT_H

#include "collide/contact.h"
#include "world/bodies.h"
#include "world/source/source.h"

/* Bodies near an emitter and the spheres that it tries to place (emit.c). */
typedef struct TalusEmitCandidates {
    TalusDetector *detector;
    /* First near_count bodies, as fixed ones: existing bodies near the emitter and spheres placed so far. Then the
     * candidates of this round. */
    TalusBodies bodies;
    int near_count;
    uint8_t *rejected; /* by slot of `bodies`: 1 for a candidate that overlaps (mark_rejected) */
    int64_t *marks;    /* on several ranks: how many of them have marked the candidate */
    int placed;        /* candidates accepted so far, in the next two arrays */
    TalusVec3 *placed_position;
    double *placed_radius;
} TalusEmitCandidates;

/* Draws the radii of spheres that are due, tries to place all waiting spheres at free positions, and adds the placed
 * spheres as bodies; the others keep waiting. */
TalusStatus talus_emitter_emit(TalusWorld *world, TalusEmitter *emitter);
/* Returns a random position, uniform in the emitter's box. */
TalusVec3 talus_emitter_random_position(const TalusEmitterDef *def, TalusRng *rng);
void talus_emit_candidates_clear(TalusEmitCandidates *candidates);

#endif
