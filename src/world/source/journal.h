/* world/source/journal.h - record of the bodies that a step has added and removed, for a rollback. */
#ifndef TALUS_WORLD_SOURCE_JOURNAL_H
#define TALUS_WORLD_SOURCE_JOURNAL_H

#include "world/bodies.h"
#include "world/ranks/ranks.h"

/* A body that an arrival added to a slot, or that a sink removed from it. */
typedef struct TalusJournalEntry {
    int32_t slot;
    int32_t shape_before; /* of the slot before the change; -1: dead, a body was added */
} TalusJournalEntry;

typedef struct TalusJournal {
    bool recording; /* true within a step of a world with sources (source.h) */
    TalusJournalEntry *entry;
    int count; /* number of entries; those of the last step stay until the next begins */
    TalusBodyCounts counts_before;           /* TalusBodies.counts before the step */
    TalusNewOwners owners_before;            /* TalusRanks.newest before the step */
    int64_t elsewhere_before;                /* TalusRanks.elsewhere before the step */
    double kinetic_before, potential_before; /* TalusWorld.exchange_* before the step, J */
} TalusJournal;

/* Reserves memory for `entries` more changes, so that talus_journal_record cannot fail. No effect while the journal
 * does not record. */
TalusStatus talus_journal_reserve(TalusWorld *world, int entries);
/* Records that a body was added to the slot (shape_before -1) or removed from it. No effect while the journal does not
 * record. */
void talus_journal_record(TalusWorld *world, int slot, int shape_before);
/* Starts recording, with the present counts and energies. */
void talus_journal_begin(TalusWorld *world);
/* Undoes all recorded changes, restores counts and energies, and stops recording. */
void talus_journal_undo(TalusWorld *world);

#endif
