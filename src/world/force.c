/* world/force.c - forces and torques that the user applies to bodies.
 *
 * Force f and torque t enter the free velocities: v_f = v + h g + h f / m and w_f = w + h I^-1 t. The ledger's
 * `applied` is their work along the motion, h f'v' + h t'w' with the solved velocities v' and w'. Their work on the
 * velocities is h f'(v + v_f)/2 + h t'(w + w_f)/2; the difference, of first order in h, is part of `gravity_error`. */
#include "world/force.h"
#include "world/ids.h"
#include "world/state.h"
#include "world/step/wake.h"

#include <inttypes.h>

TalusStatus talus_forces_reserve(TalusWorld *world, size_t slots)
{
    TalusForces *f = &world->forces;
    size_t have = (size_t)f->count;
    TALUS_TRY(TALUS_GROW(f->force, slots, have, "applied forces"));
    return TALUS_GROW(f->torque, slots, have, "applied forces");
}

TalusStatus talus_slot_set_force(TalusWorld *world, int slot, TalusVec3 force, TalusVec3 torque)
{
    TalusForces *f = &world->forces;
    TalusVec3 zero = {0.0, 0.0, 0.0};
    if (slot >= f->count) {
        if (talus_norm(force) == 0.0 && talus_norm(torque) == 0.0)
            return TALUS_OK;
        TALUS_TRY(talus_forces_reserve(world, (size_t)slot + 1));
        for (; f->count <= slot; f->count++)
            f->force[f->count] = f->torque[f->count] = zero;
    }
    f->force[slot] = force;
    f->torque[slot] = torque;
    world->mirror.forces_dirty = true;
    return TALUS_OK;
}

TalusStatus talus_world_set_force(TalusWorld *world, TalusBodyId id, TalusVec3 force,
                                  TalusVec3 torque)
{
    TalusStatus status = TALUS_OK;
    int slot;
    TALUS_TRY(talus_ranks_find_body(world, id, &slot));
    if (!talus_ranks_body_is_dynamic(world, slot))
        return talus_reject("body %" PRIu64 " does not move freely: no force acts on it",
                            id.number);
    if (!isfinite(talus_norm(force)) || !isfinite(talus_norm(torque)))
        return talus_reject("body %" PRIu64 ": the force is not finite", id.number);
    talus_slot_wake(world, slot);
    if (slot >= 0)
        status = talus_slot_set_force(world, slot, force, torque);
    return talus_comm_agree(world->ranks.comm, status);
}

void talus_forces_clear(TalusWorld *world)
{
    TALUS_RELEASE(world->forces.force, world->forces.torque);
    world->forces = (TalusForces){0};
}
