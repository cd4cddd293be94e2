/* talus/body.h - bodies one by one: their state, and changes of it between steps.
 *
 * A change acts from the next step on. Contacts are found anew in every step; a call that moves a body, or changes what
 * moves it, drops the impulses from which the next solve would start at its contacts and joints, and wakes what it may
 * disturb. The energy that a change brings counts as `exchange` in the ledger. On several ranks all ranks make the same
 * calls, and get the same answers. */
#ifndef TALUS_BODY_H
#define TALUS_BODY_H

#include <talus/base.h>
#include <talus/math.h>
#include <talus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What moves a body. */
typedef enum TalusMotionKind {
    TALUS_MOTION_FREE,   /* forces, contacts, joints */
    TALUS_MOTION_FIXED,  /* nothing */
    TALUS_MOTION_DRIVEN, /* its prescribed motion (TalusDriveDef) */
    TALUS_MOTION_ASLEEP  /* nothing until it is disturbed; then as free */
} TalusMotionKind;

/* A body; units and frames as in TalusBodyState. */
typedef struct TalusBody {
    TalusBodyId id;
    TalusMotionKind motion;
    TalusVec3 position, velocity, spin;
    TalusQuat orientation;
    TalusVec3 force, torque; /* applied (talus_world_set_force) */
    double mass, radius, dissipated;
    int shape, material, tag, group, copy;
} TalusBody;

/* True if the world has a body with this id now. */
TALUS_API bool talus_world_has_body(const TalusWorld *world, TalusBodyId id);
TALUS_API TalusStatus talus_world_get_body(const TalusWorld *world, TalusBodyId id, TalusBody *out);

/* Moves a body, fixed ones too, to a pose; velocities stay. A driven body, whose motion gives its pose, is refused. The
 * orientation has length 1. Joints that the pose opens are closed in the next step. */
TALUS_API TalusStatus talus_world_set_pose(TalusWorld *world, TalusBodyId id, TalusVec3 position,
                                           TalusQuat orientation);

/* Sets position, velocity, spin and orientation of `count` bodies; arrays that stay as they are are NULL. Row k is that of
 * state->id[k]; with `id` NULL the rows are those of talus_world_get_state, of all bodies. The other arrays of the state
 * must be NULL. Sets all or, on failure, none. Fixed bodies keep velocity 0; a driven body is refused. With positions or
 * orientations the next solve starts from zero impulses, and all bodies wake. */
TALUS_API TalusStatus talus_world_set_state(TalusWorld *world, const TalusBodyState *state,
                                            int64_t count);

/* Changes the velocities of a free or sleeping body at once by an impulse, N s, at a point, m, both in the world frame. In
 * periodic space the body's image nearest to the point takes it. */
TALUS_API TalusStatus talus_world_add_impulse(TalusWorld *world, TalusBodyId id, TalusVec3 impulse,
                                              TalusVec3 point);
/* As talus_world_set_force with this force, N, and the torque that it has about the body's centre now if it acts at
 * `point`: the torque does not turn with the body. */
TALUS_API TalusStatus talus_world_set_force_at(TalusWorld *world, TalusBodyId id, TalusVec3 force,
                                               TalusVec3 point);

/* Makes a body fixed where it is: velocities, applied force, prescribed motion and mass go. Its joints must have been
 * removed. One rank. */
TALUS_API TalusStatus talus_world_fix_body(TalusWorld *world, TalusBodyId id);
/* Makes a fixed or driven body free, with the velocities it has; `mass`, kg, or 0: by the density of its material. Its
 * joints must have been removed, and it must have a volume. One rank. */
TALUS_API TalusStatus talus_world_release_body(TalusWorld *world, TalusBodyId id, double mass);

/* A pointer of the caller for each body, NULL until it is set. The world never reads what it points to, and does not save
 * it. */
TALUS_API TalusStatus talus_world_set_user(TalusWorld *world, TalusBodyId id, void *user);
/* Returns the pointer; NULL also if there is no such body any more. */
TALUS_API void *talus_world_get_user(const TalusWorld *world, TalusBodyId id);

#ifdef __cplusplus
}
#endif

#endif
