/* world/bodies.h - the arrays of bodies; adding and removing bodies.
 *
 * Body state is a structure of arrays over slots. A dead slot has shape -1. New bodies, with new ids, reuse dead
 * slots, lowest first. A sphere costs 158 bytes; other shapes cost no more, because the inertia of a body is its mass
 * times its shape's inertia per unit mass. */
#ifndef TALUS_WORLD_BODIES_H
#define TALUS_WORLD_BODIES_H

#include "base/sum.h"
#include "engine/engine.h"

#include <talus/world.h>

typedef struct TalusBodyCounts {
    int slots;         /* length of the arrays in use, dead slots included */
    int living;        /* bodies, including fixed ones */
    int general;       /* free or sleeping bodies that are not spheres */
    int first_free;    /* no slot below this index is dead */
    uint64_t created;  /* number of bodies created so far: the last id number */
    uint64_t detected; /* `created` at the last detection: higher ids have no contacts */
} TalusBodyCounts;

/* Slot of a body whose id number is not its slot + 1, because slots have been reused (ids.c). */
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
    double *mass;   /* kg; 0 for fixed bodies */
    double *radius; /* m: radius of a sphere, else bounding radius; 0 if unbounded */
    double *size; /* m: radius of a sphere, else smallest half extent; 0 for walls such as planes */
    double *dissipated; /* J: as in TalusBodyState */
    int32_t *shape;     /* -1 for a dead slot */
    int32_t *material, *tag;
    uint64_t *id;      /* id number of the body; in a dead slot that of its last body */
    uint8_t *mobility; /* TALUS_MOBILITY_* */
    uint16_t *group;   /* TALUS_GROUPS times the body's copy, plus its collision group (filter.h) */
} TalusBodies;

/* True if the slot has a free body: not fixed, driven or asleep. */
static inline bool talus_slot_is_free(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->mobility[slot] == TALUS_MOBILITY_FREE;
}

/* True if the slot has a sleeping body. */
static inline bool talus_slot_is_asleep(const TalusBodies *bodies, int slot)
{
    return bodies->shape[slot] >= 0 && bodies->mobility[slot] == TALUS_MOBILITY_ASLEEP;
}

/* True if the slot has a body that is free or asleep. */
static inline bool talus_slot_is_dynamic(const TalusBodies *bodies, int slot)
{
    return talus_slot_is_free(bodies, slot) || talus_slot_is_asleep(bodies, slot);
}

/* True if the slot has a driven body. */
static inline bool talus_slot_is_driven(const TalusBodies *bodies, int slot)
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

/* True if the slot has a body that existed at the last detection. */
static inline bool talus_slot_was_detected(const TalusBodies *bodies, uint32_t slot)
{
    return bodies->shape[slot] >= 0 && bodies->id[slot] <= bodies->counts.detected;
}

/* True if both bodies of the contact still exist; false if one was removed after detection, even if another body has
 * its slot now. */
static inline bool talus_contact_lives(const TalusBodies *bodies, const TalusContact *c)
{
    return talus_slot_was_detected(bodies, c->a) && talus_slot_was_detected(bodies, c->b);
}

/* Returns the id of the body in `slot`. */
static inline TalusBodyId talus_slot_id(const TalusBodies *bodies, uint32_t slot)
{
    TalusBodyId id = {bodies->id[slot]};
    return id;
}

/* The arrays of TalusBodies as a table, for loops that grow, copy and save them. */
typedef struct TalusBodyField {
    const char *name;
    size_t offset, element; /* bytes: offset of the pointer in TalusBodies, size of an element */
} TalusBodyField;

enum { TALUS_BODY_FIELDS = 14 };
extern const TalusBodyField talus_body_fields[TALUS_BODY_FIELDS];
/* Returns the array that talus_body_fields[field] describes. */
void *talus_body_array(const TalusBodies *bodies, int field);

/* Ensures a capacity of `slots` in every array; the counts do not change, and the slots that they count are kept. */
TalusStatus talus_bodies_reserve(TalusBodies *bodies, size_t slots);
/* The same, but the first `keep` slots are kept. */
TalusStatus talus_bodies_reserve_keeping(TalusBodies *bodies, size_t slots, size_t keep);
void talus_bodies_clear(TalusBodies *bodies);
/* Checks whether the batch can be added to this world; the message names the fault. */
TalusStatus talus_batch_check(const TalusWorld *world, const TalusBodyBatch *batch);
/* Returns the radius of the batch's body i: of a sphere its own, else the bounding radius of the shape. */
double talus_batch_radius(const TalusWorld *world, const TalusBodyBatch *batch, int i);
/* Returns the density of the batch or, if it has none, of its material. */
double talus_batch_density(const TalusWorld *world, const TalusBodyBatch *batch);
/* Energies, J, of bodies that come or go together. The sums are exact: they do not depend on the order of bodies. Starts
 * as zeros. */
typedef struct TalusExchange {
    TalusSum kinetic, potential;
} TalusExchange;

/* Adds `sign` times the energies of the body, if it is free or asleep, to *exchange: 1 for an added body, -1 for a removed
 * one; both around a change of its state. */
void talus_slot_exchange(const TalusWorld *world, int slot, double sign, TalusExchange *exchange);
/* Adds the energies to TalusWorld.exchange_*. */
void talus_exchange_book(TalusWorld *world, const TalusExchange *exchange);

/* A batch that is added in pieces, so that no array is as long as the batch. Starts as zeros. */
typedef struct TalusPieces {
    int added; /* bodies of earlier pieces, by which messages number the bodies of the batch */
    TalusExchange exchange;
} TalusPieces;

/* Before the pieces of a batch, or of several that differ in their shapes alone: checks what its bodies have in common and
 * reserves memory for `count` of them in all, of which this rank will own some. Ranks agree on the status before they go
 * on. */
TalusStatus talus_world_begin_pieces(TalusWorld *world, const TalusBodyBatch *batch, int count);
/* Adds one piece, without other ranks. With talus_exchange_book(&pieces->exchange) after the last one, the world has the
 * bits that talus_world_add_bodies gives with the whole batch. */
TalusStatus talus_world_add_piece(TalusWorld *world, const TalusBodyBatch *piece,
                                  TalusPieces *pieces);
/* Returns how many of the next `count` bodies, count > 0, are of one owner; *own: that is this rank, as in a whole world. */
int talus_world_count_next(TalusWorld *world, int count, bool *own);
/* In place of a piece whose bodies other ranks own. */
void talus_world_pass_over(TalusWorld *world, int count, TalusPieces *pieces);
/* Marks the slot dead (shape -1), records the change in the journal and subtracts the energies of a free or sleeping
 * body from *exchange. The other arrays keep their values, so that a rollback can restore the body. */
void talus_slot_remove(TalusWorld *world, int slot, TalusExchange *exchange);
/* Returns the kinetic energy of a body, J; 0 if it is fixed or driven, since its mass is 0. */
double talus_slot_kinetic(const TalusWorld *world, int slot);
/* Copy position, velocity, spin and orientation of `count` bodies: gather from slot[k] of the arrays to state[k],
 * scatter from state[k] to slot[k]. */
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

/* Returns a view of `bodies` (the world's own, or others with the world's shapes) for a detector that searches for
 * overlaps. The view points into the arrays of `bodies` and has neither spins nor an order of ids. `filter` NULL: all
 * pairs collide. */
TalusBodyView talus_bodies_view(const TalusWorld *world, const TalusBodies *bodies,
                                const TalusFilter *filter);

#endif
