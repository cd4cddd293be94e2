/* world/source/journal.c - which slots a step has filled and emptied, so that it can be taken back. */
#include "world/source/journal.h"
#include "world/ids.h"
#include "world/state.h"
#include "world/step/mirror.h"

TalusStatus talus_journal_reserve(TalusWorld *world, int entries)
{
    TalusJournal *j = &world->journal;
    size_t used = (size_t)j->count;
    if (!j->recording)
        return TALUS_OK;
    return TALUS_GROW(j->entry, used + (size_t)entries, used, "arrivals");
}

void talus_journal_note(TalusWorld *world, int slot, int shape_before)
{
    TalusJournal *j = &world->journal;
    if (j->recording)
        j->entry[j->count++] = (TalusJournalEntry){slot, shape_before};
}

void talus_journal_begin(TalusWorld *world)
{
    TalusJournal *j = &world->journal;
    j->recording = true;
    j->count = 0;
    j->counts_before = world->bodies.counts;
    j->kinetic_before = world->exchange_kinetic;
    j->potential_before = world->exchange_potential;
}

void talus_journal_undo(TalusWorld *world)
{
    TalusJournal *j = &world->journal;
    if (j->count > 0)
        (void)talus_world_touch(world); /* fails where the device does, as all that follows then */
    for (int i = j->count - 1; i >= 0; i--) {
        TalusJournalEntry entry = j->entry[i];
        world->bodies.shape[entry.slot] = entry.shape;
        if (entry.shape < 0)
            talus_world_forget(world, entry.slot);
    }
    world->bodies.counts = j->counts_before;
    talus_ids_undo(&world->bodies);
    world->exchange_kinetic = j->kinetic_before;
    world->exchange_potential = j->potential_before;
    j->recording = false;
}
