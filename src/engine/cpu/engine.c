/* engine/cpu/engine.c - the host's engine: input from the world, snapshot and rollback.
 *
 * Bodies, tables, forces and joints stay in the world's arrays; contacts are the detector's. */
#include "engine/cpu/engine.h"

#include <string.h>

static void clear_snapshot(CpuSnapshot *s)
{
    TALUS_RELEASE(s->position, s->velocity, s->spin, s->orientation, s->dissipated, s->list.contact,
                  s->list.arms, s->list.impulse);
}

void cpu_destroy(TalusEngine *engine)
{
    CpuEngine *e = cpu_engine(engine);
    if (!e)
        return;
    talus_detector_destroy(e->detector);
    cpu_clear_impacts(e);
    clear_snapshot(&e->snapshot);
    TALUS_RELEASE(e->free_velocity, e->solved_velocity, e->relative_velocity, e->solved_spin,
                  e->changed, e->groups.start, e->body_groups.start, e->partial, e->overlaps,
                  e->overlap_rate, e->mean_motion, e->loss, e->probe_sums, e);
}

TalusStatus cpu_create(const TalusEngineSetup *setup, TalusEngine **out)
{
    CpuEngine *e;
    *out = NULL;
    TALUS_TRY(TALUS_ALLOC(e, 1, "engine"));
    e->pool = setup->pool;
    e->problem = setup->problem;
    e->period = *setup->period;
    e->cell = (TalusCell){.period = *setup->period};
    TalusStatus status = talus_detector_create(&e->detector);
    if (status != TALUS_OK) {
        cpu_destroy((TalusEngine *)e);
        return status;
    }
    e->contacts = talus_detector_contacts(e->detector);
    *out = (TalusEngine *)e;
    return TALUS_OK;
}

/* ---- input from the world ---- */

TalusStatus cpu_put_tables(TalusEngine *engine, const TalusTables *tables)
{
    cpu_engine(engine)->tables = *tables;
    return TALUS_OK;
}

TalusStatus cpu_put_bodies(TalusEngine *engine, const TalusBodyArrays *bodies,
                           const uint8_t *dropped)
{
    CpuEngine *e = cpu_engine(engine);
    e->bodies = *bodies;
    for (int i = 0; dropped && i < bodies->slots; i++)
        if (dropped[i])
            talus_detector_drop_impulses(e->detector, (uint32_t)i);
    return TALUS_OK;
}

TalusStatus cpu_put_filter(TalusEngine *engine, const TalusFilter *filter, int slots)
{
    (void)slots;
    cpu_engine(engine)->filter = filter;
    return TALUS_OK;
}

TalusStatus cpu_put_forces(TalusEngine *engine, const TalusVec3 *force, const TalusVec3 *torque,
                           int count)
{
    CpuEngine *e = cpu_engine(engine);
    e->force = force;
    e->torque = torque;
    e->forces = count;
    return TALUS_OK;
}

TalusStatus cpu_put_joints(TalusEngine *engine, const TalusEngineJoints *joints)
{
    CpuEngine *e = cpu_engine(engine);
    e->joints = joints ? *joints : (TalusEngineJoints){0};
    return TALUS_OK;
}

TalusStatus cpu_get_joint_results(TalusEngine *engine, double *gamma, const int32_t *slot,
                                  double (*record)[8], int count)
{
    const CpuEngine *e = cpu_engine(engine);
    const TalusOperator *op = talus_problem_operator(e->problem);
    const double *all = talus_problem_gamma(e->problem);
    for (int k = 0; k < e->joints.bounded + e->joints.free; k++)
        memcpy(gamma + 3 * k, all + op->rows * (int64_t)(e->contacts->count + k),
               3 * sizeof *gamma);
    for (int k = 0; k < count; k++)
        memcpy(record[k], op->body[slot[k]], sizeof record[k]);
    return TALUS_OK;
}

/* ---- contacts ---- */

TalusStatus cpu_put_contacts(TalusEngine *engine, const TalusContactList *list)
{
    CpuEngine *e = cpu_engine(engine);
    TalusStatus status = talus_detector_restore(e->detector, list);
    e->contacts = talus_detector_contacts(e->detector);
    return status;
}

TalusContactList *cpu_contact_list(TalusEngine *engine)
{
    return talus_detector_contacts(cpu_engine(engine)->detector);
}

void cpu_renumber_contacts(TalusEngine *engine, const int32_t *slot)
{
    talus_detector_renumber(cpu_engine(engine)->detector, slot);
}

void cpu_drop_impulses(TalusEngine *engine, int slot)
{
    talus_detector_drop_impulses(cpu_engine(engine)->detector, (uint32_t)slot);
}

/* ---- snapshot ---- */

/* A copy of bytes. */
typedef struct Copy {
    char *to;
    const char *from;
} Copy;

static void copy_chunk(void *context, int64_t begin, int64_t end, int64_t chunk)
{
    const Copy *copy = context;
    (void)chunk;
    memcpy(copy->to + begin, copy->from + begin, (size_t)(end - begin));
}

/* Copies `count` elements of `element` bytes each; the pointers may be NULL if count is 0. */
static void copy_elements(const CpuEngine *e, void *to, const void *from, int count, size_t element)
{
    enum { BYTES = 1 << 16 }; /* per chunk */
    Copy copy = {to, from};
    if (count > 0)
        talus_parallel(e->pool, (int64_t)count * (int64_t)element, BYTES, copy_chunk, &copy);
}

/* Copies counts and elements of a contact list into the arrays of `to`, which have the capacity. */
static void copy_list(const CpuEngine *e, TalusContactList *to, const TalusContactList *from)
{
    TalusContactList arrays = *to;
    *to = *from;
    to->contact = arrays.contact;
    to->arms = arrays.arms;
    to->impulse = arrays.impulse;
    copy_elements(e, to->contact, from->contact, from->count, sizeof *to->contact);
    copy_elements(e, to->arms, from->arms, from->general, sizeof *to->arms);
    copy_elements(e, to->impulse, from->impulse, from->count, sizeof *to->impulse);
}

TalusStatus cpu_snapshot_contacts(TalusEngine *engine)
{
    CpuEngine *e = cpu_engine(engine);
    TalusContactList *to = &e->snapshot.list;
    size_t contacts = (size_t)e->contacts->count, general = (size_t)e->contacts->general;
    TALUS_TRY(TALUS_GROW(to->contact, contacts, 0, "snapshot of contacts"));
    TALUS_TRY(TALUS_GROW(to->arms, general, 0, "snapshot of contacts"));
    TALUS_TRY(TALUS_GROW(to->impulse, contacts, 0, "snapshot of contacts"));
    copy_list(e, to, e->contacts);
    return TALUS_OK;
}

TalusStatus cpu_snapshot_states(TalusEngine *engine)
{
    CpuEngine *e = cpu_engine(engine);
    CpuSnapshot *s = &e->snapshot;
    const TalusBodyArrays *b = &e->bodies;
    const int own = cpu_own_slots(e);
    size_t slots = (size_t)own;
    TALUS_TRY(TALUS_GROW(s->position, slots, 0, "snapshot of states"));
    TALUS_TRY(TALUS_GROW(s->velocity, slots, 0, "snapshot of states"));
    TALUS_TRY(TALUS_GROW(s->spin, slots, 0, "snapshot of states"));
    TALUS_TRY(TALUS_GROW(s->orientation, slots, 0, "snapshot of states"));
    copy_elements(e, s->position, b->position, own, sizeof *b->position);
    copy_elements(e, s->velocity, b->velocity, own, sizeof *b->velocity);
    copy_elements(e, s->spin, b->spin, own, sizeof *b->spin);
    copy_elements(e, s->orientation, b->orientation, own, sizeof *b->orientation);
    if (!b->dissipated)
        return TALUS_OK;
    TALUS_TRY(TALUS_GROW(s->dissipated, slots, 0, "snapshot of states"));
    copy_elements(e, s->dissipated, b->dissipated, own, sizeof *b->dissipated);
    return TALUS_OK;
}

/* Restores the states in any case. If memory is lacking, fails to restore the contacts: the list is then empty or still
 * that of the failed step, and the impulses of the snapshot are lost. */
TalusStatus cpu_rollback(TalusEngine *engine, bool states)
{
    CpuEngine *e = cpu_engine(engine);
    const CpuSnapshot *s = &e->snapshot;
    TalusBodyArrays *b = &e->bodies;
    const int own = cpu_own_slots(e);
    if (states) {
        copy_elements(e, b->position, s->position, own, sizeof *b->position);
        copy_elements(e, b->velocity, s->velocity, own, sizeof *b->velocity);
        copy_elements(e, b->spin, s->spin, own, sizeof *b->spin);
        copy_elements(e, b->orientation, s->orientation, own, sizeof *b->orientation);
        if (b->dissipated)
            copy_elements(e, b->dissipated, s->dissipated, own, sizeof *b->dissipated);
    }
    return cpu_put_contacts(engine, &s->list);
}

const TalusEngineOps cpu_engine_ops = {
    .capabilities = TALUS_ENGINE_SHARED | TALUS_ENGINE_PERIODS | TALUS_ENGINE_SLEEP |
                    TALUS_ENGINE_CELL | TALUS_ENGINE_IMPACTS | TALUS_ENGINE_DISSIPATION,
#define OPERATION(result, name, arguments) .name = cpu_##name,
#define OWN_ONLY(result, name, arguments)
#include "engine/operations.h"
};
