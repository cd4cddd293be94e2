/* io/run/snapshot.c - bodies and contacts of a world at one time, those of all ranks (gathering.c) on rank 0. */
#include "io/run/snapshot.h"
#include "base/memory.h"
#include "io/frames/frames.h"
#include "world/contacts.h"
#include "world/state.h"

#include <stdlib.h>
#include <string.h>

/* ---- bodies of a whole world ---- */

/* True if the ids of living bodies ascend with slots, as long as no slot was used again. */
static bool ids_ascend(const TalusBodies *b)
{
    uint64_t last = 0;
    for (int i = 0; i < b->counts.slots; i++) {
        if (b->shape[i] < 0)
            continue;
        if (b->id[i] < last)
            return false;
        last = b->id[i];
    }
    return true;
}

/* Allocates *rows, by slot: the row of each living body. NULL if rows are in the order of slots and no field needs it. */
static TalusStatus find_rows(const TalusWorld *world, unsigned fields, int **rows)
{
    const bool ascend = ids_ascend(&world->bodies);
    *rows = NULL;
    if (ascend && !(fields & TALUS_SNAPSHOT_FORCE))
        return TALUS_OK;
    TALUS_TRY(talus_living_indices(world, rows));
    return ascend ? TALUS_OK : talus_ids_order(&world->bodies, NULL, *rows);
}

/* Copies the bodies of a whole world; rows: as from find_rows. */
static void copy_bodies(TalusSnapshot *s, const TalusWorld *world, const int *rows)
{
    const TalusBodies *b = &world->bodies;
    for (int i = 0, living = 0; i < b->counts.slots; i++) {
        if (b->shape[i] < 0)
            continue;
        const TalusSentBody body = talus_snapshot_get_body(b, i);
        const int row = rows ? rows[i] : living;
        living++;
        s->id[row].number = b->id[i];
        talus_snapshot_store_body(s, row, &body);
    }
}

/* ---- contacts of a world ---- */

/* Fails if a snapshot cannot hold so many. */
static TalusStatus check_count(const char *what, int64_t count)
{
    if (count <= INT32_MAX)
        return TALUS_OK;
    return talus_fail(TALUS_ERR_UNSUPPORTED, "snapshot: %lld %s; it holds at most %d",
                      (long long)count, what, INT32_MAX);
}

/* Allocates and copies the contacts with a normal impulse above that asked for: CONTACTS asks for all contacts, CHAINS
 * alone for those with more than `mean`, that of loaded contacts. */
static TalusStatus copy_contacts(TalusSnapshot *s, const TalusWorld *world, double mean)
{
    const double least = s->fields & TALUS_SNAPSHOT_CONTACTS ? -INFINITY : mean;
    const int64_t count = talus_world_get_strong_contacts(world, least, NULL, 0);
    TALUS_TRY(check_count("contacts", count));
    TALUS_TRY(talus_snapshot_resize_contacts(s, (int)count));
    talus_world_get_strong_contacts(world, least, s->contact, count);
    return TALUS_OK;
}

/* The same of those of all ranks, which have come to this one, in order. */
static TalusStatus choose_contacts(TalusSnapshot *s, const TalusWorld *world,
                                   const TalusSharedContact *contact, int64_t contacts)
{
    double least = -INFINITY;
    int64_t count = 0;
    if (!(s->fields & TALUS_SNAPSHOT_CONTACTS)) {
        TalusForceSums sums = talus_force_sums_begin(world, 0, NULL, NULL);
        for (int64_t i = 0; i < contacts; i++)
            talus_force_sums_add(&sums, contact[i].impulse, 0, 0);
        least = talus_force_sums_end(&sums).mean_impulse;
    }
    for (int64_t i = 0; i < contacts; i++)
        count += contact[i].impulse > least;
    TALUS_TRY(check_count("contacts", count));
    TALUS_TRY(talus_snapshot_resize_contacts(s, (int)count));
    count = 0;
    for (int64_t i = 0; i < contacts; i++)
        if (contact[i].impulse > least)
            s->contact[count++] = contact[i].state;
    return TALUS_OK;
}

/* The same on several ranks: brings all contacts to rank 0. */
static TalusStatus bring_contacts(TalusSnapshot *s, const TalusWorld *world)
{
    TalusSharedContact *contact = NULL;
    int64_t contacts = 0;
    TalusStatus status = talus_ranks_bring_contacts(world, &contact, &contacts);
    if (talus_comm_rank(world->ranks.comm) == 0)
        TALUS_THEN(status, choose_contacts(s, world, contact, contacts));
    talus_release(contact);
    return status;
}

/* Sets the rows of the bodies of contacts. */
static void place_contacts(TalusSnapshot *s)
{
    for (int i = 0; i < s->contact_count; i++) {
        s->contact_a[i] = talus_snapshot_find(s, s->contact[i].a.number);
        s->contact_b[i] = talus_snapshot_find(s, s->contact[i].b.number);
    }
}

/* ---- all ---- */

static bool asks_for_contacts(unsigned fields)
{
    return fields & (TALUS_SNAPSHOT_CONTACTS | TALUS_SNAPSHOT_CHAINS);
}

/* Allocates and fills the snapshot from a whole world. */
static TalusStatus take_whole(TalusSnapshot *s, const TalusWorld *world, unsigned fields)
{
    TalusForceSummary sums;
    int *rows;
    TALUS_TRY(find_rows(world, fields, &rows));
    TalusStatus status = talus_snapshot_resize(s, fields, world->bodies.counts.living, 0);
    if (status == TALUS_OK)
        copy_bodies(s, world, rows);
    TALUS_THEN(status, talus_world_sum_forces(world, rows, s->force, s->touching, &sums));
    talus_release(rows);
    if (asks_for_contacts(fields))
        TALUS_THEN(status, copy_contacts(s, world, sums.mean_impulse));
    TALUS_TRY(status);
    s->contact_total = sums.contacts;
    s->length = sums.length;
    return TALUS_OK;
}

/* Allocates and fills the snapshot, on rank 0, from all ranks. */
static TalusStatus take_parts(TalusSnapshot *s, const TalusWorld *world, unsigned fields)
{
    TalusGathering *gathering;
    TalusStatus status = talus_gathering_open(world, &gathering);
    TALUS_THEN(status, talus_gathering_take(gathering, fields, 0, UINT64_MAX, 0, s));
    talus_gathering_close(gathering);
    if (asks_for_contacts(fields))
        TALUS_THEN(status, bring_contacts(s, world));
    return talus_comm_agree(world->ranks.comm, status);
}

/* Sets what does not depend on fields. */
static void finish_snapshot(TalusSnapshot *s, const TalusWorld *world)
{
    place_contacts(s);
    talus_snapshot_place_branches(s, &world->def.period);
    s->time = talus_world_time(world);
    s->step = talus_world_steps(world);
}

TalusStatus talus_snapshot_take(TalusSnapshot *snapshot, const TalusWorld *world, unsigned fields)
{
    if (fields & ~(unsigned)TALUS_SNAPSHOT_ALL)
        return talus_reject("snapshot: fields %#x; a world has those of %#x", fields,
                            (unsigned)TALUS_SNAPSHOT_ALL);
    if (!world->def.dissipation)
        fields &= ~(unsigned)TALUS_SNAPSHOT_DISSIPATED;
    talus_world_refresh(world, true);
    const TalusStatus status = talus_world_is_dealt(world) ? take_parts(snapshot, world, fields)
                                                           : take_whole(snapshot, world, fields);
    if (status == TALUS_OK && talus_comm_rank(world->ranks.comm) == 0)
        finish_snapshot(snapshot, world);
    else
        talus_snapshot_free(snapshot);
    return status;
}
