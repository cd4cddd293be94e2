/* world/ranks/ranks.h - a world on several ranks: who owns which body, and copies of the bodies around.
 *
 * The slots of a rank's world have the bodies that the rank owns; every loop of the world is over those. The slots behind
 * them have the halo: copies of other ranks' bodies that may touch its own free ones. The engine sees both. A contact of
 * two ranks' bodies is found and solved by both, from the same numbers, so that no impulse travels.
 *
 * Joints are not dealt: all ranks have them, and copies of their bodies (joint/joint_ranks.c).
 *
 * Bodies are dealt in blocks of BODY_GRAIN consecutive numbers, the groups of sums (backend/groups.h): every sum has the
 * terms that it has on one rank, in the same order. Which rank has which block, and how wide the halo is, therefore
 * changes the speed and never the result.
 *
 *     ranks.c   what such a world can do; owners of new bodies
 *     near.c    bodies by their ids: those of all ranks, and copies
 *     refer.c   drives, exclusions and joints of a world that is divided or gathered
 *     drop.c    impulses of a body's contacts are dropped
 *     exclude.c pairs that do not collide
 *     ask.c     calls that name a body: its owner acts, and all ranks get the same answer
 *     deal.c    which rank owns which blocks; bodies and impulses change ranks
 *     whole.c   a whole world becomes parts, and parts a whole
 *     halo.c    which bodies each rank needs from which other, and their copies
 *     halo_engine.c  what of that comes to the host from a GPU, and goes back
 *     reach.c   where a body may touch others within a step, and how long a halo serves
 *     look.c    what a caller sees: bodies and contacts of all ranks, bodies that overlap
 *     rest.c    islands of bodies that fall asleep together
 *     record.c  a body as it is sent */
#ifndef TALUS_WORLD_RANKS_RANKS_H
#define TALUS_WORLD_RANKS_RANKS_H

#include "backend/host.h"
#include "comm/comm.h"
#include "engine/engine.h"
#include "engine/reach.h"

#include <talus/world.h>

struct TalusBodies;

/* A body as it is sent. solved_* and changed: TalusSolvedMotions, once there are any. */
typedef struct TalusBodyRecord {
    uint64_t id;
    TalusVec3 position, velocity, spin, force, torque, solved_velocity, solved_spin;
    TalusQuat orientation;
    double mass, radius, size, dissipated;
    int32_t shape, material, tag;
    int32_t calm;    /* TalusSleep */
    uint64_t island; /* TalusSleep.label of a sleeping body */
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

/* Who owns new bodies. */
typedef struct TalusNewOwners {
    uint64_t block; /* of the newest number */
    int owner;      /* of this block */
} TalusNewOwners;

/* What the steps since bodies were last dealt have cost this rank: computing, without messages, sums and waiting for others. */
typedef struct TalusRankWork {
    double seconds, steps; /* of these steps; the older a step, the less it counts in both */
    double begun;   /* of the present step: time, less the seconds in the communicator until then */
    double lost;    /* seconds that the slowest rank has lost against the mean of all */
    double dealing; /* seconds that the deal and the halo after it have taken */
} TalusRankWork;

/* The copy of another rank's body. */
typedef struct TalusNearBody {
    uint64_t id;
    int32_t slot;
} TalusNearBody;

/* A pair of bodies that do not collide while it has an exclusion; smaller id first. */
typedef struct TalusExclusion {
    uint64_t id[2];
    int count;
} TalusExclusion;

typedef struct TalusRanks {
    TalusComm *comm;   /* NULL: the world is whole */
    int64_t elsewhere; /* living bodies that other ranks own */
    TalusNewOwners newest;
    uint64_t dealt; /* TalusBodyCounts.created when bodies were last dealt */
    TalusRankWork work;
    TalusExclusion *exclusion; /* [exclusions], the same on all ranks, sorted */
    int exclusions;
    /* the halo */
    int halo;                 /* number of its bodies */
    int32_t *owner;           /* [halo] */
    TalusNearBody *near;      /* [nears]: copies by ascending ids (talus_ranks_index_copies) */
    int nears, near_begin;    /* near_begin: the first slot of these copies */
    TalusSlotList *to, *from; /* [ranks] */
    /* [reaches]: of the bodies of this rank when the halo was made; an engine with memory of its own has them there. reaches
     * 0: there is no halo that may serve. */
    TalusReach *reach;
    int reaches;
    int64_t searches;            /* halos made so far */
    uint64_t joints;             /* TalusJoints.created at that time */
    TalusVec3 drift, drift_then; /* TalusReachOptions.drift: now and at that time */
    TalusPeriod period_then;
    TalusVec3 shift;            /* mean displacement of all ranks' free bodies since then, m */
    TalusListSlots list;        /* of the engine's contacts */
    TalusListSlots list_before; /* of their snapshot */
    /* Contacts that came with bodies, until the next halo is there; `moved`: bodies have changed ranks since then. */
    TalusContactRecord *contact;
    int64_t contacts;
    bool moved;
    TalusInbox inbox;
    unsigned char *out; /* messages to send */
    /* what the writer of frames keeps on this rank (io/frames/frames_ranks.c), and what frees it; NULL: nothing */
    void *frames;
    void (*free_frames)(void *frames);
} TalusRanks;

/* True if the world has other ranks. */
bool talus_world_is_dealt(const TalusWorld *world);
/* Returns the number of living bodies of all ranks. */
int64_t talus_world_living(const TalusWorld *world);
/* Prepares a new world. Refuses what several ranks cannot do yet. */
TalusStatus talus_ranks_init(TalusWorld *world);
void talus_ranks_clear(TalusRanks *ranks);
/* Releases the memory of messages, which is much after all bodies have been sent. */
void talus_ranks_release_messages(TalusRanks *ranks);
/* TALUS_OK if the world is whole, else a refusal of `what`. */
TalusStatus talus_ranks_refuse(const TalusWorld *world, const char *what);

/* Returns the block of BODY_GRAIN consecutive numbers, counted from 0, that has this number (>= 1). */
static inline uint64_t talus_number_block(uint64_t number)
{
    return (number - 1) / BODY_GRAIN;
}

/* Returns the rank to which a block is dealt in turn. */
static inline int talus_owner_in_turn(uint64_t block, int ranks)
{
    return (int)(block % (uint64_t)ranks);
}

/* Returns the rank that owns the new body with this number; numbers come in ascending order. */
int talus_ranks_owner_of_new(TalusWorld *world, uint64_t number);

/* ---- ask.c ---- all ranks call these together; a world that is whole gets its own answer */
/* Sets *slot to the slot of the living body with this id, -1 if another rank owns it; fails on all ranks if there is
 * none. */
TalusStatus talus_ranks_find_body(const TalusWorld *world, TalusBodyId id, int *slot);
/* True if the body that talus_ranks_find_body has found is free or asleep; `slot` as found. */
bool talus_ranks_body_is_dynamic(const TalusWorld *world, int slot);
/* Replaces *value on all ranks by that of the owner, for which slot >= 0. */
void talus_ranks_take_from_owner(const TalusWorld *world, int slot, double *value);
/* On several ranks: drops the contacts of a body that is removed from those that other ranks' bodies have here, and marks
 * its joints. */
void talus_ranks_forget_body(TalusWorld *world, TalusBodyId id);

/* ---- near.c ---- */
/* Gets the body with this id from the rank that has it; all ranks call this together. Fails on all of them if there is no
 * such body. A whole world has all bodies. */
TalusStatus talus_ranks_get_body(const TalusWorld *world, TalusBodyId id, TalusBodyRecord *out);
/* Lists by ids the copies of other ranks' bodies in the slots from `begin` on: those of the halo, within a step. */
TalusStatus talus_ranks_index_copies(TalusWorld *world, int begin, int count);
/* Returns the slot of the listed copy of a body; -1: there is none. */
int talus_ranks_slot_of_copy(const TalusWorld *world, uint64_t id);
/* Returns the slot of the body or of its listed copy; -1: this rank has neither. */
int talus_ranks_slot_near(const TalusWorld *world, TalusBodyId id);

/* Returns the number of the living body that a slot of the contact list names, also in a whole world; 0: it has been
 * removed. */
uint64_t talus_ranks_listed_body(const TalusWorld *world, uint32_t slot);

/* ---- refer.c ---- */
/* Before a whole world is divided: takes its exclusions by ids. All ranks call this together. */
TalusStatus talus_ranks_divide_references(TalusWorld *world);
/* Copies drives, exclusions and joints of a part to a world that has the bodies of all parts. */
TalusStatus talus_ranks_copy_references(const TalusWorld *part, TalusWorld *whole);

/* ---- drop.c ---- */
/* Drops the impulses of the body's contacts on all ranks, which call this together (talus_world_drop_impulses). */
void talus_ranks_drop_impulses(TalusWorld *world, TalusBodyId id);

/* ---- exclude.c ---- */
/* Adds exclusions of a pair, whose count is above 0, without other ranks, which do the same. */
TalusStatus talus_ranks_add_exclusion(TalusRanks *ranks, TalusExclusion pair);
/* Add and remove an exclusion of two bodies from collision; all ranks call these together. */
TalusStatus talus_ranks_exclude(TalusWorld *world, TalusBodyId a, TalusBodyId b);
void talus_ranks_include(TalusWorld *world, TalusBodyId a, TalusBodyId b);
/* After the halo has changed: sets TalusFilters.excluded to the pairs of which this rank has both bodies. */
TalusStatus talus_ranks_place_exclusions(TalusWorld *world);

/* ---- deal.c ---- */
/* Sets the numbers of bodies that this rank owns and of contacts that it computes. */
void talus_ranks_count(const TalusWorld *world, int64_t *bodies, int64_t *contacts);
/* Before a step: deals the bodies anew if some ranks have much more to do than others. */
TalusStatus talus_ranks_balance(TalusWorld *world);
/* Around a step: measure what it costs this rank. */
void talus_ranks_begin_work(TalusWorld *world);
void talus_ranks_end_work(TalusWorld *world);

/* Sends the bodies of this rank's world and their contacts to rank 0, in whose ranks.inbox they arrive. The world keeps
 * them. */
TalusStatus talus_ranks_send_all(TalusWorld *world);
/* Sends copies of all bodies, and each contact with its first body, so that rank r gets the r-th piece of the blocks by
 * ascending numbers, in ranks.inbox. first: [ranks], the first block of each piece. */
TalusStatus talus_ranks_send_in_order(TalusWorld *world, uint64_t *first);
/* After loading: deals blocks in turn, until talus_ranks_balance deals them by space. whole: every rank has all bodies and
 * keeps its own; else each has a piece of them. */
TalusStatus talus_ranks_deal_in_turn(TalusWorld *world, bool whole);
/* Makes the bodies of the inbox, of another world if need be, those of `world`, and keeps their contacts in
 * world->ranks.contact. */
TalusStatus talus_ranks_take_all(TalusWorld *world, const TalusInbox *inbox);

/* ---- halo_engine.c ---- for an engine with memory of its own: what comes to the host and goes back */
/* Brings what the host has changed, but for contacts, to the engine, with own bodies alone if they have changed. Sets
 * *changed: records of bodies must be sent, not only their states. */
TalusStatus talus_halo_prepare(TalusWorld *world, bool *changed);
/* All tests as talus_ranks_halo_passes, by the engine. */
TalusStatus talus_halo_test(TalusWorld *world, const TalusDetectOptions *options, bool solved,
                            bool serves[TALUS_REACH_TESTS]);
/* Brings the states of the bodies in these slots to the host and, if `solved`, their solved motions to the arrays that the
 * engine lends. */
TalusStatus talus_halo_fetch(TalusWorld *world, const int32_t *slot, int count, bool solved);
/* The same for all bodies that are sent to other ranks. */
TalusStatus talus_halo_fetch_sent(TalusWorld *world, bool solved);
/* Sets *grid over the bounds of all ranks' bodies and, in others[TALUS_NEAR_WORDS], all 0 before, the bits of the cells that
 * bodies of other ranks touch; all ranks call it. */
TalusStatus talus_halo_share_cells(TalusWorld *world, const TalusReachBox *bounds,
                                   TalusNearGrid *grid, uint32_t *others);
/* Exchanges the states of the bodies of the present halo or, if `solved`, their solved motions, from engine to engine. */
TalusStatus talus_halo_exchange_states(TalusWorld *world, bool solved);
/* After the bodies of the halo have come to the host: uploads them, and with `solved` their solved motions from the inbox. */
TalusStatus talus_halo_upload(TalusWorld *world, bool solved);
/* Gives the contacts of the engine's list the present slots. */
TalusStatus talus_halo_move_contacts(TalusWorld *world);

/* ---- halo.c ---- */
/* Before a detection: makes the halo anew, and gives the contacts of the engine's list the slots that their bodies now
 * have. */
TalusStatus talus_ranks_make_halo(TalusWorld *world, const TalusDetectOptions *options);
/* Sorts the contacts that have come with bodies, and removes those that two ranks have sent. */
TalusStatus talus_ranks_sort_contacts(TalusRanks *ranks);
/* Brings bodies and contacts of this rank to the host, if its engine has newer ones. */
TalusStatus talus_ranks_download(const TalusWorld *world);
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

/* The bodies that talus_ranks_make_halo has in the halo, but the contacts of the engine's list keep their slots. For a
 * world whose contacts nobody uses. */
TalusStatus talus_ranks_gather_halo(TalusWorld *world, const TalusDetectOptions *options);

/* ---- look.c ---- all ranks call these together; the world must have other ranks */
/* A contact of some rank. */
typedef struct TalusSharedContact {
    TalusContactState state;
    double impulse;  /* N s: normal */
    int32_t run, at; /* of the contact list of its rank: run, index */
} TalusSharedContact;

/* Sets *out to the living bodies of all ranks, by ascending numbers, in arrays that the caller clears. */
TalusStatus talus_ranks_gather_bodies(const TalusWorld *world, struct TalusBodies *out);
/* Sets *out to an array, which the caller releases, of the contacts of all ranks between living bodies, in the order of the
 * list of one rank. */
TalusStatus talus_ranks_gather_contacts(const TalusWorld *world, TalusSharedContact **out,
                                        int64_t *count);
/* The same on rank 0 alone; others get none. The caller releases the array, also after a failure. */
TalusStatus talus_ranks_bring_contacts(const TalusWorld *world, TalusSharedContact **out,
                                       int64_t *count);
/* The normal impulse, above 0, of a contact with a body that is not free. Its force sums go over ranks: the owner of the other
 * body alone has the contact. */
typedef struct TalusHeldImpulse {
    uint64_t a, b; /* numbers of the bodies */
    uint32_t feature;
    int32_t run; /* of the contact list */
    double impulse;
} TalusHeldImpulse;

/* Sets *out, on rank 0, to an array, which the caller releases, also after a failure, of all contacts with bodies that are not
 * free, and of some others, in the order of the list of one rank. */
TalusStatus talus_ranks_bring_held(const TalusWorld *world, TalusHeldImpulse **out, int64_t *count);
/* Sets *copy to a world with copies of the bodies and, in its halo, those of other ranks that overlap free ones; all else
 * is the world's own. For talus_ranks_drop_copy. */
TalusStatus talus_ranks_copy_with_halo(const TalusWorld *world, TalusWorld **copy);
void talus_ranks_drop_copy(TalusWorld *copy);

/* ---- owners.c ---- */
/* Consecutive blocks of body numbers (talus_number_block) that one rank owns. */
typedef struct TalusOwnedBlocks {
    uint64_t first, count;
    int64_t rank;
} TalusOwnedBlocks;

/* Sets *out on rank 0 to the blocks of all ranks that have bodies, in ascending order, in an array that the caller releases; on
 * other ranks to NULL. All ranks call this together. */
TalusStatus talus_ranks_gather_owners(const TalusWorld *world, TalusOwnedBlocks **out,
                                      int64_t *count);

/* ---- rest.c ---- */
/* Replaces the array of numbers, from talus_alloc, by one with those of all ranks. */
TalusStatus talus_ranks_gather_numbers(TalusComm *comm, uint64_t **number, int64_t *count);
/* Joins the islands of all ranks. island[slot], for own free bodies and those of the halo: slot that stands for the island as
 * this rank knows it. restless[island[slot]]: some rank has set it. Writes label[slot] for own free bodies: the smallest number
 * of the whole island. */
TalusStatus talus_ranks_join_islands(const TalusWorld *world, const int32_t *island,
                                     uint8_t *restless, uint64_t *label);

/* ---- reach.c ---- */
/* Returns where a body may touch others within a step: two bodies in contact have spheres of reach that overlap.
 * motions NULL: before the solve. */
TalusReach talus_reach_of(const TalusWorld *world, int slot, const TalusReachOptions *options,
                          const TalusSolvedMotions *motions);
/* Before a detection, by all ranks: sets drift and shift from the free bodies of all of them. by_engine: the engine has their
 * newest states. */
TalusStatus talus_ranks_find_drift(TalusWorld *world, bool by_engine);
/* Returns how space has deformed since the halo was made. */
TalusReachSpace talus_ranks_space(const TalusWorld *world);
/* Returns the options with the present drift. */
TalusReachOptions talus_ranks_reach_options(const TalusWorld *world,
                                            const TalusDetectOptions *options);
void talus_ranks_reach_tests(const TalusWorld *world, const TalusDetectOptions *options,
                             TalusReachTest test[TALUS_REACH_TESTS]);
/* Stores the reaches of this rank's bodies, with which a halo is made, in world->ranks.reach. */
TalusStatus talus_ranks_note_reaches(TalusWorld *world, const TalusDetectOptions *options,
                                     const TalusSolvedMotions *motions);
/* Stores what else a halo is made with, once the reaches of this rank's bodies are stored. */
void talus_ranks_note_halo(TalusWorld *world);
/* False if this rank has other slots or joints than when the halo was made. */
bool talus_ranks_halo_is_known(const TalusWorld *world);
/* True if by this test the bodies of this rank are where the present halo expects them, so that it needs no further bodies
 * for their sake. All ranks must pass the same test. */
bool talus_ranks_halo_passes(const TalusWorld *world, const TalusDetectOptions *options,
                             const TalusSolvedMotions *motions, int test);

/* ---- record.c ---- */
/* Writes the body in `slot`, without solved motions, which become 0. */
void talus_body_pack(const TalusWorld *world, int slot, TalusBodyRecord *out);
/* Writes the record to `slot`, which the arrays have, but for forces and solved motions. */
void talus_body_store(struct TalusBodies *bodies, const TalusBodyRecord *record, int slot);
/* The same for a world, with the force. Fails if memory for the force is lacking. */
TalusStatus talus_body_unpack(TalusWorld *world, const TalusBodyRecord *record, int slot);
/* Sorts records by the numbers of their bodies, which differ. */
TalusStatus talus_body_sort_records(const TalusBodyRecord **record, size_t count);

#endif
