/* world/save/rows.h - the order of a saved state: the living bodies of all ranks by ascending ids. The index of a body in it
 * is its row, and contacts, drives, exclusions and islands name bodies by rows. So the bytes do not depend on slots, nor on
 * which rank has which body.
 *
 * Of a world on several ranks each rank has a piece of consecutive rows while the state is saved: copies of their bodies,
 * and the contacts whose first bodies they are. */
#ifndef TALUS_WORLD_SAVE_ROWS_H
#define TALUS_WORLD_SAVE_ROWS_H

#include "comm/stream.h"
#include "world/ranks/ranks.h"

#include <talus/world.h>

/* What a contact or an island has to know of a body. */
typedef struct TalusPlace {
    int64_t row; /* -1: no such body lives */
    uint8_t mobility;
    bool sphere;
} TalusPlace;

/* A pair of bodies that do not collide, by rows. */
typedef struct TalusExcludedRows {
    uint32_t row[2]; /* ascending */
    int32_t count;
} TalusExcludedRows;

typedef struct TalusRows {
    /* The world itself or, on several ranks, a copy that has this rank's piece in place of its bodies, and contacts in
     * ranks.contact; all else is the world's own. */
    TalusWorld *world;
    TalusComm *comm; /* NULL: one rank */
    TalusSpan bodies;
    int32_t *slot;   /* [bodies.count]: slot of each row; NULL: row k is in slot k */
    int32_t *row;    /* by slot: the row, -1 if the slot is dead; NULL: row k is in slot k */
    uint64_t *first; /* [ranks]: first block of numbers of each piece; NULL on one rank */
    int32_t *
        island; /* [bodies.count]: lowest row of the island of a sleeping body, else the row; NULL: no sleep */
    int64_t forces;              /* rows up to the last one with an applied force */
    int32_t *drive;              /* [world->drives]: row of the driven body; -1: removed */
    TalusExcludedRows *excluded; /* [exclusions], ascending */
    int exclusions;
    /* on several ranks: */
    int32_t *second;  /* [world->ranks.contacts]: row of the second body of each contact */
    TalusSpan run[3]; /* of contacts, by run of the list */
} TalusRows;

/* Finds the rows. All ranks call this together; after a failure, which all of them have, there is nothing to close. */
TalusStatus talus_rows_open(const TalusWorld *world, TalusRows *rows);
void talus_rows_close(TalusRows *rows);

/* Returns the slot in rows->world of a row of this rank, counted from its first one. */
static inline int talus_rows_slot(const TalusRows *rows, int64_t at)
{
    return rows->slot ? rows->slot[at] : (int)at;
}

/* Returns the row of the body in a slot of a whole world; -1: the slot is dead. */
static inline int talus_rows_of_slot(const TalusRows *rows, int slot)
{
    return rows->row ? rows->row[slot] : slot;
}

/* True if a contact is in the run of the contact list, 0 sphere-sphere, 1 sphere-fixed, 2 general, that its bodies ask for. A
 * body may have become fixed, driven or asleep after detection. sphere_a, sphere_b: their shapes; mobility: of body b. */
static inline bool talus_run_fits(int run, bool sphere_a, bool sphere_b, uint8_t mobility)
{
    if (run == 0)
        return mobility == TALUS_MOBILITY_FREE && sphere_a && sphere_b;
    return run == 1 ? mobility == TALUS_MOBILITY_FIXED && sphere_a
                    : mobility != TALUS_MOBILITY_FIXED || !sphere_a;
}

#endif
