/* world/save/save_joints.c - joints in a saved state: definitions, attachments and the state from step to step. A joint
 * whose body was removed is not saved.
 *
 * Up to version 6 the list has slots with a generation, some of them empty, and no numbers: joints are numbered in the
 * order of their slots. */
#include "world/save/save.h"
#include "world/state.h"

/* Bytes of a phase. */
enum { PHASE_BYTES = 32 };

/* Transfers a number that may be `infinite`, INFINITY or -INFINITY, as a flag and a finite number. */
static void transfer_bound(TalusArchive *a, double *value, double infinite)
{
    bool finite = isfinite(*value);
    double number = finite ? *value : 0.0;
    talus_archive_bool(a, &finite);
    TALUS_ARCHIVE_F64(a, &number);
    *value = finite ? number : infinite;
}

static void transfer_motor(TalusArchive *a, TalusMotorDef *motor)
{
    TALUS_ARCHIVE_ENUM(a, motor->kind);
    TALUS_ARCHIVE_F64(a, &motor->target, &motor->rate, &motor->start);
    transfer_bound(a, &motor->max_effort, INFINITY);
    TALUS_ARCHIVE_F64(a, &motor->stiffness, &motor->damping);
    if (a->version < 14) /* before, there were no servos */
        return;
    TALUS_ARCHIVE_F64(a, &motor->max_speed, &motor->area);
    talus_archive_bool(a, &motor->stress);
    for (int k = 0; k < 4; k++)
        talus_archive_id(a, &motor->between[k / 2][k % 2].number);
}

static void transfer_joint_def(TalusArchive *a, TalusJointDef *def, char **name)
{
    talus_archive_text(a, name);
    TALUS_ARCHIVE_ENUM(a, def->kind);
    talus_archive_id(a, &def->a.number);
    talus_archive_id(a, &def->b.number);
    transfer_bound(a, &def->lower, -INFINITY);
    transfer_bound(a, &def->upper, INFINITY);
    transfer_motor(a, &def->motor);
    TALUS_ARCHIVE_F64(a, &def->rest, &def->stiffness, &def->damping);
    talus_archive_bool(a, &def->collide);
}

/* Transfers the phases of a servo and where it is in them. */
static void transfer_phases(TalusArchive *a, TalusJoint *joint)
{
    TalusJointWarmStart *w = &joint->warm_start;
    if (a->version < 15) /* before, servos had one load */
        return;
    talus_archive_count(a, &joint->phases, PHASE_BYTES);
    if (a->loading && joint->phases > 0)
        TALUS_ARCHIVE_CALL(a,
                           TALUS_ALLOC(joint->phase, (size_t)joint->phases, "phases of a servo"));
    for (int i = 0; i < joint->phases && a->status == TALUS_OK; i++) {
        TALUS_ARCHIVE_ENUM(a, joint->phase[i].load);
        TALUS_ARCHIVE_F64(a, &joint->phase[i].value, &joint->phase[i].ramp);
        transfer_bound(a, &joint->phase[i].until, INFINITY);
    }
    TALUS_ARCHIVE_I32(a, &w->phase);
    TALUS_ARCHIVE_F64(a, &w->phase_start, &w->phase_load);
    const bool known = w->phase >= -1 && w->phase < (joint->phases > 0 ? joint->phases : 1);
    if (a->loading && (!known || !isfinite(w->phase_start) || !isfinite(w->phase_load)))
        talus_archive_refuse(a, "a servo has no such phase");
}

static void transfer_joint(TalusArchive *a, TalusWorld *world, TalusJoint *joint)
{
    char *name = (char *)joint->def.name;
    transfer_joint_def(a, &joint->def, &name);
    TALUS_ARCHIVE_F64(a, &joint->motor_since, &joint->length);
    for (int k = 0; k < 2; k++)
        TALUS_ARCHIVE_VEC3(a, &joint->anchor[k], &joint->axis[k], &joint->side[k]);
    TALUS_ARCHIVE_F64(a, &joint->warm_start.angle);
    for (int part = 0; part < TALUS_JOINT_PARTS; part++)
        TALUS_ARCHIVE_VEC3(a, &joint->warm_start.impulse[part]);
    TALUS_ARCHIVE_VEC3(a, &joint->reported.force, &joint->reported.torque);
    TALUS_ARCHIVE_F64(a, &joint->reported.effort);
    transfer_phases(a, joint);
    if (!a->loading)
        return;
    joint->def.name = name;
    TALUS_ARCHIVE_CALL(a, talus_joint_check_loaded(joint));
    if (!a->comm) /* else once the joint's bodies are known (loaded.c) */
        TALUS_ARCHIVE_CALL(a, talus_joint_check_bodies(world, joint));
}

/* Transfers the number of a joint; up to version 6, which has no numbers, assigns the next one. False for an empty
 * slot, which only versions up to 6 have. */
static bool transfer_number(TalusArchive *a, TalusJoints *joints, TalusJoint *joint)
{
    uint32_t generation;
    bool used = true;
    if (a->version > 6) {
        talus_archive_u64(a, &joint->number);
        if (joint->number > joints->created ||
            (a->loading && joint > joints->joint && joint[-1].number >= joint->number))
            talus_archive_refuse(a, "the numbers of joints are out of order");
        return true;
    }
    talus_archive_u32(a, &generation);
    talus_archive_bool(a, &used);
    joint->number = joints->created += used;
    return used;
}

/* Loads `count` entries of the list; empty slots of old versions are skipped. */
static void load_joints(TalusArchive *a, TalusWorld *world, int count)
{
    TalusJoints *joints = &world->joints;
    TALUS_ARCHIVE_CALL(a, TALUS_GROW(joints->joint, (size_t)count, 0, "joints"));
    for (int i = 0; i < count && a->status == TALUS_OK; i++) {
        TalusJoint *joint = &joints->joint[joints->count];
        *joint = (TalusJoint){0};
        if (!transfer_number(a, joints, joint))
            continue;
        joints->count++;
        transfer_joint(a, world, joint);
    }
}

/* On several ranks a rank does not have all bodies: what is removed is marked. */
static bool is_saved(const TalusArchive *a, const TalusWorld *world, const TalusJoint *joint)
{
    return a->rows->comm ? !joint->removed : talus_joint_lives(world, joint);
}

void talus_archive_joints(TalusArchive *a, TalusWorld *world)
{
    TalusJoints *joints = &world->joints;
    int count = talus_world_joint_count(world);
    if (a->version > 6)
        talus_archive_u64(a, &joints->created);
    talus_archive_count(a, &count, 5);
    if (a->loading)
        load_joints(a, world, count);
    for (int i = 0; i < joints->count && !a->loading; i++)
        if (is_saved(a, world, &joints->joint[i])) {
            transfer_number(a, joints, &joints->joint[i]);
            transfer_joint(a, world, &joints->joint[i]);
        }
}
