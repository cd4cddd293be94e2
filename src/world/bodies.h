/* world/bodies.h - the arrays of bodies; adding and removing them.
 *
 * Body state is a structure of arrays over slots. A dead slot has shape -1. New bodies, with new ids, reuse dead
 * slots, lowest first. A sphere costs 150 bytes; other shapes cost no more, because the inertia of a body is its mass
 * times its shape's inertia per unit mass. */
#ifndef TALUS_WORLD_BODIES_H
#define TALUS_WORLD_BODIES_H

#include "engine/engine.h"

#include <talus/world.h>

typedef struct TalusBodyCounts {
    int slots;        /* used so far, including dead ones */
    int living;       /* bodies, including fixed ones */
    int general;      /* living moving bodies that are not spheres */
    int first_free;   /* lower bound of the dead slots */
    uint64_t created; /* number of bodies created so far: the last id number */
} TalusBodyCounts;

/* A body whose slot is not its number - 1 (ids.c). */
typedef struct TalusDisplaced {
    uint64_t number;
    int32_t slot;
} TalusDisplaced;

typedef struct TalusBodies {
    TalusBodyCounts counts;
    TalusDisplaced *displaced; /* ascending by number; may include removed bodies */
    int displaced_count;
    TalusVec3 *position, *velocity, *spin;
    TalusQuat *orientation;
    double *mass;   /* 0 for fixed bodies */
    double *radius; /* radius of a sphere; bounding radius of other shapes; 0 if unbounded */
    double *size;   /* radius of a sphere; smallest half extent; 0 for plane and revolve */
    int32_t *shape; /* -1 for a dead slot */
    int32_t *material, *tag;
    uint64_t *id;      /* id number of the body; in a dead slot that of its last body */
    uint8_t *mobility; /* TALUS_MOBILITY_* */
    uint8_t *group;
} TalusBodies;

static inline bool talus_slot_moves(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->mobility[slot] == TALUS_MOBILITY_FREE;
}

static inline bool talus_slot_asleep(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->mobility[slot] == TALUS_MOBILITY_ASLEEP;
}

/* True if the body is free or asleep. */
static inline bool talus_slot_is_dynamic(const TalusBodies *bodies, int slot)
{
    return talus_slot_moves(bodies, slot) || talus_slot_asleep(bodies, slot);
}

static inline bool talus_slot_driven(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->mobility[slot] == TALUS_MOBILITY_DRIVEN;
}

/* Returns the slot that represents the set of `slot` in a forest (union-find with path halving). */
static inline int talus_slot_root(int32_t *parent, int slot)
{
    while (parent[slot] != slot)
        slot = parent[slot] = parent[parent[slot]];
    return slot;
}

/* False if a body of the contact was removed since the last step. */
static inline bool talus_contact_lives(const TalusBodies *bodies, const TalusContact *c)
{
    return bodies->shape[c->a] >= 0 && bodies->shape[c->b] >= 0;
}

static inline TalusBodyId talus_slot_id(const TalusBodies *bodies, uint32_t slot)
{
    TalusBodyId id = {bodies->id[slot]};
    return id;
}

/* The arrays of TalusBodies as a table, for loops that grow, copy and save them. */
typedef struct TalusBodyField {
    const char *name;
    size_t offset, element;
} TalusBodyField;

enum { TALUS_BODY_FIELDS = 13 };
extern const TalusBodyField talus_body_fields[TALUS_BODY_FIELDS];
void *talus_body_array(const TalusBodies *bodies, int field);

TalusStatus talus_bodies_reserve(TalusBodies *bodies, size_t slots);
void talus_bodies_clear(TalusBodies *bodies);
/* Checks whether the batch can be added to this world; the message names the fault. */
TalusStatus talus_batch_check(const TalusWorld *world, const TalusBodyBatch *batch);
/* Marks the slot dead but leaves its data, so that a journal can restore it. */
void talus_slot_remove(TalusWorld *world, int slot);
double talus_slot_kinetic(const TalusWorld *world, int slot);
/* Copies the states of `count` bodies between the arrays and a list, with the slots of the list. */
static inline void talus_bodies_gather(const TalusBodies *b, const int32_t *slot, int count,
                                       TalusMotion *state)
{
    for (int k = 0; k < count; k++) {
        int i = slot[k];
        state[k] = (TalusMotion){b->position[i], b->velocity[i], b->spin[i], b->orientation[i]};
    }
}

static inline void talus_bodies_scatter(TalusBodies *b, const int32_t *slot, int count,
                                        const TalusMotion *state)
{
    for (int k = 0; k < count; k++) {
        b->position[slot[k]] = state[k].position;
        b->velocity[slot[k]] = state[k].velocity;
        b->spin[slot[k]] = state[k].spin;
        b->orientation[slot[k]] = state[k].orientation;
    }
}

/* Returns bodies, those of the world or others with its shapes, for a detector that looks for overlaps: without
 * spins. `filter` may be NULL. */
TalusBodyView talus_bodies_view(const TalusWorld *world, const TalusBodies *bodies,
                                const TalusFilter *filter);

#endif
