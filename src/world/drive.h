/* world/drive.h - driven bodies: prescribed motion. */
#ifndef TALUS_WORLD_DRIVE_H
#define TALUS_WORLD_DRIVE_H

#include <talus/world.h>

/* One motion of a driven body. Motions of a body are neighbours in TalusWorld.drive; the first of them has the members
 * of the current part and step. */
typedef struct TalusDrive {
    TalusDriveDef def; /* def.point: point of the axis; the body's centre without own_axis */
    uint64_t body;     /* number of the body's id */
    int slot; /* on several ranks: -1 on those that do not own the body, as of the last snapshot */
    TalusVec3 position; /* pose when the first motion was set, x0 and e0 of TalusDriveDef */
    TalusQuat orientation;
    TalusVec3 next_position; /* pose at the end of the current part of a step */
    TalusQuat next_orientation;
    TalusVec3 velocity_before, spin_before; /* at the start of the step, for a rollback */
} TalusDrive;

/* On several ranks all of them have all drives, in the same order; the owner of a body moves it.
 *
 * For the part of the step from world->part_time to part_time + h: computes the poses of driven bodies at its end
 * (next_position, next_orientation) and sets the velocities that lead there in h. */
void talus_drives_set_targets(TalusWorld *world, double h);
/* Moves driven bodies to next_position and next_orientation. */
void talus_drives_reach_targets(TalusWorld *world);
/* Store the velocities of driven bodies at the start of a step (or before talus_world_build); restore them after a
 * failed step (or after the build). */
void talus_drives_snapshot(TalusWorld *world);
void talus_drives_rollback(TalusWorld *world);
/* Returns the number of driven bodies. */
int talus_drives_count_bodies(const TalusWorld *world);
/* True if motion i of TalusWorld.drive is the first of its body. */
static inline bool talus_drive_is_first(const TalusDrive *drive, int i)
{
    return i == 0 || drive[i - 1].body != drive[i].body;
}
/* Removes all motions of a body. */
void talus_body_clear_drive(TalusWorld *world, TalusBodyId id);
/* Adds the work that driven bodies do through joints to the ledger, J. */
void talus_drives_add_joint_work(TalusWorld *world);
/* Checks and adds a drive that was read from a saved state; shape: of its body. */
TalusStatus talus_drive_add_loaded(TalusWorld *world, const TalusDrive *drive, int shape);

#endif
