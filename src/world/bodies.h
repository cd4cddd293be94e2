/* world/bodies.h - the arrays of bodies; adding and removing them.
 *
 * Body state is a structure of arrays over slots. A dead slot has shape -1 and is used again,
 * lowest first, by a body with an id of its own. A sphere costs 150 bytes; other shapes cost no more, because
 * the inertia of a body is its mass times its shape's inertia per unit mass. */
#ifndef TALUS_WORLD_BODIES_H
#define TALUS_WORLD_BODIES_H

#include "engine/engine.h"

#include <talus/world.h>

typedef struct TalusBodyCounts {
    int slots;        /* in use so far, dead ones included */
    int living;       /* fixed ones included */
    int general;      /* living, moving, not spheres */
    int first_free;   /* no dead slot lies below */
    uint64_t created; /* bodies so far: the last number given */
} TalusBodyCounts;

/* A body whose slot is not its number - 1 (ids.c). */
typedef struct TalusDisplaced {
    uint64_t number;
    int32_t slot;
} TalusDisplaced;

typedef struct TalusBodies {
    TalusBodyCounts counts;
    TalusDisplaced *displaced; /* ascending by number; bodies that are gone may be among them */
    int displaced_count;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *mass;   /* 0 for fixed bodies */
    double *radius; /* sphere radius; bounding radius of other shapes; 0 where unbounded */
    double *size;   /* sphere radius; smallest half extent; 0 for plane and revolve */
    int32_t *shape; /* -1 for a dead slot */
    int32_t *material, *tag;
    uint64_t *id;   /* number of the body; of a dead slot, that of its last one */
    uint8_t *fixed; /* TALUS_MOTION_* */
    uint8_t *group;
} TalusBodies;

static inline bool talus_slot_moves(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && !bodies->fixed[slot];
}

static inline bool talus_slot_asleep(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->fixed[slot] == TALUS_MOTION_ASLEEP;
}

/* Whether it moves by itself, now or when it wakes. */
static inline bool talus_slot_loose(const TalusBodies *bodies, int slot)
{
    return talus_slot_moves(bodies, slot) || talus_slot_asleep(bodies, slot);
}

static inline bool talus_slot_driven(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->fixed[slot] == TALUS_MOTION_DRIVEN;
}

static inline TalusBodyId talus_slot_id(const TalusBodies *bodies, uint32_t slot)
{
    TalusBodyId id = {bodies->id[slot]};
    return id;
}

/* The arrays of TalusBodies as a table: grown, copied and saved by one loop each. */
typedef struct TalusBodyField {
    const char *name;
    size_t offset, element;
} TalusBodyField;

enum { TALUS_BODY_FIELDS = 13 };
extern const TalusBodyField talus_body_fields[TALUS_BODY_FIELDS];
void *talus_body_array(const TalusBodies *bodies, int field);

TalusStatus talus_bodies_reserve(TalusBodies *bodies, size_t slots);
void talus_bodies_clear(TalusBodies *bodies);
/* Whether the batch can be added to this world; the message says what is wrong. */
TalusStatus talus_batch_check(const TalusWorld *world, const TalusBodyBatch *batch);
/* Marks the slot dead and keeps its data, so that a journal can bring it back. */
void talus_slot_remove(TalusWorld *world, int slot);
double talus_slot_kinetic(const TalusWorld *world, int slot);

#endif
