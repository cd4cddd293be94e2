/* world/source/journal.c - record of the bodies that a step has added and removed, for a rollback. */
#include "world/source/journal.h"
#include "world/ids.h"
#include "world/state.h"

TalusStatus talus_journal_reserve(TalusWorld *world, int entries)
{
    TalusJournal *j = &world->journal;
    size_t used = (size_t)j->count;
    if (!j->recording)
        return TALUS_OK;
    return TALUS_GROW(j->entry, used + (size_t)entries, used, "arrivals");
}

void talus_journal_record(TalusWorld *world, int slot, int shape_before)
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
    j->owners_before = world->ranks.newest;
    j->elsewhere_before = world->ranks.elsewhere;
    j->kinetic_before = world->exchange_kinetic;
    j->potential_before = world->exchange_potential;
}

void talus_journal_undo(TalusWorld *world)
{
    TalusJournal *j = &world->journal;
    if (j->count > 0)
        (void)talus_world_mark_bodies_dirty(world); /* a failed device fails later calls too */
    for (int i = j->count - 1; i >= 0; i--) {
        TalusJournalEntry entry = j->entry[i];
        world->bodies.shape[entry.slot] = entry.shape_before;
        if (entry.shape_before < 0)
            talus_world_drop_impulses(world, entry.slot);
    }
    world->bodies.counts = j->counts_before;
    world->ranks.newest = j->owners_before;
    world->ranks.elsewhere = j->elsewhere_before;
    talus_ids_rollback(&world->bodies);
    world->exchange_kinetic = j->kinetic_before;
    world->exchange_potential = j->potential_before;
    j->recording = false;
}
