/* world/joint/joint_save.c - joints in a saved state: definitions, attachments and the state from step to step. Slots
 * keep their indices and generations, so that ids stay valid. A joint whose body was removed is saved as an empty
 * slot. */
#include "world/save/save.h"
#include "world/state.h"

/* Transfers a number that may be infinite. */
static void transfer_bound(TalusArchive *a, double *value, double infinite)
{
    bool finite = isfinite(*value);
    double number = finite ? *value : 0.0;
    talus_archive_bool(a, &finite);
    talus_archive_f64(a, &number);
    *value = finite ? number : infinite;
}

static void transfer_motor(TalusArchive *a, TalusMotorDef *motor)
{
    uint32_t kind = (uint32_t)motor->kind;
    talus_archive_u32(a, &kind);
    talus_archive_f64(a, &motor->target);
    talus_archive_f64(a, &motor->rate);
    talus_archive_f64(a, &motor->start);
    transfer_bound(a, &motor->max_effort, INFINITY);
    talus_archive_f64(a, &motor->stiffness);
    talus_archive_f64(a, &motor->damping);
    motor->kind = (TalusMotorKind)kind;
}

static void transfer_def(TalusArchive *a, TalusJointDef *def, char **name)
{
    uint32_t kind = (uint32_t)def->kind;
    talus_archive_text(a, name);
    talus_archive_u32(a, &kind);
    talus_archive_id(a, &def->a.number);
    talus_archive_id(a, &def->b.number);
    transfer_bound(a, &def->lower, -INFINITY);
    transfer_bound(a, &def->upper, INFINITY);
    transfer_motor(a, &def->motor);
    talus_archive_f64(a, &def->rest);
    talus_archive_f64(a, &def->stiffness);
    talus_archive_f64(a, &def->damping);
    talus_archive_bool(a, &def->collide);
    def->kind = (TalusJointKind)kind;
}

static void transfer_sums(TalusArchive *a, TalusJointSums *sums)
{
    talus_archive_vec3(a, &sums->force);
    talus_archive_vec3(a, &sums->torque);
    talus_archive_f64(a, &sums->effort);
}

static void transfer_joint(TalusArchive *a, TalusWorld *world, TalusJoint *joint)
{
    char *name = (char *)joint->def.name;
    transfer_def(a, &joint->def, &name);
    talus_archive_f64(a, &joint->since);
    talus_archive_f64(a, &joint->length);
    for (int k = 0; k < 2; k++) {
        talus_archive_vec3(a, &joint->anchor[k]);
        talus_archive_vec3(a, &joint->axis[k]);
        talus_archive_vec3(a, &joint->side[k]);
    }
    talus_archive_f64(a, &joint->carry.angle);
    for (int part = 0; part < TALUS_JOINT_PARTS; part++)
        talus_archive_vec3(a, &joint->carry.impulse[part]);
    transfer_sums(a, &joint->shown);
    if (!a->loading)
        return;
    joint->def.name = name;
    if (a->status == TALUS_OK)
        talus_archive_take(a, talus_joint_admit(world, joint));
}

static void transfer_slot(TalusArchive *a, TalusWorld *world, int index)
{
    TalusJoint *joint = &world->joints.joint[index];
    bool used = !a->loading && talus_joint_lives(world, joint);
    talus_archive_u32(a, &joint->generation);
    talus_archive_bool(a, &used);
    if (!used)
        return;
    transfer_joint(a, world, joint);
    if (a->loading) {
        joint->used = true;
        world->joints.living++;
    }
}

void talus_archive_joints(TalusArchive *a, TalusWorld *world)
{
    TalusJoints *joints = &world->joints;
    int slots = joints->slots;
    talus_archive_count(a, &slots, 5);
    if (a->loading) {
        talus_archive_take(a, TALUS_GROW(joints->joint, (size_t)slots, 0, "joints"));
        if (a->status != TALUS_OK)
            return;
        for (joints->slots = 0; joints->slots < slots; joints->slots++)
            joints->joint[joints->slots] = (TalusJoint){0};
    }
    for (int i = 0; i < slots && a->status == TALUS_OK; i++)
        transfer_slot(a, world, i);
}
