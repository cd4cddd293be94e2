/* world/source/emit.h - placement of an emitter's spheres. */
#ifndef TALUS_WORLD_SOURCE_EMIT_H
#define TALUS_WORLD_SOURCE_EMIT_H

#include "collide/contact.h"
#include "world/bodies.h"
#include "world/source/source.h"

/* Bodies near an emitter and the spheres that it tries to place (emit.c). */
typedef struct TalusEmitCandidates {
    TalusDetector *detector;
    /* First `near_count` fixed bodies: existing ones and spheres placed so far. Then the candidates of this round. */
    TalusBodies bodies;
    int near_count;
    uint8_t *rejected; /* by slot of `bodies`: the candidate is not accepted (mark_rejected) */
    int placed;        /* candidates accepted so far, in the next two arrays */
    TalusVec3 *placed_position;
    double *placed_radius;
} TalusEmitCandidates;

/* Draws the radii that are due, places as many of the waiting spheres as find a free position, and adds these as
 * bodies. */
TalusStatus talus_emitter_emit(TalusWorld *world, TalusEmitter *emitter);
/* Returns a random position, uniform in the emitter's box. */
TalusVec3 talus_emitter_random_position(const TalusEmitterDef *def, TalusRng *rng);
void talus_emit_candidates_clear(TalusEmitCandidates *candidates);

#endif
