/* world/save/save_contacts.c - the contact list in a saved state: contacts and their impulses, for warm starts.
 *
 *     lengths of the three runs, 3 i32
 *     per contact: TalusContact (48 bytes), impulse (24), and in the general run its arms (48) */
#include "world/ids.h"
#include "world/save/loaded.h"
#include "world/save/save.h"
#include "world/state.h"

#include <string.h>

_Static_assert(sizeof(TalusContact) == 48 && sizeof(TalusArms) == 48, "saved as they are");

/* Returns the run of a contact: 0 sphere-sphere, 1 sphere-fixed, 2 general. */
static int contact_run(const TalusContactList *list, int i)
{
    return i < list->sphere_sphere ? 0 : i < list->sphere_sphere + list->sphere_fixed ? 1 : 2;
}

/* True if the contact's bodies still fit its run; a body may have become fixed, driven or asleep after detection. */
static bool fits_run(const TalusWorld *world, const TalusContact *c, int run)
{
    return talus_run_fits(run, talus_slot_is_sphere(world, (int)c->a),
                          talus_slot_is_sphere(world, (int)c->b), world->bodies.mobility[c->b]);
}

/* True if contact i is saved. Contacts that cannot match a contact of the next step are not: a body was removed, body a
 * is no longer free, or the pair belongs to another run now. */
static bool is_saved(const TalusWorld *world, const TalusContactList *list, int i)
{
    const TalusContact *c = &list->contact[i];
    return talus_contact_lives(&world->bodies, c) &&
           talus_slot_is_free(&world->bodies, (int)c->a) &&
           fits_run(world, c, contact_run(list, i));
}

/* ---- saving ---- */

/* A contact and its impulse; one of the general run has its arms behind them. */
typedef struct SavedContact {
    TalusContact contact;
    TalusVec3 impulse;
} SavedContact;

typedef struct SavedGeneral {
    SavedContact saved;
    TalusArms arms;
} SavedGeneral;

_Static_assert(sizeof(SavedContact) == 72 && sizeof(SavedGeneral) == 120, "saved as they are");

/* Saves the contacts of a whole world. */
static void save_list(TalusArchive *a, const TalusWorld *world)
{
    const TalusContactList *list = talus_world_contacts(world);
    int runs[3] = {0, 0, 0};
    for (int i = 0; i < list->count; i++)
        runs[contact_run(list, i)] += is_saved(world, list, i);
    TALUS_ARCHIVE_I32(a, &runs[0], &runs[1], &runs[2]);
    uint32_t general = 0;
    for (int i = 0; i < list->count; i++) {
        SavedContact saved = {list->contact[i], list->impulse[i]};
        TalusContact *c = &saved.contact;
        if (!is_saved(world, list, i))
            continue;
        TalusArms *arms = contact_run(list, i) == 2 ? &list->arms[c->general] : NULL;
        c->general = arms ? general++ : 0;
        c->a = (uint32_t)talus_rows_of_slot(a->rows, (int)c->a);
        c->b = (uint32_t)talus_rows_of_slot(a->rows, (int)c->b);
        talus_archive_bytes(a, &saved, sizeof saved);
        if (arms)
            talus_archive_bytes(a, arms, sizeof *arms);
    }
}

/* A run of the contacts of all ranks. */
typedef struct SavedRun {
    const TalusRows *rows;
    int run;
    int64_t start; /* index of its first contact in TalusRanks.contact */
} SavedRun;

/* Writes contact `at` of a run. */
static void fill_contact(const SavedRun *run, int64_t at, SavedContact *out)
{
    const TalusRows *rows = run->rows;
    const TalusContactRecord *c = &rows->world->ranks.contact[run->start + at];
    const int a = talus_slot_of(rows->world, (TalusBodyId){c->a});
    *out = (SavedContact){.contact = {.a = (uint32_t)(rows->bodies.before + a),
                                      .b = (uint32_t)rows->second[run->start + at],
                                      .feature = c->feature,
                                      .normal = c->normal,
                                      .gap = c->gap},
                          .impulse = c->impulse};
    if (run->run == 2)
        out->contact.general = (uint32_t)(rows->run[2].before + at);
}

static void fill_contacts(const void *context, int64_t first, int64_t count, void *out)
{
    SavedContact *saved = out;
    for (int64_t k = 0; k < count; k++)
        fill_contact(context, first + k, &saved[k]);
}

static void fill_generals(const void *context, int64_t first, int64_t count, void *out)
{
    const SavedRun *run = context;
    SavedGeneral *general = out;
    for (int64_t k = 0; k < count; k++) {
        fill_contact(run, first + k, &general[k].saved);
        general[k].arms = run->rows->world->ranks.contact[run->start + first + k].arms;
    }
}

/* Saves the contacts of all ranks. */
static void save_runs(TalusArchive *a)
{
    SavedRun run = {.rows = a->rows};
    for (int k = 0; k < 3; k++) {
        int32_t count = (int32_t)a->rows->run[k].all;
        TALUS_ARCHIVE_I32(a, &count);
    }
    for (; run.run < 3; run.run++) {
        const bool general = run.run == 2;
        talus_archive_span(a, a->rows->run[run.run],
                           general ? sizeof(SavedGeneral) : sizeof(SavedContact),
                           general ? fill_generals : fill_contacts, &run);
        run.start += a->rows->run[run.run].count;
    }
}

/* ---- loading ---- */

/* True if the bodies of a loaded contact exist and fit its run, and its numbers are finite. */
static bool is_valid_contact(const TalusWorld *world, const TalusContactList *list, int i)
{
    const TalusContact *c = &list->contact[i];
    uint32_t slots = (uint32_t)world->bodies.counts.slots;
    if (c->a >= slots || c->b >= slots || c->a == c->b || !talus_contact_lives(&world->bodies, c) ||
        !talus_slot_is_free(&world->bodies, (int)c->a))
        return false;
    if (!fits_run(world, c, contact_run(list, i)))
        return false;
    TalusVec3 n = c->normal, p = list->impulse[i];
    return isfinite((n.x + n.y + n.z) + (p.x + p.y + p.z) + c->gap);
}

/* True if contact c comes before contact d in the order of ids or in the order of slots, which earlier versions wrote.
 * After loading contacts in the order of slots, those of reused slots may start without impulses. */
static bool are_in_order(const TalusWorld *world, const TalusContact *c, const TalusContact *d)
{
    const uint32_t *rank = world->id_order.stored ? world->id_order.rank : NULL;
    return talus_key_less(talus_contact_key(rank, c), talus_contact_key(rank, d)) ||
           talus_key_less(talus_contact_key(NULL, c), talus_contact_key(NULL, d));
}

/* Loads contact i into `list`; refuses one that does not fit its bodies or is out of order. */
static void load_contact(TalusArchive *a, TalusWorld *world, TalusContactList *list, int i)
{
    TalusContact *c = &list->contact[i];
    talus_archive_bytes(a, c, sizeof *c);
    talus_archive_bytes(a, &list->impulse[i], sizeof *list->impulse);
    int first_general = list->sphere_sphere + list->sphere_fixed;
    if (i >= first_general) {
        talus_archive_bytes(a, &list->arms[i - first_general], sizeof *list->arms);
        if (c->general != (uint32_t)(i - first_general))
            talus_archive_refuse(a, "a contact's arms are missing");
    }
    if (a->status == TALUS_OK && !is_valid_contact(world, list, i))
        talus_archive_refuse(a, "a contact does not fit its bodies");
    if (a->status == TALUS_OK && i > 0 && contact_run(list, i) == contact_run(list, i - 1) &&
        !are_in_order(world, c - 1, c))
        talus_archive_refuse(a, "contacts are out of order");
}

/* Loads the contacts of a whole world; the numbers of each run are in the list. */
static void load_list(TalusArchive *a, TalusWorld *world, TalusContactList list)
{
    const size_t count = (size_t)list.count;
    talus_archive_record(
        a, talus_id_order_update(&world->id_order, world->bodies.id, world->bodies.counts.slots));
    if (a->status != TALUS_OK)
        return;
    talus_archive_record(a, TALUS_ALLOC(list.contact, count, "saved contacts"));
    talus_archive_record(a, TALUS_ALLOC(list.impulse, count, "saved contacts"));
    talus_archive_record(a, TALUS_ALLOC(list.arms, (size_t)list.general, "saved contacts"));
    for (int i = 0; i < list.count && a->status == TALUS_OK; i++)
        load_contact(a, world, &list, i);
    TALUS_ARCHIVE_CALL(a, world->host.ops->put_contacts(world->host.self, &list));
    TALUS_RELEASE(list.contact, list.impulse, list.arms);
}

/* A run of contacts of which this rank loads a piece. */
typedef struct LoadedRun {
    TalusArchive *archive;
    int64_t start,
        before; /* its index in TalusLoaded.contact; contacts of the run on lower ranks */
    int run;
} LoadedRun;

/* Takes contacts of which other ranks may have the bodies: these are checked when they are known (loaded.c). */
static TalusStatus take_contacts(void *context, int64_t first, int64_t count, const void *items)
{
    const LoadedRun *run = context;
    const TalusLoaded *l = run->archive->loaded;
    const bool general = run->run == 2;
    const size_t element = general ? sizeof(SavedGeneral) : sizeof(SavedContact);
    for (int64_t k = 0; k < count; k++) {
        const unsigned char *item = (const unsigned char *)items + (size_t)k * element;
        TalusContactRecord *c = &l->contact[run->start + first + k];
        SavedContact saved;
        memcpy(&saved, item, sizeof saved);
        memset(c, 0, sizeof *c); /* padding, too: it is sent */
        if (general)
            memcpy(&c->arms, item + offsetof(SavedGeneral, arms), sizeof c->arms);
        if (general && saved.contact.general != (uint32_t)(run->before + first + k))
            talus_archive_refuse(run->archive, "a contact's arms are missing");
        c->a = (uint64_t)saved.contact.a + 1;
        c->b = (uint64_t)saved.contact.b + 1;
        c->feature = saved.contact.feature;
        c->run = run->run;
        c->normal = saved.contact.normal;
        c->gap = saved.contact.gap;
        c->impulse = saved.impulse;
        if (saved.contact.a >= l->rows.all || saved.contact.b >= l->rows.all)
            talus_archive_refuse(run->archive, "a contact does not fit its bodies");
    }
    return run->archive->status;
}

/* Loads this rank's pieces of the runs. */
static void load_runs(TalusArchive *a, const int count[3])
{
    const int size = talus_comm_size(a->comm), rank = talus_comm_rank(a->comm);
    TalusLoaded *l = a->loaded;
    TalusSpan piece[3];
    int64_t all = 0;
    for (int k = 0; k < 3; k++) {
        piece[k] = talus_even_span(count[k], size, rank);
        all += piece[k].count;
    }
    TALUS_ARCHIVE_CALL(a, TALUS_ALLOC(l->contact, (size_t)all + 1, "saved contacts"));
    for (int k = 0; k < 3; k++) {
        LoadedRun run = {a, l->contacts, piece[k].before, k};
        talus_archive_spread(a, count[k], count[k],
                             k == 2 ? sizeof(SavedGeneral) : sizeof(SavedContact), take_contacts,
                             &run);
        l->contacts += piece[k].count;
    }
}

static void load_contacts(TalusArchive *a, TalusWorld *world)
{
    int count[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++)
        talus_archive_count(a, &count[k], k == 2 ? sizeof(SavedGeneral) : sizeof(SavedContact));
    const int64_t all = (int64_t)count[0] + count[1] + count[2];
    if (all > INT32_MAX)
        talus_archive_refuse(a, "there are too many contacts");
    else if (a->comm)
        load_runs(a, count);
    else
        load_list(a, world,
                  (TalusContactList){.sphere_sphere = count[0],
                                     .sphere_fixed = count[1],
                                     .general = count[2],
                                     .count = (int)all});
}

void talus_archive_contacts(TalusArchive *archive, TalusWorld *world)
{
    if (archive->loading)
        load_contacts(archive, world);
    else if (archive->rows->comm)
        save_runs(archive);
    else
        save_list(archive, world);
}
