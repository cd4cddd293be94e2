/* world/source/journal.h - changes of slots in a step, for a rollback. */
#ifndef TALUS_WORLD_SOURCE_JOURNAL_H
#define TALUS_WORLD_SOURCE_JOURNAL_H

#include "world/bodies.h"

/* One change of a slot by arrivals or sinks. */
typedef struct TalusJournalEntry {
    int32_t slot;
    int32_t shape; /* before the change; -1: the body was added */
} TalusJournalEntry;

typedef struct TalusJournal {
    bool recording;
    TalusJournalEntry *entry;
    int count;
    TalusBodyCounts counts_before;
    double kinetic_before, potential_before; /* values of the exchange before the step, J */
} TalusJournal;

/* No effect outside of a step. Reserve before anything changes. */
TalusStatus talus_journal_reserve(TalusWorld *world, int entries);
void talus_journal_note(TalusWorld *world, int slot, int shape_before);
void talus_journal_begin(TalusWorld *world);
void talus_journal_undo(TalusWorld *world);

#endif
