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

/* Computes the poses at the end of a part of length h from part_time on, and sets the velocities that lead there. */
void talus_drives_set_targets(TalusWorld *world, double h);
/* Moves the bodies to these poses. */
void talus_drives_reach_targets(TalusWorld *world);
/* Store the velocities of driven bodies at the start of a step; restore them after a failed one. */
void talus_drives_snapshot(TalusWorld *world);
void talus_drives_rollback(TalusWorld *world);
/* Removes the drive of a slot that is reused. */
void talus_slot_clear_drive(TalusWorld *world, int slot);
/* Adds the work of driven bodies through joints to the ledger. */
void talus_ledger_driven_joints(TalusWorld *world);
/* Adds a loaded drive. */
TalusStatus talus_drive_add_loaded(TalusWorld *world, const TalusDrive *drive);

#endif
