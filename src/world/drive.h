/* world/drive.h - bodies that move as they are told. */
#ifndef TALUS_WORLD_DRIVE_H
#define TALUS_WORLD_DRIVE_H

#include <talus/world.h>

/* A driven body (drive.c). */
typedef struct TalusDrive {
    TalusDriveDef def;
    int slot;
    TalusVec3 position; /* where the motion began */
    TalusQuat orientation;
    TalusVec3 next_position; /* at the end of the part of a step that is under way */
    TalusQuat next_orientation;
    TalusVec3 velocity_before, spin_before; /* for a step that fails */
} TalusDrive;

/* Poses at the end of a part of length h that begins at part_time, and the velocities that lead there, into
 * the bodies. */
void talus_drives_aim(TalusWorld *world, double h);
void talus_drives_arrive(TalusWorld *world);
/* A step begins; it has failed. */
void talus_drives_begin(TalusWorld *world);
void talus_drives_undo(TalusWorld *world);
/* Forgets the drive of a slot that another body takes. */
void talus_slot_stop(TalusWorld *world, int slot);
/* What driven bodies did through joints. */
void talus_ledger_driven_joints(TalusWorld *world);
/* Takes a drive as it was saved. */
TalusStatus talus_drive_admit(TalusWorld *world, const TalusDrive *drive);

#endif
