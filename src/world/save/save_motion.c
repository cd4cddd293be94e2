/* world/save/save_motion.c - saved groups, excluded pairs, applied forces, drives and sleep. */
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

/* Loads calm count and island of slot i; counts it if its body is asleep. */
static void load_sleeper(TalusArchive *a, TalusWorld *world, int i)
{
    TalusSleep *s = &world->sleep;
    int slots = world->bodies.counts.slots;
    TALUS_ARCHIVE_I32(a, &s->calm[i], &s->island[i]);
    if (s->calm[i] < 0 || s->island[i] < 0 || s->island[i] >= slots)
        talus_archive_refuse(a, "what sleeps is out of range");
    s->asleep += talus_slot_is_asleep(&world->bodies, i);
}

/* Loads sleep of all slots; refuses sleeping bodies in a world without sleep. */
static void load_sleep(TalusArchive *a, TalusWorld *world)
{
    TALUS_ARCHIVE_CALL(a, talus_sleep_reserve(world));
    for (int i = 0; a->status == TALUS_OK && i < world->sleep.slots; i++)
        load_sleeper(a, world, i);
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

static void transfer_exclusion(TalusArchive *a, TalusWorld *world, int i)
{
    TalusFilters *f = &world->filters;
    uint32_t pair[2] = {0, 0}, slots = (uint32_t)world->bodies.counts.slots;
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
    if (pair[0] >= pair[1] || pair[1] >= slots || exclusions < 1)
        talus_archive_refuse(a, "an excluded pair is not of two bodies");
    else
        talus_archive_record(a, talus_pair_exclude(world, (int)pair[0], (int)pair[1]));
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

static void load_force(TalusArchive *a, TalusWorld *world, int slot)
{
    TalusVec3 force, torque;
    TALUS_ARCHIVE_VEC3(a, &force, &torque);
    if (slot >= world->bodies.counts.slots)
        talus_archive_refuse(a, "there are more forces than bodies");
    TALUS_ARCHIVE_CALL(a, talus_slot_set_force(world, slot, force, torque));
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
    if (slot < 0 || slot >= world->bodies.counts.slots ||
        !talus_slot_is_driven(&world->bodies, slot) || !(fabs(length - 1.0) < 1e-3))
        talus_archive_refuse(a, "a drive does not fit its body");
    else
        talus_archive_record(a, talus_drive_add_loaded(world, &drive));
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
    talus_archive_list(a, world, 0, sizeof(SavedForce), load_force);
    talus_archive_list(a, world, 0, 200, transfer_drive);
    for (int i = 0; i < world->bodies.counts.slots; i++)
        driven += talus_slot_is_driven(&world->bodies, i);
    if (a->status == TALUS_OK && driven != world->drives)
        talus_archive_refuse(a, "a driven body has no drive, or two");
    load_sleep(a, world); /* last: nothing wakes sleeping bodies before they are counted */
}

void talus_archive_motion(TalusArchive *archive, TalusWorld *world)
{
    if (archive->loading)
        load_motion(archive, world);
    else
        save_motion(archive, world);
}
