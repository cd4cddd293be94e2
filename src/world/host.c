/* world/host.c - the stages of a step on the host: their table, and the copy of the state. */
#include "world/internal.h"

#include <string.h>

static TalusStatus solved(TalusWorld *world, double h)
{
    (void)h;
    world->solved = talus_problem_velocities(world->problem);
    return TALUS_OK;
}

/* ---- a copy of the state, for halved steps ---- */

static TalusStatus reserve_backup(TalusBackup *backup, size_t slots, const TalusContactList *list)
{
    size_t capacity = backup->capacity;
    TALUS_TRY(TALUS_RESERVE(backup->position, capacity, slots, 0, "halved step"));
    capacity = backup->capacity;
    TALUS_TRY(TALUS_RESERVE(backup->velocity, capacity, slots, 0, "halved step"));
    capacity = backup->capacity;
    TALUS_TRY(TALUS_RESERVE(backup->spin, capacity, slots, 0, "halved step"));
    capacity = backup->capacity;
    TALUS_TRY(TALUS_RESERVE(backup->orientation, capacity, slots, 0, "halved step"));
    backup->capacity = capacity;
    size_t contacts = (size_t)list->count;
    TALUS_TRY(
        TALUS_RESERVE(backup->list.contact, backup->contact_capacity, contacts, 0, "halved step"));
    TALUS_TRY(TALUS_RESERVE(backup->list.arms, backup->arms_capacity, (size_t)list->general, 0,
                            "halved step"));
    return TALUS_RESERVE(backup->list.impulse, backup->impulse_capacity, contacts, 0,
                         "halved step");
}

static void copy(void *to, const void *from, int count, size_t element)
{
    if (count > 0)
        memcpy(to, from, (size_t)count * element);
}

static TalusStatus keep(TalusWorld *world)
{
    TalusBackup *backup = &world->backup;
    const TalusBodies *b = &world->bodies;
    const TalusContactList *list = world->contacts;
    int slots = b->counts.slots;
    TALUS_TRY(reserve_backup(backup, (size_t)slots, list));
    copy(backup->position, b->position, slots, sizeof *b->position);
    copy(backup->velocity, b->velocity, slots, sizeof *b->velocity);
    copy(backup->spin, b->spin, slots, sizeof *b->spin);
    copy(backup->orientation, b->orientation, slots, sizeof *b->orientation);
    TalusContact *contact = backup->list.contact;
    TalusArms *arms = backup->list.arms;
    TalusVec3 *impulse = backup->list.impulse;
    backup->list = *list;
    backup->list.contact = contact;
    backup->list.arms = arms;
    backup->list.impulse = impulse;
    copy(contact, list->contact, list->count, sizeof *contact);
    copy(arms, list->arms, list->general, sizeof *arms);
    copy(impulse, list->impulse, list->count, sizeof *impulse);
    backup->impulse_step = world->impulse_step;
    return talus_joints_keep(world);
}

static void go_back(TalusWorld *world)
{
    const TalusBackup *backup = &world->backup;
    TalusBodies *b = &world->bodies;
    int slots = b->counts.slots;
    copy(b->position, backup->position, slots, sizeof *b->position);
    copy(b->velocity, backup->velocity, slots, sizeof *b->velocity);
    copy(b->spin, backup->spin, slots, sizeof *b->spin);
    copy(b->orientation, backup->orientation, slots, sizeof *b->orientation);
    talus_joints_go_back(world);
    /* if this fails for want of memory only the warm start is lost, and scaling it by 0 says so */
    TalusStatus status = talus_detector_restore(world->detector, &backup->list);
    world->contacts = talus_detector_contacts(world->detector);
    world->impulse_step = status == TALUS_OK ? backup->impulse_step : 0.0;
}

const TalusStages talus_stages_host = {
    .detect = talus_step_detect,
    .build = talus_step_build,
    .solved = solved,
    .surprised = talus_step_misses,
    .look_again = talus_step_take_missed,
    .integrate = talus_step_integrate,
    .keep = keep,
    .go_back = go_back,
};
