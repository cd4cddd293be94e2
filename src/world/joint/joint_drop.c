/* world/joint/joint_drop.c - joints leave the list. */
#include "world/joint/joint.h"
#include "world/state.h"

#include "base/memory.h"

#include <string.h>

void talus_joint_clear(TalusJoint *joint)
{
    talus_release((char *)joint->def.name);
    talus_release(joint->phase);
}

void talus_joints_drop(TalusJoints *joints, int index)
{
    TalusJoint *joint = &joints->joint[index];
    talus_joint_clear(joint);
    memmove(joint, joint + 1, (size_t)(--joints->count - index) * sizeof *joint);
}

void talus_joints_forget_body(TalusWorld *world, TalusBodyId id)
{
    TalusJoints *joints = &world->joints;
    for (int i = joints->count - 1; talus_world_is_dealt(world) && i >= 0; i--)
        if (talus_joint_has_body(&joints->joint[i].def, id))
            talus_joints_drop(joints, i);
}
