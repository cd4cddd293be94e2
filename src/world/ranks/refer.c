/* world/ranks/refer.c - drives, exclusions and joints, which refer to bodies, when a whole world is divided among ranks or
 * its parts become a whole one. All ranks have all of them, by the ids of the bodies. */
#include "world/ranks/ranks.h"
#include "world/state.h"

#include "base/memory.h"
#include "world/ids.h"

TalusStatus talus_ranks_divide_references(TalusWorld *world)
{
    TalusFilters *f = &world->filters;
    for (int i = 0; i < f->count; i++) {
        const uint32_t *pair = f->excluded[i];
        for (int k = 0; k < f->exclusions[i]; k++)
            TALUS_TRY(talus_ranks_exclude(world, talus_slot_id(&world->bodies, pair[0]),
                                          talus_slot_id(&world->bodies, pair[1])));
    }
    f->count = 0;
    return TALUS_OK;
}

/* Excludes the pairs whose bodies both live. */
static TalusStatus copy_exclusions(const TalusRanks *from, TalusWorld *to)
{
    for (int i = 0; i < from->exclusions; i++) {
        const TalusExclusion *pair = &from->exclusion[i];
        const int a = talus_slot_of(to, (TalusBodyId){pair->id[0]});
        const int b = talus_slot_of(to, (TalusBodyId){pair->id[1]});
        for (int k = 0; k < pair->count && a >= 0 && b >= 0; k++)
            TALUS_TRY(talus_pair_exclude(to, a, b));
    }
    return TALUS_OK;
}

static TalusStatus copy_drives(const TalusWorld *from, TalusWorld *to)
{
    for (int i = 0; i < from->drives; i++) {
        TalusDrive drive = from->drive[i];
        drive.slot = talus_slot_of(to, (TalusBodyId){drive.body});
        if (drive.slot >= 0)
            TALUS_TRY(talus_drive_add_loaded(to, &drive, to->bodies.shape[drive.slot]));
    }
    return TALUS_OK;
}

static TalusStatus copy_joints(const TalusJoints *from, TalusJoints *to)
{
    TALUS_TRY(TALUS_GROW(to->joint, (size_t)from->count, 0, "joints"));
    to->created = from->created;
    for (int i = 0; i < from->count; i++) {
        char *name;
        TALUS_TRY(talus_copy_text(from->joint[i].def.name, "joint name", &name));
        to->joint[i] = from->joint[i];
        to->joint[i].def.name = name;
        to->count = i + 1;
    }
    return TALUS_OK;
}

TalusStatus talus_ranks_copy_references(const TalusWorld *part, TalusWorld *whole)
{
    TALUS_TRY(copy_exclusions(&part->ranks, whole));
    TALUS_TRY(copy_drives(part, whole));
    return copy_joints(&part->joints, &whole->joints);
}
