/* world/ranks/ranks.h - a world on several ranks: who owns which body, and copies of the bodies around.
 *
 * The slots of a rank's world have the bodies that the rank owns; every loop of the world is over those. The slots behind
 * them have the halo: copies of other ranks' bodies that may touch its own free ones. The engine sees both. A contact of
 * two ranks' bodies is found and solved by both, from the same numbers, so that no impulse travels.
 *
 * Bodies are dealt in blocks of BODY_GRAIN consecutive numbers, the groups of sums (backend/groups.h): every sum has the
 * terms that it has on one rank, in the same order. Which rank has which block, and how wide the halo is, therefore
 * changes the speed and never the result.
 *
 *     ranks.c   what such a world can do; owners of new bodies
 *     deal.c    which rank owns which blocks; bodies and impulses change ranks
 *     whole.c   a whole world becomes parts, and parts a whole
 *     halo.c    which bodies each rank needs from which other, and their copies
 *     reach.c   where a body may touch others within a step
 *     record.c  a body as it is sent */
#ifndef TALUS_WORLD_RANKS_RANKS_H
#define TALUS_WORLD_RANKS_RANKS_H

#include "backend/host.h"
#include "comm/comm.h"
#include "engine/engine.h"

#include <talus/world.h>

/* A body as it is sent. solved_* and changed: TalusSolvedMotions, once there are any. */
typedef struct TalusBodyRecord {
    uint64_t id;
    TalusVec3 position, velocity, spin, force, torque, solved_velocity, solved_spin;
    TalusQuat orientation;
    double mass, radius, size;
    int32_t shape, material, tag;
    uint16_t group;
    uint8_t mobility, changed;
} TalusBodyRecord;

/* A contact as it is sent. run: of the contact list, 0 to 2; arms: in the last run. */
typedef struct TalusContactRecord {
    uint64_t a, b; /* numbers of the bodies */
    uint32_t feature;
    int32_t run;
    TalusVec3 normal, impulse;
    double gap;
    TalusArms arms;
} TalusContactRecord;

/* Slots of bodies that are sent to, or come from, one rank. */
typedef struct TalusSlotList {
    int32_t *slot;
    int count;
} TalusSlotList;

/* Slots of the contact list of the engine: those of own bodies, then those of a halo. */
typedef struct TalusListSlots {
    int own, halo;
    uint64_t *id; /* [halo] */
} TalusListSlots;

typedef struct TalusRanks {
    TalusComm *comm;   /* NULL: the world is whole */
    int64_t elsewhere; /* living bodies that other ranks own */
    /* who owns new bodies */
    uint64_t newest_block; /* block of the newest number */
    int newest_owner;
    uint64_t dealt; /* TalusBodyCounts.created when bodies were last dealt */
    /* the halo */
    int halo;                   /* number of its bodies */
    int32_t *owner;             /* [halo] */
    TalusSlotList *to, *from;   /* [ranks] */
    TalusListSlots list;        /* of the engine's contacts */
    TalusListSlots list_before; /* of their snapshot */
    /* Contacts that came with bodies, until the next halo is there; `moved`: bodies have changed ranks since then. */
    TalusContactRecord *contact;
    int64_t contacts;
    bool moved;
    TalusInbox inbox;
    unsigned char *out; /* messages to send */
} TalusRanks;

/* True if the world has other ranks. */
bool talus_world_is_dealt(const TalusWorld *world);
/* Returns the number of living bodies of all ranks. */
int64_t talus_world_living(const TalusWorld *world);
/* Prepares a new world. Refuses what several ranks cannot do yet. */
TalusStatus talus_ranks_init(TalusWorld *world);
void talus_ranks_clear(TalusRanks *ranks);
/* TALUS_OK if the world is whole, else a refusal of `what`. */
TalusStatus talus_ranks_refuse(const TalusWorld *world, const char *what);

/* Returns the block of BODY_GRAIN consecutive numbers, counted from 0, that has this number (>= 1). */
static inline uint64_t talus_number_block(uint64_t number)
{
    return (number - 1) / BODY_GRAIN;
}

/* Returns the rank that owns the new body with this number; numbers come in ascending order. */
int talus_ranks_owner_of_new(TalusWorld *world, uint64_t number);

/* ---- deal.c ---- */
/* Before a step: deals the bodies anew if some ranks have much more to do than others. */
TalusStatus talus_ranks_balance(TalusWorld *world);

/* Returns the rank that is to own a block of numbers. */
typedef int TalusOwnerFn(uint64_t block, int ranks);
/* Sends the bodies of this rank's world and their contacts to rank 0, in whose ranks.inbox they arrive. The world keeps
 * them. */
TalusStatus talus_ranks_send_all(TalusWorld *world);
/* Every rank has all bodies: keeps those that it is to own, owner(number of the block, number of ranks). */
TalusStatus talus_ranks_keep_own(TalusWorld *world, TalusOwnerFn *owner);
/* Makes the bodies of the inbox, of another world if need be, those of `world`, and keeps their contacts in
 * world->ranks.contact. */
TalusStatus talus_ranks_take_all(TalusWorld *world, const TalusInbox *inbox);

/* ---- halo.c ---- */
/* Before a detection: makes the halo anew, and gives the contacts of the engine's list the slots that their bodies now
 * have. */
TalusStatus talus_ranks_make_halo(TalusWorld *world, const TalusDetectOptions *options);
/* Gives the engine the contacts that have come with bodies (TalusRanks.contact). Those of bodies that are not here are
 * left out. */
TalusStatus talus_ranks_put_contacts(TalusWorld *world);
/* After a solve: adds to the halo the bodies that may be touched with the solved motions, and brings the solved motions of
 * all of it. */
TalusStatus talus_ranks_widen_halo(TalusWorld *world, const TalusDetectOptions *options,
                                   double change_limit);
/* The slots of the contact list at a snapshot of contacts, and at its rollback. */
TalusStatus talus_ranks_snapshot(TalusWorld *world);
void talus_ranks_rollback(TalusWorld *world);

/* ---- reach.c ---- */
/* A box along the axes; empty if lo > hi. */
typedef struct TalusReachBox {
    TalusVec3 lo, hi;
} TalusReachBox;

/* Returns the box in which a body may touch others within a step: two bodies in contact have boxes that overlap. It is
 * infinite for an unbounded body. */
TalusReachBox talus_reach_of(const TalusWorld *world, int slot, const TalusDetectOptions *options,
                             TalusVec3 velocity, TalusVec3 spin);

/* ---- record.c ---- */
/* Writes the body in `slot`, without solved motions, which become 0. */
void talus_body_pack(const TalusWorld *world, int slot, TalusBodyRecord *out);
/* Writes the record to `slot`, which the arrays have, but for the solved motions. Fails if memory for its force is
 * lacking. */
TalusStatus talus_body_unpack(TalusWorld *world, const TalusBodyRecord *record, int slot);

#endif
