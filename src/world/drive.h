/* world/drive.h - driven bodies: prescribed motion. */
#ifndef TALUS_WORLD_DRIVE_H
#define TALUS_WORLD_DRIVE_H

#include <talus/world.h>

typedef struct TalusDrive {
    TalusDriveDef def;
    int slot;
    TalusVec3 position; /* pose at the start of the motion */
    TalusQuat orientation;
    TalusVec3 next_position; /* at the end of the current part of a step */
    TalusQuat next_orientation;
    TalusVec3 velocity_before, spin_before; /* for a rollback */
} TalusDrive;

/* Sets the poses at the end of a part of length h from part_time on, and the velocities that lead there; moves the
 * bodies to these poses. */
void talus_drives_aim(TalusWorld *world, double h);
void talus_drives_arrive(TalusWorld *world);
void talus_drives_snapshot(TalusWorld *world);
void talus_drives_rollback(TalusWorld *world);
/* Removes the drive of a slot that is reused. */
void talus_slot_clear_drive(TalusWorld *world, int slot);
/* Adds the work of driven bodies through joints to the ledger. */
void talus_ledger_driven_joints(TalusWorld *world);
/* Adds a loaded drive. */
TalusStatus talus_drive_admit(TalusWorld *world, const TalusDrive *drive);

#endif
