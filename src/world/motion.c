/* world/motion.c - bodies as a caller sees and changes them one by one: pose, velocities, what moves them.
 *
 * A caller's change of energy goes to TalusWorld.exchange_*, as the energies of bodies after it less those before it.
 * Contacts are found anew in every step from the positions themselves, and the list of neighbours checks them
 * (collide/neighbours.c), so that a body may be put anywhere. */
#include <talus/body.h>

#include "collide/period.h"
#include "engine/body.h"
#include "world/ids.h"
#include "world/state.h"
#include "world/step/wake.h"
#include "world/user.h"

#include <inttypes.h>

/* ---- states ---- */

bool talus_world_has_body(const TalusWorld *world, TalusBodyId id)
{
    return talus_comm_any(world->ranks.comm, talus_slot_of(world, id) >= 0);
}

TalusStatus talus_world_get_body(const TalusWorld *world, TalusBodyId id, TalusBody *out)
{
    static const TalusMotionKind kind[] = {
        [TALUS_MOBILITY_FREE] = TALUS_MOTION_FREE,
        [TALUS_MOBILITY_FIXED] = TALUS_MOTION_FIXED,
        [TALUS_MOBILITY_DRIVEN] = TALUS_MOTION_DRIVEN,
        [TALUS_MOBILITY_ASLEEP] = TALUS_MOTION_ASLEEP,
    };
    TalusBodyRecord body;
    TALUS_TRY(talus_comm_agree(world->ranks.comm, talus_world_download_bodies(world)));
    TALUS_TRY(talus_ranks_get_body(world, id, &body));
    *out = (TalusBody){
        .id = id,
        .motion = kind[body.mobility],
        .position = body.position,
        .velocity = body.velocity,
        .spin = body.spin,
        .orientation = body.orientation,
        .force = body.force,
        .torque = body.torque,
        .mass = body.mass,
        .radius = body.radius,
        .dissipated = body.dissipated,
        .shape = body.shape,
        .material = body.material,
        .tag = body.tag,
        .group = body.group % TALUS_GROUPS,
        .copy = body.group / TALUS_GROUPS,
    };
    return TALUS_OK;
}

/* ---- poses ---- */

static TalusStatus check_pose(uint64_t body, const TalusVec3 *position,
                              const TalusQuat *orientation)
{
    if (position && !talus_finite3(*position))
        return talus_reject("body %" PRIu64 ": the position is not finite", body);
    if (!orientation)
        return TALUS_OK;
    const TalusQuat q = *orientation;
    const double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!(fabs(n - 1.0) < 1e-3))
        return talus_reject("body %" PRIu64 ": the orientation has length %g; expected 1", body,
                            sqrt(n));
    return TALUS_OK;
}

static TalusStatus refuse_driven(const TalusWorld *world, uint64_t body, bool driven)
{
    if (talus_comm_any(world->ranks.comm, driven))
        return talus_reject("body %" PRIu64 ": its prescribed motion gives its pose and velocity; "
                            "talus_world_set_drive(world, id, NULL) ends it",
                            body);
    return TALUS_OK;
}

/* Returns the orientation with length 1. One whose length is 1 up to rounding keeps its bits, so that a state that was got
 * is set again exactly. */
static TalusQuat unit_orientation(TalusQuat q)
{
    const double n = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    return fabs(n - 1.0) <= 0x1p-48 ? q : talus_quat_normalize(q);
}

/* Sets the pose of the body in `slot`; NULL: it stays. */
static void put_pose(TalusWorld *world, int slot, const TalusVec3 *position,
                     const TalusQuat *orientation)
{
    TalusBodies *b = &world->bodies;
    if (position)
        b->position[slot] = talus_wrap_position(&world->def.period, *position);
    if (orientation)
        b->orientation[slot] = unit_orientation(*orientation);
}

/* Sets the impulses to 0 from which the joints of this body would start. */
static void drop_joint_impulses(TalusWorld *world, TalusBodyId id)
{
    for (int i = 0; i < world->joints.count; i++) {
        TalusJoint *joint = &world->joints.joint[i];
        for (int k = 0; k < TALUS_JOINT_PARTS && talus_joint_has_body(&joint->def, id); k++)
            joint->warm_start.impulse[k] = talus_vec3(0.0, 0.0, 0.0);
    }
}

TalusStatus talus_world_set_pose(TalusWorld *world, TalusBodyId id, TalusVec3 position,
                                 TalusQuat orientation)
{
    TalusExchange exchange = {0};
    int slot;
    TALUS_TRY(check_pose(id.number, &position, &orientation));
    TALUS_TRY(talus_ranks_find_body(world, id, &slot));
    TALUS_TRY(
        refuse_driven(world, id.number, slot >= 0 && talus_slot_is_driven(&world->bodies, slot)));
    TALUS_TRY(talus_comm_agree(world->ranks.comm, talus_world_mark_bodies_dirty(world)));
    if (talus_ranks_body_is_dynamic(world, slot))
        talus_slot_wake(world, slot);
    else
        talus_wake_all(world); /* a sleeping body is not tested against fixed ones */
    talus_ranks_drop_impulses(world, id);
    drop_joint_impulses(world, id);
    if (slot >= 0) {
        talus_slot_exchange(world, slot, -1.0, &exchange);
        put_pose(world, slot, &position, &orientation);
        talus_slot_exchange(world, slot, 1.0, &exchange);
    }
    talus_exchange_book(world, &exchange);
    return TALUS_OK;
}

/* ---- states in bulk ---- */

/* Refuses a state with arrays that cannot be set, or without those that can. */
static TalusStatus check_arrays(const TalusWorld *world, const TalusBodyState *s, int64_t count)
{
    if (s->radius || s->mass || s->shape || s->material || s->tag || s->fixed || s->dissipated)
        return talus_reject("talus_world_set_state: sets position, velocity, spin and orientation "
                            "alone; expected NULL for the other arrays");
    if (!s->id && count != talus_world_living(world))
        return talus_reject("talus_world_set_state: %" PRId64
                            " rows without ids; expected one for each of %" PRId64 " bodies",
                            count, talus_world_living(world));
    return count < 0 ? talus_reject("talus_world_set_state: count is %" PRId64, count) : TALUS_OK;
}

/* Checks row k, of a body that some rank has. */
static TalusStatus check_row(const TalusBodyState *s, int64_t k, uint64_t body)
{
    TALUS_TRY(check_pose(body, s->position ? &s->position[k] : NULL,
                         s->orientation ? &s->orientation[k] : NULL));
    if ((s->velocity && !talus_finite3(s->velocity[k])) || (s->spin && !talus_finite3(s->spin[k])))
        return talus_reject("body %" PRIu64 ": the velocity is not finite", body);
    return TALUS_OK;
}

/* Sets slot[k], [count], to the slot of row k; -1: another rank has the body. */
static TalusStatus find_rows(const TalusWorld *world, const TalusBodyState *s, int64_t count,
                             int32_t *slot)
{
    const TalusBodies *b = &world->bodies;
    int64_t found = 0, row = 0;
    for (int64_t k = 0; s->id && k < count; k++) {
        slot[k] = talus_slot_of(world, s->id[k]);
        found += slot[k] >= 0;
    }
    for (int i = 0; !s->id && i < b->counts.slots; i++)
        if (b->shape[i] >= 0)
            slot[row++] = i;
    if (!s->id)
        return TALUS_OK;
    TALUS_TRY(talus_comm_add_counts(world->ranks.comm, &found, 1));
    if (found != count)
        return talus_reject("talus_world_set_state: %" PRId64 " of %" PRId64
                            " ids are of no body now",
                            count - found, count);
    return TALUS_OK;
}

/* Checks all rows; those of other ranks' bodies, too, so that all ranks agree. */
static TalusStatus check_rows(const TalusWorld *world, const TalusBodyState *s, int64_t count,
                              const int32_t *slot)
{
    const TalusBodies *b = &world->bodies;
    bool driven = false;
    uint64_t first = 0;
    for (int64_t k = 0; k < count; k++) {
        const uint64_t body = slot[k] >= 0 ? b->id[slot[k]] : s->id[k].number;
        TALUS_TRY(check_row(s, k, body));
        if (slot[k] >= 0 && talus_slot_is_driven(b, slot[k]) && !driven) {
            driven = true;
            first = body;
        }
    }
    return refuse_driven(world, first, driven);
}

static void put_row(TalusWorld *world, const TalusBodyState *s, int64_t k, int slot,
                    TalusExchange *exchange)
{
    TalusBodies *b = &world->bodies;
    const bool dynamic = talus_slot_is_dynamic(b, slot);
    talus_slot_exchange(world, slot, -1.0, exchange);
    put_pose(world, slot, s->position ? &s->position[k] : NULL,
             s->orientation ? &s->orientation[k] : NULL);
    if (s->velocity && dynamic)
        b->velocity[slot] = s->velocity[k];
    if (s->spin && dynamic)
        b->spin[slot] = s->spin[k];
    talus_slot_exchange(world, slot, 1.0, exchange);
}

TalusStatus talus_world_set_state(TalusWorld *world, const TalusBodyState *state, int64_t count)
{
    TalusExchange exchange = {0};
    int32_t *slot;
    TALUS_TRY(check_arrays(world, state, count));
    if (!state->id) /* rows of several ranks are in the order of ids, which none of them has */
        TALUS_TRY(talus_ranks_refuse(world, "states without ids"));
    TalusStatus status = TALUS_ALLOC(slot, (size_t)count + 1, "rows of bodies");
    TALUS_TRY(talus_comm_agree(world->ranks.comm, status));
    status = find_rows(world, state, count, slot);
    TALUS_THEN(status, check_rows(world, state, count, slot));
    TALUS_THEN(status, talus_comm_agree(world->ranks.comm, talus_world_mark_bodies_dirty(world)));
    if (status == TALUS_OK) {
        talus_wake_all(world);
        for (int64_t k = 0; k < count; k++)
            if (slot[k] >= 0)
                put_row(world, state, k, slot[k], &exchange);
        if (state->position || state->orientation)
            world->impulse_step = 0.0; /* no impulses to start from */
        talus_exchange_book(world, &exchange);
    }
    talus_release(slot);
    return status;
}

/* ---- impulses and forces at a point ---- */

/* Returns the arm from the body in `slot` to a point, by the nearest image. */
static TalusVec3 arm_to(const TalusWorld *world, TalusVec3 position, TalusVec3 point)
{
    return talus_nearest_image_vector(&world->def.period, talus_sub(point, position));
}

/* Returns the change of spin by an angular impulse. */
static TalusVec3 spin_change(const TalusWorld *world, int slot, TalusVec3 angular)
{
    const TalusBodies *b = &world->bodies;
    const TalusSym3 inverse =
        talus_body_inverse_inertia(talus_slot_gyration(world, slot), 1.0 / b->mass[slot],
                                   b->radius[slot], b->orientation[slot]);
    return talus_scale(1.0 / (b->radius[slot] * b->radius[slot]), talus_sym3_mul(inverse, angular));
}

TalusStatus talus_world_add_impulse(TalusWorld *world, TalusBodyId id, TalusVec3 impulse,
                                    TalusVec3 point)
{
    TalusBodies *b = &world->bodies;
    TalusExchange exchange = {0};
    int slot;
    TALUS_TRY(talus_ranks_find_body(world, id, &slot));
    if (!talus_ranks_body_is_dynamic(world, slot))
        return talus_reject("body %" PRIu64 " does not move freely: no impulse acts on it",
                            id.number);
    if (!talus_finite3(impulse) || !talus_finite3(point))
        return talus_reject("body %" PRIu64 ": impulse or point is not finite", id.number);
    TALUS_TRY(talus_comm_agree(world->ranks.comm, talus_world_mark_bodies_dirty(world)));
    talus_slot_wake(world, slot);
    if (slot >= 0) {
        const TalusVec3 angular = talus_cross(arm_to(world, b->position[slot], point), impulse);
        talus_slot_exchange(world, slot, -1.0, &exchange);
        b->velocity[slot] = talus_madd(b->velocity[slot], 1.0 / b->mass[slot], impulse);
        b->spin[slot] = talus_add(b->spin[slot], spin_change(world, slot, angular));
        talus_slot_exchange(world, slot, 1.0, &exchange);
    }
    talus_exchange_book(world, &exchange);
    return TALUS_OK;
}

TalusStatus talus_world_set_force_at(TalusWorld *world, TalusBodyId id, TalusVec3 force,
                                     TalusVec3 point)
{
    TalusBody body;
    TALUS_TRY(talus_world_get_body(world, id, &body));
    return talus_world_set_force(world, id, force,
                                 talus_cross(arm_to(world, body.position, point), force));
}

/* ---- what moves a body ---- */

/* Finds a body that shall be fixed or released. */
static TalusStatus find_switched(const TalusWorld *world, TalusBodyId id, int *slot)
{
    TALUS_TRY(talus_ranks_refuse(world, "bodies that become fixed or free"));
    TALUS_TRY(talus_slot_find(world, id, slot));
    for (int i = 0; i < world->joints.count; i++)
        if (talus_joint_has_body(&world->joints.joint[i].def, id))
            return talus_reject("body %" PRIu64 " has joints, which know it as %s; "
                                "remove them first and add them again",
                                id.number,
                                talus_slot_is_dynamic(&world->bodies, *slot)
                                    ? "a free one"
                                    : "one that is not free");
    return TALUS_OK;
}

/* Gives the body in `slot` another mobility and mass. Its energies are the world's while it is free. */
static void change_mobility(TalusWorld *world, int slot, uint8_t mobility, double mass)
{
    TalusBodies *b = &world->bodies;
    TalusExchange exchange = {0};
    const bool general = !talus_slot_is_sphere(world, slot);
    talus_slot_exchange(world, slot, -1.0, &exchange); /* 0 of a body that is not free */
    b->counts.general -= general && talus_slot_is_dynamic(b, slot);
    b->mobility[slot] = mobility;
    b->mass[slot] = mass;
    b->counts.general += general && talus_slot_is_dynamic(b, slot);
    talus_slot_exchange(world, slot, 1.0, &exchange);
    talus_exchange_book(world, &exchange);
    world->mass_living = -1; /* masses are to be summed again */
}

TalusStatus talus_world_fix_body(TalusWorld *world, TalusBodyId id)
{
    const TalusVec3 zero = {0.0, 0.0, 0.0};
    int slot;
    TALUS_TRY(find_switched(world, id, &slot));
    if (talus_slot_is_driven(&world->bodies, slot))
        return talus_world_set_drive(world, id, NULL);
    if (!talus_slot_is_dynamic(&world->bodies, slot))
        return TALUS_OK;
    if (world->def.cell.on)
        return talus_reject("body %" PRIu64 ": fixed bodies do not move with a cell that deforms",
                            id.number);
    TALUS_TRY(talus_world_mark_bodies_dirty(world));
    talus_wake_all(world);
    talus_ranks_drop_impulses(world, id);
    (void)talus_slot_set_force(world, slot, zero, zero); /* zero needs no memory */
    change_mobility(world, slot, TALUS_MOBILITY_FIXED, 0.0);
    world->bodies.velocity[slot] = world->bodies.spin[slot] = zero;
    return TALUS_OK;
}

/* Sets *mass to `wanted` or, if that is 0, to the mass that the body's material gives it. */
static TalusStatus choose_mass(const TalusWorld *world, int slot, double wanted, double *mass)
{
    const TalusBodies *b = &world->bodies;
    const TalusShape *shape = &world->shape[b->shape[slot]];
    *mass = wanted;
    if (talus_shape_has(shape->def.kind, TALUS_TRAIT_WALL))
        return talus_reject("body %" PRIu64 ": a %s has no volume and cannot move freely",
                            b->id[slot], talus_shape_name(shape->def.kind));
    if (wanted == 0.0) {
        TalusMassProperties properties;
        TALUS_TRY(talus_shape_mass_of_built(
            shape, b->radius[slot], world->materials.def[b->material[slot]].density, &properties));
        *mass = properties.mass;
    }
    if (!(*mass > 0.0) || !isfinite(1.0 / *mass) || !isfinite(*mass))
        return talus_reject("body %" PRIu64 ": the mass would be %g kg; expected more than 0",
                            b->id[slot], *mass);
    return TALUS_OK;
}

TalusStatus talus_world_release_body(TalusWorld *world, TalusBodyId id, double mass)
{
    double chosen;
    int slot;
    TALUS_TRY(find_switched(world, id, &slot));
    if (talus_slot_is_dynamic(&world->bodies, slot))
        return TALUS_OK;
    TALUS_TRY(choose_mass(world, slot, mass, &chosen));
    TALUS_TRY(talus_world_mark_bodies_dirty(world));
    talus_wake_all(world);
    talus_ranks_drop_impulses(world, id);
    talus_body_clear_drive(world, id);
    if (slot < world->sleep.slots)
        world->sleep.calm[slot] = 0;
    change_mobility(world, slot, TALUS_MOBILITY_FREE, chosen);
    return TALUS_OK;
}

/* ---- pointers of the caller ---- */

TalusStatus talus_world_set_user(TalusWorld *world, TalusBodyId id, void *user)
{
    int slot;
    TALUS_TRY(talus_ranks_find_body(world, id, &slot));
    return talus_comm_agree(world->ranks.comm, talus_users_set(&world->users, id.number, user));
}

void *talus_world_get_user(const TalusWorld *world, TalusBodyId id)
{
    return talus_world_has_body(world, id) ? talus_users_get(&world->users, id.number) : NULL;
}
