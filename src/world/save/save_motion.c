/* world/save/save_motion.c - saved groups, excluded pairs, applied forces, drives and sleep. */
#include "world/save/loaded.h"
#include "world/save/save.h"
#include "world/state.h"

/* ---- sleep ---- */

/* Calm count and island of a body. */
typedef struct SavedSleeper {
    int32_t calm, island;
} SavedSleeper;

static void fill_sleepers(const void *context, int64_t first, int64_t count, void *out)
{
    const TalusRows *rows = context;
    SavedSleeper *sleeper = out;
    for (int64_t k = 0; k < count; k++)
        sleeper[k] = (SavedSleeper){rows->world->sleep.calm[talus_rows_slot(rows, first + k)],
                                    rows->island[first + k]};
}

static void save_sleep(TalusArchive *a)
{
    if (a->rows->island)
        talus_archive_span(a, a->rows->bodies, sizeof(SavedSleeper), fill_sleepers, a->rows);
}

/* What is loaded, and into which world. */
typedef struct Loading {
    TalusArchive *archive;
    TalusWorld *world;
} Loading;

/* Takes calm counts and islands, which are rows; counts the bodies that are asleep. */
static TalusStatus take_sleepers(void *context, int64_t first, int64_t count, const void *items)
{
    const Loading *l = context;
    TalusSleep *s = &l->world->sleep;
    const SavedSleeper *sleeper = items;
    for (int64_t k = 0; k < count; k++) {
        s->calm[first + k] = sleeper[k].calm;
        s->island[first + k] = sleeper[k].island;
        if (sleeper[k].calm < 0 || sleeper[k].island < 0 ||
            sleeper[k].island >= l->archive->loaded->rows.all)
            talus_archive_refuse(l->archive, "what sleeps is out of range");
        s->asleep += talus_slot_is_asleep(&l->world->bodies, (int)(first + k));
    }
    return l->archive->status;
}

/* Loads sleep of all slots; refuses sleeping bodies in a world without sleep. */
static void load_sleep(TalusArchive *a, TalusWorld *world)
{
    const int64_t rows = a->loaded->rows.all;
    Loading l = {a, world};
    TALUS_ARCHIVE_CALL(a, talus_sleep_reserve(world));
    if (world->def.sleep_speed != 0.0)
        talus_archive_spread(a, rows, rows, sizeof(SavedSleeper), take_sleepers, &l);
    for (int i = 0; i < world->bodies.counts.slots; i++)
        if (talus_slot_is_asleep(&world->bodies, i) && world->sleep.slots == 0)
            talus_archive_refuse(a, "a body sleeps where none may");
}

/* ---- groups and exclusions ---- */

/* Transfers the groups that each group collides with. */
static void transfer_groups(TalusArchive *a, TalusWorld *world)
{
    for (int g = 0; g < TALUS_GROUPS; g++) {
        uint32_t meets = world->filters.meets[g];
        talus_archive_u32(a, &meets);
        for (int k = 0; k < TALUS_GROUPS && a->loading; k++)
            if (!(meets >> k & 1))
                TALUS_ARCHIVE_CALL(a, talus_world_set_groups(world, g, k, false));
    }
}

/* Excludes a loaded pair from collision, or stores its rows, if other ranks have some of the bodies. */
static TalusStatus add_exclusion(TalusLoaded *l, TalusWorld *world, TalusExcludedRows pair)
{
    const size_t count = (size_t)l->exclusions;
    if (!l->comm)
        return talus_pair_exclude(world, (int)pair.row[0], (int)pair.row[1]);
    TALUS_TRY(TALUS_GROW(l->excluded, count + 1, count, "excluded pairs"));
    l->excluded[l->exclusions++] = pair;
    return TALUS_OK;
}

static void transfer_exclusion(TalusArchive *a, TalusWorld *world, int i)
{
    TalusFilters *f = &world->filters;
    uint32_t pair[2] = {0, 0};
    int32_t exclusions = 0;
    if (!a->loading) {
        pair[0] = a->rows->excluded[i].row[0];
        pair[1] = a->rows->excluded[i].row[1];
        exclusions = a->rows->excluded[i].count;
    }
    talus_archive_u32(a, &pair[0]);
    talus_archive_u32(a, &pair[1]);
    TALUS_ARCHIVE_I32(a, &exclusions);
    if (!a->loading || a->status != TALUS_OK)
        return;
    if (pair[0] >= pair[1] || pair[1] >= a->loaded->rows.all || exclusions < 1)
        talus_archive_refuse(a, "an excluded pair is not of two bodies");
    else
        talus_archive_record(a, add_exclusion(a->loaded, world,
                                              (TalusExcludedRows){{pair[0], pair[1]}, exclusions}));
    if (a->comm)
        return;
    if (a->status == TALUS_OK && f->count != i + 1)
        talus_archive_refuse(a, "a pair is excluded twice");
    if (a->status == TALUS_OK)
        f->exclusions[i] = exclusions;
}

/* ---- applied forces ---- */

typedef struct SavedForce {
    TalusVec3 force, torque;
} SavedForce;

static void fill_forces(const void *context, int64_t first, int64_t count, void *out)
{
    const TalusRows *rows = context;
    const TalusForces *f = &rows->world->forces;
    SavedForce *saved = out;
    for (int64_t k = 0; k < count; k++) {
        const int slot = talus_rows_slot(rows, first + k);
        saved[k] = (SavedForce){0};
        if (slot < f->count)
            saved[k] = (SavedForce){f->force[slot], f->torque[slot]};
    }
}

/* Saves the forces of all rows up to the last one with a force. */
static void save_forces(TalusArchive *a)
{
    const TalusRows *rows = a->rows;
    TalusSpan span = rows->bodies;
    int count = (int)rows->forces;
    talus_archive_count(a, &count, sizeof(SavedForce));
    span.all = rows->forces;
    if (span.before > span.all)
        span.before = span.all;
    if (span.count > span.all - span.before)
        span.count = span.all - span.before;
    talus_archive_span(a, span, sizeof(SavedForce), fill_forces, rows);
}

static TalusStatus take_forces(void *context, int64_t first, int64_t count, const void *items)
{
    const Loading *l = context;
    const SavedForce *saved = items;
    for (int64_t k = 0; k < count; k++) {
        if (!talus_finite3(saved[k].force) || !talus_finite3(saved[k].torque))
            talus_archive_refuse(l->archive, "a number is not finite");
        TALUS_ARCHIVE_CALL(l->archive, talus_slot_set_force(l->world, (int)(first + k),
                                                            saved[k].force, saved[k].torque));
    }
    return l->archive->status;
}

static void load_forces(TalusArchive *a, TalusWorld *world)
{
    Loading l = {a, world};
    int count = 0;
    talus_archive_count(a, &count, sizeof(SavedForce));
    if (count > a->loaded->rows.all)
        talus_archive_refuse(a, "there are more forces than bodies");
    talus_archive_spread(a, count, a->loaded->rows.all, sizeof(SavedForce), take_forces, &l);
}

/* ---- drives ---- */

static void transfer_drive_def(TalusArchive *a, TalusDriveDef *def)
{
    TALUS_ARCHIVE_VEC3(a, &def->velocity, &def->amplitude);
    TALUS_ARCHIVE_F64(a, &def->frequency, &def->phase);
    TALUS_ARCHIVE_VEC3(a, &def->spin);
    talus_archive_bool(a, &def->own_axis);
    TALUS_ARCHIVE_VEC3(a, &def->point);
    TALUS_ARCHIVE_F64(a, &def->start, &def->stop);
    if (a->version > 13) /* before, motions were not accelerated */
        TALUS_ARCHIVE_VEC3(a, &def->acceleration, &def->spin_acceleration);
}

/* Adds a loaded drive to the world, or stores it, if another rank may have its body. */
static TalusStatus add_drive(TalusLoaded *l, TalusWorld *world, TalusDrive *drive)
{
    const TalusBodies *b = &world->bodies;
    const size_t count = (size_t)l->drives;
    if (l->comm) {
        TALUS_TRY(TALUS_GROW(l->drive, count + 1, count, "driven bodies"));
        l->drive[l->drives++] = *drive;
        return TALUS_OK;
    }
    if (!talus_slot_is_driven(b, drive->slot))
        return talus_reject("a drive does not fit its body");
    drive->body = b->id[drive->slot];
    return talus_drive_add_loaded(world, drive, b->shape[drive->slot]);
}

/* The body's current pose and velocity are saved with the bodies. */
static void transfer_drive(TalusArchive *a, TalusWorld *world, int i)
{
    TalusDrive drive = {.def = talus_drive_def_default(), .orientation = talus_quat_identity()};
    if (!a->loading)
        drive = world->drive[i];
    int slot = a->loading ? 0 : a->rows->drive[i];
    TalusQuat *q = &drive.orientation;
    TALUS_ARCHIVE_I32(a, &slot);
    transfer_drive_def(a, &drive.def);
    TALUS_ARCHIVE_VEC3(a, &drive.position);
    TALUS_ARCHIVE_F64(a, &q->w, &q->x, &q->y, &q->z);
    if (!a->loading || a->status != TALUS_OK)
        return;
    drive.slot = slot;
    double length = q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z;
    if (slot < 0 || slot >= a->loaded->rows.all || !(fabs(length - 1.0) < 1e-3))
        talus_archive_refuse(a, "a drive does not fit its body");
    else
        talus_archive_record(a, add_drive(a->loaded, world, &drive));
}

/* Saves the drives of living bodies. */
static void save_drives(TalusArchive *a, TalusWorld *world)
{
    int count = 0;
    for (int i = 0; i < world->drives; i++)
        count += a->rows->drive[i] >= 0;
    talus_archive_count(a, &count, 200);
    for (int i = 0; i < world->drives; i++)
        if (a->rows->drive[i] >= 0)
            transfer_drive(a, world, i);
}

/* ---- all ---- */

static void save_motion(TalusArchive *a, TalusWorld *world)
{
    transfer_groups(a, world);
    talus_archive_list(a, world, a->rows->exclusions, 12, transfer_exclusion);
    save_forces(a);
    save_drives(a, world);
    save_sleep(a);
}

static void load_motion(TalusArchive *a, TalusWorld *world)
{
    int driven = 0;
    transfer_groups(a, world);
    talus_archive_list(a, world, 0, 12, transfer_exclusion);
    load_forces(a, world);
    talus_archive_list(a, world, 0, 200, transfer_drive);
    for (int i = 0; i < world->bodies.counts.slots; i++)
        driven += talus_slot_is_driven(&world->bodies, i);
    if (a->status == TALUS_OK && !a->comm && driven != talus_drives_count_bodies(world))
        talus_archive_refuse(a, "a driven body has no drive");
    load_sleep(a, world); /* last: nothing wakes sleeping bodies before they are counted */
}

void talus_archive_motion(TalusArchive *archive, TalusWorld *world)
{
    if (archive->loading)
        load_motion(archive, world);
    else
        save_motion(archive, world);
}
