/* world/source/journal.h - changes of slots in a step, to be taken back if it fails. */
#ifndef TALUS_WORLD_SOURCE_JOURNAL_H
#define TALUS_WORLD_SOURCE_JOURNAL_H

#include "world/bodies.h"

/* One change of a body slot by arrivals and sinks, to be taken back if the step fails. */
typedef struct TalusJournalEntry {
    int32_t slot;
    int32_t shape; /* before; -1: the body was added */
} TalusJournalEntry;

/* Changes of the step under way by arrivals and sinks. */
typedef struct TalusJournal {
    bool recording;
    TalusJournalEntry *entry;
    int count;
    TalusBodyCounts counts_before;
    double kinetic_before, potential_before; /* of the exchange */
} TalusJournal;

/* Both do nothing unless a step is under way. Room is made before anything changes. */
TalusStatus talus_journal_reserve(TalusWorld *world, int entries);
void talus_journal_note(TalusWorld *world, int slot, int shape_before);
void talus_journal_begin(TalusWorld *world);
void talus_journal_undo(TalusWorld *world);

#endif
