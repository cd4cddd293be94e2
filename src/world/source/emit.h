/* world/source/emit.h - placing the spheres of an emitter. */
#ifndef TALUS_WORLD_SOURCE_EMIT_H
#define TALUS_WORLD_SOURCE_EMIT_H

#include "collide/contact.h"
#include "world/source/source.h"

/* Bodies near an emitter and the spheres it would like to place (source.c). */
typedef struct TalusNursery {
    TalusDetector *detector;
    int near, count; /* the first `near` are there already, the rest are candidates */
    TalusVec3 *position, *velocity;
    TalusQuat *orientation;
    double *radius, *size;
    int32_t *shape;
    uint8_t *fixed, *taken;
    int placed;
    TalusVec3 *placed_position;
    double *placed_radius;
} TalusNursery;

TalusStatus talus_emit(TalusWorld *world, TalusEmitter *emitter);
/* A random position in the emitter's box. */
TalusVec3 talus_emitter_spot(const TalusEmitterDef *def, TalusRng *rng);
void talus_nursery_clear(TalusNursery *nursery);

#endif
